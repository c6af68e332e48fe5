"""Text of rule models: tables and lines of rules, scores, calibration."""

import dataclasses
import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from defragtrees._utils import formatting as render
from defragtrees.outcomes.base import Outcome
from defragtrees.rules.conditions import Condition

if TYPE_CHECKING:
    from defragtrees.rules.model import RuleModel


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
        return (rules.default_text,)
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
    words = rules.vocabulary
    names = words.names if name is None else [name] * len(words.names)
    scales = [dataclasses.replace(scale, is_grouped=True) for scale in words.scales]
    return render.plain(condition.text(names, words.categories, scales))


def _estimate_columns(rules: "RuleModel") -> dict[str, list[str]]:
    n_rows = [
        "" if math.isnan(rule.n_rows) else render.count(rule.n_rows) for rule in rules
    ]
    return {**rules.outcome.estimate_columns(rules), "rows": n_rows}


def _detail_columns(rules: "RuleModel") -> dict[str, list[str]]:
    outcome = rules.outcome
    columns = {
        **outcome.detail_columns(rules),
        "share": [_share_text(rule.share) for rule in rules],
        "coverage": [_share_text(rule.coverage) for rule in rules],
    }
    if columns["coverage"][:-1] == columns["share"][:-1]:
        del columns["coverage"]
    if rules._shows_errors:
        columns[outcome.closeness_name] = [
            "" if math.isnan(rule.error) else outcome.closeness_text(rule.error)
            for rule in rules
        ]
    columns["alone"] = [outcome.alone_text(rule) for rule in rules]
    return columns


DETAILS = {
    "observed": "rows of the class whose probability is shown",
    "share": "share of all rows that the rule {predicts}",
    "coverage": "share of all rows that the rule matches",
    "agreement": "share of its rows with the same prediction as the model",
    "RMSE": "root mean squared distance to what the rules imitate",
    "alone": "rate or mean of all rows that the rule matches, whatever the order",
}


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
    total = rules._total_cells()
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
        *rules._contradictions().values(),
        decision_text(rules),
        rules._evidence_text(),
    ]
    return [render.plain(note) for note in notes if note]


def detail_notes(rules: "RuleModel") -> list[str]:
    """What the columns of details mean."""
    header, _ = rule_cells(rules, details=True)
    predicts = "predicts" if rules.is_exclusive else "matches"
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
    shows_errors = rules._shows_errors
    for rule, row in zip(rules, rules.rows(), strict=True):
        # Without separators, so that a program reads numbers too.
        then = row["then"] if rules.classes else row["then"].replace(",", "")
        if row["if"] == "otherwise":
            text = f"{row['rule']}. {rules.default_text} {then}"
        else:
            text = f"{row['rule']}. if {row['if']} then {then}"
        if row["estimate_text"]:
            text += f": {row['estimate_text']}"
        weight = rules._shown_weight(rule)
        if weight is not None:
            text += f", weight {render.number(weight)}"
        if not math.isnan(row["share"]):
            evidence = f"{render.percent(row['share'])} of rows"
            if shows_errors and not math.isnan(row["error"]):
                evidence += f", {rules.outcome.evidence_text(row['error'])}"
            text += f"  [{evidence}]"
        lines.append(render.plain(text))
    return lines


def decision_text(rules: "RuleModel") -> str:
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
        label = outcome.label_text(outcome.positive_class)
        least = render.number(outcome.positive_threshold(rules.threshold))
        return render.plain(f"Predicts {label} if P({label}) >= {least}.")
    if rules.costs is None:
        return ""
    name = outcome.label_text
    pairs = [
        f"{name(answer)} predicted for {name(true)} {render.rounded(cost)}"
        for true, row in zip(rules.classes or (), rules.costs, strict=True)
        for answer, cost in zip(rules.classes or (), row, strict=True)
        if answer != true
    ]
    return render.plain(
        f"Predicts the class with the lowest expected cost. Costs: {', '.join(pairs)}."
    )


def decision_phrase(rules: "RuleModel") -> str:
    """`decision_text` inside another sentence; never empty.

    Examples
    --------
    >>> decision_phrase(rules), decision_phrase(rules.with_costs({("yes", "no"): 5}))
    ('predicts the most probable class', \
'costs: yes predicted for no 1, no predicted for yes 5')
    """
    text = decision_text(rules) or "Predicts the most probable class."
    text = text.removeprefix("Predicts the class with the lowest expected cost. ")
    return f"{text[0].lower()}{text[1:].rstrip('.')}"


SOURCES = (("rules", ""), ("ensemble", "ensemble_"))
MAYBE_TRAINED = "may be trained on these rows"  # an ensemble, and then looks too good


def scores_text(
    rules: "RuleModel",
    scores: Mapping[str, Any],
    where: str,
    is_short: bool = False,
    is_new: bool = False,
) -> str:
    """The size of the rules, and their scores beside those of the ensemble, if any.

    `scores` are what `evaluate` gives, and `where` names the rows;
    `is_new`: the model was not trained on them. The short text leaves out
    how many rules match per row.
    """
    header, lines = score_cells(rules, scores)
    header[0] = f"on {where}"
    if "ensemble_error" in scores and not is_new:
        header[-1] += f" ({MAYBE_TRAINED})"
    width = render.page_width()
    parts = [wrap_notes([rules._size_text(scores, is_short)], width)]
    parts += [render.text_table(header, lines)] if lines else []
    parts.append(wrap_notes([" ".join(score_notes(rules, scores))], width))
    return "\n\n".join(filter(None, parts))


def score_cells(
    rules: "RuleModel", scores: Mapping[str, Any], is_short: bool = False
) -> tuple[list[str], list[list[str]]]:
    """Scores of the rules beside those of the ensemble, as header and cells.

    The short table has only those measures that fit into a narrow table.
    """
    outcome = rules.outcome
    sources = [
        (label, prefix)
        for label, prefix in SOURCES
        if f"{prefix}fidelity" in scores or f"{prefix}error" in scores
    ]
    also = "expected_cost" if _has_costs(rules) else None
    measures = outcome.shown_measures(
        narrow=is_short, also=also, has_costs=_has_costs(rules)
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
    if _has_costs(rules) and "ensemble_error" in scores:
        notes.append("The ensemble is measured with the same decision.")
    missing = rules.unpredicted_classes
    if missing:
        names = ", ".join(_class_name(rules, label) for label in missing[:5])
        notes.append(f"No rule predicts {names}{', ...' if missing[5:] else ''}.")
    return [note for note in notes if note]


def _has_costs(rules: "RuleModel") -> bool:
    return rules.costs is not None or rules.threshold is not None


def _cell(value: float | None, outcome: Outcome) -> str:
    if value is None:
        return ""
    return "–" if math.isnan(value) else outcome.measure_text(value)


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
    return render.plain(rules.outcome.answer_text(label))


def calibration_text(
    rules: "RuleModel", rows: Sequence[Mapping[str, Any]], where: str
) -> str:
    """Estimates of each rule or total and what is observed in other rows, as a table.

    `rows` are what `metrics.calibration` gave, and `where` names the other rows.
    """
    outcome = rules.outcome
    text = outcome.statistic_text
    is_many = outcome.target_kind == "classes"
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
    seen = [row for row in rows if row["n_rows"]]
    gaps = [row["n_rows"] * abs(row["estimated"] - row["observed"]) for row in seen]
    gap = sum(gaps) / sum(row["n_rows"] for row in seen)
    mean = f"Mean difference over rows: {outcome.gap_text(gap)}."
    return f"{title}:\n{render.text_table(header, lines)}\n{mean}"


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
