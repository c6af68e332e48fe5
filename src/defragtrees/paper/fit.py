"""Fit the mixture: initial values, groups of restarts, and screening of restarts."""

import time
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from defragtrees._utils.values import round_significant
from defragtrees.paper.engine import TableEngine, one_hot
from defragtrees.paper.loop import Fitted, Starts, Step, run
from defragtrees.paper.parameters import (
    Layout,
    Params,
    Posterior,
    Statistics,
)

GROUP_BYTES = 24_000_000  # approximate limit for the arrays of a group of restarts

# Screening: rows of the sample, and the number of restarts kept after it.
SCREENING_ROWS, N_SCREENED = 12_500, 5
LEAST_STEP = 4  # there must be 4 times the rows of the sample

SEED_SHARE = 0.5  # weight of a seed row in its component; the rest is the average row
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

    With screening all restarts are fitted to a sample of the rows, and the best of them
    continue on all rows. `rows` is a RowStore of a table in memory. `order` is the
    order in which features are summed.
    """
    layout = Layout(
        rows.grid, rows.counts, rows.n_classes, settings.statement_weight, order
    )
    climb = _Climb(layout, settings, rng.spawn(settings.n_restarts), callback)
    fitted, history, rung = None, [], 0
    if _is_screened(rows.n_rows, settings):
        chosen = rng.choice(rows.n_rows, SCREENING_ROWS, replace=False)
        drawn, rung = rows.take(chosen), 1
        fitted, history = climb.fit(drawn, rows, None, 0)
    if not climb.is_stopped:
        if fitted is not None:
            kept = _ranked(fitted, layout, drawn)[:N_SCREENED]
            fitted = sorted(kept, key=attrgetter("restart"))
        fitted, steps = climb.fit(rows, rows, fitted, rung)
        history += steps
    history.sort(key=attrgetter("restart", "rung", "iteration"))
    return Mixture(layout, _ranked(fitted, layout, rows)[0], tuple(history))


def n_fits(n_rows, settings):
    """Number of fits, the total of the progress bar."""
    is_screened = _is_screened(n_rows, settings)
    return settings.n_restarts + is_screened * min(N_SCREENED, settings.n_restarts)


def _is_screened(n_rows, settings):
    return settings.screening and SCREENING_ROWS * LEAST_STEP <= n_rows


class _Climb:
    """Fit restarts to the rows of one rung after the other."""

    def __init__(self, layout, settings, seeds, callback):
        self.layout, self.settings = layout, settings
        self.seeds, self.callback = seeds, callback
        self.is_stopped = False
        self.begin = time.perf_counter()

    def fit(self, rows, sample, before, rung):
        """Fitted and Steps of one rung, from the Fitted of the one before."""
        settings, layout = self.settings, self.layout
        columns = rows.table.codes, rows.outputs, rows.table.sample_weight
        engine = TableEngine(layout, *columns)
        n_components = int(min(settings.max_components, sample.n_rows))
        if before is None:
            # The statistics of a single component with all rows.
            nothing = np.zeros(1)
            table = np.zeros((layout.n_rows, 1))
            engine.score(Params(table, nothing, nothing, nothing + 1))
            engine.assign(np.zeros((1, 1)))
            average = engine.gather()
            restarts = range(settings.n_restarts)
        else:
            restarts = [fitted.restart for fitted in before]
            settings = replace(settings, schedule=replace(settings.schedule, n_early=0))

        def fit_group(group):
            if before is None:
                starts = self._draw(group, sample, average, n_components, rows.n_rows)
            else:
                starts = _warm_starts([f for f in before if f.restart in group], layout)
            return run(
                engine.share(),
                layout,
                starts,
                settings,
                group,
                self._watch,
                lambda: time.perf_counter() - self.begin,
                rung,
            )

        # As many restarts share a pass as fit in memory: scores, responsibilities and
        # two copies of them; tables, statistics.
        n_bytes = 8 * n_components * (4 * rows.n_rows + 8 * layout.n_rows)
        size = int(np.clip(GROUP_BYTES // n_bytes, 1, len(restarts)))
        groups = [restarts[i : i + size] for i in range(0, len(restarts), size)]
        n_jobs = settings.n_jobs if len(groups) > 1 else 1
        jobs = (delayed(fit_group)(group) for group in groups)
        done = Parallel(n_jobs=n_jobs, prefer="threads")(jobs)
        fitted = sorted(
            (f for part, _ in done for f in part), key=attrgetter("restart")
        )
        return fitted, [step for _, part in done for step in part]

    def _draw(self, group, sample, average, n_components, n_rows):
        """The initial values of the restarts of a group."""
        make, seeds = STARTS[self.settings.init], [self.seeds[i] for i in group]
        starts = [make(self.layout, sample, average, n_components, s) for s in seeds]
        arrays = zip(*(vars(start).values() for start in starts), strict=True)
        params = Params(*(np.concatenate(parts, axis=-1) for parts in arrays))
        if self.settings.draws_all:
            return draw_rest(params, n_rows, seeds, sample.target)
        return params

    def _watch(self, step):
        """Call the callback; once it returns True, all restarts stop."""
        if self.callback is not None and self.callback(step):
            self.is_stopped = True
        return self.is_stopped


def seeded_params(layout, rows, average, n_components, rng):
    """Initial components: rows of the data, mixed with the average row."""
    # Rows drawn by weight, evenly spread over the sorted outputs.
    order = np.argsort(rows.outputs, kind="stable")
    reached = np.cumsum(rows.table.sample_weight[order])
    at = (np.arange(n_components) + rng.random(n_components)) / n_components
    place = np.searchsorted(reached, at * reached[-1], side="right")
    seeds = order[np.minimum(place, len(order) - 1)]
    classes = rows.outputs[seeds] if layout.n_classes else None
    seed = one_hot(layout, rows.table.codes[seeds], classes).toarray().T
    share = average.total / n_components
    bins = share * (SEED_SHARE * seed + (1 - SEED_SHARE) * average.bins / average.total)
    weight = np.full(n_components, share)
    first = second = np.zeros(n_components)
    if not layout.n_classes:
        mean = np.asarray(rows.outputs, dtype=float)[seeds]
        first, second = share * mean, share * (mean**2 + 1.0 - SEED_SHARE)
    return layout.maximize(Statistics(bins, weight, first, second, average.total))


def random_params(layout, rows, average, n_components, rng):
    """Initial components with uniformly drawn probabilities, as in the paper."""
    table = np.zeros((layout.n_rows, n_components))
    for block in layout.blocks:
        eta = rng.uniform(0.01, 0.99, size=(len(block.weight), n_components))
        log_above = block.weight[:, None] * np.log(eta)
        log_below = block.weight[:, None] * np.log1p(-eta)
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


STARTS = {"seeded": seeded_params, "random": random_params}


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
    share = np.array(shares)
    return Starts(params, np.ones(share.shape, bool), share)


def _ranked(fitted, layout, rows):
    """The restarts by training error, then by number of components and bound."""

    def rank(restart):
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

    return sorted(fitted, key=rank)


def _warm_starts(fitted, layout):
    """Initial values from fitted restarts, padded with empty components."""
    widest = max(len(f.statistics.weight) for f in fitted)
    parts, alive, share = [], [], []
    for sums in (f.statistics for f in fitted):
        padding = (0, widest - len(sums.weight))
        arrays = (np.pad(a, padding) for a in (sums.weight, sums.first, sums.second))
        parts.append([np.pad(sums.bins, ((0, 0), padding)), *arrays])
        alive.append(np.arange(widest) < len(sums.weight))
        share.append(np.pad(sums.weight / sums.weight.sum(), padding))
    total = fitted[0].statistics.total
    joined = [np.concatenate(arrays, axis=-1) for arrays in zip(*parts, strict=True)]
    params = layout.maximize(Statistics(*joined, total))
    return Starts(params, np.array(alive), np.array(share))
