"""find_segments, explain_errors and compare_models: segments of losses.

Two thirds of the rows are searched, at most 30,000, and all others count. Of a small
table all rows count, each for the segments that are found without its tenth of the
rows. So every figure of a segment comes from rows not used in its search.
"""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from defragtrees._utils import formatting as render
from defragtrees._utils.types import Column, Rows
from defragtrees._utils.values import is_finite
from defragtrees.data.sampling import hash_rows, name_order
from defragtrees.data.sources import open_source, with_exposure
from defragtrees.ensembles.predictions import predict_rows
from defragtrees.outcomes.base import make_outcome, n_columns, outcome_for
from defragtrees.outcomes.intervals import QUANTILE, effective_rows, wilson_interval
from defragtrees.outcomes.tests import holm, same_share_p, welch_p
from defragtrees.rules.conditions import Rule
from defragtrees.rules.labels import BOOLEAN, ORDERED
from defragtrees.rules.model import RuleModel
from defragtrees.rules.models import RuleList
from defragtrees.segments.boxes import BoxSearch, family_of, make_column, make_losses
from defragtrees.segments.found import Heading, Segment, SegmentGroups, Segments
from defragtrees.tables import (
    TableForm,
    boolean_columns,
    check_finite,
    check_weight,
    feature_index,
    is_missing,
    ordered_categories,
)

MOST_CROSSED = 2_000  # rows of a small table
N_FOLDS = 10
CROSSED_PRICE = 0.7  # of a comparison there; with less, segments in noise hold more
LEAST_ALIKE = 0.3  # Jaccard's index of a segment and the one found without a fold
SEARCHED = 2 / 3  # share of the rows that search
MOST_SEARCHED = 30_000
LEAST_ROWS = 20  # of a segment, in all rows
LEAST_SHARE = 0.01  # of a segment
FEWEST = 40  # rows without which nothing can be found and counted
LEAST_EXPLAINED = 0.1  # of the excess loss of the first segment
LEAST_PROBABILITY = 1e-6  # a probability of 0 has a finite log loss
# Losses, and how they are called in tables.
LOSSES = {
    "error": "error",
    "log_loss": "log loss",
    "brier": "Brier score",
    "absolute": "absolute error",
    "squared": "squared error",
    "deviance": "deviance",
    "martingale": "absolute residual",
}


def find_segments(
    X: Rows,
    losses: Column,
    *,
    max_segments: int = 5,
    max_conditions: int = 3,
    min_rows: int | None = None,
    direction: str = "high",
    features: Sequence[Any] | None = None,
    alpha: float = 0.05,
    sample_weight: Column | None = None,
    random_state: int | None = None,
    loss_name: str = "mean loss",
) -> Segments:
    """Find short rules for rows whose losses are unusually high.

    Two thirds of the rows (at most 30,000) are searched. The remaining rows are used
    for all reported figures, and only segments whose mean differs from the rest at the
    level `alpha` are reported, adjusted for the number of candidates. Each further
    segment is searched among the rows that are in no earlier one.

    Parameters
    ----------
    X : array-like or data frame, path of a Parquet file, iterator or Dask collection
        Raw columns: numbers, text, categories, dates, missing values.
    losses : array-like of shape (n_samples,)
        A number per row, such as 1 for a wrong prediction, a squared error, or the
        difference of two models. For a Parquet file it may be the name of a column.
    max_segments : int, default=5
    max_conditions : int, default=3
        Maximum number of conditions per segment.
    min_rows : int, optional
        Minimum number of rows of a segment; by default 1% of the rows, at least 20.
    direction : {"high", "low"}, default="high"
        Whether to search for high or for low losses.
    features : sequence of str or int, optional
        Columns that conditions may use; by default all.
    alpha : float, default=0.05
        Probability that a segment is reported where there is none.
    sample_weight : array-like of shape (n_samples,), optional
    random_state : int, optional
        Seed of the split into rows that search and rows that count. The order of the
        rows does not matter.
    loss_name : str, default="mean loss"
        What the mean of the losses is called in tables.

    Returns
    -------
    Segments

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((2000, 3))
    >>> wrong = rng.random(2000) < np.where((X[:, 0] > 0.7) & (X[:, 1] > 0.7), 0.5, 0.1)
    >>> segments = find_segments(X, wrong)
    >>> [c.feature for c in segments[0].conditions], len(segments)
    ([0, 1], 1)
    """
    settings = {
        name: value
        for name, value in locals().items()
        if name not in ("X", "losses", "direction", "loss_name")
    }
    if direction not in ("high", "low"):
        raise ValueError(f'direction must be "high" or "low"; got {direction!r}.')
    search = SegmentSearch(X, losses, **settings)
    values = check_losses(search.y, len(search.matrix))
    if values.min() == values.max():
        raise ValueError(
            f"All losses are {values[0]:g}, so no segment can differ. Pass losses that "
            "vary."
        )
    return search.find(Loss(values, loss_name, direction=direction))


