"""The Python source answers as the rules do, with nothing installed."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings

from defragtrees import Condition, Rule, RuleList
from defragtrees.export import export
from tests.export import cases


def load(rules):
    made = {}
    exec(compile(export(rules, "python"), "rules.py", "exec"), made)
    return made


def check(rules, rows):
    made = load(rules)
    X = cases.array(rows)
    dicts = [dict(zip(rules.feature_names, row, strict=True)) for row in rows]
    assert [made["predict"](row) for row in dicts] == rules.predict(X).tolist()
    if rules.task == "classification":
        expected = [
            dict(zip(rules.classes, found, strict=True))
            for found in rules.predict_proba(X).tolist()
        ]
        assert [made["predict_proba"](row) for row in dicts] == expected


@pytest.mark.parametrize("form", ["list", "tree", "average", "standalone"])
@pytest.mark.parametrize(("task", "kind"), cases.TASKS)
def test_source_agrees_on_a_thousand_rows(form, task, kind):
    rng = np.random.default_rng(0)
    rules = cases.make_rules(rng, form, cases.LABELS.get(kind))
    check(rules, cases.make_rows(rng))


@given(cases.rules_and_rows())
@settings(max_examples=100)
def test_source_agrees_on_any_rules(made):
    check(*made)


@pytest.mark.parametrize("form", ["list", "average"])
def test_file_runs_in_a_python_without_packages(tmp_path, form):
    rng = np.random.default_rng(0)
    rules = cases.make_rules(rng, form, cases.LABELS["odd text"])
    rows = cases.make_rows(rng)
    export(rules, "python", tmp_path / "rules.py")
    code = (
        "import json, sys; sys.path.insert(0, sys.argv[1]); import rules; "
        "rows = json.load(sys.stdin); "
        "json.dump([rules.predict(row) for row in rows], sys.stdout)"
    )
    dicts = [dict(zip(rules.feature_names, row, strict=True)) for row in rows]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(tmp_path)],
        input=json.dumps(dicts),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == rules.predict(cases.array(rows)).tolist()


@pytest.mark.parametrize("labels", [None, ("a", "b")])
def test_a_default_without_weight_answers_alone(labels):
    check(cases.waiting_default(labels), cases.WAITING_ROWS)


def test_a_name_is_no_way_into_the_source():
    name = 'a\nraise SystemExit("""\'\0 \u2028'
    rules = RuleList(
        (Rule((Condition(0, upper=1.0),), "x\nimport os"),),
        Rule((), "y"),
        (name,),
        "classification",
        ("x\nimport os", "y"),
    )
    made = load(rules)
    assert made["predict"]({name: 1.0}) == "x\nimport os"
    assert "predict_proba" not in made


def test_every_kind_of_missing_value_is_missing():
    pd = pytest.importorskip("pandas")
    rules = RuleList(
        (
            Rule((Condition(0, lower=math.inf, missing=True),), 1.0),
            Rule((Condition(1, categories=(), missing=True),), 2.0),
        ),
        Rule((), 3.0),
        ("a", "b"),
        "regression",
        categories=(None, ("x",)),
    )
    predict = load(rules)["predict"]
    for missing in (None, math.nan, np.float32("nan"), pd.NA):
        assert predict({"a": missing, "b": "x"}) == 1.0
        assert predict({"a": 0, "b": missing}) == 2.0
    assert predict({"a": 0, "b": "x"}) == 3.0
    with pytest.raises(KeyError, match="b"):
        predict({"a": 0})


def test_source_reads_as_the_rules_do():
    rules = RuleList(
        (
            Rule((Condition(0, 1.5, 3.0), Condition(1, categories=(0, 2))), "yes"),
            Rule((Condition(0, upper=0.5, missing=True),), "no"),
        ),
        Rule((), "yes"),
        ("age", "city"),
        "classification",
        ("no", "yes"),
        (None, ("Bonn", "Rome")),
    )
    assert export(rules, "python").split("\n\n\n")[-2] == (
        "def rule(row):\n"
        '    """Index of the predicting rule from 0; the last is the default."""\n'
        "    x1 = _number(row['age'])\n"
        "    x2 = _category(row['city'])\n"
        "    # 1. 1.5 < age <= 3 and city is not Rome: yes\n"
        "    if 1.5 < x1 <= 3.0 and x2 is not None and x2 not in ('Rome',):\n"
        "        return 0\n"
        "    # 2. age <= 0.5 or missing: no\n"
        "    if (x1 <= 0.5 or x1 != x1):\n"
        "        return 1\n"
        "    return 2"
    )


def test_labels_of_another_kind_are_rejected():
    odd = RuleList((), Rule((), 1j), ("a",), "classification", (1j, 2j))
    with pytest.raises(ValueError, match=r"text, finite numbers and booleans"):
        export(odd, "python")
    twice = RuleList(
        (Rule((Condition(0, upper=1.0), Condition(1, upper=1.0)), 1.0),),
        Rule((), 0.0),
        ("a", "a"),
        "regression",
    )
    with pytest.raises(ValueError, match="'a' occurs more than once"):
        export(twice, "python")


@pytest.mark.parametrize("bound", [sys.float_info.max, -sys.float_info.max, 5e-324])
@pytest.mark.parametrize("side", ["lower", "upper"])
def test_the_largest_number_is_a_threshold(bound, side):
    # It was written as `x >= inf`, and Python has no name inf.
    condition = Condition(0, **{side: bound})
    rules = RuleList((Rule((condition,), 2.0),), Rule((), 1.0), ("a",), "regression")
    values = [-sys.float_info.max, 0.0, 1.0, sys.float_info.max]
    check(rules, [[value] for value in values])
    assert "inf" not in export(rules, "sql") + export(rules, "text")
    assert rules.replace(1, rules.rules[0].text()).rules[0].conditions == (condition,)
