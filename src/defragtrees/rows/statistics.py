"""What rows say of each rule: coverage, rates, answer, error; as sums that add up."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["RowStatistics", "RuleSums", "recounted", "round_significant"]


@dataclass(frozen=True, eq=False)
class RuleSums:
    """What rows say of the rules of one rule set; that of other rows can be added.

    Parameters
    ----------
    covered : array of shape (n_rules,)
        Weight of the rows in which each rule holds.
    target : ClassSums or NumberSums
        Of the rows that each rule answers.
    labels : ClassSums or NumberSums, optional
        The same for y.
    ensemble : array of shape (n_rules, n_outputs)
        Sums of the ensemble's probabilities, or answers.
    """

    covered: np.ndarray
    target: Any
    labels: Any
    ensemble: np.ndarray

    @classmethod
    def of(cls, rules, shard, values, target):
        """The sums of the rows of a shard; see `RowStatistics.of`."""
        outcome, weight = rules.outcome, shard.sample_weight
        held = shard.covered(rules, values)
        answers = [rule.prediction for rule in rules]
        group = held.argmax(axis=1)

        def sums(name):
            column = shard.targets[name]
            return outcome.sums.of(outcome, column, weight, group, answers)

        outputs = shard.targets.get("probabilities", shard.targets["answers"])
        outputs = outputs.reshape(len(shard), -1).T
        ensemble = [np.bincount(group, weight * one, len(answers)) for one in outputs]
        return cls(
            weight @ held,
            sums(target),
            sums("labels") if "labels" in shard.targets else None,
            np.column_stack(ensemble),
        )

    def __add__(self, other):
        return RuleSums(
            self.covered + other.covered,
            self.target + other.target,
            None if self.labels is None else self.labels + other.labels,
            self.ensemble + other.ensemble,
        )


@dataclass(frozen=True, eq=False)
class RowStatistics:
    """What rows say of some rule sets; that of other rows can be added.

    Parameters
    ----------
    sums : list of RuleSums
        One for each rule set.
    """

    sums: list[RuleSums]

    @classmethod
    def of(cls, shard, rule_sets, values, target):
        """The statistics of one shard.

        Parameters
        ----------
        shard : Shard
        rule_sets : list of RuleSet
        values : list of array
            For each feature a value of each bin.
        target : str
            A key of `Shard.targets`.
        """
        return cls([RuleSums.of(rules, shard, values, target) for rules in rule_sets])

    def __add__(self, other):
        pairs = zip(self.sums, other.sums, strict=True)
        return RowStatistics([a + b for a, b in pairs])


def recounted(rules, sums, answers="kept", decision=None):
    """The rules with what all rows say of them.

    Parameters
    ----------
    rules : RuleSet
    sums : RuleSums
    answers : {"kept", "target", "told"}
        What rules answer: as before; what they were made to imitate; or what y tells,
        the ensemble if there is no y.
    decision : Decision, optional
        From told probabilities to a class.
    """
    outcome, weight = rules.outcome, sums.target.weight
    total, rounded = weight.sum(), round_significant
    spread = sums.target.spread
    counted = []
    for k, rule in enumerate(rules):
        if answers == "target":
            basis = sums.target.basis(k if weight[k] else None)
            rule = dataclasses.replace(
                rule, **_rounded(sums.target.answer(outcome, basis, spread))
            )
        evidence = {"n_rows": rounded(weight[k])}
        if weight[k]:
            mean = tuple(rounded(value / weight[k]) for value in sums.ensemble[k])
            evidence["ensemble_mean"] = mean if outcome.n_classes else mean[0]
        if sums.labels is not None:
            evidence |= _rounded(sums.labels.evidence(k))
        rule = dataclasses.replace(rule, **evidence)
        if answers == "told":
            told = _told(outcome, sums, k, decision)
            rule = dataclasses.replace(rule, **_rounded(told))
        errors = {
            name: value if value is None else rounded(value, outcome.error_digits)
            for name, value in sums.target.error(k, outcome, rule.prediction).items()
        }
        coverage = rounded(sums.covered[k] / total)
        answered = rounded(weight[k] / total)
        counted.append(
            dataclasses.replace(rule, coverage=coverage, answered=answered, **errors)
        )
    changed = {"rules": tuple(counted[:-1]), "default": counted[-1]}
    if answers == "told" and decision is not None:
        changed |= {"threshold": decision.threshold, "costs": decision.stated_costs}
    return dataclasses.replace(rules, **changed)


def _told(outcome, sums, k, decision):
    """What a rule answers, as entries of it.

    Classes: the rates of y among its rows, drawn a little to those of all rows, or the
    ensemble's mean probabilities without y; and the class that follows from them.
    """
    target = sums.target
    if not outcome.n_classes:
        basis = target.basis(k if target.weight[k] else None)
        return target.answer(outcome, basis, target.spread)
    if sums.labels is not None:
        told = sums.labels.shrunk_rates(k)
    else:
        told = sums.ensemble[k] if target.weight[k] else sums.ensemble.sum(axis=0)
        told = told / told.sum()
    # Without their last digits first: a saved rule must choose as it was told.
    told = np.array([round_significant(value) for value in told])
    best = int(decision.choose(told[None])[0])
    return {"prediction": outcome.labels[best], "distribution": told}


def _rounded(entries):
    """Entries of a Rule, those with several numbers without their last digits."""
    return {
        name: tuple(map(round_significant, value)) if _is_several(value) else value
        for name, value in entries.items()
    }


def _is_several(value):
    return isinstance(value, (tuple, np.ndarray))


def round_significant(value, n_digits=12):
    """A number without its last digits, which hang on where shards were cut.

    Examples
    --------
    >>> round_significant(0.1 + 0.2)
    0.3
    """
    return float(f"{value:.{n_digits}g}")
