"""What a kind of y is: the protocol that classes and numbers follow.

A kind is a subclass of `Outcome` and one entry of `OUTCOMES`. It must write the
abstract methods below and name its statistics; the others have defaults, and a kind
whose predictions are numbers inherits most from `Numbers`. Its texts are a view of
their own (`outcomes/text.py`).

The statistics are two classes whose objects add up. `sums` are of y in groups of rows,
one per rule: `of` some rows and `of_group` of one, `weight` and `spread`, `basis` and
what is `predicted` from it, which of y and the model's predictions is `measured`, and
the `evidence` and `error` of a group. `scores` are of predictions against y: `of` some
rows, `weight`, `has_probabilities`, and what the formulas of `all_measures` need.

`check` reads y as it is given, in one column or several, and `encode` turns it into an
array with one entry, or one line, per row. Only the kind looks into this array; the
others select rows of it. Where y is asked for below, predictions of a model may come in
its place, so that rules can imitate a model as they fit y.
"""

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from defragtrees._utils.types import Column, Flags, Floats, Values
from defragtrees.outcomes.intervals import mean_interval, wilson_interval
from defragtrees.outcomes.measures import Measure, Moments
from defragtrees.outcomes.tests import Change
from defragtrees.outcomes.text import NumberView
from defragtrees.tables import check_length, check_weight, one_column


