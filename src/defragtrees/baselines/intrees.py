"""inTrees: prune the conditions of the paths of trees, and list the best rules."""

import dataclasses
import math
from dataclasses import KW_ONLY, dataclass

import numpy as np

from defragtrees._utils.progress import Progress
from defragtrees.baselines._trees import Sides, find_paths
from defragtrees.estimators.base import RuleClassifier, RuleRegressor, Simplifier
from defragtrees.estimators.problem import predicting_rule
from defragtrees.estimators.settings import Integer, Real, setting

__all__ = ["InTreesClassifier", "InTreesRegressor"]

BLOCK_BYTES = 64_000_000  # memory for the rows of rules that are measured together
DIGITS = 10  # errors that agree to this number of digits are ties
NOISE = 1e-12
PAPER_PERCENTILES = {3: (17.0, 50.0, 83.0)}


@dataclass(repr=False, eq=False)
class _InTrees(Simplifier):
    _: KW_ONLY
    n_trees: int | None = setting(100, None, Integer(1))
    max_depth: int = setting(6, Integer(1, 10**6))
    max_decay: float = setting(0.05, Real(0))
    decay: str = setting("absolute", "absolute", "relative")
    min_freq: float = setting(0.01, Real(0, 1))
    smoothing: float = setting(0.0, Real(0))
    max_rules: int | None = setting(None, None, Integer(1))
    target: str = setting("labels", "model", "labels")

    def _simplify(self, problem, rng):
        target = self._target(problem)
        n_trees = None if self.n_trees is None else int(self.n_trees)
        rules = extract(problem, int(self.max_depth), n_trees)
        rules = rules[drop_repeats(rules.side_numbers)]
        codes = problem.codes
        with Progress("rules", len(rules)) as progress:
            advance = progress.advance if self.verbose else None
            measured = prune_all(
                rules, codes, target, self.max_decay, self.decay, advance
            )
        limit = None if self.max_rules is None else int(self.max_rules)
        listed = build_list(measured, target, self.min_freq, limit, self.smoothing)
        parts = []
        for number in listed.rules:
            sides = measured.rules.sides_of(number)
            conditions = measured.rules.sides.conditions(problem.grid, sides)
            parts.append((conditions, measured.prediction[number]))
        rest = target.columns[listed.place == len(parts)].sum(axis=0, keepdims=True)
        parts.append(((), target.predictions(rest)[0]))
        rules = [
            _rule(problem, target, conditions, listed.place == place, prediction)
            for place, (conditions, prediction) in enumerate(parts)
        ]
        return problem.rule_set(rules)


