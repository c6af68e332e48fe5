"""Born-Again tree: one tree grown on what the ensemble answers."""

from defragtrees.methods.born_again.estimator import (
    BornAgainTreeClassifier,
    BornAgainTreeRegressor,
)

__all__ = ["BornAgainTreeClassifier", "BornAgainTreeRegressor"]
