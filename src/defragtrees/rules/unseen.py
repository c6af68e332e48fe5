"""Missing values and categories of new rows that the training rows did not have.

Rules predict such rows too, by the conditions that fail. The profile of the training
rows knows what they had; rules without one take all missing values for new.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.types import Flags, Floats, Values
from defragtrees._utils.warnings import warn

if TYPE_CHECKING:
    from defragtrees.rules.model import RuleModel

CHOICES = ("accept", "error")


def unseen_values(
    rules: "RuleModel", matrix: Floats
) -> Iterator[tuple[int, str, Flags]]:
    """For each column that rules use, which rows are "missing" and which are "new".

    A row in which all of several columns are missing is new in any case.
    """
    used = sorted({c.feature for rule in rules.rules for c in rule.conditions})
    is_empty: Flags = np.isnan(matrix[:, used]).sum(axis=1) == max(2, len(used))
    for j in used:
        column = None if rules.training is None else rules.training.column(j)
        values, labels = matrix[:, j], (rules.categories or ())[j]
        is_missing = np.isnan(values)
        had_missing = column is not None and column.missing > 0
        yield j, "missing", is_empty if had_missing else is_missing
        if labels is not None:
            counts = (*[1] * len(labels), 0) if column is None else column.counts
            places = np.where(is_missing, 0, values).astype(np.intp)
            yield j, "new", ~is_missing & (np.array(counts)[places] == 0)


def unseen_texts(rules: "RuleModel", matrix: Floats) -> Values:
    """What each row has that training did not have, as text; empty if nothing."""
    texts = np.full(len(matrix), "", dtype=object)
    for j, what, mask in unseen_values(rules, matrix):
        between = np.where(texts[mask] == "", "", ", ").astype(object)
        texts[mask] += between + f"{rules._vocabulary.names[j]} is {what}"
    return texts


def count_unseen(rules: "RuleModel", matrix: Floats) -> int:
    """Number of rows with values that training did not have; 0 without a profile."""
    if rules.training is None:
        return 0
    masks = [mask for _, _, mask in unseen_values(rules, matrix)]
    return int(np.logical_or.reduce(masks).sum()) if masks else 0


def warn_of_unseen(n_unseen: int, n_rows: int, how: str) -> None:
    """Warn of rows with values that training did not have; `how` to see which."""
    if n_unseen:
        warn(
            f"{n_unseen:,} of {render.plural(n_rows, 'row')} have a missing value or a "
            f"category that no training row had; {how} shows which."
        )


def check_seen(
    rules: "RuleModel",
    matrix: Floats,
    on_missing: str = "accept",
    on_unknown: str = "accept",
    n_before: int = 0,
) -> None:
    """Raise for values that training did not have, if asked to.

    `n_before` rows came before these, for the message.
    """
    for name, value in (("on_missing", on_missing), ("on_unknown", on_unknown)):
        if value not in CHOICES:
            raise ValueError(f"{name} must be 'accept' or 'error'; got {value!r}.")
    if on_missing == on_unknown == "accept":
        return
    for j, what, mask in unseen_values(rules, matrix):
        choice = on_missing if what == "missing" else on_unknown
        if choice == "error" and mask.any():
            raise ValueError(
                f"{rules.feature_names[j]!r} is {what} in {mask.sum():,} of "
                f"{render.plural(len(mask), 'row')}, the first of them row "
                f"{n_before + mask.argmax() + 1}, as in no training row. Correct these "
                "rows, or leave them out."
            )
