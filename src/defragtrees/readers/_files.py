"""What the readers of model files share: a look into a file, and one kind of error."""

import functools
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from defragtrees.errors import ModelFileError, UnsupportedEnsembleError
from defragtrees.files import first_bytes

__all__ = ["MAX_CELLS", "ModelFile", "Trust", "check_size", "report_damage"]

MAX_CELLS = 2**28  # nodes x outputs or nodes x categories that are held at once


class Trust(NamedTuple):
    """Whether pickles may be opened, and which types that skops does not deem safe."""

    pickle: bool = False
    types: tuple[str, ...] = ()


class ModelFile:
    """A file or folder whose kind is to be told; it is read as far as that needs."""

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


def check_size(library, n_nodes, n_outputs, categories):
    """Refuse trees that are too large for memory, as those of a damaged file may be."""
    width = max((len(labels) for labels in categories if labels is not None), default=0)
    if n_nodes * max(n_outputs, width) > MAX_CELLS:
        raise UnsupportedEnsembleError(
            f"Cannot read this {library} ensemble: {n_nodes} nodes with {n_outputs} "
            f"outputs and {width} categories are too many to hold. "
            "Fit fewer trees, or join rare categories."
        )
