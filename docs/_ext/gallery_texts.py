"""The pictures of the gallery say what they are of."""

import inspect
import re

from docutils import nodes
from sphinx_gallery.directives import imgsgnode

from defragtrees import plots

__all__ = ["setup"]

THUMBNAIL = re.compile(
    r":alt:(\n\n  :doc:`[^`]*`\n\n\.\. raw:: html\n\n"
    r' *<div class="sphx-glr-thumbnail-title">)([^<]*)<'
)
DRAWN = re.compile(r"plots\.(\w+)\(")


def name_thumbnails(app, docname, source):
    """Give each small picture a text: the title of its story."""
    if docname == "gallery/index":
        source[0] = THUMBNAIL.sub(r":alt: Picture of the story: \2\1\2<", source[0])


def describe(name, title):
    """What a picture that this function drew shows, in the story of this title."""
    first_line = inspect.getdoc(getattr(plots, name)).splitlines()[0]
    return f"{title}. {first_line}"


def name_pictures(app, doctree):
    """Give each picture of a story a text: what the function that drew it says."""
    if not app.env.docname.startswith("gallery/"):
        return
    name, title = None, next(doctree.findall(nodes.title), nodes.Text("")).astext()
    for node in doctree.findall():
        if isinstance(node, nodes.literal_block):
            name = ([name, *DRAWN.findall(node.astext())])[-1]
        elif isinstance(node, imgsgnode) and name:
            node["alt"] = describe(name, title)


def setup(app):
    """Register with Sphinx."""
    app.connect("source-read", name_thumbnails)
    app.connect("doctree-read", name_pictures)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
