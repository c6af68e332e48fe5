"""Losses of rule lists: the description length of the target given rules, in nats.

Numbers, and variance-stabilised probabilities, have a Gaussian around the mean of each
rule, with one spread for the whole list. If the class counts, a list also pays for the
rows that it predicts wrongly.
"""

from functools import cached_property

import numpy as np

from defragtrees.search import kernels

NO_CLASSES = np.empty(0, dtype=np.intp)
PRIOR = 0.5  # Jeffreys' prior of a share of errors
LEAST_ERRORS = 0.02  # share of errors below which there is no further gain
LEAST_SPREAD = 1e-4  # share of the variance of numbers that may remain unexplained


class SquaredLoss:
    """Code length of numbers, one or several per row, up to a constant.

    `least_spread` is the share of the target's variance that a list need not explain.
    """

    def __init__(self, target, weight, least_spread=LEAST_SPREAD):
        self.least_spread = least_spread
        center = np.average(target, axis=0, weights=weight)
        square = np.average(((target - center) ** 2).sum(axis=1), weights=weight)
        # Rounded, so that results do not depend on units.
        standard = np.round((target - center) / (np.sqrt(square) or 1.0), 9)
        self.target = np.ascontiguousarray(standard)
        self.weight = weight
        self.n_outputs = self.target.shape[1]
        self.total_weight = float(weight.sum())
        self.square = float(weight @ (self.target**2).sum(axis=1))

    @cached_property
    def weighted(self):
        """The weight of rows and their weighted outputs, as lines."""
        return np.vstack([self.weight, (self.weight[:, None] * self.target).T])

    def take(self, rows):
        """The same loss for some of the rows."""
        return SquaredLoss(self.target[rows], self.weight[rows], self.least_spread)

    def counts(self, answering, n_rules):
        """Weight and weighted sums of the target for each rule."""
        rows = self.weighted, self.weight, NO_CLASSES, 0
        return kernels.answered_sums(answering, n_rules, *rows)

    def weights(self, counts):
        """Weight of the rows that each rule predicts."""
        return counts[:, 0]

    def _means(self, counts):
        return counts[:, 1:] / np.maximum(counts[:, :1], 1e-300)

    def answers(self, counts):
        """The prediction of each rule, for one number per row."""
        return self._means(counts)[:, 0]

    def _spread(self, counts):
        weight = np.maximum(counts[:, 0], 1e-300)
        explained = ((counts[:, 1:] ** 2).sum(axis=1) / weight).sum()
        residual = max((self.square - explained) / self.total_weight, 0.0)
        return residual + self.least_spread

    def cost(self, counts):
        """Nats for the target of all rows, given the counts."""
        return self._nats(self._spread(counts), len(counts))

    def _nats(self, spread, n_rules):
        # One parameter per rule, as its outputs move together.
        means = 0.5 * np.log(max(self.total_weight, 2.0)) * n_rules
        fit = 0.5 * self.total_weight * np.log(spread)
        return float(fit + means)

    def nats(self, square, n_rules):
        """Nats for the target of all rows, given their weighted sum of squares."""
        return self._nats(square / self.total_weight + self.least_spread, n_rules)

    def nats_each(self, square):
        """Nats per unit of squares, given their weighted sum."""
        return 1 / (2 * (square / self.total_weight + self.least_spread))

    def rule_terms(self, counts):
        """Means, spread, classes of rules (none) and nats for a wrong one."""
        means = np.ascontiguousarray(self._means(counts))
        return means, self._spread(counts), np.empty(0, dtype=np.intp), 0.0

    def gain_terms(self, counts):
        """Arguments of `kernels.row_gains`, besides the rules of rows."""
        means, spread, none, mistake = self.rule_terms(counts)
        return self.weight, self.target, means, spread, none, none, mistake

    def new_rule_terms(self, counts, answering):
        """Gains of rows if a new rule takes them from the rule `answering`.

        Three terms, constant, quadratic and linear: the gain by a rule with mean v is
        `constant + 2 v . linear - (v . v) quadratic`.
        """
        quadratic = self.weight / (2 * self._spread(counts))
        passed = self._means(counts)[answering]
        constant = ((passed - 2 * self.target) * passed).sum(axis=1) * quadratic
        return constant, self.target * quadratic[:, None], quadratic


