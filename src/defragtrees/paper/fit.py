"""Fit the mixture: initial values, groups of restarts, and iterations of FAB and EM.

Arrays with one row per sample stay in the engine, `TableEngine`. The bound (eq:lb) of
responsibilities computed with the penalties p_k is

    sum_n log sum_k exp(score_nk - p_k) + sum_k p_k N_k - omega sum_k log(N_k + 1)

since then log beta_nk = score_nk - p_k - (the inner sum). Each inner step with
p_k = omega / (N_k + 1) maximises a lower bound of it that touches it at the old
responsibilities (log is concave), and so does the M-step: the bound never falls except
where a component is dropped. The problem is not concave, so the fixed point depends on
the start.
"""

import time
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np
from scipy import sparse
from sklearn.utils.parallel import Parallel, delayed

from defragtrees._utils.values import round_significant
from defragtrees.paper.parameters import Layout, Params, Posterior, Statistics

GROUP_BYTES = 24_000_000  # approximate limit for the arrays of a group of restarts
MOST_DRAWN = 1000  # rows whose responsibilities are drawn
# Larger units and distances would change no start, but overflow float32.
LEAST_SCALE, MOST_SCALE = 1e-12, 1e5
FARTHEST = 1e12
LOWEST_LOG = -690.0  # exp of less underflows, which is slow
NEGLIGIBLE = 1e-10  # nats per row; less is not worth a pass over all rows


@dataclass(frozen=True)
class Schedule:
    """Maximum number of inner steps of an E-step, at the beginning and later.

    An E-step ends earlier if another step would not raise the bound. Each inner step
    shrinks components with few rows. Early on, no component has found its rows, so more
    inner steps in the first iterations leave fewer components.
    """

    n_early: int  # iterations that are the beginning; no restart ends in them
    early_steps: int
    late_steps: int
    # Whether random starts draw proportions, precisions and responsibilities too, and
    # means in the units of y, as the paper's authors do; else the first three are the
    # same for all components, and means are those of the standardised y.
    draws_all: bool = False

    def n_steps(self, iteration):
        """Maximum number of inner steps of an iteration; iterations count from 0."""
        return self.early_steps if iteration < self.n_early else self.late_steps


SCHEDULES = {
    # One step, until random starts have found their rows.
    "gentle": Schedule(3, 1, 10),
    # As in the published code of the paper's authors.
    "original": Schedule(5, 2, 10, draws_all=True),
    # As in the paper; a hundred steps leave as many components as thirty.
    "converged": Schedule(0, 0, 30, draws_all=True),
}


@dataclass(frozen=True)
class Step:
    """A record of one iteration of one restart."""

    restart: int
    iteration: int
    objective: float  # the lower bound, in nats
    n_components: int
    seconds: float  # since the fit began
    finished: bool = False  # the last iteration of the restart on these rows


@dataclass(frozen=True)
class Settings:
    """Settings of the mixture; the last three are used by `fit`, not by the loop."""

    inference: str = "fab"  # or "em"
    max_iter: int = 200
    tol: float = 1e-5  # a restart has converged when the bound rises by less, by weight
    schedule: Schedule = SCHEDULES["gentle"]
    min_share: float = 1e-3  # the paper's delta: a smaller component is dropped
    max_components: int = 10  # the paper's K_max; with EM the number of components
    n_restarts: int = 20
    n_jobs: int | None = None


@dataclass(frozen=True, eq=False)
class Fitted:
    """A finished restart, with the statistics of its remaining components."""

    statistics: Statistics
    objective: float
    converged: bool
    restart: int


@dataclass(frozen=True, eq=False)
class Starts:
    """Initial values of restarts with different shares of components."""

    params: Params  # columns ordered by restart, then by component
    share: np.ndarray  # (n_restarts, n_components), of all weight


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


# The iterations of the restarts of a group, in parallel.


