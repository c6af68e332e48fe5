"""Points that add up, and rules on their own, answer elsewhere as they do here."""

import dataclasses

import numpy as np
import pytest

from defragtrees import Condition, Rule, Scorecard
from defragtrees.export import export
from tests.export import cases, test_onnx, test_sql

FORMS = ("standalone", "points")


def variants(labels, form):
    """Rules at random; with a scale of their own, with a threshold, with costs."""
    rng = np.random.default_rng(1)
    rules = cases.make_rules(rng, form, labels)
    yield rules
    if form == "points":
        yield dataclasses.replace(rules, unit=0.125, origin=-3.5)
    if labels is None:
        return
    n = len(labels)
    if n == 2:
        yield decided(rules, threshold=0.25)
        if form == "points":
            yield dataclasses.replace(rules, tails=((-0.5, 0.3), (0.2, 1.7)))
    costs = [[float(abs(i - j)) * (1 + i) for j in range(n)] for i in range(n)]
    yield decided(rules, costs=costs)


def decided(rules, **how):
    """The rules with answers that follow from their shares."""
    choose = rules.outcome.decision(how.get("threshold"), how.get("costs")).choose
    made = []
    for rule in rules:
        [place] = choose(np.array([rule.distribution]))
        made.append(dataclasses.replace(rule, prediction=rules.classes[place]))
    return dataclasses.replace(rules, rules=made[:-1], default=made[-1], **how)


def told(rules, rows):
    X = cases.array(rows)
    answers = rules.predict(X).tolist()
    if rules.classes is None:
        return answers, None
    return answers, rules.predict_proba(X)


def check_shares(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("task", "kind"), cases.TASKS)
def test_python_agrees(form, task, kind):
    rows = cases.make_rows(np.random.default_rng(0))
    for rules in variants(cases.LABELS.get(kind), form):
        answers, shares = told(rules, rows)
        assert len(set(answers if shares is None else shares[:, 0].tolist())) > 5
        made = {}
        exec(export(rules, "python"), made)
        dicts = [dict(zip(cases.NAMES, row, strict=True)) for row in rows]
        assert [made["predict"](row) for row in dicts] == answers
        if shares is not None:
            found = [list(made["predict_proba"](row).values()) for row in dicts]
            check_shares(found, shares)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("task", "kind"), cases.TASKS)
def test_sql_agrees(form, task, kind):
    rows = cases.make_rows(np.random.default_rng(0))
    options = {} if kind is None else {"probabilities": True}
    for rules in variants(cases.LABELS.get(kind), form):
        answers, shares = told(rules, rows)
        for run in (test_sql.run_in_sqlite, test_sql.run_in_duckdb):
            found = run(rules, rows, **options)
            if form == "points" or shares is not None:
                assert [row[0] for row in found] == answers
            else:
                assert found == answers
            if form == "points":
                totals = rules.totals(cases.array(rows)).tolist()
                assert [list(row[1 : 1 + len(totals[0])]) for row in found] == totals
            if shares is not None:
                check_shares([row[-len(rules.classes) :] for row in found], shares)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("task", "kind"), cases.TASKS)
def test_onnx_agrees(form, task, kind):
    rows = cases.make_rows(np.random.default_rng(0))
    for rules in variants(cases.LABELS.get(kind), form):
        answers, shares = told(rules, rows)
        model = export(rules, "onnx")
        found = test_onnx.session(model).run(None, test_onnx.feeds(rules, model, rows))
        assert np.asarray(found[0]).ravel().tolist() == answers
        if shares is not None:
            check_shares(found[1], shares)
        if form == "points":
            totals = rules.totals(cases.array(rows))
            assert np.reshape(found[-1], totals.shape).tolist() == totals.tolist()


def points_of_yes():
    warm = Rule((Condition(0, lower=20.0),), "yes", (0.25, 0.75), points=(1.5,))
    base = Rule((), "no", (0.7, 0.3), points=(-1.0,))
    names, classes = ("degrees",), ("no", "yes")
    return Scorecard((warm,), base, names, "classification", classes)


def test_points_in_sql_are_a_sum_of_cases():
    assert export(points_of_yes(), "sql", dialect="sqlserver") == (
        "CASE WHEN (\n  -1e0\n  + CASE WHEN [degrees] > 20e0 THEN 1.5e0 ELSE 0e0 END\n"
        ") > 0e0 THEN N'yes' ELSE N'no' END\n"
    )


def test_points_are_printed_with_their_sign_and_what_the_total_is():
    assert export(points_of_yes(), "text") == (
        "1. if degrees > 20 then +1.5\n"
        "2. base -1\n\n"
        "characteristic  bin    points  rule\n"
        "degrees         <= 20       0\n"
        "                > 20     +1.5     1\n"
        "base                       -1     2\n\n"
        "total  P(yes)  then\n"
        "   -1     27%  no\n"
        "  0.5     62%  yes\n\n"
        "Add up the points of the base and of one bin of each characteristic: the "
        "total is the log-odds of yes. Values that are in no bin have 0 points.\n"
    )
    head = "| characteristic | bin | points | rule |"
    assert export(points_of_yes(), "markdown").splitlines()[0] == head
