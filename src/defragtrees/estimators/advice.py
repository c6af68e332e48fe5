"""Sentences on what scores of a fit do not show: points, and the ensemble's lead."""

import math
from dataclasses import replace

import numpy as np

from defragtrees.outcomes.points import Scoring
from defragtrees.search.driver import Found, count_found, quick_points

LEAST_SHOWN = 0.001  # difference that two numbers in a sentence show
LEAST_APART = 0.01  # of AUC, that is worth a sentence
JUDGED_ROWS = 3_000  # of the new rows; enough to compare two models


def advise(problem, settings, searched, counting, rules, rows):
    """Sentences about rules, for `summary`; none without y or of a sample of the rows.

    `searched` are the SearchRows, `counting` is the store of the rows that count, and
    `rows` are these as CountingRows.
    """
    if rows.problem.labels is None or problem.is_sample or searched is None:
        return ()
    texts = []
    # AUC of classes, the explained variance of numbers; other kinds may have neither
    measure = next((m for m in rules.outcome.measures() if m.is_larger_better), None)
    if measure is not None:
        scores = counting.evaluate(rules)
        own = scores[measure.name]
        if rules.combination != "sum" and rules.n_rules > 1:
            card = _quick_card(problem, settings, searched, counting, rules)
            points = math.nan if card is None else counting.evaluate(card)[measure.name]
            texts.append(_points_text(measure, own, points))
    has_more = any(texts)
    if counting.source == "validation":
        # They come first in the store; see `RowStore.pooled_with`.
        n_new = counting.n_rows - (problem.store.n_rows if counting.n_trained else 0)
        texts.append(_equal_text(rules, rows, rows.problem.places < n_new, has_more))
    elif measure is not None and searched.new is not None and rules.outcome.n_classes:
        lead = scores[f"ensemble_{measure.name}"] - own
        texts.append(_lead_text(lead, _new_lead(rules, searched), has_more))
    return tuple(text for text in texts if text)


def _quick_card(problem, settings, searched, counting, rules):
    """A scorecard with as many rules, counted on the same rows; None without one."""
    found = quick_points(problem, settings, searched, rules.n_rules)
    blank, limits = problem.blank("points"), settings.limits
    cards = count_found(
        Found((found,), 0), blank, counting, limits, settings.decision, Scoring()
    )
    return next(iter(cards.by_rules.values()), None)


def _points_text(measure, own, points):
    """What a search for points would find is better than the quick scorecard."""
    if not points - own >= LEAST_SHOWN:
        return ""
    return (
        f'Points would do better (form="points"): even as many single conditions that '
        f"add up have {measure.label} {points:.3f}, the rules on the same rows "
        f"{own:.3f}."
    )


def _equal_text(rules, rows, is_new, has_more):
    """Whether the ensemble is no better on rows that neither it nor the search used.

    `has_more` says that points would do better.
    """
    problem, weight = rows.problem, rows.problem.sample_weight[is_new]
    told = problem.probabilities if problem.n_classes else problem.target
    told = np.asarray(told, dtype=np.float64).reshape(rows.outputs.shape)
    losses = replace(rows, decision=None).losses(rules)
    apart = (losses - ((rows.outputs - told) ** 2).sum(axis=1))[is_new]
    mean = np.average(apart, weights=weight)
    error = math.sqrt(np.average((apart - mean) ** 2, weights=weight) / weight.sum())
    if mean > error:
        return ""
    return (
        "The rules predict as well as the ensemble, within chance, on rows that "
        f"neither used{'' if has_more else ': the data has no more to give'}."
    )


def _new_lead(rules, searched):
    """By how much AUC the ensemble would lead on new rows if it were right there.

    The lead of deep forests and boosting is smaller than that, that of forests with
    large leaves nearly the same. For numbers it is no guide: what forests predict is
    drawn to the mean, and so would be the lead.
    """
    outcome = rules.outcome
    new, told = searched.new[:JUDGED_ROWS], searched.told[:JUDGED_ROWS]
    predicted = rules._predict_proba(rules._covers(new))
    return outcome.expected_auc(told, told) - outcome.expected_auc(told, predicted)


def _lead_text(lead, new_lead, has_more):
    if not lead - new_lead >= LEAST_APART:
        return ""
    has_more = has_more or new_lead >= LEAST_APART
    return (
        f"On new rows the ensemble's lead in AUC would be about {max(new_lead, 0):.2f} "
        f"by its own probabilities, not the {lead:.2f} on these rows: the rest is "
        f"overfitting{'' if has_more else ', and the data has no more to give'}."
    )
