"""Classes as the outcome."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from defragtrees.outcomes.decision import make_decision
from defragtrees.outcomes.measures import ClassScores
from defragtrees.outcomes.points import ClassPoints
from defragtrees.outcomes.sums import ClassSums
from defragtrees.outcomes.wording import ClassWording


@dataclass(frozen=True)
class Classes(ClassPoints, ClassWording):
    """One of several labels.

    Parameters
    ----------
    labels : tuple
        The classes, in the order of class numbers. Checks of y and losses do without.
    shown : tuple of (str or None), optional
        What they are called where people read.
    pos_label : object, optional
        Of two classes the one that is told; the second if it is None.
    """

    labels: tuple[Any, ...] = ()
    shown: tuple[str | None, ...] | None = field(default=None, repr=False)
    pos_label: Any = field(default=None, repr=False)

    task: ClassVar[str] = "classification"
    error_name: ClassVar[str] = "error"
    error_meaning: ClassVar[str] = "the share of rows with a wrong answer"
    fidelity_meaning: ClassVar[str] = (
        "the share of rows on which rules and ensemble say the same"
    )
    estimator_suffix: ClassVar[str] = "Classifier"
    sums: ClassVar[type] = ClassSums  # what rows say of rules
    scores: ClassVar[type] = ClassScores  # what answers are worth
    error_digits: ClassVar[int] = 12  # of an error that is added up from parts

    @classmethod
    def of(cls, classes=None, shown=None, pos_label=None):
        """The outcome with these labels."""
        return cls(tuple(classes or ()), shown, pos_label)

    @property
    def told_number(self):
        """Of two classes, the number of the one that is told."""
        return 1 if self.pos_label is None else self.labels.index(self.pos_label)

    @property
    def told_class(self):
        """Of two classes, the one that is told."""
        return self.labels[self.told_number]

    def told_threshold(self, threshold):
        """From which probability on the told class is answered.

        A threshold is stored as that of the second class.
        """
        return threshold if self.told_number == 1 else round(1.0 - threshold, 12)

    def check(self, y):
        """The labels; refused where some are missing or look like measurements."""
        if y.dtype.kind == "O" and any(label is None or label != label for label in y):
            raise ValueError(
                "Input y contains missing values; class labels are needed. Leave out "
                "rows without one."
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

    def encode(self, y):
        """Class numbers of checked labels, all of which the ensemble must know."""
        numbers = self.encode_any(y)
        if (numbers < 0).any():
            unknown = np.unique(np.asarray(y)[numbers < 0]).tolist()
            raise ValueError(
                f"y has labels that the ensemble does not know: {unknown[:5]!r}; it "
                f"knows {list(self.labels)[:5]!r}. Give y as the ensemble was trained "
                "on; class_labels says what its classes are called."
            )
        return numbers

    def check_labels(self):
        """Raise for classes that are not distinct."""
        if len(set(self.labels)) != self.n_classes:
            raise ValueError(
                f"Classes must differ from each other; got {list(self.labels)}."
            )

    def check_outputs(self, n_outputs):
        """Raise for a number of outputs of trees that cannot stand for the classes."""
        allowed = {self.n_classes} | ({1} if self.n_classes == 2 else set())
        if n_outputs not in allowed:
            raise ValueError(
                f"{n_outputs} outputs do not fit the classes {self.labels}."
            )

    def check_rule(self, rule, is_averaged=False):
        """Refuse a rule that answers no class, or has no shares to be averaged."""
        if rule.prediction not in self.labels:
            raise ValueError(
                f"A rule must answer one of {self.labels[:5]!r}; got "
                f"{rule.prediction!r}."
            )
        if rule.distribution is None and is_averaged:
            raise ValueError("Rules that are averaged need their class shares.")
        for shares in (rule.distribution, rule.rates, rule.ensemble_mean, rule.alone):
            if shares is not None and np.shape(shares) != (self.n_classes,):
                raise ValueError("A rule must have one share for each class.")
        if rule.quantiles is not None:
            raise ValueError("quantiles are for numbers; these rules answer classes.")

    def target_of(self, forest, raw):
        """Class numbers from the combined outputs of a forest's trees."""
        if not isinstance(forest.link, str):
            return forest.link.class_index(raw)
        if raw.shape[1] == 1 and self.n_classes == 2:
            border = 0.5 if forest.link == "identity" else 0.0
            score = raw[:, 0] - border
            return (score >= 0 if forest.ties == "last" else score > 0).astype(int)
        return raw.argmax(axis=1)

    def probabilities_of(self, forest, raw):
        """Class probabilities from the combined outputs of a forest's trees."""
        linked = forest.linked(raw)
        if linked.shape[1] == 1 and self.n_classes == 2:
            return np.hstack([1 - linked, linked])
        return linked

    def strata(self, y):
        """The labels: each class is split evenly."""
        return y

    def observed(self, target):
        """Targets of a shard for rows of which only y is known, encoded."""
        return {**super().observed(target), "probabilities": self.indicators(target)}

    def moments(self, target, weight):
        """The weight of each class."""
        return np.bincount(target, weight, self.n_classes)

    def losses(self, expected, predicted):
        """For each row 1 if the class is wrong, else 0."""
        return (np.ravel(expected) != np.ravel(predicted)).astype(np.float64)

    def fidelity(self, answers, predicted, sample_weight=None):
        """Share of rows with the ensemble's class."""
        return 1.0 - self.error(answers, predicted, sample_weight)

    def constant_loss(self, target, weight):
        """A function of rows: the weight of wrong classes if all get one answer."""

        def loss(rows):
            counts = np.bincount(target[rows], weight[rows], self.n_classes)
            return float(counts.sum() - counts.max())

        return loss

    def best_constants(self, group, target, weight, n_groups):
        """The class number that errs least in each group of rows."""
        counts = np.zeros((n_groups, self.n_classes))
        np.add.at(counts, (group, target), weight)
        return counts.argmax(axis=1)

    def indicators(self, target):
        """Class numbers as shares, (n_samples, n_classes)."""
        return np.eye(self.n_classes)[target]

    def fidelity_of_loss(self, loss, variance, largest):
        """Fidelity from a mean loss; the ensemble's variance is for numbers."""
        return 1.0 - loss

    def outputs(self, rule):
        """What a rule brings into a mean: its class shares."""
        return rule.distribution

    def decide(self, outputs, threshold=None, costs=None):
        """Answers from means of outputs, (n_samples, n_outputs); see RuleModel."""
        if threshold is None and costs is None:
            return self.decode(outputs.argmax(axis=1))
        return self.decode(self.decision(threshold, costs).choose(outputs))

    def search_target(self, probabilities):
        """Probabilities on a scale on which their noise is even, (n_samples, n).

        The angle whose squared sine is the probability; for more than two classes
        their square roots, whose distance is Hellinger's. So 1 and 3 % are as far apart
        as 45 and 52 %, as they are for who looks for the rare.
        """
        probabilities = np.clip(probabilities, 0.0, 1.0)
        if self.n_classes == 2:
            return np.arcsin(np.sqrt(probabilities[:, 1:]))
        return np.sqrt(probabilities)

    def decision(self, threshold=None, costs=None):
        """From probabilities to a class, by what a RuleModel has stored of it."""
        return make_decision(self.labels, None, threshold=threshold, costs=costs)

    def without_share(self, rules):
        """The classes to which no rule gives any share."""
        shares = np.array([rule.distribution for rule in rules])
        return tuple(
            label
            for label, share in zip(self.labels, shares.max(axis=0), strict=True)
            if share <= 0
        )
