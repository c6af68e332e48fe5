"""The default method and its three estimators: search for a short list of rules."""

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from defragtrees._utils import formatting as render
from defragtrees._utils.progress import part
from defragtrees._utils.types import Column, Rows
from defragtrees.data.statistics import EXACT, PatternSums, sums_by_group
from defragtrees.estimators.base import (
    RuleClassifier,
    RuleCounter,
    RuleRegressor,
    Simplifier,
    warn_of_little_data,
    warn_of_one_value,
)
from defragtrees.estimators.problem import Problem, find_teacher
from defragtrees.estimators.settings import (
    Conflict,
    Given,
    Integer,
    Real,
    Several,
    setting,
)
from defragtrees.estimators.survival import RuleSurvival
from defragtrees.outcomes.decision import make_decision, threshold_of_second
from defragtrees.outcomes.points import Scoring, find_patterns
from defragtrees.rules.conditions import MOST_NAMED
from defragtrees.rules.model import RuleModel
from defragtrees.search.driver import (
    CRITERIA,
    MOST_ROWS,
    NEW_ROWS,
    SEARCHED_SHARE,
    SEARCHES,
    SearchSettings,
    best_model,
    count_found,
    find_rules,
    halves,
    leave_one_out_losses,
    quick_points,
    shortest_model,
)
from defragtrees.search.limits import (
    LEAST_COVERAGE,
    ROWS_OF_A_RULE,
    MonotoneAnswers,
    read_limits,
    read_preferred,
    refuse_without_lists,
    share_of_rows,
)

if TYPE_CHECKING:
    from defragtrees.estimators.alternatives import Alternatives

__all__ = ["DefragClassifier", "DefragCounter", "DefragRegressor", "DefragSurvival"]


SEED = 0  # of the search
LEAST_SHOWN = 0.001  # smallest difference of two printed scores
LEAST_APART = 0.01  # smallest difference in AUC worth a note
JUDGED_ROWS = 3_000  # synthetic rows; enough to compare two models


