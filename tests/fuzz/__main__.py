"""`python -m tests.fuzz --cases 20000 --seed 0`: counts, and all that failed.

Files are altered at random (see `tests.fuzz.cases`); settings of all methods get values
that nobody means (see `tests.fuzz.odd_settings`).
"""

import argparse
import random
import sys
from collections import Counter
from pathlib import Path

from tests.fuzz.cases import make_case
from tests.fuzz.odd_settings import VALUES, judge_setting, setting_names
from tests.fuzz.runner import run_cases


def main():
    """Run the cases; returns 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--keep", type=Path, help="folder for the files that failed")
    parser.add_argument("--settings", type=int, default=1000)
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
    failures = try_settings(options.settings, options.seed)
    return 1 if tally.failures or failures else 0


def try_settings(n_tried, seed):
    """Odd values for settings: counts are printed, and each that failed."""
    rng = random.Random(f"settings/{seed}")
    names, counts, failures = setting_names(), Counter(), []
    for _ in range(n_tried):
        method, task, name = rng.choice(names)
        value = rng.choice(VALUES)
        try:
            outcome = judge_setting(method, task, name, value)[0]
        except Exception as error:
            outcome = "failure"
            told = f"{type(error).__name__}: {error}"
            failures.append(f"{method}, {task}, {name}={value!r}: {told}")
        counts[outcome] += 1
    print("\n".join([*failures, f"settings: {dict(counts)}"]))
    return failures


if __name__ == "__main__":
    sys.exit(main())
