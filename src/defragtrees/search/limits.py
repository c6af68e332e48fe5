"""Limits that a user asks for: read from settings, refused where nothing meets them."""

import dataclasses
import math
from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from defragtrees._utils.values import shown
from defragtrees.data.tables import listed
from defragtrees.ensembles.forest import Forest
from defragtrees.estimators.base import RuleFinder
from defragtrees.estimators.settings import (
    Conflict,
    Given,
    Integer,
    Real,
    Several,
    feature_list,
    feature_numbers,
    setting,
)
from defragtrees.search.lists import Limits, breaks_order, ordered_pairs, rows_in
from defragtrees.search.moves import descend, remove_rule

__all__ = [
    "AskedLimits",
    "LIMITS",
    "Limiting",
    "MonotoneAnswers",
    "RuleLimits",
    "breaking_pairs",
    "refuse_without_lists",
    "within_limits",
]

MOST_TRIED = 8  # forced conditions of each rule, best first


class AskedLimits(Limits):
    """Limits of a search, with all that a user may ask for.

    Parameters
    ----------
    max_rules, max_conditions, least_answered : as for Limits
    max_total : int, optional
        Most conditions of a list.
    monotone : dict from int to {-1, 1}
        Features with which answers may only fall or only rise.
    groups : tuple of frozenset of int
        A rule asks about features of one of them only; those in none are free.
    must_use : tuple of frozenset of int
        One feature of each must be asked about.
    """

    def __init__(
        self,
        max_rules=10,
        max_conditions=None,
        least_answered=0.0,
        *,
        max_total=None,
        monotone=None,
        groups=(),
        must_use=(),
    ):
        super().__init__(max_rules, max_conditions, least_answered)
        self.max_total = max_total
        self.monotone = monotone or {}
        self.groups = groups
        self.must_use = must_use
        self._keeps_used = False
        self._grouped = frozenset().union(*groups)

    def allows_box(self, table, box):
        """Whether a box has few enough conditions, on features of one group."""
        if not super().allows_box(table, box):
            return False
        asked = {table.columns[j].feature for j in box} & self._grouped
        return not asked or any(asked <= group for group in self.groups)

    def allows(self, rules):
        """Whether a list keeps to all limits but what it must use on the way."""
        if not super().allows(rules):
            return False
        if self.max_total is not None and rules.n_conditions > self.max_total:
            return False
        if self._keeps_used and self._unused(rules):
            return False
        return self._is_monotone(rules)

    def _is_monotone(self, rules):
        if not self.monotone:
            return True
        for j, column in enumerate(rules.table.columns):
            sign = self.monotone.get(column.feature)
            if sign is None or not any(j in box for box in rules.boxes):
                continue
            if not rules.keeps_order(j, sign):
                return False
        return True

    def repaired(self, rules):
        """The list without rules that break the limits, the cheapest ones first."""
        while rules.boxes and not self.allows(rules):
            rules = remove_rule(rules)
        return rules

    def completed(self, lists):
        """The lists with what they must use; those that cannot have it are left out.

        Parameters
        ----------
        lists : dict from int to RuleBoxes
            By number of rules.
        """
        if not self.must_use:
            return lists
        keeping, best = self.keeping(), {}
        for rules in lists.values():
            for may_grow in (False, True):
                complete = self._complete(rules, may_grow)
                if complete is None:
                    continue
                for found in (complete, descend(complete, keeping)):
                    n, is_complete = found.n_rules, not self._unused(found)
                    if is_complete and (n not in best or found.cost < best[n].cost):
                        best[n] = found
        return best

    def keeping(self):
        """The same limits for lists that have all that they must have, and keep it."""
        keeping = copy(self)
        keeping._keeps_used = True
        return keeping

    def _unused(self, rules):
        columns = rules.table.columns
        used = {columns[j].feature for box in rules.boxes for j in box}
        return [wanted for wanted in self.must_use if not wanted & used]

    def _complete(self, rules, may_grow):
        """The list with the conditions that cost least on what it does not use."""
        for wanted in self._unused(rules):
            options = [
                changed
                for j, column in enumerate(rules.table.columns)
                if column.feature in wanted
                for changed in self._with_column(rules, j, may_grow)
            ]
            if not options:
                return None
            rules = min(options, key=lambda changed: changed.cost)
        return None if self._unused(rules) else rules

    def _with_column(self, rules, j, may_grow):
        """Lists in which one more rule, or a new last one, asks about a column."""
        for k, box in enumerate(rules.boxes):
            if j not in box:
                for mask in _best_masks(rules, k, j):
                    yield from self._allowed(rules, {**box, j: mask}, k)
        if may_grow and rules.n_rules < self.max_rules:
            for mask in _all_masks(rules.table.columns[j]):
                yield from self._allowed(rules, {j: mask})

    def _allowed(self, rules, box, k=None):
        if not self.allows_box(rules.table, box):
            return
        if k is None:
            changed = rules.with_new_box(len(rules.boxes), box)
        else:
            changed = rules.with_box(k, box)
        if rules_have_rows(changed) and self.allows(changed):
            yield changed


