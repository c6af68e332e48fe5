"""The forms of rule models: how the predictions of the rules that match combine.

`FORMS` names them as rule files do.
"""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.types import Flags, Floats, Places, Rows, Values
from defragtrees._utils.values import is_finite
from defragtrees.outcomes.points import PRIOR_ROWS_OF_NUMBERS
from defragtrees.rules.conditions import UNMEASURED, Condition, Rule
from defragtrees.rules.model import RuleModel
from defragtrees.rules.text import Cells, Explanation, condition_text, total_text

__all__ = ["FORMS", "RuleEnsemble", "RuleList", "RuleSet", "RuleTree", "Scorecard"]

MOST_REASONS = 1000


@dataclass(frozen=True)
class ReasonCode:
    """A rule of a scorecard that can cost a row points."""

    rule: int  # its index
    points: float  # that it costs
    if_match: bool  # whether it costs them where it matches, or where it does not
    text: str


@dataclass(frozen=True, eq=False, repr=False)
class RuleList(RuleModel):
    """Rules in order: the first that matches a row predicts it, else the default.

    Parameters
    ----------
    rules, default, feature_names, task, classes, ...
        As for `RuleModel`.

    Examples
    --------
    >>> from defragtrees import Condition, Rule
    >>> warm = Rule((Condition(0, lower=20.0),), "yes")
    >>> rules = RuleList((warm,), Rule((), "no"), ("degrees",), "classification",
    ...                  ("no", "yes"))
    >>> rules
    <RuleList: 2 rules, 1 features, 1.0 conditions per rule>
    >>> print(rules)
    #  if            then
    1  degrees > 20  yes
    2  otherwise     no
    >>> rules.predict([[21.0], [20.0]]).tolist()
    ['yes', 'no']
    """

    form: ClassVar[str] = "list"
    _is_exclusive: ClassVar[bool] = True
    _is_ordered: ClassVar[bool] = True
    _usage_text: ClassVar[str] = (
        "Apply the rules in order. The first rule whose conditions all match "
        "predicts; skip the rules after it."
    )
    _reading_text: ClassVar[str] = (
        "The rules apply in order: the first one that matches a row predicts it."
    )
    _short_size: ClassVar[str] = (
        "; all but the default rule match {coverage} of the rows."
    )
    _size: ClassVar[str] = f"{_short_size[:-1]}, {{overlap}} per row."
    _fixed_text: ClassVar[str] = (
        "The prediction of a rule follows from its probabilities and the costs, so it "
        "cannot be changed here."
    )

    @property
    def _unpredicted_classes(self) -> tuple[Any, ...]:
        predicted = {rule.prediction for rule in self}
        return tuple(label for label in self.classes or () if label not in predicted)

    @property
    def _training_rates(self) -> tuple[float, ...] | None:
        if any(rule.rates is None or not rule.n_rows >= 0 for rule in self):
            return None
        total = sum(rule.n_rows for rule in self)
        sums = np.array([rule.n_rows * np.array(rule.rates) for rule in self]).sum(0)
        return tuple((sums / total).tolist()) if total > 0 else None

    def _apply(self, matches: Flags) -> Places:
        return matches.argmax(axis=1)

    def _predict(self, matches: Flags) -> Values:
        every = [rule.prediction for rule in self]
        return np.asarray(every, dtype=self.outcome.dtype)[self._apply(matches)]

    def _predict_codes(self, matches: Flags) -> Values:
        codes = self.outcome.encode(np.array([rule.prediction for rule in self]))
        return codes[self._apply(matches)]

    def _probabilities(self, matches: Flags) -> Floats:
        return np.array([rule.distribution for rule in self])[self._apply(matches)]

    def _members(self, matches: Flags) -> Flags:
        return np.eye(self.n_rules, dtype=bool)[self._apply(matches)]

    def _groups(self, matches: Flags) -> tuple[Any, Any]:
        rule = np.full(len(matches), self.n_rules - 1)
        for k in range(self.n_rules - 2, -1, -1):
            np.copyto(rule, k, where=matches[:, k])
        return slice(None), rule

    @cached_property
    def _shown_conditions(self) -> tuple[tuple[Condition, ...], ...]:
        """The values of each condition that can still reach its rule.

        A rule before it with one condition takes all rows that this condition accepts.
        """
        shown, taken = [], list[Condition]()
        for rule in self.rules:
            conditions = []
            for condition in rule.conditions:
                before = [c for c in taken if c.feature == condition.feature]
                # As often as there are conditions: each may make another one adjoin.
                for other in before * len(before):
                    condition = condition.without(other)
                conditions.append(condition)
            shown.append(tuple(conditions))
            if len(rule.conditions) == 1 and self._is_ordered:
                taken += rule.conditions
        return tuple(shown)

    def _combination_text(self) -> str:
        if len(self.rules) < 2:
            return ""
        return "Rules apply in order; the first match predicts."

    def _explained(
        self, matrix: Floats, matches: Flags, places: list[int]
    ) -> Iterator[tuple[Any, Any]]:
        # Of each rule the first condition that fails, in rows where one does.
        failing = [
            np.argmin([c.covers(matrix[:, c.feature]) for c in rule.conditions], axis=0)
            if rule.conditions
            else np.zeros(len(matrix), int)
            for rule in self.rules
        ]
        for i, place in enumerate(places):
            first = [self._shown_conditions[k][failing[k][i]] for k in range(place)]
            yield (), tuple(enumerate(first))

    def _explanation_cells(self, row: Floats, explanation: Explanation) -> Cells:
        header, rows = super()._explanation_cells(row, explanation)
        rows = [[*line, "yes"] for line in rows]
        for k, condition in explanation.failed if self._is_ordered else ():
            value = self._value_text(row, condition.feature)
            line = [str(k + 1), condition_text(self, condition), value, "no"]
            rows.append([render.plain(cell) for cell in line])
        return [*header, "match"], rows

    def _rate_interval(self, matches: Flags) -> Floats:
        if not self.outcome.n_classes:
            return super()._rate_interval(matches)
        unknown = (math.nan, math.nan)
        ends = [self.outcome.estimate(rule)["interval"] or unknown for rule in self]
        return np.array(ends, dtype=np.float64)[self._apply(matches)]


