"""What a report says of the ensemble: its name, its library, its size."""

import os
from dataclasses import dataclass
from typing import Any

from sklearn.frozen import FrozenEstimator

from defragtrees.ensembles.forest import Forest

__all__ = ["Ensemble", "describe_ensemble"]

# The names of distributions differ from those of what they install.
DISTRIBUTIONS = {"sklearn": "scikit-learn"}
PACKAGES = ("xgboost", "lightgbm", "catboost", "sklearn")


@dataclass(frozen=True)
class Ensemble:
    """The ensemble that was simplified."""

    fitted: Any  # as it was given
    name: str
    package: str  # what it is imported from
    library: str | None  # what that is installed as; None for a file and a Forest
    n_trees: int
    n_leaves: int
    origin: str = ""  # how splits were found, if it was asked and not read


def describe_ensemble(simplifier, name=None):
    """The ensemble of a fitted simplifier, out of scikit-learn's FrozenEstimator.

    Parameters
    ----------
    simplifier : Simplifier
        Fitted.
    name : str, optional
        What it is called; by default its class.
    """
    given = name
    fitted = simplifier.ensemble_
    if isinstance(fitted, FrozenEstimator):
        fitted = fitted.estimator
    package = _package(fitted)
    name, library = type(fitted).__name__, DISTRIBUTIONS.get(package, package)
    if isinstance(fitted, str | os.PathLike):
        name, library = f"the model in {os.path.basename(os.fspath(fitted))}", None
    elif isinstance(fitted, Forest):
        name, library = "the ensemble", None
    trees = simplifier.forest_.trees
    n_leaves = sum(int((tree.feature < 0).sum()) for tree in trees)
    origin = simplifier.forest_.origin
    if origin:
        name = getattr(fitted, "__name__", name)
    name = str(given or name)
    return Ensemble(fitted, name, package, library, len(trees), n_leaves, origin)


def _package(fitted):
    """The library that an ensemble is of, also where somebody made a subclass."""
    packages = [kind.__module__.split(".")[0] for kind in type(fitted).__mro__]
    return next((name for name in packages if name in PACKAGES), packages[0])