def rules_have_rows(rules):
    """Whether each rule of a list answers some row."""
    return bool((rules.weights > 0).all())


def _best_masks(rules, k, j):
    """Conditions on a column for rule k, those that gain most first."""
    table = rules.table
    column = table.columns[j]
    inside = rows_in(table, rules.boxes[k])
    gain = np.bincount(
        table.codes[inside, j], rules.row_gains(k)[inside], column.n_codes + 1
    )
    masks = list(_all_masks(column))
    masks.sort(key=lambda mask: -gain[mask].sum())
    return masks[:MOST_TRIED]


def _all_masks(column):
    """Conditions with one side, or on one category and all others."""
    n = column.n_codes
    codes = np.arange(n + 1)
    for c in range(n if column.is_set else n - 1):
        below = codes == c if column.is_set else codes <= c
        for mask in (below, ~below):
            mask = mask.copy()
            mask[-1] = False
            yield mask


def breaking_pairs(rules, feature, sign, answers=None):
    """Pairs of rules of which the second can follow the first and goes the wrong way.

    Parameters
    ----------
    rules : RuleModel
        Asked in order.
    feature : int
    sign : {-1, 1}
    answers : array of shape (n_rules,), optional
        What the rules answer, if it is something else.
    """
    pairs = rule_pairs(rules, feature)
    answers = answers_of(rules) if answers is None else answers
    if pairs is None:
        # Too many to look at: only equal answers are sure to be in order.
        pairs = {(a, b) for a in range(len(answers)) for b in range(len(answers))}
    return breaks_order(pairs, answers, sign)


def rule_pairs(rules, feature):
    """`ordered_pairs` for a RuleModel."""
    ends: dict[int, set] = {}
    for rule in rules.rules:
        for condition in rule.conditions:
            ends.setdefault(condition.feature, set())
            if condition.categories is None:
                ends[condition.feature] |= set(condition.bounds)
    if feature not in ends:
        return set()
    # A value of each cell, then one that is missing.
    cells = {
        j: np.array([*sorted(e for e in known if e > -np.inf), np.inf, np.nan])
        if rules.categories[j] is None
        else np.array([*range(len(rules.categories[j]) + 1), np.nan])
        for j, known in ends.items()
    }
    boxes = [
        {c.feature: c.covers(cells[c.feature]).astype(bool) for c in rule.conditions}
        for rule in rules.rules
    ]
    return ordered_pairs(boxes, feature, len(cells[feature]) - 1)


def answers_of(rules):
    """One number for each rule: its answer, or the probability of the second class."""
    if rules.outcome.n_classes:
        return np.array([rule.distribution[1] for rule in rules])
    return np.array([rule.prediction for rule in rules], dtype=np.float64)


