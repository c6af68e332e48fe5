"""Parse CatBoost's binary file (.cbm) into the layout of its JSON file.

The file is a FlatBuffer with CatBoost's published schema; only what a Forest needs is
read. CatBoost itself crashes on some altered files, so the bytes are parsed here with
every offset checked. catboost is not needed.
"""

import struct

import numpy as np

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
INFORMATION = (
    "params",
    "loss_function",
    "class_params",
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
    categorical, text, embedding = (
        [_fields(entry, OTHER_FIELDS) for entry in trees.tables(slot)]
        for slot in (CATEGORICAL, TEXT, EMBEDDING)
    )
    return {
        "float_features": floats,
        "categorical_features": categorical,
        "text_features": text,
        "embedding_features": embedding,
    }


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
        built.append(
            {
                "splits": chosen,
                "leaf_values": values[at_leaf * dimension : end * dimension].tolist(),
                "leaf_weights": weights[at_leaf:end].tolist(),
            }
        )
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
