"""Condition: what a rule asks of one feature, as a test and as text."""

import math
from dataclasses import dataclass

import numpy as np

from defragtrees import render

__all__ = ["Condition"]


@dataclass(frozen=True)
class Condition:
    """What a rule asks of one feature.

    Parameters
    ----------
    feature : int
    lower, upper : float
        A number x holds if `lower < x <= upper`.
    categories : tuple of int, optional
        Of a categorical feature: the positions that hold. The position after the
        last category stands for any other one.
    missing : bool, default=False
        Whether a missing value holds.

    Examples
    --------
    >>> Condition(0, lower=1.5, upper=3.0).text(["age"])
    '1.5 < age <= 3'
    >>> Condition(0, upper=3.0, missing=True).text(["age"])
    'age <= 3 or missing'
    """

    feature: int
    lower: float = -math.inf
    upper: float = math.inf
    categories: tuple[int, ...] | None = None
    missing: bool = False

    @property
    def n_sides(self):
        """How many things it asks: one for each finite side, or for the set."""
        if self.categories is not None:
            return 1
        return max(1, math.isfinite(self.lower) + math.isfinite(self.upper))

    def covers(self, column):
        """Whether each value of an encoded column holds."""
        column = np.asarray(column, dtype=np.float64)
        if self.categories is not None:
            inside = np.isin(column, self.categories)
        else:
            inside = (column > self.lower) & (column <= self.upper)
        return np.where(np.isnan(column), self.missing, inside)

    def text(self, names, categories=None):
        """The condition as a person would say it.

        Parameters
        ----------
        names : sequence of str
        categories : sequence of (tuple or None), optional
            For each feature its categories.
        """
        name = names[self.feature]
        if self.categories is not None:
            labels = categories[self.feature] if categories else None
            body = self._set_text(name, labels)
        else:
            body = self._interval_text(name)
        if body is None:
            return f"{name} is missing" if self.missing else f"{name} is impossible"
        return f"{body} or missing" if self.missing else body

    def _interval_text(self, name):
        low, high = math.isfinite(self.lower), math.isfinite(self.upper)
        if self.lower >= self.upper:
            return None
        if low and high:
            return (
                f"{render.number(self.lower)} < {name} <= {render.number(self.upper)}"
            )
        if low:
            return f"{name} > {render.number(self.lower)}"
        if high:
            return f"{name} <= {render.number(self.upper)}"
        return f"{name} is not missing" if not self.missing else f"{name} is anything"

    def _set_text(self, name, labels):
        if not self.categories:
            return None
        labels = labels or ()
        if any(c >= len(labels) for c in self.categories):
            # Categories that the ensemble does not know are accepted too, so what the
            # condition says is which known ones are not.
            out = [c for c in range(len(labels)) if c not in self.categories]
            if not out:
                return f"{name} is {'anything' if self.missing else 'not missing'}"
            if len(out) == 1:
                return f"{name} is not {_label(labels[out[0]])}"
            return f"{name} not in {{{', '.join(_label(labels[c]) for c in out)}}}"
        texts = [_label(labels[c]) for c in self.categories]
        if len(texts) == 1:
            return f"{name} is {texts[0]}"
        return f"{name} in {{{', '.join(texts)}}}"


def _label(label):
    """A category as text; quoted where it could be taken for more than one."""
    text = str(label)
    return repr(text) if ", " in text or " and " in text else text
