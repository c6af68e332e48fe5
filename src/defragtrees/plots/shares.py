"""coverage and overlap: in how many rows rules hold, and how many rules in a row."""

import math
from typing import TYPE_CHECKING

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.types import Column, Rows
from defragtrees.metrics.rulesets import covering_count
from defragtrees.plots import style
from defragtrees.plots.rows import encoded
from defragtrees.rules.model import RuleModel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["coverage", "overlap"]

LABEL = 250.0  # width of the words of a rule, in points
_OFFSET = {"textcoords": "offset points"}


def coverage(
    rules: RuleModel,
    X: Rows | None = None,
    y: Column | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """For each rule the share of rows in which it holds, and of those that it answers.

    Parameters
    ----------
    rules : RuleModel
    X : array-like or data frame of shape (n_samples, n_features), optional
        By default the shares of the training rows, which the rules carry.
    y : array-like of shape (n_samples,), optional
        With it errors are shown too: the share of answers that are wrong, or the mean
        squared error. Without X it must not be given: the rules carry their errors.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), 1.0)
    >>> rules = RuleList((warm,), Rule((), 0.0), ("degrees",), "regression")
    >>> ax = coverage(rules, [[21.0], [25.0], [15.0], [27.0]])
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['1. degrees > 20: 1', '2. otherwise: 0']
    >>> [text.get_text() for text in ax.texts]
    ['75.0 %', '25.0 %']
    """
    holds, answers, errors = _measured(rules, X, y)
    ax = style.axes_or_new(ax, (8.0, 1.1 + 0.3 * rules.n_rules))
    places = np.arange(rules.n_rules)
    blue, orange = style.COLOURS[:2]
    edge = {"edgecolor": style.GREY, "linewidth": 0.6}
    ax.barh(places, holds, 0.75, color=style.PALE, label="holds", **edge)
    if answers is not None:
        ax.barh(places, answers, 0.45, color=blue, label="answers")
        if rules.outcome.n_classes and errors is not None:
            wrong = np.nan_to_num(answers * errors)
            looks = {"color": orange, "hatch": "////", "edgecolor": "white", "lw": 0}
            ax.barh(places, wrong, 0.45, left=answers - wrong, label="wrong", **looks)
    shown = holds if answers is None else answers
    beside = {"transform": ax.get_yaxis_transform(), "va": "center", "fontsize": 8}
    for k, text in enumerate(_share_texts(rules, shown, errors)):
        ax.text(1.02, k, text, **beside)
    ax.set_yticks(places, labels=_rule_labels(rules), fontsize=8)
    ax.set(
        xlim=(0, min(1.0, 1.05 * np.nanmax(holds))),
        ylim=(rules.n_rules - 0.4, -0.6),
        xlabel="share of rows",
    )
    ax.spines[["top", "right"]].set_visible(False)
    _legend_above(ax)
    return ax


def _legend_above(ax):
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1.0)}
    ax.legend(frameon=False, fontsize=8, ncols=3, borderaxespad=0.2, **place)


def _measured(rules, X, y):
    """Shares of rows per rule, in which it holds and that it answers, and its errors.

    There are no answered rows where several rules have a say, and no errors without
    labels.
    """
    matrix = encoded(rules, X, y)
    if matrix is None:
        return _remembered(rules)
    held = rules._covers(matrix).mean(axis=0)
    if not rules.is_list:
        return held, None, None
    answering = rules._apply(rules._covers(matrix))
    answered = np.bincount(answering, minlength=rules.n_rules) / len(matrix)
    # The otherwise holds everywhere, which says nothing.
    held[-1] = answered[-1]
    if y is None:
        return held, answered, None
    y, predicted = np.asarray(y), rules._predict(rules._covers(matrix))
    errors = [
        rules.outcome.error(y[here], predicted[here]) if here.any() else math.nan
        for here in (answering == k for k in range(rules.n_rules))
    ]
    return held, answered, np.array(errors)


