"""The quadratic program of Node Harvest: how much each node has to say.

The weights w minimise the squared error of the nodes' mean answers, among all w that
are not negative and whose sum over the nodes of a training row is one in every row
(Meinshausen 2010, equations 6 to 8). The rows enter only through two matrices with a
line for each node, so the time of the search does not depend on their number.
"""

import math
import warnings
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning

__all__ = ["Program", "make_program", "solve_program"]

PENALTY = 300.0  # of a broken constraint, against the curvature of the error
TOLERANCE = 1e-12  # of a broken constraint, as a share of the rows
SLOPE_TOLERANCE = 1e-13  # of a slope, against the penalty's curvature
SLOW = 0.3  # the penalty rises where a round leaves more of the error than this
MOST_RISE = 1e4  # of the penalty: each digit more is one less of the solution
MOST_ROUNDS = 200  # of the multipliers; ten to thirty are usual
MOST_ENTERING = 20  # weights that may rise from zero at once
BLOCK_ROWS = 4096  # rows turned into numbers at once; bounds the memory


@dataclass(frozen=True, eq=False)
class Program:
    """Minimise w'Qw / 2 - c'w where w >= lower and G w = G start.

    Parameters
    ----------
    quadratic : float64 array of shape (n_weights, n_weights)
        Q, positive definite where G w is zero.
    linear : float64 array of shape (n_weights,)
        c.
    gram : float64 array of shape (n_weights, n_weights)
        G = S'S for the matrix S of the constraints S w = S start.
    lower : float64 array of shape (n_weights,)
    start : float64 array of shape (n_weights,)
        A point that meets all constraints.
    n_nodes : int
        The weights of nodes come first; what follows is no node's weight.
    """

    quadratic: np.ndarray
    linear: np.ndarray
    gram: np.ndarray
    lower: np.ndarray
    start: np.ndarray
    n_nodes: int


def make_program(
    members, target, sample_weight, *, mode, ridge, root_weight, max_weight
):
    """The program for some nodes, the last of which is the root.

    Parameters
    ----------
    members : bool array of shape (n_nodes, n_samples)
    target : float64 array of shape (n_samples, n_outputs)
        Not constant. Outputs are class shares, or one number.
    sample_weight : float64 array of shape (n_samples,)
    mode : {"mean", "outbag"}
        A node says its mean to all its rows, or to each the mean of its other rows.
    ridge : float
        Price of leaving the start, where the root has all the weight, as a share of
        the target's variance; it makes the solution the only one.
    root_weight : float
        The least weight of the root.
    max_weight : float or None
        The largest sum of all weights.
    """
    total = sample_weight.sum()
    share = sample_weight / total
    # Because the weights of a row sum to one, the centre of the target has no say; to
    # take it away keeps digits. With the scale gone too, ridge has a meaning.
    centred = target - share @ target
    centred = centred / math.sqrt(share @ (centred**2).sum(axis=1))
    gram = _gram(members, share)
    size = np.diag(gram)
    mean = (members * share) @ centred / size[:, None]
    if mode == "mean":
        quadratic = gram * (mean @ mean.T)
        linear = size * (mean**2).sum(axis=1)
    else:
        quadratic, linear = _left_out(members, centred, share, mean, size * total)
    root = np.zeros(len(members))
    root[-1] = 1.0
    quadratic[np.diag_indices_from(quadratic)] += ridge
    return _limited(
        Program(
            quadratic,
            linear + ridge * root,
            gram,
            root_weight * root,
            root,
            len(members),
        ),
        max_weight,
    )


