"""`defragtrees simplify`: turn a trained model into a short list of rules."""

import time
from contextlib import ExitStack

import click
import numpy as np
from sklearn.metrics import confusion_matrix

from defragtrees import metrics
from defragtrees._utils.files import atomic_file
from defragtrees.cli.group import Command
from defragtrees.cli.inputs import load
from defragtrees.cli.options import (
    details_option,
    held_out_option,
    input_options,
    json_option,
    output_option,
    validation_option,
)
from defragtrees.cli.output import (
    check_outputs,
    headline,
    json_text,
    progress_kind,
    rules_text,
    say,
)
from defragtrees.cli.settings import fit, setting_options
from defragtrees.cli.tables import table, wrapped
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
@input_options
@setting_options(*SETTINGS)
@validation_option
@held_out_option("Rows to hold out for the scores, as a share or a number; 0 for none.")
@click.option(
    "--stability",
    type=click.IntRange(2, 10_000),
    metavar="N",
    help="Fit again to this number of random halves of the rows, and count how often "
    "each rule comes back.",
)
@output_option("Save the rules, as JSON.")
@output_option("Write an HTML report.", name="--report")
@details_option("Show counts, coverage and agreement of every rule, and all scores.")
@json_option
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
    check_outputs(outputs, files, out=".json", report=".html")
    loaded = load(inputs, progress_kind(), validation)
    validation = validation if loaded.validation is not None else None
    train, test = loaded.split(test_size, choices.seed)
    begin = time.perf_counter()
    # The rows are in two parts now; the whole need not stay in memory.
    del loaded
    simple = fit(choices, train, stability)
    seconds = time.perf_counter() - begin
    # The scores to show, and the rows that they are from.
    scores, where = simple.training_, f"{len(train):,} training rows"
    if test is not None:
        scores = simple.evaluate(*test.rows)
        kind = "rows" if validation is None else "validation rows"
        where = f"{len(test)} {kind} held out from the rules"
        if not test_size:
            where = f"{len(test)} {kind} that the model was not trained on"
    with ExitStack() as stack:
        if out is not None:  # which appears only if the report can be written too
            simple.rules_.save(stack.enter_context(atomic_file(out)))
        if report is not None:
            # Pictures take their time to import, and few runs need them.
            from defragtrees.cli.report import report_on

            rows = train if test is None else test
            report_on(report, simple, rows, inputs, validation)
    if as_json:
        facts = _facts(simple, choices, scores, where, seconds)
        say(json_text(facts | _tables(simple, train if test is None else test)))
        return
    is_new = validation is not None
    say(headline(simple.rules_, scores, where))
    say(f"\n{rules_text(simple.rules_, details)}\n")
    say(_scores_text(simple.rules_, scores, where, details, is_new))
    advice = getattr(simple, "advice_", ())
    if advice:
        where = f"\nOn the {len(train):,} training rows:"
        if is_new:
            where = "\nOn the rows that rates are from:"
        say(wrapped("\n".join([where if test is not None else "", *advice])))
    if simple.forest_.origin:
        say(wrapped(f"\n{simple.forest_.origin}"))
    stability = simple.stability_
    if stability is not None:
        say(f"\n{table(*stability._cells())}\n{wrapped(stability.sentence)}")
    for path, text in ((out, "The rules are in"), (report, "The report is in")):
        if path is not None:
            say(f"{text} {path}.")


def _scores_text(rules, scores, where, details, is_new):
    """Scores of rules and model side by side; with details all of them."""
    header, lines = rules._view.score_cells(scores, is_short=not details)
    header[0] = f"on {where}"
    notes = rules._view.score_notes(scores, is_short=not details)
    if "model_error" in scores and not is_new:
        notes.append(f"The model {MAYBE_TRAINED}; pass others with --validation.")
    return "\n".join([table(header, lines), *filter(None, [wrapped(" ".join(notes))])])


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


def _tables(simple, loaded):
    """Rule by rule and class by class, what is estimated and what is observed."""
    rules, (X, y, weight) = simple.rules_, loaded.rows
    if y is None:
        return {}
    tables = {"calibration": metrics.calibration(rules, X, y, weight)}
    if rules.classes is not None:
        answers = {"rules": rules.predict(X), "model": simple.forest_.predict(X)}
        tables["confusion"] = {"classes": rules.classes} | {
            name: confusion_matrix(
                y, told, labels=rules.classes, sample_weight=weight
            ).astype(np.float64)
            for name, told in answers.items()
        }
    return tables
