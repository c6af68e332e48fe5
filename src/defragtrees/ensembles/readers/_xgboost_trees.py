"""Read the trees and categories of an XGBoost document.

XGBoost rounds x to float32 and tests `x < threshold`. At a split on categories, those
in the stored set go right; all others, unknown ones too, go left.
"""

from itertools import pairwise

import numpy as np

from defragtrees.ensembles.forest import Tree, exact_threshold
from defragtrees.ensembles.readers._missing import count_as_missing
from defragtrees.errors import UnsupportedModelError


def read_trees(documents, groups, n_outputs, categories, missing, allowance):
    """Read each tree as a Tree.

    `groups` has the output that each tree adds to; `missing` is the number that counts
    as missing, besides NaN; `allowance` is an Allowance.
    """
    is_set = np.array([labels is not None for labels in categories], dtype=bool)
    n_nodes = sum(len(document["left_children"]) for document in documents)
    allowance.take_nodes(n_nodes, n_outputs, categories)
    width = 1 + max((len(c) for c in categories if c is not None), default=0)
    trees = []
    for document, group in zip(documents, groups, strict=True):
        node = _Nodes(document, len(categories))
        in_set = node.splits_on_categories(is_set)
        sets = _sets(document, node, in_set, categories, width, missing)
        tree = Tree(
            feature=np.where(node.is_leaf, -1, node.feature),
            threshold=np.where(node.is_leaf | in_set, 0.0, node.threshold),
            left=np.where(node.is_leaf, -1, node.left),
            right=np.where(node.is_leaf, -1, node.right),
            missing_left=node.default_left & ~node.is_leaf,
            value=_values(document, node, group, n_outputs),
            cover=_covers(document, node),
            categories=sets,
        )
        if not np.isnan(missing):
            low = np.nextafter(exact_threshold(missing, strict=True), np.inf)
            high = exact_threshold(missing)
            tree = count_as_missing(tree, low, high, ~node.is_leaf & ~in_set)
        trees.append(tree)
    return tuple(trees)


class _Nodes:
    """The arrays of a tree, checked for length and content."""

    def __init__(self, document, n_features):
        self.left = numbers(document["left_children"], np.int32)
        self.n_nodes = len(self.left)
        self.right = numbers(document["right_children"], np.int32, self.n_nodes)
        self.is_leaf = self.left == -1
        self.feature = numbers(document["split_indices"], np.int64, self.n_nodes)
        self.default_left = numbers(document["default_left"], bool, self.n_nodes)
        # Leaves store their output as the threshold.
        self.stored = numbers(document["split_conditions"], np.float32, self.n_nodes)
        self.threshold = exact_threshold(self.stored, np.float32, strict=True)
        kind = document.get("split_type", np.zeros(self.n_nodes, np.int64))
        self.kind = numbers(kind, np.int64, self.n_nodes)
        used = self.feature[~self.is_leaf]
        if used.size and not 0 <= used.min() <= used.max() < n_features:
            raise ValueError(f"a tree splits on a feature beyond the {n_features}")
        # A split on categories needs no threshold; before 3.0 it is saved as NaN.
        if np.isnan(self.stored[~self.is_leaf & (self.kind != 1)]).any():
            raise ValueError("a threshold is not a number")

    def splits_on_categories(self, is_set):
        in_set = (self.kind == 1) & ~self.is_leaf
        expected = is_set[np.where(self.is_leaf, 0, self.feature)] & ~self.is_leaf
        if (in_set != expected).any():
            raise ValueError("a feature is split both as number and as category")
        return in_set


def _covers(document, node):
    """The weight of the training rows in each node; None if not stored."""
    if "sum_hessian" not in document and _n_answers(document) > 1:
        return None  # trees with several outputs, before 3.2
    return numbers(document["sum_hessian"], np.float32, node.n_nodes)


def _n_answers(document):
    return int(document["tree_param"].get("size_leaf_vector", "1"))


def _values(document, node, group, n_outputs):
    value = np.zeros((node.n_nodes, n_outputs))
    n_answers = _n_answers(document)
    if n_answers <= 1:
        value[node.is_leaf, group] = node.stored[node.is_leaf]
        return value
    if n_answers != n_outputs:
        raise ValueError(f"a leaf has {n_answers} outputs instead of {n_outputs}")
    if "leaf_weights" in document:
        rows = numbers(document["leaf_weights"], np.float32).reshape(-1, n_outputs)
        row = node.right[node.is_leaf]  # a leaf keeps the number of its row here
        if row.size and row.min() < 0:
            raise ValueError("a leaf has no output")
        value[node.is_leaf] = rows[row]
    else:
        rows = numbers(document["base_weights"], np.float32).reshape(-1, n_outputs)
        value[node.is_leaf] = rows[: node.n_nodes][node.is_leaf]
    return value


