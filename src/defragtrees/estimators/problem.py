"""Problem: the validated input of a method."""

import dataclasses
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from defragtrees.data.grid import Binned, ThresholdGrid, rows_covered
from defragtrees.data.sampling import hash_rows, name_order, ranks
from defragtrees.data.store import RowStore
from defragtrees.ensembles.forest import Forest
from defragtrees.outcomes import make_outcome
from defragtrees.rules.conditions import Rule
from defragtrees.rules.forms import FORMS
from defragtrees.rules.labels import ORDERED
from defragtrees.rules.models import MODELS


@dataclass(frozen=True, eq=False)
class Problem:
    """Training rows, the target, and the forest whose thresholds rules may use.

    Categories in X are positions, missing values NaN; X is None if only codes are
    kept.
    """

    X: np.ndarray | None
    target: np.ndarray  # of the rules: class indices, or numbers
    sample_weight: np.ndarray
    task: str
    classes: tuple[Any, ...] | None
    feature_names: tuple[str, ...]
    categories: tuple[tuple[Any, ...] | None, ...]
    forest: Forest
    shorten: bool = True  # whether the grid's thresholds may be shortened
    given_binned: Binned | None = None  # if the rows are binned already
    store: Any = None  # all rows; those here may be a sample of them
    probabilities: np.ndarray | None = None  # class probabilities of the model
    labels: np.ndarray | None = None  # y, as class indices or numbers
    # labels and kinds of features and classes, as fields of a RuleModel
    words: dict[str, Any] = field(default_factory=dict)
    # positions of the rows in the table of the store
    places: np.ndarray | None = None
    # rows on which rules are searched for; None is all
    searched: np.ndarray | None = None
    # rows on which rules are counted, on the grid of `store`; None is `store`
    counting: RowStore | None = None

    @classmethod
    def of_store(
        cls, store, forest, n_rows, rng, shorten=True, words=None, counting=None
    ):
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
            task=forest.task,
            classes=forest.classes,
            feature_names=forest.feature_names,
            categories=forest.categories or (),
            forest=forest,
            shorten=shorten,
            given_binned=Binned(np.asfortranarray(shard.codes), store.grid),
            store=store,
            counting=counting,
            probabilities=targets.get("probabilities"),
            labels=targets.get("labels"),
            words=words or {},
            places=np.arange(len(shard)),
        ).in_canonical_order()

    def with_forest(self, forest, shorten):
        """The same rows, to be binned by the splits of another forest."""
        return dataclasses.replace(
            self, forest=forest, shorten=shorten, given_binned=None
        )

    def without_integers(self, features):
        """The same problem, with integer features treated as real numbers."""
        if not features:
            return self
        binned = Binned(self.binned.codes, self.grid.without_integers(features))
        return dataclasses.replace(self, given_binned=binned)

    @property
    def is_searched(self):
        """Mask of the rows on which rules are searched for."""
        if self.searched is None:
            return np.ones(len(self.target), dtype=bool)
        return self.searched

    @property
    def is_sample(self):
        """Whether the rows may be a sample, kept as codes only."""
        return self.X is None

    @cached_property
    def grid(self):
        """The forest's thresholds, shortened if `shorten` is true."""
        if self.given_binned is not None:
            return self.given_binned.grid
        grid = ThresholdGrid(tuple(self.forest.splits()))
        if not self.shorten:
            return grid
        return grid.shorten(self.X, self.words.get("feature_kinds"))

    @cached_property
    def binned(self):
        """The rows as bin numbers of the grid."""
        if self.given_binned is not None:
            return self.given_binned
        return self.grid.bin(self.X)

    @cached_property
    def outcome(self):
        """The outcome: its losses, checks and texts."""
        return make_outcome(self.task, self.classes)

    def column(self, feature):
        """The values of a feature; without X, one value of each bin."""
        if self.X is not None:
            return self.X[:, feature]
        return self.store.values[feature][self.binned.codes[:, feature]]

    def covered(self, conditions):
        """Mask of the rows that match all conditions."""
        if self.X is not None:
            return rows_covered(conditions, self.X)
        codes, values = self.binned.codes, self.store.values
        return rows_covered(conditions, codes=codes, values=values)

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

    def number_near(self, rows):
        """The prediction for the rows of a mask, if the target is numeric, else None.

        Sums of a rule are taken around this number, to avoid rounding errors.
        """
        if self.n_classes:
            return None
        rows = rows if rows.any() else np.ones_like(rows)
        sums = self.target_sums(rows)
        return sums.answer(self.outcome, sums.basis(0), self.spread)["prediction"]

    @property
    def n_classes(self):
        """Number of classes; 0 for regression."""
        return self.outcome.n_classes

    @property
    def ordered_features(self):
        """Features whose categories have an order."""
        kinds = self.words.get("feature_kinds") or ()
        return frozenset(j for j, kind in enumerate(kinds) if kind == ORDERED)

    @cached_property
    def feature_order(self):
        """Features sorted by name, so that the order of columns does not matter."""
        return name_order(self.feature_names)

    def rule_set(self, rules, form="list"):
        """Make a rule model for this problem; the last of the rules is the default."""
        *rules, default = rules
        return MODELS[form](
            rules=tuple(rules),
            default=default,
            feature_names=self.feature_names,
            task=self.task,
            classes=self.classes,
            categories=self.categories,
            **self.words,
        )

    def blank(self, form):
        """A rule model with only a default rule."""
        sums = self.target_sums(np.ones(len(self.target), dtype=bool))
        answer = sums.answer(self.outcome, sums.basis(0), self.spread)
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
        return dataclasses.replace(
            self,
            X=_taken(self.X, rows),
            target=self.target[rows],
            sample_weight=self.sample_weight[rows],
            given_binned=_taken(self.given_binned, rows),
            probabilities=_taken(self.probabilities, rows),
            labels=_taken(self.labels, rows),
            places=_taken(self.places, rows),
            searched=_taken(self.searched, rows),
        )


def predicting_rule(problem, conditions, taken, basis=None, held=None):
    """Make the rule that predicts these training rows."""
    outcome, sums = problem.outcome, problem.target_sums(taken)
    if basis is None:
        every = np.ones_like(taken)
        basis = (sums if taken.any() else problem.target_sums(every)).basis(0)
    answer = sums.answer(outcome, basis, problem.spread)
    weight = problem.sample_weight
    held = problem.covered(conditions) if held is None else held
    return Rule(
        conditions,
        coverage=float(weight[held].sum() / weight.sum()),
        share=float(weight[taken].sum() / weight.sum()),
        **answer,
        **sums.error(0, outcome, answer["prediction"]),
    )


def _taken(array, rows):
    return None if array is None else array[rows]
