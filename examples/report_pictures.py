"""Take the pictures of the README in Chromium: `python examples/report_pictures.py`.

The scorecard of the README as a notebook shows it, the report that its text links, and
a moving picture of that, in the light and in the dark. Playwright drives Chromium.
"""

import io
import re
import shutil
import sys
from pathlib import Path

from live_report import KEPT, README, write
from PIL import Image
from playwright.sync_api import sync_playwright

PICTURES = README.parent / "docs" / "pictures"
# As a notebook has it: the table beside what its totals stand for.
NOTEBOOK = """<!doctype html><meta charset="utf-8"><style>
:root {{ color-scheme: light dark; }}
body {{ margin: 0; padding: 6px 0; font: 13px/1.45 system-ui, "DejaVu Sans", sans-serif;
  background: light-dark(#fff, #0d1117); color: light-dark(#1f2328, #e6edf3);
  display: grid; grid-template-columns: auto auto; justify-content: space-between; }}
table {{ border-collapse: collapse; align-self: start; }}
td, th {{ padding: .3em .4em !important; }}
caption, table:first-child :is(th, td):is(:nth-child(5), :nth-child(9))
  {{ display: none; }}
</style>{}"""
WIDTH, HEIGHT = 780, 470
POINTER = """() => {
  const pointer = document.createElement("div");
  pointer.id = "pointer";
  pointer.style.cssText = "position:fixed;z-index:9;width:20px;height:20px;" +
    "margin:-30px;border-radius:50%;background:#e69f00;opacity:.75;left:0;top:0;" +
    "pointer-events:none";
  document.body.append(pointer);
  document.documentElement.style.scrollBehavior = "auto";
}"""
MOST_BYTES = 1_000_000


def card_of(names):
    """The scorecard of the README, which follows its first example."""
    blocks = re.findall(
        r"^```python\n(.*?)^```$", README.read_text("utf-8"), re.M | re.S
    )
    exec(blocks[1], names)
    return names["card"].rules_


def take_card(browser, card, folder):
    """The scorecard on a page, at twice the pixels."""
    for look in ("light", "dark"):
        size = {"width": WIDTH, "height": 100}
        page = browser.new_page(viewport=size, color_scheme=look, device_scale_factor=2)
        page.set_content(NOTEBOOK.format(card._repr_html_()))
        path = folder / f"card_{look}.png"
        page.screenshot(path=path, full_page=True)
        print(path)


class Movie:
    """Frames of a page that is used, each shown for some milliseconds."""

    def __init__(self, page):
        self.page, self.frames, self.times = page, [], []
        page.evaluate(POINTER)

    def shot(self, time):
        """One more frame."""
        self.page.wait_for_timeout(60)
        self.frames.append(Image.open(io.BytesIO(self.page.screenshot())))
        self.times.append(time)

    def scroll(self, place, above=60):
        """Bring the top of an element into view, in a few frames."""
        page = self.page
        start = page.evaluate("scrollY")
        way = page.locator(place).first.bounding_box()["y"] - above
        for share in (0.1, 0.35, 0.65, 0.9, 1.0):
            page.evaluate(f"scrollTo(0, {start + way * share})")
            self.shot(60)
        self.times[-1] = 700

    def point(self, place):
        """Move the pointer to an element."""
        box = self.page.locator(place).first.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        move = "([x, y]) => pointer.style.translate = `${x + 20}px ${y + 20}px`"
        self.page.evaluate(move, [x, y])

    def click(self, place, time):
        """Press a button, and show what follows."""
        self.point(place)
        self.shot(500)
        self.page.locator(place).first.click()
        self.shot(time)

    def slide(self, place, steps):
        """Move a slider, and show every step."""
        for step in steps:
            self.page.locator(place).first.evaluate(
                "(it, to) => { it.value = to; it.dispatchEvent(new Event('input')); }",
                step,
            )
            self.shot(130)
        self.page.locator(place).first.dispatch_event("change")
        self.shot(1600)

    def save(self, path):
        """Write the file."""
        first, *others = self.frames
        first.save(
            path,
            save_all=True,
            append_images=others,
            duration=self.times,
            loop=0,
            quality=72,
            method=4,
        )
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"{path.name} is larger than {MOST_BYTES:,} bytes.")
        print(path)


def take_movie(browser, report, folder):
    """The threshold moves, a rule is dropped, and a row is explained."""
    for look in ("light", "dark"):
        page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT},
            color_scheme=look,
            device_scale_factor=1.5,
        )
        page.goto(report.as_uri())
        page.wait_for_timeout(800)
        movie = Movie(page)
        movie.shot(1400)
        movie.scroll("#decider")
        slider = '[data-key="threshold/slider"]'
        movie.point(slider)
        top = int(page.locator(slider).get_attribute("max"))
        movie.slide(slider, [*range(top, -1, -1), *range(1, top // 2 + 1)])
        movie.click('[data-key="start"]', 700)
        movie.scroll('[data-key="1/drop"]', above=200)
        movie.click('[data-key="1/drop"]', 1800)
        movie.scroll("#explainer")
        movie.click('[data-key="wrong"]', 2200)
        movie.save(folder / f"report_{look}.webp")


def main(folder=PICTURES):
    """Write the pictures."""
    folder = Path(folder)
    names = write(KEPT)
    with sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        take_card(browser, card_of(names), folder)
        take_movie(browser, KEPT, folder)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