@dataclass(repr=False, eq=False)
class InTreesClassifier(RuleClassifier, _InTrees):
    """inTrees: an ordered list of rules from a classification model.

    Every path in a tree is a candidate rule. Conditions that hardly change the error of
    a rule are pruned. Then a list is built greedily: the next rule is the one with the
    smallest error on the remaining rows. The list ends when no rule is better than a
    single prediction for all remaining rows.

    Parameters
    ----------
    model : fitted or unfitted model, path, Forest or None, default=None
        The model to simplify. A fitted model, or the file it was saved to, is used
        as it is; an unfitted one is cloned and fitted on X and y; None fits a random
        forest (gradient boosting if X has categories). Any other model, or a function
        that predicts, is queried as a black box. `clone`, which grid search calls, also
        resets a fitted model: wrap it in `sklearn.frozen.FrozenEstimator` to keep
        the fit.
    n_trees : int or None, default=100
        Number of trees to extract rules from, starting with the first; None is all.
    max_depth : int, default=6
        Maximum length of a path, in splits.
    max_decay : float, default=0.05
        Maximum increase in the error of a rule due to pruning.
    decay : {"absolute", "relative"}, default="absolute"
        Whether `max_decay` is a difference or a share of the error before pruning.
        In regression a difference is in units of the variance of the target.
    min_freq : float, default=0.01
        Minimum share of all rows that a rule of the list predicts.
    smoothing : float, default=0.0
        Number of pseudo-rows, as a share of all rows, that are added to each rule when
        rules are compared. They have the mean error of the remaining rows. Without
        them, tiny rules that make no errors by chance come first; 0.02 about halves the
        number of rules.
    max_rules : int or None, default=None
        Maximum number of rules, including the default rule; None is no limit.
    target : {"model", "labels"}, default="labels"
        Fit y, or the predictions of the model.
    shorten_thresholds : bool, default=True
        Round thresholds where this moves no training row to the other side.
    feature_labels : dict from name to str, or sequence of str, optional
        Names of features in printed output. A unit may follow in brackets, as in
        "Duration [months]"; "[date]" prints days since 1970-01-01 as dates.
    class_labels : dict from class to str, or sequence of str, optional
        Names of classes in printed output.
    pos_label : object, optional
        The class, of two, whose rate, precision and recall are reported and to which a
        threshold applies; the second by default.
    max_calls : int or None, default=None
        Maximum number of rows for which a black box is queried, those of `validation`
        included. At most half of the others are rows of X (a sample, if X has more);
        the rest are synthetic rows for the search.
    random_state : int, RandomState, Generator or None, default=None
        Seed for `select`, and for a model that is fitted here.
    n_jobs : int or None, default=None
        Number of threads for a model that is fitted here.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    rules_ : RuleModel
    model_ : the model that was simplified
    forest_ : Forest
        The model as plain arrays.
    training_ : dict
        Result of `evaluate` on the training rows.
    validation_ : dict
        Result of `evaluate` on the validation rows. Only if `fit` got `validation`.
    n_calls_ : int
        Number of rows for which a black box was queried.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        Only if X had names.

    References
    ----------
    H. Deng (2019). Interpreting tree ensembles with inTrees. International Journal of
    Data Science and Analytics 7, 277-287. First as arXiv:1408.5456 (2014).

    H. Deng and G. Runger (2013). Gene selection with guided regularized random forest.
    Pattern Recognition 46, 3483-3489. For `select`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees.baselines import InTreesClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=0)
    >>> simple = InTreesClassifier(forest, max_rules=4, random_state=0).fit(X, y)
    >>> simple.rules_.n_rules, simple.score(X, y) > 0.9
    (4, True)
    """

    def _target(self, problem):
        return ClassTarget(problem.target, problem.n_classes, problem.sample_weight)


