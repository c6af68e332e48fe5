"""Candidate rules of inTrees: paths of the trees as numbers of sides, and their rows.

Which rows a rule takes is kept as bits, 64 rows in a word; so a rule is an AND of the
words of its sides.
"""

from dataclasses import dataclass

import numpy as np

from defragtrees.methods.tree_paths import Sides, find_paths

__all__ = ["PathRules", "drop_repeats", "extract", "pack", "side_bits", "unpack"]

SIDES_AT_ONCE = 128  # whose rows are unpacked at the same time


@dataclass(frozen=True, eq=False)
class PathRules:
    """Rules as the sides that they ask for.

    Parameters
    ----------
    sides : Sides
    side_numbers : int array of shape (n_rules, longest)
        Numbers in `sides`, in the order in which conditions stand; -1 fills up.
    """

    sides: Sides
    side_numbers: np.ndarray

    def __len__(self):
        return len(self.side_numbers)

    @property
    def lengths(self):
        """How many conditions each rule has; those on one feature count singly."""
        return (self.side_numbers >= 0).sum(axis=1)

    def take(self, chosen):
        """The rules with these numbers."""
        return PathRules(self.sides, self.side_numbers[chosen])

    def sides_of(self, rule):
        """The sides of one rule."""
        return [int(side) for side in self.side_numbers[rule] if side >= 0]


def extract(problem, max_depth, n_trees=None):
    """A rule for each leaf, or for each node at `max_depth`, tree by tree.

    The conditions of a rule stand in the order of their features, and those on one
    feature as they come from the root on. They are not merged: of `x <= 5` and
    `x <= 3`, pruning may drop the second.
    """
    sides, paths = find_paths(problem, max_depth, n_trees)
    places = {j: k for k, j in enumerate(problem.feature_order)}
    place = [places[j] for j in sides.feature]
    ends = [path for path in paths if path.is_leaf or len(path.sides) == max_depth]
    side_numbers = np.full((len(ends), max([1, *(len(p.sides) for p in ends)])), -1)
    for k, path in enumerate(ends):
        side_numbers[k, : len(path.sides)] = sorted(path.sides, key=place.__getitem__)
    return PathRules(sides, side_numbers)


def drop_repeats(side_numbers):
    """Numbers of the rows of an int array that stand for the first time."""
    return np.sort(np.unique(side_numbers, axis=0, return_index=True)[1])


def side_bits(sides, numbers, codes):
    """The rows that sides accept as words, and those of all rows as the last line.

    Returns
    -------
    uint64 array of shape (len(numbers) + 1, n_words)
    """
    n_rows = len(codes)
    bits = np.empty((len(numbers) + 1, -(-n_rows // 64)), dtype=np.uint64)
    for start in range(0, len(numbers), SIDES_AT_ONCE):
        block = numbers[start : start + SIDES_AT_ONCE]
        part = Sides(sides.feature[block], tuple(sides.accepts[i] for i in block))
        bits[start : start + len(block)] = pack(part.rows(codes))
    bits[-1] = pack(np.ones((1, n_rows), dtype=bool))
    return bits


def pack(held):
    """A bool array of shape (n, n_rows) as words of 64 rows; the rest is zero."""
    packed = np.packbits(held, axis=1)
    words = np.zeros((len(held), -(-held.shape[1] // 64)), dtype=np.uint64)
    words.view(np.uint8)[:, : packed.shape[1]] = packed
    return words


def unpack(words, n_rows):
    """What `pack` packed, as zeros and ones."""
    return np.unpackbits(words.view(np.uint8), axis=1, count=n_rows)
