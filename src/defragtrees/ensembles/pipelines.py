"""Read pipelines: splits of the last step become splits on the user's columns.

The last step is read like any model. Each of its splits, on a transformed column,
becomes a split on the user's column that divides rows in exactly the same way.
"""

import copy
import dataclasses
import warnings
from functools import partial

import numpy as np
import sklearn
from scipy import special
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)

from defragtrees.ensembles.column_maps import (
    ALL_NUMBERS,
    LARGEST,
    SMALLEST,
    Derived,
    Fill,
    Indicator,
    LabelTable,
    Monotone,
    Steps,
    numbers_before,
)
from defragtrees.ensembles.readers import check_fitted, read_forest
from defragtrees.ensembles.rewriting import find_categories, rewrite, uses_of
from defragtrees.errors import UnsupportedModelError
from defragtrees.tables import is_missing

WITHOUT_ZERO = ((-LARGEST, -SMALLEST), (SMALLEST, LARGEST))


def read_pipeline(pipeline):
    """Read a fitted Pipeline as a Forest on the columns that its last step uses."""
    check_fitted(pipeline)
    # Steps that resample rows are not used to predict.
    steps = [step for _, step in pipeline.steps if not hasattr(step, "fit_resample")]
    forest = read_forest(steps[-1])
    names, has_names = _names(pipeline)
    columns = [Derived(j) for j in range(len(names))]
    for step in steps[:-1]:
        columns = derive(step, columns)
    if _zeros_are_missing(steps):
        columns = [c.then(Monotone(np.positive, WITHOUT_ZERO)) for c in columns]
    categories, kinds = find_categories(uses_of(columns, forest), names)
    forest = rewrite(forest, columns, names, categories, kinds)
    used = sorted({column.source for column in columns})
    if has_names:
        return _with_columns(forest, used)
    # Without names columns are taken by position; unused ones may hold anything.
    categories = [
        known if j in used else () for j, known in enumerate(forest.categories)
    ]
    return dataclasses.replace(forest, categories=tuple(categories))


def _names(pipeline):
    names = getattr(pipeline, "feature_names_in_", None)
    if names is not None:
        return [str(name) for name in names], True
    n_columns = getattr(pipeline, "n_features_in_", None)
    if n_columns is None:
        raise UnsupportedModelError(
            f"Cannot read a pipeline that begins with {type(pipeline[0]).__name__}: it "
            "has no n_features_in_."
        )
    return [f"x{j + 1}" for j in range(n_columns)], False


def _zeros_are_missing(steps):
    """Whether zeros are missing values, as for XGBoost with a sparse matrix."""
    is_sparse = False
    for step in steps[:-1]:
        is_sparse = sparse_output(step, is_sparse)
    return is_sparse and type(steps[-1]).__module__.split(".")[0] == "xgboost"


def _with_columns(forest, used):
    """The forest with only these features."""
    place = np.full(forest.n_features + 1, -1)
    place[used] = np.arange(len(used))
    features = {}
    for name in ("feature_names", "categories", "feature_kinds"):
        values = getattr(forest, name)
        features[name] = values and tuple(values[j] for j in used)
    trees = tuple(
        dataclasses.replace(tree, feature=place[tree.feature]) for tree in forest.trees
    )
    others = [n for j, n in enumerate(forest.feature_names) if j not in used]
    return dataclasses.replace(
        forest, trees=trees, other_names=tuple(others), **features
    )


# Transformers: how output columns depend on input columns.
#
# `TRANSFORMERS` has one function per class that can be read, from a fitted transformer
# and its Derived input columns to its Derived output columns. A scaler, which treats
# each column separately, is in `SCALERS` with its attributes that have one entry per
# column. To add a transformer, write one function and add one line to `TRANSFORMERS`.

