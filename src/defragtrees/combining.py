"""Rules that have a say together: means by weight, and points that add up."""

import math
from dataclasses import replace
from typing import Self

import numpy as np

from defragtrees._types import Flags, Floats, Rows, Values

__all__ = ["Combining"]


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
        >>> from defragtrees.rules import Condition, Rule, RuleSet
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
