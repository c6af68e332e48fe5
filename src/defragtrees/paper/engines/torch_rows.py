"""Rows on one device: PyTorch, with Triton for the passes over all rows.

The codes lie there, a row per feature, the classes as one feature more. Tables go there
for each iteration and sums come back; both are small. Scores and responsibilities may
be float32, and what is added up over many rows is float64. Rows are visited in chunks;
within a chunk they are sorted by each feature once, so that a bin's responsibilities
are added without atomic operations and the same input always gives the same numbers.
"""

from contextlib import suppress
from importlib import import_module

import numpy as np

from defragtrees._utils.optional import require
from defragtrees.paper.engines.on_shards import Expected

__all__ = ["TorchRows", "add_up", "score", "share_out", "sorted_chunks"]

CHUNK_ROWS = 16_384  # responsibilities of so many rows stay in the cache
GROUP_NUMBERS = 2**28  # about as many numbers has an array for several chunks
COLUMN_STEP = 16  # arrays are padded to a multiple of so many columns
LARGEST_PENALTY = float(np.finfo(np.float32).max) / 4  # instead of infinity


class TorchRows:
    """Rows on one device, and what the expectation step says of them.

    Parameters
    ----------
    features : int array of shape (n_used,)
        Columns of the codes that are looked at.
    starts : int array of shape (n_used + 1,)
        Where the bins of each begin in tables; the last is their number.
    n_classes : int
        0 for numbers.
    codes : list of unsigned int array of shape (some_samples, n_features)
        Bin numbers of all rows, in pieces.
    target : array of shape (n_samples,)
        Class numbers, or standardised outputs.
    sample_weight : float array of shape (n_samples,), or None
    device : str or torch.device
    dtype : {"float64", "float32"}
        Of scores and responsibilities.
    chunk_rows : int, optional
        Rows that are sorted and added up together.
    memory : int, optional
        Bytes for the scores of all rows; if they need more, they are made anew at
        every visit. On a GPU most of what is free by default.
    """

    def __init__(
        self,
        features,
        starts,
        n_classes,
        codes,
        target,
        sample_weight,
        device,
        dtype,
        chunk_rows=None,
        memory=None,
    ):
        torch = require("torch", 'engine="cuda"')
        self.torch = torch
        self.device = torch.device(device)
        self.dtype = getattr(torch, dtype)
        self.memory = memory
        self.n_rows = len(target)
        self.n_classes = n_classes
        # Classes stand behind the bins, as the bins of one feature more.
        widths = np.diff(starts)
        self.widths = np.append(widths, n_classes) if n_classes else widths
        self.starts = np.concatenate([[0], np.cumsum(self.widths)]).astype(np.int64)
        self.starts_there = self.to_device(self.starts)
        self.cells = self._load(features, codes, target)
        self.weight = self.target = None
        if sample_weight is not None and not (sample_weight == 1).all():
            self.weight = self.to_device(sample_weight, self.dtype)
        if not n_classes:
            self.target = self.to_device(target, self.dtype)
        self.chunk_rows = chunk_rows or _chunk_rows(self.starts[-1])
        self.kernels = _kernels(self.device)
        self.sorted = None
        if self.kernels is not None and self.n_rows:
            self.sorted = sorted_chunks(
                torch, self.cells, self.widths, self.n_rows, self.chunk_rows
            )
        self._forget()

    def share(self):
        """The same rows, for a thread of its own."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._forget()
        return twin

    def score(self, table, params, place=None):
        """Take the parameters, and score all rows if there is room for that.

        Parameters
        ----------
        table : float64 array of shape (n_lines, n_columns)
            Log-likelihood of each bin, and then of each class.
        params : Params or Plan
            What else a component has.
        place : torch.Tensor, optional
            On the device, for each bin and class its line of the table; behind the last
            there is a line of zeros.
        """
        n_columns = table.shape[1]
        width = -(-n_columns // COLUMN_STEP) * COLUMN_STEP
        self.shape = (n_columns, width)
        if place is None:
            self.table = self._padded(table)
        else:
            self.table = self._padded(table, more_lines=1).index_select(0, place)
        offset = params.log_weight
        if not self.n_classes:
            offset = offset + 0.5 * np.log(params.precision / (2 * np.pi))
            self.moments = [self._padded(params.mean), self._padded(params.precision)]
        self.offset = self._padded(offset)
        self.keeps = self._make_room(self.n_rows * width)
        if self.keeps:
            for chunks in self._groups():
                self._score(self._rows(chunks), self._kept(self._rows(chunks)))

    def expect(self, penalty, by_bin):
        """The Expected of all rows; without `by_bin` weight and evidence only."""
        self.penalty = self.to_device(np.minimum(penalty, LARGEST_PENALTY), self.dtype)
        return self.gather(by_bin)

    def gather(self, by_bin=True):
        """The Expected under the penalties that `expect` was given last."""
        n_columns, width = self.shape
        bins = self._empty(self.starts[-1] * by_bin, width, self.torch.float64).zero_()
        sums, evidence = self._no_sums()
        for chunks in self._groups():
            rows = self._rows(chunks)
            mass = self._empty(rows.stop - rows.start, width) if by_bin else None
            own, its_evidence = self._share_out(rows, mass)
            sums, evidence = sums + own, evidence + its_evidence
            if by_bin:
                self._add_up(chunks, mass, bins)
        weight, first, second = sums.cpu().numpy()
        found = weight.reshape(self.penalty.shape), evidence.cpu().numpy()
        if not by_bin:
            return Expected(*found)
        bins = bins[:, :n_columns].cpu().numpy()
        n_bins = len(bins) - self.n_classes
        return Expected(*found, bins[:n_bins], bins[n_bins:], first, second)

    def _no_sums(self):
        """Sums for the columns, and evidence for the restarts, of no rows."""
        kind = self.torch.float64
        sums = self._empty(3, self.shape[0], kind).zero_()
        return sums, self._empty(1, len(self.penalty), kind).zero_()[0]

    def _forget(self):
        self.table = self.offset = self.moments = self.penalty = None
        self.shape = self.room = self.number = None
        self.keeps = False

    def _load(self, features, codes, target):
        """Codes on the device, a row per feature and one for the classes."""
        widest = int(self.widths.max(initial=1))
        kind = np.uint8 if widest <= 256 else np.int16 if widest <= 2**15 else np.int32
        kind_there = self.torch.from_numpy(np.zeros(0, kind)).dtype
        # Padded, so that every feature begins where sixteen codes can be loaded.
        stride = -(-self.n_rows // COLUMN_STEP) * COLUMN_STEP
        cells = self._empty(len(self.widths), stride, kind_there).zero_()
        features = self.to_device(features)
        start = 0
        for piece in codes:
            for at in range(0, len(piece), 2**20):
                some = piece[at : at + 2**20].astype(kind, order="C")
                some = self.to_device(some).index_select(1, features)
                cells[: len(features), start : start + len(some)] = some.T
                start += len(some)
        if self.n_classes:
            cells[-1, : self.n_rows] = self.to_device(np.asarray(target).astype(kind))
        return cells

    def to_device(self, array, dtype=None):
        tensor = self.torch.tensor(np.asarray(array))
        return tensor.to(device=self.device, dtype=dtype)

    def _empty(self, n_lines, n_columns, dtype=None):
        options = {"dtype": dtype or self.dtype, "device": self.device}
        return self.torch.empty((int(n_lines), int(n_columns)), **options)

    def _padded(self, array, more_lines=0):
        """On the device, with zeros in the columns (and lines) behind the others."""
        n_columns, width = self.shape
        tensor = self.to_device(array, self.dtype)
        more = (0, width - n_columns) + (0, more_lines) * (tensor.ndim - 1)
        return self.torch.nn.functional.pad(tensor, more)

    def _groups(self):
        """Ranges of chunks that are visited together, as many as fit."""
        n_chunks = -(-self.n_rows // self.chunk_rows)
        one = self.shape[1] * max(self.chunk_rows, int(self.starts[-1]))
        size = max(1, GROUP_NUMBERS // one)
        return [(i, min(i + size, n_chunks)) for i in range(0, n_chunks, size)]

    def _rows(self, chunks):
        return slice(
            chunks[0] * self.chunk_rows, min(chunks[1] * self.chunk_rows, self.n_rows)
        )

    def _make_room(self, n_numbers):
        """Whether all scores can be kept; then `room` is large enough."""
        if self.room is None or self.room.numel() < n_numbers:
            self.room = None
            if n_numbers * self.dtype.itemsize <= self._free_memory():
                # Another process may have taken it in between.
                with suppress(self.torch.cuda.OutOfMemoryError):
                    self.room = self._empty(1, n_numbers)[0]
        return self.room is not None

    def _free_memory(self):
        if self.memory is not None:
            return self.memory
        if self.device.type != "cuda":
            return np.inf
        cuda = self.torch.cuda
        # What torch holds and does not use is free for us too.
        unused = cuda.memory_reserved() - cuda.memory_allocated()
        spare = 2 * GROUP_NUMBERS * self.dtype.itemsize
        return 0.7 * (cuda.mem_get_info()[0] + unused - spare)

    def _kept(self, rows):
        width = self.shape[1]
        return self.room[rows.start * width : rows.stop * width].view(-1, width)

    def _scores(self, rows):
        if self.keeps:
            return self._kept(rows)
        scores = self._empty(rows.stop - rows.start, self.shape[1])
        self._score(rows, scores)
        return scores

    def _score(self, rows, scores):
        numbers = None if self.target is None else [self.target[rows], *self.moments]
        do = score if self.kernels is None else self.kernels.score
        starts = self.starts_there[:-1]
        do(self.cells[:, rows], starts, self.table, self.offset, numbers, scores)

    def _share_out(self, rows, mass):
        weight = None if self.weight is None else self.weight[rows]
        target = None if self.target is None else self.target[rows]
        do = share_out if self.kernels is None else self.kernels.share_out
        return do(self._scores(rows), self.penalty, weight, target, mass)

    def _add_up(self, chunks, mass, bins):
        if self.kernels is None:
            cells = self.cells[:, self._rows(chunks)]
            add_up(cells, self.starts_there[:-1], mass, bins)
        else:
            some = slice(*chunks)
            self.kernels.add_up(mass, *(array[some] for array in self.sorted), bins)


def _chunk_rows(n_bins):
    """Rows of a chunk: more where a chunk would have fewer rows than bins."""
    return max(CHUNK_ROWS, 2 ** int(np.ceil(np.log2(max(n_bins, 1) / 2))))


def _kernels(device):
    """The Triton kernels where they can run; None stands for plain torch."""
    if device.type != "cuda":
        return None
    kernels = import_module("defragtrees.paper.engines._torch_kernels")
    return kernels if kernels.is_available() else None


def sorted_chunks(torch, cells, widths, n_rows, chunk_rows):
    """Rows by code within each chunk and feature; see `_torch_kernels.add_up`."""
    n_chunks, n_bins = -(-n_rows // chunk_rows), int(sum(widths))
    options = {"device": cells.device}
    kind = torch.int16 if chunk_rows <= 2**15 else torch.int32
    order = torch.empty((n_chunks, len(cells), chunk_rows), dtype=kind, **options)
    begins = torch.empty((n_chunks, n_bins), dtype=torch.int32, **options)
    ends = torch.empty_like(begins)
    start = 0
    for i, width in enumerate(int(width) for width in widths):
        # Rows that fill up the last chunk come after all codes, and so in no bin.
        shape = n_chunks * chunk_rows
        codes = torch.full((shape,), width, dtype=torch.int32, **options)
        codes[:n_rows] = cells[i, :n_rows]
        codes, rows = codes.view(n_chunks, -1).sort(dim=1, stable=True)
        order[:, i] = rows
        every = torch.arange(width + 1, dtype=torch.int32, **options)
        every = every.expand(n_chunks, -1).contiguous()
        edges = torch.searchsorted(codes, every, out_int32=True) + i * chunk_rows
        begins[:, start : start + width] = edges[:, :-1]
        ends[:, start : start + width] = edges[:, 1:]
        start += width
    return order, begins, ends


def score(cells, starts, table, offset, numbers, scores):
    """As `_torch_kernels.score`, in plain torch."""
    scores[:] = offset
    for codes, start in zip(cells, starts, strict=True):
        scores += table.index_select(0, codes.long() + start)
    if numbers is not None:
        target, mean, precision = numbers
        scores -= 0.5 * precision * (target[:, None] - mean) ** 2


def share_out(scores, penalty, weight, target, mass=None):
    """As `_torch_kernels.share_out`, in plain torch."""
    n_columns = penalty.numel()
    work = scores[:, :n_columns].unflatten(1, penalty.shape) - penalty
    evidence = work.logsumexp(2)
    work -= evidence[:, :, None]
    work = work.exp_().flatten(1)
    if weight is not None:
        work *= weight[:, None]
        evidence = evidence * weight[:, None]
    if mass is not None:
        mass[:, :n_columns] = work
        mass[:, n_columns:] = 0
    work = work.double()
    sums = work.new_zeros((3, n_columns))
    sums[0] = work.sum(0)
    if target is not None:
        sums[1] = target.double() @ work
        sums[2] = target.double() ** 2 @ work
    return sums, evidence.double().sum(0)


def add_up(cells, starts, mass, total):
    """As `_torch_kernels.add_up`, in plain torch and from codes in any order."""
    mass = mass.double()
    for codes, start in zip(cells, starts, strict=True):
        if mass.is_cuda:
            # Sorts first, so the order of additions does not vary, unlike index_add_.
            total.index_put_((codes.long() + start,), mass, accumulate=True)
        else:
            total.index_add_(0, codes.long() + start, mass)
