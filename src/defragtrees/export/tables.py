"""Rules as tables and text: data frame, CSV, Excel, HTML, LaTeX, Markdown.

CSV, Excel and the data frame have exact numbers (`table_of`). HTML, LaTeX and Markdown
have the cells that are printed (`View.cells` in `rules/text.py`).
"""

import io
import json
import math
import re
import sys
from importlib import resources
from typing import TYPE_CHECKING, Any

from defragtrees._utils import formatting as render
from defragtrees._utils.files import to_json as json_text
from defragtrees._utils.formatting import lines_of
from defragtrees._utils.optional import require
from defragtrees.rules.bins import ALSO, bin_rows, is_by_column
from defragtrees.rules.model import RuleModel
from defragtrees.rules.text import Cells, left_columns, table_text

if TYPE_CHECKING:
    from pandas import DataFrame


def table_of(rules):
    """Names of columns, and the values of each rule; columns without any are left out.

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), 5.0, n_rows=40.0)
    >>> rules = RuleList((warm,), Rule((), 2.0), ("degrees",), "regression")
    >>> names, rows = table_of(rules)
    >>> names[:4], rows[0][:4]
    (['rule', 'if', 'then', 'conditions'], [1, 'degrees > 20', 5.0, 1])
    """
    rows = [
        {
            name: None
            if isinstance(value, float) and not math.isfinite(value)
            else value
            for name, value in _values(rules, rule, shown).items()
        }
        for rule, shown in zip(rules, rules._view.rows(), strict=True)
    ]
    names = [
        name
        for name in rows[0]
        if name in ("rule", "if", "then") or any(row[name] is not None for row in rows)
    ]
    return names, [[row[name] for name in names] for row in rows]


def _values(rules, rule, shown):
    """The values of one rule by the names of their columns."""
    last = rules._view.default_text
    then, of_form = None, {"weight": None}
    if rules._form.is_sum:
        names = ["points"]
        if rules.outcome.n_points > 1:
            names = [f"points {label}" for label in rules.outcome.labels]
        of_form = dict(zip(names, map(float, rule.points), strict=True)) | of_form
    else:
        then = rules.outcome.view.cell(rule.prediction)
        if rules._form.has_weights:
            of_form = {"weight": float(rule.weight)}
    return {
        "rule": shown["rule"],
        "if": render.plain(shown["if"] if rule.conditions else last),
        "then": then,
        "conditions": rule.n_conditions,
        **of_form,
        "rows": rule.n_rows,
        "share": rule.share,
        "coverage": rule.coverage,
        **rules.outcome.view.cells(rule),
        "error": rule.error,
    }


def to_frame(rules: RuleModel) -> "DataFrame":
    """The rules as a data frame of pandas, one row for each.

    Parameters
    ----------
    rules : RuleModel

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), 5.0)
    >>> rules = RuleList((warm,), Rule((), 2.0), ("degrees",), "regression")
    >>> len(to_frame(rules))
    2
    """
    pandas = require("pandas", "A data frame of rules")
    names, rows = table_of(rules)
    return pandas.DataFrame(rows, columns=names).set_index("rule")


# How a formula of a spreadsheet begins, in East Asian settings with wide signs too.
FORMULA = (*"=+-@\t\r\uff1d\uff0b\uff0d\uff20",)
# Where one may begin inside a text: at a line, or after the semicolon that separates
# cells in many countries, whose spreadsheets see no quotes after a comma.
FORMULA_INSIDE = re.compile(r"(?<=[;\t\r\n])(?=\s*[=+\-@\uff1d\uff0b\uff0d\uff20])")
PLAIN = re.compile(r"\w(?:[\w .:/()%<>=*+-]*[\w.)%])?").fullmatch  # most cells are


def to_csv(rules: RuleModel, *, exact: bool = False) -> str:
    r"""The rules as CSV with a header; numbers as they are stored.

    Parameters
    ----------
    rules : RuleModel
    exact : bool, default=False
        Write a text that begins like a formula of a spreadsheet as it is, without an
        apostrophe before it.

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), 5.0)
    >>> rules = RuleList((warm,), Rule((), 2.0), ("degrees",), "regression")
    >>> to_csv(rules).splitlines()
    ['rule,if,then,conditions', '1,degrees > 20,5.0,1', '2,otherwise,2.0,0']
    """
    names, rows = table_of(rules)
    return "".join(csv_line(row, exact) for row in (names, *rows))


