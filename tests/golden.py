"""What the library writes, as plain files to compare before and after a change.

Run as `python -m tests.golden SRC OUT [--only GROUP,...]` on the `src` folder of
two checkouts, and compare the two folders with `diff -r`. Every file is the same in
each run, so that a difference comes from the change. The groups are:

- fits: seven settings on four tables, with rule file, text, explanations, exports and
  predictions on rows with missing values;
- sources: Parquet, Dask, blocks, more than 100,000 rows, weights and the like;
- baselines: the other methods;
- kinds: counts, survival and quantiles; checks of new rows, segments, alternatives;
- cli: transcripts of every command;
- reports: HTML pages without their date;
- plots: pictures as SVG.
"""

import os

if __name__ == "__main__":  # before numpy is imported
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"
    os.environ["COLUMNS"] = "100"  # how wide the screen is
    os.environ["MPLBACKEND"] = "agg"

import argparse
import csv
import dataclasses
import datetime
import hashlib
import inspect
import io
import pickle
import re
import shutil
import sys
import tempfile
import time
import warnings
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

TABLES = ("heart", "credit", "energy", "homes")
NUMERIC = ("energy", "homes")  # whose y is a number
MOST_ROWS = 1500
CASES = {
    "list": {},
    "list5": {"max_rules": 5, "max_conditions": 2},
    "standalone": {"form": "standalone", "max_rules": 6},
    "points": {"form": "points", "max_rules": 6},
    "integer": {"form": "points", "points": "integer", "max_rules": 6},
    "labels": {"target": "labels", "max_rules": 5},
    "paper": {"method": "paper", "n_restarts": 3},
}
TEXT_FORMATS = ("csv", "html", "latex", "markdown", "pmml", "python", "sql")
ANSWERS = (
    "predict",
    "predict_proba",
    "decision_function",
    "apply",
    "covers",
    "totals",
    "predict_interval",
    "rate_interval",
)


def write(path, text):
    """Write a text, with the same line ends and encoding everywhere."""
    path.write_text(text, encoding="utf-8", newline="\n")


def write_all(rules, stem):
    """Write the rule file, the text and the exports of rules."""
    rules.save(f"{stem}.json")
    write(Path(f"{stem}.txt"), f"{rules}\n")
    for name in TEXT_FORMATS:
        write(Path(f"{stem}.{name}"), exported(rules, name))
    write(Path(f"{stem}.onnx"), exported(rules, "onnx", onnx_text))
    write(Path(f"{stem}.excel"), exported(rules, "excel", excel_text))


def exported(rules, name, as_text=str):
    """The text of an export, or of the error where rules have no such export."""
    try:
        return as_text(rules.export(name))
    except ValueError as error:
        return f"{type(error).__name__}: {error}\n"


def onnx_text(model):
    """The kinds of the nodes, and a digest of all bytes."""
    nodes = "\n".join(node.op_type for node in model.graph.node)
    return f"{digest(model.SerializeToString(deterministic=True))}\n{nodes}\n"


def excel_text(book):
    """The cells of a workbook."""
    rows = [f"{sheet.title}: {row}" for sheet in book for row in sheet.values]
    return "\n".join(rows) + "\n"


def digest(content):
    return hashlib.sha256(content).hexdigest()[:16]


def write_answers(estimator, rows, path):
    """Write what an estimator and its rules answer for rows, floats to the last bit.

    A method that is not there, or that raises for this kind of rules, has no column.
    """
    columns = {}
    for owner, model in (("estimator", estimator), ("rules", estimator.rules_)):
        for name in ANSWERS:
            try:
                values = np.asarray(getattr(model, name)(rows))
            except (AttributeError, TypeError, ValueError):
                continue
            for i, column in enumerate(values.reshape(len(rows), -1).T):
                columns[f"{owner}.{name}.{i}"] = [repr(v) for v in column.tolist()]
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(columns)
        table.writerows(zip(*columns.values(), strict=True))


