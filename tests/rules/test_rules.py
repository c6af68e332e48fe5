"""Rules answer by the conditions that they print."""

import dataclasses
import json
import math
import pickle
import re

import numpy as np
import pandas as pd
import pytest

import defragtrees
from defragtrees import (
    Condition,
    ModelFileError,
    Rule,
    RuleEnsemble,
    RuleList,
    RuleModel,
)
from defragtrees.rules import RuleTree
from defragtrees.rules.labels import Scale

INF = math.inf
NAMES = ("age", "city")
CATEGORIES = (None, ("Bonn", "Rome"))


def make_rules():
    first = Rule(
        (Condition(0, lower=1.5, upper=3.0), Condition(1, categories=(0, 2))),
        "yes",
        distribution=(0.25, 0.75),
        coverage=0.5,
        share=0.5,
        error=0.25,
    )
    second = Rule((Condition(0, upper=0.5, missing=True),), "no", (0.9, 0.1))
    default = Rule((), "yes", distribution=(0.0, 1.0))
    return RuleList(
        (first, second), default, NAMES, "classification", ("no", "yes"), CATEGORIES
    )


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Condition(0, lower=0.1), "age > 0.1"),
        (Condition(0, upper=3.0), "age <= 3"),
        (Condition(0, lower=-2.0, upper=1e-07), "-2 < age <= 1e-07"),
        (Condition(0, lower=1.0, missing=True), "age > 1 or missing"),
        (Condition(0), "age is not missing"),
        (Condition(0, lower=INF, missing=True), "age is missing"),
        (Condition(1, categories=(1,)), "city is Rome"),
        (Condition(1, categories=(0, 1)), "city is Bonn or Rome"),
        (Condition(1, categories=(0, 2)), "city is not Rome"),
        (Condition(1, categories=(2,)), "city is neither Bonn nor Rome"),
        (Condition(1, categories=(0, 1, 2)), "city is not missing"),
        (Condition(1, categories=(0,), missing=True), "city is Bonn or missing"),
        (Condition(1, categories=(), missing=True), "city is missing"),
        # "is not Rome or missing" would read as neither of them.
        (Condition(1, categories=(0, 2), missing=True),
         "city is not Rome, or is missing"),
        (Condition(1, categories=(2,), missing=True),
         "city is neither Bonn nor Rome, or is missing"),
        (Condition(0, missing=True), "age is anything"),
    ],
)  # fmt: skip
def test_condition_text(condition, text):
    assert condition.text(NAMES, CATEGORIES) == text


@pytest.mark.parametrize(
    ("positions", "text"),
    [
        ((0, 1), "grade <= fair"),
        ((2, 3), "grade >= good"),
        ((1, 2), "fair <= grade <= good"),
        ((3,), "grade is best"),
        ((0, 2), "grade is poor or good"),
        ((0, 1, 3), "grade is poor, fair or best"),
        ((2, 3, 4), "grade is neither poor nor fair"),
        ((3, 4), "grade is none of poor, fair, good"),
    ],
)
def test_conditions_on_categories_in_an_order(positions, text):
    grades = ("poor", "fair", "good", "best")
    condition = Condition(0, categories=positions)
    scales = [Scale(kind="ordered")]
    assert condition.text(["grade"], [grades], scales) == text
    rules = RuleList(
        (Rule((condition,), 1),),
        Rule((), 0),
        ("grade",),
        "classification",
        (0, 1),
        (grades,),
        feature_kinds=("ordered",),
    )
    assert f"1  {text}  1" in str(rules)
    assert RuleModel.from_dict(rules.to_dict()) == rules
    held = [j in positions for j in range(4)]
    assert rules.predict([[grade] for grade in grades]).tolist() == held


def test_labels_that_hold_a_separator_are_quoted():
    condition = Condition(0, categories=(0, 1))
    text = condition.text(["fate"], [("dead or alive", "unknown")])
    assert text == "fate is 'dead or alive' or 'unknown'"


def test_condition_covers_its_upper_bound_and_not_its_lower_one():
    column = [1.5, np.nextafter(1.5, 2), 3.0, np.nextafter(3.0, 4), np.nan]
    held = Condition(0, lower=1.5, upper=3.0).covers(column)
    assert held.tolist() == [False, True, True, False, False]
    assert Condition(0, upper=0.0, missing=True).covers([np.nan]).tolist() == [True]


