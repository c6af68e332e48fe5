"""The status line on standard error, shown on a terminal only.

It appears before libraries are imported, so this module imports next to nothing.
"""

import shutil
import sys

_length = 0  # of the text that is shown


def show(text):
    """Replace the text of the status line."""
    if sys.stderr.isatty():
        text = text[: shutil.get_terminal_size().columns - 1]
        _write(f"\r{text.ljust(_length)}", len(text))


def clear():
    """Clear the status line before a message or the result."""
    if _length:
        _write(f"\r{' ' * _length}\r", 0)


def _write(text, length):
    global _length
    _length = max(_length, length)  # a signal may come while the text is written
    sys.stderr.write(text)
    sys.stderr.flush()
    _length = length
