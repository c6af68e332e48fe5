"""find_segments: search on two thirds of the rows, and count on all others.

At most 30,000 rows search. Every figure of a segment comes from rows that did not find
it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from defragtrees._utils import formatting as render
from defragtrees._utils.types import Column, Rows
from defragtrees.data.sampling import hash_rows, name_order
from defragtrees.data.sources import open_source
from defragtrees.outcomes.intervals import QUANTILE, wilson_interval
from defragtrees.outcomes.tests import holm, same_share_p, welch_p
from defragtrees.rules.conditions import Rule
from defragtrees.rules.labels import BOOLEAN, ORDERED
from defragtrees.rules.models import RuleList
from defragtrees.segments.boxes import BoxSearch, family_of, make_column, make_losses
from defragtrees.segments.found import Segment, Segments
from defragtrees.tables import (
    TableForm,
    boolean_columns,
    check_finite,
    check_weight,
    feature_index,
    is_missing,
    ordered_categories,
)

SEARCHED = 2 / 3  # share of the rows that search
MOST_SEARCHED = 30_000
LEAST_ROWS = 20  # of a segment, in all rows
LEAST_SHARE = 0.01  # of a segment
FEWEST = 40  # rows without which nothing can be found and counted
LEAST_EXPLAINED = 0.1  # of the excess loss of the first segment


def find_segments(
    X: Rows,
    losses: Column,
    *,
    max_segments: int = 5,
    max_conditions: int = 3,
    min_rows: int | None = None,
    direction: str = "high",
    features: Sequence[Any] | None = None,
    alpha: float = 0.05,
    sample_weight: Column | None = None,
    random_state: int | None = None,
    loss_name: str = "mean loss",
) -> Segments:
    """Find short rules for rows whose losses are unusually high.

    Two thirds of the rows (at most 30,000) are searched. The rows left count: all
    figures are theirs, and only segments whose mean differs from the rest at the level
    `alpha` are reported, adjusted for the number of candidates. A further segment is
    searched among the rows of no earlier one.

    Parameters
    ----------
    X : array-like or data frame, path of a Parquet file, iterator or Dask collection
        Raw columns: numbers, text, categories, dates, missing values.
    losses : array-like of shape (n_samples,)
        A number per row, such as 1 for a wrong prediction, a squared error, or the
        difference of two models. For a Parquet file it may be the name of a column.
    max_segments : int, default=5
    max_conditions : int, default=3
        Maximum number of conditions per segment.
    min_rows : int, optional
        Minimum number of rows of a segment; by default 1 % of the rows, at least 20.
    direction : {"high", "low"}, default="high"
        Whether to search for high or for low losses.
    features : sequence of str or int, optional
        Columns that conditions may use; by default all.
    alpha : float, default=0.05
        Probability that a segment is reported where there is none.
    sample_weight : array-like of shape (n_samples,), optional
    random_state : int, optional
        Seed of the split into rows that search and rows that count. The order of the
        rows does not matter.
    loss_name : str, default="mean loss"
        What the mean of the losses is called in tables.

    Returns
    -------
    Segments

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((2000, 3))
    >>> wrong = rng.random(2000) < np.where((X[:, 0] > 0.7) & (X[:, 1] > 0.7), 0.5, 0.1)
    >>> segments = find_segments(X, wrong)
    >>> [c.feature for c in segments[0].conditions], len(segments)
    ([0, 1], 1)
    """
    settings = {
        name: value
        for name, value in locals().items()
        if name not in ("X", "losses", "direction", "loss_name")
    }
    if direction not in ("high", "low"):
        raise ValueError(f'direction must be "high" or "low"; got {direction!r}.')
    search = SegmentSearch(X, losses, **settings)
    values = check_losses(search.y, len(search.matrix))
    if values.min() == values.max():
        raise ValueError(
            f"All losses are {values[0]:g}, so no segment can differ. Pass losses that "
            "vary."
        )
    return search.find(values, direction, loss_name)


class SegmentSearch:
    """Rows as numbers, of which some search for segments and the others count.

    The contents of rows decide which search. Settings are those of `find_segments`;
    columns of an array have the names and kinds of those of the model `named_by`.
    """

    def __init__(
        self,
        X,
        y,
        *,
        max_segments=5,
        max_conditions=3,
        min_rows=None,
        features=None,
        alpha=0.05,
        sample_weight=None,
        random_state=None,
        named_by=None,
    ):
        wholes = {"max_segments": max_segments, "max_conditions": max_conditions}
        wholes |= {} if min_rows is None else {"min_rows": min_rows}
        for name, value in wholes.items():
            if not _is_whole(value, 1):
                raise ValueError(
                    f"{name} must be an integer of at least 1; got {value!r}."
                )
        if not (isinstance(alpha, float | int) and 0 < alpha < 1):
            raise ValueError(f"alpha must be between 0 and 1; got {alpha!r}.")
        if not (random_state is None or _is_whole(random_state, 0)):
            raise ValueError(
                "random_state must be None or a whole number from 0; got "
                f"{random_state!r}."
            )
        self.max_segments, self.max_conditions = max_segments, max_conditions
        self.alpha = alpha
        source = open_source(X, y, sample_weight).load()
        self.table, self.y = source.X, source.y
        shape = getattr(self.table, "shape", (1, 1))
        if len(shape) < 2 or not shape[1]:
            raise ValueError(
                f"X must be a table with rows and columns; got the shape {shape}."
            )
        form = TableForm(self.table)
        self.matrix = form.matrix(self.table)
        n_rows, n_columns = self.matrix.shape
        names, kinds = form.names, form.kinds
        if names is None:
            names = getattr(named_by, "feature_names", ())
            kinds = getattr(named_by, "feature_kinds", None)
        if len(names) != n_columns:
            names, kinds = tuple(f"x{j + 1}" for j in range(n_columns)), None
        check_finite(self.matrix, names)
        weight = check_weight(source.sample_weight, n_rows)
        n_weighted = int((weight > 0).sum())
        if n_weighted < FEWEST:
            what = "rows" if n_weighted == n_rows else "rows of positive weight"
            raise ValueError(
                f"Segments need at least {FEWEST} {what}, to search and to count; got "
                f"{n_weighted}."
            )
        self.weight = weight / weight[weight > 0].mean()
        self.min_rows = min_rows or max(LEAST_ROWS, LEAST_SHARE * n_weighted)
        # By name, so that the order of columns does not matter.
        order = self.features = name_order(names)
        if features is not None:
            features = [features] if isinstance(features, str) else list(features)
            if not features:
                raise ValueError("features must have at least one column; it is empty.")
            allowed = {feature_index(one, names) for one in features}
            self.features = [j for j in order if j in allowed]
        ordered = ordered_categories(self.table) or (None,) * n_columns
        kinds = [
            ORDERED if levels is not None else kind
            for kind, levels in zip(kinds or (None,) * n_columns, ordered, strict=True)
        ]
        for j in boolean_columns(self.table):
            kinds[j] = BOOLEAN
        self.names, self.kinds, self.categories = names, tuple(kinds), form.categories
        keys = hash_rows([self.matrix[:, j] for j in order], random_state or 0)
        keys = _distinct_keys(keys, self.y, weight)
        n_searched = min(MOST_SEARCHED, round(SEARCHED * n_rows))
        self.is_searched = np.zeros(n_rows, dtype=bool)
        self.is_searched[np.argsort(keys, kind="stable")[:n_searched]] = True

    def find(
        self,
        losses,
        direction="high",
        loss_name="mean loss",
        unit=None,
        beside=None,
        beside_unit="number",
        is_signed=False,
    ):
        """The Segments of some losses; `beside` has further columns to average.

        Of signed losses zero has a meaning: a high mean is above the rest and above
        zero.
        """
        losses = check_losses(losses, len(self.matrix))
        if unit is None:
            unit = "share" if np.isin(losses, (0.0, 1.0)).all() else "number"
        family = family_of(losses, is_signed)
        low, high = 0.0, 1.0
        # Losses in a unit of their own, so that squares stay finite: rates are between
        # 0 and 1; the unit of others is a power of two, so that nothing is rounded.
        if family == "rate":
            low, high = float(losses.min()), float(losses.max())
        else:
            high = 2.0 ** (int(np.frexp(np.abs(losses).max())[1]) - 1)
        # Halves, as the difference may be too large.
        losses = (losses / 2 - low / 2) / (high / 2 - low / 2)

        def back(value):
            return low * (1 - value) + high * value

        kind = family, direction == "high", is_signed
        is_weighted = self.weight > 0
        here, there = self.is_searched & is_weighted, ~self.is_searched & is_weighted
        candidates = self._candidates(here, losses, kind)
        count = _Counter(self.matrix[there], losses[there], self.weight[there], *kind)
        beside = {name: np.asarray(of)[there] for name, of in (beside or {}).items()}
        every = np.ones(len(count.losses), dtype=bool)
        left, found = every.copy(), []
        for conditions, p_value in count.test(candidates, self.alpha):
            found.append(count.segment(conditions, p_value, left, beside))
            left &= ~count.covers(conditions)
        found.sort(key=lambda segment: -abs(segment.explained))
        least = LEAST_EXPLAINED * max((abs(s.explained) for s in found), default=0.0)
        found = [segment for segment in found if abs(segment.explained) >= least]
        rules = self._rules([segment.conditions for segment in found])
        others = every.copy()
        for segment in found:
            others &= ~count.covers(segment.conditions)
        rest = back(count.mean(others))
        is_share = unit == "points" and "observed" in beside

        def interval(rows):
            low, high = map(back, count.interval(rows))
            shares = set(beside["observed"][rows].tolist()) if is_share else ()
            if len(shares) == 1:  # where all y agree, others may come
                share = float(*shares)
                ends = wilson_interval(share, count.n_effective(rows))
                expected = share - back(count.mean(rows))
                low, high = min(low, ends[0] - expected), max(high, ends[1] - expected)
            return low, high

        return Segments(
            rules=rules,
            found=tuple(
                replace(
                    segment,
                    rule=rule,
                    mean=back(segment.mean),
                    interval=interval(count.covers(segment.conditions)),
                    rest=rest,
                    explained=back(segment.explained) - back(0.0),
                )
                for segment, rule in zip(found, rules.rules, strict=True)
            ),
            loss_name=loss_name,
            unit=unit,
            beside_unit=beside_unit,
            mean=back(count.mean(every)),
            rest=rest,
            rest_interval=interval(others),
            n_rows=int(there.sum()),
            n_searched=int(here.sum()),
            n_tested=len(candidates),
            direction=direction,
        )

    def _candidates(self, here, losses, kind):
        """Conditions of the boxes that are found in some rows."""
        columns = [
            make_column(
                j,
                self.matrix[here, j],
                self.categories[j] if self.categories else None,
                self.kinds[j],
            )
            for j in self.features
        ]
        min_weight = self.min_rows * int(here.sum()) / int((self.weight > 0).sum())
        searched = make_losses(losses[here], self.weight[here], *kind, min_weight)
        search = BoxSearch(columns, searched, self.max_conditions)
        candidates = []
        while len(candidates) < self.max_segments:
            box = search.best()
            if box is None:
                break
            conditions = (search.columns[j].condition(box[j]) for j in sorted(box))
            candidates.append(tuple(conditions))
            search.without(search.covers(box))
        return candidates

    def _rules(self, segments):
        """A rule model that predicts the number of each segment, and 0 for none."""
        numbers = tuple(range(max(2, len(segments) + 1)))
        *rules, default = (
            Rule(conditions, k, tuple(float(k == one) for one in numbers))
            for k, conditions in [*enumerate(segments, start=1), (0, ())]
        )
        return RuleList(
            tuple(rules),
            default,
            self.names,
            "classification",
            numbers,
            categories=self.categories,
            feature_kinds=self.kinds,
        )


def _is_whole(value, least):
    is_number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_number and value >= least


def _distinct_keys(keys, y, weight):
    """Other hashes for rows with equal contents, so that both halves get some."""
    if len(np.unique(keys)) == len(keys):
        return keys
    values = np.zeros(len(keys)) if y is None else np.asarray(y).astype(str)
    order = np.lexsort((weight, values, keys))
    keys = keys[order]
    is_first = np.append(True, keys[1:] != keys[:-1])
    places = np.arange(len(keys))
    places -= np.maximum.accumulate(np.where(is_first, places, 0))
    distinct = np.empty_like(keys)
    distinct[order] = np.where(places, hash_rows([keys, places]), keys)
    return distinct


def check_losses(losses, n_rows):
    """Losses as float64; errors name what is wrong."""
    if losses is None:
        raise ValueError("losses must have a number for each row; got None.")
    losses = np.asarray(losses)
    if losses.shape != (n_rows,):
        raise ValueError(
            f"losses must have one number for each of the {n_rows} rows; got the shape "
            f"{losses.shape}."
        )
    try:
        if losses.dtype.kind == "O":
            losses = np.array([np.nan if is_missing(one) else one for one in losses])
        if losses.dtype.kind not in "biufO":
            raise TypeError(f"got {losses.dtype}")
        losses = losses.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"losses must be numbers: {error}.") from None
    n_bad = int((~np.isfinite(losses)).sum())
    if n_bad:
        raise ValueError(
            f"losses must be finite; {render.plural(n_bad, 'row')} of {n_rows} "
            f"{'has' if n_bad == 1 else 'have'} NaN or infinity. Leave them out."
        )
    return losses


@dataclass(frozen=True, eq=False)
class _Counter:
    """The rows that count, and their figures of a segment; rates are 0 or 1."""

    matrix: np.ndarray
    losses: np.ndarray
    weight: np.ndarray
    family: str
    is_high: bool
    is_signed: bool

    def covers(self, conditions):
        """Which rows match."""
        columns = (one.covers(self.matrix[:, one.feature]) for one in conditions)
        return np.logical_and.reduce(list(columns))

    def mean(self, inside):
        """Mean loss of some rows, by weight; NaN if there are none."""
        weight = self.weight[inside]
        if not weight.sum() > 0:
            return math.nan
        return float(np.average(self.losses[inside], weights=weight))

    def n_effective(self, inside):
        """Number of rows of equal weight with the same precision."""
        weight = self.weight[inside]
        return float(weight.sum() ** 2 / max((weight**2).sum(), 1e-300))

    def interval(self, inside):
        """95 % interval of the mean loss of some rows."""
        mean, n = self.mean(inside), self.n_effective(inside)
        if math.isnan(mean):
            return math.nan, math.nan
        if self.family == "rate":
            return wilson_interval(mean, n)
        if self.family == "scale" and mean == 0:
            # Losses above 0 are as large as elsewhere, and rarer than seen here.
            largest = self.losses[self.losses > 0]
            top = largest.mean() if len(largest) else 0.0
            return 0.0, float(wilson_interval(0.0, n)[1] * top)
        if self.family == "scale":
            # A gamma mean whose variance is in proportion to its square.
            relative = max(
                self._variance(rows) / max(self.mean(rows), 1e-300) ** 2
                for rows in (inside, slice(None))
            )
            shape = n / max(relative, 1e-12)
            low, high = special.gammaincinv(shape, [0.975, 0.025]) / shape
            return mean / low, mean / high
        level = special.ndtr(QUANTILE)
        half = special.stdtrit(max(n - 1, 1), level) * self._error(inside)
        return mean - half, mean + half

    def _variance(self, rows):
        weight, losses = self.weight[rows], self.losses[rows]
        mean = np.average(losses, weights=weight)
        return float(np.average((losses - mean) ** 2, weights=weight))

    def _error(self, inside):
        """Standard error of the mean."""
        variance = self._variance(inside)
        if self.family == "scale" and not self.is_high:
            # Few rows with low losses have a low variance too, by chance.
            variance = max(variance, self._variance(slice(None)))
        return math.sqrt(variance / max(self.n_effective(inside) - 1, 1))

    def test(self, candidates, alpha):
        """The candidates that hold, each with its p-value adjusted by Holm's method."""
        left = np.ones(len(self.losses), dtype=bool)
        tested = []
        for conditions in candidates:
            inside = self.covers(conditions)
            tested.append(self._p_value(inside & left, ~inside & left))
            left &= ~inside
        pairs = zip(candidates, holm(tested), strict=True)
        return [(conditions, p) for conditions, p in pairs if p <= alpha]

    def _p_value(self, inside, outside):
        """One-sided: Fisher's exact test of two values, Welch's of others."""
        if inside.sum() < 2 or outside.sum() < 2:
            return 1.0
        if self.family == "rate" and np.ptp(self.weight) == 0:
            counts = (
                (int((self.losses[rows] == 1).sum()), int(rows.sum()))
                for rows in (inside, outside)
            )
            return same_share_p(*counts, self.is_high)
        side = 1 if self.is_high else -1
        variances = [self._error(rows) ** 2 for rows in (inside, outside)]
        sizes = [self.n_effective(rows) for rows in (inside, outside)]
        apart = self.mean(inside) - self.mean(outside)
        p_value = welch_p(side * apart, variances, sizes) if any(variances) else 1.0
        if self.is_signed:
            statistic = side * self.mean(inside) / max(self._error(inside), 1e-300)
            p = special.stdtr(max(sizes[0] - 1, 1), -statistic)
            p_value = max(p_value, float(p))
        return p_value

    def segment(self, conditions, p_value, left, beside):
        """The Segment with these conditions; what it explains is of the rows left."""
        inside = self.covers(conditions)
        share = float(self.weight[inside].sum() / self.weight.sum())
        excess = self.losses - self.mean(left & ~inside)
        explained = float(self.weight @ (excess * (inside & left)))
        return Segment(
            Rule(conditions, 0.0),
            int(inside.sum()),
            share,
            self.mean(inside),
            self.interval(inside),
            math.nan,
            p_value,
            explained / float(self.weight.sum()),
            {
                name: float(np.average(of[inside], weights=self.weight[inside]))
                for name, of in beside.items()
            },
        )
