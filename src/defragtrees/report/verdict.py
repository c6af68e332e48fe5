"""The verdict of a report: what is predicted, how well, and what to keep in mind.

Facts of the Summary become plain sentences, without HTML.
"""

import math
from dataclasses import dataclass

from defragtrees._utils import formatting as render
from defragtrees._utils.formatting import plural
from defragtrees.report.summary import condition_parts
from defragtrees.report.text import (
    amount,
    count,
    cut,
    error_text,
    fidelity_text,
    numbered,
    percent,
    rate_range,
    sentence,
)
from defragtrees.rules.text import decision_text

MOST_CAVEATS = 4
MOST_LISTED = 4  # maximum number of classes listed
RARE_CLASS = 0.05  # share of a class from which on accuracy says something
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
    3 rules predict species (0, 1 or 2) from 2 of 4 features.
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
    if summary.rules.costs is not None:
        return "cost"
    if summary.outcome.is_binary and (summary.has_costs or _rare_class(summary)):
        return "found"
    return "accuracy"


def _rare_class(summary):
    """The rarer of two classes if hardly any row has it, and its share; else None."""
    rates = summary.baseline.rates
    if summary.rows.y is None or not summary.outcome.n_classes == 2:
        return None
    share = min(rates)
    label = summary.outcome.labels[rates.index(share)]
    return (label, share) if share < RARE_CLASS else None


def _named(summary, label):
    return f"“{cut(summary.outcome.answer_text(label))}”"


# The header


def _subtitle(summary):
    measured = f"measured on {plural(len(summary.rows), 'row')}"
    if summary.data_name:
        measured += f" of {cut(summary.data_name)}"
    if summary.model is None:
        return sentence(measured)
    return f"Short rules for {cut(summary.model.the_name)}, {measured}"


def _subject(summary):
    rules, outcome = summary.rules, summary.outcome
    n_used, n_all = len(summary.features.used), len(rules.feature_names)
    what = cut(summary.target)
    if outcome.labels:
        labels = [cut(outcome.answer_text(label)) for label in outcome.labels]
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
    scores, rows = summary.scores, summary.rows
    low, high = _right_interval(summary)
    text = (
        f"They are right on {_share(1 - scores['error'], low, high)} of "
        f"{plural(len(rows), 'row')} (95 % interval {rate_range(low, high)})"
    )
    if summary.model is not None:
        text += f", the model on {percent(1 - scores['ensemble_error'])}"
    guess = _named(summary, summary.baseline.guess)
    return (
        f"{text}; always predicting {guess} is right on "
        f"{percent(1 - summary.baseline.guess_error)}."
    )


def _right_interval(summary):
    rows = summary.rows
    return rows.rate(rows.predicted == rows.y, rows.weight > 0)[1:]


def _share(value, low, high):
    return render.percent(value, render.percent_digits(low, high))


def _cost(summary):
    scores = summary.scores
    label, cheapest = _cheapest_guess(summary)
    text = (
        f"Their mistakes cost {amount(scores['expected_cost'])} per row on "
        f"{plural(len(summary.rows), 'row')}"
    )
    if summary.model is not None:
        text += f", those of the model {amount(scores['ensemble_expected_cost'])}"
    return (
        f"{text}; always predicting {_named(summary, label)} costs {amount(cheapest)}."
    )


def _cheapest_guess(summary):
    """The class that costs least if it is always predicted, and the mean cost."""
    rates, costs = summary.baseline.rates, summary.rules.costs
    means = [
        sum(rate * row[k] for rate, row in zip(rates, costs, strict=True))
        for k in range(len(rates))
    ]
    k = means.index(min(means))
    return summary.outcome.labels[k], means[k]


def _found(summary):
    """Precision and recall of two classes."""
    scores, outcome = summary.scores, summary.outcome
    label = _named(summary, outcome.positive_class)
    rate = summary.baseline.rates[outcome.positive_index]
    some = f"{_rare_text(rate)} of {plural(len(summary.rows), 'row')} are {label}"
    if not _flags_any(summary):
        return f"They predict {label} for no row, although {some}."
    text = (
        f"{some}: of these they find {percent(scores['recall'])}, and "
        f"{percent(scores['precision'])} of the rows that they flag are right"
    )
    if summary.model is not None:
        text += (
            f" (the model finds {percent(scores['ensemble_recall'])}, and "
            f"{percent(scores['ensemble_precision'])} are right)"
        )
    return f"{text}."


def _flags_any(summary):
    return bool((summary.rows.predicted == summary.outcome.positive_class).any())


def _rare_text(share):
    return render.percent(share, 0 if 0.1 <= share <= 0.9 else 1)


