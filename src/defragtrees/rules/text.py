"""Text of rule models: rules line by line and as a table, scores, calibration."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from defragtrees._utils import formatting as render
from defragtrees.outcomes.base import Outcome
from defragtrees.rules.conditions import Condition

if TYPE_CHECKING:
    from defragtrees.rules.model import RuleModel


@dataclass(frozen=True)
class Explanation:
    """Why rules predict one row as they do; rules are given by their index."""

    answer: Any
    rule: int  # that predicts or, where several combine, has the most weight
    averaged: tuple[int, ...]  # the rules that combine; empty where one predicts
    # Each rule before the one that predicts, and its first condition that fails; empty
    # where rules are not in order.
    failed: tuple[tuple[int, Condition], ...]
    probabilities: tuple[float, ...] | None = None


def rule_lines(rules: "RuleModel") -> list[str]:
    """The rules as a person would say them, one line for each."""
    lines = []
    shows_errors = rules._shows_errors
    for rule, row in zip(rules, rules.rows(), strict=True):
        if row["if"] == "otherwise":
            text = f"{row['rule']}. {rules.default_text} {row['then']}"
        else:
            text = f"{row['rule']}. if {row['if']} then {row['then']}"
        if row["evidence"]:
            text += f": {row['evidence']}"
        weight = rules._shown_weight(rule)
        if weight is not None:
            text += f", weight {render.number(weight)}"
        if not math.isnan(row["share"]):
            evidence = f"{render.share(row['share'])} of rows"
            if shows_errors and not math.isnan(row["error"]):
                evidence += f", {rules.outcome.evidence_text(row['error'])}"
            text += f"  [{evidence}]"
        lines.append(render.plain(text))
    return lines


def rule_table(
    rules: "RuleModel",
    *,
    answer_texts: list[str] | None = None,
    weight_text: Callable[[float], str] = render.number,
    with_intervals: bool = True,
) -> tuple[list[str], list[list[str]]]:
    """Header and cells; a column in which nothing was measured is left out.

    `answer_texts` replace the texts of what each rule predicts.
    """
    rows, outcome = rules.rows(), rules.outcome
    columns = {
        "": [str(row["rule"]) for row in rows],
        "if": [
            rules.default_text if row["if"] == "otherwise" else row["if"]
            for row in rows
        ],
        rules.then_title: answer_texts or [row["then"] for row in rows],
    }
    weights = [rules._shown_weight(rule) for rule in rules]
    if None not in weights:
        columns["weight"] = [weight_text(w) for w in weights if w is not None]
    measured = {
        **outcome.told_columns(rules),
        "rows": _measured_texts(rows, "share", render.share),
    }
    if not with_intervals:
        measured.pop(outcome.interval_name, None)
    if rules._shows_errors:
        texts = _measured_texts(rows, "error", outcome.closeness_text)
        measured[outcome.closeness_name] = texts
    if any(outcome.differs_alone(rule) for rule in rules):
        measured["if read alone"] = [outcome.alone_text(rule) for rule in rules]
    columns |= {name: texts for name, texts in measured.items() if any(texts)}
    cells = zip(*columns.values(), strict=True)
    header = [render.plain(name) for name in columns]
    return header, [[render.plain(cell) for cell in row] for row in cells]


def _measured_texts(
    rows: list[dict[str, Any]], key: str, write: Callable[[float], str]
) -> list[str]:
    return ["" if math.isnan(row[key]) else write(row[key]) for row in rows]


def decision_text(rules: "RuleModel") -> str:
    """How the class follows from probabilities; empty if it is the most probable.

    Examples
    --------
    >>> from defragtrees import Rule, RuleList
    >>> rule = Rule((), "bad", (0.8, 0.2))
    >>> rules = RuleList((), rule, ("a",), "classification", ("good", "bad"),
    ...                  threshold=0.15)
    >>> print(decision_text(rules))
    bad is answered from a probability of 0.15 on.
    """
    if rules.threshold is not None:
        outcome = rules.outcome
        label = outcome.answer_text(outcome.positive_class)
        least = render.number(outcome.positive_threshold(rules.threshold))
        return render.plain(f"{label} is answered from a probability of {least} on.")
    if rules.costs is None:
        return ""
    name = rules.outcome.label_text
    pairs = [
        f"{name(answer)} for {name(true)}: {render.rounded(cost)}"
        for true, row in zip(rules.classes or (), rules.costs, strict=True)
        for answer, cost in zip(rules.classes or (), row, strict=True)
        if answer != true
    ]
    return render.plain(
        "The class that is expected to cost least is answered; it costs to answer "
        f"{', '.join(pairs)}."
    )


SOURCES = (("rules", ""), ("posterior", "posterior_"), ("ensemble", "ensemble_"))
MAYBE_TRAINED = "may be trained on these rows"  # an ensemble, and then looks too good


def scores_text(
    rules: "RuleModel",
    scores: Mapping[str, Any],
    where: str,
    is_short: bool = False,
    is_new: bool = False,
) -> str:
    """The size of the rules, and their scores beside those of the ensemble.

    `scores` are what `evaluate` of an estimator gives, and `where` names the rows;
    `is_new` says that the ensemble was not trained on them. The short text leaves out
    how many rules match per row.
    """
    outcome = rules.outcome
    sources = [
        (label, prefix)
        for label, prefix in SOURCES
        if f"{prefix}fidelity" in scores or f"{prefix}error" in scores
    ]
    has_costs = rules.costs is not None or rules.threshold is not None
    measures = outcome.shown_measures(has_costs=has_costs)
    measures["fidelity"] = "agreement with the ensemble"
    lines = []
    for name, label in measures.items():
        values = [scores.get(f"{prefix}{name}") for _, prefix in sources]
        cells = [_cell(value, outcome) for value in values]
        if any(cells):
            lines.append([label, *cells])
    header = [f"on {where}", *(label for label, _ in sources)]
    if "ensemble_error" in scores and not is_new:
        header[-1] += f" ({MAYBE_TRAINED})"
    parts = [rules._size_text(scores, is_short), render.text_table(header, lines)]
    notes = [_class_note(rules, scores), decision_text(rules)]
    if has_costs and "ensemble_error" in scores:
        notes.append("The ensemble is measured with the same decision.")
    missing = rules.unpredicted_classes
    if missing:
        names = ", ".join(_class_name(rules, label) for label in missing[:5])
        notes.append(f"No rule answers {names}{', ...' if missing[5:] else ''}.")
    return "\n\n".join(filter(None, [*parts, " ".join(filter(None, notes))]))


def _cell(value: float | None, outcome: Outcome) -> str:
    if value is None:
        return ""
    return "–" if math.isnan(value) else outcome.measure_text(value)


def _class_note(rules: "RuleModel", scores: Mapping[str, Any]) -> str:
    """Which class the measures of one class are of."""
    names = [m.label for m in rules.outcome.measures() if m.is_of_class]
    if not names or "precision" not in scores:
        return ""
    text = f"{', '.join(names[:-1])} and {names[-1]} are ".capitalize()
    if rules.outcome.is_binary:
        return f"{text}those of {_class_name(rules, rules.outcome.positive_class)}."
    return f"{text}means over the classes, as is AUC."


def _class_name(rules: "RuleModel", label: Any) -> str:
    return render.plain(rules.outcome.answer_text(label))


def calibration_text(
    rules: "RuleModel", rows: Sequence[Mapping[str, Any]], where: str
) -> str:
    """Estimates of each rule and what is observed in other rows, as a table.

    `rows` are what `metrics.calibration` gave, and `where` names the other rows.
    """
    outcome = rules.outcome
    text = outcome.statistic_text
    is_many = outcome.target_kind == "classes"
    lines = []
    for row in rows:
        line = [str(row["rule"])]
        if is_many:
            line.append(_class_name(rules, row["class"]))
        if row["n_rows"]:
            line += [text(row[name]) for name in ("estimated", "observed")]
            line.append(f"{text(row['low'])} to {text(row['high'])}")
        else:
            line += [""] * 3
        lines.append([*line, f"{row['n_rows']:,.6g}"])
    header = ["rule", *(["class"] if is_many else []), "estimated", "observed"]
    header += ["95 % interval", "rows"]
    title = f"Told and observed on {where}"
    if outcome.is_binary:
        title += f", for {_class_name(rules, outcome.positive_class)}"
    seen = [row for row in rows if row["n_rows"]]
    gaps = [row["n_rows"] * abs(row["estimated"] - row["observed"]) for row in seen]
    gap = sum(gaps) / sum(row["n_rows"] for row in seen)
    mean = f"On average over rows they differ by {outcome.gap_text(gap)}."
    return f"{title}:\n{render.text_table(header, lines)}\n{mean}"
