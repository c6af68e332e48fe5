"""Open any model, and predict with it: classes or numbers, and probabilities.

A model is a fitted object, the path of a model file, a Forest, a function, an array of
predictions or probabilities, or the name of a column of X. It is read as a Forest, or
queried if it cannot be. Its predictions are given in the classes of rules, or of y.
"""

import contextlib
import dataclasses
import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import (
    BaseEstimator,
    clone,
    is_classifier,
    is_outlier_detector,
    is_regressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.metrics import confusion_matrix
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.utils.validation import check_is_fitted

from defragtrees._utils.progress import Progress
from defragtrees.ensembles.forest import Forest
from defragtrees.ensembles.readers import read_forest, read_on_table
from defragtrees.ensembles.rewriting import with_categories
from defragtrees.errors import SettingError, UnsupportedModelError
from defragtrees.rules.labels import BOOLEAN, ORDERED, checked_labels, make_vocabulary
from defragtrees.rules.model import RuleModel
from defragtrees.tables import (
    TableForm,
    as_dense,
    boolean_columns,
    column_kinds,
    column_names,
    declared_categories,
    find_positions,
    lightgbm_names,
    ordered_categories,
    select_columns,
    take_rows,
)

MADE_UP_NAMES = ("x{1}", "x{0}", "f{0}", "{0}", "Column_{0}")
PREDICTING = "predict", "predict_partial_hazard", "predict_expectation"
BATCH_ROWS = 10_000
PROBE_ROWS = 20  # queried to find out what a model predicts
NUMBERED_ROWS = 200  # where it predicts whole numbers
COMPARED_ROWS = 1_000  # to compare the most likely class with the prediction
MOST_NUMBERED_CLASSES = 20
MUCH_BETTER = 0.2  # of an order of classes: share of rows, and mean share per class


def fitted_forest(model: Any, X: Any = None) -> Any:
    """Read the forest of a model; None if there is none, or it is not fitted yet.

    For a fitted black box the result is an `Unreadable`.
    """
    if is_array(model):
        raise UnsupportedModelError(
            "Predictions of rows are no model. Pass them to simplify, with their table "
            "in memory, or as y with model=None and target='labels'."
        )
    try:
        return None if model is None else read_forest(model)
    except NotFittedError:
        return None
    except UnsupportedModelError as error:
        is_function = callable(asked_method(model)) or callable(model)
        if isinstance(model, type) or not is_function:
            raise
        if not _is_fitted(model):
            return None
        if X is not None and hasattr(X, "shape"):
            with contextlib.suppress(UnsupportedModelError):
                return read_on_table(model, X) or Unreadable(str(error))
        return Unreadable(str(error))


def is_array(model):
    """Whether predictions are passed in place of a model."""
    return hasattr(model, "__array__") or isinstance(model, list | tuple)


@dataclasses.dataclass(frozen=True)
class Unreadable:
    """A black box, with the reason why it cannot be read."""

    reason: str

    feature_names = ()


def asked_method(model):
    """The method that predicts; that of lifelines has another name."""
    found = (getattr(model, name, None) for name in PREDICTING)
    return next((method for method in found if method is not None), None)


def _is_fitted(model):
    if callable(getattr(model, "is_fitted", None)):  # CatBoost
        return model.is_fitted()
    if not isinstance(model, BaseEstimator):
        return True
    try:
        check_is_fitted(model)
    except NotFittedError:
        # Some, such as NGBoost, keep what they fitted under names of their own.
        with contextlib.suppress(RuntimeError, TypeError):
            new = vars(clone(model))
            return any(
                type(value) is not type(new.get(name))
                or (isinstance(value, list) and len(value) != len(new[name]))
                for name, value in vars(model).items()
            )
        return False
    return True


def is_renamed(forest, names):
    """Whether the forest's names are generated, or these as LightGBM writes them."""
    # Generated names are those of a model that was trained on an array.
    generated = (
        tuple(form.format(j, j + 1) for j in range(forest.n_features))
        for form in MADE_UP_NAMES
    )
    return forest.feature_names in (lightgbm_names(names), *generated)


def described_forest(forest, X, feature_labels=None):
    """Add names, kinds and orders of categories of the columns of X to a forest.

    Names are taken if those of the forest are generated. A label such as
    "Opened [date]" also marks a column as a date.
    """
    names, changes = column_names(X), {}
    n_columns = None if names is None else len(names)
    if n_columns == forest.n_features:
        if names != forest.feature_names and is_renamed(forest, names):
            changes["feature_names"] = names
    names = changes.get("feature_names", forest.feature_names)
    kinds = column_kinds(X)
    if kinds is not None and len(kinds) != forest.n_features:
        kinds = None
    # Kinds that the reader of the forest found.
    known = forest.feature_kinds
    if known is not None:
        kinds = [k or kind for k, kind in zip(kinds or known, known, strict=True)]
    labels = checked_labels(feature_labels, names, "feature_labels")
    kinds = [scale.kind for scale in make_vocabulary(names, None, labels, kinds).scales]
    categories = list(forest.categories)
    for j, order in enumerate(ordered_categories(X) or ()):
        if j >= len(categories) or order is None or categories[j] is None:
            continue
        if set(categories[j]) <= set(order):
            categories[j], kinds[j] = order, ORDERED
    if tuple(categories) != forest.categories:
        forest = with_categories(forest, categories)
    changes |= _declared_labels(forest, X)
    booleans = [j for j, kind in enumerate(known or ()) if kind == BOOLEAN]
    if n_columns == forest.n_features:
        booleans += boolean_columns(X)
    for j in booleans:
        kinds[j] = BOOLEAN if categories[j] is None else kinds[j]
    kinds = tuple(kinds) if any(kinds) else None
    if kinds != forest.feature_kinds:
        changes["feature_kinds"] = kinds
    return dataclasses.replace(forest, **changes) if changes else forest


def _declared_labels(forest, X):
    """Categories as the types of X list them; a library may have read True as 1.0."""
    categories = list(forest.categories)
    for j, levels in enumerate(declared_categories(X) or ()):
        typed = {level: level for level in levels or ()}
        if j < len(categories) and categories[j] and set(categories[j]) <= set(typed):
            categories[j] = tuple(typed[label] for label in categories[j])
    is_same = repr(categories) == repr(list(forest.categories))
    return {} if is_same else {"categories": tuple(categories)}


class ClassMatch(NamedTuple):
    """Which class of a model is which class of rules, or of y."""

    model_labels: tuple[Any, ...]
    labels: tuple[Any, ...]  # of the rules, one for each of the model's
    is_by_position: bool = False  # the model numbers its classes, and nobody named them


class Predicted(NamedTuple):
    """Predictions for some rows."""

    labels: np.ndarray  # classes, or numbers
    probabilities: np.ndarray | None = None  # a column for each class
    classes: tuple[Any, ...] | None = None  # None for numbers
    match: ClassMatch | None = None


@dataclass(frozen=True, eq=False)
class Predictor:
    """Predict rows with a model, in known classes if there are any; can be pickled.

    `known` are the classes of rules or of y, `named` the same in the order of the
    model's classes where the user names them. `is_class` is whether classes are
    predicted; None if the values decide.
    """

    model: Any  # a Forest, a Query, an array, or the name of a column
    known: tuple[Any, ...] | None = None
    is_class: bool | None = None
    named: tuple[Any, ...] | None = None
    keeps_order: bool = False  # whether probabilities have the order of the model
    outcome: Any = None  # of rules on whose scale numbers are given

    @property
    def is_given(self):
        """Whether the predictions are those of all rows, in their order."""
        return isinstance(self.model, np.ndarray)

    def __call__(self, X, matrix=None, y=None, weight=None):
        """The Predicted of a table, whose y helps to bring numbers on a scale.

        Its rows as a matrix are not needed.
        """
        found = self._predicted(X)
        if self.outcome is None:
            return found
        scale = self.outcome.scale_of(found.labels, y, weight)
        return found._replace(labels=scale(found.labels))

    def _predicted(self, X):
        model, shares, theirs, name = self.model, None, None, "The model"
        if isinstance(model, Forest):
            raw = model.predict_raw(X)
            codes, theirs = model.target_from_raw(raw), model.classes
            if theirs is None:
                return self._from_values(codes, name)
            return self._matched(
                codes, model.outcome.probabilities_of(model, raw), theirs, True
            )
        if isinstance(model, Query):
            values, shares = model.ask(X)
            theirs, name = model.classes, model.name
        else:
            values = np.asarray(X[model]) if isinstance(model, str) else model
            if values.ndim == 2:
                is_column = values.shape[1] == 1
                values, shares = (values[:, 0], None) if is_column else (None, values)
            if len(shares if values is None else values) != len(X):
                raise ValueError(
                    f"Predictions must be one for each of the {len(X)} rows; got "
                    f"{len(model)}."
                )
        if shares is None and theirs is None:
            return self._from_values(values, name)
        if shares is not None:
            theirs = theirs or self.known
            check_finite(shares, name)
            if theirs is None or len(theirs) != shares.shape[1]:
                raise ValueError(
                    f"{name} returns {shares.shape[1]} probabilities per row, which "
                    "need a y of as many classes. Pass y, or one number per row."
                )
        is_likeliest = values is None
        codes = shares.argmax(axis=1) if is_likeliest else places(values, theirs, name)
        return self._matched(codes, shares, theirs, True)

    def _from_values(self, values, name):
        """Numbers, probabilities of the second of two known classes, or classes."""
        is_class, is_two = self.is_class, len(self.known or ()) == 2
        may_be_share = is_class is not False and is_two and values.dtype.kind == "f"
        if may_be_share and ((values >= 0) & (values <= 1)).all():
            shares = np.column_stack([1 - values, values])
            return self._matched(shares.argmax(axis=1), shares, self.known, True)
        if is_class is None:
            is_few = is_two and len(np.unique(values)) <= 2
            is_class = values.dtype.kind not in ("f" if is_few else "biuf")
        if not is_class:
            return Predicted(as_numbers(values, name))
        theirs, codes = np.unique(values, return_inverse=True)
        return self._matched(codes, None, theirs.tolist(), False)

    def _matched(self, codes, shares, theirs, is_complete):
        """The predictions in the known classes, in their order."""
        if self.known is None:
            return Predicted(np.asarray(theirs)[codes], shares, tuple(theirs))
        match = match_classes(theirs, self.known, self.named, is_complete)
        labels = np.asarray(match.labels)[codes]
        if shares is None:
            return Predicted(labels, None, self.known, match)
        if self.keeps_order:
            return Predicted(labels, shares, match.labels, match)
        column = {label: shares[:, j] for j, label in enumerate(match.labels)}
        none = np.zeros(len(shares))
        shares = np.column_stack([column.get(label, none) for label in self.known])
        return Predicted(labels, shares, self.known, match)


def _opened(model, X, task=None):
    """The model as a Forest, a Query, an array, or the name of a column of X."""
    if isinstance(model, str) and model in (column_names(X) or ()):
        return model
    if isinstance(model, str | os.PathLike):
        _check_path(model)
    if is_array(model):
        return np.asarray(model)
    forest = fitted_forest(model, X)
    if forest is None:
        raise NotFittedError(
            f"model must be fitted; this {type(model).__name__} is not. Call fit first."
        )
    if isinstance(forest, Unreadable):
        return Query(model, declared_task(model) if task is None else task)
    return described_forest(forest, X)


def _check_path(model):
    if not os.path.exists(model):
        raise FileNotFoundError(
            f"{os.fspath(model)!r} is neither a column of X nor a model file or folder."
        )


def read_model(model, rules, X, classes=None):
    """The Predictor of a model in the classes of rules, to compare rules with it.

    `X` has the first rows; `classes` are those of the rules in the order of
    the model's, if they must be named.
    """
    known = rules.outcome.labels
    if classes is not None:
        if known is None:
            raise ValueError("classes is for rules that predict a class; these do not.")
        if isinstance(classes, str) or not isinstance(classes, Iterable):
            raise ValueError(
                f"classes must be a list of classes of the rules; got {classes!r}."
            )
        classes = tuple(classes)
    opened = _opened(model, X, rules.task)
    # Rules, and the forests of their estimators, have the scale of rules.
    is_scaled = isinstance(getattr(model, "rules_", model), RuleModel)
    is_scaled |= hasattr(getattr(model, "link", None), "scale")
    outcome = None if is_scaled else rules.outcome
    if isinstance(opened, Forest):
        opened = rules.outcome.model_of(opened)
    if isinstance(opened, Forest) and opened.task != rules.task:
        raise ValueError(
            f"model must be for {rules.task}, as the rules are; it is for "
            f"{opened.task}. Pass the model that the rules imitate."
        )
    return Predictor(opened, known, known is not None, classes, outcome=outcome)


def predict_rows(model, X, y=None, classes=None):
    """The Predicted of a model in the classes of y, or in these, if it has classes."""
    if isinstance(model, Predicted):
        return model
    opened = _opened(model, X)
    if y is not None and classes is None:
        classes = tuple(np.unique(y).tolist())
    return Predictor(opened, classes, keeps_order=True)(X)


def as_numbers(values, name):
    """Predicted numbers as float64; raises for others."""
    values = np.asarray(values)
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must predict numbers; it predicts {values[0]!r}. Use "
            "DefragClassifier for classes."
        ) from None
    check_finite(numbers, name)
    return numbers


