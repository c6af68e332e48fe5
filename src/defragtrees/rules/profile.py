"""What the columns of the training rows were like: small, and kept with the rules.

By it one can tell later whether new rows still are like those; see `watching`.
"""

import dataclasses
import math
from dataclasses import dataclass, field

import numpy as np

__all__ = [
    "MOST_PARTS",
    "TrainingColumn",
    "TrainingRows",
    "count_rows",
    "training_column",
]

MOST_PARTS = 10  # into which the numbers of a column are counted


@dataclass(frozen=True)
class TrainingColumn:
    """One column of the training rows; counts are of rows, by weight.

    Parameters
    ----------
    feature : int
    counts : tuple of float
        Of numbers in each part between `cuts`, the first up to the first cut; or of
        each category, and last of those that are none of them.
    missing : float
    cuts : tuple of float
        Of numbers; ascending.
    low, high : float
        The smallest and the largest number; None where there is none.
    is_integer : bool
        Whether all numbers are whole.
    """

    feature: int
    counts: tuple[float, ...]
    missing: float = 0.0
    cuts: tuple[float, ...] | None = None
    low: float | None = None
    high: float | None = None
    is_integer: bool = False

    def count(self, column):
        """How many values of an encoded column are in each part; missing ones left out.

        Examples
        --------
        >>> part = TrainingColumn(0, (2.0, 2.0), cuts=(1.5,), low=1.0, high=2.0)
        >>> part.count(np.array([1.0, 1.5, 9.0, np.nan])).tolist()
        [2, 1]
        """
        values = column[~np.isnan(column)]
        places = np.searchsorted(self.cuts, values) if self.cuts is not None else values
        return np.bincount(places.astype(np.intp), minlength=len(self.counts))

    def to_dict(self):
        """Its contents in plain numbers and lists."""
        data = {
            "feature": self.feature,
            "counts": list(self.counts),
            "missing": self.missing,
        }
        if self.cuts is None:
            return data
        ends = {"low": self.low, "high": self.high, "integer": self.is_integer}
        return {**data, "cuts": list(self.cuts), **ends}

    @classmethod
    def from_dict(cls, data):
        """The column that `to_dict` wrote down."""
        cuts, ends = data.get("cuts"), (data.get("low"), data.get("high"))
        low, high = (None if end is None else float(end) for end in ends)
        made = cls(
            int(data["feature"]),
            tuple(map(float, data["counts"])),
            float(data["missing"]),
            None if cuts is None else tuple(map(float, cuts)),
            low,
            high,
            data.get("integer", False),
        )
        if cuts is not None and (
            len(cuts) + 1 != len(made.counts) or list(cuts) != sorted(set(cuts))
        ):
            raise ValueError(
                "The cuts of a training column must be ascending, one less than its "
                f"counts; got {cuts!r}."
            )
        return made


@dataclass(frozen=True)
class TrainingRows:
    """What is kept of the rows that rules were fitted to.

    Parameters
    ----------
    n_rows : float
        Their number, by weight.
    columns : tuple of TrainingColumn
        Those that the rules ask about.
    target : tuple of float, optional
        Of y: rows of each class; or of numbers their mean and standard deviation.
    error : float, optional
        Of the answers of the rules to them, by y: the share of wrong classes, or the
        mean squared error.
    """

    n_rows: float
    columns: tuple[TrainingColumn, ...] = ()
    target: tuple[float, ...] | None = None
    error: float | None = field(default=None, compare=False)

    def column(self, feature):
        """What is kept of a feature; None if nothing is."""
        return next((one for one in self.columns if one.feature == feature), None)

    def for_features(self, features):
        """The same of some features only."""
        kept = tuple(one for one in self.columns if one.feature in features)
        return dataclasses.replace(self, columns=kept)

    def check(self, categories, n_classes):
        """Refuse what rules with these categories and so many classes do not have."""
        if self.target is not None and len(self.target) != (n_classes or 2):
            raise ValueError(
                f"The training target must have {n_classes or 2} entries; got "
                f"{len(self.target)}."
            )
        for column in self.columns:
            if not 0 <= column.feature < len(categories):
                raise ValueError(f"A training column is of feature {column.feature}.")
            labels = categories[column.feature]
            is_set = column.cuts is None
            if is_set != (labels is not None) or (
                is_set and len(column.counts) != len(labels) + 1
            ):
                raise ValueError(
                    "A training column must have a count for each category and one "
                    "more, or cuts where it is numeric; got "
                    f"{len(column.counts)} counts."
                )

    def to_dict(self):
        """Its contents in plain numbers and lists."""
        return {
            "n_rows": self.n_rows,
            "columns": [column.to_dict() for column in self.columns],
            "target": None if self.target is None else list(self.target),
            "error": self.error,
        }

    @classmethod
    def from_dict(cls, data):
        """What `to_dict` wrote down; None for None."""
        if data is None:
            return None
        columns = tuple(map(TrainingColumn.from_dict, data["columns"]))
        target = data.get("target")
        return cls(
            float(data["n_rows"]),
            columns,
            None if target is None else tuple(map(float, target)),
            data.get("error"),
        )


