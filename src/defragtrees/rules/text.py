"""What rule models print: tables, notes, explanations, scores and calibration.

A `View` has the text of one form; all views of rules (print, HTML, Markdown, reports)
are made of its cells and notes.
"""

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.types import Flags, Floats
from defragtrees.outcomes.base import Outcome
from defragtrees.outcomes.counts import factor
from defragtrees.outcomes.decision import positive_threshold
from defragtrees.outcomes.text import LEAST_APART, NumberView
from defragtrees.rules.bins import (
    ALSO,
    BASE,
    Bin,
    bin_text,
    bins_of,
    is_by_column,
    is_shown,
    totals_of,
)
from defragtrees.rules.conditions import Condition, Rule
from defragtrees.rules.labels import Scale

if TYPE_CHECKING:
    from defragtrees.rules.forms import PointsForm
    from defragtrees.rules.model import RuleModel

MOST_ROWS = 0.8  # coverage of the interval that explains a number
MOST_TOTALS = 9  # totals of points that are printed with their probability
MOST_WHOLE = 25  # the same of whole points
LEAST_RATIO = 0.1  # part of a small rate by which another must differ from it
LEAST_CONDITION = 32  # columns for conditions beside details; else these come below
LEAST_BIN = 14  # columns that names and bins of a card have at least
# Those of these titles are aligned to the left.
TEXT_COLUMNS = {"if", "characteristic", "bin", ALSO, "then", "condition"}
TEXT_COLUMNS |= {"value", "match"}
EDITED = "Edited after the fit:"  # above or before the texts of edits
UNORDERED = "These rules have no order, so they cannot be moved."
DETAILS = {
    "observed": "share of its rows with the class of the probability",
    "share": "share of all rows that the rule {predicts}",
    "coverage": "share of all rows that the rule matches",
    "agreement": "share of its rows with the same prediction as the model",
    "RMSE": "root mean squared distance to what the rules imitate",
    "alone": "rate or mean of all rows that the rule matches, whatever the order",
}
SOURCES = (("rules", ""), ("model", "model_"))
RATE_INTERVAL = "95% interval"  # of a total
WIDE = 0.5  # rates up to here have a scale of their own
MAYBE_TRAINED = "may be trained on these rows"  # a model, and then looks too good

Cell = str | tuple[str, ...]  # a tuple has one entry per line
Cells = tuple[list[str], list[list[Cell]]]  # header and rows
# Of each row the rules that combine, and conditions of others that failed before.
Matching = Iterator[tuple[tuple[int, ...], tuple[tuple[int, Condition], ...]]]
Paint = Callable[[str, str], str]  # from a column and a line of a cell to it in colour


@dataclass(frozen=True)
class Bar:
    """A value and its interval, drawn beside a rule in the colour of this number."""

    value: float
    interval: tuple[float, float] | None
    colour: int


@dataclass(frozen=True)
class Explanation:
    """Why rules predict one row as they do; rules are given by their index."""

    prediction: Any
    rule: int  # that predicts or, where several combine, has the most weight
    combined: tuple[int, ...]  # the rules that combine; empty where one predicts
    # Each rule before the one that predicts, and its first condition that fails; empty
    # where rules are not in order.
    failed: tuple[tuple[int, Condition], ...]
    probabilities: tuple[float, ...] | None = None
    # 95% of the rate of a class, 80% of a number that several rules predict
    interval: tuple[float, float] | None = None
    totals: tuple[float, ...] = ()  # of points


