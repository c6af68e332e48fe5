"""Text of rule models: tables and lines of rules, scores, calibration."""

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.types import Floats
from defragtrees.outcomes.base import Outcome
from defragtrees.outcomes.decision import positive_threshold
from defragtrees.outcomes.points import reachable_totals
from defragtrees.outcomes.text import LEAST_APART
from defragtrees.rules.conditions import Condition

if TYPE_CHECKING:
    from defragtrees.rules.model import RuleModel


MOST_TOTALS = 9  # totals of points that are printed with their probability
LEAST_RATIO = 0.1  # part of a small rate by which another must differ from it
LEAST_CONDITION = 32  # columns for conditions beside details; else these come below
TEXT_COLUMNS = ("if", "then", "condition", "value", "match")  # aligned to the left


@dataclass(frozen=True)
class Explanation:
    """Why rules predict one row as they do; rules are given by their index."""

    answer: Any
    rule: int  # that predicts or, where several combine, has the most weight
    averaged: tuple[int, ...]  # the rules that combine; empty where one predicts
    # Each rule before the one that predicts, and its first condition that fails; empty
    # where rules are not in order.
    failed: tuple[tuple[int, Condition], ...]
    probabilities: tuple[float, ...] | None = None
    interval: tuple[float, float] | None = None  # of the rate of a class


# Rules as a table: one function makes the cells of all views.

Cell = str | tuple[str, ...]  # a tuple has one entry per line
Cells = tuple[list[str], list[list[Cell]]]  # header and rows
Paint = Callable[[str, str], str]  # from a column and a line of a cell to it in colour


def rule_cells(rules: "RuleModel", *, details: bool = False) -> Cells:
    """Header and cells of the table that print, HTML, Markdown and LaTeX show.

    The cell of the column "if" is a tuple with one condition per entry. A column in
    which nothing was measured is left out.

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> conditions = Condition(0, lower=30.0), Condition(1, upper=9.0)
    >>> rules = RuleList((Rule(conditions, 5.0),), Rule((), 2.0), ("degrees", "wind"),
    ...                  "regression")
    >>> header, [first, last] = rule_cells(rules)
    >>> header, first
    (['#', 'if', 'prediction'], ['1', ('degrees > 30', 'and wind <= 9'), '5'])
    """
    columns: dict[str, Any] = {
        "#": [str(k + 1) for k in range(rules.n_rules)],
        "if": [_condition_lines(rules, k) for k in range(rules.n_rules)],
        **rules._then_columns(),
    }
    if rules._shows_estimates or details:
        columns |= _measured(_estimate_columns(rules))
    if details:
        columns |= _measured(_detail_columns(rules))
    return _cells(columns)


def _condition_lines(rules: "RuleModel", k: int) -> tuple[str, ...]:
    if k == len(rules.rules):
        return (rules._default_text,)
    if not rules.rules[k].conditions:  # written by hand: it matches every row
        return (rules.rules[k].text(),)
    first, *others = (
        condition_text(rules, condition) for condition in rules._shown_conditions[k]
    )
    return first, *(f"and {text}" for text in others)


def condition_text(
    rules: "RuleModel", condition: Condition, name: str | None = None
) -> str:
    """A condition for people: large numbers have separators.

    `name` replaces that of the feature.
    """
    before, shown, after = condition.parts(*rules._vocabulary.styled(is_grouped=True))
    return render.plain(f"{before}{shown if name is None else name}{after}")


def _estimate_columns(rules: "RuleModel") -> dict[str, list[str]]:
    n_rows = [
        "" if math.isnan(rule.n_rows) else render.count(rule.n_rows) for rule in rules
    ]
    return {**rules.outcome.view.estimate_columns(rules), "rows": n_rows}


def _detail_columns(rules: "RuleModel") -> dict[str, list[str]]:
    outcome = rules.outcome
    columns = {
        **outcome.view.detail_columns(rules),
        "share": [_share_text(rule.share) for rule in rules],
        "coverage": [_share_text(rule.coverage) for rule in rules],
    }
    if columns["coverage"][:-1] == columns["share"][:-1]:
        del columns["coverage"]
    if _shows_errors(rules):
        columns[outcome.view.agreement_title] = [
            "" if math.isnan(rule.error) else outcome.view.agreement(rule.error)
            for rule in rules
        ]
    columns["alone"] = [outcome.view.alone(rule) for rule in rules]
    return columns


