"""Frames as people have them: nullable types, text with gaps, decimals, dates."""

import contextlib
import decimal
import sqlite3

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from defragtrees import DefragClassifier, RuleModel, explain_errors, simplify
from tests.fits import fit_rules

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
N_ROWS = 200
PLAIN = pd.DataFrame(
    {
        "size": RNG.integers(0, 9, N_ROWS).astype(float),
        "open": RNG.random(N_ROWS) < 0.5,
        "city": RNG.choice(["x", "y", "z"], N_ROWS),
    }
)
Y = np.where((PLAIN["size"] > 4) ^ (PLAIN["city"] == "x"), "yes", "no")
GAPS = RNG.random(N_ROWS) < 0.1


def nullable(frame, text="string"):
    frame = frame.astype({"size": "Int64", "open": "boolean", "city": text})
    frame.loc[GAPS, ["size", "city"]] = pd.NA
    return frame


FRAMES = {
    "nullable": nullable(PLAIN),
    "text of arrow": nullable(PLAIN, "str"),
    "objects": nullable(PLAIN).astype(object),
    "decimals": PLAIN.assign(size=[decimal.Decimal(str(v)) for v in PLAIN["size"]]),
    "truth": PLAIN.assign(open=PLAIN["open"].astype(int)),
    "dates": PLAIN.assign(
        size=pd.Timestamp("2024-03-01") + pd.to_timedelta(PLAIN["size"], unit="D")
    ),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_rules_of_frames_of_every_kind(kind):
    frame = FRAMES[kind]
    simple = DefragClassifier(random_state=0).fit(frame, Y)
    assert simple.score(frame, Y) > 0.8
    assert "city" in simple.rules_.features
    answers = simple.rules_.predict(frame)
    assert (answers == simple.predict(frame)).all()
    # A row by itself, of plain values, is answered as in its table.
    for i in (0, int(np.argmax(GAPS)), N_ROWS - 1):
        assert simple.rules_.predict(frame.iloc[[i]])[0] == answers[i]


def test_missing_values_of_nullable_columns_are_missing():
    frame = FRAMES["nullable"]
    simple = DefragClassifier(random_state=0).fit(frame, Y)
    plain = PLAIN.assign(
        open=PLAIN["open"].astype(float), city=PLAIN["city"].astype("O")
    )
    plain.loc[GAPS, ["size", "city"]] = np.nan
    assert (simple.predict(plain) == simple.predict(frame)).all()


GRADES = ["poor", "fair", "good", "best"]


def graded(library="pandas"):
    grades = RNG.choice(GRADES, N_ROWS)
    y = np.where(np.isin(grades, ["good", "best"]), "yes", "no")
    frame = PLAIN[["size"]].assign(grade=grades)
    if library == "polars":
        polars = pytest.importorskip("polars")
        return polars.from_pandas(frame).with_columns(
            polars.col("grade").cast(polars.Enum(GRADES))
        ), y
    dtype = pd.CategoricalDtype(GRADES, ordered=True)
    return frame.astype({"grade": dtype}), y


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_conditions_respect_the_order_of_categories(library):
    frame, y = graded(library)
    simple = DefragClassifier(random_state=0).fit(frame, y)
    text = simple.rules_.export("text")
    assert "if grade >= good then yes" in text or "if grade <= fair then no" in text
    assert simple.score(frame, y) == 1.0
    assert simple.rules_.feature_kinds == (None, "ordered")
    loaded = RuleModel.from_dict(simple.rules_.to_dict())
    assert (loaded.predict(frame) == y).all()


def risks(n_rows=900, seed=3):
    """Rows in which yes is likelier the higher the grade, with noise and gaps."""
    rng = np.random.default_rng(seed)
    place, size = rng.integers(0, len(GRADES), n_rows), rng.normal(0, 1, n_rows)
    chance = np.array([0.15, 0.55, 0.3, 0.8])[place] + 0.15 * (size > 0)
    y = np.where(rng.random(n_rows) < chance, "yes", "no")
    grades = np.array(GRADES, dtype=object)[place]
    grades[rng.random(n_rows) < 0.05] = None
    return pd.DataFrame({"size": size, "grade": grades}), y


def ordinal(**settings):
    """A pipeline whose encoder knows the order of the grades."""
    encoder = OrdinalEncoder(
        **settings, handle_unknown="use_encoded_value", unknown_value=-1
    )
    steps = make_column_transformer((encoder, ["grade"]), remainder="passthrough")
    forest = RandomForestClassifier(20, min_samples_leaf=10, random_state=0)
    return make_pipeline(steps, forest)


@pytest.mark.parametrize("form", ["list", "points"])
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("source", ["encoder", "dtype"])
def test_predictions_rise_or_fall_with_an_order(source, sign, form):
    frame, y = risks()
    if source == "encoder":
        model = ordinal(categories=[GRADES]).fit(frame, y)
    else:
        model = ordinal().fit(frame, y)
        frame["grade"] = pd.Categorical(frame["grade"], GRADES, ordered=True)
    settings = {"form": form, "max_rules": 6, "random_state": 0, "brevity": 0}
    rules = simplify(model, frame, y, monotone={"grade": sign}, **settings).rules_
    sizes = np.linspace(-3, 3, 60)
    told = [
        rules.predict_proba(pd.DataFrame({"size": sizes, "grade": [grade] * 60}))[:, 1]
        for grade in GRADES
    ]
    assert (sign * np.diff(told, axis=0) >= -1e-12).all()
    free = simplify(model, frame, y, **settings).rules_
    assert any(c.feature == 1 for rule in free.rules for c in rule.conditions)
    assert "grade" in rules.export("text") or sign < 0


def test_an_order_of_an_encoder_keeps_other_values_apart():
    frame, y = risks()
    y = np.where(frame["grade"].isin(GRADES[2:]), "yes", "no")
    model = ordinal(categories=[[None, *GRADES]]).fit(frame, y)
    simple = simplify(model, frame, y, random_state=0)
    assert simple.rules_.feature_kinds == (None, "ordered")
    assert simple.score(frame, y) == 1.0
    text = simple.rules_.export("text")
    assert "if grade >= good then yes" in text or "if grade <= fair" in text
    other = pd.DataFrame({"size": [0.0, 0.0], "grade": ["new", None]})
    held = simple.rules_.covers(other)[:, 0]
    assert held.tolist() == [False, simple.rules_.rules[0].conditions[0].missing]
    loaded = RuleModel.from_dict(simple.rules_.to_dict())
    assert (loaded.predict(other) == simple.predict(other)).all()
    [first, *_] = loaded.rules
    again = loaded.replace(1, first.text())
    assert again.rules[0].conditions == first.conditions


@pytest.mark.parametrize("form", ["list", "standalone", "points"])
def test_a_database_predicts_as_conditions_with_an_order_do(form):
    frame, y = risks()
    model = ordinal(categories=[GRADES], encoded_missing_value=-2).fit(frame, y)
    settings = {"form": form, "max_rules": 6, "random_state": 0}
    simple = fit_rules(model, frame, y, augment=10_000, **settings)
    rules = simple.rules_
    signs = "grade <= ", "grade >= ", " <= grade"
    assert any(sign in rules.export("text") for sign in signs)
    rows = frame.copy()
    rows.loc[::7, "grade"] = "new"
    expected = model.predict_proba(rows)
    np.testing.assert_allclose(simple.forest_.predict_proba(rows), expected, atol=1e-12)
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        rows.to_sql("people", database, index=False)
        query = rules.export("sql", dialect="sqlite", table="people")
        found = pd.read_sql(query, database)["prediction"]
    assert (found.to_numpy() == rules.predict(rows)).all()
    for k, rule in enumerate(rules.rules):
        assert rules.replace(k + 1, rule.text()).rules[k].shown == rule.shown
    assert not rules.check(frame, y).has_moved


@pytest.mark.parametrize("form", ["list", "standalone", "points"])
def test_categories_in_an_order_are_taken_as_intervals(form):
    frame, _ = graded()
    # Only the ends are the same, which an interval cannot say at once.
    ends = frame["grade"].isin(["poor", "best"])
    y = np.where(ends, "yes", "no")
    simple = DefragClassifier(form=form, random_state=0).fit(frame, y)
    for rule in simple.rules_.rules:
        for condition in rule.conditions:
            if condition.categories is not None:
                places = [c for c in condition.categories if c < len(GRADES)]
                assert places == list(range(min(places), max(places) + 1))
    plain = frame.astype({"grade": str})
    assert DefragClassifier(random_state=0).fit(plain, y).score(plain, y) == 1.0


def test_a_forest_that_knows_categories_in_another_order():
    frame, y = graded()
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1)
    model.fit(frame, y)
    simple = DefragClassifier(model, random_state=0).fit(frame, y)
    assert (simple.forest_.predict(frame) == model.predict(frame)).all()
    assert simple.forest_.categories[1] == tuple(GRADES)


