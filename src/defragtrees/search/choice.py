"""How long a list should be: judged by rows that the search did not see."""

from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from defragtrees.outcomes.classification import SHRINKAGE

HOLD_OUT_EVERY = 4  # one row in so many is kept from the search
FREQUENT = 8  # rows that are alike; some of them will come again


@dataclass(frozen=True)
class ListScore:
    """How a list does on the rows that the search did not see."""

    n_rules: int
    n_conditions: int
    loss: float  # mean squared error of what it predicts, or share of wrong classes
    standard_error: float  # of the loss


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Rows to find lists on, and rows to judge them by."""

    outputs: np.ndarray  # what to predict: class indicators, probabilities or numbers
    weight: np.ndarray
    is_seen: np.ndarray  # rows to find lists on
    is_judged: np.ndarray  # rows to judge them by
    counts_errors: bool = False  # whether only the likeliest class matters

    def scores(self, lists):
        """A ListScore for each of some RuleBoxes over all the rows.

        What a list predicts comes from the rows that the search saw.
        """
        seen, judged = self.is_seen, self.is_judged
        weight, outputs = self.weight[seen], self.outputs[seen]
        every = weight @ outputs / max(weight.sum(), 1e-300)
        expected, judging = self.outputs[judged], self.weight[judged]
        total = max(judging.sum(), 1e-300)
        scores = []
        for rules in lists:
            group, n_rules = rules.answering[seen], rules.n_rules
            sums = [np.bincount(group, weight * one, n_rules) for one in outputs.T]
            told = np.column_stack(sums) + SHRINKAGE * every
            told /= (np.bincount(group, weight, n_rules) + SHRINKAGE)[:, None]
            told = told[rules.answering[judged]]
            if self.counts_errors:
                losses = (told.argmax(axis=1) != expected.argmax(axis=1)).astype(float)
            else:
                losses = ((told - expected) ** 2).sum(axis=1)
            mean = float(judging @ losses / total)
            error = float(np.sqrt(judging**2 @ (losses - mean) ** 2) / total)
            scores.append(ListScore(n_rules, rules.n_conditions, mean, error))
        return scores


def held_out_rows(table, target, weight):
    """Rows to search on, and rows to judge by: every fourth, in order of the target.

    The order of rows and columns does not matter. Rows that are alike stay together, so
    that a row given twice is a row of weight two; what many rows have in common is on
    both sides, as it is in new data.
    """
    rng = np.random.default_rng(0)
    factors = rng.integers(2**63, size=len(table.columns), dtype=np.uint64)
    fingerprint = (table.codes.astype(np.uint64) * (2 * factors + 1)).sum(axis=1)
    order = np.lexsort((fingerprint, *target.T[::-1]))
    alike = fingerprint[order[1:]] == fingerprint[order[:-1]]
    alike &= (target[order[1:]] == target[order[:-1]]).all(axis=1)
    number = np.empty(len(target), dtype=np.intp)
    number[order] = np.concatenate([[0], np.cumsum(~alike)])
    is_held_out = number % HOLD_OUT_EVERY == HOLD_OUT_EVERY // 2
    is_frequent = np.bincount(number, weight)[number] >= FREQUENT
    return ~is_held_out | is_frequent, is_held_out | is_frequent


def choose(scores):
    """Place of the score with the fewest conditions within one standard error.

    A list without conditions is taken only if it is the best.

    Examples
    --------
    >>> lists = ListScore(1, 0, 0.5, 0.03), ListScore(2, 1, 0.22, 0.02)
    >>> choose([*lists, ListScore(4, 6, 0.21, 0.02)])
    1
    """
    best = min(scores, key=attrgetter("loss", "n_conditions"))
    limit = best.loss + best.standard_error
    # Who asks for rules is not served by none, unless none are better.
    least = min(best.n_conditions, 1)
    good = [
        score for score in scores if score.loss <= limit and score.n_conditions >= least
    ]
    return scores.index(min(good, key=attrgetter("n_conditions", "n_rules", "loss")))
