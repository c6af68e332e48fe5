"""`defragtrees edit`: change saved rules by hand."""

import click

from defragtrees.cli.group import Command
from defragtrees.cli.inputs import read_rules
from defragtrees.cli.options import FILE, NAMES, output_option, profile_option
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
@output_option("Save the rules to this file. [default: only show them]")
@profile_option
def command(
    rules, replace, conditions, remove, prediction, drop, order, out, no_profile
):
    """Change saved rules by hand.

    RULES is a file that simplify --out wrote; rules are given by their number in it.
    Counts and rates that a change makes invalid are removed; refit counts them again.
    The new file records the changes.
    """
    check_outputs({"--out": out}, (rules,))
    if not (replace or conditions or remove or prediction or drop or order):
        raise click.UsageError("Say what to change, such as --drop 3.")
    edited = read_rules(rules)
    n_rules = len(edited.rules)
    for number, text in replace:
        edited = edited.replace(number, text)
    for number, text in conditions:
        edited = _with_condition(edited, number, text)
    for number, column in remove:
        edited = edited.remove(number, column)
    for number, text in prediction:
        edited = edited.set_prediction(number, _prediction(edited, text))
    left = list(range(1, n_rules + 1))
    for number in sorted(set(drop), reverse=True):
        edited = edited.drop(number)
        left.remove(number)
    if order:
        edited = edited.reorder([_place(number, left) for number in order])
    if out is not None:
        edited.save(out, profile=not no_profile)
    say(rules_text(edited))
    if out is not None:
        say(f"The rules are in {out}.")


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
