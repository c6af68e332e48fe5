"""Condition and Rule: a test of one feature, and a conjunction with its prediction."""

import copy
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils import schema
from defragtrees._utils.types import Flags, Floats
from defragtrees._utils.values import ByValue
from defragtrees.outcomes.intervals import wilson_interval
from defragtrees.rules.labels import PLAIN, Scale, Vocabulary

__all__ = ["Condition", "Rule", "is_single", "sides_of"]

MOST_NAMED = 6  # categories that the text of a condition names, by default
FLIPPED = {">": "<", ">=": "<="}
NEGATED = re.compile("is (not|neither|none of) ")
# What is counted in the rows of a rule, before it is counted.
UNMEASURED: dict[str, Any] = {
    **dict.fromkeys(("share", "error", "n_rows", "n_effective"), math.nan),
    **dict.fromkeys(("rates", "model_mean", "quantiles", "curve", "spread")),
}


# Checks of fields in rule files
_LOWER = schema.number() | schema.null_as(-math.inf) | schema.text_as("inf", math.inf)
_UPPER = schema.number() | schema.null_as(math.inf) | schema.text_as("-inf", -math.inf)
_PLACES = schema.list_of(schema.whole()) | schema.NULL
_NAN = schema.null_as(math.nan)  # nobody measured
_SHARES = schema.SHARES | schema.NULL
_AMOUNT = schema.number(-1e100, 1e100)
_MEANS = _AMOUNT | schema.SHARES | schema.NULL
_SPREAD = schema.number(0, 1e100) | schema.NULL
_ENDS = schema.list_of(_AMOUNT, 2, 2) | schema.NULL
_POINTS = schema.list_of(_AMOUNT, 1) | schema.NULL


def sides_of(
    lower: float, upper: float, is_integer: bool = False
) -> tuple[tuple[str, float], ...]:
    """The comparisons of a non-empty interval: pairs of a sign and a number.

    None for all numbers, one with "=" for a single one, else one for each finite side,
    the lower first.

    Examples
    --------
    >>> sides_of(2, math.inf, True), sides_of(18, 19, True)
    ((('>=', 3.0),), (('=', 19.0),))
    >>> sides_of(40, 49, True), sides_of(2.5, 7.25)
    ((('>', 40.0), ('<', 50.0)), (('>', 2.5), ('<=', 7.25)))
    >>> sides_of(math.nextafter(10, 0), math.inf)
    (('>=', 10.0),)
    """
    if is_single(lower, upper, is_integer):
        return (("=", float(upper)),)
    sides = []
    if math.isfinite(lower):
        after, is_shorter = _next(lower, is_integer, is_tie=True)
        sides.append((">=", after) if is_shorter else (">", float(lower)))
    if math.isfinite(upper):
        after, is_shorter = _next(upper, is_integer, is_tie=False)
        sides.append(("<", after) if is_shorter else ("<=", float(upper)))
    return tuple(sides)


def _next(value: float, is_integer: bool, is_tie: bool) -> tuple[float, bool]:
    """The number after a bound, and whether it is the shorter one to write."""
    if is_integer:
        before = math.floor(value)
        digits, own = _n_digits(before + 1), _n_digits(before)
        return before + 1.0, digits < own or (is_tie and digits == own)
    after = math.nextafter(value, math.inf)
    # One digit less may be chance; beside a number that was meant many are needed.
    is_shorter = len(render.number(after)) < len(render.number(value)) - 3
    return after, is_shorter and math.isfinite(after)


def _n_digits(value: int) -> int:
    """Digits of a whole number up to its last one that is not zero."""
    return len(str(abs(value)).rstrip("0")) or 1


def is_single(lower: float, upper: float, is_integer: bool = False) -> bool:
    """Whether an interval contains exactly one number.

    Examples
    --------
    >>> is_single(18, 19, True), is_single(18, 19), is_single(math.nextafter(2, 0), 2)
    (True, False, True)
    """
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return False
    after = math.floor(lower) + 1 if is_integer else math.nextafter(lower, math.inf)
    return after == upper


