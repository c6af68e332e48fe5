"""The loop of FAB and EM inference over all restarts in parallel.

Arrays with one row per sample stay in the engine. The bound (eq:lb) of responsibilities
computed with the penalties p_k is

    sum_n log sum_k exp(score_nk - p_k) + sum_k p_k N_k - omega sum_k log(N_k + 1)

since then log beta_nk = score_nk - p_k - (the inner sum). Each inner step with
p_k = omega / (N_k + 1) maximises a lower bound of it that touches it at the old
responsibilities (log is concave), and so does the M-step: the bound never falls except
where a component is dropped. The problem is not concave, so the fixed point depends on
the start.
"""

import time
from dataclasses import dataclass

import numpy as np

from defragtrees.paper.parameters import Params, Statistics

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
        for i, restart in enumerate(self.restarts):
            step = Step(
                int(restart),
                self.iteration,
                float(self.objective[i]),
                int(self.alive[i].sum()),
                seconds,
                bool(ended[i]),
            )
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
