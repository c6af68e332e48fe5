"""How risky is it: probabilities with intervals, costs and a threshold.

The loans are drawn here, so that their true risk is known: 4,000 to learn from and
4,000 to test on, of which 6 % are not paid back. The second class in the order
of the alphabet is the one whose rate is shown, so it is "unpaid".
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
    """Print rules by likelihood, by cost and by threshold."""
    X, y, _ = draw_loans(4000, seed=0)
    X_test, y_test, risk = draw_loans(4000, seed=1)
    forest = RandomForestClassifier(min_samples_leaf=20, random_state=0).fit(X, y)
    settings = {"max_rules": 5, "max_conditions": 3, "random_state": 0}

    simple = simplify(forest, X, y, **settings)
    print(simple.summary(X_test, y_test))

    told = simple.predict_proba(X_test)[:, 1]
    print(f"\nMean distance to the true risk: {np.abs(told - risk).mean():.3f}")
    print("\nA loan that is not paid back costs ten times a customer sent away:\n")
    costs = {("unpaid", "paid"): 10, ("paid", "unpaid"): 1}
    careful = simplify(forest, X, y, costs=costs, **settings)
    print(careful.summary(X_test, y_test))

    print("\nThe same in one number, unpaid from 1/11 on:\n")
    strict = simplify(forest, X, y, threshold=1 / 11, **settings)
    print(strict.rules_)


if __name__ == "__main__":
    main()
