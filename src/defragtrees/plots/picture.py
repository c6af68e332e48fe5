"""Picture: what is to be seen, said once, for whoever draws it.

A picture has two axes and some marks. `plots.drawing` draws it with matplotlib, for the
library and for pages without scripts; the script of the report draws it with Plotly.
Colours are names, and who draws has a palette: g0 to g7 for classes, methods and rules,
s0 to s4 for numbers from low to high, each also soft (`g0-soft`), and ink, quiet, line,
accent and paper.

Where a reader may choose the scale, a place is a dict from `SCALES` to numbers.
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


@dataclass(frozen=True)
class Axis:
    """One side of a picture.

    Parameters
    ----------
    title : str
    limits : pair of float, optional
        By default what the marks need; the other way round if the first is larger.
    ticks : dict from scale to pairs (place, text), optional
        By default numbers.
    is_count : bool
        Whether only whole numbers make sense.
    is_share : bool
        Whether numbers are shares of one, to be shown in per cent.
    starts_at_zero : bool
    is_bare : bool
        Whether there is no line.
    """

    title: str = ""
    limits: tuple[float, float] | None = None
    ticks: dict[str, list[tuple[float, str]]] | None = None
    is_count: bool = False
    is_share: bool = False
    starts_at_zero: bool = False
    is_bare: bool = False


@dataclass(frozen=True)
class Curve:
    """Points, joined by a line if they have a line style.

    Parameters
    ----------
    label : str
    x, y : list of float
    colour : str
    marker, line : str
        In the words of matplotlib; "ring" is a circle around a point of another curve.
    spread : list of float, optional
        Half the length of error bars.
    title : str
        What is told of all points.
    texts : list of str
        What is told of each point, in the tags that Plotly knows; it holds no names.
    """

    kind: ClassVar[str] = "curve"
    label: str
    x: list[float]
    y: list[float]
    colour: str
    marker: str = "o"
    line: str = "-"
    spread: list[float] | None = None
    title: str = ""
    texts: list[str] | None = None


@dataclass(frozen=True)
class Level:
    """A dashed line over the whole width."""

    kind: ClassVar[str] = "level"
    label: str
    y: float
    text: str = ""


@dataclass(frozen=True)
class FeatureAxis:
    """One feature from 0 to 1, and where the rows lie on it.

    Parameters
    ----------
    name : str
    places : dict from scale to list of float
    texts : list of str
        The values.
    labels : dict from scale to list of (place, text)
    stretches : list of (low, high)
        By order, where many rows share a value.
    has_missing : bool
    """

    name: str
    places: dict[str, list[float]]
    texts: list[str]
    labels: dict[str, list[tuple[float, str]]]
    stretches: list[tuple[float, float]]
    has_missing: bool


@dataclass(frozen=True)
class RowLines:
    """One line for each row, over axes that lie below each other."""

    kind: ClassVar[str] = "row_lines"
    axes: list[FeatureAxis]


@dataclass(frozen=True)
class RowDots:
    """One dot for each row at two features."""

    kind: ClassVar[str] = "row_dots"
    x: FeatureAxis
    y: FeatureAxis


@dataclass(frozen=True)
class RuleBox:
    """Rectangles in which a rule holds.

    Parameters
    ----------
    rule : int
        From 0.
    sides : dict from scale to list of (left, right, bottom, top)
    is_filled : bool
        Whether every row inside gets the answer of the rule.
    is_dashed : bool
        Whether the rule asks for more than the rectangles show.
    """

    rule: int
    sides: dict[str, list[tuple[float, ...]]]
    is_filled: bool = False
    is_dashed: bool = False


@dataclass(frozen=True)
class RuleBoxes:
    """Rectangles of rules: all, with their numbers, or that of a chosen rule only."""

    kind: ClassVar[str] = "rule_boxes"
    boxes: list[RuleBox]
    is_for_chosen: bool = False


@dataclass(frozen=True)
class Picture:
    """Two axes and marks, the lowest first.

    Parameters
    ----------
    x, y : Axis
    marks : tuple
    height : int
        In pixels, on a page that is some 740 wide.
    legend : str
        What stands before the legend.
    scale : str, optional
        The name of the choice between `SCALES` that the picture obeys, if any.
    """

    x: Axis
    y: Axis
    marks: tuple[Any, ...]
    height: int = 320
    legend: str = ""
    scale: str | None = None

    def to_dict(self):
        """The picture as plain data, each mark with its kind."""
        marks = [{"kind": mark.kind, **asdict(mark)} for mark in self.marks]
        return {**asdict(replace(self, marks=())), "marks": marks}


@dataclass(frozen=True)
class RowTable:
    """The rows and rules that marks draw, and the groups of answers with one colour.

    Parameters
    ----------
    labels : list of str
        Of the groups.
    is_ordered : bool
        Whether the groups are stretches of numbers, from low to high.
    number, rule : list of int
        Of each row, its number and that of the rule that answers it, from 1.
    says, ensemble : list of str
        Of each row, the answers of the rules and of the ensemble.
    says_group, ensemble_group : list of int
        Theirs.
    y : list of str, optional
    agrees : list of bool, optional
        Whether rules and ensemble say the same, where that can be said.
    rule_groups : list of int
        The group of each rule's answer.
    members : list of list of int
        Of each rule, the places of its rows in these lists.
    """

    labels: list[str]
    is_ordered: bool
    number: list[int]
    rule: list[int]
    says: list[str]
    ensemble: list[str]
    says_group: list[int]
    ensemble_group: list[int]
    y: list[str] | None
    agrees: list[bool] | None
    rule_groups: list[int]
    members: list[list[int]]

    def colour(self, group):
        """The name of a group's colour."""
        return f"{'s' if self.is_ordered else 'g'}{group}"
