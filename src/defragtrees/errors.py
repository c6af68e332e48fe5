"""The exceptions of this library; each is also a built-in one that callers know."""

__all__ = [
    "MissingPackageError",
    "ModelFileError",
    "SettingError",
    "TableFileError",
    "UnsupportedEnsembleError",
]


class UnsupportedEnsembleError(ValueError):
    """An ensemble that no reader can turn into a Forest with the same answers."""


class ModelFileError(ValueError):
    """A model or rule file that is cut short, altered or of another kind."""


class TableFileError(ValueError):
    """A file of rows that is damaged or of another kind."""


class SettingError(ValueError):
    """A setting that is not what it may be; the message names it."""


class MissingPackageError(ImportError):
    """An optional package that is needed and not installed; names the extra."""
