"""`python -m tests.fuzz --cases 20000 --seed 0`: counts, and every file that failed."""

import argparse
import sys
from pathlib import Path

from tests.fuzz.cases import make_case
from tests.fuzz.runner import run_cases


def main():
    """Run the cases; returns 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--keep", type=Path, help="folder for the files that failed")
    options = parser.parse_args()

    told = []

    def watch(n_done, tally):
        for case, why in tally.failures[len(told) :]:
            told.append(case.name)
            print(f"{case.name}: {why}", flush=True)
            if options.keep is not None:
                options.keep.mkdir(exist_ok=True)
                Path(options.keep, case.name).write_bytes(case.content)
        if n_done % 1000 == 0:
            print(f"{n_done:,} done, {tally.n_failures} failures", file=sys.stderr)

    numbers = range(options.first, options.first + options.cases)
    tally = run_cases((make_case(number, options.seed) for number in numbers), watch)
    print(tally.text())
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
