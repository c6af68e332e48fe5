"""The forms of rule models: how the predictions of the rules that match combine.

`Form` is the protocol. A new form is a subclass of it here with an entry in `FORMS`, a
`View` with what it prints in `rules/text.py`, and a class for users, a `RuleModel`.
No other code asks which form a rule model has.
"""

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from defragtrees._utils.types import Flags, Floats, Places, Values
from defragtrees._utils.values import all_rounded, is_finite
from defragtrees.outcomes.base import Outcome
from defragtrees.outcomes.intervals import RateBands, Residuals, band_edges
from defragtrees.outcomes.points import PRIOR_ROWS_OF_NUMBERS, FittedPoints, bent
from defragtrees.rules.conditions import (
    UNMEASURED,
    Condition,
    Rule,
    RuleSequence,
    remaining,
)
from defragtrees.rules.labels import Vocabulary
from defragtrees.rules.profile import Evidence

__all__ = ["FORMS", "Form"]

RATE_COVERAGE = 0.95


@dataclass(frozen=True, eq=False)
class Form(RuleSequence, ABC):
    """Rules and how they predict together: a rule model without names and history.

    Rule models that are searched for and counted are of this class. They are not
    validated; a `RuleModel` is, and has one as `_form`.

    `matches` is a bool array of shape (n_samples, n_rules) with the rules that match
    each row; the last one, the default rule, matches all.
    """

    rules: tuple[Rule, ...]  # all but the default rule, in order
    default: Rule
    outcome: Outcome
    threshold: float | None = None
    costs: tuple[tuple[float, ...], ...] | None = None
    categories: tuple[tuple[Any, ...] | None, ...] | None = None  # of each feature
    residuals: Residuals | None = None
    rate_bands: RateBands | None = None
    evidence: Evidence | None = None

    name: ClassVar[str]  # in settings and rule files
    is_exclusive: ClassVar[bool] = False  # one rule alone predicts each row
    is_ordered: ClassVar[bool] = False  # earlier rules take rows from a rule
    is_standalone: ClassVar[bool] = False  # each rule is true of all rows it matches
    is_sum: ClassVar[bool] = False  # points of all rules that match add up
    has_weights: ClassVar[bool] = False  # that were fitted, and decide a mean
    default_matches_all: ClassVar[bool] = False  # also rows that other rules match

    @property
    def edges(self) -> dict[int, set[float]]:
        """The features that conditions are on, and where these begin and end."""
        found: dict[int, set[float]] = {}
        for condition in (c for rule in self.rules for c in rule.conditions):
            ends = {e for e in (condition.lower, condition.upper) if math.isfinite(e)}
            found.setdefault(condition.feature, set()).update(ends)
        return found

    @classmethod
    def shown(
        cls, rules: Sequence[Sequence[Condition]], words: Vocabulary
    ) -> list[tuple[Condition, ...]]:
        """The conditions of each rule with the values that can still reach it.

        In a list a rule of one condition takes all rows that this condition accepts.
        """
        found, taken = [], list[Condition]()
        for conditions in rules:
            found.append(remaining(conditions, taken, *words[1:]))
            if cls.is_ordered and len(conditions) == 1:
                taken += conditions
        return found

    # Predicting

    @abstractmethod
    def apply(self, matches: Flags) -> Places:
        """The rule that predicts each row, or of several the one that weighs most."""

    @abstractmethod
    def predict(self, matches: Flags) -> Values:
        """The prediction for each row."""

    @abstractmethod
    def probabilities(self, matches: Flags) -> Floats:
        """The probability of each class, (n_samples, n_classes)."""

    def combined(self, matches: Flags, values: Values) -> Values:
        """What rows get if rules have these values, (n_rules, n_columns)."""
        return values[self.apply(matches)]

    def predict_codes(self, matches: Flags) -> Values:
        """Predictions as numbers of classes, or numbers."""
        return self.outcome.encode(self.predict(matches))

    def decision_scores(self, matches: Flags) -> Floats:
        """Scores of classes, of which the highest is predicted."""
        likely = self.predict_proba(matches)
        decision = self.outcome.decision(self.threshold, self.costs)
        scores: Floats = decision.scores(likely)
        return scores

    def totals(self, matches: Flags) -> Floats:
        """Totals of points; without points an array of no columns."""
        return np.empty((len(matches), 0))

    @property
    def score_names(self) -> list[str]:
        """Names of the totals of points."""
        return []

    def scores(self, matches: Flags) -> dict[str, Values]:
        """Columns of a table beside the prediction: the rule, or totals of points."""
        return {"rule": self.apply(matches) + 1}

    def reported_classes(self, are_all: bool | None) -> tuple[Any, ...]:
        """The classes whose probability is in a table; None asks for the default."""
        return tuple(self.outcome.labels or ()) if are_all else ()

    # Counting

    def members(self, matches: Flags) -> Flags:
        """Which rows count for which rules."""
        return matches.copy()

    def groups(self, matches: Flags) -> tuple[Any, Any]:
        """Rows, and the rule that each counts for; a row may come more than once."""
        rows, group = np.nonzero(self.members(matches))
        return rows, group

    def n_matching(self, matches: Flags) -> Places:
        """How many rules match each row, the default left out."""
        n_rules: Places = matches[:, :-1].sum(axis=1)
        return n_rules

    def leverage(self, matches: Flags, weight: Floats) -> Floats:
        """The share of a row in its own prediction, for patterns of matching rules.

        `weight` is that of the rows of each pattern.
        """
        return np.zeros(len(matches))

    def calibration_keys(self, matches: Flags) -> Values:
        """A key of rows whose estimates and y are compared: the index of the rule."""
        return self.apply(matches)

    def rate_interval(self, matches: Flags) -> Floats:
        """95% interval of the rate of a class in rows with about the same probability.

        Or of events, in rows with about the same predicted rate. See
        `RuleModel.rate_interval`.
        """
        self._check_rates()
        if self.rate_bands is None:
            return np.full((len(matches), 2), math.nan)
        if not self.outcome.has_probabilities:
            return self.rate_bands.interval(self.predict(matches), is_share=False)
        likely = self.predict_proba(matches)
        if not self.outcome.is_binary:
            chosen = self.predict_codes(matches)
            return self.rate_bands.interval(likely[np.arange(len(matches)), chosen])
        return self.band_ends(likely[:, 1])

    def weighted(self, fit_points: Callable[[], FittedPoints], weight: Floats) -> Self:
        """The counted rules with their weights or points; `fit_points` fits points.

        `weight` is that of the rows of each rule.
        """
        return self

    @property
    def training_rates(self) -> tuple[float, ...] | None:
        """Rates of the classes in all training rows, if the rules have counted them."""
        return None

    @property
    def unpredicted_classes(self) -> tuple[Any, ...]:
        """The classes that are never predicted: no rule gives them any share."""
        if not self.outcome.has_probabilities:
            return ()
        shares = np.array([rule.distribution for rule in self]).max(axis=0)
        pairs = zip(self.outcome.labels or (), shares, strict=True)
        return tuple(label for label, share in pairs if share <= 0)

    # Editing and checking

    @classmethod
    def uncounted(cls, rule: Rule, outcome: Outcome) -> Rule:
        """A default rule as the form has it before rows are counted."""
        return rule

    def on_scale_of(self, before: Self) -> Self:
        """The rules with their points, if they have any, on the scale of others."""
        return self

    @property
    def editable(self) -> dict[str, bool]:
        """Which of "prediction", "points" and "move" change something in this form."""
        follows = self.outcome.has_probabilities and not self.is_exclusive
        return {"prediction": not follows, "points": False, "move": self.is_exclusive}

    def read_prediction(self, text: str) -> Any:
        """What `with_prediction` takes, from a text: a class as it is, or a number."""
        return self.outcome.view.parse(text)

    def with_prediction(self, rule: Rule, prediction: Any) -> Rule:
        """A rule with another prediction, if that does not follow from others.

        Where costs or a threshold decide, it overrides them.
        """
        if not self.editable["prediction"]:
            raise ValueError(
                "The prediction follows from probabilities and cannot be set. Drop or "
                "replace the rule, or refit it on other rows."
            )
        made: Rule = self.outcome.with_prediction(rule, prediction)
        return dataclasses.replace(made, is_override=self.has_costs)

    def new_rule(
        self,
        conditions: tuple[Condition, ...],
        text: str,
        probability: float | None,
        rates: Floats | None,
    ) -> Rule:
        """A rule to insert, which predicts what a text says.

        `rates` are the shares of the classes in all counted rows.
        """
        shares = self.default.distribution
        if shares is not None and rates is not None:
            shares = tuple(rates.tolist())
        rule = Rule(conditions, self.default.prediction, shares)
        prediction = self.read_prediction(text)
        made: Rule = self.outcome.with_prediction(rule, prediction)
        if probability is not None:
            made = self.outcome.with_probability(made, probability)
        if self.has_costs:
            decision = self.outcome.decision(self.threshold, self.costs)
            [follows] = self.outcome.decode(decision.choose([made.distribution]))
            if made.prediction != follows:
                raise ValueError(
                    f"Costs or a threshold decide here, and predict {follows} from the "
                    f"probabilities of this rule. Give a probability from which "
                    f"{made.prediction} follows, such as probability=0.9."
                )
        return made

    def check(self) -> None:
        """Raise ValueError for settings or intervals that contradict the form."""
        outcome, residuals = self.outcome, self.residuals
        for name, value, is_kept in (
            ("residuals", residuals, outcome.keeps_residuals),
            ("rate_bands", self.rate_bands, outcome.keeps_rates),
        ):
            if value is not None and not is_kept:
                raise ValueError(f"Rules for {outcome.task} have no {name}.")
        if self.rate_bands is not None and outcome.has_probabilities:
            self.rate_bands.check_shares()
        if residuals is not None and residuals.edges is None:
            if not self.is_exclusive or len(residuals.bands) != self.n_rules:
                raise ValueError(
                    "residuals without edges must have a band per rule, and one rule "
                    f"must predict each row; got {len(residuals.bands)} for "
                    f"{self.n_rules} rules."
                )
        if self.has_costs:
            self.check_decision()

    def check_decision(self) -> None:
        """Raise ValueError for a threshold or costs that predictions do not follow."""
        outcome = self.outcome
        if not outcome.n_classes:
            raise ValueError(
                "threshold and costs need rules for classes of which one predicts; got "
                f"rules for {outcome.task} with form={self.name!r}."
            )
        if not self.has_probabilities:
            raise ValueError("threshold and costs need the distribution of each rule.")
        decision = outcome.decision(self.threshold, self.costs)
        shares = np.array([rule.distribution for rule in self], dtype=np.float64)
        for rule, place in zip(self, decision.choose(shares).tolist(), strict=True):
            label = outcome.labels[place]
            if rule.prediction != label and not rule.is_override:
                raise ValueError(
                    "Each rule must predict the class that follows from its "
                    f"distribution, which is {label!r}; got {rule.prediction!r}. "
                    "Replace its prediction too."
                )

    # The same for all forms

    @property
    def has_probabilities(self) -> bool:
        """Whether each rule has the distribution that `predict_proba` needs."""
        return all(rule.distribution is not None for rule in self)

    @property
    def has_costs(self) -> bool:
        """Whether costs or a threshold decide between classes."""
        return self.costs is not None or self.threshold is not None

    def predict_proba(self, matches: Flags) -> Floats:
        """`probabilities`, or AttributeError where there are none."""
        if not self.outcome.n_classes:
            raise AttributeError("Rules for a number have no class probabilities.")
        if not self.has_probabilities:
            raise AttributeError(
                "Class probabilities need a distribution in each rule; one has none. "
                "Give each Rule its distribution."
            )
        return self.probabilities(matches)

    def predict_interval(self, matches: Flags, coverage: float) -> Floats:
        """Prediction intervals; `residuals` must be known."""
        assert self.residuals is not None
        rule, predictions = self.apply(matches), self.predict(matches)
        return self.residuals.interval(predictions, rule, coverage)

    def intervals(self, matches: Flags, coverage: Any) -> Floats:
        """Prediction intervals of numbers, or the 95% intervals of rates."""
        if not self.outcome.keeps_rates:
            self.check_coverage(coverage)
            return self.predict_interval(matches, float(coverage))
        if coverage != RATE_COVERAGE:
            raise ValueError(
                f"The interval of a rate is the one of {RATE_COVERAGE}; got "
                f"{coverage!r}. Pass interval={RATE_COVERAGE}."
            )
        return self.rate_interval(matches)

    def check_coverage(self, coverage: Any, method: str = "refit") -> None:
        """Raise ValueError for intervals that cannot be given.

        `method` is the one that calibrates, for the message.
        """
        if not isinstance(coverage, (float, np.floating)) or not 0 < coverage < 1:
            raise ValueError(
                f"coverage must be a number between 0 and 1; got {coverage!r}. 0.9 is "
                "for intervals that include y in nine rows of ten."
            )
        self._check_numbers()
        if self.residuals is None:
            raise ValueError(
                "predict_interval needs rows with y; none were given. Call "
                f"{method}(X, y) with rows that were not fitted on, or fit with y."
            )
        self.residuals.check_coverage(float(coverage))

    def rows_to_calibrate(self, matches: Flags, y: Any) -> Floats:
        """Prediction, rule and y of each row, for `calibrated`."""
        self._check_numbers()
        if y is None:
            raise ValueError(
                "y is needed to calibrate intervals; got None. Pass the numbers that "
                "are true for these rows."
            )
        y = self.outcome.read(y, len(matches))
        return np.column_stack([self.predict(matches), self.apply(matches), y])

    def calibrated(self, rows: Floats) -> Residuals:
        """Residuals of `rows_to_calibrate`, rows that were not fitted on."""
        if not len(rows):
            raise ValueError(
                "At least one row is needed to calibrate intervals; got none. Pass "
                "rows that were not fitted on."
            )
        predictions, rule, y = rows.T
        extremes = float(y.min()), float(y.max())
        return self.residuals_of(
            predictions, rule.astype(np.intp), y, np.ones(len(y)), 0.0, extremes
        )

    def _check_numbers(self) -> None:
        if self.outcome.keeps_rates:
            what = "classes" if self.outcome.n_classes else self.outcome.task
            raise AttributeError(
                f"Rules for {what} have no intervals of predictions; use rate_interval."
            )

    def residuals_of(
        self,
        predictions: Floats,
        rule: Places,
        y: Floats,
        weight: Floats,
        leverage: Any,
        extremes: tuple[float, float],
    ) -> Residuals:
        """Residuals of rows whose y has a share, the leverage, in its prediction."""
        residuals = (y - predictions) / (1 - leverage)
        if self.is_exclusive:
            return Residuals.of(
                residuals, rule, self.n_rules, weight, extremes=extremes
            )
        edges = band_edges(predictions, weight)
        band = np.searchsorted(edges, predictions)
        return Residuals.of(residuals, band, len(edges) + 1, weight, edges, extremes)

    def band_ends(self, likely: Floats) -> Floats:
        """Intervals of two classes, by the probability of the second."""
        assert self.rate_bands is not None
        ends = self.rate_bands.interval(likely)
        return ends if self.outcome.positive_index else 1 - ends[:, ::-1]

    def _check_rates(self) -> None:
        if not self.outcome.keeps_rates:
            raise ValueError(
                "rate_interval is for classes and rates of events; these rules predict "
                "numbers. Use predict_interval."
            )


