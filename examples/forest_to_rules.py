"""Draw the picture of the front page: `python examples/forest_to_rules.py [folder]`.

Left the trees of a forest for heart disease, as they are; right the five rules that
the library makes of them, with the estimated share of ill patients and its 95 %
interval. They are those of the first example of the README; the files contain them as
text too. How often both are right is measured by cross-validation.
"""

import sys
import textwrap
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
COLUMNS, ROWS = 6, 5  # trees that are drawn


def fit(X, y):
    """A forest behind a pipeline, and its rules, as in the README."""
    X, X_new, y, y_new = train_test_split(X, y, random_state=1, stratify=y)
    words = X.select_dtypes(exclude="number").columns
    steps = make_column_transformer((OneHotEncoder(), words), remainder="passthrough")
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


def draw_forest(ax, forest, look):
    """The first trees of the forest, side by side."""
    for number, tree in enumerate(forest.estimators_[: COLUMNS * ROWS]):
        row, column = divmod(number, COLUMNS)
        left, top = 0.1 + 0.79 * column, 4.2 - 0.77 * row
        draw_tree(ax, tree.tree_, left, top, 0.68, 0.55, look["soft"])
    n_leaves = sum(tree.get_n_leaves() for tree in forest.estimators_)
    text = f"a forest: {len(forest.estimators_)} trees, {n_leaves:,} leaves"
    ax.text(2.45, 4.55, text, ha="center", color=look["ink"], fontsize=12.5)


def draw_rule(ax, row, top, look):
    """One rule as a card: its conditions, its class and its probability."""
    box = FancyBboxPatch(
        (5.85, top - 0.68), 6.0, 0.68, boxstyle="round,pad=0,rounding_size=0.08"
    )
    box.set(facecolor=look["card"], edgecolor="none")
    ax.add_patch(box)
    colour = ILL if row["then"] == "ill" else HEALTHY
    number = str(row["rule"])
    ax.text(6.05, top - 0.34, number, va="center", color=look["soft"], fontsize=12)
    text = "\n".join(textwrap.wrap(row["if"], 42))
    ax.text(6.35, top - 0.34, text, va="center", color=look["ink"], fontsize=10.5)
    words = {"va": "center", "weight": "bold", "size": 12}
    ax.text(9.55, top - 0.2, row["then"], color=colour, **words)
    share, (low, high) = row["estimate"], row["interval"]
    ax.barh(top - 0.46, 2.2, 0.12, left=9.55, color=look["soft"], alpha=0.25)
    ax.barh(top - 0.46, 2.2 * share, 0.12, left=9.55, color=ILL)
    ends = [9.55 + 2.2 * low, 9.55 + 2.2 * high]
    ax.plot(ends, [top - 0.46] * 2, color=look["ink"], lw=1.5)
    text = f"{share:.0%} ill ({100 * low:.0f} to {high:.0%})"
    words = {"va": "center", "ha": "right", "size": 9.5}
    ax.text(11.75, top - 0.2, text, color=look["ink"], **words)


def draw(model, simple, right, look):
    """The whole picture; returns its figure."""
    figure = plt.figure(figsize=(12, 4.9), facecolor=look["paper"])
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, 12), ylim=(0, 4.9))
    ax.axis("off")
    draw_forest(ax, model[-1], look)
    arrow = {"arrowstyle": "-|>,head_width=0.5,head_length=0.8", "lw": 3}
    arrow |= {"color": look["ink"]}
    ax.annotate("", (5.65, 2.4), (4.98, 2.4), arrowprops=arrow)
    ax.text(8.85, 4.55, "five rules", ha="center", color=look["ink"], fontsize=12.5)
    for number, row in enumerate(simple.rules_.rows()):
        draw_rule(ax, row, 4.3 - 0.79 * number, look)
    words = {"ha": "center", "color": look["soft"], "fontsize": 10.5}
    for place, share in zip((2.45, 8.85), right, strict=True):
        text = f"right for {share:.0%} of new patients (cross-validation)"
        ax.text(place, 0.16, text, **words)
    return figure


def main(folder=DOCS):
    """Write the picture on white and on dark paper."""
    mpl.use("Agg")
    folder = Path(folder)
    X, y = load_table("heart")
    model, simple = fit(X, y)
    right = shares_right(X, y)
    print(simple.rules_)
    for name, colours in LOOKS.items():
        look = dict(zip(PARTS, colours, strict=True))
        path = folder / f"forest_to_rules_{name}.png"
        texts = {"Software": None, "Description": str(simple.rules_)}
        draw(model, simple, right, look).savefig(path, dpi=130, metadata=texts)
        print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
