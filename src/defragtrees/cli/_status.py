"""The line on standard error that shows what the command is doing, on a terminal.

It is there before libraries are imported, so this module imports next to nothing.
"""

import shutil
import sys

CLEAR = "\r\x1b[K"

_shown = False


def show(text):
    """Put a text into the line, in place of what is there."""
    global _shown
    if sys.stderr.isatty():
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"{CLEAR}{text[:width]}")
        sys.stderr.flush()
        _shown = True


def clear():
    """Leave the line empty, as for a message or the result."""
    global _shown
    if _shown:
        sys.stderr.write(CLEAR)
        sys.stderr.flush()
        _shown = False
