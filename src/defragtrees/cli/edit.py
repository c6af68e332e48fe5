"""`defragtrees edit`: change saved rules by hand."""

import click

from defragtrees.cli import options, output
from defragtrees.cli.data import read_rules
from defragtrees.cli.group import Command
from defragtrees.rules.edits import with_condition

EXAMPLE = """\
defragtrees edit rules.json --drop 4 --condition 2 "age <= 40" --out new.json
"""


def _scale(text):
    """Points that double the odds; maybe also a total, and the odds of it."""
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) not in (1, 3):
        raise ValueError(
            f"{text!r} must be points that double the odds, such as 20, or also a "
            "total and its odds, such as 20,600,50"
        )
    return numbers


def _rule_option(name, second, text):
    return click.option(
        f"--{name}", type=(int, str), multiple=True, metavar=f"RULE {second}", help=text
    )


@click.command("edit", cls=Command, example=EXAMPLE)
@click.argument("rules", type=options.FILE)
@_rule_option(
    "replace", "TEXT", "Replace the conditions of a rule, written as rules print them."
)
@_rule_option(
    "condition",
    "TEXT",
    "Replace the condition of a rule on one column, or add it if there is none.",
)
@_rule_option("remove", "COLUMN", "Remove the condition of a rule on a column.")
@_rule_option(
    "prediction",
    "PREDICTION",
    "Set the prediction of a rule, or its points in a scorecard.",
)
@_rule_option(
    "insert",
    "TEXT",
    "Insert a rule before the rule of this number: 1 'if age <= 40 then yes'.",
)
@click.option("--drop", type=int, multiple=True, metavar="RULE", help="Remove a rule.")
@options.names(
    "--order", "New order of the rules that are left, without the default rule: 2,1,..."
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="P",
    help="Of two classes, predict the one whose rate is shown from this probability "
    "on.",
)
@click.option(
    "--costs",
    help="Cost of each kind of error; the class with the lowest expected cost is "
    "predicted.",
    **options.COSTS,
)
@click.option(
    "--class-weight", help="Cost of any error in a class.", **options.CLASS_WEIGHT
)
@click.option(
    "--scale",
    type=options.Text("scale", _scale),
    metavar="N[,POINTS,ODDS]",
    help="Put the points of a scorecard on another scale: N points double the odds, "
    "and a total of POINTS stands for ODDS, as in 20,600,50.",
)
@click.option(
    "--odds-of",
    metavar="CLASS",
    help="With --scale, the class whose odds these are; high totals stand for it.",
)
@click.option(
    "--feature-labels",
    type=options.Text("labels", options.pairs(str, "'dur=Duration [months]'")),
    metavar="NAME=LABEL,...",
    help="Labels of features in printed output, with their units.",
)
@options.names("--class-labels", "Labels of the classes, in their order.")
@click.option(
    "--pos-label", metavar="CLASS", help="Of two classes, the one whose rate is shown."
)
@options.flag(
    "--no-profile",
    "Save the rules without the profile of the training rows that watch needs.",
)
@options.output("Save the rules to this file. [default: only show them]")
def command(rules, out, no_profile, **changes):
    """Change saved rules by hand.

    RULES is a file that simplify --out wrote; rules are given by their number in it,
    except --insert, which comes last. Counts and rates that a change makes invalid are
    removed; refit counts them again, and diff shows what a change costs on some rows.
    The new file records the changes.
    """
    output.check_outputs({"--out": out}, (rules,), out=".json")
    if not no_profile and not any(changes.values()):
        raise click.UsageError("Say what to change, such as --drop 3.")
    if changes["odds_of"] is not None and changes["scale"] is None:
        raise click.UsageError("--odds-of needs --scale.")
    edited = _decided(_edited(read_rules(rules), changes), changes)
    edited = edited.relabel(
        changes["feature_labels"],
        changes["class_labels"],
        _class(edited, changes["pos_label"]),
    )
    if out is not None:
        edited.save(out, profile=not no_profile)
    click.echo(output.rules_text(edited))
    if out is not None:
        click.echo(f"The rules are in {out}.")


def _edited(edited, changes):
    """The rules with other conditions, predictions and order."""
    left = list(range(1, len(edited.rules) + 1))
    for number, text in changes["replace"]:
        edited = edited.replace(number, text)
    for number, text in changes["condition"]:
        edited = with_condition(edited, number, text)
    for number, column in changes["remove"]:
        edited = edited.drop(number, column)
    for number, text in changes["prediction"]:
        edited = edited.set_prediction(number, _prediction(edited, text))
    for number in sorted(set(changes["drop"]), reverse=True):
        edited = edited.drop(number)
        left.remove(number)
    if changes["order"]:
        edited = _ordered(edited, [_place(number, left) for number in changes["order"]])
    for number, text in changes["insert"]:
        edited = edited.insert(number, text)
    return edited


def _ordered(rules, order):
    """The rules in another order, by the numbers of all but the last."""
    before = list(range(1, len(rules.rules) + 1))
    if sorted(order) != before:
        raise ValueError(
            f"order must have each of the rules {before} once; got {order}. Name them "
            "all; the last rule stays the last."
        )
    for to, number in enumerate(order, start=1):
        place = before.index(number) + 1
        before.insert(to - 1, before.pop(place - 1))
        rules = rules if place == to else rules.move(place, to)
    return rules


def _decided(rules, changes):
    """The rules with another threshold, costs or scale."""
    given = [name for name in ("threshold", "costs", "class_weight") if changes[name]]
    if len(given) > 1:
        first, second = (name.replace("_", "-") for name in given[:2])
        raise click.UsageError(f"Give --{first} or --{second}, not both.")
    if changes["threshold"]:
        rules = rules.with_threshold(changes["threshold"])
    if changes["costs"]:
        rules = rules.with_costs(
            options.by_classes(changes["costs"], rules.classes or ())
        )
    if changes["class_weight"]:
        weights = options.by_class(changes["class_weight"], rules.classes or ())
        rules = rules.with_class_weight(weights)
    if changes["scale"]:
        if not rules._form.is_sum:
            raise click.UsageError("--scale needs a scorecard; fit with --form points.")
        rules = rules.scaled(*changes["scale"], of=_class(rules, changes["odds_of"]))
    return rules


def _class(rules, text):
    return None if text is None else options.as_class(text, rules.classes or ())


def _prediction(rules, text):
    """A class, a number, or points with commas between them."""
    try:
        return rules._form.read_prediction(text)
    except ValueError:
        raise click.UsageError(
            f"--prediction needs a number here; got {text!r}."
        ) from None


def _place(number, left):
    """The number that a rule of the file has after some are dropped."""
    if not number.isdigit() or int(number) not in left:
        raise click.UsageError(
            f"--order must have each of the rules {', '.join(map(str, left))} once; "
            f"got {number!r}."
        )
    return left.index(int(number)) + 1
