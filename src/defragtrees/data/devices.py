"""Engines that compute on rows, and devices of PyTorch with what is kept there."""

from contextlib import nullcontext
from threading import Lock
from weakref import WeakKeyDictionary, ref

from defragtrees._utils.optional import require

ENGINES = ("numpy", "numba", "cuda")
DEVICE = "cuda"  # what engine="cuda" stands for


def check_engine(name, ask_workers=None):
    """Raise where an engine cannot be used; "auto" always can.

    `ask_workers` runs a function on all workers, where those of a cluster keep the
    rows.
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
    """Raise where numba is not installed."""
    require("numba", 'engine="numba"')


def check_device(device):
    """Raise where there is no PyTorch, or where it has no such device."""
    torch = require("torch", 'engine="cuda"')
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise RuntimeError(
            f'engine="cuda" needs a CUDA device; torch {torch.__version__} found none. '
            'Use engine="numpy" or "numba".'
        )


def device_at(device, place):
    """The torch.device of a process; those that see the same devices take turns.

    `place` is the number of the process among them.
    """
    check_device(device)
    torch = require("torch", 'engine="cuda"')
    if device != "cuda":
        return torch.device(device)
    return torch.device("cuda", place % torch.cuda.device_count())


class KeptWithItems:
    """Results made of some items, kept for as long as these live.

    It is used by one thread at a time: a device does one thing after the other anyway.
    `n_made` counts the results.
    """

    def __init__(self):
        self.kept = WeakKeyDictionary()
        self.n_made = 0
        self.lock = Lock()

    def use(self, items, key, device, make, function):
        """`function(made)`, where `make(device)` was called when these items were new.

        There is at least one item, and either the same objects come again or all are
        new. `key` has whatever else the result depends on.
        """
        is_cuda = device.type == "cuda"
        torch = require("torch", 'engine="cuda"') if is_cuda else None
        with self.lock, torch.cuda.device(device) if is_cuda else nullcontext():
            label, others, made = self.kept.get(items[0], (None, [], None))
            is_same = [own() for own in others] == items[1:]
            if made is None or label != key or not is_same:
                self.kept.pop(items[0], None)
                made = None  # or there would be two of them for a moment
                made = make(device)
                self.n_made += 1
                self.kept[items[0]] = key, list(map(ref, items[1:])), made
            return function(made)
