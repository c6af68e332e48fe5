"""Visits to the rows of a shard for whole lists of rules, in numpy or compiled.

`list_answering` says who answers, `list_counts` adds up what answered rows say, and
`list_gains` what each rule would gain by code of every column. Sums are of whole
numbers; `compiled_lists` holds the same in numba, `on_torch` the same for a GPU, and
all agree to the last bit.

Boxes are bits of words: each bin of each feature that a list asks about has a word that
says which boxes reject it. One look at each such feature then says of a row which boxes
take it, and which only one condition keeps it from.
"""

from dataclasses import dataclass
from functools import cache
from importlib import import_module

import numpy as np

__all__ = [
    "BOXES_A_WORD",
    "PackedList",
    "list_answering",
    "list_counts",
    "list_gains",
    "pack_boxes",
]

BOXES_A_WORD = 62  # of 64 bits, so that no sign is in the way
LOW_BITS = 26  # of a whole number; sums of the rest and of these are exact as float64


@dataclass(frozen=True, eq=False)
class PackedList:
    """A list of boxes as arrays.

    Parameters
    ----------
    n_boxes : int
    used : int array of shape (n_used,)
        Features that it asks about.
    starts : int array of shape (n_used,)
        Where the bins of each of them begin in `rejects`.
    rejects : int64 array of shape (n_words, n_places)
        Boxes that do not accept a bin, as bits.
    slope : int64 array of shape (n_boxes, n_rules, n_outputs), optional
        What a row gains if a box takes it from a rule, for each unit of its target.
    level : int64 array of shape (n_boxes, n_rules, n_classes), optional
        And whatever its target is, by class; one number where there are none.
    """

    n_boxes: int
    used: np.ndarray
    starts: np.ndarray
    rejects: np.ndarray
    slope: np.ndarray | None = None
    level: np.ndarray | None = None

    @property
    def boxes(self):
        """What says which rows a box accepts."""
        return self.n_boxes, self.used, self.starts, self.rejects

    @property
    def n_rules(self):
        """Number of rules, the last "otherwise" included."""
        return self.n_boxes + 1


