"""Settings of a method: options for those that people type, a file for all.

The field of a setting has its values and its help text. This module defines how it is
written on a command line, and what its texts are in a model.
"""

import contextlib
import dataclasses
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from defragtrees._utils.formatting import nearest
from defragtrees._utils.warnings import warn
from defragtrees.cli import options, output
from defragtrees.errors import SettingError
from defragtrees.estimators import METHODS, estimator_for
from defragtrees.estimators.defrag import DefragClassifier
from defragtrees.estimators.settings import FLAG, check_value

SEED = 0
FIELDS = {field.name: field for field in dataclasses.fields(DefragClassifier)}
COLUMNS = {"type": options.NAMES, "metavar": "A,B,..."}
# How a setting is written whose values are no single word or number.
WRITTEN: dict[str, dict[str, Any]] = {
    "features": COLUMNS,
    "exclude": COLUMNS,
    "must_use": COLUMNS,
    "monotone": {
        "type": options.Text("signs", options.signs),
        "metavar": "A=-1,B=1,...|auto",
    },
    "class_weight": options.CLASS_WEIGHT,
    "costs": options.COSTS,
    "pos_label": {"metavar": "CLASS"},
    "random_state": {"type": click.IntRange(0, 2**32 - 1), "metavar": "N"},
}
SPELLED = {
    "target": ("--target-is", "target_is"),  # --target is a column
    "random_state": ("--seed", "random_state"),
    "n_jobs": ("--jobs", "n_jobs"),
}
NOT_IN_A_FILE = ("model", "verbose", "callback")


class _Value(click.ParamType):
    """A number or a word, checked as the estimator checks it."""

    def __init__(self, field):
        self.name = field.name
        self.allowed = field.metadata["allowed"]

    def convert(self, value, param, ctx):
        """Read the text of an option."""
        for kind in (int, float):
            if isinstance(value, str):
                with contextlib.suppress(ValueError):
                    value = kind(value)
        try:
            check_value(param.opts[0], value, self.allowed)
        except SettingError as error:
            raise click.UsageError(str(error), ctx) from None
        return value


def setting_options(*names):
    """Return a decorator that passes these settings and those of a file as `choices`.

    A name `method` stands for the method itself.
    """
    made = {
        "settings": options.value(
            "--settings",
            options.FILE,
            "FILE",
            "All other settings of the method, by their names in Python: a TOML file "
            "with lines such as brevity = 0.02. Options go before it.",
        )
    }
    for name in names:
        option, variable = _spelled(name)
        made[variable] = _option(option, variable, name)
    return options.gather(_choices, "choices", made)


def _spelled(name):
    """The option of a setting, and the variable that click passes it as."""
    return SPELLED.get(name, (f"--{name.replace('_', '-')}", name))


def _option(option, variable, name):
    if name == "method":
        return options.choice(option, list(METHODS), "The method. [default: defrag]")
    field = FIELDS[name]
    allowed = field.metadata["allowed"]
    words = [value for value in allowed if isinstance(value, str)]
    if name in WRITTEN:
        written = WRITTEN[name]
    elif allowed == FLAG:
        written = {"is_flag": True}
    elif len(words) == len(allowed):
        written = {"type": click.Choice(words)}
    else:
        written = {"type": _Value(field), "metavar": "|".join([*words, "N"])}
    text = field.metadata["help"]
    default = SEED if name == "random_state" else field.default
    if default is not None and default is not False:
        text += f" [default: {default}]"
    return click.option(option, variable, help=text, default=None, **written)


@dataclass(frozen=True)
class Choices:
    """Settings as the user wrote them: as options, and in a file."""

    options: dict[str, Any]
    file: dict[str, Any]
    path: Path | None

    def get(self, name, default=None):
        """The value of a setting as it is written; an option goes before the file."""
        return self.options.get(name, self.file.get(name, default))

    @property
    def method(self):
        """The key of the method."""
        return self.get("method", "defrag")

    @property
    def seed(self):
        """The seed, by which rows are held out too."""
        return self.get("random_state", SEED)

    def for_model(self, forest, without=()):
        """The class of the estimator, and the settings with the labels of the model.

        Settings in `without` are left out.
        """
        if self.method not in METHODS:
            raise click.UsageError(f"There is no method {self.method!r}.")
        kind = estimator_for(self.method, forest.outcome)
        fields = {field.name: field for field in dataclasses.fields(kind)}
        for name in self.options.keys() - fields - {"method"}:
            raise click.UsageError(
                f"{_spelled(name)[0]} is not for {kind.__name__}. Leave it out."
            )
        for name in NOT_IN_A_FILE:
            fields.pop(name, None)
        for name, value in self.file.items():
            if name in fields:
                allowed = fields[name].metadata.get("allowed")
                check_value(f"{self.path.name}: {name}", value, allowed)
            elif name != "method":
                raise click.UsageError(
                    f"{self.path.name!r} has {name!r}, which is no setting of "
                    f"{kind.__name__}; {nearest(name, fields)}"
                )
        settings = {"random_state": SEED, **self.file, **self.options}
        settings = {n: v for n, v in settings.items() if n not in ("method", *without)}
        return kind, _as_in_model(settings, forest.classes or ())


def _choices(settings, **given):
    if "target_is" in given:
        given["target"] = given.pop("target_is")
    given = {name: value for name, value in given.items() if value is not None}
    if settings is None:
        return Choices(given, {}, None)
    try:
        with settings.open("rb") as file:
            return Choices(given, tomllib.load(file), settings)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{settings.name!r} is not TOML: {error}") from None


def _as_in_model(settings, classes):
    """Settings whose classes are those of the model, not their texts."""
    read = {
        "class_weight": options.by_class,
        "class_labels": options.by_class,
        "costs": options.by_classes,
        "pos_label": options.as_class,
    }
    return {
        name: read[name](value, classes) if name in read else value
        for name, value in settings.items()
    }


def fit(choices, forest, rows, validation=None, stability=None):
    """Fit the method of the user's choice to rows, under a progress bar.

    Rows are X, y and weights. With `stability`, also to this number of halves of them.
    """
    kind, settings = choices.for_model(forest)
    if kind(**settings).target == "labels" and rows[1] is None:
        raise click.UsageError(
            f"{kind.__name__} learns from the true values here, so it needs --target."
        )
    simple = kind(forest, **settings)
    with output.working("simplifying"):
        simple.fit(*rows, validation=validation)
        if stability:
            again = {"n": stability, "validation": validation}
            try:
                simple.stability(*rows, **again)
            except ValueError as error:  # the model may need other columns or types
                warn(f"{str(error).partition(' Pass')[0]} The model stays the same.")
                simple.stability(*rows, **again, refit=False)
    return simple
