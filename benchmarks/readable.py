"""Is all that predicts in the print? A reader that has only the text answers questions.

Run as `python -m benchmarks.readable`. Lists, standalone rules, points and integer
points are made from a boosted model on bundled sets of two classes and of numbers, and
printed. The reader parses the print, with no other part of this package, and answers
twenty questions about random rows: the prediction, the rules that make it, the smallest
change of one column that turns it, and which of the rows are at the highest risk. The
table has its right answers.
"""

import itertools
import math
import re
import warnings

import numpy as np
import pandas as pd

from benchmarks.data import make_model
from benchmarks.quality.methods import FORMS
from defragtrees import simplify
from defragtrees.datasets import load_table

SETS = ("heart", "credit", "churn", "energy", "homes")
N_ROWS = 5  # four questions each
NUMBER = r"[+-]?[\d,]*\.?\d+(?:e[+-]?\d+)?"
SIGNS = {
    "<": float.__lt__,
    "<=": float.__le__,
    ">": float.__gt__,
    ">=": float.__ge__,
}


def number(text):
    """A printed number, and half a unit of its last digit."""
    plain = text.strip("%").replace(",", "")
    scale = 0.01 if text.endswith("%") else 1.0
    digits = plain.partition(".")[2]
    zeros = len(plain) - len(plain.rstrip("0")) if "." not in plain else 0
    return float(plain) * scale, 0.5 * scale * 10.0 ** (zeros - len(digits))


def split(line):
    """The cells of a line of a table."""
    return re.split(r"\s{2,}", line.strip())


def is_missing(value):
    return isinstance(value, float) and math.isnan(value)


def holds(text, row):
    """Whether a row matches one printed condition."""
    if text in ("otherwise", "base"):
        return True
    plain = re.sub(r",? or (is )?missing$", "", text)
    if found := re.fullmatch(rf"({NUMBER}) (<=?) (.+) (<=?) ({NUMBER})", plain):
        low, first, name, second, high = found.groups()
        parts = [(">=" if first == "<=" else ">", low), (second, high)]
    elif found := re.fullmatch(rf"(.+) ([<>]=?) ({NUMBER})", plain):
        name, *part = found.groups()
        parts = [part]
    else:
        name, _, said = plain.partition(" is ")
        if said in ("missing", "not missing"):
            return is_missing(row[name]) == (said == "missing")
        if is_missing(row[name]):
            return plain != text
        body = re.sub(r"^(not|neither|none of) ", "", said)
        values = re.split(r", | n?or ", body)
        known = {str(row[name])}
        if isinstance(row[name], float):
            known = {f"{row[name]:g}"}
            values = [value.replace(",", "") for value in values]
        return bool(known & set(values)) == (body == said)
    if is_missing(row[name]):
        return plain != text
    value = float(row[name])
    return all(SIGNS[sign](value, number(limit)[0]) for sign, limit in parts)


def bin_condition(name, text):
    """A bin of a characteristic as a condition."""
    plain, missing = re.subn(" or missing$", "", text)
    end = " or missing" if missing else ""
    if found := re.fullmatch(rf"(> )?({NUMBER}) to ({NUMBER})", plain):
        sign = "<" if found[1] else "<="
        return f"{found[2]} {sign} {name} <= {found[3]}{end}"
    if re.match("[<>]", plain):
        return f"{name} {text}"
    return f"{name} is {plain}{end}"


