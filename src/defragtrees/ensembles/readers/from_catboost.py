"""Read CatBoost: its wrappers, and the .cbm and .json files that they save.

All are read through CatBoost's JSON document. A split tests `float32(x) > border`; a
missing value is below or above every border, depending on the feature. An oblivious
tree has the same split at every node of a level.
"""

import json
import struct
import tempfile
from pathlib import Path

import numpy as np
from sklearn.exceptions import NotFittedError

from defragtrees._utils.formatting import listed
from defragtrees._utils.optional import require
from defragtrees.ensembles.forest import Forest, Tree, exact_threshold
from defragtrees.ensembles.readers import report_damage, what_is_predicted
from defragtrees.errors import ModelFileError, UnsupportedModelError
from defragtrees.tables import is_missing, select_columns, take_rows

NAME, KIND = "CatBoost", "a CatBoost model"
SUFFIXES = (".cbm", ".json")
BINARY_MARK = b"CBM1"

# Links of `predict`, by loss. LogLinQuantile has none, although Poisson and Tweedie,
# also logarithmic, have the exponential.
LOSSES = {
    name: (task, link)
    for task, link, names in (
        ("classification", "sigmoid", "CrossEntropy Focal Logloss MultiClassOneVsAll"),
        ("classification", "softmax", "MultiClass"),
        ("regression", "exp", "Poisson Tweedie"),
        ("regression", "identity", "Cox Expectile Huber LogCosh LogLinQuantile Lq MAE"),
        ("regression", "identity", "MAPE Quantile RMSE RMSPE"),
    )
    for name in names.split()
}
LABEL_TYPES = {  # type of labels, and types that JSON may have converted them to
    "Boolean": (bool,),
    "Float": (float, int),
    "Integer": (int,),
    "String": (str,),
}


def read(model):
    """Read a fitted CatBoost model as a Forest.

    A plain `CatBoost` with a classification loss is read like a `CatBoostClassifier`.
    """
    _check_object(model)
    return _saved(model)


def read_on_table(model, X):
    """Read a model with categories, which are looked up in a table.

    CatBoost stores hashes of categories, so X must have all categories that the
    model splits on. Target statistics are rejected here too.
    """
    _check_object(model)
    X = select_columns(X, model.feature_names_)
    sets, labels, rows = model.get_cat_feature_indices(), {}, set()
    for j in sets:
        values = _column_values(X, j)
        first = {value: i for i, value in reversed(list(enumerate(values)))}
        labels[j] = tuple(sorted(first, key=str))
        rows.update(first.values())
    pool = require("catboost", "Reading CatBoost").Pool
    table = take_rows(X, np.array(sorted(rows), dtype=int))
    return _saved(model, labels, pool(table, cat_features=sets))


def _column_values(X, j):
    if not hasattr(X, "iloc") and not isinstance(X, np.ndarray):
        raise UnsupportedModelError(
            "Cannot read the CatBoost model: X must be a pandas frame or an array, "
            f"to look up categories; got {type(X).__name__}. Pass one of these."
        )
    values = X.iloc[:, j].tolist() if hasattr(X, "iloc") else X[:, j].tolist()
    if any(is_missing(value) for value in values):
        raise UnsupportedModelError(
            "Cannot read the CatBoost model: a categorical column has missing "
            "values, which CatBoost does not accept. Fill them."
        )
    return values


def _check_object(model):
    name = type(model).__name__
    if not model.is_fitted():
        raise NotFittedError(f"This {name} is not fitted yet; call fit first.")
    # CatBoost does not write these to JSON, so they are read from the object here.
    for kind in ("text", "embedding"):
        columns = getattr(model, f"get_{kind}_feature_indices")()
        reject_kind(kind, [model.feature_names_[j] for j in columns])


def _saved(model, labels=None, pool=None):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json", pool=pool)
        return _forest(json.loads(path.read_bytes()), labels)


