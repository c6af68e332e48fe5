"""Rows of which only codes are kept: the same rules from every source of them."""

import pickle
import subprocess
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import (
    AdaBoostRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from defragtrees.baselines.distilled import DistilledTreeClassifier
from defragtrees.data import sources
from defragtrees.data.grid import ThresholdGrid
from defragtrees.data.shards import Encoder
from defragtrees.ensembles import forest as forests
from defragtrees.ensembles.readers import read_forest
from defragtrees.estimators import defrag, estimator_for
from defragtrees.estimators.defrag import DefragClassifier
from defragtrees.outcomes import measures as ranking
from defragtrees.outcomes.classification import Classes
from defragtrees.search import driver
from defragtrees.search.driver import SEARCHED_SHARE, count_found
from tests.paper.settings import GENTLE

NAMES = ["age", "income", "city", "height"]
CITIES = ["Bern", "Kyoto", "Lima"]


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch):
    """Thousands of rows are many, in parts of hundreds."""
    monkeypatch.setattr(sources, "MANY_ROWS", 800)
    monkeypatch.setattr(sources, "PART_ROWS", 700)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 3000
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(float),
            "income": np.round(rng.lognormal(10, 1, n)),
            "city": pd.Categorical(rng.choice(CITIES, n), categories=CITIES),
            "height": rng.normal(170, 10, n),
        }
    )
    X.loc[rng.random(n) < 0.1, "income"] = np.nan
    return X


@pytest.fixture(scope="module")
def labels(frame):
    rng = np.random.default_rng(1)
    high = (frame["age"] > 50) & (frame["city"] != "Lima") | (frame["height"] > 185)
    flipped = rng.random(len(frame)) < 0.05
    return np.where(high ^ flipped, "yes", "no")


@pytest.fixture(scope="module")
def amounts(frame):
    rng = np.random.default_rng(2)
    steps = 1000 + 20 * (frame["age"] > 50) - 5 * (frame["city"] == "Lima")
    return (steps + rng.normal(0, 1, len(frame))).to_numpy()


@pytest.fixture(scope="module")
def boosted(frame, labels):
    kind = HistGradientBoostingClassifier(
        max_iter=20, categorical_features="from_dtype", random_state=0
    )
    return kind.fit(frame, labels)


@pytest.fixture(scope="module")
def boosted_amounts(frame, amounts):
    kind = HistGradientBoostingRegressor(
        max_iter=20, categorical_features="from_dtype", random_state=0
    )
    return kind.fit(frame, amounts)


def simplified(model, *rows, method="defrag", **settings):
    settings = {"max_rules": 6, "random_state": 0, **settings}
    if method == "paper":
        settings = {"n_restarts": 6, **GENTLE, **settings}
    kind = estimator_for(method, read_forest(model).outcome)
    return kind(model, **settings).fit(*rows)


def pieces(X, *columns):
    for start in range(0, len(X), 411):
        rows = slice(start, start + 411)
        yield (X.iloc[rows], *(column[rows] for column in columns))


def moved_columns(forest, order):
    """The same forest for a table whose columns stand in another order."""
    place = np.argsort(order)
    trees = tuple(
        replace(tree, feature=np.where(tree.feature >= 0, place[tree.feature], -1))
        for tree in forest.trees
    )
    names = tuple(forest.feature_names[j] for j in order)
    return replace(forest, trees=trees, feature_names=names, categories=None)


def by_names(rules):
    """What rules say, whatever the order of columns."""
    return [
        (
            sorted(c.text(rules.feature_names) for c in rule.conditions),
            rule.prediction,
            rule.n_rows,
        )
        for rule in rules
    ]


@pytest.mark.parametrize("form", ["list", "standalone", "points"])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
@pytest.mark.parametrize("target", ["model", "labels"])
def test_neither_order_of_rows_nor_of_columns_changes_rules(
    form, kind, target, frame, labels, amounts, tmp_path
):
    numbers, y = frame.drop(columns="city"), labels if kind == "classes" else amounts
    grown = RandomForestClassifier if kind == "classes" else RandomForestRegressor
    grown = grown(10, min_samples_leaf=20, random_state=0).fit(numbers, y)
    settings = {"form": form, "target": target}
    expected = simplified(grown, numbers, y, **settings).rules_
    assert expected.n_rules > 1
    order = np.random.default_rng(3).permutation(len(numbers))
    rows, y = numbers.iloc[order].reset_index(drop=True), y[order]
    assert simplified(grown, rows, y, **settings).rules_ == expected
    path = tmp_path / "rows.parquet"
    rows.assign(outcome=y).to_parquet(path, row_group_size=130)
    assert simplified(grown, path, "outcome", **settings).rules_ == expected
    assert simplified(grown, pieces(rows, y), **settings).rules_ == expected
    moved = moved_columns(read_forest(grown), [2, 0, 1])
    turned = simplified(moved, rows[list(moved.feature_names)], y, **settings).rules_
    assert by_names(turned) == by_names(expected)


