"""The methods that turn a model into rules, each a pair of estimators.

Each method is one module and one line in `METHODS`, imported on first use. The module
has two subclasses of Simplifier (`estimators/base.py`), whose names end in "Classifier"
and "Regressor".
"""

from defragtrees.estimators.base import METHODS, compared_methods, estimator_for

__all__ = ["METHODS", "compared_methods", "estimator_for"]

METHODS |= {
    "defrag": "defragtrees.estimators.defrag",
    "born_again": "defragtrees.baselines.born_again",
    "intrees": "defragtrees.baselines.intrees",
    "node_harvest": "defragtrees.baselines.node_harvest",
    "distilled": "defragtrees.baselines.distilled",
    "paper": "defragtrees.paper.estimator",
}
