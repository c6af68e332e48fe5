"""Types of arguments and results in signatures; none is needed to run."""

import os
from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray


class Frame(Protocol):
    """A data frame of pandas, polars or Dask."""

    @property
    def columns(self) -> Any:
        """Names of the columns."""
        ...


# An array, a frame, nested lists, the path of a Parquet file, or an iterator of tables.
Rows: TypeAlias = Iterable[Any] | Frame | os.PathLike[str]
# y or weights, one for each row; with a Parquet file the name of a column.
Column: TypeAlias = Iterable[Any]

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.intp]
Values: TypeAlias = NDArray[Any]  # classes of any type, or numbers
