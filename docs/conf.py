"""How Sphinx builds the site: `make docs`."""

import re
import sys
from inspect import isclass
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

from numpydoc.xref import DEFAULT_LINKS  # noqa: E402
from public_names import guides, pictures, public_objects, shown_methods  # noqa: E402

from defragtrees import __version__  # noqa: E402

README = (HERE.parent / "README.md").read_text(encoding="utf-8")

project = "defragtrees"
author = "the authors of defragtrees"
copyright = author
release = version = __version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "gallery_texts",
    "mathml",
    "parameter_groups",
    "result_tables",
    "site_pages",
    "table_heads",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}  # stubs are the first
exclude_patterns = ["_build", "_ext", "**/*.ipynb"]
nitpicky = False
templates_path = ["_templates"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

autosummary_generate = True
autosummary_context = {
    "guides": guides(),
    "pictures": pictures(),
    "shown_methods": shown_methods(),
}
autodoc_typehints = "none"  # the docstrings say it
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False
# Types that are ours are links; all others are words, as they lead to other sites.
DEFAULT_LINKS.clear()
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
numpydoc_xref_aliases = {
    name.rpartition(".")[2]: name for name, kind in public_objects() if isclass(kind)
}
toc_object_entries_show_parents = "hide"

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/stories"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",  # all of them run
    "abort_on_example_error": True,
    "capture_repr": ("_repr_html_",),  # of tables; Axes have nothing to say
    "download_all_examples": False,
    "min_reported_time": 0,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "defragtrees"
html_favicon = "_static/logo.svg"
# A package index shows the README with pictures that are loaded from here.
html_static_path = ["_static", "pictures/social.png"]
html_static_path += sorted({*re.findall(r'src="docs/(pictures/\w+\.\w+)"', README)})
html_extra_path = ["live-report.html"]  # `make pictures` writes it
html_css_files = ["site.css"]
html_js_files = ["scrolling.js", "tables.js"]
html_search_scorer = str(HERE / "_ext" / "search_order.js")
html_show_sourcelink = False
html_sidebars = {"index": [], "start": []}  # they have no pages below them
html_theme_options = {
    "show_toc_level": 2,
    "navigation_depth": 2,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "navbar_end": ["theme-switcher"],
    "logo": {
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
        "text": "defragtrees",
        "alt_text": "Logo of defragtrees",
    },
    # Pages with wide tables have no room for a list of their parts.
    "secondary_sidebar_items": {
        "**": ["page-toc"],
        "benchmark": [],
        "compare": [],
        "reproduction": [],
        "watching": [],
    },
}
