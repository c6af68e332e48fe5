"""Counts: events in an exposure, such as claims in years insured, and their rates.

y has two columns, the number of events and the exposure in which they happened; rules
predict the rate of events per unit of exposure. Losses are Poisson deviances.
"""

import math
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from scipy.special import bdtr, bdtrc, gammaincinv, xlogy

from defragtrees._utils import formatting as render
from defragtrees._utils.values import all_rounded, round_significant
from defragtrees._utils.warnings import warn
from defragtrees.outcomes.measures import Measure, RankedWeights
from defragtrees.outcomes.points import (
    LEAST_RATE,
    LINKS,
    PRIOR_ROWS,
    fit_linked,
    whole_linked,
)
from defragtrees.outcomes.regression import Numbers
from defragtrees.outcomes.tests import Change
from defragtrees.outcomes.text import NumberView

PRIOR_STEPS = 20  # in which the prior of points settles
PRIOR_EVENTS = 50.0  # with the dispersion of all rows, that each rule is given
LEVEL = 0.95
NEAR, FAR = 1.1, 1.3  # ratios of numbers of events that are, or are not, equal
MOST_NEGATIVE = 0.1  # share of predicted rates that may be below 0
FACTOR_DIGITS = 3  # of a relativity; the base rate has one more


def columns_of(y):
    """Events and exposure; a predicted rate stands for an exposure of one."""
    if np.ndim(y) == 2:
        return y.T
    return np.maximum(np.asarray(y, dtype=np.float64), 0.0), np.ones(len(y))


def deviances(y, rates):
    """The Poisson deviance of each row."""
    events, exposure = columns_of(y)
    expected = np.maximum(rates, LEAST_RATE) * exposure
    return 2 * (xlogy(events, events / expected) - events + expected)


def rate_interval(events, exposure, dispersion=1.0):
    """The 95 % interval of a rate: Garwood's exact one, wider by the dispersion.

    The dispersion is the variance of the number of events in units of the variance that
    a Poisson distribution has.

    Examples
    --------
    >>> [round(float(end), 4) for end in rate_interval(58, 1000.0)]
    [0.044, 0.075]
    >>> [round(float(end), 4) for end in rate_interval(58, 1000.0, 2.0)]
    [0.0388, 0.0833]
    """
    shape, scale = events / dispersion, dispersion / exposure
    low = gammaincinv(shape, (1 - LEVEL) / 2) * scale if events else 0.0
    return float(low), float(gammaincinv(shape + 1, (1 + LEVEL) / 2) * scale)


def dispersion_of(events, squares, products, exposures, prior=0.0, every=1.0):
    """Variance of numbers of events beside a Poisson distribution, at least 1.

    From sums of y and of its squares, products and squared exposures; `prior` events
    have the dispersion `every`.
    """
    _, total = events
    rate = events[0] / max(total, LEAST_RATE)
    apart = squares - 2 * rate * products + rate**2 * exposures
    return max((apart + prior * every) / max(events[0] + prior, LEAST_RATE), 1.0)


