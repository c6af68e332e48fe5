"""Rule sets and rows on which every export has to agree with `RuleModel.predict`."""

import dataclasses
import itertools
import math

import numpy as np
from hypothesis import strategies as st

from defragtrees import Condition, Rule, RuleEnsemble
from defragtrees.rules.models import MODELS

# Names and values that need escaping in one language or another.
NAMES = ("age", 'the "size"', "city's `name`", "level", "is_open")
CITIES = ("Bonn", "L'Aquila", 'Zürich \\ "北"', "`x] -- y")
CATEGORIES = (None, None, CITIES, (1, 2, 5), (False, True))
N_FEATURES = len(NAMES)
N_NUMBERS = len([known for known in CATEGORIES if known is None])

LABELS = {
    "text": ("no", "yes"),
    "odd text": ("it's", 'say "hi" \\n', "größer; -- ☃\n"),
    "integer": (3, 7, 10),
    "truth": (False, True),
    "real": (0.1, 0.30000000000000004),
}
# SQLite 3.40 reads 0.002877, and others, as the double beside it.
THRESHOLDS = (0.002877, 0.1, 0.30000000000000004, 2.5, 20.0, -1e-300, 4.5e15, 1e300)
TASKS = [("regression", None), *(("classification", kind) for kind in LABELS)]


