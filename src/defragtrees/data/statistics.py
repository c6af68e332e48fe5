"""Evidence of rules, and their measures, from sums over rows that can be added.

Evidence (coverage, rates, predictions, errors) is counted per rule; measures compare
the predictions of the rules, and of their model, with y.
"""

import math
import operator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from defragtrees._utils.values import SPAN, Added, all_rounded, round_significant
from defragtrees.data.shards import checked_columns
from defragtrees.outcomes.decision import cost_matrix
from defragtrees.outcomes.intervals import (
    LARGEST_LEVERAGE,
    TOTAL_WORTH,
    RateBands,
)
from defragtrees.outcomes.measures import CalibrationSums, Moments, calibrate
from defragtrees.outcomes.points import (
    FittedPoints,
    Scoring,
    find_patterns,
)
from defragtrees.outcomes.regression import (
    INTERVAL,
    KeptValues,
    in_cells,
    quantiles,
)
from defragtrees.rules.model import RuleModel


@dataclass(frozen=True, eq=False)
class PatternSums:
    """Sums by pattern of matching rules; those of other rows can be added."""

    # (n_patterns, n_rules): 1 if a rule matches; the last one always does
    held: np.ndarray
    weight: np.ndarray
    # sums of y, as class shares or numbers, or without y of the model's output
    outputs: np.ndarray
    squares: np.ndarray | None = None  # of weights; see `RuleSums`
    # a KeptValues: numbers by pattern, in cells if rows are in shards
    values: Any = None

    @classmethod
    def of(cls, rules, held, squares, weight, outputs, numbers, scale):
        """The sums of some rows; `weight` is that in means of y."""
        patterns, place = find_patterns(held[:, :-1].T)
        values = None
        if rules.outcome.keeps_residuals:
            around = rules.default.prediction
            numbers = numbers if scale is None else in_cells(numbers, around, scale)
            values = KeptValues(numbers, weight, place)
            values = values if scale is None else values.merged()
        squares = np.bincount(place, squares, len(patterns))
        sums = sums_by_group(place, len(patterns), weight, outputs)
        return cls(patterns, *sums, squares, values)

    def __add__(self, other):
        held = np.vstack([self.held, other.held])
        patterns, place = find_patterns(held[:, :-1].T > 0)
        n, ones = len(patterns), np.ones(len(held))
        weight = np.concatenate([self.weight, other.weight])
        outputs = np.vstack([self.outputs, other.outputs])
        values = None
        if self.values is not None:
            group = [self.values.group, len(self.held) + other.values.group]
            values = KeptValues(
                np.concatenate([self.values.target, other.values.target]),
                np.concatenate([self.values.weight, other.values.weight]),
                place[np.concatenate(group)],
            ).merged()
        squares = np.concatenate([self.squares, other.squares])
        return PatternSums(
            patterns,
            np.bincount(place, weight, n),
            sums_by_group(place, n, ones, outputs)[1],
            np.bincount(place, squares, n),
            values,
        )

    def scorecard(self, outcome, scoring, spread, signs=(), evidence=None):
        """Fit all points jointly; returns FittedPoints.

        `signs` are arrays with the sign that the points of each rule must have, or 0;
        `evidence` is that of y, if it is known.
        """
        rows = self.held, self.weight, self.outputs
        signs = np.array(signs).reshape(-1, self.held.shape[1])
        points = outcome.fit_points(*rows)
        # A rule whose points would have the wrong sign gets none.
        has_none = np.zeros(len(points), dtype=bool)
        while (wrong := (points[:, 0] * signs < 0).any(axis=0) & ~has_none).any():
            has_none |= wrong
            held = np.where(has_none, 0.0, self.held)
            points = outcome.fit_points(held, *rows[1:])
            points[has_none] = 0.0
        card = FittedPoints(points)
        if scoring.is_whole:
            card = outcome.scorecard(*rows, points, scoring.most)
        if evidence is not None:
            known = evidence.worth * self.weight, evidence.worth * self.outputs
            card = outcome.calibrated(card, self.held, *known, scoring.is_whole)
        if not scoring.is_whole:
            points = card.points * card.unit
            points[-1] -= card.origin * card.unit
            return FittedPoints(
                outcome.rounded_points(points, spread), tails=card.tails
            )
        if not len(signs):
            return card
        # Rounding may have changed the sign of points near 0.
        wrong = (card.points[:, 0] * signs < 0).any(axis=0)
        return replace(card, points=np.where(wrong[:, None], 0.0, card.points))

    def residuals(self, rules, worth, extremes):
        """The leave-one-out Residuals of the rows."""
        held, place = self.held > 0, self.values.group
        leverage = rules.leverage(held, worth * self.weight)
        return rules.residuals_of(
            rules.predict(held)[place],
            rules.apply(held)[place],
            self.values.target,
            self.values.weight,
            np.minimum(leverage, LARGEST_LEVERAGE)[place],
            extremes,
        )

    def rate_bands(self, rules, worth, noise):
        """The RateBands of the second of two classes, or of the predicted class.

        Or of events, whose number varies by `noise` per expected one.
        """
        held = self.held > 0
        if not rules.outcome.has_probabilities:
            rates, events = rules.predict(held), self.outputs[:, 0]
            squares, sizes = noise * self.weight, rates * self.weight
            return RateBands.of(rates, events, self.weight, squares, worth, sizes)
        chosen = np.ones(len(held), dtype=np.intp)
        if not rules.outcome.is_binary:
            chosen = rules.predict_codes(held)
        rows = np.arange(len(held))
        chance = rules.probabilities(held)[rows, chosen]
        events = self.outputs[rows, chosen]
        if rules.is_sum:
            worth = max(worth, TOTAL_WORTH)
        return RateBands.of(chance, events, self.weight, self.squares, worth)


