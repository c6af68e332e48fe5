"""Plane: two features cut at the thresholds, all other features held fixed.

Within one cell of the plane no threshold lies, so rules or trees say the same in all of
it: what is drawn is exact, not sampled. A value x stands for the cell between two
thresholds, `lower < x <= upper`, and the upper one belongs to it.
"""

from dataclasses import dataclass, replace

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees.data.tables import feature_index, listed
from defragtrees.plots import style
from defragtrees.plots.rows import spread
from defragtrees.rules.labels import PLAIN, Scale

__all__ = ["Plane", "PlaneSide", "fixed_values", "make_side"]

MARGIN = 0.03  # free space beside the outermost rows, as a share of their range
STRIP, GAP = 0.07, 0.02  # width of the strip of missing values and its distance
GOLDEN, PLASTIC = 0.6180339887498949, 0.7548776662466927  # for `spread`


@dataclass(frozen=True, eq=False)
class PlaneSide:
    """One feature of the plane, from left to right.

    Parameters
    ----------
    feature : int
    edges : array of shape (n_cells + 1,)
    values : array of shape (n_cells,)
        One value of each cell; NaN where values are missing.
    shown : bool array of shape (n_cells,)
        False for the gap beside the strip of missing values.
    labels : dict from float to str
        Places that have a name: categories, and the missing values.
    is_categorical : bool
    scale : Scale
        How its numbers are written.
    """

    feature: int
    edges: np.ndarray
    values: np.ndarray
    shown: np.ndarray
    labels: dict[float, str]
    is_categorical: bool = False
    scale: Scale = PLAIN

    def place(self, column, share):
        """Where the values of an encoded column lie; equal ones are spread a little."""
        places = np.asarray(column, dtype=np.float64).copy()
        rows = np.arange(len(places))
        missing = np.isnan(places)
        if self.is_categorical:
            places += 0.7 * spread(rows, share)
        if missing.any():
            left, right = self.edges[:2]
            middle = (left + right) / 2
            width = right - left
            places[missing] = middle + 0.7 * width * spread(rows[missing], share)
        return places

    def decorate(self, axis, name):
        """Name the side, and its categories or missing values, on a matplotlib axis."""
        axis.set_label_text(style.plain(style.cut(name, 260, 10)))
        if self.is_categorical:
            texts = [style.label(text, 90, 9) for text in self.labels.values()]
            axis.set_ticks(list(self.labels), labels=texts)
        elif self.labels:
            first = self.edges[2]
            ticks = [t for t in axis.get_major_locator()() if first <= t]
            ticks = [t for t in ticks if t <= self.edges[-1]]
            # Below the first number, which is near.
            start = "\n" if axis.axis_name == "x" else ""
            names = [f"{start}{name}" for name in self.labels.values()]
            texts = [self._tick(t) for t in ticks]
            axis.set_ticks([*self.labels, *ticks], labels=[*names, *texts])
        elif self.scale.kind is not None:
            ticks = [t for t in axis.get_major_locator()() if self.edges[0] <= t]
            ticks = [t for t in ticks if t <= self.edges[-1]][::2]
            axis.set_ticks(ticks, labels=[self._tick(t) for t in ticks])
        is_long = sum(map(len, self.labels.values())) > 40
        if self.is_categorical and is_long and axis.axis_name == "x":
            for text in axis.get_ticklabels():
                text.set(rotation=30, ha="right", rotation_mode="anchor")

    def _tick(self, value):
        return f"{value:g}" if self.scale.kind is None else self.scale.number(value)


