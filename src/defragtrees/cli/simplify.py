"""`defragtrees simplify`: the rules of a model, on the screen and in files."""

import time

import click
import numpy as np
from sklearn.metrics import confusion_matrix

from defragtrees import metrics
from defragtrees.cli.group import Command
from defragtrees.cli.inputs import load
from defragtrees.cli.options import (
    fit,
    held_out_option,
    input_options,
    json_option,
    method_options,
    output_option,
    validation_option,
)
from defragtrees.cli.output import (
    check_outputs,
    json_text,
    progress_kind,
    rules_text,
    say,
)
from defragtrees.rules.text import scores_text

EXAMPLE = """\
defragtrees simplify model.json data.csv --target y --max-rules 5 --out rules.json
"""


@click.command("simplify", cls=Command, example=EXAMPLE)
@input_options
@method_options()
@validation_option
@held_out_option("Rows to hold out for the scores; 0 scores the rows of the rules.")
@output_option("Save the rules, as JSON.")
@output_option("Write an HTML report.", name="--report")
@json_option
def command(inputs, choices, validation, test_size, out, report, as_json):
    """Find a few rules that say nearly what a model says.

    MODEL is a file saved by XGBoost (.json, .ubj), LightGBM (.txt), CatBoost (.cbm,
    .json) or skops, or a folder with the trees of an R randomForest. A pickle or joblib
    file needs --trust-pickle. Pipelines are read with their steps, on the columns of
    DATA; any other model that predicts is asked for its answers.

    DATA is a CSV file (also .gz), Parquet or Feather, with rows such as the model was
    trained on. Columns that the model does not use are ignored.
    """
    outputs = {"--out": out, "--report": report}
    check_outputs(outputs, (inputs.data, inputs.model, validation))
    loaded = load(inputs, progress_kind(), validation)
    train, test = loaded.split(test_size, choices["random_state"])
    begin = time.perf_counter()
    # The rows are in two parts now; the whole need not stay in memory.
    del loaded
    simple = fit(choices, train)
    seconds = time.perf_counter() - begin
    # The scores to show, and the rows that they are from.
    scores, where = simple.training_, f"{len(train)} training rows"
    if test is not None:
        scores = simple.evaluate(*test.rows)
        kind = "rows" if validation is None else "validation rows"
        where = f"{len(test)} {kind} held out from the rules"
        if not test_size:
            where = f"{len(test)} {kind} that the model was not trained on"
    if out is not None:
        simple.rules_.save(out)
    if report is not None:
        # Pictures take their time to import, and few runs need them.
        from defragtrees.cli.report import report_on

        measured = train if test is None else test
        report_on(report, simple, measured, inputs, is_new=validation is not None)
    if as_json:
        facts = _facts(simple, choices, scores, where, seconds)
        say(json_text(facts | _tables(simple, train if test is None else test)))
        return
    is_new = validation is not None
    measured = scores_text(simple.rules_, scores, where, is_short=True, is_new=is_new)
    say(f"{rules_text(simple.rules_)}\n\n{measured}")
    advice = getattr(simple, "advice_", ())
    if advice:
        where = f"\nOn the {len(train)} training rows:"
        if is_new:
            where = "\nOn the rows that rates are from:"
        say("\n".join([where if test is not None else "", *advice]))
    if simple.forest_.origin:
        say(f"\n{simple.forest_.origin}")
    stability = getattr(simple, "stability_", None)
    if stability is not None:
        say(f"\n{stability}")
    for path, text in ((out, "The rules are in"), (report, "The report is in")):
        if path is not None:
            say(f"{text} {path}.")


def _facts(simple, choices, scores, where, seconds):
    stability = getattr(simple, "stability_", None)
    return {
        "method": choices["method"],
        "task": simple.rules_.task,
        "decision": simple.rules_.decision,
        "rules": simple.rules_.rows(),
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
        answers = {"rules": rules.predict(X), "ensemble": simple.forest_.predict(X)}
        tables["confusion"] = {"classes": rules.classes} | {
            name: confusion_matrix(
                y, told, labels=rules.classes, sample_weight=weight
            ).astype(np.float64)
            for name, told in answers.items()
        }
    return tables
