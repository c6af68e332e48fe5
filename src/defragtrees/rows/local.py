"""Shard, and the shards of one machine."""

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from functools import partial

import numpy as np
from joblib import effective_n_jobs

__all__ = ["LocalShards", "Shard", "in_order", "joined"]


@dataclass(frozen=True, eq=False)
class Shard:
    """Some rows.

    Parameters
    ----------
    codes : unsigned int array of shape (n_samples, n_features), C order
        Bin numbers.
    answers : array of shape (n_samples,)
        What the ensemble says: class numbers, or numbers.
    labels : array of shape (n_samples,), optional
        The same of y.
    weight : float64 array of shape (n_samples,), optional
        All 1 by default.
    """

    codes: np.ndarray
    answers: np.ndarray
    labels: np.ndarray | None = None
    weight: np.ndarray | None = None

    def __len__(self):
        return len(self.codes)


_NAMES = [field.name for field in fields(Shard)]


class LocalShards:
    """Shards in memory, visited by threads.

    Parameters
    ----------
    shards : list of Shard
    n_jobs : int or None
        Threads.
    """

    def __init__(self, shards, n_jobs=None):
        self.shards = list(shards)
        self.n_jobs = n_jobs

    @property
    def lengths(self):
        """Number of rows of each shard."""
        return [len(shard) for shard in self.shards]

    def total(self, function, *arguments):
        """The sum of `function(shard, *arguments)`, always in the order of shards."""
        found = None
        visit = partial(_visited, function, arguments)
        for part in in_order(visit, self.shards, self.n_jobs):
            found = part if found is None else found + part
        return found

    def map(self, function, *arguments):
        """New shards, each `function(shard, *arguments)`."""
        visit = partial(_visited, function, arguments)
        return LocalShards(in_order(visit, self.shards, self.n_jobs), self.n_jobs)

    def collect(self, function, *arguments):
        """The list of `function(shard, *arguments)`, one for each shard.

        Each of `arguments` is a list with an entry for each shard.
        """
        return [function(*own) for own in zip(self.shards, *arguments, strict=True)]


def _visited(function, arguments, shard):
    return function(shard, *arguments)


def in_order(function, items, n_jobs=None):
    """`function` of every item, by threads, in the order of the items.

    No more items are taken, and no more results wait, than there are threads.
    """
    n_threads = effective_n_jobs(n_jobs)
    waiting = deque()
    with ThreadPoolExecutor(n_threads) as pool:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def joined(shards, n_rows):
    """The same rows in shards that are not much smaller than `n_rows`."""
    found, small, n_small = [], [], 0
    for shard in shards:
        small.append(shard)
        n_small += len(shard)
        if n_small >= n_rows / 2:
            found.append(_join(small))
            small, n_small = [], 0
    return [*found, _join(small)] if small else found


def _join(shards):
    if len(shards) == 1:
        return shards[0]
    columns = ([getattr(shard, name) for shard in shards] for name in _NAMES)
    return Shard(*(None if own[0] is None else np.concatenate(own) for own in columns))
