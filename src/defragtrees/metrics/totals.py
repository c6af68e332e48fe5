"""score_table: from a total of points to a probability or a number."""

import math
from typing import Any

import numpy as np

from defragtrees._utils.types import Column, Rows
from defragtrees.outcomes.points import reachable_totals
from defragtrees.rules.model import RuleModel

__all__ = ["score_table", "table_of_totals"]

MOST_LINES = 30  # totals that are told one by one
N_GROUPS = 10  # of about equally many rows, where there are more


def score_table(
    rules: RuleModel, X: Rows | None = None, y: Column | None = None
) -> list[dict[str, Any]]:
    """What each total of points stands for and, with rows, how many have it.

    Parameters
    ----------
    rules : RuleModel
        With points that add up, for numbers or two classes.
    X : array-like or data frame of shape (n_samples, n_features), optional
        Without it, all totals that whole points can have; at most 30, evenly chosen.
        With it, those of the rows; where there are more than 30, ten groups of about
        equally many rows.
    y : array-like of shape (n_samples,), optional

    Returns
    -------
    list of dict
        From the lowest total on: "low" and "high", the totals; "told", the probability
        of the second class or the number, on average; with X "n_rows", and with y
        "observed", the rate of that class or the mean of y.

    Examples
    --------
    >>> from defragtrees import Condition, Rule, Scorecard
    >>> warm = Rule((Condition(0, lower=20.0),), 5.0, points=(3.0,))
    >>> rules = Scorecard((warm,), Rule((), 2.0, points=(2.0,)), ("degrees",),
    ...                   "regression")
    >>> score_table(rules)
    [{'low': 2.0, 'high': 2.0, 'told': 2.0}, {'low': 5.0, 'high': 5.0, 'told': 5.0}]
    """
    if rules.decision != "points" or rules.outcome.n_points != 1:
        raise ValueError(
            "score_table needs points that add up to one total, of numbers or two "
            f"classes; got rules with decision={rules.decision!r} and "
            f"{rules.outcome.n_classes} classes."
        )
    if X is None:
        return _possible(rules)
    return table_of_totals(rules, rules.totals(X)[:, 0], y)


def table_of_totals(rules, totals, y=None):
    """`score_table` of rows with these totals."""
    totals = np.round(totals, 9)
    values = _told(rules, totals)
    truth = None
    if y is not None:
        outcome = rules.outcome
        truth = outcome.indicators(outcome.encode_any(outcome.check(np.ravel(y))))
        truth = truth[:, -1]
    lines = []
    for rows in _groups(totals):
        line = {
            "low": float(totals[rows].min()),
            "high": float(totals[rows].max()),
            "told": float(values[rows].mean()),
            "n_rows": len(rows),
        }
        if truth is not None:
            line["observed"] = float(truth[rows].mean())
        lines.append(line)
    return lines


def _possible(rules):
    totals = reachable_totals([rule.points[0] for rule in rules])
    if len(totals) > MOST_LINES:
        places = np.linspace(0, len(totals) - 1, MOST_LINES).round().astype(int)
        totals = totals[places]
    return [
        {"low": float(total), "high": float(total), "told": float(value)}
        for total, value in zip(totals, _told(rules, totals), strict=True)
    ]


def _told(rules, totals):
    """Of each total the probability of the second class, or the number."""
    values = rules.values_of(np.asarray(totals, dtype=np.float64)[:, None])
    return rules.outcome.linked(values)[:, -1]


def _groups(totals):
    """Rows with the same total, or about as many rows with neighbouring ones."""
    order = np.argsort(totals, kind="stable")
    cuts = np.flatnonzero(np.diff(totals[order])) + 1
    if len(cuts) >= MOST_LINES:
        wanted = np.arange(1, N_GROUPS) * math.ceil(len(totals) / N_GROUPS)
        cuts = np.unique(cuts[np.searchsorted(cuts, wanted[wanted < len(totals)]) - 1])
    return np.split(order, cuts)
