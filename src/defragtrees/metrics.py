"""How good a rule set is: error, fidelity, coverage, overlap, size."""

import numpy as np

__all__ = ["coverage", "error", "fidelity", "overlap"]


def error(expected, predicted, task, sample_weight=None):
    """Share of wrong classes, or mean squared error.

    Examples
    --------
    >>> error(["a", "b"], ["a", "a"], "classification")
    0.5
    """
    expected, predicted = np.asarray(expected), np.asarray(predicted)
    if task == "classification":
        loss = expected != predicted
    else:
        loss = (expected - predicted) ** 2
    return float(np.average(loss, weights=sample_weight))


def fidelity(answers, predicted, task, sample_weight=None):
    """Agreement with the ensemble: share of equal classes, or R² of its answers.

    Parameters
    ----------
    answers : array of shape (n_samples,)
        What the ensemble says.
    predicted : array of shape (n_samples,)
        What the rules say.
    task : {"classification", "regression"}

    Examples
    --------
    >>> fidelity([1.0, 3.0], [1.0, 3.0], "regression")
    1.0
    """
    loss = error(answers, predicted, task, sample_weight)
    if task == "classification":
        return 1.0 - loss
    answers = np.asarray(answers, dtype=np.float64)
    mean = np.average(answers, weights=sample_weight)
    variance = np.average((answers - mean) ** 2, weights=sample_weight)
    if variance == 0:
        return 1.0 if loss == 0 else 0.0
    return float(1.0 - loss / variance)


def coverage(rules, X):
    """Share of rows in which a rule other than the "otherwise" holds.

    In a partition, such as a tree, each row has a rule: the coverage is 1.

    Parameters
    ----------
    rules : RuleSet
    X : array-like of shape (n_samples, n_features)
    """
    return covered_share(rules, rules.covers(X))


def overlap(rules, X):
    """Mean number of rules that hold in a row, the "otherwise" left out.

    In a partition, such as a tree, it is just one.

    Parameters
    ----------
    rules : RuleSet
    X : array-like of shape (n_samples, n_features)
    """
    return covering_count(rules, rules.covers(X))


def covered_share(rules, held):
    """`coverage` from what `RuleSet.covers` gave."""
    if rules.decision == "partition":
        return 1.0
    return float(held[:, :-1].any(axis=1).mean())


def covering_count(rules, held):
    """`overlap` from what `RuleSet.covers` gave."""
    if rules.decision == "partition":
        return 1.0
    return float(held[:, :-1].sum(axis=1).mean())
