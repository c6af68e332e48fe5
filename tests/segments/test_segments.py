"""Planted segments are found, measured on rows not used in the search."""

import copy
import itertools
import json
import sqlite3

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import RidgeClassifier

from defragtrees import (
    Segments,
    compare_models,
    explain_errors,
    find_segments,
    load,
)
from defragtrees.baselines import DistilledTreeRegressor
from defragtrees.errors import ModelFileError
from defragtrees.segments import SegmentGroups
from defragtrees.segments.found import Heading


@pytest.fixture
def table():
    """3,000 rows with numbers, categories, dates, an order and missing values."""
    rng = np.random.default_rng(0)
    n = 3000
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": rng.lognormal(10, 1, n).round(2),
            "city": rng.choice(["Bern", "Rome", "Oslo", "Lima"], n),
            "since": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(rng.integers(0, 1000, n), "D"),
            "grade": pd.Categorical(
                rng.choice(["low", "middle", "high"], n),
                ["low", "middle", "high"],
                ordered=True,
            ),
        }
    )
    frame.loc[rng.random(n) < 0.1, "income"] = np.nan
    return frame


def planted(inside, seed=1, rates=(0.1, 0.5)):
    """Errors that are more frequent inside."""
    rng = np.random.default_rng(seed)
    return rng.random(len(inside)) < np.where(inside, rates[1], rates[0])


def overlap(one, two):
    """Jaccard's index."""
    return (one & two).sum() / (one | two).sum()


PLANTED = {
    "numbers": lambda X: (X.age > 60) & (X.income <= 22_000),
    "category": lambda X: (X.city == "Rome") & (X.age <= 35),
    "dates": lambda X: (X.since >= "2022-03-01") & (X.city != "Oslo"),
    "order": lambda X: (X.grade >= "middle") & (X.age < 26),
    "missing": lambda X: X.income.isna() & (X.age > 30),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_segment_is_found_in_every_kind_of_column(table, name):
    inside = PLANTED[name](table).to_numpy()
    found = find_segments(table, planted(inside))
    best = max(found, key=lambda one: one.explained)
    covers = found.covers(table)[:, found.found.index(best)]
    assert overlap(covers, inside) > 0.8
    assert best.interval[0] < 0.5 < best.interval[1]
    assert best.p_value < 0.001


def test_figures_are_counted_on_rows_that_did_not_find_the_segment(table):
    """Recomputed with pandas, on the rows that `SegmentSearch` keeps for counting."""
    from defragtrees.segments.search import SegmentSearch

    wrong = planted(PLANTED["numbers"](table).to_numpy())
    found = find_segments(table, wrong, random_state=3)
    counts = SegmentSearch(table, wrong, random_state=3).counts
    assert (found.n_rows, found.n_searched) == (1000, 2000)
    covers = found.covers(table)
    assert len(found) == 1
    for k, segment in enumerate(found):
        here = covers[:, k] & counts
        assert segment.n_rows == here.sum()
        assert segment.mean == pytest.approx(wrong[here].mean())
        assert segment.share == pytest.approx(here[counts].mean())
        apart = wrong[here].mean() - wrong[counts & ~here].mean()
        expected = here[counts].mean() * apart
        assert segment.explained == pytest.approx(expected)
    nowhere = counts & ~covers.any(axis=1)
    assert found.rest == pytest.approx(wrong[nowhere].mean())
    assert found.mean == pytest.approx(wrong[counts].mean())


def test_order_of_rows_and_columns_does_not_matter(table):
    wrong = planted(PLANTED["numbers"](table).to_numpy())
    order = np.random.default_rng(5).permutation(len(table))
    names = list(reversed(table.columns))
    turned = find_segments(table[names].iloc[order], wrong[order])
    assert str(turned) == str(find_segments(table, wrong))


def test_scale_of_weights_does_not_matter(table):
    wrong = planted(PLANTED["numbers"](table).to_numpy())
    weight = np.random.default_rng(6).integers(1, 4, len(table))
    small, large = (
        find_segments(table, wrong, sample_weight=weight * by) for by in (1, 1000)
    )
    assert str(small) == str(large)


def test_no_segment_in_noise(table):
    rng = np.random.default_rng(7)
    runs = [
        draw
        for _ in range(15)
        for draw in (rng.random(3000) < 0.2, rng.standard_normal(3000) ** 2)
    ]
    assert sum(len(find_segments(table, losses)) > 0 for losses in runs) <= 3


def test_low_losses_and_restricted_features(table):
    inside = PLANTED["category"](table).to_numpy()
    good = planted(inside, rates=(0.5, 0.05))
    found = find_segments(table, good, direction="low", features=["city", "age"])
    assert overlap(found.covers(table)[:, 0], inside) > 0.8
    assert {c.feature for c in found[0].conditions} == {0, 2}


def test_segments_as_table_sql_frame_and_json(table, tmp_path):
    wrong = planted(PLANTED["numbers"](table).to_numpy())
    found = find_segments(table, wrong, loss_name="error")
    text = str(found)
    assert "age > 60" in text
    assert all(len(line) <= 80 for line in text.splitlines())
    frame = found.to_frame()
    assert frame["segment"].tolist() == list(range(1, len(found) + 1))
    path = tmp_path / "segments.json"
    found.save(path)
    again = Segments.from_dict(json.loads(path.read_text()))
    # A file leaves out the categories of columns that no rule uses.
    assert (again.found, again.to_dict()) == (found.found, found.to_dict())
    with sqlite3.connect(":memory:") as base:
        table[["age", "income", "city"]].to_sql("t", base)
        sql = found.to_sql(dialect="sqlite", table="t")
        numbers = pd.read_sql(sql, base)["segment"]
    assert numbers.tolist() == found.apply(table).tolist()


def test_booleans_are_compared_in_sql():
    duckdb = pytest.importorskip("duckdb", reason="SQL is run in DuckDB")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"new": rng.random(1000) < 0.3, "age": rng.random(1000)})
    found = find_segments(table, planted(table["new"].to_numpy()))
    assert [one.feature for one in found[0].conditions] == [0]
    base = duckdb.connect()
    base.register("t", table)
    scored = base.execute(found.to_sql(dialect="duckdb", table="t")).df()
    assert scored["segment"].tolist() == found.apply(table).tolist()
    base.close()


