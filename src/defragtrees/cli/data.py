"""Data files in batches of rows: CSV and JSON lines, also gzipped, Parquet and Feather.

What a column is read as is said by who asks for it, not guessed from its first rows:
as numbers, as numbers of days where it has dates or times, or as labels. Words for
missing values are those of pandas, by which most such files are written and read.
"""

import contextlib
import csv
import datetime as dt
import gzip
import importlib.util
import io
import itertools
import json
import os
import re
import select
import struct
import sys
import tempfile
import zlib
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import click
import numpy as np

from defragtrees._utils.files import first_bytes
from defragtrees._utils.optional import require
from defragtrees.cli import unpacking
from defragtrees.data.sources import ParquetSource, Part
from defragtrees.rules.parsing import read_value
from defragtrees.tables import (
    DATE_KINDS,
    MICROSECONDS,
    TRUTH,
    ZONED,
    Column,
    is_missing,
    object_as_days,
    read_matrix,
)

BATCH_ROWS = 65_536  # fewer of a wide table
BUFFER_BYTES = 2**18  # for each column of a Parquet file
ANY = "any"  # of a column with numbers or dates, whichever the file has

MISSING = frozenset(
    "#N/A,#N/A N/A,#NA,-1.#IND,-1.#QNAN,-NaN,-nan,1.#IND,1.#QNAN,<NA>,N/A,NA,NULL,NaN,"
    "None,n/a,nan,null".split(",")
) | {""}
NUMBER_TYPES = ("null", "boolean", "integer", "floating", "decimal")  # of pyarrow
LONGEST_FIELD = 2**31 - 1  # what fits a C long on every system
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# A column may be called "[a]" or "{x}"; JSON goes on otherwise.
JSON_START = re.compile(rb'\s*(\{\s*["}]|\[\s*[\[{"\]0-9-])')
PARQUET, FEATHER, FEATHER_1, GZIP = b"PAR1", b"ARROW1", b"FEA1", b"\x1f\x8b"
STANDARD_INPUT = "standard input"
JSON_LINES = (".jsonl", ".ndjson")
SEPARATORS = ",;\t|"
COMMA_NUMBER = re.compile(r"[-+]?\d*,\d+([eE][-+]?\d+)?")


@dataclass(frozen=True)
class Batch:
    """Some rows of a table; `share` of the file is read after them.

    A column has `numbers`, or `values` and `codes`, where a code of -1 is a missing
    value. `kinds` names the columns of dates and times, whose numbers are days.
    """

    n_rows: int
    columns: dict[str, Column]
    kinds: dict[str, str]
    share: float


@dataclass(eq=False)
class DataFile:
    """A table that the user names: a file, or `-` for standard input.

    `sep` and `decimal` say how CSV is written; None finds the separator.
    """

    path: Path
    sep: str | None = None
    decimal: str = "."

    @property
    def name(self):
        """What the file is called in messages."""
        return STANDARD_INPUT if self.path == Path("-") else self.path.name

    @cached_property
    def stored(self):
        """The path of a file that can be read twice."""
        if self.path != Path("-"):
            return self.path
        if sys.stdin is None:
            raise ValueError("Standard input is closed; pipe data to it.")
        context = click.get_current_context()
        folder = context.with_resource(tempfile.TemporaryDirectory())
        stored = Path(folder, STANDARD_INPUT)
        with open(stored, "wb") as file:
            file.writelines(_parts(sys.stdin.buffer))
        return stored

    def open(self):
        """The table; see `open_table`."""
        return open_table(self.stored, self.sep, self.decimal)

    def frame(self):
        """All of the file as a pandas frame with the types that it has."""
        require("pandas", "A model that cannot be read")
        frame = self.open().frame()
        kinds = frame.dtypes.astype(str)
        texts = kinds.index[kinds.isin(["object", "str"])]
        # As read_csv of older versions gives it, which models have seen in training.
        return frame.astype(dict.fromkeys(texts, object)).replace({None: np.nan})


