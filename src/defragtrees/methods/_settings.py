"""What the settings of DefragClassifier and DefragRegressor may be."""

import math

import numpy as np

from defragtrees.mixture.engines import ENGINES
from defragtrees.mixture.starts import STARTS

__all__ = ["check_settings", "feature_numbers", "is_number", "is_whole"]


def check_settings(estimator):
    """Raise if a setting cannot be, in one sentence."""
    for name in ("max_rules", "n_restarts", "max_iter"):
        value = getattr(estimator, name)
        if not (is_whole(value) and value >= 1):
            raise ValueError(f"{name} must be a whole number from 1; got {value!r}.")
    for name, allowed in (
        ("inference", ("fab", "em")),
        ("init", tuple(STARTS)),
        ("engine", tuple(ENGINES)),
    ):
        if getattr(estimator, name) not in allowed:
            raise ValueError(
                f"{name} must be one of {allowed}; got {getattr(estimator, name)!r}."
            )
    weight = estimator.statement_weight
    if weight != "paper" and not (is_number(weight) and weight > 0):
        raise ValueError(
            f"statement_weight must be 'paper' or a number above 0; got {weight!r}."
        )
    most = estimator.max_conditions
    if most is not None and not (is_whole(most) and most >= 1):
        raise ValueError(
            f"max_conditions must be None or a whole number from 1; got {most!r}."
        )
    for name in ("refine", "shorten_thresholds"):
        if not isinstance(getattr(estimator, name), (bool, np.bool_)):
            raise ValueError(
                f"{name} must be True or False; got {getattr(estimator, name)!r}."
            )
    for name in ("features", "max_conditions"):
        if not estimator.refine and getattr(estimator, name) is not None:
            raise ValueError(f"{name} needs refine=True; got refine=False.")
    _check_augment(estimator)
    if not (is_number(estimator.tol) and estimator.tol >= 0):
        raise ValueError(f"tol must be a number from 0; got {estimator.tol!r}.")


def _check_augment(estimator):
    new = estimator.augment
    if new != "auto" and not (is_whole(new) and new >= 0):
        raise ValueError(
            f"augment must be 'auto' or a whole number from 0; got {new!r}."
        )
    if new != "auto" and new and estimator.target == "labels":
        raise ValueError(
            "augment needs target='ensemble': nobody knows y for new rows."
        )
    if new != "auto" and new and not estimator.refine:
        raise ValueError("augment needs refine=True; got refine=False.")


def feature_numbers(features, names):
    """Positions of the features that rules may use; None for all."""
    if features is None:
        return None
    if isinstance(features, str) or is_whole(features):
        features = [features]
    found = []
    for one in features:
        if is_whole(one) and 0 <= one < len(names):
            found.append(int(one))
        elif one in names:
            found.append(names.index(one))
        else:
            raise ValueError(f"features has {one!r}, which is not a feature of X.")
    if not found:
        raise ValueError("features must name at least one feature; it is empty.")
    return frozenset(found)


def is_number(value):
    """Whether a setting is a finite number."""
    return (
        isinstance(value, (int, float, np.integer, np.floating))
        and not isinstance(value, bool)
        and math.isfinite(value)
    )


def is_whole(value):
    """Whether a setting is a whole number."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
