"""One self-contained HTML page: the rules and how good they are."""

from html import escape
from pathlib import Path

from defragtrees import render

__all__ = ["write_report"]

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto;
       padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; width: 100%; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid #8886;
         vertical-align: top; }
caption { text-align: left; font-weight: 600; padding-bottom: .3rem; }
"""


def write_report(path, title, simplifier, scores):
    """Write the rules of a fitted simplifier, and its scores, to an HTML file.

    Parameters
    ----------
    path : str or Path
    title : str
    simplifier : Simplifier
        Fitted.
    scores : dict
        What `simplifier.evaluate` gave on rows that were not trained on.

    Returns
    -------
    Path
    """
    rows = [
        [label, *(render.rounded(scores[key]) if key in scores else "" for key in keys)]
        for label, keys in (
            ("rules as printed", ("error", "fidelity")),
            ("posterior behind them", ("posterior_error", "posterior_fidelity")),
            ("ensemble", ("ensemble_error", "ensemble_fidelity")),
        )
    ]
    rules = simplifier.rules_._repr_html_()
    table = render.html_table(["", "error", "fidelity"], rows, "On held-out rows")
    page = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>"
        f"<h1>{escape(title)}</h1>"
        "<p>The rules are asked in order; the first one that holds answers.</p>"
        f"{rules}{table}</body></html>\n"
    )
    path = Path(path)
    path.write_text(page, encoding="utf-8")
    return path
