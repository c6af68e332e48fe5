"""Which restart is best, and its components' own boxes as a list of rules."""

import numpy as np

from defragtrees.paper.boxes import component_sides
from defragtrees.paper.listing import list_rules

__all__ = ["listed_components", "ranking", "standardisation"]


def listed_components(problem, posterior, features, max_rules, tolerances):
    """The components' own boxes, also as a list, at the tolerance that errs least."""
    boxes = [_boxes(posterior, tolerance, features) for tolerance in tolerances]
    candidates = [list_rules(problem, own, max_rules) for own in boxes]
    losses = [_loss(problem, _answers(problem, rules)) for rules in candidates]
    best = int(np.argmin(losses))
    return candidates[best], boxes[best]


def standardisation(problem):
    """Centre and scale of a numeric target, so that its units have no say."""
    if problem.n_classes:
        return 0.0, 1.0
    if problem.is_sample:
        return problem.store.target.center, problem.store.target.scale
    return problem.center, problem.spread or 1.0


def _boxes(posterior, tolerance, features):
    """The sides of every component, on the features that rules may use."""
    boxes = [
        component_sides(posterior, k, tolerance) for k in range(posterior.n_components)
    ]
    if features is None:
        return boxes
    return [[side for side in sides if side.feature in features] for sides in boxes]


def ranking(posteriors, fitted, problem, losses=None):
    """Places of the restarts by training error, number of components and bound.

    Parameters
    ----------
    posteriors : list of Posterior
    fitted : sequence of Fitted
    problem : Problem
    losses : array, optional
        Their training losses; on the rows of the problem by default.
    """
    if losses is None:
        codes = problem.binned.codes
        losses = [_loss(problem, one.predict_codes(codes)) for one in posteriors]
    keys = [
        (loss, posterior.n_components, -one.objective, index)
        for index, (loss, posterior, one) in enumerate(
            zip(losses, posteriors, fitted, strict=True)
        )
    ]
    return [key[-1] for key in sorted(keys)]


def _loss(problem, answers):
    """Mean loss of class numbers, or numbers, on the training rows."""
    return problem.outcome.error(problem.target, answers, problem.sample_weight)


def _answers(problem, rules):
    """What a list answers to the training rows."""
    answers = np.zeros(len(problem.target), dtype=problem.target.dtype)
    left = np.ones(len(answers), dtype=bool)
    encoded = problem.outcome.encode(np.array([rule.prediction for rule in rules]))
    for rule, answer in zip(rules, encoded, strict=True):
        answering = left & problem.covered(rule.conditions)
        answers[answering] = answer
        left &= ~answering
    return answers
