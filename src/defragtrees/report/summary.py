"""Summary: all measurements of a report, as plain data.

Only this module predicts with rules and model, or counts rows. It does not know
HTML: sections turn a Summary into the context of their templates. Measures of a single
section are cached properties.
"""

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from defragtrees._compare import RulePath, measure_path, path_lists
from defragtrees._utils import formatting as render
from defragtrees._utils.formatting import count, plural
from defragtrees.data.sampling import copied_rows
from defragtrees.data.statistics import evaluate_encoded, predict_encoded
from defragtrees.data.store import row_keys
from defragtrees.ensembles.forest import Forest
from defragtrees.ensembles.predictions import read_model
from defragtrees.estimators.base import Simplifier
from defragtrees.metrics.rulesets import table_of_totals
from defragtrees.outcomes.intervals import QUANTILE, effective_rows, wilson_interval
from defragtrees.outcomes.measures import calibrate
from defragtrees.plots.style import class_numbers
from defragtrees.report.model import Model, describe_model
from defragtrees.report.text import (
    amount,
    cut,
    make_title,
    shown_rules,
    span,
    target_text,
)
from defragtrees.report.verdict import measure_facts
from defragtrees.rules.labels import WITH_UNIT
from defragtrees.rules.model import RuleModel
from defragtrees.tables import as_dense, check_weight

MOST_DISAGREEMENTS = 12
MOST_FEATURES = 8  # maximum number of features in a table of rows
QUANTILES = (0.1, 0.5, 0.9)
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
FIFTHS = (0.2, 0.4, 0.6, 0.8)
MOST_GROUPS = 12
# Limits beyond which a rule is flagged as weak.
RARE = 0.01  # share of the rows
FEWEST = 5  # minimum number of rows to call a rule mostly wrong
FEW = 10  # number of rows below which an estimated number is weak
WEAK = 0.5  # share of refits in which it is found again


