"""Run the experiments of the paper and put its numbers beside ours.

`python -m benchmarks.paper --data FOLDER --out reproduction` writes CSV files, pictures
and the page `index.html`. Results are kept as they come: a run that was stopped goes on
where it was.
"""

import argparse

from benchmarks.paper import published
from benchmarks.paper.run import ITEMS, reproduce


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.paper", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--quick", action="store_true", help="two draws, not ten")
    parser.add_argument("--draws", type=int, help="number of draws of each data set")
    parser.add_argument("--only", type=_names, help=f"some of {','.join(ITEMS)}")
    parser.add_argument(
        "--datasets", type=_names, help=f"some of {','.join(published.DATASETS)}"
    )
    parser.add_argument("--data", help="folder of the real data sets; else OpenML")
    parser.add_argument("--out", default="reproduction", help="folder to write to")
    parser.add_argument("--jobs", type=int, default=-1, help="processes; -1: all cores")
    options = parser.parse_args(arguments)
    page = reproduce(
        options.out,
        quick=options.quick,
        draws=options.draws,
        only=options.only,
        datasets=options.datasets,
        data_folder=options.data,
        n_jobs=options.jobs,
    )
    print(f"The results are in {page}.")


def _names(text):
    return text.split(",")


if __name__ == "__main__":
    main()
