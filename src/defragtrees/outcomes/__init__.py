"""The kinds of y: everything that depends on whether it is a class or a number.

Rule sets, forests and estimators have an outcome and call its methods. A further kind
of y is one module here and one entry of `OUTCOMES`.
"""

from collections.abc import Sequence
from typing import Any

from defragtrees.outcomes.base import Outcome
from defragtrees.outcomes.classification import Classes
from defragtrees.outcomes.regression import Numbers

__all__ = ["Classes", "MEASURES", "Numbers", "OUTCOMES", "make_outcome"]

OUTCOMES: dict[str, type[Outcome]] = {kind.task: kind for kind in (Classes, Numbers)}
MEASURES = {
    measure.name: measure for kind in OUTCOMES.values() for measure in kind.all_measures
}


def make_outcome(
    task: str,
    classes: Sequence[Any] | None = None,
    class_labels: Sequence[str | None] | None = None,
    pos_label: Any = None,
) -> Outcome:
    """The outcome of a task, a key of `OUTCOMES`.

    `classes` are its labels if it has any, `class_labels` their printed names, and
    `pos_label` is the positive one of two, by default the second.

    Examples
    --------
    >>> make_outcome("classification", ["no", "yes"])
    Classes(labels=('no', 'yes'))
    >>> make_outcome("regression").error_name
    'root mean squared error'
    """
    if task not in OUTCOMES:
        raise ValueError(f"Unknown task {task!r}.")
    return OUTCOMES[task].of(classes, class_labels, pos_label)