class ListForm(Form):
    """The first rule that matches a row predicts it."""

    name: ClassVar[str] = "list"
    is_exclusive: ClassVar[bool] = True
    is_ordered: ClassVar[bool] = True

    def apply(self, matches: Flags) -> Places:
        first: Places = matches.argmax(axis=1)
        return first

    def predict(self, matches: Flags) -> Values:
        every = [rule.prediction for rule in self]
        return self.combined(matches, np.asarray(every, dtype=self.outcome.dtype))

    def predict_codes(self, matches: Flags) -> Values:
        codes = self.outcome.encode(np.array([rule.prediction for rule in self]))
        return self.combined(matches, codes)

    def probabilities(self, matches: Flags) -> Floats:
        return self.combined(matches, np.array([rule.distribution for rule in self]))

    def members(self, matches: Flags) -> Flags:
        return np.eye(self.n_rules, dtype=bool)[self.apply(matches)]

    def groups(self, matches: Flags) -> tuple[Any, Any]:
        rule = np.full(len(matches), self.n_rules - 1)
        for k in range(self.n_rules - 2, -1, -1):
            np.copyto(rule, k, where=matches[:, k])
        return slice(None), rule

    def rate_interval(self, matches: Flags) -> Floats:
        self._check_rates()
        unknown = (math.nan, math.nan)
        ends = [self.outcome.estimate(rule)["interval"] or unknown for rule in self]
        return np.array(ends, dtype=np.float64)[self.apply(matches)]

    @property
    def training_rates(self) -> tuple[float, ...] | None:
        if any(rule.rates is None or not rule.share >= 0 for rule in self):
            return None
        total = sum(rule.share for rule in self)
        sums = np.array([rule.share * np.array(rule.rates) for rule in self]).sum(0)
        return tuple((sums / total).tolist()) if total > 0 else None

    @property
    def unpredicted_classes(self) -> tuple[Any, ...]:
        predicted = {rule.prediction for rule in self}
        labels = self.outcome.labels or ()
        return tuple(label for label in labels if label not in predicted)


