"""Draw the pictures of the pages whose code draws them: `python examples/pictures.py`.

The code of a page runs from top to bottom; a picture is what the block before it drew.
"""

import contextlib
import doctest
import io
import re
import sys
import tempfile
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt

DOCS = Path(__file__).parent.parent / "docs"
PAGES = "pictures.md", "start.md"
# A block of code, or the name of a picture.
PART = re.compile(
    r"^```python\n(.*?)^```$|^!\[[^\]]*\]\(pictures/(\w+)\.png\)", re.M | re.S
)
DPI = 192  # pages show a picture at half its pixels


def draw(page):
    """Yield the name and the figure of each picture of a page."""
    names = {}
    for code, picture in PART.findall((DOCS / page).read_text("utf-8")):
        if code:
            lines = doctest.DocTestParser().get_examples(code)
            with contextlib.redirect_stdout(io.StringIO()):
                exec("".join(line.source for line in lines) or code, names)
        else:
            # The oldest that is not yet shown.
            figure = plt.figure(plt.get_fignums()[0])
            yield picture, figure
            plt.close(figure)
    if plt.get_fignums():
        raise ValueError(f"Every block of {page} that draws needs a picture below it.")


def main(folder=DOCS / "pictures"):
    """Write one PNG for each picture to a folder."""
    mpl.use("Agg")
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        for page in PAGES:
            for name, figure in draw(page):
                path = folder / f"{name}.png"
                # Without the version of matplotlib the same picture is the same file.
                figure.savefig(path, dpi=DPI, metadata={"Software": None})
                print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