@dataclasses.dataclass(frozen=True)
class MonotoneAnswers:
    """Makes the answers of counted rules keep an order.

    Two rules that break it tell what the rows of both say together.

    Parameters
    ----------
    signs : dict from int to {-1, 1}
    """

    signs: dict[int, int]

    def point_signs(self, rules):
        """For each rule, the base last, the sign that its points may have; 0 for any.

        A rule that accepts what is above a threshold may only add where sums rise.
        """
        signs = np.zeros(rules.n_rules, dtype=int)
        for k, rule in enumerate(rules.rules):
            for condition in rule.conditions:
                sign = self.signs.get(condition.feature)
                if sign is not None and condition.lower < condition.upper:
                    signs[k] = sign if condition.lower > -np.inf else -sign
        return signs

    def __call__(self, rules, answers, weights):
        """Answers in order.

        Parameters
        ----------
        rules : RuleModel
        answers : array of shape (n_rules,)
        weights : array of shape (n_rules,)
            Of the rows behind them.
        """
        pooled = np.array(answers, dtype=np.float64)
        weights = np.maximum(np.asarray(weights, dtype=np.float64), 1e-9)
        block = np.arange(len(pooled))
        while True:
            broken = [
                pair
                for j, sign in self.signs.items()
                for pair in breaking_pairs(rules, j, sign, pooled)
            ]
            if not broken:
                return pooled
            a, b = max(broken, key=lambda pair: abs(pooled[pair[0]] - pooled[pair[1]]))
            block[block == block[b]] = block[a]
            together = block == block[a]
            pooled[together] = np.average(
                np.asarray(answers)[together], weights=weights[together]
            )


LEAST_COVERAGE = 0.01  # where nothing is said

LIMITS = """\
    min_rows : int, optional
        Number of training rows, by weight, that each rule must answer, the "otherwise"
        too; in place of `min_coverage`.
    max_total_conditions : int, optional
        Most conditions of all rules together.
    features : sequence of str or int, optional
        Features that rules may use, by name or by number; all by default.
    exclude : sequence of str or int, optional
        Features that rules may not use.
    must_use : sequence of str or int, optional
        Features that some rule must ask about.
    monotone : dict from str or int to {-1, 1}, optional
        Features with which answers, numbers or the probability of the second of two
        classes, may only fall (-1) or only rise (1) while all others stay.
    groups : dict from str to features, or sequence of features, optional
        A rule asks about features of one group only; features in no group may stand in
        any rule. The name of a group can be used for its features in `features` and
        `exclude`, and for any of them in `must_use`.
"""


@dataclass(frozen=True)
class RuleLimits:
    """What each list must keep to; features by number.

    Parameters
    ----------
    max_conditions, max_total : int or None
    min_coverage : float
        Share of the rows that each rule must answer, if there are two at least.
    features : frozenset of int or None
    monotone : dict from int to {-1, 1}
    groups, must_use : tuple of frozenset of int
    """

    max_conditions: int | None = None
    max_total: int | None = None
    min_coverage: float = 0.0
    features: frozenset[int] | None = None
    monotone: dict[int, int] = dataclasses.field(default_factory=dict)
    groups: tuple[frozenset[int], ...] = ()
    must_use: tuple[frozenset[int], ...] = ()

    def for_search(self, max_rules, least_answered):
        """The same for the moves of a search."""
        return AskedLimits(
            max_rules,
            self.max_conditions,
            least_answered,
            max_total=self.max_total,
            monotone=self.monotone,
            groups=self.groups,
            must_use=self.must_use,
        )

    def allows(self, rules):
        """Whether a counted RuleModel keeps to all of them."""
        counts = [rule.n_conditions for rule in rules.rules]
        used = [{c.feature for c in rule.conditions} for rule in rules.rules]
        every = frozenset().union(*used)
        grouped = frozenset().union(*self.groups)
        return (
            max(counts, default=0) <= (self.max_conditions or math.inf)
            and sum(counts) <= (math.inf if self.max_total is None else self.max_total)
            and not self.too_small(rules)
            and (self.features is None or every <= self.features)
            and all(wanted & every for wanted in self.must_use)
            and all(
                not asked & grouped or any(asked & grouped <= g for g in self.groups)
                for asked in used
            )
            and not any(breaking_pairs(rules, j, s) for j, s in self.monotone.items())
        )

    def too_small(self, rules):
        """Places of the rules that answer too few rows."""
        if rules.n_rules == 1:
            return []
        least = self.min_coverage - 1e-9
        return [k for k, rule in enumerate(rules) if rule.answered < least]


