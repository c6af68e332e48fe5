"""Sections for the analyst: data and model, measures, other sizes and methods."""

import itertools
import math
from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.metrics import confusion_matrix

from defragtrees._utils import formatting as render
from defragtrees._utils.formatting import count, lines_of, percent, true_minus
from defragtrees.outcomes.decision import positive_threshold
from defragtrees.plots.measures import calibration_picture, trade_off_picture
from defragtrees.plots.picture import Axis
from defragtrees.report.condition_charts import Scale
from defragtrees.report.model import changed_settings, versions
from defragtrees.report.sections.for_all import observed_cells, total_text
from defragtrees.report.summary import QUANTILES, is_rarely_found
from defragtrees.report.text import (
    Html,
    Table,
    agreement_text,
    amount,
    badge,
    bar,
    breakable,
    clamped,
    condition_parts,
    error_text,
    escaped,
    fidelity_text,
    isolated,
    name,
    numbered,
    prediction_text,
    range_bar,
    rate_text,
    sentence,
    shown_error_text,
    size_text,
    typeset,
    value_text,
    with_interval,
)
from defragtrees.rules.text import mean_gap
from defragtrees.segments import Segments
from defragtrees.segments.found import Heading

MOST_CLASSES = 20
FOUR_FIFTHS = 0.8  # the four-fifths rule for ratios of selection rates
FEWEST_IN_GROUP = 30  # rows, below which its rate is not compared
MOST_APART = 6  # pairs of groups that are listed
MOST_GROUPED = 6  # maximum number of classes with a table of groups
MOST_PAIRED = 12  # maximum number of classes in a confusion matrix


def data(page):
    """Model, rows, and the distribution of the target."""
    summary = page.summary
    rows, outcome, baseline = summary.rows, summary.outcome, summary.baseline
    context = {
        "n_features": rows.matrix.shape[1],
        "has_missing": np.isnan(rows.matrix).any(),
        "counted": summary.rules._view.evidence(),
        "classes": None,
        "positive": None,
    }
    if outcome.statistic == "mean":
        low, middle, high = map(amount, baseline.quantiles)
        levels = f"{render.percent(QUANTILES[0])} and {render.percent(QUANTILES[-1])}"
        text = f", its median {middle}, and its {levels} quantiles are {low} and {high}"
        if len(outcome.columns) > 1:
            text = f": {outcome.view.counted(rows.given_y, rows.weight)}"
        return context | {"distribution": text}
    if outcome.n_classes <= MOST_CLASSES:
        context["classes"] = _classes(summary)
    if outcome.is_binary:
        context["positive"] = outcome.view.prediction(outcome.positive_class)
    return context


def _classes(summary):
    """The classes, their labels and their base rates."""
    baseline, rules = summary.baseline, summary.rules
    before = rules._form.training_rates
    lines = []
    for k, label in enumerate(rules.outcome.labels):
        rate = baseline.rates[k]
        line = [name(summary.outcome.view.prediction(label))]
        line += [name(label)] if rules.class_labels else []
        [colour] = summary.colours.of([label])
        line += [count(baseline.n_rows[k]), bar(rate, rate_text(rate), colour)]
        line += [render.share_range(*baseline.intervals[k])]
        lines.append(line + ([] if before is None else [rate_text(before[k])]))
    header = ["Class"] + (["In the data"] if rules.class_labels else [])
    first = len(header)
    header += ["Rows", "Base rate", "95% interval"]
    header += [] if before is None else ["Base rate in the rows of the estimates"]
    return Table(
        header,
        lines,
        "The classes and their base rates",
        numeric=(first, *range(first + 2, len(header))),
    )


def measures(page):
    """All measures of rules and model, and the confusion matrix."""
    summary = page.summary
    rows, outcome, rules = summary.rows, summary.outcome, summary.rules
    if rows.y is None:
        return None
    has_costs = rules.costs is not None
    is_card = rules._form.is_sum and outcome.is_binary
    given = {"has_costs": has_costs, "is_card": is_card}
    shown = outcome.view.measure_titles(summary.scores, **given)
    training = getattr(summary.simplifier, "training_", None)
    columns = [("Rules", "", summary.scores), ("Model", "model_", summary.scores)]
    if training is not None:
        columns += [("Rules, training", "", training)]
        columns += [("Model, training", "model_", training)]
    if summary.model is None:
        columns = columns[::2]
    lines = [
        [sentence(label), *(_value(key, *column[1:], outcome) for column in columns)]
        for key, label in shown.items()
    ]
    if summary.model is not None:
        shares = [{} if prefix else scores for _, prefix, scores in columns]
        shares = [one.get("fidelity") for one in shares]
        texts = ["–" if one is None else agreement_text(one, outcome) for one in shares]
        lines.append(["Agreement with the model", *texts])
    header = ["Measure", *(title for title, *_ in columns)]
    threshold = rules.threshold
    if threshold is not None:
        threshold = amount(positive_threshold(threshold, outcome.positive_index))
    return {
        "label": _positive_text(outcome),
        "how_to_read": outcome.view.how_to_read_measures(summary.target),
        "threshold": threshold,
        "has_costs": has_costs,
        "measures": Table(
            header,
            lines,
            f"Measures for {summary.target}",
            numeric=range(1, len(header)),
            kind="",
        ),
        "confusion": _confusion(summary) if outcome.labels else None,
    }


