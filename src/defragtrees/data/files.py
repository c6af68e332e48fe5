"""Files of tables: CSV and JSON lines, also gzipped, Parquet and Feather.

The model that rows are read for decides how a column is parsed (`FileSource.expect`):
as numbers, as dates or times, or as labels. A column that no model expects is parsed as
pandas does. Words for missing values are those of pandas, but a label that the model
knows is a label.

A gigabyte of equal bytes is a few kilobytes when compressed, so what a packed file may
unpack to is limited, in Python as on the command line.
"""

import contextlib
import csv
import datetime as dt
import gzip
import io
import itertools
import json
import mmap
import os
import re
import zlib
from collections import Counter
from pathlib import Path

import numpy as np

from defragtrees._utils.files import first_bytes
from defragtrees._utils.optional import require
from defragtrees.data import sources
from defragtrees.data.sources import Part, Source
from defragtrees.errors import TableFileError
from defragtrees.rules.parsing import read_value
from defragtrees.tables import (
    DATE_KINDS,
    TRUTH,
    ZONED,
    days_as_moments,
    find_positions,
    is_missing,
    object_as_days,
)

# How a column is parsed, if not as a kind of dates or as labels.
NUMBER = "number"
ANY = "any"  # numbers or dates, whichever the file has
AS_IS = "as it is"  # text of CSV, typed values of other files

FREE_BYTES = 2**24
RATIO = 256  # ordinary tables compress to a tenth, one-hot columns to a hundredth
ROW_BYTES, CELL_BYTES = 16, 8  # at least, however few the file has for them
MOST_COLUMNS = 1_000_000
MOST_LINES = 1_000_000  # of one row
BLANK_LINES = 1_000_000  # more than there are rows
CELLS_AT_ONCE = 2**24  # of a part, unused columns included
LONGEST_FIELD = 2**31 - 1  # what fits a C long on every system
BUFFER_BYTES = 2**18  # for each column of a Parquet file
MOST_ZSTD = 2**15  # times its size, that a frame of zstd can unpack to

MISSING = frozenset(
    "#N/A,#N/A N/A,#NA,-1.#IND,-1.#QNAN,-NaN,-nan,1.#IND,1.#QNAN,<NA>,N/A,NA,NULL,NaN,"
    "None,n/a,nan,null".split(",")
) | {""}
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# A column may be called "[a]" or "{x}"; JSON goes on otherwise.
JSON_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*(\{\s*["}]|\[\s*[\[{"\]0-9-])')
PARQUET, FEATHER, FEATHER_1, GZIP = b"PAR1", b"ARROW1", b"FEA1", b"\x1f\x8b"
STANDARD_INPUT = "standard input"  # the name of the file that it is copied to
SEPARATORS = ",;\t|"
COMMA_NUMBER = re.compile(r"[-+]?\d*,\d+([eE][-+]?\d+)?")


