"""Rules as a LaTeX table."""

import re

from defragtrees.rules.model import RuleModel
from defragtrees.rules.text import rule_table

__all__ = ["export"]

SUFFIX = ".tex"

SIGNS = {
    "<=": r"$\leq$",
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
SPECIAL = re.compile("|".join(map(re.escape, sorted(SIGNS, key=len, reverse=True))))


def export(rules: RuleModel, *, longtable: bool = False) -> str:
    r"""The rules as a tabular with booktabs' lines; names and labels are escaped.

    Load `booktabs`, and `longtable` if asked for it.

    Parameters
    ----------
    rules : RuleModel
    longtable : bool, default=False
        Break the table over pages.

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, upper=20.0),), 5.0)
    >>> rules = RuleList((warm,), Rule((), 2.0), ("degrees_C",), "regression")
    >>> print(export(rules), end="")
    \begin{tabular}{rp{0.6\linewidth}l}
    \toprule
     & if & then \\
    \midrule
    1 & degrees\_C $\leq$ 20 & 5 \\
    2 & otherwise & 2 \\
    \bottomrule
    \end{tabular}
    """
    header, cells = rule_table(rules)
    sides = {"if": r"p{0.6\linewidth}", "then": "l"}
    name = "longtable" if longtable else "tabular"
    lines = [
        f"\\begin{{{name}}}{{{''.join(sides.get(title, 'r') for title in header)}}}",
        r"\toprule",
        f"{' & '.join(map(_escape, header))} \\\\",
        r"\midrule",
        *([r"\endhead"] if longtable else []),
        *(f"{' & '.join(map(_escape, row))} \\\\" for row in cells),
        r"\bottomrule",
        f"\\end{{{name}}}",
    ]
    return "\n".join(lines) + "\n"


def _escape(text):
    return SPECIAL.sub(lambda match: SIGNS[match.group()], text)
