"""`defragtrees demo`: the rules of a random forest for heart disease."""

import click

from defragtrees.cli import options, output
from defragtrees.cli.group import Command
from defragtrees.cli.terminal import wrapped


@click.command("demo", cls=Command, example="defragtrees demo --report demo.html")
@options.output("Write an HTML report.", name="--report")
def command(report):
    """Show the rules of a random forest for heart disease.

    The forest is trained on half of 303 patients, which come with the package. A
    quarter counts for the rates of the rules, and the last for the scores.
    """
    output.check_outputs({"--report": report})
    if report is not None and report.exists() and not report.is_file():
        raise click.UsageError(f"--report must be a file; {str(report)!r} is none.")
    show_demo(report)


def show_demo(report=None):
    """Fit a forest and its rules, print them, and write a report if asked."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    from defragtrees import datasets, simplify

    X, y = datasets.load_table("heart")
    X, X_new, y, y_new = train_test_split(X, y, random_state=1, stratify=y)
    X, X_more, y, y_more = train_test_split(
        X, y, test_size=len(X_new), random_state=1, stratify=y
    )
    texts = make_column_selector(dtype_exclude="number")
    steps = make_column_transformer((OneHotEncoder(), texts), remainder="passthrough")
    trees = RandomForestClassifier(min_samples_leaf=3, random_state=0)
    limits = {"max_rules": 5, "max_conditions": 2}
    with output.working("training a forest, and finding its rules"):
        forest = make_pipeline(steps, trees).fit(X, y)
        simple = simplify(
            forest, X, y, validation=(X_more, y_more), random_state=0, **limits
        )
    leaves = sum(tree.get_n_leaves() for tree in trees.estimators_)
    where = f"{len(X_new)} patients that neither forest nor rules have seen"
    click.echo(
        wrapped(
            f"A random forest of {len(trees.estimators_)} trees with {leaves:,} leaves "
            f"predicts heart disease. It was trained on {len(X)} patients.\n"
        )
    )
    scores = simple.evaluate(X_new, y_new)
    click.echo(f"{output.rules_text(simple.rules_)}\n")
    click.echo(simple.rules_._view.scores_text(scores, where, is_new=True))
    click.echo("\nThe first new patient:\n")
    click.echo(simple.explain(X_new.iloc[0]))
    if report is not None:
        # Pictures take their time to import, and not every demo needs them.
        from defragtrees import write_report

        options = {"target_name": "heart disease", "is_new": True}
        options["command"] = f"defragtrees demo --report {report}"
        with output.working("writing the report"):
            write_report(report, simple, X_new, y_new, **options)
        click.echo(f"\nThe report is in {report}.")
    return simple
