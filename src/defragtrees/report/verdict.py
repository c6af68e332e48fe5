"""The verdict of a report: what is predicted, how well, and what to keep in mind.

Facts of the Summary become plain sentences, without HTML.
"""

import math
from dataclasses import dataclass

from defragtrees._utils import formatting as render
from defragtrees._utils.formatting import count, plural
from defragtrees.report.text import (
    amount,
    condition_parts,
    cut,
    fidelity_text,
    numbered,
    percent,
    rate_range,
    sentence,
    size_text,
    unbroken,
)

MOST_CAVEATS = 4
MOST_LISTED = 4  # maximum number of classes listed
MOST_OUTSIDE = 2  # maximum number of rules listed whose estimates do not hold
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
    sentences = [_subject(summary), _how_good(summary), _extreme(summary)]
    caveats = [text for make in CAVEATS if (text := make(summary))]
    return Verdict(
        _subtitle(summary),
        tuple(unbroken(text) for text in sentences if text),
        tuple(map(unbroken, caveats[:MOST_CAVEATS])),
        tuple((unbroken(value), label) for value, label in _tiles(summary)),
    )


def _named(summary, label):
    return f"“{summary.outcome.view.prediction(label)}”"


def _share(figure):
    """A share with the decimals that its interval supports."""
    return render.percent(figure.value, render.percent_digits(figure.low, figure.high))


def _mean(figure):
    return amount(figure.value)


def _range(summary, low, high):
    """An interval of a rate, or of a number in the units of y."""
    if summary.outcome.labels:
        return rate_range(low, high)
    return f"{amount(low)} to {amount(high)}"


# The header


def _subtitle(summary):
    measured = f"measured on {plural(len(summary.rows), 'row')}"
    if summary.data_name:
        measured += f" of {summary.data_name}"
    if summary.model is None:
        return sentence(measured)
    return f"Short rules for {summary.model.the_name}, {measured}"


def _subject(summary):
    rules, outcome, what = summary.rules, summary.outcome, summary.target
    n_used, n_all = len(summary.features.used), len(rules.feature_names)
    if not summary.has_target_name:
        what = "the class" if outcome.labels else "a number"
    if outcome.labels:
        labels = [outcome.view.prediction(label) for label in outcome.labels]
        listed = f"one of {len(labels)}"
        if len(labels) <= MOST_LISTED:
            listed = f"{', '.join(labels[:-1])} or {labels[-1]}"
        what = f"{what} ({listed})"
    size, n_parts = size_text(rules), rules.n_rules
    if rules._form.is_sum:
        size, n_parts = f"{size} with points", len(rules.rules)
    verb = "predicts" if n_parts == 1 else "predict"
    return f"{size} {verb} {what} from {n_used} of {plural(n_all, 'feature')}."


def _how_good(summary):
    """How good the rules are, beside the model and one prediction for every row."""
    facts, n_rows = summary.facts, plural(len(summary.rows), "row")
    if facts.measure == "agreement":
        unknown = "how often they are right is unknown, as there are no true values"
        same = _agreement_text(summary)
        return f"Their agreement with the model is {same} on {n_rows}; {unknown}."
    if facts.measure == "found":
        label = _named(summary, facts.focus)
        some = f"{_focus_rate(summary)} of {n_rows} are {label}"
        if facts.right_when_said is None:
            return f"They predict {label} for no row, although {some}."
        interval = rate_range(facts.found.low, facts.found.high)
        right = f"{_share(facts.right_when_said)} of the rows that they flag are right"
        found = f"{_share(facts.found)} (95 % interval {interval})"
        return f"{some}: of these they find {found}, and {right}."
    write = _share if facts.measure == "accuracy" else _mean
    rules, guess = write(facts.rules), write(facts.guess)
    model = "" if facts.model is None else write(facts.model)
    always = f"always predicting {_named(summary, facts.guess_label)}"
    if facts.measure == "cost":
        model = model and f", those of the model {model}"
        text = f"Their mistakes cost {rules} per row on {n_rows}{model}"
        return f"{text}; {always} costs {guess}."
    interval = _range(summary, facts.rules.low, facts.rules.high)
    interval = f"(95 % interval {interval})"
    if facts.measure == "accuracy":
        model = model and f", the model on {model}"
        text = f"They are right on {rules} {interval} of {n_rows}{model}"
        return f"{text}; {always} is right on {guess}."
    half = amount(facts.half_within)
    what = f" {summary.target}" if summary.has_target_name else ""
    view = summary.outcome.view
    return view.distance_text(
        rules, f"{interval} on {n_rows}", half, model, guess, what
    )


