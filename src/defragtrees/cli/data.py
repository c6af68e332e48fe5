"""DATA and RULES, as the commands need them: files, and their rows for rules."""

import contextlib
import csv
import io
import os
import select
import shlex
import sys
import tempfile
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path

import click

from defragtrees._utils.files import first_bytes, read_json
from defragtrees._utils.formatting import listed, nearest
from defragtrees._utils.optional import require
from defragtrees.cli.output import Bar
from defragtrees.data.files import AS_IS, NUMBER, STANDARD_INPUT, FileSource
from defragtrees.data.sources import table_of
from defragtrees.errors import ModelFileError
from defragtrees.rules.labels import KINDS
from defragtrees.rules.model import FORMAT, RuleModel
from defragtrees.tables import is_missing

SIMPLE = (bool, int, float, str, Decimal)


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

    def open(self, target=None, weights=None):
        """Open the file as a source of rows."""
        written = {"sep": self.sep, "decimal": self.decimal}
        source = FileSource(self.stored, **written)
        target = y_names(target, source.columns)
        for name, option in roles(target, weights):
            find_column(name, source, option)
        if target is None and weights is None:
            return source
        return FileSource(self.stored, target, weights, **written)


def y_names(target, columns):
    """The columns that --target names: one or, such as claims,years, several."""
    if target is None or target in columns:
        return target
    names = tuple(next(csv.reader([target], skipinitialspace=True), []))
    return names if len(names) > 1 else target


def roles(y, weights):
    """The columns that y and weights are in, each with its option."""
    names = y if isinstance(y, tuple) else (y,)
    named = [*((name, "--target") for name in names), (weights, "--weights")]
    return [(name, option) for name, option in named if name is not None]


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


def find_column(name, source, what, file="the data"):
    """The name, if the file has just one such column; `what` names it in an error."""
    names = source.columns
    if names.count(name) == 1:
        return name
    if name in names:
        raise ValueError(
            f"{what} names {name!r}, but {file} has {names.count(name)} columns of "
            "this name. Rename them first."
        )
    raise ValueError(
        f"{what} names {name!r}, but {file} has no such column; "
        f"{nearest(name, names)}{source.doubt}"
    )


def read_groups(data, name, option):
    """The values of a column of a data file; numbers if all of them are."""
    source = data.open()
    source.names = [find_column(name, source, option)]
    source.expected[name] = AS_IS
    values = (value for part in source.parts() for value in part.X[name])
    values = (None if is_missing(value) else value for value in values)
    values = [v if v is None or isinstance(v, SIMPLE) else str(v) for v in values]
    with contextlib.suppress(TypeError, ValueError):
        values = [None if value is None else float(value) for value in values]
    return require("pandas", option).Series(values, dtype=object, name=name)


def read_parts(source, what, is_streamed=False):
    """The parts of a source, under a progress bar."""
    with Bar(what, is_streamed) as bar:
        for part in source.parts():
            yield part
            bar.advance(max(0.0, source.share - bar.done))


def read_rows(source, classes):
    """X, y and weights of all rows; y may have these classes only."""
    parts = list(read_parts(source, "reading"))
    rows = table_of(parts or [source.first()])
    _check_rows(source, rows.y, rows.n_rows(), classes)
    return rows.X, rows.y, rows.sample_weight


