"""The options of a method, and the estimator that they make."""

import click

from defragtrees.cli._command import NAMES, gather
from defragtrees.cli._decisions import (
    CLASS_WEIGHT,
    COST,
    named_class,
    named_costs,
    named_weights,
)
from defragtrees.cli._display import LABELS, merged_labels
from defragtrees.cli._limits import LIMIT_OPTIONS, check_features
from defragtrees.cli._progress import ticking
from defragtrees.estimators import METHODS, estimator_for
from defragtrees.paper.loop import SCHEDULES
from defragtrees.search.driver import CRITERIA, FORMS

__all__ = ["FOR_DEFRAG", "fit", "method_options", "method_settings", "settings_of"]

# What only the default method has; the first ones are for classes.
FOR_CLASSES = ("criterion", "class_weight", "costs", "threshold")
LIMITS = (
    "min_coverage",
    "min_rows",
    "max_total_conditions",
    "monotone",
    "must_use",
    "exclude",
    "groups",
)
FOR_DEFRAG = (
    *FOR_CLASSES,
    "stability",
    "form",
    "points",
    "points_to_double",
    "brevity",
    *LIMITS,
)
SPELLED = {"costs": "--cost", "class_labels": "--class-names", "groups": "--group"}

# By the names of the settings that they are; "target" is a column here.
OPTIONS = {
    "method": click.option(
        "--method",
        type=click.Choice(list(METHODS)),
        default="defrag",
        show_default=True,
        help="Who finds the rules; paper is the paper's method to the letter.",
    ),
    "e_step": click.option(
        "--e-step",
        type=click.Choice(list(SCHEDULES)),
        help="With --method paper: how many inner steps its E-step takes, which "
        "decides how many rules are left. [default: original]",
    ),
    "max_rules": click.option(
        "--max-rules",
        type=click.IntRange(min=1),
        metavar="N",
        help="Most rules, the last otherwise included. [default: the method's own]",
    ),
    "max_conditions": click.option(
        "--max-conditions",
        type=click.IntRange(min=1),
        metavar="N",
        help="Most conditions of one rule.",
    ),
    "features": click.option(
        "--features",
        type=NAMES,
        metavar="A,B,...",
        help="Features that rules may use. [default: all]",
    ),
    "target_is": click.option(
        "--target-is",
        type=click.Choice(["ensemble", "labels"]),
        help="What the rules imitate: the model's answers, or the target column. "
        "[default: the method's own; ensemble for defrag]",
    ),
    "form": click.option(
        "--form",
        type=click.Choice(list(FORMS)),
        help="How the rules say it: in order, each on its own, or with points that add "
        "up. [default: list]",
    ),
    "points": click.option(
        "--points",
        type=click.Choice(["exact", "integer"]),
        help="With --form points: integer makes a scorecard of whole points. "
        "[default: exact]",
    ),
    "points_to_double": click.option(
        "--points-to-double",
        type=click.IntRange(min=1),
        metavar="N",
        help="With --points integer and two classes, how many points double the odds. "
        "[default: as few as say it well]",
    ),
    "criterion": click.option(
        "--criterion",
        type=click.Choice(list(CRITERIA)),
        help="What rules for classes are for: to tell how likely each class is, to "
        "decide for one, or both. [default: both]",
    ),
    "class_weight": click.option(
        "--class-weight",
        type=CLASS_WEIGHT,
        metavar="balanced|A=2,B=1",
        help="What a mistake in each class costs; balanced makes rare classes as "
        "important as frequent ones.",
    ),
    "costs": click.option(
        "--cost",
        "costs",
        type=COST,
        multiple=True,
        metavar="TRUE:ANSWERED=X",
        help="What it costs to answer one class where another is true, such as "
        "bad:good=5; may be given more than once, and mistakes not named cost 1.",
    ),
    "threshold": click.option(
        "--threshold",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        metavar="P",
        help="Of two classes, the second, or --pos-label, is answered from this "
        "probability on.",
    ),
    "brevity": click.option(
        "--brevity",
        type=click.FloatRange(min=0),
        metavar="X",
        help="What a reader pays for a condition; more gives shorter rules. "
        "[default: 0.01]",
    ),
    "min_coverage": click.option(
        "--min-coverage",
        type=click.FloatRange(0, 1),
        metavar="SHARE",
        help="Share of the training rows that each rule must answer. [default: 0]",
    ),
    **LIMIT_OPTIONS,
    "stability": click.option(
        "--stability",
        type=click.IntRange(min=2),
        metavar="N",
        help="Fit again to half of the rows so many times, and tell which rules come "
        "back.",
    ),
    "feature_labels": click.option(
        "--feature-labels",
        type=LABELS,
        multiple=True,
        metavar="NAME=LABEL|FILE",
        help="What a feature is called where people read, with a unit if it has one: "
        "'dur=Duration [months]'; or a JSON file with all of them. May be given more "
        "than once.",
    ),
    "class_labels": click.option(
        "--class-names",
        "class_labels",
        type=NAMES,
        metavar="A,B,...",
        help="What the model's classes are called where people read, in its order, "
        "such as good,bad for 0 and 1.",
    ),
    "pos_label": click.option(
        "--pos-label",
        metavar="CLASS",
        help="Of two classes, the one whose rate rules tell, and of which --threshold "
        "speaks. [default: the second]",
    ),
    "random_state": click.option(
        "--seed",
        "random_state",
        type=click.IntRange(min=0, max=2**32 - 1),
        metavar="N",
        default=0,
        help="The same seed gives the same rules. [default: 0]",
    ),
    "n_jobs": click.option(
        "--jobs",
        "n_jobs",
        type=int,
        metavar="N",
        help="Threads; -1 means all cores. [default: 1]",
    ),
}


