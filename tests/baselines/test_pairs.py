"""Conditions on a column with two known categories."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from defragtrees import DefragClassifier
from defragtrees.baselines import (
    BornAgainTreeClassifier,
    DistilledTreeClassifier,
    InTreesClassifier,
    NodeHarvestClassifier,
)

METHODS = [
    BornAgainTreeClassifier,
    DefragClassifier,
    DistilledTreeClassifier,
    InTreesClassifier,
    NodeHarvestClassifier,
]


def loans(n_rows=300):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"records": rng.choice(["no", "yes"], n_rows), "debt": rng.normal(size=n_rows)}
    )
    is_bad = (X["records"] == "yes") | (X["debt"] > 1)
    y = np.where(is_bad ^ (rng.random(n_rows) < 0.05), "bad", "good")
    steps = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["records"]), remainder="passthrough"
    )
    forest = RandomForestClassifier(10, min_samples_leaf=5, random_state=0)
    return make_pipeline(steps, forest).fit(X, y), X, y


@pytest.mark.parametrize("method", METHODS)
def test_one_of_two_categories_is_named(method):
    model, X, y = loans()
    rules = method(model, random_state=0).fit(X, y).rules_
    text = rules.export("text")
    assert "records is " in text
    assert "records is not" not in text
    # The printed condition is the one that predicts.
    new = X.assign(records="lost")
    for rule, held in zip(rules.rules, rules.covers(new).T, strict=False):
        assert not held.any() or all(c.feature != 0 for c in rule.conditions)


@pytest.mark.parametrize("method", [InTreesClassifier, BornAgainTreeClassifier])
def test_unknown_categories_in_training_keep_their_side(method):
    model, X, y = loans()
    X.loc[:60, "records"] = "lost"
    rules = method(model, random_state=0).fit(X, y).rules_
    # Two names are not enough for three kinds of rows.
    assert "records is not" in rules.export("text")
