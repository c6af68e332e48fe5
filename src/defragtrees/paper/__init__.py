"""The paper's method: Hara and Hayashi's mixture, fitted by FAB or EM inference.

`estimator.py` has the pair of estimators. A fit goes through `fit.py` (restarts and the
choice among them), `loop.py` (the iterations), `parameters.py` (the M-step and the
posterior), `engine.py` or, with many rows, `shards.py` (the E-step over all rows), and
ends in `rules.py` (from components to rules).
"""
