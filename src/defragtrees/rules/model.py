"""RuleModel: the base class of all rule models; every method returns one.

A rule model predicts with the conditions that it prints and with nothing else. How the
predictions of rules combine is defined by its form (`rules/forms.py`), what it prints
by its view (`rules/text.py`).
"""

import dataclasses
import math
import operator
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self, TypeVar

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils import schema
from defragtrees._utils.files import to_json, write_atomic
from defragtrees._utils.optional import require
from defragtrees._utils.types import Column, Flags, Floats, Places, Rows, Values
from defragtrees._utils.values import ByValue, is_finite, shown
from defragtrees.errors import ModelFileError
from defragtrees.outcomes import OUTCOMES, make_outcome
from defragtrees.outcomes.base import Outcome
from defragtrees.outcomes.decision import Decision, threshold_of_second
from defragtrees.outcomes.intervals import (
    MEAN_WORTH,
    RateBands,
    Residuals,
    mean_interval,
)
from defragtrees.outcomes.quantiles import Quantiles
from defragtrees.outcomes.survival import Baseline, step_functions
from defragtrees.rules.conditions import UNMEASURED, Condition, Rule, RuleSequence
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
from defragtrees.rules.parsing import ColumnWords, parse_conditions, read_condition
from defragtrees.rules.profile import (
    Evidence,
    TrainingRows,
    check_seen,
    count_unseen,
    unseen_texts,
    warn_of_unseen,
)
from defragtrees.rules.text import VIEWS, View, decision_phrase
from defragtrees.tables import check_finite, read_matrix

__all__ = ["RuleModel"]

FORMAT = "defragtrees-rules-1"
KEYS = (  # of rule files, in their order
    *("format", "task", "classes", "feature_names", "categories", "rules", "default"),
    *("form", "residuals", "baseline", "quantile", "rate_bands", "threshold", "costs"),
    *("feature_labels", "class_labels", "feature_kinds", "pos_label", "unit"),
    *("origin", "edits", "training", "evidence", "tails"),
)
Model = TypeVar("Model", bound="RuleModel")
_LABELS = schema.list_of(schema.TEXT | schema.NULL) | schema.NULL


ACTIONS = (
    "drop",  # a rule is removed
    "insert",  # a rule is added
    "replace",  # its conditions, or one of them
    "remove",  # one of its conditions
    "move",  # to another place in the list
    "prediction",  # a rule predicts something else
    "threshold",  # a class is predicted from another probability on
    "costs",  # errors have other costs
    "refit",  # all rules are counted on other rows
    "improve",  # some rules are searched for again
    "use",  # other rules, as good as these, are used
)


@dataclass(frozen=True)
class Edit(schema.Stored):
    """What was changed.

    Examples
    --------
    >>> Edit("drop", "dropped rule 3: if age > 80 then no", 3).to_dict()
    {'action': 'drop', 'rule': 3, 'text': 'dropped rule 3: if age > 80 then no'}
    """

    action: Annotated[str, schema.one_of(*ACTIONS)]
    text: Annotated[str, schema.TEXT]  # the change in words
    # its number then, from 1; None for more than one
    rule: Annotated[int | None, schema.whole(1) | schema.NULL] = None

    _order: ClassVar[tuple[str, ...]] = ("action", "rule", "text")

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise ValueError(
                f"An edit must describe the change in words; got {self.text!r}."
            )


