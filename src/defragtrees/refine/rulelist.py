"""RuleBoxes: an ordered list of boxes over the rows of a table, with its cost."""

import numpy as np

__all__ = ["RuleBoxes"]

RULE_PRICE = 1.0  # nats for one more rule, beside its conditions and its answer


class RuleBoxes:
    """An ordered list of boxes, and who answers which row.

    A box is a dict from column number to the codes that it accepts (a bool array,
    missing last). Lists are not changed: `with_box` and the like give new ones.

    Parameters
    ----------
    table : RowTable
    loss : ClassLoss or NumberLoss
    boxes : tuple of dict
    held : bool array of shape (n_boxes, n_samples), optional
        Which rows each box accepts.
    """

    def __init__(self, table, loss, boxes, held=None):
        self.table = table
        self.loss = loss
        self.boxes = tuple(boxes)
        if held is None:
            held = np.array([self.rows_in(box) for box in self.boxes], dtype=bool)
            held = held.reshape(len(self.boxes), table.n_rows)
        self.held = held
        self.answering = first_true(held)
        self.counts = loss.counts(self.answering, len(self.boxes) + 1)
        price = sum(self.box_price(box) for box in self.boxes)
        self.cost = loss.cost(self.counts) + price + RULE_PRICE * len(self.boxes)

    @property
    def n_rules(self):
        """Number of rules, the last "otherwise" included."""
        return len(self.boxes) + 1

    def rows_in(self, box):
        """Which rows a box accepts."""
        held = np.ones(self.table.n_rows, dtype=bool)
        for j, accepted in box.items():
            held &= accepted[self.table.codes[j]]
        return held

    def box_price(self, box):
        """Nats for the conditions of a box."""
        return sum(
            self.table.prices[j] * n_sides(self.table.columns[j], accepted)
            for j, accepted in box.items()
        )

    def with_box(self, k, box):
        """The list with another box at place k."""
        held = self.held.copy()
        held[k] = self.rows_in(box)
        boxes = (*self.boxes[:k], box, *self.boxes[k + 1 :])
        return RuleBoxes(self.table, self.loss, boxes, held)

    def with_new_box(self, k, box):
        """The list with one more box, at place k."""
        held = np.insert(self.held, k, self.rows_in(box), axis=0)
        boxes = (*self.boxes[:k], box, *self.boxes[k:])
        return RuleBoxes(self.table, self.loss, boxes, held)

    def without_box(self, k):
        """The list without box k."""
        boxes = self.boxes[:k] + self.boxes[k + 1 :]
        return RuleBoxes(self.table, self.loss, boxes, np.delete(self.held, k, axis=0))

    def swapped(self, k):
        """The list with boxes k and k + 1 in the other order."""
        order = np.arange(len(self.boxes))
        order[[k, k + 1]] = order[[k + 1, k]]
        boxes = [self.boxes[i] for i in order]
        return RuleBoxes(self.table, self.loss, boxes, self.held[order])

    def reaching(self, k):
        """Rows that no box before k accepts."""
        return ~self.held[:k].any(axis=0)

    def answering_after(self, k):
        """Who would answer each row if the boxes up to k did not."""
        return first_true(self.held[k + 1 :]) + k + 1


def first_true(held):
    """Index of the first box that accepts each row; their number where none does."""
    n_boxes, n_rows = held.shape
    answering = np.full(n_rows, n_boxes)
    for k in range(n_boxes - 1, -1, -1):
        np.copyto(answering, k, where=held[k])
    return answering


def n_sides(column, accepted):
    """How many things a condition asks, as `Condition.n_sides` counts them."""
    if column.is_set:
        return 1
    return max(1, int(not accepted[0]) + int(not accepted[column.n_codes - 1]))
