"""A progress bar on standard error."""

import sys
import time


class Progress:
    """Shows how much of `total` is done, once work lasts longer than a second.

    `total` is what `advance` adds up to; the stream is standard error by default.

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
            share = min(1.0, self.done / max(self.total, 1e-9))
            filled = "#" * int(20 * share)
            spent = now - self.begin
            left = f", {_duration(spent * (1 - share) / share)} left" if share else ""
            self._write(
                f"\r{self.label} [{filled:<20}] {share:4.0%} {_duration(spent)}{left}  "
            )

    def _write(self, text):
        self.stream.write(text)
        self.stream.flush()


def _duration(seconds):
    """A time that is good enough to wait by.

    Examples
    --------
    >>> _duration(42.3), _duration(200)
    ('42 s', '3 min')
    """
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
