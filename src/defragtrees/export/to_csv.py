"""Rules as CSV, one line for each."""

import csv
import io

from defragtrees.export.table import table_of
from defragtrees.rules.model import RuleModel

__all__ = ["export", "guarded"]

SUFFIX = ".csv"
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def export(rules: RuleModel, *, exact: bool = False) -> str:
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
    >>> export(rules).splitlines()
    ['rule,if,then,conditions', '1,degrees > 20,5.0,1', '2,otherwise,2.0,0']
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    names, rows = table_of(rules)
    for row in (names, *rows):
        writer.writerow(row if exact else map(guarded, row))
    return file.getvalue()


def guarded(cell):
    """A cell that no spreadsheet takes for a formula.

    Examples
    --------
    >>> guarded("=1+1"), guarded("-5"), guarded("Kiel"), guarded(-5)
    ("'=1+1", '-5', 'Kiel', -5)
    """
    if not isinstance(cell, str) or not cell.startswith(FORMULA) or _is_number(cell):
        return cell
    return f"'{cell}"


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return text.isprintable()
