"""Models that cannot be read: asked in batches, and imitated; nobody says exactly."""

import pickle
import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import defragtrees
from defragtrees import (
    DefragClassifier,
    DefragRegressor,
    compare,
    simplify,
    simplify_path,
)
from defragtrees.baselines import BornAgainTreeClassifier
from defragtrees.ensembles.black_box import AskedForest, TableForm
from defragtrees.errors import SettingError
from defragtrees.report.page import write_report

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
N_ROWS = 250
FRAME = pd.DataFrame(
    {
        "size": RNG.normal(size=N_ROWS),
        "age": RNG.integers(20, 80, N_ROWS),
        "city": RNG.choice(["Bern", "Lima", "Oslo"], N_ROWS),
    }
)
SCORE = FRAME["size"] + (FRAME["age"] > 50) + (FRAME["city"] == "Oslo")
Y = np.where(SCORE > 1, "yes", "no")


def encoder():
    return ColumnTransformer(
        [("n", StandardScaler(), ["size", "age"]), ("t", OneHotEncoder(), ["city"])],
        sparse_threshold=0,
    )


@pytest.fixture(scope="module")
def model():
    steps = (encoder(), PCA(3), LogisticRegression())
    return make_pipeline(*steps).fit(FRAME, Y)


def agreement(simple, model, X=FRAME):
    return np.mean(simple.predict(X) == model.predict(X))


def test_pipeline_with_an_unreadable_step_is_asked_on_raw_columns(model, tmp_path):
    settings = {"target": "model", "max_rules": 10, "random_state": 0}
    simple = simplify(model, FRAME, Y, **settings)
    assert isinstance(simple.forest_, AskedForest)
    assert simple.rules_.feature_names == ("size", "age", "city")
    assert agreement(simple, model) > 0.9
    assert simple.training_["fidelity"] == pytest.approx(agreement(simple, model))
    assert set(simple.rules_.features) <= {"size", "age", "city"}
    simple.rules_.save(tmp_path / "rules.json")
    loaded = defragtrees.load(tmp_path / "rules.json")
    assert (loaded.predict(FRAME) == simple.predict(FRAME)).all()


def test_forest_answers_what_the_model_answers(model):
    forest = simplify(model, FRAME, Y, random_state=0).forest_
    new = FRAME.assign(size=FRAME["size"] + 0.1, age=FRAME["age"] - 3)
    for rows in (FRAME, new):
        assert (forest.predict(rows) == model.predict(rows)).all()
        np.testing.assert_allclose(
            forest.predict_proba(rows), model.predict_proba(rows), atol=1e-12
        )


def test_summary_and_report_say_that_it_was_asked(model, tmp_path):
    simple = simplify(model, FRAME, Y, random_state=0)
    text = " ".join(simple.summary().split())
    assert "Pipeline was queried as a black box. Cannot read LogisticRegression" in text
    assert "grown on its predictions for 250 rows and 2,000 synthetic rows" in text
    page = write_report(tmp_path / "page.html", simple, FRAME, Y).read_text("utf-8")
    assert "was queried as a black box" in page
    for claim in ("leaves", "trees of", "the model’s splits"):
        assert claim not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    forest = RandomForestClassifier(5, random_state=0)
    read = simplify(make_pipeline(encoder(), forest).fit(FRAME, Y), FRAME, Y)
    assert "queried" not in read.summary()
    page = write_report(tmp_path / "page.html", read, FRAME, Y).read_text("utf-8")
    assert "was queried as a black box" not in page


class Counter:
    """A remote scorer: it has no class of its own, and counts what it is asked."""

    def __init__(self):
        self.n_rows = 0
        self.batches = []

    def predict(self, X):
        self.n_rows += len(X)
        self.batches.append(len(X))
        return 2.0 * X["size"].to_numpy() + (X["age"].to_numpy() > 50)


def test_calls_are_counted_and_limited():
    counter = Counter()
    simple = DefragRegressor(counter, random_state=0).fit(FRAME)
    assert simple.n_calls_ == counter.n_rows > N_ROWS
    for limit in (1000, N_ROWS, 100):
        counter = Counter()
        simple = DefragRegressor(counter, max_calls=limit, random_state=0).fit(FRAME)
        assert simple.n_calls_ == counter.n_rows <= limit
        assert counter.n_rows >= 0.9 * limit
        # Later questions are the user's own.
        simple.evaluate(FRAME.assign(size=0.0))
        assert counter.n_rows > simple.n_calls_