@dataclass(frozen=True, eq=False, repr=False)
class RuleModel(RuleSequence, ByValue, schema.Written):
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
        Regression: how far y was from the predictions, for `predict_interval`.
    rate_bands : RateBands, optional
        Where several rules predict a class, or a rate, together: rates in rows with
        about the same prediction, for `rate_interval`.
    threshold : float, optional
        With two classes, the probability from which on the second is predicted.
    costs : tuple of tuple of float, optional
        The cost of predicting the class of the column where that of the row is true;
        the class with the lowest expected cost is predicted. Without threshold and
        costs it is the most probable one.
    feature_labels, class_labels : tuple of (str or None), optional
        Names of features and classes in texts; the label of a feature may end with a
        unit, as in "Duration [months]". `relabel` takes dicts too.
    feature_kinds : tuple of (str or None), optional
        "date", "datetime", "datetime UTC", "time" or "duration" for numbers of days;
        "ordered" for categories with an order; "boolean" for 0 and 1 as false and
        true.
    pos_label : object, optional
        With two classes, the one whose rate rules report and whose precision and recall
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
    1  degrees > 30   no       30%
       and wind <= 9
    2  degrees > 20   yes      80%
    3  otherwise      no       10%
    <BLANKLINE>
    Rules apply in order; the first match predicts.
    >>> warm = Rule((Condition(0, lower=20.0),), 9.0)
    >>> numeric = RuleList((warm,), Rule((), 1.0), ("degrees",), "regression")
    """

    rules: Annotated[tuple[Rule, ...], schema.list_of(schema.ANYTHING)]
    default: Annotated[Rule, schema.ANYTHING]
    feature_names: Annotated[tuple[str, ...], schema.list_of(schema.TEXT)]
    task: Annotated[str, schema.ANYTHING]
    classes: Annotated[
        tuple[Any, ...] | None, schema.NULL | schema.CLASSES, "required"
    ] = None
    categories: Annotated[
        tuple[tuple[Any, ...] | None, ...] | None,
        schema.list_of(schema.NULL | schema.list_of(schema.LABEL)),
        "required",
    ] = None
    residuals: Annotated[Residuals | None, schema.maybe(Residuals)] = None
    rate_bands: Annotated[RateBands | None, schema.maybe(RateBands), "optional"] = None
    threshold: Annotated[
        float | None, schema.number(0, 1, is_open=True) | schema.NULL
    ] = None
    costs: Annotated[
        tuple[tuple[float, ...], ...] | None,
        schema.list_of(schema.list_of(schema.number(0, 1e100))) | schema.NULL,
    ] = None
    feature_labels: Annotated[tuple[str | None, ...] | None, _LABELS] = None
    class_labels: Annotated[tuple[str | None, ...] | None, _LABELS] = None
    feature_kinds: Annotated[
        tuple[str | None, ...] | None,
        schema.list_of(schema.one_of(*KINDS, ORDERED, BOOLEAN, None)) | schema.NULL,
    ] = None
    pos_label: Annotated[Any, schema.NULL | schema.LABEL, "optional"] = None
    edits: Annotated[
        tuple[Edit, ...],
        schema.list_of(schema.object_of(Edit)) | schema.null_as(()),
        "optional",
    ] = ()
    training: Annotated[TrainingRows | None, schema.maybe(TrainingRows), "optional"] = (
        None
    )
    evidence: Annotated[Evidence | None, schema.maybe(Evidence), "optional"] = None
    # of survival
    _baseline: Annotated[
        Baseline | None, schema.maybe(Baseline), "baseline", "optional"
    ] = None
    # of y, in place of its mean
    _quantile: Annotated[
        float | None,
        schema.number(0, 1, is_open=True) | schema.NULL,
        "quantile",
        "optional",
    ] = None

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
        words = self._vocabulary
        shown = FORMS[self.form].shown([rule.conditions for rule in self], words)
        pairs = zip(self, shown, strict=True)
        named = [rule.named(words, own) for rule, own in pairs]
        object.__setattr__(self, "rules", tuple(named[:-1]))
        object.__setattr__(self, "default", named[-1])
        self._check()

    def _check(self) -> None:
        """Raise ValueError if fields contradict each other."""
        outcome, form = self.outcome, self._form
        n_points = outcome.n_points if form.is_sum else 0
        if outcome.labels == ():
            raise ValueError(f"Rules for {self.task} need their classes.")
        if self.classes is not None and not outcome.n_classes:
            raise ValueError(f"Rules for {self.task} have no classes.")
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
        words = self.classes, self.class_labels, self.pos_label
        outcome: Any = make_outcome(self.task, *words)
        if self._baseline is not None:
            outcome = dataclasses.replace(outcome, baseline=self._baseline)
        if self._quantile is not None:
            if outcome.n_classes or len(outcome.columns) > 1:
                raise ValueError("quantile is for rules that predict numbers.")
            outcome = Quantiles(self._quantile)
        made: Outcome = outcome
        return made

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
            self.feature_names, self.categories, self.feature_labels, self.feature_kinds
        )

    @cached_property
    def _mean_intervals(self) -> tuple[tuple[float, float] | None, ...]:
        """For each rule a 95% interval of the mean of y in new rows; None if unknown.

        Of rules that predict the mean, or a quantile, of the y that they counted.
        """
        if self._quantile is not None:
            return tuple(rule.quantiles for rule in self)
        if self.evidence is None or not self.outcome.keeps_residuals:
            return (None,) * self.n_rules
        gain = max(1.0, MEAN_WORTH / self.evidence.worth)

        def interval(rule: Rule) -> tuple[float, float] | None:
            if rule.spread is None or rule.quantiles is None or rule.points is not None:
                return None
            given = rule.prediction, rule.spread, rule.n_effective * gain
            return mean_interval(*given, is_positive=rule.quantiles[0] >= 0)

        return tuple(map(interval, self))

    def relabel(
        self,
        feature_labels: Mapping[str, str] | Sequence[str] | None = None,
        class_labels: Mapping[Any, str] | Sequence[str] | None = None,
        pos_label: Any = None,
    ) -> Self:
        """Return a copy with new labels; labels that are not given do not change.

        Parameters
        ----------
        feature_labels : dict from name to str, or sequence of str, optional
            A label may end with a unit in brackets.
        class_labels : dict from class to str, or sequence of str, optional
        pos_label : object, optional
            With two classes, the one whose rate is reported.

        Examples
        --------
        >>> print(rules.drop(1).relabel({"degrees": "Warmth [°C]"}, {"yes": "go"}))
        #  if              then  P(go)
        1  Warmth > 20 °C  go      80%
        2  otherwise       no      10%
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
            for two classes has one, of `pos_label` or the second class.
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
            Add the columns `low` and `high`: in regression `predict_interval` with this
            coverage, such as 0.9; otherwise `rate_interval`, which has 0.95.

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
        for name, given in self.outcome.further_outputs(form).items():
            if form.is_sum:
                columns[name] = np.exp(-given * columns["prediction"])
            else:
                columns[name] = form.combined(matches, np.array(given)[:, None])[:, 0]
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
        rules, features = self.n_rules, len(self.features)
        size = f"{render.plural(rules, 'rule')}, {render.plural(features, 'feature')}"
        mean = f"{self._mean_conditions:.1f} conditions per rule"
        return f"<{type(self).__name__}: {size}, {mean}>"

    def __str__(self) -> str:
        return self._view.text()

    def __dir__(self) -> list[str]:
        # Without what raises AttributeError: rules of survival alone have functions.
        has_functions = self.task == "survival"
        names = super().__dir__()
        return [n for n in names if has_functions or not n.endswith("_function")]

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
            Maximum number of columns; by default as many as the terminal has, or 76.

        Returns
        -------
        str

        Examples
        --------
        >>> print(rules.table())
        #  if             then  P(yes)
        1  degrees > 30   no       30%
           and wind <= 9
        2  degrees > 20   yes      80%
        3  otherwise      no       10%
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
        Prediction: yes; P(yes) = 80%
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
        """95% interval, for each row, of the rate of a class or of events.

        It is that of the rows of the predicting rule or, where several rules predict
        together, of rows with about the same prediction: a band of totals of points.
        With two classes it is the rate of `pos_label`, or of the second; with more, of
        the predicted class; of survival the hazard ratio. NaN where no rows were
        counted.

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

    # Survival

    def predict_survival_function(self, X: Rows, return_array: bool = False) -> Values:
        """Estimated survival of each row, as functions of time; for survival only.

        Those of a list are the curves of its rules (Kaplan and Meier), those of points
        that of all rows to the power of the hazard ratio.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        return_array : bool, default=False
            Return the values at the times of the steps, `StepFunction.x`, instead.

        Returns
        -------
        array of StepFunction, or of shape (n_samples, n_times)

        Examples
        --------
        >>> import numpy as np
        >>> from defragtrees import DefragSurvival
        >>> X, time = np.arange(40.0)[:, None], np.tile([1.0, 2.0, 4.0, 8.0], 10)
        >>> y = np.column_stack([np.ones(40), time])
        >>> rules = DefragSurvival(max_rules=1, random_state=0).fit(X, y).rules_
        >>> function = rules.predict_survival_function([[7.0]])[0]
        >>> round(function(4.0), 2)
        0.25
        """
        return step_functions(self, X, return_array)

    def predict_cumulative_hazard_function(
        self, X: Rows, return_array: bool = False
    ) -> Values:
        """Estimated cumulative hazard of each row; for survival only.

        It is the logarithm of survival, negated.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        return_array : bool, default=False
            Return the values at the times of the steps, `StepFunction.x`, instead.

        Returns
        -------
        array of StepFunction, or of shape (n_samples, n_times)

        Examples
        --------
        >>> import numpy as np
        >>> from defragtrees import DefragSurvival
        >>> X, time = np.arange(40.0)[:, None], np.tile([1.0, 2.0, 4.0, 8.0], 10)
        >>> y = np.column_stack([np.ones(40), time])
        >>> rules = DefragSurvival(max_rules=1, random_state=0).fit(X, y).rules_
        >>> function = rules.predict_cumulative_hazard_function([[7.0]])[0]
        >>> round(function(4.0), 2)
        1.39
        """
        return step_functions(self, X, return_array, is_cumulative=True)

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
        1  degrees > 20  yes      80%
        2  otherwise     no       10%
        <BLANKLINE>
        Edited after the fit:
        - dropped rule 1: if degrees > 30 and wind <= 9 then no
        >>> rules.drop(1, "wind").rules[0].text()
        'degrees > 30'
        """
        k = _index(self, rule)
        dropped = self.rules[k]
        if condition is not None:
            conditions = list(dropped.conditions)
            del conditions[_condition_index(self, dropped, condition)]
            if not conditions:
                raise ValueError(
                    f"A rule needs a condition; rule {k + 1} has no other. Drop the "
                    "rule, or replace its condition."
                )
            return _with_conditions(self, k, conditions, "remove")
        text = f"dropped rule {k + 1}: {self._view.rule_text(dropped)}"
        kept = [*self.rules[:k], *self.rules[k + 1 :], self.default]
        return _edited(self, kept, Edit("drop", text, k + 1))

    def insert(self, rule: int, text: str, *, probability: float | None = None) -> Self:
        """Return a copy with one more rule, given as text.

        Until `refit` counts it, it has the probabilities of all training rows and,
        where rules are averaged, the weight of one row.

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
        1  wind > 20      no        1%
        2  degrees > 30   no       30%
           and wind <= 9
        3  degrees > 20   yes      80%
        4  otherwise      no       10%
        <BLANKLINE>
        Rules apply in order; the first match predicts.
        Edited after the fit:
        - inserted rule 1: if wind > 20 then no
        """
        k = _index(self, rule, with_default=True)
        asked, then, predicted = str(text).rpartition(" then ")
        if not then:
            raise ValueError(
                "A rule is written as conditions, then what it predicts: if age <= 40 "
                f"then yes; got {shown(text)}."
            )
        asked = asked.strip().removeprefix("if ")
        conditions = tuple(parse_conditions(asked, column_words(self)))
        new = self._form.new_rule(
            conditions, predicted.strip(), probability, self._class_rates
        )
        made = [*self]
        made.insert(k, new)
        text = f"inserted rule {k + 1}: {self._view.rule_text(_named(self, made, k))}"
        return _edited(self, made, Edit("insert", text, k + 1))

    def replace(self, rule: int, text: str, condition: int | str | None = None) -> Self:
        """Return a copy in which one rule has new conditions, given as text.

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
        k, words = _index(self, rule), column_words(self)
        if condition is None:
            return _with_conditions(self, k, parse_conditions(text, words), "replace")
        conditions = list(self.rules[k].conditions)
        place = _condition_index(self, self.rules[k], condition)
        conditions[place] = read_condition(text, words)
        features = [c.feature for c in conditions]
        repeated = [j for j in features if features.count(j) > 1]
        if repeated:
            raise ValueError(
                "A rule must have one condition for each column; it would have two "
                f"on {self._vocabulary.names[repeated[0]]!r}. Replace all "
                "conditions of the rule, or that one."
            )
        return _with_conditions(self, k, conditions, "replace")

    def _with_condition(self, rule: int, text: str) -> Self:
        """Replace the condition of a rule on a column, or add it if there is none."""
        k, changed = _index(self, rule), read_condition(text, column_words(self))
        conditions = {c.feature: c for c in self.rules[k].conditions}
        conditions[changed.feature] = changed
        return _with_conditions(self, k, [*conditions.values()], "replace")

    def set_prediction(self, rule: int, prediction: Any) -> Self:
        """Return a copy in which one rule has another prediction; probabilities stay.

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
        k, write = _index(self, rule, with_default=True), self._view.then_text
        made = [*self]
        before, changed = made[k], self._form.with_prediction(made[k], prediction)
        made[k] = changed
        text = (
            f"rule {k + 1} predicts {write(changed)}, not {write(before)}: "
            f"{'if ' if changed.conditions else ''}{before.text()}"
        )
        return _edited(self, made, Edit("prediction", text, k + 1))

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
        _check_probabilities(self, "with_threshold")
        if threshold is not None:
            self.outcome.decision(threshold)  # checks it as it is given
            if self.outcome.positive_index == 0:
                threshold = threshold_of_second(float(threshold))
        return _decided(self, "threshold", self.outcome.decision(threshold))

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
        _check_probabilities(self, "with_costs")
        return _decided(self, "costs", self.outcome.decision(costs=costs))

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
        _check_probabilities(self, "with_class_weight")
        rates = self._class_rates
        if rates is None and str(class_weight) == "balanced":
            raise ValueError(
                "class_weight='balanced' needs the shares of the classes; these rules "
                "have none. Pass a dict from class to weight, or refit the rules."
            )
        decision = self.outcome.decision(rates=rates, class_weight=class_weight)
        return _decided(self, "costs", decision)

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
        k, place = _index(self, rule), _index(self, to)
        made = [*self]
        moved = made.pop(k)
        made.insert(place, moved)
        text = f"moved rule {k + 1} to {place + 1}: {self._view.rule_text(moved)}"
        return _edited(self, made, Edit("move", text, k + 1))

    # Methods that need packages above this one, which are imported when called

    def evaluate(
        self,
        X: Rows,
        y: Column | None = None,
        sample_weight: Column | None = None,
        *,
        model: Any = None,
        exposure: Column | None = None,
    ) -> dict[str, float]:
        """Measure the rules on these rows.

        Returns a dict with the size (`n_rules`, `n_conditions` in all rules together,
        `mean_conditions` per rule), `coverage` and `overlap`. With y it also has
        `error` and, in classification, `auc`, each with its 95% interval (`error_low`,
        `error_high`, `auc_low`, `auc_high`), `gini`, `ks`,
        `average_precision`, `log_loss`, `brier`, `precision`, `recall` and
        `expected_cost`, in regression `rmse`, `mae` and `r2`. Rates of events have
        `d2`, `deviance`, `gini` and `calibration`, the share of the events by which
        tenths of the predicted ones miss them; survival the same without `gini`,
        `concordance` and, with scikit-survival, `uno`, `dynamic_auc` and
        `integrated_brier`.

        With a model, which every estimator has, there is `fidelity`, the agreement
        with it (`fidelity_of_constant` is that of always predicting one class), of two
        classes `correlation`, that of the probabilities, and the same measures of the
        model with the prefix `model_`. They are too good on rows that it was trained
        on. Costs or a threshold of the rules decide the class of the model too.

        `average_precision`, `precision` and `recall` refer to `pos_label`, by
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
            taken to number the classes of the rules in their order.
        exposure : array-like of shape (n_samples,) or str, optional
            Of rates, the exposure of each row or its column of X, if y has the number
            of events only.

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

        return evaluate(self, X, y, sample_weight, model=model, exposure=exposure)

    def summary(
        self, X: Rows | None = None, y: Column | None = None, *, model: Any = None
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
        exposure: Column | None = None,
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
            Whether predictions follow from these rows, or stay the same.
        exposure : array-like of shape (n_samples,) or str, optional
            Of rates, as for `evaluate`.

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

        how: dict[str, Any] = {"predictions": predictions, "exposure": exposure}
        return refit(self, X, y, sample_weight, **how)

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
        marks: tuple[float, float] = (0.1, 0.25),
        exposure: Column | None = None,
    ) -> Any:
        """Test new rows for drift from the rows that the rules were fitted to.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            If given, rates and errors are tested too.
        model : fitted model, path, Forest, function, array or column name, optional
            If given, its agreement with the rules is tested too: whether it is lower
            than on rows that the model was not trained on.
        classes : sequence of class labels, optional
            The classes of the rules in the order of the model's, if it has different
            labels. A model that numbers its classes from 0 or 1 is taken to number
            those of the rules in their order.
        level : float, default=0.05
            Probability of a false alarm in any of the tests.
        marks : tuple of float, default=(0.1, 0.25)
            From where on a population stability index (PSI), of a column or of the
            score of a scorecard, counts as some change and as a large one. It is shown
            beside the tests.
        exposure : array-like of shape (n_samples,) or str, optional
            Of rates, as for `evaluate`.

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

        given = {"model": model, "classes": classes, "level": level, "marks": marks}
        return check(self, X, y, **given, exposure=exposure)

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
        training = training if profile else None
        written = self._written(categories=categories, training=training)
        # Only points have another scale, but all files have one.
        scale = {"form": self.form, "unit": 1.0, "origin": 0.0}
        values = {"format": FORMAT} | scale | written
        return {name: values[name] for name in KEYS if name in values}

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
            given = {name: data[name] for name in data if name != "format"}
            form = schema.one_of(*FORMS)(given.pop("form", "list"), "form")
            task = schema.one_of(*OUTCOMES)  # looked up now: further ones may be there
            fields = MODELS["points"]._read(given, task=task)
            if form != "points":
                for name in ("unit", "origin", "tails"):
                    fields.pop(name, None)
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
            Written atomically; an existing file is replaced.
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
    came = shown(data)
    if isinstance(data, dict):
        came = f"one with {', '.join(map(shown, list(data)[:5])) or 'nothing'}"
        if data.get("format") == FORMAT:
            return
        if "format" in data:
            came = shown(data["format"])
    raise ModelFileError(
        f"Saved rules are an object with the format {FORMAT!r}; got {came}. Give a "
        "file that RuleModel.save of this version wrote, or update defragtrees."
    )