def is_file(file):
    """Whether this is CatBoost's binary format or its JSON."""
    return file.head.startswith(BINARY_MARK) or b'"features_info"' in file.json


def read_file(path):
    """Read a `.json` or `.cbm` file; catboost is not needed."""
    path = Path(path)
    with report_damage(NAME, path.name):
        return _forest(_document(path)[0])


def load_unread(path):
    """Load a file that cannot be read as trees, with catboost, to query the model."""
    path = Path(path)
    catboost = require("catboost", "A CatBoost model with categories")
    with report_damage(NAME, path.name):
        document, form = _document(path)
        loss = take(_loss(take(document, "model_info", dict)), "type", str)
    is_class = loss in LOSSES and LOSSES[loss][0] == "classification"
    kind = catboost.CatBoostClassifier if is_class else catboost.CatBoostRegressor
    try:
        return kind().load_model(str(path), format=form)
    except catboost.CatBoostError as error:
        why = " ".join(str(error).split()).rstrip(".")
        raise ModelFileError(f"{path.name!r} cannot be loaded: {why}.") from None


def _document(path):
    """The contents of a file, and what catboost calls its format."""
    content = path.read_bytes()
    if content.startswith(BINARY_MARK) or path.suffix == ".cbm":
        return parse_cbm(content), "cbm"
    return json.loads(content), "json"


def _forest(document, labels=None):
    information = take(document, "model_info", dict)
    features = _Features(take(document, "features_info", dict), labels)
    if not features.names:
        raise ValueError("it has no features")
    options = _loss(information)
    loss = take(options, "type", str)
    if loss not in LOSSES:
        raise UnsupportedModelError(
            f"Cannot read the CatBoost model: its loss is {loss!r}. "
            f"Fit it with one of {', '.join(sorted(LOSSES))}."
        )
    task, link = LOSSES[loss]
    classes = None
    if task == "classification":
        classes = _read_classes(information)
        threshold = information.get("binclass_probability_threshold", 0.5)
        if float(threshold) != 0.5:
            raise UnsupportedModelError(
                "Cannot read the CatBoost model: it predicts the second class from "
                f"probability {threshold}, not from 0.5. "
                "Call set_probability_threshold(0.5) first."
            )
    has_output_per_class = loss in ("MultiClass", "MultiClassOneVsAll")
    n_outputs = len(classes) if has_output_per_class else 1
    if classes is not None and len(classes) > max(2, n_outputs):
        raise ValueError(f"{len(classes)} classes do not fit the loss {loss!r}")
    pair = take(document, "scale_and_bias", list, [1.0, 0.0])
    if len(pair) != 2:
        raise ValueError("'scale_and_bias' must have two parts")
    scale = numbers(pair[0], "scale_and_bias", 1)[0]
    bias = numbers(pair[1], "scale_and_bias")
    if len(bias) not in (1, n_outputs):
        raise ValueError(f"'scale_and_bias' does not fit {n_outputs} outputs")
    if "oblivious_trees" in document:
        entries, build = take(document, "oblivious_trees", list), _oblivious_tree
    else:
        entries, build = take(document, "trees", list), _nested_tree
    trees = tuple(build(entry, features, n_outputs, scale) for entry in entries)
    if classes is not None and len(classes) == 1:
        trees, bias, link = (), np.zeros(1), "softmax"
    return Forest(
        trees=trees,
        feature_names=features.names,
        task=task,
        classes=classes,
        base=np.broadcast_to(bias, n_outputs),
        link=link,
        categories=features.categories,
        predicts=what_is_predicted(
            loss, take(options, "params", dict, {}).get("alpha", "0.5")
        ),
    )


def _entry(information, key):
    """A part of the model's description; some files hold it as text."""
    value = information.get(key)
    return json.loads(value) if isinstance(value, str) else value


def _loss(information):
    # A sum of several models stores their common loss one level higher.
    options = _entry(information, "params")
    if options is None:
        options = {"loss_function": _entry(information, "loss_function")}
    return take(options, "loss_function", dict, {"type": "unknown"})