@dataclass(frozen=True, eq=False)
class CountSums:
    """Sums over the rows of each group: events, exposure, and what tells their spread.

    The columns are the weight of rows, events, exposure, a term of the deviance,
    squared events, events times exposure, squared exposure, and the number of rows.
    """

    parts: np.ndarray  # (n_groups, 8)

    spread: ClassVar[float] = 1.0  # rates are shown to digits of their own

    @classmethod
    def of(cls, outcome, y, sample_weight, group, predictions):
        """The sums of some rows."""
        events, exposure = columns_of(y)
        terms = (
            *(np.ones(len(y)), events, exposure, xlogy(events, events / exposure)),
            *(events**2, events * exposure, exposure**2),
        )
        n = len(predictions)
        sums = [np.bincount(group, sample_weight * term, n) for term in terms]
        return cls(np.column_stack([*sums, np.bincount(group, minlength=n)]))

    @classmethod
    def of_group(cls, outcome, y, sample_weight):
        """The sums of the rows of one group."""
        return cls.of(outcome, y, sample_weight, np.zeros(len(y), dtype=int), [None])

    def __add__(self, other):
        return CountSums(self.parts + other.parts)

    @property
    def weight(self):
        """Of each group."""
        return self.parts[:, 0]

    def basis(self, k=None):
        """The rate of a group, or of all rows."""
        _, events, exposure, *_ = self.parts.sum(axis=0) if k is None else self.parts[k]
        return events / max(exposure, LEAST_RATE)

    @staticmethod
    def predicted(outcome, basis, spread):
        """The prediction that follows from a rate, as entries of a Rule."""
        return {"prediction": round_significant(float(basis), 4)}

    @staticmethod
    def measured(target, labels):
        """The sums from which errors are computed: those of y if it is known."""
        return target if labels is None else labels

    @property
    def dispersion(self):
        """That of all rows, around the rates of their groups."""
        apart, total = 0.0, self.parts[:, 1].sum()
        for _, events, exposure, _, squares, products, exposures, _ in self.parts:
            rate = events / max(exposure, LEAST_RATE)
            apart += squares - 2 * rate * products + rate**2 * exposures
        return max(apart / total, 1.0) if total else 1.0

    def shrunk_mean(self, k, worth, model):
        """Rate of a group, shrunk towards what the model predicts for it.

        It errs least if rates of groups differ from the model's by as much more than by
        chance as they do (Buehlmann and Straub). The model's sums of rates are scaled
        to the events of all rows.
        """
        _, events, exposure, *_ = self.parts.T
        every, total = self.basis(), exposure.sum()
        if not exposure[k] or not every or not model.sum() > 0:
            return every
        exposed = np.maximum(exposure, LEAST_RATE)
        rates, prior = events / exposed, model * (events.sum() / model.sum()) / exposed
        prior = np.where(prior > 0, prior, every)
        noise = self.dispersion * every
        by_chance = noise * ((exposure > 0).sum() - 1) / worth
        between = (exposure @ (rates - prior) ** 2 - by_chance) / total
        if between <= 0:
            return prior[k]
        share = worth * exposure[k] / (worth * exposure[k] + noise / between)
        return prior[k] + share * (rates[k] - prior[k])

    def evidence(self, k):
        """Events, exposure and dispersion of a group, as entries of a Rule.

        The dispersion includes the weights of rows, so that `n_rows` of these would be
        as much evidence.
        """
        weight, events, exposure, _, *squares, n_rows = self.parts[k]
        if not n_rows:
            return {"totals": None}
        every = self.dispersion
        found = dispersion_of((events, exposure), *squares, PRIOR_EVENTS, every)
        return {"totals": (events, exposure, found * weight / n_rows)}

    def error(self, k, outcome, answer):
        """The mean deviance of a group, as entries of a Rule."""
        weight, events, exposure, logs, *_ = self.parts[k]
        if not weight:
            return {"error": math.nan}
        rate = max(answer, LEAST_RATE)
        nats = logs - events * math.log(rate) - events + rate * exposure
        return {"error": max(2 * nats / weight, 0.0)}


@dataclass(frozen=True)
class CountScores:
    """Predicted rates against y; scores can be added."""

    weight: float
    deviance: float  # a sum, as all others
    events: float
    exposure: float
    logs: float  # a term of the deviance
    ranked: RankedWeights  # exposure and events, by predicted rate

    has_probabilities: ClassVar[bool] = False

    @classmethod
    def of(cls, outcome, y, weight, predicted, probabilities=None, costs=None):
        """The scores of some rows; rates have neither probabilities nor costs."""
        events, exposure = columns_of(y)
        terms = (
            *(np.ones(len(y)), deviances(y, predicted), events, exposure),
            xlogy(events, events / exposure),
        )
        # Rates as numbers below 1, in their order.
        place = np.maximum(predicted, 0.0) / (1 + np.maximum(predicted, 0.0))
        ranked = RankedWeights.of(place, weight * exposure, weight * events)
        return cls(*(float(weight @ term) for term in terms), ranked)

    def __add__(self, other):
        names = [one.name for one in fields(self)]
        return CountScores(*(getattr(self, n) + getattr(other, n) for n in names))

    def explained(self):
        """Share of the deviance around one rate that is explained."""
        if not self.events:
            return math.nan
        one_rate = self.logs - self.events * math.log(self.events / self.exposure)
        return 1 - self.deviance / (2 * one_rate) if one_rate > 0 else 0.0

    def gini(self):
        """Twice the area between the ordered Lorenz curve and the diagonal."""
        return 2 * self.ranked.auc() - 1


MEASURES = (
    Measure(
        "d2",
        "D²",
        "share of the Poisson deviance around one rate that is explained",
        True,
        CountScores.explained,
        head="D²",
    ),
    Measure(
        "deviance",
        "Poisson deviance",
        "mean Poisson deviance per row",
        False,
        lambda scores: scores.deviance / scores.weight,
        head="deviance",
    ),
    Measure(
        "gini",
        "Gini index",
        "of the Lorenz curve: events against exposure, in order of the predicted rate",
        True,
        CountScores.gini,
        head="Gini",
    ),
)


