"""Which restart is best, and its components' own boxes as a list of rules."""

import math

import numpy as np

from defragtrees import metrics
from defragtrees.methods._listing import list_rules
from defragtrees.mixture.boxes import component_sides

__all__ = ["listed_components", "ranking", "standardisation"]


def listed_components(problem, posterior, settings, tolerances):
    """The components' own boxes, also as a list, at the tolerance that errs least."""
    boxes = [
        _boxes(posterior, tolerance, settings.features) for tolerance in tolerances
    ]
    most = settings.limits.max_rules
    candidates = [list_rules(problem, own, most) for own in boxes]
    losses = [_training_loss(rules, problem) for rules in candidates]
    best = int(np.argmin(losses))
    return candidates[best], boxes[best]


def standardisation(problem):
    """Centre and scale of a numeric target, so that its units have no say."""
    if problem.n_classes:
        return 0.0, 1.0
    if problem.whole is not None:
        return problem.whole.target.center, problem.whole.target.scale
    center = float(np.average(problem.target, weights=problem.sample_weight))
    variance = np.average((problem.target - center) ** 2, weights=problem.sample_weight)
    return center, float(math.sqrt(variance)) or 1.0


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
        losses = [
            metrics.error(
                problem.target,
                posterior.answer(problem.binned.codes),
                problem.task,
                problem.sample_weight,
            )
            for posterior in posteriors
        ]
    keys = [
        (loss, posterior.n_components, -one.objective, index)
        for index, (loss, posterior, one) in enumerate(
            zip(losses, posteriors, fitted, strict=True)
        )
    ]
    return [key[-1] for key in sorted(keys)]


def _training_loss(rules, problem):
    expected = problem.target
    if problem.n_classes:
        expected = np.asarray(problem.classes)[expected]
    answers = rules.predict_encoded(problem.X)
    return metrics.error(expected, answers, problem.task, problem.sample_weight)