def within_limits(rules, limits, recount):
    """The list without rules that answer too few of all rows; None if it breaks limits.

    Parameters
    ----------
    rules : RuleModel
        Counted.
    limits : RuleLimits
    recount : callable
        From a RuleModel to the same, counted.
    """
    while small := limits.too_small(rules):
        # Rows of a small "otherwise" are joined by those of the rule before it.
        gone = min(small[0], len(rules.rules) - 1)
        kept = tuple(rule for k, rule in enumerate(rules.rules) if k != gone)
        rules = recount(dataclasses.replace(rules, rules=kept))
    return rules if limits.allows(rules) else None


@dataclass(repr=False, eq=False)
class Limiting(RuleFinder):
    """A method whose search keeps to limits."""

    _: KW_ONLY
    max_conditions: int | None = setting(None, None, Integer(1))
    min_coverage: float | None = setting(None, None, Real(0, 1))
    min_rows: int | None = setting(None, None, Real(above=0))
    max_total_conditions: int | None = setting(None, None, Integer(1))
    exclude: Any = None
    must_use: Any = None
    monotone: Any = None
    groups: Any = setting(None, None, Several())

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        Conflict(
            "min_rows says what min_coverage says, in rows; got both. Leave one out.",
            min_rows=Given(),
            min_coverage=Real(above=0),
        ),
        *(
            Conflict(
                f"{name} needs two rules at least; got max_rules=1. Allow more rules.",
                max_rules=Integer(1, 1),
                **{name: Given()},
            )
            for name in (
                "min_rows",
                "max_total_conditions",
                "must_use",
                "monotone",
                "groups",
            )
        ),
    )

    def rule_limits(
        self, forest: Forest, total_weight: float | None = None
    ) -> RuleLimits:
        """The limits for a forest, checked.

        Parameters
        ----------
        forest : Forest
        total_weight : float, optional
            Of all rows, to check numbers of rows.
        """
        names = forest.feature_names
        groups = _read_groups(self.groups, names)
        allowed = _allowed(self.features, self.exclude, names, groups)
        must_use = _read_must_use(self.must_use, names, groups, allowed)
        monotone = _read_monotone(self.monotone, forest, allowed, self.pos_label)
        self._check_counts(must_use)
        _check_splits(must_use, forest)
        given = self.min_coverage
        coverage = LEAST_COVERAGE if given is None else float(given)
        if self.min_rows is not None and total_weight is not None:
            coverage = float(self.min_rows) / total_weight
            if coverage > 0.5:
                raise ValueError(
                    f"min_rows must be half of the rows at most, as two rules share "
                    f"them; got {self.min_rows} of {total_weight:g}. Ask for fewer."
                )
        return RuleLimits(
            _as_integer(self.max_conditions),
            _as_integer(self.max_total_conditions),
            coverage,
            allowed,
            monotone,
            tuple(groups.values()),
            must_use,
        )

    def _check_counts(self, must_use):
        """Refuse a number of conditions that is no limit, or too small a one."""
        total, each = self.max_total_conditions, self.max_conditions
        most = math.inf if each is None else each * (self.most_rules() - 1)
        if total is not None and total >= most and each is not None:
            raise ValueError(
                f"max_total_conditions must be below {most}, which {self.most_rules()} "
                f"rules of at most {each} conditions have anyhow; got {total}. Lower "
                "it, or leave it out."
            )
        room = min(most, math.inf if total is None else total)
        if len(must_use) > room:
            raise ValueError(
                f"must_use needs {len(must_use)} conditions; {room} are allowed. Allow "
                "more rules or conditions, or name fewer features."
            )


def _as_integer(value):
    return None if value is None else int(value)


def _read_groups(groups, names):
    """Groups by name, as sets of numbers; places stand for names that are not given."""
    if groups is None:
        return {}
    if not hasattr(groups, "keys"):
        groups = dict(enumerate(groups))
    read = {}
    for name, members in groups.items():
        numbers = feature_numbers(members, names, "groups")
        if len(numbers) == len(names):
            raise ValueError(
                "groups must not hold all features, which is no limit; one does. Leave "
                "it out."
            )
        if name in names:
            raise ValueError(
                f"groups must have names that no feature has; got {name!r}. Rename it."
            )
        read[name] = numbers
    if not read:
        raise ValueError("groups must name at least one group; it is empty.")
    return read


