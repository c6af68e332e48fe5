"""find_segments: short rules for rows whose losses are unusually high or low.

Two thirds of the rows, at most 30,000, search; all other rows count. Every figure of a
segment comes from rows that did not find it.
"""

import json
import math
import os
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from html import escape
from typing import Any

import numpy as np
from scipy import stats

from defragtrees._utils import formatting as render
from defragtrees._utils.files import write_atomic
from defragtrees._utils.types import Column, Flags, Places, Rows
from defragtrees.data.sampling import hash_rows, name_order
from defragtrees.data.sources import open_source
from defragtrees.outcomes.intervals import QUANTILE, wilson_interval
from defragtrees.rules.conditions import Condition, Rule
from defragtrees.rules.forms import RuleList
from defragtrees.rules.labels import BOOLEAN, ORDERED
from defragtrees.rules.model import RuleModel
from defragtrees.segments.boxes import BoxSearch, family_of, make_column, make_losses
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
DIRECTIONS = ("high", "low")
FORMAT = "defragtrees segments"
LEAST_EXPLAINED = 0.1  # of the excess loss of the first segment


def _points(value):
    return f"{_signed(value)} points"


def _points_range(low, high):
    return f"{_signed(low)} to {_signed(high)}"


def _signed(value):
    return f"{round(100 * value):+d}" if round(100 * value) else "0"


UNITS = {
    "number": (render.rounded, render.number_range),
    "share": (render.percent, render.percent_range),
    "points": (_points, _points_range),
}


