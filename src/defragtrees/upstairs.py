"""What a rule set can do by rooms above its own, found by name when it is called.

So that reading and asking rules loads no search, no tests and no formats.
"""

from importlib import import_module

__all__ = ["CALLED", "call"]

CALLED = {
    "refit": "defragtrees.rows.refitting",
    "improve": "defragtrees.methods.improving",
}


def call(name, *arguments, **settings):
    """What the function of this name in `CALLED` gives."""
    return getattr(import_module(CALLED[name]), name)(*arguments, **settings)
