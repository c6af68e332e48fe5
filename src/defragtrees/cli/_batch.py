"""What all kinds of data files give: some rows at a time."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

__all__ = ["BATCH_ROWS", "Batch", "Labels"]

BATCH_ROWS = 65_536


class Labels(NamedTuple):
    """A column of labels: `values[codes]`, where a code of -1 is a missing value."""

    codes: np.ndarray
    values: list


@dataclass(frozen=True)
class Batch:
    """Some rows of a table; `share` of the file is read after them."""

    n_rows: int
    columns: dict[str, Any]
    share: float
