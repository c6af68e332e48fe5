"""Print one line on Ctrl-C, even during imports, and remove drafts of files.

An interrupt during an import may be lost or come out as another error. No file has been
started by then, so the process ends at once; later, drafts must be removed. The same
holds for SIGTERM, by which schedulers end a job.
"""

import contextlib
import os
import signal

INTERRUPTED, TERMINATED = 130, 143
MESSAGE = "Interrupted."

# Signals of this run. Compiled code may report them as errors of its own.
received: list[type[BaseException]] = []


class Terminated(BaseException):
    """SIGTERM requests the end of the process."""


def exit_at_once():
    """Let Ctrl-C end the process, unless it is ignored, as by a background job."""
    _replace(signal.default_int_handler, _exit)


def raise_errors():
    """Let Ctrl-C raise KeyboardInterrupt again, and SIGTERM Terminated."""
    _replace(_exit, _interrupt)
    _replace(signal.SIG_DFL, _terminate, signal.SIGTERM)


def ignore():
    """Ignore both signals: the process is about to end."""
    for number in (signal.SIGINT, signal.SIGTERM):
        _replace(signal.getsignal(number), signal.SIG_IGN, number)


def restore():
    """Restore the handlers from before the command."""
    for handler in (_exit, _interrupt):
        _replace(handler, signal.default_int_handler)
    _replace(_terminate, signal.SIG_DFL, signal.SIGTERM)


def _replace(present, wanted, number=signal.SIGINT):
    if signal.getsignal(number) is present:
        # Only the main thread may set handlers, and no other is interrupted.
        with contextlib.suppress(ValueError):
            signal.signal(number, wanted)


def _interrupt(signum, frame):
    # Python's own handler sets an error without an object, which the CSV reader of
    # pandas, written in C, reports as an error of the file.
    received.append(KeyboardInterrupt)
    raise KeyboardInterrupt


def _terminate(signum, frame):
    received.append(Terminated)
    raise Terminated


def _exit(signum, frame):
    os.write(2, f"defragtrees: {MESSAGE}\n".encode())
    os._exit(INTERRUPTED)
