"""Editor, threshold and explanations in Chromium: the page and Python agree."""

import dataclasses
import json
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import precision_score, recall_score

import defragtrees
from defragtrees import load
from defragtrees._utils import formatting as render
from defragtrees._utils.formatting import count, true_minus
from defragtrees.ensembles.forest import Forest
from defragtrees.outcomes.intervals import wilson_interval
from defragtrees.report.page import write_report
from defragtrees.report.sections import for_all as page_data
from defragtrees.report.sections.for_all import draw_sample
from defragtrees.report.summary import summarize
from defragtrees.report.text import (
    amount,
    fidelity_text,
    rate_text,
    shown_error_text,
)
from defragtrees.rules import RuleList, Scorecard
from defragtrees.rules.conditions import Condition, Rule
from defragtrees.rules.model import column_words
from defragtrees.rules.models import MODELS as RULE_MODELS
from defragtrees.rules.parsing import read_condition
from tests.export import cases as export_cases
from tests.report.cases import (
    CHROMIUM,
    EVIL,
    PATIENCE,
    GivenClassifier,
    GivenRegressor,
    launch,
    loans,
    named,
    numbers,
    stump,
    weather,
)

playwright = pytest.importorskip("playwright.sync_api")
pytest.importorskip("jinja2")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium was found; install it to test the page"
)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as running:
        launched = launch(running)
        yield launched
        launched.close()


