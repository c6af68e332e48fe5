"""Successive halving: which restarts go on to more rows, and from where."""

import numpy as np

from defragtrees.paper.loop import Starts
from defragtrees.paper.params import Params, Statistics
from defragtrees.paper.posterior import Posterior

__all__ = ["best_of", "training_losses", "warm_starts"]

SHARPNESS = 1e5  # a score that is larger by a thousandth of a nat takes the row


def best_of(fitted, layout, rows, n_kept):
    """The restarts with the smallest training error, in their order.

    Parameters
    ----------
    fitted : list of Fitted
    layout : Layout
    rows : RowStore
        A table in memory.
    n_kept : int
    """
    keys = []
    for one in fitted:
        posterior = Posterior(layout, one.statistics, rows.grid)
        answers, wanted = posterior.predict_codes(rows.table.codes), rows.outputs
        wrong = answers != wanted if layout.n_classes else (answers - wanted) ** 2
        loss = float(np.average(wrong, weights=rows.table.sample_weight))
        keys.append((loss, posterior.n_components, -one.objective, one.restart))
    kept = sorted(range(len(fitted)), key=keys.__getitem__)[:n_kept]
    return [fitted[i] for i in sorted(kept)]


def training_losses(engine, layout, fitted):
    """Mean loss of each restart on the rows of an engine, in one visit to them.

    The posterior answers by the likeliest component given the bins alone. So the output
    gets no say, the scores are made so sharp that responsibilities are 0 or 1, and the
    statistics then hold what the rows of each component want.
    """
    starts = warm_starts(fitted, layout)
    table = SHARPNESS * starts.params.table
    table[layout.class_start :] = 0.0
    nothing = np.zeros(table.shape[1])
    log_weight = SHARPNESS * starts.params.log_weight
    engine.score(Params(table, log_weight, nothing, nothing + 1))
    engine.assign(np.where(starts.alive, 0.0, np.inf))
    wanted = engine.gather()
    if layout.n_classes:
        answers = starts.params.table[layout.class_start :].argmax(axis=0)
        counts = wanted.bins[layout.class_start :]
        losses = counts.sum(axis=0) - counts[answers, np.arange(len(answers))]
    else:
        answers = starts.params.mean
        losses = wanted.second - 2 * answers * wanted.first
        losses += answers**2 * wanted.weight
    losses = losses.reshape(starts.alive.shape).sum(axis=1) / wanted.total
    # Restarts without any loss are equals, whatever adding up has left of it.
    return np.round(losses, 12)


def warm_starts(fitted, layout):
    """Where restarts go on from; those with few components are filled up with none."""
    widest = max(len(one.statistics.weight) for one in fitted)
    parts, alive, share = [], [], []
    for one in fitted:
        own = one.statistics
        n_missing = widest - len(own.weight)
        parts.append([np.pad(a, (0, n_missing)) for a in _flat(own)])
        parts[-1].insert(0, np.pad(own.bins, ((0, 0), (0, n_missing))))
        alive.append(np.arange(widest) < len(own.weight))
        share.append(np.pad(own.weight / own.weight.sum(), (0, n_missing)))
    total = fitted[0].statistics.total
    joined = [np.concatenate(own, axis=-1) for own in zip(*parts, strict=True)]
    params = layout.maximize(Statistics(*joined, total))
    return Starts(params, np.array(alive), np.array(share))


def _flat(statistics):
    return statistics.weight, statistics.first, statistics.second
