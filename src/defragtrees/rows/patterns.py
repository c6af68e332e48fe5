"""PatternSums: what rows say of the rules that hold together in them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from defragtrees.additive import find_patterns
from defragtrees.intervals import kept_scores
from defragtrees.outcome.sums import CONDITION_ROWS
from defragtrees.outcome.values import KeptValues
from defragtrees.scorecards import Scorecard

__all__ = ["PatternSums", "counted_for"]


def counted_for(rules, held):
    """Rows, and the rule that each counts for; a row may come more than once.

    Parameters
    ----------
    rules : RuleSet
    held : bool array of shape (n_samples, n_rules)

    Returns
    -------
    rows : int array, or a slice of all
    group : int array
    """
    if rules.is_list:
        rule = np.full(len(held), held.shape[1] - 1)
        for k in range(held.shape[1] - 2, -1, -1):
            np.copyto(rule, k, where=held[:, k])
        return slice(None), rule
    return np.nonzero(rules.members_held(held))


@dataclass(frozen=True, eq=False)
class PatternSums:
    """Sums by which rules hold together; those of other rows can be added.

    Parameters
    ----------
    held : float array of shape (n_patterns, n_rules)
        1 where a rule holds; the last one always does.
    weight : array of shape (n_patterns,)
    told : array of shape (n_patterns, n_outputs)
        Sums of y, as class shares or numbers, or without y of what the ensemble says.
    values : KeptValues, optional
        Numbers by pattern, of rows that are in one place.
    """

    held: np.ndarray
    weight: np.ndarray
    told: np.ndarray
    values: Any = None

    @classmethod
    def of(cls, rules, held, weight, told, numbers, scale):
        """The sums of some rows.

        Parameters
        ----------
        rules : RuleSet
        held : bool array of shape (n_samples, n_rules)
        weight : array of shape (n_samples,)
        told : array of shape (n_samples, n_outputs)
        numbers : array of shape (n_samples,)
            What intervals are to be about.
        scale : float or None
            None where all rows are here.
        """
        patterns, place = find_patterns(held[:, :-1].T)
        keeps = scale is None and not rules.outcome.n_classes
        values = KeptValues(numbers, weight, place) if keeps else None
        return cls(patterns, *_sums(place, len(patterns), weight, told), values)

    def __add__(self, other):
        held = np.vstack([self.held, other.held])
        patterns, place = find_patterns(held[:, :-1].T > 0)
        n, ones = len(patterns), np.ones(len(held))
        weight = np.concatenate([self.weight, other.weight])
        told = np.vstack([self.told, other.told])
        return PatternSums(
            patterns,
            np.bincount(place, weight, n),
            _sums(place, n, ones, told)[1],
        )

    def scorecard(self, outcome, scoring, digits, signs=None):
        """A Scorecard of points that are fitted jointly.

        Parameters
        ----------
        outcome : Classes or Numbers
        scoring : Scoring
        digits : int
            After the point, of points that are not whole.
        signs : int array of shape (n_rules,), optional
            -1 or 1 where points may only be from that side of zero on.
        """
        rows = self.held, self.weight, self.told
        points = outcome.fit_points(*rows)
        if signs is not None:
            points = self._signed_points(outcome, points, signs)
        if not scoring.is_whole:
            return Scorecard(np.round(points, digits))
        card = outcome.scorecard(*rows, points, scoring.points_to_double)
        if signs is None:
            return card
        # Rounding may have taken a rule with next to no points over to the other side.
        kept = np.where(card.points * signs[:, None] < 0, 0.0, card.points)
        return replace(card, points=kept)

    def _signed_points(self, outcome, points, signs):
        """Points of the right sign; a rule that would have the other one gets none."""
        has_none = np.zeros(len(signs), dtype=bool)
        while (wrong := (points[:, 0] * signs < 0) & ~has_none).any():
            has_none |= wrong
            held = np.where(has_none, 0.0, self.held)
            points = outcome.fit_points(held, self.weight, self.told)
            points[has_none] = 0.0
        return points

    def interval_scores(self, rules):
        """Scores of intervals from the rows that the answers rest on; None if unknown.

        Rules and their answers were chosen by these rows, so all scores grow: as if
        each answer used up one row, and each condition a few.
        """
        if self.values is None:
            return None
        answers = rules.answers_held(self.held > 0)[self.values.group]
        used = rules.n_rules + CONDITION_ROWS * sum(r.n_conditions for r in rules)
        growth = 1 + used / max(self.weight.sum(), 1.0)
        apart = np.abs(self.values.target - answers) * growth
        return kept_scores(apart, self.values.weight)


def _sums(place, n_patterns, weight, columns):
    """Weight, and sums of columns by weight, of each pattern."""
    parts = [np.bincount(place, weight * one, n_patterns) for one in columns.T]
    return np.bincount(place, weight, n_patterns), np.column_stack(parts)
