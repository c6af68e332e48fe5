"""DaskShards: shards that stay on the workers of a Dask cluster.

What is kept there are bundles, as many on a worker as it has threads. A bundle is a
list of runs, a run a list of shards. A visit is one task for each bundle: no worker has
more tasks than threads, so Dask has no cause to move one, and its rows, elsewhere.

Results must not depend on which worker holds what. So a bundle answers with one sum
for each of its runs, and these are added in the order of rows. There are at most
MOST_RUNS runs, cut by position: up to that many blocks a run is one shard, and sums are
those of LocalShards bit by bit; beyond, a run has several shards, which are added up
where they are, and not every shard has to send its own sum in each visit.

Everything on the workers has a task that made it. If a worker is lost, Dask runs the
tasks of what it held again elsewhere; nothing here knows about it.
"""

import time
from functools import reduce
from operator import add
from zlib import crc32

import numpy as np

from defragtrees._optional import require
from defragtrees.rows._dask_tables import checked_part
from defragtrees.rows._dask_workers import Failure, error_at, worker_places
from defragtrees.rows.shards import Shard, joined

distributed = require("distributed", "A Dask cluster")
pickle = require("distributed.protocol.pickle", "A Dask cluster")
sizeof = require("dask.sizeof", "A Dask cluster").sizeof

__all__ = [
    "DaskShards",
    "as_run",
    "ask_part",
    "in_order",
    "note",
    "run_borders",
    "send",
]

MOST_RUNS = 64
LARGE = 2**20  # bytes of arguments that are sent once for each worker, not each task
HOLDERS_SECONDS = 1.0  # asking who has what takes a third of a short visit
PIECE = 2**22  # Dask warns of tasks that bring more than 10 MB


@sizeof.register(Shard)
def shard_size(shard):
    """Bytes, by which Dask decides what is cheap to move."""
    return shard.nbytes


