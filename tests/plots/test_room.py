"""Words have room: long names, large numbers and many rules, on a plain savefig.

Every text that is drawn is inside the figure, and none is on another.
"""

import dataclasses
import io
import itertools

import numpy as np
import pytest
from matplotlib.text import Text

from defragtrees import plots
from defragtrees._compare import Comparison, PathPoint, RulePath
from defragtrees.rules import RuleList, Scorecard
from defragtrees.rules.conditions import Condition, Rule

NAMES = (
    "total_purchase_price_of_the_property_in_the_last_transaction",
    "number of outstanding payments in the last twelve full months",
    "region",
    "annual household income before taxes and all other deductions",
)
REGIONS = tuple(f"municipality of the greater metropolitan area no {k}" for k in "1234")
BINARY = (
    "defaulted within the first eighteen months",
    "repaid in full and before the final date",
)
CLASSES = tuple(
    f"segment {letter} of all the customers, {kind}"
    for letter, kind in zip("ABCDEF", ("old", "new") * 3, strict=True)
)
KNOWN = (None, None, REGIONS, None)


def make_conditions(k):
    """One to three conditions, on prices of millions and on regions."""
    price = Condition(0, lower=250_000.0 * k, upper=250_000.0 * k + 1_750_000)
    region = Condition(2, categories=(k % 4,))
    income = Condition(3, lower=18_500.0 + 1_000 * k)
    return ((price,), (price, region), (price, region, income), (region,))[k % 4]


def counted(k):
    return {"n_rows": 1_200.0 + k, "coverage": 0.2, "share": 0.04, "error": 0.25}


def make_list(classes):
    rules = []
    for k in range(24):
        shares = np.full(len(classes), 0.2 / (len(classes) - 1))
        shares[k % len(classes)] = 0.8 - 0.01 * k
        shares = tuple((shares / shares.sum()).tolist())
        given = {"distribution": shares, "rates": shares, **counted(k)}
        label = classes[k % len(classes)]
        rules.append(Rule(make_conditions(k)[: 1 + k % 3], label, **given))
    default = Rule((), classes[0], **given)
    return RuleList(rules[:23], default, NAMES, "classification", classes, KNOWN)


def make_numbers():
    rules = [
        Rule(
            make_conditions(k),
            98_540.0 * (k + 1) ** 2,
            quantiles=(50_000.0 * (k + 1) ** 2, 145_000.0 * (k + 1) ** 2),
            **counted(k),
        )
        for k in range(24)
    ]
    # One outlier.
    default = Rule((), 4e9, **counted(0))
    return RuleList(rules[:23], default, NAMES, "regression", None, KNOWN)


def make_points(scale=1.0, classes=BINARY):
    rules = []
    for k in range(24):
        points = [scale * ((-1) ** k * 0.1 * (k + 1) + c) for c in range(len(classes))]
        given = counted(k)
        if scale == 1.0:
            rate = 0.3 + 0.02 * k
            others = (1 - rate) / (len(classes) - 1)
            given["rates"] = (rate, *[others] * (len(classes) - 1))
            given["distribution"] = given["rates"]
        label = classes[0] if scale == 1.0 else points[0]
        points = points[:1] if len(classes) == 2 else points
        rules.append(Rule(make_conditions(k), label, points=tuple(points), **given))
    rules[-1] = Rule((), rules[-1].prediction, points=rules[-1].points, **given)
    if scale == 1.0:
        return Scorecard(rules[:23], rules[-1], NAMES, "classification", classes, KNOWN)
    return Scorecard(rules[:23], rules[-1], NAMES, "regression", None, KNOWN)


def make_rows(rules):
    rng = np.random.default_rng(0)
    table = np.empty((200, 4), object)
    table[:, 0] = np.round(np.exp(rng.normal(14.5, 0.8, 200)))
    table[:, 1] = rng.integers(0, 12, 200)
    table[:, 2] = rng.choice(REGIONS, 200)
    table[:, 3] = np.round(np.exp(rng.normal(11, 0.5, 200)))
    table[::9, 3] = None
    if rules.outcome.labels:
        return table, rng.choice(rules.outcome.labels, 200)
    return table, np.exp(rng.normal(14.5, 0.8, 200))


