"""Printed tables keep their lines; printed rules, which are long, wrap."""

import re

from docutils import nodes

__all__ = ["is_table", "setup"]

# Three gaps of two spaces or more: columns. Indented code has its gap at the beginning.
COLUMNS = re.compile(r"\S {2,}\S.*\S {2,}\S.*\S {2,}\S")
NARROW, FEW = 60, 3


def is_table(text):
    """Whether the lines of a printed block stand in columns that must stay in line."""
    lines = [line for line in text.splitlines() if len(line) > NARROW]
    return sum(COLUMNS.search(line) is not None for line in lines) >= FEW


def mark_tables(app, doctree):
    """Mark blocks with tables for the style sheet."""
    for node in doctree.findall(nodes.literal_block):
        if is_table(node.astext()):
            node["classes"].append("keeps-lines")


def setup(app):
    """Register with Sphinx."""
    app.connect("doctree-read", mark_tables)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
