"""The page as a reader meets it: in Chromium, by mouse, keyboard, phone and paper."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from defragtrees import datasets
from defragtrees._api import simplify
from defragtrees.report.page import write_report
from tests.report.cases import (
    CHROMIUM,
    PATIENCE,
    SCREENSHOTS,
    launch,
    named,
    weather,
)

playwright = pytest.importorskip("playwright.sync_api")
pytest.importorskip("jinja2")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium was found; install it to test the page"
)

EVIL = "<script>alert(1)</script>"
BOLD = "<b>cash</b> &amp; co"
INCOME = "\u05d4\u05db\u05e0\u05e1\u05d4"  # right to left
LONG = "a class with quite a long name, longer than a phone is wide"
# Where a text's first and last letters are drawn, from left to right.
PLACES = """
(item) => {
  const range = document.createRange();
  const left = (node, k) => {
    range.setStart(node, k);
    range.setEnd(node, k + 1);
    return range.getBoundingClientRect().left;
  };
  const name = item.querySelector("bdi").firstChild;
  const rest = item.lastChild;
  const sign = rest.data.indexOf("\u2212");
  return [left(name, 0), left(rest, sign), left(rest, sign + 1)];
}
"""


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as running:
        launched = launch(running)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def spam(tmp_path_factory):
    """The report of a forest on Spambase, two features renamed, and its estimator."""
    sample = datasets.load_sample("spambase")
    names = list(sample.feature_names)
    names[names.index("word_freq_hp")] = EVIL
    names[names.index("word_freq_free")] = BOLD
    X = pd.DataFrame(sample.X, columns=names)
    y = np.where(sample.y == 1, "spam", "ham")
    X, X_test, y, y_test = train_test_split(X, y, test_size=300, random_state=0)
    forest = RandomForestClassifier(30, min_samples_leaf=3, random_state=0).fit(X, y)
    simple = simplify(forest, X, y, max_rules=6, random_state=0)
    path = tmp_path_factory.mktemp("report") / "spam.html"
    write_report(path, simple, X_test, y_test, title="Spam in a few rules")
    return path, simple, X_test


class Visit:
    """One look at the page, with all that it said and asked for."""

    def __init__(self, browser, path, *, width=1100, scripts=True, **options):
        self.context = browser.new_context(
            viewport={"width": width, "height": 900},
            java_script_enabled=scripts,
            **options,
        )
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(dialog.message))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())
        if scripts:
            self.page.wait_for_selector("html[data-ready=yes]")

    def unfold(self):
        """Open what is folded, as a reader does."""
        for summary in self.page.locator("details:not([open]) > summary").all()[::-1]:
            summary.click()
        return self

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.context.close()

    def keep(self, name):
        """A picture of the whole page, for people to look at."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)

    def stretch(self):
        """As tall a window as the page, so that nothing sticks to its edges."""
        height = self.page.evaluate("document.documentElement.scrollHeight")
        width = self.page.viewport_size["width"]
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.wait_for_timeout(200)


@pytest.fixture(scope="module")
def shared_desk(browser, spam):
    with Visit(browser, spam[0]) as visit:
        yield visit


@pytest.fixture
def desk(shared_desk):
    """A visit that several tests share, in whatever order."""
    shared_desk.page.set_viewport_size({"width": 1100, "height": 900})
    return shared_desk


def test_nothing_is_fetched_and_nothing_complains(desk, spam):
    desk.page.wait_for_timeout(200)
    assert desk.said == []
    assert desk.asked == [spam[0].as_uri()]


def test_a_name_that_looks_like_a_script_stays_text(desk, spam):
    _, simple, _ = spam
    for name in (EVIL, BOLD):
        assert name in simple.rules_.features
        assert name in desk.page.inner_text(".rules")
    assert desk.page.locator("script").count() == 2
    assert desk.said == []


def test_rules_are_copied_as_text_and_as_sql(desk, spam):
    _, simple, _ = spam
    desk.page.evaluate(
        "navigator.clipboard.writeText = (text) => { window.copied = text; }"
    )
    exported = {
        "text": simple.rules_.export("text"),
        "SQL": simple.rules_.export("sql", table="my_table"),
    }
    for kind, text in exported.items():
        desk.page.click(f'[data-copy="{kind}"]')
        assert desk.page.evaluate("copied") == text
    assert "Copied." in desk.page.inner_text("#rules")