def check_finite(numbers, name):
    """Raise for predictions that are NaN or infinite."""
    wrong = ~np.isfinite(numbers).reshape(len(numbers), -1).all(axis=1)
    if wrong.any():
        raise ValueError(
            f"{name} must predict finite numbers; it predicts NaN or infinity for "
            f"{wrong.sum()} of {len(numbers)} rows, the first of them row "
            f"{wrong.argmax() + 1}. Impute missing values, or drop these rows."
        )


def places(labels, classes, name):
    """The index of the class of each label; raises for an unknown one."""
    place = {label: j for j, label in enumerate(classes)}
    labels = labels.tolist()
    unknown = next((label for label in labels if label not in place), None)
    if unknown is not None:
        raise ValueError(
            f"{name} must predict one of {list(classes)[:5]!r}, as for the training "
            f"rows; it predicts {unknown!r}. Fit on rows with all its classes."
        )
    return np.array([place[label] for label in labels], dtype=np.intp)


def match_classes(theirs, known, given=None, is_complete=True):
    """Match the classes of a model, `theirs`, with the known ones of rules or of y.

    Labels that read the same are the same. A model that numbers its classes from 0 or
    1 numbers the known ones in their order, unless `given` has them in another. Where
    `theirs` is not complete, it has the labels that were predicted.

    Examples
    --------
    >>> match_classes(("0", "1"), (0, 1)).labels
    (0, 1)
    >>> match_classes((0, 1), ("paid", "unpaid")).labels
    ('paid', 'unpaid')
    >>> match_classes((0, 1), ("paid", "unpaid"), given=("unpaid", "paid")).labels
    ('unpaid', 'paid')
    """
    theirs, same = tuple(theirs), find_positions(theirs, known)
    if given is None and None not in same:
        return ClassMatch(theirs, tuple(known[j] for j in same))
    order = known
    if given is not None:
        found = find_positions(given, known)
        if None in found or len(set(found)) < len(found):
            raise ValueError(
                f"classes must name classes of the rules, {list(known)[:5]!r}, each "
                f"once; got {list(given)[:5]!r}."
            )
        order = tuple(known[j] for j in found)
    n_classes = len(order)
    for first in (0, 1):
        found = find_positions(theirs, range(first, first + n_classes))
        if None not in found and (len(theirs) == n_classes or not is_complete):
            return ClassMatch(theirs, tuple(order[j] for j in found), given is None)
    if given is not None and len(theirs) == n_classes:
        return ClassMatch(theirs, order)
    if given is not None:
        raise ValueError(
            f"classes must name a class of the rules for each of the model's, "
            f"{list(theirs)[:5]!r}; got {list(given)[:5]!r}."
        )
    if not set(known) <= set(theirs):
        raise ValueError(
            f"model must predict the classes of the rules or of y, such as "
            f"{list(known)[:5]!r}; it predicts {list(theirs)[:5]!r}. Pass the model "
            "that the rules imitate, or say which class is which: check takes classes "
            "(watch --classes), in the order of the model's."
        )
    # The model has more classes, which the rules never predict.
    return ClassMatch(theirs, theirs)


