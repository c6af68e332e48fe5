"""Changes that people make to rules after the fit; the methods of `RuleModel`.

In what users give and read, rules and conditions count from 1.
"""

import dataclasses
import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar

from defragtrees._utils.values import shown
from defragtrees.outcomes.decision import threshold_of_second
from defragtrees.rules import schema
from defragtrees.rules.conditions import UNMEASURED, Condition, Rule
from defragtrees.rules.parsing import ColumnWords, parse_conditions, read_condition
from defragtrees.rules.text import decision_phrase

if TYPE_CHECKING:
    from defragtrees.outcomes.decision import Decision
    from defragtrees.rules.model import RuleModel

Model = TypeVar("Model", bound="RuleModel")

ACTIONS = (
    "drop",  # a rule is removed
    "insert",  # a rule is added
    "replace",  # its conditions, or one of them
    "remove",  # one of its conditions
    "move",  # to another place in the list
    "prediction",  # a rule predicts something else
    "threshold",  # a class is predicted from another probability on
    "costs",  # errors have other costs
    "refit",  # all rules are counted on other rows
    "improve",  # some rules are searched for again
    "use",  # other rules, as good as these, are used
)


@dataclass(frozen=True)
class Edit(schema.Stored):
    """What was changed.

    Examples
    --------
    >>> Edit("drop", "dropped rule 3: if age > 80 then no", 3).to_dict()
    {'action': 'drop', 'rule': 3, 'text': 'dropped rule 3: if age > 80 then no'}
    """

    action: Annotated[str, schema.one_of(*ACTIONS)]
    text: Annotated[str, schema.TEXT]  # the change in words
    # its number then, from 1; None for more than one
    rule: Annotated[int | None, schema.whole(1) | schema.NULL] = None

    _order: ClassVar[tuple[str, ...]] = ("action", "rule", "text")

    def __post_init__(self) -> None:
        if self.action not in ACTIONS:
            raise ValueError(
                f"action must be one of {ACTIONS}; got {self.action!r}. Use the one "
                "that comes closest."
            )
        text: Any = self.text
        if not isinstance(text, str) or not text.strip():
            raise ValueError(
                f"An edit must describe the change in words; got {text!r}. "
                "Write it as text."
            )


def drop(rules: Model, number: int, condition: int | str | None) -> Model:
    """See `RuleModel.drop`."""
    k = _index(rules, number)
    rule = rules.rules[k]
    if condition is not None:
        conditions = list(rule.conditions)
        del conditions[_condition_index(rules, rule, condition)]
        if not conditions:
            raise ValueError(
                f"A rule needs a condition; rule {k + 1} has no other. Drop the "
                "rule, or replace its condition."
            )
        return _with_conditions(rules, k, conditions, "remove")
    text = f"dropped rule {k + 1}: {rules._view.rule_text(rule)}"
    kept = [*rules.rules[:k], *rules.rules[k + 1 :], rules.default]
    return _edited(rules, kept, Edit("drop", text, k + 1))


def insert(rules: Model, number: int, text: str, probability: float | None) -> Model:
    """See `RuleModel.insert`."""
    k = _index(rules, number, with_default=True)
    asked, then, predicted = str(text).rpartition(" then ")
    if not then:
        raise ValueError(
            "A rule is written as conditions, then what it predicts: if age <= 40 "
            f"then yes; got {shown(text)}."
        )
    asked = asked.strip().removeprefix("if ")
    conditions = tuple(parse_conditions(asked, column_words(rules)))
    new = rules._form.new_rule(
        conditions, predicted.strip(), probability, rules._class_rates
    )
    made = [*rules]
    made.insert(k, new)
    text = f"inserted rule {k + 1}: {rules._view.rule_text(_named(rules, made, k))}"
    return _edited(rules, made, Edit("insert", text, k + 1))


