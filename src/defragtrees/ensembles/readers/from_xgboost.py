"""Read XGBoost: its scikit-learn wrappers, a Booster, and JSON or UBJSON files.

All are read through the same document; xgboost is not needed for a file. A wrapper
predicts with the trees up to the best iteration of early stopping, a Booster with all;
a file records which of the two saved it.
"""

import json
from pathlib import Path

import numpy as np
from sklearn.exceptions import NotFittedError

from defragtrees.ensembles.forest import Forest
from defragtrees.ensembles.readers._files import Allowance, report_damage
from defragtrees.ensembles.readers._ubjson import parse_ubjson
from defragtrees.ensembles.readers._xgboost_trees import read_categories, read_trees
from defragtrees.errors import UnsupportedModelError

NAME, KIND = "XGBoost", "an XGBoost model"
SUFFIXES = (".json", ".ubj")

MAX_COUNT = 2**20  # features or outputs; a damaged file may claim more
# Links of a Booster, by objective. If the link is the exponential or the sigmoid, the
# stored base score is on the scale of the prediction.
OBJECTIVES = {
    f"{family}:{name}": (task, link)
    for task, link, family, names in (
        ("classification", "step", "binary", "hinge"),
        ("classification", "sigmoid", "binary", "logistic"),
        ("classification", "softmax", "multi", "softmax softprob"),
        ("regression", "identity", "binary", "logitraw"),
        ("regression", "identity", "rank", "map ndcg pairwise"),
        ("regression", "identity", "reg", "absoluteerror linear pseudohubererror"),
        ("regression", "identity", "reg", "quantileerror squarederror squaredlogerror"),
        ("regression", "sigmoid", "reg", "logistic"),
        ("regression", "exp", "reg", "gamma tweedie"),
        ("regression", "exp", "count", "poisson"),
        ("regression", "exp", "survival", "aft cox"),
    )
    for name in names.split()
}


def read(model):
    """Read a fitted XGBoost model as a Forest.

    Of a wrapper the trees up to the best iteration are read, of a Booster all. Classes
    are 0, 1, ... With `binary:logitraw` a Booster predicts a number.
    """
    if not hasattr(model, "get_booster"):
        return _forest(*_document(model), None)
    kind = "classifier" if hasattr(model, "predict_proba") else "regressor"
    names = getattr(model, "feature_names_in_", None)
    document, allowance = _document(model.get_booster())
    return _forest(document, allowance, kind, names, float(model.missing))


def is_file(file):
    """Whether this is JSON or UBJSON with a learner in it."""
    # CatBoost's JSON may have a feature of this name.
    return b"learner" in file.json and b'"features_info"' not in file.json


def read_file(path):
    """Read a `.json` or `.ubj` file; xgboost is not needed."""
    path = Path(path)
    with report_damage(NAME, path.name):
        content = path.read_bytes()
        document = _parsed(content)
        attributes = document["learner"].get("attributes", {})
        kind = None
        if "scikit_learn" in attributes:
            kind = json.loads(attributes["scikit_learn"]).get("_estimator_type")
        return _forest(document, Allowance(NAME, len(content)), kind)


def _document(booster):
    try:
        data = booster.save_raw("ubj")
    except ValueError:  # what XGBoost raises for a Booster without any feature
        raise NotFittedError("This XGBoost Booster has not been trained.") from None
    return parse_ubjson(bytes(data)), Allowance(NAME, len(data))


def _parsed(data):
    if data[:1] != b"{":
        raise ValueError(
            "it does not begin with '{'; save it with save_model as .json or .ubj"
        )
    # In JSON the first member follows; in UBJSON the type of its length does.
    if data[1:2] in (b'"', b"}", b" ", b"\t", b"\r", b"\n"):
        return json.loads(data)
    return parse_ubjson(data)


def _forest(document, allowance, kind, names=None, missing=np.nan):
    """Read a document as a Forest, within the memory allowance.

    `kind` is "classifier", "regressor" or "ranker" for a wrapper, and None for a
    Booster.
    """
    learner, version = document["learner"], tuple(document.get("version", ()))
    _refuse_lost_labels(learner, version)
    model, weights = _booster(learner["gradient_booster"])
    parameters = learner["learner_model_param"]
    n_outputs = _n_outputs(parameters)
    allowance.take_labels(n_outputs, "outputs")
    task, link = _task(learner["objective"]["name"], kind, parameters)
    n_used = _n_used_trees(learner, model) if kind is not None else len(model["trees"])
    documents = model["trees"][:n_used]
    groups = _groups(model, n_outputs)[:n_used]
    names = _names(learner, parameters, names)
    types = learner.get("feature_types") or ()
    categories = read_categories(
        model, types, documents, len(names), missing, allowance
    )
    return Forest(
        trees=read_trees(documents, groups, n_outputs, categories, missing, allowance),
        feature_names=names,
        task=task,
        classes=range(max(2, n_outputs)) if task == "classification" else None,
        base=_base(learner, n_outputs, version),
        weights=None if weights is None else weights[:n_used],
        link=link,
        categories=categories,
    )


