"""Regions of rules over two features, all other features held fixed.

The thresholds cut the plane into cells. Within a cell the prediction is constant, so
the drawing is exact, not sampled. A cell is `lower < x <= upper`, and its upper end
stands for it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from defragtrees._utils.formatting import listed
from defragtrees._utils.types import Column, Rows
from defragtrees._utils.values import round_significant
from defragtrees.plots import style
from defragtrees.plots.picture import encoded, some_rows, spread
from defragtrees.rules.labels import Scale
from defragtrees.rules.model import RuleModel
from defragtrees.tables import feature_index

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARGIN = 0.03  # free space beside the outermost rows, as a share of their range
STRIP, GAP = 0.07, 0.02  # width of the strip of missing values and its distance
GOLDEN, PLASTIC = 0.6180339887498949, 0.7548776662466927  # for `spread`
FILL, LINES = 0.3, 0.55  # strength of a class's colour in areas and in hatches
# Where the number of a rule may stand, from the middle of its area or its upper left
# corner: as far as it is wide and high.
MIDDLE = np.array([(0, 0), (0, 2), (0, -2), (2, 0), (-2, 0), (0, 4), (0, -4)])
CORNER = np.array([(1 + 2 * i, -1) for i in range(8)] + [(1, -4), (4, -4)])
MOST_HATCHED = 20_000  # maximum number of hatched rectangles; more are too slow


def regions(
    rules: RuleModel,
    X: Rows | None = None,
    y: Column | None = None,
    features: Sequence[str | int] | None = None,
    ax: "Axes | None" = None,
    *,
    at: Any = None,
    limits: Any = None,
    max_rows: int = 2000,
) -> "Axes":
    """Plot the predictions over two features, with the rules as numbered boxes.

    The areas are exact: they end at the thresholds of the rules. Other features are
    held fixed at the values in the title; rules that do not match these have no box.
    A number marks the area that its rule predicts or, if several rules decide, a
    corner of its box. Missing values in X have their own strip.

    Parameters
    ----------
    rules : RuleModel
    X : array-like or data frame of shape (n_samples, n_features), optional
        Rows to draw as points. They determine the range shown, and the medians or most
        frequent categories at which other features are held.
    y : array-like of shape (n_samples,), optional
        Labels or numbers for the points.
    features : pair of str or int, optional
        Names or numbers; by default the two features with the most conditions.
    ax : matplotlib Axes, optional
    at : mapping from name or number to value, optional
        Values at which to hold other features.
    limits : pair of pairs of float, optional
        Range of the two features to show, instead of the range of X.
    max_rows : int or None, default=2000
        Maximum number of points.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0), Condition(1, upper=60.0)), "yes")
    >>> rules = RuleList((warm,), Rule((), "no"), ("degrees", "humidity"),
    ...                 "classification", ("no", "yes"))
    >>> ax = regions(rules, limits=((0, 40), (0, 100)))
    >>> ax.get_xlabel(), [text.get_text() for text in ax.texts]
    ('degrees', ['1', '2'])
    """
    matrix = encoded(rules, X, y)
    uses = [c.feature for rule in rules.rules for c in rule.conditions]
    n_uses = np.bincount(uses, minlength=len(rules.feature_names))
    features = two_features(features, rules.feature_names, n_uses)
    used = np.flatnonzero(n_uses).tolist()
    fixed = fixed_values(rules, at, matrix, features, used)
    columns = [None if matrix is None else matrix[:, j] for j in features]
    sides = zip(features, columns, limits or (None, None), strict=True)
    across_side, up_side = (_make_side(rules, *side) for side in sides)
    plane = Plane(across_side, up_side, fixed)
    cells = plane.matrix()
    predictions = rules._form.predict(rules._covers(cells)).reshape(plane.shape)
    ax = style.axes_or_new(ax)
    colours = make_colours(rules, predictions[plane.shown], y)
    colours.mesh(ax, plane, predictions)
    if matrix is not None:
        rows = some_rows(len(matrix), max_rows)
        across = plane.x.place(matrix[:, plane.x.feature], GOLDEN)[rows]
        up = plane.y.place(matrix[:, plane.y.feature], PLASTIC)[rows]
        look: dict[str, Any] = {
            "s": 14,
            "linewidths": 0.4,
            "edgecolors": "white",
            "zorder": 2,
        }
        if y is None:
            ax.scatter(across, up, c=style.GREY, **look)
        else:
            colours.points(ax, across, up, np.asarray(y)[rows], **look)
    plane.decorate(ax, rules._vocabulary.axis_names)
    colours.explain(ax)
    if title := fixed_text(rules, fixed, [j for j in used if j not in features]):
        lines = style.wrap(title, 0.95 * style.size_in_points(ax)[0], 8, most=4)
        # On the left, as a legend may take room on the right.
        ax.set_title("\n".join(lines), fontsize=8, loc="left")
    _draw_boxes(ax, plane, rules, cells)
    return ax


def _draw_boxes(ax, plane, rules, cells):
    matches = rules._covers(cells)
    deciding = rules._form.apply(matches)
    look: dict[str, Any] = {"fill": False, "ec": style.DARK, "lw": 1.4, "zorder": 3}
    rectangle, dots = style.part("patches").Rectangle, []
    for k in range(rules.n_rules):
        blocks = merged(matches[:, k].reshape(plane.shape) & plane.shown)
        predicted = merged((deciding == k).reshape(plane.shape) & plane.shown)
        if k < len(rules.rules):
            for block in blocks:
                ax.add_patch(rectangle(*plane.rectangle(block), **look))
        if not rules._form.is_exclusive and blocks:
            (x, y), _, up = plane.rectangle(blocks[-1])
            dots.append((x, y + up, k + 1))
        elif predicted:
            areas = [plane.rectangle(block) for block in predicted]
            (x, y), across, up = max(areas, key=lambda area: area[1] * area[2])
            dots.append((x + across / 2, y + up / 2, k + 1))
    look = {"fontsize": 9, "weight": "bold", "color": "black", "zorder": 4}
    look["bbox"] = {"boxstyle": "round,pad=0.2", "fc": "white", "ec": "none"}
    around = MIDDLE if rules._form.is_exclusive else CORNER
    style.number_points(ax, dots, around=around, **look)


@dataclass(frozen=True, eq=False)
class PlaneSide:
    """One axis of the plane."""

    feature: int
    edges: np.ndarray  # one more than cells
    values: np.ndarray  # one per cell; NaN for missing values
    shown: np.ndarray  # False for the gap beside missing values
    labels: dict[float, str]  # named positions: categories, missing values
    is_categorical: bool
    scale: Scale  # how numbers are written
    is_integer: bool

    def place(self, column, share):
        """Positions of the values of a column; equal categories are jittered."""
        places = np.asarray(column, dtype=np.float64).copy()
        rows = np.arange(len(places))
        missing = np.isnan(places)
        if self.is_categorical:
            places += 0.7 * spread(rows, share)
        if missing.any():
            left, right = self.edges[:2]
            nudge = 0.7 * (right - left) * spread(rows[missing], share)
            places[missing] = (left + right) / 2 + nudge
        return places

    def decorate(self, axis, name):
        """Label a matplotlib axis, and its numbers, categories or missing values."""
        style.axis_title(axis, name)
        if self.is_categorical:
            texts = style.distinct(self.labels.values(), 90, style.TICKS)
            if axis.axis_name == "x":
                room = 0.6 * style.size_in_points(axis.axes)[0] / len(texts)
                words = [word for text in texts for word in text.split()]
                if max(style.width(word, style.TICKS) for word in words) > room:
                    axis.set_tick_params(labelrotation=90)
                else:
                    lines = [style.wrap(text, room, style.TICKS) for text in texts]
                    texts = ["\n".join(some) for some in lines]
            axis.set_ticks(list(self.labels), labels=texts)
            return
        write = style.tick_text if self.scale.kind is None else self.scale.number
        low, high = self.edges[2 if self.labels else 0], self.edges[-1]
        whole = {"integer": self.is_integer}
        locator = style.fitting_locator(axis, low, high, write, **whole)
        numbers = locator.tick_values(low, high)
        ticks = {t: write(t) for t in numbers if low <= t <= high}
        # Missing values one line below the first number, which is close.
        start = "\n" if axis.axis_name == "x" else ""
        ticks |= {place: f"{start}{text}" for place, text in self.labels.items()}
        axis.set_ticks(list(ticks), labels=list(ticks.values()))


@dataclass(frozen=True, eq=False)
class Plane:
    """Two axes, and the fixed values of all other features."""

    x: PlaneSide
    y: PlaneSide
    fixed: np.ndarray

    @property
    def shape(self):
        """Number of cells upwards and to the right."""
        return len(self.y.values), len(self.x.values)

    @property
    def shown(self):
        """Mask of the cells that are drawn."""
        return self.y.shown[:, None] & self.x.shown

    def matrix(self):
        """One encoded row per cell, from the bottom up."""
        matrix = np.tile(self.fixed, (np.prod(self.shape), 1))
        matrix[:, self.x.feature] = np.tile(self.x.values, self.shape[0])
        matrix[:, self.y.feature] = np.repeat(self.y.values, self.shape[1])
        return matrix

    def rectangle(self, cells):
        """Corner, width and height of the cells from `merged`."""
        bottom, top, left, right = cells
        x, y = self.x.edges, self.y.edges
        return (x[left], y[bottom]), x[right] - x[left], y[top] - y[bottom]

    def decorate(self, ax, names):
        """Set limits and labels of both axes."""
        x, y = self.x, self.y
        ax.set(xlim=x.edges[[0, -1]], ylim=y.edges[[0, -1]])
        x.decorate(ax.xaxis, names[x.feature])
        y.decorate(ax.yaxis, names[y.feature])


def _make_side(rules, feature, column, limits):
    """One side of the plane; without limits it spans the encoded column, if any."""
    conditions = [c for rule in rules.rules for c in rule.conditions]
    conditions = [c for c in conditions if c.feature == feature]
    known = rules.categories[feature]
    if known is not None:
        names = [str(label) for label in known]
        if column is not None and (column == len(known)).any():
            names.append("any other")
        values = np.arange(len(names), dtype=np.float64)
        edges = np.arange(len(names) + 1) - 0.5
        labels = dict(zip(values.tolist(), names, strict=True))
        widths = 1.0, 0.2
    else:
        thresholds = np.unique([end for c in conditions for end in c.edges])
        thresholds = thresholds[np.isfinite(thresholds)]
        low, high = limits or _range(column, thresholds)
        inside = thresholds[(thresholds > low) & (thresholds < high)]
        edges, labels = np.array([low, *inside, high]), {}
        values = edges[1:]
        widths = STRIP * (high - low), GAP * (high - low)
    shown = np.ones(len(values), bool)
    if column is not None and np.isnan(column).any():
        right = edges[0] - widths[1]
        labels = {right - widths[0] / 2: "missing", **labels}
        edges = np.array([right - widths[0], right, *edges])
        values = np.array([np.nan, np.nan, *values])
        shown = np.array([True, False, *shown])
    is_integer = any(c.is_integer for c in conditions)
    if is_integer:
        # A whole number stands for a cell that contains one.
        values = np.where(np.floor(values) > edges[:-1], np.floor(values), values)
    kind = known is not None, rules._vocabulary.scales[feature], is_integer
    return PlaneSide(feature, edges, values, shown, labels, *kind)


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
    """Indices of the two features to draw; by default the most used ones."""
    if len(names) < 2:
        raise ValueError("A plane needs two features; there is only one.")
    if features is None:
        most = np.argsort(-np.asarray(n_uses), kind="stable")[:2]
        return tuple(sorted(most.tolist()))
    numbers = tuple(feature_index(which, names) for which in features)
    if len(numbers) != 2 or numbers[0] == numbers[1]:
        raise ValueError(f"features must be two different ones; got {features!r}.")
    return numbers


def fixed_values(rules, at, matrix, free, used):
    """Values at which features are held: from `at`, or typical of the encoded rows.

    Only features that are used and not free (not on the plane) need one.
    """
    names = rules.feature_names
    given = {feature_index(w, names): value for w, value in (at or {}).items()}
    if set(given) & set(free):
        shown = listed([names[j] for j in free])
        raise ValueError(f"at must not hold the features shown, {shown}; got {at!r}.")
    needed = [j for j in used if j not in free and j not in given]
    if needed and matrix is None:
        raise ValueError(
            f"{listed([names[j] for j in needed])} must have a value, as the plot "
            "shows two features only. Pass at={name: value}, or X to use its medians."
        )
    fixed = np.zeros(len(names))
    for j in needed:
        column = matrix[:, j][~np.isnan(matrix[:, j])]
        if not len(column):
            fixed[j] = np.nan
        elif rules.categories[j] is None:
            # The lower median, which is a value that occurs.
            fixed[j] = np.quantile(column, 0.5, method="lower")
        else:
            fixed[j] = np.bincount(column.astype(int)).argmax()
    for j, value in given.items():
        known = rules.categories[j]
        if value is None or value != value:
            fixed[j] = np.nan
        elif known is None:
            fixed[j] = float(value)
        else:
            fixed[j] = known.index(value) if value in known else len(known)
    return fixed


def fixed_text(rules, fixed, features):
    """The fixed values as text."""
    parts, vocabulary = [], rules._vocabulary
    for j in features:
        known, scale = rules.categories[j], vocabulary.scales[j]
        if np.isnan(fixed[j]):
            value = "missing"
        elif known is None:
            is_plain = scale.kind is None
            value = style.tick_text(round_significant(fixed[j], 4))
            value = f"{value if is_plain else scale.number(fixed[j])}{scale.ending}"
        else:
            value = str([*known, "any other"][int(fixed[j])])
        parts.append(f"{vocabulary.names[j]} = {value}")
    return f"at {', '.join(parts)}" if parts else ""


def merged(mask):
    """Rectangles (bottom, top, left, right) of cells that make up the mask.

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
    """Starts and stops of the runs of true entries.

    Examples
    --------
    >>> runs(np.array([True, True, False, True]))
    [(0, 2), (3, 4)]
    """
    jumps = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]])))
    return [(start, stop) for start, stop in jumps.reshape(-1, 2).tolist()]


