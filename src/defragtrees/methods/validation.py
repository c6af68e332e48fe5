"""What is checked at the door of every method: labels, numbers and names."""

import numbers as numbers_abc

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import column_or_1d

from defragtrees._optional import require
from defragtrees.tables import category_lists

__all__ = [
    "check_known",
    "check_labels",
    "class_numbers",
    "is_renamed",
    "numbers",
    "one_seed",
    "part_column",
    "part_weight",
    "text_as_categories",
]

LARGEST = 1e100
MADE_UP_NAMES = ("x{1}", "x{0}", "f{0}", "{0}", "Column_{0}")


def text_as_categories(X):
    """A frame with its columns of text as categories; anything else as it is."""
    known = category_lists(X) or ()
    names = [name for j, name in enumerate(getattr(X, "columns", ())) if known[j]]
    if not names:
        return X
    if hasattr(X, "iloc"):
        return X.astype({name: "category" for name in names})
    polars = require("polars", "A polars frame")
    return X.with_columns(polars.col(names).cast(polars.Categorical))


def numbers(y):
    """The target of a regression as finite float64 numbers."""
    try:
        y = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("y must hold numbers for a regression.") from None
    if not np.isfinite(y).all():
        raise ValueError("Input y contains NaN or infinity; finite numbers are needed.")
    if (np.abs(y) > LARGEST).any():
        raise ValueError(
            f"y must be from {-LARGEST:g} to {LARGEST:g}, so that its squares are "
            f"numbers too; got {np.abs(y).max():g}. Use another unit."
        )
    return y


def check_labels(y):
    """Refuse labels that are missing or look like measurements."""
    if y.dtype.kind == "O" and any(label is None or label != label for label in y):
        raise ValueError("Input y contains missing values; class labels are needed.")
    if y.dtype.kind == "f":
        if not np.isfinite(y).all():
            raise ValueError(
                "Input y contains NaN or infinity; class labels are needed."
            )
        if (y != np.floor(y)).any():
            raise ValueError(
                "Unknown label type: continuous. Maybe you are trying to fit a "
                "classifier to numbers; use the regressor."
            )


def part_weight(weight, n_rows):
    """Weights of some rows, all of which may be zero, as float64."""
    weight = np.asarray(weight, dtype=np.float64)
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have one number for each row; got {weight.shape} for "
            f"{n_rows} rows in a part."
        )
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise ValueError("sample_weight must hold finite numbers from 0.")
    return weight


def part_column(y, n_rows):
    """Labels of some rows as one column, one for each row."""
    y = column_or_1d(y, warn=True)
    if len(y) != n_rows:
        raise ValueError(
            f"X and y must have equally many rows; got {n_rows} and {len(y)} in a part."
        )
    return y


def check_known(y, classes):
    """Refuse labels none of which is a class, as those of another type are."""
    # A class that training did not have is no mistake: the rules are wrong there.
    found = np.unique(y).tolist()
    if classes is not None and not set(classes).intersection(found):
        raise ValueError(
            f"y must have labels such as {list(classes)[:5]!r}; got {found[:5]!r}. Are "
            "they of another type?"
        )


def class_numbers(y, classes):
    """Positions of the labels in `classes`, all of which the ensemble must know."""
    labels, inverse = np.unique(y, return_inverse=True)
    position = {label: i for i, label in enumerate(classes)}
    unknown = [label for label in labels.tolist() if label not in position]
    if unknown:
        raise ValueError(
            f"y has labels that the ensemble does not know: {unknown[:5]!r}; it knows "
            f"{list(classes)[:5]!r}. Give y as the ensemble was trained on."
        )
    return np.array([position[label] for label in labels.tolist()])[inverse]


def one_seed(random_state):
    """A whole number from anything that scikit-learn or numpy draws by."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, numbers_abc.Integral):
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
