"""Read scikit-learn: single trees, forests, boosting, AdaBoost and bagging of trees.

scikit-learn's trees round X to float32; `exact_threshold` reproduces that. Histogram
boosting does not, and has categories: see `_sklearn_hist`.
"""

import numpy as np
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from defragtrees.ensembles.forest import Forest, Tree, exact_threshold
from defragtrees.ensembles.pipelines import read_pipeline
from defragtrees.ensembles.readers import overridden, read_forest
from defragtrees.ensembles.readers._sklearn_hist import read_hist
from defragtrees.ensembles.readers.wrappers import is_wrapper, read_wrapper
from defragtrees.errors import UnsupportedModelError

NAME = "scikit-learn"

# Strategies of dummies that predict a constant; the others draw at random.
CONSTANT_STRATEGIES = (
    "prior",
    "most_frequent",
    "constant",
    "mean",
    "median",
    "quantile",
)


def read(model) -> Forest:
    """Read a fitted tree or ensemble of trees of scikit-learn as a Forest.

    It must have one target. Also reads a Pipeline that ends in an ensemble of any
    library, parameter searches, calibration, thresholds, voting and stacking.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor().fit([[0.0], [1.0]], [3.0, 5.0])
    >>> read(model).predict([[0.2], [0.7]]).tolist()
    [3.0, 5.0]
    """
    if isinstance(model, Pipeline):
        return read_pipeline(model, read_forest)
    if is_wrapper(model):
        return read_wrapper(model, read_forest)
    make = _find_maker(model)
    name = type(model).__name__
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise NotFittedError(
            f"A fitted model is needed; this {name} is not fitted. Call fit first."
        ) from None
    _check_single_target(model)
    return make(model, _facts(model))


def _find_maker(model):
    for kinds, make in MAKERS:
        if isinstance(model, kinds):
            return make
    name = type(model).__name__
    advice = (
        "of scikit-learn, decision trees, random forests, extra trees, (histogram) "
        "gradient boosting, AdaBoost of trees and bagging of trees can be read."
    )
    raise UnsupportedModelError(f"Cannot read {name}: {advice}")


def _check_single_target(model):
    members = getattr(model, "estimators_", ())
    first = members[0] if isinstance(members, list) and members else model
    n_targets = getattr(model, "n_outputs_", getattr(first, "n_outputs_", 1))
    if n_targets > 1:
        raise UnsupportedModelError(
            f"Cannot read {type(model).__name__}: it predicts {n_targets} targets "
            "at once. Fit one model per target."
        )


