"""What is around the text of each page: head, neighbours, index, frames of pictures."""

import html
import re
from pathlib import Path

from docutils import nodes
from sphinx_gallery.directives import imgsgnode

__all__ = ["SUBJECTS", "description_of", "setup", "stays_in_its_section"]

LONGEST = 160  # of a description that search engines show
# What people search for, and the page that should be the first answer.
SUBJECTS = {
    "columns": ("categorical features", "one-hot encoding", "monotone"),
    "compare": ("FIGS", "RuleFit"),
    "counts": ("exposure", "Poisson", "claims"),
    "credit-scorecard": ("reason codes",),
    "exports": ("ONNX", "PMML", "SQL"),
    "faq": ("missing values", "NaN", "SHAP", "feature importance", "decision tree"),
    "forms": ("decision list", "rule set", "scorecard"),
    "how-short": ("number of rules",),
    "large-data": ("Dask", "Parquet"),
    "probabilities": (
        *("calibration", "class imbalance", "costs", "threshold"),
        *("churn", "conformal prediction"),
    ),
    "segments": ("bias", "fairness"),
    "readers": (
        *("CatBoost", "LightGBM", "XGBoost", "LightGBM categorical features"),
        *("CatBoost categorical features", "XGBoost categorical features"),
        *("pipeline", "skops"),
    ),
    "survival": ("hazard ratio", "Kaplan-Meier"),
    "trust": ("confidence interval", "stability"),
    "watching": ("drift", "monitoring"),
}


def description_of(doctree):
    """The first sentences of a page, without markup, as long as there is room."""
    paragraphs = doctree.findall(nodes.paragraph) if doctree else ()
    text = next((" ".join(p.astext().split()) for p in paragraphs), "")
    if len(text) > LONGEST:
        shorter = text[:LONGEST].rpartition(". ")[0]
        text = f"{shorter}." if shorter else f"{text[:LONGEST].rpartition(' ')[0]} ..."
    return text


def stays_in_its_section(page, other, parents):
    """Whether a reader who goes on from one page to the other stays in a section.

    `parents` has the page above each page. Fronts of sections follow each other.
    """

    def front(name):
        while parents.get(parents.get(name)):
            name = parents[name]
        return name

    are_fronts = front(page) == page and front(other) == other
    return are_fronts or front(page) == front(other)


def add_subjects(app, docname, source):
    """Put index entries below the title of a page; the search ranks them first."""
    if subjects := ", ".join(f"!{name}" for name in SUBJECTS.get(docname, ())):
        directive = f"```{{index}} {subjects}\n```"
        source[0] = re.sub(
            r"^# .*$", rf"\g<0>\n\n{directive}", source[0], count=1, flags=re.M
        )


def show_site_parts(app, docname, source):
    """Show what only the site can: comments that begin with `site`, dark pictures.

    Elsewhere, as on GitHub, comments are hidden and the light picture is shown.
    """
    text = re.sub(r"<!-- site\n(.*?)-->\n", r"\1", source[0], flags=re.DOTALL)
    source[0] = re.sub(
        r"^!\[(.*)\]\((pictures/\w+)_light\.(\w+)\)$",
        lambda match: "\n\n".join(
            f"```{{image}} {match[2]}_{look}.{match[3]}\n"
            f":alt: {match[1]}\n:class: only-{look}\n```"
            for look in ("light", "dark")
        ),
        text,
        flags=re.MULTILINE,
    )


def frame_pictures(app, doctree):
    """Put each picture that stands by itself into a frame that scrolls on a phone.

    Those that the guides draw are shown at half their pixels, for sharp screens.
    """
    for picture in list(doctree.findall(is_picture)):
        place, file = picture.parent, Path(app.srcdir) / picture.get("uri", "")
        if file.match("pictures/*.png") and "width" not in picture:
            # The header of a PNG has its width.
            n_pixels = int.from_bytes(file.read_bytes()[16:20], "big")
            picture["width"] = f"{n_pixels // 2}px"
        if isinstance(place, nodes.paragraph) and len(place) == 1:
            picture, place = place, place.parent
        if isinstance(place, nodes.section | nodes.document):
            frame = nodes.container(classes=["scrolls"])
            place.replace(picture, frame)
            frame += picture


def is_picture(node):
    """Whether a node is a picture of a page or of a story."""
    return isinstance(node, nodes.image | imgsgnode)


def add_head(app, pagename, templatename, context, doctree):
    """Add what search engines and social media show of a page."""
    text = description_of(doctree)
    if not text:
        return
    title = html.unescape(context.get("title", ""))
    properties = {
        "og:type": "website",
        "og:site_name": app.config.project,
        "og:title": title,
        "og:description": text,
    }
    if address := app.config.html_baseurl:
        properties["og:image"] = f"{address}_static/social.png"
        properties["og:url"] = f"{address}{pagename}.html"
    tags = [("name", "description", text)]
    tags += [("property", name, value) for name, value in properties.items()]
    tags.append(("name", "twitter:card", "summary_large_image"))
    context["metatags"] = context.get("metatags", "") + "".join(
        f'\n<meta {kind}="{name}" content="{html.escape(value)}">'
        for kind, name, value in tags
    )


def mend_roles(app, pagename, templatename, context, doctree):
    """Make the entries of a list of papers items of a list, as its role says."""
    if "body" in context:
        before, after = 'role="doc-biblioentry"', 'role="listitem"'
        context["body"] = context["body"].replace(before, after)


def choose_neighbours(app, pagename, templatename, context, doctree):
    """Leave out a previous or next page that belongs to another section."""
    parents = {
        child: parent
        for parent, children in app.env.toctree_includes.items()
        for child in children
    }
    _, before, after = app.env.collect_relations().get(pagename, (None, None, None))
    for place, other in (("prev", before), ("next", after)):
        if other and not stays_in_its_section(pagename, other, parents):
            context[place] = None


def setup(app):
    """Register with Sphinx."""
    app.connect("source-read", add_subjects)
    app.connect("source-read", show_site_parts)
    app.connect("doctree-read", frame_pictures)
    app.connect("html-page-context", add_head)
    app.connect("html-page-context", choose_neighbours)
    app.connect("html-page-context", mend_roles)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
