"""`defragtrees edit`: change saved rules by hand."""

import click

from defragtrees.cli.data import read_rules
from defragtrees.cli.group import Command
from defragtrees.cli.options import (
    FILE,
    NAMES,
    SCALE,
    WRITTEN,
    _named_class,
    _named_costs,
    _named_weights,
    output_option,
    profile_option,
)
from defragtrees.cli.output import check_outputs, rules_text, say
from defragtrees.rules.parsing import read_condition

EXAMPLE = """\
defragtrees edit rules.json --drop 4 --condition 2 "age <= 40" --out new.json
"""


def _pair_option(name, second, text, argument=None):
    return click.option(
        f"--{name}",
        argument or name,
        type=(int, str),
        multiple=True,
        metavar=f"RULE {second}",
        help=text,
    )


@click.command("edit", cls=Command, example=EXAMPLE)
@click.argument("rules", type=FILE)
@_pair_option(
    "replace", "TEXT", "Replace the conditions of a rule, written as rules print them."
)
@_pair_option(
    "condition",
    "TEXT",
    "Replace the condition of a rule on one column, or add it if there is none.",
    "conditions",
)
@_pair_option("remove", "COLUMN", "Remove the condition of a rule on a column.")
@_pair_option(
    "prediction",
    "PREDICTION",
    "Set the prediction of a rule, or its points in a scorecard.",
)
@_pair_option(
    "insert",
    "TEXT",
    "Insert a rule before the rule of this number: 1 'if age <= 40 then yes'.",
)
@click.option(
    "--drop",
    type=int,
    multiple=True,
    metavar="RULE",
    help="Remove a rule.",
)
@click.option(
    "--order",
    type=NAMES,
    metavar="2,1,...",
    help="New order of the rules that are left, without the default rule.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="P",
    help="Of two classes, predict the one whose rate is shown from this probability "
    "on.",
)
@click.option(
    "--cost",
    "costs",
    help="Cost of an error; the class with the lowest expected cost is predicted.",
    **WRITTEN["costs"],
)
@click.option(
    "--class-weight",
    help="Cost of any error in a class.",
    **WRITTEN["class_weight"],
)
@click.option(
    "--scale",
    type=SCALE,
    metavar="N[,POINTS,ODDS]",
    help="Put the points of a scorecard on another scale: N points double the odds, "
    "and a total of POINTS stands for ODDS, as in 20,600,50.",
)
@click.option(
    "--odds-of",
    metavar="CLASS",
    help="With --scale, the class whose odds these are; high totals stand for it.",
)
@output_option("Save the rules to this file. [default: only show them]")
@profile_option
def command(rules, out, no_profile, **changes):
    """Change saved rules by hand.

    RULES is a file that simplify --out wrote; rules are given by their number in it,
    except --insert, which comes last. Counts and rates that a change makes invalid are
    removed; refit counts them again, and diff shows what a change costs on some rows.
    The new file records the changes.
    """
    check_outputs({"--out": out}, (rules,), out=".json")
    if not any(value not in (None, ()) for value in changes.values()):
        raise click.UsageError("Say what to change, such as --drop 3.")
    if changes["odds_of"] is not None and changes["scale"] is None:
        raise click.UsageError("--odds-of needs --scale.")
    edited = _decided(_edited(read_rules(rules), changes), changes)
    if out is not None:
        edited.save(out, profile=not no_profile)
    say(rules_text(edited))
    if out is not None:
        say(f"The rules are in {out}.")


def _edited(edited, changes):
    """The rules with other conditions, predictions and order."""
    left = list(range(1, len(edited.rules) + 1))
    for number, text in changes["replace"]:
        edited = edited.replace(number, text)
    for number, text in changes["conditions"]:
        edited = _with_condition(edited, number, text)
    for number, column in changes["remove"]:
        edited = edited.remove(number, column)
    for number, text in changes["prediction"]:
        edited = edited.set_prediction(number, _prediction(edited, text))
    for number in sorted(set(changes["drop"]), reverse=True):
        edited = edited.drop(number)
        left.remove(number)
    if changes["order"]:
        edited = edited.reorder([_place(number, left) for number in changes["order"]])
    for number, text in changes["insert"]:
        edited = edited.insert(number, text)
    return edited


def _decided(rules, changes):
    """The rules with another threshold, costs or scale."""
    options = {"threshold": "--threshold", "costs": "--cost"}
    options["class_weight"] = "--class-weight"
    given = [option for name, option in options.items() if changes[name]]
    if len(given) > 1:
        raise click.UsageError(f"Give {given[0]} or {given[1]}, not both.")
    if given and not rules.classes:
        raise click.UsageError(
            "--threshold, --cost and --class-weight are for rules that predict a "
            "class; these predict a number."
        )
    if changes["threshold"] is not None:
        rules = rules.with_threshold(changes["threshold"])
    if changes["costs"]:
        rules = rules.with_costs(_named_costs(changes["costs"], rules.classes))
    if changes["class_weight"] is not None:
        rules = rules.with_class_weight(
            _named_weights(changes["class_weight"], rules.classes)
        )
    if changes["scale"] is None:
        return rules
    of = changes["odds_of"]
    if of is not None and rules.classes:
        of = _named_class(of, rules.classes, "--odds-of")
    return rules.scaled(*changes["scale"], of=of)


def _with_condition(rules, number, text):
    """Replace one condition of a rule, or add it."""
    changed = read_condition(text, rules._words)
    name = rules.feature_names[changed.feature]
    if not 1 <= number <= len(rules.rules):
        return rules.replace(number, text)  # which says what is wrong
    rule = rules.rules[number - 1]
    if changed.feature in [c.feature for c in rule.conditions]:
        return rules.replace(number, text, name)
    parts = [condition.text(*rules.vocabulary) for condition in rule.conditions]
    return rules.replace(number, " and ".join(f"({part})" for part in (*parts, text)))


def _prediction(rules, text):
    """A class, a number, or points with commas between them."""
    try:
        return rules._read_answer(text)
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
