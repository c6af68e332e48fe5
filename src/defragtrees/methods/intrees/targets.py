"""What inTrees measures rules by: classes, levels of a number, or the number itself.

All that is asked of the rows of a rule are a few sums over them.
"""

import math

import numpy as np

from defragtrees.methods.intrees.candidates import pack, unpack

__all__ = ["ClassTarget", "NumberTarget", "discretise", "level_answers", "thousandths"]

MOST_KINDS = 24  # kinds of rows to count bits for; with more, rows are unpacked
CELLS_AT_ONCE = 4_000_000  # rules x rows unpacked at the same time
PAPER_PERCENTILES = {3: (17.0, 50.0, 83.0)}


class _Target:
    """Sums over rows, by counting bits where rows are of few kinds.

    `columns` has a line for each row: what is summed, and a 1 as the last entry, so
    that rules without rows are told from rules with little weight.
    """

    def __init__(self, columns, total):
        self.columns = columns
        self.total = total
        values, kind = np.unique(columns, axis=0, return_inverse=True)
        self.values = values
        self.planes = None
        if len(values) <= MOST_KINDS:
            kinds = np.arange(len(values))[:, None]
            self.planes = pack(kind.reshape(1, -1) == kinds)

    def sums(self, bits):
        """Sums over the rows of each rule, (n_rules, n_columns)."""
        if self.planes is not None:
            counts = [count_bits(bits & plane) for plane in self.planes]
            return np.stack(counts, axis=1) @ self.values
        n_rows = len(self.columns)
        sums = np.empty((len(bits), self.columns.shape[1]))
        step = max(1, CELLS_AT_ONCE // n_rows)
        for start in range(0, len(bits), step):
            block = slice(start, start + step)
            sums[block] = unpack(bits[block], n_rows).astype(np.float64) @ self.columns
        return sums


class ClassTarget(_Target):
    """Classes: a rule answers one and errs in the others.

    Parameters
    ----------
    labels : int array of shape (n_rows,)
    n_classes : int
    weight : array of shape (n_rows,)
    """

    answers_anew = False  # a rule keeps its class while it is pruned

    def __init__(self, labels, n_classes, weight):
        columns = np.zeros((len(labels), n_classes + 1))
        columns[np.arange(len(labels)), labels] = weight
        columns[:, -1] = 1
        super().__init__(columns, weight.sum())

    def weights(self, sums):
        return sums[:, :-1].sum(axis=1)

    def answers(self, sums):
        """The class with the most weight, the first of them at a tie."""
        return sums[:, :-1].argmax(axis=1)

    def errors(self, sums, answers):
        """Share of the rows that are of another class."""
        return 1 - self._shares(sums, answers)

    def measured_errors(self, sums, answers):
        """The same from shares in thousandths, as rules are measured and pruned by."""
        return (1000 - thousandths(self._shares(sums, answers))) / 1000

    def agreement(self, sums):
        """The weight of rows times the share of pairs of them that agree."""
        return (sums[:, :-1] ** 2).sum(axis=1) / self.weights(sums)

    def _shares(self, sums, answers):
        return sums[np.arange(len(sums)), answers] / self.weights(sums)


class NumberTarget(_Target):
    """Numbers: a rule answers the mean of its rows, whichever they are.

    They are measured in standard deviations from the mean of all, so that their unit
    has no say.

    Parameters
    ----------
    numbers, weight : array of shape (n_rows,)
    """

    answers_anew = True

    def __init__(self, numbers, weight):
        total = weight.sum()
        self.center = float(np.average(numbers, weights=weight))
        variance = np.average((numbers - self.center) ** 2, weights=weight)
        self.scale = float(math.sqrt(variance)) or 1.0
        # As multiples of so small a power of two that no sum of their squares has to be
        # rounded: then neither the order of rows nor a weight of two leaves a trace.
        n_bits = (52 - math.ceil(math.log2(max(total, 1.0)))) // 2
        step = 2.0 ** -max(n_bits, 16)
        scaled = np.round((numbers - self.center) / self.scale / step) * step
        columns = [weight, weight * scaled, weight * scaled**2, np.ones(len(numbers))]
        super().__init__(np.column_stack(columns), total)

    def weights(self, sums):
        return sums[:, 0]

    def answers(self, sums):
        """The mean."""
        return sums[:, 1] / sums[:, 0]

    def errors(self, sums, answers):
        """Mean squared deviation from the mean; the answers given have no say."""
        return np.maximum(sums[:, 2] / sums[:, 0] - self.answers(sums) ** 2, 0)

    measured_errors = errors

    def agreement(self, sums):
        """The weight of rows less their squared deviations from their mean."""
        return sums[:, 0] - sums[:, 2] + sums[:, 1] ** 2 / sums[:, 0]


def thousandths(shares):
    """Shares as a whole number of thousandths.

    The nearer of the two neighbours, compared as the doubles that they are, and the
    even one at a tie. `numpy.round` decides some ties otherwise.

    Examples
    --------
    >>> thousandths(np.array([0.0125, 0.0625, 0.3333])).tolist()
    [13.0, 62.0, 333.0]
    """
    low, high = np.floor(1000 * shares), np.ceil(1000 * shares)
    down, up = shares - low / 1000, high / 1000 - shares
    return np.where((down < up) | ((down == up) & (low % 2 == 0)), low, high)


def _counted_by_table(words):
    return BITS_OF[words.view(np.uint16)]


def count_bits(words):
    """Number of ones in each line of words."""
    return count_of_words(words).sum(axis=1, dtype=np.int64)


BITS_OF = np.array([i.bit_count() for i in range(2**16)], dtype=np.uint8)
count_of_words = getattr(np, "bitwise_count", _counted_by_table)  # new in NumPy 2


def discretise(numbers, weight, n_levels):
    """The level of each number, from 0, where each level has about the same weight.

    Returns
    -------
    levels : int array of shape (n_rows,)
    cuts : array of shape (n_levels - 1,)
        The largest number of each level but the last. Equal ones leave a level empty.
    """
    weight, is_whole = _row_weights(weight)
    order = np.argsort(numbers, kind="stable")
    reached = np.cumsum(weight[order])
    ranks = reached[-1] * np.arange(1, n_levels) / n_levels
    if is_whole:
        ranks = np.round(ranks)
    place = np.searchsorted(reached, ranks - 1e-9, side="left")
    cuts = numbers[order][np.minimum(place, len(numbers) - 1)]
    return np.searchsorted(cuts, numbers, side="left"), cuts


def level_answers(numbers, weight, n_levels):
    """What each level answers: a percentile of the numbers in about its middle.

    Three levels answer the 17th, 50th and 83rd percentile, as in the paper.
    """
    middles = 100 * (np.arange(n_levels) + 0.5) / n_levels
    shares = np.array(PAPER_PERCENTILES.get(n_levels, middles)) / 100
    weight, _ = _row_weights(weight)
    order = np.argsort(numbers, kind="stable")
    reached = np.cumsum(weight[order])
    # A row of weight w stands w times in the sorted line; between two places of that
    # line a percentile is interpolated.
    at = np.maximum(shares * (reached[-1] - 1), 0)
    last = len(numbers) - 1
    low, high = (
        numbers[order][np.minimum(np.searchsorted(reached, place, "right"), last)]
        for place in (np.floor(at), np.floor(at) + 1)
    )
    return low + (at - np.floor(at)) * (high - low)


def _row_weights(weight):
    """Weights that count rows, and whether they do so as they are."""
    if (weight == np.round(weight)).all():
        return weight, True
    return weight * (len(weight) / weight.sum()), False