@dataclass(frozen=True)
class Card:
    """One rule and its evidence on the rows of the report."""

    number: int  # from 1
    then: str
    colour: str  # of its prediction
    alone: str  # rate of all rows that it matches, if that differs
    n_rows: int  # number of rows that it predicts or, if averaged, matches
    share: float  # of all rows, by weight
    # For classes: share of its rows on which y, and the model, agree with it.
    right: float | None = None
    agrees: float | None = None
    # For numbers: mean loss of y, mean distance to the model, and mean of the model.
    miss: float | None = None
    distance: float | None = None
    model_mean: float | None = None
    # Reasons why it is weak, the worst first: from a few words to a sentence.
    flags: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Summary:
    """The data that the sections of a report are written from."""

    title: str
    simplifier: Simplifier | None  # None for rules alone
    model: Model | None  # None if the rules are not compared with any
    given_rules: RuleModel  # as they are saved
    rows: "PredictedRows"
    target: str  # what is predicted, such as "heart disease"; see `has_target_name`
    data_name: str | None  # of the rows, such as "heart.csv"
    baseline: "Baseline"
    groups: "Groups | None"
    is_weighted: bool
    scores: dict[str, float]  # of `evaluate` on these rows
    cards: tuple[Card, ...]
    colours: "Colours"
    is_new: bool  # whether the model was not trained on these rows
    n_validation: int  # how many of these rows were rows of `validation` in the fit
    rule_path: Any = None  # RulePath or None
    segments: Any = None  # Segments, SegmentGroups or None
    command: str | None = None

    @property
    def rules(self) -> RuleModel:
        """The rules, with long names cut."""
        return self.rows.rules

    @property
    def outcome(self):
        """The outcome of the rules."""
        return self.rules.outcome

    @property
    def has_target_name(self):
        """Whether the name of y says something."""
        return self.target != self.outcome.view.unnamed

    @property
    def mean_text(self):
        """What rules estimate, as in "mean of value"."""
        return f"{self.outcome.view.mean_word} of {self.target}"

    @property
    def unit(self):
        """The unit in the name of a number, such as " [USD]"; empty without."""
        match = WITH_UNIT.fullmatch(self.target)
        return f" [{match[2]}]" if match and not self.outcome.labels else ""

    @property
    def all_weak(self):
        """Whether each rule has a flag, so that marks would not tell them apart."""
        return all(card.flags for card in self.cards)

    @property
    def stability(self):
        """Stability under resampling, if it was measured."""
        return None if self.simplifier is None else self.simplifier.stability_

    @property
    def alternatives(self):
        """Other rule models that are as good, if they were searched for."""
        return getattr(self.simplifier, "alternatives_", None)

    @cached_property
    def used(self):
        """Features of the rules, those of most rules first."""
        places = (c.feature for rule in self.rules.rules for c in rule.conditions)
        counts = Counter(places)
        return sorted(counts, key=lambda j: (-counts[j], j))

    @cached_property
    def facts(self):
        """Facts for a verdict."""
        return measure_facts(self)

    @cached_property
    def trade_off(self):
        """The given path, or that of the simplifier on these rows; None without any."""
        if self.rule_path is not None:
            return self.rule_path if self.rule_path.points else None
        lists = path_lists(self.simplifier, self.given_rules)
        if not lists:
            return None
        rows, has_y = self.rows, self.rows.y is not None
        cost = self.scores.get("model_expected_cost", math.nan)
        expected = rows.given_y if has_y else rows.model_predictions
        on = expected, rows.model_predictions, rows.weight
        # All measures take time; with costs, one of them decides.
        has_measures = has_y and self.rules.costs is not None
        return RulePath(
            measure_path(lists, rows.matrix, *on, has_measures),
            lists.index(self.given_rules),
            self.outcome.error(*on),
            has_y,
            model_measures={"expected_cost": cost},
            is_new=self.is_new,
        )

    @property
    def shown_size(self):
        """Index of the rules of the report in `trade_off`; None if not in it."""
        lists = [point.rules for point in self.trade_off.points]
        return lists.index(self.given_rules) if self.given_rules in lists else None

    @cached_property
    def calibration(self):
        """Lines of `metrics.calibration`, by rule or by total; empty without y."""
        rows, rules = self.rows, self.rules
        has_classes = self.outcome.has_probabilities
        if rows.y is None or (has_classes and not rules._form.has_probabilities):
            return []
        if rules._form.is_standalone or self.outcome.quantile is not None:
            return [self._matched(k, rule) for k, rule in enumerate(rules)]
        return calibrate(rules, rows.matrix, rows.given_y, rows.weight).rows(rules)

    def _matched(self, k, rule):
        """The line of calibration of a rule that is read on its own."""
        rows, outcome, mask = self.rows, self.outcome, self.rows.members[:, k]
        line, estimated, y = {"rule": k + 1}, rule.prediction, rows.y
        if outcome.labels:
            place = outcome.rate_index(rule)
            line["class"], estimated = outcome.labels[place], rule.distribution[place]
            y = y == line["class"]
            observed = rows.interval(y, mask)
        else:
            observed = rows.observed(mask)
        observed = zip(("observed", "low", "high"), observed, strict=True)
        line |= {"estimated": estimated, **dict(observed)}
        return line | {"n_rows": float(rows.weight[mask].sum())}

    @cached_property
    def totals(self):
        """Rows of `metrics.score_table`; empty unless the rules are a scorecard."""
        rules, rows = self.rules, self.rows
        if not rules._form.is_sum or rules.outcome.n_points != 1:
            return []
        totals = rules._form.totals(rows.matches)[:, 0]
        return table_of_totals(rules, totals, rows.given_y)

    @cached_property
    def disagreements(self):
        """Rows that differ most: by the model's probability, or by distance."""
        rows = self.rows
        if rows.model_predictions is None:
            return None
        size = self.outcome.model_losses(rows.model_predictions, rows.predicted)
        differs = size > 0
        if rows.sureness is not None:
            size = np.where(differs, rows.sureness, -1.0)
        # A stable sort, so that a report is the same each time.
        worst = np.argsort(-size, kind="stable")[:MOST_DISAGREEMENTS]
        used, distance = self.used, None
        if not self.outcome.error_is_share:
            distance = rows.mean(np.abs(rows.predicted - rows.model_predictions))
        return Disagreements(
            int(differs.sum()),
            distance,
            rows.share(differs),
            tuple(worst[differs[worst]].tolist()),
            tuple(used[:MOST_FEATURES]),
            max(0, len(used) - MOST_FEATURES),
        )

    def group_lines(self, label=None):
        """One dict per group: its rows, and measures with intervals.

        These are rates of the class `label`, or means of numbers without one.
        """
        rows, y, predicted = self.rows, self.rows.y, self.rows.predicted
        measured, losses = {"prediction": predicted}, None
        if label is not None:
            measured = {"selection": predicted == label}
        if y is not None and label is not None:
            measured |= {"rate": y == label, "error": predicted != y}
        elif y is not None:
            measured |= {"mean": y, "bias": predicted - y}
            losses = self.outcome.distances(rows.given_y, predicted)
        lines = []
        for group, mask in self.groups.masks():
            line = {"group": group, "n_rows": int(mask.sum())}
            line |= {name: rows.interval(v, mask) for name, v in measured.items()}
            line |= {} if losses is None else {"error": rows.loss(losses, mask)}
            lines.append(line)
        return lines


