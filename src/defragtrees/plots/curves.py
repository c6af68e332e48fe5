"""Curves: error against number of rules, and the bound over the iterations."""

import itertools
import operator
from math import nan
from typing import TYPE_CHECKING, Any

from defragtrees._utils import formatting as render
from defragtrees.outcomes import make_outcome
from defragtrees.plots import style
from defragtrees.plots.drawing import draw_picture
from defragtrees.plots.picture import Axis, Curve, Level, Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "comparison",
    "comparison_picture",
    "convergence",
    "trade_off",
    "trade_off_picture",
]


HELD_OUT = "on rows held out"


def trade_off(path: Any, ax: "Axes | None" = None) -> "Axes":
    """Held-out error of the lists of a path against their number of rules.

    Parameters
    ----------
    path : RulePath
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees import simplify_path
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    >>> path = simplify_path(forest, X, y, max_rules=3, random_state=0)
    >>> trade_off(path).get_xlabel()
    'number of rules'
    """
    ax = style.axes_or_new(ax)
    picture = trade_off_picture(path, Axis(f"error {HELD_OUT}"))
    style.plain_legend(ax, *draw_picture(picture, ax, style.PALETTE))
    return ax


def trade_off_picture(path, y, error_text=None):
    """Error against number of rules, along one path.

    Parameters
    ----------
    path : RulePath, or what has its `points`, `chosen` and `ensemble_error`
    y : Axis
    error_text : callable, optional
        From an error as it is shown to its text, if anything is to be told of the
        points.
    """
    points, outcome = path.points, path.points[0].rules.outcome
    n_rules = [point.n_rules for point in points]
    errors = [outcome.shown_error(point.error) for point in points]
    spread = [
        outcome.shown_deviation(point.error, point.standard_error) for point in points
    ]
    texts = error_text and [
        f"{point.n_rules} rules<br>error {error_text(error)} ± "
        f"{error_text(apart)}<br>{_fidelity(point.fidelity)}"
        for point, error, apart in zip(points, errors, spread, strict=True)
    ]
    marks = [Curve("rules", n_rules, errors, "g0", spread=spread, texts=texts)]
    if path.chosen is not None:
        at = [n_rules[path.chosen]], [errors[path.chosen]]
        marks.append(Curve("chosen", *at, "accent", marker="ring"))
    ensemble_error = outcome.shown_error(path.ensemble_error)
    return _against_size(marks, ensemble_error, y, error_text)


def comparison(found: Any, ax: "Axes | None" = None) -> "Axes":
    """Error against number of rules, a colour for each method, and the ensemble's line.

    Parameters
    ----------
    found : Comparison
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees import compare
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    >>> table = compare(forest, X, y, methods=["distilled"], budgets=[3])
    >>> comparison(table).get_xlabel()
    'number of rules'
    """
    ax = style.axes_or_new(ax)
    y = Axis(f"{make_outcome(found.task).error_name} {HELD_OUT}")
    picture = comparison_picture(found, y)
    style.legend(ax, *draw_picture(picture, ax, style.PALETTE))
    return ax


def comparison_picture(compared, y, error_text=None):
    """Error against number of rules, a curve for each method.

    Parameters
    ----------
    compared : Comparison
    y : Axis
    error_text : callable, optional
        From an error as it is shown to its text, if anything is to be told of the
        points.
    """
    outcome = make_outcome(compared.task)
    rows = [
        row
        | {
            "error": outcome.shown_error(row["error"]),
            "error_std": outcome.shown_deviation(row["error"], row["error_std"]),
        }
        for row in compared.rows()
        if row["failure"] is None
    ]
    marks = []
    for i, name in enumerate(dict.fromkeys(row["method"] for row in rows)):
        of_method = [row for row in rows if row["method"] == name]
        of_method.sort(key=operator.itemgetter("n_rules", "error"))
        texts = error_text and [
            f"{row['n_rules']:.3g} rules<br>error {error_text(row['error'])}<br>"
            f"{_fidelity(row['fidelity'])}"
            for row in of_method
        ]
        n_rules, errors, spread = (
            [row[key] for row in of_method] for key in ("n_rules", "error", "error_std")
        )
        curve = Curve(
            label=name,
            x=n_rules,
            y=errors,
            colour=f"g{i % len(style.COLOURS)}",
            marker=style.marker(i),
            line=style.line_style(i),
            spread=spread if compared.n_splits > 1 else None,
            title=name,
            texts=texts,
        )
        marks.append(curve)
    ensemble_error = outcome.shown_error(compared.ensemble_error)
    return _against_size(marks, ensemble_error, y, error_text)


def _against_size(marks, ensemble_error, y, error_text):
    x = Axis("number of rules", is_count=True)
    text = f"ensemble: error {error_text(ensemble_error)}" if error_text else ""
    return Picture(x, y, (*marks, Level("ensemble", ensemble_error, text)))


def _fidelity(value):
    return f"fidelity {value:.3f}".replace("-", "\N{MINUS SIGN}")


