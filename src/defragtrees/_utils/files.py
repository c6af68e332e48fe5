"""Files that appear only when complete, and JSON that executes nothing."""

import contextlib
import json
import os
import re
import secrets
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from defragtrees.errors import ModelFileError

STANDARD_OUTPUT = ("/dev/stdout", "/dev/fd/1")
# Halves of a surrogate pair, and characters that steer a terminal or turn the order of
# others; JSON's own writer leaves them, but for the first 32.
HIDDEN = re.compile(
    "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
DRAFT = ".defragtrees-"  # how the names of unfinished files begin


def first_bytes(path):
    """The first bytes of a file, which show its kind."""
    if not path.is_file():
        raise ValueError(
            f"{str(path)!r} is no regular file, and a pipe cannot be read twice. "
            "Save it to a file first, or pass data as - on standard input."
        )
    with open(path, "rb") as file:
        return file.read(4096)


def is_device(path):
    """Whether the path is one to stream to, such as a pipe.

    Standard output is one by its name, also where it goes to a file.
    """
    if is_standard_output(path):
        return True
    return path.exists() and not path.is_file() and not path.is_dir()


def is_standard_output(path):
    """Whether this is a name of standard output, which is open already."""
    return os.fspath(path) in STANDARD_OUTPUT


def write_atomic(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a text or bytes to a file that appears when all of it is written."""
    if isinstance(content, str):
        with encodable():
            content = content.encode("utf-8")
    with atomic_file(path) as draft:
        draft.write_bytes(content)


@contextlib.contextmanager
def encodable():
    """Raise an error of one sentence where a text cannot be UTF-8."""
    try:
        yield
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise ValueError(
            f"Names and labels must be valid UTF-8; one has {half!r}, half of a pair. "
            "Rename it first."
        ) from None


@contextlib.contextmanager
def atomic_file(path):
    """A path to write to; the file appears at `path` when all of it is written.

    A file that was there keeps its mode and, where the user may set them, its group and
    owner; a new one has the mode of every new file. A device or a pipe is written to,
    never replaced by a file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with atomic_file(Path(folder, "a.txt")) as draft:
    ...         _ = draft.write_text("complete")
    ...     [path.name for path in Path(folder).iterdir()]
    ['a.txt']
    """
    if is_device(Path(path)):
        with tempfile.TemporaryDirectory() as folder:
            draft = Path(folder, f"draft{Path(path).suffix}")
            yield draft
            with open(draft, "rb") as file, _open_device(path) as device:
                shutil.copyfileobj(file, device)
        return
    path = Path(os.path.realpath(path))  # a link keeps its place; what it names changes
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"{str(path)!r} cannot be written: there is no folder "
            f"{str(path.parent)!r}. Create it first."
        )
    # Not by tempfile, which would leave a file that only its owner can read. The suffix
    # stays: some writers choose a format by it.
    draft = path.with_name(f"{DRAFT}{secrets.token_hex(8)}{path.suffix}")
    # From the first byte on nobody may read it who may not read what it replaces.
    replaced = path.stat() if path.exists() else None
    mode = 0o666 if replaced is None else 0o600
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL, mode))
        yield draft
        with open(draft, "rb+") as file:
            os.fsync(file.fileno())
        if replaced is not None:
            _set_access(draft, replaced)
        os.replace(draft, path)
    except OSError as error:
        if not _names_a_draft(error, draft):
            raise
        # The name of a draft, or of a writer's own, means nothing to the user.
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None
    finally:
        draft.unlink(missing_ok=True)


def _set_access(draft, replaced):
    """Give a draft the mode, group and owner of the file that it replaces."""
    mode = replaced.st_mode & 0o777
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):  # only root may change the owner
            os.chown(draft, replaced.st_uid, -1)
        with contextlib.suppress(OSError):
            os.chown(draft, -1, replaced.st_gid)
        if draft.stat().st_gid != replaced.st_gid:
            # Another group may do no more than everybody.
            mode &= ~0o070 | (mode & 0o007) << 3
    draft.chmod(mode)


@contextlib.contextmanager
def _open_device(path):
    """A device to write bytes to; standard output is the one that is open already."""
    if not is_standard_output(path):
        with open(path, "wb") as device:
            yield device
        return
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


def _names_a_draft(error, draft):
    if error.filename is None:
        return True
    named = Path(error.filename)
    return named.parent == draft.parent and DRAFT in named.name


def to_json(data: Any, indent: int | None = 1) -> str:
    """Plain data, and numpy's numbers in it, as JSON text.

    Examples
    --------
    >>> import numpy as np
    >>> to_json({"a": np.int64(1)}, indent=None)
    '{"a": 1}'
    """
    try:
        text = json.dumps(
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
    return HIDDEN.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def _plain_number(value):
    # A number of numpy, without importing it.
    if hasattr(value, "dtype") and not value.shape:
        return value.item()
    raise TypeError(f"got {value!r}")


def read_json(path: str | os.PathLike[str]) -> Any:
    """The contents of a JSON file; nothing in it is executed."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        why = " ".join(str(error).split()).rstrip(".")
        raise ModelFileError(f"{str(path)!r} is not a JSON file: {why}.") from None


def _no_constant(name):
    raise ValueError(f"{name} is no number of JSON")