def _check_rows(source, y, n_rows, classes):
    if not n_rows:
        raise ValueError(f"{source.name!r} has no rows; at least one is needed.")
    if y is None or not classes:
        return
    values = y.tolist()
    n_missing = sum(map(is_missing, values)) if y.dtype.kind in "Of" else 0
    if n_missing:
        raise ValueError(
            f"Column {source.y!r} must hold a class in every row; it is empty in "
            f"{n_missing} of these {n_rows} rows. Drop such rows first."
        )
    found = list(dict.fromkeys(values))
    unknown = [value for value in found if value not in classes]
    if not unknown:
        return
    advice, n_classes = "", len(classes)
    if tuple(classes) in (tuple(range(n_classes)), tuple(range(1, n_classes + 1))):
        advice = " Say which is which with --classes, in the order of the model"
        if len(found) == n_classes:
            # The order of scikit-learn's LabelEncoder and of LGBMClassifier.
            labels = shlex.quote(",".join(sorted(map(str, found))))
            advice += f", such as --classes {labels} if that is its order"
        advice += "."
    raise ValueError(
        f"Column {source.y!r} holds {listed(unknown)}, but the known classes are "
        f"{listed(classes)}.{advice}"
    )


# RULES


def is_rules_file(path):
    """Whether `simplify --out` saved this file, whole or not."""
    if path.is_dir() or not first_bytes(path).lstrip().startswith(b"{"):
        return False
    return f'"{FORMAT}"'.encode() in path.read_bytes()


def read_rules(path):
    """The RuleModel that `simplify --out` saved."""
    if is_rules_file(path):
        return RuleModel.from_dict(read_json(path))
    from defragtrees.ensembles.readers import file_kind  # few runs need it

    kind = file_kind(path)
    advice = " Make rules from it first: defragtrees simplify."
    raise ModelFileError(
        f"{path.name!r} is {kind or 'no model that is known here'}; a file of rules is "
        f"needed.{'' if kind is None else advice}"
    )


def open_for_rules(rules, data, target=None, weights=None, ids=()):
    """Open a file with the columns that rules use, and `ids` as they are."""
    source = data.open(target, weights)
    for name in rules.features:
        find_column(name, source, "A rule")
    for name, option in roles(source.y, weights):
        if name in rules.features:
            raise ValueError(
                f"{option} names {name!r}, which a rule asks about, so it cannot be "
                "what is true of a row, or its weight. Name another column."
            )
    source.expect(rules, kinds=[kind or NUMBER for kind in _kinds(rules)])
    for name in ids:
        if name not in rules.features:
            source.expected[find_column(name, source, "--id")] = AS_IS
    source.names = list(dict.fromkeys([*rules.features, *ids]))
    return source


def _kinds(rules):
    """The kind of dates or times of each feature, or None."""
    scales = rules._vocabulary.scales
    return [scale.kind if scale.kind in KINDS else None for scale in scales]


def encode(rules, X):
    """X as the matrix that rules match; they need not know its other columns."""
    return rules._encode(X[list(rules.features)])


def read_rule_rows(rules, data, target=None, weights=None):
    """All rows of a file: the matrix of rules, y and weights."""
    X, y, weight = read_rows(
        open_for_rules(rules, data, target, weights), rules.classes
    )
    return encode(rules, X), y, weight


def cells(rules, name, X, matrix):
    """The values of a column; dates and times as text, None where one is missing."""
    if name in rules.features:
        j = rules.feature_names.index(name)
        if rules.categories[j] is None:
            value = KINDS.get(_kinds(rules)[j], float)
            return [None if v != v else value(v) for v in matrix[:, j].tolist()]
    column = X[name].astype(object)
    return column.where(column.notna(), None).tolist()


def arrow_type(rules, source, name):
    """The type of a column that is copied to Parquet, if the file has types its own."""
    arrow = require("pyarrow", "Parquet")
    is_feature = name in rules.features
    j = rules.feature_names.index(name) if is_feature else None
    labels = rules.categories[j] if is_feature else ("",)
    found = source.arrow_type(name)
    if labels is not None and (found is None or is_feature):
        return arrow.string() if any(isinstance(v, str) for v in labels) else found
    if found is not None:
        return found
    types = {
        "date": arrow.date32(),
        "datetime": arrow.timestamp("us"),
        "datetime UTC": arrow.timestamp("us", "UTC"),
        "time": arrow.string(),
        "duration": arrow.duration("us"),
    }
    return types.get(_kinds(rules)[j], arrow.float64())
