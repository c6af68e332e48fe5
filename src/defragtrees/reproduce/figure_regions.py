"""The pictures of the regions on Synthetic1 and Synthetic2, by every method."""

from defragtrees import plots
from defragtrees._utils.optional import require
from defragtrees.ensembles.readers import read_forest
from defragtrees.reproduce import paper
from defragtrees.reproduce.parts import CONVERGED, N_FEW_TREES
from defragtrees.reproduce.realisation import draw, fit_forest
from defragtrees.reproduce.results import Item, title_of
from defragtrees.rules.model import RuleModel

__all__ = ["NEEDS", "build"]

NEEDS = ("ensemble", "regions")
SQUARE = ((0.0, 1.0), (0.0, 1.0))


def build(results):
    """Data, the forest of five trees and the rules of every method, in panels."""
    numbers, figures, names = [], {}, []
    for dataset in results.datasets:
        result = results.one(dataset, "regions", results.seeds[0])
        if result is None:
            continue
        figures |= _figures(results, dataset, result)
        names = list(result["n_rules"])
        numbers.append(
            {
                "dataset": dataset,
                "regions": result["n_regions"],
                "regions_paper": paper.REGIONS_OF_FIVE_TREES[dataset],
                **{f"rules_{name}": n for name, n in result["n_rules"].items()},
            }
        )
    return Item(
        "figure_regions",
        "Figures: the regions on Synthetic1 and Synthetic2",
        "Five trees already cut the square into hundreds of regions; the proposed "
        "method says nearly the same with a few, BATrees and inTrees need more, and "
        "the rules of inTrees and Node Harvest overlap. The paper's numbers of regions "
        "are in brackets; those of rules are without Node Harvest's root.",
        ["data", "regions of five trees", *names],
        [_row(one, names) for one in numbers],
        numbers,
        [
            f"{title_of(one['dataset'])}: five trees cut the square into "
            f"{one['regions']:,} regions; the paper's settings leave "
            f"{one['rules_Proposed']}, until convergence "
            f"{one[f'rules_{CONVERGED}']}, and our default {one['rules_defragtrees']}."
            for one in numbers
        ],
        figures,
    )


def _row(one, names):
    return [
        title_of(one["dataset"]),
        f"{one['regions']:,} ({one['regions_paper']:,})",
        *(str(one[f"rules_{name}"]) for name in names),
    ]


def _figures(results, dataset, result):
    """The two pictures of one data set."""
    seed = results.seeds[0]
    chosen = results.one(dataset, "ensemble", seed)
    data = draw(dataset, seed, results.data_home)
    ensemble = fit_forest(
        data, chosen["node_size"], chosen["n_leaves"], seed, N_FEW_TREES
    )
    rules = {name: RuleModel.from_dict(one) for name, one in result["rules"].items()}
    forest = read_forest(ensemble)
    return {
        f"regions_{dataset}": _draw(data, forest, result["n_regions"], rules),
        f"node_harvest_{dataset}": _draw_harvest(rules["Node Harvest"]),
    }


def _draw(data, forest, n_regions, rules):
    pyplot = require("matplotlib.pyplot", "A figure")
    shown = [name for name in rules if name != "Node Harvest"]
    figure, axes = pyplot.subplots(2, 4, figsize=(15, 7.6))
    axes = axes.ravel()
    _points(axes[0], data)
    axes[0].set_title("data")
    plots.forest_regions(forest, ax=axes[1], limits=SQUARE)
    axes[1].set_title(f"five trees: {n_regions:,} regions")
    for ax, name in zip(axes[2:], shown, strict=False):
        plots.regions(rules[name], ax=ax, limits=SQUARE)
        ax.set_title(f"{name}: {rules[name].n_rules} rules")
    for ax in axes[2 + len(shown) :]:
        ax.set_axis_off()
    figure.tight_layout()
    return figure


def _points(ax, data):
    for label in (0, 1):
        rows = data.y == label
        ax.plot(
            data.X[rows, 0],
            data.X[rows, 1],
            plots.MARKERS[label],
            color=plots.COLOURS[label],
            ms=3,
            ls="none",
            label=f"class {label}",
        )
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="x1", ylabel="x2")
    ax.legend(loc="upper right")


def _draw_harvest(rules):
    axes = plots.rule_panels(rules, limits=SQUARE)
    return axes.ravel()[0].figure