def test_booleans_as_objects_are_known_in_any_order_of_rows():
    rng = np.random.default_rng(0)
    is_open = np.array(rng.random(400) < 0.5, dtype=object)
    y = np.where(is_open ^ (rng.random(400) < 0.1), "yes", "no")
    is_open[:150] = None
    frame = pd.DataFrame({"open": pd.Series(is_open, dtype=object)})
    for k in (1, -1):
        model = DefragClassifier(max_rules=2, random_state=0).fit(frame[::k], y[::k])
        assert model.rules_.feature_kinds == ("boolean",)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_y_may_be_a_frame_of_one_column(kind, library):
    X, y = PLAIN[["size"]], pd.Series(Y) if kind == "classes" else PLAIN["size"] ** 2
    trees = {"classes": RandomForestClassifier, "numbers": RandomForestRegressor}
    model = trees[kind](5, random_state=0).fit(X, y)
    frame = y.rename("target").to_frame()
    if library == "polars":
        frame = pytest.importorskip("polars").DataFrame({"target": y.to_list()})
    simple = simplify(model, X, y, max_rules=3)
    assert simplify(model, X, frame, max_rules=3).rules_ == simple.rules_
    estimator = type(simple)(max_rules=3, random_state=0)
    assert estimator.fit(X, frame).rules_ == estimator.fit(X, y).rules_
    for rules in (simple, simple.rules_):
        assert rules.evaluate(X, frame) == pytest.approx(rules.evaluate(X, y))
    assert simple.rules_.refit(X, frame) == simple.rules_.refit(X, y)
    found = explain_errors(model, X, frame)
    assert found.to_dict() == explain_errors(model, X, y).to_dict()
