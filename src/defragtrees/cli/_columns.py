"""Which columns of a file a model asks for."""

import dataclasses
import re

from defragtrees.data.tables import lightgbm_names, listed, nearest
from defragtrees.estimators.inputs import is_renamed

__all__ = ["find_column", "match_columns", "rule_columns"]

# What pandas writes for an index that nobody named.
INDEX_NAME = re.compile(r"|Unnamed: \d+|__index_level_\d+__")


def find_column(name, names, what):
    """The name, if the file has just one such column; `what` names it in an error.

    Examples
    --------
    >>> find_column("hight", ["age", "height"], "--target")
    Traceback (most recent call last):
    ...
    ValueError: --target names 'hight', but the data has no such column; did you mean \
'height'?
    """
    if names.count(name) == 1:
        return name
    if name in names:
        raise ValueError(
            f"{what} names {name!r}, but the data has {names.count(name)} columns of "
            "this name. Rename them first."
        )
    guess = nearest(name, names)
    raise ValueError(f"{what} names {name!r}, but the data has no such column; {guess}")


def match_columns(forest, names, reserved, chosen=None):
    """The forest under the names of the file, in whose columns it finds its features.

    Columns that are `reserved` for target and weights are no features. Those `chosen`
    by the user are in the order of the model.
    """
    names = list(names)
    if chosen is not None and len(chosen) != forest.n_features:
        raise ValueError(
            f"--columns must name the {forest.n_features} features of the model; it "
            f"names {len(chosen)}."
        )
    columns = chosen or forest.feature_names
    if chosen is None and not set(columns) <= set(names):
        columns = _under_other_names(forest, names, reserved)
    for name in columns:
        find_column(name, names, "The model" if chosen is None else "--columns")
    both = sorted(set(columns) & set(reserved))
    if both:
        raise ValueError(
            f"Column {both[0]!r} is a feature of the model, so it can be neither its "
            "target nor its weights."
        )
    return dataclasses.replace(forest, feature_names=tuple(columns))


def _under_other_names(forest, names, reserved):
    """The columns whose names the library changed, or never saw."""
    wanted = forest.feature_names
    spaced = dict(zip(lightgbm_names(names), names, strict=True))
    if set(wanted) <= set(spaced):
        return [spaced[name] for name in wanted]
    missing = [name for name in wanted if name not in spaced and name not in names]
    if not is_renamed(forest, ()):
        if len(missing) == 1:
            raise ValueError(
                f"The model needs column {missing[0]!r}, which the data does not "
                f"have; {nearest(missing[0], names)}"
            )
        raise ValueError(
            f"The model needs {len(missing)} columns that the data does not have: "
            f"{listed(missing)}. It has {listed(names)}."
        )
    free = [
        name
        for name in names
        if name not in reserved and not INDEX_NAME.fullmatch(name)
    ]
    if len(free) != len(wanted):
        raise ValueError(
            f"The model has no names for its {len(wanted)} features, and the data has "
            f"{len(free)} columns that may be meant: {listed(free)}. Name those that "
            "the model was trained on, in order, with --columns."
        )
    return free


def rule_columns(rules, names):
    """For each feature that the rules ask about, its number and its column."""
    used = [rules.feature_names.index(name) for name in rules.features]
    return {j: find_column(rules.feature_names[j], list(names), "A rule") for j in used}