@dataclass(frozen=True)
class View:
    """What the rule models of one form print; the base class has what all forms share.

    A form replaces the texts and, where its rules do not simply predict, `then_text`,
    `then_columns`, `contribution` and `matching`.

    Examples
    --------
    >>> from defragtrees import Condition, Rule, RuleList
    >>> conditions = Condition(0, lower=30.0), Condition(1, upper=9.0)
    >>> rules = RuleList((Rule(conditions, 5.0),), Rule((), 2.0), ("degrees", "wind"),
    ...                  "regression")
    >>> header, [first, last] = rules._view.cells()
    >>> header, first
    (['#', 'if', 'prediction'], ['1', ('degrees > 30', 'and wind <= 9'), '5'])
    """

    rules: "RuleModel"

    default_text: ClassVar[str] = "otherwise"  # what the default rule is called
    shows_estimates: ClassVar[bool] = True  # of single rules, without details
    is_product: ClassVar[bool] = False  # whether factors are multiplied
    total_name: ClassVar[str] = "total"  # what points add up, or factors multiply, to
    # How to predict with the rules, for those who only have their text and for readers
    # of a report; what follows the number of conditions in `size_text`.
    usage: ClassVar[str]
    reading: ClassVar[str]
    size: ClassVar[str]
    fixed: ClassVar[str]  # why predictions of rules cannot be changed

    @property
    def outcome(self) -> Outcome:
        """What is predicted."""
        return self.rules.outcome

    @property
    def y_view(self) -> NumberView:
        """Texts about predictions, rates and measures."""
        return self.rules.outcome.view

    # What a form says

    def combination(self) -> str:
        """How a prediction follows from several rules; empty where one predicts."""
        return ""

    def then_text(self, rule: Rule, is_short: bool = False) -> str:
        """What a rule predicts, or contributes to the prediction.

        The short text has fewer digits.
        """
        return self.y_view.prediction(rule.prediction, 3 if is_short else None)

    def then_columns(self) -> dict[str, list[str]]:
        """What rules predict or contribute, as columns of a table."""
        return {
            self.y_view.prediction_title: [self.then_text(rule) for rule in self.rules]
        }

    def contribution(self, rule: Rule) -> dict[str, str]:
        """What a rule contributes to a prediction of several, by its title."""
        return {}

    @property
    def shows_weights(self) -> bool:
        """Whether rows do not say with which weight a rule contributes."""
        return False

    def total_text(self) -> str:
        """What the total of points stands for; empty where none add up."""
        return ""

    def total_cells(self, most: int = MOST_WHOLE) -> Cells | None:
        """Totals of points of two classes, and the probability of each; else None.

        They are all that occur if they are whole and at most so many.
        """
        return None

    def shown_totals(self, *totals: float) -> list[float]:
        """Totals as they are shown: of factors the products."""
        return [*totals]

    def contradictions(self) -> list[str]:
        """Which rules have points that contradict their own rates."""
        return []

    def matching(self, matrix: Floats, matches: Flags, places: list[int]) -> Matching:
        """For each row the rules that combine, and conditions that failed before."""
        for members in self.rules._form.members(matches):
            yield tuple(np.flatnonzero(members).tolist()), ()

    # Tables and notes

    def text(self, details: bool = False, paint: Paint | None = None) -> str:
        """The rules as they are printed."""
        width = render.page_width()
        table = self.table(details, width, paint)
        notes = render.wrap_notes([*self.notes(), *self.edit_lines()], width)
        return "\n\n".join(filter(None, [table, notes]))

    def html(self) -> str:
        """The rules as a notebook shows them."""
        edits = "; ".join(render.plain(edit.text) for edit in self.rules.edits)
        notes = " ".join([*self.notes(), *([f"{EDITED} {edits}"] if edits else [])])
        tables = self.tables(False, render.WIDTH)
        if bars := _bars(self.bars()):
            header, rows = tables[0]
            # Beside the points, or what is estimated.
            place = (
                3 if self.rules._form.is_sum else len(header) - (header[-1] == "rows")
            )
            header = [*header[:place], "", *header[place:]]
            lines = zip(rows, bars, strict=True)
            rows = [[*row[:place], (bar,), *row[place:]] for row, bar in lines]
            tables[0] = header, rows
        *others, last = tables
        return "".join(
            [html_table(cells) for cells in others] + [html_table(last, notes)]
        )

    def bars(self) -> list[Bar]:
        """What the bars beside the rules of a notebook show; empty without bars."""
        if not self.shows_estimates:
            return []
        bars, labels = [], list(self.outcome.labels or ())
        for rule in self.rules:
            known = self.outcome.estimate(rule)
            value = known.get("estimate", rule.prediction)
            number = labels.index(rule.prediction) if labels else 0
            if self.outcome.is_binary:
                number = int(rule.prediction == self.outcome.positive_class)
            interval = known["interval"] and tuple(known["interval"])
            bars.append(Bar(value, interval, number))
        return bars if any(bar.interval for bar in bars) else []

    def table(self, details: bool, width: int, paint: Paint | None = None) -> str:
        """The rules as tables that are at most so many columns wide."""
        tables = self.tables(details, width)
        text = "\n\n".join(table_text(cells, width, paint) for cells in tables)
        legend = render.wrap_notes(self.legend(), width) if details else ""
        return f"{text}\n\n{legend}" if legend else text

    def tables(self, details: bool, width: int) -> list[Cells]:
        """The tables of a print: rules, details where they need their own, totals."""
        tables = [self.cells(details=details)]
        if details:
            header, rows = tables[0]
            others = [j for j, title in enumerate(header) if title != "if"]
            lines: list[Sequence[Cell]] = [header, *rows]
            widths = [
                max(len(text) for line in lines for text in render.lines_of(line[j]))
                for j in others
            ]
            taken = sum(widths) + 2 * len(widths)
            if width - taken < LEAST_CONDITION:
                further = {} if self.shows_estimates else self._estimate_columns()
                further |= self._detail_columns()
                tables = [self.cells(), _cells(self._numbers() | _measured(further))]
        total = self.total_cells()
        return [*tables, total] if total else tables

    def cells(self, *, details: bool = False) -> Cells:
        """Header and cells of the table that print, HTML, Markdown and LaTeX show.

        The cell of the column "if" is a tuple with one condition per entry. A column in
        which nothing was measured is left out.
        """
        columns: dict[str, Any] = self._numbers()
        columns["if"] = [self._condition_lines(k) for k in range(self.rules.n_rules)]
        columns |= self.then_columns()
        if self.shows_estimates or details:
            columns |= _measured(self._estimate_columns())
        if details:
            columns |= _measured(self._detail_columns())
        return _cells(columns)

    def _numbers(self) -> dict[str, list[str]]:
        return {"#": [str(k + 1) for k in range(self.rules.n_rules)]}

    def _condition_lines(self, k: int) -> tuple[str, ...]:
        if k == len(self.rules.rules):
            return (self.default_text,)
        rule = self.rules.rules[k]
        if not rule.conditions:  # written by hand: it matches every row
            return (rule.text(),)
        first, *others = map(self.condition_text, rule.shown)
        return first, *(f"and {text}" for text in others)

    def condition_text(self, condition: Condition) -> str:
        """A condition for people: large numbers have separators."""
        words = self.rules._vocabulary.styled(is_grouped=True)
        return render.plain(condition.text(*words))

    def _estimate_columns(self) -> dict[str, list[str]]:
        n_rows = [
            "" if math.isnan(rule.n_rows) else render.count(rule.n_rows)
            for rule in self.rules
        ]
        return {**self.y_view.estimate_columns(self.rules), "rows": n_rows}

    def _detail_columns(self) -> dict[str, list[str]]:
        rules, outcome = self.rules, self.outcome
        columns = {
            **outcome.view.detail_columns(rules),
            "share": [_share_text(rule.share) for rule in rules],
            "coverage": [_share_text(rule.coverage) for rule in rules],
        }
        if columns["coverage"][:-1] == columns["share"][:-1]:
            del columns["coverage"]
        if self._shows_errors:
            columns[outcome.view.agreement_title] = [
                "" if math.isnan(rule.error) else outcome.view.agreement(rule.error)
                for rule in rules
            ]
        columns["alone"] = [outcome.view.alone(rule) for rule in rules]
        return columns

    @property
    def _shows_errors(self) -> bool:
        """Whether errors are shown: estimates of single rules do not imply them."""
        return self.shows_estimates and self.y_view.shows_errors(self.rules)

    def legend(self) -> list[str]:
        """What the columns of details mean."""
        header, _ = self.cells(details=True)
        predicts = "predicts" if self.rules._form.is_exclusive else "matches"
        return [
            f"{name}: {DETAILS[name].format(predicts=predicts)}"
            for name in header
            if name in DETAILS
        ]

    def notes(self) -> list[str]:
        """Notes below a table: how rules combine, and where estimates come from."""
        notes = [self.combination(), *self.contradictions(), self.estimates_text()]
        notes += [self.decision_text(), self.evidence()]
        return [render.plain(note) for note in notes if note]

    def estimates_text(self) -> str:
        """What the columns of estimates are, if their heads do not say it."""
        return self.y_view.note(self.rules) if self.shows_estimates else ""

    def edit_lines(self) -> list[str]:
        """The changes after the fit, as lines under a title."""
        lines = [f"- {render.plain(edit.text)}" for edit in self.rules.edits]
        return [EDITED, *lines] if lines else []

    def evidence(self) -> str:
        """Where the estimates come from; empty where nobody counted."""
        rules = self.rules
        is_counted = any(rule.n_rows == rule.n_rows for rule in rules)
        texts = [rules.evidence.text] if rules.evidence and is_counted else []
        is_of_model = any(rule.model_mean is not None for rule in rules)
        if rules.classes and is_of_model and all(rule.rates is None for rule in rules):
            rate = self.y_view.estimate_title()
            texts.append(f"{rate} is estimated by the model, not from y.")
        return " ".join(texts)

    def decision_text(self, head: str = "Predicts", at_least: str = ">=") -> str:
        """How a class is chosen from probabilities; empty if it is the most probable.

        Examples
        --------
        >>> from defragtrees import Rule, RuleList
        >>> rule = Rule((), "bad", (0.8, 0.2))
        >>> rules = RuleList((), rule, ("a",), "classification", ("good", "bad"),
        ...                  threshold=0.15)
        >>> print(rules._view.decision_text())
        Predicts bad if P(bad) >= 0.15.
        """
        rules = self.rules
        numbers = [str(k) for k, rule in enumerate(rules, 1) if rule.is_override]
        which = f"{'rule' if len(numbers) == 1 else 'rules'} {', '.join(numbers)}"
        by_hand = f" Set by hand: {which}." if numbers else ""
        if rules.threshold is not None:
            text = _threshold_text(self.outcome, rules.threshold, at_least)
            return f"{head} {text}.{by_hand}"
        if rules.costs is None:
            return ""
        return (
            f"{head} the class with the lowest expected cost. "
            f"Costs: {_costs_text(self.outcome, rules.costs)}.{by_hand}"
        )

    # One line or record per rule

    def rows(self) -> list[dict[str, Any]]:
        """One dict per rule with its texts and what was measured."""
        measured = "n_conditions", "coverage", "share", "error", "weight", "points"
        has_weights = self.rules._form.has_weights
        return [
            {
                **{"rule": k, "if": rule.text(), "then": self.then_text(rule)},
                **{name: getattr(rule, name) for name in (*measured, "n_rows")},
                **self.outcome.estimate(rule),
                "estimate_text": "" if has_weights else self.y_view.estimate(rule),
            }
            for k, rule in enumerate(self.rules, start=1)
        ]

    def rule_text(self, rule: Rule) -> str:
        """A rule in a list of changes: if ... then ..."""
        head = f"if {rule.text()} then" if rule.conditions else rule.text()
        return f"{head} {self.then_text(rule)}"

    def lines(self) -> list[str]:
        """One line per rule, with exact numbers; conditions can be read back."""
        rules, lines = self.rules, []
        for rule, row in zip(rules, self.rows(), strict=True):
            # Without separators, so that a program reads numbers too.
            then = row["then"] if rules.classes else row["then"].replace(",", "")
            head = f"if {row['if']} then" if rule.conditions else self.default_text
            text = f"{row['rule']}. {head} {then}"
            if row["estimate_text"]:
                text += f": {row['estimate_text']}"
            if rules._form.has_weights:
                text += f", weight {render.number(rule.weight)}"
            if not math.isnan(row["share"]):
                evidence = f"{render.percent(row['share'])} of rows"
                if self._shows_errors and not math.isnan(row["error"]):
                    evidence += f", {self.y_view.agreement_phrase(row['error'])}"
                text += f"  [{evidence}]"
            lines.append(render.plain(text))
        return lines

    def not_editable(self) -> str:
        """Why predictions cannot be changed, or rules not be moved; may be empty."""
        form = self.rules._form
        if form.editable["prediction"]:
            return "" if form.is_exclusive else UNORDERED
        return self.fixed

    # Explanations of predictions

    def explanations(self, matrix: Floats) -> Iterator[Explanation]:
        """An Explanation for each row of an encoded matrix."""
        form, matches = self.rules._form, self.rules._covers(matrix)
        predictions, places = form.predict(matches).tolist(), form.apply(matches)
        likely: list[Any] = [None] * len(places)
        ends: list[Any] = [None] * len(places)
        if form.has_probabilities:
            likely = [tuple(row) for row in form.predict_proba(matches).tolist()]
        if form.has_probabilities or form.rate_bands is not None:
            ends = [
                None if math.isnan(low) else (low, high)
                for low, high in form.rate_interval(matches).tolist()
            ]
        elif form.residuals and not form.is_exclusive:
            if len(form.residuals.pooled) * (1 - MOST_ROWS) > 2:
                ends = form.predict_interval(matches, MOST_ROWS).tolist()
        totals = [
            tuple(render.round_significant(value, 9) for value in row)
            for row in form.totals(matches).tolist()
        ]
        rules = places.tolist()
        columns = predictions, rules, self.matching(matrix, matches, rules)
        rows = zip(*columns, likely, ends, totals, strict=True)
        for prediction, rule, (combined, failed), *measured in rows:
            yield Explanation(prediction, rule, combined, failed, *measured)

    def explanation_text(self, row: Floats, explanation: Explanation) -> render.Lines:
        """The prediction of a row and its reasons, as text and HTML."""
        basis = self.basis(explanation)
        # A sum of exact points has digits that nobody wrote down.
        digits = 9 if self.rules._form.is_sum else None
        answer = self.y_view.prediction(explanation.prediction, digits)
        parts = [f"Prediction: {answer}", basis]
        head = render.plain("; ".join(filter(None, parts)))
        cells, width = self.explanation_cells(row, explanation), render.page_width()
        text = f"{render.wrap_notes([head], width)}\n\n{table_text(cells, width)}"
        return render.Lines(text, f"<p>{escape(head)}</p>{html_table(cells)}")

    def explanation_cells(self, row: Floats, explanation: Explanation) -> Cells:
        """The rules that match, with what each contributes, as a table."""
        header: list[str] = ["rule", "condition", "value"]
        rows: list[list[Cell]] = []
        for k in explanation.combined or (explanation.rule,):
            parts = self.contribution([*self.rules][k])
            header[3:] = parts
            values = [
                (self.condition_text(c), self._value_text(row, c.feature))
                for c in [*self.rules][k].shown
            ]
            for i, pair in enumerate(values or [(self.default_text, "")]):
                added = parts.values() if i == 0 else [""] * len(parts)
                cells = ["" if i else str(k + 1), *pair, *added]
                rows.append([render.plain(cell) for cell in cells])
        return header, rows

    def basis(self, explanation: Explanation) -> str:
        """Probability, interval and rows of a prediction; empty if not counted."""
        rule = [*self.rules][explanation.rule]
        if explanation.combined:  # what was counted of one rule is not true of all
            rule = Rule((), explanation.prediction)
        given = explanation.probabilities, explanation.interval
        return self.y_view.basis(rule, *given)

    def explanation_data(self, explanation: Explanation) -> dict[str, Any]:
        """The rules that combine in a row, as plain data for JSON."""
        pairs = [(k + 1, [*self.rules][k].weight) for k in explanation.combined]
        averaged = [{"rule": number, "weight": weight} for number, weight in pairs]
        return {"averaged": averaged} if averaged else {}

    def _value_text(self, row: Floats, feature: int) -> str:
        value = float(row[feature])
        if math.isnan(value):
            return "missing"
        labels = (self.rules.categories or ())[feature]
        scale: Scale = self.rules._vocabulary.scales[feature]
        if labels is None:
            return dataclasses.replace(scale, is_grouped=True).text(value)
        place = int(value)
        return (
            str(scale.label(labels[place]))
            if place < len(labels)
            else "another category"
        )

    # Scores and calibration; `scores` are what `evaluate` gives

    def size_text(self, scores: Mapping[str, Any]) -> str:
        """Number of rules and conditions, and how many match per row."""
        if scores["n_rules"] == 1:
            return "1 rule without conditions."
        mean = f"{scores['mean_conditions']:.1f} conditions each"
        overlap = f"{scores['overlap']:.2f}"
        share = render.share(scores["coverage"])
        ending = self.size.format(coverage=share, overlap=overlap)
        return f"{scores['n_rules']} rules with {mean}{ending}"

    def scores_text(
        self, scores: Mapping[str, Any], where: str, is_new: bool = False
    ) -> str:
        """The size of the rules, and their scores beside those of the model, if any.

        `where` names the rows; `is_new`: the model was not trained on them.
        """
        header, lines = self.score_cells(scores)
        header[0] = f"on {where}"
        if "model_error" in scores and not is_new:
            header[-1] += f" ({MAYBE_TRAINED})"
        width = render.page_width()
        parts = [render.wrap_notes([self.size_text(scores)], width)]
        parts += [render.text_table(header, lines)] if lines else []
        notes = self.score_notes(scores)
        ends = "error_low" in scores and self.y_view.error_range(scores)
        if is_new and ends:
            name = self.outcome.error_name
            notes.insert(0, f"95% interval of the {name} of the rules: {ends}.")
        parts.append(render.wrap_notes([" ".join(notes)], width))
        return "\n\n".join(filter(None, parts))

    def score_cells(
        self, scores: Mapping[str, Any], is_short: bool = False
    ) -> tuple[list[str], list[list[str]]]:
        """Scores of the rules beside those of the model, as header and cells.

        The short table has only those measures that fit into a narrow table.
        """
        outcome, has_costs = self.outcome, self.rules.costs is not None
        sources = [
            (label, prefix)
            for label, prefix in SOURCES
            if f"{prefix}fidelity" in scores or f"{prefix}error" in scores
        ]
        measures = outcome.view.measure_titles(
            narrow=is_short,
            also="expected_cost" if has_costs else None,
            has_costs=has_costs,
            is_card=self.rules._form.is_sum and outcome.is_binary,
        )
        measures["fidelity"] = "agreement with the model"
        measures["correlation"] = "correlation of probabilities"
        lines = []
        for name, label in measures.items():
            cells = []
            for _, prefix in sources:
                value = scores.get(f"{prefix}{name}")
                text = "" if value is None else outcome.view.measure(value)
                cells.append("–" if value is not None and math.isnan(value) else text)
            if any(cells):
                lines.append([label, *cells])
        return ["", *(label for label, _ in sources)], lines

    def score_notes(
        self, scores: Mapping[str, Any], is_short: bool = False
    ) -> list[str]:
        """What one has to know to read a table of scores, in sentences.

        Of a short table, without those on measures that it leaves out.
        """
        outcome, form, notes = self.outcome, self.rules._form, []
        names = [m.label for m in outcome.measures() if m.is_of_class]
        if names and "precision" in scores and not is_short:
            whose = "means over the classes, as is AUC"
            if outcome.is_binary:
                whose = f"those of {self._class_name(outcome.positive_class)}"
            of_class = f"{', '.join(names[:-1])} and {names[-1]} are ".capitalize()
            notes.append(f"{of_class}{whose}.")
        if form.has_costs and "model_error" in scores:
            notes.append("The model is measured with the same decision.")
        if "fidelity_of_constant" in scores:
            share = render.percent(scores["fidelity_of_constant"])
            notes.append(
                f"One class for all rows would agree with the model on {share}."
            )
        missing = form.unpredicted_classes
        if missing:
            labels = ", ".join(map(self._class_name, missing[:5]))
            notes.append(f"No rule predicts {labels}{', ...' if missing[5:] else ''}.")
        return notes

    def _class_name(self, label: Any) -> str:
        return render.plain(self.y_view.prediction(label))

    def calibration_text(self, rows: Sequence[Mapping[str, Any]], where: str) -> str:
        """Estimates of each rule or total and what is observed in other rows.

        `rows` are what `metrics.calibration` gave, and `where` names the other rows.
        """
        outcome = self.outcome
        text = outcome.view.rate
        is_many = outcome.link == "softmax"
        lines, head = [], ""
        for row in rows:
            head, cell = calibrated_unit(row, self.rules)
            line = [cell] if head else []
            if is_many:
                line.append(self._class_name(row["class"]))
            if row["n_rows"]:
                line += [text(row[name]) for name in ("estimated", "observed")]
                line.append(f"{text(row['low'])} to {text(row['high'])}")
            else:
                line += [""] * 3
            lines.append([*line, f"{row['n_rows']:,.6g}"])
        header = [*([head] if head else []), *(["class"] if is_many else [])]
        header += ["estimated", "observed", "95% interval", "rows"]
        title = f"Estimated and observed on {where}"
        if outcome.is_binary:
            title += f", for {self._class_name(outcome.positive_class)}"
        mean = f"Mean difference over rows: {outcome.view.gap(mean_gap(rows))}."
        return f"{title}:\n{render.text_table(header, lines)}\n{mean}"