def better_order(labels, predicted, observed):
    """An order of a model's classes that agrees much better with what is observed.

    A dict from each label to the better one, and the shares of rows that agree now and
    then; None if there is no such order.
    """
    from scipy.optimize import linear_sum_assignment

    counts = confusion_matrix(observed, predicted, labels=list(labels))
    # By class, as a rare one is predicted wrong by a model that is right overall.
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    rows, columns = linear_sum_assignment(-shares)
    n_present = np.count_nonzero(counts.sum(axis=1))
    gain = (shares[rows, columns].sum() - np.trace(shares)) / max(1, n_present)
    now, then = (
        n / len(observed) for n in (np.trace(counts), counts[rows, columns].sum())
    )
    if min(gain, then - now) <= MUCH_BETTER:
        return None
    pairs = zip(columns.tolist(), rows.tolist(), strict=True)
    return {labels[j]: labels[i] for j, i in pairs}, now, then


def declared_task(model):
    """What an object says that it predicts; None if only its predictions can tell."""
    if isinstance(model, RuleModel):
        return model.task
    if isinstance(model, BaseEstimator):
        if is_classifier(model) or is_outlier_detector(model):
            return "classification"
        if is_regressor(model):
            return "regression"
    if getattr(model, "_estimator_type", None) == "regressor":  # CatBoost
        return "regression"
    # The list of classes of CatBoost's regressors is empty.
    if hasattr(model, "predict_proba") or len(getattr(model, "classes_", ())):
        return "classification"
    return None


