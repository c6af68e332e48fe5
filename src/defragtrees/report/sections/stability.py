"""What of the rules came back when they were fitted to other rows."""

from defragtrees.report.flags import came_back_rarely
from defragtrees.report.markup import Cell, answer_badge, bar, table
from defragtrees.report.wording import numbered, percent, sentence

__all__ = ["write"]


def write(page):
    """How stable answers, features, cuts and rules are, where that was measured."""
    summary = page.summary
    measured = summary.stability
    if measured is None:
        return []
    colours = [summary.table.colour(group) for group in summary.table.rule_groups]
    lines = []
    for card, colour, n_back in zip(
        summary.cards, colours, measured.returns, strict=True
    ):
        share = n_back / measured.n_resamples
        lines.append(
            [
                f"Rule {card.number}",
                Cell(answer_badge(card.then, colour)),
                bar(share, f"{n_back} of {measured.n_resamples}"),
            ]
        )
    return [
        f"<p>{measured.sentence} {_verdict(measured)}</p>",
        table(
            ["Rule", "Says", "Came back"],
            lines,
            "Refits in which a rule with the same answer has most rows in common",
            kind="bars",
        ),
    ]


def _verdict(measured):
    """Which rules hang on the rows that happened to be there."""
    weak = [
        k + 1 for k in range(len(measured.returns)) if came_back_rarely(k, measured)
    ]
    if not weak:
        return "Every rule came back in most of them."
    which = sentence(numbered(weak))
    share = percent(len(weak) / len(measured.returns))
    return (
        f"{which} ({share} of the rules) came back in fewer than half: other rows "
        "would say it otherwise."
    )