class ListView(View):
    """What a rule list prints."""

    usage: ClassVar[str] = (
        "Apply the rules in order. The first rule whose conditions all match "
        "predicts; skip the rules after it."
    )
    reading: ClassVar[str] = (
        "The rules apply in order: the first one that matches a row predicts it."
    )
    size: ClassVar[str] = (
        "; all but the default rule match {coverage} of the rows, {overlap} per row."
    )

    def combination(self) -> str:
        is_one = len(self.rules.rules) < 2
        return "" if is_one else "Rules apply in order; the first match predicts."

    def matching(self, matrix: Floats, matches: Flags, places: list[int]) -> Matching:
        # Of each rule the first condition that fails, in rows where one does.
        failing = [
            np.argmin([c.covers(matrix[:, c.feature]) for c in rule.conditions], axis=0)
            if rule.conditions
            else np.zeros(len(matrix), int)
            for rule in self.rules.rules
        ]
        for i, place in enumerate(places):
            first = [self.rules.rules[k].shown[failing[k][i]] for k in range(place)]
            yield (), tuple(enumerate(first))

    def explanation_cells(self, row: Floats, explanation: Explanation) -> Cells:
        header, rows = super().explanation_cells(row, explanation)
        rows = [[*line, "yes"] for line in rows]
        for k, condition in explanation.failed if self.rules._form.is_ordered else ():
            value = self._value_text(row, condition.feature)
            line = [str(k + 1), self.condition_text(condition), value, "no"]
            rows.append([render.plain(cell) for cell in line])
        return [*header, "match"], rows