@dataclass(frozen=True)
class Disagreements:
    """The rows on which rules and model disagree."""

    n_rows: int
    distance: float | None  # mean distance of numbers
    share: float  # by weight
    worst: tuple[int, ...]  # indices of those that differ most
    features: tuple[int, ...]  # features to show, the most used first
    n_left_out: int  # number of used features not shown


def summarize(
    rules,
    X,
    y=None,
    sample_weight=None,
    *,
    model=None,
    title=None,
    target_name=None,
    data_name=None,
    model_name=None,
    groups=None,
    is_new=None,
    **shown,
):
    """Measure everything that a report shows; see `write_report`."""
    simplifier = rules if isinstance(rules, Simplifier) else None
    if simplifier is not None:
        if model is not None:
            raise ValueError(
                "model is for rules without an estimator; this estimator has its own. "
                "Leave it out, or pass the rules_ of the estimator."
            )
        rules, model = simplifier.rules_, simplifier.model_
    elif y is None and model is None:
        raise ValueError(
            "A report on rules alone needs y, model or both; got neither. Pass the "
            "true values, or the model that the rules imitate."
        )
    rows, forest = _read_rows(rules, simplifier, X, y, sample_weight, model)
    given_rules, rules = rows.rules, shown_rules(rows.rules)
    rows = replace(rows, rules=rules)
    described = None
    if model is not None:
        described = describe_model(model, forest, model_name)
    target_name = target_name or getattr(y, "name", None)
    stability = None if simplifier is None else simplifier.stability_
    baseline, colours = measure_baseline(rows), prediction_colours(rows)
    n_validation = _count_validation(simplifier, rows)
    columns = rows.model_predictions, rows.given_y, rows.weight, rows.probabilities
    evaluation = evaluate_encoded(rules, rows.matrix, *columns)
    return Summary(
        title=cut(title or make_title(rules, target_name, data_name)),
        simplifier=simplifier,
        model=described,
        given_rules=given_rules,
        rows=rows,
        target=cut(target_text(target_name)) or rules.outcome.view.unnamed,
        data_name=data_name and cut(data_name),
        baseline=baseline,
        groups=read_groups(groups, X, rows),
        is_weighted=sample_weight is not None,
        scores=evaluation.scores(rules),
        cards=tuple(
            _card(rows, k, colours, rule_flags(rows, k, baseline, stability))
            for k in range(rules.n_rules)
        ),
        colours=colours,
        is_new=n_validation == len(rows) if is_new is None else is_new,
        n_validation=n_validation,
        **shown,
    )


def _count_validation(simplifier, rows):
    """How many of the rows were rows of `validation` in the fit."""
    keys = getattr(simplifier, "_validation_keys", None)
    if keys is None or rows.y is None:
        return 0
    outcome = rows.rules.outcome
    labels = outcome.compact(outcome.encode_any(rows.given_y))
    return int(copied_rows(row_keys(rows.matrix, labels), keys).sum())


# Rows, rules and model


