"""From probabilities to a class: what each mistake costs, and a threshold."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from defragtrees._utils.formatting import round_significant
from defragtrees._utils.types import Floats, Places
from defragtrees._utils.values import is_finite, shown

EDGE = 1e-12  # log-odds are those of a probability that is so far from 0 and from 1
ROUNDING = 1e-13  # of a probability, on the way to log-odds and back
# Stored probabilities have 12 digits, so those of two classes add up to 1 less exactly.
LEAST_LOWER = 1e-12


@dataclass(frozen=True, eq=False)
class Decision:
    """Which class follows from probabilities."""

    costs: np.ndarray  # of predicting the column's class where the row's is true
    threshold: float | None = None  # probability from which the second of two follows

    def choose(self, probabilities: Any) -> Places:
        """Class numbers for rows of probabilities, (n_samples, n_classes)."""
        probabilities = np.asarray(probabilities, dtype=np.float64)
        if self.threshold is not None:
            return (probabilities[:, 1] >= self.threshold).astype(np.intp)
        return self._expected_costs(probabilities).argmin(axis=1)

    def _expected_costs(self, probabilities):
        """Expected cost of predicting each class, (n_samples, n_classes)."""
        # Not a matrix product: its last digits depend on the number of rows.
        return (probabilities[:, :, None] * self.costs).sum(axis=1)

    def scores(self, probabilities):
        """How much speaks for a class, by which rows can be ranked.

        Two classes: the log-odds of the second minus those from which it is predicted,
        so that it is predicted where the score is above 0; shape (n_samples,). More:
        the negative expected cost of each class; shape (n_samples, n_classes).
        """
        probabilities = np.asarray(probabilities, dtype=np.float64)
        if len(self.costs) != 2:
            return -self._expected_costs(probabilities)
        apart = _log_odds(probabilities[:, 1]) - _log_odds(self._cut)
        return _signed(apart, self.choose(probabilities) == 1)

    def choose_log_odds(self, log_odds):
        """Class numbers, of two classes, from the log-odds of the second."""
        cut = self.log_odds_cut
        is_second = log_odds >= cut if self.threshold is not None else log_odds > cut
        return is_second.astype(np.intp)

    def scores_of_log_odds(self, log_odds):
        """`scores` of two classes from the log-odds of the second."""
        is_second = self.choose_log_odds(log_odds) == 1
        return _signed(log_odds - self.log_odds_cut, is_second)

    @property
    def log_odds_cut(self):
        """The log-odds from which the second of two classes is predicted."""
        slack = 0.0 if self.threshold is None else ROUNDING
        return float(_log_odds(self._cut - slack))

    @property
    def _cut(self):
        """The probability from which the second of two classes is predicted."""
        if self.threshold is not None:
            return self.threshold
        return self.costs[0, 1] / (self.costs[0, 1] + self.costs[1, 0])

    @property
    def stated_costs(self):
        """The costs as tuples; None where a threshold decides or all are the same."""
        is_plain = np.array_equal(self.costs, 1.0 - np.eye(len(self.costs)))
        if is_plain or self.threshold is not None:
            return None
        return tuple(map(tuple, self.costs.tolist()))

    def emphasise(self, probabilities, sample_weight):
        """Probabilities and weights of rows as if costly classes were more frequent.

        Where a mistake in a class costs twice as much, its rows count twice; then the
        likeliest class is the one that costs least.
        """
        # How much a mistake in each class costs, on average one.
        cost = self.costs.sum(axis=1)
        if self.threshold is not None:
            cost = np.array([self.threshold, 1.0 - self.threshold])
        weighted = probabilities * (cost / cost.mean() if cost.any() else cost + 1.0)
        total = weighted.sum(axis=1)
        # Where no mistake can cost anything a row counts for nothing.
        free = total <= 0
        shares = np.where(free[:, None], probabilities, weighted)
        shares /= np.where(free, 1.0, total)[:, None]
        scale = round_significant(sample_weight.sum() / (sample_weight @ total))
        return shares, sample_weight * total * scale


def make_decision(labels, rates, class_weight=None, costs=None, threshold=None):
    """The decision that a user's settings describe; `rates` are for "balanced" weights.

    `class_weight` is the cost of any mistake in a class. `costs` are those of each
    mistake: a dict from (true class, predicted class), with 1 for others, or a matrix
    with a row for each true class.

    Examples
    --------
    >>> costs = {("bad", "good"): 5}
    >>> decision = make_decision(("bad", "good"), [0.3, 0.7], costs=costs)
    >>> decision.choose([[0.2, 0.8], [0.1, 0.9]]).tolist()
    [0, 1]
    """
    matrix = _cost_matrix(labels, costs) * _class_weights(labels, rates, class_weight)
    if threshold is None:
        return Decision(matrix)
    if len(labels) != 2:
        raise ValueError(
            f"threshold needs two classes; there are {len(labels)}. Use costs."
        )
    if not is_finite(threshold) or not 0 < threshold < 1:
        raise ValueError(
            f"threshold must be a number above 0 and below 1; got {shown(threshold)}."
        )
    for name, other in (("costs", costs), ("class_weight", class_weight)):
        if other is not None:
            raise ValueError(
                f"Give threshold or {name}, not both: each decides alone; got "
                f"threshold={threshold!r} and {name}={other!r}."
            )
    return Decision(matrix, float(threshold))


def threshold_of_second(threshold: float) -> float:
    """The threshold of the second class for one of the first, which wins ties.

    Examples
    --------
    >>> threshold_of_second(0.9) > 0.1, round(threshold_of_second(0.9), 9)
    (True, 0.1)
    """
    return min(1.0 - threshold + LEAST_LOWER, 1.0 - LEAST_LOWER)


def positive_threshold(threshold: float, positive_index: int | None) -> float:
    """The threshold of the positive class from that of the second, which is stored."""
    return threshold if positive_index == 1 else round(1.0 - threshold, 11)


def cost_matrix(rules: Any) -> Floats:
    """What each mistake costs by the costs of rules, or 1 if they have none."""
    if rules.costs is not None:
        return np.asarray(rules.costs, dtype=np.float64)
    return 1.0 - np.eye(rules.outcome.n_classes)


def threshold_costs(threshold):
    """The costs by which a threshold is right: one on average, as without it.

    Predicting the second class wrongly costs 2 t, and the first wrongly 2 (1 - t).
    """
    return np.array([[0.0, 2 * threshold], [2 * (1 - threshold), 0.0]])


def _signed(apart, is_second):
    """Scores above 0 where the second class is predicted, despite rounding."""
    smallest = np.finfo(np.float64).tiny
    return np.where(is_second, np.maximum(apart, smallest), np.minimum(apart, 0.0))


def _log_odds(probabilities):
    inside = np.clip(probabilities, EDGE, 1 - EDGE)
    return np.log(inside) - np.log1p(-inside)


def _class_weights(labels, rates, class_weight):
    """A column with the weight of each class."""
    weights = np.ones(len(labels))
    if class_weight is None:
        return weights[:, None]
    if isinstance(class_weight, str) and class_weight == "balanced":
        present = np.asarray(rates, dtype=np.float64) > 0
        weights[present] = 1.0 / (len(labels) * np.asarray(rates)[present])
    elif not isinstance(class_weight, dict):
        raise ValueError(
            "class_weight must be None, 'balanced' or a dict from class to weight; got "
            f"{shown(class_weight)}."
        )
    else:
        for label, weight in class_weight.items():
            weights[_place(labels, label, "class_weight")] = _amount(
                weight, f"class_weight of {label!r}"
            )
        if not weights.any():
            raise ValueError("class_weight must be above 0 for one class at least.")
    return weights[:, None]


def _cost_matrix(labels, costs):
    n_classes = len(labels)
    matrix = 1.0 - np.eye(n_classes)
    if costs is None:
        return matrix
    if isinstance(costs, dict):
        for pair, cost in costs.items():
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise ValueError(
                    "costs must have keys such as (true class, predicted class); got "
                    f"{pair!r}."
                )
            true, answered = (_place(labels, label, "costs") for label in pair)
            matrix[true, answered] = _amount(cost, f"costs of {pair!r}")
    else:
        given = _numbers(costs)
        if given.shape != matrix.shape:
            raise ValueError(
                f"costs must have a row and a column for each of the {n_classes} "
                f"classes; got the shape {given.shape}."
            )
        for cost in given.ravel().tolist():
            _amount(cost, "costs")
        matrix = given
    if np.diagonal(matrix).any():
        raise ValueError("costs must be 0 for right predictions.")
    if not matrix.any():
        raise ValueError("costs must be above 0 for one mistake at least.")
    return matrix


def _numbers(costs):
    try:
        return np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "costs must be a dict from (true class, predicted class) to a number, or a "
            f"matrix of numbers; got {shown(costs)}."
        ) from None


def _place(labels, label, name):
    if label not in labels:
        raise ValueError(
            f"{name} names the class {label!r}, which is not one of "
            f"{list(labels)[:5]!r}."
        )
    return labels.index(label)


def _amount(value: Any, name: str) -> float:
    if not is_finite(value) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{name} must be a finite number from 0; got {value!r}.")
    return float(value)
