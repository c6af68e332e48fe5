"""RuleSet: what every method returns.

A rule set answers with the conditions that it prints and with nothing else. Mostly its
rules are asked in order, the first that holds answers, and `default` answers for the
rest. In other sets all rules that hold have a say: each is true by itself, or has
points that add up, or a weight in a mean.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from defragtrees import render
from defragtrees._values import ByValue
from defragtrees.answering import Answering
from defragtrees.conditions import Condition, Rule
from defragtrees.documents import check_rules
from defragtrees.editing import Editing
from defragtrees.edits import Edit, edit_lines
from defragtrees.errors import ModelFileError
from defragtrees.files import read_json, to_json, write_atomic
from defragtrees.intervals import Intervals
from defragtrees.labels import WORDS, Worded
from defragtrees.outcome import Classes, Numbers, make_outcome
from defragtrees.plain_data import listed
from defragtrees.rule_checks import (
    check_conditions,
    check_decision,
    check_points,
    is_finite,
)
from defragtrees.sentences import (
    combination_text,
    decision_text,
    rule_lines,
    rule_table,
    then_text,
    told_text,
)
from defragtrees.training import TrainingRows
from defragtrees.upstairs import Upstairs

__all__ = ["Condition", "Rule", "RuleSet"]

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
    def outcome(self) -> Classes | Numbers:
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
