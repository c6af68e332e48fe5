"""Orders of rows: gains by rows contacted, the cheapest threshold, survival."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.optional import require
from defragtrees._utils.types import Column, Rows
from defragtrees._utils.values import is_finite
from defragtrees.rules.model import RuleModel
from defragtrees.tables import check_weight

LEAST_DIGITS = 3  # of a threshold that costs imply: 0.833, not 0.8
DIGITS = 12  # probabilities that are equal to so many digits are one step


@dataclass(frozen=True, eq=False)
class Gains(render.Tabular):
    """What contacting the likeliest rows brings; `gains` makes it.

    It is a sequence of steps and prints as a table.

    Parameters
    ----------
    steps : tuple of dict
        As `gains` describes them.
    label : str
        The positive class.

    Examples
    --------
    >>> found = gains(rules, [[21.0, 3.0], [19.0, 3.0]], ["yes", "no"])
    >>> len(found), found[0]["captured"]
    (2, 1.0)
    """

    steps: tuple[dict[str, Any], ...]
    label: str

    _left: ClassVar[tuple[int, ...]] = ()

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.steps)

    def __getitem__(self, place: Any) -> Any:
        return self.steps[place]

    def at(
        self, n_rows: float | None = None, *, share: float | None = None
    ) -> dict[str, Any]:
        """What contacting so many of the likeliest rows brings.

        Rows of one step are alike, so a part of them brings the same part of the step.

        Parameters
        ----------
        n_rows : float, optional
            How many rows are contacted.
        share : float, optional
            The share of the rows that is contacted, instead of their number.

        Returns
        -------
        dict
            As one of the steps. `rules` and `threshold` are those of the last rows.

        Examples
        --------
        >>> from defragtrees.metrics import gains
        >>> X, y = [[21.0, 3.0], [25.0, 3.0], [19.0, 3.0]], ["yes", "no", "no"]
        >>> found = gains(rules, X, y).at(1)
        >>> found["n_positive"], found["captured"]
        (0.5, 0.5)
        """
        last = self.steps[-1]
        if (n_rows is None) == (share is None):
            raise ValueError("at needs n_rows or share, one of the two.")
        given: Any = n_rows if share is None else share
        wanted = float(given) if is_finite(given) else 0.0
        wanted *= 1.0 if share is None else last["n_rows"]
        if not 0 < wanted <= last["n_rows"] * (1 + 1e-12):
            raise ValueError(
                f"at needs a number of rows above 0 and up to {last['n_rows']:,.6g}, "
                f"or a share up to 1; got {given!r}."
            )
        if share is None and wanted < 1 < last["n_rows"]:
            raise ValueError(
                f"at needs a number of rows, from 1 on; got {n_rows!r}. For a share, "
                f"write at(share={n_rows!r})."
            )
        place = next(
            i for i, step in enumerate(self.steps) if step["n_rows"] >= wanted - 1e-9
        )
        step = self.steps[place]
        before = self.steps[place - 1] if place else dict.fromkeys(step, 0.0)
        part = (wanted - before["n_rows"]) / (step["n_rows"] - before["n_rows"])
        found = {
            name: before[name] + part * (step[name] - before[name])
            for name in step
            if name not in ("rules", "threshold", "precision", "lift")
        }
        precision = found["n_positive"] / found["n_rows"]
        rate = last["precision"]
        return {**step, **found, "precision": precision, "lift": precision / rate}

    @property
    def best(self) -> dict[str, Any]:
        """The step with the largest profit; needs `benefit` and `cost`."""
        if "profit" not in self.steps[0]:
            raise ValueError("The best step needs a profit; pass benefit and cost.")
        return max(self.steps, key=lambda step: step["profit"])

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        title = f"P({render.label(self.label)})"
        header = [title, "rules", "rows", "share", "captured", "precision", "lift"]
        has_rules = any(step["rules"] for step in self.steps)
        has_profit = "profit" in self.steps[0]
        rows = []
        for step in self.steps:
            line = [
                render.percent(step["threshold"], 1),
                ", ".join(map(str, step["rules"])),
                render.count(step["n_rows"]),
                render.percent(step["share"]),
                render.percent(step["captured"]),
                render.percent(step["precision"]),
                f"{step['lift']:.2f}",
            ]
            if has_profit:
                line += map(render.rounded, (step["expected_profit"], step["profit"]))
            rows.append(line if has_rules else [line[0], *line[2:]])
        header += ["expected", "profit"] if has_profit else []
        return header if has_rules else [title, *header[2:]], rows

    def _notes(self) -> list[str]:
        n_rows, n_positive = self.steps[-1]["n_rows"], self.steps[-1]["n_positive"]
        notes = [
            f"Each line adds the rows with this probability; {render.count(n_rows)} "
            f"rows, {render.count(n_positive)} of them {self.label}."
        ]
        if "profit" in self.steps[0]:
            notes.append("expected: the profit that the probabilities add up to.")
        return notes


def gains(
    rules: Any,
    X: Rows,
    y: Column,
    sample_weight: Column | None = None,
    *,
    pos_label: Any = None,
    benefit: float | None = None,
    cost: float | None = None,
) -> Gains:
    """Share of the positive rows that is captured, by number of rows contacted.

    Rows are contacted in the order of the predicted probability of the positive class.
    Rules predict few distinct probabilities. Rows with the same one are contacted
    together, in one step, as nothing orders them.

    Parameters
    ----------
    rules : RuleModel or Simplifier
        For classes, with probabilities.
    X : array-like or data frame of shape (n_samples, n_features)
        Preferably rows that the rules were not fitted to.
    y : array-like of shape (n_samples,)
        Rows of unknown classes are left out.
    sample_weight : array-like of shape (n_samples,), optional
    pos_label : class label, optional
        The positive class. By default the `pos_label` of the rules, or the second of
        two classes; needed for more than two.
    benefit, cost : float, optional
        What contacting a positive row brings, and what contacting any row costs. With
        them each step has a profit.

    Returns
    -------
    Gains
        A sequence of dicts, one per step, likeliest first; prints as a table. `rules`,
        the numbers of the rules that predict the rows of this step (empty where several
        rules predict a row); `threshold`, their probability. The rest is of all rows
        contacted so far: `share` of the rows; `n_rows`, their number or weight;
        `n_positive`, those of the positive class; `expected`, how many the
        probabilities add up to; `captured`, the share of all positive rows (recall);
        `precision`; `lift`, precision relative to the rate of all rows; and, with
        `benefit` and `cost`, `profit` and `expected_profit`, which follows from
        `expected`.

    Examples
    --------
    >>> X = [[21.0, 3.0], [25.0, 3.0], [19.0, 3.0], [15.0, 3.0]]
    >>> y = ["yes", "no", "no", "no"]
    >>> print(gains(rules, X, y, benefit=30, cost=10))
    P(yes)  rules  rows  share  captured  precision  lift  expected  profit
     80.0%      2     2    50%      100%        50%  2.00        28      10
     10.0%      3     4   100%      100%        25%  1.00        14     -10
    Each line adds the rows with this probability; 4 rows, 1 of them yes.
    expected: the profit that the probabilities add up to.
    """
    rules = getattr(rules, "rules_", rules)
    if (benefit is None) != (cost is None):
        raise ValueError("benefit and cost go together; got one of the two.")
    for name, amount in (("benefit", benefit), ("cost", cost)):
        if amount is not None and not is_finite(amount):
            raise ValueError(f"{name} must be a number; got {amount!r}.")
    k = positive_place(rules, pos_label)
    matches, likely, is_positive, weight = _ranked_rows(rules, X, y, sample_weight, k)
    label = render.plain(rules.outcome.view.prediction(rules.outcome.labels[k]))
    if not weight @ is_positive:
        raise ValueError(f"gains needs rows of the positive class; none is {label}.")
    _, step = np.unique(-np.round(likely, DIGITS), return_inverse=True)
    numbers = rules._form.apply(matches) + 1 if rules._form.is_exclusive else None

    def running(amounts):
        return np.cumsum(np.bincount(step, amounts))

    columns = weight, weight * is_positive, weight * likely
    n_rows, n_positive, expected = map(running, columns)
    rate = n_positive[-1] / n_rows[-1]
    steps = []
    for i in range(len(n_rows)):
        precision = float(n_positive[i] / n_rows[i])
        of_step = () if numbers is None else np.unique(numbers[step == i]).tolist()
        found: dict[str, Any] = {
            "rules": tuple(of_step),
            "threshold": float(likely[step == i].min()),
            "share": float(n_rows[i] / n_rows[-1]),
            "n_rows": float(n_rows[i]),
            "n_positive": float(n_positive[i]),
            "expected": float(expected[i]),
            "captured": float(n_positive[i] / n_positive[-1]),
            "precision": precision,
            "lift": precision / float(rate),
        }
        if benefit is not None and cost is not None:
            spent = cost * found["n_rows"]
            found["profit"] = benefit * found["n_positive"] - spent
            found["expected_profit"] = benefit * found["expected"] - spent
        steps.append(found)
    return Gains(tuple(steps), label)


def best_threshold(
    rules: Any, X: Rows, y: Column, costs: Any, sample_weight: Column | None = None
) -> float:
    """The threshold that costs least on these rows, for `RuleModel.with_threshold`.

    Rules predict few distinct probabilities, so many thresholds cost the same. Of these
    it is the one that the costs imply for exact probabilities, rounded to three digits
    or as many as needed, if it is among them, else a short number between the two
    probabilities that it separates.

    Parameters
    ----------
    rules : RuleModel or Simplifier
        For two classes, with probabilities.
    X : array-like or data frame of shape (n_samples, n_features)
        Preferably rows that the rules were not fitted to.
    y : array-like of shape (n_samples,)
        Rows of unknown classes are left out.
    costs : dict from (true class, predicted class) to float, or array
        Cost of each kind of error; those not given cost 1.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    float
        The probability of `pos_label`, or of the second class, from which it is
        predicted.

    Examples
    --------
    >>> X, y = [[21.0, 3.0], [31.0, 3.0], [19.0, 3.0]], ["yes", "yes", "no"]
    >>> best_threshold(rules, X, y, {("yes", "no"): 4, ("no", "yes"): 1})
    0.2
    >>> best_threshold(rules, X, y, {("yes", "no"): 1, ("no", "yes"): 1})
    0.2
    """
    rules = getattr(rules, "rules_", rules)
    outcome = rules.outcome
    if not (outcome.is_binary and rules._form.has_probabilities):
        raise ValueError(
            "best_threshold needs rules for two classes, with probabilities; got "
            f"{outcome.n_classes} classes, "
            f"{'with' if rules._form.has_probabilities else 'without'} probabilities."
        )
    matrix, k = outcome.decision(costs=costs).costs, outcome.positive_index
    missed, flagged = float(matrix[k, 1 - k]), float(matrix[1 - k, k])
    _, likely, is_positive, weight = _ranked_rows(rules, X, y, sample_weight, k)
    values, step = np.unique(np.round(likely, DIGITS), return_inverse=True)
    # From the first entry, where all rows are predicted positive, to the last: none.
    lost = np.append(0.0, np.cumsum(np.bincount(step, weight * is_positive)))
    spared = np.append(0.0, np.cumsum(np.bincount(step, weight * ~is_positive)))
    cost = missed * lost - flagged * spared
    ends = np.array([0.0, *values, 1.0])
    # No threshold is below a probability of 0, nor above one of 1.
    cost[np.diff(ends) <= 0] = np.inf
    slack = 1e-12 * weight.sum() * max(missed, flagged)
    cheapest = np.flatnonzero(cost <= cost.min() + slack)
    implied = flagged / (missed + flagged)
    # A threshold lies between two probabilities; all of these predict the same.
    for place in cheapest:
        if ends[place] < implied < ends[place + 1]:
            return _short_between(ends[place], ends[place + 1], implied, LEAST_DIGITS)
    nearest = cheapest[
        np.argmin(np.abs((ends[:-1] + ends[1:])[cheapest] / 2 - implied))
    ]
    low, high = ends[nearest], ends[nearest + 1]
    return _short_between(low, high, (low + high) / 2)


def positive_place(rules, pos_label, what="gains"):
    """The number of the class that is looked for."""
    outcome, labels = rules.outcome, list(rules.outcome.labels or ())
    if not (labels and rules._form.has_probabilities):
        raise ValueError(
            f"{what} needs rules for classes, with probabilities; got rules for "
            f"{rules.task}{' without them' * bool(labels)}."
        )
    if pos_label is None and outcome.is_binary:
        return outcome.positive_index
    if pos_label not in labels:
        raise ValueError(
            f"pos_label must be one of the classes {labels[:5]!r}; got {pos_label!r}."
        )
    return labels.index(pos_label)


def _ranked_rows(rules, X, y, sample_weight, k):
    """Matches, probabilities of class k, whether it is true, and weights."""
    outcome, matrix = rules.outcome, rules._encode(X)
    y = outcome.read(y, len(matrix))
    check_weight(sample_weight, len(y))
    # As they are given: a row of weight 2 is contacted twice.
    weight = np.ones(len(y)) * (1.0 if sample_weight is None else sample_weight)
    outcome.check_known(y)
    true = outcome.encode_any(y)
    kept = outcome.is_known(true) & (weight > 0)
    matches = rules._covers(matrix[kept])
    return (
        matches,
        rules._form.predict_proba(matches)[:, k],
        true[kept] == k,
        weight[kept],
    )


def _short_between(low, high, wanted, least_digits=1):
    """A number above `low` and below `high` with few digits, near `wanted`.

    Examples
    --------
    >>> _short_between(0.1, 0.8, 0.45), _short_between(0.1234, 0.1236, 0.1235)
    (0.5, 0.1235)
    """
    for digits in range(least_digits, DIGITS):
        short = round(float(wanted), digits)
        if low < short < high:
            return short
    return float(wanted)


def survival(
    rules: RuleModel, X: Rows, y: Column, times: Any = None
) -> dict[str, float]:
    """Measures of rules of survival that scikit-survival has.

    Rows that are censored count by the censoring of the training rows.

    Parameters
    ----------
    rules : RuleModel
        Rules of survival.
    X : array-like or data frame of shape (n_samples, n_features)
    y : structured array, or array-like of shape (n_samples, 2)
    times : sequence of float, optional
        For the AUC; by default the horizons of the rules.

    Returns
    -------
    dict from str to float
        Uno's concordance ("uno") and the integrated Brier score ("brier"), both up to
        the time that nine of ten training rows reach at most, and the AUC of events
        until each of the times, such as "auc 365", and its mean ("auc").

    Examples
    --------
    >>> import numpy as np
    >>> from defragtrees import DefragSurvival
    >>> X = np.random.default_rng(0).uniform(30, 80, (300, 1))
    >>> time = np.random.default_rng(1).exponential(np.where(X[:, 0] > 60, 2.0, 8.0))
    >>> y = np.column_stack([np.minimum(time, 9) < 9, np.minimum(time, 9)])
    >>> simple = DefragSurvival(max_rules=2, times=5, random_state=0).fit(X, y)
    >>> list(survival(simple.rules_, X, y))
    ['uno', 'brier', 'auc', 'auc 5']
    """
    require("sksurv.metrics", "These measures")
    if rules.task != "survival":
        raise ValueError(f"Rules for survival are needed; got rules for {rules.task}.")
    outcome: Any = rules.outcome
    if times is not None:
        outcome = outcome.with_horizons(times)
    form, matches = rules._form, rules.covers(X)
    rows = outcome.read(y, len(matches))
    given = (
        rows,
        np.ones(len(rows)),
        form.predict(matches),
        outcome.likely(form, matches),
    )
    found: dict[str, float] = outcome.scores.of(outcome, *given).weighted_by_censoring()
    return found
