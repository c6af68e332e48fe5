"""Read an R randomForest from text files of `getTree`, one file per tree.

R prints seven digits, so thresholds are rounded; with `options(digits = 17)`, or
written by `write.table`, they are exact.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from defragtrees.ensembles.forest import Forest, Tree
from defragtrees.ensembles.readers import Allowance, report_damage
from defragtrees.errors import ModelFileError

KIND = "a folder of R trees"
SUFFIXES = ()

HEADER = "left daughter right daughter split var split point status prediction"
LEAF = -1
INNER = {1: "classification", -3: "regression"}  # R's status of inner nodes
MOST = 2**31 - 1  # of R's own integers
EXACT_MASK = 10**7  # from here on seven digits round an integer


def read(
    folder,
    *,
    task: str | None = None,
    classes=None,
    feature_names=None,
    categories=None,
    pattern: str = "*.txt",
) -> Forest:
    """Read the trees that R's `getTree` printed to the files of a folder as a Forest.

    Each file holds the output of `print(getTree(forest, k))`. Trees vote; if classes
    tie, the first one wins, while R chooses at random.

    Parameters
    ----------
    folder : str or Path
        Folder with the files.
    task : {"classification", "regression"}, optional
        Needed only if the files do not show it, as when all trees are single leaves.
    classes : sequence, optional
        The levels of the target in R's order. The files have only their numbers; by
        default the labels are 1, 2, ... up to the largest number in a leaf.
    feature_names : sequence of str, optional
        All columns of X in R's order. By default x1, x2, ... up to the largest split
        variable.
    categories : mapping of str to sequence, optional
        The levels of each factor, by feature name, in R's order. The files do not
        distinguish splits on factors from thresholds.
    pattern : str, default="*.txt"
        Pattern of file names; files are read in natural order (tree2 before tree10).

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> table = '''left daughter right daughter split var split point status prediction
    ... 1 2 3 1 2.5  1 0
    ... 2 0 0 0 0.0 -1 1
    ... 3 0 0 0 0.0 -1 2'''
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "tree1.txt").write_text(table)
    ...     read(folder, classes=["no", "yes"]).predict([[2.5], [2.6]]).tolist()
    ['no', 'yes']
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(
            f"A folder of getTree files is needed; got {str(folder)!r}."
        )
    paths = [path for path in folder.glob(pattern) if path.is_file()]
    if not paths:
        raise ModelFileError(
            f"No file in {folder.name!r} matches {pattern!r}. "
            "Print each tree of the randomForest to its own text file."
        )
    paths.sort(key=lambda path: _natural(path.name))
    allowance = Allowance("R", sum(path.stat().st_size for path in paths))
    tables = []
    for path in paths:
        with report_damage("R", path.name):
            text = path.read_text("utf-8-sig", errors="replace")
            tables.append(_Table(path.name, text))
    names = _settle_names(feature_names, tables, allowance)
    levels = _settle_categories(categories, names)
    task = _settle_task(task, classes, tables)
    if task == "classification":
        classes = _settle_classes(classes, tables, allowance)
    n_nodes = sum(len(table.left) for table in tables)
    allowance.take_nodes(n_nodes, len(classes or [0]), levels)
    trees = []
    for table in tables:
        with report_damage("R", table.name):
            trees.append(_make_tree(table, names, levels, classes))
    with report_damage("R", folder.name):
        return Forest(
            tuple(trees), names, task, classes, combine="mean", categories=levels
        )


read_file = read


def is_file(file):
    """Whether this is a folder, which no other library saves to."""
    return file.is_folder


def _natural(name):
    parts = re.split(r"(\d+)", name)
    return [int(part) if part.isdecimal() else part for part in parts], name


class _Table:
    """One printed tree; nodes and split variables count from 1, 0 meaning none.

    Raises ValueError for a text that is cut or altered.
    """

    def __init__(self, name, text):
        lines = [line.rstrip() for line in text.replace('"', "").splitlines()]
        lines = [line for line in lines if line]
        _check_complete(lines)
        rows = [line.split() for line in lines[1:]]
        try:
            numbers = np.array([[float(word) for word in row[1:]] for row in rows])
        except ValueError:
            raise ValueError(
                "it has words in place of numbers. Print getTree(forest, k) without "
                "labelVar=TRUE."
            ) from None
        if not np.isfinite(numbers).all():
            raise ValueError("it has infinite numbers.")
        whole = numbers[:, [0, 1, 2, 4]]
        if (whole != np.round(whole)).any() or (np.abs(whole) > MOST).any():
            raise ValueError(
                "children, split variables and status must be whole numbers up to "
                f"{MOST:,}. The text is altered; print it again."
            )
        self.name = name
        self.left, self.right, self.variable, self.status = whole.astype(np.int64).T
        self.point = [row[4] for row in rows]  # as printed
        self.prediction = numbers[:, 5]
        self.inner = self.status != LEAF
        children = np.concatenate([self.left[self.inner], self.right[self.inner]])
        if children.size and children.max() > len(rows):
            raise ValueError(
                f"its last node is {len(rows)}, but there is a child {children.max()}. "
                "The text is cut; print it again."
            )
        unknown = set(self.status[self.inner].tolist()) - set(INNER)
        if unknown or (children < 1).any() or (self.variable[self.inner] < 1).any():
            raise ValueError(
                "an inner node must have the status 1 or -3, two children and a split "
                "variable. The text is altered; print it again."
            )


