"""Shards of rows, and the shards of one machine."""

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from defragtrees.data.grid import rows_covered


@dataclass(frozen=True, eq=False)
class Shard:
    """Some rows."""

    codes: np.ndarray  # bin numbers, C order
    # class indices or numbers: "answers", the predictions of the model, and
    # "labels", y if given; "probabilities" of the model, (n_samples, n_classes)
    targets: dict[str, np.ndarray]
    weight: np.ndarray | None = None  # all 1 by default
    # the numbers behind the codes, if a method needs them
    X: np.ndarray | None = None
    # how many rows each counts as, if not 1; its weight includes it
    worth: np.ndarray | None = None

    def __len__(self):
        return len(self.codes)

    @property
    def sample_weight(self):
        """The weights, as an array even if all are 1."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def squared_weight(self):
        """What rows add to the sum of squares behind an effective number of rows.

        That number is the square of the sum of weights, divided by this sum.
        """
        weight = self.sample_weight
        return weight**2 if self.worth is None else weight**2 / self.worth

    @property
    def nbytes(self):
        """Bytes of all arrays."""
        arrays = [self.codes, *self.targets.values(), self.weight, self.X, self.worth]
        return sum(array.nbytes for array in arrays if array is not None)

    def take(self, rows):
        """Some of the rows."""
        return _each_array(lambda array: array[rows], self)

    def covered(self, rules, values):
        """Mask (n_samples, n_rules) of the rules that match; the last always does."""
        held = np.ones((len(self), rules.n_rules), dtype=bool, order="F")
        for k, rule in enumerate(rules.rules):
            held[:, k] = rows_covered(rule.conditions, self.X, self.codes, values)
        return held


class LocalShards:
    """Shards in memory, processed by threads.

    `table` is the only shard of a table in memory, which needs no threads, else None.
    """

    def __init__(self, shards, n_jobs=None, is_table=False):
        self.shards = list(shards)
        self.n_jobs = n_jobs
        self.table = self.shards[0] if is_table else None

    def _results(self, function, arguments):
        if self.table is not None:
            return [function(self.table, *arguments)]
        return in_order(
            lambda shard: function(shard, *arguments), self.shards, self.n_jobs
        )

    def total(self, function, *arguments):
        """Sum `function(shard, *arguments)` in the order of the shards."""
        return reduce(add, self._results(function, arguments))

    def map(self, function, *arguments):
        """Make new shards by `function(shard, *arguments)`."""
        made = self._results(function, arguments)
        return LocalShards(made, self.n_jobs, self.table is not None)

    def collect(self, function, *arguments):
        """List the results of `function(shard, *arguments)`."""
        return [*self._results(function, arguments)]


def in_order(function, items, n_jobs=None):
    """Apply `function` to items in threads; yield the results in order.

    At most one item per thread is in memory.
    """
    from joblib import effective_n_jobs  # not needed to predict

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
    """Join small shards, so that few have less than `n_rows` rows."""
    large, small, n_small = [], [], 0
    for shard in shards:
        small.append(shard)
        n_small += len(shard)
        if n_small >= n_rows / 2:
            large.append(small)
            small, n_small = [], 0
    return [
        group[0]
        if len(group) == 1
        else _each_array(lambda *arrays: np.concatenate(arrays), *group)
        for group in (*large, small)
        if group
    ]


def _each_array(function, *shards):
    """Apply `function` to the arrays of some shards, array by array."""

    def made(arrays):
        return None if arrays[0] is None else function(*arrays)

    return Shard(
        made([shard.codes for shard in shards]),
        {
            name: made([shard.targets[name] for shard in shards])
            for name in shards[0].targets
        },
        made([shard.weight for shard in shards]),
        made([shard.X for shard in shards]),
        made([shard.worth for shard in shards]),
    )