def _distance(summary):
    scores, rows = summary.scores, summary.rows
    low, high = rows.mean_interval(abs(rows.y - rows.predicted), rows.weight > 0)[1:]
    text = (
        f"They miss by {amount(scores['mae'])} on average (95 % interval "
        f"{amount(low)} to {amount(high)}) on {plural(len(rows), 'row')}"
    )
    if summary.model is not None:
        text += f", the model by {amount(scores['ensemble_mae'])}"
    guess = rows.mean(abs(rows.y - summary.baseline.guess))
    return f"{text}; always predicting the mean misses by {amount(guess)}."


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
    """The rule, or the total, with the highest probability or prediction."""
    rules = summary.rules
    if summary.totals:
        return _extreme_total(summary)
    if not rules.rules or rules.combination == "sum":
        return ""
    if not summary.outcome.labels:
        return _extreme_number(summary)
    estimates = [summary.outcome.estimate(rule) for rule in rules]
    known = [k for k, found in enumerate(estimates) if found["interval"]]
    if not known:
        return ""
    k = max(known, key=lambda k: estimates[k]["estimate"])
    label = sentence(_named(summary, estimates[k]["class"]))
    text = f"{label} is most likely {_estimated(summary, k, estimates[k])}"
    base = rules.training_rates
    if k == len(rules.rules) and base is not None and summary.outcome.is_binary:
        # What no rule matches is hard to picture.
        least = base[summary.outcome.positive_index]
        others = [j for j in known if j != k and estimates[j]["interval"][0] > least]
        for j in sorted(others, key=lambda j: -estimates[j]["estimate"])[:1]:
            return f"{text}; next {_estimated(summary, j, estimates[j])}."
    return f"{text}{_seen(summary, k, estimates[k]['class'])}."


def _estimated(summary, k, found):
    """The conditions of a rule, its probability and the interval."""
    low, high = found["interval"]
    return (
        f"{_where(summary.rules, k)}: {_share(found['estimate'], low, high)} (95 % "
        f"interval {rate_range(low, high)})"
    )


def _where(rules, k):
    """The conditions of a rule in words, and its number."""
    if k == len(rules.rules):
        return f"where no other rule matches (rule {k + 1})"
    texts = ["".join(condition_parts(c, rules)) for c in rules._shown_conditions[k]]
    order = ", if no earlier rule matches" if rules.is_ordered and k else ""
    return f"where {cut(' and '.join(texts))} (rule {k + 1}{order})"


def _seen(summary, k, label):
    """How many of its rows have the class here."""
    rows = summary.rows
    members = rows.members[:, k]
    if rows.y is None or not members.any() or summary.is_weighted:
        return ""
    n_seen = int((rows.y[members] == label).sum())
    return f"; here {count(n_seen)} of {plural(int(members.sum()), 'row')}"


def _extreme_number(summary):
    rules, every = summary.rules, list(summary.rules)
    order = sorted(range(len(every)), key=lambda k: every[k].prediction)
    ends = []
    for k in (order[-1], order[0]):
        text = f"{_where(rules, k)}: {amount(every[k].prediction)}"
        if every[k].quantiles is not None:
            low, high = map(amount, every[k].quantiles)
            text += f" (80 % of rows {low} to {high})"
        ends.append(text)
    return f"Predictions are highest {ends[0]}, and lowest {ends[1]}."


def _extreme_total(summary):
    outcome = summary.outcome
    if not outcome.is_binary:
        return ""
    line = summary.totals[-1 if outcome.positive_index == 1 else 0]
    likely = line["estimated"]
    if outcome.positive_index == 0:
        likely = 1 - likely
    low, high = amount(line["low"]), amount(line["high"])
    total = f"a total of {low}" if low == high else f"totals of {low} to {high}"
    label = sentence(_named(summary, outcome.positive_class))
    text = f"{label} is most likely with {total} points: "
    text += f"estimated probability {percent(likely)}"
    if "observed" in line:
        seen = line["observed"] if outcome.positive_index else 1 - line["observed"]
        text += f"; here {percent(seen)} of {plural(line['n_rows'], 'row')}"
    return f"{text}."


# Caveats: each returns a sentence, or nothing if it does not apply.


def _no_better(summary):
    if _measure(summary) not in ("accuracy", "distance"):
        return ""
    if summary.scores["error"] < summary.baseline.guess_error:
        return ""
    text = "The rules are no more often right than one prediction for every row"
    if not summary.outcome.error_is_share:
        text = "The rules are no closer than predicting the mean for every row"
    auc = summary.scores.get("auc", math.nan)
    if not math.isnan(auc):
        text += f"; their probabilities still rank rows (AUC {auc:.2f})"
    return f"{text}."


def _rare(summary):
    found = _rare_class(summary)
    if found is None:
        return ""
    label, share = found
    guess = _named(summary, summary.baseline.guess)
    text = (
        f"Only {_rare_text(share)} of the rows are {_named(summary, label)}. Always "
        f"predicting {guess} is right on {_rare_text(1 - share)}, so accuracy and "
        "agreement with the model say little here"
    )
    auc = summary.scores.get("auc", math.nan)
    if not math.isnan(auc):
        text += f"; read the probabilities (AUC {auc:.2f})"
    return f"{text}."


