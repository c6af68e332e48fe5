"""Limits that a user sets: read from settings, kept to by the search and its rules."""

import math
from dataclasses import KW_ONLY, dataclass, field, fields, replace

import numpy as np

from defragtrees._utils.values import shown
from defragtrees.data.tables import feature_index, listed
from defragtrees.errors import SettingError
from defragtrees.search.lists import (
    breaks_order,
    n_conditions,
    ordered_pairs,
    rows_in,
)
from defragtrees.search.moves import descend, remove_rule

MOST_RULES = 10  # where the fit chooses their number
SEARCH_RULES = 10  # a list of few rules is better cut from a longer one
ROWS_OF_A_RULE = 5  # with fewer, none of many rules is worth what it costs
LEAST_COVERAGE = 0.01  # where no setting says so
MOST_TRIED = 8  # forced conditions of each rule, best first


@dataclass(frozen=True, eq=False)
class Limits:
    """What rules may look like; features by number."""

    max_rules: int = MOST_RULES  # the default rule counts as one
    max_conditions: int | None = None  # of one rule
    # weight of the rows that a rule must match, of those that are searched
    least_answered: float = 0.0
    _: KW_ONLY
    max_total: int | None = None  # conditions of all rules
    # share of all rows that each rule must match, if there are two at least
    min_coverage: float = 0.0
    features: frozenset[int] | None = None  # that rules may use
    # features to -1 or 1: predictions may only fall or only rise with them
    monotone: dict[int, int] = field(default_factory=dict)
    # a rule uses features of one of them only; those in none are free
    groups: tuple[frozenset[int], ...] = ()
    must_use: tuple[frozenset[int], ...] = ()  # one feature of each must be used
    keeps_used: bool = False  # whether rules use these already, and must go on to

    def relaxed(self):
        """Without the limits that rules may keep to by themselves; itself if none.

        A search that knows no limits comes first: so one that does not bind changes
        nothing. An order of predictions is no such limit, as counts depend on it.
        """
        least = min(self.min_coverage, LEAST_COVERAGE)
        free = Limits(self.max_rules, min_coverage=least, monotone=self.monotone)
        is_same = all(
            getattr(free, own.name) == getattr(self, own.name) for own in fields(self)
        )
        return self if is_same else free

    def for_search(self, total_weight, slack=1.0):
        """The same for the moves of a search over rows of so much weight.

        With a slack a rule may have that share of the rows it must have. The search
        goes past a small budget, which is then a place on the same path.
        """
        return replace(
            self,
            max_rules=max(self.max_rules, SEARCH_RULES),
            least_answered=self.min_coverage * total_weight * slack,
        )

    def allows_box(self, table, box):
        """Whether a box has few enough conditions, on features of one group."""
        most = self.max_conditions
        if most is not None and n_conditions(table, box) > most:
            return False
        if not self.groups:
            return True
        return self._keeps_groups({table.columns[j].feature for j in box})

    def allows_longer(self, table, box):
        """Whether a box could take one more condition."""
        most = self.max_conditions
        return most is None or n_conditions(table, box) < most

    def allows(self, rules):
        """Whether boxes keep to all limits but what they must use on the way."""
        if rules.least_answered < self.least_answered:
            return False
        if self.max_total is not None and rules.n_conditions > self.max_total:
            return False
        if self.keeps_used and self._unused(rules):
            return False
        for j, column in enumerate(rules.table.columns if self.monotone else ()):
            sign = self.monotone.get(column.feature)
            if sign is None or not any(j in box for box in rules.boxes):
                continue
            if not rules.keeps_order(j, sign):
                return False
        return True

    def repaired(self, rules):
        """The boxes without those that break the limits, the cheapest ones first."""
        while rules.boxes and not self.allows(rules):
            rules = remove_rule(rules)
        return rules

    def allows_model(self, rules):
        """Whether a counted rule model keeps to all limits."""
        counts = [rule.n_conditions for rule in rules.rules]
        used = [{c.feature for c in rule.conditions} for rule in rules.rules]
        every = frozenset().union(*used)
        return (
            max(counts, default=0) <= (self.max_conditions or math.inf)
            and sum(counts) <= (math.inf if self.max_total is None else self.max_total)
            and not self.too_small(rules)
            and (self.features is None or every <= self.features)
            and all(wanted & every for wanted in self.must_use)
            and all(map(self._keeps_groups, used))
            and not any(breaking_pairs(rules, j, s) for j, s in self.monotone.items())
        )

    def too_small(self, rules):
        """Places of the counted rules that match too few rows."""
        if rules.n_rules == 1:
            return []
        least = self.min_coverage - 1e-9
        return [k for k, rule in enumerate(rules) if rule.share < least]

    def _keeps_groups(self, features):
        grouped = features & frozenset().union(*self.groups)
        return not grouped or any(grouped <= group for group in self.groups)

    def completed(self, lists):
        """Rules by their number, with what they must use; those without go."""
        if not self.must_use:
            return lists
        keeping, best = replace(self, keeps_used=True), {}
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

    def _unused(self, rules):
        columns = rules.table.columns
        used = {columns[j].feature for box in rules.boxes for j in box}
        return [wanted for wanted in self.must_use if not wanted & used]

    def _complete(self, rules, may_grow):
        """The rules with the cheapest conditions on what they do not use yet."""
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
        """Rules of which one more, or a new last one, has a condition on a column."""
        table = rules.table
        changes = [
            (k, {**box, j: mask})
            for k, box in enumerate(rules.boxes)
            if j not in box
            for mask in _best_masks(rules, k, j)
        ]
        if may_grow and rules.n_rules < self.max_rules:
            changes += [(None, {j: mask}) for mask in _all_masks(table.columns[j])]
        for k, box in changes:
            if not self.allows_box(table, box):
                continue
            if k is None:
                changed = rules.with_new_box(len(rules.boxes), box)
            else:
                changed = rules.with_box(k, box)
            if (changed.weights > 0).all() and self.allows(changed):
                yield changed