def method_options(*without):
    """The options of a method, passed as the dict `choices`; some may be left out."""
    options = {name: OPTIONS[name] for name in OPTIONS if name not in without}
    return gather(dict, "choices", options)


def settings_of(choices, forest, has_target):
    """The estimator's class, and the choices as its settings."""
    method = choices.get("method", "defrag")
    kind = estimator_for(method, forest.outcome)
    settings = {
        name: value
        for name, value in choices.items()
        if name not in ("method", "target_is") and _is_given(value)
    }
    if "e_step" in settings and method != "paper":
        raise click.UsageError(
            f"--e-step is for --method paper; got --method {method}. Leave it out."
        )
    settings = method_settings(settings, kind, method, forest)
    if choices.get("target_is") is not None:
        settings["target"] = choices["target_is"]
    if kind(**settings).target == "labels" and not has_target:
        raise click.UsageError(
            f"--method {method} learns from the labels here, so it needs --target."
        )
    return kind, settings


def method_settings(settings, kind, method, forest):
    """Settings with the labels and features of the model, refused if not for it.

    Parameters
    ----------
    settings : dict
        By the names of the estimator's settings.
    kind : type
        Of the estimator.
    method : str
        Its name here.
    forest : Forest
    """
    known = kind().get_params(deep=False)
    for name in settings:
        spelled = SPELLED.get(name, f"--{name.replace('_', '-')}")
        if name in (*FOR_CLASSES, "class_labels", "pos_label") and not forest.classes:
            raise click.UsageError(
                f"{spelled} is for models that answer with a class; this one answers "
                "with a number. Leave it out."
            )
        if name not in known and name not in ("random_state", "n_jobs"):
            raise click.UsageError(f"{spelled} is not for --method {method}.")
    settings = dict(settings)
    check_features(settings, forest.feature_names)
    if "class_weight" in settings:
        weights = settings["class_weight"]
        settings["class_weight"] = named_weights(weights, forest.classes)
    if "costs" in settings:
        settings["costs"] = named_costs(settings["costs"], forest.classes)
    if "feature_labels" in settings:
        pairs, names = settings["feature_labels"], forest.feature_names
        settings["feature_labels"] = merged_labels(pairs, names)
    if "class_labels" in settings:
        settings["class_labels"] = list(settings["class_labels"])
    if "pos_label" in settings:
        label = named_class(settings["pos_label"], forest.classes, "--pos-label")
        settings["pos_label"] = label
    return settings


def _is_given(value):
    return value is not None and value != ()


def fit(choices, loaded):
    """The method of the user's choice, fitted to rows, with a clock on the way."""
    kind, settings = settings_of(choices, loaded.forest, loaded.y is not None)
    with ticking("simplifying", 1):
        return kind(loaded.forest, **settings).fit(*loaded.rows)
