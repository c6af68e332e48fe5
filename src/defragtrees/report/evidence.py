"""What the rows say of the rules: how often each is right, where they part, overlap."""

import numpy as np

from defragtrees import render
from defragtrees.report.wording import amount, true_minus, value_text

__all__ = [
    "closeness",
    "condition_parts",
    "disagreements",
    "overlap",
    "rule_cards",
    "typical_rows",
]

WORST_ROWS = 12
WORST_FEATURES = 8
MOST_CLASSES = 12
QUANTILES = (0.1, 0.5, 0.9)
MARK = "\0"  # no name of a feature contains it


def rule_cards(found):
    """One dict per rule: its conditions in parts, its answer and its evidence."""
    cards = []
    for k, (rule, row) in enumerate(zip(found.rules, found.rules.rows(), strict=True)):
        own = found.members[:, k]
        cards.append(
            {
                "number": row["rule"],
                "text": row["if"],
                "parts": [condition_parts(c, found.rules) for c in rule.conditions],
                "then": _then(found, row),
                "answer": _answer_number(rule, found),
                "weight": render.number(rule.weight) if found.is_average else None,
                "n_rows": int(own.sum()),
                "share": found.share(own),
                "holds": found.share(found.held[:, k]),
                **_quality(found, own),
            }
        )
    return cards


def condition_parts(condition, rules):
    """What is said before the feature's name, the name, and what is said after it.

    The text is that of `Condition.text`, so that the report cannot say another thing.
    """
    name = rules.feature_names[condition.feature]
    names = {condition.feature: MARK}
    before, after = condition.text(names, rules.categories).split(MARK, 1)
    if condition.categories is None:
        before, after = (
            true_minus(part.replace("<=", "≤")) for part in (before, after)
        )
    return [before, name, after]


def _then(found, row):
    """A rule's answer; a class is shown as it is given, a number with a true minus."""
    return row["then"] if found.is_classification else true_minus(row["then"])


def _answer_number(rule, found):
    """The class number of an answer, which decides its colour; None for a number."""
    if not found.is_classification:
        return None
    return list(found.rules.classes).index(rule.prediction)


def _quality(found, own):
    """Of the rows of one rule: right answers and agreement, or mean distances."""
    if found.is_classification:
        right = None if found.y is None else found.predicted == found.y
        return {
            "right": None if right is None else found.mean(right, own),
            "agrees": found.mean(found.predicted == found.answers, own),
        }
    return {
        "miss": None
        if found.y is None
        else found.mean(np.abs(found.predicted - found.y), own),
        "distance": found.mean(np.abs(found.predicted - found.answers), own),
        "ensemble_mean": found.mean(found.answers, own),
    }


def closeness(found):
    """Rules against ensemble: counts of class pairs, or each rule's ensemble answers.

    Returns
    -------
    dict
        With `kind`, and for classes `classes` and `counts`, the rules' answers down
        and the ensemble's across; for numbers `rows`, one for each rule with rows:
        number, answer, and quantiles of what the ensemble says there.
    """
    if found.is_classification:
        return _class_pairs(found)
    rows = []
    for k, row in enumerate(found.rules.rows()):
        own = found.members[:, k]
        if own.any():
            levels = np.quantile(found.answers[own], QUANTILES)
            rows.append(
                {
                    "number": row["rule"],
                    "then": _then(found, row),
                    "n_rows": int(own.sum()),
                    "quantiles": levels.tolist(),
                }
            )
    ends = [float(found.answers.min()), float(found.answers.max())]
    return {"kind": "numbers", "rows": rows, "range": ends}


def _class_pairs(found):
    classes = list(found.rules.classes)
    seen = [
        c for c in classes if (found.predicted == c).any() or (found.answers == c).any()
    ]
    counts = [
        [int(((found.predicted == one) & (found.answers == two)).sum()) for two in seen]
        for one in seen
    ]
    cut = len(seen) > MOST_CLASSES
    return {
        "kind": "classes",
        "classes": [] if cut else [str(c) for c in seen],
        "counts": [] if cut else counts,
        "n_classes": len(seen),
    }


def disagreements(found, features):
    """The rows on which rules and ensemble differ most.

    Parameters
    ----------
    found : Measured
    features : sequence of int
        Features that the rules use, the most used first.
    """
    if found.is_classification:
        differs = found.predicted != found.answers
        sure = found.forest.predict_proba_encoded(found.matrix).max(axis=1)
        size = np.where(differs, sure, -1.0)
    else:
        size = np.abs(found.predicted - found.answers)
        differs = size > 0
        sure = None
    # Rows of one size in the order of X, so that a report is the same each time.
    worst = np.argsort(-size, kind="stable")[:WORST_ROWS]
    worst = worst[differs[worst]]
    shown = list(features[:WORST_FEATURES])
    return {
        "n": int(differs.sum()),
        "share": found.share(differs),
        "mean_distance": None
        if found.is_classification
        else found.mean(size, np.ones(found.n_rows, bool)),
        "features": [found.rules.feature_names[j] for j in shown],
        "n_features_left_out": len(features) - len(shown),
        "has_y": found.y is not None,
        "rows": [_disagreement(found, i, sure, shown) for i in worst],
    }


def _disagreement(found, i, sure, shown):
    k = int(found.answering[i])
    asked = {c.feature for c in list(found.rules)[k].conditions}
    categories = found.rules.categories
    return {
        "row": int(i) + 1,
        "rule": k + 1,
        "says": _answer_text(found, found.predicted[i]),
        "ensemble": _answer_text(found, found.answers[i]),
        "sure": None if sure is None else float(sure[i]),
        "y": None if found.y is None else _answer_text(found, found.y[i]),
        "values": [value_text(found.matrix[i, j], categories[j]) for j in shown],
        "asked": [j in asked for j in shown],
    }


def _answer_text(found, answer):
    return str(answer) if found.is_classification else amount(answer)


def overlap(found):
    """How many rules hold in a row, and how many rows that is true of."""
    n_holding = found.held[:, :-1].sum(axis=1)
    numbers = np.unique(n_holding)
    everywhere = np.ones(found.n_rows, bool)
    is_partition = found.rules.decision == "partition"
    return {
        "coverage": 1.0 if is_partition else found.share(n_holding > 0),
        "mean": 1.0 if is_partition else found.mean(n_holding, everywhere),
        "counts": [
            {
                "n_holding": int(n),
                "n_rows": int((n_holding == n).sum()),
                "share": found.share(n_holding == n),
            }
            for n in numbers
        ],
    }


def typical_rows(found, features):
    """For each rule with rows, the middle or commonest value of some features.

    Parameters
    ----------
    found : Measured
    features : sequence of int
    """
    shown = list(features[:WORST_FEATURES])
    rows = []
    for k, rule in enumerate(found.rules):
        own = found.members[:, k]
        if own.any():
            asked = {condition.feature for condition in rule.conditions}
            rows.append(
                {
                    "number": k + 1,
                    "n_rows": int(own.sum()),
                    "values": [_middle(found, own, j) for j in shown],
                    "asked": [j in asked for j in shown],
                }
            )
    return {"features": [found.rules.feature_names[j] for j in shown], "rows": rows}


def _middle(found, own, j):
    column = found.matrix[own, j]
    there = column[~np.isnan(column)]
    categories = found.rules.categories[j]
    if not len(there):
        return "missing"
    if categories is None:
        return value_text(np.median(there), None, 4)
    values, counts = np.unique(there, return_counts=True)
    return value_text(values[counts.argmax()], categories)