def explain_errors(
    model: Any,
    X: Rows,
    y: Column,
    loss: str | Callable[..., Any] | None = None,
    *,
    excess: bool = True,
    exposure: Column | None = None,
    **settings: Any,
) -> SegmentGroups:
    """Find where a model fails, and where its predictions are too high or too low.

    Parameters
    ----------
    model : object
        A fitted model, pipeline or rules, the path of a model file, a Forest, a
        function, an array of predictions, or the name of a column of X with them.
        Fractions from 0 to 1 for a y of two classes are probabilities of the second
        class; a matrix has a column per class. A model that numbers its classes from 0
        or 1 is taken to number the classes of y in their order.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows that the model was not trained on. Columns that the model does not know
        may occur in segments.
    y : array-like of shape (n_samples,)
    loss : str or callable, optional
        In classification "error" (default), "log_loss" or "brier"; in regression
        "absolute" (default) or "squared"; of rates and survival, whose y has two
        columns, "deviance" (default) or "martingale", the distance of events from
        those expected; or a function of y and the predictions (the probabilities of
        the second of two classes) that returns a loss per row.
    excess : bool, default=True
        Where the model has probabilities, whether to find segments whose loss is above
        the one that these lead to expect. Segments with a high loss that the model
        expects are in a group of their own, "uncertain". If False, segments are found
        and ranked by the loss alone.
    exposure : array-like of shape (n_samples,) or str, optional
        If y counts events, their exposure or its column of X.
    **settings
        `max_segments`, `max_conditions`, `min_rows`, `features`, `alpha`,
        `sample_weight` and `random_state`, as for `find_segments`. `features` restricts
        the columns of segments, for example to those of a fairness question.

    Returns
    -------
    SegmentGroups
        A mapping with the Segments of the loss; with `excess` also where the model is
        "uncertain"; and, in regression and for two classes, "too low" and "too high",
        the segments with a bias.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((3000, 2))
    >>> y = X[:, 0] + np.where(X[:, 1] > 0.8, 1.0, 0.0) + 0.1 * rng.random(3000)
    >>> found = explain_errors(lambda X: X[:, 0], X, y)
    >>> list(found), len(found["too low"]), len(found["too high"])
    (['absolute error', 'too low', 'too high'], 1, 0)
    """
    if y is None and not isinstance(X, str | os.PathLike | Iterator):
        raise ValueError("explain_errors needs y, the true value of each row.")
    if exposure is not None:
        X, y = with_exposure(X, y, exposure)
    search = SegmentSearch(X, y, named_by=model, **settings)
    predicted = _predictions(model, search)
    name, losses = predicted.losses(loss)
    expected = predicted.expected_losses(loss) if excess else None
    is_number = predicted.classes is None
    beside, beside_unit = {}, "number" if is_number else "share"
    if predicted.expected is not None:
        beside = {"observed": predicted.observed, "predicted": predicted.expected}
    if expected is None:
        groups = {name: search.find(Loss(losses, name, None, beside, beside_unit))}
        headings = {name: Heading(f"Where the {name} is high")}
    else:
        failing, uncertain = search.find_failures(losses, expected, name)
        groups = {name: failing, "uncertain": uncertain}
        headings = {
            name: Heading(f"Where the {name} is higher than the model expects"),
            "uncertain": Heading(
                "Where the model is uncertain, not wrong",
                f"the {name} is high, as expected",
            ),
        }
    sides = {"too low": "high", "too high": "low"} if beside else {}
    for title, direction in sides.items():
        bias = predicted.observed - predicted.expected
        unit = "number" if is_number else "points"
        biased = Loss(bias, "bias", unit, beside, beside_unit, True, direction)
        groups[title] = search.find(biased)
        headings[title] = Heading(
            f"Where predictions are {title}",
            f"bias: mean of observed minus predicted{predicted.unit}",
        )
    return SegmentGroups(groups, headings)


