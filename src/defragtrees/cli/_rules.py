"""Saved rules, and the rows of a file that they answer, some at a time."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.files import first_bytes
from defragtrees.cli._batch import Batch, Labels
from defragtrees.cli._columns import find_column, rule_columns
from defragtrees.cli._labels import encoded
from defragtrees.cli._tables import open_table
from defragtrees.ensembles.readers import file_kind
from defragtrees.errors import ModelFileError
from defragtrees.rules.model import RuleModel
from defragtrees.rules.schema import FORMAT

__all__ = ["RuleBatch", "batches_for", "is_rules_file", "read_rules"]


def is_rules_file(path):
    """Whether `simplify --out` saved this file, whole or not."""
    if path.is_dir() or not first_bytes(path).lstrip().startswith(b"{"):
        return False
    return f'"{FORMAT}"'.encode() in path.read_bytes()


def read_rules(path):
    """The RuleModel that `simplify --out` saved."""
    if is_rules_file(path):
        return RuleModel.load(path)
    kind = file_kind(path)
    advice = " Make rules from it first: defragtrees simplify."
    raise ModelFileError(
        f"{path.name!r} is {kind or 'no model that is known here'}; a file of rules is "
        f"needed.{'' if kind is None else advice}"
    )


@dataclass(frozen=True, eq=False)
class RuleBatch:
    """Some rows of a file, as rules see them.

    `columns` names the column of each feature that the rules ask about; `first` is the
    number of the first row in the file, from 1.
    """

    rules: RuleModel
    batch: Batch
    columns: dict[int, str]
    matrix: np.ndarray
    first: int

    def __len__(self):
        return len(self.matrix)

    def answers(self):
        """The rules' answers as plain values, and the number from 1 of who answers."""
        answers = self.rules._predict(self.rules._covers(self.matrix)).tolist()
        return answers, (
            self.rules._apply(self.rules._covers(self.matrix)) + 1
        ).tolist()

    def value(self, feature, row) -> Any:
        """What the file says of a feature; None where it is missing."""
        return self.column_value(self.columns[feature], row)

    def column_value(self, name, row):
        """What the file says in a column that was read; None where it is missing."""
        column = self.batch.columns[name]
        if isinstance(column, Labels):
            code = column.codes[row]
            return None if code < 0 else column.values[code]
        number = float(column[row])
        return None if np.isnan(number) else number


def batches_for(rules, path, progress, ids=()):
    """The rows of a file as rules see them, some at a time.

    Only columns that a rule asks about are read, and `ids`, as labels. What is wrong
    with the columns is told before the first row.
    """
    table = open_table(path)
    columns = rule_columns(rules, table.names)
    labels = {}
    for name in ids:
        if name not in columns.values():
            labels[find_column(name, table.names, "--id")] = None
    numbers = []
    for j, name in columns.items():
        if rules.categories[j] is None:
            numbers.append(name)
        else:
            labels[name] = rules.categories[j]
    if not numbers and not labels:
        # Rules that ask about nothing still need to know how many rows there are.
        labels[table.names[0]] = None
    return _encoded_batches(rules, table.batches(numbers, labels), columns, progress)


def _encoded_batches(rules, batches, columns, progress):
    first = 1
    with progress("asking", 1.0) as bar:
        for batch in batches:
            matrix = encoded(batch, columns, rules.categories)
            yield RuleBatch(rules, batch, columns, matrix, first)
            first += batch.n_rows
            bar.advance(max(0.0, batch.share - bar.done))


def value_text(value):
    """A value of the file as a person would say it."""
    if value is None:
        return "missing"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return render.number(value)
    return render.plain(value)
