"""PointBoxes: boxes whose points add up, with their cost on the rows of a table."""

from functools import cached_property

import numpy as np

from defragtrees.outcomes.points import (
    MOST_COUNTED,
    PRIOR_ROWS,
    PRIOR_ROWS_OF_NUMBERS,
    find_patterns,
    fit_linked,
    fit_numbers,
)
from defragtrees.search.boxes import (
    DIGITS,
    RULE_PRICE,
    Boxes,
    n_sides,
    settled,
    standardised,
    weight_of_sample,
)

LEAST_STEP = 1e-3  # of a fit of points; an error of a millionth changes no choice

MOST_REMOVED = 3  # boxes of which one is removed; points are fitted without each


class NumberLoss:
    """Squared error of sums of points, for numbers, one or several per row.

    `least_spread` is the share of the target's variance that sums need not explain.
    """

    def __init__(self, target, weight, least_spread):
        self.least_spread = least_spread
        self.target = standardised(target, weight)
        self.weight = weight
        self.total_weight = float(weight.sum())
        self.base_deviance = float(weight @ (self.target**2).sum(axis=1)) or 1.0
        self.prior = PRIOR_ROWS_OF_NUMBERS
        self.columns = [weight, *(weight * column for column in self.target.T)]

    def take(self, rows):
        """The same loss for a sample of the rows."""
        weight = weight_of_sample(self.weight, rows)
        return NumberLoss(self.target[rows], weight, self.least_spread)

    def fit(self, held, weight, sums, prior, start):
        """Fit points; returns them and the loss relative to the base."""
        points, explained = fit_numbers(held, weight, sums, prior)
        return points, max(1.0 - explained / self.base_deviance, 0.0)

    def row_losses(self, totals):
        """Weighted loss of each row."""
        apart = self.target - totals
        return self.weight * (apart * apart).sum(axis=1)

    def slopes(self, totals):
        """Negative gradient and curvature of the loss of each row by its sum."""
        return (self.target - totals) * self.weight[:, None], self.weight


class LinkedLoss:
    """Deviance of means whose links are sums of points: probabilities, or rates.

    `target`, (n_samples, 1), has the means, and `link` is one of `LINKS`;
    `least_spread` is the share of the base's loss that sums need not explain.
    """

    def __init__(self, target, weight, least_spread, link):
        self.least_spread = least_spread
        self.link = link
        self.weight = weight
        self.total_weight = float(weight.sum())
        rate = float(weight @ target[:, 0]) / self.total_weight
        unit = rate if link.is_scaled and rate else 1.0
        self.target = np.round(target / unit, 9) * unit
        rate = float(weight @ self.target[:, 0]) / self.total_weight
        self.least = float(weight @ link.least(self.target[:, 0]))
        self.base_deviance = 2 * (self.total_weight * link.least(rate) - self.least)
        self.base_deviance = max(self.base_deviance, 1e-9 * self.total_weight * unit)
        self.prior = PRIOR_ROWS * max(link.curve(rate), link.least_curve)
        self.columns = [weight, weight * self.target[:, 0]]

    def take(self, rows):
        """The same loss for a sample of the rows."""
        some = self.target[rows], weight_of_sample(self.weight, rows)
        return LinkedLoss(*some, self.least_spread, self.link)

    def fit(self, held, weight, sums, prior, start):
        """Fit points; returns them and the loss relative to the base."""
        given = self.link, held, weight, sums, prior, start
        points, nats = fit_linked(*given, LEAST_STEP)
        return points, max(2 * (nats - self.least) / self.base_deviance, 0.0)

    def row_losses(self, totals):
        """Weighted loss of each row."""
        total = totals[:, 0]
        nats = self.link.potential(total) - self.target[:, 0] * total
        return 2 * self.weight * nats

    def slopes(self, totals):
        """Negative gradient and curvature of the loss of each row by its sum."""
        likely = self.link.mean(totals)
        bend = self.weight * self.link.curve(likely)[:, 0]
        return (self.target - likely) * self.weight[:, None], bend