def _read_classes(information):
    """The label of each output; a class without rows has no output."""
    options = _entry(information, "class_params")
    kinds = LABEL_TYPES.get(take(options, "class_label_type", str))
    positions = take(options, "class_to_label", list)
    names = take(options, "class_names", list, [])
    if len(names) == 1:
        # CatBoost counts a second class without name and rows.
        positions = [0]
    names = dict(enumerate(names)) or {j: j for j in positions if type(j) is int}
    if kinds is None or not all(type(name) in kinds for name in names.values()):
        raise ValueError("'class_names' do not fit 'class_label_type'")
    if not all(type(j) is int and j in names for j in positions):
        raise ValueError("'class_to_label' does not fit 'class_names'")
    classes = tuple(kinds[0](names[j]) for j in positions)
    if not classes or len(set(classes)) < len(classes):
        raise ValueError("two classes have the same label, or there are none")
    return classes


# Features and trees of CatBoost's JSON document.

REQUIRED = object()
BITS = 2**32 - 1


def take(mapping, key, kind, default=REQUIRED):
    """The value of a key, of this type, or `default` if it is absent or null."""
    if not isinstance(mapping, dict):
        raise ValueError(f"{key!r} is not where it belongs")
    value = mapping.get(key)
    if value is None and default is not REQUIRED:
        return default
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
        came = "nothing" if value is None else type(value).__name__
        raise ValueError(f"{key!r} must hold {kind.__name__}, not {came}")
    return value


def numbers(values, key, count=None):
    """A number or a list of numbers as a float64 array, of `count` entries."""
    if not isinstance(values, list):
        values = [values]
    array = np.asarray(values) if {*map(type, values)} <= {int, float} else None
    if array is None or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        raise ValueError(f"{key!r} must hold finite numbers")
    if count is not None and len(array) != count:
        raise ValueError(f"{key!r} must hold {count} numbers, not {len(array)}")
    return array.astype(np.float64)


class _Features:
    """The columns of X; `labels` are the categories by number of their column."""

    def __init__(self, information, labels):
        parts = {
            kind: take(information, f"{kind}_features", list, [])
            for kind in ("float", "categorical", "text", "embedding")
        }
        names = _read_names([entry for part in parts.values() for entry in part])
        for kind in ("text", "embedding"):
            reject_kind(kind, [names[e["flat_feature_index"]] for e in parts[kind]])
        self.names, labels = names, labels or {}
        # The column of each float feature, and whether a missing value goes left.
        self.numeric = {}
        for entry in parts["float"]:
            treatment = take(entry, "nan_value_treatment", str, "AsIs")
            if treatment not in NAN_TREATMENTS:
                raise ValueError(f"'nan_value_treatment' {treatment!r} does not exist")
            # By default NaN is not above any border.
            column = entry["flat_feature_index"], treatment != "AsTrue"
            self.numeric[take(entry, "feature_index", int)] = column
        columns = [entry["flat_feature_index"] for entry in parts["categorical"]]
        # Without a table a model that splits on categories is rejected later.
        self.categories = tuple(
            labels.get(j, ()) if j in columns else None for j in range(len(names))
        )
        self.set_column = {}  # the column of each categorical feature, with a table
        if labels:
            indices = [take(e, "feature_index", int) for e in parts["categorical"]]
            self.set_column = dict(zip(indices, columns, strict=True))
        # CatBoost's 32-bit hashes of the categories of each column.
        known = {
            take(entry, "value", str): take(entry, "hash", int) & BITS
            for entry in take(information, "cat_features_hash", list, [])
        }
        self.hashes = {
            j: np.array([known[str(label)] for label in of_column], dtype=np.int64)
            for j, of_column in labels.items()
        }


