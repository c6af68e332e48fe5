"""Node Harvest: a weighted mean of a few nodes of trees.

After N. Meinshausen, "Node harvest", Annals of Applied Statistics 4 (2010). Here
the nodes are those near the roots of the trees of the model; the original grows its
own trees.
"""

import dataclasses
import math
from dataclasses import KW_ONLY, dataclass
from itertools import groupby
from operator import attrgetter

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.optimize import nnls
from sklearn.exceptions import ConvergenceWarning

from defragtrees._utils.values import round_significant
from defragtrees._utils.warnings import warn
from defragtrees.baselines._trees import Path, Sides, cut_to_depth, find_paths
from defragtrees.estimators.base import RuleClassifier, RuleRegressor, Simplifier
from defragtrees.estimators.problem import predicting_rule
from defragtrees.estimators.settings import Integer, Real, setting

__all__ = ["NodeHarvestClassifier", "NodeHarvestRegressor"]

LEAST_RIDGE = 1e-10  # with less, rounding errors dominate the solution
LEAST_WEIGHT = 1e-9  # relative to the largest; less is a rounding error
PENALTY = 300.0  # of a violated constraint, relative to the curvature of the error
TOLERANCE = 1e-12  # of a violated constraint, as a share of the rows
SLOW = 0.3  # the penalty rises if a round leaves more of the error than this
MOST_RISE = 1e4  # of the penalty; each factor of 10 costs a digit of the solution
MOST_ROUNDS = 200  # of the multipliers; ten to thirty are usual
MOST_STEPS = 50  # of a least-squares problem, per weight
ALL_DIGITS = 17  # of a float64
BLOCK_ROWS = 4096  # rows converted at once, to limit memory


@dataclass(repr=False, eq=False)
class _NodeHarvest(Simplifier):
    _: KW_ONLY
    n_nodes: int = setting(1000, Integer(1))
    min_samples: int = setting(10, Integer(1))
    max_depth: int = setting(2, Integer(1, 10**6))
    max_weight: float | None = setting(None, None, Real(1))
    max_rules: int | None = setting(None, None, Integer(1))
    min_weight: float = setting(0.01, Real(0, 1))
    root_weight: float = setting(0.01, Real(0, 1))
    ridge: float = setting(1e-7, Real(LEAST_RIDGE))
    target: str = setting("labels", "model", "labels")
    digits: int | None = setting(4, None, Integer(1, 12))
    round_digits: int | None = setting(None, None, Integer(1, 12))

    def _simplify(self, problem, rng):
        # Class shares, or one number.
        target = problem.outcome.indicators(problem.target)
        if problem.n_classes and self.target == "model":
            raw = problem.forest.predict_raw_encoded(problem.X)
            target = problem.forest.proba_from_raw(raw)
        # A tree without a node of the right size is useless.
        forest = cut_forest(
            problem.forest, self.max_depth, self.n_nodes, self.round_digits
        )
        problem = problem.with_forest(forest, self.shorten_thresholds)
        nodes = find_nodes(problem, self.max_depth, self.min_samples, self.n_nodes)
        self.n_nodes_ = len(nodes.members)
        weights = self._weigh(nodes.members, target, problem.sample_weight)
        least = max(self.min_weight, LEAST_WEIGHT) * weights.max()
        weights = np.where(weights >= least, weights, 0.0)
        if self.max_rules is not None:
            weights = choose_nodes(problem, target, nodes, weights, self.max_rules)
        return average_rules(problem, target, nodes, weights, self.digits)

    def _weigh(self, members, target, sample_weight):
        """Fit the weights of the nodes; only the root's if there is no choice."""
        weights, reason = np.eye(len(members))[-1], None
        if (target == target[0]).all():
            reason = "The target has a single value"
        elif len(members) == 1:
            reason = (
                f"No node has min_samples={self.min_samples} rows inside and as many "
                "outside"
            )
        else:
            settings = self.ridge, self.root_weight, self.max_weight
            program = make_program(members, target, sample_weight, *settings)
            weights = solve_program(program)
            gram = program.gram[: len(members), : len(members)]
            if weights[:-1].max() < LEAST_WEIGHT and (
                np.linalg.matrix_rank(gram, hermitian=True) == len(members)
            ):
                reason = "No nodes together cover all rows"
        if reason is not None:
            warn(f"{reason}, so the result is a single rule that matches all rows.")
        return weights


