"""Find the categorical features of a LightGBM model and their labels.

The labels of a frame are stored as one list per categorical column, in order, but
without the names of the columns. An unordered column is split on sets, an ordered one
by its positions, as if they were numbers. Without a frame the data held integers, which
are then the labels.
"""

import re

import numpy as np

from defragtrees.errors import UnsupportedModelError


def read_categories(model, names, trees):
    """The labels of each feature, and LightGBM's codes of them.

    Both are None if the feature is numeric.
    """
    n_features = len(names)
    in_sets = {int(j) for tree in trees for j in tree.feature[tree.is_set]}
    in_numbers = {int(j) for tree in trees for j in tree.feature[~tree.is_set]}
    if in_sets and model.parameters is None:
        raise ValueError("it ends before its parameters and category labels")
    infos = model.header.get("feature_infos", "none" + " none" * (n_features - 1))
    infos = infos.split(" ")
    if len(infos) != n_features:
        raise ValueError(f"it describes {len(infos)} of {n_features} features")
    listed = _listed_codes(infos)
    declared = in_sets | set(listed) | _declared(model, n_features)
    labels = [None] * n_features
    codes = [None] * n_features
    for j, known in _placed(_checked(model.labels), infos, listed, declared).items():
        labels[j], codes[j] = known, np.arange(len(known))
    for j in in_sets | set(listed):
        if labels[j] is not None:
            continue
        if j in in_numbers:
            raise UnsupportedModelError(
                f"Cannot read this LightGBM model: it splits on {names[j]!r} both "
                "as a number and as a category. Fit all its trees in one call."
            )
        codes[j] = _codes_in_use(listed.get(j, ()), j, trees)
        labels[j] = tuple(codes[j].tolist())
    return tuple(labels), tuple(codes)


def _listed_codes(infos):
    """The category codes of the features that are described by codes."""
    found = {}
    for j, info in enumerate(infos):
        if info != "none" and not info.startswith("["):
            codes = [int(word) for word in info.split(":")]
            found[j] = [code for code in codes if code >= 0]  # -1 stands for missing
    return found


def _declared(model, n_features):
    text = (model.parameters or {}).get("categorical_feature", "")
    if not re.fullmatch(r"\d+(,\d+)*", text):
        return set()
    return {int(word) for word in text.split(",") if int(word) < n_features}


def _codes_in_use(listed, feature, trees):
    parts = [np.array(listed, dtype=np.int64)]
    for tree in trees:
        for node in np.flatnonzero(tree.is_set & (tree.feature == feature)):
            parts.append(tree.set_of(node))
    return np.unique(np.concatenate(parts))


def _checked(labels):
    if labels is None:
        return []
    for known in labels:
        if not all(isinstance(label, (str, int, float)) for label in known):
            raise ValueError("its category labels are not plain values")
    return [tuple(known) for known in labels]


def _placed(lists, infos, listed, declared):
    """The column of each list: the only assignment, in order, that fits."""
    if not lists:
        return {}
    fits = np.zeros((len(lists), len(infos)), dtype=bool)
    for i, known in enumerate(lists):
        for j, info in enumerate(infos):
            fits[i, j] = _fits(len(known), info, listed.get(j))
    # LightGBM declares the unordered columns of a frame itself; other columns are
    # possible only if the user declares them, so they come second.
    for kept in (declared, set()):
        ways = _count_ways(fits, kept)
        if ways[0, 0] == 1:
            return dict(_follow(ways, fits, lists))
        if ways[0, 0] > 1:
            break
    raise UnsupportedModelError(
        "Cannot read this LightGBM model: which columns hold the categories "
        f"{list(lists[0][:5])} is not stored, and none or several fit. "
        "Fit with unordered categories only, and let LightGBM find them."
    )


def _fits(n_labels, info, codes):
    if codes is not None:
        return max(codes, default=-1) < n_labels
    if info == "none":
        return True
    low, _, high = info.strip("[]").partition(":")
    low, high = float(low), float(high)
    return 0 <= low <= high < n_labels and low.is_integer() and high.is_integer()


def _count_ways(fits, kept):
    """ways[i, j]: number of ways to assign lists from i to columns from j, up to 2."""
    n_lists, n_columns = fits.shape
    ways = np.zeros((n_lists + 1, n_columns + 1), dtype=np.int8)
    ways[n_lists, n_columns] = 1
    for j in range(n_columns - 1, -1, -1):
        for i in range(n_lists, -1, -1):
            n_ways = 0 if j in kept else ways[i, j + 1]
            if i < n_lists and fits[i, j]:
                n_ways += ways[i + 1, j + 1]
            ways[i, j] = min(n_ways, 2)
    return ways


def _follow(ways, fits, lists):
    i = 0
    for j in range(fits.shape[1]):
        if i < len(lists) and fits[i, j] and ways[i + 1, j + 1]:
            yield j, lists[i]
            i += 1
