"""Drift check: new rows compared with the training rows of the rules.

Two-sample tests compare the share of rows and the rate of each rule, and each column
that the rules use, with the profile of the training rows in the rule file. Holm's
method limits the probability of any false alarm to `level`.

Rates of rows that the model was trained on miss those of new rows as if fewer rows had
been counted (`rules.profile.WORTH`), so tests of rates use `Rule.n_effective`. The
errors of all rules miss in one direction, towards fewer, and are corrected for that.
The agreement with the model is compared with that on rows that it was not trained on.
"""

import dataclasses
import itertools
import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from numbers import Real
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils import schema
from defragtrees._utils.values import is_finite, round_significant
from defragtrees.data.sources import with_exposure
from defragtrees.ensembles.predictions import better_order, read_model
from defragtrees.outcomes.tests import (
    beyond_p,
    holm,
    larger_mean_p,
    larger_share_p,
    new_category_p,
    same_shares_p,
)
from defragtrees.rules.model import RuleModel
from defragtrees.rules.profile import WORTH
from defragtrees.tables import as_dense

LEVEL = 0.05
MARKS = (0.1, 0.25)  # of a PSI: from here on some change, and a large one
MOST_BINS = 12  # of a column in a page
WHAT = {
    "coverage": "share of rows",
    "rate": "rate",
    "mean": "mean",
    "target": "distribution",
    "error": "error",
    "agreement": "agreement with the model",
    "distance": "distance from the model",
    "column": "distribution",
    "missing": "missing values",
    "range": "values outside the range",
    "category": "new categories",
}


P, VALUE = schema.number(0, 1), schema.number(-1e250, 1e250)
SCORE = "score"


@dataclass(frozen=True)
class Finding(schema.Stored):
    """One test: a measure on the training rows and on the new rows.

    Parameters
    ----------
    kind : str
        A key of `WHAT`.
    about : str
        The rule or column tested.
    then, now : float
        The value on the training rows and on the new rows; of a distribution the share
        that changed most.
    then_text, now_text : str
        The same as text.
    p : float
        The p-value of the difference.
    rule : int, optional
        The number of the rule, from 1.
    column : str, optional
    adjusted : float
        The p-value adjusted for the number of tests.
    is_moved : bool
        Whether the adjusted p-value is at most the level.

    Examples
    --------
    >>> Finding("coverage", "rule 1", 0.5, 0.9, "50.0%", "90.0%", 0.001).text
    'rule 1: share of rows 90.0%, was 50.0%'
    """

    kind: Annotated[str, schema.one_of(*WHAT)]
    about: Annotated[str, schema.TEXT]
    then: Annotated[float, VALUE]
    now: Annotated[float, VALUE]
    then_text: Annotated[str, schema.TEXT]
    now_text: Annotated[str, schema.TEXT]
    p: Annotated[float, P]
    rule: Annotated[int | None, schema.whole(1) | schema.NULL, "required"] = None
    column: Annotated[str | None, schema.TEXT | schema.NULL, "required"] = None
    adjusted: Annotated[float, P, "adjusted_p", "required"] = 1.0
    is_moved: Annotated[bool, schema.FLAG, "moved", "required"] = False

    @property
    def measure(self):
        """What was tested, as text."""
        return f"{self.about}: {WHAT[self.kind]}"

    @property
    def text(self):
        """The finding as a sentence."""
        return f"{self.measure} {self.now_text}, was {self.then_text}"


class PredictionShare(NamedTuple):
    """Share of rows with a prediction, or the mean prediction, in training and now."""

    prediction: Annotated[str, schema.TEXT]
    then: Annotated[float | None, VALUE | schema.NULL]
    now: Annotated[float, VALUE]


class Psi(NamedTuple):
    """The population stability index of a column, or of the score."""

    about: Annotated[str, schema.TEXT]
    psi: Annotated[float, VALUE]


