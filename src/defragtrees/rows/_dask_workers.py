"""The workers of a Dask cluster: what they can do, and what goes wrong there."""

import asyncio
import os
import platform
import warnings

from defragtrees._optional import require
from defragtrees.errors import MissingPackageError

pickle = require("distributed.protocol.pickle", "A Dask cluster")

__all__ = [
    "Failure",
    "ask_workers",
    "error_at",
    "warn_of_small_workers",
    "worker_places",
]

LEAST_MEMORY = 500_000_000  # bytes of a worker, which also compiles loops


class Failure:
    """An error in the user's rows, or of a worker's machine, sent back as a value.

    Dask would write a raised one to the worker's log, with all arguments of the task.
    """

    def __init__(self, error):
        self.error = error


def ask_workers(client, function, *arguments):
    """What `function(*arguments)` says on each worker, by address.

    An ImportError or RuntimeError there is raised here, and says where it was. A worker
    that is lost meanwhile has no say.

    Parameters
    ----------
    client : distributed.Client
    function : callable
    *arguments : object
    """
    content = pickle.dumps((function, arguments))
    answers = {}
    for address, answer in client.run(_answer, content, on_error="return").items():
        if isinstance(answer, Exception) and not isinstance(answer, OSError):
            raise answer
        if not isinstance(answer, OSError):
            answers[address] = answer
    failed = {name: own for name, own in answers.items() if isinstance(own, Failure)}
    if failed:
        where = f"{len(failed)} of {len(answers)} Dask workers, such as {min(failed)}"
        raise error_at(where, failed[min(failed)].error)
    return answers


async def _answer(content):
    """Not by the thread that must answer the scheduler, since imports take time."""
    return await asyncio.to_thread(_answer_now, content)


def _answer_now(content):
    try:
        function, arguments = pickle.loads(content)
        return function(*arguments)
    except (ImportError, RuntimeError) as error:
        return Failure(_readable(error))


def error_at(where, error):
    """The error, which says where it was."""
    own = _readable(error)
    return type(own)(f"On {where}: {own}")


def _readable(error):
    """The error as one of those that any process can read."""
    kind = ImportError if isinstance(error, ImportError) else RuntimeError
    kind = MissingPackageError if isinstance(error, MissingPackageError) else kind
    return kind(str(error))


def worker_places(client):
    """The number of each worker among those of its machine with the same devices.

    dask-cuda puts another device first for each worker, and these are number 0 then.

    Parameters
    ----------
    client : distributed.Client

    Returns
    -------
    dict from str to int
    """
    taken, places = {}, {}
    for address, view in sorted(ask_workers(client, _view_of_devices).items()):
        places[address] = taken.get(view, 0)
        taken[view] = places[address] + 1
    return places


def _view_of_devices():
    """The machine, and which of its devices this process may see."""
    return platform.node(), os.environ.get("CUDA_VISIBLE_DEVICES")


def warn_of_small_workers(client):
    """Warn if workers have so little memory that Dask may pause them for good.

    Parameters
    ----------
    client : distributed.Client
    """
    workers = client.scheduler_info(n_workers=-1)["workers"]
    limits = {name: own.get("memory_limit") or 0 for name, own in workers.items()}
    small = {name: limit for name, limit in limits.items() if 0 < limit < LEAST_MEMORY}
    if small:
        name, limit = min(small.items(), key=lambda own: own[1])
        warnings.warn(
            f"Dask workers need {LEAST_MEMORY / 1e9:g} GB of memory or more; "
            f"{len(small)} of {len(workers)} have less, such as {name!r} with "
            f"{limit / 1e9:.2g} GB. Dask pauses a worker whose memory is nearly full, "
            "and this fit may wait without end: give workers a larger memory_limit.",
            UserWarning,
            stacklevel=2,
        )
