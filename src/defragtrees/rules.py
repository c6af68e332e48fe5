"""RuleSet: what every method returns.

A rule set answers with the conditions that it prints and with nothing else. Mostly its
rules are asked in order, the first that holds answers, and `default` answers for the
rest. In other sets all rules that hold have a say: each is true by itself, or has
points that add up, or a weight in a mean.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from defragtrees import render
from defragtrees._values import ByValue
from defragtrees.answering import Answering
from defragtrees.conditions import Condition, Rule, listed
from defragtrees.documents import check_rules
from defragtrees.errors import ModelFileError
from defragtrees.files import read_json, to_json, write_atomic
from defragtrees.intervals import Intervals
from defragtrees.labels import WORDS, Worded
from defragtrees.outcome import make_outcome
from defragtrees.sentences import (
    combination_text,
    decision_text,
    explain_rows,
    explanation_text,
    rule_lines,
    rule_table,
    then_text,
    told_text,
)

__all__ = ["Condition", "Rule", "RuleSet"]

FORMAT = "defragtrees-rules-1"
DECISIONS = ("first", "partition", "average", "standalone", "points")


@dataclass(frozen=True, eq=False)
class RuleSet(Answering, Intervals, Worded, ByValue):
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
    feature_kinds : tuple of (str or None), optional
        Of features with numbers of days: "date", "datetime", "time" or "duration"; of
        features whose categories have an order, "ordered".
    unit, origin : float
        Where points add up, what a total stands for: `(total - origin) * unit` is the
        number, or the log-odds of the second of two classes.

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
    unit: float = 1.0
    origin: float = 0.0

    def __post_init__(self):
        names = tuple(self.feature_names)
        categories = tuple(self.categories or (None,) * len(names))
        if not all(isinstance(name, str) for name in names):
            raise ValueError("Feature names must be texts.")
        self._set("feature_names", names)
        self._set("categories", categories)
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
            _check_conditions(rule, names, categories)
            self.outcome.check_rule(rule, not self.is_list)
            if not (_is_finite(rule.weight) and rule.weight >= 0):
                raise ValueError(f"A weight must be from 0; got {rule.weight!r}.")
        _check_points(self)
        _check_decision(self)

    def _set(self, name, value):
        object.__setattr__(self, name, value)

    @property
    def outcome(self):
        """What is predicted: its measures, texts and checks."""
        return make_outcome(self.task, self.classes, self.class_labels)

    @property
    def n_rules(self):
        """Number of rules, the last "otherwise" included."""
        return len(self.rules) + 1

    @property
    def n_conditions(self):
        """Mean number of conditions of the rules that have any; 0 if none has."""
        counts = [rule.n_conditions for rule in self.rules]
        return float(np.mean(counts)) if counts else 0.0

    @property
    def total_conditions(self):
        """Number of conditions of all rules together."""
        return sum(rule.n_conditions for rule in self.rules)

    @property
    def features(self):
        """Names of the features that the rules ask about, in the order of X."""
        used = {c.feature for rule in self.rules for c in rule.conditions}
        return tuple(self.feature_names[j] for j in sorted(used))

    @property
    def unanswered_classes(self):
        """The classes that no rule answers; of averaged rules, gives any share.

        Points give every class a share.
        """
        if self.decision == "points":
            return ()
        if self.classes and not self.is_list:
            return self.outcome.without_share(self)
        answers = {rule.prediction for rule in self}
        return tuple(label for label in self.classes or () if label not in answers)

    def __iter__(self):
        return iter((*self.rules, self.default))

    def __len__(self):
        return self.n_rules

    def explain(self, X):
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
        >>> warm = Rule((Condition(0, lower=20.0),), "yes")
        >>> rules = RuleSet((warm,), Rule((), "no"), ("degrees",), "classification",
        ...                 ("no", "yes"))
        >>> rules.explain({"degrees": 21})
        'yes, by rule 1: degrees > 20 (it is 21).'
        """
        if hasattr(X, "keys") and not hasattr(X, "columns"):
            missing = [name for name in self.features if name not in X]
            if missing:
                raise ValueError(f"A row needs {missing[0]!r}, which is not in it.")
            X = [X.get(name) for name in self.feature_names]
        is_one = not hasattr(X, "columns") and np.ndim(np.asarray(X, object)) == 1
        matrix = self.encode(np.asarray([X], dtype=object) if is_one else X)
        texts = [
            render.plain(explanation_text(self, row, explanation))
            for row, explanation in zip(matrix, explain_rows(self, matrix), strict=True)
        ]
        return texts[0] if is_one else texts

    def rows(self):
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

    def __repr__(self):
        return (
            f"<RuleSet: {self.n_rules} rules, {len(self.features)} features, "
            f"{self.n_conditions:.1f} conditions per rule>"
        )

    def __str__(self):
        return "\n".join(filter(None, [*rule_lines(self), combination_text(self)]))

    def _repr_html_(self):
        notes = filter(None, [combination_text(self), decision_text(self)])
        return render.html_table(*rule_table(self), " ".join(notes))

    def to_dict(self):
        """Everything in plain numbers, texts and lists; `from_dict` reads it back."""
        scores = self.interval_scores
        return {
            "format": FORMAT,
            "task": self.task,
            "classes": None if self.classes is None else list(self.classes),
            "feature_names": list(self.feature_names),
            "categories": [None if c is None else list(c) for c in self.categories],
            "rules": [rule.to_dict() for rule in self.rules],
            "default": self.default.to_dict(),
            "decision": self.decision,
            "interval_scores": None if scores is None else list(scores),
            "threshold": self.threshold,
            "costs": None if self.costs is None else [list(row) for row in self.costs],
            **self.words_dict(),
            "unit": self.unit,
            "origin": self.origin,
        }

    @classmethod
    def from_dict(cls, data):
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
            )
        except ModelFileError:
            raise
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            why = " ".join(str(error).split()).rstrip(".")
            raise ModelFileError(
                f"These are not saved rules: {why}. Save them again with RuleSet.save."
            ) from None

    def save(self, path):
        """Write the rules to a JSON file."""
        write_atomic(path, to_json(self.to_dict()))

    @classmethod
    def load(cls, path):
        """Read rules that `save` wrote; nothing in the file is executed."""
        return cls.from_dict(read_json(path))


