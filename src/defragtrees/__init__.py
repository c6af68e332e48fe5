"""A handful of rules that say nearly what a tree ensemble says."""

from importlib import import_module

from defragtrees._version import __version__ as __version__

# As type checkers read it; importing typing would take longer than all else here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from defragtrees import metrics as metrics
    from defragtrees import plots as plots
    from defragtrees.comparison import Comparison, compare
    from defragtrees.differences import diff
    from defragtrees.errors import (
        MissingPackageError,
        ModelFileError,
        UnsupportedEnsembleError,
    )
    from defragtrees.forest import Forest, Tree
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
    from defragtrees.methods.optimal import OptimalTreeClassifier, OptimalTreeRegressor
    from defragtrees.path import RulePath, simplify_path
    from defragtrees.readers import read_forest
    from defragtrees.report import write_report
    from defragtrees.rules import Condition, Rule, RuleSet
    from defragtrees.simplification import simplify

__all__ = [
    "BornAgainTreeClassifier",
    "BornAgainTreeRegressor",
    "Comparison",
    "Condition",
    "DefragClassifier",
    "DefragRegressor",
    "DistilledTreeClassifier",
    "DistilledTreeRegressor",
    "Forest",
    "InTreesClassifier",
    "InTreesRegressor",
    "MissingPackageError",
    "ModelFileError",
    "NodeHarvestClassifier",
    "NodeHarvestRegressor",
    "OptimalTreeClassifier",
    "OptimalTreeRegressor",
    "Rule",
    "RulePath",
    "RuleSet",
    "Tree",
    "UnsupportedEnsembleError",
    "compare",
    "diff",
    "read_forest",
    "simplify",
    "simplify_path",
    "write_report",
]

# A name is loaded when it is first used: importing the package loads nothing else.
NAMES = {
    "comparison": ("Comparison", "compare"),
    "differences": ("diff",),
    "errors": ("MissingPackageError", "ModelFileError", "UnsupportedEnsembleError"),
    "forest": ("Forest", "Tree"),
    "methods.born_again": ("BornAgainTreeClassifier", "BornAgainTreeRegressor"),
    "methods.defrag": ("DefragClassifier", "DefragRegressor"),
    "methods.distilled": ("DistilledTreeClassifier", "DistilledTreeRegressor"),
    "methods.optimal": ("OptimalTreeClassifier", "OptimalTreeRegressor"),
    "methods.intrees": ("InTreesClassifier", "InTreesRegressor"),
    "methods.node_harvest": ("NodeHarvestClassifier", "NodeHarvestRegressor"),
    "path": ("RulePath", "simplify_path"),
    "readers": ("read_forest",),
    "report": ("write_report",),
    "rules": ("Condition", "Rule", "RuleSet"),
    "simplification": ("simplify",),
}
MODULES = (
    "bins",
    "comparison",
    "datasets",
    "errors",
    "export",
    "forest",
    "methods",
    "metrics",
    "path",
    "plots",
    "readers",
    "report",
    "rules",
    "simplification",
)


def __getattr__(name):
    if name in MODULES:
        return import_module(f"defragtrees.{name}")
    for module, names in NAMES.items():
        if name in names:
            value = getattr(import_module(f"defragtrees.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__, *MODULES})
