"""Table 2: seconds for one restart of FAB, and of EM over K = 1..10."""

import numpy as np

from defragtrees.reproduce import paper
from defragtrees.reproduce.parts import CONVERGED, PROPOSED
from defragtrees.reproduce.results import Item, title_of

__all__ = ["NEEDS", "build"]

NEEDS = ("ensemble", PROPOSED, CONVERGED, "em")
FAST, VERY_FAST = 5, 8  # times


def build(results):
    """Times and their ratios, beside the paper's."""
    times = (_times(results, dataset) for dataset in results.datasets)
    numbers = [one for one in times if one is not None]
    return Item(
        "table2",
        "Table 2: seconds of the processor for one restart",
        "FAB was from 5 to 20 times faster than EM, which has to try every K from 1 to "
        "10. The paper's means are in brackets; its machine was another one. FAB takes "
        "two inner steps at the beginning, as its authors' code does, or goes on until "
        "convergence, as the paper says.",
        [
            "data",
            "FAB",
            "FAB, until convergence",
            "EM, sum over K",
            "EM / FAB",
            "EM / FAB, until convergence",
            "FAB here, times as fast",
        ],
        [_row(one) for one in numbers],
        numbers,
        _verdict(numbers),
    )


def _times(results, dataset):
    """Means and spreads of one data set; None if not all is there."""
    seconds = {
        "fab": results.values(dataset, PROPOSED, "seconds_per_restart"),
        "converged": results.values(dataset, CONVERGED, "seconds_per_restart"),
        "em": np.array(
            [sum(k["seconds"] for k in one) for one in results.all(dataset, "em")]
        ),
    }
    if not all(map(len, seconds.values())):
        return None
    own = {"dataset": dataset}
    for name, values in seconds.items():
        own |= {f"{name}_seconds": values.mean(), f"{name}_std": values.std()}
    published = {name: paper.SECONDS[name][dataset][0] for name in ("FAB", "EM")}
    return {
        **own,
        "ratio": own["em_seconds"] / own["fab_seconds"],
        "ratio_converged": own["em_seconds"] / own["converged_seconds"],
        "fab_seconds_paper": published["FAB"],
        "em_seconds_paper": published["EM"],
        "ratio_paper": published["EM"] / published["FAB"],
    }


def _row(one):
    seconds = {
        name: f"{one[f'{name}_seconds']:.3g} ± {one[f'{name}_std']:.2g}"
        for name in ("fab", "converged", "em")
    }
    return [
        title_of(one["dataset"]),
        f"{seconds['fab']} ({one['fab_seconds_paper']:g})",
        seconds["converged"],
        f"{seconds['em']} ({one['em_seconds_paper']:g})",
        f"{one['ratio']:.1f} ({one['ratio_paper']:.1f})",
        f"{one['ratio_converged']:.1f}",
        f"{one['fab_seconds_paper'] / one['fab_seconds']:,.0f}",
    ]


def _verdict(numbers):
    if not numbers:
        return []
    gain = [one["fab_seconds_paper"] / one["fab_seconds"] for one in numbers]
    return [
        f"FAB {_ratios([one['ratio'] for one in numbers])}",
        f"Until convergence FAB {_ratios([one['ratio_converged'] for one in numbers])}",
        f"A restart of FAB is from {min(gain):.0f} to {max(gain):.0f} times as fast as "
        "the paper's.",
    ]


def _ratios(ratios):
    fast, very_fast = (
        sum(ratio >= least for ratio in ratios) for least in (FAST, VERY_FAST)
    )
    return (
        f"is at least {FAST} times faster than EM on {fast} of {len(ratios)} sets, and "
        f"at least {VERY_FAST} times on {very_fast}; the ratio goes from "
        f"{min(ratios):.1f} to {max(ratios):.1f}."
    )
