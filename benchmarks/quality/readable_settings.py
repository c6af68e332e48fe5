"""What settings that make rules easier to read cost on new rows.

Run as `python -m benchmarks.quality.readable_settings --data FOLDER`. Each split fits a
boosted model to 2,000 rows of a set (at most half of it), makes rules with and without
one setting, and compares their loss on up to 5,000 new rows: the log loss, or the mean
squared error as a share of the variance.

- `monotone="auto"`: scorecards of up to 20 rules, for two classes;
- `prefer`: lists; the column that most conditions use has a twin, the other column with
  the highest rank correlation to it, at least 0.7, and the twin is preferred;
- `max_categories`: lists, without and with the limit, on sets with a column of more
  categories than the limit.

Sets are named in alphabetical order; every other one is in the first half, on which
settings were chosen.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.metrics import log_loss

from benchmarks.data import as_numbers, make_split
from defragtrees import DefragClassifier, DefragRegressor
from defragtrees._utils.formatting import text_table
from defragtrees.rules.conditions import MOST_NAMED

N_TRAIN = 2000
LEAST_CORRELATION = 0.7  # of columns that have nearly the same information


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    names = sorted(path.name.split(".")[0] for path in given.data.glob("*.csv.gz"))
    tasks = [
        delayed(compare)(given.data, name, seed, wish)
        for wish in WISHES
        for name in names
        for seed in range(given.seeds)
    ]
    rows = [row for row in Parallel(given.jobs)(tasks) if row is not None]
    found = pd.DataFrame(rows)
    found["half"] = np.where(found["set"].map(names.index) % 2 == 0, "first", "second")
    for wish, own in found.groupby("wish", sort=False):
        print(f"{wish}\n")
        shown = own[["set", "seed", "loss", "change", "note"]]
        cells = shown.map(lambda v: f"{v:.4f}" if isinstance(v, float) else str(v))
        print(text_table([*shown], cells.to_numpy().tolist()), "\n")
        for half, some in own.groupby("half"):
            change = some["change"]
            print(
                f"{half} half: {(change != 0).sum()} of {len(change)} changed; loss "
                f"{change.mean():+.4f} on average, {change.max():+.4f} at most"
            )
        print()


def compare(folder, name, seed, wish):
    """The loss without and with a setting; None if it has no use for this set."""
    warnings.simplefilter("ignore")
    split = make_split(folder, name, "boosted", seed, N_TRAIN)
    train, test = (split.X.iloc[rows] for rows in (split.train, split.test))
    y, y_new = split.y[split.train], split.y[split.test]

    def made(**settings):
        kind = DefragRegressor if split.is_number else DefragClassifier
        return kind(split.model, random_state=0, n_jobs=1, **settings).fit(train, y)

    def loss(simple):
        if split.is_number:
            return ((simple.predict(test) - y_new) ** 2).mean() / np.var(y_new)
        known = np.isin(y_new, simple.classes_)
        likely = simple.predict_proba(test[known])
        return log_loss(y_new[known], likely, labels=simple.classes_)

    found = WISHES[wish](split, train, made)
    if found is None:
        return None
    plain, wished, note = found
    before, after = loss(plain), loss(wished)
    return {
        "wish": wish,
        "set": name,
        "seed": seed,
        "loss": float(before),
        "change": round(float(after - before), 4),
        "note": note,
    }


def signs(split, train, made):
    if not split.is_binary:
        return None
    cards = [
        made(form="points", max_rules=21, monotone=signs) for signs in (None, "auto")
    ]
    n_against = [len(card.rules_._contradictions()) for card in cards]
    return *cards, f"contradicting rules {n_against[0]} -> {n_against[1]}"


def twins(split, train, made):
    plain = made()
    used = n_sides(plain.rules_)
    numbers = as_numbers(train)
    apart = numbers.corr("spearman").abs().fillna(0).to_numpy()
    apart = apart * (1 - np.eye(len(apart)))
    column = max(used, key=lambda j: (used[j], -j), default=0)
    twin = int(apart[column].argmax())
    if apart[column, twin] < LEAST_CORRELATION:
        return None
    wished = made(prefer=[twin])
    before, after = used[twin], n_sides(wished.rules_)[twin]
    return (
        plain,
        wished,
        (
            f"{train.columns[twin]} for {train.columns[column]} (r = "
            f"{apart[column, twin]:.2f}): sides {before} -> {after}"
        ),
    )


def many_categories(split, train, made):
    words = train.select_dtypes("category")
    if not any(len(words[name].cat.categories) > MOST_NAMED for name in words):
        return None
    free, capped = (made(max_categories=most) for most in (None, MOST_NAMED))
    n_named = [
        max((len(c.categories) for rule in made.rules_ for c in rule.conditions
             if c.categories is not None), default=0)
        for made in (free, capped)
    ]  # fmt: skip
    return free, capped, f"most categories inside {n_named[0]} -> {n_named[1]}"


def n_sides(rules):
    """The number of sides of conditions, or of sets, by feature."""
    used = Counter()
    for rule in rules.rules:
        for condition in rule.conditions:
            used[condition.feature] += condition.n_sides
    return used


WISHES = {
    "monotone": signs,
    "prefer": twins,
    "max_categories": many_categories,
}


if __name__ == "__main__":
    main()
