"""From components to rules: the zero-one pattern of eta is a box (paper, section 4.2).

A box is a list of sides; a side is one bound (a lower or upper threshold, a set of
categories, missing or not) with the bins that it accepts.
"""

from dataclasses import dataclass

import numpy as np

from defragtrees.estimators.problem import predicting_rule

TOLERANCE = 1e-6  # share of a component's weight that a side may exclude: rounding


def component_rules(problem, posterior, boxes):
    """The box of every component with its prediction, unordered."""
    codes = problem.codes
    bases = posterior.predictions_by_component()
    rules = []
    for sides, basis in zip(boxes, bases, strict=True):
        matched = _matched(sides, codes)
        conditions = _conditions(problem, _needed_sides(sides, codes), matched)
        rules.append(predicting_rule(problem, conditions, matched, basis))
    return tuple(rules)


def list_components(problem, boxes, max_rules):
    """The boxes of the components as an ordered RuleModel.

    The next rule is always the one with the smallest error on the remaining rows. Sides
    without effect are dropped. If the last rule would match all remaining rows, or the
    list would exceed `max_rules`, it becomes the default rule.
    """
    codes = problem.codes
    matched = [_matched(sides, codes) for sides in boxes]
    left = np.ones(len(codes), dtype=bool)
    chosen = []
    waiting = list(range(len(boxes)))
    while waiting and left.any():
        sums = [problem.target_sums(matched[k] & left) for k in waiting]
        errors = [group.smoothed_error(0, problem.spread) for group in sums]
        k = waiting.pop(int(np.argmin(errors)))
        taken = matched[k] & left
        if not taken.any():
            continue
        sides = _needed_sides(boxes[k], codes[left])
        chosen.append((_conditions(problem, sides, taken), taken))
        left &= ~taken
        if not sides:
            break
    n_kept = min(len(chosen), max_rules - 1)
    if n_kept and not left.any():
        n_kept = min(n_kept, len(chosen) - 1)
    rest = np.logical_or.reduce([left, *(taken for _, taken in chosen[n_kept:])])
    parts = [*chosen[:n_kept], ((), rest)]
    return problem.rule_set([predicting_rule(problem, *part) for part in parts])


def _matched(sides, codes):
    accepted = (side.accepts[codes[:, side.feature]] for side in sides)
    return np.logical_and.reduce([np.ones(len(codes), dtype=bool), *accepted])


def _conditions(problem, sides, taken):
    """The conditions of a rule that predicts for these rows."""
    # Missing values are accepted only if the rule predicts rows that have them.
    codes, grid = problem.codes, problem.grid
    has_missing = (codes[taken] == grid.n_bins - 1).any(axis=0)
    return grid.conditions(
        ((side.feature, side.accepts) for side in sides), has_missing
    )


@dataclass(frozen=True, eq=False)
class Side:
    """One bound of a box: a mask of accepted bins, with the missing one last."""

    feature: int
    accepts: np.ndarray


def component_sides(posterior, k, features=None):
    """Sides of component k: statements that all of its weight satisfies.

    They are on the `features` that rules may use; None is all.
    """
    sides = []
    for block in posterior.layout.blocks:
        if features is not None and block.feature not in features:
            continue
        bins = posterior.statistics.bins[block.rows, k : k + 1]
        n_bins = int(posterior.grid.n_bins[block.feature])
        find = _interval if block.sets is None else _category_set
        accepted = find(block, bins, n_bins)
        if block.has_missing:
            accepted += _missing(bins[:, 0], n_bins)
        sides += [Side(block.feature, mask) for mask in accepted]
    return sides


def _interval(block, bins, n_bins):
    above, below = (mass[:, 0] for mass in block.masses(bins))
    total = above[0] + below[0] if len(above) else 0.0
    if total <= 0:
        return []
    lower = np.flatnonzero(below <= TOLERANCE * total)[-1:]
    upper = np.flatnonzero(above <= TOLERANCE * total)[:1]
    # The middle one of the thresholds between two neighbouring codes.
    middle = (block.codes[:-1] + block.codes[1:] - 1) // 2
    number = np.arange(n_bins)
    masks = [number > middle[i] for i in lower] + [number <= middle[i] for i in upper]
    for mask in masks:
        mask[-1] = True
    return masks


def _category_set(block, bins, n_bins):
    above, below = (mass[:, 0] for mass in block.masses(bins))
    accepted = np.ones(len(block.codes), dtype=bool)
    for column in range(len(above)):
        total = above[column] + below[column]
        if above[column] <= TOLERANCE * total:
            accepted &= ~block.sets[:, column]
        elif below[column] <= TOLERANCE * total:
            accepted &= block.sets[:, column]
    if accepted.all() or not accepted.any():
        return []
    mask = np.zeros(n_bins, dtype=bool)
    mask[block.codes[accepted]] = True
    mask[-1] = True
    return [mask]


def _missing(bins, n_bins):
    missing, total = bins[-1], bins.sum()
    is_missing = np.arange(n_bins) == n_bins - 1
    if missing <= TOLERANCE * total:
        return [~is_missing]
    return [is_missing] if total - missing <= TOLERANCE * total else []


def _needed_sides(sides, codes):
    """The sides that change which of these rows the box matches, strongest last.

    Of two sides that exclude the same rows, one is dropped; those that exclude fewest
    rows are dropped first.
    """
    if not sides or len(codes) == 0:
        return []
    rejects = np.array([~side.accepts[codes[:, side.feature]] for side in sides])
    n_rejecting = rejects.sum(axis=0, dtype=np.int32)
    kept = []
    for j in np.argsort(np.count_nonzero(rejects, axis=1), kind="stable"):
        if (n_rejecting[rejects[j]] == 1).any():
            kept.append(sides[j])
        else:
            n_rejecting -= rejects[j]
    return kept
