"""Optimal trees: the tree of a given size with the smallest training error.

Two solvers are used. STreeD (van der Linden et al.) searches trees with a given number
of leaves and given cuts; ConTree (Brita et al.) searches all cuts, for classification
and by depth only.
"""

import math
from dataclasses import KW_ONLY, dataclass
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from defragtrees._utils.optional import require
from defragtrees._utils.warnings import warn
from defragtrees.baselines._solvers import (
    LONGEST,
    solve_apart,
    solve_contree,
    solve_streed,
)
from defragtrees.baselines._trees import (
    LeafRates,
    leaf_rules,
    make_columns,
    make_tree,
    read_tree,
)
from defragtrees.estimators.base import (
    RuleClassifier,
    RuleRegressor,
    Simplifier,
)
from defragtrees.estimators.settings import Conflict, Integer, Real, setting

__all__ = ["OptimalTreeClassifier", "OptimalTreeRegressor"]

DEEPEST = 4  # beyond, a proof takes too long
N_GUESSES = 12  # trees whose cuts are guessed to be enough
ONE_LEAF = SimpleNamespace(node_count=1, children_left=(-1,))
MOST_COPIES = 20  # rows that stand for one row with a weight, on average


SOLVER = """\
    solver : {"streed", "contree"}, default="streed"
        "contree" searches all cuts. It rounds `max_rules` down to a power of two, and
        does not support missing values.
"""


@dataclass(repr=False, eq=False)
class _OptimalTree(Simplifier):
    _: KW_ONLY
    max_rules: int = setting(8, Integer(1))
    max_depth: int | None = setting(None, None, Integer(1, 20))
    min_samples_leaf: int = setting(1, Integer(1))
    n_cuts: int = setting(40, Integer(1))
    time_limit: float = setting(60.0, Real(above=0))

    _greedy_kind: ClassVar[type]
    _streed: ClassVar[tuple[str, str, type]]  # its class, task and type of y

    def _simplify(self, problem, rng):
        columns = make_columns(problem)
        rows = _copies(problem.sample_weight)
        seed = int(rng.integers(2**31))
        depth = self._depth()
        target = np.unique(problem.target[rows]) if len(rows) else ()
        if depth == 0 or len(target) < 2 or len(rows) < 2 * self.min_samples_leaf:
            self.is_optimal_ = True
            return leaf_rules(problem, make_tree((None,), (-1,), (-1,)))
        grown, self.is_optimal_ = self._solved(problem, columns, rows, depth, seed)
        if not self.is_optimal_:
            warn(
                f"After {self.time_limit:g} seconds the tree is not proven optimal. "
                "Increase time_limit, or decrease n_cuts or max_rules.",
            )
        tree = read_tree(grown, columns, problem, np.unique(rows))
        return leaf_rules(problem, tree, shorten=self.shorten_thresholds)

    def _depth(self):
        wanted = math.ceil(math.log2(self.max_rules))
        most = DEEPEST if self.max_depth is None else self.max_depth
        return min(wanted, most)

    def _solved(self, problem, columns, rows, depth, seed):
        """The best tree, on ranked columns, and whether it is proven optimal."""
        greedy = self._greedy_kind(
            N_GUESSES,
            max_depth=depth + 1,
            max_features=0.5,
            bootstrap=False,  # a row of weight two counts as two rows
            random_state=seed,
            n_jobs=self.n_jobs,
        )
        cuts = _guess_cuts(greedy, problem, columns, self.n_cuts)
        if not cuts:
            return ONE_LEAF, True
        require("pystreed", "An optimal tree")
        binary = np.column_stack(
            [_is_right(columns.cells[:, place], rank) for place, rank in cuts]
        )
        settings = {
            "max_depth": depth,
            "max_num_nodes": min(self.max_rules - 1, 2**depth - 1),
            "min_leaf_node_size": self.min_samples_leaf,
            "time_limit": min(self.time_limit, LONGEST),
        }
        *named, dtype = self._streed
        target = problem.target[rows].astype(dtype)
        binary = binary[rows].astype(np.intc)
        tree, is_optimal = solve_apart(
            "pystreed", solve_streed, *named, settings, cuts, binary, target
        )
        return ONE_LEAF if tree is None else tree, is_optimal