def test_more_rows_than_are_searched_all_count():
    rng = np.random.default_rng(8)
    X = rng.random((80_000, 4))
    inside = (X[:, 0] > 0.8) & (X[:, 1] > 0.8)
    found = find_segments(X, planted(inside))
    assert (found.n_searched, found.n_rows) == (30_000, 50_000)
    assert overlap(found.covers(X)[:, 0], inside) > 0.9


def test_parquet_and_iterators(table, tmp_path):
    wrong = planted(PLANTED["numbers"](table).to_numpy())
    plain = table.drop(columns="grade")
    path = tmp_path / "rows.parquet"
    plain.assign(wrong=wrong * 1.0).to_parquet(path)
    expected = str(find_segments(plain, wrong))
    parts = ((plain[i : i + 500], wrong[i : i + 500]) for i in range(0, 3000, 500))
    assert str(find_segments(path, "wrong")) == expected
    assert str(find_segments(parts, None)) == expected


def test_equal_rows_search_and_count():
    """A table with a few distinct rows is split too, whatever the order of its rows."""
    rng = np.random.default_rng(13)
    X = pd.DataFrame(
        {"is_new": rng.random(2000) < 0.2, "city": ["Bern", "Rome"] * 1000}
    )
    wrong = planted(X.is_new.to_numpy())
    [found] = find_segments(X, wrong)
    assert found.rule.text() == "is_new is 1"
    assert found.n_rows == X.is_new.sum()
    order = rng.permutation(2000)
    turned = find_segments(X.iloc[order], wrong[order])
    assert str(turned) == str(find_segments(X, wrong))


def test_a_column_without_missing_values_is_not_called_missing():
    """Signed losses: the mean of no rows is between those of the two categories."""
    rng = np.random.default_rng(17)
    X = pd.DataFrame({"is_late": rng.choice(["no", "yes"], 2000, p=[0.8, 0.2])})
    X["size"] = rng.random(2000)
    losses = np.where(X.is_late == "yes", 0.3, -0.1) + rng.normal(0, 0.3, 2000)
    [found] = find_segments(X, losses)
    assert found.rule.text() == "is_late is yes"


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_unit_of_losses_does_not_matter(scale):
    rng = np.random.default_rng(14)
    X = rng.random((1000, 2))
    for losses in (planted(X[:, 0] > 0.8) * 1.0, rng.random(1000) + (X[:, 0] > 0.8)):
        [plain], [scaled] = find_segments(X, losses), find_segments(X, losses * scale)
        assert scaled.conditions == plain.conditions
        assert scaled.mean == pytest.approx(plain.mean * scale)
        assert scaled.interval == pytest.approx(np.multiply(plain.interval, scale))
        assert scaled.explained == pytest.approx(plain.explained * scale)


