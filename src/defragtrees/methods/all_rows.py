"""The search's last steps over all rows of a store, where the problem has a sample."""

import numpy as np

from defragtrees import devices
from defragtrees.methods.box_rules import accepted_bins
from defragtrees.refine.all_rows import AllRows, ShardKeeper
from defragtrees.refine.all_rows_search import polish_all_rows
from defragtrees.refine.judging import Folds, JudgedRows
from defragtrees.refine.on_torch import DeviceKeeper, TorchKeeper
from defragtrees.refine.row_numbers import Imitated, RowNumbers
from defragtrees.refine.table import RowTable, make_columns
from defragtrees.rows.shards import Shard

__all__ = ["AllRowsSearch"]


class AllRowsSearch:
    """What is asked of all rows once a sample has given lists.

    Parameters
    ----------
    problem : Problem
        With a sample of the rows of its store.
    settings : Refinement
    rows : SearchRows
        Those of the sample, and new ones.
    table : RowTable
        Of the same rows.
    loss : SquaredLoss, ErrorLoss or BothLoss
        That lists are polished by.
    """

    def __init__(self, problem, settings, rows, table, loss):
        self.grid, self.sample_columns = problem.grid, table.columns
        store = problem.store
        imitated = Imitated(
            problem.outcome, store.target, settings.is_labels, settings.decision
        )
        numbers = RowNumbers.of_totals(
            imitated,
            store.shards.total(imitated.totals),
            store.n_rows,
            store.total_weight,
            loss.counted[0] > 0,
        )
        columns = make_columns(
            problem.grid,
            store.counts,
            settings.features,
            problem.feature_order,
            problem.ordered_features,
        )
        new = _new_rows(rows, imitated, numbers) if rows.is_drawn.any() else None
        keeper = _keeper(store.shards.map(numbers.of), new, settings.engine)
        least_price = settings.brevity * store.total_weight
        wide = RowTable(columns, np.empty((0, len(columns))), least_price)
        self.rows = AllRows(keeper, wide, loss, numbers, problem.grid.n_bins)
        self.imitated = imitated

    @property
    def total_weight(self):
        """Of all rows."""
        return self.rows.loss.total_weight

    def judge(self, problem, settings, rows):
        """Who judges lists of the sample; nothing here keeps it, or rows, for longer.

        Parameters
        ----------
        problem, settings, rows : as before
        """
        order, n_rows = problem.feature_order, int((~rows.is_drawn).sum())
        codes, weight = rows.codes[:n_rows], rows.weight[:n_rows]
        folds = Folds.of_sample(codes, weight, order)
        is_seen = np.concatenate([folds.of(codes)[0], rows.is_drawn[n_rows:]])
        counts_errors = settings.criterion == "error"
        visits = self.rows.keeper.judging(problem.store.shards, self.imitated, folds)
        judged = JudgedRows(visits, self.rows, counts_errors)
        return SampleJudge(judged, self.lists_of, is_seen)

    def lists_of(self, lists):
        """Lists over the codes of the sample as lists over those of all rows."""
        return [self.rows.list_of(map(self._moved, own.boxes)) for own in lists]

    def _moved(self, box):
        """A box over the codes of the sample as one over those of all rows."""
        columns = {own.feature: j for j, own in enumerate(self.rows.table.columns)}
        moved = {}
        for j, mask in box.items():
            sample = self.sample_columns[j]
            place = columns[sample.feature]
            bins = accepted_bins(self.grid, sample, mask)
            column = self.rows.table.columns[place]
            accepted = np.append(bins[column.bins], bins[-1])
            if not column.accepts_all(accepted):
                moved[place] = accepted
        return moved

    def polished(self, best, limits):
        """Lists of the sample after a descent over all rows, by number of rules."""
        starts = [own.boxes for own in self.lists_of(best.values())]
        return polish_all_rows(self.rows, starts, limits)


def _keeper(shards, new, engine):
    """Who answers for all rows: GPUs if they are asked for, else the shards."""
    if engine != "cuda":
        return ShardKeeper(shards, new)
    if not shards.is_here:
        return DeviceKeeper(shards, devices.DEVICE, new)
    return TorchKeeper(
        [*shards.shards, *([] if new is None else [new])], devices.DEVICE
    )


def _new_rows(rows, imitated, numbers):
    """The rows that were drawn beside the data, as a shard of whole numbers."""
    is_drawn = rows.is_drawn
    outputs, scale = rows.outputs, numbers.mean_weight / numbers.unit
    if outputs is None:
        column = imitated.column
        outputs = (rows.target - column.center) / column.scale
    shard = Shard(rows.codes[is_drawn], {})
    weight = rows.weight[is_drawn] * scale
    return numbers.with_outputs(shard, outputs[is_drawn], weight)


class SampleJudge:
    """Judges lists that were found on some rows of a sample by all rows.

    Parameters
    ----------
    judged : JudgedRows
    lists_of : callable
        From lists of the sample to lists of all rows.
    is_seen : bool array
        Rows of the sample to find lists on.
    """

    def __init__(self, judged, lists_of, is_seen):
        self.judged, self.lists_of, self.is_seen = judged, lists_of, is_seen

    def scores(self, lists):
        """A ListScore for each of some RuleBoxes of the sample."""
        return self.judged.scores(self.lists_of(lists)) if lists else []
