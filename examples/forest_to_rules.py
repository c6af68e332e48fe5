"""Draw the picture of the README and of the front page.

`python examples/forest_to_rules.py [folder]` fits the first example of the README and
draws trees of its forest beside the flow chart of its rules, on white and on dark
paper. The files contain the rules as text too.
"""

import contextlib
import sys
import tempfile
from pathlib import Path
from runpy import run_path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

from defragtrees import plots

ROOT = Path(__file__).parent.parent
DARK = {
    "axes.facecolor": "#0d1117",
    "savefig.facecolor": "none",
    "text.color": "#e6edf3",
    "axes.edgecolor": "#9198a1",
}
LOOKS = {"light": {}, "dark": DARK}
SHOWN = 780.0  # pixels of the column of a README
LEAST = 13.0  # height of its smallest letters there
TREES, ARROW = 78.0, 22.0  # widths in points
DPI = 2 * 72 * SHOWN / 566.0  # twice the pixels


def fit():
    """The names of the first example of the README, which also writes a report."""
    script = ROOT / "examples" / "first_rules.py"
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        return run_path(str(script))


def draw_tree(ax, tree, left, top, width, height, colours):
    """The shape of one tree; a leaf has the colour of its class."""
    first, second = tree.children_left, tree.children_right
    places, leaves = {}, iter(range(tree.n_leaves))

    def place(node, depth):
        if first[node] < 0:
            across = (next(leaves) + 0.5) / tree.n_leaves
        else:
            children = first[node], second[node]
            across = np.mean([place(child, depth + 1) for child in children])
        places[node] = left + width * across, top - height * depth / tree.max_depth
        return across

    place(0, 0)
    inner = np.flatnonzero(first >= 0)
    lines = [(places[n], places[c]) for n in inner for c in (first[n], second[n])]
    look = {"linewidths": 0.35, "colors": plt.rcParams["axes.edgecolor"]}
    ax.add_collection(mpl.collections.LineCollection(lines, **look))
    for k, colour in enumerate(colours):
        ends = [n for n in places if first[n] < 0 and tree.value[n][0].argmax() == k]
        ax.plot(*zip(*map(places.get, ends), strict=True), ".", ms=1.2, color=colour)


def draw(forest, rules, title=""):
    """Trees and an arrow left, the flow chart right, in points; returns the figure."""
    trial = plots.flow(rules).figure
    wide, high = 72 * trial.get_size_inches()
    plt.close(trial)
    across, above = TREES + ARROW + wide, 34.0 if title else 0.0
    figure = plt.figure(figsize=(across / 72, (high + above) / 72))
    part = high / (high + above)
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, across), ylim=(0, high + above))
    ax.axis("off")
    ax.text(8, high + 12, title, size=19, weight="bold")
    n_leaves = sum(tree.get_n_leaves() for tree in forest.estimators_)
    counts = f"{len(forest.estimators_)} trees,\n{n_leaves:,} leaves"
    ax.text(TREES / 2, high - 4, counts, size=9.6, ha="center", va="top")
    step = (high - 34) / 6
    for k, tree in enumerate(forest.estimators_[:6]):
        top = high - 36 - step * k
        draw_tree(ax, tree.tree_, 2, top, TREES - 4, step - 7, plots.COLOURS)
    arrow = {"arrowstyle": "-|>,head_width=0.35,head_length=0.5", "lw": 2}
    arrow["color"] = plt.rcParams["text.color"]
    middle = high / 2
    ax.annotate("", (TREES + ARROW, middle), (TREES + 2, middle), arrowprops=arrow)
    place = ((TREES + ARROW) / across, 0, wide / across, part)
    chart = plots.flow(rules, figure.add_axes(place))
    letters = min(text.get_fontsize() for text in (ax.texts[1], *chart.texts))
    pixels = letters * SHOWN / across
    if not title and pixels < LEAST:
        raise ValueError(f"Letters of {pixels:.1f} px in {SHOWN:.0f} are too small.")
    print(f"smallest letters at {SHOWN:.0f} px: {pixels:.1f} px")
    return figure


def main(folder=ROOT / "docs" / "pictures"):
    """Write the picture on white and on dark paper, and with a title for links."""
    mpl.use("Agg")
    names = fit()
    forest, rules = names["forest"][-1], names["simple"].rules_
    about = {"Software": None, "Description": str(rules)}
    for name, look in LOOKS.items():
        with plt.rc_context(look):
            path = Path(folder) / f"forest_to_rules_{name}.png"
            draw(forest, rules).savefig(path, dpi=DPI, metadata=about)
            print(path)
    card = draw(forest, rules, "defragtrees: a forest, in five rules")
    path = Path(folder) / "social.png"
    card.savefig(path, dpi=DPI * 0.77, metadata=about)
    print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
