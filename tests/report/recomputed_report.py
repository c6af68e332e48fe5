"""Report: every figure that a report must have, by the tables and rules of the page."""

import math
import statistics
import sys

from tests.report.recompute import accepts, mean, wilson, with_interval

__all__ = ["Report"]

Z = statistics.NormalDist().inv_cdf(0.975)


class Report:
    """What a report must say of rows, by the caption of its tables."""

    def __init__(self, rows):
        self.rows, self.classes = rows, rows.classes

    def tables(self):
        """From the beginning of a caption to lists of cells, each a list of numbers."""
        if not self.classes:
            found = {"Estimated and observed values": self._number_calibration()}
        else:
            found = {
                "The classes and their": self._classes(),
                "Rows by true class": self._pairs(self.rows.truth, self.rows.says),
                "Estimated and observed values": self._calibration(),
            }
            if self.rows.group[0] is not None and len(self.classes) == 2:
                found[f"{self.classes[1]} by group"] = self._groups()
        if self.rows.rules["form"] == "points":
            found["From total to risk"] = self._risks()
        bars = self.bars().items()
        return found | {k: [[None, line] for line in lines] for k, lines in bars}

    def named_lines(self):
        """From a caption to the lines of a table by the name that they begin with."""
        return {
            "Measures for": {
                k: [[] if v is None else [v] for v in vs]
                for k, vs in self.measures().items()
            },
        }

    def _risks(self):
        """Every total that the points allow, and its probability or number."""
        points = [rule["points"][0] for rule in self.rows.every]
        totals = {points[-1]}
        for own in points[:-1]:
            totals |= {total + own for total in totals}
        lines = []
        for total in sorted({round(total, 9) for total in totals}):
            value, shares = self.rows.of_total(total)
            lines.append([[total], [100 * shares[1]] if shares else [value], None])
        return lines

    def fidelity(self):
        """Agreement with the model in per cent, or R² of its answers."""
        rows = self.rows
        if self.classes:
            return rows.share(lambda i: rows.says[i] == rows.model[i])
        center = mean(rows.model)
        pairs = list(zip(rows.model, rows.says, strict=True))
        loss, total = (
            mean([(a - b) ** 2 for a, b in pairs]),
            mean([(a - center) ** 2 for a in rows.model]),
        )
        return 1 - loss / total

    def _cost(self, says):
        first, second = self.classes
        (_, alarm), (miss, _) = self.rows.rules["costs"]
        parts = {(first, second): alarm, (second, first): miss}
        pairs = zip(self.rows.truth, says, strict=True)
        return mean([parts.get(pair, 0) for pair in pairs])

    def _classes(self):
        rows, lines = self.rows, []
        before = [0.0] * len(self.classes)
        counted = rows.every
        if rows.rules["form"] == "points":
            counted = counted[-1:]
        elif rows.rules["form"] == "standalone":
            counted = []
        if any(rule["rates"] is None for rule in counted):
            counted = []
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
                lines.append([None, None, [0], [], [], []])
                continue
            label = self.classes[place]
            told = 100 * mean([rows.estimates[i][place] for i in places])
            if rows.rules["form"] == "standalone":
                told = 100 * rule["distribution"][place]
            seen = rows.share(lambda i, c=label: rows.truth[i] == c, places)
            interval = wilson(seen, len(places))
            lines.append([*self._about(places), [told], [seen], interval])
        return lines

    def _about(self, places):
        """The first cells of a line of a calibration: total, or rule, and rows."""
        if self.rows.rules["form"] == "points":
            return [[self.rows.total(places[0])], [len(places)]]
        return [None, None, [len(places)]]

    def _number_calibration(self):
        rows, lines = self.rows, []
        for _, places in rows.compared():
            if not places:
                lines.append([None, None, [0], [], []])
                continue
            apart = [rows.truth[i] - rows.says[i] for i in places]
            seen = mean([rows.truth[i] for i in places])
            half = Z * statistics.pstdev(apart) / math.sqrt(len(places))
            ends = [seen - half, seen + half] if half else []
            # That of a rule is its prediction.
            told = [[mean([rows.says[i] for i in places])]]
            told = told if rows.rules["form"] == "points" else []
            lines.append([*self._about(places), *told, [seen], ends])
        return lines

    def _groups(self):
        rows, label, lines = self.rows, self.classes[1], []
        for group in sorted(set(rows.group)):
            places = [i for i in range(len(rows)) if rows.group[i] == group]
            tests = [
                lambda i: rows.truth[i] == label,
                lambda i: rows.says[i] == label,
                lambda i: rows.truth[i] != rows.says[i],
            ]
            shares = [rows.share(test, places) for test in tests]
            cells = [with_interval(share, len(places)) for share in shares]
            lines.append([None, [len(places)], *cells])
        return lines

    def measures(self):
        """From the name of a measure to that of the rules and of the model, if any."""
        rows = self.rows
        sides = [rows.says, rows.model] if rows.has_model else [rows.says]
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
            found = {
                "Root mean squared error": [math.sqrt(s) for s in squares],
                "Mean absolute error": absolute,
                "R²": [1 - s / total for s in squares],
            }
            if rows.has_model:
                found["Agreement with the model"] = [self.fidelity()]
            return found
        found = {"Error": [self._error(says) for says in sides]}
        if len(self.classes) == 2:
            for name, function in (
                ("Precision", self._precision),
                ("Recall", self._recall),
            ):
                found[name] = [function(says) for says in sides]
        told = [rows.estimates]
        told += [rows.model_estimate] if rows.has_model else []
        for name, function in (("AUC", self._auc), ("Log loss", self._log_loss)):
            found[name] = [function(some) for some in told]
        found["Brier score"] = [self._brier(some) for some in told]
        if rows.has_model:
            found["Agreement with the model"] = [self.fidelity()]
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
        is_right = [y == self.classes[1] for y in given]
        return mean(is_right) if any(is_right) else None

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
        """The numbers of each sentence of evidence of a rule."""
        rows, places = self.rows, self.rows.members(k)
        if not places:
            return [[]]
        first = [100 * len(places) / len(rows), len(places)]
        if rows.rules["form"] == "points":
            return [first]
        if self.classes:
            first.append(rows.share(lambda i: rows.says[i] == rows.truth[i], places))
            if rows.has_model:
                same = rows.share(lambda i: rows.says[i] == rows.model[i], places)
                first.append(same)
            if rows.rules["form"] == "standalone":
                return [first]
            label = self.classes[self._place(rows.every[k])]
            seen = rows.share(lambda i: rows.truth[i] == label, places)
            return [first, [seen, 95, *wilson(seen, len(places))]]
        first.append(mean([abs(rows.says[i] - rows.truth[i]) for i in places]))
        if rows.has_model:
            first.append(mean([rows.model[i] for i in places]))
            first.append(mean([abs(rows.says[i] - rows.model[i]) for i in places]))
        truth = [rows.truth[i] for i in places]
        half = Z * statistics.pstdev(truth) / math.sqrt(len(places))
        interval = [95, mean(truth) - half, mean(truth) + half] if half else []
        return [first, [mean(truth), *interval]]

    def _place(self, rule):
        """The class whose rate a rule reports."""
        return 1 if len(self.classes) == 2 else self.classes.index(rule["prediction"])

    def reported(self, k):
        """From the head of a column of the rules to the numbers of a rule's file."""
        rule = self.rows.every[k]
        if rule.get("points") is not None:
            n = sum(held[k] for held in self.rows.held)
            is_base = k == len(self.rows.every) - 1
            matches = [] if is_base else [n, 100 * n / len(self.rows)]
            return {"points": rule["points"], "matches": matches}
        if not self.classes:
            found = {"prediction": [rule["prediction"]], "rows": [rule["n_rows"]]}
            return found | {"80% of rows": rule["quantiles"]}
        place = self._place(rule)
        found = {"P": [100 * rule["distribution"][place]]}
        if rule["rates"] is not None:
            rate = 100 * rule["rates"][place]
            low, high = wilson(rate, rule["n_effective"])
            interval = [min(low, *found["P"]), max(high, *found["P"])]
            found |= {"95% interval": interval}
            found |= {"rows": [rule["n_rows"]]}
        return found

    def pictures(self, k):
        """Of each condition of a rule, the rates or means where it holds or not."""
        rows, found = self.rows, []
        for c in rows.every[k]["conditions"]:
            accepted = [accepts(c, row[c["feature"]]) for row in rows.cells]
            parts = [
                [i for i, a in enumerate(accepted) if a == b] for b in (True, False)
            ]
            parts.append(range(len(rows)))
            if self.classes:
                label = self.classes[self._place(rows.every[k])]
                is_it = [100.0 * (y == label) for y in rows.truth]
            else:
                is_it = rows.truth
            found.append([mean([is_it[i] for i in part]) for part in parts if part])
        return found

    def bars(self):
        """From the beginning of a caption to the numbers of its lines, at the top."""
        rows = self.rows
        if rows.rules["costs"]:
            always = [self._cost([label] * len(rows)) for label in self.classes]
            model = [[self._cost(rows.model)]] if rows.has_model else []
            return {"Cost per row": [None, *model, [min(always)]]}
        sides = [rows.says] + ([rows.model] if rows.has_model else [])
        if self.classes:
            right, *model = [100 - self._error(says) for says in sides]
            guess = 100 * max(rows.truth.count(c) for c in self.classes) / len(rows)
            own = [right, *wilson(right, len(rows))]
            return {"Right predictions": [own, *([m] for m in model), [guess]]}
        own, *model = [
            [abs(y - s) for y, s in zip(rows.truth, says, strict=True)]
            for says in sides
        ]
        half = Z * statistics.pstdev(own) / math.sqrt(len(own))
        center = mean(rows.truth)
        guess = mean([abs(y - center) for y in rows.truth])
        first = [mean(own), mean(own) - half, mean(own) + half]
        return {"Mean absolute error": [first, *([mean(m)] for m in model), [guess]]}
