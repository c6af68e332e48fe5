"""Draw the pictures of docs/pictures.md: `python examples/pictures.py [folder]`.

The code of the page runs from top to bottom; a picture is what the block before it
drew.
"""

import re
import sys
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt

DOCS = Path(__file__).parent.parent / "docs"
# A block of code, or the name of a picture.
PART = re.compile(
    r"^```python\n(.*?)^```$|^!\[[^\]]*\]\(pictures/(\w+)\.png\)", re.M | re.S
)
DPI = 84


def main(folder=DOCS / "pictures"):
    """Write one PNG for each picture of the page to a folder."""
    mpl.use("Agg")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    names = {}
    for code, picture in PART.findall((DOCS / "pictures.md").read_text("utf-8")):
        if code:
            exec(code, names)
            continue
        figure = plt.figure(plt.get_fignums()[0])  # the oldest that is not yet shown
        # Without the version of matplotlib the same picture is the same file.
        figure.savefig(folder / f"{picture}.png", dpi=DPI, metadata={"Software": None})
        plt.close(figure)
        print(folder / f"{picture}.png")
    if plt.get_fignums():
        raise ValueError("Every block that draws needs a picture below it.")


if __name__ == "__main__":
    main(*sys.argv[1:])
