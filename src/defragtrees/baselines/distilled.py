"""Distilled tree: a small scikit-learn tree trained on the model's predictions."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from defragtrees.baselines._trees import (
    cross_validate,
    leaf_rules,
    make_columns,
    make_tree,
    read_tree,
)
from defragtrees.estimators.base import RuleClassifier, RuleRegressor, Simplifier
from defragtrees.estimators.settings import Each, Integer, Real, as_list, setting

__all__ = ["DistilledTreeClassifier", "DistilledTreeRegressor"]

N_FOLDS = 5
SLACK = 1e-9  # tolerance of the minimum weight, for rounding errors


@dataclass(repr=False, eq=False)
class _DistilledTree(Simplifier):
    _: KW_ONLY
    max_rules: int | None = setting(8, None, Integer(1))
    max_depth: int | None = setting(None, None, Integer(1, 10**6))
    min_samples_leaf: Any = setting(1, Each(Real(above=0)))

    def _simplify(self, problem, rng):
        sizes = sorted(set(as_list(self.min_samples_leaf)), reverse=True)
        columns = make_columns(problem)
        seed = int(rng.integers(2**31))

        def trees_of_fold(rows, fold):
            return [self._grow(problem, columns, rows, size, seed) for size in sizes]

        errors = None
        if len(sizes) > 1:
            errors = cross_validate(problem, trees_of_fold, N_FOLDS, rng, self.n_jobs)
        self.min_samples_leaf_ = sizes[0 if errors is None else int(errors.argmin())]
        rows = np.arange(len(problem.X))
        tree = self._grow(problem, columns, rows, self.min_samples_leaf_, seed)
        return leaf_rules(problem, tree, shorten=self.shorten_thresholds)

    def _grow(self, problem, columns, rows, least, seed):
        """Grow a tree on some rows with this minimum weight of a leaf."""
        weight = problem.sample_weight[rows]
        share = least * (1 - SLACK) / weight.sum()
        if self.max_rules == 1 or share > 0.5:
            return make_tree((None,), (-1,), (-1,))
        kind, target = DecisionTreeRegressor, problem.target
        if problem.n_classes and self.target == "labels":
            kind = DecisionTreeClassifier
        elif problem.n_classes:
            # If the model predicts one class for nearly all rows, only probabilities
            # distinguish rows.
            target = problem.probabilities
        grown = kind(
            max_depth=self.max_depth,
            max_leaf_nodes=self.max_rules and min(self.max_rules, len(problem.X) + 1),
            # By weight, so that a row of weight two counts as two rows.
            min_weight_fraction_leaf=share,
            random_state=seed,
        )
        grown.fit(columns.cells[rows], target[rows], sample_weight=weight)
        return read_tree(grown.tree_, columns, problem, rows)


@dataclass(repr=False, eq=False)
class DistilledTreeClassifier(RuleClassifier, _DistilledTree):
    """A small tree trained on the predictions of a classification model.

    The simplest method: train a small tree on the predictions of the model, in
    classification on its probabilities. The leaves are the rules: exactly one matches
    each row, and in classification it reports the rates of y in its rows.

    Parameters
    ----------
    model : fitted or unfitted model, path, Forest or None, default=None
        The model to simplify. A fitted model, or the file it was saved to, is used
        as it is; an unfitted one is cloned and fitted on X and y; None fits a random
        forest (gradient boosting if X has categories). Any other model, or a function
        that predicts, is queried as a black box. `clone`, which grid search calls, also
        resets a fitted model: wrap it in `sklearn.frozen.FrozenEstimator` to keep
        the fit.
    max_rules : int or None, default=8
        Maximum number of leaves; None is no limit. With a limit the tree is grown best
        first.
    max_depth : int or None, default=None
        Maximum depth of the tree; None is no limit.
    min_samples_leaf : float or sequence of float, default=1
        Minimum weight of the training rows in a leaf. If several are given, the one
        with the smallest error in 5-fold cross-validation is chosen; ties go to the
        largest.
    target : {"model", "labels"}, default="model"
        Train on the predictions of the model, or on y.
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
        Seed for ties between features and for the cross-validation folds.
    n_jobs : int or None, default=None
        Number of threads for cross-validation, and for a model that is fitted here.
    verbose : int, default=0
        1 shows a progress bar, for a black box.

    Attributes
    ----------
    rules_ : RuleModel
        The leaves; the one with the most conditions is the default rule.
    min_samples_leaf_ : float
        The minimum weight of a leaf, as given or as chosen by cross-validation.
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
    "DTree2" in Hara and Hayashi's comparison [1]_, which does not use the model, is
    ``max_depth=2, max_rules=None, min_samples_leaf=(5, 10, 20, 30), target="labels"``.

    A split on a categorical feature separates one category from the others.

    References
    ----------
    .. [1] Hara, S. and Hayashi, K. (2018). Making Tree Ensembles Interpretable: A
       Bayesian Model Selection Approach. AISTATS.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees.baselines import DistilledTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(20, random_state=0)
    >>> tree = DistilledTreeClassifier(forest, max_rules=3, random_state=0).fit(X, y)
    >>> tree.rules_.n_rules
    3
    """

    def _count_rows(self, store, is_sample):
        if self.target == "labels":
            return super()._count_rows(store, is_sample)
        # Rates of the model's classes would nearly always be 0 or 1.
        decision = self.rules_.outcome.decision()
        [self.rules_] = store.recount([self.rules_], "recount", decision)


class DistilledTreeRegressor(RuleRegressor, _DistilledTree):
    """A small tree trained on the predictions of a regression model.

    The simplest method: train a small tree on the predictions of the model, in
    classification on its probabilities. The leaves are the rules: exactly one matches
    each row, and in classification it reports the rates of y in its rows.

    Parameters
    ----------
    model : fitted or unfitted model, path, Forest or None, default=None
        The model to simplify. A fitted model, or the file it was saved to, is used
        as it is; an unfitted one is cloned and fitted on X and y; None fits a random
        forest (gradient boosting if X has categories). Any other model, or a function
        that predicts, is queried as a black box. `clone`, which grid search calls, also
        resets a fitted model: wrap it in `sklearn.frozen.FrozenEstimator` to keep
        the fit.
    max_rules : int or None, default=8
        Maximum number of leaves; None is no limit. With a limit the tree is grown best
        first.
    max_depth : int or None, default=None
        Maximum depth of the tree; None is no limit.
    min_samples_leaf : float or sequence of float, default=1
        Minimum weight of the training rows in a leaf. If several are given, the one
        with the smallest error in 5-fold cross-validation is chosen; ties go to the
        largest.
    target : {"model", "labels"}, default="model"
        Train on the predictions of the model, or on y.
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
        Seed for ties between features and for the cross-validation folds.
    n_jobs : int or None, default=None
        Number of threads for cross-validation, and for a model that is fitted here.
    verbose : int, default=0
        1 shows a progress bar, for a black box.

    Attributes
    ----------
    rules_ : RuleModel
        The leaves; the one with the most conditions is the default rule.
    min_samples_leaf_ : float
        The minimum weight of a leaf, as given or as chosen by cross-validation.
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
    "DTree2" in Hara and Hayashi's comparison [1]_, which does not use the model, is
    ``max_depth=2, max_rules=None, min_samples_leaf=(5, 10, 20, 30), target="labels"``.

    A split on a categorical feature separates one category from the others.

    References
    ----------
    .. [1] Hara, S. and Hayashi, K. (2018). Making Tree Ensembles Interpretable: A
       Bayesian Model Selection Approach. AISTATS.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from defragtrees.baselines import DistilledTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(20, min_samples_leaf=5, random_state=0)
    >>> tree = DistilledTreeRegressor(forest, max_rules=5, random_state=0).fit(X, y)
    >>> tree.rules_.n_rules
    5
    """
