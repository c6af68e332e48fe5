"""From a total of points to a probability or a number, on the rows of the report."""

from defragtrees.metrics.totals import table_of_totals
from defragtrees.report.markup import bar, name, table
from defragtrees.report.wording import amount, count, percent, rate_text

__all__ = ["write"]


def write(page):
    """The table; nothing where no points add up to one total."""
    summary = page.summary
    rules, rows = summary.rules, summary.rows
    if rules.decision != "points" or rules.outcome.n_points != 1:
        return []
    lines = table_of_totals(rules, rules._totals(rows.held)[:, 0], rows.y)
    tell = rate_text if rules.classes else amount
    whose = "answer"
    if rules.classes:
        label = rules.outcome.answer_text(rules.classes[1])
        whose = f"probability of {name(label)}"
    cells = []
    for line in lines:
        share = line["n_rows"] / len(rows.matrix)
        cell = [_range(line), count(line["n_rows"]), bar(share, percent(share))]
        observed = [tell(line["observed"])] if "observed" in line else []
        cells.append([*cell, tell(line["told"]), *observed])
    header = ["Total", "Rows", "Share", "Told"]
    header += ["Observed"] if rows.y is not None else []
    return [
        f"<p>The higher the total of points, the higher the {whose}.</p>",
        table(
            header,
            cells,
            "What totals of points stand for",
            numeric=tuple(range(1, len(header))),
            kind="bars",
        ),
    ]


def _range(line):
    low, high = amount(line["low"]), amount(line["high"])
    return low if low == high else f"{low} to {high}"
