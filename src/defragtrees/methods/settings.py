"""What settings of methods may be, with one sentence for each mistake."""

import math

import numpy as np

from defragtrees.mixture.engines import ENGINES
from defragtrees.mixture.starts import STARTS

__all__ = [
    "check_choice",
    "check_flag",
    "check_number",
    "check_settings",
    "check_whole",
    "feature_numbers",
    "is_number",
    "is_whole",
]


def check_whole(estimator, name, least=1, most=None, or_none=False):
    """Refuse a setting that is no whole number in these limits."""
    _check_limits(estimator, name, "a whole number", is_whole, least, most, or_none)


def check_number(estimator, name, least=0, most=None, or_none=False):
    """Refuse a setting that is no number in these limits."""
    _check_limits(estimator, name, "a number", is_number, least, most, or_none)


def _check_limits(estimator, name, kind, is_kind, least, most, or_none):
    value = getattr(estimator, name)
    if value is None and or_none:
        return
    if not (is_kind(value) and least <= value and (most is None or value <= most)):
        until = "" if most is None else f" to {most}"
        kind = f"None or {kind}" if or_none else kind
        raise ValueError(f"{name} must be {kind} from {least}{until}; got {value!r}.")


def check_flag(estimator, name):
    """Refuse a setting that is neither True nor False."""
    value = getattr(estimator, name)
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False; got {value!r}.")


def check_choice(estimator, name, allowed):
    """Refuse a setting that is none of these."""
    value = getattr(estimator, name)
    if not isinstance(value, str) or value not in allowed:
        choices = " or ".join(repr(one) for one in allowed)
        raise ValueError(f"{name} must be {choices}; got {value!r}.")


def check_settings(estimator):
    """Raise if a setting of Defrag's cannot be."""
    for name in ("max_rules", "n_restarts", "max_iter"):
        check_whole(estimator, name)
    for name, allowed in (
        ("inference", ("fab", "em")),
        ("init", STARTS),
        ("engine", ("auto", *ENGINES)),
    ):
        check_choice(estimator, name, allowed)
    weight = estimator.statement_weight
    if weight != "paper" and not (is_number(weight) and weight > 0):
        raise ValueError(
            f"statement_weight must be 'paper' or a number above 0; got {weight!r}."
        )
    check_whole(estimator, "max_conditions", or_none=True)
    check_flag(estimator, "refine")
    if not (isinstance(estimator.screening, str) and estimator.screening == "auto"):
        check_flag(estimator, "screening")
    if not estimator.refine and estimator.max_conditions is not None:
        raise ValueError("max_conditions needs refine=True; got refine=False.")
    _check_augment(estimator)
    check_number(estimator, "tol")


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
