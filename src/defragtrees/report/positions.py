"""One feature as an axis from 0 to 1: where its values and rules' sides stand.

There are two scales. By value is what it says. By order, rows stand side by side, the
smallest value first; equal values share a stretch. So the width of a stretch is a share
of the rows, and skewed features, which by value would be one dark spot, can be read.
"""

import math

import numpy as np

from defragtrees.plots.picture import MISSING_AT, SCALES, FeatureAxis
from defragtrees.report.wording import value_text
from defragtrees.rules.labels import PLAIN

__all__ = ["Positions", "positions_of"]

BEYOND = 0.02  # how far a side without an end is drawn
MISSING_STRETCH = (-0.16, -0.12)  # around MISSING_AT
DIGITS = 4
WIDE = 0.08  # share of the rows from which on equal values are drawn as a stretch
GAP = 0.12  # least distance between two labels


def positions_of(summary, j):
    """Positions of feature j of a Summary."""
    rules, column = summary.rules, summary.rows.matrix[summary.drawn, j]
    accepted = (c for rule in rules.rules for c in rule.conditions if c.feature == j)
    has_missing = np.isnan(column).any() or any(c.missing for c in accepted)
    groups = np.asarray(summary.table.says_group)
    name, categories = rules.axis_names[j], rules.categories[j]
    scale = rules.vocabulary.scales[j]
    return Positions(name, categories, column, groups, bool(has_missing), j, scale)


