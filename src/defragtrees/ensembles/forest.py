"""Tree and Forest: a fitted model as plain arrays, able to predict."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy import special

from defragtrees._utils.formatting import plural
from defragtrees._utils.optional import has_numba
from defragtrees._utils.types import Floats, Rows, Values
from defragtrees._utils.values import ByValue, freeze
from defragtrees.errors import UnsupportedModelError
from defragtrees.outcomes import make_outcome
from defragtrees.outcomes.base import Outcome
from defragtrees.outcomes.quantiles import Quantiles
from defragtrees.tables import read_matrix

MOST_CLASSES = 10_000  # a decision has a cost for each pair of classes
COMBINATIONS = ("mean", "sum", "median")
LARGEST = 1e100  # of numbers in a model, so that sums of squares are finite
BLOCK_CELLS = 200_000  # rows x trees processed at once, to fit in the cache
MANY_ROWS = 10_000  # with fewer, it takes longer to load numba than its loops save


@dataclass(frozen=True, eq=False)
class Tree(ByValue):
    """One decision tree as parallel arrays with one entry per node, the root first.

    Parameters
    ----------
    feature : int array of shape (n_nodes,)
        Feature that the node splits on; -1 at leaves.
    threshold : float64 array of shape (n_nodes,)
        A row with `x <= threshold` goes left. Not used at set splits; 0 at leaves,
        whatever is given.
    left, right : int array of shape (n_nodes,)
        Children; -1 at leaves. Two parents may share a child.
    missing_left : bool array of shape (n_nodes,)
        Whether a missing value goes left; False at leaves.
    value : float64 array of shape (n_nodes, n_outputs)
        Output of the node; only leaves are used.
    cover : float64 array of shape (n_nodes,)
        Weight of the training rows in the node; NaN if the library has none.
    categories : bool array of shape (n_nodes, n_codes)
        For splits on categorical features, the category positions that go left; the
        position after the last category stands for unknown categories. No columns if
        the tree has no such split.

    Examples
    --------
    >>> stump = Tree([0, -1, -1], [0.5, 0, 0], [1, -1, -1], [2, -1, -1],
    ...              [True, False, False], [0.0, 1.0, 3.0])
    >>> stump.n_nodes, stump.n_outputs
    (3, 1)
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    value: np.ndarray
    cover: np.ndarray | None = None
    categories: np.ndarray | None = None

    def __post_init__(self) -> None:
        n_nodes = len(self.feature)
        cover = np.full(n_nodes, np.nan) if self.cover is None else self.cover
        categories = (
            np.zeros((n_nodes, 0), bool) if self.categories is None else self.categories
        )
        value = np.asarray(self.value, dtype=np.float64)
        if value.ndim == 1:
            value = value[:, None]
        for name, array, dtype in (
            ("feature", self.feature, np.int32),
            ("threshold", self.threshold, np.float64),
            ("left", self.left, np.int32),
            ("right", self.right, np.int32),
            ("missing_left", self.missing_left, bool),
            ("value", value, np.float64),
            ("cover", cover, np.float64),
            ("categories", categories, bool),
        ):
            array = freeze(array, dtype)
            if len(array) != n_nodes:
                raise ValueError(
                    f"{name} must have one entry for each of the {n_nodes} nodes; "
                    f"got {len(array)}."
                )
            object.__setattr__(self, name, array)
        if n_nodes == 0:
            raise ValueError("A tree needs at least one node.")
        inner = self.feature >= 0
        children = np.concatenate([self.left[inner], self.right[inner]])
        for name, at_leaf in (("threshold", 0), ("left", -1), ("right", -1)):
            values = getattr(self, name)
            filled = freeze(np.where(inner, values, at_leaf), values.dtype)
            object.__setattr__(self, name, filled)
        object.__setattr__(self, "missing_left", freeze(self.missing_left & inner))
        if children.size and not (children.min() > 0 and children.max() < n_nodes):
            raise ValueError("A child must be another node of the tree, not its root.")
        object.__setattr__(self, "depth", _depth(inner, self.left, self.right))

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.feature)

    @property
    def n_outputs(self) -> int:
        """Number of outputs of a leaf."""
        return self.value.shape[1]


