"""Where the rules come from: the ensemble, what was asked, settings, versions."""

import os
import platform
import sys
from importlib import metadata

import numpy as np
from sklearn.frozen import FrozenEstimator

from defragtrees._version import __version__
from defragtrees.forest import Forest
from defragtrees.report.wording import setting

__all__ = ["given_ensemble", "question", "reproduction"]

# The names of distributions differ from those of what they install.
LIBRARIES = {"sklearn": "scikit-learn"}
PACKAGES = ("numpy", "scipy", "scikit-learn", "plotly", "matplotlib")
ENSEMBLE_PACKAGES = ("xgboost", "lightgbm", "catboost", "sklearn")
# They say how a fit was watched, not what it found.
WATCHING = ("callback", "verbose")


def given_ensemble(simplifier):
    """The ensemble that was simplified, out of scikit-learn's FrozenEstimator."""
    ensemble = simplifier.ensemble_
    return ensemble.estimator if isinstance(ensemble, FrozenEstimator) else ensemble


def question(simplifier, found):
    """Which ensemble, which rows, and what was asked of the rules."""
    forest = simplifier.forest_
    settings = simplifier.get_params(deep=False)
    n_leaves = sum(int((tree.feature < 0).sum()) for tree in forest.trees)
    name, library = _ensemble_name(given_ensemble(simplifier))
    return {
        "ensemble": name,
        "library": library,
        "n_trees": len(forest.trees),
        "n_leaves": n_leaves,
        "n_features": forest.n_features,
        "n_rows": found.n_rows,
        "has_missing": bool(np.isnan(found.matrix).any()),
        "has_y": found.y is not None,
        "method": type(simplifier).__name__,
        "target": simplifier.target,
        "limits": {
            name: int(settings[name])
            for name in ("max_rules", "max_conditions", "max_depth")
            if isinstance(settings.get(name), int | np.integer)
        },
        "n_rules": simplifier.rules_.n_rules,
        "n_conditions": simplifier.rules_.n_conditions,
    }


def _ensemble_name(ensemble):
    """The ensemble's type and library; of a file its name."""
    if isinstance(ensemble, str | os.PathLike):
        return f"the model in {os.path.basename(os.fspath(ensemble))}", None
    if isinstance(ensemble, Forest):
        return "a forest", None
    package = _package(ensemble)
    return type(ensemble).__name__, LIBRARIES.get(package, package)


def _package(ensemble):
    """The library that an ensemble is of, also where somebody made a subclass."""
    packages = [kind.__module__.split(".")[0] for kind in type(ensemble).__mro__]
    known = [package for package in packages if package in ENSEMBLE_PACKAGES]
    return known[0] if known else packages[0]


def reproduction(simplifier, command):
    """Settings, versions, and code that fits the same again."""
    ensemble = given_ensemble(simplifier)
    return {
        "settings": _settings(simplifier),
        "ensemble_settings": _ensemble_settings(ensemble),
        "versions": _versions(ensemble),
        "command": command,
        "code": _code(simplifier),
        "rules": str(simplifier.rules_),
    }


def _settings(estimator):
    defaults = _defaults(estimator)
    return [
        {
            "name": name,
            "value": setting(value),
            "is_default": name in defaults
            and setting(value) == setting(defaults[name]),
        }
        for name, value in sorted(estimator.get_params(deep=False).items())
        if name not in ("ensemble", *WATCHING)
        and not (value is None and name not in defaults)
    ]


def _ensemble_settings(ensemble):
    """Settings of the ensemble, but for the many that are None by default."""
    if not hasattr(ensemble, "get_params"):
        return []
    return [
        row
        for row in _settings(ensemble)
        if not (row["is_default"] and row["value"] == "None")
    ]


def _defaults(estimator):
    try:
        return type(estimator)().get_params(deep=False)
    except (TypeError, ValueError, AttributeError):
        # An ensemble that cannot be made without arguments has no defaults to show.
        return {}


def _versions(ensemble):
    # Its own version is known also where it runs from source and is not installed.
    found = {"Python": platform.python_version(), "defragtrees": __version__}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    package = _package(ensemble)
    # One library has several distributions, such as xgboost-cpu; the module knows.
    version = getattr(sys.modules.get(package), "__version__", None)
    if isinstance(version, str):
        found[LIBRARIES.get(package, package)] = version
    return [[name, version] for name, version in found.items()]


def _code(simplifier):
    """The call that fits the same rules, with the settings that are not defaults."""
    changed = [
        f"{row['name']}={row['value']}"
        for row in _settings(simplifier)
        if not row["is_default"]
    ]
    name = type(simplifier).__name__
    arguments = ", ".join(["ensemble", *changed])
    return (
        f"simple = {name}({arguments})\n"
        "simple.fit(X_train, y_train)\n"
        'write_report("report.html", simple, X_test, y_test)'
    )
