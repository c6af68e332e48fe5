"""Plots of measures: calibration, gains, risks, trade-off, comparison."""

import math
import operator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from defragtrees import metrics
from defragtrees._utils import formatting as render
from defragtrees._utils.formatting import true_minus
from defragtrees._utils.types import Column, Rows
from defragtrees.outcomes import make_outcome
from defragtrees.plots import style
from defragtrees.plots.picture import Axis, Curve, Level, Picture, draw_picture
from defragtrees.plots.rules import rule_look, rule_rows, then_text
from defragtrees.rules.model import RuleModel
from defragtrees.rules.text import calibrated_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARGIN = 0.06  # room around the points of a calibration, as a share of the axis
MOST_POINTS = 40  # of a curve of gains that has markers
RARE = 0.5  # if all rates are below, the scale is shortened
# Names of methods in legends.
METHODS = {
    "defrag": "defragtrees",
    "born_again": "born-again tree",
    "intrees": "inTrees",
    "node_harvest": "node harvest",
    "distilled": "distilled tree",
    "paper": "mixture (FAB)",
}


def calibration(
    rules: RuleModel,
    X: Rows,
    y: Column,
    sample_weight: Column | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Plot the observed rate of each rule against its estimated probability.

    A rule whose 95% interval contains the dashed line is calibrated. For two classes
    the rate is that of `pos_label` or the second, for more that of the predicted class;
    in regression it is the mean. A point of a scorecard is a group of rows with similar
    totals.

    Parameters
    ----------
    rules : RuleModel
    X : array-like or data frame of shape (n_samples, n_features)
        Preferably rows that the rules were not fitted to.
    y : array-like of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,), optional
    ax : matplotlib Axes, optional

    Examples
    --------
    >>> X, y = [[21.0, 3.0], [31.0, 3.0], [15.0, 3.0]], ["yes", "no", "no"]
    >>> calibration(rules, X, y).get_xlabel()
    'estimated probability of yes'
    """
    rows = metrics.calibration(rules, X, y, sample_weight)
    picture = calibration_picture(rows, rules)
    has_classes = rules.outcome.link == "softmax"
    ax = style.axes_or_new(ax, (7.0 if has_classes else 4.8, 4.6))
    legend = style.legend if has_classes else style.legend_above
    legend(ax, *draw_picture(picture, ax, style.PALETTE))
    curves = [mark for mark in picture.marks if mark.numbers]
    style.number_points(
        ax,
        [dot for c in curves for dot in zip(c.x, c.y, c.numbers, strict=True)],
        [(x, *ends) for c in curves for x, ends in zip(c.x, c.reach, strict=True)],
    )
    return ax


def calibration_picture(rows, rules, write=render.rounded):
    """Picture of `metrics.calibration`; `write` turns a rate or number into text."""
    outcome = rules.outcome
    rows = [row for row in rows if not math.isnan(row["observed"])]
    # The same limits for both axes, with room around the points.
    values = [row[name] for row in rows for name in ("estimated", "low", "high")]
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = MARGIN * (high - low or 1.0)
    low, high = low - room, high + room
    word = outcome.view.mean_word
    titles = f"estimated {word}", f"observed {word}"
    numbers = style.class_numbers(rules)
    number = numbers[outcome.positive_class] if outcome.is_binary else 0
    name = rules._view.total_name if rules._form.is_sum else "rule"
    groups = {f"{name}s": (number, "o", rows)}
    if outcome.has_probabilities:
        low, high = max(low, -MARGIN / 2), min(high, 1 + MARGIN / 2)
        whose = ""
        if outcome.is_binary:
            whose = f" of {outcome.view.prediction(outcome.positive_class)}"
        titles = f"estimated probability{whose}", f"observed rate{whose}"
    if outcome.link == "softmax":
        groups = {
            outcome.view.prediction(label): (
                numbers[label],
                style.marker(i),
                [row for row in rows if row["class"] == label],
            )
            for i, label in enumerate(outcome.labels)
        }
    ends = [low, high]
    marks = [Curve("perfect calibration", ends, ends, "quiet", marker="", line="--")]
    for name, (colour, marker, some) in groups.items():
        if not some:
            continue
        curve = Curve(
            label=name,
            x=[row["estimated"] for row in some],
            y=[row["observed"] for row in some],
            colour=f"g{colour}",
            marker=marker,
            line="",
            reach=[(row["low"], row["high"]) for row in some],
            texts=[
                f"{' '.join(calibrated_unit(row, rules))}\n".lstrip()
                + f"estimated {write(row['estimated'])}\n"
                f"observed {write(row['observed'])} "
                f"({write(row['low'])} to {write(row['high'])})"
                for row in some
            ],
            numbers=[row["rule"] for row in some if "rule" in row] or None,
        )
        marks.append(curve)
    look = {"limits": tuple(ends), "is_share": outcome.has_probabilities}
    return Picture(*[Axis(title, **look) for title in titles], tuple(marks), height=420)


def gains(
    rules: Any,
    X: Rows,
    y: Column,
    sample_weight: Column | None = None,
    ax: "Axes | None" = None,
    *,
    measure: str = "captured",
    pos_label: Any = None,
) -> "Axes":
    """Plot what contacting the likeliest rows brings against the share contacted.

    Rows are contacted in the order of their predicted probability; see
    `metrics.gains`. Only the points are measured: rows between two of them have the
    same probability. The numbers beside the points of a rule list are those of the
    rules whose rows are added.

    Parameters
    ----------
    rules : RuleModel or Simplifier
        For classes, with probabilities.
    X : array-like or data frame of shape (n_samples, n_features)
        Preferably rows that the rules were not fitted to.
    y : array-like of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,), optional
    ax : matplotlib Axes, optional
    measure : {"captured", "precision", "lift"}, default="captured"
        The share of the positive rows that is captured, the share of the contacted rows
        that is positive, or this share relative to the share in all rows.
    pos_label : class label, optional
        As for `metrics.gains`.

    Examples
    --------
    >>> gains(rules, [[21.0, 3.0], [15.0, 3.0]], ["yes", "no"]).get_ylabel()
    'share of yes captured'
    """
    rules = getattr(rules, "rules_", rules)
    steps = metrics.gains(rules, X, y, sample_weight, pos_label=pos_label)
    whose = steps.label
    titles = {
        "captured": f"share of {whose} captured",
        "precision": f"share of contacted rows that are {whose}",
        "lift": f"rate of {whose} relative to all rows",
    }
    if measure not in titles:
        raise ValueError(
            f"measure must be one of {', '.join(titles)}; got {measure!r}."
        )
    rate, ends = steps[-1]["precision"], [0.0, 1.0]
    positive = rules.outcome.positive_class if pos_label is None else pos_label
    number = style.class_numbers(rules)[positive]
    marker = "o" if len(steps) <= MOST_POINTS else ""
    colour = f"g{number}"
    shares = [step["share"] for step in steps]
    values = [step[measure] for step in steps]
    if measure == "captured":
        best = [0.0, rate, 1.0], [0.0, 1.0, 1.0]
        curves = [Curve("rules", [0.0, *shares], [0.0, *values], colour, marker)]
    else:
        # All positive rows first: their share falls as one over the rows contacted.
        share = [rate + k / 60 * (1.0 - rate) for k in range(61)]
        top = 1.0 if measure == "precision" else 1.0 / rate
        best = [0.0, *share], [top, *(top * rate / one for one in share)]
        # Between two steps it is no straight line either.
        between = sorted({*(k / 200 for k in range(1, 201)), *shares})
        between = [x for x in between if x >= shares[0]]
        line = [steps.at(share=x)[measure] for x in between]
        curves = [
            Curve("rules", between, line, colour, ""),
            Curve("measured", shares, values, colour, marker, ""),
        ]
    by_chance = {"captured": ends, "precision": [rate, rate], "lift": [1.0, 1.0]}
    marks = (
        Curve("best possible", *best, "quiet", marker="", line=":"),
        Curve("random order", ends, by_chance[measure], "quiet", marker="", line="--"),
        *curves,
    )
    x = Axis("share of rows contacted", limits=(0.0, 1.02), is_share=True)
    is_share = measure != "lift"
    top = 1.02 if is_share else 1.05 * max(1.0, *values)
    y_axis = Axis(titles[measure], limits=(0.0, top), is_share=is_share)
    picture = Picture(x, y_axis, marks)
    ax = style.axes_or_new(ax, (5.0, 4.6))
    style.legend_above(ax, *draw_picture(picture, ax, style.PALETTE))
    dots = list(zip(shares, values, strict=True))
    texts = [", ".join(map(str, step["rules"])) for step in steps]
    named = [(*dot, text) for dot, text in zip(dots, texts, strict=True) if text]
    style.number_points(ax, named, [(x, y, y) for x, y in dots], around=-style.AROUND)
    return ax


def risks(rules: RuleModel, ax: "Axes | None" = None) -> "Axes":
    """Plot the estimate of each rule with its interval next to its conditions.

    For two classes it is the probability of `pos_label`, or of the second class, with
    its 95% interval; the dashed line is the rate of all rows. For more classes it is
    the probability of the predicted class; in regression the prediction with the 10%
    and 90% quantiles of the rows.

    Parameters
    ----------
    rules : RuleModel
    ax : matplotlib Axes, optional

    Examples
    --------
    >>> [text.get_text() for text in risks(rules).texts]
    ['30.0%: no', '80.0%: yes', '10.0%: no']
    """
    outcome = rules.outcome
    marks = [_risk(rules, rule) for rule in rules]
    ax, places = rule_rows(rules, ax, [text for *_, text in marks])
    for place, rule, (value, interval, _) in zip(places, rules, marks, strict=True):
        look = rule_look(rules, rule) | {"zorder": 3}
        if interval is not None:
            ax.plot(interval, [place, place], lw=2.2, **look | {"marker": ""})
        ax.plot([value], [place], ms=8, clip_on=False, **look)
    ax.grid(axis="x", color=style.PALE, lw=0.8)
    ax.set_axisbelow(True)
    ax.spines["left"].set_visible(False)
    if outcome.statistic == "rates":
        ends = [value for value, *_ in marks]
        ends += [end for _, interval, _ in marks for end in interval or ()]
        _scale_rates(ax, rules, ends)
    else:
        ax.set_xlabel("prediction, with the middle 80% of the rows")
        style.number_ticks(ax.xaxis)
    return ax


def _risk(rules, rule):
    """Value and interval (or None) of a rule, and the text beside them."""
    outcome = rules.outcome
    known = outcome.estimate(rule)
    interval, count = known["interval"], render.count(rule.n_rows)
    if outcome.statistic == "mean":
        rows = "" if math.isnan(rule.n_rows) else f" ({count} rows)"
        points = f": {then_text(rules, rule)}" if rules._form.is_sum else ""
        text = f"{outcome.view.prediction(rule.prediction, 3)}{rows}{points}"
        return rule.prediction, interval, text
    value, basis = known["estimate"], ""
    if interval is not None:
        basis = f" ({count} rows)"
    elif not math.isnan(known["model_mean"]):
        value, basis = known["model_mean"], " (model)"
    else:
        value = known["probability"]
    share = "" if math.isnan(value) else f"{render.share(value)}{basis}"
    then = then_text(rules, rule) or outcome.view.prediction(rule.prediction)
    return value, interval, ": ".join(filter(None, (share, then)))


def _scale_rates(ax, rules, ends):
    """Scale from 0 to 100%, or shorter for rare classes, with the overall rate."""
    outcome = rules.outcome
    most = max((end for end in ends if not math.isnan(end)), default=1.0)
    most = 1.0 if most > RARE else 1.15 * most or 1.0
    ax.set_xlim(-0.01 * most, 1.01 * most)
    style.percent_ticks(ax.xaxis)
    whose = f"the {'likeliest' if rules.form == 'points' else 'predicted'} class"
    rates = None
    if outcome.is_binary:
        whose = outcome.view.prediction(outcome.positive_class)
        rates = rules._form.training_rates
    if rates is not None:
        rate = rates[outcome.positive_index]
        ax.axvline(rate, color=style.GREY, lw=1.0, ls="--")
        words, where = f"all rows: {render.share(rate)}", ax.get_xaxis_transform()
        look = {"ha": "center", "va": "bottom", "fontsize": 9, "color": style.GREY}
        ax.text(rate, 1.01, words, transform=where, **look)
    has_rates = any(rule.rates is not None for rule in rules)
    ending = ", with 95% interval" if has_rates else ""
    style.axis_title(ax.xaxis, f"probability of {whose}{ending}")


def trade_off(path: Any, ax: "Axes | None" = None) -> "Axes":
    """Plot the held-out error of the rule lists of a path against their length.

    Parameters
    ----------
    path : RulePath
    ax : matplotlib Axes, optional

    Examples
    --------
    >>> import numpy as np
    >>> from defragtrees import simplify_path
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> path = simplify_path(lambda X: X[:, 0], X, max_rules=3, random_state=0)
    >>> trade_off(path).get_xlabel()
    'number of rules'
    """
    ax = style.axes_or_new(ax)
    picture = trade_off_picture(path, _held_out(path.points[0].rules.outcome))
    style.legend_above(ax, *draw_picture(picture, ax, style.PALETTE))
    return ax


def _held_out(outcome):
    """Axis of held-out errors."""
    return Axis(f"held-out {outcome.error_name}", is_share=outcome.error_is_share)


def trade_off_picture(path, y, error_text=None):
    """Picture of error against number of rules; `error_text` labels the points."""
    points, outcome = path.points, path.points[0].rules.outcome
    n_rules = [point.n_rules for point in points]
    errors = [outcome.shown_error(point.error) for point in points]
    spread = [outcome.shown_deviation(p.error, p.standard_error) for p in points]
    texts = error_text and [
        f"{point.n_rules} rules\n{y.title} {error_text(error)}"
        f"{'' if math.isnan(apart) else f' ± {error_text(apart)}'}\n"
        f"agreement {true_minus(f'{point.fidelity:.3f}')}"
        for point, error, apart in zip(points, errors, spread, strict=True)
    ]
    marks = [Curve("rules", n_rules, errors, "g0", spread=spread, texts=texts)]
    if path.chosen is not None:
        at = [n_rules[path.chosen]], [errors[path.chosen]]
        marks.append(Curve("chosen", *at, "accent", marker="ring"))
    model_error = outcome.shown_error(path.model_error)
    text = f"model: {y.title} {error_text(model_error)}" if error_text else ""
    size = Axis("number of rules", is_count=True)
    return Picture(size, y, (*marks, Level("model", model_error, text)))


def comparison(found: Any, ax: "Axes | None" = None) -> "Axes":
    """Plot error against number of rules, one curve per method.

    The dashed line is the error of the model.

    Parameters
    ----------
    found : Comparison
    ax : matplotlib Axes, optional

    Examples
    --------
    >>> import numpy as np
    >>> from defragtrees import compare
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> found = compare(lambda X: X[:, 0], X, X[:, 0], methods="defrag", budgets=3)
    >>> comparison(found).get_xlabel()
    'number of rules'
    """
    ax, outcome = style.axes_or_new(ax), make_outcome(found.task)
    marks: list[Any] = []
    done = [row for row in found.rows() if row["failure"] is None]
    done = [row for row in done if not math.isnan(row["n_rules"])]
    for i, name in enumerate(dict.fromkeys(row["method"] for row in done)):
        rows = [row for row in done if row["method"] == name]
        rows.sort(key=operator.itemgetter("n_rules", "error"))
        curve = Curve(
            label=METHODS.get(name, name),
            x=[row["n_rules"] for row in rows],
            y=[outcome.shown_error(row["error"]) for row in rows],
            colour=f"g{i % len(style.COLOURS)}",
            marker=style.marker(i),
        )
        if found.n_splits > 1:
            spread = [
                outcome.shown_deviation(row["error"], row["error_std"]) for row in rows
            ]
            curve = replace(curve, spread=spread)
        marks.append(curve)
    marks.append(Level("model", outcome.shown_error(found.model_error)))
    size = Axis("number of rules", is_count=True)
    picture = Picture(size, _held_out(outcome), tuple(marks))
    style.legend(ax, *draw_picture(picture, ax, style.PALETTE))
    return ax
