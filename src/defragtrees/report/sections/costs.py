"""What mistakes cost: the cost of every border between two classes."""

from dataclasses import dataclass

import numpy as np

from defragtrees.plots.picture import Axis, Curve, Picture
from defragtrees.report.markup import name, table
from defragtrees.report.wording import amount, rate_text

__all__ = ["CostCurve", "measure", "write"]

MOST_BORDERS = 300  # that are drawn


@dataclass(frozen=True, eq=False)
class CostCurve:
    """Mean cost of a row by the probability from which on the told class is said."""

    borders: np.ndarray  # ascending; the last is above every probability
    costs: np.ndarray

    @property
    def best(self):
        """The lowest cost and its border."""
        k = int(self.costs.argmin())
        return float(self.costs[k]), float(self.borders[k])


def measure(told, is_second, weight, costs):
    """The curve of some rows.

    Parameters
    ----------
    told : array of shape (n_samples,)
        Probability of the second class.
    is_second : bool array of shape (n_samples,)
        Where it is true.
    weight : array of shape (n_samples,)
    costs : pair of float
        Of answering the second class wrongly, and of the first.
    """
    borders, place = np.unique(told, return_inverse=True)
    false_alarms = np.bincount(place, weight * ~is_second, len(borders))
    found = np.bincount(place, weight * is_second, len(borders))
    # From each border on the second class is answered; past the last one never.
    alarms = np.append(np.cumsum(false_alarms[::-1])[::-1], 0.0)
    missed = np.append(0.0, np.cumsum(found))
    total = (costs[0] * alarms + costs[1] * missed) / weight.sum()
    return CostCurve(np.append(borders, 1.0), total)


def write(page):
    """The curves of rules and ensemble, and a few points on them."""
    summary = page.summary
    rules, rows = summary.rules, summary.rows
    if rules.costs is None or len(rules.classes) != 2 or rows.y is None:
        return []
    told_number = rules.outcome.told_number
    other = 1 - told_number
    alarm, miss = rules.costs[other][told_number], rules.costs[told_number][other]
    is_told = rows.y == rules.classes[told_number]
    told = rules._predict_proba(rules._covers(rows.matrix))[:, told_number]
    curves = [
        measure(some, is_told, rows.weight, (alarm, miss))
        for some in (told, rows.probabilities[:, told_number])
    ]
    first, second = (
        name(summary.outcome.answer_text(rules.classes[k]))
        for k in (other, told_number)
    )
    border = alarm / (alarm + miss)
    picture = _picture(curves, border, summary.scores["expected_cost"])
    return [
        f"<p>To answer {second} where it is {first} costs {amount(alarm)}, the other "
        f"way round {amount(miss)}. So {second} is expected to cost less from a "
        f"probability of {rate_text(border)} on, and that is what the rules answer "
        "by.</p>",
        page.figure(
            "costs",
            picture,
            "Mean cost of a row against the border between the classes",
            f"Mean cost of a row, if {second} is answered from this probability on. "
            "The ring is where the rules answer.",
        ),
        table(
            ["Answers of", "Border", "Mean cost"],
            _lines(summary, curves, border, (first, second)),
            "What answers cost, on these rows",
            numeric=(1, 2),
            kind="bars",
        ),
    ]


def _lines(summary, curves, border, labels):
    scores, (own, theirs) = summary.scores, curves
    return [
        ["Rules, as they answer", rate_text(border), amount(scores["expected_cost"])],
        ["Rules, at their best border", rate_text(own.best[1]), amount(own.best[0])],
        [
            "Ensemble, at its best border",
            rate_text(theirs.best[1]),
            amount(theirs.best[0]),
        ],
        [_always(labels[1]), "–", amount(own.costs[0])],
        [_always(labels[0]), "–", amount(own.costs[-1])],
    ]


def _always(label):
    return type(label)(f"Always {label}")


def _picture(curves, border, cost):
    names = ("rules", "the ensemble")
    marks = []
    for curve, label, colour in zip(curves, names, ("g0", "g5"), strict=True):
        step = -(-len(curve.borders) // MOST_BORDERS)
        kept = np.unique([*range(0, len(curve.borders), step), len(curve.borders) - 1])
        # A border between two probabilities answers as the next one does.
        x = np.concatenate([[0.0], np.repeat(curve.borders[kept], 2)[:-1]])
        y = np.repeat(curve.costs[kept], 2)
        marks.append(Curve(label, x.tolist(), y.tolist(), colour, marker=""))
    ring = Curve("as they answer", [border], [cost], "accent", marker="ring")
    return Picture(
        Axis("border", limits=(0.0, 1.0), is_share=True),
        Axis("mean cost", starts_at_zero=True),
        (*marks, ring),
    )
