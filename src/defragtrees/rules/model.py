"""RuleSet: what every method returns.

A rule set answers with the conditions that it prints and with nothing else. Mostly its
rules are asked in order, the first that holds answers, and `default` answers for the
rest. In other sets all rules that hold have a say: each is true by itself, or has
points that add up, or a weight in a mean.
"""

import dataclasses
import math
import operator
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Self

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.files import read_json, to_json, write_atomic
from defragtrees._utils.types import Column, Flags, Floats, Places, Rows, Values
from defragtrees._utils.values import ByValue
from defragtrees.data.tables import read_matrix
from defragtrees.errors import ModelFileError
from defragtrees.outcomes import make_outcome
from defragtrees.outcomes.base import Outcome
from defragtrees.outcomes.intervals import Intervals
from defragtrees.rules.conditions import Condition, Rule, listed
from defragtrees.rules.labels import WORDS, Worded
from defragtrees.rules.parsing import ColumnWords, parse_conditions, read_condition
from defragtrees.rules.profile import TrainingRows
from defragtrees.rules.schema import check_rules
from defragtrees.rules.text import (
    combination_text,
    decision_text,
    explain_rows,
    explanation_text,
    rule_lines,
    rule_table,
    then_text,
    told_text,
)

__all__ = [
    "ACTIONS",
    "Answering",
    "CALLED",
    "Combining",
    "Condition",
    "Edit",
    "Editing",
    "Rule",
    "RuleSet",
    "Upstairs",
    "check_conditions",
    "check_decision",
    "check_points",
    "edit_lines",
    "is_finite",
    "rule_text",
]


def check_conditions(rule, names, categories):
    """Refuse a rule that asks what its features do not have."""
    features = [condition.feature for condition in rule.conditions]
    if len(set(features)) < len(features):
        raise ValueError("A rule must have one condition for each feature.")
    for condition in rule.conditions:
        feature, places = condition.feature, condition.categories
        if not 0 <= feature < len(names):
            raise ValueError(f"A rule asks about feature {feature}.")
        labels = categories[feature]
        if places is None:
            continue
        if labels is None or not all(0 <= c <= len(labels) for c in places):
            raise ValueError(
                f"A rule asks {names[feature]!r} for categories that it does not "
                f"have: {places!r}."
            )


def check_points(rules):
    """Refuse points where none add up, or other than one for each column of them."""
    is_sum, n_points = rules.decision == "points", rules.outcome.n_points
    for rule in rules:
        points = rule.points
        if (points is not None) != is_sum:
            raise ValueError(
                "Each rule must have points where they add up, and none elsewhere; got "
                f"points={points!r} with decision={rules.decision!r}."
            )
        if is_sum and not (len(points) == n_points and all(map(is_finite, points))):
            raise ValueError(
                f"A rule must have {n_points} points, each a finite number; got "
                f"{points!r}."
            )
    if not (is_finite(rules.unit) and rules.unit > 0 and is_finite(rules.origin)):
        raise ValueError(
            "unit must be a number above 0, and origin a number; got "
            f"{rules.unit!r} and {rules.origin!r}."
        )
    if rules.decision == "standalone" and rules.default.weight != 0:
        raise ValueError(
            "The default of standalone rules answers where no rule holds, so its "
            f"weight must be 0; got {rules.default.weight!r}."
        )


def check_decision(rules):
    """Refuse a threshold or costs that are not what the rules answer by."""
    if rules.threshold is None and rules.costs is None:
        return
    if not rules.outcome.n_classes or rules.decision == "average":
        raise ValueError(
            "threshold and costs need rules for classes of which one answers; got "
            f"rules for a {rules.task} with decision={rules.decision!r}."
        )
    if not rules.has_probabilities:
        raise ValueError("threshold and costs need the distribution of each rule.")
    decision = rules.outcome.decision(rules.threshold, rules.costs)
    if rules.decision == "points":
        return
    distributions = np.array([rule.distribution for rule in rules], dtype=np.float64)
    chosen = decision.choose(distributions)
    for rule, place in zip(rules, chosen.tolist(), strict=True):
        if rule.prediction != rules.classes[place]:
            raise ValueError(
                "Each rule must answer what its distribution says by threshold or "
                f"costs; one says {rules.classes[place]!r} and answers "
                f"{rule.prediction!r}. Replace its prediction too."
            )


def is_finite(value):
    """Whether a value is a finite number."""
    try:
        return math.isfinite(value)
    except TypeError:
        return False


