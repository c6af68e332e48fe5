"""Plots of findings, a row each: segments, drift checks over time, stability."""

from typing import TYPE_CHECKING, Any

import numpy as np

from defragtrees._utils.formatting import plural
from defragtrees.plots import style
from defragtrees.segments.found import UNITS, Segments

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = 9.5  # of the text, in points
SEGMENT, MEASURE = 280, 240  # widths of the texts beside a row, in points
LINE = 0.18  # inches per line of text
SEGMENT_GAP, MEASURE_GAP = 0.22, 0.3  # between two rows, in inches
MOST = 12  # measures shown, those that drifted first
HALF = 0.36  # of a measure's room above and below its training value
LONGEST = 90.0  # width of the name of a check, in points


def segments(found: Segments, ax: "Axes | None" = None) -> "Axes":
    """Plot the mean loss of each segment with its interval, beside its conditions.

    The area of a mark is in proportion to the number of rows; the dashed line is the
    mean of the rows in no segment.

    Parameters
    ----------
    found : Segments
    ax : matplotlib Axes, optional

    Examples
    --------
    >>> import numpy as np
    >>> from defragtrees import find_segments
    >>> X = np.random.default_rng(0).random((1000, 2))
    >>> found = find_segments(X, (X[:, 0] > 0.8) * 1.0, loss_name="error")
    >>> segments(found).get_xlabel()
    'error'
    """
    texts = [
        style.wrap(f"{k}. {one.rule.text()} ({one.n_rows:,} rows)", SEGMENT, SIZE)
        for k, one in enumerate(found, start=1)
    ]
    ax, places, _ = _rows_of(texts, ax, SEGMENT_GAP, 1.0)
    orange, unit = style.COLOURS[1], UNITS[found.unit]
    for y, one in zip(places, found, strict=True):
        ax.plot(one.interval, [y, y], color=orange, lw=2)
        ax.scatter([one.mean], [y], s=20 + 400 * one.share, color=orange, zorder=3)
    ax.axvline(found.rest, color=style.GREY, ls="--", lw=1)
    side = "left" if found.direction == "high" else "right"
    text = f" rest: {unit.number(found.rest)} "
    ax.text(found.rest, 0, text, fontsize=SIZE, ha=side, va="bottom")
    if not len(found):
        ax.text(0.5, 0.5, "no segment", transform=ax.transAxes, ha="center")
    ax.xaxis.set_major_formatter(lambda value, _: unit.number(value))
    ax.set_xlabel(style.plain(f"{found.loss_name}{unit.heading}"))
    return ax


def history(checks: Any, ax: "Axes | None" = None) -> "Axes":
    """Plot what drifted in a history of checks, and since when.

    There is a line for every rule, column or other measure that ever drifted, in the
    order in which it began, and below its name the check since which most checks have
    found drift. It shows how far each check is from the training rows, the dashed line;
    of a distribution, by how much the share that changed most did. A large dot is
    drift.

    Parameters
    ----------
    checks : History
        As `defragtrees.monitoring.read_history` returns it.
    ax : matplotlib Axes, optional

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from defragtrees import plots
    >>> from defragtrees.baselines import DistilledTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> rules = DistilledTreeClassifier(max_rules=3, random_state=0).fit(X, y).rules_
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for week in range(4):
    ...         found = rules.check(X + week)
    ...         checks = found.append_to(f"{folder}/checks.jsonl", label=f"week {week}")
    >>> plots.history(checks).get_xlabel()
    'check'
    """
    if not len(checks):
        raise ValueError(
            "A history without checks cannot be plotted. Check rows first."
        )
    names = [record.name for record in checks]
    shown = list(checks.moved.values())[:MOST]
    texts = [_texts(findings, names) for findings in shown]
    left_out = len(checks.moved) - len(shown)
    if left_out:
        texts.append([f"and {left_out} more"])
    ax, middles, heights = _rows_of(texts, ax, MEASURE_GAP, 1.4)
    for middle, height, findings in zip(middles, heights, shown, strict=False):
        _draw(ax, middle, HALF * height, findings)
    if not shown:
        ax.text(0.5, 0.5, f"no drift in {plural(len(names), 'check')}", ha="center",
                va="top", transform=ax.transAxes, fontsize=SIZE)  # fmt: skip
    ax.set_xlim(-0.5, len(names) - 0.5)
    _name_checks(ax, names)
    ax.set_xlabel("check")
    levels = {record.check.level for record in checks}
    level = f" (adjusted p <= {levels.pop():g})" if len(levels) == 1 else ""
    handles = [
        ax.plot([], [], color=style.COLOURS[1], marker="o", ls="")[0],
        ax.plot([], [], color=style.GREY, ls="--", lw=1)[0],
    ]
    style.legend_above(ax, handles, [f"drift{level}", "training rows"])
    return ax


