"""False alarms of drift checks, and real changes that they find.

Run as `python -m benchmarks.watching --data FOLDER`, with `--half second` on the sets
that nothing was chosen on. Every fit trains a model on 500 or 2,000 rows of a real set
(a forest with deep trees, one with leaves of five, boosting), makes rules of each form
with and without half as many validation rows, and checks batches of up to 1,000 other
rows: as they are, where every alarm is false, and with one change:

- the column that most conditions use is half a standard deviation higher;
- its two most frequent categories are swapped, if it has categories;
- 30 % of y have another class, or y is half a standard deviation higher;
- the model gets that column in a random order, as from a broken pipeline.

Each batch is checked alone and beside the model, whose classes are words, as those of
the rules, or numbers, as in a file of XGBoost. Printed is the share of checks with an
alarm, and first the agreement of rules and model, in per cent of the rows of all
batches, and how far it is on the training rows and in the rule file, where checks
compare with it. `--methods` makes the rules by other methods, which count on searched
rows.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import dataclasses
import itertools
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from benchmarks.data import REGRESSION, as_numbers, make_model, read
from defragtrees import read_forest, simplify
from defragtrees._utils.formatting import text_table
from defragtrees.estimators import estimator_for
from defragtrees.outcomes import make_outcome

HALVES = {  # by name, of the sets with 4,000 rows or more
    "first": (
        "abalone",
        "adult",
        "california_housing",
        "card_default",
        "compas",
        "credit_status",
        "higgs",
    ),
    "second": (
        "magic",
        "miniboone",
        "phone_churn",
        "remote_work",
        "spambase",
        "wine_quality",
    ),
}
KINDS = ("deep forest", "forest", "boosted")
N_TRAIN = (500, 2000)
N_NEW = 1000
MOST_RULES = 6
SHARE_TURNED = 0.3
FORMS = ("list", "standalone", "points")
NO_CHANGE = "none"
CHANGES = ("column moved", "categories swapped", "y changed", "model broken")


def changed(X, y, rules, change, rng):
    """A batch with a change; None if there is nothing to change."""
    if change == "column moved":
        name = most_used(rules, [c for c in X.columns if X[c].dtype != "category"])
        return None if name is None else (moved(X, name), y)
    if change == "categories swapped":
        name = most_used(rules, [c for c in X.columns if X[c].dtype == "category"])
        return None if name is None else (swapped(X, name), y)
    return X, turned(y, rng) if change == "y changed" else y


def most_used(rules, names):
    """The column, of these, that most conditions are on."""
    asked = Counter(
        rules.feature_names[c.feature] for rule in rules for c in rule.conditions
    )
    return max((n for n in names if asked[n]), key=asked.get, default=None)


def moved(X, name):
    """Every value half a standard deviation higher."""
    return X.assign(**{name: X[name].astype(float) + 0.5 * X[name].std()})


def swapped(X, name):
    """The two most frequent categories take each other's name."""
    first, second = X[name].value_counts().index[:2]
    names = {first: second, second: first}
    words = X[name].astype(object).map(lambda word: names.get(word, word))
    return X.assign(**{name: words.astype(X[name].dtype)})


def turned(y, rng):
    """Some classes are another one; numbers are half a deviation higher."""
    if y.dtype.kind == "f":
        return y + 0.5 * y.std()
    labels = np.unique(y)
    other = labels[(np.searchsorted(labels, y) + 1) % len(labels)]
    return np.where(rng.random(len(y)) < SHARE_TURNED, other, y)


def fit_rules(method, form, model, X, y, seed, validation):
    """Rules of a model by a method; by ours in a form."""
    settings = {"max_rules": MOST_RULES, "random_state": seed}
    if method == "defrag":
        settings["form"] = form
        return simplify(model, X, y, validation=validation, **settings).rules_
    task = "regression" if y.dtype.kind == "f" else "classification"
    make = estimator_for(method, make_outcome(task))
    return make(model, **settings).fit(X, y, validation=validation).rules_


class Broken:
    """A model that gets a column in a random order."""

    def __init__(self, forest, name, seed):
        self.forest, self.name, self.seed = forest, name, seed

    def predict(self, X):
        order = np.random.default_rng(self.seed).permutation(len(X))
        column = X[self.name].iloc[order].set_axis(X.index)
        return self.forest.predict(X.assign(**{self.name: column}))


def models_of(model):
    """The model by how its classes are named; None stands for a check without it."""
    forest = read_forest(model)
    named = {"alone": None, "model": forest}
    if forest.classes is None:
        return named
    numbers = tuple(range(len(forest.classes)))
    return {**named, "numbers": dataclasses.replace(forest, classes=numbers)}