def _positive_text(outcome):
    """The class of two whose rates are shown; None for more classes or numbers."""
    return (
        outcome.view.prediction(outcome.positive_class) if outcome.is_binary else None
    )


def _value(key, prefix, scores, outcome):
    value = scores.get(f"{prefix}{key}")
    if value is None or math.isnan(value):
        return "–"
    if key == "precision" and not scores.get(f"{prefix}recall"):
        return "–"  # nothing is found, mostly as the class is never predicted
    if key == "error":
        return error_text(value, outcome)
    if key in ("r2", "d2") or (outcome.error_is_share and value < 10):
        return fidelity_text(value)
    return amount(value)


def _confusion(summary):
    """Rows by true and predicted class; the number of classes if they are too many."""
    rows = summary.rows
    outcome = summary.outcome
    codes = [outcome.encode_any(labels) for labels in (rows.y, rows.predicted)]
    labels = [k for k in range(outcome.n_classes) if k in np.unique(codes)]
    if len(labels) > MOST_PAIRED:
        return len(labels)
    names = [name(outcome.view.prediction(outcome.labels[k])) for k in labels]
    counts = confusion_matrix(*codes, labels=labels)
    lines = []
    for i, (label, line) in enumerate(zip(names, counts, strict=True)):
        kinds = ["same" if i == j else "other" for j in range(len(line))]
        cells = zip(kinds, map(count, line), strict=True)
        lines.append([label, *({"kind": kind, "text": text} for kind, text in cells)])
    return Table(
        ["True class", *(Html(f"rules: {label}") for label in names)],
        lines,
        "Rows by true class and class predicted by the rules",
        numeric=range(1, len(labels) + 1),
        kind="pairs",
    )


def calibration(page):
    """Estimated and observed rates of each rule, as a table and a picture."""
    summary, outcome = page.summary, page.summary.outcome
    if not summary.calibration:
        return None
    write = rate_text if outcome.statistic == "rates" else amount
    gap = mean_gap(summary.calibration)
    by_rule = not summary.rules._form.is_sum
    # The prediction of a number is its estimate.
    n_known = int(by_rule and not outcome.labels)
    lines = []
    for line in summary.calibration:
        if "total" in line:
            cells = [total_text(*summary.rules._view.shown_totals(*line["total"]))]
        elif "rule" not in line:
            cells = [name(outcome.view.prediction(line["class"]))]
        else:
            card = summary.cards[line["rule"] - 1]
            cells = [f"Rule {card.number}", badge(card.then, card.colour)]
        cells.append(count(round(line["n_rows"])))
        lines.append([*cells, *observed_cells(line, outcome)[n_known:]])
    total_name = summary.rules._view.total_name
    one = "rule" if by_rule else total_name if summary.totals else "class"
    header = ["Rule", "Predicts"] if by_rule else [sentence(one)]
    values = ["Estimated", "Observed", "95% interval"][n_known:]
    header += ["Rows", *values]
    picture = calibration_picture(summary.calibration, summary.rules, write)
    gap_text = amount(gap)
    if outcome.has_probabilities:
        gap_text = f"{100 * gap:.1f} percentage points"
    return {
        "label": _positive_text(outcome),
        "gap": gap_text,
        "picture": page.draw("calibration", picture),
        "one": one,
        "lines": Table(
            header,
            lines,
            f"Estimated and observed values of each {one}, on these rows",
            numeric=range(len(header) - 1 - len(values), len(header)),
        ),
    }


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
            size_text(point.rules),
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
    axis = Axis(
        outcome.error_name, is_share=outcome.error_is_share, starts_at_zero=True
    )
    write = partial(shown_error_text, outcome=outcome)
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


def segments(page):
    """One table per group of segments."""
    found = page.summary.segments
    return None if found is None else segment_groups(found)