def test_rows_without_weight_do_not_count(table):
    wrong = planted(PLANTED["numbers"](table).to_numpy())
    weight = (np.arange(3000) % 2).astype(float)
    found = find_segments(table, wrong, sample_weight=weight)
    assert found.n_rows + found.n_searched == 1500
    here = found.covers(table)[:, 0] & (weight > 0)
    assert found[0].n_rows < here.sum()
    with pytest.raises(ValueError, match="40 rows of positive weight"):
        find_segments(table, wrong, sample_weight=np.arange(3000) < 3)


def test_low_losses_of_mostly_zeros_are_not_found_by_chance(table):
    rng = np.random.default_rng(15)
    draws = (np.where(rng.random(3000) < 0.02, rng.random(3000), 0) for _ in range(10))
    assert not any(len(find_segments(table, one, direction="low")) for one in draws)


def test_interval_of_a_segment_without_losses_has_an_upper_end():
    rng = np.random.default_rng(16)
    X = rng.random((3000, 1))
    losses = np.where(X[:, 0] > 0.3, rng.random(3000), 0.0)
    [found] = find_segments(X, losses, direction="low")
    assert found.mean == found.interval[0] == 0
    # Wilson's upper end of 0 of n, times the mean of the losses above 0.
    n, square = found.n_rows, 1.96**2
    assert found.interval[1] == pytest.approx(0.5 * square / (n + square), rel=0.05)


BAD = {
    "NaN": (np.r_[np.nan, np.arange(99.0)], "1 row of 100 has NaN"),
    "another length": (np.arange(7.0), "100"),
    "constant": (np.ones(100), "All losses are 1"),
    "text": (np.array(["a", "b"] * 50), "losses must be numbers"),
    "dates": (np.arange(100).astype("M8[D]"), "losses must be numbers"),
    "missing": (np.array([None, *range(99)], dtype=object), "1 row of 100 has NaN"),
    "none": (None, "got None"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_losses_end_in_a_sentence(name):
    losses, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        find_segments(np.arange(100.0).reshape(-1, 1), losses)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_segments": 0}, "max_segments"),
        ({"direction": "up"}, "direction"),
        ({"alpha": 1.5}, "alpha"),
        ({"features": ["nobody"]}, "nobody"),
        ({"features": []}, "it is empty"),
        ({"random_state": -1}, "random_state"),
        ({"random_state": "one"}, "random_state"),
    ],
)
def test_bad_settings_end_in_a_sentence(settings, message):
    X = np.arange(100.0).reshape(-1, 1)
    with pytest.raises(ValueError, match=message):
        find_segments(X, np.arange(100.0), **settings)
    with pytest.raises(ValueError, match="at least 40 rows"):
        find_segments(X[:1], [1.0])
    for bad in (pd.Series(range(100)), pd.DataFrame(index=range(100))):
        with pytest.raises(ValueError, match="rows and columns"):
            find_segments(bad, np.arange(100.0))


# Models


@pytest.fixture
def numbers():
    rng = np.random.default_rng(9)
    X = pd.DataFrame(rng.random((4000, 4)), columns=["a", "b", "c", "d"])
    y = 10 * X.a + rng.normal(0, 0.5, 4000) + 4.0 * ((X.b > 0.7) & (X.c > 0.7))
    return X, y


def test_bias_of_numbers_in_both_directions(numbers):
    X, y = numbers
    found = explain_errors(lambda X: 10 * X["a"], X, y)
    assert list(found) == ["absolute error", "too low", "too high"]
    [low] = found["too low"]
    assert low.interval[0] < 4.0 < low.interval[1]
    assert low.beside["observed"] - low.beside["predicted"] == pytest.approx(low.mean)
    assert len(found["too high"]) == 0
    assert "Where predictions are too low" in str(found)
    turned = explain_errors(lambda X: 10 * X["a"] + 4, X, y)
    assert len(turned["too low"]) == 0


@pytest.fixture
def classes():
    rng = np.random.default_rng(10)
    X = pd.DataFrame(rng.random((4000, 4)), columns=["a", "b", "c", "d"])
    p = 0.15 + 0.7 * (X.a > 0.5)
    p = p.where(~((X.b > 0.75) & (X.c > 0.6)), 0.5)
    y = pd.Series(np.where(rng.random(4000) < p, "bad", "good"))
    return X, y, p.to_numpy()


