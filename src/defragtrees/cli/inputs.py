"""MODEL and DATA, or RULES and DATA, as the commands need them.

Rows of a file become a float64 matrix with categories as positions and dates as days.
A file and a model may hold the same label in two types: a CSV file has text only, and
Parquet may have 1 where the model has "1". So a value that is not in the list of known
labels as it is counts as the known one that reads the same.
"""

import contextlib
import dataclasses
import importlib.util
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.files import first_bytes
from defragtrees._utils.formatting import listed, nearest
from defragtrees._utils.optional import require
from defragtrees._utils.warnings import warn
from defragtrees.cli.data import ANY, Batch, as_arrow
from defragtrees.errors import ModelFileError, UnsupportedEnsembleError
from defragtrees.rules.labels import BOOLEAN, KINDS
from defragtrees.rules.model import RuleModel
from defragtrees.rules.schema import FORMAT
from defragtrees.tables import (
    ZONED,
    as_positions,
    find_positions,
    lightgbm_names,
    take_rows,
)

# What reads models needs scikit-learn, whose import takes longer than most commands on
# saved rules, so functions import it.
if TYPE_CHECKING:
    from defragtrees.ensembles.forest import Forest

COMPARED_ROWS = 10_000  # to see whether classes are swapped
MUCH_BETTER = 0.2  # share of rows, and mean share per class
# What pandas writes for an index that nobody named.
INDEX_NAME = re.compile(r"|Unnamed: \d+|__index_level_\d+__")


# MODEL and DATA


@dataclass(frozen=True, eq=False)
class Loaded:
    """A model under the names of the file, and rows as it takes them."""

    forest: "Forest"
    X: Any
    y: np.ndarray | None = None
    sample_weight: np.ndarray | None = None
    groups: np.ndarray | None = None  # for a report that sets them side by side
    validation: "Loaded | None" = None  # rows that the model was not trained on

    def __len__(self):
        return len(self.X)

    @property
    def rows(self):
        """X, y and weights, as `fit` takes them."""
        return self.X, self.y, self.sample_weight

    def split(self, test_size, seed):
        """Rows to learn from and rows to test on; None if none are held out.

        Rows of `validation`, if there are any, serve to test.
        """
        if self.validation is not None:
            counting, test = self.validation.split(test_size, seed)
            learning = dataclasses.replace(self, validation=counting)
            return learning, counting if test is None else test
        if not test_size:
            return self, None
        if len(self) == 1:
            raise ValueError(
                "The data has 1 row only, and none can be held out. Add --test-size 0 "
                "to use it for the rules."
            )
        from sklearn.model_selection import train_test_split

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


def load(inputs, progress, validation=None):
    """Read the model, and of the data the columns that it needs.

    `validation` is another file with the same columns.
    """
    if validation is not None and inputs.target is None:
        raise click.UsageError("--validation needs --target.")
    loaded = _load_data(inputs, progress)
    if validation is None:
        return loaded
    more = dataclasses.replace(inputs.data, path=validation)
    more = _more_rows(loaded, inputs, more, progress)
    return dataclasses.replace(loaded, validation=more)


def _load_data(inputs, progress):
    table = inputs.data.open()
    for name, option in ((inputs.target, "--target"), (inputs.weights, "--weights")):
        if name is not None:
            find_column(name, table, option)
    try:
        with progress("reading the model", 1.0):
            forest = _read_model(inputs)
    except UnsupportedEnsembleError as error:
        return _ask_model(inputs, table, error)
    reserved = [name for name in (inputs.target, inputs.weights) if name is not None]
    forest = _match_columns(forest, table, reserved, inputs.columns)
    forest = _with_classes(forest, inputs.classes)
    read = _reading_of(forest, table)
    X, y, weight = read.all_rows(
        inputs.data.name, progress, inputs.target, inputs.weights, forest.classes
    )
    if inputs.classes and y is not None:
        some = np.linspace(0, len(X) - 1, min(len(X), COMPARED_ROWS)).astype(np.intp)
        predicted = forest.predict(_as_table(X[some], forest))
        warn_if_swapped(forest.classes, predicted, y[some], f"column {inputs.target!r}")
    known = forest.feature_kinds or (None,) * forest.n_features
    kinds = [
        read.kinds.get(name) or kind
        for name, kind in zip(forest.feature_names, known, strict=True)
    ]
    for j, kind in enumerate(kinds):
        days = X[:, j]
        if kind == "datetime" and (np.isnan(days) | (days == np.floor(days))).all():
            kinds[j] = "date"
    for j, name in read.columns.items():
        if forest.categories[j] is None and str(table.arrow_type(name)) == "bool":
            kinds[j] = BOOLEAN
    if any(kinds):
        forest = dataclasses.replace(forest, feature_kinds=tuple(kinds))
    return Loaded(forest, _as_table(X, forest), y, weight)


