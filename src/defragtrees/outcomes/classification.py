"""Classification: labels, their rates and probabilities, and how they are measured."""

import dataclasses
import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy  # whose modules are imported on first use

from defragtrees._utils.values import KEPT, Added, all_rounded, is_finite
from defragtrees.outcomes.base import Outcome
from defragtrees.outcomes.decision import make_decision
from defragtrees.outcomes.intervals import QUANTILE, wilson_interval
from defragtrees.outcomes.measures import Measure, RankedWeights, per_row
from defragtrees.outcomes.points import (
    LINKS,
    PRIOR_ROWS,
    calibrated,
    fit_linked,
    fit_shares,
    short_unit,
    whole_linked,
    whole_points,
)
from defragtrees.outcomes.tests import Change, same_shares_p
from defragtrees.outcomes.text import ClassView, NumberView

LEAST_SHARE = 1e-6  # that a class is given, as its logarithm is taken
SLACK = 0.01  # by which probabilities written by hand may miss a sum of 1
# Rows that each rule is given at the rate of all rows, whatever the data: with one
# no class is ever impossible; with more than z² of a 95% interval the estimate might
# lie outside Wilson's interval, whose middle is shrunk by as much.
LEAST_PRIOR, MOST_PRIOR = 1.0, QUANTILE**2


@dataclass(frozen=True, eq=False)
class ClassSums(Added):
    """The weight of each class in groups of rows, one per rule; sums can be added."""

    classes: np.ndarray  # (n_groups, n_classes)
    spread = 0.0  # of the target in all rows; classes have none

    @classmethod
    def of(cls, outcome, target, sample_weight, group, predictions):
        """The sums of some rows; `predictions` are those of the groups so far."""
        shape = (len(predictions), outcome.n_classes)
        index = group * outcome.n_classes + target
        counts = np.bincount(index, sample_weight, shape[0] * shape[1])
        return cls(counts.reshape(shape))

    @classmethod
    def of_group(cls, outcome, target, sample_weight):
        """The sums of the rows of one group, whose rule has no prediction yet."""
        return cls(np.bincount(target, sample_weight, outcome.n_classes)[None])

    @property
    def weight(self):
        """The weight of each group."""
        return self.classes.sum(axis=1)

    def basis(self, k=None):
        """Class weights of a group, or of all rows, from which `predicted` follows."""
        return self.classes.sum(axis=0) if k is None else self.classes[k]

    @staticmethod
    def predicted(outcome, basis, spread):
        """The prediction that follows from class weights, as entries of a Rule."""
        shares = (basis / basis.sum()).tolist()
        best = int(np.argmax(shares))
        return {"prediction": outcome.labels[best], "distribution": tuple(shares)}

    @property
    def prior_rows(self):
        """How many rows with the rates of all rows each group is given.

        As many as make the rates err least if those of groups differ as they do: the
        variance within groups, in units of that between them; and one more, but not so
        many that the estimate leaves its interval.
        """
        weight = self.weight[self.weight > 0]
        rates = self.classes[self.weight > 0] / weight[:, None]
        every = weight @ rates / weight.sum()
        within = weight @ (rates * (1 - rates)).sum(axis=1)
        between = weight @ ((rates - every) ** 2).sum(axis=1)
        if within >= MOST_PRIOR * between:
            return MOST_PRIOR
        return min(LEAST_PRIOR + within / between, MOST_PRIOR)

    def shrunk_rates(self, k, every=None, worth=1.0):
        """Class rates of a group, as if `prior_rows` more rows had those of all.

        `every` are the class weights of all rows, where groups overlap; a row counts as
        `worth` rows.
        """
        every = self.classes.sum(axis=0) if every is None else every
        shrunk = worth * self.classes[k] + self.prior_rows * every / every.sum()
        return shrunk / shrunk.sum()

    @staticmethod
    def measured(target, labels):
        """The sums from which errors are computed: those of what rules imitate."""
        return target

    def evidence(self, k):
        """Statistics of y in a group, as entries of a Rule."""
        weight = self.classes[k].sum()
        return {"rates": self.classes[k] / weight if weight else None}

    def error(self, k, outcome, prediction):
        """How often a prediction is wrong in a group, as entries of a Rule."""
        weight = self.classes[k].sum()
        if not weight:
            return {"error": math.nan}
        right = self.classes[k, outcome.labels.index(prediction)]
        return {"error": float((weight - right) / weight)}

    def smoothed_error(self, k, spread):
        """Error of the best prediction for a group, shrunk towards that of all rows."""
        weight = self.classes[k].sum()
        return (weight - self.classes[k].max() + 1) / (weight + 2)


