"""Pictures as the commands save them."""

import click

from defragtrees._utils.files import atomic_file
from defragtrees._utils.optional import require

__all__ = ["check_plot", "save_plot"]


def check_plot(path):
    """Refuse a picture that cannot be drawn, before the long work that it shows."""
    if path is None:
        return
    require("matplotlib", "--plot").use("Agg")
    pyplot = require("matplotlib.pyplot", "--plot")
    figure = pyplot.figure()
    formats = sorted(figure.canvas.get_supported_filetypes())
    pyplot.close(figure)
    if path.suffix.lstrip(".").lower() not in formats:
        raise click.UsageError(
            f"--plot must end in .png, .svg or .pdf; got {path.name!r}."
        )


def save_plot(result, path):
    """Draw what has a `plot` and save the picture, all of it or nothing."""
    pyplot = require("matplotlib.pyplot", "--plot")
    ax = result.plot()
    with atomic_file(path) as draft:
        ax.figure.savefig(draft, bbox_inches="tight")
    pyplot.close(ax.figure)
