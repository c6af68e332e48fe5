"""Pictures of measures: calibration, risks, trade-off, comparison, convergence."""

import itertools
import math
import operator
from typing import TYPE_CHECKING, Any

from defragtrees import metrics
from defragtrees._utils import formatting as render
from defragtrees._utils.types import Column, Rows
from defragtrees.outcomes import make_outcome
from defragtrees.plots import style
from defragtrees.plots.picture import Axis, Curve, Level, Picture, draw_picture
from defragtrees.rules.model import RuleModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["calibration", "comparison", "convergence", "risks", "trade_off"]

MARGIN = 0.06  # room around the points of a calibration, as a share of the axis
WORDS = 270.0  # width of the text of a rule beside its risk, in points
SIZE = 9.0  # of its letters
LINE = 0.18  # height of a line of them, in inches
ROOM = 0.2  # between two rules, in inches
GAP = 10.0  # between text and scale, in points
HINTED = 1.06  # how much wider letters are on a screen than on paper
RARE = 0.5  # where all rates are below, the scale ends sooner
HELD_OUT = "on rows held out"


def calibration(
    rules: RuleModel,
    X: Rows,
    y: Column,
    sample_weight: Column | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """The probability that each rule gives against the observed rate, with intervals.

    A rule whose 95 % interval reaches the dashed line is calibrated. For two classes it
    is the probability of `pos_label` or the second, for more that of the class that the
    rule predicts; for numbers it is the mean.

    Parameters
    ----------
    rules : RuleModel
    X : array-like or data frame of shape (n_samples, n_features)
        Best rows that the rules have not seen.
    y : array-like of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,), optional
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), "go", distribution=(0.75, 0.25))
    >>> rules = RuleList((warm,), Rule((), "stay", distribution=(0.5, 0.5)),
    ...                 ("degrees",), "classification", ("go", "stay"))
    >>> X, y = [[21.0], [25.0], [15.0]], ["go", "stay", "stay"]
    >>> calibration(rules, X, y).get_xlabel()
    'told probability of stay'
    """
    rows = metrics.calibration(rules, X, y, sample_weight)
    ax = style.axes_or_new(ax, (4.8, 4.6))
    picture = calibration_picture(rows, rules.outcome)
    drawn = draw_picture(picture, ax, style.PALETTE)
    style.legend(ax, *drawn, loc="upper left")
    ax.set(xlabel=style.plain(picture.x.title), ylabel=style.plain(picture.y.title))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def calibration_picture(rows, outcome, tell=render.rounded):
    """Picture of what `metrics.calibration` returns; `tell` writes a rate or number."""
    rows = [row for row in rows if not math.isnan(row["observed"])]
    # The same limits for both axes, with room around the points.
    values = [row[name] for row in rows for name in ("estimated", "low", "high")]
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = MARGIN * (high - low or 1.0)
    low, high = low - room, high + room
    titles, groups = ("told mean", "observed mean"), {"rules": rows}
    if outcome.has_probabilities:
        low, high = max(low, -MARGIN / 2), min(high, 1 + MARGIN / 2)
        whose = ""
        if outcome.is_binary:
            whose = f" of {outcome.answer_text(outcome.positive_class)}"
        titles = f"told probability{whose}", f"observed rate{whose}"
    if outcome.target_kind == "classes":
        groups = {}
        for row in rows:
            groups.setdefault(outcome.answer_text(row["class"]), []).append(row)
    ends = [low, high]
    marks = [Curve("observed as told", ends, ends, "quiet", marker="", line="--")]
    for i, name in enumerate(sorted(groups) if rows else ()):
        some = groups[name]
        curve = Curve(
            label=name,
            x=[row["estimated"] for row in some],
            y=[row["observed"] for row in some],
            colour=f"g{i % len(style.COLOURS)}",
            marker=style.marker(i),
            line="",
            reach=[(row["low"], row["high"]) for row in some],
            texts=[
                f"rule {row['rule']}<br>estimated {tell(row['estimated'])}<br>observed "
                f"{tell(row['observed'])} ({tell(row['low'])} to {tell(row['high'])})"
                for row in some
            ],
            numbers=[row["rule"] for row in some],
        )
        marks.append(curve)
    look = {"limits": tuple(ends), "is_share": outcome.has_probabilities}
    return Picture(*[Axis(title, **look) for title in titles], tuple(marks), height=420)


def risks(rules: RuleModel, ax: "Axes | None" = None) -> "Axes":
    """The rate of each rule with its interval, beside its text; it fits a slide.

    Of two classes it is the estimated rate of `pos_label`, or of the second, with its
    95 % interval; the dashed line is the rate in all rows. Of more classes it is that
    of the predicted class; of numbers the prediction, and between which numbers eight
    of ten rows are.

    Parameters
    ----------
    rules : RuleModel
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), "go", (0.2, 0.8), n_rows=50,
    ...             rates=(0.2, 0.8))
    >>> cold = Rule((), "stay", (0.9, 0.1), n_rows=50, rates=(0.9, 0.1))
    >>> rules = RuleList((warm,), cold, ("degrees",), "classification", ("stay", "go"))
    >>> ax = risks(rules)
    >>> [text.get_text() for text in ax.texts]
    ['go: 80.0 % (40 of 50)', 'stay: 10.0 % are go (5 of 50)', 'all rows: 45.0 %']
    """
    outcome = rules.outcome
    marks = [_risk(outcome, rule) for rule in rules]
    words = [
        style.wrap(f"{k}. {rule.text()}", WORDS, SIZE)
        for k, rule in enumerate(rules, start=1)
    ]
    heights = [LINE * len(lines) + ROOM for lines in words]
    ax = style.axes_or_new(ax, (9.0, 0.8 + sum(heights)))
    places, top = [], 0.0
    for height in heights:
        places.append(top + height / 2)
        top += height
    beside: dict[str, Any] = {"va": "center", "fontsize": SIZE}
    beside["transform"] = ax.get_yaxis_transform()
    for place, rule, mark in zip(places, rules, marks, strict=True):
        value, interval, text = mark
        i = outcome.labels.index(rule.prediction) if outcome.labels else 0
        look = {"color": style.colour(i), "zorder": 3}
        if interval is not None:
            ax.plot(interval, [place, place], lw=2.2, solid_capstyle="butt", **look)
        ax.plot([value], [place], style.marker(i), ms=8, clip_on=False, **look)
        ax.text(1.03, place, style.plain(text), **beside)
    texts = ["\n".join(lines) for lines in words]
    ax.set_yticks(places, labels=texts, fontsize=SIZE, ha="left")
    wide = max(style.width(line, SIZE) for lines in words for line in lines)
    ax.tick_params(axis="y", length=0, pad=HINTED * wide + GAP)
    ax.set(ylim=(top, 0.0), xlabel="answer, and where 80 % of the rows are")
    ax.grid(axis="x", color=style.PALE, lw=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    if outcome.statistic == "rates":
        ends = [value for value, *_ in marks]
        ends += [end for _, interval, _ in marks for end in interval or ()]
        _scale_rates(ax, rules, ends)
    return ax


def _risk(outcome, rule):
    """The value of a rule, its interval or None, and the text beside them."""
    told = outcome.estimate(rule)
    interval, count = told.get("interval"), render.count(rule.n_rows)
    if outcome.statistic == "mean":
        rows = "" if math.isnan(rule.n_rows) else f" ({count} rows)"
        text = f"{outcome.short_text(rule.prediction)}{rows}"
        return rule.prediction, interval, text
    value, basis = told["estimate"], ""
    if interval is not None:
        basis = f" ({render.count(told['rate'] * rule.n_rows)} of {count})"
    elif not math.isnan(told["ensemble_mean"]):
        value, basis = told["ensemble_mean"], " by the ensemble"
    else:
        value = told["probability"]
    is_other = told["class"] != rule.prediction
    whose = f" are {outcome.answer_text(told['class'])}" if is_other else ""
    share = "" if math.isnan(value) else f": {render.share(value)}{whose}{basis}"
    return value, interval, f"{outcome.answer_text(rule.prediction)}{share}"


def _scale_rates(ax, rules, ends):
    """From 0 to 100 %, or as far as rare classes need, with the rate of all rows."""
    outcome = rules.outcome
    most = max((end for end in ends if not math.isnan(end)), default=1.0)
    most = 1.0 if most > RARE else 1.15 * most or 1.0
    ax.set_xlim(-0.01 * most, 1.01 * most)
    percent = style.part("ticker").PercentFormatter(1.0, symbol=" %")
    ax.xaxis.set_major_formatter(percent)
    whose, rates = "the class that is answered", None
    if outcome.is_binary:
        whose = style.plain(outcome.answer_text(outcome.positive_class))
        rates = rules.training_rates
    if rates is not None:
        rate = rates[outcome.positive_index]
        ax.axvline(rate, color=style.GREY, lw=1.0, ls="--")
        words, where = f"all rows: {render.share(rate)}", ax.get_xaxis_transform()
        look = {"ha": "center", "va": "bottom", "fontsize": 8, "color": style.GREY}
        ax.text(rate, 1.01, words, transform=where, **look)
    has_rates = any(rule.rates is not None for rule in rules)
    ending = ", with 95 % interval" if has_rates else ""
    ax.set_xlabel(f"{'rate' if has_rates else 'probability'} of {whose}{ending}")


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
    """Error against number of rules along a path; `error_text` labels the points."""
    points, outcome = path.points, path.points[0].rules.outcome
    n_rules = [point.n_rules for point in points]
    errors = [outcome.shown_error(point.error) for point in points]
    spread = [outcome.shown_deviation(p.error, p.standard_error) for p in points]
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
    """Error against number of rules, a colour per method, and the ensemble's line.

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
    """Error against number of rules, a curve per method; see `trade_off_picture`."""
    outcome = make_outcome(compared.task)
    rows = [
        row
        | {
            "error": outcome.shown_error(row["error"]),
            "error_std": outcome.shown_deviation(row["error"], row["error_std"]),
        }
        for row in compared.rows()
        if row["failure"] is None and not math.isnan(row["n_rules"])
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
    found : FABRulesClassifier, FABRulesRegressor or sequence of Step
        A fitted estimator, or its `history_`.
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
    >>> from defragtrees import FABRulesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    >>> paper = FABRulesClassifier(forest, n_restarts=2, random_state=0).fit(X, y)
    >>> convergence(paper).get_ylabel()
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
    # The bound of the first iteration is far below.
    first = 2 if all(len(steps) > 1 for steps in restarts.values()) else 1
    # The kept one last, so that it lies on top.
    for restart in sorted(restarts, key=lambda r: r == kept):
        steps = restarts[restart]
        iterations = [step.iteration for step in steps]
        bounds = [
            step.objective if step.iteration >= first else math.nan for step in steps
        ]
        counts = [step.n_components for step in steps]
        if restart == kept:
            bold: dict[str, Any] = {"lw": 2.2, "zorder": 5}
            ax.plot(
                iterations, bounds, "-", color=blue, label=f"bound, {label}", **bold
            )
            right.step(iterations, counts, ls="--", where="post", color=orange, **bold)
            ax.plot([], [], "--", color=orange, lw=2.2, label=f"components, {label}")
        else:
            ax.plot(iterations, bounds, color=style.tint(blue, 0.45), lw=0.8)
            faint = {"color": style.tint(orange, 0.35), "lw": 0.8}
            right.step(iterations, counts, ls="--", where="post", **faint)
    # The curves of the bound lie above those of the components, and show them.
    ax.set_zorder(right.get_zorder() + 1)
    ax.patch.set_visible(False)
    if len(restarts) > 1:
        others = render.plural(len(restarts) - 1, "other restart")
        ax.plot([], [], color="0.7", lw=1, label=others)
    steps = [step for some in restarts.values() for step in some]
    # The bound has the upper half and the components the lower one.
    bounds = [step.objective for step in steps if step.iteration >= first]
    low, high = min(bounds), max(bounds)
    if low == high:
        low, high = low - 0.5, low + 0.5
    ax.set(xlabel="iteration", ylabel="bound, in nats")
    ax.set_ylim(low - 1.0 * (high - low), high + 0.06 * (high - low))
    highest = max(step.n_components for step in steps)
    right.set(ylabel="number of components", ylim=(0, 2.2 * highest))
    for axis in (ax.xaxis, right.yaxis):
        style.ticks_at_integers(axis)
    right.set_yticks([tick for tick in right.get_yticks() if tick <= highest])
    style.legend_above(ax)
    return ax


def _restarts(fitted):
    """The steps of each restart, in order."""
    history = getattr(fitted, "history_", fitted)
    try:
        steps = sorted(history, key=operator.attrgetter("restart", "iteration"))
    except (TypeError, AttributeError):
        raise TypeError(
            "convergence needs a fitted FABRulesClassifier or FABRulesRegressor, or "
            f"its history_; got {type(fitted).__name__}."
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
