"""What the readers of model files share: a look into a file, and one kind of error."""

import functools
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from defragtrees.errors import ModelFileError, UnsupportedEnsembleError
from defragtrees.files import first_bytes

__all__ = ["ModelFile", "Trust", "report_damage"]


class Trust(NamedTuple):
    """Which files that could run code may be opened.

    Parameters
    ----------
    pickle : bool
        Whether pickles may.
    types : tuple of str
        Types in a skops file to trust beside those that skops trusts.
    """

    pickle: bool = False
    types: tuple[str, ...] = ()


class ModelFile:
    """A file or folder whose kind is to be told; it is read as far as that needs.

    Parameters
    ----------
    path : Path
    """

    def __init__(self, path: Path):
        self.path = path
        self.is_folder = path.is_dir()

    @functools.cached_property
    def head(self):
        """How the file begins; nothing for a folder."""
        return b"" if self.is_folder else first_bytes(self.path)

    @functools.cached_property
    def json(self):
        """All of a file that begins like JSON or UBJSON; nothing of another."""
        is_json = self.head.lstrip().startswith(b"{")
        return self.path.read_bytes() if is_json else b""


@contextmanager
def report_damage(library, source):
    """Whatever breaks inside is told as one sentence about the file.

    Examples
    --------
    >>> with report_damage("XGBoost", "model.json"):
    ...     {}["learner"]
    Traceback (most recent call last):
    ...
    defragtrees.errors.ModelFileError: 'model.json' is not a whole XGBoost model: \
it has no 'learner'.
    """
    try:
        yield
    except (ModelFileError, UnsupportedEnsembleError):
        raise
    except KeyError as error:
        raise _damaged(library, source, f"it has no {error}") from None
    except RecursionError:
        raise _damaged(library, source, "it nests too deeply") from None
    except (
        ArithmeticError,
        AttributeError,
        IndexError,
        MemoryError,
        TypeError,
        ValueError,
    ) as error:
        raise _damaged(library, source, str(error) or type(error).__name__) from None


def _damaged(library, source, why):
    why = " ".join(why.split()).rstrip(".")
    return ModelFileError(f"{source!r} is not a whole {library} model: {why}.")
