"""write_report: write a self-contained HTML page about rules.

`summarize` measures, the sections turn the measures into the context of their
templates, and the page contains its style, data and scripts.
"""

import base64
import hashlib
import os
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from defragtrees._utils.files import write_atomic
from defragtrees._utils.formatting import plural
from defragtrees._utils.optional import require
from defragtrees._utils.types import Column, Rows
from defragtrees.errors import MissingPackageError
from defragtrees.estimators.base import Simplifier
from defragtrees.plots.picture import Picture
from defragtrees.report import sections
from defragtrees.report.pictures import can_draw, draw_svg
from defragtrees.report.sections.overview import head
from defragtrees.report.summary import Summary, summarize
from defragtrees.report.text import (
    Html,
    amount,
    breakable,
    count,
    escaped,
    fidelity_text,
    isolated,
    name,
    percent,
    rate_text,
    script_json,
    sentence,
    visible,
)
from defragtrees.rules.model import RuleModel
from defragtrees.rules.text import MAYBE_TRAINED

# File types that would not open, as the page is HTML.
OTHER_KINDS = (".doc", ".docx", ".md", ".pdf", ".png", ".pptx", ".svg", ".xlsx")
NONE = "'none'"
# The files of each line become one function, so that their names stay local.
SCRIPTS = (
    ("pictures.js",),
    ("edit_numbers.js", "edit_rules.js", "edit_changes.js", "edit_panel.js"),
)
FILTERS = {
    "amount": amount,
    "breakable": breakable,
    "count": count,
    "digit": "{:.1f}".format,
    "fidelity": fidelity_text,
    "isolated": isolated,
    "name": name,
    "percent": percent,
    "plural": plural,
    "rate": rate_text,
    "script_json": script_json,
    "sentence": sentence,
}


def write_report(
    path: str | os.PathLike[str],
    rules: Simplifier | RuleModel,
    X: Rows,
    y: Column | None = None,
    sample_weight: Column | None = None,
    *,
    model: Any = None,
    title: str | None = None,
    target_name: str | None = None,
    data_name: str | None = None,
    model_name: str | None = None,
    rule_path: Any = None,
    comparison: Any = None,
    command: str | None = None,
    groups: Any = None,
    is_new: bool = False,
) -> Path:
    """Write an HTML report on rules, measured on some rows.

    The file is self-contained and loads nothing from the network. It can be read
    without scripts; with them, the rules can be edited in the page.

    Parameters
    ----------
    path : str or Path
        The file to write. An existing file is replaced when the page is complete.
    rules : Simplifier or RuleModel
        A fitted estimator, or any rules: edited, loaded or written by hand.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows to measure on, preferably rows that no model was trained on.
    y : array-like of shape (n_samples,), optional
        Without it there are no errors, only agreement with the model.
    sample_weight : array-like of shape (n_samples,), optional
    model : fitted model, path, Forest or function that predicts, optional
        The model to compare rules with. An estimator has its own; rules alone need
        `y`, `model` or both.
    title : str, optional
        By default it names what is predicted.
    target_name : str, optional
        Name of y; by default that of the Series.
    data_name : str, optional
        Name of the rows, such as that of their file.
    model_name : str, optional
        Name of the model; by default its kind and size.
    rule_path : RulePath, optional
        Rule lists of several sizes to show. By default those that the estimator kept,
        if any, measured on these rows.
    comparison : Comparison, optional
        Results of other methods to show.
    command : str, optional
        The command that writes this report, to show in the settings.
    groups : str or array-like of shape (n_samples,), optional
        A column of X, which need not be a feature, or the group of each row. Coverage,
        rates, errors and predictions are then compared between groups.
    is_new : bool, default=False
        Whether the model was not trained on these rows. If it may have been, the
        report notes this beside the model's figures.

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
    >>> ensemble = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> simple = simplify(ensemble, X, y, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = write_report(f"{folder}/iris.html", simple, X, y)
    ...     written.read_text(encoding="utf-8").count("</section>")
    12
    """
    place = _checked(path, rules)
    require("jinja2", "A report")
    summary = summarize(
        rules,
        X,
        y,
        sample_weight,
        model=model,
        title=title,
        target_name=target_name,
        data_name=data_name,
        model_name=model_name,
        rule_path=rule_path,
        comparison=comparison,
        command=command,
        groups=groups,
        is_new=is_new,
    )
    # A name may contain half of a surrogate pair, which UTF-8 cannot encode.
    write_atomic(place, make_page(summary).encode("utf-8", "replace"))
    return place


