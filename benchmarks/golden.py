"""What the library writes, as plain files to compare before and after a change.

Run as `python benchmarks/golden.py SRC OUT [--only GROUP,...]` on the `src` folder of
two checkouts, and compare the two folders with `diff -r`. Every file is the same in
each run, so that a difference comes from the change. The groups are:

- fits: seven settings on four tables, with rule file, text, explanations, exports and
  predictions on rows with missing values;
- sources: Parquet, Dask, blocks, more than 100,000 rows, weights and the like;
- baselines: the other methods;
- cli: transcripts of every command;
- reports: HTML pages without their date.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import csv
import hashlib
import shutil
import sys
import time
import warnings
from pathlib import Path

import numpy as np
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
TEXT_FORMATS = ("csv", "html", "latex", "markdown", "pmml", "prompt", "python", "sql")
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
    write(Path(f"{stem}.sklearn"), exported(rules, "sklearn", tree_text))


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


def tree_text(model):
    """The size of a tree of scikit-learn, and a digest of what decides its answers."""
    tree = model.tree_
    parts = (tree.children_left, tree.feature, tree.threshold, tree.value)
    return f"{tree.node_count} nodes\n{digest(b''.join(p.tobytes() for p in parts))}\n"


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
    from defragtrees import simplify

    for name in TABLES:
        X, y, model = table_and_model(name)
        rows = with_missing(X)
        for case, settings in CASES.items():
            estimator = simplify(model, X, y, random_state=0, **settings)
            rules, stem = estimator.rules_, folder / f"{name}-{case}"
            write_all(rules, stem)
            lines = [*rules.explain(X[:3]), *rules.explain(rows[:10])]
            write(Path(f"{stem}.explain"), "\n".join(lines) + "\n")
            write_answers(estimator, rows, Path(f"{stem}.predictions"))
            if case == "paper":
                posterior = estimator.predict_posterior(X[:20])
                write(Path(f"{stem}.posterior"), repr(posterior.tolist()) + "\n")


GROUPS = {"fits": write_fits}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("src", type=Path, help="the src folder of a checkout")
    parser.add_argument("out", type=Path, help="the folder to write to")
    parser.add_argument("--only", default=",".join(GROUPS), metavar="GROUP,...")
    arguments = parser.parse_args()
    src = arguments.src.resolve()
    sys.path.insert(0, str(src))
    warnings.simplefilter("ignore")
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
