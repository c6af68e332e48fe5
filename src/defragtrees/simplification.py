"""simplify: the one call that picks the right estimator."""

from defragtrees.methods import estimator_for
from defragtrees.readers import read_forest

__all__ = ["simplify"]


def simplify(ensemble, X, y=None, sample_weight=None, **settings):
    """A fitted DefragClassifier or DefragRegressor, as the ensemble asks for.

    Parameters
    ----------
    ensemble : fitted ensemble, path or Forest
    X : array-like or data frame of shape (n_samples, n_features)
        Rows such as the ensemble was trained on; or the path of a Parquet file, an
        iterator of tables, or a Dask array or data frame.
    y : array-like of shape (n_samples,), optional
        Needed only to report errors, or for `target="labels"`.
    sample_weight : array-like of shape (n_samples,), optional
    **settings
        Parameters of the estimator.

    Returns
    -------
    DefragClassifier or DefragRegressor

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ensemble = RandomForestClassifier(random_state=0).fit(X, y)
    >>> simplify(ensemble, X, max_rules=3, random_state=0).rules_.n_rules
    3
    """
    forest = read_forest(ensemble)
    kind = estimator_for("defrag", forest.outcome)
    return kind(ensemble, **settings).fit_forest(forest, X, y, sample_weight)
