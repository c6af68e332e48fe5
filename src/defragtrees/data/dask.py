"""Rows of Dask: DaskSource reads a collection, DaskShards keeps codes on the workers.

With a `distributed.Client` the workers read each block once and keep the codes. Without
one, blocks are computed one at a time by Dask's current scheduler, and the codes are
kept in this process.
"""

import math
import sys
import time
from functools import reduce
from itertools import chain, pairwise
from operator import add

import numpy as np

from defragtrees._utils.optional import require
from defragtrees._utils.warnings import warn
from defragtrees.data import sources
from defragtrees.data.shards import Shard, joined
from defragtrees.data.sources import Part, Source, TableSource
from defragtrees.tables import check_length

dask = require("dask", "A Dask collection")
da = require("dask.array", "A Dask collection")

CLUSTER = "A Dask cluster"
LEAST_MEMORY = 500_000_000  # bytes per worker, which also compiles loops
MOST_RUNS = 64
LARGE = 2**20  # bytes of arguments that are sent once per worker, not per task
HOLDERS_SECONDS = 1.0  # cache time, as a lookup takes a third of a short task
PIECE = 2**22  # Dask warns of tasks that bring more than 10 MB


class DaskSource(Source):
    """A Dask array or data frame, with labels and weights.

    If y or weights are Dask collections with unknown numbers of rows, they must have
    one block per block of X.
    """

    def __init__(self, X, y=None, sample_weight=None):
        self.X = _check_table(X)
        self.y = _check_column(y, self.X, "y")
        self.sample_weight = _check_column(sample_weight, self.X, "sample_weight")
        self.has_labels = y is not None

    def n_rows(self):
        """Number of rows; if Dask must count, it stops just above MANY_ROWS."""
        lengths = _known_lengths(self.X)
        if lengths is not None:
            return int(sum(lengths))
        waiting, n_rows, step = blocks(_count, self.X), 0, 1
        while waiting and n_rows <= sources.MANY_ROWS:
            n_rows += sum(_computed(*waiting[:step]))
            waiting, step = waiting[step:], 2 * step
        return n_rows

    def first(self):
        """A row with the dtypes of X; a real one only if Dask has no metadata."""
        X = self.X
        kinds = map(str, X._meta.dtypes if _is_frame(X) else [X.dtype])
        if not {"object", "category"}.intersection(kinds):
            return Part(
                X._meta_nonempty if _is_frame(X) else np.zeros((1, X.shape[1]), X.dtype)
            )
        for block in blocks(lambda X, y, weight, given: X[:1], X):
            row = block.compute()
            if len(row):
                break
        return Part(row)

    def select(self, names):
        """Select these columns of a data frame, if it has them all."""
        if not _is_frame(self.X) or not len(names):
            return
        there = list(self.X.columns)
        if set(names) <= set(there) and list(names) != there:
            self.X = self.X[list(names)]

    def load(self):
        """Load the rows as a table in memory."""
        return TableSource(*_computed(self.X, self.y, self.sample_weight))

    def parts(self):
        """Yield the rows block by block, in order."""
        for block in blocks(_checked_part, self.X, *self._columns()):
            yield block.compute()

    def encode(self, encode, n_jobs=None, watch=None):
        """Encode all rows; returns shards and the sum of their digests; see Source.

        On a cluster the shards stay on the workers, which use their own threads.
        """
        client = current_client()
        if client is None:
            return super().encode(encode, n_jobs, watch)
        warn_of_small_workers(client)
        outcomes, kept = self._outcomes(client, encode)
        notes = [dask.delayed(_note)(outcome) for outcome in outcomes]
        n_runs = min(len(outcomes), MOST_RUNS)
        borders = [i * len(outcomes) // n_runs for i in range(n_runs + 1)]
        runs = [
            dask.delayed(_as_run)(outcomes[start:end], sources.PART_ROWS)
            for start, end in pairwise(borders)
        ]
        # One graph, so that a block is released as soon as it is encoded.
        futures = client.compute([*notes, *runs])
        notes, runs, total = futures[: len(notes)], futures[len(notes) :], None
        try:
            for n_rows, digest in _in_order(notes):
                total = digest if total is None else total + digest
                if watch is not None:
                    watch(n_rows)
            shards, runs = DaskShards(client, runs), []
            return shards, total
        finally:
            _release([*notes, *runs, *kept])

    def each(self, function, dtype=None, n_outputs=None):
        """Apply `function(X)` to every block; returns a lazy collection.

        The result is a Dask array for a Dask array; for a data frame a Series, or a
        data frame if `n_outputs` is given, with the same index and divisions.
        """
        X = self.X
        if dtype is None:
            trial = np.asarray(function(self.first().X))
            dtype, n_outputs = trial.dtype, trial.shape[1] if trial.ndim == 2 else None
        if _is_frame(X):
            shape = (0,) if n_outputs is None else (0, n_outputs)
            meta = _indexed(np.empty(shape, dtype), X._meta.index[:0])
            return X.map_partitions(
                lambda part: _indexed(function(part), part.index), meta=meta
            )
        if n_outputs is None:
            shape = {"chunks": (X.chunks[0],), "drop_axis": 1}
        else:
            shape = {"chunks": (X.chunks[0], (n_outputs,))}
        meta = np.empty((0,) if n_outputs is None else (0, 0), dtype)
        return X.map_blocks(function, dtype=dtype, meta=meta, **shape)

    def total(self, function, n_jobs=None):
        """Sum `function(part)` over all blocks, in order."""
        client = current_client()
        if client is None:
            return super().total(function, n_jobs)
        outcomes, kept = self._outcomes(client, function)
        futures = client.compute(outcomes)
        try:
            return reduce(add, _in_order(futures))
        finally:
            _release([*futures, *kept])

    def _outcomes(self, client, function):
        """Lazy results of `function(part)` for each block, and futures to keep.

        The futures hold data that was sent; a graph has only their names, so they must
        be kept until it is computed.
        """
        kept = []

        def hold(value):
            kept.append(_send(client, value))
            return dask.delayed(kept[-1])

        return blocks(_ask_part, self.X, *self._columns(hold), hold(function)), kept

    def _columns(self, hold=None):
        """Labels and weights as collections with the blocks of X."""
        columns = {"y": self.y, "sample_weight": self.sample_weight}
        here = [k for k, v in columns.items() if v is not None and not _is_lazy(v)]
        if here:
            lengths = _known_lengths(self.X) or dask.compute(*blocks(_count, self.X))
        for role in here:
            check_length(sum(lengths), len(columns[role]), role)
            columns[role] = _cut(columns[role], lengths, self.X, hold)
        return columns.values()


class DaskShards:
    """Shards on the workers, with the interface of LocalShards.

    `runs` are futures, each of a list of shards of consecutive blocks.
    """

    table = None

    def __init__(self, client, runs):
        self.client, self.runs = client, runs
        self._found, self._found_at = None, 0.0
        require("distributed", CLUSTER).wait(runs)  # else no worker has them yet

    def total(self, function, *arguments):
        """Sum `function(shard, *arguments)` in the order of runs."""
        return reduce(add, self._ask(_total, function, arguments))

    def map(self, function, *arguments):
        """Make new shards by `function(shard, *arguments)`."""
        return DaskShards(self.client, self._submit(_mapped, function, arguments))

    def collect(self, function, *arguments):
        """List the results of `function(shard, *arguments)`."""
        return [*chain.from_iterable(self._ask(_mapped, function, arguments))]

    def _ask(self, visit, function, arguments):
        """The result of each run, in order."""
        return self.client.gather(self._submit(visit, function, arguments))

    def _holders(self):
        """Addresses of the workers that hold each run, cached for a moment.

        Dask ignores the address of a worker that has died since.
        """
        now = time.monotonic()
        if self._found is None or now - self._found_at > HOLDERS_SECONDS:
            self._found, self._found_at = self.client.who_has(self.runs), now
        return self._found

    def _submit(self, visit, *call):
        """Submit one task per run to the worker that holds it."""
        content, sent, futures = _dumped(call), {}, []
        for run in self.runs:
            address = next(iter(self._holders().get(run.key, ())), None)
            if len(content) > LARGE and address not in sent:
                sent[address] = _send_bytes(self.client, content, address)
            settings = {"pure": False, **_preferring(address)}
            given = sent.get(address, content)
            futures.append(self.client.submit(visit, run, given, **settings))
        return futures


class Failure:
    """An error on a worker, sent back as a value.

    Dask would log a raised error with all arguments of the task.
    """

    def __init__(self, error):
        self.error = error


def current_client():
    """The current client of a cluster, or None.

    Examples
    --------
    >>> current_client() is None
    True
    """
    # If distributed was never imported there is no client.
    distributed = sys.modules.get("distributed")
    try:
        client = None if distributed is None else distributed.default_client()
    except ValueError:
        return None
    if client is not None and client.asynchronous:
        raise TypeError(
            "A synchronous Client is needed; the current one is asynchronous. Create "
            "it with asynchronous=False."
        )
    return client


def warn_of_small_workers(client):
    """Warn if workers have so little memory that Dask may pause them."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    limits = {name: one.get("memory_limit") or 0 for name, one in workers.items()}
    small = {name: limit for name, limit in limits.items() if 0 < limit < LEAST_MEMORY}
    if small:
        name, limit = min(small.items(), key=lambda one: one[1])
        warn(
            f"Dask workers need at least {LEAST_MEMORY / 1e9:g} GB of memory; "
            f"{len(small)} of {len(workers)} have less, such as {name!r} with "
            f"{limit / 1e9:.2g} GB. Dask pauses a worker whose memory is nearly full, "
            "so the fit may never end. Set a larger memory_limit.",
        )


def blocks(function, X, y=None, weight=None, given=None):
    """Lazy results of `function(X, y, weight, given)` for every block.

    If Dask can, it fuses loading a block and `function` into one task, so that at most
    one block per thread is in memory. Labels and weights are collections with as many
    blocks as X, or None; `given` is a Delayed, the same for all blocks.
    """
    if _is_frame(X):
        with _kept_partitions():
            made = X.map_partitions(
                function,
                y,
                weight,
                given,
                meta=X._meta.iloc[:, :0],
                enforce_metadata=False,
                transform_divisions=False,
                clear_divisions=True,
            )
            return made.to_delayed()
    pairs = [(X, "ij")]
    for column in (y, weight):
        # A column vector has its own axis.
        pairs.append((None, None) if column is None else (column, "ik"[: column.ndim]))
    made = da.blockwise(
        function,
        "ij",  # with the column axis, as Dask fuses no tasks that drop an axis
        *(item for pair in pairs for item in pair),
        given=given,
        align_arrays=False,
        concatenate=True,
        adjust_chunks={"j": 1},
        dtype=object,
        meta=np.empty((0, 0), dtype=object),
    )
    return made.to_delayed().ravel().tolist()


def _kept_partitions():
    # Else Dask may merge partitions of X, if few columns are read, and not those of y.
    return dask.config.set({"optimization.tune.active": False})


def _is_frame(values):
    """Whether this is a Dask data frame, or a column of one."""
    return hasattr(values, "divisions")


def _is_lazy(values):
    """Whether this is a Dask array, data frame or column."""
    return isinstance(values, da.Array) or _is_frame(values)


def _known_lengths(X):
    """Number of rows of each block; None if Dask does not know."""
    if _is_frame(X) or any(map(math.isnan, X.chunks[0])):
        return None
    return X.chunks[0]


def _n_blocks(values):
    """Number of blocks of rows."""
    return values.npartitions if _is_frame(values) else values.numblocks[0]


def _check_table(X):
    """Check that X is a table, and rechunk it to whole rows."""
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(
                f"X must have rows and columns; got a Dask array of shape {X.shape}. "
                "Reshape it to one row per sample."
            )
        return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    if _is_frame(X) and X.ndim == 2:
        return X
    raise TypeError(
        "X must be a Dask array or a Dask data frame; got "
        f"{type(X).__module__.split('.')[0]} {type(X).__name__}."
    )


def _check_column(values, X, role):
    """Align labels or weights with the blocks of X; arrays in memory stay whole."""
    if values is None:
        return None
    known = _known_lengths(X)
    if not _is_lazy(values):
        array = np.asarray(values)
        if array.ndim == 0:
            raise ValueError(f"{role} must have one entry per row; got {values!r}.")
        if known is not None:
            check_length(sum(known), len(array), role)
        return array
    with _kept_partitions():
        if _is_frame(X) and not _is_frame(values):
            values = require("dask.dataframe", "A data frame").from_dask_array(values)
        elif _is_frame(values) and not _is_frame(X):
            values = values.to_dask_array()
    if not _is_frame(values):
        values = values.rechunk({1: -1}) if values.ndim == 2 else values
        theirs = _known_lengths(values)
        if known is not None and theirs is not None:
            check_length(sum(known), sum(theirs), role)
            return values.rechunk({0: known})
    if _n_blocks(values) != _n_blocks(X):
        raise ValueError(
            f"X and {role} must have equally many partitions if Dask does not know "
            f"their numbers of rows; got {_n_blocks(X)} and {_n_blocks(values)}. Take "
            "both from one collection, or repartition one of them."
        )
    return values


def beside(events, exposure=None):
    """Events and their exposure as a Dask data frame of two columns."""
    if not all(one is None or _is_frame(one) for one in (events, exposure)):
        raise TypeError(
            "Of a Dask collection, exposure must be a column of X, or the second "
            "column of y; pass a Dask data frame with both as y."
        )
    exposure = 1.0 if exposure is None else exposure
    return events.to_frame(name="events").assign(exposure=exposure)


def _cut(array, lengths, X, hold=None):
    """Cut an array in memory into the blocks of X, as a Dask collection.

    `lengths` are the rows of each block. A graph should not hold more than a few
    megabytes, so on a cluster slices are sent separately: `hold` makes a Delayed of
    each.
    """
    if hold is None:
        lazy = da.from_array(array, chunks=(tuple(lengths), *array.shape[1:]))
    else:
        lazy = da.concatenate(
            [
                da.from_delayed(hold(part), part.shape, part.dtype)
                for part in np.split(array, np.cumsum(lengths)[:-1])
            ]
        )
    if _is_frame(X):
        return require("dask.dataframe", "A data frame").from_dask_array(lazy)
    return lazy


def _send(client, value):
    """A future of a value in memory that survives the loss of a worker.

    It is the result of a task that carries the value, in pieces. Scattered data would
    be lost with its worker.
    """
    content = _dumped(value)
    if len(content) > PIECE:
        content = _send_bytes(client, content)
    return client.submit(_loaded, content, pure=False)


def _send_bytes(client, content, address=None):
    where = _preferring(address)
    pieces = [
        client.submit(b"".join, [content[start : start + PIECE]], pure=False, **where)
        for start in range(0, len(content), PIECE)
    ]
    return client.submit(b"".join, pieces, pure=False, **where)


def _preferring(address):
    """Settings of a task that should run on the worker with its rows, if it exists."""
    if address is None:
        return {}
    return {"workers": [address], "allow_other_workers": True}


def _computed(*values):
    """Lazy values as values in memory, as dask.compute gives them."""
    client = current_client()
    lazy = [one for one in values if dask.is_dask_collection(one)]
    if client is None or not lazy:
        return dask.compute(*values)
    results = iter(client.gather(client.compute(lazy)))
    return tuple(next(results) if dask.is_dask_collection(v) else v for v in values)


def _in_order(futures):
    """Results of futures in order; the error of a Failure is raised at once."""
    places = {future.key: i for i, future in enumerate(futures)}
    waiting, n_given = {}, 0
    done = require("distributed", CLUSTER).as_completed(futures, with_results=True)
    for future, result in done:
        if future.status != "finished":
            future.result()  # raises
        if isinstance(result, Failure):
            raise result.error
        waiting[places[future.key]] = result
        while n_given in waiting:
            yield waiting.pop(n_given)
            n_given += 1


def _release(futures):
    # After an error the cluster can drop the rest.
    for future in futures:
        future.release()


def _dumped(value):
    return require("distributed.protocol.pickle", CLUSTER).dumps(value)


# The functions below run on workers.


def _loaded(content):
    return require("distributed.protocol.pickle", CLUSTER).loads(content)


@require("dask.sizeof", CLUSTER).sizeof.register(Shard)
def _shard_size(shard):
    """Size in bytes, by which Dask decides what to move."""
    return shard.nbytes


def _count(X, y, weight, given):
    return len(X)


def _checked_part(X, y, weight, given=None):
    """The rows of a block; raises if it has more or fewer labels or weights."""
    for role, column in (("y", y), ("sample_weight", weight)):
        if column is not None and len(column) != len(X):
            raise ValueError(
                f"X and {role} must have equally many rows; got {len(X)} and "
                f"{len(column)} in a partition."
            )
    return Part(X, y, weight)


def _ask_part(X, y, weight, given):
    """The result of the callable `given` on a part, or a Failure."""
    try:
        return given(_checked_part(X, y, weight))
    except (TypeError, ValueError) as error:
        return Failure(error)


def _indexed(array, index):
    pandas = require("pandas", "A data frame")
    made = pandas.Series if array.ndim == 1 else pandas.DataFrame
    return made(array, index=index)


def _note(outcome):
    """The length of a shard, and its digest."""
    if isinstance(outcome, Failure):
        return outcome
    shard, digest = outcome
    return len(shard), digest


def _as_run(outcomes, n_rows):
    """Join the shards of some blocks, so that few have less than `n_rows` rows."""
    if any(isinstance(outcome, Failure) for outcome in outcomes):
        return []
    return joined([shard for shard, _ in outcomes], n_rows)


def _total(run, content):
    return reduce(add, _mapped(run, content))


def _mapped(run, content):
    function, arguments = _loaded(content)
    return [function(shard, *arguments) for shard in run]
