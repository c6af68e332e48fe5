"""The paper's method: Hara and Hayashi's mixture, fitted by FAB or EM inference.

`estimator.py` has the estimators. A fit uses `fit.py` (restarts and the choice among
them), `loop.py` (the iterations), `parameters.py` (the M-step and the posterior),
`engine.py` (the E-step), and `rules.py` (from components to rules).
"""

from defragtrees.paper.estimator import FABRulesClassifier, FABRulesRegressor

__all__ = ["FABRulesClassifier", "FABRulesRegressor"]
