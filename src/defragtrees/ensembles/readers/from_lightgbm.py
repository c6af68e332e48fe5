"""Read LightGBM: its scikit-learn wrappers, a Booster, and files saved as text.

All are read through the text of the model; lightgbm is not needed for a file. LightGBM
tests `x <= threshold` in float64; a category in the set of a split goes left, all
others, missing ones too, go right.
"""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from defragtrees.ensembles.forest import Forest, Tree
from defragtrees.ensembles.readers import (
    Allowance,
    report_damage,
    task_and_link,
    what_is_predicted,
)
from defragtrees.ensembles.rewriting import count_as_missing
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
    if any(int(tree.get("is_linear", "0")) for tree in model.trees):
        raise UnsupportedModelError(
            "Cannot read a LightGBM model with linear trees: only constant leaves are "
            "supported. Fit with linear_tree=False."
        )
    trees = [TreeFields(tree) for tree in model.trees]
    for tree in trees:
        if ((tree.feature < 0) | (tree.feature >= len(names))).any():
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
        predicts=what_is_predicted(
            model.header.get("objective", "").split(" ")[0],
            (model.parameters or {}).get("alpha") or 0.5,  # the level
        ),
    )


def _task(header, kind):
    """Task, link and the factor before it, as the wrapper or the Booster uses them."""
    name, *options = header.get("objective", "custom").split() or ["custom"]
    task, link = task_and_link(OBJECTIVES, name, KIND, kind)
    if "sqrt" in options:
        link = "signed_square"
    settings = dict(option.split(":") for option in options if ":" in option)
    return task, link, float(settings.get("sigmoid", "1"))


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


def _tree(tree, output, n_outputs, codes):
    leaf = np.full(tree.n_leaves, -1)
    value = np.zeros((2 * tree.n_leaves - 1, n_outputs))
    value[tree.n_inner :, output] = tree.leaf_value
    labelled = np.array([known is not None for known in codes])[tree.feature]
    # LightGBM turns every x of [-ZERO, ZERO] into zero before it compares.
    threshold, below = tree.threshold, np.nextafter(-ZERO, -np.inf)
    threshold = np.where((threshold >= -ZERO) & (threshold < 0), below, threshold)
    threshold = np.where((threshold >= 0) & (threshold < ZERO), ZERO, threshold)
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


# The text: header, trees, parameters and category labels.

MISSING_NONE, MISSING_ZERO, MISSING_NAN = 0, 1, 2


class ModelText(NamedTuple):
    """The parts of the file; the header and each tree map keys to text."""

    header: dict
    trees: list
    parameters: dict | None  # None if the file has no parameters, or only some
    labels: list | None


def parse_text(text):
    r"""Parse the text of a model.

    Raises ValueError if it is not from LightGBM, or ends within its trees.

    Examples
    --------
    >>> parse_text("tree\nversion=v4\n\nend of trees\n").header
    {'version': 'v4'}
    """
    lines = [line.rstrip("\r") for line in text.split("\n")]
    if lines[0] != "tree":
        raise ValueError("its first line is not 'tree'")
    if "end of trees" not in lines:
        raise ValueError("it ends before 'end of trees'")
    end = lines.index("end of trees")
    header, *trees = _sections(lines[1:end])
    n_sizes = len(header.get("tree_sizes", "").split())
    if "tree_sizes" in header and n_sizes != len(trees):
        raise ValueError(f"it should have {n_sizes} trees; {len(trees)} are there")
    return ModelText(header, trees, *_tail(lines[end + 1 :]))


def _sections(lines):
    """The header and the trees."""
    sections = [{}]
    for line in lines:
        name, _, value = line.partition("=")
        if name == "Tree":
            if int(value) != len(sections) - 1:
                raise ValueError(f"tree {len(sections) - 1} is missing")
            sections.append({})
        elif name in sections[-1]:
            raise ValueError(f"{name!r} comes twice")
        elif name:
            sections[-1][name] = value
    return sections


