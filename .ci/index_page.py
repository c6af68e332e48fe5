"""The README as a package index shows it: no link into a repository that is not there.

An index shows the README without the files beside it, so relative links and pictures
lead nowhere. Where `project.urls` has the address of the site they lead there; without
one, links become their words, and the pictures are left out.
"""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(
    r'<picture>.*?alt="(.*?)".*?src="(.*?)".*?</picture>\n*', re.DOTALL
)
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?://|#)([^)#]+)(#[^)]*)?\)")


class IndexPage(MetadataHookInterface):
    """Hands the README to the index when a wheel or an sdist is built."""

    def update(self, metadata):
        """Set the long description."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        page = index_page(text, metadata.get("urls", {}).get("Documentation"))
        metadata["readme"] = {"content-type": "text/markdown", "text": page}


def index_page(text, address):
    """The README for an index.

    Parameters
    ----------
    text : str
    address : str or None
        Of the site; None while there is none.
    """

    def link(match):
        words, path, place = match[1], match[2], match[3] or ""
        if address is None:
            return words
        page = Path(path).stem.lower()
        return f"[{words}]({address}/{page}.html{place})"

    def picture(match):
        if address is None:
            return ""
        name = Path(match[2]).name
        return f"![{match[1]}]({address}/_static/{name})\n\n"

    return LINK.sub(link, PICTURE.sub(picture, text))