def _checked(path, rules):
    """The path of the file; other types of files and arguments are rejected."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(
            f"path must name the file to write; got {type(path).__name__}. Call "
            "write_report(path, rules, X, y): the file comes first."
        )
    if not isinstance(rules, Simplifier | RuleModel):
        raise TypeError(
            "rules must be a fitted estimator, such as simplify returns, or a rule "
            f"model; got {type(rules).__name__}. Pass a model as model=."
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
    is_live: bool  # whether scripts draw the charts
    is_drawn: bool  # whether there are static charts
    pictures: dict[str, Picture] = field(default_factory=dict)
    edit: dict[str, Any] | None = None  # data of the edit mode

    @cached_property
    def environment(self):
        """The Jinja2 environment of the templates."""
        return make_environment()

    def draw(self, name, picture):
        """The argument of the macro `figure` for a Picture; None without charts.

        `name` must be unique on the page.
        """
        if not (self.is_live or self.is_drawn):
            return None
        picture = visible(picture)
        if self.is_live:
            self.pictures[name] = picture
        return {
            "name": name,
            "svg": draw_svg(name, picture) if self.is_drawn else "",
            "is_live": self.is_live,
            "height": picture.height,
        }

    def data(self):
        """The data of the scripts."""
        pictures = {name: picture.to_dict() for name, picture in self.pictures.items()}
        return {"pictures": pictures, "edit": self.edit}

    def write(self, section):
        """A section as HTML without its heading; empty if there is nothing to show."""
        context = section.fill(self)
        if context is None:
            return Html()
        template = self.environment.get_template(f"{section.name}.html.j2")
        return Html(template.render(summary=self.summary, page=self, **context))


def make_page(summary):
    """The complete page as text."""
    library = _plotting_library()
    page = Page(summary, library is not None, can_draw())
    written = [(section, page.write(section)) for section in sections.SECTIONS]
    scripts = [library, _live_script()] if page.is_live else []
    template = page.environment.get_template("page.html.j2")
    return template.render(
        summary=summary,
        page=page,
        policy=_policy(scripts),
        style=read_template("report.css"),
        sections=[(section, html) for section, html in written if html],
        today=date.today().isoformat(),
        scripts=scripts,
        **head(summary),
    )


def make_environment():
    """Make the Jinja2 environment with the filters of the report and autoescaping."""
    jinja2 = require("jinja2", "A report")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(read_template),
        autoescape=True,
        finalize=lambda value: value if hasattr(value, "__html__") else escaped(value),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= FILTERS
    environment.globals["maybe_trained"] = MAYBE_TRAINED
    return environment


def read_template(file):
    """The text of a file in `templates`."""
    folder = resources.files("defragtrees.report") / "templates"
    return (folder / file).read_text(encoding="utf-8")


def _live_script():
    parts = ("\n".join(map(read_template, files)) for files in SCRIPTS)
    return "".join(f'(() => {{\n"use strict";\n{part}}})();\n' for part in parts)


def _plotting_library():
    """Plotly's script, or None if it is not installed."""
    try:
        return require("plotly.offline", "A live report").get_plotlyjs()
    except MissingPackageError:
        return None


def _policy(scripts):
    """Content security policy: nothing is loaded, and only these scripts run."""
    digests = [hashlib.sha256(script.encode()).digest() for script in scripts]
    allowed = [f"'sha256-{base64.b64encode(one).decode()}'" for one in digests]
    return (
        f"default-src 'none'; script-src {' '.join(allowed or [NONE])}; "
        "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
        "form-action 'none'"
    )
