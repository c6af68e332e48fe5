"""write_report: write a self-contained HTML page about rules.

`summarize` measures, the sections turn the measures into the context of their
templates, and the page contains its style, data and scripts.
"""

import base64
import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from defragtrees._utils.files import write_atomic
from defragtrees._utils.formatting import count, percent, plural
from defragtrees._utils.optional import require
from defragtrees._utils.types import Column, Rows
from defragtrees.estimators.base import Simplifier
from defragtrees.report import charts, sections
from defragtrees.report.sections.for_all import strip
from defragtrees.report.sections.for_analysts import segment_groups
from defragtrees.report.summary import Summary, summarize
from defragtrees.report.text import (
    Html,
    amount,
    breakable,
    escaped,
    isolated,
    name,
    rate_text,
    script_json,
    sentence,
    typeset,
    visible,
)
from defragtrees.report.verdict import make_verdict
from defragtrees.rules.model import RuleModel
from defragtrees.segments import SegmentGroups, Segments

# File types that would not open, as the page is HTML.
OTHER_KINDS = (".doc", ".docx", ".md", ".pdf", ".png", ".pptx", ".svg", ".xlsx")
# The files of each line become one function, so that their names stay local.
SCRIPTS = ("page", "numbers model changes controls edit decide why")
LONGEST_COPY = 50_000  # characters of a text to copy
FILTERS = {
    "amount": amount,
    "breakable": breakable,
    "count": count,
    "digit": "{:.1f}".format,
    "isolated": isolated,
    "name": name,
    "percent": percent,
    "plural": plural,
    "rate": rate_text,
    "script_json": script_json,
    "sentence": sentence,
    "typeset": lambda text: isolated(typeset(text)),
}


def write_report(
    path: str | os.PathLike[str],
    rules: Simplifier | RuleModel | Segments | SegmentGroups,
    X: Rows | None = None,
    y: Column | None = None,
    sample_weight: Column | None = None,
    *,
    model: Any = None,
    title: str | None = None,
    target_name: str | None = None,
    data_name: str | None = None,
    model_name: str | None = None,
    rule_path: Any = None,
    segments: Segments | SegmentGroups | None = None,
    command: str | None = None,
    groups: Any = None,
    is_new: bool | None = None,
) -> Path:
    """Write an HTML report on rules, measured on some rows.

    The file is self-contained and loads nothing from the network. It can be read
    without scripts; with them, the rules can be edited in the page.

    Parameters
    ----------
    path : str or Path
        The file to write. An existing file is replaced when the page is complete.
    rules : Simplifier, RuleModel, Segments or SegmentGroups
        A fitted estimator, or any rules: edited, loaded or written by hand. Segments
        alone give a short page, and need nothing else.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows to measure on, preferably rows that no model was trained on.
    y : array-like of shape (n_samples,), optional
        Without it there are no errors, only agreement with the model.
    sample_weight : array-like of shape (n_samples,), optional
    model : fitted model, path, Forest, function, array or column name, optional
        The model to compare rules with. An estimator has its own; rules alone need
        `y`, `model` or both.
    title : str, optional
        By default it names what is predicted.
    target_name : str, optional
        Name of y; by default the name of the Series.
    data_name : str, optional
        Name of the rows, such as the name of their file.
    model_name : str, optional
        Name of the model; by default its kind and size.
    rule_path : RulePath, optional
        Rule lists of several sizes to show. By default those that the estimator kept,
        if any, measured on these rows.
    segments : Segments or SegmentGroups, optional
        Where the model fails, from `explain_errors` or `find_segments`, to show.
    command : str, optional
        The command that writes this report, to show in the settings.
    groups : str or array-like of shape (n_samples,), optional
        A column of X, which need not be a feature, or the group of each row. Coverage,
        rates, errors and predictions are then compared between groups.
    is_new : bool, optional
        True if neither the model nor the rules used these rows. If they may have, the
        report notes it beside the model's figures. By default it is True if they are
        the rows of `validation`.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from defragtrees import simplify
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> simple = simplify(model, X, y, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = write_report(f"{folder}/iris.html", simple, X, y)
    ...     written.read_text(encoding="utf-8").count("</section>")
    9
    """
    given = {name: value for name, value in locals().items() if name != "path"}
    place = _checked(path, rules, X, segments)
    require("jinja2", "A report")
    if isinstance(rules, Segments | SegmentGroups):
        page = _segments_page(rules, title, model_name, data_name)
    else:
        page = make_page(summarize(**given))
    # A name may contain half of a surrogate pair, which UTF-8 cannot encode.
    write_atomic(place, page.encode("utf-8", "replace"))
    return place