def _focus_rate(summary):
    k = summary.outcome.labels.index(summary.facts.focus)
    return _rare_text(summary.baseline.rates[k])


def _rare_text(share):
    return render.percent(share, 0 if 0.1 <= share <= 0.9 else 1)


def _agreement_text(summary):
    fidelity = summary.scores["fidelity"]
    if summary.outcome.error_is_share:
        return percent(fidelity)
    return f"R² {fidelity_text(fidelity)}"


def _extreme(summary):
    """Where the probability or the prediction is highest."""
    facts, outcome, highest = summary.facts, summary.outcome, summary.facts.highest
    if highest is None:
        return ""
    text = _part(summary, highest)
    if not outcome.labels:
        lowest = _part(summary, facts.lowest)
        text = f"Predictions are highest {text}, and lowest {lowest}"
    elif outcome.is_binary:
        text = f"{_named(summary, highest.label)} is most likely {text}"
    else:
        text = f"The clearest rule is {_named(summary, highest.label)} {text}"
    seen = highest.observed
    if seen is not None and seen.n_part is not None:
        text += f"; here {count(seen.n_part)} of {plural(seen.n_rows, 'row')}"
    return f"{text}."


def _part(summary, part):
    """Where a Part is, its estimate and the interval."""
    rules, number = summary.rules, part.number
    if part.totals is not None:
        low, high = map(amount, part.totals)
        text = f"with {low if low == high else f'{low} to {high}'} points"
    elif number > len(rules.rules):
        text = f"where no other rule matches (rule {number})"
    else:
        order = rules._form.is_ordered and number > 1
        conditions = rules.rules[number - 1].shown
        words = cut(
            " and ".join("".join(condition_parts(rules, c)) for c in conditions)
        )
        after = ", if no earlier rule matches" if order else ""
        text = f"where {words} (rule {number}{after})"
    if part.interval is None:
        write = percent if summary.outcome.labels else amount
        return f"{text}: {write(part.estimate)}"
    interval = _range(summary, *part.interval)
    if not summary.outcome.labels:
        title = summary.outcome.view.interval_title
        return f"{text}: {amount(part.estimate)} ({title} {interval})"
    shown = render.percent(part.estimate, render.percent_digits(*part.interval))
    return f"{text}: {shown} (95 % interval {interval})"


# Caveats: each returns a sentence, or nothing if it does not apply.


def _no_better(summary):
    facts = summary.facts
    if not facts.is_no_better or facts.measure == "found":
        return ""
    what = "one prediction for every row"
    if facts.measure == "distance":
        what = "predicting the average"
    return f"The rules are not clearly better than {what}{_ranking(summary)}."


def _ranking(summary):
    auc = summary.scores.get("auc", math.nan)
    if math.isnan(auc):
        return ""
    ordered = f"{percent(auc)} of random pairs"
    return f"; the probabilities of the rules order {ordered} correctly"


def _rare(summary):
    if not summary.facts.is_rare or summary.facts.measure != "found":
        return ""
    guess = _named(summary, summary.baseline.guess)
    right = _rare_text(max(summary.baseline.rates))
    return (
        f"Always predicting {guess} is right on {right} of rows, so accuracy and "
        f"agreement with the model say little here{_ranking(summary)}."
    )


def _costs(summary):
    text = summary.rules._view.decision_text("The rules predict", "≥")
    if not text or summary.rows.y is None:
        return text
    wrong = percent(summary.scores["error"])
    return f"{text} They are wrong on {wrong} of rows, which is not the measure here."


def _outside(summary):
    """The rules whose estimates do not hold, those with the most rows first."""
    found = sorted(summary.facts.outside, key=lambda part: -part.n_rows)
    if not found:
        return ""
    texts = [_held_against(summary, part) for part in found[:MOST_OUTSIDE]]
    if len(found) > MOST_OUTSIDE:
        texts.append(f"and {plural(len(found) - MOST_OUTSIDE, 'more rule')}")
    return f"Estimates that do not hold here: {'; '.join(texts)}."


