"""Flags at weak rules, names and base rates, worked by hand on a few rows."""

import dataclasses
import re

import numpy as np
import pytest

from defragtrees.ensembles.forest import Forest
from defragtrees.metrics.resampling import RuleStability
from defragtrees.report.summary import summarize
from defragtrees.rules import RuleList
from defragtrees.rules.conditions import Condition, Rule
from tests.report.cases import (
    GivenClassifier,
    GivenRegressor,
    cells,
    numbers,
    stump,
    verdict,
    weather,
    written,
)


def plain(html):
    """The words of HTML, with plain spaces."""
    return re.sub("<[^>]*>", "", html)


def counted(second, n_rows):
    """Training counts of a rule with this rate of the second class."""
    rates = (1 - second, second)
    share = n_rows / 1040
    return {"distribution": rates, "rates": rates, "n_rows": n_rows, "share": share}


def loans(**options):
    """Four rules on 400 rows with evidence of all kinds, and y."""
    rare = Rule((Condition(0, lower=398.5),), "bad", **counted(0.6, 40))
    wrong = Rule((Condition(0, lower=380.5),), "bad", **counted(0.7, 200))
    usual = Rule((Condition(0, upper=99.5),), "good", **counted(0.2, 400))
    rest = Rule((), "good", **counted(0.1, 400))
    rules = RuleList(
        (rare, wrong, usual), rest, ("x",), "classification", ("good", "bad"), **options
    )
    forest = Forest(
        (stump(0, 380.5, [1.0, 0.0], [0.0, 1.0]),), ("x",), "classification",
        ("good", "bad"), "mean",
    )  # fmt: skip
    X = np.arange(1.0, 401.0)[:, None]
    y = np.where(X[:, 0] > 390, "bad", "good")
    y[X[:, 0] > 398] = "good"
    simple = GivenClassifier(forest, rules=rules).fit(X, y)
    simple.rules_ = rules  # a fit has counted them on its rows
    return simple, X, y


def flags_of(simple, X, y=None, **options):
    cards = summarize(simple, X, y, **options).cards
    return [tuple(card.flags.values()) for card in cards]


def test_reasons_at_weak_rules_and_none_at_sound_ones():
    rare, wrong, usual, rest = flags_of(*loans())
    # Wilson's interval of 24 of 40 is 45–74%, clear of the rate of all rows, which
    # is (24 + 140 + 80 + 40) / 1040.
    assert rare == ("It predicts less than 1% of the rows here: 2 of 400.",)
    # Rows 381 to 398 are its own; 391 to 398 are bad.
    assert wrong == (
        "It is wrong more often than right here: correct on 8 of 18 rows.",
    )
    assert usual == rest == ()


def test_a_rate_that_is_the_base_rate_is_flagged():
    simple, X, y = loans()
    usual = dataclasses.replace(simple.rules_.rules[2], **counted(0.27, 400))
    simple.rules_ = dataclasses.replace(
        simple.rules_, rules=(*simple.rules_.rules[:2], usual)
    )
    # The base rate is now (24 + 140 + 108 + 40) / 1040 = 30%.
    [reason] = flags_of(simple, X, y)[2]
    assert reason == (
        "The 95% interval of its estimate (27%, 23–32%) contains the rate of all "
        "rows (30%)."
    )
    assert verdict(summarize(simple, X, y))[-1] == (
        "Weak rules (▲): rule 1 (few rows here), rule 2 (wrong more often than right "
        "here), rule 3 (not clearly different from all rows)."
    )


def test_unstable_rules_are_flagged():
    simple, X, y = loans()
    simple.stability_ = RuleStability(
        simple.rules_, 6, "", 0.9, 0.8, tuple((0.5,) * n for n in (6, 3, 2, 6)), {}
    )
    flags = flags_of(simple, X, y)
    assert flags[2] == (
        "It is not stable: found again in only 2 of 6 fits to other rows.",
    )
    assert not any("stable" in reason for k in (0, 1, 3) for reason in flags[k])
    assert verdict(summarize(simple, X, y))[-1] == (
        "Weak rules (▲): rule 1 (few rows here), rule 2 (wrong more often than right "
        "here), rule 3 (found again in fewer than half of the fits)."
    )


