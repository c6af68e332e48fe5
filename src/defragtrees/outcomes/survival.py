"""Survival: whether an event happened, and the time of it or of the last observation.

y has two columns, event and time. The cumulative hazard of the training rows turns a
time into an exposure (LeBlanc and Crowley, Biometrics 1992), so that rules predict
rates of events as those of counts do: hazard ratios against all rows.
"""

import contextlib
import dataclasses
import math
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy  # whose modules are imported on first use
from scipy.special import logsumexp

from defragtrees._utils import formatting as render
from defragtrees._utils import schema
from defragtrees._utils.types import Rows, Values
from defragtrees._utils.values import KEPT, all_rounded, round_significant, shown
from defragtrees.outcomes.base import column_words, n_columns
from defragtrees.outcomes.counts import (
    MEASURES,
    Counts,
    CountScores,
    CountSums,
    CountView,
    rate_interval,
)
from defragtrees.outcomes.intervals import QUANTILE
from defragtrees.outcomes.measures import Measure
from defragtrees.tables import check_weight

STEEPEST = 20.0  # log hazard ratio per unit of the logarithm of a predicted time
LARGEST = 50.0  # logarithm of a hazard ratio
MOST_STEPS = 500  # of the cumulative hazard
MOST_CURVE = 100  # steps of the curve of a rule
MOST_HORIZONS = 10
MOST_FOLLOWED = 200  # rows of which the time is kept, for measures of other rows
MOST_PAIRED = 10_000  # rows, of whose pairs Uno's concordance is a mean
SHARES = np.linspace(0.1, 0.9, 50)  # of rows, up to the times of a Brier score
MOST_TIMES = 6  # of the rows at risk, after 0
FAR = 0.5  # nats per event that another scale gains if a model is not the imitated one
TAIL = 0.025  # on either side of an interval
BLOCK = 512  # rows whose pairs are compared at once
TIED = 1e-8  # risks nearer than this are equal, as scikit-survival has it
NAMES = ("event", "time")
STACKED = {"add": lambda one, other: np.vstack([one, other])}  # of rows that are kept
METHODS = ("predict_survival_function", "predict_partial_hazard")  # of such models
SIGNED = {"survival:cox", "Cox"}  # objectives for which censored times are negative


def steps(event, time, weight, most):
    """Event times, the weight at risk and that of the events, in at most so many steps.

    Neighbouring steps are joined so that the estimated survival after them is the same.
    """
    times, place = np.unique(time, return_inverse=True)
    at_risk = np.cumsum(np.bincount(place, weight)[::-1])[::-1]
    events = np.bincount(place, weight * event, len(times))
    times, at_risk, events = (one[events > 0] for one in (times, at_risk, events))
    if len(times) <= most:
        return times, at_risk, events
    part = np.ceil(most * np.cumsum(events) / events.sum() - 1e-9)
    last = np.flatnonzero(np.append(np.diff(part) > 0, True))
    first = np.append(0, last[:-1] + 1)
    left = np.multiply.reduceat(1 - events / at_risk, first)
    events = np.add.reduceat(events, first)
    return times[last], events / (1 - left), events


def round_times(last):
    """Some round times up to the last one, from 0 on.

    Examples
    --------
    >>> round_times(2659.0).tolist()
    [0.0, 400.0, 800.0, 1200.0, 1600.0, 2000.0, 2400.0]
    """
    step = round_significant(last / MOST_TIMES, 1)
    return np.arange(0.0, last, step) if step else np.zeros(1)


_STEPS = schema.list_of(schema.number(0, 1e100), 1)
_NUMBER = schema.number(-1e100, 1e100)