class Positions:
    """Positions of one feature in the drawn rows.

    Parameters
    ----------
    name : str
    categories : tuple or None
        Those of a categorical feature.
    column : float64 array of shape (n_drawn,)
    groups : int array of shape (n_drawn,)
        Rows of equal value stand in this order, so that colours stay together.
    has_missing : bool
        Whether missing values need a place: in a row or in a rule.
    seed : int
        For the spread of equal values where a picture has two axes.
    scale : Scale
        How its numbers are written.
    """

    def __init__(
        self, name, categories, column, groups, has_missing, seed, scale=PLAIN
    ):
        self.scale = scale
        self.name = name
        self.categories = categories
        self.column = column
        self.groups = groups
        self.has_missing = has_missing
        self.seed = seed
        self.there = ~np.isnan(column)
        self.sorted = np.sort(column[self.there])
        if categories is None:
            self.distinct = np.unique(self.sorted)
        else:
            has_other = bool((self.sorted >= len(categories)).any())
            self.distinct = np.arange(len(categories) + has_other, dtype=float)

    def axis(self, is_spread=False):
        """The axis to draw.

        Parameters
        ----------
        is_spread : bool
            Whether rows of equal value lie in any order, as they do where a picture
            has two axes; in one order they would lie on a line.
        """
        rows = np.arange(len(self.column))
        ties = (rows, self.groups)
        if is_spread:
            ties = (np.random.default_rng(self.seed).permutation(rows),)
        return FeatureAxis(
            name=self.name,
            places={"order": self._ordered(ties), "value": self._valued()},
            texts=[value_text(v, self.categories, 6, self.scale) for v in self.column],
            labels={"order": self._order_labels(), "value": self._value_labels()},
            stretches=[(a, b) for a, b, _ in self._wide_stretches()],
            has_missing=self.has_missing,
        )

    def _ordered(self, ties):
        """Places by order; `ties` are keys for equal values, the last one first."""
        positions = np.full(len(self.column), MISSING_AT)
        n = len(self.sorted)
        keys = [*(np.asarray(tie)[self.there] for tie in ties), self.column[self.there]]
        ranks = np.empty(n)
        ranks[np.lexsort(keys)] = np.arange(n)
        positions[self.there] = (ranks + 0.5) / max(1, n)
        return np.round(positions, DIGITS).tolist()

    def _valued(self):
        positions = np.full(len(self.column), MISSING_AT)
        positions[self.there] = self._place(self.column[self.there])
        return np.round(positions, DIGITS).tolist()

    def _place(self, values):
        """Places by value, 0 at the smallest drawn one and 1 at the largest."""
        if len(self.distinct) < 2:
            return np.full(len(values), 0.5)
        low, high = self.distinct[0], self.distinct[-1]
        return (np.asarray(values) - low) / (high - low)

    def _share(self, value, side="right"):
        """Share of the drawn rows up to a value."""
        below = np.searchsorted(self.sorted, value, side=side)
        return float(below / max(1, len(self.sorted)))

    def _wide_stretches(self):
        """Stretches of equal values that are wide enough to see, with their value."""
        stretches = []
        for value in np.unique(self.sorted):
            a, b = self._share(value, "left"), self._share(value)
            if b - a >= WIDE:
                stretches.append((round(a, DIGITS), round(b, DIGITS), value))
        return stretches

    def _order_labels(self):
        """Values and their places: wide stretches, then the ends, then quarters."""
        if not len(self.sorted):
            return []
        places = [((a + b) / 2, value) for a, b, value in self._wide_stretches()]
        taken = {value for _, value in places}
        last = len(self.sorted) - 1
        for share in (0.0, 1.0, 0.5, 0.25, 0.75):
            value = self.sorted[round(share * last)]
            is_far = all(abs(share - place) >= GAP for place, _ in places)
            if value not in taken and (is_far or share in (0.0, 1.0)):
                places.append((share, value))
                taken.add(value)
        return self._texts(places)

    def _value_labels(self):
        """Values and their places: all if they are few, else the ends and between."""
        if not len(self.distinct):
            return []
        if self.categories is not None or len(self.distinct) <= 5:
            values = self.distinct
        else:
            low, high = self.distinct[0], self.distinct[-1]
            margin = GAP * (high - low)
            between = [v for v in _round_values(low, high) if low + margin < v]
            between = [v for v in between if v < high - margin]
            values = np.array([low, *between, high])
        return self._texts(zip(self._place(values), values, strict=True))

    def _texts(self, places):
        return [
            [
                round(float(place), DIGITS),
                value_text(value, self.categories, 4, self.scale),
            ]
            for place, value in sorted(places)
        ]

    def bands(self, condition):
        """For each scale, the stretches of the axis in which a condition holds."""
        bands = {}
        for scale in SCALES:
            stretches = []
            if condition.categories is not None:
                stretches = self._set_stretches(condition.categories, scale)
            elif condition.lower < condition.upper:
                lower, upper = condition.edges
                low = self._side(lower, scale, -BEYOND)
                stretches = [[low, self._side(upper, scale, 1 + BEYOND)]]
            bands[scale] = [_within(*stretch, scale) for stretch in stretches]
            if condition.missing:
                bands[scale].insert(0, list(MISSING_STRETCH))
        return bands

    def everywhere(self):
        """The stretch in which no condition is asked, missing values included."""
        low = MISSING_STRETCH[0] if self.has_missing else -BEYOND
        return {scale: [[low, 1 + BEYOND]] for scale in SCALES}

    def _side(self, threshold, scale, without):
        if not math.isfinite(threshold):
            return without
        if scale == "order":
            return self._share(threshold)
        if len(self.distinct) < 2:
            is_below = len(self.distinct) == 1 and threshold < self.distinct[0]
            return 0.25 if is_below else 0.75
        return self._place([threshold])[0]

    def _set_stretches(self, codes, scale):
        """Stretches of some categories; those side by side become one."""
        step = 1 / max(1, len(self.distinct) - 1)
        stretches = []
        for code in self.distinct:
            if int(code) not in codes:
                continue
            if scale == "order":
                low, high = self._share(code, "left"), self._share(code)
            else:
                middle = self._place([code])[0]
                low, high = middle - step / 2, middle + step / 2
            if stretches and abs(stretches[-1][1] - low) < 1e-9:
                stretches[-1][1] = high
            else:
                stretches.append([low, high])
        return stretches


def _within(low, high, scale):
    """A stretch that ends a little beyond the axis at most."""
    if scale == "order":
        # All rows or none lie beyond: it is as if the side had no end.
        low = -BEYOND if low <= 0 else low
        high = 1 + BEYOND if high >= 1 else high
    ends = (min(max(end, -BEYOND), 1 + BEYOND) for end in (low, high))
    return [round(float(end), DIGITS) for end in ends]


def _round_values(low, high):
    """A few round numbers between two numbers.

    Examples
    --------
    >>> [float(v) for v in _round_values(0.0, 9.0)]
    [0.0, 2.0, 4.0, 6.0, 8.0]
    """
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * f for f in (1, 2, 5, 10) if power * f >= rough)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [round(k * step, 12) for k in range(first, last + 1)]
