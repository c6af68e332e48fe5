"""RuleSet: what every method returns.

A rule set answers with the conditions that it prints and with nothing else. Mostly its
rules are asked in order, the first that holds answers, and `default` answers for the
rest; some methods average all rules that hold instead.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from defragtrees import render
from defragtrees._values import ByValue
from defragtrees.conditions import Condition, Rule, listed
from defragtrees.errors import ModelFileError
from defragtrees.files import read_json, to_json, write_atomic
from defragtrees.outcome import make_outcome
from defragtrees.sentences import explain_row
from defragtrees.tables import read_matrix

__all__ = ["Condition", "Rule", "RuleSet"]

FORMAT = "defragtrees-rules-1"
DECISIONS = ("first", "partition", "average")


@dataclass(frozen=True, eq=False)
class RuleSet(ByValue):
    """Rules that answer every row.

    Parameters
    ----------
    rules : tuple of Rule
        Asked in this order.
    default : Rule
        Without conditions; answers where no rule holds. It counts as a rule. Where
        rules are averaged it holds in every row, with its own weight.
    feature_names : tuple of str
    task : {"classification", "regression"}
    classes : tuple, optional
    categories : tuple of (tuple or None), optional
        For each feature its categories, or None where it is numeric.
    decision : {"first", "partition", "average"}
        Who answers: the first rule that holds; the same, and just one rule holds in
        each row, as in a tree; or all that hold, as a mean by weight of their class
        shares or numbers.

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

    def __post_init__(self):
        for name in ("rules", "feature_names"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        categories = self.categories or (None,) * len(self.feature_names)
        object.__setattr__(self, "categories", tuple(categories))
        if not all(isinstance(name, str) for name in self.feature_names):
            raise ValueError("Feature names must be texts.")
        if len(self.categories) != len(self.feature_names):
            raise ValueError("categories must have one entry for each feature.")
        outcome = make_outcome(self.task, self.classes)
        outcome.check_labels("Rules")
        if self.decision not in DECISIONS:
            raise ValueError(
                f"decision must be one of {DECISIONS}; got {self.decision!r}."
            )
        if self.default.conditions:
            raise ValueError("The default rule must have no conditions.")
        for rule in self:
            self._check_conditions(rule)
            outcome.check_rule(rule, self.decision == "average")
            if not (_is_finite(rule.weight) and rule.weight >= 0):
                raise ValueError(f"A weight must be from 0; got {rule.weight!r}.")

    def _check_conditions(self, rule):
        features = [condition.feature for condition in rule.conditions]
        if len(set(features)) < len(features):
            raise ValueError("A rule must have one condition for each feature.")
        for condition in rule.conditions:
            feature, asked = condition.feature, condition.categories
            if not 0 <= feature < len(self.feature_names):
                raise ValueError(f"A rule asks about feature {feature}.")
            known = self.categories[feature]
            if asked is None:
                continue
            if known is None or not all(0 <= c <= len(known) for c in asked):
                raise ValueError(
                    f"A rule asks {self.feature_names[feature]!r} for categories that "
                    f"it does not have: {asked!r}."
                )

    @property
    def outcome(self):
        """What is predicted: its measures, texts and checks."""
        return make_outcome(self.task, self.classes)

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
        return self.covers_encoded(self.encode(X))

    def apply(self, X):
        """Index of the rule that answers each row; the last is the default.

        Where rules are averaged, it is the one with the most weight that holds.
        """
        return self.apply_encoded(self.encode(X))

    def predict(self, X):
        """The answer for each row: class labels, or numbers."""
        return self.predict_encoded(self.encode(X))

    def predict_proba(self, X):
        """Class shares: those of the answering rule, or their mean by weight."""
        return self.predict_proba_encoded(self.encode(X))

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
            missing = [name for name in self.feature_names if name not in X]
            if missing:
                raise ValueError(f"A row needs {missing[0]!r}, which is not in it.")
            X = [X[name] for name in self.feature_names]
        is_one = not hasattr(X, "columns") and np.ndim(np.asarray(X, object)) == 1
        matrix = self.encode(np.asarray([X], dtype=object) if is_one else X)
        texts = [explain_row(self, matrix[i : i + 1]) for i in range(len(matrix))]
        return texts[0] if is_one else texts

    def apply_encoded(self, matrix):
        """`apply` for a matrix that `encode` made."""
        held = self.covers_encoded(matrix)
        if self.decision == "average":
            weights = np.array([rule.weight for rule in self])
            return np.where(held, weights, -1.0).argmax(axis=1)
        return held.argmax(axis=1)

    def predict_encoded(self, matrix):
        """`predict` for a matrix that `encode` made."""
        if self.decision == "average":
            return self.outcome.decide(self._averaged(matrix))
        answers = [rule.prediction for rule in self]
        answers = np.asarray(answers, dtype=self.outcome.dtype)
        return answers[self.apply_encoded(matrix)]

    def predict_proba_encoded(self, matrix):
        """`predict_proba` for a matrix that `encode` made."""
        if not self.outcome.n_classes:
            raise AttributeError("Rules for a number have no class probabilities.")
        if self.decision == "average":
            return self._averaged(matrix)
        return np.array([rule.distribution for rule in self])[
            self.apply_encoded(matrix)
        ]

    def _averaged(self, matrix):
        """Mean by weight of what the rules say that hold, (n_samples, n_outputs)."""
        held = self.covers_encoded(matrix)
        values = np.array([self.outcome.outputs(rule) for rule in self])
        total = np.zeros((len(matrix), values.shape[1]))
        weight = np.zeros(len(matrix))
        # Rule by rule: the last digits must not depend on the number of rows.
        for k, rule in enumerate(self):
            total += np.outer(held[:, k] * rule.weight, values[k])
            weight += held[:, k] * rule.weight
        without = weight <= 0
        total[without], weight[without] = values[-1], 1.0
        return total / weight[:, None]

    def covers_encoded(self, matrix):
        """`covers` for a matrix that `encode` made."""
        held = np.ones((len(matrix), self.n_rules), dtype=bool)
        for k, rule in enumerate(self.rules):
            held[:, k] = rule.covers(matrix)
        return held

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
                "weight": rule.weight,
            }
            for k, rule in enumerate(self, start=1)
        ]

    def _answer_text(self, rule):
        if self.decision == "average":
            return self.outcome.outputs_text(rule)
        return self.outcome.answer_text(rule.prediction)

    def __repr__(self):
        return (
            f"<RuleSet: {self.n_rules} rules, {len(self.features)} features, "
            f"{self.n_conditions:.1f} conditions per rule>"
        )

    def __str__(self):
        lines = []
        last = "always" if self.decision == "average" else "otherwise"
        for row in self.rows():
            if row["if"] == "otherwise":
                text = f"{row['rule']}. {last} {row['then']}"
            else:
                text = f"{row['rule']}. if {row['if']} then {row['then']}"
            if self.decision == "average":
                text += f", weight {render.number(row['weight'])}"
            if not math.isnan(row["answered"]):
                text += f"  [{self._evidence(row)}]"
            lines.append(render.plain(text))
        return "\n".join(lines)

    def _evidence(self, row):
        rows = f"{render.share(row['answered'])} of rows"
        if math.isnan(row["error"]):
            return rows
        return f"{rows}, {self.outcome.evidence_text(row['error'])}"

    def _repr_html_(self):
        is_average = self.decision == "average"
        header = ["", "if", "then", *(["weight"] if is_average else []), "rows"]
        cells = [
            [
                row["rule"],
                "always" if is_average and row["if"] == "otherwise" else row["if"],
                row["then"],
                *([render.number(row["weight"])] if is_average else []),
                render.share(row["answered"]),
                self.outcome.error_text(row["error"]),
            ]
            for row in self.rows()
        ]
        return render.html_table([*header, "error"], cells)

    def to_dict(self):
        """Everything in plain numbers, texts and lists; `from_dict` reads it back."""
        return {
            "format": FORMAT,
            "task": self.task,
            "classes": None if self.classes is None else list(self.classes),
            "feature_names": list(self.feature_names),
            "categories": [None if c is None else list(c) for c in self.categories],
            "rules": [rule.to_dict() for rule in self.rules],
            "default": self.default.to_dict(),
            "decision": self.decision,
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
                rules=tuple(Rule.from_dict(rule) for rule in listed(data, "rules")),
                default=Rule.from_dict(data["default"]),
                feature_names=tuple(listed(data, "feature_names")),
                task=data["task"],
                classes=None if data["classes"] is None else tuple(data["classes"]),
                categories=tuple(
                    None if c is None else tuple(c) for c in listed(data, "categories")
                ),
                decision=data.get("decision", "first"),
            )
        except ModelFileError:
            raise
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise ModelFileError(f"These are not saved rules: {error!r}.") from None

    def save(self, path):
        """Write the rules to a JSON file."""
        write_atomic(path, to_json(self.to_dict()))

    @classmethod
    def load(cls, path):
        """Read rules that `save` wrote; nothing in the file is executed."""
        return cls.from_dict(read_json(path))


def _is_finite(value):
    try:
        return math.isfinite(value)
    except TypeError:
        return False