def model_task(model: Any, X: Any, y: Any = None) -> str:
    """What a model predicts, "classification" or "regression"; may query a few rows.

    Whole numbers are classes if there are few, unless y has others.
    """
    task = declared_task(model)
    if task is not None:
        return task
    head = take_rows(X, np.arange(min(len(X), PROBE_ROWS)))
    values, shares = Query(model).ask(head)
    is_class = shares is not None or _are_classes(values, y)
    more = take_rows(X, np.arange(len(head), min(len(X), NUMBERED_ROWS)))
    if is_class and shares is None and values.dtype.kind in "iu" and len(more):
        is_class = _are_classes(np.append(values, Query(model).ask(more)[0]), y)
    return "classification" if is_class else "regression"


def _are_classes(values, y):
    """Whether predictions are classes: labels, or few whole numbers, as in y."""
    if values.dtype.kind not in "iu":
        return values.dtype.kind in "OUSb"
    y = np.empty(0) if y is None or isinstance(y, str) else np.asarray(y)
    is_whole = y.dtype.kind != "f" or bool((y == np.floor(y)).all())
    return is_whole and len(np.unique(values)) <= MOST_NUMBERED_CLASSES


def one_output(model: Any, output: Any) -> Any:
    """The model of one of several outputs: a part of its own, or one to query."""
    if isinstance(output, bool) or not isinstance(output, int) or output < 0:
        raise SettingError(f"output must be a whole number from 0; got {output!r}.")
    if not isinstance(model, MultiOutputClassifier | MultiOutputRegressor):
        return OneOutput(model, output)
    n_outputs = len(model.estimators_)
    if output >= n_outputs:
        raise SettingError(f"output must be below {n_outputs}; got {output}.")
    return model.estimators_[output]


