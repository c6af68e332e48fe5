"""The methods that turn a model into rules, each a pair of estimators.

Each method is one module and one line in `METHODS`, imported on first use. The module
has two subclasses of Simplifier (`estimators/base.py`), whose names end in "Classifier"
and "Regressor".
"""

from importlib import import_module

from defragtrees.estimators.base import Simplifier
from defragtrees.outcomes.base import Outcome

__all__ = ["METHODS", "compared_methods", "estimator_for"]

METHODS = {
    "defrag": "defragtrees.estimators.defrag",
    "born_again": "defragtrees.baselines.born_again",
    "intrees": "defragtrees.baselines.intrees",
    "node_harvest": "defragtrees.baselines.node_harvest",
    "distilled": "defragtrees.baselines.distilled",
    "paper": "defragtrees.paper.estimator",
}


def compared_methods() -> tuple[str, ...]:
    """The default methods of `compare`: all but the paper's."""
    return tuple(name for name in METHODS if name != "paper")


def estimator_for(method: str, outcome: Outcome) -> type[Simplifier]:
    """Return the estimator class of a method for an outcome.

    Parameters
    ----------
    method : str
        A key of `METHODS`.
    outcome : Classes or Numbers

    Examples
    --------
    >>> from defragtrees.outcomes import make_outcome
    >>> estimator_for("paper", make_outcome("regression")).__name__
    'FABRulesRegressor'
    """
    module = import_module(METHODS[method])
    names = (n for n in module.__all__ if n.endswith(outcome.estimator_suffix))
    kind: type[Simplifier] = getattr(module, next(names))
    return kind
