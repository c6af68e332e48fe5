"""How predictions, rates, intervals and measures are worded: one view per kind of y.

`Outcome.view` is the view of an outcome. That of numbers serves a new kind of y until
it replaces some of these texts.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from defragtrees._utils import formatting as render

ENDS = "low", "high"  # of an interval
LEAST_APART = 0.02  # rates that differ by less are as good as the same
LEAST_SPREADS = 0.1  # means that differ by less than this share of a spread are alike


class NumberView:
    """Texts about numbers."""

    prediction_title = "prediction"  # of the column with predictions
    interval_title = "80% of rows"
    agreement_title = "RMSE"
    legend = "Behind a prediction: the range of y in most rows of the rule."

    distance = "mean absolute error"  # to y, or what stands for it in a report
    fidelity = "R²"
    mean_word = "mean"  # what rules estimate
    unnamed = "value"  # y without a name
    # of points: what they are, what they multiply, and the product
    point_words: ClassVar[tuple[str, ...]] = ()

    def __init__(self, outcome: Any) -> None:
        self.outcome = outcome

    # Values

    def prediction(self, value: Any, digits: int | None = None) -> str:
        """A prediction, exactly as it is predicted or, of a number, to some digits."""
        if digits is None:
            return render.grouped(value)
        return render.rounded(value, digits)

    def label(self, value: Any) -> str:
        """A prediction within a sentence."""
        return self.prediction(value)

    def parse(self, text: str) -> Any:
        """What a rule shall predict, from a text such as "131,900"."""
        try:
            return float(text.replace(",", ""))
        except ValueError:
            raise ValueError(f"A number must be predicted; got {text!r}.") from None

    def rate(self, value: float) -> str:
        """A mean or rate of y."""
        return render.rounded(value)

    def gap(self, gap: float) -> str:
        """How far two means or rates are apart."""
        return render.rounded(gap)

    def measure(self, value: float) -> str:
        """A measure of predictions against y."""
        return render.rounded(value)

    def error(self, error: float) -> str:
        """An error with its name."""
        return f"{self.outcome.error_name} {self.agreement(error)}"

    def error_range(self, scores: Mapping[str, float]) -> str:
        """The 95% interval of an error on new rows; empty if it is unknown."""
        ends = [self.outcome.shown_error(scores[f"error_{end}"]) for end in ENDS]
        return "" if math.isnan(ends[0]) else render.number_range(*ends)

    def agreement(self, error: float) -> str:
        """How close a rule is to what it imitates, under `agreement_title`."""
        return render.rounded(self.outcome.shown_error(error))

    def agreement_phrase(self, error: float) -> str:
        """The same within a sentence."""
        return self.error(error)

    # Rules

    @property
    def target(self) -> str:
        """What is predicted, in a sentence."""
        return "a number"

    def outputs(self, rule: Any) -> str:
        """What a rule contributes to a mean."""
        return self.prediction(rule.prediction)

    def contribution(self, rule: Any) -> dict[str, str]:
        """The same as an entry of a table, by its title."""
        return {self.prediction_title: self.prediction(rule.prediction)}

    def cell(self, value: Any) -> Any:
        """A prediction as a cell of a spreadsheet."""
        return float(value)

    def cells(self, rule: Any) -> dict[str, Any]:
        """The statistics of y that a rule reports, as cells of a spreadsheet."""
        low, high = rule.quantiles or (None, None)
        return {"10% quantile": low, "90% quantile": high, "model": rule.model_mean}

    def estimate_title(self, rule: Any = None) -> str:
        """Heading of the estimate of a rule, or of all rules."""
        return self.prediction_title

    def note(self, rules: Iterable[Any]) -> str:
        """What one has to know to read `estimate_columns`."""
        return ""

    def estimate(self, rule: Any) -> str:
        """What the rows of a rule show; empty if they were not counted."""
        if rule.quantiles is None:
            return ""
        return f"80% of {render.count(rule.n_rows)} rows in {self.interval(rule)}"

    def estimate_columns(self, rules: Iterable[Any]) -> dict[str, list[Any]]:
        """The same as columns of a table: from title to cells, one per rule."""
        ends = getattr(rules, "_mean_intervals", ())
        means = ["" if pair is None else render.number_range(*pair) for pair in ends]
        columns: dict[str, list[Any]] = {"95% interval": means} if means else {}
        return columns | {self.interval_title: [self.interval(rule) for rule in rules]}

    def interval(self, rule: Any) -> str:
        """The interval that a rule reports of y; empty if it was not counted."""
        ends = self.outcome.estimate(rule)["interval"]
        return "" if ends is None else render.number_range(*ends)

    def detail_columns(self, rules: Iterable[Any]) -> dict[str, list[str]]:
        """Further columns for `RuleModel.table(details=True)`."""
        return {}

    def shows_errors(self, rules: Iterable[Any]) -> bool:
        """Whether errors of rules say more than their estimates."""
        return True

    def alone(self, rule: Any) -> str:
        """The rate or mean of all rows that match a rule of a list.

        Empty if it is unknown or the same as that of the rows that it predicts.
        """
        if _is_first(rule):
            return ""
        text = render.rounded(rule.alone)
        return "" if text == render.rounded(rule.prediction) else text

    def differs_alone(self, rule: Any) -> bool:
        """Whether the estimate of a rule depends on the rules before it."""
        if _is_first(rule) or not rule.spread or not rule.n_rows > 0:
            return False
        apart = abs(rule.alone - rule.prediction) / rule.spread
        return bool(apart > max(2 / math.sqrt(rule.n_rows), LEAST_SPREADS))

    def basis(self, rule: Any, probabilities: Any, interval: Any = None) -> str:
        """Estimate, interval and rows behind a prediction; empty if not measured."""
        if interval is not None:
            return f"80% interval {render.number_range(*interval)}"
        return self.estimate(rule) if rule.n_rows > 0 else ""

    # Points

    def points(self, points: Sequence[float], unit: float = 1.0) -> str:
        """The points of a rule."""
        return render.signed(points[0])

    def point_cells(self, rule: Any, unit: float) -> dict[str, str]:
        """The points of a rule, as entries of a table: one, or one for each class."""
        titles = [self.label(label) for label in self.outcome.labels or ()]
        if self.outcome.n_points == 1:
            titles = ["points"]
        return dict(zip(titles, map(render.signed, rule.points or ()), strict=True))

    def combination(self, unit: float, origin: float) -> str:
        """How points combine to a prediction."""
        return (
            "Add up the points of the base and of all rules that match: the total is "
            f"{self.total(unit, origin)}."
        )

    def total(self, unit: float, origin: float) -> str:
        """What a sum of points stands for."""
        if unit == 1.0 and origin == 0.0:
            return "the prediction"
        if origin == 0.0:
            return f"multiplied by {render.grouped(unit)} to give the prediction"
        return (
            f"{render.grouped(origin)} for a prediction of 0, and each further point "
            f"adds {render.grouped(unit)}"
        )

    # Measures

    def how_to_read_measures(self, target: str) -> str:
        """Which measures should be large, in a report."""
        large = [m.label for m in self.outcome.measures() if m.is_larger_better]
        return (
            f"Errors are in the units of {target}; smaller is better, except for "
            f"{', '.join(large)} and agreement."
        )

    def measure_titles(
        self,
        there: Any = None,
        *,
        narrow: bool = False,
        also: str | None = None,
        has_costs: bool = True,
        is_card: bool = False,
    ) -> dict[str, str]:
        """From name to heading, the measures that a table shows.

        `there` has the names that were measured, all by default. A narrow table shows
        those with a short heading, and the one named by `also`. Without costs the
        expected cost is the error, so it is left out. The error is shown too, unless it
        is one of the measures.
        """
        titles, measures = {}, self.outcome.measures()
        for measure in measures:
            heading = measure.head if narrow else measure.label
            if measure.name == also:
                heading = heading or measure.label
            is_there = there is None or measure.name in there
            is_the_error = measure.name == "expected_cost" and not has_costs
            is_hidden = measure.is_of_card and not (is_card or measure.name == also)
            if heading and is_there and not (is_the_error or is_hidden):
                titles[measure.name] = heading
        error_name = self.outcome.error_name
        if error_name not in {one.label for one in measures} or not titles:
            titles = {"error": error_name, **titles}
        return titles


class ClassView(NumberView):
    """Texts about classes, their rates and probabilities.

    Of two classes the rate shown is that of the positive one, of more that of the class
    that a rule predicts.
    """

    unnamed = "class"

    prediction_title = "then"
    interval_title = "95% interval"
    agreement_title = "agreement"
    legend = (
        "P is the estimated probability of a class. In brackets: its 95% interval, "
        "and the number of rows of the rule."
    )

    def prediction(self, value: Any, digits: int | None = None) -> str:
        labels, shown = self.outcome.labels, self.outcome.shown
        if shown and value in labels:
            return shown[labels.index(value)] or str(value)
        return str(value)

    def label(self, value: Any) -> str:
        """A class within a sentence, in quotes where it needs them."""
        return render.label(self.prediction(value))

    def parse(self, text: str) -> Any:
        return text

    def rate(self, value: float) -> str:
        return render.share(value)

    def gap(self, gap: float) -> str:
        return f"{100 * gap:.1f} points"

    def measure(self, value: float) -> str:
        # Points stand below each other where all is near one.
        return f"{value:.4f}" if value < 10 else render.rounded(value)

    def error_range(self, scores: Mapping[str, float]) -> str:
        return render.percent_range(*(scores[f"error_{end}"] for end in ENDS))

    def error(self, error: float) -> str:
        return f"{render.share(error)} wrong"

    def agreement(self, error: float) -> str:
        return render.percent(1 - error)

    def agreement_phrase(self, error: float) -> str:
        return f"{self.agreement(error)} agreement with the model"

    @property
    def target(self) -> str:
        labels = ", ".join(map(self.label, self.outcome.labels))
        return f"one of: {render.plain(labels)}"

    def outputs(self, rule: Any) -> str:
        return ", ".join(
            f"{self.label(label)}: {render.number(share)}"
            for label, share in zip(self.outcome.labels, rule.distribution, strict=True)
            if share
        )

    def contribution(self, rule: Any) -> dict[str, str]:
        return {self.estimate_title(): self._rate_and_interval(rule)[0]}

    def cell(self, value: Any) -> Any:
        return render.plain(self.prediction(value))

    def cells(self, rule: Any) -> dict[str, Any]:
        labels = self.outcome.labels
        unknown = [None] * len(labels)
        values: dict[str, Any] = {}
        for label, probability, rate, (low, high), mean in zip(
            labels,
            rule.distribution or unknown,
            unknown if rule.rates is None else rule.rates,
            rule.interval or [(None, None)] * len(labels),
            unknown if rule.model_mean is None else rule.model_mean,
            strict=True,
        ):
            text = self.prediction(label)
            values |= {
                f"probability {text}": probability,
                f"rate {text}": rate,
                f"rate {text} from": low,
                f"rate {text} to": high,
                f"model {text}": mean,
            }
        return values

    def estimate_title(self, rule: Any = None) -> str:
        """The class whose probability is shown, as in "P(ill)"."""
        outcome = self.outcome
        if rule is None and not outcome.is_binary:
            return f"P({self.prediction_title})"
        k = outcome.positive_index if rule is None else outcome.rate_index(rule)
        return f"P({self.label(outcome.labels[k])})"

    def estimate(self, rule: Any) -> str:
        """Estimated probability of a class, what was counted, and the interval."""
        rate, bounds = self._rate_and_interval(rule)
        if not rate or math.isnan(rule.n_rows):
            return ""
        head = f"{self.estimate_title(rule)} = {rate}"
        if bounds:
            return f"{head} (95% interval {bounds}, {render.count(rule.n_rows)} rows)"
        return f"{head} ({render.count(rule.n_rows)} rows, by the model)"

    def estimate_columns(self, rules: Iterable[Any]) -> dict[str, list[str]]:
        rates, bounds = zip(*map(self._rate_and_interval, rules), strict=True)
        return {self.estimate_title(): list(rates), self.interval_title: list(bounds)}

    def detail_columns(self, rules: Iterable[Any]) -> dict[str, list[str]]:
        estimates = map(self.outcome.estimate, rules)
        rates = [
            "" if one["interval"] is None else render.share(one["rate"])
            for one in estimates
        ]
        return {"observed": rates}

    def shows_errors(self, rules: Iterable[Any]) -> bool:
        # If y was imitated they follow from the rates; there is no agreement to report.
        labels = self.outcome.labels
        measured = [rule for rule in rules if rule.rates and rule.error == rule.error]
        return not measured or any(
            abs(1 - rule.error - rule.rates[labels.index(rule.prediction)]) >= 1e-9
            for rule in measured
        )

    def alone(self, rule: Any) -> str:
        known = self.outcome.estimate(rule)
        rate = known["model_mean"] if known["interval"] is None else known["rate"]
        if _is_first(rule) or math.isnan(rate):
            return ""
        text = render.percent(known["alone"])
        return "" if text == render.percent(rate) else text

    def differs_alone(self, rule: Any) -> bool:
        """Whether the rate of all rows that it matches is outside its interval."""
        if _is_first(rule):
            return False
        known = self.outcome.estimate(rule)
        low, high = known["interval"] or (known["model_mean"],) * 2
        apart = max(low - known["alone"], known["alone"] - high)
        rate = known["rate"] if known["interval"] else known["model_mean"]
        return bool(apart > 0 and abs(known["alone"] - rate) > LEAST_APART)

    def basis(self, rule: Any, probabilities: Any, interval: Any = None) -> str:
        if probabilities is None:
            return ""
        k = self.outcome.rate_index(rule)
        interval = self.outcome.estimate(rule)["interval"] or interval
        digits = 0 if interval is None else render.percent_digits(*interval)
        rate = render.percent(probabilities[k], digits)
        text = f"{self.estimate_title(rule)} = {rate}"
        if interval is not None:
            text += f", 95% interval {render.percent_range(*interval)}"
        if rule.n_rows > 0:
            text += f", {render.count(rule.n_rows)} rows"
        return text

    def points(self, points: Sequence[float], unit: float = 1.0) -> str:
        """The points of a rule; of more than two classes those of each."""
        if len(points) == 1:
            return render.signed(points[0])
        return ", ".join(
            f"{self.label(label)} {render.signed(value)}"
            for label, value in zip(self.outcome.labels, points, strict=True)
        )

    def total(self, unit: float, origin: float) -> str:
        if not self.outcome.is_binary:
            text = "the logarithm of a probability, up to a constant for all classes"
            factor = f"multiplied by {render.rounded(unit)} to give "
            return text if unit == 1.0 else factor + text
        whose = self.label(self.outcome.labels[int(unit > 0)])
        if abs(unit) == 1.0 and origin == 0.0:
            return f"the log-odds of {whose}"
        doubling = render.rounded(math.log(2) / abs(unit))
        return (
            f"{render.rounded(origin)} where {whose} has a probability of 50%, and "
            f"{doubling} more points double the odds"
        )

    def _rate_and_interval(self, rule: Any) -> tuple[str, str]:
        """Estimated probability and its interval; empty where unknown."""
        known = self.outcome.estimate(rule)
        if math.isnan(known["estimate"]):
            return "", ""
        if known["interval"] is None:
            return render.percent(known["estimate"]), ""
        digits = render.percent_digits(*known["interval"])
        bounds = render.percent_range(*known["interval"])
        return render.percent(known["estimate"], digits), bounds


def _is_first(rule: Any) -> bool:
    """Whether no rule before it takes any row that it matches, as far as known."""
    return bool(rule.alone is None or rule.coverage <= rule.share * (1 + 1e-9))