@dataclass(frozen=True, eq=False)
class ClassScores(Added):
    """Predictions and probabilities of classes against y; scores can be added.

    Rows of a class that is not among the labels are left out.
    """

    confusion: np.ndarray  # weight of the rows of each class, by the predicted class
    # of each mistake, in the same order
    costs: np.ndarray = field(metadata=KEPT)
    log_loss: float | None = None  # a sum over the rows, as is brier
    brier: float | None = None
    # of the positive class, or one for each
    rankings: list[RankedWeights] | None = None
    positive_index: int = field(default=1, metadata=KEPT)

    @classmethod
    def of(cls, outcome, expected, weight, predictions, probabilities=None, costs=None):
        """The scores of some rows.

        `expected` and `predictions` are class numbers, -1 for a class of no number.
        """
        n_classes, positive = outcome.n_classes, outcome.positive_index
        costs = 1.0 - np.eye(n_classes) if costs is None else costs
        kept = (np.asarray(expected) >= 0) & (np.asarray(predictions) >= 0)
        expected, weight = expected[kept].astype(np.intp), weight[kept]
        cells = expected * n_classes + predictions[kept]
        confusion = np.bincount(cells, weight, n_classes**2)
        confusion = confusion.reshape(n_classes, n_classes)
        if probabilities is None:
            return cls(confusion, costs, positive_index=positive)
        # Of float32 the rest to one has more digits than what is near one.
        is_short = outcome.is_binary and probabilities.dtype == np.float32
        likely = np.asarray(probabilities, dtype=np.float64)[kept]
        if is_short:
            second = likely[:, 1]
            likely[:, 1] = np.where(second < 0.5, second, 1.0 - likely[:, 0])
        true = likely[np.arange(len(likely)), expected]
        # As in scikit-learn: a probability of 0 for the true class costs a finite
        # amount, and of two classes one is enough for the Brier score.
        least = np.finfo(np.float64).eps
        log_loss = float(-weight @ np.log(np.clip(true, least, 1.0 - least)))
        squares = (likely**2).sum(axis=1) - 2 * true + 1.0
        brier = float(weight @ squares) * (0.5 if outcome.is_binary else 1.0)
        ranked = [positive] if outcome.is_binary else range(n_classes)
        rankings = [
            RankedWeights.of(
                likely[:, c], weight * (expected != c), weight * (expected == c)
            )
            for c in ranked
        ]
        return cls(confusion, costs, log_loss, brier, rankings, positive)

    @property
    def weight(self):
        """The weight of the rows."""
        return float(self.confusion.sum())

    @property
    def has_probabilities(self):
        """Whether more than predictions was given."""
        return self.log_loss is not None

    def precision(self):
        """Precision of the positive class, or its mean over more than two classes.

        It is 0 for a class that is never predicted. A class that is neither in y nor
        predicted does not count.
        """
        given, true = self.confusion.sum(axis=0), self.confusion.sum(axis=1)
        return self._share_right(np.where(given > 0, given, true))

    def recall(self):
        """Recall of the positive class, or its mean over the classes in y."""
        return self._share_right(self.confusion.sum(axis=1))

    def auc(self):
        """AUC of the positive class, or its mean over more than two classes."""
        return _mean_known([ranking.auc() for ranking in self.rankings])

    def auc_interval(self):
        """95% interval of the AUC of the positive class; NaN for more than two."""
        many = len(self.rankings) != 1
        return (np.nan, np.nan) if many else self.rankings[0].auc_interval()

    def ks(self):
        """KS of the positive class, or its mean over more than two classes."""
        return _mean_known([ranking.ks() for ranking in self.rankings])

    def average_precision(self):
        """Average precision of the positive class, or its mean over more."""
        return _mean_known([one.average_precision() for one in self.rankings])

    def expected_cost(self):
        """Mean cost of the predictions."""
        return (self.confusion * self.costs).sum() / self.weight

    def _share_right(self, totals):
        """What is right of each class, divided by these totals; NaN where that is 0."""
        shares = np.full(len(totals), np.nan)
        np.divide(np.diagonal(self.confusion), totals, out=shares, where=totals > 0)
        return shares[self.positive_index] if len(totals) == 2 else _mean_known(shares)


def _mean_known(values):
    values = np.asarray(values, dtype=np.float64)
    known = values[~np.isnan(values)]
    return known.mean() if len(known) else np.nan


