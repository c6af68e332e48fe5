"""What a rule set can do by rooms above its own, found by name when it is called.

So that reading and asking rules loads no search, no tests and no formats.
"""

from collections.abc import Iterable
from importlib import import_module
from typing import Any, Self

from defragtrees._types import Column, Rows

__all__ = ["CALLED", "Upstairs"]

CALLED = {
    "refit": "defragtrees.rows.refitting",
    "improve": "defragtrees.methods.improving",
    "check": "defragtrees.watching",
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
