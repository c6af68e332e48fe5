"""A scorecard by characteristic: its bins add up to the same totals."""

import numpy as np
import pytest

from defragtrees import Condition, Rule, RuleList, Scorecard
from defragtrees.rules import bins
from tests.export import cases

BASE = Rule((), "good", (0.4, 0.6), points=(10.0,))


def card_of(*rules, **fields):
    given = {"task": "classification", "classes": ("bad", "good"), **fields}
    return Scorecard(tuple(rules), BASE, ("years", "home"), **given)


def single(condition, points):
    return Rule((condition,), "good", (0.1, 0.9), points=(points,))


@pytest.mark.parametrize("seed", range(3))
def test_one_bin_of_each_characteristic_counts_for_a_row(seed):
    rng = np.random.default_rng(seed)
    card = cases.make_rules(rng, "points", ("no", "yes"), n_rules=12)
    X = cases.array(cases.make_rows(rng, 200))
    frame = card.bins(X)
    blocks = frame[~frame.characteristic.isin(["base", "and also"])]
    assert (blocks.groupby("characteristic").rows.sum() == len(X)).all()
    matrix = card._encode(X)
    totals = np.zeros(len(X))
    for *_, points, conditions in bins._bins(card):
        held = np.ones(len(X), dtype=bool)
        for condition in conditions:
            held &= condition.covers(matrix[:, condition.feature])
        totals += points * held
    assert totals == pytest.approx(card.totals(X)[:, 0])


def test_bins_are_in_order_and_have_weight_of_evidence():
    card = card_of(
        single(Condition(0, lower=5.0), 15.0),
        single(Condition(0, lower=1.0, missing=True), 40.0),
        single(Condition(1, categories=(0, 2)), -3.0),
        Rule((Condition(0, upper=3.0), Condition(1, categories=(1,))), "good",
             (0.1, 0.9), points=(7.0,)),
        categories=(None, ("own", "rent", "free")),
    )  # fmt: skip
    X = np.array([[0, "own"], [2, "rent"], [9, "free"], [None, "rent"]], dtype=object)
    y = ["bad", "good", "good", "good"]
    frame = card.bins(np.repeat(X, 50, axis=0), np.repeat(y, 50))
    assert frame.bin.tolist() == [
        "years <= 1",
        "1 < years <= 5",
        "years > 5",
        "years is missing",
        "home is own or free",
        "home is rent",
        "home is none of own, rent, free",
        "home is missing",
        "years <= 3 and home is rent",
        "",
    ]
    assert frame.points.tolist() == [0, 40, 55, 40, -3, 0, 0, 0, 7, 10]
    assert frame.rows.tolist() == [50, 50, 50, 50, 100, 100, 0, 0, 50, 200]
    assert frame.rate.tolist()[:5] == [0, 1, 1, 1, 0.5]
    # By hand: 50 of 150 good and 50 of 50 bad ones, with half a row more of each.
    woe = np.log((50.5 / 150.5) / (50.5 / 50.5))
    assert frame.woe[4] == pytest.approx(woe)
    assert frame.iv[4] == pytest.approx((50.5 / 150.5 - 1) * woe)
    assert frame.iv.groupby(frame.characteristic).sum()["years"] > 1
    assert np.isnan(frame.iv[8])


def test_bins_that_cannot_be_given():
    card = card_of(single(Condition(0, lower=5.0), 15.0))
    with pytest.raises(ValueError, match="need X"):
        card.bins(y=["good"])
    three = cases.make_rules(np.random.default_rng(0), "points", ("a", "b", "c"))
    with pytest.raises(ValueError, match="bins need"):
        three.bins()
    assert not hasattr(RuleList, "bins")