@dataclass(frozen=True, eq=False)
class Plane:
    """Two sides, and the values of all features for the rest.

    Parameters
    ----------
    x, y : PlaneSide
    fixed : array of shape (n_features,)
    """

    x: PlaneSide
    y: PlaneSide
    fixed: np.ndarray

    @property
    def shape(self):
        """Number of cells upwards and to the right."""
        return len(self.y.values), len(self.x.values)

    @property
    def shown(self):
        """Which cells are drawn, a bool array of `shape`."""
        return self.y.shown[:, None] & self.x.shown

    def matrix(self):
        """One encoded row for each cell, the lowest ones first."""
        matrix = np.tile(self.fixed, (np.prod(self.shape), 1))
        matrix[:, self.x.feature] = np.tile(self.x.values, self.shape[0])
        matrix[:, self.y.feature] = np.repeat(self.y.values, self.shape[1])
        return matrix

    def rectangle(self, cells):
        """Corner, width and height of the cells from `merged`."""
        bottom, top, left, right = cells
        x, y = self.x.edges, self.y.edges
        return (x[left], y[bottom]), x[right] - x[left], y[top] - y[bottom]


def make_side(feature, thresholds, known, column=None, limits=None):
    """The side of one feature.

    Parameters
    ----------
    feature : int
    thresholds : array of float
        Sorted; of a categorical feature they do not count.
    known : tuple or None
        The categories.
    column : array, optional
        Encoded values, which the side has to have room for.
    limits : pair of float, optional
        Of a numeric feature, in place of the range of `column`.
    """
    has_missing = column is not None and np.isnan(column).any()
    if known is not None:
        names = [str(label) for label in known]
        if column is not None and (column == len(known)).any():
            names.append("any other")
        values = np.arange(len(names), dtype=np.float64)
        edges = np.arange(len(names) + 1) - 0.5
        labels = dict(zip(values.tolist(), names, strict=True))
        widths = 1.0, 0.2
    else:
        low, high = limits or _range(column, thresholds)
        inside = thresholds[(thresholds > low) & (thresholds < high)]
        edges, labels = np.array([low, *inside, high]), {}
        values = edges[1:]
        widths = STRIP * (high - low), GAP * (high - low)
    shown = np.ones(len(values), bool)
    if has_missing:
        right = edges[0] - widths[1]
        labels = {right - widths[0] / 2: "missing", **labels}
        edges = np.array([right - widths[0], right, *edges])
        values = np.array([np.nan, np.nan, *values])
        shown = np.array([True, False, *shown])
    return PlaneSide(feature, edges, values, shown, labels, known is not None)


def make_sides(model, thresholds, features, matrix=None, limits=None):
    """The two sides of a plane over a RuleSet's or Forest's features.

    Parameters
    ----------
    model : RuleModel or Forest
    thresholds : callable
        From the number of a feature to its sorted thresholds.
    features : pair of int
    matrix : encoded rows, optional
    limits : pair of pairs of float, optional
    """
    for i, j in enumerate(features):
        column = None if matrix is None else matrix[:, j]
        shown = None if limits is None else limits[i]
        side = make_side(j, thresholds(j), model.categories[j], column, shown)
        words = getattr(model, "vocabulary", None)
        if words is not None:
            side = replace(side, scale=words.scales[j])
        yield _at_whole_numbers(side) if has_integers(model, j) else side


def thresholds_of(rules, feature):
    """The sorted thresholds of a feature in rules."""
    conditions = [c for rule in rules.rules for c in rule.conditions]
    asking = [c for c in conditions if c.feature == feature]
    ends = np.unique([end for c in asking for end in c.edges])
    return ends[np.isfinite(ends)]


def has_integers(model, feature):
    """Whether rules ask for whole numbers of a feature."""
    conditions = [c for rule in getattr(model, "rules", ()) for c in rule.conditions]
    return any(c.is_integer for c in conditions if c.feature == feature)


def _at_whole_numbers(side):
    """The side with whole numbers as the values of its cells, where they have any."""
    whole, left = np.floor(side.values), side.edges[:-1]
    return replace(side, values=np.where(whole > left, whole, side.values))


def _range(column, thresholds):
    numbers = np.empty(0) if column is None else column[~np.isnan(column)]
    margin = MARGIN
    if not len(numbers):
        numbers, margin = thresholds, max(MARGIN, 0.5 / max(len(thresholds), 1))
    if not len(numbers):
        return 0.0, 1.0
    low, high = float(np.min(numbers)), float(np.max(numbers))
    free = margin * (high - low) or 0.5 * abs(low) or 0.5
    return low - free, high + free


