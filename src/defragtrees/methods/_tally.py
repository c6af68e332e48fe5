"""Measures of rules over any number of rows: sums for some rows, which add up."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from defragtrees.outcome.numbers import explained_share

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
    is_known : bool
        Whether any label is one of the classes.
    """

    weight: float
    sums: dict[str, float]
    mean: float = 0.0
    spread: float = 0.0
    largest: float = 0.0
    is_known: bool = True

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
            self.is_known or other.is_known,
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
        return explained_share(loss, self.spread / self.weight, self.largest)


@dataclass(frozen=True, eq=False)
class RuleSums:
    """What rows say of rules, for each rule set an array; they add up over shards.

    Parameters
    ----------
    covered : list of array of shape (n_rules,)
        Weight of the rows in which each rule holds.
    target : list of array of shape (n_rules, n_classes) or (n_rules, 3)
        Of the rows that it answers: the weight of each class; or their weight, and
        its sum with how far the target is from the rule's answer, and with its square.
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
    """`RuleSet.covers` for rows of codes: a condition is asked once for each bin."""
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
    own = getattr(shard, target.name)
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
            # Around one mean for all rules nothing would be left of a small spread.
            apart = own - _predictions(rules)[answering]
            parts = (weight, weight * apart, weight * apart**2)
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
    if rules.task == "classification":
        change, whole = _class_changes, counted.sum(axis=0)
        total = whole.sum()
    else:
        change, whole = _number_changes, _moved(rules, counted, target).sum(axis=0)
        total = whole[0]
    found = []
    for rule, held, own in zip(rules, covered, counted, strict=True):
        changes = change(rules, rule, own, whole, target, keeps_answers)
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


def _predictions(rules):
    return np.array([rule.prediction for rule in rules])


def _moved(rules, counted, target):
    """Sums around each rule's answer as sums around the mean of all rows."""
    weight, first, second = counted.T
    by = _predictions(rules) - target.center
    moved = (weight, first + weight * by, second + 2 * first * by + weight * by**2)
    return np.column_stack(moved)


def _class_changes(rules, rule, own, whole, target, keeps_answer):
    """Answer, shares and error of a rule for classes, and the weight of its rows."""
    basis = own if own.any() else whole
    shares = basis / basis.sum()
    best = int(shares.argmax())
    changes = {"weight": own.sum(), "distribution": tuple(map(exact, shares))}
    if keeps_answer:
        best = rules.classes.index(rule.prediction)
        changes["distribution"] = rule.distribution
    wrong = 1.0 - own[best] / own.sum() if own.any() else math.nan
    changes["prediction"] = rules.classes[best]
    return {**changes, "error": exact(wrong)}


def _number_changes(rules, rule, own, whole, target, keeps_answer):
    """The same of a rule for numbers, from sums around its answer so far."""
    mean = target.center + whole[1] / whole[0]
    if own[0]:
        mean = rule.prediction + own[1] / own[0]
    answer = round(float(mean), answer_digits(mean, _spread(whole)))
    if keeps_answer:
        answer = rule.prediction
    changes = {"weight": own[0], "prediction": answer}
    if not own[0]:
        return {**changes, "spread": None, "error": math.nan}
    by = answer - rule.prediction
    square = own[2] / own[0] - 2 * by * own[1] / own[0] + by**2
    variance = max(square, 0.0)
    spread = exact(math.sqrt(variance), 9)
    return {**changes, "spread": spread, "error": exact(variance, 9)}


def exact(value, n_digits=12):
    """A number without its last digits, which hang on where shards were cut.

    Examples
    --------
    >>> exact(0.1 + 0.2)
    0.3
    """
    return float(f"{value:.{n_digits}g}")


def _spread(sums):
    variance = sums[2] / sums[0] - (sums[1] / sums[0]) ** 2
    return math.sqrt(max(variance, 0.0))


def answer_digits(answer, spread):
    """Digits after the point: to a thousandth of the target's spread, four at least.

    So a number reads well, and what is printed is exactly what is predicted. Answers
    that do not differ are said to fifteen digits.
    """
    if 0 < abs(answer) and spread <= 1e-12 * abs(answer):
        return 14 - math.floor(math.log10(abs(answer)))
    sizes = [size for size in (spread, abs(answer)) if size > 0]
    return max([3 - math.floor(math.log10(size)) for size in sizes], default=0)
