"""Arguing with the rules: a place where they can be changed in the page."""

from defragtrees._utils.formatting import plural
from defragtrees.report.edit_data import can_edit, edit_data, offers
from defragtrees.report.markup import name
from defragtrees.report.wording import count

__all__ = ["write"]

NO_SCRIPTS = (
    '<p class="note still-only">The rules can be changed here where scripts run.</p>'
)
REASONS = {
    "average": "Rules that are averaged have no order and share their answers, so a "
    "rule can be dropped and its conditions changed, and nothing else.",
    "standalone": "Rules that stand alone have no order, and where several hold their "
    "probabilities decide; so a rule can be dropped and its conditions changed, and "
    "nothing else.",
    "points": "Points add up in any order, so rules cannot be moved; the points of "
    "each can be changed.",
}
BY_COST = (
    "What a rule answers follows from its probabilities and from what mistakes cost, "
    "so it cannot be changed here."
)


def write(page):
    """What can be done here, and the place where scripts do it."""
    summary = page.summary
    rules = summary.rules
    if not page.is_live or not rules.rules:
        return []
    if not can_edit(rules):
        return [
            "<p>These rules cannot be changed in the page: scripts do not know labels "
            "as large as theirs. In Python <code>rules.drop</code>, "
            "<code>rules.replace</code> and <code>rules.answer</code> do it.</p>"
        ]
    page.edit = edit_data(summary)
    return [
        f"<p>Rules are an offer. {_deeds(rules)} What that costs or brings is measured "
        f"at once{_rows(page)}, and the result can be saved as a file that "
        "<code>RuleSet.load</code> reads and that says what was changed. Nothing "
        "is sent anywhere.</p>",
        _reason(rules),
        NO_SCRIPTS,
        '<div id="editor" class="live-only"></div>',
    ]


def _deeds(rules):
    offered = offers(rules)
    deeds = ["drop a rule", "move a cut", "remove a condition"]
    deeds += ["change an answer"] if offered["answer"] else []
    deeds += ["change points"] if offered["points"] else []
    deeds += ["move a rule up or down"] if offered["move"] else []
    return f"{', '.join(deeds[:-1]).capitalize()} or {deeds[-1]}."


def _rows(page):
    """Which rows edits are measured on."""
    summary, n_rows = page.summary, page.edit["n_rows"]
    against = f" against {name(summary.target)}" if summary.rows.y is not None else ""
    if n_rows == len(summary.rows):
        return f"{against} on all {plural(n_rows, 'row')} of this report"
    return (
        f"{against} on {count(n_rows)} of the {plural(len(summary.rows), 'row')} of "
        "this report, a sample drawn by chance: figures here are of the sample"
    )


def _reason(rules):
    """Why something is not offered, as a paragraph."""
    reason = REASONS.get(rules.decision, "")
    if rules.is_list and not offers(rules)["answer"]:
        reason = BY_COST
    if rules.decision in ("average", "standalone") and not rules.classes:
        reason = "These rules have no order, so they cannot be moved."
    return f'<p class="hint">{reason}</p>' if reason else ""