@dataclass(frozen=True)
class Segment:
    """One segment: its conditions, and figures from rows that did not find it.

    Parameters
    ----------
    rule : Rule
        Its conditions; `Segments.rules` has all segments as a rule model.
    n_rows : int
        Number of rows that match, among those that count.
    share : float
        Share of the rows that match, by weight.
    mean : float
        Mean loss of these rows.
    interval : (float, float)
        95 % interval of the mean.
    rest : float
        Mean loss of the rows in no segment.
    p_value : float
        One-sided, adjusted for the number of candidates (Holm). An overlap with earlier
        segments does not count.
    explained : float
        Loss above the mean of the other rows, per row of all; rows of segments that
        were found before do not count.
    beside : dict
        Means of other columns, such as the observed and the predicted rate.
    """

    rule: Rule
    n_rows: int
    share: float
    mean: float
    interval: tuple[float, float]
    rest: float
    p_value: float
    explained: float
    beside: Mapping[str, float] = field(default_factory=dict)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions."""
        return self.rule.conditions


@dataclass(frozen=True)
class Segments(Sequence[Segment]):
    """Segments found by `find_segments`, ranked by the excess loss they explain.

    Parameters
    ----------
    rules : RuleList
        The segments as rules that predict their number, and 0 for all other rows.
    found : tuple of Segment
    loss_name : str
        What was averaged, for tables.
    unit : {"number", "share", "points"}
        How means are written: as numbers, in per cent, or in percentage points.
    mean : float
        Mean loss of the rows that count.
    rest : float
        Mean loss of the rows in no segment.
    rest_interval : (float, float)
    n_rows, n_searched : int
        Number of rows that count, and of rows that were searched.
    n_tested : int
        Number of candidates that were tested.
    direction : {"high", "low"}
    beside_unit : {"number", "share"}
        How the means of other columns are written.

    Examples
    --------
    >>> X = np.arange(300.0).reshape(-1, 1)
    >>> segments = find_segments(X, X[:, 0] > 249, loss_name="error")
    >>> print(segments.table())
    #  if         rows  error  95 % interval  rest
    1  x1 >= 250    21  100 %     85 - 100 %   0 %
    >>> segments.apply([[10.0], [290.0]]).tolist()
    [0, 1]
    >>> segments.covers([[10.0], [290.0]]).tolist()
    [[False], [True]]
    >>> segments.to_frame()["if"].tolist()
    ['x1 >= 250']
    >>> "CASE" in segments.to_sql(table="t")
    True
    >>> Segments.from_dict(segments.to_dict()) == segments
    True
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     segments.save(f"{folder}/segments.json")
    """

    rules: RuleModel
    found: tuple[Segment, ...]
    loss_name: str
    unit: str
    mean: float
    rest: float
    rest_interval: tuple[float, float]
    n_rows: int
    n_searched: int
    n_tested: int
    direction: str = "high"
    beside_unit: str = "number"

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, place: Any) -> Any:
        return self.found[place]

    def __iter__(self) -> Iterator[Segment]:
        return iter(self.found)

    def covers(self, X: Rows) -> Flags:
        """Which rows each segment matches: a bool array (n_samples, n_segments)."""
        return self.rules.covers(X)[:, :-1]

    def apply(self, X: Rows) -> Places:
        """Number of the first segment that matches each row, from 1; 0 if none does."""
        return np.asarray(self.rules.predict(X), dtype=np.int64)

    def table(self, width: int | None = None) -> str:
        """The segments as a table of text, at most so many columns wide."""
        if not self.found:
            return textwrap.fill(self._note(), width or render.page_width())
        header, rows = self._cells()
        width = width or render.page_width()
        return render.text_table(header, rows, left=(1,), width=width)

    def __str__(self) -> str:
        if not self.found:
            return self.table()
        return f"{self.table()}\n\n{textwrap.fill(self._note(), render.page_width())}"

    def _repr_html_(self) -> str:
        if not self.found:
            return f"<p>{escape(self._note())}</p>"
        header, rows = self._cells()
        return render.html_table(header, rows, left=(1,))

    def _number(self, value: float) -> str:
        return UNITS[self.unit][0](value)

    def _cells(self) -> tuple[list[str], list[list[Any]]]:
        """Header and rows of the table as text; conditions are a tuple."""
        others = list(self.found[0].beside)
        header = ["#", "if", "rows", self.loss_name, "95 % interval", "rest", *others]
        write, other = UNITS[self.unit][1], UNITS[self.beside_unit][0]
        rows: list[list[Any]] = []
        for k, segment in enumerate(self.found, start=1):
            texts = [c.text(*self.rules._vocabulary) for c in segment.conditions]
            lines = (texts[0], *(f"and {text}" for text in texts[1:]))
            figures = [segment.mean, segment.rest]
            mean, rest = map(self._number, figures)
            cells = [str(k), lines, render.count(segment.n_rows), mean]
            cells += [write(*segment.interval), rest]
            rows.append(cells + [other(segment.beside[name]) for name in others])
        return [*header], rows

    def _note(self) -> str:
        """What the figures are of, or that no segment was found."""
        if not self.found:
            return self._none_text()
        kind = "above" if self.direction == "high" else "below"
        largest = max(segment.p_value for segment in self.found)
        level = "< 0.0001" if largest < 1e-4 else f"<= {largest:.2g}"
        return (
            f"Overall {self.loss_name}: {self._number(self.mean)}. Figures are of "
            f"{render.count(self.n_rows)} rows that did not find the segments; "
            f"{render.count(self.n_searched)} others were searched. All are {kind} the "
            f"rest at p {level}, adjusted for "
            f"{render.plural(self.n_tested, 'candidate')}."
        )

    def _none_text(self) -> str:
        text = f"No segment with a {self.direction} {self.loss_name} was found"
        searched = render.count(self.n_searched)
        if self.n_tested:
            text += (
                f": {render.plural(self.n_tested, 'candidate')} from {searched} rows "
                f"did not hold on {render.count(self.n_rows)} others"
            )
        else:
            text += f" in {searched} rows"
        return f"{text}. Overall {self.loss_name}: {self._number(self.mean)}."

    def to_frame(self) -> Any:
        """The segments as a pandas DataFrame, one row each."""
        from defragtrees._utils.optional import require

        pandas = require("pandas", "A table of segments")
        return pandas.DataFrame(
            [
                {
                    "segment": k,
                    "if": segment.rule.text(),
                    "n_rows": segment.n_rows,
                    "share": segment.share,
                    "mean": segment.mean,
                    "low": segment.interval[0],
                    "high": segment.interval[1],
                    "rest": segment.rest,
                    "p_value": segment.p_value,
                    "explained": segment.explained,
                    **segment.beside,
                }
                for k, segment in enumerate(self.found, start=1)
            ]
        )

    def to_sql(self, *, column: str = "segment", **options: Any) -> str:
        """An SQL CASE with the number of the segment; options as for SQL of rules."""
        text = self.rules.export("sql", column=column, **options)
        return str(text)

    def to_dict(self) -> dict[str, Any]:
        """The contents as plain data, for JSON."""
        found = [
            {one.name: getattr(segment, one.name) for one in fields(Segment)[1:]}
            for segment in self.found
        ]
        plain = {name: getattr(self, name) for name in _PLAIN}
        return {
            "format": FORMAT,
            **plain,
            "rules": self.rules.to_dict(),
            "found": found,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Segments":
        """The segments that `to_dict` wrote down."""
        if data.get("format") != FORMAT:
            raise ValueError(f'Segments have "format": "{FORMAT}"; this has not.')
        rules = RuleModel.from_dict(data["rules"])
        found = tuple(
            Segment(rule, **one | {"interval": tuple(one["interval"])})
            for rule, one in zip(rules.rules, data["found"], strict=True)
        )
        plain = {name: data[name] for name in _PLAIN}
        plain["rest_interval"] = tuple(plain["rest_interval"])
        return cls(rules=rules, found=found, **plain)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the segments as JSON."""
        write_atomic(path, (json.dumps(self.to_dict(), indent=2) + "\n").encode())


