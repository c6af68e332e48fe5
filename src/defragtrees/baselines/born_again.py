"""Born-again tree: a tree grown on the model's predictions for synthetic rows."""

import dataclasses
import itertools
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from defragtrees._utils.progress import Progress
from defragtrees.baselines._trees import (
    Split,
    cross_validate,
    cut_to_depth,
    leaf_rules,
    make_tree,
    with_leaves,
)
from defragtrees.ensembles.forest import Tree
from defragtrees.estimators.base import RuleClassifier, RuleRegressor, Simplifier
from defragtrees.estimators.settings import Each, Integer, Real, as_list, setting

__all__ = ["BornAgainTreeClassifier", "BornAgainTreeRegressor"]

DEPTHS = (2, 3, 4, 6, 8, 10)
BLOCK_CELLS = 4_000_000  # synthetic values made at once, to limit memory
NOISE = 1e-12  # of the largest number: smaller differences are rounding errors
TIED = 1e-9  # of the node's loss: smaller differences are ties


@dataclass(repr=False, eq=False)
class _BornAgainTree(Simplifier):
    _: KW_ONLY
    max_depth: Any = setting(None, None, Each(Integer(1, 10**6)))
    max_rules: int | None = setting(None, None, Integer(1))
    n_folds: int = setting(5, Integer(2))
    min_samples_split: float = setting(10, Real(0))
    n_smeared: int = setting(100, Integer(1))
    replace_share: float = setting(0.5, Real(0, 1))
    max_thresholds: int | None = setting(100, None, Integer(1))
    min_values: int = setting(2, Integer(2))
    min_gain: float | None = setting(0.0, None, Real(0, 1))
    target: str = setting("labels", "model", "labels")

    def _simplify(self, problem, rng):
        given = DEPTHS if self.max_depth is None else as_list(self.max_depth)
        depths = sorted({int(depth) for depth in given})
        table = make_table(problem)
        forest, outcome = problem.forest, problem.outcome
        losses = outcome.constant_loss(problem.target, problem.sample_weight)
        # Separate seeds, so that folds do not affect trees.
        fold_seed, tree_seed = (int(seed) for seed in rng.integers(2**63, size=2))

        def query(matrix):
            """Predictions of the model: one-hot classes or numbers."""
            raw = forest.predict_raw_encoded(matrix)
            return outcome.indicators(forest.target_from_raw(raw))

        def trees_on(rows, number, depths):
            """A tree of each depth, all cut from the deepest."""
            seed = [tree_seed, number]
            grown = grow(table.take(rows), query, self, depths[-1], seed)
            return [
                cut(grown, lambda inside: losses(rows[inside]), depth, self.max_rules)
                for depth in depths
            ]

        self.depth_, self.depth_errors_ = depths[0], {}
        if len(depths) > 1:
            rng, n_folds = np.random.default_rng(fold_seed), int(self.n_folds)
            with Progress("folds", n_folds) as progress:
                finished = progress.advance if self.verbose else None
                how = n_folds, rng, self.n_jobs, finished
                errors = cross_validate(
                    problem, lambda rows, fold: trees_on(rows, fold + 1, depths), *how
                )
            # Equal rows share a fold; if all are equal there is one leaf anyway.
            if errors is not None:
                self.depth_ = depths[int(errors.argmin())]
                self.depth_errors_ = dict(zip(depths, errors.tolist(), strict=True))
        [tree] = trees_on(np.arange(len(problem.X)), 0, [self.depth_])
        return leaf_rules(problem, tree, shorten=self.shorten_thresholds)


