"""Node Harvest: a few nodes of trees, each with a weight, that answer as a mean.

After N. Meinshausen, "Node harvest", Annals of Applied Statistics 4 (2010). By default
the nodes are those near the roots of the given ensemble's trees; the original grows
trees of its own.
"""

import math
import warnings
from dataclasses import KW_ONLY, dataclass

import numpy as np

from defragtrees.methods.base import Simplifier
from defragtrees.methods.docstrings import with_shared
from defragtrees.methods.mixins import RuleClassifier, RuleRegressor
from defragtrees.methods.node_harvest.nodes import cut_forest, find_nodes
from defragtrees.methods.node_harvest.program import make_program, solve_program
from defragtrees.methods.node_harvest.rules import average_rules, choose_nodes
from defragtrees.methods.node_harvest.trees import grow_forest
from defragtrees.methods.settings import Conflict, Integer, Real, setting

__all__ = ["NodeHarvestClassifier", "NodeHarvestRegressor"]

LEAST_RIDGE = 1e-10  # below it, the solution's digits are those of rounding
LEAST_WEIGHT = 1e-9  # against the largest; less is a rounding error

ABOUT = with_shared("""
    Candidates are the nodes of trees near their roots, each answering the mean of its
    training rows. They get weights, most of them zero, that sum to one over the nodes
    of any training row and whose answers err least (Meinshausen 2010). A row's answer
    is the mean by weight of all rules that hold and of the last one, which always does.

    Parameters
    ----------
    {ensemble}
    source : {"ensemble", "own"}, default="ensemble"
        Take the ensemble's nodes, tree by tree; or grow trees as the original does, and
        use the ensemble for comparison only. Trees of one's own tell one category from
        all others.
    n_nodes : int, default=1000
        How many candidates are enough.
    min_samples : int, default=10
        Least weight of the training rows in a node, and of those outside it.
    max_depth : int, default=2
        Most splits between a tree's root and a node, so most conditions of a rule.
    max_weight : float or None, default=None
        Largest sum of all weights; from 1, which leaves only the last rule. A smaller
        sum means larger nodes: its inverse is their mean share of the rows.
    mode : {"mean", "outbag"}, default="mean"
        When weights are sought, a node says its mean to its rows; or, to each of them,
        the mean of the others.
    max_rules : int or None, default=None
        Most rules, the last one included. They are chosen one by one, each time the
        one that helps most beside those chosen before; weights stay.
    min_weight : float, default=0.01
        Rules with a smaller share of the largest weight are left out.
    root_weight : float, default=0.01
        Least weight of the last rule, so that it is there where no other one holds.
    ridge : float, default=1e-7
        Price of a squared change of the weights, as a share of the target's variance;
        it decides between weights that answer alike.
    target : {"labels", "ensemble"}, default="labels"
        What the rules imitate: y, or the ensemble's probabilities or numbers.
    digits : int or None, default=4
        Digits of weights, of class shares after the point, and of numbers against
        their spread; what is printed is what predicts. None keeps all digits.
    round_digits : int or None, default=None
        Round thresholds to so many significant digits before nodes are made, even if
        rows change sides. The original rounds to 3.
    {shorten_thresholds}
    random_state : int, RandomState, Generator or None, default=None
        For `source="own"`, and for an ensemble that is fitted here.
    n_jobs : int or None, default=None
        Threads for an ensemble that is fitted here.

    Attributes
    ----------
    rules_ : RuleSet
    n_nodes_ : int
        Number of distinct nodes that could get a weight, the root included.
    {fitted}

    Notes
    -----
    The R package nodeHarvest corresponds to `source="own"`, `round_digits=3`,
    `shorten_thresholds=False`, `digits=None`, a ridge of 1e-5 over the sum of squares
    of the centred y, and `root_weight=0` where `max_weight` is given. It also takes
    all nodes whose mean is exactly 0 for one; here only nodes with the same rows are
    one. It has no multi-class form; here all classes share a node's weight.
""")


