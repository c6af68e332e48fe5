"""The one place that imports optional packages, with one message when one is absent."""

from importlib import import_module

from defragtrees.errors import MissingPackageError

EXTRAS = {
    "catboost": "catboost",
    "click": "cli",
    "dask": "dask",
    "distributed": "dask",
    "lightgbm": "lightgbm",
    "matplotlib": "plot",
    "numba": "numba",
    "onnx": "onnx",
    "plotly": "report",
    "pyarrow": "parquet",
    "skops": "skops",
    "torch": "gpu",
    "pandas": "pandas",
    "polars": "polars",
    "xgboost": "xgboost",
}


def require(package, purpose):
    """Import and return `package`, or name the extra that brings it.

    Examples
    --------
    >>> require("math", "arithmetic").floor(2.5)
    2
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package.split(".")[0]:
            raise
        extra = EXTRAS.get(package.split(".")[0], package)
        raise MissingPackageError(
            f"{purpose} needs {package}, which is not installed. "
            f"Install it with: pip install 'defragtrees[{extra}]'"
        ) from None