def make_colours(rules, predictions, y=None):
    """Colours for the predictions of rules, and for rows with y."""
    given = [np.asarray(one).ravel() for one in (predictions, y) if one is not None]
    if rules.outcome.labels is not None:
        numbers = style.class_numbers(rules)
        drawn = {label for one in given for label in np.unique(one).tolist()}
        # Labels that are not classes of the rules come last.
        more = sorted(drawn - set(np.asarray([*numbers]).tolist()), key=str)
        labels = [*rules.outcome.labels, *more]
        last = len(style.COLOURS) - 1
        numbers |= {label: min(labels.index(label), last) for label in more}
        colours = [style.COLOURS[numbers[label]] for label in labels]
        return ClassColours(labels, colours, rules.outcome.view.prediction)
    # Of what is predicted or, where that is constant, of y.
    ranges = [_usual_range(one) for one in given]
    varied = [ends for ends in ranges if ends[0] < ends[1]]
    low, high = (varied or ranges)[0]
    beyond = (min(map(np.min, given)) < low) + 2 * (max(map(np.max, given)) > high)
    return NumberColours(low, high, ("neither", "min", "max", "both")[beyond])


def _usual_range(numbers):
    """Range of distinct numbers without outliers (Tukey's fences).

    One outlier would make all others look alike.
    """
    numbers = np.unique(np.asarray(numbers, np.float64))
    low, high = np.quantile(numbers, [0.25, 0.75])
    fence = 1.5 * (high - low)
    usual = numbers[(numbers >= low - fence) & (numbers <= high + fence)]
    return float(usual[0]), float(usual[-1])