class Combining:
    """The part of a RuleSet that answers by all rules that hold in a row."""

    def members_held(self, held: Flags) -> Flags:
        """Which rows count for which rules, by which of them hold.

        Those that a rule answers or, where several have a say, in which it holds.
        """
        if self.is_list:
            return np.eye(self.n_rules, dtype=bool)[held.argmax(axis=1)]
        members = held.copy()
        if self.decision == "standalone":
            members[:, -1] = ~held[:, :-1].any(axis=1)
        return members

    def conflicts_held(self, held: Flags) -> Flags:
        """In which rows rules hold that answer different classes; none of numbers."""
        rules, members = (*self.rules, self.default), self.members_held(held)
        is_given = [
            members[:, [rule.prediction == label for rule in rules]].any(axis=1)
            for label in self.classes or ()
        ]
        return np.sum(is_given, axis=0) > 1 if is_given else np.zeros(len(held), bool)

    def totals(self, X: Rows) -> Floats:
        """The sum of points of each row, (n_samples, n_columns of points).

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_columns)
            One column; of more than two classes one for each.

        Examples
        --------
        >>> from defragtrees.rules.conditions import Condition, Rule, RuleSet
        >>> warm = Rule((Condition(0, lower=20.0),), 5.0, points=(3.0,))
        >>> rules = RuleSet((warm,), Rule((), 2.0, points=(2.0,)), ("degrees",),
        ...                 "regression", decision="points")
        >>> rules.totals([[21.0], [19.0]]).tolist()
        [[5.0], [2.0]]
        """
        return self.totals_encoded(self.encode(X))

    def answers_held(self, held: Flags) -> Values:
        """Answers of rules that have a say together, by which of them hold."""
        if self.decision == "points":
            values = self.values_of(self.totals_held(held))
            return self.outcome.decide_points(values, self.threshold, self.costs)
        return self.outcome.decide(self._averaged(held), self.threshold, self.costs)

    def shares_held(self, held: Flags) -> Floats:
        """Probabilities of rules that have a say together, by which of them hold."""
        if self.decision == "points":
            return self.outcome.linked(self.values_of(self.totals_held(held)))
        return self._averaged(held)

    def totals_encoded(self, matrix: Floats) -> Floats:
        """`totals` for a matrix that `encode` made."""
        return self.totals_held(self.covers_encoded(matrix))

    def totals_held(self, held: Flags) -> Floats:
        """`totals` where it is known which rules hold, (n_samples, n_rules)."""
        if self.decision != "points":
            raise AttributeError(
                "Totals need rules whose points add up; these have "
                f"decision={self.decision!r}. Fit with form='points'."
            )
        # From the base on, rule by rule: exports add up in the same order.
        totals = np.tile(
            np.array(self.default.points, dtype=np.float64), (len(held), 1)
        )
        for k, rule in enumerate(self.rules):
            totals += np.outer(held[:, k], rule.points)
        return totals

    def values_of(self, totals: Floats) -> Floats:
        """What totals of points stand for: numbers, or log-odds."""
        return (totals - self.origin) * self.unit

    def scaled(
        self, points_to_double: float = 20, points: float = 0, odds: float = 1
    ) -> Self:
        """Rules with whole points on a scale of the user's own, for two classes.

        Parameters
        ----------
        points_to_double : float, default=20
            How many points double the odds of the second class.
        points, odds : float
            A total that stands for these odds; 600 points at odds of 50 are usual where
            the second class is the good one.

        Returns
        -------
        RuleSet

        Examples
        --------
        >>> from defragtrees import Condition, Rule, RuleSet
        >>> paid = Rule((Condition(0, lower=1.0),), "good", (0.1, 0.9), points=(1.4,))
        >>> base = Rule((), "good", (0.4, 0.6), points=(0.7,))
        >>> rules = RuleSet((paid,), base, ("years",), "classification",
        ...                 ("bad", "good"), decision="points")
        >>> [rule.points for rule in rules.scaled(20, points=600, odds=50)]
        [(40.0,), (507.0,)]
        """
        if self.decision != "points" or len(self.classes or ()) != 2:
            raise ValueError(
                "scaled needs rules whose points add up, for two classes; got "
                f"decision={self.decision!r} and {len(self.classes or ())} classes."
            )
        if not (points_to_double > 0 and odds > 0):
            raise ValueError(
                "points_to_double and odds must be above 0; got "
                f"{points_to_double!r} and {odds!r}."
            )
        unit = math.log(2) / points_to_double
        origin = points - math.log(odds) / unit
        told = self.values_of(np.array(self.default.points))[0] / unit + origin
        rules = [
            replace(rule, points=(float(round(rule.points[0] * self.unit / unit)),))
            for rule in self.rules
        ]
        base = replace(self.default, points=(float(round(told)),))
        scale = {"unit": unit, "origin": origin}
        return replace(self, rules=tuple(rules), default=base, **scale)

    def _averaged(self, held):
        """Mean by weight of the outputs of all rules that hold."""
        outputs = np.array([self.outcome.outputs(rule) for rule in self])
        total = np.zeros((len(held), outputs.shape[1]))
        weight = np.zeros(len(held))
        # Rule by rule: the last digits must not depend on the number of rows.
        for k, rule in enumerate(self):
            total += np.outer(held[:, k] * rule.weight, outputs[k])
            weight += held[:, k] * rule.weight
        without = weight <= 0
        total[without], weight[without] = outputs[-1], 1.0
        return total / weight[:, None]


