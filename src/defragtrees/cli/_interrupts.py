"""Ctrl-C says one line at any moment, also while libraries are still imported.

An interrupt in the middle of an import may be lost, or come out as another error. No
file is begun by then, so the process ends at once; later, drafts must be removed. So
they must after SIGTERM, by which schedulers end a job.
"""

import os
import signal

INTERRUPTED, TERMINATED = 130, 143
MESSAGE = "Interrupted."

_received: list[
    type[BaseException]
] = []  # signals that came while drafts had to be removed


class Terminated(BaseException):
    """SIGTERM requests the end of the process."""


def exit_at_once():
    """From here on Ctrl-C ends the process."""
    # Whoever ignores Ctrl-C, as a job in the background may, goes on doing so.
    _replace(signal.default_int_handler, _exit)


def tidy_up():
    """From here on Ctrl-C is a KeyboardInterrupt again, and SIGTERM a Terminated."""
    _received.clear()
    _replace(_exit, _interrupt)
    _replace(signal.SIG_DFL, _terminate, signal.SIGTERM)


def ignore():
    """From here on neither does anything: the process is about to end."""
    for number in (signal.SIGINT, signal.SIGTERM):
        _replace(signal.getsignal(number), signal.SIG_IGN, number)


def leave():
    """Signals do again what they did before the command."""
    for handler in (_exit, _interrupt):
        _replace(handler, signal.default_int_handler)
    _replace(_terminate, signal.SIG_DFL, signal.SIGTERM)


def received():
    """What a signal raised, if one came; else None.

    Compiled code may report it as another error of its own.
    """
    return _received[-1] if _received else None


def _replace(present, wanted, number=signal.SIGINT):
    if signal.getsignal(number) is present:
        try:
            signal.signal(number, wanted)
        except ValueError:
            pass  # only the main thread may, and no other is interrupted


def _interrupt(signum, frame):
    # Python's own handler sets an error without an object, which the reader of CSV of
    # pandas, written in C, takes for none and reports as an error of the file.
    _received.append(KeyboardInterrupt)
    raise KeyboardInterrupt


def _terminate(signum, frame):
    _received.append(Terminated)
    raise Terminated


def _exit(signum, frame):
    os.write(2, f"defragtrees: {MESSAGE}\n".encode())
    os._exit(INTERRUPTED)
