"""Read CatBoost: its wrappers, and the .cbm and .json files that they save.

All are read through CatBoost's JSON document. A split tests `float32(x) > border`; a
missing value is below or above every border, depending on the feature. An oblivious
tree has the same split at every node of a level.
"""

import json
import tempfile
from pathlib import Path

import numpy as np
from sklearn.exceptions import NotFittedError

from defragtrees._utils.optional import require
from defragtrees.ensembles.forest import Forest
from defragtrees.ensembles.readers._catboost_trees import (
    damaged,
    numbers,
    read_features,
    read_trees,
    reject_kind,
    take,
)
from defragtrees.ensembles.readers._cbm import parse_cbm
from defragtrees.ensembles.readers._files import report_damage
from defragtrees.errors import ModelFileError, UnsupportedModelError
from defragtrees.tables import is_missing, select_columns, take_rows

NAME, KIND = "CatBoost", "a CatBoost model"
SUFFIXES = (".cbm", ".json")
BINARY_MARK = b"CBM1"

# Links of `predict`. LogLinQuantile has none, although Poisson and Tweedie, also
# logarithmic, have the exponential.
PLAIN_LOSSES = (
    *("Cox", "Expectile", "Huber", "LogCosh", "LogLinQuantile", "Lq", "MAE", "MAPE"),
    *("Quantile", "RMSE", "RMSPE"),
)
REGRESSION_LINKS = {
    **dict.fromkeys(PLAIN_LOSSES, "identity"),
    "Poisson": "exp",
    "Tweedie": "exp",
}
CLASS_LINKS = {
    "CrossEntropy": "sigmoid",
    "Focal": "sigmoid",
    "Logloss": "sigmoid",
    "MultiClass": "softmax",
    "MultiClassOneVsAll": "sigmoid",
}
LABEL_TYPES = {  # type of labels, and types that JSON may have converted them to
    "Boolean": (bool,),
    "Float": (float, int),
    "Integer": (int,),
    "String": (str,),
}


def read(model):
    """Read a fitted CatBoost model as a Forest.

    A plain `CatBoost` with a classification loss is read like a `CatBoostClassifier`.
    """
    _check_object(model)
    return _saved(model)


def read_on_table(model, X):
    """Read a model with categories, which are looked up in a table.

    CatBoost stores hashes of categories, so X must have all categories that the
    model splits on. Target statistics are rejected here too.
    """
    _check_object(model)
    X = select_columns(X, model.feature_names_)
    sets, labels, rows = model.get_cat_feature_indices(), {}, set()
    for j in sets:
        values = _column_values(X, j)
        first = {value: i for i, value in reversed(list(enumerate(values)))}
        labels[j] = tuple(sorted(first, key=str))
        rows.update(first.values())
    pool = require("catboost", "Reading CatBoost").Pool
    table = take_rows(X, np.array(sorted(rows), dtype=int))
    return _saved(model, labels, pool(table, cat_features=sets))


def _column_values(X, j):
    if not hasattr(X, "iloc") and not isinstance(X, np.ndarray):
        raise UnsupportedModelError(
            "Cannot read the CatBoost model: X must be a pandas frame or an array, "
            f"to look up categories; got {type(X).__name__}. Pass one of these."
        )
    values = X.iloc[:, j].tolist() if hasattr(X, "iloc") else X[:, j].tolist()
    if any(is_missing(value) for value in values):
        raise UnsupportedModelError(
            "Cannot read the CatBoost model: a categorical column has missing "
            "values, which CatBoost does not accept. Fill them."
        )
    return values


def _check_object(model):
    name = type(model).__name__
    if not model.is_fitted():
        raise NotFittedError(f"This {name} is not fitted yet; call fit first.")
    # CatBoost does not write these to JSON, so they are read from the object here.
    for kind in ("text", "embedding"):
        columns = getattr(model, f"get_{kind}_feature_indices")()
        reject_kind(kind, [model.feature_names_[j] for j in columns])


def _saved(model, labels=None, pool=None):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json", pool=pool)
        return _forest(_load_json(path.read_bytes()), labels)


def is_file(file):
    """Whether this is CatBoost's binary format or its JSON."""
    return file.head.startswith(BINARY_MARK) or b'"features_info"' in file.json


def read_file(path):
    """Read a `.json` or `.cbm` file; catboost is not needed."""
    path = Path(path)
    with report_damage(NAME, path.name):
        return _forest(_document(path)[0])


