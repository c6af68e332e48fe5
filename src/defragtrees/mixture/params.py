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

from dataclasses import dataclass

import numpy as np

from defragtrees._values import freeze

__all__ = ["Block", "Layout", "Params", "Statistics"]

SMALLEST = 1e-12  # eta, 1 - eta and gamma stay above this
LEAST_VARIANCE = 1e-6  # of the standardised output


@dataclass(frozen=True, eq=False)
class Block:
    """The statements of one feature, as the training rows can tell them apart.

    Parameters
    ----------
    feature : int
    start : int
        First row of this feature in the tables.
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
        How many of the ensemble's thresholds lie below each code of a numeric feature.
    """

    feature: int
    start: int
    codes: np.ndarray
    has_missing: bool
    weight: np.ndarray
    missing_weight: float
    sets: np.ndarray | None = None
    reach: np.ndarray | None = None

    @property
    def n_rows(self):
        """Number of rows of this feature in the tables."""
        return len(self.codes) + self.has_missing

    @property
    def rows(self):
        """Where this feature stands in the tables."""
        return slice(self.start, self.start + self.n_rows)

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
        table = np.zeros((self.n_rows, log_above.shape[1]))
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
    """What the tables of a problem hold, row by row: features first, classes last.

    Parameters
    ----------
    blocks : tuple of Block
    n_classes : int
        0 for regression.
    n_statements : float
        The paper's L: the weights of all statements added up.
    """

    blocks: tuple[Block, ...]
    n_classes: int
    n_statements: float

    @property
    def class_start(self):
        """First row of the classes in the tables."""
        return self.blocks[-1].rows.stop if self.blocks else 0

    @property
    def n_rows(self):
        """Number of rows of a table."""
        return self.class_start + self.n_classes

    @property
    def penalty(self):
        """The paper's omega: half the number of parameters of a component."""
        n_output = self.n_classes - 1 if self.n_classes else 2
        return (n_output + self.n_statements + 1) / 2

    def maximize(self, statistics):
        """The M-step (eq:mstep): parameters that make the statistics most likely."""
        bins = statistics.bins
        table = np.empty(bins.shape)
        for block in self.blocks:
            table[block.rows] = block.table(bins[block.rows])
        weight = np.maximum(statistics.weight, np.finfo(float).tiny)
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


def make_layout(binned, n_classes, statement_weight, order=None):
    """The layout for binned training rows.

    Parameters
    ----------
    binned : Binned
    n_classes : int
        0 for regression.
    statement_weight : "paper" or float
        "paper" counts each of the ensemble's statements once; a number c lets those
        of one feature count c together, at most (w_d = min(1, c / L_d)).
    order : sequence of int, optional
        Features in the order in which they are added up; as in `binned` by default.

    Returns
    -------
    Layout
    """
    blocks, start, idle = [], 0, 0
    grid = binned.grid
    for j in range(grid.n_features) if order is None else order:
        codes, counts, sets, has_missing = _occupied(grid, j, binned.codes[:, j])
        idle += grid.counts[j].sum() - counts.sum()
        n_statements = counts.sum() + has_missing
        if n_statements == 0:
            continue
        scale = (
            1.0
            if statement_weight == "paper"
            else min(1.0, float(statement_weight) / n_statements)
        )
        reach = np.concatenate([[0.0], np.cumsum(counts)]) if sets is None else None
        block = Block(
            feature=int(j),
            start=start,
            codes=freeze(codes),
            has_missing=bool(has_missing),
            weight=freeze(scale * counts),
            missing_weight=scale,
            sets=sets,
            reach=reach,
        )
        blocks.append(block)
        start += block.n_rows
    counted = sum(b.weight.sum() + b.has_missing * b.missing_weight for b in blocks)
    if statement_weight == "paper":
        counted += idle
    return Layout(tuple(blocks), n_classes, float(counted))


def _occupied(grid, j, column):
    """Codes that occur, and the statements that tell them apart, with their counts."""
    present = np.bincount(column, minlength=grid.n_bins[j]) > 0
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