DETAILS = {
    "observed": "rows of the class whose probability is shown",
    "share": "share of all rows that the rule {predicts}",
    "coverage": "share of all rows that the rule matches",
    "agreement": "share of its rows with the same prediction as the model",
    "RMSE": "root mean squared distance to what the rules imitate",
    "alone": "rate or mean of all rows that the rule matches, whatever the order",
}


def _shows_errors(rules: "RuleModel") -> bool:
    """Whether errors of single rules are shown, as their estimates do not say them."""
    return rules._shows_estimates and rules.outcome.view.shows_errors(rules)


def _share_text(value: float) -> str:
    return "" if math.isnan(value) else render.percent(value)


def _measured(columns: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name: texts for name, texts in columns.items() if any(texts)}


def _cells(columns: Mapping[str, Sequence[Cell]]) -> Cells:
    def plain(cell: Cell) -> Cell:
        if isinstance(cell, tuple):
            return tuple(map(render.plain, cell))
        return render.plain(cell)

    rows = zip(*columns.values(), strict=True)
    return [*map(render.plain, columns)], [
        [plain(cell) for cell in row] for row in rows
    ]


def left_columns(header: Sequence[str]) -> list[int]:
    """The columns of a table that have text and are aligned to the left."""
    return [j for j, title in enumerate(header) if title in TEXT_COLUMNS]


def table_text(cells: Cells, width: int, paint: Paint | None = None) -> str:
    """Cells as a table that is at most so many columns wide."""
    header, rows = cells
    left = left_columns(header)
    return render.text_table(header, rows, left=left, width=width, paint=paint)


def rule_tables(rules: "RuleModel", details: bool, width: int) -> list[Cells]:
    """The tables of a print: rules, details where they need their own, totals."""
    tables = [rule_cells(rules, details=details)]
    if details:
        header, rows = tables[0]
        others = [j for j, title in enumerate(header) if title != "if"]
        taken = sum(
            2 + max(len(str(cell)) for cell in (header[j], *(row[j] for row in rows)))
            for j in others
        )
        if width - taken < LEAST_CONDITION:
            columns = {"#": [str(k + 1) for k in range(rules.n_rules)]}
            tables = [rule_cells(rules), _cells(columns | _measured(_further(rules)))]
    total = total_cells(rules)
    return [*tables, total] if total else tables


def _further(rules: "RuleModel") -> dict[str, list[str]]:
    """The columns that only details have."""
    if rules._shows_estimates:
        return _detail_columns(rules)
    return _estimate_columns(rules) | _detail_columns(rules)


def note_lines(rules: "RuleModel") -> list[str]:
    """What stands below a table: how rules combine, and where estimates come from."""
    notes = [
        rules._combination_text(),
        *contradictions(rules),
        decision_text(rules),
        rules._evidence_text(),
    ]
    return [render.plain(note) for note in notes if note]


def total_text(rules: Any) -> str:
    """What the total of points stands for; empty where none add up."""
    if rules.form != "points":
        return ""
    return rules.outcome.view.total(rules.unit, rules.origin)


def total_cells(rules: Any) -> Cells | None:
    """Totals of points of two classes, and the probability of each; else None."""
    outcome = rules.outcome
    if rules.form != "points" or not outcome.is_binary or not rules.rules:
        return None
    totals = _shown_totals([rule.points[0] for rule in rules if rule.points])
    values = rules.values_of(totals[:, None])
    likely = outcome.linked(values)
    chosen = outcome.decide_points(values, rules.threshold, rules.costs)
    ends: Any = [None] * len(totals)
    if rules.rate_bands is not None:
        ends = rules._band_ends(likely[:, 1])
    rows: list[list[Cell]] = []
    for total, shares, end, label in zip(totals, likely, ends, chosen, strict=True):
        digits = 0 if end is None else render.percent_digits(*end)
        line = [
            render.grouped(total),
            render.percent(shares[outcome.positive_index], digits),
            "" if end is None else render.percent_range(*end),
            render.plain(outcome.view.prediction(label)),
        ]
        rows.append(line if rules.rate_bands else [*line[:2], line[3]])
    interval = [outcome.view.interval_title] if rules.rate_bands else []
    return ["total", outcome.view.estimate_title(), *interval, "then"], rows


