"""The paper's equations written out over the full N x L matrix of statements.

Plain on purpose: no bins, no merging of equal statements, no stacking of restarts. It
is what the fast loop is tested and timed against. Equation labels are the paper's.
"""

from dataclasses import dataclass

import numpy as np

FLOOR = 1e-12
VARIANCE_FLOOR = 1e-6


@dataclass
class Problem:
    """Rows as statements.

    `holds` and `fails` are (N, L): which statements hold and fail in each row; a cell
    that is zero in both is missing. `weight` is what a statement counts, `row_weight`
    what a row counts; `n_statements` is L in omega. `scale` is what y was multiplied
    by, which the floor of its variance follows.
    """

    holds: np.ndarray
    fails: np.ndarray
    weight: np.ndarray
    y: np.ndarray
    n_classes: int
    row_weight: np.ndarray
    n_statements: float
    scale: float = 1.0

    @property
    def omega(self):
        n_output = self.n_classes - 1 if self.n_classes else 2
        return (n_output + self.n_statements + 1) / 2


def statements(X, thresholds):
    """Dense matrices of `x > t` for each feature's thresholds, and of "is missing"."""
    holds, fails, feature = [], [], []
    for j, values in enumerate(thresholds):
        x = X[:, j]
        for t in values:
            holds.append(x > t)
            fails.append(x <= t)
            feature.append(j)
        missing = np.isnan(x)
        if missing.any() and not missing.all() and len(values):
            holds.append(missing)
            fails.append(~missing)
            feature.append(j)
    shape = (len(X), len(feature))
    as_matrix = [np.array(part, float).T.reshape(shape) for part in (holds, fails)]
    return as_matrix[0], as_matrix[1], np.array(feature, int)


def maximize(problem, beta):
    """eq:mstep, with every probability kept FLOOR away from 0 and 1."""
    weighted = beta * problem.row_weight[:, None]
    # A component of EM may be left without rows, and then no row comes back to it.
    n_k = np.maximum(weighted.sum(axis=0), 1e-300)
    held, failed = weighted.T @ problem.holds, weighted.T @ problem.fails
    seen = np.maximum(held + failed, 1e-300)
    # eta and 1 - eta each from its own sum, so that neither loses digits near zero.
    eta = np.clip([held / seen, failed / seen], FLOOR, 1 - FLOOR)
    alpha = n_k / problem.row_weight.sum()
    if problem.n_classes:
        onehot = np.eye(problem.n_classes)[problem.y]
        return eta, alpha, np.clip(weighted.T @ onehot / n_k[:, None], FLOOR, 1)
    mean = weighted.T @ problem.y / n_k
    spread = (weighted * (problem.y[:, None] - mean) ** 2).sum(axis=0) / n_k
    return eta, alpha, (mean, np.maximum(spread, VARIANCE_FLOOR * problem.scale**2))


def scores(problem, params):
    """log f: the joint log-likelihood of each row and component."""
    eta, alpha, output = params
    f = problem.holds @ (problem.weight * np.log(eta[0])).T
    f += problem.fails @ (problem.weight * np.log(eta[1])).T
    f += np.log(alpha)
    if problem.n_classes:
        return f + np.log(output[:, problem.y]).T
    mean, variance = output
    residual = problem.y[:, None] - mean
    return f - residual**2 / (2 * variance) - 0.5 * np.log(2 * np.pi * variance)


def bound(problem, f, beta, omega):
    """eq:lb, term by term."""
    row = problem.row_weight
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(beta > 0, beta * np.log(beta), 0.0).sum(axis=1) @ row
    likelihood = np.where(beta > 0, beta * f, 0.0).sum(axis=1) @ row
    return likelihood - omega * np.log(row @ beta + 1).sum() + entropy


def assign(problem, f, n_k, omega):
    """eq:estep, one inner step from component weights n_k."""
    g = f - omega / (n_k + 1)
    beta = np.exp(g - g.max(axis=1, keepdims=True))
    return beta / beta.sum(axis=1, keepdims=True)


def run(
    problem,
    beta,
    inference="fab",
    max_iter=50,
    tol=1e-5,
    inner_iter=10,
    early=(3, 1),
    min_share=1e-3,
    n_k=None,
    drawn=None,
):
    """One restart from responsibilities; the bound and K at every iteration.

    `early` says in how many iterations at the start the E-step takes at most how many
    inner steps; `n_k` are component weights to start with, and `drawn` are proportions,
    precisions and means that take the place of the first M-step's.
    """
    omega = problem.omega if inference == "fab" else 0.0
    total = problem.row_weight.sum()
    params = maximize(problem, beta)
    if drawn is not None:
        output = params[2] if problem.n_classes else (drawn[2], 1 / drawn[1])
        params = params[0], drawn[0], output
    n_k = np.full(beta.shape[1], total / beta.shape[1]) if n_k is None else n_k
    history = []
    for iteration in range(1, max_iter + 1):
        f = scores(problem, params)
        n_inner = early[1] if iteration <= early[0] else inner_iter
        n_inner = 1 if omega == 0 else n_inner
        value = -np.inf
        for _ in range(n_inner):
            before = value
            beta = assign(problem, f, n_k, omega)
            used, n_k = n_k, problem.row_weight @ beta
            value = bound(problem, f, beta, omega)
            # Penalties that move within a range r gain at most r**2 / 8 a row.
            shift = omega / (n_k + 1) - omega / (used + 1)
            if value - before < tol * total or np.ptp(shift) ** 2 / 8 <= 1e-10:
                break
        keep = (n_k >= min_share * total) | (n_k == n_k.max())
        dropped = omega > 0 and not keep.all()
        if dropped:
            f = f[:, keep]
            beta = assign(problem, f, used[keep], omega)
            n_k = problem.row_weight @ beta
            value = bound(problem, f, beta, omega)
        history.append((value, beta.shape[1], dropped))
        rise = value - history[-2][0] if len(history) > 1 else np.inf
        if rise < tol * total and not dropped and iteration > early[0]:
            break
        params = maximize(problem, beta)
    return history, beta
