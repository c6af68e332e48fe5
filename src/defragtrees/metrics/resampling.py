"""Stability of rules under resampling of the training rows."""

import itertools
import os
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from defragtrees._utils import formatting as render
from defragtrees._utils.progress import parts
from defragtrees._utils.types import Column, Rows
from defragtrees.metrics.rulesets import members, rule_similarities, similarity
from defragtrees.tables import take_rows

SAME_ROWS = 0.5  # Jaccard index of rows from which on two rules count as the same
SAME_CUT = 0.05  # share of rows between two cuts up to which they count as the same


@dataclass(frozen=True)
class RuleStability(render.Tabular):
    """Stability of rules: what refits on half of the rows have in common.

    Parameters
    ----------
    n_resamples : int
    predictions : float
        Mean share of rows on which two refits predict the same class; for numbers, one
        minus the mean squared difference divided by the variance of the predictions.
    features : float
        Mean share of the features used by either of two refits that both use.
    cuts : float
        Mean share of the cuts of a refit that another one has too. Two cuts count as
        the same if at most 5 % of the rows lie between them.
    rules : float
        Mean `similarity` of the rules of two refits.
    returns : tuple of int
        For each rule of the fit on all rows, the default rule last: the number of
        refits with a rule that has the same prediction and mostly the same rows (a
        Jaccard index of at least one half).

    Examples
    --------
    >>> print(RuleStability(20, 0.91, 0.8, 0.7, 0.75, (20, 13)))
    rule  found again
    1        20 of 20
    2        13 of 20
    In 20 refits on random halves of the rows, two rule models agree on 91.0 % of \
rows, 80.0 % of features and 70.0 % of cuts, on average.
    """

    n_resamples: int
    predictions: float
    features: float
    cuts: float
    rules: float
    returns: tuple[int, ...] = ()

    @property
    def sentence(self):
        """Summary of the measures in one sentence."""
        return (
            f"In {self.n_resamples} refits on random halves of the rows, two rule "
            f"models agree on {render.share(self.predictions)} of rows, "
            f"{render.share(self.features)} of features and "
            f"{render.share(self.cuts)} of cuts, on average."
        )

    def _cells(self):
        lines = [
            [str(k), f"{n} of {self.n_resamples}"]
            for k, n in enumerate(self.returns, start=1)
        ]
        return ["rule", "found again"], lines

    def _notes(self):
        return [self.sentence]

    def to_dict(self):
        """The measures as a dict of plain numbers."""
        names = ("n_resamples", "predictions", "features", "cuts", "rules")
        return {name: getattr(self, name) for name in names} | {
            "returns": list(self.returns)
        }


def rule_stability(
    estimator: Any,
    X: Rows,
    y: Column | None = None,
    sample_weight: Column | None = None,
    *,
    n_resamples: int = 20,
    random_state: Any = None,
) -> RuleStability:
    """Measure the stability of rules by refits on random halves of the rows.

    The model stays the same in all refits; only the rules are fitted again.

    Parameters
    ----------
    estimator : Simplifier
        With a fitted model; it is not changed. If it is fitted itself, each of its
        rules is searched for in the refits.
    X : array-like or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), optional
    sample_weight : array-like of shape (n_samples,), optional
    n_resamples : int, default=20
    random_state : int, RandomState, Generator or None, default=None
        Seed for drawing the halves; the estimator uses its own `random_state`.

    Returns
    -------
    RuleStability

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from defragtrees.baselines import DistilledTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    >>> simple = DistilledTreeClassifier(tree, max_rules=3, random_state=0).fit(X, y)
    >>> rule_stability(simple, X, n_resamples=4, random_state=0).returns
    (4, 4, 4)
    """
    if isinstance(random_state, np.random.Generator):
        random_state = int(random_state.integers(2**31))
    if isinstance(X, (str, os.PathLike)) or not hasattr(X, "__len__"):
        raise TypeError(
            "Stability needs all rows in memory, to fit on half of them; got "
            f"{type(X).__name__}. Pass a table."
        )
    if n_resamples < 2:
        raise ValueError(f"n_resamples must be at least 2; got {n_resamples!r}.")
    rng = check_random_state(random_state)
    refits = [
        _refit(estimator, X, y, sample_weight, rng) for _ in parts(range(n_resamples))
    ]
    pairs = list(itertools.combinations(refits, 2))
    matrix = refits[0]._encode(X)
    fitted, returns = getattr(estimator, "rules_", None), ()
    if fitted is not None:
        rows = members(fitted, X)
        alike = [
            rule_similarities(fitted, refit, rows, members(refit, X))
            for refit in refits
        ]
        found = [(some >= SAME_ROWS).any(axis=1) for some in alike]
        returns = tuple(np.sum(found, axis=0).tolist())
    return RuleStability(
        n_resamples,
        float(np.mean([_same_predictions(*pair, matrix) for pair in pairs])),
        float(np.mean([_same_features(*pair) for pair in pairs])),
        float(np.mean([_same_cuts(*pair, matrix) for pair in pairs])),
        float(np.mean([similarity(*pair, X) for pair in pairs])),
        returns,
    )


def _refit(estimator, X, y, sample_weight, rng):
    """Fit the estimator to half of the rows; return its rules."""
    n_rows = len(X)
    rows = np.sort(rng.choice(n_rows, max(1, n_rows // 2), replace=False))
    # Not `clone`, which would unfit the model; a forest that was read is kept.
    settings = estimator.get_params(deep=False)
    settings["model"] = getattr(estimator, "forest_", settings["model"])
    again = type(estimator)(**settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        again.fit(*(take_rows(values, rows) for values in (X, y, sample_weight)))
    return again.rules_


def _same_predictions(one, two, matrix):
    first, second = (
        one._form.predict(one._covers(matrix)),
        two._form.predict(two._covers(matrix)),
    )
    return one.outcome.agreement(first, second)


def _same_features(one, two):
    first, second = set(one.features), set(two.features)
    return len(first & second) / len(first | second) if first | second else 1.0


def _cuts(rules):
    """Cuts of rules: the feature, and a threshold or the accepted categories.

    A row above a cut in one rule is up to it in another, so the sides do not count.
    """
    cuts = []
    for c in (c for rule in rules.rules for c in rule.conditions):
        ends = c.edges if c.categories is None else [frozenset(c.categories)]
        cuts += [(c.feature, end) for end in ends if end not in (-np.inf, np.inf)]
    return cuts


def _same_cuts(one, two, matrix):
    """Mean share of the cuts of each of two rule models that the other has too."""
    cuts = _cuts(one), _cuts(two)
    if not all(cuts):
        return float(not any(cuts))

    def is_same(first, second):
        (feature, end), (other, other_end) = first, second
        if feature != other or isinstance(end, frozenset):
            return first == second
        if isinstance(other_end, frozenset):
            return False
        column, (low, high) = matrix[:, feature], sorted((end, other_end))
        return ((column > low) & (column <= high)).mean() <= SAME_CUT

    shares = [
        np.mean([any(is_same(cut, other) for other in others) for cut in some])
        for some, others in (cuts, cuts[::-1])
    ]
    return float(np.mean(shares))