@dataclass(frozen=True, eq=False, repr=False)
class RuleTree(RuleList):
    """The leaves of a tree: exactly one rule matches each row and predicts it.

    When it is edited it becomes a `RuleList`.

    Parameters
    ----------
    rules, default, feature_names, task, classes, ...
        As for `RuleModel`; the default rule is one of the leaves.
    """

    form: ClassVar[str] = "tree"
    _is_ordered: ClassVar[bool] = False
    _usage_text: ClassVar[str] = "Exactly one rule matches each row and predicts it."
    _reading_text: ClassVar[str] = (
        "The rules are the leaves of one tree: exactly one of them matches each row, "
        "and it predicts."
    )
    _short_size: ClassVar[str] = "."
    _size: ClassVar[str] = "; exactly one of them matches each row."

    def _n_matching(self, matches: Flags) -> Places:
        return np.ones(len(matches), int)  # the default is a leaf like the others

    def _combination_text(self) -> str:
        return ""

    def _edited(self, *arguments: Any, **settings: Any) -> Any:
        # A tree without one of its leaves is a list.
        made = super()._edited(*arguments, **settings)
        return RuleList(
            **{field.name: getattr(made, field.name) for field in fields(made)}
        )


class _AveragedRules(RuleModel):
    """Rules whose prediction is the mean, by weight, of all rules that match."""

    def _apply(self, matches: Flags) -> Places:
        return _heaviest(matches, [rule.weight for rule in self])

    def _predict(self, matches: Flags) -> Values:
        return self.outcome.decide(self._averaged(matches), self.threshold, self.costs)

    def _probabilities(self, matches: Flags) -> Floats:
        return self._averaged(matches)

    def _averaged(self, matches: Flags) -> Floats:
        """Mean by weight of the outputs of all rules that match."""
        outputs = np.array([self.outcome.outputs(rule) for rule in self])
        total = np.zeros((len(matches), outputs.shape[1]))
        weight = np.zeros(len(matches))
        # Rule by rule: the last digits must not depend on the number of rows.
        for k, rule in enumerate(self):
            total += np.outer(matches[:, k] * rule.weight, outputs[k])
            weight += matches[:, k] * rule.weight
        without = weight <= 0
        total[without], weight[without] = outputs[-1], 1.0
        return total / weight[:, None]

    def conflicts(self, X: Rows) -> Flags:
        """Mark rows matched by rules with different classes; none in regression.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        bool array of shape (n_samples,)

        Examples
        --------
        >>> from defragtrees import Condition, Rule, RuleSet
        >>> warm = Rule((Condition(0, lower=20.0),), "yes", (0.2, 0.8))
        >>> calm = Rule((Condition(1, upper=3.0),), "no", (0.7, 0.3))
        >>> other = Rule((), "no", (0.9, 0.1), weight=0.0)
        >>> both = RuleSet((warm, calm), other, ("degrees", "wind"), "classification",
        ...     classes=("no", "yes"))
        >>> both.conflicts([[21.0, 1.0], [21.0, 9.0]]).tolist()
        [True, False]
        """
        members = self._members(self.covers(X))
        is_given = [
            members[:, [rule.prediction == label for rule in self]].any(axis=1)
            for label in self.classes or ()
        ]
        is_several = np.sum(is_given, axis=0) > 1
        return is_several if is_given else np.zeros(len(members), bool)

    def _contribution(self, rule: Rule) -> dict[str, str]:
        """What a rule contributes to a mean: its prediction and its weight."""
        weight = {"weight": render.rounded(rule.weight)}
        weight = weight if self._shows_weights else {"rows": render.count(rule.n_rows)}
        return {**self.outcome.view.contribution(rule), **weight}


