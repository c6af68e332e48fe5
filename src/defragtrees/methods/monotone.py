"""Monotone answers: where the rules of a list break an order, and how it is kept."""

import dataclasses

import numpy as np

from defragtrees.refine.monotone import breaks_order, ordered_pairs

__all__ = ["MonotoneAnswers", "breaking_pairs"]


def breaking_pairs(rules, feature, sign, answers=None):
    """Pairs of rules of which the second can follow the first and goes the wrong way.

    Parameters
    ----------
    rules : RuleSet
        Asked in order.
    feature : int
    sign : {-1, 1}
    answers : array of shape (n_rules,), optional
        What the rules answer, if it is something else.
    """
    pairs = rule_pairs(rules, feature)
    answers = answers_of(rules) if answers is None else answers
    if pairs is None:
        # Too many to look at: only equal answers are sure to be in order.
        pairs = {(a, b) for a in range(len(answers)) for b in range(len(answers))}
    return breaks_order(pairs, answers, sign)


def rule_pairs(rules, feature):
    """`ordered_pairs` for a RuleSet."""
    ends: dict[int, set] = {}
    for rule in rules.rules:
        for condition in rule.conditions:
            ends.setdefault(condition.feature, set())
            if condition.categories is None:
                ends[condition.feature] |= set(condition.bounds)
    if feature not in ends:
        return set()
    # A value of each cell, then one that is missing.
    cells = {
        j: np.array([*sorted(e for e in known if e > -np.inf), np.inf, np.nan])
        if rules.categories[j] is None
        else np.array([*range(len(rules.categories[j]) + 1), np.nan])
        for j, known in ends.items()
    }
    boxes = [
        {c.feature: c.covers(cells[c.feature]).astype(bool) for c in rule.conditions}
        for rule in rules.rules
    ]
    return ordered_pairs(boxes, feature, len(cells[feature]) - 1)


def answers_of(rules):
    """One number for each rule: its answer, or the probability of the second class."""
    if rules.outcome.n_classes:
        return np.array([rule.distribution[1] for rule in rules])
    return np.array([rule.prediction for rule in rules], dtype=np.float64)


@dataclasses.dataclass(frozen=True)
class MonotoneAnswers:
    """Makes the answers of counted rules keep an order.

    Two rules that break it tell what the rows of both say together.

    Parameters
    ----------
    signs : dict from int to {-1, 1}
    """

    signs: dict[int, int]

    def point_signs(self, rules):
        """For each rule, the base last, the sign that its points may have; 0 for any.

        A rule that accepts what is above a threshold may only add where sums rise.
        """
        signs = np.zeros(rules.n_rules, dtype=int)
        for k, rule in enumerate(rules.rules):
            for condition in rule.conditions:
                sign = self.signs.get(condition.feature)
                if sign is not None and condition.lower < condition.upper:
                    signs[k] = sign if condition.lower > -np.inf else -sign
        return signs

    def __call__(self, rules, answers, weights):
        """Answers in order.

        Parameters
        ----------
        rules : RuleSet
        answers : array of shape (n_rules,)
        weights : array of shape (n_rules,)
            Of the rows behind them.
        """
        pooled = np.array(answers, dtype=np.float64)
        weights = np.maximum(np.asarray(weights, dtype=np.float64), 1e-9)
        block = np.arange(len(pooled))
        while True:
            broken = [
                pair
                for j, sign in self.signs.items()
                for pair in breaking_pairs(rules, j, sign, pooled)
            ]
            if not broken:
                return pooled
            a, b = max(broken, key=lambda pair: abs(pooled[pair[0]] - pooled[pair[1]]))
            block[block == block[b]] = block[a]
            together = block == block[a]
            pooled[together] = np.average(
                np.asarray(answers)[together], weights=weights[together]
            )