def test_where_mistakes_differ_in_cost_a_rule_may_be_wrong_mostly():
    costs = ((0.0, 1.0), (3.0, 0.0))
    simple, X, y = loans(costs=costs)
    assert not any("more often" in reason for reason in flags_of(simple, X, y)[1])


def test_without_y_only_training_counts_are_flagged():
    simple, X, _ = loans()
    rare, wrong, usual, rest = flags_of(simple, X)
    assert len(rare) == 1
    assert wrong == usual == rest == ()


def test_a_middle_band_of_numbers_is_not_weak_but_few_rows_are():
    names = ("x",)
    low = Rule(
        (Condition(0, upper=50.0),),
        49.5,
        quantiles=(5.0, 95.0),
        spread=25.0,
        n_rows=50.0,
    )
    rest = Rule((), 75.0, quantiles=(55.0, 95.0), spread=14.0, n_rows=50.0)
    rules = RuleList((low,), rest, names, "regression")
    forest = Forest((stump(0, 50.0, 25.0, 75.0),), names, "regression")
    X = np.arange(100.0)[:, None]
    simple = GivenRegressor(forest, rules=rules).fit(X)
    simple.rules_ = rules
    # The mean of all rows is 49.5 too; what the rule says of its rows is true.
    assert flags_of(simple, X, np.arange(100.0))[0] == ()
    few = dataclasses.replace(rest, n_rows=8.0)
    rules = RuleList((low,), few, names, "regression")
    assert flags_of(rules, X, np.arange(100.0))[1] == (
        "Its estimate is from 8 rows only.",
    )


def test_the_target_and_the_model_have_their_names(tmp_path):
    simple, X, y = weather()
    summary = summarize(simple, X, y, target_name="<walk>", model_name="Old oak")
    assert summary.title == "<walk> in 3 rules"
    assert summary.model.name == "Old oak"
    assert "Measures for &lt;walk&gt;" in written("measures", summary)[1]
    named = summarize(simple, X, type("Series", (list,), {"name": "mood"})(y))
    assert named.target == "mood"
    assert summarize(simple, X, y).model.name == "tree ensemble"


def test_classes_have_base_rates_and_meanings():
    simple, X, y = weather()
    simple.rules_ = simple.rules_.relabel(class_labels={"in": "at home"})
    *_, words, table = written("data", summarize(simple, X, y, [1, 1, 2, 2, 1, 1]))
    lines = [[plain(cell) for cell in line] for line in cells(table)]
    # Rows 3, 5 and 6 are in, of weights 2, 1 and 1 of 8; these are worth 64 / 12 rows.
    assert lines == [
        ["at home", "in", "3", "50.0%", "17.6–82.4%", "50.0%"],
        ["out", "out", "3", "50.0%", "17.6–82.4%", "50.0%"],
    ]
    assert "refer to <b><bdi>out</bdi></b>" in words


@pytest.mark.parametrize("form", ["list", "average"])
def test_quantiles_of_numbers_are_shown(form):
    simple, X, y = numbers(form)
    words = plain(written("data", summarize(simple, X, y))[-1])
    assert "its mean is 1.75, its median 1.5" in words


def test_flags_stand_at_the_rule():
    page = "".join(written("rules", summarize(*loans())))
    rules = page.split('<tbody class="rule"')[1:]
    is_weak = [True, True, False, False]
    assert ["▲" in rule for rule in rules] == is_weak
    assert ["Weak rule" in rule for rule in rules] == is_weak
    assert "<li>It is wrong more often than right here" in rules[1]
    page = "".join(written("rules", summarize(*weather())))
    assert "Weak rule" in page
    assert "▲" not in page  # all of them are


def test_the_interval_of_a_flag_is_that_of_the_rule():
    simple, X, y = loans()
    first, *others = simple.rules_.rules
    fewer = dataclasses.replace(first, n_effective=6.0)
    simple.rules_ = dataclasses.replace(simple.rules_, rules=(fewer, *others))
    place = simple.rules_.outcome.rate_index(fewer)
    low, high = (100 * end for end in fewer.interval[place])
    assert flags_of(simple, X, y)[0][0] == (
        f"The 95% interval of its estimate (60%, {low:.0f}–{high:.0f}%) contains "
        "the rate of all rows (27%)."
    )
