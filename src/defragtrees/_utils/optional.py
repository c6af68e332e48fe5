"""The one place that imports optional packages, with one message when one is absent."""

from functools import cache
from importlib import import_module
from typing import Any

from defragtrees.errors import MissingPackageError

# Extras that are not named as the package that they bring.
EXTRAS = {
    "click": "cli",
    "distributed": "dask",
    "jinja2": "report",
    "matplotlib": "plot",
    "openpyxl": "excel",
    "pyarrow": "parquet",
}


def require(package: str, purpose: str) -> Any:
    """Import and return `package`, or name the extra that brings it.

    Examples
    --------
    >>> require("math", "arithmetic").floor(2.5)
    2
    """
    name = package.split(".")[0]
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise MissingPackageError(
            f"{purpose} needs {package}, which is not installed. "
            f"Install it with: pip install 'defragtrees[{EXTRAS.get(name, name)}]'"
        ) from None


@cache
def has_numba() -> bool:
    """Whether numba is installed, which compiles loops over rows."""
    try:
        import numba  # noqa: F401
    except ImportError:
        return False
    return True
