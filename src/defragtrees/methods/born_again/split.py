"""The best split of a node: candidates from its training rows, judged on smeared ones.

The criterion is the squared error of what the ensemble says around its mean in each of
the two sides, summed over classes; for one-hot classes that is the Gini criterion.
"""

from dataclasses import dataclass

import numpy as np

__all__ = ["Candidates", "Choice", "best_split", "find_candidates", "split_losses"]

NOISE = 1e-12  # of the largest number: below it the answers are one and the same
TIED = 1e-9  # of the node's loss: splits whose losses differ by less are tied


@dataclass(frozen=True, eq=False)
class Candidates:
    """Splits to try, by column and then ascending, infinity first.

    Parameters
    ----------
    column : int array of shape (n_candidates,)
    code : int array of shape (n_candidates,)
        The last code that goes left; of a column with categories, the number of a set.
    threshold : float64 array of shape (n_candidates,)
        NaN for a set; infinity where only missing values go right.
    """

    column: np.ndarray
    code: np.ndarray
    threshold: np.ndarray

    def __len__(self):
        return len(self.column)


@dataclass(frozen=True)
class Choice:
    """The best of the candidates.

    Parameters
    ----------
    column, code, threshold
        As in Candidates.
    missing_left : bool or None
        Where missing values go; None where no smeared row has any.
    loss : float
        Of the two sides together.
    gain : float
        By which share the loss of the node falls; 0 where it has none.
    """

    column: int
    code: int
    threshold: float
    missing_left: bool | None
    loss: float
    gain: float


def find_candidates(table, rows, rng=None, most=None, min_values=2):
    """Splits with training rows on both sides.

    Parameters
    ----------
    table : CodeTable
    rows : int array of shape (n_own,)
        Training rows of the node.
    rng : numpy.random.Generator, optional
        Draws the subset where there are more than `most`.
    most : int, optional
        Most candidates of one feature.
    min_values : int
        Fewest distinct numbers of a feature in the node.
    """
    ordered = np.sort(table.codes[rows], axis=0)
    column, at = np.nonzero((ordered[1:] > ordered[:-1]).T)
    low, high = ordered[at, column], ordered[at + 1, column]
    # The code after the last value stands for missing: there only these go right.
    to_missing = np.isnan(table.values[high])
    is_number = ~table.is_set[column]
    n_steps = np.bincount(column[~to_missing], minlength=table.n_columns)
    enough = n_steps >= min_values - 1
    used = is_number & (to_missing | enough[column])
    if table.allowed is not None:
        used &= to_missing
    column, low, high = column[used], low[used], high[used]
    middle = _middle(table.values[low], table.values[high])
    parts = [(column, _last_code(table, low, high, middle), middle)]
    if table.allowed is not None:
        parts.append(_allowed_inside(table, ordered, enough))
    parts += [_sets_inside(table, ordered, k) for k in table.sets]
    column, code, threshold = (
        np.concatenate(arrays) for arrays in zip(*parts, strict=True)
    )
    # Where it ties, a split by what is missing alone is the simplest to read.
    order = np.lexsort((code, ~np.isinf(threshold), column))
    if most is not None:
        order = _thinned(order, column, most, rng)
    return Candidates(column[order], code[order], threshold[order])


def _middle(low, high):
    """Midway between two values; infinity where the second one is missing."""
    with np.errstate(over="ignore"):
        middle = low + (high - low) / 2
    middle = np.where(np.isinf(middle), low / 2 + high / 2, middle)
    # Between neighbours among the floats the midpoint is one of the two.
    middle = np.where(middle >= high, low, middle)
    return np.where(np.isnan(high), np.inf, middle)


def _last_code(table, low, high, threshold):
    """The last code whose value is not above the threshold, from `low` to below `high`.

    There may be values between the two, of training rows outside the node.
    """
    low, high = low.astype(np.intp), high.astype(np.intp)
    while (high - low > 1).any():
        probe = (low + high) // 2
        below = table.values[probe] <= threshold
        low, high = np.where(below, probe, low), np.where(below, high, probe)
    return low


def _allowed_inside(table, ordered, enough):
    """The ensemble's thresholds with numbers of the node on both sides."""
    column, code, threshold = table.allowed
    missing = table.starts[1:] - 1
    last = np.where(ordered == missing, -1, ordered).max(axis=0)
    used = (code >= ordered[0][column]) & (code < last[column]) & enough[column]
    return column[used], code[used], threshold[used]


