"""The cases of a run: which file, altered in which way, all told by one number."""

import json
import random
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz import mutations

__all__ = [
    "CORPUS",
    "R_TREE",
    "SEEDS",
    "Case",
    "kept_cases",
    "kind_of",
    "make_case",
    "seed_files",
]

FOLDER = Path(__file__).parent
SEEDS, CORPUS = FOLDER / "seeds", FOLDER / "corpus"
R_TREE = """\
left daughter right daughter split var split point status prediction
1 2 3 1 40.5 1 0
2 4 5 2 0.25 1 0
3 0 0 0 0.0 -1 2
4 0 0 0 0.0 -1 1
5 0 0 0 0.0 -1 2
"""
KINDS = ("xgboost", "lightgbm", "catboost", "r-tree", "sklearn", "rules", "table")


@dataclass(frozen=True)
class Case:
    """One altered file.

    Parameters
    ----------
    name : str
        As the file is called, with the ending of the one it was made of.
    kind : str
        What it pretends to be, such as "xgboost" or "rules".
    content : bytes
    """

    name: str
    kind: str
    content: bytes


def seed_files():
    """The files to start from, in the order of their names."""
    return sorted(path for path in SEEDS.iterdir() if path.is_file())


def make_case(number, seed):
    """The case of this number in the run with this seed."""
    rng = random.Random(f"{seed}/{number}")
    files = seed_files()
    path = files[number % len(files)]
    content = path.read_bytes()
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        content = _altered(content, path, rng)
    return Case(f"{number}-{path.name}", kind_of(path), content)


def kept_cases():
    """Every file that ever failed; its name ends as that of the seed it was made of."""
    return [
        Case(path.name, kind_of(path), path.read_bytes())
        for path in sorted(CORPUS.iterdir())
    ]


def kind_of(path):
    """What a file pretends to be, told by its name; a number may stand before it."""
    name = path.name.lstrip("0123456789-")
    return next(kind for kind in KINDS if name.startswith(kind))


def _altered(content, path, rng):
    if path.suffix == ".json" and rng.random() < 0.8:
        try:
            document = json.loads(content)
        except ValueError:
            return mutations.alter_bytes(content, rng)
        return mutations.alter_document(document, rng)
    if path.suffix in (".txt", ".csv") and rng.random() < 0.8:
        return mutations.alter_text(content, rng)
    if path.suffix == ".skops" and rng.random() < 0.7:
        return mutations.alter_archive(content, rng)
    return mutations.alter_bytes(content, rng)
