"""The class that follows from shares, in SQL, and names for subqueries."""

__all__ = ["chosen_class", "largest", "listed_columns", "unused_names"]

NAMES = ("rule", "total", "weight", "share", "held", "sums", "shares")  # in subqueries


def unused_names(rules, dialect):
    """Makes names that no feature has, whatever the letter case."""
    taken = [name.lower() for name in rules.feature_names]
    prefix = ""
    while any(name.startswith(f"{prefix}{what}_") for name in taken for what in NAMES):
        prefix += "_"
    return lambda what, k=0: dialect.name(f"{prefix}{what}_{k + 1}")


def chosen_class(rules, shares, labels, dialect):
    """The class that follows from columns of shares, by threshold, costs or neither."""
    if rules.threshold is not None:
        least = dialect.literal(float(rules.threshold))
        return f"CASE WHEN {shares[1]} >= {least} THEN {labels[1]} ELSE {labels[0]} END"
    if rules.costs is None:
        return largest(shares, labels)
    worth = [
        "-("
        + " + ".join(
            f"{share} * {dialect.literal(float(cost))}"
            for share, cost in zip(shares, costs, strict=True)
        )
        + ")"
        for costs in zip(*rules.costs, strict=True)
    ]
    return largest(worth, labels)


def largest(values, labels):
    """The label of the first of the largest values."""
    # Where the first is not the largest, the largest is among the others.
    choices = [
        f"WHEN {' AND '.join(f'{value} >= {other}' for other in values[k + 1 :])} "
        f"THEN {labels[k]}"
        for k, value in enumerate(values[:-1])
    ]
    if not choices:
        return labels[-1]
    return f"CASE {' '.join(choices)} ELSE {labels[-1]} END"


def listed_columns(columns):
    """Columns of a SELECT, each on its own line."""
    return ",\n  ".join(columns)
