"""Data files, read in batches: Parquet and Feather here, CSV in `_csv`.

A table has `names` and gives batches with the columns that are asked for, as float64
numbers or as labels. What a file is, its first bytes say.
"""

import re

import numpy as np

from defragtrees._utils.files import first_bytes
from defragtrees._utils.optional import require
from defragtrees.cli._batch import BATCH_ROWS, Batch, Labels
from defragtrees.cli._csv import CsvTable

__all__ = ["open_table"]

BUFFER_BYTES = 2**18  # for each column
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# A column may be called "[a]" or "{x}"; JSON goes on otherwise.
JSON_START = re.compile(rb'\s*(\{\s*["}]|\[\s*[\[{"\]0-9-])')
PARQUET, ARROW, FEATHER_1 = b"PAR1", b"ARROW1", b"FEA1"


def open_table(path):
    """The table in a file: CSV, also gzipped, Parquet or Feather.

    It has `names` and `batches(numbers, labels)`: names of columns to read as numbers,
    and a dict from those to read as labels to the labels that are known, or None.
    """
    head = first_bytes(path)
    suffix = path.suffix.lower()
    if head.startswith(PARQUET):
        return _ParquetTable(path)
    if head.startswith(ARROW):
        return _FeatherTable(path)
    if head.startswith(FEATHER_1):
        raise ValueError(
            f"{path.name!r} is a Feather file of version 1, which is no longer read. "
            "Write it again with a recent pandas or pyarrow."
        )
    if suffix in (".parquet", ".pq"):
        raise ValueError(f"{path.name!r} is not a Parquet file, or it is damaged.")
    if suffix in (".feather", ".arrow"):
        raise ValueError(f"{path.name!r} is not a Feather file, or it is damaged.")
    if not head:
        raise ValueError(f"{path.name!r} is empty; a table is needed.")
    if head.startswith(UTF_16):
        raise ValueError(f"{path.name!r} is UTF-16 text; save it as UTF-8 first.")
    is_packed = head.startswith(b"\x1f\x8b")
    if not is_packed and (b"\0" in head or JSON_START.match(head)):
        raise ValueError(
            f"{path.name!r} is no table; a CSV, Parquet or Feather file is needed."
        )
    return CsvTable(path, is_packed)


class _ArrowTable:
    """What Parquet and Feather share; `_open` and `_parts` differ."""

    kind: str

    def __init__(self, path):
        self.path = path
        self.arrow = require("pyarrow", f"Reading {self.kind}")
        try:
            self.names = list(self._open())
        except (self.arrow.ArrowException, OSError) as error:
            raise self._damaged(error) from None

    def _open(self):
        """The names of all columns."""
        raise NotImplementedError

    def _parts(self, names):
        """Record batches with these columns, and the share read after each."""
        raise NotImplementedError

    def _damaged(self, error):
        return ValueError(f"{self.path.name!r} is no whole {self.kind} file: {error}.")

    def batches(self, numbers, labels):
        """The columns that are asked for, some rows at a time."""
        parts = self._parts([*numbers, *labels])
        while True:
            try:
                part, share = next(parts)
                # Altered bytes may name a label that is not in its list.
                part.validate(full=True)
            except StopIteration:
                break
            except (self.arrow.ArrowException, OSError) as error:
                raise self._damaged(error) from None
            columns = {
                name: _numbers(self.arrow, part.column(name), name) for name in numbers
            }
            for name in labels:
                columns[name] = _labels(self.arrow, part.column(name), name)
            yield Batch(part.num_rows, columns, share)
            del part, columns
        # What pyarrow keeps for later is memory that the rules could use.
        self.arrow.default_memory_pool().release_unused()


class _ParquetTable(_ArrowTable):
    kind = "Parquet"

    def _open(self):
        parquet = require("pyarrow.parquet", "Reading Parquet")
        # Through a small buffer; else a whole row group is held, often the whole file.
        options = {"pre_buffer": False, "buffer_size": BUFFER_BYTES}
        self.file = parquet.ParquetFile(self.path, **options)
        return self.file.schema_arrow.names

    def _parts(self, names):
        total, done = self.file.metadata.num_rows, 0
        options = {"batch_size": BATCH_ROWS, "columns": names, "use_threads": False}
        for part in self.file.iter_batches(**options):
            done += part.num_rows
            yield part, done / max(1, total)


class _FeatherTable(_ArrowTable):
    kind = "Feather"

    def _open(self):
        self.ipc = require("pyarrow.ipc", "Reading Feather")
        with self.arrow.OSFile(str(self.path)) as file:
            return self.ipc.open_file(file).schema.names

    def _parts(self, names):
        wanted = sorted({self.names.index(name) for name in names})
        options = self.ipc.IpcReadOptions(included_fields=wanted, use_threads=False)
        with self.arrow.OSFile(str(self.path)) as file:
            reader = self.ipc.open_file(file, options=options)
            for i in range(reader.num_record_batches):
                yield reader.get_batch(i), (i + 1) / reader.num_record_batches


def _numbers(arrow, column, name):
    kind = column.type
    types = arrow.types
    if types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    _refuse_times(types, kind, name)
    if types.is_null(kind):
        return np.full(len(column), np.nan)
    if types.is_boolean(kind):
        column = column.cast(arrow.int8())
    elif not (
        types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    ):
        raise ValueError(
            f"Column {name!r} must hold numbers, as the model has it; it holds {kind}."
        )
    column = column.cast(arrow.float64(), safe=False)
    return column.to_numpy(zero_copy_only=False)


def _labels(arrow, column, name):
    types = arrow.types
    _refuse_times(types, column.type, name)
    try:
        if not types.is_dictionary(column.type):
            column = column.dictionary_encode()
    except arrow.ArrowException:
        raise ValueError(
            f"Column {name!r} must hold labels; it holds {column.type}."
        ) from None
    codes = column.indices.fill_null(-1).cast(arrow.int64())
    return _without_nan(
        codes.to_numpy(zero_copy_only=False), column.dictionary.to_pylist()
    )


def _without_nan(codes, values):
    missing = [j for j, value in enumerate(values) if value is None or value != value]
    if missing:
        codes = np.where(np.isin(codes, missing), -1, codes)
        values = [None if j in missing else value for j, value in enumerate(values)]
    return Labels(codes, values)


def _refuse_times(types, kind, name):
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_temporal(kind):
        raise ValueError(
            f"Column {name!r} must hold numbers or categories; it holds dates or times "
            f"({kind}). Turn it into a number first, such as days since a date."
        )