SCALERS = {
    StandardScaler: ("mean_", "var_", "scale_"),
    MinMaxScaler: ("min_", "scale_", "data_min_", "data_max_", "data_range_"),
    RobustScaler: ("center_", "scale_"),
    MaxAbsScaler: ("scale_", "max_abs_"),
    QuantileTransformer: ("quantiles_",),
    PowerTransformer: ("lambdas_", "_scaler"),
}

# Domains of numpy functions. Numbers outside, for which a pipeline raises, are treated
# as the nearest number inside.
DOMAINS = {
    **dict.fromkeys((np.log, np.log2, np.log10, np.sqrt), (0.0, LARGEST)),
    **dict.fromkeys((np.log1p, special.log1p), (-1.0, LARGEST)),
    **dict.fromkeys((np.arctanh, np.arcsin), (-1.0, 1.0)),
    special.logit: (0.0, 1.0),
}
# Pieces on which they are monotone.
FUNCTIONS = {
    np.reciprocal: ((-LARGEST, -SMALLEST), (0.0, LARGEST)),
    **dict.fromkeys(
        (np.absolute, np.fabs, np.square), ((-LARGEST, 0.0), (SMALLEST, LARGEST))
    ),
    **dict.fromkeys(
        (
            *DOMAINS,
            *(np.exp, np.exp2, np.expm1, np.cbrt, np.arctan, np.arcsinh, np.sinh),
            *(np.tanh, np.sign, np.negative, np.positive, np.floor, np.ceil),
            *(np.trunc, np.rint, np.round, np.clip, np.deg2rad, np.rad2deg),
            *(special.cbrt, special.expit, special.expm1, special.ndtr),
        ),
        ALL_NUMBERS,
    ),
}
WITH_OPTIONS = (np.clip, np.round)  # monotone with any options


def derive(transformer, columns):
    """The output columns of a fitted transformer, "passthrough", "drop" or None."""
    if transformer is None or isinstance(transformer, str):
        return [] if transformer == "drop" else columns
    for kind, read in TRANSFORMERS:
        if isinstance(transformer, kind):
            _check_own(transformer, kind)
            return read(transformer, columns)
    raise _unreadable(
        transformer, "only transformers that work column by column can be read"
    )


def _check_own(transformer, kind):
    """Raise for a subclass that overrides methods of the class that is read."""
    for name in ("transform", "get_support"):
        method = getattr(type(transformer), name, None)
        is_own = method != getattr(kind, name, None)
        is_own = is_own and method.__module__.split(".")[0] != "sklearn"
        if is_own or name in vars(transformer):
            raise _unreadable(transformer, f"it overrides {name}")


def _unreadable(transformer, why):
    return UnsupportedModelError(
        f"Cannot read {type(transformer).__name__} in a pipeline: {why}."
    )


def sparse_output(transformer, is_sparse=False):
    """Whether a transformer returns sparse matrices; `is_sparse` if its input is."""
    if isinstance(transformer, Pipeline):
        for _, step in transformer.steps:
            is_sparse = sparse_output(step, is_sparse)
        return is_sparse
    if isinstance(transformer, ColumnTransformer):
        return bool(transformer.sparse_output_)
    if isinstance(transformer, FeatureUnion):
        steps = (step for _, step in transformer.transformer_list)
        return any([sparse_output(step, is_sparse) for step in steps])
    if isinstance(transformer, OneHotEncoder):
        return bool(transformer.sparse_output)
    if isinstance(transformer, KBinsDiscretizer):
        return transformer.encode == "onehot"
    return is_sparse


def _read_pipeline(pipeline, columns):
    for _, step in pipeline.steps:
        columns = derive(step, columns)
    return columns


def _read_column_transformer(transformer, columns):
    made = []
    places = transformer._transformer_to_input_indices
    weights = transformer.transformer_weights or {}
    for name, step, _ in transformer.transformers_:
        taken = [columns[j] for j in places.get(name, ())]
        # A transformer without columns is not fitted.
        made += _weighted(derive(step, taken) if taken else [], weights.get(name))
    return made