@dataclass(repr=False, eq=False)
class InTreesRegressor(RuleRegressor, _InTrees):
    """inTrees: an ordered list of rules from a regression model.

    Every path in a tree is a candidate rule. Conditions that hardly change the error of
    a rule are pruned. Then a list is built greedily: the next rule is the one with the
    smallest error on the remaining rows. The list ends when no rule is better than a
    single prediction for all remaining rows.

    By default a rule predicts the mean of the target in its rows, and its error is the
    variance. The original method divides the target into levels and treats them as
    classes: `levels=3, smoothing=0`.

    Parameters
    ----------
    model : fitted or unfitted model, path, Forest or None, default=None
        The model to simplify. A fitted model, or the file it was saved to, is used
        as it is; an unfitted one is cloned and fitted on X and y; None fits a random
        forest (gradient boosting if X has categories). Any other model, or a function
        that predicts, is queried as a black box. `clone`, which grid search calls, also
        resets a fitted model: wrap it in `sklearn.frozen.FrozenEstimator` to keep
        the fit.
    n_trees : int or None, default=100
        Number of trees to extract rules from, starting with the first; None is all.
    max_depth : int, default=6
        Maximum length of a path, in splits.
    max_decay : float, default=0.05
        Maximum increase in the error of a rule due to pruning.
    decay : {"absolute", "relative"}, default="absolute"
        Whether `max_decay` is a difference or a share of the error before pruning.
        In regression a difference is in units of the variance of the target.
    min_freq : float, default=0.01
        Minimum share of all rows that a rule of the list predicts.
    smoothing : float, default=0.02
        Number of pseudo-rows, as a share of all rows, that are added to each rule when
        rules are compared. They have the mean error of the remaining rows. Without
        them, tiny rules that make no errors by chance come first; 0.02 about halves the
        number of rules.
    max_rules : int or None, default=None
        Maximum number of rules, including the default rule; None is no limit.
    target : {"model", "labels"}, default="labels"
        Fit y, or the predictions of the model.
    shorten_thresholds : bool, default=True
        Round thresholds where this moves no training row to the other side.
    feature_labels : dict from name to str, or sequence of str, optional
        Names of features in printed output. A unit may follow in brackets, as in
        "Duration [months]"; "[date]" prints days since 1970-01-01 as dates.
    max_calls : int or None, default=None
        Maximum number of rows for which a black box is queried, those of `validation`
        included. At most half of the others are rows of X (a sample, if X has more);
        the rest are synthetic rows for the search.
    random_state : int, RandomState, Generator or None, default=None
        Seed for `select`, and for a model that is fitted here.
    n_jobs : int or None, default=None
        Number of threads for a model that is fitted here.
    verbose : int, default=0
        1 shows a progress bar.
    levels : int or None, default=None
        Number of levels, of about equal weight, that are treated as classes. Each
        level predicts its middle percentile (with three levels the 17th, 50th and
        83rd). None uses the numbers directly.

    Attributes
    ----------
    rules_ : RuleModel
    model_ : the model that was simplified
    forest_ : Forest
        The model as plain arrays.
    training_ : dict
        Result of `evaluate` on the training rows.
    validation_ : dict
        Result of `evaluate` on the validation rows. Only if `fit` got `validation`.
    n_calls_ : int
        Number of rows for which a black box was queried.
    n_features_in_ : int
    feature_names_in_ : array of shape (n_features,)
        Only if X had names.

    References
    ----------
    H. Deng (2019). Interpreting tree ensembles with inTrees. International Journal of
    Data Science and Analytics 7, 277-287. First as arXiv:1408.5456 (2014).

    H. Deng and G. Runger (2013). Gene selection with guided regularized random forest.
    Pattern Recognition 46, 3483-3489. For `select`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from defragtrees.baselines import InTreesRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(50, min_samples_leaf=10, random_state=0)
    >>> simple = InTreesRegressor(forest, max_rules=5, random_state=0).fit(X, y)
    >>> simple.rules_.n_rules
    5
    """

    _: KW_ONLY
    smoothing: float = setting(0.02, Real(0))
    levels: int | None = setting(None, None, Integer(2))

    def _target(self, problem):
        numbers, weight = problem.target, problem.sample_weight
        if self.levels is None:
            return NumberTarget(numbers, weight)
        n_levels = int(self.levels)
        levels, _ = discretise(numbers, weight, n_levels)
        values = level_values(numbers, weight, n_levels)
        return ClassTarget(levels, n_levels, weight, values)


def _rule(problem, target, conditions, rows, prediction):
    """A rule of the list, which predicts these rows.

    It predicts the class or level that it was measured by, or the mean of its rows.
    """
    level = None if target.values is None else target.values[prediction]
    rule = predicting_rule(problem, conditions, rows, level)
    if problem.n_classes and problem.classes[prediction] != rule.prediction:
        label, error = problem.classes[prediction], 1 - rule.distribution[prediction]
        rule = dataclasses.replace(rule, prediction=label, error=error)
    return rule


# Candidate rules: paths of the trees as numbers of sides.


@dataclass(frozen=True, eq=False)
class PathRules:
    """Rules as numbers of sides."""

    sides: Sides
    side_numbers: np.ndarray  # (n_rules, longest), in order of conditions; padded by -1

    def __len__(self):
        return len(self.side_numbers)

    @property
    def lengths(self):
        """Number of conditions of each rule, before those on one feature are merged."""
        return (self.side_numbers >= 0).sum(axis=1)

    def __getitem__(self, chosen):
        return PathRules(self.sides, self.side_numbers[chosen])

    def sides_of(self, rule):
        """The sides of one rule."""
        return [int(side) for side in self.side_numbers[rule] if side >= 0]


def extract(problem, max_depth, n_trees=None):
    """Extract a rule for each leaf, or each node at `max_depth`, tree by tree.

    The conditions of a rule are sorted by feature, and those on one feature from the
    root down. They are not merged: of `x <= 5` and `x <= 3`, pruning may drop the
    second.
    """
    sides, paths = find_paths(problem, max_depth, n_trees)
    places = {j: k for k, j in enumerate(problem.feature_order)}
    place = [places[j] for j in sides.feature]
    ends = [path for path in paths if path.is_leaf or len(path.sides) == max_depth]
    side_numbers = np.full((len(ends), max([1, *(len(p.sides) for p in ends)])), -1)
    for k, path in enumerate(ends):
        side_numbers[k, : len(path.sides)] = sorted(path.sides, key=place.__getitem__)
    return PathRules(sides, side_numbers)