@dataclass(frozen=True, eq=False)
class PredictedRows:
    """Rows with predictions of rules and model."""

    rules: RuleModel
    matrix: np.ndarray
    given_y: Any  # checked, in all its columns; None if not given
    y: Any  # in one column: labels, or the number whose mean rules report
    weight: np.ndarray
    mean_weight: np.ndarray  # in means of numbers
    model_predictions: Any = None  # None without a model
    probabilities: Any = None  # of each class by the model; None if it has none

    def __len__(self):
        return len(self.matrix)

    @cached_property
    def predicted(self):
        """Predictions of the rules."""
        return self.rules._form.predict(self.matches)

    @cached_property
    def matches(self):
        """Matrix of rows and matching rules."""
        return self.rules._covers(self.matrix)

    @cached_property
    def deciding(self):
        """Index of the rule that predicts each row; None where points add up."""
        return None if self.is_sum else self.rules._form.apply(self.matches)

    @property
    def is_sum(self):
        """Whether the rules are a scorecard, of which no rule predicts alone."""
        return self.rules._form.is_sum

    @cached_property
    def members(self):
        """Rows that each rule predicts or, if averaged, matches."""
        return self.rules._form.members(self.matches)

    @property
    def sureness(self):
        """The model's probability of its class; None if it has none."""
        return None if self.probabilities is None else self.probabilities.max(axis=1)

    @property
    def expected(self):
        """The reference for errors: y or, without it, the model."""
        return self.model_predictions if self.y is None else self.y

    def share(self, mask):
        """Share of some rows, by weight."""
        return float(self.weight[mask].sum() / self.weight.sum())

    def mean(self, values, mask=True, is_loss=False):
        """Mean by weight over some rows; None if they have no weight.

        Losses count once per row, other values by the exposure if y has one.
        """
        weight = np.where(mask, self.weight if is_loss else self.mean_weight, 0.0)
        if not weight.sum() > 0:
            return None
        return float(np.average(np.asarray(values, dtype=np.float64), weights=weight))

    def loss(self, values, mask=True):
        """A mean loss over some rows and its interval; of flags a share."""
        per_row = replace(self, mean_weight=self.weight)
        mask = np.ones(len(self), dtype=bool) & mask
        return per_row.interval(np.asarray(values), mask)

    def observed(self, mask):
        """The mean of y, or what rules estimate in its place, and its interval."""
        found = self.weight[mask].any() or None
        found = found and self.rules.outcome.observed(self.y[mask], self.weight[mask])
        return found or self.interval(self.y, mask)

    def interval(self, values, mask):
        """A mean over some rows and its interval; of flags a share, and Wilson's."""
        mean, weight = self.mean(values, mask), self.mean_weight[mask]
        if mean is None:
            return math.nan, math.nan, math.nan
        if values.dtype == bool:
            return (mean, *wilson_interval(mean, effective_rows(weight)))
        apart = float(((weight * (values[mask] - mean)) ** 2).sum())
        half = QUANTILE * math.sqrt(apart) / float(weight.sum())
        return mean, mean - half, mean + half


def _read_rows(rules, simplifier, X, y, sample_weight, model):
    """The PredictedRows, and the forest of the model; None if there is none."""
    X = as_dense(X)
    if simplifier is not None:
        matrix = simplifier._validate_rows(X)
        y = None if y is None else simplifier._validate_target(y, len(matrix))
    else:
        matrix = rules._encode(X)
        if y is not None:
            y = rules.outcome.read(y, len(matrix))
    if not len(matrix):
        raise ValueError("A report needs at least one row; X has 0 samples.")
    weight = mean_weight = check_weight(sample_weight, len(matrix))
    if not weight.sum() > 0:
        raise ValueError("sample_weight must have a positive sum; it is zero.")
    outcome, given_y = rules.outcome, y
    if y is not None:
        outcome.check_known(y)
        encoded = outcome.encode_any(y)
        mean_weight = outcome.mean_weight(encoded, weight)
        y = y if outcome.labels else outcome.indicators(encoded)[:, 0]
    predicted, forest = (None, None), None
    if simplifier is not None:
        forest = simplifier.forest_
        predicted = predict_encoded(forest, X, matrix)
    elif model is not None:
        read = read_model(model, rules, X)
        forest = read.model if isinstance(read.model, Forest) else None
        predicted = read(X, matrix, given_y, weight)[:2]
    columns = given_y, y, weight, mean_weight
    return PredictedRows(rules, matrix, *columns, *predicted), forest


def _card(rows, k, colours, flags):
    rules, members, outcome = rows.rules, rows.members[:, k], rows.rules.outcome
    rule, quality = list(rules)[k], {}
    names = ("right", "agrees") if outcome.error_is_share else ("miss", "distance")
    for name, others in zip(names, (rows.y, rows.model_predictions), strict=True):
        if others is None or rows.is_sum:
            continue  # a rule with points does not predict alone
        if outcome.error_is_share:
            quality[name] = rows.mean(rows.predicted == others, members)
        elif name == "miss":
            losses = outcome.distances(rows.given_y, rows.predicted)
            quality[name] = rows.mean(losses, members, is_loss=True)
        else:
            quality[name] = rows.mean(abs(rows.predicted - others), members)
    if "distance" in quality:
        quality["model_mean"] = rows.mean(rows.model_predictions, members)
    then = rules._view.then_text(rule)
    alone = outcome.view.alone(rule) if outcome.view.differs_alone(rule) else ""
    return Card(
        number=k + 1,
        then=then if outcome.labels else render.true_minus(then),
        colour=colours.of([rule.prediction])[0],
        alone=render.true_minus(alone),
        n_rows=int(members.sum()),
        share=rows.share(members),
        **quality,
        flags=flags,
    )


