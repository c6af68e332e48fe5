"""write_report: from a fitted simplifier and some rows to a file."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from defragtrees._utils.files import write_atomic
from defragtrees._utils.types import Column, Rows
from defragtrees.estimators.base import Simplifier
from defragtrees.report.page import make_page
from defragtrees.report.summary import summarize

__all__ = ["write_report"]

# Files that would not open, as they are no HTML.
OTHER_KINDS = (".doc", ".docx", ".md", ".pdf", ".png", ".pptx", ".svg", ".xlsx")


def write_report(
    path: str | os.PathLike[str],
    simplifier: Simplifier,
    X: Rows,
    y: Column | None = None,
    sample_weight: Column | None = None,
    *,
    title: str | None = None,
    rule_path: Any = None,
    comparison: Any = None,
    features: Any = None,
    command: str | None = None,
    groups: Any = None,
    target_name: str | None = None,
    ensemble_name: str | None = None,
    max_rows: int = 1000,
) -> Path:
    """Write the rules of a fitted simplifier, and what these rows say of them, as HTML.

    The file holds everything that it shows and fetches nothing. It reads without
    scripts; with them, and with plotly installed when it is written, choosing a rule
    highlights its rows.

    Parameters
    ----------
    path : str or Path
        The file to write. It is replaced at once, when the page is complete.
    simplifier : Simplifier
        Fitted.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows to measure on and to draw; best rows that nobody trained on.
    y : array-like of shape (n_samples,), optional
        Without it there are no errors, only agreement with the ensemble.
    sample_weight : array-like of shape (n_samples,), optional
    title : str, optional
    rule_path : RulePath, optional
        The trade-off to show. By default it is the path that the simplifier kept, if
        it has one, measured on these rows.
    comparison : Comparison, optional
        Other methods to show beside this one.
    features : sequence of pairs of str or int, optional
        Pairs of features to draw maps of; by default the two that the rules use most.
    command : str, optional
        How this report was made, to show under how to reproduce it.
    groups : str or array-like of shape (n_samples,), optional
        A column of X, also one that is no feature, or the group of each row; coverage,
        rates, errors and answers are then set side by side, group by group.
    target_name : str, optional
        What y is called; by default the name that a Series has.
    ensemble_name : str, optional
        What the ensemble is called; by default its class.
    max_rows : int, default=1000
        Most rows to draw; all are measured.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees import simplify
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ensemble = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> simple = simplify(ensemble, X, y, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = write_report(f"{folder}/iris.html", simple, X, y)
    ...     written.read_text(encoding="utf-8").count("</section>")
    13
    """
    _check_roles(path, simplifier)
    place = _checked(path)
    is_whole = isinstance(max_rows, int | np.integer) and not isinstance(max_rows, bool)
    if not (is_whole and max_rows >= 1):
        raise ValueError(f"max_rows must be a whole number from 1; got {max_rows!r}.")
    summary = summarize(
        simplifier,
        X,
        y,
        sample_weight,
        title=title,
        rule_path=rule_path,
        comparison=comparison,
        features=features,
        command=command,
        groups=groups,
        target_name=target_name,
        ensemble_name=ensemble_name,
        max_rows=int(max_rows),
    )
    # A name may hold half of a surrogate pair, which UTF-8 cannot say.
    write_atomic(place, make_page(summary).encode("utf-8", "replace"))
    return place


def _check_roles(path, simplifier):
    """Refuse arguments in another order, and rules without their estimator."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(
            f"path must name the file to write; got {type(path).__name__}. Call "
            "write_report(path, simplifier, X, y): the file comes first."
        )
    if not isinstance(simplifier, Simplifier):
        raise TypeError(
            "simplifier must be a fitted estimator, such as simplify gives; got "
            f"{type(simplifier).__name__}. Pass the one whose `rules_` these are, or "
            "write rules alone by export(rules, 'html', path)."
        )


def _checked(path):
    path = Path(path)
    if path.suffix.lower() in OTHER_KINDS:
        raise ValueError(
            f"write_report writes one HTML page; got {str(path)!r}. Name it "
            f"{path.stem + '.html'!r}; a browser prints it to PDF."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"The folder of the report must exist; {str(path.parent)!r} does not. "
            "Create it first."
        )
    if path.is_dir():
        raise IsADirectoryError(
            f"path must name a file; {str(path)!r} is a folder. Add a file name."
        )
    return path