def compare_models(
    a: Any,
    b: Any,
    X: Rows,
    y: Column | None = None,
    loss: str | Callable[..., Any] | None = None,
    *,
    min_difference: float = 0.0,
    **settings: Any,
) -> SegmentGroups:
    """Find where two models differ or, with y, where one of them is better.

    Parameters
    ----------
    a, b : object
        Models of any kind; see `explain_errors`.
    X : array-like or data frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), optional
    loss : str or callable, optional
        As for `explain_errors`; by default "log_loss" of two models with probabilities.
    min_difference : float, default=0.0
        Leave out segments with smaller differences; 0.05 is 5 percentage points.
    **settings
        As for `explain_errors`.

    Returns
    -------
    SegmentGroups
        Ranked by the largest difference: without y "b higher" and "b lower"
        (probabilities of the second class or numbers), or "differ" for predictions of
        classes; with y "a better" and "b better".

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((3000, 2))
    >>> found = compare_models(lambda X: X[:, 0],
    ...                        lambda X: X[:, 0] + (X[:, 1] > 0.9), X)
    >>> [(name, len(segments)) for name, segments in found.items()]
    [('b higher', 1), ('b lower', 0)]
    """
    if not (is_finite(min_difference) and min_difference >= 0):
        raise ValueError(
            f"min_difference must be a number from 0; got {min_difference!r}."
        )
    search = SegmentSearch(X, y, named_by=a, **settings)
    one, two = (_predictions(model, search) for model in (a, b))
    # Fractions are probabilities if the other model has two classes, and two models
    # have their classes in the same order.
    if one.classes is None and two.classes is not None:
        one = _predictions(a, search, two.classes)
    elif one.classes != two.classes:
        two = _predictions(b, search, one.classes)
    if (one.classes is None) != (two.classes is None):
        raise ValueError(
            "One model predicts classes and the other numbers, so they cannot be "
            "compared. Pass two models of the same target."
        )
    unit, beside_unit, is_signed = "number", "number", True
    if search.y is not None:
        if loss is None and all(of.probabilities is not None for of in (one, two)):
            loss = "log_loss"
        (name, first), (_, second) = (of.losses(loss) for of in (one, two))
        beside, about = {"a": first, "b": second}, f"difference of the {name}"
        shown = {
            "b better": ("Where model b is better", about, "high", first - second),
            "a better": ("Where model a is better", about, "high", second - first),
        }
    elif one.expected is not None and two.expected is not None:
        beside = {"a": one.expected, "b": two.expected}
        apart = two.expected - one.expected
        if one.classes is not None:
            unit, beside_unit = "points", "share"
        than = f"values than a{one.unit}"
        shown = {
            "b higher": (f"Where model b predicts higher {than}", "", "high", apart),
            "b lower": (f"Where model b predicts lower {than}", "", "low", apart),
        }
    else:
        beside, unit, is_signed = {}, "share", False
        text = "Where the models predict different classes"
        shown = {"differ": (text, "", "high", one.labels != two.labels)}
    look = unit, beside, beside_unit, is_signed
    groups = {
        key: search.find(
            Loss(apart, "difference", *look, direction), True, min_difference
        )
        for key, (_, _, direction, apart) in shown.items()
    }
    sizes = {
        key: max((abs(segment.mean) for segment in found), default=0.0)
        for key, found in groups.items()
    }
    order = sorted(groups, key=lambda key: -sizes[key])
    headings = {key: Heading(*shown[key][:2]) for key in order}
    return SegmentGroups({key: groups[key] for key in order}, headings)


class Loss(NamedTuple):
    """What is averaged over rows, and how it is shown; see `Segments`.

    `beside` has further columns to average. Of signed losses zero has a meaning: a high
    mean is above the rest and above zero.
    """

    values: Any
    name: str
    unit: str | None = None
    beside: dict[str, Any] | None = None
    beside_unit: str = "number"
    is_signed: bool = False
    direction: str = "high"


