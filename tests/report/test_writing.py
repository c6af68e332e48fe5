"""The file: self-contained, escaped, written at once, and readable without extras."""

import hashlib
import re
import sys
from base64 import b64encode
from html.parser import HTMLParser

import pytest

from defragtrees import Forest, simplify_path
from defragtrees.baselines import DistilledTreeClassifier
from defragtrees.errors import MissingPackageError
from defragtrees.plots.style import COLOURS
from defragtrees.report.page import write_report
from defragtrees.report.text import isolated, script_json
from defragtrees.rules import RuleList
from defragtrees.rules.conditions import Condition, Rule
from tests.report.cases import (
    GivenClassifier,
    named,
    numbers,
    one_line,
    stump,
    weather,
)

VOID = {"meta", "link", "br", "wbr", "input", "hr", "img"}
INCOME = "\u05d4\u05db\u05e0\u05e1\u05d4"
NO = "\u05dc\u05d0"
EVIL = "evil\u202e"
TURNED = "yes\u2066\u200f"


class Outline(HTMLParser):
    """Headings in order, ids, and whether each element is closed."""

    def __init__(self):
        super().__init__()
        self.levels, self.ids, self.open = [], [], []

    def handle_starttag(self, tag, attrs):
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


def page_of(tmp_path, simple, *rows, **options):
    path = write_report(tmp_path / "page.html", simple, *rows, **options)
    return path.read_text(encoding="utf-8")


def without_library(page):
    return re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)


@pytest.mark.parametrize("form", ["list", "tree", "average"])
def test_pages_are_well_formed(tmp_path, form):
    simple, X, y = numbers(form)
    outline = Outline()
    outline.feed(without_library(page_of(tmp_path, simple, X, y)))
    assert outline.open == []
    assert len(set(outline.ids)) == len(outline.ids)
    assert outline.levels[0] == 1
    assert outline.levels.count(1) == 1
    assert all(
        b - a <= 1 for a, b in zip(outline.levels, outline.levels[1:], strict=False)
    )


def test_nothing_is_fetched_and_only_our_scripts_may_run(tmp_path):
    page = page_of(tmp_path, *weather())
    policy = re.search('Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    for script in re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL):
        digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    rest = without_library(page)
    assert not re.search(r'(src|href)="(?!#|data:,)', rest)
    assert "url(" not in re.sub(r"url\(#[\w-]+\)", "", rest)
    assert len(page.encode()) < 1_500_000


def test_every_name_and_text_is_escaped(tmp_path):
    evil = "<script>alert(1)</script>"
    label = "</script><!--\u2028'\"&"
    rules = RuleList(
        (Rule((Condition(0, lower=0.0),), label, (0.0, 1.0)),),
        Rule((), "b", (1.0, 0.0)),
        (evil, label),
        "classification",
        ("b", label),
    )
    model = Forest(
        (stump(0, 0.0, [1.0, 0.0], [0.0, 1.0]),), (evil, label), "classification",
        ("b", label), "mean",
    )  # fmt: skip
    simple = GivenClassifier(model, rules=rules).fit([[1.0, 2.0], [-1.0, 3.0]])
    page = page_of(
        tmp_path, simple, [[1.0, 2.0], [-1.0, 3.0]], title=evil, command=evil
    )
    assert evil not in page
    assert "<!--" not in without_library(page)
    whole = page.replace("<wbr>", "")
    assert whole.count("&lt;script&gt;alert(1)&lt;/script&gt;") > 5
    assert len(re.findall("<script", page)) == 2


def test_a_name_in_the_words_of_templates_stays_text(tmp_path):
    simple, X, y = named("{{ 7 * 7 }}", "{% endfor %}", ("{# in #}", "out"))
    page = one_line(page_of(tmp_path, simple, X, y, title="{{ summary }}"))
    for given in ("{{ 7 * 7 }}", "{% endfor %}", "{# in #}", "{{ summary }}"):
        assert f"<bdi>{given}</bdi>" in page


def test_a_report_says_that_it_needs_jinja2_before_it_measures(tmp_path, monkeypatch):
    simple, X, y = weather()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    monkeypatch.setattr(simple, "_validate_rows", None)
    with pytest.raises(MissingPackageError, match=r"needs jinja2.*defragtrees\[report"):
        write_report(tmp_path / "page.html", simple, X, y)


def test_json_in_a_script_cannot_end_it():
    text = script_json(["</script>", "\u2028", "<!--", "&"])
    assert text == '["\\u003c/script\\u003e","\\u2028","\\u003c!--","\\u0026"]'


def test_charts_take_their_colours_from_the_page(tmp_path):
    page = page_of(tmp_path, *weather())
    pictures = "".join(re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL))
    assert "var(--g1)" in pictures


