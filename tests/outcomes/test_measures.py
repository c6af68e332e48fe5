"""The measures against scikit-learn's own, and their sums over parts of the rows."""

import warnings

import numpy as np
import pytest
from sklearn import metrics as reference
from sklearn.preprocessing import label_binarize

from defragtrees import metrics
from defragtrees.outcomes import MEASURES
from defragtrees.outcomes import measures as ranking
from defragtrees.outcomes.classification import Classes
from defragtrees.outcomes.decision import cost_matrix
from defragtrees.outcomes.regression import Numbers, NumberScores
from defragtrees.rules import RuleList
from defragtrees.rules.conditions import Rule

LABELS = {2: ["no", "yes"], 4: ["a", "b", "c", "d"]}


def scores_of(y, told, weight, labels):
    outcome = Classes(tuple(labels))
    rows = outcome.encode_any(y), weight, told.argmax(axis=1), told
    return outcome.scores.of(outcome, *rows)


def measured(name, y, told, labels, weight=None):
    """A measure of probabilities; one column is for the second of two classes."""
    y, told = np.asarray(y), np.asarray(told)
    if told.ndim == 1:
        told = np.column_stack([1.0 - told, told])
    weight = np.ones(len(y)) if weight is None else weight
    return MEASURES[name].of(scores_of(y, told, weight, labels))


def measured_answers(name, y, answered, labels):
    """A measure of predicted labels."""
    return measured(name, y, np.asarray(answered)[:, None] == labels, labels)


def measured_numbers(name, y, predicted, weight=None):
    y, predicted = np.asarray(y), np.asarray(predicted)
    weight = np.ones(len(y)) if weight is None else weight
    return MEASURES[name].of(NumberScores.of(Numbers(), y, weight, predicted))


