"""What is checked at the door of every method: labels, numbers and names."""

import numbers

import numpy as np
from sklearn.utils import check_random_state

from defragtrees._optional import require
from defragtrees.tables import category_lists

__all__ = [
    "is_renamed",
    "one_seed",
    "text_as_categories",
]

MADE_UP_NAMES = ("x{1}", "x{0}", "f{0}", "{0}", "Column_{0}")


def text_as_categories(X):
    """A frame with its columns of text as categories; anything else as it is."""
    categories = category_lists(X) or ()
    names = [name for j, name in enumerate(getattr(X, "columns", ())) if categories[j]]
    if not names:
        return X
    if hasattr(X, "iloc"):
        return X.astype({name: "category" for name in names})
    polars = require("polars", "A polars frame")
    return X.with_columns(polars.col(names).cast(polars.Categorical))


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
