"""A walk: loan applications arrive as a Parquet file every week, and one week drifts.

The command line makes rules from the file of a real booster, and checks every week in a
process of its own, as a scheduler would. The guide for this walk is docs/watching.md.
"""

import subprocess
import sys

import numpy as np
import pytest

from defragtrees.datasets import load_table
from defragtrees.monitoring import read_history

pytest.importorskip("click", reason="the command line")
pq = pytest.importorskip("pyarrow.parquet", reason="weeks are Parquet files")
pa = pytest.importorskip("pyarrow")

N_WEEKS, N_ROWS, DRIFTING = 3, 300, 2


def run(folder, *line):
    """Run the command in a process of its own, as a user types it in a folder."""
    words = [sys.executable, "-m", "defragtrees", *map(str, line)]
    return subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=600
    )


def lightgbm_file(X, y, folder):
    lightgbm = pytest.importorskip("lightgbm")
    settings = {"objective": "binary", "verbose": -1, "num_threads": 1, "seed": 0}
    booster = lightgbm.train(settings, lightgbm.Dataset(X, y == "unpaid"), 60)
    booster.save_model(folder / "model.txt")
    return "model.txt"


def xgboost_file(X, y, folder):
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBClassifier(
        n_estimators=60, max_depth=3, enable_categorical=True, n_jobs=1
    )
    model.fit(X, (y == "unpaid").astype(int)).save_model(folder / "model.json")
    return "model.json"


def write_parquet(X, y, path):
    """A week as another program writes it: text, and the outcome in words."""
    words = X.astype({name: object for name in X.select_dtypes("category")})
    table = pa.Table.from_pandas(words.assign(status=y), preserve_index=False)
    pq.write_table(table, path, row_group_size=100)


def write_weeks(folder, make_model):
    """The model, its training rows and the weeks; in one, incomes fell."""
    X, y = load_table("credit")
    words = list(X.select_dtypes(exclude="number"))
    X = X.astype(dict.fromkeys(words, "category"))
    order = np.random.default_rng(0).permutation(len(X))
    train, rest = order[:2000], order[2000:]
    model = make_model(X.iloc[train], y.iloc[train], folder)
    write_parquet(X.iloc[train], y.iloc[train], folder / "train.parquet")
    for week in range(1, N_WEEKS + 1):
        rows = rest[(week - 1) * N_ROWS : week * N_ROWS]
        new = X.iloc[rows]
        if week == DRIFTING:
            new = new.assign(income=(0.7 * new["income"]).round())
        write_parquet(new, y.iloc[rows], folder / f"week{week}.parquet")
    return model


@pytest.mark.parametrize(
    "make_model", [lightgbm_file, pytest.param(xgboost_file, marks=pytest.mark.slow)]
)
def test_only_the_week_that_drifts_is_an_alarm(make_model, tmp_path):
    model = write_weeks(tmp_path, make_model)
    done = run(tmp_path, "simplify", model, "train.parquet", "--target", "status",
               "--classes", "paid,unpaid", "--max-rules", 5, "--out",
               "rules.json")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    history, plot = tmp_path / "checks.jsonl", tmp_path / "trend.png"
    codes = []
    for week in range(1, N_WEEKS + 1):
        last = ["--plot", "trend.png"] if week == N_WEEKS else []
        done = run(tmp_path, "watch", "rules.json", f"week{week}.parquet", "--model",
                   model, "--target", "status", "--classes", "paid,unpaid", "--history",
                   "checks.jsonl", "--label", f"week {week}", *last)  # fmt: skip
        assert done.stderr == ""
        assert "Note:" not in done.stdout
        codes.append(done.returncode)
        assert len(history.read_bytes().splitlines()) == week
    assert codes == [int(week == DRIFTING) for week in range(1, N_WEEKS + 1)]
    found = read_history(history)
    [drifting] = [record for record in found if record.check.has_moved]
    assert (drifting.label, drifting.data) == ("week 2", "week2.parquet")
    assert ("column", "income") in found.moved
    begins = [
        one is not None and one.is_moved for one in found.moved["column", "income"]
    ]
    assert begins.index(True) == DRIFTING - 1
    assert "week 2" in str(found)
    for record in found:
        kinds = {one.kind: one for one in record.check.findings}
        assert {"coverage", "rate", "column", "error", "agreement"} <= set(kinds)
        assert kinds["agreement"].now > 0.7
    assert plot.read_bytes().startswith(b"\x89PNG")
    # A week whose file is damaged is an error, and no drift.
    whole = (tmp_path / "week1.parquet").read_bytes()
    (tmp_path / "week6.parquet").write_bytes(whole[: len(whole) // 2])
    before = history.read_bytes()
    done = run(tmp_path, "watch", "rules.json", "week6.parquet", "--history",
               "checks.jsonl")  # fmt: skip
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert history.read_bytes() == before
