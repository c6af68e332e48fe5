"""Problem: the validated input of a method, and what its model misses of y."""

import dataclasses
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from defragtrees.data.grid import ThresholdGrid, rows_covered
from defragtrees.data.sampling import draw_rows, hash_rows, name_order, ranks
from defragtrees.data.store import RowStore
from defragtrees.ensembles.black_box import MOST_CATEGORIES
from defragtrees.ensembles.forest import Forest
from defragtrees.rules.conditions import Rule
from defragtrees.rules.forms import FORMS
from defragtrees.rules.labels import ORDERED
from defragtrees.rules.models import MODELS
from defragtrees.rules.profile import Correction

# Fields of a Problem with an entry for each row.
BY_ROW = (
    "X target sample_weight codes probabilities labels places worth searched".split()
)


@dataclass(eq=False)
class Problem:
    """Rows with the target of the rules, as codes on the thresholds of a forest.

    Also the rows on which a search runs, and those on which its rules are compared.
    Categories in X are positions, missing values NaN; X is None if only codes are
    kept.
    """

    X: np.ndarray | None
    target: np.ndarray  # of the rules: class indices, or numbers
    sample_weight: np.ndarray
    forest: Forest  # whose thresholds rules may use
    outcome: Any
    codes: np.ndarray | None = None  # bins of the grid, in columns
    grid: ThresholdGrid | None = None
    store: Any = None  # all rows; those here may be a sample of them
    probabilities: np.ndarray | None = None  # class probabilities of the model
    labels: np.ndarray | None = None  # y, as class indices or numbers
    # labels and kinds of features and classes, as fields of a RuleModel
    words: dict[str, Any] = field(default_factory=dict)
    # positions of the rows in the table of the store
    places: np.ndarray | None = None
    # how many rows each counts as, if not 1; see `Shard.worth`
    worth: np.ndarray | None = None
    # rows on which rules are searched for; None is all
    searched: np.ndarray | None = None
    # rows on which rules are counted, on the grid of `store`; None is `store`
    counting: RowStore | None = None
    # of synthetic rows, the number of rows near which they were drawn
    n_near: int | None = None
    teacher: "Teacher | None" = None  # what rules learn beside the model

    def __post_init__(self):
        self.feature_names = self.forest.feature_names
        self.categories = self.forest.categories
        # features sorted by name, so that the order of columns does not matter
        self.feature_order = name_order(self.feature_names)
        kinds = self.words.get("feature_kinds") or ()
        # features whose categories have an order
        self.ordered_features = {j for j, kind in enumerate(kinds) if kind == ORDERED}
        self.classes, self.n_classes = self.outcome.labels, self.outcome.n_classes
        # whether the rows may be a sample, kept as codes only
        self.is_sample = self.X is None
        self._covered = {}  # the rows that match some conditions

    @classmethod
    def of_store(cls, store, forest, n_rows, rng, words=None, counting=None):
        """Make a problem of the rows of a store, or of a sample of its codes."""
        shard = store.table
        if shard is None:
            shard = store.draw(n_rows, name_order(forest.feature_names), rng)
        targets = shard.targets
        target = targets[store.target.name]
        return cls(
            X=shard.X,
            target=target.astype(np.intp) if store.n_classes else target,
            sample_weight=shard.sample_weight,
            forest=forest,
            outcome=forest.outcome,
            codes=np.asfortranarray(shard.codes),
            grid=store.grid,
            store=store,
            probabilities=targets.get("probabilities"),
            labels=targets.get("labels"),
            words=words or {},
            places=np.arange(len(shard)),
            worth=shard.worth,
            counting=counting,
        ).in_canonical_order()

    def with_forest(self, forest, shorten):
        """The same rows, binned by the splits of another forest."""
        grid = ThresholdGrid(tuple(forest.splits()))
        if shorten:
            grid = grid.shorten(self.X, self.words.get("feature_kinds"))
        codes = grid.bin(self.X)
        return dataclasses.replace(self, forest=forest, grid=grid, codes=codes)

    def synthetic(self, n_rows, rng):
        """Rows drawn near these and labelled by the model; see `draw_rows`.

        Of a black box, they are those that it was queried for.
        """
        X, outcome = self.forest.new_rows, self.outcome
        if X is None or len(X) < n_rows:
            is_set = np.array([c is not None for c in self.categories], dtype=bool)
            X = np.column_stack([self.column(j) for j in range(len(is_set))])
            given = rng, self.feature_order, self.sample_weight, self.grid.special
            X = draw_rows(X, n_rows, is_set, *given)
        X = X[:n_rows]
        raw = self.forest.predict_raw_encoded(X)
        return Problem(
            X=X,
            target=outcome.target_of(self.forest, raw),
            sample_weight=np.full(len(X), self.sample_weight.sum() / len(X)),
            forest=self.forest,
            outcome=outcome,
            codes=self.grid.bin(X),
            grid=self.grid,
            store=self.store,
            probabilities=outcome.probabilities_of(self.forest, raw),
            words=self.words,
            n_near=len(self.target),
            teacher=self.teacher,
        )

    @cached_property
    def outputs(self):
        """What rules imitate, as columns: class shares, or one number."""
        imitates = self.store is None or self.store.target.name == "answers"
        if imitates and self.probabilities is not None:
            outputs = self.probabilities.astype(np.float64)
        else:
            outputs = self.outcome.indicators(self.target)
        if self.teacher is None:
            return outputs
        return self.teacher.corrected(self, outputs)

    @cached_property
    def observed(self):
        """As `outputs`, but of y if it is known."""
        if self.labels is None:
            return self.outputs
        return self.outcome.indicators(self.labels)

    @cached_property
    def mean_weight(self):
        """The weights of rows in means of `outputs` and `observed`.

        They have the sum of the sample weights, whatever the unit of an exposure.
        """
        weight = self.outcome.mean_weight(self.labels, self.sample_weight)
        if weight is self.sample_weight:
            return weight
        return weight * (self.sample_weight.sum() / weight.sum())

    def column(self, feature):
        """The values of a feature; without X, one value of each bin."""
        if self.X is not None:
            return self.X[:, feature]
        return self.store.values[feature][self.codes[:, feature]]

    def covered(self, conditions):
        """Mask of the rows that match all conditions, kept for other rules."""
        if conditions not in self._covered:
            if self.X is not None:
                rows = rows_covered(conditions, self.X)
            else:
                codes, values = self.codes, self.store.values
                rows = rows_covered(conditions, codes=codes, values=values)
            self._covered[conditions] = rows
        return self._covered[conditions]

    def matches(self, rules):
        """Which rows match each conjunction of conditions; the last column is True."""
        columns = [self.covered(conditions) for conditions in rules]
        return np.column_stack([*columns, np.ones(len(self.target), dtype=bool)])

    @cached_property
    def center(self):
        """Weighted mean of a numeric target."""
        return float(np.average(self.target, weights=self.sample_weight))

    @cached_property
    def spread(self):
        """Weighted standard deviation of a numeric target; 0 for classes."""
        return self.target_sums(np.ones(len(self.target), dtype=bool)).spread

    def target_sums(self, rows):
        """Sums of the target in the rows of a mask."""
        outcome, weight = self.outcome, self.sample_weight[rows]
        return outcome.sums.of_group(outcome, self.target[rows], weight)

    def mean_of(self, rows):
        """The prediction of a number for the rows of a mask, or for all if it is empty.

        Sums of a rule are taken around this number, to avoid rounding errors.
        """
        sums = self.target_sums(rows if rows.any() else np.ones_like(rows))
        return sums.predicted(self.outcome, sums.basis(0), self.spread)["prediction"]

    def rule_set(self, rules, form="list"):
        """Make a rule model for this problem; the last of the rules is the default."""
        *rules, default = rules
        return MODELS[form](
            rules=tuple(rules),
            default=default,
            feature_names=self.feature_names,
            task=self.outcome.task,
            classes=self.classes,
            categories=self.categories,
            **self.words,
        )

    def blank(self, form):
        """A rule model with only a default rule."""
        sums = self.target_sums(np.ones(len(self.target), dtype=bool))
        answer = sums.predicted(self.outcome, sums.basis(0), self.spread)
        default = FORMS[form].uncounted(Rule((), **answer), self.outcome)
        return self.rule_set([default], form)

    def in_canonical_order(self):
        """The same problem with its rows sorted by a hash of their contents.

        So the order of the user's rows affects neither which rows are drawn nor the
        last bits of a sum. Equal rows are adjacent.
        """
        columns = [self.column(j) for j in self.feature_order]
        # The rank of the target, so that its units do not matter either.
        key = hash_rows([*columns, ranks(self.target)])
        by_label = () if self.labels is None else (ranks(self.labels),)
        return self.take(np.lexsort((*by_label, self.sample_weight, key)))

    def take(self, rows):
        """The problem with some of the rows, in this order."""
        columns = {name: getattr(self, name) for name in BY_ROW}
        return dataclasses.replace(
            self,
            **{
                name: None if values is None else values[rows]
                for name, values in columns.items()
            },
        )


