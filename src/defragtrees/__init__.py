"""A handful of rules that say nearly what a tree ensemble says."""

from defragtrees.errors import (
    MissingPackageError,
    ModelFileError,
    UnsupportedEnsembleError,
)
from defragtrees.forest import Forest, Tree
from defragtrees.methods.defrag import DefragClassifier, DefragRegressor
from defragtrees.path import RulePath, simplify_path
from defragtrees.readers import read_forest
from defragtrees.rules import Condition, Rule, RuleSet
from defragtrees.simplify import simplify

__version__ = "0.1.0"

__all__ = [
    "Condition",
    "DefragClassifier",
    "DefragRegressor",
    "Forest",
    "MissingPackageError",
    "ModelFileError",
    "Rule",
    "RulePath",
    "RuleSet",
    "Tree",
    "UnsupportedEnsembleError",
    "read_forest",
    "simplify",
    "simplify_path",
]
