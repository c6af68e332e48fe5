"""Read pipelines: splits of the last step become splits on the user's columns.

The last step is read like any model. Each of its splits, on a transformed column,
becomes a split on the user's column that divides rows in exactly the same way.
"""

import dataclasses

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from defragtrees.ensembles.pipelines.maps import (
    LARGEST,
    SMALLEST,
    Derived,
    Monotone,
)
from defragtrees.ensembles.pipelines.rewriting import (
    find_categories,
    rewrite,
    uses_of,
)
from defragtrees.ensembles.pipelines.transformers import derive, sparse_output
from defragtrees.errors import UnsupportedModelError

WITHOUT_ZERO = ((-LARGEST, -SMALLEST), (SMALLEST, LARGEST))


def read_pipeline(pipeline, read_forest):
    """Read a fitted Pipeline as a Forest on the columns that its last step uses.

    `read_forest` reads the last step.
    """
    try:
        check_is_fitted(pipeline)
    except NotFittedError:
        raise NotFittedError(
            "A fitted pipeline is needed; this one is not fitted. Call fit first."
        ) from None
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
    kinds = forest.feature_kinds
    trees = tuple(
        dataclasses.replace(tree, feature=place[tree.feature]) for tree in forest.trees
    )
    return dataclasses.replace(
        forest,
        trees=trees,
        feature_names=tuple(forest.feature_names[j] for j in used),
        categories=tuple(forest.categories[j] for j in used),
        feature_kinds=kinds and tuple(kinds[j] for j in used),
        other_names=tuple(
            name for j, name in enumerate(forest.feature_names) if j not in used
        ),
    )
