"""What all tests share: their surroundings, and names for examples in docstrings."""

import gc
import os
import sys

import pytest
from hypothesis import HealthCheck, settings

# Threads, the width and colours of the terminal, and a display are what tests say, not
# where they run; nor do warnings that somebody asks for belong to what programs print.
# It is set before numpy and matplotlib are imported.
os.environ |= {
    "COLUMNS": "80",
    "MPLBACKEND": "agg",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
for name in ("FORCE_COLOR", "NO_COLOR", "PYTHONDEVMODE", "PYTHONWARNINGS"):
    os.environ.pop(name, None)

# How long an example takes is for the machine to say, and no fault of a test.
UNHURRIED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
# The same examples in every run; search wider by hand with HYPOTHESIS_PROFILE=wide.
settings.register_profile("fixed", derandomize=True, **UNHURRIED)
settings.register_profile("wide", max_examples=1000, **UNHURRIED)
settings.register_profile("many", max_examples=10_000, **UNHURRIED)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

# What is imported and collected stays to the end: looking for garbage among it again
# and again took a third of the time of all tests.
gc.set_threshold(20_000, 20, 20)


def pytest_collection_finish():
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(autouse=True, scope="session")
def _names_for_examples(doctest_namespace):
    """`rules` and `numeric`, the lists of the docstring of RuleModel, and a `card`."""
    from defragtrees import Condition, Rule, RuleList, Scorecard

    hot = Rule((Condition(0, lower=30.0), Condition(1, upper=9.0)), "no", (0.7, 0.3))
    warm = Rule((Condition(0, lower=20.0),), "yes", (0.2, 0.8))
    doctest_namespace["rules"] = RuleList(
        (hot, warm),
        Rule((), "no", (0.9, 0.1)),
        ("degrees", "wind"),
        "classification",
        ("no", "yes"),
    )
    warm = Rule((Condition(0, lower=20.0),), 9.0)
    doctest_namespace["numeric"] = RuleList(
        (warm,), Rule((), 1.0), ("degrees",), "regression"
    )
    warm = Rule((Condition(0, lower=20.0),), 5.0, points=(3.0,))
    base = Rule((), 2.0, points=(2.0,))
    doctest_namespace["card"] = Scorecard((warm,), base, ("degrees",), "regression")