@dataclass(frozen=True)
class RateMoments:
    """Predicted rates of a model, for the fidelity of rules; they add up."""

    weight: float
    total: float
    logs: float

    def __add__(self, other):
        names = [one.name for one in fields(self)]
        return RateMoments(*(getattr(self, n) + getattr(other, n) for n in names))

    @property
    def deviance(self):
        """Mean deviance of the rates around their mean."""
        mean = self.total / self.weight
        return max(2 * (self.logs / self.weight - float(xlogy(mean, mean))), 0.0)


class CountView(NumberView):
    """Texts about rates of events."""

    prediction_title = "rate"
    interval_title = "95 % interval"
    agreement_title = "Poisson deviance"
    legend = (
        "Behind a rate, per unit of exposure: the events and the exposure of the rows, "
        "and the 95 % interval of the rate."
    )

    distance = "Poisson deviance"

    @property
    def target(self):
        return "a rate per unit of exposure"

    def distance_text(self, rules, measured, half, model, guess, what):
        model = model and f", that of the model {model}"
        return (
            f"Their mean Poisson deviance per unit of exposure is {rules} {measured}"
            f"{model}; one rate for every row has {guess}."
        )

    def estimate(self, rule):
        if rule.totals is None:
            return ""
        events, exposure, *_ = rule.totals
        return (
            f"{render.count(events)} events in an exposure of {render.count(exposure)},"
            f" 95 % interval {self._interval(rule)}"
        )

    def estimate_columns(self, rules):
        counted = [rule.totals or (math.nan, math.nan) for rule in rules]
        texts = [
            ["" if value != value else render.count(value) for value in column]
            for column in list(zip(*counted, strict=False))[:2]
        ]
        intervals = [self._interval(rule) for rule in rules]
        return dict(
            zip(
                (self.interval_title, "events", "exposure"),
                (intervals, *texts),
                strict=True,
            )
        )

    def cells(self, rule):
        events, exposure, *_ = rule.totals or (None,) * 2
        low, high = self.outcome.estimate(rule)["interval"] or (None, None)
        return {
            "events": events,
            "exposure": exposure,
            "rate from": low,
            "rate to": high,
            "model": rule.model_mean,
        }

    def differs_alone(self, rule):
        ends = self.outcome.estimate(rule)["interval"]
        if not self.alone(rule) or ends is None:
            return False
        return not ends[0] <= rule.alone <= ends[1]

    def _interval(self, rule):
        ends = self.outcome.estimate(rule)["interval"]
        return "" if ends is None else render.number_range(*ends)

    # Points: logarithms of factors

    def points(self, points, unit=1.0):
        if unit != 1.0:
            return super().points(points, unit)
        return f"x {render.rounded(math.exp(points[0]))}"

    def point_cells(self, rule, unit):
        if unit != 1.0:
            return super().point_cells(rule, unit)
        factor = math.exp(rule.points[0])
        sign = "x " if rule.conditions else ""
        digits = FACTOR_DIGITS + (not rule.conditions)
        return {"relativity": f"{sign}{render.rounded(factor, digits)}"}

    def combination(self, unit, origin):
        if unit == 1.0:
            return (
                "Multiply the base rate by the relativities of all rules that match: "
                "the product is the rate."
            )
        return super().combination(unit, origin)

    def total(self, unit, origin):
        if unit == 1.0:
            return "the logarithm of the rate"
        return (
            f"a rate of {render.rounded(math.exp(-origin * unit), 4)} at 0, and each "
            f"point multiplies the rate by {render.rounded(math.exp(unit))}"
        )


