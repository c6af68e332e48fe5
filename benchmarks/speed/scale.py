"""Time and memory of a default fit against the number of rows.

    python -m benchmarks.speed.scale                   # 100,001 to 10,000,000 rows
    python -m benchmarks.speed.scale --rows 11000000   # so many
    python -m benchmarks.speed.scale --threads 16

Every fit runs in a process of its own. Rows are made to look like the HIGGS data of the
paper: 21 numbers, some of them skewed, and 7 functions of them; the model is a boosted
one of 100 trees.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.speed.rows import make_model, write_rows

N_FEATURES, N_TREES = 28, 100


def run_case(case):
    """A default fit in this process; prints what it took."""
    from defragtrees import DefragClassifier

    model = make_model(N_FEATURES, N_TREES)
    X = np.memmap(case["path"], np.float32, "r", shape=(case["rows"], N_FEATURES))
    settings = {"n_jobs": case["threads"], "random_state": 0}
    # What is compiled is compiled, or loaded, by a first fit.
    DefragClassifier(model, **settings).fit(X[: min(case["rows"], 100_001)])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    begin, worked = time.perf_counter(), time.process_time()
    simple = DefragClassifier(model, **settings).fit(X)
    case["fit_s"] = time.perf_counter() - begin
    case["processor_s"] = time.process_time() - worked
    case["memory_gb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    case["more_gb"] = case["memory_gb"] - before
    case["data_gb"] = X.nbytes / 1e9
    case["rules"] = simple.rules_.n_rules
    print(json.dumps(case))


def measure(folder, n_rows, n_threads):
    """One fit in a process of its own."""
    path = Path(folder) / "rows"
    write_rows(path, n_rows, N_FEATURES)
    case = {"rows": n_rows, "threads": n_threads, "path": str(path)}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.speed.scale", "--case", json.dumps(case)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"},
    )
    found = json.loads(done.stdout.splitlines()[-1])
    print(
        f"{n_rows:>11,} rows  {n_threads} threads  {found['fit_s']:6.1f} s, of the "
        f"processor {found['processor_s']:.1f} s  {found['memory_gb']:5.2f} GB, "
        f"{found['more_gb']:.2f} GB of it for the fit, {found['data_gb']:.2f} GB of it "
        f"mapped  {found['rules']} rules",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--case")
    arguments = parser.parse_args()
    if arguments.case:
        run_case(json.loads(arguments.case))
        return
    sizes = (100_001, 10**6, 10**7) if arguments.rows is None else (arguments.rows,)
    for n_rows in sizes:
        with tempfile.TemporaryDirectory() as folder:
            measure(folder, n_rows, arguments.threads)


if __name__ == "__main__":
    main()