@dataclass(frozen=True, eq=False)
class Check(schema.Stored):
    """Result of a drift check: new rows compared with the training rows.

    Parameters
    ----------
    findings : tuple of Finding
    n_then, n_now : float
        Number of training rows and of new rows.
    level : float
        Probability of any false alarm.
    predictions : tuple of PredictionShare
        For each class, the share of rows for which it is predicted, in training and
        now; in regression, the mean prediction.
    notes : tuple of str
        Tests that were not possible, and why.
    psi : tuple of Psi
        The population stability index of each column and of a scorecard's score.
    marks : tuple of float
        From where on a PSI counts as some change, and as a large one.
    bins : dict
        For each column, its bins as text with the shares of rows in training and now;
        not part of `to_dict`.

    Examples
    --------
    >>> finding = Finding("coverage", "rule 1", 0.5, 0.9, "50.0%", "90.0%", 0.001)
    >>> print(Check((finding,), 1000, 200))
    No drift in 1 test (200 new rows against 1,000 training rows; false alarms
    in at most 5% of checks).
    """

    findings: Annotated[tuple[Finding, ...], schema.list_of(schema.object_of(Finding))]
    n_then: Annotated[float, schema.N_ROWS]
    n_now: Annotated[int, schema.whole()]
    level: Annotated[float, schema.number(0, 1, is_open=True), "required"] = LEVEL
    predictions: Annotated[
        tuple[PredictionShare, ...],
        schema.list_of(schema.named(PredictionShare)),
        "required",
    ] = ()
    notes: Annotated[tuple[str, ...], schema.list_of(schema.TEXT), "required"] = ()
    psi: Annotated[tuple[Psi, ...], schema.list_of(schema.named(Psi)), "required"] = ()
    marks: Annotated[tuple[float, float], schema.list_of(VALUE, 2, 2), "required"] = (
        MARKS
    )
    bins: dict[str, list[tuple[str, float, float]]] = dataclasses.field(
        default_factory=dict
    )
    _order: ClassVar[tuple[str, ...]] = (
        *("level", "n_then", "n_now", "findings", "predictions", "notes"),
        *("psi", "marks"),
    )

    @property
    def psi_text(self):
        """The PSI of the score and of the columns in which it shows a change."""
        if not self.psi:
            return ""
        some, large = self.marks
        texts = [
            f"{render.plain(name)} {value:.2f}{' (large)' if value >= large else ''}"
            for name, value in sorted(self.psi, key=lambda one: -one[1])
            if value >= some or name == SCORE
        ]
        n_still = len(self.psi) - len(texts)
        if n_still:
            texts.append(f"{render.plural(n_still, 'column')} below {some:g}")
        head = f"PSI (some change from {some:g}, large from {large:g}): "
        return head + "; ".join(texts)

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
            f"{100 * self.level:g}% of checks"
        )
        tests = render.plural(len(self.findings), "test")
        if not self.moved:
            return f"No drift in {tests} ({rows})."
        return f"Drift in {len(self.moved)} of {tests} ({rows})."

    def to_dict(self):
        """The check as a dict of plain numbers, texts and lists.

        Examples
        --------
        >>> Check((), 1000, 200).to_dict()["moved"]
        False
        """
        verdict = {"moved": self.has_moved, "verdict": self.verdict}
        return verdict | super().to_dict()

    @classmethod
    def from_dict(cls, data, place=""):
        """The check that `to_dict` wrote down; ValueError for anything else.

        Examples
        --------
        >>> Check.from_dict(Check((), 1000, 200).to_dict()).n_now
        200
        """
        if isinstance(data, dict):  # the verdict follows from the findings
            data = {k: v for k, v in data.items() if k not in ("moved", "verdict")}
        return super().from_dict(data, place)

    def append_to(self, path, *, label="", rules="", data=""):
        """Append the check as one line to a history; see `read_history`.

        Parameters
        ----------
        path : path
            A file that is not there is created; one that is no history is left as it
            is, and raises HistoryFileError.
        label : str, optional
            What the rows are called in tables and plots, such as "week 7".
        rules, data : str, optional
            Names of the rules and of the rows.

        Returns
        -------
        History
            All checks, this one included.

        Examples
        --------
        >>> import tempfile
        >>> finding = Finding("coverage", "rule 1", 0.5, 0.9, "50.0%", "90.0%", 0.001)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found = Check((finding,), 100, 50)
        ...     history = found.append_to(f"{folder}/checks.jsonl", label="week 1")
        >>> len(history), history[0].label
        (1, 'week 1')
        """
        from defragtrees.monitoring.history import Record, read_history

        history = read_history(path, missing_ok=True)
        return history.append(Record(self, datetime.now(UTC), label, rules, data))

    def to_html(self, title="Drift check"):
        """The check as one HTML page, without scripts and links.

        Examples
        --------
        >>> Check((), 1000, 200).to_html().startswith("<!doctype html>")
        True
        """
        from defragtrees.report.page import make_environment, read_template

        quiet = [finding for finding in self.findings if not finding.is_moved]
        shown = dict.fromkeys(finding.column for finding in self.moved)
        return (
            make_environment()
            .get_template("check.html.j2")
            .render(
                check=self,
                style=read_template("report.css"),
                title=title,
                moved=self._cells(self.moved),
                quiet=self._cells(quiet),
                bins={name: self.bins[name] for name in shown if name in self.bins},
                predictions=self._prediction_cells(),
            )
        )

    def __str__(self):
        return "\n\n".join(self._parts(self.moved))

    def _parts(self, findings):
        """The verdict, a table of findings if there are some, the PSI and the notes."""
        width, notes = render.page_width(), [f"Note: {note}." for note in self.notes]
        parts = [self.verdict, self.psi_text, *map(render.plain, notes)]
        parts = [render.wrap_notes([text], width) for text in parts if text]
        if findings:
            cells = self._cells(findings)
            table = render.text_table(*cells, left=(0, 1, 2, 3), width=width)
            parts.insert(1, table)
        return parts

    def _repr_html_(self):
        notes = [self.verdict, *([f"{self.psi_text}."] if self.psi else [])]
        notes = " ".join([*notes, *(f"Note: {note}." for note in self.notes)])
        return render.html_table(*self._cells(self.moved or self.findings), notes)

    def _cells(self, findings):
        """Header and rows of a table of findings."""
        header = ["tested", "measure", "training", "new rows", "p"]
        rows = [
            [
                render.plain(finding.about),
                WHAT[finding.kind],
                render.plain(finding.then_text),
                render.plain(finding.now_text),
                "<0.001" if finding.adjusted < 0.001 else f"{finding.adjusted:.3f}",
            ]
            for finding in findings
        ]
        return header, rows

    def _prediction_cells(self):
        """Header and rows of a table of predictions: shares of rows, or the mean."""
        is_share = [name for name, _, _ in self.predictions] != ["mean"]
        text = render.share if is_share else render.rounded
        rows = [
            [name, *("" if value is None else text(value) for value in values)]
            for name, *values in self.predictions
        ]
        return ["prediction", "training", "new rows"], rows