def make_rule(rng, k, conditions, labels):
    """A rule that says the k-th thing; its shares may be tied, or say another one."""
    weight = float(rng.choice([0.1, 0.25, 1 / 3])) if conditions else 0.05 * (k % 2)
    if labels is None:
        return Rule(tuple(conditions), float(rng.normal()), weight=weight)
    n_labels = len(labels)
    shares = np.full(n_labels, 1 / n_labels)
    if k % 4 != 3:
        shares = np.round(rng.dirichlet(np.ones(n_labels)), 3) / 10
        shares[(k + k // 3) % n_labels] += 0.9
    return Rule(
        tuple(conditions), labels[k % n_labels], tuple(shares.tolist()), weight=weight
    )


def make_condition(rng, feature):
    missing = bool(rng.random() < 0.4)
    known = CATEGORIES[feature]
    if known is not None:
        n_positions = len(known) + 1
        size = rng.integers(1, n_positions + 1)
        held = rng.choice(n_positions, size=size, replace=False)
        return Condition(feature, categories=tuple(held.tolist()), missing=missing)
    bounds = sorted(rng.choice(THRESHOLDS, size=2, replace=False).tolist())
    side = rng.integers(3)
    lower = -math.inf if side == 0 else bounds[0]
    upper = math.inf if side == 1 else bounds[1]
    return Condition(feature, lower, upper, missing=missing)


def make_rules(rng, form, labels, n_features=N_FEATURES, n_rules=8):
    """Rules at random; those of a partition are the leaves of a tree."""
    if form == "tree":
        asked = partition(n_features)
    else:
        asked = [
            [
                make_condition(rng, int(feature))
                for feature in rng.choice(n_features, size=size, replace=False)
            ]
            for size in rng.integers(1, 3, size=n_rules)
        ]
    rules = [make_rule(rng, k, one, labels) for k, one in enumerate([*asked, ()])]
    if form == "standalone":
        rules[-1] = dataclasses.replace(rules[-1], weight=0.0)
    if form == "points":
        n_points = 1 if labels is None or len(labels) == 2 else len(labels)
        rules = [
            dataclasses.replace(rule, points=tuple(rng.normal(size=n_points).round(3)))
            for rule in rules
        ]
    return MODELS[form](
        tuple(rules[:-1]),
        rules[-1],
        NAMES[:n_features],
        "regression" if labels is None else "classification",
        labels,
        CATEGORIES[:n_features],
    )


def partition(n_features):
    """Parts of space that do not overlap; the default is what they leave."""
    young = Condition(0, upper=2.5, missing=True)
    old = Condition(0, lower=2.5)
    parts = [
        [old, Condition(1, upper=0.1)],
        [old, Condition(1, lower=0.1, upper=20.0)],
        [old, Condition(1, lower=20.0)],
        [old, Condition(1, lower=math.inf, missing=True)],
    ]
    if n_features > N_NUMBERS:
        known = [young, Condition(2, categories=(0, 2))]
        other = [young, Condition(2, categories=(1, 3, 4), missing=True)]
        parts += [known, [*other, Condition(3, categories=(1, 3))]]
    return parts


def waiting_default(labels):
    """Averaged rules whose default has no weight, and so answers only alone."""
    asks = [Condition(0, lower=2.5)]
    if labels is None:
        rules = (Rule(tuple(asks), 1.5, weight=0.25),)
        return RuleEnsemble(
            rules,
            Rule((), 7.0, weight=0.0),
            ("age",),
            "regression",
            None,
            None,
        )
    rules = (Rule(tuple(asks), labels[0], (0.75, 0.25), weight=0.25),)
    default = Rule((), labels[1], (0.375, 0.625), weight=0.0)
    return RuleEnsemble(rules, default, ("age",), "classification", labels, None)


WAITING_ROWS = [[3.0], [2.5], [None]]


def make_rows(rng, n_rows=1000, n_features=N_FEATURES):
    """Rows with missing and unknown values, and numbers on and beside thresholds."""
    beside = [
        value
        for threshold in THRESHOLDS
        for value in (
            np.nextafter(threshold, -math.inf),
            threshold,
            np.nextafter(threshold, math.inf),
        )
    ]
    columns = []
    for known in CATEGORIES[:n_features]:
        if known is None:
            values = np.where(
                rng.random(n_rows) < 0.5,
                rng.choice(beside, n_rows),
                rng.normal(0, 10, n_rows),
            ).tolist()
        else:
            values = [
                pool(known)[k] for k in rng.integers(len(pool(known)), size=n_rows)
            ]
        missing = rng.random(n_rows) < 0.2
        columns.append(
            [
                None if is_missing else value
                for value, is_missing in zip(values, missing, strict=True)
            ]
        )
    return [list(row) for row in zip(*columns, strict=True)]


def pool(known):
    """The categories of a column, and some that nobody knows."""
    if isinstance(known[0], str):
        return [*known, "Oslo", "bonn"]
    return list(known) if isinstance(known[0], bool) else [*known, 9]


def array(rows):
    return np.array(rows, dtype=object)


NUMBER = st.floats(allow_nan=False, allow_infinity=False, width=64).map(
    lambda x: x + 0.0
)
EIGHTHS = st.integers(0, 8)


@st.composite
def conditions(draw, feature):
    missing = draw(st.booleans())
    known = CATEGORIES[feature]
    if known is not None:
        held = draw(st.sets(st.integers(0, len(known))))
        return Condition(feature, categories=tuple(sorted(held)), missing=missing)
    lower = draw(st.one_of(st.just(-math.inf), NUMBER))
    upper = draw(st.one_of(st.just(math.inf), NUMBER))
    return Condition(feature, lower, upper, missing=missing)


@st.composite
def rule_sets(draw, n_features=N_FEATURES):
    """Any rule set with 0 to 5 rules."""
    labels = draw(st.sampled_from([None, *LABELS.values()]))
    numbers = st.floats(-1e6, 1e6)

    def rule(asked):
        weight = draw(st.sampled_from([0.0, 0.1, 1.0, 2 / 3]))
        if labels is None:
            return Rule(tuple(asked), draw(numbers), weight=weight)
        # Eighths, which add up to 1 exactly.
        cuts = [0, *sorted(draw(EIGHTHS) for _ in labels[1:]), 8]
        found = tuple((b - a) / 8 for a, b in itertools.pairwise(cuts))
        return Rule(tuple(asked), draw(st.sampled_from(labels)), found, weight=weight)

    rules = []
    for _ in range(draw(st.integers(0, 5))):
        used = draw(st.sets(st.integers(0, n_features - 1), max_size=3))
        rules.append(rule([draw(conditions(feature)) for feature in sorted(used)]))
    return MODELS[draw(st.sampled_from(["list", "tree", "average"]))](
        tuple(rules),
        rule(()),
        NAMES[:n_features],
        "regression" if labels is None else "classification",
        labels,
        CATEGORIES[:n_features],
    )


@st.composite
def rules_and_rows(draw, n_features=N_FEATURES, number=float):
    """A rule set, and rows on, beside and away from its thresholds."""
    rules = draw(rule_sets(n_features))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = make_rows(rng, 30, n_features)
    bounds = [
        (condition.feature, bound)
        for rule in rules.rules
        for condition in rule.conditions
        for bound in (condition.lower, condition.upper)
        if math.isfinite(bound) and condition.categories is None
    ]
    for feature, bound in bounds:
        for value in (number(bound), *beside_of(bound, number)):
            if math.isfinite(value):
                row = list(rows[rng.integers(len(rows))])
                row[feature] = float(value)
                rows.append(row)
    return rules, rows


def beside_of(bound, number):
    """The values next to a bound, among doubles or among narrower numbers."""
    value = number(bound)
    kind = type(value) if isinstance(value, np.floating) else np.float64
    with np.errstate(over="ignore"):
        return [np.nextafter(kind(value), kind(side)) for side in (-math.inf, math.inf)]
