"""Choice of the number of rules by the loss on counted rows."""

import math

import numpy as np

from defragtrees.data.sampling import code_sums, ranks
from defragtrees.outcomes.decision import cost_matrix
from defragtrees.rules.profile import WORTH

HALVES = 2
FREQUENT = 8  # equal rows that are split between searching and counting


def leave_one_out_losses(rows, rules, decision=None):
    """The leave-one-out loss of each row of a Problem by the rules of a Form.

    It is the squared error of the estimates or, given how a class is decided, the cost
    of the class.
    """
    held = rows.matches([rule.conditions for rule in rules.rules])
    observed, weight = rows.observed, rows.mean_weight
    predicted = rows.outcome.reported(rules, held).reshape(observed.shape)
    if rules.is_exclusive:
        group = held.argmax(axis=1)
        n_rows = np.bincount(group, weight, rules.n_rules)[group]
    else:
        # Points, or means of rules, use one degree of freedom each.
        n_rows = np.full(len(held), weight.sum() / rules.n_rules)
    # The residual of a row grows if the row is left out.
    worth = WORTH[rows.store.source]
    n_rows = np.maximum(worth * n_rows, 2.0)
    apart = (observed - predicted) * (n_rows / (n_rows - worth))[:, None]
    if decision is None:
        return (apart**2).sum(axis=1)
    chosen = decision.choose(observed - apart)
    return (observed * decision.costs.T[chosen]).sum(axis=1)


def contradictions(rows, rules):
    """How far each rule is from predicting its own rows, as a share of them.

    It is the cost of the predictions less that of the best class for all its rows:
    other rules match some of them, or the estimate is shrunk to another class.
    """
    held = rows.matches([rule.conditions for rule in rules.rules])
    costs = cost_matrix(rules)
    by_class = rows.observed @ (costs / costs.max())
    paid = by_class[np.arange(len(held)), rules.predict_codes(held)]
    inside = rows.mean_weight[:, None] * held[:, :-1]
    best = (inside.T @ by_class).min(axis=1)
    apart = np.abs(inside.T @ paid - best) / np.maximum(inside.sum(axis=0), 1e-300)
    return np.round(apart, 9)


def best_model(candidates):
    """The candidate with the smallest loss; the shortest of equals."""
    return min(candidates, key=lambda one: (one.loss, one.n_conditions, one.n_rules))


def shortest_model(candidates, weight):
    """The candidate with the fewest conditions that is as good as the best one.

    That is, its loss is at most one standard error of the *difference* on the same
    rows, of this weight, above that of the best. One without conditions must be the
    best itself.
    """
    total = weight.sum()
    best = best_model(candidates)
    # A model without rules is useless, unless no rules are better.
    least = min(best.n_conditions, 1)
    good = [best]
    for one in candidates:
        apart = one.losses - best.losses
        mean = weight @ apart / total
        variance = max(weight @ apart**2 / total - mean**2, 0.0)
        if mean <= math.sqrt(variance / total) and one.n_conditions >= least:
            good.append(one)
    return min(good, key=lambda one: (one.n_conditions, one.n_rules))


def halves(codes, order, target, weight):
    """Split rows for searching and for counting, alternating in order of the target.

    Columns are used in the order of `order`; the order of rows does not matter. Equal
    rows stay together, so that a row of weight two counts as two rows; frequent rows
    are in both halves, as they would be in new data.
    """
    fingerprint = code_sums(codes, order)
    target = ranks(target)
    order = np.lexsort((fingerprint, target))
    alike = fingerprint[order[1:]] == fingerprint[order[:-1]]
    alike &= target[order[1:]] == target[order[:-1]]
    number = np.empty(len(target), dtype=np.intp)
    number[order] = np.concatenate([[0], np.cumsum(~alike)])
    counts = number % HALVES == HALVES - 1
    is_frequent = np.bincount(number, weight)[number] >= FREQUENT
    return ~counts | is_frequent, counts | is_frequent