class Answering(Combining):
    """The part of a RuleSet that answers rows.

    Each method for a table X has a twin for the matrix that `encode` makes of it.
    """

    def encode(self, X: Rows) -> Floats:
        """X as numbers; checks the names and the number of its columns.

        A frame needs only the columns that conditions ask about.
        """
        kinds = [scale.kind for scale in self.vocabulary.scales]
        needed = {c.feature for rule in self for c in rule.conditions}
        return read_matrix(
            X, self.feature_names, self.categories, "the rules", kinds, needed
        )

    def covers(self, X: Rows) -> Flags:
        """Which rules hold in which rows, (n_samples, n_rules); the last one always.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        bool array of shape (n_samples, n_rules)

        Examples
        --------
        >>> from defragtrees.rules.conditions import Condition, Rule, RuleSet
        >>> warm = Rule((Condition(0, lower=20.0),), "yes", (0.2, 0.8))
        >>> rules = RuleSet((warm,), Rule((), "no", (0.9, 0.1)), ("degrees",),
        ...                 "classification", ("no", "yes"))
        >>> rules.covers([[21.0], [19.0]]).tolist()
        [[True, True], [False, True]]
        """
        return self.covers_encoded(self.encode(X))

    def apply(self, X: Rows) -> Places:
        """Index of the rule that answers each row; the last is the default.

        Where several rules have a say, it is the one that holds with the most weight,
        rows or points.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        int array of shape (n_samples,)

        Examples
        --------
        >>> from defragtrees.rules.conditions import Condition, Rule, RuleSet
        >>> warm = Rule((Condition(0, lower=20.0),), "yes", (0.2, 0.8))
        >>> rules = RuleSet((warm,), Rule((), "no", (0.9, 0.1)), ("degrees",),
        ...                 "classification", ("no", "yes"))
        >>> rules.apply([[21.0], [19.0]]).tolist()
        [0, 1]
        """
        return self.apply_encoded(self.encode(X))

    def predict(self, X: Rows) -> Values:
        """The answer for each row: class labels, or numbers.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)

        Examples
        --------
        >>> from defragtrees.rules.conditions import Condition, Rule, RuleSet
        >>> warm = Rule((Condition(0, lower=20.0),), "yes", (0.2, 0.8))
        >>> rules = RuleSet((warm,), Rule((), "no", (0.9, 0.1)), ("degrees",),
        ...                 "classification", ("no", "yes"))
        >>> rules.predict([[21.0], [19.0]]).tolist()
        ['yes', 'no']
        """
        return self.predict_encoded(self.encode(X))

    def predict_proba(self, X: Rows) -> Floats:
        """Probabilities of classes, of the rule that answers or of all that hold.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)

        Examples
        --------
        >>> from defragtrees.rules.conditions import Condition, Rule, RuleSet
        >>> warm = Rule((Condition(0, lower=20.0),), "yes", (0.2, 0.8))
        >>> rules = RuleSet((warm,), Rule((), "no", (0.9, 0.1)), ("degrees",),
        ...                 "classification", ("no", "yes"))
        >>> rules.predict_proba([[21.0], [19.0]]).tolist()
        [[0.2, 0.8], [0.9, 0.1]]
        """
        return self.predict_proba_encoded(self.encode(X))

    def decision_function(self, X: Rows) -> Floats:
        """How much speaks for a class, by which rows can be ranked.

        Two classes: the log-odds of the second less those at which it is answered, so
        that above 0 it is; shape (n_samples,). More: what each answer is expected to
        cost, negated, so that the answer has the largest; shape (n_samples,
        n_classes). Without costs that is its probability less one.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)

        Examples
        --------
        >>> from defragtrees.rules.conditions import Condition, Rule, RuleSet
        >>> warm = Rule((Condition(0, lower=20.0),), "yes", (0.2, 0.8))
        >>> rules = RuleSet((warm,), Rule((), "no", (0.9, 0.1)), ("degrees",),
        ...                 "classification", ("no", "yes"))
        >>> rules.decision_function([[21.0], [19.0]]).round(3).tolist()
        [1.386, -2.197]
        """
        return self.decision_function_encoded(self.encode(X))

    def explain(self, X: Rows | Mapping[str, Any]) -> str | list[str]:
        """Why the rules answer what they answer, in a sentence.

        Parameters
        ----------
        X : one row, or array-like or data frame of shape (n_samples, n_features)
            A row may be a mapping or a pandas Series by name, or a flat sequence.

        Returns
        -------
        str, or list of str for more than one row

        Examples
        --------
        >>> from defragtrees import Condition, Rule, RuleSet
        >>> warm = Rule((Condition(0, lower=20.0),), "yes")
        >>> rules = RuleSet((warm,), Rule((), "no"), ("degrees",), "classification",
        ...                 ("no", "yes"))
        >>> rules.explain({"degrees": 21})
        'yes, by rule 1: degrees > 20 (it is 21).'
        """
        rows: Any = X
        if hasattr(rows, "keys") and not hasattr(rows, "columns"):
            missing = [name for name in self.features if name not in rows]
            if missing:
                raise ValueError(f"A row needs {missing[0]!r}, which is not in it.")
            rows = [rows.get(name) for name in self.feature_names]
        is_one = not hasattr(rows, "columns") and np.ndim(np.asarray(rows, object)) == 1
        matrix = self.encode(np.asarray([rows], dtype=object) if is_one else rows)
        texts = [
            render.plain(explanation_text(self, row, explanation))
            for row, explanation in zip(matrix, explain_rows(self, matrix), strict=True)
        ]
        return texts[0] if is_one else texts

    @property
    def has_probabilities(self) -> bool:
        """Whether `predict_proba` has an answer."""
        return all(rule.distribution is not None for rule in self)

    @property
    def is_list(self) -> bool:
        """Whether one rule answers each row, the first that holds."""
        return self.decision in ("first", "partition")

    def covers_encoded(self, matrix: Floats) -> Flags:
        """`covers` for a matrix that `encode` made."""
        held = np.ones((len(matrix), self.n_rules), dtype=bool)
        for k, rule in enumerate(self.rules):
            held[:, k] = rule.covers(matrix)
        return held

    def apply_encoded(self, matrix: Floats) -> Places:
        """`apply` for a matrix that `encode` made."""
        return self.apply_held(self.covers_encoded(matrix))

    def apply_held(self, held: Flags) -> Places:
        """`apply` where it is known which rules hold, (n_samples, n_rules)."""
        if self.is_list:
            return held.argmax(axis=1)
        if self.decision == "points":
            # The base holds everywhere, so it is the strongest only if it is alone.
            says = [np.abs(rule.points).max() for rule in self.rules]
            weights = np.array([*says, 0.0])
        else:
            weights = np.array([rule.weight for rule in self])
        return np.where(held, weights, -1.0).argmax(axis=1)

    def predict_encoded(self, matrix: Floats) -> Values:
        """`predict` for a matrix that `encode` made."""
        if self.is_list:
            told = [rule.prediction for rule in self]
            answers = np.asarray(told, dtype=self.outcome.dtype)
            return answers[self.apply_encoded(matrix)]
        return self.answers_held(self.covers_encoded(matrix))

    def predict_proba_encoded(self, matrix: Floats) -> Floats:
        """`predict_proba` for a matrix that `encode` made."""
        if not self.outcome.n_classes:
            raise AttributeError("Rules for a number have no class probabilities.")
        if not self.has_probabilities:
            raise AttributeError(
                "Class probabilities need a distribution in each rule; one has none. "
                "Give each Rule its distribution."
            )
        held = self.covers_encoded(matrix)
        if self.is_list:
            shares = np.array([rule.distribution for rule in self])
            return shares[held.argmax(axis=1)]
        return self.shares_held(held)

    def decision_function_encoded(self, matrix: Floats) -> Floats:
        """`decision_function` for a matrix that `encode` made."""
        probabilities = self.predict_proba_encoded(matrix)
        decision = self.outcome.decision(self.threshold, self.costs)
        if self.decision == "points" and len(self.classes) == 2:
            values = self.values_of(self.totals_encoded(matrix))
            return decision.scores_of_log_odds(values[:, 0])
        return decision.scores(probabilities)


CALLED = {
    "refit": "defragtrees.data.refitting",
    "improve": "defragtrees.estimators.improving",
    "check": "defragtrees.monitoring",
    "export": "defragtrees.export",
    "to_frame": "defragtrees.export",
}


def _call(name, *arguments, **settings):
    """What the function of this name in `CALLED` gives."""
    return getattr(import_module(CALLED[name]), name)(*arguments, **settings)


