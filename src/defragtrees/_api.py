"""The functions `simplify` and `load`."""

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Literal, TypeVar

from defragtrees._utils.formatting import nearest
from defragtrees._utils.types import Column, Rows
from defragtrees.ensembles.black_box import model_task
from defragtrees.ensembles.readers import read_forest
from defragtrees.errors import SettingError
from defragtrees.estimators import estimator_for
from defragtrees.estimators.defrag import DefragClassifier, DefragRegressor
from defragtrees.estimators.inputs import Unreadable, fitted_forest
from defragtrees.outcomes import make_outcome
from defragtrees.paper.estimator import FABRulesClassifier, FABRulesRegressor
from defragtrees.rules.model import RuleModel
from defragtrees.tables import as_dense

__all__ = ["check_names", "load", "simplify"]

Function = TypeVar("Function", bound=Callable[..., Any])


def with_guesses(function: Function) -> Function:
    """Make a function suggest the nearest name when it gets an unknown setting."""

    @functools.wraps(function)
    def call(*arguments: Any, **settings: Any) -> Any:
        check_names(settings, inspect.signature(function).parameters, function.__name__)
        return function(*arguments, **settings)

    return call  # type: ignore[return-value]


def check_names(given: Iterable[str], names: Iterable[str], function: str) -> None:
    """Raise for unknown settings, and suggest the nearest name.

    Examples
    --------
    >>> check_names(["max_rule"], ["max_rules", "features"], "simplify")
    Traceback (most recent call last):
    TypeError: simplify() has no setting 'max_rule'; did you mean 'max_rules'?
    """
    names = list(names)
    for name in given:
        if name not in names:
            guess = nearest(name, names)
            raise TypeError(f"{function}() has no setting {name!r}; {guess}")


