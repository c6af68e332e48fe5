"""Sections on alternatives: other sizes, other methods, stability."""

import math
from dataclasses import replace
from functools import partial

from defragtrees._utils.formatting import plural
from defragtrees.plots.measures import METHODS, comparison_picture, trade_off_picture
from defragtrees.plots.picture import Axis
from defragtrees.report.summary import is_rarely_found
from defragtrees.report.text import (
    Html,
    Table,
    agreement_text,
    amount,
    badge,
    bar,
    error_text,
    name,
    numbered,
    sentence,
    shown_error_text,
)
from defragtrees.rules.text import MAYBE_TRAINED


def path(page):
    """Error by number of rules, as a picture and as a table."""
    trade_off, outcome = page.summary.trade_off, page.summary.outcome
    if trade_off is None:
        return None
    has_costs = page.summary.rules.costs is not None and all(
        "expected_cost" in point.measures for point in trade_off.points
    )
    heads = ["Mean cost"] if has_costs else []
    heads.append(sentence(outcome.error_name))
    where = "on the rows of this report"
    if page.summary.rule_path is not None:
        where = "on the held-out rows of the path"
    shown = page.summary.shown_size
    marks = (("chosen", trade_off.chosen), ("shown here", shown))
    lines = [
        [
            plural(point.n_rules, "rule"),
            point.rules.n_conditions,
            *([amount(point.measures["expected_cost"])] if has_costs else []),
            error_text(point.error, outcome, point.standard_error),
            agreement_text(point.fidelity, outcome),
            ", ".join(mark for mark, place in marks if place == i),
        ]
        for i, point in enumerate(trade_off.points)
    ]
    # Sizes of which nothing differs from the one above, and that are not marked.
    same = [
        i for i in range(1, len(lines)) if lines[i][2:] == [*lines[i - 1][2:-1], ""]
    ]
    axis, write = _error_axis(outcome), partial(shown_error_text, outcome=outcome)
    if has_costs:  # whose standard errors are mostly unknown
        points = tuple(
            replace(
                point,
                error=point.measures["expected_cost"],
                standard_error=point.measure_errors.get("expected_cost", math.nan),
            )
            for point in trade_off.points
        )
        cost = trade_off.model_measures.get("expected_cost", math.nan)
        trade_off = replace(trade_off, points=points, model_error=cost)
        axis, write = Axis("mean cost per row", starts_at_zero=True), amount
    picture = trade_off_picture(trade_off, axis, write)
    return {
        "is_shown": shown is not None,
        "is_against_y": trade_off.is_against_y,
        "kind": heads[0],
        "n_same": len(same),
        "where": where,
        "picture": page.draw("path", picture),
        "lists": Table(
            ["Size", "Conditions", *heads, "Agreement", "Note"],
            [line for i, line in enumerate(lines) if i not in same],
            f"Rules by size, {where}",
            numeric=range(1, 3 + len(heads)),
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
            lines.append([method, *["–"] * 4, "failed"])
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
                agreement_text(row["fidelity"], outcome),
                _known(row["seconds"], "{:.2f} s".format),
            ]
        )
    write = partial(shown_error_text, outcome=outcome)
    picture = comparison_picture(compared, _error_axis(outcome), write)
    return {
        "n_splits": compared.n_splits,
        "model_error": error_text(compared.model_error, outcome),
        "kind": kind,
        "picture": page.draw("comparison", picture),
        "methods": Table(
            ["Method", "Rules", "Conditions per rule", kind, "Agreement", "Time"],
            lines,
            "Methods compared",
            numeric=range(1, 6),
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
    n_rules = len(measured.returns)
    rare = [k + 1 for k in range(n_rules) if is_rarely_found(k, measured)]
    return {
        "rare": sentence(numbered(rare)) if rare else "",
        "verb": "is" if len(rare) == 1 else "are",
        "share": len(rare) / n_rules,
        "rules": Table(
            ["Rule", "Predicts", "Found again"],
            lines,
            "Refits with a rule that has the same prediction and mostly the same rows",
        ),
    }
