"""The rules as cards, the place where they can be changed, and totals of points."""

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
MOST_UNANSWERED = 5
# Before what a rule predicts: with conditions, and without.
WORDS = {
    "first": ("then", "the answer is"),
    "mean": ("then", "the answer is"),
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
        "has_told": any(card.told for card in summary.cards),
        "has_intervals": any(card["interval"] for card in cards),
        "picture_words": _picture_words(summary) if has_conditions else "",
        "is_in_order": summary.rules.is_ordered,
        "cards": cards,
        "unanswered": [
            (summary.outcome.answer_text(label), _having(summary.rows, label))
            for label in missing[:MOST_UNANSWERED]
        ],
        "n_more_unanswered": len(missing) - MOST_UNANSWERED,
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
        "told": _told(card, summary),
        "interval": _interval(summary, k),
        "share_text": (rate_text if card.share < RARE else percent)(card.share),
    }


def _lead(card, rules):
    """The word that makes the order visible."""
    is_last = card.number == rules.n_rules
    if is_last and (rules.default_matches_all or card.number > 1):
        return rules.default_text.capitalize()
    if is_last:
        return "Always"
    if not rules.is_ordered or card.number == 1:
        return "If"
    return "Else if"


def _told(card, summary):
    """What was counted in the rows of a rule, and what the ensemble says of them."""
    if not card.told:
        return None
    # A number and its sign stay together.
    rate, bracket, rest = sentence(card.told).replace(" %", f"{SPACE}%").partition(" (")
    ensemble = None
    if card.ensemble_told is not None and "ensemble" not in card.told:
        ensemble = reported_text(card.ensemble_told, summary.outcome)
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
    told = summary.outcome.estimate(rule)
    low, high = told["interval"]
    mark = None if base is None else base[place]
    return range_bar(low, told["estimate"], high, mark)


def _picture_words(summary):
    """How to read the histograms at conditions."""
    outcome = summary.outcome
    by = "what the ensemble says" if summary.rows.y is None else summary.target
    ending = "What the condition asks for is shaded, its cut is the line."
    if outcome.statistic == "mean":
        return (
            f"The small picture at a condition has the rows here by that feature, "
            f"coloured by the mean of {by}. {ending}"
        )
    above = "the answer of the rule is the class"
    if outcome.is_binary:
        above = f"{by} is {outcome.answer_text(outcome.positive_class)}"
    return (
        f"The small picture at a condition has the rows here by that feature: above "
        f"the line those of which {above}, below it the others, each side by its own "
        f"scale. {ending}"
    )


def _having(rows, label):
    """How many of the rows have a class that no rule predicts."""
    if rows.y is None:
        return None
    members = rows.y == label
    return {"n_rows": int(members.sum()), "share": rows.share(members)}


def edit(page):
    """What can be changed in the page; the scripts do it."""
    summary, rules = page.summary, page.summary.rules
    if not page.is_live or not rules.rules:
        return None
    if not can_edit(rules):
        return {"can_edit": False}
    page.edit = edit_data(summary)
    offered = rules.editable
    deeds = ["drop a rule", "move a cut", "remove a condition"]
    deeds += ["change an answer"] if offered["prediction"] else []
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
    """From a total of points to a probability or a number."""
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
    header = ["Total", "Rows", "Share", "Told"]
    header += ["Observed"] if summary.rows.y is not None else []
    label = outcome.answer_text(outcome.labels[1]) if outcome.is_binary else None
    return {
        "label": label,
        "totals": Table(
            header,
            lines,
            "What totals of points stand for",
            numeric=range(1, len(header)),
            kind="bars",
        ),
    }
