"""All rows of a file as saved rules see them, with what is true of them."""

from dataclasses import dataclass

import numpy as np

from defragtrees.cli._columns import find_column, rule_columns
from defragtrees.cli._labels import class_positions, encoded
from defragtrees.cli._tables import open_table

__all__ = ["RuleRows", "read_rule_rows"]


@dataclass(frozen=True, eq=False)
class RuleRows:
    """Rows of a file: a matrix as rules encode it, y, weights; and all columns."""

    matrix: np.ndarray
    y: np.ndarray | None
    sample_weight: np.ndarray | None
    names: tuple[str, ...]


def read_rule_rows(rules, path, progress, target=None, weights=None):
    """Read the columns that rules ask about, and those of target and weights.

    Parameters
    ----------
    rules : RuleModel
    path : Path
    progress : callable
    target, weights : str, optional
        Names of columns.
    """
    table = open_table(path)
    columns = rule_columns(rules, table.names)
    wanted = {columns[j]: rules.categories[j] for j in columns}
    for name, option in ((target, "--target"), (weights, "--weights")):
        if name is None:
            continue
        find_column(name, table.names, option)
        if name in columns.values():
            raise ValueError(
                f"{option} names {name!r}, which a rule asks about, so it cannot be "
                "what is true of a row, or its weight. Name another column."
            )
    if target is not None:
        wanted[target] = rules.classes
    if weights is not None:
        wanted[weights] = None
    # Rules that ask about nothing still need to know how many rows there are.
    labels = {} if wanted else {table.names[0]: None}
    numbers = [name for name, known in wanted.items() if known is None]
    labels |= {name: known for name, known in wanted.items() if known is not None}
    parts: dict[str, list[np.ndarray]] = {"X": [], "y": [], "weight": []}
    with progress("reading", 1.0) as bar:
        for batch in table.batches(numbers, labels):
            parts["X"].append(encoded(batch, columns, rules.categories))
            if target is not None:
                parts["y"].append(_target(batch, rules, target))
            if weights is not None:
                parts["weight"].append(batch.columns[weights])
            bar.advance(max(0.0, batch.share - bar.done))
    joined = {name: np.concatenate(part) for name, part in parts.items() if part}
    if not len(joined.get("X", ())):
        raise ValueError(f"{path.name!r} has no rows; at least one is needed.")
    return RuleRows(
        joined["X"], joined.get("y"), joined.get("weight"), tuple(table.names)
    )


def _target(batch, rules, target):
    if not rules.classes:
        return batch.columns[target]
    places = class_positions(batch.columns[target], rules.classes, target)
    return np.asarray(rules.classes)[places]
