"""What users and contributors rely on: light imports and a true page.

Which package may import which is a contract in pyproject.toml that `make lint` checks.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import defragtrees

ROOT = Path(defragtrees.__file__).parent
PAGE = ROOT.parents[1] / "docs" / "architecture.md"


def loaded_by(statement):
    code = f"import sys; {statement}; print(*{{m.split('.')[0] for m in sys.modules}})"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_imports_no_optional_package():
    # scikit-learn imports pandas for itself where it finds it.
    more = loaded_by("from defragtrees import *") - loaded_by("import sklearn.ensemble")
    optional = "pandas polars xgboost lightgbm catboost matplotlib treelite numba"
    optional += " click dask distributed duckdb jinja2 onnx pyarrow skops"
    assert more & set(optional.split()) == set()
    assert "defragtrees" in more


def test_no_module_imports_what_opens_a_connection():
    pattern = (
        r"(?m)^\s*(?:import|from)\s+(?:socket|urllib|http|requests|httpx|ftplib)\b"
    )
    modules = list(ROOT.rglob("*.py"))
    assert len(modules) > 100
    assert [m.name for m in modules if re.search(pattern, m.read_text("utf-8"))] == []


def test_importing_the_package_loads_names_when_they_are_used():
    loaded = loaded_by("import defragtrees; dir(defragtrees)")
    assert {"numpy", "scipy", "sklearn"} & loaded == set()
    light = "from defragtrees import RuleSet, Forest"
    light += "; assert 'scipy.optimize' not in sys.modules"
    assert "sklearn" not in loaded_by(light)
    assert set(defragtrees.__all__) <= set(dir(defragtrees))
    code = (
        "from defragtrees import *; import copy, pickle, defragtrees; "
        "assert defragtrees.plots.trade_off and defragtrees.metrics.gains; "
        "assert set(defragtrees.__all__) <= set(globals()); "
        "assert pickle.loads(pickle.dumps(RuleSet)) is RuleSet; "
        "assert copy.deepcopy(Rule((), 1.0)) == Rule((), 1.0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = defragtrees.nothing


def test_files_and_folders_named_on_the_page_exist():
    text = PAGE.read_text(encoding="utf-8")
    named = re.findall(r"`([\w./-]+(?:\.(?:py|md|js|css|html|j2)|/))`", text)
    assert len(named) > 20
    places = (ROOT, ROOT.parents[1])
    missing = {name for name in named if not any((p / name).exists() for p in places)}
    assert missing == set()


def test_the_page_has_a_line_for_every_package():
    text = PAGE.read_text(encoding="utf-8")
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert {name for name in packages if f"| `{name}/` |" not in text} == set()
