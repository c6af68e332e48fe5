"""The rules as cards that show their order."""

from defragtrees.report.markup import breakable, isolated, section, text
from defragtrees.report.sections.said import answer_badge, rule_colour
from defragtrees.report.wording import amount, count, percent

__all__ = ["rules_section"]

HOW_TO_READ = {
    "first": "The rules are asked from the top. The first one that holds gives the "
    "answer, and those below it are not asked any more.",
    "partition": "The rules are the leaves of one tree: exactly one of them holds in "
    "each row, and it gives the answer.",
    "average": "Every rule that holds has a say. The answer is the mean of what they "
    "say, each counted by its weight.",
}


def rules_section(summary, is_live):
    """The rules as cards, in their order."""
    cards = summary["rules"]
    items = "\n".join(
        _card(card, summary, is_last=card is cards[-1], is_live=is_live)
        for card in cards
    )
    order = " in-order" if summary["decision"] == "first" else ""
    hint = (
        '<p class="hint live-only">Choose a rule, with a click or with Tab and the '
        'arrow keys, to see its rows in <a href="#rows">the plot of all rows</a> and '
        'in <a href="#maps">the maps</a>; Escape takes the choice back.</p>'
        if is_live
        else ""
    )
    status = (
        '<div class="status live-only" id="status" role="status" aria-live="polite">'
        "</div>"
        if is_live
        else ""
    )
    return section(
        "rules",
        "The rules",
        f"<p>{HOW_TO_READ[summary['decision']]} Numbers are exact as printed.</p>",
        hint,
        f'<ol class="cards{order}" role="list">{items}</ol>',
        status,
    )


def _card(card, summary, *, is_last, is_live):
    number = card["number"]
    choose = (
        f'<span class="choose live-only"><input type="radio" name="rule" '
        f'id="choose-{number}" value="{number}" '
        f'aria-label="Rule {number}: show its rows">'
        f'<label for="choose-{number}" aria-hidden="true">show its rows</label></span>'
        if is_live
        else ""
    )
    conditions = "".join(
        f"<li>{text(before)}<b>{breakable(name)}</b>{isolated(after)}</li>"
        for before, name, after in card["parts"]
    )
    conditions = f'<ul class="conditions">{conditions}</ul>' if conditions else ""
    weight = (
        f' <span class="weight">with weight {text(card["weight"])}</span>'
        if card["weight"] is not None
        else ""
    )
    return (
        f'<li class="card" data-rule="{number}">'
        f'<div class="head"><h3><span class="hidden">Rule </span>'
        f'<span class="ordinal">{number}</span> '
        f'<span class="lead">{_lead(card, summary, is_last)}</span></h3>{choose}</div>'
        f'<div class="body">{conditions}'
        f'<p class="then"><span class="word">{_then(card)}</span> '
        f"{answer_badge(summary, number - 1, card['then'])}{weight}</p></div>"
        f'<div class="proof"><span class="meter {rule_colour(summary, number - 1)}" '
        f'aria-hidden="true">'
        f'<span style="width:{100 * card["share"]:.1f}%"></span></span>'
        f'<p class="evidence">{evidence_text(card, summary)}</p></div></li>'
    )


def _lead(card, summary, is_last):
    """The word that makes the order visible."""
    if summary["decision"] == "average":
        return "Always" if is_last else "If"
    if is_last:
        return "Otherwise" if card["number"] > 1 else "Always"
    if summary["decision"] == "partition" or card["number"] == 1:
        return "If"
    return "Else if"


def _then(card):
    return "then" if card["parts"] else "the answer is"


def evidence_text(card, summary):
    """The evidence of one rule in a sentence."""
    if not card["n_rows"]:
        return "none of these rows"
    is_average = summary["decision"] == "average"
    first = (
        f"{'holds in ' if is_average else ''}<b>{percent(card['share'])}</b> of rows "
        f"({count(card['n_rows'])})"
    )
    parts = [first]
    if summary["task"] == "classification":
        if card["right"] is not None:
            parts.append(f"<b>{percent(card['right'])}</b> right")
        if card["agrees"] is not None:
            parts.append(f"the ensemble agrees on <b>{percent(card['agrees'])}</b>")
    else:
        if card["miss"] is not None:
            parts.append(f"off by <b>{amount(card['miss'], 3)}</b> on average")
        if card["distance"] is not None:
            parts.append(
                f"the ensemble says <b>{amount(card['ensemble_mean'])}</b> on average, "
                f"<b>{amount(card['distance'], 3)}</b> away"
            )
    return ", ".join(parts)
