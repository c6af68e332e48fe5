"""Which features the rules use, beside how much the ensemble makes of them."""

import numpy as np

__all__ = ["feature_table", "feature_use", "importances", "most_used"]

MOST_SHOWN = 20
TOP_UNUSED = 5


def feature_use(rules):
    """For each feature, how many rules ask about it and how many sides they bound."""
    n_rules = np.zeros(len(rules.feature_names), dtype=int)
    n_sides = np.zeros(len(rules.feature_names), dtype=int)
    for rule in rules.rules:
        for condition in rule.conditions:
            n_rules[condition.feature] += 1
            n_sides[condition.feature] += condition.n_sides
    return n_rules, n_sides


def importances(ensemble, forest):
    """What the ensemble makes of each feature, as shares of one, and what that is.

    Parameters
    ----------
    ensemble : the fitted ensemble, or whatever the forest was read from
    forest : Forest

    Returns
    -------
    tuple of (array of shape (n_features,), str)
    """
    own = _own_importances(ensemble, forest.n_features)
    if own is not None:
        kind = getattr(ensemble, "importance_type", None)
        how = f" (importance_type={kind!r})" if isinstance(kind, str) else ""
        name = type(ensemble).__name__
        return own, f"feature_importances_ of {name}{how}, scaled to sum to one"
    passing = _split_use(forest, by_rows=True)
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


def _own_importances(ensemble, n_features):
    try:
        own = np.asarray(ensemble.feature_importances_, dtype=np.float64)
    except (AttributeError, KeyError, TypeError, ValueError):
        # A library may offer the attribute and not be able to give it.
        return None
    if own.shape != (n_features,) or not np.isfinite(own).all() or (own < 0).any():
        return None
    return _scaled(own)


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


def most_used(rules, importance):
    """Features that the rules ask about, the most used first."""
    n_rules, n_sides = feature_use(rules)
    order = np.lexsort((-importance, -n_sides, -n_rules))
    return [int(j) for j in order if n_rules[j]]


def feature_table(rules, importance, source):
    """Used features and the most important unused ones, ready to show."""
    n_rules, n_sides = feature_use(rules)
    used = most_used(rules, importance)
    others = [
        int(j)
        for j in np.argsort(-importance, kind="stable")[: TOP_UNUSED + len(used)]
        if not n_rules[j] and importance[j] > 0
    ]
    shown = [*used, *others[:TOP_UNUSED]][:MOST_SHOWN]
    total = max(1, n_sides.sum())
    return {
        "source": source,
        "n_used": len(used),
        "n_features": len(rules.feature_names),
        "share_of_importance": float(importance[used].sum()) if used else 0.0,
        "n_left_out": max(0, len(used) - MOST_SHOWN),
        "rows": [
            {
                "name": rules.feature_names[j],
                "n_rules": int(n_rules[j]),
                "use": float(n_sides[j] / total),
                "importance": float(importance[j]),
            }
            for j in shown
        ],
    }
