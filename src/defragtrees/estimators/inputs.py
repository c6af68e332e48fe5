"""Read the ensemble of a fit, or fit it first."""

import dataclasses
import numbers

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from defragtrees._utils.formatting import listed
from defragtrees._utils.values import shown
from defragtrees._utils.warnings import warn
from defragtrees.ensembles.black_box import ask_model, can_be_queried
from defragtrees.ensembles.pipelines.rewriting import with_categories
from defragtrees.ensembles.readers import read_forest, read_on_table
from defragtrees.errors import SettingError, UnsupportedEnsembleError
from defragtrees.outcomes import make_outcome
from defragtrees.rules.labels import (
    BOOLEAN,
    ORDERED,
    checked_labels,
    make_vocabulary,
)
from defragtrees.tables import (
    boolean_columns,
    category_lists,
    column_kinds,
    column_names,
    dates_as_days,
    declared_categories,
    lightgbm_names,
    ordered_categories,
    text_as_categories,
)

MADE_UP_NAMES = ("x{1}", "x{0}", "f{0}", "{0}", "Column_{0}")


def warn_of_other_columns(X, forest):
    """Warn if X has other columns, or another order, than the training data."""
    names = column_names(X)
    if names is None or not set(forest.feature_names) <= set(names):
        return
    used = tuple(name for name in names if name in set(forest.feature_names))
    expected = {*forest.feature_names, *forest.other_names}
    others = [name for name in names if name not in expected]
    if others:
        text = f"X has columns that the ensemble was not trained on: {listed(others)}"
    elif used != forest.feature_names and not forest.other_names:
        text = f"X has its columns in another order than in training: {listed(names)}"
    else:
        return
    warn(f"{text}. Columns are selected by name.")


def check_columns(estimator, X, reset=True, ensure_min_samples=0):
    """Validate X, and store (`reset`) or compare its columns."""
    if column_names(X) is None:
        validate_data(
            estimator,
            X,
            reset=reset,
            dtype=None,
            ensure_all_finite=False,
            ensure_min_samples=ensure_min_samples,
        )
        return
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if len(X) < ensure_min_samples:
        raise ValueError(
            f"Found array with 0 sample(s) (shape=(0, {len(X.columns)})) while a "
            "minimum of 1 is required."
        )


def make_generator(random_state):
    """Make the random generator of a fit."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    try:
        seed = check_random_state(random_state).randint(2**31 - 1)
    except ValueError:
        raise SettingError(
            "random_state must be None, a whole number from 0 to 4294967295, or a "
            f"numpy generator; got {shown(random_state)}."
        ) from None
    return np.random.default_rng(seed)


def one_seed(random_state):
    """An integer seed from any `random_state`."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def is_renamed(forest, names):
    """Whether the forest's names are generated, or these as LightGBM writes them."""
    own = forest.feature_names
    if own == lightgbm_names(names):
        return True
    # Generated names, of a model that was trained on an array.
    return any(
        own == tuple(form.format(j, j + 1) for j in range(len(own)))
        for form in MADE_UP_NAMES
    )


# Default ensembles, without and with categories in X.
MOST_CATEGORIES = 255  # limit of scikit-learn's histogram boosting
DEFAULTS = {
    "classification": (RandomForestClassifier, HistGradientBoostingClassifier),
    "regression": (RandomForestRegressor, HistGradientBoostingRegressor),
}


def fitted_forest(ensemble, X=None):
    """Read the forest of an ensemble; None if there is none, or it is not fitted yet.

    For a fitted black box the result is an `Unreadable`.
    """
    try:
        return None if ensemble is None else read_forest(ensemble)
    except NotFittedError:
        return None
    except UnsupportedEnsembleError as error:
        if not can_be_queried(ensemble):
            raise
        if not _is_fitted(ensemble):
            return None
        return _read_with_rows(ensemble, X) or Unreadable(str(error))


def _read_with_rows(ensemble, X):
    is_table = X is not None and hasattr(X, "shape")
    try:
        return read_on_table(ensemble, X) if is_table else None
    except UnsupportedEnsembleError:
        return None


@dataclasses.dataclass(frozen=True)
class Unreadable:
    """A black box, with the reason why it cannot be read."""

    reason: str

    feature_names = ()


def _is_fitted(ensemble):
    if callable(getattr(ensemble, "is_fitted", None)):  # CatBoost
        return ensemble.is_fitted()
    if not isinstance(ensemble, BaseEstimator):
        return True
    try:
        check_is_fitted(ensemble)
    except NotFittedError:
        return False
    return True


def open_model(
    ensemble, X, y=None, random_state=None, max_calls=None, verbose=0, n_reserved=0
):
    """Read the forest of a fitted ensemble, or query a black box."""
    forest = fitted_forest(ensemble, X)
    if forest is None:
        raise NotFittedError(
            f"A fitted ensemble is needed; this {type(ensemble).__name__} is not "
            "fitted. Call fit first."
        )
    if not isinstance(forest, Unreadable):
        return forest
    rng = np.random.default_rng(one_seed(random_state))
    return ask_model(
        ensemble,
        X,
        y,
        rng=rng,
        why=forest.reason,
        max_calls=max_calls,
        n_reserved=n_reserved,
        verbose=verbose,
    )


