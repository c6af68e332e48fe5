"""Estimators of survival: the baseline of a fit, and models as hazard ratios."""

import dataclasses
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from defragtrees._utils.types import Column, Floats, Rows, Values
from defragtrees.ensembles.forest import LINKS
from defragtrees.estimators.base import RegressorMixin, _WithRates
from defragtrees.estimators.settings import setting
from defragtrees.outcomes.base import Outcome, make_outcome
from defragtrees.outcomes.survival import HazardScale


@dataclass(frozen=True)
class HazardLink:
    """Link from the outputs of a model of survival to hazard ratios."""

    scores: Any  # link from the outputs to the scores that the model predicts
    scale: HazardScale

    def __call__(self, raw):
        is_named = isinstance(self.scores, str)
        scores = (LINKS[self.scores] if is_named else self.scores)(raw)
        return self.scale.ratios(scores)


@dataclass(repr=False, eq=False)
class RuleSurvival(RegressorMixin, _WithRates):
    """Mixin of estimators of survival; comes before the class of the method."""

    _: KW_ONLY
    times: Any = setting(
        None, help="Times at which rules report survival; the median time by default."
    )

    _task = "survival"

    if TYPE_CHECKING:

        def predict(
            self, X: Rows, *, on_missing: str = "accept", on_unknown: str = "accept"
        ) -> Floats: ...

    def score(self, X: Rows, y: Column, sample_weight: Column | None = None) -> float:
        """Harrell's concordance of the hazard ratios with y.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : structured array, or array-like of shape (n_samples, 2)
            As for `fit`.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        return self.evaluate(X, y, sample_weight)["concordance"]

    def predict_survival_function(self, X: Rows, return_array: bool = False) -> Values:
        """Estimated survival of each row, as functions of time.

        See `RuleModel.predict_survival_function`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        return_array : bool, default=False
            Return the values at `unique_times_` instead.

        Returns
        -------
        array of StepFunction, or of shape (n_samples, n_times)
        """
        check_is_fitted(self, "rules_")
        return self.rules_.predict_survival_function(X, return_array)

    def predict_cumulative_hazard_function(
        self, X: Rows, return_array: bool = False
    ) -> Values:
        """Estimated cumulative hazard of each row, as functions of time.

        See `RuleModel.predict_cumulative_hazard_function`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        return_array : bool, default=False
            Return the values at `unique_times_` instead.

        Returns
        -------
        array of StepFunction, or of shape (n_samples, n_times)
        """
        check_is_fitted(self, "rules_")
        return self.rules_.predict_cumulative_hazard_function(X, return_array)

    @property
    def unique_times_(self) -> Floats:
        """The times of the steps of these functions."""
        check_is_fitted(self, "rules_")
        return np.array(self._kind.baseline.times)

    def _outcome(self) -> Outcome:
        return self._kind or make_outcome(self._task)

    def _loaded(self, source):
        return source.load()  # all times make the baseline

    def _open(self, X, y, sample_weight, forest):
        self._kind = None
        source, first = super()._open(X, y, sample_weight, forest)
        if source.y is None:
            raise ValueError(
                "Rules of survival need y, the event and the time of each row, also "
                "to imitate a model; got None."
            )
        how = source.y, source.sample_weight, self.times
        self._kind = self._outcome().trained(*how)
        source.y = self._kind.exposed(source.y)
        self._rows_of_fit = source
        return source, first

    def _ask(self, source, why, rng, n_unseen=0):
        self._rows_of_fit, forest = super()._ask(source, why, rng, n_unseen)
        return self._rows_of_fit, forest

    def _check_forest(self, forest):
        source, weight = self._rows_of_fit, self._rows_of_fit.sample_weight
        del self._rows_of_fit
        weight = np.ones(source.n_rows()) if weight is None else np.asarray(weight)
        if not isinstance(forest.link, HazardLink) and len(forest.base) == 1:
            predicted = np.asarray(forest.predict(source.X), dtype=np.float64)
            scale = HazardScale.of(predicted, source.y, weight)
            self._kind = self._kind.with_scale(scale)
            link = HazardLink(forest.link, scale)
            forest = self.forest_ = dataclasses.replace(forest, link=link)
        return super()._check_forest(forest)

    def _words(self, forest):
        return super()._words(forest) | {"_baseline": self._kind.baseline}
