"""inTrees: conditions of the trees' paths are pruned, and the best rules listed."""

import dataclasses
from dataclasses import KW_ONLY, dataclass

from defragtrees.methods.base import Simplifier
from defragtrees.methods.docstrings import with_shared
from defragtrees.methods.intrees.candidates import drop_repeats, extract
from defragtrees.methods.intrees.listing import build_list
from defragtrees.methods.intrees.pruning import prune_all
from defragtrees.methods.intrees.selection import select_rules
from defragtrees.methods.intrees.targets import (
    ClassTarget,
    NumberTarget,
    discretise,
    level_answers,
)
from defragtrees.methods.listing import answering_rule
from defragtrees.methods.mixins import RuleClassifier, RuleRegressor
from defragtrees.methods.settings import FLAG, Integer, Real, setting
from defragtrees.progress import Progress

__all__ = ["InTreesClassifier", "InTreesRegressor"]

METHOD = """
    Every path of the trees is a rule. Each rule loses, one by one, the conditions that
    hardly change its error. From what is left a list is built: the next rule is always
    the one that errs least on the rows that no rule before it has taken, and the list
    ends where none is better than a single answer for all rows left.
"""

PARAMETERS = with_shared("""
    Parameters
    ----------
    {ensemble}
    n_trees : int or None, default=100
        How many trees to take rules from, the first ones; None for all.
    max_depth : int, default=6
        Paths end at a leaf, or after so many splits.
    max_decay : float, default=0.05
        How much the error of a rule may rise while it loses conditions.
    decay : {"absolute", "relative"}, default="absolute"
        Whether that is a difference, or a share of the error at the beginning.
        Differences of squared errors count in variances of the target.
    min_freq : float, default=0.01
        A rule of the list must take at least this share of all rows.
    smoothing : float, default={smoothing}
        For choosing the next rule, the rows that it takes are joined by this share of
        all rows, with the error of all rows left. Without it tiny rules that happen
        not to err come first; 0.02 about halves the number of rules.
    select : bool, default=False
        Choose rules by a regularised forest before the list is built.
    max_rules : int or None, default=None
        Most rules, the last "otherwise" included; it answers what the list leaves.
    target : {"ensemble", "labels"}, default="labels"
        What the rules are to say: the ensemble's answers, or y.
    {shorten_thresholds}
    random_state : int, RandomState, Generator or None, default=None
        For `select`, and for an ensemble that is fitted here.
    n_jobs : int or None, default=None
        Threads for an ensemble that is fitted here.
    verbose : int, default=0
        1 shows a progress bar.
""")

ATTRIBUTES = with_shared("""
    Attributes
    ----------
    rules_ : RuleSet
    {fitted}

    References
    ----------
    H. Deng (2019). Interpreting tree ensembles with inTrees. International Journal of
    Data Science and Analytics 7, 277-287. First as arXiv:1408.5456 (2014).

    H. Deng and G. Runger (2013). Gene selection with guided regularized random forest.
    Pattern Recognition 46, 3483-3489. For `select`.
""")


@dataclass(repr=False, eq=False)
class _InTrees(Simplifier):
    _: KW_ONLY
    n_trees: int | None = setting(100, None, Integer(1))
    max_depth: int = setting(6, Integer(1, 10**6))
    max_decay: float = setting(0.05, Real(0))
    decay: str = setting("absolute", "absolute", "relative")
    min_freq: float = setting(0.01, Real(0, 1))
    smoothing: float = setting(0.0, Real(0))
    select: bool = setting(False, *FLAG)
    max_rules: int | None = setting(None, None, Integer(1))
    target: str = setting("labels", "ensemble", "labels")
    verbose: int = setting(0, *FLAG, Integer(0))

    def _simplify(self, problem, rng):
        target, make_rule = self._ways(problem)
        rules = extract(
            problem,
            int(self.max_depth),
            None if self.n_trees is None else int(self.n_trees),
        )
        rules = rules.take(drop_repeats(rules.side_numbers))
        codes = problem.binned.codes
        with Progress("rules", len(rules)) as progress:
            advance = progress.advance if self.verbose else None
            measured = prune_all(
                rules, codes, target, self.max_decay, self.decay, advance
            )
        if self.select and len(measured):
            measured = measured.take(select_rules(measured, target, rng))
        limit = None if self.max_rules is None else int(self.max_rules)
        listed = build_list(measured, target, self.min_freq, limit, self.smoothing)
        return _rule_set(problem, measured, listed, make_rule)

    def _ways(self, problem):
        """What rules are measured by; how conditions and rows become a rule."""
        if problem.n_classes:
            target = ClassTarget(
                problem.target, problem.n_classes, problem.sample_weight
            )
            return target, _class_rule
        return NumberTarget(problem.target, problem.sample_weight), _mean_rule