@dataclass(repr=False, eq=False)
class NodeHarvestClassifier(RuleClassifier, _NodeHarvest):
    """Node Harvest: a weighted mean of rules of a classification model.

    Candidates are nodes near the roots of trees, each predicting the mean of its
    training rows. Weights, most of them zero, are chosen to minimise the squared error;
    they sum to one over the nodes of each training row (Meinshausen 2010). The
    prediction for a row is the weighted mean of all rules that match and of the default
    rule.

    Parameters
    ----------
    model : fitted or unfitted model, path, Forest or None, default=None
        The model to simplify. A fitted model, or the file it was saved to, is used
        as it is; an unfitted one is cloned and fitted on X and y; None fits a random
        forest (gradient boosting if X has categories). Any other model, or a function
        that predicts, is queried as a black box. `clone`, which grid search calls, also
        resets a fitted model: wrap it in `sklearn.frozen.FrozenEstimator` to keep
        the fit.
    n_nodes : int, default=1000
        Number of candidates after which no further tree is used.
    min_samples : int, default=10
        Minimum weight of the training rows in a node, and of those outside it.
    max_depth : int, default=2
        Maximum depth of a node, and so maximum number of conditions per rule.
    max_weight : float or None, default=None
        Maximum sum of all weights, at least 1, which leaves only the default rule. A
        smaller sum means larger nodes: its inverse is their mean share of the rows.
    max_rules : int or None, default=None
        Maximum number of rules, including the default rule. Rules are chosen greedily
        by the gain in squared error; weights are not changed.
    min_weight : float, default=0.01
        Rules with less than this share of the largest weight are dropped.
    root_weight : float, default=0.01
        Minimum weight of the default rule, which predicts rows that no rule matches.
    ridge : float, default=1e-7
        Penalty of a squared change of the weights, as a share of the target's variance.
        It decides between weights with equal predictions.
    target : {"labels", "model"}, default="labels"
        Fit y, or the model's probabilities or numbers.
    digits : int or None, default=4
        Number of digits of weights, of class shares after the point, and of numbers
        relative to their spread. The rounded numbers predict. None keeps all digits.
    round_digits : int or None, default=None
        Round thresholds to this number of significant digits before nodes are made,
        even if this moves rows to the other side. The original rounds to 3.
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
        Seed for a model that is fitted here.
    n_jobs : int or None, default=None
        Number of threads for a model that is fitted here.
    verbose : int, default=0
        1 shows a progress bar, for a black box.

    Attributes
    ----------
    rules_ : RuleModel
    n_nodes_ : int
        Number of distinct candidates, including the root.
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
    The R package nodeHarvest corresponds to `round_digits=3`,
    `shorten_thresholds=False`, `digits=None`, a ridge of 1e-5 over the sum of squares
    of the centred y, and `root_weight=0` if `max_weight` is given. Its trees are its
    own: 63.2% of the rows for each, and a third of the features at a split. It also
    merges all nodes whose mean is exactly 0; here only nodes with the same rows are
    merged. It has no multi-class form; here all classes share the weight of a node.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees.baselines import NodeHarvestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=0)
    >>> simple = NodeHarvestClassifier(forest, max_rules=4, random_state=0).fit(X, y)
    >>> simple.rules_.n_rules
    4
    >>> simple.score(X, y) > 0.9
    True
    """


