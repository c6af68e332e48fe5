"""Results on disk, tables and figures made of them, and the page that shows all."""

import base64
import csv
import io
import json
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.files import write_atomic

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


class Store:
    """The results of one run in a folder, a small JSON file each.

    Results of other settings are not taken for ours.
    """

    def __init__(self, folder, settings):
        self.folder = Path(folder)
        self.settings = settings

    def _path(self, dataset, seed, part):
        name = part.replace(" ", "_").replace(",", "")
        return self.folder / f"{dataset}-{seed}-{name}.json"

    def read(self, dataset, seed, part):
        """A result, or None if it is not there or was made with other settings."""
        try:
            text = self._path(dataset, seed, part).read_text(encoding="utf-8")
            content = json.loads(text)
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return content["result"] if content["settings"] == self.settings else None

    def write(self, dataset, seed, part, result):
        """Keep a result."""
        self.folder.mkdir(parents=True, exist_ok=True)
        content = {"settings": self.settings, "result": result}
        text = json.dumps(content, indent=1, ensure_ascii=False)
        write_atomic(self._path(dataset, seed, part), text)


@dataclass(frozen=True, eq=False)
class Results:
    """Reads the results of all realisations; pictures read the data as well."""

    store: object
    seeds: tuple[int, ...]
    datasets: tuple[str, ...]
    data_folder: object = None

    def all(self, dataset, part):
        """The results of one part, by realisation; without those that are not there."""
        results = (self.store.read(dataset, seed, part) for seed in self.seeds)
        return [one for one in results if one is not None]

    def one(self, dataset, part, seed=0):
        """The result of one realisation, or None."""
        return self.store.read(dataset, seed, part)

    def values(self, dataset, part, name):
        """One number of every realisation, as an array."""
        return np.array([one[name] for one in self.all(dataset, part)], dtype=float)


@dataclass(frozen=True, eq=False)
class Item:
    """A table or a figure: what the paper says, what came out, and a verdict.

    `rows` are ready to show, `numbers` are the same unrounded, for the CSV file.
    """

    name: str  # also of its files
    title: str
    said: str  # by the paper
    header: list[str]
    rows: list[list[str]]
    numbers: list[dict]
    verdict: list[str]  # sentences computed from the numbers
    figures: dict = field(default_factory=dict)  # by the name of the picture


def spread_text(values, digits=3):
    """Mean and standard deviation as text."""
    if len(values) == 0:
        return ""
    mean = render.rounded(float(np.mean(values)), digits)
    return f"{mean} ± {render.rounded(float(np.std(values)), 2)}"


def rows_with(rows, **values):
    """Those of some plain dicts that have these values."""
    return [
        row for row in rows if all(row[name] == value for name, value in values.items())
    ]


def to_csv(rows):
    """Rows of plain dicts as CSV text."""
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write_item(item, folder):
    """Write an item's CSV file and its pictures, as PNG and SVG."""
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
    """Write `index.html`, with every picture inside; `facts` are in its footer."""
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
