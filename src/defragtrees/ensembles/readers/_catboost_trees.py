"""Read and validate the features and trees of CatBoost's JSON document."""

from dataclasses import dataclass

import numpy as np

from defragtrees._utils.formatting import listed
from defragtrees.ensembles.forest import Tree, exact_threshold
from defragtrees.errors import ModelFileError, UnsupportedModelError

REQUIRED = object()
BITS = 2**32 - 1
MOST_SPLITS = 32  # of an oblivious tree, whose leaves would be 2 ** 32


def damaged(detail):
    """The error for a damaged CatBoost file."""
    return ModelFileError(
        f"Cannot read the CatBoost file: {detail}. It is truncated or altered; "
        "save the model again."
    )


def take(mapping, key, kind, default=REQUIRED):
    """The value of a key, of this type, or `default` if it is absent or null."""
    if not isinstance(mapping, dict):
        raise damaged(f"{key!r} is not where it belongs")
    value = mapping.get(key)
    if value is None and default is not REQUIRED:
        return default
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
        came = "nothing" if value is None else type(value).__name__
        raise damaged(f"{key!r} must hold {kind.__name__}, not {came}")
    return value


def numbers(values, key, count=None):
    """A number or a list of numbers as a float64 array, of `count` entries."""
    if not isinstance(values, list):
        values = [values]
    array = np.asarray(values) if all(_is_number(v) for v in values) else None
    if array is None or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        raise damaged(f"{key!r} must hold finite numbers")
    if count is not None and len(array) != count:
        raise damaged(f"{key!r} must hold {count} numbers, not {len(array)}")
    return array.astype(np.float64)


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


@dataclass(frozen=True)
class _Features:
    """The columns of X; `column` and `missing_left` by number among the float ones.

    `set_column` is by number among the categorical ones, and `hashes` has CatBoost's
    hashes of the categories of each of their columns, if these are given.
    """

    names: tuple[str, ...]
    categories: tuple[tuple | None, ...]
    column: dict[int, int]
    missing_left: dict[int, bool]
    split_categories: tuple[str, ...]
    set_column: dict[int, int]
    hashes: dict[int, np.ndarray]


def read_features(information, labels=None):
    """The features of a document; `labels` are categories by number of their column."""
    kinds = ("float", "categorical", "text", "embedding")
    parts = {kind: take(information, f"{kind}_features", list, []) for kind in kinds}
    names = _read_names([entry for part in parts.values() for entry in part])

    def name(entry):
        return names[entry["flat_feature_index"]]

    for kind in ("text", "embedding"):
        reject_kind(kind, [name(entry) for entry in parts[kind]])
    column, missing_left = {}, {}
    for entry in parts["float"]:
        index = take(entry, "feature_index", int)
        column[index] = entry["flat_feature_index"]
        missing_left[index] = _sends_missing_left(entry)
    categorical = {e["flat_feature_index"] for e in parts["categorical"]}
    labels = labels or {}
    counted = _counted_features(information)
    return _Features(
        names=names,
        # Without a table a model that splits on categories is rejected later.
        categories=tuple(
            labels.get(j, ()) if j in categorical else None for j in range(len(names))
        ),
        set_column={
            take(e, "feature_index", int): e["flat_feature_index"]
            for e in parts["categorical"]
            if labels
        },
        hashes=_read_hashes(information, labels),
        column=column,
        missing_left=missing_left,
        split_categories=tuple(
            name(entry)
            for entry in parts["categorical"]
            if "values" in entry or entry.get("feature_index") in counted
        ),
    )


def _read_hashes(information, labels):
    """The 32-bit hashes of the categories of each column."""
    known = {
        take(entry, "value", str): take(entry, "hash", int) & BITS
        for entry in take(information, "cat_features_hash", list, [])
    }
    return {
        j: np.array([known[str(label)] for label in own], dtype=np.int64)
        for j, own in labels.items()
    }


def _read_names(entries):
    columns = [take(entry, "flat_feature_index", int) for entry in entries]
    if sorted(columns) != list(range(len(columns))):
        raise damaged("'flat_feature_index' must count the columns")
    names = [""] * len(columns)
    for entry, column in zip(entries, columns, strict=True):
        names[column] = take(entry, "feature_id", str, "")
    if "" in names:
        names = [f"x{column + 1}" for column in range(len(columns))]
    if len(set(names)) < len(names):
        raise damaged("two features have the same name")
    return tuple(names)


def _sends_missing_left(entry):
    treatment = take(entry, "nan_value_treatment", str, "AsIs")
    if treatment not in ("AsIs", "AsFalse", "AsTrue"):
        raise damaged(f"'nan_value_treatment' {treatment!r} does not exist")
    # By default NaN is not above any border.
    return treatment != "AsTrue"


