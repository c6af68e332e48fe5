"""Counts: events in an exposure, such as claims in years insured, and their rates.

y has two columns, the number of events and the exposure in which they happened; rules
predict the rate of events per unit of exposure. Losses are Poisson deviances.
"""

import math
import re
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import bdtr, bdtrc, xlogy

from defragtrees._utils import formatting as render
from defragtrees._utils.values import Added, all_rounded, round_significant, shown
from defragtrees._utils.warnings import warn
from defragtrees.outcomes.base import Outcome, column_words, n_columns
from defragtrees.outcomes.intervals import garwood_interval
from defragtrees.outcomes.measures import (
    N_BANDS,
    Measure,
    RankedWeights,
    bands_of,
    per_row,
)
from defragtrees.outcomes.points import (
    LEAST_RATE,
    LINKS,
    PRIOR_ROWS,
    calibrated,
    fit_linked,
    whole_linked,
)
from defragtrees.outcomes.regression import Numbers, NumberSums
from defragtrees.outcomes.tests import Change
from defragtrees.outcomes.text import NumberView

PRIOR_EVENTS = 50.0  # with the dispersion of all rows, that each rule is given
SURE = 4.0  # standard errors by which numbers of events differ not only by chance
LEAST_FAR = 0.05  # the same as a share of them
MOST_NEGATIVE = 0.1  # share of predicted rates that may be below 0
LARGEST_POINTS = 700.0  # whose factor is a number
LOG_LINKED = re.compile("poisson|gamma|tweedie", re.IGNORECASE)
FACTOR_DIGITS = 3  # of a relativity; the base rate has one more


def has_log_link(model):
    """Whether a forest has one, or an object names a Poisson, gamma or Tweedie loss."""
    if getattr(model, "link", None) == "exp":
        return True
    settings = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    words = type(model).__name__, *(v for v in settings.values() if isinstance(v, str))
    if LOG_LINKED.search(" ".join(words)):
        return True
    inside = [step for _, step in getattr(model, "steps", ())[-1:]]
    inside += [getattr(model, name, None) for name in ("regressor_", "best_estimator_")]
    return any(has_log_link(one) for one in inside if one is not None)


def columns_of(y):
    """Events and exposure; a predicted rate stands for an exposure of one."""
    if np.ndim(y) == 2:
        return y.T[:2]
    return np.maximum(np.asarray(y, dtype=np.float64), 0.0), np.ones(len(y))


def deviances(y, rates):
    """The Poisson deviance of each row."""
    events, exposure = columns_of(y)
    expected = np.maximum(rates, LEAST_RATE) * exposure
    return 2 * (xlogy(events, events / expected) - events + expected)


def factor(points: float) -> float:
    """What points multiply a rate by; no infinite number."""
    return math.exp(min(points, LARGEST_POINTS))


def rate_interval(events, exposure, dispersion=1.0):
    """The 95% interval of a rate, wider by the dispersion.

    The dispersion is the variance of the number of events in units of the variance that
    a Poisson distribution has.

    Examples
    --------
    >>> [round(end, 4) for end in rate_interval(58, 1000.0, 2.0)]
    [0.0388, 0.0833]
    """
    return garwood_interval(events / exposure, exposure / dispersion)


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
class CountSums(Added):
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

    @property
    def weight(self):
        """The weight of each group."""
        return self.parts[:, 0]

    def basis(self, k=None):
        """The rate of a group, or of all rows."""
        _, events, exposure, *_ = self.parts.sum(axis=0) if k is None else self.parts[k]
        return events / max(exposure, LEAST_RATE)

    @staticmethod
    def predicted(outcome, basis, spread):
        """The prediction that follows from a rate, as entries of a Rule."""
        return {"prediction": round_significant(float(basis), 4)}

    measured = staticmethod(NumberSums.measured)

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
class CountScores(Added):
    """Predicted rates against y; scores can be added."""

    weight: float
    deviance: float  # a sum, as all others
    events: float
    exposure: float
    logs: float  # a term of the deviance
    ranked: RankedWeights  # exposure and events, by predicted rate
    expected: RankedWeights  # the events that are predicted, and those that happened

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
        sides = weight * exposure, weight * exposure * np.maximum(predicted, 0.0)
        ranked = [RankedWeights.of(place, side, weight * events) for side in sides]
        return cls(*(float(weight @ term) for term in terms), *ranked)

    def explained(self):
        """Share of the deviance around one rate that is explained."""
        if not self.events:
            return math.nan
        one_rate = self.logs - self.events * math.log(self.events / self.exposure)
        return 1 - self.deviance / (2 * one_rate) if one_rate > 0 else 0.0

    def gini(self):
        """Twice the area between the ordered Lorenz curve and the diagonal."""
        return 2 * self.ranked.auc() - 1

    def apart(self):
        """Share of the events by which tenths of the predicted ones miss what came."""
        expected, events = self.expected.weights.T
        if not self.events or not expected.sum():
            return math.nan
        band = bands_of(expected, N_BANDS)
        apart = np.bincount(band, events) - np.bincount(band, expected)
        return float(np.abs(apart).sum() / self.events)