@dataclass(repr=False, eq=False)
class OptimalTreeClassifier(LeafRates, RuleClassifier, _OptimalTree):
    """The small tree that agrees best with a classification ensemble.

    Finds the tree with the smallest training error, or squared error in regression,
    among all trees with at most `max_rules` leaves on the candidate cuts. The leaves
    are the rules: exactly one matches each row and, in classification, reports the
    rates of y in its rows.

    Needs pystreed, and pycontree for `solver="contree"`; the extra `optimal` installs
    both. Solvers run in a separate process: if one crashes, RuntimeError is raised.

    Parameters
    ----------
    ensemble : fitted or unfitted ensemble, path, Forest or None, default=None
        The model to simplify. A fitted ensemble, or the file it was saved to, is used
        as it is; an unfitted one is cloned and fitted on X and y; None fits a random
        forest (gradient boosting if X has categories). Any other model, or a function
        that predicts, is queried as a black box. `clone`, which grid search calls, also
        resets a fitted ensemble: wrap it in `sklearn.frozen.FrozenEstimator` to keep
        the fit.
    max_rules : int, default=8
        Maximum number of leaves.
    max_depth : int or None, default=None
        Maximum depth of the tree. None is the depth that `max_rules` leaves need, at
        most four.
    min_samples_leaf : int, default=1
        Minimum number of rows in a leaf.
    n_cuts : int, default=40
        Number of candidate cuts: those with the largest gain in greedy trees.
    solver : {"streed", "contree"}, default="streed"
        "contree" searches all cuts. It rounds `max_rules` down to a power of two, and
        does not support missing values.
    time_limit : float, default=60
        Time limit of the solver in seconds. If the tree is not proven optimal by then,
        a warning is issued.
    target : {"ensemble", "labels"}, default="ensemble"
        Fit the predictions of the ensemble, or y.
    shorten_thresholds : bool, default=True
        Round thresholds where this moves no training row to the other side.
    feature_labels : dict from name to str, or sequence of str, optional
        Names of features in printed output. A unit may follow in brackets, as in
        "Duration [months]"; "[date]" prints days since 1970-01-01 as dates.
    class_labels : dict from class to str, or sequence of str, optional
        Names of classes in printed output. Classification only.
    pos_label : object, optional
        The class, of two, whose rate, precision and recall are reported and to which a
        threshold applies; the second by default. Classification only.
    max_calls : int or None, default=None
        Maximum number of rows for which a black box is queried, those of `validation`
        included. At most half of the others are rows of X (a sample, if X has more);
        the rest are synthetic rows for the search.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the greedy trees.
    n_jobs : int or None, default=None
        Number of threads for greedy trees, and for an ensemble that is fitted here.

    Attributes
    ----------
    rules_ : RuleModel
        The leaves; the one with the most conditions is the default rule.
    is_optimal_ : bool
        Whether the tree is proven optimal for this size and these cuts.
    ensemble_ : the ensemble that was simplified
    forest_ : Forest
        The ensemble as plain arrays.
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
    Sample weights are represented by repeated rows: exactly if all weights are small
    multiples of the smallest one, else approximately. Missing values go left, except
    in a split that tests for missing values.

    References
    ----------
    .. [1] van der Linden, J. G. M., de Weerdt, M. M. and Demirović, E. (2023).
       Necessary and Sufficient Conditions for Optimal Decision Trees using Dynamic
       Programming. NeurIPS.
    .. [2] Brita, C. E., van der Linden, J. G. M. and Demirović, E. (2025). Optimal
       Classification Trees for Continuous Feature Data Using Dynamic Programming with
       Branch-and-Bound. AAAI.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees import OptimalTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(20, random_state=0)
    >>> tree = OptimalTreeClassifier(forest, max_rules=3, random_state=0)
    >>> tree.fit(X, y).rules_.n_rules  # doctest: +SKIP
    3
    """

    _: KW_ONLY
    solver: str = setting("streed", "streed", "contree")

    _greedy_kind = RandomForestClassifier
    _streed = "STreeDClassifier", "accuracy", np.intc

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            "min_samples_leaf needs solver='streed'; got solver='contree'.",
            min_samples_leaf=Integer(2),
            solver="contree",
        ),
    )

    def _depth(self):
        if self.solver == "streed":
            return super()._depth()
        most = DEEPEST if self.max_depth is None else self.max_depth
        return min(math.floor(math.log2(self.max_rules)), most)

    def _solved(self, problem, columns, rows, depth, seed):
        if self.solver == "streed":
            return super()._solved(problem, columns, rows, depth, seed)
        if np.isnan(columns.cells).any():
            raise ValueError(
                "solver='contree' needs rows without missing values; X has some. Use "
                "solver='streed'."
            )
        require("pycontree", "solver='contree'")
        time_limit = min(self.time_limit, LONGEST)
        cells = columns.cells[rows].astype(np.float64)
        _, numbers = np.unique(problem.target[rows], return_inverse=True)
        return solve_apart(
            "pycontree", solve_contree, depth, time_limit, cells, numbers
        )


