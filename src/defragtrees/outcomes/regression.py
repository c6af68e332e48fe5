"""Numbers as the outcome."""

import math
import numbers
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from defragtrees._utils.values import shown
from defragtrees.outcomes.measures import NumberScores, explained_share
from defragtrees.outcomes.points import NumberPoints
from defragtrees.outcomes.sums import NumberSums
from defragtrees.outcomes.wording import NumberWording

LARGEST = 1e100


def _is_number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))


@dataclass(frozen=True)
class Numbers(NumberPoints, NumberWording):
    """A number."""

    task: ClassVar[str] = "regression"
    fidelity_meaning: ClassVar[str] = (
        "R², how much of the variance of the ensemble’s answers the rules repeat"
    )
    estimator_suffix: ClassVar[str] = "Regressor"
    sums: ClassVar[type] = NumberSums  # what rows say of rules
    scores: ClassVar[type] = NumberScores  # what answers are worth
    error_digits: ClassVar[int] = 9  # of an error that is added up from parts
    has_own_error: ClassVar[bool] = False  # "rmse" is its root
    labels = None

    def check(self, y):
        """The numbers as float64; refused where some are not finite."""
        try:
            y = np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError("y must hold numbers for a regression.") from None
        if not np.isfinite(y).all():
            raise ValueError(
                "Input y contains NaN or infinity; finite numbers are needed."
            )
        if (np.abs(y) > LARGEST).any():
            raise ValueError(
                f"y must be from {-LARGEST:g} to {LARGEST:g}, so that its squares are "
                f"numbers too; got {np.abs(y).max():g}. Use another unit."
            )
        return y

    def check_answers(self, answers):
        """Raise for predictions of an ensemble that are no numbers, or too large."""
        is_usable = np.abs(answers) <= LARGEST
        if not is_usable.all():
            raise ValueError(
                f"The ensemble must answer numbers from {-LARGEST:g} to {LARGEST:g}; "
                f"got {answers[~is_usable].flat[0]:g} for row "
                f"{int(np.argwhere(~is_usable)[0][0]) + 1} of X. Check that it is not "
                "altered, and that X has the units that it was trained on."
            )

    def check_rule(self, rule, is_averaged=False):
        """Refuse a rule that answers no finite number, or has class shares."""
        if not (_is_number(rule.prediction) and abs(rule.prediction) < math.inf):
            raise ValueError(
                f"A rule must answer a finite number; got {shown(rule.prediction)}."
            )
        if rule.distribution:
            raise ValueError("A rule must have one share for each class.")
        if rule.rates is not None or rule.distribution is not None:
            raise ValueError("rates and distribution are for classes, not for numbers.")
        for name in ("ensemble_mean", "alone"):
            value = getattr(rule, name)
            if value is not None and not _is_number(value):
                raise ValueError(f"{name} of a number must be a number; got {value!r}.")

    def check_scores(self, scores):
        """Refuse scores of a RuleModel by which no interval can be told."""
        if not all(math.isfinite(score) and score >= 0 for score in scores):
            raise ValueError("interval_scores must be finite numbers from 0.")
        if list(scores) != sorted(scores):
            raise ValueError("interval_scores must be in ascending order.")

    def target_of(self, forest, raw):
        """Numbers from the combined outputs of a forest's trees."""
        linked = forest.linked(raw)
        return linked[:, 0] if linked.shape[1] == 1 else linked

    def moments(self, target, weight):
        """Mean and standard deviation."""
        mean = np.average(target, weights=weight)
        square = np.average((target - mean) ** 2, weights=weight)
        return np.array([mean, np.sqrt(square)])

    def losses(self, expected, predicted):
        """For each row the squared error."""
        return (np.ravel(expected) - np.ravel(predicted)) ** 2

    def fidelity(self, answers, predicted, sample_weight=None):
        """Share of the variance of the ensemble's answers that is explained (R²)."""
        loss = self.error(answers, predicted, sample_weight)
        answers = np.asarray(answers, dtype=np.float64)
        mean = np.average(answers, weights=sample_weight)
        variance = np.average((answers - mean) ** 2, weights=sample_weight)
        return self.fidelity_of_loss(loss, variance, np.abs(answers).max(initial=0.0))

    def fidelity_of_loss(self, loss, variance, largest):
        """R² from a mean loss, and the variance of answers up to `largest`."""
        return explained_share(loss, variance, largest)

    def constant_loss(self, target, weight):
        """A function of rows: the sum of squares if all get one answer."""
        # Centred, so that little is lost in the difference of two large sums.
        centred = target - np.average(target, weights=weight)

        def loss(rows):
            apart, share = centred[rows], weight[rows]
            return float(share @ apart**2 - (share @ apart) ** 2 / share.sum())

        return loss

    def best_constants(self, group, target, weight, n_groups):
        """The number that errs least in each group of rows; NaN where it has none."""
        total = np.bincount(group, weight, n_groups)
        with np.errstate(invalid="ignore"):
            return np.bincount(group, weight * target, n_groups) / total

    def indicators(self, target):
        """Numbers as they are, (n_samples, 1)."""
        return np.asarray(target, dtype=np.float64)[:, None]

    def outputs(self, rule):
        """What a rule brings into a mean: its number."""
        return [rule.prediction]

    def decide(self, outputs, threshold=None, costs=None):
        """Answers from means of outputs, (n_samples, n_outputs)."""
        return outputs[:, 0]

    def search_target(self, target):
        """Numbers as they are, (n_samples, 1)."""
        return self.indicators(target)