class FileSource(Source):
    """A file with a table, or a folder of Parquet files; y and weights are columns.

    `columns` has the names of all its columns, `share` how much of it is read, and
    `doubt` a sentence on what may be wrong with the names.
    """

    share = 0.0

    def __init__(self, path, y=None, sample_weight=None, sep=None, decimal="."):
        self.file = _open_file(Path(path), sep, decimal)
        self.name, self.columns = self.file.name, self.file.names
        self.doubt = self.file.doubt
        # Of two columns of one name neither can be read, but all others.
        self.known = [name for name, n in Counter(self.columns).items() if n == 1]
        names = y if isinstance(y, tuple) else (y,)
        for role, name in (
            *(("y", n) for n in names),
            ("sample_weight", sample_weight),
        ):
            is_column = isinstance(name, str) and name in self.known
            if name is not None and not is_column:
                raise ValueError(
                    f"With a file, {role} must be the name of a column, such as "
                    f"{self.known[:5]!r}; got {name!r}."
                )
        self.y, self.sample_weight, self.has_labels = y, sample_weight, y is not None
        self.y_names = names if y is not None else ()
        reserved = {*names, sample_weight, *self.file.index}
        self.names = [name for name in self.known if name not in reserved]
        self.expected = {} if sample_weight is None else {sample_weight: NUMBER}
        self._n_rows = None

    def n_rows(self):
        """Number of rows; of text it is counted until just above MANY_ROWS."""
        if self._n_rows is None:
            self._n_rows = self.file.n_rows(sources.MANY_ROWS + 1)
        return self._n_rows

    def select(self, names):
        """Read only these columns, if the file has them all."""
        if names and {*names} <= {*self.known}:
            self.names = list(names)

    def expect(self, model, others=False, kinds=None):
        """Parse the columns of a model, or of rules, as it needs them.

        `others` keeps other columns; `kinds` are those of features with numbers.
        """
        names = model.feature_names
        if not {*names} & {*self.known} and len(names) == len(self.names):
            names = self.names  # of a model without names
        kinds = kinds or model.feature_kinds or (ANY,) * len(names)
        for name, labels, kind in zip(names, model.categories, kinds, strict=True):
            if labels is None:
                labels = kind if kind in (NUMBER, *DATE_KINDS) else ANY
            self.expected[name] = labels
        for name in self.y_names:
            self.expected[name] = model.classes or NUMBER
        if not others:
            self.select(names)

    def first(self):
        """The first rows."""
        part = next(self._read(sources.PART_ROWS), None)
        return self._part(None, self._expected(), 0) if part is None else part

    def parts(self):
        """Yield blocks of rows, in order."""
        inferred = {}
        if self._is_inferred():
            # What the first rows have, the others must have too.
            for name, column in self.first().X.items():
                inferred[name] = NUMBER if column.dtype.kind in "biuf" else AS_IS
        yield from self._read(sources.PART_ROWS, inferred)
        self.file.close()

    def load(self):
        """Load the rows as a table in memory."""
        if not self._is_inferred():
            return super().load()
        # The type of a column depends on all its rows.
        part = next(self._read(None), None)
        return sources.table_of([self.first() if part is None else part])

    def arrow_type(self, name):
        """The type of a column of Parquet or Feather, without its coding, or None."""
        return self.file.arrow_type(name)

    def _expected(self, inferred=()):
        roles = [n for n in (*self.y_names, self.sample_weight) if n is not None]
        expected = {**dict(inferred), **self.expected}
        expected = {name: expected.get(name) for name in [*self.names, *roles]}
        # Rules without conditions still need the number of rows.
        return expected or {(self.known or self.columns)[0]: AS_IS}

    def _is_inferred(self):
        """Whether pandas chooses the type of a column by its text."""
        return self.file.is_text and None in self._expected().values()

    def _read(self, n_rows, inferred=()):
        expected, n_before = self._expected(inferred), 0
        for frame, share in self.file.blocks(expected, n_rows):
            self.share = share
            yield self._part(frame, expected, n_before)
            n_before += len(frame)

    def _part(self, frame, expected, n_before):
        """A block as a Part; what ANY is in it, `expected` has for those to come."""
        pandas = require("pandas", "Reading files")
        if frame is None:
            frame = pandas.DataFrame(columns=list(expected), dtype=object)
        made = {}
        for name, wanted in expected.items():
            column = frame[name]
            is_moment = column.dtype.kind in "mM"
            if is_moment and (wanted == NUMBER or isinstance(wanted, tuple)):
                raise TypeError(
                    f"Column {name!r} must hold numbers or categories; it holds dates "
                    f"or times ({column.dtype}). Turn it into a number first, such as "
                    "days since a date."
                )
            if isinstance(wanted, tuple):
                made[name] = self._labels(column, wanted)
            elif wanted is None and str(column.dtype) in ("object", "str"):
                # As older versions of pandas read text, which models have seen.
                made[name] = column.astype(object).where(column.notna(), np.nan)
            elif wanted not in (None, AS_IS) and self.file.is_text:
                made[name], kind = _numbers(column, wanted, n_before, self.file.decimal)
                if wanted == ANY and not made[name].isna().all():
                    expected[name] = kind or NUMBER
        frame = frame.assign(**made)
        y = [_class_values(frame[name], expected[name]) for name in self.y_names]
        y = (y[0] if len(y) == 1 else np.column_stack(y)) if y else None
        weight = self.sample_weight
        if weight is not None:
            weight = _checked_weights(frame[weight], n_before)
        return Part(frame[self.names], y, weight)

    def _labels(self, column, known):
        """A column under the labels that a model knows.

        Parquet may have 1 where the model has "1", and CSV has text only. So what is
        not in the list of known labels counts as the known one that reads the same.
        """
        pandas = require("pandas", "Reading files")
        try:
            codes, found = pandas.factorize(column)
        except TypeError:
            raise ValueError(
                f"Column {column.name!r} must hold labels; it holds lists or objects."
            ) from None
        found, known = list(found), [v for v in known if not is_missing(v)]
        if self.file.decimal != "." and not any(isinstance(v, str) for v in known):
            found = [str(value).replace(self.file.decimal, ".") for value in found]
        places = find_positions(found, known)
        pairs = zip(found, places, strict=True)
        labels = [value if j is None else known[j] for value, j in pairs]
        is_declared = str(column.dtype) == "category"
        is_declared &= column.name not in self.file.texts
        if labels == found and (is_declared or column.dtype.kind in "biuf"):
            return column
        if None in places:
            made, dtype = np.array([*labels, np.nan], dtype=object)[codes], object
        else:
            places = np.array([*places, -1], dtype=int)[codes]
            labels = pandas.Index(known, dtype=object)
            made, dtype = pandas.Categorical.from_codes(places, labels), None
        return pandas.Series(made, column.index, dtype, column.name)