def luminance(colour):
    """Relative luminance of a colour, after WCAG 2."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    parts = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def test_texts_and_lines_stand_out_in_light_and_dark(tmp_path):
    page = page_of(tmp_path, *weather())
    light, dark = re.findall(r":root \{\s(.*?)\n *\}", page, flags=re.DOTALL)[:2]
    for style in (light, dark):
        colours = dict(re.findall(r"--([\w-]+): (#\w{6})", style))
        assert len(colours) >= 21

        def contrast(one, two, colours=colours):
            low, high = sorted(luminance(colours[name]) for name in (one, two))
            return (high + 0.05) / (low + 0.05)

        for ground in ("paper", "card"):
            for ink in ("ink", "quiet", "accent"):
                assert contrast(ink, ground) >= 4.5, (ink, ground)
        for line in (f"s{k}" for k in range(5)):
            assert contrast(line, "paper") >= 3.0, line
        classes = [f"g{k}" for k in range(8)]
        if style is light:
            assert [colours[name] for name in classes] == [*map(str.lower, COLOURS)]
        else:
            assert min(contrast(name, "paper") for name in classes) >= 4.5


def test_rules_show_their_conditions_and_evidence(tmp_path):
    page = one_line(page_of(tmp_path, *weather())).replace("\N{NO-BREAK SPACE}", " ")
    assert "the first one that matches a row predicts it" in page
    assert '<td class="if">otherwise</td>' in page
    assert (
        "<b>33%</b> of the rows here (2), <b>50%</b> right; the model agrees on "
        "<b>0%</b>" in page
    )
    assert "<b><bdi>degrees</bdi></b> &gt; 20" in page


def test_averaged_rules_show_their_weight(tmp_path):
    page = one_line(page_of(tmp_path, *numbers("average")))
    assert '<td class="if">always</td>' in page
    weights = re.findall(r'<td class="number" data-title="weight"> *(\d)', page)
    assert weights == ["2", "1", "1"]
    assert "mean of the predictions of all rules that match" in page


def test_a_given_path_is_shown(tmp_path):
    simple, X, y = weather()
    rows = list(range(6)) * 10
    path = simplify_path(simple.forest_, X[rows], y[rows], max_rules=2, random_state=0)

    page = page_of(tmp_path, simple, X, y, rule_path=path)
    assert 'id="path-heading"' in page
    assert "on the held-out rows of the path" in page
    assert "The rules above are not among them" in page


def test_a_path_made_without_y_is_not_said_to_be_about_y(tmp_path):
    simple, X, y = weather()
    settings = {"max_rules": 2, "random_state": 0}
    rows = list(range(6)) * 10
    caption = "Error against the model by number of rules"
    path = simplify_path(simple.forest_, X[rows], **settings)
    assert caption in page_of(tmp_path, simple, X, y, rule_path=path)
    path = simplify_path(simple.forest_, X[rows], y[rows], **settings)
    assert caption not in page_of(tmp_path, simple, X, y, rule_path=path)


def test_the_file_is_replaced_at_once_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("before")
    simple, X, y = weather()

    def fail(source, target):
        raise OSError("disk full")

    with monkeypatch.context() as patched:
        patched.setattr("os.replace", fail)
        with pytest.raises(OSError, match="disk full"):
            write_report(path, simple, X, y)
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    assert write_report(path, simple, X, y) == path
    assert "before" not in path.read_text(encoding="utf-8")[:100]


def test_wrong_places_and_numbers_are_refused(tmp_path):
    simple, X, y = weather()
    with pytest.raises(FileNotFoundError, match="Create it first"):
        write_report(tmp_path / "no" / "page.html", simple, X, y)
    with pytest.raises(IsADirectoryError, match="Add a file name"):
        write_report(tmp_path, simple, X, y)
    with pytest.raises(ValueError, match="at least one row"):
        write_report(tmp_path / "page.html", simple, X[:0])
    with pytest.raises(ValueError, match=r"positive sum|non-zero"):
        write_report(tmp_path / "page.html", simple, X, y, [0.0] * 6)
    assert list(tmp_path.iterdir()) == []


def test_names_are_isolated_and_turning_characters_are_spelled_out(tmp_path):
    simple, X, y = named(INCOME, EVIL, (NO, TURNED))
    page = page_of(tmp_path, simple, X, y, title=TURNED)
    for turning in "\u202e\u2066\u200f":
        assert turning not in without_library(page)
    assert f"<b><bdi>{INCOME}</bdi></b> &gt; \N{MINUS SIGN}0.01" in page
    assert "<b><bdi>evil\\u202e</bdi></b> ≤ 5" in page
    # The table of classes and the rows that differ.
    assert f"rules: <bdi>{NO}</bdi>" in page
    assert f"<bdi>{NO}</bdi> (100%)" in page
    assert '"name":"evil\\u202e"' in page  # which scripts spell out
    # No name or class stands outside an isolating element.
    shown = re.sub(r"<(script|svg|style|title).*?</\1>", "", page, flags=re.DOTALL)
    shown = re.sub(r'"[^"]*"', "", shown)
    for given in (INCOME, NO):
        outside = re.sub(r"<bdi[^>]*>.*?</bdi>", "", shown)
        assert given in shown
        assert given not in outside


def test_categories_are_isolated_inside_a_condition():
    words = isolated(f" in {{{NO}, {INCOME}}} or missing")
    assert words == f" in {{<bdi>{NO}</bdi>, <bdi>{INCOME}</bdi>}} or missing"


def test_the_page_warns_once_of_rows_that_the_model_was_trained_on(tmp_path):
    simple, X, y = weather()
    warning = "The model may have been trained on these rows"
    assert page_of(tmp_path, simple, X, y).count(warning) == 1
    assert warning not in page_of(tmp_path, simple, X)
    assert warning not in page_of(tmp_path, simple, X, y, is_new=True)


def test_minus_signs_are_the_same_everywhere(tmp_path):
    simple, X, y = named("a-1", "b", ("in", "out"))
    page = page_of(tmp_path, simple, X, y)
    body = page[page.index("<body>") : page.index("</main>")]
    shown = re.sub(r"<[^>]*>", " ", body.replace("<wbr>", ""))
    shown = re.sub(r"Written on [-0-9]+", "", shown)
    assert "\N{MINUS SIGN}0.01" in shown
    assert "\N{MINUS SIGN}1.5" in shown
    assert "a-1" in shown
    assert not re.search(r"(?<!\w)-\d", shown)


def test_a_very_long_name_is_clamped_in_headers_and_whole_in_a_title(tmp_path):
    long = "a_very_long_name_" * 8
    simple, X, y = named(long, "b", ("in", "out"))
    page = page_of(tmp_path, simple, X, y)
    header = f'<bdi class="clamped" title="{long}">'
    assert page.count(header) == 1
    assert 'class="clamped" title="b"' not in page


@pytest.mark.parametrize("name", ["report.pdf", "Report.DOCX"])
def test_a_name_of_another_kind_of_file_is_refused(name, tmp_path):
    X, y = [[0.0], [1.0]] * 10, ["no", "yes"] * 10
    simple = DistilledTreeClassifier(max_rules=2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="a browser prints it to PDF"):
        write_report(tmp_path / name, simple, X, y)
    assert list(tmp_path.iterdir()) == []
