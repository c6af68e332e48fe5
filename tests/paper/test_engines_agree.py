"""Whatever the engine, the rules are the same; and an absent one names its extra."""

import subprocess
import sys

import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from benchmarks.paper.data import make_synthetic
from defragtrees import datasets
from defragtrees._api import simplify
from defragtrees.data import devices
from defragtrees.estimators.defrag import DefragClassifier, DefragRegressor
from defragtrees.paper.engines import ENGINES, on_torch

SETS = ("energy", "spambase", "synthetic1", "synthetic2")


@pytest.fixture(scope="module", params=SETS)
def case(request):
    name = request.param
    is_bundled = name in ("energy", "spambase")
    own = datasets.load_sample(name) if is_bundled else make_synthetic(name, 2000, 0)
    is_number = own.task == "regression"
    kind = RandomForestRegressor if is_number else RandomForestClassifier
    X, y = own.X[:800], own.y[:800]
    forest = kind(20, min_samples_leaf=5, random_state=0).fit(X, y)
    return (DefragRegressor if is_number else DefragClassifier), forest, X, y


def rules_of(case, engine, refine):
    kind, forest, X, y = case
    simple = kind(forest, engine=engine, refine=refine, n_restarts=5, random_state=0)
    return simple.fit(X, y).rules_


@pytest.mark.parametrize("refine", [True, False])
@pytest.mark.parametrize("engine", [name for name in ENGINES if name != "numpy"])
def test_rules_are_those_of_the_numpy_engine(case, engine, refine):
    if engine == "numba":
        pytest.importorskip("numba")
    if engine == "cuda":
        torch = pytest.importorskip("torch")
        if not torch.cuda.is_available():
            pytest.skip("torch finds no CUDA device")
    assert rules_of(case, engine, refine) == rules_of(case, "numpy", refine)


@pytest.mark.parametrize("e_step", ["original", "converged"])
def test_rules_of_the_papers_method_are_those_of_the_numpy_engine(e_step):
    pytest.importorskip("numba")
    data = make_synthetic("synthetic1", 400, 0)
    forest = RandomForestClassifier(10, min_samples_leaf=10, random_state=0)
    forest.fit(data.X, data.y)
    shared = {"method": "paper", "e_step": e_step, "n_restarts": 4, "random_state": 0}
    numpy_rules, numba_rules = (
        simplify(forest, data.X, data.y, engine=engine, **shared).rules_
        for engine in ("numpy", "numba")
    )
    assert numba_rules == numpy_rules


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rules_of_torch_on_the_cpu_are_those_of_the_numpy_engine(
    case, dtype, monkeypatch
):
    pytest.importorskip("torch")
    made, real = [], on_torch.TorchEngine

    def make(*rows_and_device):
        made.append(rows_and_device[-2:])
        return real(*rows_and_device)

    monkeypatch.setattr(on_torch, "TorchEngine", make)
    monkeypatch.setattr(on_torch, "EXACT_ROWS", 10**6 if dtype == "float64" else 0)
    monkeypatch.setattr(devices, "DEVICE", "cpu")
    assert rules_of(case, "cuda", False) == rules_of(case, "numpy", False)
    assert set(made) == {("cpu", dtype)}


def run_without(package, engine):
    code = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == {package!r}:
            raise ModuleNotFoundError(name, name={package!r})
sys.meta_path.insert(0, Absent())
from defragtrees import DefragClassifier
X = [[float(i % 7), float(i % 5)] for i in range(70)]
y = [int(row[0] > 3) for row in X]
print(DefragClassifier(n_restarts=1, random_state=0).fit(X, y).rules_.n_rules)
try:
    DefragClassifier(engine={engine!r}, random_state=0).fit(X, y)
except ImportError as error:
    print(type(error).__name__, error)
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("package", "engine", "extra"),
    [("numba", "numba", "numba"), ("torch", "cuda", "gpu")],
)
def test_asking_for_an_engine_that_is_not_installed_names_its_extra(
    package, engine, extra
):
    rules, message = run_without(package, engine)
    assert rules == "2"
    assert message == (
        f'MissingPackageError engine="{engine}" needs {package}, which is not '
        f"installed. Install it with: pip install 'defragtrees[{extra}]'"
    )
