"""Settings of the paper's method that do not depend on the units of y.

They imitate the model, and keep more components than those of the paper.
"""

SEEDED = {
    "statement_weight": 3.0,
    "init": "seeded",
    "e_step": "gentle",
    "target": "model",
}