@dataclass(repr=False, eq=False)
class _Defrag(Simplifier):
    _: KW_ONLY
    target: str = setting(
        "auto",
        "auto",
        "model",
        "labels",
        help="What to learn: the model, corrected by y where it errs; the model; or y.",
    )
    max_rules: str | int = setting(
        "auto",
        "auto",
        Integer(1),
        help="Maximum number of rules, including the default rule.",
    )
    features: Any = setting(None, help="Features that rules may use; all by default.")
    max_conditions: int | None = setting(
        None,
        None,
        Integer(1),
        help="Maximum number of conditions per rule; for points 4 by default.",
    )
    min_rows: float = setting(
        LEAST_COVERAGE,
        Real(0),
        help="Minimum number of rows, or share below 1, that each rule matches.",
    )
    max_total_conditions: int | None = setting(
        None,
        None,
        Integer(1),
        help="Maximum number of conditions in all rules together.",
    )
    max_categories: int | None = setting(
        MOST_NAMED, None, Integer(1), help="Maximum number of categories per condition."
    )
    exclude: Any = setting(None, help="Features that rules may not use.")
    must_use: Any = setting(None, help="Features that at least one rule must use.")
    prefer: Any = setting(
        None, help="Features to use where several are equally good, the best first."
    )
    monotone: Any = setting(
        None,
        help="Features with which predictions only rise (1) or fall (-1), or auto.",
    )
    special_values: Any = setting(
        None, help="Numbers that are codes, of all columns or by column."
    )
    groups: Any = setting(
        None, None, Several(), help="Features that may occur in one rule."
    )
    form: str = setting(
        "list",
        *SEARCHES,
        help="A list, rules that can be read alone, or a scorecard.",
    )
    points: str = setting(
        "exact", "exact", "integer", help="Whether points of a scorecard are integers."
    )
    max_points: int | None = setting(
        None, None, Integer(1, 10**6), help="Largest integer points of a rule."
    )
    brevity: float = setting(
        0.01,
        Real(0),
        help="Penalty per condition; conditions that gain less are dropped.",
    )
    augment: str | int = setting(
        "auto", "auto", Integer(0, 10**7), help="Number of synthetic rows to search."
    )

    conflicts: ClassVar[tuple[Conflict, ...]] = (
        *(
            Conflict(
                f"{name} needs at least two rules; got max_rules=1. Allow more rules.",
                max_rules=Integer(1, 1),
                **{name: Real(1) if name == "min_rows" else Given()},
            )
            for name in (
                "min_rows",
                "max_total_conditions",
                "must_use",
                "monotone",
                "groups",
            )
        ),
        Conflict(
            "monotone needs form='list' or 'points'; got form='standalone'.",
            form="standalone",
            monotone=Given(),
        ),
        Conflict(
            "augment needs target='model', as y is unknown for synthetic rows; got "
            "target='labels'. Set augment=0 or target='model'.",
            augment=Integer(1),
            target="labels",
        ),
        Conflict(
            "max_points needs points='integer'; got points='exact'.",
            points="exact",
            max_points=Given(),
        ),
        *(
            Conflict(
                f"{name}={value!r} needs form='points'; got form={form!r}.",
                form=form,
                **{name: value},
            )
            for form in SEARCHES
            if form != "points"
            for name, value in (("points", "integer"), ("monotone", "auto"))
        ),
    )

    criterion = "both"  # a setting of classifiers
    _estimates_quantiles = property(lambda self: self.form != "points")
    _needs_numbers = False
    _counts_rules = True
    _path_names = ("path_", "path_by_conditions_")

    def alternatives(
        self,
        X: Rows,
        y: Column | None = None,
        sample_weight: Column | None = None,
        n: int = 10,
        *,
        validation: tuple[Any, ...] | None = None,
        within: str | float = "se",
        without: Any = None,
        with_: Any = None,
        by: Any = "difference",
    ) -> "Alternatives":
        """Find other rule models that are as good as these, and differ from them.

        Further searches leave out one column of the rules each, or use other random
        numbers. What they find, at most half as long again as the rules, is compared
        with the best of them on the rows that count. The result is kept as
        `alternatives_`, which reports show; `use` replaces the rules by one of them. An
        interrupt (Ctrl-C) ends the searches early.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows of `fit`.
        y, sample_weight : array-like of shape (n_samples,), optional
        n : int, default=10
            Maximum number of other rule models.
        validation : tuple (X, y) or (X, y, sample_weight), optional
            That of `fit`.
        within : "se" or float, default="se"
            How much larger than the best its mean loss may be: one standard error of
            the difference on the same rows, or a number.
        without : str or list of str, optional
            Columns that the others may not use.
        with_ : str or list of str, optional
            Columns that the others must use.
        by : {"difference", "conditions"} or array of shape (n_samples,)
            Which of them to list: by default those that differ most, in columns first,
            then in predictions; those with the fewest conditions; or those with the
            smallest gap between groups of rows, given the group of each row of X, such
            as `X["gender"]` (see `Alternatives.gaps`).

        Returns
        -------
        Alternatives
            A sequence of rule models, the first of which are the present rules.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from defragtrees import simplify
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> tree = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(X, y)
        >>> simple = simplify(tree, X, y, random_state=0)
        >>> menu = simple.alternatives(X, y, n=2)
        >>> menu[0] is simple.rules_
        True
        """
        check_is_fitted(self, "rules_")
        # Only who asks for alternatives needs the module.
        from defragtrees.estimators.alternatives import find_alternatives

        rows = X, y, sample_weight
        self.alternatives_ = find_alternatives(
            self, rows, validation, n, within, without, with_, by
        )
        return self.alternatives_

    def use(self, number: int) -> Self:
        """Replace the rules by one of `alternatives_`, and record this in the rules.

        Parameters
        ----------
        number : int
            That of the table; 0 has the rules from before.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from defragtrees import simplify
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> tree = DecisionTreeClassifier(max_leaf_nodes=4, random_state=0).fit(X, y)
        >>> simple = simplify(tree, X, y, random_state=0)
        >>> menu = simple.alternatives(X, y, n=2)
        >>> simple.use(0).rules_ == menu[0]
        True
        """
        if getattr(self, "alternatives_", None) is None:
            raise ValueError("There are no alternatives yet. Call alternatives first.")
        self.alternatives_.use(self, number)
        return self

    def _simplify(self, problem, rng, limits, preferred):
        store, most = problem.store, limits.max_rules
        # A row of weight two counts as two rows; weights may also sum to one.
        n_rows = max(store.n_rows, round(store.total_weight))
        n_rules = min(most, max(2, n_rows // ROWS_OF_A_RULE))
        warn_of_little_data(self.max_rules, n_rows, n_rules)
        if self.target == "auto":
            problem = replace(problem, teacher=find_teacher(problem))
        n_new_rows, problem, counting, rows = self._divided(problem, rng)
        if problem.teacher is not None:
            counting = replace(counting, correction=problem.teacher.correction)
        if self.min_rows >= 1:
            share = share_of_rows(self.min_rows, counting.total_weight)
            limits = replace(limits, min_coverage=share)
        limits = replace(limits, max_rules=n_rules)
        if self.monotone == "auto":
            limits = replace(limits, monotone=trends(rows))
        # Conditions on integers leave gaps, in which monotonicity could break.
        if limits.monotone:
            grid = problem.grid.without_integers(limits.monotone)
            problem = replace(problem, grid=grid)
        settings = SearchSettings(
            limits,
            brevity=float(self.brevity),
            prefer=preferred,
            max_categories=self.max_categories,
            n_new_rows=n_new_rows,
            criterion=self.criterion,
            decision=self._decision(problem.classes, store),
        )
        # A first search is without limits, so that one that does not bind changes
        # nothing; points are searched for once, as this takes long.
        free = limits if self.form == "points" else limits.relaxed()
        with part(0.0, 0.9 if free is limits else 0.5):
            path = self._path(problem, replace(settings, limits=free), counting, rows)
        chosen = self._chosen(path)
        if free is not limits and not path.keeps_to(limits):
            settings = replace(settings, unlimited=path.boxes)
            with part(0.5, 0.9):
                limited = self._path(problem, settings, counting, rows)
            path = path.within(limits, limited)
        if not path.by_rules:
            refuse_without_lists(limits, problem.feature_names, most)
        if chosen is None or not limits.allows_model(chosen.model):
            chosen = self._chosen(path)
        rules = chosen.model
        self.n_iter_: int = path.n_rounds
        self.path_: dict[int, RuleModel] = {
            own.model.n_rules: own.model for own in path.by_rules
        }
        self.path_losses_: dict[int, float] = {
            own.model.n_rules: own.share for own in path.by_rules
        }
        self.path_by_conditions_: dict[int, RuleModel] = {
            own.model.n_conditions: own.model for own in path.by_conditions
        }
        if self._kept is not None:
            found = {"counting": counting, "rows": rows, "path": path}
            vars(self._kept).update(problem=problem, settings=settings, **found)
        if rules.n_rules == 1:
            warn_of_one_value(problem)
        self.advice_: tuple[str, ...] = advise(
            problem, settings, path.rows, counting, rules, rows
        )
        if counting.correction is not None:
            gain = render.share(counting.correction.gain)
            self.advice_ += (
                f"What the rules learn from y removes {gain} of the model's squared "
                'error, on training rows left out in turn; target="model" imitates the '
                "model alone.",
            )
        return rules

    def _path(self, problem, settings, counting, rows, seed=SEED):
        """Search once, and count the best rule model of every size."""
        # A fixed seed, so that two fits on the same rows do not differ by chance.
        blank, rng = problem.blank(self.form), np.random.default_rng(seed)
        path = find_rules(blank._form, problem, settings, rng)
        is_whole, follows = self.points == "integer", self.monotone == "auto"
        scoring = Scoring(is_whole, follows, self.max_points)
        return count_found(path, blank, counting, settings, scoring, rows)

    def _chosen(self, path):
        """Choose a candidate of a path by its loss.

        None if the search found no model within the limits.
        """
        if not path.by_rules:
            return None
        if self.max_rules == "auto":
            candidates = path.by_conditions or path.by_rules
            return shortest_model(candidates)
        return best_model(path.by_rules)

    def _divided(self, problem, rng):
        """Which rows search, which count, and which choose the number of rules.

        Returns the number of synthetic rows to search, the problem with the rows to
        search, the store of the rows to count, and the Problem of those that choose.
        """
        store, fits_y = problem.store, self.target == "labels"
        if self.augment != "auto":
            n_new_rows = int(self.augment)
        elif problem.is_sample or fits_y:
            n_new_rows = 0
        else:
            queried = problem.forest.new_rows
            n_new_rows = NEW_ROWS if queried is None else len(queried)
        if problem.is_sample and not n_new_rows:
            # Of a sample some rows are searched, the others judge what is found.
            order = np.random.default_rng(SEED).permutation(len(problem.target))
            searched = order < SEARCHED_SHARE * len(order)
            problem = replace(problem, searched=searched)
        counting = store
        if problem.counting is not None:
            counting = problem.counting
        elif n_new_rows:
            counting = replace(store, source="training")
        elif fits_y and not problem.is_sample:
            searched, counts = halves(
                problem.codes,
                problem.feature_order,
                problem.target,
                problem.sample_weight,
            )
            if counts.any() and searched.any():
                problem = replace(problem, searched=searched)
                counted = store.take(problem.places[counts])
                counting = replace(counted, source="held out")
        if counting.shards is not store.shards:
            rows = Problem.of_store(
                counting, problem.forest, MOST_ROWS, rng, problem.words
            )
        elif problem.searched is not None:  # the other rows of a sample
            rows = replace(problem.take(~problem.searched), store=counting)
        else:
            rows = replace(problem, store=counting)
        return n_new_rows, problem, counting, rows

    def _check_forest(self, forest):
        super()._check_forest(forest)
        limits = read_limits(self, forest)
        self._decision(forest.classes)  # checks its settings
        if self.prefer is None:
            return limits, ()
        return limits, read_preferred(self.prefer, forest, limits.features)

    def _notes(self, scores, is_fit):
        return self.advice_ if is_fit else ()

    def _decision(self, labels, store=None):
        """How a class is decided from probabilities; None for regression."""
        return None


def trends(rows):
    """The direction of each feature with an order: -1 or 1, as y rises or falls.

    It is the sign of the correlation of y with ranks, missing and special values left
    out.
    """
    grid, signs, y = rows.grid, {}, rows.observed[:, -1]
    for j, thresholds in enumerate(grid.splits):
        codes, special = rows.codes[:, j], grid.special.get(j, ())
        is_known = codes < grid.n_bins[j] - 1
        is_known &= ~np.isin(codes, grid.bin_column(j, np.array(special)))
        is_ordered = not grid.is_categorical(j) or j in rows.ordered_features
        if not (len(thresholds) and is_ordered and is_known.any()):
            continue
        weight = rows.mean_weight * is_known
        share = np.bincount(codes, weight, grid.n_bins[j]) / weight.sum()
        rank = (np.cumsum(share) - share / 2)[codes]
        trend = weight @ ((rank - 0.5) * (y - weight @ y / weight.sum()))
        sign = int(np.sign(np.round(trend / weight.sum(), 12)))
        if sign:
            signs[j] = sign
    return signs


def advise(problem, settings, searched, counting, rules, rows):
    """Write the notes of a fit; none without y or if rows were sampled.

    `searched` are the rows of the search, `counting` is the store of the rows on which
    rules were counted, and `rows` is the Problem of these rows.
    """
    if rows.labels is None or problem.is_sample or searched is None:
        return ()
    texts = []
    # AUC for classes, R² for numbers; other outcomes may have neither.
    measure = next((m for m in rules.outcome.measures() if m.is_larger_better), None)
    if measure is not None:
        scores = counting.evaluation(rules).scores(rules)
        own = scores[measure.name]
        if not rules._form.is_sum and rules.n_rules > 1 and not rows.is_sample:
            points = _points_score(problem, settings, searched, rules, rows, measure)
            # A full search for points would do better still.
            if points - own >= LEAST_SHOWN:
                texts.append(
                    'Points would do better (form="points"): on the same rows, a '
                    f"scorecard with as many rules has {measure.label} {points:.3f}, "
                    f"these rules {own:.3f}."
                )
    has_more = any(texts)
    if counting.source == "validation":
        texts.append(_equal_text(rules, rows, has_more))
    elif measure is not None and searched.n_near and rules.outcome.n_classes:
        # The model's lead on new rows, if its probabilities are right: an upper bound
        # for deep forests and boosting, close for forests with large leaves. For
        # numbers it is no guide: predictions of forests are shrunk towards the mean,
        # and so is the lead.
        outcome, true = rules.outcome, searched.outputs[:JUDGED_ROWS]
        by_model = replace(searched, teacher=None).outputs[:JUDGED_ROWS]
        predicted = rules._form.predict_proba(rules._covers(searched.X[:JUDGED_ROWS]))
        lead = scores[f"model_{measure.name}"] - own
        new_lead = outcome.expected_auc(true, by_model)
        new_lead -= outcome.expected_auc(true, predicted)
        if lead - new_lead >= LEAST_APART:
            has_more = has_more or new_lead >= LEAST_APART
            probabilities = "own probabilities"
            if searched.teacher is not None:
                probabilities = "probabilities, corrected by y"
            texts.append(
                f"The model's lead in AUC is {lead:.2f} on these rows, but about "
                f"{max(new_lead, 0):.2f} on new rows, by its {probabilities}: the rest "
                "is overfitting"
                f"{'' if has_more else ', and more rules are unlikely to help'}."
            )
    return tuple(text for text in texts if text)


def _points_score(problem, settings, searched, rules, rows, measure):
    """A measure of a quick scorecard with as many rules, fitted to y in the rows."""
    conditions = quick_points(problem, settings, searched, rules._form)
    outcome, order = rules.outcome, MonotoneAnswers(settings.limits.monotone)
    weight = rows.mean_weight
    is_idle = [True]
    while any(is_idle):
        matches = rows.matches(conditions)
        patterns, place = find_patterns(matches[:, :-1].T)
        sums = sums_by_group(place, len(patterns), weight, rows.observed)
        sums, signs = (
            PatternSums(patterns, *sums),
            [order.point_signs(conditions)] if order.signs else [],
        )
        points = sums.scorecard(outcome, EXACT, rows.spread, signs).points
        # Rules whose points are rounded to nothing are left out.
        is_idle = ~points[:-1].any(axis=1)
        conditions = [
            c for c, idle in zip(conditions, is_idle, strict=True) if not idle
        ]
    totals = np.tile(points[-1], (len(matches), 1))
    for match, value in zip(matches.T, points[:-1], strict=False):
        totals += np.outer(match, value)
    linked = outcome.linked(totals)
    predicted = outcome.encode(outcome.decide(linked))
    likely = linked if outcome.has_probabilities else None
    columns = rows.labels, rows.sample_weight, predicted, likely
    return measure.of(outcome.scores.of(outcome, *columns))


def _equal_text(rules, rows, has_more):
    """Compare rules and model on rows that neither the model nor the search used.

    `has_more` is whether points would do better.
    """
    # Training rows among them count less.
    is_new = slice(None) if rows.worth is None else rows.worth == 1
    weight = rows.mean_weight[is_new]
    by_model = rows.probabilities if rows.n_classes else rows.target
    by_model = np.asarray(by_model, dtype=np.float64).reshape(rows.observed.shape)
    losses = leave_one_out_losses(rows, rules._form)
    apart = (losses - rules.outcome.estimate_losses(rows.observed, by_model))[is_new]
    mean = np.average(apart, weights=weight)
    error = math.sqrt(np.average((apart - mean) ** 2, weights=weight) / weight.sum())
    if mean > error:
        return ""
    return (
        "On rows that neither used, the rules predict as well as the model, within "
        f"one standard error{'' if has_more else ': more rules are unlikely to help'}."
    )


@dataclass(repr=False, eq=False)
class DefragClassifier(RuleClassifier, _Defrag):
    """Turn a classification model into a short list of rules.

    `predict_proba` returns the class rates of y in the rows that a rule predicts,
    shrunk towards the overall rates; without y, the mean probabilities of the
    model. The most likely class is predicted, unless `class_weight`, `costs` or
    `threshold` decide otherwise.

    Parameters
    ----------
    What to imitate

    model : fitted or unfitted model, path, Forest or None, default=None
        The model to simplify. A fitted model, or the file it was saved to, is used
        as it is; an unfitted one is cloned and fitted on X and y; None fits a random
        forest (gradient boosting if X has categories). Any other model, or a function
        that predicts, is queried as a black box. `clone`, which grid search calls, also
        resets a fitted model: wrap it in `sklearn.frozen.FrozenEstimator` to keep
        the fit.
    target : {"auto", "model", "labels"}, default="auto"
        Imitate the model, corrected by y where y shows that it errs ("auto"); imitate
        the model alone ("model"); or fit y ("labels"). Without y, or with fewer than
        100 rows, "auto" is "model".
    augment : "auto" or int, default="auto"
        Number of synthetic rows, drawn near the data and labelled by the model, on
        which rules are searched for. "auto" is 10,000 for up to 100,000 rows, and 0 for
        more rows or `target="labels"`. For a black box it is the number of synthetic
        rows for which the model was queried. With 0 the search uses the rows of X.
    max_calls : int or None, default=None
        Maximum number of rows for which a black box is queried, those of `validation`
        included. At most half of the others are rows of X (a sample, if X has more);
        the rest are synthetic rows for the search.

    How short

    form : {"list", "standalone", "points"}, default="list"
        How rules combine. "list": the first rule that matches predicts. "standalone":
        each rule can be read alone, and reports the rate in all rows that it matches.
        "points": a scorecard, whose points add up to log-odds or, in regression, y.
    max_rules : "auto" or int, default="auto"
        Maximum number of rules, including the default rule. With a number, the best
        rule model with up to that many rules is chosen. With "auto", rule models with
        up to ten rules compete; of those whose loss is within 1% of the variance of y
        of the best, the one with the fewest conditions is chosen.
    max_conditions : int or None, default=None
        Maximum number of conditions per rule. Each finite end of an interval counts as
        one. None is no limit, and 4 for points.
    max_total_conditions : int, optional
        Maximum number of conditions in all rules together.
    max_categories : int or None, default=6
        Maximum number of categories that one condition names, as those that match or
        as those that do not. None is no limit.
    min_rows : float, default=0.01
        Minimum number of rows, by weight, that each rule matches, the default rule
        included; a number below 1 is a share of the rows.
    brevity : float, default=0.01
        Penalty per condition, in nats per row; conditions that gain less are dropped.
        With 0 only the description length of a condition counts.
    points : {"exact", "integer"}, default="exact"
        "integer" makes a scorecard with integer points. `unit` and `origin` of
        `rules_` convert a total back to log-odds or a number.
    max_points : int, optional
        Largest integer points of a rule, such as 3 for a score that people add up in
        their heads. The integers are those of the smallest loss.

    Which columns

    features : sequence of str or int, optional
        Features that rules may use, by name or index; all by default.
    exclude : sequence of str or int, optional
        Features that rules may not use.
    must_use : sequence of str or int, optional
        Features that at least one rule must use.
    prefer : sequence of str or int, optional
        Features to use where several have nearly the same information, the best first.
        A condition on another feature is replaced by one on the first of these that
        raises the loss on the rows of X by at most `brevity`. Features that the model
        never splits on cannot be used.
    monotone : dict from str or int to {-1, 1}, or "auto", optional
        Features with which predictions may only rise (1) or only fall (-1), all other
        features being equal. With two classes this applies to the probability of the
        second. A feature has numbers, or categories with an order: an ordered
        categorical column, or one that an `OrdinalEncoder(categories=...)` encodes.
        "auto", for points: each such feature in the direction of its trend in the rows
        that count, and no rule has points that contradict the rate of its own rows.
    special_values : number or list of them, or dict from str or int to these, optional
        Numbers that are codes, such as -9 for "no account", of the columns in which
        they occur. No condition accepts one together with other values or missing ones.
    groups : dict from str to features, or sequence of features, optional
        Features that may occur together in one rule. Features in no group may occur in
        any rule. `features`, `exclude` and `must_use` also accept names of groups.
    shorten_thresholds : bool, default=True
        Round thresholds where this moves no training row to the other side.
    feature_labels : dict from name to str, or sequence of str, optional
        Names of features in printed output. A unit may follow in brackets, as in
        "Duration [months]"; "[date]" prints days since 1970-01-01 as dates.

    Classes and costs

    criterion : {"both", "probability", "error"}, default="both"
        Optimise the probabilities, the predicted class ("error"), or both. Points are
        always fitted to probabilities.
    class_weight : None, "balanced" or dict from class to float, default=None
        Cost of an error in each class; None is 1 for all. "balanced" gives all classes
        the same total cost. It changes the search and the predicted class, not the
        probabilities; costs of `costs` are multiplied by it.
    costs : dict from (true class, predicted class) to float, or array, optional
        Cost of each kind of error; those not given cost 1. An array has one row per
        true class. The class with the least expected cost is predicted.
    threshold : float, optional
        Probability from which the second of two classes, or `pos_label`, is predicted.
        Not with `class_weight` or `costs`. The default is the threshold of the model,
        if it has one, else 0.5.
    class_labels : dict from class to str, or sequence of str, optional
        Names of classes in printed output.
    pos_label : object, optional
        The class, of two, whose rate, precision and recall are reported and to which a
        threshold applies; the second by default.

    Computation

    random_state : int, RandomState, Generator or None, default=None
        Seed; the same seed gives the same rules for any `n_jobs`. It matters only for
        models fitted here, black boxes and more than 100,000 rows; otherwise every
        fit uses the same random numbers.
    n_jobs : int or None, default=None
        Number of threads for large data and for a model that is fitted here. None
        is one.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    rules_ : RuleModel
    path_ : dict from int to RuleModel
        The best rules found for each number of rules.
    path_by_conditions_ : dict from int to RuleModel
        The best rules found for each total number of conditions. Totals that are no
        better than a smaller one are left out.
    path_losses_ : dict from int to float
        The loss of each entry of `path_`, as a share of that of the best constant. If
        `max_rules` is a number, the entry with the smallest loss is chosen, and the
        shortest of equals.
    advice_ : tuple of str
        Notes printed by `summary`: whether points would do better, how much of the
        model's lead remains on new rows, and what the rules gain from y.
    n_iter_ : int
        Number of rounds of the search.
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

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees import DefragClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=0)
    >>> simple = DefragClassifier(forest, random_state=0).fit(X, y)
    >>> simple.rules_.n_rules < 10
    True
    """

    _: KW_ONLY
    criterion: str = setting(
        "both", *CRITERIA, help="What to optimise: probabilities, the class, or both."
    )
    class_weight: Any = setting(
        None, help="Cost of an error in each class; 1 by default."
    )
    costs: Any = setting(
        None, help="Cost of each kind of error; those not given cost 1."
    )
    threshold: float | None = setting(
        None,
        None,
        Real(above=0, below=1),
        help="Probability from which the positive class is predicted.",
    )

    conflicts = (
        *_Defrag.conflicts,
        Conflict(
            "criterion='error' needs form='list' or 'standalone', as points are fitted "
            "to probabilities; got form='points'.",
            criterion="error",
            form="points",
        ),
    )

    def _decision(self, labels, store=None):
        """How a class is decided; without a store, only checks the settings."""
        rates = (
            np.ones(len(labels))
            if store is None
            else store.class_shares("probabilities")
        )
        threshold = self.threshold
        if threshold is None and self.class_weight is None and self.costs is None:
            threshold = getattr(self.forest_.link, "threshold", None)
        elif threshold is not None and self.pos_label == labels[0]:
            threshold = threshold_of_second(threshold)
        return make_decision(
            labels,
            rates,
            class_weight=self.class_weight,
            costs=self.costs,
            threshold=threshold,
        )


class DefragRegressor(RuleRegressor, _Defrag):
    """Turn a regression model into a short list of rules.

    Parameters
    ----------
    What to imitate

    model : fitted or unfitted model, path, Forest or None, default=None
        The model to simplify. A fitted model, or the file it was saved to, is used
        as it is; an unfitted one is cloned and fitted on X and y; None fits a random
        forest (gradient boosting if X has categories). Any other model, or a function
        that predicts, is queried as a black box. `clone`, which grid search calls, also
        resets a fitted model: wrap it in `sklearn.frozen.FrozenEstimator` to keep
        the fit.
    target : {"auto", "model", "labels"}, default="auto"
        Imitate the model, corrected by y where y shows that it errs ("auto"); imitate
        the model alone ("model"); or fit y ("labels"). Without y, or with fewer than
        100 rows, "auto" is "model".
    augment : "auto" or int, default="auto"
        Number of synthetic rows, drawn near the data and labelled by the model, on
        which rules are searched for. "auto" is 10,000 for up to 100,000 rows, and 0 for
        more rows or `target="labels"`. For a black box it is the number of synthetic
        rows for which the model was queried. With 0 the search uses the rows of X.
    max_calls : int or None, default=None
        Maximum number of rows for which a black box is queried, those of `validation`
        included. At most half of the others are rows of X (a sample, if X has more);
        the rest are synthetic rows for the search.

    How short

    form : {"list", "standalone", "points"}, default="list"
        How rules combine. "list": the first rule that matches predicts. "standalone":
        each rule can be read alone, and reports the rate in all rows that it matches.
        "points": a scorecard, whose points add up to log-odds or, in regression, y.
    max_rules : "auto" or int, default="auto"
        Maximum number of rules, including the default rule. With a number, the best
        rule model with up to that many rules is chosen. With "auto", rule models with
        up to ten rules compete; of those whose loss is within 1% of the variance of y
        of the best, the one with the fewest conditions is chosen.
    max_conditions : int or None, default=None
        Maximum number of conditions per rule. Each finite end of an interval counts as
        one. None is no limit, and 4 for points.
    max_total_conditions : int, optional
        Maximum number of conditions in all rules together.
    max_categories : int or None, default=6
        Maximum number of categories that one condition names, as those that match or
        as those that do not. None is no limit.
    min_rows : float, default=0.01
        Minimum number of rows, by weight, that each rule matches, the default rule
        included; a number below 1 is a share of the rows.
    brevity : float, default=0.01
        Penalty per condition, in nats per row; conditions that gain less are dropped.
        With 0 only the description length of a condition counts.
    points : {"exact", "integer"}, default="exact"
        "integer" makes a scorecard with integer points. `unit` and `origin` of
        `rules_` convert a total back to log-odds or a number.
    max_points : int, optional
        Largest integer points of a rule, such as 3 for a score that people add up in
        their heads. The integers are those of the smallest loss.

    Which columns

    features : sequence of str or int, optional
        Features that rules may use, by name or index; all by default.
    exclude : sequence of str or int, optional
        Features that rules may not use.
    must_use : sequence of str or int, optional
        Features that at least one rule must use.
    prefer : sequence of str or int, optional
        Features to use where several have nearly the same information, the best first.
        A condition on another feature is replaced by one on the first of these that
        raises the loss on the rows of X by at most `brevity`. Features that the model
        never splits on cannot be used.
    monotone : dict from str or int to {-1, 1}, or "auto", optional
        Features with which predictions may only rise (1) or only fall (-1), all other
        features being equal. With two classes this applies to the probability of the
        second. A feature has numbers, or categories with an order: an ordered
        categorical column, or one that an `OrdinalEncoder(categories=...)` encodes.
        "auto", for points: each such feature in the direction of its trend in the rows
        that count, and no rule has points that contradict the rate of its own rows.
    special_values : number or list of them, or dict from str or int to these, optional
        Numbers that are codes, such as -9 for "no account", of the columns in which
        they occur. No condition accepts one together with other values or missing ones.
    groups : dict from str to features, or sequence of features, optional
        Features that may occur together in one rule. Features in no group may occur in
        any rule. `features`, `exclude` and `must_use` also accept names of groups.
    shorten_thresholds : bool, default=True
        Round thresholds where this moves no training row to the other side.
    feature_labels : dict from name to str, or sequence of str, optional
        Names of features in printed output. A unit may follow in brackets, as in
        "Duration [months]"; "[date]" prints days since 1970-01-01 as dates.

    Computation

    random_state : int, RandomState, Generator or None, default=None
        Seed; the same seed gives the same rules for any `n_jobs`. It matters only for
        models fitted here, black boxes and more than 100,000 rows; otherwise every
        fit uses the same random numbers.
    n_jobs : int or None, default=None
        Number of threads for large data and for a model that is fitted here. None
        is one.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    rules_ : RuleModel
    path_ : dict from int to RuleModel
        The best rules found for each number of rules.
    path_by_conditions_ : dict from int to RuleModel
        The best rules found for each total number of conditions. Totals that are no
        better than a smaller one are left out.
    path_losses_ : dict from int to float
        The loss of each entry of `path_`, as a share of that of the best constant. If
        `max_rules` is a number, the entry with the smallest loss is chosen, and the
        shortest of equals.
    advice_ : tuple of str
        Notes printed by `summary`: whether points would do better, how much of the
        model's lead remains on new rows, and what the rules gain from y.
    n_iter_ : int
        Number of rounds of the search.
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

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from defragtrees import DefragRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(50, min_samples_leaf=10, random_state=0)
    >>> simple = DefragRegressor(forest, max_rules=5, random_state=0).fit(X, y)
    >>> simple.rules_.n_rules <= 5
    True
    """


@dataclass(repr=False, eq=False)
class DefragCounter(RuleCounter, _Defrag):
    """Turn a model of counts, such as claims per year, into a short list of rules.

    y has two columns, the number of events and the exposure in which they happened (a
    data frame, an array or a structured array), or only the events with `exposure` as
    the name of a column of X; without an exposure each row has 1. Rules predict the
    rate of events per unit of exposure, and losses are Poisson deviances. The points of
    a scorecard are relativities, factors of a base rate.

    The model predicts rates: fitted to events / exposure, weighted by exposure, or to
    events with the logarithm of the exposure as an offset.

    Parameters
    ----------
    exposure : str, optional
        The column of X with the exposure of each row; the model must not use it.
    model, target, augment, max_calls : as for `DefragRegressor`
    form, points, max_points : as for `DefragRegressor`
        The points of a scorecard are relativities; integer ones are steps of a factor.
    max_rules, max_conditions, max_total_conditions : as for `DefragRegressor`
    max_categories, min_rows, brevity : as for `DefragRegressor`
    features, exclude, must_use, prefer, monotone, groups : as for `DefragRegressor`
    special_values : as for `DefragRegressor`
    shorten_thresholds, feature_labels : as for `DefragRegressor`
    random_state, n_jobs, verbose : as for `DefragRegressor`

    Attributes
    ----------
    rules_ : RuleModel
        This and all others are as for `DefragRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> from defragtrees import DefragCounter
    >>> rng = np.random.default_rng(0)
    >>> age, years = rng.uniform(18, 80, 4000), rng.uniform(0.1, 1.0, 4000)
    >>> claims = rng.poisson(np.where(age < 30, 0.3, 0.1) * years)
    >>> X = age[:, None]
    >>> model = HistGradientBoostingRegressor(loss="poisson", max_depth=2)
    >>> model = model.fit(X, claims / years, sample_weight=years)
    >>> simple, y = DefragCounter(model, max_rules=2), np.column_stack([claims, years])
    >>> simple.fit(X, y).predict([[20.0], [50.0]]).round(1).tolist()
    [0.3, 0.1]
    >>> 0 < simple.score(X, y) < 0.1
    True
    """


@dataclass(repr=False, eq=False)
class DefragSurvival(RuleSurvival, _Defrag):
    """Turn a model of survival into a short list of rules, each with its own curve.

    y has the columns event (whether it happened) and time (of the event, or until when
    it had not happened): the structured array of scikit-survival, or a frame or array
    with two columns. Rules predict hazard ratios against all rows, and report survival
    by Kaplan and Meier. The points of a scorecard are hazard ratios to multiply.

    The model predicts risks: hazard ratios, their logarithms or, such as a random
    survival forest, expected numbers of events; a model that predicts times is turned
    round. Without a fitted model a forest is fitted first.

    Parameters
    ----------
    times : float or sequence of float, optional
        Times at which rules report survival; by default the median of the times in y.
    model, target, augment, max_calls : as for `DefragRegressor`
    form, points, max_points : as for `DefragRegressor`
        The points of a scorecard are factors of the hazard; integer ones are steps of
        a factor.
    max_rules, max_conditions, max_total_conditions : as for `DefragRegressor`
    max_categories, min_rows, brevity : as for `DefragRegressor`
    features, exclude, must_use, prefer, monotone, groups : as for `DefragRegressor`
    special_values : as for `DefragRegressor`
    shorten_thresholds, feature_labels : as for `DefragRegressor`
    random_state, n_jobs, verbose : as for `DefragRegressor`

    Attributes
    ----------
    rules_ : RuleModel
        This and all others are as for `DefragRegressor`.
    unique_times_ : array of shape (n_times,)
        The times of the steps of predicted functions.

    Examples
    --------
    >>> import numpy as np
    >>> from defragtrees import DefragSurvival
    >>> rng = np.random.default_rng(0)
    >>> age = rng.uniform(30, 80, 1000)
    >>> time = rng.exponential(np.where(age > 60, 2.0, 8.0))
    >>> y = np.column_stack([time < 10, np.minimum(time, 10)])
    >>> X = age[:, None]
    >>> simple = DefragSurvival(max_rules=2, times=5, random_state=0).fit(X, y)
    >>> old, young = simple.predict_survival_function([[70.0], [40.0]])
    >>> round(old(5), 1), round(young(5), 1)
    (0.1, 0.5)
    >>> simple.predict_cumulative_hazard_function([[70.0]])[0](5) > 2
    True
    >>> simple.score(X, y) > 0.6
    True
    """
