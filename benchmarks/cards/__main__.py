"""Scorecards beside FasterRisk, rounded logistic regression, EBM and optbinning.

Run as `python -m benchmarks.cards --data FOLDER --tools FOLDER`. Each set with two
classes is split once per number of rows; cards have 5, 10 and 15 lines with integer
points of at most 5. Ours imitate a boosted model of the same rows, with one condition
per line and with any number. FasterRisk and logistic regression (L1, rounded) choose
among flags: thresholds at deciles, and categories. EBM and optbinning make models of
any length. A tool has an environment `FOLDER/TOOL` below `--tools`, which is created
with pip; one that cannot be installed is left out. Rows are added to
`benchmarks/results/cards.csv`, and what is there is not computed again.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import json
import subprocess
import sys
import tempfile
import time
import venv
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score

from benchmarks.data import make_split, read
from benchmarks.honesty.points import BINARY
from defragtrees import DefragClassifier
from defragtrees._utils.formatting import text_table

HERE = Path(__file__).parent
ROWS = HERE.parent / "results" / "cards.csv"
OWN = ("ours", "ours, any")  # with one condition per line, and with any number
PACKAGES = {
    "fasterrisk": ["fasterrisk"],
    "optbinning": ["optbinning"],
    "interpret": ["interpret-core[required,ebm]"],
}
LINES = (5, 10, 15)
MOST_POINTS = 5
N_FITTED = (500, 2000)


def interpreter(folder, tool):
    """The Python of a tool's environment, made if need be; None if it cannot be."""
    python = Path(folder) / tool / "bin" / "python"
    if not python.exists():
        venv.create(python.parents[1], with_pip=True)
    has_it = [python, "-c", f"import {tool}"]
    install = [python, "-m", "pip", "install", "-q", *PACKAGES[tool], "pandas"]
    for command in (has_it, install, has_it):
        failed = subprocess.run(command, capture_output=True).returncode
        if not failed and command is has_it:
            return python
    return None


def flags_of(X, numbers, train):
    """Thresholds at deciles of training rows, categories, and missing values."""
    flags = []
    for name in X.columns:
        values = numbers[name].to_numpy(float)
        known = values[train][~np.isnan(values[train])]
        if X[name].dtype == "category":
            flags += [values == one for one in np.unique(known)]
        else:
            cuts = np.unique(np.quantile(known, np.arange(1, 10) / 10))
            flags += [values <= cut for cut in cuts]
        flags.append(np.isnan(values))
    flags = np.unique(np.column_stack(flags), axis=1)
    share = flags[train].mean(axis=0)
    return flags[:, (share > 0.01) & (share < 0.99)]


def rounded_logistic(flags, y, new_flags, n_lines):
    """Integer points from the largest L1 model of so many lines, and a new scale."""
    start = time.perf_counter()
    weights = np.zeros(flags.shape[1])
    for strength in np.geomspace(1e-3, 10, 25):
        model = LogisticRegression(
            C=strength, penalty="l1", solver="liblinear", random_state=0
        )
        found = model.fit(flags, y).coef_[0]
        if np.count_nonzero(found) > n_lines:
            break
        weights = found
    largest = np.abs(weights).max() or 1.0
    points = np.rint(MOST_POINTS * weights / largest)
    scale = LogisticRegression(C=1e6).fit((flags @ points)[:, None], y)
    seconds = time.perf_counter() - start
    likely = scale.predict_proba((new_flags @ points)[:, None])[:, 1]
    return np.count_nonzero(points), likely, seconds


def ours(rows, n_lines, **how):
    start = time.perf_counter()
    card = DefragClassifier(
        rows.model,
        form="points",
        points="integer",
        max_points=MOST_POINTS,
        max_rules=n_lines + 1,
        random_state=0,
        **how,
    ).fit(rows.X.iloc[rows.train], rows.y[rows.train])
    seconds = time.perf_counter() - start
    likely = card.predict_proba(rows.X.iloc[rows.test])[:, 1]
    return len(card.rules_.rules), likely, seconds


