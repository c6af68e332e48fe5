"""Open a model: read its forest, or find out that it must be queried."""

import contextlib
import dataclasses
from typing import Any

from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from defragtrees.ensembles.readers import read_forest, read_on_table
from defragtrees.ensembles.rewriting import with_categories
from defragtrees.errors import UnsupportedModelError
from defragtrees.rules.labels import BOOLEAN, ORDERED, checked_labels, make_vocabulary
from defragtrees.tables import (
    boolean_columns,
    column_kinds,
    column_names,
    declared_categories,
    lightgbm_names,
    ordered_categories,
)

MADE_UP_NAMES = ("x{1}", "x{0}", "f{0}", "{0}", "Column_{0}")


def fitted_forest(model: Any, X: Any = None) -> Any:
    """Read the forest of a model; None if there is none, or it is not fitted yet.

    For a fitted black box the result is an `Unreadable`.
    """
    if hasattr(model, "__array__") or isinstance(model, list | tuple):
        raise UnsupportedModelError(
            "Predictions of the rows of X are no model, which synthetic rows need too. "
            "Pass the model, or the predictions as y with model=None and "
            "target='labels'."
        )
    try:
        return None if model is None else read_forest(model)
    except NotFittedError:
        return None
    except UnsupportedModelError as error:
        if not can_be_queried(model):
            raise
        if not _is_fitted(model):
            return None
        if X is not None and hasattr(X, "shape"):
            with contextlib.suppress(UnsupportedModelError):
                return read_on_table(model, X) or Unreadable(str(error))
        return Unreadable(str(error))


@dataclasses.dataclass(frozen=True)
class Unreadable:
    """A black box, with the reason why it cannot be read."""

    reason: str

    feature_names = ()


def can_be_queried(model):
    """Whether a model has `predict` or is a function."""
    return not isinstance(model, type) and (
        callable(getattr(model, "predict", None)) or callable(model)
    )


def _is_fitted(model):
    if callable(getattr(model, "is_fitted", None)):  # CatBoost
        return model.is_fitted()
    if not isinstance(model, BaseEstimator):
        return True
    try:
        check_is_fitted(model)
    except NotFittedError:
        # Some, such as NGBoost, keep what they fitted under names of their own.
        with contextlib.suppress(RuntimeError, TypeError):
            new = vars(clone(model))
            return any(
                type(value) is not type(new.get(name))
                or (isinstance(value, list) and len(value) != len(new[name]))
                for name, value in vars(model).items()
            )
        return False
    return True


def is_renamed(forest, names):
    """Whether the forest's names are generated, or these as LightGBM writes them."""
    # Generated names are those of a model that was trained on an array.
    generated = (
        tuple(form.format(j, j + 1) for j in range(forest.n_features))
        for form in MADE_UP_NAMES
    )
    return forest.feature_names in (lightgbm_names(names), *generated)


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
        kinds = [k or kind for k, kind in zip(kinds or known, known, strict=True)]
    labels = checked_labels(feature_labels, names, "feature_labels")
    kinds = [scale.kind for scale in make_vocabulary(names, None, labels, kinds).scales]
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
        typed = {level: level for level in levels or ()}
        if j < len(categories) and categories[j] and set(categories[j]) <= set(typed):
            categories[j] = tuple(typed[label] for label in categories[j])
    is_same = repr(categories) == repr(list(forest.categories))
    return {} if is_same else {"categories": tuple(categories)}
