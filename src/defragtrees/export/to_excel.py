"""Rules as a workbook of Excel, with a sheet on how to read them."""

import io

from defragtrees._utils import formatting as render
from defragtrees._utils.optional import require
from defragtrees.export.table import table_of
from defragtrees.export.to_prompt import HOW_TO_READ
from defragtrees.rules.model import RuleModel
from defragtrees.rules.text import decision_text

__all__ = ["export", "to_bytes"]

SUFFIX = ".xlsx"
WIDEST = 80  # letters of a column
SHARES = ("answered", "coverage", "probability", "rate", "ensemble")


def export(rules: RuleModel):
    """An openpyxl Workbook with the sheets "rules" and "how to read".

    Parameters
    ----------
    rules : RuleModel
    """
    openpyxl = require("openpyxl", "A workbook of Excel")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "rules"
    names, rows = table_of(rules)
    bold = openpyxl.styles.Font(bold=True)
    for j, name in enumerate(names, start=1):
        values = [row[j - 1] for row in rows]
        head = sheet.cell(1, j)
        _write(head, render.plain(name))
        head.font = bold
        for i, value in enumerate(values, start=2):
            cell = sheet.cell(i, j)
            _write(cell, value)
            is_share = name.startswith(SHARES) and isinstance(value, float)
            if is_share and rules.classes:
                cell.number_format = "0.0%"
        longest = max(len(str(value)) for value in (name, *values))
        letter = openpyxl.utils.get_column_letter(j)
        sheet.column_dimensions[letter].width = min(max(longest, 8) + 2, WIDEST)
    sheet.freeze_panes = "A2"
    notes = book.create_sheet("how to read")
    lines = [
        HOW_TO_READ[rules.decision],
        rules._combination_text(),
        decision_text(rules),
    ]
    for i, line in enumerate(filter(None, lines), start=1):
        _write(notes.cell(i, 1), line)
    return book


def _write(cell, value):
    """Put a value into a cell; a text stays text, also if it looks like a formula."""
    if isinstance(value, str):
        cell.value = value
        cell.data_type = "s"
    else:
        cell.value = value


def to_bytes(book):
    """A workbook as the bytes of a file."""
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()
