"""Features and trees of CatBoost's JSON document, with every part of it checked."""

from dataclasses import dataclass

import numpy as np

from defragtrees.errors import ModelFileError, UnsupportedEnsembleError
from defragtrees.forest import Tree, exact_threshold
from defragtrees.tables import listed

__all__ = ["damaged", "numbers", "read_features", "read_trees", "refuse_kind", "take"]

REQUIRED = object()
MOST_SPLITS = 32  # of an oblivious tree, whose leaves would be 2 ** 32


def damaged(detail):
    """The error for a file that is not what CatBoost wrote."""
    return ModelFileError(
        f"Cannot read the CatBoost file: {detail}. It is cut short or altered; "
        "save the ensemble again."
    )


def take(mapping, key, kind, default=REQUIRED):
    """The value of a key, of this kind, or `default` where it is absent or null."""
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
    """The columns of X; `column` and `missing_left` by number among the float ones."""

    names: tuple[str, ...]
    categories: tuple[tuple | None, ...]
    column: dict[int, int]
    missing_left: dict[int, bool]
    split_categories: tuple[str, ...]


def read_features(information):
    kinds = ("float", "categorical", "text", "embedding")
    parts = {kind: take(information, f"{kind}_features", list, []) for kind in kinds}
    names = _read_names([entry for part in parts.values() for entry in part])

    def name(entry):
        return names[entry["flat_feature_index"]]

    for kind in ("text", "embedding"):
        refuse_kind(kind, [name(entry) for entry in parts[kind]])
    column, missing_left = {}, {}
    for entry in parts["float"]:
        index = take(entry, "feature_index", int)
        column[index] = entry["flat_feature_index"]
        missing_left[index] = _sends_missing_left(entry)
    categorical = {e["flat_feature_index"] for e in parts["categorical"]}
    counted = _counted_features(information)
    return _Features(
        names=names,
        # An ensemble that splits on categories is refused, so there are none to list.
        categories=tuple(() if j in categorical else None for j in range(len(names))),
        column=column,
        missing_left=missing_left,
        split_categories=tuple(
            name(entry)
            for entry in parts["categorical"]
            if "values" in entry or entry.get("feature_index") in counted
        ),
    )


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
    # As it is, NaN is not above any border.
    return treatment != "AsTrue"


def _counted_features(information):
    """Numbers of the categorical features whose target statistics are computed."""
    return [
        element.get("cat_feature_index")
        for entry in take(information, "ctrs", list, [])
        for element in take(entry, "elements", list, [])
        if isinstance(element, dict)
    ]


def refuse_kind(kind, names):
    if names:
        raise UnsupportedEnsembleError(
            f"Cannot read the CatBoost ensemble: {listed(names)} hold {kind} features. "
            "Turn them into numbers before fitting CatBoost."
        )


def _read_split(split, features):
    """The column, the border, and whether a missing value goes left."""
    kind = take(split, "split_type", str)
    if kind in ("OnlineCtr", "OneHotFeature"):
        raise UnsupportedEnsembleError(
            "Cannot read the CatBoost ensemble: it splits on target statistics or "
            f"hashes of the categories of {listed(features.split_categories)}. "
            "Fit CatBoost on encoded categories, or use LightGBM or XGBoost."
        )
    index = take(split, "float_feature_index", int)
    if kind != "FloatFeature" or index not in features.column:
        raise damaged(f"a split of type {kind!r} on feature {index} does not exist")
    border = numbers(split.get("border"), "border", 1)
    return features.column[index], border[0], features.missing_left[index]


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
        self.children = np.full((2, capacity), -1)
        self.value = np.zeros((capacity, n_outputs))
        self.cover = np.full(capacity, np.nan)
        self.n_nodes = 1

    def split(self, nodes, column, border, missing_left):
        """Give each of these nodes two new children; returns them, (2, n)."""
        n_new = 2 * len(nodes)
        new = np.arange(self.n_nodes, self.n_nodes + n_new).reshape(2, -1)
        self.n_nodes += n_new
        self.feature[nodes] = column
        self.border[nodes] = border
        self.missing_left[nodes] = missing_left
        self.children[:, nodes] = new
        return new

    def finish(self, scale):
        n = self.n_nodes
        left, right = self.children[:, :n]
        for node in np.flatnonzero(left >= 0)[::-1]:
            self.cover[node] = self.cover[left[node]] + self.cover[right[node]]
        return Tree(
            feature=self.feature[:n],
            threshold=exact_threshold(self.border[:n], np.float32),
            left=left,
            right=right,
            missing_left=self.missing_left[:n],
            value=scale * self.value[:n],
            cover=self.cover[:n],
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
    for level, (column, border, missing_left) in enumerate(splits):
        answer = _known_answers(splits[:level], codes, column, border)
        open_ = answer < 0
        children = growing.split(nodes[open_], column, border, missing_left)
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


def _known_answers(earlier, codes, column, border):
    """For each path, what the same feature's earlier borders say: 0, 1, or -1.

    A missing value answers all borders of its feature alike, so it agrees.
    """
    answer = np.full(len(codes), -1)
    for level, (other, earlier_border, _) in enumerate(earlier):
        if other == column:
            bit = codes >> level & 1
            answer[(bit == 1) & (earlier_border >= border)] = 1
            answer[(bit == 0) & (earlier_border <= border)] = 0
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