def _class_values(column, known):
    """y as an array; if all its labels are known, of their type."""
    if str(column.dtype) == "category" and column.notna().all():
        return np.asarray(known)[column.cat.codes]
    return column.to_numpy()


def _checked_weights(column, n_before):
    weights = column.to_numpy(dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise ValueError(
            f"Column {column.name!r} must hold weights, which are numbers from 0; row "
            f"{n_before + wrong[0] + 1} has {weights[wrong[0]]:g}."
        )
    return weights


def _open_file(path, sep, decimal):
    """The table in a file, whose first bytes show its format."""
    name, suffix = path.name, path.suffix.lower()
    if not path.exists():
        raise FileNotFoundError(f"There is no file or folder {str(path)!r}.")
    if path.is_dir():
        return _ArrowFile(path, True)
    head = first_bytes(path)
    if head.startswith((PARQUET, FEATHER)):
        return _ArrowFile(path, head.startswith(PARQUET))
    is_packed = head.startswith(GZIP)
    is_json = not is_packed and JSON_START.match(head) is not None
    is_lines = bool({".jsonl", ".ndjson"} & {*path.suffixes})
    wrong = ""
    if head.startswith(FEATHER_1):
        wrong = "is a Feather file of version 1. Write it again with a recent pandas"
    elif suffix in (".parquet", ".pq"):
        wrong = "is not a Parquet file, or it is damaged"
    elif suffix in (".feather", ".arrow"):
        wrong = "is not a Feather file, or it is damaged"
    elif not head:
        wrong = "is empty; a table is needed"
    elif head.startswith(UTF_16):
        wrong = "is UTF-16 text; save it as UTF-8 first"
    elif is_lines or (is_json and name == STANDARD_INPUT):
        return _JsonLines(path, is_packed)
    elif is_json or (not is_packed and b"\0" in head):
        wrong = "is no table; CSV, JSON lines (.jsonl), Parquet or Feather is needed"
    if wrong:
        raise TableFileError(f"{name!r} {wrong}.")
    return _Csv(path, is_packed, sep, decimal)


def _check_size(name, n_bytes, n_packed, advice):
    """Raise if so many bytes are too many for so many packed ones."""
    if n_bytes > FREE_BYTES + RATIO * n_packed:
        raise TableFileError(
            f"{name!r} unpacks to more than 16 MiB and {RATIO} times its size, the "
            f"limit. {advice}, if it is in order."
        )


# Parquet and Feather


class _ArrowFile:
    """A file of Parquet or Feather, or a folder of Parquet files."""

    doubt, decimal = "", "."
    is_text = False

    def __init__(self, path, is_parquet):
        self.path, self.name, self.is_parquet = path, path.name, is_parquet
        self.kind = "Parquet" if is_parquet else "Feather"
        self.arrow = require("pyarrow", f"A {self.kind} file")
        dataset = require("pyarrow.dataset", f"A {self.kind} file")
        self.ipc = require("pyarrow.ipc", f"A {self.kind} file")
        form = dataset.ParquetFileFormat() if is_parquet else dataset.IpcFileFormat()
        with self._reading():
            # Without its own schema, which pyarrow rejects if a name comes twice.
            data = dataset.dataset(path, self.arrow.schema([]), format=form)
            schemas = [one.physical_schema for one in data.get_fragments()]
            schema, *others = schemas or [data.schema]
            for field in itertools.chain.from_iterable(others):
                if field.name not in schema.names:
                    schema = schema.append(field)
            self.names = schema.names
            known = [one.pandas_metadata or {} for one in (schema, *others)]
            index = [name for one in known for name in one.get("index_columns", ())]
            self.index = [name for name in index if isinstance(name, str)]
            fields = [f for f in schema if self.names.count(f.name) == 1]
            # Where a file has a long text once for many rows, once is enough here too.
            is_text = self.arrow.types.is_string
            self.texts = [f.name for f in fields if is_parquet and is_text(f.type)]
            coded = self.arrow.dictionary(self.arrow.int32(), self.arrow.string())
            fields = [f.with_type(coded) if f.name in self.texts else f for f in fields]
            if is_parquet:
                form = dataset.ParquetFileFormat(dictionary_columns=self.texts)
            self.data = dataset.dataset(path, self.arrow.schema(fields), format=form)
        # Through a small buffer; else a whole row group is held, often the whole file.
        self.options = dataset.ParquetFragmentScanOptions(
            pre_buffer=False,
            use_buffered_stream=True,
            buffer_size=BUFFER_BYTES,
            page_checksum_verification=True,
        )

    @contextlib.contextmanager
    def _reading(self):
        """Raise errors of a damaged file as a TableFileError."""
        try:
            yield
        except TableFileError:
            raise
        except (self.arrow.ArrowException, OSError, ValueError) as error:
            raise TableFileError(
                f"{self.name!r} is no whole {self.kind} file: "
                f"{str(error).rstrip('. ')}. Write it again."
            ) from None

    def arrow_type(self, name):
        """The type of a column, without its coding."""
        type_ = self.data.schema.field(name).type
        return type_.value_type if self.arrow.types.is_dictionary(type_) else type_

    def n_rows(self, limit=None):
        """Number of rows, from the file's metadata."""
        with self._reading():
            return self.data.count_rows()

    def blocks(self, expected, n_rows):
        """Yield frames, and the share of the file that is read after them."""
        pandas = require("pandas", f"A {self.kind} file")
        names, total, done = list(expected), max(1, self.n_rows()), 0
        as_is = [name for name in names if expected[name] == AS_IS]
        texts = [name for name in self.texts if name in expected]
        texts = [name for name in texts if expected[name] is None]
        with self._reading():
            self._check_size(names)
            for table in self._tables(names, n_rows or sources.PART_ROWS):
                # Altered bytes may name a label that is not in its list.
                table.validate(full=True)
                frame = table.drop_columns(as_is).to_pandas(ignore_metadata=True)
                frame = frame.astype(dict.fromkeys(texts, object))
                for name in as_is:
                    values = table.column(name).to_pylist()
                    frame[name] = pandas.Series(values, dtype=object)
                done += table.num_rows
                yield frame, done / total

    def close(self):
        """Give back what pyarrow keeps for later: memory that a fit could use."""
        self.arrow.default_memory_pool().release_unused()

    def _check_size(self, names):
        """Raise if a file lacks a column, or the columns to read unpack to too much."""
        sizes = [0]
        if self.is_parquet:
            for fragment in self.data.get_fragments():
                # pyarrow would read a column of missing values.
                absent = {*names}.difference(fragment.physical_schema.names)
                if absent:
                    raise TableFileError(
                        f"{os.path.basename(fragment.path)!r} has no column "
                        f"{min(absent)!r}, which other files of {self.name!r} have. "
                        "Write it again with all columns, or leave it out."
                    )
                data = fragment.metadata
                for group in map(data.row_group, range(data.num_row_groups)):
                    sizes += [
                        one.total_uncompressed_size
                        for one in map(group.column, range(data.num_columns))
                        if one.path_in_schema in names
                    ]
        else:
            sizes = _zstd_sizes(self.path)
        # Of equal values a file may have one, and of missing ones none.
        types = [self.data.schema.field(name).type for name in names]
        n_bytes = max(sum(sizes), self.n_rows() * sum(map(_cell_bytes, types)))
        size = sum(map(os.path.getsize, self.data.files))
        _check_size(self.name, n_bytes, size, "Write it as CSV first")

    def _tables(self, names, n_rows):
        batches, n_read = [], 0
        for batch in self._batches(names, n_rows):
            batches.append(batch)
            n_read += batch.num_rows
            if n_read >= n_rows:
                yield self.arrow.Table.from_batches(batches)
                batches, n_read = [], 0
        if n_read:
            yield self.arrow.Table.from_batches(batches)

    def _batches(self, names, n_rows):
        if self.is_parquet:
            # By row group, as a scan of the whole file would read far ahead.
            for fragment in self.data.get_fragments():
                for piece in fragment.split_by_row_group():
                    yield from piece.to_batches(
                        schema=self.data.schema,
                        columns=names,
                        batch_size=n_rows,
                        batch_readahead=1,
                        fragment_readahead=0,
                        fragment_scan_options=self.options,
                    )
            return
        # One buffer after the other: Arrow may crash where threads unpack damaged ones.
        fields = sorted(self.names.index(name) for name in names)
        options = self.ipc.IpcReadOptions(use_threads=False, included_fields=fields)
        with self.arrow.OSFile(str(self.path)) as file:
            reader = self.ipc.open_file(file, options=options)
            for k in range(reader.num_record_batches):
                yield reader.get_batch(k).select(names)


def _cell_bytes(type_):
    """The bytes of a value, as it is held; of a text, of its code."""
    try:
        return type_.bit_width / 8
    except ValueError:
        return CELL_BYTES


def _zstd_sizes(path):
    """What the buffers of a Feather file that zstd packed unpack to, as it states them.

    lz4, the other packer, never unpacks to as much as the limit. pyarrow does not show
    sizes, but each stands before its buffer, which begins at a multiple of 8 bytes with
    the mark of a frame of data, or of one that is skipped.
    """
    limit = MOST_ZSTD * os.path.getsize(path)
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=1) as data:
        for mark, n_before in ((b"\x28\xb5\x2f\xfd", 0), (b"\x2a\x4d\x18", 1)):
            place = data.find(mark)
            while place >= 0:
                start = place - n_before
                if start >= 8 and start % 8 == 0:
                    size = int.from_bytes(data[start - 8 : start], "little")
                    if size <= limit:
                        yield size
                place = data.find(mark, place + 1)


