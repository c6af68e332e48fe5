"""Fit the mixture: initial values, and groups of restarts."""

import time
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from defragtrees._utils.values import round_significant
from defragtrees.paper.engine import TableEngine
from defragtrees.paper.loop import Fitted, Starts, Step, run
from defragtrees.paper.parameters import Layout, Params, Posterior

GROUP_BYTES = 24_000_000  # approximate limit for the arrays of a group of restarts
MOST_DRAWN = 1000  # rows whose responsibilities are drawn
# Larger units and distances would change no start, but overflow float32.
LEAST_SCALE, MOST_SCALE = 1e-12, 1e5
FARTHEST = 1e12


@dataclass(frozen=True, eq=False)
class Mixture:
    """The best restart, and the iterations of all."""

    layout: Layout
    best: Fitted
    history: tuple[Step, ...]


def fit_mixture(rows, settings, rng, order=None, callback=None):
    """Run all restarts; the result does not depend on `n_jobs`.

    `rows` is a RowStore of a table in memory. `order` is the order in which features
    are summed. Once `callback` returns True, all restarts stop.
    """
    layout = Layout(rows.grid, rows.counts, rows.n_classes, order)
    columns = rows.table.codes, rows.outputs, rows.table.sample_weight
    engine = TableEngine(layout, *columns)
    n_components = int(min(settings.max_components, rows.n_rows))
    seeds = rng.spawn(settings.n_restarts)
    begin, is_stopped = time.perf_counter(), False

    def watch(step):
        nonlocal is_stopped
        is_stopped |= callback is not None and bool(callback(step))
        return is_stopped

    def fit_group(group):
        mine = [seeds[i] for i in group]
        drawn = [random_params(layout, n_components, seed) for seed in mine]
        arrays = zip(*(vars(params).values() for params in drawn), strict=True)
        starts = Params(*(np.concatenate(parts, axis=-1) for parts in arrays))
        if settings.schedule.draws_all:
            starts = draw_rest(starts, rows.n_rows, mine, rows.target)
        return run(engine.share(), layout, starts, settings, group, watch, begin)

    # As many restarts share a pass as fit in memory: scores, responsibilities and
    # two copies of them; tables, statistics.
    n_bytes = 8 * n_components * (4 * rows.n_rows + 8 * layout.n_rows)
    size = int(np.clip(GROUP_BYTES // n_bytes, 1, settings.n_restarts))
    restarts = range(settings.n_restarts)
    groups = [restarts[i : i + size] for i in restarts[::size]]
    n_jobs = settings.n_jobs if len(groups) > 1 else 1
    jobs = (delayed(fit_group)(group) for group in groups)
    done = Parallel(n_jobs=n_jobs, prefer="threads")(jobs)
    history = [step for _, steps in done for step in steps]
    history.sort(key=attrgetter("restart", "iteration"))

    def rank(restart):
        """The training error, then the number of components, then the bound."""
        posterior = Posterior(layout, restart.statistics, rows.grid)
        predicted = posterior.predict_codes(rows.table.codes)
        losses = (predicted - rows.outputs) ** 2
        if layout.n_classes:
            losses = predicted != rows.outputs
        loss = np.average(losses, weights=rows.table.sample_weight)
        # Rounded, so that rounding errors do not choose among equal restarts.
        return (
            round_significant(loss),
            posterior.n_components,
            -round_significant(restart.objective, 9),
            restart.restart,
        )

    best = min((one for fitted, _ in done for one in fitted), key=rank)
    return Mixture(layout, best, tuple(history))


def random_params(layout, n_components, rng):
    """Initial components with uniformly drawn probabilities, as in the paper."""
    table = np.zeros((layout.n_rows, n_components))
    for block in layout.blocks:
        eta = rng.uniform(0.01, 0.99, size=(len(block.n_equal), n_components))
        log_above = block.n_equal[:, None] * np.log(eta)
        log_below = block.n_equal[:, None] * np.log1p(-eta)
        missing = rng.uniform(0.01, 0.99, n_components)
        table[block.rows] = block.assemble(log_above, log_below, missing)
    mean = np.zeros(n_components)
    if layout.n_classes:
        shares = rng.dirichlet(np.ones(layout.n_classes), n_components).T
        table[layout.class_start :] = np.log(np.maximum(shares, 1e-10))
    else:
        mean = rng.normal(size=n_components)
    log_weight = np.full(n_components, -np.log(n_components))
    return Params(table, log_weight, mean, np.ones(n_components))


def draw_rest(params, n_rows, seeds, target):
    """Draw proportions, precisions and responsibilities too, as the paper's authors do.

    Means are standard normal and precisions uniform in the units of y; they are then
    converted to the units of the loop, in which y is standardised.

    The first inner step depends only on the sums of the responsibilities. So those of a
    thousand rows are drawn, and the deviation of their mean is scaled to that of all
    rows. `seeds` has one generator per restart, `target` the centre and scale of y.
    """
    n_components = params.mean.size // len(seeds)
    n_drawn = min(n_rows, MOST_DRAWN)
    proportions, precisions, shares = [], [], []
    for rng in seeds:
        uniform = rng.uniform(0.01, 1.0, n_components)
        proportions.append(uniform / uniform.sum())
        precisions.append(1.0 - rng.random(n_components))
        drawn = 1.0 - rng.random((n_drawn, n_components))
        drawn /= drawn.sum(axis=1, keepdims=True)
        away = drawn.mean(axis=0) - 1 / n_components
        shares.append(1 / n_components + away * np.sqrt(n_drawn / n_rows))
    # From the units of y to the standardised y.
    scale = max(target.scale, LEAST_SCALE)
    center = np.clip(target.center / scale, -FARTHEST, FARTHEST)
    params = replace(
        params,
        log_weight=np.log(np.concatenate(proportions)),
        mean=params.mean / scale - center,
        precision=np.concatenate(precisions) * min(scale, MOST_SCALE) ** 2,
    )
    return Starts(params, np.array(shares))
