"""`defragtrees simplify`: turn a trained model into a short list of rules."""

import time
from contextlib import ExitStack

import click

from defragtrees._utils.files import atomic_file
from defragtrees._utils.formatting import page_width, text_table
from defragtrees.cli import options, output
from defragtrees.cli.group import Command
from defragtrees.cli.inputs import hold_out, load
from defragtrees.cli.settings import fit, setting_options
from defragtrees.cli.terminal import wrapped
from defragtrees.rules.text import MAYBE_TRAINED

EXAMPLE = """\
defragtrees simplify model.json data.csv --target y --out rules.json
"""
SETTINGS = (
    *("form", "max_rules", "max_conditions", "min_rows", "points"),
    *("features", "exclude", "must_use", "monotone"),
    *("class_weight", "costs", "threshold", "pos_label"),
    *("method", "target", "random_state", "n_jobs"),
)


@click.command("simplify", cls=Command, example=EXAMPLE)
@options.inputs
@setting_options(*SETTINGS)
@options.validation
@options.held_out(
    "Rows to hold out for the scores, as a share or a number; 0 for none."
)
@options.count(
    "--stability",
    "Fit again to this number of random halves of the rows, and count how often "
    "each rule comes back.",
    least=2,
    most=10_000,
    metavar="N",
)
@options.output("Save the rules, as JSON.")
@options.output("Write an HTML report.", name="--report")
@options.flag(
    "--details", "Show counts, coverage and agreement of every rule, and all scores."
)
@options.as_json
def command(
    inputs, choices, validation, test_size, stability, out, report, details, as_json
):
    """Turn a trained model into a short list of rules.

    MODEL is a file saved by XGBoost (.json, .ubj), LightGBM (.txt), CatBoost (.cbm,
    .json) or skops, or a folder with the trees of an R randomForest. A pickle or joblib
    file needs --trust pickle. Pipelines are read with their steps, on the columns of
    DATA. Any other model with a predict method is queried as a black box.

    DATA is CSV or JSON lines (.jsonl), also gzipped, Parquet or Feather, or - for
    standard input, with rows like those that the model was trained on. Columns that the
    model does not use are ignored.
    """
    outputs = {"--out": out, "--report": report}
    files = inputs.data.path, inputs.model, validation
    output.check_outputs(outputs, files, out=".json", report=".html")
    forest, rows, unseen = load(inputs, validation)
    train, counted, test = hold_out(rows, unseen, test_size, choices.seed)
    # The rows are in two parts now; the whole need not stay in memory.
    del rows, unseen
    begin = time.perf_counter()
    simple = fit(choices, forest, train, counted, stability)
    seconds = time.perf_counter() - begin
    # The scores to show, and the rows that they are from.
    measured, n_rows = (train if test is None else test), len(train[0])
    scores, where = simple.training_, f"{n_rows:,} training rows"
    if test is not None:
        scores = simple.evaluate(*test)
        kind = "rows" if validation is None else "validation rows"
        where = f"{len(test[0])} {kind} held out from the rules"
        if not test_size:
            where = f"{len(test[0])} {kind} that the model was not trained on"
    with ExitStack() as stack:
        if out is not None:  # which appears only if the report can be written too
            simple.rules_.save(stack.enter_context(atomic_file(out)))
        if report is not None:
            # Pictures take their time to import, and few runs need them.
            from defragtrees.cli.report import report_on

            report_on(report, simple, measured, inputs, validation)
    if as_json:
        click.echo(output.json_text(_facts(simple, choices, scores, where, seconds)))
        return
    is_new = validation is not None
    click.echo(f"{output.rules_text(simple.rules_, details)}\n")
    click.echo(_scores_text(simple.rules_, scores, where, details, is_new))
    advice = getattr(simple, "advice_", ())
    if advice:
        advice = [text.replace('form="points"', "--form points") for text in advice]
        where = f"\nOn the {n_rows:,} training rows:"
        if is_new:
            where = "\nOn the rows that rates are from:"
        click.echo(wrapped("\n".join([where if test is not None else "", *advice])))
    for text in simple._about_model:
        click.echo(wrapped(f"\n{text}"))
    if simple.stability_ is not None:
        click.echo(f"\n{simple.stability_}")
    for path, text in ((out, "The rules are in"), (report, "The report is in")):
        if path is not None:
            click.echo(f"{text} {path}.")


def _scores_text(rules, scores, where, details, is_new):
    """Scores of rules and model side by side; with details all of them."""
    header, lines = rules._view.score_cells(scores, is_short=not details)
    header[0] = f"on {where}"
    notes = rules._view.score_notes(scores, is_short=not details)
    ends = "error_low" in scores and rules.outcome.view.error_range(scores)
    if ends and not where.endswith("training rows"):
        error = rules.outcome.error_name
        notes.insert(0, f"95% interval of the {error} of the rules: {ends}.")
    if "model_error" in scores and not is_new:
        notes.append(f"The model {MAYBE_TRAINED}; pass others with --validation.")
    table = text_table(header, lines, width=page_width())
    return "\n".join([table, *filter(None, [wrapped(" ".join(notes))])])


def _facts(simple, choices, scores, where, seconds):
    stability = simple.stability_
    return {
        "method": choices.method,
        "task": simple.rules_.task,
        "form": simple.rules_.form,
        "rules": simple.rules_._view.rows(),
        "rules_document": simple.rules_.to_dict(),
        "scores": scores,
        "scored_on": where,
        "advice": getattr(simple, "advice_", ()),
        **({} if stability is None else {"stability": stability.to_dict()}),
        "seconds": round(seconds, 3),
        **({"origin": simple.forest_.origin} if simple.forest_.origin else {}),
    }
