"""Agreement with the model: its classes, what it is compared with, and one side."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import defragtrees
from defragtrees import RuleModel, read_forest, simplify
from defragtrees.baselines import DistilledTreeClassifier
from defragtrees.ensembles.predictions import match_classes
from tests.monitoring.test_check import by_kind, fitted, rows

NEW = rows(1000, np.random.default_rng(3))
NEW_ROWS = 10_000  # of a search, as users have


def agreement(rules, model, X=NEW[0], **settings):
    """The check beside a model, and the finding on its agreement."""
    found = rules.check(X, model=model, **settings)
    return found, by_kind(found, "agreement").get("all rules")


def renamed(model, classes):
    """The model with other labels, as a file of another library has them."""
    return dataclasses.replace(read_forest(model), classes=classes)


@pytest.mark.parametrize(
    "classes", [(0, 1), (1, 2), (False, True), (0.0, 1.0), ("0", "1")], ids=str
)
def test_numbered_classes_are_those_of_the_rules_in_order(classes):
    rules, model = fitted()
    _, expected = agreement(rules, model)
    found, finding = agreement(rules, renamed(model, classes))
    assert finding == expected
    assert not found.has_moved
    own = ", ".join(map(str, classes))
    assert found.notes == (f"the model's classes {own} are taken to be bad, good",)
    # Named by the user they need no note.
    named, finding = agreement(rules, renamed(model, classes), classes=["bad", "good"])
    assert (finding, named.notes) == (expected, ())


def test_the_wrong_order_is_noticed():
    rules, model = fitted()
    _, expected = agreement(rules, model)
    turned = renamed(model, (1, 0))

    def predict(X):  # 1 is bad
        return turned.predict(X)

    found, finding = agreement(rules, predict)
    assert finding.is_moved
    assert finding.now == pytest.approx(1 - expected.now)
    assert found.notes[-1] == (
        "with the model's classes 0, 1 as good, bad, they would agree on "
        f"{expected.now_text} of the rows; name them in this order (classes, watch "
        "--classes)"
    )
    found, finding = agreement(rules, predict, classes=("good", "bad"))
    assert (finding, found.notes) == (expected, ())
    # As it is if the user names it.
    wrong, finding = agreement(rules, model, classes=("good", "bad"))
    assert finding.is_moved
    assert wrong.notes[-1].startswith(
        "with the model's classes bad, good as bad, good, they would agree on "
        f"{expected.now_text}"
    )


def test_the_right_order_of_three_classes_is_found():
    X, y = load_iris(return_X_y=True, as_frame=True)
    words = np.array(["red", "green", "blue"])[y]
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    rules = simplify(renamed(forest, ("red", "green", "blue")), X, words, max_rules=4,
                     random_state=0).rules_  # fmt: skip
    turned = renamed(forest, (2, 0, 1))  # not in the order of the rules
    found, finding = agreement(rules, turned.predict, X)
    assert finding.is_moved
    assert "the model's classes 0, 1, 2 are taken to be red, green, blue" in found.notes
    assert found.notes[-1].startswith(
        "with the model's classes 0, 1, 2 as green, blue, red, they would agree on 9"
    )
    found, finding = agreement(rules, turned.predict, X,
                               classes=("green", "blue", "red"))  # fmt: skip
    assert not finding.is_moved


def test_labels_that_read_the_same_are_the_same():
    X, y = NEW[0][["age", "income"]], np.where(NEW[1] == "good", 7, 3)
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    rules = simplify(forest, X, y, max_rules=3, random_state=0).rules_
    _, expected = agreement(rules, forest, X)
    found, finding = agreement(rules, renamed(forest, ("3", "7.0")), X)
    assert (finding, found.notes) == (expected, ())
    for classes in (("3", "7"), (0, 1)):
        found = rules.evaluate(X, model=renamed(forest, classes))
        assert found == rules.evaluate(X, model=forest)
    # Numbers that rules have too need not be their numbers.
    assert match_classes((0, 1, 2), (1, 2, 3)).labels == (1, 2, 3)
    assert match_classes((3, 4), (3, 4, 5)).labels == (3, 4)
    assert match_classes(("a", "b", "c"), ("a", "b")).labels == ("a", "b", "c")


def test_a_model_may_have_more_classes_than_the_rules():
    rules, model = fitted()

    def predict(X):
        is_new = np.arange(len(X)) % 10 == 0
        return np.where(is_new, "unsure", model.predict(X))

    found, finding = agreement(rules, predict)
    assert finding.now == (rules.predict(NEW[0]) == predict(NEW[0])).mean()
    assert found.notes == (
        "the rules never predict these classes of the model: unsure",
    )


def test_a_function_may_return_labels_or_numbers_and_not_all_of_them():
    rules, model = fitted()
    _, expected = agreement(rules, model)
    for labels in (("bad", "good"), (0, 1), (1, 2)):
        forest = renamed(model, labels)
        assert agreement(rules, forest.predict)[1] == expected
    X = NEW[0][model.predict(NEW[0]) == "bad"]
    for label in ("bad", 0, 0.0, False):
        found, finding = agreement(rules, lambda X, a=label: np.full(len(X), a), X)
        assert finding.now == (rules.predict(X) == "bad").mean()
        # A fraction is a probability of the second class.
        assert len(found.notes) == (label != "bad" and not isinstance(label, float))
    with pytest.raises(ValueError, match="one prediction for each of the"):
        agreement(rules, lambda X: np.zeros(3))


@pytest.mark.parametrize(
    ("model", "classes", "message"),
    [
        (("a", "b"), None, r"such as \['bad', 'good'\].*'b'\].*watch --classes"),
        ((-1, 1), None, "model must predict the classes of the rules"),
        (("bad", "fine"), None, r"it predicts \['bad', 'fine'\]"),
        ((0, 1, 2), None, "model must predict the classes of the rules"),
        ((0, 1), ("bad",), r"for each of the model's, \[0, 1\]; got \['bad'\]"),
        ((0, 1), ("bad", "fine"), r"classes must name classes of the rules, \['bad'"),
        ((0, 1), ("bad", "bad"), "each once; got"),
        ((0, 1), "bad", "must be a list of classes of the rules; got 'bad'"),
        ((0, 1), 2, "must be a list of classes of the rules; got 2"),
    ],
)
def test_classes_that_cannot_be_matched_are_one_sentence(model, classes, message):
    rules, forest = fitted()
    if len(model) == 3:

        def predict(X):
            return np.arange(len(X)) % 3
    else:
        predict = renamed(forest, model)
    with pytest.raises(ValueError, match=message):
        rules.check(NEW[0], model=predict, classes=classes)


def test_classes_need_a_model_and_rules_with_classes():
    rules, _ = fitted()
    with pytest.raises(ValueError, match="pass it too, as model"):
        rules.check(NEW[0], classes=["bad", "good"])
    numeric, model = fitted("list", "numbers")
    with pytest.raises(ValueError, match="classes is for rules that predict a class"):
        numeric.check(NEW[0], model=model, classes=[1, 2])
    with pytest.raises(ValueError, match="model must be for classification"):
        rules.check(NEW[0], model=model)


@pytest.mark.parametrize("form", ["list", "standalone", "points"])
def test_agreement_is_tested_in_every_form(form):
    rules, model = fitted(form)
    _, finding = agreement(rules, model)
    same = rules.predict(NEW[0]) == model.predict(NEW[0])
    assert finding.now == pytest.approx(same.mean())
    assert finding.then == 1 - rules.training.agreement.loss
    assert not finding.is_moved
    rng = np.random.default_rng(0)

    def worse(X):
        labels = model.predict(X)
        is_other = rng.random(len(X)) < 0.2
        return np.where(is_other, np.where(labels == "bad", "good", "bad"), labels)

    assert agreement(rules, worse)[1].is_moved
    # Better agreement is no drift.
    _, perfect = agreement(rules, rules.predict)
    assert (perfect.now, perfect.p) == (1.0, 1.0)


def test_numbers_are_compared_by_their_distance():
    rules, model = fitted("list", "numbers")
    found = by_kind(rules.check(NEW[0], model=model), "distance")["all rules"]
    apart = rules.predict(NEW[0]) - model.predict(NEW[0])
    assert found.now == pytest.approx(np.sqrt((apart**2).mean()))
    assert found.then == pytest.approx(np.sqrt(rules.training.agreement.loss))
    assert not found.is_moved
    off = by_kind(rules.check(NEW[0], model=lambda X: model.predict(X) + 1),
                  "distance")["all rules"]  # fmt: skip
    assert off.is_moved
    perfect = rules.check(NEW[0], model=rules.predict)
    assert by_kind(perfect, "distance")["all rules"].p == 1.0


def test_a_deep_forest_is_judged_by_rows_that_it_does_not_know():
    rng = np.random.default_rng(5)
    X, y = rows(600, rng)
    X = X.drop(columns="city")
    forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    made = simplify(forest, X, y, max_rules=4, random_state=0)
    unseen = [rows(1000, rng)[0].drop(columns="city") for _ in range(15)]
    new = np.mean([made.evaluate(one)["fidelity"] for one in unseen])
    kept = made.rules_.training.agreement
    # On its own rows the forest predicts noise, which the rules do not.
    assert made.training_["fidelity"] < new - 0.03
    assert kept.source == "synthetic"
    assert 1 - kept.loss == pytest.approx(new, abs=0.02)
    assert kept.n_rows == 0.4 * 600
    alarms = [made.rules_.check(one, model=forest).has_moved for one in unseen]
    assert sum(alarms) <= 2


def test_validation_rows_are_preferred():
    rng = np.random.default_rng(5)
    (X, y), (X_new, y_new) = rows(600, rng), rows(300, rng)
    X, X_new = X[["age", "income"]], X_new[["age", "income"]]
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    made = simplify(forest, X, y, max_rules=3, random_state=0,
                    validation=(X_new, y_new))  # fmt: skip
    kept = made.rules_.training.agreement
    assert (kept.source, kept.n_rows) == ("validation", 300)
    assert kept.loss == pytest.approx(1 - made.validation_["fidelity"])
    numbers = np.arange(len(y), dtype=float)
    forest = RandomForestRegressor(20, random_state=0).fit(X, numbers)
    made = simplify(forest, X, numbers, max_rules=3, random_state=0,
                    validation=(X_new, numbers[:300]))  # fmt: skip
    apart = made.predict(X_new) - forest.predict(X_new)
    kept = made.rules_.training.agreement
    assert kept.loss == pytest.approx((apart**2).mean())


def test_other_methods_are_compared_on_training_rows():
    rules, model = fitted()
    assert not rules.check(*NEW, model=model).notes
    # Without an agreement in the file there is nothing to test.
    data = rules.to_dict()
    del data["training"]["agreement"]
    found, finding = agreement(RuleModel.from_dict(data), model)
    assert finding is None
    assert "agreement with the model is not tested" in found.notes[0]
    X, y = NEW[0][["age", "income"]], NEW[1]
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    tree = DistilledTreeClassifier(forest, max_rules=3, random_state=0).fit(X, y)
    kept = tree.rules_.training.agreement
    assert (kept.source, kept.n_rows) == ("training", 400)
    assert kept.loss == pytest.approx(1 - tree.training_["fidelity"])
    found, finding = agreement(tree.rules_, forest, X)
    assert finding.then == pytest.approx(tree.training_["fidelity"])
    assert "rows that the model was trained on" in found.notes[0]
    data = rules.to_dict()
    data["training"]["agreement"]["source"] = "somewhere"
    with pytest.raises(ValueError, match=r"agreement\.source must be one of"):
        RuleModel.from_dict(data)


def test_edited_and_refitted_rules_say_what_was_tested(tmp_path):
    rules, model = fitted()
    edited = rules.drop(1)
    found, finding = agreement(edited, model)
    assert finding is None
    assert "edited or refitted" in found.notes[1]
    assert by_kind(found, "column")
    again = edited.refit(*rows(1500, np.random.default_rng(4)))
    found, finding = agreement(again, model)
    assert finding is None
    assert len(found.notes) == 1
    assert by_kind(found, "coverage")
    # Rules that predict what they did agree as often as they did.
    counted = rules.refit(*rows(1500, np.random.default_rng(4)))
    counted.save(tmp_path / "rules.json")
    found, finding = agreement(defragtrees.load(tmp_path / "rules.json"), model)
    assert (finding.then, found.notes) == (1 - rules.training.agreement.loss, ())
    higher = rules.with_threshold(0.9)
    assert agreement(higher, model)[1] is None


def test_a_table_may_be_a_list_and_a_model_a_file(tmp_path):
    X, y = NEW[0][["age", "income"]].to_numpy(), NEW[1]
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    rules = simplify(forest, X, y, max_rules=3, random_state=0).rules_
    expected = agreement(rules, forest, X)[1]
    assert agreement(rules, forest, X.tolist())[1] == expected
    xgboost = pytest.importorskip("xgboost", reason="it writes a model file")
    frame = pd.DataFrame(X, columns=["age", "income"])
    model = xgboost.XGBClassifier(n_estimators=20).fit(frame, y == "good")
    model.save_model(tmp_path / "model.json")
    named = renamed(model, ("bad", "good"))
    rules = simplify(named, frame, y, max_rules=3, random_state=0).rules_
    found, finding = agreement(rules, tmp_path / "model.json", frame)
    assert finding == agreement(rules, named, frame)[1]
    assert "0, 1 are taken to be bad, good" in found.notes[0]
