"""The small arrays of the mixture: its layout, its parameters, its statistics.

Letters of the paper: alpha (weight of a component), beta (responsibility), eta
(probability of a statement), gamma (of a class), mu and lambda (mean and precision of
the output), omega (penalty), K components, L statements, N rows. All columns of all
restarts stand side by side: an array here has one column per (restart, component).

The statements of one feature depend on a row through its bin alone, so they never
appear row by row. `Block.table` gives log p(s | k) per bin (for thresholds a cumulative
sum, since bin c satisfies the first c of them), and the statistics are sums of
responsibility per bin. It is the arithmetic of the paper in another order.
"""

from dataclasses import dataclass, replace

import numpy as np

from defragtrees._utils.values import freeze
from defragtrees.paper.levels import Levels

__all__ = ["Block", "Layout", "Params", "Statistics", "make_layout"]

SMALLEST = 1e-12  # eta, 1 - eta and gamma stay above this
LEAST_VARIANCE = 1e-6  # of the standardised output


@dataclass(frozen=True, eq=False)
class Block:
    """The statements of one feature, as the training rows can tell them apart.

    Parameters
    ----------
    feature : int
    rows : int array of shape (n_codes + has_missing,)
        Where its codes stand in the tables, missing last.
    codes : int array of shape (n_codes,)
        The bins that occur in the training rows, ascending, missing left out.
    has_missing : bool
        Whether the bin for missing values occurs; its row is then the last.
    weight : float array of shape (n_statements,)
        What each statement counts; statements that no row tells apart are one.
    missing_weight : float
        What the statement "is missing" counts.
    sets : bool array of shape (n_codes, n_statements), optional
        Which codes satisfy which statement of a categorical feature.
    reach : float array of shape (n_codes,), optional
        Of a numeric feature: how many of the ensemble's thresholds lie between its
        lowest code and each code.
    """

    feature: int
    rows: np.ndarray
    codes: np.ndarray
    has_missing: bool
    weight: np.ndarray
    missing_weight: float
    sets: np.ndarray | None = None
    reach: np.ndarray | None = None

    def masses(self, bins):
        """Responsibility that satisfies each statement, and that does not.

        Parameters
        ----------
        bins : array of shape (n_rows, n_columns)

        Returns
        -------
        above, below : arrays of shape (n_statements, n_columns)
        """
        seen = bins[: len(self.codes)]
        if self.sets is None:
            above = np.cumsum(seen[:0:-1], axis=0)[::-1]
            below = np.cumsum(seen[:-1], axis=0)
        else:
            above = self.sets.T.astype(float) @ seen
            below = (~self.sets.T).astype(float) @ seen
        return above, below

    def table(self, bins):
        """Weighted log p(statements of this feature | component), a row per code."""
        log_above, log_below = _log_shares(*self.masses(bins))
        weight = self.weight[:, None]
        log_above *= weight
        log_below *= weight
        missing = None
        if self.has_missing:
            present = bins[:-1].sum(axis=0)
            missing = bins[-1] / np.maximum(bins[-1] + present, np.finfo(float).tiny)
        return self.assemble(log_above, log_below, missing)

    def assemble(self, log_above, log_below, missing=None):
        """The table from weighted log-probabilities of the statements.

        Parameters
        ----------
        log_above, log_below : arrays of shape (n_statements, n_columns)
            Of a row that satisfies the statement, and that does not.
        missing : array of shape (n_columns,), optional
            Probability of a missing value.
        """
        table = np.zeros((len(self.rows), log_above.shape[1]))
        seen = table[: len(self.codes)]
        if self.sets is None:
            seen[0] = log_below.sum(axis=0)
            np.subtract(log_above, log_below, out=seen[1:])
            np.cumsum(seen, axis=0, out=seen)
        else:
            sets = self.sets.astype(float)
            seen += sets @ log_above + (1 - sets) @ log_below
        if self.has_missing:
            missing = np.clip(missing, SMALLEST, 1 - SMALLEST)
            seen += self.missing_weight * np.log1p(-missing)
            table[-1] += self.missing_weight * np.log(missing)
        return table