def segment_groups(found):
    """Heading, table and note of each group; without segments a note only."""
    if isinstance(found, Segments):
        heading = Heading(f"Where the {found.loss_name} is {found.direction}")
        return {"lead": "", "groups": [_segment_group(heading, found)]}
    pairs = [(found.headings[key], one) for key, one in found.items()]
    groups = [_segment_group(*pair) for pair in pairs]
    return {"lead": true_minus(found.lead), "groups": groups}


def _segment_group(heading, found):
    heading, about = heading
    note = typeset(found._note())
    if about:
        note = f"{sentence(about)}. {note}"
    if not len(found):
        return {"heading": heading, "table": None, "note": note}
    header, lines = found._cells()
    ends = [end for one in found for end in one.interval]
    scale, rows = Scale(False, [*ends, found.rest]), []
    for one, (number, _, *figures) in zip(found, lines, strict=True):
        n_rows, mean, interval, *others = map(true_minus, figures)
        limits = scale.low, scale.high
        low, high = one.interval
        drawn = range_bar(low, one.mean, high, found.rest, "g1", limits)
        drawn["text"] = interval
        cells = [n_rows, mean, drawn, *others]
        rows.append([number, _conditions(one, found.rules), *cells])
    table = Table(
        [name(one) for one in header],
        rows,
        heading,
        numeric=range(2, len(header)),
        kind="segments",
    )
    return {"heading": heading, "table": table, "note": note}


def _conditions(segment, rules):
    """The conditions as HTML, one per line."""
    lines = []
    for condition in segment.conditions:
        before, feature, after = condition_parts(rules, condition)
        lines.append(f"{escaped(before)}{breakable(feature)}{isolated(after)}")
    return Html("<br>and ".join(lines))


def groups(page):
    """A table with one row per group, and the largest difference."""
    summary = page.summary
    if summary.groups is None:
        return None
    tables = {"rates": _rate_groups, "mean": _mean_groups}[summary.outcome.statistic]
    return {"tables": tables(summary)}


def _mean_groups(summary):
    columns = {
        "mean": (Html(name(sentence(summary.mean_text))), _mean_cell),
        "prediction": ("Mean prediction", _mean_cell),
        "bias": ("Mean error (bias)", _mean_cell),
        "error": (sentence(summary.outcome.view.distance), _mean_cell),
    }
    lines = summary.group_lines()
    table = _group_table(summary, lines, columns, summary.target)
    return [{"label": None, "table": table}]


def _group_table(summary, lines, columns, about):
    """One row per group; `columns` are a heading and a cell function by key."""
    kept = {key: column for key, column in columns.items() if key in lines[0]}
    header = [name(summary.groups.name), "Rows", *(head for head, _ in kept.values())]
    about_groups = [[name(line["group"]), count(line["n_rows"])] for line in lines]
    for cells, line in zip(about_groups, lines, strict=True):
        cells += [cell(*line[key]) for key, (_, cell) in kept.items()]
    return Table(
        header,
        about_groups,
        f"{about} by group, with 95% intervals",
        numeric=range(1, len(header)),
        kind="bars groups",
    )


def _mean_cell(mean, low, high):
    return "–" if math.isnan(mean) else with_interval(*map(amount, (mean, low, high)))


def _rate_groups(summary):
    """One table for the positive class, or one per class for the first of many."""
    outcome, tables = summary.outcome, []
    shown = outcome.labels[:MOST_GROUPED]
    if outcome.is_binary:
        shown = (outcome.positive_class,)
    for label in shown:
        written, lines = outcome.view.prediction(label), summary.group_lines(label)
        columns = {
            "rate": (Html(f"Rate of {name(written)}"), _rate_cell),
            "selection": ("Selection rate", _rate_cell),
            "error": ("Error", _rate_cell),
        }
        table = _group_table(summary, lines, columns, written)
        tables.append({"label": written, "gap": _gap(lines), "table": table})
    return tables


def _rate_cell(rate, low, high):
    if math.isnan(rate):
        return "–"
    return with_interval(rate_text(rate), rate_text(low, ""), rate_text(high))