def run_borders(n_blocks):
    """Where runs of consecutive blocks begin and end."""
    n_runs = min(n_blocks, MOST_RUNS)
    return [i * n_blocks // n_runs for i in range(n_runs + 1)]


class DaskShards:
    """Shards on the workers, with the interface of LocalShards.

    Parameters
    ----------
    client : distributed.Client
    bundles : list of Future
        Each a list of runs.
    positions : list of list of int
        Which runs these are.
    """

    is_here = False

    def __init__(self, client, bundles, positions):
        self.client = client
        self.bundles = bundles
        self.positions = positions
        self._found, self._found_at = None, 0.0
        self._places = None
        distributed.wait(bundles)  # else nobody has them yet
        self.run_lengths = self._ask(_run_lengths, [b""] * len(bundles))

    @classmethod
    def of_runs(cls, client, runs):
        """The shards of these futures of runs, bundled where they are."""
        distributed.wait(runs)
        return cls.of_groups(client, runs, _groups(client, runs))

    @classmethod
    def of_groups(cls, client, runs, groups):
        """The shards of these futures of runs, bundled as asked.

        Parameters
        ----------
        client : distributed.Client
        runs : list of Future
        groups : list of (list of int, str or None)
            Positions of the runs in a bundle, and its worker.
        """
        bundles = [
            client.submit(
                _bundle, [runs[i] for i in own], pure=False, **_preferring(address)
            )
            for own, address in groups
        ]
        return cls(client, bundles, [own for own, _ in groups])

    @property
    def lengths(self):
        """Number of rows of each shard."""
        return [n_rows for run in self.run_lengths for n_rows in run]

    def total(self, function, *arguments):
        """The sum of `function(shard, *arguments)`, always in the order of runs."""
        content = pickle.dumps((function, arguments))
        return reduce(add, self._ask(_totals, [content] * len(self.bundles)))

    def total_of_groups(self, function, *arguments, in_any_order=False):
        """The sum of `function(shards, place, *arguments)` of groups of shards.

        The groups are the runs, added in their order. Sums that come out the same in
        any order may be made of larger groups, of the shards that a thread has.

        Parameters
        ----------
        function : callable
            Is given a list of Shard, and the number of the worker among those of its
            machine that see the same devices.
        *arguments : object
        in_any_order : bool, default=False
            Whether sums are the same in any order.
        """
        if self._places is None:
            self._places = worker_places(self.client)
        content = pickle.dumps((function, arguments, self._places))
        contents = [content] * len(self.bundles)
        ask, visit = self._ask, _by_group
        if in_any_order:
            ask, visit = self._gathered, _total_of_bundle
        return reduce(add, ask(visit, contents))

    def map(self, function, *arguments):
        """New shards, each `function(shard, *arguments)`."""
        content = pickle.dumps((function, arguments))
        made = self._submit(_mapped, [content] * len(self.bundles))
        return DaskShards(self.client, made, self.positions)

    def collect(self, function, *arguments):
        """The list of `function(shard, *arguments)`, one for each shard.

        Each of `arguments` is a list with an entry for each shard.
        """
        entries = [own[1:] for own in zip(self.lengths, *arguments, strict=True)]
        ends = np.cumsum([0, *map(len, self.run_lengths)])
        contents = [
            pickle.dumps((function, [entries[ends[i] : ends[i + 1]] for i in own]))
            for own in self.positions
        ]
        return [item for run in self._ask(_collected, contents) for item in run]

    def _ask(self, visit, contents):
        """What each run answers, in the order of runs."""
        answers = self._gathered(visit, contents)
        by_run = {
            i: answer
            for own, of_runs in zip(self.positions, answers, strict=True)
            for i, answer in zip(own, of_runs, strict=True)
        }
        return [by_run[i] for i in sorted(by_run)]

    def _gathered(self, visit, contents):
        """What each bundle answers; the error in a Failure is raised."""
        answers = self.client.gather(self._submit(visit, contents))
        for answer in answers:
            if isinstance(answer, Failure):
                raise answer.error
        return answers

    def _holders(self):
        """Addresses of the workers that have each bundle, of a moment ago at most.

        If one has died since, its name is ignored.
        """
        now = time.monotonic()
        if self._found is None or now - self._found_at > HOLDERS_SECONDS:
            self._found, self._found_at = self.client.who_has(self.bundles), now
        return self._found

    def _submit(self, visit, contents):
        """A task for each bundle, where it is; `contents` are their arguments."""
        sent, futures = {}, []
        for bundle, content in zip(self.bundles, contents, strict=True):
            address = next(iter(self._holders().get(bundle.key, ())), None)
            if len(content) > LARGE:
                place = (address, content)
                if place not in sent:
                    sent[place] = _send_bytes(self.client, content, address)
                content = sent[place]
            settings = {"pure": False, **_preferring(address)}
            futures.append(self.client.submit(visit, bundle, content, **settings))
        return futures


def _preferring(address):
    """Settings of a task that should run where its rows are, if there is that place."""
    if address is None:
        return {}
    return {"workers": [address], "allow_other_workers": True}


def _groups(client, runs):
    """Positions of runs by worker, in as many groups as it has threads."""
    holders, n_threads = client.who_has(runs), client.nthreads()
    held = {}
    for i, run in enumerate(runs):
        address = next(iter(holders.get(run.key, ())), None)
        held.setdefault(address, []).append(i)
    return [
        (own[start :: n_threads.get(address, 1)], address)
        for address, own in held.items()
        for start in range(min(len(own), n_threads.get(address, 1)))
    ]


def send(client, value):
    """A future of a value in memory, which outlives any worker.

    It is the result of a task that brings the value along, in pieces. Data that was
    scattered would be lost with the worker that has it.
    """
    content = pickle.dumps(value)
    if len(content) > PIECE:
        content = _send_bytes(client, content)
    return client.submit(_loaded, content, pure=False)


def _send_bytes(client, content, address=None):
    where = _preferring(address)
    pieces = [
        client.submit(_joined, [content[start : start + PIECE]], pure=False, **where)
        for start in range(0, len(content), PIECE)
    ]
    return client.submit(_joined, pieces, pure=False, **where)


def _joined(pieces):
    return b"".join(pieces)


def _loaded(content):
    return pickle.loads(content)


def ask_part(X, y, weight, given):
    """What the callable `given` says of a part, or a Failure; runs on a worker."""
    try:
        return given(checked_part(X, y, weight))
    except (TypeError, ValueError) as error:
        return Failure(error)


def in_order(futures):
    """The results of futures in their order, the error in a Failure raised at once."""
    places = {future.key: i for i, future in enumerate(futures)}
    waiting, n_given = {}, 0
    for future, result in distributed.as_completed(futures, with_results=True):
        if future.status != "finished":
            future.result()  # raises what became of it
        if isinstance(result, Failure):
            raise result.error
        waiting[places[future.key]] = result
        while n_given in waiting:
            yield waiting.pop(n_given)
            n_given += 1


def note(outcome):
    """Of a shard and its digest all but the shard: its length and the digest."""
    if isinstance(outcome, Failure):
        return outcome
    shard, digest = outcome
    return len(shard), digest


def as_run(outcomes, n_rows):
    """The shards of some blocks, none much smaller than `n_rows` if there are more."""
    if any(isinstance(outcome, Failure) for outcome in outcomes):
        return []
    return joined([shard for shard, _ in outcomes], n_rows)


def _bundle(runs):
    return list(runs)


def _run_lengths(runs, content):
    return [[len(shard) for shard in run] for run in runs]


def _totals(runs, content):
    function, arguments = _loaded(content)
    return [reduce(add, (function(shard, *arguments) for shard in run)) for run in runs]


def _total_of_bundle(runs, content):
    found = _by_group([[shard for run in runs for shard in run]], content)
    return found if isinstance(found, Failure) else found[0]


def _by_group(groups, content):
    """What the function says of each group of shards; or a Failure."""
    function, arguments, places = _loaded(content)
    address = distributed.get_worker().address
    # A worker that came later has no number yet; any will do.
    place = places.get(address, crc32(address.encode()))
    try:
        return [function(group, place, *arguments) for group in groups]
    except (ImportError, RuntimeError) as error:
        return Failure(error_at(f"the Dask worker {address}", error))


def _mapped(runs, content):
    function, arguments = _loaded(content)
    return [[function(shard, *arguments) for shard in run] for run in runs]


def _collected(runs, content):
    function, entries = _loaded(content)
    return [
        [function(shard, *own) for shard, own in zip(run, entry, strict=True)]
        for run, entry in zip(runs, entries, strict=True)
    ]
