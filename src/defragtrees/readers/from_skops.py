"""skops: files of scikit-learn objects that name their types before they are made."""

import json
import zipfile

from defragtrees._optional import require
from defragtrees.errors import ModelFileError
from defragtrees.readers.from_pickle import LOADING_ERRORS

__all__ = ["is_file", "load"]

KIND = "a skops file"
SUFFIXES = (".skops",)


def is_file(file):
    """Whether this is a zip archive with a schema of skops."""
    if not file.head.startswith(b"PK\x03\x04"):
        return False
    try:
        with zipfile.ZipFile(file.path) as archive:
            return "schema.json" in archive.namelist()
    except zipfile.BadZipFile as error:
        raise ModelFileError(f"{file.path.name!r} is damaged: {error}.") from None


def load(path, trust):
    """The object in the file, if each of its types is trusted by skops or the user."""
    skops = require("skops.io", "Reading a skops file")
    try:
        untrusted = sorted(set(skops.get_untrusted_types(file=path)) - set(trust.types))
        if not untrusted:
            return skops.load(path, trusted=list(trust.types))
    except (*LOADING_ERRORS, json.JSONDecodeError, zipfile.BadZipFile) as error:
        raise ModelFileError(
            f"{path.name!r} cannot be opened by skops: {error}."
        ) from None
    options = " ".join(f"--trust-type {name}" for name in untrusted)
    raise ModelFileError(
        f"{path.name!r} holds types that skops does not deem safe: "
        f"{', '.join(untrusted)}. If you trust its author, pass "
        f"trusted_types={untrusted!r}; on the command line add {options}."
    )