def _sets_inside(table, ordered, column):
    """The sets of a column that have rows of the node inside and outside."""
    present = np.zeros(table.width(column), dtype=bool)
    present[ordered[:, column] - table.starts[column]] = True
    sets = table.sets[column]
    inside = (sets & present).any(axis=1)
    # Missing values may go to either side, so they do not make a set a split; but for
    # the last set, of all categories, they are the other side.
    outside = (~sets & present)[:, :-1].any(axis=1)
    outside[-1] = present[-1]
    code = np.flatnonzero(inside & outside)
    threshold = np.where(code == len(sets) - 1, np.inf, np.nan)
    return np.full(len(code), column), code, threshold


def _thinned(order, column, most, rng):
    """At most so many candidates of each column, in the same order."""
    kept = np.ones(len(order), dtype=bool)
    _, first, count = np.unique(column[order], return_index=True, return_counts=True)
    for k in np.flatnonzero(count > most):
        kept_here = kept[first[k] : first[k] + count[k]]
        kept_here[:] = False
        kept_here[rng.choice(count[k], most, replace=False)] = True
    return order[kept]


def split_losses(table, candidates, smeared, responses):
    """Loss of every candidate with missing values on the right, and on the left.

    Parameters
    ----------
    table : CodeTable
    candidates : Candidates
    smeared : int array of shape (n_rows, n_columns)
        Synthetic rows, as codes.
    responses : float64 array of shape (n_rows, n_outputs)
        What the ensemble says of them.

    Returns
    -------
    losses : float64 array of shape (n_candidates, 2)
        Infinite on the left if there is nothing missing to go there.
    unsplit : float
        The loss without a split.
    """
    n_rows = len(smeared)
    centred = responses - responses.mean(axis=0)
    centred[np.abs(centred) <= NOISE * np.abs(responses).max()] = 0.0
    unsplit = float((centred**2).sum())
    total = centred.sum(axis=0)
    n_left, left = _left_sums(table, candidates, smeared, centred)
    losses = np.full((len(candidates), 2), np.inf)
    losses[:, 0] = unsplit - _explained(n_left, left, n_rows, total)
    missing = smeared == table.starts[1:] - 1
    n_missing = missing.sum(axis=0)
    movable = n_missing[candidates.column] > 0
    movable &= ~np.isinf(candidates.threshold)
    if movable.any():
        column = candidates.column[movable]
        moved = missing.T.astype(np.float64) @ centred
        more = left[movable] + moved[column]
        n_more = n_left[movable] + n_missing[column]
        losses[movable, 1] = unsplit - _explained(n_more, more, n_rows, total)
    return losses, unsplit


def _explained(n_left, left, n_rows, total):
    """What two means take off the sum of squares; an empty side takes nothing."""
    right, n_right = total - left, n_rows - n_left
    return (left**2).sum(axis=1) / np.maximum(n_left, 1) + (right**2).sum(
        axis=1
    ) / np.maximum(n_right, 1)


def _left_sums(table, candidates, smeared, responses):
    """Number and summed responses of the smeared rows that go left."""
    n_rows, n_outputs = responses.shape
    n_left = np.zeros(len(candidates), dtype=np.intp)
    left = np.zeros((len(candidates), n_outputs))
    is_set = table.is_set[candidates.column]
    number = np.flatnonzero(~is_set)
    if len(number):
        column = candidates.column[number]
        order = np.argsort(smeared, axis=0, kind="stable")
        # Codes rise from column to column, so that one search serves all of them.
        ascending = np.take_along_axis(smeared, order, axis=0).T.ravel()
        reached = np.searchsorted(ascending, candidates.code[number], side="right")
        n_left[number] = reached - column * n_rows
        sums = np.zeros((n_rows + 1, *order.shape[1:], n_outputs))
        np.cumsum(responses[order], axis=0, out=sums[1:])
        left[number] = sums[n_left[number], column]
    for k in np.unique(candidates.column[is_set]):
        of_column = np.flatnonzero(candidates.column == k)
        inside = table.sets[k][candidates.code[of_column]]
        inside = inside[:, smeared[:, k] - table.starts[k]]
        n_left[of_column] = inside.sum(axis=1)
        left[of_column] = inside.astype(np.float64) @ responses
    return n_left, left


def best_split(table, candidates, smeared, responses):
    """The candidate with the smallest loss; the first of those that are tied."""
    losses, unsplit = split_losses(table, candidates, smeared, responses)
    smallest = losses.min()
    first = int((losses <= smallest + TIED * unsplit).argmax())
    place, is_left = divmod(first, 2)
    column = int(candidates.column[place])
    threshold = float(candidates.threshold[place])
    has_missing = (smeared[:, column] == table.starts[column + 1] - 1).any()
    missing_left = bool(is_left) if has_missing or np.isinf(threshold) else None
    gain = (unsplit - losses[place, is_left]) / unsplit if unsplit > 0 else 0.0
    return Choice(
        column,
        int(candidates.code[place]),
        threshold,
        missing_left,
        float(losses[place, is_left]),
        float(gain),
    )