def _shown_totals(points: list[float]) -> Floats:
    """Totals for a table: all that can be reached, or a few in even steps."""
    totals = reachable_totals(points)
    if len(totals) <= MOST_TOTALS:
        return totals
    span = totals[-1] - totals[0]
    power = 10.0 ** math.floor(math.log10(span / MOST_TOTALS))
    factors = (1, 2, 5, 10) if power == 1 else (1, 2, 2.5, 5, 10)
    step = next(f * power for f in factors if span <= f * power * MOST_TOTALS)
    first, last = math.ceil(totals[0] / step), math.floor(totals[-1] / step)
    # Rounded, as 3 * 0.1 has digits that nobody wants to read.
    return np.array([float(f"{k * step:.9g}") for k in range(first, last + 1)])


def contradictions(rules: Any) -> list[str]:
    """Which rules of a scorecard have points that contradict their own rates."""
    outcome, rates = rules.outcome, rules.default.rates
    if rules.form != "points" or not outcome.is_binary or rates is None:
        return []
    place = int(outcome.positive_index or 0)
    every, label = rates[place], outcome.view.label(outcome.positive_class)
    near = min(LEAST_APART, LEAST_RATIO * min(rates))
    is_for_it = rules.scored_class == outcome.positive_class
    notes = []
    for k, rule in enumerate(rules.rules, start=1):
        points = (rule.points or (0.0,))[0]
        rate = every if rule.rates is None else rule.rates[place]
        is_more = rate > every
        is_alike = not points or abs(rate - every) <= near
        if is_alike or (points > 0) == (is_more == is_for_it):
            continue
        digits = render.percent_digits(*sorted((rate, every)))
        notes.append(
            render.plain(
                f"Rule {k} {'adds' if points > 0 else 'subtracts'} points although "
                f"{label} is {'more' if is_more else 'less'} frequent in its rows "
                f"({render.percent(rate, digits)}) than in all "
                f"({render.percent(every, digits)}): points count given the other "
                "rules."
            )
        )
    return notes


def size_text(
    rules: "RuleModel", scores: Mapping[str, Any], is_short: bool = False
) -> str:
    """Number of rules and conditions and, unless short, how many match per row.

    `scores` are what `evaluate` gives.
    """
    if scores["n_rules"] == 1:
        return "1 rule without conditions."
    ending = (rules._short_size if is_short else rules._size).format(
        coverage=render.share(scores["coverage"]), overlap=f"{scores['overlap']:.2f}"
    )
    return (
        f"{scores['n_rules']} rules with {scores['mean_conditions']:.1f} conditions "
        f"each{ending}"
    )


def detail_notes(rules: "RuleModel") -> list[str]:
    """What the columns of details mean."""
    header, _ = rule_cells(rules, details=True)
    predicts = "predicts" if rules._is_exclusive else "matches"
    return [
        f"{name}: {DETAILS[name].format(predicts=predicts)}"
        for name in header
        if name in DETAILS
    ]


def wrap_notes(notes: Sequence[str], width: int) -> str:
    """Notes as lines that are at most so many columns wide."""
    return "\n".join(
        textwrap.fill(
            note,
            width,
            subsequent_indent="  " if note.startswith("- ") else "",
            break_on_hyphens=False,
        )
        for note in notes
    )


def rule_lines(rules: "RuleModel") -> list[str]:
    """One line per rule, with exact numbers; conditions can be read back."""
    lines = []
    shows_errors = _shows_errors(rules)
    for rule, row in zip(rules, rules._rows(), strict=True):
        # Without separators, so that a program reads numbers too.
        then = row["then"] if rules.classes else row["then"].replace(",", "")
        if not rule.conditions:
            text = f"{row['rule']}. {rules._default_text} {then}"
        else:
            text = f"{row['rule']}. if {row['if']} then {then}"
        if row["estimate_text"]:
            text += f": {row['estimate_text']}"
        if rules._shows_weights:
            text += f", weight {render.number(rule.weight)}"
        if not math.isnan(row["share"]):
            evidence = f"{render.percent(row['share'])} of rows"
            if shows_errors and not math.isnan(row["error"]):
                evidence += f", {rules.outcome.view.agreement_phrase(row['error'])}"
            text += f"  [{evidence}]"
        lines.append(render.plain(text))
    return lines


