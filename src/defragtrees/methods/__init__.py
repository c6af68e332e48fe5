"""The methods, each as a pair of estimators: a classifier and a regressor."""

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

__all__ = ["METHODS", "estimator_for"]

METHODS = {
    "defrag": (DefragClassifier, DefragRegressor),
    "born_again": (BornAgainTreeClassifier, BornAgainTreeRegressor),
    "intrees": (InTreesClassifier, InTreesRegressor),
    "node_harvest": (NodeHarvestClassifier, NodeHarvestRegressor),
    "distilled": (DistilledTreeClassifier, DistilledTreeRegressor),
}


def estimator_for(method, outcome):
    """The estimator class of a method for an outcome.

    Parameters
    ----------
    method : str
        A key of `METHODS`.
    outcome : Classes or Numbers
    """
    return next(
        kind
        for kind in METHODS[method]
        if kind.__name__.endswith(outcome.estimator_suffix)
    )
