"""Node Harvest: nodes of the ensemble's trees, averaged by weights."""

from defragtrees.methods.node_harvest.estimator import (
    NodeHarvestClassifier,
    NodeHarvestRegressor,
)

__all__ = ["NodeHarvestClassifier", "NodeHarvestRegressor"]