@dataclass(repr=False, eq=False)
class BornAgainTreeClassifier(RuleClassifier, _BornAgainTree):
    """A tree grown on synthetic rows labelled by a classification model.

    In each node synthetic rows are made from the values of the training rows, the
    model predicts them, and the split that fits its predictions best is chosen. The
    idea is by Breiman and Shang [1]_; the algorithm, with a depth chosen by
    cross-validation in place of pruning, is that of Hara and Hayashi's comparison [2]_.
    The leaves are the rules: exactly one matches a row.

    Parameters
    ----------
    model : fitted or unfitted model, path, Forest or None, default=None
        The model to simplify. A fitted model, or the file it was saved to, is used
        as it is; an unfitted one is cloned and fitted on X and y; None fits a random
        forest (gradient boosting if X has categories). Any other model, or a function
        that predicts, is queried as a black box. `clone`, which grid search calls, also
        resets a fitted model: wrap it in `sklearn.frozen.FrozenEstimator` to keep
        the fit.
    max_depth : int, sequence of int or None, default=None
        Maximum depth. Of several, the one with the smallest error in cross-validation
        is chosen, the smallest at a tie; None is 2, 3, 4, 6, 8 and 10. The model is
        not fitted again, so it was trained on the held-out rows.
    max_rules : int or None, default=None
        Maximum number of leaves. A larger tree is pruned to the subtree with the
        smallest training error; None is no limit.
    n_folds : int, default=5
        Number of folds of the cross-validation.
    min_samples_split : float, default=10
        A node with training rows of at most this weight is a leaf.
    n_smeared : int, default=100
        Number of synthetic rows per node.
    replace_share : float, default=0.5
        Share of the values of a synthetic row that are drawn independently; the others
        are those of one training row.
    max_thresholds : int or None, default=100
        Maximum number of random splits per feature to try in a node; None tries all.
    min_values : int, default=2
        Minimum number of values of a feature in a node where it is split; 3 excludes
        binary features, as in [2]_.
    min_gain : float or None, default=0.0
        Minimum relative decrease of impurity of a split, exclusive; None splits even if
        all predictions of the model are equal, as in [2]_.
    target : {"labels", "model"}, default="labels"
        Target of the leaves and of the choice of depth: y, or the predictions of the
        model. Splits are always chosen by the predictions.
    shorten_thresholds : bool, default=True
        Round thresholds where this moves no training row to the other side.
    feature_labels : dict from name to str, or sequence of str, optional
        Names of features in printed output. A unit may follow in brackets, as in
        "Duration [months]"; "[date]" prints days since 1970-01-01 as dates.
    class_labels : dict from class to str, or sequence of str, optional
        Names of classes in printed output.
    pos_label : object, optional
        The class, of two, whose rate, precision and recall are reported and to which a
        threshold applies; the second by default.
    max_calls : int or None, default=None
        Maximum number of rows for which a black box is queried, those of `validation`
        included. At most half of the others are rows of X (a sample, if X has more);
        the rest are synthetic rows for the search.
    random_state : int, RandomState, Generator or None, default=None
        Seed; the same seed gives the same rules for any `n_jobs`.
    n_jobs : int or None, default=None
        Number of threads for folds, and for a model that is fitted here.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    rules_ : RuleModel
        The leaves; the one with the most conditions is the default rule.
    depth_ : int
        The depth that was chosen or given.
    depth_errors_ : dict from int to float
        Cross-validated error of each depth; empty without cross-validation.
    model_ : the model that was simplified
    forest_ : Forest
        The model as plain arrays.
    training_ : dict
        Result of `evaluate` on the training rows.
    validation_ : dict
        Result of `evaluate` on the validation rows. Only if `fit` got `validation`.
    n_calls_ : int
        Number of rows for which a black box was queried.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        Only if X had names.

    Notes
    -----
    The algorithm of [2]_ is ``min_values=3, min_gain=None, shorten_thresholds=False``.
    Here a synthetic row is never equal to the lower threshold of its node, which the
    original allows; and a node without possible splits is a leaf.

    References
    ----------
    .. [1] Breiman, L. and Shang, N. (1996). Born again trees. Technical report,
       University of California, Berkeley.
    .. [2] Hara, S. and Hayashi, K. (2018). Making Tree Ensembles Interpretable: A
       Bayesian Model Selection Approach. AISTATS.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees.baselines import BornAgainTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(20, random_state=0)
    >>> tree = BornAgainTreeClassifier(forest, max_rules=3, random_state=0).fit(X, y)
    >>> tree.rules_.n_rules
    3
    """