# CSV and JSON lines


class _Gunzip(gzip.GzipFile):
    """A gzip file to read, which stops where it unpacks to too much."""

    def __init__(self, name, file):
        super().__init__(fileobj=file)
        self.path_name, self.packed, self.n_unpacked = name, file, 0

    def read1(self, size=-1):
        """Some bytes, as TextIOWrapper reads them."""
        data = super().read1(size)
        self.n_unpacked += len(data)
        self.check(self.n_unpacked)
        return data

    def check(self, n_bytes):
        """Raise if so many bytes are too many for what is read of the file."""
        _check_size(self.path_name, n_bytes, self.packed.tell(), "Unpack it first")


class _TextFile:
    """A file of text, maybe gzipped."""

    doubt, decimal = "", "."
    index = texts = ()
    is_text = True

    def __init__(self, path, is_packed):
        self.path, self.name, self.is_packed = path, path.name, is_packed

    def arrow_type(self, name):
        """None: a file of text has no types."""
        return None

    def close(self):
        """Do nothing: the file is closed at its end."""

    def blocks(self, expected, n_rows):
        """Yield frames, and the share of the file that is read after them.

        All rows are one frame if their number is None.
        """
        size, done = max(1, self.path.stat().st_size), 0
        if n_rows is not None:
            n_rows = max(1, min(n_rows, CELLS_AT_ONCE // len(self.names)))
        with self._open() as (text, raw):
            for frame in self._frames(text, expected, n_rows):
                done += len(frame)
                if self.is_packed:
                    text.buffer.check(done * ROW_BYTES)
                yield frame, raw.tell() / size

    def n_rows(self, limit):
        """Number of rows, counted up to a limit."""
        with self._open() as (text, _):
            return sum(1 for _ in itertools.islice(self._rows(text), limit))

    @contextlib.contextmanager
    def _open(self):
        """The file as text, and as bytes to see how far it is read."""
        # A long text in a column that nobody asks for is no reason to stop.
        limit = csv.field_size_limit(LONGEST_FIELD)
        try:
            with open(self.path, "rb") as raw:
                unpacked = _Gunzip(self.name, raw) if self.is_packed else raw
                yield io.TextIOWrapper(unpacked, "utf-8-sig", newline=""), raw
        except UnicodeDecodeError as error:
            raise TableFileError(
                f"{self.name!r} must be UTF-8 text; it has the byte "
                f"0x{error.object[error.start]:02x}. Save it as UTF-8 first."
            ) from None
        except (EOFError, zlib.error, gzip.BadGzipFile, csv.Error) as error:
            raise TableFileError(
                f"{self.name!r} cannot be read as {self.kind}: {error}."
            ) from None
        finally:
            csv.field_size_limit(limit)


class _JsonLines(_TextFile):
    """A file with a JSON object per line; the first has the names of all columns."""

    kind = "JSON lines"

    def __init__(self, path, is_packed):
        super().__init__(path, is_packed)
        with self._open() as (text, _):
            first = next(self._rows(text), None)
        if not first:
            raise TableFileError(f"{path.name!r} has no line with columns.")
        self.names = list(first)

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

    def _frames(self, text, expected, n_rows):
        pandas = require("pandas", "Reading JSON lines")
        rows = self._rows(text)
        while block := list(itertools.islice(rows, n_rows)):
            columns = {}
            for name, wanted in expected.items():
                cells = [row.get(name) for row in block]
                nested = any(isinstance(cell, (dict, list)) for cell in cells)
                if nested and wanted is not None:
                    raise ValueError(
                        f"Column {name!r} must hold texts and numbers; it holds a list "
                        "or an object. Write its parts as columns of their own."
                    )
                is_label = isinstance(wanted, tuple) or wanted == AS_IS
                columns[name] = pandas.Series(cells, dtype=object if is_label else None)
            yield pandas.DataFrame(columns)


class _Csv(_TextFile):
    """A CSV file whose first line has the names of its columns."""

    kind = "CSV"

    def __init__(self, path, is_packed, sep=None, decimal="."):
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
            self.names, self.n_head = self._header(text)
        other = max(SEPARATORS.replace(self.delimiter, ""), key=first.count)
        if other in first:
            self.doubt = (
                f" {path.name!r} is read with {self.delimiter!r} between columns; name "
                f"another separator, such as --sep {other!r}, if that is wrong."
            )
        if len(self.names) == 1 and other in first and '"' not in first:
            raise TableFileError(
                f"{path.name!r} has one column only, {self.names[0]!r}.{self.doubt}"
            )

    def _header(self, text):
        """The names of the columns, and how many lines they take."""
        reader = csv.reader(text, delimiter=self.delimiter)
        names = next(reader, None)
        if not names:
            raise TableFileError(f"{self.name!r} has no line with column names.")
        if len(names) > MOST_COLUMNS:
            raise TableFileError(
                f"{self.name!r} must have at most {MOST_COLUMNS:,} columns; it has "
                f"{len(names):,}."
            )
        return names, reader.line_num

    def _rows(self, text):
        """The text of each row, all of which have as many fields as there are names.

        pandas would cut off what is too long and fill up what is too short, unasked.
        """
        width, taken = len(self.names), []

        def lines():
            for line in itertools.islice(text, self.n_head, None):
                if len(taken) > MOST_LINES:
                    raise csv.Error(
                        f"the row in line {first} has over {MOST_LINES:,} lines; a "
                        "quote may be missing"
                    )
                taken.append(line)
                yield line

        reader = csv.reader(lines(), delimiter=self.delimiter)
        blank = " \t\r\n".replace(self.delimiter, "")
        first, n_more_blank = self.n_head + 1, 0  # blank lines are counted beyond rows
        for fields in reader:
            row = "".join(taken)
            taken.clear()
            is_blank = not row.strip(blank)
            # Of a single column an empty line is no row, as for most readers.
            if len(fields) == width and not (is_blank and width == 1):
                n_more_blank -= 1
                yield row
            elif not is_blank:
                raise csv.Error(
                    f"line {first} has {len(fields)} fields, but there are {width} "
                    "column names"
                )
            else:
                n_more_blank += 1
            if n_more_blank > BLANK_LINES:
                raise csv.Error(f"it has {BLANK_LINES:,} more blank lines than rows")
            first = self.n_head + reader.line_num + 1

    def _frames(self, text, expected, n_rows):
        pandas = require("pandas", "Reading CSV")
        # By place, as pandas would change names that come twice.
        keys = {name: str(self.names.index(name)) for name in expected}
        missing, texts = {}, {}
        for name, wanted in expected.items():
            known = (
                {str(label) for label in wanted} if isinstance(wanted, tuple) else ()
            )
            missing[keys[name]] = list(MISSING.difference(known))
            if isinstance(wanted, tuple) or wanted == AS_IS:
                texts[keys[name]] = str
        options = {
            "sep": self.delimiter,
            "decimal": self.decimal,
            "header": None,
            "names": [str(j) for j in range(len(self.names))],
            "usecols": list(keys.values()),
            "index_col": False,
            "dtype": texts,
            "na_values": missing,
            "keep_default_na": False,
            "low_memory": False,
        }
        if tuple(map(int, pandas.__version__.split(".")[:2])) < (3, 1):
            # To the last bit, where a threshold may lie; newer ones do so unasked.
            options["float_precision"] = "round_trip"
        records = _Stream(self._rows(text))
        try:
            with pandas.read_csv(records, iterator=True, **options) as reader:
                while len(frame := reader.read(n_rows)):
                    yield frame[list(keys.values())].set_axis([*keys], axis=1)
        except (pandas.errors.EmptyDataError, StopIteration):
            return
        except pandas.errors.ParserError as error:
            raise csv.Error(str(error)) from None


class _Stream:
    """Rows of text as a file that pandas reads."""

    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        return self.rows

    def read(self, size=-1):
        """The next rows, of about so many letters together."""
        parts = []
        for row in self.rows:
            parts.append(row)
            size -= len(row)
            if size <= 0:
                break
        return "".join(parts)


def _numbers(column, wanted, n_before, decimal="."):
    """A column of text as numbers or moments, and the kind of the moments or None.

    `n_before` rows came before it, for the message.
    """
    pandas = require("pandas", "Reading files")
    if column.dtype.kind in "biuf":
        return column.astype(np.float64), None
    texts, kind = column.tolist(), None
    read = {text: _number(text, decimal) for text in texts}
    if wanted != NUMBER and None in read.values():
        kind = wanted
        if wanted == ANY:
            first = next(text for text in texts if read[text] is None)
            kind = ZONED if _is_zoned(first.strip()) else "datetime"
        days = {text: _days(text, kind, column.name) for text in read}
        if wanted == ANY and None in days.values():
            kind = None
        else:
            read = days
    wrong = next((i for i, text in enumerate(texts) if read[text] is None), None)
    if wrong is not None:
        needed = "dates or times" if kind else "numbers"
        advice = ""
        if not kind and decimal == ",":
            advice = " With a decimal comma a number is written as 1,5."
        elif not kind and COMMA_NUMBER.fullmatch(str(texts[wrong]).strip()):
            advice = " Add --sep ';,' if that is a decimal comma."
        raise ValueError(
            f"Column {column.name!r} must hold {needed}, as the model has it; row "
            f"{n_before + wrong + 1} has {texts[wrong]!r}.{advice}"
        )
    values = np.array([read[text] for text in texts], dtype=np.float64)
    if kind not in (None, "time"):
        values = days_as_moments(values, kind)
    made = pandas.Series(values, column.index, name=column.name)
    return made.dt.tz_localize("UTC") if kind == ZONED else made, kind


def _is_zoned(text):
    try:
        return dt.datetime.fromisoformat(text).utcoffset() is not None
    except ValueError:
        return False


def _number(value, decimal):
    """The number that a cell has, a truth value included; None if it has none."""
    text = str(value).strip()  # pandas makes an integer of many digits
    if text in MISSING:
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


def _days(value, kind, name):
    """The days that a cell of dates or times has; None if it has none."""
    if not isinstance(value, str):
        return np.nan if is_missing(value) else None
    text = value.strip()
    if text in MISSING:
        return np.nan
    try:
        if kind == "duration":
            return read_value(text, kind)
        type_ = dt.time if kind == "time" else dt.datetime
        moment = type_.fromisoformat(text)
    except ValueError:
        return None
    return object_as_days(moment, kind, name)
