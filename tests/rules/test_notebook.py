"""What a notebook shows of results."""

import re

import pytest
import sklearn
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from defragtrees import (
    Comparison,
    Condition,
    Rule,
    RuleList,
    RulePath,
    Scorecard,
    diff,
)
from defragtrees._compare import PathPoint
from defragtrees.baselines import DistilledTreeClassifier

try:
    from IPython.core.formatters import DisplayFormatter
except ImportError:
    DisplayFormatter = None


def shown(result):
    """The forms of a result that a notebook gets, as IPython chooses them."""
    if DisplayFormatter is not None:
        return DisplayFormatter().format(result)[0]
    forms = {}
    if hasattr(result, "_repr_mimebundle_"):
        forms = dict(result._repr_mimebundle_(include=None, exclude=None))
    if "text/html" not in forms and hasattr(result, "_repr_html_"):
        html = result._repr_html_()
        forms |= {} if html is None else {"text/html": html}
    return forms


@pytest.fixture(scope="module")
def simple():
    X, y = load_iris(return_X_y=True, as_frame=True)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    return DistilledTreeClassifier(tree, max_rules=3, random_state=0).fit(X, y)


def warm():
    rule = Rule((Condition(0, lower=20.0),), 1.0)
    return RuleList((rule,), Rule((), 2.0), ("degrees",), "regression")


def test_a_fitted_estimator_shows_its_rules_and_an_unfitted_one_its_diagram(simple):
    assert shown(simple)["text/html"] == simple.rules_._repr_html_()
    with sklearn.config_context(display="text"):
        assert shown(simple)["text/html"] == simple.rules_._repr_html_()
        assert "text/html" not in shown(DistilledTreeClassifier())
    assert "sk-container" in shown(DistilledTreeClassifier())["text/html"]


def test_a_summary_is_shown_line_by_line(simple):
    summary = simple.summary()
    assert isinstance(summary, str)
    assert shown(summary)["text/html"].startswith("<pre>#  if  ")
    assert "\n1  petal length (cm) &lt;= 2.5  " in shown(summary)["text/html"]


def test_an_explanation_is_a_small_table():
    rules = warm()
    html = shown(rules.explain([21.0]))["text/html"]
    assert html.startswith("<p>Prediction: 1</p><table>")
    assert "degrees &gt; 20</td>" in html
    assert "<pre>" not in html


def test_a_summary_is_printed_line_by_line_at_a_prompt(simple):
    class Printer:
        def text(self, words):
            self.words = words

    printer = Printer()
    simple.summary()._repr_pretty_(printer, False)
    assert printer.words == simple.summary()


def test_a_path_is_a_table():
    path = RulePath((PathPoint(warm(), 0.5, 0.1, 0.9, 1.0, 1.2),), 0, 0.4)
    assert shown(path)["text/html"] == (
        "<table><caption>* chosen by error: the shortest within one standard error of "
        "the best; model: RMSE 0.632 (may be trained on these rows)</caption>"
        "<thead><tr><th>rules</th>"
        "<th>conditions</th><th>RMSE</th><th>fidelity</th><th>coverage</th></tr>"
        "</thead><tbody><tr><td>2 *</td><td>1</td><td>0.707 ± 0.071</td><td>0.900</td>"
        "<td>100.0%</td></tr></tbody></table>"
    )


def test_a_comparison_is_a_table():
    failed = {"method": "<a>", "budget": 3, "failure": "no <b>"}
    html = shown(Comparison((failed,), {}, 0.25, 1, "regression"))["text/html"]
    caption = "model: root mean squared error 0.5 (may be trained on these rows); "
    caption += "&lt;a&gt; (max 3) failed"
    assert f"<caption>{caption}" in html
    assert "<td>&lt;a&gt; (max 3)</td>" in html


def test_rules_that_nobody_measured_are_a_table_without_measures():
    assert "nan" not in shown(warm())["text/html"]


def test_a_check_and_a_difference_show_as_tables(simple):
    X, y = load_iris(return_X_y=True, as_frame=True)
    check = simple.rules_.check(X, y)
    for result in (check, diff(simple.rules_, simple.rules_.drop(1), X)):
        form = shown(result)["text/html"]
        assert form.startswith("<table>")
        assert "<thead><tr><th>" in form
    assert "No drift in" in shown(check)["text/html"]
    assert shown(simple.rules_)["text/html"].startswith("<table>")


def bars_of(html):
    """Left end and width of the parts of each bar, in per cent."""
    frames = html.split("position:relative")[1:]
    parts = r"left:([\d.]+)%;width:([\d.]+)%"
    return [
        [tuple(map(float, part)) for part in re.findall(parts, frame)]
        for frame in frames
    ]


def test_bars_have_the_length_of_rates_and_intervals():
    known = {"n_rows": 50, "share": 0.5}
    warm = Rule(
        (Condition(0, lower=20.0),), "go", (0.2, 0.8), rates=(0.2, 0.8), **known
    )
    cold = Rule((), "stay", (0.9, 0.1), rates=(0.9, 0.1), **known)
    rules = RuleList((warm,), cold, ("degrees",), "classification", ("stay", "go"))
    for (filled, line), rule in zip(
        bars_of(shown(rules)["text/html"]), rules, strict=True
    ):
        assert filled == (0.0, 100 * rule.distribution[1])
        low, high = rule.interval[1]
        assert line == pytest.approx((100 * low, 100 * (high - low)), abs=0.06)


def test_rare_rates_have_a_scale_of_their_own():
    rule = Rule((), "stay", (0.98, 0.02), rates=(0.98, 0.02), n_rows=900)
    rules = RuleList((), rule, ("degrees",), "classification", ("stay", "go"))
    [(filled, line)] = bars_of(shown(rules)["text/html"])
    assert 50 < filled[1] < 80
    assert sum(line) == pytest.approx(100.0, abs=0.1)


def test_points_below_zero_go_to_the_left():
    down = Rule((Condition(0, lower=20.0),), 0.0, points=(-1.0,))
    card = Scorecard((down,), Rule((), 3.0, points=(3.0,)), ("degrees",), "regression")
    # A bin without points has no bar.
    assert bars_of(shown(card)["text/html"])[:2] == [[], [(0.0, 100.0)]]
