"""The click group, its commands, and the one place where an error becomes a line."""

import difflib
import os
import sys
import traceback
import warnings
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module

import click
from click.shell_completion import shell_complete

from defragtrees._utils import formatting as render
from defragtrees._version import __version__
from defragtrees.cli import _interrupts
from defragtrees.cli.terminal import clear_status, show_status, wrapped

NAME = "defragtrees"
COMPLETION = "_DEFRAGTREES_COMPLETE"  # click's name for it
# What the library, the readers and the file system raise for input that is wrong. All
# else is a fault of this program.
WRONG_INPUT = (ImportError, NotImplementedError, OSError, TypeError, ValueError)
# 1 is drift, which no error may look like.
FAILED, BROKEN_PIPE = 2, 141
# Each command with its line in the help, so that the help imports no command.
COMMANDS = {
    "simplify": "Turn a trained model into a short list of rules.",
    "path": "Show error and size for every number of rules.",
    "compare": "Compare methods on the same held-out rows.",
    "alternatives": "List other rule models that are as good.",
    "report": "Write an HTML report on the rules of a model.",
    "segments": "Find where a model fails, or where two models differ.",
    "explain": "Show which rule predicts each row of a file, and why.",
    "predict": "Predict each row of a file with saved rules.",
    "edit": "Change saved rules by hand.",
    "refit": "Count the rates of saved rules on the rows of a file.",
    "diff": "Show what changed between two rule files.",
    "watch": "Test new rows for drift.",
    "export": "Write saved rules as SQL, Python, ONNX or another format.",
    "demo": "Show the rules of a random forest for heart disease.",
}


EXAMPLE = """\
defragtrees simplify model.json data.csv --target y --out rules.json
defragtrees explain rules.json data.csv --rows 1-5
"""


@dataclass
class State:
    """What all parts of one run of the command share."""

    arguments: tuple[str, ...] = ()
    debug: bool = False
    quiet: bool = False


class WithExample(click.Command):
    """A command, or a group of them, with an example in its help."""

    def __init__(self, *args, example, **kwargs):
        super().__init__(*args, **kwargs)
        self.example = example

    def format_epilog(self, ctx, formatter):
        """Write the example."""
        with formatter.section("Example"):
            for line in self.example.splitlines():
                formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


# What people type for a y of two columns, and what there is.
SPELLED = {
    "--exposure": "Name the events and their exposure by --target claims,years",
    "--event": "Name both columns by --target event,time",
    "--time": "Name both columns by --target event,time",
    "--times": "Write times = [365] in the file of --settings",
}


class Command(WithExample):
    """A command that tidies up after Ctrl-C."""

    def parse_args(self, ctx, args):
        """Parse the options; of some that there are not, say what serves."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name
            if name not in SPELLED:
                raise
            raise click.UsageError(f"There is no {name}. {SPELLED[name]}.") from None

    def invoke(self, ctx):
        """Run the command; from here on Ctrl-C lets it tidy up."""
        _interrupts.raise_errors()
        return super().invoke(ctx)


class LazyGroup(WithExample, click.Group):
    """A group that imports a command when it is called."""

    def list_commands(self, ctx):
        """The names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx, cmd_name):
        """The command of this name, or None."""
        if cmd_name not in COMMANDS:
            return None
        state = None if ctx is None else ctx.find_object(State)
        if state is not None and not state.quiet:
            show_status("loading")  # scikit-learn takes seconds
        try:
            return import_module(f"defragtrees.cli.{cmd_name}").command
        finally:
            clear_status()

    def resolve_command(self, ctx, args):
        """The command that the arguments begin with, or an error with a guess."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            guess = f" Did you mean {near[0]}?" if near else ""
            raise click.UsageError(
                f"No such command: {args[0]!r}.{guess} "
                f"There are: {', '.join(COMMANDS)}.",
                ctx,
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx, formatter):
        """Write the table of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _flag(name, text):
    """An option of the group, known before any other option can fail."""
    return click.option(
        name,
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=lambda ctx, parameter, value: setattr(
            ctx.ensure_object(State), parameter.name, value
        ),
        help=text,
    )


