"""The ensemble of a fit: read once, and fitted first where it is not."""

import dataclasses

from sklearn.base import clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline

from defragtrees.dates import column_kinds, dates_as_days
from defragtrees.methods.validation import is_renamed, text_as_categories
from defragtrees.outcome import make_outcome
from defragtrees.readers import read_forest
from defragtrees.tables import category_lists, column_names

__all__ = ["check_task", "fit_ensemble", "fitted_forest", "named_forest"]

# What is fitted by default, and instead where X has categories to split on.
DEFAULTS = {
    "classification": (RandomForestClassifier, HistGradientBoostingClassifier),
    "regression": (RandomForestRegressor, HistGradientBoostingRegressor),
}


def fitted_forest(ensemble):
    """The forest of an ensemble; None if there is none, or it is not fitted yet."""
    try:
        return None if ensemble is None else read_forest(ensemble)
    except NotFittedError:
        return None


def fit_ensemble(simplifier, source, rng):
    """The simplifier's ensemble, or the default one, fitted on the rows of a source."""
    if not source.is_in_memory:
        raise NotFittedError(
            "The ensemble must be fitted before rows that are not in memory can be "
            "used; fit it first."
        )
    if source.y is None:
        raise ValueError(
            f"{type(simplifier).__name__} requires y to be passed, but the target y is "
            "None: there is no fitted ensemble to imitate."
        )
    X, weight = source.X, source.sample_weight
    kinds = column_kinds(X)
    # The steps of a pipeline may want dates as they are.
    if kinds and any(kinds) and not isinstance(simplifier.ensemble, Pipeline):
        X = dates_as_days(X, kinds)
    if simplifier.ensemble is None:
        ensemble = _default_ensemble(simplifier, X, int(rng.integers(2**31)))
        X = text_as_categories(X)
    else:
        ensemble = clone(simplifier.ensemble)
    if weight is None:
        return ensemble.fit(X, source.y)
    if isinstance(ensemble, Pipeline):
        # Its steps before the last have no use for weights.
        return ensemble.fit(
            X, source.y, **{f"{ensemble.steps[-1][0]}__sample_weight": weight}
        )
    return ensemble.fit(X, source.y, sample_weight=weight)


def _default_ensemble(simplifier, X, seed):
    plain, for_categories = DEFAULTS[simplifier._task]
    if any(known is not None for known in category_lists(X) or ()):
        return for_categories(categorical_features="from_dtype", random_state=seed)
    return plain(min_samples_leaf=5, random_state=seed, n_jobs=simplifier.n_jobs)


def check_task(simplifier, forest):
    """Refuse a forest that predicts something else than the simplifier."""
    if forest.task == simplifier._task:
        return
    own, other = make_outcome(simplifier._task), forest.outcome
    name = type(simplifier).__name__
    raise ValueError(
        f"{name} needs an ensemble for {own.task}; this one is for {other.task}. Use "
        f"{name.replace(own.estimator_suffix, other.estimator_suffix)}."
    )


def named_forest(forest, X):
    """The forest under the names of X, if its own are a library's invention."""
    names = column_names(X)
    if names is None or len(names) != forest.n_features:
        return forest
    if is_renamed(forest, names):
        return dataclasses.replace(forest, feature_names=names)
    return forest
