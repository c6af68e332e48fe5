"""Files to work on, and ways to run the command on them."""

import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from defragtrees.cli.group import run

MAKER = Path(__file__).with_name("make_files.py")
LONG = 150_000  # rows of the long file
PATIENCE = 600  # seconds, after which a process hangs; a busy machine is slow


@pytest.fixture(autouse=True)
def default_signals():
    """Signals as in a shell's foreground: a job in the background ignores Ctrl-C.

    So does a process in which a command has ended; and its children would, too.
    """
    on_ctrl_c = signal.signal(signal.SIGINT, signal.default_int_handler)
    on_end = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGINT, on_ctrl_c)
    signal.signal(signal.SIGTERM, on_end)


def make_files(folder, *arguments):
    """Run the script that makes the files."""
    command = [sys.executable, str(MAKER), str(folder), *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    return make_files(tmp_path_factory.mktemp("cli"))


@pytest.fixture(scope="session")
def long_files(tmp_path_factory):
    return make_files(tmp_path_factory.mktemp("long"), LONG)


@dataclass(frozen=True)
class Done:
    """What a run of the command left."""

    code: int
    out: str
    err: str

    @property
    def lines(self):
        """The lines on standard error."""
        return self.err.splitlines()


@pytest.fixture
def call(capsys):
    """Run the command in this process."""

    def call(*arguments):
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return Done(code, *capsys.readouterr())

    return call


@pytest.fixture
def refused(call):
    """Run the command, which must fail with one line; returns the line."""

    def refused(*arguments):
        done = call(*arguments)
        assert done.code == 2, done
        assert len(done.lines) == 1, done.err
        assert done.out == ""
        return done.lines[0]

    return refused


@pytest.fixture
def command():
    """Run the command in a process of its own."""

    def command(*arguments, **options):
        options = {"capture_output": True, "text": True, **options}
        line = [sys.executable, "-m", "defragtrees", *map(str, arguments)]
        return subprocess.run(line, timeout=PATIENCE, check=False, **options)

    return command


@pytest.fixture
def start():
    """Start the command in a process of its own."""
    started = []

    def start(*arguments, **options):
        line = [sys.executable, "-m", "defragtrees", *map(str, arguments)]
        process = subprocess.Popen(line, **options)
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


@pytest.fixture
def rtrees(tmp_path):
    """A folder with the trees of one R randomForest of the reference files."""
    source = Path(__file__).parents[1] / "reference" / "rtrees"
    folder = tmp_path / "rtrees"
    folder.mkdir()
    for path in source.glob("iris_clf_*.txt"):
        (folder / path.name).write_bytes(path.read_bytes())
    return folder