@click.group(cls=LazyGroup, example=EXAMPLE, invoke_without_command=True)
@_flag("--quiet", "Hide the progress bar.")
@_flag("--debug", "Show a traceback on errors.")
@click.version_option(__version__, prog_name=NAME, message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx):
    """Turn trained tree ensembles into short lists of rules.

    Every command has a --help with an example.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def run(arguments=None):
    """Run the command line in this process; returns the exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    for name in ("stdout", "stderr"):
        # A scheduler may close them; the exit code 1 of an error would mean drift.
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal cannot show is no reason to stop.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    state = State(arguments=tuple(arguments))
    _interrupts.received.clear()
    try:
        with warnings.catch_warnings():
            # Warnings for programmers are of no use here.
            warnings.simplefilter("ignore")
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = lambda message, *_, **__: _complain(
                f"warning: {message}", "yellow"
            )
            code = _invoke(arguments, state)
            sys.stdout.flush()
            return code
    except BrokenPipeError:
        _discard_output()
        return BROKEN_PIPE
    # The one place that catches everything: here errors become a line.
    except (Exception, SystemExit, KeyboardInterrupt, _interrupts.Terminated) as error:
        signals = [*_interrupts.received, type(error)]
        if state.debug and isinstance(error, Exception):
            traceback.print_exc()
        if _interrupts.Terminated in signals:
            _interrupts.ignore()
            return _fail("Ended by a signal (SIGTERM).", _interrupts.TERMINATED)
        if KeyboardInterrupt in signals:
            _interrupts.ignore()
            return _fail(_interrupts.MESSAGE, _interrupts.INTERRUPTED)
        return _fail(_message(error), FAILED)


def _invoke(arguments, state):
    instruction = os.environ.get(COMPLETION)
    if instruction:
        return shell_complete(cli, {}, NAME, COMPLETION, instruction)
    try:
        # Not click's own main, which turns Ctrl-C into two lines.
        with cli.make_context(NAME, arguments, obj=state, color=_color()) as ctx:
            cli.invoke(ctx)
    except click.exceptions.Exit as end:
        return end.exit_code
    return 0


def _message(error):
    """What an error says, in one line."""
    if isinstance(error, click.UsageError):
        where = "" if error.ctx is None else f" See {error.ctx.command_path} --help."
        message = error.format_message()
        stop = "" if message.endswith((".", "?")) else "."
        return f"{message}{stop}{where}"
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, MemoryError):
        return f"There is not enough memory. {error}"
    if isinstance(error, BrokenExecutor):
        return (
            "A worker process was ended from outside, as where memory is short. Run it "
            "again with a smaller --jobs; what is done is kept."
        )
    if isinstance(error, OSError) and error.strerror:
        at = "" if error.filename is None else f": {str(error.filename)!r}"
        return f"{error.strerror}{at}."
    if isinstance(error, WRONG_INPUT):
        return str(error) or type(error).__name__
    return (
        f"This is a fault of defragtrees: {type(error).__name__}: {error}. "
        f"Run it again as {NAME} --debug and report what it prints."
    )


def _fail(message, code):
    """Print an error; returns the exit code."""
    try:
        sys.stdout.flush()
    except OSError:
        _discard_output()
    with suppress(OSError):  # nobody may be left to read it
        _complain(f"{NAME}: {message}", "red")
    return code


def _complain(text, color):
    """Write one line without control characters to standard error.

    A terminal gets it broken between words.
    """
    clear_status()
    text = " ".join(render.plain(text).split())
    text = wrapped(text) if sys.stderr.isatty() else text
    click.secho(text, fg=color, err=True, color=_color())


def _color():
    """The value of click for colour on a terminal only, if it is wanted."""
    return False if os.environ.get("NO_COLOR") else None


def _discard_output():
    """Discard what is left in the buffer of standard output."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
