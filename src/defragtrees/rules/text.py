"""Rules in words: line by line, as a table, and why they answer a row as they do."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees.outcomes.points import reachable_totals
from defragtrees.rules.conditions import Condition, Rule

__all__ = [
    "Explanation",
    "LAST",
    "basis_text",
    "calibration_text",
    "combination_text",
    "decision_text",
    "explain_rows",
    "explanation_text",
    "rule_lines",
    "rule_table",
    "scores_text",
    "short_then_text",
    "then_text",
    "told_text",
]

N_TOTALS = 7  # that are told with their probability
LAST = {"average": "always", "points": "base"}  # what the default is called


def rule_lines(rules):
    """The rules as a person would say them, one line for each."""
    lines = []
    is_error_of_y = rules.outcome.is_error_of_y(rules)
    for row in rules.rows():
        head = f"{row['rule']}. "
        if row["if"] == "otherwise":
            text = f"{head}{_condition_text(rules, row)} {row['then']}"
        else:
            text = f"{head}if {row['if']} then {row['then']}"
        if row["told"]:
            text += f": {row['told']}"
        if rules.decision == "average":
            text += f", weight {render.number(row['weight'])}"
        if not math.isnan(row["answered"]):
            text += f"  [{_evidence_text(rules, row, is_error_of_y)}]"
        lines.append(render.plain(text))
    return lines


def short_then_text(rules, rule):
    """What follows where a rule holds, where room is scarce."""
    if rules.decision == "points":
        points = [float(render.rounded(value, 3)) for value in rule.points]
        return rules.outcome.points_text(points)
    return rules.outcome.short_text(rule.prediction)


def then_text(rules, rule):
    """What follows where a rule holds: its answer, or what it has to say."""
    if rules.decision == "points":
        return rules.outcome.points_text(rule.points)
    if rules.decision == "average":
        return rules.outcome.outputs_text(rule)
    return rules.outcome.answer_text(rule.prediction)


def told_text(rules, rule):
    """What a rule tells besides; where points add up, of which class too."""
    text = rules.outcome.told_text(rule)
    if rules.decision == "points" and text and rules.classes:
        label = rules.outcome.label_text(rules.outcome.told(rule)["class"])
        said = f" are {label}"
        return text if said in text else text.replace(" (", f"{said} (", 1)
    return text


def combination_text(rules):
    """How the answer follows from several rules; empty where one answers.

    Examples
    --------
    >>> from defragtrees import Rule, RuleSet
    >>> base = Rule((), 2.0, points=(2.0,))
    >>> print(combination_text(RuleSet((), base, ("a",), "regression",
    ...                                decision="points")))
    Add up the points of the base and of all rules that hold: the total is the answer.
    """
    if rules.decision == "points":
        meaning = rules.outcome.sum_text(rules.unit, rules.origin)
        text = (
            "Add up the points of the base and of all rules that hold: the total is "
            f"{meaning}.{_scale_text(rules)}"
        )
        return render.plain(text)
    if any(rules.outcome.differs_alone(rule) for rule in rules.rules):
        return (
            "Rules are read in order: one with ! tells of the rows that no rule before "
            "it answers, and something else of all rows in which it holds."
        )
    if rules.decision == "standalone" and rules.rules:
        return (
            "Each rule is told of all rows in which it holds; where several hold, the "
            "answer is their mean by these rows."
        )
    return ""


def _scale_text(rules):
    """From some totals of whole points to probabilities, as a sentence."""
    points = [rule.points[0] for rule in rules]
    is_whole = all(float(value).is_integer() for value in points)
    if len(rules.classes or ()) != 2 or not rules.rules or not is_whole:
        return ""
    totals = reachable_totals(points)
    places = np.linspace(0, len(totals) - 1, min(N_TOTALS, len(totals)))
    totals = totals[places.round().astype(int)]
    likely = rules.outcome.linked(rules.values_of(totals[:, None]))[:, 1]
    parts = [
        f"{render.share(share)} at {render.number(total)}"
        for total, share in zip(totals, likely, strict=True)
    ]
    label = rules.outcome.label_text(rules.classes[1])
    return f" Probability of {label}: {', '.join(parts)}."


def decision_text(rules):
    """By what the class follows from the probabilities; empty if it is the likeliest.

    Examples
    --------
    >>> from defragtrees import Rule, RuleSet
    >>> rule = Rule((), "bad", (0.8, 0.2))
    >>> rules = RuleSet((), rule, ("a",), "classification", ("good", "bad"),
    ...                 threshold=0.15)
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
        for true, row in zip(rules.classes, rules.costs, strict=True)
        for answer, cost in zip(rules.classes, row, strict=True)
        if answer != true
    ]
    return render.plain(
        "The class that is expected to cost least is answered; it costs to answer "
        f"{', '.join(pairs)}."
    )