def _read_union(union, columns):
    made, weights = [], union.transformer_weights or {}
    for name, step in union.transformer_list:
        made += _weighted(derive(step, columns), weights.get(name))
    return made


def _weighted(columns, weight):
    if weight is None:
        return columns
    return [column.then(Monotone(partial(np.multiply, weight))) for column in columns]


def _read_scaler(scaler, columns):
    names = next(names for kind, names in SCALERS.items() if isinstance(scaler, kind))
    # Box-Cox is undefined up to zero, and so is the pipeline.
    is_positive = getattr(scaler, "method", None) == "box-cox"
    within = (SMALLEST, LARGEST) if is_positive else ALL_NUMBERS[0]
    made = []
    for j, column in enumerate(columns):
        transform = partial(_transform_one, _narrowed(scaler, names, j))
        made.append(column.then(Monotone(partial(_call_within, transform, *within))))
    return made


def _narrowed(scaler, names, j):
    """A copy of a scaler with only one of its columns."""
    narrow = _without_names(scaler)
    for name in names:
        value = getattr(scaler, name, None)
        if isinstance(value, np.ndarray):
            setattr(narrow, name, np.ascontiguousarray(value[..., [j]]))
        elif name == "_scaler" and value is not None:
            setattr(narrow, name, _narrowed(value, SCALERS[type(value)], j))
    narrow.n_features_in_ = 1
    return narrow


def _transform_one(scaler, values):
    # Bisection tries numbers that overflow when scaled.
    with sklearn.config_context(assume_finite=True, transform_output="default"):
        return scaler.transform(values[:, None])[:, 0] if len(values) else values


def _read_function(transformer, columns):
    function = transformer.func
    if function is None:
        return columns
    name = getattr(function, "__name__", type(function).__name__)
    options = transformer.kw_args or {}
    try:
        pieces = FUNCTIONS.get(function)
    except TypeError:
        pieces = None
    if pieces is None or (options and function not in WITH_OPTIONS):
        raise _unreadable(
            transformer,
            f"whether {name} is monotone is unknown; use a numpy function, such as "
            "np.log1p",
        )
    within = DOMAINS.get(function, ALL_NUMBERS[0])
    once = partial(_call_within, partial(function, **options), *within)
    return [column.then(Monotone(once, pieces)) for column in columns]


def _call_within(function, first, last, values):
    return function(np.clip(values, first, last))


def _read_imputer(imputer, columns):
    marker = None if is_missing(imputer.missing_values) else imputer.missing_values
    made = [
        column.then(Fill(value, marker))
        for column, value in zip(columns, imputer.statistics_.tolist(), strict=True)
        if imputer.keep_empty_features or not is_missing(value)
    ]
    if imputer.add_indicator:
        made += _read_indicator(imputer.indicator_, columns)
    return made


def _read_indicator(indicator, columns):
    marker = None if is_missing(indicator.missing_values) else indicator.missing_values
    return [columns[j].then(Indicator(marker)) for j in indicator.features_]


def _read_binarizer(binarizer, columns):
    def is_above(values):
        return np.where(np.isnan(values), np.nan, values > binarizer.threshold)

    return [column.then(Steps(is_above, [binarizer.threshold])) for column in columns]


def _read_bins(binner, columns):
    made = []
    for column, edges in zip(columns, binner.bin_edges_, strict=True):
        inner = edges[1:-1]
        ends, find_bin = numbers_before(inner), partial(np.searchsorted, inner)
        find_bin = partial(find_bin, side="right")
        functions = [find_bin]
        if binner.encode != "ordinal":
            functions = [
                lambda values, find=find_bin, number=number: find(values) == number
                for number in range(len(inner) + 1)
            ]
        made += [column.then(Steps(function, ends)) for function in functions]
    return made


