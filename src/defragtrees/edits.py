"""Edit: one change that a person made to fitted rules, as it is kept with them."""

from dataclasses import dataclass

from defragtrees import render

__all__ = ["ACTIONS", "Edit", "edit_lines"]

ACTIONS = (
    "drop",
    "replace",
    "remove",
    "move",
    "answer",
    "reorder",
    "refit",
    "improve",
)


@dataclass(frozen=True)
class Edit:
    """What was changed.

    Parameters
    ----------
    action : str
        One of `ACTIONS`: a rule was dropped; its conditions, or one of them, were
        replaced; one of its conditions was removed; it was moved; it got another
        answer; all rules were put into another order, or counted anew on other rows,
        or some of them searched for again.
    text : str
        The change in words.
    rule : int, optional
        The number of the rule when it was changed, from 1; None where it was more than
        one.

    Examples
    --------
    >>> Edit("drop", "dropped rule 3: if age > 80 then no", 3).to_dict()
    {'action': 'drop', 'rule': 3, 'text': 'dropped rule 3: if age > 80 then no'}
    """

    action: str
    text: str
    rule: int | None = None

    def __post_init__(self):
        if self.action not in ACTIONS:
            raise ValueError(
                f"action must be one of {ACTIONS}; got {self.action!r}. Use the one "
                "that comes closest."
            )
        if not isinstance(self.text, str) or not self.text.strip():
            raise ValueError(
                f"An edit must say in words what was changed; got {self.text!r}. "
                "Write it as text."
            )

    def to_dict(self):
        """Its contents as plain texts and numbers."""
        return {"action": self.action, "rule": self.rule, "text": self.text}

    @classmethod
    def from_dict(cls, data):
        """The edit that `to_dict` wrote down."""
        return cls(data["action"], data["text"], data.get("rule"))


def edit_lines(edits):
    r"""Edits as lines under a title; none without edits.

    Examples
    --------
    >>> print(*edit_lines([Edit("drop", "dropped rule 3: if age > 80 then no", 3)]),
    ...       sep="\n")
    Edited after the fit:
    - dropped rule 3: if age > 80 then no
    """
    if not edits:
        return []
    return ["Edited after the fit:", *(f"- {render.plain(e.text)}" for e in edits)]
