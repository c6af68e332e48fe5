"""Read meta-estimators: parameter searches, calibration, thresholds, voting, stacking.

The trees of all members become one forest with the outputs of all members. The link of
the forest is a copy of the meta-estimator, whose members are stand-ins that read these
outputs.
"""

import copy
import dataclasses
import pickle
from dataclasses import dataclass

import numpy as np
from scipy import special
from sklearn import ensemble, multioutput
from sklearn.base import BaseEstimator, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

from defragtrees.ensembles.forest import Forest
from defragtrees.ensembles.readers import check_fitted, read_forest
from defragtrees.ensembles.rewriting import align
from defragtrees.errors import UnsupportedModelError


def is_wrapper(model):
    """Whether an estimator is a meta-estimator of others that predict."""
    return _is_search(model) or isinstance(model, (FrozenEstimator, *WRAPPERS))


def _is_search(model):
    # Searches of some libraries do not extend those of scikit-learn.
    return hasattr(model, "best_estimator_") or isinstance(model, BaseSearchCV)


def read_wrapper(model):
    """Read a fitted meta-estimator as one Forest."""
    if hasattr(model, "best_estimator_"):
        return read_forest(model.best_estimator_)
    if isinstance(model, FrozenEstimator):
        return read_forest(model.estimator)
    check_fitted(model)
    if _is_search(model):
        raise UnsupportedModelError(
            f"Cannot read {type(model).__name__} with refit=False: it has no best "
            "estimator. Set refit=True, or fit the model that you want."
        )
    read = next(read for kind, read in WRAPPERS.items() if isinstance(model, kind))
    return read(model)


class StandIn(BaseEstimator):
    """Predict like a member of a meta-estimator, from the outputs of all trees.

    `head` is the member without its trees; `outputs` is the slice of its outputs, whose
    sum is divided by `divisor`. `decision_function` needs a `decision_scale`.
    """

    def __init__(self, head, outputs, divisor=None, decision_scale=None):
        self.head = head
        self.outputs = outputs
        self.divisor = divisor
        self.decision_scale = decision_scale
        if head.classes is not None:
            self.classes_ = np.asarray(head.classes)

    def _raw(self, raw):
        outputs = raw[:, self.outputs]
        if self.divisor is None:
            return outputs
        return outputs / self.divisor + self.head.base

    def fit(self, raw, y=None):
        """Do nothing; scikit-learn requires the method."""
        return self

    def predict(self, raw):
        """The member's predictions."""
        return self.head.predict_from_raw(self._raw(raw))

    @available_if(lambda self: self.head.classes is not None)
    def predict_proba(self, raw):
        """The member's probabilities."""
        return self.head.proba_from_raw(self._raw(raw))

    @available_if(lambda self: self.decision_scale is not None)
    def decision_function(self, raw):
        """The member's scores."""
        scores = self._raw(raw) * self.decision_scale
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def __sklearn_is_fitted__(self):
        return True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = "regressor" if self.head.classes is None else "classifier"
        return tags


@dataclass(frozen=True, eq=False)
class WrapperLink:
    """A meta-estimator with stand-ins as members, used as the link of a Forest."""

    wrapper: BaseEstimator
    classes: tuple | None = None
    threshold: float | None = None  # least probability to predict the second class

    def __call__(self, raw):
        """Probabilities of classes, or numbers in one column."""
        if self.classes is None:
            return np.asarray(self.wrapper.predict(raw), dtype=np.float64)[:, None]
        if hasattr(self.wrapper, "predict_proba"):
            return np.asarray(self.wrapper.predict_proba(raw), dtype=np.float64)
        # The members vote.
        votes = np.array([member.predict(raw) for member in self.wrapper.estimators_])
        weights = self.wrapper._weights_not_none
        classes = np.arange(len(self.classes))[:, None, None]
        return np.average(votes == classes, axis=1, weights=weights).T

    def class_index(self, raw):
        """Class indices."""
        place = {label: j for j, label in enumerate(self.classes)}
        labels = np.asarray(self.wrapper.predict(raw)).tolist()
        return np.array([place[label] for label in labels], dtype=np.intp)

    def __eq__(self, other):
        return type(other) is WrapperLink and self._bytes() == other._bytes()

    def _bytes(self):
        # What was loaded once shares its parts as any copy of it does.
        return pickle.dumps(pickle.loads(pickle.dumps(self)))

    __hash__ = None  # type: ignore[assignment]


def _read_one(wrapper):
    """Read a meta-estimator with one member."""
    if getattr(wrapper, "_training_dim", 1) != 1:
        _reject_targets(wrapper)
    is_of_target = isinstance(wrapper, TransformedTargetRegressor)
    name = "regressor_" if is_of_target else "estimator_"
    member = getattr(wrapper, name, None)
    member = wrapper.estimator if member is None else member
    forest = read_forest(member)
    double = copy.copy(wrapper)
    stand_in = StandIn(_head(forest), slice(None), None, _decision_scale(member))
    setattr(double, name, stand_in)
    return dataclasses.replace(
        forest, classes=_classes(wrapper), link=_link(wrapper, double)
    )


def _head(forest):
    return dataclasses.replace(forest, trees=(), weights=None)


