"""A scorecard is scored alike everywhere: total, probability, prediction, reasons."""

import dataclasses
import re
import sqlite3

import numpy as np
import pytest

from defragtrees import Condition, Rule, RuleList, Scorecard
from defragtrees.export import export
from tests.export import cases, test_onnx, test_sql
from tests.export.test_pmml import jpmml as jpmml
from tests.export.test_pmml import pmml4s as pmml4s

N_REASONS = 4


def make_card(labels=("bad", "good"), **fields):
    """Whole points at random, two of them equal and one zero."""
    card = cases.make_rules(np.random.default_rng(5), "points", labels)
    points = [30, -12, 30, 0, -7, 45, 12, -30, 500]
    made = [
        dataclasses.replace(rule, points=(float(value),))
        for rule, value in zip(card, points, strict=True)
    ]
    fields = {"unit": 0.05, "origin": 510.0, **fields}
    return dataclasses.replace(card, rules=made[:-1], default=made[-1], **fields)


CARDS = {
    "second": make_card(),
    "first": make_card(pos_label="bad").relabel(pos_label="bad"),
    "for the first": make_card(unit=-0.05, pos_label="bad"),
    "threshold": make_card().with_threshold(0.8),
    "numbers": make_card(None, unit=0.5, origin=2.0),
    "booleans": make_card((False, True)),
    "whole numbers": make_card((0, 1)),
    "real numbers": make_card((0.5, 1.5)),
    "odd text": make_card(("it's", '100% "größer" <b> &')),
    "tails": make_card(tails=((-1.5, 0.4), (0.5, 2.0))),
    "scaled": make_card().scaled(40, points=600, odds=50, of="good"),
    "scaled for the first": make_card().scaled(40, points=600, odds=50, of="bad"),
}
cards = pytest.mark.parametrize("card", CARDS.values(), ids=CARDS)
bests = pytest.mark.parametrize("best", ["high", "low"])


def gains_of(card, X, best):
    """What each column alone could add to the total of each row, by trying values."""
    matrix = card._encode(X)
    values = [*cases.THRESHOLDS, -np.inf, *np.nextafter(cases.THRESHOLDS, np.inf)]
    sign = 1 if best == "high" else -1
    now = sign * card._form.totals(card._covers(matrix))[:, 0]
    gains = []
    for j, known in enumerate(cases.CATEGORIES):
        tried = []
        for value in values if known is None else range(len(known)):
            other = matrix.copy()
            other[:, j] = value
            tried.append(sign * card._form.totals(card._covers(other))[:, 0])
        gains.append(np.maximum(np.max(tried, axis=0) - now, 0))
    return np.column_stack(gains)


def expected_columns(card, rows, best):
    """The frame's columns; reasons are those of trying all values of each column."""
    X = cases.array(rows)
    frame = card.predict_frame(X, reasons=N_REASONS, best=best)
    reasons = card.reasons(X, N_REASONS, best).tolist()
    for texts, gains in zip(reasons, gains_of(card, X, best), strict=True):
        stated = [gain_of(text) for text in texts if text]
        largest = np.sort(gains[gains > 1e-9])[::-1][:N_REASONS]
        assert stated == pytest.approx(largest.tolist())
    in_frame = frame.iloc[:, -N_REASONS:].astype(object)
    assert in_frame.where(in_frame.notna(), None).to_numpy().tolist() == reasons
    assert frame["reason 1"].notna().mean() > 0.8
    assert frame["reason 4"].isna().any()
    names = [name for name in frame if not name.startswith("reason")]
    plain = [list(one) for one in frame[names].itertuples(index=False)]
    return names, plain, reasons


def gain_of(text):
    """The difference of the points that a reason states."""
    now, best = re.search(r"\(points (\S+); best (\S+) if ", text).groups()
    return abs(float(best.replace(",", "")) - float(now.replace(",", "")))


def same(found, plain):
    """Whether rows are the same, probabilities but for the last bits."""
    for one, two in zip(found, plain, strict=True):
        assert one[:2] == two[:2]
        assert one[2:] == pytest.approx(two[2:], rel=1e-12)


@bests
@cards
def test_sql_has_a_column_for_each(card, best):
    rows = cases.make_rows(np.random.default_rng(0), 400)
    _, plain, reasons = expected_columns(card, rows, best)
    options = {"reasons": N_REASONS, "best": best}
    for run in (test_sql.run_in_sqlite, test_sql.run_in_duckdb):
        found = [list(row) for row in run(card, rows, **options)]
        same([row[:-N_REASONS] for row in found], plain)
        assert [row[-N_REASONS:] for row in found] == reasons
    scores = test_sql.run_in_duckdb(card, rows, score=True)
    assert scores == [row[1] for row in plain]