def _more_rows(loaded, inputs, data, progress):
    """The rows of another file with the columns of DATA."""
    from defragtrees.ensembles.black_box import AskedForest

    table, forest = data.open(), loaded.forest
    for name in (*forest.feature_names, inputs.target, inputs.weights):
        if name is not None:
            find_column(name, table, "DATA", data.name)
    if isinstance(forest, AskedForest):
        names = forest.feature_names
        return Loaded(forest, *_asked_rows(inputs, data, names, forest.model))
    rows = _reading_of(forest, table).all_rows(
        data.name, progress, inputs.target, inputs.weights, forest.classes
    )
    return Loaded(forest, _as_table(rows[0], forest), *rows[1:])


def _reading_of(forest, table):
    """The columns of a table that a model needs."""
    names = dict(enumerate(forest.feature_names))
    # A model has numbers where the table may have dates.
    return _Reading(table, names, forest.categories, [ANY] * forest.n_features)


def _read_model(inputs):
    from defragtrees.ensembles.readers import read_forest

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


def load_to_predict(inputs, rules, progress):
    """A model, as a forest or as it is, and the rows that it predicts.

    A model without names for its features has those of the rules, which were made from
    it.
    """
    from defragtrees.ensembles.opening import is_renamed

    table = inputs.data.open()
    with_names = dataclasses.replace(inputs, columns=rules.feature_names)
    try:
        with progress("reading the model", 1.0):
            forest = _read_model(with_names)
    except UnsupportedEnsembleError as error:
        model = _load_black_box(inputs, error)
        names = _model_names(model) or rules.feature_names
        for name in names:
            find_column(str(name), table, "The model")
        return model, _asked_rows(inputs, inputs.data, names, model)[0]
    n_names = len(rules.feature_names)
    is_unnamed = is_renamed(forest, ()) and forest.n_features == n_names
    columns = rules.feature_names if is_unnamed else None
    forest = _match_columns(forest, table, (), columns)
    rows = _reading_of(forest, table).all_rows(inputs.data.name, progress)
    return forest, _as_table(rows[0], forest)


def _load_black_box(inputs, why):
    """A model that cannot be read as trees.

    If it does not predict, `why` it cannot be read is raised again.
    """
    from defragtrees.ensembles.readers import load_object

    model = load_object(inputs.model, inputs.trust_pickle, inputs.trusted_types)
    if not hasattr(model, "predict"):
        raise why
    return model


def _ask_model(inputs, table, why):
    """A model that cannot be read as trees: it is queried, on the table as it is."""
    from defragtrees.estimators.inputs import open_model

    model = _load_black_box(inputs, why)
    names = inputs.columns or _model_names(model)
    if names is None:
        reserved = (inputs.target, inputs.weights)
        names = [name for name in table.names if name not in reserved]
        # CatBoost says 0 of a model that it has loaded.
        needed = getattr(model, "n_features_in_", 0) or len(names)
        if needed != len(names):
            raise _without_names(needed, names)
    for name in names:
        find_column(str(name), table, "The model")
    X, y, weight = _asked_rows(inputs, inputs.data, names, model)
    return Loaded(open_model(model, X, y, random_state=0), X, y, weight)


def _model_names(model):
    """The names of the model's columns; None if it has none."""
    names = getattr(model, "feature_names_in_", None)
    # CatBoost calls columns without names 0, 1 and so on.
    made_up = [str(j) for j in range(len(getattr(model, "feature_names_", ())))]
    if names is None and made_up and model.feature_names_ != made_up:
        names = model.feature_names_
    return names


