"""Rules as rectangles on a map of two features.

A rule that asks about other features too does not answer for every row inside its
rectangle. Only a rectangle in which every row gets the rule's answer is filled.
"""

from defragtrees.plots.picture import SCALES, RuleBox

__all__ = ["map_boxes"]


def map_boxes(rules, pair, positions):
    """Rectangles of the rules that ask about either feature, the last rule first.

    Parameters
    ----------
    rules : RuleModel
    pair : pair of int
        The features.
    positions : pair of Positions
        Theirs.

    Returns
    -------
    list of RuleBox
    """
    bands = [_bands(rule, pair, positions) for rule in rules]
    # Whether a rule asks about nothing but the two.
    is_complete = [
        all(condition.feature in pair for condition in rule.conditions)
        for rule in rules
    ]
    boxes = []
    for k, rule in enumerate(rules):
        is_filled = (
            rules.is_list
            and is_complete[k]
            and not any(
                not is_complete[j] and _meet(bands[k], bands[j]) for j in range(k)
            )
        )
        is_last = k == rules.n_rules - 1
        is_asking = any(condition.feature in pair for condition in rule.conditions)
        if is_asking or (is_last and is_filled):
            sides = {scale: _rectangles(bands[k], scale) for scale in SCALES}
            boxes.append(RuleBox(k, sides, is_filled, not is_complete[k]))
    return boxes[::-1]


def _bands(rule, pair, positions):
    """Of each of the two features, the stretches that a rule accepts, by scale."""
    conditions = {condition.feature: condition for condition in rule.conditions}
    return [
        place.bands(conditions[j]) if j in conditions else place.everywhere()
        for j, place in zip(pair, positions, strict=True)
    ]


def _rectangles(bands, scale):
    across, up = bands
    return [(*one, *two) for one in across[scale] for two in up[scale]]


def _meet(one, two):
    """Whether two rules have drawn rows, or room for them, in common."""
    return all(
        any(
            max(a[0], b[0]) < min(a[1], b[1])
            for a in one[side]["order"]
            for b in two[side]["order"]
        )
        for side in (0, 1)
    )
