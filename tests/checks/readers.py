"""What every reader must hold: its Forest predicts what the library predicts."""

import numpy as np

from defragtrees.ensembles.readers import read_forest


def rows_around_thresholds(forest, matrix, n_base=40):
    """Rows of `matrix` with one cell moved onto a threshold, or one ulp beside it."""
    rows = []
    for j, splits in enumerate(forest.splits()):
        if forest.categories[j] is not None:
            continue
        finite = splits[np.isfinite(splits)]
        for i, t in enumerate(finite):
            for value in (t, np.nextafter(t, -np.inf), np.nextafter(t, np.inf)):
                row = matrix[(i + j) % min(n_base, len(matrix))].copy()
                row[j] = value
                rows.append(row)
    return np.array(rows).reshape(-1, matrix.shape[1])


def check_labels(forest, model, X, **predict_options):
    """Labels are equal on every row, and so are their type and order."""
    expected = np.asarray(model.predict(X, **predict_options)).ravel()
    found = forest.predict(X)
    assert found.shape == expected.shape
    assert (found == expected).all(), f"{(found != expected).sum()} labels differ"


def check_numbers(forest, expected, X, rtol=1e-6):
    """Numbers agree to `rtol`, relative to their own size and to their spread."""
    found = forest.predict(X)
    expected = np.asarray(expected, dtype=np.float64).ravel()
    scale = np.maximum(np.abs(expected), np.abs(expected).mean())
    assert found.shape == expected.shape
    assert (np.abs(found - expected) <= rtol * scale).all(), (
        np.abs(found - expected) / scale
    ).max()


def check_probabilities(forest, expected, X, atol=1e-6):
    """Class probabilities agree."""
    np.testing.assert_allclose(forest.predict_proba(X), expected, rtol=0, atol=atol)


def check_reader(model, X, n_rows=20_000):
    """The whole suite for a fitted model with scikit-learn's predict interface.

    X is the array that it was fitted on. Rows on and beside every threshold, and rows
    with missing values if X has any, are predicted too.
    """
    forest = read_forest(model)
    X = np.asarray(X, dtype=np.float64)
    around = rows_around_thresholds(forest, X)[:n_rows]
    for rows in (X, around):
        if len(rows) == 0:
            continue
        if forest.task == "classification":
            check_probabilities(forest, model.predict_proba(rows), rows)
            check_labels(forest, model, rows)
        else:
            check_numbers(forest, model.predict(rows), rows)
    return forest
