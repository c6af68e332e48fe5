"""The functions `simplify` and `load`."""

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from defragtrees._utils.files import read_json
from defragtrees._utils.formatting import nearest
from defragtrees._utils.types import Column, Rows
from defragtrees.data.sources import with_exposure
from defragtrees.ensembles.predictions import (
    Unreadable,
    fitted_forest,
    model_task,
    one_output,
    with_recorded,
)
from defragtrees.ensembles.readers import read_forest
from defragtrees.errors import SettingError
from defragtrees.estimators import estimator_for
from defragtrees.estimators.defrag import (
    DefragClassifier,
    DefragCounter,
    DefragRegressor,
    DefragSurvival,
)
from defragtrees.outcomes import make_outcome
from defragtrees.outcomes.base import n_columns, outcome_for
from defragtrees.rules.model import RuleModel
from defragtrees.tables import as_dense

if TYPE_CHECKING:
    from defragtrees.paper import FABRulesClassifier, FABRulesRegressor

__all__ = ["check_names", "load", "simplify"]

# Parameters that are no settings of a fit.
ROWS = "X", "y", "sample_weight", "validation", "output", "method"

KINDS = DefragClassifier, DefragRegressor, DefragCounter, DefragSurvival

Function = TypeVar("Function", bound=Callable[..., Any])


def with_guesses(function: Function) -> Function:
    """Make a function suggest the nearest name when it gets an unknown setting."""
    known = inspect.signature(function).parameters

    @functools.wraps(function)
    def call(*arguments: Any, **settings: Any) -> Any:
        if settings.keys() - known.keys():
            check_names(settings, known, function.__name__)
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
            for kind in KINDS:
                if name in {one.name for one in fields(kind)}:
                    guess = f"it is a setting of {kind.__name__}. Use that class."
                    break
            raise TypeError(f"{function}() has no setting {name!r}; {guess}")