# Changes that people make after the fit; rules and conditions count from 1


def _check_probabilities(rules: RuleModel, method: str) -> None:
    if not (rules.outcome.n_classes and rules._form.has_probabilities):
        raise ValueError(
            f"{method} needs rules for classes, each with its distribution; got "
            f"rules for {rules.task}. Set other predictions instead."
        )


def _decided(rules: Model, action: str, decision: Decision) -> Model:
    """The rules with predictions that a decision makes from their probabilities."""
    chosen = decision.choose([rule.distribution for rule in rules])
    labels = rules.outcome.decode(chosen).tolist()
    made = [
        rule
        if rule.prediction == label or rule.is_override
        else dataclasses.replace(rule, prediction=label, error=math.nan)
        for rule, label in zip(rules, labels, strict=True)
    ]
    given = {"threshold": decision.threshold, "costs": decision.stated_costs}
    edit = Edit(action, decision_phrase(rules.outcome, **given))
    return _with_rules(rules, made, edit, **given)


def _with_conditions(
    rules: Model, k: int, conditions: Sequence[Condition], action: str
) -> Model:
    made = [*rules]
    before = made[k]
    changes = {"conditions": tuple(conditions), "coverage": math.nan, "alone": None}
    made[k] = dataclasses.replace(before, **UNMEASURED | changes)
    text = f"rule {k + 1}: {before.text()} became {_named(rules, made, k).text()}"
    return _edited(rules, made, Edit(action, text, k + 1))


