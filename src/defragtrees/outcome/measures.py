"""What is measured against y: one table, from sums over rows that add up.

`MEASURES` has all that probabilities, decisions and numbers are judged by. A further
measure is one entry there, if `defragtrees.outcome.scoring` has its sums; rules and
ensembles, rows in memory and in shards, tables and the command line then have it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from defragtrees.outcome.scoring import explained_share

__all__ = ["MEASURES", "Measure"]


@dataclass(frozen=True)
class Measure:
    """One thing to judge answers by.

    Parameters
    ----------
    name : str
        As in `evaluate` and `metrics`.
    label : str
        As in tables.
    meaning : str
        In a few words.
    task : str
        Of the outcome that it is for.
    is_larger_better : bool
    formula : callable
        From ClassScores or NumberScores to a float; NaN where it has no meaning.
    needs_probabilities : bool
    is_of_class : bool
        Whether it is of the told one of two classes, and a mean over more.
    head : str
        Above a column of a table that compares many; without it there is none.
    """

    name: str
    label: str
    meaning: str
    task: str
    is_larger_better: bool
    formula: Callable[[Any], float]
    needs_probabilities: bool = False
    is_of_class: bool = False
    head: str = ""

    def of(self, scores):
        """The measure of some rows; NaN without rows."""
        return float(self.formula(scores)) if scores.weight else math.nan

    def best(self, values):
        """The best of some values."""
        return max(values) if self.is_larger_better else min(values)


def _of_class(scores, name):
    """That of the told one of two classes, or the mean of those that there are."""
    values = np.asarray(getattr(scores, name)(), dtype=np.float64)
    if len(values) == 2:
        return values[scores.told_number]
    there = values[~np.isnan(values)]
    return there.mean() if len(there) else np.nan


def _ranking_mean(scores, name):
    values = np.array([getattr(ranking, name)() for ranking in scores.rankings])
    there = values[~np.isnan(values)]
    return there.mean() if len(there) else np.nan


def _r2(scores):
    moments = scores.expected
    mean = scores.squares / scores.weight
    return explained_share(mean, moments.variance, moments.largest)


CLASSES, NUMBERS = "classification", "regression"
MEASURES = {
    measure.name: measure
    for measure in (
        Measure(
            "auc",
            "AUC",
            "chance that a row of the class is ranked before one of another",
            CLASSES,
            True,
            lambda scores: _ranking_mean(scores, "auc"),
            needs_probabilities=True,
            head="AUC",
        ),
        Measure(
            "average_precision",
            "average precision",
            "mean share of the class from the likeliest row down",
            CLASSES,
            True,
            lambda scores: _ranking_mean(scores, "average_precision"),
            needs_probabilities=True,
            is_of_class=True,
        ),
        Measure(
            "log_loss",
            "log loss",
            "mean negative logarithm of the probability told for the true class",
            CLASSES,
            False,
            lambda scores: scores.log_loss / scores.weight,
            needs_probabilities=True,
            head="log loss",
        ),
        Measure(
            "brier",
            "Brier score",
            "mean squared distance of the probabilities to what is true",
            CLASSES,
            False,
            lambda scores: scores.brier / scores.weight,
            needs_probabilities=True,
        ),
        Measure(
            "precision",
            "precision",
            "share of the answers for the class that are right",
            CLASSES,
            True,
            lambda scores: _of_class(scores, "precisions"),
            is_of_class=True,
        ),
        Measure(
            "recall",
            "recall",
            "share of the rows of the class that are answered so",
            CLASSES,
            True,
            lambda scores: _of_class(scores, "recalls"),
            is_of_class=True,
        ),
        Measure(
            "expected_cost",
            "expected cost",
            "mean cost of the answers; the error where all mistakes cost 1",
            CLASSES,
            False,
            lambda scores: (scores.confusion * scores.costs).sum() / scores.weight,
        ),
        Measure(
            "rmse",
            "root mean squared error",
            "root of the mean squared distance to y, in the units of y",
            NUMBERS,
            False,
            lambda scores: math.sqrt(scores.squares / scores.weight),
            head="RMSE",
        ),
        Measure(
            "mae",
            "mean absolute error",
            "mean distance to y, in the units of y",
            NUMBERS,
            False,
            lambda scores: scores.distances / scores.weight,
            head="MAE",
        ),
        Measure(
            "r2",
            "R²",
            "share of the variance of y that is explained",
            NUMBERS,
            True,
            _r2,
        ),
    )
}