def test_rows_that_count_are_among_the_calls():
    counter, new = Counter(), FRAME[:60].assign(age=33)
    validation = new, SCORE[:60]
    for limit in (1000, 100):
        counter = Counter()
        simple = DefragRegressor(counter, max_calls=limit, random_state=0)
        simple.fit(FRAME, validation=validation)
        assert simple.n_calls_ == counter.n_rows <= limit
        assert simple.rules_.training.n_rows == 60
    with pytest.raises(ValueError, match="must exceed the 60 rows of validation"):
        DefragRegressor(counter, max_calls=60).fit(FRAME, validation=validation)
    counter = Counter()
    settings = {"max_calls": 500, "max_rules": 3, "random_state": 0}
    path = simplify_path(counter, FRAME, validation=validation, **settings)
    assert path.rules.training.n_rows == 60


@pytest.mark.parametrize("limit", [None, 100])
def test_neither_order_of_rows_nor_of_columns_changes_rules(limit):
    settings = {"max_calls": limit, "random_state": 0}
    expected = DefragRegressor(Counter(), **settings).fit(FRAME).rules_
    assert expected.n_rules > 1
    order = np.random.default_rng(0).permutation(N_ROWS)
    found = DefragRegressor(Counter(), **settings).fit(FRAME.iloc[order]).rules_
    assert found == expected
    turned = FRAME[list(FRAME.columns[::-1])]
    found = DefragRegressor(Counter(), **settings).fit(turned).rules_
    for one, two in zip(found, expected, strict=True):
        texts = [
            sorted(c.text(own.feature_names) for c in rule.conditions)
            for own, rule in ((found, one), (expected, two))
        ]
        assert texts[0] == texts[1]
        assert one.prediction == two.prediction


def test_calls_go_in_batches(monkeypatch):
    monkeypatch.setattr("defragtrees.ensembles.predictions.BATCH_ROWS", 100)
    counter = Counter()
    simplify(counter, FRAME, random_state=0)
    assert max(counter.batches) == 100
    assert len(counter.batches) > 10


def test_progress_is_shown(monkeypatch, capsys):
    moments = iter(range(0, 100_000, 2))
    monkeypatch.setattr(
        "defragtrees._utils.progress.time.monotonic", lambda: next(moments)
    )
    DefragRegressor(Counter(), verbose=1, random_state=0).fit(FRAME)
    assert "querying Counter [" in capsys.readouterr().err


def test_more_questions_than_allowed_are_refused(model):
    simple = BornAgainTreeClassifier(model, max_calls=260, random_state=0)
    with pytest.raises(ValueError, match="max_calls must be at least"):
        simple.fit(FRAME, Y)
    with pytest.raises(ValueError, match="max_calls must be None or a whole number"):
        simplify(model, FRAME, Y, max_calls=0)


def test_plain_functions():
    def price(X):
        return X["size"] * 3 + (X["city"] == "Lima")

    simple = simplify(price, FRAME, random_state=0)
    assert isinstance(simple, DefragRegressor)
    assert "price was queried" in simple.summary()
    assert simple.training_["fidelity"] > 0.9

    def name(X):
        return np.where(X["age"] > 40, "old", "young")

    simple = simplify(name, FRAME, random_state=0)
    assert simple.rules_.classes == ("old", "young")
    assert (simple.predict(FRAME) == name(FRAME)).all()

    def shares(X):
        p = 1 / (1 + np.exp(-X["size"].to_numpy()))
        return np.column_stack([1 - p, p])

    simple = simplify(shares, FRAME, Y, random_state=0)
    assert simple.rules_.classes == ("no", "yes")
    assert simplify(shares, FRAME, random_state=0).rules_.classes == (0, 1)
    np.testing.assert_allclose(simple.forest_.predict_proba(FRAME), shares(FRAME))


def test_answers_that_are_not_the_likeliest_class():
    numbers = FRAME[["size", "age"]]
    low = FixedThresholdClassifier(
        LogisticRegression(), threshold=0.1, pos_label="yes"
    ).fit(numbers, Y)
    vector = SVC(random_state=0).fit(numbers, Y)
    for model in (low, vector):
        simple = simplify(model, numbers, Y, random_state=0)
        forest = simple.forest_
        assert (forest.predict(numbers) == model.predict(numbers)).all()


