"""Conditions, rules and rule models: what every method returns."""

from defragtrees.rules.conditions import Condition, Rule
from defragtrees.rules.model import RuleSet

__all__ = ["Condition", "Rule", "RuleSet"]
