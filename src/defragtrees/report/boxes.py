"""Rules as rectangles on a map of two features.

A rule that asks about other features too does not answer for every row inside its
rectangle. Only a rectangle in which every row gets the rule's answer is filled.
"""

__all__ = ["map_boxes"]

SCALES = ("order", "value")


def map_boxes(rules, pair, axes):
    """Rectangles of the rules that ask about either feature, the last rule first.

    Parameters
    ----------
    rules : RuleSet
    pair : pair of int
        The features.
    axes : pair of Axis
        Theirs.

    Returns
    -------
    list of dict
        Rule number from 0, whether it asks about the two only, whether every row
        inside gets its answer, and for each scale the sides `[x0, x1, y0, y1]`.
    """
    found = []
    asked = [_asked(rule, pair, axes) for rule in rules]
    is_whole = [
        len(rule.conditions) == len(own) for rule, own in zip(rules, asked, strict=True)
    ]
    for k, own in enumerate(asked):
        is_last = k == len(asked) - 1
        is_filled = (
            rules.decision != "average"
            and is_whole[k]
            and not any(
                not is_whole[j] and _meet(own, asked[j], axes) for j in range(k)
            )
        )
        if own or (is_last and is_filled):
            found.append(
                {
                    "rule": k,
                    "is_whole": is_whole[k],
                    "is_filled": is_filled,
                    **{scale: _products(own, axes, scale) for scale in SCALES},
                }
            )
    return found[::-1]


def _asked(rule, pair, axes):
    """What a rule asks of the two features: from 0 or 1 to stretches by scale."""
    return {
        side: axes[side].bands(condition)
        for condition in rule.conditions
        for side in (0, 1)
        if condition.feature == pair[side]
    }


def _stretches(own, side, axes, scale):
    return own[side][scale] if side in own else axes[side].whole()


def _products(own, axes, scale):
    across, up = (_stretches(own, side, axes, scale) for side in (0, 1))
    return [[*one, *two] for one in across for two in up]


def _meet(one, two, axes):
    """Whether two rules have drawn rows, or room for them, in common."""
    return all(
        any(
            max(a[0], b[0]) < min(a[1], b[1])
            for a in _stretches(one, side, axes, "order")
            for b in _stretches(two, side, axes, "order")
        )
        for side in (0, 1)
    )
