"""Rules as a self-contained Markdown text, for people and language models."""

import re

from defragtrees._utils import formatting as render
from defragtrees.export.tables import escape_markdown
from defragtrees.rules.model import RuleModel

__all__ = ["to_prompt"]

MARKDOWN_START = re.compile(r"^(?=[#>+-])")  # of a heading, a quote or a list


def to_prompt(rules: RuleModel, *, title: str = "Rules") -> str:
    """The rules, their rates and how to read them, as Markdown.

    Parameters
    ----------
    rules : RuleModel
    title : str

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), "yes", (0.2, 0.8), n_rows=40.0,
    ...             rates=(0.2, 0.8))
    >>> rules = RuleList((warm,), Rule((), "no"), ("degrees",), "classification",
    ...                 ("no", "yes"))
    >>> print(to_prompt(rules, title="Swimming"), end="")
    # Swimming
    <BLANKLINE>
    These rules predict one of: no, yes.
    <BLANKLINE>
    ## How to read them
    <BLANKLINE>
    - Apply the rules in order. The first rule whose conditions all match predicts; \
skip the rules after it.
    - A missing value fails a condition unless the condition says "or missing".
    - P is the estimated probability of a class. In brackets: how many rows of the \
rule have this class, and the 95 % interval.
    <BLANKLINE>
    ## Columns
    <BLANKLINE>
    - degrees: a number
    <BLANKLINE>
    ## Rules
    <BLANKLINE>
    1. If degrees > 20, then yes. P(yes) = 80 % (32 of 40 rows, 95 % \
interval 65 - 90 %).
    2. Otherwise no.
    """
    parts = [
        f"# {_text(title)}",
        f"These rules predict {_text(rules.outcome.view.target)}.",
        "## How to read them",
        "\n".join(f"- {_text(line)}" for line in _reading_lines(rules)),
        "## Columns",
        "\n".join(f"- {_text(line)}" for line in _column_lines(rules)) or "- none",
        "## Rules",
        "\n".join(map(_text, _rule_lines(rules))),
    ]
    if rules.edits:
        head, *lines = rules._view.edit_lines()
        lines = [f"- {_text(line.removeprefix('- '))}" for line in lines]
        parts += [f"## {head.rstrip(':')}", "\n".join(lines)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _text(text):
    """A line of text that Markdown shows as it is."""
    return MARKDOWN_START.sub(r"\\", escape_markdown(render.plain(text)))


def _reading_lines(rules):
    yield rules._view.usage
    if rules._view.total_text():
        yield f"The total is {rules._view.total_text()}."
    if rules._view.decision_text():
        yield rules._view.decision_text()
    yield 'A missing value fails a condition unless the condition says "or missing".'
    if any(row["estimate_text"] for row in rules._view.rows()):
        yield rules.outcome.view.legend


def _column_lines(rules):
    for name in rules.features:
        j = rules.feature_names.index(name)
        shown, labels = rules._vocabulary.axis_names[j], rules.categories[j]
        kind = rules._vocabulary.scales[j].kind
        text = f"a {kind}" if kind and labels is None else "a number"
        if labels is not None:
            text = "one of " + ", ".join(render.category(label) for label in labels)
        column = None if rules.training is None else rules.training.column(j)
        if column is not None and column.low is not None:
            scale = rules._vocabulary.scales[j]
            text += f", from {scale.number(column.low)} to {scale.number(column.high)}"
        known = "" if shown == name else f" (column {name})"
        yield f"{shown}{known}: {text}"


def _rule_lines(rules):
    for rule, row in zip(rules, rules._view.rows(), strict=True):
        then = rules._view.then_text(rule)
        if rules._form.is_sum:
            then = f"{then} points"
        if rule.conditions:
            text = f"If {rule.text()}, then {then}."
        else:
            text = f"{rules._view.default_text.capitalize()} {then}."
        found = f" {row['estimate_text']}." if row["estimate_text"] else ""
        if rules._form.has_weights:
            found += f" Weight {render.number(rule.weight)}."
        yield f"{row['rule']}. {text}{found}"
