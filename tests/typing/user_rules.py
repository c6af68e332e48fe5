"""A user's script: rules made by hand, asked and saved. mypy reveals its types."""

from pathlib import Path
from typing import reveal_type

import defragtrees
from defragtrees import Condition, Rule, RuleList, RuleModel
from defragtrees.errors import ModelFileError
from defragtrees.export import export
from defragtrees.export.tables import schema


def main(folder: Path) -> None:
    warm = Condition(0, lower=20.0)
    reveal_type(warm)
    reveal_type(warm.text(["degrees"]))
    reveal_type(warm.covers([19.0, 21.0]))
    reveal_type(warm.to_dict())
    rule = Rule((warm,), "yes", (0.1, 0.9))
    reveal_type(rule)
    reveal_type(rule.text())
    reveal_type(rule.n_conditions)
    reveal_type(rule.interval)
    rest = Rule((), "no", (0.8, 0.2))
    rules = RuleList((rule,), rest, ("degrees",), "classification", ("no", "yes"))
    reveal_type(rules)
    reveal_type(list(rules))
    reveal_type(len(rules))
    reveal_type(rules.features)
    reveal_type(rules._view.rows())
    reveal_type(rules.predict([[21.0]]))
    reveal_type(rules.predict_proba([[21.0]]))
    reveal_type(rules.apply([[21.0]]))
    reveal_type(rules.covers([[21.0]]))
    reveal_type(rules.explain({"degrees": 21}))
    reveal_type(rules.relabel({"degrees": "temperature [°C]"}))
    rules.save(folder / "rules.json")
    try:
        reveal_type(defragtrees.load(folder / "rules.json"))
    except ModelFileError as error:
        reveal_type(error)
    reveal_type(RuleModel.from_dict(rules.to_dict()))
    reveal_type(export(rules, "text"))
    reveal_type(schema())
