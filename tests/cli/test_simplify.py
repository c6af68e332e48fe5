"""The rules that the command finds are those that the library finds."""

import json
import re

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeRegressor

import defragtrees
from defragtrees import RuleModel, read_forest, simplify
from defragtrees.data.files import FileSource
from defragtrees.ensembles.readers import from_r
from defragtrees.rules.text import MAYBE_TRAINED

FEATURES = ["sepal length", "sepal width", "petal length", "petal width"]
CLASSES = "setosa,versicolor,virginica"
TREE = "sklearn.tree._tree.Tree"


@pytest.fixture(scope="module")
def iris(files):
    return pd.read_csv(files / "iris.csv")


def rows_of(done):
    assert done.code == 0, done.err
    assert done.err == ""
    return json.loads(done.out)["rules"]


def as_shown(rules):
    """The rows as JSON has them, with null where nothing was measured."""
    return [
        {name: None if value != value else value for name, value in row.items()}
        for row in rules._view.rows()
    ]


@pytest.mark.parametrize(
    ("model", "target", "more"),
    [
        ("xgboost.json", "class", []),
        ("unnamed.ubj", "class", ["--columns", ",".join(FEATURES)]),
        ("lightgbm.txt", "class", []),
        ("catboost.cbm", "species", []),
        ("catboost.json", "species", []),
    ],
)
def test_rules_are_those_of_the_library(call, files, iris, model, target, more):
    options = ["--target", target, "--test-size", 0, "--max-rules", 4, "--seed", 3]
    done = call(
        "simplify", files / model, files / "iris.csv", *options, *more, "--json"
    )
    forest = read_forest(files / model)
    expected = simplify(
        forest, iris[FEATURES], iris[target], max_rules=4, random_state=3
    )
    assert rows_of(done) == as_shown(expected.rules_)
    assert json.loads(done.out)["scored_on"] == "150 training rows"


@pytest.mark.parametrize(
    ("model", "more"),
    [
        ("forest.skops", ["--trust", TREE]),
        ("forest.joblib", ["--trust", "pickle"]),
        ("forest.pkl", ["--trust", "pickle"]),
    ],
)
def test_three_ways_to_save_a_forest_of_sklearn(call, files, model, more):
    options = ["--target", "species", "--test-size", 0, "--json"]
    rows = rows_of(call("simplify", files / model, files / "iris.csv", *options, *more))
    assert {row["then"] for row in rows} == set(CLASSES.split(","))


def test_columns_are_taken_in_the_order_in_which_they_are_named(call, tmp_path):
    # The model calls its features x1 and x2, for want of names; so does the file.
    rng = np.random.default_rng(0)
    X = rng.random((200, 2))
    model = DecisionTreeRegressor(max_depth=1).fit(X, X[:, 0] > 0.5)
    joblib.dump(model, tmp_path / "model.pkl")
    table = pd.DataFrame(X[:, ::-1], columns=["x1", "x2"])
    table.to_csv(tmp_path / "data.csv", index=False)
    options = ["--columns", "x2,x1", "--max-rules", 2, "--json", "--trust", "pickle"]
    done = call("simplify", tmp_path / "model.pkl", tmp_path / "data.csv", *options)
    assert {row["if"].split()[0] for row in rows_of(done)} == {"x2", "otherwise"}


def test_a_folder_of_r_trees(call, files, iris, rtrees):
    done = call(
        *("simplify", rtrees, files / "iris.csv", "--target", "species"),
        *("--columns", ",".join(FEATURES), "--classes", CLASSES),
        *("--test-size", 0, "--json"),
    )
    forest = from_r.read(rtrees, feature_names=FEATURES, classes=CLASSES.split(","))
    expected = simplify(forest, iris[FEATURES], iris["species"], random_state=0)
    assert rows_of(done) == as_shown(expected.rules_)


