"""Points that add up, fitted by patterns: which rules hold decides the sum.

Rows in which the same rules hold get the same answer, so all that a fit needs is, for
each pattern of rules that occurs, the weight of its rows and the sum of their targets.
These add up over parts of the rows.
"""

import numpy as np

__all__ = [
    "PRIOR_ROWS",
    "PRIOR_ROWS_OF_NUMBERS",
    "find_patterns",
    "fit_log_odds",
    "fit_numbers",
    "fit_shares",
    "softmax",
    "to_probability",
]

# Rows that say that the points of a rule are zero. Of classes z² of a 95 % interval, by
# which the rates of a list are drawn in too; of numbers one, as what points leave over
# varies at most as much as what they say.
PRIOR_ROWS = 3.84
PRIOR_ROWS_OF_NUMBERS = 1.0
MOST_COUNTED = 12  # with so many rules all patterns are counted, else those that occur

MOST_STEPS = 50  # of Newton's method; a handful is the rule
LEAST_CHANGE = 1e-12  # relative; less is rounding
FLOOR = 1e-10  # of a curvature, so that equations can be solved
DIGITS = 10  # of points; beyond it hangs on the machine


def find_patterns(held):
    """Which rules hold together, and in which rows.

    Parameters
    ----------
    held : bool array of shape (n_rules - 1, n_samples)
        Whether each rule, but for the base, holds in each row.

    Returns
    -------
    patterns : float array of shape (n_patterns, n_rules)
        1 where a rule holds; the last column is that of the base.
    place : int array of shape (n_samples,)
        The pattern of each row.

    Examples
    --------
    >>> patterns, place = find_patterns(np.array([[True, False, True]]))
    >>> patterns.tolist(), place.tolist()
    ([[0.0, 1.0], [1.0, 1.0]], [1, 0, 1])
    """
    n_rules, n_rows = held.shape
    if n_rules <= MOST_COUNTED:
        code = np.zeros(n_rows, dtype=np.intp)
        for k in range(n_rules):
            code |= held[k].astype(np.intp) << k
        present = np.flatnonzero(np.bincount(code, minlength=1 << n_rules))
        new = np.zeros(1 << n_rules, dtype=np.intp)
        new[present] = np.arange(len(present))
        patterns, place = (present[:, None] >> np.arange(n_rules)) & 1, new[code]
    else:
        patterns, place = np.unique(held.T, axis=0, return_inverse=True)
    ones = np.ones((len(patterns), 1))
    return np.hstack([patterns.astype(np.float64), ones]), place.ravel()


def fit_numbers(held, weight, sums, prior):
    """Points whose sums are nearest to numbers, drawn to zero.

    Parameters
    ----------
    held : float array of shape (n_patterns, n_rules)
        1 where a rule holds; the last one, the base, always does.
    weight : array of shape (n_patterns,)
    sums : array of shape (n_patterns, n_outputs)
        Of weight times target.
    prior : array of shape (n_rules,)
        How many rows say that the points of each rule are zero.

    Returns
    -------
    points : array of shape (n_rules, n_outputs)
    explained : float
        By how much the points, what draws them to zero included, lower the sum of
        weighted squares.

    Examples
    --------
    >>> held = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> sums = np.array([[4.0], [10.0]])
    >>> points, _ = fit_numbers(held, np.array([2.0, 2.0]), sums, np.zeros(2))
    >>> points.ravel().round(6).tolist()
    [3.0, 2.0]
    """
    sides = held.T @ sums
    matrix = _with_prior((held * weight[:, None]).T @ held, prior)
    points = np.round(_solved(matrix, sides), DIGITS)
    twice = 2 * (points * sides).sum()
    return points, float(twice - (points * (matrix @ points)).sum())


