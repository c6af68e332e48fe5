"""The small charts at conditions: every bar is what pandas counts in the same rows."""

import re
from html import unescape
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from defragtrees import DefragClassifier, datasets
from defragtrees._utils.formatting import distinct
from defragtrees.ensembles.forest import Forest
from defragtrees.report.condition_charts import (
    MOST_BINS,
    WIDTH,
    condition_charts,
    measure,
)
from defragtrees.report.summary import summarize
from defragtrees.rules import RuleList
from defragtrees.rules.conditions import Condition, Rule
from tests.report.cases import (
    GivenRegressor,
    loans,
    numbers,
    stump,
    weather,
    written,
)

EVIL = "<script>alert(1)</script>"


def effect_of(simple, X, y=None, condition=None, **options):
    """What is measured for a condition, as if it were of the first rule."""
    summary = summarize(simple, X, y, **options)
    rule = summary.rules.rules[0]
    return measure(summary, rule, condition or rule.conditions[0])


def one_condition(condition, column, y, categories=None, name="a"):
    """A rule of one condition, and rows."""
    classes = tuple(sorted(set(y)))
    rules = RuleList(
        (Rule((condition,), classes[1], (0.0, 1.0)),),
        Rule((), classes[0], (1.0, 0.0)),
        (name,),
        "classification",
        classes,
        (categories,),
    )
    return rules, pd.DataFrame({name: column}), np.array(list(y))


def svg_of(simple, X, y=None, **options):
    """The SVG of the first condition."""
    return condition_charts(summarize(simple, X, y, **options))[0][0]


def texts(svg):
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def labels(svg):
    """Texts of thresholds and of accepted categories."""
    return re.findall(r'<text class="cut-label"[^>]*>([^<]*)</text>', svg)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_bars_of_numbers_are_what_pandas_counts(is_weighted):
    simple, X, y = loans()
    weight = np.arange(len(X)) % 3 + 1.0 if is_weighted else np.ones(len(X))
    summary = summarize(simple, X, y, weight)
    table = pd.DataFrame({"x": X[X.columns[1]], "y": y == "unpaid", "weight": weight})
    table["wy"] = table["y"] * table["weight"]
    effect = measure(
        summary, summary.rules.rules[2], summary.rules.rules[2].conditions[0]
    )
    assert len(effect.bins) <= MOST_BINS
    n_rows = 0
    for one in effect.bins:
        low, *rest = map(float, one.label.split(" to "))
        inside = table[table["x"].between(low, rest[0] if rest else low)]
        assert one.n_rows == len(inside)
        assert one.weight == inside["weight"].sum()
        assert one.value == pytest.approx(inside["wy"].sum() / inside["weight"].sum())
        assert one.is_accepted == inside["x"].between(0.05, 0.3, "right").all()
        assert inside["x"].between(0.05, 0.3, "right").nunique() == 1
        n_rows += one.n_rows
    absent = table[table["x"].isna()]
    assert effect.missing.n_rows == len(absent) == len(table) - n_rows
    assert effect.missing.value == pytest.approx(
        absent["wy"].sum() / absent["weight"].sum()
    )
    assert not effect.missing.is_accepted
    assert [text for _, text in effect.cuts] == ["0.05", "0.3"]
    assert effect.ends == [f"{table['x'].min():g}", f"{table['x'].max():g}"]


def test_bars_of_categories_are_what_pandas_counts():
    simple, X, y = loans()
    summary = summarize(simple, X, y)
    rule = summary.rules.rules[1]
    effect = measure(summary, rule, rule.conditions[0])
    found = (y == "unpaid").groupby(X["city"], observed=False).agg(["size", "mean"])
    assert effect.bins[0].label == "Rome"
    assert [one.is_accepted for one in effect.bins] == [True, False, False]
    assert {
        one.label: (one.n_rows, pytest.approx(one.value)) for one in effect.bins
    } == {city: tuple(line) for city, line in found.iterrows()}
    assert effect.missing is None
    others = (y[X["city"] != "Rome"] == "unpaid").mean()
    means = [found.loc["Rome", "mean"], others, (y == "unpaid").mean()]
    assert effect.means == pytest.approx(means)
    words = [f"{mean:.0%}".replace("%", "%") for mean in means]
    assert (
        f'aria-label="Rate of unpaid by city: {words[0]} of the rows that match, '
        f'{words[1]} of the others, {words[2]} of all"'
    ) in condition_charts(summary)[1][0]


def test_means_of_numbers_are_what_pandas_counts():
    X, y = datasets.load_table("homes")
    X = X[["square feet"]]
    cut = float(X["square feet"].median())
    rules = RuleList(
        (Rule((Condition(0, lower=cut),), 1.0),), Rule((), 0.0), tuple(X), "regression"
    )
    forest = Forest((stump(0, cut, 0.0, 1.0),), tuple(X), "regression")
    effect = effect_of(GivenRegressor(forest, rules=rules).fit(X, y), X, y)
    for one in effect.bins:
        low, high = (float(end.replace(",", "")) for end in one.label.split(" to "))
        inside = y[X["square feet"].between(low, high)]
        assert (one.n_rows, one.value) == (len(inside), pytest.approx(inside.mean()))
    assert sum(one.n_rows for one in effect.bins) == len(X)
    assert effect.colour == "accent"