def with_missing(X, n_rows=60, share=0.15, seed=0):
    """The first rows of a table with some cells emptied, the same ones in each run."""
    rows = X[:n_rows].copy()
    holes = np.random.default_rng(seed).random(rows.shape) < share
    for i, name in enumerate(rows.columns):
        if rows[name].dtype.kind in "iuf":
            rows[name] = rows[name].astype(float).mask(holes[:, i], np.nan)
        else:
            rows[name] = rows[name].astype(object).mask(holes[:, i], None)
    return rows


def one_hot():
    words = make_column_selector(dtype_exclude="number")
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_column_transformer((encoder, words), remainder="passthrough")


def table_and_model(name, n_trees=40, n_rows=MOST_ROWS):
    """A bundled table, and a forest on it in a pipeline; boosted trees if it fails."""
    from defragtrees.datasets import load_table

    X, y = load_table(name)
    X, y = X[:n_rows], y[:n_rows]
    if name in NUMERIC:
        kinds = (RandomForestRegressor, HistGradientBoostingRegressor)
    else:
        kinds = (RandomForestClassifier, HistGradientBoostingClassifier)
    trees = kinds[0](n_trees, min_samples_leaf=5, random_state=0)
    try:
        return X, y, make_pipeline(one_hot(), trees).fit(X, y)
    except ValueError:  # missing values, before scikit-learn 1.4
        trees = kinds[1](max_iter=n_trees, random_state=0)
        return X, y, make_pipeline(one_hot(), trees).fit(X, y)


def write_fits(folder):
    """Seven settings on four tables."""
    for name in TABLES:
        X, y, model = table_and_model(name)
        rows = with_missing(X)
        for case, settings in CASES.items():
            estimator = fitted(model, X, y, random_state=0, **settings)
            rules, stem = estimator.rules_, folder / f"{name}-{case}"
            write_all(rules, stem)
            lines = [*rules.explain(X[:3]), *rules.explain(rows[:10])]
            write(Path(f"{stem}.explain"), "\n".join(lines) + "\n")
            write_answers(estimator, rows, Path(f"{stem}.predictions"))
            if case == "paper":
                posterior = estimator.predict_posterior(X[:20])
                write(Path(f"{stem}.posterior"), repr(posterior.tolist()) + "\n")


