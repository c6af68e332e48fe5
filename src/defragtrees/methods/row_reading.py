"""read_rows: the rows of a fit as codes, and as numbers where a method needs them."""

import warnings

from defragtrees.methods.compiled import for_many_rows, is_compiled
from defragtrees.methods.words import check_days
from defragtrees.mixture.engines import check_engine
from defragtrees.progress import Progress
from defragtrees.rows import sources
from defragtrees.rows.store import read_store

__all__ = ["read_rows"]


def read_rows(simplifier, source, forest):
    """All rows as codes, and as numbers too if they are few or needed."""
    # Rows that are not read yet are not lost where the engine cannot be used.
    check_engine(getattr(simplifier, "engine", "auto"), source.workers())
    keeps_numbers = simplifier._needs_numbers or source.n_rows() <= sources.MANY_ROWS
    is_shown = getattr(simplifier, "verbose", 0) and not keeps_numbers
    with Progress("rows", source.n_rows()) as progress:
        store = read_store(
            source,
            forest if keeps_numbers else for_many_rows(forest, simplifier.engine),
            compiled=not keeps_numbers and is_compiled(simplifier.engine),
            target="labels" if simplifier.target == "labels" else "answers",
            shorten=simplifier.shorten_thresholds,
            keeps_numbers=keeps_numbers,
            kinds=forest.feature_kinds,
            n_jobs=_n_threads(simplifier),
            watch=progress.advance if is_shown else None,
        )
    check_days(forest, store)
    empty = [j for j, count in enumerate(store.counts) if not count[:-1].any()]
    for j in empty[:5]:
        warnings.warn(
            f"Column {forest.feature_names[j]!r} holds missing values only; no "
            "rule can use it.",
            UserWarning,
            stacklevel=4,
        )
    return store


def _n_threads(simplifier):
    """Threads that visit rows: all processors where they feed a GPU."""
    n_jobs = simplifier.n_jobs
    is_for_gpu = getattr(simplifier, "engine", None) == "cuda"
    return -1 if n_jobs is None and is_for_gpu else n_jobs