def test_errors_of_a_classifier_on_raw_columns(classes):
    X, y, _ = classes
    known = X[["a", "d"]]
    forest = RandomForestClassifier(30, min_samples_leaf=20, random_state=0)
    forest.fit(known[:1000], y[:1000])
    found = explain_errors(forest, X[1000:], y[1000:])
    best = found["error"][0]
    assert {c.feature for c in best.conditions} == {1, 2}
    wrong = forest.predict(known) != y
    inside = ((X.b > 0.75) & (X.c > 0.6)).to_numpy()
    assert best.interval[0] < wrong[inside].mean() < best.interval[1]


@pytest.mark.parametrize("loss", ["log_loss", "brier", "error"])
def test_losses_of_probabilities_equal_those_of_scikit_learn(classes, loss):
    from sklearn import metrics

    from defragtrees.ensembles.predictions import predict_rows
    from defragtrees.segments.search import _Outcomes

    X, y, p = classes
    labels = y.to_numpy()
    # Of the second class, good.
    given = _Outcomes(predict_rows(1 - p, X, labels), labels)
    _, losses = given.losses(loss)
    right = {
        "log_loss": lambda: metrics.log_loss(y, np.column_stack([p, 1 - p])),
        "brier": lambda: metrics.brier_score_loss(y, 1 - p, pos_label="good"),
        "error": lambda: 1 - metrics.accuracy_score(y, given.labels),
    }[loss]()
    assert np.mean(losses) == pytest.approx(right)


def test_a_model_without_probabilities(classes):
    X, y, _ = classes
    ridge = RidgeClassifier().fit(X, y)
    assert list(explain_errors(ridge, X, y)) == ["error"]
    with pytest.raises(ValueError, match='Use loss="error"'):
        explain_errors(ridge, X, y, "log_loss")
    with pytest.raises(ValueError, match="loss must be one of"):
        explain_errors(ridge, X, y, "absolute")


def test_bad_y_and_bad_predictions_end_in_a_sentence(classes):
    X, y, p = classes
    gone = y.where(np.arange(len(y)) > 3)
    for model, labels, message in (
        (p, None, "needs y"),
        (p, gone, "4 rows of 4000 have one"),
        (p, np.column_stack([y, y]), "2 columns"),
        (np.where(p > 0.5, np.nan, p), y, "finite numbers"),
        (RidgeClassifier, y, "Cannot read"),
        (p[:7], y, "each of the 4000 rows"),
    ):
        with pytest.raises(ValueError, match=message):
            explain_errors(model, X, labels)


def test_forms_of_predictions_give_the_same_segments(classes):
    X, y, p = classes
    expected = str(explain_errors(1 - p, X, y))
    both = np.column_stack([p, 1 - p])
    assert str(explain_errors(both, X, y.to_frame())) == expected
    assert str(explain_errors(lambda X: both, X, y.tolist())) == expected
    assert str(explain_errors(pd.Series(1 - p), X, pd.Categorical(y))) == expected
    table = X.assign(score=1 - p)
    found = explain_errors("score", table, y, features=list(X))
    assert str(found) == str(explain_errors(1 - p, table, y, features=list(X)))


def test_a_model_without_faults_and_two_equal_models_have_no_segments(classes):
    X, y, p = classes
    assert len(explain_errors(y, X, y)["error"]) == 0
    for labels in (None, y):
        found = compare_models(p, p, X, labels)
        assert [len(one) for one in found.values()] == [0, 0]


def test_classes_of_two_models(classes):
    X, y, p = classes
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    # A score from 0 to 1 is a probability of the second class.
    assert list(compare_models(forest, 1 - p, X)) == ["b higher", "b lower"]
    ridge = RidgeClassifier().fit(X, y)
    assert set(compare_models(forest, ridge, X, y)) == {"b better", "a better"}
    other = RidgeClassifier().fit(X, np.where(y == "bad", "ill", "well"))
    with pytest.raises(ValueError, match="must predict the classes"):
        compare_models(forest, other, X)


