"""The three passes over rows on a GPU, in Triton: score, share out, add up.

None of them adds numbers in an order that chance decides: every program writes sums of
its own, and these are added afterwards in a fixed order, in float64. All arrays have
a row per sample, bin or program and a column per component, padded to `width`, a
multiple of 16, so that a thread can load four columns at once.
"""

from __future__ import annotations

from defragtrees._utils.optional import require
from defragtrees.errors import MissingPackageError

__all__ = ["add_up", "is_available", "score", "share_out"]

# Without Triton this module can be imported all the same, but not used.
# mypy: disable-error-code="name-defined"


try:
    triton = require("triton", "A kernel for the GPU")
    tl = require("triton.language", "A kernel for the GPU")
except MissingPackageError:
    triton = tl = None


BLOCK_ROWS = 1024  # rows of one program that shares out
BLOCK_NUMBERS = 1024  # numbers of one program that adds partial sums
# Smaller sizes would save little, and each size has to be compiled.
LEAST_COLUMNS = 32
LEAST_COMPONENTS = 16


def _jit(*unspecialised):
    """Compile for types and block sizes, but not anew for each of these numbers."""
    if triton is None:
        return lambda function: function
    return triton.jit(do_not_specialize=unspecialised)


def is_available():
    """Whether Triton is there."""
    return triton is not None


def _columns(width, most):
    return min(most, max(LEAST_COLUMNS, triton.next_power_of_2(width)))


