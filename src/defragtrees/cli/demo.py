"""`defragtrees demo`: the rules of a forest on bundled data."""

import time

import click
import numpy as np

from defragtrees.cli.group import Command
from defragtrees.cli.options import output_option
from defragtrees.cli.output import check_outputs


@click.command("demo", cls=Command, example="defragtrees demo --report demo.html")
@output_option("Write an HTML report.", name="--report")
def command(report):
    """Show the rules for a random forest on bundled data.

    The forest predicts the heating load of buildings (the Energy data of the paper).
    """
    check_outputs({"--report": report})
    if report is not None and report.exists() and not report.is_file():
        raise click.UsageError(f"--report must be a file; {str(report)!r} is none.")
    show_demo(report)


def show_demo(report=None):
    """Fit a forest and its rules, print them, and write a report where one is asked."""
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.model_selection import train_test_split

    from defragtrees import DefragRegressor, datasets, write_report

    energy = datasets.load_sample("energy")
    X, X_test, y, y_test = train_test_split(
        energy.X, energy.y, test_size=0.5, random_state=0
    )
    forest = RandomForestRegressor(100, min_samples_leaf=5, random_state=0).fit(X, y)
    leaves = sum(tree.get_n_leaves() for tree in forest.estimators_)
    frame, new = (_named(rows, energy.feature_names) for rows in (X, X_test))
    begin = time.perf_counter()
    simple = DefragRegressor(forest, random_state=0).fit(frame, y)
    seconds = time.perf_counter() - begin
    click.echo(f"Energy: {len(X)} buildings to learn from, {len(X_test)} to test on.")
    click.echo(
        f"A random forest of 100 trees has {leaves:,} leaves; found in {seconds:.2f} "
        "s, these rules say nearly the same:\n"
    )
    click.echo(simple.summary(new, y_test))
    if report is not None:
        # The report takes its place at once, when it is complete.
        path = write_report(
            report,
            simple,
            new,
            y_test,
            title="Heating load of buildings: a random forest in a few rules",
            target_name="heating load",
            command=f"defragtrees demo --report {report}",
        )
        click.echo(f"\nThe report is in {path}.")
    return simple


def _named(X, names):
    """The matrix as a frame if pandas is there, as it is otherwise."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        return np.asarray(X)
    return pd.DataFrame(X, columns=list(names))
