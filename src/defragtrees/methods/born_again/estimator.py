"""Born-again tree: one tree grown on what the ensemble says of rows like the data."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from defragtrees.methods.base import Simplifier
from defragtrees.methods.born_again.grow import Growth, cut, grow
from defragtrees.methods.born_again.table import make_table
from defragtrees.methods.docstrings import with_shared
from defragtrees.methods.leaves import cross_validate, leaf_rules
from defragtrees.methods.mixins import RuleClassifier, RuleRegressor
from defragtrees.methods.settings import (
    FLAG,
    Conflict,
    Each,
    Integer,
    Real,
    as_list,
    setting,
)
from defragtrees.progress import Progress

__all__ = ["BornAgainTreeClassifier", "BornAgainTreeRegressor"]

DEPTHS = (2, 3, 4, 6, 8, 10)

DESCRIPTION = """
    In each node rows are made up from the values of the training rows, the ensemble is
    asked about them, and the split that fits its answers best is taken. The idea is
    that of Breiman and Shang [1]_; the recipe, with a depth chosen by cross-validation
    in place of pruning, is that of Hara and Hayashi's comparison [2]_. The leaves are
    the rules: in every row just one holds.
"""

PARAMETERS = with_shared("""
    Parameters
    ----------
    {ensemble}
    max_depth : int, sequence of int or None, default=None
        Most splits on the way to a leaf. Of several, the one whose trees err least in
        cross-validation, or the smallest of these; None means 2, 3, 4, 6, 8 and 10.
        The ensemble is not fitted again for it, so it has seen the rows left out.
    max_rules : int or None, default=None
        Most leaves. A tree with more is cut back to as many that err least on the
        training rows; None keeps all.
    n_folds : int, default=5
        Of the cross-validation.
    min_samples_split : float, default=10
        A node with training rows of no more weight than this is a leaf.
    n_smeared : int, default=100
        Rows to make up in each node.
    replace_share : float, default=0.5
        How many values of a made-up row are drawn on their own; the others are those
        of one training row.
    max_thresholds : int or None, default=100
        Most splits of one feature to try in a node, drawn at random; None tries all.
    min_values : int, default=2
        Fewest values that a feature has in a node where it is split; 3 leaves
        two-valued features alone, as in [2]_.
    min_gain : float or None, default=0.0
        Share of a node's impurity that a split must take away more than; None splits
        even where the ensemble's answers are all the same, as in [2]_.
    soft : bool, default=False
        Whether splits look at the ensemble's probabilities and not at its classes.
    thresholds : {"data", "ensemble"}, default="data"
        Split midway between values of the training rows, or where the ensemble does.
        Categories are always split as the ensemble does.
    target : {"labels", "ensemble"}, default="labels"
        What a leaf answers, and what the depth is chosen for: y, or what the ensemble
        says. Splits are about the ensemble in any case.
    {shorten_thresholds}
    random_state : int, RandomState, Generator or None, default=None
        The same seed gives the same rules, whatever `n_jobs`.
    n_jobs : int or None, default=None
        Threads for folds, and for an ensemble that is fitted here.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    rules_ : RuleSet
        The leaves; that with the most conditions is the "otherwise".
    depth_ : int
        The depth that was chosen or given.
    depth_errors_ : dict from int to float
        Error of each depth in cross-validation; empty if there was none.
    {fitted}

    Notes
    -----
    The recipe of [2]_ is ``min_values=3, min_gain=None, shorten_thresholds=False``. A
    made-up row never lies on the lower threshold of its node, as rules do not, which
    the original allows; and where no feature can be split there is a leaf.

    References
    ----------
    .. [1] Breiman, L. and Shang, N. (1996). Born again trees. Technical report,
       University of California, Berkeley.
    .. [2] Hara, S. and Hayashi, K. (2018). Making Tree Ensembles Interpretable: A
       Bayesian Model Selection Approach. AISTATS.
