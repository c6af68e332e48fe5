"""Gains: what share of the positive rows is captured by contacting the likeliest."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length

from defragtrees._utils.types import Column, Rows
from defragtrees.data.tables import one_column

__all__ = ["gains"]

DIGITS = 12  # probabilities that are equal to so many digits are one step


def gains(
    rules: Any, X: Rows, y: Column, sample_weight: Column | None = None
) -> list[dict[str, Any]]:
    """Share of the positive rows that is captured, by number of rows contacted.

    Rows are contacted in the order of the predicted probability of the positive class:
    `pos_label`, or the second of two classes. Rules predict few distinct probabilities.
    Rows with the same one are contacted together, in one step, as nothing orders them.

    Parameters
    ----------
    rules : RuleModel or Simplifier
        For two classes, with probabilities.
    X : array-like or data frame of shape (n_samples, n_features)
        Preferably rows that the rules were not fitted to.
    y : array-like of shape (n_samples,)
        Rows of unknown classes are left out.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    list of dict
        One per step, likeliest first. `rules`, the numbers of the rules that predict
        the rows of this step (empty where several rules predict a row); `threshold`,
        their probability. The rest is of all rows contacted so far: `share` of the
        rows; `n_rows`, their number or weight; `n_positive`, those of the positive
        class; `expected`, how many the probabilities add up to; `captured`, the share
        of all positive rows (recall); `precision`; and `lift`, precision relative to
        the rate of all rows.

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), "yes", (0.25, 0.75))
    >>> rest = Rule((), "no", (0.9, 0.1))
    >>> rules = RuleList((warm,), rest, ("degrees",), "classification", ("no", "yes"))
    >>> X, y = [[21.0], [25.0], [19.0], [15.0]], ["yes", "no", "no", "no"]
    >>> names = "rules", "threshold", "share", "n_positive", "captured", "lift"
    >>> for step in gains(rules, X, y):
    ...     print(*(step[name] for name in names))
    (1,) 0.75 0.5 1.0 1.0 2.0
    (2,) 0.1 1.0 1.0 1.0 1.0
    """
    rules = getattr(rules, "rules_", rules)
    outcome = rules.outcome
    if not (outcome.is_binary and rules.has_probabilities):
        raise ValueError(
            "gains needs rules for two classes, with probabilities; got "
            f"{outcome.n_classes} classes, "
            f"{'with' if rules.has_probabilities else 'without'} probabilities."
        )
    matrix, y = rules.encode(X), one_column(y)
    check_consistent_length(matrix, y, sample_weight)
    y = outcome.check(y)
    outcome.check_known(y)
    true = outcome.encode_any(y)
    kept = outcome.is_known(true)
    weight = np.ones(len(true)) if sample_weight is None else np.asarray(sample_weight)
    weight = weight[kept].astype(np.float64)
    positive = weight * (true[kept] == outcome.positive_index)
    if not positive.sum():
        label = outcome.answer_text(outcome.positive_class)
        raise ValueError(f"gains needs rows of the positive class; none is {label}.")
    held = rules._covers(matrix[kept])
    likely = np.round(rules._predict_proba(held)[:, outcome.positive_index], DIGITS)
    values, step = np.unique(-likely, return_inverse=True)
    numbers = rules._apply(held) + 1 if rules.is_exclusive else None

    def running(amounts):
        return np.cumsum(np.bincount(step, amounts))

    n_rows, n_positive, expected = map(running, (weight, positive, weight * likely))
    rate = n_positive[-1] / n_rows[-1]
    steps = []
    for i, value in enumerate(-values):
        precision = float(n_positive[i] / n_rows[i]) if n_rows[i] else float("nan")
        own = () if numbers is None else np.unique(numbers[step == i]).tolist()
        steps.append(
            {
                "rules": tuple(own),
                "threshold": float(value),
                "share": float(n_rows[i] / n_rows[-1]),
                "n_rows": float(n_rows[i]),
                "n_positive": float(n_positive[i]),
                "expected": float(expected[i]),
                "captured": float(n_positive[i] / n_positive[-1]),
                "precision": precision,
                "lift": precision / float(rate),
            }
        )
    return steps