class SegmentSearch:
    """Rows as numbers, of which some search for segments and the others count.

    The contents of rows decide which search. Settings are those of `find_segments`;
    columns of an array have the names and kinds of those of the model `named_by`.
    """

    def __init__(
        self,
        X,
        y,
        *,
        max_segments=5,
        max_conditions=3,
        min_rows=None,
        features=None,
        alpha=0.05,
        sample_weight=None,
        random_state=None,
        named_by=None,
    ):
        wholes = {"max_segments": max_segments, "max_conditions": max_conditions}
        wholes |= {} if min_rows is None else {"min_rows": min_rows}
        for name, value in wholes.items():
            if not _is_whole(value, 1):
                raise ValueError(
                    f"{name} must be an integer of at least 1; got {value!r}."
                )
        if not (isinstance(alpha, float | int) and 0 < alpha < 1):
            raise ValueError(f"alpha must be between 0 and 1; got {alpha!r}.")
        if not (random_state is None or _is_whole(random_state, 0)):
            raise ValueError(
                "random_state must be None or a whole number from 0; got "
                f"{random_state!r}."
            )
        self.max_segments, self.max_conditions = max_segments, max_conditions
        self.alpha = alpha
        source = open_source(X, y, sample_weight).load()
        self.table, self.y = source.X, _flat(source.y)
        shape = getattr(self.table, "shape", (1, 1))
        if len(shape) < 2 or not shape[1]:
            raise ValueError(
                f"X must be a table with rows and columns; got the shape {shape}."
            )
        form = TableForm(self.table)
        self.matrix = form.matrix(self.table)
        n_rows, n_columns = self.matrix.shape
        names, kinds = form.names, form.kinds
        if names is None:
            names = getattr(named_by, "feature_names", ())
            kinds = getattr(named_by, "feature_kinds", None)
        if len(names) != n_columns:
            names, kinds = tuple(f"x{j + 1}" for j in range(n_columns)), None
        check_finite(self.matrix, names)
        weight = check_weight(source.sample_weight, n_rows)
        n_weighted = int((weight > 0).sum())
        if n_weighted < FEWEST:
            what = "rows" if n_weighted == n_rows else "rows of positive weight"
            raise ValueError(
                f"Segments need at least {FEWEST} {what}, to search and to count; got "
                f"{n_weighted}."
            )
        self.weight = weight / weight[weight > 0].mean()
        self.min_rows = min_rows or max(LEAST_ROWS, LEAST_SHARE * n_weighted)
        # By name, so that the order of columns does not matter.
        order = self.features = name_order(names)
        if features is not None:
            features = [features] if isinstance(features, str) else list(features)
            if not features:
                raise ValueError("features must have at least one column; it is empty.")
            allowed = {feature_index(one, names) for one in features}
            self.features = [j for j in order if j in allowed]
        ordered = ordered_categories(self.table) or (None,) * n_columns
        kinds = [
            ORDERED if levels is not None else kind
            for kind, levels in zip(kinds or (None,) * n_columns, ordered, strict=True)
        ]
        for j in boolean_columns(self.table):
            kinds[j] = BOOLEAN
        self.names, self.kinds, self.categories = names, tuple(kinds), form.categories
        keys = hash_rows([self.matrix[:, j] for j in order], random_state or 0)
        rank = np.empty(n_rows, dtype=np.intp)
        keys = _distinct_keys(keys, self.y, weight)
        rank[np.argsort(keys, kind="stable")] = np.arange(n_rows)
        # Rows that search, and those that count for what these find.
        self.splits = [
            (~counts & (weight > 0), counts & (weight > 0)) for counts in _parts(rank)
        ]
        self.counts = np.any([there for _, there in self.splits], axis=0)

    def find(self, loss, by_size=False, min_size=0.0):
        """The Segments of a Loss, ranked by what they explain or by their mean.

        The mean is at least `min_size` from zero.
        """
        losses = check_losses(loss.values, len(self.matrix))
        scale = _Scale.of(losses, loss.is_signed)
        kind = scale.family, loss.direction == "high", loss.is_signed
        losses = scale.of_losses(losses)
        candidates = self._candidates(losses, kind)
        count = self._counter(losses, kind)
        held = count.held(candidates, self.alpha, by_size)
        least = min_size / (scale.high - scale.low)
        held = [one for one in held if abs(count.mean(one[1])) >= least]
        return self._segments(count, held, len(candidates), scale, loss)

    def find_failures(self, losses, expected, loss_name):
        """Segments whose losses are above the expected ones; others with high losses.

        Both kinds of candidates are tested for losses above the expected ones. Those of
        high losses that do not hold are tested for being higher than the rest, and kept
        if the expected loss is not below their interval.
        """
        scale = _Scale.of(losses, False)
        losses, expected = scale.of_losses(losses), scale.of_losses(expected)
        excess, signed = losses - expected, ("shift", True, True)
        kind = scale.family, True, False
        high = self._candidates(losses, kind)
        candidates = [*self._candidates(excess, signed), *high]
        above, count = self._counter(excess, signed), self._counter(losses, kind)
        expects = self._counter(expected, kind)
        held = above.held(candidates, self.alpha)
        beside, unit = scale.back(expected), "share" if scale.is_share else "number"
        loss = Loss(losses, loss_name, None, {"expected": beside}, unit)
        failing = self._segments(count, held, len(candidates), scale, loss, above)
        left = ~np.any([np.zeros_like(above.losses, bool), *(r for _, r, _ in held)], 0)
        others = [(conditions, rows & left) for conditions, rows in high]
        uncertain = [
            one
            for one in count.held(others, self.alpha)
            if above.p_value(one[1], left & ~one[1]) > self.alpha
            and count.interval(one[1])[0] <= expects.mean(one[1])
        ]
        return failing, self._segments(count, uncertain, len(high), scale, loss)

    def _counter(self, losses, kind):
        return _Counter(losses[self.counts], self.weight[self.counts], *kind)

    def _segments(self, count, held, n_tested, scale, loss, above=None):
        """The Segments that hold; what they explain is counted by `above`, if given."""
        unit = loss.unit or ("share" if scale.is_share else "number")
        beside = {
            name: np.asarray(of)[self.counts]
            for name, of in (loss.beside or {}).items()
        }
        every = np.ones(len(count.losses), dtype=bool)
        others = ~np.any([~every, *(inside for _, inside, _ in held)], axis=0)
        rest = scale.back(count.mean(others))
        is_share = unit == "points" and "observed" in beside

        def interval(rows):
            low, high = map(scale.back, count.interval(rows))
            shares = set(beside["observed"][rows].tolist()) if is_share else ()
            if len(shares) == 1:  # where all y agree, others may come
                share = float(*shares)
                ends = wilson_interval(share, count.n_effective(rows))
                expected = share - scale.back(count.mean(rows))
                low, high = min(low, ends[0] - expected), max(high, ends[1] - expected)
            return low, high

        def figures(rows):
            weights = count.weight[rows]
            means = {
                name: float(np.average(of[rows], weights=weights))
                for name, of in beside.items()
            }
            mean = scale.back(count.mean(rows))
            return {"mean": mean, "interval": interval(rows), "beside": means}

        rules = self._rules([conditions for conditions, *_ in held])
        found, left = [], every.copy()
        for rule, (_, inside, p_value) in zip(rules.rules, held, strict=True):
            explained = (above or count).explained(inside, left)
            left &= ~inside
            share = float(count.weight[inside].sum() / count.weight.sum())
            about = {"rest": rest, "p_value": p_value, **figures(inside)}
            about["explained"] = scale.back(explained) - scale.back(0.0)
            found.append(Segment(rule, int(inside.sum()), share, **about))
        n_searched = sum(int((here & ~self.counts).sum()) for here, _ in self.splits)
        return Segments(
            rules=rules,
            found=tuple(found),
            loss_name=loss.name,
            unit=unit,
            beside_unit=loss.beside_unit,
            rest=rest,
            rest_interval=interval(others),
            n_rows=len(count.losses),
            n_searched=n_searched,
            n_tested=n_tested,
            direction=loss.direction,
            is_excess=above is not None,
            **figures(every),
        )

    def _candidates(self, losses, kind):
        """Conditions found in rows that search, and which rows count for them.

        Of a small table the conditions are found in all rows; each row counts by those
        that are most like them among those that are found without its fold.
        """
        if len(self.splits) == 1:
            found = self._boxes(self.splits[0][0], losses, kind)
            matrix = self.matrix[self.counts]
            return [(conditions, _covers(conditions, matrix)) for conditions in found]
        found = self._boxes(self.counts, losses, kind)
        covers = [_covers(conditions, self.matrix) for conditions in found]
        inside = np.zeros((len(found), len(self.matrix)), dtype=bool)
        for here, there in self.splits if found else ():
            boxes = self._boxes(here, losses, kind)
            others = [_covers(conditions, self.matrix) for conditions in boxes]
            for k, rows in enumerate(covers):
                alike = [(rows & one).sum() / (rows | one).sum() for one in others]
                if max(alike, default=0.0) >= LEAST_ALIKE:
                    inside[k] |= others.pop(int(np.argmax(alike))) & there
        return [*zip(found, inside[:, self.counts], strict=True)]

    def _boxes(self, here, losses, kind):
        """Conditions of the boxes that are found in some rows."""
        columns = [
            make_column(
                j,
                self.matrix[here, j],
                self.categories[j] if self.categories else None,
                self.kinds[j],
            )
            for j in self.features
        ]
        min_weight = self.min_rows * int(here.sum()) / int((self.weight > 0).sum())
        searched = make_losses(losses[here], self.weight[here], *kind, min_weight)
        price = CROSSED_PRICE if len(self.splits) > 1 else 1.0
        search = BoxSearch(columns, searched, self.max_conditions, price)
        found = []
        while len(found) < self.max_segments:
            box = search.best()
            if box is None:
                break
            conditions = (search.columns[j].condition(box[j]) for j in sorted(box))
            found.append(tuple(conditions))
            search.without(search.covers(box))
        return found

    def _rules(self, segments):
        """A rule model that predicts the number of each segment, and 0 for none."""
        numbers = tuple(range(max(2, len(segments) + 1)))
        *rules, default = (
            Rule(conditions, k, tuple(float(k == one) for one in numbers))
            for k, conditions in [*enumerate(segments, start=1), (0, ())]
        )
        return RuleList(
            tuple(rules),
            default,
            self.names,
            "classification",
            numbers,
            categories=self.categories,
            feature_kinds=self.kinds,
        )


