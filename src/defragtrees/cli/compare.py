"""`defragtrees compare`: the methods on the same rows, in one table."""

import click

from defragtrees._compare import compare
from defragtrees.cli.group import Command
from defragtrees.cli.inputs import load
from defragtrees.cli.options import (
    NAMES,
    held_out_option,
    input_options,
    is_given,
    json_option,
    method_options,
    method_settings,
    of_paper,
    output_option,
)
from defragtrees.cli.output import (
    check_outputs,
    check_plot,
    json_text,
    progress_kind,
    save_plot,
    say,
    working,
)
from defragtrees.estimators import METHODS, compared_methods, estimator_for

EXAMPLE = """\
defragtrees compare model.json data.csv --target y --methods defrag,distilled
"""
# Settings that are no options here: all methods have them, or they compare nothing.
NOT_COMPARED = (
    "method",
    "max_rules",
    "max_conditions",
    "features",
    "target_is",
    "stability",
    "feature_labels",
    "class_labels",
    "pos_label",
)


@click.command("compare", cls=Command, example=EXAMPLE)
@input_options
@method_options(*NOT_COMPARED)
@click.option(
    "--methods",
    type=NAMES,
    metavar="A,B,...",
    help=f"Of {', '.join(METHODS)}. [default: all that are installed, without paper]",
)
@click.option(
    "--max-rules",
    "budgets",
    type=NAMES,
    metavar="N,M,...",
    help="Most rules; each method is fitted once for each. [default: its own choice]",
)
@click.option(
    "--folds",
    "cv",
    type=click.IntRange(min=2),
    metavar="N",
    help="Folds of a cross-validation, in place of --test-size.",
)
@click.option(
    "--resamples",
    type=click.IntRange(min=0),
    metavar="N",
    default=0,
    help="Also measure how alike rules, answers, features and cuts are on so many "
    "resamples.",
)
@held_out_option("Rows to hold out for the scores.")
@output_option("Draw error against number of rules; .png, .svg or .pdf.", name="--plot")
@json_option
def command(inputs, choices, methods, budgets, cv, resamples, test_size, plot, as_json):
    """Compare the methods on the same rows.

    MODEL and DATA are as for simplify; --target is needed.
    """
    if inputs.target is None:
        raise click.UsageError("compare needs --target.")
    check_outputs({"--plot": plot}, (inputs.data, inputs.model))
    check_plot(plot)
    if not test_size:
        raise click.UsageError(
            "--test-size must be above 0: scores need held-out rows."
        )
    budgets = _numbers(budgets)
    loaded = load(inputs, progress_kind())
    comparison = compared(
        choices,
        loaded,
        methods=methods,
        budgets=budgets,
        cv=cv,
        n_resamples=resamples,
        test_size=test_size,
    )
    if plot is not None:
        save_plot(comparison, plot)
    if as_json:
        say(
            json_text(
                {
                    "task": comparison.task,
                    "n_splits": comparison.n_splits,
                    "ensemble_error": comparison.ensemble_error,
                    "ensemble_scores": comparison.ensemble_scores,
                    "methods": comparison.rows(),
                }
            )
        )
        return
    say(str(comparison))


def compared(choices, loaded, methods=None, **options):
    """The Comparison of the user's choice, with progress on the way."""
    with working("comparing"):
        return compare(
            loaded.forest,
            *loaded.rows,
            methods=_chosen(methods, choices, loaded.forest),
            random_state=choices["random_state"],
            n_jobs=choices["n_jobs"],
            **options,
        )


def _chosen(methods, choices, forest):
    """The methods; the default one with those settings that only it has."""
    others = (*NOT_COMPARED, *of_paper(), "random_state", "n_jobs")
    settings = {
        name: value
        for name, value in choices.items()
        if name not in others and is_given(value)
    }
    if not settings:
        return methods
    kind = estimator_for("defrag", forest.outcome)
    settings = method_settings(settings, kind, "defrag", forest)
    chosen = {name: name for name in methods or compared_methods()}
    if "defrag" not in chosen:
        raise click.UsageError(
            f"{', '.join(settings)} can be set for defrag only, which is not among "
            f"--methods {','.join(chosen)}. Add it, or leave them out."
        )
    return chosen | {"defrag": kind(**settings)}


def _numbers(texts):
    if texts is None:
        return None
    if not all(text.isdecimal() and int(text) >= 1 for text in texts):
        raise click.UsageError(
            f"--max-rules must be whole numbers from 1; got {','.join(texts)!r}."
        )
    return [int(text) for text in texts]
