"""Predictions and measures of rules, recomputed from a rule file and a table.

It uses neither the library nor numpy: rules are applied as their file describes them,
and shares and intervals are computed row by row. `recomputed_report`
has all figures of a page, and `compare_figures` reads the page.
"""

import math
import statistics

__all__ = ["Rows", "accepts", "mean", "wilson", "with_interval"]


class Rows:
    """Rows with the predictions of the rules."""

    def __init__(self, rules, table):
        self.rules = rules
        self.every = [*rules["rules"], rules["default"]]
        self.classes = rules["classes"]
        self.cells = [self._read(row) for row in table]
        self.truth = [self._answer(row["truth"]) for row in table]
        self.has_model = "model" in table[0]
        self.group = [row.get("group") for row in table]
        if self.has_model:
            self.model = [self._answer(row["model"]) for row in table]
        if self.has_model and self.classes:
            self.model_estimate = [
                [float(row[f"p:{label}"]) for label in self.classes] for row in table
            ]
        self.held = [
            [self._holds(rule, row) for rule in self.every] for row in self.cells
        ]
        self.says, self.estimates = zip(*map(self._decide, self.held), strict=True)
        self.deciding = [self._strongest(held) for held in self.held]

    def __len__(self):
        return len(self.cells)

    def _read(self, row):
        names = zip(self.rules["feature_names"], self.rules["categories"], strict=True)
        cells = []
        for name, labels in names:
            text = row[name]
            if text == "":
                cells.append(None)
            elif labels is None:
                cells.append(float(text))
            else:
                known = [str(label) for label in labels]
                cells.append(known.index(text) if text in known else len(known))
        return cells

    def _answer(self, text):
        if not self.classes:
            return float(text)
        return next(label for label in self.classes if str(label) == text)

    def _holds(self, rule, row):
        return all(accepts(c, row[c["feature"]]) for c in rule["conditions"])

    def _decide(self, held):
        """The answer, and for classes the probability of each."""
        form = self.rules["form"]
        rules = [rule for rule, holds in zip(self.every, held, strict=True) if holds]
        if form in ("list", "tree"):
            return rules[0]["prediction"], rules[0]["distribution"]
        if form == "points":
            return self.of_total(sum(rule["points"][0] for rule in rules))
        if form == "standalone":
            rules = rules[:-1] or rules
        weights = [rule["weight"] or 1.0 for rule in rules]
        outputs = [
            rule["distribution"] if self.classes else [rule["prediction"]]
            for rule in rules
        ]
        means = [mean(column, weights) for column in zip(*outputs, strict=True)]
        if not self.classes:
            return means[0], None
        return self.classes[means.index(max(means))], means

    def of_total(self, total):
        """The answer to a total of points, and for classes the probability of each."""
        value = (total - self.rules["origin"]) * self.rules["unit"]
        if not self.classes:
            return value, None
        second = 1 / (1 + math.exp(-value))
        return self.classes[second > 0.5], [1 - second, second]

    def _strongest(self, held):
        if self.rules["form"] in ("list", "tree"):
            return held.index(True)
        if self.rules["form"] == "points":
            return None  # none predicts alone
        says = [rule["weight"] for rule in self.every]
        sizes = [say if holds else -1 for say, holds in zip(says, held, strict=True)]
        return sizes.index(max(sizes))

    def total(self, i):
        """The points of a row."""
        pairs = zip(self.every, self.held[i], strict=True)
        return round(sum(rule["points"][0] for rule, holds in pairs if holds), 9)

    def compared(self):
        """The rule, and the places of the rows, of each line of a calibration."""
        places = range(len(self))
        if self.rules["form"] != "points":
            is_alone = self.rules["form"] == "standalone"
            return [
                (
                    rule,
                    self.members(k)
                    if is_alone
                    else [i for i in places if self.deciding[i] == k],
                )
                for k, rule in enumerate(self.every)
            ]
        totals = sorted({self.total(i) for i in places})
        assert len(totals) <= 10, "more totals are in bands"
        return [
            (self.every[-1], [i for i in places if self.total(i) == total])
            for total in totals
        ]

    def members(self, k):
        """Places of the rows of a rule."""
        if self.rules["form"] in ("list", "tree"):
            return [i for i in range(len(self)) if self.deciding[i] == k]
        is_last = k == len(self.every) - 1
        if self.rules["form"] == "standalone" and is_last:
            return [i for i in range(len(self)) if not any(self.held[i][:-1])]
        return [i for i in range(len(self)) if self.held[i][k]]

    def share(self, test, places=None):
        """Percentage of rows, or of some, of which something is true."""
        places = range(len(self)) if places is None else places
        return 100 * sum(test(i) for i in places) / len(places)


def accepts(condition, value):
    if value is None:
        return condition["missing"]
    if condition["categories"] is not None:
        return value in condition["categories"]
    lower, upper = condition["lower"], condition["upper"]
    return (lower is None or value > lower) and (upper is None or value <= upper)


def mean(values, weights=None):
    weights = weights or [1.0] * len(values)
    pairs = zip(values, weights, strict=True)
    return sum(v * w for v, w in pairs) / sum(weights)


def wilson(percentage, n):
    """The 95% interval of a percentage of n rows."""
    z, p = statistics.NormalDist().inv_cdf(0.975), percentage / 100
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return [100 * max(0.0, middle - reach), 100 * min(1.0, middle + reach)]


def with_interval(percentage, n):
    """A percentage and its interval."""
    return [percentage, *wilson(percentage, n)]
