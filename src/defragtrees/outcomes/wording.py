"""What is said of rules: answers, rates or quantiles with their rows, errors."""

import math
from typing import ClassVar

from defragtrees._utils import formatting as render
from defragtrees.outcomes.base import Outcome

__all__ = ["ClassWording", "MARK", "NumberWording"]

MARK = "!"  # at a rule that would tell something else if it stood first
LEAST_APART = 0.02  # rates that differ by less are as good as the same
LEAST_SPREADS = 0.1  # and so are means that differ by less than this share of a spread


class ClassWording(Outcome):
    """The texts of classes.

    A rate is the share of a class in y among the rows that a rule answers; a
    probability is what `predict_proba` tells of it. Of two classes the rate of
    `pos_label`, or else of the second, is told, whatever the answer; of more that of
    the answer.
    """

    closeness_name: ClassVar[str] = "as the ensemble"
    interval_name: ClassVar[str] = "95 % interval"

    def answer_text(self, answer):
        """An answer as text."""
        if self.shown and answer in self.labels:
            return self.shown[self.labels.index(answer)] or str(answer)
        return str(answer)

    def label_text(self, answer):
        """A class within a sentence, in quotes where it needs them."""
        return render.label(self.answer_text(answer))

    def outputs_text(self, rule):
        """What a rule brings into a mean, as text."""
        return ", ".join(
            f"{self.label_text(label)}: {render.number(share)}"
            for label, share in zip(self.labels, rule.distribution, strict=True)
            if share
        )

    def points_text(self, points):
        """Points as text; of more than two classes those of each."""
        if len(points) == 1:
            return render.signed(points[0])
        return ", ".join(
            f"{self.label_text(label)} {render.signed(value)}"
            for label, value in zip(self.labels, points, strict=True)
        )

    def sum_text(self, unit, origin):
        """What a sum of points is."""
        if self.n_classes != 2:
            return "the log of a share; the shares of all classes add up to one"
        whose = self.label_text(self.labels[1])
        if unit == 1.0 and origin == 0.0:
            return f"the log-odds of {whose}"
        doubling = render.rounded(math.log(2) / unit)
        return (
            f"{render.rounded(origin)} where {whose} is as likely as not, and "
            f"{doubling} more double the odds"
        )

    def short_text(self, answer):
        """An answer as text where room is scarce."""
        return self.answer_text(answer)

    def error_text(self, error):
        """An error as text."""
        return render.share(error)

    def error_phrase(self, error):
        """An error as text that says what it is."""
        return f"{render.share(error)} wrong"

    def closeness_text(self, error):
        """How often a rule answers as the ensemble does."""
        return render.share(1 - error)

    def evidence_text(self, error):
        """How often a rule answers as the ensemble does, and that it is this."""
        return f"{render.share(1 - error)} {self.closeness_name}"

    def is_error_of_y(self, rules):
        """Whether the errors of rules say nothing that their rates do not."""
        # So it is where y was imitated; then there is no agreement to tell.
        measured = [rule for rule in rules if rule.rates and rule.error == rule.error]
        return bool(measured) and all(
            abs(1 - rule.error - rule.rates[self.labels.index(rule.prediction)]) < 1e-9
            for rule in measured
        )

    def told_place(self, rule):
        """The class whose rate is told: of two always one, else the answered one."""
        if self.n_classes == 2:
            return self.told_number
        return self.labels.index(rule.prediction)

    def told(self, rule):
        """The rate of a class and its interval, and the probability of it."""
        k = self.told_place(rule)

        def entry(values):
            return math.nan if values is None else values[k]

        return {
            "class": self.labels[k],
            "probability": entry(rule.distribution),
            "rate": entry(rule.rates),
            "interval": None if rule.interval is None else list(rule.interval[k]),
            "ensemble_mean": entry(rule.ensemble_mean),
            "alone": entry(rule.alone),
        }

    def differs_alone(self, rule):
        """Whether the rate of all rows in which it holds is outside its interval."""
        told = self.told(rule)
        if _is_first(rule):
            return False
        low, high = told["interval"] or (told["ensemble_mean"],) * 2
        apart = max(low - told["alone"], told["alone"] - high)
        own = told["rate"] if told["interval"] else told["ensemble_mean"]
        return apart > 0 and abs(told["alone"] - own) > LEAST_APART

    def alone_text(self, rule):
        """The rate of all rows in which it holds; marked if it is another one."""
        told = self.told(rule)
        own = told["rate"] if told["interval"] is not None else told["ensemble_mean"]
        if _is_first(rule) or math.isnan(own):
            return ""
        text = render.share(told["alone"])
        return "" if text == render.share(own) else _marked(text, self, rule)

    def told_text(self, rule, with_class=True):
        """The rate of a class, how many rows it is of, and its interval."""
        told = self.told(rule)
        is_other = with_class and told["class"] != rule.prediction
        whose = f" are {self.label_text(told['class'])}" if is_other else ""
        if told["interval"] is not None:
            rate, bounds = told["rate"], render.share_range(*told["interval"])
            counts = f"{_counts(rule, rate)}, {bounds}{_aside(self, rule)}"
            return f"{render.share(rate)}{whose} ({counts})"
        if rule.ensemble_mean is not None:
            n_rows = f"{render.count(rule.n_rows)} rows{_aside(self, rule)}"
            mean = render.share(told["ensemble_mean"])
            return f"{mean}{whose} by the ensemble ({n_rows})"
        if rule.n_rows == 0 and rule.distribution is not None:
            return f"{render.share(told['probability'])}{whose} (no rows)"
        return ""

    def told_columns(self, rules):
        """Rates with the rows that they are of, and their intervals."""
        texts, bounds = [], []
        for rule in rules:
            told = self.told(rule)
            if told["interval"] is None:
                texts.append(self.told_text(rule, with_class=False))
                bounds.append("")
                continue
            rate = told["rate"]
            texts.append(f"{render.share(rate)} ({_counts(rule, rate)})")
            bounds.append(render.share_range(*told["interval"]))
        has_rates = any(bounds)
        title = "rate" if has_rates else "probability"
        if self.n_classes == 2:
            title = f"{title} of {self.label_text(self.told_class)}"
        return {title: texts, self.interval_name: bounds}

    def basis_text(self, rule, probabilities):
        """How likely a class is, and how one knows."""
        if probabilities is None:
            return ""
        k = self.told_place(rule)
        told, text = self.told(rule), render.share(probabilities[k])
        head = f"Probability of {self.label_text(self.labels[k])}: {text}"
        if told["interval"] is not None:
            rate, bounds = told["rate"], render.share_range(*told["interval"])
            rows = f"{_counts(rule, rate)} training rows, {render.share(rate)}"
            return f"{head} ({rows}; 95 % interval {bounds})."
        if rule.ensemble_mean is not None:
            mean = render.share(told["ensemble_mean"])
            n_rows = f"{render.count(rule.n_rows)} training rows"
            return f"{head} (the ensemble says {mean} on average of {n_rows})."
        return f"{head}."


