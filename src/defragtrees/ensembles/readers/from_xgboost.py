"""Read XGBoost: its scikit-learn wrappers, a Booster, and JSON or UBJSON files.

All are read through the same document; xgboost is not needed for a file. A wrapper
predicts with the trees up to the best iteration of early stopping, a Booster with all;
a file records which of the two saved it.
"""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
from sklearn.exceptions import NotFittedError

from defragtrees.ensembles.forest import Forest, Tree, exact_threshold
from defragtrees.ensembles.readers import (
    Allowance,
    report_damage,
    task_and_link,
    what_is_predicted,
)
from defragtrees.ensembles.rewriting import count_as_missing
from defragtrees.errors import UnsupportedModelError

NAME, KIND = "XGBoost", "an XGBoost model"
SUFFIXES = (".json", ".ubj")

MAX_COUNT = 2**20  # features or outputs; a damaged file may claim more
# Links of a Booster, by objective. If the link is the exponential or the sigmoid, the
# stored base score is on the scale of the prediction.
OBJECTIVES = {
    f"{family}:{name}": (task, link)
    for task, link, family, names in (
        ("classification", "step", "binary", "hinge"),
        ("classification", "sigmoid", "binary", "logistic"),
        ("classification", "softmax", "multi", "softmax softprob"),
        ("regression", "identity", "binary", "logitraw"),
        ("regression", "identity", "rank", "map ndcg pairwise"),
        ("regression", "identity", "reg", "absoluteerror linear pseudohubererror"),
        ("regression", "identity", "reg", "quantileerror squarederror squaredlogerror"),
        ("regression", "sigmoid", "reg", "logistic"),
        ("regression", "exp", "reg", "gamma tweedie"),
        ("regression", "exp", "count", "poisson"),
        ("regression", "exp", "survival", "aft cox"),
    )
    for name in names.split()
}


def read(model):
    """Read a fitted XGBoost model as a Forest.

    Of a wrapper the trees up to the best iteration are read, of a Booster all. Classes
    are 0, 1, ... With `binary:logitraw` a Booster predicts a number.
    """
    if not hasattr(model, "get_booster"):
        return _forest(*_document(model), None)
    kind = "classifier" if hasattr(model, "predict_proba") else "regressor"
    names = getattr(model, "feature_names_in_", None)
    document, allowance = _document(model.get_booster())
    return _forest(document, allowance, kind, names, float(model.missing))


def is_file(file):
    """Whether this is JSON or UBJSON with a learner in it."""
    # CatBoost's JSON may have a feature of this name.
    return b"learner" in file.json and b'"features_info"' not in file.json


def read_file(path):
    """Read a `.json` or `.ubj` file; xgboost is not needed."""
    path = Path(path)
    with report_damage(NAME, path.name):
        content = path.read_bytes()
        document = _parsed(content)
        attributes = document["learner"].get("attributes", {})
        kind = None
        if "scikit_learn" in attributes:
            kind = json.loads(attributes["scikit_learn"]).get("_estimator_type")
        return _forest(document, Allowance(NAME, len(content)), kind)


def _document(booster):
    try:
        data = booster.save_raw("ubj")
    except ValueError:  # what XGBoost raises for a Booster without any feature
        raise NotFittedError("This XGBoost Booster has not been trained.") from None
    return parse_ubjson(bytes(data)), Allowance(NAME, len(data))


def _parsed(data):
    if data[:1] != b"{":
        raise ValueError(
            "it does not begin with '{'; save it with save_model as .json or .ubj"
        )
    # In JSON the first member follows; in UBJSON the type of its length does.
    if data[1:2] in (b'"', b"}", b" ", b"\t", b"\r", b"\n"):
        return json.loads(data)
    return parse_ubjson(data)