def _counted_features(information):
    """Indices of the categorical features whose target statistics are used."""
    return [
        element.get("cat_feature_index")
        for entry in take(information, "ctrs", list, [])
        for element in take(entry, "elements", list, [])
        if isinstance(element, dict)
    ]


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
        raise UnsupportedModelError(
            "Cannot read the CatBoost model: it splits on target statistics or "
            f"hashes of the categories of {listed(features.split_categories)}. "
            "Pass the model as catboost loads it, which is queried, or fit it on "
            "encoded categories."
        )
    index = take(split, "float_feature_index", int)
    if kind != "FloatFeature" or index not in features.column:
        raise damaged(f"a split of type {kind!r} on feature {index} does not exist")
    border = numbers(split.get("border"), "border", 1)
    return features.column[index], border[0], features.missing_left[index], None


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


def read_trees(document, features, n_outputs, scale):
    if "oblivious_trees" in document:
        entries, build = take(document, "oblivious_trees", list), _oblivious_tree
    else:
        entries, build = take(document, "trees", list), _nested_tree
    return tuple(build(entry, features, n_outputs, scale) for entry in entries)


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
        return Tree(
            feature=self.feature[:n],
            threshold=exact_threshold(self.border[:n], np.float32),
            left=left,
            right=right,
            missing_left=self.missing_left[:n],
            value=scale * self.value[:n],
            cover=self.cover[:n],
            categories=sets,
        )


def _oblivious_tree(entry, features, n_outputs, scale):
    splits = [_read_split(s, features) for s in take(entry, "splits", list, [])]
    weights = numbers(take(entry, "leaf_weights", list, []), "leaf_weights")
    if len(splits) > MOST_SPLITS:
        raise damaged(f"a tree with {len(splits)} splits cannot exist")
    n_leaves = 2 ** len(splits)
    values = numbers(entry.get("leaf_values"), "leaf_values", n_leaves * n_outputs)
    growing = _Growing(2 * n_leaves - 1, n_outputs)
    nodes, codes = np.zeros(1, int), np.zeros(1, int)
    for level, split in enumerate(splits):
        answer = _known_answers(splits[:level], codes, split)
        open_ = answer < 0
        children = growing.split(nodes[open_], *split)
        bit = 1 << level
        nodes = np.concatenate([nodes[~open_], *children])
        codes = np.concatenate(
            [
                codes[~open_] + bit * answer[~open_],
                codes[open_],
                codes[open_] + bit,
            ]
        )
    growing.value[nodes] = values.reshape(n_leaves, n_outputs)[codes]
    if len(weights) == n_leaves:
        growing.cover[nodes] = weights[codes]
    return growing.finish(scale)


def _known_answers(earlier, codes, split):
    """The side of a split implied by earlier splits on the same feature: 0, 1, or -1.

    A missing value is on the same side of all borders of its feature, so it agrees.
    """
    answer = np.full(len(codes), -1)
    column, border, _, inside = split
    for level, (other, earlier_border, _, earlier_inside) in enumerate(earlier):
        bit = codes >> level & 1
        if other == column and inside is None:
            answer[(bit == 1) & (earlier_border >= border)] = 1
            answer[(bit == 0) & (earlier_border <= border)] = 0
        elif other == column:
            # A row of one category is of no other; else it may be of any other.
            is_same = np.array_equal(inside, earlier_inside)
            answer[bit == 1] = int(is_same)
            if is_same:
                answer[bit == 0] = 0
    return answer


def _nested_tree(entry, features, n_outputs, scale):
    growing = _Growing(_count_nodes(entry), n_outputs)
    waiting = [(entry, 0)]
    while waiting:
        node, slot = waiting.pop()
        if "split" in node:
            new = growing.split(np.array([slot]), *_read_split(node["split"], features))
            waiting += zip((node["left"], node["right"]), new[:, 0], strict=True)
            continue
        growing.value[slot] = numbers(node.get("value"), "value", n_outputs)
        if node.get("weight") is not None:
            growing.cover[slot] = numbers(node["weight"], "weight", 1)[0]
    return growing.finish(scale)


def _count_nodes(entry):
    n_nodes, waiting = 0, [entry]
    while waiting:
        node = waiting.pop()
        n_nodes += 1
        if not isinstance(node, dict):
            raise damaged("a node of a tree is not where it belongs")
        if "split" in node:
            waiting += [take(node, side, dict) for side in ("left", "right")]
    return n_nodes
