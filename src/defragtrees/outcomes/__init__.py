"""The kinds of y: everything that depends on whether it is a class or a number.

Rule sets, forests and estimators have an outcome and call its methods. A further kind
of y is one module here and one entry of `OUTCOMES`.
"""

from defragtrees.outcomes.base import OUTCOMES, make_outcome
from defragtrees.outcomes.classification import Classes
from defragtrees.outcomes.counts import Counts
from defragtrees.outcomes.regression import Numbers
from defragtrees.outcomes.survival import Survival

__all__ = [
    "Classes",
    "Counts",
    "MEASURES",
    "Numbers",
    "OUTCOMES",
    "Survival",
    "make_outcome",
]

OUTCOMES |= {kind.task: kind for kind in (Classes, Numbers, Survival, Counts)}
MEASURES = {
    measure.name: measure for kind in OUTCOMES.values() for measure in kind.all_measures
}
