"""Editing: rules as a person changes them, each change a new rule set that says so.

What was measured stays with a rule only while it is still true of it. In a list that is
so as long as the same rules stand before it; `refit` measures anew.
"""

import dataclasses
import math
import operator
from collections.abc import Iterable
from typing import Any, Self

from defragtrees.edits import Edit
from defragtrees.parsing import ColumnWords, parse_conditions, read_condition
from defragtrees.rule_checks import is_finite
from defragtrees.sentences import then_text

__all__ = ["Editing", "rule_text"]

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
