"""A drift check as one HTML page without scripts, for light, dark and print."""

from html import escape

from defragtrees._utils import formatting as render

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; color: #1a1a1a; background: #fff; }
h1 { font-size: 1.5rem; line-height: 1.2; }
.verdict { font-size: 1.125rem; padding: .75rem 1rem;
  border-left: .4rem solid #2e7d32; }
.moved .verdict { border-color: #b3261e; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
th, td { text-align: left; padding: .35rem .75rem .35rem 0; vertical-align: top;
  border-bottom: 1px solid #ddd; overflow-wrap: anywhere; }
th { font-weight: 600; }
:is(th, td):nth-last-child(-n + 2) { white-space: nowrap; }
tr.is-moved td { font-weight: 600; }
tr.is-moved td:first-child { border-left: .25rem solid #b3261e; padding-left: .5rem; }
@media (prefers-color-scheme: dark) {
  body { color: #eee; background: #161616; }
  th, td { border-color: #444; }
}
"""


def page(check, title):
    """The page for a Check."""
    state = "moved" if check.has_moved else "still"
    moved = "".join(f"<li>{_text(finding.text)}</li>" for finding in check.moved)
    notes = "".join(f"<li>{_text(note)}</li>" for note in check.notes)
    parts = [
        f"<h1>{_text(title)}</h1>",
        f'<p class="verdict">{_text(check.verdict)}</p>',
        f"<h2>What changed</h2><ul>{moved}</ul>" if moved else "",
        "<h2>All tests</h2>",
        _findings(check),
        "<p>p is the p-value of a two-sample test, adjusted for the number of tests "
        f"(Holm); drift is p ≤ {check.level:g}.</p>",
        _predictions(check),
        f"<h2>Notes</h2><ul>{notes}</ul>" if notes else "",
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(title)}</title><style>{STYLE}</style></head>"
        f'<body class="{state}">{"".join(parts)}</body></html>\n'
    )


def _text(text):
    return escape(render.plain(text))


def _findings(check):
    header, rows = check._cells(check.findings)
    header = [*header, "drift"]
    head = "".join(f'<th scope="col">{_text(name)}</th>' for name in header)
    body = ""
    for finding, row in zip(check.findings, rows, strict=True):
        mark = ' class="is-moved"' if finding.is_moved else ""
        cells = [*row, "yes" if finding.is_moved else "no"]
        body += f"<tr{mark}>{''.join(f'<td>{_text(cell)}</td>' for cell in cells)}</tr>"
    return (
        '<div class="scroll"><table><thead><tr>'
        f"{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _predictions(check):
    table = render.html_table(*prediction_cells(check))
    return f'<h2>Predictions of the rules</h2><div class="scroll">{table}</div>'


def prediction_cells(check):
    """Header and rows of a table of predictions: shares of rows, or the mean."""
    is_share = [name for name, _, _ in check.predictions] != ["mean"]
    text = render.share if is_share else render.rounded
    rows = [
        [name, *("" if value is None else text(value) for value in values)]
        for name, *values in check.predictions
    ]
    return ["prediction", "training", "new rows"], rows
