"""The figure of test error against K for EM, with FAB's point."""

import numpy as np

from defragtrees._utils.optional import require
from defragtrees.plots.style import COLOURS, MARKERS
from defragtrees.reproduce import paper
from defragtrees.reproduce.parts import CONVERGED, PROPOSED
from defragtrees.reproduce.results import Item, rows_with, spread_text, title_of

__all__ = ["NEEDS", "build", "panels"]

NEEDS = ("ensemble", PROPOSED, CONVERGED, "em")
HEADER = [
    "data",
    "K of FAB",
    "error of FAB",
    "K until convergence",
    "its error",
    "best K of EM",
    "its error",
    "EM, K = 10",
]
FAB = {"FAB": PROPOSED, "FAB, until convergence": CONVERGED}


def build(results):
    """Error by K of EM and the point of FAB, as numbers and as a picture."""
    numbers, rows = [], []
    for dataset in results.datasets:
        em = results.all(dataset, "em")
        if not (em and all(results.all(dataset, part) for part in FAB.values())):
            continue
        for place in range(paper.MOST_COMPONENTS):
            errors = np.array([one[place]["error"] for one in em])
            numbers.append(_row(dataset, "EM", place + 1, errors))
        of_em = rows_with(numbers, dataset=dataset, inference="EM")
        best = min(of_em, key=lambda row: row["error"])
        cells = []
        for inference, part in FAB.items():
            errors = results.values(dataset, part, "error")
            n_rules = results.values(dataset, part, "n_rules")
            numbers.append(_row(dataset, inference, n_rules.mean(), errors))
            cells += [spread_text(n_rules), spread_text(errors, 4)]
        rows.append(
            [
                title_of(dataset),
                *cells,
                f"{best['k']}",
                f"{best['error']:.4g} ± {best['std']:.2g}",
                f"{of_em[-1]['error']:.4g}",
            ]
        )
    return Item(
        "figure_em",
        "Figure: test error of FAB and of EM with K fixed",
        "FAB finds an appropriate number of rules by itself, with small errors. Its "
        "E-step goes on until convergence; the authors' code takes two inner steps in "
        "each of the first five iterations, which keeps more components.",
        HEADER,
        rows,
        numbers,
        list(filter(None, (_verdict(numbers, results.datasets, i) for i in FAB))),
        {"figure_em": _draw(numbers, results.datasets)},
    )


def _row(dataset, inference, k, errors):
    return {
        "dataset": dataset,
        "inference": inference,
        "k": k,
        "error": errors.mean(),
        "std": errors.std(),
    }


def _verdict(numbers, datasets, inference):
    good, sizes = [], []
    for dataset in datasets:
        of_em = rows_with(numbers, dataset=dataset, inference="EM")
        fab = rows_with(numbers, dataset=dataset, inference=inference)
        if not (of_em and fab):
            continue
        sizes.append(fab[0]["k"])
        best = min(of_em, key=lambda row: row["error"])
        if fab[0]["error"] <= best["error"] + best["std"] + fab[0]["std"]:
            good.append(title_of(dataset))
    if not sizes:
        return ""
    return (
        f"{inference}: from {min(sizes):.1f} to {max(sizes):.1f} components are kept. "
        "The mean error is within the two standard deviations of that of EM's best K "
        f"on {len(good)} of {len(sizes)} sets ({', '.join(good) or 'none'}), without "
        "trying any K."
    )


def panels(datasets):
    """A figure with one panel for each data set."""
    pyplot = require("matplotlib.pyplot", "A figure")
    n_columns = min(3, len(datasets))
    n_rows = -(-len(datasets) // n_columns)
    figure, axes = pyplot.subplots(
        n_rows, n_columns, figsize=(4.2 * n_columns, 3.4 * n_rows), squeeze=False
    )
    for ax in axes.ravel()[len(datasets) :]:
        ax.set_axis_off()
    for ax, dataset in zip(axes.ravel(), datasets, strict=False):
        ax.set_title(title_of(dataset))
    return figure, dict(zip(datasets, axes.ravel(), strict=False))


def _draw(numbers, datasets):
    figure, axes = panels(datasets)
    for dataset, ax in axes.items():
        of_em = rows_with(numbers, dataset=dataset, inference="EM")
        ax.errorbar(
            [row["k"] for row in of_em],
            [row["error"] for row in of_em],
            [row["std"] for row in of_em],
            fmt="o-",
            color=COLOURS[0],
            label="EM, K fixed",
        )
        for i, inference in enumerate(FAB, start=1):
            for row in rows_with(numbers, dataset=dataset, inference=inference):
                ax.errorbar(
                    row["k"],
                    row["error"],
                    row["std"],
                    fmt=MARKERS[i],
                    ms=9,
                    color=COLOURS[i],
                    label=inference,
                )
        ax.set(xlabel="K", ylabel="test error")
    next(iter(axes.values())).legend()
    figure.tight_layout()
    return figure
