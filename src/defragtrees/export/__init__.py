"""Export rules: as text, and as models that predict the same in other engines.

A format is one function `to_...(rules, **options)` and one entry of `FORMATS`.
"""

import inspect
import os
from importlib import import_module
from typing import Any, Literal, NamedTuple, overload

from defragtrees._utils.files import encodable, write_atomic
from defragtrees._utils.formatting import near_name
from defragtrees.export.tables import schema, to_frame
from defragtrees.rules.model import RuleModel

__all__ = ["FORMATS", "Format", "export", "schema", "to_frame"]


class Format(NamedTuple):
    """The module and functions of a format.

    Parameters
    ----------
    suffix : str
        Suffix of its files.
    module : str
    function : str
        Function of the module from rules and options to the export.
    to_bytes : str, optional
        Function of the module from an export that is not text to the bytes of a file.
    """

    suffix: str
    module: str
    function: str
    to_bytes: str | None = None


FORMATS = {
    "csv": Format(".csv", "defragtrees.export.tables", "to_csv"),
    "excel": Format(".xlsx", "defragtrees.export.tables", "to_excel", "excel_bytes"),
    "html": Format(".html", "defragtrees.export.tables", "to_html"),
    "json": Format(".json", "defragtrees.export.tables", "to_json"),
    "latex": Format(".tex", "defragtrees.export.tables", "to_latex"),
    "markdown": Format(".md", "defragtrees.export.tables", "to_markdown"),
    "onnx": Format(".onnx", "defragtrees.export.onnx", "to_onnx", "onnx_bytes"),
    "pmml": Format(".pmml", "defragtrees.export.pmml", "to_pmml"),
    "python": Format(".py", "defragtrees.export.python", "to_python"),
    "sql": Format(".sql", "defragtrees.export.sql", "to_sql"),
    "text": Format(".txt", "defragtrees.export.tables", "to_text"),
}

# The formats that are text; others are objects of their libraries.
TextFormat = Literal[
    "csv", "html", "json", "latex", "markdown", "pmml", "python", "sql", "text"
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
    """Export rules in another format; with `path`, also write them to a file.

    Parameters
    ----------
    rules : RuleModel
    format : str
        "csv", "excel", "html", "json", "latex", "markdown", "onnx", "pmml", "python",
        "sql" or "text".
    path : path, optional
        The file to write. An existing file is replaced when the new one is complete.
    **options
        Options of the format, such as `dialect` of "sql".

    Returns
    -------
    str, an onnx.ModelProto or an openpyxl.Workbook

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
            f"rules must be a RuleModel; got {type(rules).__name__}. Pass `rules_` of "
            "a fitted estimator."
        )
    chosen = FORMATS[format]
    module = import_module(chosen.module)
    write = getattr(module, chosen.function)
    names = list(inspect.signature(write).parameters)[1:]
    for name in set(options).difference(names):
        near = near_name(name, names)
        remedy = f"it has {', '.join(names)}." if names else "it has none."
        raise TypeError(
            f"export() has no option {name!r} for {format!r}; "
            f"{remedy if near is None else f'did you mean {near!r}?'}"
        )
    with encodable():
        exported = write(rules, **options)
    if path is not None:
        to_bytes = getattr(module, chosen.to_bytes) if chosen.to_bytes else str
        write_atomic(path, to_bytes(exported))
    return exported