class NodeHarvestRegressor(RuleRegressor, _NodeHarvest):
    """Node Harvest: a weighted mean of rules of a regression model.

    Candidates are nodes near the roots of trees, each predicting the mean of its
    training rows. Weights, most of them zero, are chosen to minimise the squared error;
    they sum to one over the nodes of each training row (Meinshausen 2010). The
    prediction for a row is the weighted mean of all rules that match and of the default
    rule.

    Parameters
    ----------
    model : fitted or unfitted model, path, Forest or None, default=None
        The model to simplify. A fitted model, or the file it was saved to, is used
        as it is; an unfitted one is cloned and fitted on X and y; None fits a random
        forest (gradient boosting if X has categories). Any other model, or a function
        that predicts, is queried as a black box. `clone`, which grid search calls, also
        resets a fitted model: wrap it in `sklearn.frozen.FrozenEstimator` to keep
        the fit.
    n_nodes : int, default=1000
        Number of candidates after which no further tree is used.
    min_samples : int, default=10
        Minimum weight of the training rows in a node, and of those outside it.
    max_depth : int, default=2
        Maximum depth of a node, and so maximum number of conditions per rule.
    max_weight : float or None, default=None
        Maximum sum of all weights, at least 1, which leaves only the default rule. A
        smaller sum means larger nodes: its inverse is their mean share of the rows.
    max_rules : int or None, default=None
        Maximum number of rules, including the default rule. Rules are chosen greedily
        by the gain in squared error; weights are not changed.
    min_weight : float, default=0.01
        Rules with less than this share of the largest weight are dropped.
    root_weight : float, default=0.01
        Minimum weight of the default rule, which predicts rows that no rule matches.
    ridge : float, default=1e-7
        Penalty of a squared change of the weights, as a share of the target's variance.
        It decides between weights with equal predictions.
    target : {"labels", "model"}, default="labels"
        Fit y, or the model's probabilities or numbers.
    digits : int or None, default=4
        Number of digits of weights, of class shares after the point, and of numbers
        relative to their spread. The rounded numbers predict. None keeps all digits.
    round_digits : int or None, default=None
        Round thresholds to this number of significant digits before nodes are made,
        even if this moves rows to the other side. The original rounds to 3.
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
        Seed for a model that is fitted here.
    n_jobs : int or None, default=None
        Number of threads for a model that is fitted here.
    verbose : int, default=0
        1 shows a progress bar, for a black box.

    Attributes
    ----------
    rules_ : RuleModel
    n_nodes_ : int
        Number of distinct candidates, including the root.
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
    The R package nodeHarvest corresponds to `round_digits=3`,
    `shorten_thresholds=False`, `digits=None`, a ridge of 1e-5 over the sum of squares
    of the centred y, and `root_weight=0` if `max_weight` is given. Its trees are its
    own: 63.2% of the rows for each, and a third of the features at a split. It also
    merges all nodes whose mean is exactly 0; here only nodes with the same rows are
    merged. It has no multi-class form; here all classes share the weight of a node.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from defragtrees.baselines import NodeHarvestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestRegressor(50, min_samples_leaf=10, random_state=0)
    >>> simple = NodeHarvestRegressor(forest, max_rules=8, random_state=0).fit(X, y)
    >>> simple.rules_.n_rules <= 8
    True
    >>> simple.score(X, y) > 0.4
    True
    """


# Candidate nodes: boxes of trees, and the rows in each.


@dataclass(frozen=True, eq=False)
class Nodes:
    """Distinct sets of training rows, from small to large; the last is the root."""

    members: np.ndarray  # bool, (n_nodes, n_samples)
    sides: Sides
    paths: tuple[Path, ...]  # to all nodes but the root
    n_candidates: int  # nodes of trees, before those with the same rows were merged

    def conditions(self, grid, node):
        """The conditions of a node; none for the root."""
        if node == len(self.paths):
            return ()
        return self.sides.conditions(grid, self.paths[node].sides)


def cut_forest(forest, max_depth, n_trees, round_digits=None):
    """The first trees of a forest, no deeper than `max_depth`, thresholds rounded."""
    trees = [cut_to_depth(tree, max_depth) for tree in forest.trees[:n_trees]]
    if round_digits is not None:
        for i, tree in enumerate(trees):
            # As R rounds: to the nearest multiple of a power of ten in float64.
            size = np.abs(np.where(tree.threshold == 0, 1.0, tree.threshold))
            shift = 10.0 ** (round_digits - 1 - np.floor(np.log10(size)))
            threshold = np.round(tree.threshold * shift) / shift
            trees[i] = dataclasses.replace(tree, threshold=threshold)
    return dataclasses.replace(forest, trees=tuple(trees), weights=None)


def find_nodes(problem, max_depth, min_samples, n_nodes):
    """Find the nodes of the problem's forest with enough rows inside and outside.

    No further tree is used once there are `n_nodes`.
    """
    sides, paths = find_paths(problem, max_depth)
    weight, codes = problem.sample_weight, problem.codes
    most = weight.sum() - min_samples
    n_candidates, by_rows = 0, {}
    accepted: dict[int, np.ndarray] = {}
    for _, of_tree in groupby(paths, key=attrgetter("tree")):
        if n_candidates >= n_nodes:
            break
        for path in of_tree:
            rows = np.ones(len(codes), dtype=bool)
            for side in path.sides:
                if side not in accepted:
                    [accepted[side]] = sides.rows(codes, [side])
                rows &= accepted[side]
            size = float(weight @ rows)
            if min_samples <= size <= most:
                # Of nodes with the same rows the last one is kept, as in the original,
                # unless an earlier one has fewer conditions.
                same = by_rows.get(rows.tobytes())
                if same is not None:
                    path = min(path, same[2], key=lambda path: len(path.sides))
                by_rows[rows.tobytes()] = (size, n_candidates, path, rows)
                n_candidates += 1
    kept = sorted(by_rows.values(), key=lambda node: node[:2])
    members = [rows for *_, rows in kept] + [np.ones(len(codes), dtype=bool)]
    return Nodes(
        np.array(members), sides, tuple(path for _, _, path, _ in kept), n_candidates
    )


