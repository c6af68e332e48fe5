"""Sections on rows and features: disagreements, typical rows, features, overlap."""

import numpy as np

from defragtrees._utils.formatting import plural
from defragtrees.report.summary import MOST_FEATURES
from defragtrees.report.text import (
    Html,
    Table,
    badge,
    bar,
    breakable,
    clamped,
    count,
    name,
    percent,
    prediction_text,
    value_text,
    values_of_row,
)

MOST_SHOWN = 20
TOP_UNUSED = 5


def disagreements(page):
    """The rows on which rules and ensemble disagree most."""
    summary, rules = page.summary, page.summary.rules
    differing, rows = summary.disagreements, summary.rows
    if differing is None:
        return None
    header = ["Row", "Rule", "Rules", "Ensemble"]
    header += [name(summary.target)] if rows.y is not None else []
    names = [clamped(rules.axis_names[j]) for j in differing.features]
    lines = []
    for i in differing.worst:
        k = int(rows.deciding[i])
        columns = [rows.predicted, rows.model_predictions]
        columns += [] if rows.y is None else [rows.y]
        predicted, ensemble, *truth = (
            name(prediction_text(column[i], summary.outcome)) for column in columns
        )
        if rows.sureness is not None:
            ensemble = Html(f"{ensemble} ({percent(rows.sureness[i])})")
        shown = list(differing.features)
        values = _values(rules, k, rows.matrix[i, shown], shown)
        lines.append([count(i + 1), k + 1, predicted, ensemble, *truth, *values])
    return {
        "differing": differing,
        "rows": Table(
            [*header, *names],
            lines,
            "Rows on which rules and ensemble disagree most",
            numeric=range(len(header), len(header) + len(names)),
            kind="wide",
        ),
    }


def typical_rows(page):
    """The median or most frequent values of the rows of each rule."""
    summary, rules = page.summary, page.summary.rules
    shown = summary.features.shown[:MOST_FEATURES]
    lines = []
    for k, values in summary.typical_rows.items():
        card = summary.cards[k]
        cells = _values(rules, k, values, shown, 4)
        lines.append([card.name, count(card.n_rows), *cells])
    return {
        "rows": Table(
            ["Rule", "Rows", *(clamped(rules.axis_names[j]) for j in shown)],
            lines,
            "Median or most frequent value of the rows of each rule, in bold for "
            "features that the rule uses",
            numeric=range(1, 2 + len(shown)),
            kind="wide bars",
        )
    }


def _values(rules, k, values, features, digits=6):
    """Values of some features as cells, in bold where rule k uses them."""
    used = {condition.feature for condition in list(rules)[k].conditions}
    texts = [
        value_text(value, rules.categories[j], digits, rules.vocabulary.scales[j])
        for value, j in zip(values, features, strict=True)
    ]
    return values_of_row(texts, [j in used for j in features])


def shown_features(use):
    """Indices of the used features and of the most important unused ones."""
    if use.importance is None:
        return use.used[:MOST_SHOWN]
    unused = [
        int(j)
        for j in np.argsort(-use.importance, kind="stable")
        if not use.n_rules[j] and use.importance[j] > 0
    ]
    return [*use.used, *unused[:TOP_UNUSED]][:MOST_SHOWN]


def features(page):
    """Features in the rules and their importance in the ensemble."""
    use, names = page.summary.features, page.summary.rules.shown_names
    shown = shown_features(use)
    conditions = use.n_sides / max(1, use.n_sides.sum())
    importance = use.importance
    known = [] if importance is None else importance[shown]
    largest = max([*conditions[shown], *known, 1e-9])
    lines = []
    for j in shown:
        line = [breakable(names[j])]
        line.append(count(use.n_rules[j]) if use.n_rules[j] else "–")
        line.append(bar(conditions[j] / largest, percent(conditions[j])))
        if importance is not None:
            text = percent(importance[j])
            line.append(bar(importance[j] / largest, text, "second"))
        lines.append(line)
    return {
        "use": use,
        "n_used": len(use.used),
        "share": None if importance is None else importance[use.used].sum(),
        "n_more": len(use.used) - MOST_SHOWN,
        "features": Table(
            ["Feature", "Rules", "Conditions", "Importance"][
                : 3 + (importance is not None)
            ],
            lines,
            "Features of the rules and of the ensemble",
            numeric=(1,),
            kind="features",
        ),
    }


def overlap(page):
    """Coverage of the rules and number of matching rules per row."""
    summary, rows = page.summary, page.summary.rows
    rules = summary.rules
    is_in_order, is_partition = rules.is_ordered, rules.is_partition
    lines = []
    for card in summary.cards:
        matched = card.share if is_partition else card.matches
        line = [card.name, badge(card), bar(matched, percent(matched), "second")]
        line += [bar(card.share, percent(card.share))] if is_in_order else []
        lines.append(line)
    has_conflicts = rules.is_standalone and summary.outcome.labels is not None
    matches = [
        [
            "none" if n_matching == 0 else plural(n_matching, "rule"),
            count(here.sum()),
            bar(rows.share(here), percent(rows.share(here))),
        ]
        for n_matching, here in summary.matches.items()
    ]
    return {
        "is_in_order": is_in_order,
        "is_partition": is_partition,
        "conflicts": summary.conflicts if has_conflicts else None,
        "rules": Table(
            ["Rule", "Predicts", "Matched", *(["Predicted"] if is_in_order else [])],
            lines,
            "Share of rows that each rule matches",
            kind="bars",
        ),
        "matches": None
        if is_partition
        else Table(
            ["Matching rules, without the default", "Rows", "Share"],
            matches,
            "Number of rules that match a row",
            numeric=(1,),
            kind="bars",
        ),
    }
