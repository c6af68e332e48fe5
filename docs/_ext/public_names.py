"""Everything public: the names of `__all__`, and the methods that people call.

What is listed here is in the reference, and has an example in its docstring
(`tests/test_site.py`).
"""

import inspect
from importlib import import_module
from pathlib import Path

__all__ = [
    "MODULES",
    "guides",
    "guides_of",
    "methods_of",
    "pictures",
    "public_objects",
    "shown_methods",
]

MODULES = (
    "defragtrees",
    "defragtrees.metrics",
    "defragtrees.plots",
    "defragtrees.export",
    "defragtrees.monitoring",
    "defragtrees.datasets",
    "defragtrees.baselines",
    "defragtrees.paper",
)
# Names that other modules of the package call; users do not need them.
INTERNAL = {
    "calibrated",
    "encode",
    "Format",
    "finish_sums",
    "linked",
    "named",
    "predict_target",
    "sum_start",
    "values_of",
}
INTERNAL_ENDINGS = ("_encoded", "_from_raw")

# Where people read more about a name, or about all names of a module.
GUIDES = {
    "defragtrees.simplify": ("start", "how-short", "probabilities", "columns", "forms"),
    "defragtrees.simplify_path": ("how-short",),
    "defragtrees.RulePath": ("how-short",),
    "defragtrees.compare": ("compare", "rivals"),
    "defragtrees.Comparison": ("compare", "rivals"),
    "defragtrees.DefragClassifier": ("start", "probabilities", "forms", "readers"),
    "defragtrees.DefragRegressor": ("probabilities", "forms", "readers"),
    "defragtrees.DefragCounter": ("counts",),
    "defragtrees.DefragSurvival": ("survival",),
    "defragtrees.paper": ("method", "reproduction"),
    "defragtrees.baselines": ("rivals", "compare"),
    "defragtrees.RuleModel": ("start", "editing", "watching", "exports"),
    "defragtrees.RuleList": ("forms",),
    "defragtrees.RuleSet": ("forms",),
    "defragtrees.Scorecard": ("forms",),
    "defragtrees.RuleEnsemble": ("forms", "rivals"),
    "defragtrees.load": ("start", "readers"),
    "defragtrees.Rule": ("columns", "trust"),
    "defragtrees.Condition": ("columns",),
    "defragtrees.diff": ("editing",),
    "defragtrees.read_forest": ("readers",),
    "defragtrees.Forest": ("readers", "architecture"),
    "defragtrees.Tree": ("readers", "architecture"),
    "defragtrees.export": ("exports", "readers"),
    "defragtrees.find_segments": ("segments",),
    "defragtrees.explain_errors": ("segments",),
    "defragtrees.compare_models": ("segments",),
    "defragtrees.Segments": ("segments",),
    "defragtrees.write_report": ("report",),
    "defragtrees.plots": ("pictures",),
    "defragtrees.metrics": ("trust", "probabilities"),
    "defragtrees.monitoring": ("watching",),
    "defragtrees.datasets": ("gallery/index",),
}
FOR_ERRORS = ("reliability", "readers")


def is_internal(name):
    """Whether a name is for the package itself."""
    return name.startswith("_") or name in INTERNAL or name.endswith(INTERNAL_ENDINGS)


def public_objects():
    """Yield the full name and the object of each public function and class."""
    for module in MODULES:
        imported = import_module(module)
        for name in imported.__all__:
            thing = getattr(imported, name)
            if callable(thing) and not is_internal(name):
                yield f"{module}.{name}", thing


def methods_of(kind):
    """Names of the methods of a class that are written in this package."""
    names = []
    for name, thing in inspect.getmembers(kind, callable):
        module = getattr(thing, "__module__", None) or ""
        if module.startswith("defragtrees") and not is_internal(name):
            names.append(name)
    return names


def shown_methods():
    """For each public class, by its full name, the methods to show."""
    return {
        name: methods_of(thing)
        for name, thing in public_objects()
        if inspect.isclass(thing)
    }


def guides_of(name, thing):
    """The pages of the site that say more about a public name."""
    if name in GUIDES:
        return GUIDES[name]
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return FOR_ERRORS
    return GUIDES[name.rpartition(".")[0]]


def guides():
    """For each public name, links to the pages that say more about it."""
    return {
        name: ", ".join(f":doc:`/{page}`" for page in guides_of(name, thing))
        for name, thing in public_objects()
    }


def pictures():
    """For each function that draws, what its picture on the site shows."""
    folder = Path(__file__).parents[1] / "pictures"
    return {
        name: inspect.getdoc(thing).splitlines()[0]
        for name, thing in public_objects()
        if name.startswith("defragtrees.plots.")
        and (folder / f"{thing.__name__}.png").exists()
    }
