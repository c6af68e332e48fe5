"""What the docstrings of all methods say of the settings and attributes they share."""

__all__ = ["with_shared"]

SHARED = {
    "{ensemble}": """\
ensemble : fitted or unfitted ensemble, path, Forest or None, default=None
        What to simplify. A fitted ensemble, or the file it was saved to, is used as it
        is; an unfitted one is cloned and fitted on X and y; None means a random forest
        (gradient boosting where X has categories). `clone`, and so a grid search,
        unfits it: wrap it in `sklearn.frozen.FrozenEstimator` to keep it.""",
    "{shorten_thresholds}": """\
shorten_thresholds : bool, default=True
        Round thresholds to few digits where no training row changes its side.""",
    "{fitted}": """\
ensemble_ : the ensemble that was simplified
    forest_ : Forest
        The ensemble as plain arrays.
    training_ : dict
        `evaluate` on the training rows.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features_in_,)
        Only if X had names.""",
}


def with_shared(text, **others):
    """A docstring with what all methods share in place of its `{name}`."""
    parts = SHARED | {f"    {{{name}}}\n": part for name, part in others.items()}
    for name, part in parts.items():
        text = text.replace(name, part)
    return text
