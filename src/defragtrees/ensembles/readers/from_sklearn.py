"""Read scikit-learn: single trees, forests, boosting, AdaBoost and bagging of trees.

scikit-learn's trees round X to float32; `exact_threshold` reproduces that. Histogram
boosting does not, and has categories.
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
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from defragtrees.ensembles.forest import Forest, Tree, exact_threshold
from defragtrees.ensembles.pipelines import read_pipeline
from defragtrees.ensembles.readers import check_fitted, overridden, what_is_predicted
from defragtrees.ensembles.readers.wrappers import is_wrapper, read_wrapper
from defragtrees.errors import UnsupportedModelError

NAME = "scikit-learn"

# Strategies of dummies that predict a constant; the others draw at random.
CONSTANT_STRATEGIES = "prior most_frequent constant mean median quantile".split()


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
    make = next((make for kinds, make in MAKERS if isinstance(model, kinds)), None)
    if make is None:
        if isinstance(model, Pipeline):
            return read_pipeline(model)
        if is_wrapper(model):
            return read_wrapper(model)
        raise UnsupportedModelError(
            f"Cannot read {type(model).__name__}: of scikit-learn, decision trees, "
            "random forests, extra trees, (histogram) gradient boosting, AdaBoost of "
            "trees and bagging of trees can be read."
        )
    check_fitted(model)
    members = getattr(model, "estimators_", ())
    first = members[0] if isinstance(members, list) and members else model
    n_targets = getattr(model, "n_outputs_", getattr(first, "n_outputs_", 1))
    if n_targets > 1:
        raise UnsupportedModelError(
            f"Cannot read {type(model).__name__}: it predicts {n_targets} targets "
            "at once. Fit one model per target."
        )
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        names = [f"x{j + 1}" for j in range(model.n_features_in_)]
    facts = {"feature_names": tuple(names), "task": "regression"}
    if is_classifier(model):
        classes = tuple(model.classes_.tolist())
        facts |= {"task": "classification", "classes": classes}
    return make(model, facts)  # which adds the trees


def _tree(fitted, value, features=None):
    """One tree with these outputs; `features` are the columns it was trained on."""
    nodes = fitted.tree_
    leaf = nodes.children_left < 0
    feature = nodes.feature if features is None else np.asarray(features)[nodes.feature]
    threshold = exact_threshold(nodes.threshold, np.float32)
    sides = nodes.children_left, nodes.children_right, nodes.missing_go_to_left
    splits = np.where(leaf, -1, feature), threshold, *sides
    return Tree(*splits, np.array(value), np.array(nodes.weighted_n_node_samples))


def _read_averaged(model, facts):
    """Single trees, forests and bagging: the mean; AdaBoost's regressor: the median."""
    members, columns = [model], [None]
    if not isinstance(model, (DecisionTreeClassifier, DecisionTreeRegressor)):
        _check_members(model)
        members = model.estimators_
        columns = getattr(model, "estimators_features_", [None] * len(members))
    trees, n_classes = [], len(facts.get("classes", ()))
    for fitted, features in zip(members, columns, strict=True):
        value = fitted.tree_.value[:, 0, :]
        if n_classes and n_classes != value.shape[1]:
            # A class unknown to the tree has probability 0. Bagging counts the classes
            # from 0, so that a label is also its position.
            shares = np.zeros((len(value), n_classes))
            shares[:, fitted.classes_.astype(int)] = value
            value = shares
        trees.append(_tree(fitted, value, features))
    if not isinstance(model, AdaBoostRegressor):
        predicts = what_is_predicted(getattr(model, "criterion", ""))
        return Forest(tuple(trees), combine="mean", predicts=predicts, **facts)
    weights = model.estimator_weights_[: len(trees)].copy()
    return Forest(tuple(trees), combine="median", weights=weights, **facts)


def _check_members(model):
    needed = DecisionTreeClassifier if is_classifier(model) else DecisionTreeRegressor
    for member in {type(member): member for member in model.estimators_}.values():
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
        predicts=what_is_predicted(model.loss, getattr(model, "alpha", 0.5)),
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


# Histogram boosting, with missing values and categories.
#
# scikit-learn encodes categorical features and moves them to the front, and its trees
# use that order. The reader restores the user's order.