class PointBoxes(Boxes):
    """Boxes with points; those of all boxes that match, and of the base, add up.

    Points are fitted jointly whenever a box changes, from `start` if points near them
    are known.
    """

    def __init__(self, table, loss, boxes, held=None, prices=None, start=None):
        super().__init__(table, loss, boxes, held, prices)
        self.prior = np.append(np.full(len(self.boxes), loss.prior), 0.0)
        if len(self.boxes) <= MOST_COUNTED:
            patterns, place = find_patterns(self.held)
            weight, *sums = (
                np.bincount(place, column, len(patterns)) for column in loss.columns
            )
        else:  # nearly every row has a pattern of its own
            patterns = np.ones((len(loss.weight), len(self.boxes) + 1))
            patterns[:, :-1] = self.held.T
            weight, *sums = loss.columns
        self.weights = patterns[:, :-1].T @ weight
        sums = np.column_stack(sums)
        self.points, off = loss.fit(patterns, weight, sums, self.prior, start)
        self.spread = off + loss.least_spread
        # One number per rule, to the precision that the rows support.
        each = 0.5 * np.log(max(loss.total_weight, 2.0)) + RULE_PRICE
        fit = 0.5 * loss.total_weight * np.log(self.spread)
        self.cost = settled(fit + sum(self.prices) + each * len(self.prices))

    @property
    def least_answered(self):
        """Smallest weight of the rows that a rule matches, or does not match."""
        rest = self.loss.total_weight - self.weights
        return np.minimum(self.weights, rest).min(initial=np.inf)

    @cached_property
    def curvature(self):
        """Slope and curvature of the loss at the points.

        Both by row, as lines of one array: the slopes, and the second derivatives by
        the points of each rule, of which the last is the base. And the inverse of the
        matrix of rules with rules.
        """
        slope, bend = self.loss.slopes(self.totals)
        base = np.ones((1, self.table.n_rows))
        design = np.vstack([self.held.astype(np.float64), base])
        overlap = design * bend
        matrix = overlap @ design.T + np.diag(self.prior)
        floor = 1e-9 * max(matrix.diagonal().max(), 1e-300)
        inverse = np.linalg.inv(matrix + floor * np.eye(len(matrix)))
        return np.vstack([slope.T, overlap]), inverse

    def removable(self):
        """The few boxes without which the cost is lowest, up to second order."""
        variance = np.diagonal(self.curvature[-1])[:-1]
        rise = (self.points[:-1] ** 2).sum(axis=1) / variance
        share = rise / (self.spread * self.loss.base_deviance)
        cost = 0.5 * self.loss.total_weight * np.log1p(share) - self.prices
        return np.argsort(np.round(cost, DIGITS), kind="stable")[:MOST_REMOVED]

    @cached_property
    def totals(self):
        """Sums of points of each row, (n_samples, n_outputs).

        Rule by rule, so that rounding does not depend on matrix multiplication.
        """
        totals = np.tile(self.points[-1], (self.table.n_rows, 1))
        for held, points in zip(self.held, self.points, strict=False):
            totals += held[:, None] * points
        return totals

    _row_losses = cached_property(lambda self: self.loss.row_losses(self.totals))

    def row_gains(self, k):
        """Gain for each row if rule k accepts it, with the present points."""
        sign, loss = np.where(self.held[k], -1.0, 1.0), self.loss
        other = loss.row_losses(self.totals + sign[:, None] * self.points[k])
        nats_per_loss = loss.total_weight / (2 * self.spread * loss.base_deviance)
        return sign * (self._row_losses - other) * nats_per_loss

    def _kept(self, held, k, n_old, n_new):
        if n_new > n_old:
            return {"start": np.insert(self.points, k, 0.0, axis=0)}
        return {"start": np.delete(self.points, k, 0) if n_new < n_old else self.points}

    def keeps_order(self, j, sign):
        """Whether sums only fall, or only rise, with a column.

        This holds if each rule on it accepts all codes on one side, with points of the
        right sign.
        """
        for box, points in zip(self.boxes, self.points[:, 0], strict=False):
            if j not in box:
                continue
            inside = box[j][:-1]
            rises = np.diff(inside.astype(int)) * points * sign
            if (inside[0] and inside[-1] and not inside.all()) or (rises < 0).any():
                return False
        return True

    def in_reading_order(self):
        """The same set for readers: most important rules first, matching few rows.

        A rule of one condition that matches most rows is equivalent to its complement
        with points of the other sign.
        """
        boxes = [self._rarer(k) for k in range(len(self.boxes))]
        rules = PointBoxes(self.table, self.loss, boxes)
        share = rules.weights / self.loss.total_weight
        size = np.sqrt((rules.points[:-1] ** 2).sum(axis=1) * share * (1 - share))
        order = np.argsort(-np.round(size, 9), kind="stable").tolist()
        return PointBoxes(self.table, self.loss, [boxes[k] for k in order])

    def _rarer(self, k):
        """Box k or, if it matches fewer rows and is as short, its complement."""
        box = self.boxes[k]
        if len(box) != 1 or 2 * self.weights[k] <= self.loss.total_weight:
            return box
        [(j, accepted)] = box.items()
        column = self.table.columns[j]
        if column.span is not None:
            return box
        others = ~accepted
        if not column.has_missing:
            others[-1] = False
        is_short = n_sides(column, others) == n_sides(column, accepted) == 1
        inside = np.flatnonzero(others[:-1])
        is_interval = len(inside) and len(inside) == inside[-1] - inside[0] + 1
        return {j: others} if is_short and (column.is_set or is_interval) else box
