"""Table 1: the data."""

from defragtrees.reproduce import paper
from defragtrees.reproduce.results import Item, title_of

__all__ = ["NEEDS", "build"]

NEEDS = ("ensemble",)


def build(results):
    """Rows and features of every set, beside the paper's."""
    rows, numbers, smaller = [], [], []
    for dataset in results.datasets:
        found = results.one(dataset, "ensemble", results.seeds[0])
        if found is None:
            continue
        n_features, n_all, n_rows = paper.DATASETS[dataset]
        numbers.append(
            {
                "dataset": dataset,
                "features": found["n_features"],
                "features_paper": n_features,
                "rows_there": found["n_all"],
                "rows_paper": n_all,
                "train": found["n_train"],
                "train_paper": n_rows,
                "test": found["n_test"],
            }
        )
        there = "made" if found["n_all"] is None else f"{found['n_all']:,}"
        rows.append(
            [
                title_of(dataset),
                f"{found['n_features']} ({n_features})",
                f"{there} ({'-' if n_all is None else f'{n_all:,}'})",
                f"{found['n_train']:,}, {found['n_test']:,} ({n_rows:,})",
            ]
        )
        if found["n_train"] < n_rows:
            smaller.append(
                f"{title_of(dataset)}: the file has {found['n_all']:,} rows, too few "
                f"for {n_rows:,} and {n_rows:,}; {found['n_train']:,} and "
                f"{found['n_test']:,} were drawn."
            )
    same = [n for n in numbers if n["train"] == n["train_paper"]]
    verdict = [
        f"{len(same)} of {len(numbers)} sets have the paper's numbers of rows and "
        "features.",
        *smaller,
    ]
    return Item(
        "table1",
        "Table 1: the data",
        "Two made sets, four real ones; the paper's numbers are in brackets.",
        ["data", "features", "rows there", "rows to train and test on"],
        rows,
        numbers,
        verdict,
    )
