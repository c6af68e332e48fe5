"""summarize: a fitted simplifier and some rows become a plain dict, ready to show.

Nothing here knows HTML. The dict holds texts, numbers, lists and None, so that it can
be written as JSON, looked at in a test, or shown in another way.
"""

from datetime import date

import numpy as np

from defragtrees.report.drawn import draw, feature_pairs
from defragtrees.report.evidence import (
    closeness,
    disagreements,
    overlap,
    rule_cards,
    typical_rows,
)
from defragtrees.report.features import feature_table, importances, most_used
from defragtrees.report.measured import measure
from defragtrees.report.provenance import given_ensemble, question, reproduction
from defragtrees.report.trade_off import comparison_rows, path_points
from defragtrees.report.wording import plural, sentence

__all__ = ["summarize"]

FEWEST_AXES = 5


def summarize(
    simplifier,
    X,
    y=None,
    sample_weight=None,
    *,
    title=None,
    rule_path=None,
    comparison=None,
    features=None,
    command=None,
    max_rows=1000,
):
    """Everything that a report shows, as a plain dict; see `write_report`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees import simplify
    >>> X, y = load_iris(return_X_y=True)
    >>> ensemble = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> found = summarize(simplify(ensemble, X, y, random_state=0), X, y)
    >>> found["question"]["ensemble"], found["question"]["n_trees"]
    ('RandomForestClassifier', 20)
    """
    found = measure(simplifier, X, y, sample_weight)
    rules = simplifier.rules_
    importance, source = importances(given_ensemble(simplifier), simplifier.forest_)
    used = most_used(rules, importance)
    telling = _telling(used, importance)
    pairs = feature_pairs(features, rules.feature_names, telling)
    asked = question(simplifier, found)
    return {
        "title": title
        or f"{sentence(asked['ensemble'])} in {plural(rules.n_rules, 'rule')}",
        "task": rules.task,
        "decision": rules.decision,
        "is_weighted": sample_weight is not None,
        "written": date.today().isoformat(),
        "question": asked,
        "scores": _plain(simplifier.evaluate(X, y, sample_weight)),
        "training": _plain(simplifier.training_),
        "rules": rule_cards(found),
        "path": path_points(simplifier, found, rule_path),
        "comparison": comparison_rows(comparison),
        "closeness": closeness(found),
        "disagreements": disagreements(found, used),
        "plot": draw(found, telling, pairs, max_rows),
        "typical": typical_rows(found, telling),
        "features": feature_table(rules, importance, source),
        "overlap": overlap(found),
        "reproduction": reproduction(simplifier, command),
    }


def _telling(used, importance):
    """The features that the rules use, and where these are few the ensemble's best."""
    others = [
        int(j) for j in np.argsort(-importance, kind="stable") if j not in set(used)
    ]
    if len(used) >= 2:
        return used
    return [*used, *others[: FEWEST_AXES - len(used)]]


def _plain(scores):
    return {
        name: value if isinstance(value, int) else float(value)
        for name, value in scores.items()
    }