def drop_repeats(side_numbers):
    """Indices of the first occurrences of the rows of an int array."""
    return np.sort(np.unique(side_numbers, axis=0, return_index=True)[1])


# Measuring and pruning rules.


@dataclass(frozen=True, eq=False)
class MeasuredRules:
    """Rules with their predictions, frequencies and errors."""

    rules: PathRules
    frequency: np.ndarray
    error: np.ndarray
    prediction: np.ndarray  # a class index, or a mean
    matches: np.ndarray  # the rows that each rule matches, (n_rules, n_samples)

    def __len__(self):
        return len(self.rules)

    def __getitem__(self, chosen):
        return MeasuredRules(*(values[chosen] for values in vars(self).values()))


def measure(rules, codes, target):
    """Measure rules; those that match no row are dropped."""
    lines, local = _lines(rules, codes)
    matches = lines[local[:, 0]]
    for k in range(1, local.shape[1]):
        matches &= lines[local[:, k]]
    sums = _sums(matches, target.columns)
    has_rows = sums[:, -1] > 0
    sums = sums[has_rows]
    predictions = target.predictions(sums)
    errors = target.measured_errors(sums, predictions)
    measured = _frequency(target, sums), errors, predictions
    return MeasuredRules(rules[has_rows], *measured, matches[has_rows])


def prune(measured, codes, target, max_decay=0.05, decay="absolute"):
    """Prune the conditions that hardly change the errors of rules.

    From the last condition to the first, each is dropped if the error of the rule
    without it, with the same prediction, is at most `max_decay` above its initial
    error, as a difference or, if `decay` is "relative", as a share of that error.
    """
    lines, local = _lines(measured.rules, codes)
    longest = local.shape[1]
    before = [np.broadcast_to(lines[-1], measured.matches.shape)]
    for k in range(longest - 1):
        before.append(before[-1] & lines[local[:, k]])
    n_left = measured.rules.lengths
    side_numbers = measured.rules.side_numbers.copy()
    frequency, error = measured.frequency.copy(), measured.error.copy()
    tail = before[0].copy()
    allowed = max_decay if decay == "absolute" else max_decay * np.maximum(error, 1e-6)
    limit = np.round(error + allowed, DIGITS)
    for k in range(longest - 1, -1, -1):
        sums = _sums(before[k] & tail, target.columns)
        errors = target.measured_errors(sums, measured.prediction)
        goes = (side_numbers[:, k] >= 0) & (n_left > 1)
        goes &= np.round(errors, DIGITS) <= limit
        n_left = n_left - goes
        side_numbers[goes, k] = -1
        error[goes] = errors[goes]
        frequency[goes] = _frequency(target, sums)[goes]
        tail[~goes] &= lines[local[~goes, k]]
    prediction = measured.prediction
    if target.predicts_anew:
        prediction = target.predictions(_sums(tail, target.columns))
    # Close the gaps between the sides of a rule.
    order = np.argsort(side_numbers < 0, axis=1, kind="stable")
    side_numbers = np.take_along_axis(side_numbers, order, axis=1)
    rules = PathRules(measured.rules.sides, side_numbers)
    return MeasuredRules(rules, frequency, error, prediction, tail)


def _frequency(target, sums):
    """Share of all rows, rounded to thousandths."""
    return thousandths(target.weights(sums) / target.total) / 1000


def _lines(rules, codes):
    """The rows of the used sides, and the positions of each rule's sides.

    Short rules are padded by -1, the last line, which has all rows.
    """
    used, local = np.unique(rules.side_numbers, return_inverse=True)
    local = local.reshape(rules.side_numbers.shape) - int((used < 0).any())
    rows = rules.sides.rows(codes, used[used >= 0])
    return np.vstack([rows, np.ones((1, len(codes)), dtype=bool)]), local


