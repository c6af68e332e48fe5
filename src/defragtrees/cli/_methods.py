"""The options of a method, and the estimator that they make."""

import contextlib

import click

from defragtrees.cli._columns import nearest
from defragtrees.cli._command import NAMES, gather
from defragtrees.cli._progress import ticking
from defragtrees.methods import METHODS, estimator_for

__all__ = ["fit", "method_options", "settings_of"]


# By the names of the settings that they are; "target" is a column here.
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
    "random_state": click.option(
        "--seed",
        "random_state",
        type=click.IntRange(min=0, max=2**32 - 1),
        metavar="N",
        default=0,
        help="The same seed gives the same rules. [default: 0]",
    ),
    "n_jobs": click.option(
        "--jobs",
        "n_jobs",
        type=int,
        metavar="N",
        help="Threads; -1 means all cores. [default: 1]",
    ),
}


def method_options(*without):
    """The options of a method, passed as the dict `choices`; some may be left out."""
    options = {name: OPTIONS[name] for name in OPTIONS if name not in without}
    return gather(dict, "choices", options)


def settings_of(choices, forest, has_target):
    """The estimator's class, and the choices as its settings."""
    method = choices.get("method", "defrag")
    kind = estimator_for(method, forest.outcome)
    defaults = kind().get_params(deep=False)
    settings = {name: value for name, value in choices.items() if value is not None}
    settings.pop("method", None)
    if "target_is" in settings:
        settings["target"] = settings.pop("target_is")
    for name in ("max_rules", "max_conditions", "features"):
        if name in settings and name not in defaults:
            raise click.UsageError(
                f"--{name.replace('_', '-')} is not for --method {method}."
            )
    if "features" in settings:
        settings["features"] = list(settings["features"])
    for name in settings.get("features", ()):
        if name not in forest.feature_names:
            raise click.UsageError(
                f"--features names {name!r}, which the model does not have; "
                f"{nearest(name, forest.feature_names)}"
            )
    if {**defaults, **settings}["target"] == "labels" and not has_target:
        raise click.UsageError(
            f"--method {method} learns from the labels here, so it needs --target."
        )
    return kind, settings


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
    """A callback for a method that can say how far it is, else None."""
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