def _parts(rank):
    """Rows that count together, by their rank: one part, or all of a small table."""
    n_rows = len(rank)
    if n_rows <= MOST_CROSSED:
        return [rank * N_FOLDS // n_rows == k for k in range(N_FOLDS)]
    return [rank >= min(MOST_SEARCHED, round(SEARCHED * n_rows))]


def _is_whole(value, least):
    is_number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_number and value >= least


def _distinct_keys(keys, y, weight):
    """Other hashes for rows with equal contents, so that both halves get some."""
    if len(np.unique(keys)) == len(keys):
        return keys
    values = np.zeros(len(keys)) if y is None else np.asarray(y)
    if n_columns(values) > 1:
        values = np.array(list(map(str, values.tolist())))
    values = values.astype(str)
    order = np.lexsort((weight, values, keys))
    keys = keys[order]
    is_first = np.append(True, keys[1:] != keys[:-1])
    places = np.arange(len(keys))
    places -= np.maximum.accumulate(np.where(is_first, places, 0))
    distinct = np.empty_like(keys)
    distinct[order] = np.where(places, hash_rows([keys, places]), keys)
    return distinct


def check_losses(losses, n_rows):
    """Losses as float64; errors name what is wrong."""
    if losses is None:
        raise ValueError("losses must have a number for each row; got None.")
    losses = np.asarray(losses)
    if losses.shape != (n_rows,):
        raise ValueError(
            f"losses must have one number for each of the {n_rows} rows; got the shape "
            f"{losses.shape}."
        )
    try:
        if losses.dtype.kind == "O":
            losses = np.array([np.nan if is_missing(one) else one for one in losses])
        if losses.dtype.kind not in "biufO":
            raise TypeError(f"got {losses.dtype}")
        losses = losses.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"losses must be numbers: {error}.") from None
    n_bad = int((~np.isfinite(losses)).sum())
    if n_bad:
        raise ValueError(
            f"losses must be finite; {render.plural(n_bad, 'row')} of {n_rows} "
            f"{'has' if n_bad == 1 else 'have'} NaN or infinity. Leave them out."
        )
    return losses