def prune_all(rules, codes, target, max_decay, decay, advance=None):
    """Measure and prune rules block by block, without duplicates."""
    bytes_each = (rules.side_numbers.shape[1] + 6) * len(codes)
    step = max(1, BLOCK_BYTES // bytes_each)
    blocks = []
    for start in range(0, max(len(rules), 1), step):
        block = rules[start : start + step]
        measured = measure(block, codes, target)
        blocks.append(prune(measured, codes, target, max_decay, decay))
        if advance is not None:
            advance(len(block))
    # Of rules with the same sides and prediction only the first is kept.
    side_numbers = np.concatenate([block.rules.side_numbers for block in blocks])
    names = "frequency", "error", "prediction", "matches"
    columns = [np.concatenate([getattr(b, name) for b in blocks]) for name in names]
    joined = MeasuredRules(PathRules(blocks[0].rules.sides, side_numbers), *columns)
    return joined[drop_repeats(np.column_stack([side_numbers, joined.prediction]))]


# Building the ordered list.


@dataclass(frozen=True, eq=False)
class Listed:
    """The rules of the list, and the rule that predicts each row."""

    rules: list[int]
    place: np.ndarray  # in the list, of the rule of a row; len(rules) for none


def build_list(measured, target, min_freq=0.01, max_rules=None, smoothing=0.0):
    """Build the list; the next rule is always the best on the remaining rows.

    It ends when no rule is better than a single prediction for all remaining rows. A
    rule must predict the share `min_freq` of all rows. To compare rules, the share
    `smoothing` of all rows, with the error of the remaining rows, is added to each.
    """
    n_rows = len(target.columns)
    left, place = np.arange(n_rows), np.empty(n_rows, dtype=np.intp)
    sums, listed = _sums(measured.matches, target.columns), []
    while max_rules is None or len(listed) < max_rules - 1:
        sums_left = target.columns[left].sum(axis=0, keepdims=True)
        best = _best(measured, target, sums, sums_left, min_freq, smoothing)
        if best is None:
            break
        matches = measured.matches[best, left]
        taken, left = left[matches], left[~matches]
        place[taken] = len(listed)
        listed.append(best)
        sums -= _sums(measured.matches[:, taken], target.columns[taken])
    place[left] = len(listed)
    return Listed(listed, place)


def _best(measured, target, sums, sums_left, min_freq, smoothing):
    """Index of the next rule; None if none is worth it.

    `sums` are those of each rule, and `sums_left` those of all, over remaining rows.
    """
    frequency = target.weights(sums) / target.total
    # A rule that matches all remaining rows is not better than a single prediction.
    n_rows, n_left = sums[:, -1], sums_left[0, -1]
    possible = (frequency >= min_freq - NOISE) & (n_rows > 0) & (n_rows < n_left)
    possible &= frequency > 0
    numbers = np.flatnonzero(possible)
    if not numbers.size:
        return None
    frequency = frequency[numbers]
    rest = target.errors(sums_left, target.predictions(sums_left))[0]
    errors = target.errors(sums[numbers], measured.prediction[numbers])
    errors = (errors * frequency + rest * smoothing) / (frequency + smoothing)
    errors = np.round(errors, DIGITS)
    lengths = measured.rules.lengths[numbers]
    first = np.lexsort((lengths, -np.round(frequency, DIGITS), errors))[0]
    return int(numbers[first]) if errors[first] < np.round(rest, DIGITS) else None


def _sums(matches, columns):
    """Sums over the rows of each rule, (n_rules, n_columns)."""
    step = max(1, BLOCK_BYTES // (8 * max(len(columns), 1)))
    starts = range(0, max(len(matches), 1), step)
    return np.vstack([matches[start : start + step] @ columns for start in starts])


# Targets: classes, levels of a number, or the number itself.
#
# A rule is measured by sums of `columns` over its rows. The last column is 1, so that
# rules without rows differ from rules with little weight.


class ClassTarget:
    """Classes, or levels with these values: a rule predicts one of them."""

    predicts_anew = False  # a rule keeps its class while it is pruned

    def __init__(self, labels, n_classes, weight, values=None):
        self.values = values
        columns = np.zeros((len(labels), n_classes + 1))
        columns[np.arange(len(labels)), labels] = weight
        columns[:, -1] = 1
        self.columns, self.total = columns, weight.sum()

    def weights(self, sums):
        return sums[:, :-1].sum(axis=1)

    def predictions(self, sums):
        """The class with the most weight, the first of them at a tie."""
        return sums[:, :-1].argmax(axis=1)

    def errors(self, sums, predictions):
        """Share of the rows that are of another class."""
        return 1 - self._shares(sums, predictions)

    def measured_errors(self, sums, predictions):
        """`errors` from shares in thousandths, for measuring and pruning."""
        return (1000 - thousandths(self._shares(sums, predictions))) / 1000

    def _shares(self, sums, predictions):
        return sums[np.arange(len(sums)), predictions] / self.weights(sums)


class NumberTarget:
    """Numbers: a rule predicts the mean of its rows.

    They are standardised, so that their unit does not matter.
    """

    predicts_anew = True
    values = None

    def __init__(self, numbers, weight):
        self.total = weight.sum()
        self.center = float(np.average(numbers, weights=weight))
        variance = np.average((numbers - self.center) ** 2, weights=weight)
        self.scale = float(math.sqrt(variance)) or 1.0
        # As multiples of a power of two, so that sums of squares are exact: then they
        # do not depend on the order of rows.
        n_bits = (52 - math.ceil(math.log2(max(self.total, 1.0)))) // 2
        step = 2.0 ** -max(n_bits, 16)
        scaled = np.round((numbers - self.center) / self.scale / step) * step
        columns = [weight, weight * scaled, weight * scaled**2, np.ones(len(numbers))]
        self.columns = np.column_stack(columns)

    def weights(self, sums):
        return sums[:, 0]

    def predictions(self, sums):
        """The mean."""
        return sums[:, 1] / sums[:, 0]

    def errors(self, sums, predictions):
        """Mean squared deviation from the mean; `predictions` are not used."""
        return np.maximum(sums[:, 2] / sums[:, 0] - self.predictions(sums) ** 2, 0)

    measured_errors = errors


def thousandths(shares):
    """Round shares to integers of thousandths.

    To the nearer neighbour, compared as doubles, and to the even one at a tie.
    `numpy.round` decides some ties otherwise.
    """
    low, high = np.floor(1000 * shares), np.ceil(1000 * shares)
    down, up = shares - low / 1000, high / 1000 - shares
    return np.where((down < up) | ((down == up) & (low % 2 == 0)), low, high)


def discretise(numbers, weight, n_levels):
    """Divide numbers into levels of about equal weight; also returns upper ends."""
    weight, is_whole = _row_weights(weight)
    order = np.argsort(numbers, kind="stable")
    reached = np.cumsum(weight[order])
    ranks = reached[-1] * np.arange(1, n_levels) / n_levels
    if is_whole:
        ranks = np.round(ranks)
    place = np.searchsorted(reached, ranks - 1e-9, side="left")
    cuts = numbers[order][np.minimum(place, len(numbers) - 1)]
    return np.searchsorted(cuts, numbers, side="left"), cuts


def level_values(numbers, weight, n_levels):
    """The prediction of each level: a percentile near its middle.

    Three levels predict the 17th, 50th and 83rd percentile, as in the paper.
    """
    middles = 100 * (np.arange(n_levels) + 0.5) / n_levels
    shares = np.array(PAPER_PERCENTILES.get(n_levels, middles)) / 100
    weight, _ = _row_weights(weight)
    order = np.argsort(numbers, kind="stable")
    reached = np.cumsum(weight[order])
    # A row of weight w counts as w rows; percentiles are interpolated between rows.
    at = np.maximum(shares * (reached[-1] - 1), 0)
    last = len(numbers) - 1
    low, high = (
        numbers[order][np.minimum(np.searchsorted(reached, place, "right"), last)]
        for place in (np.floor(at), np.floor(at) + 1)
    )
    return low + (at - np.floor(at)) * (high - low)


def _row_weights(weight):
    """Weights scaled to count rows, and whether they were integers already."""
    if (weight == np.round(weight)).all():
        return weight, True
    return weight * (len(weight) / weight.sum()), False
