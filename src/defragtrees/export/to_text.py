"""Rules as plain text."""

from defragtrees.rules.model import RuleModel
from defragtrees.rules.text import decision_text

__all__ = ["export"]

SUFFIX = ".txt"


def export(rules: RuleModel, *, header: str = "") -> str:
    """The rules as a person would say them, one on each line.

    Where a threshold or costs decide, a last line says so.

    Parameters
    ----------
    rules : RuleModel
    header : str
        Lines to put before the rules.

    Examples
    --------
    >>> from defragtrees import Rule, RuleList
    >>> rules = RuleList((), Rule((), 2.0), ("degrees",), "regression")
    >>> print(export(rules, header="Sales"), end="")
    Sales
    1. otherwise 2
    """
    lines = filter(None, [header, str(rules), decision_text(rules)])
    return "\n".join(lines) + "\n"
