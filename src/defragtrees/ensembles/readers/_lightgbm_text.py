"""Parse LightGBM's text file: header, trees, parameters and category labels.

The result is text and plain numbers; `from_lightgbm` interprets them.
"""

import json
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

MISSING_NONE, MISSING_ZERO, MISSING_NAN = 0, 1, 2


@dataclass
class ModelText:
    """The parts of the file; each tree is a dict from key to text."""

    header: dict = field(default_factory=dict)
    trees: list = field(default_factory=list)
    parameters: dict | None = None  # None if the file has no parameters, or only some
    labels: list | None = None


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
    model = ModelText()
    end = lines.index("end of trees")
    _read_trees(lines[1:end], model)
    _read_tail(lines[end + 1 :], model)
    return model


def _read_trees(lines, model):
    target = model.header
    for line in lines:
        name, _, value = line.partition("=")
        if name == "Tree":
            if int(value) != len(model.trees):
                raise ValueError(f"tree {len(model.trees)} is missing")
            target = {}
            model.trees.append(target)
        elif name in target:
            raise ValueError(f"{name!r} comes twice")
        elif name:
            target[name] = value
    n_sizes = len(model.header.get("tree_sizes", "").split())
    if "tree_sizes" in model.header and n_sizes != len(model.trees):
        raise ValueError(
            f"it should have {n_sizes} trees; {len(model.trees)} are there"
        )


def _read_tail(lines, model):
    if "parameters:" in lines:
        if "end of parameters" not in lines:
            raise ValueError("it ends within its parameters")
        start, stop = lines.index("parameters:"), lines.index("end of parameters")
        pairs = [line.strip("[]").partition(":") for line in lines[start + 1 : stop]]
        model.parameters = {name: value.strip() for name, _, value in pairs}
    for line in filter(None, lines):
        if line.startswith("pandas_categorical:"):
            model.labels = json.loads(line.partition(":")[2])
        elif "pandas_categorical:".startswith(line):
            raise ValueError("it ends within its category labels")


@dataclass
class TreeFields:
    """The numbers of one tree; inner nodes come first, then the leaves."""

    n_leaves: int
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    is_set: np.ndarray
    default_left: np.ndarray
    missing: np.ndarray
    leaf_value: np.ndarray
    cover: np.ndarray
    sets: list

    @property
    def n_inner(self):
        """Number of splits."""
        return self.n_leaves - 1

    def set_of(self, node):
        """The category numbers that go left at a split on categories."""
        number = self.threshold[node]
        if not 0 <= number < len(self.sets):
            raise ValueError("a split on categories has none")
        return self.sets[int(number)]


def fields_of_tree(tree):
    """Convert the text of one tree to numbers."""
    n_leaves = int(tree["num_leaves"])
    n_inner = n_leaves - 1
    if n_leaves < 1:
        raise ValueError(f"a tree has {n_leaves} leaves")
    leaf_value = _numbers(tree["leaf_value"], float, n_leaves)
    kind = _numbers(tree.get("decision_type", "") if n_inner else "", int, n_inner)
    if ((kind < 0) | (kind >> 2 > MISSING_NAN)).any():
        raise ValueError("a split is of an unknown type")
    threshold = _numbers(tree["threshold"] if n_inner else "", float, n_inner)
    if np.isnan(threshold).any():
        raise ValueError("a threshold is not a number")
    return TreeFields(
        n_leaves=n_leaves,
        feature=_numbers(tree["split_feature"] if n_inner else "", int, n_inner),
        threshold=threshold,
        left=_children(tree, "left_child", n_leaves),
        right=_children(tree, "right_child", n_leaves),
        is_set=kind & 1 == 1,
        default_left=kind & 2 == 2,
        missing=kind >> 2,
        leaf_value=leaf_value,
        cover=_cover(tree, n_leaves),
        sets=_sets(tree),
    )


def _numbers(text, dtype, n_expected=None):
    words = text.split()
    if n_expected is not None and len(words) != n_expected:
        raise ValueError(f"{len(words)} numbers are where {n_expected} are needed")
    return np.array([dtype(word) for word in words], dtype=np.dtype(dtype))


def _children(tree, name, n_leaves):
    n_inner = n_leaves - 1
    child = _numbers(tree[name] if n_inner else "", int, n_inner)
    if ((child >= n_inner) | (child < -n_leaves)).any():
        raise ValueError("a child is not a node of its tree")
    return np.where(child < 0, n_inner - 1 - child, child)  # leaf 0 is written as -1


def _cover(tree, n_leaves):
    """Training rows in each node; NaN if not stored."""
    cover = np.full(2 * n_leaves - 1, np.nan)
    inner, leaf = tree.get("internal_count", ""), tree.get("leaf_count", "")
    if leaf.strip():
        cover[n_leaves - 1 :] = _numbers(leaf, int, n_leaves)
        cover[: n_leaves - 1] = _numbers(inner, int, n_leaves - 1)
    return cover


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