def csv_line(cells, exact=False):
    r"""Cells as a line of CSV, which every reader divides in the same way.

    Unless `exact`, no spreadsheet takes one for a formula.

    Examples
    --------
    >>> csv_line(["Kiel", 5, None, "x;y", "=1+1"])
    'Kiel,5,,"x;y","\'=1+1"\n'
    """
    texts = [
        (cell if PLAIN(cell) else _quoted(cell, exact))
        if isinstance(cell, str)
        else ("" if cell is None else str(cell))
        for cell in cells
    ]
    return ",".join(texts) + "\n"


def _quoted(text, exact):
    # csv.writer leaves a lone CR without quotes, and what others separate by.
    text = text if exact else guarded(text)
    return '"' + text.replace('"', '""') + '"'


def guarded(cell):
    """A cell that no spreadsheet takes for a formula.

    Examples
    --------
    >>> guarded("=1+1"), guarded("-5"), guarded("Kiel"), guarded(-5)
    ("'=1+1", '-5', 'Kiel', -5)
    """
    if not isinstance(cell, str):
        return cell
    cell = FORMULA_INSIDE.sub("'", cell)
    if not cell.startswith(FORMULA) and not cell.lstrip().startswith(FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell if cell.isprintable() else f"'{cell}"


WIDEST = 80  # letters of a column
MOST_TOTALS = 1000  # of a scorecard, in a workbook
SHARES = ("share", "coverage", "probability", "rate", "model")


def to_excel(rules: RuleModel):
    """An openpyxl Workbook with the sheets "rules" and "how to read".

    A scorecard also has the sheet "bins", the points of each column by its values, and
    for two classes "totals", from totals to probabilities.
    """
    openpyxl = require("openpyxl", "A workbook of Excel")
    book = openpyxl.Workbook()
    book.remove(book.active)
    sheets: dict[str, Any] = {"rules": table_of(rules)}
    if rules._form.is_sum and rules.outcome.n_points == 1:
        bins = bin_rows(rules, None, None)
        lines = [
            [None if value != value else value for value in row]  # NaN
            for row in zip(*bins.values(), strict=True)
        ]
        sheets["bins"] = [*bins], lines
    if total := rules._view.total_cells(MOST_TOTALS):
        risks = [[_as_number(cell) for cell in row] for row in total[1]]
        sheets["totals"] = total[0], risks
    texts = [
        rules._view.usage,
        rules._view.combination(),
        rules._view.decision_text(),
        rules._view.evidence(),
    ]
    for title, (names, rows) in sheets.items():
        _write_sheet(book.create_sheet(title), [names, *rows], rules.outcome)
        book[title].freeze_panes = "A2"
    notes = book.create_sheet("how to read")
    for i, line in enumerate(filter(None, texts), start=1):
        _write_cell(notes.cell(i, 1), line)
    return book


def _write_sheet(sheet, lines, outcome):
    from openpyxl.styles import Font

    for j, values in enumerate(zip(*lines, strict=True), start=1):
        for i, value in enumerate(values, start=1):
            cell = sheet.cell(i, j)
            _write_cell(cell, value if i > 1 else render.plain(value))
            is_share = values[0].startswith(SHARES) and isinstance(value, float)
            if i == 1:
                cell.font = Font(bold=True)
            elif is_share and outcome.has_probabilities:
                cell.number_format = "0.0%"
            elif values[0] in ("woe", "iv"):
                cell.number_format = "0.000"
        longest = max(len(str(value)) for value in values)
        width = min(max(longest, 8) + 2, WIDEST)
        sheet.column_dimensions[sheet.cell(1, j).column_letter].width = width


def _as_number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return text


def _write_cell(cell, value):
    cell.value = value
    if isinstance(value, str):
        cell.data_type = "s"  # also where it looks like a formula


def excel_bytes(book):
    """A workbook as the bytes of a file."""
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def to_html(rules: RuleModel, *, caption: str = "", details: bool = False) -> str:
    """The rules as a table to put into a page; every text in it is escaped.

    Parameters
    ----------
    rules : RuleModel
    caption : str
    details : bool, default=False
        Add the columns of `RuleModel.table(details=True)`.
    """
    tables = [
        render.html_table(header, cells, "" if k else caption)
        for k, (header, cells) in enumerate(_tables(rules, details))
    ]
    return "\n".join(tables) + "\n"


LATEX = {
    "<=": r"$\leq$",
    ">=": r"$\geq$",
    "<": "$<$",
    ">": "$>$",
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    '"': r"\char34{}",  # which babel cannot take for the start of an umlaut
    "--": "-{}-",  # two in a row would be one long dash
    **{sign: f"\\{sign}" for sign in "&%$#_"},
}
LATEX_SPECIAL = re.compile(
    "|".join(map(re.escape, sorted(LATEX, key=len, reverse=True)))
)


def to_latex(rules: RuleModel, *, longtable: bool = False) -> str:
    r"""The rules as a tabular with booktabs' lines; names and labels are escaped.

    A scorecard has a second one, from totals to probabilities. Load `booktabs`, and
    `longtable` if asked for it.

    Parameters
    ----------
    rules : RuleModel
    longtable : bool, default=False
        Break the table over pages.
    """
    return "\n".join(_latex_table(*cells, longtable) for cells in _tables(rules, False))


def _latex_table(titles, cells, longtable):
    rows: list[Any] = [titles, *cells]

    def escaped(cell, title):
        texts = lines_of(cell) if title in ("if", ALSO) else [render.one_line(cell)]
        lines = [LATEX_SPECIAL.sub(lambda m: LATEX[m[0]], text) for text in texts]
        return r" \newline ".join(lines)

    header, *lines = [" & ".join(map(escaped, row, titles)) + r" \\" for row in rows]
    wide, names = r"p{0.5\linewidth}", r"p{0.25\linewidth}"
    sides = {"if": wide, ALSO: wide, "characteristic": names, "bin": names, "then": "l"}
    columns = "".join(sides.get(title, "r") for title in titles)
    name = "longtable" if longtable else "tabular"
    whole = [
        f"\\begin{{{name}}}{{{columns}}}",
        r"\toprule",
        header,
        r"\midrule",
        *([r"\endhead"] if longtable else []),
        *lines,
        r"\bottomrule",
        f"\\end{{{name}}}",
    ]
    return "\n".join(whole) + "\n"


# A lone "<" or "&" and the "_" inside a word mean themselves in Markdown; conditions
# are easier to read where they are left alone.
MARKDOWN_SPECIAL = re.compile(
    r"[\\`*\[\]|~$]|<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])"
)


def to_markdown(rules: RuleModel, *, details: bool = False) -> str:
    """The rules as a table in GitHub's Markdown; names and labels are escaped.

    Parameters
    ----------
    rules : RuleModel
    details : bool, default=False
        Add the columns of `RuleModel.table(details=True)`.
    """
    tables = []
    for titles, cells in _tables(rules, details):
        left = left_columns(titles)
        marks = [":---" if j in left else "---:" for j in range(len(titles))]
        rows: list[Any] = [titles, *cells]
        header, *lines = [
            ["<br>".join(map(escape_markdown, lines_of(cell))) for cell in row]
            for row in rows
        ]
        whole = (header, marks, *lines)
        tables.append("".join(f"| {' | '.join(row)} |\n" for row in whole))
    return "\n".join(tables)


def _tables(rules: RuleModel, details: bool) -> list[Cells]:
    """The tables that are printed, as wide as they need to be."""
    return rules._view.tables(details, sys.maxsize)


def to_text(rules: RuleModel, *, header: str = "") -> str:
    """The rules in exact numbers, one per line; `replace` reads their conditions.

    Parameters
    ----------
    rules : RuleModel
    header : str
        Lines to put before the rules.
    """
    notes = [
        rules._view.combination(),
        rules._view.decision_text(),
        rules._view.evidence(),
    ]
    tables = _tables(rules, False)[0 if is_by_column(rules) else 1 :]
    totals = [line for t in tables for line in ("", table_text(t, render.WIDTH))]
    totals += [""] if tables else []
    notes = [*filter(None, notes), *rules._view.edit_lines()]
    lines = [*filter(None, [header, *rules._view.lines()]), *totals, *notes]
    return "\n".join(lines) + "\n"


def escape_markdown(text: str) -> str:
    """A text that Markdown shows as it is."""
    return MARKDOWN_SPECIAL.sub(r"\\\g<0>", text)


def to_json(rules: RuleModel, *, indent: int | None = 1) -> str:
    """The rules as JSON; `RuleModel.from_dict` and `defragtrees.load` read it back.

    Parameters
    ----------
    rules : RuleModel
    indent : int or None, default=1
        Spaces for each level; None puts everything on one line.
    """
    return json_text(rules.to_dict(), indent) + "\n"


def schema() -> dict:
    """The JSON Schema (draft 2020-12) of exported rules.

    Examples
    --------
    >>> schema()["$schema"]
    'https://json-schema.org/draft/2020-12/schema'
    """
    path = resources.files("defragtrees.rules") / "rules.schema.json"
    return json.loads(path.read_text(encoding="utf-8"))
