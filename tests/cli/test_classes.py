"""Classes in another order than the model's, and CatBoost with text categories."""

import catboost
import joblib
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.datasets import load_breast_cancer

import defragtrees
from defragtrees import simplify
from defragtrees.cli.inputs import warn_if_swapped

SWAPPED = (
    "warning: The classes benign, malignant agree with {} in {}% of the rows, but "
    "--classes malignant,benign would in {}%. Give them in the order of the model."
)


@pytest.fixture(scope="module")
def cancer(tmp_path_factory):
    """A model that numbers its classes, and a target with names."""
    folder = tmp_path_factory.mktemp("cancer")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :4].rename(columns=lambda name: name.removeprefix("mean "))
    model = xgboost.XGBClassifier(n_estimators=10, max_depth=3, n_jobs=1).fit(X, y)
    model.save_model(folder / "model.json")
    names = np.array(["malignant", "benign"])
    X.assign(kind=names[y]).to_csv(folder / "data.csv", index=False)
    return folder


@pytest.mark.parametrize("name", ["simplify", "path", "compare", "report"])
def test_swapped_classes_are_a_warning(call, cancer, tmp_path, name):
    line = [name, cancer / "model.json", cancer / "data.csv", "--target", "kind"]
    line += ["--max-rules", 2]
    if name == "compare":
        line += ["--methods", "distilled"]
    if name == "report":
        line += ["--out", tmp_path / "report.html"]
    done = call(*line, "--classes", "benign,malignant")
    assert done.code == 0
    assert done.lines == [SWAPPED.format("column 'kind'", 6, 94)]
    done = call(*line, "--classes", "malignant,benign")
    assert (done.code, done.err) == (0, "")


def test_watch_says_so_in_a_note(call, cancer, tmp_path):
    rules = tmp_path / "rules.json"
    line = ["simplify", cancer / "model.json", cancer / "data.csv"]
    line += ["--classes", "malignant,benign", "--max-rules", 2, "--out", rules]
    assert call(*line).code == 0
    line = ["watch", rules, cancer / "data.csv", "--model", cancer / "model.json"]
    for more in ((), ("--target", "kind")):
        done = call(*line, "--classes", "benign,malignant", *more)
        assert (done.code, done.err) == (1, "")
        assert "name them in this order" in " ".join(done.out.split())
        assert "name them" not in call(*line, *more).out


def test_three_classes_name_the_order_of_the_model(call, files):
    line = ["simplify", files / "xgboost.json", files / "iris.csv", "--max-rules", 4]
    line += ["--target", "species", "--classes"]
    done = call(*line, "virginica,setosa,versicolor")
    assert "but --classes setosa,versicolor,virginica would in " in done.err
    assert call(*line, "setosa,versicolor,virginica").err == ""


@pytest.mark.parametrize("found", [0.95, 0.5])
def test_a_model_that_flags_too_many_rows_is_not_swapped(recwarn, found):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(1000) < 0.05, "bad", "good")
    # The other order would agree in more rows, but hardly in more of each class.
    is_flagged = rng.random(1000) < np.where(y == "bad", found, 0.65)
    predicted = np.where(is_flagged, "bad", "good")
    assert np.mean(predicted != y) > 0.6
    warn_if_swapped(("bad", "good"), predicted, y, "the rows")
    assert not recwarn.list


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """CatBoost with a column of text, and its files."""
    folder = tmp_path_factory.mktemp("shop")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"city": rng.choice(["Bonn", "Kiel", "Ulm"], 400), "size": rng.random(400)}
    ).round(3)
    y = np.where((X["city"] == "Kiel") ^ (X["size"] > 0.5), "yes", "no")
    options = {"iterations": 10, "depth": 3, "random_seed": 0, "thread_count": 1}
    options |= {"verbose": 0, "allow_writing_files": False}
    model = catboost.CatBoostClassifier(**options).fit(X, y, cat_features=["city"])
    pool = catboost.Pool(X, y, cat_features=["city"])
    for suffix in ("cbm", "json"):
        model.save_model(str(folder / f"model.{suffix}"), format=suffix, pool=pool)
    joblib.dump(model, folder / "model.joblib")
    X.assign(status=y).to_csv(folder / "data.csv", index=False)
    number = catboost.CatBoostRegressor(**options).fit(X, y == "yes", cat_features=[0])
    number.save_model(str(folder / "number.cbm"))
    return folder, X, simplify(model, X, y, max_rules=4, random_state=0).rules_


@pytest.mark.parametrize("suffix", ["cbm", "json", "joblib"])
def test_catboost_with_text_is_that_of_python(call, shop, tmp_path, suffix):
    folder, X, expected = shop
    out = tmp_path / "rules.json"
    line = ["simplify", folder / f"model.{suffix}", folder / "data.csv"]
    line += ["--target", "status", "--max-rules", 4, "--test-size", 0, "--out", out]
    done = call(*line, *(["--trust", "pickle"] if suffix == "joblib" else []))
    assert (done.code, done.err) == (0, "")
    rules = defragtrees.load(out)
    assert rules.categories == expected.categories == (("Bonn", "Kiel", "Ulm"), None)
    assert np.mean(rules.predict(X) == expected.predict(X)) > 0.97
    if suffix == "cbm":
        done = call("watch", out, folder / "data.csv", "--model", line[1])
        assert (done.code, done.err) == (0, "")


def test_catboost_for_numbers_with_text(call, shop):
    folder, *_ = shop
    done = call("simplify", folder / "number.cbm", folder / "data.csv", "--json")
    assert done.code == 0, done.err
    assert '"task": "regression"' in done.out


def test_catboost_without_a_category(refused, shop, tmp_path):
    folder, *_ = shop
    frame = pd.read_csv(folder / "data.csv")
    frame.loc[3, "city"] = None
    frame.to_csv(tmp_path / "data.csv", index=False)
    line = refused("simplify", folder / "model.cbm", tmp_path / "data.csv")
    assert "Column 'city' must have a category in every row, as CatBoost needs" in line