# Distribution of y, and groups of rows


@dataclass(frozen=True)
class Baseline:
    """Rates of the classes, or mean and quantiles of numbers, on the report's rows.

    Without y they are those of the model's predictions.
    """

    n_rows: tuple[int, ...] = ()  # of each class
    rates: tuple[float, ...] = ()  # of each class, by weight
    intervals: tuple[tuple[float, float], ...] = ()  # Wilson's, at 95%
    guess: Any = None  # the most frequent class, or the mean
    quantiles: tuple[float, ...] = ()  # of numbers, at QUANTILES


def measure_baseline(rows):
    """The Baseline of PredictedRows."""
    outcome, expected = rows.rules.outcome, rows.expected
    if outcome.statistic == "mean":
        quantiles = tuple(np.quantile(expected, QUANTILES).tolist())
        guess = rows.mean(expected)
        if rows.y is not None:
            guess = rows.observed(np.ones(len(rows), dtype=bool))[0]
        return Baseline(guess=guess, quantiles=quantiles)
    masks = [expected == label for label in outcome.labels]
    rates = tuple(map(rows.share, masks))
    total = effective_rows(rows.weight)
    return Baseline(
        tuple(int(mask.sum()) for mask in masks),
        rates,
        tuple(wilson_interval(rate, total) for rate in rates),
        outcome.labels[int(np.argmax(rates))],
    )


@dataclass(frozen=True, eq=False)
class Groups:
    """The group of each row."""

    name: str
    labels: tuple[str, ...]
    code: np.ndarray  # of each row

    def masks(self):
        """Label and rows of each group."""
        return [(label, self.code == g) for g, label in enumerate(self.labels)]


def read_groups(groups, X, rows):
    """Read the argument `groups` of `write_report`."""
    if groups is None:
        return None
    name = groups if isinstance(groups, str) else getattr(groups, "name", None)
    values = _column(groups, X, rows) if isinstance(groups, str) else groups
    values = np.asarray(values, dtype=object)
    if values.shape != (len(rows),):
        raise ValueError(
            f"groups must name a column of X or have one entry for each of its "
            f"{len(rows)} rows; got the shape {values.shape}. Pass one column."
        )
    return Groups(cut(name or "group"), *_coded(values))


def _column(name, X, rows):
    if hasattr(X, "columns"):
        if name in list(X.columns):
            return X[name]
    elif name in rows.rules.feature_names:
        j = rows.rules.feature_names.index(name)
        labels, column = rows.rules.categories[j], rows.matrix[:, j]
        if labels is None:
            return column
        texts = [*map(str, labels), "another value"]
        return [None if np.isnan(v) else texts[int(v)] for v in column]
    names = list(getattr(X, "columns", rows.rules.feature_names))
    raise ValueError(
        f"groups must name a column of X; got {name!r}, and X has {names[:5]!r}. Pass "
        "one of its columns, or the group of each row."
    )


def _coded(values):
    """Labels of the groups, and the group of each row; many numbers form quartiles."""
    is_missing = np.array([value is None or value != value for value in values])
    there = values[~is_missing]
    is_number = all(
        isinstance(v, int | float | np.number) and not isinstance(v, bool)
        for v in there
    )
    if is_number and len(set(there.tolist())) > MOST_GROUPS:
        numbers = there.astype(np.float64)
        edges = np.unique(np.quantile(numbers, QUARTERS))
        place = np.clip(np.searchsorted(edges, numbers) - 1, 0, max(0, len(edges) - 2))
        ends = [*map(amount, edges), amount(edges[-1])]
        texts = np.array([span(ends[p], ends[p + 1]) for p in place], dtype=object)
    else:
        texts = np.array([cut(v) for v in there], dtype=object)
    counted, counts = np.unique(texts, return_counts=True)
    if len(counted) > MOST_GROUPS:
        kept = counted[np.argsort(-counts, kind="stable")[: MOST_GROUPS - 1]]
        texts = np.where(np.isin(texts, kept), texts, "all others")
    # Numbers by size, texts in alphabetical order, the rest last.
    first = {}
    for value, label in zip(there.tolist(), texts.tolist(), strict=True):
        here = (0, value, "") if isinstance(value, int | float) else (1, 0.0, label)
        first[label] = min(first.get(label, here), here)
    labels = sorted(first, key=lambda label: (label == "all others", first[label]))
    labels += ["missing"] if is_missing.any() else []
    named = np.full(len(values), "missing", dtype=object)
    named[~is_missing] = texts
    places = {label: g for g, label in enumerate(labels)}
    return tuple(labels), np.array([places[label] for label in named.tolist()])