class TreeForm(ListForm):
    """The rules are the leaves of a tree; the default rule is one like the others."""

    name: ClassVar[str] = "tree"
    is_ordered: ClassVar[bool] = False

    def n_matching(self, matches: Flags) -> Places:
        return np.ones(len(matches), int)


class AverageForm(Form):
    """The prediction is the mean, by weight, of all rules that match."""

    name: ClassVar[str] = "average"
    has_weights: ClassVar[bool] = True
    default_matches_all: ClassVar[bool] = True

    def apply(self, matches: Flags) -> Places:
        return _heaviest(matches, [rule.weight for rule in self])

    def predict(self, matches: Flags) -> Values:
        means = self.probabilities(matches)
        return self.outcome.decide(means, self.threshold, self.costs)

    def probabilities(self, matches: Flags) -> Floats:
        outputs = np.array([self.outcome.outputs(rule) for rule in self])
        return self.combined(matches, outputs)

    def combined(self, matches: Flags, values: Values) -> Values:
        total = np.zeros((len(matches), values.shape[1]))
        weight = np.zeros(len(matches))
        # Rule by rule: the last digits must not depend on the number of rows.
        for k, rule in enumerate(self):
            total += np.outer(matches[:, k] * rule.weight, values[k])
            weight += matches[:, k] * rule.weight
        without = weight <= 0
        total[without], weight[without] = values[-1], 1.0
        return total / weight[:, None]

    def new_rule(self, *given: Any) -> Rule:
        raise ValueError(
            "Averaged rules have weights that were fitted together, so no rule can be "
            "inserted. Fit them again."
        )


