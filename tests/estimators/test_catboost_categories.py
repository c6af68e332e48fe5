"""CatBoost's own categories: one-hot splits exactly, target statistics by asking."""

import numpy as np
import pytest

from defragtrees import read_forest, simplify
from defragtrees.ensembles.black_box import AskedForest
from defragtrees.ensembles.readers import read_on_table
from defragtrees.errors import UnsupportedModelError

catboost = pytest.importorskip("catboost")
pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)
N_ROWS = 250


def make_frame(seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "size": rng.normal(size=N_ROWS),
            "city": rng.choice(["Bern", "Lima", "Oslo", "Rome"], N_ROWS),
            "code": rng.choice([1, 2, 30], N_ROWS),
        }
    )


FRAME = make_frame(0)
NUMBER = FRAME["size"] + 2 * (FRAME["city"] == "Lima") - (FRAME["code"] == 30)
Y = np.where(NUMBER > 0.5, "yes", "no")


def fitted(kind=catboost.CatBoostClassifier, y=Y, one_hot=10, **settings):
    model = kind(
        iterations=12,
        depth=4,
        one_hot_max_size=one_hot,
        cat_features=["city", "code"],
        verbose=0,
        random_seed=0,
        allow_writing_files=False,
        thread_count=1,
        **settings,
    )
    return model.fit(FRAME, y)


@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise", "Lossguide"])
def test_one_hot_splits_are_read_exactly(policy):
    model = fitted(grow_policy=policy)
    with pytest.raises(UnsupportedModelError, match="'city', 'code'"):
        read_forest(model)
    forest = read_on_table(model, FRAME)
    assert forest.categories == (None, ("Bern", "Lima", "Oslo", "Rome"), (1, 2, 30))
    new = make_frame(1)
    new.loc[::3, "city"] = "Ulm"
    new.loc[::5, "code"] = 4
    near = new.copy()
    borders = forest.splits()[0]
    near["size"] = np.resize([*borders, *np.nextafter(borders, 9)], N_ROWS)
    for rows in (FRAME, new, near):
        expected = model.predict_proba(rows)
        np.testing.assert_allclose(forest.predict_proba(rows), expected, atol=1e-9)
        assert (forest.predict(rows) == model.predict(rows)).all()


def test_rules_name_the_categories():
    simple = simplify(fitted(), FRAME, Y, random_state=0)
    assert not isinstance(simple.forest_, AskedForest)
    assert "Lima" in str(simple.rules_)
    regressor = fitted(catboost.CatBoostRegressor, NUMBER)
    forest = simplify(regressor, FRAME, random_state=0).forest_
    np.testing.assert_allclose(
        forest.predict(FRAME), regressor.predict(FRAME), atol=1e-9
    )


def test_target_statistics_are_asked_for():
    model = fitted(one_hot=1)
    simple = simplify(model, FRAME, Y, random_state=0)
    assert isinstance(simple.forest_, AskedForest)
    assert "it splits on target statistics or hashes" in simple.summary()
    assert "Lima" in str(simple.rules_)
    assert np.mean(simple.predict(FRAME) == model.predict(FRAME)) > 0.9


def test_a_category_that_no_row_has_cannot_be_named():
    model = fitted()
    rows = FRAME[FRAME["city"] != "Lima"]
    with pytest.raises(UnsupportedModelError, match="not occur in X"):
        read_on_table(model, rows)
    assert isinstance(simplify(model, rows, random_state=0).forest_, AskedForest)
    gaps = FRAME.astype({"city": object}).assign(city=None)
    with pytest.raises(UnsupportedModelError, match="has missing values"):
        read_on_table(model, gaps)
