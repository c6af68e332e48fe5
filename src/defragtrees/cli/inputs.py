"""MODEL and DATA, as the commands need them."""

import contextlib
import dataclasses
import re
import shlex

import click
import numpy as np
from sklearn.model_selection import train_test_split

from defragtrees._utils import formatting as render
from defragtrees._utils.formatting import listed, nearest
from defragtrees._utils.warnings import warn
from defragtrees.cli.data import find_column, is_rules_file, read_rows, roles
from defragtrees.cli.output import Bar
from defragtrees.ensembles.black_box import AskedForest
from defragtrees.ensembles.predictions import better_order, described_forest, is_renamed
from defragtrees.ensembles.readers import load_object, read_forest
from defragtrees.errors import ModelFileError, UnsupportedModelError
from defragtrees.estimators.inputs import open_model
from defragtrees.outcomes.base import outcome_for
from defragtrees.tables import lightgbm_names, take_rows

COMPARED_ROWS = 10_000  # to see whether classes are swapped
# What pandas writes for an index that nobody named.
INDEX_NAME = re.compile(r"|Unnamed: \d+|__index_level_\d+__")


def load(inputs, validation=None):
    """The model as a forest with the names of DATA, and the rows that it takes.

    Rows are X, y and weights. Those of another file, `validation`, with the same
    columns come third; None without it.
    """
    if validation is not None and inputs.target is None:
        raise click.UsageError("--validation needs --target.")
    source = inputs.data.open(inputs.target, inputs.weights)
    try:
        forest = _read_model(inputs)
    except UnsupportedModelError as error:
        model = _load_black_box(inputs, error)
        names = inputs.columns or _model_names(model)
        if names is None:
            names = source.names
            # CatBoost says 0 of a model that it has loaded.
            needed = getattr(model, "n_features_in_", 0) or len(names)
            if needed != len(names):
                raise _without_names(needed, names) from None
        rows = _read_queried(source, names, model)
        forest = open_model(model, *rows[:2], random_state=0)
        forest = dataclasses.replace(forest, estimator=model)
    else:
        reserved = [name for name, _ in roles(source.y, inputs.weights)]
        forest = _match_columns(forest, source, reserved, inputs.columns)
        forest = _with_classes(forest, inputs.classes)
        source.expect(forest)
        rows = X, y, _ = read_rows(source, forest.classes)
        if inputs.classes and y is not None:
            some = np.linspace(0, len(X) - 1, min(len(X), COMPARED_ROWS))
            some = some.astype(np.intp)
            predicted = forest.predict(take_rows(X, some))
            what = f"column {inputs.target!r}"
            warn_if_swapped(forest.classes, predicted, y[some], what)
        forest = described_forest(forest, X)
        forest = outcome_for(forest.outcome, source.y, forest).model_of(forest)
    if validation is None:
        return forest, rows, None
    data = dataclasses.replace(inputs.data, path=validation)
    others = [name for name, _ in roles(source.y, inputs.weights)]
    source = data.open()
    for name in (*forest.feature_names, *others):
        find_column(name, source, "DATA", data.name)
    source = data.open(inputs.target, inputs.weights)
    if isinstance(forest, AskedForest):
        unseen = _read_queried(source, forest.feature_names, forest.model)
    else:
        source.expect(forest)
        unseen = read_rows(source, forest.classes)
    return forest, rows, unseen


def hold_out(rows, validation, test_size, seed):
    """Rows to learn from, those of `validation` that count, and rows to test on.

    Rows are tuples of X, y and whatever else there is of each row. They are None where
    there are none; without any held out, all of `validation` serve to test.
    """
    if validation is not None:
        counted, _, test = hold_out(validation, None, test_size, seed)
        return rows, counted, counted if test is None else test
    if not test_size:
        return rows, None, None
    n_rows = len(rows[0])
    if n_rows == 1:
        raise ValueError(
            "The data has 1 row only, and none can be held out. Add --test-size 0 "
            "to use it for the rules."
        )
    parts = train_test_split(np.arange(n_rows), test_size=test_size, random_state=seed)
    train, test = (
        tuple(take_rows(column, places) for column in rows) for places in parts
    )
    return train, None, test


def _read_model(inputs):
    if is_rules_file(inputs.model):
        raise ModelFileError(
            f"{inputs.model.name!r} is a file of rules. Give the model that the rules "
            "were made from."
        )
    # R's texts have only the numbers of their features.
    options = {"feature_names": inputs.columns} if inputs.model.is_dir() else {}
    with Bar("reading the model"):
        return read_forest(
            inputs.model,
            trust_pickle=inputs.trust_pickle,
            trusted_types=inputs.trusted_types,
            **options,
        )


