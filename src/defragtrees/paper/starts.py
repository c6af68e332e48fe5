"""Where restarts begin: parameters drawn by the caller's generator, as small arrays."""

from dataclasses import replace

import numpy as np

from defragtrees.paper.engines.on_numpy import one_hot
from defragtrees.paper.loop import Starts
from defragtrees.paper.params import Block, Params, Statistics

__all__ = ["STARTS", "draw_rest", "random_params", "seeded_params"]

SHARPNESS = 0.5  # share of a seed row in its component; the rest is the average row
MOST_DRAWN = 1000  # rows whose responsibilities are drawn

# Units and distances beyond these would change no start, but leave float32.
LEAST_SCALE, MOST_SCALE = 1e-12, 1e5
FARTHEST = 1e12


def seeded_params(layout, rows, average, n_components, rng):
    """Components that are rows of the data, blurred with the average row.

    Parameters
    ----------
    layout : Layout
    rows : RowStore
        The training rows, a table in memory.
    average : Statistics
        Of one component that holds all rows.
    n_components : int
    rng : numpy.random.Generator
    """
    seeds = _spread_rows(rows, n_components, rng)
    classes = rows.outputs[seeds] if layout.n_classes else None
    seed = one_hot(layout, rows.table.codes[seeds], classes).toarray().T
    share = average.total / n_components
    bins = share * (SHARPNESS * seed + (1 - SHARPNESS) * average.bins / average.total)
    weight = np.full(n_components, share)
    if layout.n_classes:
        zero = np.zeros(n_components)
        return layout.maximize(Statistics(bins, weight, zero, zero, average.total))
    mean = np.asarray(rows.outputs, dtype=float)[seeds]
    second = share * (mean**2 + 1.0 - SHARPNESS)
    return layout.maximize(
        Statistics(bins, weight, share * mean, second, average.total)
    )


def _spread_rows(rows, n_components, rng):
    """Rows whose outputs spread evenly over the sorted outputs, drawn by weight."""
    order = np.argsort(rows.outputs, kind="stable")
    reached = np.cumsum(rows.table.sample_weight[order])
    at = (np.arange(n_components) + rng.random(n_components)) / n_components
    place = np.searchsorted(reached, at * reached[-1], side="right")
    return order[np.minimum(place, len(order) - 1)]


def random_params(layout, rows, average, n_components, rng):
    """Every probability drawn uniformly, as the paper starts; arguments as above."""
    table = np.zeros((layout.n_rows, n_components))
    for block in layout.blocks:
        table[block.rows] = _random_table(block, n_components, rng)
    mean = np.zeros(n_components)
    if layout.n_classes:
        shares = rng.dirichlet(np.ones(layout.n_classes), n_components).T
        table[layout.class_start :] = np.log(np.maximum(shares, 1e-10))
    else:
        mean = rng.normal(size=n_components)
    return Params(
        table,
        np.full(n_components, -np.log(n_components)),
        mean,
        np.ones(n_components),
    )


def _random_table(block: Block, n_components, rng):
    eta = rng.uniform(0.01, 0.99, size=(len(block.weight), n_components))
    log_above = block.weight[:, None] * np.log(eta)
    log_below = block.weight[:, None] * np.log1p(-eta)
    return block.assemble(log_above, log_below, rng.uniform(0.01, 0.99, n_components))


def draw_rest(params, n_rows, seeds, target):
    """Random starts with all else drawn too, as the code of the paper's authors does.

    That is proportions, precisions and responsibilities. Their means are standard
    normal numbers and their precisions uniform ones in the units of y, whatever these
    are; so `params` go from there to the units of the loop, in which y is standardised.

    The first inner step sees no more of the responsibilities than what they add up to.
    So those of a thousand rows are drawn, and how far their mean is from an even share
    is made as small as it is for all rows.

    Parameters
    ----------
    params : Params
        Columns ordered by restart, then by component.
    n_rows : int
    seeds : list of numpy.random.Generator
        One for each restart.
    target : Target
        By which centre and scale numbers are standardised; 0 and 1 for classes.
    """
    n_components = params.mean.size // len(seeds)
    n_drawn = min(n_rows, MOST_DRAWN)
    proportions, precisions, shares = [], [], []
    for rng in seeds:
        uniform = rng.uniform(0.01, 1.0, n_components)
        proportions.append(uniform / uniform.sum())
        precisions.append(1.0 - rng.random(n_components))
        drawn = 1.0 - rng.random((n_drawn, n_components))
        drawn /= drawn.sum(axis=1, keepdims=True)
        away = drawn.mean(axis=0) - 1 / n_components
        shares.append(1 / n_components + away * np.sqrt(n_drawn / n_rows))
    mean, precision = _standardised(params.mean, np.concatenate(precisions), target)
    params = replace(
        params,
        log_weight=np.log(np.concatenate(proportions)),
        mean=mean,
        precision=precision,
    )
    share = np.array(shares)
    return Starts(params, np.ones(share.shape, bool), share)


def _standardised(mean, precision, target):
    """Means and precisions in the units of y, in those of the standardised y."""
    scale = max(target.scale, LEAST_SCALE)
    center = np.clip(target.center / scale, -FARTHEST, FARTHEST)
    return mean / scale - center, precision * min(scale, MOST_SCALE) ** 2


STARTS = {"seeded": seeded_params, "random": random_params}
