"""From training rows to short rules that are the model: what the search is fed."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from defragtrees.data import devices
from defragtrees.data.new_rows import draw_rows
from defragtrees.data.shards import Shard
from defragtrees.outcomes.decision import Decision
from defragtrees.rules import forms
from defragtrees.rules.conditions import Rule
from defragtrees.search.algorithm import (
    boxes_from_tree,
    polish,
    polish_sets,
    search,
    search_sets,
    tree_sizes,
)
from defragtrees.search.all_rows import (
    AllRows,
    Folds,
    Imitated,
    JudgedRows,
    RowNumbers,
    ShardKeeper,
    polish_all_rows,
)
from defragtrees.search.choice import HeldOut, choose, held_out_rows
from defragtrees.search.limits import (
    MonotoneAnswers,
    refuse_without_lists,
    within_limits,
)
from defragtrees.search.lists import Limits, RuleBoxes
from defragtrees.search.losses import (
    LEAST_ERRORS,
    LEAST_SPREAD,
    BothLoss,
    ErrorLoss,
    SquaredLoss,
)
from defragtrees.search.moves import MOST_GROWN_BOXES as MOST_GROWN
from defragtrees.search.moves import cut_conditions, grow_rule
from defragtrees.search.points import LogOddsLoss, NumberLoss, PointBoxes
from defragtrees.search.standalone import StandaloneBoxes, add_rule
from defragtrees.search.table import RowTable, make_columns, make_table
from defragtrees.search.torch import DeviceKeeper, TorchKeeper

__all__ = [
    "AllRowsSearch",
    "CRITERIA",
    "FORMS",
    "PathCounter",
    "Refined",
    "Refinement",
    "SEARCH_CODES",
    "SEARCH_ROWS",
    "accepted_bins",
    "answering_rule",
    "box_conditions",
    "nearest",
    "refine",
    "refine_points",
    "refine_standalone",
    "rules_of_boxes",
    "search_losses",
    "search_rows",
]


def answering_rule(problem, conditions, taken, basis=None, held=None):
    """The rule that answers these training rows.

    Parameters
    ----------
    problem : Problem
    conditions : tuple of Condition
    taken : bool array of shape (n_samples,)
        The training rows that it answers.
    basis : array of shape (n_classes,) or float, optional
        What its answer rests on, class weights or a mean; by default those of the
        rows, or of all rows if there are none.
    held : bool array of shape (n_samples,), optional
        The training rows in which its conditions hold, if they are known.
    """
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
        answered=float(weight[taken].sum() / weight.sum()),
        **answer,
        **sums.error(0, outcome, answer["prediction"]),
    )


def rules_of_boxes(problem, rules, coverages=None):
    """The boxes of a list as rules, with what they say of the training rows.

    Parameters
    ----------
    problem : Problem
    rules : RuleBoxes or CountedBoxes
    coverages : dict, optional
        From conditions to the rows in which they hold; lists that share some may share
        it too.
    """
    coverages = {} if coverages is None else coverages
    conditions = [box_conditions(problem, rules.table, box) for box in rules.boxes]
    left = np.ones(len(problem.target), dtype=bool)
    answering = []
    for conjunction in [*conditions, ()]:
        covered = _covered(problem, conjunction, coverages)
        held = left & covered
        # A rule for new rows alone would have nothing to tell; where there are more
        # rows than these, some may be its own.
        if held.any() or not conjunction or problem.is_sample:
            answering.append(answering_rule(problem, conjunction, held, held=covered))
        left &= ~held
    return problem.rule_set(answering)


def _covered(problem, conditions, coverages):
    if conditions not in coverages:
        coverages[conditions] = problem.covered(conditions)
    return coverages[conditions]


def box_conditions(problem, table, box):
    """The conditions that a box over the codes of a table stands for."""
    columns = ((table.columns[j], mask) for j, mask in box.items())
    return problem.grid.conditions(
        (column.feature, accepted_bins(problem.grid, column, mask))
        for column, mask in columns
    )


def accepted_bins(grid, column, mask):
    """The bins of a feature that a box over the codes of its column accepts."""
    accepts = np.zeros(grid.n_bins[column.feature], dtype=bool)
    accepts[-1] = mask[-1] and column.has_missing
    inside = np.flatnonzero(mask[:-1])
    if column.is_set:
        # Categories that no training row has go with the larger part.
        accepts[:-1] = len(inside) > column.n_codes / 2
        accepts[column.bins] = mask[:-1]
    elif inside.size and grid.is_categorical(column.feature):
        # An order has ends, beyond which lie the categories that nobody has seen.
        first = column.bins[inside[0]] if inside[0] > 0 else 0
        is_open = inside[-1] == column.n_codes - 1
        accepts[
            first : len(accepts) - 2 if is_open else column.bins[inside[-1]] + 1
        ] = 1
    elif inside.size:
        is_open = inside[-1] == column.n_codes - 1
        first = _between(column.bins, inside[0] - 1) + 1 if inside[0] > 0 else 0
        end = -1 if is_open else _between(column.bins, inside[-1]) + 1
        accepts[first:end] = True
    return accepts


def _between(bins, code):
    """The middle one of the thresholds between a code and the next."""
    return (bins[code] + bins[code + 1] - 1) // 2


class AllRowsSearch:
    """What is asked of all rows once a sample has given lists.

    Parameters
    ----------
    problem : Problem
        With a sample of the rows of its store.
    settings : Refinement
    rows : SearchRows
        Those of the sample, and new ones.
    table : RowTable
        Of the same rows.
    loss : SquaredLoss, ErrorLoss or BothLoss
        That lists are polished by.
    """

    def __init__(self, problem, settings, rows, table, loss):
        self.grid, self.sample_columns = problem.grid, table.columns
        store = problem.store
        imitated = Imitated(
            problem.outcome, store.target, settings.is_labels, settings.decision
        )
        numbers = RowNumbers.of_totals(
            imitated,
            store.shards.total(imitated.totals),
            store.n_rows,
            store.total_weight,
            loss.counted[0] > 0,
        )
        columns = make_columns(
            problem.grid,
            store.counts,
            settings.features,
            problem.feature_order,
            problem.ordered_features,
        )
        new = _new_rows(rows, imitated, numbers) if rows.is_drawn.any() else None
        keeper = _keeper(store.shards.map(numbers.of), new, settings.engine)
        least_price = settings.brevity * store.total_weight
        wide = RowTable(columns, np.empty((0, len(columns))), least_price)
        self.rows = AllRows(keeper, wide, loss, numbers, problem.grid.n_bins)
        self.imitated = imitated

    @property
    def total_weight(self):
        """Of all rows."""
        return self.rows.loss.total_weight

    def judge(self, problem, settings, rows):
        """Who judges lists of the sample; nothing here keeps it, or rows, for longer.

        Parameters
        ----------
        problem, settings, rows : as before
        """
        order, n_rows = problem.feature_order, int((~rows.is_drawn).sum())
        codes, weight = rows.codes[:n_rows], rows.weight[:n_rows]
        folds = Folds.of_sample(codes, weight, order)
        is_seen = np.concatenate([folds.of(codes)[0], rows.is_drawn[n_rows:]])
        counts_errors = settings.criterion == "error"
        visits = self.rows.keeper.judging(problem.store.shards, self.imitated, folds)
        judged = JudgedRows(visits, self.rows, counts_errors)
        return SampleJudge(judged, self.lists_of, is_seen)

    def lists_of(self, lists):
        """Lists over the codes of the sample as lists over those of all rows."""
        return [self.rows.list_of(map(self._moved, own.boxes)) for own in lists]

    def _moved(self, box):
        """A box over the codes of the sample as one over those of all rows."""
        columns = {own.feature: j for j, own in enumerate(self.rows.table.columns)}
        moved = {}
        for j, mask in box.items():
            sample = self.sample_columns[j]
            place = columns[sample.feature]
            bins = accepted_bins(self.grid, sample, mask)
            column = self.rows.table.columns[place]
            accepted = np.append(bins[column.bins], bins[-1])
            if not column.accepts_all(accepted):
                moved[place] = accepted
        return moved

    def polished(self, best, limits):
        """Lists of the sample after a descent over all rows, by number of rules."""
        starts = [own.boxes for own in self.lists_of(best.values())]
        return polish_all_rows(self.rows, starts, limits)


def _keeper(shards, new, engine):
    """Who answers for all rows: GPUs if they are asked for, else the shards."""
    if engine != "cuda":
        return ShardKeeper(shards, new)
    if not shards.is_here:
        return DeviceKeeper(shards, devices.DEVICE, new)
    return TorchKeeper(
        [*shards.shards, *([] if new is None else [new])], devices.DEVICE
    )


def _new_rows(rows, imitated, numbers):
    """The rows that were drawn beside the data, as a shard of whole numbers."""
    is_drawn = rows.is_drawn
    outputs, scale = rows.outputs, numbers.mean_weight / numbers.unit
    if outputs is None:
        column = imitated.column
        outputs = (rows.target - column.center) / column.scale
    shard = Shard(rows.codes[is_drawn], {})
    weight = rows.weight[is_drawn] * scale
    return numbers.with_outputs(shard, outputs[is_drawn], weight)


class SampleJudge:
    """Judges lists that were found on some rows of a sample by all rows.

    Parameters
    ----------
    judged : JudgedRows
    lists_of : callable
        From lists of the sample to lists of all rows.
    is_seen : bool array
        Rows of the sample to find lists on.
    """

    def __init__(self, judged, lists_of, is_seen):
        self.judged, self.lists_of, self.is_seen = judged, lists_of, is_seen

    def scores(self, lists):
        """A ListScore for each of some RuleBoxes of the sample."""
        return self.judged.scores(self.lists_of(lists)) if lists else []


MOST_ROWS = 100_000  # with more rows, refine looks at a sample of them
SAMPLE_ROWS = 25_000  # or at fewer, if all rows have the last word
SEARCH_ROWS = 3_000  # so many rows are enough to search; the result is polished on all
SEARCH_CODES = 64  # and so many codes of a feature
SEARCH_RULES = 10  # a list of few rules is better cut from a longer one
SLACK = 0.5  # on the way a rule may have so much less than the rows it must have
EMPHASIS = 1.0  # nats for classes count so many times those for probabilities
CRITERIA = ("both", "probability", "error")


@dataclass(frozen=True)
class Refinement:
    """How to refine.

    Parameters
    ----------
    max_rules : int
    max_conditions : int or None
        Of one rule.
    min_coverage : float
        Share of the rows that a rule must answer.
    brevity : float
        Nats a row that a condition must be worth.
    asked : RuleLimits or None
        What else a user asks for.
    features : frozenset of int or None
        Features that rules may use.
    n_new_rows : int
        Rows to draw near the data.
    criterion : str
        One of `CRITERIA`.
    decision : Decision or None
        From probabilities to a class.
    is_labels : bool
        Whether rules imitate y.
    engine : str
        Of the estimator; "cuda" keeps many rows on a GPU.
    """

    max_rules: int
    max_conditions: int | None = None
    min_coverage: float = 0.0
    brevity: float = 0.0
    features: frozenset[int] | None = None
    n_new_rows: int = 0
    criterion: str = "both"
    decision: Decision | None = None
    is_labels: bool = False
    asked: Any = None
    engine: str = "auto"

    def with_conditions(self, most):
        """The same with at most so many conditions in a rule."""
        asked = self.asked
        if asked is not None:
            asked = replace(asked, max_conditions=most)
        return replace(self, max_conditions=most, asked=asked)

    def limits(self, total_weight, slack=1.0):
        """The limits for rows with so much weight.

        Parameters
        ----------
        total_weight : float
        slack : float, default=1
            Share of the rows of a rule that are enough.
        """
        least = self.min_coverage * total_weight * slack
        # Past the budget, so that a smaller one is a place on the same path.
        most = max(self.max_rules, SEARCH_RULES)
        if self.asked is not None:
            return self.asked.for_search(most, least)
        return Limits(most, self.max_conditions, least)


@dataclass(frozen=True, eq=False)
class Refined:
    """What refine gives. Its lists answer what they imitate.

    Parameters
    ----------
    lists : dict from int to RuleModel
        The best list of every number of rules.
    costs : dict from int to float
        Description length of each, in nats.
    n_rounds : int
        Of the search.
    by_conditions : dict from int to RuleModel
        The best list of every total number of conditions, where more are better.
    chosen : int, optional
        Conditions that are enough to be nearly as good as the best on rows that the
        search did not see.
    """

    lists: dict[int, Any]
    costs: dict[int, float]
    n_rounds: int
    by_conditions: dict[int, Any] = field(default_factory=dict)
    chosen: int | None = None


def refine(problem, settings, rng):
    """The best lists found, by number of rules and of conditions.

    Parameters
    ----------
    problem : Problem
    settings : Refinement
    rng : numpy.random.Generator

    Returns
    -------
    Refined
    """
    most = SAMPLE_ROWS if problem.is_sample else MOST_ROWS
    rows = search_rows(problem, settings, rng, most)
    loss, last_loss = search_losses(rows, problem.n_classes, settings.criterion)
    table = make_table(
        problem.grid,
        rows.codes,
        settings.features,
        problem.feature_order,
        settings.brevity * loss.total_weight,
        problem.ordered_features,
    )
    if not table.columns or not np.ptp(rows.target, axis=0).any():
        alone = RuleBoxes(table, last_loss, ())
        rules = rules_of_boxes(problem, alone)
        return Refined({1: rules}, {1: alone.cost}, 1, {0: rules}, 0)
    if problem.is_sample:
        everywhere = AllRowsSearch(problem, settings, rows, table, last_loss)
        judge = everywhere.judge(problem, settings, rows)
    else:
        everywhere = None
        judge = _held_out(table, rows, settings.criterion == "error")
    seen = np.flatnonzero(judge.is_seen)
    lists, n_rounds = _searched(settings, rng, table, loss, seen)
    n_best, most = _judged(judge, table, loss, lists, settings)
    # Other rows, other lists: of each length the cheapest on all rows is kept.
    more, n_more = _searched(settings, rng, table, loss, np.arange(table.n_rows))
    limits = settings.limits(loss.total_weight)
    best = polish(lists + more, table, last_loss, limits)
    if everywhere is not None:
        limits = settings.limits(everywhere.total_weight)
        best = everywhere.polished(best, limits)
    best = {n: rules for n, rules in best.items() if n <= settings.max_rules}
    if not best:  # nothing keeps to the limits
        return Refined({}, {}, n_rounds + n_more)
    longest = best[max((n for n in best if n <= n_best), default=min(best))]
    return _refined(problem, best, longest, limits, most, n_rounds + n_more)


@dataclass(frozen=True, eq=False)
class SearchRows:
    """The rows that the search looks at.

    Parameters
    ----------
    codes : unsigned int array of shape (n_samples, n_features)
        Bin numbers.
    target : array of shape (n_samples, n_outputs)
        Numbers, or probabilities on the scale of the search.
    classes : int array of shape (n_samples,), optional
        The class that each row should get.
    weight : array of shape (n_samples,)
    outputs : array of shape (n_samples, n_classes), optional
        Probabilities as they are.
    expected : array of shape (n_samples, n_outputs)
        What should come out: y where it is there, else what is imitated.
    is_drawn : bool array of shape (n_samples,)
        Whether a row is new.
    """

    codes: np.ndarray
    target: np.ndarray
    classes: np.ndarray | None
    weight: np.ndarray
    outputs: np.ndarray | None
    expected: np.ndarray
    is_drawn: np.ndarray


def search_rows(problem, settings, rng, most=MOST_ROWS):
    """The rows that a search looks at, new ones included.

    Parameters
    ----------
    problem : Problem
    settings : Refinement
    rng : numpy.random.Generator
    most : int
        Rows of the problem, new ones left out.
    """
    n_rows = len(problem.target)
    rows = np.arange(n_rows)
    if n_rows > most:
        rows = np.sort(rng.choice(n_rows, most, replace=False))
    codes, weight = problem.binned.codes[rows], problem.sample_weight[rows]
    outputs = _outputs(problem, settings)[rows]
    n_new = settings.n_new_rows
    if n_new:
        is_set = np.array([c is not None for c in problem.categories], dtype=bool)
        features = range(len(problem.feature_names))
        X = np.column_stack([problem.column(j)[rows] for j in features])
        new = draw_rows(X, n_new, is_set, rng, problem.feature_order)
        share = weight.mean() * min(1.0, len(X) / n_new)
        codes = np.vstack([codes, problem.grid.bin(new).codes])
        outputs = np.vstack([outputs, _forest_outputs(problem, new)])
        weight = np.concatenate([weight, np.full(n_new, share)])
    is_drawn = np.arange(len(codes)) >= len(rows)
    outcome, classes, target = problem.outcome, None, outputs
    shown = outputs
    if problem.labels is not None:
        shown = outcome.indicators(problem.labels[rows])
        shown = np.vstack([shown, outputs[is_drawn]])
    if problem.n_classes:
        shown, _ = settings.decision.emphasise(shown, weight)
        outputs, weight = settings.decision.emphasise(outputs, weight)
        classes, target = outputs.argmax(axis=1), outcome.search_target(outputs)
    probabilities = outputs if problem.n_classes else None
    return SearchRows(codes, target, classes, weight, probabilities, shown, is_drawn)


def _outputs(problem, settings):
    """What rules imitate: probabilities of classes, or numbers, in columns."""
    if problem.n_classes and not settings.is_labels:
        return problem.probabilities.astype(np.float64)
    return problem.outcome.indicators(problem.target)


def _forest_outputs(problem, matrix):
    if problem.n_classes:
        return problem.forest.predict_proba_encoded(matrix)
    return problem.forest.predict_encoded(matrix)[:, None]


def search_losses(rows, n_classes, criterion):
    """What the search minimises, and what its lists are polished by."""
    if not n_classes:
        squared = SquaredLoss(rows.target, rows.weight)
        return squared, squared
    squared = SquaredLoss(rows.target, rows.weight, LEAST_ERRORS)
    if criterion == "probability":
        return squared, squared
    wrong = ErrorLoss(rows.classes, rows.weight, n_classes)
    both = BothLoss(squared, wrong, EMPHASIS)
    return both, both if criterion == "both" else wrong


def _held_out(table, rows, counts_errors):
    """Which rows judge the lists; new ones do not."""
    is_seen, is_judged = held_out_rows(table, rows.target, rows.weight)
    is_seen, is_judged = is_seen | rows.is_drawn, is_judged & ~rows.is_drawn
    return HeldOut(rows.expected, rows.weight, is_seen, is_judged, counts_errors)


def _searched(settings, rng, table, loss, rows):
    """Boxes of the cheapest lists, by a search over few of the rows; and its rounds."""
    if len(rows) > SEARCH_ROWS:
        rows = np.sort(rng.choice(rows, SEARCH_ROWS, replace=False))
    few, groups = table.coarse(rows, SEARCH_CODES)
    few_loss = loss.take(rows)
    limits = settings.limits(few_loss.total_weight, SLACK)
    sizes = tree_sizes(limits.max_rules)
    starts = boxes_from_tree(few, few_loss.target, few_loss.weight, sizes)
    best, n_rounds = search(few, few_loss, starts, limits)
    lists = [
        [{j: mask[groups[j]] for j, mask in box.items()} for box in rules.boxes]
        for rules in best.values()
    ]
    return lists, n_rounds


def _judged(judge, table, loss, lists, settings):
    """Rules of the list that does best on rows not seen; conditions that are enough.

    Enough are as few as a list has that is within one standard error of the best: one
    of the lists, or the best without some of its conditions.
    """
    found = [RuleBoxes(table, loss, boxes) for boxes in lists]
    found = [rules for rules in found if rules.n_rules <= settings.max_rules]
    if not found:
        return settings.max_rules, None
    scores = judge.scores(found)
    best = found[min(range(len(found)), key=lambda i: scores[i].loss)]
    limits = settings.limits(loss.total_weight, SLACK)
    scores += judge.scores(list(cut_conditions(best, limits)))
    return best.n_rules, scores[choose(scores)].n_conditions


def _refined(problem, best, longest, limits, most, n_rounds):
    """The lists as rules, those of every length and those cut from one of them.

    Parameters
    ----------
    problem : Problem
    best : dict from int to RuleBoxes
    longest : RuleBoxes
        The list to cut.
    limits : Limits
    most : int
        Conditions that are enough.
    n_rounds : int
    """
    lists, costs, by_conditions, coverages = {}, {}, {}, {}
    for n in sorted(best):
        rules = rules_of_boxes(problem, best[n], coverages)
        if rules.n_rules not in lists:
            lists[rules.n_rules], costs[rules.n_rules] = rules, best[n].cost
    cuts = [cut for cut in cut_conditions(longest, limits) if limits.allows(cut)]
    cuts += best.values()
    least = np.inf
    for boxes in sorted(cuts, key=lambda boxes: (boxes.n_conditions, boxes.fit_cost)):
        if boxes.fit_cost < least:
            least = boxes.fit_cost
            rules = rules_of_boxes(problem, boxes, coverages)
            by_conditions.setdefault(rules.n_conditions, rules)
    return Refined(lists, costs, n_rounds, by_conditions, most)


FEW_CONDITIONS = 2  # of a rule, in the sets that the search starts from


def refine_points(problem, settings, rng):
    """The best set of rules with points found of every size; see `refine`.

    The points are those of the training rows only once rows are counted.
    """
    rows = search_rows(problem, settings, rng)
    if settings.max_conditions is None:
        settings = settings.with_conditions(MOST_GROWN)
    loss = _point_loss(rows, problem.n_classes)
    search = _Search(PointBoxes, grow_rule, loss, loss)
    best, n_rounds = search.run(problem, settings, rng, rows)
    best = {n: rules.in_reading_order() for n, rules in best.items()}
    return Refined(*_rule_sets(problem, settings, best, "points"), n_rounds)


def refine_standalone(problem, settings, rng):
    """The best set of rules that hold on their own found of every size; see `refine`.

    Answers are those of the training rows only once rows are counted.
    """
    rows = search_rows(problem, settings, rng)
    loss, last_loss = search_losses(rows, problem.n_classes, settings.criterion)
    search = _Search(StandaloneBoxes, add_rule, loss, last_loss)
    best, n_rounds = search.run(problem, settings, rng, rows)
    return Refined(*_rule_sets(problem, settings, best, "standalone"), n_rounds)


FORMS = {"list": refine, "standalone": refine_standalone, "points": refine_points}


def _point_loss(rows, n_classes):
    if not n_classes:
        return NumberLoss(rows.target, rows.weight, LEAST_SPREAD)
    if n_classes == 2:
        return LogOddsLoss(rows.outputs[:, 1:], rows.weight, LEAST_ERRORS)
    return NumberLoss(rows.target, rows.weight, LEAST_ERRORS)


@dataclass(frozen=True, eq=False)
class _Search:
    """A search for sets of one kind.

    Parameters
    ----------
    make : callable
        From table, loss and boxes to a set.
    insert : callable
        From a set and limits to one with one more rule, or None.
    loss, last_loss
        What the search minimises, and what its sets are polished by.
    """

    make: Any
    insert: Any
    loss: Any
    last_loss: Any

    def run(self, problem, settings, rng, rows):
        """The cheapest set of each size, and how many rounds that took."""
        table = make_table(
            problem.grid,
            rows.codes,
            settings.features,
            problem.feature_order,
            settings.brevity * self.loss.total_weight,
            problem.ordered_features,
        )
        if not table.columns or not np.ptp(rows.target, axis=0).any():
            return {1: self.make(table, self.last_loss, ())}, 1
        lists, n_rounds = self._searched(settings, rng, table)
        sets = [self.make(table, self.last_loss, boxes) for boxes in lists]
        limits = settings.limits(self.last_loss.total_weight)
        return polish_sets(sets, limits), n_rounds

    def _searched(self, settings, rng, table):
        """Boxes of the cheapest sets by a search over few rows and codes."""
        rows = np.arange(table.n_rows)
        if len(rows) > SEARCH_ROWS:
            rows = np.sort(rng.choice(len(rows), SEARCH_ROWS, replace=False))
        few, groups = table.coarse(rows, SEARCH_CODES)
        loss = self.loss.take(rows)
        limits = settings.limits(loss.total_weight)
        starts = []
        sizes = tree_sizes(limits.max_rules)
        for boxes in boxes_from_tree(few, loss.target, loss.weight, sizes):
            boxes = [box for box in boxes if limits.allows_box(few, box)]
            starts.append(self.make(few, loss, boxes))
        empty = self.make(few, loss, ())
        starts += self._short_sets(empty, settings)
        best, n_rounds = search_sets(empty, starts, limits, self.insert)
        lists = [
            [{j: mask[groups[j]] for j, mask in box.items()} for box in rules.boxes]
            for rules in best.values()
        ]
        return lists, n_rounds

    def _short_sets(self, empty, settings):
        """Sets of rules with few conditions, from which longer ones come out better."""
        most = settings.max_conditions
        if most is not None and most <= FEW_CONDITIONS:
            return []
        short = settings.with_conditions(FEW_CONDITIONS)
        limits = short.limits(empty.loss.total_weight)
        best, _ = search_sets(empty, [], limits, self.insert)
        return [rules for n, rules in best.items() if n > 1]


def _rule_sets(problem, settings, best, decision):
    """Rule sets by number of rules, and what each costs."""
    sets, costs = {}, {}
    for n in sorted(best):
        rules = _rule_set(problem, best[n], decision)
        if rules.n_rules not in sets and rules.n_rules <= settings.max_rules:
            sets[rules.n_rules], costs[rules.n_rules] = rules, best[n].cost
    return sets, costs


def _rule_set(problem, rules, decision):
    """The boxes as rules, with what they say of the training rows."""
    conditions = [box_conditions(problem, rules.table, box) for box in rules.boxes]
    free = np.ones(len(problem.target), dtype=bool)
    form, n_points = forms.FORMS[decision], problem.outcome.n_points
    made = []
    for conjunction in [*conditions, ()]:
        held = problem.covered(conjunction)
        # A rule for new rows alone would have nothing to tell.
        if not held.any() and conjunction:
            continue
        rows = held if conjunction or form.default_matches_all else free
        rule = answering_rule(problem, conjunction, rows)
        free &= ~held
        made.append(form._uncounted(rule, n_points))
    return problem.rule_set(made, decision=decision)


@dataclass(frozen=True, eq=False)
class PathCounter:
    """Counts lists over all rows, and leaves out those that break a limit.

    Parameters
    ----------
    store : RowStore
    decision : Decision or None
    limits : RuleLimits
    scoring : Scoring
        How points are to be written.
    """

    store: Any
    decision: Any
    limits: Any
    scoring: Any

    def by_rules(self, path, costs, max_rules):
        """The lists that keep to the limits, and their costs, by number of rules.

        Parameters
        ----------
        path : dict from int to RuleModel
        costs : dict from int to float
        max_rules : int
            For the message.

        Returns
        -------
        path, costs : dicts
            Of a list that became shorter, where there is no other of its length.
        """
        kept, kept_costs = {}, {}
        for n, rules in sorted(self._counted(path).items()):
            if rules.n_rules not in kept:
                kept[rules.n_rules], kept_costs[rules.n_rules] = rules, costs[n]
        if not kept:
            names = next(iter(path.values())).feature_names
            refuse_without_lists(self.limits, names, max_rules)
        return kept, kept_costs

    def by_conditions(self, path):
        """The lists that keep to the limits, by their total number of conditions."""
        kept = {}
        for _, rules in sorted(self._counted(path).items()):
            kept.setdefault(rules.n_conditions, rules)
        return kept

    def _counted(self, path):
        """Those of the lists that keep to the limits, under the same numbers."""
        counted = zip(path, self._recount(list(path.values())), strict=True)
        kept = {}
        for n, rules in counted:
            if rules.is_exclusive:
                rules = within_limits(rules, self.limits, self._recount_one)
            if rules is not None:
                kept[n] = rules
        return kept

    def _recount(self, lists):
        monotone = self.limits.monotone
        order = MonotoneAnswers(monotone) if monotone else None
        return self.store.recount(lists, "told", self.decision, self.scoring, order)

    def _recount_one(self, rules):
        return self._recount([rules])[0]


def nearest(sizes, enough):
    """The smallest size that is enough, else the largest.

    Any smaller one was more than a standard error behind on rows that were not seen.

    Examples
    --------
    >>> nearest([0, 2, 5], 4), nearest([0, 2, 5], 2), nearest([0], 1)
    (5, 2, 0)
    """
    return min((size for size in sizes if size >= enough), default=max(sizes))
