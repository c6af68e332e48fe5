"""How long commands take to start: this source tree beside another, in turns.

    python benchmarks/speed/startup.py SRC OTHER_SRC [--rounds N]

Prints the least wall time of each command in both trees, and their ratio. The rules and
rows are made by the script; the commands on them answer one row, so that nearly all
time is that of imports.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LINES = (
    "--help",
    "predict --help",
    "export --help",
    "edit --help",
    "explain --help",
    "diff --help",
    "simplify --help",
    "predict rules.json rows.csv",
    "explain rules.json rows.csv",
    "export rules.json --format sql",
    "edit rules.json --drop 1",
    "diff rules.json rules.json",
    "refit rules.json rows.csv --target y",
    "watch rules.json rows.csv",
)
MAKER = """
import sys
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from defragtrees import simplify
X, y = load_iris(return_X_y=True, as_frame=True)
model = RandomForestClassifier(10, min_samples_leaf=5, random_state=0).fit(X, y)
simplify(model, X, y, max_rules=4).rules_.save("rules.json")
X.assign(y=y).head(1).to_csv("rows.csv", index=False)
"""


def seconds(source, line, folder):
    """Run a command with the package of a source tree."""
    environment = os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    begin = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "defragtrees", *line.split()],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs=2, type=lambda path: Path(path).resolve())
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    print(f"{'command':38} {'first':>7} {'second':>7} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for k, source in enumerate(given.sources):
            # Each tree reads the rules that it wrote.
            environment = os.environ | {"PYTHONPATH": str(source)}
            subprocess.run(
                [sys.executable, "-c", MAKER], cwd=folder, env=environment, check=True
            )
            Path(folder, "rules.json").rename(Path(folder, f"{k}.json"))
        for line in LINES:
            times = {source: [] for source in given.sources}
            for _ in range(given.rounds):
                for k, source in enumerate(given.sources):
                    kept = Path(folder, f"{k}.json")
                    Path(folder, "rules.json").write_bytes(kept.read_bytes())
                    times[source].append(seconds(source, line, folder))
            first, second = (min(times[source]) for source in given.sources)
            print(f"{line:38} {first:7.3f} {second:7.3f} {first / second:6.2f}")


if __name__ == "__main__":
    main()
