"""Sections that scripts fill: the threshold, the editor, one row explained.

Their data are the rules, some rows, and texts. The scripts in `templates` predict,
measure, explain and print as the library does.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from defragtrees._utils.files import to_json
from defragtrees._utils.formatting import category
from defragtrees.report.text import visible
from defragtrees.rules.labels import KINDS

MOST_ROWS = 5000
MOST_CHARACTERS = 250_000  # of the rows, so that the page stays small
MOST_STEPS = 100  # of a slider
LONGEST_NAME = 200  # of a category
LARGEST_FILE = 300_000  # characters of a rule file that the page contains
LARGEST_WHOLE = 2**53  # limit of exact whole numbers in scripts


def decide(page):
    """The threshold of two classes and what it brings."""
    summary, rules = page.summary, page.summary.rules
    outcome = summary.outcome
    if not outcome.is_binary or not rules._has_probabilities or not _has_data(page):
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
    offered = rules._editable
    deeds = ["drop a rule", "move a threshold", "remove a condition"]
    deeds += ["change a prediction"] if offered["prediction"] else []
    deeds += ["change points"] if offered["points"] else []
    deeds += ["move a rule up or down"] if offered["move"] else []
    return {
        "can_edit": True,
        "deeds": f"{', '.join(deeds[:-1]).capitalize()} or {deeds[-1]}.",
        "reason": rules._not_editable_text(),
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


# The data of the scripts


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows of the page that scripts measure on."""

    matrix: np.ndarray
    expected: np.ndarray  # y or, without it, the predictions of the model
    model_predictions: np.ndarray | None
    weight: np.ndarray


def draw_sample(summary):
    """Draw at most 5,000 rows, fewer if they are large; the same each time."""
    rows, used = summary.rows, summary.features.used
    generator = np.random.default_rng(0)
    order = generator.permutation(len(rows))[:MOST_ROWS]
    first = rows.matrix[np.ix_(order[:200], used)]
    lengths = [sum(len(f"{_plain(v)}") + 1 for v in row) for row in first.tolist()]
    each = np.mean(lengths) + 8
    n_rows = min(len(order), max(1, int(MOST_CHARACTERS / each)))
    kept = np.sort(order[:n_rows])
    columns = rows.matrix, rows.expected, rows.model_predictions, rows.weight
    return Sample(*(None if column is None else column[kept] for column in columns))


def can_edit(rules):
    """Whether scripts can represent the labels exactly, and the page has room."""
    labels = rules.outcome.labels or ()
    whole = [c for c in labels if isinstance(c, int | np.integer)]
    is_exact = all(abs(int(c)) < LARGEST_WHOLE for c in whole)
    return is_exact and len(to_json(rules.to_dict())) <= LARGEST_FILE


def page_data(summary):
    """All data of the scripts, as plain types."""
    # With whole names: texts of edits must be those of Python. Scripts cut them.
    rules, sample = summary.given_rules, draw_sample(summary)
    outcome, used = rules.outcome, sorted(summary.features.used)
    labels, known = outcome.labels or (), sample.model_predictions
    return {
        # As saved: names stay unchanged, only texts to show are made visible.
        "rules": rules.to_dict(),
        "n_rows": len(sample.matrix),
        "columns": {j: list(map(_plain, sample.matrix[:, j].tolist())) for j in used},
        "expected": _coded(sample.expected, outcome),
        "model_predictions": None if known is None else _coded(known, outcome),
        "weight": sample.weight.tolist() if summary.is_weighted else None,
        "has_y": summary.rows.y is not None,
        "features": {j: _feature(rules, sample, j) for j in used},
        "classes": [outcome.view.prediction(label) for label in labels],
        "class_words": [outcome.view.label(label) for label in labels],
        "colours": summary.colours.of(labels) if labels else [],
        "positive": outcome.positive_index if outcome.is_binary else None,
        "has_shares": bool(labels) and rules._has_probabilities,
        "target": visible(summary.target),
        "error_name": outcome.error_name,
        "then_title": outcome.view.prediction_title,
        "default_text": rules._default_text,
        "offers": rules._editable,
    }


def _plain(value):
    """A number for JSON; None if it is missing."""
    if value != value:
        return None
    return int(value) if value.is_integer() and abs(value) < LARGEST_WHOLE else value


def _coded(values, outcome):
    """Class numbers, or numbers."""
    coded = np.asarray(outcome.encode_any(values), dtype=np.float64)
    return [_plain(value) for value in coded.tolist()]


def _feature(rules, sample, j):
    """Name, scale and steps or categories of one feature."""
    scale, categories = rules._vocabulary.scales[j], rules.categories[j]
    about: dict[str, Any] = {
        "name": rules._vocabulary.names[j],
        "ending": scale.ending,
        "is_ordered": scale.is_ordered,
        "kind": scale.kind if scale.kind in KINDS else None,
    }
    if categories is None:
        return about | {"steps": _steps(sample.matrix[:, j], rules, j)}
    printed = [category(one) for one in categories]
    short = [str(one)[:LONGEST_NAME] for one in categories]
    return about | {"categories": printed, "boxes": short if short != printed else None}


def _steps(column, rules, j):
    """Steps of a slider: quantiles of the rows, and the thresholds of the rules."""
    there = column[~np.isnan(column)]
    levels = np.linspace(0, 1, MOST_STEPS + 1)
    values = set()
    if len(there):
        values = set(np.quantile(there, levels, method="nearest").tolist())
    for condition in (c for rule in rules.rules for c in rule.conditions):
        values |= {v for _, v in condition.sides if condition.feature == j}
    return [_plain(value) for value in sorted(values)]