@dataclass(frozen=True, eq=False)
class Forest(ByValue):
    """An ensemble of trees with the function from their outputs to a prediction.

    Parameters
    ----------
    trees : tuple of Tree
    feature_names : tuple of str
    task : {"classification", "regression"}
    classes : tuple, optional
        Class labels in the order of the outputs; None for regression.
    combine : {"mean", "sum", "median"}
        How the outputs of the trees are combined; the median is weighted by `weights`.
    base : float64 array of shape (n_outputs,), default=0
        Added to the combined output.
    weights : float64 array of shape (n_trees,), default=1
        Weight of each tree.
    link : str or callable
        Function from the combined output to a probability or a number: a key of
        `LINKS`, or a callable with a method `class_index` and, if a threshold decides
        the class, an attribute `threshold`.
    ties : {"first", "last"}
        The class of a row for which two classes tie.
    categories : tuple of (tuple or None), optional
        The categories of each feature, or None if it is numeric.
    feature_kinds : tuple of (str or None), optional
        "date", "datetime", "datetime UTC", "time" or "duration" for features that are
        days; "ordered" for ordered categories; "boolean" for 0 and 1 that are false
        and true; else None.
    other_names : tuple of str, optional
        Columns of the user's table that are not features.
    predicts : float or str, optional
        What it predicts of y if that is not its mean: a quantile, such as 0.5 for the
        median, or "ranking".
    estimator : object, optional
        What was in its pickle or skops file, to be trained again.

    Examples
    --------
    >>> stump = Tree([0, -1, -1], [0.5, 0, 0], [1, -1, -1], [2, -1, -1],
    ...              [True, False, False], [0.0, 1.0, 3.0])
    >>> Forest((stump,), ("size",), "regression").predict([[0.5], [0.6]]).tolist()
    [1.0, 3.0]
    >>> forest = Forest((stump,), ("size",), "regression")
    >>> forest.predict_raw([[0.5]]).tolist(), forest.splits()
    ([[1.0]], [array([0.5])])
    >>> two = Forest((stump,), ("size",), "classification", (0, 1), link="sigmoid")
    >>> two.predict_proba([[0.5]]).round(3).tolist()
    [[0.269, 0.731]]
    """

    trees: tuple[Tree, ...]
    feature_names: tuple[str, ...]
    task: str
    classes: tuple[Any, ...] | None = None
    combine: str = "sum"
    base: np.ndarray = field(default_factory=lambda: np.zeros(1))
    weights: np.ndarray | None = None
    link: Any = "identity"
    ties: str = "first"
    categories: tuple[tuple[Any, ...] | None, ...] | None = None
    feature_kinds: tuple[str | None, ...] | None = None
    other_names: tuple[str, ...] = ()
    predicts: float | str = ""
    estimator: Any = field(default=None, compare=False, repr=False)

    # Of a black box: how its splits were found, synthetic rows for which it was queried
    origin = ""
    new_rows = None
    predicts_by_trees = True

    def __post_init__(self) -> None:
        n_outputs = self.trees[0].value.shape[1] if self.trees else np.size(self.base)
        weights = np.ones(len(self.trees)) if self.weights is None else self.weights
        weights = np.asarray(weights, np.float64)
        categories = self.categories or (None,) * len(self.feature_names)
        base = np.broadcast_to(np.asarray(self.base, np.float64), (n_outputs,))
        for name, value in (
            ("trees", tuple(self.trees)),
            ("feature_names", tuple(str(name) for name in self.feature_names)),
            ("classes", None if self.classes is None else tuple(self.classes)),
            ("base", freeze(base)),
            ("weights", freeze(weights)),
            ("categories", tuple(categories)),
        ):
            object.__setattr__(self, name, value)
        self._check()
        # No number may be NaN, infinite or too large.
        for name, values in (("base", base), ("weights", weights)):
            is_usable = np.abs(values) <= LARGEST  # NaN is not
            if not is_usable.all():
                raise ValueError(
                    f"{name} must hold numbers up to {LARGEST:g} in size; got "
                    f"{values[~is_usable][0]:g}."
                )
        # Leaves and splits on categories have no threshold.
        has_threshold = np.array([*(known is None for known in categories), False])
        for k, tree in enumerate(self.trees):
            wrong = (tree.feature < 0)[:, None] & ~(np.abs(tree.value) <= LARGEST)
            if wrong.any():
                node, output = np.argwhere(wrong)[0]
                raise ValueError(
                    f"A leaf must have outputs up to {LARGEST:g} in size; in tree "
                    f"{k + 1}, node {node + 1} has {tree.value[node, output]:g}."
                )
            without = np.isnan(tree.threshold) & has_threshold[tree.feature]
            if without.any():
                node = int(np.flatnonzero(without)[0])
                raise ValueError(
                    f"A threshold must be a number; in tree {k + 1}, that of node "
                    f"{node + 1} is not."
                )

    def _check(self):
        classes = self.classes or ()
        if len(set(classes)) != len(classes):
            raise ValueError(
                f"Classes must differ from each other; got {list(classes)}."
            )
        if len(classes) > MOST_CLASSES:
            raise UnsupportedModelError(
                f"A model may have at most {MOST_CLASSES:,} classes; this one has "
                f"{len(classes):,}."
            )
        if self.combine not in COMBINATIONS:
            raise ValueError(
                f"combine must be one of {COMBINATIONS}; got {self.combine!r}."
            )
        if not callable(self.link) and self.link not in LINKS:
            raise ValueError(f"link must be one of {tuple(LINKS)}; got {self.link!r}.")
        if len(self.categories) != self.n_features:
            raise ValueError("categories must have one entry per feature.")
        if len(set(self.feature_names)) != self.n_features:
            raise ValueError("Feature names must differ from each other.")
        for tree in self.trees:
            if tree.value.shape[1] != len(self.base):
                raise ValueError("All trees must have the same number of outputs.")
            if tree.feature.max() >= self.n_features:
                raise ValueError(
                    f"A tree splits on feature {tree.feature.max()} of a forest "
                    f"with {self.n_features} features."
                )
        if isinstance(self.link, str):
            self.outcome.check_outputs(len(self.base))

    def __repr__(self) -> str:
        trees, features = len(self.trees), self.n_features
        size = f"{plural(trees, 'tree')}, {plural(features, 'feature')}"
        return f"<Forest: {size}, {self.task}>"

    @property
    def outcome(self) -> Outcome:
        """The outcome: its measures, texts and checks."""
        if isinstance(self.predicts, float):
            return Quantiles(self.predicts)
        return make_outcome(self.task, self.classes)

    @property
    def n_features(self) -> int:
        """Number of features that X must have."""
        return len(self.feature_names)

    def splits(self) -> list[Values]:
        """Return the distinct thresholds, or sets of categories, of each feature.

        Returns
        -------
        list of ndarray
            Sorted float64 thresholds of a numeric feature; for a categorical one a
            bool array of shape (n_sets, n_categories + 1), the sets that go left.
        """
        distinct = []
        # A forest may have only a base and no trees.
        nothing = np.empty(0)
        feature = np.concatenate([nothing, *(tree.feature for tree in self.trees)])
        threshold = np.concatenate([nothing, *(tree.threshold for tree in self.trees)])
        order = np.argsort(feature, kind="stable")
        threshold, starts = (
            threshold[order],
            np.searchsorted(feature[order], np.arange(self.n_features + 1)),
        )
        for j, labels in enumerate(self.categories or ()):
            if labels is None:
                distinct.append(np.unique(threshold[starts[j] : starts[j + 1]]))
            else:
                width = len(labels) + 1
                sets = [np.empty((0, width), dtype=bool)]
                for tree in self.trees:
                    if (here := tree.feature == j).any():
                        sets.append(np.asarray(tree.categories)[here, :width])
                distinct.append(np.unique(np.concatenate(sets), axis=0))
        return distinct

    def encode(self, X: Rows) -> Floats:
        """Check the columns of X and convert it to float64, categories to positions."""
        kinds = self.feature_kinds
        return read_matrix(X, self.feature_names, self.categories, kinds=kinds)

    def predict(self, X: Rows) -> Values:
        """Class labels, or numbers, of shape (n_samples,)."""
        return self.predict_from_raw(self.predict_raw(X))

    def predict_proba(self, X: Rows) -> Floats:
        """Class probabilities of shape (n_samples, n_classes)."""
        return self.proba_from_raw(self.predict_raw(X))

    def predict_raw(self, X: Rows) -> Floats:
        """The combined outputs of the trees before the link, (n_samples, n_outputs)."""
        return self.predict_raw_encoded(self.encode(X))

    def predict_from_raw(self, raw: Floats) -> Values:
        """`predict` from the result of `predict_raw`."""
        return self.outcome.decode(self.target_from_raw(raw))

    def target_from_raw(self, raw: Floats) -> Values:
        """Class indices, or numbers, from the result of `predict_raw`."""
        return self.outcome.target_of(self, raw)

    def proba_from_raw(self, raw: Floats) -> Floats:
        """`predict_proba` from the result of `predict_raw`."""
        probabilities = self.outcome.probabilities_of(self, raw)
        if probabilities is None:
            raise AttributeError("A regression forest has no class probabilities.")
        return probabilities

    def linked(self, raw: Floats) -> Floats:
        """Probabilities or numbers from the result of `predict_raw`."""
        link = LINKS[self.link] if isinstance(self.link, str) else self.link
        with np.errstate(over="ignore"):  # libraries return infinity as well
            return link(raw)

    def predict_raw_encoded(self, matrix: Floats) -> Floats:
        """`predict_raw` for a matrix that `encode` made."""
        n_rows, n_trees = len(matrix), len(self.trees)
        if not n_trees:
            return np.tile(self.base, (n_rows, 1))
        if n_rows >= MANY_ROWS and self.combine != "median" and has_numba():
            from defragtrees.ensembles import kernels

            raw = np.tile(self.sum_start(), (n_rows, 1))
            kernels.add_trees(raw, self.stacked, self.weights, matrix)
        else:
            raw = np.empty((n_rows, len(self.base)))
            step = max(1, BLOCK_CELLS // n_trees)
            walk = walk_arrays(n_trees, min(step, n_rows))
            for start in range(0, n_rows, step):
                rows = slice(start, start + step)
                raw[rows] = self._combined(matrix[rows], walk)
        if self.combine == "mean":
            raw = raw / np.asarray(self.weights).sum() + self.base
        return raw

    def _combined(self, matrix, walk):
        """The sums, or medians, of the outputs of the trees."""
        leaves = self.stacked.leaves(matrix, walk)
        value = self.stacked.value
        if self.combine == "median":
            # The first output that reaches half the weight.
            outputs = value[leaves, 0]
            order = np.argsort(outputs, axis=1)
            reached = np.cumsum(np.asarray(self.weights)[order], axis=1)
            middle = (reached >= 0.5 * reached[:, -1:]).argmax(axis=1)[:, None]
            chosen = np.take_along_axis(order, middle, axis=1)
            return np.take_along_axis(outputs, chosen, axis=1) + self.base
        total = np.empty((len(matrix), len(self.base)))
        for output, begin in enumerate(self.sum_start()):
            terms = value[:, output][leaves.T]
            terms *= self.weights[:, None]
            terms[0] += begin
            # Tree by tree; numpy would sum a single row in another order.
            total[:, output] = np.add.accumulate(terms, axis=0, out=terms)[-1]
        return total

    def sum_start(self) -> Floats:
        """The start of a sum over the trees.

        It is the base, as in boosting libraries: another order would change rounding,
        and with it the class of a row at a tie.
        """
        return self.base if self.combine == "sum" else np.zeros_like(self.base)

    @cached_property
    def stacked(self) -> "StackedTrees":
        """The nodes of all trees, concatenated."""
        return StackedTrees(self.trees, self.categories)

    def __getstate__(self):
        return {name: v for name, v in self.__dict__.items() if name != "stacked"}


def exact_threshold(
    threshold: ArrayLike, dtype: DTypeLike = np.float32, strict: bool = False
) -> Floats:
    """The float64 t for which `x <= t` is the same as a comparison in `dtype`.

    The library rounds x to `dtype`, and compares `x < threshold` if it is `strict`.

    Examples
    --------
    >>> float(exact_threshold(1.0, np.float64))
    1.0
    >>> t = exact_threshold(0.5, np.float32)
    >>> bool(np.float32(t) <= 0.5), bool(np.float32(np.nextafter(t, 1)) <= 0.5)
    (True, False)
    """
    t = np.asarray(threshold, dtype=np.float64)
    with np.errstate(over="ignore"):
        below = np.nextafter(t, -np.inf) if strict else t
    if np.dtype(dtype) == np.float64:
        return below
    small: Any = np.dtype(dtype).type
    with np.errstate(over="ignore"):
        # The largest value of the small type that goes left ...
        low = below.astype(dtype)
        before = np.nextafter(low, small(-np.inf))
        low = np.where(low.astype(np.float64) > below, before, low).astype(dtype)
        high = np.nextafter(low, small(np.inf)).astype(dtype)
    # ... and the last float64 that rounds to it: the midpoint to the next one belongs
    # to the one of the two whose last mantissa bit is zero (ties to even). Numbers
    # round to infinity from halfway above the largest one.
    top = 2.0 ** np.finfo(low.dtype).maxexp
    ends = [np.clip(end.astype(np.float64), -top, top) for end in (low, high)]
    middle = (ends[0] + ends[1]) / 2
    bits: Values = low.view(np.uint32 if np.dtype(dtype).itemsize == 4 else np.uint16)
    exact = np.where(bits & 1 == 0, middle, np.nextafter(middle, -np.inf))
    return np.where(np.isnan(low) | np.isposinf(low), below, exact)


class StackedTrees:
    """The nodes of all trees, concatenated, to evaluate all trees together.

    The children of a node are at 2 * node and 2 * node + 1, and a leaf is its own
    child, so that all rows take the same number of steps.
    """

    def __init__(self, trees, categories):
        starts = np.cumsum([0] + [tree.n_nodes for tree in trees])
        shift = np.repeat(starts[:-1], [tree.n_nodes for tree in trees])

        def stacked(name):
            return np.concatenate([getattr(tree, name) for tree in trees])

        feature = stacked("feature")
        leaf = feature < 0
        here = np.arange(len(leaf))
        sides = (np.where(leaf, here, stacked(s) + shift) for s in ("left", "right"))
        self.children = np.column_stack(list(sides)).astype(np.intp).ravel()
        self.roots = starts[:-1].astype(np.intp)
        self.depths = np.array([tree.depth for tree in trees], dtype=np.intp)
        self.depth = int(self.depths.max())
        self.feature = np.where(leaf, 0, feature).astype(np.intp)
        self.threshold = stacked("threshold")
        self.missing_left = stacked("missing_left")
        self.value = stacked("value")
        is_set = np.array([labels is not None for labels in categories], dtype=bool)
        is_set = is_set[self.feature] & ~leaf if is_set.any() else np.zeros(1, bool)
        self.is_set = is_set if is_set.any() else None
        if self.is_set is not None:
            width = max(tree.categories.shape[1] for tree in trees)
            self.sets = np.zeros((len(leaf), width), bool)
            for start, tree in zip(self.roots, trees, strict=True):
                block = self.sets[start : start + tree.n_nodes]
                block[:, : tree.categories.shape[1]] = tree.categories

    def leaves(self, matrix, walk=None):
        """Index of the leaf of each row in each tree, (n_samples, n_trees).

        A `walk` is reusable memory for at least as many rows, as allocation would make
        threads wait for each other. The next call with it overwrites the result.
        """
        n_rows, n_features = matrix.shape
        walk = walk or walk_arrays(len(self.roots), n_rows)
        node, place, x, threshold, goes_right = (array[:, :n_rows] for array in walk)
        node[:] = self.roots[:, None]
        if n_features == 0:
            return node.T
        has_missing = bool(np.isnan(matrix).any())
        cells = np.ascontiguousarray(matrix).ravel()
        first = np.arange(n_rows) * n_features
        # "clip" as numpy would otherwise copy `out`; no index is out of range.
        for _ in range(self.depth):
            np.take(self.feature, node, out=place, mode="clip")
            place += first
            np.take(cells, place, out=x, mode="clip")
            np.take(self.threshold, node, out=threshold, mode="clip")
            np.less_equal(x, threshold, out=goes_right)
            np.logical_not(goes_right, out=goes_right)
            if self.is_set is not None:
                in_set = self.is_set[node]
                # A value of a numeric feature need not be a position.
                code = np.where(in_set & ~np.isnan(x), x, 0).astype(np.intp)
                code = np.minimum(code, self.sets.shape[1] - 1)
                np.copyto(goes_right, ~self.sets[node, code], where=in_set)
            if has_missing:
                np.copyto(goes_right, ~self.missing_left[node], where=np.isnan(x))
            np.multiply(node, 2, out=place)
            place += goes_right
            np.take(self.children, place, out=node, mode="clip")
        return node.T


def walk_arrays(n_trees, n_rows):
    """Work arrays to move so many rows, or fewer, through trees."""
    kinds = (np.intp, np.intp, np.float64, np.float64, bool)
    return [np.empty((n_trees, n_rows), dtype=kind) for kind in kinds]


def _depth(inner, left, right):
    """The number of splits on the longest path; raises if there is a cycle.

    Each node is visited once, after all its parents: with shared children there may be
    far more paths than nodes.
    """
    splits = np.flatnonzero(inner)
    children = np.concatenate([left[splits], right[splits]])
    stands_after = (left[splits] > splits) & (right[splits] > splits)
    if stands_after.all() and np.bincount(children).max(initial=1) == 1:
        # The usual case, a tree without shared children: level by level.
        depth, level = -1, np.zeros(1, dtype=np.intp)
        while level.size:
            depth += 1
            splits = level[inner[level]]
            level = np.concatenate([left[splits], right[splits]])
        return depth
    is_reached = np.zeros(len(inner), dtype=bool)
    n_parents = np.zeros(len(inner), dtype=np.intp)
    reached = np.zeros(1, dtype=np.intp)
    while reached.size:
        is_reached[reached] = True
        splits = reached[inner[reached]]
        children = np.concatenate([left[splits], right[splits]])
        np.add.at(n_parents, children, 1)
        reached = np.unique(children[~is_reached[children]])
    depth, n_visited = -1, 0
    ready = np.zeros(1, dtype=np.intp)
    while ready.size:
        depth += 1
        n_visited += ready.size
        splits = ready[inner[ready]]
        children = np.concatenate([left[splits], right[splits]])
        np.subtract.at(n_parents, children, 1)
        ready = np.unique(children[n_parents[children] == 0])
    if n_visited < is_reached.sum():
        raise ValueError("The nodes of a tree must not form a cycle.")
    return depth


LINKS: dict[str, Any] = {
    "identity": lambda raw: raw,
    "sigmoid": special.expit,
    "softmax": lambda raw: special.softmax(raw, axis=1),
    # The probabilities of AdaBoost's multi-class vote (Zhu et al. 2009, equation 15).
    "samme": lambda raw: special.softmax(raw / max(1, raw.shape[1] - 1), axis=1),
    "exp": np.exp,
    "signed_square": lambda raw: np.sign(raw) * raw**2,
    "softplus": lambda raw: np.logaddexp(0.0, raw),
    "step": lambda raw: (raw > 0).astype(np.float64),
}