def _asked_rows(inputs, data, names, model):
    """X, y and weights of a file, as a model is queried for them."""
    frame = data.frame()
    y, weight = (
        None if name is None else frame[name].to_numpy()
        for name in (inputs.target, inputs.weights)
    )
    if y is not None and y.dtype.kind == "O" and any(v != v for v in y):
        raise ValueError(
            f"Column {inputs.target!r} must have a value in every row; some are empty. "
            "Drop such rows first."
        )
    X = frame[[str(name) for name in names]]
    for j in getattr(model, "get_cat_feature_indices", list)():
        if X.iloc[:, j].isna().any():
            raise ValueError(
                f"Column {names[j]!r} must have a category in every row, as CatBoost "
                "needs; some are empty. Fill them as for the training of the model."
            )
    return X, y, weight


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
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics import confusion_matrix

    counts = confusion_matrix(observed, predicted, labels=list(classes))
    # By class, as a rare one is predicted wrong by a model that is right overall.
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    rows, columns = linear_sum_assignment(-shares)
    n_present = np.count_nonzero(counts.sum(axis=1))
    gain = (shares[rows, columns].sum() - np.trace(shares)) / max(1, n_present)
    now, then = (
        n / len(observed) for n in (np.trace(counts), counts[rows, columns].sum())
    )
    if min(gain, then - now) <= MUCH_BETTER:
        return
    better = [str(classes[i]) for i in rows[np.argsort(columns)]]
    warn(
        f"The classes {', '.join(map(str, classes))} agree with {what} in "
        f"{render.percent(now)} of the rows, but --classes "
        f"{shlex.quote(','.join(better))} would in {render.percent(then)}. Give them "
        "in the order of the model."
    )


def _as_table(matrix, forest):
    """The matrix, or what a method takes for one where there are categories."""
    if all(labels is None for labels in forest.categories):
        return matrix
    has_pandas = importlib.util.find_spec("pandas") is not None
    pandas = require("pandas", "A table with categories") if has_pandas else None
    columns = {}
    for j, name in enumerate(forest.feature_names):
        column = columns[name] = matrix[:, j]
        if forest.categories[j] is not None:
            # Something that equals no category stands for all that are not known.
            labels = [
                object() if v is None or v != v else v
                for v in (*forest.categories[j], None)
            ]
            codes = np.where(np.isnan(column), -1, column).astype(np.int32)
            columns[name] = (
                np.array([*labels, None], dtype=object)[codes]
                if pandas is None
                else pandas.Categorical.from_codes(codes, categories=labels)
            )
    if pandas is None:
        return np.column_stack([np.asarray(c, dtype=object) for c in columns.values()])
    return pandas.DataFrame(columns)


# Columns


def find_column(name, table, what, file="the data"):
    """The name, if the table has just one such column; `what` names it in an error."""
    names = table.names
    if names.count(name) == 1:
        return name
    if name in names:
        raise ValueError(
            f"{what} names {name!r}, but {file} has {names.count(name)} columns of "
            "this name. Rename them first."
        )
    raise ValueError(
        f"{what} names {name!r}, but {file} has no such column; "
        f"{nearest(name, names)}{table.doubt}"
    )


def _match_columns(forest, table, reserved, chosen=None):
    """The forest under the names of a table, in whose columns it finds its features.

    Columns that are `reserved` for target and weights are no features. Those `chosen`
    by the user are in the order of the model.
    """
    if chosen is not None and len(chosen) != forest.n_features:
        raise ValueError(
            f"--columns must name the {forest.n_features} features of the model; it "
            f"names {len(chosen)}."
        )
    columns = chosen or forest.feature_names
    if chosen is None and not set(columns) <= set(table.names):
        columns = _under_other_names(forest, table, reserved)
    for name in columns:
        find_column(name, table, "The model" if chosen is None else "--columns")
    both = sorted(set(columns) & set(reserved))
    if both:
        raise ValueError(
            f"Column {both[0]!r} is a feature of the model, so it can be neither its "
            "target nor its weights."
        )
    return dataclasses.replace(forest, feature_names=tuple(columns))