def predicting_rule(problem, conditions, taken, basis=None, held=None):
    """Make the rule that predicts these training rows."""
    outcome, sums = problem.outcome, problem.target_sums(taken)
    if basis is None:
        every = np.ones_like(taken)
        basis = (sums if taken.any() else problem.target_sums(every)).basis(0)
    answer = sums.predicted(outcome, basis, problem.spread)
    weight = problem.sample_weight
    held = problem.covered(conditions) if held is None else held
    return Rule(
        conditions,
        coverage=float(weight[held].sum() / weight.sum()),
        share=float(weight[taken].sum() / weight.sum()),
        **answer,
        **sums.error(0, outcome, answer["prediction"]),
    )


# What rules learn beside a model: a small correction for what it misses of y.
#
# A booster learns y minus the model's predictions on the rows of a fit. It is fitted
# without each third of them in turn, and what it then predicts for this third shows how
# much of it is true: the weight of the correction is the slope of the differences on
# these predictions, less one standard error, from 0 to 1. So rules that imitate a model
# that misses nothing are not changed.

SEED = 0  # of the parts
N_PARTS = 3
LEAST_ROWS = 100  # fewer, by weight, show too little of what a model misses
MOST_ROWS = 20_000  # of more, so many are drawn
FREQUENT = 8  # equal rows that need not be in one part
LEAST_WEIGHT = 0.1  # that changes rules enough to be worth a line


