"""What a model misses of y: a small correction that rules learn with the model.

A booster learns y minus the model's predictions on the rows of a fit. It is fitted
without each third of them in turn, and what it then predicts for this third shows how
much of it is true: the weight of the correction is the slope of the differences on
these predictions, less one standard error, from 0 to 1. So rules that imitate a model
that misses nothing are not changed.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from defragtrees.data.sampling import hash_rows
from defragtrees.ensembles.black_box import MOST_CATEGORIES
from defragtrees.rules.profile import Correction

SEED = 0  # of the parts
N_PARTS = 3
LEAST_ROWS = 100  # fewer, by weight, show too little of what a model misses
MOST_ROWS = 20_000  # of more, so many are drawn
FREQUENT = 8  # equal rows that need not be in one part
LEAST_WEIGHT = 0.1  # that changes rules enough to be worth a line


@dataclass(frozen=True, eq=False)
class Teacher:
    """A model's correction: how much of what some boosters predict is added to it."""

    correction: Correction
    scale: float  # of the predictions
    boosters: list[list[Any]]  # for each part one for each output
    features: list[int]

    @threadpool_limits.wrap(limits=1)
    def corrected(self, rows, outputs):
        """The outputs of the model for the rows of a Problem, with what they miss."""
        matrix = np.column_stack([rows.column(j) for j in self.features])
        change = np.mean([_predicted(own, matrix) for own in self.boosters], axis=0)
        change *= self.correction.weight * self.scale
        return rows.outcome.corrected(outputs, change)


@threadpool_limits.wrap(limits=1)  # so that sums have one order
def find_teacher(problem):
    """The Teacher of the model of a Problem; None where y is not known or not missed.

    Also of a model that does not predict the mean of y but, say, its median.

    The rows of the problem are in an order that does not depend on the user's.
    """
    weight, sizes = problem.mean_weight, [len(c or ()) for c in problem.categories]
    features = [j for j in problem.feature_order if sizes[j] <= MOST_CATEGORIES]
    if problem.labels is None or problem.forest.predicts or not features:
        return None
    if weight.sum() ** 2 < LEAST_ROWS * (weight @ weight):
        return None
    # A row of weight two is a row given twice.
    n_rows = min(round(problem.sample_weight.sum()), MOST_ROWS)
    shares = (np.arange(n_rows) + 0.5) / n_rows
    rows = problem.take(np.searchsorted(np.cumsum(weight), shares * weight.sum()))
    matrix = np.column_stack([rows.column(j) for j in features])
    # Of two classes the second is enough.
    missed = (rows.observed - rows.outputs)[:, -problem.outcome.n_points :]
    scale = np.abs(missed).max()
    if not scale > 0:
        return None
    missed /= scale
    is_set = [sizes[j] > 0 and j not in problem.ordered_features for j in features]
    n_rounds = max(25 // missed.shape[1], 10)  # each of many classes has a booster
    # Few equal rows are in one part, so that none predicts itself.
    _, group, size = np.unique(
        hash_rows(matrix.T), return_inverse=True, return_counts=True
    )
    rng = np.random.default_rng(SEED)
    by_row, by_group = (rng.integers(N_PARTS, size=len(own)) for own in (group, size))
    part = np.where(size[group] < FREQUENT, by_group[group], by_row)
    boosters, found = [], np.zeros_like(missed)
    for k in range(N_PARTS):
        rows = matrix[part != k]
        own = [_booster(rows, y, is_set, n_rounds) for y in missed[part != k].T]
        found[part == k] = _predicted(own, matrix[part == k])
        boosters.append(own)
    square = max((found**2).sum(), 1e-300)
    slope = (found * missed).sum() / square
    scores = ((missed - slope * found) * found).sum(axis=1)
    error = np.linalg.norm(np.bincount(group, scores))
    weight = round(float(np.clip(slope - error / square, 0.0, 1.0)), 2)
    if weight < LEAST_WEIGHT:
        return None
    gain = 1 - ((missed - weight * found) ** 2).sum() / (missed**2).sum()
    correction = Correction(weight, round(float(gain), 3))
    return Teacher(correction, scale, boosters, features)


def _booster(matrix, missed, is_set, n_rounds):
    booster = HistGradientBoostingRegressor(
        max_iter=n_rounds,
        learning_rate=0.2,
        max_leaf_nodes=8,
        early_stopping=False,
        categorical_features=is_set if any(is_set) else None,
        random_state=SEED,
    )
    with warnings.catch_warnings():  # columns may have no values
        warnings.simplefilter("ignore", UserWarning)
        return booster.fit(matrix, missed)


def _predicted(boosters, matrix):
    return np.column_stack([own.predict(matrix) for own in boosters])
