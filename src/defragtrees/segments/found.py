"""Segments: rules for some rows, measured on rows not used in the search."""

import math
import os
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils import schema
from defragtrees._utils.files import to_json, write_atomic
from defragtrees._utils.optional import require
from defragtrees._utils.types import Flags, Places, Rows
from defragtrees.errors import ModelFileError
from defragtrees.rules.conditions import Condition, Rule
from defragtrees.rules.model import RuleModel

FORMAT = "defragtrees segments"


def _points(value: float) -> str:
    return f"{round(100 * value):+d}" if round(100 * value) else "0"


class Unit(NamedTuple):
    """How a mean and an interval are written, and a mean whose unit is in a heading."""

    mean: Callable[[float], str]
    interval: Callable[[float, float], str]
    number: Callable[[float], str]
    heading: str = ""


UNITS = {
    "number": Unit(render.rounded, render.number_range, render.rounded),
    "share": Unit(render.percent, render.percent_range, render.percent),
    "points": Unit(
        lambda value: (
            f"{_points(value)} percentage point{'s' * (abs(round(100 * value)) != 1)}"
        ),
        lambda low, high: f"{_points(low)} to {_points(high)}",
        _points,
        " in percentage points",
    ),
}


NUMBER = schema.number()
REST = NUMBER | schema.null_as(math.nan)  # there may be no rows in no segment
INTERVAL = schema.list_of(NUMBER, 2, 2)
MEANS = schema.Check(
    "an object",
    lambda value: isinstance(value, dict),
    lambda value, place: {
        name: NUMBER(one, f"{place}.{name}") for name, one in value.items()
    },
)