def test_change_of_labels_in_a_region_is_found_by_comparing_two_models(classes):
    """5% of the training labels, in one region, are turned before a second fit."""
    X, *_ = classes
    bad = np.random.default_rng(12).random(len(X)) < 0.1 + 0.3 * X.a
    y = pd.Series(np.where(bad, "bad", "good"))
    region = (X.c <= 0.3) & (X.d <= 0.33)
    turned = y.copy()
    half = region & (np.arange(len(X)) % 2 == 0)
    turned[half] = "bad"
    assert half.mean() == pytest.approx(0.05, abs=0.01)
    old, new = (
        RandomForestClassifier(50, min_samples_leaf=5, random_state=0).fit(X, labels)
        for labels in (y, turned)
    )
    rng = np.random.default_rng(11)
    fresh = pd.DataFrame(rng.random((4000, 4)), columns=X.columns)
    found = compare_models(old, new, fresh)
    inside = ((fresh.c <= 0.3) & (fresh.d <= 0.33)).to_numpy()
    lower = found["b lower"]  # the second class, good, is rarer
    assert overlap(lower.covers(fresh).any(axis=1), inside) > 0.7


def test_a_model_a_rule_list_and_a_column_can_be_compared(numbers):
    X, y = numbers
    forest = RandomForestRegressor(20, random_state=0).fit(X[:2000], y[:2000])
    rules = DistilledTreeRegressor(max_rules=4, random_state=0).fit(X[:2000], y[:2000])
    new = X[2000:].assign(vendor=10 * X.a)
    found = compare_models(forest, rules, X[2000:], y[2000:])
    assert set(found) == {"b better", "a better"}
    # A segment reports how much less the absolute error of the better one is.
    for segment in found["a better"]:
        apart = segment.beside["b"] - segment.beside["a"]
        assert apart == pytest.approx(segment.mean)
    found = compare_models(forest, "vendor", new)
    assert {c.feature for c in found["b lower"][0].conditions} >= {1, 2}
    with pytest.raises(FileNotFoundError, match="neither a column of X"):
        compare_models(forest, "seller", new)


def test_names_cannot_steer_a_terminal():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a\x1bc\u202e": rng.random(900)})
    found = find_segments(X, X.iloc[:, 0] > 0.8, loss_name="\x1b[31m")
    none = find_segments(X, rng.random(900) < 0.5, loss_name="\x1b[31m")
    group = SegmentGroups({"error": found}, {"error": Heading("rate of \x1bc")})
    assert (len(found), len(none)) == (1, 0)
    for shown in (found, none, group):
        for text in (str(shown), shown._repr_html_()):
            assert text.replace("\n", "").isprintable()


def test_files_of_segments_are_checked(table, tmp_path):
    wrong = planted(PLANTED["numbers"](table).to_numpy())
    found = find_segments(table, wrong)
    groups = SegmentGroups({"error": found}, {"error": Heading("Where it fails")})
    for kept in (found, groups):
        kept.save(tmp_path / "segments.json")
        assert str(load(tmp_path / "segments.json")) == str(kept)
    places = [(name, None) for name in found.to_dict()]
    places += [("found", name) for name in found.to_dict()["found"][0]]
    for (name, inner), value in itertools.product(places, [None, "x", [], -1e400, {}]):
        data = copy.deepcopy(found.to_dict())
        if inner is None:
            data[name] = value
        else:
            data[name][0][inner] = value
        try:
            again = Segments.from_dict(data)
        except ModelFileError:
            continue
        # What is read works.
        for text in (str(again), again._repr_html_()):
            assert text
        assert len(again.to_frame()) == len(found)


def test_a_bias_has_an_interval_where_all_y_agree():
    X = np.repeat([[0.0], [1.0]], 400, axis=0)
    y = np.concatenate([np.ones(400), np.arange(400) % 2])
    found = explain_errors(np.where(X[:, 0] == 0, 0.7, 0.5), X, y)
    [one] = found["too low"]
    assert one.mean == pytest.approx(0.3)
    low, high = one.interval
    assert low < 0.29
    assert high == pytest.approx(0.3)


