"""simplify_path: rule lists of every length, scored on held-out rows."""

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_consistent_length

from defragtrees import plots
from defragtrees._api import check_names
from defragtrees._utils import formatting as render
from defragtrees._utils.progress import part
from defragtrees._utils.types import Column, Floats, Rows
from defragtrees.data.evaluation import decided_alike, rule_scores
from defragtrees.estimators import estimator_for
from defragtrees.estimators.base import open_validation
from defragtrees.estimators.defrag import DefragClassifier
from defragtrees.estimators.inputs import one_seed, open_model
from defragtrees.metrics.rulesets import trade_off_scores
from defragtrees.outcomes import MEASURES
from defragtrees.outcomes.decision import cost_matrix
from defragtrees.rules.model import RuleModel
from defragtrees.rules.text import MAYBE_TRAINED
from defragtrees.tables import check_finite, one_column, take_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes


N_GROUPS = 50  # groups of rows of the jackknife


def simplify_path(
    model: Any,
    X: Rows,
    y: Column | None = None,
    sample_weight: Column | None = None,
    *,
    validation: tuple[Any, ...] | None = None,
    test_size: float = 0.25,
    choose_by: str | None = None,
    random_state: Any = None,
    **settings: Any,
) -> "RulePath":
    """Find the best rule list of every length, and measure each on held-out rows.

    The lists are those of `simplify`, found on all rows. To score them, the search is
    repeated without the held-out rows, which are taken from `validation` if given, else
    from X.

    Parameters
    ----------
    model : fitted model, path or Forest
        The model to simplify.
    X : array-like or data frame of shape (n_samples, n_features)
        If the model was trained on these rows, its own error is too low; pass
        `validation` for a fair comparison.
    y : array-like of shape (n_samples,), optional
        True values. Without y, errors are disagreement with the model.
    sample_weight : array-like of shape (n_samples,), optional
        Weight of each row; 1 by default.
    validation : tuple (X, y) or (X, y, sample_weight), optional
        Rows that the model was not trained on, in memory; see `simplify`.
    test_size : float or int, default=0.25
        Share or number of rows to hold out.
    choose_by : str, optional
        Measure by which a list is chosen: the shortest within one standard error of the
        best. "error" or, with y, "auc", "average_precision", "log_loss", "brier",
        "precision", "recall" or "expected_cost" for classes, "rmse", "mae" or "r2" for
        numbers. By default the list that `simplify` returns is chosen.
    random_state : int, Generator or None, default=None
        Seed of the search and of the split.
    **settings
        Settings of `DefragClassifier` or `DefragRegressor`, such as `max_rules`.

    Returns
    -------
    RulePath

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RandomForestClassifier(random_state=0).fit(X, y)
    >>> path = simplify_path(model, X, y, max_rules=4, random_state=0)
    >>> [point.n_rules for point in path.points]
    [1, 2, 3, 4]
    >>> by_log_loss = simplify_path(model, X, y, max_rules=4, random_state=0,
    ...                             choose_by="log_loss")
    >>> by_log_loss.chosen_by, by_log_loss.rules.n_rules
    ('log_loss', 4)
    """
    check_names(settings, [f.name for f in fields(DefragClassifier)], "simplify_path")
    seed = one_seed(random_state)
    y = None if y is None else one_column(y)
    rows = X, y, sample_weight
    check_consistent_length(*rows)
    divided: Any = rows if validation is None else _validation_rows(validation)
    places = np.arange(len(divided[0]))
    train, test = train_test_split(places, test_size=test_size, random_state=seed)
    kept, held_out = (
        tuple(take_rows(column, places) for column in divided)
        for places in (train, test)
    )
    limit, verbose = settings.get("max_calls"), settings.get("verbose", 0)
    n_reserved = 0 if validation is None else len(places)
    forest = open_model(model, X, y, seed, limit, verbose, n_reserved)
    _check_choice(choose_by or "error", forest.outcome, divided[1] is not None)
    kind = estimator_for("defrag", forest.outcome)

    def fitted(rows, validation):
        simple = kind(forest, random_state=seed, **settings)
        return simple._fit(forest, *rows, validation=validation)

    with part(0.0, 0.5):
        every = fitted(rows, validation)
    with warnings.catch_warnings(), part(0.5, 1.0):
        # These rules are only measured; the fit above gave the same warnings.
        warnings.simplefilter("ignore")
        partial = fitted(kept, None) if validation is None else fitted(rows, kept)
    X, y, weight = held_out
    y = None if y is None else partial.rules_.outcome.read(y)
    path = _path(every, partial, X, y, weight, choose_by)
    path = replace(path, is_new=validation is not None)
    if choose_by is not None:
        return path
    same = (i for i, p in enumerate(path.points) if p.rules == every.rules_)
    return replace(path, chosen=next(same), chosen_by=None)


