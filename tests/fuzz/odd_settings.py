"""Settings that nobody means: each value for each setting of each method."""

import dataclasses
import warnings

import numpy as np

from defragtrees.ensembles.readers import read_forest
from defragtrees.estimators import METHODS, estimator_for
from defragtrees.outcomes import make_outcome
from tests.fuzz.cases import SEEDS

__all__ = ["VALUES", "judge_setting", "setting_names"]

VALUES = (
    *(0, -1, 1, 2.5, 10**30, -(10**30), True, "", "x", "auto", "labels", "all"),
    *(float("nan"), float("inf"), 1e-300, b"x", (), [], [1], ["a", "b"], {}, {"a": 1}),
    *({0: "x"}, {"age": 1}, [["age"]], ["age"], "age", object(), len, int, range(3)),
    *(np.int64(2), np.float32(0.5), np.array(3), np.arange(3), np.zeros((2, 2))),
    *(np.array(["a"]), np.bool_(True), np.random.default_rng(0), None, 1j, "\ud800"),
)
X = np.column_stack(
    [np.linspace(18, 80, 40), np.tile([-1.0, 0.5, 1.5, 0.0], 10), np.full(40, "Kiel")]
).astype(object)
Y = {"classification": np.arange(40) % 2, "regression": np.arange(40.0)}
LEFT_OUT = ("model",)


def setting_names():
    """Each method, its task and one of its settings."""
    return [
        (method, task, field.name)
        for method in METHODS
        for task in ("classification", "regression")
        for field in dataclasses.fields(estimator_for(method, make_outcome(task)))
        if field.name not in LEFT_OUT
    ]


def judge_setting(method, task, name, value):
    """What becomes of a value; an AssertionError where nothing clean does."""
    kind = estimator_for(method, make_outcome(task))
    file = "lightgbm-binary.txt" if task == "classification" else "lightgbm-number.txt"
    table = X.copy()
    table[:, :2] = table[:, :2].astype(float)
    small = {"n_restarts": 2, "max_iter": 5}
    names = {field.name for field in dataclasses.fields(kind)}
    given = {k: v for k, v in small.items() if k in names and k != name}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            estimator = kind(read_forest(SEEDS / file), **given, **{name: value})
            estimator.fit(table, Y[task]).predict(table)
        except (TypeError, ValueError) as error:
            text = str(error)
            is_told = name in text or "is within all limits" in text
            is_short = "\n" not in text and len(text) < 700 and "array(" not in text
            if not (is_told and is_short):
                raise AssertionError(f"{type(error).__name__}: {text}") from error
            return "clean error", text
    return "accepted and sound", ""
