"""Frames with dates and times: fitted, printed and asked again."""

import datetime as dt

import numpy as np
import pytest

from defragtrees import DefragClassifier, RuleModel, simplify
from defragtrees.tables import as_days, column_kinds, dates_as_days

pd = pytest.importorskip("pandas")
START = np.datetime64("2020-01-01")


@pytest.fixture(scope="module")
def accounts():
    rng = np.random.default_rng(0)
    n = 600
    frame = pd.DataFrame(
        {
            "opened": START + rng.integers(0, 1500, n).astype("m8[D]"),
            "seen": START + rng.integers(0, 9_000_000, n).astype("m8[s]"),
            "waited": rng.integers(0, 90_000, n).astype("m8[s]"),
            "size": rng.normal(size=n),
        }
    )
    y = np.where(frame["opened"] >= "2022-03-01", "late", "early")
    return frame, y


def test_dates_are_fitted_and_printed(accounts):
    frame, y = accounts
    model = DefragClassifier(max_rules=2, random_state=0).fit(frame, y)
    assert model.rules_.feature_kinds == ("date", "datetime", "duration", None)
    text = model.rules_.export("text").splitlines()[0]
    assert text.startswith(
        ("1. if opened >= 2022-03-01 then late", "1. if opened < 2022-03-01 then early")
    )
    assert (model.predict(frame) == y).all()
    again = RuleModel.from_dict(model.rules_.to_dict())
    assert (again.predict(frame) == y).all()
    row = {"opened": dt.date(2023, 1, 1), "seen": None, "waited": None, "size": 0.0}
    assert again.explain(row).startswith("Prediction: late; P(late) = ")
    days = dates_as_days(frame, column_kinds(frame))
    assert (again.predict(days) == y).all()


def test_polars_gives_the_same_rules(accounts):
    polars = pytest.importorskip("polars")
    frame, y = accounts
    one = DefragClassifier(max_rules=2, random_state=0).fit(frame, y)
    other = DefragClassifier(max_rules=2, random_state=0)
    other.fit(polars.from_pandas(frame), y)
    assert str(one.rules_) == str(other.rules_)


def test_thresholds_that_are_no_days_are_refused(accounts):
    frame, y = accounts
    numbers = frame.assign(
        opened=as_days(frame["opened"]) * 86_400,
        seen=as_days(frame["seen"]),
        waited=as_days(frame["waited"]),
    )
    fitted = DefragClassifier(max_rules=2, random_state=0).fit(numbers, y).model_
    with pytest.raises(ValueError, match="'opened' is read as a number of days"):
        simplify(fitted, frame, y)


def test_a_label_says_that_numbers_are_days(accounts):
    frame, y = accounts
    numbers = pd.DataFrame({"opened": as_days(frame["opened"])})
    labels = {"opened": "Account opened [date]"}
    settings = {"max_rules": 2, "random_state": 0, "augment": 10_000}
    model = DefragClassifier(**settings, feature_labels=labels)
    text = str(model.fit(numbers, y).rules_)
    assert "Account opened" in text
    assert "2022-03-01" in text
    assert (model.predict(frame[["opened"]]) == y).all()


MOMENTS = pd.Series(pd.date_range("2024-01-01", periods=200, freq="7h"))
IN_TOKYO = MOMENTS.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")


def in_polars(column):
    polars = pytest.importorskip("polars")
    return polars.DataFrame({"a": polars.Series(column)})


SAME_INSTANTS = {
    "UTC": IN_TOKYO.dt.tz_convert("UTC").to_frame("a"),
    "Tokyo": IN_TOKYO.to_frame("a"),
    "offset": IN_TOKYO.dt.tz_convert("-03:30").to_frame("a"),
    "objects": pd.DataFrame(
        {"a": pd.Series([t.to_pydatetime() for t in IN_TOKYO], dtype=object)}
    ),
    "array": np.array([[t.to_pydatetime()] for t in IN_TOKYO], dtype=object),
    "Arrow": pd.DataFrame({"a": IN_TOKYO.astype("timestamp[us, tz=UTC][pyarrow]")}),
    "Arrow in Tokyo": pd.DataFrame(
        {"a": IN_TOKYO.astype("timestamp[ns, tz=Asia/Tokyo][pyarrow]")}
    ),
    "polars": lambda: in_polars(MOMENTS).with_columns(a=zoned_in_polars()),
}


