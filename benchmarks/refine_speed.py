"""Is refine ever the slow part? Its time against training the forest, in one run.

Run as `python -m benchmarks.refine_speed` (part of `make bench`). One thread for both.
5,000 rows of MiniBooNE (50 features), 100 trees, 10 rules. By itself refine starts from
the leaves of five small trees, the three best of 20 restarts of the mixture, and
nothing: nine starts. The second line has it start from 14 restarts, 20 starts in all.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import time
import warnings

from sklearn.base import clone

import defragtrees.methods.defrag as defrag
import defragtrees.methods.refining as refining
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
    usual, refining.N_RESTARTS = refining.N_RESTARTS, 14
    simplify(case.forest, case.X, case.y, random_state=0, n_jobs=1)
    defrag.refine, refining.N_RESTARTS = inner, usual
    print(f"\n{len(case.X):,} x {case.X.shape[1]}, one thread")
    print(f"forest of 100 trees {forest:.2f} s")
    print(f"refine, its own 9 starts {spent[0]:.2f} s, {spent[0] / forest:.2f} of it")
    print(f"refine from 20 starts {spent[1]:.2f} s, {spent[1] / forest:.2f} of it")
    print(f"whole fit {whole:.2f} s, mixture included")


if __name__ == "__main__":
    main()
