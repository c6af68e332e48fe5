"""Weighted nodes become a RuleSet whose text is exactly what predicts."""

import math

import numpy as np

from defragtrees.rules import Rule

__all__ = ["average_rules", "choose_nodes"]


def average_rules(problem, target, nodes, weights, digits):
    """The nodes with weight as rules, the heaviest first, and the root beside them.

    Parameters
    ----------
    problem : Problem
    target : float64 array of shape (n_samples, n_outputs)
        Class shares, or one number, of each row.
    nodes : Nodes
    weights : float64 array of shape (n_nodes,)
        Zero where a node is left out.
    digits : int or None
        Of weights and answers; None keeps all.

    Returns
    -------
    RuleSet
    """
    spread = _spread(target, problem.sample_weight)
    root = len(weights) - 1
    kept = np.flatnonzero(weights[:-1] > 0).tolist()
    # The nodes of one tree often have the same weight, but for a rounding error.
    kept.sort(key=lambda node: (-_significant(weights[node], digits or 9), -node))
    rules = [
        _rule(problem, target, nodes, node, weights[node], digits, spread)
        for node in [*kept, root]
    ]
    return problem.rule_set(rules, decision="average")


def _rule(problem, target, nodes, node, weight, digits, spread):
    rows = nodes.members[node]
    row_weight = problem.sample_weight[rows]
    mean = row_weight @ target[rows] / row_weight.sum()
    share = float(row_weight.sum() / problem.sample_weight.sum())
    expected = problem.target[rows]
    shared = {
        "conditions": nodes.conditions(problem.grid, node),
        "coverage": share,
        "answered": share,
        "weight": _significant(weight, digits),
    }
    if problem.n_classes:
        shares = _whole(mean, digits)
        best = int(shares.argmax())
        return Rule(
            prediction=problem.classes[best],
            distribution=tuple(shares.tolist()),
            error=float(np.average(expected != best, weights=row_weight)),
            **shared,
        )
    answer = _to_spread(float(mean[0]), spread, digits)
    variance = float(np.average((expected - answer) ** 2, weights=row_weight))
    return Rule(prediction=answer, spread=math.sqrt(variance), error=variance, **shared)


def _spread(target, sample_weight):
    share = sample_weight / sample_weight.sum()
    return math.sqrt(share @ ((target - share @ target) ** 2).sum(axis=1))


def _significant(value, digits):
    return float(value) if digits is None else float(f"{value:.{digits}g}")


def _whole(shares, digits):
    """Class shares to so many digits after the point; their sum stays one."""
    if digits is None:
        return shares / shares.sum()
    units = shares * 10**digits
    # Down, and up again where most was lost; the noise of sums must not decide.
    floors = np.floor(np.round(units, 3))
    lost = np.round(units - floors, 3)
    n_up = round(10**digits - floors.sum())
    floors[np.argsort(-lost, kind="stable")[:n_up]] += 1
    return floors / 10**digits


def _to_spread(value, spread, digits):
    """A number to so many digits of the target's spread."""
    if digits is None:
        return value
    if not spread > 0:
        return _significant(value, 15)
    return round(value, digits - 1 - math.floor(math.log10(spread)))


def choose_nodes(problem, target, nodes, weights, max_rules):
    """The weights with those of all but `max_rules` nodes set to zero.

    The nodes are chosen one by one, each time the one beside which the squared error of
    the answers is smallest. To take the heaviest instead leaves half of a tree's nodes
    out and needs twice as many rules; to seek new weights for those chosen gains next
    to nothing.

    Parameters
    ----------
    problem : Problem
    target : float64 array of shape (n_samples, n_outputs)
    nodes : Nodes
    weights : float64 array of shape (n_nodes,)
    max_rules : int
        The root counts as one.
    """
    answers = _Answers(target, problem.sample_weight)
    waiting = np.flatnonzero(weights[:-1] > 0).tolist()
    chosen = np.zeros_like(weights)
    chosen[-1] = weights[-1]
    answers.weight += weights[-1]
    while waiting and np.count_nonzero(chosen[:-1]) < max_rules - 1:
        gains = [answers.gain(nodes.members[k], weights[k]) for k in waiting]
        best = int(np.argmax(gains))
        if gains[best] <= 0:
            break
        node = waiting.pop(best)
        chosen[node] = weights[node]
        answers.add(nodes.members[node], weights[node])
    return chosen


class _Answers:
    """What the chosen nodes answer to each training row, as a deviation from the root.

    The root says zero, which is also the answer where nobody has a weight.
    """

    def __init__(self, target, sample_weight):
        self.share = sample_weight / sample_weight.sum()
        self.target = target - self.share @ target
        self.variance = self.share @ (self.target**2).sum(axis=1)
        self.total = np.zeros_like(self.target)
        self.weight = np.zeros(len(target))

    def gain(self, rows, weight):
        """How much less the answers err with one node more, against the variance."""
        before = self._loss(rows, self.total[rows], self.weight[rows])
        total, together = self._with(rows, weight)
        # Rounded, so that of equals the first is taken and not the luckier one.
        return round((before - self._loss(rows, total, together)) / self.variance, 12)

    def add(self, rows, weight):
        self.total[rows], self.weight[rows] = self._with(rows, weight)

    def _with(self, rows, weight):
        mean = np.average(self.target[rows], axis=0, weights=self.share[rows])
        return self.total[rows] + weight * mean, self.weight[rows] + weight

    def _loss(self, rows, total, weight):
        answer = total / np.where(weight > 0, weight, 1.0)[:, None]
        return float(self.share[rows] @ ((self.target[rows] - answer) ** 2).sum(axis=1))
