"""Time and memory of a default fit, and of one restart of FAB, against rows and more.

    python -m benchmarks.scale              # up to 10,000,000 rows, about 15 minutes
    python -m benchmarks.scale --rows 11000000 --only whole
    python -m benchmarks.scale --quick      # up to 1,000,000 rows
    python -m benchmarks.scale --rows 1000000 --only default  # a default fit

Every case runs in a process of its own, which first measures what its machine can do
in the same run: one copy of the codes and one pass over an array of N x K float32
numbers, on one core. The time of an iteration, times the threads it used, is given as a
multiple of that. Rows are made to look like the HIGGS data of the paper: 21 numbers,
some of them skewed, and 7 functions of them.
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

from benchmarks.problems import SEEDED
from benchmarks.scale_data import ensemble, write_rows

RESULTS = Path(__file__).parent / "results"
N_COMPONENTS = 10


def seconds(function, repeats=3):
    """The shortest of a few runs."""
    found = []
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        found.append(time.perf_counter() - begin)
    return min(found)


def floor_seconds(n_rows, n_features):
    """Seconds for one copy of the codes and one pass over N x K, on one core."""
    codes = np.ones((n_rows, n_features), dtype=np.uint8)
    other = np.empty_like(codes)
    copy = seconds(lambda: np.copyto(other, codes))
    codes = other = None
    numbers = np.ones((n_rows, N_COMPONENTS), dtype=np.float32)
    return copy, seconds(lambda: numbers.sum())


def run_default(case):
    """A default fit, in which all rows count, in this process; prints what it took."""
    from defragtrees import DefragClassifier

    model = ensemble(case["features"], case["trees"])
    X = np.memmap(case["path"], np.float32, "r", shape=(case["rows"], case["features"]))
    first = DefragClassifier(model, n_jobs=case["threads"], random_state=0)
    first.fit(X[: min(case["rows"], 100_001)])  # compiles, or loads what is compiled
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    simple = DefragClassifier(model, n_jobs=case["threads"], random_state=0)
    begin, worked = time.perf_counter(), time.process_time()
    simple.fit(X)
    case["fit_s"] = time.perf_counter() - begin
    case["processor_s"] = time.process_time() - worked
    case["memory_gb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    case["more_gb"] = case["memory_gb"] - before
    case["data_gb"] = X.nbytes / 1e9
    case["rules"] = simple.rules_.n_rules
    print(json.dumps(case))


def run_case(case):
    """One restart on the rows of a case, in this process; prints what was found."""
    from defragtrees import FABRulesClassifier

    if case["method"] == "defrag":
        run_default(case)
        return
    copy, one_pass = floor_seconds(case["rows"], case["features"])
    model = ensemble(case["features"], case["trees"])
    X = np.memmap(case["path"], np.float32, "r", shape=(case["rows"], case["features"]))
    own = {name: SEEDED[name] for name in SEEDED if name != "method"}
    simple = FABRulesClassifier(
        model,
        **own,
        n_restarts=1,
        screening=False,
        n_jobs=case["threads"],
        max_iter=case["iterations"],
        tol=case["tol"],
        random_state=0,
    )
    begin = time.perf_counter()
    if case["workers"]:
        fit_on_workers(simple, X, case["workers"])
    else:
        simple.fit(X)
    whole = time.perf_counter() - begin
    at = [step.seconds for step in simple.history_]
    iteration = (at[-1] - at[0]) / (len(at) - 1)
    n_cores = max(case["threads"], case["workers"])
    splits = [len(s) for s in simple.forest_.splits()]
    print(
        json.dumps(
            {
                **case,
                "fit_s": whole,
                "iteration_s": iteration,
                "iterations": len(at),
                "copy_s": copy,
                "pass_s": one_pass,
                # Bytes that must move: codes are read, N x K numbers once too.
                "least_gb": case["rows"] * (case["features"] + 4 * N_COMPONENTS) / 1e9,
                "copy_gb_per_s": 2 * case["rows"] * case["features"] / copy / 1e9,
                "times_floor": iteration * n_cores / (copy + one_pass),
                "memory_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
                "most_thresholds": max(splits),
                "components": simple.history_[-1].n_components,
            }
        )
    )


def fit_on_workers(simple, X, n_workers):
    """The same fit on Dask workers, each a process with one thread."""
    import dask.array
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=None
        ) as own,
        Client(own),
    ):
        simple.fit(dask.array.from_array(X, chunks=(2**18, -1)))


USUAL = {
    "features": 28,
    "trees": 100,
    "threads": 2,
    "workers": 0,
    "iterations": 15,
    "tol": 0.0,
    "method": "paper",
}


def measure(folder, **case):
    """One case in a process of its own."""
    case = {**USUAL, **case}
    path = Path(folder) / f"{case['rows']}-{case['features']}"
    if not path.exists():
        write_rows(path, case["rows"], case["features"])
    case["path"] = str(path)
    command = [sys.executable, "-m", "benchmarks.scale", "--case", json.dumps(case)]
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYTHONWARNINGS": "ignore",
    }
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(done.stderr)
    found = json.loads(done.stdout.splitlines()[-1])
    del found["path"]
    if found["method"] == "defrag":
        print(
            f"{found['rows']:>11,} x {found['features']:<3} {found['trees']:>4} trees  "
            f"{found['threads']} threads  default fit {found['fit_s']:6.1f} s, of the "
            f"processor {found['processor_s']:.1f} s  {found['memory_gb']:5.2f} GB, "
            f"{found['data_gb']:.2f} GB of it mapped  {found['rules']} rules",
            flush=True,
        )
        return found
    print(
        f"{found['rows']:>11,} x {found['features']:<3} {found['trees']:>4} trees  "
        f"{found['threads']} threads  {found['workers']} workers  "
        f"{1e3 * found['iteration_s']:9.1f} ms an iteration  "
        f"{found['times_floor']:6.1f} x floor  {found['memory_gb']:5.2f} GB  "
        f"{found['iterations']:>3} iterations  fit {found['fit_s']:6.1f} s",
        flush=True,
    )
    return found


def plan(only, most_rows):
    """Names and cases: what grows, and by which keyword."""
    sizes = [n for n in (10**4, 10**5, 10**6, 10**7) if n <= most_rows]
    middle = min(10**6, most_rows)
    cases = {
        # Fewer rows than 100,000 would be kept whole, so the first size is just above.
        "rows": [{"rows": max(n, 100_001)} for n in sizes[1:]],
        "default": [{"rows": n, "method": "defrag"} for n in sizes[2:]],
        "small": [{"rows": 10**4}],
        "features": [{"rows": middle, "features": d} for d in (7, 14, 28, 56)],
        "trees": [{"rows": middle, "trees": t} for t in (10, 100, 300)],
        "threads": [{"rows": middle, "threads": t} for t in (1, 2)],
        "workers": [{"rows": middle, "threads": 1, "workers": w} for w in (1, 2)],
        # To its end, as a user would run it.
        "whole": [{"rows": most_rows, "iterations": 200, "tol": 1e-5}],
    }
    return {name: own for name, own in cases.items() if only in (None, name)}


def draw(found, path):
    """Seconds of an iteration against rows, with the floor below."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    rows = sorted(found.get("rows", []), key=lambda case: case["rows"])
    n = [case["rows"] for case in rows]
    core = [case["iteration_s"] * case["threads"] for case in rows]
    floor = [case["copy_s"] + case["pass_s"] for case in rows]
    axes[0].loglog(n, core, "o-", label="one iteration, core seconds")
    axes[0].loglog(
        n, floor, "s--", color="0.4", label="copy of codes + pass over N x K"
    )
    axes[0].loglog(n, [20 * f for f in floor], ":", color="0.6", label="20 times that")
    axes[0].set(xlabel="rows", ylabel="seconds")
    axes[0].legend(frameon=False, fontsize=8)
    axes[1].loglog(n, [case["memory_gb"] for case in rows], "o-", label="whole process")
    codes = [case["rows"] * case["features"] / 1e9 for case in rows]
    axes[1].loglog(n, codes, "s--", color="0.4", label="codes alone")
    axes[1].set(xlabel="rows", ylabel="GB")
    axes[1].legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=130)


def main():
    """Run the cases and keep what they gave."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--only")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--case")
    parser.add_argument("--out", default=str(RESULTS))
    arguments = parser.parse_args()
    if arguments.case:
        run_case(json.loads(arguments.case))
        return
    most_rows = 10**6 if arguments.quick else arguments.rows
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, cases in plan(arguments.only, most_rows).items():
            print(f"-- {name}", flush=True)
            found[name] = [measure(folder, **case) for case in cases]
    out = Path(arguments.out)
    suffix = f"-{arguments.only}" if arguments.only else ""
    (out / f"scale{suffix}.json").write_text(json.dumps(found, indent=1) + "\n")
    if found.get("rows"):
        draw(found, out / "scale.png")


if __name__ == "__main__":
    main()
