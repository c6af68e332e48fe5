"""Look through the built site: `python docs/check_site.py docs/_build/html`.

Every link inside the site must lead to a page or a file that is there, and to a place
on it; every picture must have a text; nothing may be fetched from elsewhere.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["Page", "find_faults"]

SKIPPED = ("genindex.html", "search.html")


class Page(HTMLParser):
    """What one page refers to."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.faults = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Note the places, links and pictures of a tag."""
        values = dict(attrs)
        self.ids |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag == "img":
            self.links.append(values.get("src") or "")
            if not (values.get("alt") or "").strip():
                self.faults.append(f"picture without a text: {values.get('src')}")
        fetched = values.get("src") or (tag == "link" and values.get("href")) or ""
        is_fetched = values.get("rel") != "canonical"
        if is_fetched and urlsplit(fetched).scheme in ("http", "https"):
            self.faults.append(f"fetched from elsewhere: {fetched}")


def find_faults(folder):
    """All that is wrong with a site, each as "page: fault"."""
    folder = Path(folder).resolve()
    pages = {
        path: Page(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.html"))
        if "_static" not in path.parts and path.name not in SKIPPED
    }
    faults = []
    for path, page in pages.items():
        found = page.faults + [
            f"leads nowhere: {link}"
            for link in page.links
            if not leads_somewhere(link, path, pages)
        ]
        faults += [f"{path.relative_to(folder)}: {fault}" for fault in found]
    return faults


def leads_somewhere(link, path, pages):
    """Whether a link inside the site has a target; others are taken as they are."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = path
    if parts.path:
        target = (path.parent / unquote(parts.path)).resolve()
    if not target.is_file():
        return False
    place = unquote(parts.fragment)
    return not place or target not in pages or place in pages[target].ids


def main(folder):
    """Print what is wrong; the exit code is 1 if there is anything."""
    faults = find_faults(folder)
    sys.stdout.write("".join(f"{fault}\n" for fault in faults))
    n_pages = len(list(Path(folder).rglob("*.html")))
    sys.stdout.write(f"{n_pages} pages, {len(faults)} faults\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
