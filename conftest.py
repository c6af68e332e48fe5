"""Names that examples in docstrings may use; figures are closed after each test."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(autouse=True, scope="session")
def _names_for_examples(doctest_namespace):
    """`rules` and `numeric`, the lists that the docstring of RuleModel makes."""
    from defragtrees import Condition, Rule, RuleList

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
