"""How far the rules reach, and how much they share."""

import numpy as np

from defragtrees._utils.formatting import plural
from defragtrees.report.markup import Cell, answer_badge, bar, table
from defragtrees.report.wording import amount, count, percent

__all__ = ["holding_counts", "write"]


def write(page):
    """How much of the rows the rules reach, and how much they share."""
    summary = page.summary
    decision = summary.rules.decision
    is_list, is_partition = decision == "first", decision == "partition"
    colours = [summary.table.colour(group) for group in summary.table.rule_groups]
    lines = []
    for card, colour in zip(summary.cards, colours, strict=True):
        holds = card.share if is_partition else card.holds
        line = [
            f"Rule {card.number}",
            Cell(answer_badge(card.then, colour)),
            bar(holds, percent(holds), "second"),
        ]
        answers = [bar(card.share, percent(card.share))] if is_list else []
        lines.append([*line, *answers])
    header = ["Rule", "Says", "Holds in", *(["Answers"] if is_list else [])]
    words = "In each row exactly one rule holds."
    if not is_partition:
        words = (
            f"In {percent(summary.scores['coverage'])} of rows a rule before the last "
            f"one holds; on average {amount(summary.scores['overlap'], 3)} of them "
            "hold in a row."
        )
    if is_list:
        words += (
            " A rule answers less than it holds in where an earlier one answered "
            "first: the later ones must be read with that in mind."
        )
    if decision == "standalone" and summary.outcome.n_classes:
        words += f" {_conflict_words(summary)}"
    return [
        f"<p>{words}</p>",
        table(header, lines, "Where each rule holds, as a share of rows", kind="bars"),
        "" if is_partition else _holding_table(summary.rows),
    ]


def _conflict_words(summary):
    """In how many rows rules hold that answer different classes."""
    rules, held = summary.rules, summary.rows.held
    share = summary.rows.share(rules._conflicts(held))
    return (
        f"Rules that answer different classes hold together in {percent(share)} of "
        "rows."
    )


def holding_counts(rows):
    """How many rules hold in a row, the last left out, and where that is so."""
    n_holding = rows.held[:, :-1].sum(axis=1)
    return {int(n): n_holding == n for n in np.unique(n_holding)}


def _holding_table(rows):
    """How many rules hold in how many rows."""
    lines = [
        [
            "none" if n_holding == 0 else plural(n_holding, "rule"),
            count(here.sum()),
            bar(rows.share(here), percent(rows.share(here))),
        ]
        for n_holding, here in holding_counts(rows).items()
    ]
    return table(
        ["Rules that hold, the last left out", "Rows", "Share"],
        lines,
        "How many rules hold in a row",
        numeric=(1,),
        kind="bars",
    )