def sums_by_group(group, n_groups, weight, columns):
    """Weight, and weighted sums of columns, of each group of rows."""
    parts = [np.bincount(group, weight * one, n_groups) for one in columns.T]
    return np.bincount(group, weight, n_groups), np.column_stack(parts)


EXACT = Scoring()


@dataclass(frozen=True, eq=False)
class RuleSums(Added):
    """Sums over rows for the rules of one rule model; they can be added."""

    covered: np.ndarray  # weight of the rows that each rule matches
    mean_covered: np.ndarray  # their weight in means of y
    # of the rows that each rule predicts or, if rules combine, that it matches
    target: Any
    labels: Any  # the same for y
    model: np.ndarray  # sums of the model's probabilities, or numbers
    mean_weight: np.ndarray  # weight of the same rows in means of y
    # of the squared weights of the same rows, each divided by its worth: the square of
    # a sum of weights, divided by this sum, is an effective number of rows
    squares: np.ndarray
    n_rows: np.ndarray  # their number
    values: Any = None  # of numbers, y or without y the model's
    total: float = 0.0  # weight of all rows
    # sums over all rows of y, as class shares or numbers, or without y of the
    # model's output
    every: np.ndarray | None = None
    # if rules combine, sums by pattern of matching rules
    patterns: Any = None
    # sums of y, or of the model's output, over all rows that each rule matches
    alone: np.ndarray | None = None
    # of numbers
    extremes: tuple[float, float] = field(default=(-math.inf, math.inf), metadata=SPAN)

    @classmethod
    def of(cls, rules, shard, values, target, scale):
        """The sums of the rows of a shard.

        Counts are of `target`, a key of `Shard.targets`; with a `scale`, numbers are
        kept in cells.
        """
        outcome, weight = rules.outcome, shard.sample_weight
        squares = weight**2 if shard.worth is None else weight**2 / shard.worth
        held = shard.covered(rules, values)
        answers = [rule.prediction for rule in rules]
        rows, group = rules.groups(held)
        counted = weight[rows]

        model = shard.targets.get("probabilities")
        if model is None:
            model = outcome.indicators(shard.targets["answers"])
        has_labels = "labels" in shard.targets
        sums = {
            name: outcome.sums.of(
                outcome, shard.targets[name][rows], counted, group, answers
            )
            for name in {target, "labels" if has_labels else target}
        }
        outputs = model
        if has_labels:
            outputs = outcome.indicators(shard.targets["labels"])
        numbers = shard.targets["labels" if has_labels else "answers"]
        in_means = outcome.mean_weight(shard.targets.get("labels"), weight)
        patterns = None
        if not rules.is_exclusive:
            patterns = PatternSums.of(
                rules, held, squares, in_means, outputs, numbers, scale
            )
        values, extremes = None, (-math.inf, math.inf)
        if outcome.keeps_residuals:
            values = outcome.sums.values(numbers[rows], counted, group, answers, scale)
            extremes = float(numbers.min()), float(numbers.max())
        # As floats, since products of booleans are slow.
        holding = held.astype(np.float64)
        covered = weight @ holding
        return cls(
            covered,
            covered if in_means is weight else in_means @ holding,
            sums[target],
            sums.get("labels"),
            np.column_stack(
                [
                    np.bincount(group, (in_means * one)[rows], len(answers))
                    for one in model.T
                ]
            ),
            np.bincount(group, in_means[rows], len(answers)),
            np.bincount(group, squares[rows], len(answers)),
            np.bincount(group, minlength=len(answers)),
            values,
            float(weight.sum()),
            in_means @ outputs,
            patterns,
            holding.T @ (in_means[:, None] * outputs),
            extremes,
        )

    @property
    def noise(self):
        """Variance of the weight of events per expected one, if y has events."""
        by_weight = self.patterns.squares.sum() / self.total
        return by_weight * getattr(self.labels, "dispersion", 1.0)