class OneOutput:
    """One output of a model that predicts several."""

    def __init__(self, model: Any, output: int) -> None:
        self.model, self.output = model, output
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_
        if isinstance(getattr(model, "classes_", None), list):
            self.classes_ = model.classes_[output]
            self.predict_proba = self._shares

    def predict(self, X: Any) -> Any:
        """The column of this output."""
        values = np.asarray(getattr(self.model, "predict", self.model)(X))
        if values.ndim != 2 or self.output >= values.shape[1]:
            raise ValueError(
                f"output={self.output} needs a model with several outputs; it predicts "
                f"the shape {values.shape}"
            )
        return values[:, self.output]

    def _shares(self, X: Any) -> Any:
        return self.model.predict_proba(X)[self.output]


def with_recorded(model: Any, X: Any, y: Any) -> Any:
    """The model and X; predictions are made a model, and their column is dropped."""
    if isinstance(model, str) and model in (names := column_names(X) or ()):
        values = X[model]
        X = select_columns(X, [name for name in names if name != model])
    elif is_array(model) and is_array(rows := as_dense(X)):
        values, X = model, rows
    else:
        if isinstance(model, str | os.PathLike):
            _check_path(model)
        return model, X
    return Recorded(np.asarray(values), X, y), X


class Recorded:
    """Predictions of a model that is not at hand, for the rows of X only.

    Equal rows have the mean of their predictions, as rules cannot tell them apart.
    """

    __name__ = "The model"

    def __init__(self, values: Any, X: Any, y: Any) -> None:
        known = None if y is None else tuple(np.unique(y).tolist())
        is_class = (values.ndim == 1 and _are_classes(values, y)) or None
        found = Predictor(values, known, is_class, keeps_order=True)(X)
        outputs = found.labels
        if found.classes is not None:
            self.classes_ = np.asarray(found.classes)
            self.predict_proba = self._means
            outputs = found.probabilities
            if outputs is None:
                codes = places(found.labels, found.classes, self.__name__)
                outputs = np.eye(len(found.classes))[codes]
        self.form = TableForm(X)
        self.places: dict[bytes, int] = {}
        keys = self._keys(X)
        each = [self.places.setdefault(key, len(self.places)) for key in keys]
        sums = np.zeros((len(self.places), *outputs.shape[1:]))
        np.add.at(sums, each, outputs)
        self.means = (sums.T / np.bincount(each)).T

    def _keys(self, X: Any) -> list[bytes]:
        return [row.tobytes() for row in np.ascontiguousarray(self.form.matrix(X))]

    def _means(self, X: Any) -> Any:
        found = [self.places.get(key, -1) for key in self._keys(X)]
        if -1 in found:
            raise ValueError("predictions were passed for the rows of X only")
        return self.means[found]

    def predict(self, X: Any) -> Any:
        """The classes, or numbers."""
        means = self._means(X)
        is_number = means.ndim == 1
        return means if is_number else self.classes_[means.argmax(axis=1)]


