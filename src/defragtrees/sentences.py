"""Why a rule set answers what it answers, for one row, as a sentence."""

import math

from defragtrees import render

__all__ = ["explain_row"]


def explain_row(rules, matrix):
    """What the rules answer to the only row of a matrix, who says so, and why.

    Parameters
    ----------
    rules : RuleSet
    matrix : array of shape (1, n_features)
        As `rules.encode` makes it.

    Returns
    -------
    str
    """
    answer = rules.predict_encoded(matrix)[0]
    text = rules.outcome.answer_text(answer)
    if rules.decision == "average":
        return _averaged(rules, matrix, text)
    place = int(rules.apply_encoded(matrix)[0])
    if place == rules.n_rules - 1:
        return f"{text}, by rule {place + 1}, as no other rule holds."
    reasons = [
        f"{condition.text(rules.feature_names, rules.categories)} "
        f"({_found(rules, condition.feature, matrix)})"
        for condition in rules.rules[place].conditions
    ]
    return f"{text}, by rule {place + 1}: {' and '.join(reasons)}."


def _averaged(rules, matrix, text):
    held = rules.covers_encoded(matrix)[0]
    parts = [
        f"rule {k + 1} ({rules.rows()[k]['then']}, weight {render.number(rule.weight)})"
        for k, rule in enumerate(rules)
        if held[k]
    ]
    return f"{text}, the mean by weight of {', '.join(parts)}."


def _found(rules, feature, matrix):
    value = float(matrix[0, feature])
    if math.isnan(value):
        return "it is missing"
    known = rules.categories[feature]
    if known is None:
        return f"it is {render.number(value)}"
    position = int(value)
    return f"it is {known[position]}" if position < len(known) else "it is another one"
