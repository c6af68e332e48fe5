"""Measures of rules, as sums over rows that can be added."""

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from defragtrees.data.encoding import checked_columns
from defragtrees.outcomes.classification import grouped
from defragtrees.outcomes.decision import cost_matrix
from defragtrees.outcomes.measures import CalibrationSums, Moments, calibrate
from defragtrees.rules.model import RuleModel


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Measures of rules on some rows; those of other rows can be added."""

    weight: float  # of the rows
    sums: dict[str, float]  # weighted sums of measures
    answers: Moments = field(default_factory=Moments)  # of the model's numbers
    # scores against y by the prefix of their names: "" for the rules, "model_"
    scores_by: dict[str, Any] = field(default_factory=dict)
    calibration: CalibrationSums | None = None
    has_known: bool = True  # whether any label is one that the rules can predict

    def __add__(self, other):
        if not self.weight or not other.weight:
            return self if self.weight else other
        calibration = self.calibration
        return Evaluation(
            self.weight + other.weight,
            {name: value + other.sums[name] for name, value in self.sums.items()},
            self.answers + other.answers,
            {
                whose: scores + other.scores_by[whose]
                for whose, scores in self.scores_by.items()
            },
            None if calibration is None else calibration + other.calibration,
            self.has_known or other.has_known,
        )

    @property
    def means(self):
        """The means of the measures."""
        return {name: value / self.weight for name, value in self.sums.items()}

    def scores(self, rules):
        """The result of `Simplifier.evaluate`."""
        outcome, means = rules.outcome, self.means
        if rules.form == "tree":
            means["coverage"] = means["overlap"] = 1.0
        scores = {
            "n_rules": rules.n_rules,
            "n_conditions": rules.n_conditions,
            "mean_conditions": rules._mean_conditions,
        }
        for name, value in means.items():
            if name.endswith("loss"):
                name = name.replace("loss", "fidelity")
                value = outcome.fidelity_of_loss(value, self.answers)
            scores[name] = value
        for whose, parts in self.scores_by.items():
            for measure in outcome.measures(parts):
                scores[f"{whose}{measure.name}"] = measure.of(parts)
        return scores


@dataclass(frozen=True, eq=False)
class PartEvaluator:
    """Compute the Evaluation of a part of the rows; can be pickled."""

    rules: RuleModel
    # from a table and its encoded rows to predictions and probabilities of a model
    predict: Any = None
    # whether to count predictions and true outcomes per rule
    is_by_rule: bool = False

    def __call__(self, part):
        rules, outcome = self.rules, self.rules.outcome
        matrix = rules._encode(part.X)
        y, weight = checked_columns(part, outcome, len(matrix))
        # The labels of one part may all be unknown.
        has_known = y is None or outcome.has_known(y)
        answers = probabilities = None
        if self.predict is not None:
            answers, probabilities = self.predict(part.X, matrix)[:2]
        evaluation = evaluate_encoded(rules, matrix, answers, y, weight, probabilities)
        calibration = None
        if self.is_by_rule and y is not None:
            calibration = calibrate(rules, matrix, y, weight)
        return dataclasses.replace(
            evaluation, has_known=has_known, calibration=calibration
        )


def predict_encoded(forest, X, matrix):
    """Predictions and probabilities of the forest that rules were found in."""
    raw = forest.predict_raw_encoded(matrix)
    return forest.predict_from_raw(raw), forest.outcome.probabilities_of(forest, raw)


def evaluate_encoded(rules, matrix, answers, y=None, weight=None, probabilities=None):
    """The Evaluation of rules on encoded rows; `answers` is None without a model."""
    outcome = rules.outcome
    held = rules._covers(matrix)
    weight = np.ones(len(matrix)) if weight is None else weight
    by_whom = {"": (outcome.encode_any(rules._form.predict(held)), None)}
    if answers is not None:
        answers = outcome.encode_any(answers)
        decided = decided_alike(rules, answers, probabilities)
        by_whom["model_"] = (decided, probabilities)
    labels = None if y is None else outcome.encode_any(y)
    return _evaluation(rules, held, by_whom, answers, labels, weight)


def evaluate_shard(shard, rules, values):
    """The Evaluation of rules on the rows of a shard."""
    targets, held = shard.targets, shard.covered(rules, values)
    answers, probabilities = targets["answers"], targets.get("probabilities")
    by_whom = {
        "": (rules._form.predict_codes(held), None),
        "model_": (decided_alike(rules, answers, probabilities), probabilities),
    }
    labels, weight = targets.get("labels"), shard.sample_weight
    return _evaluation(rules, held, by_whom, answers, labels, weight)


def _evaluation(rules, held, by_whom, answers, labels, weight):
    """The Evaluation of rules on some rows.

    `by_whom` has encoded predictions and probabilities of the rules and of the model,
    if any; `answers` are the predictions of the model, for fidelity; None without one.
    """
    outcome, (predicted, _) = rules.outcome, by_whom[""]
    sums, scores_by, moments = {}, {}, Moments()
    sums["coverage"] = float(weight @ held[:, :-1].any(axis=1))
    sums["overlap"] = float(weight @ held[:, :-1].sum(axis=1))
    if answers is not None:
        sums["loss"] = float(weight @ outcome.losses(answers, predicted))
        moments = outcome.prediction_moments(answers, weight)
    if labels is not None:
        costs = cost_matrix(rules)
        for whose, (codes, likely) in by_whom.items():
            sums[f"{whose}error"] = float(weight @ outcome.losses(labels, codes))
            rows = labels, weight, codes, likely
            scores_by[whose] = (
                outcome.scores.of(outcome, *rows, costs)
                if whose
                else rule_scores(rules, held, codes, labels, weight)
            )
    return Evaluation(float(weight.sum()), sums, moments, scores_by)


def decided_alike(rules, answers, probabilities):
    """The model's classes, encoded, decided by the costs or threshold of the rules.

    Its own predictions if the rules have none, or it has no probabilities.
    """
    if not rules._form.has_costs or probabilities is None:
        return answers
    return rules.outcome.decision(rules.threshold, rules.costs).choose(probabilities)


def rule_scores(rules, held, predicted, labels, weight):
    """The scores of the predictions of rules on some rows."""
    outcome, probabilities = rules.outcome, None
    if outcome.n_classes and not rules._form.is_exclusive:
        probabilities = rules._form.predict_proba(held)
    rows = labels, weight, predicted, probabilities
    shares = [rule.distribution for rule in rules]
    if rules._form.is_exclusive and None not in shares:
        answers = outcome.encode(np.array([rule.prediction for rule in rules]))
        group = rules._form.apply(held)
        labels = np.asarray(labels).astype(np.intp)
        rows = grouped(labels, weight, group, answers, np.array(shares))
    return outcome.scores.of(outcome, *rows, cost_matrix(rules))