def _log_shares(part, rest):
    """log of part / (part + rest) and of its complement, both kept above SMALLEST."""
    total = part + rest
    with np.errstate(divide="ignore", invalid="ignore"):
        # An empty component knows nothing: both sides are equally likely.
        share = np.where(total > 0, part / total, 0.5)
        other = np.where(total > 0, rest / total, 0.5)
    np.clip(share, SMALLEST, 1 - SMALLEST, out=share)
    np.clip(other, SMALLEST, 1 - SMALLEST, out=other)
    return np.log(share, out=share), np.log(other, out=other)


@dataclass(frozen=True, eq=False)
class Layout:
    """What the tables of a problem hold, row by row.

    The codes of numeric features stand first, level by level; then the missing values
    of these features, the categorical features, and the classes.

    Parameters
    ----------
    blocks : tuple of Block
        In the order in which features are added up.
    levels : Levels
        Of the numeric features.
    leading : tuple of Block
        The numeric features in the order of `levels`.
    n_classes : int
        0 for regression.
    n_rows : int
        Number of rows of a table.
    n_statements : float
        The paper's L: the weights of all statements added up.
    """

    blocks: tuple[Block, ...]
    levels: Levels
    leading: tuple[Block, ...]
    n_classes: int
    n_rows: int
    n_statements: float

    @property
    def class_start(self):
        """First row of the classes in the tables."""
        return self.n_rows - self.n_classes

    @property
    def penalty(self):
        """The paper's omega: half the number of parameters of a component."""
        n_output = self.n_classes - 1 if self.n_classes else 2
        return (n_output + self.n_statements + 1) / 2

    def maximize(self, statistics, workspace=None):
        """The M-step (eq:mstep): parameters that make the statistics most likely.

        Parameters
        ----------
        statistics : Statistics
        workspace : Workspace, optional
            For as many columns; saves making one.
        """
        bins = statistics.bins
        workspace = workspace or self.levels.workspace(bins.shape[1])
        weight = np.maximum(statistics.weight, np.finfo(float).tiny)
        table = np.empty(bins.shape)
        self._fill_numeric(table, bins, weight, workspace)
        for block in self.blocks:
            if block.sets is not None:
                table[block.rows] = block.table(bins[block.rows])
        if self.n_classes:
            share = bins[self.class_start :] / weight
            table[self.class_start :] = np.log(np.clip(share, SMALLEST, 1.0))
        mean = statistics.first / weight
        variance = statistics.second / weight - mean**2
        return Params(
            table=table,
            log_weight=np.log(weight / statistics.total),
            mean=mean,
            precision=1.0 / np.maximum(variance, LEAST_VARIANCE),
        )

    def _fill_numeric(self, table, bins, weight, workspace):
        n_rows = self.levels.n_rows
        total, extra = weight, None
        hollow = [j for j, block in enumerate(self.leading) if block.has_missing]
        if hollow:
            rows = np.array([self.leading[j].rows[-1] for j in hollow])
            scale = np.array([self.leading[j].missing_weight for j in hollow])[:, None]
            missing = np.clip(bins[rows] / weight, SMALLEST, 1 - SMALLEST)
            extra = np.zeros((len(self.leading), bins.shape[1]))
            extra[hollow] = scale * np.log1p(-missing)
            table[rows] = scale * np.log(missing)
            total = np.tile(weight, (len(self.leading), 1))
            total[hollow] = np.maximum(weight - bins[rows], SMALLEST * weight)
        numeric = table[:n_rows]
        workspace.fill_tables(bins[:n_rows], total, SMALLEST, numeric, extra)


@dataclass(frozen=True, eq=False)
class Params:
    """Parameters of all components, ready to score rows.

    Parameters
    ----------
    table : array of shape (n_rows, n_columns)
        Log-likelihood of each bin and each class.
    log_weight : array of shape (n_columns,)
        log alpha.
    mean, precision : arrays of shape (n_columns,)
        Of the output; not used in classification.
    """

    table: np.ndarray
    log_weight: np.ndarray
    mean: np.ndarray
    precision: np.ndarray


