"""The loss of rules: the description length of the target given rules, in nats.

Numbers, and variance-stabilised probabilities, have a Gaussian around the mean of each
rule, with one spread for all rules. If classes count, rules also pay for the rows whose
class they predict wrongly.
"""

from functools import cached_property

import numpy as np

from defragtrees.search import kernels

PRIOR = 0.5  # Jeffreys' prior of a share of errors
LEAST_ERRORS = 0.02  # share of errors below which there is no further gain
LEAST_SPREAD = 1e-4  # share of the variance of numbers that may remain unexplained


class RuleLoss:
    """Code length of numbers, one or several per row, of classes, or of both.

    `target`, (n_samples, n_outputs), has numbers, with no columns if only the classes
    count; `classes` are class numbers, None if only the numbers count. `least_spread`
    is the share of the target's variance that rules need not explain.
    """

    def __init__(
        self, target, weight, least_spread=LEAST_SPREAD, classes=None, n_classes=0
    ):
        self.weight = weight
        self.total_weight = float(weight.sum())
        self.least_spread = least_spread
        self.target = standardised(target, weight)
        self.n_outputs = self.target.shape[1]
        self.classes = np.empty(0, dtype=np.intp) if classes is None else classes
        self.n_classes = n_classes
        # Columns of `counts`: the weight and the sums of outputs, then of classes.
        self.n_sums = 1 + self.n_outputs if self.n_outputs else 0

    @cached_property
    def _square(self):
        """Weighted sum of squares of the target."""
        return float(self.weight @ (self.target**2).sum(axis=1))

    @cached_property
    def _weighted(self):
        """The weight of rows and their weighted outputs, as lines."""
        if not self.n_outputs:
            return np.empty((0, len(self.weight)))
        return np.vstack([self.weight, (self.weight[:, None] * self.target).T])

    def take(self, rows):
        """The same loss for some of the rows."""
        classes = self.classes[rows] if self.n_classes else None
        target, weight = self.target[rows], self.weight[rows]
        return RuleLoss(target, weight, self.least_spread, classes, self.n_classes)

    def without_numbers(self):
        """The same loss, of the classes only."""
        nothing = np.empty((len(self.weight), 0))
        return RuleLoss(nothing, self.weight, 0.0, self.classes, self.n_classes)

    def counts(self, answering, n_rules):
        """Weight, weighted sums of the target and weight of each class, by rule."""
        rows = self._weighted, self.weight, self.classes, self.n_classes
        return kernels.answered_sums(answering, n_rules, *rows)

    def weights(self, counts):
        """Weight of the rows that each rule predicts."""
        return counts[:, 0] if self.n_outputs else counts.sum(axis=1)

    def _means(self, counts):
        return counts[:, 1 : self.n_sums] / np.maximum(counts[:, :1], 1e-300)

    def answers(self, counts):
        """The prediction of each rule, or without numbers its share of class 1."""
        if self.n_outputs:
            return self._means(counts)[:, 0]
        return counts[:, 1] / np.maximum(counts.sum(axis=1), 1e-300)

    def _residual(self, counts):
        """Weighted sum of squared distances to the means of rules."""
        sums = counts[:, 1 : self.n_sums]
        explained = (sums**2).sum(axis=1) / np.maximum(counts[:, 0], 1e-300)
        return max(self._square - explained.sum(), 0.0)

    def _wrong(self, counts):
        """Weight of the rows whose class is not the most frequent one of their rule."""
        right = float(counts[:, self.n_sums :].max(axis=1).sum())
        return max(self.total_weight - right, 0.0)

    def cost(self, counts):
        """Nats for the target of all rows, given the counts."""
        square = self._residual(counts) if self.n_outputs else 0.0
        wrong = self._wrong(counts) if self.n_classes else 0.0
        return self.nats(square, wrong, len(counts))

    def nats(self, square, wrong, n_rules):
        """Nats for the target of all rows.

        `square` is the weighted sum of squared distances, `wrong` the weight of rows of
        another class.
        """
        nats, number = 0.0, 0.5 * np.log(max(self.total_weight, 2.0))
        if self.n_outputs:
            # One parameter per rule, as its outputs move together.
            nats += 0.5 * self.total_weight * np.log(self._spread(square))
            nats += number * n_rules
        if self.n_classes:
            share = self._share(wrong)
            among = np.log(max(self.n_classes - 1, 1))
            right = self.total_weight - wrong
            code = right * -np.log1p(-share) + wrong * (among - np.log(share))
            # A rule pays for its class and for its accuracy.
            nats += code + n_rules * (np.log(self.n_classes) + number)
        return float(nats)

    def _spread(self, square):
        return square / self.total_weight + self.least_spread

    def _share(self, wrong):
        share = (wrong + PRIOR) / (self.total_weight + 1)
        return min(max(share, LEAST_ERRORS), 0.5)

    def nats_per_square(self, square):
        """Nats per unit of squares, given their weighted sum."""
        return 1 / (2 * self._spread(square))

    def nats_per_error(self, wrong):
        """Nats per wrong row, given the weight of wrong rows."""
        share = self._share(wrong)
        return float(np.log((1 - share) / share * max(self.n_classes - 1, 1)))

    def gain_terms(self, counts):
        """Arguments of `kernels.row_gains`, besides the rules of rows."""
        means, spread = np.empty((len(counts), 0)), 1.0
        answers, mistake = np.empty(0, dtype=np.intp), 0.0
        if self.n_outputs:
            means = np.ascontiguousarray(self._means(counts))
            spread = self._spread(self._residual(counts))
        if self.n_classes:
            answers = counts[:, self.n_sums :].argmax(axis=1)
            mistake = self.nats_per_error(self._wrong(counts))
        rows = self.weight, self.target
        return *rows, means, spread, self.classes, answers, mistake

    def new_rule_terms(self, counts, answering):
        """Gains of rows in the numbers if a new rule takes them from `answering`.

        Three terms, constant, linear and quadratic: the gain by a rule with mean v is
        `constant + 2 v . linear - (v . v) quadratic`.
        """
        quadratic = self.weight / (2 * self._spread(self._residual(counts)))
        passed = self._means(counts)[answering]
        constant = ((passed - 2 * self.target) * passed).sum(axis=1) * quadratic
        return constant, self.target * quadratic[:, None], quadratic


def standardised(target, weight):
    """Numbers as distances from their mean, in units of their spread.

    Rounded, so that results do not depend on units.
    """
    center = np.average(target, axis=0, weights=weight)
    square = np.average(((target - center) ** 2).sum(axis=1), weights=weight)
    scaled = np.round((target - center) / (np.sqrt(square) or 1.0), 9)
    return np.ascontiguousarray(scaled)