@dataclass(frozen=True, eq=False)
class RulePath(render.Tabular):
    """Rule lists of every length with their scores, the result of `simplify_path`.

    Parameters
    ----------
    points : tuple of PathPoint
        Sorted by number of rules, then by number of conditions.
    chosen : int
        Index of the chosen list.
    model_error : float
        Error of the model on the same rows; 0 if errors are against the model.
    is_against_y : bool, default=True
        Whether errors are against y, not against the model.
    chosen_by : str or None, default="error"
        The measure by which the list was chosen; None if `simplify` chose it.
    model_measures : dict from str to float
        The other measures of the model on the same rows.
    is_new : bool, default=False
        Whether the rows are those of `validation`, unknown to the model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees import simplify_path
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    >>> path = simplify_path(forest, X, y, max_rules=3, random_state=0)
    >>> [row["n_rules"] for row in path.rows()], path.rules.n_rules
    ([1, 2, 3], 3)
    >>> path.plot().get_xlabel()
    'number of rules'
    """

    points: "tuple[PathPoint, ...]"
    chosen: int
    model_error: float
    is_against_y: bool = True
    chosen_by: str | None = "error"
    model_measures: dict[str, float] = field(default_factory=dict)
    is_new: bool = False

    @property
    def rules(self) -> RuleModel:
        """The chosen list."""
        return self.points[self.chosen].rules

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per list; `n_conditions` is the total of all rules."""
        return [
            {
                "n_rules": point.n_rules,
                "n_conditions": point.rules.n_conditions,
                "error": point.error,
                "standard_error": point.standard_error,
                "fidelity": point.fidelity,
                "coverage": point.coverage,
                "overlap": point.overlap,
                **point.measures,
                **{f"{k}_standard_error": v for k, v in point.measure_errors.items()},
                "chosen": i == self.chosen,
            }
            for i, point in enumerate(self.points)
        ]

    def _shown(self):
        """The measures in the table, from name to heading."""
        there = self.points[0].measures if self.points else ()
        outcome = self.rules.outcome
        shown = outcome.view.measure_titles(there, narrow=True, also=self.chosen_by)
        if "error" in shown or self.chosen_by in (None, "error"):
            # In the first place; that of numbers is shown in their unit.
            heading = shown.pop("rmse", "error" if outcome.n_classes else "RMSE")
            shown = {"error": heading, **shown} | {"error": heading}
        return shown

    def _cells(self):
        shown = self._shown()
        spreads, outcome = {"error": "standard_error"}, self.rules.outcome
        lines = []
        for row in self.rows():
            line = [f"{row['n_rules']}{' *' if row['chosen'] else ''}"]
            line.append(f"{row['n_conditions']}")
            for name in shown:
                value = row[name]
                spread = row.get(spreads.get(name, f"{name}_standard_error"))
                if name == "error":
                    spread = outcome.shown_deviation(value, spread)
                    value = outcome.shown_error(value)
                error = "" if spread is None else f" ± {render.rounded(spread, 2)}"
                line.append(f"{render.rounded(value)}{error}")
            line += [f"{row['fidelity']:.3f}", render.share(row["coverage"])]
            lines.append(line)
        header = ["rules", "conditions", *shown.values(), "fidelity", "coverage"]
        return header, lines

    def _notes(self):
        error = self.rules.outcome.shown_error(self.model_error)
        scores = {"error": error, **self.model_measures}
        texts = [
            f"{head} {render.rounded(scores[name])}"
            for name, head in self._shown().items()
            if name in scores
        ]
        is_fair = self.is_new or not self.is_against_y
        note = "" if is_fair else f" ({MAYBE_TRAINED})"
        chosen = "returned by simplify"
        if self.chosen_by is not None:
            chosen = f"chosen by {self.chosen_by}: "
            chosen += "the shortest within one standard error of the best"
        return [f"* {chosen}", f"model: {', '.join(texts)}{note}"]

    def __repr__(self) -> str:
        return (
            f"<RulePath: {len(self.points)} lists, {self.rules.n_rules} rules chosen>"
        )

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Plot error against number of rules; returns the Axes."""
        return plots.trade_off(self, ax=ax)