class Query:
    """Query a model, count the rows up to a limit, and check its predictions.

    `classes` are None for numbers, and if only predictions can tell. `predict` and
    `predict_proba` are the functions that are called, if any.
    """

    def __init__(self, model, task=None, limit=None, verbose=0):
        self.model, self.limit, self.verbose = model, limit, verbose
        self.is_class = None if task is None else task == "classification"
        self.predict = asked_method(model)
        self.predict_proba = self.classes = None
        if task == "classification":
            self.classes = _classes(model)
            if getattr(model, "has_probabilities", True):
                self.predict_proba = getattr(model, "predict_proba", None)
        if self.predict is None and self.predict_proba is None:
            self.predict = model
        self.n_rows = 0
        self.lock = threading.Lock()

    def __getstate__(self):
        return {k: v for k, v in self.__dict__.items() if k != "lock"}

    def __setstate__(self, state):
        self.__dict__.update(state, lock=threading.Lock())

    @property
    def name(self):
        """The name of the model in messages."""
        return getattr(self.model, "__name__", None) or type(self.model).__name__

    def ask(self, table):
        """Labels or numbers of each row, and probabilities; one of both may be None."""
        n_rows = len(table)
        if not n_rows:
            return np.empty(0), None
        table = seen_columns(self.model, table)
        is_unnamed = not hasattr(self.model, "feature_names_in_") and hasattr(
            self.model, "n_features_in_"
        )
        is_table = isinstance(self.model, BaseEstimator) and column_names(table)
        table = table.to_numpy() if is_unnamed and is_table else table
        with self.lock, Progress(f"querying {self.name}", n_rows) as progress:
            if self.limit is not None and self.n_rows + n_rows > self.limit:
                raise ValueError(
                    f"max_calls must be at least {self.n_rows + n_rows} to query "
                    f"{self.name} for these rows; got {self.limit}. Allow more calls, "
                    "or pass fewer rows."
                )
            parts = []
            for start in range(0, n_rows, BATCH_ROWS):
                rows = np.arange(start, min(start + BATCH_ROWS, n_rows))
                parts.append(self._results(take_rows(table, rows)))
                self.n_rows += len(rows)
                if self.verbose:
                    progress.advance(len(rows))
        return tuple(
            None if column[0] is None else np.concatenate(column)
            for column in zip(*parts, strict=True)
        )

    def _results(self, table):
        values = shares = None
        if self.predict is not None:
            values = np.asarray(self._call(self.predict, table))
            if values.ndim == 2 and values.shape[1] == 1:
                values = values[:, 0]
            if values.ndim == 2 and self.is_class is not False and self.classes is None:
                values, shares = None, values
            elif values.ndim != 1 or len(values) != len(table):
                raise ValueError(
                    f"{self.name} must return one prediction for each of the "
                    f"{len(table)} rows; it returns the shape {values.shape}. Of "
                    "several outputs choose one, by simplify(..., output=0)."
                )
        if self.predict_proba is not None:
            shares = self._call(self.predict_proba, table)
        if shares is not None:
            shares = self._checked(shares, len(table))
        if self.is_class is False:
            values = as_numbers(values, self.name)
        return values, shares

    def _call(self, function, table):
        """Call a function of the model; errors are raised as one message."""
        try:
            return function(table)
        except (ArithmeticError, LookupError, OSError, TypeError, ValueError) as error:
            raise ValueError(
                f"{self.name} must predict rows such as those of X; the call failed "
                f"with {type(error).__name__}: {error}. Pass X as the model needs it."
            ) from error

    def _checked(self, shares, n_rows):
        """Probabilities as a matrix; raises for others."""
        if isinstance(shares, list):
            raise ValueError(
                f"{self.name} must predict one target; it returns probabilities of "
                f"{len(shares)}. Choose one, by simplify(..., output=0)."
            )
        shares = np.asarray(shares, dtype=np.float64)
        n_classes = shares.shape[-1] if self.classes is None else len(self.classes)
        if shares.shape != (n_rows, n_classes):
            raise ValueError(
                f"{self.name} must return a probability for each of {n_classes} "
                f"classes and {n_rows} rows; it returns the shape {shares.shape}. Pass "
                "y with the model's classes."
            )
        check_finite(shares, self.name)
        return shares

    @property
    def n_outputs(self):
        """Number of columns of `outputs`."""
        return 1 if self.classes is None else len(self.classes) + 1

    def prepare(self, X, y=None):
        """Find out the classes, and what to call; returns the first outputs.

        `X` has rows on which `predict` and `predict_proba` are compared; the labels of
        `y` are the classes of a model without a list of classes.
        """
        if not self.is_class:
            return np.empty((0, 1))
        labels = None if y is None else tuple(np.unique(y).tolist())
        if self.predict_proba is not None:
            self.classes = self.classes or labels
            if self.classes is None:
                raise ValueError(
                    f"{self.name} must have classes_; it has none. Pass y, whose "
                    "sorted labels are then its classes."
                )
            if self.predict is None:
                return np.empty((0, self.n_outputs))
            head = take_rows(X, np.arange(min(len(X), COMPARED_ROWS)))
            outputs = self.outputs(*self.ask(head))
            is_likeliest = outputs[:, :-1].argmax(axis=1) == outputs[:, -1]
            cuts = ("best_threshold_", "threshold")
            if is_likeliest.all() and not any(hasattr(self.model, c) for c in cuts):
                self.predict = None
            return outputs
        if self.classes is not None:
            return np.empty((0, self.n_outputs))
        values, shares = self.ask(X)
        if shares is None:
            self.classes = tuple(sorted(set(values.tolist())))
        else:
            self.classes = labels or tuple(range(shares.shape[1]))
            self.predict, self.predict_proba = None, self.predict
            self._checked(shares, len(shares))
        return self.outputs(values, shares)

    def outputs(self, values, shares):
        """A column of numbers, or the probability of each class and the predicted one.

        The predicted class, as an index, is the last column. Without `predict` it is
        the most likely one; without `predict_proba` it has probability 1.
        """
        if not self.is_class:
            return values[:, None]
        if values is None:
            return np.column_stack([shares, shares.argmax(axis=1)])
        codes = places(values, self.classes, self.name)
        if shares is None:
            shares = np.eye(len(self.classes))[codes]
        return np.column_stack([shares, codes])


def _classes(model):
    """The list of classes of a model; None if it has none."""
    classes = getattr(model, "classes_", ())
    if isinstance(model, RuleModel):
        classes = model.classes
    elif isinstance(model, BaseEstimator) and is_outlier_detector(model):
        classes = (-1, 1)
    return tuple(np.asarray(classes).tolist()) or None


def seen_columns(model, X):
    """X with the columns that the model was trained on, if it has names."""
    names = getattr(model, "feature_names_in_", None)
    return X if names is None else select_columns(X, [str(name) for name in names])
