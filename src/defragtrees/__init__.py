"""A handful of rules that say nearly what a tree ensemble says."""

from defragtrees._version import __version__ as __version__
from defragtrees.comparison import Comparison, compare
from defragtrees.errors import (
    MissingPackageError,
    ModelFileError,
    UnsupportedEnsembleError,
)
from defragtrees.forest import Forest, Tree
from defragtrees.methods.born_again import (
    BornAgainTreeClassifier,
    BornAgainTreeRegressor,
)
from defragtrees.methods.defrag import DefragClassifier, DefragRegressor
from defragtrees.methods.distilled import (
    DistilledTreeClassifier,
    DistilledTreeRegressor,
)
from defragtrees.methods.intrees import InTreesClassifier, InTreesRegressor
from defragtrees.methods.node_harvest import (
    NodeHarvestClassifier,
    NodeHarvestRegressor,
)
from defragtrees.path import RulePath, simplify_path
from defragtrees.readers import read_forest
from defragtrees.rules import Condition, Rule, RuleSet
from defragtrees.simplification import simplify

__all__ = [
    "BornAgainTreeClassifier",
    "BornAgainTreeRegressor",
    "Comparison",
    "Condition",
    "DefragClassifier",
    "DefragRegressor",
    "DistilledTreeClassifier",
    "DistilledTreeRegressor",
    "Forest",
    "InTreesClassifier",
    "InTreesRegressor",
    "MissingPackageError",
    "ModelFileError",
    "NodeHarvestClassifier",
    "NodeHarvestRegressor",
    "Rule",
    "RulePath",
    "RuleSet",
    "Tree",
    "UnsupportedEnsembleError",
    "compare",
    "read_forest",
    "simplify",
    "simplify_path",
]