MEASURES = (
    Measure("d2", "D²", True, CountScores.explained, head="D²"),
    Measure(
        "deviance", "Poisson deviance", False, per_row("deviance"), head="deviance"
    ),
    Measure("gini", "Gini index", True, CountScores.gini, head="Gini"),
    Measure("calibration", "calibration by decile", False, CountScores.apart),
)


@dataclass(frozen=True)
class RateMoments(Added):
    """Predicted rates of a model, for the fidelity of rules; they add up."""

    weight: float
    total: float
    logs: float

    @property
    def deviance(self):
        """Mean deviance of the rates around their mean."""
        mean = self.total / self.weight
        return max(2 * (self.logs / self.weight - float(xlogy(mean, mean))), 0.0)


class CountView(NumberView):
    """Texts about rates of events."""

    prediction_title = "rate"
    interval_title = "95% interval"
    agreement_title = "Poisson deviance"
    legend = (
        "Behind a rate, per unit of exposure: the events and the exposure of the rows, "
        "and the 95% interval of the rate."
    )

    distance, fidelity = "Poisson deviance", "D²"
    mean_word, unnamed = "mean rate", "events"
    target = "a rate per unit of exposure"
    point_words = "relativity", "relativities", "base rate", "rate"

    def estimate(self, rule):
        if rule.totals is None:
            return ""
        events, exposure, *_ = rule.totals
        return (
            f"{render.count(events)} events in an exposure of {render.count(exposure)},"
            f" 95% interval {self.interval(rule)}"
        )

    def counted(self, y, weight):
        """The events and the exposure of rows, as text."""
        events, exposure = (render.count(total) for total in weight @ y[:, :2])
        return f"{events} events in an exposure of {exposure}"

    def estimate_columns(self, rules):
        columns = {self.interval_title: [self.interval(rule) for rule in rules]}
        for k, name in enumerate(("events", "exposure")):
            totals = [rule.totals and render.count(rule.totals[k]) for rule in rules]
            columns[name] = [text or "" for text in totals]
        return columns

    def cells(self, rule):
        counted = (rule.totals or (None, None))[:2]
        ends = self.outcome.estimate(rule)["interval"] or (None, None)
        names = "events", "exposure", "rate from", "rate to", "model"
        return dict(zip(names, (*counted, *ends, rule.model_mean), strict=True))

    def differs_alone(self, rule):
        ends = self.outcome.estimate(rule)["interval"]
        if not self.alone(rule) or ends is None:
            return False
        return not ends[0] <= rule.alone <= ends[1]

    def basis(self, rule, probabilities, interval=None):
        if interval is not None:
            return f"95% interval {render.number_range(*interval)}"
        return super().basis(rule, probabilities)

    def how_to_read_measures(self, target):
        large = [m.label for m in self.outcome.measures() if m.is_larger_better]
        return (
            f"Larger is better for {', '.join(large)} and agreement, smaller for the "
            "deviance, a mean over rows."
        )

    # Points: logarithms of factors

    def points(self, points, unit=1.0):
        if unit != 1.0:
            return super().points(points, unit)
        return f"x {render.rounded(factor(points[0]))}"

    def point_cells(self, rule, unit):
        if unit != 1.0:
            return super().point_cells(rule, unit)
        product = factor(rule.points[0])
        sign = "x " if rule.conditions else ""
        digits = FACTOR_DIGITS + (not rule.conditions)
        return {self.point_words[0]: f"{sign}{render.rounded(product, digits)}"}

    def combination(self, unit, origin):
        if unit == 1.0:
            _, factors, base, product = self.point_words
            return (
                f"Multiply the {base} by the {factors} of all rules that match: the "
                f"product is the {product}."
            )
        return super().combination(unit, origin)

    def total(self, unit, origin):
        product = self.point_words[-1]
        return (
            f"a {product} of {render.rounded(factor(-origin * unit), 4)} at 0, and "
            f"each point multiplies the {product} by {render.rounded(factor(unit))}"
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
    keeps_rates: ClassVar[bool] = True
    view_class: ClassVar[type[NumberView]] = CountView
    # of each column its name, what it must be, and whether values are
    needs: ClassVar[Any] = (
        ("The number of events", "0 or more", lambda values: values >= 0),
        ("exposure", "above 0", lambda values: values > 0),
    )
    link = "log"
    n_moments = 5

    # y and predictions as arrays

    @classmethod
    def recognises(cls, y, *models):
        """Names in a file, a column called exposure, or a model with a log link."""
        if n_columns(y) != 2:
            return False
        names = column_words(y)
        is_named = "exposure" in map(str.lower, names)
        return isinstance(y, tuple) or is_named or any(map(has_log_link, models))

    def check(self, y):
        numbers = self.as_numbers(y)
        for values, (name, need, is_right) in zip(numbers.T, self.needs, strict=True):
            is_finite = np.isfinite(values)
            need = need if is_finite.all() else "a finite number"
            is_wrong = ~is_finite if not is_finite.all() else ~is_right(values)
            if is_wrong.any():
                raise ValueError(
                    f"{name} must be {need}; got {values[is_wrong][0]:g} in row "
                    f"{int(is_wrong.argmax()) + 1}. {self.advice(numbers)}"
                )
        return super().check(numbers)

    def advice(self, y):
        """What to do about rows that cannot be."""
        return (
            "Leave out such rows, or pass one column of y if it has no events and "
            "exposure."
        )

    def check_training(self, y):
        if not y[:, 0].any():
            raise ValueError(
                "y has no events, so no rate can be estimated. Pass the number of "
                "events of each row, some of them above 0."
            )
        rate = y[:, 0].sum() / y[:, 1].sum()
        if not LEAST_RATE < rate < 1 / LEAST_RATE:
            raise ValueError(
                f"The rate of y is {rate:g} events per unit of exposure; it must be "
                f"from {LEAST_RATE:g} to {1 / LEAST_RATE:g}. Use another unit."
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

    def training_data(self, y, weight, model=None):
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

    def note_of_model(self, predictions, y, weight):
        if y is None or np.ndim(predictions) > 1:  # rules fit y
            return ""
        events, exposure = columns_of(y)
        happened = max(weight @ events, LEAST_RATE)
        as_rates, as_counts = weight @ (predictions * exposure), weight @ predictions
        error = math.sqrt(weight**2 @ events) / happened
        far, near = (
            abs(math.log(max(total, LEAST_RATE) / happened))
            for total in (as_rates, as_counts)
        )
        is_far = bool(far > max(SURE * error, LEAST_FAR))
        if is_far and near < far / 2:
            warn(
                f"The model's predictions add up to {as_counts:,.0f} events, about as "
                f"many as happened ({happened:,.0f}), but times the exposure to "
                f"{as_rates:,.0f}: it seems to predict counts. Pass a model of the "
                "rate, fitted to events / exposure with sample_weight=exposure."
            )
        return (
            "The model's predictions are taken as rates: times the exposure they add "
            f"up to {as_rates:,.0f} events; {happened:,.0f} happened"
            f"{', to which the rules are scaled' * is_far}."
        )

    # Losses

    def losses(self, y, predicted):
        """For each row the Poisson deviance."""
        return deviances(y, predicted)

    def estimate_losses(self, observed, predicted):
        rates = np.maximum(predicted[:, 0], LEAST_RATE)
        return deviances(observed[:, 0], rates)

    def distances(self, y, predicted):
        return self.losses(y, predicted)

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

    shown_error, shown_deviation = Outcome.shown_error, Outcome.shown_deviation

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

    def check_rule(self, rule, is_averaged=False):
        super().check_rule(rule, is_averaged)
        own = rule.totals
        if own is not None and (
            len(own) not in (3, 4) or min(own) < 0 or 0 in own[1:3]
        ):
            raise ValueError(
                "totals must be events, exposure, dispersion and rate, none below 0; "
                f"got {shown(own)}."
            )

    def check_exposure(self):
        """Nothing: y has one."""

    def expected_counts(self, predictions, exposure):
        self.check_exposure()
        exposure = np.asarray(exposure, dtype=np.float64)
        is_right = (exposure > 0) & np.isfinite(exposure)
        if exposure.shape not in ((), predictions.shape) or not is_right.all():
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
            known = rule.n_effective > 0
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
        prior = np.append(np.full(matches.shape[1] - 1, PRIOR_ROWS), 0.0)
        return fit_linked(LINKS[self.link], matches, weight, sums, prior)[0]

    def scorecard(self, matches, weight, sums, points, bound=None):
        how = LINKS[self.link], matches, weight, sums[:, 0], points, PRIOR_ROWS
        return whole_linked(*how, near_percent, bound)

    def calibrated(self, card, matches, weight, sums, is_whole):
        how = LINKS[self.link], near_percent if is_whole else float
        card = calibrated(card, matches, weight, sums[:, 0], *how)
        return replace(card, origin=round(card.origin, 1)) if is_whole else card

    def rounded_points(self, points, spread):
        """Factors of three digits, and a base rate of four."""
        factors = np.exp(points[:, 0])
        digits = np.append(np.full(len(points) - 1, FACTOR_DIGITS), FACTOR_DIGITS + 1)
        pairs = zip(factors.tolist(), digits.tolist(), strict=True)
        return np.log([[round_significant(f, d)] for f, d in pairs]) + 0.0


def near_percent(unit):
    """A unit of points whose factor is a number of percent."""
    return math.log(max(round(math.exp(unit), 2), 1.01))


def _change(events, exposure, y, dispersion, dispersion_now):
    """Whether the rates of two samples differ (conditional binomial test).

    Events count less where they vary more than those of a Poisson distribution.
    """
    n, time = y[:, :2].sum(axis=0)
    then = events / dispersion, exposure / dispersion
    now = n / dispersion_now, time / dispersion_now
    share = now[1] / (now[1] + then[1])
    total, n_now = round(then[0] + now[0]), round(now[0])
    high = bdtrc(n_now - 1, total, share) if n_now else 1.0
    p = min(1.0, 2 * min(high, bdtr(n_now, total, share)))
    return Change(events / exposure, n / time, float(p))
