"""Outcome: the base class of classification and regression targets."""

import dataclasses
import math
import numbers
from typing import Any, ClassVar

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.values import is_finite, shown
from defragtrees.outcomes.intervals import QUANTILE
from defragtrees.outcomes.measures import Measure, Moments


class Outcome:
    """Base class of all kinds of y; by default a prediction is one number.

    A subclass names itself (`task`, `estimator_suffix`, `error_name`,
    `closeness_name`, `error_meaning`, `fidelity_meaning`) and writes

    - `losses`, `fidelity` and `fidelity_of_loss`, by which rules are judged, and
      `constant_loss` and `best_constants`, which some baselines need;
    - `sums`, the statistics of the rows of each rule, and `scores`, the statistics
      that `all_measures` are computed from; both can be added up over shards;
    - `fit_points` and `scorecard`, if points are to be fitted.

    All else has a default for numbers, which it may replace: checks, texts, what a
    rule reports of y.

    Rule sets, forests and estimators have an outcome and call its methods; nothing
    outside this package depends on which outcome it is.
    """

    task: ClassVar[str]  # as rule files name it
    estimator_suffix: ClassVar[str]  # of the estimators that predict it
    sums: ClassVar[type]  # statistics of the rows of each rule
    scores: ClassVar[type]  # statistics of predictions against y
    all_measures: ClassVar[tuple[Measure, ...]] = ()

    target_kind: str = "number"  # "two classes" and "classes" are written otherwise
    statistic: ClassVar[str] = "mean"  # what is reported of y in the rows of a rule
    labels: Any = None
    has_probabilities: ClassVar[bool] = False  # of each label
    is_binary = False  # two labels, one of which is the positive class
    positive_index: int | None = None
    positive_class: Any = None

    error_name: ClassVar[str]
    has_own_error: ClassVar[bool] = True  # which is none of `all_measures`
    error_meaning: ClassVar[str]
    error_is_share: ClassVar[bool] = False  # of rows; else in the units of y
    error_digits: ClassVar[int] = 9  # of an error that is added up from parts
    fidelity_meaning: ClassVar[str]
    closeness_name: ClassVar[str]
    interval_name: ClassVar[str] = "interval"
    then_title: ClassVar[str] = "prediction"  # of the column with predictions
    reported_meaning: ClassVar[str] = (
        "Behind a prediction: the range of y in most rows of the rule."
    )
    n_points: int = 1  # columns of points
    n_moments: int = 2  # how many numbers `moments` gives

    @classmethod
    def of(cls, classes=None, shown=None, pos_label=None):
        """The outcome with these labels, if it has any, and their printed names."""
        return cls()

    def positive_threshold(self, threshold):
        """Of two labels, the threshold from which the positive one is predicted."""
        return threshold

    # y and predictions as arrays

    @property
    def n_classes(self):
        """Number of labels; 0 without labels."""
        return len(self.labels or ())

    @property
    def dtype(self):
        """Of an array of predictions."""
        return np.dtype(np.float64)

    def encode(self, y):
        """Checked y as the search sees it: class numbers, or numbers as they are."""
        return y

    def encode_any(self, y):
        """`encode` without an error for unknown labels, which become -1."""
        return y

    def compact(self, encoded):
        """Encoded y in as few bytes as will do."""
        return encoded

    def decode(self, encoded):
        """Predictions from what `encode` gives."""
        return encoded

    def is_known(self, encoded):
        """Which rows of `encode_any` have a value that can be predicted."""
        return np.ones(len(encoded), dtype=bool)

    def indicators(self, target):
        """Encoded y as columns that can be averaged, (n_samples, n_outputs)."""
        return np.asarray(target, dtype=np.float64)[:, None]

    @property
    def output_names(self):
        """What the means of the columns of `indicators` are called."""
        return ["mean"]

    def outputs(self, rule):
        """What a rule contributes to a mean, one value for each column."""
        return [rule.prediction]

    def decide(self, outputs, threshold=None, costs=None):
        """Predictions from means of outputs, (n_samples, n_outputs)."""
        return outputs[:, 0]

    def decision(self, threshold=None, costs=None, rates=None, class_weight=None):
        """From probabilities to a class; None where nothing is decided."""
        return None

    def stored_threshold(self, threshold):
        """The threshold of the second class for one of the positive class."""
        raise NotImplementedError

    def target_of(self, forest, raw):
        """Encoded predictions from the combined outputs of a forest's trees."""
        linked = forest.linked(raw)
        return linked[:, 0] if linked.shape[1] == 1 else linked

    def probabilities_of(self, forest, raw):
        """Class probabilities from the combined outputs of trees; None without."""
        return None

    def outputs_of(self, forest, raw):
        """What the search imitates, from the combined outputs of trees, as columns."""
        return self.target_of(forest, raw)[:, None]

    def strata(self, y):
        """Labels by which rows are split evenly; None without labels."""
        return None

    def observed(self, target):
        """Encoded targets of a shard with y and without predictions of the model."""
        return {"answers": target, "labels": target}

    def moments(self, target, weight):
        """What is stored of y in the training rows: mean and standard deviation."""
        mean = np.average(target, weights=weight)
        square = np.average((target - mean) ** 2, weights=weight)
        return np.array([mean, np.sqrt(square)])

    def spread(self, target, weight):
        """Standard deviation of the target; 0 for labels."""
        return float(self.moments(target, weight)[1])

    def answer_moments(self, answers, weight):
        """The Moments of predicted numbers; empty for labels."""
        return Moments.of(answers, weight)

    def search_target(self, target):
        """The target on the scale on which the search measures squares."""
        return self.indicators(target)

    # Checks

    def check(self, y):
        """The numbers as float64; rejected if some are not finite."""
        try:
            y = np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"y must be numeric for a {self.task}.") from None
        if not np.isfinite(y).all():
            raise ValueError(
                "Input y contains NaN or infinity; finite numbers are needed."
            )
        return y

    def has_known(self, y):
        """Whether any of the values of y can be predicted."""
        return True

    def check_known(self, y):
        """Reject y if no label can be predicted, such as labels of another type."""

    def check_labels(self):
        """Reject labels that cannot be classes."""

    def check_outputs(self, n_outputs):
        """Reject a number of outputs of trees that does not fit the outcome."""

    def check_answers(self, answers):
        """Reject predictions of a model that rules cannot imitate."""

    def check_rule(self, rule, is_averaged=False):
        """Reject a rule that predicts no finite number, or has class shares."""
        if not (_is_number(rule.prediction) and math.isfinite(rule.prediction)):
            raise ValueError(
                f"A rule must predict a finite number; got {shown(rule.prediction)}."
            )
        if rule.rates is not None or rule.distribution is not None:
            raise ValueError("rates and distribution are for classes, not for numbers.")
        for name in ("model_mean", "alone"):
            value = getattr(rule, name)
            if value is not None and not _is_number(value):
                raise ValueError(f"{name} of a number must be a number; got {value!r}.")

    def check_intervals(self, residuals, rate_bands):
        """Reject what a RuleModel keeps for intervals if it is not of this y."""
        if rate_bands is not None:
            raise ValueError("rate_bands are for classes; these rules predict numbers.")

    def with_probability(self, rule, probability):
        """A rule with another probability of what it predicts."""
        raise ValueError("probability is for rules that predict a class.")

    def with_answer(self, rule, answer):
        """A rule with another prediction, whose error is not known."""
        if not is_finite(answer):
            raise ValueError(
                f"These rules predict finite numbers; got {answer!r}. Give a number."
            )
        return dataclasses.replace(
            rule, prediction=float(answer), error=math.nan, spread=None
        )

    def read_answer(self, text):
        """What `with_answer` takes, from a text such as "131,900"."""
        try:
            return float(text.replace(",", ""))
        except ValueError:
            raise ValueError(f"A number must be predicted; got {text!r}.") from None

    # Errors and measures

    def losses(self, expected, predicted):
        """The loss of each row."""
        raise NotImplementedError

    def fidelity(self, answers, predicted, sample_weight=None):
        """How well rules imitate the model's predictions; 1 if they are equal."""
        raise NotImplementedError

    def fidelity_of_loss(self, loss, variance, largest):
        """The same from a mean loss and the variance of predictions up to `largest`."""
        raise NotImplementedError

    def constant_loss(self, target, weight):
        """A function of rows: the sum of losses if all get the best one prediction."""
        raise NotImplementedError

    def best_constants(self, group, target, weight, n_groups):
        """The encoded prediction with the smallest loss in each group of rows."""
        raise NotImplementedError

    def nats(self, target, weight, reported):
        """Negative log-likelihood of the encoded y, given what rules report."""
        mean = max(self.error(target, reported[:, 0], weight), 1e-300)
        return 0.5 * weight.sum() * math.log(mean)

    def error(self, expected, predicted, sample_weight=None):
        """Mean loss: share of wrong classes, or mean squared error."""
        return float(
            np.average(self.losses(expected, predicted), weights=sample_weight)
        )

    def measures(self, scores=None):
        """The measures of this outcome; with `scores` those that these suffice for."""
        has_probabilities = scores is None or scores.has_probabilities
        return [
            measure
            for measure in self.all_measures
            if has_probabilities or not measure.needs_probabilities
        ]

    def measured(self, scores):
        """From name to value, the measures of some scores."""
        return {measure.name: measure.of(scores) for measure in self.measures(scores)}

    def measure(self, y, answers, weight=None, probabilities=None, costs=None):
        """From name to value, the measures of predictions against y."""
        weight = np.ones(len(y)) if weight is None else weight
        columns = self.encode_any(y), weight, self.encode_any(answers), probabilities
        return self.measured(self.scores.of(self, *columns, costs))

    def shown_measures(self, there=None, *, narrow=False, also=None, has_costs=True):
        """From name to heading, the measures that a table shows.

        `there` has the names that were measured, all by default. A narrow table shows
        those with a short heading, and the one named by `also`. Without costs the
        expected cost is the error, so it is left out.
        """
        shown = {}
        for measure in self.measures():
            heading = measure.head if narrow else measure.label
            if measure.name == also:
                heading = heading or measure.label
            is_there = there is None or measure.name in there
            is_the_error = measure.name == "expected_cost" and not has_costs
            if heading and is_there and not is_the_error:
                shown[measure.name] = heading
        if self.has_own_error or not shown:
            shown = {"error": self.error_name, **shown}
        return shown

    def shown_error(self, error):
        """An error in the units in which it is printed."""
        return error

    def shown_deviation(self, error, deviation):
        """The standard error of a shown error, from that of the error."""
        return deviation

    def agreement(self, one, two):
        """How much of the variance of two predictions is common, from 0 to 1."""
        variance = (one.var() + two.var()) / 2
        distance = ((one - two) ** 2).mean()
        return float(max(0.0, 1 - distance / variance)) if variance else 1.0

    def change_measures(self, before, after, y=None):
        """From name to value, how far two predictions of each row are apart.

        For classes with y, the number of rows that are newly right (`n_mended`) and
        newly wrong (`n_broken`).
        """
        if not len(before):
            return {}
        return {"mean_change": float(np.abs(before - after).mean())}

    def moves(self, before, after):
        """From which class to which predictions went, and in how many rows."""
        return ()

    def is_same_answer(self, one, other):
        """Whether two predictions are of one kind: equal labels, or any two numbers."""
        return True

    def without_share(self, rules):
        """The labels that no rule gives any probability."""
        return ()

    # Calibration

    def reported(self, rules, held):
        """What rules that match rows report: probabilities, or a number."""
        return rules._predict(held)[:, None]

    def reported_label(self, rule):
        """The label whose rate a rule reports, as an entry of a table row."""
        return {}

    def rate_index(self, rule):
        """The column of `indicators` whose rate or mean a rule reports."""
        return 0

    def observed_interval(self, observed, variance, weight):
        """An observed mean, and the ends of its 95 % interval."""
        half = QUANTILE * math.sqrt(variance / weight)
        return observed, observed - half, observed + half

    # What a rule predicts and reports, from the sums of its rows

    def reported_means(self, means):
        """The means of the columns of `indicators`, as a rule reports them."""
        return means[0]

    def estimated_prediction(self, sums, k, decision, worth=1.0):
        """Prediction of the rule k from the RuleSums of its rows, as fields of a Rule.

        It is the mean of y, shrunk towards the overall mean where one rule predicts
        each row; without y it is the mean of the model. Each row counts as `worth`
        rows drawn after the model was trained.
        """
        if sums.labels is not None and sums.patterns is None:
            mean = sums.labels.shrunk_mean(k, worth)
            return sums.labels.answer(self, mean, sums.labels.spread)
        target = sums.target if sums.labels is None else sums.labels
        basis = target.basis(k if target.weight[k] else None)
        return target.answer(self, basis, target.spread)

    def ordered_value(self, prediction, distribution):
        """The number by which predictions are ordered."""
        return prediction

    def of_ordered_value(self, value, decision):
        """What a rule with this `ordered_value` predicts, as entries of it."""
        return {"prediction": value}

    # Points, whose sum is the prediction

    def fit_points(self, held, weight, sums):
        """Points by patterns of rules, from sums of `indicators`; see `points`."""
        raise NotImplementedError

    def scorecard(self, held, weight, sums, points):
        """Whole points instead of the exact ones of `fit_points`."""
        raise NotImplementedError

    def points_digits(self, spread):
        """Digits after the point of points: to a thousandth of the target's spread."""
        return 3 - math.floor(math.log10(spread)) if spread > 0 else 12

    def linked(self, values):
        """Predictions from sums of points, (n_samples, n_points)."""
        return values

    def decide_points(self, values, threshold=None, costs=None):
        """Predictions from sums of points, (n_samples, n_points)."""
        return self.linked(values)[:, 0]

    def points_text(self, points):
        """Points as text."""
        return render.signed(points[0])

    def sum_text(self, unit, origin):
        """What a sum of points stands for."""
        if unit == 1.0 and origin == 0.0:
            return "the prediction"
        if origin == 0.0:
            return f"multiplied by {render.grouped(unit)} to give the prediction"
        return (
            f"{render.grouped(origin)} for a prediction of 0, and each further point "
            f"adds {render.grouped(unit)}"
        )

    # Texts

    def answer_text(self, answer):
        """A prediction as text, exactly as it is predicted."""
        return render.grouped(answer)

    @property
    def target_text(self):
        """What is predicted, in a sentence."""
        return "a number"

    def label_text(self, answer):
        """A prediction within a sentence."""
        return self.answer_text(answer)

    def short_text(self, answer):
        """A prediction as text where room is scarce."""
        return render.rounded(answer)

    def answer_of_points_text(self, answer):
        """A prediction as text that followed from points."""
        # The sum of exact points has digits that nobody wrote down.
        return render.rounded(answer, 9)

    def statistic_text(self, value):
        """A mean or rate of y as text."""
        return render.rounded(value)

    def gap_text(self, gap):
        """How far two means or rates are apart, as text."""
        return render.rounded(gap)

    def measure_text(self, value):
        """A measure as text."""
        return render.rounded(value)

    def outputs_text(self, rule):
        """What a rule contributes to a mean, as text."""
        return self.answer_text(rule.prediction)

    def cell_value(self, answer):
        """A prediction as a cell of a table."""
        return float(answer)

    def cells(self, rule):
        """The statistics of y that a rule reports, as cells of a table."""
        low, high = rule.quantiles or (None, None)
        return {
            "10 % quantile": low,
            "90 % quantile": high,
            "model": rule.model_mean,
        }

    def error_text(self, error):
        """An error as text, in the units in which it is printed."""
        return render.rounded(self.shown_error(error))

    def error_phrase(self, error):
        """An error as text with its name."""
        return f"{self.error_name} {self.error_text(error)}"

    def evidence_text(self, error):
        """How close a rule is to what it imitates, as text."""
        return self.error_phrase(error)

    def closeness_text(self, error):
        """The same under the title `closeness_name`."""
        return self.error_text(error)

    def is_error_of_y(self, rules):
        """Whether the errors of rules follow from their rates."""
        return False

    def estimate(self, rule):
        """Statistics of y that a rule reports, as entries of `RuleModel.rows`."""
        return {}

    def estimate_text(self, rule):
        """The same as text; empty if they were not measured."""
        return ""

    def estimate_columns(self, rules):
        """The same as columns of a table: from title to texts, one per rule."""
        return {}

    def detail_columns(self, rules):
        """Further statistics for `RuleModel.table(details=True)`, as columns."""
        return {}

    def rate_title(self, rule=None):
        """Heading of the estimates of a rule, or of all rules."""
        return self.then_title

    def contribution(self, rule):
        """What a rule contributes to a mean, as an entry of a table by its title."""
        return {self.then_title: self.answer_text(rule.prediction)}

    def differs_alone(self, rule):
        """Whether the estimate of a rule depends on the rules before it."""
        return False

    def alone_text(self, rule):
        """The rate or mean of all rows that match a rule of a list.

        Empty if it is unknown or the same as that of the rows that it predicts.
        """
        return ""

    def basis_text(self, rule, probabilities, interval=None):
        """Estimate, interval and rows behind a prediction; empty if not measured."""
        return ""

    @staticmethod
    def _is_first(rule):
        """Whether no rule before it takes any row that it matches, as far as known."""
        return rule.alone is None or rule.coverage <= rule.share * (1 + 1e-9)


def _is_number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