def _is_first(rule):
    """Whether no rule before it answers a row in which it holds, as far as is known."""
    return rule.alone is None or rule.coverage <= rule.answered * (1 + 1e-9)


def _aside(outcome, rule):
    """What it would tell alone, to stand behind what it tells."""
    text = outcome.alone_text(rule)
    return f"; alone {text}" if text else ""


def _marked(text, outcome, rule):
    return f"{text} {MARK}" if outcome.differs_alone(rule) else text


def _counts(rule, rate):
    return f"{render.count(rate * rule.n_rows)} of {render.count(rule.n_rows)}"


class NumberWording(Outcome):
    """The texts of numbers: errors and quantiles in the units of y."""

    error_name: ClassVar[str] = "root mean squared error"
    closeness_name: ClassVar[str] = "root mean squared error"
    interval_name: ClassVar[str] = "10 to 90 %"
    error_meaning: ClassVar[str] = (
        "the root of the mean squared distance to y, in the units of y"
    )

    def answer_text(self, answer):
        """An answer as text."""
        return render.number(answer)

    def outputs_text(self, rule):
        """What a rule brings into a mean, as text."""
        return self.answer_text(rule.prediction)

    def points_text(self, points):
        """Points as text."""
        return render.signed(points[0])

    def sum_text(self, unit, origin):
        """What a sum of points is."""
        if unit == 1.0 and origin == 0.0:
            return "the answer"
        if origin == 0.0:
            return f"to be multiplied by {render.number(unit)}"
        return (
            f"{render.number(origin)} where the answer is 0, and one more adds "
            f"{render.number(unit)}"
        )

    def short_text(self, answer):
        """An answer as text where room is scarce."""
        return render.rounded(answer)

    def shown_error(self, error):
        """A mean squared error in the units of y."""
        return math.sqrt(error)

    def shown_deviation(self, error, deviation):
        """How far a shown error may be off, from how far the error may be."""
        return deviation / (2 * math.sqrt(error)) if error else 0.0

    def error_text(self, error):
        """A mean squared error as text, in the units of y."""
        return _short(self.shown_error(error), 3)

    def error_phrase(self, error):
        """An error as text that says what it is."""
        return f"{self.error_name} {self.error_text(error)}"

    def told(self, rule):
        """The quantiles of the rows that a rule answers, and the ensemble's mean."""
        mean = math.nan if rule.ensemble_mean is None else rule.ensemble_mean
        quantiles = None if rule.quantiles is None else list(rule.quantiles)
        alone = math.nan if rule.alone is None else rule.alone
        return {"interval": quantiles, "ensemble_mean": mean, "alone": alone}

    def differs_alone(self, rule):
        """Whether the mean of all rows in which it holds is another one."""
        if _is_first(rule) or not rule.spread or not rule.n_rows > 0:
            return False
        apart = abs(rule.alone - rule.prediction) / rule.spread
        return apart > max(2 / math.sqrt(rule.n_rows), LEAST_SPREADS)

    def alone_text(self, rule):
        """The mean of all rows in which it holds; marked if it is another one."""
        if _is_first(rule):
            return ""
        text = _short(rule.alone)
        return "" if text == _short(rule.prediction) else _marked(text, self, rule)

    def told_text(self, rule, with_class=True):
        """Between which numbers four rows of five are, and of how many rows."""
        if rule.quantiles is None:
            return ""
        bounds, n_rows = self._bounds_text(rule), render.count(rule.n_rows)
        return f"{bounds} for 80 % of {n_rows} rows{_aside(self, rule)}"

    def told_columns(self, rules):
        """Between which numbers four rows of five are."""
        return {self.interval_name: [self._bounds_text(rule) for rule in rules]}

    def basis_text(self, rule, probabilities):
        """How far rows with an answer are apart, as a sentence."""
        if rule.quantiles is None or math.isnan(rule.n_rows):
            return ""
        bounds, n_rows = self._bounds_text(rule), render.count(rule.n_rows)
        return f"80 % of its {n_rows} training rows have {bounds}."

    def _bounds_text(self, rule):
        if rule.quantiles is None:
            return ""
        return " to ".join(map(_short, rule.quantiles))


def _short(value, digits=4):
    """A measured number to a few significant digits, large ones written out."""
    return render.number(float(render.rounded(value, digits)))
