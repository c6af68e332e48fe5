"""A rule file names nothing of columns that no rule uses; its profile is a choice."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

import defragtrees
from defragtrees import DefragClassifier
from defragtrees.cli import main

TEXTS = ("csv", "html", "json", "markdown", "python", "sql", "text")
N_ROWS = 400


@pytest.fixture(scope="module")
def patients():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, N_ROWS).astype(float),
            "name": pd.Categorical([f"Patient {i % 60}" for i in range(N_ROWS)]),
            "city": pd.Categorical(rng.choice(["Bonn", "Kiel", "Ulm"], N_ROWS)),
        }
    )
    y = np.where((X["age"] > 50) ^ (X["city"] == "Kiel"), "ill", "well")
    model = HistGradientBoostingClassifier(
        categorical_features="from_dtype", random_state=0, max_iter=20
    )
    return X, y, model.fit(X, y)


@pytest.fixture(scope="module", params=["list", "standalone", "points"])
def simple(request, patients):
    X, y, model = patients
    settings = {"form": request.param, "max_rules": 4, "random_state": 0}
    return DefragClassifier(model, **settings).fit(X, y)


@pytest.mark.filterwarnings("ignore:All rules predict the same")
def test_categories_that_no_rule_needs_are_not_stored(simple, patients, tmp_path):
    X, y, _ = patients
    rules, path = simple.rules_, tmp_path / "rules.json"
    assert rules.features == ("age", "city")
    simple.save(path)
    text = path.read_text(encoding="utf-8")
    assert "Kiel" in text
    assert "Patient" not in text
    loaded = defragtrees.load(path)
    assert loaded.categories == (None, (), ("Bonn", "Kiel", "Ulm"))
    for table in (X, X.to_numpy(dtype=object), X.drop(columns="name")):
        assert loaded.predict(table).tolist() == rules.predict(X).tolist()
    assert str(loaded) == str(rules)
    assert loaded.explain(X.iloc[0]) == rules.explain(X.iloc[0])
    for format in TEXTS:
        assert loaded.export(format) == rules.export(format)
        assert "Patient" not in loaded.export(format)
    assert [one.text for one in loaded.check(X, y).findings] == [
        one.text for one in rules.check(X, y).findings
    ]
    assert loaded.check(X.assign(age=X["age"] + 20), y)


def test_nor_are_those_of_rules_that_were_dropped(simple, patients, tmp_path):
    X, y, _ = patients
    rules = simple.rules_
    while "city" in rules.features:
        rules = rules.drop(1)
    rules.save(tmp_path / "rules.json")
    loaded = defragtrees.load(tmp_path / "rules.json")
    names = {loaded.feature_names[own.feature] for own in loaded.training.columns}
    assert names <= {"age"}
    assert loaded.categories[2] == ()
    assert loaded.predict(X).tolist() == rules.predict(X).tolist()
    loaded.check(X, y)


def test_a_file_without_profile_says_so(simple, patients, tmp_path):
    X, y, _ = patients
    simple.save(tmp_path / "rules.json", profile=False)
    loaded = defragtrees.load(tmp_path / "rules.json")
    assert loaded.training is None
    assert loaded.predict(X).tolist() == simple.predict(X).tolist()
    [note] = loaded.check(X, y).notes
    assert "have no profile of their training rows" in note
    assert loaded.refit(X, y).check(X, y).notes == ()


def test_the_command_line_leaves_the_profile_out(simple, patients, tmp_path, capsys):
    X, y, _ = patients
    data, rules = tmp_path / "data.csv", tmp_path / "rules.json"
    X.assign(y=y).to_csv(data, index=False)
    simple.save(rules)
    new = tmp_path / "new.json"
    assert main(["edit", str(rules), "--no-profile", "--out", str(new)]) == 0
    assert defragtrees.load(new).training is None
    capsys.readouterr()
    main(["watch", str(tmp_path / "new.json"), str(data)])
    shown = " ".join(capsys.readouterr().out.split())
    assert "no profile of their training rows" in shown
