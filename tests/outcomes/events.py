"""Events over exposure: a kind of y with two columns, in one module.

It exists for `test_events.py`, which fits, prints, saves, measures, checks and exports
rules for it. Rules predict the rate of events per unit of exposure.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import bdtr, bdtrc, chdtri, xlogy

from defragtrees import DefragRegressor
from defragtrees._utils import formatting as render
from defragtrees.outcomes.measures import Measure
from defragtrees.outcomes.regression import Numbers
from defragtrees.outcomes.tests import Change
from defragtrees.outcomes.text import NumberView

LEAST = 1e-9  # a predicted rate is not less
PRIOR_EVENTS = 4.0  # shrinkage towards the overall rate


def columns(y):
    """Events and exposure; a predicted rate stands for an exposure of one."""
    return y.T if np.ndim(y) == 2 else (np.asarray(y, float), np.ones(len(y)))


def deviances(y, predicted):
    events, exposure = columns(y)
    expected = np.maximum(predicted, LEAST) * exposure
    return 2 * (xlogy(events, events / expected) - events + expected)


def rate_interval(events, exposure):
    """The exact 95 % interval of a rate (Garwood)."""
    low = chdtri(2 * events, 0.975) / 2 if events else 0.0
    return low / exposure, chdtri(2 * events + 2, 0.025) / 2 / exposure


@dataclass(frozen=True, eq=False)
class EventSums:
    """Rows, events and exposure of each group, and a term of their deviance."""

    parts: np.ndarray  # (n_groups, 4)
    spread = 1.0  # as if rates were of the order of one

    @classmethod
    def of(cls, outcome, y, sample_weight, group, predictions):
        events, exposure = columns(y)
        terms = np.ones(len(y)), events, exposure, xlogy(events, events / exposure)
        n = len(predictions)
        sums = [np.bincount(group, sample_weight * term, n) for term in terms]
        return cls(np.column_stack(sums))

    @classmethod
    def of_group(cls, outcome, y, sample_weight):
        return cls.of(outcome, y, sample_weight, np.zeros(len(y), dtype=int), [None])

    def __add__(self, other):
        return EventSums(self.parts + other.parts)

    @property
    def weight(self):
        return self.parts[:, 0]

    def basis(self, k=None):
        _, events, exposure, _ = self.parts.sum(axis=0) if k is None else self.parts[k]
        return events / max(exposure, LEAST)

    @staticmethod
    def predicted(outcome, basis, spread):
        return {"prediction": float(f"{basis:.4g}")}

    def shrunk_mean(self, k, worth=1.0):
        _, events, exposure, _ = worth * self.parts[k]
        rate = max(self.basis(), LEAST)
        return (events + PRIOR_EVENTS) / (exposure + PRIOR_EVENTS / rate)

    @staticmethod
    def measured(target, labels):
        return target if labels is None else labels

    def evidence(self, k):
        return {"totals": tuple(self.parts[k, 1:3].tolist())}

    def error(self, k, outcome, answer):
        weight, events, exposure, logs = self.parts[k]
        if not weight:
            return {"error": math.nan}
        rate = max(answer, LEAST)
        nats = logs - events * math.log(rate) - events + rate * exposure
        return {"error": max(2 * nats / weight, 0.0)}


@dataclass(frozen=True)
class EventScores:
    """Sums of deviances, events and expected events."""

    weight: float
    deviance: float
    events: float
    expected: float
    has_probabilities = False

    @classmethod
    def of(cls, outcome, y, weight, predicted, probabilities=None, costs=None):
        events, exposure = columns(y)
        terms = np.ones(len(y)), deviances(y, predicted), events, predicted * exposure
        return cls(*(float(weight @ term) for term in terms))

    def __add__(self, other):
        names = "weight", "deviance", "events", "expected"
        return EventScores(*(getattr(self, n) + getattr(other, n) for n in names))


class EventView(NumberView):
    """Texts about rates."""

    interval_title = "95 % interval"
    agreement_title = "Poisson deviance"

    def prediction(self, value, digits=None):
        return f"{super().prediction(value, digits)} per year"

    def estimate(self, rule):
        if rule.totals is None:
            return ""
        events, years = map(render.rounded, rule.totals)
        return f"{events} events in {years} years, 95 % interval {self._interval(rule)}"

    def estimate_columns(self, rules):
        return {self.interval_title: [self._interval(rule) for rule in rules]}

    def _interval(self, rule):
        if rule.totals is None:
            return ""
        return render.number_range(*rate_interval(*rule.totals))


@dataclass(frozen=True)
class Events(Numbers):
    """The number of events, and the exposure in which they happened."""

    task: ClassVar[str] = "events"
    estimator_suffix: ClassVar[str] = "Counter"
    columns: ClassVar[tuple[str, ...]] = ("events", "exposure")
    sums: ClassVar[type] = EventSums
    scores: ClassVar[type] = EventScores
    all_measures: ClassVar[tuple[Measure, ...]] = (
        Measure(
            "deviance",
            "Poisson deviance",
            "mean Poisson deviance",
            False,
            lambda scores: scores.deviance / scores.weight,
        ),
        Measure(
            "balance",
            "expected events",
            "events that are expected for each that happened",
            True,
            lambda scores: scores.expected / scores.events,
        ),
    )
    error_name: ClassVar[str] = "Poisson deviance"
    keeps_residuals: ClassVar[bool] = False
    view_class: ClassVar[type[NumberView]] = EventView

    def check(self, y):
        y = np.asarray(y, dtype=np.float64)
        if not ((y[:, 0] >= 0) & (y[:, 1] > 0)).all():
            raise ValueError("Events must be from 0, and exposure above 0.")
        return y

    def indicators(self, y):
        events, exposure = columns(y)
        return (events / exposure)[:, None]

    def mean_weight(self, y, weight):
        return weight if y is None else weight * columns(y)[1]

    def search_target(self, outputs):
        return np.sqrt(outputs)  # on which the variance is even

    def moments(self, y, weight):
        return np.array([weight @ column for column in columns(y)])

    def losses(self, y, predicted):
        return deviances(y, predicted)

    def fidelity_of_loss(self, loss, moments):
        return 1 / (1 + loss)

    def nats(self, y, weight, reported):
        return float(weight @ deviances(y, reported[:, 0])) / 2

    def shown_error(self, error):
        return error

    def shown_deviation(self, error, deviation):
        return deviation

    def rate_change(self, rule, y, n_then):
        return None if rule.totals is None else self._change(rule.totals, y)

    def target_change(self, then, n_then, y):
        return self._change(then, y)

    def _change(self, then, y):
        """Whether the rates of two samples differ (conditional binomial test)."""
        (events, years), (n, exposure) = then, y.sum(axis=0)
        share = exposure / (exposure + years)
        total, n_now = round(events + n), round(n)
        high = bdtrc(n_now - 1, total, share) if n_now else 1.0
        p = min(1.0, 2 * min(high, bdtr(n_now, total, share)))
        return Change(events / years, n / exposure, p)


class DefragCounter(DefragRegressor):
    """The default method for rates of events."""

    _task = "events"
