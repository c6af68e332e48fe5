"""A forest that walks by compiled code where numba is installed, for many rows."""

from dataclasses import dataclass, fields
from importlib import import_module
from importlib.util import find_spec

import numpy as np

from defragtrees.forest import Forest

__all__ = ["for_many_rows", "is_compiled"]


@dataclass(frozen=True, eq=False)
class CompiledForest(Forest):
    """The same answers to the last bit, without a step of Python for each level."""

    def predict_raw_encoded(self, matrix):
        if self.combine == "median" or not self.trees:
            return super().predict_raw_encoded(matrix)
        kernels = import_module("defragtrees.methods._numba_walk")
        total = np.tile(self.sum_start(), (len(matrix), 1))
        stacked = self.stacked
        kernels.walk(
            np.ascontiguousarray(matrix),
            stacked.is_set is None and not np.isnan(matrix).any(),
            *kernels.arrays_of(stacked),
            self.weights,
            total,
        )
        return self.finish_sums(total)


def is_compiled(engine):
    """Whether rows of a fit with this engine are visited by compiled loops."""
    return engine != "numpy" and find_spec("numba") is not None


def for_many_rows(forest, engine):
    """The forest, compiled unless the engine is numpy or numba is not there."""
    if not forest.answers_by_trees or not is_compiled(engine):
        return forest
    own = {field.name: getattr(forest, field.name) for field in fields(forest)}
    return CompiledForest(**own)