def test_a_model_that_knows_where_it_is_uncertain_does_not_fail_there(classes):
    """Labels drawn from its own probabilities are no failure, others are."""
    X, y, p = classes
    known = 1 - p  # of good, the second class
    found = explain_errors(known, X, y)
    assert [len(found[name]) for name in ("error", "uncertain")] == [0, 1]
    one = found["uncertain"][0]
    assert {c.feature for c in one.conditions} == {1, 2}
    assert one.beside["expected"] == pytest.approx(0.5, abs=0.05)
    assert "uncertain, not wrong" in str(found)
    assert "expected" in str(found)
    plain = explain_errors(known, X, y, excess=False)
    assert list(plain) == ["error", "too low", "too high"]
    assert len(plain["error"]) == 1
    # Where the model is sure and wrong.
    inside = ((X.b > 0.75) & (X.c > 0.6)).to_numpy()
    sure = np.where(inside, 0.95, known)
    found = explain_errors(sure, X, y)
    assert len(found["uncertain"]) == 0
    [one] = found["error"]
    assert overlap(found["error"].covers(X)[:, 0], inside) > 0.9
    assert one.beside["expected"] == pytest.approx(0.05, abs=0.02)
    assert one.mean > 0.4


def test_an_error_far_above_the_expected_one_is_not_called_expected(classes):
    """A model that is too sure, and as much so where it is least sure."""
    X, *_ = classes
    inside = (X.b > 0.75) & (X.c > 0.6)
    rate = np.where(inside, 0.4, 0.2)
    second = (X.a > 0.5).to_numpy()
    wrong = np.random.default_rng(0).random(len(X)) < rate
    y = np.where(second ^ wrong, "good", "bad")
    for known, names in ((rate, 1), (rate - 0.12, 0)):
        found = explain_errors(np.where(second, 1 - known, known), X, y)
        assert [len(found["error"]), len(found["uncertain"])] == [0, names]


@pytest.mark.parametrize("loss", ["error", "log_loss", "brier"])
def test_expected_losses_are_those_of_labels_drawn_from_the_probabilities(loss):
    from defragtrees.ensembles.predictions import predict_rows
    from defragtrees.segments.search import _Outcomes

    p = np.array([0.1, 0.3, 0.5, 0.8])
    given = _Outcomes(predict_rows(p, np.zeros((4, 1)), np.array([0, 1, 0, 1])),
                      np.array([0, 1, 0, 1]))  # fmt: skip
    expected = {
        "error": np.minimum(p, 1 - p),
        "log_loss": -p * np.log(p) - (1 - p) * np.log(1 - p),
        "brier": p * (1 - p),
    }[loss]
    assert given.expected_losses(loss) == pytest.approx(expected)


def test_a_segment_leaves_out_rows_of_earlier_ones(table):
    """Two overlapping faults; the figures of all segments and the rest add up."""
    old = (table.age > 60).to_numpy()
    rich = (table.income > 40_000).to_numpy()
    rng = np.random.default_rng(2)
    wrong = rng.random(3000) < np.where(old, 0.6, np.where(rich, 0.3, 0.05))
    found = find_segments(table, wrong)
    assert len(found) >= 2
    share = sum(segment.share for segment in found)
    explained = sum(segment.share * segment.mean for segment in found)
    total = explained + (1 - share) * found.rest
    assert total == pytest.approx(found.mean)


def test_a_small_table_counts_all_rows():
    """Each row in the segments that are found without it."""
    rng = np.random.default_rng(1)
    X = rng.random((500, 4))
    inside = (X[:, 0] > 0.7) & (X[:, 1] < 0.4)
    found = find_segments(X, planted(inside, rates=(0.08, 0.5)))
    assert (found.n_rows, found.n_searched) == (500, 0)
    assert overlap(found.covers(X)[:, 0], inside) > 0.6
    assert "each counted for segments" in str(found)
    noise = [find_segments(X, rng.random(500) < 0.2) for _ in range(5)]
    assert sum(map(len, noise)) == 0


def test_models_are_compared_by_the_size_of_their_difference(numbers):
    X, _ = numbers
    first = 10 * X.a
    second = first + 3 * (X.b > 0.95) - 1.0 * (X.c > 0.6)
    found = compare_models(first, second, X)
    assert list(found) == ["b higher", "b lower"]
    turned = compare_models(second, first, X)
    assert list(turned) == ["b lower", "b higher"]
    assert len(compare_models(first, second, X, min_difference=1.5)["b lower"]) == 0
    with pytest.raises(ValueError, match="min_difference must be a number from 0"):
        compare_models(first, second, X, min_difference=-1)


def test_an_overall_bias_is_the_first_line(classes):
    X, y, p = classes
    found = explain_errors(np.clip(1.2 - p, 0, 1), X, y)
    first = str(found).splitlines()[0]
    assert first.startswith("Overall bias: -1")
    assert "observed" in first
    assert "predicted" in first