class TreeView(ListView):
    """What the leaves of a tree print."""

    usage: ClassVar[str] = "Exactly one rule matches each row and predicts it."
    reading: ClassVar[str] = (
        "The rules are the leaves of one tree: exactly one of them matches each row, "
        "and it predicts."
    )
    size: ClassVar[str] = "; exactly one of them matches each row."

    def combination(self) -> str:
        return ""


class StandaloneView(View):
    """What standalone rules print."""

    usage: ClassVar[str] = (
        "Each rule stands alone: its rate is that of all rows that it matches. "
        "Where several rules match, the prediction is their mean, weighted by rows."
    )
    reading: ClassVar[str] = usage
    size: ClassVar[str] = (
        ", each with the rate of all rows that it matches; they match {coverage} of "
        "the rows, {overlap} per row."
    )
    fixed: ClassVar[str] = (
        "Standalone rules have no order, and where several match their probabilities "
        "decide. A rule can be dropped and its conditions changed."
    )

    def combination(self) -> str:
        if not self.rules.rules:
            return ""
        return (
            "Each rule stands alone. Where several match, the prediction is their "
            "mean, weighted by rows."
        )

    def contribution(self, rule: Rule) -> dict[str, str]:
        parts = {**self.y_view.contribution(rule), "rows": render.count(rule.n_rows)}
        if self.shows_weights:
            parts["weight"] = render.rounded(rule.weight)
        return parts

    @property
    def shows_weights(self) -> bool:
        # The mean is by what the rows are worth.
        return any(abs(one.weight - one.n_rows) > 0 for one in self.rules.rules)

    def matching(self, matrix: Floats, matches: Flags, places: list[int]) -> Matching:
        for members, failed in super().matching(matrix, matches, places):
            yield members if len(members) > 1 else (), failed