@dataclass(frozen=True)
class Baseline(schema.Stored):
    """The cumulative hazard of all training rows, as its steps (Nelson and Aalen)."""

    times: Annotated[tuple[float, ...], _STEPS]
    hazard: Annotated[tuple[float, ...], _STEPS]
    # at which rules report survival
    horizons: Annotated[
        tuple[float, ...], schema.list_of(schema.number(0, 1e100)), "optional"
    ] = ()
    # of the model that was imitated: a HazardScale
    scale: Annotated[tuple[float, ...], schema.list_of(_NUMBER, 3, 3), "optional"] = ()
    # until when rows were observed, negative where they were censored then
    followed: Annotated[tuple[float, ...], schema.list_of(_NUMBER), "optional"] = ()

    def __post_init__(self):
        if len(self.scale) not in (0, 3):
            raise ValueError(
                f"baseline must have a scale of three numbers; got {len(self.scale)}."
            )
        if len(self.times) != len(self.hazard) or not (
            self.hazard[0] > 0
            and (np.diff(self.times) > 0).all()
            and (np.diff(self.hazard) >= 0).all()
        ):
            raise ValueError(
                "baseline must have a hazard above 0 for each time, both ascending."
            )

    @classmethod
    def of(cls, y, weight, horizons=()):
        """That of checked y, event and time, maybe in further columns."""
        event, time = y[:, 0], y[:, -1]
        times, at_risk, events = steps(event, time, weight, MOST_STEPS)
        hazard = all_rounded(np.cumsum(events / at_risk))
        signed = np.where(event > 0, time, -time)[np.lexsort((event, time))]
        some = np.linspace(0, len(time) - 1, min(len(time), MOST_FOLLOWED))
        return cls(
            *(tuple(times.tolist()), hazard, tuple(map(float, horizons))),
            followed=tuple(signed[np.rint(some).astype(int)].tolist()),
        )

    def at(self, times):
        """The cumulative hazard at these times."""
        place = np.searchsorted(self.times, times, side="right")
        return np.append(0.0, self.hazard)[place]

    def exposure(self, times):
        """The same, above 0: what rows were exposed to until then."""
        return np.maximum(self.at(times), self.hazard[0] / 2)

    @property
    def grid(self):
        """Times at which predicted survival is compared with what came."""
        return np.unique(np.quantile(np.abs(self.followed or self.times), SHARES))


@dataclass(frozen=True)
class HazardScale:
    """From the scores that a model of survival predicts to hazard ratios.

    Their logarithm is `level` plus `slope` times the score, or its logarithm.
    """

    is_log: bool
    slope: float
    level: float

    def ratios(self, scores):
        """Hazard ratios."""
        if self.is_log:
            scores = np.log(np.maximum(scores, 1e-300))
        return np.exp(np.clip(self.level + self.slope * scores, -LARGEST, LARGEST))

    @classmethod
    def of(cls, predicted, y, weight):
        """The scale on which predictions of rows are most likely, given y.

        A score is a hazard ratio, its logarithm or, if low ones have their events
        first, a time. The ratios add up to the events. Those that are worse than none,
        as risks of few rows can be on others, are shrunk.
        """
        events, exposure = weight * y[:, 0], weight * y[:, 1]

        def level(slope, values):
            return np.log(events.sum()) - logsumexp(slope * values, b=exposure)

        def cost(slope, values):
            return -(slope * (events @ values) + events.sum() * level(slope, values))

        scales = [(False, predicted)]
        if predicted.min() > 0:
            scales = [(True, np.log(predicted)), *scales]
        is_time = concordance(y[:, 0], y[:, -1], predicted, weight) < 0.5
        found = [(cost(1.0, values), is_log, 1.0) for is_log, values in scales]
        least, is_log, slope = min(found, key=lambda one: one[0])
        values = dict(scales)[is_log]
        if is_time or least > cost(0.0, values):
            is_log, values = scales[0]
            steepest = -STEEPEST / max(np.ptp(values), 1e-9)
            bounds = (steepest, 0.0) if is_time else (0.0, 1.0)
            best = scipy.optimize.minimize_scalar(cost, bounds=bounds, args=(values,))
            slope = round_significant(float(best.x), 6)
        return cls(is_log, slope, round_significant(level(slope, values), 6))


