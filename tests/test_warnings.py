"""Warnings name the line of the user that called, not one inside the package."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from defragtrees import DefragClassifier, simplify
from defragtrees._utils.warnings import warn
from defragtrees.baselines import DistilledTreeClassifier

RNG = np.random.default_rng(0)
X = RNG.random((120, 3))
Y = np.where(X[:, 0] + X[:, 1] > 1, "yes", "no")


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(10, random_state=0).fit(X, Y)


def named_lines(call):
    """Files of the warnings of a call, and the lines that they name."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return [
        (Path(one.filename).name, lines[one.lineno - 1].strip(), str(one.message))
        for one in caught
    ]


def test_simplify_names_the_line_of_its_call(forest):
    def call():
        simplify(forest, X[:12], max_rules=50, random_state=0)  # this line

    [(file, line, message), *_] = named_lines(call)
    assert file == Path(__file__).name
    assert line.endswith("# this line")
    assert message == (
        "max_rules=50 is more than the 12 rows of X; at most 2 rules can be found."
    )


def test_a_fit_names_the_line_of_its_call(forest):
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(c=np.nan)
    named = RandomForestClassifier(5, random_state=0).fit(frame.fillna(0.0), Y)

    def call():
        DefragClassifier(named, max_rules=2).fit(frame.assign(d=1.0))  # this line
        DistilledTreeClassifier(named, max_rules=2).fit(frame)  # this line

    found = named_lines(call)
    assert {file for file, _, _ in found} == {Path(__file__).name}
    assert all(line.endswith("# this line") for _, line, _ in found)
    messages = [message for _, _, message in found]
    assert any("columns that the model was not trained on" in one for one in messages)
    assert sum("has only missing values" in one for one in messages) == 2


def test_a_rule_model_names_the_line_of_its_call(forest):
    rules = simplify(forest, X, Y, random_state=0).rules_

    def call():
        rules.predict_frame(np.full((1, 3), np.nan))  # this line

    [(file, line, message)] = named_lines(call)
    assert file == Path(__file__).name
    assert line.endswith("# this line")
    assert "1 of 1 row have a missing value" in message


def test_outside_of_the_package_the_caller_is_named():
    def call():
        warn("Mind the gap.", FutureWarning)  # this line

    [(file, line, message)] = named_lines(call)
    assert (file, message) == (Path(__file__).name, "Mind the gap.")
    assert line.endswith("# this line")
