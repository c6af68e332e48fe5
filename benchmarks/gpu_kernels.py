"""Which way of scoring, sharing out and adding up is fastest on a GPU.

Run as `python -m benchmarks.gpu_kernels [--rows 11000000] [--columns 200]`. Each
variant is checked against float64 on some rows and timed on about a million rows; the
times given are for all rows. Then the engine itself is timed on all rows. On a machine
without a GPU it takes a few rows, to see that it runs at all.

Left out as far slower: one-hot products on the matrix units (bf16 in two halves, 295 ms
for 11,000,000 rows and 200 columns), `index_put_` in float64 (39 s).
"""

from __future__ import annotations

import argparse
import statistics
import time
import traceback
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import torch

from defragtrees._utils.formatting import text_table
from defragtrees.data.grid import Binned, ThresholdGrid
from defragtrees.paper.engines import _torch_kernels as kernels
from defragtrees.paper.engines import on_torch, torch_rows
from defragtrees.paper.params import Params, make_layout

triton, tl = kernels.triton, kernels.tl
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
HAS_TRITON = DEVICE == "cuda" and kernels.is_available()
CHECK_ROWS = 98_304
PIECE_ROWS = 2**20
N_REPEATS = 5
N_CLASSES = 2
WIDTHS = [4, 4, 4, 4, 12, 34, 66, 130] + [256] * 20


@dataclass(frozen=True)
class Problem:
    """Random rows on the device, as the kernels want them."""

    n_rows: int
    cells: torch.Tensor
    widths: list
    starts: torch.Tensor
    table: torch.Tensor
    offset: torch.Tensor
    penalty: torch.Tensor
    scores: torch.Tensor | None = None
    mass: torch.Tensor | None = None

    @property
    def width(self):
        return self.table.shape[1]

    @property
    def n_columns(self):
        return self.penalty.numel()