def _parts(stream):
    """The bytes of a stream, in parts as they come.

    A signal that comes just before a read blocks is seen only after the read, which may
    never end. So wait for bytes first, a second at a time: Python looks for signals
    after each of them.
    """
    can_wait = os.name == "posix" and isinstance(stream, io.BufferedReader)
    while True:
        while can_wait and not select.select([stream], [], [], 1.0)[0]:
            pass
        part = stream.read1(2**16)
        if not part:
            return
        yield part


def open_table(path, sep=None, decimal="."):
    """The table in a file, whose first bytes say what it is.

    It has `names`, `doubt`, which says what may be wrong with them, and
    `batches(numbers, labels)`: a dict from columns to read as
    numbers to their kind (None, ANY, or a key of `labels.KINDS`), and one from columns
    to read as labels to the labels that are known, or None.
    """
    head = first_bytes(path)
    suffix = path.suffix.lower()
    if head.startswith((PARQUET, FEATHER)):
        return _ArrowTable(path, head.startswith(PARQUET))
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
    is_packed = head.startswith(GZIP)
    is_json = not is_packed and JSON_START.match(head) is not None
    if {*JSON_LINES} & {*path.suffixes} or (is_json and path.name == STANDARD_INPUT):
        return JsonLinesTable(path, is_packed)
    if is_json or (not is_packed and b"\0" in head):
        raise ValueError(
            f"{path.name!r} is no table; CSV, JSON lines (.jsonl), Parquet or Feather "
            "is needed."
        )
    return CsvTable(path, is_packed, sep, decimal)


class _ArrowSource(ParquetSource):
    """The library's source of Parquet files, which gives tables of pyarrow here."""

    def __init__(self, path, is_parquet):
        self.name = path.name
        self.is_parquet = is_parquet
        self.format = "parquet" if is_parquet else "feather"
        self.mark = PARQUET if is_parquet else FEATHER
        self.texts = []  # columns of text that are read as codes
        super().__init__(path)
        dataset = require("pyarrow.dataset", "A Parquet file")
        # Through a small buffer; else a whole row group is held, often the whole file.
        self.options = dataset.ParquetFragmentScanOptions(
            pre_buffer=False, use_buffered_stream=True, buffer_size=BUFFER_BYTES
        )

    def _schema(self):
        if self.is_parquet:
            parquet = require("pyarrow.parquet", "Reading Parquet")
            schema = parquet.read_schema(self.path)
        else:
            ipc = require("pyarrow.ipc", "Reading Feather")
            with self.arrow.OSFile(self.path) as file:
                schema = ipc.open_file(file).schema
        self.every_name = schema.names
        # Of two columns of one name neither can be read, but all others.
        fields = [f for f in schema if schema.names.count(f.name) == 1]
        if self.is_parquet:
            # Where a file has a long text once for many rows, once is enough here too.
            is_text = self.arrow.types.is_string
            self.texts = [f.name for f in fields if is_text(f.type)]
            coded = self.arrow.dictionary(self.arrow.int32(), self.arrow.string())
            fields = [f.with_type(coded) if is_text(f.type) else f for f in fields]
            dataset = require("pyarrow.dataset", "A Parquet file")
            self.format = dataset.ParquetFileFormat(dictionary_columns=self.texts)
        return self.arrow.schema(fields, schema.metadata)

    def check_size(self):
        """Raise if the columns to read unpack to too much, as the file states it.

        Returns the number of rows.
        """
        with self._reading():
            if self.is_parquet:
                parquet = require("pyarrow.parquet", "Reading Parquet")
                data = parquet.read_metadata(self.path)
                names = {data.schema.column(j).path: j for j in range(data.num_columns)}
                places = [names[name] for name in self.names if name in names]
                n_rows, stored = data.num_rows, 0
                for group in map(data.row_group, range(data.num_row_groups)):
                    columns = map(group.column, places)
                    stored += sum(one.total_uncompressed_size for one in columns)
            else:
                n_rows, stored = self.n_rows(), unpacking.feather_size(self.path)
        # Of equal values a file may have one, and of missing ones none.
        types = [self.data.schema.field(name).type for name in self.names]
        n_bytes = max(stored, n_rows * sum(map(_cell_bytes, types)))
        size = os.path.getsize(self.path)
        unpacking.check_size(self.name, n_bytes, size, "Write it as CSV first")
        return n_rows

    @contextlib.contextmanager
    def _reading(self):
        try:
            yield
        except (self.arrow.ArrowException, OSError, struct.error) as error:
            kind = "Parquet" if self.is_parquet else "Feather"
            raise ValueError(
                f"{self.name!r} is no whole {kind} file: {error}."
            ) from None

    def _batches(self):
        if self.is_parquet:
            yield from super()._batches()
            return
        # One buffer after the other: Arrow may crash where threads unpack damaged ones.
        ipc = require("pyarrow.ipc", "Reading Feather")
        names = self._columns()
        fields = [self.data.schema.get_field_index(name) for name in names]
        options = ipc.IpcReadOptions(use_threads=False, included_fields=sorted(fields))
        with self.arrow.OSFile(str(self.path)) as file:
            reader = ipc.open_file(file, options=options)
            for k in range(reader.num_record_batches):
                yield reader.get_batch(k).select(names)

    def _part(self, table):
        # Altered bytes may name a label that is not in its list.
        table.validate(full=True)
        return Part(table)


