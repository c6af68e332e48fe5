"""Fits with settings that `simplify` does not have."""

from defragtrees import UnsupportedModelError, read_forest
from defragtrees.ensembles.black_box import model_task
from defragtrees.estimators import estimator_for
from defragtrees.outcomes import make_outcome


def fit_rules(model, X, y=None, sample_weight=None, *, validation=None, **settings):
    """What `simplify` returns, with any setting of the estimator."""
    try:
        outcome = read_forest(model).outcome
    except UnsupportedModelError:
        outcome = make_outcome(model_task(model, X))
    simple = estimator_for("defrag", outcome)(model, **settings)
    return simple.fit(X, y, sample_weight, validation=validation)