def _read_names(entries):
    columns = [take(entry, "flat_feature_index", int) for entry in entries]
    if sorted(columns) != list(range(len(columns))):
        raise ValueError("'flat_feature_index' must count the columns")
    names = [""] * len(columns)
    for entry, column in zip(entries, columns, strict=True):
        names[column] = take(entry, "feature_id", str, "")
    if "" in names:
        names = [f"x{column + 1}" for column in range(len(columns))]
    if len(set(names)) < len(names):
        raise ValueError("two features have the same name")
    return tuple(names)


def reject_kind(kind, names):
    if names:
        raise UnsupportedModelError(
            f"Cannot read the CatBoost model: {listed(names)} hold {kind} features. "
            "Convert them to numbers before fitting CatBoost."
        )


def _read_split(split, features):
    """The column, the border, whether a missing value goes left, and the left set."""
    kind = take(split, "split_type", str)
    if kind == "OneHotFeature" and features.set_column:
        return _read_set_split(split, features)
    if kind in ("OnlineCtr", "OneHotFeature"):
        known = zip(features.names, features.categories, strict=True)
        columns = [name for name, categories in known if categories is not None]
        raise UnsupportedModelError(
            "Cannot read the CatBoost model: it splits on target statistics or "
            f"hashes of categories, with the categorical columns {listed(columns)}. "
            "Pass the model as catboost loads it, which is queried, or fit it on "
            "encoded categories."
        )
    index = take(split, "float_feature_index", int)
    if kind != "FloatFeature" or index not in features.numeric:
        raise ValueError(f"a split of type {kind!r} on feature {index} does not exist")
    border = numbers(split.get("border"), "border", 1)
    column, missing_left = features.numeric[index]
    return column, border[0], missing_left, None


def _read_set_split(split, features):
    """A split that sends one category to the right, and all others to the left."""
    column = features.set_column[take(split, "cat_feature_index", int)]
    is_meant = features.hashes[column] == take(split, "value", int) & BITS
    if not is_meant.any():
        raise UnsupportedModelError(
            "Cannot read the CatBoost model: it splits on a category of "
            f"{features.names[column]!r} that does not occur in X. Pass more rows."
        )
    return column, 0.0, True, np.append(~is_meant, True)


class _Growing:
    """Arrays of a tree while nodes are added; children come after their parents."""

    def __init__(self, capacity, n_outputs):
        self.feature = np.full(capacity, -1)
        self.border = np.zeros(capacity)
        self.missing_left = np.zeros(capacity, bool)
        self.sets = {}  # for nodes with categories, which of them go left
        self.children = np.full((2, capacity), -1)
        self.value = np.zeros((capacity, n_outputs))
        self.cover = np.full(capacity, np.nan)
        self.n_nodes = 1

    def split(self, nodes, column, border, missing_left, inside):
        """Give each of these nodes two new children; returns them, (2, n)."""
        n_new = 2 * len(nodes)
        new = np.arange(self.n_nodes, self.n_nodes + n_new).reshape(2, -1)
        self.n_nodes += n_new
        self.feature[nodes] = column
        self.border[nodes] = border
        self.missing_left[nodes] = missing_left
        self.children[:, nodes] = new
        if inside is not None:
            self.sets.update((int(node), inside) for node in nodes)
        return new

    def finish(self, scale):
        n = self.n_nodes
        left, right = self.children[:, :n]
        for node in np.flatnonzero(left >= 0)[::-1]:
            self.cover[node] = self.cover[left[node]] + self.cover[right[node]]
        sets = np.zeros((n, max(map(len, self.sets.values()), default=0)), bool)
        for node, inside in self.sets.items():
            sets[node, : len(inside)] = inside
        threshold = exact_threshold(self.border[:n], np.float32)
        splits = self.feature[:n], threshold, left, right, self.missing_left[:n]
        return Tree(*splits, scale * self.value[:n], self.cover[:n], sets)


