"""The command as a whole: help, version, completion, colour, pipes and Ctrl-C."""

import os
import re
import signal
import subprocess
import sys
import time

import click
import pytest

import defragtrees
from defragtrees.cli import main
from defragtrees.cli.group import COMMANDS, cli
from tests.cli.conftest import PATIENCE

ESCAPE = "\x1b["


def test_help_lists_every_command(call):
    done = call("--help")
    assert done.code == 0
    for name, text in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(text)}$", done.out, re.MULTILINE)
    assert call() == done


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_has_an_example_that_could_be_typed(call, name):
    done = call(name, "--help")
    assert (done.code, done.err) == (0, "")
    example = done.out.split("\nExample:\n")[1].split()
    assert example[:2] == ["defragtrees", name]
    known = {
        option
        for parameter in cli.get_command(None, name).params
        for option in parameter.opts
    }
    assert {word for word in example if word.startswith("--")} <= known
    # The line in the list of commands and the command's own first line agree.
    assert COMMANDS[name].rstrip(".")[:20] in done.out


def test_version(call):
    assert call("--version").out == f"defragtrees {defragtrees.__version__}\n"


def test_a_command_that_is_not_there(refused):
    line = refused("simplfy")
    assert "No such command: 'simplfy'. Did you mean simplify?" in line


def test_help_imports_no_command():
    code = (
        "import sys; from defragtrees.cli import main; code = main(['--help']); "
        "names = [m for m in sys.modules if m.startswith('defragtrees.cli.')]; "
        "heavy = {'numpy', 'scipy', 'sklearn', 'pandas', 'matplotlib', 'pyarrow'}; "
        "print(code, *names, *(heavy & set(sys.modules)))"
    )
    line = [sys.executable, "-c", code]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    names = done.stdout.splitlines()[-1].split()
    assert names[0] == "0"
    # Of this library only what the help needs, and nothing of others but click.
    assert [n for n in names[1:] if not n.startswith("defragtrees.cli.")] == []
    for name in COMMANDS:
        assert f"defragtrees.cli.{name}" not in names


def test_without_click_there_is_a_sentence():
    code = (
        "import sys; sys.modules['click'] = None; "
        "from defragtrees.cli import main; sys.exit(main([]))"
    )
    line = [sys.executable, "-c", code]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        "defragtrees: The command line needs click, which is not installed. "
        "Install it with: pip install 'defragtrees[cli]'\n"
    )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script(call, monkeypatch, shell):
    monkeypatch.setenv("_DEFRAGTREES_COMPLETE", f"{shell}_source")
    done = call()
    assert done.code == 0
    assert f"_DEFRAGTREES_COMPLETE={shell}_complete" in done.out


