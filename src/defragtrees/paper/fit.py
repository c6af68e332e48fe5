"""Fit the mixture: layout, starts, restarts in groups, and the choice among them."""

import time
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from defragtrees.paper.engines import make_engine
from defragtrees.paper.halving import best_of, training_losses, warm_starts
from defragtrees.paper.loop import Fitted, Settings, Step, run
from defragtrees.paper.params import Layout, Params, make_layout
from defragtrees.paper.starts import STARTS, draw_rest

__all__ = ["Mixture", "MixtureSettings", "fit_mixture", "n_fits"]

GROUP_BYTES = 24_000_000  # about what the arrays of one group of restarts may take

# Rows of a sample, and how many restarts go on from it to more rows.
RUNGS = ((12_500, 5), (50_000, 2))
LEAST_STEP = 4  # a rung is left out if the last one has fewer times its rows


@dataclass(frozen=True)
class MixtureSettings:
    """How to fit the mixture.

    Parameters
    ----------
    max_components : int
        The paper's K_max; with EM the number of components.
    n_restarts : int
    statement_weight : "paper" or float
    init : {"seeded", "random"}
    engine : str
    screening : bool
        Whether restarts that do badly on a sample of the rows are given up.
    n_jobs : int or None
    loop : Settings
    """

    max_components: int = 10
    n_restarts: int = 20
    statement_weight: str | float = 3.0
    init: str = "seeded"
    engine: str = "numpy"
    screening: bool = False
    n_jobs: int | None = None
    loop: Settings = field(default_factory=Settings)

    @property
    def draws_all(self):
        """Whether restarts begin as those of the paper's authors, in the units of y."""
        return self.init == "random" and self.loop.schedule.draws_all


@dataclass(frozen=True, eq=False)
class Mixture:
    """The fitted restarts of one problem.

    Parameters
    ----------
    layout : Layout
    fitted : tuple of Fitted
        By number of the restart.
    history : tuple of Step
    losses : array of shape (n_fitted,), optional
        Training loss of each on all rows, where the rows are in shards.
    """

    layout: Layout
    fitted: tuple[Fitted, ...]
    history: tuple[Step, ...]
    losses: np.ndarray | None = None


def fit_mixture(rows, settings, rng, order=None, callback=None, store=None):
    """Run all restarts; the result does not depend on `n_jobs`.

    With screening they are given up by successive halving: all of them are fitted to a
    few rows, the best of these go on to more rows from where they were, and so on to
    all rows.

    Parameters
    ----------
    rows : RowStore
        A table in memory.
    settings : MixtureSettings
    rng : numpy.random.Generator
    order : sequence of int, optional
        The order in which features are added up; as in the grid by default.
    callback : callable, optional
        Called with every Step; returning True stops the fit.
    store : RowStore, optional
        All rows, of which `rows` are a sample.
    """
    every = rows if store is None else store
    layout = make_layout(
        every.grid, every.counts, rows.n_classes, settings.statement_weight, order
    )
    climb = _Climb(layout, settings, rng.spawn(settings.n_restarts), callback, every)
    fitted, history = None, []
    for rung, (own, n_kept) in enumerate(_ladder(rows, every, settings, rng)):
        fitted, steps = climb.fit(own, rows, fitted, rung)
        history += steps
        if climb.is_stopped:
            break
        if n_kept is not None:
            fitted = best_of(fitted, layout, own, n_kept)
    history.sort(key=lambda step: (step.restart, step.rung, step.iteration))
    losses = None
    if store is not None:
        losses = training_losses(climb.engine, layout, fitted)
    return Mixture(layout, tuple(fitted), tuple(history), losses)


def n_fits(n_rows, settings):
    """How many restarts finish on any rung: what a progress bar adds up to."""
    kept = [n for size, n in RUNGS if _is_below(size, n_rows)]
    if not settings.screening:
        kept = []
    return settings.n_restarts + sum(min(n, settings.n_restarts) for n in kept)