def _evidence_text(rules, row, is_error_of_y):
    share = f"{render.share(row['answered'])} of rows"
    if math.isnan(row["error"]) or is_error_of_y or rules.decision == "points":
        return share
    return f"{share}, {rules.outcome.evidence_text(row['error'])}"


def _condition_text(rules, row):
    is_last = row["if"] == "otherwise"
    return LAST.get(rules.decision, row["if"]) if is_last else row["if"]


def rule_table(
    rules, *, answer_texts=None, weight_text=render.number, with_intervals=True
):
    """Header and cells; a column in which nobody measured anything is left out.

    Parameters
    ----------
    rules : RuleSet
    answer_texts : list of str, optional
        What each rule answers, where it is to be said in other words.
    weight_text : callable
        From a weight to its text.
    with_intervals : bool
        Whether to say where rates are likely to be.
    """
    rows, outcome = rules.rows(), rules.outcome
    columns = {
        "": [str(row["rule"]) for row in rows],
        "if": [_condition_text(rules, row) for row in rows],
        "points" if rules.decision == "points" else "then": answer_texts
        or [row["then"] for row in rows],
    }
    if rules.decision == "average":
        columns["weight"] = [weight_text(row["weight"]) for row in rows]
    measured = {
        **outcome.told_columns(rules),
        "rows": _measured_texts(rows, "answered", render.share),
    }
    if not with_intervals:
        measured.pop(outcome.interval_name, None)
    if rules.decision != "points" and not outcome.is_error_of_y(rules):
        texts = _measured_texts(rows, "error", outcome.closeness_text)
        measured[outcome.closeness_name] = texts
    alone = [outcome.alone_text(rule) for rule in rules]
    if any(outcome.differs_alone(rule) for rule in rules):
        measured["if read alone"] = alone
    columns |= {name: texts for name, texts in measured.items() if any(texts)}
    cells = zip(*columns.values(), strict=True)
    header = [render.plain(name) for name in columns]
    return header, [[render.plain(cell) for cell in row] for row in cells]


def _measured_texts(rows, key, write):
    return ["" if math.isnan(row[key]) else write(row[key]) for row in rows]


@dataclass(frozen=True)
class Explanation:
    """Why rules answer one row as they do; rules are given by their index.

    Parameters
    ----------
    answer : class label or float
    rule : int
        The rule that answers or, where several have a say, has the most.
    averaged : tuple of int
        The rules that have a say together; empty where one rule answers.
    failed : tuple of (int, Condition)
        Each rule before the one that answers, and the first condition of it that does
        not hold; empty where rules are not in order.
    probabilities : tuple of float, optional
        How likely each class is, where the rules tell it.
    """

    answer: Any
    rule: int
    averaged: tuple[int, ...]
    failed: tuple[tuple[int, Condition], ...]
    probabilities: tuple[float, ...] | None = None


def explain_rows(rules, matrix):
    """Explanations of what the rules answer, one for each row, one after the other.

    Parameters
    ----------
    rules : RuleSet
    matrix : array of shape (n_samples, n_features)
        As `rules.encode` makes it.
    """
    answers = rules.predict_encoded(matrix).tolist()
    places = rules.apply_encoded(matrix).tolist()
    likely = [None] * len(places)
    if rules.has_probabilities:
        likely = [tuple(row) for row in rules.predict_proba_encoded(matrix).tolist()]
    if not rules.is_list:
        held = rules.covers_encoded(matrix)
        if rules.decision == "standalone":
            held[:, -1] = ~held[:, :-1].any(axis=1)
        for i, (answer, place) in enumerate(zip(answers, places, strict=True)):
            averaged = tuple(np.flatnonzero(held[i]).tolist())
            if rules.decision == "standalone" and len(averaged) == 1:
                averaged = ()
            yield Explanation(answer, place, averaged, (), likely[i])
        return
    failing = [_first_failing(rule, matrix) for rule in rules.rules]
    for i, (answer, place) in enumerate(zip(answers, places, strict=True)):
        failed = tuple(
            (k, rules.rules[k].conditions[failing[k][i]]) for k in range(place)
        )
        yield Explanation(answer, place, (), failed, likely[i])


def _first_failing(rule, matrix):
    """Place of the first condition that does not hold, in rows where one does not."""
    held = [c.covers(matrix[:, c.feature]) for c in rule.conditions]
    return np.argmin(held, axis=0) if held else None