def zoned_in_polars():
    polars = pytest.importorskip("polars")
    column = polars.col("a").dt.replace_time_zone("UTC")
    return column.dt.convert_time_zone("Asia/Tokyo")


@pytest.fixture(scope="module")
def zoned():
    y = np.where(pd.Timestamp("2024-02-15 12:00") <= MOMENTS, "late", "early")
    model = DefragClassifier(max_rules=2, random_state=0)
    return model.fit(SAME_INSTANTS["Tokyo"], y), y


@pytest.mark.parametrize("kind", SAME_INSTANTS)
def test_the_same_instants_in_any_zone_get_the_same_rules_and_predictions(kind, zoned):
    model, y = zoned
    assert model.rules_.feature_kinds == ("datetime UTC",)
    assert "a < 2024-02-15 09:00 UTC" in str(model.rules_)
    X = SAME_INSTANTS[kind]
    X = X() if callable(X) else X
    again = RuleModel.from_dict(model.rules_.to_dict())
    assert (again.predict(X) == y).all()
    if kind != "array":  # without names it has no kinds
        other = DefragClassifier(max_rules=2, random_state=0).fit(X, y)
        assert other.rules_ == model.rules_


def test_rules_on_times_in_utc_are_edited_in_their_own_words(zoned):
    rules = zoned[0].rules_
    edited = rules.replace(1, "a < 2024-02-20 09:00 UTC")
    assert "a < 2024-02-20 09:00 UTC" in str(edited)


def test_times_with_and_without_a_zone_are_not_mixed(zoned):
    naive, dates = MOMENTS.to_frame("a"), MOMENTS.dt.date.to_frame("a")
    plain = DefragClassifier(max_rules=2, random_state=0).fit(naive, zoned[1])
    assert plain.rules_.feature_kinds == ("datetime",)
    for X in (naive, dates, in_polars(MOMENTS), naive.to_numpy("M8[us]")):
        with pytest.raises(ValueError, match="must hold times with a time zone"):
            zoned[0].rules_.predict(X)
    for kind, X in SAME_INSTANTS.items():
        X = X() if callable(X) else X
        with pytest.raises(ValueError, match="must hold times without a time zone"):
            plain.rules_.predict(X)
        if kind == "objects":
            X = pd.concat([dates.astype(object), X]).reset_index(drop=True)
            with pytest.raises(ValueError, match="Column 'a' must hold times without"):
                plain.fit(X, np.tile(zoned[1], 2))


def test_dates_of_arrow_are_dates():
    frame = MOMENTS.dt.date.to_frame("a")
    y = np.where(frame["a"] >= dt.date(2024, 2, 15), "late", "early")
    model = DefragClassifier(max_rules=2, random_state=0).fit(frame, y)
    for dtype in ("date32[pyarrow]", "date64[pyarrow]"):
        same = frame.astype(dtype)
        other = DefragClassifier(max_rules=2, random_state=0).fit(same, y)
        assert other.rules_.feature_kinds == ("date",)
        assert other.rules_ == model.rules_
        assert (model.predict(same) == y).all()
        same.iloc[0, 0] = None
        assert column_kinds(same) == ("date",)
        assert np.isnan(as_days(same["a"])[0])


@pytest.mark.parametrize("kind", [k for k in SAME_INSTANTS if k != "array"])
def test_a_black_box_gets_times_as_they_were(kind):
    X = SAME_INSTANTS[kind]
    X = X() if callable(X) else X
    border = dt.datetime(2024, 2, 15, 12, tzinfo=dt.UTC)

    def model(table):
        return np.array([t is not None and t < border for t in list(table["a"])])

    simple = simplify(model, X, max_rules=2, random_state=0)
    assert simple.training_["fidelity"] == 1.0


def test_objects_are_dates_too():
    frame = pd.DataFrame(
        {
            "date": pd.Series([None, dt.date(2024, 3, 1)], dtype=object),
            "time": pd.Series([dt.time(6), None], dtype=object),
            "text": ["a", "b"],
        }
    )
    kinds = column_kinds(frame)
    assert kinds == ("date", "time", None)
    days = dates_as_days(frame, kinds)
    assert days["date"].tolist()[1] == 19783.0
    assert days["time"].tolist()[0] == 0.25
    assert days["text"].tolist() == ["a", "b"]
    assert frame["time"].tolist()[0] == dt.time(6)
