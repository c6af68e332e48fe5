"""StandaloneBoxes: boxes that can be read one at a time, with their cost.

The mean and class of a rule are those of all rows that its box accepts. If several
accept a row, the cost is that of the one farthest from it, with a wrong class if one of
them has it, and more if their classes differ: so overlapping rules come to agree, or to
be disjoint.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from defragtrees.search.boxes import RULE_PRICE, Boxes, settled
from defragtrees.search.moves import find_seeds, grow_seeds

CONFLICT = 2.0  # additional wrong rows that a row with conflicting rules counts as


class Answers(NamedTuple):
    """Predictions of each rule, including the default rule, and their errors."""

    weight: np.ndarray  # of the rows of each rule
    mean: np.ndarray  # (n_rules, n_outputs)
    label: np.ndarray  # class numbers; all 0 for numbers
    apart: np.ndarray  # (n_rules, n_samples): squared distance of each row to each mean
    is_wrong: np.ndarray  # (n_rules, n_samples): whether each row has another class

    def taken(self, places):
        """The predictions of some rules."""
        return Answers(*(values[places] for values in self))

    def followed_by(self, *others):
        """These predictions and those of further rules."""
        return Answers(*map(np.concatenate, zip(self, *others, strict=True)))


@dataclass(frozen=True, eq=False)
class Charges:
    """The cost terms of each row; arrays of shape (n_samples,)."""

    apart: np.ndarray  # squared distance to the farthest of its rules
    is_wrong: np.ndarray  # whether one of them has another class
    differ: np.ndarray  # whether they have different ones
    label: np.ndarray  # the class of one of them
    is_held: np.ndarray  # whether a rule other than the default rule matches

    @property
    def wrong(self):
        """The number of wrong rows that each row counts as."""
        return self.is_wrong + CONFLICT * self.differ


class StandaloneBoxes(Boxes):
    """Boxes without an order; each predicts from all rows that it accepts.

    `answers` are without the default rule.
    """

    def __init__(self, table, loss, boxes, held=None, prices=None, answers=None):
        super().__init__(table, loss, boxes, held, prices)
        if answers is None:
            answers = _answers(loss, self.held)
        self.is_free = ~self.held.any(axis=0)
        self.answers = answers.followed_by(_answers(loss, self.is_free[None]))
        self.weights = self.answers.weight
        self.charges = self._charged()
        square = float(loss.weight @ self.charges.apart)
        wrong = min(float(loss.weight @ self.charges.wrong), loss.total_weight)
        price = sum(self.prices) + RULE_PRICE * len(self.prices)
        self.cost = settled(price + loss.nats(square, wrong, len(self.boxes) + 1))

    def _charged(self, without=None):
        """The cost terms of each row, maybe without one rule."""
        held, answers = self.held, self.answers
        if without is not None:
            held = np.delete(held, without, axis=0)
            places = np.delete(np.arange(len(self.boxes) + 1), without)
            answers = answers.taken(places)
        is_free = ~held.any(axis=0)
        apart = np.where(is_free, answers.apart[-1], 0.0)
        is_wrong = is_free & answers.is_wrong[-1]
        label = np.where(is_free, answers.label[-1], -1)
        differ = np.zeros(len(label), dtype=bool)
        for k, accepted in enumerate(held):
            np.maximum(apart, answers.apart[k], out=apart, where=accepted)
            is_wrong |= accepted & answers.is_wrong[k]
            differ |= accepted & (label >= 0) & (label != answers.label[k])
            label[accepted] = answers.label[k]
        return Charges(apart, is_wrong, differ, label, ~is_free)

    def row_nats(self, apart, wrong):
        """Nats for rows at these squared distances, with these counts of errors."""
        loss, charges = self.loss, self.charges
        nats = np.zeros(len(apart))
        if loss.n_outputs:
            square = float(loss.weight @ charges.apart)
            nats += loss.nats_per_square(square) * apart
        if loss.n_classes:
            errors = float(loss.weight @ charges.wrong)
            nats += loss.nats_per_error(errors) * wrong
        return nats * loss.weight

    def row_gains(self, k):
        """Gain for each row if rule k accepts it, with the present predictions."""
        return self.gains(self._charged(without=k), self.answers, k)

    def gains(self, charges, answers, k):
        """Gain for each row if a rule accepts it."""
        others = charges.is_held
        far, is_wrong = answers.apart[k], answers.is_wrong[k]
        far = np.where(others, np.maximum(charges.apart, far), far)
        is_wrong = np.where(others, charges.is_wrong | is_wrong, is_wrong)
        differ = others & (charges.differ | (charges.label != answers.label[k]))
        before = self.row_nats(charges.apart, charges.wrong)
        return before - self.row_nats(far, is_wrong + CONFLICT * differ)

    def _kept(self, held, k, n_old, n_new):
        new = _answers(self.loss, held[k : k + n_new])
        after = self.answers.taken(slice(k + n_old, -1))
        return {"answers": self.answers.taken(slice(k)).followed_by(new, after)}


def _answers(loss, held):
    """Predictions of rules that match these rows, (n_rules, n_samples)."""
    n_rules, n_rows = held.shape
    weighted = held * loss.weight
    weight = np.array([row.sum() for row in weighted])
    mean, apart = np.zeros((n_rules, 1)), np.zeros((n_rules, n_rows))
    if loss.n_outputs:
        # Row by row, so that rounding does not depend on matrix multiplication.
        sums = [[(row * one).sum() for one in loss.target.T] for row in weighted]
        sums = np.array(sums).reshape(n_rules, loss.n_outputs)
        mean = sums / np.maximum(weight, 1e-300)[:, None]
        for k in range(n_rules):
            apart[k] = ((loss.target - mean[k]) ** 2).sum(axis=1)
    label, is_wrong = np.zeros(n_rules, np.intp), np.zeros((n_rules, n_rows), bool)
    if loss.n_classes:
        for k in range(n_rules):
            label[k] = np.bincount(loss.classes, weighted[k], loss.n_classes).argmax()
            is_wrong[k] = loss.classes != label[k]
    return Answers(weight, mean, label, apart, is_wrong)


def add_rule(rules, limits):
    """Find the cheapest set with one more rule; None if there is none."""
    loss, free = rules.loss, rules.is_free
    if not free.any():
        return None
    scale = loss.nats_per_square(float(loss.weight @ rules.charges.apart))
    quadratic = np.where(free, loss.weight * scale, 0.0)
    rest = rules.answers.mean[-1]
    constant = ((rest - 2 * loss.target) * rest).sum(axis=1) * quadratic
    terms = constant, loss.target * quadratic[:, None], quadratic
    seeds = find_seeds(rules.table, len(rules.boxes), terms)

    def gain(seed, inside):
        return rules.gains(rules.charges, _answers(loss, inside[None]), 0)

    return grow_seeds(rules, seeds, gain, limits)
