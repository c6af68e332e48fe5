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

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.quality import tables  # noqa: E402

LOOKS = {
    "light": ("#ffffff", "#1f2933", "#667582", "#d9742b"),
    "dark": ("#14181e", "#e6ebf0", "#93a1ad", "#f0934e"),
}


def read():
    """Conditions, and the mean difference in AUC to the model, of each method."""
    rows = tables.read()
    left_out = rows.method.str.endswith((*tables.TARGETS, "integer points"))
    rows = rows[(rows.kind == "two classes") & ~left_out]
    auc = tables.over_sets(tables.differences(rows, "model"), "auc")["mean"]
    table = pd.DataFrame({"n_conditions": tables.means(rows).n_conditions, "auc": auc})
    return table.dropna(subset="auc").round(4)


def draw(means, paper, ink, soft, ours):
    """The chart; returns its figure."""
    figure, ax = plt.subplots(figsize=(9, 3.9), facecolor=paper, layout="constrained")
    ax.set(facecolor=paper)
    ax.set_xlabel("conditions in all rules (fewer are easier to read)", color=soft)
    ax.set_ylabel("AUC on rows held out, less the model's", color=soft)
    ax.axhline(0, color=soft, lw=1, ls="--")
    shown, places = means.dropna().sort_values("auc"), []
    ax.set_xlim(0, 1.25 * shown.n_conditions.max())
    is_ours = shown.index.str.startswith(tables.OURS)
    sizes, inks = np.where(is_ours, 80, 36), np.where(is_ours, ours, soft)
    ax.scatter(shown.n_conditions, shown.auc, sizes, inks, zorder=2)
    figure.draw_without_rendering()
    for name, point in shown.iterrows():
        weight = "bold" if name.startswith(tables.OURS) else "normal"
        for side, up in product((8, -8), (0, 9, -9, 18, -18)):
            text = ax.annotate(
                name,
                point,
                (side, up),
                textcoords="offset points",
                ha="left" if side > 0 else "right",
                va="center",
                color=ink,
                weight=weight,
            )
            place = text.get_window_extent()
            if not any(place.overlaps(other) for other in places):
                break
            text.remove()
        places.append(place)
    ax.tick_params(colors=soft)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(soft)
    return figure


def main(folder=ROOT / "docs" / "pictures"):
    """Write the chart on white and on dark paper."""
    mpl.use("Agg")
    means = read()
    for name, colours in LOOKS.items():
        path = Path(folder) / f"benchmark_{name}.png"
        texts = {"Software": None, "Description": means.to_csv()}
        draw(means, *colours).savefig(path, dpi=130, metadata=texts)
        print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
