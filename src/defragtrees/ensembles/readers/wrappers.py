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
from sklearn.base import BaseEstimator, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import (
    FixedThresholdClassifier,
    TunedThresholdClassifierCV,
)
from sklearn.model_selection._search import BaseSearchCV
from sklearn.multioutput import (
    ClassifierChain,
    MultiOutputClassifier,
    MultiOutputRegressor,
    RegressorChain,
)
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from defragtrees.ensembles.forest import Forest
from defragtrees.ensembles.pipelines.rewriting import align
from defragtrees.errors import UnsupportedModelError


def is_wrapper(model):
    """Whether an estimator is a meta-estimator of others that predict."""
    return _is_search(model) or isinstance(model, tuple(WRAPPERS))


def _is_search(model):
    # Searches of some libraries do not extend those of scikit-learn.
    return hasattr(model, "best_estimator_") or isinstance(model, BaseSearchCV)


def read_wrapper(model, read_forest):
    """Read a fitted meta-estimator as one Forest; `read_forest` reads its members."""
    if _is_search(model):
        return read_forest(_best(model))
    read = next(read for kind, read in WRAPPERS.items() if isinstance(model, kind))
    if not isinstance(model, FrozenEstimator):
        _check_fitted(model)
    return read(model, read_forest)


def _best(search):
    if hasattr(search, "best_estimator_"):
        return search.best_estimator_
    if search.refit:
        raise _not_fitted(search)
    raise UnsupportedModelError(
        f"Cannot read {type(search).__name__} with refit=False: it has no best "
        "estimator. Set refit=True, or fit the model that you want."
    )


def _check_fitted(model):
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise _not_fitted(model) from None


def _not_fitted(model):
    return NotFittedError(
        f"A fitted model is needed; this {type(model).__name__} is not fitted. "
        "Call fit first."
    )


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
        own = raw[:, self.outputs]
        return own if self.divisor is None else own / self.divisor + self.head.base

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
        return self._shares(raw)

    def _shares(self, raw):
        """If members vote, the share of the votes for each class."""
        votes = np.array([member.predict(raw) for member in self.wrapper.estimators_])
        weights = self.wrapper._weights_not_none
        classes = np.arange(len(self.classes))[:, None, None]
        return np.average(votes == classes, axis=1, weights=weights).T

    def class_index(self, raw):
        """Class indices."""
        place = {label: j for j, label in enumerate(self.classes)}
        answers = np.asarray(self.wrapper.predict(raw)).tolist()
        return np.array([place[answer] for answer in answers], dtype=np.intp)

    def __eq__(self, other):
        return type(other) is WrapperLink and self._bytes() == other._bytes()

    def _bytes(self):
        # What was loaded once shares its parts as any copy of it does.
        return pickle.dumps(pickle.loads(pickle.dumps(self)))

    __hash__ = None  # type: ignore[assignment]


def _read_one(wrapper, read_forest, name):
    """Read a meta-estimator with one member, its attribute of this name."""
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


def _read_frozen(wrapper, read_forest):
    return read_forest(wrapper.estimator)


def _read_threshold(wrapper, read_forest):
    return _read_one(wrapper, read_forest, "estimator_")


def _read_target(wrapper, read_forest):
    if wrapper._training_dim != 1:
        return _refuse(wrapper, read_forest)
    return _read_one(wrapper, read_forest, "regressor_")


def _read_members(wrapper, read_forest):
    """Read voting and stacking."""
    if getattr(wrapper, "passthrough", False):
        raise UnsupportedModelError(
            f"Cannot read {type(wrapper).__name__} with passthrough=True: its final "
            "estimator depends on the columns too. Fit it with passthrough=False."
        )
    members = list(wrapper.estimators_)
    forests = _aligned(wrapper, members, read_forest)
    double = copy.copy(wrapper)
    double.estimators_ = _stand_ins(forests, members)
    return _side_by_side(wrapper, forests, _link(wrapper, double))


def _read_calibrated(wrapper, read_forest):
    parts = wrapper.calibrated_classifiers_
    members = [part.estimator for part in parts]
    forests = _aligned(wrapper, members, read_forest)
    double = copy.copy(wrapper)
    double.calibrated_classifiers_ = []
    for part, stand_in in zip(parts, _stand_ins(forests, members), strict=True):
        part = copy.copy(part)
        part.estimator = stand_in
        double.calibrated_classifiers_.append(part)
    return _side_by_side(wrapper, forests, _link(wrapper, double))


def _aligned(wrapper, members, read_forest):
    """The forests of the members, on the same columns."""
    forests = [read_forest(member) for member in members]
    for forest, member in zip(forests, members, strict=True):
        if forest.combine == "median":
            raise UnsupportedModelError(
                f"Cannot read {type(wrapper).__name__} of {type(member).__name__}: the "
                "median of its trees is not a sum."
            )
    return align(forests, getattr(wrapper, "feature_names_in_", None))


def _stand_ins(forests, members):
    """A stand-in for each member; their outputs are concatenated."""
    made, end = [], 0
    for forest, member in zip(forests, members, strict=True):
        outputs = slice(end, end + len(forest.base))
        divisor = forest.weights.sum() if forest.combine == "mean" else None
        made.append(StandIn(_head(forest), outputs, divisor, _decision_scale(member)))
        end = outputs.stop
    return made


def _side_by_side(wrapper, forests, link):
    """Join forests into one with the outputs of all."""
    n_outputs = sum(len(forest.base) for forest in forests)
    trees, end = [], 0
    for forest in forests:
        outputs = slice(end, end + len(forest.base))
        for tree in forest.trees:
            value = np.zeros((tree.n_nodes, n_outputs))
            value[:, outputs] = tree.value
            trees.append(dataclasses.replace(tree, value=value))
        end = outputs.stop
    return Forest(
        tuple(trees),
        forests[0].feature_names,
        forests[0].task,
        classes=_classes(wrapper),
        combine="sum",
        base=np.concatenate([forest.sum_start() for forest in forests]),
        weights=np.concatenate([forest.weights for forest in forests]),
        link=link,
        categories=forests[0].categories,
        feature_kinds=forests[0].feature_kinds,
        other_names=tuple(
            dict.fromkeys(name for forest in forests for name in forest.other_names)
        ),
    )


def _refuse(wrapper, read_forest):
    raise UnsupportedModelError(
        f"Cannot read {type(wrapper).__name__}: it predicts several targets at once. "
        "Pass the estimator of one target, such as one of its estimators_."
    )


SCORING = (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
)
WRAPPERS = {
    FrozenEstimator: _read_frozen,
    FixedThresholdClassifier: _read_threshold,
    TunedThresholdClassifierCV: _read_threshold,
    TransformedTargetRegressor: _read_target,
    CalibratedClassifierCV: _read_calibrated,
    VotingClassifier: _read_members,
    VotingRegressor: _read_members,
    StackingClassifier: _read_members,
    StackingRegressor: _read_members,
    MultiOutputClassifier: _refuse,
    MultiOutputRegressor: _refuse,
    ClassifierChain: _refuse,
    RegressorChain: _refuse,
}
