"""From training rows to short rules: the rows to search, the search, the counts.

`SEARCHES` has a search for each form of rules. It returns conditions and their costs by
number of rules; `count_found` makes rule models of them, counted on all rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from defragtrees._utils.progress import parts
from defragtrees._utils.values import round_significant
from defragtrees.data.sampling import draw_rows
from defragtrees.outcomes.decision import Decision
from defragtrees.outcomes.text import LEAST_APART
from defragtrees.rules.conditions import Condition
from defragtrees.rules.profile import WORTH, Agreement
from defragtrees.search.limits import Limits, MonotoneAnswers
from defragtrees.search.lists import RuleBoxes
from defragtrees.search.losses import (
    LEAST_ERRORS,
    LEAST_SPREAD,
    BothLoss,
    ErrorLoss,
    SquaredLoss,
)
from defragtrees.search.moves import (
    MOST_GROWN_BOXES,
    boxes_from_tree,
    cut_conditions,
    cut_to_limits,
    grow_rule,
    insert_rule,
    polish,
    promising,
    search,
    tree_sizes,
    use_preferred,
)
from defragtrees.search.points import LogOddsLoss, NumberLoss, PointBoxes
from defragtrees.search.standalone import StandaloneBoxes, add_rule
from defragtrees.search.table import make_table

NEW_ROWS = 10_000  # synthetic rows near the data, for the search only
MOST_ROWS = 100_000  # with more rows, the search uses a sample
SEARCHED_SHARE = 0.1  # of a sample; the other rows judge what is found
SEARCH_ROWS = 3_000  # rows per search; the result is polished on all
SEARCH_CODES = 64  # codes per feature in a search
N_SEARCHES = 4  # for a list, each on other rows
N_SAMPLE_SEARCHES = 6  # the same for many rows
SLACK = 0.5  # in a list on few rows a rule may have so much less than it must have
EMPHASIS = 1.0  # nats for classes count so many times those for probabilities
FEW_CONDITIONS = 2  # of a rule, in the sets that the search starts from
CRITERIA = ("both", "probability", "error")


@dataclass(frozen=True)
class SearchSettings:
    """Settings of a search."""

    limits: Limits
    brevity: float = 0.0  # penalty per condition, in nats per row
    prefer: tuple[int, ...] = ()  # features, the best first
    max_categories: int | None = None  # that a condition names
    n_new_rows: int = 0  # synthetic rows to search in place of the data
    criterion: str = "both"  # one of `CRITERIA`
    decision: Decision | None = None  # how a class is decided from probabilities
    is_labels: bool = False  # whether rules are fitted to y
    # boxes, by feature, of lists of a search without limits, to be cut
    unlimited: tuple[Any, ...] = ()


@dataclass(frozen=True, eq=False)
class Conjunctions:
    """Rules found by the search, before they are counted."""

    # of each rule except the default rule
    conditions: tuple[tuple[Condition, ...], ...]
    # a number near those of each rule's rows, around which sums are taken; with the
    # default rule; None for classes
    answers: tuple[Any, ...]
    cost: float  # description length in nats
    loss: float = 0.0  # of a list on the rows of a sample that were not searched

    @property
    def n_conditions(self):
        """Number of conditions of all rules."""
        return sum(c.n_sides for rule in self.conditions for c in rule)


@dataclass(frozen=True, eq=False)
class Found:
    """The result of a search."""

    by_rules: tuple[Conjunctions, ...]  # the best of every number, of each search
    n_rounds: int
    # the best of every total number of conditions, where more are better
    by_conditions: tuple[Conjunctions, ...] = ()
    boxes: tuple[Any, ...] = ()  # of all lists, by feature
    rows: "SearchRows | None" = None  # that were searched


@dataclass(frozen=True, eq=False)
class CountedPath:
    """Counted rule models by size, with their costs in the search."""

    by_rules: dict[int, Any]
    costs: dict[int, float]  # by number of rules
    by_conditions: dict[int, Any]
    n_rounds: int
    boxes: tuple[Any, ...] = ()  # of the lists found, by feature
    rows: "SearchRows | None" = None  # that were searched

    def keeps_to(self, limits):
        """Whether all models are within the limits."""
        models = *self.by_rules.values(), *self.by_conditions.values()
        return all(map(limits.allows_model, models))

    def within(self, limits, other):
        """Models within the limits; for those that are not, models of another path."""
        allows = limits.allows_model
        kept = {n: own for n, own in self.by_rules.items() if allows(own)}
        shorter = {n: own for n, own in self.by_conditions.items() if allows(own)}
        return CountedPath(
            dict(sorted({**other.by_rules, **kept}.items())),
            dict(sorted({**other.costs, **{n: self.costs[n] for n in kept}}.items())),
            dict(sorted({**other.by_conditions, **shorter}.items())),
            self.n_rounds + other.n_rounds,
            rows=other.rows,
        )


@dataclass(frozen=True, eq=False)
class Strategy:
    """The search for rules of one form."""

    make: Callable  # from table, loss and boxes to rules over the rows of the table
    # from rules and limits to rules with one more, or None
    insert: Callable
    # from rows, number of classes and criterion to the losses of the search and of
    # polishing
    losses: Callable
    n_rounds: int  # of growing and cutting
    polish_rounds: int  # of a descent over all rows, as `gap_rounds`; see `polish`
    gap_rounds: int = 0
    slack: float = 1.0  # share of the required rows of a rule that is enough

    def starts(self, few, loss, boxes, limits):
        """Rules to start from, given boxes of trees."""
        for own in boxes:
            own = [box for box in own if limits.allows_box(few, box)]
            yield self.make(few, loss, own)
        # Starting from rules with few conditions gives better long ones.
        most = limits.max_conditions
        if most is None or most > FEW_CONDITIONS:
            short = replace(limits, max_conditions=FEW_CONDITIONS)
            empty = self.make(few, loss, ())
            best, _ = search(empty, [], short, self.insert, self.n_rounds)
            yield from (rules for n, rules in best.items() if n > 1)

    def searched(self, limits, rng, table, loss, rows):
        """Search a few of the rows; returns boxes of the cheapest rules, and rounds."""
        if len(rows) > SEARCH_ROWS:
            rows = np.sort(rng.choice(rows, SEARCH_ROWS, replace=False))
        few, groups = table.coarse(rows, SEARCH_CODES)
        loss = loss.take(rows)
        limits = limits.for_search(loss.total_weight, self.slack)
        sizes = tree_sizes(limits.max_rules)
        boxes = boxes_from_tree(few, loss.target, loss.weight, sizes)
        starts = self.starts(few, loss, boxes, limits)
        empty = self.make(few, loss, ())
        best, n_rounds = search(empty, starts, limits, self.insert, self.n_rounds)
        found = [
            [{j: mask[groups[j]] for j, mask in box.items()} for box in rules.boxes]
            for rules in best.values()
        ]
        return found, n_rounds

    def polished(self, boxes, table, loss, limits):
        """Polish rules of these boxes on all rows; returns rules by their number."""
        starts = (self.make(table, loss, own) for own in boxes)
        return polish(starts, limits, self.polish_rounds, self.gap_rounds)

    def preferring(self, problem, settings, rng):
        """The Preference of the settings; None if no features are preferred."""
        if not settings.prefer:
            return None
        rows = search_rows(problem, replace(settings, n_new_rows=0), rng)
        _, loss = self.losses(rows, problem.n_classes, settings.criterion)
        table = _table(problem, settings, rows, loss)
        return Preference(partial(self.make, table, loss), problem.grid, settings)


@dataclass(frozen=True, eq=False)
class Preference:
    """Replace conditions by ones on preferred features, where this costs little.

    The cost is that on the rows of the data: features with the same information there
    need not have it on synthetic rows.
    """

    make: Callable  # from boxes to rules over the rows of the data
    grid: Any
    settings: SearchSettings

    def __call__(self, rules):
        """The rules over the rows of the data, on preferred features where possible."""
        empty = self.make(())
        columns, weight = empty.table.columns, empty.loss.total_weight
        boxes = [moved(b, self.grid, rules.table.columns, columns) for b in rules.boxes]
        own = self.make(boxes)
        places = {column.feature: j for j, column in enumerate(columns)}
        order = [places[j] for j in self.settings.prefer if j in places]
        limits = self.settings.limits.for_search(weight)
        # Some rules may match too few of these rows already.
        least = min(limits.least_answered, own.least_answered)
        limits = replace(limits, least_answered=least, keeps_used=True)
        return use_preferred(own, limits, order, self.settings.brevity * weight)


class ListStrategy(Strategy):
    """The search for lists, with a full descent from promising starts only."""

    def starts(self, few, loss, boxes, limits):
        """Rules to start from, given boxes of trees."""
        lists = []
        for own in boxes:
            own = [box for box in own if limits.allows_box(few, box)]
            lists.append(self.make(few, loss, own[: limits.max_rules - 1]))
        return promising(lists, limits)


def find_lists(problem, settings, rng):
    """Search for lists; returns the best by number of rules and of conditions."""
    rows = search_rows(problem, settings, rng)
    loss, last_loss = LISTS.losses(rows, problem.n_classes, settings.criterion)
    table = _table(problem, settings, rows, loss)
    if not table.columns or not np.ptp(rows.target, axis=0).any():
        alone = _list_of_boxes(problem, RuleBoxes(table, last_loss, ()), {})
        return Found((alone,), 1, (alone,))
    limits, every = settings.limits, np.arange(table.n_rows)
    wide = limits.for_search(loss.total_weight)
    # Each search uses other rows, to find other lists.
    n_searches = N_SAMPLE_SEARCHES if problem.is_sample else N_SEARCHES
    searches = [
        LISTS.searched(limits, rng, table, loss, every)
        for _ in parts(range(n_searches), 0.2, 0.6)
    ]
    n_rounds = sum(n for _, n in searches)
    starts = [lists for lists, _ in searches]
    if settings.unlimited:
        cut = _lists_by_feature(settings, table, loss)
        starts.append([cut_to_limits(own, wide).boxes for own in cut])
    polished = [
        LISTS.polished(lists, table, last_loss, wide)
        for lists in parts(starts, 0.6, 1.0)
    ]
    names = [column.feature for column in table.columns]
    boxes = tuple(
        [{names[j]: mask for j, mask in box.items()} for box in own.boxes]
        for best in polished
        for own in best.values()
    )
    prefer = LISTS.preferring(problem, settings, rng)
    judge = _judge(problem, settings, rng)
    paths = [
        _paths(problem, best, wide, limits.max_rules, prefer, judge)
        for best in polished
    ]
    by_rules, by_conditions = (
        tuple(one for own in part for one in own) for part in zip(*paths, strict=True)
    )
    if judge is not None:  # all rows count only the best lists
        by_rules = _best_of_each(by_rules, _loss, lambda one: len(one.conditions))
        by_conditions = _best_of_each(by_conditions, _loss, attrgetter("n_conditions"))
        by_rules, by_conditions = (*by_rules.values(),), (*by_conditions.values(),)
    return Found(by_rules, n_rounds, by_conditions, boxes, rows)


_loss = attrgetter("loss")


def _judge(problem, settings, rng):
    """The loss of a list on the rows of a sample that were not searched, or None.

    A function of the place of the rule that predicts each row, and of their number.
    """
    if not problem.is_sample or problem.searched is None:
        return None
    others = replace(problem, searched=~problem.searched)
    rows = search_rows(others, settings, rng)
    _, loss = LISTS.losses(rows, problem.n_classes, settings.criterion)
    return lambda place, n: loss.cost(loss.counts(place[others.searched], n))


def _lists_by_feature(settings, table, loss):
    """The lists of a search without limits, with boxes over the codes of the table."""
    places = {column.feature: j for j, column in enumerate(table.columns)}
    for own in settings.unlimited:
        known = [{places[f]: box[f] for f in box if f in places} for box in own]
        yield RuleBoxes(table, loss, [box for box in known if box])


def find_standalone(problem, settings, rng):
    """Search for standalone rules; returns the best of every number."""
    rows = search_rows(problem, settings, rng)
    best, n_rounds = _find_sets(STANDALONE, problem, settings, rng, rows)
    prefer = STANDALONE.preferring(problem, settings, rng)
    path = _set_path(problem, settings, best, False, prefer)
    return Found(path, n_rounds, rows=rows)


def find_points(problem, settings, rng):
    """Search for rules with points; returns the best of every number.

    The search fits points to the target of the rules, on the searched rows. They are
    fitted again when all rows are counted: to y, and as integers if requested.
    """
    rows = search_rows(problem, settings, rng)
    if settings.limits.max_conditions is None:
        limits = replace(settings.limits, max_conditions=MOST_GROWN_BOXES)
        settings = replace(settings, limits=limits)
    best, n_rounds = _find_sets(POINTS, problem, settings, rng, rows)
    best = {n: rules.in_reading_order() for n, rules in best.items()}
    prefer = POINTS.preferring(problem, settings, rng)
    path = _set_path(problem, settings, best, True, prefer)
    return Found(path, n_rounds, rows=rows)


def quick_points(problem, settings, rows, n_rules):
    """Find rules of one condition with points, greedily.

    A search for points does better, but this is very fast.
    """
    loss, _ = _point_losses(rows, problem.n_classes, settings.criterion)
    table = _table(problem, settings, rows, loss)
    some = np.arange(min(table.n_rows, SEARCH_ROWS))
    few, groups = table.coarse(some, SEARCH_CODES)
    limits = settings.limits.for_search(loss.take(some).total_weight)
    limits = replace(limits, max_conditions=1)
    rules = PointBoxes(few, loss.take(some), ())
    while rules.n_rules < n_rules:
        longer = grow_rule(rules, limits)
        if longer is None:
            break
        rules = longer
    boxes = [{j: mask[groups[j]] for j, mask in box.items()} for box in rules.boxes]
    return _set_of_boxes(problem, PointBoxes(table, loss, boxes), True)


SEARCHES = {"list": find_lists, "standalone": find_standalone, "points": find_points}


def count_found(found, blank, store, limits, decision, scoring, rows=None):
    """Count the rules found on all rows; returns a CountedPath.

    Each model is made once, with its evidence and a profile of the training rows. Lists
    that violate a limit on all rows are dropped, or lose a rule. Of models of one size,
    the best on `rows`, CountingRows, is kept, or without these the first.
    """
    count = partial(
        store.count,
        predictions="recount",
        decision=decision,
        scoring=scoring,
        order=MonotoneAnswers(limits.monotone) if limits.monotone else None,
    )
    distinct = {one.conditions: one for one in (*found.by_rules, *found.by_conditions)}
    form = blank._form
    forms = [_with_conjunctions(form, one) for one in distinct.values()]
    counted = dict(zip(distinct, count(forms), strict=True))
    if form.is_exclusive:
        for conditions, rules in counted.items():
            counted[conditions] = _within_limits(rules, limits, count)
    elif form.is_standalone and rows is not None and rows.problem.n_classes:
        for conditions, rules in counted.items():
            own = _without_contradicted(rules, rows, count)
            counted[conditions] = own if limits.allows_model(own) else rules
    elif form.is_sum:
        for conditions, rules in counted.items():
            counted[conditions] = _without_idle(rules, count)
    kept = {one: rules for one, rules in counted.items() if rules is not None}
    if rows is None:
        losses = dict.fromkeys(kept, 0.0)
    else:
        losses = {one: rows.mean_loss(rules) for one, rules in kept.items()}
    by_rules, by_conditions = (
        _best_of_each(
            [one for one in own if one.conditions in kept],
            lambda one: losses[one.conditions],
            lambda one, size=size: getattr(kept[one.conditions], size),
        )
        for own, size in (
            (found.by_rules, "n_rules"),
            (found.by_conditions, "n_conditions"),
        )
    )
    chosen = {one.conditions for one in (*by_rules.values(), *by_conditions.values())}
    made = store.finished(blank, {one: kept[one] for one in kept if one in chosen})
    if found.rows is not None and found.rows.new is not None:
        made = {one: _with_agreement(own, found.rows) for one, own in made.items()}
    return CountedPath(
        {n: made[one.conditions] for n, one in by_rules.items()},
        {n: one.cost for n, one in by_rules.items()},
        {n: made[one.conditions] for n, one in by_conditions.items()},
        found.n_rounds,
        found.boxes,
        found.rows,
    )


def _with_agreement(rules, rows):
    """The rules with their agreement with the model on synthetic rows."""
    outcome = rules.outcome
    predicted = rules._form.predict_codes(rules._covers(rows.new))
    # However many were drawn, they are near this many rows.
    n_rows = WORTH["training"] * min(len(rows.new), rows.n_near)
    loss = round_significant(outcome.losses(rows.new_target, predicted).mean())
    agreement = Agreement("synthetic", loss, round_significant(n_rows))
    return replace(rules, training=replace(rules.training, agreement=agreement))


def _best_of_each(items, loss, size):
    """The item with the smallest loss of each size, in the order of sizes."""
    best = {}
    for one in items:
        n = size(one)
        if n not in best or loss(one) < loss(best[n]):
            best[n] = one
    return dict(sorted(best.items()))


def _with_conjunctions(form, found):
    """The rules found, which are not counted yet."""
    *answers, last = found.answers
    rules = [
        replace(form.default, conditions=own, prediction=answer, weight=1.0)
        for own, answer in zip(found.conditions, answers, strict=True)
    ]
    default = replace(form.default, prediction=last)
    return replace(form, rules=tuple(rules), default=default)


def _within_limits(rules, limits, count):
    """Drop rules with too few rows; None if the list violates another limit."""
    while small := limits.too_small(rules):
        # If the default rule has too few rows, the rule before it is dropped.
        gone = min(small[0], len(rules.rules) - 1)
        kept = rules.rules[:gone] + rules.rules[gone + 1 :]
        [rules] = count([replace(rules, rules=kept)])
    return rules if limits.allows_model(rules) else None


def _without_contradicted(rules, rows, count):
    """Standalone rules without those that do not predict their own rows."""
    while rules.rules:
        apart = rows.contradictions(rules)
        worst = int(apart.argmax())
        if apart[worst] <= LEAST_APART:
            break
        kept = rules.rules[:worst] + rules.rules[worst + 1 :]
        [rules] = count([replace(rules, rules=kept)])
    return rules


def _without_idle(rules, count):
    """A scorecard without rules that have no points."""
    while not all(any(rule.points) for rule in rules.rules):
        kept = tuple(rule for rule in rules.rules if any(rule.points))
        [rules] = count([replace(rules, rules=kept)])
    return rules


@dataclass(frozen=True, eq=False)
class SearchRows:
    """The rows on which rules are searched for."""

    codes: np.ndarray  # bin numbers
    target: np.ndarray  # numbers, or probabilities on the scale of the search
    classes: np.ndarray | None  # the class to predict for each row
    weight: np.ndarray
    outputs: np.ndarray | None  # probabilities, unscaled
    new: np.ndarray | None = None  # synthetic rows, if they were drawn
    new_outputs: np.ndarray | None = None  # of the model for these
    new_target: np.ndarray | None = None  # its predictions for these, encoded
    n_near: int = 0  # rows of the data near which they were drawn


def search_rows(problem, settings, rng, most=MOST_ROWS):
    """The rows of a search: synthetic ones, or at most `most` rows of the data."""
    outcome, synthetic = problem.outcome, {}
    if settings.n_new_rows:
        new = _new_rows(problem, settings.n_new_rows, rng)
        codes = problem.grid.bin(new).codes
        raw = problem.forest.predict_raw_encoded(new)
        outputs = problem.forest.outputs_from_raw(raw)
        synthetic = {
            "new": new,
            "new_outputs": outputs,
            "new_target": outcome.target_of(problem.forest, raw),
            "n_near": len(problem.target),
        }
        weight = np.full(len(new), problem.sample_weight.sum() / len(new))
    else:
        rows = np.flatnonzero(problem.is_searched)
        if len(rows) > most:
            rows = np.sort(rng.choice(rows, most, replace=False))
        codes, weight = problem.binned.codes[rows], problem.sample_weight[rows]
        if problem.probabilities is not None and not settings.is_labels:
            outputs = problem.probabilities[rows].astype(np.float64)
        else:
            outputs = outcome.indicators(problem.target[rows])
    if settings.decision is None:
        return SearchRows(codes, outputs, None, weight, None, **synthetic)
    probabilities, weight = settings.decision.emphasise(outputs, weight)
    classes = probabilities.argmax(axis=1)
    target = outcome.search_target(probabilities)
    return SearchRows(codes, target, classes, weight, probabilities, **synthetic)


def _new_rows(problem, n_rows, rng):
    """Draw synthetic rows near the data; of a black box those it was queried for."""
    asked = problem.forest.new_rows
    if asked is not None and len(asked) >= n_rows:
        return asked[:n_rows]
    is_set = np.array([c is not None for c in problem.categories], dtype=bool)
    X = np.column_stack([problem.column(j) for j in range(len(problem.feature_names))])
    weight, order = problem.sample_weight, problem.feature_order
    return draw_rows(X, n_rows, is_set, rng, order, weight)


def _table(problem, settings, rows, loss):
    return make_table(
        problem.grid,
        rows.codes,
        settings.limits.features,
        problem.feature_order,
        settings.brevity * loss.total_weight,
        problem.ordered_features,
        settings.max_categories,
    )


def search_losses(rows, n_classes, criterion):
    """The losses of the search and of polishing."""
    if not n_classes:
        squared = SquaredLoss(rows.target, rows.weight)
        return squared, squared
    squared = SquaredLoss(rows.target, rows.weight, LEAST_ERRORS)
    if criterion == "probability":
        return squared, squared
    wrong = ErrorLoss(rows.classes, rows.weight, n_classes)
    both = BothLoss(squared, wrong, EMPHASIS)
    return both, both if criterion == "both" else wrong


def _point_losses(rows, n_classes, criterion):
    """The losses for points, which are fitted to probabilities or numbers."""
    least = LEAST_ERRORS if n_classes else LEAST_SPREAD
    if n_classes == 2:
        loss = LogOddsLoss(rows.outputs[:, 1:], rows.weight, least)
    else:
        loss = NumberLoss(rows.target, rows.weight, least)
    return loss, loss


LISTS = ListStrategy(RuleBoxes, insert_rule, search_losses, 1, 4, 4, SLACK)
STANDALONE = Strategy(StandaloneBoxes, add_rule, search_losses, 2, 2)
POINTS = Strategy(PointBoxes, grow_rule, _point_losses, 2, 2)


def _find_sets(strategy, problem, settings, rng, rows):
    """Find the cheapest rules of every number; also returns the number of rounds."""
    loss, last_loss = strategy.losses(rows, problem.n_classes, settings.criterion)
    table = _table(problem, settings, rows, loss)
    if not table.columns or not np.ptp(rows.target, axis=0).any():
        return {1: strategy.make(table, last_loss, ())}, 1
    limits, every = settings.limits, np.arange(table.n_rows)
    boxes, n_rounds = strategy.searched(limits, rng, table, loss, every)
    wide = limits.for_search(last_loss.total_weight)
    return strategy.polished(boxes, table, last_loss, wide), n_rounds


def _paths(problem, best, limits, max_rules, prefer=None, judge=None):
    """Lists of every number of rules, and lists by number of conditions.

    The latter are cut from the cheapest list, if that is better.
    """
    by_rules, by_conditions, coverages = {}, {}, {}
    least = limits.min_coverage * problem.sample_weight.sum()
    # A list may be longer on the rows of the search: rules without rows are dropped.
    for n in sorted(best):
        found = _list_of_boxes(problem, best[n], coverages, least, prefer, judge)
        if len(found.conditions) < max_rules:
            by_rules.setdefault(len(found.conditions) + 1, found)
    best = {n: rules for n, rules in best.items() if n <= max_rules}
    if not best:  # nothing is within the limits
        return (), ()
    longest = min(best.values(), key=attrgetter("cost"))
    cuts = [cut for cut in cut_conditions(longest, limits) if limits.allows(cut)]
    cuts += best.values()
    cheapest = np.inf
    for boxes in sorted(cuts, key=lambda boxes: (boxes.n_conditions, boxes.fit_cost)):
        if boxes.fit_cost < cheapest:
            cheapest = boxes.fit_cost
            found = _list_of_boxes(problem, boxes, coverages, least, prefer, judge)
            by_conditions.setdefault(found.n_conditions, found)
    return (*by_rules.values(),), (*by_conditions.values(),)


def _set_path(problem, settings, best, is_base, prefer=None):
    """Unordered rules by their number."""
    by_rules = {}
    for n in sorted(best):
        found = _set_of_boxes(problem, best[n], is_base, prefer)
        if len(found.conditions) < settings.limits.max_rules:
            by_rules.setdefault(len(found.conditions) + 1, found)
    return tuple(by_rules.values())


def _list_of_boxes(problem, rules, coverages, least=0.0, prefer=None, judge=None):
    """Convert the boxes of a list to conditions, without those of too few rows.

    `coverages` caches the rows that match, for lists that share conditions.
    """
    left = np.ones(len(problem.target), dtype=bool)
    place = np.zeros(len(left), dtype=np.intp)  # of the rule that predicts each row
    conditions, answers = [], []
    for own in _conditions(problem, rules, prefer):
        if own not in coverages:
            coverages[own] = problem.covered(own)
        taken = left & coverages[own]
        # A rule that matches only synthetic rows has nothing to report; if the rows
        # are a sample, others may match.
        weight = problem.sample_weight[taken].sum()
        if problem.is_sample or (weight > 0 and weight >= least - 1e-9):
            conditions.append(own)
            answers.append(problem.number_near(taken))
            left &= ~taken
            place += left
    answers.append(problem.number_near(left))
    loss = 0.0 if judge is None else judge(place, len(answers))
    return Conjunctions(tuple(conditions), tuple(answers), rules.cost, loss)


def _set_of_boxes(problem, rules, is_base, prefer=None):
    """Convert unordered boxes to conditions.

    The default rule has all rows if it is a base, else those that no rule matches.
    """
    left = np.ones(len(problem.target), dtype=bool)
    every = left.copy()
    conditions, answers, seen = [], [], set()
    for own in _conditions(problem, rules, prefer):
        covered = problem.covered(own)
        # Rules that match the same rows are one rule, written in two ways.
        rows = covered.tobytes()
        if covered.any() and rows not in seen:
            seen.add(rows)
            conditions.append(own)
            answers.append(problem.number_near(covered))
        left &= ~covered
    answers.append(problem.number_near(every if is_base else left))
    return Conjunctions(tuple(conditions), tuple(answers), rules.cost)


def _conditions(problem, rules, prefer):
    """Convert the boxes of rules to conditions, on preferred features if any are."""
    rules = rules if prefer is None else prefer(rules)
    for box in rules.boxes:
        sides = []
        for j, mask in box.items():
            column = rules.table.columns[j]
            sides.append((column.feature, accepted_bins(problem.grid, column, mask)))
        yield problem.grid.conditions(sides)


def accepted_bins(grid, column, mask):
    """The bins of a feature that a box over the codes of its column accepts."""
    accepts = np.zeros(grid.n_bins[column.feature], dtype=bool)
    accepts[-1] = mask[-1] and column.has_missing
    inside = np.flatnonzero(mask[:-1])
    if column.is_set:
        # Categories without training rows go with the larger part.
        accepts[:-1] = len(inside) > column.n_codes / 2
        accepts[column.bins] = mask[:-1]
    elif inside.size:
        is_open = inside[-1] == column.n_codes - 1
        # The middle one of the thresholds between a code and the next.
        middle = (column.bins[:-1] + column.bins[1:] - 1) // 2 + 1
        first = middle[inside[0] - 1] if inside[0] > 0 else 0
        # Of ordered categories, the bin before that of missing values is unknown ones.
        end = -2 if grid.is_categorical(column.feature) else -1
        accepts[first : end if is_open else middle[inside[-1]]] = True
    return accepts


def moved(box, grid, columns, others):
    """Convert a box over the codes of some columns to those of other columns."""
    places = {column.feature: j for j, column in enumerate(others)}
    made = {}
    for j, mask in box.items():
        place = places[columns[j].feature]
        bins = accepted_bins(grid, columns[j], mask)
        accepted = np.append(bins[others[place].bins], bins[-1])
        if not others[place].accepts_all(accepted):
            made[place] = accepted
    return made
