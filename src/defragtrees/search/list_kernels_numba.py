"""The loops of `kernels` over lists, compiled by numba; each row is visited once.

Indices are unsigned, which saves numba's test for negative ones; that test took most of
the time. Lists whose boxes fit into one word, nearly all, have a separate loop.
"""

import numpy as np
from numba import njit

from defragtrees.data.kernels import NONE, ONE, lowest_place
from defragtrees.data.shards import BOXES_A_WORD

FULL_WORD = np.int64(2**BOXES_A_WORD - 1)


def list_answering(codes, n_boxes, used, starts, rejects):
    """See `kernels.plain_list_answering`."""
    answering = np.full(len(codes), n_boxes)
    if len(rejects) == 1:
        _answer_by_word(codes, *_word(n_boxes, used, starts, rejects), answering)
    else:
        _answer_by_words(codes, n_boxes, used, starts, rejects, answering)
    return answering


def _word(n_boxes, used, starts, rejects):
    """A list of one word: the bit of the default rule, and unsigned indices."""
    last = np.uint64(1 << n_boxes)
    places = used.astype(np.uint64), starts.astype(np.uint64)
    return last, *places, rejects.view(np.uint64)[0]


@njit(cache=True, nogil=True)
def _answer_by_word(codes, last, used, starts, word, answering):
    for i in range(len(codes)):
        rejected = NONE
        for u in range(len(used)):
            rejected |= word[starts[u] + np.uint64(codes[i, used[u]])]
        answering[i] = lowest_place(~rejected & (last - ONE) | last)


@njit(cache=True, nogil=True)
def _answer_by_words(codes, n_boxes, used, starts, rejects, answering):
    for i in range(len(codes)):
        for word in range(len(rejects)):
            rejected = np.int64(0)
            for u in range(len(used)):
                place = np.uint64(starts[u]) + np.uint64(codes[i, used[u]])
                rejected |= rejects[word, place]
            held = ~rejected & FULL_WORD
            if held:
                answering[i] = min(word * BOXES_A_WORD + _lowest(held), n_boxes)
                break


@njit(cache=True, nogil=True)
def _lowest(word):
    """The position of the lowest bit of a signed word."""
    return np.int64(lowest_place(np.uint64(word)))


def list_counts(codes, target, classes, units, n_classes, *boxes):
    """See `kernels.plain_list_counts`."""
    rule = list_answering(codes, *boxes)
    sums = np.zeros((boxes[0] + 1, 1 + target.shape[1] + n_classes), dtype=np.int64)
    _add_counts(rule, target, classes, units, sums)
    return sums


@njit(cache=True, nogil=True)
def _add_counts(rule, target, classes, units, sums):
    n_outputs, width = np.uint64(target.shape[1]), np.uint64(sums.shape[1])
    has_classes = width > ONE + n_outputs
    sums = sums.ravel()
    for i in range(len(rule)):
        place = np.uint64(rule[i]) * width
        unit = units[i] if len(units) > 1 else units[0]
        sums[place] += unit
        for c in range(n_outputs):
            sums[place + ONE + c] += unit * target[i, c]
        if has_classes:
            sums[place + ONE + n_outputs + np.uint64(classes[i])] += unit


