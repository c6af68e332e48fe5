"""Read a fitted model, or the file it was saved to, as a Forest.

Each reader is one module and one line in `READERS`; a library is imported only when one
of its models is read. A module has some of these:

- `NAME` and `read(model) -> Forest`, for objects. The reader of an object is that of
  the first of its classes whose package is in the table.
- `read_on_table(model, X) -> Forest`, for objects that can be read only with rows.
- `KIND`, `SUFFIXES`, `is_file(file)` and `read_file(path, **options) -> Forest`, for
  files. `is_file` checks the contents of a ModelFile; the name decides only if no
  reader recognises the contents.
- `KIND`, `SUFFIXES`, `is_file(file)` and `load(path, trust) -> model`, for files
  that hold an object of any library and must be trusted.
"""

import functools
import os
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from defragtrees._utils.files import first_bytes
from defragtrees._utils.types import Rows
from defragtrees.ensembles.forest import Forest
from defragtrees.errors import ModelFileError, UnsupportedModelError

# Some pickles have no magic number, so they come last.
READERS = {
    "sklearn": "defragtrees.ensembles.readers.from_sklearn",
    "xgboost": "defragtrees.ensembles.readers.from_xgboost",
    "lightgbm": "defragtrees.ensembles.readers.from_lightgbm",
    "catboost": "defragtrees.ensembles.readers.from_catboost",
    "randomForest": "defragtrees.ensembles.readers.from_r",
    "skops": "defragtrees.ensembles.readers.from_skops",
    "pickle": "defragtrees.ensembles.readers.from_pickle",
}
# Methods that a reader takes to be those of the library.
METHODS = ("predict", "predict_proba", "decision_function", "transform")


def read_forest(
    model: Any, *, trust_pickle: bool = False, trusted_types: Any = (), **options: Any
) -> Forest:
    """Read a model as a Forest with the same predictions.

    Parameters
    ----------
    model : fitted model, path or Forest
        A fitted scikit-learn, XGBoost, LightGBM or CatBoost model; a file saved by
        XGBoost (.json, .ubj), LightGBM (.txt), CatBoost (.cbm, .json) or skops; a
        pickle or joblib file; or a folder with the trees of an R randomForest, one text
        file of `getTree` per tree.
    trust_pickle : bool, default=False
        Whether to open pickle files. Loading a pickle can execute arbitrary code, so
        open only files that you trust.
    trusted_types : sequence of str
        Types in a skops file to trust besides those that skops considers safe.
    **options
        Passed to the reader. `from_r.read` accepts what the text files from R leave
        out, such as feature names and factor levels.

    Returns
    -------
    Forest

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RandomForestClassifier(5, random_state=0).fit(X, y)
    >>> forest = read_forest(model)
    >>> bool((forest.predict(X) == model.predict(X)).all())
    True
    """
    if isinstance(model, Forest):
        return model
    if isinstance(model, (str, os.PathLike)):
        return _open(Path(model), Trust(trust_pickle, tuple(trusted_types)), options)
    reader = _object_reader(model)
    if reader is None:
        kind = type(model)
        *names, last = [reader.NAME for reader in _readers("NAME")]
        raise UnsupportedModelError(
            f"Cannot read {kind.__module__.split('.')[0]}.{kind.__qualname__}: "
            f"an ensemble of {', '.join(names)} or {last} is needed, "
            "or the file it was saved to."
        )
    return reader.read(model, **options)


def read_on_table(model: Any, X: Rows) -> Forest | None:
    """Read a model that can be read only together with rows.

    None if rows do not help.
    """
    reader = _object_reader(model)
    if not hasattr(reader, "read_on_table"):
        return None
    return reader.read_on_table(model, X)


def load_object(
    path: str | os.PathLike[str], trust_pickle: bool = False, trusted_types: Any = ()
) -> Any:
    """Load the model in a file that its own library can query; None for others.

    That is one in a pickle or skops file, or of CatBoost.
    """
    reader = _file_reader(ModelFile(Path(path)))
    if hasattr(reader, "load_unread"):
        return reader.load_unread(path)
    if not hasattr(reader, "load"):
        return None
    return reader.load(Path(path), Trust(trust_pickle, tuple(trusted_types)))


def file_kind(path: str | os.PathLike[str]) -> str | None:
    """The kind of a file, such as "an XGBoost model"; None if unknown."""
    reader = _file_reader(ModelFile(Path(path)))
    return None if reader is None else reader.KIND


def _readers(ability):
    """The modules of all readers that have such a name."""
    modules = [import_module(name) for name in READERS.values()]
    return [module for module in modules if hasattr(module, ability)]


def _object_reader(model):
    for kind in type(model).__mro__:
        package = kind.__module__.split(".")[0]
        if package in READERS:
            method = overridden(model)
            if method is not None:
                raise UnsupportedModelError(
                    f"Cannot read {type(model).__name__}: it overrides {method} of "
                    f"{package}."
                )
            return import_module(READERS[package])
    return None