def _segments_page(found, title, model_name, data_name):
    """The page of segments alone."""
    context = segment_groups(found)
    if title is None and len(context["groups"]) == 1:
        title = context["groups"][0]["heading"]
    one = found if isinstance(found, Segments) else next(iter(found.values()))
    about = f"Measured on {plural(round(one.n_rows), 'row')}"
    template = make_environment().get_template("segments_page.html.j2")
    return template.render(
        summary={"title": title or f"Where {model_name or 'the model'} fails"},
        about=f"{about} of {data_name}" if data_name else about,
        policy=_policy(""),
        style=read_template("report.css"),
        **context,
        level=2,
        today=date.today().isoformat(),
    )


def _checked(path, rules, X, segments):
    """The path of the file; other types of files and arguments are rejected."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(
            f"path must name the file to write; got {type(path).__name__}. Call "
            "write_report(path, rules, X, y): the file comes first."
        )
    if not isinstance(rules, Simplifier | RuleModel | Segments | SegmentGroups):
        raise TypeError(
            "rules must be a fitted estimator, such as simplify returns, or a rule "
            f"model; got {type(rules).__name__}. Pass a model as model=."
        )
    if X is None and isinstance(rules, Simplifier | RuleModel):
        raise TypeError("A report on rules needs X, the rows to measure on.")
    if not isinstance(segments, Segments | SegmentGroups | None):
        raise TypeError(
            "segments must be those of explain_errors or find_segments; got "
            f"{type(segments).__name__}."
        )
    path = Path(path)
    if path.suffix.lower() in OTHER_KINDS:
        raise ValueError(
            f"write_report writes one HTML page; got {str(path)!r}. Name it "
            f"{path.stem + '.html'!r}; a browser prints it to PDF."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"The folder of the report must exist; {str(path.parent)!r} does not. "
            "Create it first."
        )
    if path.is_dir():
        raise IsADirectoryError(
            f"path must name a file; {str(path)!r} is a folder. Add a file name."
        )
    return path


@dataclass(eq=False)
class Page:
    """The page that sections are written to."""

    summary: Summary
    edit: dict[str, Any] | None = None  # data of the scripts, see `page_data`

    @cached_property
    def copies(self):
        """The rules as texts that buttons copy, by their kind."""
        rules, found = self.summary.given_rules, {}
        for kind, options in (("text", {}), ("SQL", {"table": "my_table"})):
            with suppress(ValueError):  # such as rules that SQL cannot write
                found[kind] = rules.export(kind.lower(), **options)
        return {kind: text for kind, text in found.items() if len(text) <= LONGEST_COPY}

    def draw(self, name, picture):
        """The argument of the macro `figure` for a Picture.

        `name` must be unique on the page.
        """
        legend, svg = charts.draw(visible(picture))
        return {"name": name, "legend": legend, "svg": svg}

    def write(self, section):
        """A section as HTML without its heading; empty if there is nothing to show."""
        context = section.fill(self)
        if context is None:
            return Html()
        template = make_environment().get_template(f"{section.name}.html.j2")
        return Html(template.render(summary=self.summary, page=self, **context))


def make_page(summary):
    """The complete page as text."""
    page = Page(summary)
    script = ""
    for names in SCRIPTS:
        part = "\n".join(read_template(f"{name}.js") for name in names.split())
        script += f'(() => {{\n"use strict";\n{part}}})();\n'
    written = [(section, page.write(section)) for section in sections.SECTIONS]
    template = make_environment().get_template("page.html.j2")
    return template.render(
        summary=summary,
        page=page,
        policy=_policy(script),
        style=read_template("report.css") + read_template("interactive.css"),
        sections=[(section, html) for section, html in written if html],
        today=date.today().isoformat(),
        script=script,
        verdict=make_verdict(summary),
        strip=strip(summary),
    )


@cache
def make_environment():
    """The Jinja2 environment with the filters of the report and autoescaping."""
    jinja2 = require("jinja2", "A report")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda file: read_template(file)),
        autoescape=True,
        finalize=lambda value: value if hasattr(value, "__html__") else escaped(value),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= FILTERS
    return environment


def read_template(file):
    """The text of a file in `templates`."""
    folder = resources.files("defragtrees.report") / "templates"
    return (folder / file).read_text(encoding="utf-8")


def _policy(script):
    """Content security policy: nothing is loaded, and only this script runs."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
