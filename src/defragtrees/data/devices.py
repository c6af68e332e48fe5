"""Engines that compute on rows, and a cache of data on PyTorch devices."""

from contextlib import nullcontext
from threading import Lock
from weakref import WeakKeyDictionary, ref

from defragtrees._utils.optional import require

ENGINES = ("numpy", "numba", "cuda")
DEVICE = "cuda"  # the torch device of engine="cuda"


def check_engine(name, ask_workers=None):
    """Raise if an engine cannot be used; "auto" always can.

    `ask_workers` runs a function on all workers of a cluster, if these hold the rows.
    """
    if name not in ("auto", *ENGINES):
        raise ValueError(f"engine must be one of {ENGINES}; got {name!r}.")
    if name == "numba":
        check_numba()
        if ask_workers is not None:
            ask_workers(check_numba)
    elif name == "cuda" and ask_workers is None:
        check_device(DEVICE)
    elif name == "cuda":
        ask_workers(check_device, DEVICE)


def check_numba():
    """Raise if numba is not installed."""
    require("numba", 'engine="numba"')


def check_device(device):
    """Raise if PyTorch is not installed or has no such device."""
    torch = require("torch", 'engine="cuda"')
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise RuntimeError(
            f'engine="cuda" needs a CUDA device; torch {torch.__version__} found none. '
            'Use engine="numpy" or "numba".'
        )


def device_at(device, place):
    """The torch.device of a process; processes on one machine share its devices.

    `place` is the index of the process on its machine.
    """
    check_device(device)
    torch = require("torch", 'engine="cuda"')
    if device != "cuda":
        return torch.device(device)
    return torch.device("cuda", place % torch.cuda.device_count())


class KeptWithItems:
    """A cache of results computed from items, kept as long as the items live.

    For one thread at a time: a device does one thing after the other anyway. `n_made`
    counts the results.
    """

    def __init__(self):
        self.kept = WeakKeyDictionary()
        self.n_made = 0
        self.lock = Lock()

    def use(self, items, key, device, make, function):
        """Return `function(made)`, with `made = make(device)` cached for these items.

        There must be at least one item; either all items are cached or all are new.
        `key` has whatever else the result depends on.
        """
        is_cuda = device.type == "cuda"
        torch = require("torch", 'engine="cuda"') if is_cuda else None
        with self.lock, torch.cuda.device(device) if is_cuda else nullcontext():
            label, others, made = self.kept.get(items[0], (None, [], None))
            is_same = [own() for own in others] == items[1:]
            if made is None or label != key or not is_same:
                self.kept.pop(items[0], None)
                made = None  # frees the old one first
                made = make(device)
                self.n_made += 1
                self.kept[items[0]] = key, list(map(ref, items[1:])), made
            return function(made)
