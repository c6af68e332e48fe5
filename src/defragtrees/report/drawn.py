"""Rows and rules as positions on axes, so that every picture only has to draw them."""

import itertools
from collections import Counter

import numpy as np

from defragtrees.report.axis import MISSING_AT, Axis
from defragtrees.report.boxes import map_boxes
from defragtrees.report.wording import amount
from defragtrees.tables import feature_index

__all__ = ["draw", "feature_pairs"]

MOST_AXES = 14
MOST_GROUPS = 8
LEVELS = (0.2, 0.4, 0.6, 0.8)


def feature_pairs(features, names, preferred):
    """The pairs of features to map, as numbers.

    Parameters
    ----------
    features : sequence of pairs of names or numbers, or one pair, optional
    names : sequence of str
    preferred : sequence of int
        Features by how telling they are; the first two are the default.
    """
    if features is None:
        return [tuple(preferred[:2])] if len(preferred) > 1 else []
    features = list(features)
    if len(features) == 2 and all(isinstance(f, str | int) for f in features):
        features = [features]
    pairs = []
    for pair in features:
        if isinstance(pair, str | int) or len(pair) != 2:
            raise ValueError(
                f"features must be pairs of names or numbers; got {pair!r}."
            )
        pairs.append(tuple(feature_index(one, names) for one in pair))
        if pairs[-1][0] == pairs[-1][1]:
            raise ValueError(f"A pair of features must be of two; got {pair!r}.")
    return pairs


def draw(found, preferred, pairs, max_rows):
    """Axes, rows, rules and maps as plain numbers and texts.

    Parameters
    ----------
    found : Measured
    preferred : sequence of int
        Features for the axes, the most telling first.
    pairs : sequence of pairs of int
    max_rows : int
        Most rows to draw; a sample that is the same each time if there are more.
    """
    rows = _sample(found.n_rows, max_rows)
    shown = list(preferred[:MOST_AXES])
    features = list(dict.fromkeys([*shown, *(j for pair in pairs for j in pair)]))
    may_miss = {
        c.feature for rule in found.rules.rules for c in rule.conditions if c.missing
    }
    groups, says, answers = _groups(found, rows)
    axes = [_axis(found, j, rows, says, j in may_miss) for j in features]
    place = {j: a for a, j in enumerate(features)}
    mapped = {j for pair in pairs for j in pair}
    return {
        "axes": [
            axis.to_dict(j in mapped) for j, axis in zip(features, axes, strict=True)
        ],
        "shown": len(shown),
        "n_used_left_out": max(0, len(preferred) - len(shown)),
        "groups": groups,
        "rows": _row_texts(found, rows, says, answers),
        "rules": [
            _drawn_rule(found, k, rows, axes, place) for k in range(found.rules.n_rules)
        ],
        "maps": [
            {
                "x": place[pair[0]],
                "y": place[pair[1]],
                "boxes": map_boxes(found.rules, pair, [axes[place[j]] for j in pair]),
            }
            for pair in pairs
        ],
        "n_rows": found.n_rows,
        "missing_at": MISSING_AT,
    }


def _axis(found, j, rows, groups, may_miss):
    column = found.matrix[rows, j]
    return Axis(
        found.rules.feature_names[j],
        found.rules.categories[j],
        column,
        np.asarray(groups),
        may_miss or bool(np.isnan(column).any()),
        j,
    )


def _sample(n_rows, max_rows):
    if n_rows <= max_rows:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, max_rows, replace=False))


def _groups(found, rows):
    """Groups of answers that share a colour, and the group of each drawn row twice."""
    predicted, answers = found.predicted[rows], found.answers[rows]
    if found.is_classification:
        labels, number = _class_groups(found)
        says = [number[c] for c in predicted.tolist()]
        theirs = [number[c] for c in answers.tolist()]
        return {"ordered": False, "labels": labels}, says, theirs
    edges = _edges(found)
    low, high = found.answers.min(), found.answers.max()
    ends = [amount(v, 3) for v in (low, *edges, high)]
    labels = [f"{a} to {b}" for a, b in itertools.pairwise(ends)]
    groups = [
        np.searchsorted(edges, v, side="left").tolist() for v in (predicted, answers)
    ]
    return {"ordered": True, "labels": labels}, *groups


def _class_groups(found):
    """Labels of the colours, and from class to its colour.

    Where classes are too many for a colour each, those that the rules answer with come
    first, by rows answered, then those of the ensemble; the others share one.
    """
    classes = np.asarray(found.rules.classes).tolist()
    own = classes
    if len(classes) > MOST_GROUPS:
        said = {rule.prediction for rule in found.rules}
        answered = Counter(found.predicted.tolist())
        theirs = Counter(found.answers.tolist())
        rank = {c: (-answered[c], c not in said, -theirs[c]) for c in classes}
        first = sorted(classes, key=rank.__getitem__)[: MOST_GROUPS - 1]
        own = [c for c in classes if c in first]
    labels = [str(c) for c in own] + ["another class"] * (len(own) < len(classes))
    return labels, {c: own.index(c) if c in own else len(own) for c in classes}


def _edges(found):
    """Where one colour of numbers ends and the next begins."""
    edges = np.unique(np.quantile(found.answers, LEVELS))
    return edges[edges < found.answers.max()]


def _row_texts(found, rows, says, answers):
    def text(answer):
        return str(answer) if found.is_classification else amount(answer)

    return {
        "number": (rows + 1).tolist(),
        "rule": (found.answering[rows] + 1).tolist(),
        "says": [text(a) for a in found.predicted[rows]],
        "ensemble": [text(a) for a in found.answers[rows]],
        "y": None if found.y is None else [text(a) for a in found.y[rows]],
        "agrees": (found.predicted[rows] == found.answers[rows]).tolist()
        if found.is_classification
        else None,
        "says_group": says,
        "ensemble_group": answers,
    }


def _drawn_rule(found, k, rows, axes, place):
    rule = list(found.rules)[k]
    group = None
    if found.is_classification:
        group = _class_groups(found)[1][rule.prediction]
    else:
        group = int(np.searchsorted(_edges(found), rule.prediction, side="left"))
    return {
        "group": group,
        "rows": np.flatnonzero(found.members[rows, k]).tolist(),
        "n_rows": int(found.members[:, k].sum()),
        "bands": {
            str(place[c.feature]): axes[place[c.feature]].bands(c)
            for c in rule.conditions
            if c.feature in place
        },
    }
