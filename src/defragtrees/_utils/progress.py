"""A progress bar on standard error, and the stages of long work that move it.

Work says which part of it goes on, by `part` and `parts`; these nest. Nothing is shown
unless a caller watches, by `watch`.
"""

import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

Item = TypeVar("Item")


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
        """Add steps that are done."""
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


@dataclass(frozen=True, eq=False)
class _Span:
    """A part of the work that a bar shows, from one share of all to another."""

    bar: Progress
    begin: float = 0.0
    end: float = 1.0
    outer: "_Span | None" = None


_present: ContextVar[_Span | None] = ContextVar("progress", default=None)


@contextmanager
def watch(bar: Any) -> Iterator[Any]:
    """Let the parts of the work inside move a bar.

    Examples
    --------
    >>> with watch(Progress("fits", 1)) as bar:
    ...     for fit in parts(["first", "second"]):
    ...         print(fit, bar.done)
    first 0
    second 0.5
    """
    before = _present.get()
    _present.set(_Span(bar))
    try:
        yield bar
    finally:
        _present.set(before)


@contextmanager
def part(begin: float = 0.0, end: float = 1.0) -> Iterator[None]:
    """Mark what is done inside as a part of the present work, given by shares of it."""
    outer = _present.get()
    if outer is None:
        yield
        return
    bar, width = outer.bar, outer.end - outer.begin
    span = _Span(bar, outer.begin + begin * width, outer.begin + end * width, outer)
    _present.set(span)
    try:
        yield
        bar.advance(max(0.0, span.end * bar.total - bar.done))
    finally:
        # A generator that was left early may be closed when other work goes on.
        present = _present.get()
        while present is not None and present is not span:
            present = present.outer
        if present is span:
            _present.set(outer)


def parts(
    items: Collection[Item], begin: float = 0.0, end: float = 1.0
) -> Iterator[Item]:
    """Iterate over items, the work on each being an equal part of the present work."""
    step = (end - begin) / max(len(items), 1)
    for k, item in enumerate(items):
        with part(begin + k * step, begin + (k + 1) * step):
            yield item


def is_interrupt(error: BaseException | None) -> bool:
    """Whether an error is Ctrl-C, or what compiled code makes of it.

    Examples
    --------
    >>> is_interrupt(KeyboardInterrupt()), is_interrupt(ValueError())
    (True, False)
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


def _duration(seconds):
    """A time that is good enough to wait by.

    Examples
    --------
    >>> _duration(42.3), _duration(200)
    ('42 s', '3 min')
    """
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
