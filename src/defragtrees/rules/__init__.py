"""Conditions, rules and rule models: what every method returns."""

from defragtrees.rules.conditions import Condition, Rule
from defragtrees.rules.forms import RuleEnsemble, RuleList, RuleSet, RuleTree, Scorecard
from defragtrees.rules.model import RuleModel

__all__ = [
    "Condition",
    "Rule",
    "RuleEnsemble",
    "RuleList",
    "RuleModel",
    "RuleSet",
    "RuleTree",
    "Scorecard",
]
