"""Groups: a column by which rows are set side by side, such as men and women."""

from dataclasses import dataclass

import numpy as np

from defragtrees.report.wording import amount

__all__ = ["Groups", "read_groups"]

MOST_GROUPS = 12
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, eq=False)
class Groups:
    """Which group each row is in."""

    name: str
    labels: tuple[str, ...]
    code: np.ndarray  # of each row

    def masks(self):
        """For each group its label and its rows."""
        return [(label, self.code == g) for g, label in enumerate(self.labels)]


def read_groups(groups, X, rows):
    """The groups that a user names.

    Parameters
    ----------
    groups : str, array-like of shape (n_samples,) or None
        A column of X, also one that is no feature of the rules, or the group of each
        row.
    X : array-like or data frame
        As it was given.
    rows : AnsweredRows

    Returns
    -------
    Groups or None
    """
    if groups is None:
        return None
    name = groups if isinstance(groups, str) else getattr(groups, "name", None)
    values = _column(groups, X, rows) if isinstance(groups, str) else groups
    values = np.asarray(values, dtype=object)
    if values.shape != (len(rows),):
        raise ValueError(
            f"groups must name a column of X or have one entry for each of its "
            f"{len(rows)} rows; got the shape {values.shape}. Pass one column."
        )
    return Groups(str(name or "group"), *_coded(values))


def _column(name, X, rows):
    if hasattr(X, "columns"):
        if name in list(X.columns):
            return X[name]
    elif name in rows.rules.feature_names:
        j = rows.rules.feature_names.index(name)
        labels, column = rows.rules.categories[j], rows.matrix[:, j]
        if labels is None:
            return column
        texts = [*map(str, labels), "another value"]
        return [None if np.isnan(v) else texts[int(v)] for v in column]
    names = list(getattr(X, "columns", rows.rules.feature_names))
    raise ValueError(
        f"groups must name a column of X; got {name!r}, and X has {names[:5]!r}. Pass "
        "one of its columns, or the group of each row."
    )


def _coded(values):
    """Labels of the groups, and the group of each row; many numbers make quarters."""
    is_missing = np.array([value is None or value != value for value in values])
    there = values[~is_missing]
    is_number = all(
        isinstance(v, int | float | np.number) and not isinstance(v, bool)
        for v in there
    )
    if is_number and len(set(there.tolist())) > MOST_GROUPS:
        texts = _quarters(there.astype(np.float64))
    else:
        texts = np.array([str(v) for v in there], dtype=object)
    counted, counts = np.unique(texts, return_counts=True)
    if len(counted) > MOST_GROUPS:
        kept = counted[np.argsort(-counts, kind="stable")[: MOST_GROUPS - 1]]
        texts = np.where(np.isin(texts, kept), texts, "all others")
    labels = sorted(set(texts.tolist()), key=_order(values, texts, is_missing))
    labels += ["missing"] if is_missing.any() else []
    named = np.full(len(values), "missing", dtype=object)
    named[~is_missing] = texts
    places = {label: g for g, label in enumerate(labels)}
    return tuple(labels), np.array([places[label] for label in named.tolist()])


def _order(values, texts, is_missing):
    """Numbers by size, texts by the alphabet, and what is left last."""
    first = {}
    for value, label in zip(values[~is_missing].tolist(), texts.tolist(), strict=True):
        is_number = isinstance(value, int | float)
        here = (0, value, "") if is_number else (1, 0.0, label)
        first[label] = min(first.get(label, here), here)
    return lambda label: (label == "all others", first[label])


def _quarters(numbers):
    edges = np.unique(np.quantile(numbers, QUARTERS))
    place = np.clip(np.searchsorted(edges, numbers) - 1, 0, max(0, len(edges) - 2))
    return np.array(
        [
            f"{amount(edges[p])} to {amount(edges[min(p + 1, len(edges) - 1)])}"
            for p in place
        ],
        dtype=object,
    )
