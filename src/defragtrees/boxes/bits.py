"""The bits of words, for compiled loops; needs numba."""

import numpy as np
from numba import njit

__all__ = ["NONE", "ONE", "lowest_place"]

DE_BRUIJN = 0x03F79D71B4CB0A89
NONE, ONE = np.uint64(0), np.uint64(1)


def _places_of_bits():
    """By the six bits that de Bruijn's number shows once a bit is multiplied by it."""
    places = np.zeros(64, dtype=np.uint8)
    for bit in range(64):
        places[(DE_BRUIJN << bit & 2**64 - 1) >> 58] = bit
    return places


PLACES = _places_of_bits()
DE_BRUIJN_WORD = np.uint64(DE_BRUIJN)


@njit(cache=True, nogil=True)
def lowest_place(word):
    """The place of the lowest bit of a word that has one, both without sign."""
    lowest = word & (~word + ONE)
    return np.uint64(PLACES[(lowest * DE_BRUIJN_WORD) >> np.uint64(58)])
