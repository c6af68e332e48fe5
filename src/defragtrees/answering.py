"""What rules answer, for tables as users give them and for rows encoded already."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from defragtrees import render
from defragtrees._types import Flags, Floats, Places, Rows, Values
from defragtrees.combining import Combining
from defragtrees.sentences import explain_rows, explanation_text
from defragtrees.tables import read_matrix

__all__ = ["Answering"]


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
        >>> from defragtrees.rules import Condition, Rule, RuleSet
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
        >>> from defragtrees.rules import Condition, Rule, RuleSet
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
        >>> from defragtrees.rules import Condition, Rule, RuleSet
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
        >>> from defragtrees.rules import Condition, Rule, RuleSet
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
        >>> from defragtrees.rules import Condition, Rule, RuleSet
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
