"""Engines: all that holds an array with a row per sample.

An engine is a class with the three verbs of `Engine`. The loop of the mixture talks to
it in small arrays only, so rows may live in memory, in blocks or elsewhere.
"""

from importlib import import_module
from typing import Protocol

import numpy as np

from defragtrees.mixture.params import Params, Statistics

__all__ = ["ENGINES", "Engine", "make_engine"]

ENGINES = {"numpy": "defragtrees.mixture.engines.on_numpy"}


class Engine(Protocol):
    """What the loop asks of whoever keeps the rows."""

    def score(self, params: Params) -> None:
        """Compute log p(row, component) for every row; it stays in the engine."""

    def assign(self, penalty: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Responsibilities under a penalty per column; component weights, evidence."""

    def gather(self) -> Statistics:
        """Statistics of the responsibilities that `assign` made last."""


def make_engine(name, *arguments):
    """The engine of this name, holding the given rows."""
    if name not in ENGINES:
        raise ValueError(f"engine must be one of {tuple(ENGINES)}; got {name!r}.")
    return import_module(ENGINES[name]).make(*arguments)