# Flags at weak rules


def rule_flags(rows, k, baseline, stability=None):
    """Why rule k (from 0) is weak: from a few words to a sentence, the worst first."""
    rules, members, reasons = rows.rules, rows.members[:, k], {}
    rule, is_only = list(rules)[k], not rules.rules
    if not rows.is_sum and rules.outcome.statistic == "rates":
        reasons = _rate_flags(rows, k, baseline)
    elif not (rows.is_sum or rules._form.default_matches_all or is_only):
        if 0 < rule.n_rows < FEW:
            reasons["estimated from few rows"] = (
                f"Its estimate is from {plural(round(rule.n_rows), 'row')} only."
            )
    is_base = rows.is_sum and k == len(rules.rules)
    if rows.share(members) < RARE and not is_base:
        verb = "predicts" if rules._form.is_exclusive else "matches"
        reasons["few rows here"] = (
            f"It {verb} less than 1% of the rows here: {count(members.sum())} of "
            f"{count(len(rows))}."
        )
    if stability is not None and is_rarely_found(k, stability):
        fits = f"{plural(stability.n_resamples, 'fit')} to other rows"
        again = f"found again in only {stability.returns[k]} of {fits}"
        again = again if stability.returns[k] else f"not found again in any of {fits}"
        reasons["found again in fewer than half of the fits"] = (
            f"It is not stable: {again}."
        )
    return reasons


def is_rarely_found(k, stability):
    """Whether a rule is found again in fewer than half of the fits."""
    return stability.returns[k] < WEAK * stability.n_resamples


def _rate_flags(rows, k, baseline):
    """Flags for mostly wrong predictions, and for a rate like that of all rows."""
    rules, members, reasons = rows.rules, rows.members[:, k], {}
    # With costs, it may be best to be wrong more often than right.
    n_here = int(members.sum())
    if rows.y is not None and n_here >= FEWEST and not rules._form.has_costs:
        is_right = rows.predicted == rows.y
        if rows.mean(is_right, members) < 0.5:
            reasons["wrong more often than right here"] = (
                "It is wrong more often than right here: correct on "
                f"{count(is_right[members].sum())} of {plural(n_here, 'row')}."
            )
    rule = list(rules)[k]
    place = rules.outcome.rate_index(rule)
    base = rules._form.training_rates or (None if rows.y is None else baseline.rates)
    is_all = not rule.conditions and (
        not rules.rules or rules._form.default_matches_all
    )
    if base is None or is_all:
        return reasons
    found = rules.outcome.estimate(rule)
    estimate, interval, what = found["estimate"], found["interval"], "its estimate"
    is_alone = rows.weight[members].any() and not rules._form.has_weights
    if interval is None and rows.y is not None and is_alone:
        is_it = rows.y == rules.outcome.labels[place]
        estimate, *interval = rows.interval(is_it, members)
        what = "its rate here"
    if interval and interval[0] <= base[place] <= interval[1]:
        shown = render.percent(estimate, render.percent_digits(*interval))
        all_rows = render.percent(base[place], 0 if 0.1 <= base[place] <= 0.9 else 1)
        reasons["not clearly different from all rows"] = (
            f"The 95% interval of {what} ({shown}, "
            f"{render.percent_range(*interval)}) contains the rate of all rows "
            f"({all_rows})."
        )
    return reasons


# Colours


@dataclass(frozen=True, eq=False)
class Colours:
    """Colours of predictions: by class, or by fifth of the numbers."""

    number: dict[Any, int] | None  # of each class
    edges: np.ndarray | None = None  # between fifths

    def of(self, predictions):
        """Name in the style sheet of the colour of each prediction."""
        if self.number is not None:
            labels = np.asarray(predictions).tolist()
            return [f"g{self.number[label]}" for label in labels]
        fifths = np.searchsorted(self.edges, predictions, side="left").tolist()
        return [f"s{fifth}" for fifth in fifths]


def prediction_colours(rows):
    """The colours of classes, as in plots, or of fifths of the predicted numbers."""
    if rows.rules.outcome.labels is not None:
        return Colours(class_numbers(rows.rules))
    edges = np.unique(np.quantile(rows.predicted, FIFTHS))
    return Colours(None, edges[edges < rows.predicted.max()])
