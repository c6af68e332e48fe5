"""The pictures on the page of the gallery say what they are of."""

import re

__all__ = ["setup"]

THUMBNAIL = re.compile(
    r":alt:(\n\n  :doc:`[^`]*`\n\n\.\. raw:: html\n\n"
    r' *<div class="sphx-glr-thumbnail-title">)([^<]*)<'
)


def name_pictures(app, docname, source):
    """Give each small picture a text: the title of its story."""
    if docname == "gallery/index":
        source[0] = THUMBNAIL.sub(r":alt: Picture of the story: \2\1\2<", source[0])


def setup(app):
    """Register with Sphinx."""
    app.connect("source-read", name_pictures)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
