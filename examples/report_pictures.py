"""Take the pictures of docs/report.md: `python examples/report_pictures.py [folder]`.

Chromium opens the report that the page writes, by way of playwright, in the light and
in the dark.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from live_report import write
from playwright.sync_api import sync_playwright

DOCS = Path(__file__).parent.parent / "docs"
WIDTH = 1000
# From the top of the first to the bottom of the second.
PARTS = {
    "report_top": ("h1", ".tiles"),
    "report_rules": (".rules thead", ".rule >> nth=1"),
}


def frame(page, first, last):
    """The part of a page from one element to another."""
    top = page.locator(first).bounding_box()["y"]
    box = page.locator(last).first.bounding_box()
    height = box["y"] + box["height"] - top
    return {"x": 0, "y": top - 12, "width": WIDTH, "height": height + 24}


def main(folder=DOCS / "pictures"):
    """Write the pictures."""
    with tempfile.TemporaryDirectory() as place, sync_playwright() as running:
        report = Path(place) / "report.html"
        write(report)
        browser = running.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for look in ("light", "dark"):
            size = {"width": WIDTH, "height": 900}
            page = browser.new_page(viewport=size, color_scheme=look)
            page.goto(report.as_uri())
            page.wait_for_timeout(1000)
            for name, ends in PARTS.items():
                path = Path(folder) / f"{name}_{look}.png"
                page.screenshot(path=path, clip=frame(page, *ends), full_page=True)
                print(path)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
