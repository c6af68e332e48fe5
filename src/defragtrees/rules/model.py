"""RuleModel: the base class of all rule models; every method returns one.

A rule model predicts with the conditions that it prints and with nothing else. How the
predictions of rules combine is defined by its form (`rules/forms.py`), what it prints
by its view (`rules/text.py`).
"""

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.files import to_json, write_atomic
from defragtrees._utils.optional import require
from defragtrees._utils.types import Column, Flags, Floats, Places, Rows, Values
from defragtrees._utils.values import ByValue, is_finite, shown
from defragtrees.errors import ModelFileError
from defragtrees.outcomes import OUTCOMES, make_outcome
from defragtrees.outcomes.base import Outcome
from defragtrees.outcomes.intervals import (
    MOST_IN_BAND,
    MOST_POOLED,
    RateBands,
    Residuals,
    mean_interval,
)
from defragtrees.rules import edits as editing
from defragtrees.rules import schema
from defragtrees.rules.conditions import Rule, RuleSequence
from defragtrees.rules.edits import Edit
from defragtrees.rules.forms import FORMS, Form
from defragtrees.rules.labels import (
    BOOLEAN,
    KINDS,
    ORDERED,
    Vocabulary,
    checked_kinds,
    checked_labels,
    checked_pos_label,
    make_vocabulary,
)
from defragtrees.rules.profile import MEAN_WORTH, Evidence, TrainingRows
from defragtrees.rules.text import VIEWS, View
from defragtrees.rules.unseen import (
    check_seen,
    count_unseen,
    unseen_texts,
    warn_of_unseen,
)
from defragtrees.tables import check_finite, read_matrix

__all__ = ["RuleModel"]