class AverageView(View):
    """What averaged rules print."""

    default_text: ClassVar[str] = "always"
    usage: ClassVar[str] = (
        "The prediction is the mean of the predictions of all rules that match, "
        "weighted by their weights."
    )
    reading: ClassVar[str] = usage
    size: ClassVar[str] = (
        "; on average {overlap} of them match per row, and the last one matches all. "
        "The prediction is their mean by weight."
    )
    fixed: ClassVar[str] = (
        "Averaged rules have no order and predict together. A rule can be dropped and "
        "its conditions changed."
    )

    def combination(self) -> str:
        return "The prediction is the mean of all rules that match, by weight."

    def then_text(self, rule: Rule, is_short: bool = False) -> str:
        return super().then_text(rule, True) if is_short else self.y_view.outputs(rule)

    def then_columns(self) -> dict[str, list[str]]:
        # The table has a column for the probability.
        predictions = [self.y_view.prediction(rule.prediction) for rule in self.rules]
        weights = [render.rounded(rule.weight) for rule in self.rules]
        return {self.y_view.prediction_title: predictions, "weight": weights}

    def contribution(self, rule: Rule) -> dict[str, str]:
        weight = {"weight": render.rounded(rule.weight)}
        return {**self.y_view.contribution(rule), **weight}


