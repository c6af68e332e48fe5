"""risks: what each rule tells, with its interval, beside its words."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from defragtrees._utils import formatting as render
from defragtrees.plots import style
from defragtrees.rules.model import RuleModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["risks"]

WORDS = 270.0  # width of the words of a rule, in points
SIZE = 9.0  # of its letters
LINE = 0.18  # height of a line of them, in inches
ROOM = 0.2  # between two rules, in inches
GAP = 10.0  # between words and the scale, in points
HINTED = 1.06  # how much wider letters are on a screen than on paper
RARE = 0.5  # where all is below, the scale ends sooner


def risks(rules: RuleModel, ax: "Axes | None" = None) -> "Axes":
    """What each rule tells, with its interval, beside its words: one look for a slide.

    Of two classes it is the rate of `pos_label`, or of the second, in the training rows
    of each rule, with its 95 % interval; the dashed line is the rate in all of them.
    Of more classes it is the rate of the class that is answered; of numbers the answer,
    and between which numbers eight of ten rows are.

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
    marks = [_mark(rules, rule) for rule in rules]
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
    for place, mark in zip(places, marks, strict=True):
        _draw(ax, place, mark)
    texts = ["\n".join(lines) for lines in words]
    ax.set_yticks(places, labels=texts, fontsize=SIZE, ha="left")
    wide = max(style.width(line, SIZE) for lines in words for line in lines)
    ax.tick_params(axis="y", length=0, pad=HINTED * wide + GAP)
    ax.set(ylim=(top, 0.0), xlabel=_title(rules))
    _scale(ax, rules, marks)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax


@dataclass(frozen=True)
class _Mark:
    """What is drawn of one rule."""

    value: float
    interval: tuple[float, float] | None
    words: str
    colour: int  # number of the class that it answers


def _mark(rules, rule):
    outcome, told = rules.outcome, rules.outcome.told(rule)
    interval = told["interval"]
    if not outcome.n_classes:
        count = render.count(rule.n_rows)
        rows = "" if math.isnan(rule.n_rows) else f" ({count} rows)"
        text = f"{outcome.short_text(rule.prediction)}{rows}"
        return _Mark(rule.prediction, interval, text, 0)
    value, basis = told["rate"], ""
    if interval is not None:
        n_class, n_rows = render.count(value * rule.n_rows), render.count(rule.n_rows)
        basis = f" ({n_class} of {n_rows})"
    elif not math.isnan(told["ensemble_mean"]):
        value, basis = told["ensemble_mean"], " by the ensemble"
    else:
        value = told["probability"]
    is_other = told["class"] != rule.prediction
    whose = f" are {outcome.answer_text(told['class'])}" if is_other else ""
    share = "" if math.isnan(value) else f": {render.share(value)}{whose}{basis}"
    text = f"{outcome.answer_text(rule.prediction)}{share}"
    return _Mark(value, interval, text, outcome.labels.index(rule.prediction))


def _draw(ax, place, mark):
    """A point with its interval, and words at the right end."""
    look = {"color": style.colour(mark.colour), "zorder": 3}
    if mark.interval is not None:
        ax.plot(mark.interval, [place, place], lw=2.2, solid_capstyle="butt", **look)
    look["clip_on"] = False
    ax.plot([mark.value], [place], style.marker(mark.colour), ms=8, **look)
    ax.text(
        1.03,
        place,
        style.plain(mark.words),
        transform=ax.get_yaxis_transform(),
        va="center",
        fontsize=SIZE,
    )


def _scale(ax, rules, marks):
    """From 0 to 100 %, or as far as rare classes need, with the rate of all rows."""
    outcome = rules.outcome
    ax.grid(axis="x", color=style.PALE, lw=0.8)
    ax.set_axisbelow(True)
    if not outcome.n_classes:
        return
    ends = [end for mark in marks for end in (mark.value, *(mark.interval or ()))]
    most = max((end for end in ends if not math.isnan(end)), default=1.0)
    most = 1.0 if most > RARE else 1.15 * most or 1.0
    ax.set_xlim(-0.01 * most, 1.01 * most)
    ax.xaxis.set_major_formatter(
        style.part("ticker").PercentFormatter(1.0, symbol=" %")
    )
    rates = rules.training_rates if outcome.n_classes == 2 else None
    if rates is not None:
        rate = rates[outcome.told_number]
        ax.axvline(rate, color=style.GREY, lw=1.0, ls="--")
        words, where = f"all rows: {render.share(rate)}", ax.get_xaxis_transform()
        look = {"ha": "center", "va": "bottom", "fontsize": 8, "color": style.GREY}
        ax.text(rate, 1.01, words, transform=where, **look)


def _title(rules):
    outcome = rules.outcome
    if not outcome.n_classes:
        return "answer, and where 80 % of the rows are"
    has_rates = any(rule.rates is not None for rule in rules)
    whose = "the class that is answered"
    if outcome.n_classes == 2:
        whose = style.plain(outcome.answer_text(outcome.told_class))
    ending = ", with 95 % interval" if has_rates else ""
    return f"{'rate' if has_rates else 'probability'} of {whose}{ending}"
