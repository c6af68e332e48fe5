"""A credit card from LightGBM to a table in DuckDB, row by row as in Python."""

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from defragtrees import DefragClassifier, load, metrics, write_report
from defragtrees.datasets import load_table
from defragtrees.rules.reasons import Reasons
from tests.export.test_scores import gain_of

duckdb = pytest.importorskip("duckdb", reason="loans are scored in DuckDB")
lightgbm = pytest.importorskip("lightgbm", reason="the model is one of LightGBM")
pytest.importorskip("jinja2", reason="a report is written")

N_LOANS = 10_000
COSTS = {("unpaid", "paid"): 4, ("paid", "unpaid"): 1}


@pytest.fixture(scope="module")
def loans():
    X, y = load_table("credit")
    words = X.select_dtypes(exclude="number").columns
    X = X.astype(dict.fromkeys(words, "category"))
    X["income"] = X.income.fillna(-9)  # a code
    X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
    count, test = np.arange(len(y_new)) % 2 == 0, np.arange(len(y_new)) % 2 == 1
    return (X, y), (X_new[count], y_new[count]), (X_new[test], y_new[test])


@pytest.fixture(scope="module")
def simple(loans):
    (X, y), counted, _ = loans
    model = lightgbm.LGBMClassifier(n_estimators=60, num_leaves=8, verbose=-1)
    settings = {"form": "points", "max_rules": 10, "max_conditions": 1}
    settings |= {"pos_label": "unpaid", "random_state": 0, "monotone": "auto"}
    settings |= {"special_values": {"income": -9}}
    simple = DefragClassifier(model.fit(X, y), **settings)
    return simple.fit(X, y, validation=counted)


@pytest.fixture(scope="module")
def card(simple, loans, tmp_path_factory):
    """600 points at odds of 50 to 1, 20 points double them; decided by costs."""
    scaled = simple.rules_.scaled(20, points=600, odds=50, of="paid")
    threshold = metrics.best_threshold(scaled, *loans[1], COSTS)
    path = tmp_path_factory.mktemp("card") / "card.json"
    scaled.with_threshold(threshold).save(path)
    return load(path)


def test_points_of_unpaid_become_points_of_paid(simple, card, loans):
    X, _ = loans[2]
    assert (simple.rules_.scored_class, card.scored_class) == ("unpaid", "paid")
    likely = simple.predict_proba(X)[:, 1]
    totals, scores = simple.rules_.totals(X)[:, 0], card.totals(X)[:, 0]
    assert np.corrcoef(totals, likely)[0, 1] > 0.9
    assert np.corrcoef(scores, likely)[0, 1] < -0.9
    odds = card.predict_proba(X)[:, 0] / card.predict_proba(X)[:, 1]
    assert np.log2(odds) == pytest.approx((scores - 600) / 20 + np.log2(50))
    # Whole points on this scale change the probabilities little.
    assert card.predict_proba(X)[:, 1] == pytest.approx(likely, abs=0.03)


def test_the_card_estimates_and_decides_on_new_loans(card, loans):
    X, y = loans[2]
    for line in metrics.score_table(card, X, y):
        error = np.sqrt(line["estimated"] * (1 - line["estimated"]) / line["n_rows"])
        assert abs(line["observed"] - line["estimated"]) < 3.5 * error + 0.03
    decided = metrics.expected_cost(y, card.predict(X), COSTS)
    likeliest = metrics.expected_cost(y, card.with_threshold(None).predict(X), COSTS)
    assert decided < 0.9 * likeliest