class PointsView(View):
    """What a scorecard prints."""

    default_text: ClassVar[str] = "base"
    shows_estimates: ClassVar[bool] = False  # rates of single conditions do not add up
    usage: ClassVar[str] = (
        "Add up the points of the base and of every rule that matches."
    )
    reading: ClassVar[str] = (
        "The points of the base and of every rule that matches add up."
    )
    size: ClassVar[str] = (
        "; on average {overlap} of them match per row. Their points and those of the "
        "base add up."
    )
    fixed: ClassVar[str] = (
        "Points add up in any order, so rules cannot be moved; the points of each can "
        "be changed."
    )
    points_name = property(lambda self: "points")
    no_points = property(lambda self: "0 points")  # of values in no bin

    @property
    def _form(self) -> "PointsForm":
        return cast("PointsForm", self.rules._form)

    def bars(self) -> list[Bar]:
        if self.outcome.n_points > 1:
            return []
        points = [rule.points[0] for rule in self.rules if rule.points]
        if is_by_column(self.rules):
            points = [one.points if one.conditions else 0.0 for one in self.bins()]
        return [Bar(value, None, int(value > 0)) for value in points]

    def combination(self) -> str:
        text = self.y_view.combination(self._form.unit, self._form.origin)
        if is_by_column(self.rules):
            bins = "one bin of each characteristic"
            if any(len(rule.conditions) > 1 for rule in self.rules.rules):
                bins += ", and of the rules below them that match"
            text = text.replace("all rules that match", bins)
            if self.outcome.is_binary and not math.isnan(bins_of(self.rules)[-1].total):
                label = self.y_view.label(self._form.scored_class)
                text += f" WoE is the weight of evidence of {label}."
            shown = {b.conditions for b in self.bins()}
            hidden = [b for b in bins_of(self.rules) if b.feature is not None]
            if any(b.conditions not in shown for b in hidden):
                text += f" Values that are in no bin have {self.no_points}."
        if self._form.tails:
            form = self._form
            ends = sorted((end / form.unit + form.origin, by) for end, by in form.tails)
            below, above = (
                f"{word} {render.rounded(total)} a point counts {render.rounded(by)}"
                for word, (total, by) in zip(("below", "above"), ends, strict=True)
            )
            text += f" At the ends the data say otherwise: {below}, {above}."
        return render.plain(text)

    def tables(self, details: bool, width: int) -> list[Cells]:
        if details or not is_by_column(self.rules):
            return super().tables(details, width)
        header, rows = self.bin_cells()
        # The rules whose points a bin adds up are left out where there is no room.
        *others, last = [
            max(map(len, column)) for column in zip(header, *rows, strict=True)
        ]
        others[:2] = [min(one, LEAST_BIN) for one in others[:2]]
        if sum(others) + 2 * len(others) + last > width:
            header, rows = header[:-1], [row[:-1] for row in rows]
        tables, total = [(header, rows)], self.total_cells()
        header, rows = self.cells()
        is_below = [len(rule.conditions) != 1 for rule in self.rules]
        if any(is_below[:-1]):
            below = [row for row, is_own in zip(rows, is_below, strict=True) if is_own]
            header = [ALSO if title == "if" else title for title in header]
            tables.append((header, below))
        return [*tables, total] if total else tables

    def bin_cells(self) -> Cells:
        """The table by characteristic, with numbers of the rules whose points it has.

        Below the name of a characteristic is its information value.
        """
        found, [*_, every] = self.bins(), bins_of(self.rules)
        evidence = [b.woe(every, 1 if self._form.unit > 0 else -1) for b in found]
        heads = list[str]()
        for name, group in itertools.groupby(
            zip(self.bin_lines(), evidence, strict=True), lambda line: line[0][0]
        ):
            own = [iv for _, (_, iv) in group]
            head = [name, f"IV {sum(own):.2f}"] if sum(own) else [name]
            heads += [*head, *[""] * len(own)][: len(own)]
        lines = [
            self.contribution(Rule(b.conditions, None, points=(b.points,)))
            for b in found
        ]
        rate, means = self.y_view.rate, [b.mean for b in found]
        if self.outcome.is_binary:
            rate, is_second = render.percent, self.outcome.positive_index
            means = [mean if is_second else 1 - mean for mean in means]
        counts = {
            "rows": [
                _unless_nan(lambda n: render.count(round(n)), b.n_rows) for b in found
            ],
            "share": [_share_text(b.n_rows / (every.n_rows or 1.0)) for b in found],
            self.y_view.estimate_title() if self.outcome.is_binary else "mean": [
                *(_unless_nan(rate, mean) for mean in means)
            ],
            "WoE": [
                "" if b == every else _unless_nan("{:+.2f}".format, woe)
                for b, (woe, _) in zip(found, evidence, strict=True)
            ],
        }
        columns = {
            "characteristic": heads,
            "bin": [text for _, text, _ in self.bin_lines()],
            **{title: [line[title] for line in lines] for title in lines[0]},
            **_measured(counts),
            "rule": [", ".join(str(k + 1) for k in b.rules) for b in found],
        }
        return _cells(columns)

    def bin_lines(self, **style: bool) -> list[tuple[str, str, str]]:
        """The characteristic, the bin and its points, of all bins that are shown."""
        words = self.rules._vocabulary.styled(is_grouped=True, **style)
        return [
            (
                BASE if b.feature is None else words.names[b.feature],
                "" if b.feature is None else bin_text(b.conditions[0], words),
                self.y_view.points((b.points,), self._form.unit),
            )
            for b in self.bins()
        ]

    def bins(self) -> list[Bin]:
        """The lines of the table by characteristic, without values nobody has.

        The base is the last one unless other rules follow.
        """
        *found, base = bins_of(self.rules)
        bins = [b for b in found if b.feature is not None and is_shown(self.rules, b)]
        is_all = all(b.feature is not None for b in found)
        return [*bins, base] if is_all else bins

    def total_text(self) -> str:
        return self.y_view.total(self._form.unit, self._form.origin)

    def then_text(self, rule: Rule, is_short: bool = False) -> str:
        points = rule.points or ()
        if is_short:
            points = tuple(render.round_significant(value, 3) for value in points)
        return self.y_view.points(points, self._form.unit)

    def then_columns(self) -> dict[str, list[str]]:
        lines = [self.contribution(rule) for rule in self.rules]
        return {title: [line[title] for line in lines] for title in lines[0]}

    def contribution(self, rule: Rule) -> dict[str, str]:
        return self.y_view.point_cells(rule, self._form.unit)

    def total_cells(self, most: int = MOST_WHOLE) -> Cells | None:
        rules, outcome, form = self.rules, self.outcome, self._form
        if outcome.link == "log":
            return self._rate_cells(most)
        if not outcome.is_binary or not rules.rules:
            return None
        totals = _shown_totals(rules, most)
        values = form.values_of(totals[:, None])
        likely = outcome.linked(values)
        chosen = outcome.decide_points(values, rules.threshold, rules.costs)
        ends: Any = [None] * len(totals)
        if rules.rate_bands is not None:
            ends = form.band_ends(likely[:, 1])
        rows: list[list[Cell]] = []
        for total, shares, end, label in zip(totals, likely, ends, chosen, strict=True):
            digits = 0 if end is None else render.percent_digits(*end)
            rate = render.percent(shares[outcome.positive_index], digits)
            interval = [] if end is None else [render.percent_range(*end)]
            rows.append(
                [render.grouped(total), rate, *interval, self._class_name(label)]
            )
        interval = [outcome.view.interval_title] if rules.rate_bands else []
        return ["total", outcome.view.estimate_title(), *interval, "then"], rows

    def _rate_cells(self, most: int) -> Cells | None:
        """Totals, the rate of each, its interval, and what is predicted beside it."""
        further, bands = self.outcome.further_outputs(self._form), self.rules.rate_bands
        if not self.rules.rules:
            return None
        totals = _shown_totals(self.rules, most)
        rates = self.outcome.linked(self._form.values_of(totals[:, None]))[:, 0]
        columns: dict[str, list[Cell]] = {
            "total": [render.grouped(total) for total in totals],
            self.y_view.prediction_title: [render.rounded(rate) for rate in rates],
        }
        if bands is not None:
            ends = bands.interval(rates, is_share=False)
            columns[RATE_INTERVAL] = [render.number_range(*pair) for pair in ends]
        for name, by in further.items():
            columns[name] = [render.percent(math.exp(-rate * by)) for rate in rates]
        return _cells(columns)

    def contradictions(self) -> list[str]:
        outcome, rates = self.outcome, self.rules.default.rates
        if not outcome.is_binary or rates is None:
            return []
        place = int(outcome.positive_index or 0)
        every, label = rates[place], outcome.view.label(outcome.positive_class)
        near = min(LEAST_APART, LEAST_RATIO * min(rates))
        is_for_it = self._form.scored_class == outcome.positive_class
        notes = []
        for k, rule in enumerate(self.rules.rules, start=1):
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

    def explanation_cells(self, row: Floats, explanation: Explanation) -> Cells:
        header, rows = super().explanation_cells(row, explanation)
        totals = map(render.grouped, self.shown_totals(*explanation.totals))
        return header, [*rows, ["", self.total_name, "", *totals]]

    def explanation_data(self, explanation: Explanation) -> dict[str, Any]:
        pairs = [(k + 1, [*self.rules][k].points or ()) for k in explanation.combined]
        added = [{"rule": number, "points": list(points)} for number, points in pairs]
        return {"added": added, "total": list(explanation.totals)}


