"""Draw the picture of the front page: `python examples/forest_to_rules.py [folder]`.

Left, or above, the trees of a forest for heart disease, as they are; then the five
rules that the library makes of them, with the estimated share of ill patients and its
95 % interval. They are those of the first example of the README; the files contain them
as text too. How often both are right is measured by cross-validation.
"""

import re
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.patches import FancyBboxPatch
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from defragtrees import simplify
from defragtrees.datasets import load_table

DOCS = Path(__file__).parent.parent / "docs" / "pictures"
PARTS = "paper", "ink", "soft", "card"
LOOKS = {
    "light": ("#ffffff", "#1f2933", "#667582", "#f3f6f9"),
    "dark": ("#14181e", "#e6ebf0", "#93a1ad", "#1f262e"),
}
HEALTHY, ILL = "#3a8fc2", "#d9742b"
N_TREES = 30  # that are drawn
CARD = 6.0, 0.68  # width and height of a rule


def fit(X, y):
    """A forest behind a pipeline, and its rules, as in the README."""
    X, X_new, y, y_new = train_test_split(X, y, random_state=0, stratify=y)
    words = X.select_dtypes(exclude="number").columns
    codes = OneHotEncoder(handle_unknown="ignore")  # a fold may lack a rare category
    steps = make_column_transformer((codes, words), remainder="passthrough")
    forest = RandomForestClassifier(min_samples_leaf=3, random_state=0)
    model = make_pipeline(steps, forest).fit(X, y)
    limits = {"max_rules": 5, "max_conditions": 2}
    validation = X_new, y_new
    return model, simplify(model, X, y, validation=validation, random_state=0, **limits)