def _named(rules: RuleModel, made: Sequence[Rule], k: int) -> Rule:
    """A changed rule as the model will print it among the others."""
    words = rules._vocabulary
    shown = rules._form.shown([rule.conditions for rule in made], words)
    return made[k].named(words, shown[k])


def _edited(rules: Model, changed: list[Rule], edit: Edit) -> Model:
    """The model with changed rules, without counts that are no longer true."""
    form = rules._form

    def counted(every: list[Rule]) -> Iterator[tuple[Any, Any]]:
        """Conditions of each rule, and of the rules that take rows from it."""
        conditions = [rule.conditions for rule in every]
        for k, own in enumerate(conditions):
            is_rest = k == len(every) - 1 and not form.default_matches_all
            is_after = form.is_exclusive or is_rest
            yield own, frozenset(conditions[:k]) if is_after else None

    before = dict(counted([*rules]))
    made = [
        rule
        if before.get(conditions, "changed") == others
        else dataclasses.replace(rule, **UNMEASURED)
        for rule, (conditions, others) in zip(changed, counted(changed), strict=True)
    ]
    model = _with_rules(rules, made, edit, residuals=None, rate_bands=None)
    as_edited: Model = model._as_edited()
    return as_edited


def _with_rules(rules: Model, made: list[Rule], edit: Edit, **changes: Any) -> Model:
    """The model with other rules, without the scores of the rules before."""
    if rules.training is not None:
        pairs = zip(rules, made, strict=False)
        is_same = len(made) == rules.n_rules and all(
            (a.conditions, a.points) == (b.conditions, b.points) for a, b in pairs
        )
        score = rules.training.score if is_same else None
        changes["training"] = dataclasses.replace(
            rules.training, error=None, agreement=None, score=score
        )
    edits = (*rules.edits, edit)
    return dataclasses.replace(
        rules, rules=tuple(made[:-1]), default=made[-1], edits=edits, **changes
    )


