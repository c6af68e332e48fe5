"""Ctrl-C says one line at any moment, also while libraries are still imported.

An interrupt in the middle of an import may be lost, or come out as another error. No
file is begun by then, so the process ends at once; later, drafts must be removed.
"""

import os
import signal

__all__ = ["INTERRUPTED", "MESSAGE", "exit_at_once", "ignore", "tidy_up"]

INTERRUPTED = 130
MESSAGE = "Interrupted."


def exit_at_once():
    """From here on Ctrl-C ends the process."""
    # Whoever ignores Ctrl-C, as a job in the background may, goes on doing so.
    _replace(signal.default_int_handler, _exit)


def tidy_up():
    """From here on Ctrl-C is a KeyboardInterrupt again."""
    _replace(_exit, signal.default_int_handler)


def ignore():
    """From here on Ctrl-C does nothing: the process is about to end."""
    _replace(signal.getsignal(signal.SIGINT), signal.SIG_IGN)


def _replace(present, wanted):
    if signal.getsignal(signal.SIGINT) is present:
        try:
            signal.signal(signal.SIGINT, wanted)
        except ValueError:
            pass  # only the main thread may, and no other is interrupted


def _exit(signum, frame):
    os.write(2, f"defragtrees: {MESSAGE}\n".encode())
    os._exit(INTERRUPTED)