LOGARITHMIC_LOSSES = ("gamma", "poisson")


def read_hist(model, facts):
    """Read a fitted HistGradientBoosting model as a Forest."""
    columns, categories, has_none = _hist_columns(model, facts["feature_names"])
    n_outputs = model.n_trees_per_iteration_
    trees = tuple(
        _hist_tree(predictor, columns, (categories, has_none), k, n_outputs)
        for stage in model._predictors
        for k, predictor in enumerate(stage)
    )
    if "classes" in facts:
        # A single class has one output too, and softmax makes its probability 1.
        link = "sigmoid" if len(facts["classes"]) == 2 else "softmax"
    else:
        link = "exp" if model.loss in LOGARITHMIC_LOSSES else "identity"
    return Forest(
        trees,
        combine="sum",
        base=np.array(model._baseline_prediction, dtype=np.float64).ravel(),
        link=link,
        categories=categories,
        predicts=what_is_predicted(model.loss, getattr(model, "quantile", None) or 0.5),
        **facts,
    )


def _hist_columns(model, names):
    # The user's column of each column of the trees; and for each of the user's columns
    # its categories, and whether None is one of them.
    categories = [None] * len(names)
    has_none = [False] * len(names)
    is_set = model.is_categorical_
    if is_set is None:
        return np.arange(len(names)), tuple(categories), has_none
    encoder = model._preprocessor.named_transformers_["encoder"]
    sets = np.flatnonzero(is_set)
    for j, known in zip(sets, encoder.categories_, strict=True):
        categories[j], has_none[j] = _labels(known.tolist(), names[j])
    columns = np.concatenate([sets, np.flatnonzero(~is_set)])
    return columns, tuple(categories), has_none


def _labels(known, name):
    """The categories that are values. The encoder has None and NaN after all others."""
    labels = tuple(label for label in known if label is not None and label == label)
    if len(known) - len(labels) == 2:
        raise UnsupportedModelError(
            f"Cannot read a model for which None and NaN differ in {name!r}, as "
            "both are read as missing values. Fit it with one of the two."
        )
    return labels, None in known


def _hist_tree(predictor, columns, sets, k, n_outputs):
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(bool)
    value = np.zeros((len(nodes), n_outputs))
    value[:, k] = nodes["value"]
    feature = np.where(leaf, -1, columns[nodes["feature_idx"]])
    goes_left, missing_left = _left_sets(predictor, feature, *sets)
    sides = nodes["left"], nodes["right"], missing_left
    splits = feature, nodes["num_threshold"], *sides
    return Tree(*splits, value, cover=nodes["count"], categories=goes_left)


def _left_sets(predictor, feature, categories, has_none):
    """The category positions that go left at each node, and whether missing does."""
    nodes = predictor.nodes
    missing_left = nodes["missing_go_to_left"].astype(bool)
    known_lengths = [len(known) for known in categories if known is not None]
    sets = np.zeros((len(nodes), 1 + max(known_lengths, default=-1)), dtype=bool)
    for i in np.flatnonzero(nodes["is_categorical"]):
        n_known = len(categories[feature[i]])
        words = predictor.raw_left_cat_bitsets[nodes["bitset_idx"][i]].astype("<u4")
        bits = np.unpackbits(words.view(np.uint8), bitorder="little").astype(bool)
        sets[i, :n_known] = bits[:n_known]
        # An unknown category goes where scikit-learn sends missing values ...
        sets[i, n_known:] = missing_left[i]
        if has_none[feature[i]]:
            # ... but None (a null of polars) is a category there.
            missing_left[i] = bits[n_known]
    return sets, missing_left


MAKERS = (
    ((GradientBoostingClassifier, GradientBoostingRegressor), _read_boosted),
    ((HistGradientBoostingClassifier, HistGradientBoostingRegressor), read_hist),
    (AdaBoostClassifier, _read_voted),
    ((DecisionTreeClassifier, DecisionTreeRegressor), _read_averaged),
    ((RandomForestClassifier, RandomForestRegressor), _read_averaged),
    ((ExtraTreesClassifier, ExtraTreesRegressor), _read_averaged),
    ((BaggingClassifier, BaggingRegressor, AdaBoostRegressor), _read_averaged),
)