class Editor:
    """The editor of one page, by mouse and keyboard."""

    def __init__(self, browser, path):
        self.context = browser.new_context(viewport={"width": 1280, "height": 900})
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.complaints, self.requests = [], []
        for event in ("console", "pageerror", "dialog"):
            self.page.on(event, lambda message: self.complaints.append(str(message)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready=yes]")
        self.page.click("text=Start editing")

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.context.close()

    def control(self, key):
        return self.page.locator(f'#editor [data-key="{key}"]')

    def click(self, key):
        self.control(key).click()

    def type(self, key, value):
        """A number typed by keyboard alone, in place of what stands there."""
        self.control(key).focus()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.press("Delete")
        self.page.keyboard.type(str(value))
        self.page.keyboard.press("Enter")

    def figure(self, name, which="now"):
        return self.page.inner_text(f'#editor [data-figure="{name}"] .{which}')

    def proofs(self):
        return self.page.locator(".edit-proof").all_inner_texts()

    def changes(self):
        return self.page.locator(".edit-log li").all_inner_texts()

    def spoken(self):
        return self.page.inner_text("#editor .edit-status")

    def focused(self):
        return self.page.evaluate("document.activeElement.dataset.key")

    def save(self, folder):
        with self.page.expect_download() as download:
            self.click("save")
        path = folder / download.value.suggested_filename
        download.value.save_as(path)
        return path


def with_signs(text):
    """A text of the library with the signs of the page."""
    return true_minus(text.replace("<=", "≤").replace(">=", "≥"))


def made_report(folder, simple, X, y, **options):
    """A report, and the rows of its page."""
    path = write_report(folder / "page.html", simple, X, y, **options)
    return path, draw_sample(summarize(simple, X, y))


OFTEN = ("list", "points")
FORMS = ("list", "standalone", "points", "scaled", "average", "first class")
# Two classes in every form; numbers and more classes where they are told differently.
RANDOM = [
    pytest.param(
        form, n, marks=pytest.mark.slow if n != 2 and form not in OFTEN else ()
    )
    for form in RULE_MODELS
    for n in (0, 2, 3)
]


def of_form(name):
    """Rules of a form counted on their rows; points on a scale are without a model."""
    forms = {"scaled": "points", "first class": "points"}
    simple, X, y = loans(forms.get(name, name))
    rules = simple.rules_.refit(X, y)
    if name == "scaled":
        return rules.scaled(20, points=600, odds=50), X, y
    if name == "first class":
        rules = dataclasses.replace(rules, pos_label="paid")
    simple.rules_ = rules
    return simple, X, y


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    """A list for two classes in an editor, and the rows of its page."""
    simple, X, y = loans()
    path, sample = made_report(tmp_path_factory.mktemp("edit"), simple, X, y)
    with Editor(browser, path) as editor:
        yield editor, simple.rules_, sample, path


@pytest.fixture
def credit(opened):
    """The same without changes, in whatever order tests run."""
    editor = opened[0]
    if editor.control("restart").is_enabled():
        editor.click("restart")
    return opened


def expected_figures(rules, sample):
    """Measures of rules on the rows of a page, computed in Python, as texts."""
    outcome = rules.outcome
    predicted = rules._form.predict(rules._covers(sample.matrix))
    error = outcome.error(sample.expected, predicted, sample.weight)
    model = sample.model_predictions
    figures = {
        "error": shown_error_text(outcome.shown_error(error), outcome),
        "nRules": count(rules.n_rules),
        "nConditions": count(rules.n_conditions),
    }
    if not outcome.n_classes:
        apart = np.abs(predicted - sample.expected)
        fidelity = outcome.fidelity(model, predicted, sample.weight)
        figures["fidelity"] = f"R² {fidelity_text(fidelity)}"
        figures["mae"] = amount(apart.mean())
        figures["r2"] = fidelity_text(outcome.fidelity(sample.expected, predicted))
        return figures
    if model is not None:
        figures["fidelity"] = rate_text((model == predicted).mean())
    if outcome.n_classes == 2:
        both = sample.expected, predicted
        options = {"pos_label": outcome.positive_class, "zero_division": math.nan}
        precision = precision_score(*both, **options)
        figures["precision"] = (
            "–" if math.isnan(precision) else render.percent(precision)
        )
        figures["recall"] = render.percent(recall_score(*both, **options))
        figures["flagged"] = count((predicted == outcome.positive_class).sum())
    return figures


def expected_proofs(rules, sample):
    """Of each rule of a list for two classes, its evidence on the rows of a page."""
    predicted, texts = rules._form.predict(rules._covers(sample.matrix)), []
    for members in rules._form.members(rules._covers(sample.matrix)).T:
        n = int(members.sum())
        if not n:
            texts.append("none of these rows")
            continue
        rate = (sample.expected[members] == rules.classes[1]).mean()
        interval = wilson_interval(rate, n)
        rate = render.percent(rate, render.percent_digits(*interval))
        right = (predicted == sample.expected)[members].mean()
        agrees = (predicted == sample.model_predictions)[members].mean()
        texts.append(
            f"{render.percent(n / len(members))} of rows ({count(n)}); rate of "
            f"{rules.classes[1]} {rate} ({render.percent_range(*interval)}); "
            f"{render.percent(right)} right; "
            f"the model agrees on {render.percent(agrees)}"
        )
    return texts


def assert_same(editor, rules, sample):
    figures = expected_figures(rules, sample)
    assert {name: editor.figure(name) for name in figures} == figures
    assert editor.page.locator("#editor [data-figure]").count() == len(figures)


def test_three_edits_by_keyboard_are_those_of_python(credit, tmp_path):
    editor, rules, sample, path = credit
    assert_same(editor, rules, sample)
    assert editor.proofs() == expected_proofs(rules, sample)
    # A cut is typed, a prediction chosen by an arrow key, and a rule dropped by Enter.
    editor.type("0/1/>/number", 0.35)
    rules = rules.replace(1, f"{EVIL} > 0.35 or missing", condition=2)
    assert_same(editor, rules, sample)
    assert editor.proofs() == expected_proofs(rules, sample)
    assert editor.focused() == "0/1/>/number"

    editor.control("1/prediction").focus()
    editor.page.keyboard.press("ArrowUp")
    rules = rules.set_prediction(2, "paid")
    assert_same(editor, rules, sample)
    assert "Rule 2 predicts paid, not unpaid: if city is Rome." in editor.spoken()
    assert editor.focused() == "1/prediction"

    editor.control("2/drop").focus()
    editor.page.keyboard.press("Enter")
    rules = rules.drop(3)
    assert_same(editor, rules, sample)
    assert editor.proofs() == expected_proofs(rules, sample)
    assert editor.focused() == "undo"

    saved = defragtrees.load(editor.save(tmp_path))
    assert saved == rules
    assert [edit.text for edit in saved.edits] == [edit.text for edit in rules.edits]
    predicted = saved._form.predict(saved._covers(sample.matrix))
    assert (predicted == rules._form.predict(rules._covers(sample.matrix))).all()
    assert "Edited after the fit:" in str(saved)
    assert len(editor.changes()) == 3
    assert editor.complaints == []
    assert [url for url in editor.requests if not url.startswith("blob:")] == [
        path.as_uri()
    ]


def test_edits_by_mouse_are_those_of_python(credit, tmp_path):
    editor, rules, sample, _ = credit
    before = rules
    editor.click("1/up")
    rules = rules.move(2, 1)
    assert_same(editor, rules, sample)
    editor.click("1/0/remove")
    rules = rules.drop(2, 1)
    assert_same(editor, rules, sample)
    slider = editor.control("2/0/<=/slider")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    editor.page.mouse.click(box["x"] + 0.7 * box["width"], box["y"] + 5)
    cut = editor.control("2/0/<=/number").input_value()
    assert float(cut) != 0.3
    rules = rules.replace(3, f"0.05 < {EVIL} <= {cut}")
    assert_same(editor, rules, sample)
    # The last category but one is ticked, and counts at once.
    editor.control("0/0/category/2").check()
    rules = rules.replace(1, "city is Rome or Oslo")
    assert_same(editor, rules, sample)
    assert editor.proofs() == expected_proofs(rules, sample)
    assert defragtrees.load(editor.save(tmp_path)) == rules
    for _ in range(4):
        editor.click("undo")
    assert_same(editor, before, sample)
    assert editor.changes() == ["none yet"]
    assert editor.control("undo").is_disabled()
    assert editor.complaints == []


def test_a_cut_that_moves_twice_is_one_change_and_back_is_none(credit):
    editor, rules, sample, _ = credit
    editor.control("0/0/>=/slider").focus()
    for _ in range(3):
        editor.page.keyboard.press("ArrowRight")
    assert editor.control("0/0/>=/number").input_value() == "5"
    assert_same(editor, rules.replace(1, "late >= 5", condition="late"), sample)
    [change] = editor.changes()
    assert change.endswith(f"became late ≥ 5 and ({EVIL} > 0.5 or missing)")
    editor.type("0/0/>=/number", 2)
    assert editor.changes() == ["none yet"]
    assert "No change" in editor.spoken()
    assert_same(editor, rules, sample)


def test_a_bad_threshold_is_rejected_with_a_message(credit):
    editor, rules, sample, _ = credit
    for wrong in ("", "0.01"):
        editor.type("2/0/<=/number", wrong)
        assert (
            "The threshold must be a number that leaves a non-empty interval"
            in editor.spoken()
        )
        assert editor.control("2/0/<=/number").input_value() == "0.3"
    assert editor.control("1/0/remove").is_disabled()
    assert_same(editor, rules, sample)


def test_a_moving_slider_is_measured_before_it_is_let_go(credit):
    editor, rules, sample, _ = credit
    slider = editor.control("0/1/>/slider")
    slider.evaluate("(one) => { one.value = 0; one.dispatchEvent(new Event('input')) }")
    least = np.nanmin(sample.matrix[:, 1])
    tried = rules.replace(1, f"{EVIL} > {least:g} or missing", condition=2)
    assert_same(editor, tried, sample)
    assert editor.changes() == ["none yet"]
    slider.evaluate("(one) => one.dispatchEvent(new Event('change'))")
    assert len(editor.changes()) == 1


def test_every_control_has_a_name_and_names_stay_text(credit):
    editor = credit[0]
    unnamed = editor.page.evaluate(
        """() => [...document.querySelectorAll(
          "#editor button, #editor input, #editor select")]
          .filter((one) => !(one.ariaLabel || one.textContent.trim()
            || one.closest("label"))).length"""
    )
    assert unnamed == 0
    assert editor.page.locator("#editor script").count() == 0
    assert EVIL in editor.page.inner_text("#editor")
    assert editor.page.get_attribute("#editor .edit-status", "aria-live") == "polite"
    assert editor.complaints == []


@pytest.mark.parametrize("form", ["points", "standalone"])
def test_other_forms_change_what_makes_sense(browser, tmp_path, form):
    simple, X, y = loans(form)
    path, sample = made_report(tmp_path, simple, X, y)
    rules = simple.rules_
    with Editor(browser, path) as editor:
        assert_same(editor, rules, sample)
        assert editor.control("0/up").count() == 0
        assert editor.page.locator("#editor select").count() == 0
        if form == "points":
            editor.type("0/prediction/0", 2.5)
            rules = rules.set_prediction(1, 2.5)
            assert_same(editor, rules, sample)
        editor.click("1/drop")
        rules = rules.drop(2)
        assert_same(editor, rules, sample)
        editor.type("0/0/>=/number", 1)
        rules = rules.replace(1, "late >= 1", condition=1)
        assert_same(editor, rules, sample)
        assert defragtrees.load(editor.save(tmp_path)) == rules
        assert editor.complaints == []


def test_numbers_are_measured_in_their_units(browser, tmp_path):
    simple, X, _ = numbers("list")
    rng = np.random.default_rng(0)
    X = np.repeat(X, 50, axis=0) + rng.normal(size=(200, 2)).round(2)
    y = 40_000 * X[:, 0] + rng.normal(scale=5_000, size=200)
    path, sample = made_report(tmp_path, simple, X, y, target_name="price")
    rules = simple.rules_
    with Editor(browser, path) as editor:
        assert_same(editor, rules, sample)
        editor.type("1/prediction", 12345.5)
        rules = rules.set_prediction(2, 12345.5)
        assert_same(editor, rules, sample)
        editor.click("0/down")
        rules = rules.move(1, 2)
        assert_same(editor, rules, sample)
        assert defragtrees.load(editor.save(tmp_path)) == rules
        words = editor.page.inner_text('#editor [data-figure="error"]')
        assert words.startswith("root mean squared error\n")


def test_averaged_rules_can_lose_a_rule(browser, tmp_path):
    simple, X, y = numbers("average")
    path, sample = made_report(tmp_path, simple, X, y)
    with Editor(browser, path) as editor:
        editor.click("1/drop")
        assert_same(editor, simple.rules_.drop(2), sample)
        assert editor.complaints == []


def test_whole_points_stay_whole(browser, tmp_path):
    rules, X, y = of_form("scaled")
    rules.save(tmp_path / "card.json")
    path, sample = made_report(tmp_path, load(tmp_path / "card.json"), X, y)
    with Editor(browser, path) as editor:
        assert "the model" not in editor.page.inner_text("#editor")
        field = editor.control("0/prediction/0")
        old = field.input_value()
        assert field.get_attribute("step") == "1"
        editor.type("0/prediction/0", 1.8)
        assert "whole points" in editor.spoken()
        assert field.input_value() == old
        editor.type("0/prediction/0", 18)
        assert_same(editor, rules.set_prediction(1, 18), sample)


def test_categories_are_shown_as_they_are_and_many_are_searched(browser, tmp_path):
    few = (">=200", "<0", "no, or yes")
    many = (*(f"town {k}" for k in range(60)), "x" * 300)
    rules = RuleList(
        (
            Rule((Condition(0, categories=(0,)),), "b", (0.2, 0.8)),
            Rule((Condition(1, categories=(3, 60)),), "b", (0.3, 0.7)),
        ),
        Rule((), "a", (0.9, 0.1)),
        ("amount", "town", "age"),
        "classification",
        ("a", "b"),
        (few, many, None),
    )
    forest = Forest(
        (stump(2, 50.0, [0.1, 0.9], [0.9, 0.1]),), rules.feature_names, rules.task,
        rules.classes, "mean", categories=rules.categories,
    )  # fmt: skip
    rows = np.arange(120)
    X = pd.DataFrame(
        {
            "amount": pd.Categorical.from_codes(rows % 3, few),
            "town": pd.Categorical.from_codes(rows % 61, many),
            "age": rows,
        }
    )
    y = np.array(["a", "b"])[rows % 2]
    simple = GivenClassifier(forest, rules=rules).fit(X, y)
    path, sample = made_report(tmp_path, simple, X, y)
    with Editor(browser, path) as editor:
        first, second = editor.page.locator("#editor fieldset").all()
        assert first.locator("label").all_inner_texts() == list(few)
        assert first.locator("legend").text_content() == "Rule 1, amount is"
        assert "amount is >=200" in editor.page.inner_text('[data-rule="1"]')
        assert second.locator("label").count() == 50
        assert "x" * 201 not in editor.page.inner_text("#editor")
        assert "and 11 more" in second.inner_text()
        editor.control("1/0/category/more").fill("town 59")
        editor.page.keyboard.press("Enter")
        changed = simple.rules_.replace(2, f"town is town 3, town 59 or {many[-1]}")
        assert_same(editor, changed, sample)
        assert defragtrees.load(editor.save(tmp_path)) == changed
        editor.control("0/0/category/2").check()
        changed = changed.replace(1, "amount is >=200 or 'no, or yes'")
        assert defragtrees.load(editor.save(tmp_path)) == changed
        assert editor.complaints == []


# The threshold


def decided(page):
    """Threshold and figures that the page shows above it."""
    names = ("flagged", "precision", "recall", "error", "cost")
    every = [page.locator(f'#editor [data-figure="{name}"] .now') for name in names]
    figures = [one.inner_text() for one in every if one.count()]
    return page.input_value('[data-key="threshold/number"]'), figures


def expected_decision(rules, sample, costs=None):
    positive = rules.outcome.positive_class
    predicted = rules._form.predict(rules._covers(sample.matrix))
    both = sample.expected, predicted
    options = {"pos_label": positive, "zero_division": math.nan}
    precision = precision_score(*both, **options)
    codes = [rules.outcome.encode(values) for values in both]
    return [
        count((predicted == positive).sum()),
        "–" if math.isnan(precision) else render.percent(precision),
        render.percent(recall_score(*both, **options)),
        f"{100 * (predicted != sample.expected).mean():.1f}%",
        *(
            []
            if costs is None
            else [amount(np.array(costs)[codes[0], codes[1]].mean())]
        ),
    ]


SLIDE = """(one, [value, event]) => { one.value = value;
  one.dispatchEvent(new Event(event)) }"""


@pytest.mark.parametrize("form", FORMS)
def test_a_threshold_and_edits_travel_in_one_file(browser, tmp_path, form):
    simple, X, y = of_form(form)
    path, sample = made_report(tmp_path, simple, X, y)
    rules = getattr(simple, "rules_", simple)
    with Editor(browser, path) as editor:
        page, slider = editor.page, editor.page.locator('[data-key="threshold/slider"]')
        assert decided(page)[1] == expected_decision(rules, sample)
        likely = rules.predict_proba(X)[:, rules.outcome.positive_index]
        last = int(slider.get_attribute("max"))
        # One step for each probability of these rows, and one above all.
        assert last == len(np.unique(likely.round(9)))
        shown = []
        for place in range(last + 1):
            slider.evaluate(SLIDE, [place, "input"])
            least, figures = decided(page)
            changed = rules.with_threshold(float(least))
            assert figures == expected_decision(changed, sample)
            shown.append(figures[0])
        assert len(set(shown)) == last + 1
        assert shown[-1] == "0"
        assert editor.changes() == ["none yet"]
        slider.evaluate(SLIDE, [last // 2, "change"])
        least = float(decided(page)[0])
        rules = rules.with_threshold(least)
        assert_same(editor, rules, sample)
        assert editor.changes() == [with_signs(rules.edits[-1].text)]
        editor.click("1/drop")
        rules = rules.drop(2)
        assert_same(editor, rules, sample)
        assert decided(page)[1] == expected_decision(rules, sample)
        saved = load(editor.save(tmp_path))
        assert saved == rules
        assert (saved.predict(X) == rules.predict(X)).all()
        assert [edit.text for edit in saved.edits] == [e.text for e in rules.edits]
        # A prediction set by hand overrides the threshold.
        assert editor.control("0/prediction").count() == (form == "list")
        # Undone, both go.
        for _ in range(2):
            editor.click("undo")
        assert editor.changes() == ["none yet"]
        assert editor.complaints == []


def test_the_cheapest_threshold_is_found(browser, tmp_path):
    simple, X, y = of_form("average")
    path, sample = made_report(tmp_path, simple, X, y)
    rules = simple.rules_
    with Editor(browser, path) as editor:
        page = editor.page
        page.fill('[data-key="cost/missed"]', "4")
        page.keyboard.press("Enter")
        costs = ((0.0, 1.0), (4.0, 0.0))
        assert decided(page)[1] == expected_decision(rules, sample, costs)
        page.click('[data-key="cheapest"]')
        least, figures = decided(page)
        assert figures == expected_decision(
            rules.with_threshold(float(least)), sample, costs
        )
        every = rules.predict_proba(X)[:, 1]
        cheapest = min(
            np.where(every >= t, 1.0 * (y == "paid"), 4.0 * (y == "unpaid")).mean()
            for t in [*every, 2.0]
        )
        assert figures[-1] == amount(cheapest)
        # A number that is no probability is rejected.
        for wrong in ("1.5", "15"):
            page.fill('[data-key="threshold/number"]', wrong)
            page.keyboard.press("Enter")
            assert editor.spoken() == (
                "A threshold must be above 0 and below 1 (0.15 is 15%); "
                f"it stays {least}."
            )
            assert decided(page) == (least, figures)


def test_a_threshold_replaces_the_costs_of_the_rules(browser, tmp_path):
    rules, X, y = loans()[0].rules_, *loans()[1:]
    costs = ((0.0, 1.0), (5.0, 0.0))
    every = [
        dataclasses.replace(rule, prediction="unpaid")
        if rule.distribution[1] > 1 / 6
        else rule
        for rule in rules
    ]
    rules = dataclasses.replace(
        rules, rules=tuple(every[:-1]), default=every[-1], costs=costs
    )
    path, sample = made_report(tmp_path, rules, X, y)
    with Editor(browser, path) as editor:
        page = editor.page
        note = page.locator("#rules .note[hidden]")
        assert note.count() == 1
        fields = page.locator("#decider .costs input").all()
        assert [field.input_value() for field in fields] == ["5", "1"]
        least, figures = decided(page)
        assert least == "0.167"
        assert figures == expected_decision(rules, sample, costs)
        sentence = page.inner_text(".decided")
        both = [(sample.expected == "unpaid").sum(), int(figures[0].replace(",", ""))]
        flagged = rules._form.predict(rules._covers(sample.matrix)) == "unpaid"
        right = (flagged & (sample.expected == "unpaid")).sum()
        assert sentence == (
            f"Of {both[1]} flagged rows, {right} are unpaid and {both[1] - right} are "
            f"not. Of the other {600 - both[1]} rows, {both[0] - right} are unpaid."
        )
        page.fill('[data-key="threshold/number"]', "0.6")
        page.keyboard.press("Enter")
        assert note.count() == 0
        saved = load(editor.save(tmp_path))
        assert saved == rules.with_threshold(0.6)
        assert saved.costs is None
        assert decided(page)[1] == expected_decision(saved, sample, costs)


def test_without_y_only_flagged_rows_are_counted(browser, tmp_path):
    simple, X, _ = loans()
    path = write_report(tmp_path / "page.html", simple, X)
    with Editor(browser, path) as editor:
        figures = editor.page.locator("#editor [data-figure]").all()
        names = [figure.get_attribute("data-figure") for figure in figures]
        assert names == ["error", "flagged", "nRules", "nConditions"]
        assert editor.page.locator('[data-key="cheapest"]').count() == 0
        assert editor.page.locator('[data-key="wrong"]').count() == 0
        flagged = (simple.predict(X) == "unpaid").sum()
        assert figures[1].locator(".now").inner_text() == count(flagged)
        assert editor.complaints == []


def test_there_is_no_threshold_without_two_classes(tmp_path):
    simple, X, y = numbers("list")
    page = write_report(tmp_path / "page.html", simple, X, y).read_text("utf-8")
    assert 'id="decider"' not in page
    assert 'id="explainer"' in page


# Why this row?


def expected_answer(rules, row):
    """Head and cells of `rules.explain`, with the signs of the page."""
    [found] = rules._view.explanations(row[None])
    head = f"Prediction: {predicted_text(rules, found.prediction)}"
    head = "; ".join(filter(None, [head, rules._view.basis(found)]))
    header, lines = rules._view.explanation_cells(row, found)
    return [with_signs(head), header, *([*map(with_signs, line)] for line in lines)]


def predicted_text(rules, prediction):
    digits = 9 if rules._form.is_sum else None
    return rules.outcome.view.prediction(prediction, digits)


def answered(page):
    rows = page.locator("#explainer tr").all()
    cells = [row.locator("th, td").all_inner_texts() for row in rows]
    return [page.inner_text(".why-head"), *cells]


def assert_smallest_changes(page, rules, row, sample):
    """Every change listed is true, and no value of the sample needs a smaller one."""
    texts = page.locator(".why-changes li").all_inner_texts()
    [now] = rules._form.predict(rules._covers(row[None])).tolist()
    listed = {}
    for text in texts:
        words, rest = plain(text).split(" instead of ")
        condition = read_condition(words, column_words(rules))
        assert column_words(rules).text(condition) == words
        values = [value for _, value in condition.sides]
        assert not condition.is_integer or all(map(float.is_integer, values))
        listed[condition.feature] = condition, rest.split(": ")[1]
    assert len(listed) == len(texts) <= 3
    sizes = []
    for j in range(len(row)):
        values = np.unique(sample.matrix[:, j])
        changed = np.tile(row, (len(values), 1))
        changed[:, j] = values
        predicted = np.array(rules._form.predict(rules._covers(changed)).tolist())
        column = sample.matrix[:, j]

        def size(value, j=j, column=column):
            if np.isnan(value) or np.isnan(row[j]):
                return 1.0
            if rules.categories[j] is not None:
                return 1 - np.mean(column == value)
            low, high = sorted((value, row[j]))
            return np.mean((column > low) & (column < high))

        others = [(size(v), v) for v in values[predicted != now]]
        if j not in listed:
            assert not others or len(listed) == 3
            continue
        condition, text = listed[j]
        inside = condition.covers(values)
        assert inside.any()
        shown = {predicted_text(rules, value) for value in predicted[inside].tolist()}
        assert len(shown) == 1
        assert text.startswith(*shown)
        least = min(size(v) for v in values[inside])
        assert least <= min(others)[0] + 1e-9
        sizes.append((least, j))
    order = [j for _, j in sorted(sizes, key=lambda pair: pair[0])]
    assert [*listed] == order
    if not texts:
        held = rules._covers(sample.matrix)
        is_same = (rules._form.predict(held) == now).all()
        same = "These rules have the same prediction for every row here."
        words = same if is_same else "Changing one value is not enough."
        assert words in page.inner_text("#explainer")


@pytest.mark.parametrize("form", FORMS)
def test_a_row_is_explained_as_in_python(browser, tmp_path, form):
    simple, X, y = of_form(form)
    path, sample = made_report(tmp_path, simple, X, y)
    rules = getattr(simple, "rules_", simple)
    with Editor(browser, path) as editor:
        page = editor.page
        missing = int(np.flatnonzero(np.isnan(sample.matrix[:, 1]))[0])
        for i in (0, 1, 2, 3, 4, 5, missing):
            page.fill('[data-key="row"]', str(i + 1))
            page.keyboard.press("Enter")
            row = sample.matrix[i]
            assert answered(page) == expected_answer(rules, row)
            assert_smallest_changes(page, rules, row, sample)
        # Typed values, of the edited rules.
        editor.click("2/drop")
        editor.type("0/0/>=/number", 1)
        rules = rules.drop(3).replace(1, "late >= 1", condition=1)
        rules = rules.with_threshold(0.6)
        page.fill('[data-key="threshold/number"]', "0.6")
        page.keyboard.press("Enter")
        for typed in ((1, 0.7, 0), (0, 0.2, 1), (3, None, 3), (0, None, None)):
            for j, key in enumerate(("value/0", "value/1")):
                page.fill(
                    f'[data-key="{key}"]', "" if typed[j] is None else str(typed[j])
                )
                page.keyboard.press("Enter")
            city = "-1" if typed[2] is None else str(typed[2])
            page.select_option('[data-key="value/2"]', city)
            row = np.array(typed, dtype=np.float64)
            assert answered(page) == expected_answer(rules, row)
            assert_smallest_changes(page, rules, row, sample)
        page.click('[data-key="wrong"]')
        i = int(page.input_value('[data-key="row"]')) - 1
        assert (
            rules._form.predict(rules._covers(sample.matrix[[i]])) != sample.expected[i]
        )
        assert editor.complaints == []


@pytest.mark.parametrize("form", ["list", "average", "points"])
def test_a_number_is_explained_as_in_python(browser, tmp_path, form):
    simple, X, _ = numbers("list" if form == "points" else form)
    rng = np.random.default_rng(0)
    X = np.repeat(X, 50, axis=0) + rng.normal(size=(200, 2)).round(2) + 5
    y = 40_000 * X[:, 0] + rng.normal(scale=5_000, size=200)
    rules = simple.rules_.replace(1, "size > 6").replace(2, "age > 6").refit(X, y)
    if form == "points":
        every = [dataclasses.replace(rule, points=(rule.prediction,)) for rule in rules]
        rules = Scorecard(
            tuple(every[:-1]), every[-1], rules.feature_names, "regression"
        )
    simple.rules_ = rules
    path, sample = made_report(tmp_path, simple, X, y)
    with Editor(browser, path) as editor:
        for i in (0, 60, 120, 199):
            editor.page.fill('[data-key="row"]', str(i + 1))
            editor.page.keyboard.press("Enter")
            row = sample.matrix[i]
            assert answered(editor.page) == expected_answer(rules, row)
            assert_smallest_changes(editor.page, rules, row, sample)
        assert editor.complaints == []


@pytest.mark.parametrize(("form", "n_classes"), RANDOM)
def test_random_rules_predict_and_explain_as_in_python(
    browser, tmp_path, form, n_classes
):
    rng = np.random.default_rng(3)
    labels = ("a", "b", "c")[:n_classes] or None
    rules = export_cases.make_rules(rng, form, labels)
    if (form, n_classes) == ("points", 2):
        rules = dataclasses.replace(rules, tails=((-0.5, 0.3), (0.2, 1.7)))
    X = export_cases.array(export_cases.make_rows(rng, 60))
    y = rng.normal(size=60) if labels is None else rng.choice(labels, 60)
    path, sample = made_report(tmp_path, rules, X, y)
    with Editor(browser, path) as editor:
        for i in range(12):
            editor.page.fill('[data-key="row"]', str(i + 1))
            editor.page.keyboard.press("Enter")
            row = sample.matrix[i]
            shown, expected = answered(editor.page), expected_answer(rules, row)
            assert shown == expected
        held = rules._covers(sample.matrix)
        predicted = rules._form.predict(held)
        error = rules.outcome.error(sample.expected, predicted, sample.weight)
        error = shown_error_text(rules.outcome.shown_error(error), rules.outcome)
        assert editor.figure("error") == error
        assert editor.complaints == []


def plain(text):
    """A text of the page with the signs of the library."""
    for shown, sign in (("≤", "<="), ("≥", ">="), ("\N{MINUS SIGN}", "-")):
        text = text.replace(shown, sign)
    return text


def test_dates_are_written_as_in_python(browser, tmp_path):
    kinds = ("date", "datetime", "time", "duration")
    every = [Rule((Condition(j, lower=0.5),), float(j)) for j in range(4)]
    rules = RuleList(
        tuple(every), Rule((), 9.0), kinds, "regression", feature_kinds=kinds
    )
    forest = Forest((stump(0, 1.0, 0.0, 4.0),), kinds, "regression")
    values = [0.0, -0.25, 0.375, 19783.0, 1.5 + 1 / 86_400, 2.125, 0.1234567, 3e6]
    X = np.array([values] * 4).T
    simple = GivenRegressor(forest, rules=rules).fit(X)
    path, sample = made_report(tmp_path, simple, X, X[:, 0])
    with Editor(browser, path) as editor:
        for i, row in enumerate(sample.matrix):
            editor.page.fill('[data-key="row"]', str(i + 1))
            editor.page.keyboard.press("Enter")
            assert answered(editor.page) == expected_answer(simple.rules_, row)
        assert editor.complaints == []


# The file


def test_the_sample_is_stated_and_the_file_stays_small(tmp_path):
    simple, _, _ = numbers("list")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 2))
    path, sample = made_report(tmp_path, simple, X, X[:, 0])
    page = path.read_text(encoding="utf-8")
    assert len(page.encode()) < 1_500_000
    begin = page.index('id="report-data">') + len('id="report-data">')
    data = json.loads(page[begin : page.index("</script>", begin)])["edit"]
    assert data["n_rows"] == len(sample.matrix) == 5000
    assert "on 5,000 of the 9,000 rows of this report, a random sample" in page
    # Values are exact, so that no row changes side.
    assert data["columns"]["0"] == sample.matrix[:, 0].tolist()


def test_a_page_with_many_long_numbers_stays_below_the_limit(tmp_path):
    names = tuple(f"a_long_name_of_a_feature_{j}" for j in range(14))
    asking = tuple(Rule((Condition(j, lower=0.5),), float(j)) for j in range(14))
    rules = RuleList(asking, Rule((), 0.0), names, "regression")
    forest = Forest((stump(0, 1.0, 0.0, 4.0),), names, "regression")
    X = np.random.default_rng(0).normal(size=(6000, 14))
    simple = GivenRegressor(forest, rules=rules).fit(X[:100])
    path = write_report(tmp_path / "page.html", simple, X, X.sum(axis=1))
    assert path.stat().st_size < 1_500_000


def test_rows_that_need_much_room_are_fewer(monkeypatch):
    monkeypatch.setattr(page_data, "MOST_CHARACTERS", 5_000)
    simple, X, y = loans()
    assert 100 < len(draw_sample(summarize(simple, X, y)).matrix) < 600


def test_labels_too_large_for_scripts_are_not_offered(tmp_path):
    simple, X, y = named("a", "b", (2**60, 2**60 + 1))
    page = write_report(tmp_path / "page.html", simple, X, y).read_text("utf-8")
    assert "cannot be edited in the page" in page
    assert 'id="editor"' not in page


def test_a_prediction_can_be_set_where_costs_decide(tmp_path):
    simple, X, y = weather()
    costs = ((0.0, 1.0), (2.0, 0.0))
    simple.rules_ = dataclasses.replace(simple.rules_, costs=costs)
    page = write_report(tmp_path / "page.html", simple, X, y).read_text("utf-8")
    assert '"offers":{"prediction":true,"points":false,"move":true}' in page