def test_bins_end_at_the_thresholds_and_have_about_as_many_rows():
    column = np.arange(1000.0)
    simple, X, y = one_condition(
        Condition(0, lower=99.0, upper=399.0), column, ["n", "y"] * 500
    )
    effect = effect_of(simple, X, y)
    counts = [one.n_rows for one in effect.bins]
    assert sum(counts[:1]) == 100
    assert [one.is_accepted for one in effect.bins] == [False, True, True] + [False] * 4
    assert counts[1:3] == [150, 150]
    assert counts[3:] == [150] * 4
    assert effect.cuts == [(1, "99"), (2, "399")]


def test_few_values_have_a_bar_each_and_the_end_of_a_whole_number_is_printed():
    column = [0.0] * 60 + [1.0] * 20 + [2.0] * 10 + [3.0] * 10
    condition = Condition(0, lower=1.0, is_integer=True)
    simple, X, y = one_condition(condition, column, ["n", "y"] * 50)
    effect = effect_of(simple, X, y)
    assert [one.label for one in effect.bins] == ["0", "1", "2", "3"]
    assert [one.is_accepted for one in effect.bins] == [False, False, True, True]
    # It is printed as "a >= 2".
    assert effect.cuts == [(1, "2")]


def test_one_number_is_labelled_below_its_bar():
    condition = Condition(0, lower=-1.0, upper=0.0, is_integer=True, missing=True)
    simple, X, y = one_condition(condition, [0.0, 0.0, 1.0, 2.0], ["n", "y"] * 2)
    effect = effect_of(simple, X, y)
    assert [(one.label, one.is_accepted) for one in effect.bins] == [
        ("0", True),
        ("1", False),
        ("2", False),
    ]
    assert effect.missing.value is None
    svg = svg_of(simple, X, y)
    assert labels(svg) == ["0"]
    assert "<title>missing: no rows</title>" in svg


def test_a_threshold_beyond_the_rows_leaves_an_empty_bin():
    simple, X, y = one_condition(Condition(0, lower=9.0), [1.0, 2.0, 3.0, 4.0], "nyny")
    effect = effect_of(simple, X, y)
    assert effect.bins[-1].n_rows == 0
    assert effect.bins[-1].value is None
    assert effect.bins[-1].is_accepted
    svg = svg_of(simple, X, y)
    assert "<title>no rows</title>" in svg
    assert 'class="axis empty"' in svg
    assert labels(svg) == ["9"]


def test_rare_categories_are_joined_and_missing_values_have_a_line():
    names = tuple(f"colour of the paint: {i:02d}" for i in range(20))
    column = [names[i % 20] for i in range(400)] + [None] * 8
    condition = Condition(0, categories=tuple(range(8)))
    simple, X, y = one_condition(condition, column, ["n", "y"] * 204, names)
    effect = effect_of(simple, X, y)
    assert [one.label for one in effect.bins][3] == "5 others"
    assert [one.label for one in effect.bins][7] == "9 others"
    assert [one.is_accepted for one in effect.bins] == [True] * 4 + [False] * 4
    assert sum(one.n_rows for one in effect.all_bins) == 408
    svg = svg_of(simple, X, y)
    height = float(re.search(rf'viewBox="0 0 {WIDTH} (\d+)"', svg)[1])
    assert height <= 102
    assert labels(svg)[0] == "…00"
    assert f"<title>{names[0]}: " in svg
    assert "<title>missing: 50% of 8 rows</title>" in svg


def test_the_accepted_bars_have_the_colour_of_the_class():
    simple, X, y = weather()
    svg = svg_of(simple, X, y)
    bars = re.findall(r'<rect fill="var\(--(\w+)\)"', svg)
    assert set(bars) == {"faint", "g1"}
    simple, X, y = numbers("list")
    bars = re.findall(r'<rect fill="var\(--(\w+)\)"', svg_of(simple, X, y))
    assert set(bars) == {"faint", "accent"}


def test_all_charts_of_a_page_have_one_scale():
    simple, X, y = loans()
    charts = [svg for some in condition_charts(summarize(simple, X, y)) for svg in some]
    upright = [svg for svg in charts if 'class="cut"' in svg]
    assert len(upright) == 3
    ends = ("100%", "0%")
    assert {tuple(texts(svg)[:2]) for svg in upright} == {ends}


def test_labels_do_not_overlap():
    close = Condition(0, lower=1_234_567.0, upper=1_234_568.0)
    column = np.linspace(0, 2_000_000, 200)
    simple, X, y = one_condition(close, [*column, np.nan], ["n", "y"] * 100 + ["n"])
    svg = svg_of(simple, X, y)
    drawn = re.findall(
        r'<text[^>]* x="([\d.]+)" y="([\d.]+)" text-anchor="middle">([^<]*)', svg
    )
    lines = {}
    for x, y_place, text in drawn:
        lines.setdefault(y_place, []).append((float(x), 6.1 * len(text)))
    assert [text for *_, text in drawn] == [
        "1,234,567",
        "1,234,568",
        "0",
        "2,000,000",
        "missing",
    ]
    for line in lines.values():
        line.sort()
        for (x, width), (next_x, next_width) in pairwise(line):
            assert x + width / 2 <= next_x - next_width / 2 + 1
        assert line[0][0] - line[0][1] / 2 >= -2
        assert line[-1][0] + line[-1][1] / 2 <= WIDTH + 2


