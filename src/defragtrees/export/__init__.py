"""A RuleSet for elsewhere: text to read, and the same answers in other engines.

Every format is one module with one function `export(rules, ...)`, and one line in
`FORMATS`.
"""

import os
from collections.abc import Callable
from typing import Any

from defragtrees.export import (
    to_html,
    to_json,
    to_latex,
    to_markdown,
    to_onnx,
    to_python,
    to_sql,
    to_text,
    to_tree,
)
from defragtrees.export.to_json import schema
from defragtrees.files import write_atomic
from defragtrees.rules import RuleSet

__all__ = ["FORMATS", "export", "schema"]

FORMATS: dict[str, Callable[..., Any]] = {
    "html": to_html.export,
    "json": to_json.export,
    "latex": to_latex.export,
    "markdown": to_markdown.export,
    "onnx": to_onnx.export,
    "python": to_python.export,
    "sklearn": to_tree.export,
    "sql": to_sql.export,
    "text": to_text.export,
}


def export(
    rules: RuleSet,
    format: str,
    path: str | os.PathLike | None = None,
    **options: Any,
) -> Any:
    """The rules in another format; with `path`, written to a file as well.

    Parameters
    ----------
    rules : RuleSet
    format : str
        "html", "json", "latex", "markdown", "onnx", "python", "sklearn", "sql" or
        "text".
    path : path, optional
        The file appears when it is complete; one that is there already is replaced
        then. Not for "sklearn", which is no file.
    **options
        Of the format, such as `dialect` of "sql".

    Returns
    -------
    str, an onnx.ModelProto, or a fitted tree of scikit-learn

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleSet
    >>> warm = Rule((Condition(0, lower=20.0),), 5.0)
    >>> rules = RuleSet((warm,), Rule((), 2.0), ("degrees",), "regression")
    >>> print(export(rules, "sql", dialect="sqlserver"), end="")
    CASE
      WHEN [degrees] > 20e0 THEN 5e0
      ELSE 2e0
    END
    """
    if format not in FORMATS:
        raise ValueError(
            f"format must be one of {', '.join(sorted(FORMATS))}; got {format!r}."
        )
    if not isinstance(rules, RuleSet):
        raise TypeError(
            f"A RuleSet is needed; got {type(rules).__name__}. "
            "A fitted method keeps its own in `rules_`."
        )
    if path is not None and format == "sklearn":
        raise ValueError(
            "A tree of scikit-learn is an object and no file; got "
            f"path={str(path)!r}. Leave path out, and save the tree with joblib."
        )
    found = FORMATS[format](rules, **options)
    if path is not None:
        is_text = isinstance(found, str)
        content = found.encode("utf-8") if is_text else found.SerializeToString()
        write_atomic(path, content)
    return found
