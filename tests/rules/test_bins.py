"""A scorecard by characteristic: its bins add up to the same totals."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from defragtrees import Condition, DefragClassifier, Rule, RuleList, Scorecard
from defragtrees.data.sampling import draw_rows
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
    for one in bins.bins_of(card):
        held = np.ones(len(X), dtype=bool)
        for condition in one.conditions:
            held &= condition.covers(matrix[:, condition.feature])
        totals += one.points * held
    assert totals == pytest.approx(card.totals(X)[:, 0])
    # Rows are in one bin of each column, so other totals cannot occur.
    assert set(np.round(totals, 9)) <= set(bins.totals_of(card).tolist())


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
    turned = card.scaled(of="bad").bins(np.repeat(X, 50, axis=0), np.repeat(y, 50))
    assert turned.rate.to_numpy() == pytest.approx(1 - frame.rate, nan_ok=True)
    assert turned.woe.to_numpy() == pytest.approx(-frame.woe, nan_ok=True)
    assert turned.iv.to_numpy() == pytest.approx(frame.iv, nan_ok=True)
    assert np.isnan(frame.iv[8])


def test_bins_that_cannot_be_given():
    card = card_of(single(Condition(0, lower=5.0), 15.0))
    with pytest.raises(ValueError, match="need X"):
        card.bins(y=["good"])
    three = cases.make_rules(np.random.default_rng(0), "points", ("a", "b", "c"))
    with pytest.raises(ValueError, match="bins need"):
        three.bins()
    assert not hasattr(RuleList, "bins")


def coded_rows():
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [
            rng.choice([-9.0, -8.0, *range(100)], 4000),
            rng.normal(size=4000),
            rng.choice([0.0, 1.0, np.nan], 4000),
        ]
    )
    is_code = X[:, 0] < 0
    log_odds = np.where(is_code, -2.5 * (X[:, 0] == -9), X[:, 0] / 40 - 1)
    log_odds += np.sign(X[:, 1]) + np.isnan(X[:, 2])
    y = rng.random(4000) < 1 / (1 + np.exp(-log_odds))
    return X, np.where(y, "ill", "well")


@pytest.fixture(scope="module")
def coded():
    """Rows with codes below 0 in the first column, and a card of them."""
    X, y = coded_rows()
    model = DecisionTreeClassifier(max_leaf_nodes=40, random_state=0).fit(X, y)
    settings = {"form": "points", "max_rules": 9, "max_conditions": 1}
    settings |= {"special_values": {0: [-9, -8]}, "random_state": 0}
    return X, y, DefragClassifier(model, **settings).fit(X, y).rules_


@pytest.mark.parametrize("how", ["validation", "sample_weight"])
def test_bins_have_plain_rows_whatever_they_are_worth(coded, how):
    """2,000 training rows beside 1,000 new ones were 1,800 rows."""
    X, y, card = coded
    given = {how: (X[2000:3000], y[2000:3000])}
    if how == "sample_weight":
        given = {how: np.where(y[:2000] == "ill", 2.5, 0.5)}
    model = DecisionTreeClassifier(max_leaf_nodes=40, random_state=0).fit(X, y)
    settings = {"form": "points", "max_rules": 5, "max_conditions": 1}
    simple = DefragClassifier(model, random_state=0, **settings)
    card = simple.fit(X[:2000], y[:2000], **given).rules_
    n_rows = 3000 if how == "validation" else 2000
    for made in (card, Scorecard.from_dict(card.to_dict())):
        frame = made.bins()
        blocks = frame.groupby("characteristic")
        assert (blocks.rows.sum() == n_rows).all()
        assert blocks.share.sum().to_numpy() == pytest.approx(1)
        counted = frame[frame.rows > 0]
        assert (counted.rows % 1 == 0).all()
    # Rates are by weight, as those of the rules are.
    [base] = frame[frame.characteristic == "base"].rate
    assert base == pytest.approx(card.default.rates[-1])


def test_special_values_are_never_part_of_a_range(coded):
    _, _, card = coded
    for rule in card.rules:
        for condition in rule.conditions:
            if condition.feature == 0:
                taken = condition.covers([-9.0, -8.0, *range(100), np.nan])
                is_alone = taken.sum() == 1
                assert is_alone or not (taken[:2].any() or taken[-1])
    lines = [line for line in card._view.bin_lines() if line[0] == "x1"]
    assert [text for _, text, _ in lines][-2:] == ["-9", "-8"]
    assert float(lines[-2][2]) > 0.5  # for well
    assert card.training.column(0).special == (-9.0, -8.0)
    assert Scorecard.from_dict(card.to_dict()).training == card.training


def test_nobody_is_told_to_have_a_code(coded):
    X, _, card = coded
    for best in ("high", "low"):
        texts = [t for t in card.reasons(X[:300], 3, best).ravel() if t]
        remedies = [text.partition("best ")[2] for text in texts]
        assert remedies
        assert not any("-9" in one or "-8)" in one for one in remedies)


def test_synthetic_rows_keep_special_values(coded):
    X, _, _ = coded
    is_code = np.isin(X[:, 0], (-9.0, -8.0)).astype(float)
    rows, is_set = np.column_stack([X[:, 0], is_code]), np.array([False, True])

    def n_moved(special):
        rng = np.random.default_rng(0)
        drawn = draw_rows(rows, 8000, is_set, rng, special=special)
        return (np.isin(drawn[:, 0], (-9.0, -8.0)) != drawn[:, 1]).sum()

    # What is left are categories that were swapped.
    assert n_moved({0: (-9.0, -8.0)}) < 0.75 * n_moved({})


def test_the_print_has_the_bins_that_counted(coded):
    X, y, card = coded
    counted = [b for b in bins.bins_of(card) if b.feature is not None]
    seen = bins.bins_of(card, card._encode(X), (y == "well").astype(float))
    for one, other in zip(counted, seen, strict=False):
        assert (one.n_rows, one.total) == pytest.approx((other.n_rows, other.total))
    header, rows = card._view.tables(False, 80)[0]
    assert header == ["characteristic", "bin", "points", "rows", "share", "P(well)",
                      "WoE", "rule"]  # fmt: skip
    used = {k for row in rows for k in row[-1].split(", ") if k}
    assert used == {str(k + 1) for k in range(card.n_rules)}
    for format in ("markdown", "html", "latex", "text"):
        assert "64 to" in card.export(format) or " to " in card.export(format)


@pytest.mark.parametrize(
    ("special", "word"),
    [
        ({"nowhere": [1]}, "nowhere"),
        ({"x1": ["a"]}, "finite numbers"),
        ({"x1": []}, "finite numbers"),
    ],
)
def test_special_values_that_cannot_be_given(special, word):
    X, y = coded_rows()
    with pytest.raises(ValueError, match=word):
        DefragClassifier(special_values=special).fit(X[:200], y[:200])


def test_a_card_of_numbers_is_scaled_to_a_unit():
    warm = Rule((Condition(0, lower=20.0),), 5.0, points=(1.4,))
    base = Rule((), 2.0, points=(0.7,))
    card = Scorecard((warm,), base, ("degrees",), "regression")
    scaled = card.scaled(unit=0.25)
    assert [rule.points for rule in scaled] == [(6.0,), (3.0,)]
    # The base stays exact, a rule is off by less than half a point.
    assert scaled.predict([[0.0], [30.0]]) == pytest.approx([0.7, 2.2])
    with pytest.raises(ValueError, match="unit must be a number above 0"):
        card.scaled(unit=0)
    with pytest.raises(ValueError, match="unit is for a scorecard of numbers"):
        card_of(single(Condition(0, lower=5.0), 15.0)).scaled(unit=0.25)


def test_rules_of_a_bin_are_left_out_where_there_is_no_room(coded):
    _, _, card = coded
    heads = [card.table(width=width).splitlines()[0].split() for width in (120, 66)]
    assert heads[0][-1] == "rule"
    assert heads[1] == heads[0][:-1]
    assert card.table(width=66).count("characteristic") == 1  # no second table
