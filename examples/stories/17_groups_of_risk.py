"""
Groups of risk from a survival forest
=====================================

A random survival forest orders patients well, and nobody can read it. Rules make it a
few groups, each with a curve, a median and the survival after some years. Patients are
simulated: age, stage and a marker decide.
"""

import numpy as np
import pandas as pd

from defragtrees import DefragSurvival, plots

rng = np.random.default_rng(0)
patients = pd.DataFrame(
    {
        "age": rng.uniform(35, 85, 1200).round(),
        "stage": rng.integers(1, 5, 1200),
        "marker": rng.gamma(2.0, 10.0, 1200).round(1),
    }
)
hazard = np.where(patients["stage"] >= 3, 2.5, 1.0)
hazard *= np.where(patients["marker"] > 25, 1.8, 1.0)
hazard *= np.exp(0.02 * (patients["age"] - 60))
years, until = rng.exponential(8 / hazard), rng.uniform(1, 10, 1200)
y = np.column_stack([years <= until, np.minimum(years, until)])
old, new = slice(0, 800), slice(800, None)

# %%
# Any model of scikit-survival, lifelines or XGBoost will do. Without one a forest is
# fitted first, as here; survival is reported after three and five years.
simple = DefragSurvival(times=[3, 5], max_rules=4, random_state=0)
simple.fit(patients[old], y[old])
print(simple.rules_)

# %%
# The curve of each group, with its 95% interval and the patients at risk:
plots.survival(simple.rules_)

# %%
# Does the order of the groups hold on new patients?
scores = simple.evaluate(patients[new], y[new])
print(f"concordance {scores['concordance']:.3f}", end=", ")
print(f"of the forest {scores['model_concordance']:.3f}")

# %%
# A scorecard to add up by hand has a table from totals to survival.
card = DefragSurvival(
    times=5,
    form="points",
    points="integer",
    max_conditions=1,
    max_rules=6,
    random_state=0,
)
print(card.fit(patients[old], y[old]).rules_)

# %%
# In a database, each patient gets the group, the hazard ratio and the survival.
print(simple.rules_.export("sql", table="patients"))

# sphinx_gallery_thumbnail_path = "_static/stories/groups_of_risk.svg"
