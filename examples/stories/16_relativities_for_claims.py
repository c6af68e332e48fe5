"""
Relativities for motor claims
=============================

An insurer files factors: a base rate per year, times a relativity for each
characteristic of a policy. Here a boosted Poisson model of claims becomes such a table,
on simulated policies.
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

from defragtrees import explain_errors, plots, simplify

rng = np.random.default_rng(0)
policies = pd.DataFrame(
    {
        "driver age": rng.integers(18, 85, 20_000),
        "car age": rng.integers(0, 20, 20_000),
        "power": rng.integers(40, 160, 20_000),
    }
)
years = rng.uniform(0.1, 1.0, len(policies))
age, power = policies["driver age"], policies["power"]
rate = 0.08 * np.where(age < 26, 2.2, np.where(age > 70, 1.4, 1.0))
claims = rng.poisson(rate * np.where(power > 110, 1.5, 1.0) * years)
old, new = slice(0, 15_000), slice(15_000, None)

model = HistGradientBoostingRegressor(loss="poisson", max_depth=2, random_state=0)
model.fit(policies[old], claims[old] / years[old], sample_weight=years[old])

# %%
# Rules of one condition each are characteristics with their bins. The base rate times
# the relativity of one bin of each is the rate of a policy.
card = simplify(
    model,
    policies[old],
    claims[old],
    exposure=years[old],
    form="points",
    max_conditions=1,
    max_rules=6,
    random_state=0,
)
print(card.rules_)

# %%
# The table to file, with claims, exposure and observed rate of each bin:
y = np.column_stack([claims, years])
table = card.rules_.bins(policies[old], y[old])
table = table[table["rows"] > 0].drop(columns=["points", "rules", "share"])
print(table.round(3).to_string(index=False))

# %%
# Does it hold on new policies? A point is a tenth of the exposure, by predicted rate.
plots.calibration(card.rules_, policies[new], y[new])

# %%
# How much of the model is kept: share of the deviance explained, and Gini index.
scores = card.evaluate(policies[new], y[new])
for name in ("d2", "gini"):
    print(f"{name}: {scores[name]:.3f}, of the model {scores[f'model_{name}']:.3f}")

# %%
# Where is the model itself wrong? The losses are deviances; too low and too high are
# observed minus expected claims.
print(explain_errors(model, policies[new], y[new]))

# sphinx_gallery_thumbnail_path = "_static/stories/relativities_for_claims.svg"