def test_first_rule_that_holds_answers():
    rules = make_rules()
    X = np.array(
        [[2.0, "Bonn"], [2.0, "Oslo"], [2.0, "Rome"], [None, "Rome"], [0.5, None]],
        dtype=object,
    )
    assert rules.apply(X).tolist() == [0, 0, 2, 1, 1]
    assert rules.predict(X).tolist() == ["yes", "yes", "yes", "no", "no"]
    assert rules.covers(X).sum(axis=1).tolist() == [2, 2, 1, 2, 2]
    assert rules.predict_proba(X)[0].tolist() == [0.25, 0.75]


def test_what_a_person_reads():
    assert str(make_rules()).splitlines() == [
        "#  if                     then  P(yes)",
        "1  1.5 < age <= 3         yes      75%",
        "   and city is not Rome",
        "2  age <= 0.5 or missing  no       10%",
        "3  otherwise              yes     100%",
        "",
        "Rules apply in order; the first match predicts.",
    ]
    assert make_rules().export("text").splitlines() == [
        "1. if 1.5 < age <= 3 and city is not Rome then yes"
        "  [50% of rows, 75% agreement with the model]",
        "2. if age <= 0.5 or missing then no",
        "3. otherwise yes",
        "Rules apply in order; the first match predicts.",
    ]
    expected = "<RuleList: 3 rules, 2 features, 2.0 conditions per rule>"
    assert repr(make_rules()) == expected


def test_alternatives_are_bracketed_beside_other_conditions():
    young = Condition(0, upper=1.0, missing=True)
    rule = Rule((young, Condition(1, categories=(1,))), 0)
    assert rule.text(NAMES, CATEGORIES) == "(age <= 1 or missing) and city is Rome"


def test_dict_json_and_pickle_round_trips(tmp_path):
    rules = make_rules()
    assert RuleModel.from_dict(rules.to_dict()) == rules
    assert RuleModel.from_dict(json.loads(json.dumps(rules.to_dict()))) == rules
    rules.save(tmp_path / "rules.json")
    assert defragtrees.load(tmp_path / "rules.json") == rules
    assert pickle.loads(pickle.dumps(rules)) == rules


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"format": "other"}', '{"format": "defragtrees-rules-1"}'],
)
def test_file_that_is_not_rules_is_refused_in_a_sentence(tmp_path, text):
    path = tmp_path / "rules.json"
    path.write_text(text)
    with pytest.raises(ModelFileError):
        defragtrees.load(path)


def test_saved_rules_are_strict_json_even_for_missing_values_only(tmp_path):
    only_missing = Rule((Condition(0, lower=INF, missing=True),), 1.0)
    rules = RuleList((only_missing,), Rule((), 0.0), ("a",), "regression")
    rules.save(tmp_path / "rules.json")

    def refuse(constant):
        raise AssertionError(constant)

    text = (tmp_path / "rules.json").read_text()
    json.loads(text, parse_constant=refuse)
    assert defragtrees.load(tmp_path / "rules.json") == rules


def test_labels_that_json_does_not_know_are_refused_in_a_sentence(tmp_path):
    odd = RuleList((), Rule((), 1j), ("a",), "classification", (1j, 2j))
    with pytest.raises(ValueError, match="Turn them into text or finite numbers"):
        odd.save(tmp_path / "rules.json")
    assert not (tmp_path / "rules.json").exists()


def test_category_with_a_comma_is_quoted():
    categories = (("1, 2", "3"),)
    text = Condition(0, categories=(0, 1)).text(["a"], categories)
    assert text == "a is '1, 2' or '3'"


def test_html_escapes_names():
    rules = RuleList(
        (Rule((Condition(0, lower=1.0),), 1.0),),
        Rule((), 0.0),
        ("<script>alert(1)</script>",),
        "regression",
    )
    assert "<script>" not in rules._repr_html_()
    assert "&lt;script&gt;" in rules._repr_html_()


def test_columns_are_taken_by_name_and_renamed_ones_refused():
    pd = pytest.importorskip("pandas")
    rules = make_rules()
    frame = pd.DataFrame({"age": [2.0], "city": ["Bonn"]})
    assert rules.predict(frame).tolist() == ["yes"]
    assert rules.predict(frame[["city", "age"]]).tolist() == ["yes"]
    assert rules.predict(frame.assign(id="x")).tolist() == ["yes"]
    with pytest.raises(ValueError, match="missing 'age' and unexpected 'years'"):
        rules.predict(frame.rename(columns={"age": "years"}))


