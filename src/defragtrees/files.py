"""Files that are written whole or not at all, and JSON that executes nothing."""

import json
import os
import secrets
from pathlib import Path

import numpy as np

from defragtrees.errors import ModelFileError

__all__ = ["read_json", "to_json", "write_whole"]


def write_whole(path, content):
    """Write a text or bytes beside its place and then move it there.

    Parameters
    ----------
    path : str or Path
    content : str or bytes
    """
    path = Path(os.path.realpath(path))  # a link keeps its place; what it names changes
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"{str(path)!r} cannot be written: there is no folder "
            f"{str(path.parent)!r}. Create it first."
        )
    if isinstance(content, str):
        content = content.encode("utf-8")
    if path.exists() and not path.is_file():
        # A device or a pipe takes what is written to it; it must not be replaced.
        path.write_bytes(content)
        return
    # Not by tempfile, which would leave a file that only its owner can read.
    draft = path.with_name(f".defragtrees-{secrets.token_hex(8)}.tmp")
    try:
        draft.write_bytes(content)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def to_json(data, indent=1):
    """Plain data, and numpy's numbers in it, as JSON text.

    Examples
    --------
    >>> to_json({"a": np.int64(1)}, indent=None)
    '{"a": 1}'
    """
    try:
        return json.dumps(
            data,
            indent=indent,
            ensure_ascii=False,
            allow_nan=False,
            default=_plain_number,
        )
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Rules with such classes, categories or numbers cannot be JSON: {error}. "
            "Turn them into text or finite numbers first."
        ) from None


def _plain_number(value):
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"got {value!r}")


def read_json(path):
    """The contents of a JSON file; nothing in it is executed."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ModelFileError(f"{str(path)!r} is not a JSON file: {error}.") from None
