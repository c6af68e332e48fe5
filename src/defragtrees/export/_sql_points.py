"""Points that add up, in SQL: a sum of CASE expressions, in the order of `predict`."""

from defragtrees.export import portable
from defragtrees.export._sql_shares import chosen_class, listed_columns, unused_names

__all__ = ["answer", "probability"]


def answer(rules, held, dialect):
    """The number, or the class, that follows from the sums."""
    outcome = rules.outcome
    if not outcome.n_classes:
        return _value(rules, held, dialect)
    labels = [dialect.literal(label) for label in portable.class_labels(rules)]
    if outcome.n_classes != 2:
        return _class_of_many(rules, held, dialect, labels)
    decision = outcome.decision(rules.threshold, rules.costs)
    sign = ">" if rules.threshold is None else ">="
    value, cut = _value(rules, held, dialect), dialect.literal(decision.log_odds_cut)
    return f"CASE WHEN {value} {sign} {cut} THEN {labels[1]} ELSE {labels[0]} END"


def probability(rules, held, dialect, k):
    """The probability of the k-th class."""
    if rules.outcome.n_classes != 2:
        return _with_totals(
            rules, held, dialect, lambda name: _share(name, rules, k, dialect)
        )
    one = dialect.literal(1.0)
    second = f"{one} / ({one} + EXP(-{_value(rules, held, dialect)}))"
    return f"({second})" if k else f"({one} - {second})"


def _value(rules, held, dialect, column=0):
    """What the sum of a column of points stands for."""
    points = [values[column] for values in portable.points(rules)]
    zero, base = dialect.literal(0.0), dialect.literal(points[-1])
    terms = [
        f"CASE WHEN {test} THEN {dialect.literal(value)} ELSE {zero} END"
        for test, value in zip(held, points[:-1], strict=True)
    ]
    total = "(\n  " + "\n  + ".join([base, *terms]) + "\n)"
    if rules.unit == 1.0 and rules.origin == 0.0:
        return total
    origin, unit = (dialect.literal(float(v)) for v in (rules.origin, rules.unit))
    return f"(({total} - {origin}) * {unit})"


def _share(name, rules, k, dialect):
    """A share of many from the totals of all classes."""
    parts = [
        f"EXP({name('total', j)} - {name('total', k)})"
        for j in range(len(rules.classes))
    ]
    return f"{dialect.literal(1.0)} / ({' + '.join(parts)})"


def _class_of_many(rules, held, dialect, labels):
    def chosen(name):
        columns = [name("total", k) for k in range(len(labels))]
        if rules.costs is not None:
            columns = [
                f"({_share(name, rules, k, dialect)})" for k in range(len(labels))
            ]
        return chosen_class(rules, columns, labels, dialect)

    return _with_totals(rules, held, dialect, chosen)


def _with_totals(rules, held, dialect, write):
    """A subquery in which each class has its total, so that it is written once."""
    name = unused_names(rules, dialect)
    totals = [
        f"{_value(rules, held, dialect, k)} AS {name('total', k)}"
        for k in range(len(rules.classes))
    ]
    return (
        f"(\nSELECT {write(name)}\nFROM (SELECT\n  {listed_columns(totals)}\n"
        f") AS {name('sums')}\n)"
    )