@dataclass(frozen=True, eq=False)
class Teacher:
    """A model's correction: how much of what some boosters predict is added to it."""

    correction: Correction
    scale: float  # of the predictions
    boosters: list[list[Any]]  # for each part one for each output
    features: list[int]

    @threadpool_limits.wrap(limits=1)
    def corrected(self, rows, outputs):
        """The outputs of the model for the rows of a Problem, with what they miss."""
        matrix = np.column_stack([rows.column(j) for j in self.features])
        parts = [[one.predict(matrix) for one in own] for own in self.boosters]
        change = np.mean(parts, axis=0).T
        change *= self.correction.weight * self.scale
        return rows.outcome.corrected(outputs, change)


@threadpool_limits.wrap(limits=1)  # so that sums have one order
def find_teacher(problem):
    """The Teacher of the model of a Problem; None where y is not known or not missed.

    Also of a model that does not predict the mean of y but, say, its median.

    The rows of the problem are in an order that does not depend on the user's.
    """
    weight, sizes = problem.mean_weight, [len(c or ()) for c in problem.categories]
    features = [j for j in problem.feature_order if sizes[j] <= MOST_CATEGORIES]
    if problem.labels is None or problem.forest.predicts or not features:
        return None
    if weight.sum() ** 2 < LEAST_ROWS * (weight @ weight):
        return None
    # A row of weight two is a row given twice.
    n_rows = min(round(problem.sample_weight.sum()), MOST_ROWS)
    shares = (np.arange(n_rows) + 0.5) / n_rows
    rows = problem.take(np.searchsorted(np.cumsum(weight), shares * weight.sum()))
    matrix = np.column_stack([rows.column(j) for j in features])
    # Of two classes the second is enough.
    missed = (rows.observed - rows.outputs)[:, -problem.outcome.n_points :]
    scale = np.abs(missed).max()
    if not scale > 0:
        return None
    missed /= scale
    is_set = [sizes[j] > 0 and j not in problem.ordered_features for j in features]
    n_rounds = max(25 // missed.shape[1], 10)  # each of many classes has a booster
    # Few equal rows are in one part, so that none predicts itself.
    _, group, size = np.unique(
        hash_rows(matrix.T), return_inverse=True, return_counts=True
    )
    rng = np.random.default_rng(SEED)
    by_row, by_group = (rng.integers(N_PARTS, size=len(own)) for own in (group, size))
    part = np.where(size[group] < FREQUENT, by_group[group], by_row)
    boosters, found = [], np.zeros_like(missed)
    for k in range(N_PARTS):
        boosters.append([])
        for j, y in enumerate(missed.T):
            booster = HistGradientBoostingRegressor(
                max_iter=n_rounds,
                learning_rate=0.2,
                max_leaf_nodes=8,
                early_stopping=False,
                categorical_features=is_set if any(is_set) else None,
                random_state=SEED,
            )
            with warnings.catch_warnings():  # columns may have no values
                warnings.simplefilter("ignore", UserWarning)
                booster.fit(matrix[part != k], y[part != k])
            found[part == k, j] = booster.predict(matrix[part == k])
            boosters[-1].append(booster)
    square = max((found**2).sum(), 1e-300)
    slope = (found * missed).sum() / square
    scores = ((missed - slope * found) * found).sum(axis=1)
    error = np.linalg.norm(np.bincount(group, scores))
    weight = round(float(np.clip(slope - error / square, 0.0, 1.0)), 2)
    if weight < LEAST_WEIGHT:
        return None
    gain = 1 - ((missed - weight * found) ** 2).sum() / (missed**2).sum()
    correction = Correction(weight, round(float(gain), 3))
    return Teacher(correction, scale, boosters, features)
