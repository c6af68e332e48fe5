"""Facts about the model and the fit: names, settings, versions."""

import contextlib
import os
import platform
import re
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.frozen import FrozenEstimator

from defragtrees._version import __version__
from defragtrees.ensembles.forest import Forest
from defragtrees.report.text import cut, setting_text

# Names of distributions that differ from their module.
DISTRIBUTIONS = {"sklearn": "scikit-learn"}
LIBRARIES = ("xgboost", "lightgbm", "catboost", "sklearn")
# Settings that only concern progress messages.
WATCHING = ("callback", "verbose")

# Words for well-known classes, by the start of their names.
KINDS = {
    "AdaBoost": "AdaBoost",
    "CatBoost": "gradient boosting (CatBoost)",
    "ExplainableBoosting": "explainable boosting machine",
    "ExtraTree": "extra trees",
    "GaussianProcess": "Gaussian process",
    "HistGradientBoosting": "gradient boosting",
    "KNeighbors": "nearest neighbours",
    "LGBM": "gradient boosting (LightGBM)",
    "Logistic": "logistic regression",
    "MLP": "neural network",
    "RandomForest": "random forest",
    "RUSBoost": "RUSBoost",
    "Stacking": "stack of models",
    "SV": "support vector machine",
    "Voting": "vote of models",
    "XGBXGBRF": "random forest (XGBoost)",
    "XGB": "gradient boosting (XGBoost)",
}
# Native models of libraries, whose classes are called Booster or Model.
NATIVE = {"xgboost": "XGB", "lightgbm": "LGBM", "catboost": "CatBoost"}
INSIDE = ("best_estimator_", "estimator_", "regressor_", "estimator")


@dataclass(frozen=True)
class Model:
    """The model that rules are compared with."""

    fitted: Any  # as given
    name: str  # in words, such as "random forest of 60 trees"
    package: str  # its top-level module
    library: str | None  # name of its distribution; None for a file or a Forest
    n_trees: int  # 0 if it is not made of trees
    n_leaves: int
    origin: str = ""  # how it was queried, if it was not read

    @property
    def the_name(self):
        """The name as in a sentence: "the random forest of 60 trees"."""
        return self.name if self.name.startswith("the ") else f"the {self.name}"


def describe_model(fitted, forest, name=None):
    """Describe a model; `forest` is None if it was only queried for predictions."""
    if isinstance(fitted, FrozenEstimator):
        fitted = fitted.estimator
    package = _package(fitted)
    library = DISTRIBUTIONS.get(package, package)
    if isinstance(fitted, str | os.PathLike | Forest):
        library = None
    origin = "The model was queried for its predictions."
    trees = ()
    if forest is not None:
        trees, origin = forest.trees, forest.origin
    n_trees = 0 if origin else len(trees)
    n_leaves = sum(int((tree.feature < 0).sum()) for tree in trees)
    name = cut(name or model_words(fitted, n_trees))
    return Model(fitted, name, package, library, n_trees, n_leaves, origin)


def model_words(fitted, n_trees=0):
    """Name a model in words, the final step of a pipeline for all of it.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> model_words(RandomForestClassifier(), 60)
    'random forest of 60 trees'
    """
    if isinstance(fitted, str | os.PathLike):
        return f"the model in {os.path.basename(os.fspath(fitted))}"
    kind = "tree ensemble" if isinstance(fitted, Forest) else _kind(_innermost(fitted))
    return f"{kind} of {n_trees:,} trees" if n_trees > 1 else kind


def _innermost(model):
    """The model inside pipelines, searches and calibration."""
    for _ in range(10):  # an estimator may contain itself
        steps = getattr(model, "steps", None)
        inside = steps[-1][1] if steps else None
        for attribute in INSIDE:
            with contextlib.suppress(Exception):  # a property may raise anything
                inside = inside or getattr(model, attribute, None)
        # An ensemble is not named after its members.
        is_named = hasattr(model, "estimators_") or _known_kind(model)
        if inside is None or is_named or not hasattr(inside, "predict"):
            break
        model = inside
    return model


def _kind(model):
    known = _known_kind(model)
    if known:
        return known
    if not hasattr(model, "predict"):  # a function
        name = getattr(model, "__name__", "")
        return f"the function {name}" if name.isidentifier() else "the model"
    name = re.sub("(Classifier|Regressor|Model|CV)+$", "", type(model).__name__)
    words = re.sub("(?<=[a-z0-9])(?=[A-Z])|_", " ", name).split()
    return " ".join(w if w.isupper() else w.lower() for w in words) or "the model"


def _known_kind(model):
    name = NATIVE.get(_package(model), "") + type(model).__name__
    return next((words for start, words in KINDS.items() if name.startswith(start)), "")


def _package(fitted):
    """The library of a model, also for subclasses."""
    packages = [kind.__module__.split(".")[0] for kind in type(fitted).__mro__]
    return next((name for name in packages if name in LIBRARIES), packages[0])


def changed_settings(estimator):
    """Settings of the model inside an estimator that are not the default, as code.

    Pairs of name and value; none without get_params.
    """
    estimator = _innermost(estimator)
    if not hasattr(estimator, "get_params"):
        return []
    defaults = {}
    # Without a constructor that takes no arguments there are no defaults.
    with contextlib.suppress(TypeError, ValueError, AttributeError):
        defaults = type(estimator)().get_params(deep=False)
    given = sorted(estimator.get_params(deep=False).items())
    return [
        (name, setting_text(value))
        for name, value in given
        if name not in ("model", *WATCHING)
        and setting_text(value) != setting_text(defaults.get(name))
    ]


def versions(model=None):
    """Versions of Python, this package, and the library of a Model."""
    # The version of this package is known even if it is not installed.
    numbers = {"Python": platform.python_version(), "defragtrees": __version__}
    numbers |= {"numpy": np.__version__, "scipy": scipy.__version__}
    numbers["scikit-learn"] = sklearn.__version__
    if model is not None:
        # A library may have several distributions, such as xgboost-cpu.
        version = getattr(sys.modules.get(model.package), "__version__", None)
        if isinstance(version, str):
            numbers[model.library or model.package] = version
    return numbers