def two_features(features, names, n_uses):
    """Numbers of the two features to draw; by default those that are used most.

    Parameters
    ----------
    features : pair of str or int, or None
    names : tuple of str
    n_uses : array of shape (n_features,)
    """
    if len(names) < 2:
        raise ValueError("A plane needs two features; there is only one.")
    if features is None:
        most = np.argsort(-np.asarray(n_uses), kind="stable")[:2]
        return tuple(sorted(most.tolist()))
    numbers = tuple(feature_index(which, names) for which in features)
    if len(numbers) != 2 or numbers[0] == numbers[1]:
        raise ValueError(f"features must be two different ones; got {features!r}.")
    return numbers


def fixed_values(model, at, matrix, free, used):
    """The value of every feature off the plane.

    Parameters
    ----------
    model : RuleModel or Forest
        For its names and categories.
    at : mapping from feature to value, optional
    matrix : encoded rows, optional
        Where `at` has no value, the median or the most frequent category is taken.
    free : tuple of int
        The features of the plane.
    used : sequence of int
        Features that the model asks about; the others need no value.
    """
    names = model.feature_names
    given = {feature_index(w, names): value for w, value in (at or {}).items()}
    if set(given) & set(free):
        shown = listed([names[j] for j in free])
        raise ValueError(f"at must not hold the features shown, {shown}; got {at!r}.")
    needed = [j for j in used if j not in free and j not in given]
    if needed and matrix is None:
        raise ValueError(
            f"{listed([names[j] for j in needed])} must have a value, as the picture "
            "shows two features only. Pass at={name: value}, or X to take its medians."
        )
    fixed = np.zeros(len(names))
    for j in needed:
        # The lower of two, so that it is a value that occurs.
        fixed[j] = typical_value(matrix[:, j], model.categories[j], "lower")
    for j, value in given.items():
        fixed[j] = _encoded(value, model.categories[j])
    return fixed


def typical_value(column, known, method="linear"):
    """The median of an encoded column, or its most frequent category; NaN if empty."""
    column = column[~np.isnan(column)]
    if not len(column):
        return np.nan
    if known is None:
        return np.quantile(column, 0.5, method=method)
    return np.bincount(column.astype(int)).argmax()


def _encoded(value, known):
    if value is None or value != value:
        return np.nan
    if known is None:
        return float(value)
    return known.index(value) if value in known else len(known)


def fixed_text(model, fixed, features):
    """What the features off the plane are held at, as words."""
    parts, words = [], getattr(model, "vocabulary", None)
    names = model.feature_names if words is None else words.names
    for j in features:
        known = model.categories[j]
        if np.isnan(fixed[j]):
            value = "missing"
        elif known is None:
            scale = PLAIN if words is None else words.scales[j]
            is_plain = scale.kind is None
            value = render.rounded(fixed[j]) if is_plain else scale.number(fixed[j])
            value += scale.ending
        else:
            value = str([*known, "any other"][int(fixed[j])])
        parts.append(f"{names[j]} = {value}")
    return f"at {', '.join(parts)}" if parts else ""


def merged(mask):
    """Rectangles (bottom, top, left, right) of cells that together are the mask.

    Examples
    --------
    >>> merged(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], bool))
    [(0, 2, 0, 2), (2, 3, 2, 3)]
    """
    rectangles, begun = [], {}
    n_rows = len(mask)
    for i in range(n_rows + 1):
        row = mask[i] if i < n_rows else np.zeros(mask.shape[1], bool)
        here = set(runs(row))
        for run in sorted(set(begun) - here):
            rectangles.append((begun.pop(run), i, *run))
        begun |= {run: i for run in here - set(begun)}
    return rectangles


def runs(row):
    """Where the true entries of a bool array begin and end.

    Examples
    --------
    >>> runs(np.array([True, True, False, True]))
    [(0, 2), (3, 4)]
    """
    jumps = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]])))
    return [(start, stop) for start, stop in jumps.reshape(-1, 2).tolist()]
