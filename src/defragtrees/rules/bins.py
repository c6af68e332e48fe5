"""A scorecard by characteristic: the bins of each column with their points."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.types import Flags, Floats
from defragtrees.rules.conditions import Condition, Rule
from defragtrees.rules.reasons import cells_of, joined, run_of, value_in

ALSO = "and also"  # the characteristic of rules on several columns


def bin_rows(card: Any, matrix: Floats | None, target: Floats | None) -> dict[str, Any]:
    """The columns of `Scorecard.bins`; `target` is whether rows have the event."""
    found = [*_bins(card)]
    columns: dict[str, list[Any]] = {
        "characteristic": [column for column, *_ in found],
        "bin": [text for _, text, *_ in found],
        "points": [points for *_, points, _ in found],
    }
    if matrix is None:
        return columns
    held = [Rule(conditions, None).covers(matrix) for *_, conditions in found]
    columns["rows"] = [int(rows.sum()) for rows in held]
    columns["share"] = [float(rows.mean()) if len(rows) else 0.0 for rows in held]
    if target is not None:
        name = "rate" if card.outcome.n_classes else "mean"
        columns[name] = [
            float(target[rows].mean()) if rows.any() else math.nan for rows in held
        ]
        if card.outcome.is_binary:
            pairs = [_evidence(rows, target) for rows in held]
            columns["woe"] = [woe for woe, _ in pairs]
            is_bin = [column != ALSO for column, *_ in found]
            columns["iv"] = [
                iv if own else math.nan
                for own, (_, iv) in zip(is_bin, pairs, strict=True)
            ]
    return columns


def _bins(card: Any) -> Iterator[tuple[str, str, float, tuple[Condition, ...]]]:
    """Characteristic, bin, points, and the conditions of each bin, in order."""
    words = card._vocabulary
    single = [rule for rule in card.rules if len(rule.conditions) == 1]
    for feature in dict.fromkeys(rule.conditions[0].feature for rule in single):
        own = [rule for rule in single if rule.conditions[0].feature == feature]
        conditions = [rule.conditions[0] for rule in own]
        known = card.categories[feature]
        cells = cells_of(conditions, known)
        values = np.array([value_in(cell) for cell in cells])
        inside = np.array([c.covers(values) for c in conditions])
        points = np.round([float(r.points[0]) for r in own] @ inside, 9) + 0.0
        is_known = np.array(
            [known is None or cell.missing or v < len(known)
             for cell, v in zip(cells, values.tolist(), strict=True)]
        )  # fmt: skip
        done: set[int] = set()
        for k in range(len(cells)):
            if k not in done:
                run = run_of(points, k, cells, is_known)
                done |= set(run.tolist())
                whole = joined(cells, run)
                text = render.plain(whole.text(*words))
                yield words.names[feature], text, float(points[k]), (whole,)
    for rule in card.rules:
        if len(rule.conditions) != 1:
            text = render.plain(rule.text())
            yield ALSO, text, float(rule.points[0]), rule.conditions
    yield "base", "", float(card.default.points[0]), ()


def _evidence(rows: Flags, target: Floats) -> tuple[float, float]:
    """Weight of evidence of some rows, and their part of the information value.

    The first is the logarithm of their odds of the event less that of all rows. Half a
    row of either kind is added to each, so that it is finite.
    """
    events, others = float(target.sum()), float((1 - target).sum())
    if not (rows.any() and events and others):
        return math.nan, 0.0
    inside = float(target[rows].sum())
    shares = (
        (inside + 0.5) / (events + 0.5),
        (rows.sum() - inside + 0.5) / (others + 0.5),
    )
    woe = math.log(shares[0] / shares[1])
    return woe, (shares[0] - shares[1]) * woe
