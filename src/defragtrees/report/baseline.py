"""Baseline: what is known of y before any rule is asked, and what a guess is worth."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from defragtrees.outcomes.intervals import wilson_interval

__all__ = ["Baseline", "measure_baseline"]

LEVELS = (0.1, 0.5, 0.9)


@dataclass(frozen=True)
class Baseline:
    """Rates of the classes, or mean and quantiles of numbers, on the report's rows.

    Without y they are those of the ensemble's answers.
    """

    is_of_y: bool
    n_rows: tuple[int, ...] = ()  # of each class
    rates: tuple[float, ...] = ()  # of each class, by weight
    intervals: tuple[tuple[float, float], ...] = ()  # Wilson's, at 95 %
    guess: Any = None  # the commonest class, or the mean
    guess_error: float = 0.0  # of answering so always: share, or mean squared error
    quantiles: tuple[float, ...] = ()  # of numbers, at LEVELS


def measure_baseline(rows):
    """The Baseline of an AnsweredRows."""
    outcome, expected = rows.rules.outcome, rows.expected
    is_of_y = rows.y is not None
    if outcome.n_classes:
        masks = [expected == label for label in rows.rules.classes]
        rates = tuple(rows.share(mask) for mask in masks)
        total = float(rows.weight.sum())
        place = int(np.argmax(rates))
        return Baseline(
            is_of_y,
            tuple(int(mask.sum()) for mask in masks),
            rates,
            tuple(wilson_interval(rate, total) for rate in rates),
            rows.rules.classes[place],
            1 - rates[place],
        )
    mean = rows.mean(expected)
    return Baseline(
        is_of_y,
        guess=mean,
        guess_error=rows.mean((expected - mean) ** 2),
        quantiles=tuple(np.quantile(expected, LEVELS).tolist()),
    )
