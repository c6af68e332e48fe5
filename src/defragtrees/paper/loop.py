"""The loop of FAB and EM inference over all restarts side by side.

It holds no array with a row per sample; those stay in the engine. The bound (eq:lb) of
responsibilities that were made under the penalties p_k is

    sum_n log sum_k exp(score_nk - p_k) + sum_k p_k N_k - omega sum_k log(N_k + 1)

since then log beta_nk = score_nk - p_k - (the inner sum). Each inner step with
p_k = omega / (N_k + 1) maximises a lower bound of it that touches it at the old
responsibilities (log is concave), and so does the M-step: the bound never falls except
where a component is dropped. The problem itself is not concave, so the fixed point
depends on the start; every step starts from the responsibilities before it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from defragtrees.paper.levels import Levels, Workspace
from defragtrees.paper.params import Layout, Params, Statistics
from defragtrees.paper.schedules import SCHEDULES, Schedule

__all__ = ["Fitted", "Settings", "Starts", "Step", "run"]

NEGLIGIBLE = 1e-10  # nats a row; less is not worth a visit to all rows


@dataclass(frozen=True)
class Step:
    """What happened in one iteration of one restart.

    Parameters
    ----------
    restart, iteration : int
    objective : float
        The lower bound, in nats.
    n_components : int
    seconds : float
        Since the fit began.
    finished : bool
        Whether this was the last iteration of the restart on these rows.
    rung : int
        Which rows it looked at: 0 for the first sample, or for all rows if there was
        none; see `screening`.
    """

    restart: int
    iteration: int
    objective: float
    n_components: int
    seconds: float
    finished: bool = False
    rung: int = 0


@dataclass(frozen=True)
class Settings:
    """How to run the loop.

    Parameters
    ----------
    inference : {"fab", "em"}
    max_iter : int
    tol : float
        A restart has converged when the bound rises by less, per unit of weight.
    schedule : Schedule
        How many inner steps the E-steps take.
    min_share : float
        The paper's delta: a component with a smaller share of the rows is dropped.
    """

    inference: str = "fab"
    max_iter: int = 200
    tol: float = 1e-5
    schedule: Schedule = SCHEDULES["gentle"]
    min_share: float = 1e-3


@dataclass(frozen=True, eq=False)
class Fitted:
    """One restart at its end.

    Parameters
    ----------
    statistics : Statistics
        Of the components that are left.
    objective : float
    converged : bool
    restart : int
    """

    statistics: Statistics
    objective: float
    converged: bool
    restart: int


@dataclass(frozen=True, eq=False)
class Starts:
    """Where restarts begin that have been fitted to other rows before.

    Parameters
    ----------
    params : Params
        Columns ordered by restart, then by component.
    alive : bool array of shape (n_restarts, n_components)
        Which columns are components.
    share : float array of shape (n_restarts, n_components)
        Their shares of all weight.
    """

    params: Params
    alive: np.ndarray
    share: np.ndarray


def run(
    engine,
    layout,
    starts,
    settings,
    restarts,
    callback=None,
    clock=None,
    rung=0,
):
    """Fit all restarts; returns a list of Fitted and the Steps taken.

    Parameters
    ----------
    engine : Engine
    layout : Layout
    starts : Params or Starts
        Columns of Params ordered by restart, then by component.
    settings : Settings
    restarts : sequence of int
        The numbers of the restarts that stand in the columns.
    callback : callable, optional
        Called with every Step; returning True stops all restarts.
    clock : callable, optional
        Gives the seconds since the fit began.
    rung : int
        Noted in every Step.
    """
    if isinstance(starts, Params):
        shape = (len(restarts), starts.mean.size // len(restarts))
        starts = Starts(starts, np.ones(shape, bool), np.full(shape, 1 / shape[1]))
    state = _State.start(
        starts, layout, settings, restarts, clock or _clock(), engine.total
    )
    state.rung = rung
    state.make_workspace = getattr(engine, "workspace", Workspace)
    while state.running.size and not state.stopped:
        state.iterate(engine, callback)
    return state.finished, state.history


def _clock():
    begin = time.perf_counter()
    return lambda: time.perf_counter() - begin


@dataclass
class _State:
    """Where the running restarts are; finished ones leave."""

    params: Params
    weight: np.ndarray
    alive: np.ndarray
    running: np.ndarray
    objective: np.ndarray
    layout: Layout
    settings: Settings
    clock: Callable[[], float]
    total: float
    finished: list
    history: list
    workspace: Workspace | None = None
    make_workspace: Callable[[Levels, int], Workspace] = Workspace
    iteration: int = 0
    rung: int = 0
    stopped: bool = False

    @classmethod
    def start(cls, starts, layout, settings, restarts, clock, total):
        return cls(
            params=starts.params,
            weight=starts.share * total,
            total=total,
            alive=starts.alive.copy(),
            running=np.asarray(restarts),
            objective=np.full(len(restarts), -np.inf),
            layout=layout,
            settings=settings,
            clock=clock,
            finished=[],
            history=[],
        )

    @property
    def omega(self):
        return self.layout.penalty if self.settings.inference == "fab" else 0.0

    def iterate(self, engine, callback):
        """One E-step, truncation and M-step for every running restart."""
        engine.score(self.params)
        objective, dropped = self._expect(engine)
        statistics = engine.gather()
        self.iteration += 1
        settled = objective - self.objective < self.settings.tol * self.total
        settled &= ~dropped & (self.iteration > self.settings.schedule.n_early)
        self.objective = objective
        ended = settled | (self.iteration >= self.settings.max_iter)
        self._report(ended, callback)
        self._retire(statistics, settled, ended | self.stopped)

    def _expect(self, engine):
        """The E-step: inner steps to the fixed point, then truncation."""
        n_inner = self.settings.schedule.n_steps(self.iteration)
        if self.omega == 0:
            n_inner = 1
        penalty = self._penalty()
        objective = np.full(len(penalty), -np.inf)
        for _ in range(n_inner):
            before = objective
            self.weight, evidence = engine.assign(penalty)
            objective = self._bound(penalty, evidence)
            moving = objective - before >= self.settings.tol * self.total
            moving &= self._could_gain(penalty) > NEGLIGIBLE
            if n_inner == 1 or not moving.any():
                break
            # A restart at its fixed point keeps its penalty and so stays there.
            last, penalty = penalty, np.where(moving[:, None], self._penalty(), penalty)
        else:
            penalty = last
        return self._truncate(engine, penalty, objective)

    def _could_gain(self, penalty):
        """Most nats a row that another inner step can gain.

        The responsibilities are the best ones under `penalty`; to move the penalties
        by numbers within a range r gains at most r**2 / 8 (Hoeffding's lemma).
        """
        change = np.where(self.alive, self._penalty(), 0.0)
        change -= np.where(self.alive, penalty, 0.0)
        low = np.where(self.alive, change, np.inf).min(axis=1)
        high = np.where(self.alive, change, -np.inf).max(axis=1)
        return (high - low) ** 2 / 8

    def _truncate(self, engine, penalty, objective):
        """Drop components with too few rows; the strongest one always stays."""
        gone = self.alive & (self.weight < self.settings.min_share * self.total)
        gone &= self.weight < self.weight.max(axis=1, keepdims=True)
        if self.omega == 0 or not gone.any():
            return objective, np.zeros(len(gone), bool)
        self.alive &= ~gone
        penalty = np.where(self.alive, penalty, np.inf)
        self.weight, evidence = engine.assign(penalty)
        return self._bound(penalty, evidence), gone.any(axis=1)

    def _penalty(self):
        return np.where(self.alive, self.omega / (self.weight + 1), np.inf)

    def _bound(self, penalty, evidence):
        finite = np.where(self.alive, penalty, 0.0)
        price = np.where(self.alive, self.omega * np.log(self.weight + 1), 0.0)
        return evidence + (finite * self.weight - price).sum(axis=1)

    def _report(self, ended, callback):
        seconds = self.clock()
        for i, restart in enumerate(self.running):
            step = Step(
                int(restart),
                self.iteration,
                float(self.objective[i]),
                int(self.alive[i].sum()),
                seconds,
                bool(ended[i]),
                self.rung,
            )
            self.history.append(step)
            if callback is not None and callback(step):
                self.stopped = True

    def _retire(self, statistics, settled, ended):
        """Let restarts that have ended go, and with them the dead components."""
        n_components = self.alive.shape[1]
        for i in np.flatnonzero(ended):
            columns = i * n_components + np.flatnonzero(self.alive[i])
            self.finished.append(
                Fitted(
                    statistics.columns(columns),
                    float(self.objective[i]),
                    bool(settled[i]),
                    int(self.running[i]),
                )
            )
        going = np.flatnonzero(~ended)
        widest = int(self.alive[going].sum(axis=1).max(initial=0))
        if len(going) < len(ended) or widest < n_components:
            # Living components first, in their order; a tail of dead ones is cut off.
            order = np.argsort(~self.alive[going], axis=1, kind="stable")[:, :widest]
            statistics = statistics.columns(
                (going[:, None] * n_components + order).ravel()
            )
            self.alive = np.take_along_axis(self.alive[going], order, axis=1)
            self.weight = np.take_along_axis(self.weight[going], order, axis=1)
            self.objective = self.objective[going]
            self.running = self.running[going]
            self.workspace = None
        if going.size:
            if self.workspace is None:
                self.workspace = self.make_workspace(
                    self.layout.levels, self.alive.size
                )
            self.params = self.layout.maximize(statistics, self.workspace)