class Outcome(ABC):
    """Base class of all kinds of y."""

    task: ClassVar[str]  # its name in rule files
    estimator_suffix: ClassVar[str]  # of the estimators that predict it
    models: ClassVar[tuple[str, ...]] = ()  # other tasks whose models predict it
    sums: ClassVar[Any]  # statistics of y in the rows of each rule, which add up
    scores: ClassVar[Any]  # statistics of predictions against y, which add up
    all_measures: ClassVar[tuple[Measure, ...]] = ()  # computed from `scores`
    columns: ClassVar[tuple[str, ...]] = ("y",)
    error_name: ClassVar[str]
    view_class: ClassVar[type[NumberView]] = NumberView

    statistic: ClassVar[str] = "mean"  # what rules report of y: "mean" or "rates"
    error_is_share: ClassVar[bool] = False  # of rows; else in the units of y
    error_digits: ClassVar[int] = 9  # of an error that is added up from parts
    keeps_residuals: ClassVar[bool] = False  # of rows, for intervals of predictions
    keeps_rates: ClassVar[bool] = False  # of bands of rows, for intervals of rates
    link: str = "identity"  # from a sum of points to a prediction
    n_points: int = 1  # columns of points
    quantile: float | None = None  # that rules report of y in place of its mean
    n_moments: int = 2  # how many numbers `moments` stores

    # Labels; a kind without them has none of this
    labels: Any = None
    has_probabilities: ClassVar[bool] = False  # of each label
    is_binary: bool = False  # two labels, one of which is the positive class
    positive_index: int | None = None
    positive_class: Any = None

    @classmethod
    def of(cls, classes: Any = None, shown: Any = None, pos_label: Any = None) -> Self:
        """The kind with these labels, if it has any, and their printed names."""
        return cls()

    @classmethod
    def recognises(cls, y: Any, *models: Any) -> bool:
        """Whether y, or the names of its columns, or models of it say this kind."""
        return n_columns(y) == len(cls.columns)

    @property
    def n_classes(self) -> int:
        """Number of labels; 0 without labels."""
        return len(self.labels or ())

    @property
    def has_sums(self) -> bool:
        """Whether one sum of y says what some rows have: of numbers, or of a class."""
        return self.n_points == len(self.columns) == 1

    @property
    def view(self) -> NumberView:
        """Its texts; see `outcomes/text.py`."""
        return self.view_class(self)

    # y and predictions as arrays

    def read(self, y: Any, n_rows: int | None = None) -> Values:
        """Checked y as the user gave it, one entry or line for each of `n_rows`."""
        names = self.columns
        if len(names) == 1:
            values = one_column(y, warn=True)
        else:
            fields = getattr(getattr(y, "dtype", None), "names", None)
            values = np.asarray(y)
            if fields:
                values = np.column_stack([values[name] for name in fields])
            if values.shape != (len(values), len(names)):
                raise ValueError(
                    f"y must have the columns {' and '.join(names)}; got the shape "
                    f"{values.shape}. Pass both as a table, or np.column_stack("
                    f"[{', '.join(names)}])."
                )
        values = self.check(values)
        if n_rows is not None:
            check_length(n_rows, len(values), "y")
        return values

    @abstractmethod
    def check(self, y: Values) -> Values:
        """y as it is; ValueError for values that cannot be."""

    def check_training(self, y: Values) -> None:  # noqa: B027
        """Raise ValueError for checked y from which nothing can be learned."""

    def trained(self, y: Values, weight: Floats | None = None) -> "Outcome":
        """The kind with what checked y of the training rows adds to it."""
        return self

    def training_data(
        self, y: Values, weight: Floats | None, model: Any = None
    ) -> tuple[Any, Any]:
        """Checked y, and weights, as a model, or the default one, is fitted to them."""
        return y, weight

    def has_known(self, y: Values) -> bool:
        """Whether any of the values of y can be predicted."""
        return True

    def check_known(self, y: Values) -> None:
        """Raise ValueError if none of y can be predicted, as labels of another type."""
        if not self.has_known(y):
            raise ValueError(
                f"y must have labels such as {list(self.labels)[:5]!r}; got "
                f"{np.unique(y).tolist()[:5]!r}. Are they of another type?"
            )

    @property
    def dtype(self) -> Any:
        """The dtype of predictions."""
        return np.dtype(np.float64)

    def encode(self, y: Values) -> Values:
        """Checked y, or predictions, as arrays of numbers; labels by their position."""
        return y

    def encode_any(self, y: Values) -> Values:
        """`encode` without an error for unknown labels, which become -1."""
        return self.encode(y)

    def is_known(self, encoded: Values) -> Flags:
        """Which rows of `encode_any` have a value that can be predicted."""
        return np.ones(len(encoded), dtype=bool)

    def compact(self, encoded: Values) -> Values:
        """Encoded y in as few bytes as will do."""
        return encoded

    def decode(self, encoded: Values) -> Values:
        """Predictions as users get them, from encoded ones."""
        return encoded

    @abstractmethod
    def indicators(self, y: Values) -> Floats:
        """Encoded y as columns whose means rules report, (n_samples, n_outputs)."""

    def mean_weight(self, y: Values | None, weight: Floats) -> Floats:
        """Weights of rows in these means: times the exposure, if y has one."""
        return weight

    @property
    def output_names(self) -> list[str]:
        """What the means of the columns of `indicators` are called."""
        return ["mean"]

    @abstractmethod
    def moments(self, y: Values, weight: Floats) -> Any:
        """What is stored of y in the training rows: `n_moments` numbers that add up."""

    def corrected(self, outputs: Floats, change: Floats) -> Floats:
        """Outputs of a model plus a change of the last ones, `n_points` columns."""
        return outputs + change

    def search_target(self, outputs: Floats) -> Floats:
        """Outputs of rows on the scale on which the search measures squares."""
        return outputs

    # Models that rules imitate

    def note_of_model(
        self, predictions: Values, y: Values | None, weight: Floats
    ) -> str:
        """What predictions of a model are taken to be; warns if they seem not to be."""
        return ""

    def scale_of(
        self, predictions: Floats, y: Values | None = None, weight: Floats | None = None
    ) -> Callable[[Floats], Floats]:
        """A function from predictions of a model to what rules predict.

        It follows from those of some rows and, where it is known, their checked y.
        """
        return lambda values: values

    def model_of(self, forest: Any) -> Any:
        """A forest as one for this kind of y, if it can be."""
        is_other = forest.task in self.models
        return dataclasses.replace(forest, task=self.task) if is_other else forest

    def check_outputs(self, n_outputs: int) -> None:  # noqa: B027
        """Raise ValueError for a number of outputs of trees that does not fit."""

    def check_predictions(self, predictions: Values) -> None:  # noqa: B027
        """Raise ValueError for predictions of a model that rules cannot imitate."""

    @abstractmethod
    def target_of(self, forest: Any, raw: Floats) -> Values:
        """Encoded predictions from the combined outputs of a forest's trees."""

    def probabilities_of(self, forest: Any, raw: Floats) -> Floats | None:
        """Class probabilities from the combined outputs of trees; None without."""
        return None

    # Losses

    @abstractmethod
    def losses(self, y: Column, predicted: Column) -> Floats:
        """The loss of each row."""

    def estimate_losses(self, observed: Floats, predicted: Floats) -> Floats:
        """The loss of estimated means of `indicators`, both (n_samples, n_outputs)."""
        losses: Floats = ((observed - predicted) ** 2).sum(axis=1)
        return losses

    def distances(self, y: Values, predicted: Floats) -> Floats:
        """How far predictions are from y of each row, as a report says it."""
        return np.abs(predicted - y)

    def model_losses(self, predictions: Column, predicted: Column) -> Floats:
        """The loss of each row against what a model predicts."""
        return self.losses(predictions, predicted)

    def observed(self, y: Values, weight: Floats) -> tuple[float, float, float] | None:
        """What rules estimate of numbers and its interval, in rows; None of a mean."""
        return None

    def compared(self, y: Values, reported: Floats) -> tuple[Floats, Floats]:
        """What is reported of rows, and how far it is below y, in columns as it is."""
        return reported, self.indicators(y) - reported

    @abstractmethod
    def fidelity_of_loss(self, loss: float, moments: Moments) -> float:
        """How well rules imitate a model, from their mean loss against it; at most 1.

        `moments` are those of its predictions.
        """

    def error(self, y: Column, predicted: Column, sample_weight: Any = None) -> float:
        """The mean loss."""
        return float(np.average(self.losses(y, predicted), weights=sample_weight))

    def fidelity(
        self, reference: Column, predicted: Column, sample_weight: Column | None = None
    ) -> float:
        """How well predictions imitate those of a model; 1 if they are equal."""
        reference = np.asarray(reference)
        weight = check_weight(sample_weight, len(reference))
        losses = self.model_losses(reference, predicted)
        loss = float(np.average(losses, weights=weight))
        return self.fidelity_of_loss(loss, self.prediction_moments(reference, weight))

    def prediction_moments(self, predictions: Values, weight: Floats) -> Moments:
        """The Moments of predicted numbers; empty for labels."""
        return Moments()

    @abstractmethod
    def nats(self, y: Values, weight: Floats, reported: Floats) -> float:
        """Negative log-likelihood of y, given what rules report."""

    def error_interval(
        self, error: float, square: float, n_rows: float
    ) -> tuple[float, float]:
        """95% interval of a mean loss, from the mean of its squares; NaN if unknown."""
        if self.error_is_share:
            return wilson_interval(error, n_rows)
        spread = math.sqrt(max(0.0, square - error * error))
        interval = mean_interval(error, spread, n_rows, is_positive=True)
        return interval or (math.nan, math.nan)

    def shown_error(self, error: float) -> float:
        """An error in the units in which it is printed."""
        return error

    def shown_deviation(self, error: float, deviation: float) -> float:
        """The standard error of a shown error, from that of the error."""
        return deviation

    def measures(self, scores: Any = None) -> list[Measure]:
        """The measures of this kind; with `scores` those that these suffice for."""
        is_all = scores is None or scores.has_probabilities
        return [m for m in self.all_measures if is_all or not m.needs_probabilities]

    def measured(self, scores: Any) -> dict[str, float]:
        """From name to value, the measures of some scores.

        Some are left out where they are unknown, as the ends of an interval.
        """
        pairs = [(measure, measure.of(scores)) for measure in self.measures(scores)]
        return {
            measure.name: value
            for measure, value in pairs
            if not (math.isnan(value) and (measure.is_of_card or measure.is_optional))
        }

    def measure(
        self,
        y: Values,
        predicted: Values,
        weight: Floats | None = None,
        probabilities: Floats | None = None,
        costs: Floats | None = None,
    ) -> dict[str, float]:
        """From name to value, the measures of predictions against y."""
        weight = np.ones(len(y)) if weight is None else weight
        columns = self.encode_any(y), weight, self.encode_any(predicted), probabilities
        return self.measured(self.scores.of(self, *columns, costs))

    # Two models, or two samples

    @abstractmethod
    def agreement(self, one: Values, two: Values) -> float:
        """How much two predictions of each row agree, from 0 to 1."""

    @abstractmethod
    def change_measures(
        self, before: Values, after: Values, y: Values | None = None
    ) -> dict[str, float]:
        """From name to value, how far two predictions of each row are apart."""

    def moves(self, before: Values, after: Values) -> tuple[tuple[str, str, int], ...]:
        """From which class to which predictions went, and in how many rows."""
        return ()

    def is_same_prediction(self, one: Any, other: Any) -> bool:
        """Whether two predictions are of one kind: equal labels, or any two numbers."""
        return True

    @abstractmethod
    def rate_change(self, rule: Any, y: Values, n_then: float) -> Change | None:
        """What a rule reports of y beside new y of its rows; None if it does not.

        `n_then` is the effective number of rows that were counted.
        """

    @abstractmethod
    def target_change(self, then: Any, n_then: float, y: Values) -> Change:
        """The profile of y in the training rows beside new y."""

    # What a rule predicts and reports

    @abstractmethod
    def check_rule(self, rule: Any, is_averaged: bool = False) -> None:
        """Raise ValueError for a rule that cannot predict y."""

    @abstractmethod
    def with_prediction(self, rule: Any, prediction: Any) -> Any:
        """A rule with another prediction, whose error is not known."""

    def with_probability(self, rule: Any, probability: float) -> Any:
        """A rule with another probability of what it predicts."""
        raise ValueError("probability is for rules that predict a class.")

    @abstractmethod
    def estimated_prediction(
        self, sums: Any, k: int, decision: Any, worth: float = 1.0
    ) -> dict[str, Any]:
        """Prediction of rule k from the RuleSums of its rows, as fields of a Rule.

        Where one rule predicts each row it is shrunk towards the mean of all rows;
        without y it is the mean of the model. Each row counts as `worth` rows drawn
        after the model was trained.
        """

    @abstractmethod
    def estimate(self, rule: Any) -> dict[str, Any]:
        """Statistics of y that a rule reports, as entries of `RuleModel.rows`."""

    def rate_index(self, rule: Any) -> int:
        """The column of `indicators` whose rate or mean a rule reports."""
        return 0

    def reported_means(self, means: Any) -> Any:
        """The means of the columns of `indicators`, as a rule reports them."""
        return means[0]

    def likely(self, form: Any, matches: Flags) -> Floats | None:
        """What measures of rules need beside predictions, as class probabilities."""
        return None

    def reported(self, form: Any, matches: Flags) -> Floats:
        """What rules that match rows report, in columns as those of `indicators`."""
        predictions: Floats = form.predict(matches)[:, None]
        return predictions

    @abstractmethod
    def observed_interval(
        self, observed: float, variance: float, n_effective: float, weight: float
    ) -> tuple[float, float, float]:
        """An observed mean, and the ends of its 95% interval.

        `n_effective` rows are as much evidence; their weight is that in means of y.
        """

    def further_outputs(self, form: Any) -> dict[str, Any]:
        """What is predicted beside the prediction, by the name of its column.

        A list of values, one per rule, which combine as predictions do; of points a
        number whose negative is multiplied by the prediction and exponentiated.
        """
        return {}

    def outputs(self, rule: Any) -> Sequence[float]:
        """What a rule contributes to a mean over rules, one value for each column."""
        return [rule.prediction]

    def decision(
        self,
        threshold: float | None = None,
        costs: Any = None,
        rates: Any = None,
        class_weight: Any = None,
    ) -> Any:
        """The Decision from probabilities to a class; None where nothing is decided."""
        return None

    def decide(
        self, outputs: Floats, threshold: float | None = None, costs: Any = None
    ) -> Values:
        """Predictions from means of outputs, (n_samples, n_outputs)."""
        return outputs[:, 0]

    def check_exposure(self) -> None:
        """Raise ValueError if y has no exposure."""
        raise ValueError(
            "exposure is for rules of rates; these predict "
            f"{'classes' if self.n_classes else 'numbers'}. Leave it out."
        )

    def expected_counts(self, predictions: Floats, exposure: Floats) -> Floats:
        """Expected numbers of events in an exposure."""
        self.check_exposure()
        return predictions * exposure

    def ordered_value(self, prediction: Any, distribution: Any) -> float:
        """The number by which predictions are ordered."""
        return float(prediction)

    def of_ordered_value(self, value: float, decision: Any) -> dict[str, Any]:
        """What a rule with this `ordered_value` predicts, as entries of it."""
        return {"prediction": value}

    # Points, whose sum is the prediction

    @abstractmethod
    def fit_points(self, matches: Floats, weight: Floats, sums: Floats) -> Floats:
        """Points by patterns of rules, from sums of `indicators`; see `points`."""

    @abstractmethod
    def scorecard(
        self,
        matches: Floats,
        weight: Floats,
        sums: Floats,
        points: Floats,
        bound: int | None = None,
    ) -> Any:
        """Whole points instead of the exact ones of `fit_points`, maybe bounded."""

    def calibrated(
        self, card: Any, matches: Floats, weight: Floats, sums: Floats, is_whole: bool
    ) -> Any:
        """FittedPoints less what fitting them to y gains by chance, if they have any.

        `weight` and `sums` are those of y, at the worth of its rows.
        """
        return card

    def rounded_points(self, points: Floats, spread: float) -> Floats:
        """Exact points as they are shown."""
        return np.round(points, 3)

    def linked(self, values: Floats) -> Floats:
        """Means that follow from sums of points, (n_samples, n_points)."""
        return values

    def decide_points(
        self, values: Floats, threshold: float | None = None, costs: Any = None
    ) -> Values:
        """Predictions from sums of points, (n_samples, n_points)."""
        return self.decide(self.linked(values), threshold, costs)


