"""What is predicted, classes or numbers: all that depends on it stands in this room.

Rule sets, forests and estimators carry an outcome and ask it; nobody else compares the
name of a task. A further outcome is one module here and one line in `OUTCOMES`.
"""

from collections.abc import Sequence
from typing import Any

from defragtrees.outcomes.classification import Classes
from defragtrees.outcomes.regression import Numbers

__all__ = ["Classes", "Numbers", "OUTCOMES", "make_outcome"]

OUTCOMES = {kind.task: kind for kind in (Classes, Numbers)}


def make_outcome(
    task: str,
    classes: Sequence[Any] | None = None,
    class_labels: Sequence[str | None] | None = None,
    pos_label: Any = None,
) -> Classes | Numbers:
    """The outcome of a task.

    Parameters
    ----------
    task : str
        A key of `OUTCOMES`.
    classes : sequence, optional
        The labels, where there are any.
    class_labels : sequence of (str or None), optional
        What these are called where people read.
    pos_label : object, optional
        Of two classes the one that is told; the second if it is None.

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