def column_words(rules: RuleModel) -> ColumnWords:
    """The words of conditions: names, categories, scales, whole numbers."""
    conditions = [c for rule in rules.rules for c in rule.conditions]
    integers = {c.feature for c in conditions if c.is_integer}
    if rules.training is not None:
        # Conditions on a column are better evidence than its rows of today.
        known = {c.feature for c in conditions}
        columns = [c for c in rules.training.columns if c.feature not in known]
        integers |= {column.feature for column in columns if column.is_integer}
    return ColumnWords(
        *rules._vocabulary, frozenset(integers), columns=rules.feature_names
    )


def _index(rules: RuleModel, number: Any, with_default: bool = False) -> int:
    """The index of a rule that is given by its number from 1."""
    most = len(rules.rules) + with_default
    try:
        place = operator.index(number)
    except TypeError:
        place = 0
    if isinstance(number, bool) or not 1 <= place <= most:
        last = "" if with_default else "; the last rule, without conditions, stays"
        raise ValueError(
            f"A rule is given by its number from 1 to {most}; got {number!r}. Take "
            f"one that is printed{last}."
        )
    return place - 1


def _condition_index(rules: RuleModel, rule: Rule, condition: int | str) -> int:
    """The index of a condition of a rule, given by its number or its column."""
    features = [c.feature for c in rule.conditions]
    shown_names = [rules._vocabulary.names[j] for j in features]
    for names in ([rules.feature_names[j] for j in features], shown_names):
        if condition in names:
            return names.index(str(condition))
    is_number = isinstance(condition, int) and not isinstance(condition, bool)
    if not is_number or not 1 <= int(condition) <= len(features):
        raise ValueError(
            f"A condition is given by its number from 1 to {len(features)} or its "
            f"column, one of {shown_names}; got {condition!r}. Take one that it "
            "has."
        )
    return int(condition) - 1
