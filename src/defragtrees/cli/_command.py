"""What the commands share: the class of a command, and options that several have."""

import csv
import functools
from dataclasses import dataclass
from pathlib import Path

import click

from defragtrees.cli import _interrupts

__all__ = [
    "Command",
    "FILE",
    "Inputs",
    "NAMES",
    "State",
    "gather",
    "held_out_option",
    "input_options",
    "json_option",
    "output_option",
    "write_example",
]


@dataclass
class State:
    """What all parts of one run of the command may ask."""

    arguments: tuple[str, ...] = ()
    debug: bool = False
    quiet: bool = False


@dataclass(frozen=True)
class Inputs:
    """What the user says of model and data; the options of the same names."""

    model: Path
    data: Path
    target: str | None = None
    weights: str | None = None
    columns: tuple[str, ...] | None = None
    classes: tuple[str, ...] | None = None
    trust_pickle: bool = False
    trusted_types: tuple[str, ...] = ()


class Command(click.Command):
    """A command with lines to type in its help, --quiet and --debug."""

    def __init__(self, *args, example, **kwargs):
        super().__init__(*args, **kwargs)
        self.example = example
        for name, text in (
            ("quiet", "Show no progress."),
            ("debug", "Show a traceback if something goes wrong."),
        ):
            self.params.append(
                click.Option(
                    [f"--{name}"],
                    is_flag=True,
                    expose_value=False,
                    callback=_remember,
                    # Before any other option can fail.
                    is_eager=True,
                    help=text,
                )
            )

    def invoke(self, ctx):
        """Run the command; from here on Ctrl-C lets it tidy up."""
        _interrupts.tidy_up()
        return super().invoke(ctx)

    def format_epilog(self, ctx, formatter):
        """Write the example."""
        write_example(formatter, self.example)


def write_example(formatter, text):
    """Write the last section of a help."""
    with formatter.section("Example"):
        for line in text.splitlines():
            formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


def _remember(ctx, parameter, value):
    state = ctx.find_object(State)
    if state is not None and value:
        setattr(state, parameter.name, True)


class _Names(click.ParamType):
    """Names with commas between them; one that has a comma stands in quotes."""

    name = "names"

    def convert(self, value, param, ctx):
        if not isinstance(value, str):
            return value
        names = [name.strip() for name in next(csv.reader([value]), [])]
        if not names or not all(names):
            self.fail(f"{value!r} has an empty name", param, ctx)
        return tuple(names)


class _TestSize(click.ParamType):
    """A share of the rows below 1, or a number of rows."""

    name = "share or rows"

    def convert(self, value, param, ctx):
        try:
            size = float(value)
        except ValueError:
            size = -1.0
        if size < 0 or (size >= 1 and not size.is_integer()):
            self.fail(f"{value!r} is neither a share nor a number of rows", param, ctx)
        return size if size < 1 else int(size)


NAMES = _Names()
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def gather(kind, argument, options):
    """A decorator: values of options become one argument, `kind(**values)`."""

    def decorate(function):
        @functools.wraps(function)
        def gathered(**given):
            values = {name: given.pop(name) for name in options}
            return function(**{argument: kind(**values)}, **given)

        for option in reversed(options.values()):
            gathered = option(gathered)
        return gathered

    return decorate


INPUT_OPTIONS = {
    "model": click.argument("model", type=click.Path(exists=True, path_type=Path)),
    "data": click.argument("data", type=FILE),
    "target": click.option(
        "--target",
        metavar="COLUMN",
        help="The column with the true answers. Without it there is no error, only "
        "agreement with the model.",
    ),
    "weights": click.option(
        "--weights", metavar="COLUMN", help="The column with row weights."
    ),
    "columns": click.option(
        "--columns",
        type=NAMES,
        metavar="A,B,...",
        help="The columns that the model was trained on, in its order; needed only if "
        "the model has no names for them.",
    ),
    "classes": click.option(
        "--classes",
        type=NAMES,
        metavar="A,B,...",
        help="The labels of the model's classes, in its order, for a model that knows "
        "them as 0, 1, ... only.",
    ),
    "trust_pickle": click.option(
        "--trust-pickle",
        is_flag=True,
        help="Open MODEL as a pickle or joblib file. Opening a pickle can run any code "
        "that its author put in it, so use this for files of your own only.",
    ),
    "trusted_types": click.option(
        "--trust-type",
        "trusted_types",
        multiple=True,
        metavar="TYPE",
        help="A type in a skops file that skops itself does not deem safe; may be "
        "given more than once.",
    ),
}
input_options = gather(Inputs, "inputs", INPUT_OPTIONS)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def output_option(text, name="--out", required=False):
    """An option that names a file to write."""
    return click.option(
        name,
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        required=required,
        help=text,
    )


def held_out_option(text):
    """--test-size, a share or a number of rows."""
    return click.option(
        "--test-size", type=_TestSize(), default="0.25", show_default=True, help=text
    )