def load_unread(path):
    """Load a file that cannot be read as trees, with catboost, to query the model."""
    path = Path(path)
    catboost = require("catboost", "A CatBoost model with categories")
    with report_damage(NAME, path.name):
        document, form = _document(path)
        loss = _read_loss(take(document, "model_info", dict))
    is_class = loss in CLASS_LINKS
    kind = catboost.CatBoostClassifier if is_class else catboost.CatBoostRegressor
    try:
        return kind().load_model(str(path), format=form)
    except catboost.CatBoostError as error:
        why = " ".join(str(error).split()).rstrip(".")
        raise ModelFileError(f"{path.name!r} cannot be loaded: {why}.") from None


def _document(path):
    """The contents of a file, and what catboost calls its format."""
    content = path.read_bytes()
    if content.startswith(BINARY_MARK) or path.suffix == ".cbm":
        return parse_cbm(content), "cbm"
    return _load_json(content), "json"


def _load_json(content):
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise damaged(f"it is not JSON ({error})") from None


def _forest(document, labels=None):
    information = take(document, "model_info", dict)
    features = read_features(take(document, "features_info", dict), labels)
    if not features.names:
        raise damaged("it has no features")
    loss = _read_loss(information)
    classes = None
    if loss in CLASS_LINKS:
        classes = _read_classes(information)
        _check_probability_threshold(information)
    elif loss not in REGRESSION_LINKS:
        losses = ", ".join(sorted(REGRESSION_LINKS | CLASS_LINKS))
        raise UnsupportedModelError(
            f"Cannot read the CatBoost model: its loss is {loss!r}. "
            f"Fit it with one of {losses}."
        )
    has_output_per_class = loss in ("MultiClass", "MultiClassOneVsAll")
    n_outputs = len(classes) if has_output_per_class else 1
    if classes is not None and len(classes) > max(2, n_outputs):
        raise damaged(f"{len(classes)} classes do not fit the loss {loss!r}")
    scale, bias = _read_scale(document, n_outputs)
    trees = read_trees(document, features, n_outputs, scale)
    link = (REGRESSION_LINKS | CLASS_LINKS)[loss]
    if classes is not None and len(classes) == 1:
        trees, bias, link = (), np.zeros(1), "softmax"
    return Forest(
        trees=trees,
        feature_names=features.names,
        task="regression" if classes is None else "classification",
        classes=classes,
        base=bias,
        link=link,
        categories=features.categories,
    )


def _read_scale(document, n_outputs):
    pair = take(document, "scale_and_bias", list, [1.0, 0.0])
    if len(pair) != 2:
        raise damaged("'scale_and_bias' must have two parts")
    scale = numbers(pair[0], "scale_and_bias", 1)
    bias = numbers(pair[1], "scale_and_bias")
    if len(bias) not in (1, n_outputs):
        raise damaged(f"'scale_and_bias' does not fit {n_outputs} outputs")
    return scale[0], np.broadcast_to(bias, n_outputs)


def _entry(information, key):
    """A part of the model's description; some files hold it as text."""
    value = information.get(key)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise damaged(f"{key!r} is not JSON ({error})") from None
    return value


def _read_loss(information):
    # A sum of several models stores their common loss one level higher.
    options = _entry(information, "params")
    if options is None:
        options = {"loss_function": _entry(information, "loss_function")}
    loss = take(options, "loss_function", dict, {"type": "unknown"})
    return take(loss, "type", str)


def _read_classes(information):
    """The label of each output; a class without rows has no output."""
    options = _entry(information, "class_params")
    kinds = LABEL_TYPES.get(take(options, "class_label_type", str))
    positions = take(options, "class_to_label", list)
    names = take(options, "class_names", list, [])
    if len(names) == 1:
        # CatBoost counts a second class without name and rows.
        positions = [0]
    names = dict(enumerate(names)) or {j: j for j in positions if type(j) is int}
    if kinds is None or not all(type(name) in kinds for name in names.values()):
        raise damaged("'class_names' do not fit 'class_label_type'")
    if not all(type(j) is int and j in names for j in positions):
        raise damaged("'class_to_label' does not fit 'class_names'")
    classes = tuple(kinds[0](names[j]) for j in positions)
    if not classes or len(set(classes)) < len(classes):
        raise damaged("two classes have the same label, or there are none")
    return classes


def _check_probability_threshold(information):
    threshold = information.get("binclass_probability_threshold", 0.5)
    try:
        is_usual = float(threshold) == 0.5
    except (TypeError, ValueError):
        raise damaged("'binclass_probability_threshold' must be a number") from None
    if not is_usual:
        raise UnsupportedModelError(
            "Cannot read the CatBoost model: it predicts the second class from "
            f"probability {threshold}, not from 0.5. "
            "Call set_probability_threshold(0.5) first."
        )
