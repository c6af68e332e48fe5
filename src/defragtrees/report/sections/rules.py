"""The rules as cards that show their order."""

from defragtrees.report.condition_pictures import condition_picture, picture_words
from defragtrees.report.flags import RARE
from defragtrees.report.markup import answer_badge, breakable, isolated, range_bar, text
from defragtrees.report.sections.measures import unanswered_words
from defragtrees.report.wording import amount, count, percent, rate_text, sentence

__all__ = ["write"]

HOW_TO_READ = {
    "first": "The rules are asked from the top. The first one that holds gives the "
    "answer, and those below it are not asked any more.",
    "partition": "The rules are the leaves of one tree: exactly one of them holds in "
    "each row, and it gives the answer.",
    "average": "Every rule that holds has a say. The answer is the mean of what they "
    "say, each counted by its weight.",
    "standalone": "Each rule is true by itself, of all rows in which it holds. Where "
    "several hold, the answer is the mean of what they say, each counted by its rows.",
    "points": "The points of the base and of every rule that holds add up.",
}
WHERE_FROM = (
    " Under an answer stands what was observed in the rule’s training rows; beside it "
    "what the rows of this report say."
)
BARS = (
    " The bar under a rate is its 95\N{NO-BREAK SPACE}% interval, and the dotted line "
    "across it the "
    "base rate."
)
HINT = (
    '<p class="hint live-only">Choose a rule, with a click or with Tab and the '
    'arrow keys, to see its rows in <a href="#rows">the plot of all rows</a> and '
    'in <a href="#maps">the maps</a>; Escape takes the choice back.</p>'
)
STATUS = (
    '<div class="status live-only" id="status" role="status" aria-live="polite"></div>'
)


def write(page):
    """The rules as cards, in their order."""
    summary = page.summary
    items = "\n".join(_card(card, summary, page.is_live) for card in summary.cards)
    has_bars = any(_interval(card, summary) for card in summary.cards)
    order = " in-order" if summary.rules.decision == "first" else ""
    return [
        f"<p>{HOW_TO_READ[summary.rules.decision]}{_total(summary.rules)} Numbers are "
        f"exact as printed."
        f"{WHERE_FROM if any(card.told for card in summary.cards) else ''}"
        f"{BARS if has_bars else ''}</p>",
        _picture_hint(summary),
        HINT if page.is_live else "",
        f'<ol class="cards{order}" role="list">{items}</ol>',
        unanswered_words(summary),
        STATUS if page.is_live else "",
    ]


def _total(rules):
    """What a total of points is, as a sentence."""
    if rules.decision != "points":
        return ""
    return f" The total is {text(rules.outcome.sum_text(rules.unit, rules.origin))}."


def _card(card, summary, is_live):
    number = card.number
    colour = summary.table.colour(summary.table.rule_groups[number - 1])
    choose = (
        f'<span class="choose live-only"><input type="radio" name="rule" '
        f'id="choose-{number}" value="{number}" '
        f'aria-label="Rule {number}: show its rows">'
        f'<label for="choose-{number}" aria-hidden="true">show its rows</label></span>'
        if is_live
        else ""
    )
    weight = (
        f' <span class="weight">with weight {text(card.weight)}</span>'
        if card.weight is not None
        else ""
    )
    then = _then(card, summary.rules)
    return (
        f'<li class="card" data-rule="{number}">'
        f'<div class="head"><h3><span class="hidden">Rule </span>'
        f'<span class="ordinal">{number}</span> '
        f'<span class="lead">{_lead(card, summary.rules)}</span></h3>{choose}</div>'
        f'<div class="body">{_conditions(card, summary)}'
        f'<p class="then"><span class="word">{then}</span> '
        f"{answer_badge(card.then, colour)}{weight}</p>"
        f"{_told(card, summary.outcome)}{_interval(card, summary)}{_flags(card)}</div>"
        f'<div class="proof"><span class="meter {colour}" aria-hidden="true">'
        f'<span style="width:{100 * card.share:.1f}%"></span></span>'
        f'<p class="evidence">{_evidence(card, summary.rules)}</p></div></li>'
    )


