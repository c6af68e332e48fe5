"""Settings of the paper's method that do not depend on the units of y.

They imitate the model, and keep more components than those of the paper.
"""

GENTLE = {"e_step": "gentle", "target": "model"}
