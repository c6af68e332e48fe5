"""Lists of boxes as words, for who visits many rows.

Boxes are bits of words: each bin of each feature that a list asks about has a word that
says which boxes reject it.
"""

from dataclasses import dataclass

import numpy as np

__all__ = ["BOXES_A_WORD", "PackedList", "pack_boxes"]

BOXES_A_WORD = 62  # of 64 bits, so that no sign is in the way


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