def test_outliers_and_models_of_many_classes():
    numbers = FRAME[["size", "age"]]
    outliers = IsolationForest(n_estimators=20, random_state=0).fit(numbers)
    simple = simplify(outliers, numbers, max_rules=10, random_state=0)
    assert simple.rules_.classes == (-1, 1)
    assert agreement(simple, outliers, numbers) > 0.9
    three = np.digitize(SCORE, [0, 1])
    near = KNeighborsClassifier(15).fit(numbers, three)
    simple = simplify(near, numbers, three, max_rules=10, random_state=0)
    assert simple.rules_.classes == (0, 1, 2)
    assert agreement(simple, near, numbers) > 0.6


def test_survival_forest_gives_risks():
    sksurv = pytest.importorskip("sksurv.ensemble")
    times = np.exp(2 - FRAME["size"].to_numpy())
    happened = RNG.random(N_ROWS) < 0.7
    y = np.array(
        list(zip(happened, times, strict=True)), dtype=[("event", "?"), ("time", "f8")]
    )
    numbers = FRAME[["size", "age"]]
    model = sksurv.RandomSurvivalForest(10, random_state=0).fit(numbers, y)
    simple = simplify(model, numbers, random_state=0)
    assert simple.training_["fidelity"] > 0.7
    assert simple.rules_.features[0] == "size"


def test_stack_with_a_member_that_cannot_be_read(model):
    forest = make_pipeline(encoder(), RandomForestClassifier(5, random_state=0))
    stack = StackingClassifier([("a", forest), ("b", model)], cv=2).fit(FRAME, Y)
    simple = simplify(stack, FRAME, Y, random_state=0)
    assert agreement(simple, stack) > 0.85


def test_same_seed_same_rules_whatever_the_order_of_rows_and_threads(model):
    first = simplify(model, FRAME, Y, random_state=0)
    again = simplify(model, FRAME, Y, random_state=0, n_jobs=2)
    assert first.rules_ == again.rules_


def test_unfitted_model_is_fitted_first():
    simple = DefragClassifier(
        make_pipeline(encoder(), LogisticRegression()), max_rules=10, random_state=0
    ).fit(FRAME, Y)
    assert simple.model_.predict(FRAME).shape == (N_ROWS,)
    assert agreement(simple, simple.model_) > 0.9


def test_other_methods_and_functions_take_a_model(model):
    table = compare(model, FRAME, Y, random_state=0)
    assert all(row["fidelity"] > 0.6 for row in table.rows())
    path = simplify_path(model, FRAME, Y, random_state=0)
    assert path.points[-1].fidelity > 0.8


def test_fitted_rules_are_pickled_with_the_model(model):
    simple = simplify(model, FRAME, Y, random_state=0)
    loaded = pickle.loads(pickle.dumps(simple))
    assert loaded.rules_ == simple.rules_
    assert loaded.evaluate(FRAME, Y) == simple.evaluate(FRAME, Y)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda X: np.full(len(X), np.nan), "finite numbers; it predicts NaN or infin"),
        (lambda X: X["nothing"], "the call failed with KeyError: 'nothing'. Pass X as"),
        (lambda X: np.zeros((len(X), 2)), None),
        (lambda X: np.zeros(3), r"one prediction for each of the \d+ rows; it returns"),
    ],
)
def test_answers_that_cannot_be_imitated_get_one_sentence(function, message):
    if message is None:
        with pytest.raises(ValueError, match="returns the shape"):
            DefragRegressor(function).fit(FRAME)
        return
    with pytest.raises(ValueError, match=message):
        simplify(function, FRAME)


def test_several_targets_get_one_sentence():
    X = FRAME[["size", "age"]]
    model = MultiOutputRegressor(LinearRegression()).fit(X, np.column_stack([X, X]))
    with pytest.raises(ValueError, match="output=0"):
        simplify(model, X)


def frames():
    import datetime as dt

    dates = pd.Series(
        pd.Timestamp("2024-03-01 06:00") + pd.to_timedelta([0, 1, 2], "h")
    )
    yield pd.DataFrame({"a": [1, 2, 3], "b": [True, False, True], "c": [0.5, 1.5, 2.5]})
    yield pd.DataFrame({"t": ["x", np.nan, "y"], "f": np.float32([0.1, np.nan, 3])})
    yield pd.DataFrame({"t": pd.Categorical(["x", "y", None], ["y", "x", "z"])})
    yield pd.DataFrame({"d": dates, "e": dates - dates.iloc[0]})
    yield pd.DataFrame({"d": dates.dt.tz_localize("Europe/Berlin")})
    yield pd.DataFrame({"a": [1, None, 3], "s": ["x", None, "y"]}).astype(
        {"a": "Int64", "s": "string"}
    )
    polars = pytest.importorskip("polars")
    yield polars.DataFrame(
        {
            "a": [1, None, 3],
            "t": ["x", "y", None],
            "d": [dt.date(2024, 3, 1), None, dt.date(2024, 3, 2)],
        }
    )