def open_beside(inputs, rules, source):
    """The model behind rules, and X for it; None if it needs that of the source only.

    The source reads the columns of a forest besides those of the rules. A model without
    names for its features has those of the rules, which were made from it.
    """
    with_names = dataclasses.replace(inputs, columns=rules.feature_names)
    try:
        forest = _read_model(with_names)
    except UnsupportedModelError as error:
        model = _load_black_box(inputs, error)
        names = _model_names(model) or rules.feature_names
        return model, _read_queried(inputs.data.open(), names, model)[0]
    n_names = len(rules.feature_names)
    is_unnamed = is_renamed(forest, ()) and forest.n_features == n_names
    columns = rules.feature_names if is_unnamed else None
    forest = _match_columns(forest, source, (), columns)
    names, expected = source.names, source.expected
    source.expected = {}
    source.expect(forest)
    source.names = list(dict.fromkeys([*names, *source.names]))
    source.expected |= expected
    return forest, None


def _load_black_box(inputs, why):
    """A model that cannot be read as trees.

    If it does not predict, `why` it cannot be read is raised again.
    """
    model = load_object(inputs.model, inputs.trust_pickle, inputs.trusted_types)
    if not hasattr(model, "predict"):
        raise why
    return model


def _model_names(model):
    """The names of the model's columns; None if it has none."""
    names = getattr(model, "feature_names_in_", None)
    # CatBoost calls columns without names 0, 1 and so on.
    made_up = [str(j) for j in range(len(getattr(model, "feature_names_", ())))]
    if names is None and made_up and model.feature_names_ != made_up:
        names = model.feature_names_
    return None if names is None else list(map(str, names))


def _read_queried(source, names, model):
    """X, y and weights of a file, X as a model is queried with it."""
    source.names = [find_column(name, source, "The model") for name in names]
    table = source.load()
    X, y = table.X, table.y
    if y is not None and y.dtype.kind == "O" and any(v != v for v in y):
        raise ValueError(
            f"Column {source.y!r} must have a value in every row; some are empty. "
            "Drop such rows first."
        )
    for j in getattr(model, "get_cat_feature_indices", list)():
        if X.iloc[:, j].isna().any():
            raise ValueError(
                f"Column {names[j]!r} must have a category in every row, as CatBoost "
                "needs; some are empty. Fill them as for the training of the model."
            )
    return X, y, table.sample_weight


def _with_classes(forest, labels):
    if labels is None:
        return forest
    if forest.task != "classification":
        raise ValueError("--classes is for models that predict a class.")
    if len(labels) != len(forest.classes) or len(set(labels)) < len(labels):
        raise ValueError(
            f"--classes must name {len(forest.classes)} different classes; it names "
            f"{len(set(labels))}."
        )
    with contextlib.suppress(ValueError):
        labels = tuple(int(label) for label in labels)
    return dataclasses.replace(forest, classes=labels)


def warn_if_swapped(classes, predicted, observed, what):
    """Warn if another order of the model's classes would agree much better."""
    better = better_order(classes, predicted, observed)
    if better is not None:
        order, now, then = better
        named = shlex.quote(",".join(str(order[label]) for label in classes))
        warn(
            f"The classes {', '.join(map(str, classes))} agree with {what} in "
            f"{render.percent(now)} of the rows, but --classes {named} would in "
            f"{render.percent(then)}. Give them in the order of the model."
        )


def _match_columns(forest, source, reserved, chosen=None):
    """The forest under the names of a file, in whose columns it finds its features.

    Columns that are `reserved` for target and weights are no features. Those `chosen`
    by the user are in the order of the model.
    """
    if chosen is not None and len(chosen) != forest.n_features:
        raise ValueError(
            f"--columns must name the {forest.n_features} features of the model; it "
            f"names {len(chosen)}."
        )
    columns = chosen or forest.feature_names
    if chosen is None and not set(columns) <= set(source.columns):
        columns = _under_other_names(forest, source, reserved)
    for name in columns:
        find_column(name, source, "The model" if chosen is None else "--columns")
    both = sorted(set(columns) & set(reserved))
    if both:
        raise ValueError(
            f"Column {both[0]!r} is a feature of the model, so it can be neither its "
            "target nor its weights."
        )
    return dataclasses.replace(forest, feature_names=tuple(columns))


def _under_other_names(forest, source, reserved):
    """The columns whose names the library changed, or never saw."""
    wanted, names = forest.feature_names, source.columns
    # LightGBM writes an underscore for each space.
    spaced = dict(zip(lightgbm_names(names), names, strict=True))
    if set(wanted) <= set(spaced):
        return [spaced[name] for name in wanted]
    missing = [name for name in wanted if name not in spaced and name not in names]
    if not is_renamed(forest, ()):
        if len(missing) == 1:
            raise ValueError(
                f"The model needs column {missing[0]!r}, which the data does not "
                f"have; {nearest(missing[0], names)}{source.doubt}"
            )
        raise ValueError(
            f"The model needs {len(missing)} columns that the data does not have: "
            f"{listed(missing)}. It has {listed(names)}.{source.doubt}"
        )
    free = [
        name
        for name in names
        if name not in reserved and not INDEX_NAME.fullmatch(name)
    ]
    if len(free) != len(wanted):
        raise _without_names(len(wanted), free)
    return free


def _without_names(n_needed, names):
    return ValueError(
        f"The model has no names for its {n_needed} features, and the data has "
        f"{len(names)} columns that may be meant: {listed(names)}. Name those that "
        "the model was trained on, in order, with --columns."
    )