class _Scale(NamedTuple):
    """Losses in a unit of their own, in which squares stay finite.

    Rates are between 0 and 1; the unit of others is a power of two, so that nothing is
    rounded.
    """

    family: str
    low: float
    high: float
    is_share: bool

    @classmethod
    def of(cls, losses, is_signed):
        """The scale of some losses."""
        family = family_of(losses, is_signed)
        is_share = bool(np.isin(losses, (0.0, 1.0)).all())
        if family == "rate":
            return cls(family, float(losses.min()), float(losses.max()), is_share)
        exponent = int(np.frexp(np.abs(losses).max())[1])
        return cls(family, 0.0, 2.0 ** (exponent - 1), is_share)

    def of_losses(self, losses):
        """Losses in this unit."""
        # Halves, as the difference may be too large.
        return (losses / 2 - self.low / 2) / (self.high / 2 - self.low / 2)

    def back(self, value):
        """A mean in the units of the user."""
        return self.low * (1 - value) + self.high * value


def _covers(conditions, matrix):
    """Which rows of a matrix match."""
    columns = (one.covers(matrix[:, one.feature]) for one in conditions)
    return np.logical_and.reduce(list(columns))


@dataclass(frozen=True, eq=False)
class _Counter:
    """The rows that count, and their figures of a segment; rates are 0 or 1."""

    losses: np.ndarray
    weight: np.ndarray
    family: str
    is_high: bool
    is_signed: bool

    def mean(self, inside):
        """Mean loss of some rows, by weight; NaN if there are none."""
        weight = self.weight[inside]
        if not weight.sum() > 0:
            return math.nan
        return float(np.average(self.losses[inside], weights=weight))

    def n_effective(self, inside):
        """Number of rows of equal weight with the same precision."""
        return effective_rows(self.weight[inside])

    def interval(self, inside):
        """95% interval of the mean loss of some rows."""
        mean, n = self.mean(inside), self.n_effective(inside)
        if math.isnan(mean):
            return math.nan, math.nan
        if self.family == "rate":
            return wilson_interval(mean, n)
        if self.family == "scale" and mean == 0:
            # Losses above 0 are as large as elsewhere, and rarer than seen here.
            largest = self.losses[self.losses > 0]
            top = largest.mean() if len(largest) else 0.0
            return 0.0, float(wilson_interval(0.0, n)[1] * top)
        if self.family == "scale":
            # A gamma mean whose variance is in proportion to its square.
            relative = max(
                self._variance(rows) / max(self.mean(rows), 1e-300) ** 2
                for rows in (inside, slice(None))
            )
            shape = n / max(relative, 1e-12)
            low, high = special.gammaincinv(shape, [0.975, 0.025]) / shape
            return mean / low, mean / high
        level = special.ndtr(QUANTILE)
        half = special.stdtrit(max(n - 1, 1), level) * self._error(inside)
        return mean - half, mean + half

    def _variance(self, rows):
        weight, losses = self.weight[rows], self.losses[rows]
        mean = np.average(losses, weights=weight)
        return float(np.average((losses - mean) ** 2, weights=weight))

    def _error(self, inside):
        """Standard error of the mean."""
        variance = self._variance(inside)
        if self.family == "scale" and not self.is_high:
            # Few rows with low losses have a low variance too, by chance.
            variance = max(variance, self._variance(slice(None)))
        return math.sqrt(variance / max(self.n_effective(inside) - 1, 1))

    def held(self, candidates, alpha, by_size=False):
        """The candidates that hold, with their rows and p-values, by what they explain.

        Candidates are conditions and the rows that match; of a segment the rows of
        earlier ones are left out. P-values are adjusted by Holm's method. As the order
        is another one after ranking, they are tested once more.
        """
        order, n_tests = range(len(candidates)), len(candidates)
        for is_ranked in (False, True):
            left = np.ones(len(self.losses), dtype=bool)
            rows, tested, explained = {}, [], {}
            for k in order:
                rows[k] = candidates[k][1] & left
                tested.append(self.p_value(rows[k], ~rows[k] & left))
                explained[k] = abs(self.explained(rows[k], left))
                left &= ~rows[k]
            # Those that were left out before count as tests.
            adjusted = holm([*tested, *[1.0] * (n_tests - len(tested))])
            p_values = {
                k: p for k, p in zip(order, adjusted, strict=False) if p <= alpha
            }
            most = max((explained[k] for k in p_values), default=0.0)
            order = [k for k in p_values if explained[k] >= LEAST_EXPLAINED * most]
            if not is_ranked:
                size = {k: abs(self.mean(rows[k])) for k in order}
                order.sort(key=lambda k: -(size if by_size else explained)[k])
        return [(candidates[k][0], rows[k], p_values[k]) for k in order]

    def explained(self, inside, left):
        """Loss of some rows above the mean of the others that are left, per row."""
        excess = self.losses - self.mean(left & ~inside)
        explained = self.weight[inside] @ excess[inside]
        return float(explained) / float(self.weight.sum())

    def p_value(self, inside, outside):
        """One-sided: Fisher's exact test of two values, Welch's of others."""
        if inside.sum() < 2 or outside.sum() < 2:
            return 1.0
        if self.family == "rate" and np.ptp(self.weight) == 0:
            counts = (
                (int((self.losses[rows] == 1).sum()), int(rows.sum()))
                for rows in (inside, outside)
            )
            return same_share_p(*counts, self.is_high)
        side = 1 if self.is_high else -1
        variances = [self._error(rows) ** 2 for rows in (inside, outside)]
        sizes = [self.n_effective(rows) for rows in (inside, outside)]
        apart = self.mean(inside) - self.mean(outside)
        p_value = welch_p(side * apart, variances, sizes) if any(variances) else 1.0
        if self.is_signed:
            statistic = side * self.mean(inside) / max(self._error(inside), 1e-300)
            p = special.stdtr(max(sizes[0] - 1, 1), -statistic)
            p_value = max(p_value, float(p))
        return p_value


