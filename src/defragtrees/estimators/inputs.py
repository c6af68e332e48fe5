"""Read the model of a fit, or fit it first."""

import numbers

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state

from defragtrees.ensembles.black_box import ask_model
from defragtrees.ensembles.predictions import Unreadable, fitted_forest
from defragtrees.outcomes.base import make_outcome, outcome_for
from defragtrees.tables import (
    category_lists,
    check_finite,
    column_kinds,
    column_names,
    dates_as_days,
    read_matrix,
    text_as_categories,
)


def one_seed(random_state):
    """An integer seed from any `random_state`."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


# Default models, without and with categories in X.
MOST_CATEGORIES = 255  # limit of scikit-learn's histogram boosting
DEFAULTS = {
    "classification": (RandomForestClassifier, HistGradientBoostingClassifier),
    "regression": (RandomForestRegressor, HistGradientBoostingRegressor),
    "counts": (RandomForestRegressor, HistGradientBoostingRegressor),
    "survival": (RandomForestRegressor, HistGradientBoostingRegressor),
}


def open_model(
    model, X, y=None, random_state=None, max_calls=None, verbose=0, n_reserved=0
):
    """Read the forest of a fitted model, or query a black box."""
    forest = fitted_forest(model, X)
    if forest is None:
        raise NotFittedError(
            f"A fitted model is needed; this {type(model).__name__} is not "
            "fitted. Call fit first."
        )
    if not isinstance(forest, Unreadable):
        return outcome_for(forest.outcome, y, model, forest).model_of(forest)
    asked = ask_model(
        model,
        X,
        y,
        rng=np.random.default_rng(one_seed(random_state)),
        why=forest.reason,
        max_calls=max_calls,
        n_reserved=n_reserved,
        verbose=verbose,
    )
    return outcome_for(asked.outcome, y, model).model_of(asked)


def fit_model(simplifier, source, rng):
    """Fit the simplifier's model, or the default one, on the rows of a source."""
    if not source.is_in_memory:
        raise NotFittedError(
            "Rows that are not in memory need a fitted model; this one is not "
            "fitted. Call fit first."
        )
    if source.y is None:
        raise ValueError(
            f"{type(simplifier).__name__} requires y to be passed, but the target y is "
            "None and the model is not fitted."
        )
    X, weight = source.X, source.sample_weight
    kinds = column_kinds(X)
    # The steps of a pipeline may need dates unchanged.
    if kinds and any(kinds) and not isinstance(simplifier.model, Pipeline):
        X = dates_as_days(X, kinds)
    if simplifier.model is None:
        model = _default_model(simplifier, X, int(rng.integers(2**31)))
        X = text_as_categories(X)
    else:
        model = clone(simplifier.model)
    outcome = make_outcome(simplifier._task)
    y, weight = outcome.training_data(source.y, weight, simplifier.model)
    if weight is None:
        return model.fit(X, y)
    if isinstance(model, Pipeline):
        # Only its last step takes weights.
        return model.fit(X, y, **{f"{model.steps[-1][0]}__sample_weight": weight})
    return model.fit(X, y, sample_weight=weight)


def _default_model(simplifier, X, seed):
    plain, for_categories = DEFAULTS[simplifier._task]
    categories, names = category_lists(X) or (), column_names(X) or ()
    matrix = read_matrix(X, categories=categories or None)
    is_plain = not any(known is not None for known in categories)
    with np.errstate(over="ignore"):  # a forest keeps numbers in float32
        matrix = matrix.astype(np.float32) if is_plain else matrix
    check_finite(matrix, names or [f"x{j + 1}" for j in range(matrix.shape[1])])
    for name, known in zip(names, categories, strict=True):
        if len({isinstance(label, str) for label in known or ()}) > 1:
            raise ValueError(
                f"Column {name!r} must hold numbers or text, not both. Turn all of it "
                "into one of them, such as by astype(str)."
            )
        if known is not None and len(known) > MOST_CATEGORIES:
            raise ValueError(
                f"The default model accepts up to {MOST_CATEGORIES} categories per "
                f"column; column {name!r} has {len(known)}. Drop it if it is an "
                "identifier, merge rare categories, or pass another model."
            )
    if not is_plain:
        return for_categories(categorical_features="from_dtype", random_state=seed)
    return plain(min_samples_leaf=5, random_state=seed, n_jobs=simplifier.n_jobs)
