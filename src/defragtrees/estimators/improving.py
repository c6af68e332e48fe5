"""Keep some rules of a model, and search for the others again."""

import dataclasses
import math
from typing import Any, TypeVar

import numpy as np

from defragtrees.data.refitting import checked_rows, recount_rows
from defragtrees.estimators.base import estimator_for
from defragtrees.rules.conditions import Condition, Rule
from defragtrees.rules.model import Edit, RuleModel
from defragtrees.search.driver import SEARCHES
from defragtrees.tables import select_columns, take_rows

Model = TypeVar("Model", bound=RuleModel)
FEWEST_ROWS = 20  # needed to search for rules


def improve(
    rules: Model,
    X: Any,
    y: Any,
    keep: Any,
    sample_weight: Any = None,
    *,
    model: Any = None,
    **settings: Any,
) -> Model:
    """Search again for the rules that are not kept; see `RuleModel.improve`.

    For standalone rules and points, new rules are added to the kept ones one at a
    time, as long as each saves more nats than its description length.
    """
    kept = _kept(rules, keep)
    max_rules = settings.pop("max_rules", rules.n_rules)
    _check(rules, settings, len(kept), max_rules)
    rows = checked_rows(rules, rules._encode(X), y, sample_weight)
    parts = [select_columns(X, rules.feature_names), y, sample_weight]
    if sample_weight is not None:
        positive = np.flatnonzero(np.asarray(sample_weight) > 0)
        parts = [take_rows(part, positive) for part in parts]
    make = estimator_for("defrag", rules.outcome)
    form = rules.form
    n_new = max_rules - 1 - len(kept)

    def fitted(parts, max_rules):
        return make(model, max_rules=max_rules, form=form, **settings).fit(*parts)

    if n_new == 0:
        found = kept
    elif rules._form.is_exclusive:
        found = kept + _for_the_rest(rules, kept, n_new, rows, parts, fitted)
    else:
        others = _candidates(rules, kept, fitted(parts, max(max_rules, 2)))
        found = _taken_beside(rules, kept, n_new, rows, others)
    matrix, target, weight = rows
    source = "searched" if n_new else "refit"
    made = recount_rows(
        _with_conditions(rules, found), matrix, target, weight, source=source
    )
    every = [rule.conditions for rule in rules.rules]
    numbers = [str(every.index(conditions) + 1) for conditions in kept]
    noun = "rule" if len(numbers) == 1 else "rules"
    names = f"kept {noun} {', '.join(numbers)}" if numbers else "kept no rule"
    text = f"{names}, searched for others on {len(matrix):,} rows"
    return dataclasses.replace(made, edits=(*rules.edits, Edit("improve", text)))


def _kept(rules, keep):
    """The conditions of the rules to keep."""
    places = set()
    for number in [keep] if isinstance(keep, (int, np.integer)) else keep:
        is_number = isinstance(number, (int, np.integer))
        if not is_number or not 1 <= number <= len(rules.rules):
            raise ValueError(
                f"keep must have numbers of rules, from 1 to {len(rules.rules)}; got "
                f"{number!r}. The default rule is always kept."
            )
        places.add(int(number) - 1)
    return [rules.rules[k].conditions for k in sorted(places)]


def _check(rules, settings, n_kept, max_rules):
    if rules.form not in SEARCHES:
        raise ValueError(
            "improve needs a rule list, standalone rules or points; these rules have "
            f"form={rules.form!r}. Fit the method again instead."
        )
    if "form" in settings:
        raise ValueError(
            f"improve keeps the form {rules.form!r}; got "
            f"form={settings['form']!r}. Leave it out, or call simplify."
        )
    if max_rules < n_kept + 1:
        raise ValueError(
            f"max_rules must be at least {n_kept + 1}, for the {n_kept} rules to keep "
            f"and the default rule; got {max_rules!r}. Keep fewer, or allow more."
        )


def _for_the_rest(rules, kept, n_new, rows, parts, fitted):
    """Search for rules on the rows that no kept rule matches."""
    matrix, target, _ = rows
    held = _with_conditions(rules, kept)._covers(matrix)[:, :-1].any(axis=1)
    left = np.flatnonzero(~held)
    if len(left) < FEWEST_ROWS or (target[left] == target[left[0]]).all():
        return []
    estimator = fitted([take_rows(part, left) for part in parts], n_new + 1)
    return _translated(rules, estimator.rules_)


def _candidates(rules, kept, estimator):
    """The conditions of all rules of a new search, and of those not kept."""
    others = [rule.conditions for rule in rules.rules]
    for made in estimator.path_.values():
        others += _translated(rules, made)
    return [one for one in dict.fromkeys(others) if one not in kept]


def _taken_beside(rules, kept, n_new, rows, others):
    """Add to the kept conditions, one at a time, those that save most nats."""
    matrix = rows[0]
    taken, least = list(kept), _nats(rules, kept, rows)
    while len(taken) < len(kept) + n_new:
        costs = [
            _nats(rules, [*taken, one], rows)
            + 0.5 * math.log(len(matrix)) * (1 + sum(c.n_sides for c in one))
            for one in others
        ]
        if not costs or min(costs) >= least:
            break
        taken.append(others.pop(int(np.argmin(costs))))
        least = _nats(rules, taken, rows)
    return taken


def _nats(rules, conditions, rows):
    """The description length of y, in nats, given rules with these conditions."""
    matrix, target, weight = rows
    made = recount_rows(_with_conditions(rules, conditions), *rows)
    reported = made.outcome.reported(made._form, made._covers(matrix))
    return made.outcome.nats(target, weight, reported)


def _with_conditions(rules, found):
    """A rule model with these conditions, whose predictions are not counted yet."""
    blank = dataclasses.replace(rules.default, conditions=(), weight=1.0)
    known = blank.prediction, blank.distribution
    made = tuple(Rule(own, *known, points=blank.points) for own in found)
    default = rules._form.uncounted(blank, rules.outcome)
    return dataclasses.replace(
        rules, rules=made, default=default, residuals=None, rate_bands=None
    )


def _translated(rules, found):
    """Translate conditions of other rules to the columns and categories of these."""
    place = {name: j for j, name in enumerate(rules.feature_names)}
    return [
        tuple(
            _condition(rules, found, c, place[found.feature_names[c.feature]])
            for c in rule.conditions
        )
        for rule in found.rules
    ]


def _condition(rules, found, condition, feature):
    if condition.categories is None:
        return dataclasses.replace(condition, feature=feature)
    ours, theirs = rules.categories[feature], found.categories[condition.feature]
    accepted = {theirs[c] for c in condition.categories if c < len(theirs)}
    takes_others = len(theirs) in condition.categories
    places = [
        j
        for j, label in enumerate(ours)
        if label in accepted or (takes_others and label not in theirs)
    ]
    if takes_others:
        places.append(len(ours))
    return Condition(feature, categories=tuple(places), missing=condition.missing)
