"""explain_errors and compare_models: segments of the losses of models."""

import json
import os
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from defragtrees._utils import formatting as render
from defragtrees._utils.files import write_atomic
from defragtrees._utils.types import Column, Rows
from defragtrees.segments.found import (
    Segments,
    check_losses,
    check_settings,
    read_rows,
    search_rows,
)
from defragtrees.tables import is_missing, select_columns

LEAST_PROBABILITY = 1e-6  # a probability of 0 has a finite log loss
# Losses by the name of scikit-learn's scorer, and how they are called in tables.
SCORERS = {
    "accuracy": "error",
    "neg_log_loss": "log_loss",
    "neg_brier_score": "brier",
    "neg_mean_absolute_error": "absolute",
    "neg_mean_squared_error": "squared",
}
METRICS = {
    "accuracy_score": "error",
    "zero_one_loss": "error",
    "log_loss": "log_loss",
    "brier_score_loss": "brier",
    "mean_absolute_error": "absolute",
    "mean_squared_error": "squared",
}
LOSSES = {
    "error": "error",
    "log_loss": "log loss",
    "brier": "Brier score",
    "absolute": "absolute error",
    "squared": "squared error",
}


@dataclass(frozen=True)
class SegmentGroups(Mapping[str, Segments]):
    """Several Segments by what they show, such as "error", "too low", "too high"."""

    groups: Mapping[str, Segments]
    headings: Mapping[str, str]

    def __getitem__(self, name: str) -> Segments:
        return self.groups[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    def __str__(self) -> str:
        width = render.page_width()
        return "\n\n".join(
            f"{textwrap.fill(self.headings[name], width)}\n\n{segments}"
            for name, segments in self.groups.items()
        )

    def _repr_html_(self) -> str:
        return "".join(
            f"<p>{escape(self.headings[name])}</p>{segments._repr_html_()}"
            for name, segments in self.groups.items()
        )

    def to_dict(self) -> dict[str, Any]:
        """The contents as plain data, for JSON."""
        return {name: segments.to_dict() for name, segments in self.groups.items()}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the segments as JSON."""
        write_atomic(path, (json.dumps(self.to_dict(), indent=2) + "\n").encode())


def explain_errors(
    model: Any,
    X: Rows,
    y: Column,
    loss: str | Callable[..., Any] | None = None,
    *,
    max_segments: int = 5,
    max_conditions: int = 3,
    min_rows: int | None = None,
    features: Sequence[Any] | None = None,
    alpha: float = 0.05,
    sample_weight: Column | None = None,
    random_state: int | None = None,
) -> SegmentGroups:
    """Find where a model fails, and where its predictions are too high or too low.

    Parameters
    ----------
    model : object
        A fitted model or pipeline, rules, a function, the name of a column of X with
        predictions, or an array of predictions. Numbers between 0 and 1 for a y of two
        classes are probabilities of the second class; a matrix has a column per class.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows that the model was not trained on. Columns that the model does not know
        may occur in segments.
    y : array-like of shape (n_samples,)
    loss : str or callable, optional
        Of classes "error" (default), "log_loss" or "brier"; of numbers "absolute"
        (default) or "squared"; the matching scorer or metric of scikit-learn, such as
        "neg_log_loss"; or a function of y and the predictions (the probabilities of the
        second of two classes) that returns a loss per row.
    max_segments, max_conditions, min_rows, features, alpha, sample_weight, random_state
        As for `find_segments`. `features` restricts the columns of segments, for
        example to those of a fairness question.

    Returns
    -------
    SegmentGroups
        A mapping with the Segments of the loss and, for numbers and two classes, "too
        low" and "too high", the segments with a bias.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((3000, 2))
    >>> y = X[:, 0] + np.where(X[:, 1] > 0.8, 1.0, 0.0) + 0.1 * rng.random(3000)
    >>> found = explain_errors(lambda X: X[:, 0], X, y)
    >>> list(found), len(found["too low"]), len(found["too high"])
    (['absolute error', 'too low', 'too high'], 1, 0)
    """
    settings = {
        "max_segments": max_segments,
        "max_conditions": max_conditions,
        "min_rows": min_rows,
        "alpha": alpha,
    }
    check_settings(**settings, direction="high")
    if y is None and not isinstance(X, str | os.PathLike | Iterator):
        raise ValueError("explain_errors needs y, the true value of each row.")
    rows = read_rows(X, y, sample_weight, features, random_state, model)
    predicted = predict_rows(model, rows.table, rows.y)
    name, losses = predicted.losses(loss)
    unit = "number" if predicted.classes is None else "points"
    beside = predicted.beside()
    groups = {name: search_rows(rows, losses, loss_name=name, **beside, **settings)}
    headings = {name: f"Where the {name} is high:"}
    if predicted.expected is not None:
        bias = predicted.observed - predicted.expected
        for title, direction in (("too low", "high"), ("too high", "low")):
            groups[title] = search_rows(
                rows,
                bias,
                direction=direction,
                loss_name="bias",
                unit=unit,
                is_signed=True,
                **beside,
                **settings,
            )
            headings[title] = (
                f"Where predictions are {title} (bias: mean of observed less predicted"
                f"{predicted.unit}):"
            )
    return SegmentGroups(groups, headings)


def compare_models(
    a: Any,
    b: Any,
    X: Rows,
    y: Column | None = None,
    loss: str | Callable[..., Any] | None = None,
    *,
    max_segments: int = 5,
    max_conditions: int = 3,
    min_rows: int | None = None,
    features: Sequence[Any] | None = None,
    alpha: float = 0.05,
    sample_weight: Column | None = None,
    random_state: int | None = None,
) -> SegmentGroups:
    """Find where two models differ or, with y, where one of them is better.

    Parameters
    ----------
    a, b : object
        Models, rules, functions, names of columns or arrays; see `explain_errors`.
    X : array-like or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), optional
    loss : str or callable, optional
        As for `explain_errors`; by default "log_loss" of two models with probabilities.
    max_segments, max_conditions, min_rows, features, alpha, sample_weight, random_state
        As for `find_segments`.

    Returns
    -------
    SegmentGroups
        Without y "b higher" and "b lower" (probabilities of the second class or
        numbers), or "differ" for predictions of classes; with y "a better" and
        "b better".

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((3000, 2))
    >>> found = compare_models(lambda X: X[:, 0],
    ...                        lambda X: X[:, 0] + (X[:, 1] > 0.9), X)
    >>> [(name, len(segments)) for name, segments in found.items()]
    [('b higher', 1), ('b lower', 0)]
    """
    settings = {
        "max_segments": max_segments,
        "max_conditions": max_conditions,
        "min_rows": min_rows,
        "alpha": alpha,
    }
    check_settings(**settings, direction="high")
    rows = read_rows(X, y, sample_weight, features, random_state, a)
    both = [predict_rows(model, rows.table, rows.y) for model in (a, b)]
    one, two = _same_classes(*both)
    if (one.classes is None) != (two.classes is None):
        raise ValueError(
            "One model predicts classes and the other numbers, so they cannot be "
            "compared. Pass two models of the same target."
        )
    if rows.y is not None:
        if loss is None and all(of.probabilities is not None for of in both):
            loss = "log_loss"
        (name, first), (_, second) = (of.losses(loss) for of in (one, two))
        beside, unit, beside_unit = {"a": first, "b": second}, "number", "number"
        differences = {
            "b better": ("high", first - second),
            "a better": ("high", second - first),
        }
        headings = {
            key: f"Where model {key[0]} is better (difference of the {name}):"
            for key in differences
        }
    elif (
        one.classes == two.classes
        and one.expected is not None
        and two.expected is not None
    ):
        beside = {"a": one.expected, "b": two.expected}
        apart = two.expected - one.expected
        unit, beside_unit = "number", "number"
        if one.classes is not None:
            unit, beside_unit = "points", "share"
        differences = {"b higher": ("high", apart), "b lower": ("low", apart)}
        headings = {
            key: f"Where model b predicts {key[2:]} values than a{one.unit}:"
            for key in differences
        }
    else:
        beside, unit, beside_unit = {}, "share", "number"
        differences = {"differ": ("high", one.labels != two.labels)}
        headings = {"differ": "Where the models predict different classes:"}
    groups = {
        key: search_rows(
            rows,
            apart,
            direction=direction,
            loss_name="difference",
            beside=beside,
            unit=unit,
            beside_unit=beside_unit,
            is_signed=key != "differ",
            **settings,
        )
        for key, (direction, apart) in differences.items()
    }
    return SegmentGroups(groups, headings)


@dataclass(frozen=True, eq=False)
class Predicted:
    """Predictions of a model for some rows, with y if it is known."""

    classes: tuple[Any, ...] | None  # None for numbers
    labels: np.ndarray  # predicted classes or numbers
    probabilities: np.ndarray | None
    y: np.ndarray | None

    @property
    def expected(self):
        """The mean that is predicted: probability of the second of two, or number."""
        if self.classes is None:
            return self.labels
        if self.probabilities is None or len(self.classes) != 2:
            return None
        return self.probabilities[:, 1]

    @property
    def observed(self):
        """What `expected` predicts, from y."""
        return self.y if self.classes is None else self.y == self.classes[1]

    @property
    def unit(self):
        """What a probability is of, in brackets."""
        return "" if self.classes is None else f", probability of {self.classes[1]}"

    def as_probabilities(self, classes):
        """Numbers from 0 to 1 as probabilities of the second of two classes."""
        p = self.labels
        if self.classes is not None or len(classes) != 2 or p.min() < 0 or p.max() > 1:
            return self
        labels = np.array(classes, dtype=object)[(p > 0.5) * 1]
        return Predicted(classes, labels, np.column_stack([1 - p, p]), self.y)

    def beside(self):
        """Settings of a search: the observed and the predicted means to show."""
        if self.expected is None:
            return {}
        return {
            "beside": {"observed": self.observed, "predicted": self.expected},
            "beside_unit": "number" if self.classes is None else "share",
        }

    def losses(self, loss):
        """Name and values of a loss."""
        names = ("absolute", "squared")
        if self.classes is not None:
            names = ("error", "log_loss", "brier")
        measure = getattr(loss, "_score_func", loss)
        if getattr(measure, "__module__", "").startswith("sklearn.metrics"):
            name = METRICS.get(measure.__name__)
        elif callable(measure) and measure is loss:
            given = self.labels if self.expected is None else self.expected
            name = getattr(loss, "__name__", "<lambda>").replace("<lambda>", "loss")
            return name, check_losses(loss(self.y, given), len(self.y))
        else:
            name = names[0] if loss is None else SCORERS.get(loss, loss)
        if name not in names:
            known = [*names, *(key for key, of in SCORERS.items() if of in names)]
            raise ValueError(
                f"loss must be one of {', '.join(known)}, their scorers, or a function "
                f"that returns a number per row; got {loss!r}."
            )
        return LOSSES[name], getattr(self, f"_{name}")()

    def _error(self):
        return (self.labels != self.y).astype(float)

    def _absolute(self):
        return np.abs(self.labels - self.y)

    def _squared(self):
        return (self.labels - self.y) ** 2

    def _true_class(self, name):
        """A matrix with 1 for the class of each row."""
        if self.probabilities is None:
            raise ValueError(
                f"{name} needs a model with probabilities (predict_proba); this one "
                'has none. Use loss="error".'
            )
        return np.equal.outer(self.y, np.array(self.classes, dtype=object))

    def _log_loss(self):
        is_true = self._true_class("log_loss")
        right = np.sum(self.probabilities * is_true, axis=1)
        return -np.log(np.maximum(right, LEAST_PROBABILITY))

    def _brier(self):
        is_true = self._true_class("brier")
        return np.sum((self.probabilities - is_true) ** 2, axis=1) / 2


def predict_rows(model, X, y=None):
    """The Predicted of a model, a function, a column of X or an array."""
    if isinstance(model, Predicted):
        return model
    y = None if y is None else _checked_y(y)
    if isinstance(model, str | type) or not (
        callable(model) or callable(getattr(model, "predict", None))
    ):
        return _given_predictions(model, X, y)
    X = _known_columns(model, X)
    if not hasattr(model, "predict"):
        return _from_outputs(np.asarray(model(X)), y)
    labels = np.asarray(model.predict(X))
    classes = getattr(model, "classes_", getattr(model, "classes", None))
    if classes is None or (not hasattr(model, "classes") and not is_classifier(model)):
        return _from_outputs(labels, y)
    predict = getattr(model, "predict_proba", None)
    probabilities = None if predict is None else np.asarray(predict(X))
    known = tuple(np.asarray(classes).tolist())
    return Predicted(known, labels, probabilities, _checked(y, known))


def _checked_y(y):
    """y as a plain array without missing values."""
    y = np.asarray(y)
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if y.ndim != 1:
        raise ValueError(f"y must have one column; got the shape {y.shape}.")
    is_gone = np.isnan(y) if y.dtype.kind == "f" else [is_missing(one) for one in y]
    n_gone = int(np.sum(is_gone))
    if n_gone:
        raise ValueError(
            f"y must have no missing values; {render.plural(n_gone, 'row')} of "
            f"{len(y)} {'has' if n_gone == 1 else 'have'} one. Leave them out."
        )
    return y


def _same_classes(one, two):
    """Predictions of two models for the same classes, in the order of the first.

    Numbers between 0 and 1 are probabilities if the other model has two classes.
    """
    if (one.classes is None) != (two.classes is None):
        known = one.classes or two.classes
        one, two = (of.as_probabilities(known) for of in (one, two))
    if one.classes is None or two.classes is None or one.classes == two.classes:
        return one, two
    if set(one.classes) == set(two.classes):
        order = [two.classes.index(label) for label in one.classes]
        p = two.probabilities
        p = None if p is None else p[:, order]
        return one, replace(two, classes=one.classes, probabilities=p)
    if set(one.classes).isdisjoint(two.classes):
        raise ValueError(
            f"The models predict different classes, {list(one.classes)[:5]!r} and "
            f"{list(two.classes)[:5]!r}. Pass two models of the same target."
        )
    return one, two


def _known_columns(model, X):
    names = getattr(model, "feature_names_in_", None)
    if names is None or not hasattr(X, "columns"):
        return X
    return select_columns(X, [str(name) for name in names])


def _checked(y, classes):
    if y is not None and not np.isin(y, classes).any():
        raise ValueError(
            f"y must have labels such as {list(classes)[:5]!r}; no row has one."
        )
    return y


def _given_predictions(given, X, y):
    if isinstance(given, str):
        if not hasattr(X, "columns") or given not in list(X.columns):
            raise ValueError(
                f"{given!r} is not a column of X. Pass a model or a column."
            )
        given = X[given]
    values = np.asarray(given)
    if values.ndim not in (1, 2) or len(values) != len(X):
        raise ValueError(
            "A model must have predict, be a function, a column of X, or one "
            f"prediction for each of the {len(X)} rows; got {type(given).__name__}."
        )
    return _from_outputs(values, y)


def _from_outputs(values, y):
    """Numbers, probabilities of the second class of y, or classes."""
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    labels = None if y is None else np.unique(y)
    if values.ndim == 2:
        if labels is None or len(labels) != values.shape[1]:
            raise ValueError(
                f"A function that returns {values.shape[1]} probabilities per row "
                "needs a y of as many classes. Pass y, or a function with one number."
            )
        known = tuple(labels.tolist())
        return Predicted(known, labels[values.argmax(axis=1)], values, y)
    if values.dtype.kind not in "biuf":
        known = tuple(np.unique(values).tolist())
        return Predicted(known, values, None, y)
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError("Predictions must be finite; some are NaN or infinite.")
    predicted = Predicted(None, values, None, y)
    if labels is not None:
        predicted = predicted.as_probabilities(tuple(labels.tolist()))
    if predicted.classes is None and y is not None:
        if y.dtype.kind not in "biuf":
            raise ValueError(
                "The model predicts numbers, but y has labels. Pass the model itself, "
                "or probabilities of the second of two classes."
            )
        predicted = replace(predicted, y=y.astype(np.float64))
    return predicted