@dataclass(frozen=True, eq=False, repr=False)
class RuleSet(_AveragedRules):
    """Standalone rules: each is true of all rows that it matches, whatever the others.

    Where several match, the prediction is the mean of theirs, weighted by the rows that
    each matches; the default predicts rows that no rule matches.

    Parameters
    ----------
    rules, default, feature_names, task, classes, ...
        As for `RuleModel`; the weight of the default rule must be 0.

    Examples
    --------
    >>> from defragtrees import Condition, Rule
    >>> warm = Rule((Condition(0, lower=20.0),), 5.0, weight=10.0)
    >>> calm = Rule((Condition(1, upper=3.0),), 2.0, weight=20.0)
    >>> rules = RuleSet((warm, calm), Rule((), 1.0, weight=0.0), ("degrees", "wind"),
    ...                 "regression")
    >>> rules.predict([[21.0, 9.0], [21.0, 1.0], [3.0, 9.0]]).tolist()
    [5.0, 3.0, 1.0]
    """

    form: ClassVar[str] = "standalone"
    _usage_text: ClassVar[str] = (
        "Each rule stands alone: its rate is that of all rows that it matches. "
        "Where several rules match, the prediction is their mean, weighted by rows."
    )
    _reading_text: ClassVar[str] = _usage_text
    _size: ClassVar[str] = (
        ", each with the rate of all rows that it matches; they match {coverage} of "
        "the rows, {overlap} per row."
    )
    _fixed_text: ClassVar[str] = (
        "Standalone rules have no order, and where several match their probabilities "
        "decide. A rule can be dropped and its conditions changed."
    )

    def _check(self) -> None:
        super()._check()
        if self.default.weight != 0:
            raise ValueError(
                "The default of standalone rules predicts where no rule matches, so "
                f"its weight must be 0; got {self.default.weight!r}."
            )

    def _members(self, matches: Flags) -> Flags:
        members = matches.copy()
        members[:, -1] = ~matches[:, :-1].any(axis=1)
        return members

    def _leverage(self, matches: Flags, weight: Floats) -> Floats:
        # A row is in the mean of each rule that matches it, and these share their rows.
        members = self._members(matches).astype(np.float64)
        n_rows = np.maximum(members @ (weight @ members), 1e-300)
        return members.sum(axis=1) / n_rows

    @classmethod
    def _uncounted(cls, rule: Rule, n_points: int) -> Rule:
        return rule if rule.conditions else dataclasses.replace(rule, weight=0.0)

    def _with_weights(
        self, counted: list[Rule], fit_points: Any
    ) -> tuple[list[Rule], dict[str, Any]]:
        return [
            dataclasses.replace(
                rule, weight=rule.n_rows if k < len(self.rules) else 0.0
            )
            for k, rule in enumerate(counted)
        ], {}

    def _combination_text(self) -> str:
        if not self.rules:
            return ""
        return (
            "Each rule stands alone. Where several match, the prediction is their "
            "mean, weighted by rows."
        )

    def _explained(
        self, matrix: Floats, matches: Flags, places: list[int]
    ) -> Iterator[tuple[Any, Any]]:
        for members, failed in super()._explained(matrix, matches, places):
            yield members if len(members) > 1 else (), failed


