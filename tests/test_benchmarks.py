"""What `make quality` counts is counted rightly, and every method of it runs."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from benchmarks import data, readable, watching
from benchmarks.quality import __main__ as suite
from benchmarks.quality import black_boxes, published, tables
from defragtrees.datasets import load_table


def made_rows(**aucs):
    """Rows of four splits of two sets of two classes, by method."""
    return pd.DataFrame(
        [
            {
                **{"data": data, "split": split, "rows": 500, "size": 10},
                **{"method": method, "auc": auc + split / 1000, "kind": "two classes"},
                **{"model": "none" if method == "CART" else "forest"},
                **dict.fromkeys(("error", "log_loss", "unexplained"), 0.5),
            }
            for method, both in aucs.items()
            for data, auc in zip("ab", both, strict=True)
            for split in range(4)
        ]
    )


def test_differences_are_paired_and_their_error_is_over_sets():
    rows = made_rows(**{tables.LIST: (0.8, 0.9), "CART": (0.82, 0.88)})
    pairs = tables.differences(rows, tables.LIST)
    assert len(pairs) == 8
    found = tables.over_sets(pairs, "auc").loc["CART"]
    assert found["mean"] == pytest.approx(0.0)
    assert found["sem"] == pytest.approx(0.02)
    assert found["count"] == 2
    assert found["won"] == 0.5
    # A smaller error is ahead.
    rows.loc[rows.method == "CART", "error"] = 0.4
    pairs = tables.differences(rows, tables.LIST)
    assert pairs.error.tolist() == pytest.approx([0.1] * 8)


def test_a_loss_is_a_set_where_a_method_of_the_same_kind_is_clearly_ahead():
    rows = made_rows(**{tables.LIST: (0.8, 0.9), "CART": (0.82, 0.88)})
    lost = tables.losses(rows)
    assert lost[["data", "method", "measure", "size"]].to_numpy().tolist() == [
        ["a", "CART", "AUC", 10]
    ]
    # A sum is no list.
    rows["method"] = rows.method.replace("CART", "FIGS")
    assert tables.losses(rows).empty


def test_a_rate_holds_where_that_of_new_rows_is_in_its_interval():
    y = np.repeat([0, 1], 150)
    every, none = np.ones(300, dtype=bool), np.zeros(300, dtype=bool)
    rules = [(every, 0.4, 0.3, 0.5), (every, 0.6, 0.55, 0.7), (none, 0.5, 0.4, 0.6)]
    found = suite.look_at_printed(iter(rules), y)
    assert found == {"printed": 2, "held": 1, "gap": pytest.approx(0.1)}


ADDED = """
import numpy as np

class Stump:
    name = "one question"
    n_conditions = 1

    def __init__(self, size):
        self.size = size

    def fit(self, X, y):
        self.column = max(X, key=lambda name: abs(np.corrcoef(X[name], y)[0, 1]))
        self.middle = X[self.column].mean()
        is_high = X[self.column] > self.middle
        self.answer = np.round([y[~is_high].mean(), y[is_high].mean()]).astype(int)

    def predict(self, X):
        return self.answer[(X[self.column] > self.middle).to_numpy().astype(int)]
