"""Fit the mixture: layout, starts, restarts in groups, and the choice among them."""

import time
from dataclasses import dataclass, field

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from defragtrees.bins import Binned
from defragtrees.mixture.engines import make_engine
from defragtrees.mixture.loop import Fitted, Settings, Step, run
from defragtrees.mixture.params import Layout, Params, make_layout
from defragtrees.mixture.starts import STARTS

__all__ = ["Mixture", "MixtureSettings", "Rows", "fit_mixture"]

GROUP_BYTES = 24_000_000  # about what the arrays of one group of restarts may take


@dataclass(frozen=True, eq=False)
class Rows:
    """Training rows as the mixture sees them.

    Parameters
    ----------
    binned : Binned
    target : array of shape (n_samples,)
        Class numbers, or standardised outputs.
    n_classes : int
        0 for regression.
    sample_weight : array of shape (n_samples,)
    """

    binned: Binned
    target: np.ndarray
    n_classes: int
    sample_weight: np.ndarray

    def some(self, rows):
        """Some of the rows, in their order."""
        rows = np.sort(rows)
        return Rows(
            self.binned[rows],
            self.target[rows],
            self.n_classes,
            self.sample_weight[rows],
        )

    @property
    def codes(self):
        """Bin numbers, (n_samples, n_features)."""
        return self.binned.codes


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
    n_jobs : int or None
    loop : Settings
    """

    max_components: int = 10
    n_restarts: int = 20
    statement_weight: str | float = 3.0
    init: str = "seeded"
    engine: str = "numpy"
    n_jobs: int | None = None
    loop: Settings = field(default_factory=Settings)


@dataclass(frozen=True, eq=False)
class Mixture:
    """The fitted restarts of one problem.

    Parameters
    ----------
    layout : Layout
    fitted : tuple of Fitted
        By number of the restart.
    history : tuple of Step
    """

    layout: Layout
    fitted: tuple[Fitted, ...]
    history: tuple[Step, ...]


def fit_mixture(rows, settings, rng, order=None, callback=None):
    """Run all restarts; the result does not depend on `n_jobs`.

    Parameters
    ----------
    rows : Rows
    settings : MixtureSettings
    rng : numpy.random.Generator
    order : sequence of int, optional
        The order in which features are added up; as in the grid by default.
    callback : callable, optional
        Called with every Step; returning True stops the fit.
    """
    layout = make_layout(rows.binned, rows.n_classes, settings.statement_weight, order)
    engine = make_engine(
        settings.engine, layout, rows.codes, rows.target, rows.sample_weight
    )
    n_components = int(min(settings.max_components, len(rows.target)))
    average = _average(engine, layout)
    seeds = rng.spawn(settings.n_restarts)
    begin = time.perf_counter()

    def fit_group(group):
        starts = [
            STARTS[settings.init](layout, rows, average, n_components, seeds[i])
            for i in group
        ]
        return run(
            engine.share(),
            layout,
            _side_by_side(starts),
            settings.loop,
            group,
            callback,
            lambda: time.perf_counter() - begin,
        )

    groups = _groups(layout, len(rows.target), n_components, settings.n_restarts)
    jobs = (delayed(fit_group)(group) for group in groups)
    done = Parallel(n_jobs=settings.n_jobs, prefer="threads")(jobs)
    fitted = sorted((f for part, _ in done for f in part), key=lambda f: f.restart)
    history = sorted(
        (s for _, part in done for s in part), key=lambda s: (s.restart, s.iteration)
    )
    return Mixture(layout, tuple(fitted), tuple(history))


def _average(engine, layout):
    """Statistics of a single component that holds every row."""
    one = np.zeros(1)
    engine.score(Params(np.zeros((layout.n_rows, 1)), one, one, one + 1))
    engine.assign(np.zeros((1, 1)))
    return engine.gather()


def _groups(layout, n_rows, n_components, n_restarts):
    """Restarts that share one pass over the rows; as many as fit in memory."""
    # Scores, responsibilities and two copies of them; tables, statistics, work space.
    one = 8 * n_components * (4 * n_rows + 8 * layout.n_rows)
    size = int(np.clip(GROUP_BYTES // one, 1, n_restarts))
    return [range(i, min(i + size, n_restarts)) for i in range(0, n_restarts, size)]


def _side_by_side(starts):
    return Params(
        np.hstack([start.table for start in starts]),
        np.concatenate([start.log_weight for start in starts]),
        np.concatenate([start.mean for start in starts]),
        np.concatenate([start.precision for start in starts]),
    )
