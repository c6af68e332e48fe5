"""Two dense rivals for the clock: the tests' plain oracle, and a tuned one.

`plain_iteration` is one E-step and one M-step of `tests/reference/dense_mixture.py`:
the paper's equations with matrix products. `tuned_iteration` saves what can be saved
while the N x L matrix stays: log(1 - eta) is folded into one product, 1 - eta is not
summed on its own, and the operands stand as the library for matrix products likes them.
"""

import numpy as np

from tests.reference import dense_mixture


def make_problem(case):
    """The case as dense statements, in float64."""
    holds, fails, _ = dense_mixture.statements(case.X, case.grid.splits)
    weight = np.ones(holds.shape[1])
    rows = np.ones(len(holds))
    return dense_mixture.Problem(
        holds, fails, weight, case.target, case.n_classes, rows, float(len(weight))
    )


def plain_iteration(problem, params, n_k):
    f = dense_mixture.scores(problem, params)
    beta = dense_mixture.assign(problem, f, n_k, problem.omega)
    dense_mixture.bound(problem, f, beta, problem.omega)
    return dense_mixture.maximize(problem, beta), problem.row_weight @ beta


def tuned_iteration(problem, params, n_k):
    (eta, _), alpha, output = params
    log_held, log_failed = np.log(eta), np.log1p(-eta)
    f = ((log_held - log_failed) @ problem.holds.T + log_failed.sum(axis=1)[:, None]).T
    f += np.log(alpha)
    if problem.n_classes:
        f += np.log(output[:, problem.y]).T
    else:
        mean, variance = output
        f -= (problem.y[:, None] - mean) ** 2 / (2 * variance)
        f -= 0.5 * np.log(2 * np.pi * variance)
    g = f - problem.omega / (n_k + 1)
    largest = g.max(axis=1, keepdims=True)
    beta = np.exp(g - largest)
    beta /= beta.sum(axis=1, keepdims=True)
    n_k = beta.sum(axis=0)
    eta = np.clip(beta.T @ problem.holds / n_k[:, None], 1e-12, 1 - 1e-12)
    if problem.n_classes:
        counts = np.eye(problem.n_classes)[problem.y]
        output = np.clip(beta.T @ counts / n_k[:, None], 1e-12, 1)
    else:
        mean = beta.T @ problem.y / n_k
        spread = (beta * (problem.y[:, None] - mean) ** 2).sum(axis=0) / n_k
        output = (mean, np.maximum(spread, 1e-6))
    return ((eta, None), n_k / len(beta), output), n_k
