"""Sections on alternatives: other sizes, other methods, stability."""

import functools
import math

from defragtrees._utils.formatting import plural
from defragtrees.plots.measures import (
    METHODS,
    comparison_picture,
    trade_off_picture,
)
from defragtrees.plots.picture import Axis
from defragtrees.report.text import (
    Html,
    Table,
    amount,
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
    """Error by number of rules, as a picture and as a table."""
    trade_off, outcome = page.summary.trade_off, page.summary.outcome
    if trade_off is None:
        return None
    kind = sentence(outcome.error_name)
    where = "on the rows of this report"
    if trade_off.is_given:
        where = "on the held-out rows of the path"
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
    write = functools.partial(shown_error_text, outcome=outcome)
    picture = trade_off_picture(trade_off, _error_axis(outcome), write)
    return {
        "trade_off": trade_off,
        "kind": kind,
        "where": where,
        "picture": page.draw("path", picture),
        "lists": Table(
            ["Size", "Conditions", kind, "Fidelity", "Coverage", "Note"],
            lines,
            f"Rule lists by size, {where}",
            numeric=(1, 2, 3, 4),
            kind="bars",
        ),
    }


def _error_axis(outcome):
    is_share = outcome.error_is_share
    return Axis(outcome.error_name, is_share=is_share, starts_at_zero=True)


def comparison(page):
    """Error by number of rules and method."""
    compared, outcome = page.summary.comparison, page.summary.outcome
    if compared is None:
        return None
    kind = sentence(outcome.error_name)
    lines, failures = [], []
    for row in compared.rows():
        budget = "" if row["budget"] is None else f", at most {row['budget']}"
        method = Html(f"{name(METHODS.get(row['method'], row['method']))}{budget}")
        if row["failure"] is not None:
            failures.append((method, row["failure"]))
            lines.append([method, *["–"] * 5, "failed"])
            continue
        deviation = row["error_std"] if compared.n_splits > 1 else None
        if row.get("is_fitted"):
            method = Html(f"{method} (already fitted, {MAYBE_TRAINED})")
        lines.append(
            [
                method,
                _known(row["n_rules"], amount),
                _known(row["mean_conditions"], "{:.1f}".format),
                error_text(row["error"], outcome, deviation),
                fidelity_text(row["fidelity"]),
                _known(row["coverage"], percent),
                _known(row["seconds"], "{:.2f} s".format),
            ]
        )
    write = functools.partial(shown_error_text, outcome=outcome)
    picture = comparison_picture(compared, _error_axis(outcome), write)
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
    """Number of refits in which each rule is found again."""
    summary, measured = page.summary, page.summary.stability
    if measured is None:
        return None
    n_refits = measured.n_resamples
    lines = [
        [
            card.name,
            badge(card.then, card.colour),
            bar(n_back / n_refits, f"{n_back} of {n_refits}"),
        ]
        for card, n_back in zip(summary.cards, measured.returns, strict=True)
    ]
    rare = summary.rarely_back
    return {
        "rare": sentence(numbered(rare)) if rare else "",
        "verb": "is" if len(rare) == 1 else "are",
        "share": len(rare) / len(measured.returns),
        "rules": Table(
            ["Rule", "Predicts", "Found again"],
            lines,
            "Refits with a rule that has the same prediction and mostly the same rows",
            kind="bars",
        ),
    }
