"""How well rules do, over any number of rows: sums over some rows, which add up."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from defragtrees.forest import Forest
from defragtrees.rows.encoding import checked_columns
from defragtrees.rules import RuleSet
from defragtrees.tables import check_finite

__all__ = ["Evaluation", "PartEvaluator", "evaluate_encoded", "evaluate_shard"]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How well rules do on some rows; those of other rows can be added.

    Parameters
    ----------
    weight : float
        Of the rows.
    sums : dict from str to float
        Of weight times what is measured.
    mean, spread : float
        Mean of the ensemble's answers, and the sum of squares around it; for numbers.
    largest : float
        The largest answer without its sign.
    has_known : bool
        Whether any label is one that the rules can answer.
    """

    weight: float
    sums: dict[str, float]
    mean: float = 0.0
    spread: float = 0.0
    largest: float = 0.0
    has_known: bool = True

    @classmethod
    def of(cls, outcome, held, predicted, answers, y=None, weight=None, posterior=None):
        """The evaluation on some rows.

        Parameters
        ----------
        outcome : Classes or Numbers
        held : bool array of shape (n_samples, n_rules)
            Which rules hold; the last one always does.
        predicted, answers, y, posterior : arrays of shape (n_samples,)
            What the rules, the ensemble, the labels and the posterior say.
        weight : array of shape (n_samples,), optional
        """
        weight = np.ones(len(held)) if weight is None else weight
        sums = {
            "coverage": float(weight @ held[:, :-1].any(axis=1)),
            "overlap": float(weight @ held[:, :-1].sum(axis=1)),
        }
        for name, expected, given in (
            ("loss", answers, predicted),
            ("error", y, predicted),
            ("ensemble_error", y, answers),
            ("posterior_loss", answers, posterior),
            ("posterior_error", y, posterior),
        ):
            if expected is not None and given is not None:
                sums[name] = float(weight @ outcome.losses(expected, given))
        total = float(weight.sum())
        if outcome.n_classes or not total:
            return cls(total, sums)
        mean = float(weight @ answers) / total
        spread = float(weight @ (answers - mean) ** 2)
        return cls(total, sums, mean, spread, float(np.abs(answers).max()))

    def __add__(self, other):
        if not self.weight or not other.weight:
            return self if self.weight else other
        weight = self.weight + other.weight
        apart = other.mean - self.mean
        return Evaluation(
            weight,
            {name: value + other.sums[name] for name, value in self.sums.items()},
            self.mean + apart * other.weight / weight,
            self.spread + other.spread + apart**2 * self.weight * other.weight / weight,
            max(self.largest, other.largest),
            self.has_known or other.has_known,
        )

    def scores(self, rules):
        """What `Simplifier.evaluate` gives."""
        means = {name: value / self.weight for name, value in self.sums.items()}
        if rules.decision == "partition":
            means["coverage"] = means["overlap"] = 1.0
        scores = {"n_rules": rules.n_rules, "n_conditions": rules.n_conditions}
        for name, value in means.items():
            if name.endswith("loss"):
                name = name.replace("loss", "fidelity")
                value = rules.outcome.fidelity_of_loss(
                    value, self.spread / self.weight, self.largest
                )
            scores[name] = value
        return scores


@dataclass(frozen=True, eq=False)
class PartEvaluator:
    """From a part of any rows to its Evaluation; safe to send to another process."""

    rules: RuleSet
    forest: Forest
    posterior: Any = None

    def __call__(self, part):
        rules, outcome = self.rules, self.rules.outcome
        matrix = rules.encode(part.X)
        check_finite(matrix, rules.feature_names)
        y, weight = checked_columns(part, len(matrix))
        has_known = True
        if y is not None:
            # Labels of one part may all be new.
            y = outcome.check(y)
            has_known = outcome.has_known(y)
        answers = self.forest.predict_encoded(matrix)
        evaluation = evaluate_encoded(rules, matrix, answers, y, weight, self.posterior)
        return dataclasses.replace(evaluation, has_known=has_known)


def evaluate_encoded(rules, matrix, answers, y=None, weight=None, posterior=None):
    """The Evaluation of rules on encoded rows.

    Parameters
    ----------
    rules : RuleSet
    matrix : float64 array of shape (n_samples, n_features)
    answers : array of shape (n_samples,)
        What the ensemble says.
    y, weight : arrays of shape (n_samples,), optional
    posterior : Posterior, optional
    """
    if posterior is not None:
        posterior = posterior.predict_encoded(matrix, rules.classes)
    held, predicted = rules.covers_encoded(matrix), rules.predict_encoded(matrix)
    return Evaluation.of(rules.outcome, held, predicted, answers, y, weight, posterior)


def evaluate_shard(shard, rules, posterior, values):
    """The Evaluation of rules on the rows of a shard, by class numbers or numbers.

    Parameters
    ----------
    shard : Shard
    rules : RuleSet
    posterior : Posterior or None
    values : list of array
        For each feature a value of each bin.
    """
    outcome = rules.outcome
    held = shard.covered(rules, values)
    if rules.decision == "average":
        predicted = outcome.encode(rules.predict_encoded(shard.X))
    else:
        predictions = outcome.encode(np.array([rule.prediction for rule in rules]))
        predicted = predictions[held.argmax(axis=1)]
    return Evaluation.of(
        outcome,
        held,
        predicted,
        shard.targets["answers"],
        shard.targets.get("labels"),
        shard.weight,
        None if posterior is None else posterior.predict_codes(shard.codes),
    )