def replace(rules: Model, number: int, text: str, condition: int | str | None) -> Model:
    """See `RuleModel.replace`."""
    k, words = _index(rules, number), column_words(rules)
    if condition is None:
        return _with_conditions(rules, k, parse_conditions(text, words), "replace")
    conditions = list(rules.rules[k].conditions)
    place = _condition_index(rules, rules.rules[k], condition)
    conditions[place] = read_condition(text, words)
    features = [c.feature for c in conditions]
    repeated = [j for j in features if features.count(j) > 1]
    if repeated:
        raise ValueError(
            "A rule must have one condition for each column; it would have two "
            f"on {rules._vocabulary.names[repeated[0]]!r}. Replace all "
            "conditions of the rule, or that one."
        )
    return _with_conditions(rules, k, conditions, "replace")


def with_condition(rules: Model, number: int, text: str) -> Model:
    """Replace the condition of a rule on a column, or add it if there is none."""
    k, changed = _index(rules, number), read_condition(text, column_words(rules))
    conditions = {c.feature: c for c in rules.rules[k].conditions}
    conditions[changed.feature] = changed
    return _with_conditions(rules, k, [*conditions.values()], "replace")


def set_prediction(rules: Model, number: int, prediction: Any) -> Model:
    """See `RuleModel.set_prediction`."""
    k, write = _index(rules, number, with_default=True), rules._view.then_text
    made = [*rules]
    before, changed = made[k], rules._form.with_prediction(made[k], prediction)
    made[k] = changed
    text = (
        f"rule {k + 1} predicts {write(changed)}, not {write(before)}: "
        f"{'if ' if changed.conditions else ''}{before.text()}"
    )
    return _edited(rules, made, Edit("prediction", text, k + 1))


def with_threshold(rules: Model, threshold: float | None) -> Model:
    """See `RuleModel.with_threshold`."""
    _check_probabilities(rules, "with_threshold")
    if threshold is not None:
        rules.outcome.decision(threshold)  # checks it as it is given
        if rules.outcome.positive_index == 0:
            threshold = threshold_of_second(float(threshold))
    return _decided(rules, "threshold", rules.outcome.decision(threshold))


def with_costs(rules: Model, costs: Any) -> Model:
    """See `RuleModel.with_costs`."""
    _check_probabilities(rules, "with_costs")
    return _decided(rules, "costs", rules.outcome.decision(costs=costs))


def with_class_weight(rules: Model, class_weight: Any) -> Model:
    """See `RuleModel.with_class_weight`."""
    _check_probabilities(rules, "with_class_weight")
    rates = rules._class_rates
    if rates is None and str(class_weight) == "balanced":
        raise ValueError(
            "class_weight='balanced' needs the shares of the classes; these rules "
            "have none. Pass a dict from class to weight, or refit the rules."
        )
    decision = rules.outcome.decision(rates=rates, class_weight=class_weight)
    return _decided(rules, "costs", decision)


def _check_probabilities(rules: "RuleModel", method: str) -> None:
    if not (rules.outcome.n_classes and rules._form.has_probabilities):
        raise ValueError(
            f"{method} needs rules for classes, each with its distribution; got "
            f"rules for a {rules.task}. Set other predictions instead."
        )


def _decided(rules: Model, action: str, decision: "Decision") -> Model:
    """The rules with predictions that a decision makes from their probabilities."""
    chosen = decision.choose([rule.distribution for rule in rules])
    labels = rules.outcome.decode(chosen).tolist()
    made = [
        rule
        if rule.prediction == label or rule.is_override
        else dataclasses.replace(rule, prediction=label, error=math.nan)
        for rule, label in zip(rules, labels, strict=True)
    ]
    given = {"threshold": decision.threshold, "costs": decision.stated_costs}
    edit = Edit(action, decision_phrase(rules.outcome, **given))
    return _with_rules(rules, made, edit, **given)


def move(rules: Model, number: int, to: int) -> Model:
    """See `RuleModel.move`."""
    k, place = _index(rules, number), _index(rules, to)
    made = [*rules]
    moved = made.pop(k)
    made.insert(place, moved)
    text = f"moved rule {k + 1} to {place + 1}: {rules._view.rule_text(moved)}"
    return _edited(rules, made, Edit("move", text, k + 1))