def _forest(document, allowance, kind, names=None, missing=np.nan):
    """Read a document as a Forest, within the memory allowance.

    `kind` is "classifier", "regressor" or "ranker" for a wrapper, and None for a
    Booster.
    """
    learner, version = document["learner"], tuple(document.get("version", ()))
    # Only a frame has names and labels; an array has positions for categories.
    has_sets = "c" in (learner.get("feature_types") or ())
    if version < (3, 1) and has_sets and learner.get("feature_names"):
        raise UnsupportedModelError(
            "Cannot read this XGBoost model: it was fitted on a data frame with "
            "categories by XGBoost before 3.1, which does not save their labels. Fit "
            "it again with XGBoost 3.1 or later, or on an array of category numbers, "
            "with feature_types."
        )
    model, weights = _booster(learner["gradient_booster"])
    parameters = learner["learner_model_param"]
    n_classes = int(parameters.get("num_class", "0"))
    n_targets = int(parameters.get("num_target", "1"))
    n_outputs = max(n_classes, n_targets, 1)
    if min(n_classes, n_targets) < 0 or n_outputs > MAX_COUNT:
        raise ValueError(f"it claims to have {n_classes} classes, {n_targets} targets")
    allowance.take_labels(n_outputs, "outputs")
    task, link = _task(learner["objective"]["name"], kind, n_targets)
    n_used = _n_used_trees(learner, model) if kind is not None else len(model["trees"])
    documents = model["trees"][:n_used]
    groups = _groups(model, n_outputs)[:n_used]
    names = _names(learner, parameters, names)
    types = learner.get("feature_types") or ()
    categories = read_categories(
        model, types, documents, len(names), missing, allowance
    )
    objective = learner["objective"]
    levels = objective.get("quantile_loss_param", {}).get("quantile_alpha", "0.5")
    return Forest(
        trees=read_trees(documents, groups, n_outputs, categories, missing, allowance),
        feature_names=names,
        task=task,
        classes=range(max(2, n_outputs)) if task == "classification" else None,
        base=_base(learner, n_outputs, version),
        weights=None if weights is None else weights[:n_used],
        link=link,
        categories=categories,
        # XGBoost writes one level as [0.9].
        predicts=what_is_predicted(
            objective["name"], str(levels).strip("[]").split(",")[0]
        ),
    )


def _booster(booster):
    """The part with the trees, and the weights of the trees (None if all are 1)."""
    name = booster["name"]
    if name == "gbtree":
        # From 3.4 on, dart is not a separate booster.
        model = booster["model"]
        stored = model.get("weight_drop")
    elif name == "dart":
        model, stored = booster["gbtree"]["model"], booster["weight_drop"]
    else:
        raise UnsupportedModelError(
            f"Cannot read an XGBoost ensemble of {name!r}: it has no trees. "
            "Fit with booster='gbtree'."
        )
    if stored is None:
        return model, None
    weights = np.asarray(stored, np.float64)
    if weights.shape != (len(model["trees"]),):
        raise ValueError("it does not have one weight per tree")
    return model, weights


def _task(objective, kind, n_targets):
    """Task and link of the objective, as the wrapper or the Booster uses it."""
    task, link = task_and_link(OBJECTIVES, objective, KIND, kind)
    if n_targets > 1 and (objective == "reg:quantileerror" or link != "identity"):
        raise UnsupportedModelError(
            f"Cannot read an XGBoost model with the objective {objective!r} and "
            f"{n_targets} outputs. Fit one model per output."
        )
    return task, link


def _n_used_trees(learner, model):
    """Number of trees up to the best iteration; all without early stopping."""
    best = learner.get("attributes", {}).get("best_iteration")
    n_trees = len(model["trees"])
    if best is None:
        return n_trees
    if "iteration_indptr" in model:
        starts = np.asarray(model["iteration_indptr"], np.int64)
        return min(int(starts[min(int(best) + 1, len(starts) - 1)]), n_trees)
    per_iteration = int(model["gbtree_model_param"]["num_parallel_tree"])
    per_iteration *= max(1, int(learner["learner_model_param"]["num_class"]))
    return min((int(best) + 1) * per_iteration, n_trees)


def _groups(model, n_outputs):
    groups = np.asarray(model["tree_info"], np.int64)
    n_trees = int(model["gbtree_model_param"]["num_trees"])
    if not len(model["trees"]) == n_trees == len(groups):
        raise ValueError(f"it should have {n_trees} trees")
    if groups.size and not 0 <= groups.min() <= groups.max() < n_outputs:
        raise ValueError(f"a tree adds to an output beyond the {n_outputs}")
    return groups


