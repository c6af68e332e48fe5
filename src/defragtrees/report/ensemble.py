"""Facts about the ensemble and the fit: names, importance, settings, versions."""

import os
import platform
import sys
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from defragtrees._version import __version__
from defragtrees.ensembles.forest import Forest
from defragtrees.report.text import setting_text

# Names of distributions that differ from their module.
DISTRIBUTIONS = {"sklearn": "scikit-learn"}
LIBRARIES = ("xgboost", "lightgbm", "catboost", "sklearn")
PACKAGES = ("numpy", "scipy", "scikit-learn")
# Settings that only concern progress messages.
WATCHING = ("callback", "verbose")
FEWEST_FEATURES = 5  # number of features shown if the rules use fewer than two


@dataclass(frozen=True)
class Ensemble:
    """The ensemble that was simplified."""

    fitted: Any  # as given
    name: str
    package: str  # its top-level module
    library: str | None  # name of its distribution; None for a file or a Forest
    n_trees: int
    n_leaves: int
    origin: str = ""  # how splits were found, if the model was queried and not read


def describe_ensemble(simplifier, name=None):
    """Describe the ensemble of a fitted simplifier, also inside a FrozenEstimator."""
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
    """The library of an ensemble, also for subclasses."""
    packages = [kind.__module__.split(".")[0] for kind in type(fitted).__mro__]
    return next((name for name in packages if name in LIBRARIES), packages[0])


@dataclass(frozen=True, eq=False)
class FeatureUse:
    """Use of each feature in the rules, and its importance in the ensemble."""

    n_rules: np.ndarray  # number of rules that use it
    n_sides: np.ndarray  # number of bounds on it
    importance: np.ndarray  # in the ensemble, as a share of one
    source: str  # how the importance was computed
    used: list[int]  # features in rules, the most used first
    shown: list[int]  # the same and, if they are few, the most important others


def feature_use(rules, fitted, forest):
    """Count the use of features in the rules, and compute their importance."""
    n_rules = np.zeros(len(rules.feature_names), dtype=int)
    n_sides = np.zeros(len(rules.feature_names), dtype=int)
    for rule in rules.rules:
        for condition in rule.conditions:
            n_rules[condition.feature] += 1
            n_sides[condition.feature] += condition.n_sides
    importance, source = _importances(fitted, forest)
    order = np.lexsort((-importance, -n_sides, -n_rules))
    used = [int(j) for j in order if n_rules[j]]
    shown = used
    if len(used) < 2:
        others = [int(j) for j in np.argsort(-importance, kind="stable")]
        others = [j for j in others if j not in used]
        shown = [*used, *others[: FEWEST_FEATURES - len(used)]]
    return FeatureUse(n_rules, n_sides, importance, source, used, shown)


def _importances(ensemble, forest):
    """Importance of each feature as a share of one, and how it was computed."""
    values = _given_importances(ensemble, forest.n_features)
    if values is not None:
        kind = getattr(ensemble, "importance_type", None)
        how = f" (importance_type={kind!r})" if isinstance(kind, str) else ""
        name = type(ensemble).__name__
        return values, f"feature_importances_ of {name}{how}, scaled to sum to one"
    passing = _split_use(forest, by_rows=True)
    if forest.origin:
        return _scaled(passing), (
            "share of the splits of trees fitted to the model’s predictions, each "
            "weighted by its rows; the importance in the model itself is unknown"
        )
    if np.isfinite(passing).all():
        return _scaled(passing), (
            "share of the ensemble’s splits, each weighted by its training rows; not a "
            "measure of how much the splits reduce the error"
        )
    return _scaled(_split_use(forest, by_rows=False)), (
        "share of the ensemble’s splits; not a measure of how much they reduce the "
        "error"
    )


def _given_importances(ensemble, n_features):
    try:
        values = np.asarray(ensemble.feature_importances_, dtype=np.float64)
    except (AttributeError, KeyError, TypeError, ValueError):
        # Some libraries have the attribute but cannot compute it.
        return None
    if (
        values.shape != (n_features,)
        or not np.isfinite(values).all()
        or (values < 0).any()
    ):
        return None
    return _scaled(values)


def _split_use(forest, by_rows):
    total = np.zeros(forest.n_features)
    for tree in forest.trees:
        inner = tree.feature >= 0
        weights = tree.cover[inner] if by_rows else None
        total += np.bincount(tree.feature[inner], weights, forest.n_features)
    return total


def _scaled(values):
    total = values.sum()
    return values / total if total > 0 else values


@dataclass(frozen=True)
class Setting:
    """One setting of an estimator, written as code."""

    name: str
    value: str
    is_default: bool


def read_settings(estimator):
    """All settings of an estimator; none if it has no get_params."""
    if not hasattr(estimator, "get_params"):
        return []
    defaults = _defaults(estimator)
    return [
        Setting(
            name,
            setting_text(value),
            name in defaults and setting_text(value) == setting_text(defaults[name]),
        )
        for name, value in sorted(estimator.get_params(deep=False).items())
        if name not in ("ensemble", *WATCHING)
        and not (value is None and name not in defaults)
    ]


def _defaults(estimator):
    try:
        return type(estimator)().get_params(deep=False)
    except (TypeError, ValueError, AttributeError):
        # Without a constructor that takes no arguments there are no defaults.
        return {}


def versions(ensemble):
    """Versions of Python, this package, and the library of the ensemble."""
    # The version of this package is known even if it is not installed.
    numbers = {"Python": platform.python_version(), "defragtrees": __version__}
    for name in PACKAGES:
        try:
            numbers[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    # A library may have several distributions, such as xgboost-cpu; ask the module.
    version = getattr(sys.modules.get(ensemble.package), "__version__", None)
    if isinstance(version, str):
        numbers[ensemble.library or ensemble.package] = version
    return numbers