def list_gains(
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
    """See `kernels.plain_list_gains`."""
    sums = np.zeros((n_boxes, places[-1]), dtype=np.int64)
    place_of = np.zeros(codes.shape[1], dtype=np.uint64)
    place_of[columns] = places[:-1]
    rows = codes, target, classes, weight
    boxes = n_boxes, used, starts, rejects
    adding = columns.astype(np.uint64), places.astype(np.uint64), place_of, sums
    if len(rejects) == 1:
        _add_gains_by_word(*rows, *_word(*boxes), slope, level, *adding)
    else:
        _add_gains_by_words(*rows, *boxes, slope, level, *adding)
    return sums


@njit(cache=True, nogil=True)
def _row_gain(i, k, after, target, classes, weight, slope, level):
    kind = np.uint64(classes[i]) if level.shape[2] > 1 else NONE
    gain = level[k, after, kind]
    for c in range(target.shape[1]):
        gain += slope[k, after, np.uint64(c)] * target[i, c]
    if len(weight):
        return np.int64(np.rint(weight[i] * gain))
    return gain


@njit(cache=True, nogil=True)
def _add_gains_by_words(
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
    place_of,
    sums,
):
    """`list_gains` for boxes that need more than one word."""
    words = np.empty((len(rejects), len(used)), dtype=np.int64)
    near = np.empty(len(rejects), dtype=np.int64)
    held = np.empty(len(rejects), dtype=np.int64)
    for i in range(len(codes)):
        _look(codes, i, used, starts, rejects, words, near, held)
        taker = _next_box(held, n_boxes)
        for word in range(min(len(rejects), 1 + taker // BOXES_A_WORD)):
            first = word * BOXES_A_WORD
            left = near[word]
            if taker - first < BOXES_A_WORD:
                left &= (np.int64(1) << np.int64(taker - first)) - 1
            while left:
                bit = _lowest(left)
                left &= left - 1
                u = 0
                while not words[word, u] >> bit & 1:
                    u += 1
                k, j = first + bit, used[u]
                gain = _row_gain(i, k, taker, target, classes, weight, slope, level)
                sums[k, np.uint64(place_of[j]) + np.uint64(codes[i, j])] += gain
        if taker < n_boxes:
            held[taker // BOXES_A_WORD] &= held[taker // BOXES_A_WORD] - 1
            after = _next_box(held, n_boxes)
            gain = _row_gain(i, taker, after, target, classes, weight, slope, level)
            for c in range(len(columns)):
                place = np.uint64(places[c]) + np.uint64(codes[i, columns[c]])
                sums[taker, place] += gain


@njit(cache=True, nogil=True)
def _gain_at(i, pair, gain, target, weight, slope):
    """Gain of row i between two rules, given that of its class."""
    n_outputs = np.uint64(target.shape[1])
    for c in range(n_outputs):
        gain += slope[pair * n_outputs + c] * target[i, c]
    if len(weight):
        return np.int64(np.rint(weight[i] * gain))
    return gain


@njit(cache=True, nogil=True)
def _add_gains_by_word(
    codes,
    target,
    classes,
    weight,
    last,
    used,
    starts,
    word,
    slope,
    level,
    columns,
    places,
    place_of,
    sums,
):
    """`list_gains` for boxes that fit in one word; see `_answer_by_word`."""
    rejecting = np.empty(len(used), dtype=np.uint64)
    n_rules, n_kinds = np.uint64(level.shape[1]), np.uint64(level.shape[2])
    n_places = np.uint64(sums.shape[1])
    level, slope, sums = level.ravel(), slope.ravel(), sums.ravel()
    for i in range(len(codes)):
        once = twice = NONE
        for u in range(len(used)):
            more = word[starts[u] + np.uint64(codes[i, used[u]])]
            rejecting[u] = more
            twice |= once & more
            once |= more
        held = ~once & (last - ONE) | last
        taker = lowest_place(held)
        kind = np.uint64(classes[i]) if n_kinds > ONE else NONE
        near = once & ~twice & ((ONE << taker) - ONE)
        while near:
            k = lowest_place(near)
            near &= near - ONE
            pair = k * n_rules + taker
            gain = _gain_at(
                i, pair, level[pair * n_kinds + kind], target, weight, slope
            )
            place = k * n_places
            for u in range(len(used)):
                # The only feature that rejects the row; branch-free.
                own = place_of[used[u]] + np.uint64(codes[i, used[u]])
                place += (rejecting[u] >> k & ONE) * own
            sums[place] += gain
        held &= held - ONE
        if held:
            pair = taker * n_rules + lowest_place(held)
            gain = _gain_at(
                i, pair, level[pair * n_kinds + kind], target, weight, slope
            )
            for c in range(len(columns)):
                place = places[c] + np.uint64(codes[i, columns[c]])
                sums[taker * n_places + place] += gain


@njit(cache=True, nogil=True)
def _look(codes, i, used, starts, rejects, words, near, held):
    """Boxes that each feature rejects for row i, that only one does, and that match."""
    for word in range(len(rejects)):
        once = twice = np.int64(0)
        for u in range(len(used)):
            more = rejects[word, np.uint64(starts[u]) + np.uint64(codes[i, used[u]])]
            words[word, u] = more
            twice |= once & more
            once |= more
        near[word] = once & ~twice
        held[word] = ~once & FULL_WORD


@njit(cache=True, nogil=True)
def _next_box(held, n_boxes):
    """The first box that matches; the number of boxes if none does."""
    for word in range(len(held)):
        if held[word]:
            return min(word * BOXES_A_WORD + _lowest(held[word]), n_boxes)
    return n_boxes