@pytest.mark.parametrize("model", ["catboost.cbm", "catboost.json", "xgboost.json"])
def test_what_a_model_is_called_does_not_matter(call, files, tmp_path, model):
    renamed = tmp_path / "model.bin"
    renamed.write_bytes((files / model).read_bytes())
    assert call("simplify", renamed, files / "iris.csv", "--max-rules", 2).code == 0


@pytest.mark.parametrize(
    "data", ["iris.csv.gz", "iris.tsv", "iris.parquet", "iris.feather"]
)
def test_all_kinds_of_data_files_say_the_same(call, files, data):
    options = ["--target", "class", "--max-rules", "3"]
    expected = call("simplify", files / "xgboost.json", files / "iris.csv", *options)
    done = call("simplify", files / "xgboost.json", files / data, *options)
    assert done == expected
    assert done.code == 0


def test_scores_are_those_of_the_rows_held_out(call, files, tmp_path):
    out = tmp_path / "rules.json"
    options = ["--target", "species", "--test-size", "30", "--out", out, "--json"]
    done = call("simplify", files / "catboost.cbm", files / "iris.csv", *options)
    facts = json.loads(done.out)
    assert facts["scored_on"] == "30 rows held out from the rules"
    assert facts["rules"] == as_shown(defragtrees.load(out))
    assert RuleModel.from_dict(facts["rules_document"]) == defragtrees.load(out)
    # Of thirty rows, so that a share is a number of thirtieths.
    wrong = facts["scores"]["error"] * 30
    assert wrong == pytest.approx(round(wrong))
    assert 0 <= wrong <= 4


def test_json_has_all_measures_and_the_rules(call, files):
    options = ["--target", "species", "--test-size", "30", "--json"]
    model, data = files / "catboost.cbm", files / "iris.csv"
    facts = json.loads(call("simplify", model, data, *options).out)
    scores = facts["scores"]
    for measure in ("auc", "average_precision", "log_loss", "brier", "recall"):
        assert 0 <= scores[measure] <= 2
        assert 0 <= scores[f"model_{measure}"] <= 2
    rules = RuleModel.from_dict(facts["rules_document"])
    assert [row["rule"] for row in facts["rules"]] == list(range(1, len(rules) + 1))


def test_text_has_the_measures_beside_the_model(call, files):
    options = ["--target", "species", "--test-size", "30"]
    done = call("simplify", files / "catboost.cbm", files / "iris.csv", *options)
    lines = done.out.splitlines()
    place = next(k for k, line in enumerate(lines) if line.startswith("on 30 rows"))
    names = ["on 30 rows held out from the rules", "rules", "model"]
    assert re.split("  +", lines[place]) == names
    note = f"The model {MAYBE_TRAINED}; pass others with --validation."
    assert note in " ".join(done.out.split())
    short, others = ("error ", "AUC ", "log loss "), ("Brier score ", "recall ")
    for label in short:
        assert sum(line.startswith(label) for line in lines) == 1, label
    assert not any(line.startswith(others) for line in lines)
    arguments = ["simplify", files / "catboost.cbm", files / "iris.csv", *options]
    every = call(*arguments, "--details").out.splitlines()
    for label in (*short, *others):
        assert sum(line.startswith(label) for line in every) == 1, label


def test_weights_count_as_in_the_library(call, files, iris):
    options = ["--target", "class", "--weights", "weight", "--test-size", 0, "--json"]
    done = call("simplify", files / "xgboost.json", files / "iris.csv", *options)
    expected = simplify(
        read_forest(files / "xgboost.json"),
        iris[FEATURES],
        iris["class"],
        iris["weight"],
        random_state=0,
    )
    assert rows_of(done) == as_shown(expected.rules_)


def test_rules_use_the_features_and_conditions_that_are_allowed(call, files, tmp_path):
    out = tmp_path / "rules.json"
    done = call(
        *("simplify", files / "xgboost.json", files / "iris.csv", "--target", "class"),
        *("--features", "petal length,sepal width", "--max-conditions", 1),
        *("--target-is", "labels", "--out", out),
    )
    assert done.code == 0
    rules = defragtrees.load(out)
    assert set(rules.features) <= {"petal length", "sepal width"}
    assert max(rule.n_conditions for rule in rules) == 1


