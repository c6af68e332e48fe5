"""The table of all methods on all sets, made when the site is built.

``{quality-table}`` shows `benchmarks/results/quality.csv`. It can be sorted where
scripts run (`_static/tables.js`), and read without.
"""

import html
from pathlib import Path

import pandas as pd
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

__all__ = ["setup"]

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "quality.csv"
MANY_ROWS = 100
MEASURES = {"n_rules": 1, "n_conditions": 1, "error": 4, "auc": 4, "log_loss": 4}
MEASURES["unexplained"] = 4


def as_table(header, rows, caption, filters=(), first=""):
    """HTML of a table that can be sorted, and filtered by some of its columns.

    Of the last of these the value `first` is chosen to begin with.
    """
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{html.escape(str(cell))}</td>' for cell in row)}</tr>"
        for row in rows
    )
    chosen = html.escape(",".join(filters))
    tall = " tall" if len(rows) > MANY_ROWS else ""
    return (
        f'<div class="pst-scrollable-table-container{tall}">'
        f'<table class="table sortable" data-filters="{chosen}" data-first="{first}">'
        f"<caption>{html.escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


class QualityTable(SphinxDirective):
    """All methods on all sets."""

    def run(self):
        """The HTML as a node; the page is built again when the file changes."""
        self.env.note_dependency(str(RESULTS))
        return [nodes.raw("", self.write(), format="html")]

    def write(self):
        """Write a row for each set, model, method and number of rules."""
        keys = ["data", "rows", "model", "method", "size"]
        rows = pd.read_csv(RESULTS).groupby(keys, sort=False)[list(MEASURES)].mean()
        cells = rows.dropna(how="all").apply(
            lambda row: [
                "" if pd.isna(value) else f"{value:.{digits}f}"
                for value, digits in zip(row, MEASURES.values(), strict=True)
            ],
            axis=1,
        )
        lines = [[*key, int(size) or "", *line] for (*key, size), line in cells.items()]
        header = ["set", "rows", "model", "method", "at most", "rules", "conditions"]
        header += ["error", "AUC", "log loss", "unexplained"]
        caption = "Every method on every set, means over splits, on rows left out"
        filters = "set", "rows", "model", "method", "at most"
        return as_table(header, lines, caption, filters, "10")


def setup(app):
    """Register the directive with Sphinx."""
    app.add_directive("quality-table", QualityTable)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