def _predictions(model, search, classes=None):
    """The predictions of a model for the rows of a search."""
    if search.y is not None and n_columns(search.y) == 2:
        return _Rates(model, search)
    y = None if search.y is None else _checked_y(search.y)
    return _Outcomes(predict_rows(model, search.table, y, classes), y)


class _Outcomes:
    """Predictions of a model beside y, and their losses."""

    def __init__(self, predicted, y):
        self.labels, self.probabilities, self.classes, _ = predicted
        self.y = y
        if self.classes is None and y is not None:
            if y.dtype.kind not in "biuf":
                raise ValueError(
                    "The model predicts numbers, but y has labels. Pass the model "
                    "itself, or probabilities of the second of two classes."
                )
            self.y = y.astype(np.float64)

    @property
    def names(self):
        """The losses that there are, the default first."""
        is_number = self.classes is None
        return ("absolute", "squared") if is_number else ("error", "log_loss", "brier")

    @property
    def expected(self):
        """The mean that is predicted: probability of the second of two, or number."""
        if self.classes is None:
            return self.labels
        if self.probabilities is None or len(self.classes) != 2:
            return None
        return self.probabilities[:, 1]

    @property
    def observed(self):
        """What `expected` predicts, from y."""
        return self.y if self.classes is None else self.y == self.classes[1]

    @property
    def unit(self):
        """What a probability is of, in brackets."""
        return "" if self.classes is None else f", probability of {self.classes[1]}"

    def losses(self, loss):
        """Name and values of a loss."""
        if callable(loss):
            given = self.labels if self.expected is None else self.expected
            name = getattr(loss, "__name__", "<lambda>").replace("<lambda>", "loss")
            return name, check_losses(loss(self.y, given), len(self.y))
        name = self.names[0] if loss is None else loss
        if name not in self.names:
            raise ValueError(
                f"loss must be one of {', '.join(self.names)}, or a function that "
                f"returns a number per row; got {loss!r}."
            )
        return LOSSES[name], self._losses(name)

    def expected_losses(self, loss):
        """The mean loss of each row by the model's own probabilities, if it has any."""
        if self.probabilities is None:
            return None
        predicted = self.labels, self.probabilities, self.classes, None
        expected = 0.0
        for label, likely in zip(self.classes, self.probabilities.T, strict=True):
            y = np.full(len(self.y), label, dtype=self.y.dtype)
            expected = expected + likely * _Outcomes(predicted, y).losses(loss)[1]
        return expected

    def _losses(self, name):
        if name == "error":
            return (self.labels != self.y).astype(float)
        if self.classes is None:
            return np.abs(self.labels - self.y) ** (2 if name == "squared" else 1)
        if self.probabilities is None:
            raise ValueError(
                f"{name} needs a model with probabilities (predict_proba); this one "
                'has none. Use loss="error".'
            )
        is_true = np.equal.outer(self.y, np.array(self.classes, dtype=object))
        if name == "brier":
            return np.sum((self.probabilities - is_true) ** 2, axis=1) / 2
        right = np.sum(self.probabilities * is_true, axis=1)
        return -np.log(np.maximum(right, LEAST_PROBABILITY))


