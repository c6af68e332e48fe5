"""Picture: what is to be seen, said once, for whoever draws it.

A picture has two axes and some marks. `plots.drawing` draws it with matplotlib, for the
library and for pages without scripts; `marks.js` of the report draws it with Plotly.
A new kind of mark is a class here and a function in each of the two.

Colours are names, and who draws has a palette: g0 to g7 for classes and methods, s0 to
s4 for numbers from low to high, each also soft (`g0-soft`), ink, quiet, accent, paper.
Where a reader may choose the scale, places are a dict from `SCALES` to numbers.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

__all__ = [
    "MISSING_AT",
    "SCALES",
    "Axis",
    "Curve",
    "FeatureAxis",
    "Level",
    "Picture",
    "RowDots",
    "RowLines",
    "RowTable",
    "RuleBox",
    "RuleBoxes",
]

SCALES = ("order", "value")
MISSING_AT = -0.14  # where missing values lie on the axis of a feature

Ticks = dict[str, list[tuple[float, str]]]  # by scale


@dataclass(frozen=True)
class Axis:
    """One side of a picture."""

    title: str = ""
    limits: tuple[float, float] | None = None  # by default what the marks need
    ticks: Ticks | None = None  # by default numbers
    is_count: bool = False  # whether only whole numbers make sense
    is_share: bool = False  # whether numbers are to be shown in per cent
    starts_at_zero: bool = False
    is_bare: bool = False  # whether there is no line


@dataclass(frozen=True)
class Curve:
    """Points that are joined, or with the marker "ring" circles around points."""

    kind: ClassVar[str] = "curve"
    label: str
    x: list[float]
    y: list[float]
    colour: str
    marker: str = "o"  # in the words of matplotlib, as is `line`; "" is none
    line: str = "-"
    spread: list[float] | None = None  # half the length of error bars
    reach: list[tuple[float, float]] | None = None  # their two ends, where they differ
    title: str = ""  # what is told of all points
    texts: list[str] | None = None  # of each; it holds no names
    numbers: list[int] | None = None  # that stand beside the points


@dataclass(frozen=True)
class Level:
    """A dashed line over the whole width."""

    kind: ClassVar[str] = "level"
    label: str
    y: float
    text: str = ""


@dataclass(frozen=True)
class FeatureAxis:
    """One feature from 0 to 1, and where the rows lie on it."""

    name: str
    places: dict[str, list[float]]  # of each row, by scale
    texts: list[str]  # the value in each row
    labels: Ticks
    stretches: list[tuple[float, float]]  # by order, where many rows share a value
    has_missing: bool


@dataclass(frozen=True)
class RowLines:
    """One line for each row, over axes that lie below each other.

    Of many rows the middle half of each answer is a band, which can still be read.
    """

    kind: ClassVar[str] = "row_lines"
    axes: list[FeatureAxis]
    most_lines: int = 60
    most_chosen: int = 200  # of the rows of one rule


@dataclass(frozen=True)
class RowDots:
    """One dot for each row at two features."""

    kind: ClassVar[str] = "row_dots"
    x: FeatureAxis
    y: FeatureAxis


@dataclass(frozen=True)
class RuleBox:
    """Rectangles in which a rule holds."""

    rule: int  # from 0
    sides: dict[str, list[tuple[float, ...]]]  # left, right, bottom, top; by scale
    is_filled: bool = False  # whether every row inside gets the rule's answer
    is_dashed: bool = False  # whether the rule asks for more than is seen


@dataclass(frozen=True)
class RuleBoxes:
    """Rectangles of rules: all, with their numbers, or that of a chosen rule only."""

    kind: ClassVar[str] = "rule_boxes"
    boxes: list[RuleBox]
    is_for_chosen: bool = False


@dataclass(frozen=True)
class Picture:
    """Two axes and marks, the lowest first."""

    x: Axis
    y: Axis
    marks: tuple[Any, ...]
    height: int = 320  # in pixels, on a page that is some 740 wide
    legend: str = ""  # what stands before the legend
    scale: str | None = None  # the name of the choice of a scale, if there is one

    def to_dict(self):
        """The picture as plain data, each mark with its kind."""
        marks = [{"kind": mark.kind, **asdict(mark)} for mark in self.marks]
        return {**asdict(replace(self, marks=())), "marks": marks}


@dataclass(frozen=True)
class RowTable:
    """The rows and rules that marks draw, and the groups of answers with one colour."""

    labels: list[str]  # of the groups
    is_ordered: bool  # whether groups are stretches of numbers, from low to high
    number: list[int]  # of each row, from 1
    rule: list[int]  # that answers it, from 1
    says: list[str]  # the answers of the rules
    ensemble: list[str]  # and of the ensemble
    says_group: list[int]
    ensemble_group: list[int]
    y: list[str] | None
    agrees: list[bool] | None  # None for numbers, which are never quite the same
    rule_groups: list[int]  # of each rule, the group of its answer
    members: list[list[int]]  # of each rule, the places of its rows in these lists

    def colour(self, group):
        """The name of a group's colour."""
        return f"{'s' if self.is_ordered else 'g'}{group}"