def training_column(feature, weights, thresholds, ends, is_integer):
    """What is kept of a column that is counted by bins.

    Parameters
    ----------
    feature : int
    weights : array of shape (n_bins,)
        Of the rows in each bin, missing last.
    thresholds : array, optional
        Between the bins; None of categories.
    ends : (float, float)
        The smallest and the largest number.
    is_integer : bool

    Examples
    --------
    >>> training_column(0, np.array([3.0, 4.0, 5.0, 1.0]), np.array([1.0, 2.0]),
    ...                 (0.0, 9.0), False).counts
    (3.0, 4.0, 5.0)
    """
    missing = _rounded(weights[-1])
    if thresholds is None:
        return TrainingColumn(feature, tuple(map(_rounded, weights[:-1])), missing)
    reached = np.cumsum(weights[:-1])
    # Bins side by side, put together until they have a share of the rows.
    part = np.ceil(reached * MOST_PARTS / max(reached[-1], 1e-300) - 1e-9)
    is_cut = (part[:-1] != part[1:]) & (reached[:-1] > 0)
    is_cut &= reached[:-1] < reached[-1]
    places = np.flatnonzero(is_cut)
    counts = np.diff([0.0, *reached[places], reached[-1]])
    cuts = tuple(np.asarray(thresholds)[places].tolist())
    low, high = (None if math.isnan(end) else float(end) for end in ends)
    return TrainingColumn(
        feature, tuple(map(_rounded, counts)), missing, cuts, low, high, is_integer
    )


def count_rows(features, categories, matrix, weight):
    """What is kept of the columns of encoded rows.

    Parameters
    ----------
    features : iterable of int
    categories : sequence of (tuple or None)
    matrix : float64 array of shape (n_samples, n_features)
    weight : array of shape (n_samples,)

    Returns
    -------
    tuple of TrainingColumn

    Examples
    --------
    >>> rows = np.arange(100.0)[:, None]
    >>> [column] = count_rows([0], [None], rows, np.ones(100))
    >>> column.counts[:3], column.low, column.high
    ((10.0, 10.0, 10.0), 0.0, 99.0)
    """
    made = []
    for j in sorted(features):
        values, missing = matrix[:, j], np.isnan(matrix[:, j])
        present, weights = values[~missing], weight[~missing]
        gone = weight[missing].sum()
        if categories[j] is not None:
            size = len(categories[j]) + 1
            counts = np.bincount(present.astype(np.intp), weights, size)
            made.append(training_column(j, np.append(counts, gone), None, (), False))
            continue
        distinct, codes = np.unique(present, return_inverse=True)
        counts = np.bincount(codes, weights, len(distinct))
        ends = (distinct[0], distinct[-1]) if len(distinct) else (math.nan, math.nan)
        is_integer = bool(len(distinct)) and bool(
            (distinct == np.floor(distinct)).all()
        )
        bins = np.append(counts if len(distinct) else [0.0], gone)
        made.append(training_column(j, bins, distinct[:-1], ends, is_integer))
    return tuple(made)


def _rounded(weight):
    return float(f"{weight:.12g}")
