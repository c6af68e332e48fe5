"""Boxes become an ordered RuleSet: which rule is asked first, and what each answers."""

import math

import numpy as np

from defragtrees.methods._tally import answer_digits
from defragtrees.mixture.boxes import needed_sides
from defragtrees.rules import Rule

__all__ = ["answering_rule", "component_rules", "list_rules"]


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
    return problem.rule_set([*rules, answering_rule(problem, (), rest)])


def component_rules(problem, posterior, boxes):
    """Every component's box with the component's own answer, in no order.

    Parameters
    ----------
    problem : Problem
    posterior : Posterior
    boxes : list of list of Side

    Returns
    -------
    tuple of Rule
    """
    codes = problem.binned.codes
    bases = posterior.answers_by_component()
    rules = []
    for sides, basis in zip(boxes, bases, strict=True):
        held = _held(sides, codes)
        conditions = _conditions(problem, needed_sides(sides, codes), held)
        rules.append(answering_rule(problem, conditions, held, basis))
    return tuple(rules)


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
    return (loss + _variance(problem)) / (total + 1)


def _conditions(problem, sides, taken):
    """The conditions of a rule that answers these rows."""
    grid, codes = problem.grid, problem.binned.codes
    # Missing values are accepted only where the rule answers rows that have them.
    has_missing = np.zeros(grid.n_features, dtype=bool)
    for feature in {side.feature for side in sides}:
        last = grid.n_bins[feature] - 1
        has_missing[feature] = (codes[taken, feature] == last).any()
    return grid.conditions(
        ((side.feature, side.accepts) for side in sides), has_missing
    )


def answering_rule(problem, conditions, taken, basis=None):
    """The rule that answers these training rows.

    Parameters
    ----------
    problem : Problem
    conditions : tuple of Condition
    taken : bool array of shape (n_samples,)
        The training rows that it answers.
    basis : array of shape (n_classes,) or float, optional
        What its answer rests on, class weights or a mean; by default those of the
        rows, or of all rows if there are none.
    """
    weight = problem.sample_weight[taken]
    target = problem.target[taken]
    shared = {
        "coverage": _coverage(problem, conditions),
        "answered": float(weight.sum() / problem.sample_weight.sum()),
    }
    if basis is None:
        basis = _basis(problem, taken if taken.any() else np.ones_like(taken))
    if problem.n_classes:
        shares = basis / basis.sum()
        best = int(shares.argmax())
        wrong = np.average(target != best, weights=weight) if taken.any() else math.nan
        return Rule(
            conditions,
            problem.classes[best],
            distribution=tuple(shares.tolist()),
            error=float(wrong),
            **shared,
        )
    digits = answer_digits(basis, math.sqrt(_variance(problem)))
    answer = round(float(basis), digits)
    variance = math.nan
    if taken.any():
        variance = float(np.average((target - answer) ** 2, weights=weight))
    spread = None if math.isnan(variance) else math.sqrt(variance)
    return Rule(conditions, answer, spread=spread, error=variance, **shared)


def _basis(problem, rows):
    """Class weights, or the mean, of some training rows."""
    weight, target = problem.sample_weight[rows], problem.target[rows]
    if problem.n_classes:
        return np.bincount(target, weight, problem.n_classes)
    return np.average(target, weights=weight)


def _variance(problem):
    weight = problem.sample_weight
    mean = np.average(problem.target, weights=weight)
    return np.average((problem.target - mean) ** 2, weights=weight)


def _coverage(problem, conditions):
    held = Rule(conditions, None).covers(problem.X)
    return float(problem.sample_weight[held].sum() / problem.sample_weight.sum())
