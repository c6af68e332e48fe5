"""Ours beside the tables that others published, with their data and measures.

Run as `python -m benchmarks.quality.published --data FOLDER`; TE2Rules is measured here
if it is installed. Rows are appended to a CSV, one per table, set and measure; what it
has already is not run again. Data, models and numbers of rules are those of the papers
where they can be had; splits are not, and `DIFFERS` says what else differs.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split

from benchmarks.data import as_numbers, read
from benchmarks.quality.methods import TE2Rules
from benchmarks.quality.tables import RESULTS, markdown
from defragtrees import DefragClassifier, DefragRegressor
from defragtrees.datasets import load_table


def table_of(table, measure, names, figures):
    """A published table by set: its figures by the names of methods."""
    return {
        (table, data, measure): dict(zip(names, values, strict=True))
        for data, values in figures.items()
    }


# By table, set and measure: who published what.
PUBLISHED = {
    **table_of(
        *("FIRE", "unexplained", ("FIRE", "SIRUS", "their forest")),
        {
            "autompg": (0.241, 0.369, 0.25),
            "space_ga": (0.498, 0.514, 0.54),
            "wind": (0.331, 0.389, 0.33),
            "cpu_small": (0.349, 0.232, 0.12),
            "kin8nm": (0.559, 0.664, 0.66),
        },
    ),
    **table_of(
        *("RuleCard", "AUC", ("RuleCard", "FasterRisk", "EBM")),
        {
            "adult": (0.9138, 0.8898, 0.9244),
            "spambase": (0.9762, 0.9142, 0.9861),
            "magic": (0.8995, 0.8374, 0.9006),
            "breast_cancer": (0.9905, 0.9967, 0.9967),
        },
    ),
    **table_of(
        *("SLIM", "error", ("SLIM",)),
        {
            "adult": (0.174,),
            "breast_w": (0.034,),
            "heart": (0.165,),
            "spambase": (0.063,),
        },
    ),
    **table_of(
        *("SIRUS", "AUC", ("SIRUS",)),
        {"breast_cancer": (0.96,), "haberman": (0.66,), "diabetes": (0.80,)},
    ),
    **{
        ("TE2Rules", name, measure): {}
        for name in ("compas", "adult")
        for measure in ("agreement", "of positives", "of negatives", "conditions")
    },
}
SOURCES = {
    "FIRE": "Liu and Mazumder, KDD 2023, supplement",
    "RuleCard": "RuleCard, 2025",
    "SLIM": "Ustun and Rudin, Machine Learning 2016",
    "SIRUS": "Huijzer et al., Journal of Open Source Software 2023",
    "TE2Rules": "Lal et al., 2022; measured here",
}
DIFFERS = {
    "FIRE": "15 rules of a forest of depth 4, splits of 70 to 30",
    "RuleCard": "at most 15 integer points, splits of 80 to 20; it has no limit",
    "SLIM": "as many integer points as its terms, of a boosted model; folds of ten",
    "SIRUS": "ten rules of a forest; folds of ten; its cancer set may be another",
    "TE2Rules": "ten points of boosting with 100 trees of depth 3; half of at most"
    " 8,000 rows to train on; agreement with the model on the others",
}
TERMS = {"adult": 18, "breast_w": 2, "heart": 3, "spambase": 34}
N_FOLDS, N_SPLITS, MOST_ROWS = 10, 3, 8000


def load(folder, name):
    """X, and y as codes of classes or numbers; None where it is not at hand."""
    if name == "breast_cancer":
        return load_breast_cancer(return_X_y=True, as_frame=True)
    if name == "heart":
        X, y = load_table("heart")
        words = X.select_dtypes(exclude="number").columns
        return X.astype(dict.fromkeys(words, "category")), np.unique(
            y, return_inverse=True
        )[1]
    for place in (name, f"numbers/{name}"):
        if (Path(folder) / f"{place}.csv.gz").exists():
            return read(folder, place)
    return None


def fire(X, y, name, options):
    """Unexplained variance of 15 rules by what they learn."""
    X, found = as_numbers(X), []
    for seed in range(N_SPLITS):
        A, B, y_A, y_B = train_test_split(X, y, test_size=0.3, random_state=seed)
        forest = RandomForestRegressor(max_depth=4, random_state=seed).fit(A, y_A)
        made = {"forest": forest}
        for target in ("auto", "model", "labels"):
            settings = {"form": "points", "target": target, "max_rules": 15}
            made[f"points, {target}"] = DefragRegressor(forest, **settings).fit(A, y_A)
        found.append(
            {
                ("unexplained", who): np.mean((y_B - one.predict(B)) ** 2) / np.var(y_B)
                for who, one in made.items()
            }
        )
    return pd.DataFrame(found).mean()


def rule_card(X, y, name, options):
    """AUC of integer points of a boosted model, 80/20."""
    found = []
    for seed in range(N_SPLITS):
        A, B, y_A, y_B = train_test_split(
            X, y, test_size=0.2, random_state=seed, stratify=y
        )
        model = boosted(A, y_A, seed)
        card = DefragClassifier(model, form="points", points="integer", max_rules=15)
        made = {"boosting": model, "integer points": card.fit(A, y_A)}
        found.append(
            {
                ("AUC", who): roc_auc_score(y_B, one.predict_proba(B)[:, 1])
                for who, one in made.items()
            }
        )
    return pd.DataFrame(found).mean()


def slim(X, y, name, options):
    """Error of integer points with as many terms."""
    settings = {"form": "points", "points": "integer", "max_conditions": 1}
    settings["max_rules"] = TERMS[name] + 1  # the base is one

    def errors(train, test, seed):
        model = boosted(X.iloc[train], y[train], seed)
        card = DefragClassifier(model, **settings).fit(X.iloc[train], y[train])
        return {
            ("error", "integer points"): np.mean(card.predict(X.iloc[test]) != y[test])
        }

    return over_folds(errors, X, y, options.folds)


def sirus(X, y, name, options):
    """AUC of ten rules of a forest."""
    X, y = as_numbers(X), np.asarray(y)

    def aucs(train, test, seed):
        forest = RandomForestClassifier(min_samples_leaf=5, random_state=seed)
        forest.fit(X.iloc[train], y[train])
        found = {}
        for form in ("list", "points"):
            made = DefragClassifier(forest, form=form, max_rules=10)
            made.fit(X.iloc[train], y[train])
            likely = made.predict_proba(X.iloc[test])[:, 1]
            found["AUC", form] = roc_auc_score(y[test], likely)
        return found

    return over_folds(aucs, X, y, options.folds)


def te2rules(X, y, name, options):
    """Agreement with boosting, of all rows, of positive and of negative ones."""
    X = as_numbers(X).iloc[:MOST_ROWS]
    X, y = X.fillna(X.median()), np.asarray(y)[:MOST_ROWS]
    A, B, y_A, _ = train_test_split(X, y, test_size=0.5, random_state=0)
    model = GradientBoostingClassifier(max_depth=3, random_state=0).fit(A, y_A)
    points = DefragClassifier(model, form="points", target="model", max_rules=10)
    made = {"points, model": lambda: points.fit(A, y_A)}
    if find_spec("te2rules") is not None:
        rules = TE2Rules(None)
        rules.n_stages = None
        made["TE2Rules"] = lambda: rules.fit(A, y_A, model) or rules
    true, found = model.predict(B), {}
    for who, fit in made.items():
        begin = time.process_time()
        one = fit()
        seconds = time.process_time() - begin
        is_same = one.predict(B) == true
        size = one.n_conditions if who == "TE2Rules" else one.rules_.n_conditions
        figures = is_same.mean(), is_same[true == 1].mean(), is_same[true == 0].mean()
        measures = (
            "agreement",
            "of positives",
            "of negatives",
            "conditions",
            "seconds",
        )
        for measure, value in zip(measures, (*figures, size, seconds), strict=True):
            found[measure, who] = value
    return pd.Series(found)


def boosted(X, y, seed):
    model = HistGradientBoostingClassifier(
        random_state=seed, categorical_features="from_dtype"
    )
    return model.fit(X, y)


def over_folds(measure, X, y, n_folds):
    """Mean of the first folds of ten."""
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y)
    pairs = zip(folds, range(n_folds), strict=False)
    return pd.DataFrame([measure(*fold, k) for fold, k in pairs]).mean()


RUN = {"FIRE": fire, "RuleCard": rule_card, "SLIM": slim, "SIRUS": sirus}
RUN["TE2Rules"] = te2rules


def report(rows):
    """The tables as Markdown."""
    parts = ["## Beside published tables"]
    for table, source in SOURCES.items():
        ours = rows[rows.table == table]
        keys = [key for key in PUBLISHED if key[0] == table]
        keys += map(tuple, ours[["table", "data", "measure"]].to_numpy())
        names, lines = [], {}
        for key in dict.fromkeys(keys):
            mine = ours[(ours.data == key[1]) & (ours.measure == key[2])]
            lines[key] = PUBLISHED.get(key, {}) | dict(
                zip(mine.who, mine.value, strict=True)
            )
            names += [name for name in lines[key] if name not in names]
        cells = [
            [*key[1:], *(f"{line[n]:.3g}" if n in line else "" for n in names)]
            for key, line in lines.items()
            if line
        ]
        if ours.empty:
            continue
        parts += [
            f"**{table}** ({source}). Ours: {DIFFERS[table]}; "
            f"means of {' or '.join(f'{n:.0f}' for n in sorted({*ours.splits}))}.",
            markdown(["set", "measure", *names], cells),
        ]
    run = set(zip(rows.table, rows.data, strict=True))
    missing = [
        f"{table} {data}" for table, data, _ in PUBLISHED if (table, data) not in run
    ]
    if missing:
        parts.append(f"Not run: {', '.join(dict.fromkeys(missing))}.")
    return "\n\n".join(parts) + "\n"


def main():
    """Measure what the file does not have, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="folder with one file per set")
    parser.add_argument("--out", default=RESULTS.with_name("published.csv"), type=Path)
    parser.add_argument("--tables", nargs="+", default=list(RUN))
    parser.add_argument("--only", nargs="+", help="sets")
    parser.add_argument(
        "--folds", type=int, default=N_FOLDS, help="of ten, for each set"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    columns = ["table", "data", "measure", "who", "value", "splits"]
    n_splits = {"FIRE": N_SPLITS, "RuleCard": N_SPLITS, "TE2Rules": 1}
    rows = pd.DataFrame(columns=columns)
    if options.out.exists():
        rows = pd.read_csv(options.out)
    for table, name in dict.fromkeys(key[:2] for key in PUBLISHED):
        is_done = ((rows.table == table) & (rows.data == name)).any()
        is_left_out = options.only is not None and name not in options.only
        if table not in options.tables or is_done or is_left_out:
            continue
        given = load(options.data, name)
        if given is None:
            print(f"{table}, {name}: the data is not at hand.")
            continue
        found = RUN[table](*given, name, options)
        n = n_splits.get(table, options.folds)
        new = [[table, name, *key, f"{value:.5g}", n] for key, value in found.items()]
        rows = pd.concat([rows, pd.DataFrame(new, columns=columns)])
        rows.to_csv(options.out, index=False)
        print(f"{table}, {name}")
        rows = pd.read_csv(options.out)
    text = report(rows)
    options.out.with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
