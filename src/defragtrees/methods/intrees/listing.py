"""The last stage of inTrees: rules become an ordered list, the best one first."""

from dataclasses import dataclass

import numpy as np

from defragtrees.methods.intrees.candidates import unpack

__all__ = ["Listed", "build_list"]

CELLS_AT_ONCE = 4_000_000  # rows x rules unpacked at the same time
DIGITS = 10  # errors that agree in so many digits are the same; weights leave noise
NOISE = 1e-12


@dataclass(frozen=True, eq=False)
class Listed:
    """Which rules stand in the list, and who takes which row.

    Parameters
    ----------
    rules : list of int
        Numbers of the rules, in the order in which they are asked.
    place : int array of shape (n_rows,)
        The place in the list of the rule that takes a row; `len(rules)` where none
        does.
    """

    rules: list[int]
    place: np.ndarray


def build_list(measured, target, min_freq=0.01, max_rules=None, smoothing=0.0):
    """The list in which the next rule is always the best on the rows still left.

    It ends where no rule errs less than one answer for all rows left would.

    Parameters
    ----------
    measured : MeasuredRules
    target : ClassTarget or NumberTarget
    min_freq : float
        A rule must take so great a share of all rows.
    max_rules : int, optional
        Most rules, the one for all rows left included.
    smoothing : float
        For the choice, so great a share of all rows joins those of each rule, with the
        error of all rows left.
    """
    by_row = _by_row(measured.bits, len(target.columns))
    left = np.arange(len(by_row))
    place = np.empty(len(by_row), dtype=np.intp)
    sums, listed = target.sums(measured.bits), []
    while max_rules is None or len(listed) < max_rules - 1:
        sums_left = target.columns[left].sum(axis=0, keepdims=True)
        best = _best(measured, target, sums, sums_left, min_freq, smoothing)
        if best is None:
            break
        holds = by_row[left, best // 8] >> (7 - best % 8) & 1 == 1
        taken, left = left[holds], left[~holds]
        place[taken] = len(listed)
        listed.append(best)
        sums -= _sums_by_row(by_row[taken], target.columns[taken], len(measured))
    place[left] = len(listed)
    return Listed(listed, place)


def _best(measured, target, sums, sums_left, min_freq, smoothing):
    """Number of the rule to ask next; None if none is worth it.

    `sums` are those of each rule, and `sums_left` those of all, over the rows left.
    """
    frequency = target.weights(sums) / target.total
    # A rule that takes all rows left cannot be better than one answer for all.
    n_rows, n_left = sums[:, -1], sums_left[0, -1]
    possible = (frequency >= min_freq - NOISE) & (n_rows > 0) & (n_rows < n_left)
    possible &= frequency > 0
    numbers = np.flatnonzero(possible)
    if not numbers.size:
        return None
    frequency = frequency[numbers]
    rest = target.errors(sums_left, target.answers(sums_left))[0]
    errors = target.errors(sums[numbers], measured.answer[numbers])
    errors = (errors * frequency + rest * smoothing) / (frequency + smoothing)
    errors = np.round(errors, DIGITS)
    lengths = measured.rules.lengths[numbers]
    first = np.lexsort((lengths, -np.round(frequency, DIGITS), errors))[0]
    return int(numbers[first]) if errors[first] < np.round(rest, DIGITS) else None


def _by_row(bits, n_rows):
    """Which rules hold in each row, 8 rules in a byte: (n_rows, n_bytes)."""
    by_row = np.empty((n_rows, -(-len(bits) // 8)), dtype=np.uint8)
    step = max(1, CELLS_AT_ONCE // max(len(bits), 1) // 64)
    for start in range(0, bits.shape[1], step):
        rows = slice(64 * start, min(64 * (start + step), n_rows))
        words = np.ascontiguousarray(bits[:, start : start + step])
        held = unpack(words, rows.stop - rows.start)
        by_row[rows] = np.packbits(held.T, axis=1)
    return by_row


def _sums_by_row(by_row, columns, n_rules):
    """Sums over these rows of each rule, (n_rules, n_columns)."""
    sums = np.zeros((n_rules, columns.shape[1]))
    step = max(1, CELLS_AT_ONCE // max(n_rules, 1))
    for start in range(0, len(by_row), step):
        block = slice(start, start + step)
        held = np.unpackbits(by_row[block], axis=1, count=n_rules)
        sums += held.T.astype(np.float64) @ columns[block]
    return sums
