"""Rules in words: line by line, as a table, and why they answer a row as they do."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from defragtrees import render
from defragtrees.conditions import Condition

__all__ = [
    "Explanation",
    "explain_rows",
    "explanation_text",
    "rule_lines",
    "rule_table",
]


def rule_lines(rules):
    """The rules as a person would say them, one line for each."""
    lines = []
    for row in rules.rows():
        head = f"{row['rule']}. "
        if row["if"] == "otherwise":
            text = f"{head}{_condition_text(rules, row)} {row['then']}"
        else:
            text = f"{head}if {row['if']} then {row['then']}"
        if rules.decision == "average":
            text += f", weight {render.number(row['weight'])}"
        if not math.isnan(row["answered"]):
            text += f"  [{_evidence_text(rules, row)}]"
        lines.append(render.plain(text))
    return lines


def _evidence_text(rules, row):
    share = f"{render.share(row['answered'])} of rows"
    if math.isnan(row["error"]):
        return share
    return f"{share}, {rules.outcome.evidence_text(row['error'])}"


def _condition_text(rules, row):
    is_always = row["if"] == "otherwise" and rules.decision == "average"
    return "always" if is_always else row["if"]


def rule_table(
    rules, *, answer_texts=None, weight_text=render.number, error_name="error"
):
    """Header and cells; a column in which nobody measured anything is left out.

    Parameters
    ----------
    rules : RuleSet
    answer_texts : list of str, optional
        What each rule answers, where it is to be said in other words.
    weight_text : callable
        From a weight to its text.
    error_name : str
        Title of the column of errors.
    """
    rows = rules.rows()
    columns = {
        "": [str(row["rule"]) for row in rows],
        "if": [_condition_text(rules, row) for row in rows],
        "then": answer_texts or [row["then"] for row in rows],
    }
    if rules.decision == "average":
        columns["weight"] = [weight_text(row["weight"]) for row in rows]
    for name, key, write in (
        ("rows", "answered", render.share),
        (error_name, "error", rules.outcome.error_text),
    ):
        texts = ["" if math.isnan(row[key]) else write(row[key]) for row in rows]
        if any(texts):
            columns[name] = texts
    cells = zip(*columns.values(), strict=True)
    return list(columns), [[render.plain(cell) for cell in row] for row in cells]


@dataclass(frozen=True)
class Explanation:
    """Why rules answer one row as they do; rules are given by their index.

    Parameters
    ----------
    answer : class label or float
    rule : int
        The rule that answers or, where rules are averaged, has the most weight.
    averaged : tuple of int
        The rules that the answer is the mean of; empty where one rule answers.
    failed : tuple of (int, Condition)
        Each rule before the one that answers, and the first condition of it that does
        not hold; empty where rules are averaged.
    """

    answer: Any
    rule: int
    averaged: tuple[int, ...]
    failed: tuple[tuple[int, Condition], ...]


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
    if rules.decision == "average":
        held = rules.covers_encoded(matrix)
        for i, (answer, place) in enumerate(zip(answers, places, strict=True)):
            averaged = tuple(np.flatnonzero(held[i]).tolist())
            yield Explanation(answer, place, averaged, ())
        return
    failing = [_first_failing(rule, matrix) for rule in rules.rules]
    for i, (answer, place) in enumerate(zip(answers, places, strict=True)):
        failed = tuple(
            (k, rules.rules[k].conditions[failing[k][i]]) for k in range(place)
        )
        yield Explanation(answer, place, (), failed)


def _first_failing(rule, matrix):
    """Place of the first condition that does not hold, in rows where one does not."""
    held = [c.covers(matrix[:, c.feature]) for c in rule.conditions]
    return np.argmin(held, axis=0) if held else None


def explanation_text(rules, row, explanation):
    """An explanation as a sentence.

    Parameters
    ----------
    rules : RuleSet
    row : array of shape (n_features,)
        The row, encoded.
    explanation : Explanation
    """
    answer = rules.outcome.answer_text(explanation.answer)
    if explanation.averaged:
        shown = rules.rows()
        parts = [
            f"rule {k + 1} ({shown[k]['then']}, "
            f"weight {render.number(shown[k]['weight'])})"
            for k in explanation.averaged
        ]
        return f"{answer}, the mean by weight of {', '.join(parts)}."
    number = explanation.rule + 1
    if number == rules.n_rules:
        return f"{answer}, by rule {number}, as no other rule holds."
    reasons = [
        f"{condition.text(rules.feature_names, rules.categories)} "
        f"({_value_text(rules, condition.feature, row)})"
        for condition in rules.rules[explanation.rule].conditions
    ]
    return f"{answer}, by rule {number}: {' and '.join(reasons)}."


def _value_text(rules, feature, row):
    value = float(row[feature])
    if math.isnan(value):
        return "it is missing"
    labels = rules.categories[feature]
    if labels is None:
        return f"it is {render.number(value)}"
    place = int(value)
    return f"it is {labels[place]}" if place < len(labels) else "it is another one"
