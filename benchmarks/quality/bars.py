"""What the rules have to reach, counted in the results of `benchmarks.quality`.

A pair is a data set with a model and a number of rules; its numbers are means over
seeds. Every bar is counted on all sets, on those on which defaults were chosen, and on
those that were kept aside.
"""

from dataclasses import dataclass

import numpy as np

from benchmarks.data import CHOSEN_ON, RARE
from benchmarks.quality.methods import BUDGETS
from defragtrees._utils.formatting import text_table

TINY = 1e-12
PAIR = ["data", "model", "budget"]
MOST_RARE_RECALL = 0.3
SIX_TREES = (
    "tree on y",
    "distilled tree",
    "distilled tree, new rows",
    "optimal tree on y",
    "optimal tree",
    "optimal tree, new rows",
)


@dataclass(frozen=True)
class Bar:
    """One number to reach.

    Parameters
    ----------
    text : str
        What is counted or measured.
    reached : float
        NaN where nothing could be measured.
    needed : float
    is_most : bool
        Whether `needed` is the most, not the least.
    n : int
        How many pairs or fits it rests on.
    """

    text: str
    reached: float
    needed: float
    is_most: bool = False
    n: int = 0

    @property
    def verdict(self):
        if np.isnan(self.reached):
            return "nothing to measure"
        if self.is_most:
            return "pass" if self.reached <= self.needed + TINY else "FAIL"
        return "pass" if self.reached >= self.needed - TINY else "FAIL"


def share(text, is_good, needed):
    """A bar on the share of pairs for which something holds."""
    reached = float(np.mean(is_good)) if len(is_good) else np.nan
    return Bar(text, reached, needed, n=len(is_good))


def means(results, measure):
    """Mean of a measure over seeds, by pair in rows and method in columns."""
    part = results[results.budget.isin(BUDGETS)].dropna(subset=[measure])
    table = part.groupby([*PAIR, "method"])[measure].mean()
    return table.unstack("method")


def all_bars(results):
    """The bars for some of the sets."""
    if not len(results):
        return []
    usual = results[~results.data.isin(RARE)]
    return [
        *probability_bars(usual),
        *base_rate_bars(results),
        *calibration_bars(usual),
        *error_bars(usual),
        *tree_bars(usual),
        *reading_bars(usual),
        *rare_bars(results[results.data.isin(RARE)]),
        *cost_bars(usual, ""),
        *cost_bars(results[results.data.isin(RARE)], "rare, "),
        *interval_bars(usual),
    ]


def probability_bars(results):
    auc, loss = means(results, "auc"), means(results, "log_loss")
    if not len(auc):
        return []
    trees = ["tree on y", "tree on probabilities"]
    best_auc, best_loss = auc[trees].max(axis=1), loss[trees].min(axis=1)
    bars = []
    for method in ("ours", "ours, probability"):
        is_ahead, is_below = (
            auc[method] >= best_auc - TINY,
            loss[method] <= best_loss + TINY,
        )
        bars += [
            share(f"{method}: AUC >= best tree", is_ahead, 0.9),
            share(f"{method}: log loss <= best tree", is_below, 0.9),
        ]
        if "FIGS" in auc:
            figs_auc, figs_loss = auc["FIGS"] - TINY, loss["FIGS"] + TINY
            bars += [
                share(f"{method}: AUC >= FIGS", auc[method] >= figs_auc, 0.75),
                share(f"{method}: log loss <= FIGS", loss[method] <= figs_loss, 0.75),
            ]
    return bars


def base_rate_bars(results):
    fits = results.set_index(["data", "model", "seed"])
    bars = []
    base = fits[fits.method == "base rate"].log_loss
    for method in ("ours", "ours, probability"):
        told = fits[fits.method == method].log_loss.dropna()
        is_below = told <= base.reindex(told.index) + TINY
        bars.append(share(f"{method}: log loss <= base rate, every fit", is_below, 1.0))
    return bars


def calibration_bars(results):
    gap = means(results[results.n_test >= 1000], "calibration")
    if not len(gap):
        return []
    text = "{}: gap of told and observed, sets of 1,000 test rows or more"
    bars = [
        Bar(text.format(method), gap[method].mean(), 0.03, is_most=True, n=len(gap))
        for method in ("ours", "ours, probability")
    ]
    more = (gap["ours"] - gap["tree on y"]).mean()
    text = "ours: the same, less that of trees on y"
    return [*bars, Bar(text, more, 0.0, is_most=True, n=len(gap))]


def error_bars(results):
    error = means(results, "error")
    bars = []
    for method in ("ours", "ours, error"):
        both = error.dropna(subset=[method])
        is_below = both[method] <= both["distilled tree"] + TINY
        bars.append(share(f"{method}: error <= distilled tree", is_below, 0.95))
    return bars


