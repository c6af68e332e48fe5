"""Boxes become an ordered RuleSet: which rule is asked first, and what each answers."""

import math

import numpy as np

from defragtrees.mixture.boxes import needed_sides
from defragtrees.rules import Condition, Rule, RuleSet

__all__ = ["answering_rule", "list_rules"]


def list_rules(problem, boxes, max_rules):
    """An ordered RuleSet from boxes, each a list of sides.

    The next rule is always the one with the smallest error on the rows that are left.
    Sides that no row needs go. If the last rule would take every row that reaches it,
    or the list would be longer than `max_rules`, it becomes the "otherwise".

    Parameters
    ----------
    problem : Problem
    boxes : list of list of Side
    max_rules : int
        The last "otherwise" counts as one.

    Returns
    -------
    RuleSet
    """
    codes = problem.binned.codes
    held = [_held(sides, codes) for sides in boxes]
    left = np.ones(len(codes), dtype=bool)
    chosen = []
    waiting = list(range(len(boxes)))
    while waiting and left.any():
        errors = [_smoothed_error(problem, held[k] & left) for k in waiting]
        k = waiting.pop(int(np.argmin(errors)))
        taken = held[k] & left
        if not taken.any():
            continue
        sides = needed_sides(boxes[k], codes[left])
        chosen.append((_conditions(problem, sides, taken), taken))
        left &= ~taken
        if not sides:
            break
    n_kept = min(len(chosen), max_rules - 1)
    if n_kept and not left.any():
        n_kept = min(n_kept, len(chosen) - 1)
    rest = np.logical_or.reduce([left, *(taken for _, taken in chosen[n_kept:])])
    rules = [answering_rule(problem, c, taken) for c, taken in chosen[:n_kept]]
    return RuleSet(
        rules=tuple(rules),
        default=answering_rule(problem, (), rest),
        feature_names=problem.feature_names,
        task=problem.task,
        classes=problem.classes,
        categories=problem.categories,
    )


def _held(sides, codes):
    held = np.ones(len(codes), dtype=bool)
    for side in sides:
        held &= side.accepts[codes[:, side.feature]]
    return held


def _smoothed_error(problem, rows):
    """Error of the best constant answer in these rows, drawn to that of all rows."""
    weight = problem.sample_weight[rows]
    total = weight.sum()
    if problem.n_classes:
        counts = np.bincount(problem.target[rows], weight, problem.n_classes)
        return (total - counts.max() + 1) / (total + 2)
    if total <= 0:
        return math.inf
    mean = np.average(problem.target[rows], weights=weight)
    loss = weight @ (problem.target[rows] - mean) ** 2
    return (loss + problem.target.var()) / (total + 1)


def _conditions(problem, sides, taken):
    """One condition for each feature that the sides bound, in the order of features."""
    found = []
    for feature in sorted({side.feature for side in sides}):
        own = [side for side in sides if side.feature == feature]
        found.append(_condition(problem, feature, own, taken))
    return tuple(found)


def _condition(problem, feature, sides, taken):
    grid = problem.grid
    accepts = np.logical_and.reduce([side.accepts for side in sides])
    last = int(grid.n_bins[feature]) - 1
    # Missing values are accepted only where the rule answers rows that have them.
    column = problem.binned.codes[taken, feature]
    missing = bool(accepts[last] and (column == last).any())
    inside = np.flatnonzero(accepts[:last])
    if grid.is_categorical(feature):
        return Condition(feature, categories=tuple(inside.tolist()), missing=missing)
    if not inside.size:
        return Condition(feature, lower=math.inf, missing=missing)
    thresholds = grid.splits[feature]
    first, final = inside[0], inside[-1]
    return Condition(
        feature,
        lower=float(thresholds[first - 1]) if first > 0 else -math.inf,
        upper=float(thresholds[final]) if final < len(thresholds) else math.inf,
        missing=missing,
    )


def answering_rule(problem, conditions, taken, counts=None):
    """The rule that answers these training rows.

    Parameters
    ----------
    problem : Problem
    conditions : tuple of Condition
    taken : bool array of shape (n_samples,)
        The training rows that it answers.
    counts : array of shape (n_classes,), optional
        Class weights that its answer rests on; those of the rows by default.
    """
    weight = problem.sample_weight[taken]
    target = problem.target[taken]
    total = problem.sample_weight.sum()
    if not weight.sum() > 0:
        # No row is left for it: answer as for all rows.
        weight, target = problem.sample_weight, problem.target
    shared = {"coverage": _coverage(problem, conditions)}
    shared["answered"] = float(problem.sample_weight[taken].sum() / total)
    if problem.n_classes:
        if counts is None or not counts.sum() > 0:
            counts = np.bincount(target, weight, problem.n_classes)
        shares = counts / counts.sum()
        best = int(shares.argmax())
        return Rule(
            conditions,
            problem.classes[best],
            distribution=tuple(shares.tolist()),
            error=float(np.average(target != best, weights=weight)),
            **shared,
        )
    mean = float(np.average(target, weights=weight))
    variance = float(np.average((target - mean) ** 2, weights=weight))
    answer = round(mean, _digits(problem))
    return Rule(
        conditions, answer, spread=math.sqrt(variance), error=variance, **shared
    )


def _digits(problem):
    """Digits after the point to a thousandth of the target's spread, or better.

    So a number reads well, and what is printed is exactly what is predicted.
    """
    spread = float(problem.target.std())
    return 3 - math.floor(math.log10(spread)) if spread > 0 else 15


def _coverage(problem, conditions):
    held = Rule(conditions, None).covers(problem.X)
    return float(problem.sample_weight[held].sum() / problem.sample_weight.sum())
