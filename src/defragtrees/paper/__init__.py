"""The paper's method: Hara and Hayashi's mixture, fitted by FAB or EM inference.

`estimator.py` has the estimators. A fit uses `fit.py` (restarts, iterations and the
E-step), `parameters.py` (the M-step and the posterior) and `rules.py` (from components
to rules).
"""

from defragtrees.paper.estimator import FABRulesClassifier, FABRulesRegressor

__all__ = ["FABRulesClassifier", "FABRulesRegressor"]