def shares_right(X, y):
    """How often the forest and the rules are right, on folds that neither has used."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    right = []
    for train, test in folds.split(X, y):
        fitted = fit(X.iloc[train], y[train])
        right.append([model.predict(X.iloc[test]) == y[test] for model in fitted])
    return np.concatenate(right, axis=1).mean(axis=1)


def draw_tree(ax, tree, left, top, width, height, colour):
    """The shape of one tree; a leaf has the colour of its class."""
    first, second = tree.children_left, tree.children_right
    deepest = max(tree.max_depth, 1)
    places, leaves = {}, iter(range(tree.n_leaves))

    def place(node, depth):
        if first[node] < 0:
            across = (next(leaves) + 0.5) / tree.n_leaves
        else:
            across = (
                place(first[node], depth + 1) + place(second[node], depth + 1)
            ) / 2
        places[node] = left + width * across, top - height * depth / deepest
        return across

    place(0, 0)
    for node, (x, y) in places.items():
        for child in (first[node], second[node]):
            if child >= 0:
                ax.plot(*zip((x, y), places[child], strict=True), color=colour, lw=0.5)
        if first[node] < 0:
            is_ill = tree.value[node][0].argmax() == 1
            ax.plot(x, y, ".", color=ILL if is_ill else HEALTHY, ms=2.6)


def draw_forest(ax, forest, look, left, top, columns):
    """The first trees of the forest, side by side, under a line about all of them."""
    n_leaves = sum(tree.get_n_leaves() for tree in forest.estimators_)
    text = f"a forest: {len(forest.estimators_)} trees, {n_leaves:,} leaves"
    words = {"ha": "center", "color": look["ink"], "fontsize": 12.5}
    width, height = (0.79, 0.77) if columns < 10 else (0.6, 0.55)
    ax.text(left + width * columns / 2, top, text, **words)
    for number, tree in enumerate(forest.estimators_[:N_TREES]):
        row, column = divmod(number, columns)
        place = left + width * column, top - 0.2 - height * (row + 0.2)
        size = width - 0.11, height - (0.22 if columns < 10 else 0.15)
        draw_tree(ax, tree.tree_, *place, *size, look["soft"])


def draw_rule(ax, row, left, top, look):
    """One rule as a card: its conditions, its class and its probability."""
    width, height = CARD
    box = FancyBboxPatch(
        (left, top - height), width, height, boxstyle="round,pad=0,rounding_size=0.08"
    )
    box.set(facecolor=look["card"], edgecolor="none")
    ax.add_patch(box)
    colour = ILL if row["then"] == "ill" else HEALTHY
    number, middle = str(row["rule"]), top - height / 2
    ax.text(left + 0.2, middle, number, va="center", color=look["soft"], fontsize=12)
    text = re.sub(r"[()]", "", row["if"].replace(" and ", "\nand "))
    ax.text(left + 0.5, middle, text, va="center", color=look["ink"], fontsize=10.2)
    words = {"va": "center", "weight": "bold", "size": 12}
    ax.text(left + 3.7, top - 0.2, row["then"], color=colour, **words)
    share, (low, high) = row["estimate"], row["interval"]
    bar = left + 3.7
    ax.barh(top - 0.46, 2.2, 0.12, left=bar, color=look["soft"], alpha=0.25)
    ax.barh(top - 0.46, 2.2 * share, 0.12, left=bar, color=ILL)
    ends = [bar + 2.2 * low, bar + 2.2 * high]
    ax.plot(ends, [top - 0.46] * 2, color=look["ink"], lw=1.5)
    share, low, high = (round(100 * value) for value in (share, low, high))
    text = f"{share} % ill ({low} to {high} %)"
    words = {"va": "center", "ha": "right", "size": 9.5}
    ax.text(left + 5.9, top - 0.2, text, color=look["ink"], **words)


def draw_rules(ax, simple, look, left, top):
    """The rules, one card below the other, under a line about them."""
    words = {"ha": "center", "color": look["ink"], "fontsize": 12.5}
    ax.text(left + CARD[0] / 2, top, "five rules", **words)
    for number, row in enumerate(simple.rules_._view.rows()):
        draw_rule(ax, row, left, top - 0.25 - 0.79 * number, look)


def paper(width, height, look):
    """Axes in inches that fill a new figure."""
    figure = plt.figure(figsize=(width, height), facecolor=look["paper"])
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, width), ylim=(0, height))
    ax.axis("off")
    return ax


def draw_arrow(ax, start, end, look):
    """An arrow from the forest to the rules."""
    arrow = {"arrowstyle": "-|>,head_width=0.5,head_length=0.8", "lw": 3}
    ax.annotate("", end, start, arrowprops=arrow | {"color": look["ink"]})


def draw_wide(model, simple, right, look, title=""):
    """Rules beside the forest; for the README and, with a title, for social media."""
    ax = paper(12, 6.3 if title else 4.9, look)
    low = 0.45 if title else 0.0
    words = {"color": look["ink"], "fontsize": 25, "weight": "bold"}
    ax.text(0.15, 5.62, title, **words)
    draw_forest(ax, model[-1], look, 0.1, low + 4.55, 6)
    draw_arrow(ax, (4.98, low + 2.4), (5.65, low + 2.4), look)
    draw_rules(ax, simple, look, 5.85, low + 4.55)
    words = {"ha": "center", "color": look["soft"], "fontsize": 10.5}
    for place, share in zip((2.45, 8.85), right, strict=True):
        text = f"right for {100 * share:.0f} % of new patients (cross-validation)"
        ax.text(place, low + 0.16, text, **words)
    return ax.figure


def draw_tall(model, simple, right, look):
    """Rules below the forest; for the front page, beside its text, and for phones."""
    ax = paper(6.2, 6.85, look)
    draw_forest(ax, model[-1], look, 0.15, 6.55, 10)
    draw_arrow(ax, (2.3, 4.7), (2.3, 4.25), look)
    draw_rules(ax, simple, look, 0.1, 4.37)
    shares = [f"{100 * share:.0f} %" for share in right]
    text = "right for new patients (cross-validation): forest {}, rules {}"
    words = {"ha": "center", "color": look["soft"], "fontsize": 10.5}
    ax.text(3.1, 0.09, text.format(*shares), **words)
    return ax.figure


def main(folder=DOCS):
    """Write the picture on white and on dark paper, wide and tall, and for links."""
    mpl.use("Agg")
    folder = Path(folder)
    X, y = load_table("heart")
    made = *fit(X, y), shares_right(X, y)
    rules = made[1].rules_
    print(rules)
    about = {"Software": None, "Description": str(rules)}
    looks = {n: dict(zip(PARTS, LOOKS[n], strict=True)) for n in LOOKS}
    for name, look in looks.items():
        wide, tall = (
            folder / f"forest_to_rules_{name}.png",
            folder / f"front_{name}.png",
        )
        draw_wide(*made, look).savefig(wide, dpi=130, metadata=about)
        draw_tall(*made, look).savefig(tall, dpi=200, metadata=about)
    title = "defragtrees: a forest, in five rules"
    card = draw_wide(*made, looks["light"], title)
    card.savefig(folder / "social.png", dpi=100, metadata=about)


if __name__ == "__main__":
    main(*sys.argv[1:])
