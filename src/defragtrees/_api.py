"""simplify, the one call that picks the right estimator, and load."""

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Literal, TypeVar

from defragtrees._utils.types import Column, Rows
from defragtrees.data.tables import as_dense, nearest
from defragtrees.ensembles.black_box import model_task
from defragtrees.ensembles.readers import read_forest
from defragtrees.errors import SettingError
from defragtrees.estimators import estimator_for
from defragtrees.estimators.defrag import DefragClassifier, DefragRegressor
from defragtrees.estimators.inputs import Unreadable, fitted_forest
from defragtrees.outcomes import make_outcome
from defragtrees.paper.estimator import FABRulesClassifier, FABRulesRegressor
from defragtrees.rules.model import RuleModel

__all__ = ["check_names", "load", "simplify"]

Function = TypeVar("Function", bound=Callable[..., Any])


def with_guesses(function: Function) -> Function:
    """A function that, called with a name that it does not have, guesses another."""

    @functools.wraps(function)
    def call(*arguments: Any, **settings: Any) -> Any:
        check_names(settings, inspect.signature(function).parameters, function.__name__)
        return function(*arguments, **settings)

    return call  # type: ignore[return-value]


def check_names(given: Iterable[str], names: Iterable[str], function: str) -> None:
    """Refuse settings of other names, with a guess at the one that was meant.

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
    min_coverage: float | None = None,
    min_rows: float | None = None,
    brevity: float = 0.01,
    points: Literal["exact", "integer"] = "exact",
    points_to_double: float | None = None,
    features: Sequence[str | int] | str | int | None = None,
    exclude: Sequence[str | int] | str | int | None = None,
    must_use: Sequence[str | int] | str | int | None = None,
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
    engine: str = "auto",
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
    """Fit the estimator that suits the ensemble, and return it.

    Parameters are in groups: what to imitate, to `max_calls`; how short rules are, from
    `form`; which columns they use, from `features`; classes and costs, from
    `criterion`; computation, from `engine`; and the paper's method, from
    `n_restarts`.

    Parameters
    ----------
    ensemble : fitted ensemble, pipeline or estimator around one, path or Forest
        Any other model that predicts, or a function, is asked for its answers.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows such as the ensemble was trained on; or the path of a Parquet file, an
        iterator of tables, or a Dask array or data frame.
    y : array-like of shape (n_samples,), optional
        Needed only to report errors and rates, or for `target="labels"`.
    sample_weight : array-like of shape (n_samples,), optional
    validation : tuple (X, y) or (X, y, sample_weight), optional
        Rows that the ensemble was not trained on: rates, intervals and all other
        evidence of the rules are counted on them, and they choose the number of rules.
    method : {"defrag", "paper"}, default="defrag"
        "paper" is the algorithm of Hara and Hayashi as published: see
        `FABRulesClassifier`.
    target : {"ensemble", "labels"}, optional
        What the rules imitate: the ensemble, which is the default, or y, which is that
        of `method="paper"`.
    augment : "auto" or int, default="auto"
        Number of new rows, drawn near those given and labelled by the ensemble, that
        the search looks at in place of them; 0 searches the rows given.
    max_calls : int, optional
        Most rows to ask a model about that cannot be read.
    form : {"list", "standalone", "points"}, default="list"
        In order, each true by itself, or with points that add up.
    max_rules : "auto" or int, default="auto"
        Maximum number of rules, the default rule or the base included; "auto" takes the
        fewest conditions that are as good as the best on the rows that count.
    max_conditions : int, optional
        Most conditions of one rule.
    max_total_conditions : int, optional
        Most conditions of all rules together.
    min_coverage : float or None, default=None
        Share of the training rows that each rule must answer.
    min_rows : int, optional
        The same as a number of rows.
    brevity : float, default=0.01
        What a condition must explain, in nats a row.
    points : {"exact", "integer"}, default="exact"
        "integer" makes a scorecard of whole points.
    points_to_double : float, optional
        Of two classes and whole points, how many points double the odds.
    features, exclude, must_use : sequence of str or int, optional
        Features that rules may use, may not use, and must ask about, by name or by
        number.
    monotone : dict from str or int to {-1, 1}, optional
        Features with which answers may only fall (-1) or only rise (1).
    groups : dict from str to features, or sequence of features, optional
        Features that may stand together in a rule.
    shorten_thresholds : bool, default=True
        Round thresholds where no training row changes its side.
    feature_labels : dict or sequence of str, optional
        What features are called where people read.
    criterion : {"both", "probability", "error"}, default="both"
        Whether rules for classes tell how likely each is, decide for one, or both.
    class_weight : "balanced" or dict from class to float, optional
        What a mistake in each class costs.
    costs : dict from (true class, answered class) to float, or array, optional
        What each mistake costs.
    threshold : float, optional
        Of two classes, the second, or `pos_label`, is answered from this probability
        on.
    pos_label : object, optional
        Of two classes, the one whose rate rules tell, such as "bad"; by default the
        second.
    class_labels : dict or sequence of str, optional
        What classes are called where people read.
    engine : {"auto", "numpy", "numba", "cuda"}, default="auto"
        What computes on rows.
    random_state : int, RandomState, Generator or None, default=None
        The same seed gives the same rules.
    n_jobs : int or None, default=None
        Threads.
    verbose : int, default=0
        1 shows a progress bar.
    stability : int, default=0
        How often to fit again, to half of the rows, to see which rules come back.
    n_restarts, inference, statement_weight, init, e_step, max_iter, tol, screening, \
callback
        Only with `method="paper"`; see `FABRulesClassifier`.

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
        read_forest(ensemble)  # which says that it is not fitted
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
    """The settings that an estimator has; others must be as by default."""
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
            why = "for ensembles that answer with a class; this one is for "
            why += outcome.task
        raise TypeError(f"{one.name} is {why}. Leave it out.")
    return {name: value for name, value in given.items() if name in known}


def load(path: str | os.PathLike[str]) -> RuleModel:
    """Read a rule file; nothing in it is executed.

    Parameters
    ----------
    path : path
        A file that `save` of rules or of an estimator wrote.

    Returns
    -------
    RuleList, RuleSet, Scorecard or RuleEnsemble
        In the form that they were saved in.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rules.save(f"{folder}/rules.json")
    ...     load(f"{folder}/rules.json")
    <RuleList: 3 rules, 2 features, 1.5 conditions per rule>
    """
    return RuleModel.load(path)