@dataclass(frozen=True, eq=False, repr=False)
class Scorecard(RuleModel):
    """Rules with points: those of the default and of all rules that match add up.

    Parameters
    ----------
    rules, default, feature_names, task, classes, ...
        As for `RuleModel`; each rule has `points`, and the default rule is the base.
    unit, origin : float
        What a total stands for: `(total - origin) * unit` is the number, or the
        log-odds of the second of two classes. With a negative unit, points count for
        the first.

    Examples
    --------
    >>> from defragtrees import Condition, Rule
    >>> warm = Rule((Condition(0, lower=20.0),), 5.0, points=(3.0,))
    >>> card = Scorecard((warm,), Rule((), 2.0, points=(2.0,)), ("degrees",),
    ...                  "regression")
    >>> print(card)
    #  if            points
    1  degrees > 20      +3
    2  base              +2
    <BLANKLINE>
    Add up the points of the base and of all rules that match: the total is the
    prediction.
    >>> card.totals([[21.0], [19.0]]).tolist()
    [[5.0], [2.0]]
    >>> card.values_of(card.totals([[21.0]])).tolist()
    [[5.0]]
    """

    unit: float = 1.0
    origin: float = 0.0

    form: ClassVar[str] = "points"
    _default_text: ClassVar[str] = "base"
    _default_matches_all: ClassVar[bool] = True
    _shows_estimates: ClassVar[bool] = False  # rates of single conditions do not add up
    _usage_text: ClassVar[str] = (
        "Add up the points of the base and of every rule that matches."
    )
    _reading_text: ClassVar[str] = (
        "The points of the base and of every rule that matches add up."
    )
    _size: ClassVar[str] = (
        "; on average {overlap} of them match per row. Their points and those of the "
        "base add up."
    )
    _fixed_text: ClassVar[str] = (
        "Points add up in any order, so rules cannot be moved; the points of each can "
        "be changed."
    )

    @property
    def _unpredicted_classes(self) -> tuple[Any, ...]:
        return ()

    @property
    def _training_rates(self) -> tuple[float, ...] | None:
        return self.default.rates

    def _check(self) -> None:
        super()._check()
        is_scale = is_finite(self.unit) and is_finite(self.origin)
        is_unit = self.unit > 0 or (self.unit < 0 and self.outcome.is_binary)
        if not (is_scale and is_unit):
            raise ValueError(
                "unit must be a number above 0, or below 0 where points count for the "
                f"first of two classes, and origin a number; got {self.unit!r} and "
                f"{self.origin!r}."
            )

    @property
    def _n_points(self) -> int:
        return self.outcome.n_points

    def _check_decision(self) -> None:
        if not self.outcome.n_classes:
            super()._check_decision()
        self.outcome.decision(self.threshold, self.costs)

    @property
    def scored_class(self) -> Any:
        """Of two classes, the one that is the more probable the higher the total."""
        labels = self.outcome.labels
        return labels[int(self.unit > 0)] if self.outcome.is_binary else None

    def totals(self, X: Rows) -> Floats:
        """The total of points of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_columns)
            One column; of more than two classes one for each.

        Examples
        --------
        >>> from defragtrees import Condition, Rule, Scorecard
        >>> paid = Rule((Condition(0, lower=1.0),), "good", (0.1, 0.9), points=(40.0,))
        >>> late = Rule((Condition(1, lower=0.0),), "bad", (0.6, 0.4), points=(-25.0,))
        >>> base = Rule((), "good", (0.4, 0.6), points=(10.0,))
        >>> card = Scorecard((paid, late), base, ("years", "late payments"),
        ...                  "classification", ("bad", "good"), unit=0.035)
        >>> card.totals([[3.0, 0.0], [0.0, 2.0]]).tolist()
        [[50.0], [-15.0]]
        """
        return self._totals(self.covers(X))

    def reasons(self, X: Rows, n: int = 3, best: str = "high") -> Values:
        """Reason codes: the rules that cost each row the most points.

        A rule with positive points costs them where it does not match, and one with
        negative points where it matches: that is how far the row is from the best
        total. With `best="low"` it is the other way round.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        n : int, default=3
            Maximum number of reasons per row.
        best : {"high", "low"}, default="high"
            Which totals are desired: high ones, as in credit scoring, or low ones, as
            of a risk.

        Returns
        -------
        object array of shape (n_samples, n)
            Texts, the costliest rule first and of equal ones the first; None where no
            further rule costs points. "not (...)" is a rule that does not match.

        Examples
        --------
        >>> from defragtrees import Condition, Rule, Scorecard
        >>> paid = Rule((Condition(0, lower=1.0),), "good", (0.1, 0.9), points=(40.0,))
        >>> late = Rule((Condition(1, lower=0.0),), "bad", (0.6, 0.4), points=(-25.0,))
        >>> base = Rule((), "good", (0.4, 0.6), points=(10.0,))
        >>> card = Scorecard((paid, late), base, ("years", "late payments"),
        ...                  "classification", ("bad", "good"), unit=0.035)
        >>> card.reasons([[3.0, 0.0], [0.0, 2.0]], n=2).tolist()
        [[None, None], ['not (years > 1)', 'late payments > 0']]
        """
        return self._reasons(self.covers(X), n, best)

    def _scorecard(self, what: str) -> Self:
        return self

    def _reasons(self, matches: Flags, n: int, best: str) -> Values:
        """Texts of the first reason codes of each row, by which rules match."""
        codes = self._reason_codes(n, best)
        texts = np.full((len(matches), n), None, dtype=object)
        rank = np.zeros(len(matches), dtype=np.intp)
        for code in codes:
            rows = np.flatnonzero((matches[:, code.rule] == code.if_match) & (rank < n))
            texts[rows, rank[rows]] = code.text
            rank[rows] += 1
        return texts

    def _reason_codes(self, n: Any, best: str) -> list[ReasonCode]:
        """What can be a reason, the most points first; of equal ones the first rule."""
        if self.outcome.n_points != 1:
            raise ValueError(
                "reasons need a scorecard with one total, for a number or two classes; "
                f"this one has {self.outcome.n_points}, one per class."
            )
        if best not in ("high", "low"):
            raise ValueError(f"best must be 'high' or 'low'; got {best!r}.")
        is_whole = isinstance(n, (int, np.integer)) and not isinstance(n, bool)
        if not is_whole or not 1 <= n <= MOST_REASONS:
            raise ValueError(
                f"n must be a whole number from 1 to {MOST_REASONS:,}; got {n!r}."
            )
        codes = []
        for k, rule in enumerate(self.rules):
            points = float((rule.points or ())[0])
            if_match = (points < 0) == (best == "high")
            text = rule.text() if if_match else f"not ({rule.text()})"
            if points:
                codes.append(ReasonCode(k, abs(points), if_match, render.plain(text)))
        return sorted(codes, key=lambda code: -code.points)

    def relabel(
        self,
        feature_labels: Mapping[str, str] | Sequence[str] | None = None,
        class_labels: Mapping[Any, str] | Sequence[str] | None = None,
        pos_label: Any = None,
    ) -> Self:
        made = super().relabel(feature_labels, class_labels, pos_label)
        if not self.outcome.is_binary:
            return made
        is_followed = self.scored_class == self.outcome.positive_class
        # A scale that somebody chose stays.
        has_scale = self.origin != 0 and any(self.default.points or ())
        is_same = made.scored_class == made.outcome.positive_class
        return made if is_same or has_scale or not is_followed else made._turned()

    def _turned(self) -> Self:
        """The same card with points for the other of two classes."""
        made = [
            dataclasses.replace(rule, points=tuple(0.0 - p for p in rule.points or ()))
            for rule in self
        ]
        return dataclasses.replace(
            self,
            rules=tuple(made[:-1]),
            default=made[-1],
            unit=-self.unit,
            origin=0.0 - self.origin,
        )

    def scaled(
        self,
        points_to_double: float = 20,
        points: float = 0,
        odds: float = 1,
        of: Any = None,
    ) -> Self:
        """Return a scorecard for two classes with whole points on another scale.

        Parameters
        ----------
        points_to_double : float, default=20
            How many points double the odds.
        points, odds : float
            A total that stands for these odds, such as 600 points for odds of 50.
        of : class label, optional
            The class whose odds these are, and that high totals stand for. In credit
            scoring it is the good one. By default the class that points count for now.

        Examples
        --------
        >>> from defragtrees import Condition, Rule, Scorecard
        >>> paid = Rule((Condition(0, lower=1.0),), "good", (0.1, 0.9), points=(1.4,))
        >>> base = Rule((), "good", (0.4, 0.6), points=(0.7,))
        >>> card = Scorecard((paid,), base, ("years",), "classification",
        ...                  ("bad", "good"))
        >>> [rule.points for rule in card.scaled(20, points=600, odds=50)]
        [(40.0,), (507.0,)]
        >>> [rule.points for rule in card.scaled(20, of="bad")]
        [(-40.0,), (-20.0,)]
        """
        if not self.outcome.is_binary:
            raise ValueError(
                "scaled needs a scorecard for two classes; this one is for "
                f"{self.outcome.n_classes or 'no'} classes."
            )
        for name, value in (("points_to_double", points_to_double), ("odds", odds)):
            if not (is_finite(value) and value > 0):
                raise ValueError(f"{name} must be a number above 0; got {value!r}.")
        if not is_finite(points):
            raise ValueError(f"points must be a number; got {points!r}.")
        of = self.scored_class if of is None else of
        if of not in self.outcome.labels:
            raise ValueError(
                f"of must be one of the classes {list(self.outcome.labels)!r}; got "
                f"{of!r}."
            )
        size = math.log(2) / points_to_double
        unit = size if self.outcome.labels.index(of) else -size
        return self._rescaled(unit, points - math.log(odds) / size, is_whole=True)

    def _rescaled(self, unit: float, origin: float, is_whole: bool) -> Self:
        """The same card with another unit and origin, in whole points if asked for."""

        def scaled(rule: Rule, before: float, after: float) -> Rule:
            points = [
                (p - before) * self.unit / unit + after for p in rule.points or ()
            ]
            points = [float(round(p)) for p in points] if is_whole else points
            return dataclasses.replace(rule, points=tuple(points))

        return dataclasses.replace(
            self,
            rules=tuple(scaled(rule, 0.0, 0.0) for rule in self.rules),
            default=scaled(self.default, self.origin, origin),
            unit=unit,
            origin=origin,
        )

    def values_of(self, totals: Floats) -> Floats:
        """What totals of points stand for: numbers, or log-odds."""
        return (totals - self.origin) * self.unit

    def _totals(self, matches: Flags) -> Floats:
        # From the base on, rule by rule: exports add up in the same order.
        totals = np.tile(np.array(self.default.points, np.float64), (len(matches), 1))
        for k, rule in enumerate(self.rules):
            totals += np.outer(matches[:, k], np.array(rule.points, np.float64))
        return totals

    def _further_columns(self, matches: Flags) -> dict[str, Any]:
        names, _ = self._reported()
        return dict(zip(names, self._totals(matches).T, strict=True))

    def _reported(
        self, probabilities: bool | None = None
    ) -> tuple[list[str], tuple[Any, ...]]:
        names = [f"score {label}" for label in self.outcome.labels or ()]
        names = ["score"] if self.outcome.n_points == 1 else names
        if probabilities is None and self.outcome.is_binary:
            return names, (self.outcome.positive_class,)
        return names, super()._reported(probabilities)[1]

    def _calibrated_by(self, matches: Flags) -> Values:
        # No rule predicts alone: rows with the same total or, of more classes, with the
        # same predicted class and probability, which is less than one class apart.
        if self.outcome.n_points == 1:
            return np.round(self._totals(matches)[:, 0], 9)
        codes = self.outcome.encode(self._predict(matches))
        likely = np.take_along_axis(
            self._predict_proba(matches), codes[:, None], axis=1
        )
        return np.round(codes + likely[:, 0] / 2, 9)

    def _apply(self, matches: Flags) -> Places:
        # The base matches everywhere, so it is the strongest only if it is alone.
        points = [np.abs(rule.points or ()).max() for rule in self.rules]
        return _heaviest(matches, [*points, 0.0])

    def _predict(self, matches: Flags) -> Values:
        values = self.values_of(self._totals(matches))
        return self.outcome.decide_points(values, self.threshold, self.costs)

    def _probabilities(self, matches: Flags) -> Floats:
        return self.outcome.linked(self.values_of(self._totals(matches)))

    def _decision_function(self, matches: Flags) -> Floats:
        scores = super()._decision_function(matches)
        if not self.outcome.is_binary:
            return scores
        decision = self.outcome.decision(self.threshold, self.costs)
        values = self.values_of(self._totals(matches))
        return decision.scores_of_log_odds(values[:, 0])

    def _leverage(self, matches: Flags, weight: Floats) -> Floats:
        flags = matches.astype(np.float64)
        prior = np.append(np.full(self.n_rules - 1, PRIOR_ROWS_OF_NUMBERS), 0.0)
        matrix = (flags * weight[:, None]).T @ flags + np.diag(prior)
        return np.einsum("ij,ji->i", flags, np.linalg.solve(matrix, flags.T))

    @classmethod
    def _uncounted(cls, rule: Rule, n_points: int) -> Rule:
        return dataclasses.replace(rule, points=(0.0,) * n_points)

    def _with_weights(
        self, counted: list[Rule], fit_points: Any
    ) -> tuple[list[Rule], dict[str, Any]]:
        card = fit_points()
        # Points are fitted to the second class, and count for the positive one.
        is_turned = self.outcome.is_binary and self.outcome.positive_index == 0
        sign = -1.0 if is_turned else 1.0
        pointed = [
            dataclasses.replace(rule, points=tuple(points.tolist()))
            for rule, points in zip(counted, sign * card.points + 0.0, strict=True)
        ]
        return pointed, {"unit": sign * card.unit, "origin": sign * card.origin + 0.0}

    def _on_scale_of(self, before: "Scorecard") -> Self:
        if (before.unit, before.origin) == (self.unit, self.origin):
            return self
        points = [p for rule in before for p in rule.points or ()]
        is_whole = all(float(p).is_integer() for p in points)
        return self._rescaled(before.unit, before.origin, is_whole)

    def to_dict(self, profile: bool = True) -> dict[str, Any]:
        return super().to_dict(profile) | {"unit": self.unit, "origin": self.origin}

    def _then_text(self, rule: Rule, is_short: bool = False) -> str:
        points = rule.points or ()
        return self.outcome.view.points(
            [render.round_to(value) for value in points] if is_short else points
        )

    def _then_columns(self) -> dict[str, list[str]]:
        columns = zip(
            *(map(render.signed, rule.points or ()) for rule in self), strict=True
        )
        return dict(zip(self._points_titles, map(list, columns), strict=True))

    @property
    def _points_titles(self) -> list[str]:
        """Titles of the columns of points: one, or one per class."""
        if self.outcome.n_points == 1:
            return ["points"]
        return [self.outcome.view.label(label) for label in self.outcome.labels]

    def _combination_text(self) -> str:
        return render.plain(
            "Add up the points of the base and of all rules that match: the total is "
            f"{total_text(self)}."
        )

    def _explanation_cells(self, row: Floats, explanation: Explanation) -> Cells:
        header, rows = super()._explanation_cells(row, explanation)
        total = map(render.grouped, self._shown_total(row))
        return header, [*rows, ["", "total", "", *total]]

    def _contribution(self, rule: Rule) -> dict[str, str]:
        points = map(render.signed, rule.points or ())
        return dict(zip(self._points_titles, points, strict=True))

    def _explanation_data(
        self, explanation: Explanation, row: Floats
    ) -> dict[str, Any]:
        pairs = [(k + 1, [*self][k].points or ()) for k in explanation.averaged]
        added = [{"rule": number, "points": list(points)} for number, points in pairs]
        return {"added": added, "total": self._shown_total(row)}

    @property
    def _explanation_names(self) -> list[str]:
        return [*self._reported()[0], "points", "values"]

    def _shown_total(self, row: Floats) -> list[float]:
        [total] = self._totals(self._covers(row[None]))
        return [render.round_to(value, 9) for value in total]

    def _read_answer(self, text: str) -> Any:
        try:
            return [float(part) for part in text.split(",")]
        except ValueError:
            raise ValueError(
                f"A rule of a scorecard has points, such as +3; got {text!r}."
            ) from None

    def _inserted(
        self, conditions: tuple[Condition, ...], text: str, probability: float | None
    ) -> Rule:
        if probability is not None:
            raise ValueError("A rule of a scorecard has points, and no probability.")
        made = dataclasses.replace(self.default, conditions=conditions, **UNMEASURED)
        return self._with_answer(made, self._read_answer(text))

    def _with_answer(self, rule: Rule, answer: Any) -> Rule:
        points = answer if hasattr(answer, "__len__") else (answer,)
        if len(points) != self.outcome.n_points or not all(map(is_finite, points)):
            raise ValueError(
                f"A rule of a scorecard has {self.outcome.n_points} finite points; got "
                f"{answer!r}. Give a number, or one per class."
            )
        return dataclasses.replace(rule, points=tuple(map(float, points)))


