"""Read pickle and joblib files, which can run code, only if the user trusts them."""

import contextlib
import pickle
import pickletools

from defragtrees._utils.optional import require
from defragtrees.errors import ModelFileError

KIND = "a pickle or joblib file"
SUFFIXES = (".pkl", ".pickle", ".joblib", ".sav", ".dill")
MARKS = tuple(bytes((0x80, protocol)) for protocol in range(2, 6))
PACKED = (  # magic numbers of joblib's compressors
    *(b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"),  # zlib
    *(b"\x1f\x8b", b"BZh"),  # gzip, bzip2
    *(b"\x5d\x00\x00", b"\xfd7zXZ", b"\x04\x22\x4d\x18"),  # lzma, xz, LZ4
)
OLD_PICKLE_STEPS = 4  # valid opcodes that mark a pickle without a magic number
# Unpickling calls code of other libraries, which may raise any of these.
LOADING_ERRORS = (
    *(ArithmeticError, AttributeError, EOFError, ImportError, LookupError),
    *(pickle.UnpicklingError, RuntimeError, TypeError, ValueError),
)


def is_file(file):
    """Whether this may be a pickle; in doubtful cases its name decides too."""
    return (
        file.head.startswith((*MARKS, *PACKED))
        or file.path.suffix.lower() in SUFFIXES
        or _is_old_pickle(file.head)
    )


def _is_old_pickle(head):
    """Whether a file begins like the oldest pickles, which have no magic number."""
    n_steps = 0
    # Arguments may have any form; the head may end in the middle of one.
    with contextlib.suppress(Exception):
        # This parses the opcodes and executes none of them; it ends after STOP.
        for _ in pickletools.genops(head):
            n_steps += 1
    return head[:1] in b"(]}c" and n_steps >= OLD_PICKLE_STEPS


def load(path, trust):
    """Load the object in the file, if the user trusts it."""
    if not trust.pickle:
        raise ModelFileError(
            f"{path.name!r} is a pickle or joblib file, and opening one can run any "
            "code of its author. If you trust the file, open it by "
            "read_forest(path, trust_pickle=True); on the command line add "
            "--trust pickle."
        )
    # scikit-learn brings joblib, which opens plain pickles as well.
    joblib = require("joblib", "Reading a pickle")
    try:
        return joblib.load(path)
    except LOADING_ERRORS as error:
        raise ModelFileError(
            f"{path.name!r} cannot be opened as a pickle: {type(error).__name__}: "
            f"{str(error).rstrip('.')}."
        ) from None
