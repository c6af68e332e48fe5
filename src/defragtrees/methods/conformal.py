"""Conformal: the intervals of a regressor, calibrated with rows that it never saw."""

from functools import partial
from typing import Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, column_or_1d

from defragtrees._types import Column, Floats, Rows
from defragtrees.intervals import score_for
from defragtrees.rules import RuleSet
from defragtrees.tables import check_finite

__all__ = ["Conformal"]


PATHS = ("path_", "path_by_conditions_")


class Conformal:
    """What every regressor has for intervals."""

    rules_: RuleSet

    def calibrate(self, X: Rows, y: Column | None = None) -> Self:
        """Let intervals hold as often as they say, by rows that were not fitted on.

        Split conformal prediction: if these rows and later ones are drawn alike, y is
        in the interval of `predict_interval` with a probability of at least its
        coverage, however good the rules are. `rules_`, and with `path_` all lists of
        it, keep what is needed.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows that neither the ensemble nor the rules were fitted to; also all that
            `fit` reads.
        y : array-like of shape (n_samples,)
            With a Parquet file the name of a column; None with an iterator, which
            gives it.

        Returns
        -------
        self

        Examples
        --------
        >>> from defragtrees import DistilledTreeRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 10, [1.0, 1.0, 4.0, 6.0] * 10
        >>> simple = DistilledTreeRegressor(max_rules=2, random_state=0).fit(X, y)
        >>> simple = simple.calibrate([[0.5], [2.5]] * 10, [1.0, 5.5] * 10)
        >>> simple.predict_interval([[0.5]]).shape
        (1, 2)
        """
        source = self.reopen(X, y)
        if not source.has_labels:
            raise ValueError(
                "y is needed to calibrate intervals; got None. Pass the numbers that "
                "are true for these rows."
            )
        paths = [getattr(self, name, {}) for name in PATHS]
        lists = [self.rules_, *(rules for path in paths for rules in path.values())]
        parts = source.total(partial(_part_scores, lists))
        told = iter(
            rules.with_scores(np.concatenate(scores))
            for rules, scores in zip(lists, zip(*parts, strict=True), strict=True)
        )
        self.rules_ = next(told)
        for name, path in zip(PATHS, paths, strict=True):
            if path:
                setattr(self, name, dict(zip(path, told, strict=False)))
        return self

    def predict_interval(self, X: Rows, coverage: float = 0.9) -> Floats:
        """For each row an interval in which y is with a probability of `coverage`.

        It reaches equally far to both sides of the answer, and farther where a rule's
        rows are farther apart. After `calibrate` the promise is exact.

        Without it, `DefragRegressor` takes what `fit` with y saw: how far each training
        row is from what the answer would be without this row. That is exact for the
        answers, not for the choice of rules, which fit the rows that they were chosen
        by too well. So intervals grow as if each condition used up three rows, a rule
        of thumb; with a few hundred rows they may still hold in 86 rows of 100 where
        90 are asked for.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        coverage : float, default=0.9

        Returns
        -------
        array of shape (n_samples, 2)
            Lower and upper ends.

        Examples
        --------
        >>> from defragtrees import DistilledTreeRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 10, [1.0, 1.0, 4.0, 6.0] * 10
        >>> simple = DistilledTreeRegressor(max_rules=2, random_state=0).fit(X, y)
        >>> simple = simple.calibrate([[0.5], [2.5]] * 10, [1.0, 5.5] * 10)
        >>> simple.predict_interval([[2.5]], coverage=0.8).round(2).tolist()
        [[4.49, 5.5]]
        """
        check_is_fitted(self, "rules_")
        rules = self.rules_
        score_for(rules, coverage)
        tell = partial(rules.predict_interval_encoded, coverage=coverage)
        return self._answers(X, tell, np.float64, 2)


def _part_scores(lists, part):
    """For one part of rows the scores of each list of rules; parts are added up."""
    matrix = lists[0].encode(part.X)
    check_finite(matrix, lists[0].feature_names)
    y = column_or_1d(part.y, warn=True)
    return [[rules.scores_encoded(matrix, y) for rules in lists]]
