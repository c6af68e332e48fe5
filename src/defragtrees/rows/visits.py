"""Rules over the codes of a shard, visited by compiled loops where numba is there."""

from functools import cache
from importlib import import_module

import numpy as np

from defragtrees.boxes import BOXES_A_WORD, pack_boxes

__all__ = ["class_sums", "held_rules", "pack_rules"]


@cache
def _kernels():
    """The compiled loops; None without numba."""
    try:
        return import_module("defragtrees.rows.compiled_rows")
    except ImportError:
        return None


def pack_rules(rules, values):
    """Rules as boxes of one word; None if no loop can visit them.

    Parameters
    ----------
    rules : RuleSet
    values : list of array
        For each feature a value of each bin, to ask conditions by.
    """
    if len(rules.rules) > BOXES_A_WORD or _kernels() is None:
        return None
    boxes = []
    for rule in rules.rules:
        box = {}
        for condition in rule.conditions:
            j = condition.feature
            box[j] = box.get(j, True) & condition.covers(values[j])
        boxes.append(box)
    return pack_boxes(boxes, [len(own) for own in values])


def held_rules(codes, packed):
    """Which rules hold in which rows, the last one always.

    Parameters
    ----------
    codes : unsigned int array of shape (n_samples, n_features), C order
    packed : PackedList
        That `pack_rules` made.

    Returns
    -------
    bool array of shape (n_samples, n_rules), Fortran order
    """
    held = np.ones((len(codes), packed.n_rules), dtype=bool, order="F")
    if packed.n_boxes:
        _kernels().held_rules(codes, *_boxes(packed), held)
    return held


def class_sums(shard, packed, n_classes):
    """What the rows of a shard say of the rules of a list, by their classes.

    Parameters
    ----------
    shard : Shard
    packed : PackedList
    n_classes : int

    Returns
    -------
    covered : array of shape (n_rules,)
        Weight of the rows in which each rule holds.
    alone : array of shape (n_rules, n_classes)
        Sums of y, or without y of the ensemble's probabilities, over these rows.
    by_answer, by_label, by_share : arrays of shape (n_rules, n_classes)
        Over the rows that each rule answers: weight by the ensemble's class and by
        that of y, and sums of the ensemble's probabilities.
    """
    targets, shape = shard.targets, (packed.n_rules, n_classes)
    labels = targets.get("labels", np.empty(0, dtype=targets["answers"].dtype))
    covered, alone = np.zeros(packed.n_rules), np.zeros(shape)
    sums = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    _kernels().class_sums(
        shard.codes,
        *_boxes(packed),
        np.empty(0) if shard.weight is None else shard.weight,
        (targets["answers"], labels),
        targets["probabilities"],
        *(covered, alone, sums),
    )
    return covered, alone, *sums


def _boxes(packed):
    word = packed.rejects.view(np.uint64)
    word = word[0] if len(word) else np.empty(0, dtype=np.uint64)
    return packed.n_boxes, packed.used, packed.starts, word
