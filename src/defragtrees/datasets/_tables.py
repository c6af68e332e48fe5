"""Tables as files: gzip-compressed CSV, a header, the last column `target`."""

import gzip
import hashlib
import io
import zlib

import numpy as np

__all__ = ["DatasetFileError", "digest", "pack", "unpack"]


class DatasetFileError(ValueError):
    """A data file that is cut short, altered or not the set it is named after.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from defragtrees.datasets import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "energy.csv.gz").write_bytes(b"no gzip")
    ...     try:
    ...         load("energy", data_home=folder)
    ...     except DatasetFileError as error:
    ...         print(type(error).__name__)
    DatasetFileError
    """


def unpack(packed, where):
    r"""The column names and the float64 table in a file's bytes; an empty cell is NaN.

    Examples
    --------
    >>> names, table = unpack(gzip.compress(b"a,target\n0.1,1\n,0\n"), "a.csv.gz")
    >>> names, table.tolist()
    (('a', 'target'), [[0.1, 1.0], [nan, 0.0]])
    """
    header, body = _text(packed, where).split("\n", 1)
    names = tuple(cell.strip(' "') for cell in header.split(","))
    if names[-1] != "target":
        raise DatasetFileError(
            f"{where}: the last column of the header must be 'target'; "
            f"got {names[-1][:40]!r}."
        )
    if not body.strip():
        raise DatasetFileError(f"{where} has a header and no rows.")
    try:
        # Reads as float() does, to the last bit; pandas by default does not.
        lines = io.StringIO(_fill(body))
        table = np.loadtxt(lines, delimiter=",", comments=None, ndmin=2)
    except ValueError:
        raise DatasetFileError(f"{where}, {_first_fault(body, names)}") from None
    if table.shape[1] != len(names):
        raise DatasetFileError(f"{where}, {_first_fault(body, names)}")
    return names, table


def _text(packed, where):
    """The text in the file, with a line end after the header at least."""
    try:
        text = gzip.decompress(packed).decode("utf-8-sig")
    except gzip.BadGzipFile as error:
        raise DatasetFileError(f"{where} must be a gzip file: {error}.") from None
    except (EOFError, zlib.error) as error:
        raise DatasetFileError(f"{where} is cut short or altered: {error}.") from None
    except UnicodeDecodeError as error:
        raise DatasetFileError(f"{where} must hold UTF-8 text: {error}.") from None
    return text.replace("\r\n", "\n").rstrip("\n") + "\n"


def _fill(body):
    """The lines with `nan` in every empty cell, which numpy would not read."""
    body = "\n" + body
    # Twice, as in ",,," the second empty cell shares its comma with the first.
    for _ in range(2):
        body = body.replace(",,", ",nan,")
    return body.replace("\n,", "\nnan,").replace(",\n", ",nan\n")


def _first_fault(body, names):
    """Where and why the lines are not a table of numbers with these columns."""
    for number, line in enumerate(body.splitlines(), start=2):
        cells = line.split(",")
        if line.strip() and len(cells) != len(names):
            return f"line {number}: must have {len(names)} cells; got {len(cells)}."
        for name, cell in zip(names, cells, strict=False):
            try:
                float(cell.strip() or "nan")
            except ValueError:
                return f"line {number}: {name!r} must be a number; got {cell[:40]!r}."
    return "some line: cells must be plain numbers with no underscores."


def pack(names, table):
    """The same table as a file's bytes; equal tables give equal bytes."""
    rows = (",".join(map(repr, row)) for row in table.tolist())
    body = "\n".join(rows).replace("nan", "")
    text = f"{','.join(names)}\n{body}\n"
    return gzip.compress(text.encode(), compresslevel=6, mtime=0)


def digest(table):
    """SHA-256 of the numbers, whatever the order of the rows.

    Examples
    --------
    >>> digest(np.eye(2)) == digest(np.eye(2)[::-1])
    True
    """
    ordered = table[np.lexsort(table.T[::-1])]
    # -0.0 + 0.0 is 0.0: both zeros are one number, with two patterns of bits.
    plain = np.ascontiguousarray(ordered + 0.0, dtype="<f8")
    return hashlib.sha256(plain.tobytes()).hexdigest()