def overridden(model: Any) -> str | None:
    """The name of a method that a model replaces by one of its own; None without.

    A class of another library that extends nothing that predicts replaces nothing.
    """
    kinds = type(model).__mro__
    for name in METHODS:
        if name in vars(model):
            return name
        # A regressor with a `predict_proba` of its own would be read as a classifier.
        known = "predict" if name == "predict_proba" else name
        first = next((kind for kind in kinds if name in vars(kind)), None)
        if first is None or _is_of_library(first, name):
            continue
        if any(known in vars(kind) and _is_of_library(kind, known) for kind in kinds):
            return name
    return None


def check_fitted(model: Any) -> None:
    """Raise for an estimator of scikit-learn that is not fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise NotFittedError(
            f"A fitted model is needed; this {type(model).__name__} is not fitted. "
            "Call fit first."
        ) from None


def _is_of_library(kind, name):
    """Whether the class, and its method of this name, are those of a library."""
    return all(
        # imbalanced-learn's pipeline skips the steps that resample, as its reader does.
        module is None
        or module == "imblearn.pipeline"
        or module.split(".")[0] in READERS
        for module in (kind.__module__, getattr(vars(kind)[name], "__module__", None))
    )


def _file_reader(file):
    return next((r for r in _readers("is_file") if r.is_file(file)), None)


def _open(path, trust, options):
    """Open and read a model file."""
    if not path.exists():
        raise FileNotFoundError(f"No model file or folder at {str(path)!r}.")
    reader = _file_reader(ModelFile(path))
    if reader is None and trust.pickle:
        reader = import_module(READERS["pickle"])
    if reader is None:
        return _read_by_name(path, options)
    if hasattr(reader, "load"):
        model = reader.load(path, trust)
        with report_damage("pickled", path.name):
            return replace(read_forest(model, **options), estimator=model)
    return reader.read_file(path, **options)


def _read_by_name(path, options):
    """Read a file with unknown contents by the reader of its suffix."""
    suffix = path.suffix.lower()
    named = [r for r in _readers("read_file") if suffix in r.SUFFIXES]
    kinds = [
        f"{reader.KIND} ({', '.join(reader.SUFFIXES)})"
        if reader.SUFFIXES
        else reader.KIND
        for reader in _readers("is_file")
    ]
    advice = f"none of the known formats: {', '.join(kinds[:-1])} or {kinds[-1]}."
    if not named:
        raise ModelFileError(f"{path.name!r} is {advice}")
    try:
        return named[0].read_file(path, **options)
    except ModelFileError as error:
        raise ModelFileError(f"{str(error).rstrip('.')}. It is {advice}") from None


# Model files: detection, memory limits and errors.
#
# A few bytes can claim a million classes, or a category number of 200,000,000. So the
# memory of a model is limited by its file size, and checked before it is allocated.

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


# Objectives of the boosting libraries, and losses of scikit-learn.

# Of a mean absolute percentage error it is a median in which small y count more.
MEDIANS = ("absolute_error", "absoluteerror", "regression_l1", "mae", "mape")
RANKINGS = ("rank", "lambda", "yeti", "pairlogit", "query", "stochastic")


def what_is_predicted(objective, level=0.5):
    """The quantile of y that a model with this objective predicts, or "ranking".

    Empty if it is the mean.

    Examples
    --------
    >>> what_is_predicted("reg:quantileerror", 0.9), what_is_predicted("MAE")
    (0.9, 0.5)
    >>> what_is_predicted("lambdarank"), what_is_predicted("squared_error")
    ('ranking', '')
    """
    name = str(objective).lower().removeprefix("reg:")
    if "quantile" in name or name in MEDIANS:
        return float(level) if "quantile" in name else 0.5
    return "ranking" if name.startswith(RANKINGS) else ""


CLASS_LINKS = ("identity", "sigmoid", "softmax", "step")  # for classifiers


def task_and_link(objectives, objective, model, wrapper):
    """Task and link of an objective, as a wrapper or a Booster uses it.

    `model` is such as "an XGBoost model"; `wrapper` is "classifier", "regressor" or
    "ranker", and None for a Booster.
    """
    named = f"Cannot read {model} with the objective {objective!r}"
    if objective not in objectives:
        raise UnsupportedModelError(
            f"{named}: its link is unknown. Fit with a standard objective."
        )
    task, link = objectives[objective]
    if wrapper is None:
        return task, link
    named = named.replace("model", wrapper, 1)
    if wrapper != "classifier":
        if "multi" in objective:
            raise UnsupportedModelError(f"{named}. Fit a classifier.")
        return "regression", link
    if link not in CLASS_LINKS:
        raise UnsupportedModelError(
            f"{named}: it does not predict probabilities. Fit with an objective for "
            "classes."
        )
    return "classification", link