def counted(
    rules,
    sums,
    predictions="keep",
    decision=None,
    scoring=EXACT,
    order=None,
    evidence=None,
):
    """Rules of a Form with predictions and evidence from all rows.

    `evidence` is the source of the rows; without it each row counts in full.
    """
    outcome, weight = rules.outcome, sums.target.weight
    worth = 1.0 if evidence is None else evidence.worth
    entries = [_evidence(rules, sums, k, worth) for k in range(len(weight))]
    for k, entry in enumerate(entries):
        if predictions == "target":
            basis = sums.target.basis(k if weight[k] else None)
            entry |= sums.target.predicted(outcome, basis, sums.target.spread)
            if "distribution" in entry:
                entry["distribution"] = all_rounded(entry["distribution"])
        elif predictions == "recount":
            entry |= outcome.estimated_prediction(sums, k, decision, worth)
    if order is not None and rules.is_exclusive:
        order.put_in_order(rules, entries, weight, decision)
    measured = sums.target.measured(sums.target, sums.labels)
    made = []
    for k, (rule, entry) in enumerate(zip(rules, entries, strict=True)):
        set_by_hand = {"prediction": rule.prediction} if rule.is_override else {}
        entry |= set_by_hand
        prediction = entry.get("prediction", rule.prediction)
        for name, value in measured.error(k, outcome, prediction).items():
            is_number = value is not None
            entry[name] = (
                round_significant(value, outcome.error_digits) if is_number else None
            )
        entry["coverage"] = round_significant(sums.covered[k] / sums.total)
        entry["share"] = round_significant(weight[k] / sums.total)
        made.append(replace(rule, **entry))
    rules = replace(
        rules,
        rules=tuple(made[:-1]),
        default=made[-1],
        evidence=None if sums.labels is None else evidence,
    )
    if predictions == "recount":

        def fit_points():
            signs = (
                []
                if order is None
                else [order.point_signs([rule.conditions for rule in rules.rules])]
            )
            signs += [_rate_signs(sums)] if scoring.follows_rates else []
            spread = sums.target.spread
            known = None if sums.labels is None else evidence
            return sums.patterns.scorecard(outcome, scoring, spread, signs, known)

        rules = rules.weighted(fit_points, weight)
        if decision is not None:
            decided = {"threshold": decision.threshold, "costs": decision.stated_costs}
            rules = replace(rules, **decided)
    has_bands = sums.patterns is not None and outcome.keeps_rates
    has_intervals = sums.values is not None or has_bands
    if predictions == "recount" and sums.labels is not None and has_intervals:
        rules = replace(rules, **_intervals(rules, sums, worth))
    return rules


def recounted(rules, sums, *how, **also):
    """A rule model with the result of `counted`."""
    return rules._with_form(counted(rules._form, sums, *how, **also))


def _evidence(rules, sums, k, worth):
    """Evidence of a rule that does not depend on its prediction, as its fields."""
    outcome, weight = rules.outcome, sums.target.weight[k]
    n_effective = weight and weight**2 / sums.squares[k]
    evidence = {
        "n_rows": float(sums.n_rows[k]),
        "n_effective": round_significant(worth * n_effective),
    }
    if weight:
        mean = all_rounded(sums.model[k] / sums.mean_weight[k])
        evidence["model_mean"] = outcome.reported_means(mean)
        if sums.values is not None:
            numbers = quantiles(*sums.values.of_group(k), INTERVAL)
            evidence["quantiles"] = all_rounded(numbers)
    if sums.labels is not None:
        evidence |= {
            name: value if value is None else all_rounded(value)
            for name, value in sums.labels.evidence(k).items()
        }
    if rules.is_ordered and k < len(rules.rules) and sums.covered[k]:
        # The rate that a rule of a list would report without the rules before it.
        alone = all_rounded(sums.alone[k] / sums.mean_covered[k])
        evidence["alone"] = outcome.reported_means(alone)
    return evidence


