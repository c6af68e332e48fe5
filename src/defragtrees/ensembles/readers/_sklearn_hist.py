"""Read scikit-learn's histogram boosting, with missing values and categories.

scikit-learn encodes categorical features and moves them to the front, and its trees use
that order. The reader restores the user's order.
"""

import numpy as np

from defragtrees.ensembles.forest import Forest, Tree
from defragtrees.errors import UnsupportedModelError

LOGARITHMIC_LOSSES = ("gamma", "poisson")


def read_hist(model, facts):
    """Read a fitted HistGradientBoosting model as a Forest."""
    columns, categories, has_none = _columns(model, facts["feature_names"])
    n_outputs = model.n_trees_per_iteration_
    trees = tuple(
        _tree(predictor, columns, (categories, has_none), k, n_outputs)
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
        **facts,
    )


def _columns(model, names):
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


def _tree(predictor, columns, sets, k, n_outputs):
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(bool)
    value = np.zeros((len(nodes), n_outputs))
    value[:, k] = nodes["value"]
    feature = np.where(leaf, -1, columns[nodes["feature_idx"]])
    goes_left, missing_left = _left_sets(predictor, feature, *sets)
    return Tree(
        feature=feature,
        threshold=np.where(leaf, 0.0, nodes["num_threshold"]),
        left=np.where(leaf, -1, nodes["left"].astype(np.int64)),
        right=np.where(leaf, -1, nodes["right"].astype(np.int64)),
        missing_left=missing_left & ~leaf,
        value=value,
        cover=nodes["count"].astype(np.float64),
        categories=goes_left,
    )


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