def test_order_of_more_rows_than_a_sample_has_changes_no_rule():
    rng = np.random.default_rng(0)
    n_rows = driver.MOST_ROWS + 1_000
    X = rng.normal(size=(n_rows, 3))
    y = (X[:, 0] + X[:, 1] ** 2 > 1) ^ (rng.random(n_rows) < 0.1)
    weight = rng.integers(1, 4, n_rows).astype(float)  # their sums are exact
    model = RandomForestClassifier(5, max_depth=4, random_state=0)
    model.fit(X[:5_000], y[:5_000])
    order = rng.permutation(n_rows)
    fits = [
        DefragClassifier(model, random_state=0).fit(X[k], y[k], sample_weight=weight[k])
        for k in (slice(None), order)
    ]
    assert fits[0].rules_ == fits[1].rules_


@pytest.mark.parametrize("method", ["defrag", "paper"])
def test_frames_iterators_and_files_give_the_same_rules(
    method, frame, labels, boosted, tmp_path
):
    expected = simplified(boosted, frame, labels, method=method)
    assert expected.rules_.n_rules > 1
    path = tmp_path / "rows.parquet"
    frame.assign(note="x", outcome=labels).to_parquet(path, row_group_size=130)
    from_pieces = simplified(boosted, pieces(frame, labels), method=method)
    from_file = simplified(boosted, path, "outcome", method=method)
    from_polars = simplified(
        boosted, pl.from_pandas(frame), labels, method=method, n_jobs=2
    )
    for found in (from_pieces, from_file, from_polars):
        assert found.rules_ == expected.rules_
        assert found.training_ == pytest.approx(expected.training_, abs=1e-12)
    assert from_file.feature_names_in_.tolist() == NAMES


@pytest.mark.parametrize("form", ["list", "standalone", "points"])
def test_lists_are_judged_by_rows_that_were_not_searched(
    form, frame, boosted_amounts, monkeypatch
):
    seen = {}

    def count(path, blank, store, settings, scoring, rows):
        seen.update(path=path, store=store, rows=rows)
        seen["counted"] = count_found(path, blank, store, settings, scoring, rows)
        return seen["counted"]

    monkeypatch.setattr("defragtrees.estimators.defrag.count_found", count)
    simple = simplified(boosted_amounts, frame, form=form)
    searched, judging = seen["path"].rows, seen["rows"]
    # Codes name most rows.
    names = [set(map(bytes, own.codes)) for own in (searched, judging)]
    assert len(searched.target) + len(judging.target) == sources.MANY_ROWS
    assert len(searched.target) == sources.MANY_ROWS * SEARCHED_SHARE
    assert len(names[0] & names[1]) < 0.2 * len(names[0])
    assert seen["store"].n_rows == simple.rules_.training.n_rows == len(frame)
    losses = {own.model.n_rules: own.loss for own in seen["counted"].by_rules}
    assert losses[simple.rules_.n_rules] == min(losses.values())


def test_rows_drawn_near_the_data_may_be_searched_and_all_rows_count(
    frame, labels, boosted
):
    plain = simplified(boosted, frame, labels)
    new = simplified(boosted, frame, labels, augment=400)
    again = simplified(boosted, pieces(frame, labels), augment=400)
    assert again.rules_ == new.rules_
    assert plain.rules_.evidence.source == "searched"
    assert new.rules_.evidence.source == "training"
    assert sum(rule.n_rows for rule in new.rules_) == 3000


def test_rules_are_the_same_without_numba(frame, labels, boosted, tmp_path):
    pytest.importorskip("numba")
    rows = frame, labels
    with open(tmp_path / "fit.pickle", "wb") as file:
        pickle.dump((boosted, rows), file)
    code = f"""
        import pickle, sys
        sys.modules["numba"] = None
        from defragtrees import DefragClassifier
        from defragtrees.data import sources
        from defragtrees.estimators import defrag
        defrag.NEW_ROWS = {defrag.NEW_ROWS}
        sources.MANY_ROWS, sources.PART_ROWS = 800, 700
        model, rows = pickle.load(open({str(tmp_path / "fit.pickle")!r}, "rb"))
        for n_rows in (700, 3000):
            simple = DefragClassifier(model, max_rules=6, random_state=0)
            print(simple.fit(*(own[:n_rows] for own in rows)).rules_.to_dict())
        """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    expected = [
        simplified(boosted, *(own[:n] for own in rows)).rules_ for n in (700, 3000)
    ]
    assert done.stdout == "".join(f"{rules.to_dict()}\n" for rules in expected)