def test_completion_knows_commands_and_options(call, monkeypatch):
    monkeypatch.setenv("_DEFRAGTREES_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "defragtrees ex")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert call().out.split() == ["plain,explain", "plain,export"]
    monkeypatch.setenv("COMP_WORDS", "defragtrees simplify --max-r")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert call().out.split() == ["plain,--max-rules"]


@pytest.fixture
def rules(files, tmp_path, call):
    path = tmp_path / "rules.json"
    options = ["--target", "class", "--max-rules", "3", "--out", path]
    done = call("simplify", files / "xgboost.json", files / "iris.csv", *options)
    assert done.code == 0
    return path


def test_in_a_pipe_the_text_is_plain(command, files):
    arguments = ["simplify", files / "xgboost.json", files / "iris.csv"]
    done = command(*arguments, "--max-rules", "3")
    assert (done.returncode, done.stderr) == (0, "")
    assert ESCAPE not in done.stdout
    assert re.match(r"#  if +then ", done.stdout)
    assert max(map(len, done.stdout.splitlines())) <= 76


def on_a_terminal(*arguments, **environment):
    """What the command shows on a terminal."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    line = [sys.executable, "-m", "defragtrees", *map(str, arguments)]
    process = subprocess.Popen(
        line, stdout=theirs, stderr=theirs, env=os.environ | environment
    )
    os.close(theirs)
    shown = read_all(ours)
    assert process.wait(PATIENCE) == 0
    return shown


def read_all(terminal):
    parts = []
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # how Linux says that nobody is at the other end
            part = b""
        if not part:
            os.close(terminal)
            return b"".join(parts).decode()
        parts.append(part)


def test_colour_on_a_terminal_unless_it_is_not_wanted(files, rules):
    arguments = ["explain", rules, files / "iris.csv", "--rows", "1"]
    assert ESCAPE in on_a_terminal(*arguments)
    plain = on_a_terminal(*arguments, NO_COLOR="1")
    assert ESCAPE not in plain
    # What stood in the status line before is blotted out.
    assert plain.rpartition("loading\r       \r")[2].startswith("Row 1\r\n")


@pytest.mark.parametrize(
    ("name", "first"), [("explain", "Row 1\n"), ("predict", "prediction,rule\n")]
)
def test_a_reader_that_goes_away_is_no_error(
    start, files, rules, tmp_path, name, first
):
    lines = (files / "iris.csv").read_text().splitlines(keepends=True)
    long = tmp_path / "long.csv"
    long.write_text(lines[0] + "".join(lines[1:]) * 200)
    process = start(name, rules, long, stdout=-1, stderr=-1, text=True)
    assert process.stdout.readline().startswith(first)
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(PATIENCE) == 141


def test_ctrl_c_in_the_middle(start, long_files, tmp_path):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    process = start(
        *("simplify", long_files / "long.txt", long_files / "long.parquet"),
        # Repeated fits, so that it cannot be done before the bar is seen.
        *("--target", "y", "--out", tmp_path / "rules.json", "--stability", "100"),
        stdout=-1,
        stderr=theirs,
        env=os.environ | {"NO_COLOR": "1"},
        text=True,
    )
    os.close(theirs)
    # The bar shows that the work has begun; it appears on a terminal only.
    shown = b""
    begin = time.monotonic()
    while b"simplifying" not in shown and time.monotonic() - begin < PATIENCE:
        shown += os.read(ours, 4096)
    process.send_signal(signal.SIGINT)
    rest = read_all(ours)
    assert process.wait(PATIENCE) == 130
    assert process.stdout.read() == ""
    assert (shown.decode() + rest).splitlines()[-1] == "defragtrees: Interrupted."
    assert "Traceback" not in rest
    assert list(tmp_path.iterdir()) == []


def test_compiled_code_turns_ctrl_c_into_another_error(
    monkeypatch, capsys, files, rules
):
    def explain(**arguments):
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(PATIENCE)
        except KeyboardInterrupt:
            # As a function compiled by numba does where its caller is interrupted.
            raise SystemError("returned a result with an exception set") from None

    monkeypatch.setattr(cli.get_command(None, "explain"), "callback", explain)
    # This process goes on, and what it ignores its children would ignore.
    monkeypatch.setattr("defragtrees.cli._interrupts.ignore", lambda: None)
    assert main(["explain", str(rules), str(files / "iris.csv")]) == 130
    assert capsys.readouterr().err == "defragtrees: Interrupted.\n"


@pytest.mark.parametrize(
    "moment",
    [
        "click",
        "numpy",
        "sklearn.ensemble",
        "defragtrees.cli.options",  # the last that the command imports
        "defragtrees.ensembles.rewriting",  # in the middle of its work
    ],
)
def test_ctrl_c_while_libraries_are_imported(files, moment):
    line = [sys.executable, "-X", "importtime", "-m", "defragtrees", "simplify"]
    process = subprocess.Popen(
        [*line, str(files / "xgboost.json"), str(files / "iris.csv")],
        stdout=-1,
        stderr=-1,
        text=True,
    )
    with process:
        # Python tells each module when it is imported.
        for told in process.stderr:
            if told.split("|")[-1].strip() == moment:
                process.send_signal(signal.SIGINT)
                break
        else:
            pytest.fail(f"{moment} was not imported")
        shown = process.stderr.readlines()
        assert process.stdout.read() == ""
        assert process.wait(PATIENCE) == 130
    said = [text for text in shown if not text.startswith("import time:")]
    assert said == ["defragtrees: Interrupted.\n"]


def test_click_is_told_about_every_command():
    with cli.make_context("defragtrees", ["--help"], resilient_parsing=True) as ctx:
        assert isinstance(ctx.command, click.Group)
        assert cli.list_commands(ctx) == list(COMMANDS)
