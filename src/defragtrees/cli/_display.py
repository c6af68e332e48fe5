"""What features and classes are called where people read, as options say it."""

import json
from pathlib import Path

import click

from defragtrees.cli._command import NAMES, gather
from defragtrees.cli._decisions import named_class
from defragtrees.data.tables import nearest

__all__ = ["LABELS", "label_options", "merged_labels", "relabelled"]


class _Labels(click.ParamType):
    """A name and its label, or a JSON file of these; gives pairs."""

    name = "labels"

    def convert(self, value, param, ctx):
        if not isinstance(value, str):
            return value
        name, equals, label = value.partition("=")
        if equals and name.strip() and label.strip():
            return ((name.strip(), label.strip()),)
        if not Path(value).is_file():
            self.fail(
                f"{value!r} must be a name and its label, such as 'dur=Duration "
                "[months]', or a JSON file of these",
                param,
                ctx,
            )
        return self._pairs_of_file(value, param, ctx)

    def _pairs_of_file(self, path, param, ctx):
        try:
            labels = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            self.fail(f"{path!r} cannot be read as JSON: {error}", param, ctx)
        is_flat = isinstance(labels, dict) and all(
            isinstance(label, str) for label in labels.values()
        )
        if not is_flat:
            self.fail(f"{path!r} must have a label for each name, as texts", param, ctx)
        return tuple(labels.items())


LABELS = _Labels()


def merged_labels(given, names):
    """The labels of all options together; each must name a feature.

    Parameters
    ----------
    given : sequence of sequence of (str, str)
    names : sequence of str
    """
    labels = dict(pair for pairs in given for pair in pairs)
    for name in labels:
        if name not in names:
            raise click.UsageError(
                f"--feature-labels names {name!r}, which the model does not have; "
                f"{nearest(name, names)}"
            )
    return labels


def relabelled(rules, labels):
    """The rules under the labels of `label_options`, where any are given."""
    features = merged_labels(labels["feature_labels"], rules.feature_names) or None
    classes = labels["class_labels"]
    if classes and not rules.classes:
        raise click.UsageError(
            "--class-names is for rules that answer with a class; these answer with a "
            "number. Leave it out."
        )
    told = labels["pos_label"]
    if told is not None:
        if not rules.classes:
            raise click.UsageError(
                "--pos-label is for rules that answer with a class; these answer with "
                "a number. Leave it out."
            )
        told = named_class(told, rules.classes, "--pos-label")
    return rules.relabel(features, list(classes) if classes else None, told)


label_options = gather(
    dict,
    "labels",
    {
        "feature_labels": click.option(
            "--feature-labels",
            type=LABELS,
            multiple=True,
            metavar="NAME=LABEL|FILE",
            help="What a feature is called, with a unit if it has one: 'dur=Duration "
            "[months]'; or a JSON file with all of them. [default: as saved]",
        ),
        "class_labels": click.option(
            "--class-names",
            "class_labels",
            type=NAMES,
            metavar="A,B,...",
            help="What the classes are called, in their order. [default: as saved]",
        ),
        "pos_label": click.option(
            "--pos-label",
            metavar="CLASS",
            help="Of two classes, the one whose rate is told. [default: as saved]",
        ),
    },
)
