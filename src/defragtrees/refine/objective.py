"""What a rule list costs, in nats: to say its rules, and the target given its rules.

Classes: a rule's answers are coded with the class counts of the rows it answers, by
their marginal likelihood under Jeffreys' prior, which charges for the distribution
itself. Numbers: a Gaussian around each rule's mean with one spread for the whole list.
"""

import numpy as np
from scipy.special import gammaln

__all__ = ["ClassLoss", "ErrorLoss", "NumberLoss"]

PRIOR = 0.5  # Jeffreys' prior of a class distribution
LEAST_ERRORS = 0.02  # a list is not asked to agree with the ensemble more often
LEAST_SPREAD = 1e-4  # share of the target's variance


class ClassLoss:
    """Code length of class labels.

    Parameters
    ----------
    target : int array of shape (n_samples,)
    n_classes : int
    weight : array of shape (n_samples,)
    """

    def __init__(self, target, n_classes, weight):
        self.target = target
        self.n_classes = n_classes
        self.weight = weight
        self.total_weight = float(weight.sum())

    def some(self, rows):
        """The same loss for some of the rows."""
        return type(self)(self.target[rows], self.n_classes, self.weight[rows])

    def counts(self, answering, n_rules):
        """Weight of each class among the rows that each rule answers."""
        index = answering * self.n_classes + self.target
        found = np.bincount(index, self.weight, n_rules * self.n_classes)
        return found.reshape(n_rules, self.n_classes)

    def cost(self, counts):
        """Nats for the target of all rows, given the counts."""
        n_rules, n_classes = counts.shape
        each = gammaln(counts + PRIOR).sum() - counts.size * gammaln(PRIOR)
        whole = gammaln(counts.sum(axis=1) + n_classes * PRIOR).sum()
        return float(whole - n_rules * gammaln(n_classes * PRIOR) - each)

    def row_losses(self, counts, answering):
        """Nats for each row if the rule `answering`, one or one a row, answered it."""
        shares = (counts + PRIOR) / (counts + PRIOR).sum(axis=1, keepdims=True)
        return -np.log(shares)[answering, self.target] * self.weight

    def basis(self, counts):
        """What the answer of a rule with these counts rests on: class weights."""
        return counts

    def proposals(self, rows):
        """Counts that a new rule for some of these rows could have."""
        counts = np.bincount(self.target[rows], self.weight[rows], self.n_classes)
        total = counts.sum()
        found = []
        for c in np.flatnonzero(counts > 0):
            wanted = 0.05 * counts
            wanted[c] = 0.95 * max(total, 1.0)
            found.append(wanted)
        return found


class NumberLoss:
    """Code length of numbers, up to a constant.

    Parameters
    ----------
    target : array of shape (n_samples,)
    weight : array of shape (n_samples,)
    """

    def __init__(self, target, weight):
        center = np.average(target, weights=weight)
        scale = np.sqrt(np.average((target - center) ** 2, weights=weight)) or 1.0
        # Rounded, so that units leave no trace in the last digits and break no ties.
        self.target = np.round((target - center) / scale, 9)
        self.center, self.scale = float(center), float(scale)
        self.weight = weight
        self.total_weight = float(weight.sum())
        self.floor = LEAST_SPREAD
        self.square = float(weight @ self.target**2)

    def some(self, rows):
        """The same loss for some of the rows."""
        return NumberLoss(self.target[rows], self.weight[rows])

    def counts(self, answering, n_rules):
        """Weight and weighted sum of the target for each rule."""
        n = np.bincount(answering, self.weight, n_rules)
        total = np.bincount(answering, self.weight * self.target, n_rules)
        return np.column_stack([n, total])

    def _spread(self, counts):
        n, total = counts.T
        explained = (total**2 / np.maximum(n, 1e-300)).sum()
        return max((self.square - explained) / self.total_weight, 0.0) + self.floor

    def cost(self, counts):
        """Nats for the target of all rows, given the counts."""
        half_log = 0.5 * np.log(max(self.total_weight, 2.0))
        fit = 0.5 * self.total_weight * np.log(self._spread(counts))
        return float(fit + half_log * len(counts))

    def row_losses(self, counts, answering):
        """Nats for each row if the rule `answering`, one or one a row, answered it."""
        n, total = counts.T
        mean = total / np.maximum(n, 1e-300)
        residual = self.target - mean[answering]
        return residual**2 * (self.weight / (2 * self._spread(counts)))

    def basis(self, counts):
        """What the answer of a rule with these counts rests on: the mean."""
        n, total = counts
        return self.center + self.scale * total / max(n, 1e-300)

    def proposals(self, rows):
        """Counts that a new rule for some of these rows could have."""
        values = np.quantile(self.target[rows], [0.05, 0.25, 0.5, 0.75, 0.95])
        return [np.array([1.0, value]) for value in np.unique(values)]


class ErrorLoss(ClassLoss):
    """Code length of which rows a rule's own class is wrong for, and their class.

    One share of errors for the whole list, so it counts mistakes and nothing else.
    """

    def cost(self, counts):
        """Nats for the target of all rows, given the counts."""
        wrong = self.total_weight - counts.max(axis=1).sum()
        # As in ClassLoss, a rule pays for the share of rows that it is right in.
        each = np.log(self.n_classes) + 0.5 * np.log(max(self.total_weight, 2.0))
        return float(self._code(wrong) + len(counts) * each)

    def _code(self, wrong):
        right = self.total_weight - wrong
        share = max((wrong + PRIOR) / (self.total_weight + 1), LEAST_ERRORS)
        share = min(share, 0.5)
        among = np.log(max(self.n_classes - 1, 1))
        return right * -np.log1p(-share) + wrong * (among - np.log(share))

    def row_losses(self, counts, answering):
        """Nats for each row if the rule `answering`, one or one a row, answered it."""
        wrong = max(self.total_weight - counts.max(axis=1).sum(), 0.0)
        share = np.clip((wrong + PRIOR) / (self.total_weight + 1), LEAST_ERRORS, 0.5)
        answers = counts.argmax(axis=1)
        lost = np.log((1 - share) / share * max(self.n_classes - 1, 1))
        return (answers[answering] != self.target) * (lost * self.weight)