@_jit("n_rows", "n_cells")
def _score_tile(
    cells,
    starts,
    table,
    offset,
    numbers,
    mean,
    precision,
    scores,
    n_rows,
    n_cells,
    cell_stride,
    width,
    HAS_NUMBERS: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    # Programs that run together share some columns, so that the cache holds these.
    n_tiles = tl.cdiv(n_rows, ROWS)
    tile = tl.program_id(0)
    rows = (tile % n_tiles).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    columns = (tile // n_tiles) * COLUMNS + tl.arange(0, COLUMNS)
    is_row = rows < n_rows
    is_column = columns < width
    inside = is_row[:, None] & is_column[None, :]
    kind = scores.dtype.element_ty
    sums = tl.zeros([ROWS, COLUMNS], dtype=kind)
    sums += tl.load(offset + columns, mask=is_column, other=0.0)[None, :]
    # The next cell is under way while the table is read for this one.
    cell_at = cells + rows
    ahead = tl.load(cell_at, mask=is_row & (n_cells > 0), other=0).to(tl.int64)
    for i in range(n_cells):
        line = (ahead + tl.load(starts + i)) * width
        cell_at += cell_stride
        ahead = tl.load(cell_at, mask=is_row & (i + 1 < n_cells), other=0).to(tl.int64)
        at = table + line[:, None] + columns[None, :]
        sums += tl.load(at, mask=inside, other=0.0)
    if HAS_NUMBERS:
        y = tl.load(numbers + rows, mask=is_row, other=0.0)
        center = tl.load(mean + columns, mask=is_column, other=0.0)
        scale = tl.load(precision + columns, mask=is_column, other=0.0)
        residual = y[:, None] - center[None, :]
        sums -= 0.5 * scale[None, :] * residual * residual
    tl.store(scores + rows[:, None] * width + columns[None, :], sums, mask=inside)


def score(cells, starts, table, offset, numbers, scores, tile=(8, 256), warps=4):
    """Fill in log p(row, component).

    Parameters
    ----------
    cells : int tensor of shape (n_cells, at least n_rows)
        Codes, a row per feature; the stride is a multiple of 16.
    starts : int64 tensor of shape (n_cells,)
        Where the bins of each feature begin in `table`.
    table : float tensor of shape (n_bins, width)
    offset : float tensor of shape (width,)
    numbers : None or (target, mean, precision)
        Of shapes (n_rows,), (width,) and (width,).
    scores : float tensor of shape (n_rows, width)
        Output.
    tile, warps : (int, int), int
        Rows and columns of a program, and its warps.
    """
    n_rows, width = scores.shape
    rows, columns = tile[0], _columns(width, tile[1])
    target, mean, precision = (offset,) * 3 if numbers is None else numbers
    _score_tile[(triton.cdiv(n_rows, rows) * triton.cdiv(width, columns),)](
        cells,
        starts,
        table,
        offset,
        target,
        mean,
        precision,
        scores,
        n_rows,
        len(cells),
        cells.stride(0),
        width,
        HAS_NUMBERS=numbers is not None,
        ROWS=rows,
        COLUMNS=columns,
        num_warps=warps,
    )


@_jit("n_rows", "n_restarts", "n_components")
def _share_block(
    scores,
    penalty,
    weight,
    numbers,
    mass,
    sums,
    evidence,
    n_rows,
    n_restarts,
    n_components,
    width,
    HAS_WEIGHT: tl.constexpr,
    HAS_NUMBERS: tl.constexpr,
    WRITES: tl.constexpr,
    BLOCK: tl.constexpr,
    ROWS: tl.constexpr,
    COMPONENTS: tl.constexpr,
):
    # Programs that run together have the same rows, whose cache lines they share.
    restart = tl.program_id(0) % n_restarts
    block = (tl.program_id(0) // n_restarts).to(tl.int64)
    parts = tl.arange(0, COMPONENTS)
    columns = restart * n_components + parts
    is_part = parts < n_components
    price = tl.load(penalty + columns, mask=is_part, other=0.0)[None, :]
    total = tl.zeros([ROWS, COMPONENTS], dtype=tl.float64)
    first, second = total, total
    proof = tl.zeros([ROWS], dtype=tl.float64)
    for start in range(0, BLOCK, ROWS):
        rows = block * BLOCK + start + tl.arange(0, ROWS)
        is_row = rows < n_rows
        inside = is_row[:, None] & is_part[None, :]
        place = rows[:, None] * width + columns[None, :]
        work = tl.load(scores + place, mask=inside, other=0.0) - price
        work = tl.where(is_part[None, :], work, float("-inf"))
        largest = tl.max(work, axis=1)
        work = tl.exp(work - largest[:, None])
        norm = tl.sum(work, axis=1)
        logs = tl.where(is_row, tl.log(norm) + largest, 0.0)
        share = tl.where(is_row, 1.0 / norm, 0.0)
        if HAS_WEIGHT:
            own = tl.load(weight + rows, mask=is_row, other=0.0)
            logs *= own
            share *= own
        work *= share[:, None]
        proof += logs.to(tl.float64)
        total += work.to(tl.float64)
        if HAS_NUMBERS:
            y = tl.load(numbers + rows, mask=is_row, other=0.0).to(tl.float64)
            first += work.to(tl.float64) * y[:, None]
            second += work.to(tl.float64) * (y * y)[:, None]
        if WRITES:
            tl.store(mass + place, work, mask=inside)
    n_columns = n_restarts * n_components
    at = sums + block * 3 * n_columns + columns
    tl.store(at, tl.sum(total, axis=0), mask=is_part)
    tl.store(at + n_columns, tl.sum(first, axis=0), mask=is_part)
    tl.store(at + 2 * n_columns, tl.sum(second, axis=0), mask=is_part)
    tl.store(evidence + block * n_restarts + restart, tl.sum(proof, axis=0))


def share_out(scores, penalty, weight, target, mass=None, tile=512, warps=4):
    """Responsibilities times weight within each restart, and their sums.

    Parameters
    ----------
    scores : float tensor of shape (n_rows, width)
    penalty : float tensor of shape (n_restarts, n_components)
        Finite.
    weight, target : float tensors of shape (n_rows,), or None
    mass : float tensor of shape (n_rows, width), optional
        Output, the responsibilities; they are not written otherwise.
    tile, warps : int
        Numbers that a program holds at once, and its warps.

    Returns
    -------
    sums : float64 tensor of shape (3, n_columns)
        Responsibilities, times the target, times its square.
    evidence : float64 tensor of shape (n_restarts,)
    """
    n_rows, width = scores.shape
    n_restarts, n_components = penalty.shape
    n_blocks = triton.cdiv(n_rows, BLOCK_ROWS)
    components = max(LEAST_COMPONENTS, triton.next_power_of_2(n_components))
    exact = scores.new_empty(0).double()
    sums = exact.new_empty((n_blocks, 3, penalty.numel()))
    evidence = exact.new_empty((n_blocks, n_restarts))
    _share_block[(n_blocks * n_restarts,)](
        scores,
        penalty,
        scores if weight is None else weight,
        scores if target is None else target,
        scores if mass is None else mass,
        sums,
        evidence,
        n_rows,
        n_restarts,
        n_components,
        width,
        HAS_WEIGHT=weight is not None,
        HAS_NUMBERS=target is not None,
        WRITES=mass is not None,
        BLOCK=BLOCK_ROWS,
        ROWS=min(BLOCK_ROWS, max(1, tile // components)),
        COMPONENTS=components,
        num_warps=warps,
    )
    return sums.sum(0), evidence.sum(0)


@_jit("n_bins", "chunk_rows", "chunk_cells")
def _add_bin(
    mass,
    order,
    begins,
    ends,
    partial,
    n_bins,
    chunk_rows,
    chunk_cells,
    width,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    # Chunk by chunk, so that the rows of a chunk stay in the cache for all features.
    n_tiles = tl.cdiv(width, COLUMNS)
    tile = tl.program_id(0) % n_tiles
    line = (tl.program_id(0) // n_tiles).to(tl.int64)
    chunk = line // n_bins
    columns = tile * COLUMNS + tl.arange(0, COLUMNS)
    is_column = columns < width
    begin = tl.load(begins + line)
    end = tl.load(ends + line)
    order += chunk * chunk_cells
    mass += chunk * chunk_rows * width
    sums = tl.zeros([ROWS, COLUMNS], dtype=mass.dtype.element_ty)
    for start in range(begin, end, ROWS):
        places = start + tl.arange(0, ROWS)
        is_row = places < end
        rows = tl.load(order + places, mask=is_row, other=0).to(tl.int64)
        at = mass + rows[:, None] * width + columns[None, :]
        sums += tl.load(at, mask=is_row[:, None] & is_column[None, :], other=0.0)
    found = tl.sum(sums, axis=0)
    tl.store(partial + line * width + columns, found, mask=is_column)


@_jit("n_parts")
def _add_parts(partial, total, n_numbers, n_parts, BLOCK: tl.constexpr):
    places = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = places < n_numbers
    sums = tl.load(total + places, mask=inside, other=0.0)
    at = partial + places
    for _ in range(n_parts):
        sums += tl.load(at, mask=inside, other=0.0).to(tl.float64)
        at += n_numbers
    tl.store(total + places, sums, mask=inside)


def add_up(mass, order, begins, ends, total, tile=(16, 256), warps=4):
    """Add the responsibilities of some chunks to the sums by bin.

    Parameters
    ----------
    mass : float tensor of shape (n_rows, width)
        The rows of these chunks.
    order : int tensor of shape (n_chunks, n_cells, chunk_rows)
        For each chunk and feature its rows, from 0, sorted by code.
    begins, ends : int32 tensors of shape (n_chunks, n_bins)
        Where the rows of each bin stand in `order`, counted from the chunk's first.
    total : float64 tensor of shape (n_bins, width)
        Added to.
    tile, warps : (int, int), int
        Rows and columns of a program, and its warps.
    """
    n_chunks, n_bins = begins.shape
    if n_bins == 0:
        return
    n_cells, chunk_rows = order.shape[1:]
    width = mass.shape[1]
    columns = _columns(width, tile[1])
    partial = mass.new_empty((n_chunks, n_bins, width))
    _add_bin[(n_chunks * n_bins * triton.cdiv(width, columns),)](
        mass,
        order,
        begins,
        ends,
        partial,
        n_bins,
        chunk_rows,
        n_cells * chunk_rows,
        width,
        ROWS=tile[0],
        COLUMNS=columns,
        num_warps=warps,
    )
    _add_parts[(triton.cdiv(total.numel(), BLOCK_NUMBERS),)](
        partial, total, total.numel(), n_chunks, BLOCK=BLOCK_NUMBERS
    )