class _ArrowTable:
    """A Parquet or Feather file."""

    doubt = ""

    def __init__(self, path, is_parquet):
        self.source = _ArrowSource(path, is_parquet)
        self.arrow = self.source.arrow
        self.names = list(self.source.every_name)

    def frame(self):
        """All columns but the index, as a pandas frame."""
        self.source.check_size()
        tables = [part.X for part in self.source.parts()]
        empty = self.source.data.schema.empty_table().select(self.source.names)
        whole = self.arrow.concat_tables([empty, *tables])
        frame = whole.to_pandas(ignore_metadata=True)
        texts = [name for name in self.source.texts if name in frame]
        return frame.astype(dict.fromkeys(texts, object))

    def batches(self, numbers, labels):
        """The columns that are asked for, some rows at a time."""
        kinds = {name: self._kind(name, wanted) for name, wanted in numbers.items()}
        for name, known in labels.items():
            if known is not None:
                self._refuse_times(name)
        self.source.names = list(dict.fromkeys([*numbers, *labels]))
        total, done = max(1, self.source.check_size()), 0
        for part in self.source.parts():
            table = part.X
            # As the library reads the same table of pandas, dates and times included.
            frame = table.select(list(numbers)).to_pandas(ignore_metadata=True)
            matrix = read_matrix(frame, kinds=list(kinds.values()))
            columns = {n: Column(n, matrix[:, j]) for j, n in enumerate(numbers)}
            for name in labels:
                columns[name] = self._labels(table.column(name).combine_chunks(), name)
            done += table.num_rows
            days = {name: kind for name, kind in kinds.items() if kind is not None}
            yield Batch(table.num_rows, columns, days, done / total)
            del part, table, frame, matrix, columns
        # What pyarrow keeps for later is memory that the rules could use.
        self.arrow.default_memory_pool().release_unused()

    def arrow_type(self, name):
        """The type of a column, without its coding."""
        type_ = self.source.data.schema.field(name).type
        is_coded = self.arrow.types.is_dictionary(type_)
        return type_.value_type if is_coded else type_

    def _kind(self, name, wanted):
        """What dates or times a column has that is read as numbers; None for none."""
        types, type_ = self.arrow.types, self.arrow_type(name)
        if wanted is None:
            self._refuse_times(name)
        for kind in ("timestamp", "date", "time", "duration"):
            if getattr(types, f"is_{kind}")(type_):
                found = "datetime" if kind == "timestamp" else kind
                if found == "datetime" and type_.tz is not None:
                    found = ZONED
                return found if wanted == ANY else wanted
        if not any(getattr(types, f"is_{kind}")(type_) for kind in NUMBER_TYPES):
            raise ValueError(
                f"Column {name!r} must hold numbers, as the model has it; it holds "
                f"{type_}."
            )
        return None

    def _refuse_times(self, name):
        if self.arrow.types.is_temporal(self.arrow_type(name)):
            raise ValueError(
                f"Column {name!r} must hold numbers or categories; it holds dates or "
                f"times ({self.arrow_type(name)}). Turn it into a number first, such "
                "as days since a date."
            )

    def _labels(self, column, name):
        arrow = self.arrow
        try:
            if not arrow.types.is_dictionary(column.type):
                column = column.dictionary_encode()
        except arrow.ArrowException:
            raise ValueError(
                f"Column {name!r} must hold labels; it holds {column.type}."
            ) from None
        codes = column.indices.fill_null(-1).cast(arrow.int64())
        codes = codes.to_numpy(zero_copy_only=False)
        values = column.dictionary.to_pylist()
        missing = [j for j, value in enumerate(values) if is_missing(value)]
        if missing:
            codes = np.where(np.isin(codes, missing), -1, codes)
        return Column(name, values=values, codes=codes)


