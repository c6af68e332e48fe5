"""The terminal: a status line, and text that is no wider.

The status line appears before libraries are imported, so this module imports next to
nothing.
"""

import shutil
import sys
import textwrap

from defragtrees._utils import formatting as render

_length = 0  # of the status line that is shown


def show_status(text):
    """Replace the status line on standard error, which only a terminal shows."""
    if sys.stderr.isatty():
        text = text[: shutil.get_terminal_size().columns - 1]
        _write(f"\r{text.ljust(_length)}", len(text))


def clear_status():
    """Clear the status line before a message or the result."""
    if _length:
        _write(f"\r{' ' * _length}\r", 0)


def _write(text, length):
    global _length
    _length = max(_length, length)  # a signal may come while the text is written
    sys.stderr.write(text)
    sys.stderr.flush()
    _length = length


def wrapped(text, indent=""):
    r"""The lines of a text, each broken between words where it is too wide.

    Examples
    --------
    >>> print(wrapped("word " * 18, "  "))
    word word word word word word word word word word word word word word word
      word word word
    """
    options = {"break_long_words": False, "break_on_hyphens": False}
    options["subsequent_indent"] = indent
    lines = [
        textwrap.fill(line, render.page_width(), **options) for line in text.split("\n")
    ]
    return "\n".join(lines)
