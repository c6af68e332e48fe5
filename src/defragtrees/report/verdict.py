"""The verdict of a report: what is predicted, how well, and what to keep in mind.

Facts of the Summary become plain sentences, without HTML.
"""

import math
from dataclasses import dataclass

from defragtrees._utils import formatting as render
from defragtrees._utils.formatting import plural
from defragtrees.report.names import cut
from defragtrees.report.summary import condition_parts
from defragtrees.report.text import (
    amount,
    count,
    fidelity_text,
    numbered,
    percent,
    rate_range,
    sentence,
    shown_error_text,
)
from defragtrees.rules.text import decision_text

MOST_CAVEATS = 4
MOST_LISTED = 4  # maximum number of classes listed
FEW_ROWS = 200


@dataclass(frozen=True)
class Verdict:
    """What the top of the page says."""

    subtitle: str
    sentences: tuple[str, ...]
    caveats: tuple[str, ...]  # at most four, the worst first
    tiles: tuple[tuple[str, str], ...]  # a number and its label


def make_verdict(summary):
    """The Verdict of a Summary.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees import simplify
    >>> from defragtrees.report.summary import summarize
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> rules = simplify(model, X, y, random_state=0)
    >>> verdict = make_verdict(summarize(rules, X, y, target_name="species"))
    >>> print(verdict.sentences[0])
    4 rules predict species (0, 1 or 2) from 2 of 4 features.
    """
    sentences = [_subject(summary), MEASURED[_measure(summary)](summary)]
    caveats = [make(summary) for make in CAVEATS]
    return Verdict(
        _subtitle(summary),
        tuple(_kept_together(text) for text in [*sentences, _extreme(summary)] if text),
        tuple(_kept_together(text) for text in caveats if text)[:MOST_CAVEATS],
        tuple((_kept_together(value), label) for value, label in _tiles(summary)),
    )