@dataclass(frozen=True, eq=False)
class PathPoint:
    """A rule list of a path and its scores on the held-out rows.

    Parameters
    ----------
    rules : RuleModel
    error : float
        Error against y, or against the model without y.
    standard_error : float
        Standard error of `error`.
    fidelity, coverage, overlap : float
        As in `evaluate`.
    measures : dict from str to float
        The other measures of `evaluate`; empty without y.
    measure_errors : dict from str to float
        Standard error of the measure by which the list is chosen.
    """

    rules: RuleModel
    error: float
    standard_error: float
    fidelity: float
    coverage: float
    overlap: float
    measures: dict[str, float] = field(default_factory=dict)
    measure_errors: dict[str, float] = field(default_factory=dict)

    @property
    def n_rules(self) -> int:
        """Number of rules, including the default rule."""
        return self.rules.n_rules


def measure_path(
    lists: Iterable[RuleModel],
    matrix: Floats,
    expected: Column,
    answers: Column,
    sample_weight: Column | None = None,
    is_against_y: bool = False,
) -> "tuple[PathPoint, ...]":
    """Measure each rule model on encoded rows, as a PathPoint.

    The arguments are those of `metrics.rulesets.trade_off_scores`. All measures are
    added if `expected` is y (`is_against_y`).
    """
    rows = matrix, expected, answers, sample_weight
    points = []
    for rules in lists:
        point = PathPoint(rules, **trade_off_scores(rules, *rows))
        if is_against_y:
            scores = _scorer(rules, matrix, expected)(sample_weight)
            point = replace(point, measures=rules.outcome.measured(scores))
        points.append(point)
    return tuple(points)


def _validation_rows(validation):
    """X, y and weights of `validation`, which must be in memory."""
    source = open_validation(validation)
    if not source.is_in_memory:
        raise TypeError(
            "simplify_path needs the rows of validation in memory, to split them; got "
            f"{type(validation[0]).__name__}. Pass a table."
        )
    return source.X, one_column(source.y), source.sample_weight


def _check_choice(choose_by, outcome, has_labels):
    """Raise for a measure that is unknown, or that needs y if there is none."""
    names = ["error", *(measure.name for measure in outcome.measures())]
    if choose_by not in names:
        raise ValueError(
            f"choose_by must be one of {names!r} for this model; got {choose_by!r}."
        )
    if choose_by != "error" and not has_labels:
        raise ValueError(
            f"choose_by={choose_by!r} needs y; got None. Pass y, or use "
            "choose_by='error', the disagreement with the model."
        )


