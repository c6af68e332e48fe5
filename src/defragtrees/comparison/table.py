"""Comparison: methods on the same rows, as a table."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from defragtrees import plots, render
from defragtrees._optional import require
from defragtrees.methods.base import Simplifier
from defragtrees.outcome import make_outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

__all__ = ["Comparison"]

# What is measured on resamples, and how it is headed.
STABILITY = {
    "stability": "stability",
    "same_answers": "same answers",
    "same_features": "same features",
    "same_cuts": "same cuts",
}


@dataclass(frozen=True, eq=False)
class Comparison(render.Tabular):
    """Methods and how good their rules are, as `compare` gives them.

    Parameters
    ----------
    entries : tuple of dict
        One for each method and budget: its name, budget, the mean of every measure
        over the splits, as `evaluate` has them, the standard deviation of the error,
        and `failure`, the reason why there are none, or None.
    estimators : dict
        From (method, budget) to the estimator fitted on the last split.
    ensemble_error : float
        Of the ensemble itself on the same rows.
    n_splits : int
        Over how many splits into training and test rows the means are.
    task : {"classification", "regression"}
    ensemble_scores : dict from str to float
        The other measures of the ensemble; all of its mistakes cost 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees import compare
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    >>> table = compare(forest, X, y, methods=["distilled"], budgets=[3])
    >>> [row["method"] for row in table.rows()]
    ['distilled']
    >>> table.to_frame().shape[0], len(table.best())
    (1, 1)
    >>> table.plot().get_xlabel()
    'number of rules'
    """

    entries: tuple[dict[str, Any], ...]
    estimators: dict[tuple[str, int | None], Simplifier]
    ensemble_error: float
    n_splits: int
    task: str
    ensemble_scores: dict[str, float] = field(default_factory=dict)

    def rows(self) -> list[dict[str, Any]]:
        """One dict per method and budget, ready to show."""
        return [dict(entry) for entry in self.entries]

    def to_frame(self) -> "DataFrame":
        """The table as a pandas data frame."""
        return require("pandas", "A data frame").DataFrame(self.rows())

    def best(self) -> list[dict[str, Any]]:
        """The methods that no other one beats in both error and number of rules."""
        done = [row for row in self.rows() if row["failure"] is None]
        return [
            row
            for row in done
            if not any(
                other["n_rules"] <= row["n_rules"]
                and other["error"] <= row["error"]
                and (other["n_rules"], other["error"]) != (row["n_rules"], row["error"])
                for other in done
            )
        ]

    def _cells(self):
        shown = self._shown()
        header = ["method", "rules", "conditions", *shown.values(), "fidelity"]
        header += ["coverage", "overlap", "seconds"]
        has_stability = any("stability" in row for row in self.entries)
        header += STABILITY.values() if has_stability else []
        lines = []
        for row in self.entries:
            label = _label(row)
            if row["failure"] is not None:
                lines.append([label, *[""] * (len(header) - 2), "failed"])
                continue
            line = [label, f"{row['n_rules']:.4g}", f"{row['n_conditions']:.1f}"]
            line += [self._measured(row, name) for name in shown]
            line += [f"{row['fidelity']:.3f}", render.share(row["coverage"])]
            line += [f"{row['overlap']:.2f}", f"{row['seconds']:.2f}"]
            if has_stability:
                line += [f"{row.get(name, math.nan):.2f}" for name in STABILITY]
            lines.append(line)
        return header, lines

    def _shown(self):
        """Names of the measures in the table, and how they are headed."""
        outcome = make_outcome(self.task)
        there = set().union(*self.entries) | set(self.ensemble_scores)
        shown = {m.name: m.head for m in outcome.measures() if m.head}
        shown = {name: head for name, head in shown.items() if name in there}
        # Numbers have their errors in the units of y.
        is_error_shown = outcome.labels is not None or not shown
        return {"error": outcome.error_name, **shown} if is_error_shown else shown

    def _measured(self, row, name):
        value, apart = row.get(name, math.nan), row.get(f"{name}_std")
        if name == "error":
            outcome, error = make_outcome(self.task), value
            value = outcome.shown_error(error)
            apart = None if apart is None else outcome.shown_deviation(error, apart)
        text = render.rounded(value)
        if self.n_splits > 1 and apart is not None:
            text += f" ± {render.rounded(apart, 2)}"
        return text

    def _notes(self):
        error = make_outcome(self.task).shown_error(self.ensemble_error)
        scores = {"error": error, **self.ensemble_scores}
        measured = [
            f"{head} {render.rounded(scores[name])}"
            for name, head in self._shown().items()
            if name in scores
        ]
        failed = [row for row in self.entries if row["failure"] is not None]
        return [
            f"ensemble: {', '.join(measured)}",
            *(f"{_label(row)} failed: {row['failure']}" for row in failed),
        ]

    def __repr__(self) -> str:
        n_failed = sum(row["failure"] is not None for row in self.entries)
        return f"<Comparison: {len(self.entries)} fits, {n_failed} failed>"

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Error against number of rules, with the ensemble's line; returns the Axes."""
        return plots.comparison(self, ax=ax)


def _label(row):
    budget = row["budget"]
    return row["method"] if budget is None else f"{row['method']}, at most {budget}"
