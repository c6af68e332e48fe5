"""Run the experiments, in parallel and in parts that are kept, and write them up."""

import platform
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from joblib import Parallel, delayed
from matplotlib import pyplot

from benchmarks.paper import published
from benchmarks.paper.data import draw
from benchmarks.paper.figures import figure_em, figure_regions, figure_trade_off
from benchmarks.paper.parts import CONVERGED, FOUR_RULES, METHODS, PROPOSED, run_part
from benchmarks.paper.results import Results, Store, write_item, write_page
from benchmarks.paper.tables import OVERLAPPING, table1, table2, table3, table4
from defragtrees._utils.progress import Progress
from defragtrees._version import __version__

# Each table or figure with the parts that it is made of, beside the model.
ITEMS = {
    "table1": (table1, ()),
    "table2": (table2, (PROPOSED, CONVERGED, "em")),
    "figure_em": (figure_em, (PROPOSED, CONVERGED, "em")),
    "figure_trade_off": (figure_trade_off, tuple(METHODS)),
    "figure_regions": (figure_regions, ("regions",)),
    "table3": (table3, OVERLAPPING),
    "table4": (table4, (FOUR_RULES, *METHODS)),
}
QUICK_REALISATIONS = 2
SETTINGS = {"version": 3}  # of kept results; counted up when they change their meaning
# About how long a part takes on each set, to say how much time is left.
COSTS = {
    "synthetic1": 1.0,
    "synthetic2": 1.0,
    "spambase": 3.0,
    "miniboone": 8.0,
    "higgs": 8.0,
    "energy": 0.5,
}
PART_COSTS = {"model": 3.0, "em": 6.0, "BATrees": 4.0, "regions": 5.0}
# The parts of one item only, which no other item needs.
OWN_PARTS = {"table4": "energy", "figure_regions": "synthetic"}


@dataclass(frozen=True)
class Plan:
    """What is to be run: keys of ITEMS, data sets, a seed for each realisation."""

    items: tuple[str, ...]
    datasets: tuple[str, ...]
    seeds: tuple[int, ...]

    def cells(self):
        """Pairs of data set and seed with their parts, the longest first."""
        cells = []
        for dataset in self.datasets:
            for seed in self.seeds:
                parts = self._parts(dataset, seed)
                if parts:
                    cells.append((dataset, seed, parts))
        return sorted(cells, key=lambda cell: -cost(cell[0], cell[2]))

    def _parts(self, dataset, seed):
        parts = {}
        for item in self.items:
            only = OWN_PARTS.get(item, "")
            if not dataset.startswith(only):
                continue
            if item == "figure_regions" and seed != self.seeds[0]:
                continue
            parts |= dict.fromkeys(("model", *ITEMS[item][1]))
        return tuple(parts)


def cost(dataset, parts):
    """About how long these parts take, in no unit."""
    return COSTS[dataset] * sum(PART_COSTS.get(part, 1.0) for part in parts)


def reproduce(
    folder,
    *,
    quick=False,
    draws=None,
    only=None,
    datasets=None,
    data_folder=None,
    n_jobs=-1,
    progress=Progress,
):
    """Run the paper's experiments and write tables, pictures and a page.

    Results are kept as they come; a run that was stopped goes on where it was.

    `draws` is the number of realisations, by default ten, or two if `quick`; `only` are
    keys of ITEMS. Returns the path of the page.
    """
    pyplot.switch_backend("Agg")
    n_default = QUICK_REALISATIONS if quick else published.N_REALISATIONS
    plan = _plan(n_default if draws is None else int(draws), only, datasets)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    store = Store(folder / "parts", SETTINGS)
    cells = plan.cells()
    total = sum(cost(dataset, parts) for dataset, _, parts in cells)
    jobs = (delayed(_run_cell)(store, *cell, data_folder) for cell in cells)
    with progress("experiments", total) as bar:
        for done in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs):
            bar.advance(done)
    results = Results(store, plan.seeds, plan.datasets, data_folder)
    items = []
    for name in plan.items:
        item = ITEMS[name][0](results)
        write_item(item, folder)
        items.append(item)
    page = write_page(items, folder, _facts(plan))
    for item in items:
        for figure in item.figures.values():
            pyplot.close(figure)
    return page


def _plan(n_seeds, only, datasets):
    items = tuple(ITEMS) if not only else tuple(only)
    unknown = [name for name in items if name not in ITEMS]
    if unknown:
        raise ValueError(f"only must be among {tuple(ITEMS)}; got {unknown[0]!r}.")
    sets = tuple(published.DATASETS) if not datasets else tuple(datasets)
    unknown = [name for name in sets if name not in published.DATASETS]
    if unknown:
        raise ValueError(
            f"datasets must be among {tuple(published.DATASETS)}; got {unknown[0]!r}."
        )
    return Plan(items, sets, tuple(range(n_seeds)))


def _run_cell(store, dataset, seed, parts, data_folder):
    """Compute the parts of one realisation that are not there yet; returns the cost."""
    missing = [part for part in parts if store.read(dataset, seed, part) is None]
    if missing:
        data = draw(dataset, seed, data_folder)
        for part in missing:
            chosen = store.read(dataset, seed, "model")
            store.write(dataset, seed, part, run_part(part, data, seed, chosen))
    return cost(dataset, parts)


def _facts(plan):
    packages = ("numpy", "scipy", "scikit-learn", "matplotlib")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    versions = f"defragtrees {__version__}, {versions}"
    return [
        f"Command: python -m benchmarks.paper --draws {len(plan.seeds)}",
        f"{len(plan.seeds)} realisations; {published.N_TREES} trees, K up to "
        f"{published.MOST_COMPONENTS}, {published.N_RESTARTS} restarts; forests by "
        "out-of-bag error over the paper's grid, with scikit-learn in place of R.",
        f"Python {platform.python_version()} on {sys.platform}; {versions}.",
    ]
