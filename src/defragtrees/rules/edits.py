"""Edit: one change that a person made to rules after the fit."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from defragtrees._utils import formatting as render
from defragtrees.rules import schema

ACTIONS = (
    "drop",  # a rule is removed
    "insert",  # a rule is added
    "replace",  # its conditions, or one of them
    "remove",  # one of its conditions
    "move",  # to another place in the list
    "prediction",  # a rule predicts something else
    "threshold",  # a class is predicted from another probability on
    "costs",  # errors have other costs
    "refit",  # all rules are counted on other rows
    "improve",  # some rules are searched for again
)
EDITED = "Edited after the fit:"  # above or before the texts of edits
_FIELDS = {
    "action": schema.one_of(*ACTIONS),
    "rule": schema.whole(1) | schema.NULL,
    "text": schema.TEXT,
}


@dataclass(frozen=True)
class Edit:
    """What was changed.

    Examples
    --------
    >>> Edit("drop", "dropped rule 3: if age > 80 then no", 3).to_dict()
    {'action': 'drop', 'rule': 3, 'text': 'dropped rule 3: if age > 80 then no'}
    """

    action: str  # one of `ACTIONS`
    text: str  # the change in words
    rule: int | None = None  # its number then, from 1; None for more than one

    def __post_init__(self) -> None:
        if self.action not in ACTIONS:
            raise ValueError(
                f"action must be one of {ACTIONS}; got {self.action!r}. Use the one "
                "that comes closest."
            )
        text: Any = self.text
        if not isinstance(text, str) or not text.strip():
            raise ValueError(
                f"An edit must describe the change in words; got {text!r}. "
                "Write it as text."
            )

    def to_dict(self) -> dict[str, Any]:
        """Its contents as plain texts and numbers."""
        return {"action": self.action, "rule": self.rule, "text": self.text}

    @classmethod
    def from_dict(cls, data: Any, place: str = "") -> Self:
        """The edit that `to_dict` wrote down; errors name its place."""
        return cls(**schema.read_fields(data, _FIELDS, ("action", "text"), place))


def edit_lines(edits: Iterable[Edit]) -> list[str]:
    r"""Edits as lines under a title; no line without edits.

    Examples
    --------
    >>> print(*edit_lines([Edit("drop", "dropped rule 3: if age > 80 then no", 3)]),
    ...       sep="\n")
    Edited after the fit:
    - dropped rule 3: if age > 80 then no
    """
    lines = [f"- {render.plain(edit.text)}" for edit in edits]
    return [EDITED, *lines] if lines else []