def checked_horizons(times, last):
    """Times at which survival is reported, in order."""
    try:
        found = sorted(np.atleast_1d(np.asarray(times, dtype=np.float64)).tolist())
    except (TypeError, ValueError):
        found = []
    if np.ndim(times) > 1 or isinstance(times, bool) or len(found) > MOST_HORIZONS:
        found = []
    if not (found and all(0 < time <= last for time in found)):
        raise ValueError(
            f"times must be up to {MOST_HORIZONS} numbers above 0 and up to "
            f"{last:g}, the last time in y; got {shown(times)}."
        )
    return tuple(found)


def structured(event, time):
    """The structured array of scikit-survival."""
    made = np.empty(len(time), dtype=[("event", bool), ("time", float)])
    made["event"], made["time"] = event, time
    return made


class StepFunction:
    """A right-continuous step function of time: `y` from `x` on, as of scikit-survival.

    Parameters
    ----------
    x, y : array of shape (n_steps,)
        Ascending times, and values from them on.
    start : float
        The value before the first time.

    Examples
    --------
    >>> survival = StepFunction([2.0, 5.0], [0.75, 0.5], 1.0)
    >>> survival(4.0), survival([1.0, 2.0, 9.0]).tolist()
    (0.75, [1.0, 0.75, 0.5])
    """

    def __init__(self, x: Any, y: Any, start: float = 0.0) -> None:
        self.x, self.y, self.start = np.asarray(x), np.asarray(y), start

    def __call__(self, x: Any) -> Any:
        place = np.searchsorted(self.x, x, side="right")
        values = np.append(self.start, self.y)[place]
        return float(values) if np.ndim(x) == 0 else values

    def __repr__(self) -> str:
        return f"StepFunction({len(self.x)} steps up to {self.x[-1]:g})"


def concordance(event, time, risk, weight):
    """Harrell's C: of two rows, how often the one with the higher risk is first.

    Pairs are those of an event and a row that was observed for longer; equal risks
    count half. NaN without a pair.

    Examples
    --------
    >>> event, time = np.array([1, 1, 0]), np.array([1.0, 2.0, 3.0])
    >>> float(concordance(event, time, np.array([3.0, 1.0, 1.0]), np.ones(3)))
    0.8333333333333334
    """
    # Later rows first; of those at one time the censored ones.
    order = np.lexsort((event, -time))
    event, time, weight = event[order] > 0, time[order], weight[order]
    risk = np.round(risk[order] / TIED) * TIED if risk.max() < 1e6 else risk[order]
    n_pairs = right = 0.0
    for start in range(0, len(time), BLOCK):
        some = slice(start, start + BLOCK)
        cases = event[some]
        own = [one[some][cases] for one in (time, risk, weight)]
        before = np.argsort(risk[:start], kind="stable")
        sums = np.append(0.0, np.cumsum(weight[before]))
        # Rows of earlier blocks at the same time that had the event are no pair.
        low = sums[np.searchsorted(risk[before], own[1], side="left")]
        same = sums[np.searchsorted(risk[before], own[1], side="right")] - low
        tied = (time[:start] == own[0][:, None]) & event[:start] if start else None
        parts = low + same / 2, np.full(len(low), sums[-1])
        if tied is not None and tied.any():
            rows, others = np.nonzero(tied)
            wins = np.heaviside(own[1][rows] - risk[others], 0.5)
            parts = (
                parts[0] - np.bincount(rows, wins * weight[others], len(low)),
                parts[1] - np.bincount(rows, weight[others], len(low)),
            )
        later = (time[some] > own[0][:, None]) | (
            (time[some] == own[0][:, None]) & ~cases
        )
        wins = np.heaviside(own[1][:, None] - risk[some], 0.5)
        right += own[2] @ (parts[0] + (later * wins) @ weight[some])
        n_pairs += own[2] @ (parts[1] + later @ weight[some])
    return right / n_pairs if n_pairs else math.nan


