"""Fits on other rows, to see what of the rules comes back."""

import os

from defragtrees.methods.validation import one_seed
from defragtrees.metrics import rule_stability

__all__ = ["check_in_memory", "stability_of"]


def check_in_memory(X):
    """Refuse rows of which no half can be taken."""
    if isinstance(X, (str, os.PathLike)) or not hasattr(X, "__len__"):
        raise TypeError(
            "stability needs all rows in memory, to fit to half of them; got "
            f"{type(X).__name__}. Pass a table, or leave stability out."
        )


def stability_of(estimator, X, y=None, sample_weight=None):
    """The RuleStability of a fitted estimator, on the rows that it was fitted to.

    Parameters
    ----------
    estimator : Simplifier
        Its `stability` is the number of fits.
    X, y, sample_weight : as for `fit`
    """
    settings = estimator.get_params(deep=False) | {"ensemble": estimator.forest_}
    again = type(estimator)(**settings)
    again.rules_ = estimator.rules_
    return rule_stability(
        again,
        X,
        y,
        sample_weight,
        n_resamples=int(estimator.stability),
        random_state=one_seed(estimator.random_state),
    )
