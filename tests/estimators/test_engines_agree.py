"""Whatever the engine, the rules are the same; and an absent one names its extra."""

import subprocess
import sys

import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from benchmarks.paper.data import make_synthetic
from defragtrees import datasets
from defragtrees.data.devices import ENGINES
from defragtrees.estimators.defrag import DefragClassifier, DefragRegressor

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


def rules_of(case, engine):
    kind, forest, X, y = case
    return kind(forest, engine=engine, random_state=0).fit(X, y).rules_


@pytest.mark.parametrize("engine", [name for name in ENGINES if name != "numpy"])
def test_rules_are_those_of_the_numpy_engine(case, engine):
    if engine == "numba":
        pytest.importorskip("numba")
    if engine == "cuda":
        torch = pytest.importorskip("torch")
        if not torch.cuda.is_available():
            pytest.skip("torch finds no CUDA device")
    assert rules_of(case, engine) == rules_of(case, "numpy")


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
print(DefragClassifier(random_state=0).fit(X, y).rules_.n_rules)
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
