"""How well scores rank the rows of a class before the others, from sums that add up."""

from dataclasses import dataclass

import numpy as np
from scipy import special

__all__ = ["RankedWeights"]

MOST_SCORES = 100_000  # with more distinct scores, near ones are counted as one
LARGEST_LOG_ODDS = 37.0  # those of the probability next to 1
N_BINS = 2**18


@dataclass(frozen=True, eq=False)
class RankedWeights:
    """The weight of the rows with each score; that of other rows can be added.

    Parameters
    ----------
    scores : array of shape (n_scores,), increasing
        Probabilities of a class, or numbers of bins of their log-odds.
    weights : array of shape (n_scores, 2)
        Of the rows of another class, and of this one.
    is_binned : bool
        Whether scores are bins. All rows together decide it, however they are cut.
    """

    scores: np.ndarray
    weights: np.ndarray
    is_binned: bool = False

    @classmethod
    def of(cls, scores, is_class, weight):
        """The weights of some rows.

        Parameters
        ----------
        scores : array of shape (n_samples,)
        is_class : bool array of shape (n_samples,)
        weight : array of shape (n_samples,)
        """
        counts = np.column_stack([weight * ~is_class, weight * is_class])
        return _merged(scores[weight > 0], counts[weight > 0])

    def __add__(self, other):
        is_binned = self.is_binned or other.is_binned
        sides = [side._binned() if is_binned else side for side in (self, other)]
        scores = np.concatenate([side.scores for side in sides])
        weights = np.concatenate([side.weights for side in sides])
        return _merged(scores, weights, is_binned)

    def _binned(self):
        if self.is_binned:
            return self
        log_odds = special.logit(np.clip(self.scores, 0.0, 1.0))
        log_odds = np.clip(log_odds, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)
        places = np.floor((log_odds / LARGEST_LOG_ODDS + 1.0) * (N_BINS / 2))
        return _merged(places, self.weights, is_binned=True)

    def auc(self):
        """Chance that a row of the class is before one of another; ties count half.

        NaN without rows of both kinds.
        """
        others, members = self.weights.T
        pairs = others.sum() * members.sum()
        if not pairs:
            return np.nan
        before = np.cumsum(others) - others / 2
        return float(members @ before / pairs)

    def average_precision(self):
        """Mean share of the class from the top down, by what each step finds of it.

        NaN without rows of the class.
        """
        others, members = self.weights[::-1].T
        if not members.sum():
            return np.nan
        found = np.cumsum(members)
        return float(members @ (found / (found + np.cumsum(others))) / members.sum())


def _merged(scores, weights, is_binned=False):
    """One entry for each distinct score; in bins if there are too many."""
    distinct, place = np.unique(scores, return_inverse=True)
    columns = [np.bincount(place, column, len(distinct)) for column in weights.T]
    merged = RankedWeights(distinct, np.column_stack(columns), is_binned)
    is_too_much = len(distinct) > MOST_SCORES and not is_binned
    return merged._binned() if is_too_much else merged
