"""Visits to the rows of a shard for whole lists of rules, in numpy or compiled.

`list_answering` says who answers, `list_counts` adds up what answered rows say, and
`list_gains` what each rule would gain by code of every column. Sums are of whole
numbers; `compiled_lists` holds the same in numba, `on_torch` the same for a GPU, and
all agree to the last bit.

`boxes` packs them into words. One look at each feature that a list asks about then says
of a row which boxes take it, and which only one condition keeps it from.
"""

from functools import cache
from importlib import import_module

import numpy as np

from defragtrees.boxes import BOXES_A_WORD

__all__ = [
    "list_answering",
    "list_counts",
    "list_gains",
    "list_losses",
    "list_told",
]

LOW_BITS = 26  # of a whole number; sums of the rest and of these are exact as float64


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


def plain_list_told(codes, expected, weight, chosen, n_boxes, used, starts, rejects):
    """Weight and sums of what should come out, by the rule that answers.

    Parameters
    ----------
    codes, n_boxes, used, starts, rejects : as for `list_counts`
    expected : float64 array of shape (n_rows, n_outputs)
    weight : float64 array of shape (n_rows,), or empty if all are one
    chosen : bool array of shape (n_rows,)
        Rows that count.

    Returns
    -------
    float64 array of shape (n_rules, 1 + n_outputs)
    """
    rule = plain_list_answering(codes[chosen], n_boxes, used, starts, rejects)
    weight = weight[chosen] if len(weight) else np.ones(len(rule))
    columns = [weight, *(weight * one for one in expected[chosen].T)]
    return np.column_stack([np.bincount(rule, one, n_boxes + 1) for one in columns])


def plain_list_losses(
    codes, expected, weight, chosen, told, counts, n_boxes, used, starts, rejects
):
    """Sums of what a list loses that tells something of each row.

    Parameters
    ----------
    codes, expected, weight, chosen, n_boxes, used, starts, rejects : see `list_told`
    told : float64 array of shape (n_rules, n_outputs)
    counts : bool
        Whether a wrong class is the loss, not the squared distance.

    Returns
    -------
    float64 array of shape (5,)
        Of the weight, weight times loss, and of squared weights times the powers of
        the loss.
    """
    rule = plain_list_answering(codes[chosen], n_boxes, used, starts, rejects)
    weight = weight[chosen] if len(weight) else np.ones(len(rule))
    answers, expected = told[rule], expected[chosen]
    if counts:
        loss = (answers.argmax(axis=1) != expected.argmax(axis=1)).astype(np.float64)
    else:
        loss = ((answers - expected) ** 2).sum(axis=1)
    square = weight**2
    powers = np.ones(len(loss)), loss, loss**2
    return np.array([weight.sum(), weight @ loss, *(square @ one for one in powers)])


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


def list_told(*arguments):
    """See `plain_list_told`."""
    return _kernel("list_told")(*arguments)


def list_losses(*arguments):
    """See `plain_list_losses`."""
    return _kernel("list_losses")(*arguments)