"""
SLICE = ["model", "CART", "distilled tree", "logistic regression"]
SLICE += ["defragtrees, list", "defragtrees, points", "defragtrees, integer points"]


def test_a_slice_of_the_suite_makes_every_table_and_goes_on(tmp_path, monkeypatch):
    for name in ("breast_cancer", "diabetes"):
        frame = getattr(sklearn.datasets, f"load_{name}")(as_frame=True).frame
        frame.to_csv(tmp_path / f"{name}.csv.gz", index=False)
    X, y = load_table("heart")
    X.assign(target=y).to_csv(tmp_path / "heart.csv.gz", index=False)
    (tmp_path / "added.py").write_text(ADDED)
    out = tmp_path / "rows.csv"
    arguments = ["--data", tmp_path, "--out", out, "--also", tmp_path / "added.py"]
    arguments += ["--models", "forest", "--rows", 100, "--sizes", 4, 10, "--methods"]
    arguments = [*map(str, arguments), *SLICE]
    suite.main(arguments)  # runs the sets, and writes the tables
    rows = tables.read(out)
    assert set(rows.data) == {"breast_cancer", "diabetes", "heart"}
    assert {*SLICE} == {*rows.method}
    assert rows.failure.isna().all()
    assert (rows.n_rules.dropna() <= rows["size"][rows.n_rules.notna()]).all()
    assert rows.agreement.between(-1, 1).all()
    assert rows[rows.method == "model"].auc.dropna().gt(0.7).all()
    # What is there is not run again; an added method is.
    kept = out.read_text()
    monkeypatch.setattr(suite, "fits", None)
    suite.main(arguments)
    assert out.read_text() == kept
    monkeypatch.undo()
    suite.main([*arguments, "one question"])
    text = out.with_suffix(".md").read_text()
    for title in ("Beside the model", "lose", "hold", "halves", "failed"):
        section = re.search(rf"## .*{title}.*", text)
        assert section
        assert "\n| " in text[section.end() :].split("##")[0]
    assert len(re.findall(r"^\| one question", text, re.MULTILINE)) == 8
    parts = tables.page_parts(tables.read(out))
    assert "On 2 public data sets, with 100 rows" in parts["headline"]
    assert "| one question |" in parts["benchmark"]


def test_small_sets_are_run_once_and_methods_without_a_model_too(tmp_path):
    for name, n_rows in (("large", 3000), ("small", 300)):
        frame = pd.DataFrame({"x": range(n_rows), "target": [0, 1] * (n_rows // 2)})
        frame.to_csv(tmp_path / f"{name}.csv.gz", index=False)
    options = suite.parse(["--data", "", "--methods", "CART", tables.LIST])
    units = list(suite.plan(options, tmp_path, ["large", "small"]))
    both = ["forest", "boosted", "none"]
    assert [unit[3] for unit in units if unit[0] == "small"] == both
    assert [unit[2:] for unit in units if unit[0] == "large"] == [
        (n_rows, model, "CART" if model == "none" else tables.LIST)
        for n_rows in (500, 2000)
        for model in both
    ]


def test_a_fit_that_fails_is_counted():
    class Broken:
        def __init__(self, size):
            pass

        def fit(self, X, y):
            raise ZeroDivisionError

    suite.methods.METHODS["broken"] = (Broken, {})
    part = suite.Part("two classes", {"numbers": (None, None)}, None, None)
    found = list(suite.fits("broken", part, (4, 10)))
    del suite.methods.METHODS["broken"]
    assert [(size, fitted) for size, fitted, _ in found] == [
        (10, "ZeroDivisionError"),
        (4, "ZeroDivisionError"),
    ]


def test_a_thinned_set_has_three_percent_of_its_second_class(tmp_path):
    frame = pd.DataFrame({"x": range(2000), "target": [0, 1] * 1000})
    frame.to_csv(tmp_path / "adult.csv.gz", index=False)
    X, y = data.read(tmp_path, "adult_rare")
    assert len(X) == len(y) == 1031
    assert y.sum() == 31


def test_published_figures_are_beside_ours_and_what_is_missing_is_named():
    columns = ["table", "data", "measure", "who", "value", "splits"]
    lines = [["FIRE", "wind", "unexplained", "points, auto", 0.3125, 3]]
    text = published.report(pd.DataFrame(lines, columns=columns))
    assert "| set | measure | FIRE | SIRUS | their forest | points, auto |" in text
    assert "| wind | unexplained | 0.331 | 0.389 | 0.33 | 0.312 |" in text
    assert "means of 3" in text
    assert "haberman" in text.split("Not run: ")[1]


@pytest.mark.parametrize("name", ["heart", "energy"])
@pytest.mark.parametrize("form", readable.FORMS)
def test_a_reader_of_the_print_alone_answers_every_question(name, form):
    rules, X = readable.make_rules(name, form)
    asked = list(readable.questions(rules, str(rules), X))
    assert len(asked) == 20
    assert all(is_right for _, is_right in asked)


def test_a_reader_of_a_wrong_print_answers_some_questions_wrong():
    rules, X = readable.make_rules("heart", "list")
    wrong = str(rules).replace("is not", "is")
    assert wrong != str(rules)
    asked = list(readable.questions(rules, wrong, X))
    assert {question for question, is_right in asked if not is_right}


@pytest.mark.filterwarnings("ignore")
def test_black_boxes_are_asked_and_compared_with_a_tree(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"size": rng.normal(size=160), "city": rng.choice(["x", "y"], 160)}
    )
    target = (frame["size"] > 0) & (frame["city"] == "x")
    frame.assign(target=target.astype(int)).to_csv(tmp_path / "toy.csv.gz", index=False)
    rows = black_boxes.run(tmp_path, "toy", 80)
    assert [row["is_asked"] for row in rows] == [True, True, False]
    assert [row["calls"] > 80 for row in rows] == [True, True, False]
    # So few rows teach a network little that others could say in rules.
    for row in (rows[0], rows[2]):
        assert row["fidelity"] > 0.7
        assert row["tree"] > 0.7


@pytest.mark.slow
def test_every_batch_is_checked_alone_and_beside_the_model():
    X, y = load_table("credit")
    X = X.astype(dict.fromkeys(X.select_dtypes(exclude="number"), "category"))
    options = SimpleNamespace(batches=2, methods=("defrag",), without_model=False)
    rows = X, y.to_numpy(), "credit", 500, "boosted", 0, options
    names = "set model rows validation method form change beside alarm".split()
    lines, agreements = watching.run_one(*rows)
    table = pd.DataFrame(lines, columns=names)
    by_change = table.groupby(["change", "beside"]).size().unstack()
    # Two batches, three forms, with and without validation.
    assert by_change.loc["none"].tolist() == [12, 12, 12]
    assert by_change.loc["y changed"].tolist() == [6, 6, 6]
    assert np.isnan(by_change.loc["model broken", "alone"])
    alarms = table.pivot_table(index=names[:7], columns="beside", values="alarm")
    assert (alarms.model == alarms.numbers).all()
    new, _, kept = np.array([line[-3:] for line in agreements]).T
    assert np.abs(new - kept).max() < 0.1
    assert table[table.change == "none"].alarm.mean() < 0.2
    assert table[table.change == "y changed"].alarm.mean() > 0.8
    text = watching.shown(table, ["change"], "beside", "Alarms")
    header = text.splitlines()[2].split()
    assert header == ["change", "alone", "model", "numbers", "checks"]