def test_classes_get_the_labels_that_are_named(call, files):
    options = ["--target", "species", "--classes", CLASSES, "--json"]
    done = call("simplify", files / "lightgbm.txt", files / "iris.parquet", *options)
    assert {row["then"] for row in rows_of(done)} == set(CLASSES.split(","))
    assert json.loads(done.out)["scores"]["model_error"] < 0.1


def test_without_a_target_there_is_agreement_only(call, files):
    done = call("simplify", files / "xgboost.json", files / "iris.csv", "--json")
    scores = json.loads(done.out)["scores"]
    assert scores["fidelity"] > 0.8
    assert "error" not in scores


def test_unnamed_features_are_the_columns_that_are_left(call, files, tmp_path, iris):
    iris[["class", *FEATURES]].to_csv(tmp_path / "plain.csv")  # with an index
    options = ["--target", "class", "--test-size", 0, "--json"]
    done = call("simplify", files / "unnamed.ubj", tmp_path / "plain.csv", *options)
    forest = read_forest(files / "unnamed.ubj")
    expected = simplify(forest, iris[FEATURES], iris["class"], random_state=0)
    assert rows_of(done) == as_shown(expected.rules_)


def test_the_order_of_columns_has_no_say(call, files, tmp_path, iris):
    iris[iris.columns[::-1]].to_csv(tmp_path / "turned.csv", index=False)
    options = ["--target", "class"]
    turned = call("simplify", files / "xgboost.json", tmp_path / "turned.csv", *options)
    straight = call("simplify", files / "xgboost.json", files / "iris.csv", *options)
    assert turned == straight


@pytest.mark.parametrize("model", ["shop.txt", "shop.json"])
@pytest.mark.parametrize("data", ["shop.csv", "shop.parquet"])
def test_text_becomes_the_categories_that_the_model_knows(call, files, model, data):
    if model == "shop.json":
        pytest.importorskip("xgboost", "3.1", reason="before, labels were not saved")
    options = ["--target", "price", "--test-size", 0, "--json"]
    done = call("simplify", files / model, files / data, *options)
    table = pd.read_parquet(files / "shop.parquet")
    table["city"] = table["city"].astype("category")
    X = table[["city", "size", "is_new"]]
    forest = read_forest(files / model)
    expected = simplify(forest, X, table["price"], random_state=0)
    assert rows_of(done) == as_shown(expected.rules_)
    # A city called None is a city, though most would take the word for a gap.
    assert "city" in expected.rules_.features
    scores = json.loads(done.out)["scores"]
    assert scores["fidelity"] == pytest.approx(expected.training_["fidelity"])


def test_numbers_are_read_to_the_last_bit(files, tmp_path):
    rng = np.random.default_rng(0)
    values = rng.random(5000) * 10.0 ** rng.integers(-5, 6, 5000)
    path = tmp_path / "numbers.csv"
    path.write_text("a\n" + "\n".join(map(repr, values.tolist())) + "\n")
    (part,) = FileSource(path).parts()
    assert part.X["a"].tolist() == values.tolist()


def test_the_papers_method_is_one_word_away(call, files, iris, tmp_path):
    inputs = [files / "xgboost.json", files / "iris.csv", "--target", "class"]
    options = [*inputs, "--test-size", 0, "--method", "paper"]
    expected = simplify(
        read_forest(files / "xgboost.json"),
        iris[FEATURES],
        iris["class"],
        method="paper",
        random_state=0,
    )
    done = call("simplify", *options, "--json")
    assert rows_of(done) == as_shown(expected.rules_)
    assert json.loads(done.out)["method"] == "paper"
    settings = tmp_path / "settings.toml"
    settings.write_text("e_step = 'converged'\n")
    assert call("simplify", *options, "--settings", settings).code == 0
    refused = call("simplify", *inputs, "--settings", settings)
    assert refused.code == 2
    assert "'e_step', which is no setting of DefragClassifier" in refused.err
    refused = call("simplify", *inputs[:2], "--method", "paper")
    assert "learns from the true values here, so it needs --target." in refused.err


