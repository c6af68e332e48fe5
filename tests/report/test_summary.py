"""The numbers of a report, worked by hand on a few rows."""

import dataclasses
import json
import sys
from importlib import metadata
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator

from defragtrees import simplify
from defragtrees._version import __version__
from defragtrees.ensembles.forest import Forest
from defragtrees.report.boxes import map_boxes
from defragtrees.report.positions import Positions
from defragtrees.report.sections import (
    closeness,
    disagreement,
    features,
    maps,
    overlap,
    path,
    rows,
    settings,
)
from defragtrees.report.summary import summarize
from defragtrees.report.writing import write_report
from defragtrees.rules import RuleList
from defragtrees.rules.conditions import Condition, Rule
from tests.report.cases import (
    GivenClassifier,
    GivenRegressor,
    cells,
    numbers,
    stump,
    weather,
    written,
)


def test_evidence_of_each_rule_is_that_of_the_rows_it_answers():
    cards = summarize(*weather()).cards
    assert [card.n_rows for card in cards] == [2, 2, 2]
    assert [card.right for card in cards] == [1.0, 0.5, 1.0]
    # The forest says "out" on rows 1, 2 and 6 only.
    assert [card.agrees for card in cards] == [1.0, 0.0, 0.5]
    assert [card.holds for card in cards] == [2 / 6, 3 / 6, 1.0]
    assert [card.then for card in cards] == ["out", "out", "in"]


def test_conditions_keep_the_words_of_the_rules():
    cards = summarize(*weather()).cards
    assert cards[0].parts == (("", "degrees", " > 20"), ("", "wind", " ≤ 5"))
    assert cards[2].parts == ()


def test_weights_count_as_rows():
    simple, X, y = weather()
    found = summarize(simple, X, y, [3.0, 0.0, 1.0, 1.0, 1.0, 0.0])
    assert [card.share for card in found.cards] == pytest.approx([0.5, 1 / 3, 1 / 6])
    assert found.scores["error"] == pytest.approx(1 / 6)
    assert found.scores["coverage"] == pytest.approx(5 / 6)


def test_without_y_there_are_no_errors():
    simple, X, _ = weather()
    found = summarize(simple, X)
    assert "error" not in found.scores
    assert {card.right for card in found.cards} == {None}
    assert found.table.y is None


def test_disagreements_are_the_rows_that_differ():
    summary = summarize(*weather())
    found = disagreement.measure(summary)
    assert found.n_rows == 3
    assert found.worst == (2, 3, 5)
    assert found.features == (1, 0)
    # Rule 2 asks about the wind; the last rule about nothing.
    assert cells(written(disagreement, summary)[1]) == [
        ["3", "2", "out", "in (100\N{NO-BREAK SPACE}% sure)", "in", "<b>1</b>", "10"],
        ["4", "2", "out", "in (100\N{NO-BREAK SPACE}% sure)", "out", "<b>2</b>", "12"],
        ["6", "3", "in", "out (100\N{NO-BREAK SPACE}% sure)", "in", "8", "26"],
    ]


def test_pairs_of_classes_are_counted():
    rows = summarize(*weather()).rows
    pairs = closeness.class_pairs(("in", "out"), rows.predicted, rows.answers)
    assert pairs == (["in", "out"], [[1, 1], [2, 2]])


def test_an_averaged_rule_has_all_rows_in_which_it_holds():
    simple, X, y = numbers("average")
    found = summarize(simple, X, y)
    assert [card.n_rows for card in found.cards] == [2, 2, 4]
    assert [card.weight for card in found.cards] == ["2", "1", "1"]
    # Answers are (8+1)/4, 8/3, 1/2 and 0; y is 3, 4, 0 and 0.
    assert found.cards[0].miss == pytest.approx((0.75 + 4 / 3) / 2)
    assert found.table.members[1] == [0, 2]


def test_a_list_gives_a_row_to_its_first_rule():
    simple, X, y = numbers("first")
    found = summarize(simple, X, y)
    assert [card.n_rows for card in found.cards] == [2, 1, 1]
    assert found.cards[0].miss == 0.5
    levels = closeness.number_levels(found.rows)
    assert [middle for _, middle, _ in levels.values()] == [4.0, 0.0, 0.0]


def test_overlap_counts_rules_before_the_last():
    simple, X, y = numbers("first")
    counts = overlap.holding_counts(summarize(simple, X, y).rows)
    assert {n: int(here.sum()) for n, here in counts.items()} == {0: 1, 1: 2, 2: 1}


