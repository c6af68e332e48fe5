"""What the readers of model files share: a look into a file, limits and one error.

A few bytes can claim anything: a million classes, a category number of 200,000,000. So
what a model may take up is limited by its own size, and asked for before it is made.
"""

import functools
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from sklearn.exceptions import NotFittedError

from defragtrees._utils.files import first_bytes
from defragtrees.errors import ModelFileError, UnsupportedEnsembleError

# Bytes of memory that any model may take, that each of its own bytes adds, and that
# none may exceed.
LEAST_MEMORY, MEMORY_PER_BYTE, MOST_MEMORY = 2**26, 2**9, 2**31
LABEL_BYTES = 100  # of a name, class or category, by and large


class Trust(NamedTuple):
    """Whether pickles may be opened, and which types that skops does not deem safe."""

    pickle: bool = False
    types: tuple[str, ...] = ()


class ModelFile:
    """A file or folder whose kind is to be found; it is read as far as that needs."""

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
    """Report whatever breaks inside as one sentence about the file.

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
    except (ModelFileError, NotFittedError, UnsupportedEnsembleError):
        raise
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
    return ModelFileError(f"{source!r} is not a whole {library} model: {why}.")


class Allowance:
    """How much memory the parts of a model may take, by its own size in bytes.

    For an object that is the size of what its library writes for it.

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
        """Take so much memory; `what` needs it, as in "9 nodes with 2 outputs"."""
        if n_bytes > self.left:
            raise ModelFileError(
                f"Cannot read this {self.library} model: it has {self.n_bytes:,} "
                f"bytes, too few for {what}. If it is not altered, fit fewer trees, "
                "classes or categories."
            )
        self.left -= n_bytes

    def take_labels(self, n_labels, what):
        """Take memory for so many names, classes or categories."""
        self.take(LABEL_BYTES * n_labels, f"{n_labels:,} {what}")

    def take_nodes(self, n_nodes, n_outputs, categories=()):
        """Take memory for the trees; `categories` are the labels of each feature."""
        lengths = (len(labels) for labels in categories if labels is not None)
        width = max(lengths, default=0)
        self.take(
            n_nodes * (8 * n_outputs + width),
            f"{n_nodes:,} nodes with {n_outputs:,} outputs and {width:,} categories",
        )