def _under_other_names(forest, table, reserved):
    """The columns whose names the library changed, or never saw."""
    from defragtrees.ensembles.opening import is_renamed

    wanted, names = forest.feature_names, table.names
    # LightGBM writes an underscore for each space.
    spaced = dict(zip(lightgbm_names(names), names, strict=True))
    if set(wanted) <= set(spaced):
        return [spaced[name] for name in wanted]
    missing = [name for name in wanted if name not in spaced and name not in names]
    if not is_renamed(forest, ()):
        if len(missing) == 1:
            raise ValueError(
                f"The model needs column {missing[0]!r}, which the data does not "
                f"have; {nearest(missing[0], names)}{table.doubt}"
            )
        raise ValueError(
            f"The model needs {len(missing)} columns that the data does not have: "
            f"{listed(missing)}. It has {listed(names)}.{table.doubt}"
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


# Rows


class _Reading:
    """Which columns of a table are features, and what they are read as.

    `columns` has the name of each feature that is read, by its number; `kinds` become
    those of columns that have dates or times, by name.
    """

    def __init__(self, table, columns, categories, kinds):
        self.table, self.columns, self.categories = table, columns, categories
        self.numbers, self.labels, self.kinds = {}, {}, {}
        for j, name in columns.items():
            if categories[j] is None:
                self.numbers[name] = kinds[j]
            else:
                self.labels[name] = categories[j]

    def batches(self, progress, what):
        """Batches of rows, each with the matrix of its features."""
        if not self.numbers and not self.labels:
            # Rules without conditions still need to know how many rows there are.
            names = self.table.names
            once = (name for name in names if names.count(name) == 1)
            self.labels[next(once, names[0])] = None
        with progress(what, 1.0) as bar:
            for batch in self.table.batches(self.numbers, self.labels):
                matrix = np.full((batch.n_rows, len(self.categories)), np.nan)
                for j, name in self.columns.items():
                    column, known = batch.columns[name], self.categories[j]
                    if known is None:
                        matrix[:, j] = column.numbers
                    else:
                        matrix[:, j] = _positions(column, known)
                self.kinds.update(batch.kinds)
                yield batch, matrix
                bar.advance(max(0.0, batch.share - bar.done))

    def all_rows(self, file, progress, target=None, weights=None, classes=None):
        """The matrix of all rows, y and weights; None for those not requested."""
        if target is not None:
            (self.numbers if classes is None else self.labels)[target] = classes
        if weights is not None:
            self.numbers[weights] = None
        parts = [], [], []
        n_rows = 0
        for batch, matrix in self.batches(progress, "reading"):
            parts[0].append(matrix)
            if target is not None:
                y = batch.columns[target]
                is_class = classes is not None
                parts[1].append(_class_positions(y, classes) if is_class else y.numbers)
            if weights is not None:
                parts[2].append(_checked_weights(batch.columns[weights], n_rows))
            n_rows += batch.n_rows
        if not n_rows:
            raise ValueError(f"{file!r} has no rows; at least one is needed.")
        X, y, weight = map(_stacked, parts)
        if y is not None and classes is not None:
            y = np.asarray(classes)[y]
        return X, y, weight


def _checked_weights(column, n_before):
    weights = column.numbers
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        raise ValueError(
            f"--weights names column {column.name!r}, which must hold numbers from 0; "
            f"row {n_before + wrong[0] + 1} has {weights[wrong[0]]:g}."
        )
    return weights


def _stacked(parts):
    """All parts in one array; each is let go when it is copied, to save memory."""
    if not parts:
        return None
    end = sum(len(part) for part in parts)
    stacked = np.empty((end, *parts[0].shape[1:]), dtype=parts[0].dtype)
    while parts:
        part = parts.pop()
        stacked[end - len(part) : end] = part
        end -= len(part)
    return stacked


def _positions(column, known):
    """Positions as float64: NaN where missing, after the last where not known."""
    places = find_positions(column.values, known)
    # Something that equals no category stands for all that are not known.
    labels = [object() if j is None else known[j] for j in places]
    return as_positions(dataclasses.replace(column, values=labels), known)


def _class_positions(column, expected):
    """Positions of class labels as integers; each must be a class of the model."""
    name, n_missing = column.name, int((column.codes < 0).sum())
    if n_missing:
        raise ValueError(
            f"Column {name!r} must hold a class in every row; it is empty in "
            f"{n_missing} of these {len(column.codes)} rows. Drop such rows first."
        )
    places = find_positions(column.values, expected)
    unknown = [v for v, j in zip(column.values, places, strict=True) if j is None]
    if unknown:
        raise ValueError(
            f"Column {name!r} holds {listed(unknown)}, but the known classes "
            f"are {listed(expected)}.{_advice(column.values, expected)}"
        )
    return np.array(places, dtype=np.intp)[column.codes]


def _advice(values, expected):
    """What to type if the model only numbers its classes."""
    n_classes = len(expected)
    if tuple(expected) not in (tuple(range(n_classes)), tuple(range(1, n_classes + 1))):
        return ""
    advice = " Say which is which with --classes, in the order of the model"
    if len(values) == n_classes:
        # The order of scikit-learn's LabelEncoder and of LGBMClassifier.
        labels = ",".join(sorted(str(value) for value in values))
        advice += f", such as --classes {shlex.quote(labels)} if that is its order"
    return f"{advice}."


# RULES and DATA


def is_rules_file(path):
    """Whether `simplify --out` saved this file, whole or not."""
    if path.is_dir() or not first_bytes(path).lstrip().startswith(b"{"):
        return False
    return f'"{FORMAT}"'.encode() in path.read_bytes()


def read_rules(path):
    """The RuleModel that `simplify --out` saved."""
    if is_rules_file(path):
        return RuleModel.load(path)
    from defragtrees.ensembles.readers import file_kind

    kind = file_kind(path)
    advice = " Make rules from it first: defragtrees simplify."
    raise ModelFileError(
        f"{path.name!r} is {kind or 'no model that is known here'}; a file of rules is "
        f"needed.{'' if kind is None else advice}"
    )


def _reading_for(rules, table):
    """The columns of a table that the conditions of rules are on."""
    used = [rules.feature_names.index(name) for name in rules.features]
    names = {j: find_column(rules.feature_names[j], table, "A rule") for j in used}
    kinds = [s.kind if s.kind in KINDS else None for s in rules.vocabulary.scales]
    return _Reading(table, names, rules.categories, kinds)


def read_rule_rows(rules, data, progress, target=None, weights=None):
    """All rows of a file: the matrix of rules, y, weights, and the names of columns."""
    table = data.open()
    reading = _reading_for(rules, table)
    for name, option in ((target, "--target"), (weights, "--weights")):
        if name is None:
            continue
        find_column(name, table, option)
        if name in reading.columns.values():
            raise ValueError(
                f"{option} names {name!r}, which a rule asks about, so it cannot be "
                "what is true of a row, or its weight. Name another column."
            )
    classes = rules.classes or None
    rows = reading.all_rows(data.name, progress, target, weights, classes)
    return *rows, tuple(table.names)


def load_rule_rows(rules, data, progress, target, weights):
    """All rows of a file as `Loaded`, for methods of rules that take a table."""
    X, y, weight, _ = read_rule_rows(rules, data, progress, target, weights)
    return Loaded(rules, _as_table(X, rules), y, weight)


@dataclass(frozen=True, eq=False)
class RuleBatch:
    """Some rows of a file, as rules see them.

    `columns` names the column of each feature that the rules ask about; `first` is the
    number of the first row in the file, from 1.
    """

    rules: RuleModel
    batch: Batch
    columns: dict[int, str]
    matrix: np.ndarray
    first: int

    def __len__(self):
        return len(self.matrix)

    def value(self, feature, row) -> Any:
        """What the file says of a feature; None where it is missing."""
        return self.column_value(self.columns[feature], row)

    def column_value(self, name, row):
        """What the file says in a column that was read; None where it is missing."""
        column = self.batch.columns[name]
        if column.numbers is None:
            code = column.codes[row]
            return None if code < 0 else column.values[code]
        number = float(column.numbers[row])
        if np.isnan(number):
            return None
        if name in self.batch.kinds:
            return KINDS[self.batch.kinds[name]](number)
        return number

    def arrow_column(self, name, type_):
        """A column that was read, in the type that `RuleRows.arrow_type` gives."""
        return as_arrow(self.batch.columns[name], type_)


class RuleRows:
    """The rows of a file as rules see them, in batches.

    Only columns that a rule asks about are read, and `ids`, as labels. What is wrong
    with the columns is raised before the first row.
    """

    def __init__(self, rules, data, progress, ids=()):
        self.rules, self.progress = rules, progress
        self.table = data.open()
        self.reading = _reading_for(rules, self.table)
        for name in ids:
            if name not in self.reading.columns.values():
                self.reading.labels[find_column(name, self.table, "--id")] = None

    def __iter__(self):
        first = 1
        for batch, matrix in self.reading.batches(self.progress, "predicting"):
            yield RuleBatch(self.rules, batch, self.reading.columns, matrix, first)
            first += batch.n_rows

    def arrow_type(self, name):
        """The type of a column that is read, where it is written to Parquet.

        It is that of the file; of CSV that of what is read.
        """
        arrow = require("pyarrow", "Parquet")
        found = self.table.arrow_type(name)
        if found is not None:
            return found
        if name not in self.reading.numbers:
            return arrow.string()
        types = {
            "date": arrow.date32(),
            "datetime": arrow.timestamp("us"),
            ZONED: arrow.timestamp("us", "UTC"),
            "time": arrow.time64("us"),
            "duration": arrow.duration("us"),
        }
        return types.get(self.reading.numbers[name], arrow.float64())