class _Rates(_Outcomes):
    """Predicted rates beside events and exposure, or hazards beside survival."""

    names, unit = ("deviance", "martingale"), ", in events"
    classes = probabilities = expected = observed = None

    def __init__(self, model, search):
        rules = getattr(model, "rules_", model)
        outcome = getattr(rules, "outcome", None)
        if outcome is None or len(outcome.columns) != 2:
            outcome = outcome_for(make_outcome("regression"), search.y, model)
        self.outcome, self.y = outcome, outcome.read(search.y, len(search.matrix))
        predicted = predict_rows(model, search.table)
        if predicted.classes is not None:
            raise ValueError(
                "The model predicts classes, but y has the columns "
                f"{', '.join(outcome.columns)}."
            )
        scores = self.labels = predicted.labels
        for here, there in () if isinstance(rules, RuleModel) else search.splits:
            # What is tested has the scale of the rows that search.
            scale = outcome.scale_of(scores[here], self.y[here], search.weight[here])
            self.labels = np.where(there, scale(scores), self.labels)
        self.observed = self.y[:, 0]
        self.expected = self.labels * self.y[:, 1]

    def _losses(self, name):
        if name == "deviance":
            return self.outcome.losses(self.y, self.labels)
        return np.abs(self.observed - self.expected)


def _flat(y):
    """A column of one dimension, if y is one of two."""
    return np.asarray(y)[:, 0] if np.shape(y)[1:] == (1,) else y


def _checked_y(y):
    """y as a plain array without missing values."""
    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"y must have one column; got the shape {y.shape}.")
    is_gone = np.isnan(y) if y.dtype.kind == "f" else [is_missing(one) for one in y]
    n_gone = int(np.sum(is_gone))
    if n_gone:
        raise ValueError(
            f"y must have no missing values; {render.plural(n_gone, 'row')} of "
            f"{len(y)} {'has' if n_gone == 1 else 'have'} one. Leave them out."
        )
    return y
