"""Made data sets, and the rules of their forests as they are printed.

`python -m tests.readable` prints what `tests/reference/readable_rules.txt` keeps. Read
it before it is kept: do the rules read as a person would write them?
"""

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from defragtrees.tables import column_kinds, dates_as_days
from tests.fits import fit_rules

N_ROWS = 1200


def copies():
    """Two columns that are one with noise, and one of its own; a class."""
    rng = np.random.default_rng(0)
    height = np.round(rng.normal(170, 10, N_ROWS), 1)
    frame = pd.DataFrame(
        {
            "height": height,
            "height again": np.round(height + rng.normal(0, 0.5, N_ROWS), 1),
            "weight": np.round(rng.normal(75, 12, N_ROWS), 1),
        }
    )
    chance = 0.05 + 0.8 * ((height > 175) & (frame["weight"] > 70))
    y = np.where(rng.random(N_ROWS) < chance, "plays", "watches")
    return frame, y, {}


def accounts():
    """Whole numbers, two values, dates, money and categories; a class of 0 and 1."""
    rng = np.random.default_rng(1)
    days = rng.integers(0, 1800, N_ROWS).astype("m8[D]")
    frame = pd.DataFrame(
        {
            "children": rng.poisson(1.1, N_ROWS),
            "grade": rng.integers(1, 7, N_ROWS),
            "member": rng.integers(0, 2, N_ROWS),
            "dur": rng.integers(3, 73, N_ROWS),
            "opened": np.datetime64("2019-01-01") + days,
            "amount": np.round(rng.lognormal(7.6, 0.8, N_ROWS), 2),
        }
    )
    risk = 0.05 + 0.5 * (frame["amount"] > 2500) * (frame["dur"] > 24)
    risk += 0.3 * (frame["grade"] >= 5) + 0.1 * (frame["member"] == 0)
    risk *= np.where(frame["opened"] >= "2022-03-01", 0.3, 1.0)
    y = (rng.random(N_ROWS) < risk).astype(int).to_numpy()
    labels = {
        "feature_labels": {
            "dur": "duration [months]",
            "amount": "amount [EUR]",
            "opened": "account opened",
        },
        "class_labels": {0: "good", 1: "bad"},
    }
    return frame, y, labels


def hires():
    """Hours of a day, whole numbers of some size, and a number to tell."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "hour": rng.integers(0, 24, N_ROWS),
            "holiday": rng.integers(0, 2, N_ROWS),
            "temperature": np.round(rng.normal(14, 8, N_ROWS), 1),
            "year": rng.integers(2018, 2024, N_ROWS),
        }
    )
    is_rush = frame["hour"].between(7, 9) | frame["hour"].between(16, 18)
    y = 40 + 200 * (is_rush & (frame["holiday"] == 0)) + 6 * frame["temperature"]
    y += 30 * (frame["year"] >= 2020) + rng.normal(0, 20, N_ROWS)
    return frame, y.clip(lower=0).round().to_numpy(), {}


SETS = {"two noisy copies": copies, "accounts": accounts, "hires": hires}


def rules_of(name):
    """The rules of a forest on one of the sets."""
    frame, y, labels = SETS[name]()
    is_number = name == "hires"
    kind = RandomForestRegressor if is_number else RandomForestClassifier
    forest = kind(60, min_samples_leaf=10, random_state=0)
    forest.fit(dates_as_days(frame, column_kinds(frame)), y)
    return fit_rules(forest, frame, y, random_state=0, **labels).rules_, frame


def printed():
    """All rules as they are printed, with an explanation of the first row each."""
    parts = []
    for name in SETS:
        rules, frame = rules_of(name)
        parts.append(f"{name}\n{rules}\n{rules.explain(frame.iloc[0])}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    print(printed(), end="")  # noqa: T201
