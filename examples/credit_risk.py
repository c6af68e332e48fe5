"""Probabilities with intervals, costs and a threshold, on simulated loans.

The loans are simulated, so that their true risk is known: 4,000 for training and 4,000
for testing, of which 6% are not paid back. The alphabetically second class is the one
whose probability is shown, so it is "unpaid".
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from defragtrees import simplify


def draw_loans(n_rows, seed):
    """Loans, whether each was paid back, and the true probability that it is not."""
    rng = np.random.default_rng(seed)
    loans = pd.DataFrame(
        {
            "income": np.exp(rng.normal(3.5, 0.5, n_rows)).round(1),  # in thousands
            "debt share": rng.beta(2, 4, n_rows).round(2),
            "late payments": rng.poisson(0.6, n_rows),
            "years employed": rng.gamma(2.0, 3.0, n_rows).round(1),
        }
    )
    score = (
        -4.0
        + 0.9 * loans["late payments"].clip(upper=3)
        + 2.5 * (loans["debt share"] > 0.5)
        - 1.2 * (loans["years employed"] > 5)
    )
    risk = (1 / (1 + np.exp(-score))).to_numpy()
    status = np.where(rng.random(n_rows) < risk, "unpaid", "paid")
    return loans, status, risk


def main():
    """Print rules without costs, with costs and with a threshold."""
    X, y, _ = draw_loans(4000, seed=0)
    X_test, y_test, risk = draw_loans(4000, seed=1)
    forest = RandomForestClassifier(min_samples_leaf=20, random_state=0).fit(X, y)
    settings = {"max_rules": 5, "max_conditions": 3, "random_state": 0}

    simple = simplify(forest, X, y, **settings)
    print(simple.summary(X_test, y_test))

    estimated = simple.predict_proba(X_test)[:, 1]
    distance = np.abs(estimated - risk).mean()
    print(f"\nMean distance to the true risk: {distance:.3f}")
    print("\nAn unpaid loan costs ten times as much as a customer turned away:\n")
    costs = {("unpaid", "paid"): 10, ("paid", "unpaid"): 1}
    careful = simplify(forest, X, y, costs=costs, **settings)
    print(careful.summary(X_test, y_test))

    print("\nThe same as a threshold of 1/11 on the probability of unpaid:\n")
    strict = simplify(forest, X, y, threshold=1 / 11, **settings)
    print(strict.rules_)


if __name__ == "__main__":
    main()
