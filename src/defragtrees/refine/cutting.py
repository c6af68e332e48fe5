"""From a list to shorter ones: conditions go one by one, the least useful first."""

import numpy as np

from defragtrees.refine.moves import tidy
from defragtrees.refine.rulelist import condition_price, n_sides, settled

__all__ = ["cut_conditions"]


def cut_conditions(rules, limits):
    """Ever shorter lists, each with a condition less than the one before.

    Parameters
    ----------
    rules : RuleBoxes
    limits : Limits

    Yields
    ------
    RuleBoxes
        The last one has no condition.
    """
    while rules.boxes:
        k, box = max(_shorter_boxes(rules), key=lambda option: option[0])[1:]
        rules = tidy(rules.with_box(k, box), limits)
        yield rules


def _shorter_boxes(rules):
    """What is gained, in nats, the rule and its box without one of its sides."""
    table = rules.table
    for k, box in enumerate(rules.boxes):
        for j, accepted, gained in rules.widenings(k):
            column = table.columns[j]
            for wider in _wider(column, accepted):
                rest = {i: mask for i, mask in box.items() if i != j}
                saved = condition_price(table, j, accepted)
                if not column.accepts_all(wider):
                    rest[j] = wider
                    saved -= condition_price(table, j, wider)
                yield settled(gained(wider) + saved), k, rest


def _wider(column, accepted):
    """The condition without its lower side, its upper side, or altogether."""
    yield np.ones_like(accepted)
    inside = np.flatnonzero(accepted[:-1])
    if not column.is_set and n_sides(column, accepted) == 2:
        for part in (slice(None, inside[0]), slice(inside[-1] + 1, -1)):
            wider = accepted.copy()
            wider[part] = True
            yield wider