def _remembered(rules):
    held = np.array([rule.coverage for rule in rules])
    answered = np.array([rule.answered for rule in rules])
    errors = np.array([rule.error for rule in rules])
    if np.isnan(held).all():
        raise ValueError(
            "These rules do not know their share of rows. Pass X to measure it."
        )
    if not rules.is_list:
        return held, None, None
    held[-1] = answered[-1]
    return held, answered, None if np.isnan(errors).all() else errors


def _share_texts(rules, shown, errors):
    for k, share in enumerate(shown):
        text = render.share(share)
        if errors is not None and not math.isnan(errors[k]):
            text += f", {rules.outcome.error_phrase(errors[k])}"
        elif rules.decision == "average":
            weight = [*rules][k].weight
            text += f", weight {render.rounded(weight, 3)}"
        yield text


def _rule_labels(rules):
    """Number, conditions and answer; the conditions are cut where they are long."""
    labels = []
    for row, rule in zip(rules.rows(), rules, strict=True):
        answer = style.cut(rules._short_then_text(rule), LABEL / 2, 8)
        asked = row["if"]
        if asked == "otherwise":
            asked = rules.default_text
        room = LABEL - style.width(f"{row['rule']}. : {answer}", 8)
        asked = style.cut(asked, room, 8)
        labels.append(style.plain(f"{row['rule']}. {asked}: {answer}"))
    return labels


def overlap(rules: RuleModel, X: Rows, ax: "Axes | None" = None) -> "Axes":
    """How many rules hold in a row: the share of rows for each number.

    The "otherwise" is left out. Of a classification, rows in which rules with
    different answers hold are hatched: in these the order of the rules, or their
    weight, decides.

    Parameters
    ----------
    rules : RuleModel
    X : array-like or data frame of shape (n_samples, n_features)
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), "yes")
    >>> rules = RuleList((warm,), Rule((), "no"), ("degrees",), "classification",
    ...                  ("no", "yes"))
    >>> overlap(rules, [[21.0], [19.0]]).get_xlabel()
    'rules that hold in a row'
    """
    matrix = encoded(rules, X)
    held = rules._covers(matrix)
    counts, mean = held[:, :-1].sum(axis=1), covering_count(rules, held)
    if rules.decision == "partition":
        # Its last rule is a leaf like the others, written as the otherwise.
        counts = np.ones(len(matrix), int)
    differs = _differs(rules, held[:, :-1])
    ax = style.axes_or_new(ax, (5.4, 3.4))
    places = np.arange(counts.max() + 1)
    alike = np.bincount(counts[~differs], minlength=len(places)) / len(matrix)
    apart = np.bincount(counts[differs], minlength=len(places)) / len(matrix)
    blue, orange = style.COLOURS[:2]
    is_class = bool(rules.outcome.n_classes)
    ax.bar(places, alike, 0.7, color=blue, label="one answer" if is_class else "rows")
    if is_class:
        looks = {"color": orange, "hatch": "////", "edgecolor": "white", "lw": 0}
        ax.bar(places, apart, 0.7, bottom=alike, label="different answers", **looks)
    ax.axvline(mean, color=style.DARK, ls="--", lw=1, label=f"mean {mean:.2f}")
    ends = alike + apart
    looks = {"ha": "center", "va": "center", "fontsize": 8}
    looks["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
    for place in np.flatnonzero(ends) if len(places) <= 12 else ():
        text = render.share(ends[place])
        ax.annotate(text, (place, ends[place]), (0, 8), **looks, **_OFFSET)
    ax.set(xlabel="rules that hold in a row", ylabel="share of rows")
    ax.set_ylim(0, 1.12 * ends.max())
    ax.set_xlim(-0.6, max(counts.max(), 1) + 0.6)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.spines[["top", "right"]].set_visible(False)
    _legend_above(ax)
    return ax


def _differs(rules, held):
    """Whether rules with different classes hold in a row."""
    if not rules.outcome.n_classes or not len(rules.rules):
        return np.zeros(len(held), bool)
    answers = np.array([rule.prediction for rule in rules.rules])
    is_given = [held[:, answers == label].any(axis=1) for label in rules.classes]
    return np.sum(is_given, axis=0) > 1
