"""Read LightGBM: its scikit-learn wrappers, a Booster, and files saved as text.

All are read through the text of the model; lightgbm is not needed for a file. LightGBM
tests `x <= threshold` in float64; a category in the set of a split goes left, all
others, missing ones too, go right.
"""

from pathlib import Path

import numpy as np

from defragtrees.ensembles.forest import Forest, Tree
from defragtrees.ensembles.readers._files import Allowance, report_damage
from defragtrees.ensembles.readers._lightgbm_labels import read_categories
from defragtrees.ensembles.readers._lightgbm_text import (
    MISSING_NONE,
    MISSING_ZERO,
    fields_of_tree,
    parse_text,
)
from defragtrees.ensembles.readers._missing import count_as_missing
from defragtrees.errors import UnsupportedModelError

NAME, KIND = "LightGBM", "a LightGBM model"
SUFFIXES = (".txt",)

ZERO = float(np.float32(1e-35))  # LightGBM treats numbers up to this size as zero
# Links of a Booster, by objective.
OBJECTIVES = {
    name: (task, link)
    for task, link, names in (
        ("classification", "sigmoid", "binary multiclassova"),
        ("classification", "softmax", "multiclass"),
        ("regression", "sigmoid", "cross_entropy"),
        ("regression", "softplus", "cross_entropy_lambda"),
        ("regression", "exp", "gamma poisson tweedie"),
        ("regression", "identity", "fair huber lambdarank mape quantile rank_xendcg"),
        ("regression", "identity", "regression regression_l1"),
    )
    for name in names.split()
}


def read(model):
    """Read a fitted LightGBM model as a Forest.

    With early stopping, the trees up to the best iteration are read, as `predict` uses
    these. The classes of a Booster are 0, 1, ...
    """
    if hasattr(model, "model_to_string"):
        return _forest(model.model_to_string(), None)
    text = model.booster_.model_to_string()
    if hasattr(model, "predict_proba"):
        return _forest(text, "classifier", model.classes_.tolist())
    return _forest(text, "regressor")


def is_file(file):
    """Whether this begins like a LightGBM text file."""
    return file.head.startswith((b"tree\n", b"tree\r\n"))


def read_file(path):
    """Read a `.txt` file; lightgbm is not needed."""
    path = Path(path)
    with report_damage(NAME, path.name):
        return _forest(path.read_bytes().decode("utf-8"), None)


