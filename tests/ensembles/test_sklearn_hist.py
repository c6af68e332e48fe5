"""Histogram boosting: categories, missing values and losses are read exactly."""

import numpy as np
import pytest
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

from defragtrees.ensembles.readers.from_sklearn import read
from defragtrees.errors import UnsupportedModelError
from tests.checks.readers import rows_around_thresholds
from tests.ensembles.test_from_sklearn import HIST, check_exact, make_rows, make_y


@pytest.mark.parametrize(
    "options",
    [
        {"loss": "absolute_error"},
        {"loss": "poisson"},
        {"loss": "gamma"},
        {"loss": "quantile", "quantile": 0.3},
        {"max_bins": 5},
    ],
)
def test_every_histogram_regressor_is_exact(options):
    X = make_rows(share_missing=0.1)
    y = np.abs(make_y(X, "number")) + 0.1
    check_exact(HistGradientBoostingRegressor(**HIST, **options).fit(X, y), X)


def test_a_single_class_of_histogram_boosting_is_certain():
    # scikit-learn itself gives this one class two probabilities.
    X = make_rows()
    forest = read(HistGradientBoostingClassifier(**HIST).fit(X, np.full(len(X), "one")))
    assert forest.predict(X).tolist() == ["one"] * len(X)
    assert forest.predict_proba(X).tolist() == [[1.0]] * len(X)


def test_histogram_thresholds_are_not_rounded():
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    model = HistGradientBoostingRegressor(**HIST).fit(X, X[:, 0])
    rows = [[0.5], [np.nextafter(0.5, 1.0)]]
    found = read(model).predict(rows)
    assert found[0] != found[1]
    assert found.tolist() == model.predict(rows).tolist()


def make_frame(n_rows=240, seed=3):
    """Numbers and categories in turn, all with missing values."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    cities = rng.choice(["rome", "bonn", "oslo", "lima"], n_rows)
    frame = pandas.DataFrame(
        {
            "size": rng.normal(size=n_rows),
            "city": pandas.Categorical(
                cities, ["oslo", "unseen", "rome", "bonn", "lima"]
            ),
            "age": rng.integers(0, 9, n_rows).astype(float),
            "code": pandas.Categorical(rng.choice([10, 3, 7], n_rows)),
        }
    )
    y = (
        2.0 * np.isin(cities, ["rome", "oslo"])
        + 1.5 * (frame["code"] == 7)
        + frame["size"].clip(-1, 1)
    ).to_numpy()
    frame.loc[::9, "city"] = None
    frame.loc[::7, "age"] = np.nan
    frame.loc[::11, "code"] = np.nan
    return frame, y


def test_categories_by_dtype_keep_the_columns_and_labels_of_the_user():
    frame, y = make_frame()
    model = HistGradientBoostingRegressor(**{**HIST, "max_iter": 15}).fit(frame, y)
    forest = read(model)
    assert forest.feature_names == ("size", "city", "age", "code")
    assert forest.categories == (
        None,
        ("bonn", "lima", "oslo", "rome"),
        None,
        (3, 7, 10),
    )
    used = np.concatenate([tree.feature for tree in forest.trees])
    assert {0, 1, 3} <= set(used.tolist())
    expected = model.predict(frame)
    np.testing.assert_allclose(forest.predict(frame), expected, rtol=1e-13)
    values = frame.astype(object).to_numpy()
    np.testing.assert_allclose(forest.predict(values), expected, rtol=1e-13)


def test_unknown_categories_go_where_missing_values_go():
    pandas = pytest.importorskip("pandas")
    frame, y = make_frame()
    model = HistGradientBoostingRegressor(**{**HIST, "max_iter": 15}).fit(frame, y)
    forest = read(model)
    answers = []
    for city, code in (("paris", 7), ("rome", 99), ("unseen", 99), (None, None)):
        rows = frame.assign(
            city=pandas.Categorical([city] * len(frame), ["rome", "unseen", "paris"]),
            code=pandas.Categorical([code] * len(frame), [7, 99]),
        )
        answers.append(forest.predict(rows))
        np.testing.assert_allclose(answers[-1], model.predict(rows), rtol=1e-13)
    np.testing.assert_array_equal(answers[2], answers[3])
    assert (answers[0] != answers[2]).any()


@pytest.mark.parametrize("given", [[1, 3], [False, True, False, True], ["b", "d"]])
def test_categories_by_index_mask_and_name_are_exact(given):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    X = np.column_stack(
        [
            rng.normal(size=200),
            rng.integers(0, 6, 200),
            rng.normal(size=200),
            1.5 * rng.integers(-3, 3, 200),
        ]
    )
    y = (X[:, 1] % 2 == 0) * 1 + (X[:, 3] == 1.5) + (X[:, 2] > 0)
    X[::13, 1] = np.nan
    table = pandas.DataFrame(X, columns=list("abcd")) if given == ["b", "d"] else X
    model = HistGradientBoostingClassifier(categorical_features=given, **HIST)
    forest = read(model.fit(table, y))
    assert forest.categories[0] is forest.categories[2] is None
    assert forest.categories[1] == (0, 1, 2, 3, 4, 5)
    assert forest.categories[3] == (-4.5, -3, -1.5, 0, 1.5, 3)
    around = rows_around_thresholds(forest, X)
    changed = X.copy()
    changed[::3, 1] = 77
    changed[1::3, 3] = -100
    for rows in (X, around, changed):
        if given == ["b", "d"]:
            rows = pandas.DataFrame(rows, columns=list("abcd"))
        np.testing.assert_allclose(
            forest.predict_proba(rows), model.predict_proba(rows), atol=1e-14
        )
        assert (forest.predict(rows) == model.predict(rows)).all()


def test_nulls_of_polars_are_exact():
    # To scikit-learn None is a category of its own there, not a missing value.
    polars = pytest.importorskip("polars")
    frame, y = make_frame()
    city = [None if value != value else value for value in frame["city"].tolist()]
    frame = polars.DataFrame(
        {
            "size": frame["size"].to_list(),
            "city": polars.Series(city, dtype=polars.Categorical),
        }
    )
    model = HistGradientBoostingRegressor(**{**HIST, "max_iter": 15}).fit(frame, y)
    forest = read(model)
    assert forest.categories == (None, ("bonn", "lima", "oslo", "rome"))
    unknown = frame.with_columns(polars.lit("paris").alias("city"))
    for rows in (frame, unknown):
        found = forest.predict(rows)
        np.testing.assert_allclose(found, model.predict(rows), rtol=1e-13)


def test_none_and_nan_as_two_categories_are_refused():
    X = np.array([["a"], [None], ["b"], [np.nan]] * 20, dtype=object)
    model = HistGradientBoostingClassifier(categorical_features=[0], **HIST)
    model.fit(X, [0, 1, 1, 0] * 20)
    with pytest.raises(UnsupportedModelError, match="differ in 'x1'"):
        read(model)
