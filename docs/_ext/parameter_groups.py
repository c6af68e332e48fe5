"""The many parameters of `simplify` in groups, on its page and on those of its classes.

The docstrings have a line with the title of a group before its first parameter, which
numpydoc takes for a parameter without a type; here it becomes a heading.
"""

from docutils import nodes

__all__ = ["GROUPS", "setup"]

GROUPS = (
    "What to imitate",
    "How short",
    "Which columns",
    "Classes and costs",
    "Computation",
)


def add_headings(app, doctree):
    """Divide lists of parameters that have groups."""
    for whole in list(doctree.findall(nodes.definition_list)):
        titles = [item.children[0].astext() for item in whole.children]
        if any(title in GROUPS for title in titles):
            whole.parent.replace(whole, divided(whole, titles))


def divided(whole, titles):
    """A heading and a list for each group of a list of parameters."""
    parts = []
    for title, item in zip(titles, whole.children, strict=True):
        if title in GROUPS:
            parts.append(nodes.rubric("", title))
            continue
        if not parts or isinstance(parts[-1], nodes.rubric):
            parts.append(nodes.definition_list())
        parts[-1] += item
    return parts


def setup(app):
    """Register with Sphinx."""
    app.connect("doctree-read", add_headings)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
