"""The options of a method, and the estimator that they make."""

import contextlib
import difflib
import functools
from dataclasses import dataclass

import click

from defragtrees.cli._command import NAMES
from defragtrees.cli._progress import ticking
from defragtrees.methods import METHODS, estimator_for
from defragtrees.tables import listed

__all__ = ["Choices", "fit", "method_options", "settings_of"]


@dataclass(frozen=True)
class Choices:
    """What the user says of the method; the options of the same names.

    Parameters
    ----------
    method : str
        A key of METHODS.
    max_rules, max_conditions : int, optional
    features : tuple of str, optional
    target_is : {"ensemble", "labels"}, optional
    seed : int
    jobs : int, optional
    """

    method: str = "defrag"
    max_rules: int | None = None
    max_conditions: int | None = None
    features: tuple[str, ...] | None = None
    target_is: str | None = None
    seed: int = 0
    jobs: int | None = None


OPTIONS = {
    "method": click.option(
        "--method",
        type=click.Choice(list(METHODS)),
        default="defrag",
        show_default=True,
        help="Who finds the rules.",
    ),
    "max_rules": click.option(
        "--max-rules",
        type=click.IntRange(min=1),
        metavar="N",
        help="Most rules, the last otherwise included. [default: the method's own]",
    ),
    "max_conditions": click.option(
        "--max-conditions",
        type=click.IntRange(min=1),
        metavar="N",
        help="Most conditions of one rule.",
    ),
    "features": click.option(
        "--features",
        type=NAMES,
        metavar="A,B,...",
        help="Features that rules may use. [default: all]",
    ),
    "target_is": click.option(
        "--target-is",
        type=click.Choice(["ensemble", "labels"]),
        help="What the rules imitate: the model's answers, or the target column. "
        "[default: the method's own; ensemble for defrag]",
    ),
    "seed": click.option(
        "--seed",
        type=click.IntRange(min=0, max=2**32 - 1),
        metavar="N",
        default=0,
        help="The same seed gives the same rules. [default: 0]",
    ),
    "jobs": click.option(
        "--jobs",
        type=int,
        metavar="N",
        help="Threads; -1 means all cores. [default: 1]",
    ),
}


def method_options(*without):
    """The options of a method, passed as `choices`; some may be left out."""

    def decorate(function):
        names = [name for name in OPTIONS if name not in without]

        @functools.wraps(function)
        def with_choices(**options):
            choices = Choices(**{name: options.pop(name) for name in names})
            return function(choices=choices, **options)

        for name in reversed(names):
            with_choices = OPTIONS[name](with_choices)
        return with_choices

    return decorate


def settings_of(choices, forest, has_target):
    """The choices as settings of the method's estimator.

    Parameters
    ----------
    choices : Choices
    forest : Forest
    has_target : bool
        Whether there is a y.

    Returns
    -------
    kind : class
    settings : dict
    """
    kind = estimator_for(choices.method, forest.outcome)
    defaults = kind().get_params(deep=False)
    asked = {
        "max_rules": choices.max_rules,
        "max_conditions": choices.max_conditions,
        "features": _checked(choices.features, forest.feature_names),
        "target": choices.target_is,
        "random_state": choices.seed,
        "n_jobs": choices.jobs,
    }
    settings = {name: value for name, value in asked.items() if value is not None}
    for name in ("max_rules", "max_conditions", "features"):
        if name in settings and name not in defaults:
            raise click.UsageError(
                f"--{name.replace('_', '-')} is not for --method {choices.method}."
            )
    if {**defaults, **settings}["target"] == "labels" and not has_target:
        raise click.UsageError(
            f"--method {choices.method} learns from the labels here, so it needs "
            "--target."
        )
    return kind, settings


def _checked(features, names):
    for name in features or ():
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            guess = f"did you mean {near[0]!r}?" if near else f"it has {listed(names)}."
            raise click.UsageError(
                f"--features names {name!r}, which the model does not have; {guess}"
            )
    return None if features is None else list(features)


def fit(choices, loaded):
    """The method of the user's choice, fitted to rows, with progress on the way."""
    kind, settings = settings_of(choices, loaded.forest, loaded.y is not None)
    estimator = kind(loaded.forest, **settings)
    with watching(estimator.get_params(deep=False)) as callback:
        if callback is not None:
            estimator.set_params(callback=callback)
        estimator.fit(*loaded.rows)
    if callback is not None:
        # It is the command's own, and no setting to show in a report.
        estimator.set_params(callback=None)
    return estimator


@contextlib.contextmanager
def watching(settings):
    """A callback for a method that can say how far it is, else None.

    Parameters
    ----------
    settings : dict
        All parameters of the estimator.
    """
    n_restarts = settings.get("n_restarts", 1)
    with ticking("simplifying", n_restarts) as progress:

        def watch(step):
            if step.finished:
                progress.advance()
            if progress.done >= n_restarts:
                # What comes now cannot say how far it is.
                progress.label, progress.done = "refining", 0
            return False

        yield watch if "callback" in settings else None
