"""What the training rows were like is kept with all rules of a fit."""

import dataclasses

__all__ = ["PATHS", "record_training"]

PATHS = ("path_", "path_by_conditions_")  # of an estimator, rule sets by their size


def record_training(estimator, store):
    """Give the rules of a fitted estimator, and of its paths, what rows were like.

    Parameters
    ----------
    estimator : Simplifier
    store : RowStore
    """
    paths = [getattr(estimator, name, None) or {} for name in PATHS]
    every = [estimator.rules_, *(rules for path in paths for rules in path.values())]
    features = {j for rules in every for j in _features(rules)}
    training = store.training_rows(features)

    error = estimator.training_.get("error")
    chosen = estimator.rules_

    def recorded(rules):
        kept = training.for_features(_features(rules))
        if rules is chosen and error is not None:
            kept = dataclasses.replace(kept, error=float(f"{error:.12g}"))
        return dataclasses.replace(rules, training=kept)

    estimator.rules_ = recorded(chosen)
    for path in paths:
        path.update({size: recorded(rules) for size, rules in path.items()})


def _features(rules):
    return {c.feature for rule in rules.rules for c in rule.conditions}
