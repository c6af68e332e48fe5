"""Report: every figure that a report must have, by the tables and rules of the page."""

import math
import statistics
import sys

from tests.report.recompute import accepts, mean, wilson, with_interval

__all__ = ["Report"]


class Report:
    """What a report must say of rows, by the caption of its tables."""

    def __init__(self, rows):
        self.rows, self.classes = rows, rows.classes

    def tables(self):
        """From the beginning of a caption to lists of cells, each a list of numbers."""
        if not self.classes:
            return {"Estimated and observed values": self._number_calibration()}
        found = {
            "The classes and their": self._classes(),
            "Rows by true class": self._pairs(self.rows.truth, self.rows.says),
            "Estimated and observed values": self._calibration(),
        }
        if self.rows.group[0] is not None and len(self.classes) == 2:
            found[f"{self.classes[1]} by group"] = self._groups()
        return found

    def named_lines(self):
        """From a caption to the lines of a table by the name that they begin with."""
        measures = self.measures() | {"Agreement with the model": [self.fidelity()]}
        found = {
            "Measures for": {k: [[v] for v in vs] for k, vs in measures.items()},
            "Features of the rules": self._features(),
        }
        if self.rows.rules["costs"]:
            found["Mean cost per row"] = self._costs()
        return found

    def fidelity(self):
        """Agreement with the ensemble in per cent, or R² of its answers."""
        rows = self.rows
        if self.classes:
            return rows.share(lambda i: rows.says[i] == rows.ensemble[i])
        center = mean(rows.ensemble)
        pairs = list(zip(rows.ensemble, rows.says, strict=True))
        loss, total = (
            mean([(a - b) ** 2 for a, b in pairs]),
            mean([(a - center) ** 2 for a in rows.ensemble]),
        )
        return 1 - loss / total

    def _features(self):
        """Of each feature, how many rules ask about it, and its share of asking."""
        asked, sides = {}, {}
        for rule in self.rows.rules["rules"]:
            for c in rule["conditions"]:
                name = self.rows.rules["feature_names"][c["feature"]]
                n = (
                    1
                    if c["categories"]
                    else (c["lower"] is not None) + (c["upper"] is not None)
                )
                asked[name] = asked.get(name, 0) + 1
                sides[name] = sides.get(name, 0) + max(1, n)
        total = sum(sides.values())
        return {name: [[asked[name]], [100 * sides[name] / total]] for name in asked}

    def _costs(self):
        """Mean costs of the answers, and of the best border between the classes."""
        rows, (first, second) = self.rows, self.classes
        alarm, miss = rows.rules["costs"][0][1], rows.rules["costs"][1][0]

        def cost(says):
            parts = {(first, second): alarm, (second, first): miss}
            return mean(
                [parts.get(pair, 0) for pair in zip(rows.truth, says, strict=True)]
            )

        def best(told):
            shares = [share[1] for share in told]
            borders = [*sorted(set(shares)), 2.0]
            costs = [cost([(first, second)[s >= b] for s in shares]) for b in borders]
            place = costs.index(min(costs))
            return [[100 * min(1.0, borders[place])], [costs[place]]]

        n = len(rows)
        return {
            "Rules": [
                [100 * alarm / (alarm + miss)],
                [cost(rows.says)],
            ],
            "Rules, best threshold": best(rows.estimates),
            "Model, best threshold": best(rows.ensemble_estimate),
            f"Always {second}": [None, [cost([second] * n)]],
            f"Always {first}": [None, [cost([first] * n)]],
        }

    def _classes(self):
        rows, lines = self.rows, []
        before = [0.0] * len(self.classes)
        counted = rows.every
        if rows.rules["decision"] == "points":
            counted = counted[-1:]
        elif rows.rules["decision"] == "standalone":
            counted = []
        counted = [rule for rule in counted if rule["rates"] is not None]
        total = sum(rule["n_rows"] for rule in counted)
        for k, label in enumerate(self.classes):
            n = sum(y == label for y in rows.truth)
            share = 100 * n / len(rows)
            line = [None, [n], [share], wilson(share, len(rows))]
            if total:
                before[k] = sum(r["n_rows"] * r["rates"][k] for r in counted) / total
                line.append([100 * before[k]])
            lines.append(line)
        return lines

    def _pairs(self, down, across):
        seen = [c for c in self.classes if c in down or c in across]
        both = list(zip(down, across, strict=True))
        return [[None, *([both.count((one, two))] for two in seen)] for one in seen]

    def _calibration(self):
        rows, lines = self.rows, []
        for rule, places in rows.compared():
            place = 1
            if len(self.classes) != 2:
                place = self.classes.index(rule["prediction"])
            if not places:
                lines.append([[0], [], [], []])
                continue
            label = self.classes[place]
            told = 100 * mean([rows.estimates[i][place] for i in places])
            seen = rows.share(lambda i, c=label: rows.truth[i] == c, places)
            interval = wilson(seen, len(places))
            lines.append([[len(places)], [told], [seen], interval])
        return lines

    def _number_calibration(self):
        rows, lines = self.rows, []
        z = statistics.NormalDist().inv_cdf(0.975)
        for _, places in rows.compared():
            if not places:
                lines.append([[0], [], [], []])
                continue
            apart = [rows.truth[i] - rows.says[i] for i in places]
            seen = mean([rows.truth[i] for i in places])
            half = z * statistics.pstdev(apart) / math.sqrt(len(places))
            told = mean([rows.says[i] for i in places])
            ends = [seen - half, seen + half]
            lines.append([[len(places)], [told], [seen], ends])
        return lines

    def _groups(self):
        rows, label, lines = self.rows, self.classes[1], []
        for group in sorted(set(rows.group)):
            places = [i for i in range(len(rows)) if rows.group[i] == group]
            tests = [
                lambda i: any(rows.held[i][:-1]),
                lambda i: rows.truth[i] == label,
                lambda i: rows.says[i] == label,
                lambda i: rows.truth[i] != rows.says[i],
            ]
            shares = [rows.share(test, places) for test in tests]
            cells = [with_interval(share, len(places)) for share in shares]
            lines.append([None, [len(places)], *cells])
        return lines

    def measures(self):
        """From the name of a measure to that of the rules and of the ensemble."""
        rows = self.rows
        sides = [rows.says, rows.ensemble]
        if not self.classes:
            center = mean(rows.truth)
            total = mean([(y - center) ** 2 for y in rows.truth])
            squares = [
                mean([(y - s) ** 2 for y, s in zip(rows.truth, says, strict=True)])
                for says in sides
            ]
            absolute = [
                mean([abs(y - s) for y, s in zip(rows.truth, says, strict=True)])
                for says in sides
            ]
            return {
                "Root mean squared error": [math.sqrt(s) for s in squares],
                "Mean absolute error": absolute,
                "R²": [1 - s / total for s in squares],
            }
        found = {"Error": [self._error(says) for says in sides]}
        if len(self.classes) == 2:
            for name, function in (
                ("Precision", self._precision),
                ("Recall", self._recall),
            ):
                found[name] = [function(says) for says in sides]
        told = [rows.estimates, rows.ensemble_estimate]
        for name, function in (("AUC", self._auc), ("Log loss", self._log_loss)):
            found[name] = [function(some) for some in told]
        found["Brier score"] = [self._brier(some) for some in told]
        return found

    def _error(self, says):
        pairs = zip(self.rows.truth, says, strict=True)
        return 100 * sum(y != s for y, s in pairs) / len(self.rows)

    def _precision(self, says):
        given = [
            y
            for y, s in zip(self.rows.truth, says, strict=True)
            if s == self.classes[1]
        ]
        return mean([y == self.classes[1] for y in given]) if given else 0.0

    def _recall(self, says):
        own = [
            s
            for y, s in zip(self.rows.truth, says, strict=True)
            if y == self.classes[1]
        ]
        return mean([s == self.classes[1] for s in own])

    def _auc(self, told):
        places = [1] if len(self.classes) == 2 else range(len(self.classes))
        return mean([self._auc_of(told, place) for place in places])

    def _auc_of(self, told, place):
        """Share of pairs of rows in which the one of the class comes first."""
        own, others = [], []
        for y, shares in zip(self.rows.truth, told, strict=True):
            (own if y == self.classes[place] else others).append(shares[place])
        wins = sum((a > b) + 0.5 * (a == b) for a in own for b in others)
        return wins / (len(own) * len(others))

    def _log_loss(self, told):
        least = sys.float_info.epsilon
        logs = []
        for y, shares in zip(self.rows.truth, told, strict=True):
            share = shares[self.classes.index(y)]
            logs.append(-math.log(min(max(share, least), 1 - least)))
        return mean(logs)

    def _brier(self, told):
        squares = []
        for y, shares in zip(self.rows.truth, told, strict=True):
            parts = [
                (p - (y == c)) ** 2 for p, c in zip(shares, self.classes, strict=True)
            ]
            squares.append(parts[1] if len(parts) == 2 else sum(parts))
        return mean(squares)

    def evidence(self, k):
        """The numbers beside the card of a rule."""
        rows, places = self.rows, self.rows.members(k)
        if not places:
            return []
        first = [100 * len(places) / len(rows), len(places)]
        if rows.rules["decision"] == "points":
            return first
        if self.classes:
            right = rows.share(lambda i: rows.says[i] == rows.truth[i], places)
            agrees = rows.share(lambda i: rows.says[i] == rows.ensemble[i], places)
            return [*first, right, agrees]
        miss = mean([abs(rows.says[i] - rows.truth[i]) for i in places])
        center = mean([rows.ensemble[i] for i in places])
        away = mean([abs(rows.says[i] - rows.ensemble[i]) for i in places])
        return [*first, miss, center, away]

    def estimate(self, k):
        """The numbers in the row of a rule, as far as its file has them."""
        rows, rule = self.rows, self.rows.every[k]
        if rows.rules["decision"] == "points":
            is_base = k == len(rows.every) - 1
            return [] if is_base else [100 * len(rows.members(k)) / len(rows)]
        if not self.classes:
            return [*rule["quantiles"], rule["n_rows"]]
        place = 1
        if len(self.classes) != 2:
            place = self.classes.index(rule["prediction"])
        ends = wilson(100 * rule["rates"][place], rule["n_effective"])
        return [100 * rule["distribution"][place], *ends, rule["n_rows"]]

    def verdict(self):
        """The numbers in the sentence on how well the rules do."""
        rows, measured = self.rows, self.measures()
        n_rows = len(rows)
        if not self.classes:
            apart = [abs(y - s) for y, s in zip(rows.truth, rows.says, strict=True)]
            half = statistics.NormalDist().inv_cdf(0.975) * statistics.pstdev(apart)
            own, model = measured["Mean absolute error"]
            ends = [own - half / math.sqrt(n_rows), own + half / math.sqrt(n_rows)]
            center = mean(rows.truth)
            guess = mean([abs(y - center) for y in rows.truth])
            middle = statistics.median(apart)
            return [own, 95, *ends, n_rows, middle, model, guess]
        rules, model = measured["Error"]
        guess = 100 - 100 * max(map(rows.truth.count, self.classes)) / n_rows
        if rows.rules["costs"]:  # of one each
            return [rules / 100, n_rows, model / 100, guess / 100]
        interval = wilson(100 - rules, n_rows)
        return [100 - rules, 95, *interval, n_rows, 100 - model, 100 - guess]

    def effects(self, k):
        """Of each condition the rate or mean of rows that match, of others, of all."""
        rows, rule = self.rows, self.rows.every[k]
        values = rows.truth
        if self.classes:
            shown = self.classes[1]
            if len(self.classes) > 2:
                shown = rule["prediction"]
            values = [100 * (one == shown) for one in values]
        lines = []
        for c in rule["conditions"]:
            held = [accepts(c, row[c["feature"]]) for row in rows.cells]
            parts = [
                [value for value, holds in zip(values, held, strict=True) if holds],
                [value for value, holds in zip(values, held, strict=True) if not holds],
                values,
            ]
            lines.append([mean(part) for part in parts if part])
        return lines
