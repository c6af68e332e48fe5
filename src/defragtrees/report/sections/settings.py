"""Settings, versions, and how to make the same again."""

from defragtrees.report.markup import isolated, section, table, text

__all__ = ["reproduction_section"]


def reproduction_section(summary):
    """Settings, versions, and how to make the same again."""
    found = summary["reproduction"]
    asked = summary["question"]
    parts = [
        f"<h3>How to make it again</h3><pre><code>{text(found['code'])}</code></pre>"
    ]
    if found["command"]:
        parts.append(
            "<p>This report was made by:</p>"
            f"<pre><code>{isolated(found['command'])}</code></pre>"
        )
    parts.append("<h3>Settings</h3>")
    parts.append(_settings(found["settings"], f"Settings of {asked['method']}"))
    if found["ensemble_settings"]:
        parts.append(
            _settings(found["ensemble_settings"], f"Settings of {asked['ensemble']}")
        )
    parts.append("<h3>Versions</h3>")
    parts.append(
        table(
            ["Package", "Version"],
            found["versions"],
            "Versions",
            kind="narrow",
            is_quiet=True,
        )
    )
    parts.append(
        f"<h3>The rules as text</h3><p>With shares on the training rows.</p>"
        f"<pre>{isolated(found['rules'])}</pre>"
    )
    return section("settings", "Settings and how to reproduce", *parts)


def _settings(rows, caption):
    """Settings in as many columns as fit; those that are not defaults stand out."""
    items = "".join(
        f"<div{'' if row['is_default'] else ' class=changed'}>"
        f"<dt>{text(row['name'])}</dt><dd>{text(row['value'])}</dd></div>"
        for row in rows
    )
    note = (
        " (in bold: not the default)" if any(not r["is_default"] for r in rows) else ""
    )
    return (
        f'<p class="caption">{isolated(caption)}{note}</p>'
        f'<dl class="settings">{items}</dl>'
    )