def _names(learner, parameters, names):
    n_features = int(parameters["num_feature"])
    if not 0 < n_features <= MAX_COUNT:
        raise ValueError(f"it claims to have {n_features} features")
    stored = learner.get("feature_names") or names
    if stored is None or len(stored) == 0:
        return tuple(f"x{j + 1}" for j in range(n_features))
    if len(stored) != n_features:
        raise ValueError(f"it has {len(stored)} names for {n_features} features")
    return tuple(str(name) for name in stored)


def _base(learner, n_outputs, version):
    """The base of each output, added to the sum of the trees."""
    text = learner["learner_model_param"]["base_score"]
    stored = json.loads(text) if text.lstrip().startswith("[") else [float(text)]
    base = np.asarray(stored, np.float32)
    if base.shape not in ((1,), (n_outputs,)):
        raise ValueError(f"it has {base.size} base scores for {n_outputs} outputs")
    link = OBJECTIVES[learner["objective"]["name"]][1]
    one = np.float32(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        if link == "sigmoid":
            # From 3.2 on, XGBoost keeps away from 0 and 1.
            edge = np.float32(1e-6 if version >= (3, 2) else 0)
            base = -np.log(one / np.clip(base, edge, one - edge) - one)
        elif link == "exp":
            base = np.log(base)
    return np.broadcast_to(base.astype(np.float64), (n_outputs,))


# Trees and categories.
#
# XGBoost rounds x to float32 and tests `x < threshold`. At a split on categories, those
# in the stored set go right; all others, unknown ones too, go left.


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
        node = _Nodes(document, is_set)
        feature = np.where(node.is_leaf, -1, node.feature)
        threshold = np.where(node.in_set, 0.0, node.threshold)
        sides = node.left, node.right, node.default_left
        value = _values(document, node, group, n_outputs)
        sets = _sets(document, node, categories, width, missing)
        tree = Tree(feature, threshold, *sides, value, node.cover, sets)
        if not np.isnan(missing):
            low = np.nextafter(exact_threshold(missing, strict=True), np.inf)
            high = exact_threshold(missing)
            splits_numbers = ~node.is_leaf & ~node.in_set
            tree = count_as_missing(tree, low, high, splits_numbers)
        trees.append(tree)
    return tuple(trees)


class _Nodes:
    """The arrays of a tree, checked for length and content.

    `is_set` are the features with categories.
    """

    def __init__(self, document, is_set):
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
        is_categorical = numbers(kind, np.int64, self.n_nodes) == 1
        self.in_set = is_categorical & ~self.is_leaf
        used = self.feature[~self.is_leaf]
        if used.size and not 0 <= used.min() <= used.max() < len(is_set):
            raise ValueError(f"a tree splits on a feature beyond the {len(is_set)}")
        # A split on categories needs no threshold; before 3.0 it is saved as NaN.
        if np.isnan(self.stored[~self.is_leaf & ~is_categorical]).any():
            raise ValueError("a threshold is not a number")
        if (self.in_set[~self.is_leaf] != is_set[used]).any():
            raise ValueError("a feature is split both as number and as category")
        # Outputs of a leaf; 1 if trees take turns with several outputs.
        self.n_outputs = int(document["tree_param"].get("size_leaf_vector", "1"))
        self.cover = None
        # Before 3.2, trees with several outputs have no weights of training rows.
        if "sum_hessian" in document or self.n_outputs <= 1:
            self.cover = numbers(document["sum_hessian"], np.float32, self.n_nodes)


def _values(document, node, group, n_outputs):
    value = np.zeros((node.n_nodes, n_outputs))
    if node.n_outputs <= 1:
        value[node.is_leaf, group] = node.stored[node.is_leaf]
        return value
    if node.n_outputs != n_outputs:
        raise ValueError(f"a leaf has {node.n_outputs} outputs instead of {n_outputs}")
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


def _sets(document, node, categories, width, missing):
    """The category positions that go left at each node; None without such splits."""
    in_set = node.in_set
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
    # XGBoost compares the position, not the label, with the number for missing.
    for at in [] if np.isnan(missing) else np.flatnonzero(in_set):
        labels = categories[node.feature[at]]
        position = len(labels) - 1 if type(labels[-1]) is float else missing
        if 0 <= position < len(labels) and position == int(position):
            sets[at, int(position)] = node.default_left[at]
    return sets


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
            labels[j] = tuple(range(n_labels))
            # A number that means missing is also a label, with its own side.
            if np.isfinite(missing) and missing not in labels[j]:
                labels[j] += (float(missing),)
    return tuple(labels)


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


# UBJSON, the binary form of JSON that XGBoost saves. Nothing is executed, and every
# length is checked against the number of bytes left.

MAX_DEPTH = 64  # XGBoost nests less than ten levels deep
NUMBERS = {
    b"i": np.dtype(">i1"),
    b"U": np.dtype(">u1"),
    b"I": np.dtype(">i2"),
    b"l": np.dtype(">i4"),
    b"L": np.dtype(">i8"),
    b"d": np.dtype(">f4"),
    b"D": np.dtype(">f8"),
}
CONSTANTS = {b"Z": None, b"T": True, b"F": False}


def parse_ubjson(data):
    r"""Parse UBJSON; arrays of one number type become ndarrays.

    Raises ValueError if the bytes end early, continue after the value, or are not
    UBJSON.

    Examples
    --------
    >>> parse_ubjson(b"{i\x01a[i\x05T]}")
    {'a': [5, True]}
    """
    cursor = _Cursor(data)
    value = cursor.value(cursor.marker(), 0)
    if cursor.at != len(data):
        raise ValueError(f"{len(data) - cursor.at} bytes follow after its end")
    return value


class _Cursor:
    """A position in the bytes, with methods to read on."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, n_bytes):
        if n_bytes < 0 or n_bytes > len(self.data) - self.at:
            raise ValueError(f"it ends early, after {len(self.data)} bytes")
        self.at += n_bytes
        return self.data[self.at - n_bytes : self.at]

    def peek(self):
        while self.data[self.at : self.at + 1] == b"N":  # no-op
            self.at += 1
        return self.data[self.at : self.at + 1]

    def marker(self):
        self.peek()
        return self.take(1)

    def value(self, marker, depth):
        if marker in NUMBERS:
            dtype = NUMBERS[marker]
            return np.frombuffer(self.take(dtype.itemsize), dtype).item()
        if marker in CONSTANTS:
            return CONSTANTS[marker]
        if marker == b"C":
            return self.take(1).decode("ascii")
        if marker in (b"S", b"H"):  # H spells a number too long for the other types
            return self.text()
        if depth > MAX_DEPTH:
            raise ValueError(f"it nests more than {MAX_DEPTH} levels deep")
        if marker in (b"[", b"{"):
            return self.items(marker == b"{", depth)
        raise ValueError(f"byte {self.at - 1} has the unknown type {marker!r}")

    def length(self):
        length = self.value(self.marker(), MAX_DEPTH)
        if type(length) is not int or length < 0:
            raise ValueError(f"byte {self.at} should be a length")
        return length

    def text(self):
        return self.take(self.length()).decode("utf-8")

    def header(self):
        """The type and the number of the items; None if not given."""
        kind = n_items = None
        if self.peek() == b"$":
            self.take(1)
            kind = self.take(1)
        if self.peek() == b"#":
            self.take(1)
            n_items = self.length()
        if kind is not None and (n_items is None or kind in CONSTANTS):
            raise ValueError(f"byte {self.at} starts items of one type, but no number")
        return kind, n_items

    def items(self, is_object, depth):
        """The members of an object, or the items of an array."""
        kind, n_items = self.header()
        if kind in NUMBERS and not is_object:
            dtype = NUMBERS[kind]
            buffer = self.take(n_items * dtype.itemsize)
            return np.frombuffer(buffer, dtype).astype(dtype.newbyteorder("="))
        pairs, end = [], b"}" if is_object else b"]"
        while n_items is None or len(pairs) < n_items:
            if n_items is None and self.peek() == end:
                self.take(1)
                break
            name = self.text() if is_object else None
            marker = kind if kind is not None else self.marker()
            pairs.append((name, self.value(marker, depth + 1)))
        return dict(pairs) if is_object else [value for _, value in pairs]
