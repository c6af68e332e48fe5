"""The rule models that users have, one class for each form."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, Self, cast

import numpy as np

from defragtrees._utils import schema
from defragtrees._utils.optional import require
from defragtrees._utils.types import Flags, Floats, Rows, Values
from defragtrees._utils.values import is_finite
from defragtrees.rules.bins import bin_rows
from defragtrees.rules.forms import PointsForm
from defragtrees.rules.model import RuleModel
from defragtrees.rules.reasons import Reasons, checked_number
from defragtrees.rules.text import FactorsView, View

_AMOUNT = schema.number(-1e100, 1e100)

__all__ = ["MODELS", "RuleEnsemble", "RuleList", "RuleSet", "RuleTree", "Scorecard"]


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
    <RuleList: 2 rules, 1 feature, 1.0 conditions per rule>
    >>> print(rules)
    #  if            then
    1  degrees > 20  yes
    2  otherwise     no
    >>> rules.predict([[21.0], [20.0]]).tolist()
    ['yes', 'no']
    """

    form: ClassVar[str] = "list"


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

    def _as_edited(self) -> RuleList:
        # A tree without one of its leaves is a list.
        return RuleList(**{f.name: getattr(self, f.name) for f in fields(self)})


class _AveragedRules(RuleModel):
    """Rules whose prediction is the mean, by weight, of all rules that match."""

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
        members = self._form.members(self.covers(X))
        is_given = [
            members[:, [rule.prediction == label for rule in self]].any(axis=1)
            for label in self.classes or ()
        ]
        is_several = np.sum(is_given, axis=0) > 1
        return is_several if is_given else np.zeros(len(members), bool)


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
    tails : tuple of (float, float), optional
        Of two classes, two log-odds with a slope each: below the first and above the
        second log-odds change by slope times as much as the total says. Empty where the
        rows that count fit the straight line.

    Examples
    --------
    >>> from defragtrees import Condition, Rule
    >>> warm = Rule((Condition(0, lower=20.0),), 5.0, points=(3.0,))
    >>> card = Scorecard((warm,), Rule((), 2.0, points=(2.0,)), ("degrees",),
    ...                  "regression")
    >>> print(card)
    characteristic  bin    points  rule
    degrees         <= 20       0
                    > 20       +3     1
    base                       +2     2
    <BLANKLINE>
    Add up the points of the base and of one bin of each characteristic: the
    total is the prediction. Values that are in no bin have 0 points.
    >>> card.totals([[21.0], [19.0]]).tolist()
    [[5.0], [2.0]]
    >>> card.values_of(card.totals([[21.0]])).tolist()
    [[5.0]]
    """

    unit: Annotated[float, _AMOUNT] = 1.0
    origin: Annotated[float, _AMOUNT] = 0.0
    tails: Annotated[
        tuple[tuple[float, float], ...],
        schema.list_of(schema.list_of(_AMOUNT, 2, 2), 2, 2),
        "optional",
    ] = ()

    form: ClassVar[str] = "points"

    @property
    def _view(self) -> View:
        is_product = self.outcome.link == "log" and self.unit == 1.0
        return FactorsView(self) if is_product else super()._view

    @property
    def _points(self) -> PointsForm:
        return cast(PointsForm, self._form)

    @property
    def scored_class(self) -> Any:
        """The class, of two, that is more probable the higher the total."""
        return self._points.scored_class

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
        return self._points.totals(self.covers(X))

    def reasons(
        self, X: Rows, n: int = 3, best: str = "high", exclude: Sequence[Any] = ()
    ) -> Values:
        """Reason codes: the columns whose best value would add the most points.

        A reason says what a row would gain if only this column had its best value and
        all others stayed as they are. So reasons name different columns, each can be
        satisfied, and where no rule has two columns their gains add up.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        n : int, default=3
            Maximum number of reasons per row.
        best : {"high", "low"}, default="high"
            Which totals are desired: high ones, as in credit scoring, or low ones, as
            of a risk.
        exclude : sequence of str or int, default=()
            Columns that nobody can change, such as the age, by name or index.

        Returns
        -------
        object array of shape (n_samples, n)
            Texts, the largest gain first and of equal ones the column that the card has
            first; None where no further column would add points.

        Examples
        --------
        >>> from defragtrees import Condition, Rule, Scorecard
        >>> paid = Rule((Condition(0, lower=1.0),), "good", (0.1, 0.9), points=(40.0,))
        >>> late = Rule((Condition(1, lower=0.0),), "bad", (0.6, 0.4), points=(-25.0,))
        >>> base = Rule((), "good", (0.4, 0.6), points=(10.0,))
        >>> card = Scorecard((paid, late), base, ("years", "late payments"),
        ...                  "classification", ("bad", "good"), unit=0.035)
        >>> for reason in card.reasons([[0.0, 2.0]], n=2)[0]:
        ...     print(reason)
        years <= 1 (points 0; best 40 if > 1)
        late payments > 0 (points -25; best 0 if <= 0)
        """
        return self._reasons(self._encode(X), n, best, exclude)

    def bins(self, X: Rows | None = None, y: Any = None) -> Any:
        """The card by characteristic: the bins of each column with their points.

        Rules of one condition become bins that do not overlap, from the lowest values
        to the highest, then missing ones; exactly one bin of each characteristic counts
        for a row. Rules on several columns stand below ("and also"), and the base last.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features), optional
            Rows to count in each bin.
        y : array-like of shape (n_samples,), optional
            With it, the rate of the class that points count for, or the mean of y.

        Returns
        -------
        pandas.DataFrame
            The columns `characteristic`, `bin`, `points` and `rules`, the numbers of
            the rules whose points they are; of rates also `relativity`, the factor that
            points stand for (of survival `hazard ratio`); `rows` and `share`, without X
            of the rows that counted; with y `rate` or `mean` (with events and exposure
            as y these and their rate) and, of two classes, `woe`, the weight
            of evidence (log odds of the class in the bin less those in all rows), and
            `iv`, whose sum over the bins of a characteristic is its information value.

        Examples
        --------
        >>> from defragtrees import Condition, Rule, Scorecard
        >>> paid = Rule((Condition(0, lower=1.0),), "good", (0.1, 0.9), points=(40.0,))
        >>> long = Rule((Condition(0, lower=5.0),), "good", (0.1, 0.9), points=(15.0,))
        >>> base = Rule((), "good", (0.4, 0.6), points=(10.0,))
        >>> card = Scorecard((paid, long), base, ("years",), "classification",
        ...                  ("bad", "good"))
        >>> for line in card.bins()[["bin", "points", "rules"]].values.tolist()[:3]:
        ...     print(line)
        ['years <= 1', 0.0, '']
        ['1 < years <= 5', 40.0, '1']
        ['years > 5', 55.0, '1, 2']
        """
        pandas = require("pandas", "A data frame")
        if self.outcome.n_points != 1:
            raise ValueError(
                "bins need a scorecard with one total, for a number or two classes; "
                f"this one has {self.outcome.n_points}, one per class."
            )
        target, matrix = None, None if X is None else self._encode(X)
        if y is not None:
            if matrix is None:
                raise ValueError("bins with y need X too; got y alone.")
            target = self.outcome.encode(self.outcome.read(y, len(matrix)))
            if len(self.outcome.columns) == 1:
                target = self.outcome.indicators(target)[:, -1]
        return pandas.DataFrame(bin_rows(self, matrix, target))

    def _scorecard(self, what: str) -> Self:
        return self

    def _reasons(
        self, matrix: Floats, n: int, best: str, exclude: Sequence[Any]
    ) -> Values:
        return Reasons(self, best, exclude).texts(matrix, checked_number(n))

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
        *rules, default = (
            dataclasses.replace(rule, points=tuple(0.0 - p for p in rule.points or ()))
            for rule in self
        )
        scale: dict[str, Any] = {"unit": -self.unit, "origin": 0.0 - self.origin}
        return dataclasses.replace(self, rules=tuple(rules), default=default, **scale)

    def scaled(
        self,
        points_to_double: float = 20,
        points: float = 0,
        odds: float = 1,
        of: Any = None,
        *,
        unit: float | None = None,
    ) -> Self:
        """Return a scorecard with whole points on another scale.

        Scale the exact points of a fit, as whole ones are rounded already.

        Parameters
        ----------
        points_to_double : float, default=20
            How many points double the odds of two classes.
        points, odds : float
            The total that corresponds to these odds, such as 600 for odds of 50.
        of : class label, optional
            The class whose odds these are, and which high totals favour. In credit
            scoring it is the good one. By default the class that points count for now.
        unit : float, optional
            Of a scorecard for numbers, what a point stands for, such as 0.25%.

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
        >>> warm, base = Rule((Condition(0, lower=20.0),), 5.0, points=(1.4,)), Rule(
        ...     (), 2.0, points=(0.7,))
        >>> card = Scorecard((warm,), base, ("degrees",), "regression")
        >>> [rule.points for rule in card.scaled(unit=0.25)]
        [(6.0,), (3.0,)]
        """
        if unit is not None:
            if self.outcome.n_classes or self.outcome.link != "identity":
                raise ValueError("unit is for a scorecard of numbers; leave it out.")
            if not (is_finite(unit) and unit > 0):
                raise ValueError(f"unit must be a number above 0; got {unit!r}.")
            [base] = self.values_of(np.array([self.default.points]))[0] / unit
            origin = round(float(np.rint(base) - base), 9)
            return self._with_form(self._points.rescaled(unit, origin, is_whole=True))
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
        return self._with_form(self._points.rescaled(unit, origin, is_whole=True))

    def values_of(self, totals: Floats) -> Floats:
        """What totals of points stand for: numbers, or log-odds."""
        return self._points.values_of(totals)


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


MODELS: dict[str, Any] = {
    model.form: model
    for model in (RuleList, RuleTree, RuleSet, Scorecard, RuleEnsemble)
}
