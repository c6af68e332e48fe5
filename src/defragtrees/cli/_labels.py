"""Values of a column as positions in a list of known ones: classes or categories.

A file and a model may hold the same label in two types: a CSV file has text only, and
Parquet may have 1 where the model has "1". So a value that is not in the list as it is
counts as the known one that reads the same.
"""

import shlex

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees.data.tables import listed

__all__ = ["class_positions", "encoded", "find_positions", "positions"]

TRUTH = {"true": True, "false": False}


def find_positions(values, expected):
    """For each value its position among the known ones, or None.

    Examples
    --------
    >>> find_positions(["1", "2.0", "x", True], (1, 2))
    [0, 1, None, 0]
    >>> find_positions([1, 2.0], ("1", "2"))
    [0, 1]
    """
    exact = {label: j for j, label in enumerate(expected)}
    numbers = {
        float(label): j
        for j, label in enumerate(expected)
        if isinstance(label, (bool, int, float, np.number, np.bool_))
    }
    return [_position(value, exact, numbers) for value in values]


def _position(value, exact, numbers):
    if value in exact:
        return exact[value]
    if isinstance(value, str):
        return numbers.get(_number(value))
    if isinstance(value, (int, float)):
        texts = (str(value), render.number(value))
        return next((exact[text] for text in texts if text in exact), None)
    return None


def _number(text):
    """The number that a text says, a truth value included; None if it says none."""
    truth = TRUTH.get(text.strip().lower())
    if truth is not None:
        return float(truth)
    try:
        return float(text)
    except ValueError:
        return None


def positions(labels, expected):
    """Positions as float64: NaN where missing, after the last where not known.

    Examples
    --------
    >>> from defragtrees.cli._batch import Labels
    >>> column = Labels(np.array([0, 1, -1]), ["b", "z"])
    >>> positions(column, ("a", "b")).tolist()
    [1.0, 2.0, nan]
    """
    places = find_positions(labels.values, expected)
    table = [float(len(expected) if j is None else j) for j in places]
    return np.array([*table, np.nan])[labels.codes]


def encoded(batch, columns, categories):
    """A batch as a float64 matrix, categories as positions.

    `columns` names the column of each feature by its number; the others are NaN.
    """
    matrix = np.full((batch.n_rows, len(categories)), np.nan)
    for j, name in columns.items():
        column = batch.columns[name]
        labels = categories[j]
        matrix[:, j] = column if labels is None else positions(column, labels)
    return matrix


def class_positions(labels, expected, name):
    """Positions of class labels as integers; each must be a class of the model."""
    if (labels.codes < 0).any():
        n_missing = int((labels.codes < 0).sum())
        raise ValueError(
            f"Column {name!r} must hold a class in every row; it is empty in "
            f"{n_missing} of these {len(labels.codes)} rows. Drop such rows first."
        )
    places = find_positions(labels.values, expected)
    unknown = [v for v, j in zip(labels.values, places, strict=True) if j is None]
    if unknown:
        raise ValueError(
            f"Column {name!r} holds {listed(unknown)}, but the classes of the model "
            f"are {listed(expected)}.{_advice(labels.values, expected)}"
        )
    return np.array(places, dtype=np.intp)[labels.codes]


def _advice(values, expected):
    """What to type if the model only numbers its classes."""
    n_classes = len(expected)
    if tuple(expected) not in (tuple(range(n_classes)), tuple(range(1, n_classes + 1))):
        return ""
    advice = " Say which is which with --classes, in the order of the model"
    if len(values) == n_classes:
        # The order of scikit-learn's LabelEncoder and of LGBMClassifier.
        labels = ",".join(sorted(str(value) for value in values))
        advice += f", such as --classes {shlex.quote(labels)} if that is its order"
    return f"{advice}."
