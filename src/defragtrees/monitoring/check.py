"""Drift check: new rows compared with the training rows of the rules.

Two-sample tests compare the share of rows and the rate of each rule, and each column
that the rules use, with the profile of the training rows in the rule file. Holm's
method limits the probability of any false alarm to `level`.

The search chose the rules for their extreme rates, so rates of the training rows
overstate the difference. Therefore the rows behind a training rate count as fewer: they
are divided by `1 + 3 * conditions`, with at least the mean number of conditions.
"""

import itertools
import math
import textwrap
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees.monitoring.page import page
from defragtrees.monitoring.two_samples import (
    beyond_p,
    holm,
    larger_mean_p,
    mean_p,
    new_category_p,
    same_shares_p,
)
from defragtrees.rules.model import RuleModel

SEARCHED = 3  # how much each condition divides the rows behind a training rate
ERROR_SEARCHED = 2  # the same for the error of all rules, which is also corrected
CONDITION_ROWS = 3  # degrees of freedom of a searched threshold; as in intervals
LEVEL = 0.05
WIDTH = 80  # of the printed check
COLUMNS = (20, 16, 15, 15, 6)  # widths of its table, if it must be wrapped
WHAT = {
    "coverage": "share of rows",
    "rate": "rate",
    "mean": "mean",
    "target": "distribution",
    "error": "error",
    "agreement": "agreement with the model",
    "column": "distribution",
    "missing": "missing values",
    "range": "values outside the range",
    "category": "new categories",
}


@dataclass(frozen=True)
class Finding:
    """One test: a measure on the training rows and on the new rows.

    Parameters
    ----------
    kind : str
        A key of `WHAT`.
    about : str
        The rule or column tested.
    then, now : str
        The value on the training rows and on the new rows.
    p : float
        The p-value of the difference.
    rule : int, optional
        The number of the rule, from 1.
    column : str, optional
    adjusted : float
        The p-value adjusted for the number of tests.
    is_moved : bool
        Whether the adjusted p-value is at most the level.
    """

    kind: str
    about: str
    then: str
    now: str
    p: float
    rule: int | None = None
    column: str | None = None
    adjusted: float = 1.0
    is_moved: bool = False

    def to_dict(self):
        """The finding as a dict of plain numbers and texts."""
        return {
            "kind": self.kind,
            "rule": self.rule,
            "column": self.column,
            "then": self.then,
            "now": self.now,
            "p": self.p,
            "adjusted_p": self.adjusted,
            "moved": self.is_moved,
        }

    @property
    def text(self):
        """The finding as a sentence."""
        return f"{self.about}: {WHAT[self.kind]} {self.now}, was {self.then}"


