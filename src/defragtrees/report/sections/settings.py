"""Settings, versions, and how to make the same again."""

import platform
import sys
from dataclasses import dataclass
from importlib import metadata

from defragtrees._version import __version__
from defragtrees.report.markup import isolated, table, text
from defragtrees.report.wording import setting_text

__all__ = ["Setting", "read_settings", "versions", "write"]

PACKAGES = ("numpy", "scipy", "scikit-learn", "plotly", "matplotlib")
# They say how a fit was watched, not what it found.
WATCHING = ("callback", "verbose")


@dataclass(frozen=True)
class Setting:
    """One setting of an estimator, as code would say it."""

    name: str
    value: str
    is_default: bool


def read_settings(estimator):
    """All settings of an estimator; none if it has no such thing."""
    if not hasattr(estimator, "get_params"):
        return []
    defaults = _defaults(estimator)
    return [
        Setting(
            name,
            setting_text(value),
            name in defaults and setting_text(value) == setting_text(defaults[name]),
        )
        for name, value in sorted(estimator.get_params(deep=False).items())
        if name not in ("ensemble", *WATCHING)
        and not (value is None and name not in defaults)
    ]


def _defaults(estimator):
    try:
        return type(estimator)().get_params(deep=False)
    except (TypeError, ValueError, AttributeError):
        # An ensemble that cannot be made without arguments has no defaults to show.
        return {}


def versions(ensemble):
    """From package to version: Python, this one, and what the rules came from."""
    # Its own version is known also where it runs from source and is not installed.
    numbers = {"Python": platform.python_version(), "defragtrees": __version__}
    for name in PACKAGES:
        try:
            numbers[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    # One library has several distributions, such as xgboost-cpu; the module knows.
    version = getattr(sys.modules.get(ensemble.package), "__version__", None)
    if isinstance(version, str):
        numbers[ensemble.library or ensemble.package] = version
    return numbers


def write(page):
    """Code and command, settings, versions, and the rules as text."""
    summary = page.summary
    method, ensemble = type(summary.simplifier).__name__, summary.ensemble
    settings = read_settings(summary.simplifier)
    # Of the ensemble's those are left out that are None by default: they are many.
    theirs = [
        one
        for one in read_settings(ensemble.fitted)
        if not (one.is_default and one.value == "None")
    ]
    command = (
        "<p>This report was made by:</p>"
        f"<pre><code>{isolated(summary.command)}</code></pre>"
        if summary.command
        else ""
    )
    return [
        "<h3>How to make it again</h3>"
        f"<pre><code>{text(_code(method, settings))}</code></pre>",
        command,
        "<h3>Settings</h3>",
        _list(settings, f"Settings of {method}"),
        _list(theirs, f"Settings of {ensemble.name}") if theirs else "",
        "<h3>Versions</h3>",
        table(
            ["Package", "Version"],
            versions(ensemble).items(),
            "Versions",
            kind="narrow",
            is_quiet=True,
        ),
        "<h3>The rules as text</h3><p>With shares on the training rows.</p>"
        f"<pre>{isolated(summary.rules)}</pre>",
    ]


def _code(method, settings):
    """The call that fits the same rules, with the settings that are not defaults."""
    changed = [f"{one.name}={one.value}" for one in settings if not one.is_default]
    return (
        f"simple = {method}({', '.join(['ensemble', *changed])})\n"
        "simple.fit(X_train, y_train)\n"
        'write_report("report.html", simple, X_test, y_test)'
    )


def _list(settings, caption):
    """Settings in as many columns as fit; those that are not defaults stand out."""
    items = "".join(
        f"<div{'' if one.is_default else ' class=changed'}>"
        f"<dt>{text(one.name)}</dt><dd>{text(one.value)}</dd></div>"
        for one in settings
    )
    is_changed = any(not one.is_default for one in settings)
    note = " (in bold: not the default)" if is_changed else ""
    return (
        f'<p class="caption">{isolated(caption)}{note}</p>'
        f'<dl class="settings">{items}</dl>'
    )
