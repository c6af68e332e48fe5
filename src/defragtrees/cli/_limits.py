"""Limits of rules, as options of the command line say it."""

import csv

import click

from defragtrees.cli._command import NAMES
from defragtrees.data.tables import nearest

__all__ = ["LIMIT_OPTIONS", "check_features"]

SIGNS = {"-1": -1, "-": -1, "falls": -1, "1": 1, "+1": 1, "+": 1, "rises": 1}
SPELLED = {
    "features": "--features",
    "exclude": "--exclude",
    "must_use": "--must-use",
    "monotone": "--monotone",
    "groups": "--group",
}


class _Signs(click.ParamType):
    """Features with the way that answers may go: pairs of texts and signs."""

    name = "signs"

    def convert(self, value, param, ctx):
        if not isinstance(value, str):
            return value
        signs = []
        for part in next(csv.reader([value]), [""]):
            name, _, sign = part.rpartition("=")
            if not name.strip() or sign.strip() not in SIGNS:
                self.fail(
                    f"{part!r} must be a feature and -1 or 1, such as income=-1",
                    param,
                    ctx,
                )
            signs.append((name.strip(), SIGNS[sign.strip()]))
        return tuple(signs)


LIMIT_OPTIONS = {
    "min_rows": click.option(
        "--min-rows",
        type=click.FloatRange(min=0, min_open=True),
        metavar="N",
        help="Number of training rows that each rule must answer.",
    ),
    "max_total_conditions": click.option(
        "--max-total-conditions",
        type=click.IntRange(min=1),
        metavar="N",
        help="Most conditions of all rules together.",
    ),
    "monotone": click.option(
        "--monotone",
        type=_Signs(),
        metavar="A=-1,B=1,...",
        help="Features with which answers may only fall (-1) or only rise (1).",
    ),
    "must_use": click.option(
        "--must-use",
        type=NAMES,
        metavar="A,B,...",
        help="Features that some rule must ask about.",
    ),
    "exclude": click.option(
        "--exclude",
        type=NAMES,
        metavar="A,B,...",
        help="Features that rules may not use.",
    ),
    "groups": click.option(
        "--group",
        "groups",
        type=NAMES,
        multiple=True,
        metavar="A,B,...",
        help="Features that may stand together in a rule; may be given more than once, "
        "and a rule keeps to one of them.",
    ),
}


def check_features(settings, names):
    """Settings that name features as the estimator takes them; others are refused.

    Parameters
    ----------
    settings : dict
        Changed in place.
    names : sequence of str
        Those of the model.
    """
    if "monotone" in settings:
        settings["monotone"] = dict(settings["monotone"])
    if "groups" in settings:
        settings["groups"] = [list(group) for group in settings["groups"]]
    for setting, option in SPELLED.items():
        given = settings.get(setting, ())
        if setting == "groups":
            given = [name for group in given for name in group]
        elif setting in settings and setting != "monotone":
            settings[setting] = list(given)
        for name in given:
            if name not in names:
                raise click.UsageError(
                    f"{option} names {name!r}, which the model does not have; "
                    f"{nearest(name, names)}"
                )
