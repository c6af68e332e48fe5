"""Searches, calibration, thresholds, votes and stacks: read as one forest, exactly."""

import pickle

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from defragtrees import DefragClassifier, read_forest, simplify
from defragtrees.errors import UnsupportedModelError
from tests.ensembles.test_pipelines import (
    TEXT,
    check_pipeline,
    columns_by,
    labels_of,
    make_frame,
    one_hot,
    with_gaps,
)

SMALL = {"n_estimators": 4, "random_state": 0}


def raw(model, **more):
    """A pipeline on raw columns; each call makes new steps."""
    steps = columns_by(
        city_colour=one_hot(), age_income=StandardScaler(), grade=one_hot(), **more
    )
    return Pipeline([("before", steps), ("last", model)])


def bagged():
    return raw(RandomForestClassifier(max_depth=5, **SMALL))


def boosted(**settings):
    return raw(GradientBoostingClassifier(**SMALL, **settings))


def reweighted():
    return raw(AdaBoostClassifier(**SMALL))


def hist():
    return raw(HistGradientBoostingClassifier(max_iter=4), debt="passthrough")


def regressor():
    return raw(RandomForestRegressor(max_depth=6, **SMALL))


DEPTHS = {"last__max_depth": [2, 4]}
CLASSIFIERS = {
    "grid": GridSearchCV(bagged(), DEPTHS, cv=2),
    "random": RandomizedSearchCV(boosted(), DEPTHS, n_iter=2, cv=2, random_state=0),
    "halving": HalvingGridSearchCV(bagged(), DEPTHS, cv=2, random_state=0),
    "search inside": raw(
        GridSearchCV(RandomForestClassifier(**SMALL), {"max_depth": [2, 4]}, cv=2)
    ),
    "sigmoid": CalibratedClassifierCV(bagged(), cv=3),
    "isotonic": CalibratedClassifierCV(boosted(), cv=3, method="isotonic"),
    "one forest": CalibratedClassifierCV(reweighted(), cv=2, ensemble=False),
    "exponential": CalibratedClassifierCV(boosted(loss="exponential"), cv=2),
    "calibrated inside": raw(
        CalibratedClassifierCV(RandomForestClassifier(**SMALL), cv=2)
    ),
    "calibrated search": CalibratedClassifierCV(
        GridSearchCV(boosted(), DEPTHS, cv=2), cv=2
    ),
    "fixed": FixedThresholdClassifier(bagged(), threshold=0.3, pos_label="yes"),
    "fixed for the first": FixedThresholdClassifier(
        bagged(), threshold=0.3, pos_label="no"
    ),
    "fixed score": FixedThresholdClassifier(
        boosted(), threshold=0.2, pos_label="yes", response_method="decision_function"
    ),
    "tuned": TunedThresholdClassifierCV(bagged(), cv=2, scoring="balanced_accuracy"),
    "tuned on calibrated": TunedThresholdClassifierCV(
        CalibratedClassifierCV(bagged(), cv=2), cv=2, scoring="balanced_accuracy"
    ),
    "soft vote": VotingClassifier(
        [("a", bagged()), ("b", boosted()), ("c", reweighted())], voting="soft"
    ),
    "weighted vote": VotingClassifier(
        [("a", bagged()), ("b", boosted())], voting="soft", weights=[1, 3]
    ),
    "hard vote": VotingClassifier(
        [("a", bagged()), ("b", boosted()), ("c", reweighted())], weights=[1, 2, 2]
    ),
    "one out of the vote": VotingClassifier(
        [("a", bagged()), ("b", "drop")], voting="soft"
    ),
    "vote of searches": VotingClassifier(
        [("a", GridSearchCV(bagged(), DEPTHS, cv=2)), ("b", boosted())], voting="soft"
    ),
    "calibrated vote": CalibratedClassifierCV(
        VotingClassifier([("a", bagged()), ("b", boosted())], voting="soft"), cv=2
    ),
    "stack": StackingClassifier([("a", bagged()), ("b", boosted())], cv=2),
    "stack of scores": StackingClassifier(
        [("a", boosted()), ("b", hist())],
        cv=2,
        final_estimator=LogisticRegression(C=0.1),
        stack_method="decision_function",
    ),
}
REGRESSORS = {
    "log target": TransformedTargetRegressor(
        regressor(), func=np.exp, inverse_func=np.log
    ),
    "ranked target": TransformedTargetRegressor(
        regressor(), transformer=QuantileTransformer(n_quantiles=20)
    ),
    "search of log targets": GridSearchCV(
        TransformedTargetRegressor(regressor(), func=np.exp, inverse_func=np.log),
        {"regressor__last__max_depth": [2, 3]},
        cv=2,
    ),
    "log target inside": raw(
        TransformedTargetRegressor(
            RandomForestRegressor(**SMALL), func=np.exp, inverse_func=np.log
        )
    ),
    "mean": VotingRegressor(
        [
            ("a", regressor()),
            ("b", raw(GradientBoostingRegressor(**SMALL), debt="passthrough")),
        ],
        weights=[1, 2],
    ),
    "stack": StackingRegressor(
        [("a", regressor()), ("b", raw(GradientBoostingRegressor(**SMALL)))], cv=2
    ),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_around_models_are_read_exactly(name):
    frame = with_gaps(make_frame(), TEXT)
    wrapper = CLASSIFIERS[name].fit(frame, labels_of(frame)[0])
    forest = check_pipeline(wrapper, frame, TEXT, [*TEXT, "grade"])
    assert forest.classes == ("no", "yes")


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_around_models_are_read_exactly(name):
    frame = with_gaps(make_frame(), TEXT)
    wrapper = REGRESSORS[name].fit(frame, labels_of(frame)[1])
    check_pipeline(wrapper, frame, TEXT, [*TEXT, "grade"])


def test_many_classes_calibrated_and_voted():
    frame = with_gaps(make_frame(), TEXT)
    y = np.array(["low", "mid", "top"])[np.digitize(labels_of(frame)[1], [1, 3])]
    for wrapper in (
        CalibratedClassifierCV(bagged(), cv=2, method="isotonic"),
        CalibratedClassifierCV(boosted(), cv=2),
        VotingClassifier([("a", bagged()), ("b", boosted())], voting="soft"),
    ):
        check_pipeline(wrapper.fit(frame, y), frame, TEXT, TEXT)


def test_frozen_estimator_is_what_it_holds():
    frame = make_frame()
    y = labels_of(frame)[0]
    pipeline = bagged().fit(frame, y)
    assert read_forest(FrozenEstimator(pipeline)) == read_forest(pipeline)
    prefit = CalibratedClassifierCV(FrozenEstimator(pipeline), cv=3).fit(frame, y)
    check_pipeline(prefit, frame, [], TEXT)


def test_reading_twice_and_pickling_give_the_same_forest():
    frame = make_frame()
    wrapper = CLASSIFIERS["sigmoid"].fit(frame, labels_of(frame)[0])
    forest = read_forest(wrapper)
    assert forest == read_forest(wrapper)
    assert pickle.loads(pickle.dumps(forest)) == forest
    other = CLASSIFIERS["weighted vote"].fit(frame, labels_of(frame)[0])
    assert forest != read_forest(other)


def test_rules_answer_by_the_threshold_of_the_wrapper():
    frame = make_frame()
    y = labels_of(frame)[0]
    low = FixedThresholdClassifier(bagged(), threshold=0.3, pos_label="yes")
    low.fit(frame, y)
    rules = simplify(low, frame, y, max_rules=3, random_state=0).rules_
    assert rules.threshold == 0.3
    likely = rules.predict_proba(frame)[:, 1] >= 0.3
    assert (rules.predict(frame) == np.where(likely, "yes", "no")).all()
    # What the user says counts more.
    asked = simplify(low, frame, y, threshold=0.6, random_state=0).rules_
    assert asked.threshold == 0.6
    plain = simplify(low, frame, y, costs={("yes", "no"): 2}, random_state=0).rules_
    assert plain.threshold is None


def test_unfitted_wrapper_is_fitted_with_the_rules():
    frame = make_frame()
    y = labels_of(frame)[0]
    search = GridSearchCV(bagged(), DEPTHS, cv=2)
    simple = DefragClassifier(search, random_state=0).fit(frame, y)
    expected = simplify(search.fit(frame, y), frame, y, random_state=0)
    assert simple.rules_ == expected.rules_


@pytest.mark.parametrize(
    "wrapper",
    [
        CalibratedClassifierCV(bagged()),
        VotingClassifier([("a", bagged())]),
        GridSearchCV(bagged(), DEPTHS),
        TransformedTargetRegressor(regressor()),
        FixedThresholdClassifier(bagged()),
    ],
)
def test_unfitted_wrappers_say_so(wrapper):
    name = type(wrapper).__name__
    with pytest.raises(NotFittedError, match=f"this {name} is not fitted. Call fit"):
        read_forest(wrapper)


def test_what_cannot_be_opened_says_why():
    frame = make_frame()
    X, y = frame[["age", "income"]], labels_of(frame)[0]
    both = np.column_stack([y, y])
    several = MultiOutputClassifier(RandomForestClassifier(**SMALL)).fit(X, both)
    with pytest.raises(UnsupportedModelError, match="several targets at once"):
        read_forest(several)
    numbers = np.column_stack([X["age"], X["age"]])
    several = MultiOutputRegressor(RandomForestRegressor(**SMALL)).fit(X, numbers)
    with pytest.raises(UnsupportedModelError, match="several targets at once"):
        read_forest(several)
    search = GridSearchCV(
        RandomForestClassifier(**SMALL), {"max_depth": [2]}, cv=2, refit=False
    )
    with pytest.raises(UnsupportedModelError, match="Set refit=True"):
        read_forest(search.fit(X, y))
    medians = VotingRegressor([("a", AdaBoostRegressor(n_estimators=2))])
    with pytest.raises(UnsupportedModelError, match="the median of its trees"):
        read_forest(medians.fit(X, X["age"]))
    stack = StackingClassifier(
        [("a", RandomForestClassifier(**SMALL))], cv=2, passthrough=True
    )
    with pytest.raises(UnsupportedModelError, match="depends on the columns too"):
        read_forest(stack.fit(X, y))
    mixed = VotingClassifier(
        [("a", make_pipeline(StandardScaler(), LogisticRegression()))], voting="soft"
    )
    with pytest.raises(UnsupportedModelError, match="Cannot read LogisticRegress"):
        read_forest(mixed.fit(X, y))
