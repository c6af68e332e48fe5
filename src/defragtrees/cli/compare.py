"""`defragtrees compare`: several methods on the same held-out rows, in one table."""

import math

import click

from defragtrees._compare import compare
from defragtrees._utils import formatting as render
from defragtrees.cli.group import Command
from defragtrees.cli.inputs import load
from defragtrees.cli.options import (
    NAMES,
    details_option,
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
from defragtrees.cli.tables import table, wrapped
from defragtrees.estimators import METHODS, compared_methods, estimator_for
from defragtrees.outcomes import MEASURES
from defragtrees.search.limits import MOST_RULES

DETAILS = ("coverage", "overlap")
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
    help=f"Which of {', '.join(METHODS)}. [default: all that are installed but paper]",
)
@click.option(
    "--max-rules",
    "budgets",
    type=NAMES,
    metavar="N,M,...",
    help="Maximum number of rules of every method, or several to fit each method "
    f"once for each. [default: {MOST_RULES}]",
)
@click.option(
    "--folds",
    "cv",
    type=click.IntRange(min=2),
    metavar="N",
    help="Number of folds of a cross-validation, in place of --test-size.",
)
@click.option(
    "--resamples",
    type=click.IntRange(min=0),
    metavar="N",
    default=0,
    help="Fit to this number of resamples too, and measure how alike rules, "
    "predictions, features and cuts are.",
)
@held_out_option("Rows to hold out for the scores, as a share or a number.")
@output_option("Plot error against number of rules: .png, .svg or .pdf.", name="--plot")
@details_option("Also show coverage and overlap of the rules.")
@json_option
def command(
    inputs, choices, methods, budgets, cv, resamples, test_size, plot, details, as_json
):
    """Compare methods on the same held-out rows.

    MODEL and DATA are as for simplify; --target is needed. Every method may use the
    same maximum number of rules.
    """
    if inputs.target is None:
        raise click.UsageError("compare needs --target.")
    check_outputs({"--plot": plot}, (inputs.data.path, inputs.model))
    check_plot(plot)
    if not test_size:
        raise click.UsageError(
            "--test-size must be above 0: scores need held-out rows."
        )
    budgets = [MOST_RULES] if budgets is None else _numbers(budgets)
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
    n_rows = len(loaded)
    rows = f"{render.plural(n_rows, 'row')} in {cv} folds"
    if cv is None:
        n_held_out = test_size if test_size >= 1 else math.ceil(test_size * n_rows)
        rows = f"{render.plural(n_held_out, 'held-out row')}"
    rules = ", ".join(map(str, budgets))
    say(click.style(wrapped(_verdict(comparison)), bold=True))
    say(wrapped(f"Measured on {rows}. Every method: at most {rules} rules."))
    say(f"\n{_table(comparison, details)}\n")
    say(wrapped("\n".join(comparison._notes()), "  "))


def _verdict(comparison):
    """Which method is best, and which is shortest."""
    name, heading = next(iter(comparison._shown().items()))
    if comparison.has_costs:
        name, heading = "expected_cost", comparison._shown()["expected_cost"]
    done = [row for row in comparison.rows() if row["failure"] is None]
    if not done:
        return "Every method failed."
    sign = -1 if name in MEASURES and MEASURES[name].is_larger_better else 1
    least = min(sign * row[name] for row in done)
    best = [row for row in done if sign * row[name] == least]
    shortest = min(done, key=lambda row: (row["n_rules"], sign * row[name]))
    names = ", ".join(f"{row['method']} ({_size(row)})" for row in best)
    value = comparison._measured(best[0], name).partition(" ")[0]
    word = "Highest" if sign < 0 else "Lowest"
    text = f"{word} {heading}, {value}: {names}."
    if shortest["n_rules"] < min(row["n_rules"] for row in best):
        value = comparison._measured(shortest, name).partition(" ")[0]
        text += f" Fewest rules: {shortest['method']} ({_size(shortest)}, "
        text += f"{heading} {value})."
    return text


def _size(row):
    """Such as "3 rules"; a mean over folds may not be whole."""
    n_rules = row["n_rules"]
    return f"{n_rules:.3g} rule{'' if n_rules == 1 else 's'}"


def _table(comparison, details):
    """The table of the comparison, without the columns that are details."""
    header, lines = comparison._cells()
    rows = comparison.rows()
    if len({row["budget"] for row in rows}) == 1:
        for line, row in zip(lines, rows, strict=True):
            line[0] = row["method"]
    left_out = () if details else DETAILS
    kept = [j for j, title in enumerate(header) if title not in left_out]
    return table([header[j] for j in kept], [[line[j] for j in kept] for line in lines])


def compared(choices, loaded, methods=None, **options):
    """The Comparison of the user's choice, under a progress bar."""
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
