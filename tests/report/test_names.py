"""The title of a page, and the names of target and model."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from defragtrees.report.model import model_words
from defragtrees.report.page import write_report
from defragtrees.report.summary import summarize
from defragtrees.report.text import condition_parts, cut, make_title, target_text
from tests.report.cases import loans, named, numbers, weather


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("heart_disease", "heart disease"),
        ("SalePrice", "SalePrice"),
        *((name, "") for name in ("y", None, "target", "y_test", "Class", 0)),
    ],
)
def test_a_name_that_says_nothing_is_none(name, words):
    assert target_text(name) == words


def test_a_title_names_what_is_predicted():
    simple, X, y = weather()
    found = summarize(simple, X, pd.Series(y, name="where_to_go"), data_name="days.csv")
    assert found.title == "Where to go in 3 rules"
    assert (found.target, found.data_name) == ("where to go", "days.csv")
    given = {"title": "Mine", "target_name": "place_"}
    found = summarize(simple, X, pd.Series(y, name="y"), **given)
    assert (found.title, found.target) == ("Mine", "place")
    # Otherwise the positive class, the data or the kind of prediction do.
    assert summarize(simple, X, y).title == "Predicting “out” in 3 rules"
    assert summarize(simple, X, y).target == "class"
    simple, X, y = loans()
    assert summarize(simple, X, y).title == "Predicting “unpaid” in 4 rules"
    simple, X, y = named("a", "b", (0, 1))
    assert summarize(simple, X, y).title == "Predicting 0 or 1 in 2 rules"
    assert make_title(simple.rules_, "y", "a.csv") == "Predictions for a.csv in 2 rules"
    assert make_title(numbers("list")[0].rules_) == "Predicting a number in 3 rules"
    assert make_title(numbers("list")[0].rules_, "price") == "Price in 3 rules"
    card = loans("points")[0].rules_
    assert make_title(card, "loan") == "Loan: 3 questions with points"


def test_a_model_has_a_name_in_words(tmp_path):
    forest = RandomForestClassifier(3)
    for model, words in (
        (forest, "random forest"),
        (make_pipeline(StandardScaler(), forest), "random forest"),
        (GridSearchCV(forest, {}), "random forest"),
        (CalibratedClassifierCV(forest), "random forest"),
        (HistGradientBoostingClassifier(), "gradient boosting"),
        (AdaBoostClassifier(forest), "AdaBoost"),
        (LogisticRegression(), "logistic regression"),
        (make_pipeline(StandardScaler(), SVC()), "support vector machine"),
        (RidgeClassifier(), "ridge"),
        (np.median, "the function median"),
        (lambda X: X, "the model"),
        (tmp_path / "model.ubj", "the model in model.ubj"),
    ):
        assert model_words(model) == words
    assert model_words(forest, 1_200) == "random forest of 1,200 trees"
    booster = type("Booster", (), {"__module__": "lightgbm.basic"})()
    assert model_words(booster) == "gradient boosting (LightGBM)"
    mine = type("MyTabPFNModel", (), {"predict": None})()
    assert model_words(mine) == "my tab PFN"


def test_long_names_are_cut_and_stay_distinct():
    long = "n" * 300
    simple, X, y = named(long, "b", (f"{long}1", f"{long}2"))
    found = summarize(simple, X, pd.Series(y, name=long), groups=[long] * len(y))
    assert found.rules._vocabulary.names == (cut(long), "b")
    condition = found.rules.rules[0].conditions[0]
    assert condition_parts(found.rules, condition)[1] == cut(long)
    assert found.target == cut(long)
    assert found.groups.labels == (cut(long),)
    assert len(found.title) == 200
    names = [found.outcome.view.prediction(label) for label in found.outcome.labels]
    assert [len(label) for label in names] == [194, 194]
    assert len(set(names)) == 2
    assert found.given_rules == simple.rules_
    assert found.scores == simple.evaluate(X, y)
    simple, X, y = loans()
    categories = tuple(f"{long}{k}" for k in range(3))
    rules = dataclasses.replace(simple.rules_, categories=(None, None, categories))
    X = X.assign(city=pd.Categorical.from_codes(X["city"].cat.codes, categories))
    found = summarize(rules, X, y)
    assert found.scores == simple.rules_.evaluate(*loans()[1:])
    condition = found.rules.rules[1].conditions[0]
    assert len(condition_parts(found.rules, condition)[2]) < 210


@pytest.mark.parametrize("place", ["feature", "class", "target", "category", "many"])
def test_a_page_has_a_budget_for_names_and_categories(tmp_path, place):
    long = "n" * 99_000
    if place == "category":
        known = (long, "Rome", "Oslo")
    else:
        known = tuple(f"city {k}" for k in range(20_000))
    simple, X, y = loans(n_rows=60)
    rules = simple.rules_
    if place == "feature":
        rules = dataclasses.replace(rules, feature_names=("late", "share", long))
        X = X.set_axis(rules.feature_names, axis=1)
    elif place == "class":
        rules = rules.relabel(class_labels={"unpaid": long})
    elif place == "target":
        y = y.rename(long)
    else:
        changed = {"categories": (None, None, known), "training": None}
        rules = dataclasses.replace(rules, **changed)
        X = X.assign(city=pd.Categorical.from_codes(X["city"].cat.codes, known))
    path = write_report(tmp_path / "page.html", rules, X, y)
    assert path.stat().st_size < 1_500_000
