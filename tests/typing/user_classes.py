"""A user's script: a classifier from a forest to its report. mypy reveals its types."""

from pathlib import Path
from typing import reveal_type

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from defragtrees import (
    DefragClassifier,
    Rule,
    RuleModel,
    compare,
    simplify,
    simplify_path,
)
from defragtrees.export import export
from defragtrees.report.page import write_report


def main(folder: Path) -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(min_samples_leaf=5, random_state=0).fit(X, y)
    simple = simplify(forest, X, y, max_rules=4, random_state=0)
    reveal_type(simple)
    reveal_type(simple.rules_)
    reveal_type(simple.summary(X, y))
    reveal_type(simple.evaluate(X, y))
    reveal_type(simple.score(X, y))
    reveal_type(simple.explain(X.iloc[0]))

    estimator = DefragClassifier(forest, max_rules=4, class_weight="balanced")
    reveal_type(estimator)
    reveal_type(estimator.fit(X, y))
    reveal_type(estimator.predict_proba(X))
    reveal_type(estimator.decision_function(X))
    reveal_type(estimator.predict(X))
    reveal_type(estimator.apply(X))
    reveal_type(estimator.classes_)
    reveal_type(estimator.training_)
    reveal_type(estimator.path_)
    reveal_type(estimator.forest_)
    reveal_type(estimator.get_params())
    reveal_type(estimator.set_params(max_rules=3))

    path = simplify_path(forest, X, y, max_rules=5)
    reveal_type(path)
    reveal_type(path.rules)
    reveal_type(path.points[0].error)
    reveal_type(path.plot())
    reveal_type(compare(forest, X, y).rows())

    rules: RuleModel = path.rules
    strongest: Rule = max(rules, key=lambda rule: rule.n_rows)
    reveal_type(strongest)
    reveal_type(write_report(folder / "report.html", simple, X, y))
    reveal_type(export(rules, "sql", dialect="postgres"))
    reveal_type(export(rules, "json", folder / "rules.json"))