@dataclass
class ClassColours:
    """One colour, hatch and marker per class."""

    labels: list[Any]
    colours: list[str]
    write: Callable  # from a label to its text
    seen: set[int] = field(default_factory=set, init=False)
    has_points: bool = field(default=False, init=False)

    def codes(self, predictions):
        """Positions of the predictions in `labels`."""
        predictions = np.asarray(predictions)
        codes = np.zeros(predictions.shape, int)
        for i, label in enumerate(self.labels):
            codes[predictions == label] = i
        self.seen |= set(np.unique(codes).tolist())
        return codes

    def mesh(self, ax, plane, predictions):
        """Fill the cells of the plane."""
        codes = np.ma.array(self.codes(predictions), mask=~plane.shown)
        tints = [style.tint(colour, FILL) for colour in self.colours]
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
            edgecolor=style.tint(self.colours[i], LINES),
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
            here, look = codes == i, {"c": self.colours[i], "marker": style.marker(i)}
            ax.scatter(x[here], y[here], **look, **settings)

    def explain(self, ax):
        """Add a legend of the classes beside the Axes."""
        patches = style.part("patches")
        handles, labels = [], []
        for i in sorted(self.seen):
            area = patches.Patch(
                facecolor=style.tint(self.colours[i], FILL),
                edgecolor=style.tint(self.colours[i], LINES),
                hatch=style.hatch(i),
            )
            look = {"color": self.colours[i], "marker": style.marker(i), "ls": ""}
            point = style.part("lines").Line2D([], [], ms=5, **look)
            handles.append((area, point) if self.has_points else area)
            labels.append(self.write(self.labels[i]))
        style.legend(ax, handles, labels, title="class")


