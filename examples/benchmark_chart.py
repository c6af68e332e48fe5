"""Draw the chart of the README: `python examples/benchmark_chart.py [folder]`.

How far the AUC of each method is below that of the model, against the number of
conditions to read, from the rows of `make quality`. The files contain the numbers as
text too.
"""

import sys
from itertools import product
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.transforms import Bbox

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.quality import tables  # noqa: E402

LOOKS = {
    "light": ("#ffffff", "#1f2933", "#667582", "#d9742b"),
    "dark": ("#14181e", "#e6ebf0", "#93a1ad", "#f0934e"),
}

DPI = 2 * 780 / 9  # twice the pixels of the README's column
MOST = 60  # conditions; a method with more stands at the edge


def read():
    """Conditions, and the mean difference in AUC to the model, of each method."""
    rows = tables.read()
    left_out = rows.method.str.endswith((*tables.TARGETS, "integer points"))
    rows = rows[(rows.kind == "two classes") & ~left_out]
    auc = tables.over_sets(tables.differences(rows, "model"), "auc")["mean"]
    table = pd.DataFrame({"n_conditions": tables.means(rows).n_conditions, "auc": auc})
    table.loc["model", "auc"] = 0.0
    return table.dropna(subset="auc").round(4)


def draw(means, paper, ink, soft, ours):
    """Rules left, models without rules right; returns the figure."""
    figure, (ax, side) = plt.subplots(
        1, 2, figsize=(9, 4.1), sharey=True, width_ratios=(4, 1), layout="constrained"
    )
    figure.set_facecolor(paper)
    ax.set_xlabel("conditions in all rules (fewer are easier to read)", color=soft)
    ax.set_ylabel("AUC on rows held out, less the model's", color=soft)
    side.set_xlabel("no rules to read", color=soft)
    ax.set_xlim(0, MOST)
    is_ours = means.index.str.startswith(tables.OURS)
    is_near = means.n_conditions < MOST
    for chosen, size, colour in ((is_ours, 80, ours), (~is_ours & is_near, 36, soft)):
        ax.scatter(means.n_conditions[chosen], means.auc[chosen], size, colour)
    bounds = means[means.n_conditions.isna()]
    side.scatter(0 * bounds.auc, bounds.auc, 36, soft, marker="D")
    side.set(xlim=(-0.1, 1), xticks=[])
    side.tick_params(left=False)
    ax.tick_params(colors=soft)
    for each in (ax, side):
        each.set_facecolor(paper)
        each.spines[["top", "right"]].set_visible(False)
        each.spines[["left", "bottom"]].set_color(soft)
    figure.draw_without_rendering()
    points = ax.transData.transform(means[is_near].to_numpy())
    names = [Bbox([point - 5, point + 5]) for point in points]
    for name, (x, y) in means.sort_values("auc").iterrows():
        weight = "bold" if name.startswith(tables.OURS) else "normal"
        style = {"color": ink, "weight": weight, "va": "center"}
        if np.isnan(x):
            write(side, name, (0, y), names, (8,), **style)
        elif x < MOST:
            write(ax, name, (x, y), names, (8, -8), **style)
        else:
            far = f"{name}: {x:.0f} conditions →"
            write(ax, far, (MOST, y), names, (-8,), **style)
    return figure


def write(ax, name, point, others, sides, **style):
    """Write a name beside its point, where no other name is."""
    for up, aside in product((0, 7, -7, 14, -14), sides):
        style["ha"] = "left" if aside > 0 else "right"
        text = ax.annotate(
            name, point, (aside, up), textcoords="offset points", **style
        )
        place = text.get_window_extent()
        if not any(place.overlaps(other) for other in others):
            break
        text.remove()
    others.append(place)


def main(folder=ROOT / "docs" / "pictures"):
    """Write the chart on white and on dark paper."""
    mpl.use("Agg")
    means = read()
    for name, colours in LOOKS.items():
        path = Path(folder) / f"benchmark_{name}.png"
        texts = {"Software": None, "Description": means.to_csv()}
        draw(means, *colours).savefig(path, dpi=DPI, metadata=texts)
        print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
