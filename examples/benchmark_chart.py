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


def read():
    """The mean number of conditions and the mean AUC per method."""
    columns = ["n_conditions", "auc"]
    return pd.read_csv(RESULTS).groupby("method")[columns].mean().round(4)


def draw(means, paper, ink, soft, ours):
    """The chart; returns its figure."""
    figure, ax = plt.subplots(figsize=(9, 3.9), facecolor=paper, layout="constrained")
    ax.set(facecolor=paper, xlim=(5, 62), ylim=(0.805, 0.932))
    ax.set_xlabel("conditions in all rules (fewer are easier to read)", color=soft)
    ax.set_ylabel("AUC on rows held out", color=soft)
    ax.axhline(means.auc["forest"], color=soft, lw=1, ls="--")
    words = {"va": "center", "size": 10}
    ax.text(62, means.auc["forest"] + 0.004, "the forest", color=soft, ha="right")
    for name, row in means.drop(index="forest").iterrows():
        is_ours = name.startswith("defragtrees")
        colour = ours if is_ours else soft
        ax.plot(row.n_conditions, row.auc, "o", color=colour, ms=9 if is_ours else 6)
        look = {"color": ink, "weight": "bold" if is_ours else "normal"}
        side, step = ("right", -0.8) if name in LEFT else ("left", 0.8)
        ax.text(row.n_conditions + step, row.auc, name, ha=side, **words, **look)
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