def _is_below(size, n_rows):
    return size * LEAST_STEP <= n_rows


def _ladder(rows, every, settings, rng):
    """Rows of each rung, and how many restarts go on from it; None for the last."""
    if settings.screening:
        for size, n_kept in RUNGS:
            if _is_below(size, every.n_rows):
                yield rows.take(rng.choice(rows.n_rows, size, replace=False)), n_kept
    yield every, None


class _Climb:
    """Fits restarts to the rows of one rung after the other."""

    def __init__(self, layout, settings, seeds, callback, every):
        self.every = every
        self.layout = layout
        self.settings = settings
        self.seeds = seeds
        self.callback = callback
        self.is_stopped = False
        self.engine = None
        self.begin = time.perf_counter()

    def fit(self, rows, sample, before, rung):
        """Fitted and Steps of one rung, from the Fitted of the one before."""
        settings, layout = self.settings, self.layout
        self.engine = engine = make_engine(self.engine_name(rows), layout, rows)
        n_components = int(min(settings.max_components, sample.n_rows))
        loop = settings.loop
        if before is None:
            average = _average(engine, layout)
            restarts = range(settings.n_restarts)
        else:
            restarts = [fitted.restart for fitted in before]
            loop = replace(loop, schedule=loop.schedule.without_beginning())

        def fit_group(group):
            if before is None:
                starts = self.draw(group, sample, average, n_components, rows.n_rows)
            else:
                starts = warm_starts([f for f in before if f.restart in group], layout)
            return run(
                engine.share(),
                layout,
                starts,
                loop,
                group,
                self.watch,
                lambda: time.perf_counter() - self.begin,
                rung,
            )

        size = len(restarts)
        if not engine.takes_all_restarts:
            size = _group_size(layout, rows.n_rows, n_components, size)
        groups = [restarts[i : i + size] for i in range(0, len(restarts), size)]
        n_jobs = settings.n_jobs if len(groups) > 1 else 1
        jobs = (delayed(fit_group)(group) for group in groups)
        done = Parallel(n_jobs=n_jobs, prefer="threads")(jobs)
        fitted = sorted((f for part, _ in done for f in part), key=lambda f: f.restart)
        return fitted, [step for _, part in done for step in part]

    def engine_name(self, rows):
        """The engine for the rows of a rung; devices of workers have no samples."""
        name = self.settings.engine
        is_sample = rows.table is not None and not self.every.shards.is_here
        return "auto" if name == "cuda" and is_sample else name

    def draw(self, group, sample, average, n_components, n_rows):
        """Where the restarts of a group begin."""
        make, seeds = STARTS[self.settings.init], [self.seeds[i] for i in group]
        starts = _side_by_side(
            make(self.layout, sample, average, n_components, seed) for seed in seeds
        )
        if self.settings.draws_all:
            return draw_rest(starts, n_rows, seeds, sample.target)
        return starts

    def watch(self, step):
        """Show a step to the callback; once it says so, all restarts stop."""
        if self.callback is not None and self.callback(step):
            self.is_stopped = True
        return self.is_stopped


def _average(engine, layout):
    """Statistics of a single component that holds every row."""
    one = np.zeros(1)
    engine.score(Params(np.zeros((layout.n_rows, 1)), one, one, one + 1))
    engine.assign(np.zeros((1, 1)))
    return engine.gather()


def _group_size(layout, n_rows, n_components, n_restarts):
    """How many restarts share one pass over the rows; as many as fit in memory."""
    # Scores, responsibilities and two copies of them; tables, statistics, work space.
    one = 8 * n_components * (4 * n_rows + 8 * layout.n_rows)
    return int(np.clip(GROUP_BYTES // one, 1, n_restarts))


def _side_by_side(starts):
    starts = list(starts)
    return Params(
        np.hstack([start.table for start in starts]),
        np.concatenate([start.log_weight for start in starts]),
        np.concatenate([start.mean for start in starts]),
        np.concatenate([start.precision for start in starts]),
    )