class Upstairs:
    """The part of a RuleSet that needs rows to count, a search or a format."""

    def refit(
        self,
        X: Rows,
        y: Column,
        sample_weight: Column | None = None,
        *,
        answers: str = "told",
    ) -> Self:
        """The same conditions in the same order, with what these rows say of them.

        Rates, counts, errors and points are those of the rows, and so are answers.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        answers : {"told", "kept"}, default="told"
            What rules answer: what these rows tell, or the same as before.

        Returns
        -------
        RuleSet

        Examples
        --------
        >>> from defragtrees import Condition, Rule, RuleSet
        >>> rules = RuleSet((Rule((Condition(0, lower=20.0),), 9.0),), Rule((), 1.0),
        ...                 ("degrees",), "regression")
        >>> X, y = [[21.0], [22.0], [23.0], [1.0], [2.0], [3.0]], [5, 6, 7, 1, 2, 3]
        >>> [rule.prediction for rule in rules.refit(X, y)]
        [5.895, 2.105]
        """
        return _call("refit", self, X, y, sample_weight, answers=answers)

    def improve(
        self,
        X: Rows,
        y: Column,
        keep: Iterable[int],
        sample_weight: Column | None = None,
        *,
        ensemble: Any = None,
        **settings: Any,
    ) -> Self:
        """Rules of which some are these, and the others are searched for again.

        In a list the kept rules come first, in their order, and the others are for the
        rows that they leave.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        keep : sequence of int
            Numbers of the rules to keep, from 1.
        sample_weight : array-like of shape (n_samples,), optional
        ensemble : fitted ensemble, optional
            That the others imitate; by default one is fitted on the rows.
        **settings
            Of `simplify`; `max_rules` counts all rules, and is what they are now.

        Returns
        -------
        RuleSet

        Examples
        --------
        >>> from defragtrees import Condition, Rule, RuleSet
        >>> rules = RuleSet((Rule((Condition(0, lower=20.0),), 9.0),), Rule((), 1.0),
        ...                 ("degrees",), "regression")
        >>> X, y = [[21.0], [22.0], [23.0], [1.0], [2.0], [3.0]], [5, 6, 7, 1, 2, 3]
        >>> kept = rules.improve(X, y, keep=[1])
        >>> kept.rules[0].text(), kept.edits[0].text
        ('degrees > 20', 'kept rule 1, searched for others on 6 rows')
        """
        return _call(
            "improve", self, X, y, keep, sample_weight, ensemble=ensemble, **settings
        )

    def check(
        self,
        X: Rows,
        y: Column | None = None,
        *,
        ensemble: Any = None,
        level: float = 0.05,
    ) -> Any:
        """Whether new rows are still like those that the rules were fitted to.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            With it rates and errors are tested too.
        ensemble : fitted model with predict, optional
            Whether it still agrees with the rules.
        level : float, default=0.05
            How often all tests together may raise a false alarm.

        Returns
        -------
        Check
            True if something has moved; prints as a table.

        Examples
        --------
        >>> from defragtrees import DistilledTreeClassifier
        >>> X, y = [[float(k)] for k in range(40)], ["no"] * 20 + ["yes"] * 20
        >>> tree = DistilledTreeClassifier(max_rules=2, random_state=0)
        >>> rules = tree.fit(X, y).rules_
        >>> bool(rules.check(X, y)), bool(rules.check([[35.0]] * 40))
        (False, True)
        """
        return _call("check", self, X, y, ensemble=ensemble, level=level)

    def to_frame(self) -> Any:
        """The rules as a data frame of pandas, one row for each.

        Returns
        -------
        pandas.DataFrame
            With what a rule asks and answers, its rows and rates, and the interval of
            each rate; a column in which nobody measured anything is left out.

        Examples
        --------
        >>> from defragtrees import Condition, Rule, RuleSet
        >>> warm = Rule((Condition(0, lower=20.0),), 5.0)
        >>> rules = RuleSet((warm,), Rule((), 2.0), ("degrees",), "regression")
        >>> rules.to_frame().shape[0]
        2
        """
        return _call("to_frame", self)

    def export(self, format: str, path: Any = None, **options: Any) -> Any:
        """The rules in another format; with a path, written to a file as well.

        Parameters
        ----------
        format : str
            See `defragtrees.export.export`.
        path : path, optional
        **options
            Of the format.

        Examples
        --------
        >>> from defragtrees import Condition, Rule, RuleSet
        >>> warm = Rule((Condition(0, lower=20.0),), 5.0)
        >>> rules = RuleSet((warm,), Rule((), 2.0), ("degrees",), "regression")
        >>> print(rules.export("text"), end="")
        1. if degrees > 20 then 5
        2. otherwise 2
        """
        return _call("export", self, format, path, **options)


ACTIONS = (
    "drop",
    "replace",
    "remove",
    "move",
    "answer",
    "reorder",
    "refit",
    "improve",
)


@dataclass(frozen=True)
class Edit:
    """What was changed.

    Parameters
    ----------
    action : str
        One of `ACTIONS`: a rule was dropped; its conditions, or one of them, were
        replaced; one of its conditions was removed; it was moved; it got another
        answer; all rules were put into another order, or counted anew on other rows,
        or some of them searched for again.
    text : str
        The change in words.
    rule : int, optional
        The number of the rule when it was changed, from 1; None where it was more than
        one.

    Examples
    --------
    >>> Edit("drop", "dropped rule 3: if age > 80 then no", 3).to_dict()
    {'action': 'drop', 'rule': 3, 'text': 'dropped rule 3: if age > 80 then no'}
    """

    action: str
    text: str
    rule: int | None = None

    def __post_init__(self):
        if self.action not in ACTIONS:
            raise ValueError(
                f"action must be one of {ACTIONS}; got {self.action!r}. Use the one "
                "that comes closest."
            )
        if not isinstance(self.text, str) or not self.text.strip():
            raise ValueError(
                f"An edit must say in words what was changed; got {self.text!r}. "
                "Write it as text."
            )

    def to_dict(self):
        """Its contents as plain texts and numbers."""
        return {"action": self.action, "rule": self.rule, "text": self.text}

    @classmethod
    def from_dict(cls, data):
        """The edit that `to_dict` wrote down."""
        return cls(data["action"], data["text"], data.get("rule"))


