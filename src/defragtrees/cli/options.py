"""Options that several commands have, and the types of what is written as one text."""

import contextlib
import csv
import functools
import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from defragtrees.cli.data import DataFile
from defragtrees.tables import find_positions

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


class Text(click.ParamType):
    """A text that `parse` reads, which raises ValueError where it cannot."""

    def __init__(self, name, parse):
        self.name, self.parse = name, parse

    def convert(self, value, param, ctx):
        """Parse the text of an option."""
        if not isinstance(value, str):
            return value
        try:
            return self.parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def split_names(text):
    """Split names at commas; a name with a comma is in quotes.

    Examples
    --------
    >>> split_names('age, "height, in cm"')
    ['age', 'height, in cm']
    """
    names = [name.strip() for name in _parts(text)]
    if not names or not all(names):
        raise ValueError(f"{text!r} has an empty name")
    return names


def pairs(read, example):
    """Return the parser of `name=value,...`, a dict; `read` reads a value."""

    def parse(text):
        found = {}
        for part in _parts(text) or [""]:
            name, _, value = part.rpartition("=")
            try:
                found[name.strip()] = read(value.strip())
            except ValueError:
                name = ""
            if not name.strip():
                raise ValueError(f"{part!r} must be written as in {example}")
        return found

    return parse


def signs(text):
    """Read the directions of columns, or the word auto."""
    return text if text == "auto" else pairs(int, "income=-1")(text)


def _parts(text):
    return next(csv.reader([text], skipinitialspace=True), [])


def _test_size(text):
    size = -1.0
    with contextlib.suppress(ValueError):
        size = float(text)
    if size < 0 or (size >= 1 and not size.is_integer()):
        raise ValueError(f"{text!r} is neither a share nor a number of rows")
    return size if size < 1 else int(size)


def _sep(text):
    """The separator of CSV, and the decimal separator."""
    signs = text.replace("\\t", "\t").replace("tab", "\t")
    if signs[1:] not in ("", ",", ".") or not signs or signs[0] in '"\r\n':
        raise ValueError(
            f"{text!r} must be one character, such as ; or \\t, and may be followed by "
            "a decimal comma"
        )
    return signs[0], signs[1:] or "."


NAMES = Text("names", split_names)


@dataclass(frozen=True)
class Inputs:
    """The options on model and data."""

    model: Path
    data: DataFile
    target: str | None = None
    weights: str | None = None
    columns: list[str] | None = None
    classes: list[str] | None = None
    trust: tuple[str, ...] = ()

    @property
    def trust_pickle(self):
        """Whether a pickle may be opened."""
        return "pickle" in self.trust

    @property
    def trusted_types(self):
        """Types in a skops file to trust besides those that skops considers safe."""
        return tuple(name for name in self.trust if name != "pickle")


def gather(make, argument, options):
    """Return a decorator that passes the values of options as one argument.

    The argument is `make(**values)`.
    """

    def decorate(function):
        @functools.wraps(function)
        def gathered(**given):
            values = {name: given.pop(name) for name in options}
            return function(**{argument: make(**values)}, **given)

        for option in reversed(options.values()):
            gathered = option(gathered)
        return gathered

    return decorate


def data(required=True):
    """The argument DATA and the options on CSV, passed as a DataFile or None."""
    path = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
    return gather(
        lambda path, sep: None if path is None else DataFile(path, *(sep or ())),
        "data",
        {
            "path": click.argument(
                "path", type=path, metavar="DATA", required=required
            ),
            "sep": value(
                "--sep",
                Text("separator", _sep),
                "CHAR[,]",
                "What separates the columns of CSV, such as '\\t', and after it a "
                "decimal comma: ';,'. [default: a comma; else a semicolon or tab]",
            ),
        },
    )


def flag(name, text, **more):
    """An option without a value."""
    return click.option(name, is_flag=True, help=text, **more)


def count(name, text, least=1, most=None, **more):
    """An option that is a whole number."""
    return click.option(name, type=click.IntRange(least, most), help=text, **more)


def column(name, text, **more):
    """An option that names a column of the data."""
    return click.option(name, metavar="COLUMN", help=text, **more)


def names(name, text):
    """An option with names of columns or classes."""
    return value(name, NAMES, "A,B,...", text)


def choice(name, words, text, **more):
    """An option that is one of some words."""
    return click.option(name, type=click.Choice(words), help=text, **more)


def share(name, text, **more):
    """An option that is above 0 and below 1."""
    kind = click.FloatRange(0, 1, min_open=True, max_open=True)
    return value(name, kind, "P", text, **more)


def value(name, kind, metavar, text, **more):
    """An option whose text is of some kind."""
    return click.option(name, type=kind, metavar=metavar, help=text, **more)


target = column(
    "--target",
    "The column with the true classes or numbers. Two, such as claims,years, are the "
    "number of events and the exposure; event,time an event and when it happened.",
)
weights = column("--weights", "The column with row weights.")
trust = value(
    "--trust",
    str,
    "pickle|TYPE",
    "Open MODEL although it is a pickle or joblib file, which can run any code when it "
    "is opened; or a type in a skops file to trust. May be repeated.",
    multiple=True,
)
inputs = gather(
    Inputs,
    "inputs",
    {
        "model": click.argument("model", type=click.Path(exists=True, path_type=Path)),
        "data": data(),
        "target": target,
        "weights": weights,
        "columns": names(
            "--columns", "The columns of a model without column names, in its order."
        ),
        "classes": names(
            "--classes", "The classes of a model that numbers them, in its order."
        ),
        "trust": trust,
    },
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def output(text, name="--out", **more):
    """An option that names a file to write."""
    path = click.Path(dir_okay=False, path_type=Path)
    return value(name, path, "FILE", text, **more)


validation = value(
    "--validation",
    FILE,
    "FILE",
    "Rows that the model was not trained on, with the columns of DATA. Rates and "
    "scores are computed from these; --test-size of them are held out for the scores. "
    "Needs --target.",
)


def held_out(text):
    """--test-size, a share or a number of rows."""
    return click.option(
        "--test-size",
        type=Text("share or rows", _test_size),
        default="0.25",
        show_default=True,
        help=text,
    )


# Classes, whose labels are texts on a command line and may be numbers in a model.

CLASS_WEIGHT: dict[str, Any] = {
    "type": Text(
        "class weight",
        lambda text: (
            text if text == "balanced" else pairs(float, "balanced or A=2,B=1")(text)
        ),
    ),
    "metavar": "balanced|A=2,B=1,...",
}
COSTS: dict[str, Any] = {
    "type": Text("costs", pairs(float, "TRUE:PREDICTED=5, as in bad:good=5")),
    "metavar": "TRUE:PREDICTED=5,...",
}


def as_class(text, classes):
    """The class that reads like the text; the text itself if there is none."""
    (place,) = find_positions([text], classes)
    return text if place is None else classes[place]


def by_class(values, classes):
    """A dict from the text of a class, as one from the class; others as they are."""
    if not isinstance(values, dict):
        return values
    return {as_class(text, classes): value for text, value in values.items()}


def by_classes(costs, classes):
    """A dict from texts such as bad:good, as one from pairs of classes."""
    if not isinstance(costs, dict):
        return costs
    # A label may have colons, too.
    known = {f"{a}:{b}": (a, b) for a, b in itertools.product(classes, repeat=2)}
    named = {}
    for text, cost in costs.items():
        parts = text.split(":", 1)
        pair = tuple(as_class(part, classes) for part in parts) if parts[1:] else text
        named[known.get(text, pair)] = cost
    return named