def test_labels_are_not_needed_by_any_source(frame, boosted, tmp_path):
    expected = simplified(boosted, frame)
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path)
    tables = (table for (table,) in pieces(frame))
    for rows in (path, tables):
        simple = simplified(boosted, rows)
        assert simple.rules_ == expected.rules_
        assert "error" not in simple.training_


@pytest.mark.parametrize("method", ["defrag", "paper"])
def test_memory_map_gives_the_rules_of_the_array(method, tmp_path):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2500, 5)).astype(np.float32)
    y = (X[:, 0] > 0.2) ^ (X[:, 1] > -0.3)
    forest = RandomForestClassifier(20, max_depth=6, random_state=0).fit(X, y)
    mapped = np.memmap(tmp_path / "X", np.float32, "w+", shape=X.shape)
    mapped[:] = X
    expected = simplified(forest, X, y, method=method)
    assert simplified(forest, mapped, y, method=method).rules_ == expected.rules_
    assert expected.training_["fidelity"] > 0.8


def test_what_is_printed_of_each_rule_is_counted_over_all_rows(frame, labels, boosted):
    simple = simplified(boosted, frame, labels)
    answers = boosted.predict(frame)
    by = simple.apply(frame)
    held = simple.rules_.covers(frame)
    assert sorted(np.unique(by)) == list(range(simple.rules_.n_rules))
    for k, rule in enumerate(simple.rules_):
        own = answers[by == k]
        assert rule.share == pytest.approx(len(own) / len(frame), abs=1e-12)
        assert rule.coverage == pytest.approx(held[:, k].mean(), abs=1e-12)
        assert rule.error == pytest.approx((own != rule.prediction).mean(), abs=1e-12)
        assert rule.n_rows == len(own)
        rates = [(labels[by == k] == label).mean() for label in simple.classes_]
        assert rule.rates == pytest.approx(rates, abs=1e-11)
    assert simple.path_[simple.rules_.n_rules] == simple.rules_


