"""Facts that a verdict on rules is written from: how good, beside what, how sure."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # whose modules are imported on first use

from defragtrees.data.statistics import decided_alike
from defragtrees.outcomes.decision import cost_matrix
from defragtrees.outcomes.intervals import QUANTILE

RARE_CLASS = 0.05  # share of rows below which accuracy says little about a class
FEWEST = 5  # minimum number of rows to say that an estimate does not hold


@dataclass(frozen=True)
class Figure:
    """A share of rows, or a mean over rows, with its 95 % interval."""

    value: float  # by weight
    low: float
    high: float
    n_rows: int  # number of rows that it is of
    n_part: int | None = None  # number of these that a share counts


@dataclass(frozen=True)
class Part:
    """The rows of a rule or of a band of totals: estimate and observation."""

    number: int | None  # of the rule, from 1; None for a band of totals
    totals: tuple[float, float] | None
    label: Any  # class of the estimate; None for numbers
    estimate: float  # probability of that class, or predicted number
    # As reported: of a rate at 95 %, of a number its 10 % and 90 % quantiles.
    interval: tuple[float, float] | None
    n_rows: int  # number of rows here
    observed: Figure | None  # rate of that class, or mean of y, here


@dataclass(frozen=True)
class Shorter:
    """The best shorter list of the path, if it is about as good on these rows."""

    n_rules: int
    loss: float  # share wrong, mean distance or mean cost per row
    own_loss: float  # of the rules of the report
    is_better: bool  # by more than one standard error


@dataclass(frozen=True)
class Facts:
    """What a verdict can say of rules, measured on the rows of the report."""

    # By what the rules are judged: "accuracy" or, of two classes of which one matters,
    # "found"; "cost", "distance" or, without y, "agreement".
    measure: str
    # Accuracy, mean cost or mean distance; None without y.
    rules: Figure | None = None
    guess: Figure | None = None  # of always predicting `guess_label`
    guess_label: Any = None  # the best constant prediction
    model: Figure | None = None  # None without a model
    # Whether the difference from the guess is within its 95 % interval, or worse.
    is_no_better: bool = False
    half_within: float | None = None  # median distance of numbers from y
    # The class that matters: the rare one of two, else the positive one.
    focus: Any = None
    is_rare: bool = False  # of two classes one is below 5 %, so accuracy says little
    found: Figure | None = None  # share of the rows of that class predicted so
    right_when_said: Figure | None = None  # share of its predictions that are right
    shorter: Shorter | None = None
    highest: Part | None = None
    lowest: Part | None = None
    outside: tuple[Part, ...] = ()  # rules whose estimates do not hold here


def measure_facts(summary):
    """The Facts of a Summary."""
    rows, outcome = summary.rows, summary.outcome
    parts = [part for part in _parts(summary) if part.n_rows]
    found: dict[str, Any] = {}
    if len(parts) > 1:
        highest, lowest = (
            choose(parts, key=lambda part: part.estimate) for choose in (max, min)
        )
        found = {"highest": highest, "lowest": lowest}
    if rows.y is None:
        return Facts("agreement", **found)
    costs, is_rare = None, False
    # Where a class of y has no costs, the rules are judged without them.
    has_costs = summary.rules.costs is not None
    if has_costs and outcome.is_known(outcome.encode_any(rows.y)).all():
        costs = np.asarray(cost_matrix(summary.rules))
    found |= _performance(summary, costs)
    if outcome.is_binary:
        rare = int(np.argmin(summary.baseline.rates))
        is_rare = summary.baseline.rates[rare] < RARE_CLASS
        focus = outcome.labels[rare] if is_rare else outcome.positive_class
        is_it, said = rows.y == focus, rows.predicted == focus
        found |= {"focus": focus, "is_rare": is_rare}
        found["found"] = figure(rows, said, is_it)
        found["right_when_said"] = figure(rows, is_it, said)
    measure = "accuracy"
    if not outcome.error_is_share:
        measure = "distance"
        found["half_within"] = float(np.median(_losses(summary, rows.predicted, None)))
    elif costs is not None:
        measure = "cost"
    elif outcome.is_binary and (summary.rules._form.has_costs or is_rare):
        measure = "found"
    found["shorter"] = None if measure == "found" else _shorter(summary, costs)
    found["outside"] = tuple(p for p in parts if _is_outside(summary, p))
    return Facts(measure, **found)


def figure(rows, values, mask=None):
    """The Figure of a share (of flags) or a mean (of numbers); None without rows."""
    mask = np.ones(len(rows), dtype=bool) if mask is None else mask
    values = np.asarray(values)
    found = rows.interval(values, mask)
    n_part = int(values[mask].sum()) if values.dtype == bool else None
    return None if math.isnan(found[0]) else Figure(*found, int(mask.sum()), n_part)


def _losses(summary, predicted, costs):
    """Cost, distance or (0 or 1) error of each row."""
    y, outcome = summary.rows.y, summary.outcome
    if costs is not None:
        return costs[outcome.encode_any(y), outcome.encode_any(predicted)]
    if outcome.error_is_share:
        return np.asarray(predicted != y, dtype=np.float64)
    return outcome.distances(y, predicted)


def _performance(summary, costs):
    """Figures of rules, model and guess, against y."""
    rows, outcome, guess = summary.rows, summary.outcome, summary.baseline.guess
    if costs is not None:
        by_class = rows.weight @ costs[outcome.encode_any(rows.y)]
        guess = outcome.labels[int(by_class.argmin())]
    predicted = {"rules": rows.predicted, "guess": np.full(len(rows), guess)}
    model = rows.model_predictions
    if model is not None and outcome.labels is not None:
        codes = outcome.encode_any(model)
        model = outcome.decode(decided_alike(summary.rules, codes, rows.probabilities))
    predicted |= {} if model is None else {"model": model}
    losses = {who: _losses(summary, p, costs) for who, p in predicted.items()}
    apart, error = _paired(losses["guess"], losses["rules"], rows.weight)
    is_share = costs is None and outcome.error_is_share
    return {
        **{
            who: figure(rows, values == 0 if is_share else values)
            for who, values in losses.items()
        },
        "guess_label": guess,
        "is_no_better": apart <= QUANTILE * error,
    }


def _paired(one, other, weight):
    """Mean difference of losses of the same rows, and its standard error."""
    apart = one - other
    mean = float(np.average(apart, weights=weight))
    variance = float(np.average((apart - mean) ** 2, weights=weight))
    n_effective = weight.sum() ** 2 / (weight**2).sum()
    return mean, math.sqrt(variance / n_effective)


def _shorter(summary, costs):
    """The best shorter list that is worse by at most one standard error.

    Also by the Brier score where there are probabilities: that of classes alone is the
    same for a list that knows little.
    """
    rows, rules, found = summary.rows, summary.rules, []
    if summary.trade_off is None:
        return None
    losses_here = _all_losses(summary, rules, costs)
    for other in (point.rules for point in summary.trade_off.points):
        is_shorter = other.n_conditions < rules.n_conditions
        if not 1 < other.n_rules < rules.n_rules or not is_shorter:
            continue
        losses = _all_losses(summary, other, costs)
        pairs = zip(losses, losses_here, strict=False)
        apart = [_paired(one, two, rows.weight) for one, two in pairs]
        if all(mean <= error for mean, error in apart):
            mean, error = apart[0]
            found.append((rows.mean(losses[0]), other.n_rules, mean < -error))
    if not found:
        return None
    loss, n_rules, is_better = min(found)
    return Shorter(n_rules, loss, rows.mean(losses_here[0]), is_better)


def _all_losses(summary, rules, costs):
    """Losses and, if known, Brier scores of each row."""
    rows, outcome = summary.rows, summary.outcome
    matches = rules._covers(rows.matrix)
    found = [_losses(summary, rules._form.predict(matches), costs)]
    if not outcome.has_probabilities or not rules._form.has_probabilities:
        return found
    codes = outcome.encode_any(rows.y)
    true = outcome.indicators(codes) * outcome.is_known(codes)[:, None]
    return [*found, ((rules._form.predict_proba(matches) - true) ** 2).sum(axis=1)]


def _parts(summary):
    """The Part of each rule or total; a rule of an average has no own estimate."""
    rules, rows, outcome = summary.rules, summary.rows, summary.outcome

    def part(number, totals, k, estimate, interval, mask):
        label = None if outcome.labels is None else outcome.labels[k]
        seen = None
        if rows.y is not None:
            seen = figure(rows, rows.y if label is None else rows.y == label, mask)
        return Part(number, totals, label, estimate, interval, int(mask.sum()), seen)

    if rules._form.is_sum:
        total = (
            np.round(rules._form.totals(rows.matches)[:, 0], 9)
            if summary.totals
            else None
        )
        k = outcome.positive_index if outcome.is_binary else 0
        for line in summary.totals:
            low, high = line["low"], line["high"]
            mask = (total >= low) & (total <= high)
            yield part(None, (low, high), k, line["estimated"], None, mask)
    elif rules._form.is_exclusive or rules._form.is_standalone:
        for number, rule in enumerate(rules):
            k, mask = outcome.rate_index(rule), rows.members[:, number]
            found = outcome.estimate(rule)
            estimate, interval = found.get("estimate", rule.prediction), None
            if outcome.labels is not None and math.isnan(estimate):
                continue
            if found.get("interval") is not None:
                interval = tuple(found["interval"])
            yield part(number + 1, None, k, float(estimate), interval, mask)


def _is_outside(summary, part):
    """Whether the rate or mean here contradicts the estimate of a rule.

    It lies outside the printed interval, and the estimate outside that of the rows
    here, which is wider the more rules there are: of many some differ by chance.
    """
    seen, rules = part.observed, summary.rules
    if seen is None or part.number is None or seen.n_rows < FEWEST:
        return False
    printed = part.interval
    if part.label is None:
        printed = rules._mean_intervals[part.number - 1]
    if printed is not None and printed[0] <= seen.value <= printed[1]:
        return False
    wider = -scipy.special.ndtri((1 - scipy.special.ndtr(QUANTILE)) / rules.n_rules)
    low, high = (
        seen.value + wider / QUANTILE * (end - seen.value)
        for end in (seen.low, seen.high)
    )
    return not low <= part.estimate <= high
