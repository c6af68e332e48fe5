"""One self-contained HTML page: for each item what was said and what came out."""

import base64
import io
from html import escape

from defragtrees._utils import formatting as render
from defragtrees._utils.files import write_atomic
from defragtrees.reproduce.results import to_csv

__all__ = ["write_item", "write_page"]

STYLE = """
:root { color-scheme: light dark; --line: #8886; --mark: #0072b2; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto;
       padding: 0 1rem; }
h2 { margin-top: 3rem; border-top: 2px solid var(--line); padding-top: 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .7rem; border-bottom: 1px solid var(--line);
         vertical-align: top; }
.verdict { border-left: 4px solid var(--mark); padding: .2rem 1rem; }
img { max-width: 100%; height: auto; background: white; }
footer { margin-top: 3rem; color: gray; }
@media print { body { max-width: none; } h2 { break-before: page; } }
"""


def write_item(item, folder):
    """Write an item's CSV file and its pictures, as PNG and SVG.

    Parameters
    ----------
    item : Item
    folder : Path
    """
    write_atomic(folder / f"{item.name}.csv", to_csv(item.numbers))
    for name, figure in item.figures.items():
        for kind in ("png", "svg"):
            write_atomic(folder / f"{name}.{kind}", _picture(figure, kind))


def _picture(figure, kind):
    content = io.BytesIO()
    # Without a date, so that the same numbers make the same file.
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    figure.savefig(content, format=kind, dpi=110, metadata=metadata)
    return content.getvalue()


def write_page(items, folder, facts):
    """Write `index.html`, with every picture inside.

    Parameters
    ----------
    items : sequence of Item
    folder : Path
    facts : list of str
        How the results were made.

    Returns
    -------
    Path
    """
    links = "".join(
        f'<li><a href="#{item.name}">{escape(item.title)}</a></li>' for item in items
    )
    body = "".join(_section(item) for item in items)
    facts = "".join(f"<li>{escape(fact)}</li>" for fact in facts)
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        # An empty icon, so that a browser asks for none.
        '<link rel="icon" href="data:,">'
        f"<title>The paper's experiments, again</title><style>{STYLE}</style></head>"
        "<body><h1>The paper's experiments, again</h1>"
        "<p>S. Hara and K. Hayashi, <cite>Making Tree Ensembles Interpretable: A "
        "Bayesian Model Selection Approach</cite>, section 7: what it says, what came "
        "out here (mean ± standard deviation over the realisations), and what "
        f"follows.</p><nav><ul>{links}</ul></nav>{body}"
        f"<footer><h2>How this was made</h2><ul>{facts}</ul></footer></body></html>\n"
    )
    path = folder / "index.html"
    write_atomic(path, page)
    return path


def _section(item):
    table = render.html_table(item.header, item.rows)
    verdict = "".join(f"<p>{escape(sentence)}</p>" for sentence in item.verdict)
    pictures = "".join(
        f'<p><img src="data:image/png;base64,{_base64(figure)}" '
        f'alt="{escape(item.title)}"></p>'
        for figure in item.figures.values()
    )
    return (
        f'<section><h2 id="{item.name}">{escape(item.title)}</h2>'
        f"<p><strong>The paper:</strong> {escape(item.said)}</p>"
        f'{pictures}<div class="scroll">{table}</div>'
        f'<div class="verdict">{verdict}</div></section>'
    )


def _base64(figure):
    return base64.b64encode(_picture(figure, "png")).decode("ascii")
