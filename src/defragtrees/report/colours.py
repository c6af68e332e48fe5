"""Which answers share a colour, and the rows of pictures with their colours."""

import itertools
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from defragtrees.plots.picture import RowTable
from defragtrees.report.wording import amount, answer_text

__all__ = ["make_row_table", "number_groups"]

MOST_GROUPS = 8
LEVELS = (0.2, 0.4, 0.6, 0.8)


def make_row_table(rows, drawn):
    """What pictures say of some rows, and of all rules.

    Parameters
    ----------
    rows : AnsweredRows
    drawn : int array
        Numbers of the rows, from 0.
    """
    outcome = rows.rules.outcome
    groups = _class_groups(rows) if outcome.n_classes else number_groups(rows)
    says, ensemble = rows.predicted[drawn], rows.answers[drawn]

    def texts(answers):
        return [answer_text(answer, outcome) for answer in answers]

    return RowTable(
        labels=groups.labels,
        is_ordered=not outcome.n_classes,
        number=(drawn + 1).tolist(),
        rule=(rows.answering[drawn] + 1).tolist(),
        says=texts(says),
        ensemble=texts(ensemble),
        says_group=groups.of(says),
        ensemble_group=groups.of(ensemble),
        y=None if rows.y is None else texts(rows.y[drawn]),
        agrees=(says == ensemble).tolist() if outcome.n_classes else None,
        rule_groups=groups.of([rule.prediction for rule in rows.rules]),
        members=[np.flatnonzero(some).tolist() for some in rows.members[drawn].T],
    )


@dataclass(frozen=True)
class _ClassGroups:
    """A colour for each class, and one for those that are too many."""

    labels: list[str]
    number: dict[Any, int]

    def of(self, answers):
        return [self.number[answer] for answer in np.asarray(answers).tolist()]


@dataclass(frozen=True)
class _NumberGroups:
    """A colour for each stretch of numbers; `edges` lie between them."""

    labels: list[str]
    edges: np.ndarray

    def of(self, answers):
        return np.searchsorted(self.edges, answers, side="left").tolist()


def _class_groups(rows):
    """A colour for each class while there are colours.

    Where classes are too many, those that the rules answer with come first, by rows
    answered, then those of the ensemble; the others share one.
    """
    classes = np.asarray(rows.rules.classes).tolist()
    coloured = classes
    if len(classes) > MOST_GROUPS:
        in_rules = {rule.prediction for rule in rows.rules}
        answered = Counter(rows.predicted.tolist())
        theirs = Counter(rows.answers.tolist())
        rank = {c: (-answered[c], c not in in_rules, -theirs[c]) for c in classes}
        first = sorted(classes, key=rank.__getitem__)[: MOST_GROUPS - 1]
        coloured = [c for c in classes if c in first]
    number = {c: i for i, c in enumerate(coloured)}
    labels = [rows.rules.outcome.answer_text(c) for c in coloured]
    if len(coloured) < len(classes):
        labels.append("another class")
    return _ClassGroups(labels, {c: number.get(c, len(coloured)) for c in classes})


def number_groups(rows):
    """Fifths of the ensemble's answers, where they are not the same."""
    edges = np.unique(np.quantile(rows.answers, LEVELS))
    edges = edges[edges < rows.answers.max()]
    ends = [amount(v, 3) for v in (rows.answers.min(), *edges, rows.answers.max())]
    return _NumberGroups([f"{a} to {b}" for a, b in itertools.pairwise(ends)], edges)