class StandaloneForm(AverageForm):
    """Each rule is true of all rows that it matches; several predict their mean."""

    name: ClassVar[str] = "standalone"
    is_standalone: ClassVar[bool] = True
    has_weights: ClassVar[bool] = False
    default_matches_all: ClassVar[bool] = False
    new_rule = Form.new_rule

    def members(self, matches: Flags) -> Flags:
        members = matches.copy()
        members[:, -1] = ~matches[:, :-1].any(axis=1)
        return members

    def leverage(self, matches: Flags, weight: Floats) -> Floats:
        # A row is in the mean of each rule that matches it, and these share their rows.
        members = self.members(matches).astype(np.float64)
        n_rows = np.maximum(members @ (weight @ members), 1e-300)
        share: Floats = members.sum(axis=1) / n_rows
        return share

    @classmethod
    def uncounted(cls, rule: Rule, outcome: Outcome) -> Rule:
        return dataclasses.replace(rule, weight=0.0)

    def weighted(self, fit_points: Callable[[], FittedPoints], weight: Floats) -> Self:
        pairs = zip(self.rules, all_rounded(weight), strict=False)
        rules = (dataclasses.replace(rule, weight=own) for rule, own in pairs)
        default = dataclasses.replace(self.default, weight=0.0)
        return dataclasses.replace(self, rules=tuple(rules), default=default)

    def check(self) -> None:
        super().check()
        if self.default.weight != 0:
            raise ValueError(
                "The default of standalone rules predicts where no rule matches, so "
                f"its weight must be 0; got {self.default.weight!r}."
            )


