"""Table 1: the data."""

from defragtrees.reproduce import paper
from defragtrees.reproduce.results import Item, title_of

__all__ = ["NEEDS", "build"]

NEEDS = ("ensemble",)


def build(results):
    """Rows and features of every set, beside the paper's."""
    numbers = []
    for dataset in results.datasets:
        result = results.one(dataset, "ensemble", results.seeds[0])
        if result is None:
            continue
        n_features, n_all, n_rows = paper.DATASETS[dataset]
        numbers.append(
            {
                "dataset": dataset,
                "features": result["n_features"],
                "features_paper": n_features,
                "rows_there": result["n_all"],
                "rows_paper": n_all,
                "train": result["n_train"],
                "train_paper": n_rows,
                "test": result["n_test"],
            }
        )
    return Item(
        "table1",
        "Table 1: the data",
        "Two made sets, four real ones; the paper's numbers are in brackets.",
        ["data", "features", "rows there", "rows to train and test on"],
        [_row(one) for one in numbers],
        numbers,
        _verdict(numbers),
    )


def _row(one):
    there = "made" if one["rows_there"] is None else f"{one['rows_there']:,}"
    published = "-" if one["rows_paper"] is None else f"{one['rows_paper']:,}"
    return [
        title_of(one["dataset"]),
        f"{one['features']} ({one['features_paper']})",
        f"{there} ({published})",
        f"{one['train']:,}, {one['test']:,} ({one['train_paper']:,})",
    ]


def _verdict(numbers):
    same = [one for one in numbers if one["train"] == one["train_paper"]]
    return [
        f"{len(same)} of {len(numbers)} sets have the paper's numbers of rows and "
        "features.",
        *(
            f"{title_of(one['dataset'])}: the file has {one['rows_there']:,} rows, too "
            f"few for {one['train_paper']:,} and {one['train_paper']:,}; "
            f"{one['train']:,} and {one['test']:,} were drawn."
            for one in numbers
            if one["train"] < one["train_paper"]
        ),
    ]
