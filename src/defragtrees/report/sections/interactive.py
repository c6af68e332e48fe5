"""Sections that scripts fill: the threshold, the editor, one row explained."""

from defragtrees.report.page_data import can_edit, page_data


def decide(page):
    """The threshold of two classes and what it brings."""
    summary, rules = page.summary, page.summary.rules
    outcome = summary.outcome
    if (
        not outcome.is_binary
        or not rules._form.has_probabilities
        or not _has_data(page)
    ):
        return None
    return {
        "label": outcome.view.prediction(outcome.positive_class),
        "other": outcome.view.prediction(outcome.labels[1 - outcome.positive_index]),
        **_rows(page),
    }


def edit(page):
    """The editor of the rules."""
    rules = page.summary.rules
    if not rules.rules:
        return None
    if not _has_data(page):
        return {"can_edit": False}
    offered = rules._form.editable
    deeds = ["drop a rule", "move a threshold", "remove a condition"]
    deeds += ["change a prediction"] if offered["prediction"] else []
    deeds += ["change points"] if offered["points"] else []
    deeds += ["move a rule up or down"] if offered["move"] else []
    return {
        "can_edit": True,
        "deeds": f"{', '.join(deeds[:-1]).capitalize()} or {deeds[-1]}.",
        "reason": rules._view.not_editable(),
        **_rows(page),
    }


def why(page):
    """One row: its prediction, the rules behind it, and what would change it."""
    if not page.summary.rules.rules or not _has_data(page):
        return None
    return _rows(page)


def _has_data(page):
    """Whether scripts can work with these rules; their data is then in the page."""
    if page.edit is None and can_edit(page.summary.given_rules):
        page.edit = page_data(page.summary)
    return page.edit is not None


def _rows(page):
    return {"n_rows": page.edit["n_rows"], "n_all": len(page.summary.rows)}
