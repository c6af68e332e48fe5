"""Rules that have a say together: means by weight, and points that add up."""

import numpy as np

__all__ = ["Combining"]


class Combining:
    """The part of a RuleSet that answers by all rules that hold in a row."""

    def members_held(self, held):
        """Which rows count for which rules, by which of them hold.

        Those that a rule answers or, where several have a say, in which it holds.
        """
        if self.is_list:
            return np.eye(self.n_rules, dtype=bool)[held.argmax(axis=1)]
        members = held.copy()
        if self.decision == "standalone":
            members[:, -1] = ~held[:, :-1].any(axis=1)
        return members

    def conflicts_held(self, held):
        """In which rows rules hold that answer different classes; none of numbers."""
        rules, members = list(self), self.members_held(held)
        is_given = [
            members[:, [rule.prediction == label for rule in rules]].any(axis=1)
            for label in self.classes or ()
        ]
        return np.sum(is_given, axis=0) > 1 if is_given else np.zeros(len(held), bool)

    def totals(self, X):
        """The sum of points of each row, (n_samples, n_columns of points)."""
        return self.totals_encoded(self.encode(X))

    def answers_held(self, held):
        """Answers of rules that have a say together, by which of them hold."""
        if self.decision == "points":
            values = self.values_of(self.totals_held(held))
            return self.outcome.decide_points(values, self.threshold, self.costs)
        return self.outcome.decide(self._averaged(held), self.threshold, self.costs)

    def shares_held(self, held):
        """Probabilities of rules that have a say together, by which of them hold."""
        if self.decision == "points":
            return self.outcome.linked(self.values_of(self.totals_held(held)))
        return self._averaged(held)

    def totals_encoded(self, matrix):
        """`totals` for a matrix that `encode` made."""
        return self.totals_held(self.covers_encoded(matrix))

    def totals_held(self, held):
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

    def values_of(self, totals):
        """What totals of points stand for: numbers, or log-odds."""
        return (totals - self.origin) * self.unit

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
