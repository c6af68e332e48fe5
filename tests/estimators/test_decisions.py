"""Class weights, costs and thresholds: what they change, and what is refused."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from defragtrees import DefragClassifier, RuleModel, simplify_path
from defragtrees.baselines import DistilledTreeClassifier

NEW_ROWS = 10_000  # of a search, as users have
LABELS = ("bad", "fair", "good")


def make_rows(n_classes, n_rows=600):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3))
    risk = X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=n_rows)
    parts = {2: [0.75], 3: [0.4, 0.75]}
    places = np.digitize(risk, np.quantile(risk, parts[n_classes]))
    return X, np.array(LABELS[:n_classes])[places]


@pytest.fixture(scope="module", params=[2, 3])
def made(request):
    X, y = make_rows(request.param)
    model = RandomForestClassifier(20, min_samples_leaf=5, random_state=0).fit(X, y)
    return model, X, y


@pytest.fixture(scope="module")
def binary():
    X, y = make_rows(2)
    model = RandomForestClassifier(20, min_samples_leaf=5, random_state=0).fit(X, y)
    return model, X, y


def fitted(made, **settings):
    model, X, y = made
    return DefragClassifier(model, max_rules=5, random_state=0, **settings).fit(X, y)


def test_the_default_answers_the_likeliest_class(made):
    simple = fitted(made)
    assert simple.rules_.threshold is simple.rules_.costs is None
    likeliest = simple.predict_proba(made[1]).argmax(axis=1)
    assert (simple.classes_[likeliest] == simple.predict(made[1])).all()


def test_scores_rank_as_probabilities_and_say_the_answer(made):
    simple = fitted(made)
    X, y = made[1:]
    scores = simple.decision_function(X)
    if len(simple.classes_) == 2:
        assert ((scores > 0) == (simple.predict(X) == "fair")).all()
        told = simple.predict_proba(X)[:, 1]
        is_second = y == "fair"
        assert roc_auc_score(is_second, scores) == roc_auc_score(is_second, told)
    else:
        assert scores.shape == (len(X), 3)
        assert (simple.classes_[scores.argmax(axis=1)] == simple.predict(X)).all()


def test_other_methods_score_rows_too(binary):
    model, X, y = binary
    simple = DistilledTreeClassifier(model, max_rules=5, random_state=0).fit(X, y)
    assert ((simple.decision_function(X) > 0) == (simple.predict(X) == "fair")).all()


def test_a_threshold_decides_from_the_probability_and_is_kept(binary):
    simple = fitted(binary, threshold=0.2)
    X = binary[1]
    assert simple.rules_.threshold == 0.2
    is_second = simple.predict_proba(X)[:, 1] >= 0.2
    assert ((simple.predict(X) == "fair") == is_second).all()
    assert ((simple.decision_function(X) > 0) == is_second).all()
    assert simple.rules_ == RuleModel.from_dict(simple.rules_.to_dict())
    for rules in simple.path_.values():
        assert rules.threshold == 0.2
    assert "Predicts fair if P(fair) >= 0.2." in simple.summary()


@pytest.mark.parametrize(
    "settings",
    [
        {"threshold": 0.2},
        {"class_weight": "balanced"},
        {"costs": {("fair", "bad"): 5}, "form": "points"},
    ],
    ids=["threshold", "balanced", "costs of points"],
)
def test_the_model_is_measured_with_the_decision_of_the_rules(binary, settings):
    model, X, y = binary
    simple = fitted(binary, **settings)
    rules = simple.rules_
    if rules.threshold is None:
        (_, alarm), (miss, _) = rules.costs
        decided = model.predict_proba(X)[:, 1] > alarm / (alarm + miss)
    else:
        alarm, miss = 1.0, 1.0
        decided = model.predict_proba(X)[:, 1] >= 0.2
    is_rare = y == "fair"
    misses, alarms = np.mean(is_rare & ~decided), np.mean(~is_rare & decided)
    path = simplify_path(
        model, X, y, test_size=0.5, max_rules=3, random_state=0, **settings
    )
    _, test = train_test_split(np.arange(len(X)), test_size=0.5, random_state=0)
    found = np.mean(decided[test][is_rare[test]])
    assert path.model_measures["recall"] == pytest.approx(found)
    assert path.model_error == pytest.approx(np.mean((decided != is_rare)[test]))
    assert "may be trained on these rows" in str(path).splitlines()[-1]
    for scores in (simple.evaluate(X, y), simple.training_):
        assert scores["model_error"] == pytest.approx(misses + alarms)
        assert scores["model_recall"] == pytest.approx(np.mean(decided[is_rare]))
        cost = miss * misses + alarm * alarms
        assert scores["model_expected_cost"] == pytest.approx(cost)
        # Agreement is with what the model itself predicts.
        same = np.mean(simple.predict(X) == model.predict(X))
        assert scores["fidelity"] == pytest.approx(same)
    assert "The model is measured with the same decision." in " ".join(
        simple.summary().split()
    )


def test_costs_and_balanced_weights_find_more_of_the_rare_class(binary):
    X, y = binary[1:]
    is_rare = y == "fair"
    recalls = []
    for settings in (
        {},
        {"class_weight": "balanced"},
        {"costs": {("fair", "bad"): 50, ("bad", "fair"): 1}},
    ):
        simple = fitted(binary, **settings)
        recalls.append(np.mean(simple.predict(X)[is_rare] == "fair"))
    assert recalls[0] < recalls[1] < recalls[2]
    assert simple.rules_.costs == ((0.0, 1.0), (50.0, 0.0))
    # A mistake that costs 50 times as much is avoided from 1 in 51 on.
    told = simple.predict_proba(X)[:, 1]
    assert ((simple.predict(X) == "fair") == (told > 1 / 51)).all()


def test_probabilities_do_not_follow_the_costs(binary):
    X, y = binary[1:]
    simple = fitted(binary, class_weight="balanced")
    assert np.mean(simple.predict_proba(X)[:, 1]) == pytest.approx(
        np.mean(y == "fair"), abs=0.01
    )


def test_costs_of_three_classes_are_a_matrix_by_class():
    X, y = make_rows(3)
    model = RandomForestClassifier(20, min_samples_leaf=5, random_state=0).fit(X, y)
    simple = DefragClassifier(
        model, max_rules=5, random_state=0, costs={("good", "bad"): 20}
    ).fit(X, y)
    assert simple.rules_.costs == ((0, 1, 1), (1, 0, 1), (20, 1, 0))
    costs = simple.predict_proba(X) @ np.array(simple.rules_.costs)
    assert (simple.classes_[costs.argmin(axis=1)] == simple.predict(X)).all()
    assert "good" not in simple.rules_._form.unpredicted_classes


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"threshold": 0},
            "threshold must be None or a number above 0 and below 1; got 0",
        ),
        ({"threshold": 1.5}, "a number above 0 and below 1; got 1.5"),
        ({"threshold": "half"}, "a number above 0 and below 1; got 'half'"),
        ({"threshold": 0.3, "costs": {("bad", "fair"): 2}}, "threshold or costs, not"),
        (
            {"threshold": 0.3, "class_weight": "balanced"},
            "Give threshold or class_weight, not both: each decides alone; got "
            "threshold=0.3 and class_weight='balanced'",
        ),
        (
            {"class_weight": "balance"},
            "must be None, 'balanced' or a dict from class to weight; got 'balance'",
        ),
        ({"class_weight": 3}, "or a dict from class to weight; got 3"),
        ({"class_weight": [1, 2]}, r"a dict from class to weight; got \[1, 2\]"),
        ({"class_weight": {"god": 2}}, "names the class 'god', which is not one of"),
        (
            {"class_weight": {"bad": 0, "fair": 0}},
            "class_weight must be above 0 for one class at least",
        ),
        ({"class_weight": {"bad": "much"}}, "finite number from 0; got 'much'"),
        ({"costs": {("bad", "god"): 2}}, "costs names the class 'god'"),
        ({"costs": {("bad", "fair"): -1}}, "must be a finite number from 0; got -1"),
        ({"costs": {("bad", "bad"): 1}}, "must be 0 for right predictions"),
        (
            {"costs": {"bad": 1}},
            "keys such as .true class, predicted class.; got 'bad'",
        ),
        ({"costs": [[0, 0], [0, 0]]}, "costs must be above 0 for one mistake at least"),
        ({"costs": [[0, 1, 1]]}, r"each of the 2 classes; got the shape \(1, 3\)"),
        ({"costs": [[0, 1], [2]]}, "or a matrix of numbers; got"),
        ({"costs": "dear"}, "or a matrix of numbers; got 'dear'"),
        ({"costs": 3}, r"each of the 2 classes; got the shape \(\)"),
        ({"criterion": "rank"}, "criterion must be 'both' or 'probability' or 'error'"),
    ],
)
def test_settings_that_cannot_be_are_refused_in_a_sentence(binary, settings, message):
    with pytest.raises(ValueError, match=message):
        fitted(binary, **settings)


def test_a_threshold_needs_two_classes():
    X, y = make_rows(3)
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="threshold needs two classes; there are 3"):
        DefragClassifier(model, threshold=0.3).fit(X, y)
