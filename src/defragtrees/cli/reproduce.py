"""`defragtrees reproduce`: the experiments of the paper."""

from pathlib import Path

import click

from defragtrees.cli._command import NAMES, Command
from defragtrees.cli._output import say
from defragtrees.cli._progress import progress_kind
from defragtrees.reproduce import paper
from defragtrees.reproduce.runner import ITEMS, reproduce

__all__ = ["command"]

EXAMPLE = "defragtrees reproduce --quick --only table1,figure_regions --out results"


@click.command("reproduce", cls=Command, example=EXAMPLE)
@click.option("--quick", is_flag=True, help="Two realisations in place of ten.")
@click.option(
    "--draws",
    type=click.IntRange(min=1, max=paper.N_REALISATIONS),
    metavar="N",
    help="So many realisations of each set. [default: 10]",
)
@click.option(
    "--only",
    type=NAMES,
    metavar="A,B,...",
    help=f"Of {', '.join(ITEMS)}. [default: all]",
)
@click.option("--datasets", type=NAMES, metavar="A,B,...", help="[default: all six]")
@click.option(
    "--data-home",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder with the real data sets.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default="reproduction",
    show_default=True,
    help="The folder to write to; made if it is not there.",
)
@click.option(
    "--jobs", type=int, default=-1, metavar="N", help="Processes. [default: all cores]"
)
def command(quick, draws, only, datasets, data_home, out, jobs):
    """Run the experiments of the paper and put its numbers beside ours.

    Results are kept as they come: a run that was stopped goes on where it was.
    """
    page = reproduce(
        out,
        quick=quick,
        draws=draws,
        only=only,
        datasets=datasets,
        data_home=data_home,
        n_jobs=jobs,
        progress=progress_kind(),
    )
    say(f"The results are in {page}.")