_PLAIN = (
    "loss_name", "unit", "beside_unit", "mean", "rest", "rest_interval", "n_rows",
    "n_searched", "n_tested", "direction",
)  # fmt: skip


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
    check_settings(max_segments, max_conditions, min_rows, direction, alpha)
    rows = read_rows(X, losses, sample_weight, features, random_state)
    values = check_losses(rows.y, len(rows.matrix))
    if values.min() == values.max():
        raise ValueError(
            f"All losses are {values[0]:g}, so no segment can differ. Pass losses that "
            "vary."
        )
    return search_rows(
        rows,
        values,
        max_segments=max_segments,
        max_conditions=max_conditions,
        min_rows=min_rows,
        direction=direction,
        alpha=alpha,
        loss_name=loss_name,
    )


def check_settings(max_segments, max_conditions, min_rows, direction, alpha):
    """Check the settings of a search."""
    wholes = {"max_segments": max_segments, "max_conditions": max_conditions}
    wholes |= {} if min_rows is None else {"min_rows": min_rows}
    for name, value in wholes.items():
        if not _is_whole(value, 1):
            raise ValueError(f"{name} must be an integer of at least 1; got {value!r}.")
    if direction not in DIRECTIONS:
        raise ValueError(f'direction must be "high" or "low"; got {direction!r}.')
    if not (isinstance(alpha, float | int) and 0 < alpha < 1):
        raise ValueError(f"alpha must be between 0 and 1; got {alpha!r}.")


def _is_whole(value, least):
    is_number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_number and value >= least


@dataclass(frozen=True, eq=False)
class SegmentRows:
    """Rows as numbers, with those that search and those that count."""

    table: Any  # as given
    form: TableForm
    names: tuple[str, ...]
    matrix: np.ndarray
    y: Any  # as given with X
    weight: np.ndarray
    kinds: tuple[str | None, ...]
    features: tuple[int, ...]  # that conditions may use
    is_searched: np.ndarray

    def model(self, segments):
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
            categories=self.form.categories,
            feature_kinds=self.kinds,
        )


