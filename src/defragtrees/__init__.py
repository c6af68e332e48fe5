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
    from defragtrees._api import load as load
    from defragtrees._api import simplify as simplify
    from defragtrees._compare import Comparison as Comparison
    from defragtrees._compare import RulePath as RulePath
    from defragtrees._compare import compare as compare
    from defragtrees._compare import simplify_path as simplify_path
    from defragtrees.ensembles.forest import Forest as Forest
    from defragtrees.ensembles.forest import Tree as Tree
    from defragtrees.ensembles.readers import read_forest as read_forest
    from defragtrees.errors import MissingPackageError as MissingPackageError
    from defragtrees.errors import ModelFileError as ModelFileError
    from defragtrees.errors import UnsupportedModelError as UnsupportedModelError
    from defragtrees.estimators.defrag import DefragClassifier as DefragClassifier
    from defragtrees.estimators.defrag import DefragCounter as DefragCounter
    from defragtrees.estimators.defrag import DefragRegressor as DefragRegressor
    from defragtrees.estimators.defrag import DefragSurvival as DefragSurvival
    from defragtrees.report.page import write_report as write_report
    from defragtrees.rules.conditions import Condition as Condition
    from defragtrees.rules.conditions import Rule as Rule
    from defragtrees.rules.diff import diff as diff
    from defragtrees.rules.model import RuleModel as RuleModel
    from defragtrees.rules.models import RuleEnsemble as RuleEnsemble
    from defragtrees.rules.models import RuleList as RuleList
    from defragtrees.rules.models import RuleSet as RuleSet
    from defragtrees.rules.models import Scorecard as Scorecard
    from defragtrees.segments.found import Segments as Segments
    from defragtrees.segments.search import compare_models as compare_models
    from defragtrees.segments.search import explain_errors as explain_errors
    from defragtrees.segments.search import find_segments as find_segments

# Each name is loaded on first use, so that importing the package is fast.
NAMES = {
    "_compare": ("Comparison", "RulePath", "compare", "simplify_path"),
    "rules.diff": ("diff",),
    "errors": ("MissingPackageError", "ModelFileError", "UnsupportedModelError"),
    "ensembles.forest": ("Forest", "Tree"),
    "estimators.defrag": (
        "DefragClassifier",
        "DefragCounter",
        "DefragRegressor",
        "DefragSurvival",
    ),
    "ensembles.readers": ("read_forest",),
    "report": ("write_report",),
    "rules.conditions": ("Condition", "Rule"),
    "rules.models": ("RuleEnsemble", "RuleList", "RuleSet", "Scorecard"),
    "rules.model": ("RuleModel",),
    "segments.found": ("Segments",),
    "segments.search": ("compare_models", "explain_errors", "find_segments"),
    "_api": ("load", "simplify"),
}
__all__ = sorted(name for names in NAMES.values() for name in names)
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