# The quadratic program: the weight of each node.
#
# The weights w minimise the squared error of the weighted mean of the nodes, among all
# non-negative w whose sum over the nodes of each training row is one (Meinshausen 2010,
# equations 6 to 8). Rows enter only through two matrices with one line per node, so the
# time of the search does not depend on their number.


@dataclass(frozen=True, eq=False)
class Program:
    """Minimise w'Qw / 2 - c'w where w >= lower and G w = G start."""

    quadratic: np.ndarray  # Q, positive definite where G w is zero
    linear: np.ndarray  # c
    gram: np.ndarray  # G = S'S for the matrix S of the constraints S w = S start
    lower: np.ndarray
    start: np.ndarray  # a feasible point
    n_nodes: int  # their weights come first


def make_program(members, target, sample_weight, ridge, root_weight, max_weight):
    """Make the program for some nodes, the last of which is the root.

    `ridge` is the penalty of leaving the start, in which the root has all the weight,
    as a share of the target's variance; it makes the solution unique.
    """
    share = sample_weight / sample_weight.sum()
    # The weights of a row sum to one, so the target can be centred, for precision. It
    # is also scaled, so that ridge does not depend on units.
    centred = target - share @ target
    centred = centred / math.sqrt(share @ (centred**2).sum(axis=1))
    gram = _gram(members, share)
    size = np.diag(gram)
    mean = (members * share) @ centred / size[:, None]
    quadratic = gram * (mean @ mean.T)
    linear = size * (mean**2).sum(axis=1)
    root = np.zeros(len(members))
    root[-1] = 1.0
    quadratic[np.diag_indices_from(quadratic)] += ridge
    linear, lower, start = linear + ridge * root, root_weight * root, root
    # The upper bound of the sum of the weights: all rows in nodes of the smallest size.
    # A slack weight is the maximum sum less the sum of the weights.
    if max_weight is not None and max_weight * size.min() < 1:
        quadratic, linear = np.pad(quadratic, (0, 1)), np.append(linear, 0.0)
        gram = np.pad(gram, (0, 1)) + 1.0 / max_weight
        lower, start = np.append(lower, 0.0), np.append(start, max_weight - 1.0)
    return Program(quadratic, linear, gram, lower, start, len(members))


