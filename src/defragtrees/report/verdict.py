"""The verdict of a report: what is predicted, how well, and what to keep in mind.

Facts (how good, beside what, how sure) become plain sentences, without HTML.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy  # whose modules are imported on first use

from defragtrees._utils import formatting as render
from defragtrees._utils.formatting import count, percent, plural
from defragtrees.data.statistics import decided_alike
from defragtrees.outcomes.decision import cost_matrix
from defragtrees.outcomes.intervals import QUANTILE, effective_rows
from defragtrees.report.text import (
    LONGEST,
    Table,
    agreement_text,
    amount,
    amount_range,
    bar,
    condition_parts,
    fidelity_text,
    name,
    numbered,
    sentence,
    size_text,
    span,
)

MOST_CAVEATS = 4
MOST_LISTED = 4  # maximum number of classes listed
MOST_OUTSIDE = 2  # maximum number of rules listed whose estimates do not hold
FEW_ROWS = 200
RARE_CLASS = 0.05  # share of rows below which accuracy says little about a class
FEWEST = 5  # minimum number of rows to say that an estimate does not hold
# How well predictions order rows: the title, the value of a constant, and the text.
RANKS = {
    "auc": ("Pairs in the right order (AUC, from 50%)", 0.5, percent),
    "r2": ("Explained variance (R²)", 0.0, fidelity_text),
    "d2": ("Explained deviance (D²)", 0.0, fidelity_text),
    "concordance": ("Pairs in the right order (concordance, from 50%)", 0.5, percent),
}


@dataclass(frozen=True)
class Figure:
    """A share of rows, or a mean over rows, with its 95% interval."""

    value: float  # by weight
    low: float
    high: float
    n_rows: int  # number of rows that it is of
    n_part: int | None = None  # number of these that a share counts


@dataclass(frozen=True)
class Part:
    """The rows of a rule or of a band of totals: estimate and observation."""

    number: int | None  # of the rule, from 1; None for a band of totals
    totals: tuple[float, float] | None
    label: Any  # class of the estimate; None for numbers
    estimate: float  # probability of that class, or predicted number
    # As reported: of a rate at 95%, of a number its 10% and 90% quantiles.
    interval: tuple[float, float] | None
    n_rows: int  # number of rows here
    observed: Figure | None  # rate of that class, or mean of y, here


@dataclass(frozen=True)
class Facts:
    """What a verdict can say of rules, measured on the rows of the report."""

    # By what the rules are judged: "accuracy" or, of two classes of which one matters,
    # "found"; "cost", "distance" or, without y, "agreement".
    measure: str
    # Accuracy, mean cost or mean distance; None without y.
    rules: Figure | None = None
    guess: Figure | None = None  # of always predicting `guess_label`
    guess_label: Any = None  # the best constant prediction
    model: Figure | None = None  # None without a model
    # Whether the difference from the guess is within its 95% interval, or worse.
    is_no_better: bool = False
    # The class that matters: the rare one of two, else the positive one.
    focus: Any = None
    is_rare: bool = False  # of two classes one is below 5%, so accuracy says little
    # By who predicts: the share of the rows of that class that are predicted so, and
    # the share of these predictions that are right.
    recall: dict[str, Figure | None] = field(default_factory=dict)
    precision: dict[str, Figure | None] = field(default_factory=dict)
    highest: Part | None = None
    lowest: Part | None = None
    outside: tuple[Part, ...] = ()  # rules whose estimates do not hold here


def measure_facts(summary):
    """The Facts of a Summary."""
    rows, outcome = summary.rows, summary.outcome
    parts = [part for part in _parts(summary) if part.n_rows]
    found: dict[str, Any] = {}
    if len(parts) > 1:
        highest, lowest = (
            choose(parts, key=lambda part: part.estimate) for choose in (max, min)
        )
        found = {"highest": highest, "lowest": lowest}
    if rows.y is None:
        return Facts("agreement", **found)
    costs, is_rare = None, False
    # Where a class of y has no costs, the rules are judged without them.
    has_costs = summary.rules.costs is not None
    if has_costs and outcome.is_known(outcome.encode_any(rows.y)).all():
        costs = np.asarray(cost_matrix(summary.rules))
    predicted = {"Rules": rows.predicted}
    if rows.model_predictions is not None:
        predicted["Model"] = _decided(summary)
    found |= _performance(summary, predicted, costs)
    if outcome.is_binary:
        rare = int(np.argmin(summary.baseline.rates))
        is_rare = summary.baseline.rates[rare] < RARE_CLASS
        focus = outcome.labels[rare] if is_rare else outcome.positive_class
        said, is_it = {who: p == focus for who, p in predicted.items()}, rows.y == focus
        found |= {"focus": focus, "is_rare": is_rare}
        found["recall"] = {w: figure(rows, own, is_it) for w, own in said.items()}
        found["precision"] = {w: figure(rows, is_it, own) for w, own in said.items()}
    measure = "accuracy"
    if not outcome.error_is_share:
        measure = "distance"
    elif costs is not None:
        measure = "cost"
    elif outcome.is_binary and (summary.rules._form.has_costs or is_rare):
        measure = "found"
    found["outside"] = tuple(p for p in parts if _is_outside(summary, p))
    return Facts(measure, **found)


def figure(rows, values, mask=None):
    """The Figure of a share (of flags) or a mean (of losses); None without rows.

    Without values it is that of y, or of what rules estimate in place of its mean.
    """
    mask = np.ones(len(rows), dtype=bool) if mask is None else mask
    is_of_y, values = values is None, np.asarray(values)
    found = rows.observed(mask) if is_of_y else rows.loss(values, mask)
    n_part = int(values[mask].sum()) if values.dtype == bool else None
    return None if math.isnan(found[0]) else Figure(*found, int(mask.sum()), n_part)


def _losses(summary, predicted, costs):
    """Cost, distance or (0 or 1) error of each row."""
    y, outcome = summary.rows.y, summary.outcome
    if costs is not None:
        return costs[outcome.encode_any(y), outcome.encode_any(predicted)]
    if outcome.error_is_share:
        return np.asarray(predicted != y, dtype=np.float64)
    return outcome.distances(summary.rows.given_y, predicted)


def _decided(summary):
    """What the model predicts if classes are decided as the rules decide."""
    rows, outcome, found = summary.rows, summary.outcome, summary.rows.model_predictions
    if outcome.labels is None:
        return found
    codes = outcome.encode_any(found)
    return outcome.decode(decided_alike(summary.rules, codes, rows.probabilities))


def _performance(summary, predicted, costs):
    """Figures of rules, model and guess, against y."""
    rows, outcome, guess = summary.rows, summary.outcome, summary.baseline.guess
    if costs is not None:
        by_class = rows.weight @ costs[outcome.encode_any(rows.y)]
        guess = outcome.labels[int(by_class.argmin())]
    predicted = predicted | {"guess": np.full(len(rows), guess)}
    losses = {who.lower(): _losses(summary, p, costs) for who, p in predicted.items()}
    apart = losses["guess"] - losses["rules"]
    mean = float(np.average(apart, weights=rows.weight))
    variance = float(np.average((apart - mean) ** 2, weights=rows.weight))
    error = math.sqrt(variance / effective_rows(rows.weight))
    is_share = costs is None and outcome.error_is_share
    return {
        **{
            who: figure(rows, values == 0 if is_share else values)
            for who, values in losses.items()
        },
        "guess_label": guess,
        "is_no_better": mean <= QUANTILE * error,
    }


def _parts(summary):
    """The Part of each rule or total; a rule of an average has no own estimate."""
    rules, rows, outcome = summary.rules, summary.rows, summary.outcome

    def part(number, totals, k, estimate, interval, mask):
        label = None if outcome.labels is None else outcome.labels[k]
        seen = None
        if rows.y is not None:
            seen = figure(rows, None if label is None else rows.y == label, mask)
        return Part(number, totals, label, estimate, interval, int(mask.sum()), seen)

    if rules._form.is_sum:
        total = np.round(rules._form.totals(rows.matches)[:, 0], 9)
        k = outcome.positive_index if outcome.is_binary else 0
        for line in summary.totals:
            low, high = line["low"], line["high"]
            mask = (total >= low) & (total <= high)
            yield part(None, (low, high), k, line["estimated"], None, mask)
    elif rules._form.is_exclusive or rules._form.is_standalone:
        for number, rule in enumerate(rules):
            k, mask = outcome.rate_index(rule), rows.members[:, number]
            found = outcome.estimate(rule)
            estimate, interval = found.get("estimate", rule.prediction), None
            if outcome.labels is not None and math.isnan(estimate):
                continue
            if found.get("interval") is not None:
                interval = tuple(found["interval"])
            yield part(number + 1, None, k, float(estimate), interval, mask)


def _is_outside(summary, part):
    """Whether the rate or mean here contradicts the estimate of a rule.

    It lies outside the printed interval, and the estimate outside that of the rows
    here, which is wider the more rules there are: of many some differ by chance.
    """
    seen, rules = part.observed, summary.rules
    if seen is None or part.number is None or seen.n_rows < FEWEST:
        return False
    printed = part.interval
    if part.label is None:
        printed = rules._mean_intervals[part.number - 1]
    if printed is not None and printed[0] <= seen.value <= printed[1]:
        return False
    wider = -scipy.special.ndtri((1 - scipy.special.ndtr(QUANTILE)) / rules.n_rules)
    low, high = (
        seen.value + wider / QUANTILE * (end - seen.value)
        for end in (seen.low, seen.high)
    )
    return not low <= part.estimate <= high


@dataclass(frozen=True)
class Verdict:
    """What the top of the page says."""

    subtitle: str
    sentences: tuple[str, ...]
    caveats: tuple[str, ...]  # at most four, the worst first
    tables: tuple[Table, ...]  # bars: how good rules, model and a constant are


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
    measured = f"measured on {plural(len(summary.rows), 'row')}"
    if summary.data_name:
        measured += f" of {summary.data_name}"
    subtitle = sentence(measured)
    if summary.model is not None:
        subtitle = f"Rules distilled from {summary.model.the_name}, {measured}"
    sentences = filter(None, [_subject(summary), _extreme(summary)])
    caveats = [text for make in CAVEATS if (text := make(summary))]
    caveats = tuple(caveats[:MOST_CAVEATS])
    return Verdict(subtitle, tuple(sentences), caveats, _tables(summary))


def _named(summary, label):
    return f"“{summary.outcome.view.prediction(label)}”"


# The header


def _subject(summary):
    rules, outcome, what = summary.rules, summary.outcome, summary.target
    n_used, n_all = len(summary.used), len(rules.feature_names)
    if not summary.has_target_name:
        what = "the class" if outcome.labels else outcome.view.target
    if outcome.labels:
        labels = [outcome.view.prediction(label) for label in outcome.labels]
        listed = f"one of {len(labels)}"
        if len(labels) <= MOST_LISTED:
            listed = f"{', '.join(labels[:-1])} or {labels[-1]}"
        what = f"{what} ({listed})"
    size, n_parts = size_text(rules), rules.n_rules
    if rules._form.is_sum:
        size, n_parts = f"{size} with {rules._view.points_name}", len(rules.rules)
    verb = "predicts" if n_parts == 1 else "predict"
    return f"{size} {verb} {what} from {n_used} of {plural(n_all, 'feature')}."


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
    if part.totals is not None and rules._view.is_product:
        return f"at {amount(part.estimate)}"
    if part.totals is not None:
        low, high = map(amount, part.totals)
        text = f"with {low if low == high else span(low, high)} points"
    elif number > len(rules.rules):
        text = f"where no other rule matches (rule {number})"
    else:
        order = rules._form.is_ordered and number > 1
        conditions = rules.rules[number - 1].shown
        words = " and ".join("".join(condition_parts(rules, c)) for c in conditions)
        after = ", if no earlier rule matches" if order else ""
        text = f"where {words} (rule {number}{after})"
        if len(words) > LONGEST:
            text = f"where rule {number} matches{after}"
    if part.interval is None:
        write = percent if summary.outcome.labels else amount
        return f"{text}: {write(part.estimate)}"
    shown, interval = amount(part.estimate), amount_range(*part.interval)
    if summary.outcome.labels:
        shown = render.percent(part.estimate, render.percent_digits(*part.interval))
        interval = render.percent_range(*part.interval)
    return f"{text}: {shown} ({summary.outcome.view.interval_title} {interval})"


# Caveats: each returns a sentence, or nothing if it does not apply.


def _no_better(summary):
    facts = summary.facts
    if not facts.is_no_better or facts.measure == "found":
        return ""
    what = "one prediction for every row"
    if facts.measure == "distance":
        what = f"predicting the {summary.outcome.view.mean_word}"
    return f"The rules are not clearly better than {what}."


def _rare(summary):
    if not summary.facts.is_rare or summary.facts.measure != "found":
        return ""
    guess = _named(summary, summary.baseline.guess)
    right = render.percent(max(summary.baseline.rates), 1)
    return (
        f"Always predicting {guess} is right on {right} of rows, so accuracy and "
        f"agreement with the model say little here."
    )


def _costs(summary):
    return summary.rules._view.decision_text("The rules predict", "≥")


def _outside(summary):
    """The rules whose estimates do not hold, those with the most rows first."""
    found = sorted(summary.facts.outside, key=lambda part: -part.n_rows)
    if not found:
        return ""
    texts = [_held_against(summary, part) for part in found[:MOST_OUTSIDE]]
    if len(found) > MOST_OUTSIDE:
        texts.append(f"and {plural(len(found) - MOST_OUTSIDE, 'more rule')}")
    return f"Estimates off on these rows: {'; '.join(texts)}."


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
        f"rule {part.number}: {estimate}{what} estimated, {value} observed (95% "
        f"interval {low}–{high})"
    )


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


CAVEATS = _no_better, _rare, _costs, _outside, _trained, _weak, _few


# How good the rules are: tables of bars


def _tables(summary):
    """How good rules, model and one prediction for every row are: by y, by ranks."""
    facts, outcome, scores = summary.facts, summary.outcome, summary.scores
    if facts.measure == "agreement":
        agreement = agreement_text(scores["fidelity"], outcome)
        covered = scores["coverage"]
        lines = [["Agreement with the model", bar(scores["fidelity"], agreement)]]
        lines += [["Rows with a rule but the last", bar(covered, percent(covered))]]
        return (_bars("Rules and model; without true values", lines),)
    return tuple(
        _bars(*one) for one in (*_judged(summary), *_ranked(summary)) if one[1]
    )


def _judged(summary):
    """Title and lines of tables of what the rules are judged by."""
    facts, outcome, largest = summary.facts, summary.outcome, 1.0
    if facts.measure == "found":
        for title, figures in (
            (f"{_named(summary, facts.focus)} found (recall)", facts.recall),
            ("Right when flagged (precision)", facts.precision),
        ):
            yield title, _lines(summary, figures, largest)
        return
    always = f"the {outcome.view.mean_word}"
    if outcome.labels:
        always = _named(summary, facts.guess_label)
    figures = {
        "Rules": facts.rules,
        "Model": facts.model,
        f"Always {always}": facts.guess,
    }
    title = "Right predictions (accuracy)"
    if facts.measure != "accuracy":
        title = f"{sentence(outcome.view.distance)}{summary.unit}"
        title = "Cost per row" if facts.measure == "cost" else title
        largest = max(figure.high for figure in figures.values() if figure)
    yield title, _lines(summary, figures, largest)


def _lines(summary, figures, largest):
    """A bar for each figure; the first has its interval in words."""
    lines, is_share = [], summary.facts.measure in ("found", "accuracy")
    for who, figure in figures.items():
        if figure is None:
            continue
        ends = figure.low, figure.high
        text, span_text = amount(figure.value), amount_range(*ends)
        if is_share:
            text = render.percent(figure.value, render.percent_digits(*ends))
            span_text = render.percent_range(*ends)
        text += "" if lines else f" ({span_text})"
        ends = [end / largest for end in ends]
        look = "second" if who == "Model" else "quiet" * who.startswith("Always")
        lines.append([name(who), bar(figure.value / largest, text, look, ends)])
    return lines


def _ranked(summary):
    """Title and lines of tables of how well predictions order rows."""
    scores, rows = summary.scores, summary.rows
    for key, (title, least, write) in RANKS.items():
        lines = []
        for who, prefix, look in (("Rules", "", ""), ("Model", "model_", "second")):
            names = (f"{prefix}{key}{end}" for end in ("", "_low", "_high"))
            value, *ends = (scores.get(one, math.nan) for one in names)
            if math.isnan(value):
                continue
            if key == "r2":
                predicted = rows.model_predictions if prefix else rows.predicted
                ends = explained_range(rows, predicted)
            drawn = [(one - least) / (1 - least) for one in (value, *ends)]
            text, reach = write(value), None
            if not math.isnan(sum(ends)):
                reach = [max(end, 0.0) for end in drawn[1:]]
                shown = span(*map(write, ends))
                shown = render.percent_range(*ends) if write is percent else shown
                text += "" if prefix else f" ({shown})"
            lines.append([who, bar(max(drawn[0], 0.0), text, look, reach)])
        yield title, lines


def explained_range(rows, predicted):
    """The 95% interval of R², by how much each row moves it."""
    errors, spread = (rows.y - predicted) ** 2, (rows.y - rows.mean(rows.y)) ** 2
    share = rows.mean(errors) / (rows.mean(spread) or math.nan)
    moves = rows.mean_weight * (share * spread - errors)
    half = QUANTILE * math.sqrt(moves @ moves) / float(rows.mean_weight @ spread)
    return 1 - share - half, 1 - share + half


def _bars(title, lines):
    return Table((), lines, title, kind="gauges")
