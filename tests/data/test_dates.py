"""Frames with dates and times: fitted, printed and asked again."""

import datetime as dt

import numpy as np
import pytest

from defragtrees import DefragClassifier, RuleModel, simplify
from defragtrees.data.tables import as_days, column_kinds, dates_as_days

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
    text = model.rules_.to_text().splitlines()[0]
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
    fitted = DefragClassifier(max_rules=2, random_state=0).fit(numbers, y).ensemble_
    with pytest.raises(ValueError, match="'opened' is read as a number of days"):
        simplify(fitted, frame, y)


def test_a_label_says_that_numbers_are_days(accounts):
    frame, y = accounts
    numbers = pd.DataFrame({"opened": as_days(frame["opened"])})
    labels = {"opened": "Account opened [date]"}
    model = DefragClassifier(max_rules=2, random_state=0, feature_labels=labels)
    text = str(model.fit(numbers, y).rules_)
    assert "Account opened" in text
    assert "2022-03-01" in text
    assert (model.predict(frame[["opened"]]) == y).all()


def test_moments_count_by_the_clock_of_their_zone():
    there = pd.Series(pd.to_datetime(["2024-03-01 12:00"])).dt.tz_localize("Asia/Tokyo")
    assert as_days(there).tolist() == [19783.5]
    assert column_kinds(pd.DataFrame({"a": there})) == ("datetime",)


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