def _numbers(given, names, groups, what):
    """Features, or all those of groups, by number."""
    if given is None:
        return None
    items = feature_list(given, what)
    numbers = frozenset().union(
        *(groups[item] for item in items if item in groups and item not in names)
    )
    single = [item for item in items if isinstance(item, int) or item not in groups]
    if single or not items:
        numbers |= feature_numbers(single, names, what)
    return numbers


def _allowed(features, exclude, names, groups):
    """Features that rules may use; None for all."""
    # Places of groups without names are no names.
    groups = {name: group for name, group in groups.items() if isinstance(name, str)}
    allowed = _numbers(features, names, groups, "features")
    excluded = _numbers(exclude, names, groups, "exclude")
    if excluded is None:
        return allowed
    every = frozenset(range(len(names))) if allowed is None else allowed
    idle = sorted(excluded - every)
    if idle:
        raise ValueError(
            f"exclude names {names[idle[0]]!r}, which features leaves out already; "
            "leave it out of one."
        )
    if excluded >= every:
        raise ValueError("exclude must leave a feature; it names all. Name fewer.")
    return every - excluded


def _read_must_use(must_use, names, groups, allowed):
    """For each entry the features of which one must be used."""
    if must_use is None:
        return ()
    wanted = []
    for item in feature_list(must_use, "must_use"):
        numbers = groups.get(item) if isinstance(item, str) else None
        numbers = numbers or feature_numbers([item], names, "must_use")
        possible = numbers if allowed is None else numbers & allowed
        if not possible:
            raise ValueError(
                f"must_use names {item!r}, which features or exclude do not allow; "
                "leave it out of one."
            )
        wanted.append(possible)
    if not wanted:
        raise ValueError("must_use must name at least one feature; it is empty.")
    return tuple(wanted)


def _check_splits(must_use, forest):
    """Refuse features that no condition can be on."""
    if not must_use:
        return
    splits = forest.splits()
    for wanted in must_use:
        if not any(len(splits[j]) for j in wanted):
            name = forest.feature_names[min(wanted)]
            raise ValueError(
                f"must_use names {name!r}, on which the ensemble has no split; no rule "
                "can ask about it. Leave it out."
            )


def _read_monotone(monotone, forest, allowed, pos_label):
    """Signs by number of the feature, for the second class or the number."""
    if monotone is None:
        return {}
    names = forest.feature_names
    if not hasattr(monotone, "keys") or not monotone:
        raise ValueError(
            "monotone must be a dict from features to -1 or 1; got "
            f"{shown(monotone)}. {{'income': -1}} lets answers only fall with income."
        )
    if forest.outcome.n_classes > 2:
        raise ValueError(
            "monotone needs numbers or two classes, whose answers have an order; there "
            f"are {forest.outcome.n_classes} classes. Leave it out."
        )
    signs, turn = {}, -1 if (forest.classes or ())[:1] == (pos_label,) else 1
    for name, sign in monotone.items():
        [j] = feature_numbers([name], names, "monotone")
        if sign not in (-1, 1) or isinstance(sign, bool):
            raise ValueError(
                f"monotone must say -1 or 1 for {names[j]!r}; got {sign!r}. Leave "
                "out a feature that may do either."
            )
        if forest.categories[j] is not None:
            raise ValueError(
                f"monotone names {names[j]!r}, which has categories and no order; "
                "leave it out."
            )
        if allowed is not None and j not in allowed:
            raise ValueError(
                f"monotone names {names[j]!r}, which rules may not use; leave it out."
            )
        signs[j] = turn * int(sign)
    return signs


def refuse_without_lists(limits, names, max_rules):
    """Say that no list meets the limits."""
    wanted = [names[min(group)] for group in limits.must_use]
    raise ValueError(
        f"No list of at most {max_rules} rules keeps to all limits and uses "
        f"{listed(wanted)}. Allow more rules or conditions, or fewer rows a rule."
    )