def test_a_picture_of_the_desk_is_kept(desk):
    desk.stretch()
    desk.keep("desktop")


def test_the_page_reads_in_order_without_scripts(browser, spam):
    path, simple, _ = spam
    with Visit(browser, path, scripts=False) as visit:
        page = visit.page
        assert not page.locator("#measures").is_visible()
        visit.unfold()
        assert page.locator("main h2").all_inner_texts() == [
            "The rules",
            "Change the rules",
            "Why this row?",
            "For the analyst",
        ]
        assert page.locator("main h3").all_inner_texts() == [
            "Data and model",
            "Measures",
            "Estimated and observed",
            "Fewer or more rules",
            "Disagreement with the model",
            "Settings and versions",
        ]
        for kind in ("h1", "h2", "h3", ".rule", "table", ".chart .wide", ".spark"):
            for each in page.locator(kind).all():
                assert each.is_visible(), kind
        assert page.locator(".rule").count() == simple.rules_.n_rules
        assert page.locator(".chart svg:visible").count() == 2
        assert page.locator("input:visible").count() == 0
        drawn = page.locator("figure, .spark").evaluate_all(
            "all => all.map(s => s.outerHTML)"
        )
        visit.keep("no-scripts")
    with Visit(browser, path) as visit:
        figures = visit.page.locator("figure, .spark")
        assert figures.evaluate_all("all => all.map(s => s.outerHTML)") == drawn


@pytest.mark.parametrize("scripts", [True, False])
def test_the_page_fits_a_phone(browser, spam, scripts):
    path, *_ = spam
    with Visit(browser, path, width=360, scripts=scripts, has_touch=True) as visit:
        if scripts:
            widths = "[document.documentElement.scrollWidth, window.innerWidth]"
            assert visit.page.evaluate(widths) == [360, 360]
            visit.stretch()
        visit.unfold()
        assert visit.page.locator(".chart .narrow:visible").count() == 2
        assert visit.page.locator(".chart .wide:visible").count() == 0
        width = visit.page.locator("main").bounding_box()["width"]
        assert width <= 360
        for number in visit.page.locator(".gauges .bar-label").all():
            box = number.bounding_box()
            assert box["height"] < 30, "a headline number breaks"
            assert box["x"] + box["width"] <= 360
        visit.keep("phone" if scripts else "phone-no-scripts")


def test_dark_follows_the_reader(browser, spam):
    path, *_ = spam
    background = "getComputedStyle(document.body).backgroundColor"
    axis = """getComputedStyle(document.querySelector("#chart-path .title")).fill"""
    with Visit(browser, path, color_scheme="dark") as visit:
        assert visit.page.evaluate(background) == "rgb(20, 23, 28)"
        assert visit.page.evaluate(axis) == "rgb(230, 233, 238)"
        visit.stretch()
        visit.keep("dark")
        visit.page.emulate_media(color_scheme="light")
        assert visit.page.evaluate(background) == "rgb(255, 255, 255)"
        assert visit.page.evaluate(axis) == "rgb(27, 31, 36)"


def test_it_prints_on_white_with_wide_charts(browser, spam, tmp_path):
    path, *_ = spam
    with Visit(browser, path, width=800, color_scheme="dark") as visit:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        # What is folded is printed too, and folded again.
        visit.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert visit.page.locator("details:not([open])").count() == 0
        visit.page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert visit.page.locator("details[open]").count() == 0
        printed = visit.page.pdf(path=SCREENSHOTS / "print.pdf", format="A4")
        assert printed.startswith(b"%PDF")
        visit.page.emulate_media(media="print")
        visit.unfold()
        background = "getComputedStyle(document.body).backgroundColor"
        assert visit.page.evaluate(background) == "rgb(255, 255, 255)"
        assert visit.page.locator(".chart .wide:visible").count() == 2
        for hidden in ("nav", ".chart .narrow", "#editor"):
            assert visit.page.locator(f"{hidden}:visible").count() == 0, hidden