def fit_ensemble(simplifier, source, rng):
    """Fit the simplifier's ensemble, or the default one, on the rows of a source."""
    if not source.is_in_memory:
        raise NotFittedError(
            "Rows that are not in memory need a fitted ensemble; this one is not "
            "fitted. Call fit first."
        )
    if source.y is None:
        raise ValueError(
            f"{type(simplifier).__name__} requires y to be passed, but the target y is "
            "None and the ensemble is not fitted."
        )
    X, weight = source.X, source.sample_weight
    kinds = column_kinds(X)
    # The steps of a pipeline may need dates unchanged.
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
        # Only its last step takes weights.
        return ensemble.fit(
            X, source.y, **{f"{ensemble.steps[-1][0]}__sample_weight": weight}
        )
    return ensemble.fit(X, source.y, sample_weight=weight)


def _default_ensemble(simplifier, X, seed):
    plain, for_categories = DEFAULTS[simplifier._task]
    categories = category_lists(X) or ()
    for name, known in zip(column_names(X) or (), categories, strict=True):
        if known is not None and len(known) > MOST_CATEGORIES:
            raise ValueError(
                f"The default ensemble accepts up to {MOST_CATEGORIES} categories per "
                f"column; column {name!r} has {len(known)}. Drop it if it is an "
                "identifier, merge rare categories, or pass another ensemble."
            )
    if any(known is not None for known in categories):
        return for_categories(categorical_features="from_dtype", random_state=seed)
    return plain(min_samples_leaf=5, random_state=seed, n_jobs=simplifier.n_jobs)


def check_task(simplifier, forest):
    """Raise if a forest has another task than the simplifier, or several outputs."""
    own, other = make_outcome(simplifier._task), forest.outcome
    if other.task != own.task:
        name = type(simplifier).__name__
        raise ValueError(
            f"{name} needs an ensemble for {own.task}; this one is for {other.task}. "
            f"Use {name.replace(own.estimator_suffix, other.estimator_suffix)}."
        )
    n_outputs = len(forest.base)
    if not other.n_classes and n_outputs > 1 and isinstance(forest.link, str):
        raise UnsupportedEnsembleError(
            "An ensemble with one output is needed; this one has "
            f"{n_outputs}. Fit one ensemble per output, and simplify one at a time."
        )


def described_forest(forest, X, feature_labels=None):
    """Add names, kinds and orders of categories of the columns of X to a forest.

    Names are taken if those of the forest are generated. A label such as
    "Opened [date]" also marks a column as a date.
    """
    names, changes = column_names(X), {}
    n_columns = None if names is None else len(names)
    if n_columns == forest.n_features:
        if names != forest.feature_names and is_renamed(forest, names):
            changes["feature_names"] = names
    names = changes.get("feature_names", forest.feature_names)
    kinds = column_kinds(X)
    if kinds is not None and len(kinds) != forest.n_features:
        kinds = None
    # Kinds that the reader of the forest found.
    known = forest.feature_kinds
    if known is not None:
        kinds = [k or own for k, own in zip(kinds or known, known, strict=True)]
    labels = checked_labels(feature_labels, names, "feature_labels")
    words = make_vocabulary(names, None, labels, kinds)
    kinds = [scale.kind for scale in words.scales]
    categories = list(forest.categories)
    for j, order in enumerate(ordered_categories(X) or ()):
        if j >= len(categories) or order is None or categories[j] is None:
            continue
        if set(categories[j]) <= set(order):
            categories[j], kinds[j] = order, ORDERED
    if tuple(categories) != forest.categories:
        forest = with_categories(forest, categories)
    changes |= _declared_labels(forest, X)
    booleans = [j for j, kind in enumerate(known or ()) if kind == BOOLEAN]
    if n_columns == forest.n_features:
        booleans += boolean_columns(X)
    for j in booleans:
        kinds[j] = BOOLEAN if categories[j] is None else kinds[j]
    kinds = tuple(kinds) if any(kinds) else None
    if kinds != forest.feature_kinds:
        changes["feature_kinds"] = kinds
    return dataclasses.replace(forest, **changes) if changes else forest


def _declared_labels(forest, X):
    """Categories as the types of X list them; a library may have read True as 1.0."""
    categories = list(forest.categories)
    for j, levels in enumerate(declared_categories(X) or ()):
        own = {level: level for level in levels or ()}
        if j < len(categories) and categories[j] and set(categories[j]) <= set(own):
            categories[j] = tuple(own[label] for label in categories[j])
    is_same = repr(categories) == repr(list(forest.categories))
    return {} if is_same else {"categories": tuple(categories)}