@dataclass(frozen=True)
class Segment(schema.Stored):
    """One segment: its conditions, and figures from rows not used in its search.

    Parameters
    ----------
    rule : Rule
        Its conditions; `Segments.rules` has all segments as a rule model.
    n_rows : int
        Number of rows that match and are in no earlier segment, among those that count.
        All figures are of these.
    share : float
        Share of the rows that match, by weight.
    mean : float
        Mean loss of these rows.
    interval : (float, float)
        95% interval of the mean.
    rest : float
        Mean loss of the rows in no segment.
    p_value : float
        One-sided, adjusted for the number of candidates (Holm).
    explained : float
        Loss, or its excess over the expected one, above the mean of the other rows, per
        row of all.
    beside : dict
        Means of other columns, such as the observed and the predicted rate.
    """

    rule: Rule
    n_rows: Annotated[int, schema.whole()]
    share: Annotated[float, schema.number(0, 1)]
    mean: Annotated[float, NUMBER]
    interval: Annotated[tuple[float, float], INTERVAL]
    rest: Annotated[float, REST]
    p_value: Annotated[float, schema.number(0, 1)]
    explained: Annotated[float, NUMBER]
    beside: Annotated[Mapping[str, float], MEANS] = field(default_factory=dict)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions."""
        return self.rule.conditions


@dataclass(frozen=True)
class Segments(schema.Stored, Sequence[Segment]):
    """Segments found by `find_segments`, ranked by what they explain of the loss.

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
    interval : (float, float)
        95% interval of this mean.
    rest : float
        Mean loss of the rows in no segment.
    rest_interval : (float, float)
    n_rows, n_searched : int
        Number of rows that count, and of others that were searched: 0 for a small
        table, whose rows do both, each in turn.
    n_tested : int
        Number of candidates that were tested.
    direction : {"high", "low"}
    beside : dict
        Means of other columns in the rows that count.
    is_excess : bool
        Whether the loss is compared with the one that the model's probabilities lead to
        expect.
    beside_unit : {"number", "share"}
        How the means of other columns are written.

    Examples
    --------
    >>> import numpy as np
    >>> from defragtrees import find_segments
    >>> X = np.arange(300.0).reshape(-1, 1)
    >>> segments = find_segments(X, X[:, 0] > 249, loss_name="error")
    >>> print(segments.table())
    #  if         rows  error  95% interval  rest
    1  x1 >= 250    49   100%       93–100%   <1%
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

    rules: Annotated[RuleModel, schema.ANYTHING]
    found: Annotated[tuple[Segment, ...], schema.list_of(schema.ANYTHING)]
    loss_name: Annotated[str, schema.TEXT]
    unit: Annotated[str, schema.one_of(*UNITS)]
    mean: Annotated[float, NUMBER]
    interval: Annotated[tuple[float, float], INTERVAL]
    rest: Annotated[float, REST]
    rest_interval: Annotated[tuple[float, float], schema.list_of(REST, 2, 2)]
    n_rows: Annotated[int, schema.whole()]
    n_searched: Annotated[int, schema.whole()]
    n_tested: Annotated[int, schema.whole()]
    direction: Annotated[str, schema.one_of("high", "low"), "required"] = "high"
    beside_unit: Annotated[str, schema.one_of("number", "share"), "required"] = "number"
    beside: Annotated[Mapping[str, float], MEANS] = field(default_factory=dict)
    is_excess: Annotated[bool, schema.FLAG, "required"] = False
    _order: ClassVar[tuple[str, ...]] = (
        *("loss_name", "unit", "beside_unit", "mean", "interval", "rest"),
        *("rest_interval", "n_rows", "n_searched", "n_tested", "direction", "beside"),
        *("is_excess", "rules", "found"),
    )

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
        width = width or render.page_width()
        return render.text_table(*self._cells(), left=(1,), width=width)

    def __str__(self) -> str:
        if not self.found:
            return self.table()
        return f"{self.table()}\n\n{textwrap.fill(self._note(), render.page_width())}"

    def _repr_html_(self) -> str:
        if not self.found:
            return f"<p>{escape(self._note())}</p>"
        return render.html_table(*self._cells(), left=(1,))

    def _number(self, value: float) -> str:
        return UNITS[self.unit].mean(value)

    def _cells(self) -> tuple[list[str], list[list[Any]]]:
        """Header and rows of the table as text; conditions are a tuple."""
        others = list(self.found[0].beside)
        own, other = UNITS[self.unit], UNITS[self.beside_unit]
        header = ["#", "if", "rows", f"{self.loss_name}{own.heading}", "95% interval"]
        header = [render.plain(title) for title in (*header, "rest", *others)]
        rows: list[list[Any]] = []
        for k, segment in enumerate(self.found, start=1):
            vocabulary = self.rules._vocabulary
            texts = [render.plain(c.text(*vocabulary)) for c in segment.conditions]
            lines = (texts[0], *(f"and {text}" for text in texts[1:]))
            cells = [str(k), lines, render.count(segment.n_rows)]
            cells += [own.number(segment.mean), own.interval(*segment.interval)]
            beside = [other.number(segment.beside[name]) for name in others]
            rows.append([*cells, own.number(segment.rest), *beside])
        return header, rows

    def _note(self) -> str:
        """What the figures are of, or that no segment was found."""
        searched, n_rows = map(render.count, (self.n_searched, self.n_rows))
        overall = f"Overall {self.loss_name}: {self._number(self.mean)}"
        if "expected" in self.beside:
            expected = UNITS[self.beside_unit].mean(self.beside["expected"])
            overall += f", expected {expected}"
        if not self.found:
            what = f"a {self.direction} {self.loss_name}"
            if self.is_excess:
                what = f"a higher {self.loss_name} than expected"
            text = f"No segment with {what} was found"
            if self.n_tested:
                text += f": {render.plural(self.n_tested, 'candidate')} "
                where = f"from {searched} rows did not hold on {n_rows} others"
                text += where if self.n_searched else f"did not hold on {n_rows} rows"
            else:
                text += f" in {render.count(self.n_searched or self.n_rows)} rows"
            return render.plain(f"{text}. {overall}.")
        kind = "above" if self.direction == "high" else "below"
        largest = max(segment.p_value for segment in self.found)
        level = "< 0.0001" if largest < 1e-4 else f"<= {largest:.2g}"
        tests = f"adjusted for {render.plural(self.n_tested, 'candidate')}"
        how = f"rows not used in the search of {searched} others"
        if not self.n_searched:
            how = "rows, each counted for segments found without it"
        held = f"All are {kind} the rest at p {level}"
        if self.is_excess:
            held = f"All are above the expected {self.loss_name} at p {level}"
        return render.plain(f"{overall}. Measured on {n_rows} {how}. {held}, {tests}.")

    def to_frame(self) -> Any:
        """The segments as a pandas DataFrame, one row each."""
        return require("pandas", "A table of segments").DataFrame(
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
        options = {"column": column, "probabilities": False, **options}
        return str(self.rules.export("sql", **options))

    def to_dict(self) -> dict[str, Any]:
        """The contents as plain data, for JSON."""
        return {"format": FORMAT} | super().to_dict()

    @classmethod
    def from_dict(cls, data: Any, place: str = "") -> Self:  # type: ignore[override]
        """The segments that `to_dict` wrote down; ModelFileError for anything else."""
        try:
            if not isinstance(data, dict) or data.get("format") != FORMAT:
                raise ValueError(f"the format must be {FORMAT!r}")
            of_group = ("format", *Heading._fields)
            fields = cls._read({k: v for k, v in data.items() if k not in of_group})
            rules = RuleModel.from_dict(fields.pop("rules"))
            found = [
                Segment._read(one, f"found[{k}]")
                for k, one in enumerate(fields.pop("found"))
            ]
            numbers = [*range(1, len(found) + 1), 0]
            if rules.form != "list" or [r.prediction for r in rules] != numbers:
                raise ValueError(
                    "rules must predict the number of each segment, and 0 for other "
                    "rows"
                )
            if any(set(one["beside"]) != set(found[0]["beside"]) for one in found):
                raise ValueError("all segments must have the same columns beside")
        except ValueError as error:
            raise ModelFileError(
                f"These are not saved segments: {str(error).rstrip('.')}. Save them "
                "again with segments.save."
            ) from None
        pairs = zip(rules.rules, found, strict=True)
        segments = tuple(Segment(rule, **one) for rule, one in pairs)
        return cls(rules, segments, **fields)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the segments as JSON, which `defragtrees.load` reads."""
        write_atomic(path, to_json(self.to_dict(), 2) + "\n")


class Heading(NamedTuple):
    """What the segments of a group are, and what their figures are of."""

    heading: str
    about: str = ""

    def __str__(self) -> str:
        return f"{self.heading} ({self.about}):" if self.about else f"{self.heading}:"


@dataclass(frozen=True)
class SegmentGroups(Mapping[str, Segments]):
    """Several Segments by what they show, such as "error", "too low", "too high"."""

    groups: Mapping[str, Segments]
    headings: Mapping[str, Heading]

    def __getitem__(self, name: str) -> Segments:
        return self.groups[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def lead(self) -> str:
        """The overall bias, if predictions have one direction."""
        if "too high" not in self.groups:
            return ""
        found = self.groups["too high"]
        unit, write = UNITS[found.unit], UNITS[found.beside_unit].mean
        pair = ", ".join(
            f"{name} {write(value)}" for name, value in found.beside.items()
        )
        ends = unit.interval(*found.interval)
        return f"Overall bias: {unit.mean(found.mean)} ({ends}); {pair}."

    def __str__(self) -> str:
        width = render.page_width()
        texts = [
            f"{textwrap.fill(render.plain(self.headings[name]), width)}\n\n{segments}"
            for name, segments in self.groups.items()
        ]
        return "\n\n".join([*filter(None, [self.lead]), *texts])

    def _repr_html_(self) -> str:
        lead = f"<p>{escape(self.lead)}</p>" if self.lead else ""
        return lead + "".join(
            f"<p>{escape(render.plain(self.headings[name]))}</p>"
            f"{segments._repr_html_()}"
            for name, segments in self.groups.items()
        )

    def to_dict(self) -> dict[str, Any]:
        """The contents as plain data, for JSON."""
        return {
            name: self.headings[name]._asdict() | segments.to_dict()
            for name, segments in self.groups.items()
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "SegmentGroups":
        """The groups that `to_dict` wrote down; ModelFileError for anything else."""
        groups = {name: Segments.from_dict(one) for name, one in data.items()}
        headings = {
            name: Heading(str(one.get("heading", name)), str(one.get("about", "")))
            for name, one in data.items()
        }
        return cls(groups, headings)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the segments as JSON, which `defragtrees.load` reads."""
        write_atomic(path, to_json(self.to_dict(), 2) + "\n")


def read_segments(data: Any) -> Segments | SegmentGroups | None:
    """The segments in the contents of a file; None if it has others."""
    if not isinstance(data, dict):
        return None
    if data.get("format") == FORMAT:
        return Segments.from_dict(data)
    parts = [part for part in data.values() if isinstance(part, dict)]
    is_group = any(part.get("format") == FORMAT for part in parts)
    return SegmentGroups.from_dict(data) if is_group else None