def _held_against(summary, part):
    """What a rule estimates and what is observed."""
    seen, what = part.observed, ""
    numbers = [part.estimate, seen.value, seen.low, seen.high]
    texts = list(map(amount, numbers))
    if part.label is not None:
        what = f" {_named(summary, part.label)}"
        for digits in (0, 1):  # more only where the estimate would seem to be inside
            texts = [render.percent(number, digits) for number in numbers]
            if texts[0] not in texts[2:]:
                break
        texts[2] = render.percent(seen.low, digits, sign="")
    estimate, value, low, high = texts
    return (
        f"rule {part.number}: {estimate}{what} estimated, {value} observed (95 % "
        f"interval {low} to {high})"
    )


def _shorter(summary):
    shorter = summary.facts.shorter
    if shorter is None:
        return ""
    what, write = {
        "accuracy": ("wrong on", lambda value: render.percent(value, 1)),
        "cost": ("cost per row", amount),
        "distance": (summary.outcome.view.distance, amount),
    }[summary.facts.measure]
    other, own = write(shorter.loss), write(shorter.own_loss)
    how, note = ("better" if shorter.is_better else "as good"), ""
    if shorter.loss > shorter.own_loss:
        how, note = "almost as good", "; the difference is within chance"
    measured = f"{other} instead of {own}" if other != own else other
    return f"{shorter.n_rules} rules are {how} here: {what} {measured}{note}."


def _trained(summary):
    if summary.n_validation:
        some = render.plural(summary.n_validation, "row")
        some = "These rows" if summary.n_validation == len(summary.rows) else some
        return (
            f"{some} helped to choose the rules and gave their rates, so the rules "
            "look a little better here than on new rows."
        )
    if summary.model is None or summary.is_new or summary.rows.y is None:
        return ""
    return (
        "The model may have been trained on these rows; its figures here may then be "
        "too good."
    )


def _weak(summary):
    """The weak rules by the first reason of each."""
    by_reason = {}
    for card in summary.cards:
        if card.flags:
            by_reason.setdefault(next(iter(card.flags)), []).append(card.number)
    if not by_reason:
        return ""
    texts = [f"{numbered(which)} ({why})" for why, which in by_reason.items()]
    which = "All rules are weak" if summary.all_weak else "Weak rules (▲)"
    return f"{which}: {', '.join(texts)}."


def _few(summary):
    if len(summary.rows) >= FEW_ROWS:
        return ""
    return (
        f"Only {plural(len(summary.rows), 'row')} were measured: differences of a few "
        "per cent may be chance."
    )


CAVEATS = (
    _no_better, _rare, _costs, _outside, _shorter, _trained, _weak, _few,
)  # fmt: skip


def _tiles(summary):
    """Pairs of a number and its label; three to five."""
    facts, rules = summary.facts, summary.rules
    tiles = [(size_text(rules), f"with {plural(rules.n_conditions, 'condition')}")]
    if facts.measure == "agreement":
        covered = percent(summary.scores["coverage"])
        tiles.append((_agreement_text(summary), "agreement with the model"))
        return [*tiles, (covered, "of rows match a rule with conditions")]
    if facts.measure == "found":
        label, scores = _named(summary, facts.focus), summary.scores
        found = [(_focus_rate(summary), f"of rows are {label}")]
        if facts.right_when_said is not None:
            found = [
                (_share(facts.found), f"of {label} found (recall)"),
                (_share(facts.right_when_said), "of flagged rows right (precision)"),
            ]
        for key, who in (("auc", "rules"), ("model_auc", "model")):
            if not math.isnan(scores.get(key, math.nan)):
                label = f"of random pairs ordered correctly by the {who} (AUC)"
                found.append((percent(scores[key]), label))
        return tiles + found
    what, write = "accuracy", _share
    always = _named(summary, facts.guess_label)
    if facts.measure == "cost":
        what, write = "cost per row", _mean
    elif facts.measure == "distance":
        what, write, always = summary.outcome.view.distance, _mean, "the average"
    tiles.append((write(facts.rules), f"{what} of the rules"))
    if facts.measure == "accuracy":
        interval = rate_range(facts.rules.low, facts.rules.high)
        tiles.append((interval, "95 % interval of the accuracy"))
    if facts.model is not None:
        tiles.append((write(facts.model), f"{what} of the model"))
    return [*tiles, (write(facts.guess), f"{what} of always predicting {always}")]