def explanation_text(rules, row, explanation):
    """An explanation as a sentence or, where probabilities are told, as two.

    Parameters
    ----------
    rules : RuleSet
    row : array of shape (n_features,)
        The row, encoded.
    explanation : Explanation
    """
    basis = basis_text(rules, explanation)
    return " ".join(filter(None, [_reason_text(rules, row, explanation), basis]))


def basis_text(rules, explanation):
    """How likely the answer is, and how one knows; empty where nobody measured."""
    rule = [*rules][explanation.rule]
    if explanation.averaged and rules.decision != "average":
        # What one rule was seen to be is not how likely all of them make it.
        rule = Rule((), explanation.answer)
    return rules.outcome.basis_text(rule, explanation.probabilities)


def _reason_text(rules, row, explanation):
    answer = rules.outcome.answer_text(explanation.answer)
    if rules.decision == "points":
        return _sum_text(rules, row, explanation, answer)
    number = explanation.rule + 1
    if rules.decision == "average":
        shown = rules.rows()
        parts = [
            f"rule {k + 1} ({shown[k]['then']}, "
            f"weight {render.number(shown[k]['weight'])})"
            for k in explanation.averaged
        ]
        return f"{answer}, the mean by weight of {', '.join(parts)}."
    if explanation.averaged:
        parts = [
            f"rule {k + 1} ({_held_text(rules, row, k)}: {_then_told(rules, k)})"
            for k in explanation.averaged
        ]
        return f"{answer}, the mean by rows of {' and '.join(parts)}."
    refused = _failed_text(rules, row, explanation)
    if number == rules.n_rules:
        return f"{answer}, by rule {number}, as no other rule holds{refused}."
    held = _held_text(rules, row, explanation.rule)
    return f"{answer}, by rule {number}: {held}{refused}."


def _failed_text(rules, row, explanation):
    """The rules before the one that answers, and by which condition each failed."""
    if rules.decision != "first":
        return ""
    parts = [
        f"not rule {k + 1}, which asks for {condition.text(*rules.vocabulary)} "
        f"({_value_text(rules, condition.feature, row)})"
        for k, condition in explanation.failed
    ]
    return "".join(f"; {part}" for part in parts)


def _then_told(rules, k):
    rule = rules.rules[k]
    return ", ".join(filter(None, [then_text(rules, rule), told_text(rules, rule)]))


def _sum_text(rules, row, explanation, answer):
    """The sum of points as it is added up."""
    outcome = rules.outcome
    parts = [f"{outcome.points_text(rules.default.points)} (base)"]
    for k in explanation.averaged[:-1]:
        points = outcome.points_text(rules.rules[k].points)
        parts.append(f"{points} (rule {k + 1}: {_held_text(rules, row, k)})")
    [total] = rules.totals_encoded(row[None])
    total = [float(render.rounded(value, 9)) for value in total]
    text = outcome.points_text(total).removeprefix("+")
    # The sum of exact points has digits that nobody wrote down.
    answer = answer if outcome.n_classes else render.rounded(explanation.answer, 9)
    return f"{answer}: {', '.join(parts)}; in all {text}."


def _held_text(rules, row, k):
    """The conditions of a rule, each with the value that it holds for."""
    return " and ".join(
        f"{condition.text(*rules.vocabulary)} "
        f"({_value_text(rules, condition.feature, row)})"
        for condition in rules.rules[k].conditions
    )


def _value_text(rules, feature, row):
    value = float(row[feature])
    if math.isnan(value):
        return "it is missing"
    labels = rules.categories[feature]
    if labels is None:
        return f"it is {rules.vocabulary.scales[feature].text(value)}"
    place = int(value)
    return f"it is {labels[place]}" if place < len(labels) else "it is another one"


SOURCES = (("rules", ""), ("posterior", "posterior_"), ("ensemble", "ensemble_"))


def scores_text(rules, scores, where, is_short=False):
    """The size of the rules, and what they are worth beside the ensemble.

    Parameters
    ----------
    rules : RuleSet
    scores : dict
        What `evaluate` gave.
    where : str
        Which rows it was measured on.
    is_short : bool, default=False
        Leave out how many rules hold in a row.
    """
    sources = [
        (label, prefix)
        for label, prefix in SOURCES
        if f"{prefix}fidelity" in scores or f"{prefix}error" in scores
    ]
    lines = []
    for name, label in _shown(rules, scores):
        values = [scores.get(f"{prefix}{name}") for _, prefix in sources]
        cells = [_cell(value, rules.outcome.n_classes) for value in values]
        if any(cells):
            lines.append([label, *cells])
    header = [f"on {where}", *(label for label, _ in sources)]
    parts = [_size(rules, scores, is_short), render.text_table(header, lines)]
    notes = [*_class_notes(rules, scores), decision_text(rules), *_unanswered(rules)]
    notes = list(filter(None, notes))
    return "\n\n".join(parts + ([" ".join(notes)] if notes else []))


