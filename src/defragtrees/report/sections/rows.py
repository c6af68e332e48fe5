"""Rows and features: where rules and ensemble part, typical rows, use, overlap."""

import numpy as np

from defragtrees._utils.formatting import plural
from defragtrees.report.summary import MOST_FEATURES
from defragtrees.report.text import (
    Html,
    Table,
    answer_text,
    badge,
    bar,
    breakable,
    clamped,
    count,
    name,
    percent,
    value_text,
    values_of_row,
)

MOST_SHOWN = 20
TOP_UNUSED = 5


def disagreements(page):
    """The rows on which rules and ensemble part most."""
    summary, rules = page.summary, page.summary.rules
    differing, rows = summary.disagreements, summary.rows
    header = ["Row", "Rule", "Rules say", "Ensemble says"]
    header += [name(summary.target)] if rows.y is not None else []
    names = [clamped(rules.axis_names[j]) for j in differing.features]
    lines = []
    for i in differing.worst:
        k = int(rows.answering[i])
        answers = [rows.predicted, rows.answers, *([] if rows.y is None else [rows.y])]
        says, ensemble, *truth = (
            name(answer_text(column[i], summary.outcome)) for column in answers
        )
        if rows.sureness is not None:
            ensemble = Html(f"{ensemble} ({percent(rows.sureness[i])} sure)")
        shown = list(differing.features)
        values = _values(rules, k, rows.matrix[i, shown], shown)
        lines.append([count(i + 1), k + 1, says, ensemble, *truth, *values])
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
    """The median or commonest values of the rows of each rule."""
    summary, rules = page.summary, page.summary.rules
    shown = summary.features.telling[:MOST_FEATURES]
    lines = []
    for k, values in summary.typical_rows.items():
        card = summary.cards[k]
        cells = _values(rules, k, values, shown, 4)
        lines.append([card.name, count(card.n_rows), *cells])
    return {
        "rows": Table(
            ["Rule", "Rows", *(clamped(rules.axis_names[j]) for j in shown)],
            lines,
            "A typical row of each rule: the median or commonest value, in bold where "
            "the rule asks about the feature",
            numeric=range(1, 2 + len(shown)),
            kind="wide bars",
        )
    }


def _values(rules, k, values, features, digits=6):
    """Values of some features as cells, in bold where rule k uses them."""
    asked = {condition.feature for condition in list(rules)[k].conditions}
    texts = [
        value_text(value, rules.categories[j], digits, rules.vocabulary.scales[j])
        for value, j in zip(values, features, strict=True)
    ]
    return values_of_row(texts, [j in asked for j in features])


def shown_features(use):
    """Numbers of the used features and of the most important unused ones."""
    unused = [
        int(j)
        for j in np.argsort(-use.importance, kind="stable")
        if not use.n_rules[j] and use.importance[j] > 0
    ]
    return [*use.used, *unused[:TOP_UNUSED]][:MOST_SHOWN]


def features(page):
    """What the rules use beside what the ensemble uses."""
    use, names = page.summary.features, page.summary.rules.shown_names
    shown = shown_features(use)
    conditions = use.n_sides / max(1, use.n_sides.sum())
    largest = max([*conditions[shown], *use.importance[shown], 1e-9])
    lines = [
        [
            breakable(names[j]),
            count(use.n_rules[j]) if use.n_rules[j] else "–",
            bar(conditions[j] / largest, percent(conditions[j])),
            bar(use.importance[j] / largest, percent(use.importance[j]), "second"),
        ]
        for j in shown
    ]
    return {
        "use": use,
        "n_used": len(use.used),
        "share": use.importance[use.used].sum(),
        "n_more": len(use.used) - MOST_SHOWN,
        "features": Table(
            ["Feature", "Rules", "Conditions", "Importance"],
            lines,
            "Features of the rules and of the ensemble",
            numeric=(1,),
            kind="features",
        ),
    }


def overlap(page):
    """How much of the rows the rules match, and how much they share."""
    summary, rows = page.summary, page.summary.rows
    rules = summary.rules
    is_in_order, is_partition = rules.is_ordered, rules.is_partition
    lines = []
    for card in summary.cards:
        holds = card.share if is_partition else card.holds
        line = [card.name, badge(card), bar(holds, percent(holds), "second")]
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
            ["Rule", "Says", "Holds in", *(["Answers"] if is_in_order else [])],
            lines,
            "Where each rule holds, as a share of rows",
            kind="bars",
        ),
        "matches": None
        if is_partition
        else Table(
            ["Rules that hold, the last left out", "Rows", "Share"],
            matches,
            "How many rules hold in a row",
            numeric=(1,),
            kind="bars",
        ),
    }