def draw_cells(n_rows, generator):
    """Codes with more rows in the lower bins; the last row of cells is the class."""
    widths = [*WIDTHS, N_CLASSES]
    cells = torch.empty(
        (len(widths), -(-n_rows // 16) * 16), dtype=torch.uint8, device=DEVICE
    )
    for i, width in enumerate(widths):
        skewed = torch.rand(cells.shape[1], generator=generator, device=DEVICE) ** 2
        # The last bin is for missing values; every fourth feature has some.
        seen = width if i % 4 == 0 or i == len(WIDTHS) else width - 1
        cells[i] = (skewed * seen).to(torch.uint8)
    return cells, widths


def draw_problem(n_rows, n_columns, n_components, seed=0):
    generator = torch.Generator(DEVICE).manual_seed(seed)
    cells, widths = draw_cells(n_rows, generator)
    width = -(-n_columns // 16) * 16
    edges = torch.tensor([0, *np.cumsum(widths)], device=DEVICE)
    shape = (n_columns // n_components, n_components)

    def normal(*shape):
        return torch.randn(shape, generator=generator, device=DEVICE)

    problem = Problem(
        n_rows,
        cells,
        widths,
        edges[:-1],
        normal(int(edges[-1]), width),
        normal(width),
        normal(*shape).abs(),
    )
    scores = torch.empty((n_rows, width), device=DEVICE)
    torch_rows.score(*score_inputs(problem), scores)
    mass = torch.zeros_like(scores)
    torch_rows.share_out(scores, problem.penalty, None, None, mass)
    return replace(problem, scores=scores, mass=mass)


def score_inputs(problem):
    cells = problem.cells[:, : problem.n_rows]
    return cells, problem.starts, problem.table, problem.offset, None


# Each builder below makes what it needs once, and gives a function to be timed.


def score_plain(problem):
    out = torch.full_like(problem.scores, torch.nan)
    return lambda: (torch_rows.score(*score_inputs(problem), out), out)[1]


def score_bag(problem):
    cells = problem.cells[:, : problem.n_rows]
    index = (cells.T.int() + problem.starts.int()).contiguous()
    bag = torch.nn.functional.embedding_bag
    return lambda: bag(index, problem.table, mode="sum") + problem.offset


def score_csr(problem):
    cells = problem.cells[:, : problem.n_rows]
    index = (cells.T.int() + problem.starts.int()).contiguous().ravel()
    ends = torch.arange(problem.n_rows + 1, dtype=torch.int32, device=DEVICE)
    shape = (problem.n_rows, len(problem.table))
    hot = sparse(ends * len(cells), index, shape)
    return lambda: torch.addmm(problem.offset, hot, problem.table)


def sparse(ends, index, shape):
    ones = torch.ones(len(index), device=DEVICE)
    return torch.sparse_csr_tensor(ends, index, ones, shape)


def score_triton(tile, warps):
    def build(problem):
        out = torch.full_like(problem.scores, torch.nan)
        inputs = score_inputs(problem)
        return lambda: (kernels.score(*inputs, out, tile, warps), out)[1]

    return build


def totals(sums, evidence):
    return torch.cat([sums[0], evidence])


def share_plain(problem):
    inputs = (problem.scores, problem.penalty, None, None)
    return lambda: totals(*torch_rows.share_out(*inputs))


def share_triton(tile, warps):
    def build(problem):
        inputs = (problem.scores, problem.penalty, None, None, None, tile, warps)
        return lambda: totals(*kernels.share_out(*inputs))

    return build


def write_plain(problem):
    mass = torch.full_like(problem.scores, torch.nan)
    inputs = (problem.scores, problem.penalty, None, None, mass)
    return lambda: (torch_rows.share_out(*inputs), mass)[1]


def write_triton(tile, warps):
    def build(problem):
        mass = torch.full_like(problem.scores, torch.nan)
        inputs = (problem.scores, problem.penalty, None, None, mass, tile, warps)
        return lambda: (kernels.share_out(*inputs), mass)[1]

    return build


def add_index_add(problem):
    def add():
        total = torch.zeros_like(problem.table)
        for codes, start in zip(problem.cells, problem.starts, strict=True):
            total.index_add_(0, codes[: problem.n_rows].int() + start, problem.mass)
        return total

    return add


def add_csr(chunk_rows):
    def build(problem):
        order, begins, ends = sorted_chunks(problem, chunk_rows)
        hots = []
        for i in range(len(order)):
            edges = torch.cat([begins[i], ends[i, -1:]])
            shape = (len(problem.table), chunk_rows)
            hots.append(sparse(edges, order[i].ravel().int(), shape))

        def add():
            total = torch.zeros_like(problem.table, dtype=torch.float64)
            for hot, mass in zip(hots, problem.mass.split(chunk_rows), strict=True):
                total += hot @ mass
            return total

        return add

    return build


def sorted_chunks(problem, chunk_rows):
    return torch_rows.sorted_chunks(
        torch, problem.cells, problem.widths, problem.n_rows, chunk_rows
    )


def add_triton(chunk_rows, tile, warps):
    def build(problem):
        order = sorted_chunks(problem, chunk_rows)

        def add():
            total = torch.zeros_like(problem.table, dtype=torch.float64)
            kernels.add_up(problem.mass, *order, total, tile, warps)
            return total

        return add

    return build


def right_scores(problem):
    out = problem.scores.double()
    cells, starts, table, offset, _ = score_inputs(problem)
    torch_rows.score(cells, starts, table.double(), offset.double(), None, out)
    return out[:, : problem.n_columns]


def right_totals(problem):
    inputs = (problem.scores.double(), problem.penalty, None, None)
    return totals(*torch_rows.share_out(*inputs))


def right_mass(problem):
    mass = torch.empty_like(problem.scores, dtype=torch.float64)
    inputs = (problem.scores.double(), problem.penalty, None, None, mass)
    torch_rows.share_out(*inputs)
    return mass[:, : problem.n_columns]


def right_bins(problem):
    total = torch.zeros_like(problem.table, dtype=torch.float64)
    for codes, start in zip(problem.cells, problem.starts, strict=True):
        where = codes[: problem.n_rows].long() + start
        total.index_add_(0, where, problem.mass.double())
    return total[:, : problem.n_columns]


SCORES = {
    "score: plain torch": score_plain,
    "score: embedding_bag": score_bag,
    "score: sparse CSR": score_csr,
    "score: triton 32x256 w8": score_triton((32, 256), 8),
    "score: triton 8x256 w4": score_triton((8, 256), 4),
    "score: triton 32x64 w4": score_triton((32, 64), 4),
    "score: triton 128x16 w4": score_triton((128, 16), 4),
}
SHARES = {
    "share: plain torch": share_plain,
    "share: triton 1024 w4": share_triton(1024, 4),
    "share: triton 512 w4": share_triton(512, 4),
}
WRITES = {
    "write: plain torch": write_plain,
    "write: triton 1024 w4": write_triton(1024, 4),
    "write: triton 512 w4": write_triton(512, 4),
}
ADDS = {
    "add: index_add_": add_index_add,
    "add: sparse CSR, 32k": add_csr(32_768),
    "add: triton 8k 16x256 w4": add_triton(8_192, (16, 256), 4),
    "add: triton 16k 16x256 w4": add_triton(16_384, (16, 256), 4),
    "add: triton 128k 16x256 w4": add_triton(131_072, (16, 256), 4),
}


def milliseconds(function):
    """Median time, after two calls that do not count."""
    function()
    function()
    found = []
    for _ in range(N_REPEATS):
        if DEVICE == "cuda":
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            function()
            end.record()
            end.synchronize()
            found.append(begin.elapsed_time(end))
        else:
            start = time.perf_counter()
            function()
            found.append(1e3 * (time.perf_counter() - start))
    return statistics.median(found)


def relative_error(found, right):
    found = found[..., : right.shape[-1]].double()
    # A number that was never written is not a number, and so is the result.
    return ((found - right).norm() / right.norm()).item()


def attempt(function, *arguments):
    """What the function returns, or None and the last lines of its traceback."""
    # A new thread knows of no device before it has talked to one.
    with ThreadPoolExecutor(1, initializer=wait) as pool:
        error = (future := pool.submit(function, *arguments)).exception()
    if error is None:
        return future.result(), None
    lines = "".join(traceback.format_exception(error)).strip().splitlines()
    return None, "\n".join("    " + line for line in lines[-6:])


def measure(build, check, right, piece):
    error = relative_error(build(check)(), right)
    return error, milliseconds(build(piece))


def measure_all(variants, right, check, piece, scale, n_bytes):
    right = right(check)
    lines = []
    for name, build in variants.items():
        if "triton" in name and not HAS_TRITON:
            lines.append([name, "skipped: needs Triton and a GPU", "", ""])
            continue
        found, trouble = attempt(measure, build, check, right, piece)
        if trouble:
            lines.append([name, "failed", "", ""])
            print(f"{name} failed:\n{trouble}", flush=True)
            continue
        error, each = found
        rate = n_bytes / each / 1e6
        lines.append([name, f"{scale * each:.1f}", f"{rate:.0f}", f"{error:.1e}"])
        print("done", *lines[-1], flush=True)
    return lines


def compare_variants(n_rows, n_columns, n_components):
    check = draw_problem(min(CHECK_ROWS, n_rows), n_columns, n_components)
    piece = draw_problem(min(PIECE_ROWS, n_rows), n_columns, n_components, seed=1)
    scale = n_rows / piece.n_rows
    once = 4 * piece.n_rows * n_columns
    often = once * len(piece.widths)
    lines = measure_all(SCORES, right_scores, check, piece, scale, often)
    lines += measure_all(SHARES, right_totals, check, piece, scale, once)
    lines += measure_all(WRITES, right_mass, check, piece, scale, 2 * once)
    lines += measure_all(ADDS, right_bins, check, piece, scale, often)
    header = ["variant", f"ms for {n_rows:,} rows", "GB/s", "relative error"]
    print(text_table(header, lines), flush=True)


def draw_engine(n_rows):
    """The engine on random rows, its layout, and seconds to load and sort them."""
    generator = torch.Generator(DEVICE).manual_seed(2)
    cells, _ = draw_cells(n_rows, generator)
    there = cells[:, :n_rows].T.contiguous().cpu().numpy()
    del cells
    codes, target = there[:, :-1], there[:, -1]
    grid = ThresholdGrid(tuple(np.arange(float(w - 2)) for w in WIDTHS))
    # A part of the rows has all bins.
    layout = make_layout(Binned(codes[:300_000].copy(), grid), N_CLASSES, 3.0)
    dtype = "float32" if n_rows > on_torch.EXACT_ROWS else "float64"
    begin = time.perf_counter()
    engine = on_torch.TorchEngine(
        layout, grid.n_bins, [codes], target, None, float(n_rows), DEVICE, dtype
    )
    wait()
    return engine, layout, time.perf_counter() - begin


def wait():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def clocked(function, *arguments):
    wait()
    begin = time.perf_counter()
    found = function(*arguments)
    wait()
    return found, 1e3 * (time.perf_counter() - begin)


def time_engine(n_rows, widest, n_components):
    engine, layout, seconds = draw_engine(n_rows)
    print(f"\nengine on {n_rows:,} rows: {seconds:.1f} s to load and sort")
    rng = np.random.default_rng(0)
    lines = []
    for n_columns in (widest, widest // 2, max(n_components, widest // 10)):
        n_restarts = n_columns // n_components
        n_columns = n_restarts * n_components
        penalty = rng.random((n_restarts, n_components))
        table = rng.normal(size=(layout.n_rows, n_columns))
        log_weight = np.full(n_columns, -np.log(n_components))
        moment = np.ones(n_columns)
        params = Params(table, log_weight, moment, moment)
        times = []
        for _ in range(4):
            own = [clocked(engine.score, params)[1]]
            own.append(clocked(engine.assign, penalty)[1])
            own.append(clocked(engine.assign, penalty)[1])
            found, each = clocked(engine.gather)
            own.append(each)
            own.append(clocked(layout.maximize, found)[1])
            times.append(own)
        again = engine.gather()
        is_same = (again.bins == found.bins).all() and (
            again.weight == found.weight
        ).all()
        first = sum(times[0]) / 1e3
        usual = [f"{each:.1f}" for each in np.median(times[1:], axis=0)]
        lines.append([n_columns, *usual, f"{first:.1f}", is_same, engine.keeps])
    header = "columns score assign assign gather maximize(CPU)".split()
    header = [*header, "first time, s", "same again", "scores kept"]
    print(text_table(header, lines))
    if DEVICE == "cuda":
        print(f"most memory: {torch.cuda.max_memory_allocated() / 1e9:.1f} GB")
        recompute(engine, params, penalty)


def recompute(engine, params, penalty):
    """The same with no room for scores."""
    engine = engine.share()
    engine.memory = 0
    engine.score(params)
    _, assign = clocked(engine.assign, penalty)
    _, gather = clocked(engine.gather)
    print(f"without room for scores: assign {assign:.1f}, gather {gather:.1f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=11_000_000)
    parser.add_argument("--columns", type=int, default=200)
    parser.add_argument("--components", type=int, default=10)
    options = parser.parse_args()
    n_rows, n_columns = options.rows, options.columns
    if DEVICE == "cpu":
        n_rows, n_columns = min(n_rows, 32_768), min(n_columns, 20)
    name = torch.cuda.get_device_name() if DEVICE == "cuda" else "no GPU: few rows"
    has = f"triton {triton.__version__}" if kernels.is_available() else "no triton"
    print(f"torch {torch.__version__}, {has}, {name}", flush=True)
    warnings.filterwarnings("ignore", message="Sparse")
    begin = time.perf_counter()
    jobs = [
        (compare_variants, n_rows, n_columns, options.components),
        (time_engine, n_rows, n_columns, options.components),
    ]
    for job in jobs:
        _, trouble = attempt(*job)
        if trouble:
            print(f"{job[0].__name__} failed:\n{trouble}", flush=True)
    print(f"{time.perf_counter() - begin:.0f} s in all")


if __name__ == "__main__":
    main()