def n_columns(y: Any) -> int:
    """How many columns y has, or the names of columns of a file that it has."""
    if isinstance(y, tuple) and all(isinstance(name, str) for name in y):
        return len(y)
    names = getattr(getattr(y, "dtype", None), "names", None)
    shape = np.shape(y)
    return len(names) if names else (shape[1] if len(shape) > 1 else 1)


def column_words(y: Any) -> tuple[str, ...]:
    """The names of the columns of y; () if they have none."""
    if isinstance(y, tuple):
        return tuple(map(str, y))
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is None and not isinstance(y, np.ndarray):
        names = getattr(y, "columns", None)
    return () if names is None else tuple(map(str, names))


def outcome_for(outcome: Outcome, y: Any, *models: Any) -> Outcome:
    """The kind of y that a model, given as an object, a Forest or both, predicts.

    Examples
    --------
    >>> y = np.zeros(5, dtype=[("events", float), ("exposure", float)])
    >>> outcome_for(make_outcome("regression"), y).task
    'counts'
    """
    kinds = [kind for kind in OUTCOMES.values() if outcome.task in kind.models]
    for kind in kinds:
        if kind.recognises(y, *models):
            return kind.of()
    if n_columns(y) == len(outcome.columns) or not kinds:
        return outcome
    raise ValueError(
        f"y has {n_columns(y)} columns, and neither their names nor the model say what "
        "they are. Pass exposure= beside the number of events, output= for one of "
        "several outputs of a model, or columns named event and time for survival."
    )


# From the name of a task to its kind; `outcomes/__init__.py` has the entries.
OUTCOMES: dict[str, type[Outcome]] = {}


def make_outcome(
    task: str,
    classes: Sequence[Any] | None = None,
    class_labels: Sequence[str | None] | None = None,
    pos_label: Any = None,
) -> Outcome:
    """The outcome of a task, a key of `OUTCOMES`.

    `classes` are its labels if it has any, `class_labels` their printed names, and
    `pos_label` is the positive one of two, by default the second.

    Examples
    --------
    >>> from defragtrees.outcomes import make_outcome
    >>> make_outcome("classification", ["no", "yes"])
    Classes(labels=('no', 'yes'))
    >>> make_outcome("regression").error_name
    'root mean squared error'
    """
    if task not in OUTCOMES:
        raise ValueError(f"Unknown task {task!r}.")
    return OUTCOMES[task].of(classes, class_labels, pos_label)
