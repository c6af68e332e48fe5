"""A user's script: numbers, intervals and measures. mypy reveals its types."""

from typing import reveal_type

import numpy as np

from defragtrees import metrics, plots
from defragtrees.baselines import DistilledTreeRegressor
from defragtrees.datasets import load_sample
from defragtrees.ensembles.readers import read_forest
from defragtrees.estimators.defrag import DefragRegressor


def main(model_file: str) -> None:
    energy = load_sample("energy")
    reveal_type(energy)
    reveal_type(energy.X)
    reveal_type(energy.y)
    forest = read_forest(model_file)
    reveal_type(forest)
    reveal_type(forest.predict(energy.X))
    reveal_type(forest.splits())

    simple = DefragRegressor(forest, max_rules=6, form="points", random_state=0)
    simple.fit(energy.X, energy.y).calibrate(energy.X, energy.y)
    answers = simple.predict(energy.X)
    reveal_type(answers)
    reveal_type(simple.predict_interval(energy.X, coverage=0.8))
    reveal_type(float(np.abs(answers - energy.y).mean()))
    reveal_type(DistilledTreeRegressor(forest).fit(energy.X, energy.y).rules_)

    rules = simple.rules_
    reveal_type(metrics.expected_cost(["no", "yes"], ["no", "no"]))
    reveal_type(metrics.calibration(rules, energy.X, energy.y))
    reveal_type(metrics.rule_stability(simple, energy.X, energy.y).returns)
    reveal_type(metrics.score_table(rules, energy.X))

    reveal_type(plots.risks(rules))
    reveal_type(plots.trade_off)