def _tail(lines):
    """The parameters and the category labels."""
    parameters = labels = None
    if "parameters:" in lines:
        if "end of parameters" not in lines:
            raise ValueError("it ends within its parameters")
        start, stop = lines.index("parameters:"), lines.index("end of parameters")
        pairs = [line.strip("[]").partition(":") for line in lines[start + 1 : stop]]
        parameters = {name: value.strip() for name, _, value in pairs}
    for line in filter(None, lines):
        if line.startswith("pandas_categorical:"):
            labels = json.loads(line.partition(":")[2])
        elif "pandas_categorical:".startswith(line):
            raise ValueError("it ends within its category labels")
    return parameters, labels


class TreeFields:
    """The numbers of one tree; inner nodes come first, then the leaves."""

    def __init__(self, tree):
        self.n_leaves = n_leaves = int(tree["num_leaves"])
        self.n_inner = n_inner = n_leaves - 1
        if n_leaves < 1:
            raise ValueError(f"a tree has {n_leaves} leaves")

        def of_splits(key, dtype=int):
            return _numbers(tree[key] if n_inner else "", dtype, n_inner)

        def children(key):
            child = of_splits(key)
            if ((child >= n_inner) | (child < -n_leaves)).any():
                raise ValueError("a child is not a node of its tree")
            # Leaf 0 is written as -1.
            return np.where(child < 0, n_inner - 1 - child, child)

        self.feature = of_splits("split_feature")
        self.threshold = of_splits("threshold", float)
        if np.isnan(self.threshold).any():
            raise ValueError("a threshold is not a number")
        self.left, self.right = children("left_child"), children("right_child")
        kind = of_splits("decision_type")
        if ((kind < 0) | (kind >> 2 > MISSING_NAN)).any():
            raise ValueError("a split is of an unknown type")
        self.is_set = kind & 1 == 1
        self.default_left = kind & 2 == 2
        self.missing = kind >> 2
        self.leaf_value = _numbers(tree["leaf_value"], float, n_leaves)
        # Training rows in each node; NaN if not stored.
        self.cover = np.full(n_inner + n_leaves, np.nan)
        if tree.get("leaf_count", "").strip():
            self.cover[n_inner:] = _numbers(tree["leaf_count"], int, n_leaves)
            self.cover[:n_inner] = _numbers(
                tree.get("internal_count", ""), int, n_inner
            )
        self.sets = _sets(tree)

    def set_of(self, node):
        """The category numbers that go left at a split on categories."""
        number = self.threshold[node]
        if not 0 <= number < len(self.sets):
            raise ValueError("a split on categories has none")
        return self.sets[int(number)]


def _numbers(text, dtype, n_expected=None):
    words = text.split()
    if n_expected is not None and len(words) != n_expected:
        raise ValueError(f"{len(words)} numbers are where {n_expected} are needed")
    return np.array([dtype(word) for word in words], dtype=np.dtype(dtype))


def _sets(tree):
    """The category numbers of each set; the threshold of a split is its set number."""
    n_sets = int(tree.get("num_cat", "0"))
    if n_sets == 0:
        return []
    bounds = _numbers(tree["cat_boundaries"], int, n_sets + 1)
    words = _numbers(tree["cat_threshold"], int)
    inside = (
        bounds[0] == 0 and bounds[-1] == len(words) and (np.diff(bounds) >= 0).all()
    )
    if not inside or (words < 0).any() or (words >= 2**32).any():
        raise ValueError("its sets of categories do not fit together")
    sets = []
    for start, stop in pairwise(bounds):
        # Bit b of word w stands for category 32 w + b.
        octets = words[start:stop].astype("<u4").view(np.uint8)
        sets.append(np.flatnonzero(np.unpackbits(octets, bitorder="little")))
    return sets


# Categorical features and their labels.
#
# The labels of a frame are stored as one list per categorical column, in order, but
# without the names of the columns. An unordered column is split on sets, an ordered one
# by its positions, as if they were numbers. Without a frame the data held integers,
# which are then the labels.