@dataclass(frozen=True, eq=False)
class Check:
    """Result of a drift check: new rows compared with the training rows.

    Parameters
    ----------
    findings : tuple of Finding
    n_then, n_now : float
        Number of training rows and of new rows.
    level : float
        Probability of any false alarm.
    predictions : tuple of (str, float or None, float)
        For each class, the share of rows for which it is predicted, in training and
        now; for numbers, the mean prediction.
    notes : tuple of str
        Tests that were not possible, and why.
    """

    findings: tuple[Finding, ...]
    n_then: float
    n_now: int
    level: float = LEVEL
    predictions: tuple[tuple[str, float | None, float], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def moved(self):
        """The findings whose difference is significant."""
        return tuple(finding for finding in self.findings if finding.is_moved)

    @property
    def has_moved(self):
        """Whether any difference is significant."""
        return bool(self.moved)

    def __bool__(self):
        return self.has_moved

    def __repr__(self):
        return f"<Check: {len(self.moved)} of {len(self.findings)} tests show drift>"

    @property
    def verdict(self):
        """One sentence: whether the rows have drifted."""
        rows = (
            f"{render.plural(self.n_now, 'new row')} against "
            f"{render.count(self.n_then)} training rows; false alarms in at most "
            f"{100 * self.level:g} % of checks"
        )
        tests = render.plural(len(self.findings), "test")
        if not self.moved:
            return f"No drift in {tests} ({rows})."
        return f"Drift in {len(self.moved)} of {tests} ({rows})."

    def to_dict(self):
        """The check as a dict of plain numbers, texts and lists."""
        return {
            "moved": self.has_moved,
            "verdict": self.verdict,
            "level": self.level,
            "n_then": self.n_then,
            "n_now": self.n_now,
            "findings": [finding.to_dict() for finding in self.findings],
            "predictions": [
                {"prediction": name, "then": then, "now": now}
                for name, then, now in self.predictions
            ],
            "notes": list(self.notes),
        }

    def to_html(self, title="Drift check"):
        """The check as one HTML page, without scripts and links."""
        return page(self, title)

    def __str__(self):
        parts = ["\n".join(textwrap.wrap(self.verdict, WIDTH))]
        if self.moved:
            parts.append(_text_table(*self._cells(self.moved)))
        notes = [f"Note: {render.plain(note)}." for note in self.notes]
        parts += ["\n".join(textwrap.wrap(note, WIDTH)) for note in notes]
        return "\n\n".join(parts)

    def _repr_html_(self):
        notes = " ".join([self.verdict, *(f"Note: {note}." for note in self.notes)])
        return render.html_table(*self._cells(self.moved or self.findings), notes)

    def _cells(self, findings):
        """Header and rows of a table of findings."""
        header = ["rule or column", "measure", "training", "new rows", "p"]
        rows = [
            [
                render.plain(one.about),
                WHAT[one.kind],
                render.plain(one.then),
                render.plain(one.now),
                "<0.001" if one.adjusted < 0.001 else f"{one.adjusted:.3f}",
            ]
            for one in findings
        ]
        return header, rows


def _text_table(header, rows):
    """A table of text whose cells are wrapped if it is too wide."""
    text = render.text_table(header, rows)
    if max(map(len, text.splitlines())) <= WIDTH:
        return text
    lines = []
    for row in rows:
        cells = [
            textwrap.wrap(cell, width) or [""]
            for cell, width in zip(row, COLUMNS, strict=True)
        ]
        lines += itertools.zip_longest(*cells, fillvalue="")
    return render.text_table(header, lines)


def check(
    rules: RuleModel,
    X: Any,
    y: Any = None,
    *,
    ensemble: Any = None,
    level: float = LEVEL,
) -> Check:
    """Compare new rows with the training rows of rules; see `RuleModel.check`.

    With y the rates of the rules are tested too, with `ensemble` its agreement with
    them. The probability of any false alarm is at most `level`.
    """
    matrix = rules.encode(X)
    predicted = None if ensemble is None else np.ravel(ensemble.predict(X))
    if y is not None:
        y = rules.outcome.check(np.ravel(y))
    names = getattr(X, "columns", None)
    notes = () if names is None else missing_columns(rules, names)
    return check_encoded(rules, matrix, y, predicted, level, notes)


def check_encoded(rules, matrix, y=None, predicted=None, level=LEVEL, notes=()):
    """`check` of encoded rows; `predicted` are predictions of the model, if any."""
    if not 0 < level < 1:
        raise ValueError(f"level must be above 0 and below 1; got {level!r}.")
    if not len(matrix):
        raise ValueError("A drift check needs at least one row; got none.")
    if rules.training is not None and not rules.training.n_rows > 0:
        raise ValueError(
            "The rules keep a profile of 0 training rows, and nothing can be compared "
            "with it. Fit or refit them first."
        )
    if y is not None:
        if len(y) != len(matrix):
            raise ValueError(
                f"X and y must have the same number of rows; got {len(matrix)} and "
                f"{len(y)}."
            )
        rules.outcome.check_known(y)
    compared = _Comparison(rules, matrix, y, predicted)
    findings = [
        *compared.of_rules(),
        *compared.of_columns(),
        *compared.of_target(),
        *compared.of_agreement(),
    ]
    if not findings:
        raise ValueError(
            "There is nothing to test: the rules have no counts of training rows. Fit "
            "or refit them first."
        )
    adjusted = holm([finding.p for finding in findings])
    findings = tuple(
        replace(finding, adjusted=p, is_moved=p <= level)
        for finding, p in zip(findings, adjusted, strict=True)
    )
    shares, notes = tuple(compared.predictions()), (*notes, *compared.notes())
    return Check(findings, compared.n_then, len(matrix), level, shares, notes)


def missing_columns(rules, names):
    """A note on columns of the training data that a table lacks, if there are any."""
    gone = [name for name in rules.feature_names if name not in set(names)]
    if not gone:
        return ()
    shown = ", ".join(map(repr, gone[:5])) + (", …" if gone[5:] else "")
    return (f"columns that no rule uses are missing: {shown}",)


class _Comparison:
    """The tests of new rows against the profile of the training rows."""

    def __init__(self, rules, matrix, y, predicted):
        self.rules, self.matrix, self.y = rules, matrix, y
        self.model_predictions = predicted
        self.held = rules._covers(matrix)
        self.members = rules._members(self.held)
        self.n_then = _n_rows(rules)

    def notes(self):
        """Tests that are not possible, and why."""
        if self.rules.training is None:
            yield (
                "columns are not tested, as the rules have no profile of their "
                "training rows; save them with it, or refit"
            )
        if any(math.isnan(rule.n_rows) for rule in self.rules):
            yield "edited rules without new counts are not tested; refit to test them"
        has_rates = any(rule.rates is not None for rule in self.rules)
        reports_rates = self.rules.outcome.statistic == "rates"
        if self.y is not None and reports_rates and not has_rates:
            yield "rates are not tested, as the rules were fitted without y"

    def predictions(self):
        """Share of rows with each prediction, or mean prediction, then and now."""
        rules, outcome = self.rules, self.rules.outcome

        def columns(predictions):
            return outcome.indicators(outcome.encode_any(predictions)).T

        of_rules = columns(np.array([rule.prediction for rule in rules]))
        now = columns(rules._predict(rules._covers(self.matrix)))
        total = sum(rule.n_rows for rule in rules)
        # NaN where a rule was not counted.
        has_then, then = rules.is_exclusive and total > 0, None
        for k, name in enumerate(outcome.output_names):
            if has_then:
                pairs = zip(rules, of_rules[k].tolist(), strict=True)
                then = sum([rule.n_rows * value for rule, value in pairs]) / total
            yield name, then, float(now[k].mean())

    def of_rules(self):
        """Coverage and rate of each rule."""
        for k, rule in enumerate(self.rules):
            if math.isnan(rule.n_rows) or math.isnan(self.n_then):
                continue
            members = self.members[:, k]
            about = f"rule {k + 1}"
            is_default = k == len(self.rules.rules)
            if not (is_default and self.rules.default_matches_all):
                yield self._coverage(rule, members, about, k)
            if self.y is not None:
                yield from self._rate(rule, members, about, k)

    def _coverage(self, rule, members, about, k):
        n_then, n_now = self.n_then, len(members)
        then, now = min(rule.n_rows, n_then), int(members.sum())
        p = same_shares_p([then, n_then - then], [now, n_now - now])
        shares = render.share(then / n_then), render.share(now / n_now)
        return Finding("coverage", about, *shares, p, rule=k + 1)

    def _rate(self, rule, members, about, k):
        y = self.y[members]
        # A rule with few conditions has the rows that the rules before it leave over.
        n_searched = max(rule.n_conditions, self.rules.mean_conditions)
        n_then = rule.n_rows / (1 + SEARCHED * n_searched)
        if not len(y) or not rule.n_rows:
            return
        if self.rules.outcome.statistic == "rates" and rule.rates is not None:
            found = "rate", about, *self._same_rates(rule, n_then, y)
            yield Finding(*found, rule=k + 1)
        elif rule.spread is not None and self.rules.combination != "sum":
            p = mean_p(rule.prediction, rule.spread, n_then, y)
            texts = render.rounded(rule.prediction), _mean_text(y)
            yield Finding("mean", about, *texts, p, rule=k + 1)

    def _same_rates(self, rule, n_then, y):
        """The rate of a class then and now, and the p-value of all rates."""
        outcome = self.rules.outcome
        counts = self._class_counts(y, len(rule.rates))
        p = same_shares_p([*(n_then * np.array(rule.rates)), 0.0], counts)
        place = outcome.rate_index(rule)
        rates = rule.rates[place], counts[place] / len(y)
        label = outcome.output_names[place]
        return *(f"{render.share(rate)} {label}" for rate in rates), p

    def _class_counts(self, y, n_classes):
        """Number of rows of each class; the last entry counts other labels."""
        codes = self.rules.outcome.encode_any(y)
        now = np.bincount(codes[codes >= 0], minlength=n_classes)
        return np.append(now, (codes < 0).sum())

    def of_columns(self):
        """Distribution of each column that the rules use."""
        training = self.rules.training
        for column in training.columns if training is not None else ():
            values = self.matrix[:, column.feature]
            name = self.rules.shown_names[column.feature]
            yield from self._of_column(column, values, name)

    def _of_column(self, column, values, name):
        present = values[~np.isnan(values)]
        n_then, place = sum(column.counts), {"column": name}
        n_missing = len(values) - len(present)
        if n_missing or column.missing:
            then, now = column.missing, n_missing
            p = same_shares_p([then, n_then], [now, len(present)])
            then_text = render.share(then / (then + n_then))
            now_text = render.share(now / len(values))
            yield Finding("missing", name, then_text, now_text, p, **place)
        if not len(present) or not n_then:
            return
        counts = column.count(values)
        if column.cuts is None:
            yield from self._new_categories(column, counts, name)
            counts, before = counts[:-1], column.counts[:-1]
        else:
            yield from self._outside(column, present, name)
            before = column.counts
        p = same_shares_p(before, counts)
        texts = self._texts_of(column, before), self._texts_of(column, counts)
        yield Finding("column", name, *texts, p, **place)

    def _texts_of(self, column, counts):
        """Share of the most frequent category, or of the lower half of a number."""
        counts = np.asarray(counts, dtype=np.float64)
        total = max(counts.sum(), 1e-300)
        if column.cuts is None:
            labels = self.rules.categories[column.feature]
            place = int(counts.argmax())
            return f"{render.share(counts[place] / total)} {labels[place]}"
        scale = self.rules.vocabulary.scales[column.feature]
        if not column.cuts:
            return "constant"
        # The cut that splits training rows most evenly shows a shift best.
        reached = np.cumsum(column.counts)[:-1] / sum(column.counts)
        place = int(np.abs(reached - 0.5).argmin())
        share = counts[: place + 1].sum() / total
        return f"{render.share(share)} <= {_value_text(scale, column.cuts[place])}"

    def _outside(self, column, present, name):
        if column.low is None:
            return
        n_then, n_now = sum(column.counts), len(present)
        n_low = int((present < column.low).sum())
        n_high = int((present > column.high).sum())
        p = min(1.0, 2 * min(beyond_p(n_then, n_now, n) for n in (n_low, n_high)))
        scale = self.rules.vocabulary.scales[column.feature]
        then, ends = (
            f"{_value_text(scale, low).removesuffix(scale.ending)} to "
            f"{_value_text(scale, high)}"
            for low, high in (
                (column.low, column.high),
                (present.min(), present.max()),
            )
        )
        now = f"{ends}, {render.plural(n_low + n_high, 'row')} outside"
        yield Finding("range", name, then, now, p, column=name)

    def _new_categories(self, column, counts, name):
        n_new = int(counts[-1])
        before = np.asarray(column.counts)
        if before[-1] > 0:
            p = same_shares_p(
                [before[:-1].sum(), before[-1]], [counts[:-1].sum(), n_new]
            )
        else:
            p = new_category_p(before[:-1], int(counts.sum()), n_new)
        texts = render.count(before[-1]), render.plural(n_new, "row")
        yield Finding("category", name, f"{texts[0]} rows", texts[1], p, column=name)

    def of_target(self):
        """Distribution of y, and error of the rules."""
        training = self.rules.training
        if self.y is None or training is None:
            return
        if training.target is not None:
            if self.rules.outcome.statistic == "rates":
                counts = self._class_counts(self.y, len(training.target))
                p = same_shares_p([*training.target, 0.0], counts)
                texts = map(self._class_text, (training.target, counts[:-1]))
            else:
                p = mean_p(*training.target, self.n_then, self.y)
                texts = render.rounded(training.target[0]), _mean_text(self.y)
            yield Finding("target", "y", *texts, p)
        if training.error is not None:
            yield self._error(training.error)

    def _class_text(self, counts):
        """Share of the second class, or of the most frequent of many."""
        counts = np.asarray(counts, dtype=np.float64)
        place = 1 if len(counts) == 2 else int(counts.argmax())
        share = counts[place] / max(counts.sum(), 1e-300)
        return f"{render.share(share)} {self.rules.outcome.output_names[place]}"

    def _error(self, then):
        """Test for an error that is larger than in training."""
        rules, outcome = self.rules, self.rules.outcome
        losses = outcome.losses(self.y, rules._predict(rules._covers(self.matrix)))
        n_used = rules.n_rules + CONDITION_ROWS * rules.n_conditions
        # The training error is optimistic.
        kept = 1 - then if outcome.error_is_share else 1.0
        expected = then * (1 + 2 * n_used * kept / max(self.n_then, 1.0))
        fewer = 1 + ERROR_SEARCHED * rules.n_conditions / rules.n_rules
        p = larger_mean_p(losses, expected, self.n_then / fewer)
        texts = [outcome.error_text(value) for value in (then, float(losses.mean()))]
        return Finding("error", "all rules", *texts, p)

    def of_agreement(self):
        """Test for a change of the agreement between model and rules."""
        rules, predicted = self.rules, self.model_predictions
        if predicted is None or not rules.outcome.error_is_share:
            return
        agrees = int((rules._predict(rules._covers(self.matrix)) == predicted).sum())
        errors = np.array([rule.error * rule.n_rows for rule in rules])
        total = sum(rule.n_rows for rule in rules)
        if not rules.is_exclusive or not np.isfinite(errors).all():
            return
        wrong = float(errors.sum())
        n_now = len(predicted)
        # The training rows overstate the agreement: the rules were fitted to them.
        fewer = 1 + SEARCHED * rules.n_conditions / rules.n_rules
        then = np.array([total - wrong, wrong]) / fewer
        p = same_shares_p(then, [agrees, n_now - agrees])
        shares = render.share(1 - wrong / total), render.share(agrees / n_now)
        yield Finding("agreement", "all rules", *shares, p)


def _value_text(scale, value):
    """A value of a column: a date, or a number that is rounded."""
    if scale.kind is None:
        return f"{render.grouped(render.round_to(value, 6))}{scale.ending}"
    return scale.text(value)


def _mean_text(values):
    return render.rounded(float(values.mean()))


def _n_rows(rules):
    """Number of training rows, or their weight; NaN if not counted."""
    if rules.training is not None:
        return rules.training.n_rows
    for rule in rules:
        if rule.share > 0 and not math.isnan(rule.n_rows):
            return rule.n_rows / rule.share
    return math.nan