@dataclass(frozen=True)
class Counts(Numbers):
    """The number of events, and the exposure in which they happened."""

    task: ClassVar[str] = "counts"
    models: ClassVar[tuple[str, ...]] = ("regression",)
    estimator_suffix: ClassVar[str] = "Counter"
    columns: ClassVar[tuple[str, ...]] = ("events", "exposure")
    sums: ClassVar[Any] = CountSums
    scores: ClassVar[Any] = CountScores
    all_measures: ClassVar[tuple[Measure, ...]] = MEASURES
    error_name: ClassVar[str] = "Poisson deviance"
    keeps_residuals: ClassVar[bool] = False
    view_class: ClassVar[type[NumberView]] = CountView
    points_count_worth: ClassVar[bool] = True
    link = "log"
    n_moments = 5

    # y and predictions as arrays

    def check(self, y):
        y = super().check(y)
        for values, name, is_wrong, least in (
            (y[:, 0], "The number of events", y[:, 0] < 0, "0 or more"),
            (y[:, 1], "exposure", y[:, 1] <= 0, "above 0"),
        ):
            if is_wrong.any():
                raise ValueError(
                    f"{name} must be {least}; got {values[is_wrong][0]:g} in row "
                    f"{int(is_wrong.argmax()) + 1}. Leave out such rows, or pass one "
                    "column of y if it has no events and exposure."
                )
        return y

    def check_training(self, y):
        if not y[:, 0].any():
            raise ValueError(
                "y has no events, so no rate can be estimated. Pass the number of "
                "events of each row, some of them above 0."
            )

    def indicators(self, y):
        events, exposure = columns_of(y)
        return (events / exposure)[:, None]

    def corrected(self, outputs, change):
        return np.maximum(outputs + change, LEAST_RATE)

    def mean_weight(self, y, weight):
        return weight if y is None else weight * columns_of(y)[1]

    def search_target(self, outputs):
        """Square roots of rates, whose noise is even."""
        return np.sqrt(outputs)

    def moments(self, y, weight):
        events, exposure = columns_of(y)
        terms = events, exposure, events**2, events * exposure, exposure**2
        return np.array([weight @ term for term in terms])

    def training_data(self, y, weight):
        """Rates, weighted by their exposure."""
        events, exposure = columns_of(y)
        return events / exposure, exposure if weight is None else weight * exposure

    # Models

    def check_predictions(self, predictions):
        super().check_predictions(predictions)
        share = np.mean(np.asarray(predictions) < 0)
        if share > MOST_NEGATIVE:
            raise ValueError(
                "The model must predict rates, which are not negative; "
                f"{render.percent(share)} of its predictions are. Does it predict "
                "logarithms? Pass a function that returns rates, or one column of y "
                "if it has no events and exposure."
            )

    def warn_of_model(self, predictions, y, weight):
        if y is None or np.ndim(predictions) > 1:  # rules fit y
            return
        events, exposure = columns_of(y)
        happened = weight @ events
        as_rates, as_counts = weight @ (predictions * exposure), weight @ predictions
        is_far = not happened / FAR < as_rates < happened * FAR
        if is_far and happened / NEAR < as_counts < happened * NEAR:
            warn(
                f"The model's predictions add up to {as_counts:,.0f} events, as many "
                f"as happened ({happened:,.0f}), but times the exposure to "
                f"{as_rates:,.0f}: it seems to predict counts. Pass a model of the "
                "rate, fitted to events / exposure with sample_weight=exposure."
            )

    # Losses

    def losses(self, y, predicted):
        """For each row the Poisson deviance."""
        return deviances(y, predicted)

    def estimate_losses(self, observed, predicted):
        rates = np.maximum(predicted[:, 0], LEAST_RATE)
        return deviances(observed[:, 0], rates)

    def distances(self, y, predicted):
        return self.estimate_losses(y[:, None], predicted[:, None])

    def prediction_moments(self, predictions, weight):
        rates = np.maximum(np.asarray(predictions, dtype=np.float64), 0.0)
        sums = np.ones(len(rates)), rates, xlogy(rates, rates)
        return RateMoments(*(float(weight @ one) for one in sums))

    def fidelity_of_loss(self, loss, moments):
        """Share of the deviance of the model's rates that rules explain."""
        if not moments.weight or moments.deviance <= 1e-12 * moments.total:
            return 1.0 if loss <= 1e-12 else 0.0
        return 1 - loss / moments.deviance

    def constant_loss(self, y, weight):
        """A function of rows: their deviance if all get one rate."""
        events, exposure = columns_of(y)

        def loss(rows):
            n, time = weight[rows] @ events[rows], weight[rows] @ exposure[rows]
            return float(weight[rows] @ deviances(y[rows], n / time))

        return loss

    def nats(self, y, weight, reported):
        return float(weight @ deviances(y, reported[:, 0])) / 2

    def shown_error(self, error):
        return error

    def shown_deviation(self, error, deviation):
        return deviation

    def rate_change(self, rule, y, n_then):
        if rule.totals is None or not n_then > 0:
            return None
        events, exposure, dispersion, *_ = rule.totals
        worth = n_then / rule.n_rows
        return _change(events, exposure, y, dispersion / worth, dispersion)

    def target_change(self, then, n_then, y):
        events, exposure, *squares = then
        dispersion = dispersion_of((events, exposure), *squares)
        return _change(events, exposure, y, dispersion, dispersion)

    # What a rule predicts and reports

    def expected_counts(self, predictions, exposure):
        exposure = np.asarray(exposure, dtype=np.float64)
        if exposure.shape not in ((), predictions.shape) or not (exposure > 0).all():
            raise ValueError(
                "exposure must be a number above 0 for each of the "
                f"{len(predictions)} rows."
            )
        return predictions * exposure

    def estimated_prediction(self, sums, k, decision, worth=1.0):
        """A rate shrunk towards the model's; it is kept beside the events."""
        if sums.labels is None or sums.patterns is not None:
            return super().estimated_prediction(sums, k, decision, worth)
        rate = sums.labels.shrunk_mean(k, worth, sums.model[:, 0])
        entry = sums.labels.predicted(self, rate, sums.labels.spread)
        totals = sums.labels.evidence(k)["totals"]
        if totals is not None:
            entry["totals"] = all_rounded((*totals, entry["prediction"]))
        return entry

    def estimate(self, rule):
        """Events, exposure and the interval of the rate, around its estimate."""
        found = super().estimate(rule)
        events, exposure, dispersion, *rest = rule.totals or (math.nan,) * 3
        interval = None
        if rule.totals is not None and rule.n_rows > 0:
            known = rule.n_effective == rule.n_effective
            worth = rule.n_effective / rule.n_rows if known else 1.0
            expected = rest[0] * exposure if rest else events
            interval = list(rate_interval(expected, exposure, dispersion / worth))
        return found | {
            "interval": interval,
            "rate": events / exposure,
            "events": events,
            "exposure": exposure,
        }

    def observed_interval(self, observed, variance, n_effective, weight):
        if not observed > 0:
            return observed, *rate_interval(0.0, weight)
        dispersion = max(variance / n_effective * weight / observed, 1.0)
        return observed, *rate_interval(observed * weight, weight, dispersion)

    # Points: logarithms of factors, whose sum is that of a rate

    def linked(self, values):
        return LINKS[self.link].mean(values)

    def fit_points(self, matches, weight, sums):
        """Points whose prior is as wide as they are (maximum marginal likelihood)."""
        link, n, points = LINKS[self.link], matches.shape[1] - 1, None
        prior = np.append(np.full(n, PRIOR_ROWS), 0.0)
        for _ in range(PRIOR_STEPS if n else 1):
            points, _ = fit_linked(link, matches, weight, sums, prior, points)
            expected = weight * link.mean(matches @ points)[:, 0]
            matrix = (matches * expected[:, None]).T @ matches + np.diag(prior)
            apart = np.linalg.pinv(matrix).diagonal()[:-1].sum()
            wide = ((points[:-1] ** 2).sum() + apart) / max(n, 1)
            prior[:-1] = max(1 / max(wide, LEAST_RATE), PRIOR_ROWS)
        return points

    def scorecard(self, matches, weight, sums, points, bound=None):
        def factor(unit):
            """A unit whose factor is a number of percent."""
            return math.log(max(round(math.exp(unit), 2), 1.01))

        how = LINKS[self.link], matches, weight, sums[:, 0], points, PRIOR_ROWS
        return whole_linked(*how, factor, bound)

    def rounded_points(self, points, spread):
        """Factors of three digits, and a base rate of four."""
        factors = np.exp(points[:, 0])
        digits = np.append(np.full(len(points) - 1, FACTOR_DIGITS), FACTOR_DIGITS + 1)
        pairs = zip(factors.tolist(), digits.tolist(), strict=True)
        return np.log([[round_significant(f, d)] for f, d in pairs]) + 0.0


def _change(events, exposure, y, dispersion, dispersion_now):
    """Whether the rates of two samples differ (conditional binomial test).

    Events count less where they vary more than those of a Poisson distribution.
    """
    n, time = y.sum(axis=0)
    then = events / dispersion, exposure / dispersion
    now = n / dispersion_now, time / dispersion_now
    share = now[1] / (now[1] + then[1])
    total, n_now = round(then[0] + now[0]), round(now[0])
    high = bdtrc(n_now - 1, total, share) if n_now else 1.0
    p = min(1.0, 2 * min(high, bdtr(n_now, total, share)))
    return Change(events / exposure, n / time, float(p))