def _picture_hint(summary):
    if not any(card.parts for card in summary.cards):
        return ""
    return f'<p class="hint">{isolated(picture_words(summary))}</p>'


def _conditions(card, summary):
    """What a rule asks, each with a picture of where its cut lies."""
    rule = list(summary.rules)[card.number - 1]
    items = "".join(
        f'<li><span class="asks">{text(before)}<b>{breakable(name)}</b>'
        f"{isolated(after)}</span>"
        f"{condition_picture(summary, card.number - 1, condition)}</li>"
        for (before, name, after), condition in zip(
            card.parts, rule.conditions, strict=True
        )
    )
    return f'<ul class="conditions">{items}</ul>' if items else ""


def _interval(card, summary):
    """The rate and its interval as a bar from 0 to 100 %, and the base rate."""
    rules, outcome = summary.rules, summary.outcome
    rule = list(rules)[card.number - 1]
    if not outcome.n_classes or rule.interval is None or rules.decision == "average":
        return ""
    place = outcome.told_place(rule)
    base = rules.training_rates
    low, high = rule.interval[place]
    return range_bar(
        low, rule.rates[place], high, None if base is None else base[place]
    )


def _flags(card):
    """Why a rule is weak, each reason on a line."""
    if not card.flags:
        return ""
    items = "".join(f"<li>{isolated(reason)}</li>" for reason in card.flags)
    return f'<p class="weak">Weak rule</p><ul class="flags">{items}</ul>'


def _then(card, rules):
    if rules.decision == "points":
        return "add" if card.parts else "start with"
    return "then" if card.parts else "the answer is"


def _told(card, outcome):
    """What was observed in the training rows, and what the ensemble says of them."""
    if not card.told:
        return ""
    # A number and its sign stay together.
    told = card.told.replace(" %", "\N{NO-BREAK SPACE}%")
    first, bracket, rest = sentence(told).partition(" (")
    second = ""
    if card.ensemble_told is not None and "ensemble" not in card.told:
        tell = rate_text if outcome.n_classes else amount
        second = f" The ensemble says {tell(card.ensemble_told)} on average."
    if card.alone:
        alone = card.alone.replace(" %", "\N{NO-BREAK SPACE}%")
        second += (
            f" <b>Read alone it would mislead:</b> of all rows in which it holds it is "
            f"{isolated(alone)}, as rules before it answer some of them."
        )
    return (
        f'<p class="told"><b>{isolated(first)}</b>{isolated(bracket + rest)}.{second}'
        "</p>"
    )


def _lead(card, rules):
    """The word that makes the order visible."""
    is_last = card.number == rules.n_rules
    if rules.default_text != "otherwise":
        return rules.default_text.capitalize() if is_last else "If"
    if is_last:
        return "Otherwise" if card.number > 1 else "Always"
    if rules.decision != "first" or card.number == 1:
        return "If"
    return "Else if"


def _evidence(card, rules):
    """The evidence of one rule in a sentence."""
    if not card.n_rows:
        return "none of these rows"
    holds = "" if rules.is_list else "holds in "
    share = rate_text(card.share) if card.share < RARE else percent(card.share)
    parts = [f"{holds}<b>{share}</b> of rows ({count(card.n_rows)})"]
    if card.right is not None:
        parts.append(f"<b>{percent(card.right)}</b> right")
    if card.agrees is not None:
        parts.append(f"the ensemble agrees on <b>{percent(card.agrees)}</b>")
    if card.miss is not None:
        parts.append(f"off by <b>{amount(card.miss)}</b> on average")
    if card.distance is not None:
        parts.append(
            f"the ensemble says <b>{amount(card.ensemble_mean)}</b> on average, "
            f"<b>{amount(card.distance)}</b> away"
        )
    return ", ".join(parts)