def _rate_signs(sums):
    """Whether each rule has a higher or a lower rate or mean than all rows; the base 0.

    Of two classes it is the rate of the second.
    """
    means = sums.alone[:, -1] / np.maximum(sums.mean_covered, 1e-300)
    return np.append(np.sign(means - sums.every[-1] / sums.mean_covered[-1])[:-1], 0.0)


def _intervals(rules, sums, worth):
    """The data behind intervals, as fields of a rule model."""
    if sums.values is None:
        return {"rate_bands": sums.patterns.rate_bands(rules, worth, sums.noise)}
    if sums.patterns is None:
        return {"residuals": _residuals(rules, sums, worth)}
    return {"residuals": sums.patterns.residuals(rules, worth, sums.extremes)}


def _residuals(rules, sums, worth):
    """The leave-one-out Residuals of the counted rows; each row has one rule."""
    filled = np.flatnonzero(sums.labels.weight)
    numbers, counts = zip(*map(sums.values.of_group, filled), strict=True)
    rule = np.repeat(filled, list(map(len, numbers)))
    predictions = np.array([rule.prediction for rule in rules])
    leverage = np.array([sums.labels.leverage(k, worth) for k in range(rules.n_rules)])
    return rules.residuals_of(
        predictions[rule],
        rule,
        np.concatenate(numbers),
        np.concatenate(counts),
        leverage[rule],
        sums.extremes,
    )


@dataclass(frozen=True, eq=False)
class Evaluation(Added):
    """Measures of rules on some rows; those of other rows can be added."""

    weight: float  # of the rows
    sums: dict[str, float]  # weighted sums of measures
    answers: Moments = field(default_factory=Moments)  # of the model's numbers
    # scores against y by the prefix of their names: "" for the rules, "model_"
    scores_by: dict[str, Any] = field(default_factory=dict)
    calibration: CalibrationSums | None = None
    # whether any label is one that the rules can predict
    has_known: bool = field(default=True, metadata={"add": operator.or_})
    squares: float = 0.0  # sum of the squared losses of the rules
    squared_weight: float = 0.0  # a sum over the rows
    # sums of products of 1 and the probabilities of the positive class, of the rules
    # and of the model
    products: np.ndarray | None = None

    def __add__(self, other):
        if not self.weight or not other.weight:
            return self if self.weight else other
        return super().__add__(other)

    def scores(self, rules):
        """The result of `Simplifier.evaluate`."""
        outcome = rules.outcome
        means = {name: value / self.weight for name, value in self.sums.items()}
        if rules.form == "tree":
            means["coverage"] = means["overlap"] = 1.0
        scores = {
            "n_rules": rules.n_rules,
            "n_conditions": rules.n_conditions,
            "mean_conditions": rules._mean_conditions,
        }
        for name, value in means.items():
            if name.endswith("loss"):
                name = name.replace("loss", "fidelity")
                value = outcome.fidelity_of_loss(value, self.answers)
            scores[name] = value
        if outcome.n_classes and "model_" in self.scores_by:
            # What it would be if the class that the model predicts most were for all.
            predicted = self.scores_by["model_"].confusion.sum(axis=0)
            scores["fidelity_of_constant"] = float(predicted.max() / predicted.sum())
        if self.products is not None:
            # Pearson's, from sums of products of 1 and two numbers.
            mean = self.products[0] / self.products[0, 0]
            found = self.products / self.products[0, 0] - np.outer(mean, mean)
            scores["correlation"] = math.nan
            if min(found[1, 1], found[2, 2]) >= 1e-12:  # neither is constant
                size = math.sqrt(found[1, 1] * found[2, 2])
                scores["correlation"] = float(found[1, 2] / size)
        if "error" in scores:
            n_rows = self.weight**2 / self.squared_weight
            low, high = outcome.error_interval(
                scores["error"], self.squares / self.weight, n_rows
            )
            scores |= {"error_low": low, "error_high": high}
        for whose, parts in self.scores_by.items():
            for name, value in outcome.measured(parts).items():
                scores[f"{whose}{name}"] = value
        return scores