@pytest.mark.parametrize("method", ["defrag", "paper"])
def test_numbers_are_counted_over_all_rows_with_their_weights(
    method, frame, amounts, boosted_amounts
):
    weight = np.random.default_rng(4).integers(0, 3, len(frame)).astype(float)
    simple = simplified(boosted_amounts, frame, amounts, weight, method=method)
    answers, by = boosted_amounts.predict(frame), simple.apply(frame)
    for k, rule in enumerate(simple.rules_):
        own, w = amounts[by == k], weight[by == k]
        mean = np.average(own if method == "defrag" else answers[by == k], weights=w)
        assert rule.share == pytest.approx(w.sum() / weight.sum(), abs=1e-12)
        assert rule.prediction == pytest.approx(mean, rel=1e-4)
        low, high = rule.quantiles
        assert w[own < low - 0.05].sum() <= 0.1 * w.sum() <= w[own <= low + 0.05].sum()
        assert w[own > high + 0.05].sum() <= 0.1 * w.sum()
        assert w[own >= high - 0.05].sum() >= 0.1 * w.sum()
        square = np.average((own - rule.prediction) ** 2, weights=w)
        assert rule.error == pytest.approx(square, rel=1e-6)
        assert rule.spread == pytest.approx(square**0.5, rel=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_measures_by_parts_are_those_of_the_whole_table(
    weighted, frame, labels, amounts, boosted, boosted_amounts, monkeypatch
):
    weight = np.random.default_rng(5).uniform(0, 2, len(frame)) if weighted else None
    for model, y in ((boosted, labels), (boosted_amounts, amounts)):
        simple = simplified(model, frame, y, weight)
        by_parts = simple.evaluate(frame, y, weight)
        from_pieces = simple.evaluate(
            pieces(frame, y) if weight is None else pieces(frame, y, weight)
        )
        with monkeypatch.context() as patch:
            patch.setattr(sources, "MANY_ROWS", 10**6)
            at_once = simple.evaluate(frame, y, weight)
        assert list(by_parts) != []
        assert set(by_parts) == set(at_once)
        for found in (by_parts, from_pieces):
            assert found == pytest.approx(at_once, rel=1e-9, abs=1e-12)
        assert set(simple.training_) == set(at_once)
        # The model's probabilities of rows that are fitted are kept in float32.
        short = {f"model_{m.name}" for m in Classes().measures()}
        for name, value in at_once.items():
            rel = 1e-6 if name in short else 1e-9
            expected = pytest.approx(value, rel=rel, abs=1e-12)
            assert simple.training_[name] == expected, name


def test_a_summary_of_parts_is_that_of_the_table(
    frame, labels, amounts, boosted, boosted_amounts, monkeypatch
):
    for model, y in ((boosted, labels), (boosted_amounts, amounts)):
        simple = simplified(model, frame, y)
        by_parts = simple.summary(frame, y)
        monkeypatch.setattr(sources, "MANY_ROWS", 10**6)
        assert "Estimated and observed on these rows" in by_parts
        assert by_parts == simple.summary(frame, y)


def test_the_models_ranking_by_parts_is_near_that_of_all_scores(
    frame, labels, boosted, monkeypatch
):
    simple = simplified(boosted, frame, labels)
    exact = simple.evaluate(frame, labels)
    told = boosted.predict_proba(frame)
    assert exact["model_auc"] == pytest.approx(
        roc_auc_score(labels, told[:, 1]), abs=1e-9
    )
    monkeypatch.setattr(ranking, "MOST_SCORES", 50)
    binned = simple.evaluate(pieces(frame, labels))
    for name in ("model_auc", "model_average_precision"):
        assert binned[name] == pytest.approx(exact[name], abs=1e-3)
        assert binned[name] != exact[name]
    for name in ("auc", "log_loss", "model_log_loss", "model_brier", "recall"):
        assert binned[name] == pytest.approx(exact[name], rel=1e-9)


def test_answers_by_parts_are_those_of_the_table(frame, labels, boosted, tmp_path):
    simple = simplified(boosted, frame, labels)
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path)
    few = frame.iloc[:300]
    for verb in ("predict", "predict_proba", "apply"):
        ask = getattr(simple, verb)
        at_once = np.concatenate(
            [ask(frame.iloc[a : a + 500]) for a in range(0, 3000, 500)]
        )
        for rows in (frame, path, (own for (own,) in pieces(frame))):
            np.testing.assert_array_equal(ask(rows), at_once)
        assert len(ask(few)) == 300


def test_shortened_thresholds_are_those_of_the_table_in_memory(frame, boosted):
    forest = simplified(boosted, frame).forest_
    grid = ThresholdGrid(tuple(forest.splits()))
    encode = Encoder(forest, grid)
    parts = sources.TableSource(frame).parts()
    digest = None
    for part in parts:
        own = encode(part)[1]
        digest = own if digest is None else digest + own
    by_parts = grid.shorten_between(*digest.values()[1:3])
    assert by_parts == grid.shorten(forest.encode(frame))
    assert by_parts != grid


@pytest.mark.parametrize(
    "make",
    [
        lambda X, y: RandomForestClassifier(9, random_state=0).fit(X, y),
        lambda X, y: RandomForestClassifier(1, max_depth=1, random_state=0).fit(X, y),
        lambda X, y: HistGradientBoostingRegressor(
            max_iter=9, categorical_features=[2]
        ).fit(X, X[:, 0]),
        lambda X, y: AdaBoostRegressor(n_estimators=5, random_state=0).fit(X, X[:, 1]),
        lambda X, y: HistGradientBoostingClassifier(max_iter=3).fit(X, y),
    ],
)
@pytest.mark.parametrize("missing", [False, True])
def test_compiled_loops_predict_as_numpy_does_to_the_last_bit(
    make, missing, monkeypatch
):
    kernels = pytest.importorskip("defragtrees.ensembles.kernels")
    rng = np.random.default_rng(6)
    X = rng.normal(size=(700, 4))
    X[:, 2] = rng.integers(0, 6, 700)
    forest = read_forest(make(X, rng.integers(0, 3, 700)))
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    X[:50, 2] = 9
    expected = forest.predict_raw(X)
    monkeypatch.setattr(forests, "MANY_ROWS", 0)
    walked = []
    walk = kernels.walk
    monkeypatch.setattr(kernels, "walk", lambda *of: walked.append(walk(*of)))
    np.testing.assert_array_equal(forest.predict_raw(X), expected)
    assert len(walked) == (forest.combine != "median")
    assert not len(forest.predict(X[:0]))


