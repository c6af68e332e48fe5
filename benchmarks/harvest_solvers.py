"""Which solver for Node Harvest's quadratic program? All that are there, in one run.

Run as `python -m benchmarks.harvest_solvers` (part of `make bench`). One thread. The
problems: 1,000 nodes in 5,000 rows of MiniBooNE, and the 569 rows of the breast cancer
data; each without and with a limit on the sum of the weights. The solvers:

- ours: multipliers around non-negative least squares (`baselines/node_harvest.py`);
- PIQP: an interior-point solver (`pip install piqp`), left out where it is not
  installed. It needs equations that do not depend on each other, here found from the
  eigenvectors of the Gram matrix, which its time includes;
- NNLS: scipy's non-negative least squares, the equations as a penalty of 1e6.

"broken" is the largest error of an equation: how far the weights of the nodes of a
training row are from summing to one. "objective" is half the mean squared error against
the variance, ridge included; an objective is too low where equations are broken.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import time
from importlib.util import find_spec

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from benchmarks.problems import make_case
from defragtrees._utils.formatting import text_table
from defragtrees.baselines.node_harvest import (
    cut_forest,
    find_nodes,
    make_program,
    solve_program,
)
from defragtrees.ensembles.readers import read_forest
from defragtrees.estimators.problem import Problem

PENALTY = 1e6
N_REPEATS = 5


def solve_with_piqp(program):
    """Interior points, on equations that do not depend on each other."""
    import piqp

    values, vectors = np.linalg.eigh(program.gram)
    equations = vectors[:, values > 1e-10 * values[-1]].T
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-9
    solver.setup(
        program.quadratic,
        -program.linear,
        equations,
        equations @ program.start,
        None,
        None,
        None,
        program.lower,
        np.full(len(program.lower), np.inf),
    )
    solver.solve()
    return solver.result.x[: program.n_nodes]


def solve_with_nnls(program):
    """Non-negative least squares with a high price of broken equations."""
    matrix = program.quadratic + PENALTY * program.gram
    towards = program.linear + PENALTY * (program.gram @ program.start)
    factor = cholesky(matrix)
    towards = towards - matrix @ program.lower
    goal = solve_triangular(factor, towards, trans="T")
    return (program.lower + nnls(factor, goal)[0])[: program.n_nodes]


def make_nodes(forest, X, target, n_nodes):
    """Membership of the rows in the nodes of a forest."""
    cut = cut_forest(forest, 2, len(forest.trees))
    problem = Problem(
        X=X,
        target=target,
        sample_weight=np.ones(len(X)),
        task="classification",
        classes=forest.classes,
        feature_names=forest.feature_names,
        categories=forest.categories,
        forest=cut,
        shorten=False,
    )
    return find_nodes(problem, 2, 10, n_nodes).members


def problems():
    """Name, members and class shares of the rows."""
    case = make_case("miniboone", n_estimators=300)
    forest = read_forest(case.forest)
    members = make_nodes(forest, case.X, case.y, 1100)
    yield "MiniBooNE", members, np.eye(2)[case.y]
    X, y = load_breast_cancer(return_X_y=True)
    ensemble = RandomForestClassifier(200, min_samples_leaf=5, random_state=0)
    members = make_nodes(read_forest(ensemble.fit(X, y)), X, y, 1000)
    yield "breast cancer", members, np.eye(2)[y]


def measure(solve, program, members):
    """Shortest time of some runs, objective, and the largest error of an equation."""
    times = []
    for _ in range(N_REPEATS):
        begin = time.perf_counter()
        weights = solve(program)
        times.append(time.perf_counter() - begin)
    n = program.n_nodes
    fitted = weights @ program.quadratic[:n, :n] @ weights
    # Half of the variance, and the price of the start, are not in the program.
    ridge = 1e-7
    objective = fitted / 2 - program.linear[:n] @ weights + (1 + ridge) / 2
    broken = np.abs(weights @ members - 1).max()
    return min(times), objective, broken, int((weights > 0.01 * weights.max()).sum())


def main():
    solvers = {"ours": solve_program}
    if find_spec("piqp"):
        solvers["PIQP"] = solve_with_piqp
    solvers["NNLS"] = solve_with_nnls
    lines = []
    for name, members, target in problems():
        for limit in (None, 2.0):
            begin = time.perf_counter()
            program = make_program(
                members,
                target,
                np.ones(len(target)),
                mode="mean",
                ridge=1e-7,
                root_weight=0.01,
                max_weight=limit,
            )
            making = time.perf_counter() - begin
            for solver, solve in solvers.items():
                seconds, objective, broken, kept = measure(solve, program, members)
                lines.append(
                    [
                        f"{name}, {len(members):,} nodes x {len(target):,} rows",
                        "none" if limit is None else f"{limit:g}",
                        solver,
                        f"{making:.3f}",
                        f"{seconds:.3f}",
                        f"{objective:.9f}",
                        f"{broken:.0e}",
                        str(kept),
                    ]
                )
    header = ["problem", "limit", "solver", "matrices s", "solving s", "objective"]
    print(text_table([*header, "broken", "kept"], lines))


if __name__ == "__main__":
    main()