def _costs(summary):
    if not summary.has_costs:
        return ""
    text, costs = decision_text(summary.rules), summary.costs
    if costs is not None:
        label = _named(summary, summary.outcome.positive_class)
        text = (
            f"A missed {label} costs {amount(costs.miss)}, a false one "
            f"{amount(costs.alarm)}; so the rules predict {label} from a probability "
            f"of {percent(costs.border)} on."
        )
    if summary.rows.y is None:
        return text
    wrong = percent(summary.scores["error"])
    return f"{text} They are wrong on {wrong} of rows, which is not the measure here."


def _outside(summary):
    """Rules whose estimate and observed rate contradict each other."""
    rules, outcome = summary.rules, summary.outcome
    if rules.combination == "sum" or outcome.statistic != "rates":
        return ""
    numbers = []
    for line, rule in zip(summary.calibration, rules, strict=False):
        if not line["n_rows"] or rule.interval is None:
            continue
        low, high = rule.interval[outcome.rate_index(rule)]
        is_outside = not low <= line["observed"] <= high
        if is_outside and not line["low"] <= line["estimated"] <= line["high"]:
            numbers.append(line["rule"])
    if not numbers:
        return ""
    its = "its" if len(numbers) == 1 else "their"
    verb = "differs" if len(numbers) == 1 else "differ"
    return (
        f"{sentence(numbered(numbers))} {verb} here from what was estimated: the "
        f"observed rate lies outside {its} 95 % interval."
    )


def _shorter(summary):
    """A shorter list that does as well here."""
    trade_off, outcome = summary.trade_off, summary.outcome
    if _measure(summary) not in ("accuracy", "distance") or trade_off is None:
        return ""
    if trade_off.shown is None:
        return ""
    shown = trade_off.points[trade_off.shown]
    fewer = [
        point
        for point in trade_off.points
        if 1 < point.n_rules < shown.n_rules and point.error <= shown.error
    ]
    if not fewer:
        return ""
    best = min(fewer, key=lambda point: (point.n_rules, point.error))
    theirs, own = (error_text(point.error, outcome) for point in (best, shown))
    if outcome.error_is_share:
        measured = (
            f"{best.n_rules} are wrong on {theirs}, these {shown.n_rules} on {own}"
        )
    else:
        measured = f"the RMSE of {best.n_rules} is {theirs}, that of all {own}"
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
    verb = "is" if len(weak) == 1 else "are"
    return f"{which} {verb} weak (▲), mostly because {REASONS[mostly]}."


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
    scores = summary.scores
    low, high = _right_interval(summary)
    tiles = [
        (_share(1 - scores["error"], low, high), "right (accuracy of the rules)"),
        (rate_range(low, high), "95 % interval of the accuracy"),
    ]
    if summary.model is not None:
        tiles.append((percent(1 - scores["ensemble_error"]), "accuracy of the model"))
    guess = _named(summary, summary.baseline.guess)
    right = percent(1 - summary.baseline.guess_error)
    return [*tiles, (right, f"accuracy of always predicting {guess}")]


def _cost_tiles(summary):
    scores = summary.scores
    tiles = [(amount(scores["expected_cost"]), "cost per row of the rules")]
    if summary.model is not None:
        cost = amount(scores["ensemble_expected_cost"])
        tiles.append((cost, "cost per row of the model"))
    label, cheapest = _cheapest_guess(summary)
    always = f"cost of always predicting {_named(summary, label)}"
    return [*tiles, (amount(cheapest), always)]


def _found_tiles(summary):
    scores = summary.scores
    label = _named(summary, summary.outcome.positive_class)
    rate = summary.baseline.rates[summary.outcome.positive_index]
    tiles = [(_rare_text(rate), f"of rows are {label}")]
    if _flags_any(summary):
        tiles = [
            (percent(scores["recall"]), f"of {label} found (recall)"),
            (percent(scores["precision"]), "of flagged rows right (precision)"),
        ]
    if not math.isnan(scores.get("auc", math.nan)):
        tiles.append((f"{scores['auc']:.2f}", "AUC of the rules"))
        if "ensemble_auc" in scores:
            tiles.append((f"{scores['ensemble_auc']:.2f}", "AUC of the model"))
    return tiles


def _distance_tiles(summary):
    scores, rows = summary.scores, summary.rows
    tiles = [(amount(scores["mae"]), "mean absolute error of the rules")]
    if summary.model is not None:
        mae = amount(scores["ensemble_mae"])
        tiles.append((mae, "mean absolute error of the model"))
    guess = rows.mean(abs(rows.y - summary.baseline.guess))
    tiles.append((amount(guess), "error of always predicting the mean"))
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