def test_names_keep_the_part_in_which_they_differ():
    names = ["savings account: under 100", "savings account: above 100", "none"]
    assert distinct(names, 14) == ["…under 100", "…above 100", "none"]
    assert distinct(["a very long name of a category"], 7) == ["a v…ory"]


def test_a_name_in_a_chart_stays_text():
    column, y = [EVIL, "b"] * 5, ["n", "y"] * 5
    condition = Condition(0, categories=(0,))
    simple, X, y = one_condition(condition, column, y, (EVIL, "b"), EVIL)
    svg = svg_of(simple, X, y)
    assert "<script" not in svg
    assert EVIL in unescape(svg)
    page = " ".join(written("rules", summarize(simple, X, y)))
    assert "the share of “y” by value" in page
    assert EVIL not in page


def test_without_y_the_model_is_shown():
    simple, X, _ = loans()
    effect = effect_of(simple, X)
    predicted = pd.Series(simple.forest_.predict(X)) == "unpaid"
    inside = X["late"].between(*map(float, effect.bins[-1].label.split(" to ")))
    assert effect.bins[-1].value == pytest.approx(predicted[inside].mean())


def test_rare_rates_have_decimals_and_a_scale_of_their_own():
    y = ["n"] * 195 + ["y"] * 5
    simple, X, y = one_condition(Condition(0, lower=99.0), np.arange(200.0), y)
    svg = svg_of(simple, X, y)
    assert texts(svg)[0] == "20%"
    simple, X, y = one_condition(
        Condition(0, lower=999.0), np.arange(2000.0) % 1500, ["y"] * 10 + ["n"] * 1990
    )
    svg = svg_of(simple, X, y)
    assert texts(svg)[0] == "3.5%"
    assert ": 0% of the rows that match, 0.7%" in svg
    assert "0.5% of all" in svg


@pytest.mark.parametrize(
    ("y", "ends"),
    [
        ([-4.0, 8.0, -4.0, 8.0], ["8", "\N{MINUS SIGN}4"]),
        ([0.0] * 4, ["1", "0"]),
        ([-7.0] * 4, ["0", "\N{MINUS SIGN}7"]),
        ([1990.0, 1998.0, 1991.0, 1999.0], ["2000", "1990"]),
    ],
)
def test_any_numbers_have_a_scale(y, ends):
    simple, X, _ = numbers("list")
    svg = svg_of(simple, X, np.array(y))
    assert texts(svg)[:2] == ends


@pytest.mark.parametrize(
    ("condition", "column"),
    [
        (Condition(0, upper=5.0), [5.0] * 8),
        (Condition(0, upper=5.0), [np.nan] * 8),
        (Condition(0, lower=np.inf, upper=np.inf, missing=True), [1.0, np.nan] * 4),
        (Condition(0, lower=np.inf, upper=np.inf, missing=True), [np.nan] * 8),
        (Condition(0, lower=2.0, upper=3.0), [1.0, 9.0] * 4),
        (Condition(0, lower=-1e300, upper=1e-300), [-1e308, 1e308] * 4),
    ],
)
def test_any_numbers_are_drawn(condition, column):
    simple, X, y = one_condition(condition, column, ["n", "y"] * 4)
    effect = effect_of(simple, X, y)
    assert sum(one.n_rows for one in effect.all_bins) == 8
    assert "nan" not in svg_of(simple, X, y)
    # A row without weight counts as none.
    svg_of(simple, X, y, sample_weight=[1.0] + [0.0] * 7)


def test_unseen_and_long_categories_are_drawn():
    names = tuple(f"{'long ' * 30}{i}" for i in range(3))
    condition = Condition(0, categories=(0, 3))
    simple, X, y = one_condition(condition, [*names, "new"], "nyny", names)
    effect = effect_of(simple, X, y)
    assert [(one.label[-5:], one.is_accepted) for one in effect.bins] == [
        ("ong 0", True),
        ("alues", True),
        ("ong 1", False),
        ("ong 2", False),
    ]
    assert labels(svg_of(simple, X, y))[:2] == ["…0", "0%"]


def test_thresholds_that_are_dates_are_written_as_dates():
    days = pd.date_range("2024-01-01", periods=200)
    X = pd.DataFrame({"day": days, "b": np.arange(200) % 3.0})
    y = np.where(days >= "2024-04-01", "late", "early")
    svg = svg_of(DefragClassifier(max_rules=2, random_state=0).fit(X, y), X, y)
    assert labels(svg) == ["2024-04-01"]
    assert {"2024-01-01", "2024-07-18"} <= set(texts(svg))
