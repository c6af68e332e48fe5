"""The data sets that come with the package."""

import pickle

import numpy as np
import pytest

from defragtrees.datasets import Dataset, load_sample, load_table


@pytest.mark.parametrize(
    ("name", "shape", "first", "n_missing"),
    [
        ("churn", (5000, 15), "stays", 0),
        ("credit", (4454, 13), "paid", 455),
        ("energy", (768, 8), 15.55, 0),
        ("heart", (303, 13), "healthy", 6),
        ("homes", (932, 8), 59222, 0),
        ("spambase", (2000, 57), "spam", 0),
    ],
)
def test_tables_come_with_words_gaps_and_named_classes(name, shape, first, n_missing):
    pytest.importorskip("pandas")
    X, y = load_table(name)
    assert X.shape == shape
    assert y.iloc[0] == first
    assert X.isna().sum().sum() == n_missing
    assert "target" not in X
    assert y.notna().all()


def test_an_unknown_name_is_refused_with_the_names_that_there_are():
    with pytest.raises(ValueError, match=r"'heart', 'homes'.*got 'titanic'"):
        load_table("titanic")
    with pytest.raises(ValueError, match=r"\('energy', 'spambase'\); got 'higgs'"):
        load_sample("higgs")


@pytest.mark.parametrize("name", ["energy", "spambase"])
def test_a_sample_has_the_numbers_of_the_table(name):
    pytest.importorskip("pandas")
    data = load_sample(name)
    X, y = load_table(name)
    np.testing.assert_array_equal(data.X, X.to_numpy(dtype=float))
    assert data.feature_names == tuple(X)
    if data.task == "classification":
        y = (y == "spam").astype(int)
    assert data.y.tolist() == y.tolist()


def test_a_dataset_is_read_only_says_its_size_and_survives_a_pickle():
    data = load_sample("spambase")
    assert repr(data) == "<Dataset spambase: 2,000 rows, 57 features, classification>"
    assert not data.X.flags.writeable
    assert not data.y.flags.writeable
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(data)).X, data.X)


def test_a_dataset_needs_matching_shapes():
    with pytest.raises(ValueError, match=r"got \(2, 1\)"):
        Dataset(np.zeros((2, 1)), np.zeros(3), ("a",), "regression")
