"""Model files: told apart by what is in them, and read without running what is in them.

A pickle is a program. It is opened only if the user says so, whatever the file is
called; every other kind is parsed as data.
"""

import json
import pickle
import pickletools
import shutil
import tempfile
import zipfile
from importlib import import_module
from pathlib import Path

from defragtrees._optional import require
from defragtrees.errors import ModelFileError
from defragtrees.files import first_bytes
from defragtrees.readers import READERS, read_forest
from defragtrees.rules import FORMAT as RULES

__all__ = ["model_kind", "read_model"]

KINDS = {
    "xgboost": "an XGBoost model",
    "lightgbm": "a LightGBM model",
    "catboost": "a CatBoost model",
    "skops": "a skops file",
    "pickle": "a pickle or joblib file",
    "rules": "a file of rules",
    "unknown": "no model that is known here",
}
PICKLE_SUFFIXES = {".pkl", ".pickle", ".joblib", ".sav", ".dill"}
PACKED = (  # what joblib may have packed a pickle with
    *(b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"),  # zlib
    *(b"\x1f\x8b", b"BZh"),  # gzip, bzip2
    *(b"\x5d\x00\x00", b"\xfd7zXZ", b"\x04\x22\x4d\x18"),  # lzma, xz, LZ4
)
OLD_PICKLE_STEPS = 4  # a text that is no pickle hardly gets that far
# Opening a pickle calls the code of other libraries, which may raise any of these.
PICKLE_ERRORS = (
    ArithmeticError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    pickle.UnpicklingError,
    RuntimeError,
    TypeError,
    ValueError,
)


def model_kind(path):
    """What wrote a file, by its content: a key of KINDS.

    Parameters
    ----------
    path : Path
    """
    head = first_bytes(path)
    if head[:1] == b"\x80" and head[1:2] in (b"\2", b"\3", b"\4", b"\5"):
        return "pickle"
    if head.startswith(b"PK\x03\x04"):
        return "skops" if _is_skops(path) else "unknown"
    if head.startswith(b"CBM1"):
        return "catboost"
    if head.startswith((b"tree\n", b"tree\r\n")):
        return "lightgbm"
    if head.lstrip().startswith(b"{"):
        return _json_kind(path)
    if path.suffix.lower() in PICKLE_SUFFIXES or head.startswith(PACKED):
        return "pickle"
    return "pickle" if _is_old_pickle(head) else "unknown"


def _is_old_pickle(head):
    """Whether a file begins as the oldest pickles do, which have no mark."""
    n_steps = 0
    try:
        # This takes the steps apart and follows none of them.
        for step, _, _ in pickletools.genops(head):
            n_steps += 1
            if step.name == "STOP":
                break
    # What the steps hold may be of any form; the head may end in the middle of one.
    except Exception:
        pass
    return head[:1] in b"(]}c" and n_steps >= OLD_PICKLE_STEPS


def _is_skops(path):
    try:
        with zipfile.ZipFile(path) as archive:
            return "schema.json" in archive.namelist()
    except zipfile.BadZipFile as error:
        raise ModelFileError(f"{path.name!r} is damaged: {error}.") from None


def _json_kind(path):
    """XGBoost's JSON and UBJSON, CatBoost's JSON, or rules."""
    content = path.read_bytes()
    if f'"{RULES}"'.encode() in content:
        return "rules"
    if b'"features_info"' in content:
        return "catboost"
    return "xgboost" if b"learner" in content else "unknown"


def read_model(path, trust_pickle=False, trusted=(), columns=None):
    """The Forest of a saved model.

    Parameters
    ----------
    path : Path
        A file of XGBoost, LightGBM, CatBoost or skops, a folder of R trees, or with
        `trust_pickle` a pickle or joblib file.
    trust_pickle : bool
        Whether a pickle may be opened, which can run any code.
    trusted : sequence of str
        Types in a skops file to trust beside those that skops trusts.
    columns : sequence of str, optional
        The features in R's order; R's texts have only their numbers.

    Returns
    -------
    Forest
    """
    if path.is_dir():
        return read_forest(path, feature_names=columns)
    kind = model_kind(path)
    if kind == "skops":
        return read_forest(_load_skops(path, trusted))
    if kind == "pickle" or (kind == "unknown" and trust_pickle):
        return _read_pickle(path, trust_pickle)
    if kind == "catboost":
        return _read_catboost(path)
    if kind in ("xgboost", "lightgbm"):
        return import_module(READERS[kind]).read_file(path)
    advice = (
        "Give the model that the rules were made from."
        if kind == "rules"
        else "A file saved by XGBoost (.json, .ubj), LightGBM (.txt), CatBoost (.cbm, "
        ".json) or skops is needed, or a folder of R trees."
    )
    raise ModelFileError(f"{path.name!r} is {KINDS[kind]}. {advice}")


def _read_catboost(path):
    """By content; CatBoost's reader itself goes by the name of the file."""
    suffix = ".cbm" if first_bytes(path).startswith(b"CBM1") else ".json"
    reader = import_module(READERS["catboost"])
    if path.suffix == suffix:
        return reader.read_file(path)
    with tempfile.TemporaryDirectory() as folder:
        return reader.read_file(Path(shutil.copy(path, Path(folder, f"model{suffix}"))))


def _load_skops(path, trusted):
    skops = require("skops.io", "Reading a skops file")
    try:
        untrusted = sorted(set(skops.get_untrusted_types(file=path)) - set(trusted))
        if not untrusted:
            return skops.load(path, trusted=list(trusted))
    except (*PICKLE_ERRORS, json.JSONDecodeError, zipfile.BadZipFile) as error:
        raise ModelFileError(
            f"{path.name!r} cannot be opened by skops: {error}."
        ) from None
    options = " ".join(f"--trust-type {name}" for name in untrusted)
    raise ModelFileError(
        f"{path.name!r} holds types that skops does not deem safe: "
        f"{', '.join(untrusted)}. If you trust its author, add {options}."
    )


def _read_pickle(path: Path, is_trusted):
    if not is_trusted:
        raise ModelFileError(
            f"{path.name!r} is a pickle or joblib file, and opening one can run any "
            "code that its author put in it. If the file is your own, add "
            "--trust-pickle."
        )
    # scikit-learn brings joblib, which opens plain pickles as well.
    joblib = require("joblib", "Reading a pickle")
    try:
        ensemble = joblib.load(path)
    except PICKLE_ERRORS as error:
        raise ModelFileError(
            f"{path.name!r} cannot be opened as a pickle: {type(error).__name__}: "
            f"{error}."
        ) from None
    return read_forest(ensemble)