def edit_lines(edits):
    r"""Edits as lines under a title; none without edits.

    Examples
    --------
    >>> print(*edit_lines([Edit("drop", "dropped rule 3: if age > 80 then no", 3)]),
    ...       sep="\n")
    Edited after the fit:
    - dropped rule 3: if age > 80 then no
    """
    if not edits:
        return []
    return ["Edited after the fit:", *(f"- {render.plain(e.text)}" for e in edits)]


UNMEASURED = {
    "answered": math.nan,
    "error": math.nan,
    "n_rows": math.nan,
    "rates": None,
    "ensemble_mean": None,
    "quantiles": None,
    "spread": None,
}
OF_CONDITIONS = {"coverage": math.nan, "alone": None}


def rule_text(rules, rule):
    """A rule as it stands in the list of changes: if ... then ...

    Parameters
    ----------
    rules : RuleSet
    rule : Rule
    """
    head = f"if {rule.text()} then" if rule.conditions else rule.text()
    return f"{head} {then_text(rules, rule)}"


class Editing:
    """The part of a RuleSet that changes rules; they count from 1, as printed."""

    @property
    def words(self) -> ColumnWords:
        """What conditions may say in text: names, categories, scales, whole numbers."""
        conditions = [c for rule in self.rules for c in rule.conditions]
        integers = {c.feature for c in conditions if c.is_integer}
        if self.training is not None:
            # What rules ask of a column tells more than the rows that it has now.
            asked = {c.feature for c in conditions}
            columns = [c for c in self.training.columns if c.feature not in asked]
            integers |= {column.feature for column in columns if column.is_integer}
        return ColumnWords(
            *self.vocabulary, frozenset(integers), columns=self.feature_names
        )

    def drop(self, rule: int) -> Self:
        """The rules without one of them.

        Parameters
        ----------
        rule : int
            Its number, from 1.

        Returns
        -------
        RuleSet

        Examples
        --------
        >>> from defragtrees import Condition, Rule, RuleSet
        >>> warm, hot = Condition(0, lower=20.0), Condition(0, lower=30.0)
        >>> rules = RuleSet((Rule((hot,), "no"), Rule((warm,), "yes")), Rule((), "no"),
        ...                 ("degrees",), "classification", ("no", "yes"))
        >>> print(rules.drop(1))
        1. if degrees > 20 then yes
        2. otherwise no
        Edited after the fit:
        - dropped rule 1: if degrees > 30 then no
        """
        k = self._place(rule)
        kept = self.rules[:k] + self.rules[k + 1 :]
        text = f"dropped rule {k + 1}: {rule_text(self, self.rules[k])}"
        return self._edited(kept, Edit("drop", text, k + 1))

    def replace(self, rule: int, text: str, condition: int | str | None = None) -> Self:
        """The rules with other conditions in one of them, given as text.

        Parameters
        ----------
        rule : int
            Its number, from 1.
        text : str
            Conditions as rules print them, joined by "and".
        condition : int or str, optional
            Replace only this one: its number in the rule, from 1, or its column.

        Returns
        -------
        RuleSet

        Examples
        --------
        >>> from defragtrees import Condition, Rule, RuleSet
        >>> rules = RuleSet((Rule((Condition(0, lower=20.0),), "yes"),), Rule((), "no"),
        ...                 ("degrees",), "classification", ("no", "yes"))
        >>> print(rules.replace(1, "18 < degrees <= 30"))
        1. if 18 < degrees <= 30 then yes
        2. otherwise no
        Edited after the fit:
        - rule 1: degrees > 20 became 18 < degrees <= 30
        """
        k = self._place(rule)
        before = self.rules[k]
        if condition is None:
            conditions = parse_conditions(text, self.words)
        else:
            place = self._condition_place(before, condition)
            conditions = list(before.conditions)
            conditions[place] = read_condition(text, self.words)
            _refuse_twice(conditions, self.shown_names)
        return self._with_conditions(k, conditions, "replace")

    def remove(self, rule: int, condition: int | str) -> Self:
        """The rules without one condition of one of them.

        Parameters
        ----------
        rule : int
            Its number, from 1.
        condition : int or str
            Its number in the rule, from 1, or its column.

        Examples
        --------
        >>> from defragtrees import Condition, Rule, RuleSet
        >>> hot = Rule((Condition(0, lower=30.0), Condition(1, upper=9.0)), "no")
        >>> warm = Rule((Condition(0, lower=20.0),), "yes")
        >>> rules = RuleSet((hot, warm), Rule((), "no"), ("degrees", "wind"),
        ...                 "classification", ("no", "yes"))
        >>> rules.remove(1, "wind").rules[0].text()
        'degrees > 30'
        """
        k = self._place(rule)
        place = self._condition_place(self.rules[k], condition)
        conditions = list(self.rules[k].conditions)
        del conditions[place]
        if not conditions:
            raise ValueError(
                f"A rule needs a condition; rule {k + 1} has no other. Drop the rule, "
                "or replace its condition."
            )
        return self._with_conditions(k, conditions, "remove")

    def answer(self, rule: int, answer: Any) -> Self:
        """The rules with another answer of one of them; probabilities stay.

        Parameters
        ----------
        rule : int
            Its number, from 1; the last one may be changed too.
        answer : class label, float, or sequence of float
            Where points add up, its points.

        Examples
        --------
        >>> from defragtrees import Condition, Rule, RuleSet
        >>> hot = Rule((Condition(0, lower=30.0), Condition(1, upper=9.0)), "no")
        >>> warm = Rule((Condition(0, lower=20.0),), "yes")
        >>> rules = RuleSet((hot, warm), Rule((), "no"), ("degrees", "wind"),
        ...                 "classification", ("no", "yes"))
        >>> rules.answer(2, "no").edits[0].text
        'rule 2 answers no, not yes: if degrees > 20'
        """
        k = self._place(rule, with_default=True)
        changed = _with_answer(self, list(self)[k], answer).named(self.vocabulary)
        made = [*self]
        made[k] = changed
        text = (
            f"rule {k + 1} answers {then_text(self, changed)}, not "
            f"{then_text(self, [*self][k])}: "
            f"{'if ' if changed.conditions else ''}{changed.text()}"
        )
        return self._edited(
            tuple(made[:-1]), Edit("answer", text, k + 1), default=made[-1]
        )

    def move(self, rule: int, to: int) -> Self:
        """The rules with one of them at another place.

        Parameters
        ----------
        rule, to : int
            Its number, and the one that it gets, from 1.

        Examples
        --------
        >>> from defragtrees import Condition, Rule, RuleSet
        >>> hot = Rule((Condition(0, lower=30.0), Condition(1, upper=9.0)), "no")
        >>> warm = Rule((Condition(0, lower=20.0),), "yes")
        >>> rules = RuleSet((hot, warm), Rule((), "no"), ("degrees", "wind"),
        ...                 "classification", ("no", "yes"))
        >>> [rule.text() for rule in rules.move(2, 1)][0]
        'degrees > 20'
        """
        k, place = self._place(rule), self._place(to)
        order = [i for i in range(len(self.rules)) if i != k]
        order.insert(place, k)
        text = f"moved rule {k + 1} to {place + 1}: {rule_text(self, self.rules[k])}"
        return self._edited(
            tuple(self.rules[i] for i in order), Edit("move", text, k + 1)
        )

    def reorder(self, order: Iterable[int]) -> Self:
        """The rules in another order.

        Parameters
        ----------
        order : sequence of int
            The numbers of all rules but the last one, from 1.

        Examples
        --------
        >>> from defragtrees import Condition, Rule, RuleSet
        >>> hot = Rule((Condition(0, lower=30.0), Condition(1, upper=9.0)), "no")
        >>> warm = Rule((Condition(0, lower=20.0),), "yes")
        >>> rules = RuleSet((hot, warm), Rule((), "no"), ("degrees", "wind"),
        ...                 "classification", ("no", "yes"))
        >>> rules.reorder([2, 1]).edits[0].text
        'put the rules into the order 2, 1'
        """
        numbers = [operator.index(number) for number in order]
        every = list(range(1, len(self.rules) + 1))
        if sorted(numbers) != every:
            raise ValueError(
                f"order must have each of the rules {every} once; got {numbers}. Name "
                "them all; the last rule stays the last."
            )
        text = f"put the rules into the order {', '.join(map(str, numbers))}"
        moved = tuple(self.rules[number - 1] for number in numbers)
        return self._edited(moved, Edit("reorder", text))

    def _place(self, number, with_default=False):
        """From the number of a rule to its place in `rules`."""
        most = len(self.rules) + with_default
        try:
            place = operator.index(number)
        except TypeError:
            place = 0
        if isinstance(number, bool) or not 1 <= place <= most:
            last = "" if with_default else "; the last rule, without conditions, stays"
            raise ValueError(
                f"A rule is given by its number from 1 to {most}; got {number!r}. Take "
                f"one that is printed{last}."
            )
        return place - 1

    def _condition_place(self, rule, condition):
        """The place of a condition in a rule, by its number or its column."""
        features = [c.feature for c in rule.conditions]
        shown = [self.shown_names[j] for j in features]
        for names in ([self.feature_names[j] for j in features], shown):
            if condition in names:
                return names.index(condition)
        is_number = isinstance(condition, int) and not isinstance(condition, bool)
        if not is_number or not 1 <= condition <= len(features):
            raise ValueError(
                f"A condition is given by its number from 1 to {len(features)} or its "
                f"column, one of {shown}; got {condition!r}. Take one that it has."
            )
        return condition - 1

    def _with_conditions(self, k, conditions, action):
        before = self.rules[k]
        changed = dataclasses.replace(
            before, conditions=tuple(conditions), **UNMEASURED, **OF_CONDITIONS
        )
        changed = changed.named(self.vocabulary)
        made = (*self.rules[:k], changed, *self.rules[k + 1 :])
        text = f"rule {k + 1}: {before.text()} became {changed.text()}"
        return self._edited(made, Edit(action, text, k + 1))

    def _edited(self, rules, edit, default=None):
        """The rule set with other rules, of which only what is still true is told."""
        default = self.default if default is None else default
        made = [*still_measured(self, rules, default)]
        training = self.training
        if training is not None:
            training = dataclasses.replace(training, error=None)
        return dataclasses.replace(
            self,
            rules=tuple(made[:-1]),
            default=made[-1],
            # A tree without a leaf is a list.
            decision="first" if self.decision == "partition" else self.decision,
            interval_scores=None,
            training=training,
            edits=(*self.edits, edit),
        )


