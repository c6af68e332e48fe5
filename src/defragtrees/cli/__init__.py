"""The command `defragtrees`: arguments in, public functions called, text or files out.

Only `main` lives here, and it imports the rest when it is called: click is an extra.
"""

import sys

from defragtrees.cli import _interrupts


def main(arguments=None):
    """Run the command line; returns the exit code.

    0 if all went well, 2 after an error, 130 after Ctrl-C, 143 after SIGTERM, 141 if
    whoever read the output went away; 1 only if `watch` finds drift.
    """
    _interrupts.exit_at_once()
    try:
        # Not at the top: without click there must be a sentence, not a traceback.
        from defragtrees.cli.group import run

        return run(arguments)
    except ImportError as error:
        why = f"It cannot be imported: {error}."
        if error.name == "click":
            why = (
                "The command line needs click, which is not installed. Install it "
                "with: pip install 'defragtrees[cli]'"
            )
        sys.stderr.write(f"defragtrees: {why}\n")
        return 2
    finally:
        _interrupts.restore()
