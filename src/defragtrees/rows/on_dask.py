"""DaskSource: rows of a Dask array or data frame.

With a `distributed.Client` its workers read the rows, each block once, and keep the
codes. Without one, blocks are computed one after the other by whatever scheduler Dask
is set to, and the codes are kept here.
"""

import sys
from functools import partial, reduce
from importlib import import_module
from itertools import pairwise
from operator import add

import numpy as np

from defragtrees._optional import require
from defragtrees.rows import sources
from defragtrees.rows._dask_tables import (
    applied,
    blocks,
    check_column,
    check_equal,
    check_table,
    checked_part,
    cut,
    is_frame,
    is_lazy,
    known_lengths,
    one_row,
)
from defragtrees.rows.sources import Part, Source, TableSource

dask = require("dask", "A Dask collection")

__all__ = ["DaskSource"]


class DaskSource(Source):
    """A Dask array or data frame, with labels and weights.

    Parameters
    ----------
    X : Dask array or data frame of shape (n_samples, n_features)
    y, sample_weight : Dask array or data frame column, or array, optional
        Dask collections of which the numbers of rows are not known must have a block
        for each block of X.
    """

    def __init__(self, X, y=None, sample_weight=None):
        self.X = check_table(X)
        self.y = check_column(y, self.X, "y")
        self.sample_weight = check_column(sample_weight, self.X, "sample_weight")
        self.has_labels = y is not None

    def n_rows(self):
        """Number of rows; where Dask has to count, just beyond MANY_ROWS at most."""
        lengths = known_lengths(self.X)
        if lengths is not None:
            return int(sum(lengths))
        waiting, n_rows, step = blocks(_count, self.X), 0, 1
        while waiting and n_rows <= sources.MANY_ROWS:
            n_rows += sum(dask.compute(*waiting[:step]))
            waiting, step = waiting[step:], 2 * step
        return n_rows

    def first(self):
        """A row with the types of X, made up unless only real rows tell them."""
        row = one_row(self.X)
        for block in blocks(_top, self.X) if row is None else ():
            row = block.compute()
            if len(row):
                break
        return Part(row)

    def select(self, names):
        """Take only these columns of a data frame that has them all."""
        if not is_frame(self.X) or not len(names):
            return
        there = list(self.X.columns)
        if set(names) <= set(there) and list(names) != there:
            self.X = self.X[list(names)]

    def workers(self):
        """Who asks the workers of the cluster, if there is one; see Source."""
        client = current_client()
        return None if client is None else partial(_workers_room().ask_workers, client)

    def load(self):
        """The same rows as a table in memory."""
        return TableSource(*dask.compute(self.X, self.y, self.sample_weight))

    def parts(self):
        """The rows, in order, block by block."""
        for block in blocks(_as_part, self.X, *self._columns()):
            yield block.compute()

    def encode(self, encode, n_jobs=None, watch=None):
        """Shards of all rows, and the sum of their digests; see Source.

        On a cluster the shards stay on the workers, and threads are the workers' own.
        """
        client = current_client()
        if client is None:
            return super().encode(encode, n_jobs, watch)
        room = _cluster_room()
        _workers_room().warn_of_small_workers(client)
        outcomes, kept = self._outcomes(client, encode)
        notes = [dask.delayed(room.note)(outcome) for outcome in outcomes]
        borders = room.run_borders(len(outcomes))
        runs = [
            dask.delayed(room.as_run)(outcomes[start:end], sources.PART_ROWS)
            for start, end in pairwise(borders)
        ]
        # One graph: so a block is noted as soon as it is there, and forgotten then.
        futures = client.compute([*notes, *runs])
        try:
            digests = _watched(room.in_order(futures[: len(notes)]), watch)
            digest = reduce(add, digests)
            return room.DaskShards.of_runs(client, futures[len(notes) :]), digest
        finally:
            _release([*futures, *kept])

    def each(self, function, dtype=None, n_outputs=None):
        """`function(X)` of every block, lazily; see `applied` for what comes out."""
        if dtype is None:
            trial = np.asarray(function(self.first().X))
            dtype, n_outputs = trial.dtype, trial.shape[1] if trial.ndim == 2 else None
        return applied(function, self.X, dtype, n_outputs)

    def total(self, function, n_jobs=None):
        """The sum of `function(part)` over all blocks, in their order."""
        client = current_client()
        if client is None:
            return super().total(function, n_jobs)
        room = _cluster_room()
        outcomes, kept = self._outcomes(client, function)
        futures = client.compute(outcomes)
        try:
            return reduce(add, room.in_order(futures))
        finally:
            _release([*futures, *kept])

    def _outcomes(self, client, function):
        """What a cluster will say of `function(part)`, block by block.

        Also futures of what was sent for it: a graph has only their names, so they
        must be kept until it is computed.
        """
        room, kept = _cluster_room(), []

        def hold(value):
            kept.append(room.send(client, value))
            return dask.delayed(kept[-1])

        columns = self._columns(hold)
        return blocks(room.ask_part, self.X, *columns, hold(function)), kept

    def _columns(self, hold=None):
        """Labels and weights as collections with the blocks of X."""
        columns = {"y": self.y, "sample_weight": self.sample_weight}
        here = [k for k, own in columns.items() if own is not None and not is_lazy(own)]
        if here:
            lengths = known_lengths(self.X) or dask.compute(*blocks(_count, self.X))
        for role in here:
            check_equal(sum(lengths), len(columns[role]), role)
            columns[role] = cut(columns[role], lengths, self.X, hold)
        return columns.values()


def current_client():
    """The client of the cluster in use; None if there is none.

    Examples
    --------
    >>> current_client() is None
    True
    """
    # Where it was never imported there is no client, and it need not be installed.
    distributed = sys.modules.get("distributed")
    try:
        client = None if distributed is None else distributed.default_client()
    except ValueError:
        return None
    if client is not None and client.asynchronous:
        raise TypeError(
            "A Client that waits for its results is needed; the current one is "
            "asynchronous. Make it with asynchronous=False."
        )
    return client


def _workers_room():
    return import_module("defragtrees.rows._dask_workers")


def _cluster_room():
    return import_module("defragtrees.rows._dask_shards")


def _watched(notes, watch):
    for n_rows, digest in notes:
        if watch is not None:
            watch(n_rows)
        yield digest


def _release(futures):
    # After an error the cluster need not go on with the rest.
    for future in futures:
        future.release()


def _count(X, y, weight, given):
    return len(X)


def _top(X, y, weight, given):
    return X[:1]


def _as_part(X, y, weight, given):
    return checked_part(X, y, weight)
