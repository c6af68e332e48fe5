"""Rule files of every form with every field altered, and what one does with rules."""

import copy
import dataclasses
import json
import math
from itertools import islice, product

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from defragtrees import (
    DefragClassifier,
    DefragCounter,
    DefragRegressor,
    DefragSurvival,
    RuleModel,
    metrics,
)
from defragtrees.baselines import (
    DistilledTreeClassifier,
    DistilledTreeRegressor,
    NodeHarvestClassifier,
    NodeHarvestRegressor,
)
from defragtrees.errors import ModelFileError

VALUES = (
    None,
    True,
    "x",
    "",
    "inf",
    0,
    -1,
    0.5,
    2,
    7,
    1e30,
    -1e99,
    10**30,
    1e300,
    [],
    [0.5],
    [0.5, 0.5],
    [1, 0, 0],
    [None],
    {},
)
FORMATS = (
    "csv",
    "html",
    "json",
    "markdown",
    "pmml",
    "python",
    "sql",
    "text",
)
DECISIONS = {
    ("two", "list"): {"threshold": 0.4},
    ("classes", "list"): {"costs": [[0, 1, 2], [1, 0, 1], [3, 1, 0]]},
}
N_ROWS = 160


def make_table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, N_ROWS).astype(float),
            "size": np.round(rng.normal(size=N_ROWS), 2),
            "city": rng.integers(0, 3, N_ROWS).astype(float),
        }
    )
    X.loc[::9, "size"] = np.nan
    number = X["age"] / 20 + 2 * (X["city"] == 1) + X["size"].fillna(0)
    return X, number.to_numpy(), rng


def _fitted():
    """Rules of every form and kind of y, by name."""
    X, number, _ = make_table()
    classes = np.array(["low", "middle", "high"])[np.digitize(number, [2.5, 4.0])]
    two = np.where(number > 3, "yes", "no")
    settings = {"max_rules": 3, "random_state": 0}
    for name, y, makes in (
        ("two", two, (DefragClassifier, DistilledTreeClassifier)),
        ("classes", classes, (DefragClassifier, DistilledTreeClassifier)),
        ("numbers", number, (DefragRegressor, DistilledTreeRegressor)),
    ):
        kind = DecisionTreeRegressor if name == "numbers" else DecisionTreeClassifier
        tree = kind(min_samples_leaf=8, random_state=0).fit(X, y)
        for form in ("list", "standalone", "points"):
            also = DECISIONS.get((name, form), {})
            made = makes[0](tree, form=form, **settings, **also).fit(X, y)
            yield f"{form} of {name}", made.rules_
        yield f"tree of {name}", makes[1](tree, **settings).fit(X, y).rules_
        harvest = NodeHarvestRegressor if name == "numbers" else NodeHarvestClassifier
        if name != "classes":
            made = harvest(tree, random_state=0).fit(X, y)
            yield f"average of {name}", made.rules_


def make_documents():
    """From name to the document of a rule file; each field is there at least once."""
    made = {}
    for name, rules in _fitted():
        labels = {"feature_labels": {"size": "Size [cm]"}}
        if name == "list of two":
            labels |= {"class_labels": {"no": "No"}, "pos_label": "no"}
        if name == "list of numbers":
            rules = rules.drop(1, 1)
        if name == "points of two":
            rules = dataclasses.replace(rules, tails=((-1.0, 0.5), (1.5, 0.8)))
        made[name] = json.loads(json.dumps(rules.relabel(**labels).to_dict()))
    made |= {name: json.loads(json.dumps(rules)) for name, rules in _of_others()}
    made["list of cities"] = _with_categories(made["list of numbers"])
    return made


def _of_others():
    """Rules of survival, of counts and of a median."""
    X, number, _ = make_table()
    settings = {"max_rules": 2, "random_state": 0}
    tree = DecisionTreeRegressor(max_depth=2).fit(X, 1 + (X["age"] > 50))
    y = np.column_stack([number > 3, number.round() + 5])
    made = DefragSurvival(tree, times=8.0, **settings).fit(X, y)
    yield "list of survival", made.rules_.to_dict(profile=False)
    made = DefragCounter(tree, form="points", **settings).fit(X, abs(y) + 0.5)
    yield "points of counts", made.rules_.to_dict()
    median = HistGradientBoostingRegressor(loss="absolute_error", max_iter=5)
    made = DefragRegressor(median.fit(X, number), **settings).fit(X, number)
    yield "list of medians", made.rules_.to_dict(profile=False)


