"""The exceptions of this library; each is also a built-in one that callers know."""

__all__ = [
    "ConditionTextError",
    "MissingPackageError",
    "ModelFileError",
    "SettingError",
    "TableFileError",
    "UnsupportedEnsembleError",
]


LONGEST = 600  # letters of a message; what a file holds may be longer


class FileError(ValueError):
    """What is said of a file: on one line, and cut where the file has long names."""

    def __init__(self, message: object = "") -> None:
        text = " ".join(str(message).split())
        if len(text) > LONGEST:
            text = f"{text[: LONGEST - 150]} … {text[-140:]}"
        super().__init__(text)


class UnsupportedEnsembleError(FileError):
    """An ensemble that no reader can turn into a Forest with the same answers.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from defragtrees import read_forest
    >>> try:
    ...     read_forest(SVC().fit([[0.0], [1.0]], [0, 1]))
    ... except UnsupportedEnsembleError as error:
    ...     print(str(error)[:16])
    Cannot read SVC:
    """


class ModelFileError(FileError):
    """A model or rule file that is cut short, altered or of another kind.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from defragtrees import RuleModel
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "rules.json")
    ...     _ = path.write_text("{")
    ...     try:
    ...         RuleModel.load(path)
    ...     except ModelFileError as error:
    ...         print(type(error).__name__)
    ModelFileError
    """


class TableFileError(FileError):
    """A file of rows that is damaged or of another kind."""


class SettingError(ValueError):
    """A setting that is not what it may be; the message names it."""


class MissingPackageError(ImportError):
    """An optional package that is needed and not installed; names the extra.

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
    """A text is no condition; the message marks the place with [here]."""
