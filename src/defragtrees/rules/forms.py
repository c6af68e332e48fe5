"""The forms of rule models: how the predictions of the rules that match combine.

`FORMS` names them as rule files do.
"""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, Self

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.types import Flags, Floats, Places, Values
from defragtrees._utils.values import is_finite
from defragtrees.outcomes.classification import LEAST_APART
from defragtrees.outcomes.points import PRIOR_ROWS_OF_NUMBERS, reachable_totals
from defragtrees.rules.conditions import UNMEASURED, Condition, Rule
from defragtrees.rules.model import RuleModel
from defragtrees.rules.text import Cell, Cells, Explanation, condition_text

__all__ = ["FORMS", "RuleEnsemble", "RuleList", "RuleSet", "Scorecard"]


@dataclass(frozen=True)
class ReasonCode:
    """A rule of a scorecard that can cost a row points."""

    rule: int  # its index
    points: float  # that it costs
    if_match: bool  # whether it costs them where it matches, or where it does not
    text: str


NOT_MOVED = "These rules have no order, so they cannot be moved."
MOST_TOTALS = 9  # totals of points that are printed with their probability
LEAST_RATIO = 0.1  # part of a small rate by which another must differ from it


@dataclass(frozen=True, eq=False, repr=False)
class RuleList(RuleModel):
    """Rules in order: the first that matches a row predicts it, else the default.

    Parameters
    ----------
    rules, default, feature_names, task, classes, ...
        As for `RuleModel`.
    is_partition : bool, default=False
        Whether exactly one rule matches each row, as of the leaves of a tree.

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

    is_partition: bool = False

    combination: ClassVar[str] = "first"
    is_exclusive: ClassVar[bool] = True

    @property
    def decision(self) -> str:
        return "partition" if self.is_partition else "first"

    @property
    def form(self) -> str | None:
        return None if self.is_partition else "list"

    @property
    def is_ordered(self) -> bool:
        return not self.is_partition

    @property
    def unpredicted_classes(self) -> tuple[Any, ...]:
        predicted = {rule.prediction for rule in self}
        return tuple(label for label in self.classes or () if label not in predicted)

    @property
    def training_rates(self) -> tuple[float, ...] | None:
        if any(rule.rates is None or not rule.n_rows >= 0 for rule in self):
            return None
        total = sum(rule.n_rows for rule in self)
        sums = np.array([rule.n_rows * np.array(rule.rates) for rule in self]).sum(0)
        return tuple((sums / total).tolist()) if total > 0 else None

    def _apply(self, held: Flags) -> Places:
        return held.argmax(axis=1)

    def _predict(self, held: Flags) -> Values:
        every = [rule.prediction for rule in self]
        return np.asarray(every, dtype=self.outcome.dtype)[self._apply(held)]

    def _predict_codes(self, held: Flags) -> Values:
        codes = self.outcome.encode(np.array([rule.prediction for rule in self]))
        return codes[self._apply(held)]

    def _probabilities(self, held: Flags) -> Floats:
        return np.array([rule.distribution for rule in self])[self._apply(held)]

    def _members(self, held: Flags) -> Flags:
        return np.eye(self.n_rules, dtype=bool)[self._apply(held)]

    def _groups(self, held: Flags) -> tuple[Any, Any]:
        rule = np.full(len(held), self.n_rules - 1)
        for k in range(self.n_rules - 2, -1, -1):
            np.copyto(rule, k, where=held[:, k])
        return slice(None), rule

    def _n_matching(self, held: Flags) -> Places:
        # The default of a tree is a leaf like the others.
        return (
            np.ones(len(held), int) if self.is_partition else super()._n_matching(held)
        )

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
            if len(rule.conditions) == 1 and self.is_ordered:
                taken += rule.conditions
        return tuple(shown)

    def _combination_text(self) -> str:
        if len(self.rules) < 2 or self.is_partition:
            return ""
        return "Rules apply in order; the first match predicts."

    def _usage_text(self) -> str:
        if self.is_partition:
            return "Exactly one rule matches each row and predicts it."
        return (
            "Apply the rules in order. The first rule whose conditions all match "
            "predicts; skip the rules after it."
        )

    def _reading_text(self) -> str:
        if self.is_partition:
            return (
                "The rules are the leaves of one tree: exactly one of them matches "
                "each row, and it predicts."
            )
        return "The rules apply in order: the first one that matches a row predicts it."

    def _size_ending(self, scores: Mapping[str, Any], is_short: bool) -> str:
        if self.is_partition:
            return "." if is_short else "; exactly one of them matches each row."
        overlap = "" if is_short else f", {scores['overlap']:.2f} per row"
        return (
            f"; all but the default rule match {render.share(scores['coverage'])} of "
            f"the rows{overlap}."
        )

    def _explained(
        self, matrix: Floats, held: Flags, places: list[int]
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
        for k, condition in explanation.failed if self.is_ordered else ():
            value = self._value_text(row, condition.feature)
            line = [str(k + 1), condition_text(self, condition), value, "no"]
            rows.append([render.plain(cell) for cell in line])
        return [*header, "match"], rows

    def _rate_interval(self, held: Flags) -> Floats:
        if not self.outcome.n_classes:
            return super()._rate_interval(held)
        unknown = (math.nan, math.nan)
        ends = [self.outcome.estimate(rule)["interval"] or unknown for rule in self]
        return np.array(ends, dtype=np.float64)[self._apply(held)]

    @property
    def editable(self) -> dict[str, bool]:
        by_label = self.threshold is None and self.costs is None
        is_own = by_label or not self.outcome.has_probabilities
        return {"prediction": is_own, "points": False, "move": True}

    def _not_editable_text(self) -> str:
        if self.editable["prediction"]:
            return ""
        return (
            "The prediction of a rule follows from its probabilities and the costs, so "
            "it cannot be changed here."
        )

    def _takes_rows(self, is_default: bool) -> bool:
        return True

    def _edited(self, *arguments: Any, **settings: Any) -> Self:
        # A tree without one of its leaves is a list.
        made = super()._edited(*arguments, **settings)
        return dataclasses.replace(made, is_partition=False)


@dataclass(frozen=True, eq=False, repr=False)
class RuleSet(RuleModel):
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

    combination: ClassVar[str] = "mean"
    is_standalone: ClassVar[bool] = True

    @property
    def decision(self) -> str:
        return "standalone"

    @property
    def form(self) -> str | None:
        return "standalone"

    def _check(self) -> None:
        super()._check()
        if self.default.weight != 0:
            raise ValueError(
                "The default of standalone rules predicts where no rule matches, so "
                f"its weight must be 0; got {self.default.weight!r}."
            )

    def _apply(self, held: Flags) -> Places:
        return _heaviest(held, [rule.weight for rule in self])

    def _predict(self, held: Flags) -> Values:
        return self.outcome.decide(self._averaged(held), self.threshold, self.costs)

    def _probabilities(self, held: Flags) -> Floats:
        return self._averaged(held)

    def _members(self, held: Flags) -> Flags:
        members = held.copy()
        members[:, -1] = ~held[:, :-1].any(axis=1)
        return members

    def _leverage(self, held: Flags, weight: Floats) -> Floats:
        # A row is in the mean of each rule that matches it, and these share their rows.
        members = self._members(held).astype(np.float64)
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

    def _usage_text(self) -> str:
        return (
            "Each rule stands alone: its rate is that of all rows that it matches. "
            "Where several rules match, the prediction is their mean, weighted by rows."
        )

    def _size_ending(self, scores: Mapping[str, Any], is_short: bool) -> str:
        if is_short:
            return "."
        return (
            f", each with the rate of all rows that it matches; they match "
            f"{render.share(scores['coverage'])} of the rows, "
            f"{scores['overlap']:.2f} per row."
        )

    def _explained(
        self, matrix: Floats, held: Flags, places: list[int]
    ) -> Iterator[tuple[Any, Any]]:
        for members, failed in super()._explained(matrix, held, places):
            yield members if len(members) > 1 else (), failed

    def _contribution(self, rule: Rule) -> dict[str, str]:
        parts = self.outcome.contribution(rule)
        return {**parts, "rows": render.count(rule.n_rows)}

    def _not_editable_text(self) -> str:
        if self.editable["prediction"]:
            return NOT_MOVED
        return (
            "Standalone rules have no order, and where several match their "
            "probabilities decide. A rule can be dropped and its conditions changed."
        )

    def _takes_rows(self, is_default: bool) -> bool:
        return is_default


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

    combination: ClassVar[str] = "sum"
    default_text: ClassVar[str] = "base"
    default_matches_all: ClassVar[bool] = True

    @property
    def decision(self) -> str:
        return "points"

    @property
    def form(self) -> str | None:
        return "points"

    @property
    def unpredicted_classes(self) -> tuple[Any, ...]:
        return ()

    @property
    def training_rates(self) -> tuple[float, ...] | None:
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

    def _check_points(self, rule: Rule) -> None:
        n_points = self.outcome.n_points
        if rule.points is None:
            raise ValueError(
                "Each rule must have points where they add up, and none elsewhere; got "
                "points=None with decision='points'."
            )
        if not (len(rule.points) == n_points and all(map(is_finite, rule.points))):
            raise ValueError(
                f"A rule must have {n_points} points, each a finite number; got "
                f"{rule.points!r}."
            )

    def _check_decision(self) -> None:
        if not self.outcome.n_classes:
            super()._check_decision()
        self.outcome.decision(self.threshold, self.costs)

    @property
    def scored_class(self) -> Any:
        """Of two classes, the one that is the more probable the higher the total."""
        labels = self.outcome.labels
        return labels[int(self.unit > 0)] if self.outcome.is_binary else None

    def _reasons(self, held: Flags, n: int, best: str) -> Values:
        codes = self._reason_codes(n, best)
        found = np.full((len(held), n), None, dtype=object)
        rank = np.zeros(len(held), dtype=np.intp)
        for code in codes:
            rows = np.flatnonzero((held[:, code.rule] == code.if_match) & (rank < n))
            found[rows, rank[rows]] = code.text
            rank[rows] += 1
        return found

    def _reason_codes(self, n: Any, best: str) -> list[ReasonCode]:
        """What can be a reason, the most points first; of equal ones the first rule."""
        if self.outcome.n_points != 1:
            raise ValueError(
                "reasons need a scorecard with one total, for a number or two classes; "
                f"this one has {self.outcome.n_points}, one per class."
            )
        if best not in ("high", "low"):
            raise ValueError(f"best must be 'high' or 'low'; got {best!r}.")
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
            raise ValueError(f"n must be a whole number from 1; got {n!r}.")
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

    def _scaled(
        self, points_to_double: float, points: float, odds: float, of: Any
    ) -> Self:
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
        origin = points - math.log(odds) / size
        base = self.values_of(np.array(self.default.points))[0] / unit + origin
        rules = [
            dataclasses.replace(rule, points=(float(round(own * self.unit / unit)),))
            for rule in self.rules
            for own in rule.points or ()
        ]
        return dataclasses.replace(
            self,
            rules=tuple(rules),
            default=dataclasses.replace(self.default, points=(float(round(base)),)),
            unit=unit,
            origin=origin,
        )

    def values_of(self, totals: Floats) -> Floats:
        """What totals of points stand for: numbers, or log-odds."""
        return (totals - self.origin) * self.unit

    def _totals(self, held: Flags) -> Floats:
        # From the base on, rule by rule: exports add up in the same order.
        totals = np.tile(np.array(self.default.points, np.float64), (len(held), 1))
        for k, rule in enumerate(self.rules):
            totals += np.outer(held[:, k], np.array(rule.points, np.float64))
        return totals

    @property
    def _score_names(self) -> list[str]:
        """Names of columns of totals: one, or one per class."""
        if self.outcome.n_points == 1:
            return ["score"]
        return [f"score {label}" for label in self.outcome.labels]

    def _form_columns(self, held: Flags) -> dict[str, Any]:
        return dict(zip(self._score_names, self._totals(held).T, strict=True))

    @property
    def _reported_classes(self) -> tuple[Any, ...]:
        return (self.outcome.positive_class,) if self.outcome.is_binary else ()

    def _calibrated_by(self, held: Flags) -> Values:
        # No rule predicts alone: rows with the same total or, of more classes, with the
        # same predicted class and probability, which is less than one class apart.
        if self.outcome.n_points == 1:
            return np.round(self._totals(held)[:, 0], 9)
        codes = self.outcome.encode(self._predict(held))
        likely = np.take_along_axis(self._predict_proba(held), codes[:, None], axis=1)
        return np.round(codes + likely[:, 0] / 2, 9)

    def _apply(self, held: Flags) -> Places:
        # The base matches everywhere, so it is the strongest only if it is alone.
        points = [np.abs(rule.points or ()).max() for rule in self.rules]
        return _heaviest(held, [*points, 0.0])

    def _predict(self, held: Flags) -> Values:
        values = self.values_of(self._totals(held))
        return self.outcome.decide_points(values, self.threshold, self.costs)

    def _probabilities(self, held: Flags) -> Floats:
        return self.outcome.linked(self.values_of(self._totals(held)))

    def _decision_function(self, held: Flags) -> Floats:
        scores = super()._decision_function(held)
        if not self.outcome.is_binary:
            return scores
        decision = self.outcome.decision(self.threshold, self.costs)
        values = self.values_of(self._totals(held))
        return decision.scores_of_log_odds(values[:, 0])

    def _leverage(self, held: Flags, weight: Floats) -> Floats:
        matches = held.astype(np.float64)
        prior = np.append(np.full(self.n_rules - 1, PRIOR_ROWS_OF_NUMBERS), 0.0)
        matrix = (matches * weight[:, None]).T @ matches + np.diag(prior)
        return np.einsum("ij,ji->i", matches, np.linalg.solve(matrix, matches.T))

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
        if before._scale == self._scale:
            return self
        is_whole = all(
            float(p).is_integer() for rule in before for p in rule.points or ()
        )

        def scaled(rule: Rule, shift: float, origin: float) -> Rule:
            points = [
                (p - shift) * self.unit / before.unit + origin
                for p in rule.points or ()
            ]
            return dataclasses.replace(
                rule, points=tuple(float(round(p)) if is_whole else p for p in points)
            )

        return dataclasses.replace(
            self,
            rules=tuple(scaled(rule, 0.0, 0.0) for rule in self.rules),
            default=scaled(self.default, self.origin, before.origin),
            unit=before.unit,
            origin=before.origin,
        )

    @property
    def _scale(self) -> tuple[float, float]:
        return self.unit, self.origin

    def _then_text(self, rule: Rule) -> str:
        return self.outcome.points_text(rule.points)

    def _short_then_text(self, rule: Rule) -> str:
        points = [render.round_to(value) for value in rule.points or ()]
        return self.outcome.points_text(points)

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
        return [self.outcome.label_text(label) for label in self.outcome.labels]

    @property
    def _shows_errors(self) -> bool:
        return False

    @property
    def _shows_estimates(self) -> bool:
        return False  # rates of single conditions do not add up

    def _combination_text(self) -> str:
        return render.plain(
            "Add up the points of the base and of all rules that match: the total is "
            f"{self._total_text()}."
        )

    def _contradictions(self) -> dict[int, str]:
        outcome, rates = self.outcome, self.default.rates
        if not outcome.is_binary or rates is None:
            return {}
        place = int(outcome.positive_index or 0)
        every, label = rates[place], outcome.label_text(outcome.positive_class)
        near = min(LEAST_APART, LEAST_RATIO * min(rates))
        is_for_it = self.scored_class == outcome.positive_class
        found = {}
        for k, rule in enumerate(self.rules):
            [points] = rule.points or ()
            rate = every if rule.rates is None else rule.rates[place]
            is_more = rate > every
            if not points or abs(rate - every) <= near:
                continue
            if (points > 0) == (is_more == is_for_it):
                continue
            digits = render.percent_digits(*sorted((rate, every)))
            found[k] = render.plain(
                f"Rule {k + 1} {'adds' if points > 0 else 'subtracts'} points although "
                f"{label} is {'more' if is_more else 'less'} frequent in its rows "
                f"({render.percent(rate, digits)}) than in all "
                f"({render.percent(every, digits)}): points count given the other "
                "rules."
            )
        return found

    def _usage_text(self) -> str:
        return "Add up the points of the base and of every rule that matches."

    def _reading_text(self) -> str:
        return "The points of the base and of every rule that matches add up."

    def _total_text(self) -> str:
        return self.outcome.sum_text(self.unit, self.origin)

    def _total_cells(self) -> Cells | None:
        """Totals of points and, of two classes, the probability of each."""
        outcome = self.outcome
        if not outcome.is_binary or not self.rules:
            return None
        totals = _shown_totals([rule.points[0] for rule in self if rule.points])
        values = self.values_of(totals[:, None])
        likely = outcome.linked(values)
        chosen = outcome.decide_points(values, self.threshold, self.costs)
        ends: Any = [None] * len(totals)
        if self.rate_bands is not None:
            ends = self._band_ends(likely[:, 1])
        rows: list[list[Cell]] = []
        for total, shares, end, label in zip(totals, likely, ends, chosen, strict=True):
            digits = 0 if end is None else render.percent_digits(*end)
            line = [
                render.grouped(total),
                render.percent(shares[outcome.positive_index], digits),
                "" if end is None else render.percent_range(*end),
                render.plain(outcome.answer_text(label)),
            ]
            rows.append(line if self.rate_bands else [*line[:2], line[3]])
        interval = [outcome.interval_name] if self.rate_bands else []
        return ["total", outcome.rate_title(), *interval, "then"], rows

    def _size_ending(self, scores: Mapping[str, Any], is_short: bool) -> str:
        if is_short:
            return "."
        return (
            f"; on average {scores['overlap']:.2f} of them match per row. "
            "Their points and those of the base add up."
        )

    def _prediction_text(self, prediction: Any) -> str:
        return self.outcome.answer_of_points_text(prediction)

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
        every = [*self]
        added = [
            {"rule": k + 1, "points": list(every[k].points or ())}
            for k in explanation.averaged
        ]
        return {"added": added, "total": self._shown_total(row)}

    @property
    def _explanation_names(self) -> list[str]:
        return [*self._score_names, "points", "values"]

    def _shown_total(self, row: Floats) -> list[float]:
        [total] = self._totals(self._covers(row[None]))
        return [render.round_to(value, 9) for value in total]

    @property
    def editable(self) -> dict[str, bool]:
        return {"prediction": False, "points": True, "move": False}

    def _not_editable_text(self) -> str:
        return (
            "Points add up in any order, so rules cannot be moved; the points of each "
            "can be changed."
        )

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
class RuleEnsemble(RuleModel):
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

    combination: ClassVar[str] = "mean"
    default_text: ClassVar[str] = "always"
    default_matches_all: ClassVar[bool] = True

    @property
    def decision(self) -> str:
        return "average"

    def _apply(self, held: Flags) -> Places:
        return _heaviest(held, [rule.weight for rule in self])

    def _predict(self, held: Flags) -> Values:
        return self.outcome.decide(self._averaged(held), self.threshold, self.costs)

    def _probabilities(self, held: Flags) -> Floats:
        return self._averaged(held)

    def _inserted(self, *given: Any) -> Rule:
        raise ValueError(
            "Averaged rules have weights that were fitted together, so no rule can be "
            "inserted. Fit them again."
        )

    def _recounted_by(self, predictions: str) -> str:
        # Weights stay; a mean by weight has no counts to shrink predictions by.
        return "target" if predictions == "recount" else predictions

    def _then_text(self, rule: Rule) -> str:
        return self.outcome.outputs_text(rule)

    def _then_columns(self) -> dict[str, list[str]]:
        # The table has a column for the probability.
        predictions = [self.outcome.answer_text(rule.prediction) for rule in self]
        weights = [render.rounded(rule.weight) for rule in self]
        return {self.outcome.then_title: predictions, "weight": weights}

    def _estimate_text(self, rule: Rule) -> str:
        return ""

    def _shown_weight(self, rule: Rule) -> float | None:
        return rule.weight

    def _combination_text(self) -> str:
        return "The prediction is the mean of all rules that match, by weight."

    def _usage_text(self) -> str:
        return (
            "The prediction is the mean of the predictions of all rules that match, "
            "weighted by their weights."
        )

    def _size_ending(self, scores: Mapping[str, Any], is_short: bool) -> str:
        if is_short:
            return "."
        return (
            f"; on average {scores['overlap']:.2f} of them match per row, and the last "
            "one matches all. The prediction is their mean by weight."
        )

    def _contribution(self, rule: Rule) -> dict[str, str]:
        parts = self.outcome.contribution(rule)
        return {**parts, "weight": render.rounded(rule.weight)}

    def _not_editable_text(self) -> str:
        if self.editable["prediction"]:
            return NOT_MOVED
        return (
            "Averaged rules have no order and predict together. A rule can be dropped "
            "and its conditions changed."
        )


FORMS: dict[str, Any] = {
    "first": RuleList,
    "partition": partial(RuleList, is_partition=True),
    "average": RuleEnsemble,
    "standalone": RuleSet,
    "points": Scorecard,
}


def _heaviest(held: Flags, weights: list[float]) -> Places:
    """The rule with the most weight of those that match."""
    return np.where(held, np.array(weights), -1.0).argmax(axis=1)


def _shown_totals(points: list[float]) -> Floats:
    """Totals for a table: all that can be reached, or a few in even steps."""
    totals = reachable_totals(points)
    if len(totals) <= MOST_TOTALS:
        return totals
    span = totals[-1] - totals[0]
    power = 10.0 ** math.floor(math.log10(span / MOST_TOTALS))
    factors = (1, 2, 5, 10) if power == 1 else (1, 2, 2.5, 5, 10)
    step = next(f * power for f in factors if span <= f * power * MOST_TOTALS)
    first, last = math.ceil(totals[0] / step), math.floor(totals[-1] / step)
    # Rounded, as 3 * 0.1 has digits that nobody wants to read.
    return np.array([float(f"{k * step:.9g}") for k in range(first, last + 1)])
