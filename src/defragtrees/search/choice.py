"""Choice of the number of rules by the loss on counted rows."""

import math
from dataclasses import dataclass

import numpy as np

from defragtrees._utils.values import round_significant
from defragtrees.data.sampling import code_sums, ranks
from defragtrees.outcomes.decision import cost_matrix

HALVES = 2
FREQUENT = 8  # equal rows that are split between searching and counting


@dataclass(frozen=True, eq=False)
class CountingRows:
    """Rows on which rule models were counted, to compare these models."""

    problem: object  # has the rows
    outputs: np.ndarray  # the target: class indicators, probabilities or numbers
    worth: float  # of a row, as evidence
    decision: object = None  # if only the class matters: how it is decided

    def losses(self, rules):
        """The leave-one-out loss of each row.

        It is the squared error of the estimates, or the cost of the class.
        """
        problem, held = self.problem, self._held(rules)
        predicted = problem.outcome.reported(rules, held).reshape(self.outputs.shape)
        apart = (self.outputs - predicted) * self._growth(rules, held)[:, None]
        if self.decision is None:
            return (apart**2).sum(axis=1)
        chosen = self.decision.choose(self.outputs - apart)
        return (self.outputs * self.decision.costs.T[chosen]).sum(axis=1)

    def contradictions(self, rules):
        """How far each rule is from predicting its own rows, as a share of them.

        It is the cost of the predictions less that of the best class for all its rows:
        other rules match some of them, or the estimate is shrunk to another class.
        """
        weight, held = self.problem.sample_weight, self._held(rules)
        costs = cost_matrix(rules)
        by_class = self.outputs @ (costs / costs.max())
        paid = by_class[np.arange(len(held)), rules.predict_codes(held)]
        own = weight[:, None] * held[:, :-1]
        best = (own.T @ by_class).min(axis=1)
        apart = np.abs(own.T @ paid - best) / np.maximum(own.sum(axis=0), 1e-300)
        return np.round(apart, 9)

    def mean_loss(self, rules):
        """The mean of `losses`, rounded so that the order of rows does not matter."""
        weight = self.problem.sample_weight
        return round_significant(self.losses(rules) @ weight / weight.sum(), 9)

    def _held(self, rules):
        """Which rows each rule matches, (n_samples, n_rules)."""
        held = [self.problem.covered(rule.conditions) for rule in rules.rules]
        return np.column_stack([*held, np.ones(len(self.outputs), dtype=bool)])

    def _growth(self, rules, held):
        """Factor by which the residual of each row grows if the row is left out."""
        weight = self.problem.sample_weight
        if rules.is_exclusive:
            group = held.argmax(axis=1)
            n_rows = np.bincount(group, weight, rules.n_rules)[group]
        else:
            # Points, or means of rules, use one degree of freedom each.
            n_rows = np.full(len(held), weight.sum() / rules.n_rules)
        n_rows = np.maximum(self.worth * n_rows, 2.0)
        return n_rows / (n_rows - self.worth)


def best_model(models, rows):
    """The rule model with the smallest loss on the rows; the shortest of equals."""
    return min(
        models,
        key=lambda own: (rows.mean_loss(own._form), own.n_conditions, own.n_rules),
    )


def shortest_model(models, rows):
    """The rule model with the fewest conditions that is as good as the best one.

    That is, its loss is at most one standard error of the *difference* on the same
    rows above that of the best. One without conditions must be the best itself.
    """
    weight = rows.problem.sample_weight
    total = weight.sum()
    best = best_model(models, rows)
    # A model without rules is useless, unless no rules are better.
    least = min(best.n_conditions, 1)
    losses, good = rows.losses(best._form), [best]
    for own in models:
        apart = rows.losses(own._form) - losses
        mean = weight @ apart / total
        variance = max(weight @ apart**2 / total - mean**2, 0.0)
        if mean <= math.sqrt(variance / total) and own.n_conditions >= least:
            good.append(own)
    return min(good, key=lambda own: (own.n_conditions, own.n_rules))


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
