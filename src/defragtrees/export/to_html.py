"""Rules as an HTML table."""

from defragtrees._utils import formatting as render
from defragtrees.rules.model import RuleModel
from defragtrees.rules.text import rule_table

__all__ = ["export"]

SUFFIX = ".html"


def export(rules: RuleModel, *, caption: str = "") -> str:
    """The rules as a table to put into a page; every text in it is escaped.

    Parameters
    ----------
    rules : RuleModel
    caption : str

    Examples
    --------
    >>> from defragtrees import Rule, RuleList
    >>> rules = RuleList((), Rule((), "<b>"), ("a",), "classification", ("<b>",))
    >>> "<td>&lt;b&gt;</td>" in export(rules)
    True
    """
    header, cells = rule_table(rules)
    return render.html_table(header, cells, caption) + "\n"