def _gap(lines):
    """The groups whose selection rates differ most, and those that differ surely.

    Small groups are left out, if there are two others; None if all rates are equal.
    """
    there = [line for line in lines if not math.isnan(line["selection"][0])]
    large = [line for line in there if line["n_rows"] >= FEWEST_IN_GROUP]
    small = [line for line in there if line["n_rows"] < FEWEST_IN_GROUP]
    if len(large) < 2:
        large, small = there, []
    by_rate = sorted(large, key=lambda line: line["selection"][0])
    low, high = by_rate[0], by_rate[-1]
    ratio = low["selection"][0] / (high["selection"][0] or math.nan)
    if low["selection"][0] == high["selection"][0]:
        return None
    pairs = [
        f"{one['group']} and {other['group']}"
        for one, other in itertools.combinations(by_rate, 2)
        if one["selection"][2] < other["selection"][1]
    ]
    more = [f"{len(pairs) - MOST_APART} more"] if pairs[MOST_APART:] else []
    return {
        "low": low,
        "high": high,
        "ratio": ratio,
        "is_far": ratio < FOUR_FIFTHS,
        "may_be_chance": high["selection"][1] <= low["selection"][2],
        "pairs": "; ".join([*pairs[:MOST_APART], *more]) if pairs[1:] else "",
        "small": small,
    }


def disagreements(page):
    """The rows on which rules and model disagree most."""
    summary, rules = page.summary, page.summary.rules
    if summary.model is None:
        return None
    differing, rows = summary.disagreements, summary.rows
    # Where rules combine, no single one is to blame.
    is_one = rules._form.is_exclusive
    header = ["Row", *(["Rule"] if is_one else []), "Rules", "Model"]
    truth = summary.target if len(summary.outcome.columns) == 1 else "observed"
    header += [name(truth)] if rows.y is not None else []
    names = [clamped(rules._vocabulary.axis_names[j]) for j in differing.features]
    lines = []
    for i in differing.worst:
        k = int(rows.deciding[i]) if is_one else None
        columns = [rows.predicted, rows.model_predictions]
        columns += [] if rows.y is None else [rows.y]
        predicted, model, *truth = (
            name(prediction_text(column[i], summary.outcome)) for column in columns
        )
        if rows.sureness is not None:
            model = Html(f"{model} ({percent(rows.sureness[i])})")
        conditions = () if k is None else list(rules)[k].conditions
        used = {condition.feature for condition in conditions}
        values = []
        for j in differing.features:
            scale, labels = rules._vocabulary.scales[j], rules.categories[j]
            text = name(value_text(rows.matrix[i, j], labels, scale=scale))
            values.append({"kind": "bold", "text": text} if j in used else text)
        number = [k + 1] if is_one else []
        lines.append([count(i + 1), *number, predicted, model, *truth, *values])
    return {
        "differing": differing,
        "is_one": is_one,
        "rows": Table(
            [*header, *names],
            lines,
            "Rows on which rules and model disagree most",
            numeric=[
                place
                for place, j in enumerate(differing.features, len(header))
                if rules.categories[j] is None
            ],
            kind="wide",
        ),
    }


def stability(page):
    """In how many fits each rule is found again, and its rates in them."""
    summary, measured = page.summary, page.summary.stability
    if measured is None:
        return None
    header, cells = measured._cells()
    lines = []
    for card, n_back, cell in zip(summary.cards, measured.returns, cells, strict=True):
        _, found, *rates = cell
        then, again = badge(card.then, card.colour), n_back / measured.n_resamples
        lines.append([f"Rule {card.number}", then, bar(again, found), *rates])
    n_rules = len(measured.returns)
    rare = [k + 1 for k in range(n_rules) if is_rarely_found(k, measured)]
    return {
        "rare": sentence(numbered(rare)) if rare else "",
        "verb": "is" if len(rare) == 1 else "are",
        "share": len(rare) / n_rules,
        "rules": Table(
            ["Rule", "Predicts", "Found again", *map(sentence, header[2:])],
            lines,
            "Fits with a rule that has the same prediction and mostly the same rows",
        ),
    }


def alternatives(page):
    """Other rule models that are as good, to look through."""
    found = page.summary.alternatives
    if found is None:
        return None
    header, lines = found._cells()
    header = [*map(sentence, header)]
    lines = [[*line[:-1], ", ".join(lines_of(line[-1]))] for line in lines]
    return {
        "models": [(k, str(rules)) for k, rules in enumerate(found) if k],
        "menu": Table(
            header, lines, "Rule models as good as the best", numeric=(1, 2, 3)
        ),
    }


def settings(page):
    """Code and command, settings that are not the default, and versions."""
    summary = page.summary
    method = None if summary.simplifier is None else type(summary.simplifier).__name__
    return {
        "method": method,
        "own": changed_settings(summary.simplifier),
        "theirs": changed_settings(summary.model and summary.model.fitted),
        "versions": " · ".join(map(" ".join, versions(summary.model).items())),
    }
