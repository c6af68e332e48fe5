"""Rule and RuleSet: what every method returns.

A rule set answers with the conditions that it prints and with nothing else. Its rules
are asked in order; the first that holds answers, and `default` answers for the rest.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from defragtrees import render
from defragtrees._values import ByValue
from defragtrees.conditions import Condition
from defragtrees.errors import ModelFileError
from defragtrees.tables import read_matrix

__all__ = ["Condition", "Rule", "RuleSet"]

FORMAT = "defragtrees-rules-1"


@dataclass(frozen=True, eq=False)
class Rule(ByValue):
    """If all conditions hold, this is the answer.

    Parameters
    ----------
    conditions : tuple of Condition
        One for each feature that it asks about; none means always.
    prediction : class label or float
    distribution : tuple of float, optional
        Share of each class among the rows that its answer rests on: the training rows
        that it answers and, with refine, the rows drawn near them.
    spread : float, optional
        Standard deviation of the target among those rows.
    coverage : float
        Share of the training rows in which it holds.
    answered : float
        Share of the training rows that it answers: it holds and none before it does.
    error : float
        Of its answers: share of wrong classes, or mean squared error.
    """

    conditions: tuple[Condition, ...]
    prediction: Any
    distribution: tuple[float, ...] | None = None
    spread: float | None = None
    coverage: float = math.nan
    answered: float = math.nan
    error: float = math.nan

    @property
    def n_conditions(self):
        """How many things it asks; an interval with two finite sides asks two."""
        return sum(condition.n_sides for condition in self.conditions)

    def covers(self, matrix):
        """Whether it holds in each row of an encoded matrix."""
        held = np.ones(len(matrix), dtype=bool)
        for condition in self.conditions:
            held &= condition.covers(matrix[:, condition.feature])
        return held

    def text(self, names, categories=None):
        """Its conditions as a person would say them."""
        parts = [c.text(names, categories) for c in self.conditions]
        parts = [
            f"({part})" if " or " in part and len(parts) > 1 else part for part in parts
        ]
        return " and ".join(parts) if parts else "otherwise"


@dataclass(frozen=True, eq=False)
class RuleSet(ByValue):
    """An ordered list of rules that answers every row.

    Parameters
    ----------
    rules : tuple of Rule
        Asked in this order.
    default : Rule
        Without conditions; answers where no rule holds. It counts as a rule.
    feature_names : tuple of str
    task : {"classification", "regression"}
    classes : tuple, optional
    categories : tuple of (tuple or None), optional
        For each feature its categories, or None where it is numeric.

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

    def __post_init__(self):
        for name in ("rules", "feature_names"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        categories = self.categories or (None,) * len(self.feature_names)
        object.__setattr__(self, "categories", tuple(categories))
        if self.task not in ("classification", "regression"):
            raise ValueError(f"Unknown task {self.task!r}.")
        if self.task == "classification" and not self.classes:
            raise ValueError("Rules for a classification need their classes.")
        if self.default.conditions:
            raise ValueError("The default rule must have no conditions.")
        for rule in self.rules:
            features = [condition.feature for condition in rule.conditions]
            if len(set(features)) < len(features):
                raise ValueError("A rule must have one condition for each feature.")
            for feature in features:
                if not 0 <= feature < len(self.feature_names):
                    raise ValueError(f"A rule asks about feature {feature}.")

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
    def features(self):
        """Names of the features that the rules ask about, in the order of X."""
        used = {c.feature for rule in self.rules for c in rule.conditions}
        return tuple(self.feature_names[j] for j in sorted(used))

    def __iter__(self):
        return iter((*self.rules, self.default))

    def __len__(self):
        return self.n_rules

    def encode(self, X):
        """X as numbers; checks the names and the number of its columns."""
        return read_matrix(X, self.feature_names, self.categories, "the rules")

    def covers(self, X):
        """Which rules hold in which rows, (n_samples, n_rules); the last one always."""
        return self.holding(self.encode(X))

    def apply(self, X):
        """Index of the rule that answers each row; the last is the default."""
        return self.answering(self.encode(X))

    def predict(self, X):
        """The answer for each row: class labels, or numbers."""
        return self.answer(self.encode(X))

    def answering(self, matrix):
        """`apply` for a matrix that `encode` made."""
        return self.holding(matrix).argmax(axis=1)

    def answer(self, matrix):
        """`predict` for a matrix that `encode` made."""
        answers = [rule.prediction for rule in self]
        is_number = self.task == "regression"
        dtype = np.float64 if is_number else np.asarray(self.classes).dtype
        return np.asarray(answers, dtype=dtype)[self.answering(matrix)]

    def holding(self, matrix):
        """`covers` for a matrix that `encode` made."""
        held = np.ones((len(matrix), self.n_rules), dtype=bool)
        for k, rule in enumerate(self.rules):
            held[:, k] = rule.covers(matrix)
        return held

    def predict_proba(self, X):
        """Class shares of the rows that the answering rule rests on."""
        if self.task != "classification":
            raise AttributeError("Rules for a number have no class probabilities.")
        return np.array([rule.distribution for rule in self])[self.apply(X)]

    def rows(self):
        """One dict per rule, ready to show; every view of the rules starts here."""
        return [
            {
                "rule": k,
                "if": rule.text(self.feature_names, self.categories),
                "then": self._answer_text(rule),
                "n_conditions": rule.n_conditions,
                "coverage": rule.coverage,
                "answered": rule.answered,
                "error": rule.error,
            }
            for k, rule in enumerate(self, start=1)
        ]

    def _answer_text(self, rule):
        if self.task == "regression":
            return render.number(rule.prediction)
        return str(rule.prediction)

    def __repr__(self):
        return (
            f"<RuleSet: {self.n_rules} rules, {len(self.features)} features, "
            f"{self.n_conditions:.1f} conditions per rule>"
        )

    def __str__(self):
        lines = []
        for row in self.rows():
            if row["if"] == "otherwise":
                text = f"{row['rule']}. otherwise {row['then']}"
            else:
                text = f"{row['rule']}. if {row['if']} then {row['then']}"
            if not math.isnan(row["answered"]):
                text += f"  [{self._evidence(row)}]"
            lines.append(text)
        return "\n".join(lines)

    def _evidence(self, row):
        rows = f"{render.share(row['answered'])} of rows"
        if math.isnan(row["error"]):
            return rows
        if self.task == "regression":
            return f"{rows}, squared error {render.rounded(row['error'], 3)}"
        return f"{rows}, {render.share(1 - row['error'])} agree"

    def _repr_html_(self):
        header = ["", "if", "then", "rows", "error"]
        cells = [
            [
                row["rule"],
                row["if"],
                row["then"],
                render.share(row["answered"]),
                render.share(row["error"])
                if self.task == "classification"
                else render.rounded(row["error"], 3),
            ]
            for row in self.rows()
        ]
        return render.html_table(header, cells)

    def to_dict(self):
        """Everything in plain numbers, texts and lists; `from_dict` reads it back."""
        return {
            "format": FORMAT,
            "task": self.task,
            "classes": None if self.classes is None else list(self.classes),
            "feature_names": list(self.feature_names),
            "categories": [None if c is None else list(c) for c in self.categories],
            "rules": [_rule_to_dict(rule) for rule in self.rules],
            "default": _rule_to_dict(self.default),
        }

    @classmethod
    def from_dict(cls, data):
        """The rule set that `to_dict` wrote down."""
        try:
            if data["format"] != FORMAT:
                raise ModelFileError(
                    f"Rules must have the format {FORMAT!r}; got {data['format']!r}."
                )
            return cls(
                rules=tuple(_rule_from_dict(rule) for rule in data["rules"]),
                default=_rule_from_dict(data["default"]),
                feature_names=tuple(data["feature_names"]),
                task=data["task"],
                classes=None if data["classes"] is None else tuple(data["classes"]),
                categories=tuple(
                    None if c is None else tuple(c) for c in data["categories"]
                ),
            )
        except ModelFileError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ModelFileError(f"These are not saved rules: {error!r}.") from None

    def save(self, path):
        """Write the rules to a JSON file."""
        try:
            text = json.dumps(
                self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False
            )
        except TypeError as error:
            raise ValueError(
                f"Rules with such classes or categories cannot be saved: {error}. "
                "Turn them into text or numbers first."
            ) from None
        Path(path).write_text(text, encoding="utf-8")

    @classmethod
    def load(cls, path):
        """Read rules that `save` wrote; nothing in the file is executed."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ModelFileError(
                f"{str(path)!r} is not a JSON file: {error}."
            ) from None
        return cls.from_dict(data)


def _rule_to_dict(rule):
    return {
        "conditions": [
            {
                "feature": c.feature,
                # No number is above infinity: the condition asks for missing values.
                "lower": None if c.lower == -math.inf else _json_number(c.lower),
                "upper": None if c.upper == math.inf else _json_number(c.upper),
                "categories": None if c.categories is None else list(c.categories),
                "missing": c.missing,
            }
            for c in rule.conditions
        ],
        "prediction": rule.prediction,
        "distribution": None if rule.distribution is None else list(rule.distribution),
        "spread": rule.spread,
        "coverage": _finite(rule.coverage),
        "answered": _finite(rule.answered),
        "error": _finite(rule.error),
    }


def _rule_from_dict(data):
    conditions = tuple(
        Condition(
            feature=int(c["feature"]),
            lower=-math.inf if c["lower"] is None else float(c["lower"]),
            upper=math.inf if c["upper"] is None else float(c["upper"]),
            categories=None if c["categories"] is None else tuple(c["categories"]),
            missing=bool(c["missing"]),
        )
        for c in data["conditions"]
    )
    distribution = data["distribution"]
    return Rule(
        conditions=conditions,
        prediction=data["prediction"],
        distribution=None if distribution is None else tuple(distribution),
        spread=data["spread"],
        **{
            name: math.nan if data[name] is None else float(data[name])
            for name in ("coverage", "answered", "error")
        },
    )


def _json_number(value):
    return value if math.isfinite(value) else str(value)


def _finite(value):
    return None if math.isnan(value) else float(value)