def read_rows(
    X, y, sample_weight=None, features=None, random_state=None, named_by=None
):
    """Read a table, and choose by content which of its rows search.

    Columns of an array have the names and kinds of those of the model `named_by`.
    """
    if not (random_state is None or _is_whole(random_state, 0)):
        raise ValueError(
            f"random_state must be None or a whole number from 0; got {random_state!r}."
        )
    source = open_source(X, y, sample_weight).load()
    table, y = source.X, source.y
    shape = getattr(table, "shape", (1, 1))
    if len(shape) < 2 or not shape[1]:
        raise ValueError(
            f"X must be a table with rows and columns; got the shape {shape}."
        )
    form = TableForm(table)
    matrix = form.matrix(table)
    names, kinds = form.names, form.kinds
    if names is None:
        names = getattr(named_by, "feature_names", ())
        kinds = getattr(named_by, "feature_kinds", None)
    if len(names) != matrix.shape[1]:
        names, kinds = tuple(f"x{j + 1}" for j in range(matrix.shape[1])), None
    check_finite(matrix, names)
    n_rows = len(matrix)
    weight = check_weight(source.sample_weight, n_rows)
    n_weighted = int((weight > 0).sum())
    if n_weighted < FEWEST:
        what = "rows" if n_weighted == n_rows else "rows of positive weight"
        raise ValueError(
            f"Segments need at least {FEWEST} {what}, to search and to count; got "
            f"{n_weighted}."
        )
    # By name, so that the order of columns does not matter.
    places = name_order(names)
    if features is not None:
        features = [features] if isinstance(features, str) else list(features)
        if not features:
            raise ValueError("features must have at least one column; it is empty.")
        allowed = {feature_index(one, names) for one in features}
        places = [j for j in places if j in allowed]
    ordered = ordered_categories(table) or (None,) * len(names)
    kinds = [
        ORDERED if levels is not None else kind
        for kind, levels in zip(kinds or (None,) * len(names), ordered, strict=True)
    ]
    for j in boolean_columns(table):
        kinds[j] = BOOLEAN
    keys = hash_rows([matrix[:, j] for j in name_order(names)], random_state or 0)
    keys = _distinct_keys(keys, y, weight)
    n_searched = min(MOST_SEARCHED, round(SEARCHED * n_rows))
    is_searched = np.zeros(n_rows, dtype=bool)
    is_searched[np.argsort(keys, kind="stable")[:n_searched]] = True
    return SegmentRows(
        table,
        form,
        names,
        matrix,
        y,
        weight / weight[weight > 0].mean(),
        tuple(kinds),
        tuple(places),
        is_searched,
    )


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


def search_rows(
    rows,
    losses,
    *,
    max_segments=5,
    max_conditions=3,
    min_rows=None,
    direction="high",
    alpha=0.05,
    loss_name="mean loss",
    beside=None,
    beside_unit="number",
    unit=None,
    is_signed=False,
):
    """Find segments in SegmentRows; `beside` has further columns to average.

    Of signed losses zero has a meaning: a high mean is above the rest and above zero.
    """
    losses = check_losses(losses, len(rows.matrix))
    if unit is None:
        unit = "share" if np.isin(losses, (0.0, 1.0)).all() else "number"
    family = family_of(losses, is_signed)
    scale = _Scale.of(losses, family)
    losses = scale.to_unit(losses)
    is_high, is_weighted = direction == "high", rows.weight > 0
    here, there = rows.is_searched & is_weighted, ~rows.is_searched & is_weighted
    n_rows = int(is_weighted.sum())
    min_rows = min_rows or max(LEAST_ROWS, LEAST_SHARE * n_rows)
    columns = [
        make_column(
            j,
            rows.matrix[here, j],
            rows.form.categories[j] if rows.form.categories else None,
            rows.kinds[j],
        )
        for j in rows.features
    ]
    searched = make_losses(losses[here], rows.weight[here], family, is_high, is_signed)
    min_weight = min_rows * int(here.sum()) / n_rows
    search = BoxSearch(columns, searched, min_weight, max_conditions)
    candidates = []
    while len(candidates) < max_segments and (box := search.best()) is not None:
        conditions = (search.columns[j].condition(box[j]) for j in sorted(box))
        candidates.append(tuple(conditions))
        search.without(search.covers(box))
    count = _Counter(
        rows.matrix[there],
        losses[there],
        rows.weight[there],
        family,
        is_high,
        is_signed,
    )
    beside = {name: np.asarray(of)[there] for name, of in (beside or {}).items()}
    kept, left = count.test(candidates, alpha), np.ones(len(count.losses), dtype=bool)
    found = []
    for conditions, p_value in kept:
        found.append(count.segment(conditions, p_value, left, beside))
        left &= ~count.covers(conditions)
    found.sort(key=lambda one: -abs(one.explained))
    found = [
        one
        for one in found
        if abs(one.explained) >= LEAST_EXPLAINED * abs(found[0].explained)
    ]
    rules = rows.model([one.conditions for one in found])
    others = ~np.any([count.covers(one.conditions) for one in found], axis=0)
    others = others if found else np.ones(len(count.losses), dtype=bool)
    rest = count.mean(others)
    return Segments(
        rules=rules,
        found=tuple(
            replace(
                one,
                rule=rule,
                mean=scale.back(one.mean),
                interval=tuple(map(scale.back, one.interval)),
                rest=scale.back(rest),
                explained=scale.back(one.explained) - scale.back(0.0),
            )
            for one, rule in zip(found, rules.rules, strict=True)
        ),
        loss_name=loss_name,
        unit=unit,
        beside_unit=beside_unit,
        mean=scale.back(count.mean(np.ones(len(count.losses), dtype=bool))),
        rest=scale.back(rest),
        rest_interval=tuple(map(scale.back, count.interval(others))),
        n_rows=int(there.sum()),
        n_searched=int(here.sum()),
        n_tested=len(candidates),
        direction=direction,
    )