def still_measured(before, rules, default):
    """Changed rules, without what was counted where they may answer other rows now.

    Parameters
    ----------
    before : RuleSet
    rules : sequence of Rule
    default : Rule
    """
    counted = dict(_counted_among(before, [*before]))
    made = [*rules, default]
    for rule, (conditions, others) in zip(
        made, _counted_among(before, made), strict=True
    ):
        is_same = counted.get(conditions, "changed") == others
        yield rule if is_same else dataclasses.replace(rule, **UNMEASURED)


def _counted_among(rules, made):
    """For each rule its conditions, and those of the rules that take rows from it."""
    every = [rule.conditions for rule in made]
    for k, conditions in enumerate(every):
        is_last = k == len(every) - 1
        takes = rules.is_list or (rules.decision == "standalone" and is_last)
        yield conditions, frozenset(every[:k]) if takes else None


def _refuse_twice(conditions, names):
    features = [condition.feature for condition in conditions]
    repeated = [j for j in features if features.count(j) > 1]
    if repeated:
        raise ValueError(
            "A rule must have one condition for each column; it would have two on "
            f"{names[repeated[0]]!r}. Replace all conditions of the rule, or that one."
        )


def _with_answer(rules, rule, answer):
    """A rule with another answer, or points; refused where it follows from others."""
    if rules.decision == "points":
        points = answer if hasattr(answer, "__len__") else (answer,)
        if len(points) != rules.outcome.n_points or not all(map(is_finite, points)):
            raise ValueError(
                f"Here a rule answers {rules.outcome.n_points} finite points; got "
                f"{answer!r}. Give a number, or one for each class."
            )
        return dataclasses.replace(rule, points=tuple(map(float, points)))
    if rules.classes and not (rules.is_list and _is_by_label(rules)):
        raise ValueError(
            "An answer can be changed where it is a rule's own; here it follows from "
            "probabilities. Drop or replace the rule, or refit it on other rows."
        )
    if not rules.classes:
        if not is_finite(answer):
            raise ValueError(
                f"These rules answer finite numbers; got {answer!r}. Give a number."
            )
        unmeasured = {"error": math.nan, "spread": None}
        return dataclasses.replace(rule, prediction=float(answer), **unmeasured)
    labels = {str(label): label for label in rules.classes}
    shown = {rules.outcome.answer_text(label): label for label in rules.classes}
    label = answer if answer in rules.classes else {**labels, **shown}.get(str(answer))
    if label is None:
        raise ValueError(
            f"These rules answer one of {list(rules.classes)[:5]}; got {answer!r}. "
            "Take one of them."
        )
    return dataclasses.replace(rule, prediction=label, error=math.nan)


