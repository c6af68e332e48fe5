"""What rows say of each rule: coverage, answer and error, as sums which add up."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["RowStatistics", "recounted", "round_significant", "row_statistics"]


@dataclass(frozen=True, eq=False)
class RowStatistics:
    """What rows say of the rules of some rule sets; that of other rows can be added.

    Parameters
    ----------
    sums : list of (array of shape (n_rules,), ClassSums or NumberSums)
        For each rule set the weight of the rows in which each rule holds, and the sums
        of those that it answers.
    """

    sums: list[tuple[np.ndarray, Any]]

    def __add__(self, other):
        pairs = zip(self.sums, other.sums, strict=True)
        return RowStatistics([(a + c, b + d) for (a, b), (c, d) in pairs])


def row_statistics(shard, rule_sets, values, target):
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
    weight, sums = shard.sample_weight, []
    for rules in rule_sets:
        outcome = rules.outcome
        held = shard.covered(rules, values)
        answers = [rule.prediction for rule in rules]
        group = held.argmax(axis=1)
        own = outcome.sums.of(outcome, shard.targets[target], weight, group, answers)
        sums.append((weight @ held, own))
    return RowStatistics(sums)


def recounted(rules, covered, sums, keeps_answers=False):
    """The rules with the answers and the evidence of all rows.

    Parameters
    ----------
    rules : RuleSet
    covered, sums : array, ClassSums or NumberSums
        The entries of this rule set in RowStatistics.
    keeps_answers : bool
        Whether only the evidence changes.
    """
    outcome, weight = rules.outcome, sums.weight
    total, spread = weight.sum(), sums.spread
    rounded = round_significant
    counted = []
    for k, rule in enumerate(rules):
        if not keeps_answers:
            basis = sums.basis(k if weight[k] else None)
            answer = sums.answer(outcome, basis, spread)
            if "distribution" in answer:
                answer["distribution"] = tuple(map(rounded, answer["distribution"]))
            rule = dataclasses.replace(rule, **answer)
        errors = {
            name: value if value is None else rounded(value, outcome.error_digits)
            for name, value in sums.error(k, outcome, rule.prediction).items()
        }
        coverage, answered = rounded(covered[k] / total), rounded(weight[k] / total)
        counted.append(
            dataclasses.replace(rule, coverage=coverage, answered=answered, **errors)
        )
    return dataclasses.replace(rules, rules=tuple(counted[:-1]), default=counted[-1])


def round_significant(value, n_digits=12):
    """A number without its last digits, which hang on where shards were cut.

    Examples
    --------
    >>> round_significant(0.1 + 0.2)
    0.3
    """
    return float(f"{value:.{n_digits}g}")
