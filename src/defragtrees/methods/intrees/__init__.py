"""inTrees: rules of the ensemble's paths, pruned, selected and put in order."""

from defragtrees.methods.intrees.estimator import (
    InTreesClassifier,
    InTreesRegressor,
)

__all__ = ["InTreesClassifier", "InTreesRegressor"]