def test_importance_is_the_ensembles_own_or_the_cover_of_its_splits():
    simple, X, y = weather()
    use = summarize(simple, X, y).features
    assert features.shown_features(use) == use.used == [1, 0]
    assert use.n_rules.tolist() == [1, 2]
    assert use.n_sides.tolist() == [1, 2]
    assert use.importance.tolist() == [1.0, 0.0]
    assert "cover" in use.source
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    simple = simplify(FrozenEstimator(forest), X, y, max_rules=2, random_state=0)
    found = summarize(simple, X, y)
    assert found.features.source.startswith("feature_importances_ of RandomForest")
    assert found.ensemble.name == "RandomForestClassifier"


def test_rows_by_order_stand_side_by_side_and_bands_are_shares():
    column = np.array([0.0, 0.0, 0.0, 5.0, 7.0, np.nan])
    positions = Positions("x", None, column, np.array([1, 0, 0, 0, 0, 0]), True, 0)
    places = positions.axis().places
    # The first row is of another group than its equals, so it stands last of them.
    assert places["order"] == [0.5, 0.1, 0.3, 0.7, 0.9, -0.14]
    assert places["value"] == [0.0, 0.0, 0.0, 0.7143, 1.0, -0.14]
    bands = positions.bands(Condition(0, upper=0.5, missing=True))
    assert bands["order"] == [[-0.16, -0.12], [-0.02, 0.6]]
    assert bands["value"] == [[-0.16, -0.12], [-0.02, 0.0714]]
    assert positions.bands(Condition(0, lower=0.0))["order"] == [[0.6, 1.02]]


def test_bands_of_categories_lie_where_their_rows_are():
    column = np.array([0.0, 1.0, 1.0, 2.0])
    positions = Positions("c", ("r", "g", "b"), column, np.zeros(4, int), False, 0)
    bands = positions.bands(Condition(0, categories=(0, 2)))
    assert bands["order"] == [[-0.02, 0.25], [0.75, 1.02]]
    assert bands["value"] == [[-0.02, 0.25], [0.75, 1.02]]
    assert positions.bands(Condition(0, categories=(1, 2)))["order"] == [[0.25, 1.02]]


def test_a_map_fills_only_where_every_row_gets_the_answer():
    simple, X, _ = weather()
    positions = [
        Positions(name, None, X[:, j], np.zeros(6, int), False, j)
        for j, name in enumerate(simple.rules_.feature_names)
    ]
    boxes = map_boxes(simple.rules_, (0, 1), positions)
    assert [box.rule for box in boxes] == [2, 1, 0]
    assert all(box.is_filled for box in boxes)
    # On another pair the first rule may answer anywhere in the second rule's box.
    boxes = map_boxes(simple.rules_, (1, 2), positions[::-1])
    assert [(box.rule, box.is_filled) for box in boxes] == [(1, False), (0, False)]


def test_the_path_of_the_simplifier_is_measured_on_the_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    simple = simplify(forest, X, y, max_rules=4, n_restarts=3, random_state=0)
    found = path.measure(summarize(simple, X, y))
    assert [point.n_rules for point in found.points] == sorted(simple.path_)
    at = found.points[found.shown]
    assert at.error == pytest.approx(simple.evaluate(X, y)["error"])
    assert found.chosen == found.shown
    assert not found.is_given


def test_pictures_with_categories_and_missing_values_are_plain_json():
    rng = np.random.default_rng(0)
    size = rng.normal(size=150)
    size[::9] = np.nan
    colour = pd.Categorical(rng.choice(["red", "blue", "green"], 150))
    X = pd.DataFrame({"size": size, "colour": colour})
    y = np.where((colour == "red") | (np.nan_to_num(size, nan=9.0) > 1), "b", "a")
    model = HistGradientBoostingClassifier(
        categorical_features="from_dtype", max_iter=10, min_samples_leaf=5
    ).fit(X, y)
    simple = simplify(model, X, y, max_rules=4, n_restarts=3, random_state=0)
    found = summarize(simple, X, y, max_rows=40)
    for picture in (rows.describe(found), maps.describe(found, (0, 1))):
        data = json.loads(json.dumps(picture.to_dict(), allow_nan=False))
        assert data["marks"][1]["kind"] in ("row_lines", "row_dots")
    table = dataclasses.asdict(found.table)
    assert json.loads(json.dumps(table, allow_nan=False)) == table
    assert len(table["number"]) == 40
    assert len(found.rows) == 150
    assert any("missing" in axis.texts for axis in rows.describe(found).marks[1].axes)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([("degrees", "rain")], "features has 'rain', which is not a feature of X."),
        ([("degrees", 2)], "features has 2, which is not a feature of X."),
        (["degrees", "wind", "wind"], "features must be pairs of names or numbers"),
        ([(0, "degrees")], "A pair of features must be of two"),
    ],
)
def test_pairs_that_are_none_are_refused(features, message):
    simple, X, y = weather()
    with pytest.raises(ValueError, match=message):
        summarize(simple, X, y, features=features)


