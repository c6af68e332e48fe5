"""Notes of `summary` on points and on the model's lead."""

import math

import numpy as np

from defragtrees.data.statistics import EXACT, PatternSums, sums_by_group
from defragtrees.outcomes.points import find_patterns
from defragtrees.search.choice import leave_one_out_losses
from defragtrees.search.driver import quick_points
from defragtrees.search.limits import MonotoneAnswers

LEAST_SHOWN = 0.001  # smallest difference of two printed scores
LEAST_APART = 0.01  # smallest difference in AUC worth a note
JUDGED_ROWS = 3_000  # synthetic rows; enough to compare two models


def advise(problem, settings, searched, counting, rules, rows):
    """Write the notes of a fit; none without y or if rows were sampled.

    `searched` are the rows of the search, `counting` is the store of the rows on which
    rules were counted, and `rows` is the Problem of these rows.
    """
    if rows.labels is None or problem.is_sample or searched is None:
        return ()
    texts = []
    # AUC for classes, R² for numbers; other outcomes may have neither.
    measure = next((m for m in rules.outcome.measures() if m.is_larger_better), None)
    if measure is not None:
        scores = counting.evaluation(rules).scores(rules)
        own = scores[measure.name]
        if not rules._form.is_sum and rules.n_rules > 1 and not rows.is_sample:
            points = _points_score(problem, settings, searched, rules, rows, measure)
            # A full search for points would do better still.
            if points - own >= LEAST_SHOWN:
                texts.append(
                    'Points would do better (form="points"): on the same rows, a '
                    f"scorecard with as many rules has {measure.label} {points:.3f}, "
                    f"these rules {own:.3f}."
                )
    has_more = any(texts)
    if counting.source == "validation":
        texts.append(_equal_text(rules, rows, has_more))
    elif measure is not None and searched.n_near and rules.outcome.n_classes:
        lead = scores[f"model_{measure.name}"] - own
        texts.append(_lead_text(lead, _new_lead(rules, searched), has_more))
    return tuple(text for text in texts if text)


def _points_score(problem, settings, searched, rules, rows, measure):
    """A measure of a quick scorecard with as many rules, fitted to y in the rows."""
    conditions = quick_points(problem, settings, searched, rules.n_rules).conditions
    outcome, order = rules.outcome, MonotoneAnswers(settings.limits.monotone)
    weight = rows.mean_weight
    digits, is_idle = outcome.points_digits(rows.spread), [True]
    while any(is_idle):
        matches = rows.matches(conditions)
        patterns, place = find_patterns(matches[:, :-1].T)
        sums = sums_by_group(place, len(patterns), weight, rows.observed)
        sums, signs = (
            PatternSums(patterns, *sums),
            [order.point_signs(conditions)] if order.signs else [],
        )
        points = sums.scorecard(outcome, EXACT, digits, signs).points
        # Rules whose points are rounded to nothing are left out.
        is_idle = ~points[:-1].any(axis=1)
        conditions = [
            c for c, idle in zip(conditions, is_idle, strict=True) if not idle
        ]
    totals = np.tile(points[-1], (len(matches), 1))
    for match, value in zip(matches.T, points[:-1], strict=False):
        totals += np.outer(match, value)
    linked = outcome.linked(totals)
    predicted = outcome.encode(outcome.decide(linked))
    columns = rows.labels, rows.sample_weight, predicted, linked
    return measure.of(outcome.scores.of(outcome, *columns))


def _equal_text(rules, rows, has_more):
    """Compare rules and model on rows that neither the model nor the search used.

    `has_more` is whether points would do better.
    """
    # Training rows among them count less.
    is_new = slice(None) if rows.worth is None else rows.worth == 1
    weight = rows.mean_weight[is_new]
    by_model = rows.probabilities if rows.n_classes else rows.target
    by_model = np.asarray(by_model, dtype=np.float64).reshape(rows.observed.shape)
    losses = leave_one_out_losses(rows, rules._form)
    apart = (losses - ((rows.observed - by_model) ** 2).sum(axis=1))[is_new]
    mean = np.average(apart, weights=weight)
    error = math.sqrt(np.average((apart - mean) ** 2, weights=weight) / weight.sum())
    if mean > error:
        return ""
    return (
        "On rows that neither used, the rules predict as well as the model, within "
        f"one standard error{'' if has_more else ': more rules are unlikely to help'}."
    )


def _new_lead(rules, searched):
    """The model's lead in AUC on new rows, if its probabilities are right.

    For deep forests and boosting this is an upper bound; for forests with large leaves
    it is close. For numbers it is no guide: predictions of forests are shrunk towards
    the mean, and so is the lead.
    """
    outcome = rules.outcome
    new, true = searched.X[:JUDGED_ROWS], searched.outputs[:JUDGED_ROWS]
    predicted = rules._form.predict_proba(rules._covers(new))
    return outcome.expected_auc(true, true) - outcome.expected_auc(true, predicted)


def _lead_text(lead, new_lead, has_more):
    if not lead - new_lead >= LEAST_APART:
        return ""
    has_more = has_more or new_lead >= LEAST_APART
    return (
        f"The model's lead in AUC is {lead:.2f} on these rows, but about "
        f"{max(new_lead, 0):.2f} on new rows, by its own probabilities: the rest is "
        f"overfitting{'' if has_more else ', and more rules are unlikely to help'}."
    )
