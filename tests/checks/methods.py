"""What every method must hold, run on each estimator of `ESTIMATORS`."""

import functools
import operator
import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone

from defragtrees.rules import RuleModel

FITTED = {}


def fit(estimator, X, y, **settings):
    """A fitted clone with a fixed seed."""
    return clone(estimator).set_params(random_state=0, **settings).fit(X, y)


def fitted(estimator, X, y):
    """The clone that all checks of an estimator look at, and none alters."""
    key = repr(estimator), X.tobytes()
    if key not in FITTED:
        FITTED[key] = fit(estimator, X, y)
    return FITTED[key]


def name_of(estimator):
    return f"{type(estimator).__name__}{getattr(estimator, 'form', '')}"


def check_same_seed_same_rules(estimator, X, y):
    assert fit(estimator, X, y).rules_ == fitted(estimator, X, y).rules_


def check_jobs_have_no_say(estimator, X, y):
    assert fit(estimator, X, y, n_jobs=2).rules_ == fitted(estimator, X, y).rules_


def check_row_order_has_no_say(estimator, forest, X, y):
    """With a fitted model, rows in another order give the same rules."""
    order = np.random.default_rng(1).permutation(len(X))
    model = clone(estimator).set_params(random_state=0)
    model.model = forest
    before = model.fit(X, y).rules_
    assert model.fit(X[order], y[order]).rules_ == before


def check_refit_forgets(estimator, X, y):
    model = fit(estimator, X[::2], y[::2])
    assert model.fit(X, y).rules_ == fitted(estimator, X, y).rules_


def check_round_trips(estimator, X, y):
    model = fitted(estimator, X, y)
    assert RuleModel.from_dict(model.rules_.to_dict()) == model.rules_
    again = pickle.loads(pickle.dumps(model))
    assert again.rules_ == model.rules_
    assert (again.predict(X) == model.predict(X)).all()


def check_text_is_the_model(estimator, X, y):
    """The exact text, applied by hand in plain Python, gives `predict`."""
    model = fitted(estimator, X, y)
    text, names = model.rules_.export("text"), model.rules_.feature_names
    by_hand = answer_by_hand
    together = {"average": average_by_hand, "points": sum_by_hand}
    if model.rules_.form == "standalone" and not model.rules_.classes:
        together["standalone"] = mean_by_hand
    if model.rules_.form in together:
        labels = [str(label) for label in model.rules_.classes or ()]
        by_hand = functools.partial(together[model.rules_.form], labels=labels)
    expected = [by_hand(text, names, row) for row in X]
    if model._task == "classification":
        assert [str(label) for label in model.predict(X)] == expected
    else:
        found = model.predict(X)
        assert found == pytest.approx([float(text) for text in expected], rel=1e-12)


def answer_by_hand(text, names, row):
    """Parse the printed rules and answer one row without our code."""
    for line in rule_lines(text):
        answer = said_by_hand(line, names, row)
        if answer is not None:
            return answer.partition(": ")[0]  # what follows is how one knows
    raise AssertionError("no rule answered")


def average_by_hand(text, names, row, labels):
    """The same where all rules that hold are averaged by their weights."""
    total, totals = 0.0, dict.fromkeys(labels, 0.0)
    for line in rule_lines(text):
        said = said_by_hand(line, names, row)
        if said is None:
            continue
        said, weight = said.rsplit(", weight ", 1)
        total += float(weight)
        for part in said.split(", "):
            label, _, value = part.rpartition(": ")
            totals[label] = totals.get(label, 0.0) + float(weight) * float(value)
    if list(totals) == [""]:
        return totals[""] / total
    return max(totals, key=lambda label: totals[label])


def mean_by_hand(text, names, row, labels):
    """The same for numbers where all rules that hold count by their rows."""
    *rules, otherwise = rule_lines(text)
    said = [said_by_hand(line, names, row) for line in rules]
    said = [one for one in said if one is not None] or [
        said_by_hand(otherwise, names, row)
    ]
    values = [float(one.partition(": ")[0]) for one in said]
    n_rows = [float(one.split(" of ")[-1].split()[0].replace(",", "")) for one in said]
    products = (value * n for value, n in zip(values, n_rows, strict=True))
    return sum(products) / sum(n_rows)


def sum_by_hand(text, names, row, labels):
    """The same where the points of all rules that hold add up."""
    totals = dict.fromkeys(labels or [""], 0.0)
    for line in rule_lines(text):
        said = said_by_hand(line, names, row)
        if said is None:
            continue
        for part in said.partition(": ")[0].split(", "):
            label, _, value = part.rpartition(" ")
            totals[label] += float(value)
    return max(totals, key=lambda label: totals[label]) if labels else totals[""]


def rule_lines(text):
    """The lines with rules; one below them may say how they go together."""
    return [line for line in text.splitlines() if re.match(r"\d+\. ", line)]


def said_by_hand(line, names, row):
    """What a printed line says of a row; None if its conditions do not hold."""
    line = re.sub(r"  \[.*\]$", "", line)
    body = re.sub(r"^\d+\. ", "", line)
    for always in ("otherwise ", "always ", "base "):
        if body.startswith(always):
            return body.removeprefix(always)
    conditions, answer = body.removeprefix("if ").rsplit(" then ", 1)
    parts = conditions.split(" and ")
    return answer if all(holds_by_hand(part, names, row) for part in parts) else None


SIGNS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.eq,
}


def holds_by_hand(part, names, row):
    """Whether one printed condition holds for a row of numbers."""
    part = part.strip("()")
    accepts_missing = part.endswith(" or missing")
    words = part.removesuffix(" or missing").split(" ")
    if words[1:] == ["is", "missing"]:
        return np.isnan(row[names.index(words[0])])
    if words[1:] == ["is", "not", "missing"]:
        return not np.isnan(row[names.index(words[0])])
    if len(words) == 5:
        low, low_sign, name, sign, bound = words
        x = row[names.index(name)]
        inside = SIGNS[low_sign](float(low), x) and SIGNS[sign](x, float(bound))
    else:
        name, sign, bound = words
        x = row[names.index(name)]
        inside = SIGNS[sign](x, float(bound))
    return accepts_missing if np.isnan(x) else inside


def check_evaluation_is_complete(estimator, X, y):
    scores = fitted(estimator, X, y).evaluate(X, y)
    assert {"error", "fidelity", "model_error", "n_rules", "coverage"} <= set(scores)
    assert 0 <= scores["coverage"] <= 1
    assert scores["fidelity"] <= 1