def cards_of(tool, rows, y, X, python):
    """Lines asked for, lines, probabilities and seconds of each card of a tool."""
    fitted, new = rows.train, rows.test
    if tool in OWN:
        how = {"max_conditions": 1} if tool == OWN[0] else {}
        for n_lines in LINES:
            yield n_lines, *ours(rows, n_lines, **how)
        return
    flags = flags_of(X, rows.numbers, fitted)
    if tool == "logistic":
        for n_lines in LINES:
            found = rounded_logistic(flags[fitted], y[fitted], flags[new], n_lines)
            yield n_lines, *found
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npz"
        np.savez(
            path,
            X=rows.numbers.iloc[fitted],
            new=rows.numbers.iloc[new],
            y=y[fitted],
            flags=flags[fitted],
            new_flags=flags[new],
            is_category=[dtype == "category" for dtype in X.dtypes],
            lines=LINES,
            most=MOST_POINTS,
        )
        command = [python, HERE / "rivals.py", tool, path]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(tool, done.stderr.strip().splitlines()[-1], file=sys.stderr)
        return
    asked = LINES if tool == "fasterrisk" else [0]
    found = json.loads(done.stdout.splitlines()[-1])
    for n_lines, card in zip(asked, found, strict=True):
        yield n_lines, *card


def summary(found, pythons):
    """Lines of ours beside each tool."""
    keys = ["data", "rows", "asked"]
    lines = []
    for own, tool in product(OWN, sorted({*found["tool"]} - {*OWN})):
        is_long = tool in ("interpret", "optbinning")
        mine = found[found["tool"] == own]
        other = found[found["tool"] == tool]
        if is_long:
            mine = mine[mine["asked"] == max(LINES)]
            pairs = mine.merge(other, on=keys[:2])
        else:
            pairs = mine.merge(other, on=keys)
        auc = pairs["auc_x"] - pairs["auc_y"]
        loss = pairs["log_loss_x"] - pairs["log_loss_y"]
        lines.append(
            [
                f"{own} - {tool}",
                str(len(pairs)),
                f"{auc.mean():+.4f} ({auc.sem():.4f})",
                f"{100 * (auc.round(3) >= 0).mean():.0f} %",
                f"{loss.mean():+.4f} ({loss.sem():.4f})",
                f"{100 * (loss.round(3) <= 0).mean():.0f} %",
            ]
        )
    header = ["pairs", "", "AUC (se)", "at or ahead", "log loss (se)", "at or ahead"]
    shown = {
        "lines": "{:.1f}",
        "auc": "{:.3f}",
        "log_loss": "{:.3f}",
        "seconds": "{:.1f}",
    }
    means = found.groupby(["tool", "asked", "rows"])[[*shown]].mean()
    table = [
        [*map(str, key), *(text.format(row[name]) for name, text in shown.items())]
        for key, row in means.iterrows()
    ]
    titles = ["tool", "asked", "rows", *shown]
    left_out = [tool for tool, python in pythons.items() if python is None]
    texts = [text_table(titles, table), text_table(header, lines)]
    return "\n\n".join([*texts, *[f"not installed: {tool}" for tool in left_out]])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--tools", default="tools")
    parser.add_argument("--rows", type=int, nargs="*", default=N_FITTED)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    pythons = {tool: interpreter(options.tools, tool) for tool in PACKAGES}
    found = pd.read_csv(ROWS) if ROWS.exists() else pd.DataFrame()
    columns = ["data", "rows", "tool"]
    known = set() if found.empty else {*found[columns].itertuples(False, None)}
    tools = [*OWN, "logistic", *(tool for tool, python in pythons.items() if python)]
    names = [name for name in BINARY if not name.endswith("_rare")]
    for n_fit, tool, name in product(options.rows, tools, names):
        if (name, n_fit, tool) in known:
            continue
        rows = make_split(options.data, name, "boosted", 0, n_fit)
        X, _ = read(options.data, name)
        y = np.unique(rows.y, return_inverse=True)[1]
        made = [
            {
                "data": name,
                "rows": n_fit,
                "tool": tool,
                "asked": asked,
                "lines": n_lines,
                "auc": round(roc_auc_score(y[rows.test], likely), 5),
                "log_loss": round(log_loss(y[rows.test], likely), 5),
                "seconds": round(seconds, 2),
            }
            for asked, n_lines, likely, seconds in cards_of(
                tool, rows, y, X, pythons.get(tool)
            )
        ]
        found = pd.concat([found, pd.DataFrame(made)], ignore_index=True)
        found.to_csv(ROWS, index=False)
    print(summary(found, pythons))


if __name__ == "__main__":
    main()
