"""What is predicted: classes and how frequent they are, or numbers and their spread."""

from defragtrees._utils import formatting as render
from defragtrees.report.baseline import LEVELS
from defragtrees.report.markup import bar, name, table
from defragtrees.report.wording import amount, count, rate_text

__all__ = ["answers_table"]

MOST_CLASSES = 20


def answers_table(summary):
    """The classes, what they mean and their base rates; or how numbers are spread."""
    whose = name(summary.target)
    if not summary.baseline.is_of_y:
        whose = f"{whose}, as the ensemble answers it"
    if summary.outcome.n_classes:
        return _class_pieces(summary, whose)
    low, middle, high = (amount(q) for q in summary.baseline.quantiles)
    shares = " and ".join(f"{100 * level:.0f} %" for level in (LEVELS[0], LEVELS[-1]))
    return [
        f"<p>What is predicted is a number, {whose}: on these rows its mean is "
        f"<b>{amount(summary.baseline.guess)}</b>, its median {middle}, and its "
        f"{shares} points are {low} and {high}.</p>"
    ]


def _class_pieces(summary, whose):
    baseline, rules, outcome = summary.baseline, summary.rules, summary.outcome
    if outcome.n_classes > MOST_CLASSES:
        return [
            f"<p>What is predicted is {whose}, one of {outcome.n_classes} classes.</p>"
        ]
    before = rules.training_rates
    lines = []
    for k, label in enumerate(rules.classes):
        shown = outcome.answer_text(label)
        rate = baseline.rates[k]
        line = [name(shown)]
        line += [name(str(label))] if rules.class_labels else []
        line += [count(baseline.n_rows[k]), bar(rate, rate_text(rate))]
        line += [render.share_range(*baseline.intervals[k])]
        lines.append(line + ([] if before is None else [rate_text(before[k])]))
    header = ["Class"] + (["In the data"] if rules.class_labels else [])
    header += ["Rows", "Base rate", "95 % interval"]
    header += [] if before is None else ["Training"]
    told = ""
    if outcome.n_classes == 2:
        whose_rate = lines[outcome.told_number][0]
        told = f" Rates and probabilities are those of <b>{whose_rate}</b>."
    first = len(header) - 3 - (before is not None)
    return [
        f"<p>What is predicted is {whose}. The base rate of a class is its share of "
        f"all rows, whatever rule they fall under.{told}</p>",
        table(
            header,
            lines,
            "The classes and their base rates",
            numeric=(first, *range(first + 2, len(header))),
            kind="bars",
        ),
    ]