@dataclass(frozen=True)
class Condition(schema.Stored):
    """A condition on one feature.

    Parameters
    ----------
    feature : int
    lower, upper : float
        A number x matches if `lower < x <= upper`.
    categories : tuple of int, optional
        The positions of the categories that match. The position after the last category
        stands for all unknown ones.
    missing : bool, default=False
        Whether a missing value matches.
    is_integer : bool, default=False
        Whether the feature has whole numbers only. Then `x > 2` is printed, and
        evaluated, as `x >= 3`; see `sides`.

    Examples
    --------
    >>> Condition(0, lower=1.5, upper=3.0).text(["age"])
    '1.5 < age <= 3'
    >>> Condition(0, upper=3.0, missing=True).text(["age"])
    'age <= 3 or missing'
    >>> Condition(1, categories=(0, 2), missing=True).text("ab", (None, ("x", "y")))
    'b is not y, or is missing'
    >>> Condition(0, lower=18.0, upper=19.0, is_integer=True).text(["day"])
    'day is 19'
    >>> Condition(0, lower=1.5).covers([1.0, 2.0]).tolist()
    [False, True]
    >>> Condition.from_dict(Condition(0, lower=1.5).to_dict()).lower
    1.5
    """

    feature: Annotated[int, schema.whole()]
    # No number is above infinity: only missing values match.
    lower: Annotated[float, _LOWER, "required"] = -math.inf
    upper: Annotated[float, _UPPER, "required"] = math.inf
    categories: Annotated[tuple[int, ...] | None, _PLACES, "required"] = None
    missing: Annotated[bool, schema.FLAG, "required"] = False
    is_integer: Annotated[bool, schema.FLAG, "integer"] = False

    @property
    def n_sides(self) -> int:
        """Number of comparisons: one per finite side; one for a set or one number."""
        # Counted without `sides`, which has to write its numbers.
        if self.categories is not None or is_single(
            self.lower, self.upper, self.is_integer
        ):
            return 1
        return max(1, math.isfinite(self.lower) + math.isfinite(self.upper))

    @property
    def sides(self) -> tuple[tuple[str, float], ...]:
        """Its comparisons with numbers: pairs such as `(">=", 3.0)`, at most two."""
        return sides_of(self.lower, self.upper, self.is_integer)

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds in float64 for which `lower < x <= upper` is what `sides` test.

        Examples
        --------
        >>> Condition(0, 2, 40, is_integer=True).bounds
        (2.9999999999999996, 40.0)
        """
        lower, upper = self.lower, self.upper
        for sign, value in self.sides if self.is_integer and lower < upper else ():
            if sign in (">=", "="):
                lower = math.nextafter(value, -math.inf)
            if sign in ("<=", "="):
                upper = value
            if sign == "<":
                upper = math.nextafter(value, -math.inf)
        return lower, upper

    @property
    def edges(self) -> tuple[float, float]:
        """Where a picture draws `lower` and `upper`: midway between whole numbers."""
        shift = 0.5 if self.is_integer else 0.0
        return self.lower + shift, self.upper + shift

    def covers(self, column: Iterable[Any]) -> Flags:
        """Which values of an encoded column match."""
        column = np.asarray(column, dtype=np.float64)
        if self.categories is not None:
            inside = np.isin(column, self.categories)
        else:
            lower, upper = self.bounds
            # Without a lower bound even minus infinity matches, as the text says.
            above = column > lower if lower > -math.inf else True
            inside = above & (column <= upper)
        return np.where(np.isnan(column), self.missing, inside)

    def without(self, other: Self) -> Self:
        """The condition without the values that another one on its feature accepts.

        It stays as it is where the rest is empty or not one condition.

        Examples
        --------
        >>> low, higher = Condition(0, upper=4.0, missing=True), Condition(0, upper=5.0)
        >>> higher.without(low).text(["grade"])
        '4 < grade <= 5'
        """
        missing = self.missing and not other.missing
        if self.categories is not None and other.categories is not None:
            taken = set(other.categories)
            rest = tuple(c for c in self.categories if c not in taken)
            found = replace(self, categories=rest, missing=missing)
            return found if rest or missing else self
        is_set = self.categories is not None or other.categories is not None
        if is_set or self.is_integer != other.is_integer:
            return self
        lower, upper = self.lower, self.upper
        if other.lower < other.upper:
            if other.lower <= lower < other.upper:
                lower = other.upper
            if other.lower < upper <= other.upper:
                upper = other.lower
        if lower >= upper and not missing:
            return self
        if lower >= upper:
            lower, upper = math.inf, math.inf
        return replace(self, lower=lower, upper=upper, missing=missing)

    def text(
        self,
        names: Sequence[str],
        categories: Sequence[Any] | None = None,
        scales: Sequence[Any] | None = None,
    ) -> str:
        """The condition as text.

        Parameters
        ----------
        names : sequence of str
        categories : sequence of (tuple or None), optional
            For each feature its categories.
        scales : sequence of Scale, optional
            For each feature how its numbers are written.
        """
        return "".join(self.parts(names, categories, scales))

    def parts(
        self,
        names: Sequence[str],
        categories: Sequence[Any] | None = None,
        scales: Sequence[Any] | None = None,
    ) -> tuple[str, str, str]:
        """Its text before the name of the feature, the name, and the text after it.

        Examples
        --------
        >>> Condition(0, lower=1.5, upper=3.0).parts(["age"])
        ('1.5 < ', 'age', ' <= 3')
        """
        scale = scales[self.feature] if scales else PLAIN
        if self.categories is None:
            before, after = self._interval_parts(scale)
        else:
            labels = categories[self.feature] if categories else None
            before, after = self._set_parts(labels, scale)
        if not after:
            after = "is missing" if self.missing else "is impossible"
        elif self.missing and after != "is anything":
            # "is not red or missing" would read as neither of them.
            is_negated = NEGATED.match(after) is not None
            after += ", or is missing" if is_negated else " or missing"
        return before, names[self.feature], f" {after}"

    def _interval_parts(self, scale: Scale) -> tuple[str, str]:
        """The text before the name and the text after it, empty if nothing matches."""
        if self.lower >= self.upper:
            return "", ""
        if not self.sides:
            return "", "is anything" if self.missing else "is not missing"
        *lower, (sign, value) = self.sides
        before = "".join(
            f"{scale.number(bound)} {scale.sign(FLIPPED[other])} "
            for other, bound in lower
        )
        verb = "is" if sign == "=" else scale.sign(sign)
        return before, f"{verb} {scale.number(value)}{scale.ending}"

    def _set_parts(self, labels: Any, scale: Scale) -> tuple[str, str]:
        """The text before the name and the text after it, empty if nothing matches."""
        if not self.categories:
            return "", ""
        if labels is None:
            labels = [f"category {c}" for c in range(max(self.categories) + 1)]
        labels = [scale.label(label) for label in labels]
        if any(c >= len(labels) for c in self.categories):
            # Categories that the model does not know match too, so the text names
            # the known ones that do not.
            inside = set(self.categories)
            out = [label for c, label in enumerate(labels) if c not in inside]
            out = render.categories(out)
            if not out:
                return "", "is anything" if self.missing else "is not missing"
            if len(out) == 1:
                return "", f"is not {out[0]}"
            if len(out) == 2:
                return "", f"is neither {out[0]} nor {out[1]}"
            return "", f"is none of {', '.join(out)}"
        first, last = min(self.categories), max(self.categories)
        if scale.is_ordered and last - first + 1 == len(self.categories) > 1:
            if 0 < first and last == len(labels) - 1:
                return "", f"{scale.sign('>=')} {render.category(labels[first])}"
            ends = [labels[first], labels[last]] if first else [labels[last]]
            *low, high = render.categories(ends)
            before = f"{low[0]} {scale.sign('<=')} " if first else ""
            return before, f"{scale.sign('<=')} {high}"
        *most, final = render.categories([labels[c] for c in sorted(self.categories)])
        return "", f"is {', '.join(most)} or {final}" if most else f"is {final}"


def n_named(condition: Condition, labels: Sequence[Any], scale: Scale = PLAIN) -> int:
    """Number of categories that the text of a condition names; 1 for a run in order."""
    places = condition.categories or ()
    n_inside = sum(c < len(labels) for c in places)
    if n_inside < len(places):
        return len(labels) - n_inside
    is_run = bool(places) and max(places) - min(places) + 1 == n_inside
    return 1 if scale.is_ordered and is_run else n_inside


def remaining(
    conditions: Iterable[Condition],
    taken: Sequence[Condition],
    categories: Sequence[Any] | None = None,
    scales: Sequence[Scale] | None = None,
) -> tuple[Condition, ...]:
    """Conditions less the values that earlier rules take, each by one condition.

    Categories that are taken stay where the text would name more without them.

    Examples
    --------
    >>> low, higher = Condition(0, upper=4.0), Condition(0, upper=5.0)
    >>> [c.text(["grade"]) for c in remaining([higher], [low])]
    ['4 < grade <= 5']
    """
    left = []
    for condition in conditions:
        before = [c for c in taken if c.feature == condition.feature]
        # As often as there are conditions: each may make another one adjoin.
        own = condition
        for other in before * len(before):
            condition = condition.without(other)
        if own.categories is not None and categories:
            labels = categories[own.feature] or ()
            scale = scales[own.feature] if scales else PLAIN
            if n_named(condition, labels, scale) > n_named(own, labels, scale):
                condition = replace(own, missing=condition.missing)
        left.append(condition)
    return tuple(left)


class _Numbered:
    """Names of features that have none: "x[0]" and so on."""

    def __getitem__(self, feature: int) -> str:
        return f"x[{feature}]"


def join_conditions(texts: Sequence[str]) -> str:
    """Texts of conditions that must all be true, as one text.

    Examples
    --------
    >>> join_conditions(["age > 40 or missing", "debt <= 8"])
    '(age > 40 or missing) and debt <= 8'
    """
    texts = [f"({one})" if " or " in one and len(texts) > 1 else one for one in texts]
    return " and ".join(texts) if texts else "otherwise"


@dataclass(frozen=True, eq=False, repr=False)
class Rule(schema.Stored, ByValue):
    """Conditions, and the prediction for rows that meet all of them.

    Parameters
    ----------
    conditions : tuple of Condition
        At most one per feature. A rule without conditions matches every row.
    prediction : class label or float
    distribution : tuple of float, optional
        Probability of each class, as `predict_proba` returns it.
    spread : float, optional
        For regression: root mean squared difference between the prediction and y in
        the rows that the rule predicts; without y, the predictions of the model.
    coverage : float
        Share of the training rows that the rule matches.
    share : float
        Share of the training rows that the rule predicts. In a list these are the rows
        that it matches and no earlier rule does.
    error : float
        Share of wrong predictions, or mean squared error.
    weight : float
        Its weight where rules are averaged.
    n_rows : float
        Number of training rows that the rule predicts, whatever their weights.
    n_effective : float
        Effective number of rows: how many rows of equal weight that the model has not
        seen would be as much evidence as these; see `RuleModel.evidence`. By default it
        is `n_rows`.
    rates : tuple of float, optional
        Share of each class in y among these rows.
    model_mean : tuple of float or float, optional
        Mean prediction of the model in these rows: the probability of each class, or a
        number.
    quantiles : tuple of two floats, optional
        For regression: the 10% and 90% quantiles of y in these rows or, without y,
        of the model's predictions.
    alone : tuple of float or float, optional
        For a rule in a list: share of each class, or the mean, in all training rows
        that it matches, including those that earlier rules predict.
    totals : tuple of float, optional
        For rates of events: events, exposure, the dispersion of the events, and the
        estimated rate, around which its interval is.
    curve : tuple of float, optional
        For survival: the times of the events, the weight at risk and that of the
        events, one after the other, with the first and the last time.
    points : tuple of float, optional
        Points that the rule adds in a scorecard: to the predicted number, to the
        log-odds of the second of two classes, or to each class if there are more.
    is_override : bool, default=False
        Whether `set_prediction` set its class, whatever costs or a threshold say.

    Examples
    --------
    >>> rule = Rule((Condition(0, lower=20.0),), "yes", (0.2, 0.8))
    >>> rule.text(["degrees"])
    'degrees > 20'
    >>> rule.covers(np.array([[21.0], [19.0]])).tolist()
    [True, False]
    >>> Rule.from_dict(rule.to_dict()) == rule
    True
    """

    conditions: Annotated[
        tuple[Condition, ...], schema.list_of(schema.object_of(Condition))
    ]
    prediction: Annotated[Any, schema.LABEL]
    distribution: Annotated[tuple[float, ...] | None, _SHARES, "required"] = None
    spread: Annotated[float | None, _SPREAD, "required"] = None
    coverage: Annotated[float, schema.number(0, 1) | _NAN, "required"] = math.nan
    share: Annotated[float, schema.number(0, 1) | _NAN, "required"] = math.nan
    error: Annotated[float, schema.number(0, 1e250) | _NAN, "required"] = math.nan
    weight: Annotated[float, schema.number(0, 1e100)] = 1.0
    n_rows: Annotated[float, schema.N_ROWS | _NAN] = math.nan
    n_effective: Annotated[float, schema.N_ROWS | _NAN] = math.nan
    rates: Annotated[tuple[float, ...] | None, _SHARES] = None
    model_mean: Annotated[tuple[float, ...] | float | None, _MEANS] = None
    quantiles: Annotated[tuple[float, float] | None, _ENDS] = None
    alone: Annotated[tuple[float, ...] | float | None, _MEANS, "optional"] = None
    points: Annotated[tuple[float, ...] | None, _POINTS] = None
    totals: Annotated[tuple[float, ...] | None, _POINTS, "optional"] = None
    curve: Annotated[tuple[float, ...] | None, _POINTS, "optional"] = None
    is_override: Annotated[bool, schema.FLAG, "override", "optional"] = False

    _order: ClassVar[tuple[str, ...]] = (
        *("conditions", "prediction", "is_override", "distribution", "rates"),
        *("model_mean", "quantiles", "alone", "totals", "curve", "points", "spread"),
        *("weight", "n_rows", "n_effective", "coverage", "share", "error"),
    )
    # Names and categories for its text, and the values of its conditions that the rules
    # before it leave; no part of its value.
    _vocabulary: ClassVar[Vocabulary] = Vocabulary(_Numbered())
    _shown: ClassVar[tuple[Condition, ...] | None] = None

    @property
    def n_conditions(self) -> int:
        """Number of comparisons; an interval with two finite sides counts as two."""
        return sum(condition.n_sides for condition in self.conditions)

    @property
    def interval(self) -> tuple[Any, ...] | None:
        """For each class a 95% interval of its rate in new rows.

        It is Wilson's, for `n_effective` rows, and includes the estimate; of numbers it
        is `quantiles`. None where nobody counted.
        """
        if self.rates is None:
            return self.quantiles
        if not self.n_rows > 0:
            return None
        is_known = self.n_effective > 0
        n_rows = self.n_effective if is_known else self.n_rows
        ends = [wilson_interval(rate, n_rows) for rate in self.rates]
        pairs = zip(ends, self.distribution or self.rates, strict=True)
        return tuple((min(low, p), max(high, p)) for (low, high), p in pairs)

    def covers(self, matrix: Floats) -> Flags:
        """Which rows of an encoded matrix it matches."""
        matches = np.ones(len(matrix), dtype=bool)
        for condition in self.conditions:
            matches &= condition.covers(matrix[:, condition.feature])
        return matches

    @property
    def shown(self) -> tuple[Condition, ...]:
        """Its conditions as they are printed: with the values that can reach it."""
        return self.conditions if self._shown is None else self._shown

    def named(self, vocabulary: Vocabulary, shown: tuple[Condition, ...]) -> Self:
        """The same rule with the names and conditions that its text uses."""
        rule = copy.copy(self)
        object.__setattr__(rule, "_vocabulary", vocabulary)
        object.__setattr__(rule, "_shown", shown)
        return rule

    def text(
        self,
        names: Sequence[str] | None = None,
        categories: Sequence[Any] | None = None,
        scales: Sequence[Any] | None = None,
    ) -> str:
        """Its conditions as text, without values that earlier rules of a list take.

        Parameters
        ----------
        names : sequence of str, optional
            By default those of its rule model; without one the first feature is "x[0]".
        categories : sequence of (tuple or None), optional
            For each feature its categories.
        scales : sequence of Scale, optional
            For each feature how its numbers are written.
        """
        words = Vocabulary(names, categories, scales)
        words = self._vocabulary if names is None else words
        return join_conditions([c.text(*words) for c in self.shown])

    def __repr__(self) -> str:
        answer = self.prediction
        text = render.number(answer) if isinstance(answer, float) else str(answer)
        body = f"if {self.text()} then" if self.conditions else "otherwise"
        return render.plain(f"<Rule: {body} {text}>")


class RuleSequence:
    """Rules in order, the default rule last: what forms and rule models have in common.

    The default rule has no conditions and matches every row.
    """

    rules: tuple[Rule, ...]
    default: Rule

    def __iter__(self) -> Iterator[Rule]:
        return iter((*self.rules, self.default))

    @property
    def n_rules(self) -> int:
        """Number of rules, the default included."""
        return len(self.rules) + 1

    @property
    def n_conditions(self) -> int:
        """Number of conditions of all rules together."""
        return sum(rule.n_conditions for rule in self.rules)
