"""What every method checks of what it is given: columns, names and seeds."""

import numbers
import warnings

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from defragtrees._optional import require
from defragtrees.columns import as_numbers, as_positions, frame_column
from defragtrees.documents import shown
from defragtrees.errors import SettingError
from defragtrees.tables import category_lists, column_names, listed

__all__ = [
    "check_columns",
    "is_renamed",
    "make_generator",
    "one_seed",
    "text_as_categories",
    "warn_of_other_columns",
]

MADE_UP_NAMES = ("x{1}", "x{0}", "f{0}", "{0}", "Column_{0}")


def text_as_categories(X):
    """A frame of plain numbers and categories; anything else as it is.

    Columns of text become categories. Columns of pandas that know missing values other
    than NaN, which libraries do not take, become numbers or categories without them.
    """
    categories = category_lists(X) or ()
    if hasattr(X, "iloc") and categories:
        return _plain_pandas(X, categories)
    names = [name for j, name in enumerate(getattr(X, "columns", ())) if categories[j]]
    if not names:
        return X
    polars = require("polars", "A polars frame")
    return X.with_columns(polars.col(names).cast(polars.Categorical))


def _plain_pandas(X, categories):
    pandas = require("pandas", "A data frame")
    X = X.copy(deep=False)
    for j, labels in enumerate(categories):
        column = frame_column(X, j, X.columns[j])
        if labels is not None:
            codes = np.nan_to_num(as_positions(column, labels), nan=-1).astype(int)
            X.isetitem(j, pandas.Categorical.from_codes(codes, list(labels)))
        elif not isinstance(X.dtypes.iloc[j], np.dtype) or X.dtypes.iloc[j].kind == "O":
            X.isetitem(j, as_numbers(column))
    return X


def warn_of_other_columns(X, forest):
    """Say that columns are taken by name, where others stand beside or between them.

    Parameters
    ----------
    X : array-like or data frame
    forest : Forest
    """
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
    warnings.warn(
        f"{text}. Those that it needs are taken by name.", UserWarning, stacklevel=5
    )


def check_columns(estimator, X, reset=True, ensure_min_samples=0):
    """Check the kind of X, and remember its columns or compare them with `fit`'s.

    Parameters
    ----------
    estimator : Simplifier
    X : array-like or data frame
    reset : bool
        Whether the columns are to be remembered.
    ensure_min_samples : int
    """
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
    # LightGBM writes an underscore for each space in the names that it saw.
    without_spaces = tuple(name.replace(" ", "_") for name in names)
    return _made_up(forest) or forest.feature_names == without_spaces


def _made_up(forest):
    """Whether the names are a library's own, as for a model trained on an array."""
    names = forest.feature_names
    return any(
        names == tuple(form.format(j, j + 1) for j in range(len(names)))
        for form in MADE_UP_NAMES
    )