def visits(n_rows, seed):
    """Visits to a shop, whether something was bought, and for how much."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "minutes": rng.gamma(2.0, 4.0, n_rows).round(1),
            "pages": rng.poisson(6.0, n_rows),
            "age": rng.integers(18, 80, n_rows).astype(float),
            "basket": rng.lognormal(3.0, 1.0, n_rows).round(2),
            "way": rng.choice(["advert", "letter", "search", "link"], n_rows),
        }
    )
    frame.loc[rng.random(n_rows) < 0.05, "age"] = np.nan
    frame["way"] = frame["way"].astype("category")
    is_keen = (frame["minutes"] > 6) & (frame["pages"] > 4) | (frame["basket"] > 60)
    score = np.where(is_keen, 2.0, -2.0) + (frame["age"].fillna(50) - 50) / 15
    score = score + 1.5 * (frame["way"] == "letter")
    bought = rng.random(n_rows) < 1 / (1 + np.exp(-score))
    spent = (frame["basket"] * np.where(is_keen, 1.5, 0.5)).round(2)
    return frame, np.where(bought, "yes", "no"), spent.to_numpy()


def shop_models():
    """Boosted trees on visits: one for the class, one for the number."""
    X, bought, spent = visits(4000, seed=1)
    settings = {"max_iter": 20, "max_leaf_nodes": 8, "random_state": 0}
    settings["categorical_features"] = "from_dtype"
    classes = HistGradientBoostingClassifier(**settings).fit(X, bought)
    return classes, HistGradientBoostingRegressor(**settings).fit(X, spent)


def write_sources(folder):
    """Rows from elsewhere, many rows, other models and other settings."""
    write_settings(folder)
    write_many_rows(folder)
    write_models(folder)


def write_one(folder, name, rows, *arguments, **settings):
    """Fit once, and write rules, explanations and answers for rows."""
    estimator = fitted(*arguments, random_state=0, **settings)
    write_estimator(folder, name, estimator, rows)
    return estimator


def write_estimator(folder, name, estimator, rows):
    """Write the rule file, the texts and the answers of a fitted estimator."""
    rules = estimator.rules_
    rules.save(folder / f"{name}.json")
    text = "\n".join((str(rules), *rules.explain(rows[:5]), estimator.summary()))
    write(folder / f"{name}.txt", f"{text}\n")
    write_answers(estimator, rows, folder / f"{name}.predictions")


def write_settings(folder):
    """Settings of a fit on few rows."""
    classes, numbers = shop_models()
    X, bought, spent = visits(3000, seed=2)
    weight = np.random.default_rng(3).gamma(2.0, 0.5, len(X))
    rows = with_missing(X)
    cases = {
        "weights": {"sample_weight": weight},
        "labels": {"target": "labels"},
        "monotone": {"monotone": {"basket": 1, "age": 1}, "max_rules": 5},
        "limits": {"min_rows": 100, "max_total_conditions": 5, "must_use": ["pages"]},
        "groups": {"groups": {"who": ["age", "way"], "visit": ["minutes", "pages"]}},
        "exclude": {"exclude": ["basket"], "max_conditions": 2},
        "costs": {"costs": {("yes", "no"): 5.0}, "pos_label": "no", "max_rules": 4},
        "threshold": {"threshold": 0.2, "criterion": "error"},
        "balanced": {"class_weight": "balanced", "criterion": "probability"},
        "stability": {"stability": 3, "max_rules": 4},
        "words": {
            "feature_labels": {"minutes": "Time [min]"},
            "class_labels": {"yes": "buys", "no": "leaves"},
            "max_rules": 4,
        },
        "monotone-points": {"form": "points", "monotone": {"age": 1}, "max_rules": 5},
        "weights-standalone": {"form": "standalone", "sample_weight": weight},
        "exact": {"shorten_thresholds": False, "brevity": 0.003},
        "em": {"method": "paper", "inference": "em", "n_restarts": 2, "max_rules": 6},
        "gentle": {"method": "paper", "e_step": "gentle", "n_restarts": 2},
    }
    for name, settings in cases.items():
        write_one(folder, f"few-{name}", rows, classes, X, bought, **settings)
    for name in ("weights", "labels", "monotone", "limits", "gentle"):
        settings = cases[name]
        write_one(folder, f"number-{name}", rows, numbers, X, spent, **settings)
    for form in ("list", "points"):
        rules = write_one(
            folder, f"number-{form}", rows, numbers, X, spent, form=form, max_rules=5
        ).rules_
        fresh, _, spent_there = visits(500, seed=4)
        combined = rules._form
        known = combined.rows_to_calibrate(rules.covers(fresh), spent_there)
        calibrated = dataclasses.replace(rules, residuals=combined.calibrated(known))
        calibrated.save(folder / f"number-{form}-calibrated.json")
        intervals = calibrated.predict_interval(fresh[:20]).tolist()
        write(folder / f"number-{form}-intervals.txt", f"{intervals}\n")


def write_many_rows(folder):
    """The same fit on Parquet, Dask, blocks and more than 100,000 rows."""
    import dask
    import dask.dataframe as dd

    classes, numbers = shop_models()
    X, bought, spent = visits(12_000, seed=5)
    rows = with_missing(X)
    few = {"max_rules": 5}
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "rows.parquet"
        X.assign(bought=bought, spent=spent).to_parquet(path, row_group_size=5000)
        for form in ("list", "standalone", "points"):
            name = f"parquet-{form}"
            write_one(folder, name, rows, classes, path, "bought", form=form, **few)
        write_one(folder, "parquet-number", rows, numbers, path, "spent", **few)
        write_one(
            folder,
            "parquet-paper",
            rows,
            classes,
            path,
            "bought",
            method="paper",
            n_restarts=2,
        )
    blocks = ((X[i : i + 4000], bought[i : i + 4000]) for i in range(0, len(X), 4000))
    write_one(folder, "blocks", rows, classes, blocks, **few)
    with dask.config.set(scheduler="synchronous"):
        table = dd.from_pandas(X.assign(bought=bought, spent=spent), npartitions=3)
        frame = table[list(X.columns)]
        estimator = write_one(
            folder, "dask", rows, classes, frame, table["bought"], **few
        )
        answers = estimator.predict(frame).compute().tolist()
        write(folder / "dask-answers.txt", f"{digest(repr(answers).encode())}\n")
        write_one(folder, "dask-number", rows, numbers, frame, table["spent"], **few)
    X, bought, spent = visits(120_000, seed=6)
    write_one(folder, "many", rows, classes, X, bought, **few)
    write_one(folder, "many-points", rows, classes, X, bought, form="points", **few)
    write_one(folder, "many-number", rows, numbers, X, spent, **few)


def write_models(folder):
    """Models of other libraries, more than two classes, and a model asked by rows."""
    import lightgbm
    import xgboost
    from sklearn.datasets import load_iris
    from sklearn.linear_model import LogisticRegression

    X, y = load_iris(return_X_y=True, as_frame=True)
    rows = with_missing(X)
    forest = RandomForestClassifier(20, random_state=0).fit(X, y)
    for form in ("list", "standalone", "points"):
        write_one(folder, f"iris-{form}", rows, forest, X, y, form=form, max_rules=5)
    boosted = xgboost.XGBClassifier(n_estimators=20, max_depth=3, n_jobs=1).fit(X, y)
    write_one(folder, "iris-xgboost", rows, boosted, X, y, max_rules=4)
    boosted = lightgbm.LGBMClassifier(n_estimators=20, n_jobs=1, verbose=-1).fit(X, y)
    write_one(folder, "iris-lightgbm", rows, boosted, X, y, max_rules=4)
    line = LogisticRegression(max_iter=1000).fit(X, y)
    write_one(folder, "iris-line", rows, line, X, y, max_rules=4)
    write_one(
        folder, "iris-function", rows,
        line.predict, X, y, max_rules=4, max_calls=1000,
    )  # fmt: skip


def fitted(model, X, *rows, stability=0, **settings):
    """The fitted estimator; simplify has only a part of its settings."""
    from defragtrees import read_forest, simplify
    from defragtrees.estimators import estimator_for

    if settings.keys() <= inspect.signature(simplify).parameters.keys():
        simple = simplify(model, X, *rows, **settings)
    else:
        names = ("sample_weight", "validation")
        given = {name: settings.pop(name) for name in names if name in settings}
        method = settings.pop("method", "defrag")
        kind = estimator_for(method, read_forest(model).outcome)
        simple = kind(model, **settings).fit(X, *rows, **given)
    if stability:
        simple.stability(X, *rows, n=stability)
    return simple


def write_baselines(folder):
    """The other methods, for classes and for numbers."""
    import defragtrees

    kinds = ("DistilledTree", "BornAgainTree", "InTrees", "NodeHarvest")
    few = {"BornAgainTree": {"max_rules": 5, "n_smeared": 10, "n_folds": 3}}
    few |= {"NodeHarvest": {"n_nodes": 200}, "InTrees": {"max_rules": 8}}
    for name in ("heart", "energy"):
        X, y, model = table_and_model(name, n_trees=15, n_rows=400)
        rows = with_missing(X)
        outcome = "Regressor" if name in NUMERIC else "Classifier"
        for kind in kinds:
            method = getattr(defragtrees.baselines, f"{kind}{outcome}")
            estimator = method(model, random_state=0, **few.get(kind, {})).fit(X, y)
            write_all(estimator.rules_, folder / f"{name}-{kind}")
            write_estimator(folder, f"{name}-{kind}", estimator, rows)


def write_kinds(folder):
    """Counts, survival and quantiles, in each form that they have."""
    import defragtrees

    X, bought, spent = visits(3000, seed=7)
    fresh, bought_now, spent_now = visits(400, seed=8)
    rng = np.random.default_rng(9)
    exposure = rng.uniform(0.2, 2.0, len(X))
    events = rng.poisson(exposure * (0.2 + (X["minutes"] > 9) + X["pages"] / 20))
    claims = pd.DataFrame({"events": events, "exposure": exposure})
    time = rng.exponential(10.0 / (1 + (X["minutes"] > 9) + X["pages"] / 6)).round(1)
    deaths = pd.DataFrame({"event": time < 8, "time": np.minimum(time, 8.0)})
    numbers, words = X.drop(columns="way"), one_hot()
    trees = HistGradientBoostingRegressor(max_iter=20, random_state=0)
    rates = make_pipeline(words, trees).fit(
        X, events / exposure, histgradientboostingregressor__sample_weight=exposure
    )
    risks = HistGradientBoostingRegressor(max_iter=20, random_state=0)
    risks.fit(numbers, deaths["event"] / (1 + deaths["time"]))
    high = HistGradientBoostingRegressor(loss="quantile", quantile=0.9, max_iter=20)
    high.fit(numbers, spent)
    classes, amounts = shop_models()
    cases = {
        "counts": (rates, X, claims),
        "survival": (risks, numbers, deaths),
        "quantile": (high, numbers, spent),
        "class": (classes, X, bought),
        "number": (amounts, X, spent),
    }
    now = {"counts": claims[:400], "survival": deaths[:400], "class": bought_now}
    for kind, (model, table, y) in cases.items():
        fresh_rows = fresh[list(table.columns)]
        rows = with_missing(fresh_rows)
        for form in ("list", "standalone", "points"):
            if (kind, form) == ("quantile", "points"):
                continue
            stem = folder / f"{kind}-{form}"
            estimator = write_one(
                *(folder, stem.name, rows, model, table, y),
                form=form, max_rules=5,
                validation=(fresh_rows, now.get(kind, spent_now)),
            )  # fmt: skip
            rules, y_now = estimator.rules_, now.get(kind, spent_now)
            write_all(rules, stem)
            facts = (
                *(estimator.advice_, rules.evaluate(fresh_rows, y_now)),
                rules.to_frame().to_dict("records"),
                rules.table(details=True),
                rules.check(fresh_rows, y_now),
                defragtrees.diff(rules, rules.drop(1), fresh_rows, y_now),
                rules.refit(fresh_rows, y_now),
            )
            write(Path(f"{stem}.facts"), "\n".join(map(str, facts)) + "\n")
            check = rules.check(fresh_rows, y_now).to_dict()
            write(Path(f"{stem}.check"), masked(repr(check)) + "\n")
        if kind in ("class", "number"):
            segments = defragtrees.explain_errors(model, table, y, random_state=0)
            write(folder / f"{kind}.segments", f"{segments}\n{segments.to_dict()}\n")
            estimator = fitted(model, table, y, max_rules=4, random_state=0)
            others = estimator.alternatives(table, y)
            write(folder / f"{kind}.alternatives", f"{others}\n")


HEART = ("heart.pkl", "heart.csv", "--trust", "pickle", "--target", "disease")
ENERGY = ("energy.json", "energy.csv", "--target", "load")
COMMANDS = {
    "simplify": ("simplify", *HEART, "--max-rules", "5", "--out", "rules.json"),
    "simplify-json": ("simplify", *HEART, "--json", "--test-size", "0"),
    "simplify-plain": ("simplify", "heart.pkl", "heart.csv", "--trust", "pickle"),
    "simplify-untrusted": ("simplify", "heart.pkl", "heart.csv"),
    "simplify-parquet": (
        *("simplify", "heart.pkl", "heart.parquet", "--trust", "pickle"),
        *("--target", "disease", "--max-rules", "4", "--max-conditions", "2"),
    ),
    "simplify-points": (
        *("simplify", *HEART, "--form", "points", "--points", "integer"),
        *("--max-rules", "6", "--out", "points.json"),
    ),
    "simplify-standalone": (
        *("simplify", *HEART, "--form", "standalone", "--max-rules", "5"),
        *("--out", "standalone.json", "--seed", "1"),
    ),
    "simplify-paper": ("simplify", *HEART, "--method", "paper"),
    "simplify-distilled": ("simplify", *HEART, "--method", "distilled"),
    "simplify-options": (
        *("simplify", *HEART, "--costs", "ill:healthy=5", "--min-rows", "20"),
        *("--exclude", "thallium scan", "--must-use", "age"),
        *("--stability", "2", "--pos-label", "ill"),
    ),
    "simplify-number": ("simplify", *ENERGY, "--out", "energy-rules.json"),
    "simplify-monotone": ("simplify", *ENERGY, "--monotone", "overall_height=1"),
    "simplify-report": (
        *("simplify", *ENERGY, "--max-rules", "3", "--report", "simplify.html"),
    ),
    "simplify-no-file": ("simplify", "none.json", "heart.csv"),
    "simplify-bad-column": ("simplify", *ENERGY, "--exclude", "roof"),
    "simplify-bad-option": ("simplify", *ENERGY, "--max-rule", "3"),
    "path": ("path", *HEART, "--max-rules", "5", "--out", "path.json"),
    "path-number": ("path", *ENERGY, "--max-rules", "4", "--choose-by", "rmse"),
    "path-json": ("path", *ENERGY, "--max-rules", "4", "--json"),
    "compare": (
        *("compare", *HEART, "--methods", "defrag,distilled,intrees"),
        *("--max-rules", "3,5"),
    ),
    "compare-json": (
        *("compare", *ENERGY, "--methods", "defrag,distilled", "--json"),
        *("--folds", "2"),
    ),
    "predict": ("predict", "rules.json", "holes.csv", "--probabilities"),
    "predict-json": ("predict", "energy-rules.json", "energy.csv", "--json"),
    "predict-file": (
        *("predict", "points.json", "heart.parquet", "--id", "age,sex"),
        *("--out", "answers.csv"),
    ),
    "predict-other": ("predict", "rules.json", "energy.csv"),
    "explain": ("explain", "rules.json", "holes.csv", "--rows", "1-8,20"),
    "explain-points": ("explain", "points.json", "holes.csv", "--rows", "1-3"),
    "explain-standalone": ("explain", "standalone.json", "heart.csv", "--rows", "1-3"),
    "explain-json": (
        "explain",
        "points.json",
        "heart.csv",
        "--rows",
        "2",
        "--format",
        "json",
    ),
    "export-sql": (
        *("export", "rules.json", "--format", "sql", "--dialect", "postgres"),
        *("--table", "patients", "--probabilities"),
    ),
    "export-points": ("export", "points.json", "--format", "sql", "--table", "t"),
    "export-python": ("export", "energy-rules.json", "--format", "python"),
    "export-pmml": ("export", "points.json", "--format", "pmml", "--out", "p.pmml"),
    "edit-labels": (*("edit", "rules.json", "--class-labels", "a,b", "--no-profile"),),
    "export-wrong": ("export", "heart.csv", "--format", "text"),
    "edit": ("edit", "rules.json", "--drop", "2", "--out", "edited.json"),
    "edit-condition": (
        *("edit", "energy-rules.json", "--condition", "1", "glazing_area > 0.2"),
        *("--prediction", "2", "20", "--out", "energy-edited.json"),
    ),
    "edit-move": ("edit", "rules.json", "--move", "2", "1"),
    "edit-points": ("edit", "points.json", "--prediction", "1", "6"),
    "edit-wrong": ("edit", "rules.json", "--drop", "30"),
    "refit": (
        *("refit", "edited.json", "heart.csv", "--target", "disease"),
        *("--out", "refitted.json"),
    ),
    "refit-points": ("refit", "points.json", "heart.csv", "--target", "disease"),
    "refit-json": (
        *("refit", "energy-edited.json", "energy.csv", "--target", "load"),
        *("--keep-predictions", "--json"),
    ),
    "diff": ("diff", "rules.json", "refitted.json", "heart.csv", "--target", "disease"),
    "diff-json": ("diff", "energy-rules.json", "energy-edited.json", "--json"),
    "diff-points": ("diff", "rules.json", "points.json"),
    "watch": ("watch", "rules.json", "heart.csv", "--target", "disease"),
    "watch-moved": (
        *("watch", "energy-rules.json", "moved.csv", "--target", "load"),
        *("--model", "energy.json", "--html", "watch.html"),
    ),
    "watch-json": ("watch", "points.json", "heart.csv", "--json"),
    "report": ("report", *HEART, "--max-rules", "4", "--out", "report.html"),
    "report-groups": (
        *("report", *ENERGY, "--max-rules", "3", "--by-group", "orientation"),
        *("--title", "Heating", "--out", "groups.html"),
    ),
    "demo": ("demo",),
    "version": ("--version",),
    "unknown": ("simplfy",),
}


def write_cli(folder):
    """Transcripts of the commands, and the files that they write."""
    with tempfile.TemporaryDirectory() as place, chdir(place):
        inputs = set(make_inputs())
        for name, arguments in COMMANDS.items():
            write(folder / f"{name}.out", transcript(arguments))
        for path in sorted(set(Path().iterdir()) - inputs):
            write(folder / path.name, masked(path.read_text(encoding="utf-8")))


def make_inputs():
    """Tables and models in this folder; gives their paths."""
    import xgboost

    X, y, model = table_and_model("heart", n_trees=15)
    Path("heart.pkl").write_bytes(pickle.dumps(model))
    heart = X.assign(disease=y)
    heart.to_csv("heart.csv", index=False)
    heart.to_parquet("heart.parquet")
    with_missing(heart).to_csv("holes.csv", index=False)
    X, y, _ = table_and_model("energy", n_trees=1)
    model = xgboost.XGBRegressor(n_estimators=20, max_depth=4, n_jobs=1).fit(X, y)
    model.save_model("energy.json")
    energy = X.assign(load=y)
    energy.to_csv("energy.csv", index=False)
    moved = energy.assign(overall_height=7.0, load=energy["load"] + 5)
    moved[::2].to_csv("moved.csv", index=False)
    return Path().iterdir()


def transcript(arguments):
    """What a command prints, and its exit code."""
    from defragtrees.cli import main

    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        code = main(list(arguments))
    printed = []
    for stream in streams:
        stream.flush()
        printed.append(masked(stream.buffer.getvalue().decode("utf-8")))
    line = " ".join(repr(word) if " " in word else word for word in arguments)
    return "\n".join(
        (
            f"$ defragtrees {line}",
            printed[0],
            "--- stderr",
            printed[1],
            f"exit {code}\n",
        )
    )


def masked(text):
    """A text without what differs from run to run: the date, and how long it took."""
    text = text.replace(datetime.date.today().isoformat(), "DATE")
    # A library of scripts that the pages carry, of several million characters.
    text = re.sub(r"<script>\s*/\*\*.{500000,}?</script>", "SCRIPT", text, flags=re.S)
    text = re.sub(r'"seconds": [\d.e-]+', '"seconds": TIME', text)
    text = re.sub(r"found in [\d.]+ s\b", "found in TIME s", text)
    lines, is_timed = [], False
    for line in text.splitlines(keepends=True):
        if is_timed:  # a row of a table whose last column is the time
            line = re.sub(r"\s+[\d.]+\n$", " TIME\n", line)
        is_timed = line.startswith("method ") or is_timed
        lines.append(line)
    return "".join(lines)


def write_reports(folder):
    """A page about a list, one about a scorecard and one about a number."""
    from defragtrees import write_report

    cases = {
        "list": ("heart", {"max_rules": 5}),
        "scorecard": (
            "heart",
            {"form": "points", "points": "integer", "max_rules": 6},
        ),
        "number": ("energy", {"form": "standalone", "max_rules": 4}),
    }
    for case, (name, settings) in cases.items():
        X, y, model = table_and_model(name, n_trees=15)
        simple = fitted(model, X[::2], y[::2], random_state=0, **settings)
        path = write_report(folder / f"{case}.html", simple, X[1::2], y[1::2])
        write(path, masked(path.read_text(encoding="utf-8")))


def write_plots(folder):
    """Each picture, of every form that it draws."""
    from defragtrees import compare, plots, simplify_path

    for name in ("heart", "energy"):
        X, y, model = table_and_model(name, n_trees=8, n_rows=300)
        found = {
            form: fitted(model, X, y, random_state=0, **CASES[form])
            for form in ("list5", "standalone", "points", "integer")
        }
        for form, estimator in found.items():
            stem = f"{name}-{form}"
            for kind in ("risks", "scorecard"):
                draw(folder, f"{stem}-{kind}", getattr(plots, kind), estimator.rules_)
            for kind in (
                "calibration",
                "flow",
                "score_risk",
            ):
                draw(
                    folder,
                    f"{stem}-{kind}",
                    getattr(plots, kind),
                    estimator.rules_,
                    X,
                    y,
                )
        path = simplify_path(model, X, y, max_rules=4, random_state=0)
        draw(folder, f"{name}-trade_off", plots.trade_off, path)
        methods = ("defrag", "distilled")
        compared = compare(model, X, y, methods=methods, budgets=(2, 4), random_state=0)
        draw(folder, f"{name}-comparison", plots.comparison, compared)


def draw(folder, name, picture, *arguments):
    """Write a picture as SVG, or the error where there is no such picture."""
    import matplotlib.pyplot as plt

    try:
        picture(*arguments)
        figure = plt.gcf()
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    except (TypeError, ValueError) as error:
        write(folder / f"{name}.txt", f"{type(error).__name__}: {error}\n")
    plt.close("all")


GROUPS = {
    "fits": write_fits,
    "sources": write_sources,
    "baselines": write_baselines,
    "kinds": write_kinds,
    "cli": write_cli,
    "reports": write_reports,
    "plots": write_plots,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("src", type=Path, help="the src folder of a checkout")
    parser.add_argument("out", type=Path, help="the folder to write to")
    parser.add_argument("--only", default=",".join(GROUPS), metavar="GROUP,...")
    arguments = parser.parse_args()
    src = arguments.src.resolve()
    sys.path.insert(0, str(src))
    warnings.simplefilter("ignore")
    # Names in pictures are then the same in each run, and their texts can be read.
    mpl.rcParams |= {"svg.hashsalt": "golden", "svg.fonttype": "none"}
    import defragtrees

    if not Path(defragtrees.__file__).is_relative_to(src):
        sys.exit(f"defragtrees was imported from {defragtrees.__file__}")
    for group in arguments.only.split(","):
        start = time.process_time()
        folder = arguments.out.resolve() / group
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        GROUPS[group](folder)
        n_files = sum(path.is_file() for path in folder.rglob("*"))
        print(f"{group}: {n_files} files, {time.process_time() - start:.0f} s of CPU")


if __name__ == "__main__":
    main()
