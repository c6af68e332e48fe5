"""How good rules and ensemble are against the truth."""

import math

from defragtrees._utils.formatting import plural
from defragtrees.report.markup import Cell, name, table, text
from defragtrees.report.sections.closeness import pairs_table
from defragtrees.report.wording import (
    amount,
    count,
    error_text,
    fidelity_text,
    percent,
    sentence,
)

__all__ = ["unanswered_words", "write"]

WHOSE = (("Rules", ""), ("Ensemble", "ensemble_"))


def write(page):
    """All measures beside the ensemble's, and which class is taken for which."""
    summary = page.summary
    rows, outcome = summary.rows, summary.outcome
    if rows.y is None:
        return []
    header = ["Measure", *(whose for whose, _ in WHOSE)]
    header += [f"{whose}, training" for whose, _ in WHOSE]
    pieces = [
        _words(summary),
        table(
            header,
            _lines(summary),
            f"Measures against {summary.target}, here and on the training rows",
            numeric=range(1, len(header)),
        ),
    ]
    if outcome.n_classes:
        title = "Rows by what is true and what the rules say"
        pieces.append(
            pairs_table(
                rows,
                rows.y,
                rows.predicted,
                Cell(f"{name(summary.target)} is"),
                "rules",
                title,
            )
        )
    return pieces


def _words(summary):
    rules, outcome = summary.rules, summary.outcome
    if not outcome.n_classes:
        return (
            f"<p>Errors are in the units of {name(summary.target)}; smaller ones are "
            "better, and a larger R².</p>"
        )
    words = "AUC, average precision, precision and recall are better if they are larger"
    whose = "They are means over the classes."
    if outcome.n_classes == 2:
        label = name(outcome.answer_text(outcome.told_class))
        whose = f"Average precision, precision and recall are those of {label}."
    how = ""
    if rules.threshold is not None:
        least = amount(outcome.told_threshold(rules.threshold), 3)
        label = name(outcome.answer_text(outcome.told_class))
        how = f" {label} is answered from a probability of {least} on."
    elif rules.costs is not None:
        how = " The answer is the class that is expected to cost least."
    return f"<p>{words}, the others if they are smaller. {whose}{how}</p>"


def _lines(summary):
    """One line for each measure; what nobody could measure is a dash."""
    outcome = summary.outcome
    shown = [("error", sentence(outcome.error_name))] if outcome.n_classes else []
    shown += [
        (measure.name, sentence(measure.label))
        for measure in outcome.measures()
        if measure.name in summary.scores
        and (measure.name != "expected_cost" or summary.has_costs)
    ]
    return [
        [
            label,
            *(
                _value(key, scores.get(f"{prefix}{key}"), outcome)
                for scores in (summary.scores, summary.simplifier.training_)
                for _, prefix in WHOSE
            ),
        ]
        for key, label in shown
    ]


def _value(key, value, outcome):
    if value is None or math.isnan(value):
        return "–"
    if key == "error":
        return error_text(value, outcome)
    if key == "r2" or (outcome.n_classes and value < 10):
        return fidelity_text(value)
    return amount(value)


def unanswered_words(summary):
    """Which classes no rule answers, and how many of the rows have them."""
    rows, rules = summary.rows, summary.rules
    missing = rules.unanswered_classes
    if not missing:
        return ""
    parts = []
    for label in missing[:5]:
        has = "" if rows.y is None else f" ({_having(rows, rows.y == label)})"
        parts.append(f"<b>{name(rules.outcome.answer_text(label))}</b>{has}")
    more = f" and {count(len(missing) - 5)} more" if len(missing) > 5 else ""
    return f'<p class="note">No rule answers {", ".join(parts)}{more}.</p>'


def _having(rows, members):
    share = text(percent(rows.share(members)))
    return f"{plural(int(members.sum()), 'row')} here, {share}"
