"""Read skops files, which list the types of their objects before these are made.

The file is a zip archive, in which few bytes can expand to many. So the size of its
members is checked before skops opens it.
"""

import math
import tokenize
import zipfile
import zlib

import numpy as np

from defragtrees._utils.optional import require
from defragtrees.ensembles.readers import Allowance
from defragtrees.ensembles.readers.from_pickle import LOADING_ERRORS
from defragtrees.errors import ModelFileError

KIND = "a skops file"
SUFFIXES = (".skops",)
SCHEMA = "schema.json"
MEMORY_PER_LETTER = 24  # of JSON that consists of empty lists
MEMORY_PER_BYTE = 4  # of an array while it is read and copied
LONGEST_HEADER = 10_000  # of an array, as numpy has it
OPENING_ERRORS = (
    *(*LOADING_ERRORS, OSError, SyntaxError, tokenize.TokenError),
    *(zipfile.BadZipFile, zlib.error),
)


def is_file(file):
    """Whether this is a zip archive with a skops schema."""
    if not file.head.startswith(b"PK\x03\x04"):
        return False
    try:
        with zipfile.ZipFile(file.path) as archive:
            return SCHEMA in archive.namelist()
    except OPENING_ERRORS as error:
        raise ModelFileError(f"{file.path.name!r} is damaged: {error}.") from None


def load(path, trust):
    """Load the object in the file, if skops or the user trusts all its types."""
    skops = require("skops.io", "Reading a skops file")
    try:
        _check_members(path)
        untrusted = sorted(set(skops.get_untrusted_types(file=path)) - set(trust.types))
        if not untrusted:
            return skops.load(path, trusted=list(trust.types))
    except ModelFileError:
        raise
    except OPENING_ERRORS as error:
        why = " ".join(str(error).split()).rstrip(".")
        raise ModelFileError(
            f"{path.name!r} cannot be opened by skops: {type(error).__name__}"
            f"{': ' if why else ''}{why}. It may be damaged, or from another version; "
            "save the model again."
        ) from None
    # Several types are listed once, so that the message stays short.
    is_one = len(untrusted) == 1
    raise ModelFileError(
        f"{path.name!r} has types that skops does not consider safe: "
        f"{', '.join(untrusted)}. If you trust its author, open it by "
        f"read_forest(path, trusted_types={untrusted if is_one else '[…]'}); on the "
        f"command line add --trust {untrusted[0] if is_one else 'for each'}."
    )


def _check_members(path):
    """Raise for an archive whose members are far larger than the file."""
    allowance = Allowance("skops", path.stat().st_size)
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            name, size = member.filename, member.file_size
            factor = MEMORY_PER_LETTER if name == SCHEMA else MEMORY_PER_BYTE
            allowance.take(factor * size, f"{size:,} bytes of {name[:60]!r}")
            if name.endswith(".npy"):
                with archive.open(member) as file:
                    _check_array(file, size, name)


def _check_array(file, size, name):
    """Raise for an array that claims more numbers than it has."""
    version = np.lib.format.read_magic(file)
    read = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, _, dtype = read(file, max_header_size=LONGEST_HEADER)
    n_items = math.prod(shape)
    if not dtype.hasobject and n_items * dtype.itemsize > size:
        raise ValueError(f"{name[:60]!r} claims {n_items:,} numbers in {size:,} bytes")