def _oblivious_tree(entry, features, n_outputs, scale):
    splits = [_read_split(s, features) for s in take(entry, "splits", list, [])]
    weights = numbers(take(entry, "leaf_weights", list, []), "leaf_weights")
    if len(splits) > MOST_SPLITS:
        raise ValueError(f"a tree with {len(splits)} splits cannot exist")
    n_leaves = 2 ** len(splits)
    values = numbers(entry.get("leaf_values"), "leaf_values", n_leaves * n_outputs)
    growing = _Growing(2 * n_leaves - 1, n_outputs)
    nodes, codes = np.zeros(1, int), np.zeros(1, int)
    for level, split in enumerate(splits):
        side = _known_sides(splits[:level], codes, split)
        open_ = side < 0
        children = growing.split(nodes[open_], *split)
        bit = 1 << level
        nodes = np.concatenate([nodes[~open_], *children])
        known = codes[~open_] + bit * side[~open_]
        codes = np.concatenate([known, codes[open_], codes[open_] + bit])
    growing.value[nodes] = values.reshape(n_leaves, n_outputs)[codes]
    if len(weights) == n_leaves:
        growing.cover[nodes] = weights[codes]
    return growing.finish(scale)


def _known_sides(earlier, codes, split):
    """The side of a split implied by earlier splits on the same feature: 0, 1, or -1.

    A missing value is on the same side of all borders of its feature, so it agrees.
    """
    side = np.full(len(codes), -1)
    column, border, _, inside = split
    for level, (other, earlier_border, _, earlier_inside) in enumerate(earlier):
        bit = codes >> level & 1
        if other == column and inside is None:
            side[(bit == 1) & (earlier_border >= border)] = 1
            side[(bit == 0) & (earlier_border <= border)] = 0
        elif other == column:
            # A row of one category is of no other; else it may be of any other.
            is_same = np.array_equal(inside, earlier_inside)
            side[bit == 1] = int(is_same)
            if is_same:
                side[bit == 0] = 0
    return side


def _nested_tree(entry, features, n_outputs, scale):
    nodes = [entry]
    for node in nodes:  # which grow here
        if "split" in node:
            nodes += [take(node, side, dict) for side in ("left", "right")]
    growing = _Growing(len(nodes), n_outputs)
    for place, node in enumerate(nodes):
        if "split" in node:
            growing.split(np.array([place]), *_read_split(node["split"], features))
            continue
        growing.value[place] = numbers(node.get("value"), "value", n_outputs)
        if node.get("weight") is not None:
            growing.cover[place] = numbers(node["weight"], "weight", 1)[0]
    return growing.finish(scale)


# CatBoost's binary file (.cbm) in the layout of its JSON file.
#
# The file is a FlatBuffer with CatBoost's published schema; only what a Forest needs is
# read. CatBoost itself crashes on some altered files, so the bytes are parsed here with
# every offset checked. catboost is not needed.

# Field numbers, in the order of the schema.
CORE_TREES, CORE_INFO = 1, 2
SPLITS, SIZES = 1, 2
CATEGORICAL, FLOAT, ONE_HOT, COUNTED = 4, 5, 6, 7
LEAF_VALUES, LEAF_WEIGHTS, STEPS, STEP_LEAVES = 8, 9, 10, 11
TEXT, ESTIMATED, SCALE, BIAS, BIASES, EMBEDDING = 12, 13, 14, 15, 16, 18
FLOAT_FIELDS = {
    "feature_index": (1, "<i", -1),
    "flat_feature_index": (2, "<i", -1),
    "feature_id": 4,
    "nan_value_treatment": (5, "<b", 0),
}
OTHER_FIELDS = {
    "feature_index": (0, "<i", -1),
    "flat_feature_index": (1, "<i", -1),
    "feature_id": 2,
}
OTHER_KINDS = {"categorical": CATEGORICAL, "text": TEXT, "embedding": EMBEDDING}
INFORMATION = (
    *("params", "loss_function", "class_params"),
    "binclass_probability_threshold",
)
NAN_TREATMENTS = ("AsIs", "AsFalse", "AsTrue")
MOST_SPLITS = 32  # of an oblivious tree, whose leaves would be 2 ** 32


