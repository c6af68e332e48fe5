"""What a RuleSet refuses when it is made."""

import math

import numpy as np

__all__ = ["check_conditions", "check_decision", "check_points", "is_finite"]


def check_conditions(rule, names, categories):
    """Refuse a rule that asks what its features do not have."""
    features = [condition.feature for condition in rule.conditions]
    if len(set(features)) < len(features):
        raise ValueError("A rule must have one condition for each feature.")
    for condition in rule.conditions:
        feature, places = condition.feature, condition.categories
        if not 0 <= feature < len(names):
            raise ValueError(f"A rule asks about feature {feature}.")
        labels = categories[feature]
        if places is None:
            continue
        if labels is None or not all(0 <= c <= len(labels) for c in places):
            raise ValueError(
                f"A rule asks {names[feature]!r} for categories that it does not "
                f"have: {places!r}."
            )


def check_points(rules):
    """Refuse points where none add up, or other than one for each column of them."""
    is_sum, n_points = rules.decision == "points", rules.outcome.n_points
    for rule in rules:
        points = rule.points
        if (points is not None) != is_sum:
            raise ValueError(
                "Each rule must have points where they add up, and none elsewhere; got "
                f"points={points!r} with decision={rules.decision!r}."
            )
        if is_sum and not (len(points) == n_points and all(map(is_finite, points))):
            raise ValueError(
                f"A rule must have {n_points} points, each a finite number; got "
                f"{points!r}."
            )
    if not (is_finite(rules.unit) and rules.unit > 0 and is_finite(rules.origin)):
        raise ValueError(
            "unit must be a number above 0, and origin a number; got "
            f"{rules.unit!r} and {rules.origin!r}."
        )
    if rules.decision == "standalone" and rules.default.weight != 0:
        raise ValueError(
            "The default of standalone rules answers where no rule holds, so its "
            f"weight must be 0; got {rules.default.weight!r}."
        )


def check_decision(rules):
    """Refuse a threshold or costs that are not what the rules answer by."""
    if rules.threshold is None and rules.costs is None:
        return
    if not rules.outcome.n_classes or rules.decision == "average":
        raise ValueError(
            "threshold and costs need rules for classes of which one answers; got "
            f"rules for a {rules.task} with decision={rules.decision!r}."
        )
    if not rules.has_probabilities:
        raise ValueError("threshold and costs need the distribution of each rule.")
    decision = rules.outcome.decision(rules.threshold, rules.costs)
    if rules.decision == "points":
        return
    distributions = np.array([rule.distribution for rule in rules], dtype=np.float64)
    chosen = decision.choose(distributions)
    for rule, place in zip(rules, chosen.tolist(), strict=True):
        if rule.prediction != rules.classes[place]:
            raise ValueError(
                "Each rule must answer what its distribution says by threshold or "
                f"costs; one says {rules.classes[place]!r} and answers "
                f"{rule.prediction!r}. Replace its prediction too."
            )


def is_finite(value):
    """Whether a value is a finite number."""
    try:
        return math.isfinite(value)
    except TypeError:
        return False