@pytest.mark.parametrize("width", [360, 1024])
def test_links_open_what_is_folded_and_the_menu_hides_no_heading(browser, spam, width):
    with Visit(browser, spam[0], width=width, reduced_motion="reduce") as visit:
        menu = visit.page.locator("nav").bounding_box()
        assert menu["height"] < 50, "the menu has more than one line"
        visit.page.goto(f"{spam[0].as_uri()}#calibration")
        for place in ("calibration", "edit", "analyst", "settings"):
            visit.page.evaluate(f"location.hash = '{place}'")
            heading = visit.page.locator(f"#{place}-heading")
            heading.wait_for(state="visible")
            visit.page.wait_for_timeout(100)
            assert heading.bounding_box()["y"] >= menu["height"] - 1, place
        # The menu stays at the top.
        assert visit.page.locator("nav").bounding_box()["y"] == 0


def test_on_a_phone_a_rule_is_a_card_with_the_names_of_its_values(browser, spam):
    with Visit(browser, spam[0], width=390) as visit:
        label = visit.page.locator(".rule td[data-title]").nth(1)
        shown = label.evaluate("e => getComputedStyle(e, '::before').content")
        assert "P(spam)" in shown


def test_calibration_has_points_with_their_intervals(browser, tmp_path):
    path = write_report(tmp_path / "weather.html", *weather())
    with Visit(browser, path) as visit:
        visit.unfold()
        chart = visit.page.locator("#chart-calibration .wide")
        markers = chart.locator(".marker").evaluate_all(
            "all => all.map(m => m.transform.baseVal[0].matrix).map(m => [m.e, m.f])"
        )
        intervals = chart.locator(".interval").evaluate_all(
            "all => all.map(m => m.getBBox()).map(b => [b.y + b.height, b.y])"
        )
        titles = chart.locator("g:has(.marker) > title").all_text_contents()
        assert chart.locator(".number").all_text_contents() == ["1", "2", "3"]
    # Rules 1 and 3 estimate and observe 100% and 0%.
    (right, top), _, (left, bottom) = markers
    shares = [
        ((x - left) / (right - left), (y - bottom) / (top - bottom)) for x, y in markers
    ]
    assert shares == [pytest.approx((share, share), abs=0.001) for share in (1, 0.5, 0)]
    # Wilson's intervals of 2 of 2, 1 of 2 and 0 of 2.
    ends = [[(y - bottom) / (top - bottom) for y in pair] for pair in intervals]
    expected = [(0.3424, 1.0), (0.0945, 0.9055), (0.0, 0.6576)]
    assert ends == [pytest.approx(pair, abs=0.001) for pair in expected]
    assert titles[0].startswith("rule 1\nestimated 100")


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    """A report with a name from right to left, one that turns, and a long class."""
    path = tmp_path_factory.mktemp("report") / "foreign.html"
    simple, X, y = named(INCOME, "evil\u202e", (LONG, INCOME))
    return write_report(path, simple, X, y)


def test_a_name_from_right_to_left_leaves_signs_in_place(browser, foreign):
    with Visit(browser, foreign) as visit:
        condition = visit.page.locator(".conditions .asks").first
        name, minus, digit = condition.evaluate(PLACES)
        assert name < minus < digit
        drawn = visit.page.locator(
            "#chart-calibration .wide .title"
        ).all_text_contents()
        assert drawn == [
            f"observed rate of \u2068{INCOME}\u2069",
            f"estimated probability of \u2068{INCOME}\u2069",
        ]
        assert visit.said == []


@pytest.mark.parametrize("width", [360, 1100])
def test_legends_are_not_cut(browser, foreign, width):
    with Visit(browser, foreign, width=width) as visit:
        visit.unfold()
        place = visit.page.locator("#chart-calibration").bounding_box()
        right = place["x"] + place["width"]
        entries = visit.page.locator("#calibration .legend span").all()
        assert entries
        for entry in entries:
            box = entry.bounding_box()
            assert box["x"] + box["width"] <= right, entry.text_content()
        visit.stretch()
        visit.keep(f"right-to-left-{width}")