class BornAgainTreeRegressor(RuleRegressor, _BornAgainTree):
    """A tree grown on synthetic rows labelled by a regression model.

    In each node synthetic rows are made from the values of the training rows, the
    model predicts them, and the split that fits its predictions best is chosen. The
    idea is by Breiman and Shang [1]_; the algorithm, with a depth chosen by
    cross-validation in place of pruning, is that of Hara and Hayashi's comparison [2]_.
    The leaves are the rules: exactly one matches a row.

    Parameters
    ----------
    model : fitted or unfitted model, path, Forest or None, default=None
        The model to simplify. A fitted model, or the file it was saved to, is used
        as it is; an unfitted one is cloned and fitted on X and y; None fits a random
        forest (gradient boosting if X has categories). Any other model, or a function
        that predicts, is queried as a black box. `clone`, which grid search calls, also
        resets a fitted model: wrap it in `sklearn.frozen.FrozenEstimator` to keep
        the fit.
    max_depth : int, sequence of int or None, default=None
        Maximum depth. Of several, the one with the smallest error in cross-validation
        is chosen, the smallest at a tie; None is 2, 3, 4, 6, 8 and 10. The model is
        not fitted again, so it was trained on the held-out rows.
    max_rules : int or None, default=None
        Maximum number of leaves. A larger tree is pruned to the subtree with the
        smallest training error; None is no limit.
    n_folds : int, default=5
        Number of folds of the cross-validation.
    min_samples_split : float, default=10
        A node with training rows of at most this weight is a leaf.
    n_smeared : int, default=100
        Number of synthetic rows per node.
    replace_share : float, default=0.5
        Share of the values of a synthetic row that are drawn independently; the others
        are those of one training row.
    max_thresholds : int or None, default=100
        Maximum number of random splits per feature to try in a node; None tries all.
    min_values : int, default=2
        Minimum number of values of a feature in a node where it is split; 3 excludes
        binary features, as in [2]_.
    min_gain : float or None, default=0.0
        Minimum relative decrease of impurity of a split, exclusive; None splits even if
        all predictions of the model are equal, as in [2]_.
    target : {"labels", "model"}, default="labels"
        Target of the leaves and of the choice of depth: y, or the predictions of the
        model. Splits are always chosen by the predictions.
    shorten_thresholds : bool, default=True
        Round thresholds where this moves no training row to the other side.
    feature_labels : dict from name to str, or sequence of str, optional
        Names of features in printed output. A unit may follow in brackets, as in
        "Duration [months]"; "[date]" prints days since 1970-01-01 as dates.
    max_calls : int or None, default=None
        Maximum number of rows for which a black box is queried, those of `validation`
        included. At most half of the others are rows of X (a sample, if X has more);
        the rest are synthetic rows for the search.
    random_state : int, RandomState, Generator or None, default=None
        Seed; the same seed gives the same rules for any `n_jobs`.
    n_jobs : int or None, default=None
        Number of threads for folds, and for a model that is fitted here.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    rules_ : RuleModel
        The leaves; the one with the most conditions is the default rule.
    depth_ : int
        The depth that was chosen or given.
    depth_errors_ : dict from int to float
        Cross-validated error of each depth; empty without cross-validation.
    model_ : the model that was simplified
    forest_ : Forest
        The model as plain arrays.
    training_ : dict
        Result of `evaluate` on the training rows.
    validation_ : dict
        Result of `evaluate` on the validation rows. Only if `fit` got `validation`.
    n_calls_ : int
        Number of rows for which a black box was queried.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        Only if X had names.

    Notes
    -----
    The algorithm of [2]_ is ``min_values=3, min_gain=None, shorten_thresholds=False``.
    Here a synthetic row is never equal to the lower threshold of its node, which the
    original allows; and a node without possible splits is a leaf.

    References
    ----------
    .. [1] Breiman, L. and Shang, N. (1996). Born again trees. Technical report,
       University of California, Berkeley.
    .. [2] Hara, S. and Hayashi, K. (2018). Making Tree Ensembles Interpretable: A
       Bayesian Model Selection Approach. AISTATS.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from defragtrees.baselines import BornAgainTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(20, min_samples_leaf=5, random_state=0)
    >>> tree = BornAgainTreeRegressor(forest, max_depth=3, random_state=0).fit(X, y)
    >>> tree.rules_.n_rules <= 8
    True
    """


# Training rows as codes: the rank of each value within its column.
#
# A born-again tree draws and splits on values of the data, so growing it needs ranks
# only. Columns are sorted by name, and the codes of all columns are numbered
# consecutively: those of a column are its sorted values and then one for missing
# values.


