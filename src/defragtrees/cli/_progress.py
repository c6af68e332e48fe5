"""Progress on standard error, on a terminal only."""

import contextlib
import shutil
import sys
import threading

import click

from defragtrees._utils.progress import Progress
from defragtrees.cli._command import State

__all__ = ["Bar", "Silent", "is_shown", "progress_kind", "ticking"]

TICK = 0.5  # seconds between two looks at the clock


class Bar(Progress):
    """A progress bar that leaves nothing of a longer line before it."""

    def _write(self, text):
        width = shutil.get_terminal_size().columns - 1
        super()._write(text.ljust(width) if text.startswith("\r") else text)


class Silent(Progress):
    """A progress bar that shows nothing."""

    def _write(self, text):
        pass


def is_shown():
    """Whether somebody looks at standard error, and wants progress there."""
    ctx = click.get_current_context(silent=True)
    state = None if ctx is None else ctx.find_object(State)
    is_quiet = state is not None and state.quiet
    return sys.stderr.isatty() and not is_quiet


def progress_kind():
    """The progress bar to use: a silent one where nobody looks."""
    return Bar if is_shown() else Silent


@contextlib.contextmanager
def ticking(label, total):
    """A progress bar whose clock goes on also where nothing can report an advance."""
    with progress_kind()(label, total) as progress:
        done = threading.Event()

        def tick():
            while not done.wait(TICK):
                progress.advance(0)

        clock = threading.Thread(target=tick, daemon=True)
        clock.start()
        try:
            yield progress
        finally:
            done.set()
            clock.join()
