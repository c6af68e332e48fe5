"""Results: what a run has kept, and how it becomes means, rows and sentences."""

import csv
import io
from dataclasses import dataclass, field

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees.reproduce import paper

__all__ = ["Item", "Results", "rows_with", "spread_text", "title_of", "to_csv"]


@dataclass(frozen=True, eq=False)
class Results:
    """Reads the results of all realisations.

    Parameters
    ----------
    store : Store
    seeds : sequence of int
    datasets : sequence of str
    data_home : path, optional
        For pictures, which draw the rows themselves.
    """

    store: object
    seeds: tuple[int, ...]
    datasets: tuple[str, ...]
    data_home: object = None

    def all(self, dataset, part):
        """The results of one part, by realisation; without those that are not there."""
        results = (self.store.read(dataset, seed, part) for seed in self.seeds)
        return [one for one in results if one is not None]

    def one(self, dataset, part, seed=0):
        """The result of one realisation, or None."""
        return self.store.read(dataset, seed, part)

    def values(self, dataset, part, name):
        """One number of every realisation, as an array."""
        return np.array([one[name] for one in self.all(dataset, part)], dtype=float)


@dataclass(frozen=True, eq=False)
class Item:
    """A table or a figure: what the paper says, what came out, and a verdict.

    Parameters
    ----------
    name : str
        Also the name of its files.
    title : str
    said : str
        What the paper says, in a sentence or two.
    header : list of str
    rows : list of list
        Ready to show.
    numbers : list of dict
        The same unrounded, for the CSV file.
    verdict : list of str
        Sentences computed from the numbers.
    figures : dict
        From the name of a picture to a matplotlib Figure.
    """

    name: str
    title: str
    said: str
    header: list[str]
    rows: list[list[str]]
    numbers: list[dict]
    verdict: list[str]
    figures: dict = field(default_factory=dict)


def spread_text(values, digits=3):
    """Mean and standard deviation as text.

    Examples
    --------
    >>> spread_text([1.0, 2.0, 3.0]), spread_text([])
    ('2 ± 0.82', '')
    """
    if len(values) == 0:
        return ""
    mean = render.rounded(float(np.mean(values)), digits)
    return f"{mean} ± {render.rounded(float(np.std(values)), 2)}"


def rows_with(rows, **values):
    """Those of some plain dicts that have these values.

    Examples
    --------
    >>> rows_with([{"a": 1, "b": 2}, {"a": 3, "b": 2}], a=3)
    [{'a': 3, 'b': 2}]
    """
    return [
        row for row in rows if all(row[name] == value for name, value in values.items())
    ]


def to_csv(rows):
    r"""Rows of plain dicts with the same keys as CSV text.

    Examples
    --------
    >>> to_csv([{"a": 1, "b": 0.5}])
    'a,b\n1,0.5\n'
    """
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def title_of(dataset):
    """The data set's name as the paper writes it."""
    return paper.TITLES[dataset]