def _kept_together(text):
    """A number and its per cent sign stay on one line."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def _measure(summary):
    """By what the rules are judged here."""
    if summary.rows.y is None:
        return "agreement"
    if not summary.outcome.error_is_share:
        return "distance"
    if summary.facts.costs is not None:
        return "cost"
    if summary.outcome.is_binary and (summary.has_costs or summary.facts.is_rare):
        return "found"
    return "accuracy"


def _named(summary, label):
    return f"“{summary.outcome.answer_text(label)}”"


# The header


def _subtitle(summary):
    measured = f"measured on {plural(len(summary.rows), 'row')}"
    if summary.data_name:
        measured += f" of {summary.data_name}"
    if summary.model is None:
        return sentence(measured)
    return f"Short rules for {summary.model.the_name}, {measured}"


def _subject(summary):
    rules, outcome = summary.rules, summary.outcome
    n_used, n_all = len(summary.features.used), len(rules.feature_names)
    what = summary.target
    if outcome.labels:
        labels = [outcome.answer_text(label) for label in outcome.labels]
        listed = f"{', '.join(labels[:-1])} or {labels[-1]}"
        if len(labels) > MOST_LISTED:
            listed = f"one of {len(labels)} classes"
        what = f"{what} ({listed})"
    size, n_parts = plural(rules.n_rules, "rule"), rules.n_rules
    if rules.combination == "sum":
        n_parts = len(rules.rules)
        size = f"{plural(n_parts, 'question')} with points"
    verb = "predicts" if n_parts == 1 else "predict"
    return f"{size} {verb} {what} from {n_used} of {plural(n_all, 'feature')}."


def _accuracy(summary):
    facts = summary.facts
    text = (
        f"They are right on {_share(facts.rules)} (95 % interval "
        f"{_interval(facts.rules)}) of {plural(len(summary.rows), 'row')}"
    )
    if facts.model is not None:
        text += f", the model on {_share(facts.model)}"
    guess = _named(summary, summary.baseline.guess)
    return f"{text}; always predicting {guess} is right on {_share(facts.guess)}."


def _share(figure):
    """A share with the decimals that its interval supports."""
    return render.percent(figure.value, render.percent_digits(figure.low, figure.high))


def _interval(figure):
    return rate_range(figure.low, figure.high)


def _cost(summary):
    costs = summary.facts.costs
    text = (
        f"Their mistakes cost {amount(costs.rules)} per row on "
        f"{plural(len(summary.rows), 'row')}"
    )
    if costs.model is not None:
        text += f", those of the model {amount(costs.model)}"
    guess = _named(summary, costs.guess_label)
    return f"{text}; always predicting {guess} costs {amount(costs.guess)}."


def _found(summary):
    """How many rows of one of two classes are found, and how many are false alarms."""
    facts, n_rows = summary.facts, plural(len(summary.rows), "row")
    label = _named(summary, facts.focus)
    some = f"{_focus_rate(summary)} of {n_rows} are {label}"
    if facts.right_when_said is None:
        return f"They predict {label} for no row, although {some}."
    text = f"{some}: of these they find {_share(facts.found)} (95 % interval "
    text += f"{_interval(facts.found)}), and {_share(facts.right_when_said)} of the "
    return f"{text}rows that they flag are right."


def _focus_rate(summary):
    k = summary.outcome.labels.index(summary.facts.focus)
    return _rare_text(summary.baseline.rates[k])


def _rare_text(share):
    return render.percent(share, 0 if 0.1 <= share <= 0.9 else 1)


def _distance(summary):
    facts = summary.facts
    low, high = amount(facts.rules.low), amount(facts.rules.high)
    text = (
        f"They miss by {amount(facts.rules.value)} on average (95 % interval {low} to "
        f"{high}) on {plural(len(summary.rows), 'row')}, in half of them by less than "
        f"{amount(facts.half_within)}"
    )
    if facts.model is not None:
        text += f"; the model misses by {amount(facts.model.value)}"
    return f"{text}, always predicting the mean by {amount(facts.guess.value)}."


def _agreement(summary):
    scores, rows = summary.scores, summary.rows
    n_rows = plural(len(rows), "row")
    unknown = "how often they are right is unknown, as there are no true values"
    if summary.outcome.error_is_share:
        same = percent(scores["fidelity"])
        return f"They predict what the model predicts on {same} of {n_rows}; {unknown}."
    same = fidelity_text(scores["fidelity"])
    return f"They follow the model on {n_rows} with R² {same}; {unknown}."


MEASURED = {
    "accuracy": _accuracy,
    "cost": _cost,
    "found": _found,
    "distance": _distance,
    "agreement": _agreement,
}


def _extreme(summary):
    """Where the probability or the prediction is highest."""
    highest, outcome = summary.facts.highest, summary.outcome
    if outcome.labels and not outcome.is_binary:
        return _clearest(summary)
    if highest is None:
        return ""
    if not outcome.labels:
        ends = [_part(summary, one) for one in (highest, summary.facts.lowest)]
        return f"Predictions are highest {ends[0]}, and lowest {ends[1]}."
    label = sentence(_named(summary, outcome.positive_class))
    text = f"{label} is most likely {_part(summary, highest)}"
    if highest.observed is not None:
        n_part, n_rows = count(highest.observed.n_part), plural(highest.n_rows, "row")
        text += f"; here {n_part} of {n_rows}"
    return f"{text}{_next(summary, highest)}."


def _part(summary, extreme):
    """Where an Extreme is, its estimate and the interval."""
    if extreme.totals is not None:
        low, high = map(amount, extreme.totals)
        text = f"with {low if low == high else f'{low} to {high}'} points"
    else:
        text = _where(summary.rules, extreme.number - 1)
    if not summary.outcome.labels:
        text += f": {amount(extreme.estimate)}"
        if extreme.interval is not None:
            low, high = map(amount, extreme.interval)
            text += f" (80 % of rows {low} to {high})"
        return text
    if extreme.interval is None:
        return f"{text}: {percent(extreme.estimate)}"
    return f"{text}: {_estimate(extreme.estimate, *extreme.interval)}"


def _estimate(estimate, low, high):
    shown = render.percent(estimate, render.percent_digits(low, high))
    return f"{shown} (95 % interval {rate_range(low, high)})"


def _where(rules, k):
    """The conditions of a rule in words, and its number."""
    if k == len(rules.rules):
        return f"where no other rule matches (rule {k + 1})"
    texts = ["".join(condition_parts(c, rules)) for c in rules._shown_conditions[k]]
    order = ", if no earlier rule matches" if rules.is_ordered and k else ""
    return f"where {cut(' and '.join(texts))} (rule {k + 1}{order})"


def _next(summary, highest):
    """The rule after the default rule, as what no rule matches is hard to picture."""
    rules, base = summary.rules, summary.rules.training_rates
    if highest.number != rules.n_rules or base is None:
        return ""
    place = summary.outcome.positive_index
    found = [
        (rule.distribution[place], k, rule.interval[place])
        for k, rule in enumerate(rules.rules)
        if rule.interval and rule.distribution and rule.interval[place][0] > base[place]
    ]
    if not found:
        return ""
    estimate, k, interval = max(found)
    return f". Next {_where(rules, k)}: {_estimate(estimate, *interval)}"


def _clearest(summary):
    """Of many classes, the rule with the highest probability of its own."""
    rules, outcome = summary.rules, summary.outcome
    if rules.combination == "sum":
        return ""
    found = [(outcome.estimate(rule), k) for k, rule in enumerate(rules)]
    found = [(one["estimate"], k, one) for one, k in found if one["interval"]]
    if not found:
        return ""
    estimate, k, one = max(found, key=lambda entry: entry[0])
    return (
        f"The clearest rule is {_named(summary, one['class'])} {_where(rules, k)}: "
        f"{_estimate(estimate, *one['interval'])}."
    )


# Caveats: each returns a sentence, or nothing if it does not apply.


def _no_better(summary):
    measure = _measure(summary)
    if not summary.facts.is_no_better or measure in ("agreement", "found"):
        return ""
    text = "The rules are not clearly better than one prediction for every row"
    if measure == "distance":
        text = "The rules are not clearly better than predicting the mean"
    auc = summary.scores.get("auc", math.nan)
    if not math.isnan(auc):
        text += f"; their probabilities still rank rows (AUC {auc:.2f})"
    return f"{text}."


def _rare(summary):
    if not summary.facts.is_rare or _measure(summary) != "found":
        return ""
    guess = _named(summary, summary.baseline.guess)
    right = _rare_text(1 - summary.baseline.guess_error)
    text = (
        f"Always predicting {guess} is right on {right} of rows, so accuracy and "
        "agreement with the model say little here"
    )
    auc = summary.scores.get("auc", math.nan)
    if not math.isnan(auc):
        text += f"; read the probabilities (AUC {auc:.2f})"
    return f"{text}."


def _costs(summary):
    rules, outcome, costs = summary.rules, summary.outcome, summary.costs
    if not summary.has_costs:
        return ""
    text = decision_text(rules)
    if outcome.is_binary:
        label = _named(summary, outcome.positive_class)
        border = costs.border if costs else None
        if rules.threshold is not None:
            border = outcome.positive_threshold(rules.threshold)
        if border is not None:
            text = (
                f"The rules predict {label} from a probability of {percent(border)} on"
            )
            if costs is not None:
                miss, alarm = amount(costs.miss), amount(costs.alarm)
                text += f", as a missed {label} costs {miss} and a false one {alarm}"
            text += "."
    if summary.rows.y is None:
        return text
    wrong = percent(summary.scores["error"])
    return f"{text} They are wrong on {wrong} of rows, which is not the measure here."


def _outside(summary):
    numbers = [one.number for one in summary.facts.outside if one.number is not None]
    if not numbers:
        return ""  # of many totals some differ by chance
    seen = "the observed rate lies outside the 95 % interval"
    if not summary.outcome.labels:
        seen = "the observed mean differs by more than chance"
    which = f"estimates of {numbered(numbers)} do"
    if len(numbers) == 1:
        which = f"estimate of {numbered(numbers)} does"
    return f"The {which} not hold here: {seen}."


def _shorter(summary):
    shorter, n_rules = summary.facts.shorter, summary.rules.n_rules
    if shorter is None or shorter.n_rules == 1:
        return ""
    if _measure(summary) in ("agreement", "found"):
        return ""
    outcome, fewer = summary.outcome, shorter.n_rules
    if shorter.cost is not None:
        own, theirs = amount(shorter.shown_cost), amount(shorter.cost)
        measured = f"{fewer} cost {theirs} per row, these {n_rules} {own}"
    else:
        own = shown_error_text(shorter.shown_error, outcome)
        theirs = shown_error_text(shorter.error, outcome)
        measured = f"{fewer} are wrong on {theirs}, these {n_rules} on {own}"
        if not outcome.error_is_share:
            measured = f"the RMSE of {fewer} is {theirs}, that of these {n_rules} {own}"
    return f"Fewer rules do as well here: {measured}."


def _trained(summary):
    if summary.model is None or summary.is_new or summary.rows.y is None:
        return ""
    return (
        "The model may have been trained on these rows; its figures here may then be "
        "too good."
    )


def _unstable(summary):
    if not summary.rarely_back:
        return ""
    verb = "is" if len(summary.rarely_back) == 1 else "are"
    refits = plural(summary.stability.n_resamples, "refit")
    return (
        f"{sentence(numbered(summary.rarely_back))} {verb} found again in fewer than "
        f"half of {refits} on other rows."
    )


def _weak(summary):
    weak = [card for card in summary.cards if card.flags]
    if not weak:
        return ""
    which = sentence(numbered([card.number for card in weak]))
    if len(weak) == len(summary.cards) > 1:
        which = "All rules"
    flags = " ".join(reason for card in weak for reason in card.flags)
    mostly = max(REASONS, key=flags.count)
    weak_as = (
        "is weak (▲) because" if len(weak) == 1 else "are weak (▲), mostly because"
    )
    return f"{which} {weak_as} {REASONS[mostly]}."


# By the words of the flags.
REASONS = {
    "rate is uncertain": "the interval is wide",
    "barely different": "the value is close to that of all rows",
    "more often than right": "more predictions are wrong than right here",
    "less than 1 %": "few rows match",
    "spread as widely": "the rows are widely spread",
    "not stable": "other rows give other rules",
}


def _few(summary):
    if len(summary.rows) >= FEW_ROWS:
        return ""
    return (
        f"Only {plural(len(summary.rows), 'row')} were measured: differences of a few "
        "per cent may be chance."
    )


CAVEATS = (
    _no_better, _rare, _costs, _outside, _shorter, _trained, _unstable, _weak, _few,
)  # fmt: skip


# Tiles


def _tiles(summary):
    """Pairs of a number and its label; three to five."""
    rules = summary.rules
    size = plural(rules.n_rules, "rule")
    if rules.combination == "sum":
        size = plural(len(rules.rules), "question")
    conditions = f"with {plural(rules.n_conditions, 'condition')}"
    return [(size, conditions), *TILES[_measure(summary)](summary)]


def _accuracy_tiles(summary):
    facts = summary.facts
    tiles = [
        (_share(facts.rules), "right (accuracy of the rules)"),
        (_interval(facts.rules), "95 % interval of the accuracy"),
    ]
    if facts.model is not None:
        tiles.append((_share(facts.model), "accuracy of the model"))
    guess = _named(summary, summary.baseline.guess)
    return [*tiles, (_share(facts.guess), f"accuracy of always predicting {guess}")]


def _cost_tiles(summary):
    costs = summary.facts.costs
    tiles = [(amount(costs.rules), "cost per row of the rules")]
    if costs.model is not None:
        tiles.append((amount(costs.model), "cost per row of the model"))
    always = f"cost of always predicting {_named(summary, costs.guess_label)}"
    return [*tiles, (amount(costs.guess), always)]


def _found_tiles(summary):
    facts, scores = summary.facts, summary.scores
    label = _named(summary, facts.focus)
    tiles = [(_focus_rate(summary), f"of rows are {label}")]
    if facts.right_when_said is not None:
        tiles = [
            (_share(facts.found), f"of {label} found (recall)"),
            (_share(facts.right_when_said), "of flagged rows right (precision)"),
        ]
    for key, who in (("auc", "rules"), ("ensemble_auc", "model")):
        if not math.isnan(scores.get(key, math.nan)):
            tiles.append((f"{scores[key]:.2f}", f"AUC of the {who}"))
    return tiles


def _distance_tiles(summary):
    facts, scores = summary.facts, summary.scores
    tiles = [(amount(facts.rules.value), "mean absolute error of the rules")]
    if facts.model is not None:
        mae = amount(facts.model.value)
        tiles.append((mae, "mean absolute error of the model"))
    tiles.append((amount(facts.guess.value), "error of always predicting the mean"))
    if "r2" in scores:
        explained = fidelity_text(scores["r2"])
        tiles.append((f"R² {explained}", "share of the variance explained"))
    return tiles


def _agreement_tiles(summary):
    scores = summary.scores
    same = percent(scores["fidelity"])
    if not summary.outcome.error_is_share:
        same = f"R² {fidelity_text(scores['fidelity'])}"
    return [
        (same, "agreement with the model"),
        (percent(scores["coverage"]), "of rows match a rule with conditions"),
    ]


TILES = {
    "accuracy": _accuracy_tiles,
    "cost": _cost_tiles,
    "found": _found_tiles,
    "distance": _distance_tiles,
    "agreement": _agreement_tiles,
}