def parse_cbm(data):
    """The bytes of a .cbm file as a dict in the layout of CatBoost's JSON file."""
    if data[:4] != b"CBM1":
        raise ValueError("it does not begin with 'CBM1'")
    if len(data) < 12 or int.from_bytes(data[4:8], "little") > len(data) - 8:
        raise ValueError(f"it ends after {len(data)} bytes")
    size = int.from_bytes(data[4:8], "little")
    buffer = _Buffer(data[8 : 8 + size])
    core = _Table(buffer, buffer.number("<I", 0))
    trees = core.table(CORE_TREES)
    dimension = trees.number(0, "<i", 1)
    if dimension < 1:
        raise ValueError(f"its trees have {dimension} outputs")
    biases = trees.array(BIASES, "<f8").tolist()
    facts = {entry.string(0): entry for entry in core.tables(CORE_INFO)}
    document = {
        "features_info": _features(trees),
        "model_info": {k: facts[k].string(1) for k in INFORMATION if k in facts},
        "scale_and_bias": [
            trees.number(SCALE, "<d", 1.0),
            biases or [trees.number(BIAS, "<d", 0.0)],
        ],
    }
    if len(trees.array(STEPS, "<u4")):
        document["trees"] = _nested_trees(trees, dimension)
    else:
        document["oblivious_trees"] = _oblivious_trees(trees, dimension)
    return document


def _features(trees):
    floats = [_fields(entry, FLOAT_FIELDS) for entry in trees.tables(FLOAT)]
    for entry in floats:
        treatment = entry["nan_value_treatment"]
        if not 0 <= treatment < len(NAN_TREATMENTS):
            raise ValueError(f"nan treatment {treatment} does not exist")
        entry["nan_value_treatment"] = NAN_TREATMENTS[treatment]
    features = {"float_features": floats}
    for kind, slot in OTHER_KINDS.items():
        entries = [_fields(entry, OTHER_FIELDS) for entry in trees.tables(slot)]
        features[f"{kind}_features"] = entries
    return features


def _fields(entry, fields):
    """Some fields of a table: texts, and numbers with their format and default."""
    return {
        name: entry.number(*field) if isinstance(field, tuple) else entry.string(field)
        for name, field in fields.items()
    }


def _splits(trees):
    """The split of each step, in the order of the file; None if there is none."""
    borders = [
        {
            "split_type": "FloatFeature",
            "float_feature_index": entry.number(1, "<i", -1),
            "border": border,
        }
        for entry in trees.tables(FLOAT)
        for border in entry.array(3, "<f4").tolist()
    ]
    has_others = any(trees.tables(slot) for slot in (ONE_HOT, COUNTED, ESTIMATED))
    # Splits on other features come after all borders.
    other = {"split_type": "OnlineCtr"} if has_others else None
    known = dict(enumerate(borders))
    numbers = trees.array(SPLITS, "<i4").tolist()
    return [None if number < 0 else known.get(number, other) for number in numbers]


def _oblivious_trees(trees, dimension):
    splits = _splits(trees)
    values = trees.array(LEAF_VALUES, "<f8")
    weights = trees.array(LEAF_WEIGHTS, "<f8")
    built, at_split, at_leaf = [], 0, 0
    for depth in trees.array(SIZES, "<i4").tolist():
        if not 0 <= depth <= MOST_SPLITS:
            raise ValueError(f"a tree of depth {depth} cannot exist")
        chosen, end = splits[at_split : at_split + depth], at_leaf + 2**depth
        if len(chosen) < depth or end * dimension > len(values):
            raise ValueError("there are fewer splits or leaves than the trees need")
        leaves = values[at_leaf * dimension : end * dimension].tolist()
        tree = {"splits": chosen, "leaf_values": leaves}
        built.append({**tree, "leaf_weights": weights[at_leaf:end].tolist()})
        at_split, at_leaf = at_split + depth, end
    return built


