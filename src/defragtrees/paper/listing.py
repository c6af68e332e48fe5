"""The boxes of a mixture's components as rules: in a list, or each by itself."""

import numpy as np

from defragtrees.estimators.problem import answering_rule
from defragtrees.paper.boxes import needed_sides


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
    """
    codes = problem.binned.codes
    held = [_held(sides, codes) for sides in boxes]
    left = np.ones(len(codes), dtype=bool)
    chosen = []
    waiting = list(range(len(boxes)))
    while waiting and left.any():
        sums = [problem.target_sums(held[k] & left) for k in waiting]
        errors = [own.smoothed_error(0, problem.spread) for own in sums]
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
    """Every component's box with the component's own answer, in no order."""
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
