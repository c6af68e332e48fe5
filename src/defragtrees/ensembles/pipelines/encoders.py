"""Encoders of categories, asked for each category what they make of it."""

import copy
import warnings

import numpy as np
import sklearn
from sklearn.preprocessing import OneHotEncoder

from defragtrees.data.tables import is_missing
from defragtrees.ensembles.pipelines.maps import LabelTable
from defragtrees.errors import UnsupportedEnsembleError

__all__ = ["encoded_columns", "without_names"]


def encoded_columns(encoder, columns):
    """The columns that a fitted encoder makes.

    Parameters
    ----------
    encoder : fitted OneHotEncoder, OrdinalEncoder or TargetEncoder
    columns : list of Derived

    Returns
    -------
    list of Derived
    """
    encoder = without_names(encoder)
    answers = _answers(encoder)
    unknown = _unknown_answer(encoder)
    widths = _widths(encoder, answers.shape[1])
    made, end = [], 0
    for column, known, width in zip(columns, encoder.categories_, widths, strict=True):
        for output in range(end, end + width):
            values = answers[: len(known), output]
            made.append(column.then(_table(known.tolist(), values, unknown[output])))
        end += width
    return made


def without_names(transformer):
    """A copy of a transformer that takes arrays and gives arrays."""
    plain = copy.copy(transformer)
    for name in ("feature_names_in_", "_sklearn_output_config"):
        vars(plain).pop(name, None)
    return plain


def _transform(encoder, rows):
    with sklearn.config_context(transform_output="default"), warnings.catch_warnings():
        # It may warn of the unknown category that it is shown on purpose.
        warnings.simplefilter("ignore", UserWarning)
        made = encoder.transform(rows)
    return np.asarray(made.toarray() if hasattr(made, "toarray") else made, np.float64)


def _answers(encoder):
    """What comes out where every column has its first, second, ... category."""
    known = encoder.categories_
    rows = np.empty((max(map(len, known), default=0), len(known)), dtype=object)
    for j, labels in enumerate(known):
        rows[:, j] = [labels[min(k, len(labels) - 1)] for k in range(len(rows))]
    return _transform(encoder, rows)


def _unknown_answer(encoder):
    """What comes out for categories that nobody has seen; NaN where that is refused."""
    row = np.array([[_unseen(labels) for labels in encoder.categories_]], dtype=object)
    if getattr(encoder, "handle_unknown", None) == "error":
        return np.full(_answers(encoder).shape[1], np.nan)
    return _transform(encoder, row)[0]


def _unseen(labels):
    """A value that is none of these."""
    if labels.dtype.kind in "biuf":
        finite = labels[np.isfinite(labels.astype(np.float64))].astype(np.float64)
        return float(np.max(finite, initial=0.0)) + 1.5
    longest = max((len(str(label)) for label in labels), default=0)
    return "?" * (longest + 1)


def _widths(encoder, n_outputs):
    """How many columns each column becomes."""
    n_columns = len(encoder.categories_)
    if not isinstance(encoder, OneHotEncoder):
        return [n_outputs // max(1, n_columns)] * n_columns
    widths = np.array([len(labels) for labels in encoder.categories_])
    rare = getattr(encoder, "infrequent_categories_", None) or [None] * n_columns
    widths -= [0 if labels is None else len(labels) - 1 for labels in rare]
    if encoder.drop_idx_ is not None:
        widths -= [place is not None for place in encoder.drop_idx_]
    assert widths.sum() == n_outputs
    return widths.tolist()


def _table(labels, values, unknown):
    """The map of one output; a missing value that nobody saw is an unknown category."""
    gaps = [is_missing(label) for label in labels]
    if sum(gaps) > 1:
        raise UnsupportedEnsembleError(
            "Cannot read an encoder for which None and NaN differ: here both are "
            "missing values. Fit it with one of the two."
        )
    missing = values[gaps.index(True)] if any(gaps) else unknown
    kept = np.flatnonzero(~np.array(gaps, dtype=bool))
    return LabelTable(
        tuple(labels[k] for k in kept), values[kept], float(unknown), float(missing)
    )