def run_one(X, y, name, n_train, kind, seed, options):
    """Whether each check of one model raises an alarm, as rows of a table."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([seed, n_train])
    order = rng.permutation(len(X))
    train, rest = order[:n_train], order[n_train + n_train // 2 :]
    unseen = order[n_train : n_train + n_train // 2]
    is_boosted = kind == "boosted"
    table = X if is_boosted else as_numbers(X)
    model = make_model("boosted" if is_boosted else "forest", y.dtype.kind == "f", 0)
    model.set_params(random_state=seed)
    if kind == "deep forest":
        model.set_params(min_samples_leaf=1)
    model.fit(table.iloc[train], y[train])
    models = {"alone": None} if options.without_model else models_of(model)
    n_batches = max(1, min(options.batches, len(rest) // N_NEW))
    batches = np.array_split(rng.permutation(rest)[: n_batches * N_NEW], n_batches)
    lines, agreements = [], []
    forms = FORMS if options.methods == ("defrag",) else ("list",)
    cases = itertools.product(options.methods, forms, (False, True))
    for method, form, is_validated in cases:
        validation = (table.iloc[unseen], y[unseen]) if is_validated else None
        rows = table.iloc[train], y[train], seed, validation
        rules = fit_rules(method, form, model, *rows)
        key = name, kind, n_train, is_validated, method, form
        if y.dtype.kind != "f" and not options.without_model:
            every = table.iloc[np.concatenate(batches)]
            on_rows = [agreement(rules, model, X) for X in (every, table.iloc[train])]
            kept = 1 - rules.training.agreement.loss
            agreements.append((*key, *on_rows, kept))
        for b, batch in enumerate(batches):
            for change in (NO_CHANGE, *(CHANGES if b == 0 else ())):
                new = changed(table.iloc[batch], y[batch], rules, change, rng)
                if new is None:
                    continue
                for named, forest in models.items():
                    if change == "model broken":
                        used = most_used(rules, list(X.columns))
                        if forest is None or used is None:
                            continue
                        forest = Broken(forest, used, seed)
                    with_model = {} if forest is None else {"model": forest}
                    alarm = rules.check(*new, **with_model).has_moved
                    lines.append((*key, change, named, alarm))
    return lines, agreements


def agreement(rules, model, X):
    """Share of rows for which rules and model predict the same class."""
    return float((rules.predict(X) == model.predict(X)).mean())


def as_words(y):
    """Labels as words, in the same order."""
    return y if y.dtype.kind in "fOU" else np.array([f"class {label}" for label in y])


def shown(table, by, columns, title):
    """The share of alarms as a text table, with the number of checks."""
    groups = table.groupby([*by, columns], sort=False).alarm.agg(["mean", "size"])
    names = list(dict.fromkeys(table[columns]))
    rows = []
    for key, part in groups.groupby(level=list(range(len(by))), sort=False):
        part = part.reset_index(level=list(range(len(by))), drop=True)
        rates = [f"{100 * part['mean'][n]:.1f} %" if n in part.index else ""
                 for n in names]  # fmt: skip
        rows.append([*map(str, np.ravel(key)), *rates, f"{part['size'].max():,}"])
    return f"{title}\n\n{text_table([*by, *names, 'checks'], rows)}\n"


def shown_agreement(table):
    """The agreement on new rows, and how far others are from it, as a text table."""
    by = ["model", "rows", "validation"]
    table = table.assign(
        training=table.training - table.new, kept=table.kept - table.new
    )
    means = 100 * table.groupby(by, sort=False)[["new", "training", "kept"]].mean()
    rows = [[*map(str, key), f"{new:.1f}", f"{training:+.1f}", f"{kept:+.1f}"]
            for key, (new, training, kept) in means.iterrows()]  # fmt: skip
    header = [*by, "new rows", "training", "rule file"]
    return f"Agreement with the model\n\n{text_table(header, rows)}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--half", choices=HALVES, default="first")
    parser.add_argument("--sets", help="in place of a half, with commas between them")
    parser.add_argument("--fits", type=int, default=4)
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--methods", default="defrag")
    parser.add_argument("--without-model", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    options.methods = tuple(options.methods.split(","))
    sets = options.sets.split(",") if options.sets else HALVES[options.half]
    work = []
    for name in sets:
        X, y = read(Path(options.data), name)
        y = y.astype(float) if name in REGRESSION else as_words(y)
        cases = itertools.product(N_TRAIN, KINDS, range(options.fits))
        work += [delayed(run_one)(X, y, name, *case, options) for case in cases]
    parts = zip(*Parallel(n_jobs=options.jobs)(work), strict=True)
    lines, agreements = map(list, map(itertools.chain.from_iterable, parts))
    keys = ["set", "model", "rows", "validation", "method", "form"]
    if agreements:
        columns = [*keys, "new", "training", "kept"]
        print(shown_agreement(pd.DataFrame(agreements, columns=columns)), flush=True)
    table = pd.DataFrame(lines, columns=[*keys, "change", "beside", "alarm"])
    is_named = (table.beside != "alone") & ~table.set.isin(REGRESSION)
    words = table[is_named].replace({"beside": {"model": "words"}})
    table = table[table.beside != "numbers"]
    of_model = "by the classes of the model"
    for rows, is_still, by, title in (
        (table, True, ["model", "rows", "validation"], "False alarms"),
        (table, True, ["method", "form"], "False alarms"),
        (table, True, ["set", "rows"], "False alarms"),
        (table, False, ["change"], "Changes found"),
        (table, False, ["change", "rows", "validation"], "Changes found"),
        (words, True, ["model", "rows"], f"False alarms {of_model}"),
        (words, False, ["change"], f"Changes found {of_model}"),
    ):
        rows = rows[(rows.change == NO_CHANGE) == is_still]
        if len(rows):
            print(shown(rows, by, "beside", title), flush=True)
    print(f"{options.fits} fits per set, model and number of rows: {', '.join(sets)}.")


if __name__ == "__main__":
    main()
