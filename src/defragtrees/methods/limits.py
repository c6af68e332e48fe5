"""Limits that a user asks for: read from settings, refused where nothing meets them."""

import dataclasses
import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from defragtrees.documents import shown
from defragtrees.forest import Forest
from defragtrees.methods.base import Simplifier
from defragtrees.methods.monotone import breaking_pairs
from defragtrees.methods.settings import (
    Conflict,
    Given,
    Integer,
    Real,
    Several,
    feature_list,
    feature_numbers,
    setting,
)
from defragtrees.refine.limits import AskedLimits
from defragtrees.tables import listed

__all__ = [
    "LIMITS",
    "Limiting",
    "RuleLimits",
    "limit_conflicts",
    "refuse_without_lists",
    "within_limits",
]

MOST_RULES = 10  # where the fit chooses their number
LEAST_COVERAGE = 0.01  # where nothing is said
FOR_SEARCH = (
    "min_rows",
    "exclude",
    "groups",
    "max_total_conditions",
    "must_use",
    "monotone",
)

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
        """Whether a counted RuleSet keeps to all of them."""
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
    rules : RuleSet
        Counted.
    limits : RuleLimits
    recount : callable
        From a RuleSet to the same, counted.
    """
    while small := limits.too_small(rules):
        # Rows of a small "otherwise" are joined by those of the rule before it.
        gone = min(small[0], len(rules.rules) - 1)
        kept = tuple(rule for k, rule in enumerate(rules.rules) if k != gone)
        rules = recount(dataclasses.replace(rules, rules=kept))
    return rules if limits.allows(rules) else None


def limit_conflicts():
    """Limits that go with the search only, or not with all forms."""
    without_search = [
        Conflict(
            f"{name} needs refine=True; got refine=False.",
            refine=False,
            **{name: Given()},
        )
        for name in ("max_conditions", *FOR_SEARCH)
    ]
    without_order = Conflict(
        "monotone needs form='list' or 'points'; got form='standalone'.",
        form="standalone",
        monotone=Given(),
    )
    return [*without_search, without_order]


@dataclass(repr=False, eq=False)
class Limiting(Simplifier):
    """A method whose search keeps to limits."""

    _: KW_ONLY
    max_rules: str | int = setting("auto", "auto", Integer(1))
    max_conditions: int | None = setting(None, None, Integer(1))
    min_coverage: float | None = setting(None, None, Real(0, 1))
    min_rows: int | None = setting(None, None, Real(above=0))
    max_total_conditions: int | None = setting(None, None, Integer(1))
    features: Any = None
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

    def most_rules(self) -> int:
        """Most rules, or components of the mixture."""
        return MOST_RULES if self.max_rules == "auto" else int(self.max_rules)

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