@dataclass(frozen=True, eq=False)
class PartEvaluator:
    """Compute the Evaluation of a part of the rows; can be pickled."""

    rules: RuleModel
    # from a table and its encoded rows to predictions and probabilities of a model
    predict: Any = None
    # whether to count predictions and true outcomes per rule
    is_by_rule: bool = False

    def __call__(self, part):
        rules, outcome = self.rules, self.rules.outcome
        matrix = rules._encode(part.X)
        y, weight = checked_columns(part, outcome, len(matrix))
        # The labels of one part may all be unknown.
        has_known = y is None or outcome.has_known(y)
        answers = probabilities = None
        if self.predict is not None:
            answers, probabilities = self.predict(part.X, matrix, y, weight)[:2]
        evaluation = evaluate_encoded(rules, matrix, answers, y, weight, probabilities)
        calibration = None
        if self.is_by_rule and y is not None:
            calibration = calibrate(rules, matrix, y, weight)
        return replace(evaluation, has_known=has_known, calibration=calibration)


def predict_encoded(forest, X, matrix, y=None, weight=None):
    """Predictions and probabilities of the forest that rules were found in."""
    raw = forest.predict_raw_encoded(matrix)
    return forest.predict_from_raw(raw), forest.outcome.probabilities_of(forest, raw)


def evaluate_encoded(rules, matrix, answers, y=None, weight=None, probabilities=None):
    """The Evaluation of rules on encoded rows; `answers` is None without a model."""
    outcome = rules.outcome
    held = rules._covers(matrix)
    weight = np.ones(len(matrix)) if weight is None else weight
    by_whom = {"": (outcome.encode_any(rules._form.predict(held)), None)}
    if answers is not None:
        answers = outcome.encode_any(answers)
        decided = decided_alike(rules, answers, probabilities)
        by_whom["model_"] = (decided, probabilities)
    labels = None if y is None else outcome.encode_any(y)
    return _evaluation(rules, held, by_whom, answers, labels, weight)


def evaluate_shard(shard, rules, values):
    """The Evaluation of rules on the rows of a shard."""
    targets, held = shard.targets, shard.covered(rules, values)
    answers, probabilities = targets["answers"], targets.get("probabilities")
    by_whom = {
        "": (rules._form.predict_codes(held), None),
        "model_": (decided_alike(rules, answers, probabilities), probabilities),
    }
    labels, weight = targets.get("labels"), shard.sample_weight
    return _evaluation(rules, held, by_whom, answers, labels, weight)


def _evaluation(rules, held, by_whom, answers, labels, weight):
    """The Evaluation of rules on some rows.

    `by_whom` has encoded predictions and probabilities of the rules and of the model,
    if any; `answers` are the predictions of the model, for fidelity; None without one.
    """
    outcome, (predicted, _) = rules.outcome, by_whom[""]
    sums, scores_by, moments, squares, products = {}, {}, Moments(), 0.0, None
    sums["coverage"] = float(weight @ held[:, :-1].any(axis=1))
    sums["overlap"] = float(weight @ held[:, :-1].sum(axis=1))
    if answers is not None:
        sums["loss"] = float(weight @ outcome.model_losses(answers, predicted))
        moments = outcome.prediction_moments(answers, weight)
        likely = by_whom["model_"][1]
        if likely is not None and outcome.is_binary and rules._form.has_probabilities:
            place, own = outcome.positive_index, rules._form.predict_proba(held)
            columns = np.ones(len(own)), own[:, place], likely[:, place]
            products = np.array(columns) * weight @ np.array(columns).T
    if labels is not None:
        costs = cost_matrix(rules)
        for whose, (codes, likely) in by_whom.items():
            losses = outcome.losses(labels, codes)
            sums[f"{whose}error"] = float(weight @ losses)
            if not whose:
                with np.errstate(over="ignore"):  # y may be as large as a float
                    squares = float(weight @ losses**2)
            rows = labels, weight, codes, likely
            scores_by[whose] = (
                outcome.scores.of(outcome, *rows, costs)
                if whose
                else rule_scores(rules, held, codes, labels, weight)
            )
    found = sums, moments, scores_by, None, True, squares, float(weight @ weight)
    return Evaluation(float(weight.sum()), *found, products)


def decided_alike(rules, answers, probabilities):
    """The model's classes, encoded, decided by the costs or threshold of the rules.

    Its own predictions if the rules have none, or it has no probabilities.
    """
    if not rules._form.has_costs or probabilities is None:
        return answers
    return rules.outcome.decision(rules.threshold, rules.costs).choose(probabilities)


def rule_scores(rules, held, predicted, labels, weight):
    """The scores of the predictions of rules on some rows."""
    outcome = rules.outcome
    rows = labels, weight, predicted, outcome.likely(rules._form, held)
    return outcome.scores.of(outcome, *rows, cost_matrix(rules))
