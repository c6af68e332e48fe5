"""Text, Markdown, LaTeX and HTML show the rules, and nothing in a name breaks out."""

import csv
import io
import shutil
import subprocess
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from defragtrees import Condition, Rule, RuleEnsemble, RuleList, Scorecard
from defragtrees.export import export
from defragtrees.export.tables import csv_line

ODD = ("<script>alert(1)</script>", 'a_b & 50% of $x$ #1 {^~\\} | `c` *d* -- "e"')


def measured_rules(names=ODD, labels=("no", "<b>yes</b>")):
    first = Rule(
        (Condition(0, 1.5, 3.0), Condition(1, lower=0.5, missing=True)),
        labels[1],
        (0.25, 0.75),
        coverage=0.5,
        share=0.5,
        error=0.25,
    )
    default = Rule((), labels[0], (1.0, 0.0), coverage=1.0, share=0.5)
    return RuleList((first,), default, names, "classification", labels)


def averaged_rules():
    warm = Rule((Condition(0, lower=20.0),), 4.0, weight=0.5, share=0.5, error=1 / 3)
    default = Rule((), 2.0, weight=0.25, share=0.5, error=0.5)
    return RuleEnsemble((warm,), default, ("t",), "regression")


class Cells(HTMLParser):
    """The texts of the cells of a table, and every tag."""

    def __init__(self):
        super().__init__()
        self.tags, self.rows, self.is_inside = set(), [], False

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag == "br":
            self.rows[-1][-1] += " "
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.is_inside = True

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.is_inside = False

    def handle_data(self, data):
        if self.is_inside:
            self.rows[-1][-1] += data


def parsed(html):
    parser = Cells()
    parser.feed(html)
    return parser


SHOWN = [
    ["#", "if", "then", "P(<b>yes</b>)"],
    [
        "1",
        f"1.5 < {ODD[0]} <= 3 and {ODD[1]} > 0.5 or missing",
        "<b>yes</b>",
        "75%",
    ],
    ["2", "otherwise", "no", "0%"],
]


def test_html_shows_names_as_text():
    page = parsed(export(measured_rules(), "html", caption="<i>"))
    names = {"table", "caption", "thead", "tbody", "tr", "th", "td", "br"}
    assert page.tags == names
    assert page.rows == SHOWN


def rendered(text):
    reader = pytest.importorskip("markdown_it", reason="Markdown is read by it")
    markdown = reader.MarkdownIt("commonmark").enable(["table", "strikethrough"])
    page = parsed(markdown.render(text))
    return page.tags, [[cell.strip() for cell in row] for row in page.rows]


def test_markdown_shows_names_as_text():
    tags, rows = rendered(export(measured_rules(), "markdown"))
    assert tags == {"table", "thead", "tbody", "tr", "th", "td", "br"}
    assert rows == SHOWN


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12))
@settings(max_examples=200)
def test_no_name_breaks_out_of_a_table(name):
    shown = "".join(c if c.isprintable() else " " for c in name)
    condition = Rule((Condition(0, upper=1.0),), 2.0)
    rules = RuleList((condition,), Rule((), 1.0), (name,), "regression")
    expected = f"{shown} <= 1"
    page = parsed(export(rules, "html"))
    assert page.rows[1][1] == expected
    tags, rows = rendered(export(rules, "markdown"))
    assert tags == {"table", "thead", "tbody", "tr", "th", "td"}
    assert [row[1].split() for row in rows[1:]] == [expected.split(), ["otherwise"]]
    assert len(rows[1]) == 3


def test_markdown_keeps_ordinary_conditions_readable():
    rules = measured_rules(("sepal_length", "R&D"), ("no", "yes"))
    assert export(rules, "markdown").splitlines() == [
        "| # | if | then | P(yes) |",
        "| ---: | :--- | :--- | ---: |",
        "| 1 | 1.5 < sepal_length <= 3<br>and R&D > 0.5 or missing | yes | 75% |",
        "| 2 | otherwise | no | 0% |",
    ]


def test_latex_escapes_every_sign():
    assert export(measured_rules(), "latex").splitlines() == [
        r"\begin{tabular}{rp{0.5\linewidth}lr}",
        r"\toprule",
        r"\# & if & then & P($<$b$>$yes$<$/b$>$) \\",
        r"\midrule",
        r"1 & 1.5 $<$ $<$script$>$alert(1)$<$/script$>$ $\leq$ 3 \newline and a\_b \& "
        r"50\% of \$x\$ \#1 \{\textasciicircum{}\textasciitilde{}\textbackslash{}\} "
        r"\textbar{} \textasciigrave{}c\textasciigrave{} *d* -{}- \char34{}e\char34{} "
        r"$>$ 0.5 or missing & $<$b$>$yes$<$/b$>$ & 75\% \\",
        r"2 & otherwise & no & 0\% \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_a_scorecard_has_the_risk_of_totals_in_all_tables(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    old = Rule((Condition(0, lower=59.0, is_integer=True),), "ill", (0.2, 0.8),
               points=(2.0,))  # fmt: skip
    base = Rule((), "well", (0.7, 0.3), points=(-1.0,))
    card = Scorecard((old,), base, ("age",), "classification", ("well", "ill"))
    latex = export(card, "latex")
    assert latex.count(r"\begin{tabular}") == 2
    assert r"age & $<$ 60 & 0 &  \\" in latex
    assert r"& $\geq$ 60 & +2 & 1 \\" in latex
    assert r"1 & 73\% & ill \\" in latex
    assert "   -1     27%  well\n    1     73%  ill\n" in export(card, "text")
    export(card, "excel", tmp_path / "card.xlsx")
    book = openpyxl.load_workbook(tmp_path / "card.xlsx")
    found = [
        ["" if c.value is None else c.value for c in line] for line in book["bins"]
    ]
    expected = card.bins()
    assert found[0] == [*expected]
    texts = [list(line) for line in expected.itertuples(index=False)]
    assert found[1:] == texts
    sheet = openpyxl.load_workbook(tmp_path / "card.xlsx")["totals"]
    rows = [list(row) for row in sheet.iter_rows(values_only=True)]
    assert rows == [
        ["total", "P(ill)", "then"],
        [-1, "27%", "well"],
        [1, "73%", "ill"],
    ]