SETS = {
    "list": lambda: make_list(BINARY),
    "classes": lambda: make_list(CLASSES),
    "numbers": make_numbers,
    "points": make_points,
    "points of classes": lambda: make_points(classes=CLASSES),
    "points of numbers": lambda: make_points(scale=1e6),
}
PICTURES = {
    "risks": lambda rules, X, y: plots.risks(rules),
    "calibration": plots.calibration,
}
OF_SOME = {
    "flow": (
        lambda rules, X, y: plots.flow(rules),
        ("list", "classes", "numbers"),
    ),
    "gains": (plots.gains, ("list", "points")),
    "scorecard": (
        lambda rules, X, y: plots.scorecard(rules),
        ("points", "points of classes", "points of numbers"),
    ),
    "score_risk": (plots.score_risk, ("points", "points of numbers")),
}
SOME = ("list", "numbers", "points of classes")
CASES = [
    pytest.param(kind, name, marks=() if kind in SOME else pytest.mark.slow)
    for name in PICTURES
    for kind in SETS
]
CASES += [(kind, name) for name, (_, kinds) in OF_SOME.items() for kind in kinds]


def drawn_texts(figure, monkeypatch):
    """The texts that a plain savefig draws, with their boxes in pixels."""
    found, draw = {}, Text.draw

    def record(self, renderer, *more, **settings):
        if self.get_visible() and self.get_text().strip():
            words = self.get_text().replace("\n", " ")
            # By text, as the layout may draw it before.
            found[id(self)] = words, self.get_window_extent(renderer)
        return draw(self, renderer, *more, **settings)

    with monkeypatch.context() as patched:
        patched.setattr(Text, "draw", record)
        figure.savefig(io.BytesIO(), dpi=figure.dpi)
    return list(found.values())


def check_room(figure, monkeypatch):
    found = drawn_texts(figure, monkeypatch)
    assert len(found) > 3
    whole = figure.bbox
    for words, box in found:
        assert whole.x0 - 1 <= box.x0 <= box.x1 <= whole.x1 + 1, words
        assert whole.y0 - 1 <= box.y0 <= box.y1 <= whole.y1 + 1, words
        assert "……" not in words
        assert "e+" not in words
        assert "1e" not in words
    for (one, a), (two, b) in itertools.combinations(found, 2):
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        up = min(a.y1, b.y1) - max(a.y0, b.y0)
        # Boxes have free room for letters with tails.
        assert across <= 1 or up <= 3, (one, two)


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_texts_are_inside_the_figure_and_not_on_one_another(kind, name, monkeypatch):
    rules = SETS[kind]()
    picture = PICTURES[name] if name in PICTURES else OF_SOME[name][0]
    ax = np.ravel(picture(rules, *make_rows(rules)))[0]
    check_room(ax.figure, monkeypatch)


def make_path(rules, error):
    fewer = dataclasses.replace(rules, rules=rules.rules[:1])
    points = [
        PathPoint(one, error / n, error / 9, 0.9, 1.0, 1.2)
        for n, one in enumerate((fewer, rules), start=1)
    ]
    return RulePath(tuple(points), 1, error / 3)


@pytest.mark.parametrize("error", [0.25, 4.8e12])
def test_curves_have_room(error, monkeypatch):
    rules = make_list(BINARY) if error < 1 else make_numbers()
    check_room(plots.trade_off(make_path(rules, error)).figure, monkeypatch)
    rows = [
        {
            "method": method,
            "budget": n,
            "n_rules": float(n),
            "error": error / n,
            "error_std": error / 20,
            "failure": None,
        }
        for method in ("defrag", "distilled", "a method of ours with a long name")
        for n in (3, 6, 9)
    ]
    compared = Comparison(tuple(rows), {}, error / 10, 2, rules.task)
    check_room(plots.comparison(compared).figure, monkeypatch)
