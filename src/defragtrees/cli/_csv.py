"""CSV files in batches: by pandas where it is installed, else by the csv module.

The kind of a column is told by who asks for it, not guessed from its first rows. Words
for missing values are those of pandas, by which most such files are written and read.
"""

import contextlib
import csv
import gzip
import importlib.util
import io
import itertools
import zlib

import numpy as np

from defragtrees._utils.optional import require
from defragtrees.cli._batch import BATCH_ROWS, Batch, Labels

__all__ = ["CsvTable"]

MISSING = frozenset(
    "#N/A,#N/A N/A,#NA,-1.#IND,-1.#QNAN,-NaN,-nan,1.#IND,1.#QNAN,<NA>,N/A,NA,NULL,NaN,"
    "None,n/a,nan,null".split(",")
) | {""}
LONGEST_FIELD = 2**31 - 1  # what fits a C long on every system
TRUTH = {"true": 1.0, "false": 0.0}


class CsvTable:
    """A CSV file, maybe gzipped, whose first line has the names of its columns."""

    def __init__(self, path, is_packed=False):
        self.path = path
        self.is_packed = is_packed
        self.delimiter = "\t" if ".tsv" in path.suffixes else ","
        with self._open() as (text, _):
            first = text.readline()
        if self.delimiter == "," and "," not in first:
            # A file of tabs, or of a country that writes 1,5 for one and a half.
            self.delimiter = max(",;\t", key=first.count)
        with self._open() as (text, _):
            self.names, _ = self._header(text)

    def batches(self, numbers, labels):
        """The columns that are asked for, some rows at a time."""
        has_pandas = importlib.util.find_spec("pandas") is not None
        read = _pandas_columns if has_pandas else _plain_columns
        # A label that the model knows is a label, even if it is a word for missing.
        words = {
            name: MISSING - {str(label) for label in labels.get(name) or ()}
            for name in (*numbers, *labels)
        }
        size = max(1, self.path.stat().st_size)
        done = 0
        with self._open() as (text, raw):
            _, n_lines = self._header(text)
            records = _records(text, self, n_lines)
            for n_rows, columns in read(records, self, words, labels):
                for name in numbers:
                    columns[name] = _numbers(columns[name], words[name], name, done)
                done += n_rows
                yield Batch(n_rows, columns, raw.tell() / size)

    @contextlib.contextmanager
    def _open(self):
        """The file as text, and as bytes to see how far it is read."""
        # A long text in a column that nobody asks for is no reason to stop.
        limit = csv.field_size_limit(LONGEST_FIELD)
        try:
            with open(self.path, "rb") as raw:
                unpacked = gzip.GzipFile(fileobj=raw) if self.is_packed else raw
                yield io.TextIOWrapper(unpacked, "utf-8-sig", newline=""), raw
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{self.path.name!r} must be UTF-8 text; it has the byte "
                f"0x{error.object[error.start]:02x}. Save it as UTF-8 first."
            ) from None
        except (EOFError, zlib.error, gzip.BadGzipFile, csv.Error) as error:
            raise ValueError(
                f"{self.path.name!r} cannot be read as CSV: {error}."
            ) from None
        finally:
            csv.field_size_limit(limit)

    def _header(self, text):
        """The names of the columns, and how many lines they take."""
        reader = csv.reader(text, delimiter=self.delimiter)
        names = next(reader, None)
        if not names:
            raise ValueError(f"{self.path.name!r} has no line with column names.")
        return names, reader.line_num