def test_duckdb_scores_ten_thousand_loans_as_python_does(card):
    X, _ = load_table("credit")
    rng = np.random.default_rng(0)
    loans = X.iloc[rng.integers(len(X), size=N_LOANS)].reset_index(drop=True)
    numbers = loans.select_dtypes("number").columns
    noise = rng.normal(1, 0.2, (N_LOANS, len(numbers)))
    loans[numbers] = (loans[numbers] * noise).round()
    # Values that nobody has seen, and gaps.
    loans.loc[rng.random(N_LOANS) < 0.02, "job"] = "astronaut"
    loans = loans.mask(rng.random(loans.shape) < 0.05)
    loans.insert(0, "loan", range(N_LOANS))
    query = card.export("sql", dialect="duckdb", table="loans", reasons=2)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE loans AS SELECT * FROM loans")
    connection.execute(f"CREATE TABLE scored AS {query}")
    found = connection.execute("SELECT * FROM scored ORDER BY loan").df()
    connection.close()
    with pytest.warns(UserWarning, match="that no training row had"):
        expected = card.predict_frame(loans, reasons=2)
    assert [*found][-5:] == [*expected]
    assert [*expected] == [
        "prediction",
        "score",
        "probability unpaid",
        "reason 1",
        "reason 2",
    ]
    for name in ("prediction", "score"):
        assert found[name].tolist() == expected[name].tolist()
    likely = "probability unpaid"
    assert found[likely].to_numpy() == pytest.approx(expected[likely], rel=1e-12)
    texts = found[["reason 1", "reason 2"]].astype(object)
    reasons = texts.where(texts.notna(), None).to_numpy().tolist()
    assert reasons == card.reasons(loans, n=2).tolist()
    assert expected.prediction.nunique() == 2
    assert expected["reason 1"].nunique() > 3


def test_each_reason_alone_gains_what_it_says(card, loans):
    X, _ = loans[2]
    matrix, totals = card._encode(X), card.totals(X)[:, 0]
    for column in Reasons(card, "high").columns:
        others = [
            name for j, name in enumerate(card.feature_names) if j != column.feature
        ]
        texts = card.reasons(X, 1, exclude=others)[:, 0]
        best = totals.copy()
        for value in np.unique(matrix[:, column.feature]):
            changed = matrix.copy()
            changed[:, column.feature] = value
            best = np.maximum(best, card._form.totals(card._covers(changed))[:, 0])
        assert [gain_of(text) if text else 0.0 for text in texts] == pytest.approx(
            best - totals
        )
    # The reasons of a row are on different columns.
    for texts in card.reasons(X, n=3).tolist():
        names = [text.split()[0] for text in texts if text]
        assert len(set(names)) == len(names)


def test_the_code_is_alone_and_points_follow_the_rates(card, loans):
    for condition in [c for rule in card.rules for c in rule.conditions]:
        if card.feature_names[condition.feature] == "income":
            assert not condition.covers([-9.0, 100.0]).all()
            assert not condition.covers([-9.0, 30.0]).all()
    frame = card.bins()
    blocks = dict([*frame.groupby("characteristic")])
    assert blocks["income"].bin.tolist()[-2:] == ["income is -9", "income is missing"]
    for name in ("seniority", "amount", "months"):
        if name in blocks:
            steps = np.diff(blocks[name].points[blocks[name].rows > 0])
            assert (steps >= 0).all() or (steps <= 0).all()
    assert card._view.contradictions() == []


def test_the_committee_gets_a_workbook_and_the_stability(card, loans, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    card.export("excel", tmp_path / "card.xlsx")
    book = openpyxl.load_workbook(tmp_path / "card.xlsx")
    assert book.sheetnames == ["rules", "bins", "totals", "how to read"]
    header, *rows = book["bins"].iter_rows(values_only=True)
    assert header[-3:] == ("rate", "woe", "iv")
    assert len(rows) == len(card.bins())
    totals = [row[0] for row in book["totals"].iter_rows(values_only=True)][1:]
    X, y = loans[2]
    assert set(np.unique(card.totals(X))) <= set(totals)
    scores = card.evaluate(X, y)
    assert scores["gini"] == pytest.approx(2 * scores["auc"] - 1)
    assert scores["auc_low"] < scores["auc"]
    assert 0 < scores["ks"] < 1
    still, moved = (dict(card.check(rows).psi) for rows in (X, X.assign(seniority=0)))
    assert still["score"] < 0.1 < 0.25 < min(moved["score"], moved["seniority"])
    assert "seniority" in card.check(X.assign(seniority=0)).psi_text
    with pytest.raises(ValueError, match="missing 'seniority'"):
        card.check(X.drop(columns=["seniority"]))


def test_the_card_has_a_report(card, loans, tmp_path):
    write_report(tmp_path / "card.html", card, *loans[2])
    text = (tmp_path / "card.html").read_text("utf-8")
    assert "P(unpaid)" in text
    assert "20 more points double the odds" in " ".join(text.split())
