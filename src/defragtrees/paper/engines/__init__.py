"""Engines: all that holds an array with a row per sample.

The loop of the mixture talks to an engine in small arrays only, so rows may live in
memory, in shards or elsewhere. All that an engine is stands here:

- a module, named by one line of `ENGINES`, with two functions: `check(ask_workers)`,
  which raises where the engine cannot be used, and `make(layout, store)`, which gives
  an `Engine`;
- an `Engine`: what the loop asks of whoever keeps the rows.

A module whose `make` gives a `ShardEngine` writes one function only, the expectation
step of a shard; see `on_shards`. The forest walks many rows by compiled code too
(`defragtrees.ensembles.forest`) unless the engine is "numpy"; that is no part of an
engine, and its answers are the same.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Protocol

import numpy as np

from defragtrees.paper.params import Params, Statistics

__all__ = ["ENGINES", "Engine", "check_engine", "make_engine"]

ENGINES = {
    "numpy": "defragtrees.paper.engines.on_numpy",
    "numba": "defragtrees.paper.engines.on_numba",
    "cuda": "defragtrees.paper.engines.on_torch",
}


class Engine(Protocol):
    """What the loop asks of whoever keeps the rows.

    Parameters of all restarts stand side by side, in columns ordered by restart, then
    by component. An engine may have a fourth verb, `workspace(levels, n_columns)`: it
    gives what the M-step works in, a `Workspace` by default.

    Attributes
    ----------
    total : float
        Weight of all rows.
    takes_all_restarts : bool
        Whether all restarts share each pass over the rows; else they come in groups
        that fit in memory, each with an engine of its own that `share` gives.
    """

    total: float
    takes_all_restarts: bool

    def share(self) -> "Engine":
        """Another engine on the same rows, for a thread of its own."""

    def score(self, params: Params) -> None:
        """Compute log p(row, component) for every row; it stays in the engine."""

    def assign(self, penalty: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Responsibilities under a penalty per column; component weights, evidence.

        `penalty` and the weights have the shape (n_restarts, n_components), the
        evidence has (n_restarts,). A penalty is infinite where a component is gone.
        """

    def gather(self) -> Statistics:
        """Statistics of the responsibilities that `assign` made last."""


def make_engine(name, layout, store):
    """The engine of this name, holding the given rows.

    Parameters
    ----------
    name : str
        A key of ENGINES; or "auto": numba for many rows if it is installed, else numpy.
        Few rows are done before numba is imported.
    layout : Layout
    store : RowStore
    """
    if name == "auto":
        is_faster = store.table is None and find_spec("numba") is not None
        name = "numba" if is_faster else "numpy"
    return _module(name).make(layout, store)


def check_engine(name, ask_workers=None):
    """Refuse an engine that is none, or cannot be used; "auto" always can.

    Parameters
    ----------
    name : str
    ask_workers : callable, optional
        If the workers of a cluster keep the rows: has a function run by all of them.
    """
    if name != "auto":
        _module(name).check(ask_workers)


def _module(name):
    if name not in ENGINES:
        raise ValueError(f"engine must be one of {tuple(ENGINES)}; got {name!r}.")
    return import_module(ENGINES[name])
