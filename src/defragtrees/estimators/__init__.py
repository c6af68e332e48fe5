"""Methods: from an ensemble and rows to a few rules, each as a pair of estimators.

Each method is one module and one line in `METHODS`; it is imported when it is first
used. The module has two classes that inherit from Simplifier (`estimators/base.py`),
and whose names end as their outcomes say: "Classifier" and "Regressor".
"""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from defragtrees.estimators.base import Simplifier
from defragtrees.outcomes.base import Outcome

__all__ = ["METHODS", "PRESETS", "estimator_for", "installed_methods", "method_for"]

METHODS = {
    "defrag": "defragtrees.estimators.defrag",
    "born_again": "defragtrees.baselines.born_again",
    "intrees": "defragtrees.baselines.intrees",
    "node_harvest": "defragtrees.baselines.node_harvest",
    "distilled": "defragtrees.baselines.distilled",
    "optimal": "defragtrees.baselines.optimal",
}
# One word for a method with other settings: the paper's, to the letter.
PRESETS: dict[str, tuple[str, dict[str, Any]]] = {
    "paper": (
        "defrag",
        {
            "refine": False,
            "statement_weight": "paper",
            "init": "random",
            "e_step": "original",
            "target": "labels",
        },
    )
}
NEEDED = {"optimal": "pystreed"}  # packages that a method cannot do without


def installed_methods() -> tuple[str, ...]:
    """The keys of `METHODS` whose packages are installed."""
    return tuple(
        name for name in METHODS if name not in NEEDED or find_spec(NEEDED[name])
    )


def estimator_for(method: str, outcome: Outcome) -> type[Simplifier]:
    """The estimator class of a method for an outcome.

    Parameters
    ----------
    method : str
        A key of `METHODS`.
    outcome : Classes or Numbers
    """
    module = import_module(METHODS[method])
    names = (n for n in module.__all__ if n.endswith(outcome.estimator_suffix))
    return getattr(module, next(names))


def method_for(name: str, outcome: Outcome) -> tuple[type[Simplifier], dict[str, Any]]:
    """The estimator class of a method or preset, and the settings it stands for.

    Parameters
    ----------
    name : str
        A key of `METHODS` or of `PRESETS`.
    outcome : Classes or Numbers

    Examples
    --------
    >>> from defragtrees.outcomes import make_outcome
    >>> kind, settings = method_for("paper", make_outcome("regression"))
    >>> kind.__name__, settings["e_step"]
    ('DefragRegressor', 'original')
    """
    method, settings = PRESETS.get(name, (name, {}))
    return estimator_for(method, outcome), dict(settings)
