"""Limits on rules: read from settings, and applied in the search."""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace

import numpy as np

from defragtrees._utils.formatting import listed
from defragtrees._utils.values import round_significant, shown
from defragtrees._utils.warnings import warn
from defragtrees.errors import SettingError
from defragtrees.rules.labels import ORDERED
from defragtrees.search.boxes import (
    breaks_order,
    n_conditions,
    ordered_pairs,
    rows_in,
)
from defragtrees.search.moves import descend
from defragtrees.tables import feature_index

MOST_RULES = 10  # if the fit chooses their number
SEARCH_RULES = 10  # a short list is better cut from a longer one
ROWS_OF_A_RULE = 5  # a rule with fewer rows is not worth its cost
LEAST_COVERAGE = 0.01  # default
MOST_TRIED = 8  # forced conditions per rule, best first


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits on rules; features by index."""

    max_rules: int = MOST_RULES  # including the default rule
    max_conditions: int | None = None  # per rule
    # weight of the searched rows that a rule must match
    least_answered: float = 0.0
    _: KW_ONLY
    max_total: int | None = None  # conditions of all rules
    # share of all rows that each rule must match, if there are at least two
    min_coverage: float = 0.0
    features: frozenset[int] | None = None  # that rules may use
    # from feature to -1 or 1: predictions may only fall or only rise with it
    monotone: dict[int, int] = field(default_factory=dict)
    # a rule uses features of one group only; those in none are free
    groups: tuple[frozenset[int], ...] = ()
    must_use: tuple[frozenset[int], ...] = ()  # one feature of each must be used
    keeps_used: bool = False  # whether rules use these already, and must keep them

    def relaxed(self):
        """Remove the limits that a first search may ignore; itself if there are none.

        The first search is without limits, so that a limit that does not bind changes
        nothing. Monotone constraints are kept, as counts depend on them.
        """
        least = min(self.min_coverage, LEAST_COVERAGE)
        free = Limits(self.max_rules, min_coverage=least, monotone=self.monotone)
        return self if vars(free) == vars(self) else free

    def for_search(self, total_weight, slack=1.0):
        """The limits for the moves of a search over rows of this weight.

        With a slack, that share of the required rows of a rule is enough. The search
        goes beyond a small `max_rules`, so that its path does not depend on it.
        """
        return replace(
            self,
            max_rules=max(self.max_rules, SEARCH_RULES),
            least_answered=self.min_coverage * total_weight * slack,
        )

    def allows_box(self, table, box):
        """Whether a box has few and short conditions, on features of one group."""
        most = self.max_conditions
        if most is not None and n_conditions(table, box) > most:
            return False
        if any(table.n_named(j, mask) > table.most_named for j, mask in box.items()):
            return False
        if any(box[j][-1] for j in table.part if j in box):
            return False
        if not self.groups:
            return True
        return self._keeps_groups({table.columns[j].feature for j in box})

    def allows(self, rules):
        """Whether boxes are within all limits, except `must_use` before the end."""
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

    def allows_model(self, rules):
        """Whether a counted rule model is within all limits."""
        counts = [rule.n_conditions for rule in rules.rules]
        used = [{c.feature for c in rule.conditions} for rule in rules.rules]
        every = frozenset().union(*used)
        return (
            max(counts, default=0) <= (self.max_conditions or math.inf)
            and sum(counts) <= (math.inf if self.max_total is None else self.max_total)
            and not self.too_small(rules)
            and (self.features is None or every <= self.features)
            and all(wanted & every for wanted in self.must_use)
            and (not self.groups or all(map(self._keeps_groups, used)))
            and not any(breaking_pairs(rules, j, s) for j, s in self.monotone.items())
        )

    def too_small(self, rules):
        """Indices of the counted rules that match too few rows."""
        if rules.n_rules == 1:
            return []
        least = self.min_coverage - 1e-9
        return [k for k, rule in enumerate(rules) if rule.share < least]

    def _keeps_groups(self, features):
        grouped = features & frozenset().union(*self.groups)
        return not grouped or any(grouped <= group for group in self.groups)

    def completed(self, lists):
        """Add required features to rules, by their number; drop those without."""
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
        used = {rules.table.columns[j].feature for box in rules.boxes for j in box}
        return [wanted for wanted in self.must_use if not wanted & used]

    def _complete(self, rules, may_grow):
        """Add the cheapest conditions on required features that are not used yet."""
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
        """Variants in which one more rule, or a new last one, uses a column."""
        table = rules.table
        changes = [
            (k, 1, {**box, j: mask})
            for k, box in enumerate(rules.boxes)
            if j not in box
            for mask in _best_masks(rules, k, j)
        ]
        if may_grow and rules.n_rules < self.max_rules:
            k, masks = len(rules.boxes), _all_masks(table.columns[j])
            changes += [(k, 0, {j: mask}) for mask in masks]
        for k, n_old, box in changes:
            if self.allows_box(table, box):
                changed = rules.with_boxes(k, box, n_old=n_old)
                if (changed.weights > 0).all() and self.allows(changed):
                    yield changed


def read_limits(given, forest):
    """Read limits from settings, and check them against a forest."""
    names, groups, allowed, must_use, monotone = forest.feature_names, {}, None, (), {}
    if given.groups is not None:
        groups = _read_groups(given.groups, names)
    if given.features is not None or given.exclude is not None:
        allowed = _allowed(given.features, given.exclude, names, groups)
    if given.must_use is not None:
        must_use = _read_must_use(given.must_use, names, groups, allowed)
    if given.monotone is not None:
        monotone = _read_monotone(given, forest, allowed)
    max_rules = MOST_RULES if given.max_rules == "auto" else int(given.max_rules)
    total, each = given.max_total_conditions, given.max_conditions
    most = math.inf if each is None else each * (max_rules - 1)
    if total is not None and total >= most and each is not None:
        raise ValueError(
            f"max_total_conditions must be below {most}, the maximum of {max_rules} "
            f"rules with at most {each} conditions; got {total}. Lower it, or leave "
            "it out."
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
                f"must_use needs features that the model splits on; got "
                f"{names[min(wanted)]!r}, which it does not use. Leave it out."
            )
    return Limits(
        max_rules,
        None if each is None else int(each),
        max_total=None if total is None else int(total),
        # A number of rows is made a share once they are counted.
        min_coverage=float(given.min_rows) if given.min_rows < 1 else LEAST_COVERAGE,
        features=allowed,
        monotone=monotone,
        groups=tuple(groups.values()),
        must_use=must_use,
    )


def read_special(given, forest):
    """The special values of each feature, sorted, from a setting."""
    if given is None:
        return {}
    names, numeric = forest.feature_names, forest.categories
    if not hasattr(given, "keys"):
        given = {j: given for j, known in enumerate(numeric) if known is None}
    read = {}
    for name, values in given.items():
        j = feature_index(name, names, "special_values")
        values = [values] if np.ndim(values) == 0 else list(values)
        is_number = [isinstance(v, (int, float, np.number)) for v in values]
        if not values or not all(is_number) or not np.isfinite(values).all():
            raise SettingError(
                "special_values must be finite numbers, for all columns or by column, "
                f"such as {{'age': [-9, 999]}}; got {shown(values)}."
            )
        if numeric[j] is not None:
            raise ValueError(
                f"special_values names {names[j]!r}, which has categories: each of "
                "them is a value of its own already. Leave it out."
            )
        read[j] = tuple(sorted({float(v) for v in values}))
    return read


def read_preferred(prefer, forest, allowed=None):
    """Indices of the preferred features, the best first.

    Conditions have the thresholds of the model, so a feature that it never splits on
    cannot be used.
    """
    names = forest.feature_names
    given = feature_list(prefer, "prefer")
    numbers = tuple(feature_index(which, names, "prefer") for which in given)
    if not numbers or len(set(numbers)) < len(numbers):
        raise ValueError(
            f"prefer must name features, each once, the best first; got {shown(given)}."
        )
    for j in numbers:
        if allowed is not None and j not in allowed:
            raise ValueError(
                f"prefer names {names[j]!r}, which rules may not use. Leave it out."
            )
    splits = forest.splits()
    idle = [names[j] for j in numbers if not len(splits[j])]
    if idle:
        warn(
            f"prefer names {listed(idle)}, on which the model never splits, so rules "
            "have no thresholds there. Train the model without the columns that "
            "replace it, or leave it out."
        )
    return numbers


def share_of_rows(min_rows, total_weight):
    """Convert the minimum number of rows per rule to a share of all rows."""
    share = float(min_rows) / total_weight
    if share > 0.5:
        raise ValueError(
            f"min_rows must be at most half of the rows, as there are at least two "
            f"rules; got {min_rows} of {total_weight:g}. Use a smaller number."
        )
    return share


def _read_groups(groups, names):
    """Groups by name, or by position, as sets of indices."""
    if not hasattr(groups, "keys"):
        groups = dict(enumerate(groups))
    read = {}
    for name, members in groups.items():
        numbers = feature_numbers(members, names, "groups")
        if len(numbers) == len(names):
            raise ValueError(
                "groups must not hold all features; one does, and limits nothing. "
                "Leave it out."
            )
        if name in names:
            raise ValueError(
                f"groups must not have names of features; got {name!r}. Rename it."
            )
        read[name] = numbers
    if not read:
        raise ValueError("groups must have at least one group; got none.")
    return read


def _numbers(given, names, groups, what):
    """Indices of features, or of all features of groups."""
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
    # Groups without names cannot be named.
    groups = {name: group for name, group in groups.items() if isinstance(name, str)}
    allowed = _numbers(features, names, groups, "features")
    excluded = _numbers(exclude, names, groups, "exclude")
    if excluded is None:
        return allowed
    every = frozenset(range(len(names))) if allowed is None else allowed
    idle = sorted(excluded - every)
    if idle:
        raise ValueError(
            f"exclude names {names[idle[0]]!r}, which is not among features. Leave it "
            "out."
        )
    if excluded >= every:
        raise ValueError("exclude must leave a feature; it names all. Name fewer.")
    return every - excluded


def _read_must_use(must_use, names, groups, allowed):
    """The features of each entry, one of which must be used."""
    wanted = []
    for item in feature_list(must_use, "must_use"):
        numbers = groups.get(item) if isinstance(item, str) else None
        numbers = numbers or feature_numbers([item], names, "must_use")
        possible = numbers if allowed is None else numbers & allowed
        if not possible:
            raise ValueError(
                f"must_use names {item!r}, which features or exclude do not allow. "
                "Leave it out of one of them."
            )
        wanted.append(possible)
    if not wanted:
        raise ValueError("must_use must name at least one feature; got none.")
    return tuple(wanted)


def _read_monotone(given, forest, allowed):
    """Signs by index of the feature, for the second class or the number."""
    names, monotone = forest.feature_names, given.monotone
    is_auto = isinstance(monotone, str) and monotone == "auto"
    if not is_auto and (not hasattr(monotone, "keys") or not monotone):
        raise ValueError(
            'monotone must be "auto" or a dict from features to -1 or 1; got '
            f"{shown(monotone)}. {{'income': -1}} means that predictions may only fall "
            "with income."
        )
    if forest.outcome.n_classes > 2:
        raise ValueError(
            "monotone needs regression or two classes; the model has "
            f"{forest.outcome.n_classes} classes. Leave it out."
        )
    if is_auto:  # the directions follow from the data
        return {}
    is_first = forest.classes is not None and given.pos_label == forest.classes[0]
    signs, turn = {}, -1 if is_first else 1
    for name, sign in monotone.items():
        [j] = feature_numbers([name], names, "monotone")
        if sign not in (-1, 1) or isinstance(sign, bool):
            raise ValueError(
                f"monotone must be -1 or 1 for {names[j]!r}; got {sign!r}. Leave out "
                "features without a constraint."
            )
        is_ordered = (forest.feature_kinds or {j: None})[j] == ORDERED
        if forest.categories[j] is not None and not is_ordered:
            raise ValueError(
                f"monotone names {names[j]!r}, which has categories without an order. "
                "Leave it out, or give them an order: an ordered categorical column "
                "of pandas, or OrdinalEncoder(categories=...) in a pipeline."
            )
        if allowed is not None and j not in allowed:
            raise ValueError(
                f"monotone names {names[j]!r}, which rules may not use. Leave it out."
            )
        signs[j] = turn * int(sign)
    return signs


def feature_list(features, what):
    """The names and indices in a setting, one or several, as a list."""
    if isinstance(features, str) or _is_integer(features):
        return [features]
    if not np.iterable(features):
        raise SettingError(
            f"{what} must be a name or an index of a feature, or a sequence of them; "
            f"got {shown(features)}."
        )
    features = list(features)
    for which in features:
        if not (isinstance(which, str) or _is_integer(which)):
            raise SettingError(
                f"{what} must have names or indices of features; got {shown(which)}."
            )
    return features


def feature_numbers(features, names, what="features"):
    """Indices of the features in a setting."""
    given = feature_list(features, what)
    numbers = frozenset(feature_index(which, names, what) for which in given)
    if not numbers:
        raise ValueError(f"{what} must name at least one feature; got none.")
    return numbers


def _is_integer(value):
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def breaking_pairs(rules, feature, sign, answers=None):
    """Pairs of rules that violate a monotone constraint."""
    pairs = rule_pairs(rules, feature)
    answers = answers_of(rules) if answers is None else answers
    if pairs is None:
        # Too many to check: only equal predictions are sure to be in order.
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
    # A value of each cell, then an unknown category, then one that is missing.
    cells = {
        j: np.array([*sorted(e for e in known if e > -np.inf), np.inf, np.nan])
        if rules.categories[j] is None
        else np.array([*range(len(rules.categories[j]) + 1), np.nan])
        for j, known in ends.items()
    }
    n_outside = 1 if rules.categories[feature] is None else 2
    boxes = [
        {c.feature: c.covers(cells[c.feature]).astype(bool) for c in rule.conditions}
        for rule in rules.rules
    ]
    return ordered_pairs(boxes, feature, len(cells[feature]) - n_outside)


def answers_of(rules):
    """One number per rule: its prediction, or the probability of the second class."""
    value = rules.outcome.ordered_value
    answers = [value(rule.prediction, rule.distribution) for rule in rules]
    return np.array(answers, dtype=np.float64)


@dataclass(frozen=True)
class MonotoneAnswers:
    """Change predictions of counted rules to satisfy monotone constraints.

    Two rules that violate one get the prediction of their rows together.
    """

    signs: dict[int, int]  # by feature, -1 or 1
    special: Mapping[int, tuple[float, ...]] = field(default_factory=dict)

    def point_signs(self, rules):
        """The allowed sign of the points of each rule, the base last; 0 for any.

        If sums may only rise, a rule that accepts values above a threshold may only add
        points. `rules` has the conditions of each rule.
        """
        signs = np.zeros(len(rules) + 1, dtype=int)
        for k, conditions in enumerate(rules):
            for condition in conditions:
                sign = self.signs.get(condition.feature)
                known = condition.categories
                if sign is None or known == () or condition.lower >= condition.upper:
                    continue
                codes = self.special.get(condition.feature, ())
                if condition.upper in codes:
                    continue
                lowest = condition.lower in (-np.inf, *codes)
                is_low = 0 in known if known else lowest
                signs[k] = -sign if is_low else sign
        return signs

    def put_in_order(self, rules, entries, weights, decision):
        """Change predictions, among fields of rules, to satisfy the constraints."""
        outcome = rules.outcome
        values = [
            outcome.ordered_value(entry["prediction"], entry.get("distribution"))
            for entry in entries
        ]
        allowed = self.pooled(rules, np.array(values), weights)
        for entry, before, after in zip(entries, values, allowed, strict=True):
            if after != before:
                value = round_significant(float(after))
                entry |= outcome.of_ordered_value(value, decision)

    def pooled(self, rules, answers, weights):
        """The predictions that satisfy the constraints."""
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
    """Conditions on a column for rule k, by decreasing gain."""
    table = rules.table
    column = table.columns[j]
    inside = rows_in(table, rules.boxes[k])
    gains = rules.row_gains(k)[inside]
    gain = np.bincount(table.codes[inside, j], gains, len(column.bins) + 1)
    masks = list(_all_masks(column))
    masks.sort(key=lambda mask: -gain[mask].sum())
    return masks[:MOST_TRIED]


def _all_masks(column):
    """Conditions with one side, or on one category against all others."""
    n = len(column.bins)
    codes = np.arange(n + 1)
    for c in range(n if column.is_set else n - 1):
        below = codes == c if column.is_set else codes <= c
        for mask in (below, ~below):
            mask = mask.copy()
            mask[-1] = False
            yield mask


def refuse_without_lists(limits, names, max_rules):
    """Raise as no list is within the limits."""
    wanted = [names[min(group)] for group in limits.must_use]
    raise ValueError(
        f"No list of at most {max_rules} rules is within all limits and uses "
        f"{listed(wanted)}. Allow more rules or conditions, or fewer rows per rule."
    )