class FactorsView(PointsView):
    """What a scorecard prints whose points are the logarithms of factors."""

    is_product: ClassVar[bool] = True
    total_name: ClassVar[str] = "product"
    usage: ClassVar[str] = (
        "Multiply the base by the factors of every rule that matches."
    )
    reading: ClassVar[str] = (
        "The base and the factors of every rule that matches are multiplied."
    )
    size: ClassVar[str] = (
        "; on average {overlap} of them match per row. Their factors and the base are "
        "multiplied."
    )
    fixed: ClassVar[str] = (
        "Factors are multiplied in any order, so rules cannot be moved; the factor of "
        "each can be changed."
    )

    @property
    def points_name(self) -> str:
        return self.y_view.point_words[1]

    @property
    def no_points(self) -> str:
        return f"a {self.y_view.point_words[0]} of 1"

    def shown_totals(self, *totals: float) -> list[float]:
        return [render.round_significant(factor(total), 3) for total in totals]

    def total_text(self) -> str:
        return ""

    def _rate_cells(self, most: int) -> Cells | None:
        """The same without totals, for some rates."""
        found = super()._rate_cells(most)
        if found is None or len(found[0]) < 3:
            return None
        header, rows = found
        rates = {row[1]: row[1:] for row in rows}
        return header[1:], [*rates.values()]