def test_default_with_conditions_and_repeated_features_are_refused():
    with pytest.raises(ValueError, match="default"):
        RuleList((), Rule((Condition(0),), 1), NAMES, "regression")
    twice = Rule((Condition(0, lower=1.0), Condition(0, upper=2.0)), 1)
    with pytest.raises(ValueError, match="one condition for each feature"):
        RuleList((twice,), Rule((), 1), NAMES, "regression")


def averaged(task="regression"):
    warm, tall = Condition(0, lower=20.0), Condition(1, lower=1.5)
    if task == "regression":
        rules = (Rule((warm,), 4.0, weight=0.5), Rule((tall,), 1.0, weight=0.25))
        return RuleEnsemble(rules, Rule((), 2.0, weight=0.25), ("t", "h"), task)
    rules = (
        Rule((warm,), "b", distribution=(0.25, 0.75), weight=0.5),
        Rule((tall,), "a", distribution=(1.0, 0.0), weight=0.25),
    )
    return RuleEnsemble(
        rules,
        Rule((), "a", distribution=(0.5, 0.5), weight=0.0),
        ("t", "h"),
        task,
        ("a", "b"),
    )


def test_averaged_rules_answer_by_their_weights():
    X = [[21.0, 2.0], [21.0, 1.0], [0.0, 2.0], [0.0, 0.0]]
    assert averaged().predict(X) == pytest.approx(
        [(2 + 0.25 + 0.5) / 1, 2.5 / 0.75, 0.75 / 0.5, 2.0]
    )
    assert averaged().apply(X).tolist() == [0, 0, 1, 2]


def test_averaged_classes_are_a_mean_of_shares_and_a_default_without_weight_waits():
    rules = averaged("classification")
    X = [[21.0, 2.0], [21.0, 1.0], [0.0, 2.0], [0.0, 0.0]]
    assert rules.predict_proba(X)[:, 1] == pytest.approx([0.5, 0.75, 0.0, 0.5])
    assert rules.predict(X).tolist() == ["a", "b", "a", "a"]
    assert rules.export("text").splitlines()[:3] == [
        "1. if t > 20 then a: 0.25, b: 0.75, weight 0.5",
        "2. if h > 1.5 then a: 1, weight 0.25",
        "3. always a: 0.5, b: 0.5, weight 0",
    ]
    assert str(rules).splitlines()[:4] == [
        "#  if       then  weight  P(b)",
        "1  t > 20   b        0.5   75%",
        "2  h > 1.5  a       0.25    0%",
        "3  always   a          0   50%",
    ]
    assert ">weight</th>" in rules._repr_html_()


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_averaged_rules_come_back_from_json(task, tmp_path):
    averaged(task).save(tmp_path / "rules.json")
    assert defragtrees.load(tmp_path / "rules.json") == averaged(task)


def test_a_file_names_one_of_the_forms():
    data = RuleList((), Rule((), 1.0), ("a",), "regression").to_dict()
    with pytest.raises(ModelFileError, match="form must be one of 'list'"):
        RuleModel.from_dict(data | {"form": "vote"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prediction": "maybe"}, "must predict one of"),
        ({"weight": -5}, "weight must be from 0"),
        (
            {"weight": float("nan")},
            r"weight must be a finite number; got nan",
        ),
        ({"distribution": None}, r"rules\[0\]: Rules that are averaged need their"),
        ({"distribution": [1.0]}, "one share for each class"),
        (
            {
                "conditions": [
                    {
                        "feature": 0,
                        "lower": None,
                        "upper": None,
                        "categories": [0],
                        "missing": False,
                    }
                ]
            },
            "categories that the feature does not have",
        ),
    ],
)
def test_saved_rules_that_say_what_they_cannot_do_are_refused(change, message):
    data = averaged("classification").to_dict()
    data["rules"][0] |= change
    with pytest.raises(ModelFileError, match=message):
        RuleModel.from_dict(data)


RESIDUALS = {"bands": [[-1.0, 2.0], []], "spreads": [1.0, 1.0], "pooled": [-1.0, 2.0]}
RATE_BANDS = {"edges": [0.5], "rates": [0.1, 0.8], "n_effective": [9.0, 5.0]}