@dataclass(frozen=True, eq=False)
class SurvivalSums(CountSums):
    """Sums over the rows of each group, and the rows for its curve."""

    # of each row group, event, time and weight
    rows: np.ndarray | None = field(default=None, metadata=STACKED)

    @classmethod
    def of(cls, outcome, y, sample_weight, group, predictions):
        made = super().of(outcome, y, sample_weight, group, predictions)
        if y.ndim < 2:  # of the model's predictions
            return made
        rows = np.column_stack([group, y[:, 0], y[:, 2], sample_weight])
        return dataclasses.replace(made, rows=rows)

    def evidence(self, k):
        """Events, exposure and the curve of a group, as entries of a Rule."""
        found = super().evidence(k)
        if self.rows is None or found["totals"] is None:
            return found | {"curve": None}
        rows = self.rows
        _, event, time, weight = rows[rows[:, 0] == k].T
        # Beside the times of events round ones, of which the rows at risk are shown.
        marks = np.union1d(round_times(rows[:, 2].max()), time.max())
        marks = marks[marks <= time.max()]
        at_risk = [weight[time >= mark].sum() for mark in marks.tolist()]
        without = np.array([marks, at_risk, np.zeros(len(marks))])
        curve = np.column_stack([without, steps(event, time, weight, MOST_CURVE)])
        order = np.lexsort((curve[2], curve[0]))
        return found | {"curve": tuple(np.ravel(curve[:, order]).tolist())}


