"""Rules as JSON, and the JSON Schema that says what is in it."""

from defragtrees._utils.files import to_json
from defragtrees.rules.model import RuleModel
from defragtrees.rules.schema import rules_schema

__all__ = ["export", "schema"]

SUFFIX = ".json"


def schema() -> dict:
    """The JSON Schema (draft 2020-12) of exported rules.

    Examples
    --------
    >>> schema()["$schema"]
    'https://json-schema.org/draft/2020-12/schema'
    """
    return rules_schema()


def export(rules: RuleModel, *, indent: int | None = 1) -> str:
    """The rules as JSON; `RuleModel.from_dict` and `RuleModel.load` read it back.

    Parameters
    ----------
    rules : RuleModel
    indent : int or None, default=1
        Spaces for each level; None puts everything on one line.

    Examples
    --------
    >>> import json
    >>> from defragtrees import Rule, RuleList, RuleModel
    >>> rules = RuleList((), Rule((), 2.0), ("degrees",), "regression")
    >>> RuleModel.from_dict(json.loads(export(rules))) == rules
    True
    """
    return to_json(rules.to_dict(), indent) + "\n"
