"""Load and soak: what happens under threads, over many fits, without disk or locale.

Run as `python -m benchmarks.speed.soak` (`make soak`); `--quick` does a tenth. Each
check prints a line; the exit code is 1 if one fails.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import gc
import json
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from defragtrees import simplify
from defragtrees.ensembles.readers import read_forest

N_THREADS = 8
MOST_GROWTH = 0.05  # of resident memory, from a tenth of the fits to the last
SIZES = (0, 1, 100, 1000, 4096, 20_000)  # bytes after which the disk is full
LOCALES = (
    {"LC_ALL": "C", "TZ": "UTC", "PYTHONHASHSEED": "0"},
    {"LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "1"},
    {"LC_ALL": "de_DE.UTF-8", "TZ": "America/St_Johns", "PYTHONHASHSEED": "2"},
    {"LC_ALL": "tr_TR.UTF-8", "TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "3"},
)


def make_problem(n=200):
    """Rows, and a forest on them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] > 0.3) & (X[:, 1] < 0.5)
    model = RandomForestClassifier(10, max_depth=4, random_state=0).fit(X, y)
    return read_forest(model), X


def fit(forest, X):
    """A short fit, the same each time."""
    return simplify(forest, X, max_rules=4, random_state=0)


def resident_megabytes():
    """Memory that this process holds now."""
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return int(text.split("VmRSS:")[1].split()[0]) / 1024


def check_threads(seconds):
    """Fits and predictions of many threads at once are those of one."""
    forest, X = make_problem()
    expected = fit(forest, X)
    answers = expected.predict(X)
    end = time.monotonic() + seconds
    counts, wrong = [0] * N_THREADS, []

    def work(k):
        try:
            while time.monotonic() < end:
                simple = fit(forest, X)
                same = simple.rules_ == expected.rules_
                if not (same and (expected.predict(X) == answers).all()):
                    wrong.append("another result")
                counts[k] += 1
        except Exception as error:  # whatever it is, it must be told
            wrong.append(repr(error))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = f"{N_THREADS} threads, {seconds} s: {sum(counts)} fits, {len(wrong)} differ"
    return not wrong, text


def check_memory(n_fits):
    """Memory after many fits is that after a tenth of them."""
    forest, X = make_problem()
    early = 0.0
    for k in range(1, n_fits + 1):
        fit(forest, X)
        if k == n_fits // 10:
            gc.collect()
            early = resident_megabytes()
    gc.collect()
    last = resident_megabytes()
    growth = last / early - 1
    text = (
        f"{n_fits} fits: {early:.1f} MB after {n_fits // 10}, {last:.1f} MB at the end "
        f"({100 * growth:+.1f} %)"
    )
    return growth <= MOST_GROWTH, text


FULL_DISK = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
from defragtrees.cli import main
sys.exit(main(sys.argv[2:]))
"""


def check_full_disk():
    """Where a file cannot be written, the old one stays and a sentence says so."""
    seeds = Path(__file__).parents[2] / "tests" / "fuzz" / "seeds"
    rules, rows = str(seeds / "rules-classes.json"), str(seeds / "table.csv")
    lines = (
        ("predict", rules, rows, "--out"),
        ("explain", rules, rows, "--out"),
        ("export", rules, "--format", "python", "--out"),
    )
    n_refused, wrong = 0, []
    for line in lines:
        for size in SIZES:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "out.txt")
                path.write_text("old")
                done = subprocess.run(
                    [sys.executable, "-c", FULL_DISK, str(size), *line, str(path)],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                n_refused += done.returncode != 0
                is_old = path.read_text(encoding="utf-8") == "old"
                # Libraries may warn that they cannot write either.
                lines_told = ["", *done.stderr.splitlines()]
                is_told = lines_told[-1].startswith("defragtrees: File too large")
                is_clean = done.returncode == 0 or (
                    done.returncode == 2 and is_old and is_told
                )
                if not is_clean or len(list(Path(folder).iterdir())) != 1:
                    wrong.append(f"{line[0]} at {size}: {done.stderr[-200:]}")
    text = f"disk full at {len(SIZES)} places of {len(lines)} commands: {n_refused} "
    return not wrong, f"{text}refused, {len(wrong)} unclean{wrong[:1] or ''}"


def check_locales():
    """Clock, locale and hash seed change no letter of the rules."""
    code = (
        "import json, time; time.time = lambda: -1e9; "
        "from benchmarks.speed.soak import fit, make_problem; "
        "print(json.dumps(fit(*make_problem()).rules_.to_dict()))"
    )
    texts = set()
    for variables in LOCALES:
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=True,
        )
        texts.add(json.dumps(json.loads(done.stdout.splitlines()[-1])))
    text = f"{len(LOCALES)} locales, time zones, hash seeds and a clock that goes back"
    return len(texts) == 1, f"{text}: {len(texts)} different results"


def main():
    """Run all checks; returns 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    share = 10 if options.quick else 1
    warnings.simplefilter("ignore")
    checks = (
        lambda: check_memory(1000 // share),
        lambda: check_threads(60 // share),
        check_full_disk,
        check_locales,
    )
    all_passed = True
    for check in checks:
        passed, text = check()
        all_passed &= passed
        print(f"{'pass' if passed else 'FAIL'}  {text}", flush=True)
    return 0 if all_passed else 1


if __name__ == "__main__":
    sys.exit(main())