@pytest.mark.parametrize("number", range(7))
def test_tables_come_back_as_they_were(number):
    frame = list(frames())[number]
    form = TableForm(frame)
    back = form.table(form.matrix(frame))
    if hasattr(frame, "iloc"):
        pd.testing.assert_frame_equal(back, frame)
    else:
        assert back.equals(frame)


def test_arrays_come_back_as_they_were():
    for X in (
        np.array([[1, 2], [3, 4]]),
        np.array([[0.5, np.nan]], dtype=np.float32),
        np.array([["a", 1.0], ["b", 2.0]], dtype=object),
    ):
        form = TableForm(X)
        back = form.table(form.matrix(X))
        assert back.dtype == X.dtype
        np.testing.assert_array_equal(back, X)


def test_whole_numbers_of_a_function_are_classes_only_if_they_are_few():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))

    def counts(rows):
        return np.round(10 * rows[:, 0]).astype(int)

    def levels(rows):
        return np.clip(np.round(rows[:, 0]), 0, 1).astype(int)

    assert simplify(counts, X, max_rules=2).rules_.task == "regression"
    assert simplify(levels, X, max_rules=2).rules_.task == "classification"
    y = X[:, 0] + 0.5
    assert simplify(levels, X, y, max_rules=2).rules_.task == "regression"


@pytest.mark.parametrize("kind", ["two outputs", "two y"])
def test_of_several_outputs_one_must_be_named(kind):
    X = np.random.default_rng(0).normal(size=(80, 2))
    model, y = RandomForestRegressor(3).fit(X, X[:, 0]), None
    if kind == "two outputs":
        model = RandomForestRegressor(3).fit(X, X)
    else:
        y = X
    with pytest.raises(ValueError, match="output="):
        simplify(model, X, y)


def test_one_of_several_outputs_is_imitated():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    Y = np.column_stack([X[:, 0] > 0, np.where(X[:, 1] > 0.5, 2, 1)])
    labels = np.where(Y == 1, "one", "other")
    numbers = RandomForestRegressor(5, random_state=0).fit(X, Y * 1.0)
    several = RandomForestClassifier(5, random_state=0).fit(X, labels)
    parts = MultiOutputClassifier(several.estimators_[0]).fit(X, labels)
    for model, y in ((numbers, Y * 1.0), (several, labels), (parts, labels)):
        for output in (0, 1):
            settings = {"max_rules": 2, "random_state": 0, "output": output}
            rules = simplify(model, X, y, max_calls=1500, **settings).rules_
            assert rules.rules[0].conditions[0].feature == output
            assert rules == simplify(model, X, y[:, output], max_calls=1500,
                                     **settings).rules_  # fmt: skip
    assert simplify(several, X, labels, output=0, max_rules=2).rules_.classes == (
        "one",
        "other",
    )
    with pytest.raises(ValueError, match="output="):
        simplify(numbers, X, Y[:, 0])
    with pytest.raises(ValueError, match=r"output=2 needs a model with several"):
        simplify(numbers, X, Y[:, 0], output=2)
    with pytest.raises(SettingError, match="output must be below 2"):
        simplify(parts, X, labels, output=2)
    with pytest.raises(SettingError, match="output must be a whole number"):
        simplify(numbers, X, Y, output=-1)


class Boosting(BaseEstimator):
    """A model that keeps what it fitted as NGBoost does."""

    def __init__(self, column=0):
        self.column = column
        self.base_models = []

    def fit(self, X, y):
        self.base_models = [self.column]
        return self

    def predict(self, X):
        [column] = self.base_models
        return np.asarray(X)[:, column]


def test_a_model_with_attributes_of_its_own_names_is_queried():
    X = np.random.default_rng(0).normal(size=(100, 2))
    simple = simplify(Boosting().fit(X, None), X, X[:, 0], max_rules=2)
    assert simple.rules_.features == ("x1",)
    # One that is not fitted is fitted first.
    simple = DefragRegressor(Boosting(1), max_rules=2).fit(X, X[:, 1])
    assert simple.rules_.features == ("x2",)
