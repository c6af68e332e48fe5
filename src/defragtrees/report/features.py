"""Which features the rules use, beside how much the ensemble makes of them."""

from dataclasses import dataclass

import numpy as np

from defragtrees.data.tables import feature_index

__all__ = ["FeatureUse", "feature_pairs", "feature_use"]

FEWEST_AXES = 5


@dataclass(frozen=True, eq=False)
class FeatureUse:
    """What rules and ensemble make of each feature."""

    n_rules: np.ndarray  # how many rules ask about it
    n_sides: np.ndarray  # how many sides they bound
    importance: np.ndarray  # what the ensemble makes of it, as a share of one
    source: str  # what that is
    used: list[int]  # those that rules ask about, the most used first
    telling: list[int]  # the same and, where these are few, the most important others


def feature_use(rules, fitted, forest):
    """What rules and ensemble make of the features.

    Parameters
    ----------
    rules : RuleModel
    fitted : the fitted ensemble, or whatever the forest was read from
    forest : Forest
    """
    n_rules = np.zeros(len(rules.feature_names), dtype=int)
    n_sides = np.zeros(len(rules.feature_names), dtype=int)
    for rule in rules.rules:
        for condition in rule.conditions:
            n_rules[condition.feature] += 1
            n_sides[condition.feature] += condition.n_sides
    importance, source = _importances(fitted, forest)
    order = np.lexsort((-importance, -n_sides, -n_rules))
    used = [int(j) for j in order if n_rules[j]]
    telling = used
    if len(used) < 2:
        others = [int(j) for j in np.argsort(-importance, kind="stable")]
        others = [j for j in others if j not in used]
        telling = [*used, *others[: FEWEST_AXES - len(used)]]
    return FeatureUse(n_rules, n_sides, importance, source, used, telling)


def _importances(ensemble, forest):
    """What the ensemble makes of each feature, as shares of one, and what that is."""
    values = _given_importances(ensemble, forest.n_features)
    if values is not None:
        kind = getattr(ensemble, "importance_type", None)
        how = f" (importance_type={kind!r})" if isinstance(kind, str) else ""
        name = type(ensemble).__name__
        return values, f"feature_importances_ of {name}{how}, scaled to sum to one"
    passing = _split_use(forest, by_rows=True)
    if forest.origin:
        return _scaled(passing), (
            "share of the splits of trees grown on the model’s answers, each counted "
            "by the rows that pass through it; what the model itself makes of a "
            "feature is not known"
        )
    if np.isfinite(passing).all():
        return _scaled(passing), (
            "share of the ensemble’s splits, each counted by its cover, the weight of "
            "the training rows that pass through it; not a measure of how much the "
            "splits help"
        )
    return _scaled(_split_use(forest, by_rows=False)), (
        "share of the ensemble’s splits, each counted once; not a measure of how "
        "much the splits help"
    )


def _given_importances(ensemble, n_features):
    try:
        values = np.asarray(ensemble.feature_importances_, dtype=np.float64)
    except (AttributeError, KeyError, TypeError, ValueError):
        # A library may offer the attribute and not be able to give it.
        return None
    if (
        values.shape != (n_features,)
        or not np.isfinite(values).all()
        or (values < 0).any()
    ):
        return None
    return _scaled(values)


def _split_use(forest, by_rows):
    total = np.zeros(forest.n_features)
    for tree in forest.trees:
        inner = tree.feature >= 0
        weights = tree.cover[inner] if by_rows else None
        total += np.bincount(tree.feature[inner], weights, forest.n_features)
    return total


def _scaled(values):
    total = values.sum()
    return values / total if total > 0 else values


def feature_pairs(features, names, telling):
    """The pairs of features to map, as numbers.

    Parameters
    ----------
    features : sequence of pairs of names or numbers, or one pair, optional
    names : sequence of str
    telling : sequence of int
        Features by how telling they are; the first two are the default.
    """
    if features is None:
        return [tuple(telling[:2])] if len(telling) > 1 else []
    features = list(features)
    if len(features) == 2 and all(isinstance(f, str | int) for f in features):
        features = [features]
    pairs = []
    for pair in features:
        if isinstance(pair, str | int) or len(pair) != 2:
            raise ValueError(
                f"features must be pairs of names or numbers; got {pair!r}."
            )
        pairs.append(tuple(feature_index(one, names) for one in pair))
        if pairs[-1][0] == pairs[-1][1]:
            raise ValueError(f"A pair of features must be of two; got {pair!r}.")
    return pairs