def test_few_rows_from_any_source_are_fitted_as_a_table(
    frame, labels, boosted, tmp_path, monkeypatch
):
    expected = simplified(boosted, frame.iloc[:600], labels[:600])
    path = tmp_path / "rows.parquet"
    frame.iloc[:600].assign(outcome=labels[:600]).to_parquet(path)
    assert simplified(boosted, path, "outcome").rules_ == expected.rules_
    few = pieces(frame.iloc[:600], labels[:600])
    assert simplified(boosted, few).rules_ == expected.rules_


def test_labels_can_be_the_target_of_many_rows(frame, labels, boosted):
    simple = simplified(boosted, frame, labels, target="labels")
    assert simple.training_["error"] < 0.15
    with pytest.raises(ValueError, match="target='labels' requires y"):
        simplified(boosted, frame, target="labels")


def test_constant_answers_are_one_rule(frame):
    constant = HistGradientBoostingRegressor(max_iter=1).fit(frame, np.full(3000, 7.0))
    with pytest.warns(UserWarning, match="a single value"):
        simple = simplified(constant, frame)
    assert simple.rules_.n_rules == 1
    assert simple.predict(frame[:3]).tolist() == [7.0, 7.0, 7.0]


def test_default_model_is_fitted_on_a_large_table(labels, frame):
    simple = DefragClassifier(random_state=0).fit(frame, labels)
    assert simple.training_["fidelity"] > 0.8


def test_bad_sources_say_what_is_needed(frame, labels, boosted, tmp_path):
    path = tmp_path / "rows.parquet"
    frame.assign(outcome=labels).to_parquet(path)
    text = tmp_path / "rows.txt"
    text.write_bytes(b"FEA1")
    with pytest.raises(ValueError, match="must be the name of a column"):
        simplified(boosted, path, "label")
    with pytest.raises(ValueError, match="must be the name of a column"):
        simplified(boosted, path, labels)
    with pytest.raises(ValueError, match="is a Feather file of version 1"):
        simplified(boosted, text)
    with pytest.raises(FileNotFoundError, match="no file or folder"):
        simplified(boosted, tmp_path / "absent.parquet")
    with pytest.raises(ValueError, match="y and sample_weight must be None"):
        simplified(boosted, pieces(frame), labels)
    with pytest.raises(ValueError, match="at least one table; got none"):
        simplified(boosted, iter(()))
    with pytest.raises(TypeError, match="must yield arrays or data frames"):
        simplified(boosted, iter([1, 2]))
    with pytest.raises(NotFittedError, match="not in memory need a fitted model"):
        DefragClassifier(RandomForestClassifier()).fit(path, "outcome")
    with pytest.raises(NotFittedError, match="not in memory need a fitted model"):
        DefragClassifier().fit(path, "outcome")
    with pytest.raises(TypeError, match="needs all rows in memory"):
        DistilledTreeClassifier(boosted).fit(path, "outcome")
    with pytest.raises(ValueError, match="does not know"):
        simplified(boosted, frame, np.where(labels == "yes", "yes", "maybe"))
    with pytest.raises(ValueError, match="equally many rows"):
        simplified(boosted, frame, labels[:-1])
    with pytest.raises(ValueError, match="infinity"):
        simplified(boosted, frame.assign(age=np.inf), labels)
    with pytest.raises(ValueError, match="positive weight"):
        simplified(boosted, frame, labels, np.zeros(len(frame)))
    with pytest.raises(ValueError, match="come with y, or none"):
        simplified(boosted, iter([(frame, labels), (frame,)]))


def test_rivals_take_large_tables_in_memory(frame, labels, boosted):
    tree = DistilledTreeClassifier(boosted, random_state=0).fit(frame, labels)
    assert tree.training_["fidelity"] > 0.8


def cut_otherwise(monkeypatch, fits):
    """Results of a fit with parts of several sizes."""
    found = []
    for size in (150, 700, 10**6):
        monkeypatch.setattr(sources, "PART_ROWS", size)
        found.append(fits())
    return found


@pytest.mark.parametrize("method", ["defrag", "paper"])
def test_where_rows_are_cut_changes_no_rule(
    method, frame, amounts, labels, boosted, boosted_amounts, monkeypatch
):
    weight = np.linspace(0.1, 1.9, len(frame))
    for model, y in ((boosted, labels), (boosted_amounts, amounts)):
        first, *others = cut_otherwise(
            monkeypatch,
            lambda e=model, y=y: simplified(e, frame, y, weight, method=method),
        )
        assert first.rules_.n_rules > 1
        assert all(one.rules_ == first.rules_ for one in others)


