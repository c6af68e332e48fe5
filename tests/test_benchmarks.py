"""What `make quality` counts is counted rightly, and every method of it runs."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from benchmarks import data, watching
from benchmarks.quality import black_boxes, forms, methods
from benchmarks.quality.__main__ import run_one
from benchmarks.quality.bars import cost_bars, probability_bars
from defragtrees.datasets import load_table

FOLDER = Path(__file__).parent.parent / "src" / "defragtrees" / "datasets"


def pairs(**measures):
    """Results of four budgets of one set, by method."""
    rows = [
        {
            "data": "compas",
            "model": "forest",
            "seed": 0,
            "budget": budget,
            "method": method,
            "n_test": 2000,
            **numbers,
        }
        for method, numbers in measures.items()
        for budget in (4, 6, 8, 10)
    ]
    return pd.DataFrame(rows)


def test_miscalibration_is_the_gap_by_rule_weighted_by_rows():
    told = np.array([0.5, 0.5, 0.5, 0.5, 0.1, 0.1])
    positive = np.array([True, True, True, False, False, False])
    rule = np.array([0, 0, 0, 0, 3, 3])
    # |0.5 - 0.75| for four rows, |0.1 - 0| for two.
    found = methods.miscalibration(told, positive, rule)
    assert found == pytest.approx((4 * 0.25 + 2 * 0.1) / 6)


def test_a_pair_counts_where_rules_are_at_or_ahead_of_the_better_tree():
    ours = {"auc": 0.8, "log_loss": 0.5}
    results = pairs(
        **{
            "ours": ours,
            "ours, probability": {"auc": 0.75, "log_loss": 0.4},
            "tree on y": {"auc": 0.8, "log_loss": 0.6},
            "tree on probabilities": {"auc": 0.7, "log_loss": 0.45},
        }
    )
    bars = {bar.text: bar for bar in probability_bars(results)}
    assert bars["ours: AUC >= best tree"].reached == 1.0
    assert bars["ours: AUC >= best tree"].verdict == "pass"
    assert bars["ours: log loss <= best tree"].reached == 0.0
    assert bars["ours: log loss <= best tree"].verdict == "FAIL"
    assert bars["ours, probability: AUC >= best tree"].reached == 0.0
    assert bars["ours, probability: log loss <= best tree"].reached == 1.0
    assert bars["ours, probability: log loss <= best tree"].n == 4


def test_costs_are_compared_where_the_default_finds_few_of_the_rare_class():
    row = {"model": "forest", "seed": 0, "budget": 0}
    measured = {
        "a": [(0.1, 1.0, 1.0), (0.6, 0.5, 0.5), (0.0, 1.5, 0.5)],
        "b": [(0.9, 1.0, 1.0), (0.9, 9.0, 9.0), (0.9, 9.0, 9.0)],
    }
    results = pd.DataFrame(
        [
            {**row, "data": data, "method": method, "recall": recall}
            | {"cost": cost, "balanced_cost": balanced}
            for data, numbers in measured.items()
            for method, (recall, cost, balanced) in zip(
                ("ours", "ours, costs", "ours, balanced"), numbers, strict=True
            )
        ]
    )
    bars = cost_bars(results, "")
    assert [(bar.reached, bar.n) for bar in bars] == [(1, 1), (1, 1), (1, 1), (0, 1)]


def test_a_thinned_set_has_three_percent_of_its_second_class(tmp_path):
    frame = pd.DataFrame({"x": range(2000), "target": [0, 1] * 1000})
    frame.to_csv(tmp_path / "adult.csv.gz", index=False)
    X, y = data.read(tmp_path, "adult_rare")
    assert len(X) == len(y) == 1031
    assert y.sum() == 31


@pytest.mark.slow
def test_every_method_runs_and_gives_its_measures():
    rows = pd.DataFrame(run_one(FOLDER, "spambase_sample", "boosted", 0, 300))
    assert (rows.seed == 0).all()
    table = rows.set_index(["method", "budget"])
    assert table.loc[("model", 0), "auc"].item() > 0.95
    assert table.loc[("base rate", 0), "auc"].item() == 0.5
    for method in ("ours", "ours, probability", "tree on y", "tree on probabilities"):
        some = table.loc[method]
        some = some[some.index > 0]
        assert list(some.index) == [4, 6, 8, 10]
        assert (some.auc > 0.8).all()
        assert (some.log_loss < table.log_loss["base rate", 0]).all()
        assert some.calibration.between(0, 0.2).all()
        assert (some.n_rules <= some.index).all()
    assert table.recall["ours, balanced", 0] >= table.recall["ours", 0]
    assert table.cost["ours, costs", 0] < table.cost["base rate", 0]


def made_scores(points, peer, measure="error", data="energy", budget=6):
    return [
        {"data": data, "seed": 0, "budget": budget, "method": name, measure: value}
        for name, value in (("points", points), ("FIGS", peer))
    ]


def test_forms_count_pairs_in_which_one_is_at_or_ahead():
    rows = [*made_scores(0.5, 0.6), *made_scores(0.7, 0.6, budget=8)]
    table = pd.DataFrame(rows)
    assert forms.share_ahead(table, "points", "FIGS", "error") == (0.5, 2)
    assert forms.share_ahead(table, "points", "FIGS", "error", (6,)) == (1.0, 1)
    table = pd.DataFrame(made_scores(0.8, 0.9, "auc", "adult"))
    assert forms.share_ahead(table, "points", "FIGS", "auc") == (0.0, 1)
    close = pd.DataFrame(made_scores(0.899, 0.9, "auc", "adult"))
    assert forms.share_ahead(close, "points", "FIGS", "auc") == (1.0, 1)
    assert forms.share_ahead(close, "points", "RuleFit", "auc")[1] == 0


def test_forms_ask_standalone_rules_to_be_near_the_list():
    rows = [
        {"data": data, "seed": 0, "budget": 8, "method": method, "error": error}
        for data, method, error in (
            ("energy", "list", 0.10),
            ("energy", "standalone", 0.115),
            ("adult", "list", 0.10),
            ("adult", "standalone", 0.115),
        )
    ]
    assert forms._near_list(pd.DataFrame(rows)) == (0.5, 2)


@pytest.mark.filterwarnings("ignore")
def test_black_boxes_are_asked_and_compared_with_a_tree(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"size": rng.normal(size=160), "city": rng.choice(["x", "y"], 160)}
    )
    target = (frame["size"] > 0) & (frame["city"] == "x")
    frame.assign(target=target.astype(int)).to_csv(tmp_path / "toy.csv.gz", index=False)
    rows = black_boxes.run(tmp_path, "toy", 80)
    assert [row["is_asked"] for row in rows] == [True, True, False]
    assert [row["calls"] > 80 for row in rows] == [True, True, False]
    # So few rows teach a network little that others could say in rules.
    for row in (rows[0], rows[2]):
        assert row["fidelity"] > 0.7
        assert row["tree"] > 0.7


@pytest.mark.slow
def test_every_batch_is_checked_alone_and_beside_the_model():
    X, y = load_table("credit")
    X = X.astype(dict.fromkeys(X.select_dtypes(exclude="number"), "category"))
    options = SimpleNamespace(batches=2, methods=("defrag",), without_model=False)
    rows = X, y.to_numpy(), "credit", 500, "boosted", 0, options
    names = "set model rows validation method form change beside alarm".split()
    lines, agreements = watching.run_one(*rows)
    table = pd.DataFrame(lines, columns=names)
    by_change = table.groupby(["change", "beside"]).size().unstack()
    # Two batches, three forms, with and without validation.
    assert by_change.loc["none"].tolist() == [12, 12, 12]
    assert by_change.loc["y changed"].tolist() == [6, 6, 6]
    assert np.isnan(by_change.loc["model broken", "alone"])
    alarms = table.pivot_table(index=names[:7], columns="beside", values="alarm")
    assert (alarms.model == alarms.numbers).all()
    new, _, kept = np.array([line[-3:] for line in agreements]).T
    assert np.abs(new - kept).max() < 0.1
    assert table[table.change == "none"].alarm.mean() < 0.2
    assert table[table.change == "y changed"].alarm.mean() > 0.8
    text = watching.shown(table, ["change"], "beside", "Alarms")
    header = text.splitlines()[2].split()
    assert header == ["change", "alone", "model", "numbers", "checks"]
