"""One row for each rule, in plain values: what tables of all kinds are made from."""

import math
from typing import TYPE_CHECKING

from defragtrees._utils import formatting as render
from defragtrees._utils.optional import require
from defragtrees.rules.model import RuleModel

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["table_of", "to_frame"]


def table_of(rules):
    """Names of columns, and for each rule its values; None where nobody measured.

    Parameters
    ----------
    rules : RuleModel

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), 5.0, n_rows=40.0)
    >>> rules = RuleList((warm,), Rule((), 2.0), ("degrees",), "regression")
    >>> names, rows = table_of(rules)
    >>> names[:4], rows[0][:4]
    (['rule', 'if', 'then', 'conditions'], [1, 'degrees > 20', 5.0, 1])
    """
    told = [
        _row(rules, rule, shown)
        for rule, shown in zip(rules, rules.rows(), strict=True)
    ]
    names = list(told[0])
    kept = [
        name
        for name in names
        if name in ("rule", "if", "then") or any(row[name] is not None for row in told)
    ]
    return kept, [[row[name] for name in kept] for row in told]


def _row(rules, rule, shown):
    """The values of one rule by the names of their columns."""
    is_sum = rules.decision == "points"
    last = rules.default_text
    row = {
        "rule": shown["rule"],
        "if": render.plain(shown["if"] if rule.conditions else last),
        "then": None if is_sum else _answer(rules, rule.prediction),
        "conditions": rule.n_conditions,
    }
    if is_sum:
        n_points = rules.outcome.n_points
        names = ["points"]
        if n_points > 1:
            names = [f"points {label}" for label in rules.classes]
        row |= dict(zip(names, map(float, rule.points), strict=True))
    row["weight"] = float(rule.weight) if rules.decision == "average" else None
    row |= {"rows": rule.n_rows, "answered": rule.answered, "coverage": rule.coverage}
    for k, label in enumerate(rules.classes or ()):
        row |= _of_class(rules, rule, k, rules.outcome.answer_text(label))
    low, high = rule.quantiles or (None, None)
    mean = rule.ensemble_mean if not rules.classes else None
    row |= {"10 % quantile": low, "90 % quantile": high, "ensemble": mean}
    row["error"] = rule.error
    return {name: _plain(value) for name, value in row.items()}


def _answer(rules, prediction):
    if rules.classes:
        return render.plain(rules.outcome.answer_text(prediction))
    return float(prediction)


def _of_class(rules, rule, k, label):
    """What is told of one class: probability, rate with its interval, ensemble."""
    low, high = (rule.interval or [(None, None)] * len(rules.classes))[k]
    has_rates, mean = rule.rates is not None, rule.ensemble_mean
    return {
        f"probability {label}": rule.distribution and rule.distribution[k],
        f"rate {label}": rule.rates[k] if has_rates else None,
        f"rate {label} from": low if has_rates else None,
        f"rate {label} to": high if has_rates else None,
        f"ensemble {label}": None if mean is None else mean[k],
    }


def _plain(value):
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def to_frame(rules: RuleModel) -> "DataFrame":
    """The rules as a data frame of pandas, one row for each.

    Parameters
    ----------
    rules : RuleModel

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), 5.0)
    >>> rules = RuleList((warm,), Rule((), 2.0), ("degrees",), "regression")
    >>> len(to_frame(rules))
    2
    """
    pandas = require("pandas", "A data frame of rules")
    names, rows = table_of(rules)
    return pandas.DataFrame(rows, columns=names).set_index("rule")