def run(engine, layout, starts, settings, restarts, callback=None, begin=None):
    """Fit all restarts; returns a list of Fitted and the Steps taken.

    `starts` are Params or Starts, `restarts` the numbers of the restarts in their
    columns. `callback` is called with every Step; returning True stops all restarts.
    `clock` returns the seconds since the fit began.
    """
    if isinstance(starts, Params):
        shape = (len(restarts), starts.mean.size // len(restarts))
        starts = Starts(starts, np.full(shape, 1 / shape[1]))
    begin = time.perf_counter() if begin is None else begin
    running = _Running(engine, layout, starts, settings, restarts, begin)
    while running.restarts.size and not running.stopped:
        running.iterate(callback)
    return running.finished, running.history


class _Running:
    """The state of the restarts that have not finished."""

    def __init__(self, engine, layout, starts, settings, restarts, begin):
        self.engine, self.layout, self.settings = engine, layout, settings
        self.begin = begin
        self.total = engine.total
        self.omega = layout.penalty if settings.inference == "fab" else 0.0
        self.params = starts.params
        self.weight = starts.share * self.total
        self.alive = np.ones(starts.share.shape, bool)
        self.restarts = np.asarray(restarts)
        self.objective = np.full(len(restarts), -np.inf)
        self.finished, self.history = [], []
        self.iteration, self.stopped = 0, False

    def iterate(self, callback):
        """One E-step, truncation and M-step for every running restart."""
        self.engine.score(self.params)
        objective, dropped = self._expect()
        statistics = self.engine.gather()
        self.iteration += 1
        settled = objective - self.objective < self.settings.tol * self.total
        settled &= ~dropped & (self.iteration > self.settings.schedule.n_early)
        self.objective = objective
        ended = settled | (self.iteration >= self.settings.max_iter)
        self._report(ended, callback)
        self._retire(statistics, settled, ended | self.stopped)

    def _expect(self):
        """The E-step: inner steps to the fixed point, then truncation."""
        n_inner = self.settings.schedule.n_steps(self.iteration)
        if self.omega == 0:
            n_inner = 1
        penalty = self._penalty()
        objective = np.full(len(penalty), -np.inf)
        for _ in range(n_inner):
            before = objective
            self.weight, evidence = self.engine.assign(penalty)
            objective = self._bound(penalty, evidence)
            moving = objective - before >= self.settings.tol * self.total
            moving &= self._could_gain(penalty) > NEGLIGIBLE
            if n_inner == 1 or not moving.any():
                break
            # A restart at its fixed point keeps its penalty.
            last, penalty = penalty, np.where(moving[:, None], self._penalty(), penalty)
        else:
            penalty = last
        return self._truncate(penalty, objective)

    def _could_gain(self, penalty):
        """Maximum number of nats per row that another inner step can gain.

        The responsibilities are optimal for `penalty`; changing the penalties within a
        range r gains at most r**2 / 8 (Hoeffding's lemma).
        """
        change = np.where(self.alive, self._penalty(), 0.0)
        change -= np.where(self.alive, penalty, 0.0)
        low = np.where(self.alive, change, np.inf).min(axis=1)
        high = np.where(self.alive, change, -np.inf).max(axis=1)
        return (high - low) ** 2 / 8

    def _truncate(self, penalty, objective):
        """Drop components with too few rows; the strongest one always stays."""
        gone = self.alive & (self.weight < self.settings.min_share * self.total)
        gone &= self.weight < self.weight.max(axis=1, keepdims=True)
        if self.omega == 0 or not gone.any():
            return objective, np.zeros(len(gone), bool)
        self.alive &= ~gone
        penalty = np.where(self.alive, penalty, np.inf)
        self.weight, evidence = self.engine.assign(penalty)
        return self._bound(penalty, evidence), gone.any(axis=1)

    def _penalty(self):
        return np.where(self.alive, self.omega / (self.weight + 1), np.inf)

    def _bound(self, penalty, evidence):
        finite = np.where(self.alive, penalty, 0.0)
        price = np.where(self.alive, self.omega * np.log(self.weight + 1), 0.0)
        return evidence + (finite * self.weight - price).sum(axis=1)

    def _report(self, ended, callback):
        seconds = time.perf_counter() - self.begin
        columns = self.restarts, self.objective, self.alive.sum(axis=1), ended
        lists = (column.tolist() for column in columns)
        for restart, objective, n_alive, is_last in zip(*lists, strict=True):
            facts = restart, self.iteration, objective, n_alive, seconds, is_last
            step = Step(*facts)
            self.history.append(step)
            if callback is not None and callback(step):
                self.stopped = True

    def _retire(self, statistics, settled, ended):
        """Remove finished restarts, and dropped components."""
        n_components = self.alive.shape[1]
        for i in np.flatnonzero(ended):
            columns = i * n_components + np.flatnonzero(self.alive[i])
            kept = statistics.columns(columns)
            objective, restart = float(self.objective[i]), int(self.restarts[i])
            self.finished.append(Fitted(kept, objective, bool(settled[i]), restart))
        going = np.flatnonzero(~ended)
        widest = int(self.alive[going].sum(axis=1).max(initial=0))
        if len(going) < len(ended) or widest < n_components:
            # Remaining components first, in order; dropped ones at the end are cut off.
            order = np.argsort(~self.alive[going], axis=1, kind="stable")[:, :widest]
            statistics = statistics.columns(
                (going[:, None] * n_components + order).ravel()
            )
            self.alive = np.take_along_axis(self.alive[going], order, axis=1)
            self.weight = np.take_along_axis(self.weight[going], order, axis=1)
            self.objective = self.objective[going]
            self.restarts = self.restarts[going]
        if going.size:
            self.params = self.layout.maximize(statistics)


class TableEngine:
    """The E-step on rows in memory: codes, class indices or standardised outputs.

    A row is a line of a sparse matrix S with a one in the column of each of its bins
    and of its class: scoring is `S @ table`, gathering `S.T @ responsibilities`.
    """

    def __init__(self, layout, codes, target, sample_weight):
        self.sample_weight = sample_weight
        self.total = float(sample_weight.sum())
        self.target = None if layout.n_classes else np.asarray(target, dtype=float)
        self.onehot = one_hot(layout, codes, target if layout.n_classes else None)
        self.onehot_t = self.onehot.T.tocsr()
        self.scores = None
        self.responsibilities = None

    def share(self):
        """Another engine on the same rows, for another thread."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, scores=None, responsibilities=None)
        return twin

    def score(self, params):
        """Compute log p(row, component): (n_columns, n_samples), kept."""
        shape = (params.table.shape[1], self.onehot.shape[0])
        if self.scores is None or self.scores.shape != shape:
            self.scores = np.empty(shape)
            self.responsibilities = np.empty(shape)
        scores = self.scores
        scores.T[:] = self.onehot @ np.ascontiguousarray(params.table)
        scores += params.log_weight[:, None]
        if self.target is not None:
            residual = self.target - params.mean[:, None]
            scores -= 0.5 * params.precision[:, None] * residual**2
            scores += 0.5 * np.log(params.precision / (2 * np.pi))[:, None]

    def assign(self, penalty):
        """Compute responsibilities ∝ exp(score - penalty) within each restart.

        `penalty` has the shape (n_restarts, n_components), and is infinite for dropped
        components. Returns sums over the rows: the weight of each component, and log
        sum_k exp(score - penalty) of each restart.
        """
        shape = (*penalty.shape, -1)
        work = self.responsibilities.reshape(shape)
        np.subtract(self.scores.reshape(shape), penalty[:, :, None], out=work)
        evidence = normalise(work)
        return work @ self.sample_weight, evidence @ self.sample_weight

    def gather(self):
        """Statistics of the responsibilities of the last call of `assign`."""
        weighted = np.multiply(self.responsibilities, self.sample_weight).T
        bins = self.onehot_t @ np.ascontiguousarray(weighted)
        if self.target is None:
            first = second = np.zeros(weighted.shape[1])
        else:
            first = self.target @ weighted
            second = self.target**2 @ weighted
        return Statistics(bins, weighted.sum(axis=0), first, second, self.total)


def normalise(scores):
    """Turn scores, (n_restarts, n_components, n_samples), into responsibilities.

    Returns log sum_k exp(score) of each restart and row.
    """
    largest = scores.max(axis=1, keepdims=True)
    scores -= largest
    np.maximum(scores, LOWEST_LOG, out=scores)
    np.exp(scores, out=scores)
    total = scores.sum(axis=1, keepdims=True)
    scores /= total
    return np.log(total, out=total)[:, 0] + largest[:, 0]


def one_hot(layout, codes, classes=None):
    """The rows as a sparse one-hot matrix: one entry per block and for the class."""
    n_rows, n_blocks = len(codes), len(layout.blocks)
    width = n_blocks + (classes is not None)
    kind = np.int32 if n_rows * width < 2**31 else np.int64
    columns = np.empty((n_rows, width), dtype=kind)
    for i, block in enumerate(layout.blocks):
        # Codes are sorted, with the missing one last.
        place = np.searchsorted(block.codes, codes[:, block.feature])
        columns[:, i] = block.rows.start + place
    if classes is not None:
        columns[:, -1] = np.asarray(classes) + layout.class_start
    ends = np.arange(n_rows + 1, dtype=kind) * kind(width)
    return sparse.csr_matrix(
        (np.ones(n_rows * width), columns.ravel(), ends), shape=(n_rows, layout.n_rows)
    )
