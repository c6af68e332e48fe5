"""Files to work on, and ways to run the command on them."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

from defragtrees.cli.group import run

MAKER = Path(__file__).with_name("make_files.py")
LONG = 150_000  # rows of the long file
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}
PATIENCE = 600  # seconds, after which a process hangs; a busy machine is slow


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    # On a busy machine the threads of histogram boosting wait for each other.
    with threadpool_limits(1, user_api="openmp"):
        yield


def make_files(folder, *arguments):
    """Run the script that makes the files."""
    command = [sys.executable, str(MAKER), str(folder), *map(str, arguments)]
    subprocess.run(command, check=True, env=ENVIRONMENT, capture_output=True)
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
        options = {"capture_output": True, "text": True, "env": ENVIRONMENT, **options}
        line = [sys.executable, "-m", "defragtrees", *map(str, arguments)]
        return subprocess.run(line, timeout=PATIENCE, check=False, **options)

    return command


def default_signals():
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def start():
    """Start the command in a process of its own, able to be interrupted."""
    started = []

    def start(*arguments, **options):
        line = [sys.executable, "-m", "defragtrees", *map(str, arguments)]
        process = subprocess.Popen(
            line,
            # A job in the background may have been told to ignore Ctrl-C, and a
            # command that ended in this process ignores SIGTERM, too.
            preexec_fn=default_signals,
            **{"env": ENVIRONMENT, **options},
        )
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
