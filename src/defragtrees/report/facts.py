"""Facts that a verdict on rules is written from: how good, beside what, how sure."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from defragtrees.data.evaluation import decided_alike
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
class CostFigures:
    """Mean cost per row."""

    rules: float
    model: float | None  # decided by the costs of the rules
    guess: float  # of the constant prediction with the lowest cost
    guess_label: Any  # that prediction


@dataclass(frozen=True)
class Shorter:
    """A shorter list of the path that does as well on these rows."""

    n_rules: int
    n_conditions: int
    error: float  # as shown: share wrong, or root mean squared error
    shown_error: float  # of the rules of the report, on the same rows
    cost: float | None = None  # mean cost per row, with costs
    shown_cost: float | None = None


@dataclass(frozen=True)
class Extreme:
    """The rule, or band of totals, with the highest or lowest estimate."""

    number: int | None  # of the rule, from 1; None for a band of totals
    totals: tuple[float, float] | None  # of the band
    estimate: float  # probability of the positive class, or predicted number
    # As reported: of a rate at 95 %, of a number its 10 % and 90 % quantiles.
    interval: tuple[float, float] | None
    n_rows: int  # number of rows here
    observed: Figure | None  # rate of that class, or mean of y, here; None without y


@dataclass(frozen=True)
class Outside:
    """A rule, or band of totals, whose estimate does not hold here."""

    number: int | None  # of the rule, from 1; None for a band of totals
    totals: tuple[float, float] | None
    label: Any  # class of the rate; None for numbers
    estimate: float
    observed: Figure


@dataclass(frozen=True)
class Facts:
    """What a verdict can say of rules, measured on the rows of the report.

    Figures are the accuracy of classes or the mean absolute error of numbers; without y
    there are none.
    """

    rules: Figure | None
    guess: Figure | None  # of always predicting `baseline.guess`
    model: Figure | None  # None without a model
    # Whether the rules are not clearly better than the guess: by cost, if costs are
    # set, else by error; the difference is within its 95 % interval.
    is_no_better: bool
    half_within: float | None  # median distance of numbers from y
    # The class that matters: the rare one of two, else the positive one.
    focus: Any
    is_rare: bool  # of two classes one is below 5 %, so accuracy says little
    found: Figure | None  # share of the rows of that class that are predicted so
    right_when_said: Figure | None  # share of its predictions that are right
    costs: CostFigures | None  # None without costs
    shorter: Shorter | None
    highest: Extreme | None  # of two classes or numbers
    lowest: Extreme | None
    outside: tuple[Outside, ...]


def measure_facts(summary):
    """The Facts of a Summary."""
    rows, outcome = summary.rows, summary.outcome
    highest, lowest = _extremes(summary)
    losses, guess_losses = _losses(summary)
    focus, is_rare = _focus(summary)
    figures: dict[str, Any] = dict.fromkeys(
        ("rules", "guess", "model", "half_within", "found", "right_when_said", "costs")
    )
    is_no_better = False
    if rows.y is not None:
        apart, error = _paired(guess_losses, losses, rows.weight)
        is_no_better = apart <= QUANTILE * error
        figures |= _performance(summary)
        if focus is not None:
            is_it, said = rows.y == focus, rows.predicted == focus
            figures["found"] = figure(rows, said, is_it)
            figures["right_when_said"] = figure(rows, is_it, said)
        if summary.rules.costs is not None:
            figures["costs"] = _cost_figures(summary)
        if not outcome.error_is_share:
            apart = np.abs(rows.predicted - rows.y)
            figures["half_within"] = float(np.median(apart))
    return Facts(
        **figures,
        is_no_better=is_no_better,
        focus=focus,
        is_rare=is_rare,
        shorter=_shorter(summary),
        highest=highest,
        lowest=lowest,
        outside=_outside(summary),
    )


def figure(rows, values, mask=None):
    """The Figure of a share (of flags) or a mean (of numbers); None without rows."""
    mask = np.ones(len(rows), dtype=bool) if mask is None else mask
    values = np.asarray(values)
    if values.dtype == bool:
        found, n_part = rows.rate(values, mask), int(values[mask].sum())
    else:
        found, n_part = rows.mean_interval(values, mask), None
    return None if math.isnan(found[0]) else Figure(*found, int(mask.sum()), n_part)


def _performance(summary):
    """Figures of rules, model and guess, against y."""
    rows, outcome = summary.rows, summary.outcome
    model = rows.model_predictions
    if model is not None and outcome.labels is not None:
        codes = outcome.encode_any(model)
        model = outcome.decode(decided_alike(summary.rules, codes, rows.probabilities))
    predicted = {"rules": rows.predicted, "guess": summary.baseline.guess}
    predicted |= {} if model is None else {"model": model}

    def measure(values):
        if outcome.error_is_share:
            return np.asarray(values == rows.y)
        return np.abs(values - rows.y)

    return {who: figure(rows, measure(values)) for who, values in predicted.items()}


def _focus(summary):
    """The class of two that matters, and whether it is rare."""
    outcome, rates = summary.outcome, summary.baseline.rates
    if not outcome.is_binary:
        return None, False
    rare = int(np.argmin(rates))
    is_rare = rates[rare] < RARE_CLASS
    return (outcome.labels[rare] if is_rare else outcome.positive_class), is_rare


def _losses(summary):
    """Losses of each row by the rules and by the best constant prediction."""
    rows, outcome = summary.rows, summary.outcome
    costs = _known_costs(summary)
    if costs is None:
        guess = np.full(len(rows), summary.baseline.guess)
        return tuple(outcome.losses(rows.expected, p) for p in (rows.predicted, guess))
    by_class = costs[outcome.encode_any(rows.expected)]
    own = by_class[np.arange(len(rows)), outcome.encode(rows.predicted)]
    return own, by_class[:, int((rows.weight @ by_class).argmin())]


def _known_costs(summary):
    """The cost matrix; None without costs, or where a class of y has none."""
    rows, outcome = summary.rows, summary.outcome
    if summary.rules.costs is None or rows.y is None:
        return None
    known = outcome.is_known(outcome.encode_any(rows.y)).all()
    return np.asarray(cost_matrix(summary.rules)) if known else None


def _cost_figures(summary):
    rows, outcome, costs = summary.rows, summary.outcome, _known_costs(summary)
    if costs is None:
        return None
    means = rows.weight @ costs[outcome.encode_any(rows.y)] / rows.weight.sum()
    best = int(means.argmin())
    return CostFigures(
        summary.scores["expected_cost"],
        summary.scores.get("ensemble_expected_cost"),
        float(means[best]),
        outcome.labels[best],
    )


def _paired(one, other, weight):
    """Mean difference of losses of the same rows, and its standard error."""
    apart = np.asarray(one, dtype=np.float64) - other
    mean = float(np.average(apart, weights=weight))
    variance = float(np.average((apart - mean) ** 2, weights=weight))
    n_effective = weight.sum() ** 2 / (weight**2).sum()
    return mean, math.sqrt(variance / n_effective)


def _shorter(summary):
    """The shortest list of the path that is within one standard error of the rules.

    By error or cost and, where there are probabilities, by the Brier score too: that
    of classes alone is the same for a list that knows little.
    """
    rows, rules = summary.rows, summary.rules
    trade_off = summary.trade_off
    if trade_off is None:
        return None
    own = _row_losses(summary, rules)
    size = rules.n_rules, rules.n_conditions
    for point in trade_off.points:
        found = point.rules
        if found.n_rules >= size[0] or found.n_conditions >= size[1]:
            continue
        losses = _row_losses(summary, found)
        pairs = zip(losses, own, strict=False)
        apart = [_paired(one, other, rows.weight) for one, other in pairs]
        if any(mean > error for mean, error in apart):
            continue
        measured = [
            summary.outcome.shown_error(rows.mean(_errors(summary, one)))
            for one in (found, rules)
        ]
        if _known_costs(summary) is not None:
            measured += [rows.mean(losses[0]), rows.mean(own[0])]
        return Shorter(found.n_rules, found.n_conditions, *measured)
    return None


def _errors(summary, rules):
    """The losses of other rules on the rows of the report."""
    rows = summary.rows
    predicted = rules._predict(rules._covers(rows.matrix))
    return summary.outcome.losses(rows.expected, predicted)


def _row_losses(summary, rules):
    """Errors or costs and, if known, Brier scores of each row."""
    rows, outcome = summary.rows, summary.outcome
    costs, found = _known_costs(summary), [_errors(summary, rules)]
    held = rules._covers(rows.matrix)
    if costs is not None:
        places = outcome.encode_any(rows.y), outcome.encode(rules._predict(held))
        found = [costs[places]]
    if rows.y is None or not outcome.has_probabilities or not rules.has_probabilities:
        return found
    codes = outcome.encode_any(rows.y)
    true = outcome.indicators(codes) * outcome.is_known(codes)[:, None]
    return [*found, ((rules._predict_proba(held) - true) ** 2).sum(axis=1)]


def _lines(summary):
    """Estimate, place of the class, and rows of each rule or band of totals.

    A rule of an average has no estimate of its own.
    """
    rules, rows, outcome = summary.rules, summary.rows, summary.outcome
    if rules.combination == "sum":
        k = 0 if outcome.labels is None else outcome.positive_index
        total = np.round(rules._totals(rows.held)[:, 0], 9)
        for line in summary.totals:
            estimate = line["estimated"]
            if outcome.is_binary and k == 0:
                estimate = 1 - estimate
            mask = (total >= line["low"]) & (total <= line["high"])
            yield None, (line["low"], line["high"]), estimate, None, k, mask
        return
    if not rules.is_exclusive and not rules.is_standalone:
        return
    for number, rule in enumerate(rules):
        k, interval = outcome.rate_index(rule), None
        if outcome.labels is None:
            estimate = rule.prediction
            if rule.quantiles is not None:
                interval = rule.quantiles[0], rule.quantiles[-1]
        elif rule.distribution is None:
            continue
        else:
            estimate = rule.distribution[k]
            interval = None if rule.interval is None else tuple(rule.interval[k])
        mask = rows.members[:, number]
        yield number + 1, None, float(estimate), interval, k, mask


def _seen(rows, outcome, k, mask):
    """The rate of class k, or the mean of y, in some rows."""
    if rows.y is None:
        return None
    is_class = outcome.labels is not None
    return figure(rows, rows.y == outcome.labels[k] if is_class else rows.y, mask)


def _extremes(summary):
    outcome, rows = summary.outcome, summary.rows
    if outcome.labels is not None and not outcome.is_binary:
        return None, None
    lines = [line for line in _lines(summary) if line[-1].any()]
    if len(lines) < 2:
        return None, None
    found = []
    for choose in (max, min):
        *facts, k, mask = choose(lines, key=lambda line: line[2])
        seen = _seen(rows, outcome, k, mask)
        found.append(Extreme(*facts, int(mask.sum()), seen))
    return tuple(found)


def _outside(summary):
    """Rules whose rate here lies outside their interval, by more than chance.

    The interval of the rate here must not contain the estimate either, so that a rule
    with few rows is not flagged by chance.
    """
    rows, outcome = summary.rows, summary.outcome
    if rows.y is None:
        return ()
    found = []
    for number, totals, estimate, interval, k, mask in _lines(summary):
        seen = _seen(rows, outcome, k, mask)
        if seen is None or seen.n_rows < FEWEST:
            continue
        if seen.low <= estimate <= seen.high:
            continue
        is_rate = outcome.labels is not None
        if is_rate and interval and interval[0] <= seen.value <= interval[1]:
            continue
        label = outcome.labels[k] if is_rate else None
        found.append(Outside(number, totals, label, estimate, seen))
    return tuple(found)