def _records(text, table, n_lines):
    """The text of each row, all of which have as many fields as there are names.

    pandas would cut off what is too long and fill up what is too short, unasked.
    """
    width, delimiter = len(table.names), table.delimiter
    blank = " \t\r\n".replace(delimiter, "")
    lines = iter(text)
    for line in lines:
        first = n_lines = n_lines + 1
        n_fields = _count_fields(line, delimiter)
        if n_fields is None:
            # It may go on in the next lines; then they are one row together.
            taken = [line]
            rest = (taken.append(more) or more for more in lines)
            record = csv.reader(itertools.chain([line], rest), delimiter=delimiter)
            n_fields = len(next(record))
            n_lines += len(taken) - 1
            line = "".join(taken)
        if n_fields == width:
            # Of a single column an empty line is no row, as for most readers.
            if width > 1 or line.strip(blank):
                yield line
        elif line.strip(blank):
            raise csv.Error(
                f"line {first} has {n_fields} fields, but there are {width} column "
                "names"
            )


def _count_fields(line, delimiter):
    """The number of fields, or None where that takes a closer look.

    Examples
    --------
    >>> _count_fields('a,"b, c",d', ","), _count_fields('a,5" pipe', ",")
    (3, None)
    """
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


def _pandas_columns(records, table, words, labels):
    """By pandas: number of rows and columns of each part."""
    pandas = require("pandas", "This way of reading CSV")
    # By place, as pandas would change names that come twice.
    keys = {name: str(table.names.index(name)) for name in words}
    options = {
        "sep": table.delimiter,
        "header": None,
        "names": [str(j) for j in range(len(table.names))],
        "usecols": list(keys.values()),
        "index_col": False,
        "dtype": {keys[name]: str for name in labels},
        "na_values": {keys[name]: list(missing) for name, missing in words.items()},
        "keep_default_na": False,
        "chunksize": BATCH_ROWS,
        "low_memory": False,
        **_exactly(pandas.__version__),
    }
    try:
        with pandas.read_csv(_Stream(records), **options) as reader:
            for frame in reader:
                columns = {name: frame[key] for name, key in keys.items()}
                for name in labels:
                    codes, values = pandas.factorize(columns[name])
                    columns[name] = Labels(codes, list(values))
                yield len(frame), columns
    except pandas.errors.EmptyDataError:
        return
    except pandas.errors.ParserError as error:
        raise csv.Error(str(error)) from None


def _exactly(version):
    """Options by which pandas reads every number to the last bit."""
    # A threshold may lie at the last bit. Newer ones do so without being asked.
    is_old = tuple(map(int, version.split(".")[:2])) < (3, 1)
    return {"float_precision": "round_trip"} if is_old else {}


def _plain_columns(records, table, words, labels):
    """By the csv module: number of rows and columns of each part."""
    places = {name: table.names.index(name) for name in words}
    reader = csv.reader(records, delimiter=table.delimiter)
    while rows := list(itertools.islice(reader, BATCH_ROWS)):
        columns = {name: [row[j] for row in rows] for name, j in places.items()}
        for name in labels:
            columns[name] = _factorized(columns[name], words[name])
        yield len(rows), columns


def _factorized(column, words):
    position = dict.fromkeys(words, -1)
    values = []
    codes = np.empty(len(column), dtype=np.intp)
    for i, text in enumerate(column):
        if text not in position:
            position[text] = len(values)
            values.append(text)
        codes[i] = position[text]
    return Labels(codes, values)


def _numbers(column, words, name, done):
    """A column as float64; `done` rows came before it, for the message."""
    values = np.asarray(column)
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    parsed = {}
    numbers = np.empty(len(values))
    for i, value in enumerate(values.tolist()):
        if value not in parsed:
            try:
                parsed[value] = _number(value, words)
            except ValueError:
                raise ValueError(
                    f"Column {name!r} must hold numbers, as the model has it; row "
                    f"{done + i + 1} has {value!r}."
                ) from None
        numbers[i] = parsed[value]
    return numbers


def _number(value, words):
    if not isinstance(value, str):
        return float(value)
    text = value.strip()
    if text in words:
        return np.nan
    if text.lower() in TRUTH:
        return TRUTH[text.lower()]
    if "_" in text:
        raise ValueError("Python would read 1_000 as a number; nobody else does.")
    return float(text)
