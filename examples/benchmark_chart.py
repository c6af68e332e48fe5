"""Draw the chart of the README: `python examples/benchmark_chart.py [folder]`.

The mean AUC of each method against the number of conditions to read, as
`python -m benchmarks.quality.ten_rules` measured them. The files contain the numbers as
text too.
"""

import sys
from pathlib import Path

import matplotlib as mpl
import pandas as pd
from matplotlib import pyplot as plt

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "ten_rules.csv"
LOOKS = {
    "light": ("#ffffff", "#1f2933", "#667582", "#d9742b"),
    "dark": ("#14181e", "#e6ebf0", "#93a1ad", "#f0934e"),
}

LEFT = ("Node Harvest",)  # names that would cover a point to their right
DPI = 2 * 780 / 9  # twice the pixels of the README's column
MOST = 60  # conditions; a method with more stands at the edge
APART = 0.0075  # AUC between two lines of words


def read():
    """The mean number of conditions and the mean AUC per method."""
    columns = ["n_conditions", "auc"]
    return pd.read_csv(RESULTS).groupby("method")[columns].mean().round(4)


def draw(means, paper, ink, soft, ours):
    """Rules left, models without rules right; returns the figure."""
    figure, (ax, side) = plt.subplots(
        1, 2, figsize=(9, 4.1), sharey=True, width_ratios=(4, 1), layout="constrained"
    )
    figure.set_facecolor(paper)
    ax.set(facecolor=paper, xlim=(5, MOST + 2), ylim=(0.78, 0.94))
    ax.set_xlabel("conditions in all rules (fewer are easier to read)", color=soft)
    ax.set_ylabel("AUC on rows held out", color=soft)
    words = {"va": "center", "size": 10}
    for name, row in means.dropna().iterrows():
        is_ours = name.startswith("defragtrees")
        colour = ours if is_ours else soft
        place, label, is_left = row.n_conditions, name, name in LEFT
        if place > MOST:
            label, place, is_left = f"{name}: {place:.0f} conditions →", MOST, True
        else:
            ax.plot(place, row.auc, "o", color=colour, ms=9 if is_ours else 6)
        look = {"color": ink, "weight": "bold" if is_ours else "normal"}
        across, step = ("right", -0.8) if is_left else ("left", 0.8)
        ax.text(
            place + step,
            row.auc + 0.004 * (name in LEFT),
            label,
            ha=across,
            **words,
            **look,
        )
    height = 1.0
    for name, auc in means.auc[means.n_conditions.isna()].sort_values()[::-1].items():
        height = min(auc, height - APART)
        side.plot(0, auc, "D", color=soft, ms=6)
        side.text(0.12, height, name, color=ink, **words)
    side.set(facecolor=paper, xlim=(-0.1, 1), xticks=[])
    side.set_xlabel("no rules to read", color=soft)
    side.tick_params(left=False)
    ax.tick_params(colors=soft)
    for each in (ax, side):
        each.spines[["top", "right"]].set_visible(False)
        each.spines[["left", "bottom"]].set_color(soft)
    return figure


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
