"""Readers: a fitted ensemble, or the file it was saved to, becomes a Forest.

Each reader is a module with `read(ensemble, **options) -> Forest`. It is found by
walking the ensemble's classes and taking the first whose package is in `READERS`; no
library is imported before that.
"""

from importlib import import_module
from pathlib import Path

from defragtrees.errors import UnsupportedEnsembleError
from defragtrees.forest import Forest

__all__ = ["READERS", "read_forest"]

READERS = {
    "sklearn": "defragtrees.readers.from_sklearn",
    "xgboost": "defragtrees.readers.from_xgboost",
    "lightgbm": "defragtrees.readers.from_lightgbm",
    "catboost": "defragtrees.readers.from_catboost",
}
FILES = {
    ".ubj": "defragtrees.readers.from_xgboost",
    ".txt": "defragtrees.readers.from_lightgbm",
    ".cbm": "defragtrees.readers.from_catboost",
}


def read_forest(ensemble, **options):
    """The ensemble as a Forest, whose predictions are those of the library itself.

    Parameters
    ----------
    ensemble : fitted ensemble, path or Forest
        A fitted scikit-learn, XGBoost, LightGBM or CatBoost ensemble; a file that
        XGBoost (.json, .ubj), LightGBM (.txt) or CatBoost (.cbm, .json) saved; or a
        folder with the trees of an R randomForest, one `getTree` text a file.
    **options
        Passed to the reader; `from_r.read` takes what its text files do not say.

    Returns
    -------
    Forest

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> ensemble = RandomForestClassifier(5, random_state=0).fit(X, y)
    >>> forest = read_forest(ensemble)
    >>> bool((forest.predict(X) == ensemble.predict(X)).all())
    True
    """
    if type(ensemble).__name__ == "FrozenEstimator":
        ensemble = ensemble.estimator
    if isinstance(ensemble, Forest):
        return ensemble
    if isinstance(ensemble, (str, Path)):
        return _read_path(Path(ensemble), options)
    reader = find_reader(ensemble)
    if reader is None:
        kind = type(ensemble)
        raise UnsupportedEnsembleError(
            f"Cannot read {kind.__module__.split('.')[0]}.{kind.__qualname__}: "
            "an ensemble of scikit-learn, XGBoost, LightGBM or CatBoost is needed, "
            "or the file it was saved to."
        )
    return import_module(reader).read(ensemble, **options)


def find_reader(ensemble):
    """Module name of the reader for this object, or None."""
    for kind in type(ensemble).__mro__:
        package = kind.__module__.split(".")[0]
        if package in READERS:
            return READERS[package]
    return None


def _read_path(path, options):
    if path.is_dir():
        return import_module("defragtrees.readers.from_r").read(path, **options)
    if not path.exists():
        raise FileNotFoundError(f"No model file or folder at {str(path)!r}.")
    if path.suffix == ".json":
        module = _json_reader(path)
    else:
        module = FILES.get(path.suffix)
    if module is None:
        raise UnsupportedEnsembleError(
            f"Cannot tell what wrote {path.name!r}: the name must end in .json, .ubj "
            "(XGBoost), .txt (LightGBM), .cbm or .json (CatBoost)."
        )
    return import_module(module).read_file(path, **options)


def _json_reader(path):
    # XGBoost's files have the key "learner"; CatBoost's have "features_info".
    head = path.read_bytes()
    kind = "catboost" if b'"features_info"' in head else "xgboost"
    return READERS[kind]