def check(
    rules: RuleModel,
    X: Any,
    y: Any = None,
    *,
    model: Any = None,
    classes: Any = None,
    level: float = LEVEL,
    marks: tuple[float, float] = MARKS,
    exposure: Any = None,
) -> Check:
    """Compare new rows with the training rows of rules; see `RuleModel.check`."""
    if exposure is not None:
        rules.outcome.check_exposure()
        X, y = with_exposure(X, y, exposure)
    X = as_dense(X)
    matrix = rules._encode(X)
    predicted = match = None
    if y is not None:
        y = rules.outcome.read(y, len(matrix))
    if model is not None:
        model = read_model(model, rules, X, classes)
        predicted, _, _, match = model(X, matrix, y)
    elif classes is not None:
        raise ValueError("classes names those of a model; pass it too, as model.")
    names = getattr(X, "columns", None)
    notes = () if names is None else missing_columns(rules, names)
    return check_encoded(rules, matrix, y, predicted, match, level, notes, marks)


def check_encoded(
    rules,
    matrix,
    y=None,
    predicted=None,
    match=None,
    level=LEVEL,
    notes=(),
    marks=MARKS,
):
    """`check` of encoded rows.

    `predicted` are predictions of the model, if any, and `match` its ClassMatch.
    """
    if not (isinstance(level, Real) and 0 < level < 1):
        raise ValueError(f"level must be above 0 and below 1; got {level!r}.")
    is_pair = np.shape(marks) == (2,) and all(map(is_finite, marks))
    if not (is_pair and 0 < marks[0] <= marks[1]):
        raise ValueError(
            "marks must be two numbers above 0, the PSI of some change and of a large "
            f"one; got {marks!r}."
        )
    if not len(matrix):
        raise ValueError("A drift check needs at least one row; got none.")
    if rules.training is not None and not rules.training.n_rows > 0:
        raise ValueError(
            "The rules keep a profile of 0 training rows, and nothing can be compared "
            "with it. Fit or refit them first."
        )
    if y is not None:
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
    notes = (*notes, *compared.notes())
    if match is not None:
        notes += tuple(compared.class_notes(match, findings))
    shares = tuple(compared.predictions())
    psi, marks = tuple(compared.psi()), tuple(map(float, marks))
    rows = compared.n_then, len(matrix), level
    return Check(findings, *rows, shares, notes, psi, marks, compared.bins)


