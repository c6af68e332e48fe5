"""What the features and classes of a fit are called, and which of them are dates."""

import dataclasses

import numpy as np

from defragtrees.dates import column_kinds
from defragtrees.labels import (
    ORDERED,
    checked_labels,
    checked_pos_label,
    make_vocabulary,
)
from defragtrees.readers.pipelines import with_categories
from defragtrees.tables import ordered_categories

__all__ = ["check_days", "with_kinds", "words_of"]


def with_kinds(forest, X, feature_labels=None):
    """The forest, which knows which of its features are dates and times in X.

    Parameters
    ----------
    forest : Forest
    X : array-like or data frame
    feature_labels : dict or sequence of str, optional
        A label may say it too, as in "Opened [date]".
    """
    kinds = column_kinds(X)
    if kinds is not None and len(kinds) != forest.n_features:
        kinds = None
    labels = checked_labels(feature_labels, forest.feature_names, "feature_labels")
    words = make_vocabulary(forest.feature_names, None, labels, kinds)
    kinds = [scale.kind for scale in words.scales]
    forest, ordered = _in_order(forest, X)
    for j in ordered:
        kinds[j] = ORDERED
    kinds = tuple(kinds) if any(kinds) else None
    return dataclasses.replace(forest, feature_kinds=kinds)


def _in_order(forest, X):
    """The forest with categories in the order that X gives them, and their features."""
    categories, ordered = list(forest.categories), []
    for j, order in enumerate(ordered_categories(X) or ()):
        if j >= len(categories) or order is None or categories[j] is None:
            continue
        if set(categories[j]) <= set(order):
            categories[j] = order
            ordered.append(j)
    if tuple(categories) == forest.categories:
        return forest, ordered
    return with_categories(forest, categories), ordered


def words_of(estimator, forest):
    """Labels and kinds, as fields of a RuleSet; those that fit nothing are refused."""
    names, classes = forest.feature_names, forest.classes or ()
    return {
        "feature_labels": checked_labels(
            estimator.feature_labels, names, "feature_labels"
        ),
        "class_labels": checked_labels(estimator.class_labels, classes, "class_labels"),
        "feature_kinds": forest.feature_kinds,
        "pos_label": checked_pos_label(estimator.pos_label, classes),
    }


def check_days(forest, store):
    """Refuse dates that all lie on one side of the ensemble's thresholds."""
    kinds = forest.feature_kinds or ()
    for j, kind in enumerate(kinds):
        thresholds = store.grid.splits[j]
        n_sides = np.count_nonzero(store.counts[j][:-1])
        if kind not in (None, ORDERED) and len(thresholds) and n_sides < 2:
            raise ValueError(
                f"{forest.feature_names[j]!r} is read as a number of days (since "
                "1970-01-01, if it is a date), and must then lie around the "
                f"thresholds of the ensemble; it has {thresholds[0]:g} among these. "
                "Train the ensemble on days, or give X the numbers that it saw."
            )