@with_guesses
def simplify(
    model: Any,
    X: Rows,
    y: Column | None = None,
    sample_weight: Column | None = None,
    *,
    exposure: Column | None = None,
    validation: tuple[Any, ...] | None = None,
    output: int | None = None,
    method: Literal["defrag", "paper"] = "defrag",
    target: Literal["auto", "model", "labels"] | None = None,
    max_calls: int | None = None,
    form: Literal["list", "standalone", "points"] = "list",
    max_rules: str | int = "auto",
    max_conditions: int | None = None,
    max_categories: int | None = 6,
    min_rows: float = 0.01,
    brevity: float = 0.01,
    points: Literal["exact", "integer"] = "exact",
    features: Sequence[str | int] | str | int | None = None,
    exclude: Sequence[str | int] | str | int | None = None,
    must_use: Sequence[str | int] | str | int | None = None,
    prefer: Sequence[str | int] | str | int | None = None,
    monotone: Mapping[str | int, Literal[-1, 1]] | Literal["auto"] | None = None,
    groups: Mapping[str, Sequence[Any]] | Sequence[Sequence[Any]] | None = None,
    class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
    costs: Any = None,
    threshold: float | None = None,
    pos_label: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> (
    "DefragClassifier | DefragRegressor | DefragCounter | DefragSurvival | "
    "FABRulesClassifier | FABRulesRegressor"
):
    """Turn a trained model into a short list of rules.

    The estimator depends on what the model predicts (classification or regression)
    and on `exposure`. It is returned fitted; its `rules_` are the rules. The estimators
    have further settings.

    Parameters
    ----------
    What to imitate

    model : fitted model, pipeline, path, Forest, function, array or str
        The model to simplify: a tree ensemble, a pipeline or estimator around one, or
        the file that it was saved to. Any other model, or a function that predicts, is
        queried as a black box. Or the predictions for the rows of X: an array of
        classes, numbers or probabilities, or the name of a column of X.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows like those that the model was trained on. Also the path of a file,
        an iterator of tables, or a Dask array or data frame.
    y : array-like of shape (n_samples,), optional
        True values, to report errors and rates. Required for `target="labels"`.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row; 1 by default.
    exposure : array-like of shape (n_samples,) or str, optional
        If y counts events: the exposure in which they happened, such as years insured,
        or the column of X that has it. Rules then predict rates per unit of exposure.
        Elsewhere y has two columns, events and exposure.
    validation : tuple (X, y) or (X, y, sample_weight), optional
        Rows that the model was not trained on. They count in full for rates, intervals
        and the number of rules; the rows of X count as 0.4 each in either case.
    output : int, optional
        Which output to imitate, from 0, if the model predicts several. y may have one
        column, or one for each output.
    method : {"defrag", "paper"}, default="defrag"
        "defrag" searches for short rules. "paper" is the published algorithm of Hara
        and Hayashi; see `FABRulesClassifier`.
    target : {"auto", "model", "labels"}, optional
        Imitate the model, corrected by y where y shows that it errs ("auto", the
        default); imitate it alone ("model"); or fit y ("labels", the default of
        `method="paper"`, which has no "auto").
    max_calls : int, optional
        Maximum number of rows for which a black box is queried; no limit by default.

    How short

    form : {"list", "standalone", "points"}, default="list"
        An ordered list in which the first match predicts, rules that can be read one
        at a time, or a scorecard whose points add up.
    max_rules : "auto" or int, default="auto"
        Maximum number of rules, including the default rule. "auto" takes the shortest
        list, of at most ten rules, whose loss is within 1% of the variance of y of
        the best.
    max_conditions : int, optional
        Maximum number of conditions per rule; no limit by default (4 for points).
    max_categories : int or None, default=6
        Maximum number of categories that one condition names; None is no limit.
    min_rows : float, default=0.01
        Minimum number of rows that each rule matches or, below 1, share of the rows.
    brevity : float, default=0.01
        Penalty per condition, in nats per row; conditions that gain less are dropped.
    points : {"exact", "integer"}, default="exact"
        "integer" rounds the points of a scorecard to integers.

    Which columns

    features, exclude, must_use : sequence of str or int, optional
        Features that rules may use, may not use, and must use at least once, by name
        or index. By default rules may use all.
    prefer : sequence of str or int, optional
        Features to use where several have nearly the same information, the best first.
    monotone : dict from str or int to {-1, 1}, or "auto", optional
        Features with which predictions may only rise (1) or only fall (-1). "auto", for
        points, follows the trend of each.
    groups : dict from str to features, or sequence of features, optional
        Features that may occur together in one rule.

    Classes and costs

    class_weight : "balanced" or dict from class to float, optional
        Cost of an error in each class; 1 by default.
    costs : dict from (true class, predicted class) to float, or array, optional
        Cost of each kind of error; 1 by default.
    threshold : float, optional
        Probability from which the second of two classes, or `pos_label`, is predicted.
        The default is the threshold of the model, if it has one, else 0.5.
    pos_label : object, optional
        The class, of two, whose rate is reported, such as "bad"; the second by default.

    Computation

    random_state : int, RandomState, Generator or None, default=None
        Seed; the same seed gives the same rules.
    n_jobs : int or None, default=None
        Number of threads; None is one, -1 all processors.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    DefragClassifier, DefragRegressor or DefragCounter
        With `method="paper"` a FABRulesClassifier or FABRulesRegressor.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RandomForestClassifier(random_state=0).fit(X, y)
    >>> simplify(model, X, max_rules=3, random_state=0).rules_.n_rules
    3
    """
    if output is not None:
        model, y, validation = _of_output(output, model, y, validation)
    model, X = with_recorded(model, X, y)
    given = {name: value for name, value in locals().items() if name not in ROWS}
    if method not in ("defrag", "paper"):
        raise SettingError(
            f"method must be one of ('defrag', 'paper'); got {method!r}. The other "
            "methods are estimators of their own, in defragtrees.baselines."
        )
    forest = fitted_forest(model, X)
    if forest is None:
        read_forest(model)  # raises NotFittedError
    is_queried = isinstance(forest, Unreadable)
    task = model_task(model, as_dense(X), y) if is_queried else forest.task
    outcome = make_outcome(task) if is_queried else forest.outcome
    if exposure is not None and not isinstance(exposure, str):
        X, y = with_exposure(X, y, exposure)
        del given["exposure"]
        if validation is not None and n_columns(validation[1:2][0]) == 1:
            raise ValueError(
                "With exposure, validation needs a y of two columns, events and "
                "exposure."
            )
    elif exposure is not None and y is None:
        raise ValueError("exposure needs y, the number of events of each row.")
    told = ("", exposure) if isinstance(exposure, str) else y
    outcome = outcome_for(outcome, told, model, forest)
    if exposure is not None:
        outcome.check_exposure()
    if target is None:
        del given["target"]
    kind = estimator_for(method, outcome)
    known = {one.name for one in fields(kind)}
    parameters = inspect.signature(simplify).parameters
    for name in sorted(given.keys() - known):
        value, default = given.pop(name), parameters[name].default
        if type(value) is not type(default) or value != default:
            raise TypeError(
                f"{name} is not a setting of {kind.__name__}. Leave it out."
            )
    estimator: Any = kind(**given)
    estimator._fit(forest, X, y, sample_weight, validation=validation)
    fitted: DefragClassifier | DefragRegressor | DefragCounter | DefragSurvival
    fitted = estimator
    return fitted


def _of_output(output: int, model: Any, y: Any, validation: Any) -> Any:
    """The model and the columns of y of one of several outputs."""
    model, y = one_output(model, output), _column_of(y, output)
    if validation is not None:
        new_X, new_y, *weight = validation
        validation = new_X, _column_of(new_y, output), *weight
    return model, y, validation


def _column_of(y: Any, output: int) -> Any:
    """The column of y of an output, if it has several."""
    if len(getattr(y, "shape", ())) < 2:
        return y
    return y.iloc[:, output] if hasattr(y, "iloc") else y[:, output]


def load(path: str | os.PathLike[str]) -> RuleModel:
    """Load rules, or segments, from a file. No code in the file is run.

    Parameters
    ----------
    path : path
        A file written by `save` of a rule model, of an estimator or of segments.

    Returns
    -------
    RuleList, RuleSet, Scorecard or RuleEnsemble
        Or Segments or SegmentGroups, if the file contains segments.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rules.save(f"{folder}/rules.json")
    ...     load(f"{folder}/rules.json")
    <RuleList: 3 rules, 2 features, 1.5 conditions per rule>
    """
    from defragtrees.segments.found import read_segments

    data = read_json(path)
    segments: Any = read_segments(data)
    return RuleModel.from_dict(data) if segments is None else segments
