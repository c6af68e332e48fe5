"""Other published methods that turn a tree ensemble into rules, for comparison."""

from defragtrees.baselines.born_again import (
    BornAgainTreeClassifier,
    BornAgainTreeRegressor,
)
from defragtrees.baselines.distilled import (
    DistilledTreeClassifier,
    DistilledTreeRegressor,
)
from defragtrees.baselines.intrees import InTreesClassifier, InTreesRegressor
from defragtrees.baselines.node_harvest import (
    NodeHarvestClassifier,
    NodeHarvestRegressor,
)

__all__ = [
    "BornAgainTreeClassifier",
    "BornAgainTreeRegressor",
    "DistilledTreeClassifier",
    "DistilledTreeRegressor",
    "InTreesClassifier",
    "InTreesRegressor",
    "NodeHarvestClassifier",
    "NodeHarvestRegressor",
]
