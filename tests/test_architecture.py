"""Who may import whom: imports point down the floors, and the core stays light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import defragtrees

ROOT = Path(defragtrees.__file__).parent
FLOORS = {
    "conditions": 0,
    "errors": 0,
    "files": 0,
    "_optional": 0,
    "_values": 0,
    "answering": 0,
    "columns": 0,
    "_version": 0,
    "render": 0,
    "scores": 0,
    "sentences": 0,
    "progress": 0,
    "tables": 0,
    "trees": 0,
    "forest": 1,
    "bins": 1,
    "outcome": 1,
    "rules": 1,
    "readers": 2,
    "problem": 2,
    "mixture": 2,
    "refine": 2,
    "metrics": 2,
    "datasets": 2,
    "export": 2,
    "rows": 2,
    "methods": 3,
    "plots": 3,
    "report": 4,
    "simplification": 4,
    "path": 4,
    "comparison": 4,
    "reproduce": 5,
    "cli": 5,
    "demo": 5,
    "__main__": 5,
    "__init__": 5,
}
# The door of every method reads the ensemble, measures the result and builds the
# problem; the other rooms of one floor do not know each other.
NEIGHBOURS = {
    ("rules", "outcome"),
    ("forest", "outcome"),
    ("methods", "methods"),
    ("readers", "readers"),
    ("mixture", "mixture"),
    ("refine", "refine"),
    ("path", "simplification"),
    ("report", "path"),
    ("__main__", "cli"),
    ("cli", "demo"),
    ("cli", "reproduce"),
}


def room_of(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports_of(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            "defragtrees"
        ):
            parts = node.module.split(".")
            names = [parts[1]] if len(parts) > 1 else [a.name for a in node.names]
            yield from names
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("defragtrees."):
                    yield alias.name.split(".")[1]


def test_every_room_has_a_floor():
    rooms = {room_of(path) for path in ROOT.rglob("*.py")}
    assert rooms == set(FLOORS)


def test_imports_point_down():
    climbing = []
    for path in ROOT.rglob("*.py"):
        room = room_of(path)
        for other in imports_of(path):
            allowed = FLOORS[other] < FLOORS[room] or (room, other) in NEIGHBOURS
            if FLOORS[room] == FLOORS[other] == 0 or room == other:
                allowed = True
            if not allowed:
                climbing.append(f"{path.relative_to(ROOT)} imports {other}")
    assert climbing == []


def loaded_by(statement):
    code = f"import sys; {statement}; print(*{{m.split('.')[0] for m in sys.modules}})"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_imports_no_optional_package():
    # scikit-learn imports pandas for itself where it finds it.
    more = loaded_by("from defragtrees import *") - loaded_by("import sklearn.ensemble")
    optional = "pandas polars xgboost lightgbm catboost matplotlib treelite numba torch"
    optional += " click dask distributed duckdb onnx plotly pyarrow skops"
    assert more & set(optional.split()) == set()
    assert "defragtrees" in more


def test_importing_the_package_loads_names_when_they_are_used():
    loaded = loaded_by("import defragtrees; dir(defragtrees)")
    assert {"numpy", "scipy", "sklearn"} & loaded == set()
    assert "sklearn" not in loaded_by("from defragtrees import RuleSet, Forest")
    assert set(defragtrees.__all__) <= set(dir(defragtrees))
    code = (
        "from defragtrees import *; import copy, pickle, defragtrees; "
        "assert defragtrees.plots.trade_off and defragtrees.metrics.error; "
        "assert set(defragtrees.__all__) <= set(globals()); "
        "assert pickle.loads(pickle.dumps(RuleSet)) is RuleSet; "
        "assert copy.deepcopy(Rule((), 1.0)) == Rule((), 1.0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = defragtrees.nothing


def test_public_names_are_the_promised_ones_and_documented():
    assert sorted(defragtrees.__all__) == [
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
        "Rule",
        "RulePath",
        "RuleSet",
        "Tree",
        "UnsupportedEnsembleError",
        "compare",
        "read_forest",
        "simplify",
        "simplify_path",
    ]
    for name in defragtrees.__all__:
        assert getattr(defragtrees, name).__doc__, name


def test_no_module_is_longer_than_400_lines():
    long = {
        str(path.relative_to(ROOT)): n
        for path in ROOT.rglob("*.py")
        if (n := len(path.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert long == {}