@dataclass(frozen=True, eq=False, repr=False)
class RuleModel(RuleSequence, ByValue):
    """Base class of all rule models: rules that predict every row.

    `RuleList`, `RuleSet`, `Scorecard` and `RuleEnsemble` define how the predictions
    of rules combine. All have the fields and methods of this class.

    Parameters
    ----------
    rules : tuple of Rule
        All but the default rule, in order.
    default : Rule
        The rule without conditions. It counts as a rule.
    feature_names : tuple of str
    task : {"classification", "regression"}
    classes : tuple, optional
    categories : tuple of (tuple or None), optional
        For each feature its categories, or None where it is numeric.
    residuals : Residuals, optional
        Of numbers, for `predict_interval`: how far y was from the predictions.
    rate_bands : RateBands, optional
        Of classes where several rules predict together, for `rate_interval`: rates in
        rows with about the same probability.
    threshold : float, optional
        Of two classes, the second is predicted from this probability on.
    costs : tuple of tuple of float, optional
        The cost of predicting the class of the column where that of the row is true;
        the class with the lowest expected cost is predicted. Without threshold and
        costs it is the most probable one.
    feature_labels, class_labels : tuple of (str or None), optional
        Names of features and classes in texts; the label of a feature may end with a
        unit, as in "Duration [months]". `relabel` takes dicts too.
    feature_kinds : tuple of (str or None), optional
        Of features with numbers of days: "date", "datetime", "datetime UTC", "time" or
        "duration"; of features whose categories have an order, "ordered"; of features
        with 0 for false and 1 for true, "boolean".
    pos_label : object, optional
        Of two classes, the one whose rate rules report and whose precision and recall
        are measured; by default the second.
    edits : tuple of Edit
        What people changed after the fit, in order.
    training : TrainingRows, optional
        A profile of the rows that the rules were fitted to; see `check`.
    evidence : Evidence, optional
        Which rows the rates, means and intervals come from.

    Examples
    --------
    The examples of the methods use these rules:

    >>> from defragtrees import Condition, Rule, RuleList
    >>> conditions = Condition(0, lower=30.0), Condition(1, upper=9.0)
    >>> hot = Rule(conditions, "no", (0.7, 0.3))
    >>> warm = Rule((Condition(0, lower=20.0),), "yes", (0.2, 0.8))
    >>> rules = RuleList((hot, warm), Rule((), "no", (0.9, 0.1)), ("degrees", "wind"),
    ...                  "classification", ("no", "yes"))
    >>> print(rules)
    #  if             then  P(yes)
    1  degrees > 30   no      30 %
       and wind <= 9
    2  degrees > 20   yes     80 %
    3  otherwise      no      10 %
    <BLANKLINE>
    Rules apply in order; the first match predicts.
    >>> warm = Rule((Condition(0, lower=20.0),), 9.0)
    >>> numeric = RuleList((warm,), Rule((), 1.0), ("degrees",), "regression")
    """

    rules: tuple[Rule, ...]
    default: Rule
    feature_names: tuple[str, ...]
    task: str
    classes: tuple[Any, ...] | None = None
    categories: tuple[tuple[Any, ...] | None, ...] | None = None
    residuals: Residuals | None = None
    rate_bands: RateBands | None = None
    threshold: float | None = None
    costs: tuple[tuple[float, ...], ...] | None = None
    feature_labels: tuple[str | None, ...] | None = None
    class_labels: tuple[str | None, ...] | None = None
    feature_kinds: tuple[str | None, ...] | None = None
    pos_label: Any = None
    edits: tuple[Edit, ...] = ()
    training: TrainingRows | None = None
    evidence: Evidence | None = None

    form: ClassVar[str]  # its name, in settings and in rule files

    def __post_init__(self) -> None:
        names, classes = tuple(self.feature_names), self.classes or ()
        categories = tuple(self.categories or (None,) * len(names))
        if not all(isinstance(name, str) for name in names):
            raise ValueError("Feature names must be texts.")
        for name, value in {
            "feature_names": names,
            "categories": categories,
            "edits": tuple(self.edits),
            "costs": self.costs and tuple(map(tuple, self.costs)),
            "feature_labels": checked_labels(
                self.feature_labels, names, "feature_labels"
            ),
            "class_labels": checked_labels(self.class_labels, classes, "class_labels"),
            "feature_kinds": checked_kinds(self.feature_kinds, names),
            "pos_label": checked_pos_label(self.pos_label, classes),
        }.items():
            object.__setattr__(self, name, value)
        if len(categories) != len(names):
            raise ValueError("categories must have one entry for each feature.")
        shown = FORMS[self.form].shown([rule.conditions for rule in self])
        pairs = zip(self, shown, strict=True)
        named = [rule.named(self._vocabulary, own) for rule, own in pairs]
        object.__setattr__(self, "rules", tuple(named[:-1]))
        object.__setattr__(self, "default", named[-1])
        self._check()

    def _check(self) -> None:
        """Raise ValueError if fields contradict each other."""
        outcome, form = self.outcome, self._form
        n_points = outcome.n_points if form.is_sum else 0
        if outcome.labels == ():
            raise ValueError(f"Rules for a {self.task} need their classes.")
        if self.classes is not None and not outcome.n_classes:
            raise ValueError(f"Rules for a {self.task} have no classes.")
        if len(set(self.classes or ())) < len(self.classes or ()):
            raise ValueError(f"classes must differ; got {shown(self.classes)}.")
        if self.default.conditions:
            raise ValueError("The default rule must have no conditions.")
        for k, rule in enumerate(self):
            try:
                self._check_conditions(rule)
                outcome.check_rule(rule, not form.is_exclusive)
                if not (is_finite(rule.weight) and rule.weight >= 0):
                    raise ValueError(f"A weight must be from 0; got {rule.weight!r}.")
                points = rule.points or ()
                if len(points) != n_points or not all(map(is_finite, points)):
                    raise ValueError(
                        "Each rule must have points where they add up, and none "
                        f"elsewhere, each a finite number; got points={rule.points!r} "
                        f"with form={self.form!r}."
                    )
            except ValueError as error:
                place = f"rules[{k}]" if k < len(self.rules) else "default"
                raise ValueError(f"{place}: {error}") from None
        if self.training is not None:
            has_classes = outcome.n_classes > 0
            self.training.check(self.categories or (), outcome.n_moments, has_classes)
        form.check()

    def _check_conditions(self, rule: Rule) -> None:
        features = [condition.feature for condition in rule.conditions]
        if len(set(features)) < len(features):
            raise ValueError("A rule must have one condition for each feature.")
        for condition in rule.conditions:
            feature, places = condition.feature, condition.categories
            if not 0 <= feature < len(self.feature_names):
                raise ValueError(f"A rule has a condition on feature {feature}.")
            labels = (self.categories or ())[feature]
            if places is None:
                continue
            if labels is None or not all(0 <= c <= len(labels) for c in places):
                raise ValueError(
                    f"A condition on {self.feature_names[feature]!r} has categories "
                    f"that the feature does not have: {places!r}."
                )

    # Size and words

    @cached_property
    def outcome(self) -> Outcome:
        """What is predicted: its measures, texts and checks."""
        return make_outcome(self.task, self.classes, self.class_labels, self.pos_label)

    @cached_property
    def _form(self) -> Form:
        """The rules and how they predict together."""
        form = FORMS[self.form]
        names = [field.name for field in dataclasses.fields(form)]
        return form(**{name: getattr(self, name) for name in names})

    def _with_form(self, form: Form, **changes: Any) -> Self:
        """The rules of a form that was counted, as a validated rule model."""
        given = {f.name: getattr(form, f.name) for f in dataclasses.fields(form)}
        del given["outcome"]
        return dataclasses.replace(self, **given | changes)

    @property
    def _view(self) -> View:
        """What the rules print."""
        return VIEWS[self.form](self)

    @property
    def _mean_conditions(self) -> float:
        """Mean number of conditions of the rules that have any; 0 if none has."""
        counts = [rule.n_conditions for rule in self.rules]
        return float(np.mean(counts)) if counts else 0.0

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features in the conditions, in the order of X."""
        used = {c.feature for rule in self.rules for c in rule.conditions}
        return tuple(self.feature_names[j] for j in sorted(used))

    @property
    def _class_rates(self) -> Floats | None:
        """Shares of the classes in all counted rows; None if unknown."""
        rates = self._form.training_rates
        if self.classes and self.training is not None and self.training.target:
            rates = self.training.target
        return None if rates is None else np.array(rates) / sum(rates)

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        """Names, categories and scales of the features, as conditions print them."""
        return make_vocabulary(
            self.feature_names,
            self.categories,
            self.feature_labels,
            self.feature_kinds,
        )

    @cached_property
    def _mean_intervals(self) -> tuple[tuple[float, float] | None, ...]:
        """For each rule a 95 % interval of the mean of y in new rows; None if unknown.

        Of rules that predict the mean of the y that they were counted on.
        """
        if self.evidence is None or not self.outcome.keeps_residuals:
            return (None,) * self.n_rules
        gain = max(1.0, MEAN_WORTH / self.evidence.worth)
        return tuple(
            None
            if rule.spread is None or rule.quantiles is None or rule.points is not None
            else mean_interval(
                rule.prediction,
                rule.spread,
                rule.n_effective * gain,
                is_positive=rule.quantiles[0] >= 0,
            )
            for rule in self
        )

    def relabel(
        self,
        feature_labels: Mapping[str, str] | Sequence[str] | None = None,
        class_labels: Mapping[Any, str] | Sequence[str] | None = None,
        pos_label: Any = None,
    ) -> Self:
        """Return a copy with other labels; labels that are not given do not change.

        Parameters
        ----------
        feature_labels : dict from name to str, or sequence of str, optional
            A label may end with a unit in brackets.
        class_labels : dict from class to str, or sequence of str, optional
        pos_label : object, optional
            Of two classes, the one whose rate is reported.

        Examples
        --------
        >>> print(rules.drop(1).relabel({"degrees": "Warmth [°C]"}, {"yes": "go"}))
        #  if              then  P(go)
        1  Warmth > 20 °C  go     80 %
        2  otherwise       no     10 %
        <BLANKLINE>
        Edited after the fit:
        - dropped rule 1: if degrees > 30 and wind <= 9 then no
        """
        given = {
            "feature_labels": feature_labels,
            "class_labels": class_labels,
            "pos_label": pos_label,
        }
        given = {name: words for name, words in given.items() if words is not None}
        return dataclasses.replace(self, **given)

    # Predictions

    def _encode(self, X: Rows) -> Floats:
        """X as numbers; checks the names and the number of its columns.

        A frame needs only the columns that occur in conditions.
        """
        kinds = [scale.kind for scale in self._vocabulary.scales]
        needed = {c.feature for rule in self for c in rule.conditions}
        matrix = read_matrix(
            X, self.feature_names, self.categories, "the rules", kinds, needed
        )
        check_finite(matrix, self.feature_names)
        return matrix

    def covers(self, X: Rows) -> Flags:
        """Which rules match which rows; the default, the last one, matches all.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        bool array of shape (n_samples, n_rules)

        Examples
        --------
        >>> rules.covers([[21.0, 3.0], [19.0, 3.0]]).tolist()
        [[False, True, True], [False, False, True]]
        """
        return self._covers(self._encode(X))

    def apply(self, X: Rows) -> Places:
        """Index of the rule that predicts each row; the last is the default.

        Where rules combine, it is the one that matches with the most weight, rows or
        points.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        int array of shape (n_samples,)

        Examples
        --------
        >>> rules.apply([[21.0, 3.0], [19.0, 3.0]]).tolist()
        [1, 2]
        """
        return self._form.apply(self.covers(X))

    def predict(
        self, X: Rows, *, on_missing: str = "accept", on_unknown: str = "accept"
    ) -> Values:
        """The prediction for each row: class labels, or numbers.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        on_missing, on_unknown : {"accept", "error"}, default="accept"
            Whether to reject rows with a missing value, or with a category, that the
            training rows did not have in a column that the rules use. Where all of
            several such columns are missing, a row is rejected in any case. Without a
            profile of the training rows every missing value is new.

        Returns
        -------
        array of shape (n_samples,)

        Examples
        --------
        >>> rules.predict([[21.0, 3.0], [19.0, 3.0]]).tolist()
        ['yes', 'no']
        """
        matrix = self._encode(X)
        check_seen(self, matrix, on_missing, on_unknown)
        return self._form.predict(self._covers(matrix))

    def predict_proba(self, X: Rows) -> Floats:
        """Class probabilities of the rule that predicts, or of all that match together.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)

        Examples
        --------
        >>> rules.predict_proba([[21.0, 3.0], [19.0, 3.0]]).tolist()
        [[0.2, 0.8], [0.9, 0.1]]
        """
        return self._form.predict_proba(self.covers(X))

    def predict_frame(
        self,
        X: Rows,
        *,
        probabilities: bool | None = None,
        reasons: int = 0,
        best: str = "high",
        exclude: Sequence[Any] = (),
        unseen: bool = False,
        exposure: Any = None,
        interval: float | None = None,
    ) -> Any:
        """Predictions with rule or score, probabilities and reasons, as a data frame.

        The command line and SQL write the same columns: `prediction`; `rule`, the
        number of the rule that predicts, or `score`, the total of a scorecard;
        `probability ...` of a class; and `reason 1`, `reason 2`, ... of a scorecard.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        probabilities : bool, optional
            Whether to add the probability of each class. By default only a scorecard
            for two classes has one, that of `pos_label` or of the second.
        reasons : int, default=0
            Number of reason codes; see `reasons`.
        best : {"high", "low"}, default="high"
        exclude : sequence of str or int, default=()
            Columns that are no reason.
        unseen : bool, default=False
            Whether to add the column `unseen`: what a row has that the training rows
            did not, such as "age is missing, city is new", else "". Without it there is
            a warning if a row has anything; see `predict`.
        exposure : float or array-like of shape (n_samples,), optional
            For rates: adds the column `expected`, the number of events to expect.
        interval : float, optional
            Add the columns `low` and `high`: of numbers `predict_interval` with this
            coverage, such as 0.9; of classes `rate_interval`, which has 0.95.

        Returns
        -------
        pandas.DataFrame
            With the index of X, if it has one.

        Examples
        --------
        >>> rules.predict_frame([[21.0, 3.0], [19.0, 3.0]], probabilities=True)
          prediction  rule  probability no  probability yes
        0        yes     2             0.2              0.8
        1         no     3             0.9              0.1
        """
        pandas = require("pandas", "A data frame")
        matrix = self._encode(X)
        asked = probabilities, reasons, best, interval, exclude
        columns = self._output_columns(matrix, *asked)
        if exposure is not None:
            rates = columns["prediction"]
            columns["expected"] = self.outcome.expected_counts(rates, exposure)
        if unseen:
            columns["unseen"] = unseen_texts(self, matrix)
        else:
            n_unseen = count_unseen(self, matrix)
            warn_of_unseen(n_unseen, len(matrix), "predict_frame(..., unseen=True)")
        # A list has an index too, but it is no label of its rows.
        index = getattr(X, "index", None) if hasattr(X, "iloc") else None
        return pandas.DataFrame(columns, index=index)

    def _output_columns(
        self,
        matrix: Floats,
        probabilities: bool | None = None,
        reasons: int = 0,
        best: str = "high",
        interval: float | None = None,
        exclude: Sequence[Any] = (),
    ) -> dict[str, Any]:
        """The columns of `predict_frame`, by name, for an encoded matrix."""
        matches = self._covers(matrix)
        if best not in ("high", "low"):
            raise ValueError(f"best must be 'high' or 'low'; got {best!r}.")
        form = self._form
        columns = {"prediction": form.predict(matches), **form.scores(matches)}
        labels = form.reported_classes(probabilities)
        if labels or probabilities:
            likely = form.predict_proba(matches)
            for label in labels:
                place = self.outcome.labels.index(label)
                columns[f"probability {label}"] = likely[:, place]
        if interval is not None:
            ends = form.intervals(matches, interval)
            columns |= {"low": ends[:, 0], "high": ends[:, 1]}
        if reasons:
            card = self._scorecard("reasons=")
            texts = card._reasons(matrix, reasons, best, exclude)
            columns |= {f"reason {k + 1}": texts[:, k] for k in range(reasons)}
        return columns

    def _as_edited(self) -> Any:
        """The rules after an edit, which may have another form."""
        return self

    def _scorecard(self, what: str) -> Any:
        """These rules, if they are a scorecard, for what only that can do."""
        raise ValueError(
            f"{what} needs a scorecard; got a {type(self).__name__}. Fit with "
            "form='points'."
        )

    def _covers(self, matrix: Floats) -> Flags:
        """Which rules match which rows of a matrix that `_encode` made."""
        matches = np.ones((len(matrix), self.n_rules), dtype=bool)
        for k, rule in enumerate(self.rules):
            matches[:, k] = rule.covers(matrix)
        return matches

    # Text

    def __len__(self) -> int:
        return self.n_rules

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {self.n_rules} rules, {len(self.features)} "
            f"features, {self._mean_conditions:.1f} conditions per rule>"
        )

    def __str__(self) -> str:
        return self._view.text()

    def table(self, details: bool = False, width: int | None = None) -> str:
        """The rules as a text table, with one condition per line.

        In an ordered list a condition shows the values that can still reach the rule:
        after `grade <= 4`, the condition `grade <= 5` reads `4 < grade <= 5`.

        Parameters
        ----------
        details : bool, default=False
            Add the observed counts, the share of rows that each rule predicts and that
            it matches, the agreement with the model, and the rate in all rows that the
            rule matches.
        width : int, optional
            Maximum number of columns. By default that of the terminal, or 76.

        Returns
        -------
        str

        Examples
        --------
        >>> print(rules.table())
        #  if             then  P(yes)
        1  degrees > 30   no      30 %
           and wind <= 9
        2  degrees > 20   yes     80 %
        3  otherwise      no      10 %
        """
        width = render.page_width() if width is None else width
        return self._view.table(details, width)

    def _repr_html_(self) -> str:
        return self._view.html()

    def explain(self, X: Rows | Mapping[str, Any]) -> str | list[str]:
        """Explain predictions: the rules that match, and the values of the row.

        Parameters
        ----------
        X : one row, or array-like or data frame of shape (n_samples, n_features)
            A row may be a mapping or a pandas Series by name, or a flat sequence.

        Returns
        -------
        str, or list of str for more than one row
            The prediction with its probability, and a table: each condition of the rule
            that predicts, then the first failed condition of each rule before it. A
            notebook shows it as HTML.

        Examples
        --------
        >>> print(rules.explain({"degrees": 21, "wind": 3}))
        Prediction: yes; P(yes) = 80 %
        <BLANKLINE>
        rule  condition     value  match
           2  degrees > 20  21     yes
           1  degrees > 30  21     no
        """
        rows: Any = X
        if hasattr(rows, "keys") and not hasattr(rows, "columns"):
            missing = [name for name in self.features if name not in rows]
            if missing:
                raise ValueError(f"A row needs {missing[0]!r}, which is not in it.")
            rows = [rows.get(name) for name in self.feature_names]
        is_one = not hasattr(rows, "columns") and np.ndim(np.asarray(rows, object)) == 1
        matrix = self._encode(np.asarray([rows], dtype=object) if is_one else rows)
        view = self._view
        pairs = zip(matrix, view.explanations(matrix), strict=True)
        texts: list[str] = [view.explanation_text(row, found) for row, found in pairs]
        return texts[0] if is_one else texts

    # Intervals

    def predict_interval(self, X: Rows, coverage: float = 0.9) -> Floats:
        """Prediction interval of each row: contains y with a probability of `coverage`.

        It reaches as far below and above the prediction as y did in rows with the same
        rule or, where several rules predict together, with about the same prediction:
        those that the rules were counted on, or that `calibrate` of an estimator had.
        Where these have no negative y, the interval has no negative ends.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        coverage : float, default=0.9

        Returns
        -------
        array of shape (n_samples, 2)
            Lower and upper ends.

        Examples
        --------
        >>> rows = [[21.0], [22.0], [23.0], [24.0]]
        >>> known = numeric.refit(rows, [9.5, 8.9, 9.2, 8.0])
        >>> known.predict_interval([[25.0]], coverage=0.5).tolist()
        [[8.0, 9.5]]
        """
        self._form.check_coverage(coverage)
        return self._form.predict_interval(self.covers(X), coverage)

    def rate_interval(self, X: Rows) -> Floats:
        """95 % interval, for each row, of the rate of a class in rows like it.

        These are the rows of the predicting rule or, where several rules predict
        together, those with about the same probability: a band of totals of points. Of
        two classes it is the rate of `pos_label`, or of the second; of more that of the
        predicted class. NaN where no rows were counted.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, 2)
            Lower and upper ends.

        Examples
        --------
        >>> from defragtrees import Rule, RuleList
        >>> rule = Rule((), "no", (0.9, 0.1), n_rows=50, rates=(0.9, 0.1))
        >>> one = RuleList((), rule, ("degrees",), "classification", ("no", "yes"))
        >>> one.rate_interval([[21.0]]).round(3).tolist()
        [[0.043, 0.214]]
        """
        return self._form.rate_interval(self.covers(X))

    # Editing; rules count from 1, as printed

    def drop(self, rule: int, condition: int | str | None = None) -> Self:
        """Return a copy without one of the rules, or without one of its conditions.

        Parameters
        ----------
        rule : int
            Number of the rule, from 1.
        condition : int or str, optional
            Drop only this condition: its number in the rule, from 1, or its column.

        Returns
        -------
        RuleModel

        Examples
        --------
        >>> print(rules.drop(1))
        #  if            then  P(yes)
        1  degrees > 20  yes     80 %
        2  otherwise     no      10 %
        <BLANKLINE>
        Edited after the fit:
        - dropped rule 1: if degrees > 30 and wind <= 9 then no
        >>> rules.drop(1, "wind").rules[0].text()
        'degrees > 30'
        """
        return editing.drop(self, rule, condition)

    def insert(self, rule: int, text: str, *, probability: float | None = None) -> Self:
        """Return a copy with one more rule, given as text.

        Until `refit` counts it, its probabilities are those of all training rows, and
        where rules are averaged it has the weight of one row.

        Parameters
        ----------
        rule : int
            Number of the new rule, from 1; the rule that has it now follows it.
        text : str
            Conditions as rules print them, and what the rule predicts, such as
            "if age <= 40 and city is Rome then yes"; for a scorecard, its points.
        probability : float, optional
            Probability of the predicted class. Where a threshold or costs decide, the
            prediction must follow from it.

        Returns
        -------
        RuleModel

        Examples
        --------
        >>> print(rules.insert(1, "if wind > 20 then no", probability=0.99))
        #  if             then  P(yes)
        1  wind > 20      no       1 %
        2  degrees > 30   no      30 %
           and wind <= 9
        3  degrees > 20   yes     80 %
        4  otherwise      no      10 %
        <BLANKLINE>
        Rules apply in order; the first match predicts.
        Edited after the fit:
        - inserted rule 1: if wind > 20 then no
        """
        return editing.insert(self, rule, text, probability)

    def replace(self, rule: int, text: str, condition: int | str | None = None) -> Self:
        """Return a copy in which one rule has other conditions, given as text.

        Parameters
        ----------
        rule : int
            Number of the rule, from 1.
        text : str
            Conditions as rules print them, joined by "and".
        condition : int or str, optional
            Replace only this condition: its number in the rule, from 1, or its column.

        Returns
        -------
        RuleModel

        Examples
        --------
        >>> rules.replace(2, "18 < degrees <= 30").edits[0].text
        'rule 2: degrees > 20 became 18 < degrees <= 30'
        """
        return editing.replace(self, rule, text, condition)

    def set_prediction(self, rule: int, prediction: Any) -> Self:
        """Return a copy in which one rule predicts something else; probabilities stay.

        Where costs or a threshold decide, the rule no longer follows them.

        Parameters
        ----------
        rule : int
            Number of the rule, from 1; the default rule may be changed too.
        prediction : class label, float, or sequence of float
            For a scorecard, the points of the rule.

        Examples
        --------
        >>> rules.set_prediction(2, "no").edits[0].text
        'rule 2 predicts no, not yes: if degrees > 20'
        """
        return editing.set_prediction(self, rule, prediction)

    def with_threshold(self, threshold: float | None) -> Self:
        """Return a copy that predicts a class from a certain probability on.

        For two classes. It replaces a threshold or costs that the rules have.

        Parameters
        ----------
        threshold : float or None
            Probability of `pos_label`, by default the second class, from which it is
            predicted; see `metrics.best_threshold`. None predicts the most probable
            class, as rules without threshold and costs do.

        Examples
        --------
        >>> [rule.prediction for rule in rules.with_threshold(0.25)]
        ['yes', 'yes', 'no']
        >>> rules.with_threshold(0.25).edits[0].text
        'predicts yes if P(yes) >= 0.25'
        """
        return editing.with_threshold(self, threshold)

    def with_costs(self, costs: Any) -> Self:
        """Return a copy that predicts the class with the lowest expected cost.

        It replaces a threshold or costs that the rules have.

        Parameters
        ----------
        costs : dict from (true class, predicted class) to float, or array
            Cost of each kind of error; those not given cost 1. An array has one row per
            true class.

        Examples
        --------
        >>> costly = rules.with_costs({("yes", "no"): 5})
        >>> [rule.prediction for rule in costly]
        ['yes', 'yes', 'no']
        >>> costly.edits[0].text
        'costs: yes predicted for no 1, no predicted for yes 5'
        """
        return editing.with_costs(self, costs)

    def with_class_weight(self, class_weight: Any) -> Self:
        """Return a copy in which an error costs the weight of its true class.

        It replaces a threshold or costs that the rules have.

        Parameters
        ----------
        class_weight : "balanced" or dict from class to float
            "balanced" gives all classes the same total cost in the rows that the rules
            were counted on. Classes not given have weight 1.

        Examples
        --------
        >>> [rule.prediction for rule in rules.with_class_weight({"yes": 3})]
        ['yes', 'yes', 'no']
        """
        return editing.with_class_weight(self, class_weight)

    def move(self, rule: int, to: int) -> Self:
        """Return a copy with one rule moved to another position.

        Parameters
        ----------
        rule, to : int
            Number of the rule, and its new number, from 1.

        Examples
        --------
        >>> rules.move(2, 1).rules[0].text()
        'degrees > 20'
        """
        return editing.move(self, rule, to)

    # Methods that need packages above this one, which are imported when called

    def evaluate(
        self,
        X: Rows,
        y: Column | None = None,
        sample_weight: Column | None = None,
        *,
        model: Any = None,
    ) -> dict[str, float]:
        """Measure the rules on these rows.

        Returns a dict with the size (`n_rules`, `n_conditions` in all rules together,
        `mean_conditions` per rule), `coverage` and `overlap`. With y it also has
        `error` and, for classes, `auc`, `average_precision`, `log_loss`, `brier`,
        `precision`, `recall` and `expected_cost`, for numbers `rmse`, `mae` and `r2`.

        Beside a model, which every estimator has, there is `fidelity`, the agreement
        with it (of one class for all rows it is `fidelity_of_constant`), and the same
        measures of the model have the prefix `model_`. They are too good on rows that
        it was trained on. If the rules have costs or a threshold, these decide the
        class of the model too.

        `average_precision`, `precision` and `recall` are those of `pos_label`, by
        default the second class; for more than two classes they and `auc` are means
        over classes. Rows of a class that the rules do not know count for `error`
        only. Measures that are undefined on these rows are NaN.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            May be anything that `fit` reads, such as the path of a file.
        y : array-like of shape (n_samples,), optional
        sample_weight : array-like of shape (n_samples,), optional
            Only ratios of weights matter.
        model : fitted model, path, Forest, function, array or column name, optional
            The model to compare the rules with, an array of its predictions or
            probabilities, or the name of a column of X with them. It gets X as it is,
            with the columns that it needs. Fractions from 0 to 1 are probabilities of
            the second of two classes. A model that numbers its classes from 0 or 1 is
            taken to number those of the rules in their order.

        Examples
        --------
        >>> from defragtrees.baselines import DistilledTreeRegressor
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]] * 10, [1.0, 1.0, 4.0, 6.0] * 10
        >>> simple = DistilledTreeRegressor(max_rules=2, random_state=0).fit(X, y)
        >>> scores = simple.rules_.evaluate([[0.5], [2.5]], [1.0, 6.0])
        >>> scores["n_rules"], round(scores["mae"], 1)
        (2, 0.5)
        >>> "fidelity" in scores, "fidelity" in simple.evaluate([[0.5], [2.5]])
        (False, True)
        """
        from defragtrees.estimators.measuring import evaluate

        return evaluate(self, X, y, sample_weight, model=model)

    def summary(
        self,
        X: Rows | None = None,
        y: Column | None = None,
        *,
        model: Any = None,
    ) -> render.Lines:
        """Return the rules and their scores as text.

        With X and y, also the estimated and the observed rate of each rule.

        Parameters
        ----------
        X, y : rows to measure on, optional
            Without them, an estimator shows its scores on the rows of `validation`, if
            `fit` had some, else on the training rows; rules alone have no scores then.
        model : fitted model, path, Forest, function, array or column name, optional
            The model to compare the rules with; see `evaluate`.

        Examples
        --------
        >>> rules.summary([[21.0, 3.0], [19.0, 3.0]]).splitlines()[-2][:32]
        '3 rules with 1.5 conditions each'
        """
        from defragtrees.estimators.measuring import summarize_rules

        return summarize_rules(self, X, y, model=model)

    def refit(
        self,
        X: Rows,
        y: Column,
        sample_weight: Column | None = None,
        *,
        predictions: str = "recount",
    ) -> Self:
        """Return a copy with the same conditions and order, counted on other rows.

        Rates, counts, errors, points and predictions are computed again on these rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Only ratios of weights matter; see `Simplifier.fit`.
        predictions : {"recount", "keep"}, default="recount"
            Predictions of the rules: those of these rows, or the same as before.

        Returns
        -------
        RuleModel

        Examples
        --------
        >>> X, y = [[21.0], [22.0], [23.0], [1.0], [2.0], [3.0]], [5, 6, 7, 1, 2, 3]
        >>> [rule.prediction for rule in numeric.refit(X, y)]
        [5.895, 2.105]
        """
        from defragtrees.data.refitting import refit

        return refit(self, X, y, sample_weight, predictions=predictions)

    def improve(
        self,
        X: Rows,
        y: Column,
        keep: Iterable[int],
        sample_weight: Column | None = None,
        *,
        model: Any = None,
        **settings: Any,
    ) -> Self:
        """Keep some rules and search for new ones in place of the others.

        In a list the kept rules come first, in their order, and the new ones apply to
        the rows that the kept rules do not match.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        keep : sequence of int
            Numbers of the rules to keep, from 1.
        sample_weight : array-like of shape (n_samples,), optional
        model : fitted model, optional
            Model that the new rules imitate; by default one is fitted to X and y.
        **settings
            Settings of `simplify`. `max_rules` includes the kept rules; by default the
            number of rules does not change.

        Returns
        -------
        RuleModel

        Examples
        --------
        >>> X, y = [[21.0], [22.0], [23.0], [1.0], [2.0], [3.0]], [5, 6, 7, 1, 2, 3]
        >>> numeric.improve(X, y, keep=[1]).edits[0].text
        'kept rule 1, searched for others on 6 rows'
        """
        from defragtrees.estimators.improving import improve

        return improve(self, X, y, keep, sample_weight, model=model, **settings)

    def check(
        self,
        X: Rows,
        y: Column | None = None,
        *,
        model: Any = None,
        classes: Iterable[Any] | None = None,
        level: float = 0.05,
    ) -> Any:
        """Test new rows for drift from those that the rules were fitted to.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            If given, rates and errors are tested too.
        model : fitted model, path, Forest, function, array or column name, optional
            If given, its agreement with the rules is tested too: whether it is lower
            than on rows that the model was not trained on.
        classes : sequence of class labels, optional
            The classes of the rules in the order of the model's, if these are other
            labels. A model that numbers its classes from 0 or 1 is taken to number
            those of the rules in their order.
        level : float, default=0.05
            Probability of a false alarm in any of the tests.

        Returns
        -------
        Check
            True if something has drifted; prints as a table.

        Examples
        --------
        >>> from defragtrees.baselines import DistilledTreeClassifier
        >>> X, y = [[float(k)] for k in range(40)], ["no"] * 20 + ["yes"] * 20
        >>> tree = DistilledTreeClassifier(max_rules=2, random_state=0)
        >>> rules = tree.fit(X, y).rules_
        >>> bool(rules.check(X, y)), bool(rules.check([[35.0]] * 40))
        (False, True)
        """
        from defragtrees.monitoring.check import check

        return check(self, X, y, model=model, classes=classes, level=level)

    def to_frame(self) -> Any:
        """The rules as a pandas data frame, one row per rule.

        Returns
        -------
        pandas.DataFrame
            Conditions and predictions, rows and rates, and the interval of each rate;
            a column in which nothing was measured is left out.

        Examples
        --------
        >>> rules.to_frame().shape[0]
        3
        """
        from defragtrees.export import to_frame

        return to_frame(self)

    def export(self, format: str, path: Any = None, **options: Any) -> Any:
        """Return the rules in another format; with a path, also write them to a file.

        Parameters
        ----------
        format : str
            See `defragtrees.export.export`.
        path : path, optional
        **options
            Options of the format.

        Examples
        --------
        >>> print(rules.export("text").splitlines()[0])
        1. if degrees > 30 and wind <= 9 then no
        """
        from defragtrees.export import export

        return export(self, format, path, **options)

    # Rule files

    @property
    def _kept(self) -> tuple[tuple[Any, ...], TrainingRows | None]:
        """Categories and profile of the features that rules use, as files keep them.

        Of others no category is kept. That is a categorical feature too, so that X is
        read as before.
        """
        used = {c.feature for rule in self.rules for c in rule.conditions}
        categories = tuple(
            labels if labels is None or j in used else ()
            for j, labels in enumerate(self.categories or ())
        )
        return categories, self.training and self.training.for_features(used)

    def _compared(self) -> dict[str, Any]:
        # Rules are equal to those that come back from their file.
        kept = dict(zip(("categories", "training"), self._kept, strict=True))
        return {**super()._compared(), **kept}

    def to_dict(self, profile: bool = True) -> dict[str, Any]:
        """Everything in plain numbers, texts and lists; `from_dict` reads it back.

        Categories of features that no rule uses are left out.

        Parameters
        ----------
        profile : bool, default=True
            Include the profile of the training rows that `check` needs.

        Examples
        --------
        >>> rules.to_dict()["form"]
        'list'
        """
        categories, training = self._kept
        return {
            "format": schema.FORMAT,
            "task": self.task,
            "classes": None if self.classes is None else list(self.classes),
            "feature_names": list(self.feature_names),
            "categories": [c if c is None else list(c) for c in categories],
            "rules": [rule.to_dict() for rule in self.rules],
            "default": self.default.to_dict(),
            "form": self.form,
            "residuals": None if self.residuals is None else self.residuals.to_dict(),
            **({"rate_bands": self.rate_bands.to_dict()} if self.rate_bands else {}),
            "threshold": self.threshold,
            "costs": None if self.costs is None else [list(row) for row in self.costs],
            "feature_labels": self.feature_labels and list(self.feature_labels),
            "class_labels": self.class_labels and list(self.class_labels),
            "feature_kinds": self.feature_kinds and list(self.feature_kinds),
            **({} if self.pos_label is None else {"pos_label": self.pos_label}),
            "unit": 1.0,  # of points
            "origin": 0.0,
            **({"edits": [e.to_dict() for e in self.edits]} if self.edits else {}),
            **({"training": training.to_dict()} if training and profile else {}),
            **({"evidence": self.evidence.to_dict()} if self.evidence else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "RuleModel":
        """Rebuild a rule model, as the class of its form, from what `to_dict` returned.

        Examples
        --------
        >>> RuleModel.from_dict(rules.to_dict()) == rules
        True
        """
        from defragtrees.rules import MODELS

        _check_format(data)
        try:
            # The kinds of y are looked up here, as further ones may be registered.
            checks = {
                **_FIELDS,
                "task": schema.one_of(*OUTCOMES),
                "form": schema.one_of(*FORMS),
            }
            fields = schema.read_fields(data, checks, _NEEDS)
            del fields["format"]
            form = fields.pop("form", "list")
            if form != "points":
                fields.pop("unit", None)
                fields.pop("origin", None)
            prediction = schema.LABEL
            if not fields["classes"]:
                prediction = schema.number(-1e100, 1e100)
            fields["rules"] = tuple(
                Rule.from_dict(rule, f"rules[{i}]", prediction=prediction)
                for i, rule in enumerate(fields["rules"])
            )
            fields["default"] = Rule.from_dict(
                fields["default"], "default", prediction=prediction
            )
            fields["edits"] = fields.get("edits") or ()
            made: RuleModel = MODELS[form](**fields)
            return made
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            why = " ".join(str(error).split()).rstrip(".")
            raise ModelFileError(
                f"These are not saved rules: {why}. Save them again with rules.save."
            ) from None

    def save(self, path: str | os.PathLike[str], *, profile: bool = True) -> None:
        """Write the rules to a JSON file.

        It has the rules and what was counted for them, the categories of the columns
        that they use and, unless left out, a profile of these columns.

        Parameters
        ----------
        path : path
            The file appears when it is complete; one that is there is replaced then.
        profile : bool, default=True
            Include the profile of the training rows that `check` needs: of the columns
            that rules use, the rows per category or per tenth of the numbers.

        Examples
        --------
        >>> import defragtrees, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rules.save(f"{folder}/rules.json")
        ...     defragtrees.load(f"{folder}/rules.json") == rules
        True
        """
        write_atomic(path, to_json(self.to_dict(profile)))


def _check_format(data: Any) -> None:
    """Raise ModelFileError for what is no rule file, or one of another version."""
    if not isinstance(data, dict) or "format" not in data:
        came = shown(data)
        if isinstance(data, dict):
            came = f"one with {', '.join(map(shown, list(data)[:5])) or 'nothing'}"
        raise ModelFileError(
            f"Saved rules are an object with the format {schema.FORMAT!r}; got {came}. "
            "Give a file that RuleModel.save wrote."
        )
    if data["format"] != schema.FORMAT:
        raise ModelFileError(
            f"Rules must have the format {schema.FORMAT!r}; got "
            f"{shown(data['format'])}. Update defragtrees, or save the rules again "
            "with this version."
        )


_AMOUNT = schema.number(-1e101, 1e101)
_RESIDUALS = {
    "bands": schema.list_of(schema.list_of(_AMOUNT, 0, MOST_IN_BAND), 1),
    "spreads": schema.list_of(schema.number(0, 1e101)),
    "pooled": schema.list_of(_AMOUNT, 1, MOST_POOLED),
    "edges": schema.list_of(_AMOUNT) | schema.NULL,
    "low": _AMOUNT | schema.NULL,
    "high": _AMOUNT | schema.NULL,
}
_RATE_BANDS = {
    "edges": schema.SHARES,
    "rates": schema.SHARES,
    "n_effective": schema.list_of(schema.number(0, 1e18, is_open=True), 1),
    "means": schema.SHARES,
}
_WORDS = schema.list_of(schema.TEXT | schema.NULL) | schema.NULL
_NEEDS = (
    "format",
    "task",
    "classes",
    "feature_names",
    "categories",
    "rules",
    "default",
)
_FIELDS = {
    "format": schema.ANYTHING,
    "classes": schema.NULL | schema.CLASSES,
    "feature_names": schema.list_of(schema.TEXT),
    "categories": schema.list_of(schema.NULL | schema.list_of(schema.LABEL)),
    "rules": schema.list_of(schema.ANYTHING),
    "default": schema.ANYTHING,
    "residuals": schema.NULL
    | schema.fields_of(Residuals, _RESIDUALS, ("bands", "spreads", "pooled")),
    "rate_bands": schema.NULL
    | schema.fields_of(RateBands, _RATE_BANDS, ("edges", "rates", "n_effective")),
    "threshold": schema.number(0, 1, is_open=True) | schema.NULL,
    "costs": schema.list_of(schema.list_of(schema.number(0, 1e100))) | schema.NULL,
    "feature_labels": _WORDS,
    "class_labels": _WORDS,
    "feature_kinds": schema.list_of(schema.one_of(*KINDS, ORDERED, BOOLEAN, None))
    | schema.NULL,
    "pos_label": schema.NULL | schema.LABEL,
    "unit": schema.number(-1e100, 1e100),
    "origin": schema.number(-1e100, 1e100),
    "edits": schema.list_of(schema.object_of(Edit)) | schema.NULL,
    "training": schema.NULL | schema.object_of(TrainingRows),
    "evidence": schema.NULL | schema.object_of(Evidence),
}
