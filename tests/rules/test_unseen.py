"""Values that no training row had are named, or rejected if that is asked for."""

import numpy as np
import pandas as pd
import pytest

from defragtrees import Condition, DefragClassifier, Rule, RuleList, load
from defragtrees.cli.group import run

MESSAGE = "rows have a missing value or a category that no training row had"


@pytest.fixture(scope="module")
def simple():
    rng = np.random.default_rng(0)
    cities = pd.Categorical(rng.choice(["Bern", "Rome"], 300), ["Bern", "Oslo", "Rome"])
    X = pd.DataFrame(
        {"age": rng.normal(size=300), "size": rng.normal(size=300), "city": cities}
    )
    X.loc[rng.random(300) < 0.2, "size"] = np.nan
    y = (X["age"] > 0) & (X["size"].fillna(1.0) > 0) | (X["city"] == "Rome")
    fitted = DefragClassifier(max_rules=6, augment=0, random_state=0).fit(X, y)
    assert set(fitted.rules_.features) == {"age", "size", "city"}
    return fitted


@pytest.fixture
def rows():
    return pd.DataFrame(
        {
            "age": [1.0, np.nan, 1.0, 1.0, np.nan],
            "size": [1.0, 1.0, np.nan, 1.0, np.nan],
            "city": ["Bern", "Bern", "Bern", "Oslo", None],
        }
    )


NAMED = ["", "age is missing", "", "city is new"]
NAMED.append("age is missing, size is missing, city is missing")


def test_a_column_names_what_no_training_row_had(simple, rows):
    rules = simple.rules_
    assert rules.predict_frame(rows, unseen=True)["unseen"].tolist() == NAMED
    with pytest.warns(UserWarning, match=f"3 of 5 {MESSAGE}"):
        assert "unseen" not in rules.predict_frame(rows)
    assert rules.predict(rows).tolist() == simple.predict(rows).tolist()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("on_missing", "'age' is missing in 2 of 5 rows, the first of them row 2"),
        ("on_unknown", "'city' is new in 1 of 5 rows, the first of them row 4"),
    ],
)
def test_such_rows_can_be_rejected(simple, rows, option, message):
    for model in (simple, simple.rules_):
        with pytest.raises(ValueError, match=message):
            model.predict(rows, **{option: "error"})
        assert len(model.predict(rows.iloc[[0, 2]], **{option: "error"})) == 2
        with pytest.raises(ValueError, match=f"{option} must be"):
            model.predict(rows, **{option: "raise"})


def test_without_a_profile_every_missing_value_is_new():
    rule = Rule((Condition(0, upper=1.0, missing=True),), "no")
    rules = RuleList((rule,), Rule((), "yes"), ("a",), "classification", ("no", "yes"))
    with pytest.raises(ValueError, match="'a' is missing in 1 of 2 rows"):
        rules.predict([[1.0], [np.nan]], on_missing="error")
    assert rules.drop(1).predict_frame([[np.nan]], unseen=True)["unseen"].tolist() == [
        ""
    ]


def test_the_command_line_says_the_same(simple, rows, tmp_path, capsys):
    simple.save(tmp_path / "rules.json")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    line = ["predict", str(tmp_path / "rules.json"), str(tmp_path / "rows.csv")]
    assert run([*line, "--unseen", "column", "--out", str(tmp_path / "out.csv")]) == 0
    written = pd.read_csv(tmp_path / "out.csv", keep_default_na=False)
    expected = load(tmp_path / "rules.json").predict_frame(rows, unseen=True)
    assert written["unseen"].tolist() == expected["unseen"].tolist() == NAMED
    capsys.readouterr()
    assert run(line) == 0
    assert f"3 of 5 {MESSAGE}; --unseen column shows which" in capsys.readouterr().err
    assert run([*line, "--unseen", "error"]) == 2
    assert "'age' is missing in 2 of 5 rows" in capsys.readouterr().err