def pack_boxes(boxes, n_bins, **gains):
    """The PackedList of boxes, each a dict from feature to the bins that it accepts.

    Examples
    --------
    >>> packed = pack_boxes([{3: np.array([True, False])}], [0, 0, 0, 2])
    >>> packed.used.tolist(), packed.rejects.tolist()
    ([3], [[0, 1]])
    """
    used = sorted({j for box in boxes for j in box})
    starts = np.cumsum([0, *(n_bins[j] for j in used)]).astype(np.intp)
    n_words = -(-len(boxes) // BOXES_A_WORD)
    rejects = np.zeros((n_words, starts[-1]), dtype=np.int64)
    for k, box in enumerate(boxes):
        word, bit = divmod(k, BOXES_A_WORD)
        for j, accepted in box.items():
            start = starts[used.index(j)]
            part = rejects[word, start : start + len(accepted)]
            part |= np.where(accepted, 0, np.int64(1) << np.int64(bit))
    features = np.array(used, dtype=np.intp)
    return PackedList(len(boxes), features, starts[:-1], rejects, **gains)


def plain_list_answering(codes, n_boxes, used, starts, rejects):
    """The first box that accepts each row; their number where none does."""
    once, _ = _rejected(codes, used, starts, rejects)
    return _first_box(once, n_boxes)


def plain_list_counts(
    codes, target, classes, units, n_classes, n_boxes, used, starts, rejects
):
    """Sums over the rows that each rule answers.

    Parameters
    ----------
    codes : unsigned int array of shape (n_rows, n_features)
    target : int32 array of shape (n_rows, n_outputs)
    classes : unsigned int array of shape (n_rows,), or empty
    units : int64 array of shape (n_rows,)
        Weights; one number if all are the same.
    n_classes : int
        0 if classes do not count.
    n_boxes, used, starts, rejects : see PackedList

    Returns
    -------
    int64 array of shape (n_rules, 1 + n_outputs + n_classes)
        Of the weight, of weight times target, and of the weight of each class.
    """
    rule = plain_list_answering(codes, n_boxes, used, starts, rejects)
    weight = np.broadcast_to(units, len(codes))
    columns = [weight, *(weight * one for one in target.T)]
    columns += [np.where(classes == c, weight, 0) for c in range(n_classes)]
    return np.column_stack([_exact_sums(rule, one, n_boxes + 1) for one in columns])


def plain_list_gains(
    codes,
    target,
    classes,
    weight,
    n_boxes,
    used,
    starts,
    rejects,
    slope,
    level,
    columns,
    places,
):
    """What each box would gain by feature and bin, with all its other conditions.

    Parameters
    ----------
    codes, target, classes, n_boxes, used, starts, rejects : as for `list_counts`
    weight : float64 array of shape (n_rows,), or empty if all are one
    slope, level : see PackedList
    columns : int array of shape (n_columns,)
        Features to add up by; those in use are among them.
    places : int array of shape (n_columns + 1,)
        Where the bins of each of them begin in the sums; the last is their number.

    Returns
    -------
    int64 array of shape (n_boxes, n_places)
    """
    once, twice = _rejected(codes, used, starts, rejects)
    sums = np.zeros((n_boxes, places[-1]), dtype=np.int64)
    place_of = dict(zip(columns.tolist(), places.tolist(), strict=False))
    reaches = np.ones(len(codes), dtype=bool)
    for k in range(n_boxes):
        word, bit = divmod(k, BOXES_A_WORD)
        is_rejected = (once[word] >> bit & 1).astype(bool)
        is_near = is_rejected & (twice[word] >> bit & 1 == 0)
        rows = np.flatnonzero(reaches & (is_near | ~is_rejected))
        after = _first_box(once[:, rows], n_boxes, k + 1)
        kind = classes[rows] if level.shape[2] > 1 else 0
        gain = level[k, after, kind]
        for one, each in zip(target.T, slope[k].T, strict=True):
            gain = gain + each[after] * one[rows]
        if len(weight):
            gain = np.rint(weight[rows] * gain).astype(np.int64)
        inside = ~is_rejected[rows]
        for j, start, end in zip(columns, places, places[1:], strict=False):
            own = _exact_sums(codes[rows[inside], j], gain[inside], end - start)
            sums[k, start:end] += own
        near, gain = rows[~inside], gain[~inside]
        for j, start in zip(used, starts, strict=True):
            own = codes[near, j]
            only = (rejects[word, start + own] >> bit & 1).astype(bool)
            own = _exact_sums(own[only], gain[only])
            sums[k, place_of[int(j)] :][: len(own)] += own
        reaches &= is_rejected
    return sums


def _rejected(codes, used, starts, rejects):
    """Boxes that one feature rejects a row for, and those that two do, as bits."""
    shape = len(rejects), len(codes)
    once, twice = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for j, start in zip(used, starts, strict=True):
        more = rejects[:, start + codes[:, j].astype(np.intp)]
        twice |= once & more
        once |= more
    return once, twice


def _first_box(once, n_boxes, begin=0):
    answering = np.full(once.shape[1], n_boxes)
    for k in range(n_boxes - 1, begin - 1, -1):
        word, bit = divmod(k, BOXES_A_WORD)
        np.copyto(answering, k, where=once[word] >> bit & 1 == 0)
    return answering


def _exact_sums(place, values, n_places=0):
    """`numpy.bincount` of whole numbers, without rounding."""
    high = values >> LOW_BITS
    low = values - (high << LOW_BITS)
    total = np.bincount(place, high, n_places).astype(np.int64) << LOW_BITS
    return total + np.bincount(place, low, n_places).astype(np.int64)


@cache
def _kernel(name):
    """A loop, compiled if numba can be imported; that waits until now."""
    try:
        return getattr(import_module("defragtrees.refine.compiled_lists"), name)
    except ImportError:
        return globals()[f"plain_{name}"]


def list_answering(*arguments):
    """See `plain_list_answering`."""
    return _kernel("list_answering")(*arguments)


def list_counts(*arguments):
    """See `plain_list_counts`."""
    return _kernel("list_counts")(*arguments)


def list_gains(*arguments):
    """See `plain_list_gains`."""
    return _kernel("list_gains")(*arguments)