@dataclass(frozen=True, eq=False)
class PointsForm(Form):
    """The points of the default rule and of all rules that match add up."""

    unit: float = 1.0  # a total stands for `(total - origin) * unit`
    origin: float = 0.0
    # (value, slope): below the first value and above the second values change by slope
    # times as much
    tails: tuple[tuple[float, float], ...] = ()

    name: ClassVar[str] = "points"
    is_sum: ClassVar[bool] = True
    default_matches_all: ClassVar[bool] = True

    def totals(self, matches: Flags) -> Floats:
        # From the base on, rule by rule: exports add up in the same order.
        totals = np.tile(np.array(self.default.points, np.float64), (len(matches), 1))
        for k, rule in enumerate(self.rules):
            totals += np.outer(matches[:, k], np.array(rule.points, np.float64))
        return totals

    def values_of(self, totals: Floats) -> Floats:
        """What totals of points stand for: numbers, or log-odds."""
        return bent((totals - self.origin) * self.unit, self.tails)

    def apply(self, matches: Flags) -> Places:
        # The base matches everywhere, so it is the strongest only if it is alone.
        points = [np.abs(rule.points or ()).max() for rule in self.rules]
        return _heaviest(matches, [*points, 0.0])

    def predict(self, matches: Flags) -> Values:
        values = self.values_of(self.totals(matches))
        return self.outcome.decide_points(values, self.threshold, self.costs)

    def probabilities(self, matches: Flags) -> Floats:
        return self.outcome.linked(self.values_of(self.totals(matches)))

    def decision_scores(self, matches: Flags) -> Floats:
        scores = super().decision_scores(matches)
        if self.outcome.is_binary:
            decision = self.outcome.decision(self.threshold, self.costs)
            values = self.values_of(self.totals(matches))
            scores = decision.scores_of_log_odds(values[:, 0])
        return scores

    def scores(self, matches: Flags) -> dict[str, Values]:
        return dict(zip(self.score_names, self.totals(matches).T, strict=True))

    @property
    def scored_class(self) -> Any:
        """The class, of two, that is more probable the higher the total."""
        labels = self.outcome.labels
        return labels[int(self.unit > 0)] if self.outcome.is_binary else None

    def reported_classes(self, are_all: bool | None) -> tuple[Any, ...]:
        if are_all is None and self.outcome.is_binary:
            return (self.outcome.positive_class,)
        return super().reported_classes(are_all)

    @property
    def score_names(self) -> list[str]:
        names = [f"score {label}" for label in self.outcome.labels or ()]
        return ["score"] if self.outcome.n_points == 1 else names

    def leverage(self, matches: Flags, weight: Floats) -> Floats:
        flags = matches.astype(np.float64)
        prior = np.append(np.full(self.n_rules - 1, PRIOR_ROWS_OF_NUMBERS), 0.0)
        matrix = (flags * weight[:, None]).T @ flags + np.diag(prior)
        share: Floats = np.einsum("ij,ji->i", flags, np.linalg.solve(matrix, flags.T))
        return share

    def calibration_keys(self, matches: Flags) -> Values:
        # No rule predicts alone: rows with the same total or, of more classes, with the
        # same predicted class and probability, which is less than one class apart.
        if self.outcome.n_points == 1:
            return np.round(self.totals(matches)[:, 0], 9)
        codes = self.predict_codes(matches)
        likely = np.take_along_axis(self.predict_proba(matches), codes[:, None], axis=1)
        return np.round(codes + likely[:, 0] / 2, 9)

    def weighted(self, fit_points: Callable[[], FittedPoints], weight: Floats) -> Self:
        card = fit_points()
        # Points are fitted to the second class, and count for the positive one.
        is_turned = self.outcome.is_binary and self.outcome.positive_index == 0
        sign = -1.0 if is_turned else 1.0
        *made, default = (
            dataclasses.replace(rule, points=tuple(points.tolist()))
            for rule, points in zip(self, sign * card.points + 0.0, strict=True)
        )
        scale = {"unit": sign * card.unit, "origin": sign * card.origin + 0.0}
        given: dict[str, Any] = {**scale, "tails": card.tails}
        return dataclasses.replace(self, rules=tuple(made), default=default, **given)

    @property
    def training_rates(self) -> tuple[float, ...] | None:
        return self.default.rates

    @property
    def unpredicted_classes(self) -> tuple[Any, ...]:
        return ()

    @classmethod
    def uncounted(cls, rule: Rule, outcome: Outcome) -> Rule:
        return dataclasses.replace(rule, points=(0.0,) * outcome.n_points)

    def on_scale_of(self, before: Self) -> Self:
        if (before.unit, before.origin) == (self.unit, self.origin):
            return self
        points = [p for rule in before for p in rule.points or ()]
        is_whole = all(float(p).is_integer() for p in points)
        return self.rescaled(before.unit, before.origin, is_whole)

    def rescaled(self, unit: float, origin: float, is_whole: bool) -> Self:
        """The same card with another unit and origin, in whole points if asked for."""

        def scaled(rule: Rule, before: float, after: float) -> Rule:
            points = [
                (p - before) * self.unit / unit + after for p in rule.points or ()
            ]
            points = [float(round(p)) for p in points] if is_whole else points
            return dataclasses.replace(rule, points=tuple(points))

        made = tuple(scaled(rule, 0.0, 0.0) for rule in self.rules)
        base = scaled(self.default, self.origin, origin)
        return dataclasses.replace(
            self, rules=made, default=base, unit=unit, origin=origin
        )

    @property
    def editable(self) -> dict[str, bool]:
        return {"prediction": False, "points": True, "move": False}

    def read_prediction(self, text: str) -> Any:
        try:
            return [float(part) for part in text.split(",")]
        except ValueError:
            raise ValueError(
                f"A rule of a scorecard has points, such as +3; got {text!r}."
            ) from None

    def with_prediction(self, rule: Rule, prediction: Any) -> Rule:
        points = prediction if hasattr(prediction, "__len__") else (prediction,)
        if len(points) != self.outcome.n_points or not all(map(is_finite, points)):
            raise ValueError(
                f"A rule of a scorecard has {self.outcome.n_points} finite points; got "
                f"{prediction!r}. Give a number, or one per class."
            )
        return dataclasses.replace(rule, points=tuple(map(float, points)))

    def new_rule(
        self,
        conditions: tuple[Condition, ...],
        text: str,
        probability: float | None,
        rates: Floats | None,
    ) -> Rule:
        if probability is not None:
            raise ValueError("A rule of a scorecard has points, and no probability.")
        made = dataclasses.replace(self.default, conditions=conditions, **UNMEASURED)
        return self.with_prediction(made, self.read_prediction(text))

    def check(self) -> None:
        super().check()
        is_scale = is_finite(self.unit) and is_finite(self.origin)
        is_unit = self.unit > 0 or (self.unit < 0 and self.outcome.is_binary)
        if not (is_scale and is_unit):
            raise ValueError(
                "unit must be a number above 0, or below 0 where points count for the "
                f"first of two classes, and origin a number; got {self.unit!r} and "
                f"{self.origin!r}."
            )
        if self.tails:
            (low, *_), (high, *_) = self.tails[0], self.tails[-1]
            is_map = len(self.tails) == 2 and low <= high
            is_rising = all(slope > 0 for _, slope in self.tails)
            if not (self.outcome.is_binary and is_map and is_rising):
                raise ValueError(
                    "tails are for two classes: two log-odds in ascending order, each "
                    f"with a slope above 0; got {self.tails!r}."
                )

    def check_decision(self) -> None:
        if not self.outcome.n_classes:
            super().check_decision()
        self.outcome.decision(self.threshold, self.costs)


FORMS: dict[str, type[Form]] = {
    form.name: form
    for form in (ListForm, TreeForm, StandaloneForm, PointsForm, AverageForm)
}


def _heaviest(matches: Flags, weights: list[float]) -> Places:
    """The rule with the most weight of those that match."""
    heaviest: Places = np.where(matches, np.array(weights), -1.0).argmax(axis=1)
    return heaviest
