"""In which order rules take turns as one feature rises and all others stay.

A list is monotone in a feature if no turn goes the wrong way. Which rules can take
turns hangs on the other features: a row has some pattern of rules whose conditions on
those hold, and along the feature the list then has only these rules.
"""

import numpy as np

__all__ = ["breaks_order", "ordered_pairs"]

MOST_PATTERNS = 20_000
SLACK = 1e-12


def ordered_pairs(boxes, feature, n_codes):
    """Pairs of rules of which the second can follow the first as a feature rises.

    A few pairs may be among them that cannot, but none is left out.

    Parameters
    ----------
    boxes : sequence of dict
        For each rule, from features to the codes that it accepts, missing last; the
        "otherwise" is left out.
    feature : int
    n_codes : int
        Of the feature, missing left out.

    Returns
    -------
    set of (int, int), or None if there are too many patterns to look at

    Examples
    --------
    >>> low = {0: np.array([True, False, False])}
    >>> sorted(ordered_pairs([low], 0, 2))
    [(0, 1)]
    """
    others = [{j: m for j, m in box.items() if j != feature} for box in boxes]
    along = [box.get(feature) for box in boxes]
    last = max((k for k, mask in enumerate(along) if mask is not None), default=-1)
    pairs, n_patterns = set(), 0
    waiting = [(0, {}, (), ())]
    while waiting:
        k, common, inside, left_out = waiting.pop()
        is_done = k > last or (inside and along[inside[-1]] is None)
        if not is_done:
            narrower = _intersection(common, others[k])
            if narrower is not None:
                waiting.append((k + 1, narrower, (*inside, k), left_out))
            if not _is_within(common, others[k]):
                waiting.append((k + 1, common, inside, (*left_out, k)))
            continue
        n_patterns += 1
        if n_patterns > MOST_PATTERNS:
            return None
        if any(_is_within(common, others[r]) for r in left_out):
            continue
        pairs |= _turns(inside, along, others, common, len(boxes), n_codes)
    return pairs


def _turns(inside, along, others, common, n_boxes, n_codes):
    """Who follows whom along the feature, if just these rules can hold."""
    if all(along[k] is None for k in inside):
        return set()
    # Behind the last rule that asks about the feature, whoever can answers the rest.
    rest = {n_boxes}
    if not inside or along[inside[-1]] is not None:
        begin = max((k for k, mask in enumerate(along) if mask is not None)) + 1
        for k in range(begin, n_boxes):
            if _intersection(common, others[k]) is not None:
                rest.add(k)
    turns = set()
    for final in rest:
        answering = np.full(n_codes, final)
        for k in reversed(inside):
            mask = True if along[k] is None else along[k][:n_codes]
            answering[mask] = k
        steps = np.flatnonzero(np.diff(answering))
        turns |= {(int(answering[i]), int(answering[i + 1])) for i in steps}
    return turns


def _intersection(common, box):
    """What two boxes accept together; None if it is nothing."""
    merged = dict(common)
    for j, mask in box.items():
        both = mask & merged[j] if j in merged else mask
        if not both.any():
            return None
        merged[j] = both
    return merged


def _is_within(common, box):
    """Whether a box accepts all that the common one does."""
    return all(
        mask.all() if j not in common else not (common[j] & ~mask).any()
        for j, mask in box.items()
    )


def breaks_order(pairs, answers, sign):
    """Pairs of rules whose answers go the wrong way.

    Parameters
    ----------
    pairs : set of (int, int)
    answers : array of shape (n_rules,)
    sign : {-1, 1}
        Whether answers may only fall, or only rise.

    Examples
    --------
    >>> breaks_order({(0, 1), (1, 2)}, np.array([0.1, 0.3, 0.2]), 1)
    [(1, 2)]
    """
    return [
        (a, b) for a, b in sorted(pairs) if sign * (answers[b] - answers[a]) < -SLACK
    ]
