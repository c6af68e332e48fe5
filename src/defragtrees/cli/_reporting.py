"""The HTML report as the commands write it."""

import contextlib
import shlex
from dataclasses import dataclass

import click
import numpy as np

from defragtrees._utils import formatting as render
from defragtrees.cli._columns import find_column
from defragtrees.cli._command import State
from defragtrees.cli._tables import open_table
from defragtrees.ensembles.readers import file_kind
from defragtrees.report.page import write_report

__all__ = ["Column", "read_group_column", "report_on"]


@dataclass(frozen=True, eq=False)
class Column:
    """Values under the name of their column."""

    name: str
    values: np.ndarray

    def __array__(self, dtype=None, copy=None):
        """The values; the name is lost."""
        return np.asarray(self.values, dtype=dtype)


def read_group_column(path, name):
    """The values of a column of a data file; numbers if all of them are."""
    table = open_table(path)
    find_column(name, table.names, "--by-group")
    parts = [np.empty(0, dtype=object)]
    for batch in table.batches([], {name: None}):
        codes, values = batch.columns[name]
        parts.append(np.array([*values, None], dtype=object)[codes])
    texts = np.concatenate(parts)
    with contextlib.suppress(TypeError, ValueError):
        there = [None if text is None else float(text) for text in texts]
        return np.array(there, dtype=object)
    return texts


def report_on(path, simple, rows, inputs, *, title=None, **options):
    """Write the report of a fitted method, measured on these rows."""
    state = click.get_current_context().find_object(State)
    command = shlex.join(["defragtrees", *state.arguments])
    options |= {
        "title": title or _title(inputs, simple.rules_),
        "command": command,
        "target_name": inputs.target,
        "ensemble_name": _model_name(inputs.model),
    }
    write_report(path, simple, *rows.rows, **options)


def _model_name(path):
    """Such as "the XGBoost model in model.json"."""
    kind = None if path.is_dir() else file_kind(path)
    words = "model"
    if kind is not None and kind.endswith(" model"):
        words = kind.split(maxsplit=1)[1]
    return render.plain(f"the {words} in {path.resolve().name}")


def _title(inputs, rules):
    """Such as "model.json on data.csv: price, in 5 rules"."""
    target = "" if inputs.target is None else f": {inputs.target}"
    size = "1 rule" if rules.n_rules == 1 else f"{rules.n_rules} rules"
    return render.plain(
        f"{inputs.model.resolve().name} on {inputs.data.name}{target}, in {size}"
    )