def decision_text(
    rules: "RuleModel", head: str = "Predicts", at_least: str = ">="
) -> str:
    """How a class is chosen from probabilities; empty if it is the most probable.

    Examples
    --------
    >>> from defragtrees import Rule, RuleList
    >>> rule = Rule((), "bad", (0.8, 0.2))
    >>> rules = RuleList((), rule, ("a",), "classification", ("good", "bad"),
    ...                  threshold=0.15)
    >>> print(decision_text(rules))
    Predicts bad if P(bad) >= 0.15.
    """
    outcome = rules.outcome
    if rules.threshold is not None:
        return f"{head} {_threshold_text(outcome, rules.threshold, at_least)}."
    if rules.costs is None:
        return ""
    return (
        f"{head} the class with the lowest expected cost. "
        f"Costs: {_costs_text(outcome, rules.costs)}."
    )


def decision_phrase(outcome: Outcome, threshold: Any, costs: Any) -> str:
    """How a class is chosen from probabilities, inside another sentence.

    Examples
    --------
    >>> decision_phrase(rules.outcome, None, None)
    'predicts the most probable class'
    >>> decision_phrase(rules.outcome, None, ((0, 1), (5, 0)))
    'costs: yes predicted for no 1, no predicted for yes 5'
    """
    if threshold is not None:
        return f"predicts {_threshold_text(outcome, threshold)}"
    if costs is not None:
        return f"costs: {_costs_text(outcome, costs)}"
    return "predicts the most probable class"


def _threshold_text(outcome: Outcome, threshold: float, at_least: str = ">=") -> str:
    label = outcome.view.label(outcome.positive_class)
    least = render.number(positive_threshold(threshold, outcome.positive_index))
    return render.plain(f"{label} if P({label}) {at_least} {least}")


def _costs_text(outcome: Outcome, costs: Sequence[Sequence[float]]) -> str:
    """The cost of each error."""
    labels = [outcome.view.label(label) for label in outcome.labels or ()]
    pairs = [
        f"{predicted} predicted for {true} {render.rounded(cost)}"
        for true, row in zip(labels, costs, strict=True)
        for predicted, cost in zip(labels, row, strict=True)
        if predicted != true
    ]
    return render.plain(", ".join(pairs))


SOURCES = (("rules", ""), ("model", "model_"))
MAYBE_TRAINED = "may be trained on these rows"  # a model, and then looks too good


def scores_text(
    rules: "RuleModel",
    scores: Mapping[str, Any],
    where: str,
    is_short: bool = False,
    is_new: bool = False,
) -> str:
    """The size of the rules, and their scores beside those of the model, if any.

    `scores` are what `evaluate` gives, and `where` names the rows;
    `is_new`: the model was not trained on them. The short text leaves out
    how many rules match per row.
    """
    header, lines = score_cells(rules, scores)
    header[0] = f"on {where}"
    if "model_error" in scores and not is_new:
        header[-1] += f" ({MAYBE_TRAINED})"
    width = render.page_width()
    parts = [wrap_notes([size_text(rules, scores, is_short)], width)]
    parts += [render.text_table(header, lines)] if lines else []
    parts.append(wrap_notes([" ".join(score_notes(rules, scores))], width))
    return "\n\n".join(filter(None, parts))


