"""Where the files of the data sets are: folders, our cache, the package, OpenML."""

import gzip
import hashlib
import http.client
import json
import os
import socket
import warnings
import zlib
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError

import numpy as np
from sklearn.datasets import fetch_openml

from defragtrees._utils.files import write_atomic
from defragtrees.datasets._known import check
from defragtrees.datasets._tables import DatasetFileError, pack, unpack

__all__ = ["DatasetNotFoundError", "find", "read_bundled"]

BUNDLED = ("energy",)  # with all rows
# As OpenML and others write the classes; liac-arff gives nominal values as text.
LABELS = {
    **dict.fromkeys(("1", "1.0", "true", "signal", "spam"), 1),
    **dict.fromkeys(("0", "0.0", "false", "background", "ham"), 0),
}
TIMEOUT = 60.0
NO_NETWORK = (URLError, ConnectionError, TimeoutError, http.client.HTTPException)
# scikit-learn compares OpenML's MD5 and says so in a ValueError.
BAD_CONTENT = (ValueError, KeyError, TypeError, EOFError, gzip.BadGzipFile, zlib.error)


class DatasetNotFoundError(FileNotFoundError):
    """A data set of which there is no file, and which cannot be downloaded.

    Examples
    --------
    >>> from defragtrees.datasets import load
    >>> try:
    ...     load("higgs", data_home="no such folder")
    ... except DatasetNotFoundError as error:
    ...     print(error)
    data_home must be a folder; there is none at 'no such folder'.
    """


def find(known, data_home=None, download=True):
    """The checked names and table of a known set, from the first place that has it."""
    file = f"{known.name}.csv.gz"
    folders = _folders(data_home)
    for folder in folders:
        if (folder / file).exists():
            return _read_checked(known, (folder / file).read_bytes(), folder / file)
    cache = _cache_folder()
    if (cache / file).exists():
        packed = _read_cached(cache / file)
        return _read_checked(known, packed, cache / file)
    if known.name in BUNDLED:
        return _read_checked(known, read_bundled(file), file)
    places = [str(folder) for folder in (*folders, cache)]
    if not download:
        raise _not_found(known, places, "download=False")
    try:
        return _fetch(known, cache)
    except NO_NETWORK as error:
        reason = f"OpenML could not be reached ({error})"
        raise _not_found(known, places, reason) from error


def read_bundled(file):
    """The bytes of a file that comes with the package."""
    return resources.files("defragtrees").joinpath("data", file).read_bytes()


def _folders(data_home):
    """The folders with files of the user's own, in the order of search."""
    folders = []
    if data_home is not None:
        folder = Path(data_home).expanduser()
        if not folder.is_dir():
            raise DatasetNotFoundError(
                f"data_home must be a folder; there is none at {str(folder)!r}."
            )
        folders.append(folder)
    if os.environ.get("DEFRAGTREES_DATA"):
        folders.append(Path(os.environ["DEFRAGTREES_DATA"]).expanduser())
    return folders


def _cache_folder():
    folder = os.environ.get("DEFRAGTREES_CACHE") or "~/.cache/defragtrees"
    return Path(folder).expanduser()


def _scratch_in(cache):
    """A new folder in the cache; before a download, lest that be in vain."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
        return TemporaryDirectory(dir=cache, prefix="download-")
    except OSError as error:
        raise OSError(
            f"The cache folder must be one that can be written; {str(cache)!r} is not "
            f"({error}). Set DEFRAGTREES_CACHE to another."
        ) from error


def _not_found(known, places, reason):
    file = f"{known.name}.csv.gz"
    return DatasetNotFoundError(
        f"{known.name!r} needs the file {file}; it is in none of {places}, and "
        f"{reason}. Put it (a header, the features, last the column 'target') into a "
        "folder that is given as data_home or named by the environment variable "
        "DEFRAGTREES_DATA, or load it once with a network. It comes from "
        f"{known.origin}, and https://www.openml.org/d/{known.openml_id} has a copy."
    )


def _read_checked(known, packed, where):
    names, table = unpack(packed, where)
    check(known, names, table, where)
    return names, table


def _read_cached(path):
    """The bytes of a file in the cache, if they are those that were written."""
    note = _note_of(path)
    packed = path.read_bytes()
    try:
        wanted = json.loads(note.read_text(encoding="utf-8"))["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        raise DatasetFileError(
            f"{path} must have its SHA-256 beside it in {note.name}, which is missing "
            "or broken. Delete both to download again; files of your own belong in "
            "data_home or DEFRAGTREES_DATA."
        ) from None
    got = hashlib.sha256(packed).hexdigest()
    if got != wanted:
        raise DatasetFileError(
            f"{path} was altered since it was downloaded: its SHA-256 must be "
            f"{wanted}; got {got}. Delete it to download it again."
        )
    return packed


def _note_of(path):
    """The JSON file that goes with a file in the cache."""
    return path.with_name(path.name.removesuffix(".csv.gz") + ".json")


def _fetch(known, cache):
    """Download from OpenML, check, keep in the cache; what later loads will read."""
    path = cache / f"{known.name}.csv.gz"
    where = f"The copy of {known.name!r} from OpenML (data set {known.openml_id})"
    with _scratch_in(cache) as scratch:
        try:
            names, table = _from_openml(known, scratch)
        except BAD_CONTENT as error:
            raise DatasetFileError(f"{where} is not usable: {error}") from error
        if len(table) != known.openml_rows:
            raise DatasetFileError(
                f"{where} must have {known.openml_rows:,} rows; got {len(table):,}."
            )
        # OpenML's copy of HIGGS ends in the middle of a line.
        if np.isnan(table[-1]).any():
            table = table[:-1]
        check(known, names, table, where)
        packed = pack(names, table)
        note = {
            "file": path.name,
            "sha256": hashlib.sha256(packed).hexdigest(),
            "rows": len(table),
            "openml": known.openml_id,
            "source": known.source,
        }
        # The note first: whoever sees the data file must find its note.
        write_atomic(_note_of(path), json.dumps(note, indent=2))
        write_atomic(path, packed)
    return names, table


def _from_openml(known, scratch):
    """The names that we use and the table, from scikit-learn's downloader."""
    with _patience(), warnings.catch_warnings():
        # Of retries and the like; what counts is whether the table passes the check.
        warnings.simplefilter("ignore")
        # Not pandas' parser: it rounds the last digit, and trips over True and False.
        fetched = fetch_openml(
            data_id=known.openml_id,
            target_column=known.openml_target,
            data_home=scratch,
            as_frame=False,
            parser="liac-arff",
        )
    X = np.asarray(fetched.data, dtype=np.float64)
    if X.shape[1] != len(known.feature_names):
        raise ValueError(
            f"it must have {len(known.feature_names)} features; got {X.shape[1]}."
        )
    labels = [str(label).strip().lower() for label in fetched.target]
    odd = sorted(set(labels) - set(LABELS))
    if odd:
        raise ValueError(f"the classes must be among {list(LABELS)}; got {odd[:5]}.")
    y = [LABELS[label] for label in labels]
    return (*known.feature_names, "target"), np.column_stack([X, y])


@contextmanager
def _patience():
    """Let the network be silent for TIMEOUT seconds; by default it would be forever."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(TIMEOUT if before is None else before)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)
