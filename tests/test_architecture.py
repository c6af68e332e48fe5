"""Who may import whom, how large things may be, and what the page on it says."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import defragtrees

ROOT = Path(defragtrees.__file__).parent
FLOORS = {
    "additive": 0,
    "conditions": 0,
    "sides": 0,
    "labels": 0,
    "dates": 0,
    "editing": 0,
    "edits": 0,
    "parsing": 0,
    "rule_checks": 0,
    "upstairs": 0,
    "value_text": 0,
    "round_numbers": 0,
    "errors": 0,
    "files": 0,
    "_optional": 0,
    "_types": 0,
    "_values": 0,
    "answering": 0,
    "columns": 0,
    "devices": 0,
    "combining": 0,
    "documents": 0,
    "intervals": 0,
    "_version": 0,
    "plain_data": 0,
    "render": 0,
    "scorecards": 0,
    "scores": 0,
    "sentences": 0,
    "progress": 0,
    "tables": 0,
    "training": 0,
    "two_samples": 0,
    "trees": 0,
    "forest": 1,
    "bins": 1,
    "boxes": 1,
    "outcome": 1,
    "rules": 1,
    "differences": 2,
    "readers": 2,
    "problem": 2,
    "mixture": 2,
    "refine": 2,
    "metrics": 2,
    "datasets": 2,
    "export": 2,
    "rows": 2,
    "watching": 2,
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


PAGE = ROOT.parents[1] / "docs" / "architecture.md"
MODULES = {
    path.relative_to(ROOT): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(ROOT.rglob("*.py"))
}
MOST_LINES, MOST_BODY_LINES, MOST_METHODS, MOST_TASK_TESTS = 400, 40, 20, 15
TASKS = ("classification", "regression")


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
    assert "sklearn" not in loaded_by("from defragtrees import RuleModel, Forest")
    assert set(defragtrees.__all__) <= set(dir(defragtrees))
    code = (
        "from defragtrees import *; import copy, pickle, defragtrees; "
        "assert defragtrees.plots.trade_off and defragtrees.metrics.error; "
        "assert set(defragtrees.__all__) <= set(globals()); "
        "assert pickle.loads(pickle.dumps(RuleModel)) is RuleModel; "
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
    for name in defragtrees.__all__:
        assert getattr(defragtrees, name).__doc__, name


def test_public_measures_are_the_promised_ones_with_examples():
    assert sorted(defragtrees.metrics.__all__) == [
        "calibration",
        "coverage",
        "error",
        "expected_cost",
        "fidelity",
        "overlap",
        "rule_stability",
        "score_table",
        "similarity",
        "stability",
    ]
    without = {
        name
        for name in defragtrees.metrics.__all__
        if ">>> " not in getattr(defragtrees.metrics, name).__doc__
    }
    assert without == set()


def test_no_module_is_longer_than_400_lines():
    long = {
        str(path): n
        for path in MODULES
        if (n := len((ROOT / path).read_text(encoding="utf-8").splitlines()))
        > MOST_LINES
    }
    assert long == {}


def is_private(name):
    return name.startswith("_") and not name.endswith("_")


def test_no_module_imports_what_another_package_keeps_private():
    seen = []
    for path, tree in MODULES.items():
        package = path.parent.parts
        for node in ast.walk(tree):
            if not isinstance(node, ast.ImportFrom):
                continue
            if not (node.module or "").startswith("defragtrees"):
                continue
            for alias in node.names:
                place = (*node.module.split(".")[1:], alias.name)
                for i, name in enumerate(place):
                    # What a package keeps private is for itself and what it contains.
                    if is_private(name) and package[:i] != place[:i]:
                        seen.append(f"{path} imports {'.'.join(place)}")
    assert seen == []


def names_made_in(tree):
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Attribute, ast.Name)):
            if isinstance(node.ctx, ast.Store):
                yield node.attr if isinstance(node, ast.Attribute) else node.id


def test_no_module_uses_a_private_method_of_another_package():
    made = {}
    for path, tree in MODULES.items():
        made.setdefault(path.parent.parts, set()).update(names_made_in(tree))
    ours = set().union(*made.values())
    seen = []
    for path, tree in MODULES.items():
        package = path.parent.parts
        around = [made.get(package[:i], set()) for i in range(len(package) + 1)]
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Attribute) and is_private(node.attr)):
                continue
            is_own = isinstance(node.value, ast.Name) and node.value.id in (
                "self",
                "cls",
            )
            if not is_own and node.attr in ours.difference(*around):
                seen.append(f"{path}:{node.lineno} uses {ast.unparse(node)}")
    assert seen == []


def body_lines(function):
    body = function.body
    if ast.get_docstring(function) is not None:
        body = body[1:]
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def test_functions_and_classes_are_short():
    long = []
    for path, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                size, most = body_lines(node), MOST_BODY_LINES
            elif isinstance(node, ast.ClassDef):
                size = sum(isinstance(part, ast.FunctionDef) for part in node.body)
                most = MOST_METHODS
            else:
                continue
            if size > most:
                long.append(f"{path}: {node.name} has {size}, more than {most}")
    assert long == []


def names_a_task(node):
    name = getattr(node, "attr", getattr(node, "id", None))
    return getattr(node, "value", None) in TASKS or name in ("task", "_task")


def test_few_places_ask_which_task_it_is():
    places = [
        f"{path}:{node.lineno}"
        for path, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        and any(isinstance(op, (ast.Eq, ast.NotEq)) for op in node.ops)
        and any(names_a_task(side) for side in (node.left, *node.comparators))
    ]
    assert len(places) <= MOST_TASK_TESTS, places


def table_rows(n_cells):
    """The cells of the page's tables with so many columns, without their headers."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(cells) == n_cells:
            yield cells


def test_page_names_the_rooms_and_their_floors():
    on_page = {}
    for floor, rooms, _ in table_rows(3):
        if floor.isdigit():
            for room in re.findall(r"`([\w/]+)`", rooms):
                on_page[room.strip("/")] = int(floor)
    assert on_page == FLOORS


def test_files_and_folders_named_on_the_page_exist():
    text = PAGE.read_text(encoding="utf-8")
    named = re.findall(r"`([\w./-]+(?:\.(?:py|md|js|css|html)|/))`", text)
    assert len(named) > 40
    places = (ROOT, ROOT.parents[1])
    missing = {name for name in named if not any((p / name).exists() for p in places)}
    assert missing == set()


def test_steps_on_the_page_are_in_the_files_that_they_name():
    seen, missing = 0, []
    for file, names in table_rows(2):
        path = Path(file.strip("`"))
        if path not in MODULES:
            continue
        there = set(names_made_in(MODULES[path]))
        for name in re.findall(r"`([A-Za-z_][\w.]*)`", names):
            seen += 1
            if not there.issuperset(name.split(".")):
                missing.append(f"{path}: {name}")
    assert seen > 20
    assert missing == []