def _path(every, partial, X, y, weight, choose_by):
    """Make the RulePath of an estimator; `partial` was fitted without these rows."""
    rules, forest = partial.rules_, partial.forest_
    outcome, matrix = rules.outcome, rules._encode(X)
    check_finite(matrix, rules.feature_names)
    raw = forest.predict_raw_encoded(matrix)
    answers = forest.predict_from_raw(raw)
    expected = answers if y is None else y
    shown = path_lists(every, every.rules_)
    scored = [_alike(rules, every, partial) for rules in shown]
    points = measure_path(scored, matrix, expected, answers, weight, y is not None)
    choose_by = choose_by or "error"
    if choose_by != "error":
        points = _with_errors(points, matrix, y, weight, choose_by)
    points = tuple(
        replace(point, rules=one) for point, one in zip(points, shown, strict=True)
    )
    chosen = _chosen(points, choose_by)
    probabilities = outcome.probabilities_of(forest, raw)
    decided = outcome.encode_any(answers)
    decided = outcome.decode(decided_alike(rules, decided, probabilities))
    error = 0.0 if y is None else outcome.error(y, decided, weight)
    measures = {}
    if y is not None:
        measures = outcome.measure(
            y, decided, weight, probabilities, cost_matrix(rules)
        )
    return RulePath(points, chosen, error, y is not None, choose_by, measures)


def path_lists(simple, rules):
    """The lists that an estimator kept, and its rules, by length; empty without any."""
    lists = list(getattr(simple, "path_", {}).values())
    if lists and rules not in lists:
        lists.append(rules)
    return sorted(lists, key=lambda rules: (rules.n_rules, rules.n_conditions))


def _alike(rules, every, partial):
    """The list of `partial` with as many rules, or conditions, as one of `every`."""
    if every.path_.get(rules.n_rules) == rules:
        return partial.path_[max(n for n in partial.path_ if n <= rules.n_rules)]
    shorter = partial.path_by_conditions_
    return shorter[max(n for n in shorter if n <= rules.n_conditions)]


def _chosen(points, choose_by):
    """Index of the shortest list within one standard error of the best."""
    if choose_by == "error":
        losses = [point.error for point in points]
        spreads = [point.standard_error for point in points]
    else:
        sign = -1.0 if MEASURES[choose_by].is_larger_better else 1.0
        losses = [sign * point.measures[choose_by] for point in points]
        spreads = [point.measure_errors[choose_by] for point in points]
    if any(math.isnan(loss) for loss in losses):
        raise ValueError(
            f"choose_by={choose_by!r} needs held-out rows of at least two classes; got "
            "one. Pass more rows, or a larger test_size."
        )
    best = int(np.argmin(losses))
    limit = losses[best] + spreads[best]
    return next(i for i, loss in enumerate(losses) if loss <= limit)


def _scorer(rules, matrix, y):
    """A function from weights to the scores of the rules on these rows."""
    outcome = rules.outcome
    predicted = outcome.encode_any(rules._predict(rules._covers(matrix)))
    held, labels = rules._covers(matrix), outcome.encode_any(y)

    def scores(weight):
        weight = np.ones(len(matrix)) if weight is None else np.asarray(weight, float)
        return rule_scores(rules, held, predicted, labels, weight)

    return scores


def _with_errors(points, matrix, y, weight, name):
    """Add the standard error of a measure, by a jackknife over groups of rows.

    Rows were split at random, so groups can be made by row number.
    """
    weight = np.ones(len(matrix)) if weight is None else weight
    n_groups = min(N_GROUPS, len(matrix))
    group = np.arange(len(matrix)) % n_groups
    again = []
    for point in points:
        scores = _scorer(point.rules, matrix, y)
        parts = (scores(weight * (group != g)) for g in range(n_groups))
        values = [MEASURES[name].of(part) for part in parts]
        # A class may be missing without some rows.
        values = [value for value in values if not math.isnan(value)]
        variance = np.var(values) * (n_groups - 1) if values else 0.0
        error = {name: math.sqrt(variance)}
        again.append(replace(point, measure_errors=error))
    return tuple(again)
