"""What the commands write: text with some colour, JSON, CSV, pictures and progress."""

import contextlib
import gzip
import io
import itertools
import math
import os
import sys
import threading

import click
import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.files import atomic_file, is_device, is_standard_output, to_json
from defragtrees._utils.optional import require
from defragtrees._utils.progress import Progress, watch
from defragtrees.cli.group import State
from defragtrees.cli.terminal import clear_status, show_status
from defragtrees.export.tables import csv_line

TICK = 0.5  # seconds between two looks at the clock


def check_outputs(outputs, inputs=(), **suffixes):
    """Reject files that cannot be written, before the long work that fills them.

    `outputs` has them by their options; neither they nor inputs may be overwritten.
    `suffixes` has those of what has one format only.
    """
    options: dict[str, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        _check_output(path, inputs)
        if is_device(path):
            continue
        before = options.setdefault(os.path.realpath(path), option)
        if before != option:
            raise click.UsageError(
                f"{before} and {option} name the same file, {str(path)!r}."
            )
    for name, suffix in suffixes.items():
        path = outputs[f"--{name}"]
        if path is None or is_device(path) or path.suffix.lower() in ("", suffix):
            continue
        raise click.UsageError(f"--{name} must end in {suffix}; got {path.name!r}.")


def _check_output(path, inputs):
    folder = path.parent
    if not folder.is_dir():
        raise click.ClickException(
            f"There is no folder {str(folder)!r} to write {path.name!r} to. "
            "Create it first."
        )
    if path.is_dir():
        raise click.ClickException(f"{str(path)!r} is a folder; a file is needed.")
    place = path if is_device(path) else folder
    if not is_standard_output(path) and not os.access(place, os.W_OK):
        raise click.ClickException(f"{str(place)!r} cannot be written to.")
    read = [other for other in inputs if other is not None and other.exists()]
    if path.exists() and any(map(path.samefile, read)):
        raise click.ClickException(
            f"{str(path)!r} is read by this command; write to another file."
        )


def rules_text(rules, details=False):
    """The rules as they print, with the class of interest in colour.

    The colour stands for no judgement.
    """
    outcome = rules.outcome
    label = None
    if outcome.n_classes and outcome.is_binary:
        label = render.plain(outcome.view.prediction(outcome.positive_class))

    def paint(title, text):
        if title == "then" and text == label:
            return click.style(text, fg="magenta", bold=True)
        return text

    return rules._view.text(details, paint)


# JSON


def json_text(value):
    r"""JSON of plain values, with null for NaN and infinities.

    Examples
    --------
    >>> json_text({"a": float("nan"), "b": np.int64(2)})
    '{\n "a": null,\n "b": 2\n}'
    """
    return to_json(plain(value))


def plain(value):
    """The value in what JSON knows, with None for NaN and infinities."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return (
        value if value is None or isinstance(value, (int, float, str)) else str(value)
    )


def write_json(file, form, rows):
    """JSON of rows, a dict each, as an array or as lines, one row at a time."""
    before = "["
    for row in rows:
        text = to_json(plain(row), indent=None)
        file.write(f"{text}\n" if form == "jsonl" else f"{before}{text}")
        before = ",\n"
    if form == "json":
        file.write("]\n" if before != "[" else "[]\n")


# Tables: CSV, JSON and Parquet

TABLES = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".jsonl.gz": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
}


def output_format(path, asked, by_suffix, default):
    """The format that is asked for, or that of the file's suffix; they must agree."""
    if path is None or is_device(path) or not path.suffix:
        return asked or default
    names = [suffix for suffix in by_suffix if path.name.lower().endswith(suffix)]
    if not names:
        *names, last = by_suffix
        raise click.UsageError(
            f"--out must end in {', '.join(names)} or {last}; got {path.name!r}."
        )
    form = by_suffix[names[0]]
    if asked not in (None, form):
        raise click.UsageError(
            f"--out names {path.name!r}, which is not {asked}. Use one format."
        )
    if form == "parquet":
        require("pyarrow.parquet", "Writing Parquet")
    return form


def write_table(path, form, header, batches, exact=False):
    """Write a table that comes in batches, each a list of columns.

    In CSV, a cell of text that begins like a formula gets an apostrophe before it, as
    spreadsheets themselves write it, unless it should be `exact`; numbers stay numbers.
    """
    batches = iter(batches)
    # What is wrong with the first rows is said before anything is printed.
    batches = itertools.chain(list(itertools.islice(batches, 1)), batches)
    rows = (row for columns in batches for row in zip(*columns, strict=True))
    with open_output(path) as file:
        if form == "csv":
            for row in itertools.chain([header], rows):
                file.write(csv_line(row, exact))
        else:
            write_json(
                file, form, (dict(zip(header, row, strict=True)) for row in rows)
            )


def write_parquet(path, header, types, batches):
    """Write batches, each a list of columns, to a Parquet file as groups of rows."""
    arrow = require("pyarrow", "Writing Parquet")
    parquet = require("pyarrow.parquet", "Writing Parquet")
    types = [arrow.type_for_alias(t) if isinstance(t, str) else t for t in types]
    schema = arrow.schema(list(zip(header, types, strict=True)))

    def array(values, type_):
        if not isinstance(values, list):
            return arrow.Array.from_pandas(values).cast(type_, safe=False)
        if arrow.types.is_string(type_):
            values = [None if value is None else str(value) for value in values]
        return arrow.array(values, type_)

    with atomic_file(path) as draft, parquet.ParquetWriter(draft, schema) as writer:
        for columns in batches:
            arrays = list(map(array, columns, types))
            writer.write_table(arrow.table(arrays, schema=schema))


@contextlib.contextmanager
def open_output(path):
    """A text file that appears when it is complete, or standard output.

    A file that ends in .gz is packed.
    """
    if path is None:
        yield _Screen(sys.stdout) if sys.stdout.isatty() else sys.stdout
        return
    with atomic_file(path) as draft, open(draft, "wb") as raw:
        # Without name and time, so that the same rows give the same bytes.
        packed = path.suffix.lower() == ".gz"
        file = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if packed else raw
        with file, io.TextIOWrapper(file, encoding="utf-8", newline="") as text:
            yield text


class _Screen:
    """A terminal that gets only text: no letters that it would obey."""

    def __init__(self, stream):
        self.stream = stream

    def write(self, text):
        return self.stream.write("\n".join(map(render.plain, text.split("\n"))))


# Pictures


def check_plot(path):
    """Reject a picture that cannot be drawn, before the long work that it shows."""
    if path is None:
        return
    require("matplotlib", "--plot").use("Agg")
    figure = require("matplotlib.figure", "--plot").Figure()
    formats = figure.canvas.get_supported_filetypes()
    if path.suffix.lstrip(".").lower() not in formats:
        raise click.UsageError(
            f"--plot must end in .png, .svg or .pdf; got {path.name!r}."
        )


def save_plot(result, path):
    """Draw what has a `plot` and save the picture, all of it or nothing."""
    pyplot = require("matplotlib.pyplot", "--plot")
    ax = result.plot()
    with atomic_file(path) as draft:
        ax.figure.savefig(draft, bbox_inches="tight")
    pyplot.close(ax.figure)


# Progress, on standard error and on a terminal only


class Bar(Progress):
    """A progress bar in the status line, where its label stands from the start.

    Results that are written row by row (`is_streamed`) must not run into it.
    """

    def __init__(self, label, is_streamed=False):
        super().__init__(label, 1.0)
        context = click.get_current_context(silent=True)
        state = None if context is None else context.find_object(State)
        is_quiet = state is not None and state.quiet
        self.is_shown = not is_quiet and not (is_streamed and sys.stdout.isatty())

    def __enter__(self):
        self._write(self.label)
        return super().__enter__()

    def __exit__(self, *error):
        clear_status()

    def _write(self, text):
        if self.is_shown:
            show_status(text.strip())


@contextlib.contextmanager
def working(label):
    """A progress bar that the parts of the work inside move; its clock goes on."""
    with Bar(label) as progress, watch(progress):
        done = threading.Event()

        def tick():
            while not done.wait(TICK):
                progress.advance(0)

        clock = threading.Thread(target=tick, daemon=True)
        clock.start()
        try:
            yield
        finally:
            done.set()
            clock.join()