@dataclass(frozen=True)
class _Scale:
    """Losses in a unit of their own, so that squares stay finite.

    Rates are between 0 and 1. The unit of others is a power of two, so that nothing is
    rounded.
    """

    low: float
    high: float

    @classmethod
    def of(cls, losses, family):
        """The scale of some losses."""
        if family == "rate":
            return cls(float(losses.min()), float(losses.max()))
        return cls(0.0, 2.0 ** (int(np.frexp(np.abs(losses).max())[1]) - 1))

    def to_unit(self, losses):
        """Losses in this unit; halves, as the difference may be too large."""
        return (losses / 2 - self.low / 2) / (self.high / 2 - self.low / 2)

    def back(self, value):
        """A mean in the unit of the losses."""
        return self.low * (1 - value) + self.high * value


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
            shape = n / max(self._relative_variance(inside), 1e-12)
            low, high = stats.gamma.ppf([0.975, 0.025], shape) / shape
            return mean / low, mean / high
        half = stats.t.ppf(stats.norm.cdf(QUANTILE), max(n - 1, 1)) * self._error(
            inside
        )
        return mean - half, mean + half

    def _relative_variance(self, inside):
        return max(
            self._variance(rows) / max(self.mean(rows), 1e-300) ** 2
            for rows in (inside, slice(None))
        )

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
        order, adjusted, largest = np.argsort(tested, kind="stable"), {}, 0.0
        for i, k in enumerate(order.tolist()):
            largest = max(largest, min(1.0, (len(tested) - i) * tested[k]))
            adjusted[k] = largest
        return [
            (c, adjusted[k]) for k, c in enumerate(candidates) if adjusted[k] <= alpha
        ]

    def _p_value(self, inside, outside):
        """One-sided: Fisher's exact test of two values, Welch's of others."""
        if inside.sum() < 2 or outside.sum() < 2:
            return 1.0
        if self.family == "rate" and np.ptp(self.weight) == 0:
            top = self.losses == 1
            n, k = int(inside.sum()), int((top & inside).sum())
            n_all, k_all = n + int(outside.sum()), k + int((top & outside).sum())
            law = stats.hypergeom(n_all, k_all, n)
            return float(law.sf(k - 1) if self.is_high else law.cdf(k))
        p_value = self._welch(inside, outside)
        if self.is_signed:
            side = 1 if self.is_high else -1
            statistic = side * self.mean(inside) / max(self._error(inside), 1e-300)
            n = self.n_effective(inside)
            p_value = max(p_value, float(stats.t.sf(statistic, max(n - 1, 1))))
        return p_value

    def _welch(self, inside, outside):
        parts = [self._error(rows) ** 2 for rows in (inside, outside)]
        ns = [self.n_effective(rows) for rows in (inside, outside)]
        if sum(parts) == 0:
            return 1.0
        sizes = [part**2 / max(n - 1, 1) for part, n in zip(parts, ns, strict=True)]
        apart = self.mean(inside) - self.mean(outside)
        statistic = (apart if self.is_high else -apart) / math.sqrt(sum(parts))
        return float(stats.t.sf(statistic, sum(parts) ** 2 / sum(sizes)))

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