class OptimalTreeRegressor(RuleRegressor, _OptimalTree):
    """The small tree that agrees best with a regression ensemble.

    Finds the tree with the smallest training error, or squared error in regression,
    among all trees with at most `max_rules` leaves on the candidate cuts. The leaves
    are the rules: exactly one matches each row and, in classification, reports the
    rates of y in its rows.

    Needs pystreed, and pycontree for `solver="contree"`; the extra `optimal` installs
    both. Solvers run in a separate process: if one crashes, RuntimeError is raised.

    Parameters
    ----------
    ensemble : fitted or unfitted ensemble, path, Forest or None, default=None
        The model to simplify. A fitted ensemble, or the file it was saved to, is used
        as it is; an unfitted one is cloned and fitted on X and y; None fits a random
        forest (gradient boosting if X has categories). Any other model, or a function
        that predicts, is queried as a black box. `clone`, which grid search calls, also
        resets a fitted ensemble: wrap it in `sklearn.frozen.FrozenEstimator` to keep
        the fit.
    max_rules : int, default=8
        Maximum number of leaves.
    max_depth : int or None, default=None
        Maximum depth of the tree. None is the depth that `max_rules` leaves need, at
        most four.
    min_samples_leaf : int, default=1
        Minimum number of rows in a leaf.
    n_cuts : int, default=40
        Number of candidate cuts: those with the largest gain in greedy trees.
    time_limit : float, default=60
        Time limit of the solver in seconds. If the tree is not proven optimal by then,
        a warning is issued.
    target : {"ensemble", "labels"}, default="ensemble"
        Fit the predictions of the ensemble, or y.
    shorten_thresholds : bool, default=True
        Round thresholds where this moves no training row to the other side.
    feature_labels : dict from name to str, or sequence of str, optional
        Names of features in printed output. A unit may follow in brackets, as in
        "Duration [months]"; "[date]" prints days since 1970-01-01 as dates.
    class_labels : dict from class to str, or sequence of str, optional
        Names of classes in printed output. Classification only.
    pos_label : object, optional
        The class, of two, whose rate, precision and recall are reported and to which a
        threshold applies; the second by default. Classification only.
    max_calls : int or None, default=None
        Maximum number of rows for which a black box is queried, those of `validation`
        included. At most half of the others are rows of X (a sample, if X has more);
        the rest are synthetic rows for the search.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the greedy trees.
    n_jobs : int or None, default=None
        Number of threads for greedy trees, and for an ensemble that is fitted here.

    Attributes
    ----------
    rules_ : RuleModel
        The leaves; the one with the most conditions is the default rule.
    is_optimal_ : bool
        Whether the tree is proven optimal for this size and these cuts.
    ensemble_ : the ensemble that was simplified
    forest_ : Forest
        The ensemble as plain arrays.
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
    Sample weights are represented by repeated rows: exactly if all weights are small
    multiples of the smallest one, else approximately. Missing values go left, except
    in a split that tests for missing values.

    References
    ----------
    .. [1] van der Linden, J. G. M., de Weerdt, M. M. and Demirović, E. (2023).
       Necessary and Sufficient Conditions for Optimal Decision Trees using Dynamic
       Programming. NeurIPS.
    .. [2] Brita, C. E., van der Linden, J. G. M. and Demirović, E. (2025). Optimal
       Classification Trees for Continuous Feature Data Using Dynamic Programming with
       Branch-and-Bound. AAAI.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from defragtrees import OptimalTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(20, min_samples_leaf=5, random_state=0)
    >>> tree = OptimalTreeRegressor(forest, max_rules=4, random_state=0)
    >>> tree.fit(X, y).rules_.n_rules  # doctest: +SKIP
    4
    """

    _greedy_kind = RandomForestRegressor
    _streed = "STreeDRegressor", "regression", np.float64


def _copies(weight):
    """Row indices, repeated in proportion to their weights."""
    rows = np.arange(len(weight))
    smallest = weight.min()
    times = weight / smallest
    if (np.abs(times - np.round(times)) > 1e-9).any() or times.mean() > MOST_COPIES:
        times = weight * (MOST_COPIES / weight.mean())
    return np.repeat(rows, np.maximum(np.round(times).astype(np.intp), 1))


def _guess_cuts(greedy, problem, columns, n_cuts):
    """The cuts with the largest gain in greedy trees, as pairs of column and rank.

    In the order of columns. A split on missing values has no rank.
    """
    greedy.fit(columns.cells, problem.target, sample_weight=problem.sample_weight)
    gains: dict[tuple[int, float], float] = {}
    for tree in (member.tree_ for member in greedy.estimators_):
        for node in np.flatnonzero(tree.children_left >= 0):
            cut = int(tree.feature[node]), _rank(tree.threshold[node])
            gains[cut] = gains.get(cut, 0.0) + _gain(tree, node)
    best = sorted(gains, key=lambda cut: (-gains[cut], cut))[:n_cuts]
    return sorted(cut for cut in best if gains[cut] > 0)


def _rank(threshold):
    return float(threshold) if math.isinf(threshold) else math.floor(threshold) + 0.5


def _gain(tree, node):
    """The weighted decrease of impurity of a split."""

    def impurity(k):
        return tree.impurity[k] * tree.weighted_n_node_samples[k]

    left, right = tree.children_left[node], tree.children_right[node]
    return float(impurity(node) - impurity(left) - impurity(right))


def _is_right(cells, rank):
    """Mask of the rows that go right; missing values go left of a rank."""
    return np.isnan(cells) if math.isinf(rank) else cells > rank
