"""Take the pictures of docs/report.md: `python examples/report_pictures.py [folder]`.

The report is the one that the page writes; Chromium opens it, by way of playwright.
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

DOCS = Path(__file__).parent.parent / "docs"
WIDTH = 1000
# From the top of the first to the bottom of the second.
PARTS = {
    "report_top": ("h1", "p.verdict + *"),
    "report_rules": ("li.card >> nth=0", "li.card >> nth=1"),
}


def write(folder):
    """The report of the page's first lines."""
    page = (DOCS / "report.md").read_text(encoding="utf-8")
    code = re.search(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1]
    path = Path(folder) / "report.html"
    exec(code.replace('"report.html"', repr(str(path))), {})
    return path


def frame(page, first, last):
    """The part of a page from one element to another."""
    top = page.locator(first).bounding_box()["y"]
    box = page.locator(last).first.bounding_box()
    height = box["y"] + box["height"] - top
    return {"x": 0, "y": top - 12, "width": WIDTH, "height": height + 24}


def main(folder=DOCS / "pictures"):
    """Write the pictures."""
    with tempfile.TemporaryDirectory() as place, sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.goto(write(place).as_uri())
        page.wait_for_timeout(1000)
        for name, ends in PARTS.items():
            path = Path(folder) / f"{name}.png"
            page.screenshot(path=path, clip=frame(page, *ends), full_page=True)
            print(path)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
