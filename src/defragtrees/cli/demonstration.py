"""The demo: a forest on the bundled Energy data, and the rules that stand for it."""

import argparse
import sys
import time

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import train_test_split

from defragtrees import datasets
from defragtrees.estimators.defrag import DefragRegressor
from defragtrees.report.page import write_report

__all__ = ["main"]


def main(arguments=None):
    """Run the demo; returns the fitted estimator."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", help="write an HTML report to this file")
    options = parser.parse_args(arguments)
    energy = datasets.load_sample("energy")
    X, X_test, y, y_test = train_test_split(
        energy.X, energy.y, test_size=0.5, random_state=0
    )
    forest = RandomForestRegressor(100, min_samples_leaf=5, random_state=0).fit(X, y)
    leaves = sum(tree.get_n_leaves() for tree in forest.estimators_)
    begin = time.perf_counter()
    frame = _named(X, energy.feature_names)
    simple = DefragRegressor(forest, random_state=0).fit(frame, y)
    seconds = time.perf_counter() - begin
    say = sys.stdout.write
    say(f"Energy: {len(X)} buildings to learn from, {len(X_test)} to test on.\n")
    say(f"A random forest of 100 trees has {leaves:,} leaves; ")
    say(f"found in {seconds:.2f} s, these rules say nearly the same:\n\n")
    say(simple.summary(_named(X_test, energy.feature_names), y_test) + "\n")
    if options.report:
        path = write_report(
            options.report,
            simple,
            _named(X_test, energy.feature_names),
            y_test,
            title="Heating load of buildings: a random forest in a few rules",
            target_name="heating load",
            command=f"defragtrees demo --report {options.report}",
        )
        say(f"\nThe report is in {path}.\n")
    return simple


def _named(X, names):
    """The matrix as a frame if pandas is there, as it is otherwise."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        return np.asarray(X)
    return pd.DataFrame(X, columns=list(names))


if __name__ == "__main__":
    main()
