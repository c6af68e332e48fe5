"""The ensemble of a fit: read once, and fitted first where it is not."""

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

from defragtrees._utils.values import shown
from defragtrees._utils.warnings import warn
from defragtrees.data.tables import (
    category_lists,
    column_kinds,
    column_names,
    dates_as_days,
    lightgbm_names,
    listed,
    ordered_categories,
    text_as_categories,
)
from defragtrees.ensembles.black_box import ask_model, can_be_asked
from defragtrees.ensembles.pipelines.rewriting import with_categories
from defragtrees.ensembles.readers import read_forest, read_on_table
from defragtrees.errors import SettingError, UnsupportedEnsembleError
from defragtrees.outcomes import make_outcome
from defragtrees.rules.labels import KINDS, ORDERED, checked_labels, make_vocabulary

MADE_UP_NAMES = ("x{1}", "x{0}", "f{0}", "{0}", "Column_{0}")


def warn_of_other_columns(X, forest):
    """Warn that columns are taken by name, where others stand beside or between."""
    names = column_names(X)
    if names is None or not set(forest.feature_names) <= set(names):
        return
    used = tuple(name for name in names if name in set(forest.feature_names))
    expected = {*forest.feature_names, *forest.other_names}
    others = [name for name in names if name not in expected]
    if others:
        text = f"X has columns that the ensemble did not see: {listed(others)}"
    elif used != forest.feature_names and not forest.other_names:
        text = f"X has columns in another order than the ensemble saw: {listed(names)}"
    else:
        return
    warn(f"{text}. Those that it needs are taken by name.")


def check_columns(estimator, X, reset=True, ensure_min_samples=0):
    """Check the kind of X, and remember (`reset`) or compare its columns."""
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
    """The generator of all draws of a fit."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    try:
        seed = check_random_state(random_state).randint(2**31 - 1)
    except ValueError:
        raise SettingError(
            "random_state must be None, a whole number from 0 to 4294967295, or a "
            f"generator of numpy; got {shown(random_state)}."
        ) from None
    return np.random.default_rng(seed)


def one_seed(random_state):
    """A whole number from anything that scikit-learn or numpy draws by."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def is_renamed(forest, names):
    """Whether the forest's names are a library's own form of these, or made up."""
    own = forest.feature_names
    if own == lightgbm_names(names):
        return True
    # As for a model that was trained on an array.
    return any(
        own == tuple(form.format(j, j + 1) for j in range(len(own)))
        for form in MADE_UP_NAMES
    )


# What is fitted by default, and instead where X has categories to split on.
MOST_CATEGORIES = 255  # that histogram boosting of scikit-learn can tell apart
DEFAULTS = {
    "classification": (RandomForestClassifier, HistGradientBoostingClassifier),
    "regression": (RandomForestRegressor, HistGradientBoostingRegressor),
}


def fitted_forest(ensemble, X=None):
    """The forest of an ensemble; None if there is none, or it is not fitted yet.

    An `Unreadable` stands for a fitted model that can only be asked.
    """
    try:
        return None if ensemble is None else read_forest(ensemble)
    except NotFittedError:
        return None
    except UnsupportedEnsembleError as error:
        if not can_be_asked(ensemble):
            raise
        if isinstance(ensemble, BaseEstimator) and not _is_fitted(ensemble):
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
    """Why a model cannot be read."""

    reason: str

    feature_names = ()


def _is_fitted(ensemble):
    try:
        check_is_fitted(ensemble)
    except NotFittedError:
        return False
    return True


def open_model(
    ensemble, X, y=None, random_state=None, max_calls=None, verbose=0, n_reserved=0
):
    """The forest of a fitted ensemble or, if it cannot be read, of its predictions."""
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
    categories = category_lists(X) or ()
    for name, known in zip(column_names(X) or (), categories, strict=True):
        if known is not None and len(known) > MOST_CATEGORIES:
            raise ValueError(
                f"The ensemble that is fitted by default takes up to {MOST_CATEGORIES} "
                f"categories; column {name!r} has {len(known)}. Drop it if it is an "
                "identifier, join rare categories, or pass an ensemble of your own."
            )
    if any(known is not None for known in categories):
        return for_categories(categorical_features="from_dtype", random_state=seed)
    return plain(min_samples_leaf=5, random_state=seed, n_jobs=simplifier.n_jobs)


def check_task(simplifier, forest):
    """Raise if a forest predicts something else than the simplifier, or too much."""
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
            "An ensemble with one number as its answer is needed; this one has "
            f"{n_outputs}. Fit one ensemble for each, and simplify one at a time."
        )


def described_forest(forest, X, feature_labels=None):
    """The forest with what the columns of X are called, and what they hold.

    It takes their names, if its own are a library's invention; which of them are dates
    and times, which a label may say too, as in "Opened [date]"; and the order of their
    categories.
    """
    names, changes = column_names(X), {}
    if names is not None and len(names) == forest.n_features:
        if names != forest.feature_names and is_renamed(forest, names):
            changes["feature_names"] = names
    names = changes.get("feature_names", forest.feature_names)
    kinds = column_kinds(X)
    if kinds is not None and len(kinds) != forest.n_features:
        kinds = None
    # Dates that whoever made the forest has turned into days.
    known = [k if k in KINDS else None for k in forest.feature_kinds or ()]
    if any(known):
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
    kinds = tuple(kinds) if any(kinds) else None
    if kinds != forest.feature_kinds:
        changes["feature_kinds"] = kinds
    return dataclasses.replace(forest, **changes) if changes else forest
