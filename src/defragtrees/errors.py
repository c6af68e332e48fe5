"""Exceptions. Each is a subclass of a built-in exception."""

__all__ = [
    "ConditionTextError",
    "HistoryFileError",
    "MissingPackageError",
    "ModelFileError",
    "SettingError",
    "TableFileError",
    "UnsupportedModelError",
]


LONGEST = 500  # characters of a message; names in a file may be longer


class FileError(ValueError):
    """Base of errors about files; long messages are cut."""

    def __init__(self, message: object = "") -> None:
        text = " ".join(str(message).split())
        if len(text) > LONGEST:
            text = f"{text[: LONGEST - 150]} … {text[-140:]}"
        super().__init__(text)


class UnsupportedModelError(FileError):
    """Raised for a model that cannot be read as a Forest with the same predictions.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from defragtrees import read_forest
    >>> try:
    ...     read_forest(SVC().fit([[0.0], [1.0]], [0, 1]))
    ... except UnsupportedModelError as error:
    ...     print(str(error)[:16])
    Cannot read SVC:
    """


class ModelFileError(FileError):
    """Raised for a model or rule file that is damaged or has an unknown format.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import defragtrees
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "rules.json")
    ...     _ = path.write_text("{")
    ...     try:
    ...         defragtrees.load(path)
    ...     except ModelFileError as error:
    ...         print(type(error).__name__)
    ModelFileError
    """


class TableFileError(FileError):
    """Raised for a data file that is damaged or of another format."""


class HistoryFileError(FileError):
    """Raised for a file that is no history of drift checks; it is left as it is."""


class SettingError(ValueError):
    """Raised for an invalid setting; the message names it."""


class MissingPackageError(ImportError):
    """Raised if an optional package is not installed; names the extra to install.

    Examples
    --------
    >>> from defragtrees._utils.optional import require
    >>> try:
    ...     require("no_such_package", "This")
    ... except MissingPackageError as error:
    ...     print(str(error)[:50])
    This needs no_such_package, which is not installed
    """


class ConditionTextError(ValueError):
    """Raised for text that is not a condition; the message marks the place [here]."""