def as_arrow(column, type_):
    """A Column as an array of pyarrow; numbers are days where the type is of times."""
    arrow = require("pyarrow", "Parquet")
    types = arrow.types
    if column.numbers is None:
        values = column.values
        if types.is_string(type_):
            values = [str(value) for value in values]
        codes = arrow.array(column.codes, mask=column.codes < 0)
        return arrow.array(values, type_).take(codes)
    missing = np.isnan(column.numbers)
    if not types.is_temporal(type_):
        return arrow.array(column.numbers, mask=missing).cast(type_, safe=False)
    moments = np.round(np.where(missing, 0, column.numbers) * MICROSECONDS)
    step = arrow.timestamp("us", getattr(type_, "tz", None))
    if types.is_time(type_):
        step = arrow.time64("us")
    elif types.is_duration(type_):
        step = arrow.duration("us")
    moments = arrow.array(moments.astype(np.int64), mask=missing).cast(step)
    return moments.cast(type_, safe=False)


def _cell_bytes(type_):
    """The bytes of a value, as it is held; of a text, of its code."""
    try:
        return type_.bit_width / 8
    except ValueError:
        return unpacking.CELL_BYTES


class _TextTable:
    """A file of text, maybe gzipped."""

    decimal = "."
    doubt = ""

    def __init__(self, path, is_packed=False):
        self.path = path
        self.is_packed = is_packed

    def arrow_type(self, name):
        """None: a file of text has no types."""
        return None

    def batches(self, numbers, labels):
        """The columns that are asked for, some rows at a time."""
        # A label that the model knows is a label, even if it is a word for missing.
        words = {
            name: MISSING - {str(label) for label in labels.get(name) or ()}
            for name in (*numbers, *labels)
        }
        wanted = dict(numbers)
        size = max(1, self.path.stat().st_size)
        done = 0
        with self._open() as (text, raw):
            for n_rows, columns in self._columns(text, words, labels):
                kinds = {}
                for name in numbers:
                    found, kind = _numbers(
                        columns[name],
                        name,
                        words[name],
                        wanted[name],
                        done,
                        self.decimal,
                    )
                    columns[name] = Column(name, found)
                    if wanted[name] == ANY and not np.isnan(found).all():
                        wanted[name] = kind  # also in the rows to come
                    if kind in DATE_KINDS:
                        kinds[name] = kind
                done += n_rows
                if self.is_packed:
                    text.buffer.check(done * unpacking.ROW_BYTES)
                yield Batch(n_rows, columns, kinds, raw.tell() / size)

    @contextlib.contextmanager
    def _open(self):
        """The file as text, and as bytes to see how far it is read."""
        # A long text in a column that nobody asks for is no reason to stop.
        limit = csv.field_size_limit(LONGEST_FIELD)
        try:
            with open(self.path, "rb") as raw:
                packed = self.is_packed
                unpacked = unpacking.Gunzip(self.path.name, raw) if packed else raw
                yield io.TextIOWrapper(unpacked, "utf-8-sig", newline=""), raw
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{self.path.name!r} must be UTF-8 text; it has the byte "
                f"0x{error.object[error.start]:02x}. Save it as UTF-8 first."
            ) from None
        except (EOFError, zlib.error, gzip.BadGzipFile, csv.Error) as error:
            raise ValueError(
                f"{self.path.name!r} cannot be read as {self.KIND}: {error}."
            ) from None
        finally:
            csv.field_size_limit(limit)

    @property
    def _n_rows_at_once(self):
        n_rows = unpacking.CELLS_AT_ONCE // len(self.names)
        return max(1, min(n_rows, BATCH_ROWS))


