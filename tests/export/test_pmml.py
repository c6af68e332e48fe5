"""PMML answers as the rules do, in PMML4S."""

import math
import re
import shutil
from xml.etree import ElementTree

import numpy as np
import pytest

from defragtrees import Condition, Rule, RuleList, Scorecard
from defragtrees.cli import main
from defragtrees.export import export

CITIES = ("Bonn", "Rome", 'say "hi"', "back\\slash")


def list_rules(labels=("no", "yes")):
    def shares(k):
        return tuple(
            0.9 if j == k else 0.1 / (len(labels) - 1) for j in range(len(labels))
        )

    old = Rule(
        (Condition(0, lower=40.0, missing=True),), labels[1], shares(1), n_rows=9.0
    )
    south = Rule((Condition(1, categories=(1, 2, 3)), Condition(0, 20.0, 30.0)),
                 labels[-1], shares(len(labels) - 1))  # fmt: skip
    other = Rule((Condition(1, categories=(3, 4)),), labels[0], shares(0))
    few = Rule((Condition(2, upper=2.0, is_integer=True),), labels[1], shares(1))
    return RuleList((old, south, other, few), Rule((), labels[0], shares(0)),
                   ("age", "city", "n rooms"), "classification", labels,
                   (None, CITIES, None))  # fmt: skip


def make_rows(n=300):
    rng = np.random.default_rng(0)
    ages = [*rng.uniform(10, 50, n).tolist(), 20.0, 30.0, 40.0, None]
    return [
        [age, str(rng.choice([*CITIES, "Kiel"])), float(rng.integers(0, 6))]
        for age in ages
    ]


def test_a_list_of_rules_is_a_rule_set_model():
    text = export(list_rules(), "pmml", name="who")
    assert '<RuleSetModel modelName="who" functionName="classification">' in text
    assert '<RuleSelectionMethod criterion="firstHit" />' in text
    assert text.count("<SimpleRule ") == 5
    assert 'defaultScore="no"' in text


def card_of(points, labels=("no", "yes")):
    shares = (1 / len(labels),) * len(labels)
    base = Rule((), labels[0], shares, points=points)
    return Scorecard((), base, ("a",), "classification", labels)


@pytest.mark.parametrize(
    ("rules", "found"),
    [
        (
            RuleList((), Rule((), 2.0), ("a",), "regression"),
            "a RuleList for numbers",
        ),
        (card_of((1.0, 2.0, 3.0), tuple("abc")), "a Scorecard for 3 classes"),
        (card_of((1.25,)), "points such as 1.25"),
    ],
)
def test_other_rules_are_rejected_and_nothing_is_written(
    tmp_path, capsys, rules, found
):
    sentence = f"PMML needs a rule list for classes, .*; got {found}. Fit one"
    path = tmp_path / "rules.pmml"
    with pytest.raises(ValueError, match=sentence):
        export(rules, "pmml", path)
    rules.save(tmp_path / "rules.json")
    command = ["export", str(tmp_path / "rules.json"), "--format", "pmml"]
    assert main([*command, "--out", str(path)]) == 2
    assert re.search(sentence, " ".join(capsys.readouterr().err.split()))
    assert not path.exists()


def needs(package):
    """The package, if it and the Java that it runs in are there."""
    if shutil.which("java") is None:
        pytest.skip("PMML is scored in Java, which is not there")
    return pytest.importorskip(package, reason=f"PMML is scored by {package}")


@pytest.fixture(scope="module")
def pmml4s():
    """From PMML and rows to outputs, by PMML4S."""
    model = needs("pypmml").Model

    def score(text, rows):
        made = model.fromString(text)
        return [
            made.predict({name: v for name, v in row.items() if v is not None})
            for row in rows
        ]

    yield score
    model.close()


@pytest.fixture
def jpmml(tmp_path):
    """The same by JPMML-Evaluator."""
    make = needs("jpmml_evaluator").make_evaluator
    needs("py4j")
    backend = pytest.importorskip("jpmml_evaluator.py4j").Py4JBackend

    def score(text, rows):
        path = tmp_path / "rules.pmml"
        path.write_text(text, encoding="utf-8")
        evaluator = make(str(path), backend=backend()).verify()
        return [evaluator.evaluate(row) for row in rows]

    return score


def named(rules, rows):
    return [dict(zip(rules.feature_names, row, strict=True)) for row in rows]


@pytest.mark.parametrize("scorer", ["pmml4s", "jpmml"])
@pytest.mark.parametrize("labels", [("no", "yes"), ("a", "b c", "d")])
def test_scorers_answer_as_the_rules_do(request, scorer, labels):
    rules, rows = list_rules(labels), make_rows()
    score = request.getfixturevalue(scorer)
    found = score(export(rules, "pmml"), named(rules, rows))
    X = np.array(rows, dtype=object)
    assert [one["prediction"] for one in found] == rules.predict(X).tolist()
    likely = rules.predict_proba(X).max(axis=1).tolist()
    assert [one["confidence"] for one in found] == pytest.approx(likely)
    if scorer == "jpmml":  # PMML4S does not say which rule it was
        numbers = [str(place + 1) for place in rules.apply(X)]
        assert [one["rule"] for one in found] == numbers


@pytest.mark.parametrize("scorer", ["pmml4s", "jpmml"])
def test_scorers_add_up_as_the_rules_do(request, scorer):
    warm = Rule((Condition(0, lower=20.0),), "go", (0.3, 0.7), points=(3.0,))
    base = Rule((), "stay", (0.8, 0.2), points=(-2.0,))
    labels = ("stay", "go")
    card = Scorecard((warm,), base, ("degrees",), "classification", labels, unit=0.5)
    rows = [[10.0], [20.0], [20.5], [None]]
    score = request.getfixturevalue(scorer)
    found = score(export(card, "pmml"), named(card, rows))
    X = [[math.nan if v is None else v for v in row] for row in rows]
    assert [one["score"] for one in found] == card.totals(X)[:, 0].tolist()
    told = card.predict_proba(X)[:, 1].tolist()
    assert [one["probability go"] for one in found] == pytest.approx(told)
    assert [one["prediction"] for one in found] == card.predict(X).tolist()


def test_characters_that_xml_does_not_have():
    small = Rule((Condition(0, upper=1.5),), "a", (1.0, 0.0))
    for name in ("a\x1b[31m", "a\0", "a\uffff"):
        rules = RuleList(
            (small,), Rule((), "b", (0.0, 1.0)), (name,), "classification", ("a", "b")
        )
        with pytest.raises(ValueError, match="has no character"):
            export(rules, "pmml")


def test_characters_that_nobody_sees_are_written_by_number():
    name = "a\u202e\x85b"
    small = Rule((Condition(0, upper=1.5),), "a", (1.0, 0.0))
    rules = RuleList(
        (small,), Rule((), "b", (0.0, 1.0)), (name,), "classification", ("a", "b")
    )
    text = export(rules, "pmml")
    assert all(line.isprintable() for line in text.split("\n"))
    fields = ElementTree.fromstring(text).iter("{http://www.dmg.org/PMML-4_4}DataField")
    assert name in [field.get("name") for field in fields]


def test_a_card_for_one_class_predicts_it():
    text = export(card_of((1.0,), ("yes",)), "pmml")
    assert '<Constant dataType="string">yes</Constant>' in text