@dataclass(repr=False, eq=False)
class _NodeHarvest(Simplifier):
    _: KW_ONLY
    source: str = setting("ensemble", "ensemble", "own")
    n_nodes: int = setting(1000, Integer(1))
    min_samples: int = setting(10, Integer(1))
    max_depth: int = setting(2, Integer(1, 10**6))
    max_weight: float | None = setting(None, None, Real(1))
    mode: str = setting("mean", "mean", "outbag")
    max_rules: int | None = setting(None, None, Integer(1))
    min_weight: float = setting(0.01, Real(0, 1))
    root_weight: float = setting(0.01, Real(0, 1))
    ridge: float = setting(1e-7, Real(LEAST_RIDGE))
    target: str = setting("labels", "ensemble", "labels")
    digits: int | None = setting(4, None, Integer(1, 12))
    round_digits: int | None = setting(None, None, Integer(1, 12))

    conflicts = (
        # Of a single row there are no others whose mean it could be told.
        Conflict(
            "min_samples must be a whole number from 2; got 1, with mode='outbag'.",
            min_samples=Integer(1, 1),
            mode="outbag",
        ),
    )

    def _simplify(self, problem, rng):
        target = self._outputs(problem)
        forest = self._forest(problem, target, rng)
        problem = problem.with_forest(forest, self.shorten_thresholds)
        # Rounds of trees of one's own have ended when there were enough nodes.
        most = self.n_nodes if self.source == "ensemble" else math.inf
        nodes = find_nodes(problem, self.max_depth, self.min_samples, most)
        self.n_nodes_ = len(nodes.members)
        weights = self._weigh(nodes.members, target, problem.sample_weight)
        least = max(self.min_weight, LEAST_WEIGHT) * weights.max()
        weights = np.where(weights >= least, weights, 0.0)
        if self.max_rules is not None:
            weights = choose_nodes(problem, target, nodes, weights, self.max_rules)
        return average_rules(problem, target, nodes, weights, self.digits)

    def _outputs(self, problem):
        """What rows are to be told: class shares, or one number."""
        if problem.n_classes and self.target == "ensemble":
            return problem.forest.predict_proba_encoded(problem.X)
        return problem.outcome.indicators(problem.target)

    def _forest(self, problem, target, rng):
        """The trees whose nodes are the candidates."""
        if self.source == "ensemble":
            # A tree has one node of the right size at least, or is of no use.
            return cut_forest(
                problem.forest, self.max_depth, self.n_nodes, self.round_digits
            )
        return grow_forest(
            problem,
            # The share of one of two classes is all there is to know.
            target[:, 1:] if problem.n_classes == 2 else target,
            rng,
            max_depth=self.max_depth,
            min_samples=self.min_samples,
            n_nodes=self.n_nodes,
            round_digits=self.round_digits,
        )

    def _weigh(self, members, target, sample_weight):
        """The weights of the nodes; the root's alone where there is no choice."""
        root_only = np.eye(len(members))[-1]
        if (target == target[0]).all():
            _warn_of_one_rule("The target has one value only")
            return root_only
        if len(members) == 1:
            _warn_of_one_rule(
                f"No node has min_samples={self.min_samples} rows inside and as many "
                "outside"
            )
            return root_only
        program = make_program(
            members,
            target,
            sample_weight,
            mode=self.mode,
            ridge=self.ridge,
            root_weight=self.root_weight,
            max_weight=self.max_weight,
        )
        weights = solve_program(program)
        if weights[:-1].max() < LEAST_WEIGHT:
            gram = program.gram[: len(members), : len(members)]
            if np.linalg.matrix_rank(gram, hermitian=True) == len(members):
                _warn_of_one_rule("No nodes add up to all rows")
        return weights


def _warn_of_one_rule(reason):
    warnings.warn(
        f"{reason}, so the answer is one rule that always holds.",
        UserWarning,
        stacklevel=5,
    )


class NodeHarvestClassifier(RuleClassifier, _NodeHarvest):
    __doc__ = f"""Weighted rules from the nodes of trees, averaged, for classes.
{ABOUT}
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees.methods.node_harvest import NodeHarvestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=0)
    >>> simple = NodeHarvestClassifier(forest, max_rules=4, random_state=0).fit(X, y)
    >>> simple.rules_.n_rules
    4
    >>> simple.score(X, y) > 0.9
    True
    """


class NodeHarvestRegressor(RuleRegressor, _NodeHarvest):
    __doc__ = f"""Weighted rules from the nodes of trees, averaged, for numbers.
{ABOUT}
    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from defragtrees.methods.node_harvest import NodeHarvestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestRegressor(50, min_samples_leaf=10, random_state=0)
    >>> simple = NodeHarvestRegressor(forest, max_rules=8, random_state=0).fit(X, y)
    >>> simple.rules_.n_rules <= 8
    True
    >>> simple.score(X, y) > 0.4
    True
    """