_likely = partial(Measure, needs_probabilities=True)
_of_card = partial(_likely, is_larger_better=True, is_of_card=True)
MEASURES = (
    _likely("auc", "AUC", True, ClassScores.auc, head="AUC"),
    _of_card("auc_low", "AUC, 95% from", formula=lambda one: one.auc_interval()[0]),
    _of_card("auc_high", "AUC, 95% to", formula=lambda one: one.auc_interval()[1]),
    _of_card("gini", "Gini", formula=lambda scores: 2 * scores.auc() - 1),
    _of_card("ks", "KS", formula=ClassScores.ks),
    _likely(
        "average_precision",
        "average precision",
        True,
        ClassScores.average_precision,
        is_of_class=True,
    ),
    _likely("log_loss", "log loss", False, per_row("log_loss"), head="log loss"),
    _likely("brier", "Brier score", False, per_row("brier")),
    Measure("precision", "precision", True, ClassScores.precision, is_of_class=True),
    Measure("recall", "recall", True, ClassScores.recall, is_of_class=True),
    Measure("expected_cost", "expected cost", False, ClassScores.expected_cost),
)


@dataclass(frozen=True)
class Classes(Outcome):
    """One of several labels.

    A rate is the share of a class in y among the rows of a rule; a probability is what
    `predict_proba` gives. Of two classes a rule reports the rate of the positive one,
    whatever it predicts; of more that of the class it predicts.
    """

    # in the order of class numbers; checks of y and losses do without
    labels: tuple[Any, ...] = ()
    # names for readers
    shown: tuple[str | None, ...] | None = field(default=None, repr=False)
    pos_label: Any = field(default=None, repr=False)  # of two; None: the second

    task: ClassVar[str] = "classification"
    estimator_suffix: ClassVar[str] = "Classifier"
    sums: ClassVar[type] = ClassSums
    scores: ClassVar[type] = ClassScores
    all_measures: ClassVar[tuple[Measure, ...]] = MEASURES
    statistic: ClassVar[str] = "rates"
    has_probabilities: ClassVar[bool] = True
    keeps_rates: ClassVar[bool] = True
    error_name: ClassVar[str] = "error"
    error_is_share: ClassVar[bool] = True
    error_digits: ClassVar[int] = 12
    view_class: ClassVar[type[NumberView]] = ClassView

    @classmethod
    def of(cls, classes=None, shown=None, pos_label=None):
        return cls(tuple(classes or ()), shown, pos_label)

    @property
    def is_binary(self):
        """Whether there are two classes."""
        return len(self.labels) == 2

    @property
    def link(self):
        """From sums of points to probabilities."""
        return "logit" if self.is_binary else "softmax"

    @property
    def positive_index(self):
        """The number of the positive class, of two."""
        return 1 if self.pos_label is None else self.labels.index(self.pos_label)

    @property
    def positive_class(self):
        """The class, of two, whose rate is reported."""
        return self.labels[self.positive_index]

    # y and predictions as arrays

    @property
    def dtype(self):
        return np.asarray(self.labels).dtype

    def encode(self, y):
        """Class numbers of checked labels; the model must know them all."""
        numbers = self.encode_any(y)
        if (numbers < 0).any():
            unknown = np.unique(np.asarray(y)[numbers < 0]).tolist()
            raise ValueError(
                f"y has labels that the model does not know: {unknown[:5]!r}; it "
                f"knows {list(self.labels)[:5]!r}. Give y as the model was trained "
                "on; class_labels sets the names of its classes."
            )
        return numbers

    def encode_any(self, y):
        """Class numbers; -1 for a label that is no class."""
        labels, inverse = np.unique(y, return_inverse=True)
        position = {label: i for i, label in enumerate(self.labels)}
        places = [position.get(label, -1) for label in labels.tolist()]
        return np.array(places, dtype=np.intp)[inverse]

    def compact(self, encoded):
        return encoded.astype(np.min_scalar_type(self.n_classes - 1))

    def decode(self, encoded):
        """Labels from class numbers."""
        return np.asarray(self.labels)[encoded]

    def is_known(self, encoded):
        """Which rows have a label that is a class."""
        return encoded >= 0

    def indicators(self, target):
        """Class numbers as shares, (n_samples, n_classes)."""
        return np.eye(self.n_classes)[target]

    @property
    def output_names(self):
        """The classes, as in a sentence."""
        return [self.view.label(label) for label in self.labels]

    def outputs(self, rule):
        """What a rule contributes to a mean: its class shares."""
        return rule.distribution

    def decide(self, outputs, threshold=None, costs=None):
        """Labels from means of shares, (n_samples, n_classes); see RuleModel."""
        if threshold is None and costs is None:
            return self.decode(outputs.argmax(axis=1))
        return self.decode(self.decision(threshold, costs).choose(outputs))

    def decision(self, threshold=None, costs=None, rates=None, class_weight=None):
        """From probabilities to a class, by what a RuleModel has stored of it.

        `rates` are those of the classes, for "balanced" weights.
        """
        return make_decision(self.labels, rates, class_weight, costs, threshold)

    def target_of(self, forest, raw):
        if not isinstance(forest.link, str):
            return forest.link.class_index(raw)
        if raw.shape[1] == 1 and self.is_binary:
            border = 0.5 if forest.link == "identity" else 0.0
            score = raw[:, 0] - border
            return (score >= 0 if forest.ties == "last" else score > 0).astype(int)
        return raw.argmax(axis=1)

    def probabilities_of(self, forest, raw):
        linked = forest.linked(raw)
        if linked.shape[1] == 1 and self.is_binary:
            return np.hstack([1 - linked, linked])
        return linked

    def expected_auc(self, likely, reported):
        """AUC of reported probabilities where `likely` are the true ones."""
        n_rows, n_classes = likely.shape
        labels = np.repeat(np.arange(n_classes), n_rows)
        scores = ClassScores.of(
            self, labels, likely.T.ravel(), labels, np.tile(reported, (n_classes, 1))
        )
        return scores.auc()

    @property
    def n_moments(self):
        """How many numbers `moments` gives: one for each class."""
        return self.n_classes

    def moments(self, target, weight):
        return np.bincount(target, weight, self.n_classes)

    def corrected(self, outputs, change):
        """Probabilities plus a change, that of the second of two classes."""
        if self.is_binary:
            change = np.hstack([-change, change])
        shares = np.clip(outputs + change, LEAST_SHARE, 1.0)
        return shares / shares.sum(axis=1, keepdims=True)

    def search_target(self, probabilities):
        """Probabilities on a scale on which their noise is even, (n_samples, n).

        The angle whose squared sine is the probability; for more than two classes
        their square roots, whose distance is Hellinger's. So 1 and 3% are as far apart
        as 45 and 52%, which suits a search for rare classes.
        """
        probabilities = np.clip(probabilities, 0.0, 1.0)
        if self.is_binary:
            return np.arcsin(np.sqrt(probabilities[:, 1:]))
        return np.sqrt(probabilities)

    # Checks

    def check(self, y):
        """The labels; rejected if some are missing or look like measurements."""
        if y.dtype.kind == "O" and any(label is None or label != label for label in y):
            raise ValueError(
                "Input y contains missing values; class labels are needed. Leave out "
                "rows without one."
            )
        if y.dtype.kind == "O" and len({isinstance(label, str) for label in y}) > 1:
            raise ValueError(
                "Unknown label type: y must hold texts or numbers, not both. Turn all "
                "labels into one of them."
            )
        if y.dtype.kind == "f":
            if not np.isfinite(y).all():
                raise ValueError(
                    "Input y contains NaN or infinity; class labels are needed."
                )
            if (y != np.floor(y)).any():
                raise ValueError(
                    "Unknown label type: continuous. Maybe you are trying to fit a "
                    "classifier to numbers; use the regressor."
                )
        return y

    def has_known(self, y):
        # A class that training did not have is no mistake: the rules are wrong there.
        return bool(set(self.labels).intersection(np.unique(y).tolist()))

    def check_outputs(self, n_outputs):
        allowed = {self.n_classes} | ({1} if self.is_binary else set())
        if n_outputs not in allowed:
            raise ValueError(
                f"{n_outputs} outputs do not fit the classes {self.labels}."
            )

    def check_rule(self, rule, is_averaged=False):
        """Reject a rule that predicts no class, or has no shares to be averaged."""
        if rule.prediction not in self.labels:
            raise ValueError(
                f"A rule must predict one of {self.labels[:5]!r}; got "
                f"{rule.prediction!r}."
            )
        if rule.distribution is None and is_averaged:
            raise ValueError("Rules that are averaged need their class shares.")
        for shares in (rule.distribution, rule.rates, rule.model_mean, rule.alone):
            if shares is not None and np.shape(shares) != (self.n_classes,):
                raise ValueError("A rule must have one share for each class.")
        if rule.distribution is not None and abs(sum(rule.distribution) - 1) > SLACK:
            raise ValueError(
                "The probabilities of a distribution must add up to 1; got "
                f"{sum(rule.distribution):g}."
            )
        if rule.quantiles is not None:
            raise ValueError("quantiles are for numbers; these rules predict classes.")

    def with_prediction(self, rule, prediction):
        """A rule with another label, which may be given as its text."""
        labels = {str(label): label for label in self.labels}
        labels |= {self.view.prediction(label): label for label in self.labels}
        known = prediction in self.labels
        label = prediction if known else labels.get(str(prediction))
        if label is None:
            raise ValueError(
                f"These rules predict one of {list(self.labels)[:5]}; got "
                f"{prediction!r}. Take one of them."
            )
        return dataclasses.replace(rule, prediction=label, error=math.nan)

    def with_probability(self, rule, probability):
        """A rule with this probability of its class; the others share the rest."""
        if not (is_finite(probability) and 0 <= probability <= 1):
            raise ValueError(
                f"probability must be a number from 0 to 1; got {probability!r}."
            )
        place = self.labels.index(rule.prediction)
        others = np.array(rule.distribution or np.ones(self.n_classes), np.float64)
        others[place] = 0.0
        if not others.any():
            others = np.ones(self.n_classes) - np.eye(self.n_classes)[place]
        shares = (1 - probability) * others / others.sum()
        shares[place] = probability
        return dataclasses.replace(rule, distribution=tuple(shares.tolist()))

    # Errors

    def losses(self, expected, predicted):
        """For each row 1 if the class is wrong, else 0."""
        return (np.ravel(expected) != np.ravel(predicted)).astype(np.float64)

    def fidelity_of_loss(self, loss, moments):
        return 1.0 - loss

    def constant_loss(self, target, weight):
        """A function of rows: the weight of wrong classes if all get one label."""

        def loss(rows):
            counts = np.bincount(target[rows], weight[rows], self.n_classes)
            return float(counts.sum() - counts.max())

        return loss

    def nats(self, target, weight, reported):
        shares = reported[np.arange(len(target)), target]
        return float(-weight @ np.log(np.maximum(shares, LEAST_SHARE)))

    def agreement(self, one, two):
        """Share of rows with the same label."""
        return float((one == two).mean())

    def change_measures(self, before, after, y=None):
        if y is None:
            return {}
        was_right, is_right = before == y, after == y
        return {
            "n_mended": int((is_right & ~was_right).sum()),
            "n_broken": int((was_right & ~is_right).sum()),
        }

    def moves(self, before, after):
        pairs, counts = np.unique(
            [self.encode(before), self.encode(after)], axis=1, return_counts=True
        )
        names = self.output_names
        return tuple(
            (names[a], names[b], int(n)) for a, b, n in zip(*pairs, counts, strict=True)
        )

    def is_same_prediction(self, one, other):
        return one == other

    def rate_change(self, rule, y, n_then):
        if rule.rates is None:
            return None
        counts, k = self._counts(y), self.rate_index(rule)
        p = same_shares_p([*(n_then * np.array(rule.rates)), 0.0], counts)
        label = self.output_names[k]
        return Change(rule.rates[k], counts[k] / len(y), p, True, label)

    def target_change(self, then, n_then, y):
        """The share of the positive class, or the one that changed most."""
        counts = self._counts(y)
        parts = np.array([then, counts[:-1]], dtype=np.float64)
        before, now = parts / np.maximum(parts.sum(axis=1), 1e-300)[:, None]
        changed_most = int(np.abs(now - before).argmax())
        k = self.positive_index if self.is_binary else changed_most
        p = same_shares_p([*then, 0.0], counts)
        return Change(before[k], now[k], p, True, self.output_names[k])

    def _counts(self, y):
        """Number of rows of each class; the last entry counts other labels."""
        codes = self.encode_any(y)
        counts = np.bincount(codes[codes >= 0], minlength=self.n_classes)
        return np.append(counts, (codes < 0).sum())

    # What a rule predicts and reports of y

    def reported_means(self, means):
        return means

    def estimated_prediction(self, sums, k, decision, worth=1.0):
        """Class shares and the class that follows from them.

        The rates of y among its rows, shrunk towards the overall rates, or without y
        the model's mean probabilities.
        """
        if sums.labels is not None:
            rates = sums.labels.shrunk_rates(k, sums.every, worth)
        else:
            rates = sums.model[k] if sums.target.weight[k] else sums.every
            rates = rates / rates.sum()
        # Rounded first, so that a saved rule chooses the same class.
        rates = all_rounded(rates)
        best = int(decision.choose(np.array([rates]))[0])
        return {"prediction": self.labels[best], "distribution": rates}

    def ordered_value(self, prediction, distribution):
        """The probability of the second of two classes."""
        return distribution[1]

    def of_ordered_value(self, value, decision):
        shares = np.array([1 - value, value])
        place = int(decision.choose(shares[None])[0])
        return {
            "prediction": self.labels[place],
            "distribution": tuple(shares.tolist()),
        }

    def rate_index(self, rule):
        """The class whose rate is reported: of two the positive, else the predicted."""
        if self.is_binary:
            return self.positive_index
        return self.labels.index(rule.prediction)

    def likely(self, form, matches):
        return form.predict_proba(matches) if form.has_probabilities else None

    def reported(self, form, matches):
        """Probabilities, (n_samples, n_classes)."""
        return form.predict_proba(matches)

    def observed_interval(self, observed, variance, n_effective, weight):
        """An observed rate, less the noise of its sum, and the ends of its interval."""
        observed = min(max(round(observed, 12), 0.0), 1.0)
        return observed, *wilson_interval(observed, n_effective)

    def estimate(self, rule):
        """Probability of a class, its observed rate and the interval of the rate.

        `estimate` is the probability, or else the rate.
        """
        k = self.rate_index(rule)

        def entry(values):
            return math.nan if values is None else values[k]

        return {
            "class": self.labels[k],
            "estimate": entry(rule.distribution or rule.rates),
            "probability": entry(rule.distribution),
            "rate": entry(rule.rates),
            "interval": None if rule.interval is None else list(rule.interval[k]),
            "model_mean": entry(rule.model_mean),
            "alone": entry(rule.alone),
        }

    # Points: of two classes the log-odds of the second, of more the logs of all shares

    @property
    def n_points(self):
        """Columns of points: of two classes the second's, else one for each."""
        return 1 if self.is_binary else self.n_classes

    def linked(self, values):
        """Probabilities from sums of points, (n_samples, n_points)."""
        if not self.is_binary:
            return scipy.special.softmax(values, axis=1)
        # The log-odds of the second class, against 0 of the first.
        log_odds = np.hstack([np.zeros_like(values), values])
        second = scipy.special.softmax(log_odds, axis=1)[:, 1:]
        return np.hstack([1.0 - second, second])

    def decide_points(self, values, threshold=None, costs=None):
        """Labels from sums of points, (n_samples, n_points)."""
        if not self.is_binary:
            # Of shares that rounding has made equal the larger sum is still known.
            outputs = values if costs is None else self.linked(values)
            return self.decide(outputs, threshold, costs)
        decision = self.decision(threshold, costs)
        return self.decode(decision.choose_log_odds(values[:, 0]))

    def fit_points(self, matches, weight, sums):
        """Points by patterns of rules, from sums of class shares."""
        drawn = self._prior(weight, sums)
        prior = np.append(np.full(matches.shape[1] - 1, drawn), 0.0)
        if self.is_binary:
            link = LINKS[self.link]
            return fit_linked(link, matches, weight, sums[:, 1:], prior)[0]
        return fit_shares(matches, weight, sums, prior)[0]

    def scorecard(self, matches, weight, sums, points, bound=None):
        """Whole points instead of the exact ones of `fit_points`."""
        prior = self._prior(weight, sums)
        if self.is_binary:
            how = LINKS[self.link], matches, weight, sums[:, 1], points, prior
            return whole_linked(*how, short_unit, bound)

        def nats_of_many(values):
            top = values.max(axis=1)
            scale = top + np.log(np.exp(values - top[:, None]).sum(axis=1))
            return float(weight @ scale - (sums * values).sum())

        slack = 2e-3 * weight.sum()
        how = nats_of_many, prior, slack, short_unit, bound
        return whole_points(matches, points, *how)

    def calibrated(self, card, matches, weight, sums, is_whole):
        if not self.is_binary:
            return card
        card = calibrated(card, matches, weight, sums[:, 1], LINKS[self.link])
        rounded = {"unit": short_unit(card.unit), "origin": round(card.origin, 1)}
        return dataclasses.replace(card, **rounded) if is_whole else card

    @staticmethod
    def _prior(weight, sums):
        """Prior that shrinks points towards zero: rows at the overall rate."""
        rates = sums.sum(axis=0) / weight.sum()
        return PRIOR_ROWS * max(float(np.max(rates * (1 - rates))), 1e-3)
