"""Turn a trained tree ensemble into a short list of rules."""

from importlib import import_module

from defragtrees._version import __version__ as __version__

# Type checkers know this name; importing typing would be the slowest line here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from defragtrees import baselines as baselines
    from defragtrees import metrics as metrics
    from defragtrees import plots as plots
    from defragtrees._api import load, simplify
    from defragtrees._compare import Comparison, RulePath, compare, simplify_path
    from defragtrees.ensembles.forest import Forest, Tree
    from defragtrees.ensembles.readers import read_forest
    from defragtrees.errors import (
        MissingPackageError,
        ModelFileError,
        UnsupportedModelError,
    )
    from defragtrees.estimators.defrag import (
        DefragClassifier,
        DefragCounter,
        DefragRegressor,
    )
    from defragtrees.report.page import write_report
    from defragtrees.rules.conditions import Condition, Rule
    from defragtrees.rules.diff import diff
    from defragtrees.rules.model import RuleModel
    from defragtrees.rules.models import RuleEnsemble, RuleList, RuleSet, Scorecard
    from defragtrees.segments.found import Segments
    from defragtrees.segments.search import (
        compare_models,
        explain_errors,
        find_segments,
    )

__all__ = [
    "Comparison",
    "Condition",
    "DefragClassifier",
    "DefragCounter",
    "DefragRegressor",
    "Forest",
    "MissingPackageError",
    "ModelFileError",
    "Rule",
    "RuleEnsemble",
    "RuleList",
    "RuleModel",
    "RulePath",
    "RuleSet",
    "Scorecard",
    "Segments",
    "Tree",
    "UnsupportedModelError",
    "compare",
    "compare_models",
    "diff",
    "explain_errors",
    "find_segments",
    "load",
    "read_forest",
    "simplify",
    "simplify_path",
    "write_report",
]

# Each name is loaded on first use, so that importing the package is fast.
NAMES = {
    "_compare": ("Comparison", "RulePath", "compare", "simplify_path"),
    "rules.diff": ("diff",),
    "errors": ("MissingPackageError", "ModelFileError", "UnsupportedModelError"),
    "ensembles.forest": ("Forest", "Tree"),
    "estimators.defrag": ("DefragClassifier", "DefragCounter", "DefragRegressor"),
    "ensembles.readers": ("read_forest",),
    "report": ("write_report",),
    "rules.conditions": ("Condition", "Rule"),
    "rules.models": ("RuleEnsemble", "RuleList", "RuleSet", "Scorecard"),
    "rules.model": ("RuleModel",),
    "segments.found": ("Segments",),
    "segments.search": ("compare_models", "explain_errors", "find_segments"),
    "_api": ("load", "simplify"),
}
# Packages with public names.
MODULES = (
    "baselines",
    "datasets",
    "errors",
    "estimators",
    "export",
    "metrics",
    "paper",
    "plots",
    "report",
    "rules",
)


def __getattr__(name: str) -> "Any":
    if name in MODULES:
        return import_module(f"defragtrees.{name}")
    for module, names in NAMES.items():
        if name in names:
            value = getattr(import_module(f"defragtrees.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *MODULES, "__version__"])