@dataclass(frozen=True, eq=False)
class CodeTable:
    """Rows as codes, and the possible splits."""

    features: np.ndarray  # index in X of each column
    values: np.ndarray  # of each code; NaN stands for missing
    starts: np.ndarray  # first code of each column, and the number of codes
    codes: np.ndarray  # (n_rows, n_columns)
    weight: np.ndarray
    # Of a categorical column: the sets of codes that may go left, (n_sets, n_codes of
    # the column), and the same sets over all positions, (n_sets, n_categories + 1).
    sets: dict[int, np.ndarray]
    positions: dict[int, np.ndarray]

    @property
    def n_columns(self):
        """Number of columns."""
        return len(self.features)

    @cached_property
    def code_weight(self):
        """Weight of the rows that have each code."""
        weight = np.repeat(self.weight, self.n_columns)
        return np.bincount(self.codes.ravel(), weight, self.starts[-1])

    @cached_property
    def is_set(self):
        """Which columns have categories."""
        return np.isin(np.arange(self.n_columns), list(self.sets))

    def width(self, column):
        """Number of codes of a column, including the one for missing values."""
        return int(self.starts[column + 1] - self.starts[column])

    def take(self, rows):
        """The table of some rows, with the same codes."""
        return dataclasses.replace(
            self, codes=self.codes[rows], weight=self.weight[rows]
        )

    def matrix(self, codes):
        """The rows that these codes stand for, with columns as in X."""
        X = np.empty(codes.shape)
        X[:, self.features] = self.values[codes]
        return X


def make_table(problem):
    """The rows of a problem as codes."""
    codes = np.empty(problem.X.shape, dtype=np.int32)
    values, starts = [], [0]
    sets, positions = {}, {}
    for k, j in enumerate(problem.feature_order):
        column = problem.X[:, j]
        missing = np.isnan(column)
        distinct, place = np.unique(column[~missing], return_inverse=True)
        codes[~missing, k] = place + starts[-1]
        codes[missing, k] = len(distinct) + starts[-1]
        if problem.categories[j] is not None:
            # The last set has all categories: only missing values go right.
            of_model = problem.grid.splits[j]
            everything = np.ones((1, of_model.shape[1]), dtype=bool)
            positions[k] = np.vstack([of_model, everything])
            at = np.minimum(distinct.astype(np.intp), of_model.shape[1] - 1)
            sets[k] = np.pad(positions[k][:, at], ((0, 0), (0, 1)))
        values += [distinct, [np.nan]]
        starts.append(starts[-1] + len(distinct) + 1)
    return CodeTable(
        features=np.array(problem.feature_order, dtype=np.intp),
        values=np.concatenate(values),
        starts=np.array(starts, dtype=np.intp),
        codes=codes,
        weight=problem.sample_weight,
        sets=sets,
        positions=positions,
    )


