"""The version of the package, for those that must not import all of it."""

__version__ = "0.2.0"