def read_categories(model, names, trees):
    """The labels of each feature, and LightGBM's codes of them.

    Both are None if the feature is numeric.
    """
    n_features = len(names)
    in_sets = {int(j) for tree in trees for j in tree.feature[tree.is_set]}
    in_numbers = {int(j) for tree in trees for j in tree.feature[~tree.is_set]}
    if in_sets and model.parameters is None:
        raise ValueError("it ends before its parameters and category labels")
    infos = model.header.get("feature_infos", "none" + " none" * (n_features - 1))
    infos = infos.split(" ")
    if len(infos) != n_features:
        raise ValueError(f"it describes {len(infos)} of {n_features} features")
    # The codes of the features that are described by codes; -1 stands for missing.
    listed = {
        j: [code for code in map(int, info.split(":")) if code >= 0]
        for j, info in enumerate(infos)
        if info != "none" and not info.startswith("[")
    }
    declared = in_sets | set(listed)
    text = (model.parameters or {}).get("categorical_feature", "")
    if re.fullmatch(r"\d+(,\d+)*", text):
        declared |= {int(word) for word in text.split(",") if int(word) < n_features}
    lists = [tuple(known) for known in model.labels or ()]
    if not all(isinstance(v, (str, int, float)) for known in lists for v in known):
        raise ValueError("its category labels are not plain values")
    labels = [None] * n_features
    codes = [None] * n_features
    for j, known in _placed(lists, infos, listed, declared).items():
        labels[j], codes[j] = known, np.arange(len(known))
    for j in in_sets | set(listed):
        if labels[j] is not None:
            continue
        if j in in_numbers:
            raise UnsupportedModelError(
                f"Cannot read this LightGBM model: it splits on {names[j]!r} both "
                "as a number and as a category. Fit all its trees in one call."
            )
        parts = [np.array(listed.get(j, ()), dtype=np.int64)]
        for tree in trees:
            nodes = np.flatnonzero(tree.is_set & (tree.feature == j))
            parts += [tree.set_of(node) for node in nodes]
        codes[j] = np.unique(np.concatenate(parts))
        labels[j] = tuple(codes[j].tolist())
    return tuple(labels), tuple(codes)


def _placed(lists, infos, listed, declared):
    """The column of each list: the only assignment, in order, that fits."""
    if not lists:
        return {}
    fits = np.zeros((len(lists), len(infos)), dtype=bool)
    for i, known in enumerate(lists):
        for j, info in enumerate(infos):
            fits[i, j] = _fits(len(known), info, listed.get(j))
    # LightGBM declares the unordered columns of a frame itself; other columns are
    # possible only if the user declares them, so they come second.
    for kept in (declared, set()):
        ways = _count_ways(fits, kept)
        if ways[0, 0] == 1:
            placed = {}
            for j in range(len(infos)):
                i = len(placed)
                if i < len(lists) and fits[i, j] and ways[i + 1, j + 1]:
                    placed[j] = lists[i]
            return placed
        if ways[0, 0] > 1:
            break
    raise UnsupportedModelError(
        "Cannot read this LightGBM model: which columns hold the categories "
        f"{list(lists[0][:5])} is not stored, and none or several fit. "
        "Fit with unordered categories only, and let LightGBM find them."
    )


def _fits(n_labels, info, codes):
    if codes is not None:
        return max(codes, default=-1) < n_labels
    if info == "none":
        return True
    low, _, high = info.strip("[]").partition(":")
    low, high = float(low), float(high)
    return 0 <= low <= high < n_labels and low.is_integer() and high.is_integer()


def _count_ways(fits, kept):
    """ways[i, j]: number of ways to assign lists from i to columns from j, up to 2."""
    n_lists, n_columns = fits.shape
    ways = np.zeros((n_lists + 1, n_columns + 1), dtype=np.int8)
    ways[n_lists, n_columns] = 1
    for j in range(n_columns - 1, -1, -1):
        for i in range(n_lists, -1, -1):
            n_ways = 0 if j in kept else ways[i, j + 1]
            if i < n_lists and fits[i, j]:
                n_ways += ways[i + 1, j + 1]
            ways[i, j] = min(n_ways, 2)
    return ways
