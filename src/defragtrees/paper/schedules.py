"""How many inner steps the E-step takes: what decides how many components survive.

Each inner step shrinks the components that hold few rows. At the start none has found
its rows yet, so the more inner steps the first iterations take, the fewer survive.
"""

from dataclasses import dataclass, replace

__all__ = ["SCHEDULES", "Schedule"]


@dataclass(frozen=True)
class Schedule:
    """Most inner steps of an E-step, at the beginning and later.

    An E-step ends earlier where another step would not raise the bound.

    Parameters
    ----------
    n_early : int
        Iterations that are the beginning; no restart ends in them.
    early_steps : int
        Most inner steps in each of these.
    late_steps : int
        Most inner steps in each iteration after them.
    draws_all : bool
        Whether random starts draw proportions, precisions and responsibilities too, and
        means in the units of y, as the paper's authors do; else the first three are the
        same for all components, and means are those of the standardised y.
    """

    n_early: int
    early_steps: int
    late_steps: int
    draws_all: bool = False

    def n_steps(self, iteration):
        """Most inner steps of an iteration, which count from 0."""
        return self.early_steps if iteration < self.n_early else self.late_steps

    def without_beginning(self):
        """For restarts that go on from what they have found in other rows."""
        return replace(self, n_early=0)


SCHEDULES = {
    # One step, until random starts have found their rows.
    "gentle": Schedule(3, 1, 10),
    # As the code that the paper's authors published.
    "original": Schedule(5, 2, 10, draws_all=True),
    # As the paper says; a hundred steps leave as many components as thirty.
    "converged": Schedule(0, 0, 30, draws_all=True),
}