def test_latex_breaks_over_pages_if_asked():
    lines = export(averaged_rules(), "latex", longtable=True).splitlines()
    assert lines[0] == r"\begin{longtable}{rp{0.5\linewidth}rr}"
    assert lines[3:5] == [r"\midrule", r"\endhead"]
    assert lines[5:7] == [r"1 & t $>$ 20 & 4 & 0.5 \\", r"2 & always & 2 & 0.25 \\"]
    assert lines[-1] == r"\end{longtable}"


def test_a_scorecard_has_a_second_table_of_totals():
    paid = Rule((Condition(0, lower=1.0),), "good", (0.1, 0.9), points=(2.0,))
    base = Rule((), "good", (0.4, 0.6), points=(0.0,))
    card = Scorecard((paid,), base, ("years",), "classification", ("bad", "good"))
    assert export(card, "markdown").splitlines() == [
        "| characteristic | bin | points | rule |",
        "| :--- | :--- | ---: | ---: |",
        "| years | <= 1 | 0 |  |",
        "|  | > 1 | +2 | 1 |",
        "| base |  | 0 | 2 |",
        "",
        "| total | P(good) | then |",
        "| ---: | ---: | :--- |",
        "| 0 | 50% | bad |",
        "| 2 | 88% | good |",
    ]
    assert export(card, "html").count("<table>") == 2


def test_text_has_a_line_per_rule():
    rules = averaged_rules()
    text = rules.export("text")
    assert export(rules, "text", header="Sales\n") == f"Sales\n\n{text}"


ODD_LABELS = [
    "x\r=cmd|' /C calc'!A0",
    "x\n=1+1",
    "x;=1+1",
    "x\t=1+1",
    "x; @SUM(1)",
    'say "no", twice',
    " =1+1",
    "\u2028=1+1",
    "a|b",
]


@pytest.mark.parametrize("label", ODD_LABELS)
@pytest.mark.parametrize("exact", [True, False])
def test_an_odd_label_stays_in_its_cell(label, exact):
    pandas = pytest.importorskip("pandas")
    text = csv_line(["n", label, "b"], exact) * 2
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[0] == rows[1]
    assert len(rows[0]) == 3
    # An apostrophe is all that the guard adds.
    kept = rows[0][1] if exact else rows[0][1].replace("'", "")
    assert kept == (label if exact else label.replace("'", ""))
    frame = pandas.read_csv(io.StringIO(text, newline=""))
    assert frame.iloc[0].tolist() == rows[0]


def test_an_odd_label_in_an_export():
    text = export(measured_rules(("a", "b"), ("no", ODD_LABELS[0])), "csv")
    assert len(list(csv.reader(io.StringIO(text, newline="")))) == 3
    assert "\r=" not in text


@pytest.mark.parametrize("label", ODD_LABELS)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_no_reader_finds_a_formula(label, delimiter):
    # Many spreadsheets take a semicolon or a tab for the separator, and a lone CR for
    # the end of a line.
    text = csv_line([1, label, "b"])
    for line in text.replace("\r", "\n").split("\n"):
        for cell in next(csv.reader([line], delimiter=delimiter), []):
            assert not cell.lstrip().startswith(tuple("=+-@＝＋－＠")), cell


@pytest.mark.skipif(shutil.which("soffice") is None, reason="needs LibreOffice")
@pytest.mark.parametrize("label", ODD_LABELS)
def test_libreoffice_computes_nothing(tmp_path, label):
    (tmp_path / "rules.csv").write_text(csv_line([1, label, "b"]), newline="")
    line = ["soffice", "--headless", "--convert-to", "fods", "rules.csv"]
    subprocess.run(line, cwd=tmp_path, check=True, capture_output=True, timeout=600)
    assert "table:formula" not in (tmp_path / "rules.fods").read_text("utf-8")


@pytest.mark.parametrize("sign", ["\x1b", "\u202e", "\x9b", "\u2066"])
def test_html_has_no_hidden_characters(sign):
    rules = measured_rules((f"a{sign}b", "c"), ("no", f"y{sign}es"))
    for text in (export(rules, "html"), rules._repr_html_(), rules.table()):
        assert sign not in text
    explained = rules.explain({f"a{sign}b": 2.0, "c": 1.0})
    assert sign not in explained._repr_html_()