def _nested_trees(trees, dimension):
    splits = _splits(trees)
    moves = trees.array(STEPS, "<u2", 2).reshape(-1, 2).tolist()
    leaves = _step_leaves(trees, dimension)
    built, start = [], 0
    for size in trees.array(SIZES, "<i4").tolist():
        end = start + size
        if size < 1 or end > min(len(moves), len(splits), len(leaves)):
            raise ValueError(f"a tree of {size} steps does not fit")
        root = {}
        waiting, n_seen = [(root, start)], 0
        while waiting:
            node, step = waiting.pop()
            n_seen += 1
            if n_seen > size or step >= end:
                raise ValueError("the steps of a tree do not form a tree")
            if moves[step] == [0, 0]:
                node.update(leaves[step])
                continue
            node["split"] = splits[step]
            for side, move in zip(("left", "right"), moves[step], strict=True):
                # A side without its own step ends at the leaf of this step.
                node[side] = {} if move else leaves[step]
                if move:
                    waiting.append((node[side], step + move))
        built.append(root)
        start = end
    return built


def _step_leaves(trees, dimension):
    """The leaf of each step; that of inner steps is not used."""
    values = trees.array(LEAF_VALUES, "<f8").tolist()
    weights = trees.array(LEAF_WEIGHTS, "<f8").tolist()
    leaves = []
    for start in trees.array(STEP_LEAVES, "<u4").tolist():
        leaf = {"value": values[start : start + dimension]}
        if start // dimension < len(weights):
            leaf["weight"] = weights[start // dimension]
        leaves.append(leaf)
    return leaves


class _Buffer:
    """Bytes with bounds checks."""

    def __init__(self, data):
        self.data = data
        # Altered offsets may refer to the same bytes again and again; a valid file is
        # read about twice.
        self.n_left = 16 * len(data)

    def number(self, form, at):
        if not 0 <= at <= len(self.data) - struct.calcsize(form):
            raise ValueError(f"it points to byte {at} of {len(self.data)}")
        return struct.unpack_from(form, self.data, at)[0]

    def array(self, dtype, at, count):
        if at < 0 or count * np.dtype(dtype).itemsize > len(self.data) - at:
            raise ValueError(f"it points to byte {at} of {len(self.data)}")
        self.n_left -= count * np.dtype(dtype).itemsize
        if self.n_left < 0:
            raise ValueError("its parts overlap")
        return np.frombuffer(self.data, dtype, count, at)


class _Table:
    """One table of a FlatBuffer: fields by number, absent ones with their default."""

    def __init__(self, buffer, at):
        self.buffer = buffer
        self.at = at
        self.fields = at - buffer.number("<i", at)
        self.n_fields = (buffer.number("<H", self.fields) - 4) // 2

    def _place(self, slot):
        if slot >= self.n_fields:
            return None
        offset = self.buffer.number("<H", self.fields + 4 + 2 * slot)
        return self.at + offset if offset else None

    def _pointed(self, slot):
        place = self._place(slot)
        return None if place is None else place + self.buffer.number("<I", place)

    def number(self, slot, form, default):
        place = self._place(slot)
        return default if place is None else self.buffer.number(form, place)

    def table(self, slot):
        place = self._pointed(slot)
        if place is None:
            raise ValueError(f"field {slot} is missing")
        return _Table(self.buffer, place)

    def array(self, slot, dtype, per_entry=1):
        place = self._pointed(slot)
        if place is None:
            return np.empty(0, dtype)
        count = self.buffer.number("<I", place) * per_entry
        return self.buffer.array(dtype, place + 4, count)

    def tables(self, slot):
        place = self._pointed(slot)
        if place is None:
            return []
        return [
            _Table(self.buffer, place + 4 + 4 * i + offset)
            for i, offset in enumerate(self.array(slot, "<u4").tolist())
        ]

    def string(self, slot):
        place = self._pointed(slot)
        if place is None:
            return ""
        raw = self.buffer.array("u1", place + 4, self.buffer.number("<I", place))
        return raw.tobytes().decode()
