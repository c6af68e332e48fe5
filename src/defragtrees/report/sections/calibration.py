"""What each rule tells beside what is observed on the rows of the report."""

from defragtrees.outcomes.measures import calibrate
from defragtrees.plots.measures import calibration_picture
from defragtrees.report.markup import Cell, answer_badge, name, table
from defragtrees.report.wording import amount, count, rate_text

__all__ = ["measure", "write"]


def measure(summary):
    """One dict for each rule, as `metrics.calibration` gives them."""
    rows = summary.rows
    return calibrate(rows.rules, rows.matrix, rows.y, rows.weight).rows(rows.rules)


def write(page):
    """The table, and the same as a picture."""
    summary = page.summary
    is_told = not summary.outcome.n_classes or summary.rules.has_probabilities
    if summary.rows.y is None or not is_told:
        return []
    lines, outcome = measure(summary), summary.outcome
    tell = rate_text if outcome.n_classes else amount
    caption = (
        "A point for each rule, with its number: what it tells, and what is observed "
        "on the rows of this report with a 95 % interval. Where the interval reaches "
        "the dashed line, the rule keeps its word."
    )
    return [
        f"<p>{_words(summary)} {_gap(lines, outcome)}</p>",
        page.figure(
            "calibration",
            calibration_picture(lines, outcome, tell),
            "What is observed against what the rules tell",
            caption,
        ),
        table(
            ["Rule", "Says", "Rows", "Told", "Observed", "95 % interval"],
            [_cells(line, summary, tell) for line in lines],
            "What each rule tells, and what is observed on these rows",
            numeric=(2, 3, 4, 5),
            kind="bars",
        ),
    ]


def _words(summary):
    outcome = summary.outcome
    if not outcome.n_classes:
        return "A rule tells the mean of its rows."
    if outcome.n_classes == 2:
        label = outcome.answer_text(outcome.told_class)
        return f"A rule tells how likely {name(label)} is."
    return "A rule tells how likely the class is that it answers."


def _gap(lines, outcome):
    """How far told and observed are apart, by rows."""
    seen = [line for line in lines if line["n_rows"]]
    total = sum(line["n_rows"] for line in seen)
    apart = sum(line["n_rows"] * abs(line["told"] - line["observed"]) for line in seen)
    gap = apart / total
    size = f"{100 * gap:.1f} percentage points" if outcome.n_classes else amount(gap)
    return f"On average over these rows that is {size} from what is observed."


def _cells(line, summary, tell):
    k = line["rule"] - 1
    colour = summary.table.colour(summary.table.rule_groups[k])
    says = Cell(answer_badge(summary.cards[k].then, colour))
    first = [f"Rule {line['rule']}", says, count(round(line["n_rows"]))]
    if not line["n_rows"]:
        return [*first, "–", "–", "–"]
    told, observed, low, high = (
        tell(line[key]) for key in ("told", "observed", "low", "high")
    )
    sign = "\N{NO-BREAK SPACE}%"
    return [*first, told, observed, f"{low.removesuffix(sign)} to {high}"]
