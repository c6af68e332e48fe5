"""explain_errors and compare_models: segments of the losses of models."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.types import Column, Rows
from defragtrees.ensembles.predictions import predict_rows
from defragtrees.segments.found import Heading, SegmentGroups
from defragtrees.segments.search import SegmentSearch, check_losses
from defragtrees.tables import is_missing

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


def explain_errors(
    model: Any,
    X: Rows,
    y: Column,
    loss: str | Callable[..., Any] | None = None,
    **settings: Any,
) -> SegmentGroups:
    """Find where a model fails, and where its predictions are too high or too low.

    Parameters
    ----------
    model : object
        A fitted model, pipeline or rules, the path of a model file, a Forest, a
        function, an array of predictions, or the name of a column of X with them.
        Fractions from 0 to 1 for a y of two classes are probabilities of the second
        class; a matrix has a column per class. A model that numbers its classes from 0
        or 1 is taken to number those of y in their order.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows that the model was not trained on. Columns that the model does not know
        may occur in segments.
    y : array-like of shape (n_samples,)
    loss : str or callable, optional
        Of classes "error" (default), "log_loss" or "brier"; of numbers "absolute"
        (default) or "squared"; the matching scorer or metric of scikit-learn, such as
        "neg_log_loss"; or a function of y and the predictions (the probabilities of the
        second of two classes) that returns a loss per row.
    **settings
        `max_segments`, `max_conditions`, `min_rows`, `features`, `alpha`,
        `sample_weight` and `random_state`, as for `find_segments`. `features` restricts
        the columns of segments, for example to those of a fairness question.

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
    if y is None and not isinstance(X, str | os.PathLike | Iterator):
        raise ValueError("explain_errors needs y, the true value of each row.")
    search = SegmentSearch(X, y, named_by=model, **settings)
    predicted = _predictions(model, search)
    name, losses = predicted.losses(loss)
    is_number = predicted.classes is None
    beside = {}
    if predicted.expected is not None:
        beside = {
            "beside": {"observed": predicted.observed, "predicted": predicted.expected},
            "beside_unit": "number" if is_number else "share",
        }
    groups = {name: search.find(losses, loss_name=name, **beside)}
    headings = {name: Heading(f"Where the {name} is high")}
    sides = {"too low": "high", "too high": "low"} if beside else {}
    for title, direction in sides.items():
        bias = predicted.observed - predicted.expected
        unit = "number" if is_number else "points"
        groups[title] = search.find(
            bias, direction, "bias", unit, **beside, is_signed=True
        )
        headings[title] = Heading(
            f"Where predictions are {title}",
            f"bias: mean of observed less predicted{predicted.unit}",
        )
    return SegmentGroups(groups, headings)


def compare_models(
    a: Any,
    b: Any,
    X: Rows,
    y: Column | None = None,
    loss: str | Callable[..., Any] | None = None,
    **settings: Any,
) -> SegmentGroups:
    """Find where two models differ or, with y, where one of them is better.

    Parameters
    ----------
    a, b : object
        Models of any kind; see `explain_errors`.
    X : array-like or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), optional
    loss : str or callable, optional
        As for `explain_errors`; by default "log_loss" of two models with probabilities.
    **settings
        As for `explain_errors`.

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
    search = SegmentSearch(X, y, named_by=a, **settings)
    one, two = (_predictions(model, search) for model in (a, b))
    # Fractions are probabilities if the other model has two classes, and two models
    # have their classes in the same order.
    if one.classes is None and two.classes is not None:
        one = _predictions(a, search, two.classes)
    elif one.classes != two.classes:
        two = _predictions(b, search, one.classes)
    if (one.classes is None) != (two.classes is None):
        raise ValueError(
            "One model predicts classes and the other numbers, so they cannot be "
            "compared. Pass two models of the same target."
        )
    unit, beside_unit, is_signed = "number", "number", True
    if search.y is not None:
        if loss is None and all(of.probabilities is not None for of in (one, two)):
            loss = "log_loss"
        (name, first), (_, second) = (of.losses(loss) for of in (one, two))
        beside, about = {"a": first, "b": second}, f"difference of the {name}"
        shown = {
            "b better": ("Where model b is better", about, "high", first - second),
            "a better": ("Where model a is better", about, "high", second - first),
        }
    elif one.expected is not None and two.expected is not None:
        beside = {"a": one.expected, "b": two.expected}
        apart = two.expected - one.expected
        if one.classes is not None:
            unit, beside_unit = "points", "share"
        than = f"values than a{one.unit}"
        shown = {
            "b higher": (f"Where model b predicts higher {than}", "", "high", apart),
            "b lower": (f"Where model b predicts lower {than}", "", "low", apart),
        }
    else:
        beside, unit, is_signed = {}, "share", False
        text = "Where the models predict different classes"
        shown = {"differ": (text, "", "high", one.labels != two.labels)}
    groups = {
        key: search.find(
            apart, direction, "difference", unit, beside, beside_unit, is_signed
        )
        for key, (_, _, direction, apart) in shown.items()
    }
    headings = {key: Heading(*texts[:2]) for key, texts in shown.items()}
    return SegmentGroups(groups, headings)


def _predictions(model, search, classes=None):
    """The predictions of a model for the rows of a search."""
    y = None if search.y is None else _checked_y(search.y)
    return _Outcomes(predict_rows(model, search.table, y, classes), y)


class _Outcomes:
    """Predictions of a model beside y, and their losses."""

    def __init__(self, predicted, y):
        self.labels, self.probabilities, self.classes, _ = predicted
        self.y = y
        if self.classes is None and y is not None:
            if y.dtype.kind not in "biuf":
                raise ValueError(
                    "The model predicts numbers, but y has labels. Pass the model "
                    "itself, or probabilities of the second of two classes."
                )
            self.y = y.astype(np.float64)

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
        return LOSSES[name], self._losses(name)

    def _losses(self, name):
        if name == "error":
            return (self.labels != self.y).astype(float)
        if self.classes is None:
            return np.abs(self.labels - self.y) ** (2 if name == "squared" else 1)
        if self.probabilities is None:
            raise ValueError(
                f"{name} needs a model with probabilities (predict_proba); this one "
                'has none. Use loss="error".'
            )
        is_true = np.equal.outer(self.y, np.array(self.classes, dtype=object))
        if name == "brier":
            return np.sum((self.probabilities - is_true) ** 2, axis=1) / 2
        right = np.sum(self.probabilities * is_true, axis=1)
        return -np.log(np.maximum(right, LEAST_PROBABILITY))


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