def rules_for_rows(max_rules, n_rows):
    """The maximum number of rules that is worth a search in so many rows.

    A rule and its conditions cost a few nats, which it must earn in the rows that it
    matches; so few rows cannot pay for many rules, whatever the budget.

    Examples
    --------
    >>> rules_for_rows(10**6, 200), rules_for_rows(10, 200), rules_for_rows(10, 3)
    (40, 10, 2)
    """
    return min(max_rules, max(2, n_rows // ROWS_OF_A_RULE))


def read_limits(given, forest):
    """The limits that settings ask for, checked against a forest."""
    names, groups, allowed, must_use, monotone = forest.feature_names, {}, None, (), {}
    if given.groups is not None:
        groups = _read_groups(given.groups, names)
    if given.features is not None or given.exclude is not None:
        allowed = _allowed(given.features, given.exclude, names, groups)
    if given.must_use is not None:
        must_use = _read_must_use(given.must_use, names, groups, allowed)
    if given.monotone is not None:
        monotone = _read_monotone(given.monotone, forest, allowed, given.pos_label)
    max_rules = MOST_RULES if given.max_rules == "auto" else int(given.max_rules)
    total, each = given.max_total_conditions, given.max_conditions
    most = math.inf if each is None else each * (max_rules - 1)
    if total is not None and total >= most and each is not None:
        raise ValueError(
            f"max_total_conditions must be below {most}, which {max_rules} "
            f"rules of at most {each} conditions have anyhow; got {total}. Lower "
            "it, or leave it out."
        )
    room = min(most, math.inf if total is None else total)
    if len(must_use) > room:
        raise ValueError(
            f"must_use needs {len(must_use)} conditions; {room} are allowed. Allow "
            "more rules or conditions, or name fewer features."
        )
    if must_use:
        splits = forest.splits()
    for wanted in must_use:
        if not any(len(splits[j]) for j in wanted):
            raise ValueError(
                f"must_use names {names[min(wanted)]!r}, on which the ensemble has no "
                "split; no rule can ask about it. Leave it out."
            )
    share = given.min_coverage
    return Limits(
        max_rules,
        None if each is None else int(each),
        max_total=None if total is None else int(total),
        min_coverage=LEAST_COVERAGE if share is None else float(share),
        features=allowed,
        monotone=monotone,
        groups=tuple(groups.values()),
        must_use=must_use,
    )


def share_of_rows(min_rows, total_weight):
    """The number of rows that each rule must match as a share of all rows."""
    share = float(min_rows) / total_weight
    if share > 0.5:
        raise ValueError(
            f"min_rows must be half of the rows at most, as two rules share "
            f"them; got {min_rows} of {total_weight:g}. Ask for fewer."
        )
    return share


def _read_groups(groups, names):
    """Groups by name, as sets of numbers; places stand for names that are not given."""
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


def _read_monotone(monotone, forest, allowed, pos_label):
    """Signs by number of the feature, for the second class or the number."""
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


def feature_list(features, what):
    """The names and numbers that a setting holds, one or several, as a list."""
    if isinstance(features, str) or _is_integer(features):
        return [features]
    if not np.iterable(features):
        raise SettingError(
            f"{what} must be a name or a number of a feature, or several of them; got "
            f"{shown(features)}."
        )
    features = list(features)
    for which in features:
        if not (isinstance(which, str) or _is_integer(which)):
            raise SettingError(
                f"{what} must hold names or numbers of features; got {shown(which)}."
            )
    return features


def feature_numbers(features, names, what="features"):
    """Positions of the features that a setting names."""
    given = feature_list(features, what)
    numbers = frozenset(feature_index(which, names, what) for which in given)
    if not numbers:
        raise ValueError(f"{what} must name at least one feature; it is empty.")
    return numbers


def _is_integer(value):
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def breaking_pairs(rules, feature, sign, answers=None):
    """Pairs of rules whose second can follow the first and goes the wrong way."""
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
    value = rules.outcome.ordered_value
    answers = [value(rule.prediction, rule.distribution) for rule in rules]
    return np.array(answers, dtype=np.float64)


@dataclass(frozen=True)
class MonotoneAnswers:
    """Makes the predictions of counted rules keep an order.

    Two rules that break it predict what the rows of both give together.
    """

    signs: dict[int, int]  # by feature, -1 or 1

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
        """Answers in order."""
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


def refuse_without_lists(limits, names, max_rules):
    """Say that no list meets the limits."""
    wanted = [names[min(group)] for group in limits.must_use]
    raise ValueError(
        f"No list of at most {max_rules} rules keeps to all limits and uses "
        f"{listed(wanted)}. Allow more rules or conditions, or fewer rows a rule."
    )
