"""Is refine ever the slow part? Its time against training the forest, in one run.

Run as `python -m benchmarks.refine_speed` (part of `make bench`). One thread for both.
5,000 rows of MiniBooNE (50 features), 100 trees, 10 rules. Refine starts from the
leaves of nine small trees, the five best of 20 restarts of the mixture, and nothing.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import time
import warnings

from sklearn.base import clone

import defragtrees.methods.defrag as defrag
from benchmarks.problems import make_case
from defragtrees import simplify


def main():
    warnings.simplefilter("ignore")
    case = make_case("miniboone", min_samples_leaf=1, max_leaf_nodes=None)
    begin = time.perf_counter()
    clone(case.forest).set_params(n_jobs=1).fit(case.X, case.y)
    forest = time.perf_counter() - begin
    spent = []
    inner = defrag.refine

    def timed(*arguments):
        begin = time.perf_counter()
        found = inner(*arguments)
        spent.append(time.perf_counter() - begin)
        return found

    defrag.refine = timed
    begin = time.perf_counter()
    simplify(case.forest, case.X, case.y, random_state=0, n_jobs=1)
    whole = time.perf_counter() - begin
    defrag.refine = inner
    print(f"\n{len(case.X):,} x {case.X.shape[1]}, one thread")
    print(f"forest of 100 trees {forest:.2f} s")
    print(f"refine {spent[0]:.2f} s, {spent[0] / forest:.2f} of the forest")
    print(f"whole fit {whole:.2f} s, mixture included")


if __name__ == "__main__":
    main()