def convergence(
    found: Any, ax: "Axes | None" = None, *, kept: int | None = None
) -> "Axes":
    """The bound and the number of components of every restart, over the iterations.

    The bound belongs to the left side, the number of components to the right one,
    which is an Axes of its own, the last of the figure. The kept restart stands out.
    The bound of the first iteration, far below all others, is left out. Where restarts
    were screened on a sample, those are shown that went on to the most rows.

    Parameters
    ----------
    found : DefragClassifier, DefragRegressor or sequence of Step
        An estimator fitted with `refine=False`, or its `history_`.
    ax : matplotlib Axes, optional
    kept : int, optional
        Number of the restart to emphasise, from 0. By default the one that the
        estimator kept, and for a bare history, or where the estimator does not say,
        the one whose bound is largest at its end.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees import simplify
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    >>> mixture = simplify(forest, X, y, refine=False, n_restarts=2, random_state=0)
    >>> convergence(mixture).get_ylabel()
    'bound, in nats'
    """
    restarts = _restarts(found)
    if kept is None:
        kept, label = _kept(found, restarts)
    elif kept in restarts:
        label = f"restart {kept + 1}"
    else:
        raise ValueError(f"kept must be one of {len(restarts)} restarts; got {kept!r}.")
    ax = style.axes_or_new(ax, (6.4, 4.0))
    right = ax.twinx()
    blue, orange = style.COLOURS[:2]
    first = _first_shown(restarts)
    # The kept one last, so that it lies on top.
    for restart in sorted(restarts, key=lambda r: r == kept):
        steps = restarts[restart]
        iterations = [step.iteration for step in steps]
        bounds = [step.objective if step.iteration >= first else nan for step in steps]
        counts = [step.n_components for step in steps]
        if restart == kept:
            bold = {"lw": 2.2, "zorder": 5}
            ax.plot(
                iterations, bounds, "-", color=blue, label=f"bound, {label}", **bold
            )
            right.step(iterations, counts, ls="--", where="post", color=orange, **bold)
            ax.plot([], [], "--", color=orange, lw=2.2, label=f"components, {label}")
        else:
            ax.plot(iterations, bounds, color=style.tint(blue, 0.45), lw=0.8)
            faint = {"color": style.tint(orange, 0.35), "lw": 0.8}
            right.step(iterations, counts, ls="--", where="post", **faint)
    _finish(ax, right, restarts)
    return ax


def _finish(ax, right, restarts):
    # The curves of the bound lie above those of the components, and show them.
    ax.set_zorder(right.get_zorder() + 1)
    ax.patch.set_visible(False)
    if len(restarts) > 1:
        others = render.plural(len(restarts) - 1, "other restart")
        ax.plot([], [], color="0.7", lw=1, label=others)
    steps = [step for some in restarts.values() for step in some]
    # The bound has the upper half and the components the lower one.
    first = _first_shown(restarts)
    low, high = _ends([step.objective for step in steps if step.iteration >= first])
    ax.set(xlabel="iteration", ylabel="bound, in nats")
    ax.set_ylim(low - 1.0 * (high - low), high + 0.06 * (high - low))
    highest = max(step.n_components for step in steps)
    right.set(ylabel="number of components", ylim=(0, 2.2 * highest))
    for axis in (ax.xaxis, right.yaxis):
        axis.get_major_locator().set_params(integer=True)
    right.set_yticks([tick for tick in right.get_yticks() if tick <= highest])
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1.0), "borderaxespad": 0.2}
    ax.legend(frameon=False, fontsize=8, ncols=3, **place)


def _first_shown(restarts):
    """The second iteration if there is one: the bound of the first is far below."""
    return 2 if all(len(steps) > 1 for steps in restarts.values()) else 1


def _ends(values):
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _restarts(fitted):
    """The steps of each restart, in order."""
    history = getattr(fitted, "history_", fitted)
    try:
        steps = sorted(history, key=operator.attrgetter("restart", "iteration"))
    except (TypeError, AttributeError):
        raise TypeError(
            "convergence needs a DefragClassifier or DefragRegressor that was fitted "
            f"with refine=False, or its history_; got {type(fitted).__name__}."
        ) from None
    if not steps:
        raise ValueError("The history must have at least one step; it is empty.")
    # Bounds over different rows have nothing to do with each other.
    last = max(step.rung for step in steps)
    steps = [step for step in steps if step.rung == last]
    by_restart = itertools.groupby(steps, key=operator.attrgetter("restart"))
    return {restart: list(some) for restart, some in by_restart}


def _kept(fitted, restarts):
    """Number of the restart to emphasise, and what it is called."""
    kept = getattr(fitted, "kept_restart_", None)
    if kept is not None:
        return kept, "kept restart"
    n_iter = getattr(fitted, "n_iter_", None)
    n_components = getattr(getattr(fitted, "posterior_", None), "n_components", None)
    fitting = [
        restart
        for restart, steps in restarts.items()
        if (len(steps), steps[-1].n_components) == (n_iter, n_components)
    ]
    if len(fitting) == 1:
        return fitting[0], "kept restart"
    best = max(restarts, key=lambda restart: restarts[restart][-1].objective)
    return best, "largest bound"
