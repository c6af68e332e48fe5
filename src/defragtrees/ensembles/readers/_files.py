"""Shared parts of the readers of model files: detection, memory limits and errors.

A few bytes can claim a million classes, or a category number of 200,000,000. So the
memory of a model is limited by its file size, and checked before it is allocated.
"""

import functools
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from sklearn.exceptions import NotFittedError

from defragtrees._utils.files import first_bytes
from defragtrees.errors import ModelFileError, UnsupportedModelError

# Bytes of memory that any model may use, that each byte of its file adds, and the
# maximum.
LEAST_MEMORY, MEMORY_PER_BYTE, MOST_MEMORY = 2**26, 2**9, 2**31
LABEL_BYTES = 100  # of a name, class or category, roughly


class Trust(NamedTuple):
    """Whether pickles may be opened, and the types to trust in skops files."""

    pickle: bool = False
    types: tuple[str, ...] = ()


class ModelFile:
    """A file or folder of unknown kind, read as far as needed to detect it."""

    def __init__(self, path: Path):
        self.path = path
        self.is_folder = path.is_dir()

    @functools.cached_property
    def head(self):
        """The first bytes of the file; empty for a folder."""
        return b"" if self.is_folder else first_bytes(self.path)

    @functools.cached_property
    def json(self):
        """The contents of a file that begins like JSON or UBJSON; else empty."""
        is_json = self.head.lstrip().startswith(b"{")
        return self.path.read_bytes() if is_json else b""


@contextmanager
def report_damage(library, source):
    """Report errors inside the block as one message about the file.

    Examples
    --------
    >>> with report_damage("XGBoost", "model.json"):
    ...     {}["learner"]
    Traceback (most recent call last):
    ...
    defragtrees.errors.ModelFileError: 'model.json' is not a complete XGBoost model: \
it has no 'learner'.
    """
    try:
        yield
    except (ModelFileError, UnsupportedModelError):
        raise
    except NotFittedError:
        raise ModelFileError(
            f"{source!r} holds a model that is not fitted. Fit it, and save it again."
        ) from None
    except KeyError as error:
        raise _damaged(library, source, f"it has no {error}") from None
    except RecursionError:
        raise _damaged(library, source, "it nests too deeply") from None
    except (
        ArithmeticError,
        AttributeError,
        IndexError,
        TypeError,
        ValueError,
    ) as error:
        raise _damaged(library, source, str(error) or type(error).__name__) from None


def _damaged(library, source, why):
    why = " ".join(why.split()).rstrip(".")
    return ModelFileError(f"{source!r} is not a complete {library} model: {why}.")


class Allowance:
    """Limit on the memory of a model, by its file size in bytes.

    For an object, this is the size of the file that its library would write.

    Examples
    --------
    >>> Allowance("XGBoost", 5_000).take_labels(200_000_000, "categories")
    Traceback (most recent call last):
    ...
    defragtrees.errors.ModelFileError: Cannot read this XGBoost model: it has 5,000 \
bytes, too few for 200,000,000 categories. If it is not altered, fit fewer trees, \
classes or categories.
    """

    def __init__(self, library, n_bytes):
        self.library = library
        self.n_bytes = n_bytes
        self.left = min(LEAST_MEMORY + MEMORY_PER_BYTE * n_bytes, MOST_MEMORY)

    def take(self, n_bytes, what):
        """Reserve memory for `what`, such as "9 nodes with 2 outputs"."""
        if n_bytes > self.left:
            raise ModelFileError(
                f"Cannot read this {self.library} model: it has {self.n_bytes:,} "
                f"bytes, too few for {what}. If it is not altered, fit fewer trees, "
                "classes or categories."
            )
        self.left -= n_bytes

    def take_labels(self, n_labels, what):
        """Reserve memory for names, classes or categories."""
        self.take(LABEL_BYTES * n_labels, f"{n_labels:,} {what}")

    def take_nodes(self, n_nodes, n_outputs, categories=()):
        """Reserve memory for trees; `categories` are the labels of each feature."""
        lengths = (len(labels) for labels in categories if labels is not None)
        width = max(lengths, default=0)
        self.take(
            n_nodes * (8 * n_outputs + width),
            f"{n_nodes:,} nodes with {n_outputs:,} outputs and {width:,} categories",
        )