def _facts(model):
    """The fields of a Forest that do not depend on its trees."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [f"x{j + 1}" for j in range(model.n_features_in_)]
    if not is_classifier(model):
        return {"feature_names": tuple(names), "task": "regression"}
    return {
        "feature_names": tuple(names),
        "task": "classification",
        "classes": tuple(model.classes_.tolist()),
    }


def _tree(fitted, value, features=None):
    """One tree with these outputs; `features` are the columns it was trained on."""
    nodes = fitted.tree_
    leaf = nodes.children_left < 0
    feature = nodes.feature if features is None else np.asarray(features)[nodes.feature]
    return Tree(
        feature=np.where(leaf, -1, feature),
        threshold=np.where(leaf, 0.0, exact_threshold(nodes.threshold, np.float32)),
        left=nodes.children_left,
        right=nodes.children_right,
        missing_left=nodes.missing_go_to_left.astype(bool) & ~leaf,
        value=np.array(value),
        cover=np.array(nodes.weighted_n_node_samples),
    )


def _answers(fitted, n_classes=None):
    """The output of each node; a class unknown to the tree has probability 0."""
    value = fitted.tree_.value[:, 0, :]
    if n_classes is None or n_classes == value.shape[1]:
        return value
    # Bagging counts the classes from 0, so that a label is also its position.
    wide = np.zeros((len(value), n_classes))
    wide[:, fitted.classes_.astype(int)] = value
    return wide


def _read_tree(model, facts):
    return Forest((_tree(model, _answers(model)),), combine="mean", **facts)


def _read_averaged(model, facts):
    _check_members(model)
    trees = tuple(_tree(fitted, _answers(fitted)) for fitted in model.estimators_)
    return Forest(trees, combine="mean", **facts)


def _read_bagged(model, facts):
    _check_members(model)
    n_classes = len(facts["classes"]) if "classes" in facts else None
    trees = tuple(
        _tree(fitted, _answers(fitted, n_classes), features)
        for fitted, features in zip(
            model.estimators_, model.estimators_features_, strict=True
        )
    )
    return Forest(trees, combine="mean", **facts)


def _check_members(model):
    needed = DecisionTreeClassifier if is_classifier(model) else DecisionTreeRegressor
    for member in {type(one): one for one in model.estimators_}.values():
        if not isinstance(member, needed) or overridden(member):
            raise UnsupportedModelError(
                f"Cannot read {type(model).__name__} of {type(member).__name__}: "
                f"its members must be single trees, such as {needed.__name__}."
            )


def _read_boosted(model, facts):
    init = model.init_
    constant = isinstance(init, (DummyClassifier, DummyRegressor))
    if init != "zero" and not (constant and init.strategy in CONSTANT_STRATEGIES):
        raise UnsupportedModelError(
            f"Cannot read {type(model).__name__}: it starts from the predictions of "
            f"{type(init).__name__}. Fit it with init=None or 'zero'."
        )
    n_outputs = model.estimators_.shape[1]
    base = model._raw_predict_init(np.zeros((1, model.n_features_in_)))[0]
    # The exponential loss has probabilities sigmoid(2 raw); doubling is exact.
    scale = 2.0 if model.loss == "exponential" else 1.0
    trees = []
    for stage in model.estimators_:
        for k, fitted in enumerate(stage):
            value = np.zeros((fitted.tree_.node_count, n_outputs))
            value[:, k] = fitted.tree_.value[:, 0, 0]
            trees.append(_tree(fitted, value))
    link = "softmax" if n_outputs > 1 else "sigmoid"
    return Forest(
        tuple(trees),
        combine="sum",
        base=scale * base,
        weights=np.full(len(trees), scale * model.learning_rate),
        link=link if "classes" in facts else "identity",
        ties="last",
        **facts,
    )


def _read_voted(model, facts):
    """AdaBoost classifier: each tree votes for one class and against the others."""
    _check_members(model)
    n_classes = len(facts["classes"])
    trees = []
    for fitted in model.estimators_:
        vote = np.searchsorted(model.classes_, fitted.classes_)[
            fitted.tree_.value[:, 0, :].argmax(axis=1)
        ]
        if n_classes == 2:
            # Twice the weight: scikit-learn adds the votes for one class to those
            # against the other.
            value = np.where(vote == 1, 2.0, -2.0)
        else:
            value = np.full((len(vote), n_classes), -1 / max(1, n_classes - 1))
            value[np.arange(len(vote)), vote] = 1.0
        trees.append(_tree(fitted, value))
    return Forest(
        tuple(trees),
        combine="mean",
        weights=model.estimator_weights_[: len(trees)].copy(),
        link="sigmoid" if n_classes == 2 else "samme",
        **facts,
    )


def _read_median(model, facts):
    """AdaBoost's regressor: the weighted median of the trees."""
    _check_members(model)
    trees = tuple(_tree(fitted, _answers(fitted)) for fitted in model.estimators_)
    weights = model.estimator_weights_[: len(trees)].copy()
    return Forest(trees, combine="median", weights=weights, **facts)


MAKERS = (
    ((DecisionTreeClassifier, DecisionTreeRegressor), _read_tree),
    ((RandomForestClassifier, RandomForestRegressor), _read_averaged),
    ((ExtraTreesClassifier, ExtraTreesRegressor), _read_averaged),
    ((GradientBoostingClassifier, GradientBoostingRegressor), _read_boosted),
    ((HistGradientBoostingClassifier, HistGradientBoostingRegressor), read_hist),
    ((AdaBoostClassifier,), _read_voted),
    ((AdaBoostRegressor,), _read_median),
    ((BaggingClassifier, BaggingRegressor), _read_bagged),
)