def fit_log_odds(held, weight, sums, prior, start=None):
    """Points whose sums are the log-odds of a probability, drawn to zero.

    Parameters
    ----------
    held, weight, prior
        See `fit_numbers`.
    sums : array of shape (n_patterns, 1)
        Of weight times probability, or of the weight of rows with the event.
    start : array of shape (n_rules, 1), optional
        Points to start from.

    Returns
    -------
    points : array of shape (n_rules, 1)
    cost : float
        Nats for the events, by weight, and for what draws points to zero.

    Examples
    --------
    >>> held = np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> points, _ = fit_log_odds(held, np.array([4.0, 4.0]), np.array([[2.0], [3.0]]),
    ...                          np.zeros(2))
    >>> points.ravel().round(4).tolist()
    [1.0986, 0.0]
    """
    events = sums[:, 0]
    points = np.zeros(held.shape[1]) if start is None else start[:, 0].copy()

    def cost_of(points):
        total = held @ points
        nats = weight @ np.logaddexp(0.0, total) - events @ total
        return float(nats + 0.5 * prior @ points**2)

    cost = cost_of(points)
    for _ in range(MOST_STEPS):
        likely = to_probability(held @ points)
        slope = held.T @ (events - weight * likely) - prior * points
        curve = weight * likely * (1 - likely)
        step = _solved(_with_prior((held * curve[:, None]).T @ held, prior), slope)
        points, lower = _downhill(cost_of, points, step, cost)
        if lower > cost - LEAST_CHANGE * max(abs(cost), 1.0):
            break
        cost = lower
    points = np.round(points, DIGITS)
    return points[:, None], cost_of(points)


def fit_shares(held, weight, sums, prior):
    """Points of each class whose sums are log-shares, up to a constant a row.

    Parameters
    ----------
    held, weight, prior
        See `fit_numbers`.
    sums : array of shape (n_patterns, n_classes)
        Of weight times the probability of each class.

    Returns
    -------
    points : array of shape (n_rules, n_classes)
        Those of a rule add up to zero.
    cost : float
        Nats for the classes, by weight, and for what draws points to zero.
    """
    n_rules, n_classes = held.shape[1], sums.shape[1]
    penalty = np.repeat(prior, n_classes)

    def cost_of(points):
        total = held @ points.reshape(n_rules, n_classes)
        top = total.max(axis=1)
        scale = top + np.log(np.exp(total - top[:, None]).sum(axis=1))
        nats = weight @ scale - (sums * total).sum()
        return float(nats + 0.5 * penalty @ points**2)

    points = np.zeros(n_rules * n_classes)
    cost = cost_of(points)
    for _ in range(MOST_STEPS):
        likely = softmax(held @ points.reshape(n_rules, n_classes))
        apart = sums - weight[:, None] * likely
        slope = (held.T @ apart).ravel() - penalty * points
        matrix = _with_prior(_share_curvature(held, weight, likely), penalty)
        points, lower = _downhill(cost_of, points, _solved(matrix, slope), cost)
        if lower > cost - LEAST_CHANGE * max(abs(cost), 1.0):
            break
        cost = lower
    points = points.reshape(n_rules, n_classes)
    points = np.round(points - points.mean(axis=1, keepdims=True), DIGITS)
    return points, cost_of(points.ravel())


def _share_curvature(held, weight, likely):
    """Second derivatives of the cost, (n_rules * n_classes) square."""
    n_rules, n_classes = held.shape[1], likely.shape[1]
    matrix = np.zeros((n_rules, n_classes, n_rules, n_classes))
    for a in range(n_classes):
        for b in range(n_classes):
            curve = weight * likely[:, a] * ((a == b) - likely[:, b])
            matrix[:, a, :, b] = (held * curve[:, None]).T @ held
    return matrix.reshape(n_rules * n_classes, -1)


def _downhill(cost_of, points, step, cost):
    """The points after the longest of some halved steps that does not cost more."""
    for _ in range(30):
        lower = cost_of(points + step)
        if lower <= cost:
            return points + step, lower
        step = step / 2
    return points, cost


def _with_prior(matrix, prior):
    # A tiny ridge keeps rules that always hold together apart from the base.
    floor = FLOOR * max(matrix.diagonal().max(initial=0.0), 1.0)
    return matrix + np.diag(prior + floor)


def _solved(matrix, sides):
    return np.linalg.solve(matrix, sides)


def to_probability(log_odds):
    """The probability with these log-odds; never an overflow.

    Examples
    --------
    >>> to_probability(np.array([-1000.0, 0.0, 1000.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    small = np.exp(-np.abs(log_odds))
    return np.where(log_odds >= 0, 1.0, small) / (1.0 + small)


def softmax(totals):
    """Shares from log-shares, row by row.

    Examples
    --------
    >>> softmax(np.array([[0.0, 0.0]])).tolist()
    [[0.5, 0.5]]
    """
    shares = np.exp(totals - totals.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)
