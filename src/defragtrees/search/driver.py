"""From training rows to short rules: the rows to search, the search, the counts.

`SEARCHES` has a search for each form of rules. `find_rules` runs it, and returns
candidates. `count_found` makes rule models of them, counted on all rows.
`shortest_model` chooses their number by the loss on counted rows.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import attrgetter
from typing import Any

import numpy as np

from defragtrees._utils.progress import parts
from defragtrees._utils.values import round_significant
from defragtrees.data.sampling import code_sums, ranks
from defragtrees.outcomes.decision import Decision, cost_matrix, threshold_costs
from defragtrees.outcomes.points import LINKS
from defragtrees.outcomes.text import LEAST_APART
from defragtrees.rules.conditions import n_named, remaining
from defragtrees.rules.profile import WORTH, Agreement
from defragtrees.search import moves
from defragtrees.search.boxes import (
    LEAST_ERRORS,
    LEAST_SPREAD,
    RuleBoxes,
    RuleLoss,
    make_table,
)
from defragtrees.search.limits import Limits, MonotoneAnswers
from defragtrees.search.points import LinkedLoss, NumberLoss, PointBoxes
from defragtrees.search.standalone import StandaloneBoxes, add_rule

NEW_ROWS = 10_000  # synthetic rows near the data, for the search only
MOST_ROWS = 100_000  # with more rows, the search uses a sample
SEARCHED_SHARE = 0.3  # of a sample; the other rows judge what is found
SEARCH_ROWS = 3_000  # rows per search; lists are made from all searches on all rows
SEARCH_CODES = 64  # codes per feature in a search
N_SEARCHES = 4  # for a list, each on other rows
SLACK = 0.5  # share of the required rows of a rule that is enough in a subsample
FEW_CONDITIONS = 2  # of a rule, in the sets that the search starts from
ENOUGH = 0.01  # of the variance of y: a shorter list may lose it
BETWEEN_CUTS = 0.01  # share of the rows; cuts of points that are nearer are one cut
CRITERIA = ("both", "probability", "error")
HALVES = 2  # of the rows, if rules fit y: one searches, one counts
NEGATION = re.compile(r"(not?|non|never|none|without)\b", re.IGNORECASE)
FREQUENT = 8  # equal rows that are split between searching and counting


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
    # boxes, by feature, of lists of a search without limits, to be cut
    unlimited: tuple[Any, ...] = ()


@dataclass(frozen=True, eq=False)
class Candidate:
    """Rules found by the search.

    They are a Form until one of their size is chosen, then a RuleModel. Before they are
    counted, a prediction is a number near those of the rule's rows, around which sums
    are taken; None for classes.
    """

    model: Any
    # once it is counted, on the rows by which models are chosen
    loss: float = 0.0
    losses: np.ndarray | None = None  # the same of each row
    share: float = 0.0  # see `share_of_loss`


@dataclass(frozen=True, eq=False)
class Path:
    """The best candidates of each size."""

    by_rules: tuple[Candidate, ...]  # one for each number of rules, once counted
    # the best of every total number of conditions, where more are better
    by_conditions: tuple[Candidate, ...]
    n_rounds: int
    boxes: tuple[Any, ...] = ()  # of all lists, by feature
    rows: Any = None  # the Problem of the rows that were searched

    def keeps_to(self, limits):
        """Whether all models are within the limits."""
        every = *self.by_rules, *self.by_conditions
        return all(limits.allows_model(one.model) for one in every)

    def within(self, limits, other):
        """Models within the limits; for those that are not, models of another path."""

        def kept(candidates, others, size):
            own = [one for one in candidates if limits.allows_model(one.model)]
            return tuple(best[0] for best in _by_size((*own, *others), size).values())

        return Path(
            kept(self.by_rules, other.by_rules, "model.n_rules"),
            kept(self.by_conditions, other.by_conditions, "model.n_conditions"),
            self.n_rounds + other.n_rounds,
            rows=other.rows,
        )


def _by_size(candidates, size):
    """Candidates by size, an attribute of each, in order."""
    groups = {}
    for candidate in candidates:
        groups.setdefault(attrgetter(size)(candidate), []).append(candidate)
    return dict(sorted(groups.items()))


def find_losses(form, rows, settings):
    """The losses of the search and of polishing.

    Points are fitted to probabilities, rates or numbers.
    """
    outputs, weight = rows.outputs, rows.mean_weight
    if settings.decision is not None:
        outputs, weight = settings.decision.emphasise(outputs, weight)
    target, link = rows.outcome.search_target(outputs), LINKS.get(rows.outcome.link)
    if form == "points" and link is not None:
        loss = LinkedLoss(outputs[:, -1:], weight, LEAST_ERRORS, link)
    elif form == "points":
        loss = NumberLoss(
            target, weight, LEAST_ERRORS if rows.n_classes else LEAST_SPREAD
        )
    elif settings.decision is None:
        loss = RuleLoss(target, weight)
    elif settings.criterion == "probability":
        loss = RuleLoss(target, weight, LEAST_ERRORS)
    else:
        classes = outputs.argmax(axis=1), rows.n_classes
        loss = RuleLoss(target, weight, LEAST_ERRORS, *classes)
        if settings.criterion == "error":
            return loss, loss.without_numbers()
    return loss, loss


@dataclass(frozen=True, eq=False)
class Strategy:
    """The search for rules of one form."""

    form: str
    make: Callable  # from table, loss and boxes to rules over the rows of the table
    # from rules and limits to rules with one more, or None
    insert: Callable
    n_rounds: int  # of growing and cutting
    polish_rounds: int  # of a descent over all rows, as `gap_rounds`; see `polish`
    gap_rounds: int = 0
    slack: float = 1.0  # share of the required rows of a rule that is enough

    def searched(self, limits, rng, table, loss):
        """Search a few of the rows; returns boxes of the cheapest rules, and rounds."""
        rows = np.arange(table.n_rows)
        if len(rows) > SEARCH_ROWS:
            rows = np.sort(rng.choice(rows, SEARCH_ROWS, replace=False))
        few, groups = table.coarse(rows, SEARCH_CODES)
        loss = loss.take(rows)
        limits = limits.for_search(loss.total_weight, self.slack)
        # About five numbers of leaves, the largest first.
        sizes = range(limits.max_rules, 1, -max(2, limits.max_rules // 5))
        starts, empty = [], self.make(few, loss, ())
        for boxes in moves.boxes_from_tree(few, loss.target, loss.weight, sizes):
            allowed = [box for box in boxes if limits.allows_box(few, box)]
            starts.append(self.make(few, loss, allowed))
        most = limits.max_conditions
        if self.form == "list":
            starts = moves.promising(starts, limits)  # a full descent only from these
        elif most is None or most > FEW_CONDITIONS:
            # Starting from rules with few conditions gives better long ones.
            short = replace(limits, max_conditions=FEW_CONDITIONS)
            best, _ = moves.search(empty, [], short, self.insert, self.n_rounds)
            starts += [rules for n, rules in best.items() if n > 1]
        best, n_rounds = moves.search(empty, starts, limits, self.insert, self.n_rounds)
        return [_uncoarsened(rules, groups) for rules in best.values()], n_rounds


SEARCHES = {
    strategy.form: strategy
    for strategy in (
        Strategy("list", RuleBoxes, moves.insert_rule, 1, 4, 4, SLACK),
        Strategy("standalone", StandaloneBoxes, add_rule, 2, 2),
        Strategy("points", PointBoxes, moves.grow_rule, 2, 2),
    )
}


def find_rules(blank, problem, settings, rng):
    """Search for rules of a Form, given without rules; returns a Path of candidates.

    Points are fitted to the target of the rules, on the searched rows. They are fitted
    again when all rows are counted: to y, and as integers if requested.
    """
    form = blank.name
    strategy, is_list = SEARCHES[form], form == "list"
    if form == "points" and settings.limits.max_conditions is None:
        limits = replace(settings.limits, max_conditions=moves.MOST_GROWN_BOXES)
        settings = replace(settings, limits=limits)
    rows = rows_to_search(problem, settings, rng)
    loss, last_loss = find_losses(form, rows, settings)
    table = _table(rows, settings, loss)
    limits = settings.limits.for_search(loss.total_weight)
    if not table.columns or not np.ptp(rows.outputs, axis=0).any():
        best, n_rounds = {1: strategy.make(table, last_loss, ())}, 1
        rows = None if is_list else rows
    else:
        searches = [
            strategy.searched(settings.limits, rng, table, loss)
            # Each uses other rows, to find other lists.
            for _ in parts(range(N_SEARCHES if is_list else 1), 0.2, 0.6)
        ]
        starts = [own for boxes, _ in searches for own in boxes]
        n_rounds = sum(n for _, n in searches)
        if settings.unlimited:
            starts += _cut_lists(settings.unlimited, table, loss, limits)
        made = [strategy.make(table, last_loss, boxes) for boxes in starts]
        if is_list:
            made = moves.pooled(
                [moves.tidy(rules, limits) for rules in made], limits
            ).values()
        best = moves.polish(made, limits, strategy.polish_rounds, strategy.gap_rounds)
    if form == "points":
        best = {n: rules.in_reading_order() for n, rules in best.items()}
    conversion = Conversion(blank, problem, settings, rng)
    by_rules, by_conditions = conversion.path(best, limits)
    boxes = [
        [
            {table.columns[j].feature: mask for j, mask in box.items()}
            for box in rules.boxes
        ]
        for rules in best.values()
    ]
    return Path(by_rules, by_conditions, n_rounds, boxes if is_list else (), rows)


def rows_to_search(problem, settings, rng):
    """The rows of a search: synthetic ones, or at most MOST_ROWS of the data."""
    if settings.n_new_rows:
        return problem.synthetic(settings.n_new_rows, rng)
    searched, n_rows = problem.searched, len(problem.target)
    rows = np.arange(n_rows) if searched is None else np.flatnonzero(searched)
    if len(rows) > MOST_ROWS:
        rows = np.sort(rng.choice(rows, MOST_ROWS, replace=False))
    return problem if len(rows) == n_rows else problem.take(rows)


def _table(rows, settings, loss):
    return make_table(
        rows.grid,
        rows.codes,
        settings.limits.features,
        rows.feature_order,
        settings.brevity * loss.total_weight,
        rows.ordered_features,
        settings.max_categories,
    )


def _uncoarsened(rules, groups):
    """The boxes of rules over a coarse table, over the codes of the full one."""
    return [{j: mask[groups[j]] for j, mask in box.items()} for box in rules.boxes]


def _cut_lists(lists, table, loss, limits):
    """Lists of a search without limits, as boxes over the table within the limits."""
    places = {column.feature: j for j, column in enumerate(table.columns)}
    made = []
    for boxes in lists:
        known = [{places[f]: box[f] for f in box if f in places} for box in boxes]
        rules = RuleBoxes(table, loss, [box for box in known if box])
        made.append(moves.cut_to_limits(rules, limits).boxes)
    return made


def quick_points(problem, settings, rows, form):
    """Conditions for points, one per rule and as many as those of a list, greedily.

    A search for points does better, but this is very fast.
    """
    loss, _ = find_losses("points", rows, settings)
    table = _table(rows, settings, loss)
    some = np.arange(min(table.n_rows, SEARCH_ROWS))
    few, groups = table.coarse(some, SEARCH_CODES)
    limits = settings.limits.for_search(loss.total_weight)
    limits = replace(limits, max_conditions=1)
    rules = PointBoxes(few, loss.take(some), ())
    while rules.n_rules < form.n_rules:
        longer = moves.grow_rule(rules, limits)
        if longer is None:
            break
        rules = longer
    rules = PointBoxes(table, loss, _uncoarsened(rules, groups))
    conversion = Conversion(form, problem, replace(settings, prefer=()))
    found = conversion.candidate(rules, takes_rows=False).model
    return [rule.conditions for rule in found.rules]


@dataclass(frozen=True, eq=False)
class Conversion:
    """Converts boxes to rules of a Form, given without rules.

    On preferred features where that costs little, on the rows of the data: features
    with the same information there need not have it on synthetic rows.
    """

    blank: Any
    problem: Any
    settings: SearchSettings
    rng: Any = None

    @cached_property
    def of_data(self):
        """The table and the loss of the rows of the data."""
        without_new = replace(self.settings, n_new_rows=0)
        rows = rows_to_search(self.problem, without_new, self.rng)
        _, loss = find_losses(self.blank.name, rows, self.settings)
        return _table(rows, self.settings, loss), loss

    def path(self, best, limits):
        """Candidates of every number of rules, and of lists by number of conditions.

        The latter are cut from the cheapest list, if that is better.
        """
        most, by_rules, by_conditions = self.settings.limits.max_rules, {}, {}
        is_list = self.blank.is_ordered
        # Rules may be longer on the rows of the search: those without rows are dropped.
        for n in sorted(best):
            found = self.candidate(best[n], is_list)
            if found.model.n_rules <= most:
                by_rules.setdefault(found.model.n_rules, found)
        if not is_list:
            return tuple(by_rules.values()), ()
        cuts = [rules for n, rules in best.items() if n <= most]
        if not cuts:  # nothing is within the limits
            return (), ()
        longest = min(cuts, key=attrgetter("cost"))
        shorter = [
            cut for cut in moves.cut_conditions(longest, limits) if limits.allows(cut)
        ]
        cuts, cheapest = [*shorter, *cuts], np.inf
        for rules in sorted(cuts, key=attrgetter("n_conditions", "fit_cost")):
            if rules.fit_cost < cheapest:
                cheapest = rules.fit_cost
                found = self.candidate(rules, is_list)
                by_conditions.setdefault(found.model.n_conditions, found)
        return tuple(by_rules.values()), tuple(by_conditions.values())

    def candidate(self, rules, takes_rows):
        """The rules as conditions, without those of too few rows.

        `takes_rows` is whether a rule takes the rows that it matches from later ones.
        The default rule has the rows that no rule matches, or all if points add up.
        """
        problem, blank = self.problem, self.blank
        left = np.ones(len(problem.target), dtype=bool)
        least = self.settings.limits.min_coverage * problem.sample_weight.sum()
        made, seen, earlier = [], set(), []
        if self.settings.prefer:
            rules = self._preferred(rules)
        columns, grid = rules.table.columns, problem.grid
        cuts = {}  # of points, by feature
        for box in rules.boxes:
            sides = [
                (columns[j].feature, accepted_bins(grid, columns[j], mask))
                for j, mask in box.items()
            ]
            if blank.is_sum:
                sides = [(j, self._on_cuts(j, own, cuts)) for j, own in sides]
            own = grid.conditions(sides)
            taken = problem.covered(own)
            if takes_rows:
                # A rule that matches only synthetic rows has nothing to report; if the
                # rows are a sample, others may match.
                taken = left & taken
                weight = problem.sample_weight[taken].sum()
                has_enough = weight > 0 and weight >= least - 1e-9
                is_kept = problem.is_sample or has_enough
            else:
                # Rules that match the same rows are one rule, written in two ways.
                rows = taken.tobytes()
                is_kept = taken.any() and rows not in seen
                seen.add(rows)
            if is_kept:
                own = self._as_seen(sides, taken, earlier)
                center = None if problem.n_classes else problem.mean_of(taken)
                known = {"conditions": own, "prediction": center, "weight": 1.0}
                made.append(replace(blank.default, **known))
                if takes_rows and len(own) == 1:
                    earlier += own
                left &= ~taken
        left |= blank.is_sum
        center = None if problem.n_classes else problem.mean_of(left)
        default = replace(blank.default, prediction=center)
        return Candidate(replace(blank, rules=tuple(made), default=default))

    def _on_cuts(self, j, accepts, cuts):
        """The bins of a number, ending at cuts of earlier rules that hardly differ.

        A card by characteristic has a bin between two cuts.
        """
        grid, codes = self.problem.grid, self.problem.codes[:, j]
        if grid.is_categorical(j) or j in grid.special or not accepts[:-1].any():
            return accepts
        n_below = np.append(0, np.cumsum(np.bincount(codes, minlength=len(accepts))))
        ends = []
        for cut in np.flatnonzero(np.diff(accepts[:-1], prepend=False, append=False)):
            if 0 < cut < len(accepts) - 1:
                known = cuts.setdefault(j, [])
                apart = [abs(n_below[cut] - n_below[one]) for one in known]
                if min(apart, default=len(codes)) < BETWEEN_CUTS * len(codes):
                    cut = known[int(np.argmin(apart))]
                else:
                    known.append(cut)
            ends.append(cut)
        if ends[0] < ends[1]:
            accepts = accepts & (np.arange(len(accepts)) == len(accepts) - 1)
            accepts[ends[0] : ends[1]] = True
        return accepts

    def _as_seen(self, sides, taken, earlier):
        """The conditions of a rule that takes these rows, in the values that they have.

        Missing values and unknown categories match where a row has them. Without such
        rows, unknown categories match if it is shorter to name the others.
        """
        grid, made = self.problem.grid, []
        for j, accepts in sides:
            accepts, last = accepts.copy(), grid.n_bins[j] - 1
            codes = self.problem.codes[taken, j]
            accepts[-1] &= not taken.any() or (codes == last).any()
            is_set = grid.is_categorical(j) and j not in self.problem.ordered_features
            if is_set and accepts[-2] and not (codes == last - 1).any():
                labels = self.problem.categories
                known = accepts & (np.arange(len(accepts)) != last - 1)
                whole, short = [
                    remaining([grid.condition(j, one)], earlier, labels)[0]
                    for one in (accepts, known)
                ]
                outside = [
                    str(v) for c, v in enumerate(labels[j]) if c not in whole.categories
                ]
                is_negated = len(outside) == 1 and NEGATION.match(outside[0])
                if known[:-2].any() and (
                    is_negated or n_named(short, labels[j]) <= len(outside)
                ):
                    accepts = known
            made.append((j, accepts))
        return grid.conditions(made)

    def _preferred(self, rules):
        """The rules over the rows of the data, on preferred features where possible."""
        settings, (table, loss) = self.settings, self.of_data
        columns = table.columns
        boxes = [
            moved(box, self.problem.grid, rules.table.columns, columns)
            for box in rules.boxes
        ]
        rules = SEARCHES[self.blank.name].make(table, loss, boxes)
        places = {column.feature: j for j, column in enumerate(columns)}
        order = [places[j] for j in settings.prefer if j in places]
        weight = loss.total_weight
        limits = settings.limits.for_search(weight)
        # Some rules may match too few of these rows already.
        least = min(limits.least_answered, rules.least_answered)
        limits = replace(limits, least_answered=least, keeps_used=True)
        return moves.use_preferred(rules, limits, order, settings.brevity * weight)


def count_found(path, blank, store, settings, scoring, rows):
    """Count the candidates of a path on all rows; returns those that are kept.

    Each model is made once, with its evidence and a profile of the training rows. Lists
    that violate a limit on all rows are dropped, or lose a rule. Of models of one size,
    the best on `rows`, a Problem, is kept.
    """
    limits, weight, form = settings.limits, rows.mean_weight, blank._form
    near = path.rows if path.rows is not None and path.rows.n_near is not None else None
    # If only the class counts, models are compared by the cost of their classes.
    decision = settings.decision if settings.criterion == "error" else None
    count = partial(
        store.count,
        predictions="recount",
        decision=settings.decision,
        scoring=scoring,
        order=MonotoneAnswers(limits.monotone, store.grid.special)
        if limits.monotone
        else None,
    )
    # Of candidates with the same conditions the first is counted.
    keys, distinct = {}, {}
    for one in (*path.by_rules, *path.by_conditions):
        keys[one] = tuple(rule.conditions for rule in one.model.rules)
        distinct[keys[one]] = one.model
    counted = {}
    for conditions, rules in zip(distinct, count([*distinct.values()]), strict=True):
        if form.is_exclusive:
            rules = _within_limits(rules, limits, count)
        elif form.is_standalone and rows.n_classes:
            kept = _without_contradicted(rules, rows, count)
            rules = kept if limits.allows_model(kept) else rules
        elif form.is_sum:
            rules = _without_idle(rules, count)
        if rules is not None:
            losses = leave_one_out_losses(rows, rules, decision)
            # Rounded so that the order of rows does not matter.
            loss = float(f"{losses @ weight / weight.sum():.9g}")
            share = share_of_loss(loss, rules, rows, near, decision)
            counted[conditions] = Candidate(rules, loss, losses, share)
    chosen = []
    for candidates, size in (
        (path.by_rules, "model.n_rules"),
        (path.by_conditions, "model.n_conditions"),
    ):
        kept = [counted[keys[one]] for one in candidates if keys[one] in counted]
        # Of each size the one with the smallest loss; the first of equals.
        groups = _by_size(kept, size).values()
        chosen.append([min(group, key=attrgetter("share")) for group in groups])
    # Rule models, with a profile of the counted rows.
    distinct, made = [*dict.fromkeys((*chosen[0], *chosen[1]))], {}
    forms = [one.model for one in distinct]
    profiles = store.training_rows(forms, blank.outcome)
    for one, training in zip(distinct, profiles, strict=True):
        if near is not None:  # agreement with the model on synthetic rows
            held = near.matches([rule.conditions for rule in one.model.rules])
            losses = blank.outcome.model_losses(
                near.target, one.model.predict_codes(held)
            )
            # However many were drawn, they are near this many rows.
            n_rows = WORTH["training"] * min(len(near.X), near.n_near)
            shown = round_significant(losses.mean()), round_significant(n_rows)
            training = replace(training, agreement=Agreement("synthetic", *shown))
        made[one] = replace(one, model=blank._with_form(one.model, training=training))
    by_rules, by_conditions = (tuple(made[one] for one in own) for own in chosen)
    return replace(path, by_rules=by_rules, by_conditions=by_conditions)


def _without(rules, k, count):
    """The rules without rule k, counted again."""
    kept = rules.rules[:k] + rules.rules[k + 1 :]
    [rules] = count([replace(rules, rules=kept)])
    return rules


def _within_limits(rules, limits, count):
    """Drop rules with too few rows; None if the list violates another limit."""
    while small := limits.too_small(rules):
        # If the default rule has too few rows, the rule before it is dropped.
        rules = _without(rules, min(small[0], len(rules.rules) - 1), count)
    return rules if limits.allows_model(rules) else None


def _without_contradicted(rules, rows, count):
    """Standalone rules without those that do not predict their own rows."""
    while rules.rules:
        apart = contradictions(rows, rules)
        worst = int(apart.argmax())
        if apart[worst] <= LEAST_APART:
            break
        rules = _without(rules, worst, count)
    return rules


def _without_idle(rules, count):
    """A scorecard without rules that have no points."""
    while not all(any(rule.points) for rule in rules.rules):
        kept = tuple(rule for rule in rules.rules if any(rule.points))
        [rules] = count([replace(rules, rules=kept)])
    return rules


def leave_one_out_losses(rows, rules, decision=None, near=False):
    """The leave-one-out loss of each row of a Problem by the rules of a Form.

    It is that of the estimates or, given how a class is decided, the cost of the class.
    Rows `near` the data, which no rule counts, are not left out; their loss is that of
    what rules imitate.
    """
    held = rows.matches([rule.conditions for rule in rules.rules])
    observed, weight = rows.outputs if near else rows.observed, rows.mean_weight
    predicted = rows.outcome.reported(rules, held).reshape(observed.shape)
    apart = observed - predicted
    if not near:
        if rules.is_exclusive:
            group = held.argmax(axis=1)
            n_rows = np.bincount(group, weight, rules.n_rules)[group]
        else:
            # Points, or means of rules, use one degree of freedom each.
            n_rows = np.full(len(held), weight.sum() / rules.n_rules)
        # The residual of a row grows if the row is left out.
        worth = WORTH[rows.store.source]
        own = worth * weight / rows.sample_weight  # by exposure, if y has one
        n_rows = np.maximum(worth * n_rows, 2.0 * np.maximum(own, 1.0))
        apart *= (n_rows / (n_rows - own))[:, None]
    if decision is None:
        return rows.outcome.estimate_losses(observed, observed - apart)
    chosen = decision.choose(observed - apart)
    return (observed * decision.costs.T[chosen]).sum(axis=1)


def share_of_loss(loss, rules, rows, near=None, decision=None):
    """What decides the number of rules, given their loss of y on rows that count.

    The loss of what they imitate on rows near the data is added. Both are shares of
    the loss of the best constant, which is the variance of y.
    """
    weight = rows.mean_weight / rows.mean_weight.sum()
    mean = weight @ rows.observed
    if decision is None:
        constant = np.broadcast_to(mean, rows.observed.shape)
        scale = weight @ rows.outcome.estimate_losses(rows.observed, constant)
    else:
        scale = (mean @ decision.costs).min()
    if near is not None:
        losses = leave_one_out_losses(near, rules, decision, near=True)
        loss = loss + np.average(losses, weights=near.mean_weight)
    return float(f"{loss / (scale or 1.0):.9g}")


def contradictions(rows, rules):
    """How far each rule is from predicting its own rows, as a share of them.

    It is the cost of the predictions less that of the best class for all its rows:
    other rules match some of them, or the estimate is shrunk to another class.
    """
    held = rows.matches([rule.conditions for rule in rules.rules])
    costs = cost_matrix(rules)
    if rules.threshold is not None:
        costs = threshold_costs(rules.threshold)
    by_class = rows.observed @ (costs / costs.max())
    paid = by_class[np.arange(len(held)), rules.predict_codes(held)]
    inside = rows.mean_weight[:, None] * held[:, :-1]
    best = (inside.T @ by_class).min(axis=1)
    apart = np.abs(inside.T @ paid - best) / np.maximum(inside.sum(axis=0), 1e-300)
    return np.round(apart, 9)


def best_model(candidates, by="share"):
    """The candidate with the smallest loss; the shortest of equals."""
    return min(candidates, key=attrgetter(by, "model.n_conditions", "model.n_rules"))


def paired_difference(one, best, weight):
    """How much more a candidate loses per row than another; its standard error."""
    total, apart = weight.sum(), one.losses - best.losses
    mean = weight @ apart / total
    variance = max(weight @ apart**2 / total - mean**2, 0.0)
    return float(mean), math.sqrt(variance / total)


def shortest_model(candidates):
    """The candidate with the fewest conditions that is nearly as good as the best one.

    One without conditions must be the best itself, as it is useless otherwise.
    """
    best = best_model(candidates)
    least = min(best.model.n_conditions, 1)
    good = [
        one
        for one in candidates
        if one.share <= best.share + ENOUGH and one.model.n_conditions >= least
    ]
    return min(good, key=attrgetter("model.n_conditions", "model.n_rules"))


def halves(codes, order, target, weight):
    """Split rows for searching and for counting, alternating in order of the target.

    Columns are used in the order of `order`; the order of rows does not matter. Equal
    rows stay together, so that a row of weight two counts as two rows; frequent rows
    are in both halves, as they would be in new data.
    """
    fingerprint = code_sums(codes, order)
    target = ranks(target)
    order = np.lexsort((fingerprint, target))
    alike = fingerprint[order[1:]] == fingerprint[order[:-1]]
    alike &= target[order[1:]] == target[order[:-1]]
    number = np.empty(len(target), dtype=np.intp)
    number[order] = np.concatenate([[0], np.cumsum(~alike)])
    counts = number % HALVES == HALVES - 1
    is_frequent = np.bincount(number, weight)[number] >= FREQUENT
    return ~counts | is_frequent, counts | is_frequent


def accepted_bins(grid, column, mask):
    """The bins of a feature that a box over the codes of its column accepts."""
    accepts = np.zeros(grid.n_bins[column.feature], dtype=bool)
    accepts[-1] = mask[-1] and column.has_missing
    inside = np.flatnonzero(mask[:-1])
    # Of ordered categories, the bin before that of missing values is unknown ones.
    begin, end = column.span or (0, -2 if grid.is_categorical(column.feature) else -1)
    if column.is_set:
        # Categories without training rows go with the larger part.
        accepts[:-1] = len(inside) > len(column.bins) / 2
        accepts[column.bins] = mask[:-1]
    elif inside.size:
        is_open = inside[-1] == len(column.bins) - 1
        # The middle one of the thresholds between a code and the next.
        middle = (column.bins[:-1] + column.bins[1:] - 1) // 2 + 1
        first = middle[inside[0] - 1] if inside[0] > 0 else begin
        accepts[first : end if is_open else middle[inside[-1]]] = True
    return accepts


def moved(box, grid, columns, others):
    """Convert a box over the codes of some columns to those of other columns."""
    places = {(column.feature, column.span): j for j, column in enumerate(others)}
    made = {}
    for j, mask in box.items():
        place = places[columns[j].feature, columns[j].span]
        bins = accepted_bins(grid, columns[j], mask)
        missing = others[place].span is None and bins[-1]
        accepted = np.append(bins[others[place].bins], missing)
        if not others[place].accepts_all(accepted):
            made[place] = accepted
    return made
