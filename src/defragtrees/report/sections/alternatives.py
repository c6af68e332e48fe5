"""What else could be: lists of other sizes, other methods, rules from other rows."""

import functools
import math

from defragtrees._utils.formatting import plural
from defragtrees.plots.measures import comparison_picture, trade_off_picture
from defragtrees.plots.picture import Axis
from defragtrees.report.text import (
    Html,
    Table,
    badge,
    bar,
    error_text,
    fidelity_text,
    name,
    numbered,
    percent,
    sentence,
    shown_error_text,
)
from defragtrees.rules.text import MAYBE_TRAINED


def path(page):
    """Error against size, as a picture and as a table."""
    trade_off, outcome = page.summary.trade_off, page.summary.outcome
    if trade_off is None:
        return None
    kind = sentence(outcome.error_name)
    where = "on the rows of this report"
    if trade_off.is_given:
        where = "on rows held out when the path was made"
    marks = (("chosen", trade_off.chosen), ("shown here", trade_off.shown))
    lines = [
        [
            plural(point.n_rules, "rule"),
            point.rules.n_conditions,
            error_text(point.error, outcome, point.standard_error),
            fidelity_text(point.fidelity),
            percent(point.coverage),
            ", ".join(words for words, place in marks if place == i),
        ]
        for i, point in enumerate(trade_off.points)
    ]
    tell = functools.partial(shown_error_text, outcome=outcome)
    picture = trade_off_picture(trade_off, _error_axis(outcome), tell)
    return {
        "trade_off": trade_off,
        "kind": kind,
        "where": where,
        "picture": page.draw("path", picture),
        "lists": Table(
            ["Size", "Conditions", kind, "Fidelity", "Coverage", "Note"],
            lines,
            f"Lists by size, {where}",
            numeric=(1, 2, 3, 4),
            kind="bars",
        ),
    }


def _error_axis(outcome):
    is_share = outcome.error_is_share
    return Axis(outcome.error_name, is_share=is_share, starts_at_zero=True)


def comparison(page):
    """Error against size, method by method."""
    compared, outcome = page.summary.comparison, page.summary.outcome
    if compared is None:
        return None
    kind = sentence(outcome.error_name)
    lines, failures = [], []
    for row in compared.rows():
        budget = "" if row["budget"] is None else f", at most {row['budget']}"
        method = Html(f"{name(row['method'])}{budget}")
        if row["failure"] is not None:
            failures.append((method, row["failure"]))
            lines.append([method, *["–"] * 5, "failed"])
            continue
        deviation = row["error_std"] if compared.n_splits > 1 else None
        if row.get("is_fitted"):
            method = Html(f"{method} (fitted before, {MAYBE_TRAINED})")
        lines.append(
            [
                method,
                _known(row["n_rules"], "{:.4g}".format),
                _known(row["mean_conditions"], "{:.1f}".format),
                error_text(row["error"], outcome, deviation),
                fidelity_text(row["fidelity"]),
                _known(row["coverage"], percent),
                _known(row["seconds"], "{:.2f} s".format),
            ]
        )
    tell = functools.partial(shown_error_text, outcome=outcome)
    picture = comparison_picture(compared, _error_axis(outcome), tell)
    return {
        "n_splits": compared.n_splits,
        "ensemble_error": error_text(compared.ensemble_error, outcome),
        "kind": kind,
        "picture": page.draw("comparison", picture),
        "methods": Table(
            [
                "Method",
                "Rules",
                "Conditions per rule",
                kind,
                "Fidelity",
                "Coverage",
                "Time",
            ],
            lines,
            "Methods compared",
            numeric=range(1, 7),
            kind="bars",
        ),
        "failures": failures,
    }


def _known(value, write):
    return "–" if math.isnan(value) else write(value)


def stability(page):
    """What of the rules came back when they were fitted to other rows."""
    summary, measured = page.summary, page.summary.stability
    if measured is None:
        return None
    n_refits = measured.n_resamples
    lines = [
        [card.name, badge(card), bar(n_back / n_refits, f"{n_back} of {n_refits}")]
        for card, n_back in zip(summary.cards, measured.returns, strict=True)
    ]
    rare = summary.rarely_back
    return {
        "rare": sentence(numbered(rare)) if rare else "",
        "share": len(rare) / len(measured.returns),
        "rules": Table(
            ["Rule", "Says", "Came back"],
            lines,
            "Refits in which a rule with the same answer has most rows in common",
            kind="bars",
        ),
    }