def stability(found: Any, ax: "Axes | None" = None) -> "Axes":
    """Plot in how many fits each rule is found again, and each column is used.

    Parameters
    ----------
    found : RuleStability
        As `Simplifier.stability` returns it.
    ax : matplotlib Axes, optional

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from defragtrees import plots, simplify
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(X, y)
    >>> simple = simplify(tree, X, y, max_rules=3, random_state=0)
    >>> plots.stability(simple.stability(X, y, n=2)).get_xlabel()
    'fits to half of the rows'
    """
    rules = found.rules
    texts = [
        style.wrap(f"{k}. {rules._view.rule_text(rule)}", SEGMENT, SIZE)
        for k, rule in enumerate(rules, start=1)
    ]
    columns = dict(list(found.columns.items())[:MOST])
    texts += [style.wrap(name, SEGMENT, SIZE) for name in columns]
    ax, middles, _ = _rows_of(texts, ax, SEGMENT_GAP, 1.2)
    n_rules = len(found.returns)
    shown = (
        (middles[:n_rules], found.returns, "rule found again"),
        (middles[n_rules:], [*columns.values()], "column used"),
    )
    for k, (places, counts, label) in enumerate(shown):
        ax.barh(places, counts, height=0.14, color=style.COLOURS[k], label=label)
    ax.set_xlim(0, found.n_resamples)
    style.ticks_at_integers(ax.xaxis)
    ax.set_xlabel("fits to half of the rows")
    style.legend_above(ax)
    return ax


def _rows_of(texts, ax, gap, height):
    """Axes with the lines of each text on the left; middles and heights of the rows.

    A new figure is `height` inches higher than the rows.
    """
    heights = np.array([LINE * len(lines) + gap for lines in texts])
    ax = style.axes_or_new(ax, (7.5, height + sum(heights.tolist())))
    middles = np.cumsum(heights) - heights / 2
    labels = ["\n".join(lines) for lines in texts]
    ax.set_yticks(middles, labels=labels, fontsize=SIZE, multialignment="left")
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(max(heights.sum(), gap), 0)
    ax.spines["left"].set_visible(False)
    return ax, middles, heights


def _texts(findings, names):
    """What a measure is, and since when most checks have found drift, in lines."""
    is_moved = np.array([one is not None and one.is_moved for one in findings])
    last = np.flatnonzero(is_moved)[-1]
    # Small drift is not found by every check, and one alarm may be false.
    steps = np.where(is_moved[last::-1], 1, -1)
    place = np.cumsum(steps)[::-1].argmax()
    first = findings[place]
    return [
        *style.wrap(first.measure, MEASURE, SIZE),
        *style.wrap(
            f"{names[place]}: {first.now_text}, was {first.then_text}", MEASURE, SIZE
        ),
    ]


def _draw(ax, middle, half, findings):
    """The line of one measure: the change since training, as high as there is room."""
    places = np.array([k for k, one in enumerate(findings) if one is not None])
    tested = [one for one in findings if one is not None]
    change = np.array([one.now - one.then for one in tested])
    if tested[0].kind in ("column", "target"):
        change = np.abs(change)  # the share that changed most is not always the same
    largest = np.abs(change).max()
    height = middle - half * change / (largest or 1.0)  # the axis points down
    is_moved = np.array([one.is_moved for one in tested])
    ax.axhline(middle, color=style.GREY, ls="--", lw=0.8, zorder=1)
    ax.plot(places, height, color=style.COLOURS[0], lw=1, marker=".", ms=4, zorder=2)
    size = 6 if len(findings) <= 30 else 4
    ax.plot(places[is_moved], height[is_moved], color=style.COLOURS[1], marker="o",
            ls="", ms=size, zorder=3)  # fmt: skip


def _name_checks(ax, names):
    """Name the checks below the axis; upright, and not all, where there is no room."""
    names = style.distinct(names, LONGEST, SIZE)
    style.lay_out(ax)
    room = style.size_in_points(ax)[0] / len(names)
    is_wide = max(style.width(name, SIZE) for name in names) + SIZE > room
    step = int(np.ceil(1.5 * SIZE / room)) if is_wide else 1
    # The last check is always named.
    places = range(len(names) - 1, -1, -step)
    labels = [names[k] for k in places]
    ax.set_xticks(places, labels=labels, fontsize=SIZE, rotation=90 * is_wide)
