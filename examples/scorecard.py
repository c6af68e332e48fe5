"""One forest in three forms: a list, standalone rules, and a scorecard.

The loans are simulated: 4,000 for training and 4,000 for testing, of which 22% are not
paid back. The alphabetically second class is the one whose probability is shown and
whose log-odds the points add up to, so it is "unpaid".
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from defragtrees import metrics, simplify
from defragtrees.export import export


def draw_loans(n_rows, seed):
    """Loans, and whether each was paid back."""
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
        -2.0
        + 0.9 * loans["late payments"].clip(upper=3)
        + 2.5 * (loans["debt share"] > 0.5)
        - 1.2 * (loans["years employed"] > 5)
    )
    risk = 1 / (1 + np.exp(-score))
    return loans, np.where(rng.random(n_rows) < risk, "unpaid", "paid")


def main():
    """Print the rules in each form, the risk by total and the SQL of the scorecard."""
    X, y = draw_loans(4000, seed=0)
    X_test, y_test = draw_loans(4000, seed=1)
    forest = RandomForestClassifier(min_samples_leaf=20, random_state=0).fit(X, y)
    settings = {"max_rules": 5, "random_state": 0}
    for form in ("list", "standalone", "points"):
        simple = simplify(forest, X, y, form=form, **settings)
        print(f"{form}:\n{simple.summary(X_test, y_test)}\n")

    card = simplify(
        *(forest, X, y),
        form="points",
        points="integer",
        **settings,
    ).rules_.scaled(20)
    print(f"As a scorecard:\n{card}\n")
    for line in metrics.score_table(card, X_test, y_test):
        print(
            f"total {line['low']:4.0f}: {line['n_rows']:4d} loans, estimated "
            f"{line['estimated']:.3f}, observed {line['observed']:.3f} unpaid"
        )
    print(f"\n{export(card, 'sql', probability_of='unpaid')}")


if __name__ == "__main__":
    main()
