"""MODEL and DATA of the command line become a Forest, X, y and weights."""

import contextlib
import dataclasses
import importlib.util
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from defragtrees._utils.optional import require
from defragtrees.cli._asking import ask_file
from defragtrees.cli._columns import find_column, match_columns
from defragtrees.cli._labels import class_positions, encoded
from defragtrees.cli._rules import is_rules_file
from defragtrees.cli._tables import open_table
from defragtrees.data.tables import take_rows
from defragtrees.ensembles.forest import Forest
from defragtrees.ensembles.readers import read_forest
from defragtrees.errors import ModelFileError, UnsupportedEnsembleError

__all__ = ["Loaded", "load"]


@dataclass(frozen=True, eq=False)
class Loaded:
    """A model under the names of the file, and rows as it takes them."""

    forest: Forest
    X: Any
    y: np.ndarray | None = None
    sample_weight: np.ndarray | None = None
    groups: np.ndarray | None = None  # for a report that sets them side by side

    def __len__(self):
        return len(self.X)

    @property
    def rows(self):
        """X, y and weights, as `fit` takes them."""
        return self.X, self.y, self.sample_weight

    def split(self, test_size, seed):
        """Rows to learn from and rows to test on; None if none are held out."""
        if not test_size:
            return self, None
        if len(self) == 1:
            raise ValueError(
                "The data has 1 row only, and none can be held out. Add --test-size 0 "
                "to use it for the rules."
            )
        parts = train_test_split(
            np.arange(len(self)), test_size=test_size, random_state=seed
        )
        return tuple(
            Loaded(
                self.forest,
                *(take_rows(values, part) for values in (*self.rows, self.groups)),
            )
            for part in parts
        )


def load(inputs, progress):
    """Read the model, and of the data the columns that it needs."""
    table = open_table(inputs.data)
    reserved = [name for name in (inputs.target, inputs.weights) if name is not None]
    for name, option in ((inputs.target, "--target"), (inputs.weights, "--weights")):
        if name is not None:
            find_column(name, table.names, option)
    try:
        forest = _read_model(inputs)
    except UnsupportedEnsembleError as error:
        return Loaded(*ask_file(inputs, table, error))
    forest = match_columns(forest, table.names, reserved, inputs.columns)
    forest = _with_classes(forest, inputs.classes)
    collected = _Collected(forest, inputs.target, inputs.weights)
    with progress("reading", 1.0) as bar:
        for batch in table.batches(*collected.wanted):
            collected.add(batch)
            bar.advance(max(0.0, batch.share - bar.done))
    return collected.loaded(inputs.data.name)


def _read_model(inputs):
    if is_rules_file(inputs.model):
        raise ModelFileError(
            f"{inputs.model.name!r} is a file of rules. Give the model that the rules "
            "were made from."
        )
    # R's texts have only the numbers of their features.
    options = {"feature_names": inputs.columns} if inputs.model.is_dir() else {}
    return read_forest(
        inputs.model,
        trust_pickle=inputs.trust_pickle,
        trusted_types=inputs.trusted_types,
        **options,
    )


def _with_classes(forest, labels):
    if labels is None:
        return forest
    if forest.task != "classification":
        raise ValueError("--classes is for models that answer with a class.")
    if len(labels) != len(forest.classes) or len(set(labels)) < len(labels):
        raise ValueError(
            f"--classes must name {len(forest.classes)} different classes; it names "
            f"{len(set(labels))}."
        )
    with contextlib.suppress(ValueError):
        labels = tuple(int(label) for label in labels)
    return dataclasses.replace(forest, classes=labels)


class _Collected:
    """Batches as they come, and what they are together."""

    def __init__(self, forest, target, weights):
        self.forest = forest
        self.target = target
        self.weights = weights
        self.parts = {"X": [], "y": [], "sample_weight": []}

    @property
    def wanted(self):
        """Columns to read as numbers, and those to read as labels with their list."""
        columns = dict(
            zip(self.forest.feature_names, self.forest.categories, strict=True)
        )
        if self.target is not None:
            columns[self.target] = self.forest.classes
        if self.weights is not None:
            columns[self.weights] = None
        numbers = [name for name, labels in columns.items() if labels is None]
        return numbers, {name: columns[name] for name in columns if name not in numbers}

    def add(self, batch):
        forest = self.forest
        self.parts["X"].append(
            encoded(batch, dict(enumerate(forest.feature_names)), forest.categories)
        )
        if self.target is not None:
            y = batch.columns[self.target]
            if forest.classes is not None:
                y = class_positions(y, forest.classes, self.target)
            self.parts["y"].append(y)
        if self.weights is not None:
            self.parts["sample_weight"].append(self._checked_weights(batch))

    def _checked_weights(self, batch):
        weights = batch.columns[self.weights]
        wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
        if len(wrong):
            before = sum(len(part) for part in self.parts["sample_weight"])
            raise ValueError(
                f"--weights names column {self.weights!r}, which must hold numbers "
                f"from 0; row {before + wrong[0] + 1} has {weights[wrong[0]]:g}."
            )
        return weights

    def loaded(self, name):
        X = _stacked(self.parts["X"])
        if X is None or not len(X):
            raise ValueError(f"{name!r} has no rows; at least one is needed.")
        y = _stacked(self.parts["y"])
        if y is not None and self.forest.classes is not None:
            y = np.asarray(self.forest.classes)[y]
        weight = _stacked(self.parts["sample_weight"])
        return Loaded(self.forest, _as_table(X, self.forest), y, weight)


def _stacked(parts):
    """All parts in one array; each is let go when it is copied, to save memory."""
    if not parts:
        return None
    n_rows = sum(len(part) for part in parts)
    stacked = np.empty((n_rows, *parts[0].shape[1:]), dtype=parts[0].dtype)
    end = n_rows
    while parts:
        part = parts.pop()
        stacked[end - len(part) : end] = part
        end -= len(part)
    return stacked


def _as_table(matrix, forest):
    """The matrix, or what a method takes for one where there are categories."""
    if all(labels is None for labels in forest.categories):
        return matrix
    columns = {}
    has_pandas = importlib.util.find_spec("pandas") is not None
    for j, (name, categories) in enumerate(
        zip(forest.feature_names, forest.categories, strict=True)
    ):
        column = matrix[:, j]
        if categories is not None:
            # Something that equals no category stands for all that are not known.
            labels = [
                object() if v is None or v != v else v for v in (*categories, None)
            ]
            codes = np.where(np.isnan(column), -1, column).astype(np.int32)
            column = _categorical(codes, labels, has_pandas)
        columns[name] = column
    if has_pandas:
        return require("pandas", "A table with categories").DataFrame(columns)
    return np.column_stack([np.asarray(c, dtype=object) for c in columns.values()])


def _categorical(codes, labels, has_pandas):
    if has_pandas:
        pandas = require("pandas", "A table with categories")
        return pandas.Categorical.from_codes(codes, categories=labels)
    return np.array([*labels, None], dtype=object)[codes]
