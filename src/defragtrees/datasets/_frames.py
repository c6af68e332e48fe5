"""Bundled tables as people have them: words, gaps and named classes."""

import io
from typing import TYPE_CHECKING

from defragtrees._utils.optional import require
from defragtrees.datasets._places import read_bundled

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["load_table"]

TABLES = {
    "credit": ("credit.csv.gz", "status"),
    "energy": ("energy.csv.gz", "heating load"),
    "heart": ("heart.csv.gz", "state"),
    "homes": ("homes.csv.gz", "price"),
    "spambase": ("spambase_sample.csv.gz", "kind"),
}
NAMED = {"spambase": {0: "mail", 1: "spam"}}


def load_table(name: str) -> "tuple[pd.DataFrame, pd.Series]":
    """A bundled table and its outcome, as a data frame and a series.

    Parameters
    ----------
    name : {"credit", "energy", "heart", "homes", "spambase"}
        4,454 people who asked for a credit, "paid" or "unpaid"; the heating load of 768
        buildings; 303 patients, "healthy" or "ill"; the prices of 932 homes; 2,000
        e-mails, "mail" or "spam".

    Returns
    -------
    X : DataFrame
    y : Series

    Examples
    --------
    >>> X, y = load_table("heart")
    >>> X.shape, y.value_counts().to_dict()
    ((303, 13), {'healthy': 164, 'ill': 139})
    """
    if name not in TABLES:
        raise ValueError(f"name must be one of {tuple(TABLES)}; got {name!r}.")
    pd = require("pandas", "A table")
    file, outcome = TABLES[name]
    content = io.BytesIO(read_bundled(file))
    table = pd.read_csv(content, compression="gzip", dtype={"zip": str})
    y = table.pop("target").rename(outcome)
    return table, y.map(NAMED[name]) if name in NAMED else y