def _check_complete(lines):
    """Raise for a text that is not one complete table."""
    if any("omitted" in line and "max" in line for line in lines):
        raise ValueError(
            "R left out the last nodes of the tree. Print it again after "
            "options(max.print = 1e8)."
        )
    header = " ".join(lines[0].split()) if lines else ""
    if header != HEADER and header and HEADER.startswith(header):
        raise ValueError(
            "R folded the table into several blocks. Print it again after "
            "options(width = 200)."
        )
    if header != HEADER:
        raise ValueError(
            f"a text that R's getTree printed must begin with {HEADER!r}; this one "
            f"begins with {header[:60]!r}."
        )
    if len(lines) == 1:
        raise ValueError("the table has no nodes.")
    # Printed columns are padded, so that every line is as long as the header; lines
    # of write.table are not, and theirs has no such header.
    is_padded = len(lines[0]) == len(lines[1])
    for number, line in enumerate(lines[1:], start=1):
        words = line.split()
        is_cut = is_padded and len(line) != len(lines[0])
        if len(words) != 7 or words[0] != str(number) or is_cut:
            raise ValueError(
                f"in place of node {number} with its six numbers it has {line[:60]!r}. "
                "The text is cut or altered; print it again."
            )


def _settle_names(feature_names, tables, allowance):
    n_used = max(int(table.variable.max()) for table in tables)
    if feature_names is None:
        allowance.take_labels(n_used, "split variables")
        return tuple(f"x{j + 1}" for j in range(n_used))
    if len(feature_names) < n_used:
        raise ValueError(
            f"feature_names must name all columns of X; got {len(feature_names)}, but "
            f"the trees split on column {n_used}."
        )
    return tuple(feature_names)


def _settle_categories(categories, names):
    categories = {} if categories is None else categories
    if not isinstance(categories, Mapping):
        raise TypeError(
            "categories must map feature names to levels, such as "
            f"{{'city': ['a', 'b']}}; got {type(categories).__name__}."
        )
    unknown = [name for name in categories if name not in names]
    if unknown:
        raise ValueError(
            f"categories has {unknown[0]!r}, which is no feature. "
            "Pass feature_names with all columns of X."
        )
    return tuple(
        tuple(categories[name]) if name in categories else None for name in names
    )


def _settle_task(task, classes, tables):
    if task not in (None, "classification", "regression"):
        raise ValueError(
            f"task must be 'classification' or 'regression'; got {task!r}."
        )
    shown = {_task_of(table) for table in tables} - {None}
    if len(shown) == 2:
        raise ModelFileError(
            "The files are of different forests, one of classification and one of "
            "regression. Pass a pattern that matches one forest only."
        )
    wanted = (
        shown | ({task} - {None}) | (set() if classes is None else {"classification"})
    )
    if not wanted:
        raise ModelFileError(
            "The files do not show the task, as when all trees are single leaves. "
            "Pass task='classification' or task='regression'."
        )
    if len(wanted) == 2:
        raise ValueError(
            f"task, classes and the trees must agree; got task={task!r}, "
            f"{'no ' if classes is None else ''}classes, and trees "
            f"of {shown.pop() if shown else 'unknown task'}."
        )
    return wanted.pop()


def _task_of(table):
    """The task, by the status and predictions of inner nodes; None if unknown."""
    tasks = {INNER[status] for status in table.status[table.inner].tolist()}
    # Inner nodes of a classification tree predict no class, which R prints as 0.
    predicts_inside = table.prediction[table.inner].any()
    if len(tasks) != 1 or ("classification" in tasks and predicts_inside):
        return None
    return tasks.pop()


def _settle_classes(classes, tables, allowance):
    largest = 0
    for table in tables:
        leaves = table.prediction[~table.inner]
        if not (leaves == np.round(leaves)).all() or (leaves < 1).any():
            raise ModelFileError(
                f"Cannot read {table.name!r}: the leaves of a classification tree must "
                "hold class numbers 1, 2, ..."
            )
        largest = max(largest, int(leaves.max()))
    if classes is None:
        allowance.take_labels(largest, "classes")
        return tuple(range(1, largest + 1))
    if len(classes) < largest:
        raise ValueError(
            f"classes must name all levels of the target; got {len(classes)}, but the "
            f"leaves have class number {largest}."
        )
    return tuple(classes)


def _make_tree(table, names, levels, classes):
    leaf = ~table.inner
    feature = np.where(leaf, -1, table.variable - 1)
    is_set = np.array([*(known is not None for known in levels), False])[feature]
    point = np.array([float(word) for word in table.point])
    if classes is None:
        value = table.prediction
    else:
        value = np.zeros((len(leaf), len(classes)))
        value[leaf, table.prediction[leaf].astype(int) - 1] = 1.0
    width = 1 + max((len(known) for known in levels if known is not None), default=-1)
    sets = np.zeros((len(leaf), width), dtype=bool)
    for i in np.flatnonzero(is_set):
        n_levels, name = len(levels[feature[i]]), names[feature[i]]
        mask = _mask(table.point[i], n_levels, f"on {name!r} in node {i + 1}")
        sets[i, :n_levels] = [mask >> j & 1 for j in range(n_levels)]
    threshold = np.where(is_set, 0.0, point)
    sides = table.left - 1, table.right - 1, np.zeros(len(leaf), dtype=bool)
    return Tree(feature, threshold, *sides, value, categories=sets)


def _mask(word, n_levels, split):
    """The split point of a factor as a whole number; bit j set: level j goes left."""
    mask = float(word)
    if "e" in word.lower() and mask >= EXACT_MASK:
        raise ValueError(
            f"R rounded the split {split} to {word}. Print it again after "
            "options(digits = 17)."
        )
    if mask != round(mask) or not 0 <= mask < 2**n_levels:
        raise ValueError(
            f"it splits {split} at {word}, which is not a set of its {n_levels} "
            "levels. Check categories and the order of feature_names."
        )
    return int(mask)
