"""Forest: a fitted ensemble as plain arrays, able to predict."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import special

from defragtrees._types import Floats, Places, Rows, Values
from defragtrees._values import ByValue, freeze
from defragtrees.outcome import Classes, Numbers, make_outcome
from defragtrees.tables import read_matrix
from defragtrees.trees import StackedTrees, Tree, Walk, exact_threshold

__all__ = ["Forest", "Tree", "exact_threshold"]

COMBINATIONS = ("mean", "sum", "median")
LARGEST = 1e100  # of numbers in an ensemble, so that sums of squares are numbers too
BLOCK_CELLS = 200_000  # rows x trees walked at once, so that they stay in the cache


class Predicting:
    """The part of a Forest that turns the trees' combined answers into predictions.

    Each method for a table X has a twin for the matrix that `encode` makes of it.
    """

    def encode(self, X: Rows) -> Floats:
        """X as float64 numbers, categories as positions; checks names and number."""
        kinds = self.feature_kinds
        return read_matrix(X, self.feature_names, self.categories, kinds=kinds)

    def predict(self, X: Rows) -> Values:
        """Class labels, or numbers, of shape (n_samples,)."""
        return self.predict_encoded(self.encode(X))

    def predict_proba(self, X: Rows) -> Floats:
        """Class probabilities of shape (n_samples, n_classes)."""
        return self.predict_proba_encoded(self.encode(X))

    def predict_raw(self, X: Rows) -> Floats:
        """The combined answers of the trees before the link, (n_samples, n_outputs)."""
        return self.predict_raw_encoded(self.encode(X))

    def predict_encoded(self, matrix: Floats) -> Values:
        """`predict` for a matrix that `encode` made."""
        return self.predict_from_raw(self.predict_raw_encoded(matrix))

    def predict_proba_encoded(self, matrix: Floats) -> Floats:
        """`predict_proba` for a matrix that `encode` made."""
        return self.proba_from_raw(self.predict_raw_encoded(matrix))

    def predict_target(self, matrix: Floats) -> Values:
        """What rules imitate on an encoded matrix: class numbers, or numbers."""
        if self.outcome.n_classes:
            return self.class_index(matrix)
        return self.predict_encoded(matrix)

    def class_index(self, matrix: Floats) -> Places:
        """Class numbers for a matrix that `encode` made."""
        return self.class_index_from_raw(self.predict_raw_encoded(matrix))

    def predict_from_raw(self, raw: Floats) -> Values:
        """`predict` from what `predict_raw` gave."""
        if self.outcome.n_classes:
            return self.outcome.decode(self.class_index_from_raw(raw))
        linked = self._linked(raw)
        return linked[:, 0] if linked.shape[1] == 1 else linked

    def proba_from_raw(self, raw: Floats) -> Floats:
        """`predict_proba` from what `predict_raw` gave."""
        if not self.outcome.n_classes:
            raise AttributeError("A regression forest has no class probabilities.")
        linked = self._linked(raw)
        if linked.shape[1] == 1 and len(self.classes) == 2:
            return np.hstack([1 - linked, linked])
        return linked

    def _linked(self, raw):
        link = LINKS[self.link] if isinstance(self.link, str) else self.link
        with np.errstate(over="ignore"):  # libraries answer infinity as well
            return link(raw)

    def class_index_from_raw(self, raw: Floats) -> Places:
        """Class numbers from what `predict_raw` gave."""
        if not isinstance(self.link, str):
            return self.link.class_index(raw)
        if raw.shape[1] == 1 and len(self.classes) == 2:
            border = 0.5 if self.link == "identity" else 0.0
            score = raw[:, 0] - border
            return (score >= 0 if self.ties == "last" else score > 0).astype(int)
        return raw.argmax(axis=1)


@dataclass(frozen=True, eq=False)
class Forest(Predicting, ByValue):
    """An ensemble of trees, and how their answers become a prediction.

    Parameters
    ----------
    trees : tuple of Tree
    feature_names : tuple of str
    task : {"classification", "regression"}
    classes : tuple, optional
        Class labels in the order of the outputs; None for regression.
    combine : {"mean", "sum", "median"}
        How the trees' answers become one; the median is weighted by `weights`.
    base : float64 array of shape (n_outputs,), default=0
        Added to the combined answer.
    weights : float64 array of shape (n_trees,), default=1
        Weight of each tree.
    link : str or callable
        From the combined answer to a probability or a number; a key of `LINKS`, or a
        function of it with a method `class_index` and, where classes are decided by
        one, a `threshold`.
    ties : {"first", "last"}
        The class that a row on the border between two classes gets.
    categories : tuple of (tuple or None), optional
        For each feature its categories, or None where it is numeric.
    feature_kinds : tuple of (str or None), optional
        Of features that are days: "date", "datetime", "time" or "duration"; "ordered"
        if categories have an order.
    other_names : tuple of str, optional
        Columns that stand beside the features in the user's table, without a say.

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

    def __post_init__(self) -> None:
        n_outputs = self.trees[0].n_outputs if self.trees else np.size(self.base)
        weights = np.ones(len(self.trees)) if self.weights is None else self.weights
        categories = self.categories or (None,) * len(self.feature_names)
        base = np.broadcast_to(np.asarray(self.base, np.float64), (n_outputs,))
        for name, value in (
            ("trees", tuple(self.trees)),
            ("feature_names", tuple(str(name) for name in self.feature_names)),
            ("classes", None if self.classes is None else tuple(self.classes)),
            ("base", freeze(base)),
            ("weights", freeze(weights, np.float64)),
            ("categories", tuple(categories)),
        ):
            object.__setattr__(self, name, value)
        self._check()

    def _check(self):
        outcome = make_outcome(self.task, self.classes)
        if self.combine not in COMBINATIONS:
            raise ValueError(
                f"combine must be one of {COMBINATIONS}; got {self.combine!r}."
            )
        if not callable(self.link) and self.link not in LINKS:
            raise ValueError(f"link must be one of {tuple(LINKS)}; got {self.link!r}.")
        if len(self.categories) != self.n_features:
            raise ValueError("categories must have one entry for each feature.")
        if len(set(self.feature_names)) != self.n_features:
            raise ValueError("Feature names must differ from each other.")
        if len(set(outcome.labels or ())) != outcome.n_classes:
            raise ValueError(
                f"Classes must differ from each other; got {list(outcome.labels)}."
            )
        for tree in self.trees:
            if tree.n_outputs != len(self.base):
                raise ValueError("All trees must have the same number of outputs.")
            if tree.feature.max() >= self.n_features:
                raise ValueError(
                    f"A tree splits on feature {tree.feature.max()} of a forest "
                    f"with {self.n_features} features."
                )
        if isinstance(self.link, str):
            outcome.check_outputs(len(self.base))
        self._check_numbers()

    def _check_numbers(self):
        """Refuse numbers from which no answer follows."""
        for name, values in (("base", self.base), ("weights", self.weights)):
            if not _is_usable(values).all():
                raise ValueError(
                    f"{name} must hold numbers up to {LARGEST:g} in size; got "
                    f"{values[~_is_usable(values)][0]:g}."
                )
        # A split into sets of categories has no threshold; neither has a leaf.
        has_threshold = np.array([*(c is None for c in self.categories), False])
        for k, tree in enumerate(self.trees):
            leaf = tree.feature < 0
            if not _is_usable(tree.value[leaf]).all():
                wrong = leaf & ~_is_usable(tree.value).all(axis=1)
                node = int(np.flatnonzero(wrong)[0])
                value = tree.value[node]
                raise ValueError(
                    f"A leaf must answer numbers up to {LARGEST:g} in size; in tree "
                    f"{k + 1}, node {node + 1} answers "
                    f"{value[~_is_usable(value)][0]:g}."
                )
            without = np.isnan(tree.threshold) & has_threshold[tree.feature]
            if without.any():
                node = int(np.flatnonzero(without)[0])
                raise ValueError(
                    f"A threshold must be a number; in tree {k + 1}, that of node "
                    f"{node + 1} is not."
                )

    def __repr__(self) -> str:
        size = f"{len(self.trees)} trees, {self.n_features} features"
        return f"<Forest: {size}, {self.task}>"

    @property
    def outcome(self) -> Classes | Numbers:
        """What is predicted: its measures, texts and checks."""
        return make_outcome(self.task, self.classes)

    @property
    def threshold(self) -> float | None:
        """Of two classes, from which probability on the second is answered, if so."""
        return getattr(self.link, "threshold", None)

    @property
    def origin(self) -> str:
        """How the splits were found, where they were not read; nothing by default."""
        return ""

    @property
    def answers_by_trees(self) -> bool:
        """Whether its answers are sums over its trees, not those of something else."""
        return True

    @property
    def n_features(self) -> int:
        """Number of features that X must have."""
        return len(self.feature_names)

    def splits(self) -> list[Values]:
        """For each feature its distinct thresholds, or its distinct category sets.

        Returns
        -------
        list of ndarray
            Sorted float64 thresholds of a numeric feature; for a categorical one a
            bool array of shape (n_sets, n_categories + 1), the sets that go left.
        """
        distinct = []
        # A forest may have no trees at all, only a base.
        nothing = np.empty(0)
        feature = np.concatenate([nothing, *(tree.feature for tree in self.trees)])
        threshold = np.concatenate([nothing, *(tree.threshold for tree in self.trees)])
        order = np.argsort(feature, kind="stable")
        threshold, starts = (
            threshold[order],
            np.searchsorted(feature[order], np.arange(self.n_features + 1)),
        )
        for j, labels in enumerate(self.categories):
            if labels is None:
                distinct.append(np.unique(threshold[starts[j] : starts[j + 1]]))
            else:
                at = [tree.feature == j for tree in self.trees]
                width = len(labels) + 1
                parts = [
                    t.categories[here, :width]
                    for t, here in zip(self.trees, at, strict=True)
                    if here.any()
                ]
                distinct.append(
                    np.unique(
                        np.concatenate([np.empty((0, width), bool), *parts]), axis=0
                    )
                )
        return distinct

    def predict_raw_encoded(self, matrix: Floats) -> Floats:
        """`predict_raw` for a matrix that `encode` made."""
        n_rows, n_trees = len(matrix), len(self.trees)
        raw = np.empty((n_rows, len(self.base)))
        step = max(1, BLOCK_CELLS // max(1, n_trees))
        walk = Walk(n_trees, min(step, n_rows))
        for start in range(0, n_rows, step):
            rows = slice(start, start + step)
            raw[rows] = self._combined(matrix[rows], walk)
        return raw

    def _combined(self, matrix, walk):
        if not self.trees:
            return np.tile(self.base, (len(matrix), 1))
        leaves = self.stacked.leaves(matrix, walk)
        value = self.stacked.value
        if self.combine == "median":
            return _weighted_median(value[leaves, 0], self.weights)[:, None] + self.base
        total = np.empty((len(matrix), len(self.base)))
        for output, begin in enumerate(self.sum_start()):
            terms = value[:, output][leaves.T]
            terms *= self.weights[:, None]
            terms[0] += begin
            # Tree after tree; a plain sum of a single row would take another order.
            total[:, output] = np.add.accumulate(terms, axis=0, out=terms)[-1]
        return self.finish_sums(total)

    def finish_sums(self, total: Floats) -> Floats:
        """The combined answers from the sums over the trees."""
        if self.combine == "mean":
            return total / self.weights.sum() + self.base
        return total

    def sum_start(self) -> Floats:
        """What a sum over the trees starts from.

        The base itself, as boosting libraries do: in another order the rounding
        differs, and with it the class of a row on the border.
        """
        return self.base if self.combine == "sum" else np.zeros_like(self.base)

    @cached_property
    def stacked(self) -> StackedTrees:
        """The nodes of all trees behind one another."""
        return StackedTrees(self.trees, self.categories)

    def __getstate__(self):
        return {name: v for name, v in self.__dict__.items() if name != "stacked"}


def _is_usable(values):
    return np.abs(values) <= LARGEST  # NaN is not


def _weighted_median(values, weights):
    """Per row the first value, in sorted order, at which half the weight is reached."""
    order = np.argsort(values, axis=1)
    reached = np.cumsum(weights[order], axis=1)
    chosen = (reached >= 0.5 * reached[:, -1:]).argmax(axis=1)
    rows = np.arange(len(values))
    return values[rows, order[rows, chosen]]


def _signed_square(raw):
    return np.sign(raw) * raw**2


def _step_at_zero(raw):
    return (raw > 0).astype(np.float64)


def _softplus(raw):
    return np.logaddexp(0.0, raw)


def _softmax(raw):
    return special.softmax(raw, axis=1)


def _samme(raw):
    # The probabilities of AdaBoost's multi-class vote (Zhu et al. 2009, equation 15).
    return special.softmax(raw / max(1, raw.shape[1] - 1), axis=1)


LINKS: dict[str, Any] = {
    "identity": lambda raw: raw,
    "sigmoid": special.expit,
    "softmax": _softmax,
    "samme": _samme,
    "exp": np.exp,
    "signed_square": _signed_square,
    "softplus": _softplus,
    "step": _step_at_zero,
}
