"""The engine on GPUs: PyTorch, with Triton for the passes over all rows.

One GPU of this machine holds all rows, or each worker of a cluster holds its own on
one of its GPUs; see `torch_rows`. Beyond `EXACT_ROWS` rows scores and responsibilities
are float32.
"""

from itertools import count

import numpy as np

from defragtrees.data import devices
from defragtrees.paper.engines.on_shards import ShardEngine
from defragtrees.paper.engines.plan import Planner
from defragtrees.paper.engines.torch_rows import TorchRows

__all__ = ["DeviceEngine", "TorchEngine", "check", "make"]

EXACT_ROWS = 100_000  # up to so many rows everything is float64


def check(ask_workers=None):
    """Refuse where there is no PyTorch, or no GPU for it: here or on workers."""
    if ask_workers is None:
        devices.check_device(devices.DEVICE)
    else:
        ask_workers(devices.check_device, devices.DEVICE)


def make(layout, store):
    """The engine that holds all rows here, or has workers hold them."""
    dtype = "float64" if store.n_rows <= EXACT_ROWS else "float32"
    if not store.shards.is_here:
        return DeviceEngine(layout, store, devices.DEVICE, dtype)
    check()
    return TorchEngine(
        layout,
        store.grid.n_bins,
        *_columns(store.shards.shards, store.target, store.n_classes),
        store.total_weight,
        devices.DEVICE,
        dtype,
    )


def _columns(shards, target, n_classes):
    """Codes, target and weights of some shards, as TorchRows takes them."""
    weight = None
    if any(shard.weight is not None for shard in shards):
        weight = np.concatenate([shard.sample_weight for shard in shards])
    targets = np.concatenate([target.of(shard, n_classes) for shard in shards])
    return [shard.codes for shard in shards], targets, weight


class TorchEngine:
    """Rows on one device.

    Parameters
    ----------
    layout : Layout
    n_bins : int array of shape (n_features,)
        Number of bins of every feature of the grid.
    codes, target, sample_weight : see TorchRows
    total : float
        Weight of all rows.
    device : str or torch.device
    dtype : {"float64", "float32"}
        Of scores and responsibilities.
    **options : chunk_rows and memory, see TorchRows
    """

    takes_all_restarts = True

    def __init__(
        self,
        layout,
        n_bins,
        codes,
        target,
        sample_weight,
        total,
        device,
        dtype,
        **options,
    ):
        self.total = total
        self.planner = planner = Planner(layout, n_bins, None)
        shape = planner.features, planner.starts, layout.n_classes
        columns = codes, target, sample_weight
        self.rows = TorchRows(*shape, *columns, device, dtype, **options)
        classes = layout.class_start + np.arange(layout.n_classes)
        self.place = self.rows.to_device(np.append(planner.place, classes))

    def share(self):
        """Another engine on the same rows, for a thread of its own."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, rows=self.rows.share())
        return twin

    def score(self, params):
        """Take the parameters, and score all rows if there is room for that."""
        self.rows.score(params.table, params, self.place)

    def assign(self, penalty):
        """Component weights and evidence under these penalties; see NumpyEngine."""
        expected = self.rows.expect(penalty, by_bin=False)
        return expected.weight, expected.evidence

    def gather(self):
        """Statistics of the responsibilities that `assign` made last."""
        return self.planner.statistics(self.rows.gather(), self.total)


NUMBERS = count()  # of engines, and of parameters that rows are scored by
KEPT = devices.KeptWithItems()  # TorchRows of this process with their shards


class DeviceEngine(ShardEngine):
    """Shards elsewhere, which a device at each place holds and visits.

    Parameters
    ----------
    layout : Layout
    store : RowStore
    device : str
    dtype : {"float64", "float32"}
        Of scores and responsibilities.
    """

    def __init__(self, layout, store, device, dtype):
        super().__init__(layout, store, None)
        self.key = device, dtype, next(NUMBERS)
        self.scored_by = None

    def share(self):
        """Another engine on the same rows, which stay where they are."""
        device, dtype, _ = self.key
        twin = DeviceEngine(self.planner.layout, self.store, device, dtype)
        twin.key = self.key
        return twin

    def score(self, params):
        """Take the parameters; rows are scored when they are assigned."""
        super().score(params)
        self.scored_by = next(NUMBERS)

    def _visit(self, by_bin):
        self.expected = self.store.shards.total_of_groups(
            _expected, self.key, self.scored_by, self.plan, by_bin
        )


def _expected(shards, place, key, number, plan, by_bin):
    """The Expected of some shards, whose rows stay on the device while they live."""
    device, dtype, _ = key

    def make(there):
        columns = _columns(shards, plan.target, plan.n_classes)
        shape = plan.features, plan.starts, plan.n_classes
        return TorchRows(*shape, *columns, there, dtype)

    def visit(rows):
        if rows.number != number:  # else these parameters were here before
            rows.score(np.vstack([plan.table, plan.classes]), plan)
            rows.number = number
        return rows.expect(plan.penalty, by_bin)

    return KEPT.use(shards, key, devices.device_at(device, place), make, visit)