def _gram(members, share):
    """Share of the rows that each two nodes have in common."""
    gram = np.zeros((len(members), len(members)))
    is_counting = (share == share[0]).all()
    for start in range(0, len(share), BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        # The small type counts so few rows exactly, in half the time.
        part = members[:, rows].astype(np.float32 if is_counting else np.float64)
        gram += part @ part.T if is_counting else (part * share[rows]) @ part.T
    return gram / len(share) if is_counting else gram


def _left_out(members, centred, share, mean, n_rows):
    """Q and c where a row is told the mean of the node's other rows."""
    quadratic = np.zeros((len(members), len(members)))
    linear = np.zeros(len(members))
    others = n_rows[:, None] - 1
    for start in range(0, len(share), BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        for k in range(centred.shape[1]):
            output = centred[rows, k]
            told = (n_rows[:, None] * mean[:, k, None] - output) / others
            told = np.where(members[:, rows], told, 0.0)
            quadratic += (told * share[rows]) @ told.T
            linear += told @ (share[rows] * output)
    return quadratic, linear


def _limited(program, max_weight):
    """The program with one weight more: what is left up to the largest sum."""
    # No sum is larger than if the smallest node were all that rows are in.
    if max_weight is None or max_weight * np.diag(program.gram).min() >= 1:
        return program
    return Program(
        quadratic=np.pad(program.quadratic, (0, 1)),
        linear=np.append(program.linear, 0.0),
        gram=np.pad(program.gram, (0, 1)) + 1.0 / max_weight,
        lower=np.append(program.lower, 0.0),
        start=np.append(program.start, max_weight - 1.0),
        n_nodes=program.n_nodes,
    )


def solve_program(program):
    """The weights of the nodes, to about eight digits.

    The equations are held by the method of multipliers: a penalty for breaking them,
    whose centre moves until they hold exactly. What remains in each round is least
    squares with non-negative unknowns.

    Parameters
    ----------
    program : Program

    Returns
    -------
    float64 array of shape (n_nodes,)
    """
    gram, lower = program.gram, program.lower
    curvature = np.diag(program.quadratic) / np.diag(gram)
    least = PENALTY * max(1.0, float(curvature.max()))
    penalty, largest = least, math.inf
    towards = program.quadratic @ lower - program.linear
    above = program.start - lower
    for _ in range(MOST_ROUNDS):
        before = above > 0
        above = _least_squares(
            program.quadratic + penalty * gram,
            towards + penalty * (gram @ (lower - program.start)),
            above,
            SLOPE_TOLERANCE * penalty,
        )
        broken = gram @ (lower + above - program.start)
        previous, largest = largest, np.abs(broken).max()
        if largest <= TOLERANCE and ((above > 0) == before).all():
            break
        towards = towards + penalty * broken
        if largest > SLOW * previous and penalty < MOST_RISE * least:
            penalty *= 3
    else:
        warnings.warn(
            "The weights of the nodes have not converged: their sums over the nodes "
            f"of a row are off by up to {math.sqrt(largest):.1g}. Raise "
            "ridge or min_samples.",
            ConvergenceWarning,
            stacklevel=5,
        )
    return (lower + above)[: program.n_nodes]


def _least_squares(hessian, slope, start, tolerance):
    """The x >= 0 with the smallest x'Hx / 2 + slope'x, from a start near it.

    Lawson and Hanson's active-set method, but several unknowns may leave zero at once:
    at least one of them goes on to rise, so each step improves on the one before.
    """
    point, free = _descend(hessian, slope, start, start > 0)
    for _ in range(10 * len(start)):  # ten are usual; rounding might go in circles
        now = slope + hessian[:, free] @ point[free]
        now[free] = 0.0
        entering = np.argsort(now, kind="stable")[:MOST_ENTERING]
        entering = entering[now[entering] < -tolerance]
        if not entering.size:
            return point
        free[entering] = True
        tried, free = _descend(hessian, slope, point, free)
        if not free[entering].any():  # the slope was a rounding error
            return point
        point = tried
    return point


def _descend(hessian, slope, point, free):
    """The minimum over the free unknowns that stay positive on the way there."""
    while True:
        goal = _minimum(hessian, slope, free)
        falling = free & (goal <= 0)
        if not falling.any():
            return goal, free
        held = falling & (point <= 0)
        if not held.any():
            parts = np.full(len(point), np.inf)
            parts[falling] = point[falling] / (point[falling] - goal[falling])
            held = parts == parts.min()
            point = np.where(held, 0.0, point + parts.min() * (goal - point))
        free = free & ~held


def _minimum(hessian, slope, free):
    """The minimum over the free unknowns, whatever their signs; the others are zero."""
    minimum = np.zeros(len(slope))
    if free.any():
        factor = cho_factor(hessian[np.ix_(free, free)], check_finite=False)
        minimum[free] = -cho_solve(factor, slope[free], check_finite=False)
    return minimum
