"""Errors and answers as every section says them."""

from defragtrees.report.markup import name
from defragtrees.report.wording import amount

__all__ = ["answer_badge", "error_text", "fidelity_text", "rule_colour"]


def error_text(value, summary):
    """An error as a share of rows, or as a squared distance."""
    if summary["task"] == "regression":
        return amount(value, 3)
    return f"{100 * value:.1f}\N{NO-BREAK SPACE}%"


def fidelity_text(value):
    """A fidelity to three digits; as an R² it may be below zero.

    Examples
    --------
    >>> fidelity_text(0.9604), fidelity_text(-0.5)
    ('0.960', '−0.500')
    """
    return f"{value:.3f}".replace("-", "\N{MINUS SIGN}")


def answer_badge(summary, k, then):
    """An answer with the colour that it has in the pictures."""
    return f'<span class="answer {rule_colour(summary, k)}">{name(then)}</span>'


def rule_colour(summary, k):
    """The class of a rule's colour."""
    plot = summary["plot"]
    return f"{'s' if plot['groups']['ordered'] else 'g'}{plot['rules'][k]['group']}"