@pytest.fixture
def halves(iris, tmp_path):
    """Rows for the model and rows that it has not seen, in two files."""
    paths = tmp_path / "seen.csv", tmp_path / "unseen.csv"
    for path, start in zip(paths, (0, 1), strict=True):
        iris[start::2].to_csv(path, index=False)
    return paths


@pytest.mark.parametrize("test_size", [0, 25])
def test_rows_that_the_model_has_not_seen(call, files, iris, halves, test_size):
    seen, unseen = halves
    options = ["--target", "class", "--test-size", test_size, "--max-rules", 4]
    given = ["simplify", files / "lightgbm.txt", seen, *options]
    done = call(*given, "--validation", unseen, "--json")
    train, new = iris[::2], iris[1::2].reset_index(drop=True)
    where = "75 validation rows that the model was not trained on"
    counting = scored = np.arange(75)
    if test_size:
        where = "25 validation rows held out from the rules"
        counting, scored = train_test_split(counting, test_size=25, random_state=0)
    expected = simplify(
        read_forest(files / "lightgbm.txt"),
        train[FEATURES],
        train["class"],
        validation=(new.loc[counting, FEATURES], new.loc[counting, "class"]),
        max_rules=4,
        random_state=0,
    )
    assert rows_of(done) == as_shown(expected.rules_)
    facts = json.loads(done.out)
    assert facts["scored_on"] == where
    scores = expected.evaluate(new.loc[scored, FEATURES], new.loc[scored, "class"])
    assert facts["scores"]["error"] == pytest.approx(scores["error"])
    text = call(*given, "--validation", unseen).out
    # The head of the table of scores, whose words are broken into lines.
    assert f"on {where.split(' rows ')[0]}" in text
    assert MAYBE_TRAINED not in text


def test_what_a_validation_file_must_have(refused, files, halves, tmp_path):
    seen, unseen = halves
    given = "simplify", files / "lightgbm.txt", seen, "--validation"
    assert "--validation needs --target" in refused(*given, unseen)
    target = "--target", "class"
    bare = tmp_path / "bare.csv"
    pd.read_csv(unseen).drop(columns="petal width").to_csv(bare, index=False)
    text = refused(*given, bare, *target)
    assert "DATA names 'petal width', but bare.csv has no such column" in text
    wrong = tmp_path / "wrong.csv"
    pd.read_csv(unseen).assign(**{"class": 7}).to_csv(wrong, index=False)
    assert "holds 7" in refused(*given, wrong, *target).replace("'", "")
    text = refused(*given, unseen, *target, "--out", unseen)
    assert "is read by this command" in text


def test_a_model_that_is_asked_takes_validation_rows(call, iris, halves, tmp_path):
    seen, unseen = halves
    model = tmp_path / "model.joblib"
    joblib.dump(
        LogisticRegression(max_iter=1000).fit(iris[FEATURES], iris["species"]), model
    )
    done = call(
        *("simplify", model, seen, "--trust", "pickle", "--target", "species"),
        *("--validation", unseen, "--test-size", 0, "--max-rules", 3, "--json"),
    )
    assert sum(row["n_rows"] for row in rows_of(done)) == 150
    evidence = json.loads(done.out)["rules_document"]["evidence"]
    assert evidence == {"source": "validation", "n_rows": 75, "n_trained": 75}


def test_a_validation_file_with_rows_of_data(call, files, iris):
    given = ["simplify", files / "lightgbm.txt", files / "iris.csv", "--max-rules", 4]
    given += ["--target", "class", "--validation", files / "iris.csv"]
    assert "rows of validation are rows of X, and count as such" in call(*given).err
