"""Outcome: what y is, and everything that depends on it; the base of all kinds."""

from typing import Any, ClassVar

import numpy as np

from defragtrees.outcomes.measures import MEASURES


class Wording:
    """What is said of rules; an outcome says it in its own words."""

    error_name: ClassVar[str]
    closeness_name: ClassVar[str]
    interval_name: ClassVar[str] = "interval"

    def shown_error(self, error):
        """An error as it is shown."""
        return error

    def shown_deviation(self, error, deviation):
        """How far a shown error may be off, from how far the error may be."""
        return deviation

    def evidence_text(self, error):
        """How close a rule is to what it imitates, as text."""
        return f"{self.error_name} {self.error_text(error)}"

    def closeness_text(self, error):
        """The same under the title `closeness_name`."""
        return self.error_text(error)

    def is_error_of_y(self, rules):
        """Whether the errors of rules say nothing that their rates do not."""
        return False

    def told(self, rule):
        """What a rule tells besides its answer, as entries of `RuleModel.rows`."""
        return {}

    def told_text(self, rule, with_class=True):
        """The same as text; empty where nobody measured."""
        return ""

    def told_columns(self, rules):
        """The same as columns of a table: from title to texts, one for each rule."""
        return {}

    def differs_alone(self, rule):
        """Whether a rule of a list would tell something else if it stood first."""
        return False

    def alone_text(self, rule):
        """What a rule of a list would tell if it stood first; marked if it differs."""
        return ""

    def basis_text(self, rule, probabilities):
        """How likely an answer is, and how one knows; empty where nobody measured."""
        return ""


class Outcome(Wording):
    """Base of all outcomes.

    An outcome names itself (`task`, `error_name`, `closeness_name`,
    `estimator_suffix`) and has its `labels`, None where there are none. It defines
    `check` for y; `check_rule` for a rule; `target_of` for a forest; `losses`,
    `fidelity`, `constant_loss` and `best_constants`; `indicators`, `outputs` and
    `decide`, from targets and rules to numbers that can be averaged and back;
    `moments` of y; and the texts of a prediction, of an error and of what a rule
    reports besides.
    """

    task: ClassVar[str]
    estimator_suffix: ClassVar[str]
    labels: Any
    has_own_error: ClassVar[bool] = True  # none of `MEASURES` is the same as the error

    @classmethod
    def of(cls, classes=None, shown=None, pos_label=None):
        """The outcome with these labels, if it has any, called so where people read."""
        return cls()

    @property
    def n_classes(self):
        """Number of classes; 0 without labels."""
        return len(self.labels or ())

    @property
    def dtype(self):
        """Of an array of answers."""
        if self.labels is None:
            return np.dtype(np.float64)
        return np.asarray(self.labels).dtype

    @property
    def told_class(self):
        """Of two classes, the one whose rate is reported; None otherwise."""
        return None

    def told_threshold(self, threshold):
        """From which probability on `told_class` is predicted."""
        return threshold

    def label_text(self, answer):
        """A prediction within a sentence."""
        return self.answer_text(answer)

    def encode(self, y):
        """Checked y as the search sees it: class numbers, or numbers as they are."""
        return y

    def encode_any(self, y):
        """`encode` that refuses no label: -1 for one that is no class."""
        if self.labels is None:
            return y
        labels, inverse = np.unique(y, return_inverse=True)
        position = {label: i for i, label in enumerate(self.labels)}
        places = [position.get(label, -1) for label in labels.tolist()]
        return np.array(places, dtype=np.intp)[inverse]

    def decode(self, encoded):
        """Answers from what `encode` gives."""
        return encoded if self.labels is None else np.asarray(self.labels)[encoded]

    def has_known(self, y):
        """Whether any of the labels is a class; numbers are all known."""
        if self.labels is None:
            return True
        return bool(set(self.labels).intersection(np.unique(y).tolist()))

    def check_known(self, y):
        """Refuse labels none of which is a class, as those of another type are."""
        # A class that training did not have is no mistake: the rules are wrong there.
        if not self.has_known(y):
            labels = np.unique(y).tolist()
            raise ValueError(
                f"y must have labels such as {list(self.labels)[:5]!r}; got "
                f"{labels[:5]!r}. Are they of another type?"
            )

    def check_labels(self):
        """Raise for labels that are no classes."""

    def check_outputs(self, n_outputs):
        """Raise for a number of outputs of trees that cannot stand for a prediction."""

    def check_answers(self, answers):
        """Raise for predictions of an ensemble that no rule can imitate."""

    def probabilities_of(self, forest, raw):
        """Class probabilities from the combined outputs of trees; None without."""
        return None

    def strata(self, y):
        """Labels by which rows are split evenly; None where there are none."""
        return None

    def decision(self, threshold=None, costs=None):
        """From probabilities to a class; None where nothing is decided."""
        return None

    def observed(self, target):
        """Targets of a shard for rows of which only y is known, encoded."""
        return {"answers": target, "labels": target}

    def check_scores(self, scores):
        """Refuse scores of a RuleModel by which no interval can be told."""
        raise ValueError("interval_scores are for numbers; these rules answer classes.")

    def without_share(self, rules):
        """The classes to which no rule gives any share; none of numbers."""
        return ()

    def is_same_answer(self, one, other):
        """Whether two answers are of one kind: equal labels, or any two numbers."""
        return self.labels is None or one == other

    def error(self, expected, predicted, sample_weight=None):
        """Mean loss: share of wrong classes, or mean squared error."""
        return float(
            np.average(self.losses(expected, predicted), weights=sample_weight)
        )

    def measures(self, scores=None):
        """Entries of `MEASURES` for this outcome that `scores` are enough for."""
        has_probabilities = scores is None or scores.has_probabilities
        return [
            measure
            for measure in MEASURES.values()
            if measure.task == self.task
            and (has_probabilities or not measure.needs_probabilities)
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
