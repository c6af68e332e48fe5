"""`defragtrees edit`: change saved rules by hand."""

import contextlib

import click

from defragtrees.cli import options, output
from defragtrees.cli.data import read_rules
from defragtrees.cli.group import Command

EXAMPLE = """\
defragtrees edit rules.json --drop 4 --condition 2 "age <= 40" --out new.json
"""


def _scale(text):
    """Points that double the odds; maybe also a total, and the odds of it."""
    numbers = ()
    with contextlib.suppress(ValueError):
        numbers = tuple(float(part) for part in text.split(","))
    if len(numbers) not in (1, 3):
        raise ValueError(
            f"{text!r} must be points that double the odds, as in 20 or 20,600,50"
        )
    return numbers


def _rule_option(name, second, text, kind=str):
    metavar = f"RULE {second}"
    return options.value(f"--{name}", (int, kind), metavar, text, multiple=True)


@click.command("edit", cls=Command, example=EXAMPLE)
@click.argument("rules", type=options.FILE)
@_rule_option(
    "replace", "TEXT", "Replace the conditions of a rule, as rules print them."
)
@_rule_option("condition", "TEXT", "Replace or add a rule's condition on one column.")
@_rule_option("remove", "COLUMN", "Remove the condition of a rule on a column.")
@_rule_option("prediction", "PREDICTION", "Set the prediction, or points, of a rule.")
@_rule_option("insert", "TEXT", "Insert before a rule: 1 'if age <= 40 then yes'.")
@options.value("--drop", int, "RULE", "Remove a rule.", multiple=True)
@_rule_option("move", "PLACE", "Move a rule to the place of another.", int)
@options.share("--threshold", "Predict the class whose rate is shown from P on.")
@click.option("--costs", help="Cost of each kind of error.", **options.COSTS)
@options.value(
    "--scale",
    options.Text("scale", _scale),
    "N[,POINTS,ODDS]",
    "The scale of a scorecard: N points double the odds, and a total of POINTS stands "
    "for ODDS, as in 20,600,50.",
)
@options.value("--odds-of", str, "CLASS", "With --scale, the class of these odds.")
@options.value(
    "--feature-labels",
    options.Text("labels", options.pairs(str, "'dur=Duration [months]'")),
    "NAME=LABEL,...",
    "Labels of features in printed output, with their units.",
)
@options.names("--class-labels", "Labels of the classes, in their order.")
@options.value("--pos-label", str, "CLASS", "The class, of two, whose rate is shown.")
@options.flag(
    "--no-profile", "Save no profile of the training rows, which watch needs."
)
@options.output("Save the rules to this file. [default: only show them]")
def command(rules, out, no_profile, **changes):
    """Change saved rules by hand.

    RULES is a file that simplify --out wrote; rules are given by their number in it,
    except --move and then --insert, which come last. Counts and rates that a change
    makes invalid are removed; refit counts them again, and diff shows what a change
    costs on some rows. The new file records the changes.
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
    for number, text in changes["replace"]:
        edited = edited.replace(number, text)
    for number, text in changes["condition"]:
        edited = edited._with_condition(number, text)
    for number, column in changes["remove"]:
        edited = edited.drop(number, column)
    for number, text in changes["prediction"]:
        try:
            prediction = edited._form.read_prediction(text)
        except ValueError:
            raise click.UsageError(
                f"--prediction needs a number here; got {text!r}."
            ) from None
        edited = edited.set_prediction(number, prediction)
    for number in sorted(set(changes["drop"]), reverse=True):
        edited = edited.drop(number)
    for number, place in changes["move"]:
        edited = edited.move(number, place)
    for number, text in changes["insert"]:
        edited = edited.insert(number, text)
    return edited


def _decided(rules, changes):
    """The rules with another threshold, costs or scale."""
    if changes["threshold"] and changes["costs"]:
        raise click.UsageError("Give --threshold or --costs, not both.")
    if changes["threshold"]:
        rules = rules.with_threshold(changes["threshold"])
    if changes["costs"]:
        rules = rules.with_costs(
            options.by_classes(changes["costs"], rules.classes or ())
        )
    if changes["scale"]:
        if not rules._form.is_sum:
            raise click.UsageError("--scale needs a scorecard; fit with --form points.")
        rules = rules.scaled(*changes["scale"], of=_class(rules, changes["odds_of"]))
    return rules


def _class(rules, text):
    return None if text is None else options.as_class(text, rules.classes or ())