class InTreesClassifier(RuleClassifier, _InTrees):
    __doc__ = f"""An ordered list of the best rules of a classification ensemble.
{METHOD}{PARAMETERS.replace("{smoothing}", "0.0")}{ATTRIBUTES}
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees.methods.intrees import InTreesClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=0)
    >>> simple = InTreesClassifier(forest, max_rules=4, random_state=0).fit(X, y)
    >>> simple.rules_.n_rules, simple.score(X, y) > 0.9
    (4, True)
    """


@dataclass(repr=False, eq=False)
class InTreesRegressor(RuleRegressor, _InTrees):
    __doc__ = f"""An ordered list of the best rules of a regression ensemble.
{METHOD}
    By default a rule errs by the squared deviations of its rows from their mean, which
    is its answer. The original parts the numbers into levels, which it takes as
    classes: `levels=3, smoothing=0`.
{PARAMETERS.replace("{smoothing}", "0.02")}\
    levels : int or None, default=None
        Number of levels of about equal weight that stand for classes, each answered by
        a percentile in its middle (17, 50 and 83 for three). None uses the numbers as
        they are.
{ATTRIBUTES}
    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from defragtrees.methods.intrees import InTreesRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(50, min_samples_leaf=10, random_state=0)
    >>> simple = InTreesRegressor(forest, max_rules=5, random_state=0).fit(X, y)
    >>> simple.rules_.n_rules
    5
    """

    _: KW_ONLY
    smoothing: float = setting(0.02, Real(0))
    levels: int | None = setting(None, None, Integer(2))

    def _ways(self, problem):
        if self.levels is None:
            return super()._ways(problem)
        n_levels = int(self.levels)
        numbers, weight = problem.target, problem.sample_weight
        levels, _ = discretise(numbers, weight, n_levels)
        answers = level_answers(numbers, weight, n_levels)
        target = ClassTarget(levels, n_levels, weight)

        def level_rule(problem, conditions, taken, level):
            if level is None:
                sums = target.columns[taken].sum(axis=0, keepdims=True)
                level = target.answers(sums)[0]
            return answering_rule(problem, conditions, taken, answers[level])

        return target, level_rule


def _rule_set(problem, measured, listed, make_rule):
    """The listed rules; conditions on one feature become one."""
    rules = [
        make_rule(
            problem,
            measured.rules.sides.conditions(
                problem.grid, measured.rules.sides_of(number)
            ),
            listed.place == place,
            measured.answer[number],
        )
        for place, number in enumerate(listed.rules)
    ]
    rest = listed.place == len(listed.rules)
    return problem.rule_set([*rules, make_rule(problem, (), rest, None)])


def _class_rule(problem, conditions, taken, answer):
    """A rule that says the class it was measured by, or the commonest one if None."""
    rule = answering_rule(problem, conditions, taken)
    if answer is None or problem.classes[answer] == rule.prediction:
        return rule
    return dataclasses.replace(
        rule,
        prediction=problem.classes[answer],
        error=1 - rule.distribution[answer],
    )


def _mean_rule(problem, conditions, taken, answer):
    """A rule that says the mean of the rows that it takes in the list."""
    return answering_rule(problem, conditions, taken)
