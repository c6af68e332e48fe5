"""The figure of number of rules against test error, for all methods."""

from defragtrees.plots.style import COLOURS, MARKERS
from defragtrees.reproduce.figure_em import panels
from defragtrees.reproduce.parts import METHODS
from defragtrees.reproduce.results import Item, rows_with, spread_text, title_of

__all__ = ["NEEDS", "build"]

NEEDS = ("ensemble", *METHODS)
TICKS = (2, 5, 10, 20, 50, 100)
MEASURED = ("n_rules", "error", "error_printed", "seconds")


def build(results):
    """Every realisation of every method as a point; means and spreads in a table."""
    numbers, rows = [], []
    for dataset in results.datasets:
        ensemble = results.values(dataset, "ensemble", "error")
        if not len(ensemble):
            continue
        error = spread_text(ensemble, 4)
        rows.append([title_of(dataset), "ensemble", "", error, "", ""])
        for method in METHODS:
            for seed in results.seeds:
                one = results.one(dataset, method, seed)
                if one is not None:
                    measured = {name: one[name] for name in MEASURED}
                    key = {"dataset": dataset, "method": method, "seed": seed}
                    numbers.append({**key, **measured})
            if results.all(dataset, method):
                values = [results.values(dataset, method, name) for name in MEASURED]
                texts = [spread_text(v, 4) for v in values]
                rows.append(["", method, *texts])
    return Item(
        "figure_trade_off",
        "Figure: number of rules against test error",
        "DTree2 has four rules and the largest errors on most sets, the proposed "
        "method three to ten, inTrees and Node Harvest 30 to 100, BATrees up to more "
        "than 100; "
        "inTrees and BATrees tend to err least. 'Proposed' is the paper's settings and "
        "predictor, with two schedules of its E-step; 'defragtrees' is our default, "
        "whose printed rules are what predicts. Errors are shares of wrong classes, "
        "and squared errors on Energy.",
        ["data", "method", "rules", "test error", "of the printed rules", "seconds"],
        rows,
        numbers,
        _verdict(numbers, results.datasets),
        {"figure_trade_off": _draw(results, numbers)},
    )


def _means(numbers, dataset):
    means = {}
    for method in METHODS:
        rows = rows_with(numbers, dataset=dataset, method=method)
        if rows:
            means[method] = tuple(
                sum(row[name] for row in rows) / len(rows)
                for name in ("n_rules", "error")
            )
    return means


def _verdict(numbers, datasets):
    undominated, total, sentences = [], 0, []
    for dataset in datasets:
        means = _means(numbers, dataset)
        ours = means.pop("defragtrees", None)
        if ours is None:
            continue
        total += 1
        better = [
            method
            for method, other in means.items()
            if other[0] < ours[0] and other[1] < ours[1]
        ]
        if better:
            sentences.append(
                f"{title_of(dataset)}: {', '.join(better)} has both fewer rules and a "
                "smaller mean error than our default."
            )
        else:
            undominated.append(title_of(dataset))
    first = (
        f"No other method has both fewer rules and a smaller mean error than our "
        f"default on {len(undominated)} of {total} sets "
        f"({', '.join(undominated) or 'none'})."
    )
    return [first, *sentences, *_counts(numbers)]


def _counts(numbers):
    sentences = []
    for method in METHODS:
        sizes = [row["n_rules"] for row in rows_with(numbers, method=method)]
        if sizes:
            sentences.append(
                f"{method}: from {min(sizes):.0f} to {max(sizes):.0f} rules."
            )
    return sentences


def _draw(results, numbers):
    figure, axes = panels(results.datasets)
    for dataset, ax in axes.items():
        for i, method in enumerate(METHODS):
            rows = rows_with(numbers, dataset=dataset, method=method)
            ax.plot(
                [row["n_rules"] for row in rows],
                [row["error"] for row in rows],
                MARKERS[i],
                color=COLOURS[i],
                mec="white",
                mew=0.5,
                ls="none",
                label=method,
            )
        ensemble = results.values(dataset, "ensemble", "error")
        if len(ensemble):
            ax.axhline(ensemble.mean(), color="0.3", ls="--", lw=1, label="ensemble")
        ax.set_xscale("log")
        ax.set_xticks(TICKS, map(str, TICKS))
        ax.minorticks_off()
        ax.set_xlim(1.5, 150)
        ax.set(xlabel="number of rules", ylabel="test error")
    handles, labels = next(iter(axes.values())).get_legend_handles_labels()
    n_columns = 8 if len(axes) > 2 else 4
    figure.legend(handles, labels, loc="lower center", ncols=n_columns, frameon=False)
    figure.tight_layout(rect=(0, 0.12 if len(axes) < 4 else 0.06, 1, 1))
    return figure