class JsonLinesTable(_TextTable):
    """A file with a JSON object per line; the first has the names of all columns."""

    KIND = "JSON lines"

    def __init__(self, path, is_packed=False):
        super().__init__(path, is_packed)
        with self._open() as (text, _):
            first = next(self._rows(text), None)
        if not first:
            raise ValueError(f"{path.name!r} has no line with columns.")
        self.names = list(first)

    def frame(self):
        """All columns as a pandas frame."""
        pandas = require("pandas", "A model that cannot be read")
        with self._open() as (text, _):
            return pandas.DataFrame(list(self._rows(text)), columns=self.names)

    def _rows(self, text):
        """The dict of each line."""
        for k, line in enumerate(text, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise csv.Error(f"line {k} is not JSON, {error}") from None
            if not isinstance(row, dict):
                raise csv.Error(f"line {k} is no object with names and values")
            yield row

    def _columns(self, text, words, labels):
        rows = self._rows(text)
        while part := list(itertools.islice(rows, self._n_rows_at_once)):
            columns = {}
            for name in words:
                cells = [row.get(name) for row in part]
                if any(isinstance(cell, (dict, list)) for cell in cells):
                    raise ValueError(
                        f"Column {name!r} must hold texts and numbers; it holds a list "
                        "or an object. Write its parts as columns of their own."
                    )
                if name in labels:
                    # By type too: 1, 1.0 and true are equal in Python.
                    seen = {}
                    codes = [
                        -1
                        if is_missing(c)
                        else seen.setdefault((type(c), c), len(seen))
                        for c in cells
                    ]
                    values = [cell for _, cell in seen]
                    columns[name] = Column(name, values=values, codes=np.array(codes))
                else:
                    column = np.array(
                        [np.nan if cell is None else cell for cell in cells], object
                    )
                    with contextlib.suppress(ValueError, TypeError, OverflowError):
                        if not any(isinstance(cell, str) for cell in cells):
                            column = column.astype(np.float64)
                    columns[name] = column
            yield len(part), columns


class CsvTable(_TextTable):
    """A CSV file whose first line has the names of its columns."""

    KIND = "CSV"

    def __init__(self, path, is_packed=False, sep=None, decimal="."):
        super().__init__(path, is_packed)
        self.decimal = decimal
        with self._open() as (text, _):
            first = text.readline()
        self.delimiter = sep
        if sep is None and ".tsv" in path.suffixes:
            self.delimiter = "\t"
        elif sep is None:
            # Where numbers have decimal commas, a comma is the last that separates.
            likely = (",", ";\t") if decimal != "," else (";\t", ",")
            found = (signs for signs in likely if any(sign in first for sign in signs))
            self.delimiter = max(next(found, ","), key=first.count)
        with self._open() as (text, _):
            self.names, _ = self._header(text)
        others = SEPARATORS.replace(self.delimiter, "")
        other = max(others, key=first.count)
        if other in first:
            self.doubt = (
                f" {path.name!r} is read with {self.delimiter!r} between columns; name "
                f"another separator, such as --sep {other!r}, if that is wrong."
            )
        if len(self.names) == 1 and other in first and '"' not in first:
            raise ValueError(
                f"{path.name!r} has one column only, {self.names[0]!r}.{self.doubt}"
            )

    def frame(self):
        """All columns as a pandas frame."""
        pandas = require("pandas", "A model that cannot be read")
        with self._open() as (text, _):
            _, n_lines = self._header(text)
            # Without any row pandas needs the names, as a line.
            head = self.delimiter.join(map(str, range(len(self.names)))) + "\n"
            records = itertools.chain([head], self._records(text, n_lines))
            frame = pandas.read_csv(
                _Stream(records),
                sep=self.delimiter,
                decimal=self.decimal,
                index_col=False,
                low_memory=False,
                **_exactly(pandas),
            )
        frame.columns = self.names
        return frame

    def _columns(self, text, words, labels):
        has_pandas = importlib.util.find_spec("pandas") is not None
        read = self._pandas_columns if has_pandas else self._plain_columns
        _, n_lines = self._header(text)
        for n_rows, columns in read(self._records(text, n_lines), words, labels):
            for name, known in labels.items():
                is_text = any(isinstance(label, str) for label in known or ("",))
                if self.decimal != "." and not is_text:
                    texts = [v.replace(self.decimal, ".") for v in columns[name].values]
                    columns[name] = replace(columns[name], values=texts)
            yield n_rows, columns

    def _header(self, text):
        """The names of the columns, and how many lines they take."""
        reader = csv.reader(text, delimiter=self.delimiter)
        names = next(reader, None)
        if not names:
            raise ValueError(f"{self.path.name!r} has no line with column names.")
        if len(names) > unpacking.MOST_COLUMNS:
            raise ValueError(
                f"{self.path.name!r} must have at most {unpacking.MOST_COLUMNS:,} "
                f"columns; it has {len(names):,}."
            )
        return names, reader.line_num

    def _records(self, text, n_lines):
        """The text of each row, all of which have as many fields as there are names.

        pandas would cut off what is too long and fill up what is too short, unasked.
        """
        width, delimiter = len(self.names), self.delimiter
        blank = " \t\r\n".replace(delimiter, "")
        lines = iter(text)
        n_more_blank = 0  # than rows
        for line in lines:
            first = n_lines = n_lines + 1
            n_fields = _count_fields(line, delimiter)
            if n_fields is None:
                # It may go on in the next lines; then they are one row together.
                taken = [line]
                rest = itertools.islice(lines, unpacking.MOST_LINES)
                rest = (taken.append(more) or more for more in rest)
                record = csv.reader(itertools.chain([line], rest), delimiter=delimiter)
                n_fields = len(next(record))
                if len(taken) > unpacking.MOST_LINES:
                    raise csv.Error(
                        f"the row in line {first} has over {unpacking.MOST_LINES:,} "
                        "lines; a quote may be missing"
                    )
                n_lines += len(taken) - 1
                line = "".join(taken)
            if n_fields == width:
                # Of a single column an empty line is no row, as for most readers.
                if width > 1 or line.strip(blank):
                    n_more_blank -= 1
                    yield line
                    continue
            elif line.strip(blank):
                raise csv.Error(
                    f"line {first} has {n_fields} fields, but there are {width} column "
                    "names"
                )
            n_more_blank += 1
            if n_more_blank > unpacking.BLANK_LINES:
                raise csv.Error(
                    f"it has {unpacking.BLANK_LINES:,} more blank lines than rows"
                )

    def _pandas_columns(self, records, words, labels):
        """By pandas, which is four times as fast: each part's rows and columns."""
        pandas = require("pandas", "This way of reading CSV")
        # By place, as pandas would change names that come twice.
        keys = {name: str(self.names.index(name)) for name in words}
        options = {
            "sep": self.delimiter,
            "decimal": self.decimal,
            "header": None,
            "names": [str(j) for j in range(len(self.names))],
            "usecols": list(keys.values()),
            "index_col": False,
            "dtype": {keys[name]: str for name in labels},
            "na_values": {keys[name]: list(missing) for name, missing in words.items()},
            "keep_default_na": False,
            "chunksize": self._n_rows_at_once,
            "low_memory": False,
            **_exactly(pandas),
        }
        try:
            with pandas.read_csv(_Stream(records), **options) as reader:
                for frame in reader:
                    columns = {name: frame[key] for name, key in keys.items()}
                    for name in labels:
                        codes, values = pandas.factorize(columns[name])
                        columns[name] = Column(name, values=list(values), codes=codes)
                    yield len(frame), columns
        except pandas.errors.EmptyDataError:
            return
        except pandas.errors.ParserError as error:
            raise csv.Error(str(error)) from None

    def _plain_columns(self, records, words, labels):
        """By the csv module: number of rows and columns of each part."""
        places = {name: self.names.index(name) for name in words}
        reader = csv.reader(records, delimiter=self.delimiter)
        while rows := list(itertools.islice(reader, self._n_rows_at_once)):
            columns = {name: [row[j] for row in rows] for name, j in places.items()}
            for name in labels:
                place = dict.fromkeys(words[name], -1)
                values = [v for v in dict.fromkeys(columns[name]) if v not in place]
                place |= {value: j for j, value in enumerate(values)}
                codes = np.array([place[value] for value in columns[name]])
                columns[name] = Column(name, values=values, codes=codes)
            yield len(rows), columns


def _exactly(pandas):
    """The option of read_csv for numbers to the last bit, where a threshold may lie."""
    # Newer ones read them so unasked.
    is_old = tuple(map(int, pandas.__version__.split(".")[:2])) < (3, 1)
    return {"float_precision": "round_trip"} if is_old else {}


class _Stream:
    """Records as a file that pandas reads."""

    def __init__(self, records):
        self.records = records

    def __iter__(self):
        return self.records

    def read(self, size=-1):
        """The next records, of about so many letters together."""
        parts = []
        for record in self.records:
            parts.append(record)
            size -= len(record)
            if size <= 0:
                break
        return "".join(parts)


def _count_fields(line, delimiter):
    """The number of fields, or None where that takes a closer look."""
    if '"' not in line:
        return line.count(delimiter) + 1
    # Every other part stands outside of quotes, if each quote opens or closes a field;
    # an empty one between two quotes is a quote in the text.
    outside = line.split('"')
    is_closed = len(outside) % 2 == 1
    outside = outside[::2]
    if not is_closed or not all(
        not part or part.endswith(delimiter) for part in outside[:-1]
    ):
        return None
    return sum(part.count(delimiter) for part in outside) + 1


def _numbers(column, name, words, kind, done, decimal="."):
    """A column of text as numbers, and the kind of its dates or times; None for none.

    `done` rows came before it, for the message.
    """
    values = np.asarray(column)
    if values.dtype.kind in "biuf":
        return values.astype(np.float64), None
    texts = values.tolist()
    read = {text: _number(text, words, decimal) for text in texts}
    if kind is not None and None in read.values():
        wanted = kind
        if kind == ANY:
            first = next(text for text in texts if read[text] is None)
            wanted = ZONED if _is_zoned(first.strip()) else "datetime"
        days = {text: _days(text, words, wanted, name) for text in read}
        if kind != ANY or None not in days.values():
            read, kind = days, wanted
    else:
        kind = None
    wrong = next((i for i, text in enumerate(texts) if read[text] is None), None)
    if wrong is not None:
        needed = "numbers" if kind in (None, ANY) else "dates or times"
        advice = ""
        if needed == "numbers" and decimal == ",":
            advice = " With --decimal ',' a number is written as 1,5."
        elif needed == "numbers" and COMMA_NUMBER.fullmatch(str(texts[wrong]).strip()):
            advice = " Add --decimal ',' if that is a decimal comma."
        raise ValueError(
            f"Column {name!r} must hold {needed}, as the model has it; row "
            f"{done + wrong + 1} has {texts[wrong]!r}.{advice}"
        )
    return np.array([read[text] for text in texts], dtype=np.float64), kind


def _is_zoned(text):
    try:
        return dt.datetime.fromisoformat(text).utcoffset() is not None
    except ValueError:
        return False


def _number(value, words, decimal):
    """The number that a cell has, a truth value included; None if it has none."""
    text = str(value).strip()  # pandas makes an integer of many digits
    if text in words:
        return np.nan
    if text.lower() in TRUTH:
        return TRUTH[text.lower()]
    if decimal != "." and isinstance(value, str):
        if "." in text:  # it may separate thousands there
            return None
        text = text.replace(decimal, ".")
    try:
        # Python would read 1_000 as a number; nobody else does.
        return None if "_" in text else float(text)
    except ValueError:
        return None


def _days(value, words, kind, name):
    """The days that a cell of dates or times has; None if it has none."""
    if not isinstance(value, str):
        return np.nan if value != value else None
    text = value.strip()
    if text in words:
        return np.nan
    try:
        if kind == "duration":
            return read_value(text, kind)
        type_ = dt.time if kind == "time" else dt.datetime
        moment = type_.fromisoformat(text)
    except ValueError:
        return None
    return object_as_days(moment, kind, name)