def test_minus_zero_is_zero_however_rows_are_cut(monkeypatch):
    rng = np.random.default_rng(7)
    X = np.round(rng.normal(size=(3000, 4)), 1)
    assert np.signbit(X[X == 0]).any()
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0.3)
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    first, *others = cut_otherwise(monkeypatch, lambda: simplified(forest, X, y))
    assert all(one.rules_ == first.rules_ for one in others)


@pytest.mark.parametrize("n_rows", [300, 3000])
@pytest.mark.parametrize("value", [1234567.123456789, 1 / 3])
def test_answers_that_do_not_differ_are_kept_to_fifteen_digits(value, n_rows, frame):
    X = frame.iloc[:n_rows]
    constant = HistGradientBoostingRegressor(max_iter=1).fit(X, np.full(n_rows, value))
    with pytest.warns(UserWarning, match="a single value"):
        simple = simplified(constant, X)
    assert simple.predict(X[:1])[0] == pytest.approx(value, rel=1e-14)
    assert simple.training_["fidelity"] == 1.0


def test_few_rows_of_a_file_can_fit_the_model_too(frame, labels, tmp_path):
    path = tmp_path / "rows.parquet"
    frame.iloc[:600].assign(outcome=labels[:600]).to_parquet(path)
    simple = DefragClassifier(random_state=0).fit(path, "outcome")
    assert simple.feature_names_in_.tolist() == NAMES


def test_a_named_index_in_a_file_is_no_feature(tmp_path):
    rng = np.random.default_rng(8)
    X = pd.DataFrame(rng.normal(size=(1000, 2)), columns=["a", "b"])
    y = (X["a"] > 0).to_numpy()
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X.to_numpy(), y)
    path = tmp_path / "rows.parquet"
    X.rename_axis("id").assign(y=y).to_parquet(path)
    assert simplified(forest, path, "y").feature_names_in_.tolist() == ["a", "b"]


def test_weights_and_labels_must_be_as_many_as_rows(frame, labels, boosted):
    long = np.ones(len(frame) + 1)
    with pytest.raises(ValueError, match="sample_weight must have equally many"):
        simplified(boosted, frame, labels, long)
    simple = simplified(boosted, frame, labels, 1.0)
    assert simple.rules_ == simplified(boosted, frame, labels).rules_
    with pytest.raises(ValueError, match="y must have equally many"):
        simple.evaluate(frame, np.append(labels, labels))
    with pytest.raises(ValueError, match="come with sample_weight, or none"):
        simplified(boosted, iter([(frame, labels), (frame, labels, long[1:])]))


def test_labels_of_a_part_may_all_be_new_to_evaluate(frame, labels, boosted):
    simple = simplified(boosted, frame, labels)
    new = labels.astype(object)
    new[2000:] = "never"
    assert simple.evaluate(frame, new)["error"] > 0.3
    with pytest.raises(ValueError, match="no row has one of these"):
        simple.evaluate(frame, np.full(len(frame), "never"))


def test_labels_of_rows_without_weight_have_no_say(frame, labels, boosted):
    weight = np.ones(len(frame))
    weight[3], strange = 0.0, labels.astype(object)
    strange[3] = "unheard of"
    found = simplified(boosted, frame, strange, weight)
    assert found.rules_ == simplified(boosted, frame, labels, weight).rules_


def test_empty_tables_are_passed_over(frame, labels, boosted):
    some = [(frame[:0], labels[:0]), *pieces(frame, labels), (frame[:0], labels[:0])]
    expected = simplified(boosted, frame, labels)
    assert simplified(boosted, iter(some)).rules_ == expected.rules_
    assert len(expected.predict(iter([frame[:0]]))) == 0
    with pytest.raises(ValueError, match="0 sample"):
        simplified(boosted, iter([(frame[:0], labels[:0])]))


def test_settings_are_judged_before_rows_are_read(frame, labels, boosted):
    read = []

    def tables():
        for own in pieces(frame, labels):
            read.append(own)
            yield own

    with pytest.raises(ValueError, match="not a feature of X"):
        simplified(boosted, tables(), features=["nope"])
    assert len(read) < 4


def test_a_callback_stops_all_restarts(frame, labels, boosted):
    simple = simplified(
        boosted, frame, labels, method="paper", callback=lambda step: True
    )
    assert {step.iteration for step in simple.history_} == {1}