def missing_columns(rules, names):
    """A note on columns of the training data that a table lacks, if there are any."""
    known = set(names)
    gone = [name for name in rules.feature_names if name not in known]
    if not gone:
        return ()
    return (f"columns that no rule uses are missing: {render.listed(gone)}",)


class _Comparison:
    """The tests of new rows against the profile of the training rows."""

    def __init__(self, rules, matrix, y, predicted):
        self.rules, self.matrix, self.y = rules, matrix, y
        self.model_predictions = predicted
        matches = rules._covers(matrix)
        self.members = rules._form.members(matches)
        self.predicted = rules._form.predict(matches)
        self.n_then = _n_rows(rules)
        self.bins = {}  # of each column

    def notes(self):
        """Tests that are not possible, and why."""
        rules = self.rules
        if rules.training is None:
            yield (
                "columns are not tested, as the rules have no profile of their "
                "training rows; save them with it, or refit"
            )
        edited = [str(k + 1) for k, r in enumerate(rules) if math.isnan(r.n_rows)]
        if edited:
            which = f"rule{'s' if edited[1:] else ''} {', '.join(edited)}"
            yield (
                f"shares and rates of {which} are not tested, as they were edited and "
                "not counted again; refit to test them"
            )
        has_error = rules.training is None or rules.training.error is not None
        if self.y is not None and rules.edits and not has_error:
            yield "the error is not tested, as the rules were edited; refit to test it"
        counted = [rule for rule in rules if not math.isnan(rule.n_rows)]
        is_without_y = counted and all(rule.rates is None for rule in counted)
        reports_rates = rules.outcome.statistic == "rates"
        if self.y is not None and reports_rates and is_without_y:
            yield "rates are not tested, as the rules were fitted without y"
        if self.model_predictions is None:
            return
        if self.agreement is None:
            yield (
                "agreement with the model is not tested, as there is none to compare "
                "with: the rules were edited or refitted, or saved without a profile"
            )
        elif self.agreement.source == "training":
            yield (
                "agreement with the model is compared with that on rows that the model "
                "was trained on, which may hide a small change"
            )

    def class_notes(self, match, findings):
        """How the classes of a model with other labels were understood."""
        outcome, theirs = self.rules.outcome, ", ".join(map(str, match.model_labels))
        if match.is_by_position:
            labels = ", ".join(map(outcome.view.label, match.labels))
            yield f"the model's classes {theirs} are taken to be {labels}"
        more = [str(label) for label in match.labels if label not in outcome.labels]
        if more:
            shown = ", ".join(more[:5]) + (", …" if more[5:] else "")
            yield f"the rules never predict these classes of the model: {shown}"
        has_moved = any(one.kind == "agreement" and one.is_moved for one in findings)
        if match.model_labels == match.labels or not has_moved:
            return
        better = better_order(outcome.labels, self.model_predictions, self.predicted)
        if better is not None:
            order, _, agrees = better
            labels = ", ".join(
                outcome.view.label(order[label]) for label in match.labels
            )
            yield (
                f"with the model's classes {theirs} as {labels}, they would agree on "
                f"{render.share(agrees)} of the rows; name them in this order "
                "(classes, watch --classes)"
            )

    @property
    def agreement(self):
        """The agreement with the model to compare with; None if it is not known."""
        training = self.rules.training
        return None if training is None else training.agreement

    def predictions(self):
        """Share of rows with each prediction, or mean prediction, then and now."""
        rules, outcome = self.rules, self.rules.outcome

        def columns(predictions):
            return outcome.indicators(outcome.encode_any(predictions)).T

        of_rules = columns(np.array([rule.prediction for rule in rules]))
        now = columns(self.predicted)
        total = sum(rule.share for rule in rules)
        # NaN where a rule was not counted.
        has_then, then = rules._form.is_exclusive and total > 0, None
        for k, name in enumerate(outcome.output_names):
            if has_then:
                pairs = zip(rules, of_rules[k].tolist(), strict=True)
                then = sum([rule.share * value for rule, value in pairs]) / total
            yield PredictionShare(name, then, float(now[k].mean()))

    def of_rules(self):
        """Coverage and rate of each rule."""
        for k, rule in enumerate(self.rules):
            if math.isnan(rule.n_rows) or not self.n_then > 0:
                continue
            members = self.members[:, k]
            about = f"rule {k + 1}"
            is_default = k == len(self.rules.rules)
            if not (is_default and self.rules._form.default_matches_all):
                n_then, n_now = self.n_then, len(members)
                then, now = rule.share * n_then, int(members.sum())
                p = same_shares_p([then, n_then - then], [now, n_now - now])
                shares = then / n_then, now / n_now
                yield _of_shares("coverage", about, *shares, p, rule=k + 1)
            n_then = rule.n_effective  # NaN where it was not counted
            if self.y is None or not members.any() or not n_then > 0:
                continue
            change = self.rules.outcome.rate_change(rule, self.y[members], n_then)
            if change is not None:
                kind = "rate" if change.is_share else "mean"
                yield _of_change(kind, about, change, rule=k + 1)

    def psi(self):
        """The PSI of the score, if there is one, and of each column that rules use."""
        training, rules = self.rules.training, self.rules
        if training is None:
            return
        if training.score is not None:
            totals = rules._form.totals(rules._covers(self.matrix))
            score = rules._form.values_of(totals)[:, 0]
            yield Psi(SCORE, training.score.psi(score))
        for column in training.columns:
            name = rules._vocabulary.names[column.feature]
            yield Psi(name, column.psi(self.matrix[:, column.feature]))

    def of_columns(self):
        """Distribution of each column that the rules use."""
        training = self.rules.training
        for column in training.columns if training is not None else ():
            yield from self._of_column(column)

    def _of_column(self, column):
        values = self.matrix[:, column.feature]
        name = self.rules._vocabulary.names[column.feature]
        present = values[~np.isnan(values)]
        n_then = sum(column.counts)
        n_missing = len(values) - len(present)
        if n_missing or column.missing:
            then, now = column.missing, n_missing
            p = same_shares_p([then, n_then], [now, len(present)])
            shares = then / (then + n_then), now / len(values)
            yield _of_shares("missing", name, *shares, p, column=name)
        if not len(present) or not n_then:
            return
        counts, before = column.count(values), np.array(column.counts)
        if column.cuts is None:
            n_then, n_now = before.sum(), counts.sum()
            n_old, n_new = before[-1], int(counts[-1])
            p = new_category_p(before[:-1], int(n_now), n_new)
            if n_old > 0:
                p = same_shares_p([n_then - n_old, n_old], [n_now - n_new, n_new])
            shares = float(n_old / n_then), float(n_new / n_now)
            texts = f"{render.count(n_old)} rows", render.plural(n_new, "row")
            yield Finding("category", name, *shares, *texts, p, column=name)
            counts, before = counts[:-1], before[:-1]
        else:
            yield from self._outside(column, present, name)
        p = same_shares_p(before, counts)
        shares = [part / max(part.sum(), 1e-300) for part in (before, counts)]
        if column.cuts is None:
            labels = [f" {label}" for label in self.rules.categories[column.feature]]
            self._keep(name, labels, *shares)
        else:
            scale = self.rules._vocabulary.scales[column.feature]
            numbers = [_number_text(scale, cut) for cut in column.cuts]
            pairs = itertools.pairwise(numbers)
            between = [f"{low} to {high}" for low, high in pairs]
            if numbers:
                ends = f"up to {numbers[0]}", f"above {numbers[-1]}"
                self._keep(name, [ends[0], *between, ends[1]], *shares)
            # Up to the cut that shows the change best.
            shares = [np.cumsum(part)[:-1] for part in shares]
            labels = [f" <= {number}{scale.ending}" for number in numbers]
        if labels:
            then, now = shares
            k = int(np.abs(now - then).argmax())  # the share that changed most
            yield _of_shares("column", name, then[k], now[k], p, labels[k], column=name)

    def _keep(self, name, labels, then, now):
        """Keep the bins of a column, of many categories those with the most rows."""
        bins = list(zip(map(str.strip, labels), then, now, strict=True))
        largest = sorted(bins, key=lambda one: -max(one[1:]))[:MOST_BINS]
        self.bins[name] = [one for one in bins if one in largest]

    def _outside(self, column, present, name):
        if column.low is None:
            return
        n_then, n_now = sum(column.counts), len(present)
        n_low = int((present < column.low).sum())
        n_high = int((present > column.high).sum())
        p = min(1.0, 2 * min(beyond_p(n_then, n_now, n) for n in (n_low, n_high)))
        scale = self.rules._vocabulary.scales[column.feature]
        then, ends = (
            f"{_number_text(scale, low)} to {_number_text(scale, high)}{scale.ending}"
            for low, high in ((column.low, column.high), (present.min(), present.max()))
        )
        now = f"{ends}, {render.plural(n_low + n_high, 'row')} outside"
        shares = 0.0, (n_low + n_high) / n_now
        yield Finding("range", name, *shares, then, now, p, column=name)

    def of_target(self):
        """Distribution of y, and error of the rules."""
        training, outcome = self.rules.training, self.rules.outcome
        if self.y is None or training is None:
            return
        if training.target is not None:
            change = outcome.target_change(training.target, self.n_then, self.y)
            yield _of_change("target", "y", change)
        if training.error is not None:
            yield self._error(training.error)

    def _error(self, then):
        """Test for an error that is larger than in training."""
        rules, evidence = self.rules, self.rules.evidence
        n_then, worth = self.n_then, WORTH["searched"]
        if evidence is not None and evidence.source in ("validation", "refit"):
            n_then, worth = evidence.n_rows, evidence.worth
        losses = rules.outcome.losses(self.y, self.predicted)
        # A rate counted on n rows, each worth w, misses by the standard deviation of
        # a mean of w n rows. If the errors of all rules miss towards fewer, their mean
        # misses by this much beyond the chance of n rows.
        missed = math.sqrt((1 / worth - 1) * rules.n_rules / max(n_then, 1.0))
        return self._worse("error", then, missed, n_then, losses)

    def of_agreement(self):
        """Test for rules that are further from the model than before."""
        if self.model_predictions is None or self.agreement is None:
            return
        outcome, then = self.rules.outcome, self.agreement
        pair = map(outcome.encode_any, (self.model_predictions, self.predicted))
        losses, kind = outcome.model_losses(*pair), "distance"
        if outcome.error_is_share:
            kind = "agreement"
        yield self._worse(kind, then.loss, 0.0, then.n_rows, losses)

    def _worse(self, kind, then, missed, n_then, losses):
        """One-sided test of a mean loss, which was `missed` deviations too low."""
        outcome, now = self.rules.outcome, float(losses.mean())
        if outcome.error_is_share:
            expected = min(then + missed * math.sqrt(then * (1 - then)), 1.0)
            p = larger_share_p(expected, n_then, int(losses.sum()), len(losses))
            if kind == "agreement":
                then, now = 1 - then, 1 - now
            return _of_shares(kind, "all rules", then, now, p)
        p = larger_mean_p(then + missed * losses.std(), n_then, losses)
        shown = map(outcome.shown_error, (then, now))
        return _of_shares(kind, "all rules", *shown, p, write=render.rounded)


def _of_shares(kind, about, then, now, p, label="", write=render.share, **place):
    """A finding on shares of rows, of which `label` says more, or on other numbers."""
    texts = (f"{write(value)}{label}" for value in (then, now))
    return Finding(kind, about, float(then), float(now), *texts, p, **place)


def _of_change(kind, about, change, **place):
    """A finding on a mean or a rate of y."""
    look = {"write": render.rounded}
    if change.is_share:
        look = {"label": f" {change.label}"}
    values = change.then, change.now, change.p
    return _of_shares(kind, about, *values, **look, **place)


def _number_text(scale, value):
    """A value of a column without its unit: a date, or a number that is rounded."""
    if scale.kind is None:
        return render.grouped(round_significant(value, 6))
    return scale.number(value)


def _n_rows(rules):
    """Number of training rows, or their weight; NaN if not counted."""
    if rules.training is not None:
        return rules.training.n_rows
    for rule in rules:
        if rule.share > 0 and not math.isnan(rule.n_rows):
            return rule.n_rows / rule.share
    return math.nan