def make_rows(n_classes, n_rows=300, n_levels=7, seed=0):
    """Labels, and probabilities with many ties."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(n_classes, size=n_rows)
    told = rng.dirichlet(np.ones(n_classes), size=n_levels)
    told = told[rng.integers(n_levels, size=n_rows)]
    told[::3] = 0.5 * told[::3] + 0.5 * np.eye(n_classes)[numbers[::3]]
    return np.array(LABELS[n_classes])[numbers], told, rng.random(n_rows) + 0.1


def by_reference(name, y, told, labels, weight):
    answered = np.array(labels)[told.argmax(axis=1)]
    rest = {"sample_weight": weight}
    is_binary = len(labels) == 2
    if name == "auc":
        if is_binary:
            return reference.roc_auc_score(y, told[:, 1], **rest)
        return reference.roc_auc_score(
            y, told, multi_class="ovr", average="macro", labels=labels, **rest
        )
    if name == "average_precision":
        if is_binary:
            return reference.average_precision_score(y == "yes", told[:, 1], **rest)
        hot = label_binarize(y, classes=labels)
        return reference.average_precision_score(hot, told, average="macro", **rest)
    if name == "log_loss":
        return reference.log_loss(y, told, labels=labels, **rest)
    if name == "brier":
        hot = np.array(labels) == y[:, None]
        squares = ((told - hot) ** 2).sum(axis=1)
        return np.average(squares, weights=weight) / (2 if is_binary else 1)
    kind = {"pos_label": "yes"} if is_binary else {"average": "macro"}
    score = {"precision": reference.precision_score, "recall": reference.recall_score}
    return score[name](y, answered, zero_division=0, **kind, **rest)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_measures_of_classes_are_those_of_scikit_learn(n_classes, is_weighted):
    y, told, weight = make_rows(n_classes)
    weight = weight if is_weighted else None
    labels = LABELS[n_classes]
    answered = np.array(labels)[told.argmax(axis=1)]
    every = "auc", "average_precision", "log_loss", "brier", "precision", "recall"
    for name in every:
        expected = by_reference(name, y, told, labels, weight)
        found = measured(name, y, told, labels, weight)
        assert found == pytest.approx(expected, rel=1e-12), name
    expected = reference.confusion_matrix(
        y, answered, labels=labels, sample_weight=weight
    )
    weights = np.ones(len(y)) if weight is None else weight
    assert scores_of(y, told, weights, labels).confusion == pytest.approx(expected)
    costs = np.arange(n_classes**2).reshape(n_classes, n_classes) * (
        1 - np.eye(n_classes)
    )
    cost = metrics.expected_cost(y, answered, costs, labels, weight)
    assert cost == pytest.approx((expected * costs).sum() / expected.sum())


def test_brier_of_two_classes_is_that_of_scikit_learn():
    y, told, weight = make_rows(2)
    expected = reference.brier_score_loss(
        y, told[:, 1], sample_weight=weight, pos_label="yes"
    )
    found = measured("brier", y, told, LABELS[2], weight)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_measures_of_numbers_are_those_of_scikit_learn(is_weighted):
    rng = np.random.default_rng(0)
    y, weight = rng.normal(1e3, 2.0, 200), rng.random(200)
    predicted = y + rng.normal(size=200)
    weight = weight if is_weighted else None
    for name, score in (
        ("rmse", reference.root_mean_squared_error),
        ("mae", reference.mean_absolute_error),
        ("r2", reference.r2_score),
    ):
        found = measured_numbers(name, y, predicted, weight)
        assert found == pytest.approx(score(y, predicted, sample_weight=weight))
    assert measured_numbers("r2", [2.0, 2.0], [2.0, 2.0]) == 1.0
    assert measured_numbers("r2", [2.0, 2.0], [2.0, 3.0]) == 0.0


def test_what_has_no_meaning_without_a_class_is_nan():
    y, told = np.full(4, "no"), np.array([0.1, 0.2, 0.2, 0.9])
    labels = LABELS[2]
    assert np.isnan(measured("auc", y, told, labels))
    assert np.isnan(measured("average_precision", y, told, labels))
    assert np.isnan(measured_answers("recall", y, y, labels))
    assert np.isnan(measured_answers("precision", y, y, labels))
    assert measured("log_loss", y, told, labels) == pytest.approx(
        -np.log([0.9, 0.8, 0.8, 0.1]).mean()
    )
    # Never answered though it is there: as bad as can be.
    assert measured_answers("precision", ["no", "yes"], ["no", "no"], labels) == 0.0
    assert measured_answers("recall", ["no", "yes"], ["no", "no"], labels) == 0.0


def test_a_class_that_y_lacks_is_left_out_of_means():
    y, told, _ = make_rows(4)
    there = y != "d"
    y, told = y[there], told[there]
    hot = np.array(LABELS[4][:3]) == y[:, None]
    each = [reference.roc_auc_score(hot[:, c], told[:, c]) for c in range(3)]
    assert measured("auc", y, told, LABELS[4]) == pytest.approx(np.mean(each))
    answered = np.array(LABELS[4])[told.argmax(axis=1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        balanced = reference.balanced_accuracy_score(y, answered)
    assert measured("recall", y, told, LABELS[4]) == pytest.approx(balanced)
    precise = reference.precision_score(y, answered, average="macro", zero_division=0)
    assert measured("precision", y, told, LABELS[4]) == pytest.approx(precise)


def test_rows_of_an_unknown_class_are_left_out():
    y, told, weight = make_rows(2)
    more = np.append(y, "maybe"), np.vstack([told, [0.5, 0.5]]), np.append(weight, 1.0)
    for name in ("auc", "log_loss", "brier", "average_precision"):
        alone = measured(name, y, told, LABELS[2], weight)
        found = measured(name, *more[:2], LABELS[2], more[2])
        assert found == pytest.approx(alone)


def test_the_impossible_costs_much_but_not_infinitely():
    rows = ["no", "yes"], [0.0, 0.0]
    found = measured("log_loss", *rows, LABELS[2])
    assert found == pytest.approx(reference.log_loss(*rows))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_scores_of_parts_add_up(n_classes):
    y, told, weight = make_rows(n_classes)
    labels = LABELS[n_classes]
    together = scores_of(y, told, weight, labels)
    parts = [scores_of(y[i::3], told[i::3], weight[i::3], labels) for i in range(3)]
    added = parts[0] + parts[1] + parts[2]
    for measure in Classes(tuple(labels)).measures():
        expected = pytest.approx(measure.of(together), rel=1e-12, nan_ok=True)
        assert measure.of(added) == expected


def test_short_probabilities_near_one_are_ranked_by_the_rest():
    # In float32 all of these are 1, but the rest to 1 is not the same.
    rest = np.array([1e-9, 3e-9, 2e-9, 4e-9])
    told = np.column_stack([rest, 1 - rest])
    y = np.array(["yes", "no", "yes", "no"])
    weight = np.ones(4)
    exact, short = (
        scores_of(y, told.astype(kind), weight, LABELS[2])
        for kind in (np.float64, np.float32)
    )
    assert len(set(told.astype(np.float32)[:, 1])) == 1
    assert MEASURES["auc"].of(exact) == MEASURES["auc"].of(short) == 1.0
    assert short.log_loss == pytest.approx(exact.log_loss, rel=1e-6)


def test_scores_of_numbers_add_up():
    rng = np.random.default_rng(0)
    y, weight = rng.normal(1e6, 1.0, 300), rng.random(300)
    predicted = y + rng.normal(size=300)
    rows = y, weight, predicted
    together = NumberScores.of(Numbers(), *rows)
    one, two = (
        NumberScores.of(Numbers(), *(column[part] for column in rows))
        for part in (slice(0, 100), slice(100, None))
    )
    for measure in Numbers().measures():
        expected = measure.of(together)
        assert measure.of(one + two) == pytest.approx(expected, rel=1e-9)


def make_scores(n_rows, is_rare):
    rng = np.random.default_rng(1)
    rate = 0.02 if is_rare else 0.4
    is_class = rng.random(n_rows) < rate
    odds = rng.normal(size=n_rows) * 2 + is_class + (-4 if is_rare else 0)
    return 1 / (1 + np.exp(-odds)), is_class, rng.random(n_rows)


@pytest.mark.parametrize("is_rare", [False, True])
def test_bins_rank_nearly_as_all_scores_do(is_rare, monkeypatch):
    scores, is_class, weight = make_scores(20_000, is_rare)
    exact = ranking.RankedWeights.of(scores, weight * ~is_class, weight * is_class)
    assert not exact.is_binned
    assert exact.auc() == pytest.approx(
        reference.roc_auc_score(is_class, scores, sample_weight=weight)
    )
    monkeypatch.setattr(ranking, "MOST_SCORES", 1000)
    parts = [
        ranking.RankedWeights.of(
            scores[i::7],
            (weight * ~is_class)[i::7],
            (weight * is_class)[i::7],
        )
        for i in range(7)
    ]
    binned = sum(parts[1:], start=parts[0])
    assert binned.is_binned
    assert binned.auc() == pytest.approx(exact.auc(), abs=1e-3)
    expected = exact.average_precision()
    assert binned.average_precision() == pytest.approx(expected, abs=1e-3)


def test_how_rows_are_cut_does_not_change_what_bins_say(monkeypatch):
    monkeypatch.setattr(ranking, "MOST_SCORES", 1000)
    scores, is_class, weight = make_scores(5000, False)
    at_once = ranking.RankedWeights.of(scores, weight * ~is_class, weight * is_class)
    # The first parts have few scores and are exact on their own.
    cuts = np.split(np.arange(5000), [300, 600, 2000])
    parts = [
        ranking.RankedWeights.of(
            scores[rows],
            (weight * ~is_class)[rows],
            (weight * is_class)[rows],
        )
        for rows in cuts
    ]
    assert [part.is_binned for part in parts] == [False, False, True, True]
    added = parts[0] + parts[1] + parts[2] + parts[3]
    assert (added.scores == at_once.scores).all()
    assert added.weights == pytest.approx(at_once.weights)


def test_mistakes_cost_what_the_user_said_and_a_threshold_says_nothing():
    def ruled(**fields):
        default, labels = Rule((), "no", (0.99, 0.01)), ("no", "yes")
        return RuleList((), default, ("x",), "classification", labels, **fields)

    assert cost_matrix(ruled()).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert cost_matrix(ruled(threshold=0.25)).tolist() == [[0.0, 1.0], [1.0, 0.0]]
    costs = ((0.0, 1.0), (5.0, 0.0))
    assert cost_matrix(ruled(costs=costs)).tolist() == [[0.0, 1.0], [5.0, 0.0]]


def test_every_measure_says_what_is_better():
    larger = {name for name, measure in MEASURES.items() if measure.is_larger_better}
    others = {"r2", "d2", "gini", "concordance", "uno", "dynamic_auc"}
    classes = {"auc", "auc_low", "auc_high", "ks"}
    classes |= {"average_precision", "precision", "recall"}
    assert larger == classes | others
    assert MEASURES["auc"].best([0.2, 0.9]) == 0.9
    assert MEASURES["log_loss"].best([0.2, 0.9]) == 0.2
