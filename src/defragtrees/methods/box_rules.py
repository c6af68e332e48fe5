"""From boxes over the codes of a table to conditions on numbers, and to rules."""

import numpy as np

from defragtrees.methods.listing import answering_rule

__all__ = ["accepted_bins", "box_conditions", "rules_of_boxes"]


def rules_of_boxes(problem, rules, coverages=None):
    """The boxes of a list as rules, with what they say of the training rows.

    Parameters
    ----------
    problem : Problem
    rules : RuleBoxes or CountedBoxes
    coverages : dict, optional
        From conditions to the rows in which they hold; lists that share some may share
        it too.
    """
    coverages = {} if coverages is None else coverages
    conditions = [box_conditions(problem, rules.table, box) for box in rules.boxes]
    left = np.ones(len(problem.target), dtype=bool)
    answering = []
    for conjunction in [*conditions, ()]:
        covered = _covered(problem, conjunction, coverages)
        held = left & covered
        # A rule for new rows alone would have nothing to tell; where there are more
        # rows than these, some may be its own.
        if held.any() or not conjunction or problem.is_sample:
            answering.append(answering_rule(problem, conjunction, held, held=covered))
        left &= ~held
    return problem.rule_set(answering)


def _covered(problem, conditions, coverages):
    if conditions not in coverages:
        coverages[conditions] = problem.covered(conditions)
    return coverages[conditions]


def box_conditions(problem, table, box):
    """The conditions that a box over the codes of a table stands for."""
    columns = ((table.columns[j], mask) for j, mask in box.items())
    return problem.grid.conditions(
        (column.feature, accepted_bins(problem.grid, column, mask))
        for column, mask in columns
    )


def accepted_bins(grid, column, mask):
    """The bins of a feature that a box over the codes of its column accepts."""
    accepts = np.zeros(grid.n_bins[column.feature], dtype=bool)
    accepts[-1] = mask[-1] and column.has_missing
    inside = np.flatnonzero(mask[:-1])
    if column.is_set:
        # Categories that no training row has go with the larger part.
        accepts[:-1] = len(inside) > column.n_codes / 2
        accepts[column.bins] = mask[:-1]
    elif inside.size and grid.is_categorical(column.feature):
        # An order has ends, beyond which lie the categories that nobody has seen.
        first = column.bins[inside[0]] if inside[0] > 0 else 0
        is_open = inside[-1] == column.n_codes - 1
        accepts[
            first : len(accepts) - 2 if is_open else column.bins[inside[-1]] + 1
        ] = 1
    elif inside.size:
        is_open = inside[-1] == column.n_codes - 1
        first = _between(column.bins, inside[0] - 1) + 1 if inside[0] > 0 else 0
        end = -1 if is_open else _between(column.bins, inside[-1]) + 1
        accepts[first:end] = True
    return accepts


def _between(bins, code):
    """The middle one of the thresholds between a code and the next."""
    return (bins[code] + bins[code + 1] - 1) // 2