def _read_encoder(encoder, columns):
    """The output columns of an encoder, which is called with each category.

    Unknown categories give NaN if the encoder raises for them. An OrdinalEncoder sorts
    categories by itself, so they have an order only if the user gave them.
    """
    is_given = not isinstance(encoder.categories, str)
    is_ordered = is_given and isinstance(encoder, OrdinalEncoder)
    encoder, known = _without_names(encoder), encoder.categories_
    # Rows in which every column has its first, second, ... category.
    rows = np.empty((max(map(len, known), default=0), len(known)), dtype=object)
    for j, labels in enumerate(known):
        rows[:, j] = [labels[min(k, len(labels) - 1)] for k in range(len(rows))]
    encoded = _encoded(encoder, rows)
    unknown = np.full(encoded.shape[1], np.nan)
    if getattr(encoder, "handle_unknown", None) != "error":
        row = np.array([[_unseen(labels) for labels in known]], dtype=object)
        unknown = _encoded(encoder, row)[0]
    widths = _widths(encoder, encoded.shape[1])
    made, end = [], 0
    for column, labels, width in zip(columns, known, widths, strict=True):
        for output in range(end, end + width):
            values = encoded[: len(labels), output]
            table = _table(labels.tolist(), values, unknown[output], is_ordered)
            made.append(column.then(table))
        end += width
    return made


def _without_names(transformer):
    """A copy of a transformer that takes arrays and gives arrays."""
    plain = copy.copy(transformer)
    for name in ("feature_names_in_", "_sklearn_output_config"):
        vars(plain).pop(name, None)
    return plain


def _encoded(encoder, rows):
    with sklearn.config_context(transform_output="default"), warnings.catch_warnings():
        # It may warn of the unknown category.
        warnings.simplefilter("ignore", UserWarning)
        made = encoder.transform(rows)
    return np.asarray(made.toarray() if hasattr(made, "toarray") else made, np.float64)


def _unseen(labels):
    """A value that differs from all these."""
    if labels.dtype.kind in "biuf":
        finite = labels[np.isfinite(labels.astype(np.float64))].astype(np.float64)
        return float(np.max(finite, initial=0.0)) + 1.5
    longest = max((len(str(label)) for label in labels), default=0)
    return "?" * (longest + 1)


def _widths(encoder, n_outputs):
    """Number of output columns of each input column."""
    n_columns = len(encoder.categories_)
    if not isinstance(encoder, OneHotEncoder):
        return [n_outputs // max(1, n_columns)] * n_columns
    widths = np.array([len(labels) for labels in encoder.categories_])
    rare = getattr(encoder, "infrequent_categories_", None) or [None] * n_columns
    widths -= [0 if labels is None else len(labels) - 1 for labels in rare]
    if encoder.drop_idx_ is not None:
        widths -= [place is not None for place in encoder.drop_idx_]
    assert widths.sum() == n_outputs
    return widths.tolist()


def _table(labels, values, unknown, is_ordered):
    """The map of one output; a missing value not listed is an unknown category."""
    gaps = [is_missing(label) for label in labels]
    if sum(gaps) > 1:
        raise UnsupportedModelError(
            "Cannot read an encoder for which None and NaN differ, as both are read as "
            "missing values. Fit it with one of the two."
        )
    missing = values[gaps.index(True)] if any(gaps) else unknown
    kept = np.flatnonzero(~np.array(gaps, dtype=bool))
    known = tuple(labels[k] for k in kept)
    return LabelTable(known, values[kept], float(unknown), float(missing), is_ordered)


TRANSFORMERS = (
    (Pipeline, _read_pipeline),
    (ColumnTransformer, _read_column_transformer),
    (FeatureUnion, _read_union),
    (SelectorMixin, lambda s, columns: [columns[j] for j in s.get_support(True)]),
    (tuple(SCALERS), _read_scaler),
    (FunctionTransformer, _read_function),
    (SimpleImputer, _read_imputer),
    (MissingIndicator, _read_indicator),
    (Binarizer, _read_binarizer),
    (KBinsDiscretizer, _read_bins),
    ((OneHotEncoder, OrdinalEncoder, TargetEncoder), _read_encoder),
)
