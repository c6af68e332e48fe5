"""Options of the commands; those of a method are made from its settings.

The field of a setting has its values and its help text. This module defines how a
setting is written on a command line.
"""

import csv
import dataclasses
import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from defragtrees._utils.formatting import nearest
from defragtrees.cli.data import DataFile
from defragtrees.cli.output import working
from defragtrees.estimators import METHODS, estimator_for
from defragtrees.estimators.settings import Integer, Jobs, Key, Real
from defragtrees.outcomes import OUTCOMES, make_outcome
from defragtrees.tables import find_positions

SIGNS = {"-1": -1, "-": -1, "falls": -1, "1": 1, "+1": 1, "+": 1, "rises": 1}
BALANCED = "balanced"
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


# What is written as one text on a command line


class _Text(click.ParamType):
    """A text that `parse` reads, which raises ValueError where it cannot."""

    def __init__(self, name, parse):
        self.name, self.parse = name, parse

    def convert(self, value, param, ctx):
        if not isinstance(value, str):
            return value
        try:
            return self.parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def _names(text):
    """Names with commas between them; one that has a comma stands in quotes."""
    names = [name.strip() for name in next(csv.reader([text]), [])]
    if not names or not all(names):
        raise ValueError(f"{text!r} has an empty name")
    return tuple(names)


def _test_size(text):
    """A share of the rows below 1, or a number of rows."""
    try:
        size = float(text)
    except ValueError:
        size = -1.0
    if size < 0 or (size >= 1 and not size.is_integer()):
        raise ValueError(f"{text!r} is neither a share nor a number of rows")
    return size if size < 1 else int(size)


def _amount(text, wanted):
    """What stands before the last equals sign, and the number after it."""
    label, equals, number = text.rpartition("=")
    try:
        amount = float(number)
    except ValueError:
        equals = ""
    if not equals or not label.strip():
        raise ValueError(f"{text!r} must be {wanted}")
    if not 0 <= amount < float("inf"):
        raise ValueError(f"{text!r} must have a finite number from 0")
    return label.strip(), amount


def _class_weight(text):
    """The word balanced, or labels with their weights: pairs of texts and numbers."""
    if text.strip() == BALANCED:
        return BALANCED
    parts = next(csv.reader([text]), []) or [""]
    wanted = f"{BALANCED} or labels such as a=2,b=1"
    return tuple(_amount(part, wanted) for part in parts)


def _cost(text):
    """Two labels with a colon between them, and what it costs to confuse them."""
    wanted = "true and predicted class such as bad:good=5"
    labels, cost = _amount(text, wanted)
    if ":" not in labels:
        raise ValueError(f"{text!r} must be {wanted}")
    return labels, cost


def _scale(text):
    """Points that double the odds; maybe also a total, and the odds of it."""
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) not in (1, 3) or not all(
        0 < n < float("inf") for n in numbers[::2]
    ):
        raise ValueError(
            f"{text!r} must be points that double the odds, such as 20, or also a "
            "total and its odds, such as 20,600,50"
        )
    return numbers


def _signs(text):
    """Features with the way that predictions may go: pairs of texts and signs."""
    signs = []
    for part in next(csv.reader([text]), [""]):
        name, _, sign = part.rpartition("=")
        if not name.strip() or sign.strip() not in SIGNS:
            raise ValueError(
                f"{part!r} must be a feature and -1 or 1, such as income=-1"
            )
        signs.append((name.strip(), SIGNS[sign.strip()]))
    return tuple(signs)


