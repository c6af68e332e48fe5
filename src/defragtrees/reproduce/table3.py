"""Table 3: how many rules cover a test point."""

from defragtrees.reproduce import paper
from defragtrees.reproduce.parts import CONVERGED, OF_MIXTURE, PROPOSED
from defragtrees.reproduce.results import Item, rows_with, spread_text, title_of

__all__ = ["NEEDS", "build"]

NEEDS = ("ensemble", *OF_MIXTURE, "defragtrees", "inTrees", "Node Harvest")
CLOSE = 0.3
# The paper has one number for its method, whatever the schedule of its E-step was.
PUBLISHED = {**paper.OVERLAP, CONVERGED: paper.OVERLAP[PROPOSED]}


def build(results):
    """Mean number of rules that cover a test row, by method and data set."""
    numbers = []
    for method in NEEDS[1:]:
        for dataset in results.datasets:
            values = results.values(dataset, method, "overlap")
            if not len(values):
                continue
            published = PUBLISHED.get(method, {}).get(dataset, (None, None))
            numbers.append(
                {
                    "method": method,
                    "dataset": dataset,
                    "overlap": values.mean(),
                    "std": values.std(),
                    "overlap_paper": published[0],
                    "std_paper": published[1],
                }
            )
    rows = [
        [
            method,
            *(_cell(results, method, dataset) for dataset in results.datasets),
        ]
        for method in NEEDS[1:]
    ]
    return Item(
        "table3",
        "Table 3: number of rules covering a test point",
        "The ideal is one. The proposed method's rules overlap little, those of "
        "inTrees and Node Harvest much; a tree's leaves never do. The paper's means "
        "are in brackets. inTrees' default rule covers every point and counts, as "
        "there; Node Harvest's root does not.",
        ["method", *map(title_of, results.datasets)],
        rows,
        numbers,
        _verdict(numbers),
    )


def _cell(results, method, dataset):
    values = results.values(dataset, method, "overlap")
    published = PUBLISHED.get(method, {}).get(dataset)
    text = spread_text(values)
    return f"{text} ({published[0]:g})" if text and published else text


def _verdict(numbers):
    sentences = []
    for method in PUBLISHED:
        rows = rows_with(numbers, method=method)
        close = [
            title_of(one["dataset"])
            for one in rows
            if abs(one["overlap"] - one["overlap_paper"]) <= CLOSE
        ]
        within = [
            title_of(one["dataset"])
            for one in rows
            if abs(one["overlap"] - one["overlap_paper"])
            <= 2 * (one["std"] + one["std_paper"])
        ]
        if rows:
            sentences.append(
                f"{method}: within {CLOSE} of the paper on {len(close)} of {len(rows)} "
                f"sets ({', '.join(close) or 'none'}); within two standard deviations "
                f"on {len(within)}."
            )
    return sentences