""")


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
    soft: bool = setting(False, *FLAG)
    thresholds: str = setting("data", "data", "ensemble")
    target: str = setting("labels", "ensemble", "labels")
    verbose: int = setting(0, *FLAG, Integer(0))

    def _simplify(self, problem, rng):
        given = DEPTHS if self.max_depth is None else as_list(self.max_depth)
        depths = sorted({int(depth) for depth in given})
        table = make_table(problem, self.thresholds)
        ask = self._asker(problem)
        losses = problem.outcome.constant_loss(problem.target, problem.sample_weight)
        # For folds and for trees each its own, so that neither moves the other.
        fold_seed, tree_seed = (int(seed) for seed in rng.integers(2**63, size=2))

        def grow_to(depth, rows, number):
            return grow(table.take(rows), ask, self._growth(depth), [tree_seed, number])

        def trees_of_fold(rows, fold):
            grown = grow_to(depths[-1], rows, fold + 1)
            return [
                cut(grown, lambda inside: losses(rows[inside]), depth, self.max_rules)
                for depth in depths
            ]

        with Progress("folds", self.n_folds) as progress:
            finished = progress.advance if self.verbose else None
            errors = self._depth_errors(
                problem, depths, trees_of_fold, fold_seed, finished
            )
        self.depth_errors_ = errors
        self.depth_ = min(errors, key=lambda depth: errors[depth], default=depths[0])
        grown = grow_to(self.depth_, np.arange(len(problem.X)), 0)
        tree = cut(grown, losses, self.depth_, self.max_rules)
        is_shortened = self.shorten_thresholds and self.thresholds == "data"
        return leaf_rules(problem, tree, shorten=is_shortened)

    def _depth_errors(self, problem, depths, trees_of_fold, seed, finished):
        """Error of each depth in cross-validation; nothing if there is none to do."""
        if len(depths) == 1:
            return {}
        errors = cross_validate(
            problem,
            trees_of_fold,
            int(self.n_folds),
            np.random.default_rng(seed),
            self.n_jobs,
            finished,
        )
        # Rows that are all the same cannot be left out; there is one leaf anyway.
        return {} if errors is None else dict(zip(depths, errors.tolist(), strict=True))

    def _growth(self, depth):
        return Growth(
            max_depth=depth,
            min_samples_split=self.min_samples_split,
            n_smeared=int(self.n_smeared),
            replace_share=self.replace_share,
            max_thresholds=self.max_thresholds,
            min_values=int(self.min_values),
            min_gain=self.min_gain,
        )

    def _asker(self, problem):
        """What the ensemble says of rows: shares, one-hot classes or numbers."""
        forest, outcome = problem.forest, problem.outcome
        if self.soft:
            return forest.predict_proba_encoded
        return lambda matrix: outcome.indicators(forest.predict_target(matrix))


class BornAgainTreeClassifier(RuleClassifier, _BornAgainTree):
    __doc__ = f"""A tree grown on what a classification ensemble says of made-up rows.
{DESCRIPTION}{PARAMETERS}
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees.methods.born_again import BornAgainTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(20, random_state=0)
    >>> tree = BornAgainTreeClassifier(forest, max_rules=3, random_state=0).fit(X, y)
    >>> tree.rules_.n_rules
    3
    """


class BornAgainTreeRegressor(RuleRegressor, _BornAgainTree):
    __doc__ = f"""A tree grown on what a regression ensemble says of made-up rows.
{DESCRIPTION}{PARAMETERS}
    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from defragtrees.methods.born_again import BornAgainTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(20, min_samples_leaf=5, random_state=0)
    >>> tree = BornAgainTreeRegressor(forest, max_depth=3, random_state=0).fit(X, y)
    >>> tree.rules_.n_rules <= 8
    True
    """

    conflicts = (
        Conflict(
            "soft=True is for classes; the numbers of a regression are always used as "
            "they are.",
            soft=True,
        ),
    )
