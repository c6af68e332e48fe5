"""Summary: what a report is about, and what more than one of its sections needs.

Nothing here knows HTML. What only one section needs stands in the section's module.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from defragtrees._utils import formatting as render
from defragtrees._utils.formatting import plural
from defragtrees.estimators.base import Simplifier
from defragtrees.plots.picture import RowTable
from defragtrees.report.answered import AnsweredRows
from defragtrees.report.baseline import Baseline, measure_baseline
from defragtrees.report.colours import make_row_table
from defragtrees.report.ensembles import Ensemble, describe_ensemble
from defragtrees.report.features import FeatureUse, feature_pairs, feature_use
from defragtrees.report.flags import rule_flags
from defragtrees.report.groups import Groups, read_groups
from defragtrees.report.wording import grouped, sentence, true_minus
from defragtrees.rules.model import RuleModel

__all__ = ["Card", "Summary", "summarize"]

MARK = "\0"  # no name of a feature contains it


@dataclass(frozen=True)
class Card:
    """One rule and its evidence on the rows of the report."""

    number: int  # from 1
    # Of each condition, what is said before the feature's name, the name, the rest.
    parts: tuple[tuple[str, str, str], ...]
    then: str
    told: str  # of its training rows: rate, rows and interval; empty if nobody measured
    alone: str  # what it is of all rows in which it holds, if that is something else
    ensemble_told: float | None  # what the ensemble says of these on average
    weight: str | None  # of a rule that is averaged
    n_rows: int  # that it answers or, where rules are averaged, in which it holds
    share: float  # of all rows, by weight
    holds: float  # share of the rows in which it holds
    # Of classes: on what share of its rows y, and the ensemble, say the same.
    right: float | None = None
    agrees: float | None = None
    # Of numbers: mean distance to y and to the ensemble, whose mean answer this is.
    miss: float | None = None
    distance: float | None = None
    ensemble_mean: float | None = None
    flags: tuple[str, ...] = ()  # why it is weak


@dataclass(frozen=True, eq=False)
class Summary:
    """What the sections of a report are written from."""

    title: str
    simplifier: Simplifier
    ensemble: Ensemble
    rows: AnsweredRows
    target: str  # what y is called
    baseline: Baseline
    groups: Groups | None
    is_weighted: bool
    scores: dict[str, float]  # what `evaluate` gives on these rows
    cards: tuple[Card, ...]
    features: FeatureUse
    pairs: list[tuple[int, int]]  # features to draw maps of
    drawn: np.ndarray  # numbers of the rows that are drawn, from 0
    table: RowTable  # what pictures say of them
    rule_path: Any  # RulePath or None
    comparison: Any  # Comparison or None
    command: str | None

    @property
    def rules(self) -> RuleModel:
        """The rules."""
        return self.rows.rules

    @property
    def outcome(self):
        """What they predict."""
        return self.rules.outcome

    @property
    def stability(self):
        """What came back on other rows, if that was measured."""
        return getattr(self.simplifier, "stability_", None)

    @property
    def has_costs(self):
        """Whether mistakes differ in what they cost."""
        return self.rules.costs is not None or self.rules.threshold is not None


def summarize(
    simplifier,
    X,
    y=None,
    sample_weight=None,
    *,
    title=None,
    rule_path=None,
    comparison=None,
    features=None,
    command=None,
    groups=None,
    target_name=None,
    ensemble_name=None,
    max_rows=1000,
):
    """Everything that a report is about; see `write_report`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees import simplify
    >>> X, y = load_iris(return_X_y=True)
    >>> ensemble = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> summary = summarize(simplify(ensemble, X, y, random_state=0), X, y)
    >>> summary.ensemble.name, summary.ensemble.n_trees
    ('RandomForestClassifier', 20)
    """
    rows = _answered_rows(simplifier, X, y, sample_weight)
    ensemble = describe_ensemble(simplifier, ensemble_name)
    baseline = measure_baseline(rows)
    use = feature_use(rows.rules, ensemble.fitted, rows.forest)
    drawn = _sample(len(rows), max_rows)
    size = plural(rows.rules.n_rules, "rule")
    return Summary(
        title=title or f"{sentence(ensemble.name)} in {size}",
        simplifier=simplifier,
        ensemble=ensemble,
        rows=rows,
        target=str(target_name or getattr(y, "name", None) or "y"),
        baseline=baseline,
        groups=read_groups(groups, X, rows),
        is_weighted=sample_weight is not None,
        scores=simplifier.evaluate_encoded(
            rows.matrix, rows.answers, rows.y, rows.weight, rows.probabilities
        ),
        cards=_cards(simplifier, rows, baseline),
        features=use,
        pairs=feature_pairs(features, rows.rules.feature_names, use.telling),
        drawn=drawn,
        table=make_row_table(rows, drawn),
        rule_path=rule_path,
        comparison=comparison,
        command=command,
    )


def _answered_rows(simplifier, X, y, sample_weight):
    """The rows checked and encoded."""
    matrix = simplifier.validate_rows(X)
    if len(matrix) == 0:
        raise ValueError("A report needs at least one row; X has 0 samples.")
    if y is not None:
        y = simplifier.validate_target(y, len(matrix))
        simplifier.rules_.outcome.check_known(y)
    weight = _check_sample_weight(
        sample_weight, matrix, dtype=np.float64, ensure_non_negative=True
    )
    if not weight.sum() > 0:
        raise ValueError("sample_weight must have a positive sum; it is zero.")
    return AnsweredRows(simplifier.rules_, simplifier.forest_, matrix, y, weight)


def _sample(n_rows, max_rows):
    """Numbers of the rows to draw: a sample that is the same each time if many."""
    if n_rows <= max_rows:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, max_rows, replace=False))


def _cards(simplifier, rows, baseline):
    """One card for each rule."""
    rules, stability = rows.rules, getattr(simplifier, "stability_", None)
    has_costs = rules.costs is not None or rules.threshold is not None
    return tuple(
        _card(rows, k, rule_flags(rows, k, baseline, stability, has_costs))
        for k in range(rules.n_rules)
    )


def _card(rows, k, flags):
    rules, members = rows.rules, rows.members[:, k]
    rule = list(rules)[k]
    return Card(
        number=k + 1,
        parts=tuple(condition_parts(c, rules) for c in rule.conditions),
        then=answer_of(rules, k),
        **_told(rules, k),
        weight=render.number(rule.weight) if rules.decision == "average" else None,
        n_rows=int(members.sum()),
        share=rows.share(members),
        holds=rows.share(rows.held[:, k]),
        **_quality(rows, members),
        flags=flags,
    )


def _told(rules, k):
    """What a rule tells of its training rows, and the ensemble's mean over them."""
    row, mean = rules.rows()[k], list(rules)[k].ensemble_mean
    if rules.outcome.n_classes:
        mean = row["ensemble_mean"]
    is_measured = mean is not None and not math.isnan(mean)
    told = row["told"] if rules.outcome.n_classes else _number_text(row["told"])
    rule, outcome = list(rules)[k], rules.outcome
    alone = outcome.alone_text(rule) if outcome.differs_alone(rule) else ""
    return {
        "told": told,
        "alone": _number_text(alone.removesuffix(" !")),
        "ensemble_told": mean if is_measured else None,
    }