def test_one_pair_may_be_given_without_a_list():
    simple, X, y = weather()
    found = summarize(simple, X, y, features=("wind", 0))
    assert found.pairs == [(1, 0)]
    assert maps.describe(found, (1, 0)).x.title == "wind"


def test_what_only_watches_a_fit_is_no_setting_to_repeat():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    forest = RandomForestClassifier(3, random_state=0, verbose=0).fit(X, y)
    simple = simplify(
        forest, X, y, max_rules=2, n_restarts=2, random_state=0,
        callback=lambda *_, **__: None,
    )  # fmt: skip
    told = {
        one.name
        for source in (simple, forest)
        for one in settings.read_settings(source)
    }
    assert {"max_rules", "n_estimators"} <= told
    assert not told & {"callback", "verbose"}
    code = written(settings, summarize(simple, X, y))[0]
    assert "callback" not in code
    assert "max_rules=2" in code


def test_versions_are_those_of_the_source_and_of_the_ensembles_library(monkeypatch):
    simple, X, y = weather()

    def refuse(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", refuse)
    library = SimpleNamespace(__version__="9.8.7")
    monkeypatch.setitem(sys.modules, "lightgbm", library)
    booster = type("Booster", (), {"__module__": "lightgbm.basic"})
    simple.ensemble_ = type("Mine", (booster,), {"__module__": "__main__"})()
    found = summarize(simple, X, y)
    versions = settings.versions(found.ensemble)
    assert versions["defragtrees"] == __version__
    assert versions["lightgbm"] == "9.8.7"
    assert found.ensemble.library == "lightgbm"


def test_colours_go_first_to_the_classes_that_the_rules_answer_with():
    classes = tuple("abcdefghijkl")
    late = Rule((Condition(0, lower=5.0),), "l", tuple(c == "l" for c in classes))
    rest = Rule((), "k", tuple(c == "k" for c in classes))
    rules = RuleList((late,), rest, ("x",), "classification", classes)
    low, high = np.eye(12)[[9, 0]]
    forest = Forest(
        (stump(0, 5.0, low, high),), ("x",), "classification", classes, "mean"
    )
    X = np.arange(12.0)[:, None]
    with pytest.warns(UserWarning, match="No rule answers 'a', 'j'"):
        simple = GivenClassifier(forest, rules=rules).fit(X)
    table = summarize(simple, X).table
    labels = table.labels
    # The rules say k and l, the ensemble j and a; the rest is by order.
    assert labels == ["a", "b", "c", "d", "j", "k", "l", "another class"]
    assert [labels[group] for group in table.rule_groups] == ["l", "k"]
    assert {labels[group] for group in table.says_group} == {"k", "l"}
    assert {labels[group] for group in table.ensemble_group} == {"a", "j"}


def test_a_number_that_a_rule_answers_has_the_minus_of_its_evidence():
    rules = RuleList((), Rule((), -0.775), ("x",), "regression")
    forest = Forest((stump(0, 0.0, -0.8, -0.8),), ("x",), "regression")
    X = np.array([[1.0], [-1.0]])
    found = summarize(GivenRegressor(forest, rules=rules).fit(X), X)
    assert found.cards[0].then == "\N{MINUS SIGN}0.775"
    assert cells(written(closeness, found)[2])[0][1] == "\N{MINUS SIGN}0.775"


def test_the_trade_off_counts_rows_by_their_weight():
    simple, X, y = weather()
    simple.path_ = {3: simple.rules_}
    summary = summarize(simple, X, y, np.array([3.0, 0.0, 1.0, 1.0, 1.0, 0.0]))
    point = path.measure(summary).points[0]
    assert point.coverage == pytest.approx(5 / 6)
    assert summary.scores["coverage"] == point.coverage


def test_the_ensemble_is_walked_once_over_the_rows(tmp_path, monkeypatch):
    simple, X, y = weather()
    simple.path_ = {3: simple.rules_}
    walk, walked = Forest.predict_raw_encoded, []

    def count(forest, matrix):
        walked.append(len(matrix))
        return walk(forest, matrix)

    monkeypatch.setattr(Forest, "predict_raw_encoded", count)
    write_report(tmp_path / "page.html", simple, X, y)
    assert walked == [6]