def _refuse_lost_labels(learner, version):
    # Only a frame has names and labels; an array has positions for categories.
    has_sets = "c" in (learner.get("feature_types") or ())
    if version < (3, 1) and has_sets and learner.get("feature_names"):
        raise UnsupportedModelError(
            "Cannot read this XGBoost model: it was fitted on a data frame with "
            "categories by XGBoost before 3.1, which does not save their labels. Fit "
            "it again with XGBoost 3.1 or later, or on an array of category numbers, "
            "with feature_types."
        )


def _booster(booster):
    """The part with the trees, and the weights of the trees (None if all are 1)."""
    name = booster["name"]
    if name == "gbtree":
        # From 3.4 on, dart is not a separate booster.
        model = booster["model"]
        stored = model.get("weight_drop")
    elif name == "dart":
        model, stored = booster["gbtree"]["model"], booster["weight_drop"]
    else:
        raise UnsupportedModelError(
            f"Cannot read an XGBoost ensemble of {name!r}: it has no trees. "
            "Fit with booster='gbtree'."
        )
    if stored is None:
        return model, None
    weights = np.asarray(stored, np.float64)
    if weights.shape != (len(model["trees"]),):
        raise ValueError("it does not have one weight per tree")
    return model, weights


def _n_outputs(parameters):
    n_classes = int(parameters.get("num_class", "0"))
    n_targets = int(parameters.get("num_target", "1"))
    n_outputs = max(n_classes, n_targets, 1)
    if min(n_classes, n_targets) < 0 or n_outputs > MAX_COUNT:
        raise ValueError(f"it claims to have {n_classes} classes, {n_targets} targets")
    return n_outputs


def _task(objective, kind, parameters):
    """Task and link of the objective, as the wrapper or the Booster uses it."""
    if objective not in OBJECTIVES:
        raise UnsupportedModelError(
            f"Cannot read an XGBoost model with the objective {objective!r}: its "
            "link is unknown. Fit with a standard objective."
        )
    n_targets = int(parameters.get("num_target", "1"))
    task, link = OBJECTIVES[objective]
    if n_targets > 1 and (objective == "reg:quantileerror" or link != "identity"):
        raise UnsupportedModelError(
            f"Cannot read an XGBoost model with the objective {objective!r} and "
            f"{n_targets} outputs. Fit one model per output."
        )
    if kind == "classifier":
        if link == "exp":
            raise UnsupportedModelError(
                f"Cannot read an XGBoost classifier with the objective {objective!r}: "
                "it does not predict probabilities. Fit with 'binary:logistic'."
            )
        return "classification", link
    if kind is not None and link == "softmax":
        raise UnsupportedModelError(
            f"Cannot read an XGBoost {kind} with the objective {objective!r}. "
            "Fit an XGBClassifier."
        )
    return ("regression" if kind is not None else task), link


def _n_used_trees(learner, model):
    """Number of trees up to the best iteration; all without early stopping."""
    best = learner.get("attributes", {}).get("best_iteration")
    n_trees = len(model["trees"])
    if best is None:
        return n_trees
    if "iteration_indptr" in model:
        starts = np.asarray(model["iteration_indptr"], np.int64)
        return min(int(starts[min(int(best) + 1, len(starts) - 1)]), n_trees)
    per_iteration = int(model["gbtree_model_param"]["num_parallel_tree"])
    per_iteration *= max(1, int(learner["learner_model_param"]["num_class"]))
    return min((int(best) + 1) * per_iteration, n_trees)


def _groups(model, n_outputs):
    groups = np.asarray(model["tree_info"], np.int64)
    n_trees = int(model["gbtree_model_param"]["num_trees"])
    if not len(model["trees"]) == n_trees == len(groups):
        raise ValueError(f"it should have {n_trees} trees")
    if groups.size and not 0 <= groups.min() <= groups.max() < n_outputs:
        raise ValueError(f"a tree adds to an output beyond the {n_outputs}")
    return groups


def _names(learner, parameters, names):
    n_features = int(parameters["num_feature"])
    if not 0 < n_features <= MAX_COUNT:
        raise ValueError(f"it claims to have {n_features} features")
    stored = learner.get("feature_names") or names
    if stored is None or len(stored) == 0:
        return tuple(f"x{j + 1}" for j in range(n_features))
    if len(stored) != n_features:
        raise ValueError(f"it has {len(stored)} names for {n_features} features")
    return tuple(str(name) for name in stored)


def _base(learner, n_outputs, version):
    """The base of each output, added to the sum of the trees."""
    text = learner["learner_model_param"]["base_score"]
    stored = json.loads(text) if text.lstrip().startswith("[") else [float(text)]
    base = np.asarray(stored, np.float32)
    if base.shape not in ((1,), (n_outputs,)):
        raise ValueError(f"it has {base.size} base scores for {n_outputs} outputs")
    link = OBJECTIVES[learner["objective"]["name"]][1]
    one = np.float32(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        if link == "sigmoid":
            # From 3.2 on, XGBoost keeps away from 0 and 1.
            edge = np.float32(1e-6 if version >= (3, 2) else 0)
            base = -np.log(one / np.clip(base, edge, one - edge) - one)
        elif link == "exp":
            base = np.log(base)
    return np.broadcast_to(base.astype(np.float64), (n_outputs,))
