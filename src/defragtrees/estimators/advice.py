"""Notes of `summary` on points and on the model's lead."""

import math
from dataclasses import replace

import numpy as np

from defragtrees.outcomes.points import Scoring
from defragtrees.search.driver import Found, count_found, quick_points

LEAST_SHOWN = 0.001  # smallest difference of two printed scores
LEAST_APART = 0.01  # smallest difference in AUC worth a note
JUDGED_ROWS = 3_000  # synthetic rows; enough to compare two models


def advise(problem, settings, searched, counting, rules, rows):
    """Write the notes of a fit; none without y or if rows were sampled.

    `searched` are the SearchRows, `counting` is the store of the rows on which rules
    were counted, and `rows` are the same rows as CountingRows.
    """
    if rows.problem.labels is None or problem.is_sample or searched is None:
        return ()
    texts = []
    # AUC for classes, R² for numbers; other outcomes may have neither.
    measure = next((m for m in rules.outcome.measures() if m.is_larger_better), None)
    if measure is not None:
        scores = counting.evaluate(rules)
        own = scores[measure.name]
        if not rules._form.is_sum and rules.n_rules > 1:
            card = _quick_card(problem, settings, searched, counting, rules)
            points = math.nan if card is None else counting.evaluate(card)[measure.name]
            texts.append(_points_text(measure, own, points))
    has_more = any(texts)
    if counting.source == "validation":
        # Validation rows come first in the store; see `RowStore.pooled_with`.
        n_new = counting.n_rows - (problem.store.n_rows if counting.n_trained else 0)
        texts.append(_equal_text(rules, rows, rows.problem.places < n_new, has_more))
    elif measure is not None and searched.new is not None and rules.outcome.n_classes:
        lead = scores[f"model_{measure.name}"] - own
        texts.append(_lead_text(lead, _new_lead(rules, searched), has_more))
    return tuple(text for text in texts if text)


def _quick_card(problem, settings, searched, counting, rules):
    """A quick scorecard with as many rules, counted on the same rows, or None."""
    found = quick_points(problem, settings, searched, rules.n_rules)
    blank, limits = problem.blank("points"), settings.limits
    cards = count_found(
        Found((found,), 0), blank, counting, limits, settings.decision, Scoring()
    )
    return next(iter(cards.by_rules.values()), None)


def _points_text(measure, own, points):
    """Compare with the quick scorecard, which a full search for points would beat."""
    if not points - own >= LEAST_SHOWN:
        return ""
    return (
        'Points would do better (form="points"): on the same rows, a scorecard with as '
        f"many rules has {measure.label} {points:.3f}, these rules {own:.3f}."
    )


def _equal_text(rules, rows, is_new, has_more):
    """Compare rules and model on rows that neither the model nor the search used.

    `has_more` is whether points would do better.
    """
    problem, weight = rows.problem, rows.problem.sample_weight[is_new]
    by_model = problem.probabilities if problem.n_classes else problem.target
    by_model = np.asarray(by_model, dtype=np.float64)
    by_model = by_model.reshape(rows.outputs.shape)
    losses = replace(rows, decision=None).losses(rules._form)
    apart = (losses - ((rows.outputs - by_model) ** 2).sum(axis=1))[is_new]
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
    new, true = searched.new[:JUDGED_ROWS], searched.new_outputs[:JUDGED_ROWS]
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