def condition_parts(condition, rules):
    """What is said before the feature's name, the name, and what is said after it.

    The text is that of `Condition.text`, so that the report cannot say another thing.
    """
    name = rules.shown_names[condition.feature]
    names = {condition.feature: MARK}
    before, after = condition.text(names, *rules.vocabulary[1:]).split(MARK, 1)
    if condition.categories is None:
        before, after = (
            _number_text(part.replace("<=", "≤").replace(">=", "≥"))
            for part in (before, after)
        )
    return before, name, after


def answer_of(rules, k):
    """A rule's answer; a class is shown as it is given, a number with a true minus."""
    then = rules.rows()[k]["then"]
    return then if rules.outcome.n_classes else _number_text(then)


def _number_text(text):
    return true_minus(grouped(text))


def _quality(rows, members):
    """Of the rows of one rule: right answers and agreement, or mean distances."""
    has_classes = bool(rows.rules.outcome.n_classes)

    def mean(answers):
        if answers is None:
            return None
        if has_classes:
            return rows.mean(rows.predicted == answers, members)
        return rows.mean(np.abs(rows.predicted - answers), members)

    if has_classes:
        return {"right": mean(rows.y), "agrees": mean(rows.answers)}
    return {
        "miss": mean(rows.y),
        "distance": mean(rows.answers),
        "ensemble_mean": rows.mean(rows.answers, members),
    }