def _shown(rules, scores):
    """Names of what is shown, and their labels."""
    outcome = rules.outcome
    # Numbers have their errors in the units of y, if there is y.
    shown = [("error", outcome.error_name)] if outcome.n_classes else []
    has_costs = rules.costs is not None or rules.threshold is not None
    shown += [
        (measure.name, measure.label)
        for measure in outcome.measures()
        # Without costs it is the error.
        if measure.name != "expected_cost" or has_costs
    ]
    return [*shown, ("fidelity", "agreement with the ensemble")]


def _cell(value, n_classes):
    if value is None:
        return ""
    if math.isnan(value):
        return "–"
    # Points stand below each other where all is near one.
    return f"{value:.4f}" if n_classes and value < 10 else render.rounded(value)


def _class_notes(rules, scores):
    """Which class the measures of one class are of."""
    names = [m.label for m in rules.outcome.measures() if m.is_of_class]
    if not names or "precision" not in scores:
        return []
    text = f"{', '.join(names[:-1])} and {names[-1]} are ".capitalize()
    if len(rules.classes) == 2:
        return [f"{text}those of {_class_name(rules, rules.outcome.positive_class)}."]
    return [f"{text}means over the classes, as is AUC."]


def _class_name(rules, label):
    return render.plain(rules.outcome.answer_text(label))


def _unanswered(rules):
    missing = rules.unanswered_classes
    if not missing:
        return []
    names = ", ".join(_class_name(rules, label) for label in missing[:5])
    return [f"No rule answers {names}{', ...' if missing[5:] else ''}."]


def calibration_text(rules, rows, where):
    """What each rule tells and what is observed, as a table.

    Parameters
    ----------
    rules : RuleSet
    rows : list of dict
        What `metrics.calibration` gave.
    where : str
        Which rows it was observed on.
    """
    outcome = rules.outcome
    text = render.share if outcome.n_classes else outcome.short_text
    is_many = outcome.n_classes > 2
    lines = []
    for row in rows:
        line = [str(row["rule"])]
        if is_many:
            line.append(_class_name(rules, row["class"]))
        if row["n_rows"]:
            line += [text(row[name]) for name in ("told", "observed")]
            line.append(f"{text(row['low'])} to {text(row['high'])}")
        else:
            line += [""] * 3
        lines.append([*line, f"{row['n_rows']:,.6g}"])
    header = ["rule", *(["class"] if is_many else []), "told", "observed"]
    header += ["95 % interval", "rows"]
    title = f"Told and observed on {where}"
    if outcome.n_classes == 2:
        title += f", for {_class_name(rules, outcome.positive_class)}"
    return f"{title}:\n{render.text_table(header, lines)}\n{_mean_gap(rules, rows)}"


def _mean_gap(rules, rows):
    seen = [row for row in rows if row["n_rows"]]
    gaps = [row["n_rows"] * abs(row["told"] - row["observed"]) for row in seen]
    gap = sum(gaps) / sum(row["n_rows"] for row in seen)
    text = f"{100 * gap:.1f} points" if rules.classes else render.rounded(gap)
    return f"On average over rows they differ by {text}."


def _size(rules, scores, is_short):
    if scores["n_rules"] == 1:
        return "1 rule without conditions."
    size = f"{scores['n_rules']} rules with {scores['n_conditions']:.1f} conditions "
    if rules.decision == "first":
        overlap = "" if is_short else f", {scores['overlap']:.2f} rules a row"
        return (
            f"{size}each; they cover {render.share(scores['coverage'])} of the rows "
            f"before the otherwise{overlap}."
        )
    if is_short:
        return f"{size}each."
    if rules.decision == "partition":
        return f"{size}each; just one of them holds in a row."
    if rules.decision == "points":
        return (
            f"{size}each; on average {scores['overlap']:.2f} of them hold in a row. "
            "Their points and those of the base add up."
        )
    if rules.decision == "standalone":
        return (
            f"{size}each, each told of all rows in which it holds; they cover "
            f"{render.share(scores['coverage'])} of the rows, "
            f"{scores['overlap']:.2f} rules a row."
        )
    return (
        f"{size}each; on average {scores['overlap']:.2f} of them hold in a row, and "
        "the last one always does. Their mean by weight is the answer."
    )