@dataclass(frozen=True, eq=False)
class Statistics:
    """Responsibilities added up over the rows; these add up over blocks of rows too.

    Parameters
    ----------
    bins : array of shape (n_rows, n_columns)
        By bin and by class.
    weight : array of shape (n_columns,)
        Over all rows.
    first, second : arrays of shape (n_columns,)
        Times the output, and times its square; zero in classification.
    total : float
        Weight of all rows.
    """

    bins: np.ndarray
    weight: np.ndarray
    first: np.ndarray
    second: np.ndarray
    total: float

    def columns(self, index):
        """The statistics of some columns."""
        return Statistics(
            self.bins[:, index],
            self.weight[index],
            self.first[index],
            self.second[index],
            self.total,
        )


def make_layout(grid, bin_counts, n_classes, statement_weight, order=None):
    """The layout for binned training rows.

    Parameters
    ----------
    grid : ThresholdGrid
    bin_counts : sequence of array
        For each feature how many rows have each of its bins.
    n_classes : int
        0 for regression.
    statement_weight : "paper" or float
        "paper" counts each of the ensemble's statements once; a number c lets those
        of one feature count c together, at most (w_d = min(1, c / L_d)).
    order : sequence of int, optional
        Features in the order in which they are added up; as in the grid by default.

    Returns
    -------
    Layout
    """
    blocks, idle = [], 0
    for j in range(grid.n_features) if order is None else order:
        codes, counts, sets, has_missing = _occupied(grid, j, bin_counts[j] > 0)
        idle += grid.counts[j].sum() - counts.sum()
        n_statements = counts.sum() + has_missing
        if n_statements == 0:
            continue
        scale = (
            1.0
            if statement_weight == "paper"
            else min(1.0, float(statement_weight) / n_statements)
        )
        blocks.append(
            Block(
                feature=int(j),
                rows=np.empty(0, np.intp),
                codes=freeze(codes),
                has_missing=bool(has_missing),
                weight=freeze(scale * counts),
                missing_weight=scale,
                sets=sets,
                reach=np.concatenate([[0.0], np.cumsum(counts)]),
            )
        )
    counted = sum(b.weight.sum() + b.has_missing * b.missing_weight for b in blocks)
    if statement_weight == "paper":
        counted += idle
    return _place(blocks, n_classes, float(counted))


def _place(blocks, n_classes, n_statements):
    """Give every block its rows in the tables."""
    numeric = [i for i, block in enumerate(blocks) if block.sets is None]
    numeric.sort(key=lambda i: -len(blocks[i].codes))
    levels = Levels(
        [len(blocks[i].codes) for i in numeric], [blocks[i].weight for i in numeric]
    )
    n_rows = levels.n_rows
    rows = {}
    for rank, i in enumerate(numeric):
        rows[i] = levels.rows_of(rank, len(blocks[i].codes))
        if blocks[i].has_missing:
            rows[i] = np.append(rows[i], n_rows)
            n_rows += 1
    for i, block in enumerate(blocks):
        if block.sets is not None:
            rows[i] = np.arange(n_rows, n_rows + len(block.codes) + block.has_missing)
            n_rows = int(rows[i][-1]) + 1
    placed = [replace(b, rows=freeze(rows[i])) for i, b in enumerate(blocks)]
    leading = tuple(placed[i] for i in numeric)
    return Layout(
        tuple(placed), levels, leading, n_classes, n_rows + n_classes, n_statements
    )


def _occupied(grid, j, present):
    """Codes that occur, and the statements that tell them apart, with their counts."""
    has_missing = present[-1] and present[:-1].any()
    codes = np.flatnonzero(present[:-1])
    splits, counts = grid.splits[j], grid.counts[j]
    if splits.ndim == 1:
        reach = np.concatenate([[0], np.cumsum(counts)])
        return codes, np.diff(reach[codes]).astype(float), None, has_missing
    sets = splits[:, codes]
    # A set and its complement are one statement; count from the side without code 0.
    sets = np.where(sets[:, :1], ~sets, sets)
    useful = sets.any(axis=1)
    if not useful.any():
        return codes, np.zeros(0), np.zeros((len(codes), 0), bool), has_missing
    sets, group = np.unique(sets[useful], axis=0, return_inverse=True)
    counts = np.bincount(group.ravel(), weights=counts[useful])
    return codes, counts, freeze(sets.T), has_missing