def _forest(text, kind, classes=None):
    """The Forest of a model's text; `kind` is None for a Booster or a file."""
    model, allowance = parse_text(text), Allowance(NAME, len(text))
    task, link, scale = _task(model.header, kind)
    names = _names(model.header)
    trees = [fields_of_tree(tree) for tree in _plain_trees(model)]
    for tree in trees:
        if tree.n_inner and not 0 <= tree.feature.min() <= tree.feature.max() < len(
            names
        ):
            raise ValueError(f"a tree splits on a feature beyond the {len(names)}")
    n_outputs = int(model.header["num_tree_per_iteration"])
    if n_outputs < 1 or len(trees) % n_outputs or n_outputs > max(len(trees), 1):
        raise ValueError(f"{len(trees)} trees cannot serve {n_outputs} outputs")
    if task == "classification" and classes is None:
        classes = range(max(2, n_outputs))
    if classes is not None and len(classes) == 1:
        link = "softmax"  # LightGBM trains against a second class that has no label
    categories, codes = read_categories(model, names, trees)
    n_nodes = sum(2 * tree.n_leaves - 1 for tree in trees)
    allowance.take_nodes(n_nodes, n_outputs, categories)
    if "average_output" in model.header:
        scale /= max(1, len(trees) // n_outputs)
    return Forest(
        trees=tuple(
            _tree(tree, j % n_outputs, n_outputs, codes) for j, tree in enumerate(trees)
        ),
        feature_names=names,
        task=task,
        classes=classes,
        base=np.zeros(n_outputs),
        weights=np.full(len(trees), scale),
        link=link,
        categories=categories,
    )


def _task(header, kind):
    """Task, link and the factor before it, as the wrapper or the Booster uses them."""
    name, *options = header.get("objective", "custom").split() or ["custom"]
    if name not in OBJECTIVES:
        raise UnsupportedModelError(
            f"Cannot read a LightGBM model with the objective {name!r}: its link "
            "is unknown. Fit with a standard objective."
        )
    task, link = OBJECTIVES[name]
    if "sqrt" in options:
        link = "signed_square"
    settings = dict(option.split(":") for option in options if ":" in option)
    scale = float(settings.get("sigmoid", "1"))
    if kind == "classifier":
        if link not in ("identity", "sigmoid", "softmax"):
            raise UnsupportedModelError(
                f"Cannot read a LightGBM classifier with the objective {name!r}: it "
                "does not predict probabilities. Fit with 'binary' or 'multiclass'."
            )
        return "classification", link, scale
    if kind is not None and name.startswith("multiclass"):
        raise UnsupportedModelError(
            f"Cannot read a LightGBM {kind} with the objective {name!r}. "
            "Fit an LGBMClassifier."
        )
    return ("regression" if kind is not None else task), link, scale


def _names(header):
    names = header["feature_names"].split(" ")
    if len(names) != int(header["max_feature_idx"]) + 1:
        raise ValueError(
            f"it has {len(names)} names, but its largest feature number is "
            f"{header['max_feature_idx']}"
        )
    if names == [f"Column_{j}" for j in range(len(names))]:  # it was given no names
        names = [f"x{j + 1}" for j in range(len(names))]
    return tuple(names)


def _plain_trees(model):
    for tree in model.trees:
        if int(tree.get("is_linear", "0")):
            raise UnsupportedModelError(
                "Cannot read a LightGBM model with linear trees: only constant "
                "leaves are supported. Fit with linear_tree=False."
            )
    return model.trees


def _tree(tree, output, n_outputs, codes):
    n_nodes = 2 * tree.n_leaves - 1
    leaf = np.full(tree.n_leaves, -1)
    value = np.zeros((n_nodes, n_outputs))
    value[tree.n_inner :, output] = tree.leaf_value
    labelled = np.array([known is not None for known in codes])[tree.feature]
    threshold = _around_zero(tree.threshold)
    # A missing value without a default side counts as zero.
    missing_left = np.where(
        tree.missing == MISSING_NONE, threshold >= 0, tree.default_left
    )
    is_number = np.append(~labelled, leaf > 0)
    plain = Tree(
        feature=np.append(tree.feature, leaf),
        threshold=np.append(np.where(labelled, 0.0, threshold), leaf * 0.0),
        left=np.append(tree.left, leaf),
        right=np.append(tree.right, leaf),
        missing_left=np.append(missing_left & ~tree.is_set, leaf > 0),
        value=value,
        cover=tree.cover,
        categories=_category_sets(tree, labelled, threshold, missing_left, codes),
    )
    is_zero_missing = np.append(tree.missing == MISSING_ZERO, leaf > 0)
    return count_as_missing(plain, -ZERO, ZERO, is_zero_missing & is_number)


def _around_zero(threshold):
    # LightGBM turns every x of [-ZERO, ZERO] into zero before it compares.
    low = np.nextafter(-ZERO, -np.inf)
    threshold = np.where((threshold >= -ZERO) & (threshold < 0), low, threshold)
    return np.where((threshold >= 0) & (threshold < ZERO), ZERO, threshold)


def _category_sets(tree, labelled, threshold, missing_left, codes):
    """The category positions that go left at each node; None without such splits."""
    if not labelled.any():
        return None
    width = max(len(known) for known in codes if known is not None) + 1
    sets = np.zeros((2 * tree.n_leaves - 1, width), dtype=bool)
    for node in np.flatnonzero(labelled):
        known = codes[tree.feature[node]]
        if tree.is_set[node]:
            in_set = tree.set_of(node)
            if not np.isin(in_set, known).all():
                raise ValueError("a split has categories without labels")
            sets[node, : len(known)] = np.isin(known, in_set)
            continue
        # An ordered category is compared by its position; an unknown one is missing.
        goes_left = known <= threshold[node]
        if tree.missing[node] == MISSING_ZERO:
            goes_left = np.where(known == 0, missing_left[node], goes_left)
        sets[node, : len(known)] = goes_left
        sets[node, len(known)] = missing_left[node]
    return sets
