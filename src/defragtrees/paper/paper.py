"""The paper's mixture, fitted as an estimator's settings say."""

from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from defragtrees._utils.progress import Progress
from defragtrees._utils.warnings import warn
from defragtrees.data.store import RowStore
from defragtrees.paper.components import ranking, standardisation
from defragtrees.paper.fit import MixtureSettings, fit_mixture, n_fits
from defragtrees.paper.loop import Settings
from defragtrees.paper.posterior import Posterior
from defragtrees.paper.schedules import SCHEDULES

__all__ = ["FittedMixture", "fit_paper"]


@dataclass(frozen=True, eq=False)
class FittedMixture:
    """The kept restart: the one with the smallest training error.

    Parameters
    ----------
    posterior : Posterior
    history : tuple of Step
        Of all restarts.
    restart : int
        Its number.
    n_iter : int
        Its iterations.
    """

    posterior: Posterior
    history: tuple
    restart: int
    n_iter: int


def fit_paper(estimator, problem, rng):
    """Fit all restarts and keep the best.

    Parameters
    ----------
    estimator : DefragClassifier or DefragRegressor
    problem : Problem
    rng : numpy.random.Generator
    """
    center, scale = standardisation(problem)
    rows = RowStore.of_table(
        problem.binned,
        problem.target,
        problem.n_classes,
        problem.sample_weight,
        center,
        scale,
    )
    store = problem.store if problem.is_sample else None
    settings = _settings(estimator)
    with Progress("restarts", n_fits((store or rows).n_rows, settings)) as progress:
        watch = _watcher(estimator, progress)
        mixture = fit_mixture(rows, settings, rng, problem.feature_order, watch, store)
    posteriors = [
        Posterior(mixture.layout, fitted.statistics, problem.grid, center, scale)
        for fitted in mixture.fitted
    ]
    first = ranking(posteriors, mixture.fitted, problem, mixture.losses)[0]
    best = mixture.fitted[first]
    kept = [step for step in mixture.history if step.restart == best.restart]
    # A fit that the callback stopped is as the user wants it.
    if not best.converged and kept[-1].finished:
        warn(
            f"The kept restart did not converge in {estimator.max_iter} iterations; "
            "raise max_iter or tol.",
            ConvergenceWarning,
        )
    _warn_of_units(posteriors[first], settings, problem)
    return FittedMixture(posteriors[first], mixture.history, best.restart, len(kept))


def _warn_of_units(posterior, settings, problem):
    """Say so if all rows are in one component for want of better units of y."""
    weight = posterior.statistics.weight
    is_single = weight.max() > (1 - settings.loop.min_share) * weight.sum()
    could_differ = settings.max_components > 1 and np.ptp(problem.target) > 0
    if not (is_single and could_differ and settings.draws_all):
        return
    warn(
        "All rows are in one component. Random starts of this e_step need a y that is "
        "near 0 and spreads by about 1, as the paper's authors draw means in the units "
        f"of y; its mean is {problem.center:.4g} and its standard deviation "
        f'{problem.spread:.4g}. Standardise y, or use e_step="gentle".',
    )


def _settings(estimator):
    return MixtureSettings(
        max_components=estimator.most_rules(),
        n_restarts=int(estimator.n_restarts),
        statement_weight=estimator.statement_weight,
        init=estimator.init,
        engine=estimator.engine,
        screening=bool(estimator.screening),
        n_jobs=estimator.n_jobs,
        loop=Settings(
            inference=estimator.inference,
            max_iter=int(estimator.max_iter),
            tol=estimator.tol,
            schedule=SCHEDULES[estimator.e_step],
        ),
    )


def _watcher(estimator, progress):
    """The user's callback, with a progress bar before it if there is to be one."""
    callback = estimator.callback
    if not estimator.verbose:
        return callback

    def watch(step):
        if step.finished:
            progress.advance()
        return callback is not None and callback(step)

    return watch