def _is_by_label(rules):
    return rules.threshold is None and rules.costs is None


FORMAT = "defragtrees-rules-1"
DECISIONS = ("first", "partition", "average", "standalone", "points")


@dataclass(frozen=True, eq=False)
class RuleSet(Answering, Editing, Upstairs, Intervals, Worded, ByValue):
    """Rules that answer every row.

    Parameters
    ----------
    rules : tuple of Rule
        Asked in this order.
    default : Rule
        Without conditions; answers where no rule holds. It counts as a rule. Where
        rules are averaged or points add up it holds in every row, with its own weight,
        or as the base.
    feature_names : tuple of str
    task : {"classification", "regression"}
    classes : tuple, optional
    categories : tuple of (tuple or None), optional
        For each feature its categories, or None where it is numeric.
    decision : {"first", "partition", "average", "standalone", "points"}
        Who answers: the first rule that holds; the same, and just one rule holds in
        each row, as in a tree; or all that hold, as a mean by weight of their class
        shares or numbers. "standalone" is a mean too, by the rows in which each rule
        holds, and the default answers only where no rule does. With "points" those of
        the rules that hold, and of the default, add up.
    interval_scores : tuple of float, optional
        Of numbers, for `predict_interval`: how far y was from the answers in rows that
        these do not rest on, in spreads of the rules; in ascending order.
    threshold : float, optional
        Of two classes, the second is answered from this probability on.
    costs : tuple of tuple of float, optional
        What it costs to answer the class of the column where that of the row is true;
        the answer is the class that is expected to cost least. With neither it is the
        likeliest one.
    feature_labels, class_labels : tuple of (str or None), optional
        What features and classes are called where people read; a label of a feature
        may end with a unit, as in "Duration [months]". `relabel` takes dicts too.
    pos_label : object, optional
        Of two classes, the one whose rate rules tell and whose precision and recall
        are measured; by default the second.
    feature_kinds : tuple of (str or None), optional
        Of features with numbers of days: "date", "datetime", "time" or "duration"; of
        features whose categories have an order, "ordered".
    unit, origin : float
        Where points add up, what a total stands for: `(total - origin) * unit` is the
        number, or the log-odds of the second of two classes.
    edits : tuple of Edit
        What people changed after the fit, in order.
    training : TrainingRows, optional
        What the rows were like that the rules were fitted to; see `check`.

    Examples
    --------
    >>> warm = Rule((Condition(0, lower=20.0),), "yes")
    >>> rules = RuleSet((warm,), Rule((), "no"), ("degrees",), "classification",
    ...                 ("no", "yes"))
    >>> print(rules)
    1. if degrees > 20 then yes
    2. otherwise no
    >>> rules.predict([[21.0], [20.0]]).tolist()
    ['yes', 'no']
    >>> RuleSet.from_dict(rules.to_dict()) == rules
    True
    >>> [row["then"] for row in rules.rows()]
    ['yes', 'no']
    >>> hot = Rule((Condition(0, lower=30.0), Condition(1, upper=3.0)), "no")
    >>> names = "degrees", "wind"
    >>> two = RuleSet((warm, hot), Rule((), "no"), names, "classification",
    ...               ("no", "yes"))
    >>> print(two.remove(2, "wind").move(2, 1).answer(3, "yes"))
    1. if degrees > 30 then no
    2. if degrees > 20 then yes
    3. otherwise yes
    Edited after the fit:
    - rule 2: degrees > 30 and wind <= 3 became degrees > 30
    - moved rule 2 to 1: if degrees > 30 then no
    - rule 3 answers yes, not no: otherwise
    >>> two.reorder([2, 1]).rules == two.move(2, 1).rules
    True
    >>> X, y = [[21.0, 1.0], [25.0, 9.0], [10.0, 1.0], [31.0, 2.0]] * 10, ["yes"] * 40
    >>> print(rules.refit([row[:1] for row in X], y).rules[0].n_rows)
    30.0
    >>> two.improve(X, y[:20] + ["no"] * 20, keep=[1], random_state=0).rules[0].text()
    'degrees > 20'
    """

    rules: tuple[Rule, ...]
    default: Rule
    feature_names: tuple[str, ...]
    task: str
    classes: tuple[Any, ...] | None = None
    categories: tuple[tuple[Any, ...] | None, ...] | None = None
    decision: str = "first"
    interval_scores: tuple[float, ...] | None = None
    threshold: float | None = None
    costs: tuple[tuple[float, ...], ...] | None = None
    feature_labels: tuple[str | None, ...] | None = None
    class_labels: tuple[str | None, ...] | None = None
    feature_kinds: tuple[str | None, ...] | None = None
    pos_label: Any = None
    unit: float = 1.0
    origin: float = 0.0
    edits: tuple[Edit, ...] = ()
    training: TrainingRows | None = None

    def __post_init__(self) -> None:
        names = tuple(self.feature_names)
        categories = tuple(self.categories or (None,) * len(names))
        if not all(isinstance(name, str) for name in names):
            raise ValueError("Feature names must be texts.")
        self._set("feature_names", names)
        self._set("categories", categories)
        self._set("edits", tuple(self.edits))
        self._set("costs", self.costs and tuple(map(tuple, self.costs)))
        for name, words in self.checked_words().items():
            self._set(name, words)
        vocabulary = self.vocabulary
        self._set("rules", tuple(rule.named(vocabulary) for rule in self.rules))
        self._set("default", self.default.named(vocabulary))
        if len(categories) != len(names):
            raise ValueError("categories must have one entry for each feature.")
        if self.outcome.labels == ():
            raise ValueError(f"Rules for a {self.task} need their classes.")
        if self.decision not in DECISIONS:
            raise ValueError(
                f"decision must be one of {DECISIONS}; got {self.decision!r}."
            )
        if self.default.conditions:
            raise ValueError("The default rule must have no conditions.")
        if self.interval_scores is not None:
            self.outcome.check_scores(self.interval_scores)
        for rule in self:
            check_conditions(rule, names, categories)
            self.outcome.check_rule(rule, not self.is_list)
            if not (is_finite(rule.weight) and rule.weight >= 0):
                raise ValueError(f"A weight must be from 0; got {rule.weight!r}.")
        if self.training is not None:
            self.training.check(categories, self.outcome.n_classes)
        check_points(self)
        check_decision(self)

    def _set(self, name, value):
        object.__setattr__(self, name, value)

    @property
    def outcome(self) -> Outcome:
        """What is predicted: its measures, texts and checks."""
        words = self.class_labels, self.pos_label
        return make_outcome(self.task, self.classes, *words)

    @property
    def n_rules(self) -> int:
        """Number of rules, the last "otherwise" included."""
        return len(self.rules) + 1

    @property
    def n_conditions(self) -> float:
        """Mean number of conditions of the rules that have any; 0 if none has."""
        counts = [rule.n_conditions for rule in self.rules]
        return float(np.mean(counts)) if counts else 0.0

    @property
    def total_conditions(self) -> int:
        """Number of conditions of all rules together."""
        return sum(rule.n_conditions for rule in self.rules)

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features that the rules ask about, in the order of X."""
        used = {c.feature for rule in self.rules for c in rule.conditions}
        return tuple(self.feature_names[j] for j in sorted(used))

    @property
    def unanswered_classes(self) -> tuple[Any, ...]:
        """The classes that no rule answers; of averaged rules, gives any share.

        Points give every class a share.
        """
        if self.decision == "points":
            return ()
        if not self.is_list:
            return self.outcome.without_share(self)
        answers = {rule.prediction for rule in self}
        return tuple(label for label in self.classes or () if label not in answers)

    def __iter__(self) -> Iterator[Rule]:
        return iter((*self.rules, self.default))

    def __len__(self) -> int:
        return self.n_rules

    def rows(self) -> list[dict[str, Any]]:
        """One dict per rule, ready to show; every view of the rules starts here."""
        outcome, decision = self.outcome, self.decision
        return [
            {
                "rule": k,
                "if": rule.text(),
                "then": then_text(self, rule),
                "n_conditions": rule.n_conditions,
                "coverage": rule.coverage,
                "answered": rule.answered,
                "error": rule.error,
                "weight": rule.weight,
                "points": rule.points,
                "n_rows": rule.n_rows,
                **outcome.told(rule),
                "told": "" if decision == "average" else told_text(self, rule),
            }
            for k, rule in enumerate(self, start=1)
        ]

    def __repr__(self) -> str:
        return (
            f"<RuleSet: {self.n_rules} rules, {len(self.features)} features, "
            f"{self.n_conditions:.1f} conditions per rule>"
        )

    def __str__(self) -> str:
        lines = [*rule_lines(self), combination_text(self), *edit_lines(self.edits)]
        return "\n".join(filter(None, lines))

    def _repr_html_(self):
        edits = "; ".join(edit_lines(self.edits)).replace(":; -", ":")
        notes = filter(None, [combination_text(self), decision_text(self), edits])
        return render.html_table(*rule_table(self), " ".join(notes), wide=1)

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain numbers, texts and lists; `from_dict` reads it back."""
        scores = self.interval_scores
        return {
            "format": FORMAT,
            "task": self.task,
            "classes": None if self.classes is None else list(self.classes),
            "feature_names": list(self.feature_names),
            "categories": [c if c is None else list(c) for c in self.categories or ()],
            "rules": [rule.to_dict() for rule in self.rules],
            "default": self.default.to_dict(),
            "decision": self.decision,
            "interval_scores": None if scores is None else list(scores),
            "threshold": self.threshold,
            "costs": None if self.costs is None else [list(row) for row in self.costs],
            **self.words_dict(),
            "unit": self.unit,
            "origin": self.origin,
            **({"edits": [e.to_dict() for e in self.edits]} if self.edits else {}),
            **({"training": self.training.to_dict()} if self.training else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The rule set that `to_dict` wrote down."""
        try:
            check_rules(data)
            return cls(
                rules=tuple(Rule.from_dict(rule) for rule in listed(data, "rules")),
                default=Rule.from_dict(data["default"]),
                feature_names=tuple(listed(data, "feature_names")),
                task=data["task"],
                classes=None if data["classes"] is None else tuple(data["classes"]),
                categories=tuple(
                    None if c is None else tuple(c) for c in listed(data, "categories")
                ),
                decision=data.get("decision", "first"),
                interval_scores=_scores(data.get("interval_scores")),
                threshold=data.get("threshold"),
                costs=data.get("costs"),
                **{name: data.get(name) for name in WORDS},
                unit=data.get("unit", 1.0),
                origin=data.get("origin", 0.0),
                edits=tuple(map(Edit.from_dict, data.get("edits") or ())),
                training=TrainingRows.from_dict(data.get("training")),
            )
        except ModelFileError:
            raise
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            why = " ".join(str(error).split()).rstrip(".")
            raise ModelFileError(
                f"These are not saved rules: {why}. Save them again with RuleSet.save."
            ) from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rules to a JSON file.

        Parameters
        ----------
        path : path
            The file appears when it is complete; one that is there is replaced then.

        Examples
        --------
        >>> import tempfile
        >>> rules = RuleSet((), Rule((), 2.0), ("degrees",), "regression")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rules.save(f"{folder}/rules.json")
        ...     RuleSet.load(f"{folder}/rules.json") == rules
        True
        """
        write_atomic(path, to_json(self.to_dict()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read rules that `save` wrote; nothing in the file is executed.

        Examples
        --------
        >>> import tempfile
        >>> rules = RuleSet((), Rule((), 2.0), ("degrees",), "regression")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rules.save(f"{folder}/rules.json")
        ...     print(RuleSet.load(f"{folder}/rules.json"))
        1. otherwise 2
        """
        return cls.from_dict(read_json(path))


def _scores(values):
    return None if values is None else tuple(map(float, values))
