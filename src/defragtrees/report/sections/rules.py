"""Sections on the rules: cards, edit mode, totals of points."""

from dataclasses import asdict

from defragtrees.report.edit_data import can_edit, edit_data
from defragtrees.report.pictures import histogram
from defragtrees.report.summary import RARE
from defragtrees.report.text import (
    Table,
    amount,
    bar,
    count,
    percent,
    range_bar,
    rate_text,
    reported_text,
    sentence,
)

SPACE = "\N{NO-BREAK SPACE}"
MOST_UNPREDICTED = 5  # maximum number of classes listed
# Words before the prediction of a rule with and without conditions.
WORDS = {
    "first": ("then", "predict"),
    "mean": ("then", "predict"),
    "sum": ("add", "start with"),
}


def rules(page):
    """The rules as cards, in their order."""
    summary = page.summary
    cards = [_card(card, summary) for card in summary.cards]
    missing = summary.rules.unpredicted_classes
    has_conditions = any(card.parts for card in summary.cards)
    return {
        "how_to_read": summary.rules._reading_text(),
        "total": summary.rules._total_text(),
        "has_estimates": any(card.estimate for card in summary.cards),
        "has_intervals": any(card["interval"] for card in cards),
        "picture_words": _picture_words(summary) if has_conditions else "",
        "is_in_order": summary.rules.is_ordered,
        "cards": cards,
        "unpredicted": [
            (summary.outcome.answer_text(label), _having(summary.rows, label))
            for label in missing[:MOST_UNPREDICTED]
        ],
        "n_more_unpredicted": len(missing) - MOST_UNPREDICTED,
    }


def _card(card, summary):
    rules, k = summary.rules, card.number - 1
    with_conditions, without = WORDS[rules.combination]
    return asdict(card) | {
        "lead": _lead(card, rules),
        "word": with_conditions if card.parts else without,
        "conditions": [
            (*parts, histogram(summary, k, condition))
            for parts, condition in zip(
                card.parts, list(rules)[k].conditions, strict=True
            )
        ],
        "estimate": _estimate(card, summary),
        "interval": _interval(summary, k),
        "share_text": (rate_text if card.share < RARE else percent)(card.share),
    }


def _lead(card, rules):
    """The word before the conditions, which shows the order."""
    is_last = card.number == rules.n_rules
    if is_last and (rules.default_matches_all or card.number > 1):
        return rules.default_text.capitalize()
    if is_last:
        return "Always"
    if not rules.is_ordered or card.number == 1:
        return "If"
    return "Else if"


def _estimate(card, summary):
    """The estimate of a rule with its evidence, and the mean of the ensemble."""
    if not card.estimate:
        return None
    # A number and its per cent sign stay together.
    text = sentence(card.estimate).replace(" %", f"{SPACE}%")
    rate, bracket, rest = text.partition(" (")
    ensemble = None
    if card.ensemble_estimate is not None and "ensemble" not in card.estimate:
        ensemble = reported_text(card.ensemble_estimate, summary.outcome)
    return {
        "rate": rate,
        "rest": bracket + rest,
        "ensemble": ensemble,
        "alone": card.alone.replace(" %", f"{SPACE}%"),
    }


def _interval(summary, k):
    """The estimate and its interval as a bar from 0 to 100 %, and the base rate."""
    rules, rule = summary.rules, list(summary.rules)[k]
    if summary.outcome.statistic != "rates" or rule.interval is None:
        return None
    if rules._shown_weight(rule) is not None:
        return None
    place = summary.outcome.rate_index(rule)
    base = rules.training_rates
    estimate = summary.outcome.estimate(rule)
    low, high = estimate["interval"]
    mark = None if base is None else base[place]
    return range_bar(low, estimate["estimate"], high, mark)


def _picture_words(summary):
    """How to read the histograms at conditions."""
    outcome = summary.outcome
    first = "The small chart beside a condition shows the distribution of the feature"
    ending = "The accepted values are shaded; the line is the threshold."
    if outcome.statistic == "mean":
        by = "the ensemble’s prediction" if summary.rows.y is None else summary.target
        return f"{first}, coloured by the mean of {by}. {ending}"
    above = "the predicted class"
    if outcome.is_binary:
        above = f"“{outcome.answer_text(outcome.positive_class)}”"
    if summary.rows.y is None:
        above += " (as predicted by the ensemble)"
    return (
        f"{first}: rows of {above} above the line, all others below, on separate "
        f"scales. {ending}"
    )


def _having(rows, label):
    """Number and share of the rows of a class that no rule predicts."""
    if rows.y is None:
        return None
    members = rows.y == label
    return {"n_rows": int(members.sum()), "share": rows.share(members)}


def edit(page):
    """The edit mode, which scripts run."""
    summary, rules = page.summary, page.summary.rules
    if not page.is_live or not rules.rules or summary.model is None:
        return None
    if not can_edit(rules):
        return {"can_edit": False}
    page.edit = edit_data(summary)
    offered = rules.editable
    deeds = ["drop a rule", "move a threshold", "remove a condition"]
    deeds += ["change a prediction"] if offered["prediction"] else []
    deeds += ["change points"] if offered["points"] else []
    deeds += ["move a rule up or down"] if offered["move"] else []
    return {
        "can_edit": True,
        "deeds": f"{', '.join(deeds[:-1]).capitalize()} or {deeds[-1]}.",
        "n_rows": page.edit["n_rows"],
        "n_all": len(summary.rows),
        "reason": rules._not_editable_text(),
    }


def totals(page):
    """Estimated and observed values by total of points."""
    summary = page.summary
    if not summary.totals:
        return None
    outcome, lines = summary.outcome, []
    for line in summary.totals:
        low, high = amount(line["low"]), amount(line["high"])
        share = line["n_rows"] / len(summary.rows)
        cells = [low if low == high else f"{low} to {high}", count(line["n_rows"])]
        cells.append(bar(share, percent(share)))
        shown = [line[key] for key in ("estimated", "observed") if key in line]
        lines.append(cells + [reported_text(value, outcome) for value in shown])
    header = ["Total", "Rows", "Share", "Estimated"]
    header += ["Observed"] if summary.rows.y is not None else []
    label = outcome.answer_text(outcome.labels[1]) if outcome.is_binary else None
    return {
        "label": label,
        "totals": Table(
            header,
            lines,
            "Estimates by total of points",
            numeric=range(1, len(header)),
            kind="bars",
        ),
    }