def _with_categories(document):
    """The same with categories in an order, a date and old interval scores."""
    made = copy.deepcopy(document)
    made["feature_names"] += ["town", "day", "note"]
    made["categories"] += [["a", "b", "c"], None, []]
    made["feature_kinds"] = [None, None, None, "ordered", "date", None]
    made["feature_labels"] += [None, None, None]
    blank = {"lower": None, "upper": None, "missing": False, "integer": False}
    made["rules"][0]["conditions"] = [
        {**blank, "feature": 3, "categories": [0, 1]},
        {**blank, "feature": 4, "categories": None, "lower": 19000.0},
    ]
    made["training"]["columns"] = [
        {"feature": 3, "counts": [1.0, 2.0, 3.0, 0.0], "missing": 1.0}
    ]
    made["residuals"] = None
    made["rules"][0]["totals"] = [3.0, 40.5]
    made["rules"][0]["override"] = True
    made["edits"] = [{"action": "drop", "rule": 3, "text": "dropped rule 3"}]
    return made


def paths_of(value, path=()):
    """Places of a document; of a list those of the first and the last entry."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, own in value.items():
            yield from paths_of(own, (*path, key))
    elif isinstance(value, list):
        for i in sorted({0, len(value) - 1} if value else ()):
            yield from paths_of(value[i], (*path, i))


def alterations(document, first=0, step=1):
    """Every so many pairs of a text that says what was altered, and the document."""
    values = (*VALUES, "delete", "twice")
    pairs = product(paths_of(document), values)
    for path, value in islice(pairs, first, None, step):
        *start, key = path
        made = copy.deepcopy(document)
        holder = made
        for own in start:
            holder = holder[own]
        if value == "delete":
            del holder[key]
        elif value == "twice" and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        elif value == "twice":
            holder["extra"] = 1
        else:
            holder[key] = value
        yield f"{'.'.join(map(str, path))} = {value!r}", made


def judge(document, rows):
    """The error of a document, one sentence, or None after using its rules."""
    try:
        rules = RuleModel.from_dict(copy.deepcopy(document))
    except ModelFileError as error:
        text = str(error)
        assert "\n" not in text, text
        assert len(text) < 1000, text
        assert text.rstrip().endswith("."), text
        return text
    use(rules, rows)
    return None


def use(rules, rows):
    """Whatever one does with rules."""
    X = np.tile(np.array(rows, dtype=object), (1, 2))[:, : len(rules.feature_names)]
    for j, labels in enumerate(rules.categories):
        if labels is not None:
            X[:, j] = [*labels, "other", None][0]
    predicted = rules.predict(X)
    if rules.classes is None:
        assert np.isfinite(predicted.astype(float)).all()
        if rules.residuals is not None and len(rules.residuals.pooled) >= 3:
            ends = rules.predict_interval(X, 0.5)
            assert (ends[:, 0] <= ends[:, 1]).all()
    elif rules._form.has_probabilities:
        chances = rules.predict_proba(X)
        assert np.allclose(chances.sum(axis=1), 1, atol=0.011), chances
        assert ((chances >= 0) & (chances <= 1 + 1e-9)).all()
        ends = rules.rate_interval(X)
        assert (np.isnan(ends) | ((ends >= 0) & (ends <= 1 + 1e-9))).all()
        rules._form.decision_scores(rules.covers(X))
        metrics.calibration(rules, X, predicted)
    str(rules), repr(rules), rules._repr_html_(), rules.export("text")
    rules.table(details=True), rules._view.rows(), rules.to_frame()
    rules.explain(X[:3])
    _tried(rules.check, X, predicted)  # nothing may have been counted
    n_columns = len(rules.outcome.columns)
    rules.refit(X, [[1, 2.0]] * len(X) if n_columns > 1 else predicted)
    for format in FORMATS:
        _tried(rules.export, format)  # it may lack the form, or a name
    saved = json.loads(json.dumps(rules.to_dict(), allow_nan=False))
    assert RuleModel.from_dict(saved).to_dict() == saved
    assert not math.isnan(rules.n_conditions)


def _tried(function, *arguments):
    """Call a function that may raise ValueError, with one sentence."""
    message = ""
    try:
        function(*arguments)
    except ValueError as error:
        message = str(error)
    assert "\n" not in message, message
