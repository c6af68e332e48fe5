"""Methods: from an ensemble and rows to a few rules, each as a pair of estimators.

Each method is one module and one line in `METHODS`; it is imported when it is first
used. The module has two classes that inherit from Simplifier (`estimators/base.py`),
and whose names end as their outcomes say: "Classifier" and "Regressor".
"""

from importlib import import_module
from importlib.util import find_spec

from defragtrees.estimators.base import Simplifier
from defragtrees.outcomes.base import Outcome

__all__ = ["METHODS", "compared_methods", "estimator_for", "installed_methods"]

METHODS = {
    "defrag": "defragtrees.estimators.defrag",
    "born_again": "defragtrees.baselines.born_again",
    "intrees": "defragtrees.baselines.intrees",
    "node_harvest": "defragtrees.baselines.node_harvest",
    "distilled": "defragtrees.baselines.distilled",
    "optimal": "defragtrees.baselines.optimal",
    "paper": "defragtrees.paper.estimator",
}
NEEDED = {"optimal": "pystreed"}  # packages that a method cannot do without


def installed_methods() -> tuple[str, ...]:
    """The keys of `METHODS` whose packages are installed."""
    return tuple(
        name for name in METHODS if name not in NEEDED or find_spec(NEEDED[name])
    )


def compared_methods() -> tuple[str, ...]:
    """The methods that `compare` takes by default; the paper's own on request only."""
    return tuple(name for name in installed_methods() if name != "paper")


def estimator_for(method: str, outcome: Outcome) -> type[Simplifier]:
    """The estimator class of a method for an outcome.

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
    return getattr(module, next(names))
