"""Three ways to say it: lists, rules on their own and points, beside FIGS and RuleFit.

Run as `python -m benchmarks.quality.forms --data FOLDER --seeds 3`; it needs imodels.
Every set in the folder (see `benchmarks.data`) is split at random, a forest is trained,
and all are scored with 4, 6, 8 and 10 rules on the rows left out: squared error as a
share of the variance, or AUC, log loss and share of wrong classes. FIGS is a sum of
small trees with one split less than rules; it is fitted to y, and to what the forest
says. What the forms have to reach stands at the end, for the sets that settings were
chosen on and for those that were kept aside.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.metrics import log_loss, roc_auc_score

from benchmarks.data import CHOSEN_ON, REGRESSION, make_split
from defragtrees import simplify
from defragtrees._utils.formatting import text_table

BUDGETS = (4, 6, 8, 10)
RESULTS = Path(__file__).parents[1] / "results"
CLOSE = 0.002  # a pair this close counts as equal


class Board:
    """The scores of one split."""

    def __init__(self, split):
        self.split = split
        fill = split.numbers.iloc[split.train].median().fillna(0)
        matrix = split.numbers.fillna(fill)
        self.train, self.test = matrix.iloc[split.train], matrix.iloc[split.test]
        self.y, self.truth = split.y[split.train], split.y[split.test]
        self.rows = []
        self.model = split.model
        self.add("forest", 0, self.told(self.model, split.X.iloc[split.test]))

    def told(self, model, X):
        """Numbers, or the probabilities of all classes."""
        return model.predict(X) if self.split.is_number else model.predict_proba(X)

    def add(self, name, budget, told, **facts):
        """One row of the results."""
        row = {"data": self.split.name, "seed": self.split.seed, "method": name}
        row |= {"budget": budget, **facts}
        if self.split.is_number:
            variance = np.var(self.truth)
            row["error"] = float(np.mean((told - self.truth) ** 2) / variance)
        else:
            classes = self.model.classes_
            row["error"] = float(np.mean(classes[told.argmax(axis=1)] != self.truth))
            # A class that no training row has cannot be told.
            known = np.isin(self.truth, classes)
            truth = self.truth[known]
            row["log_loss"] = float(log_loss(truth, told[known], labels=classes))
            if self.split.is_binary:
                row["auc"] = float(roc_auc_score(self.truth == classes[1], told[:, 1]))
        self.rows.append(row)


def add_forms(board):
    """Each form, fitted once to ten rules; shorter sets are places on its path."""
    split = board.split
    X, X_test = split.X.iloc[split.train], split.X.iloc[split.test]
    for form in ("list", "standalone", "points"):
        begin = time.perf_counter()
        simple = _fitted(board, X, form=form)
        seconds = time.perf_counter() - begin
        for budget in BUDGETS:
            rules = simple.path_[max(n for n in simple.path_ if n <= budget)]
            facts = _facts(rules, X) | {"seconds": seconds}
            board.add(form, budget, board.told(rules, X_test), **facts)
    _add_short(board, X, X_test)
    if split.is_binary:
        _add_whole(board, X, X_test)


def _fitted(board, X, max_rules=10, **settings):
    settings |= {"max_rules": max_rules, "random_state": 0}
    return simplify(board.model, X, board.y, **settings)


def _add_short(board, X, X_test):
    """Points with as many conditions in all as FIGS has splits.

    Of fits with one, two and three conditions a rule, the set that is nearest to the
    forest on the training rows.
    """
    every = [
        rules
        for most in (1, 2, 3)
        for rules in _fitted(
            board, X, form="points", max_conditions=most
        ).path_.values()
    ]
    said = board.told(board.model, X)
    for budget in BUDGETS:
        short = [
            rules
            for rules in every
            if sum(rule.n_conditions for rule in rules) <= budget - 1
        ]
        apart = [np.mean((board.told(rules, X) - said) ** 2) for rules in short]
        best = short[int(np.argmin(apart))]
        board.add("short points", budget, board.told(best, X_test), **_facts(best, X))


def _facts(rules, X):
    conflicts = rules.conflicts(X) if rules.form == "standalone" else [0]
    return {
        "n_rules": rules.n_rules,
        "n_conditions": sum(rule.n_conditions for rule in rules),
        "conflicts": float(np.mean(conflicts)),
    }


def _add_whole(board, X, X_test):
    """Whole points, with the numbers of rules that have exact ones too."""
    for budget in BUDGETS:
        simple = _fitted(board, X, budget, form="points", points="integer")
        largest = simple.path_[max(simple.path_)]
        board.add("whole points", budget, largest.predict_proba(X_test))


def add_peers(board):
    """FIGS on y and on what the forest says, and RuleFit; numbers and two classes."""
    from imodels import (
        FIGSClassifier,
        FIGSRegressor,
        RuleFitClassifier,
        RuleFitRegressor,
    )

    split = board.split
    if not (split.is_number or split.is_binary):
        return
    A, B = board.train.to_numpy(float), board.test.to_numpy(float)
    y = board.y
    if split.is_binary:
        y = (y == board.model.classes_[1]).astype(int)
    said = board.told(board.model, split.X.iloc[split.train])
    said = said if split.is_number else said[:, 1]
    figs = FIGSRegressor if split.is_number else FIGSClassifier
    fit = RuleFitRegressor if split.is_number else RuleFitClassifier
    for budget in BUDGETS:
        model = figs(max_rules=budget - 1).fit(A, y)
        board.add("FIGS", budget, _peer_told(split, model, B))
        model = FIGSRegressor(max_rules=budget - 1).fit(A, said)
        board.add("FIGS of forest", budget, _shares(split, model.predict(B)))
        try:
            model = fit(max_rules=budget - 1, random_state=0).fit(A, y)
            told = _peer_told(split, model, B)
        except (ValueError, IndexError):
            continue
        board.add("RuleFit", budget, told)


def _peer_told(split, model, B):
    if split.is_number:
        return model.predict(B)
    return _shares(split, model.predict_proba(B)[:, 1])


def _shares(split, told):
    if split.is_number:
        return told
    told = np.clip(told, 1e-6, 1 - 1e-6)
    return np.column_stack([1 - told, told])


def run_one(folder, name, seed):
    """All methods on one split; a list of rows."""
    warnings.simplefilter("ignore")
    board = Board(make_split(folder, name, "forest", seed, 2000))
    add_forms(board)
    add_peers(board)
    return board.rows


def share_ahead(table, one, other, measure, budgets=BUDGETS):
    """Share of pairs in which one method is at or ahead of another; their number."""
    pairs = table[table.budget.isin(budgets)].pivot_table(
        index=["data", "seed", "budget"], columns="method", values=measure
    )
    pairs = pairs.reindex(columns=[one, other]).dropna()
    sign = 1 if measure == "auc" else -1
    ahead = sign * (pairs[one] - pairs[other]) >= -CLOSE
    return float(ahead.mean()), len(ahead)


def bars(table):
    """What the forms have to reach: words, what was found, and the bar."""
    is_number = table.data.isin(REGRESSION)
    numbers = table[is_number]
    binary = table[table.data.isin(table.data[table.auc.notna()].unique())]
    lines = []
    for peer in ("FIGS", "FIGS of forest", "RuleFit"):
        least = 1.0 if peer == "RuleFit" else 0.85
        for part, measure in (
            (numbers, "error"),
            (binary, "auc"),
            (binary, "log_loss"),
        ):
            lines.append((f"points, {peer}, {measure}", part, peer, measure, least))
    found = [
        (words, *share_ahead(part, "points", peer, measure), least)
        for words, part, peer, measure, least in lines
    ]
    share = share_ahead(numbers, "points", "list", "error", (8, 10))
    found.append(("points, our list, 8 and 10 rules", *share, 0.85))
    for part, measure in ((numbers, "error"), (binary, "auc")):
        share = share_ahead(part, "short points", "FIGS", measure)
        found.append((f"points, FIGS, as many conditions, {measure}", *share, 0.65))
    found.append(("AUC within .03 of the forest's", *_near_forest(binary), 2 / 3))
    found.append(("standalone near the list, 8 rules", *_near_list(table), 0.75))
    return found


def _near_forest(binary):
    auc = binary.pivot_table(index="data", columns=["method", "budget"], values="auc")
    if not len(auc):
        return np.nan, 0
    near = auc["points", 10] >= auc["forest", 0] - 0.03
    return float(near.mean()), len(near)


def _near_list(table):
    """Sets on which standalone rules err at most .01 more, .02 of the variance."""
    eight = table[table.budget == 8]
    errors = eight.pivot_table(index="data", columns="method", values="error")
    slack = np.where(errors.index.isin(REGRESSION), 0.02, 0.01)
    near = errors["standalone"] <= errors["list"] + slack
    return float(near.mean()), len(near)


def report(table):
    """Means of every set, and the bars of both halves."""
    for measure in ("error", "auc", "log_loss"):
        means = table.pivot_table(
            index=["data"], columns=["method", "budget"], values=measure
        )
        columns = [c for c in means.columns if c[1] in (0, 6, 10)]
        cells = [
            [name, *(f"{value:.3f}" for value in means.loc[name, columns])]
            for name in means.index
        ]
        header = [measure, *(f"{name} {n}" for name, n in columns)]
        print(text_table(header, cells), end="\n\n")
    halves = {
        "chosen on": table[table.data.isin(CHOSEN_ON)],
        "kept aside": table[~table.data.isin(CHOSEN_ON)],
        "all": table,
    }
    for half, part in halves.items():
        if not len(part):
            continue
        cells = [
            [words, f"{share:.2f}", str(n), f"{least:.2f}"]
            for words, share, n, least in bars(part)
        ]
        print(text_table([half, "share", "pairs", "bar"], cells))
        print(_costs(part), end="\n\n")


def _costs(table):
    binary = table.pivot_table(
        index=["data", "seed", "budget"], columns="method", values="auc"
    )
    lost = (binary["points"] - binary["whole points"]).mean()
    seconds = table.groupby("method").seconds.mean()
    conflicts = table[table.method == "standalone"].conflicts.max()
    times = ", ".join(
        f"{n} {seconds[n]:.2f} s" for n in ("list", "standalone", "points")
    )
    return (
        f"whole points cost {lost:.4f} AUC; a fit takes {times}; rules of different "
        f"classes hold together in at most {conflicts:.3f} of the training rows"
    )


def main():
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="*", help="names of sets")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", default=RESULTS / "forms.csv")
    options = parser.parse_args()
    names = sorted(path.name[:-7] for path in Path(options.data).glob("*.csv.gz"))
    names = options.only or names
    done = Parallel(n_jobs=options.jobs)(
        delayed(run_one)(options.data, name, seed)
        for name in names
        for seed in range(options.seeds)
    )
    table = pd.DataFrame([row for rows in done for row in rows])
    table.to_csv(options.out, index=False, float_format="%.5f")
    report(table)


if __name__ == "__main__":
    main()
