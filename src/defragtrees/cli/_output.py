"""What the commands write: files that can be written, JSON, rules with some colour."""

import math
import os

import click
import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.files import is_device, is_standard_output, to_json

__all__ = [
    "check_outputs",
    "json_text",
    "plain",
    "rules_text",
    "say",
]


def say(text, to_error=False):
    """Print a line; colours are left out where nobody sees them."""
    click.echo(text, err=to_error)


def check_outputs(outputs, inputs=()):
    """Refuse files that cannot be written, before the long work that fills them.

    `outputs` has them by their options; neither they nor inputs may be overwritten.
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
    for other in inputs:
        if other.exists() and path.exists() and path.samefile(other):
            raise click.ClickException(
                f"{str(path)!r} is read by this command; write to another file."
            )


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
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def rules_text(rules):
    """The rules as `str` has them, with the answers in colour."""
    lines = []
    # `str` has one line for each rule, whatever is in the names, and perhaps one more
    # that says how they go together.
    shown = str(rules).split("\n")
    for line, row in zip(shown, rules.rows(), strict=False):
        number = f"{row['rule']}."
        conditions, answer = render.plain(row["if"]), render.plain(row["then"])
        line = line[len(number) :]
        head, middle, tail = line.partition(f"{conditions} then {answer}")
        if middle:
            answer = click.style(answer, fg="green", bold=True)
            line = f"{head}{conditions} then {answer}{tail}"
        lines.append(click.style(number, dim=True) + line)
    return "\n".join([*lines, *shown[rules.n_rules :]])
