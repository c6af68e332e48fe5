"""How answers become colours: a hue and a hatch per class, a scale for numbers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from defragtrees.plots import style
from defragtrees.plots.plane import GOLDEN, PLASTIC, merged
from defragtrees.plots.rows import some_rows

__all__ = ["ClassColours", "NumberColours", "make_colours"]

FILL, LINES = 0.3, 0.55  # strengths of a class's colour in areas and in their hatches
MOST_HATCHED = 20_000  # rectangles; beyond, hatches are slower than they are useful


def make_colours(model, *answers):
    """Colours for what a RuleModel or Forest says, and for the labels y if given.

    Parameters
    ----------
    model : RuleModel or Forest
    *answers : arrays or None
        All that is going to be drawn.
    """
    given = [np.asarray(one).ravel() for one in answers if one is not None]
    if model.outcome.n_classes:
        labels = list(model.classes)
        drawn = {label for one in given for label in np.unique(one).tolist()}
        # Labels that no rule knows come last.
        more = sorted(drawn - set(np.asarray(labels).tolist()), key=str)
        return ClassColours([*labels, *more], model.outcome.answer_text)
    numbers = np.concatenate([one.astype(np.float64) for one in given])
    return NumberColours(float(np.min(numbers)), float(np.max(numbers)))


@dataclass
class ClassColours:
    """One colour, hatch and marker for each class.

    Parameters
    ----------
    labels : list
    write : callable
        From a label to its text.
    """

    labels: list[Any]
    write: Callable = str
    seen: set[int] = field(default_factory=set, init=False)
    has_points: bool = field(default=False, init=False)

    def codes(self, answers):
        """Positions of the answers in `labels`."""
        answers = np.asarray(answers)
        codes = np.zeros(answers.shape, int)
        for i, label in enumerate(self.labels):
            codes[answers == label] = i
        self.seen |= set(np.unique(codes).tolist())
        return codes

    def area(self, answer):
        """Colour of an area with this answer."""
        return style.tint(style.colour(self.codes([answer])[0]), FILL)

    def lines(self, answer):
        """Hatch of an area with this answer, and its colour."""
        code = self.codes([answer])[0]
        return style.hatch(code), style.tint(style.colour(code), LINES)

    def mesh(self, ax, plane, answers):
        """Fill the cells of the plane."""
        codes = np.ma.array(self.codes(answers), mask=~plane.shown)
        tints = [style.tint(style.colour(i), FILL) for i in range(len(self.labels))]
        cmap = style.part("colors").ListedColormap(tints)
        _fill(ax, plane, codes, cmap=cmap, vmin=-0.5, vmax=len(tints) - 0.5)
        for i in np.unique(codes.compressed()):
            if style.hatch(i):
                self._hatch_cells(ax, plane, (codes == i).filled(False), i)

    def _hatch_cells(self, ax, plane, mask, i):
        blocks = merged(mask)
        if len(blocks) > MOST_HATCHED:
            return
        shapes = style.part("path").Path
        corners = []
        for cells in blocks:
            (x, y), width, height = plane.rectangle(cells)
            right, top = x + width, y + height
            corners += [(x, y), (right, y), (right, top), (x, top), (x, y)]
        codes = [shapes.MOVETO, *[shapes.LINETO] * 3, shapes.CLOSEPOLY] * len(blocks)
        patch = style.part("patches").PathPatch(
            shapes(corners, codes),
            facecolor="none",
            edgecolor=style.tint(style.colour(i), LINES),
            hatch=style.hatch(i),
            lw=0,
            zorder=0.5,
        )
        ax.add_patch(patch)

    def points(self, ax, x, y, labels, **settings):
        """Draw rows as points."""
        self.has_points = True
        codes = self.codes(labels)
        for i in np.unique(codes):
            here = codes == i
            ax.scatter(
                x[here],
                y[here],
                c=style.colour(i),
                marker=style.marker(i),
                **settings,
            )

    def explain(self, panels):
        """Legend of the classes in the picture, beside an Axes or all of an array."""
        patches = style.part("patches")
        handles, labels = [], []
        for i in sorted(self.seen):
            area = patches.Patch(
                facecolor=style.tint(style.colour(i), FILL),
                edgecolor=style.tint(style.colour(i), LINES),
                hatch=style.hatch(i),
            )
            look = {"color": style.colour(i), "marker": style.marker(i), "ls": ""}
            point = style.line(ms=5, **look)
            handles.append((area, point) if self.has_points else area)
            labels.append(self.write(self.labels[i]))
        if np.ndim(panels):
            place = {"loc": "outside right upper", "title": "class"}
            style.legend(panels[0].figure, handles, labels, **place)
        else:
            style.legend(panels, handles, labels, title="class")


@dataclass
class NumberColours:
    """One scale for all numbers of a picture.

    Parameters
    ----------
    low, high : float
    """

    low: float
    high: float

    @property
    def _scale(self):
        high = self.high if self.high > self.low else self.low + 1.0
        return {"cmap": style.NUMBERS, "vmin": self.low, "vmax": high}

    def area(self, answer):
        """Colour of an area with this answer."""
        scale = self._scale
        share = (answer - scale["vmin"]) / (scale["vmax"] - scale["vmin"])
        return style.part("pyplot").get_cmap(style.NUMBERS)(share)[:3]

    def lines(self, answer):
        """Numbers have no hatches."""
        return "", "white"

    def mesh(self, ax, plane, answers):
        """Fill the cells of the plane."""
        _fill(ax, plane, np.ma.array(answers, mask=~plane.shown), **self._scale)

    def points(self, ax, x, y, labels, **settings):
        """Draw rows as points."""
        ax.scatter(x, y, c=labels, **self._scale, **settings)

    def explain(self, panels):
        """The scale, beside an Axes or all of an array."""
        scale = self._scale
        norm = style.part("colors").Normalize(scale["vmin"], scale["vmax"])
        shades = style.part("cm").ScalarMappable(norm, style.NUMBERS)
        figure = np.ravel(panels)[0].figure
        figure.colorbar(shades, ax=panels, label="answer")


def _fill(ax, plane, values, **look):
    edges = plane.x.edges, plane.y.edges
    ax.pcolormesh(*edges, values, zorder=0, rasterized=values.size > 5_000, **look)


def draw_rows(ax, plane, colours, matrix, y, max_rows=None, alpha=1.0, size=14):
    """Rows as points, in their colours if labels are known."""
    rows = some_rows(len(matrix), max_rows)
    across = plane.x.place(matrix[:, plane.x.feature], GOLDEN)[rows]
    up = plane.y.place(matrix[:, plane.y.feature], PLASTIC)[rows]
    look = {"s": size, "linewidths": 0.4, "edgecolors": "white", "alpha": alpha}
    if y is None:
        ax.scatter(across, up, c=style.GREY, zorder=2, **look)
    else:
        colours.points(ax, across, up, np.asarray(y)[rows], zorder=2, **look)