class Curve:
    """The estimated survival of the rows of a rule (Kaplan and Meier).

    `n_effective` is how many rows they are worth as evidence.
    """

    def __init__(self, curve, n_effective):
        self.times, self.at_risk, self.events = np.reshape(curve, (3, -1))
        left = self.at_risk - self.events
        self.survival = np.cumprod(left / self.at_risk)
        self.worth = n_effective / self.at_risk[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = self.events / (self.at_risk * left)
        self.variance = np.cumsum(apart) / self.worth  # of log survival (Greenwood)

    def at(self, times):
        """Survival at these times; from the last step on that of the step."""
        return self.survival[np.searchsorted(self.times, times, side="right") - 1]

    def interval(self, time):
        """Survival at a time and its 95% interval; None beyond the last observation.

        At time 0 it is 1, and where no row is left it stays 0.

        The interval is that of log(-log(survival)); without events, or without rows
        left, an exact one.
        """
        place = np.searchsorted(self.times, time, side="right") - 1
        value = float(self.survival[place])
        if time <= 0:
            return 1.0, 1.0, 1.0
        if time > self.times[-1] and value:
            return None
        if value in (0.0, 1.0):
            n_rows = self.worth * self.at_risk[place]
            end = TAIL ** (1 / max(n_rows, 1e-9))
            return (value, end, 1.0) if value else (value, 0.0, 1 - end)
        half = QUANTILE * math.sqrt(self.variance[place]) / abs(math.log(value))
        low, high = value ** math.exp(half), value ** math.exp(-half)
        return value, low, high

    @property
    def marks(self):
        """Times before the last one at which nothing happens but rows are counted."""
        return self.times[(self.events == 0) & (self.times < self.times[-1])]

    def n_at_risk(self, times):
        """The rows at risk at marks."""
        place = np.searchsorted(self.times, times)
        return np.append(self.at_risk, 0.0)[place]

    def median(self):
        """The time that half of the rows reach, and its interval; None if unknown."""
        ends = [self.interval(time) for time in self.times]
        found = []
        for column in range(3):
            below = [end[column] <= 0.5 for end in ends]
            found.append(float(self.times[below.index(True)]) if any(below) else None)
        return found


@dataclass(frozen=True)
class SurvivalScores(CountScores):
    """Predicted hazard ratios against y; scores can be added."""

    # of each row event, time, risk, weight and survival at `grid`
    rows: np.ndarray | None = field(default=None, metadata=STACKED)
    baseline: Baseline | None = field(default=None, metadata=KEPT)

    @classmethod
    def of(cls, outcome, y, weight, predicted, probabilities=None, costs=None):
        made, baseline = super().of(outcome, y, weight, predicted), outcome.baseline
        rows = [y[:, 0], y[:, 2], predicted, weight]
        if baseline is not None:
            if probabilities is None:  # of a hazard ratio alone
                hazard = np.outer(predicted, baseline.at(baseline.grid))
                probabilities = np.exp(-hazard)
            rows.append(probabilities)
        return dataclasses.replace(made, rows=np.column_stack(rows), baseline=baseline)

    def concordance(self):
        """Harrell's C."""
        return concordance(*self.rows[:, :4].T)

    @cached_property
    def by_censoring(self):
        """`weighted_by_censoring`, empty where it is not known.

        That is without scikit-survival, or for rows that are too many or too few, or
        have different weights.
        """
        weight = self.rows[:, 3]
        weight = weight[weight > 0]
        is_one = len(weight) and np.ptp(weight) <= 1e-9 * weight[0]
        is_right = self.baseline is not None and len(weight) <= MOST_PAIRED
        if is_one and is_right and find_spec("sksurv") is not None:
            with contextlib.suppress(ValueError, IndexError):
                return self.weighted_by_censoring()
        return {}

    def weighted_by_censoring(self):
        """Measures of scikit-survival, whose weights are chances to be observed.

        Uno's concordance, the integrated Brier score, and the AUC at the horizons.
        """
        rows = self.rows[self.rows[:, 3] > 0]
        baseline = self.baseline
        # Nobody is observed for longer than the rows whose censoring is known.
        last = np.max(np.abs(baseline.followed or rows[:, 1]))
        until, inside = np.minimum(rows[:, 1], last), rows[:, 1] < last
        new = structured(rows[:, 0] * inside, until)
        old = new
        if baseline.followed:
            old = structured(np.array(baseline.followed) > 0, np.abs(baseline.followed))
        kept = baseline.grid < min(last, until.max())
        grid, curves = baseline.grid[kept], rows[:, 4:][:, kept]
        times = [time for time in baseline.horizons if time < min(last, until.max())]
        measures = import_module("sksurv.metrics")
        given = old, new, rows[:, 2]
        found = {
            "uno": measures.concordance_index_ipcw(*given, tau=grid[-1])[0],
            "brier": measures.integrated_brier_score(old, new, curves, grid),
        }
        if times:
            every, found["auc"] = measures.cumulative_dynamic_auc(*given, times)
            found |= {f"auc {t:g}": a for t, a in zip(times, every, strict=True)}
        return {name: float(value) for name, value in found.items()}


C_INDEX = Measure(
    "concordance", "concordance", True, SurvivalScores.concordance, head="C"
)


def _of_scikit_survival(name, key, label, is_larger_better, head):
    def formula(scores):
        return scores.by_censoring.get(key, math.nan)

    return Measure(name, label, is_larger_better, formula, head=head, is_optional=True)


BY_CENSORING = (
    _of_scikit_survival("uno", "uno", "Uno's concordance", True, "Uno"),
    _of_scikit_survival("dynamic_auc", "auc", "AUC at the horizons", True, "AUC"),
    _of_scikit_survival(
        "integrated_brier", "brier", "integrated Brier score", False, "IBS"
    ),
)
DEVIANCE = dataclasses.replace(MEASURES[1], label="deviance")


class SurvivalView(CountView):
    """Texts about hazard ratios and survival."""

    prediction_title, distance = "HR", "deviance"
    mean_word = "mean hazard ratio"
    agreement_title = "deviance"
    legend = (
        "HR is the hazard ratio against all rows. Behind it: the median survival of "
        "the rows, and S(t), the share without an event until time t; below them their "
        "95% intervals."
    )
    target = "a hazard ratio against all rows"
    point_words = "hazard ratio", "ratios", "base", "hazard ratio"

    def counted(self, y, weight):
        return f"{render.count(weight @ y[:, 0])} events in {render.count(len(y))} rows"

    def note(self, rules):
        return self.legend if any(map(self.outcome.survival, rules)) else ""

    def estimate(self, rule):
        if rule.totals is None:
            return ""
        events = render.count(rule.totals[0])
        parts = [f"{events} events, hazard ratio's 95% interval {self.interval(rule)}"]
        for title, (value, ends) in self._lines(rule).items():
            name = f"{title} survival" if title == "median" else f"{title} ="
            parts.append(f"{name} {value}{ends and f' ({ends})'}")
        return ", ".join(parts)

    def estimate_columns(self, rules):
        lines = [self._lines(rule) for rule in rules]
        titles = {title: None for one in lines for title in one}
        columns = {title: [one.get(title, "") for one in lines] for title in titles}
        return columns | {"events": super().estimate_columns(rules)["events"]}

    def detail_columns(self, rules):
        return {"HR, 95% interval": [self.interval(rule) for rule in rules]}

    def _lines(self, rule):
        """By title, median and survival at the horizons; each above its interval."""
        known = self.outcome.survival(rule)
        if known is None:
            return {}
        value, low, high = known["median"]
        ends = "" if low is None else f"from {render.rounded(low)}"
        ends = ends if high is None else render.number_range(low, high)
        lines = {"median": ("not reached", ends)}
        if value is not None:
            lines["median"] = render.rounded(value), ends
        for time, found in known["survival"]:
            text = "not observed", ""
            if found is not None:
                digits = render.percent_digits(*found[1:])
                text = (
                    render.percent(found[0], digits),
                    render.percent_range(*found[1:]),
                )
            lines[survival_title(time)] = text
        return lines

    def cells(self, rule):
        cells = super().cells(rule)
        del cells["exposure"]
        for end in ("from", "to"):
            cells[f"HR {end}"] = cells.pop(f"rate {end}")
        known = self.outcome.survival(rule) or {}
        triples = [("median", known.get("median", (None,) * 3))]
        triples += [
            (survival_title(time), found or (None,) * 3)
            for time, found in known.get("survival", ())
        ]
        for title, (value, low, high) in triples:
            cells |= {title: value, f"{title} from": low, f"{title} to": high}
        return cells


def is_event(values):
    """Which numbers say whether an event happened."""
    return np.isin(values, (0, 1))


def survival_title(time):
    """What survival until a time is called."""
    return f"S({render.grouped(time)})"


@dataclass(frozen=True)
class Survival(Counts):
    """Whether an event happened, and until when a row was observed."""

    baseline: Baseline | None = None

    task: ClassVar[str] = "survival"
    estimator_suffix: ClassVar[str] = "Survival"
    columns: ClassVar[tuple[str, ...]] = NAMES
    sums: ClassVar[Any] = SurvivalSums
    scores: ClassVar[Any] = SurvivalScores
    all_measures: ClassVar[tuple[Measure, ...]] = (
        *(C_INDEX, *BY_CENSORING, MEASURES[0], DEVIANCE, MEASURES[-1]),
    )
    error_name: ClassVar[str] = "deviance"
    view_class: ClassVar[type[CountView]] = SurvivalView
    needs: ClassVar[Any] = (
        ("The event", "true or false, or 1 or 0", is_event),
        ("The time", "0 or more", lambda values: values >= 0),
    )

    @classmethod
    def recognises(cls, y, *models):
        """Columns named event and time, or the first true or false; or by the model."""
        is_model = any(hasattr(model, name) for model in models for name in METHODS)
        if is_model and n_columns(y) == 1 and y is not None:
            raise ValueError(
                "The model predicts survival, so y needs two columns, the event and "
                "the time; got one."
            )
        if n_columns(y) != 2:
            return False
        if is_model:
            return all(getattr(m, "task", cls.task) == cls.task for m in models)
        names = column_words(y)
        if tuple(sorted(names)) == NAMES:
            return True
        kinds = getattr(y, "dtypes", None)
        if kinds is None:
            kinds = [y.dtype[0]] if names and hasattr(y, "dtype") else [""]
        return str(next(iter(kinds))).lower().startswith("bool")

    # y as an array: event, exposure, time

    def read(self, y, n_rows=None):
        if column_words(y) == NAMES[::-1] and not isinstance(y, tuple):
            y = y[[*NAMES]]
        if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 3:
            return y
        return super().read(y, n_rows)

    def check(self, y):
        event, time = super().check(y).T
        baseline = self.baseline
        if baseline is None and event.any():
            rows = np.column_stack([event, time])
            baseline = Baseline.of(rows, np.ones(len(rows)))
        exposure = np.ones(len(time)) if baseline is None else baseline.exposure(time)
        return np.column_stack([event, exposure, time])

    def advice(self, y):
        is_swapped = not is_event(y[:, 0]).all() and bool(is_event(y[:, 1]).all())
        return f"y has the columns event and time.{' Are they swapped?' * is_swapped}"

    def check_training(self, y):
        if not y[:, 0].any():
            raise ValueError(
                "y has no events: all rows are censored, so no hazard can be "
                "estimated. Pass rows with events, and check that 1 is an event."
            )
        if not y[:, 2].any():
            raise ValueError(
                "All times in y are 0, so no hazard can be estimated. Pass the time "
                "until the event, or until a row was last observed."
            )

    def trained(self, y, weight=None, horizons=None):
        """The kind with the baseline of checked y, and times to report survival at."""
        weight = check_weight(weight, len(y))
        if not (weight @ y[:, 0]) > 0:
            raise ValueError(
                "sample_weight must be above 0 for some rows with an event."
            )
        if horizons is None:
            horizons = round_significant(float(np.median(y[:, 2])), 2)
        horizons = checked_horizons(horizons, y[:, 2].max())
        return Survival(Baseline.of(y, weight, horizons))

    def exposed(self, y):
        """Checked y with the exposure by this baseline."""
        exposure = self.baseline.exposure(y[:, 2])
        return np.column_stack([y[:, 0], exposure, y[:, 2]])

    def training_data(self, y, weight, model=None):
        """Rates for a model of numbers; of others event and time as they take them."""
        if model is None:
            return super().training_data(y[:, :2], weight)
        from sklearn.base import is_regressor

        event, _, time = y.T
        settings = model.get_params().values()
        if not SIGNED.isdisjoint(v for v in settings if isinstance(v, str)):
            return np.where(event > 0, time, -time), weight
        if is_regressor(model) and "sksurv" not in type(model).__module__:
            return super().training_data(y[:, :2], weight)
        return structured(event, time), weight

    def with_horizons(self, times):
        """The same with other times at which survival is reported."""
        last = np.max(np.abs(self.baseline.followed or self.baseline.times))
        horizons = checked_horizons(times, last)
        return Survival(dataclasses.replace(self.baseline, horizons=horizons))

    def with_scale(self, scale):
        """The same with the HazardScale of the model that rules imitate."""
        known = tuple(map(float, dataclasses.astuple(scale)))
        return Survival(dataclasses.replace(self.baseline, scale=known))

    def scale_of(self, predictions, y=None, weight=None):
        """As for other kinds; that of the imitated model where it is known and fits."""
        scale = self.baseline.scale if self.baseline else ()
        known = HazardScale(*scale) if scale else None
        if y is None or not y[:, 0].any():
            if known:
                return known.ratios
            raise ValueError(
                "The hazard ratios of a model follow from rows with events, as these "
                "rules do not have its scale. Please pass y of such rows."
            )
        weight = check_weight(weight, len(y))
        found = HazardScale.of(predictions, y, weight)
        own, other = (
            self.nats(y, weight, one.ratios(predictions)[:, None]) if one else math.inf
            for one in (found, known)
        )
        return (known if other - own <= FAR * (weight @ y[:, 0]) else found).ratios

    def note_of_model(self, predictions, y, weight):
        if self.baseline is None or not self.baseline.scale:
            return ""
        scale = HazardScale(*self.baseline.scale)
        what = "hazard ratios" if scale.is_log else "logarithms of hazard ratios"
        if scale.slope < 0:
            what = "times"
        return (
            f"The model's predictions are taken as {what}, on a scale that suits the "
            "events."
        )

    # What a rule reports

    def check_rule(self, rule, is_averaged=False):
        super().check_rule(rule, is_averaged)
        if rule.curve is None:
            return
        times, at_risk, events = np.array_split(np.array(rule.curve), 3)
        is_right = len(times) == len(events) and (np.diff(times) >= 0).all()
        if not (
            is_right and ((0 <= events) & (events <= at_risk) & (at_risk > 0)).all()
        ):
            raise ValueError(
                "curve must have ascending times, as many weights at risk, and as many "
                f"of events, up to these; got {shown(rule.curve)}."
            )

    def with_prediction(self, rule, prediction):
        made = super().with_prediction(rule, prediction)
        return dataclasses.replace(made, curve=None)

    def observed_interval(self, observed, variance, n_effective, weight):
        """Given their exposure, the events of rows are as of a Poisson distribution."""
        return observed, *rate_interval(observed * weight, weight)

    def check_exposure(self):
        raise ValueError("exposure is for rules of rates; these predict hazard ratios.")

    @property
    def horizons(self):
        """Times at which survival is reported."""
        return self.baseline.horizons if self.baseline else ()

    def curve(self, rule):
        """The Curve of the rows of a rule; None if there is none."""
        if rule.curve is None:
            return None
        known = rule.n_effective > 0
        return Curve(rule.curve, rule.n_effective if known else rule.n_rows)

    def survival(self, rule):
        """Median survival, and survival at the horizons; None if not counted."""
        curve = self.curve(rule)
        if curve is None:
            return None
        pairs = [(time, curve.interval(time)) for time in self.horizons]
        return {"median": curve.median(), "survival": pairs}

    def estimate(self, rule):
        return super().estimate(rule) | (self.survival(rule) or {})

    def further_outputs(self, form):
        """The number of the rule, and survival at the horizons."""
        names = [f"survival {render.number(time)}" for time in self.horizons]
        if not names:
            return {}
        if form.is_sum:
            return dict(
                zip(names, self.baseline.at(self.horizons).tolist(), strict=True)
            )
        own = [self._survival_of(rule, self.horizons).tolist() for rule in form]
        numbers = {"rule": [k for k, _ in enumerate(own, start=1)]}
        columns = dict(zip(names, map(list, zip(*own, strict=True)), strict=True))
        return (numbers if form.is_exclusive else {}) | columns

    def likely(self, form, matches):
        if self.baseline is None:
            return None
        return self.survival_at(form, matches, self.baseline.grid)

    def survival_at(self, form, matches, times):
        """Estimated survival of rows at these times, (n_samples, n_times).

        Of a rule it is its curve, of points that of all rows to the power of the hazard
        ratio.
        """
        if self.baseline is None:
            raise ValueError("These rules have no curves. Refit them on rows with y.")
        if form.is_sum:
            return np.exp(-form.predict(matches)[:, None] * self.baseline.at(times))
        own = np.array([self._survival_of(rule, times) for rule in form])
        return form.combined(matches, own)

    def _survival_of(self, rule, times):
        """The curve of a rule, beyond its last time by the hazard ratio."""
        curve, known = self.curve(rule), np.zeros(len(times))
        if curve is not None:
            known = np.minimum(times, curve.times[-1])
        hazard = self.baseline.at(times) - self.baseline.at(known)
        later = np.exp(-rule.prediction * hazard)
        return later if curve is None else curve.at(known) * later


def step_functions(
    rules: Any, X: Rows, return_array: bool = False, is_cumulative: bool = False
) -> Values:
    """A StepFunction of survival for each row, or of its cumulative hazard."""
    if rules.task != "survival":
        raise AttributeError(f"Rules for {rules.task} have no survival functions.")
    outcome, matches = rules.outcome, rules._covers(rules._encode(X))
    times = np.array(outcome.baseline.times) if outcome.baseline else ()
    values = outcome.survival_at(rules._form, matches, times)
    if is_cumulative:
        values = -np.log(np.maximum(values, 1e-300)) + 0.0
    if return_array:
        return values
    made = np.empty(len(values), dtype=object)
    start = 0.0 if is_cumulative else 1.0
    made[:] = [StepFunction(times, row, start) for row in values]
    return made
