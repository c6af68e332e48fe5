"""What mistakes cost, as options of the command line say it."""

import csv

import click

from defragtrees.cli._labels import find_positions
from defragtrees.data.tables import nearest

__all__ = ["CLASS_WEIGHT", "COST", "named_class", "named_costs", "named_weights"]

BALANCED = "balanced"


class _ClassWeight(click.ParamType):
    """The word balanced, or labels with their weights: pairs of texts and numbers."""

    name = "class weight"

    def convert(self, value, param, ctx):
        if not isinstance(value, str) or value.strip() == BALANCED:
            return value if not isinstance(value, str) else BALANCED
        parts = next(csv.reader([value]), [])
        return tuple(
            _pair(self, part, f"{BALANCED} or labels such as a=2,b=1", param, ctx)
            for part in parts or [""]
        )


class _Cost(click.ParamType):
    """Two labels and a number: what is true, what is answered, what that costs."""

    name = "cost"
    wanted = "true and answered class such as bad:good=5"

    def convert(self, value, param, ctx):
        if not isinstance(value, str):
            return value
        labels, cost = _pair(self, value, self.wanted, param, ctx)
        if ":" not in labels:
            self.fail(f"{value!r} must be {self.wanted}", param, ctx)
        return labels, cost


CLASS_WEIGHT, COST = _ClassWeight(), _Cost()


def _pair(kind, text, wanted, param, ctx):
    """What stands before the last equals sign, and the number after it."""
    label, equals, number = text.rpartition("=")
    try:
        amount = float(number)
    except ValueError:
        equals = ""
    if not equals or not label.strip():
        kind.fail(f"{text!r} must be {wanted}", param, ctx)
    if not 0 <= amount < float("inf"):
        kind.fail(f"{text!r} must have a finite number from 0", param, ctx)
    return label.strip(), amount


def named_weights(weights, classes):
    """The weights by the labels that the model has.

    Examples
    --------
    >>> named_weights((("1", 2.0),), (0, 1))
    {1: 2.0}
    """
    if weights == BALANCED:
        return weights
    return {
        named_class(text, classes, "--class-weight"): value for text, value in weights
    }


def named_costs(costs, classes):
    """The costs by pairs of labels that the model has; a label may have colons.

    Examples
    --------
    >>> named_costs((("a:b:c", 5.0),), ("a:b", "c"))
    {('a:b', 'c'): 5.0}
    """
    return {_labels(text, classes): cost for text, cost in costs}


def _labels(text, classes):
    parts = text.split(":")
    splits = [(":".join(parts[:k]), ":".join(parts[k:])) for k in range(1, len(parts))]
    for split in splits:
        if None not in find_positions(split, classes):
            return tuple(named_class(part, classes, "--cost") for part in split)
    return tuple(named_class(part, classes, "--cost") for part in splits[0])


def named_class(text, classes, option):
    """The class that a text of an option stands for.

    Examples
    --------
    >>> named_class("1", (0, 1), "--pos-label")
    1
    """
    place = find_positions([text.strip()], classes)[0]
    if place is None:
        raise click.UsageError(
            f"{option} names the class {text.strip()!r}, which the model does not "
            f"have; {nearest(text.strip(), [str(label) for label in classes])}"
        )
    return classes[place]
