"""A line on standard error that says how far long work has come."""

import sys
import time

__all__ = ["Progress"]


class Progress:
    """Shows `done` of `total` while work lasts longer than a second.

    Parameters
    ----------
    label : str
    total : int
    stream : file, default=standard error

    Examples
    --------
    >>> with Progress("restarts", 2) as progress:
    ...     progress.advance()
    """

    def __init__(self, label, total, stream=None):
        self.label = label
        self.total = total
        self.stream = sys.stderr if stream is None else stream
        self.done = 0
        self.begin = time.monotonic()
        self.shown = 0.0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.shown:
            self._write("\n")

    def advance(self, steps=1):
        """Say that this many more are done."""
        self.done += steps
        now = time.monotonic()
        if now - self.begin > 1 and now - self.shown > 0.1:
            self.shown = now
            filled = "#" * (20 * self.done // max(self.total, 1))
            self._write(
                f"\r{self.label} [{filled:<20}] {self.done}/{self.total} "
                f"{now - self.begin:.0f} s"
            )

    def _write(self, text):
        self.stream.write(text)
        self.stream.flush()