class ErrorLoss:
    """Code length of the errors of the predicted classes.

    There is one share of errors for the whole list, so only their number counts.
    """

    def __init__(self, target, weight, n_classes):
        self.target = target
        self.weight = weight
        self.n_classes = n_classes
        self.total_weight = float(weight.sum())

    def take(self, rows):
        """The same loss for some of the rows."""
        return ErrorLoss(self.target[rows], self.weight[rows], self.n_classes)

    def counts(self, answering, n_rules):
        """Weight of each class among the rows that each rule predicts."""
        classes = self.target, self.n_classes
        nothing = np.empty((0, len(answering)))
        rows = nothing, self.weight, *classes
        return kernels.answered_sums(answering, n_rules, *rows)

    def weights(self, counts):
        """Weight of the rows that each rule predicts."""
        return counts.sum(axis=1)

    def answers(self, counts):
        """The share of the second class in each rule."""
        return counts[:, 1] / np.maximum(counts.sum(axis=1), 1e-300)

    def _wrong(self, counts):
        return max(self.total_weight - float(counts.max(axis=1).sum()), 0.0)

    def _share(self, wrong):
        share = (wrong + PRIOR) / (self.total_weight + 1)
        return min(max(share, LEAST_ERRORS), 0.5)

    def cost(self, counts):
        """Nats for the target of all rows, given the counts."""
        return self.nats(self._wrong(counts), len(counts))

    def nats(self, wrong, n_rules):
        """Nats for the target of all rows, given the weight of wrong rows."""
        share = self._share(wrong)
        among = np.log(max(self.n_classes - 1, 1))
        right = self.total_weight - wrong
        code = right * -np.log1p(-share) + wrong * (among - np.log(share))
        # A rule pays for its class and for its accuracy.
        each = np.log(self.n_classes) + 0.5 * np.log(max(self.total_weight, 2.0))
        return float(code + n_rules * each)

    def nats_each(self, wrong):
        """Nats per wrong row, given the weight of wrong rows."""
        share = self._share(wrong)
        return np.log((1 - share) / share * max(self.n_classes - 1, 1))

    def rule_terms(self, counts):
        """Means (none), spread, classes of rules and nats for a wrong one."""
        mistake = self.nats_each(self._wrong(counts))
        means, answers = np.empty((len(counts), 0)), counts.argmax(axis=1)
        return means, 1.0, answers, float(mistake)

    def gain_terms(self, counts):
        """Arguments of `kernels.row_gains`, besides the rules of rows."""
        means, spread, answers, mistake = self.rule_terms(counts)
        target = np.empty((len(self.weight), 0))
        return self.weight, target, means, spread, self.target, answers, mistake


class BothLoss:
    """Code length of probabilities and of the class that follows from them.

    `squared` and `wrong` are of the same rows; classes count `emphasis` times as much.
    """

    def __init__(self, squared, wrong, emphasis=1.0):
        self.squared = squared
        self.wrong = wrong
        self.emphasis = emphasis
        self.target = squared.target
        self.weight = squared.weight
        self.total_weight = squared.total_weight
        self.width = 1 + squared.n_outputs

    def take(self, rows):
        """The same loss for some of the rows."""
        return BothLoss(self.squared.take(rows), self.wrong.take(rows), self.emphasis)

    def counts(self, answering, n_rules):
        """The counts of the two losses, concatenated."""
        weighted, classes = self.squared.weighted, self.wrong.target
        rows = n_rules, weighted, self.weight, classes, self.wrong.n_classes
        return kernels.answered_sums(answering, *rows)

    def weights(self, counts):
        """Weight of the rows that each rule predicts."""
        return counts[:, 0]

    def cost(self, counts):
        """Nats for the target of all rows, given the counts."""
        wrong = self.wrong.cost(counts[:, self.width :])
        return self.squared.cost(counts[:, : self.width]) + self.emphasis * wrong

    def rule_terms(self, counts):
        """Means, spread, classes of rules and nats for a wrong one."""
        means, spread, _, _ = self.squared.rule_terms(counts[:, : self.width])
        _, _, answers, mistake = self.wrong.rule_terms(counts[:, self.width :])
        return means, spread, answers, self.emphasis * mistake

    def gain_terms(self, counts):
        """Arguments of `kernels.row_gains`, besides the rules of rows."""
        *told, answers, mistake = self.rule_terms(counts)
        return self.weight, self.target, *told, self.wrong.target, answers, mistake

    def answers(self, counts):
        """The prediction of each rule, for one number per row."""
        return self.squared.answers(counts[:, : self.width])

    def new_rule_terms(self, counts, answering):
        """Gains of rows in probabilities if a new rule takes them; see SquaredLoss."""
        return self.squared.new_rule_terms(counts[:, : self.width], answering)