@dataclass(frozen=True, eq=False, repr=False)
class RuleEnsemble(_AveragedRules):
    """Averaged rules: the prediction is the weighted mean of all rules that match.

    The default rule matches every row and has a weight of its own.

    Parameters
    ----------
    rules, default, feature_names, task, classes, ...
        As for `RuleModel`; in classification each rule has a `distribution`.

    Examples
    --------
    >>> from defragtrees import Condition, Rule
    >>> warm = Rule((Condition(0, lower=20.0),), 5.0, weight=3.0)
    >>> mean = RuleEnsemble((warm,), Rule((), 1.0), ("degrees",), "regression")
    >>> print(mean)
    #  if            prediction  weight
    1  degrees > 20           5       3
    2  always                 1       1
    <BLANKLINE>
    The prediction is the mean of all rules that match, by weight.
    >>> mean.predict([[21.0], [19.0]]).tolist()
    [4.0, 1.0]
    """

    form: ClassVar[str] = "average"
    _default_text: ClassVar[str] = "always"
    _default_matches_all: ClassVar[bool] = True
    _shows_weights: ClassVar[bool] = True
    _usage_text: ClassVar[str] = (
        "The prediction is the mean of the predictions of all rules that match, "
        "weighted by their weights."
    )
    _reading_text: ClassVar[str] = _usage_text
    _size: ClassVar[str] = (
        "; on average {overlap} of them match per row, and the last one matches all. "
        "The prediction is their mean by weight."
    )
    _fixed_text: ClassVar[str] = (
        "Averaged rules have no order and predict together. A rule can be dropped and "
        "its conditions changed."
    )

    def _inserted(self, *given: Any) -> Rule:
        raise ValueError(
            "Averaged rules have weights that were fitted together, so no rule can be "
            "inserted. Fit them again."
        )

    def _then_text(self, rule: Rule, is_short: bool = False) -> str:
        return (
            super()._then_text(rule, True)
            if is_short
            else self.outcome.view.outputs(rule)
        )

    def _then_columns(self) -> dict[str, list[str]]:
        # The table has a column for the probability.
        predictions = [self.outcome.view.prediction(rule.prediction) for rule in self]
        weights = [render.rounded(rule.weight) for rule in self]
        return {self.outcome.view.prediction_title: predictions, "weight": weights}

    def _combination_text(self) -> str:
        return "The prediction is the mean of all rules that match, by weight."


FORMS: dict[str, Any] = {
    made.form: made for made in (RuleList, RuleTree, RuleSet, Scorecard, RuleEnsemble)
}


def _heaviest(matches: Flags, weights: list[float]) -> Places:
    """The rule with the most weight of those that match."""
    return np.where(matches, np.array(weights), -1.0).argmax(axis=1)