def tree_bars(results):
    """Our error against that of other methods at equal rules, and equal conditions."""
    error = means(results, "error")
    bars = []
    for method in ("distilled tree", "tree on y", "FIGS"):
        if method in error:
            both = error.dropna(subset=["ours", method])
            is_below = both["ours"] <= both[method] + TINY
            bars.append(share(f"ours: error <= {method}", is_below, 0.9))
    trees = [name for name in SIX_TREES if name in error]
    is_below = error["ours"] <= error[trees].min(axis=1) + TINY
    bars.append(share(f"ours: error <= best of {len(trees)} trees", is_below, 0.8))
    for method in ("distilled tree", "tree on y"):
        ours = error[f"ours, conditions of {method}"]
        text = f"ours, with as many conditions in all: error <= {method}"
        bars.append(share(text, ours <= error[method] + TINY, 0.9))
    return bars


def reading_bars(results):
    """How short the default lists are, and how alike those of two halves."""
    lists = results[(results.method == "ours") & (results.budget == 0)]
    a_rule = lists.n_conditions.sum() / (lists.n_rules - 1).sum()
    in_all = lists.n_conditions.mean()
    halves = results.dropna(subset=["agreement"])
    mean = halves.groupby(["data", "model", "method"]).agreement.mean().unstack()
    more = mean["ours, halves"] - mean["distilled tree, halves"]
    n = len(lists)
    return [
        Bar("default list: conditions a rule", a_rule, 2.0, is_most=True, n=n),
        Bar("default list: conditions in all", in_all, 12.0, is_most=True, n=n),
        Bar(
            "answers of two halves agree, ours less distilled trees",
            more.mean(),
            0.03,
            n=len(more),
        ),
    ]


def rare_bars(results):
    if not len(results):
        return []
    auc = means(results, "auc")
    trees = auc[["tree on y", "tree on probabilities"]].max(axis=1)
    bars = [
        share("rare: AUC >= tree on y", auc["ours"] >= auc["tree on y"] - TINY, 0.9),
        share("rare: AUC >= best tree", auc["ours"] >= trees - TINY, 0.9),
    ]
    fits = results.set_index(["data", "model", "seed"])
    can_rank = fits[fits.method == "model"].auc > 0.7
    lists = fits[fits.method == "ours"].n_rules
    lists = lists[can_rank.reindex(lists.index).to_numpy()]
    text = "rare: more than one rule where the model's AUC is above 0.7, every fit"
    return [*bars, share(text, lists > 1, 1.0)]


def cost_bars(results, prefix):
    """Where the default finds less than 0.3 of the rare class: a pair is a fit."""
    fits = results[results.budget == 0].set_index(["data", "model", "seed"])
    usual = fits[fits.method == "ours"]
    recall = usual.recall.groupby(["data", "model"]).mean()
    chosen = recall.index[recall < MOST_RARE_RECALL]
    usual = usual[usual.index.droplevel("seed").isin(chosen)]
    bars = []
    for method, measure in (
        ("ours, costs", "cost"),
        ("ours, balanced", "balanced_cost"),
    ):
        other = fits[fits.method == method].reindex(usual.index)
        is_cheaper, is_found = (
            other[measure] < usual[measure],
            other.recall > usual.recall,
        )
        bars += [
            share(
                f"{prefix}{method}: expected cost lower than without", is_cheaper, 0.9
            ),
            share(f"{prefix}{method}: recall higher than without", is_found, 0.9),
        ]
    return bars


def interval_bars(results):
    if "interval_coverage" not in results:
        return []
    bars = []
    for method in ("ours, interval", "ours, calibrated interval"):
        part = results[results.method == method]
        covered = part.groupby("data").interval_coverage.mean()
        is_right = covered.between(0.87, 0.93)
        text = f"{method} of 90 % covers 87 to 93 %, every set"
        bars.append(share(text, is_right, 1.0))
    return bars


def print_bars(results):
    """Every bar: needed, reached on all sets and on each half, verdict."""
    halves = results.data.isin(CHOSEN_ON)
    parts = [all_bars(part) for part in (results, results[halves])]
    parts.append(all_bars(results[~halves]))
    by_text = [{bar.text: bar for bar in bars} for bars in parts]
    lines = []
    for bar in parts[0]:
        sign = "<=" if bar.is_most else ">="
        reached = [part.get(bar.text) for part in by_text]
        cells = [
            "" if one is None or np.isnan(one.reached) else f"{one.reached:.4f}"
            for one in reached
        ]
        needed = f"{sign} {bar.needed:.4g}"
        lines.append([bar.text, needed, *cells, str(bar.n), bar.verdict])
    header = ["bar", "needed", "all", "chosen on", "kept aside", "n", "verdict"]
    print("\nBars; a pair is a set, a model and a number of rules, mean of seeds")
    print(text_table(header, lines))
    n_failed = sum(bar.verdict == "FAIL" for bar in parts[0])
    print(f"\n{n_failed} of {len(parts[0])} bars are not reached.")
    return lines