@dataclass
class NumberColours:
    """One colour scale for all numbers of a plot."""

    low: float
    high: float
    beyond: str = "neither"  # at which ends of the scale there are outliers

    @property
    def _scale(self):
        high = self.high if self.high > self.low else self.low + 1.0
        return {"cmap": style.NUMBERS, "vmin": self.low, "vmax": high}

    def mesh(self, ax, plane, predictions):
        """Fill the cells of the plane."""
        _fill(ax, plane, np.ma.array(predictions, mask=~plane.shown), **self._scale)

    def points(self, ax, x, y, labels, **settings):
        """Draw rows as points."""
        ax.scatter(x, y, c=labels, **self._scale, **settings)

    def explain(self, ax):
        """Add a colour bar beside the Axes."""
        scale = self._scale
        norm = style.part("colors").Normalize(scale["vmin"], scale["vmax"])
        shades = style.part("cm").ScalarMappable(norm, style.NUMBERS)
        look = {"label": "prediction", "extend": self.beyond}
        bar = ax.figure.colorbar(shades, ax=ax, **look)
        style.number_ticks(bar.ax.yaxis)


def _fill(ax, plane, values, **look):
    edges = plane.x.edges, plane.y.edges
    ax.pcolormesh(*edges, values, zorder=0, rasterized=values.size > 5_000, **look)