@bests
@cards
def test_the_python_module_scores(card, best):
    rows = cases.make_rows(np.random.default_rng(0), 400)
    _, plain, reasons = expected_columns(card, rows, best)
    made = {}
    exec(export(card, "python", best=best), made)
    dicts = [dict(zip(cases.NAMES, row, strict=True)) for row in rows]
    found = [[made["predict"](row), made["score"](row)] for row in dicts]
    assert found == [row[:2] for row in plain]
    texts = [made["reasons"](row, N_REASONS) for row in dicts]
    assert [one + [None] * (N_REASONS - len(one)) for one in texts] == reasons


@bests
@cards
def test_onnx_scores(card, best):
    rows = cases.make_rows(np.random.default_rng(0), 400)
    _, plain, reasons = expected_columns(card, rows, best)
    model = export(card, "onnx", reasons=N_REASONS, best=best)
    names = [output.name for output in model.graph.output]
    found = test_onnx.session(model).run(None, test_onnx.feeds(card, model, rows))
    found = dict(zip(names, found, strict=True))
    labels = found["label" if card.classes else "prediction"].tolist()
    assert [labels, found["score"].tolist()] == [
        [row[0] for row in plain],
        [row[1] for row in plain],
    ]
    texts = [[text or None for text in row] for row in found["reasons"].tolist()]
    assert texts == reasons


@pytest.mark.parametrize("scorer", ["pmml4s", "jpmml"])
@bests
@cards
def test_pmml_scores(request, scorer, card, best):
    if scorer == "pmml4s" and "&" in str(card.classes):
        pytest.skip("PMML4S reads only the end of a text that has &")
    rows = cases.make_rows(np.random.default_rng(0), 100)
    names, plain, reasons = expected_columns(card, rows, best)
    document = export(card, "pmml", reasons=N_REASONS, best=best)
    dicts = [dict(zip(cases.NAMES, row, strict=True)) for row in rows]
    for row in dicts:
        if row["is_open"] is not None:  # written as text
            row["is_open"] = str(row["is_open"]).lower()
    found = request.getfixturevalue(scorer)(document, dicts)
    # A class is written as text, and False as "false".
    label = (lambda one: str(one).lower()) if card.classes else float
    wanted = [[label(row[0]), *row[1:]] for row in plain]
    same([[one[name] for name in names] for one in found], wanted)
    codes = [
        [(one[f"reason {k + 1}"] or "").strip() or None for k in range(N_REASONS)]
        for one in found
    ]
    assert codes == reasons


def test_more_classes_have_a_total_each():
    rng = np.random.default_rng(3)
    card = cases.make_rules(rng, "points", ("a", "b", "c"))
    rows = cases.make_rows(rng, 200)
    frame = card.predict_frame(cases.array(rows), probabilities=True)
    names = ["prediction", *(f"score {c}" for c in "abc")]
    assert [*frame] == [*names, *(f"probability {c}" for c in "abc")]
    assert (
        frame[names[1:]].to_numpy().tolist() == card.totals(cases.array(rows)).tolist()
    )
    for run in (test_sql.run_in_sqlite, test_sql.run_in_duckdb):
        assert [list(row[:4]) for row in run(card, rows)] == frame[
            names
        ].values.tolist()
    with pytest.raises(ValueError, match="reasons need"):
        card.reasons(cases.array(rows))
    with pytest.raises(ValueError, match="score=True needs one total"):
        export(card, "sql", score=True)


def test_a_list_has_no_score():
    warm = Rule((Condition(0, lower=20.0),), "yes", (0.2, 0.8))
    no = Rule((), "no", (0.9, 0.1))
    rules = RuleList((warm,), no, ("degrees",), "classification", ("no", "yes"))
    assert not any(hasattr(rules, name) for name in ("totals", "reasons", "scaled"))
    with pytest.raises(ValueError, match="score=True needs a scorecard"):
        export(rules, "sql", score=True)
    for call in (
        lambda: rules.predict_frame([[1.0]], reasons=2),
        lambda: export(rules, "sql", table="t", reasons=2),
        lambda: export(rules, "onnx", reasons=2),
        lambda: export(rules, "pmml", reasons=2),
    ):
        with pytest.raises(ValueError, match="reasons= needs a scorecard"):
            call()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n": 0}, "n must be"),
        ({"n": True}, "n must be"),
        ({"n": 10**9}, "n must be"),
        ({"best": "good"}, "best must"),
        ({"exclude": "ages"}, "exclude has 'ages'.*did you mean 'age'"),
    ],
)
def test_reasons_that_cannot_be_given(arguments, words):
    with pytest.raises(ValueError, match=words):
        make_card().reasons([[1.0, 2.0, "Bonn", 1, True]], **arguments)


