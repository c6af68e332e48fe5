"""Other rule models that are as good, and the use of one of them."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import defragtrees
from defragtrees import DefragClassifier, simplify
from defragtrees.estimators import alternatives as module
from defragtrees.report.page import write_report

NEW_ROWS = 10_000  # of a search, as users have


@pytest.fixture(scope="module")
def twins():
    """A column that decides, and another in other units."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(500, 3)), columns=["weight", "height", "noise"])
    X["height"] = np.exp(X["weight"])
    y = (X["weight"] + 0.3 * rng.normal(size=500) > 0).astype(int)
    model = RandomForestClassifier(30, max_features=1, min_samples_leaf=5)
    simple = simplify(model.set_params(random_state=0).fit(X, y), X, y, random_state=0)
    return simple, X, y


@pytest.fixture(scope="module")
def menu(twins):
    simple, X, y = twins
    return simple.alternatives(X, y, n=3)


def test_each_is_a_rule_model_of_the_same_form_that_is_as_good(twins, menu):
    simple, X, _ = twins
    assert menu[0] is simple.rules_
    assert 2 <= len(menu) <= 4
    best = min(menu.losses)
    for row, rules in zip(menu.rows(), menu, strict=True):
        assert rules.form == "list"
        assert rules.n_conditions == row["n_conditions"]
        assert (row["loss"] == best) == (row["difference"] == 0)
        assert row["low"] <= row["difference"] <= row["high"]
        # Half of a 95% interval is 1.96 standard errors.
        error = (row["high"] - row["difference"]) / 1.96
        assert row["difference"] <= error + 1e-12 or rules is simple.rules_
        predicted = np.asarray(rules.predict(X))
        same = np.mean(predicted == np.asarray(simple.predict(X)))
        assert row["agreement"] == pytest.approx(same)
    assert "weight" in str(menu)


def test_the_loss_is_the_brier_score_with_each_row_left_out(twins, menu):
    _, X, y = twins
    for loss, rules in zip(menu.losses, menu, strict=True):
        plain = np.mean((rules.predict_proba(X)[:, 1] - y) ** 2)
        assert plain < loss < plain + 0.02


def test_columns_can_be_left_out_and_are_swapped(twins):
    simple, X, y = twins
    given = "weight"
    rest = simple.alternatives(X, y, n=2, without=given)
    assert len(rest) > 1
    assert not any(given in rules.features for rules in rest[1:])
    assert all("height" in rules.features for rules in rest)
    swapped = replace(
        rest, models=(rest[1], *simple.alternatives(X, y, n=2, without="height")[1:])
    )
    assert "height for weight" in swapped.swaps
    assert "height" not in swapped.shared


def test_columns_can_be_asked_for(twins):
    simple, X, y = twins
    some = simple.alternatives(X, y, n=2, with_="noise", within=0.5)
    assert len(some) > 1
    assert all("noise" in rules.features for rules in some[1:])


def test_one_can_be_used_saved_and_undone(twins, menu, tmp_path):
    simple, X, y = twins
    simple.alternatives_ = menu
    before, scores = simple.rules_, simple.training_
    assert simple.use(1) is simple
    assert simple.predict(X).tolist() == menu[1].predict(X).tolist()
    assert simple.training_["error"] == pytest.approx(np.mean(simple.predict(X) != y))
    simple.save(tmp_path / "rules.json")
    [edit] = defragtrees.load(tmp_path / "rules.json").edits
    assert edit.action == "use"
    assert "alternative 1 of" in edit.text
    simple.use(0)
    assert simple.rules_ is before
    assert simple.training_ == scores
    with pytest.raises(ValueError, match="number from 0 to"):
        simple.use(len(menu))


def test_the_report_shows_them(twins, menu, tmp_path):
    pytest.importorskip("jinja2")
    simple, X, y = twins
    simple.alternatives_ = menu
    write_report(tmp_path / "page.html", simple, X, y)
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "Alternative 1</summary>" in page
    assert "Other rules as good as these" in page


def test_numbers_points_and_validation():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + X[:, 1]
    model = RandomForestRegressor(10, min_samples_leaf=5, random_state=0)
    model.fit(X[:200], y[:200])
    new = X[200:], y[200:]
    simple = simplify(model, X[:200], y[:200], validation=new, form="points",
                      max_rules=4, random_state=0)  # fmt: skip
    menu = simple.alternatives(X[:200], y[:200], n=2, validation=new, within=1.0)
    assert len(menu) > 1
    assert all(0 < loss < 1 for loss in menu.losses)
    fitted = simple.validation_["rmse"]
    simple.use(1)
    assert simple.validation_["rmse"] != fitted


