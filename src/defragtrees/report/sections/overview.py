"""Sections of overview: head of the page, data and model, settings."""

import numpy as np

from defragtrees._utils import formatting as render
from defragtrees._utils.formatting import count
from defragtrees.report.model import changed_settings, versions
from defragtrees.report.summary import QUANTILES
from defragtrees.report.text import Table, bar, name, rate_text
from defragtrees.report.verdict import make_verdict

MOST_CLASSES = 20


def head(summary):
    """The verdict, what to keep in mind, and the key figures."""
    return {"verdict": make_verdict(summary)}


def data(page):
    """Model, rows, and the distribution of the target."""
    summary = page.summary
    rows, outcome, baseline = summary.rows, summary.outcome, summary.baseline
    context = {
        "n_features": rows.matrix.shape[1],
        "has_missing": np.isnan(rows.matrix).any(),
        "counted": summary.rules._view.evidence(),
        "classes": None,
        "positive": None,
    }
    if outcome.statistic == "mean":
        low, middle, high = baseline.quantiles
        levels = f"{QUANTILES[0]:.0%} and {QUANTILES[-1]:.0%}".replace("%", " %")
        return context | {"low": low, "middle": middle, "high": high, "levels": levels}
    if outcome.n_classes <= MOST_CLASSES:
        context["classes"] = _classes(summary)
    if outcome.is_binary:
        context["positive"] = outcome.view.prediction(outcome.positive_class)
    return context


def _classes(summary):
    """The classes, their labels and their base rates."""
    baseline, rules = summary.baseline, summary.rules
    before = rules._form.training_rates
    lines = []
    for k, label in enumerate(rules.outcome.labels):
        rate = baseline.rates[k]
        line = [name(summary.outcome.view.prediction(label))]
        line += [name(label)] if rules.class_labels else []
        [colour] = summary.colours.of([label])
        line += [count(baseline.n_rows[k]), bar(rate, rate_text(rate), colour)]
        line += [render.share_range(*baseline.intervals[k])]
        lines.append(line + ([] if before is None else [rate_text(before[k])]))
    header = ["Class"] + (["In the data"] if rules.class_labels else [])
    first = len(header)
    header += ["Rows", "Base rate", "95 % interval"]
    header += [] if before is None else ["Base rate in the rows of the estimates"]
    return Table(
        header,
        lines,
        "The classes and their base rates",
        numeric=(first, *range(first + 2, len(header))),
        kind="bars",
    )


def settings(page):
    """Code and command, settings that are not the default, and versions."""
    summary = page.summary
    method = None if summary.simplifier is None else type(summary.simplifier).__name__
    return {
        "method": method,
        "own": changed_settings(summary.simplifier),
        "theirs": changed_settings(summary.model and summary.model.fitted),
        "versions": " · ".join(
            f"{package} {version}"
            for package, version in versions(summary.model).items()
        ),
    }
