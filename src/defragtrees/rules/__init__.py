"""Conditions, rules and rule models: what every method returns."""

from defragtrees.rules.conditions import Condition, Rule
from defragtrees.rules.model import RuleModel
from defragtrees.rules.models import (
    MODELS,
    RuleEnsemble,
    RuleList,
    RuleSet,
    RuleTree,
    Scorecard,
)

__all__ = [
    "MODELS",
    "Condition",
    "Rule",
    "RuleEnsemble",
    "RuleList",
    "RuleModel",
    "RuleSet",
    "RuleTree",
    "Scorecard",
]