def _check_conditions(rule, names, categories):
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


def _scores(values):
    return None if values is None else tuple(map(float, values))


def _check_points(rules):
    """Refuse points where none add up, or other than one for each column of them."""
    is_sum, n_points = rules.decision == "points", rules.outcome.n_points
    for rule in rules:
        points = rule.points
        if (points is not None) != is_sum:
            raise ValueError(
                "Each rule must have points where they add up, and none elsewhere; got "
                f"points={points!r} with decision={rules.decision!r}."
            )
        if is_sum and not (len(points) == n_points and all(map(_is_finite, points))):
            raise ValueError(
                f"A rule must have {n_points} points, each a finite number; got "
                f"{points!r}."
            )
    if not (_is_finite(rules.unit) and rules.unit > 0 and _is_finite(rules.origin)):
        raise ValueError(
            "unit must be a number above 0, and origin a number; got "
            f"{rules.unit!r} and {rules.origin!r}."
        )
    if rules.decision == "standalone" and rules.default.weight != 0:
        raise ValueError(
            "The default of standalone rules answers where no rule holds, so its "
            f"weight must be 0; got {rules.default.weight!r}."
        )


def _check_decision(rules):
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
    if rules.decision == "points":
        return
    distributions = np.array([rule.distribution for rule in rules], dtype=np.float64)
    chosen = rules.outcome.decision(rules.threshold, rules.costs).choose(distributions)
    for rule, place in zip(rules, chosen.tolist(), strict=True):
        if rule.prediction != rules.classes[place]:
            raise ValueError(
                "Each rule must answer what its distribution says by threshold or "
                f"costs; one says {rules.classes[place]!r} and answers "
                f"{rule.prediction!r}. Replace its prediction too."
            )


def _is_finite(value):
    try:
        return math.isfinite(value)
    except TypeError:
        return False