class Reader:
    """What a print says."""

    def __init__(self, text):
        self.form = next(
            form
            for form, words in (
                ("list", "Rules apply in order"),
                ("standalone", "Each rule stands alone"),
                ("points", "Add up the points"),
            )
            if words in text
        )
        *tables, notes = text.split("\n\n")
        notes = " ".join(notes.split())
        self.rules, self.bins, self.classes = [], [], None
        if found := re.search(r"P\((.+?)\)", text):
            self.classes = [found[1]]
        for table in tables:
            header, *lines = table.splitlines()
            if header.lstrip().startswith("#"):
                self._read_rules(header, lines)
            elif header.startswith("characteristic"):
                self._read_bins(header.index("bin"), lines)
            elif header.startswith("total"):
                said = [split(line)[-1] for line in lines]
                self.classes += sorted({*said} - {*self.classes})
        found = re.search(rf"total is ({NUMBER}) where", notes)
        self.cut = number(found[1])[0] if found else 0.0
        found = re.search(rf"multiplied by ({NUMBER})", notes)
        self.unit = number(found[1])[0] if found else 1.0

    def _read_rules(self, header, lines):
        names = split(header)
        for line in lines:
            cells = split(line)
            if line[: header.index("#") + 1].strip():
                found = dict(zip(names, cells, strict=True))
                place, conditions = found.pop(names[0]), [found.pop(names[1])]
                self.rules.append([place, conditions, found])
                continue
            conditions = self.rules[-1][1]
            if cells[0].startswith("and "):
                conditions.append(cells[0][4:])
            else:
                conditions[-1] += f" {cells[0]}"

    def _read_bins(self, place, lines):
        name = ""
        for line in lines:
            name = line[:place].strip() or name
            text, points, *others = split(line[place:])
            rules = others[3] if len(others) == 4 else ""
            self.bins.append((bin_condition(name, text), points, rules))

    def matching(self, row):
        """The numbers of the rules that make the prediction, and what they say."""
        found = []
        for condition, points, rules in self.bins:
            if holds(condition, row):
                found += [(one, {}) for one in rules.split(", ") if one]
                found.append((None, {"points": points}))
        for place, conditions, said in self.rules:
            is_last = conditions[0] in ("otherwise", "base")
            if is_last and self.form != "points" and found:
                continue
            if all(holds(one, row) for one in conditions):
                found.append((place, said))
                if self.form == "list":
                    break
        numbers = sorted({int(one) for one, _ in found if one is not None})
        return numbers, [said for _, said in found if said]

    def risk(self, row):
        """The probability, number or total of a row, and how exact it is."""
        _, said = self.matching(row)
        if self.form == "points":
            both = [number(one["points"]) for one in said]
            value, slack = map(sum, zip(*both, strict=True))
            return value * self.unit, slack * self.unit
        column = f"P({self.classes[0]})" if self.classes else "prediction"
        both = [number(one[column]) for one in said]
        weights = [number(one["rows"])[0] for one in said]
        return np.average(both, axis=0, weights=weights)

    def predict(self, row):
        """A class, or a number and how exact it is."""
        value, slack = self.risk(row)
        if self.classes is None:
            return value, slack
        if self.form == "points":
            return self.classes[0 if value >= self.cut else 1]
        said = self.matching(row)[1]
        if len({one["then"] for one in said}) == 1:
            return said[0]["then"]
        every = [one["then"] for _, _, one in self.rules]
        other = next(one for one in every if one != self.classes[0])
        return self.classes[0] if value >= 0.5 else other

    def values(self, name):
        """Values of a column that its printed conditions tell apart."""
        texts = [one for _, conditions, _ in self.rules for one in conditions]
        texts += [condition for condition, _, _ in self.bins]
        texts = [text for text in texts if name in text]
        limits = {
            number(found)[0]
            for text in texts
            if re.search("[<>]", text)
            for found in re.findall(NUMBER, text.replace(name, " "))
        }
        if limits:
            ends = sorted(limits)
            return [ends[0] - 1, *itertools.chain(*((t, t + 1) for t in ends))]
        body = [re.sub(r"^.* is (not |neither |none of )?", "", text) for text in texts]
        return [value for text in body for value in re.split(r", | n?or ", text)]


def is_same(said, true):
    """Whether an answer of the reader is the model's."""
    if isinstance(said, str):
        return said == str(true)
    value, slack = said
    return abs(value - true) <= slack + 1e-9 * abs(true)


def questions(rules, text, X, seed=0):
    """Ask a reader about random rows; yields the question and whether it is right."""
    reader = Reader(text)
    chosen = X.sample(N_ROWS, random_state=seed)
    rows = chosen.to_dict("records")
    true = rules.predict(chosen)
    matches, applied = rules.covers(chosen), rules.apply(chosen)
    for k, row in enumerate(rows):
        yield "prediction", is_same(reader.predict(row), true[k])
        numbers = (np.flatnonzero(matches[k]) + 1).tolist()
        if rules.form == "list":
            numbers = [applied[k] + 1]
        elif rules.form == "standalone" and len(numbers) > 1:
            numbers = numbers[:-1]  # the default predicts alone
        yield "rules", reader.matching(row)[0] == numbers
        changed = [(row, chosen.iloc[[k]]), *changes(reader, chosen.iloc[[k]], row)]
        turned = [reader.predict(one) for one, _ in changed]
        # Up to the first that turns it; if none does, the model must agree on all.
        ends = [j for j, one in enumerate(turned, 1) if one != turned[0]]
        asked = changed[: ends[0] if ends else None]
        told = [rules.predict(frame)[0] for _, frame in asked]
        yield "change", all(map(is_same, turned, told))
        said = [reader.risk(one) for one in rows]
        best = max(range(N_ROWS), key=lambda j: said[j][0])
        risks = rules.predict_proba(chosen)[:, 1] if reader.classes else true
        highest = np.flatnonzero(np.isclose(risks, risks.max()))
        slack = said[best][1] + max(said[j][1] for j in highest)
        yield "risk", any(said[best][0] - said[j][0] <= slack for j in highest)


def changes(reader, frame, row):
    """The row with another value in one column, as the reader and the model see it."""
    for name in frame.columns:
        for value in reader.values(name):
            is_category = frame[name].dtype == "category"
            if is_category and value not in frame[name].cat.categories:
                continue
            if not is_category:
                value = float(value)
            new = pd.Series([value], index=frame.index).astype(frame[name].dtype)
            yield row | {name: value}, frame.assign(**{name: new})


def make_rules(name, form):
    """Rules of a bundled set, and its columns."""
    X, y = load_table(name)
    words = X.select_dtypes(exclude="number").columns
    X = X.astype(dict.fromkeys(X, float) | dict.fromkeys(words, "category"))
    model = make_model("boosted", pd.api.types.is_numeric_dtype(y), 0).fit(X, y)
    return simplify(model, X, y, random_state=0, **FORMS[form]).rules_, X


def main():
    """Print the share of right answers by set and form."""
    warnings.simplefilter("ignore")
    for name, form in itertools.product(SETS, FORMS):
        rules, X = make_rules(name, form)
        right = [is_right for _, is_right in questions(rules, str(rules), X)]
        print(f"{name:8} {form:15} {np.mean(right):4.0%} of {len(right)}")


if __name__ == "__main__":
    main()