@pytest.mark.parametrize(
    ("task", "field", "change", "message"),
    [
        ("classification", "residuals", {}, "have no residuals"),
        ("regression", "residuals", {}, "without edges must have a band per rule"),
        ("regression", "residuals", {"edges": []}, "one edge less than bands; got 0"),
        ("regression", "residuals", {"spreads": []}, "one spread for each band"),
        ("regression", "residuals", {"pooled": [2.0, 1.0]}, "ascending order"),
        ("regression", "residuals", {"pooled": []}, r"residuals\.pooled must have at"),
        ("regression", "residuals", {"more": 1}, "residuals has 'more'"),
        ("regression", "residuals", {"low": "a"}, r"residuals\.low must be a number"),
        ("regression", "rate_bands", {}, "have no rate_bands"),
        ("classification", "rate_bands", {"rates": [0.1]}, "one edge less than rates"),
        ("classification", "rate_bands", {"rates": [2.0, 0.1]}, r"rates\[0\] must be"),
        ("classification", "rate_bands", {"n_effective": [0, 1]}, "must be above 0"),
    ],
)
def test_what_makes_no_interval_is_rejected(task, field, change, message):
    kept = RESIDUALS if field == "residuals" else RATE_BANDS
    data = averaged(task).to_dict() | {field: kept | change}
    with pytest.raises(ModelFileError, match=message):
        RuleModel.from_dict(data)


def test_shares_of_zero_are_not_printed_and_odd_labels_are_quoted():
    rule = Rule((), "a: b", distribution=(0.0, 1.0), weight=1.0)
    rules = RuleEnsemble((), rule, ("t",), "classification", ("c", "a: b"))
    assert rules.export("text").splitlines()[0] == "1. always 'a: b': 1, weight 1"
    assert str(rules).splitlines()[0] == "#  if      then  weight  P('a: b')"


def test_explain_says_who_answers_and_why():
    kinds = (None, ("red", "green"))
    first = Rule((Condition(0, lower=1.0), Condition(1, categories=(1,))), 5.0)
    second = Rule((Condition(0, upper=1.0, missing=True),), 7.0)
    rules = RuleList(
        (first, second), Rule((), 9.0), ("size", "colour"), "regression", None, kinds
    )
    assert rules.explain({"size": 2.5, "colour": "green"}).splitlines() == [
        "Prediction: 5",
        "",
        "rule  condition        value  match",
        "   1  size > 1         2.5    yes",
        "      colour is green  green  yes",
    ]
    assert rules.explain([float("nan"), "red"]).splitlines() == [
        "Prediction: 7",
        "",
        "rule  condition             value    match",
        "   2  size <= 1 or missing  missing  yes",
        "   1  size > 1              missing  no",
    ]
    frame = pd.DataFrame({"size": [3.0, 0.5], "colour": ["red", "blue"]})
    assert rules.explain(frame.iloc[0]).splitlines() == [
        "Prediction: 9",
        "",
        "rule  condition             value  match",
        "   3  otherwise                    yes",
        "   1  colour is green       red    no",
        "   2  size <= 1 or missing  3      no",
    ]
    assert rules.explain(frame)[1].splitlines()[3:] == [
        "   2  size <= 1 or missing  0.5    yes",
        "   1  size > 1              0.5    no",
    ]
    names = [field.name for field in dataclasses.fields(rules)]
    leaves = RuleTree(**{name: getattr(rules, name) for name in names})
    assert leaves.explain(frame.iloc[0]).splitlines()[2:] == [
        "rule  condition  value  match",
        "   3  otherwise         yes",
    ]
    with pytest.raises(ValueError, match="A row needs 'colour'"):
        rules.explain({"size": 1.0})


def test_explain_names_all_rules_that_are_averaged():
    assert averaged().explain([21.0, 2.0]).splitlines() == [
        "Prediction: 2.75",
        "",
        "rule  condition  value  prediction  weight",
        "   1  t > 20     21              4     0.5",
        "   2  h > 1.5    2               1    0.25",
        "   3  always                     2    0.25",
    ]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("missing", "no"),
        ("lower", "1.5"),
        ("lower", math.nan),
        ("feature", 0.5),
        ("categories", "x"),
    ],
)
def test_a_condition_of_another_type_is_refused(place, value):
    data = averaged().to_dict()
    data["rules"][0]["conditions"][0][place] = value
    with pytest.raises(ModelFileError, match="not saved rules"):
        RuleModel.from_dict(data)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("categories", [None]),
        ("categories", "x"),
        ("feature_names", [1, 2]),
        ("rules", {}),
        ("default", None),
    ],
)
def test_a_document_of_another_shape_is_refused(place, value):
    data = averaged().to_dict()
    data[place] = value
    with pytest.raises(ModelFileError, match="not saved rules"):
        RuleModel.from_dict(data)