def _labels(text):
    """A name and its label, or a JSON file of these, as pairs."""
    name, equals, label = text.partition("=")
    if equals and name.strip() and label.strip():
        return ((name.strip(), label.strip()),)
    if not Path(text).is_file():
        raise ValueError(
            f"{text!r} must be a name and its label, such as 'dur=Duration [months]', "
            "or a JSON file of these"
        )
    try:
        labels = json.loads(Path(text).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{text!r} cannot be read as JSON: {error}") from None
    is_flat = isinstance(labels, dict) and all(
        isinstance(label, str) for label in labels.values()
    )
    if not is_flat:
        raise ValueError(f"{text!r} must have a label for each name, as texts")
    return tuple(labels.items())


NAMES = _Text("names", _names)
SCALE = _Text("scale", _scale)
LABELS = _Text("labels", _labels)


# Options that several commands have


@dataclass(frozen=True)
class Inputs:
    """What the user says of model and data; the options of the same names."""

    model: Path
    data: DataFile
    target: str | None = None
    weights: str | None = None
    columns: tuple[str, ...] | None = None
    classes: tuple[str, ...] | None = None
    trust_pickle: bool = False
    trusted_types: tuple[str, ...] = ()


def _gather(kind, argument, options):
    """A decorator: values of options become one argument, `kind(**values)`."""

    def decorate(function):
        @functools.wraps(function)
        def gathered(**given):
            values = {name: given.pop(name) for name in options}
            return function(**{argument: kind(**values)}, **given)

        for option in reversed(options.values()):
            gathered = option(gathered)
        return gathered

    return decorate


def _sep(text):
    """One character; a tab may be spelled."""
    char = {"\\t": "\t", "tab": "\t"}.get(text, text)
    if len(char) != 1 or char in '"\r\n':
        raise ValueError(f"{text!r} must be one character, such as ; or \\t")
    return char


def data_options(required=True):
    """The argument DATA, and how its text is written, as one DataFile or None."""
    path = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
    return _gather(
        lambda path, **written: None if path is None else DataFile(path, **written),
        "data",
        {
            "path": click.argument(
                "path", type=path, metavar="DATA", required=required
            ),
            "sep": click.option(
                "--sep",
                type=_Text("separator", _sep),
                metavar="CHAR",
                help="What separates the columns of CSV, such as ';' or '\\t'. "
                "[default: a comma; if the first line has none, a semicolon or tab]",
            ),
            "decimal": click.option(
                "--decimal",
                type=click.Choice([".", ","]),
                default=".",
                help="The decimal separator of CSV. [default: .]",
            ),
        },
    )


INPUT_OPTIONS = {
    "model": click.argument("model", type=click.Path(exists=True, path_type=Path)),
    "data": data_options(),
    "target": click.option(
        "--target",
        metavar="COLUMN",
        help="The column with the true classes or numbers. Without it, only agreement "
        "with the model is measured.",
    ),
    "weights": click.option(
        "--weights", metavar="COLUMN", help="The column with row weights."
    ),
    "columns": click.option(
        "--columns",
        type=NAMES,
        metavar="A,B,...",
        help="The columns that the model was trained on, in order; needed only if the "
        "model has no column names.",
    ),
    "classes": click.option(
        "--classes",
        type=NAMES,
        metavar="A,B,...",
        help="Names of the model's classes, in its order, for a model that numbers its "
        "classes 0, 1, ...",
    ),
    "trust_pickle": click.option(
        "--trust-pickle",
        is_flag=True,
        help="Open MODEL as a pickle or joblib file. A pickle can run any code when it "
        "is opened, so use this for your own files only.",
    ),
    "trusted_types": click.option(
        "--trust-type",
        "trusted_types",
        multiple=True,
        metavar="TYPE",
        help="A type in a skops file that skops does not trust by default; may be "
        "given more than once.",
    ),
}
input_options = _gather(Inputs, "inputs", INPUT_OPTIONS)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def details_option(text):
    """An option that adds to what is shown."""
    return click.option("--details", is_flag=True, help=text)


def output_option(text, name="--out", required=False):
    """An option that names a file to write."""
    return click.option(
        name,
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        required=required,
        help=text,
    )


profile_option = click.option(
    "--no-profile",
    is_flag=True,
    help="Save the rules without the profile of the training rows that watch needs.",
)

validation_option = click.option(
    "--validation",
    type=FILE,
    metavar="FILE",
    help="Rows that the model was not trained on, with the columns of DATA. Rates and "
    "scores are computed from these; --test-size of them are held out for the scores. "
    "Needs --target.",
)


def held_out_option(text):
    """--test-size, a share or a number of rows."""
    return click.option(
        "--test-size",
        type=_Text("share or rows", _test_size),
        default="0.25",
        show_default=True,
        help=text,
    )


# The settings of a method

# How a setting is written whose field does not say it; and those with other names.
WRITTEN: dict[str, dict[str, Any]] = {
    "features": {"type": NAMES, "metavar": "A,B,..."},
    "exclude": {"type": NAMES, "metavar": "A,B,..."},
    "must_use": {"type": NAMES, "metavar": "A,B,..."},
    "prefer": {"type": NAMES, "metavar": "A,B,..."},
    "monotone": {"type": _Text("signs", _signs), "metavar": "A=-1,B=1,..."},
    "groups": {"type": NAMES, "metavar": "A,B,...", "multiple": True},
    "points_follow_rates": {"is_flag": True},
    "class_weight": {
        "type": _Text("class weight", _class_weight),
        "metavar": "balanced|A=2,B=1",
    },
    "costs": {
        "type": _Text("cost", _cost),
        "metavar": "TRUE:PREDICTED=X",
        "multiple": True,
    },
    "feature_labels": {"type": LABELS, "metavar": "NAME=LABEL|FILE", "multiple": True},
    "class_labels": {"type": NAMES, "metavar": "A,B,..."},
    "pos_label": {"metavar": "CLASS"},
    "random_state": {
        "type": click.IntRange(min=0, max=2**32 - 1),
        "metavar": "N",
        "default": 0,
    },
}
SPELLED = {
    "target": "--target-is",  # --target is a column
    "groups": "--group",
    "costs": "--cost",
    "class_labels": "--class-names",
    "random_state": "--seed",
    "n_jobs": "--jobs",
}
NOT_OFFERED = ("augment", "max_calls", "verbose")
NAME_FEATURES = ("features", "exclude", "must_use", "prefer", "monotone", "groups")
PAPER = "paper"


def _spelled(name):
    return SPELLED.get(name, f"--{name.replace('_', '-')}")


# Options of commands that show saved rules; what is not given stays as it is saved.
label_options = _gather(
    dict,
    "labels",
    {
        name: click.option(
            _spelled(name), name, help=f"{text} [default: as saved]", **WRITTEN[name]
        )
        for name, text in (
            (
                "feature_labels",
                "Label of a feature, with its unit if it has one: 'dur=Duration "
                "[months]'; or a JSON file of labels.",
            ),
            ("class_labels", "Labels of the classes, in their order."),
            ("pos_label", "Of two classes, the one whose rate is shown."),
        )
    },
)


def relabelled(rules, labels):
    """The rules under the labels of `label_options`, where any are given."""
    features = _merged_labels(labels["feature_labels"], rules.feature_names) or None
    classes, positive = labels["class_labels"], labels["pos_label"]
    for option, value in (("--class-names", classes), ("--pos-label", positive)):
        if value and not rules.classes:
            raise click.UsageError(
                f"{option} is for rules that predict a class; these predict a number. "
                "Leave it out."
            )
    if positive is not None:
        positive = _named_class(positive, rules.classes, "--pos-label")
    return rules.relabel(features, list(classes) if classes else None, positive)


@functools.cache
def _estimators(method):
    """The classes of a method's estimators, one for each kind of y."""
    return [estimator_for(method, make_outcome(task, (0, 1))) for task in OUTCOMES]


def _settings(method):
    """The fields of all estimators of a method, by name."""
    return {f.name: f for kind in _estimators(method) for f in dataclasses.fields(kind)}


def of_paper():
    """Names of the settings that only the paper's method has."""
    ours = _settings("defrag")
    return [name for name in _settings(PAPER) if name not in ours]


def _for_classes():
    """Names of the settings that only models for classes have."""
    fields = [{f.name for f in dataclasses.fields(k)} for k in _estimators("defrag")]
    return set.union(*fields) - set.intersection(*fields) | {
        "class_labels",
        "pos_label",
    }


def _written(allowed):
    """How a setting is written that may be this; None if it is not on a command line.

    Numbers go before words beside them, such as "auto", which are what is left out.
    """
    for one in allowed:
        if isinstance(one, Integer):
            return {"type": click.IntRange(one.least, one.most), "metavar": "N"}
        if isinstance(one, Real):
            is_open = {"min_open": one.above is not None, "max_open": bool(one.below)}
            low = one.least if one.above is None else one.above
            high = one.most if one.below is None else one.below
            return {"type": click.FloatRange(low, high, **is_open), "metavar": "X"}
        if isinstance(one, Jobs):
            return {"type": int, "metavar": "N"}
        if isinstance(one, Key):
            return {"type": click.Choice([*one.others, *one.table])}
    if allowed and all(isinstance(one, str) for one in allowed):
        return {"type": click.Choice(list(allowed))}
    return None


def _option(name, variable, method, field):
    """The option of a setting, or None if it has none."""
    written = WRITTEN.get(name) or _written(field.metadata.get("allowed", ()))
    if written is None or name in NOT_OFFERED:
        return None
    default = None if "is_flag" in written else written.get("default", field.default)
    words = field.metadata.get("help", "")
    words += "" if default is None else f" [default: {default}]"
    if written.get("multiple"):
        words += " May be given more than once."
    if method == PAPER:
        words = f"With --method paper: {words}"
    given = {"help": words, "default": None} | written
    return click.option(_spelled(name), variable, **given)


def method_options(*without):
    """The options of a method, passed as the dict `choices`; some may be left out."""
    options = {
        "method": click.option(
            "--method",
            type=click.Choice(list(METHODS)),
            default="defrag",
            show_default=True,
            help="The method; paper is the method of the paper as published. The "
            "defaults below are those of defrag.",
        )
    }
    theirs = of_paper()
    for method in ("defrag", PAPER):
        for name, field in _settings(method).items():
            if (name in theirs) == (method == PAPER):
                variable = "target_is" if name == "target" else name
                options[variable] = _option(name, variable, method, field)
    options["stability"] = click.option(
        "--stability",
        type=click.IntRange(2, 10_000),
        metavar="N",
        help="Fit again to this number of random halves of the rows, and count how "
        "often each rule comes back.",
    )
    if "method" in without:
        without = (*without, *theirs)
    return _gather(
        dict,
        "choices",
        {n: o for n, o in options.items() if o is not None and n not in without},
    )


def is_given(value):
    """Whether the user has given an option of this value."""
    return value is not None and value != ()


def settings_of(choices, forest, has_target):
    """The estimator's class, and the choices as its settings."""
    method = choices.get("method", "defrag")
    kind = estimator_for(method, forest.outcome)
    settings = {
        "target" if name == "target_is" else name: value
        for name, value in choices.items()
        if name not in ("method", "stability") and is_given(value)
    }
    settings = method_settings(settings, kind, method, forest)
    if kind(**settings).target == "labels" and not has_target:
        raise click.UsageError(
            f"--method {method} learns from the labels here, so it needs --target."
        )
    return kind, settings


def method_settings(settings, kind, method, forest):
    """Settings with labels and features as the model has them.

    Those that are not for this method, or for what the model predicts, are rejected.
    """
    known = kind().get_params(deep=False)
    for_classes, theirs = _for_classes(), of_paper()
    for name in settings:
        if name in theirs and method != PAPER:
            raise click.UsageError(
                f"{_spelled(name)} is for --method paper; got --method {method}. Leave "
                "it out."
            )
        if name in for_classes and not forest.classes:
            raise click.UsageError(
                f"{_spelled(name)} is for models that predict a class; this one "
                "predicts a number. Leave it out."
            )
        if name not in known and name not in ("random_state", "n_jobs"):
            raise click.UsageError(f"{_spelled(name)} is not for --method {method}.")
    read = {
        "features": list,
        "exclude": list,
        "must_use": list,
        "prefer": list,
        "class_labels": list,
        "monotone": dict,
        "groups": lambda groups: [list(group) for group in groups],
        "class_weight": lambda weights: _named_weights(weights, forest.classes),
        "costs": lambda costs: _named_costs(costs, forest.classes),
        "feature_labels": lambda pairs: _merged_labels(pairs, forest.feature_names),
        "pos_label": lambda text: _named_class(text, forest.classes, "--pos-label"),
    }
    for name in NAME_FEATURES:
        if name in settings:
            _check_features(name, settings[name], forest.feature_names)
    return {
        name: read[name](value) if name in read else value
        for name, value in settings.items()
    }


def fit(choices, loaded):
    """The method of the user's choice, fitted to rows under a progress bar."""
    kind, settings = settings_of(choices, loaded.forest, loaded.y is not None)
    unseen = loaded.validation
    validation = None if unseen is None else unseen.rows
    with working("simplifying"):
        simple = kind(loaded.forest, **settings)
        simple.fit(*loaded.rows, validation=validation)
        if choices.get("stability"):
            simple.stability(*loaded.rows, n=choices["stability"])
    return simple


def _check_features(setting, given, names):
    """Reject a setting that names a feature which the model does not have."""
    given = dict(given) if setting == "monotone" else given
    if setting == "groups":
        given = [name for group in given for name in group]
    for name in given:
        if name not in names:
            raise click.UsageError(
                f"{_spelled(setting)} names {name!r}, which the model does not have; "
                f"{nearest(name, names)}"
            )


def _merged_labels(given, names):
    """The labels of all options together; each must name a feature."""
    labels = dict(pair for pairs in given for pair in pairs)
    _check_features("feature_labels", labels, names)
    return labels


def _named_weights(weights, classes):
    """The weights by the labels that the model has."""
    if weights == BALANCED:
        return weights
    return {
        _named_class(text, classes, "--class-weight"): value for text, value in weights
    }


def _named_costs(costs, classes):
    """The costs by pairs of labels that the model has; a label may have colons."""
    named = {}
    for text, cost in costs:
        parts = text.split(":")
        ends = range(1, len(parts))
        pairs = [(":".join(parts[:k]), ":".join(parts[k:])) for k in ends]
        known = [pair for pair in pairs if None not in find_positions(pair, classes)]
        pair = (known or pairs)[0]
        named[tuple(_named_class(part, classes, "--cost") for part in pair)] = cost
    return named


def _named_class(text, classes, option):
    """The class that a text of an option stands for."""
    place = find_positions([text.strip()], classes)[0]
    if place is None:
        raise click.UsageError(
            f"{option} names the class {text.strip()!r}, which the model does not "
            f"have; {nearest(text.strip(), [str(label) for label in classes])}"
        )
    return classes[place]
