"""simplify: one call, whose settings are those of the estimators."""

import inspect
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import train_test_split

import defragtrees
from defragtrees import DefragClassifier, DefragRegressor, simplify, simplify_path
from defragtrees.paper import FABRulesClassifier

RNG = np.random.default_rng(0)
X = RNG.random((80, 3))
Y = (X[:, 0] > 0.5).astype(int)
FOREST = RandomForestClassifier(5, random_state=0).fit(X, Y)
ROWS = ("X", "y", "sample_weight", "exposure", "validation", "output")


def test_settings_and_defaults_are_those_of_the_estimator():
    named = inspect.signature(simplify).parameters
    found = {name: p.default for name, p in named.items() if name not in ROWS}
    expected = {one.name: one.default for one in fields(DefragClassifier)}
    expected = {name: expected[name] for name in found if name in expected}
    assert found.pop("model") is inspect.Parameter.empty
    expected.pop("model")
    assert found.pop("method") == "defrag"
    # Each method has its own default.
    assert found.pop("target") is None
    expected.pop("target")
    assert found == expected
    kinds = {p.kind for name, p in named.items() if name in expected}
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}


def test_it_has_few_settings():
    assert len(inspect.signature(simplify).parameters) <= 30


def test_every_setting_has_a_type_and_is_in_the_docstring():
    for name, parameter in inspect.signature(simplify).parameters.items():
        assert parameter.annotation is not inspect.Parameter.empty, name
        assert name in simplify.__doc__, name


def test_type_checkers_are_told_of_the_types():
    assert (Path(defragtrees.__file__).parent / "py.typed").exists()


@pytest.mark.parametrize(
    ("wrong", "guess"),
    [
        ("max_rule", "did you mean 'max_rules'?"),
        ("randomstate", "did you mean 'random_state'?"),
        ("conditions", "did you mean 'max_conditions'?"),
    ],
)
def test_a_name_that_is_not_there_gets_a_guess(wrong, guess):
    with pytest.raises(TypeError) as caught:
        simplify(FOREST, X, **{wrong: 5})
    assert str(caught.value) == f"simplify() has no setting {wrong!r}; {guess}"
    with pytest.raises(TypeError, match=r"simplify_path\(\) has no setting"):
        simplify_path(FOREST, X, **{wrong: 5})


def test_a_path_names_the_estimator_of_a_setting_that_another_has():
    with pytest.raises(TypeError, match="'times'; it is a setting of DefragSurvival"):
        simplify_path(FOREST, X, Y, times=5)


def test_settings_reach_the_estimator():
    simple = simplify(FOREST, X, Y, max_rules=3, threshold=0.3, random_state=0)
    assert isinstance(simple, DefragClassifier)
    assert (simple.max_rules, simple.threshold, simple.random_state) == (3, 0.3, 0)
    assert simple.model is FOREST
    direct = DefragClassifier(FOREST, max_rules=3, threshold=0.3, random_state=0)
    assert direct.fit(X, Y).rules_ == simple.rules_


def test_settings_for_classes_are_refused_for_numbers():
    regressor = RandomForestRegressor(5, random_state=0).fit(X, X[:, 0])
    simple = simplify(regressor, X, max_rules=3, random_state=0)
    assert isinstance(simple, DefragRegressor)
    for name, value in (("threshold", 0.3), ("class_weight", "balanced")):
        with pytest.raises(TypeError, match=f"{name} is not a setting of DefragRegr"):
            simplify(regressor, X, **{name: value})


def test_the_papers_method_is_one_word_away():
    simple = simplify(FOREST, X, Y, method="paper", max_rules=4, random_state=0)
    by_hand = FABRulesClassifier(FOREST, max_rules=4, random_state=0).fit(X, Y)
    assert isinstance(simple, FABRulesClassifier)
    assert simple.rules_ == by_hand.rules_
    answers = simple.predict_posterior(X)
    assert (answers == by_hand.predict_posterior(X)).all()


def test_the_target_of_the_paper_is_y_unless_it_is_given():
    settings = {"method": "paper", "max_rules": 2, "random_state": 0}
    assert simplify(FOREST, X, target="model", **settings).target == "model"
    assert simplify(FOREST, X, Y, **settings).target == "labels"
    with pytest.raises(ValueError, match="Pass y, or set target='model'"):
        simplify(FOREST, X, **settings)


def test_settings_of_the_search_are_not_for_the_paper():
    with pytest.raises(TypeError, match="form is not a setting of FABRules"):
        simplify(FOREST, X, Y, method="paper", form="points")
    with pytest.raises(TypeError, match="has no setting 'e_step'"):
        simplify(FOREST, X, Y, method="paper", e_step="gentle")
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        DefragClassifier(e_step="gentle")


def test_other_methods_are_refused_with_what_to_do():
    with pytest.raises(ValueError, match="got 'intrees'"):
        simplify(FOREST, X, Y, method="intrees")


def test_a_default_fit_speaks_of_rules_and_model_only():
    simple = simplify(FOREST, X, Y, random_state=0)
    text = simple.summary()
    assert "rules" in text
    assert "model" in text
    assert "posterior" not in text
    assert "component" not in text
    assert not hasattr(simple, "posterior_")
    assert not hasattr(simple, "predict_posterior")


def test_a_path_is_scored_on_validation_rows_that_its_rules_have_not_seen():
    new = RNG.random((60, 3))
    y_new = (new[:, 0] > 0.4).astype(int)
    settings = {"max_rules": 3, "random_state": 0}
    validation = new, y_new, np.full(60, 2.0)
    path = simplify_path(FOREST, X, validation=validation, test_size=20, **settings)
    expected = simplify(FOREST, X, validation=validation, **settings)
    assert path.rules == expected.rules_
    assert path.is_against_y
    _, test = train_test_split(np.arange(60), test_size=20, random_state=0)
    wrong = FOREST.predict(new[test]) != y_new[test]
    assert path.model_error == pytest.approx(wrong.mean())
    assert wrong.any()
    with pytest.raises(TypeError, match="validation in memory"):
        simplify_path(FOREST, X, validation=(iter([(new, y_new)]), None))