@with_guesses
def simplify(
    ensemble: Any,
    X: Rows,
    y: Column | None = None,
    sample_weight: Column | None = None,
    *,
    validation: tuple[Any, ...] | None = None,
    method: Literal["defrag", "paper"] = "defrag",
    target: Literal["ensemble", "labels"] | None = None,
    augment: Literal["auto"] | int = "auto",
    max_calls: int | None = None,
    form: Literal["list", "standalone", "points"] = "list",
    max_rules: str | int = "auto",
    max_conditions: int | None = None,
    max_total_conditions: int | None = None,
    max_categories: int | None = 6,
    min_coverage: float | None = None,
    min_rows: float | None = None,
    brevity: float = 0.01,
    points: Literal["exact", "integer"] = "exact",
    points_follow_rates: bool = False,
    points_to_double: float | None = None,
    features: Sequence[str | int] | str | int | None = None,
    exclude: Sequence[str | int] | str | int | None = None,
    must_use: Sequence[str | int] | str | int | None = None,
    prefer: Sequence[str | int] | str | int | None = None,
    monotone: Mapping[str | int, Literal[-1, 1]] | None = None,
    groups: Mapping[str, Sequence[Any]] | Sequence[Sequence[Any]] | None = None,
    shorten_thresholds: bool = True,
    feature_labels: Mapping[str, str] | Sequence[str] | None = None,
    criterion: Literal["both", "probability", "error"] = "both",
    class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
    costs: Any = None,
    threshold: float | None = None,
    pos_label: Any = None,
    class_labels: Mapping[Any, str] | Sequence[str] | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    stability: int = 0,
    n_restarts: int = 20,
    inference: Literal["fab", "em"] = "fab",
    statement_weight: Literal["paper"] | float = "paper",
    init: Literal["random", "seeded"] = "random",
    e_step: Literal["original", "converged", "gentle"] = "original",
    max_iter: int = 200,
    tol: float = 1e-5,
    screening: Literal["auto"] | bool = "auto",
    callback: Callable[..., Any] | None = None,
) -> DefragClassifier | DefragRegressor | FABRulesClassifier | FABRulesRegressor:
    """Turn a trained model into a short list of rules.

    The estimator is chosen by what the model predicts, classes or numbers. It is
    returned fitted; its `rules_` are the rules.

    Parameters
    ----------
    What to imitate

    ensemble : fitted ensemble, pipeline, path or Forest
        The model to simplify: a tree ensemble, a pipeline or estimator around one, or
        the file that it was saved to. Any other model, or a function that predicts, is
        queried as a black box.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows like those that the model was trained on. Also the path of a Parquet file,
        an iterator of tables, or a Dask array or data frame.
    y : array-like of shape (n_samples,), optional
        True values, to report errors and rates. Required for `target="labels"`.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row; 1 by default.
    validation : tuple (X, y) or (X, y, sample_weight), optional
        Rows that the model was not trained on. They count in full for rates, intervals
        and the number of rules; the rows of X count as 0.4 each, as without them.
    method : {"defrag", "paper"}, default="defrag"
        "defrag" searches for short rules. "paper" is the published algorithm of Hara
        and Hayashi; see `FABRulesClassifier`.
    target : {"ensemble", "labels"}, optional
        Imitate the model ("ensemble") or fit y ("labels"). The default is "ensemble",
        and "labels" for `method="paper"`.
    augment : "auto" or int, default="auto"
        Number of synthetic rows, drawn near the data and labelled by the model, on
        which rules are searched for. 0 searches the rows of X.
    max_calls : int, optional
        Maximum number of rows for which a black box is queried; no limit by default.

    How short

    form : {"list", "standalone", "points"}, default="list"
        An ordered list in which the first match predicts, rules that can be read one
        at a time, or a scorecard whose points add up.
    max_rules : "auto" or int, default="auto"
        Maximum number of rules, including the default rule. "auto" takes the shortest
        list, of at most ten rules, that is within one standard error of the best.
    max_conditions : int, optional
        Maximum number of conditions per rule; no limit by default (4 for points).
    max_total_conditions : int, optional
        Maximum number of conditions in all rules together; no limit by default.
    max_categories : int or None, default=6
        Maximum number of categories that one condition names; None is no limit.
    min_coverage : float, optional
        Minimum share of the rows that each rule matches; 0.01 by default.
    min_rows : int, optional
        The same minimum as a number of rows, in place of `min_coverage`.
    brevity : float, default=0.01
        Penalty per condition, in nats per row; conditions that gain less are dropped.
    points : {"exact", "integer"}, default="exact"
        "integer" rounds the points of a scorecard to integers.
    points_follow_rates : bool, default=False
        Leave out rules of a scorecard whose points contradict their own rate.
    points_to_double : float, optional
        Number of points that double the odds, for two classes and integer points. By
        default points are as small as accuracy allows.

    Which columns

    features, exclude, must_use : sequence of str or int, optional
        Features that rules may use, may not use, and must use at least once, by name
        or index. By default rules may use all.
    prefer : sequence of str or int, optional
        Features to use where several have nearly the same information, the best first.
    monotone : dict from str or int to {-1, 1}, optional
        Features with which predictions may only rise (1) or only fall (-1).
    groups : dict from str to features, or sequence of features, optional
        Features that may occur together in one rule.
    shorten_thresholds : bool, default=True
        Round thresholds where this moves no training row to the other side.
    feature_labels : dict or sequence of str, optional
        Names of features in printed output, such as "Duration [months]".

    Classes and costs

    criterion : {"both", "probability", "error"}, default="both"
        Optimise the probabilities, the predicted class, or both.
    class_weight : "balanced" or dict from class to float, optional
        Cost of an error in each class; 1 by default.
    costs : dict from (true class, predicted class) to float, or array, optional
        Cost of each kind of error; 1 by default.
    threshold : float, optional
        Probability from which the second of two classes, or `pos_label`, is predicted.
        The default is the threshold of the model, if it has one, else 0.5.
    pos_label : object, optional
        The class, of two, whose rate is reported, such as "bad"; the second by default.
    class_labels : dict or sequence of str, optional
        Names of classes in printed output.

    Computation

    random_state : int, RandomState, Generator or None, default=None
        Seed; the same seed gives the same rules.
    n_jobs : int or None, default=None
        Number of threads; None is one, -1 all processors.
    verbose : int, default=0
        1 shows a progress bar.
    stability : int, default=0
        Number of times to repeat the fit on half of the rows, to report which rules
        come back.
    n_restarts, inference, statement_weight, init, e_step, max_iter, tol, screening, \
callback : optional
        Settings of `method="paper"` only; see `FABRulesClassifier`.

    Returns
    -------
    DefragClassifier or DefragRegressor
        With `method="paper"` a FABRulesClassifier or FABRulesRegressor.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ensemble = RandomForestClassifier(random_state=0).fit(X, y)
    >>> simplify(ensemble, X, max_rules=3, random_state=0).rules_.n_rules
    3
    """
    given = dict(locals())
    if method not in ("defrag", "paper"):
        raise SettingError(
            f"method must be one of ('defrag', 'paper'); got {method!r}. The other "
            "methods are estimators of their own, such as InTreesClassifier."
        )
    forest = fitted_forest(ensemble, X)
    if forest is None:
        read_forest(ensemble)  # raises NotFittedError
    if isinstance(forest, Unreadable):
        outcome = make_outcome(model_task(ensemble, as_dense(X)))
    else:
        outcome = forest.outcome
    kind = estimator_for(method, outcome)
    if target is None:
        del given["target"]
    settings = _settings_for(kind, given, method, outcome)
    estimator: Any = kind(**settings)
    return estimator.fit_forest(forest, X, y, sample_weight, validation=validation)


def _settings_for(kind, given, method, outcome):
    """Select the settings of an estimator; raise if another one is not its default."""
    known = {one.name for one in fields(kind)}
    for_search = {one.name for one in fields(DefragClassifier)}
    for one in (*fields(DefragClassifier), *fields(FABRulesClassifier)):
        value = given.get(one.name, one.default)
        is_default = value is one.default or (
            isinstance(value, (str, float)) and value == one.default
        )
        if one.name in known or is_default:
            continue
        if method == "paper":
            why = "for method='defrag'; got method='paper'"
        elif one.name not in for_search:
            why = "for method='paper'; got method='defrag'"
        else:
            why = f"for classification; the model is for {outcome.task}"
        raise TypeError(f"{one.name} is {why}. Leave it out.")
    return {name: value for name, value in given.items() if name in known}


def load(path: str | os.PathLike[str]) -> RuleModel:
    """Load rules from a file. No code in the file is run.

    Parameters
    ----------
    path : path
        A file written by `save` of a rule model or of an estimator.

    Returns
    -------
    RuleList, RuleSet, Scorecard or RuleEnsemble

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rules.save(f"{folder}/rules.json")
    ...     load(f"{folder}/rules.json")
    <RuleList: 3 rules, 2 features, 1.5 conditions per rule>
    """
    return RuleModel.load(path)