def _sets(document, node, in_set, categories, width, missing):
    """The category positions that go left at each node; None without such splits."""
    if not in_set.any():
        return None
    sets = np.zeros((node.n_nodes, width), dtype=bool)
    sets[in_set] = True
    n_sets = 0
    for at, codes in _stored_sets(document):
        if not (0 <= at < node.n_nodes and in_set[at]):
            raise ValueError(f"node {at} has categories but does not split on them")
        n_labels = len(categories[node.feature[at]])
        if codes.size and not 0 <= codes.min() <= codes.max() < n_labels:
            raise ValueError(f"a category is not one of {n_labels}")
        sets[at, codes] = False
        n_sets += 1
    if n_sets != in_set.sum():
        raise ValueError("a split on categories has none")
    if not np.isnan(missing):
        _mark_missing(sets, node, in_set, categories, missing)
    return sets


def _mark_missing(sets, node, in_set, categories, missing):
    # XGBoost compares the position, not the label, with the number for missing.
    for at in np.flatnonzero(in_set):
        labels = categories[node.feature[at]]
        position = len(labels) - 1 if type(labels[-1]) is float else missing
        if 0 <= position < len(labels) and position == int(position):
            sets[at, int(position)] = node.default_left[at]


def _stored_sets(document):
    """The node and the category numbers of each split on categories."""
    nodes = numbers(document["categories_nodes"], np.int64)
    starts = numbers(document["categories_segments"], np.int64, len(nodes))
    sizes = numbers(document["categories_sizes"], np.int64, len(nodes))
    codes = numbers(document["categories"], np.int64)
    for at, start, size in zip(nodes, starts, sizes, strict=True):
        if not 0 <= start <= start + size <= len(codes):
            raise ValueError("a list of categories ends early")
        yield at, codes[start : start + size]


def read_categories(model, feature_types, documents, n_features, missing, allowance):
    """The categories of each feature, or None if it is numeric.

    The labels are those that XGBoost stored (3.1 or later, for frames), or else the
    numbers 0, 1, ... that the data must have held.
    """
    labels = [None] * n_features
    encoded = model.get("cats", {}).get("enc", [])
    if len(encoded) not in (0, n_features):
        raise ValueError(f"it has labels for {len(encoded)} of {n_features} features")
    for feature, entry in enumerate(encoded):
        labels[feature] = _labels(entry)
    n_codes = {j: 1 for j, kind in enumerate(feature_types) if kind == "c"}
    for document in documents:
        if not len(document.get("categories_nodes", ())):
            continue
        feature = numbers(document["split_indices"], np.int64)
        for at, codes in _stored_sets(document):
            j = int(feature[at])
            n_codes[j] = max(n_codes.get(j, 1), 1 + int(codes.max(initial=0)))
    for j, n_labels in n_codes.items():
        if not 0 <= j < n_features:
            raise ValueError(f"a tree splits on a feature beyond the {n_features}")
        if labels[j] is None:
            allowance.take_labels(n_labels, "categories")
            labels[j] = _plain_labels(n_labels, missing)
    return tuple(labels)


def _plain_labels(n_labels, missing):
    labels = tuple(range(n_labels))
    # A number that means missing is also a label, with its own side.
    if np.isfinite(missing) and missing not in labels:
        labels += (float(missing),)
    return labels


def _labels(entry):
    """The labels of one feature; None if there are none."""
    if not len(entry["values"]):
        return None
    if "offsets" not in entry:
        return tuple(numbers(entry["values"], np.int64).tolist())
    text = numbers(entry["values"], np.int64)
    offsets = numbers(entry["offsets"], np.int64)
    if (np.diff(offsets) < 0).any() or offsets[0] != 0 or offsets[-1] != len(text):
        raise ValueError("the labels of a feature do not fit together")
    if ((text < 0) | (text > 127)).any():
        # XGBoost 3.1 and 3.2 count characters, not bytes, in the labels of a pandas
        # frame, so that one letter beyond ASCII shifts and truncates the labels.
        raise UnsupportedModelError(
            "Cannot read this XGBoost model: it has category labels with non-ASCII "
            "letters, which this version of XGBoost stores wrongly. "
            "Rename the categories with ASCII letters and fit again."
        )
    joined = bytes(text.tolist()).decode("ascii")
    return tuple(joined[start:stop] for start, stop in pairwise(offsets))


def numbers(values, dtype, n_expected=None):
    """The values as an array of one dimension, of a given length if one is given."""
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "biuf":
        raise ValueError("a list of numbers holds something else")
    if np.dtype(dtype).kind == "i" and array.dtype.kind == "f" and array.size:
        raise ValueError("a list of whole numbers holds fractions")
    if array.ndim != 1 or (n_expected is not None and len(array) != n_expected):
        raise ValueError("the lists of a tree differ in length")
    with np.errstate(over="ignore"):
        converted = array.astype(dtype)
    if converted.dtype.kind == "i" and (converted != array).any():
        raise ValueError("a number is too large")
    return converted
