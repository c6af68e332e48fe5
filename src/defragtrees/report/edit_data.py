"""Data of the edit mode of the page: rules, rows, and their texts.

The scripts in `templates/edit_*.js` predict, measure and print as the library does;
what they cannot compute, such as the text of a date, is passed here.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from defragtrees._path import measure_path
from defragtrees._utils.formatting import label
from defragtrees.report.text import visible
from defragtrees.rules.labels import KINDS

MOST_ROWS = 5000
MOST_CHARACTERS = 250_000  # of the rows, so that the page stays below 6 MB
MOST_STEPS = 100  # of a slider
LARGEST_WHOLE = 2**53  # limit of exact whole numbers in scripts


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows of the page that edits are measured on."""

    matrix: np.ndarray
    expected: np.ndarray  # y or, without it, the predictions of the ensemble
    model_predictions: np.ndarray  # of the ensemble
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
    return Sample(*(column[kept] for column in columns))


def can_edit(rules):
    """Whether scripts can represent the labels exactly."""
    labels = rules.outcome.labels or ()
    whole = [c for c in labels if isinstance(c, int | np.integer)]
    return all(abs(int(c)) < LARGEST_WHOLE for c in whole)


def edit_data(summary):
    """All data of the edit mode, as plain types."""
    rules, sample = summary.rules, draw_sample(summary)
    outcome, used = rules.outcome, sorted(summary.features.used)
    labels = outcome.labels or ()
    return {
        # As saved: names stay unchanged, only texts to show are made visible.
        "rules": rules.to_dict(),
        "n_rows": len(sample.matrix),
        "columns": {j: list(map(_plain, sample.matrix[:, j].tolist())) for j in used},
        "expected": _coded(sample.expected, outcome),
        "model_predictions": _coded(sample.model_predictions, outcome),
        "weight": sample.weight.tolist() if summary.is_weighted else None,
        "has_y": summary.rows.y is not None,
        "features": {j: _feature(summary, sample, j) for j in used},
        "classes": [outcome.answer_text(label) for label in labels],
        "positive": outcome.positive_index,
        "class_words": [outcome.label_text(label) for label in labels],
        "target": visible(summary.target),
        "error_name": outcome.error_name,
        "offers": rules.editable,
        "path": _path(summary, sample),
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


def _feature(summary, sample, j):
    """Names, scale and steps of one feature."""
    rules = summary.rules
    scale, categories = rules.vocabulary.scales[j], rules.categories[j]
    conditions = [c for rule in rules.rules for c in rule.conditions if c.feature == j]
    about: dict[str, Any] = {
        "name": rules.vocabulary.names[j],
        "shown": visible(rules.vocabulary.names[j]),
        "ending": scale.ending,
        "is_ordered": scale.is_ordered,
    }
    if categories is not None:
        texts = [label(category) for category in categories]
        return about | {"categories": texts, "shown_categories": visible(texts)}
    about["steps"] = _steps(sample.matrix[:, j], conditions)
    if scale.kind in KINDS:
        about["texts"] = [scale.number(value) for value in about["steps"]]
    return about


def _steps(column, conditions):
    """Steps of a slider: quantiles of the rows, and the thresholds of the rules."""
    there = column[~np.isnan(column)]
    levels = np.linspace(0, 1, MOST_STEPS + 1)
    values = set()
    if len(there):
        values = set(np.quantile(there, levels, method="nearest").tolist())
    for condition in conditions:
        values |= {value for _, value in condition.sides}
    return [_plain(value) for value in sorted(values)]


def _path(summary, sample):
    """Rule lists by size with their errors on these rows."""
    if summary.rule_path is not None:
        lists = [point.rules for point in summary.rule_path.points]
    else:
        lists = list(getattr(summary.simplifier, "path_", {}).values())
    rows = sample.matrix, sample.expected, sample.model_predictions, sample.weight
    return [
        {
            "n_rules": point.n_rules,
            "error": float(summary.outcome.shown_error(point.error)),
        }
        for point in measure_path(lists, *rows)
    ]
