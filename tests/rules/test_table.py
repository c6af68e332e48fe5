"""The table of rules: its shape at any width, effective ranges, numbers for people."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from defragtrees import Condition, Rule, RuleList, Scorecard, diff
from defragtrees._utils import formatting as render
from defragtrees.rules import RuleTree
from defragtrees.rules.parsing import ColumnWords, parse_conditions

INF = float("inf")
NAMES = ("grade", "city")
CITIES = ("Bonn", "Oslo", "Rome")


def numbers(*rules):
    every = tuple(
        Rule(tuple(conditions), float(k)) for k, conditions in enumerate(rules)
    )
    return RuleList(every, Rule((), 9.0), NAMES, "regression", None, (None, CITIES))


def grade(lower=-INF, upper=INF, missing=False, is_integer=True):
    return Condition(0, lower, upper, missing=missing, is_integer=is_integer)


def city(*places, missing=False):
    return Condition(1, categories=places, missing=missing)


def shown(rules):
    """The conditions of each rule as the table shows them."""
    return [
        [rules._view.condition_text(condition) for condition in conditions]
        for conditions in [rule.shown for rule in rules.rules]
    ]


@pytest.mark.parametrize(
    ("conditions", "text"),
    [
        ([grade(upper=4), grade(upper=5)], "grade is 5"),
        ([grade(upper=4), grade(upper=7)], "5 <= grade <= 7"),
        ([grade(lower=6), grade(lower=4)], "5 <= grade <= 6"),
        ([grade(upper=4, missing=True), grade(upper=5, missing=True)], "grade is 5"),
        ([grade(upper=4), grade(upper=4, missing=True)], "grade is missing"),
        (
            [grade(upper=4.5, is_integer=False), grade(upper=5.5, is_integer=False)],
            "4.5 < grade <= 5.5",
        ),
        ([city(0, missing=True), city(0, 1, missing=True)], "city is Oslo"),
        ([city(0), city(1, 3)], "city is neither Bonn nor Rome"),
        # The second joins the first once the third is known.
        ([grade(4, 6), grade(upper=4), grade(upper=8)], "grade is 7 or 8"),
        # Without a town that is taken more would be named, or as many.
        ([city(0), city(0, 1, 3)], "city is not Rome"),
        ([city(0, missing=True), city(0, 1, 3, missing=True)], "city is not Rome"),
        ([city(0, 3), city(0, 1, 3)], "city is Oslo"),
        # Nothing is left, or not one range: the condition stays.
        ([grade(upper=4), grade(upper=3)], "grade <= 3"),
        ([grade(4, 6), grade(upper=8)], "grade <= 8"),
        ([city(0), grade(upper=5)], "grade <= 5"),
        (
            [grade(upper=4, is_integer=False), grade(upper=5)],
            "grade <= 5",
        ),
    ],
)
def test_conditions_show_the_values_that_can_reach_a_rule(conditions, text):
    rules = numbers(*([condition] for condition in conditions))
    expected = text.replace("grade is 7 or 8", "7 <= grade <= 8")
    assert shown(rules)[-1] == [expected]
    assert expected in str(rules)
    assert expected in rules._repr_html_().replace("&lt;", "<").replace("&gt;", ">")


def test_only_rules_with_one_condition_take_all_values():
    rules = numbers([grade(upper=4), city(0)], [grade(upper=5)])
    assert shown(rules)[1] == ["grade <= 5"]
    leaves = RuleTree(
        rules.rules, rules.default, NAMES, "regression", None, (None, CITIES)
    )
    single = numbers([grade(upper=4)], [grade(upper=5)])
    assert shown(leaves) == shown(rules)
    assert shown(single)[1] == ["grade is 5"]


CONDITIONS = st.one_of(
    st.tuples(
        st.integers(-3, 3) | st.just(-INF), st.integers(-3, 3) | st.just(INF),
        st.booleans(),
    ).map(lambda c: grade(float(c[0]), float(c[1]), c[2])),
    st.tuples(st.sets(st.integers(0, 3), min_size=1), st.booleans()).map(
        lambda c: city(*sorted(c[0]), missing=c[1])
    ),
)  # fmt: skip


@given(st.lists(st.lists(CONDITIONS, min_size=1, max_size=2), min_size=1, max_size=5))
@settings(max_examples=300)
def test_effective_ranges_predict_the_same(conditions):
    conditions = [{c.feature: c for c in rule}.values() for rule in conditions]
    rules = numbers(*conditions)
    rows = np.array(
        [(x, c) for x in (*range(-5, 6), np.nan) for c in (0, 1, 2, 3, np.nan)]
    )
    held = rules._covers(rows)
    read = np.ones_like(held)
    for k, parts in enumerate(rule.shown for rule in rules.rules):
        read[:, k] = [all(c.covers(row[[c.feature]])[0] for c in parts) for row in rows]
    assert np.array_equal(rules._form.apply(held), rules._form.apply(read))


def test_a_rule_has_the_same_words_in_all_views():
    first = Rule((grade(upper=7.9, is_integer=False),), "yes", (0.2, 0.8))
    second = Rule((grade(upper=9.5, is_integer=False),), "no", (0.9, 0.1))
    rules = RuleList((first, second), Rule((), "yes", (0.3, 0.7)), NAMES,
                     "classification", ("no", "yes"), (None, CITIES))  # fmt: skip
    text = "7.9 < grade <= 9.5"
    assert rules.rules[1].text() == text
    assert text in str(rules)
    assert f"if {text} then no" in rules.export("sql", table="t", comments=True)
    assert f"2. {text}: no" in rules.export("python")
    assert text in rules.explain([12.0, "Bonn"])
    assert [*rules.to_frame()["if"]][1] == text
    less = rules.drop(2)
    assert f"dropped rule 2: if {text} then no" in str(less)
    assert f"rule 2 is gone: if {text} then no" in str(diff(rules, less))
    # What is read back predicts the same; without the first rule the bound goes.
    again = rules.replace(2, text)
    rows = np.array([[7.0, 0], [8.0, 0], [10.0, 0]])
    assert (again.predict(rows) == rules.predict(rows)).all()
    assert rules.drop(1).rules[0].text() == "grade <= 9.5"


def test_large_thresholds_have_separators_that_are_read_back():
    rules = numbers([grade(upper=85700.5, is_integer=False)])
    assert shown(rules) == [["grade <= 85,700.5"]]
    words = ColumnWords(NAMES, (None, CITIES))
    assert parse_conditions("grade <= 85,700.5", words) == rules.rules[0].conditions
    assert rules.rules[0].text() == "grade <= 85700.5"


WORDS = st.text("abcde ", min_size=1, max_size=60).filter(str.strip)


@given(st.lists(WORDS, min_size=1, max_size=3, unique=True), st.integers(50, 90))
@settings(max_examples=100)
def test_no_line_is_wider_and_no_word_is_broken(names, width):
    names = [" ".join(name.split()) for name in names]
    names = [f"{name} {j}" for j, name in enumerate(names)]
    parts = tuple(Condition(j, upper=1.5) for j in range(len(names)))
    rule = Rule(parts, "yes", (0.1, 0.9), n_rows=40, rates=(0.1, 0.9))
    rules = RuleList((rule,), Rule((), "no", (1.0, 0.0), n_rows=20, rates=(1.0, 0.0)),
                     tuple(names), "classification", ("no", "yes"))  # fmt: skip
    lines = rules.table(width=width).splitlines()
    assert max(map(len, lines)) <= width
    room = width - len("#  ") - len("  then  P(yes)  95% interval  rows")
    broken = [word for name in names for word in name.split() if len(word) > room]
    read = " ".join(lines).split()
    assert broken or all(word in read for name in names for word in name.split())


def test_a_wide_terminal_is_used(monkeypatch):
    name = "a name of many words that would be wrapped in a narrow window " * 2
    rules = RuleList((Rule((Condition(0, upper=1.5),), 1.0),), Rule((), 2.0),
                     (name.strip(),), "regression")  # fmt: skip
    assert max(map(len, str(rules).splitlines())) <= render.WIDTH
    monkeypatch.setattr(render.sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "160")
    assert str(rules).splitlines()[1].startswith(f"1  {name.strip()} <= 1.5  ")


def test_a_scorecard_has_points_and_below_the_risk_of_totals():
    old = Rule((Condition(0, lower=60.0),), "ill", (0.2, 0.8), points=(2.0,))
    calm = Rule((Condition(1, categories=(0,)),), "well", (0.8, 0.2), points=(-1.0,))
    base = Rule((), "well", (0.7, 0.3), points=(-1.0,))
    card = Scorecard((old, calm), base, ("age", "city"), "classification",
                     ("well", "ill"), (None, CITIES), unit=0.5)  # fmt: skip
    assert card.table().splitlines() == [
        "characteristic  bin           points  rule",
        "age             <= 60              0",
        "                > 60              +2     1",
        "city            Bonn              -1     2",
        "                Oslo or Rome       0",
        "base                              -1     3",
        "",
        "total  P(ill)  then",
        "   -2     27%  well",
        "   -1     38%  well",
        "    0     50%  well",
        "    1     62%  ill",
    ]
    # With details, and for the editing functions, rule by rule.
    lines = card.table(details=True).splitlines()
    assert lines[1].startswith("1  age > 60          +2")
    assert card.explain([61.0, "Bonn"]).splitlines() == [
        "Prediction: well; P(ill) = 50%",
        "",
        "rule  condition     value  points",
        "   1  age > 60      61         +2",
        "   2  city is Bonn  Bonn       -1",
        "   3  base                     -1",
        "      total                     0",
    ]


def test_long_names_are_blocks_where_conditions_would_be_cut():
    name, kept = "number_of_late_payments_within_the_la", "kept the contract"
    rule = Rule((Condition(0, lower=2.0),), kept, (0.2, 0.8), n_rows=7200)
    rules = RuleList(
        (rule,),
        Rule((), "broken", (0.9, 0.1), n_rows=90),
        (name,),
        "classification",
        ("broken", kept),
    )
    assert rules._view.table(False, 60).splitlines() == [
        f"1  {name} > 2",
        "   then kept the contract; P(kept the contract) 80%;",
        "       rows 7,200",
        "2  otherwise",
        "   then broken; P(kept the contract) 10%; rows 90",
    ]
    assert rules._view.table(False, 100).startswith("#  if")
    # Heads are broken before conditions, and names after an underscore.
    head = render.text_table(["if", "P(kept the contract)"], [["a b", "1"]], width=20)
    assert head == "if     P(kept the\n        contract)\na b             1"
    assert render.wrapped(name, 20) == [
        "number_of_late_",
        "    payments_within_",
        "    the_la",
    ]


def test_columns_that_do_not_fit_stand_in_a_second_table():
    header, row = ["method", "log loss", "seconds", "same"], ["tree", "0.2", "1", "0.8"]
    assert render.text_table(header, [row], width=21) == (
        "method   log  seconds\n"
        "        loss\n"
        "tree     0.2        1\n"
        "\n"
        "method  same\n"
        "tree     0.8"
    )
    rows = [["rule 1", "values outside the range", "3"]]
    assert render.text_table(["where", "what", "n"], rows, left=(0, 1), width=26) == (
        "where   what             n\nrule 1  values outside   3\n        the range"
    )