VIEWS: dict[str, type[View]] = {
    "list": ListView,
    "tree": TreeView,
    "standalone": StandaloneView,
    "points": PointsView,
    "average": AverageView,
}


# Parts of tables


def _cells(columns: Mapping[str, Sequence[Cell]]) -> Cells:
    def plain(cell: Cell) -> Cell:
        if isinstance(cell, tuple):
            return tuple(map(render.plain, cell))
        return render.plain(cell)

    rows = zip(*columns.values(), strict=True)
    header = [*map(render.plain, columns)]
    return header, [[plain(cell) for cell in row] for row in rows]


def _measured(columns: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name: texts for name, texts in columns.items() if any(texts)}


def _unless_nan(write: Callable[[float], str], value: float) -> str:
    return "" if math.isnan(value) else write(value)


def _share_text(value: float) -> str:
    return _unless_nan(render.percent, value)


def left_columns(header: Sequence[str]) -> list[int]:
    """The columns of a table that have text and are aligned to the left."""
    return [j for j, title in enumerate(header) if title in TEXT_COLUMNS]


def table_text(cells: Cells, width: int, paint: Paint | None = None) -> str:
    """Cells as a table that is at most so many columns wide."""
    header, rows = cells
    left = left_columns(header)
    return render.text_table(header, rows, left=left, width=width, paint=paint)


def _bars(bars: Sequence[Bar]) -> list[render.Lines]:
    """The bars of a table as HTML, on one scale; none if nothing was measured.

    Rates begin at 0. Colours are seen on light and on dark pages.
    """
    ends = [end for bar in bars for end in (bar.value, *(bar.interval or ()))]
    if not ends or not np.isfinite(ends).all():
        return []
    low, high = min(0.0, *ends), max(*ends, 0.0)
    if low == 0.0 and high <= 1.0:
        high = 1.0 if high > WIDE else high
    scale = 100 / ((high - low) or 1.0)

    def part(start: float, end: float, look: str) -> str:
        first, last = sorted([(start - low) * scale, (end - low) * scale])
        return (
            f'<div style="position:absolute;left:{first:.1f}%;'
            f'width:{max(last - first, 1.5):.1f}%;{look}"></div>'
        )

    made = []
    for bar in bars:
        colour = f"background:{render.COLOURS[bar.colour % len(render.COLOURS)]};"
        look = f"{colour}opacity:{0.5 if bar.interval else 0.7};height:100%"
        parts = part(0.0, bar.value, look) if bar.value else ""
        if bar.interval is not None:
            line = "background:currentColor;height:.2em;top:.35em"
            parts += part(bar.interval[0], bar.interval[1], line)
        frame = (
            "position:relative;width:7em;height:.9em;background:rgba(128,128,128,.15)"
        )
        made.append(render.Lines("", f'<div style="{frame}">{parts}</div>'))
    return made


def html_table(cells: Cells, notes: str = "") -> str:
    """Cells and what stands below them, as HTML."""
    header, rows = cells
    return render.html_table(header, rows, notes, left_columns(header))


def _shown_totals(rules: Any, most: int) -> Floats:
    """Totals for a table: all that occur, or a few in even steps."""
    totals = totals_of(rules)
    is_whole = bool((totals == np.floor(totals)).all())
    if len(totals) <= (most if is_whole else MOST_TOTALS):
        return totals
    span = totals[-1] - totals[0]
    power = 10.0 ** math.floor(math.log10(span / MOST_TOTALS))
    factors = (1, 2, 5, 10) if power == 1 else (1, 2, 2.5, 5, 10)
    step = next(f * power for f in factors if span <= f * power * MOST_TOTALS)
    first, last = math.ceil(totals[0] / step), math.floor(totals[-1] / step)
    # Rounded, as 3 * 0.1 has digits that nobody wants to read.
    return np.array(
        [render.round_significant(k * step, 9) for k in range(first, last + 1)]
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


def mean_gap(rows: Sequence[Mapping[str, Any]]) -> float:
    """Mean difference between estimates and observations, by the rows of each."""
    seen = [row for row in rows if row["n_rows"]]
    gaps = [row["n_rows"] * abs(row["estimated"] - row["observed"]) for row in seen]
    return float(sum(gaps) / sum(row["n_rows"] for row in seen))


def calibrated_unit(row: Mapping[str, Any], rules: "RuleModel") -> tuple[str, str]:
    """What a line of `metrics.calibration` is about, and which one of these.

    Examples
    --------
    >>> calibrated_unit({"rule": 2}, rules)
    ('rule', '2')
    """
    if "rule" in row:
        return "rule", str(row["rule"])
    if "total" not in row:
        return "", ""
    low, high = map(render.rounded, rules._view.shown_totals(*row["total"]))
    return rules._view.total_name, low if low == high else f"{low} to {high}"