# Growing a born-again tree level by level, and cutting it to a depth or a size.


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree, and the training rows of each node."""

    tree: Tree
    rows: tuple[np.ndarray, ...]


@dataclass(eq=False)
class _Node:
    """A node that may still be split; the children of `number` i are 2i and 2i + 1.

    Each node has its own random generator, seeded by its number. So a shallower tree is
    the upper part of a deeper one.
    """

    number: int
    rows: np.ndarray
    box: dict[int, np.ndarray]
    split: Split | None = None
    children: tuple["_Node", ...] = ()


def grow(table, query, settings, max_depth, seed):
    """Grow a tree on the rows of a table with the settings of an estimator.

    `query` returns the model's predictions for a matrix of rows.
    """
    level, nodes = [_Node(1, np.arange(len(table.codes)), {})], []
    for depth in itertools.count():
        nodes += level
        if depth == max_depth or not level:
            break
        for block in _blocks(table, level, settings, seed):
            # The model is queried once for all nodes of a block.
            smeared = [
                smear(table, node.box, settings.n_smeared, settings.replace_share, rng)
                for node, _, rng in block
            ]
            outputs = query(table.matrix(np.vstack(smeared)))
            parts = outputs.reshape(len(block), settings.n_smeared, -1)
            for (node, candidates, _), rows, responses in zip(
                block, smeared, parts, strict=True
            ):
                choice = best_split(table, candidates, rows, responses)
                if settings.min_gain is None or choice.gain > settings.min_gain:
                    _divide(table, node, choice)
        for node in level:
            node.box = {}  # as large as the data; only needed by the children
        level = [child for node in level for child in node.children]
    place = {node.number: i for i, node in enumerate(nodes)}
    tree = make_tree(
        [node.split for node in nodes],
        [place.get(2 * node.number, -1) for node in nodes],
        [place.get(2 * node.number + 1, -1) for node in nodes],
    )
    return Grown(tree, tuple(node.rows for node in nodes))


def _blocks(table, nodes, settings, seed):
    """The nodes that can be split, with their candidates and synthetic rows."""
    size = max(1, BLOCK_CELLS // (settings.n_smeared * table.n_columns))
    block = []
    for node in nodes:
        if table.weight[node.rows].sum() <= settings.min_samples_split:
            continue
        rng = np.random.default_rng([*seed, node.number])
        candidates = find_candidates(
            table, node.rows, rng, settings.max_thresholds, settings.min_values
        )
        if len(candidates):
            block.append((node, candidates, rng))
        if len(block) == size:
            yield block
            block = []
    if block:
        yield block


def _divide(table, node, choice):
    """Give a node its split and its children."""
    column = choice.column
    width, start = table.width(column), table.starts[column]
    categories = None
    if column in table.sets:
        left = table.sets[column][choice.code].copy()
        categories = table.positions[column][choice.code]
    else:
        left = np.arange(start, start + width) <= choice.code
    place = table.codes[node.rows, column] - start
    missing_left = choice.missing_left
    if missing_left is None:
        # No synthetic row has missing values; they go where most rows go.
        weight = table.weight[node.rows] * (place < width - 1)
        missing_left = bool(weight[left[place]].sum() >= weight[~left[place]].sum())
    left[-1] = missing_left
    feature = int(table.features[column])
    node.split = Split(feature, choice.threshold, categories, missing_left)
    inside = node.box.get(column, np.ones(width, dtype=bool))
    goes_left = left[place]
    node.children = tuple(
        _Node(2 * node.number + k, node.rows[goes], node.box | {column: inside & side})
        for k, (goes, side) in enumerate(((goes_left, left), (~goes_left, ~left)))
    )


def cut(grown, losses, max_depth, max_leaves=None):
    """Prune the tree to a depth and a number of leaves with the smallest loss.

    `losses` maps the rows of a node to its loss as a leaf.
    """
    tree = cut_to_depth(grown.tree, max_depth)
    n_leaves = len(tree.feature[tree.feature >= 0]) + 1
    if max_leaves is None or n_leaves <= max_leaves:
        return tree
    cost = [losses(rows) for rows in grown.rows]
    best = [np.empty(0)] * len(cost)
    taken = [np.empty(0)] * len(cost)
    for node in reversed(range(len(cost))):
        below = best[tree.left[node]], best[tree.right[node]]
        if tree.feature[node] < 0:
            below = np.empty(0), np.empty(0)
        best[node], taken[node] = _best_sizes(cost[node], *below, max_leaves)
    is_leaf = np.ones(len(cost), dtype=bool)
    # Gains within rounding errors do not justify a leaf.
    enough = best[0].min() + 1e-12 * cost[0]
    waiting = [(0, int((best[0] <= enough).argmax()) + 1)]
    while waiting:
        node, n_leaves = waiting.pop()
        if n_leaves > 1:
            is_leaf[node] = False
            n_left = int(taken[node][n_leaves - 1])
            waiting.append((tree.left[node], n_left))
            waiting.append((tree.right[node], n_leaves - n_left))
    return with_leaves(tree, is_leaf)


def _best_sizes(cost, left, right, max_leaves):
    """Smallest loss with 1, 2, ... leaves below a node, and those on the left.

    `left` and `right` are the losses of the children, without entries for a leaf.
    """
    size = min(max_leaves, max(1, len(left) + len(right)))
    best = np.full(size, np.inf)
    taken = np.zeros(size, dtype=np.intp)
    best[0] = cost
    for n_left in range(1, min(len(left), size - 1) + 1):
        losses = left[n_left - 1] + right[: size - n_left]
        # These trees have n_left + 1, n_left + 2, ... leaves.
        sizes = slice(n_left, n_left + len(losses))
        better = losses < best[sizes]
        best[sizes] = np.where(better, losses, best[sizes])
        taken[sizes] = np.where(better, n_left, taken[sizes])
    return best, taken


# Smearing: synthetic rows within a node, mixed from the values of training rows.


def smear(table, box, n_rows, replace_share, rng):
    """Draw synthetic rows in a box, as codes.

    A row starts as a copy of any training row. Each of its values is replaced, with
    probability `replace_share`, by that of another training row within the box, drawn
    for each feature independently; rows outside the box are rejected. To avoid
    rejection, training rows are drawn with their probability of acceptance, and values
    outside are always replaced, which gives the same distribution. `box` has a mask of
    the codes inside for each bounded column.
    """
    # A fixed number of draws, so that weights and limits do not affect later draws.
    draws = rng.random(n_rows)
    is_replaced = rng.random((n_rows, table.n_columns)) < replace_share
    places = rng.random((n_rows, table.n_columns))
    base = _pick(base_weight(table, box, replace_share), draws)
    base_codes = table.codes[base]
    other = _pick(table.weight, places)
    smeared = np.where(
        is_replaced, table.codes[other, np.arange(table.n_columns)], base_codes
    )
    for column, inside in box.items():
        start = table.starts[column]
        codes = slice(start, table.starts[column + 1])
        new = start + _pick(table.code_weight[codes] * inside, places[:, column])
        kept = inside[base_codes[:, column] - start] & ~is_replaced[:, column]
        smeared[:, column] = np.where(kept, base_codes[:, column], new)
    return smeared


def base_weight(table, box, replace_share):
    """Weight of each training row times the probability of acceptance."""
    n_outside = np.zeros(len(table.codes), dtype=np.intp)
    for column, inside in box.items():
        n_outside += ~inside[table.codes[:, column] - table.starts[column]]
    return table.weight * float(replace_share) ** n_outside


def _pick(weight, draws):
    """Indices drawn by weight; a weight of two counts as two rows."""
    reached = np.cumsum(weight)
    total = reached[-1]
    # A draw just below one may be rounded up to the total, which is out of range.
    draws = np.minimum(draws * total, np.nextafter(total, 0))
    return np.searchsorted(reached, draws, side="right")


# The best split of a node: candidates from training rows, measured on synthetic ones.
#
# The criterion is the squared error of the model's predictions around their mean on
# each side, summed over classes; for one-hot classes this is the Gini impurity.


@dataclass(frozen=True, eq=False)
class Candidates:
    """Splits to try, by column and then ascending, infinity first."""

    column: np.ndarray
    code: np.ndarray  # the last one that goes left; for categories, the index of a set
    threshold: np.ndarray  # NaN for a set; infinity if only missing values go right

    def __len__(self):
        return len(self.column)


@dataclass(frozen=True)
class Choice:
    """The best of the candidates."""

    column: int
    code: int
    threshold: float
    missing_left: bool | None  # None if no synthetic row has a missing value
    gain: float  # relative decrease of the loss of the node; 0 if it has none


def find_candidates(table, rows, rng=None, most=None, min_values=2):
    """Splits with training rows on both sides, at most `most` per feature."""
    ordered = np.sort(table.codes[rows], axis=0)
    column, at = np.nonzero((ordered[1:] > ordered[:-1]).T)
    low, high = ordered[at, column], ordered[at + 1, column]
    # The code after the last value is that of missing values: only these go right.
    to_missing = np.isnan(table.values[high])
    is_number = ~table.is_set[column]
    n_steps = np.bincount(column[~to_missing], minlength=table.n_columns)
    enough = n_steps >= min_values - 1
    used = is_number & (to_missing | enough[column])
    column, low, high = column[used], low[used], high[used]
    middle = _middle(table.values[low], table.values[high])
    parts = [(column, _last_code(table, low, high, middle), middle)]
    parts += [_sets_inside(table, ordered, k) for k in table.sets]
    column, code, threshold = (
        np.concatenate(arrays) for arrays in zip(*parts, strict=True)
    )
    # First, as at a tie a split on missing values alone is the simplest to read.
    order = np.lexsort((code, ~np.isinf(threshold), column))
    if most is not None:
        # A sample of at most so many per column, in the same order.
        kept = np.ones(len(order), dtype=bool)
        _, first, count = np.unique(
            column[order], return_index=True, return_counts=True
        )
        for start, n_here in zip(first, count, strict=True):
            if n_here > most:
                kept[start : start + n_here] = False
                kept[start + rng.choice(n_here, most, replace=False)] = True
        order = order[kept]
    return Candidates(column[order], code[order], threshold[order])


def _middle(low, high):
    """Midpoint of two values; infinity if the second one is missing."""
    with np.errstate(over="ignore"):
        middle = low + (high - low) / 2
    middle = np.where(np.isinf(middle), low / 2 + high / 2, middle)
    # The midpoint of neighbouring floats is one of the two.
    middle = np.where(middle >= high, low, middle)
    return np.where(np.isnan(high), np.inf, middle)


def _last_code(table, low, high, threshold):
    """The last code from `low` to below `high` whose value is not above the threshold.

    There may be values between the two, of training rows outside the node.
    """
    low, high = low.astype(np.intp), high.astype(np.intp)
    while (high - low > 1).any():
        probe = (low + high) // 2
        below = table.values[probe] <= threshold
        low, high = np.where(below, probe, low), np.where(below, high, probe)
    return low


def _sets_inside(table, ordered, column):
    """The sets of a column that have rows of the node inside and outside."""
    present = np.zeros(table.width(column), dtype=bool)
    present[ordered[:, column] - table.starts[column]] = True
    sets = table.sets[column]
    inside = (sets & present).any(axis=1)
    # Missing values may go to either side, so they do not count; except for the last
    # set, of all categories, where they are the other side.
    outside = (~sets & present)[:, :-1].any(axis=1)
    outside[-1] = present[-1]
    code = np.flatnonzero(inside & outside)
    threshold = np.where(code == len(sets) - 1, np.inf, np.nan)
    return np.full(len(code), column), code, threshold


def split_losses(table, candidates, smeared, responses):
    """Loss of every candidate with missing values right and left, and without a split.

    It is infinite for left if no value is missing. `responses` are the model's
    predictions for the synthetic rows, (n_rows, n_outputs).
    """
    n_rows = len(smeared)
    centred = responses - responses.mean(axis=0)
    centred[np.abs(centred) <= NOISE * np.abs(responses).max()] = 0.0
    unsplit = float((centred**2).sum())
    total = centred.sum(axis=0)

    def loss(n_left, left):
        """Loss with a mean on each side."""
        explained = (left**2).sum(axis=1) / np.maximum(n_left, 1)
        explained += ((total - left) ** 2).sum(axis=1) / np.maximum(n_rows - n_left, 1)
        return unsplit - explained

    n_left, left = _left_sums(table, candidates, smeared, centred)
    losses = np.full((len(candidates), 2), np.inf)
    losses[:, 0] = loss(n_left, left)
    missing = smeared == table.starts[1:] - 1
    n_missing = missing.sum(axis=0)
    movable = (n_missing[candidates.column] > 0) & ~np.isinf(candidates.threshold)
    if movable.any():
        column = candidates.column[movable]
        moved = missing.T.astype(np.float64) @ centred
        losses[movable, 1] = loss(
            n_left[movable] + n_missing[column], left[movable] + moved[column]
        )
    return losses, unsplit


def _left_sums(table, candidates, smeared, responses):
    """Number and summed responses of the synthetic rows that go left."""
    n_rows, n_outputs = responses.shape
    n_left = np.zeros(len(candidates), dtype=np.intp)
    left = np.zeros((len(candidates), n_outputs))
    is_set = table.is_set[candidates.column]
    number = np.flatnonzero(~is_set)
    if len(number):
        column = candidates.column[number]
        order = np.argsort(smeared, axis=0, kind="stable")
        # Codes increase from column to column, so one search is enough for all.
        ascending = np.take_along_axis(smeared, order, axis=0).T.ravel()
        reached = np.searchsorted(ascending, candidates.code[number], side="right")
        n_left[number] = reached - column * n_rows
        sums = np.zeros((n_rows + 1, *order.shape[1:], n_outputs))
        np.cumsum(responses[order], axis=0, out=sums[1:])
        left[number] = sums[n_left[number], column]
    for k in np.unique(candidates.column[is_set]):
        of_column = np.flatnonzero(candidates.column == k)
        inside = table.sets[k][candidates.code[of_column]]
        inside = inside[:, smeared[:, k] - table.starts[k]]
        n_left[of_column] = inside.sum(axis=1)
        left[of_column] = inside.astype(np.float64) @ responses
    return n_left, left


def best_split(table, candidates, smeared, responses):
    """The candidate with the smallest loss; the first one at a tie."""
    losses, unsplit = split_losses(table, candidates, smeared, responses)
    first = int((losses <= losses.min() + TIED * unsplit).argmax())
    place, is_left = divmod(first, 2)
    column = int(candidates.column[place])
    threshold = float(candidates.threshold[place])
    has_missing = (smeared[:, column] == table.starts[column + 1] - 1).any()
    missing_left = bool(is_left) if has_missing or np.isinf(threshold) else None
    gain = (unsplit - losses[place, is_left]) / unsplit if unsplit > 0 else 0.0
    code = int(candidates.code[place])
    return Choice(column, code, threshold, missing_left, float(gain))
