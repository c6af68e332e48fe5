"""Rules as a Markdown table."""

import re

from defragtrees.rules.model import RuleModel
from defragtrees.rules.text import rule_table

__all__ = ["export"]

SUFFIX = ".md"

# A lone "<" or "&" and the "_" inside a word mean themselves in Markdown; conditions
# are easier to read where they are left alone.
SPECIAL = re.compile(
    r"[\\`*\[\]|~$]|<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])"
)


def export(rules: RuleModel) -> str:
    """The rules as a table in GitHub's Markdown; names and labels are escaped.

    Parameters
    ----------
    rules : RuleModel

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), "yes")
    >>> rules = RuleList((warm,), Rule((), "no"), ("degrees",), "classification",
    ...                  ("no", "yes"))
    >>> print(export(rules), end="")
    |  | if | then |
    | ---: | :--- | :--- |
    | 1 | degrees > 20 | yes |
    | 2 | otherwise | no |
    """
    header, cells = rule_table(rules)
    marks = [":---" if name in ("if", "then") else "---:" for name in header]
    header = [_escape(name) for name in header]
    lines = [header, marks, *([_escape(cell) for cell in row] for row in cells)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _escape(text):
    return SPECIAL.sub(lambda match: "\\" + match.group(), text)
