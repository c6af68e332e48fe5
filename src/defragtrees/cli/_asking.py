"""A model file that cannot be read as trees: the model is asked, on the raw table."""

import numpy as np

from defragtrees._utils.files import first_bytes
from defragtrees._utils.optional import require
from defragtrees.cli._columns import find_column
from defragtrees.data.tables import listed
from defragtrees.ensembles.readers import load_object
from defragtrees.estimators.inputs import open_model

__all__ = ["ask_file"]


def ask_file(inputs, table, why):
    """The forest of a model's answers, and X, y and weights of the data.

    Parameters
    ----------
    inputs : Inputs
    table : table of the data, which knows its names
    why : UnsupportedEnsembleError
        Why the model cannot be read; raised again if it cannot be asked either.
    """
    model = load_object(inputs.model, inputs.trust_pickle, inputs.trusted_types)
    if not hasattr(model, "predict"):
        raise why
    reserved = [name for name in (inputs.target, inputs.weights) if name is not None]
    names = inputs.columns or getattr(model, "feature_names_in_", None)
    if names is None:
        names = [name for name in table.names if name not in reserved]
        _check_number(model, names)
    for name in names:
        find_column(str(name), list(table.names), "The model")
    frame = _frame(inputs.data)
    y, weight = (
        None if name is None else frame[name].to_numpy()
        for name in (inputs.target, inputs.weights)
    )
    if y is not None and y.dtype.kind == "O" and any(v != v for v in y):
        raise ValueError(
            f"Column {inputs.target!r} must hold an answer in every row; some are "
            "empty. Drop such rows first."
        )
    X = frame[[str(name) for name in names]]
    return open_model(model, X, y, random_state=0), X, y, weight


def _check_number(model, names):
    needed = getattr(model, "n_features_in_", len(names))
    if needed != len(names):
        raise ValueError(
            f"The model has no names for its {needed} features, and the data has "
            f"{len(names)} columns that may be meant: {listed(names)}. Name those that "
            "the model was trained on, in order, with --columns."
        )


def _frame(path):
    """All of the data as a frame with the types that it has."""
    pandas = require("pandas", "A model that cannot be read")
    head = first_bytes(path)
    if head.startswith(b"PAR1"):
        frame = pandas.read_parquet(path)
    elif head.startswith(b"ARROW1"):
        frame = pandas.read_feather(path)
    else:
        packed = "gzip" if head.startswith(b"\x1f\x8b") else None
        frame = pandas.read_csv(path, compression=packed, sep=None, engine="python")
    kinds = frame.dtypes.astype(str)
    texts = kinds.index[kinds.isin(["object", "str"])]
    # As read_csv of older versions gives it, which models have seen in training.
    return frame.astype(dict.fromkeys(texts, object)).replace({None: np.nan})