def test_a_file_of_endless_brackets_is_no_rules(tmp_path):
    (tmp_path / "deep.json").write_text("[" * 200_000, encoding="utf-8")
    with pytest.raises(ModelFileError, match="not a JSON file"):
        defragtrees.load(tmp_path / "deep.json")


def test_labels_of_numpy_are_saved_as_numbers(tmp_path):
    classes = (np.int64(0), np.int64(1))
    rules = RuleList((), Rule((), classes[1]), ("t",), "classification", classes)
    rules.save(tmp_path / "rules.json")
    assert defragtrees.load(tmp_path / "rules.json") == rules


def test_rules_are_printed_one_a_line_without_control_characters():
    warm = Rule((Condition(0, lower=20.0),), 1.0)
    name = chr(27) + "[31mdeg" + chr(10) + "rees"
    rules = RuleList((warm,), Rule((), 2.0), (name,), "regression")
    assert rules.export("text").splitlines() == [
        "1. if  [31mdeg rees > 20 then 1",
        "2. otherwise 2",
    ]
    assert str(rules).splitlines() == [
        "#  if                  prediction",
        "1   [31mdeg rees > 20           1",
        "2  otherwise                    2",
    ]


def test_a_table_leaves_out_what_nobody_measured():
    warm = Rule((Condition(0, lower=20.0),), 1.0)
    rules = RuleList((warm,), Rule((), 2.0), ("degrees",), "regression")
    assert _without_style(rules) == (
        "<table><thead><tr><th>#</th><th>if</th><th>prediction</th></tr></thead><tbody>"
        "<tr><td>1</td><td>degrees &gt; 20</td><td>1</td></tr>"
        "<tr><td>2</td><td>otherwise</td><td>2</td></tr></tbody></table>"
    )
    half = dataclasses.replace(rules, rules=(dataclasses.replace(warm, n_rows=50.0),))
    assert "nan" not in half._repr_html_()
    assert "<td>1</td><td>50</td>" in _without_style(half)


def _without_style(rules):
    return re.sub(r' style="[^"]*"', "", rules._repr_html_())


def test_categories_without_their_labels_are_named_by_their_places():
    assert Condition(0, categories=(0, 2)).text(["city"]) == (
        "city is category 0 or category 2"
    )
    assert Condition(0, categories=(1,), missing=True).text(["city"]) == (
        "city is category 1 or missing"
    )


def test_a_rule_shows_itself_as_it_would_be_said():
    tall = Rule((Condition(6, lower=1.5), Condition(0, categories=(1,))), "yes")
    assert repr(tall) == "<Rule: if x[6] > 1.5 and x[0] is category 1 then yes>"
    names = ("city", *(f"x{j}" for j in range(1, 6)), "height")
    categories = (("Kiel", "Ulm"), *[None] * 6)
    rules = RuleList(
        (tall,), Rule((), "no"), names, "classification", ("no", "yes"), categories
    )
    assert repr(rules.rules) == "(<Rule: if height > 1.5 and city is Ulm then yes>,)"
    assert repr(rules.default) == "<Rule: otherwise no>"
    assert rules.rules == (tall,)
    assert repr(pickle.loads(pickle.dumps(rules.rules[0]))) == repr(rules.rules[0])
    assert repr(Rule((), 2.0)) == "<Rule: otherwise 2>"


def test_a_row_needs_only_what_the_rules_ask_about():
    warm = Rule((Condition(1, lower=20.0),), "yes")
    names = ("city", "degrees")
    rules = RuleList((warm,), Rule((), "no"), names, "classification", ("no", "yes"))
    assert rules.explain({"degrees": 21}).splitlines()[3] == (
        "   1  degrees > 20  21     yes"
    )
    with pytest.raises(ValueError, match="A row needs 'degrees'"):
        rules.explain({"city": 1.0})


def test_classes_differ_and_infinite_values_are_rejected():
    default = Rule((), "yes")
    with pytest.raises(ValueError, match="classes must differ"):
        RuleList((), default, ("a",), "classification", ("yes", "yes"))
    with pytest.raises(ValueError, match="have no classes"):
        RuleList((), Rule((), 1.0), ("a",), "regression", ())
    rules = RuleList((), default, ("a",), "classification", ("yes", "no"))
    with pytest.raises(ValueError, match="'a' must hold finite numbers"):
        rules.predict([[math.inf]])
    with pytest.raises(ValueError, match="best must be"):
        rules.predict_frame([[1.0]], best="x")
