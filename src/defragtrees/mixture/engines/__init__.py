"""Engines: all that holds an array with a row per sample.

An engine is a class with the three verbs of `Engine`. The loop of the mixture talks to
it in small arrays only, so rows may live in memory, in blocks or elsewhere.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Protocol

import numpy as np

from defragtrees.mixture.params import Params, Statistics

__all__ = ["ENGINES", "Engine", "check_engine", "make_engine"]

ENGINES = {
    "numpy": "defragtrees.mixture.engines.on_numpy",
    "numba": "defragtrees.mixture.engines.on_numba",
    "cuda": "defragtrees.mixture.engines.on_torch",
}


class Engine(Protocol):
    """What the loop asks of whoever keeps the rows."""

    def score(self, params: Params) -> None:
        """Compute log p(row, component) for every row; it stays in the engine."""

    def assign(self, penalty: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Responsibilities under a penalty per column; component weights, evidence."""

    def gather(self) -> Statistics:
        """Statistics of the responsibilities that `assign` made last."""


def make_engine(name, layout, rows):
    """The engine of this name, holding the given rows.

    Parameters
    ----------
    name : str
        A key of ENGINES; or "auto": numba for shards if it is installed, else numpy.
    layout : Layout
    rows : Rows or ShardRows
    """
    if name == "auto":
        is_faster = hasattr(rows, "shards") and find_spec("numba") is not None
        name = "numba" if is_faster else "numpy"
    module = check_engine(name)
    if hasattr(rows, "shards"):
        return module.make_for_shards(layout, rows)
    return module.make(layout, rows)


def check_engine(name):
    """The module of an engine, if it can be used here; None for "auto"."""
    if name == "auto":
        return None
    if name not in ENGINES:
        raise ValueError(f"engine must be one of {tuple(ENGINES)}; got {name!r}.")
    module = import_module(ENGINES[name])
    module.check()
    return module
