"""simplify_path: the rule lists from one rule up, measured on rows held out."""

from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_consistent_length, column_or_1d

from defragtrees import plots, render
from defragtrees.methods.validation import one_seed
from defragtrees.metrics.rulesets import trade_off_scores
from defragtrees.rules import RuleSet
from defragtrees.simplification import simplify
from defragtrees.tables import check_finite, take_rows

__all__ = ["PathPoint", "RulePath", "measure_path", "simplify_path"]


@dataclass(frozen=True, eq=False)
class PathPoint:
    """One list of the path and its scores on the rows held out.

    Parameters
    ----------
    rules : RuleSet
    error : float
        Against y if it was given, else against the ensemble.
    standard_error : float
        Of `error`.
    fidelity, coverage, overlap : float
    """

    rules: RuleSet
    error: float
    standard_error: float
    fidelity: float
    coverage: float
    overlap: float

    @property
    def n_rules(self):
        """Number of rules, the last "otherwise" included."""
        return self.rules.n_rules


@dataclass(frozen=True, eq=False)
class RulePath(render.Tabular):
    """The lists from one rule up.

    Parameters
    ----------
    points : tuple of PathPoint
        By number of rules.
    chosen : int
        Place of the default choice: the shortest list whose error is within one
        standard error of the smallest.
    ensemble_error : float
        Of the ensemble on the same rows; 0 where errors are against the ensemble.
    is_against_y : bool, default=True
        Whether errors are against y; else they are against the ensemble.
    """

    points: tuple[PathPoint, ...]
    chosen: int
    ensemble_error: float
    is_against_y: bool = True

    @property
    def rules(self):
        """The chosen list."""
        return self.points[self.chosen].rules

    def rows(self):
        """One dict per list, ready to show."""
        return [
            {
                "n_rules": point.n_rules,
                "n_conditions": point.rules.n_conditions,
                "error": point.error,
                "standard_error": point.standard_error,
                "fidelity": point.fidelity,
                "coverage": point.coverage,
                "overlap": point.overlap,
                "chosen": i == self.chosen,
            }
            for i, point in enumerate(self.points)
        ]

    def _cells(self):
        lines = [
            [
                f"{row['n_rules']}{' *' if row['chosen'] else ''}",
                f"{row['n_conditions']:.1f}",
                f"{row['error']:.4g} ± {row['standard_error']:.2g}",
                f"{row['fidelity']:.3f}",
                render.share(row["coverage"]),
            ]
            for row in self.rows()
        ]
        return ["rules", "conditions", "error", "fidelity", "coverage"], lines

    def _notes(self):
        return [f"ensemble: error {self.ensemble_error:.4g}"]

    def __repr__(self):
        return (
            f"<RulePath: {len(self.points)} lists, {self.rules.n_rules} rules chosen>"
        )

    def plot(self, ax=None):
        """Error against number of rules; returns the Axes."""
        return plots.trade_off(self, ax=ax)


def simplify_path(
    ensemble,
    X,
    y=None,
    sample_weight=None,
    *,
    test_size=0.25,
    random_state=None,
    **settings,
):
    """The rule lists from one rule up to the budget, in one run.

    Parameters
    ----------
    ensemble : fitted ensemble, path or Forest
    X : array-like or data frame of shape (n_samples, n_features)
        Some rows are held out from the rules. Where the ensemble was trained on them
        its own error is too good: pass rows that it has not seen to compare fairly.
    y : array-like of shape (n_samples,), optional
        With it errors are against y, without it against the ensemble.
    sample_weight : array-like of shape (n_samples,), optional
    test_size : float or int, default=0.25
        Rows to hold out, as a share or a number.
    random_state : int, Generator or None, default=None
    **settings
        Parameters of the estimator, such as `max_rules` and `max_conditions`.

    Returns
    -------
    RulePath

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ensemble = RandomForestClassifier(random_state=0).fit(X, y)
    >>> path = simplify_path(ensemble, X, y, max_rules=5, random_state=0)
    >>> [point.n_rules for point in path.points]
    [1, 2, 3, 4, 5]
    >>> path.rules.n_rules
    3
    """
    if not settings.pop("refine", True):
        raise ValueError("simplify_path needs refine=True; got refine=False.")
    seed = one_seed(random_state)
    y = None if y is None else column_or_1d(y)
    check_consistent_length(X, y, sample_weight)
    train, test = train_test_split(
        np.arange(len(X)), test_size=test_size, random_state=seed
    )
    simple = simplify(
        ensemble,
        take_rows(X, train),
        take_rows(y, train),
        take_rows(sample_weight, train),
        random_state=seed,
        **settings,
    )
    matrix = simple.rules_.encode(take_rows(X, test))
    check_finite(matrix, simple.rules_.feature_names)
    answers = simple.forest_.predict_encoded(matrix)
    weight = take_rows(sample_weight, test)
    outcome = simple.rules_.outcome
    expected = answers if y is None else outcome.check(take_rows(y, test))
    points = measure_path(simple.path_.values(), matrix, expected, answers, weight)
    best = min(points, key=lambda point: point.error)
    limit = best.error + best.standard_error
    chosen = next(i for i, point in enumerate(points) if point.error <= limit)
    error = outcome.error(expected, answers, weight)
    return RulePath(points, chosen, error, is_against_y=y is not None)


def measure_path(lists, matrix, expected, answers, sample_weight=None):
    """A PathPoint for each RuleSet, measured on encoded rows.

    Parameters
    ----------
    lists : iterable of RuleSet
    matrix, expected, answers, sample_weight
        As in `trade_off_scores`.
    """
    rows = matrix, expected, answers, sample_weight
    return tuple(PathPoint(rules, **trade_off_scores(rules, *rows)) for rules in lists)