def _classes(wrapper):
    return tuple(wrapper.classes_.tolist()) if is_classifier(wrapper) else None


def _link(wrapper, double):
    return WrapperLink(double, _classes(wrapper), _threshold(wrapper))


def _decision_scale(member):
    """Scale of scores relative to outputs of trees; None if there are no scores."""
    if not hasattr(member, "decision_function"):
        return None
    model = member
    while not isinstance(model, SCORING):
        if isinstance(model, Pipeline):
            model = model.steps[-1][1]
        elif isinstance(model, FrozenEstimator):
            model = model.estimator
        elif _is_search(model):
            model = model.best_estimator_
        else:
            raise UnsupportedModelError(
                f"Cannot read the scores of {type(model).__name__} inside another "
                "estimator."
            )
    return 0.5 if getattr(model, "loss", None) == "exponential" else 1.0


def _threshold(wrapper):
    """The probability from which the second of two classes is predicted."""
    if isinstance(wrapper, TunedThresholdClassifierCV):
        threshold = float(wrapper.best_threshold_)
        label = wrapper._curve_scorer._get_pos_label()
    elif isinstance(wrapper, FixedThresholdClassifier) and wrapper.threshold != "auto":
        threshold, label = float(wrapper.threshold), wrapper.pos_label
    else:
        return None
    if "predict_proba" not in np.atleast_1d(wrapper._get_response_method()):
        threshold = float(special.expit(threshold))
    if label is not None and label == wrapper.classes_[0]:
        threshold = 1.0 - threshold
    return threshold if 0 < threshold < 1 else None


def _read_members(wrapper):
    """Read voting and stacking."""
    if getattr(wrapper, "passthrough", False):
        raise UnsupportedModelError(
            f"Cannot read {type(wrapper).__name__} with passthrough=True: its final "
            "estimator depends on the columns too. Fit it with passthrough=False."
        )
    double = copy.copy(wrapper)
    forest, double.estimators_ = _joined(wrapper, double, list(wrapper.estimators_))
    return forest


def _read_calibrated(wrapper):
    double = copy.copy(wrapper)
    parts = [copy.copy(part) for part in wrapper.calibrated_classifiers_]
    members = [part.estimator for part in parts]
    double.calibrated_classifiers_ = parts
    forest, stand_ins = _joined(wrapper, double, members)
    for part, stand_in in zip(parts, stand_ins, strict=True):
        part.estimator = stand_in
    return forest


def _joined(wrapper, double, members):
    """One forest with the outputs of all members, and a stand-in for each.

    `double` is the copy of the wrapper that predicts from these outputs.
    """
    forests = [read_forest(member) for member in members]
    for forest, member in zip(forests, members, strict=True):
        if forest.combine == "median":
            raise UnsupportedModelError(
                f"Cannot read {type(wrapper).__name__} of {type(member).__name__}: the "
                "median of its trees is not a sum."
            )
    forests = align(forests, getattr(wrapper, "feature_names_in_", None))
    n_outputs = sum(len(forest.base) for forest in forests)
    trees, stand_ins, end = [], [], 0
    for forest, member in zip(forests, members, strict=True):
        outputs = slice(end, end + len(forest.base))
        end = outputs.stop
        for tree in forest.trees:
            value = np.zeros((tree.n_nodes, n_outputs))
            value[:, outputs] = tree.value
            trees.append(dataclasses.replace(tree, value=value))
        divisor = forest.weights.sum() if forest.combine == "mean" else None
        scale = _decision_scale(member)
        stand_ins.append(StandIn(_head(forest), outputs, divisor, scale))
    first = forests[0]
    joined = Forest(
        tuple(trees),
        first.feature_names,
        first.task,
        classes=_classes(wrapper),
        combine="sum",
        base=np.concatenate([forest.sum_start() for forest in forests]),
        weights=np.concatenate([forest.weights for forest in forests]),
        link=_link(wrapper, double),
        categories=first.categories,
        feature_kinds=first.feature_kinds,
        other_names=tuple(
            dict.fromkeys(name for forest in forests for name in forest.other_names)
        ),
    )
    return joined, stand_ins


def _reject_targets(wrapper):
    raise UnsupportedModelError(
        f"Cannot read {type(wrapper).__name__}: it predicts several targets at once. "
        "Choose one, by simplify(..., output=0)."
    )


SCORING = (
    ensemble.AdaBoostClassifier,
    ensemble.GradientBoostingClassifier,
    ensemble.HistGradientBoostingClassifier,
)
WRAPPERS = {
    FixedThresholdClassifier: _read_one,
    TunedThresholdClassifierCV: _read_one,
    TransformedTargetRegressor: _read_one,
    CalibratedClassifierCV: _read_calibrated,
    ensemble.VotingClassifier: _read_members,
    ensemble.VotingRegressor: _read_members,
    ensemble.StackingClassifier: _read_members,
    ensemble.StackingRegressor: _read_members,
    multioutput.MultiOutputClassifier: _reject_targets,
    multioutput.MultiOutputRegressor: _reject_targets,
    multioutput.ClassifierChain: _reject_targets,
    multioutput.RegressorChain: _reject_targets,
}
