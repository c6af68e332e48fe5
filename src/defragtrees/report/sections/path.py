"""The lists from one rule up: what more or fewer rules would bring."""

import functools
from dataclasses import dataclass

from defragtrees._path import PathPoint, measure_path
from defragtrees._utils.formatting import plural
from defragtrees.plots.measures import trade_off_picture
from defragtrees.plots.picture import Axis
from defragtrees.report.markup import table
from defragtrees.report.wording import (
    error_text,
    fidelity_text,
    percent,
    sentence,
    shown_error_text,
)

__all__ = ["TradeOff", "error_axis", "measure", "write"]

OTHER_LIST = (
    " The rules above are none of these lists: they were found on other rows or in "
    "another way."
)


@dataclass(frozen=True)
class TradeOff:
    """The lists, measured."""

    points: tuple[PathPoint, ...]
    chosen: int | None  # place of the list that stands out
    shown: int | None  # place of the rules of the report
    ensemble_error: float
    is_given: bool  # whether the path came with its measures
    is_against_y: bool


def measure(summary):
    """The given path, or the simplifier's on the rows of the report; None without."""
    rows, given = summary.rows, summary.rule_path
    if given is not None:
        points = given.points
    else:
        lists = list(getattr(summary.simplifier, "path_", {}).values())
        if lists and summary.rules not in lists:
            lists.append(summary.rules)
            lists.sort(key=lambda rules: (rules.n_rules, rules.total_conditions))
        on = rows.matrix, rows.expected, rows.answers, rows.weight
        points = measure_path(lists, *on)
    if not points:
        return None
    places = (i for i, point in enumerate(points) if point.rules == summary.rules)
    shown = next(places, None)
    if given is not None:
        error = float(given.ensemble_error)
        return TradeOff(points, given.chosen, shown, error, True, given.is_against_y)
    error = summary.outcome.error(rows.expected, rows.answers, rows.weight)
    return TradeOff(points, shown, shown, error, False, rows.y is not None)


def write(page):
    """Error against size, as a picture and as a table."""
    trade_off = measure(page.summary)
    if trade_off is None:
        return []
    outcome = page.summary.outcome
    kind = sentence(outcome.error_name)
    against = "" if trade_off.is_against_y else ", here against the ensemble,"
    where = (
        "on rows held out when the path was made"
        if trade_off.is_given
        else "on the rows of this report"
    )
    tell = functools.partial(shown_error_text, outcome=outcome)
    picture = trade_off_picture(trade_off, error_axis(outcome), tell)
    return [
        "<p>Each further rule must earn its place. These are the best lists found of "
        "each size, and what they would cost or bring."
        f"{OTHER_LIST if trade_off.shown is None else ''}</p>",
        page.figure(
            "path",
            picture,
            "Error against number of rules",
            f"{kind}{against} against number of rules, {where}. Bars are one standard "
            "error; the dashed line is the ensemble itself.",
        ),
        table(
            ["Size", "Conditions", kind, "Fidelity", "Coverage", "Note"],
            [_cells(i, trade_off, outcome) for i in range(len(trade_off.points))],
            f"Lists by size, {where}",
            numeric=(1, 2, 3, 4),
            kind="bars",
        ),
    ]


def error_axis(outcome):
    """The axis of errors, from zero."""
    is_share = bool(outcome.n_classes)
    return Axis(outcome.error_name, is_share=is_share, starts_at_zero=True)


def _cells(i, trade_off, outcome):
    point = trade_off.points[i]
    marks = (("chosen", trade_off.chosen), ("shown here", trade_off.shown))
    return [
        plural(point.n_rules, "rule"),
        f"{point.rules.total_conditions}",
        error_text(point.error, outcome, point.standard_error),
        fidelity_text(point.fidelity),
        percent(point.coverage),
        ", ".join(words for words, place in marks if place == i),
    ]