def test_reasons_need_a_table():
    with pytest.raises(ValueError, match="adds columns"):
        export(make_card(), "sql", reasons=2)
    with pytest.raises(ValueError, match="probability_of or score"):
        export(make_card(), "sql", score=True, probability_of="bad")


def test_the_prediction_has_a_name_of_its_own():
    for column in ("score", "SCORE", "probability good", "reason 2"):
        with pytest.raises(ValueError, match="column must"):
            export(make_card(), "sql", table="t", column=column, reasons=2)
    # Without reasons or beside nothing else, the name is free.
    assert 'AS "reason 2"' in export(make_card(), "sql", table="t", column="reason 2")
    scored = export(make_card(), "sql", table="t", column="score", score=True)
    assert scored.endswith('AS "score"\nFROM "t"\n')


def test_a_card_without_rules_has_no_reasons():
    base = Rule((), "b", (0.5, 0.5), points=(1.0,))
    card = Scorecard((), base, ("x",), "classification", ("a", "b"))
    text = export(card, "sql", table="t", reasons=1, dialect="sqlserver")
    assert "NULL AS [reason 1]" in text


def test_columns_keep_their_names():
    names = ("Score", "prediction", "reason 1", "probability b", "rule_1", "total_1")
    asked = [Condition(j, lower=float(j)) for j in range(len(names))]
    rules = [
        Rule((one,), "b", (0.5, 0.5), points=(j - 2.0,)) for j, one in enumerate(asked)
    ]
    base = Rule((), "b", (0.5, 0.5), points=(1.0,))
    card = Scorecard(tuple(rules), base, names, "classification", ("a", "b"))
    rows = np.random.default_rng(0).normal(3, 3, (50, len(names))).tolist()
    added = ["prediction_", "score_", "probability b_", "reason 1_", "reason 2"]
    text = export(card, "sql", table="t", reasons=2)
    frame = card.predict_frame(rows, reasons=2).astype(object)
    expected = [list(row) for row in frame.where(frame.notna(), None).to_numpy()]
    for run in (test_sql.run_in_sqlite, test_sql.run_in_duckdb):
        found = [list(row) for row in run(card, rows, reasons=2)]
        same([row[:3] for row in found], [row[:3] for row in expected])
        assert [row[3:] for row in found] == [row[3:] for row in expected]
    connection = sqlite3.connect(":memory:")
    columns = ", ".join(f'"{name}"' for name in names)
    connection.execute(f"CREATE TABLE t ({columns})")
    connection.execute(f"CREATE TABLE scored AS {text}")  # names must differ
    found = connection.execute("SELECT * FROM scored").description
    assert [column[0] for column in found] == [*names, *added]
    connection.close()
    outputs = export(card, "onnx").graph.output
    assert [one.name for one in outputs] == ["label", "probabilities", "score"]
    assert 'name="score_" feature="predictedValue"' in export(card, "pmml")


def test_a_column_that_nobody_can_change_is_no_reason():
    card, rows = CARDS["second"], cases.make_rows(np.random.default_rng(0), 50)
    given = {"reasons": N_REASONS, "exclude": ["age"]}
    found = [
        list(row)[-N_REASONS:] for row in test_sql.run_in_sqlite(card, rows, **given)
    ]
    assert found == card.reasons(cases.array(rows), N_REASONS, exclude=["age"]).tolist()
    assert not any(text and text.startswith("age ") for row in found for text in row)


def test_reasons_on_many_conditions_are_for_python_alone():
    rules = [
        Rule(
            (Condition(0, lower=float(k)), Condition(1, lower=float(k))),
            0.0,
            points=(1.0,),
        )
        for k in range(12)
    ]
    card = Scorecard(
        tuple(rules), Rule((), 0.0, points=(0.0,)), ("a", "b"), "regression"
    )
    assert card.reasons([[0.0, 4.5]], 1)[0, 0] == "a <= 0 (points 0; best 5 if > 4)"
    with pytest.raises(ValueError, match="exclude="):
        export(card, "sql", table="t", reasons=1)
    assert "def reasons" not in export(card, "python")
