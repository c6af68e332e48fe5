"""Measures of rules over any number of rows: sums for some rows, which add up."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

__all__ = [
    "Measure",
    "RuleSums",
    "answer_digits",
    "decode",
    "holding_codes",
    "recounted",
    "rule_sums",
]


@dataclass(frozen=True, eq=False)
class Measure:
    """How well rules do on some rows; measures of parts add up.

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
    """

    weight: float
    sums: dict[str, float]
    mean: float = 0.0
    spread: float = 0.0
    largest: float = 0.0

    @classmethod
    def of(cls, task, held, predicted, answers, y=None, weight=None, posterior=None):
        """The measure for some rows.

        Parameters
        ----------
        task : {"classification", "regression"}
        held : bool array of shape (n_samples, n_rules)
            Which rules hold; the last one always does.
        predicted, answers, y, posterior : arrays of shape (n_samples,)
            What the rules, the ensemble, the labels and the posterior say.
        weight : array of shape (n_samples,), optional
        """
        weight = np.ones(len(held)) if weight is None else weight
        is_number, held = task == "regression", held[:, :-1]
        sums = {
            "coverage": float(weight @ held.any(axis=1)),
            "overlap": float(weight @ held.sum(axis=1)),
        }
        pairs = [("loss", answers, predicted), ("posterior_loss", answers, posterior)]
        if y is not None:
            pairs += [("error", y, predicted), ("ensemble_error", y, answers)]
            pairs += [("posterior_error", y, posterior)]
        for name, expected, given in pairs:
            if given is not None:
                wrong = (expected - given) ** 2 if is_number else expected != given
                sums[name] = float(weight @ wrong)
        total = float(weight.sum())
        if not is_number or not total:
            return cls(total, sums)
        mean = float(weight @ answers) / total
        spread = float(weight @ (answers - mean) ** 2)
        return cls(total, sums, mean, spread, float(np.abs(answers).max()))

    def __add__(self, other):
        if not self.weight or not other.weight:
            return self if self.weight else other
        weight = self.weight + other.weight
        apart = other.mean - self.mean
        return Measure(
            weight,
            {name: value + other.sums[name] for name, value in self.sums.items()},
            self.mean + apart * other.weight / weight,
            self.spread + other.spread + apart**2 * self.weight * other.weight / weight,
            max(self.largest, other.largest),
        )

    def result(self, rules):
        """What `evaluate` gives."""
        shares = {name: value / self.weight for name, value in self.sums.items()}
        if rules.decision == "partition":
            shares["coverage"] = shares["overlap"] = 1.0
        found = {
            "n_rules": rules.n_rules,
            "n_conditions": rules.n_conditions,
            "coverage": shares.pop("coverage"),
            "overlap": shares.pop("overlap"),
            "fidelity": self._fidelity(shares.pop("loss"), rules.task),
        }
        if "posterior_loss" in shares:
            loss = shares.pop("posterior_loss")
            found["posterior_fidelity"] = self._fidelity(loss, rules.task)
        return {**found, **shares}

    def _fidelity(self, loss, task):
        if task == "classification":
            return 1.0 - loss
        variance, noise = self.spread / self.weight, (1e-12 * self.largest) ** 2
        if variance <= noise:
            return 1.0 if loss <= noise else 0.0
        return 1.0 - loss / variance


@dataclass(frozen=True, eq=False)
class RuleSums:
    """What rows say of rules, for each rule set an array; they add up over shards.

    Parameters
    ----------
    covered : list of array of shape (n_rules,)
        Weight of the rows in which each rule holds.
    target : list of array of shape (n_rules, n_classes) or (n_rules, 3)
        Of the rows that it answers: the weight of each class; or their weight, and
        its sum with the standardised target and with its square.
    """

    covered: list[np.ndarray]
    target: list[np.ndarray]

    def __add__(self, other):
        return RuleSums(
            [a + b for a, b in zip(self.covered, other.covered, strict=True)],
            [a + b for a, b in zip(self.target, other.target, strict=True)],
        )


def decode(codes, values):
    """A matrix that stands for rows of codes; see `bin_values`."""
    matrix = np.empty(codes.shape)
    for j, own in enumerate(values):
        matrix[:, j] = own[codes[:, j]]
    return matrix


def holding_codes(rules, codes, values):
    """`RuleSet.holding` for rows of codes: a condition is asked once for each bin."""
    held = np.ones((len(codes), rules.n_rules), dtype=bool, order="F")
    for k, rule in enumerate(rules.rules):
        for condition in rule.conditions:
            accepts = condition.covers(values[condition.feature])
            held[:, k] &= accepts[codes[:, condition.feature]]
    return held


def rule_sums(shard, rule_sets, values, target, n_classes):
    """The sums of one shard.

    Parameters
    ----------
    shard : Shard
    rule_sets : list of RuleSet
    values : list of array
        From codes to numbers.
    target : Target
    n_classes : int
        0 for numbers.
    """
    weight = np.ones(len(shard)) if shard.weight is None else shard.weight
    own = target.of(shard, n_classes)
    covered, counted = [], []
    for rules in rule_sets:
        held = holding_codes(rules, shard.codes, values)
        covered.append(weight @ held)
        answering, n_rules = held.argmax(axis=1), rules.n_rules
        if n_classes:
            index = answering * n_classes + own
            found = np.bincount(index, weight, n_rules * n_classes)
            counted.append(found.reshape(n_rules, n_classes))
        else:
            parts = (weight, weight * own, weight * own**2)
            sums = [np.bincount(answering, part, n_rules) for part in parts]
            counted.append(np.column_stack(sums))
    return RuleSums(covered, counted)


def recounted(rules, covered, counted, target, keeps_answers=False):
    """The rules with the answers and the evidence of all rows.

    Parameters
    ----------
    rules : RuleSet
    covered, counted : arrays
        The entries of this rule set in RuleSums.
    target : Target
    keeps_answers : bool
        Whether only the evidence changes.
    """
    change = _class_changes if rules.task == "classification" else _number_changes
    total = counted.sum() if rules.task == "classification" else counted[:, 0].sum()
    whole = counted.sum(axis=0)
    found = []
    for rule, held, own in zip(rules, covered, counted, strict=True):
        changes = change(rules, own, whole, target, rule if keeps_answers else None)
        answered = changes.pop("weight") / total
        found.append(
            dataclasses.replace(
                rule,
                coverage=exact(held / total),
                answered=exact(answered),
                **changes,
            )
        )
    return dataclasses.replace(rules, rules=tuple(found[:-1]), default=found[-1])


def _class_changes(rules, own, whole, target, kept):
    """Answer, shares and error of a rule for classes, and the weight of its rows."""
    basis = own if own.any() else whole
    shares = basis / basis.sum()
    best = int(shares.argmax())
    changes = {"weight": own.sum(), "distribution": tuple(map(exact, shares))}
    if kept is not None:
        best = rules.classes.index(kept.prediction)
        changes["distribution"] = kept.distribution
    wrong = 1.0 - own[best] / own.sum() if own.any() else math.nan
    changes["prediction"] = rules.classes[best]
    return {**changes, "error": exact(wrong)}


def _number_changes(rules, own, whole, target, kept):
    """The same of a rule for numbers, from its standardised sums."""
    basis = own if own[0] else whole
    mean = target.center + target.scale * basis[1] / basis[0]
    answer = round(float(mean), answer_digits(mean, _spread(whole, target)))
    if kept is not None:
        answer = kept.prediction
    changes = {"weight": own[0], "prediction": answer}
    if not own[0]:
        return {**changes, "spread": None, "error": math.nan}
    at = (answer - target.center) / target.scale
    square = own[2] / own[0] - 2 * at * own[1] / own[0] + at**2
    variance = max(square, 0.0) * target.scale**2
    spread = exact(math.sqrt(variance))
    return {**changes, "spread": spread, "error": exact(variance)}


def exact(value):
    """A number without the last bits, which hang on where shards were cut.

    Examples
    --------
    >>> exact(0.1 + 0.2)
    0.3
    """
    return float(f"{value:.12g}")


def _spread(sums, target):
    variance = sums[2] / sums[0] - (sums[1] / sums[0]) ** 2
    return target.scale * math.sqrt(max(variance, 0.0))


def answer_digits(answer, spread):
    """Digits after the point: to a thousandth of the target's spread, four at least.

    So a number reads well, and what is printed is exactly what is predicted.
    """
    sizes = [size for size in (spread, abs(answer)) if size > 0]
    return max([3 - math.floor(math.log10(size)) for size in sizes], default=0)