def _with_conditions(
    rules: Model, k: int, conditions: Sequence[Condition], action: str
) -> Model:
    made = [*rules]
    before = made[k]
    made[k] = dataclasses.replace(
        before,
        conditions=tuple(conditions),
        coverage=math.nan,
        alone=None,
        **UNMEASURED,
    )
    text = f"rule {k + 1}: {before.text()} became {_named(rules, made, k).text()}"
    return _edited(rules, made, Edit(action, text, k + 1))


def _named(rules: "RuleModel", made: Sequence[Rule], k: int) -> Rule:
    """A changed rule as the model will print it among the others."""
    shown = rules._form.shown([rule.conditions for rule in made])
    return made[k].named(rules._vocabulary, shown[k])


def _edited(rules: Model, changed: list[Rule], edit: Edit) -> Model:
    """The model with changed rules, without counts that are no longer true."""
    form = rules._form

    def counted(every: list[Rule]) -> Iterator[tuple[Any, Any]]:
        """Conditions of each rule, and of the rules that take rows from it."""
        conditions = [rule.conditions for rule in every]
        for k, own in enumerate(conditions):
            is_rest = k == len(every) - 1 and not form.default_matches_all
            is_after = form.is_exclusive or is_rest
            yield own, frozenset(conditions[:k]) if is_after else None

    before = dict(counted([*rules]))
    made = [
        rule
        if before.get(conditions, "changed") == others
        else dataclasses.replace(rule, **UNMEASURED)
        for rule, (conditions, others) in zip(changed, counted(changed), strict=True)
    ]
    model = _with_rules(rules, made, edit, residuals=None, rate_bands=None)
    as_edited: Model = model._as_edited()
    return as_edited


def _with_rules(rules: Model, made: list[Rule], edit: Edit, **changes: Any) -> Model:
    """The model with other rules, without the scores of the rules before."""
    if rules.training is not None:
        changes["training"] = dataclasses.replace(
            rules.training, error=None, agreement=None
        )
    edits = (*rules.edits, edit)
    return dataclasses.replace(
        rules, rules=tuple(made[:-1]), default=made[-1], edits=edits, **changes
    )


def column_words(rules: "RuleModel") -> ColumnWords:
    """The words of conditions: names, categories, scales, whole numbers."""
    conditions = [c for rule in rules.rules for c in rule.conditions]
    integers = {c.feature for c in conditions if c.is_integer}
    if rules.training is not None:
        # Conditions on a column are better evidence than its rows of today.
        known = {c.feature for c in conditions}
        columns = [c for c in rules.training.columns if c.feature not in known]
        integers |= {column.feature for column in columns if column.is_integer}
    return ColumnWords(
        *rules._vocabulary, frozenset(integers), columns=rules.feature_names
    )


def _index(rules: "RuleModel", number: Any, with_default: bool = False) -> int:
    """The index of a rule that is given by its number from 1."""
    most = len(rules.rules) + with_default
    try:
        place = operator.index(number)
    except TypeError:
        place = 0
    if isinstance(number, bool) or not 1 <= place <= most:
        last = "" if with_default else "; the last rule, without conditions, stays"
        raise ValueError(
            f"A rule is given by its number from 1 to {most}; got {number!r}. Take "
            f"one that is printed{last}."
        )
    return place - 1


def _condition_index(rules: "RuleModel", rule: Rule, condition: int | str) -> int:
    """The index of a condition of a rule, given by its number or its column."""
    features = [c.feature for c in rule.conditions]
    shown_names = [rules._vocabulary.names[j] for j in features]
    for names in ([rules.feature_names[j] for j in features], shown_names):
        if condition in names:
            return names.index(str(condition))
    is_number = isinstance(condition, int) and not isinstance(condition, bool)
    if not is_number or not 1 <= int(condition) <= len(features):
        raise ValueError(
            f"A condition is given by its number from 1 to {len(features)} or its "
            f"column, one of {shown_names}; got {condition!r}. Take one that it "
            "has."
        )
    return int(condition) - 1
