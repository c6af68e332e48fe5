"""A RuleModel for elsewhere: text to read, and the same answers in other engines.

Every format is one module and one line in `FORMATS`. A module has `export(rules, ...)`
and `SUFFIX`, how the names of its files end. One whose exports are no text has
`to_bytes(exported)` too; one that is no file has no suffix, and says why in `NO_FILE`.
"""

import inspect
import os
from importlib import import_module
from types import ModuleType
from typing import Any, Literal, overload

from defragtrees._utils.files import write_atomic
from defragtrees.data.tables import near_name
from defragtrees.export.table import to_frame
from defragtrees.export.to_json import schema
from defragtrees.rules.model import RuleModel

__all__ = ["FORMATS", "export", "find_format", "schema", "to_frame"]

FORMATS = {
    "csv": "defragtrees.export.to_csv",
    "excel": "defragtrees.export.to_excel",
    "html": "defragtrees.export.to_html",
    "json": "defragtrees.export.to_json",
    "latex": "defragtrees.export.to_latex",
    "markdown": "defragtrees.export.to_markdown",
    "onnx": "defragtrees.export.to_onnx",
    "pmml": "defragtrees.export.to_pmml",
    "prompt": "defragtrees.export.to_prompt",
    "python": "defragtrees.export.to_python",
    "sklearn": "defragtrees.export.to_tree",
    "sql": "defragtrees.export.to_sql",
    "text": "defragtrees.export.to_text",
}


# What is text in every engine; others are objects of their libraries.
TextFormat = Literal[
    "csv",
    "html",
    "json",
    "latex",
    "markdown",
    "pmml",
    "prompt",
    "python",
    "sql",
    "text",
]


@overload
def export(
    rules: RuleModel,
    format: TextFormat,
    path: str | os.PathLike[str] | None = None,
    **options: Any,
) -> str: ...
@overload
def export(
    rules: RuleModel,
    format: str,
    path: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Any: ...
def export(
    rules: RuleModel,
    format: str,
    path: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Any:
    """The rules in another format; with `path`, written to a file as well.

    Parameters
    ----------
    rules : RuleModel
    format : str
        "csv", "excel", "html", "json", "latex", "markdown", "onnx", "pmml", "prompt",
        "python", "sklearn", "sql" or "text".
    path : path, optional
        The file appears when it is complete; one that is there already is replaced
        then. Not for "sklearn", which is no file.
    **options
        Of the format, such as `dialect` of "sql".

    Returns
    -------
    str, an onnx.ModelProto, an openpyxl.Workbook, or a fitted tree of scikit-learn

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> warm = Rule((Condition(0, lower=20.0),), 5.0)
    >>> rules = RuleList((warm,), Rule((), 2.0), ("degrees",), "regression")
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
    if not isinstance(rules, RuleModel):
        raise TypeError(
            f"A RuleModel is needed; got {type(rules).__name__}. "
            "A fitted method keeps its own in `rules_`."
        )
    module = find_format(format)
    if path is not None and module.SUFFIX is None:
        raise ValueError(f"{module.NO_FILE} Got path={str(path)!r}.")
    _check_options(module, format, options)
    exported = module.export(rules, **options)
    if path is not None:
        is_text = isinstance(exported, str)
        write_atomic(path, exported if is_text else module.to_bytes(exported))
    return exported


def _check_options(module, format, options):
    """Refuse an option that the format does not have."""
    names = list(inspect.signature(module.export).parameters)[1:]
    for name in options:
        if name in names:
            continue
        near = near_name(name, names)
        remedy = f"it has {', '.join(names)}." if names else "it has none."
        raise TypeError(
            f"export() has no option {name!r} for {format!r}; "
            f"{remedy if near is None else f'did you mean {near!r}?'}"
        )


def find_format(name: str) -> ModuleType:
    """The module of a format."""
    return import_module(FORMATS[name])