def _gram(members, share):
    """Share of the rows in both of each two nodes."""
    gram = np.zeros((len(members), len(members)))
    is_counting = (share == share[0]).all()
    for start in range(0, len(share), BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        # float32 counts this many rows exactly, in half the time.
        part = members[:, rows].astype(np.float32 if is_counting else np.float64)
        gram += part @ part.T if is_counting else (part * share[rows]) @ part.T
    return gram / len(share) if is_counting else gram


def solve_program(program):
    """Solve for the weights of the nodes, to about eight digits.

    Equality constraints are handled by the method of multipliers. Each round is a
    non-negative least-squares problem.
    """
    gram, lower = program.gram, program.lower
    curvature = np.diag(program.quadratic) / np.diag(gram)
    least = PENALTY * max(1.0, float(curvature.max()))
    penalty, most, largest = least, MOST_RISE * least, math.inf
    towards = program.quadratic @ lower - program.linear
    above = program.start - lower
    for _ in range(MOST_ROUNDS):
        before = above > 0
        try:
            root = cholesky(program.quadratic + penalty * gram, lower=True)
        except LinAlgError:  # rounding errors of the gram outweigh the ridge
            penalty = most = penalty / 3
            continue
        slope = towards + penalty * (gram @ (lower - program.start))
        goal = -solve_triangular(root, slope, lower=True)
        above, _ = nnls(root.T, goal, maxiter=MOST_STEPS * len(goal))
        broken = gram @ (lower + above - program.start)
        previous, largest = largest, np.abs(broken).max()
        if largest <= TOLERANCE and ((above > 0) == before).all():
            break
        towards = towards + penalty * broken
        if largest > SLOW * previous and penalty < most:
            penalty *= 3
    else:
        warn(
            "The weights of the nodes have not converged: their sums per row are off "
            f"by up to {math.sqrt(largest):.1g}. Increase ridge or min_samples.",
            ConvergenceWarning,
        )
    return (lower + above)[: program.n_nodes]


# Weighted nodes become a RuleModel, whose printed numbers are those that predict.


def average_rules(problem, target, nodes, weights, digits):
    """The nodes with positive weight as rules, the heaviest first, and the root."""
    share = problem.sample_weight / problem.sample_weight.sum()
    spread = math.sqrt(share @ ((target - share @ target) ** 2).sum(axis=1))
    root = len(weights) - 1
    kept = np.flatnonzero(weights[:-1] > 0).tolist()
    # The nodes of one tree often have equal weights, up to rounding errors.
    kept.sort(key=lambda node: (-round_significant(weights[node], digits or 9), -node))
    rules = [
        _rule(problem, target, nodes, node, weights[node], digits, spread)
        for node in [*kept, root]
    ]
    return problem.rule_set(rules, form="average")


def _rule(problem, target, nodes, node, weight, digits, spread):
    rows = nodes.members[node]
    row_weight = problem.sample_weight[rows]
    mean = row_weight @ target[rows] / row_weight.sum()
    if problem.n_classes:
        mean = _whole(mean, digits)
        rounded = {"distribution": tuple(mean.tolist())}
    else:
        mean = float(mean[0])
        if digits is not None and spread > 0:
            mean = round(mean, digits - 1 - math.floor(math.log10(spread)))
        elif digits is not None:
            mean = round_significant(mean, 15)
        rounded = {"prediction": mean}
    conditions = nodes.conditions(problem.grid, node)
    rule = predicting_rule(problem, conditions, rows, mean, rows)
    weight = round_significant(weight, digits or ALL_DIGITS)
    return dataclasses.replace(rule, weight=weight, **rounded)


def _whole(shares, digits):
    """Round class shares to a number of digits; their sum stays one."""
    if digits is None:
        return shares / shares.sum()
    units = shares * 10**digits
    # Down, and up again where most was lost; rounding errors must not decide.
    floors = np.floor(np.round(units, 3))
    lost = np.round(units - floors, 3)
    n_up = round(10**digits - floors.sum())
    floors[np.argsort(-lost, kind="stable")[:n_up]] += 1
    return floors / 10**digits


def choose_nodes(problem, target, nodes, weights, max_rules):
    """Set the weights of all but `max_rules` nodes to zero.

    Nodes are chosen greedily, each time the one that leaves the smallest squared error.
    Choosing the heaviest nodes instead would need twice as many rules; fitting the
    weights of the chosen nodes again gains almost nothing.
    """
    share = problem.sample_weight / problem.sample_weight.sum()
    # Relative to the root, which predicts zero then, as do rows without a node.
    target = target - share @ target
    variance = share @ (target**2).sum(axis=1)
    total, total_weight = np.zeros_like(target), np.full(len(target), weights[-1])

    def with_node(k):
        """The rows of a node, and their sums with it and without."""
        rows = nodes.members[k]
        mean = np.average(target[rows], axis=0, weights=share[rows])
        before = total[rows], total_weight[rows]
        return rows, (before[0] + weights[k] * mean, before[1] + weights[k]), before

    def loss(rows, total, weight):
        mean = total / np.where(weight > 0, weight, 1.0)[:, None]
        return float(share[rows] @ ((target[rows] - mean) ** 2).sum(axis=1))

    def gain(k):
        """Decrease of the squared error by one more node, relative to the variance."""
        rows, after, before = with_node(k)
        # Rounded, so that the first of equals is chosen, not one by rounding errors.
        return round((loss(rows, *before) - loss(rows, *after)) / variance, 12)

    waiting = np.flatnonzero(weights[:-1] > 0).tolist()
    chosen = np.zeros_like(weights)
    chosen[-1] = weights[-1]
    while waiting and np.count_nonzero(chosen[:-1]) < max_rules - 1:
        gains = [gain(k) for k in waiting]
        best = int(np.argmax(gains))
        if gains[best] <= 0:
            break
        node = waiting.pop(best)
        chosen[node] = weights[node]
        rows, after, _ = with_node(node)
        total[rows], total_weight[rows] = after
    return chosen
