"""What all kinds of files share: how they begin, and some rows as they give them."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

__all__ = ["BATCH_ROWS", "Batch", "Labels", "first_bytes"]

BATCH_ROWS = 65_536


def first_bytes(path):
    """How a file begins, by which its kind is told."""
    if not path.is_file():
        raise ValueError(
            f"{str(path)!r} is no regular file, and a pipe cannot be read twice. "
            "Save it to a file first."
        )
    with open(path, "rb") as file:
        return file.read(4096)


class Labels(NamedTuple):
    """A column of labels: `values[codes]`, where a code of -1 is a missing value."""

    codes: np.ndarray
    values: list


@dataclass(frozen=True)
class Batch:
    """Some rows of a table.

    Parameters
    ----------
    n_rows : int
    columns : dict from str to float64 array or Labels
    share : float
        How much of the file is read after these rows.
    """

    n_rows: int
    columns: dict[str, Any]
    share: float