def test_ctrl_c_keeps_what_was_found(twins, monkeypatch):
    simple, X, y = twins
    found, search = [], DefragClassifier._path

    def interrupted(*given):
        found.append(given)
        if len(found) == 3:
            raise KeyboardInterrupt
        return search(*given)

    monkeypatch.setattr(DefragClassifier, "_path", interrupted)
    menu = simple.alternatives(X, y, n=2)
    assert menu.n_searches == 1
    assert "Stopped after 1 of" in str(menu)


def test_a_fit_keeps_no_rows_and_forgets_alternatives(twins):
    simple, X, y = twins
    assert simple._kept is None
    assert simple.fit(X, y).alternatives_ is None
    with pytest.raises(ValueError, match="no alternatives"):
        simple.use(1)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"n": 0}, "n must be"),
        ({"n": 2.5}, "n must be"),
        ({"within": "far"}, "within must be"),
        ({"within": -0.1}, "within must be"),
        ({"without": ["gender"]}, "without has 'gender', which is no column"),
        ({"with_": "gender"}, "with_ has 'gender', which is no column"),
        ({"by": "age"}, "by must be 'difference', 'conditions' or the group"),
        ({"by": ["a", "b"]}, "inconsistent"),
    ],
)
def test_bad_input_is_named(twins, given, word):
    simple, X, y = twins
    with pytest.raises((ValueError, TypeError), match=word):
        simple.alternatives(X, y, **given)


def test_columns_of_no_difference_are_put_in_words():
    assert module._and(["a"]) == "a"
    assert module._and(["a", "b", "c"]) == "a, b and c"


class Same:
    """A candidate with these columns, that predicts 1 in its first rows."""

    def __init__(self, features, n, loss, n_conditions=1):
        self.loss, self.n_conditions = loss, n_conditions
        self.model, self.answers = (
            SimpleNamespace(features=features),
            np.arange(200) < n,
        )


def chosen(monkeypatch, good, n=9, **more):
    monkeypatch.setattr(module, "_predictions", lambda one, rows: one.answers)
    agreement = SimpleNamespace(agreement=lambda a, b: np.mean(a == b))
    rows = SimpleNamespace(outcome=agreement)
    return module._chosen(Same("ab", 100, 0.5), good, n, rows, **more)[1:]


def test_what_predicts_the_same_is_listed_only_if_there_is_nothing_else(monkeypatch):
    copy, near = Same("ac", 100, 0.1), Same("ab", 99, 0.2)
    other, twin = Same("ab", 80, 0.3), Same("xy", 79, 0.4)
    assert chosen(monkeypatch, [copy, near, other, twin]) == [other]
    assert chosen(monkeypatch, [copy, near]) == [copy]
    assert chosen(monkeypatch, [Same("ab", 100, 0.1)]) == []


def test_other_columns_come_first_then_other_rows_or_what_is_asked_for(monkeypatch):
    best, rows = Same("ab", 90, 0.1, 5), Same("ab", 10, 0.2, 3)
    columns = Same("xy", 80, 0.3, 4)
    good = [best, rows, columns]
    assert chosen(monkeypatch, good, 2) == [best, columns]
    fewest = chosen(monkeypatch, good, 2, cost=lambda one: one.n_conditions)
    assert fewest == [rows, columns]


def test_the_smallest_gap_and_the_fewest_conditions_can_be_asked_for(twins):
    simple, X, y = twins
    groups = np.where(X["noise"] > 0, "a", "b")
    menu = simple.alternatives(X, y, n=3, by=groups, within=0.05)
    assert menu.group_gaps == menu.gaps(X, groups)
    assert list(menu.group_gaps[1:]) == sorted(menu.group_gaps[1:])
    assert str(menu).splitlines()[0].endswith("gap")
    menu = simple.alternatives(X, y, n=3, by="conditions", within=0.05)
    sizes = [rules.n_conditions for rules in menu]
    assert sizes[1:] == sorted(sizes[1:])


def test_gaps_are_of_mean_predictions_by_group(twins, menu):
    _, X, _ = twins
    groups = np.where(X["noise"] > 0, "a", "b")
    for rules, gap in zip(menu, menu.gaps(X, groups), strict=True):
        likely = rules.predict_proba(X)[:, 1]
        means = [likely[groups == name].mean() for name in "ab"]
        assert gap == pytest.approx(max(means) - min(means))
    assert menu.gaps(X, groups, pos_label=0) == pytest.approx(menu.gaps(X, groups))
    with pytest.raises(ValueError, match="inconsistent"):
        menu.gaps(X, groups[1:])
    with pytest.raises(ValueError, match="pos_label"):
        menu.gaps(X, groups, pos_label=7)
