"""Shard, and the shards of one machine."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from joblib import effective_n_jobs

__all__ = ["LocalShards", "Shard", "joined"]


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
        with ThreadPoolExecutor(effective_n_jobs(self.n_jobs)) as pool:
            for part in pool.map(lambda own: function(own, *arguments), self.shards):
                found = part if found is None else found + part
        return found

    def map(self, function, *arguments):
        """New shards, each `function(shard, *arguments)`."""
        with ThreadPoolExecutor(effective_n_jobs(self.n_jobs)) as pool:
            made = pool.map(lambda own: function(own, *arguments), self.shards)
            return LocalShards(made, self.n_jobs)

    def collect(self, function, *arguments):
        """The list of `function(shard, *arguments)`, one for each shard.

        Each of `arguments` is a list with an entry for each shard.
        """
        return [function(*own) for own in zip(self.shards, *arguments, strict=True)]


def joined(shards, n_rows):
    """The same rows in shards that are not much smaller than `n_rows`."""
    found, small = [], []
    for shard in shards:
        small.append(shard)
        if sum(map(len, small)) >= n_rows / 2:
            found.append(_join(small))
            small = []
    return [*found, _join(small)] if small else found


def _join(shards):
    if len(shards) == 1:
        return shards[0]
    columns = (
        [getattr(shard, name) for shard in shards]
        for name in Shard.__dataclass_fields__
    )
    return Shard(*(None if own[0] is None else np.concatenate(own) for own in columns))
