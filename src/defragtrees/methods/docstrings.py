"""What the docstrings of all methods say of the settings and attributes they share."""

__all__ = ["with_shared"]

SHARED = {
    "{ensemble}": """\
ensemble : fitted or unfitted ensemble, path, Forest or None, default=None
        What to simplify. A fitted ensemble, or the file it was saved to, is used as it
        is; an unfitted one is cloned and fitted on X and y; None means a random forest
        (gradient boosting where X has categories). Any other model that predicts, or a
        function, is asked for its answers. `clone`, and so a grid search,
        unfits it: wrap it in `sklearn.frozen.FrozenEstimator` to keep it.""",
    "{shorten_thresholds}": """\
shorten_thresholds : bool, default=True
        Round thresholds to few digits where no training row changes its side.
    feature_labels : dict from name to str, or sequence of str, optional
        What features are called where people read; a unit may follow in brackets, as
        in "Duration [months]", and "[date]" prints days since 1970-01-01 as dates.
    class_labels : dict from class to str, or sequence of str, optional
        What classes are called where people read.
    pos_label : object, optional
        Of two classes, the one whose rate rules tell, whose precision and recall are
        measured and of which a threshold speaks; by default the second.
    max_calls : int or None, default=None
        Most rows to ask a model about that cannot be read; with fewer than X has, rules
        are made from a sample of its rows.""",
    "{fitted}": """\
ensemble_ : the ensemble that was simplified
    forest_ : Forest
        The ensemble as plain arrays.
    training_ : dict
        `evaluate` on the training rows.
    n_calls_ : int
        How many rows a model was asked about that cannot be read.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        Only if X had names.""",
}


def with_shared(text, **others):
    """A docstring with what all methods share in place of its `{name}`."""
    parts = SHARED | {f"    {{{name}}}\n": part for name, part in others.items()}
    for name, part in parts.items():
        text = text.replace(name, part)
    return text
