"""The report that the site shows, written by the library when the site is built."""

from pathlib import Path
from runpy import run_path

__all__ = ["setup"]

SCRIPT = Path(__file__).parents[2] / "examples" / "live_report.py"


def write(app, exception):
    """Write `live-report.html` beside the pages."""
    if exception is None and app.builder.format == "html":
        run_path(SCRIPT)["write"](Path(app.outdir) / "live-report.html")


def setup(app):
    """Register with Sphinx."""
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