def score_cells(
    rules: "RuleModel", scores: Mapping[str, Any], is_short: bool = False
) -> tuple[list[str], list[list[str]]]:
    """Scores of the rules beside those of the model, as header and cells.

    The short table has only those measures that fit into a narrow table.
    """
    outcome = rules.outcome
    sources = [
        (label, prefix)
        for label, prefix in SOURCES
        if f"{prefix}fidelity" in scores or f"{prefix}error" in scores
    ]
    also = "expected_cost" if rules._has_costs else None
    measures = outcome.view.measure_titles(
        narrow=is_short, also=also, has_costs=rules._has_costs
    )
    measures["fidelity"] = "agreement with the model"
    lines = []
    for name, label in measures.items():
        values = [scores.get(f"{prefix}{name}") for _, prefix in sources]
        cells = [_cell(value, outcome) for value in values]
        if any(cells):
            lines.append([label, *cells])
    return ["", *(label for label, _ in sources)], lines


def score_notes(
    rules: "RuleModel", scores: Mapping[str, Any], is_short: bool = False
) -> list[str]:
    """What one has to know to read a table of scores, in sentences.

    Of a short table, without those on measures that it leaves out.
    """
    notes = [] if is_short else [_class_note(rules, scores)]
    if rules._has_costs and "model_error" in scores:
        notes.append("The model is measured with the same decision.")
    missing = rules._unpredicted_classes
    if missing:
        names = ", ".join(_class_name(rules, label) for label in missing[:5])
        notes.append(f"No rule predicts {names}{', ...' if missing[5:] else ''}.")
    return [note for note in notes if note]


def _cell(value: float | None, outcome: Outcome) -> str:
    if value is None:
        return ""
    return "–" if math.isnan(value) else outcome.view.measure(value)


def _class_note(rules: "RuleModel", scores: Mapping[str, Any]) -> str:
    """Which class the measures of one class are of."""
    names = [m.label for m in rules.outcome.measures() if m.is_of_class]
    if not names or "precision" not in scores:
        return ""
    text = f"{', '.join(names[:-1])} and {names[-1]} are ".capitalize()
    if rules.outcome.is_binary:
        return f"{text}those of {_class_name(rules, rules.outcome.positive_class)}."
    return f"{text}means over the classes, as is AUC."


def _class_name(rules: "RuleModel", label: Any) -> str:
    return render.plain(rules.outcome.view.prediction(label))


def calibration_text(
    rules: "RuleModel", rows: Sequence[Mapping[str, Any]], where: str
) -> str:
    """Estimates of each rule or total and what is observed in other rows, as a table.

    `rows` are what `metrics.calibration` gave, and `where` names the other rows.
    """
    outcome = rules.outcome
    text = outcome.view.rate
    is_many = outcome.link == "softmax"
    lines, head = [], ""
    for row in rows:
        head, cell = calibrated_words(row)
        line = [cell] if head else []
        if is_many:
            line.append(_class_name(rules, row["class"]))
        if row["n_rows"]:
            line += [text(row[name]) for name in ("estimated", "observed")]
            line.append(f"{text(row['low'])} to {text(row['high'])}")
        else:
            line += [""] * 3
        lines.append([*line, f"{row['n_rows']:,.6g}"])
    header = [*([head] if head else []), *(["class"] if is_many else [])]
    header += ["estimated", "observed", "95 % interval", "rows"]
    title = f"Estimated and observed on {where}"
    if outcome.is_binary:
        title += f", for {_class_name(rules, outcome.positive_class)}"
    mean = f"Mean difference over rows: {outcome.view.gap(mean_gap(rows))}."
    return f"{title}:\n{render.text_table(header, lines)}\n{mean}"


def mean_gap(rows: Sequence[Mapping[str, Any]]) -> float:
    """Mean difference between estimates and observations, by the rows of each."""
    seen = [row for row in rows if row["n_rows"]]
    gaps = [row["n_rows"] * abs(row["estimated"] - row["observed"]) for row in seen]
    return float(sum(gaps) / sum(row["n_rows"] for row in seen))


def calibrated_words(row: Mapping[str, Any]) -> tuple[str, str]:
    """What a line of `metrics.calibration` is about, and which one of these.

    Examples
    --------
    >>> calibrated_words({"total": (1.0, 2.0)})
    ('total', '1 to 2')
    """
    if "rule" in row:
        return "rule", str(row["rule"])
    if "total" not in row:
        return "", ""
    low, high = map(render.rounded, row["total"])
    return "total", low if low == high else f"{low} to {high}"
